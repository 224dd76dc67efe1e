/* When copies and kernels begin and end, against cases that were worked out by hand. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the above first */
#include <cmocka.h>

enum {
  IN = SCT_ENGINE_IN,
  KERNEL = SCT_ENGINE_KERNEL,
  OUT = SCT_ENGINE_OUT,
  HOST = SCT_ENGINE_HOST
};

static sct_pipe_step op(int engine, int stream, double ns) {
  return (sct_pipe_step){.engine = (sct_engine)engine, .stream = stream, .after = -1, .ns = ns};
}

static void check(const sct_pipe_step *s, double begin, double end) {
  assert_true(s->begin_ns == begin);
  assert_true(s->end_ns == end);
}

static void one_stream_has_one_after_the_other(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 10), op(KERNEL, 0, 2), op(OUT, 0, 8), op(IN, 0, 10)};
  sct_model_pipeline(s, 4);
  check(&s[2], 12, 20);
  check(&s[3], 20, 30);
  const sct_overlap o = sct_model_overlap(s, 4);
  assert_true(o.total_ns == 30 && o.busy_ns[IN] == 20 && o.limit == SCT_ENGINE_IN);
  assert_true(o.hidden == 0);
}

/* Three chunks on two streams: the way in is never idle, all else but the last chunk's is hidden.
 */
static void streams_overlap(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 10), op(KERNEL, 0, 2), op(OUT, 0, 8),
                       op(IN, 1, 10), op(KERNEL, 1, 2), op(OUT, 1, 8),
                       op(IN, 0, 10), op(KERNEL, 0, 2), op(OUT, 0, 8)};
  sct_model_pipeline(s, 9);
  check(&s[3], 10, 20);
  check(&s[5], 22, 30);
  check(&s[6], 20, 30); /* its stream was free at 20 */
  check(&s[8], 32, 40);
  const sct_overlap o = sct_model_overlap(s, 9);
  assert_true(o.total_ns == 40 && o.busy_ns[IN] == 30 && o.busy_ns[OUT] == 24);
  assert_true(o.hidden > 0.66 && o.hidden < 0.67); /* (60 - 40) / (60 - 30) */
}

static void an_engine_does_one_at_a_time(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(OUT, 0, 5), op(OUT, 1, 5), op(IN, 2, 5)};
  sct_model_pipeline(s, 3);
  check(&s[1], 5, 10);
  check(&s[2], 0, 5); /* another engine's */
}

static void operations_wait_for_others(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 7), op(KERNEL, 1, 3), op(HOST, 0, 4), op(IN, 2, 1)};
  s[1].after = 0;
  s[2].after = 1;
  sct_model_pipeline(s, 4);
  check(&s[1], 7, 10);
  check(&s[2], 10, 14);
  check(&s[3], 14, 15); /* queued when the host had copied */
  s[2].after = -1;
  sct_model_pipeline(s, 4);
  check(&s[2], 0, 4); /* the host's copies are in no stream */
  check(&s[3], 7, 8); /* the way in is free at 7 */
}

/* Two threads copy at the same time, after what comes before both. */
static void threads_have_orders_of_their_own(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 5), op(HOST, 1, 4), op(HOST, 2, 6), op(IN, 1, 3), op(IN, 2, 3)};
  s[0].thread = -1;
  s[0].blocks = true;
  s[2].thread = s[4].thread = 1;
  sct_model_pipeline(s, 5);
  check(&s[1], 5, 9);
  check(&s[2], 5, 11);
  check(&s[3], 9, 12);
  check(&s[4], 12, 15); /* the way in is free then */
  const sct_overlap o = sct_model_overlap(s, 5);
  assert_true(o.n_threads == 2 && o.busy_ns[HOST] == 5 && o.total_ns == 15);
}

