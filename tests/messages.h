/* What must hold of every struct that has a table (process.h): random ones arrive as they were
 * sent; each part of a message, and one with a byte behind it, is refused; with wrong bytes it is
 * refused or is another message of the same form; and a sender refuses what its receiver would. */
#ifndef SCT_TEST_MESSAGES_H
#define SCT_TEST_MESSAGES_H

#include "process/process.h"

#include <setjmp.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static sct_rng message_rng;
static sct_arena message_arena;

/* least to most, its ends as often as anything between */
static int64_t random_between(int64_t least, int64_t most) {
  const uint64_t span = (uint64_t)most - (uint64_t)least;
  const int64_t which = sct_rng_below(&message_rng, 4);
  return which == 0            ? least
         : which == 1          ? most
         : span < (1ULL << 40) ? least + sct_rng_below(&message_rng, (int64_t)span + 1)
                               : least + sct_rng_below(&message_rng, 1LL << 40);
}

static void random_bytes(void *out, size_t n) {
  for (size_t k = 0; k < n; k++) {
    ((uint8_t *)out)[k] = (uint8_t)sct_rng_u64(&message_rng);
  }
}

static void set_int(char *at, size_t bytes, int64_t value) { /* little-endian, as all we run on */
  memcpy(at, &value, bytes);
}

static void random_struct(const sct_message *what, char *out) {
  for (int k = 0; k < what->n_fields; k++) {
    const sct_message_field *f = &what->fields[k];
    char *const at = out + f->offset;
    const int64_t most = f->most < f->least + 3 ? f->most : f->least + 3;
    const int64_t n = random_between(f->least, most);
    char *items = NULL;
    switch (f->kind) {
    case SCT_IS_INT:
      set_int(at, f->bytes, random_between(f->least, f->most));
      continue;
    case SCT_IS_RAW:
      random_bytes(at, f->bytes);
      continue;
    case SCT_IS_CHARS:
      random_bytes(at, f->bytes);
      at[f->bytes - 1] = '\0';
      continue;
    case SCT_IS_STRUCT:
      random_struct(f->of(), at);
      continue;
    case SCT_IS_TEXT:
      items = f->least == 0 && sct_rng_below(&message_rng, 2) == 0
                  ? NULL
                  : sct_arena_strndup(&message_arena, "some text",
                                      (size_t)sct_rng_below(&message_rng, 9));
      memcpy(at, &items, sizeof items);
      continue;
    default:
      items = sct_arena_alloc(&message_arena, (size_t)n * f->bytes + 1);
      for (int64_t i = 0; i < n && f->kind == SCT_IS_LIST; i++) {
        random_struct(f->of(), items + (size_t)i * f->bytes);
      }
      if (f->kind != SCT_IS_LIST) {
        random_bytes(items, (size_t)n * f->bytes);
      }
      memcpy(at, &items, sizeof items);
      memcpy(out + f->count, &n, sizeof n);
    }
  }
}

/* The bytes of a struct as a message, in memory of exactly their size; NULL: it is refused. */
static uint8_t *message_of(const sct_message *what, const void *from, size_t *n) {
  sct_wire w = {0};
  sct_wire_put(&w, what, from);
  *n = w.len;
  uint8_t *bytes = w.failed ? NULL : sct_alloc(*n > 0 ? *n : 1);
  if (bytes && w.len > 0) {
    memcpy(bytes, w.data, w.len);
  }
  sct_wire_free(&w);
  return bytes;
}

/* Reads the first n bytes; what is taken must be written as the same bytes again. */
static bool is_taken(const sct_message *what, const uint8_t *bytes, size_t n) {
  uint8_t *const copy = sct_alloc(n > 0 ? n : 1); /* so that sanitizers see what is read beyond */
  char *const out = sct_alloc(what->bytes);
  if (n > 0) {
    memcpy(copy, bytes, n);
  }
  sct_wire w = {.data = copy, .len = n, .cap = n};
  const bool taken = sct_wire_get_whole(&w, what, out);
  if (taken) {
    size_t n_again = 0;
    uint8_t *const again = message_of(what, out, &n_again);
    assert_non_null(again);
    assert_int_equal(n_again, n);
    assert_memory_equal(again, bytes, n);
    sct_free(again);
  }
  for (size_t k = 0; k < what->bytes && !taken; k++) {
    assert_int_equal(out[k], 0);
  }
  sct_free(out);
  sct_wire_free(&w);
  return taken;
}

/* Field k is out of its limits: no sender puts it, and no receiver takes what one without limits
 * puts. */
