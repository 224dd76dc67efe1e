/* Timing and the ceiling against the fake GPU, whose kernels take a known time. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

#include <math.h>

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
  assert_true(outcome == SCT_OUT_IMPLAUSIBLE || (t.times.n_samples > 0) == (outcome == SCT_OUT_OK));
  sct_free(t.times.samples_ns);
}

/* The fake's time: 4 TB/s over twice the output, here 2 x 30011 x 16 bytes, less the 2 ns that a
 * launch takes. */
static const double base_ns = 2.0 * 30011 * 16 / 4000;
static const double launch_ns = 2;

/* The jitter is of launch and kernel, so what is left of a short kernel scatters more. */
static bool is_about(double ns, double expected) {
  return fabs(ns - expected) < 0.003 * (expected + launch_ns);
}

static void test_times_are_those_of_the_device(void **state) {
  (void)state;
  world w;
  open_world(&w, "slow@2=3");
  sct_timing one = time_kernel(&w, 1), three = time_kernel(&w, 2);
  assert_int_equal(one.verdict.outcome, SCT_OUT_OK);
  assert_true(one.times.n_samples >= 7);
  assert_true(is_about(one.times.median_ns, base_ns) &&
              is_about(three.times.median_ns, 3 * base_ns));
  assert_true(is_about(one.times.overhead_ns, launch_ns));
  assert_true(one.times.min_ns <= one.times.q1_ns && one.times.q1_ns <= one.times.median_ns &&
              one.times.median_ns <= one.times.q3_ns);
  assert_true(one.times.sm_clock_mhz == 1980 && one.times.n_slow == 0);
  assert_int_equal(one.times.copies, 1); /* 960 kB are more than three times the fake's cache */
  assert_true(one.times.launches > 1);   /* for a unit of 500 ns */
  sct_free(one.times.samples_ns);
  sct_free(three.times.samples_ns);
  close_world(&w);
}

static void test_longer_kernels_need_fewer_samples(void **state) {
  (void)state;
  world w;
  open_world(&w, "slow@1=100");
  sct_timing t = time_kernel(&w, 1);
  assert_int_equal(t.times.n_samples, 7); /* the fake's jitter is far below 0.5 % */
  assert_int_equal(t.times.launches, 1);
  sct_free(t.times.samples_ns);
  close_world(&w);
}

static sct_timing quick_kernel(world *w, int kernel) {
  sct_timing t;
  assert_ok(
      sct_measure_time(w->m, &w->kernel[kernel].binary, &w->spec.sizes[0], 1, &t, &fixture_err));
  return t;
}

/* 7 samples, or 3 of what is half as slow again as the best so far; results are checked as ever. */
static void test_a_quick_pass_is_short(void **state) {
  (void)state;
  static const int n_samples[] = {0, 7, 3, 7};
  static const char *const wrong[] = {"wrong@1", "wrong@1=3", "unwritten@1=9", "guard@1=5"};
  world w;
  open_world(&w, "slow@1=10 slow@2=16 slow@3=14");
  for (int k = 1; k < 4; k++) {
    sct_timing t = quick_kernel(&w, k);
    assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
    assert_int_equal(t.times.n_samples, n_samples[k]);
    sct_free(t.times.samples_ns);
  }
  close_world(&w);
  for (int k = 0; k < SCT_COUNT(wrong); k++) { /* from the first launch on, or a later one */
    open_world(&w, wrong[k]);
    sct_timing bad = quick_kernel(&w, 1), good = quick_kernel(&w, 2);
    assert_int_not_equal(bad.verdict.outcome, SCT_OUT_OK);
    assert_int_equal(good.verdict.outcome, SCT_OUT_OK);
    assert_int_equal(good.times.n_samples, 7);
    sct_free(bad.times.samples_ns);
    sct_free(good.times.samples_ns);
    close_world(&w);
  }
}

/* From 20 ms a launch on 3 samples do, and 1 of what takes ten times as long or is far from the
 * best; there is no warm-up. */