/* Engines, streams and what comes before the threads are each device's own; the host is one. */
static void devices_have_engines_of_their_own(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 5), op(IN, 1, 4), op(HOST, 0, 2),
                       op(IN, 0, 7), op(IN, 1, 4), op(HOST, 0, 2)};
  s[0].thread = s[3].thread = -1;
  s[0].blocks = s[3].blocks = true;
  s[3].device = s[4].device = s[5].device = 1;
  s[4].thread = s[5].thread = 1;
  sct_model_pipeline(s, 6);
  check(&s[1], 5, 9);
  check(&s[2], 5, 7);
  check(&s[3], 0, 7); /* beside the first device's */
  check(&s[4], 7, 11);
  check(&s[5], 7, 9);
  const sct_overlap o = sct_model_overlap(s, 6);
  assert_true(o.n_devices == 2 && o.n_threads == 2 && o.total_ns == 11);
  assert_true(o.busy_ns[IN] == 10 && o.busy_ns[HOST] == 2); /* on average */
  double lane[11];
  sct_model_engine_columns(lane, 11, s, 6, SCT_ENGINE_IN, 0);
  assert_true(lane[8] == 1 && lane[9] == 0);
  sct_model_engine_columns(lane, 11, s, 6, SCT_ENGINE_IN, 1);
  assert_true(lane[8] == 1 && lane[9] == 1);
  sct_model_engine_columns(lane, 11, s, 6, SCT_ENGINE_HOST, 0);
  assert_true(lane[5] == 0.5 && lane[7] == 0.5 && lane[9] == 0);
  sct_model_measured_begins(s, 6);
  check(&s[4], 7, 11); /* the first device's copies are not in its way */
}

static void the_host_waits_for_what_blocks_it(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 7), op(OUT, 1, 3)};
  s[0].blocks = true;
  sct_model_pipeline(s, 2);
  check(&s[1], 7, 10);
}

/* By their ends, whatever their order in the list: as threads of the host queued them. */
static void measured_operations_waited_for_their_engine(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 0), op(IN, 1, 0), op(IN, 2, 0), op(HOST, 0, 0), op(KERNEL, 0, 0)};
  static const double begin[] = {1, 0, 3, 0, 9}, end[] = {20, 8, 30, 25, 12};
  for (int k = 0; k < 5; k++) {
    s[k].begin_ns = begin[k];
    s[k].end_ns = end[k];
  }
  sct_model_measured_begins(s, 5);
  check(&s[1], 0, 8); /* the first to end */
  check(&s[0], 8, 20);
  check(&s[2], 20, 30);
  check(&s[3], 0, 25); /* no engine of the device's */
  check(&s[4], 9, 12);
  assert_true(s[2].ns == 10 && sct_model_overlap(s, 5).busy_ns[IN] == 30);
  s[4].begin_ns = 13; /* by clocks that disagree */
  sct_model_measured_begins(s, 5);
  check(&s[4], 12, 12);
  sct_model_measured_begins(s, 0);
}

static void lanes_say_what_part_an_engine_works(void **state) {
  (void)state;
  double lane[4];
  sct_pipe_step s[] = {op(IN, 0, 5), op(HOST, 1, 4), op(HOST, 2, 8)};
  s[0].thread = -1;
  s[0].blocks = true;
  s[2].thread = 1;
  sct_model_pipeline(s, 3); /* 13 in all */
  s[2].end_ns = 20;         /* or, as it were, 20 */
  sct_model_engine_columns(lane, 4, s, 3, SCT_ENGINE_IN, 0);
  assert_true(lane[0] == 1 && lane[1] == 0 && lane[3] == 0);
  sct_model_engine_columns(lane, 4, s, 3, SCT_ENGINE_HOST, 0); /* two threads */
  assert_true(lane[0] == 0 && lane[1] > 0.89 && lane[1] < 0.91 && lane[2] == 0.5);
  sct_model_engine_columns(lane, 4, s, 0, SCT_ENGINE_HOST, 0);
  assert_true(lane[0] == 0);
}

static void nothing_takes_no_time(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0, 0)};
  sct_model_pipeline(s, 0);
  assert_true(sct_model_overlap(s, 0).total_ns == 0);
  sct_model_pipeline(s, 1);
  const sct_overlap o = sct_model_overlap(s, 1);
  assert_true(o.total_ns == 0 && o.hidden == 0);
  assert_string_equal(sct_engine_name(o.limit), "in");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_stream_has_one_after_the_other),
      cmocka_unit_test(streams_overlap),
      cmocka_unit_test(an_engine_does_one_at_a_time),
      cmocka_unit_test(operations_wait_for_others),
      cmocka_unit_test(threads_have_orders_of_their_own),
      cmocka_unit_test(devices_have_engines_of_their_own),
      cmocka_unit_test(the_host_waits_for_what_blocks_it),
      cmocka_unit_test(measured_operations_waited_for_their_engine),
      cmocka_unit_test(lanes_say_what_part_an_engine_works),
      cmocka_unit_test(nothing_takes_no_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
