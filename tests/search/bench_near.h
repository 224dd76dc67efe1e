/* bench_near - how many candidates a method tries until one is as good as the best. */
#ifndef BENCH_NEAR_H
#define BENCH_NEAR_H

#include "sweeps.h"

#include <stdlib.h>

#define N_SEEDS 20
#define NEAR    1.02 /* as good as the best */

static inline int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median; sorts. */
static inline double middle(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, by_value);
  return 0.5 * (v[(n - 1) / 2] + v[n / 2]);
}

/* The naive variant is always tried first. */
static inline double least_possible(const sct_sweep *sweep) {
  for (int k = 0; k < sweep->problem.n_points; k++) {
    if (sweep->problem.points[k].first && sweep->n_samples[k] > 0 &&
        sweep->median_ns[k] <= NEAR * sweep->best_ns) {
      return 1.0;
    }
  }
  return 2.0;
}

#endif
