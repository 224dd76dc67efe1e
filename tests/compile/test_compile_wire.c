/* Replies of compile workers: results and objects arrive as they were sent, one object with the
 * message's own memory, whether it is copied or mapped; a damaged reply is refused and leaves
 * nothing behind. */
#include "compile/compile_internal.h"
#include "compile_fixture.h"
#include "process/process_internal.h"

enum { MOST = 6 };

/* One side of the socket: units, their results, and a list of objects. */
typedef struct side {
  sct_compile_object *objects;
  sct_compiled results[MOST];
  sct_compile_item items[MOST], *list[MOST];
} side;

static side *side_new(void) {
  side *const s = calloc(1, sizeof(*s));
  assert_non_null(s);
  for (int i = 0; i < MOST; ++i) {
    s->items[i].out = &s->results[i];
    s->list[i] = &s->items[i];
  }
  return s;
}

static void side_free(side *s) {
  for (int i = 0; i < MOST; ++i) {
    sct_compiled_free(&s->results[i]);
  }
  sct_compile_objects_free(&s->objects);
  free(s);
}

static char *text_of(const char *format, int k) {
  char text[64];
  (void)snprintf(text, sizeof(text), format, k);
  char *const copy = sct_strdup(text);
  assert_non_null(copy);
  return copy;
}

static sct_compile_object *add_program(side *s, int k) {
  char *const cubin = text_of("cubin %d", k);
  char *const ptx = text_of("ptx of program %d", k);
  return sct_compile_objects_add(&s->objects, cubin, strlen(cubin), ptx);
}

/* Unit k is of program programs[k]; -1: it failed. */
static void fill(side *s, const int *programs, int n) {
  for (int k = 0; k < n; ++k) {
    sct_compiled *const r = &s->results[k];
    r->ok = programs[k] >= 0;
    if (!r->ok) {
      r->failure = SCT_COMPILE_ERROR;
      r->log = text_of("line %d: error: no\n", k);
      continue;
    }
    r->object = add_program(s, programs[k]); /* counted once more */
    r->entry = text_of("_Z6kernel%d", k);
    r->code_hash = (sct_hash){7, (uint64_t)k};
    r->registers = 32 + k;
  }
}

static void expect(const side *s, const int *programs, int n) {
  char text[64];
  for (int k = 0; k < n; ++k) {
    const sct_compiled *const r = &s->results[k];
    assert_int_equal(r->ok, programs[k] >= 0);
    if (!r->ok) {
      (void)snprintf(text, sizeof(text), "line %d: error: no\n", k);
      assert_string_equal(r->log, text);
      assert_null(r->object);
      continue;
    }
    (void)snprintf(text, sizeof(text), "cubin %d", programs[k]);
    assert_int_equal(r->cubin_bytes, strlen(text));
    assert_memory_equal(r->cubin, text, strlen(text));
    assert_true(sct_hash_equal(r->cubin_hash, sct_hash_text(text)));
    (void)snprintf(text, sizeof(text), "ptx of program %d", programs[k]);
    assert_string_equal(r->ptx, text);
    assert_true(sct_hash_equal(r->ptx_hash, sct_hash_text(text)));
    (void)snprintf(text, sizeof(text), "_Z6kernel%d", k);
    assert_string_equal(r->entry, text);
    assert_int_equal(r->code_hash.lo, k);
    assert_int_equal(r->registers, 32 + k);
  }
}

static int count_objects(const side *s) {
  int n = 0;
  for (const sct_compile_object *o = s->objects; o != NULL; o = o->next) {
    ++n;
  }
  return n;
}

static sct_status receive(side *to, const sct_wire *message, size_t bytes, int n) {
  sct_error err = {0};
  sct_wire w = {0};
  /* its exact size, so that the sanitizers see what is read beyond */
  w.data = sct_alloc(bytes + 1);
  memcpy(w.data, message->data, bytes);
  w.len = bytes;
  w.cap = bytes + 1;
  const sct_status status = sct_compile_get_results(&w, &to->objects, to->list, n, &err);
  sct_wire_free(&w);
  return status;
}

static void round_trip(const int *programs, int n, int n_objects) {
  side *const from = side_new();
  side *const to = side_new();
  sct_wire w = {0};
  fill(from, programs, n);
  sct_compile_put_results(&w, from->list, n);
  assert_int_equal(receive(to, &w, w.len, n), SCT_OK);
  assert_int_equal(count_objects(to), n_objects);
  expect(to, programs, n);

  /* read again: the object is in the list, and earlier results keep what they have */
  sct_compiled before[MOST];
  memcpy(before, to->results, sizeof(before));
  memset(to->results, 0, sizeof(to->results));
  assert_int_equal(receive(to, &w, w.len, n), SCT_OK);
  assert_int_equal(count_objects(to), n_objects);
  expect(to, programs, n);
  for (int i = 0; i < n; ++i) {
    assert_true(before[i].cubin == to->results[i].cubin && before[i].ptx == to->results[i].ptx);
    sct_compiled_free(&before[i]);
  }
  sct_compile_objects_free(&to->objects);
  expect(to, programs, n);
  sct_wire_free(&w);
  side_free(from);
  side_free(to);
}

static void test_what_is_sent_arrives(void **state) {
  (void)state;
  round_trip((const int[]){0, 0, 0}, 3, 1);
  round_trip((const int[]){-1, 4, -1, 4}, 4, 1);
  round_trip((const int[]){-1, -1}, 2, 0);
  round_trip((const int[]){2, -1, 1, 2, 3, 1}, 6, 3);
}

/* A prefix, or one wrong byte: refused, or taken for another reply of the right form; nothing is
 * read outside, and a reply that is refused leaves neither results nor objects. */
static void test_damaged_replies(void **state) {
  (void)state;
  static const int one[] = {0, 0, -1}, two[] = {0, -1, 1};
  const int *const lists[] = {one, two};
  for (int l = 0; l < SCT_COUNT(lists); ++l) {
    side *const from = side_new();
    sct_wire w = {0};
    fill(from, lists[l], 3);
    sct_compile_put_results(&w, from->list, 3);
    int n_refused = 0;
    for (size_t at = 0; at < 2 * w.len; ++at) {
      side *const to = side_new();
      const bool cut = at < w.len;
      if (!cut) {
        w.data[at - w.len] ^= 0x81;
      }
      const sct_status status = receive(to, &w, cut ? at : w.len, 3);
      if (!cut) {
        w.data[at - w.len] ^= 0x81;
      }
      assert_true(status == SCT_EDATA || (!cut && status == SCT_OK));
      for (int k = 0; k < 3 && status != SCT_OK; ++k) {
        assert_true(to->results[k].object == NULL && to->results[k].entry == NULL &&
                    to->results[k].log == NULL);
      }
      assert_true(status == SCT_OK || count_objects(to) == 0);
      n_refused += status != SCT_OK;
      side_free(to);
    }
    assert_true(n_refused > (int)w.len + 100);
    side *const to = side_new();
    sct_wire_put_i64(&w, 0); /* something behind the last object */
    assert_int_equal(receive(to, &w, w.len, 3), SCT_EDATA);
    assert_int_equal(count_objects(to), 0);
    side_free(to);
    sct_wire_free(&w);
    side_free(from);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_sent_arrives),
      cmocka_unit_test(test_damaged_replies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
