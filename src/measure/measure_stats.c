/* Statistics of a few dozen samples: order statistics only, as timings are not normal. */
#include "measure/measure.h"
#include "measure_session.h"

#include <math.h>
#include <string.h>

/* Ranks of the distribution-free 95 % interval of the median: n/2 -+ 1.96 sqrt(n)/2 (normal
 * approximation of the binomial). */
double sct_stats_median_error(const double *sorted, int n) {
  if (n < 2) {
    return INFINITY;
  }
  const double half = 0.98 * sqrt(n);
  const int low = (int)floor(n / 2.0 - half) - 1, high = (int)ceil(n / 2.0 + half);
  const double lo = sorted[low < 0 ? 0 : low], hi = sorted[high >= n ? n - 1 : high];
  const double median = sct_quantile(sorted, n, 0.5);
  return median > 0 ? (hi - lo) / 2 / median : INFINITY;
}

/* ---- comparison ---- */

#define SAME_WITHIN 0.01  /* of 1: the interval of a ratio that is called the same */
#define CLEAR_RATIO 0.005 /* beyond 1: of a ratio that is called faster or slower */
#define LEAST_PAIRS 5

static const char *const verdict_names[] = {"FAST", "SLOW", "SAME", "AMBIGUOUS"};

const char *sct_verdict_name(sct_verdict_kind kind) {
  return verdict_names[kind];
}

/* Median and the ranks of its 95 % interval, of n values that are sorted here. */
static void median_interval(double *values, int n, double out[3]) {
  sct_sort_doubles(values, (size_t)n);
  const double half = 0.98 * sqrt(n);
  const int low = (int)floor(n / 2.0 - half) - 1, high = (int)ceil(n / 2.0 + half);
  out[0] = values[low < 0 ? 0 : low];
  out[1] = sct_quantile(values, n, 0.5);
  out[2] = values[high >= n ? n - 1 : high];
}

static void paired_ratio(const double *a, const double *b, double *scratch, int n, double out[3]) {
  for (int k = 0; k < n; k++) {
    scratch[k] = b[k] / a[k];
  }
  median_interval(scratch, n, out);
}

/* Both intervals at their ends: wider than need be, never too narrow. */
static void ratio_of_medians(const double *a, int n_a, const double *b, int n_b, double *scratch,
                             double out[3]) {
  double of_a[3], of_b[3];
  memcpy(scratch, a, sizeof *a * (size_t)n_a);
  median_interval(scratch, n_a, of_a);
  memcpy(scratch, b, sizeof *b * (size_t)n_b);
  median_interval(scratch, n_b, of_b);
  out[0] = of_b[0] / of_a[2];
  out[1] = of_b[1] / of_a[1];
  out[2] = of_b[2] / of_a[0];
}

static sct_verdict_kind evaluate(const double r[3]) {
  if (r[0] >= 1 - SAME_WITHIN && r[2] <= 1 + SAME_WITHIN) {
    return SCT_SAME;
  }
  if (r[2] < 1 && r[1] < 1 - CLEAR_RATIO) {
    return SCT_FAST;
  }
  return r[0] > 1 && r[1] > 1 + CLEAR_RATIO ? SCT_SLOW : SCT_AMBIGUOUS;
}

sct_comparison sct_stats_compare(const double *a, int n_a, const double *b, int n_b, bool paired) {
  const sct_comparison nothing = {SCT_AMBIGUOUS, 1, 0, INFINITY};
  const int n = n_a < n_b ? n_a : n_b, most = n_a < n_b ? n_b : n_a;
  if (n > 0 && n == most && memcmp(a, b, sizeof *a * (size_t)n) == 0) {
    return (sct_comparison){SCT_SAME, 1, 1, 1}; /* one measurement, seen twice */
  }
  SCT_OWNED double *scratch = n < LEAST_PAIRS ? NULL : sct_alloc(sizeof *scratch * (size_t)most);
  double r[3];
  if (!scratch) {
    return nothing;
  }
  if (paired) {
    paired_ratio(a, b, scratch, n, r);
  } else {
    ratio_of_medians(a, n_a, b, n_b, scratch, r);
  }
  return (sct_comparison){evaluate(r), r[1], r[0], r[2]};
}
