/* Statistics of a few dozen samples: order statistics only, as timings are not normal. */
#include "measure/measure.h"
#include "measure_session.h"

#include <math.h>
#include <stdlib.h>

double sct_stats_quantile(const double *sorted, int n, double q) {
  if (n <= 0) {
    return 0;
  }
  const double at = (q < 0 ? 0 : q > 1 ? 1 : q) * (n - 1);
  const int below = (int)at;
  const int above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void sct_stats_summary(sct_timing *t) {
  if (t->n_samples <= 0) {
    t->median_ns = t->q1_ns = t->q3_ns = t->min_ns = 0;
    return;
  }
  qsort(t->samples_ns, (size_t)t->n_samples, sizeof t->samples_ns[0], by_value);
  t->min_ns = t->samples_ns[0];
  t->q1_ns = sct_stats_quantile(t->samples_ns, t->n_samples, 0.25);
  t->median_ns = sct_stats_quantile(t->samples_ns, t->n_samples, 0.5);
  t->q3_ns = sct_stats_quantile(t->samples_ns, t->n_samples, 0.75);
}

/* Ranks of the distribution-free 95 % interval of the median: n/2 -+ 1.96 sqrt(n)/2 (normal
 * approximation of the binomial). */
double sct_stats_median_error(const double *sorted, int n) {
  if (n < 2) {
    return INFINITY;
  }
  const double half = 0.98 * sqrt(n);
  const int low = (int)floor(n / 2.0 - half) - 1, high = (int)ceil(n / 2.0 + half);
  const double lo = sorted[low < 0 ? 0 : low], hi = sorted[high >= n ? n - 1 : high];
  const double median = sct_stats_quantile(sorted, n, 0.5);
  return median > 0 ? (hi - lo) / 2 / median : INFINITY;
}

#define CLEAR_GAP 0.002 /* of the slower median: below this, disjoint intervals are still a tie */

/* a's [min, q3] lies below b's by a clear gap, in time and, where clocks are known, in cycles. */
static bool faster(const sct_timing *a, const sct_timing *b) {
  const bool in_time = b->min_ns - a->q3_ns > CLEAR_GAP * b->median_ns;
  if (!in_time || a->sm_clock_mhz <= 0 || b->sm_clock_mhz <= 0) {
    return in_time;
  }
  return a->q3_ns * a->sm_clock_mhz < b->min_ns * b->sm_clock_mhz;
}

int sct_stats_compare(const sct_timing *a, const sct_timing *b) {
  return faster(a, b) ? -1 : faster(b, a) ? 1 : 0;
}
