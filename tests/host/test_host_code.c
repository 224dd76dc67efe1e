/* The host's code as the program has it: which calls it makes, in which order, for the arrays of
 * tests/emit/host/mixed.lua. Those of its header are held to the same file (test_emit_host.sh). */
#include "host/host.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

typedef struct mark {
  int stream; /* of an event: that it was recorded on last */
} mark;

typedef struct logged {
  sct_host_side side;
  sct_str text;
  bool on;
  int n_streams, n_alive, fail_at;
} logged;

static logged *of(sct_host_side *s) {
  return (logged *)(void *)s;
}

static int add(sct_host_side *s, const char *what, int64_t n, const void *stream) {
  logged *l = of(s);
  if (l->on) {
    sct_str_printf(&l->text, "%s %lld, stream %d\n", what, (long long)n,
                   stream ? ((const mark *)stream)->stream : -1);
  }
  return l->fail_at > 0 && --l->fail_at == 0 ? 700 : 0;
}

static int log_open(sct_host_side *s, sct_host_thing thing, void **out, int64_t bytes) {
  const mark m = {thing == SCT_HOST_STREAM ? of(s)->n_streams++ : -1};
  of(s)->n_alive++;
  *out = memcpy(sct_alloc((size_t)bytes + sizeof m), &m, sizeof m);
  return add(s, "open", bytes, NULL);
}
static void log_close(sct_host_side *s, sct_host_thing thing, void *p) {
  (void)thing;
  of(s)->n_alive--;
  sct_free(p);
}
static int log_order(sct_host_side *s, sct_host_order order, void *event, void *stream) {
  static const char *const names[] = {"record", "wait", "synchronize"};
  if (!event) {
    return 0; /* when all ends */
  }
  if (order == SCT_HOST_RECORD) {
    ((mark *)event)->stream = stream ? ((const mark *)stream)->stream : -1;
  }
  return add(s, names[order], 0, order == SCT_HOST_SYNC ? event : stream);
}
static int log_work(sct_host_side *s, const sct_host_work *work) {
  static const char *const names[] = {"copy", "copy", "copy", "set", "launch"};
  if (sct_host_engine(work->kind) == SCT_ENGINE_HOST) {
    sct_host_copy(work->to, work->from, work->amount, work->kind == SCT_HOST_FROM_RING);
    return 0;
  }
  const bool launches = work->kind == SCT_HOST_KERNEL;
  return add(s, names[work->kind], launches ? 0 : work->amount, work->stream);
}
static int log_threads(sct_host_side *s, sct_host_call *call, int n) {
  (void)s, (void)n;
  return sct_host_run_thread(call, 0);
}

static const sct_host_calls calls = {log_open, log_close, log_order, log_work, log_threads};

enum { ROWS = 16, COLS = 3 };

/* a and b of floats, w of a row, c of records of 8 bytes. */
static sct_host_kernel mixed(bool pageable) {
  sct_host_kernel k = {.n = ROWS,
                       .end = ROWS,
                       .n_arrays = 4,
                       .pageable = pageable,
                       .base = {0, 4 * COLS, 0, 0},
                       .step = {4 * COLS, 0, 4 * COLS, 8 * COLS},
                       .is_in = {1, 1, 1, 1},
                       .is_out = {0, 0, 1, 1}};
  for (int a = 0; a < SCT_MAX_OPERANDS; a++) {
    k.start[a] = -1;
    k.is_direct[a] = a >= k.n_arrays;
  }
  return k;
}

/* The result of one call. */
static int run(logged *l, bool pageable) {
  static char a[ROWS * COLS * 4], w[COLS * 4], b[sizeof a], c[2 * sizeof a];
  void *arrays[] = {a, w, b, c};
  const sct_host_kernel kernel = mixed(pageable);
  const sct_host_options options = {3, 3, 1, !pageable};
  sct_host_plan *plan = NULL;
  l->side = (sct_host_side){&calls, &kernel, arrays, NULL};
  l->n_streams = 0;
  sct_host_enter(&l->side);
  int error = sct_host_plan_new(&plan, &options);
  l->on = true;
  error = error == 0 ? sct_host_run(plan, NULL) : error;
  l->on = false;
  sct_host_plan_free(plan);
  sct_host_enter(NULL);
  return error;
}

static void calls_are_those_of_headers(void **state) {
  (void)state;
  logged l = {.n_alive = 0};
  sct_str golden = {0};
  sct_str_append(&l.text, "page-locked:\n");
  assert_int_equal(run(&l, false), 0);
  sct_str_append(&l.text, "pageable:\n");
  assert_int_equal(run(&l, true), 0);
  const char *const path = SCT_TESTS_DIR "/emit/host/order.txt";
  if (getenv("SECTILE_UPDATE_GOLDEN")) {
    assert_int_equal(sct_file_write(path, l.text.data, l.text.len, NULL), SCT_OK);
  }
  assert_int_equal(sct_file_read(&golden, path, NULL), SCT_OK);
  assert_string_equal(sct_str_c(&l.text), sct_str_c(&golden));
  assert_int_equal(l.n_alive, 0);
  sct_str_free(&golden);
  sct_str_free(&l.text);
}

static void what_fails_is_reported_and_leaves_nothing(void **state) {
  (void)state;
  int n = 0;
  for (int at = 1;; at++) {
    logged l = {.fail_at = at};
    const int error = run(&l, at % 2 > 0);
    assert_int_equal(l.n_alive, 0);
    sct_str_free(&l.text);
    if (l.fail_at > 0) {
      break; /* there are fewer calls */
    }
    assert_int_equal(error, 700);
    n++;
  }
  assert_true(n > 60);
}

static void bytes_go_past_the_caches_as_they_are(void **state) {
  (void)state;
  char from[300], to[300];
  for (int k = 0; k < 300; k++) {
    from[k] = (char)(k * 37);
  }
  for (int back = 0; back < 2; back++) {
    for (int at = 0; at < 20; at++) {
      for (int n = 0; n < 270; n += 1 + n / 20) {
        memset(to, 0x5a, sizeof to);
        sct_host_copy(to + at, from + 3, n, back != 0);
        assert_memory_equal(to + at, from + 3, n);
        assert_true(to[at + n] == 0x5a && (at == 0 || to[at - 1] == 0x5a));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_are_those_of_headers),
      cmocka_unit_test(what_fails_is_reported_and_leaves_nothing),
      cmocka_unit_test(bytes_go_past_the_caches_as_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