static void test_slow_kernels_have_few_samples(void **state) {
  (void)state;
  world w;
  open_world(&w, "slow@1=100000 slow@2=1000000 slow@3=100");
  const int kernels[] = {1, 2, 3, 1}, n_samples[] = {3, 1, 7, 1};
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    sct_timing t = quick_kernel(&w, kernels[k]);
    assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
    assert_int_equal(t.times.n_samples, n_samples[k]);
    assert_int_equal(t.times.launches, 1);
    sct_free(t.times.samples_ns);
  }
  close_world(&w);
}

/* A slow kernel is launched five times: checked, timed, checked. A naive variant is checked by the
 * two launches that make its references. */
static void test_slow_kernels_have_few_launches(void **state) {
  (void)state;
  for (int launch = 2; launch < 8; launch++) {
    for (int kernel = 0; kernel < 2; kernel++) {
      world w;
      char script[64];
      snprintf(script, sizeof script, "slow@%d=100000 wrong@%d=%d", kernel, kernel, launch);
      open_world(&w, script);
      sct_timing t = quick_kernel(&w, kernel);
      if (t.verdict.outcome !=
          (launch < (kernel == 0 ? 6 : 5) ? SCT_OUT_WRONG_RESULT : SCT_OUT_OK)) {
        fail_msg("%s: %s", script, sct_outcome_name(t.verdict.outcome));
      }
      sct_free(t.times.samples_ns);
      close_world(&w);
    }
  }
}

static sct_timing time_at(world *w, int kernel, int64_t extent, sct_outcome_kind outcome) {
  sct_timing t;
  const sct_size size = {.label = "another size", .extent = &extent};
  assert_ok(sct_measure_time(w->m, &w->kernel[kernel].binary, &size, 1, &t, &fixture_err));
  assert_int_equal(t.verdict.outcome, outcome);
  return t;
}

/* Sizes take turns: each has its references from two launches of the naive variant, and its best
 * time is remembered. */
static void test_sizes_stay_where_there_is_room(void **state) {
  (void)state;
  world w;
  const int n_sizes = 4;
  open_world(&w, "wrong@0=8 slow@2=16");
  for (int k = 0; k < 3 * n_sizes; k++) {
    sct_timing t = time_at(&w, 1, 20001 + k % n_sizes, SCT_OUT_OK);
    sct_free(t.times.samples_ns);
  }
  for (int k = 0; k < n_sizes; k++) {
    sct_timing t = time_at(&w, 2, 20001 + k, SCT_OUT_OK);
    assert_int_equal(t.times.n_samples, 3);
    sct_free(t.times.samples_ns);
  }
  sct_timing fifth = time_at(&w, 1, 20000, SCT_OUT_WRONG_RESULT); /* its reference is */
  sct_free(fifth.times.samples_ns);
  close_world(&w);
}

/* Earlier sizes may keep a quarter of a memory of 16 MB: those of 640 kB and of 1.9 MB that fit. A
 * size that needs 13 MB frees them. */
static void test_sizes_go_where_there_is_none(void **state) {
  (void)state;
  static const int64_t sizes[] = {10001, 10002, 30001, 10003, 30002, 160001, 10002};
  world w;
  open_world(&w, "memory=16000000");
  for (int k = 0; k < SCT_COUNT(sizes); k++) {
    sct_timing t = time_at(&w, 1, sizes[k], SCT_OUT_OK);
    sct_free(t.times.samples_ns);
  }
  close_world(&w);
}