static void expect_refused(const sct_message *what, int k, const char *changed) {
  sct_message_field fields[64];
  size_t n = 0;
  assert_null(message_of(what, changed, &n));
  assert_true(what->n_fields <= SCT_COUNT(fields));
  memcpy(fields, what->fields, sizeof *fields * (size_t)what->n_fields);
  fields[k].least = fields[k].kind == SCT_IS_TEXT ? 0 : INT64_MIN;
  fields[k].most = INT64_MAX;
  fields[k].kind = fields[k].kind == SCT_IS_CHARS ? SCT_IS_RAW : fields[k].kind;
  const sct_message loose = {what->name, what->bytes, fields, what->n_fields};
  uint8_t *const bytes = message_of(&loose, changed, &n);
  assert_non_null(bytes);
  assert_false(is_taken(what, bytes, n));
  sct_free(bytes);
}

static void set_items(const sct_message_field *f, char *out, int64_t n) {
  char *items = sct_arena_alloc(&message_arena, (size_t)n * f->bytes + 1);
  for (int64_t i = 0; i < n && f->kind == SCT_IS_LIST; i++) {
    random_struct(f->of(), items + (size_t)i * f->bytes);
  }
  memcpy(out + f->offset, &items, sizeof items);
  memcpy(out + f->count, &n, sizeof n);
}

/* Each value and each number of elements that is just out of its limits. */
static void test_limits(const sct_message *what, const char *from) {
  enum { MANY = 1000 }; /* more elements than that are not made */
  char *const changed = sct_alloc(what->bytes);
  for (int k = 0; k < what->n_fields; k++) {
    const sct_message_field *f = &what->fields[k];
    const bool is_int = f->kind == SCT_IS_INT;
    const bool counted = f->kind == SCT_IS_LIST || f->kind == SCT_IS_RAWS;
    if (f->kind == SCT_IS_TEXT && f->least > 0) {
      memcpy(changed, from, what->bytes);
      memset(changed + f->offset, 0, sizeof(void *));
      expect_refused(what, k, changed);
    }
    if (f->kind == SCT_IS_CHARS) {
      memcpy(changed, from, what->bytes);
      memset(changed + f->offset, 'x', f->bytes);
      expect_refused(what, k, changed);
    }
    const int64_t lowest = counted || f->bytes == 1 ? 0 : f->bytes == 4 ? INT32_MIN : INT64_MIN;
    const int64_t highest = counted         ? MANY
                            : f->bytes == 1 ? UINT8_MAX
                            : f->bytes == 4 ? INT32_MAX
                                            : INT64_MAX;
    assert_true(!is_int || (f->least >= lowest && f->most <= highest && f->least <= f->most));
    for (int side = 0; side < 2 && (is_int || counted); side++) {
      const bool can = side == 0 ? f->least > lowest : f->most < highest;
      const int64_t value = !can ? 0 : side == 0 ? f->least - 1 : f->most + 1;
      memcpy(changed, from, what->bytes);
      if (can && is_int) {
        set_int(changed + f->offset, f->bytes, value);
      } else if (can) {
        set_items(f, changed, value);
      }
      if (can) {
        expect_refused(what, k, changed);
      }
    }
  }
  sct_free(changed);
}

static void test_message(const sct_message *what) {
  int n_refused = 0, n_bytes = 0;
  for (int turn = 0; turn < 6; turn++) {
    char *const from = sct_alloc(what->bytes);
    size_t n = 0;
    random_struct(what, from);
    uint8_t *const bytes = message_of(what, from, &n);
    assert_non_null(bytes);
    assert_true(is_taken(what, bytes, n));
    test_limits(what, from);
    uint8_t *const longer = sct_alloc(n + 1);
    memcpy(longer, bytes, n);
    assert_false(is_taken(what, longer, n + 1));
    sct_free(longer);
    for (size_t at = 0; at < n; at++) {
      assert_false(is_taken(what, bytes, at));
      const uint8_t wrong[] = {0x01, 0x80, 0xff, bytes[at]}; /* the last: 0 in its place */
      for (int k = 0; k < SCT_COUNT(wrong) && wrong[k] != 0; k++) {
        bytes[at] ^= wrong[k];
        n_refused += !is_taken(what, bytes, n);
        n_bytes++;
        bytes[at] ^= wrong[k];
      }
    }
    sct_free(bytes);
    sct_free(from);
    sct_arena_free(&message_arena);
  }
  print_message("%s: %d of %d wrong bytes refused\n", what->name, n_refused, n_bytes);
}

static void test_messages(const sct_message *(*const *list)(void), int n) {
  message_rng = sct_rng_new(17);
  for (int k = 0; k < n; k++) {
    test_message(list[k]());
  }
}

#endif
