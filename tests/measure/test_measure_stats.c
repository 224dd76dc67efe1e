/* Quantiles, intervals, comparison. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

#include <math.h>

static void test_quantiles_interpolate(void **state) {
  (void)state;
  const double x[] = {1, 2, 4, 8};
  assert_true(sct_quantile(x, 4, 0) == 1);
  assert_true(sct_quantile(x, 4, 1) == 8);
  assert_true(sct_quantile(x, 4, 0.5) == 3);
  assert_true(sct_quantile(x, 4, 0.25) == 1.75);
  assert_true(sct_quantile(x, 1, 0.3) == 1);
  assert_true(sct_quantile(x, 0, 0.5) == 0);
  assert_true(sct_quantile(x, 4, 2) == 8 && sct_quantile(x, 4, -1) == 1);
}

static void test_summary_keeps_the_order(void **state) {
  (void)state;
  double x[] = {9, 1, 5, 3, 7};
  sct_timing t = {.times.n_samples = 5, .times.samples_ns = x};
  sct_times_summarise(&t.times);
  assert_true(t.times.min_ns == 1 && t.times.q1_ns == 3 && t.times.median_ns == 5 &&
              t.times.q3_ns == 7);
  assert_true(x[0] == 9 && x[4] == 7);
  t.times.n_samples = 0;
  sct_times_summarise(&t.times);
  assert_true(t.times.median_ns == 0);
}

/* The stated interval must hold the true median in about 95 % of draws, whatever the distribution:
 * here a skewed one, as timings are. */
static void test_median_interval_covers(void **state) {
  (void)state;
  const double true_median = 100 + 0.6931471805599453 * 10; /* of 100 + 10 * exponential */
  sct_rng rng = sct_rng_new(2024);
  print_message("seed 2024\n");
  for (int n = 11; n <= 101; n += 45) {
    int inside = 0;
    const int draws = 4000;
    for (int draw = 0; draw < draws; draw++) {
      double x[101];
      sct_timing t = {.times.n_samples = n, .times.samples_ns = x};
      for (int k = 0; k < n; k++) {
        x[k] = 100 - 10 * log(1 - sct_rng_unit(&rng));
      }
      sct_times_summarise(&t.times);
      sct_sort_doubles(x, (size_t)n);
      /* the interval is not symmetric, its half width is what is reported: allow twice */
      inside += fabs(t.times.median_ns - true_median) <=
                2 * sct_stats_median_error(x, n) * t.times.median_ns;
    }
    assert_true(inside > 0.93 * draws);
  }
  const double one[] = {1};
  assert_true(isinf(sct_stats_median_error(one, 1)));
  const double same[] = {3, 3, 3, 3, 3};
  assert_true(sct_stats_median_error(same, 5) == 0);
}

#define N_RACE 31

/* Samples around `centre` with an even jitter, and a drift that both of a pair share. */
static void draw(sct_rng *rng, double *a, double *b, double ratio, double jitter, double drift) {
  for (int k = 0; k < N_RACE; k++) {
    const double now = 1000 * (1 + drift * k);
    a[k] = now * (1 + jitter * (2 * sct_rng_unit(rng) - 1));
    b[k] = now * ratio * (1 + jitter * (2 * sct_rng_unit(rng) - 1));
  }
}

/* Of 1,000 comparisons, how many give `kind`. */
static int count_kind(sct_verdict_kind kind, double ratio, double jitter, double drift,
                      bool paired) {
  sct_rng rng = sct_rng_new(7);
  int n = 0;
  for (int k = 0; k < 1000; k++) {
    double a[N_RACE], b[N_RACE];
    draw(&rng, a, b, ratio, jitter, drift);
    n += sct_stats_compare(a, N_RACE, b, N_RACE, paired).kind == kind;
  }
  return n;
}

static void test_equal_is_the_same_and_slower_is_slow(void **state) {
  (void)state;
  assert_true(count_kind(SCT_SAME, 1.0, 0.01, 0, true) > 950);
  assert_true(count_kind(SCT_SLOW, 1.03, 0.01, 0, true) > 950);
  assert_true(count_kind(SCT_FAST, 0.97, 0.01, 0, true) > 950);
  assert_true(count_kind(SCT_SAME, 1.004, 0.002, 0, true) > 950); /* a real difference, too small */
  assert_true(count_kind(SCT_AMBIGUOUS, 1.01, 0.001, 0, true) < 100);
  assert_true(count_kind(SCT_FAST, 1.0, 0.05, 0, true) + count_kind(SCT_SLOW, 1.0, 0.05, 0, true) <
              60); /* noise alone */
}

/* However wide they scatter and however few they are: a measurement compared with itself. */
static void test_identical_samples_are_the_same(void **state) {
  (void)state;
  const double wide[] = {10, 50, 12, 90, 14, 35, 16, 70}, same[] = {10, 50, 12, 90, 14, 35, 16, 70};
  for (int n = 0; n <= 8; n++) {
    for (int paired = 0; paired < 2; paired++) {
      const sct_comparison c = sct_stats_compare(wide, n, same, n, paired);
      assert_int_equal(c.kind, n > 0 ? SCT_SAME : SCT_AMBIGUOUS);
      assert_true(c.ratio == 1 && (n == 0 || (c.low == 1 && c.high == 1)));
    }
  }
}

/* A clock that falls by a third during the race does not matter to pairs; to medians it does. */
static void test_pairs_cancel_a_drift(void **state) {
  (void)state;
  assert_true(count_kind(SCT_SLOW, 1.03, 0.005, 0.01, true) > 990);
  assert_true(count_kind(SCT_SLOW, 1.03, 0.005, 0.01, false) < 10);
  assert_true(count_kind(SCT_SLOW, 1.03, 0.005, 0, false) > 990);
}

static void test_comparison_of_few_or_odd_samples(void **state) {
  (void)state;
  const double a[] = {10, 11, 12, 13, 14, 15, 16}, b[] = {20, 22, 24, 26, 28, 30, 32};
  assert_int_equal(sct_stats_compare(a, 4, b, 7, true).kind, SCT_AMBIGUOUS);
  assert_true(isinf(sct_stats_compare(a, 4, b, 7, true).high));
  const sct_comparison c = sct_stats_compare(a, 7, b, 7, true);
  assert_int_equal(c.kind, SCT_SLOW);
  assert_true(c.ratio == 2 && c.low == 2 && c.high == 2);
  assert_int_equal(sct_stats_compare(b, 7, a, 7, false).kind, SCT_FAST);
  assert_true(a[0] == 10 && a[6] == 16); /* left as they were */
  assert_string_equal(sct_verdict_name(SCT_AMBIGUOUS), "AMBIGUOUS");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantiles_interpolate),
      cmocka_unit_test(test_summary_keeps_the_order),
      cmocka_unit_test(test_median_interval_covers),
      cmocka_unit_test(test_equal_is_the_same_and_slower_is_slow),
      cmocka_unit_test(test_pairs_cancel_a_drift),
      cmocka_unit_test(test_identical_samples_are_the_same),
      cmocka_unit_test(test_comparison_of_few_or_odd_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