/* Cases that have no room together come one after the other; a size that needs theirs gets it. */
static void test_cases_go_where_there_is_no_room(void **state) {
  (void)state;
  static const char *const memories[] = {"memory=32000000", "memory=1000000", "memory=20000000"};
  int64_t held[SCT_COUNT(memories)];
  for (int k = 0; k < SCT_COUNT(memories); k++) {
    world w;
    sct_verdict v;
    open_world(&w, memories[k]);
    assert_ok(sct_measure_verify(w.m, &w.kernel[1].binary, &v, &fixture_err));
    assert_int_equal(v.outcome, SCT_OUT_OK);
    held[k] = w.m->cases.bytes;
    if (k == 2) {
      sct_timing t = time_at(&w, 1, 180001, SCT_OUT_OK);
      sct_free(t.times.samples_ns);
      assert_int_equal(w.m->cases.bytes, 0);
    }
    close_world(&w);
  }
  assert_true(held[1] > 0 && held[1] < held[0] && held[2] == held[0]);
}

static const int64_t race_size[] = {2011};

static void open_race(world *w, const char *script) {
  open_spec(w, script, "i", mixed, 1, 2, "b = a;", race_size);
}

/* ---- a verification, then a quick pass ---- */

static void evaluate(world *w, int kernel, sct_verdict *v, sct_timing *t) {
  *t = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  w->m->last_timed_ns = sct_now_ns(); /* a short warm-up */
  assert_ok(sct_measure_verify(w->m, &w->kernel[kernel].binary, v, &fixture_err));
  if (v->outcome == SCT_OUT_OK) {
    *t = quick_kernel(w, kernel);
  }
}

static void evaluate_well(world *w, int kernel) {
  sct_verdict v;
  sct_timing t;
  evaluate(w, kernel, &v, &t);
  assert_int_equal(v.outcome, SCT_OUT_OK);
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  assert_int_equal(t.times.n_samples, 7);
  sct_free(t.times.samples_ns);
}

/* How often a candidate is launched in its verification: one that is wrong from then on is right.
 */
static int n_verified(void) {
  int wrong = 0, right = 1000;
  while (right - wrong > 1) {
    world w;
    char script[32];
    const int launch = wrong + (right - wrong) / 2;
    snprintf(script, sizeof script, "wrong@1=%d", launch);
    open_race(&w, script);
    sct_verdict v;
    assert_ok(sct_measure_verify(w.m, &w.kernel[1].binary, &v, &fixture_err));
    close_world(&w);
    *(v.outcome == SCT_OUT_OK ? &right : &wrong) = launch;
  }
  assert_in_range(right, 2, 999);
  return wrong;
}

/* Evaluates a candidate that is not right, after one that is and before another. */
static void evaluate_wrong(const char *script) {
  world w;
  sct_verdict v;
  sct_timing t;
  open_race(&w, script);
  evaluate_well(&w, 1);
  evaluate(&w, 2, &v, &t);
  if (v.outcome == SCT_OUT_OK && t.verdict.outcome == SCT_OUT_OK) {
    fail_msg("%s: nothing was found", script);
  }
  assert_int_equal(t.verdict.outcome == SCT_OUT_OK || t.times.n_samples == 0, 1);
  sct_free(t.times.samples_ns);
  evaluate_well(&w, 3);
  close_world(&w);
}

/* Whatever a candidate does, and when, is found, has no time, and spoils no other. */
static void test_trouble_is_found_whenever_it_comes(void **state) {
  (void)state;
  static const char *const kinds[] = {"wrong",     "unwritten", "guard",   "before",
                                      "input",     "stray",     "crash",   "exit",
                                      "sticky700", "sticky702", "refuse1", "refuse701"};
  const int n = n_verified();
  assert_true(n > 8);
  const int launches[] = {1, n, n + 1, n + 2, n + 4}; /* n + 1: at the size that is timed */
  char script[64];
  for (int c = 0; c < SCT_COUNT(kinds) * SCT_COUNT(launches); c++) {
    snprintf(script, sizeof script, "%s@2=%d", kinds[c % SCT_COUNT(kinds)],
             launches[c / SCT_COUNT(kinds)]);
    evaluate_wrong(script);
  }
  for (int k = 0; k < SCT_COUNT(kinds) && kinds[k][0] != 'c'; k++) {
    snprintf(script, sizeof script, "%s@2=%d crash@2=%d", kinds[k], n, n + 1);
    evaluate_wrong(script);
  }
}

