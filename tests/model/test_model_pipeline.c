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

static sct_pipe_step op(int engine, int stream) {
  return (sct_pipe_step){.engine = (sct_engine)engine, .stream = stream};
}

static void check(const sct_pipe_step *s, double begin, double end) {
  assert_true(s->begin_ns == begin);
  assert_true(s->end_ns == end);
}

/* ---- the host's code over clocks: chunks of 10 elements, of a byte each ---- */

enum { CHUNK = 10 };
static int slow_ring; /* the copy on the host that takes 20; 0: none */

static sct_status cost(void *ctx, double *ns, sct_host_work_kind work, int64_t amount,
                       sct_error *err) {
  static const double each[] = {
      [SCT_HOST_IN] = 10, [SCT_HOST_OUT] = 8,    [SCT_HOST_TO_RING] = 4, [SCT_HOST_FROM_RING] = 4,
      [SCT_HOST_SET] = 1, [SCT_HOST_KERNEL] = 2, [SCT_HOST_STAGE] = 3};
  const bool *fails = ctx;
  assert_int_equal(amount, CHUNK);
  *ns = work >= SCT_HOST_TO_RING && --slow_ring == 0 ? 20 : each[work];
  return fails && *fails ? sct_fail(err, SCT_EDATA, "unknown") : SCT_OK;
}

static sct_host_kernel kernel_of(int n_chunks) {
  sct_host_kernel k = {
      .n = n_chunks * CHUNK, .n_arrays = 2, .step = {1, 1}, .is_in = {1}, .is_out = {0, 1}};
  k.end = k.n;
  for (int a = 0; a < SCT_MAX_OPERANDS; a++) {
    k.start[a] = -1;
    k.is_direct[a] = a >= k.n_arrays;
  }
  return k;
}

static sct_timeline run(const sct_host_kernel *kernels, int n, int streams, int threads,
                        bool blocks) {
  sct_timeline t;
  const sct_host_options o = {CHUNK, streams, threads > 0 ? threads : 1, threads == 0};
  const sct_host_options options[] = {o, o};
  const sct_pipe_costs costs = {cost, NULL, blocks};
  sct_error err = {0};
  assert_int_equal(sct_model_pipeline(&t, kernels, options, n, &costs, &err), SCT_OK);
  return t;
}

static void one_stream_has_one_after_the_other(void **state) {
  (void)state;
  const sct_host_kernel kernel = kernel_of(2);
  sct_timeline t = run(&kernel, 1, 1, 0, false);
  assert_int_equal(t.n_steps, 6);
  assert_int_equal(t.n_chunks, 2);
  assert_int_equal(t.chunk, CHUNK);
  assert_true(t.n_extents == 1 && t.extent[0] == CHUNK);
  check(&t.steps[2], 12, 20);
  check(&t.steps[3], 20, 30);
  const sct_overlap o = sct_model_overlap(t.steps, 4);
  assert_true(o.total_ns == 30 && o.busy_ns[IN] == 20 && o.limit == SCT_ENGINE_IN);
  assert_true(o.hidden == 0);
  sct_timeline_free(&t);
}

/* Three chunks on two streams: the way in is never idle, all else but the last chunk's is hidden.
 */
static void streams_overlap(void **state) {
  (void)state;
  const sct_host_kernel kernel = kernel_of(3);
  sct_timeline t = run(&kernel, 1, 2, 0, false);
  check(&t.steps[3], 10, 20);
  check(&t.steps[5], 22, 30);
  check(&t.steps[6], 20, 30); /* its stream was free at 20 */
  check(&t.steps[8], 32, 40);
  assert_true(t.steps[5].stream == 1 && t.steps[6].stream == 0);
  const sct_overlap o = sct_model_overlap(t.steps, 9);
  assert_true(o.total_ns == 40 && o.busy_ns[IN] == 30 && o.busy_ns[OUT] == 24);
  assert_true(o.hidden > 0.66 && o.hidden < 0.67); /* (60 - 40) / (60 - 30) */
  sct_timeline_free(&t);
}

static void the_host_waits_for_what_blocks_it(void **state) {
  (void)state;
  const sct_host_kernel kernel = kernel_of(2);
  sct_timeline t = run(&kernel, 1, 2, 0, true);
  check(&t.steps[2], 12, 20);
  check(&t.steps[3], 20, 30);
  sct_timeline_free(&t);
}

/* Two threads copy at the same time; each brings what came back when it has come. */
static void threads_copy_beside_each_other(void **state) {
  (void)state;
  sct_host_kernel kernel = kernel_of(2);
  kernel.pageable = 1;
  slow_ring = 0;
  sct_timeline t = run(&kernel, 1, 3, 2, true);
  assert_true(t.n_steps == 10 && t.n_threads == 2);
  check(&t.steps[0], 0, 4);
  check(&t.steps[1], 4, 14); /* from the ring, so that the thread goes on */
  check(&t.steps[3], 16, 24);
  check(&t.steps[4], 0, 4);
  check(&t.steps[5], 14, 24); /* the way in is free then */
  check(&t.steps[7], 26, 34);
  check(&t.steps[8], 24, 28);
  check(&t.steps[9], 34, 38);
  assert_true(t.steps[4].engine == SCT_ENGINE_HOST && t.steps[4].thread == 1);
  const sct_overlap o = sct_model_overlap(t.steps, t.n_steps);
  assert_true(o.n_threads == 2 && o.busy_ns[HOST] == 8 && o.total_ns == 38);
  sct_timeline_free(&t);
}

