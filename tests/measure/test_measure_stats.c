/* Quantiles, intervals, comparison. */
#include "measure_fixture.h"

#include "measure/measure_session.h"

#include <math.h>

static void test_quantiles_interpolate(void **state) {
  (void)state;
  const double x[] = {1, 2, 4, 8};
  assert_true(sct_stats_quantile(x, 4, 0) == 1);
  assert_true(sct_stats_quantile(x, 4, 1) == 8);
  assert_true(sct_stats_quantile(x, 4, 0.5) == 3);
  assert_true(sct_stats_quantile(x, 4, 0.25) == 1.75);
  assert_true(sct_stats_quantile(x, 1, 0.3) == 1);
  assert_true(sct_stats_quantile(x, 0, 0.5) == 0);
  assert_true(sct_stats_quantile(x, 4, 2) == 8 && sct_stats_quantile(x, 4, -1) == 1);
}

static void test_summary_sorts(void **state) {
  (void)state;
  double x[] = {9, 1, 5, 3, 7};
  sct_timing t = {.n_samples = 5, .samples_ns = x};
  sct_stats_summary(&t);
  assert_true(t.min_ns == 1 && t.q1_ns == 3 && t.median_ns == 5 && t.q3_ns == 7);
  assert_true(x[0] == 1 && x[4] == 9);
  t.n_samples = 0;
  sct_stats_summary(&t);
  assert_true(t.median_ns == 0);
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
      sct_timing t = {.n_samples = n, .samples_ns = x};
      for (int k = 0; k < n; k++) {
        x[k] = 100 - 10 * log(1 - sct_rng_unit(&rng));
      }
      sct_stats_summary(&t);
      /* the interval is not symmetric, its half width is what is reported: allow twice */
      inside += fabs(t.median_ns - true_median) <= 2 * sct_stats_median_error(x, n) * t.median_ns;
    }
    assert_true(inside > 0.93 * draws);
  }
  const double one[] = {1};
  assert_true(isinf(sct_stats_median_error(one, 1)));
  const double same[] = {3, 3, 3, 3, 3};
  assert_true(sct_stats_median_error(same, 5) == 0);
}

static sct_timing timing(double min, double median, double q3, double mhz) {
  return (sct_timing){.min_ns = min, .median_ns = median, .q3_ns = q3, .sm_clock_mhz = mhz};
}

static void test_compare_needs_a_clear_gap(void **state) {
  (void)state;
  const sct_timing fast = timing(100, 101, 102, 0), slow = timing(110, 111, 112, 0);
  const sct_timing overlap = timing(101.5, 103, 104, 0), close = timing(102.1, 103, 104, 0);
  assert_int_equal(sct_stats_compare(&fast, &slow), -1);
  assert_int_equal(sct_stats_compare(&slow, &fast), 1);
  assert_int_equal(sct_stats_compare(&fast, &overlap), 0);
  assert_int_equal(sct_stats_compare(&fast, &close), 0);
  assert_int_equal(sct_stats_compare(&fast, &fast), 0);
  /* 10 % less time at a clock 15 % higher is no gain in cycles */
  const sct_timing boosted = timing(100, 101, 102, 2000), plain = timing(110, 111, 112, 1700);
  assert_int_equal(sct_stats_compare(&boosted, &plain), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_quantiles_interpolate),
      cmocka_unit_test(test_summary_sorts),
      cmocka_unit_test(test_median_interval_covers),
      cmocka_unit_test(test_compare_needs_a_clear_gap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