/* A hang is found at the limit of what hangs, whatever else was asked for. */
static void test_a_hang_whenever_it_comes(void **state) {
  (void)state;
  const int n = n_verified();
  static const char *const says[] = {
      "no answer to TRIAL within 2 s (n_i=", "no answer to TRIAL within 2 s (i=2011)",
      "no answer to TIME within"};
  for (int k = 0; k < SCT_COUNT(says); k++) {
    world w;
    sct_verdict v;
    sct_timing t;
    char script[64];
    snprintf(script, sizeof script, "hang@2=%d", n + k);
    open_race(&w, script);
    evaluate_well(&w, 1);
    const int64_t start = sct_now_ns();
    evaluate(&w, 2, &v, &t);
    assert_true(sct_now_ns() - start >= 1900000000);
    assert_int_equal(k == 0 ? v.outcome : t.verdict.outcome, SCT_OUT_HANG);
    assert_non_null(strstr(k == 0 ? v.detail : t.verdict.detail, says[k]));
    assert_int_equal(w.m->generation, 1);
    evaluate_well(&w, 3);
    assert_int_equal(w.m->generation, 2);
    close_world(&w);
  }
}

/* Arrays smaller than the cache are there several times, and the launches go round. */
static void test_small_arrays_have_copies(void **state) {
  (void)state;
  world w;
  const int64_t small[] = {301};
  open_spec(&w, "ok", "i", mixed, 1, 2, "b = a;", small);
  sct_timing t = time_kernel(&w, 1);
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  assert_int_equal(t.times.copies, (3 * 65536 + 2 * 301 * 16 - 1) / (2 * 301 * 16));
  assert_true(is_about(t.times.median_ns, 2.0 * 301 * 16 / 4000));
  sct_free(t.times.samples_ns);
  close_world(&w);
}

/* While the clock is low, units are taken again: no sample is of that time. */
static void test_a_low_clock_is_waited_for(void **state) {
  (void)state;
  world w;
  open_world(&w, "cold=12");
  sct_timing t = time_kernel(&w, 1);
  assert_int_equal(t.times.n_slow, 0);
  assert_true(is_about(t.times.median_ns, base_ns));
  sct_free(t.times.samples_ns);
  close_world(&w);
  open_world(&w, "cold=1000000000"); /* for good: the samples stand, and say so */
  t = time_kernel(&w, 1);
  assert_int_equal(t.verdict.outcome, SCT_OUT_OK);
  assert_int_equal(t.times.n_slow, t.times.n_samples);
  assert_true(t.times.sm_clock_mhz == 990);
  sct_free(t.times.samples_ns);
  close_world(&w);
}

/* ---- races ---- */

#define ROUNDS 21

static void race(world *w, int n, sct_timing *out, bool (*stop)(void *ctx, int round)) {
  sct_binary binaries[N_KERNELS];
  for (int k = 0; k < n; k++) {
    binaries[k] = w->kernel[k].binary;
  }
  assert_ok(sct_measure_race(w->m, binaries, n, &w->spec.sizes[0], ROUNDS, out, stop, NULL,
                             &fixture_err));
}

static void free_race(sct_timing *t, int n) {
  for (int k = 0; k < n; k++) {
    sct_free(t[k].times.samples_ns);
  }
}

static sct_comparison compare(const sct_timing *a, const sct_timing *b) {
  return sct_stats_compare(a->times.samples_ns, a->times.n_samples, b->times.samples_ns,
                           b->times.n_samples, true);
}