static void who_is_done_first_has_the_next_chunk(void **state) {
  (void)state;
  sct_host_kernel kernel = kernel_of(3);
  kernel.pageable = 1;
  slow_ring = 1; /* of the first thread */
  sct_timeline t = run(&kernel, 1, 8, 2, true);
  assert_int_equal(t.steps[0].thread, 0);
  assert_int_equal(t.steps[4].thread, 1);
  assert_int_equal(t.steps[8].thread, 1);
  check(&t.steps[8], 4, 8);
  sct_timeline_free(&t);
}

/* Engines and streams are each device's own; the host is one. */
static void devices_have_engines_of_their_own(void **state) {
  (void)state;
  sct_host_kernel kernels[] = {kernel_of(2), kernel_of(2)};
  kernels[0].end = kernels[1].begin = CHUNK;
  sct_timeline t = run(kernels, 2, 2, 0, false);
  assert_int_equal(t.n_steps, 6);
  check(&t.steps[0], 0, 10);
  check(&t.steps[3], 0, 10); /* beside the first device's */
  assert_true(t.steps[3].device == 1 && t.steps[3].thread == 1 && t.n_threads == 2);
  const sct_overlap o = sct_model_overlap(t.steps, 6);
  assert_true(o.n_devices == 2 && o.total_ns == 20 && o.busy_ns[IN] == 10); /* on average */
  double lane[10];
  sct_model_engine_columns(lane, 10, t.steps, 6, SCT_ENGINE_IN, 1);
  assert_true(lane[4] == 1 && lane[5] == 0);
  sct_timeline_free(&t);
  kernels[1].begin = kernels[1].end; /* nothing is its */
  t = run(kernels, 2, 2, 0, false);
  assert_int_equal(t.n_steps, 3);
  sct_timeline_free(&t);
}

/* What chunks go onto is set before the first one, and comes back after the last kernel. */
static void what_is_combined_goes_once(void **state) {
  (void)state;
  sct_host_kernel kernel = kernel_of(2);
  kernel.step[1] = 0;
  kernel.base[1] = CHUNK;
  kernel.is_shared[1] = 1;
  kernel.start[1] = 0;
  sct_timeline t = run(&kernel, 1, 2, 0, false);
  assert_int_equal(t.n_steps, 6);
  check(&t.steps[0], 0, 1);
  check(&t.steps[1], 1, 11);
  check(&t.steps[2], 11, 13);
  check(&t.steps[3], 11, 21);
  check(&t.steps[5], 23, 31);
  assert_int_equal(t.steps[5].engine, SCT_ENGINE_OUT);
  sct_timeline_free(&t);
}

static void a_cost_that_is_not_known_is_reported(void **state) {
  (void)state;
  bool fails = true;
  const sct_host_kernel kernel = kernel_of(2);
  const sct_host_options options = {CHUNK, 2, 1, true};
  const sct_pipe_costs costs = {cost, &fails, false};
  sct_timeline t;
  sct_error err = {0};
  assert_int_equal(sct_model_pipeline(&t, &kernel, &options, 1, &costs, &err), SCT_EDATA);
  assert_string_equal(err.text, "unknown");
  sct_timeline_free(&t);
}

/* ---- timelines ---- */

/* By their ends, whatever their order in the list: as threads of the host queued them. */
static void measured_operations_waited_for_their_engine(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0), op(IN, 1), op(IN, 2), op(HOST, 0), op(KERNEL, 0)};
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
  assert_true(sct_model_overlap(s, 5).busy_ns[IN] == 30);
  s[4].begin_ns = 13; /* by clocks that disagree */
  sct_model_measured_begins(s, 5);
  check(&s[4], 12, 12);
  sct_model_measured_begins(s, 0);
}

static void lanes_say_what_part_an_engine_works(void **state) {
  (void)state;
  double lane[4];
  sct_pipe_step s[] = {op(IN, 0), op(HOST, 1), op(HOST, 2)};
  s[2].thread = 1;
  s[0].end_ns = s[1].begin_ns = s[2].begin_ns = 5;
  s[1].end_ns = 9;
  s[2].end_ns = 20;
  sct_model_engine_columns(lane, 4, s, 3, SCT_ENGINE_IN, 0);
  assert_true(lane[0] == 1 && lane[1] == 0 && lane[3] == 0);
  sct_model_engine_columns(lane, 4, s, 3, SCT_ENGINE_HOST, 0); /* two threads */
  assert_true(lane[0] == 0 && lane[1] > 0.89 && lane[1] < 0.91 && lane[2] == 0.5);
  sct_model_engine_columns(lane, 4, s, 0, SCT_ENGINE_HOST, 0);
  assert_true(lane[0] == 0);
}

static void nothing_takes_no_time(void **state) {
  (void)state;
  sct_pipe_step s[] = {op(IN, 0)};
  assert_true(sct_model_overlap(s, 0).total_ns == 0);
  const sct_overlap o = sct_model_overlap(s, 1);
  assert_true(o.total_ns == 0 && o.hidden == 0);
  assert_string_equal(sct_engine_name(o.limit), "in");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_stream_has_one_after_the_other),
      cmocka_unit_test(streams_overlap),
      cmocka_unit_test(the_host_waits_for_what_blocks_it),
      cmocka_unit_test(threads_copy_beside_each_other),
      cmocka_unit_test(who_is_done_first_has_the_next_chunk),
      cmocka_unit_test(devices_have_engines_of_their_own),
      cmocka_unit_test(what_is_combined_goes_once),
      cmocka_unit_test(a_cost_that_is_not_known_is_reported),
      cmocka_unit_test(measured_operations_waited_for_their_engine),
      cmocka_unit_test(lanes_say_what_part_an_engine_works),
      cmocka_unit_test(nothing_takes_no_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
