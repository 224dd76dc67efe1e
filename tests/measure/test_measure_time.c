/* Timing and the ceiling against the fake GPU, whose kernels take a known time. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

#define N_KERNELS 4

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  fixture_kernel kernel[N_KERNELS]; /* 0: the naive variant */
} world;

static const int first_layout[SCT_MAX_OPERANDS];
static const fixture_array mixed[] = {{.name = "a", .types = "f64 f32 u8", .layout = FIXTURE_AOS},
                                      {.name = "b", .types = "f64 f32 u8", .layout = FIXTURE_AOS}};
static const int64_t extents[] = {30011};

static void open_spec(world *w, const char *script, const char *dims, const fixture_array *arrays,
                      int n_inputs, int n, const char *body, const int64_t *size) {
  memset(w, 0, sizeof *w);
  const sct_measure_opts opts = {.fake = script, .seed = 3};
  fixture_spec(&w->spec, dims, arrays, n_inputs, n, NULL, body, size);
  for (int k = 0; k < N_KERNELS; k++) {
    fixture_kernel_init(&w->kernel[k], &w->spec, k, 128);
  }
  assert_ok(sct_measure_open(&w->m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &w->kernel[0].binary, &fixture_err));
}

static void open_world(world *w, const char *script) {
  open_spec(w, script, "i", mixed, 1, 2, "b = a;", extents);
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

static sct_timing time_kernel(world *w, int kernel) {
  sct_timing t;
  assert_ok(
      sct_measure_time(w->m, &w->kernel[kernel].binary, &w->spec.sizes[0], 0, &t, &fixture_err));
  return t;
}

static void expect(world *w, int kernel, sct_outcome_kind outcome, const char *says) {
  sct_timing t = time_kernel(w, kernel);
  if (t.verdict.outcome != outcome || !strstr(t.verdict.detail, says)) {
    print_error("kernel %d: %s: %s\n", kernel, sct_outcome_name(t.verdict.outcome),
                t.verdict.detail);
  }
  assert_int_equal(t.verdict.outcome, outcome);
  assert_non_null(strstr(t.verdict.detail, says));
  assert_true(outcome == SCT_OUT_IMPLAUSIBLE || (t.n_samples > 0) == (outcome == SCT_OUT_OK));
  sct_free(t.samples_ns);
}

/* The fake's time: 2 us and 4 TB/s over twice the output, here 2 x 30011 x 16 bytes. */
static const double base_ns = 2000 + 2.0 * 30011 * 16 / 4000;

static void test_times_are_those_of_the_device(void **state) {
  (void)state;
  world w;
  open_world(&w, "slow@2=3");
  sct_timing one = time_kernel(&w, 1), three = time_kernel(&w, 2);
  assert_int_equal(one.verdict.outcome, SCT_OUT_OK);
  assert_true(one.n_samples >= 51); /* a kernel of 2 us is short */
  assert_true(one.median_ns > base_ns * 0.997 && one.median_ns < base_ns * 1.003);
  assert_true(three.median_ns > 3 * base_ns * 0.997 && three.median_ns < 3 * base_ns * 1.003);
  assert_true(one.min_ns <= one.q1_ns && one.q1_ns <= one.median_ns && one.median_ns <= one.q3_ns);
  assert_true(one.sm_clock_mhz == 1980);
  assert_int_equal(sct_stats_compare(&one, &three), -1);
  assert_int_equal(sct_stats_compare(&one, &one), 0);
  sct_free(one.samples_ns);
  sct_free(three.samples_ns);
  close_world(&w);
}

static void test_longer_kernels_need_fewer_samples(void **state) {
  (void)state;
  world w;
  open_world(&w, "slow@1=100");
  sct_timing t = time_kernel(&w, 1);
  assert_int_equal(t.n_samples, 11); /* the fake's jitter is far below 0.5 % */
  sct_free(t.samples_ns);
  close_world(&w);
}

static void test_faults_at_this_size_are_found(void **state) {
  (void)state;
  static const struct {
    const char *script;
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"wrong@2", SCT_OUT_WRONG_RESULT, "bytes differ"},
      {"wrong@2=20", SCT_OUT_WRONG_RESULT, "instead of"}, /* among the samples */
      {"unwritten@2", SCT_OUT_NOT_WRITTEN, "16 bytes differ"},
      {"guard@2", SCT_OUT_OUT_OF_BOUNDS, "behind its array"},
      {"guard@2=30", SCT_OUT_OUT_OF_BOUNDS, "behind its array"},
      {"before@2", SCT_OUT_OUT_OF_BOUNDS, "before its array"},
      {"input@2", SCT_OUT_INPUT_CHANGED, "'a'"},
      {"input@2=30", SCT_OUT_INPUT_CHANGED, "'a'"},
      {"gap@2", SCT_OUT_OK, ""},
      {"crash@2=30", SCT_OUT_CRASH, "signal 9"},
      {"sticky700@2=30", SCT_OUT_ILLEGAL_ACCESS, "700"},
      {"refuse701@2", SCT_OUT_TOO_LARGE, "701"},
      {"fast@2", SCT_OUT_IMPLAUSIBLE, "at least"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    world w;
    open_world(&w, cases[k].script);
    expect(&w, 1, SCT_OUT_OK, "");
    expect(&w, 2, cases[k].outcome, cases[k].says);
    expect(&w, 3, SCT_OUT_OK, "");
    close_world(&w);
  }
}

/* The last bytes that a kernel fails to write must not pass for written because an earlier launch
 * wrote them: outputs are poisoned again after the samples. */
static void test_stale_results_do_not_pass(void **state) {
  (void)state;
  world w;
  open_world(&w, "unwritten@1=20");
  expect(&w, 1, SCT_OUT_NOT_WRITTEN, "not written");
  close_world(&w);
}

static void test_a_hang_during_timing(void **state) {
  (void)state;
  world w;
  open_world(&w, "hang@1=20");
  expect(&w, 1, SCT_OUT_HANG, "TIME within");
  expect(&w, 2, SCT_OUT_OK, "");
  close_world(&w);
}

static void test_gaps_nobody_owns_are_compared(void **state) {
  (void)state;
  const fixture_array pitched[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                   {.name = "b", .types = "f32", .layout = FIXTURE_PITCHED}};
  world w;
  const int64_t size[] = {301, 77};
  open_spec(&w, "gap@1", "row col", pitched, 1, 2, "b = a;", size);
  expect(&w, 1, SCT_OUT_OUT_OF_BOUNDS, "between its elements");
  expect(&w, 2, SCT_OUT_OK, "");
  close_world(&w);
}

static void test_gathers_and_large_index_arrays(void **state) {
  (void)state;
  const fixture_array gather[] = {
      {.name = "pick", .types = "i32", .layout = FIXTURE_AOS},
      {.name = "t", .types = "f32", .dims = "m", .at = "pick", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  const int64_t size[] = {120000, 5000};
  world w;
  open_spec(&w, "wrong@2 input@3", "i", gather, 2, 3, "b = t;", size);
  expect(&w, 1, SCT_OUT_OK, "");
  expect(&w, 2, SCT_OUT_WRONG_RESULT, "element i=");
  expect(&w, 3, SCT_OUT_INPUT_CHANGED, "");
  close_world(&w);
}

static void test_tolerance_is_judged_by_value(void **state) {
  (void)state;
  const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  world w;
  open_spec(&w, "wrong@1 wrong@2", "i", arrays, 1, 2, "b = a;", extents);
  w.spec.tolerance = 2; /* the fake's fault flips bit 6 of a byte: of a value in [1, 2) */
  expect(&w, 1, SCT_OUT_OK, "");
  w.spec.tolerance = 1e-9;
  expect(&w, 1, SCT_OUT_WRONG_RESULT, "instead of");
  close_world(&w);
}

static void test_sizes_change_and_memory_comes_back(void **state) {
  (void)state;
  world w;
  open_world(&w, "memory=5000000"); /* room for one size at a time, not for two */
  int64_t other[] = {25000};
  sct_size second = w.spec.sizes[0];
  second.extent = other;
  for (int round = 0; round < 6; round++) {
    sct_timing t;
    assert_ok(sct_measure_time(w.m, &w.kernel[1].binary,
                               round % 2 == 0 ? &w.spec.sizes[0] : &second, 0, &t, &fixture_err));
    assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
    sct_free(t.samples_ns);
  }
  assert_int_equal(w.m->generation, 1);
  close_world(&w);
}

static void test_a_size_that_does_not_fit_says_so(void **state) {
  (void)state;
  world w;
  sct_timing t;
  open_world(&w, "memory=1000000");
  assert_int_equal(
      sct_measure_time(w.m, &w.kernel[1].binary, &w.spec.sizes[0], 0, &t, &fixture_err),
      SCT_ENOMEM);
  assert_non_null(
      strstr(fixture_err.text, "this size needs 1.832 MiB of device memory; Fake GPU has"));
  assert_null(t.samples_ns);
  close_world(&w);
}

static void test_requirements_hold_or_it_is_not_launched(void **state) {
  (void)state;
  world w;
  open_world(&w, "crash@1");
  sct_expr_pool *p = w.spec.pool;
  w.kernel[1].require[0] =
      sct_expr_binary(p, SCT_EXPR_EQ, sct_expr_mod(p, w.spec.extent_var[0], sct_expr_const(p, 4)),
                      sct_expr_const(p, 0));
  w.kernel[1].code.require = w.kernel[1].require;
  w.kernel[1].code.n_require = 1;
  expect(&w, 1, SCT_OUT_LAUNCH_ERROR, "requirements");
  close_world(&w);
}

static void test_a_failing_naive_variant(void **state) {
  (void)state;
  world w;
  sct_timing t;
  open_world(&w, "crash@0");
  for (int k = 0; k < 3; k++) { /* after the first time without trying it again */
    assert_int_equal(
        sct_measure_time(w.m, &w.kernel[1].binary, &w.spec.sizes[0], 0, &t, &fixture_err),
        SCT_ENOTVERIFIED);
    assert_non_null(strstr(fixture_err.text, "naive"));
  }
  assert_int_equal(w.m->generation, 2);
  expect(&w, 0, SCT_OUT_CRASH, "signal 9");
  close_world(&w);
}

static void test_the_ceiling_is_the_best_copy(void **state) {
  (void)state;
  world w;
  double bytes_per_s = 0;
  const int64_t bytes = 1 << 20;
  open_world(&w, "slow@1=0.01 noload@2");
  assert_ok(sct_measure_ceiling(w.m, bytes, NULL, 0, &bytes_per_s, &fixture_err));
  const double expected =
      (double)bytes / (2000 + (double)bytes / 4200) * 1e9; /* the fake's memcpy */
  assert_true(bytes_per_s > expected * 0.995 && bytes_per_s < expected * 1.005);
  /* A kernel that copies nothing is fast and does not count; one that does not load neither. */
  const sct_binary extra[] = {w.kernel[1].binary, w.kernel[2].binary};
  double again = 0;
  assert_ok(sct_measure_ceiling(w.m, bytes, extra, 2, &again, &fixture_err));
  assert_true(again > expected * 0.995 && again < expected * 1.005);
  assert_int_equal(sct_measure_ceiling(w.m, 1, NULL, 0, &again, &fixture_err), SCT_EUSAGE);
  assert_int_equal(sct_measure_ceiling(w.m, (int64_t)1 << 40, NULL, 0, &again, &fixture_err),
                   SCT_ENOMEM);
  expect(&w, 3, SCT_OUT_OK, "");
  close_world(&w);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  sct_log_set_level(SCT_LOG_ERROR);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_are_those_of_the_device),
      cmocka_unit_test(test_longer_kernels_need_fewer_samples),
      cmocka_unit_test(test_faults_at_this_size_are_found),
      cmocka_unit_test(test_stale_results_do_not_pass),
      cmocka_unit_test(test_a_hang_during_timing),
      cmocka_unit_test(test_gaps_nobody_owns_are_compared),
      cmocka_unit_test(test_gathers_and_large_index_arrays),
      cmocka_unit_test(test_tolerance_is_judged_by_value),
      cmocka_unit_test(test_sizes_change_and_memory_comes_back),
      cmocka_unit_test(test_a_size_that_does_not_fit_says_so),
      cmocka_unit_test(test_requirements_hold_or_it_is_not_launched),
      cmocka_unit_test(test_a_failing_naive_variant),
      cmocka_unit_test(test_the_ceiling_is_the_best_copy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