static void test_a_race_compares_in_pairs(void **state) {
  (void)state;
  world w;
  sct_timing t[N_KERNELS];
  open_race(&w, "slow@0=50 slow@1=50 slow@2=51.5 slow@3=48");
  race(&w, N_KERNELS, t, NULL);
  for (int k = 0; k < N_KERNELS; k++) {
    assert_int_equal(t[k].verdict.outcome, SCT_OUT_OK);
    assert_int_equal(t[k].times.n_samples, ROUNDS);
    assert_true(t[k].times.resident_ns > 0);
  }
  assert_int_equal(compare(&t[0], &t[1]).kind, SCT_SAME);
  assert_int_equal(compare(&t[0], &t[2]).kind, SCT_SLOW);
  assert_int_equal(compare(&t[0], &t[3]).kind, SCT_FAST);
  free_race(t, N_KERNELS);
  close_world(&w);
}

/* Whatever one of them does, and when: it has its outcome, the others their samples. */
static void test_a_race_survives_its_members(void **state) {
  (void)state;
  static const struct {
    const char *script;
    sct_outcome_kind outcome;
  } cases[] = {{"crash@2", SCT_OUT_CRASH},
               {"crash@2=40", SCT_OUT_CRASH},
               {"wrong@2=30", SCT_OUT_WRONG_RESULT},
               {"sticky700@2=25", SCT_OUT_ILLEGAL_ACCESS},
               {"noload@2", SCT_OUT_LAUNCH_ERROR},
               {"refuse701@2=9", SCT_OUT_TOO_LARGE},
               {"fast@2", SCT_OUT_IMPLAUSIBLE},
               {"late=30 crash@2=1", SCT_OUT_CRASH}, /* in the eighth round */
               {"late=30 exit@2=1", SCT_OUT_CRASH},
               {"late=30 hang@2=1", SCT_OUT_HANG},
               {"late=30 sticky700@2=1", SCT_OUT_ILLEGAL_ACCESS},
               {"late=30 refuse1@2=1", SCT_OUT_LAUNCH_ERROR}};
  for (int c = 0; c < SCT_COUNT(cases); c++) {
    world w;
    sct_timing t[N_KERNELS];
    open_race(&w, cases[c].script);
    race(&w, N_KERNELS, t, NULL);
    for (int k = 0; k < N_KERNELS; k++) {
      if (t[k].verdict.outcome != (k == 2 ? cases[c].outcome : SCT_OUT_OK)) {
        fail_msg("%s: kernel %d: %s", cases[c].script, k, sct_outcome_name(t[k].verdict.outcome));
      }
      assert_true(k == 2 || t[k].times.n_samples == ROUNDS);
    }
    free_race(t, N_KERNELS);
    close_world(&w);
  }
}

static bool stop_after_six(void *ctx, int round) {
  (void)ctx;
  return round == 6;
}

static void test_a_race_can_be_stopped(void **state) {
  (void)state;
  world w;
  sct_timing t[2];
  open_race(&w, "ok");
  race(&w, 2, t, stop_after_six);
  assert_int_equal(t[0].times.n_samples, 6);
  assert_int_equal(t[1].times.n_samples, 6);
  assert_int_equal(t[1].verdict.outcome, SCT_OUT_OK);
  free_race(t, 2);
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
      {"wrong@2=15", SCT_OUT_WRONG_RESULT, "instead of"}, /* among the samples */
      {"unwritten@2", SCT_OUT_NOT_WRITTEN, "16 bytes differ"},
      {"guard@2", SCT_OUT_OUT_OF_BOUNDS, "behind its array"},
      {"guard@2=15", SCT_OUT_OUT_OF_BOUNDS, "behind its array"},
      {"before@2", SCT_OUT_OUT_OF_BOUNDS, "before its array"},
      {"input@2", SCT_OUT_INPUT_CHANGED, "'a'"},
      {"input@2=15", SCT_OUT_INPUT_CHANGED, "'a'"},
      {"gap@2", SCT_OUT_OK, ""},
      {"crash@2=15", SCT_OUT_CRASH, "signal 9"},
      {"sticky700@2=15", SCT_OUT_ILLEGAL_ACCESS, "700"},
      {"refuse701@2", SCT_OUT_TOO_LARGE, "701"},
      {"fast@2", SCT_OUT_IMPLAUSIBLE, "at least"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    world w;
    open_race(&w, cases[k].script);
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
  open_world(&w, "unwritten@1=15");
  expect(&w, 1, SCT_OUT_NOT_WRITTEN, "not written");
  close_world(&w);
}

static void test_a_hang_during_timing(void **state) {
  (void)state;
  world w;
  open_world(&w, "hang@1=15");
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

static void test_tolerance_is_evaluated_by_value(void **state) {
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
    sct_free(t.times.samples_ns);
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
  assert_null(t.times.samples_ns);
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
  assert_int_equal(w.m->generation, 3); /* the first time in two workers, then one for the rest */
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
  const double expected = 4200e9; /* the fake's memcpy */
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

/* Any kernel will do for a stand-in. */
static void test_micro_kernels_are_timed(void **state) {
  (void)state;
  world w;
  sct_calibration c;
  sct_binary kernels[SCT_N_MICROS];
  open_world(&w, "memory=8e9");
  for (int k = 0; k < SCT_N_MICROS; k++) {
    kernels[k] = w.kernel[1].binary;
  }
  assert_ok(sct_measure_calibrate(w.m, kernels, &c, &fixture_err));
  for (int k = 0; k < SCT_N_MICROS; k++) {
    assert_true(c.ns[k] > 0 && c.mhz[k] == 1980);
  }
  assert_true(c.copy_bytes_s > 4e12);
  expect(&w, 1, SCT_OUT_OK, ""); /* the session goes on */
  close_world(&w);
  open_world(&w, "memory=8e9 crash@2");
  kernels[SCT_MICRO_STORE] = w.kernel[2].binary;
  assert_int_equal(sct_measure_calibrate(w.m, kernels, &c, &fixture_err), SCT_EUNHEALTHY);
  assert_non_null(strstr(fixture_err.text, "the micro-kernel store_words does not run: "));
  close_world(&w);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  sct_log_set_level(SCT_LOG_ERROR);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_are_those_of_the_device),
      cmocka_unit_test(test_longer_kernels_need_fewer_samples),
      cmocka_unit_test(test_slow_kernels_have_few_samples),
      cmocka_unit_test(test_slow_kernels_have_few_launches),
      cmocka_unit_test(test_sizes_stay_where_there_is_room),
      cmocka_unit_test(test_sizes_go_where_there_is_none),
      cmocka_unit_test(test_cases_go_where_there_is_no_room),
      cmocka_unit_test(test_a_quick_pass_is_short),
      cmocka_unit_test(test_trouble_is_found_whenever_it_comes),
      cmocka_unit_test(test_a_hang_whenever_it_comes),
      cmocka_unit_test(test_small_arrays_have_copies),
      cmocka_unit_test(test_a_low_clock_is_waited_for),
      cmocka_unit_test(test_a_race_compares_in_pairs),
      cmocka_unit_test(test_a_race_survives_its_members),
      cmocka_unit_test(test_a_race_can_be_stopped),
      cmocka_unit_test(test_faults_at_this_size_are_found),
      cmocka_unit_test(test_stale_results_do_not_pass),
      cmocka_unit_test(test_a_hang_during_timing),
      cmocka_unit_test(test_gaps_nobody_owns_are_compared),
      cmocka_unit_test(test_gathers_and_large_index_arrays),
      cmocka_unit_test(test_tolerance_is_evaluated_by_value),
      cmocka_unit_test(test_sizes_change_and_memory_comes_back),
      cmocka_unit_test(test_a_size_that_does_not_fit_says_so),
      cmocka_unit_test(test_requirements_hold_or_it_is_not_launched),
      cmocka_unit_test(test_a_failing_naive_variant),
      cmocka_unit_test(test_the_ceiling_is_the_best_copy),
      cmocka_unit_test(test_micro_kernels_are_timed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
