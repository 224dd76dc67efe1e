/* Sorting, and order statistics of a few dozen values. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void sct_sort_doubles(double *values, size_t n) {
  qsort(values, n, sizeof *values, by_value);
}

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sct_sort_texts(const char **texts, size_t n) {
  if (n > 0) {
    qsort(texts, n, sizeof *texts, by_text);
  }
}

double sct_quantile(const double *sorted, int n, double q) {
  if (n <= 0) {
    return 0;
  }
  const double at = (q < 0 ? 0 : q > 1 ? 1 : q) * (n - 1);
  const int below = (int)at;
  const int above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

sct_quartiles sct_quartiles_of(const double *values, int n) {
  if (n <= 0) {
    return (sct_quartiles){0};
  }
  SCT_OWNED double *sorted = sct_alloc(sizeof *sorted * (size_t)n);
  memcpy(sorted, values, sizeof *sorted * (size_t)n);
  sct_sort_doubles(sorted, (size_t)n);
  const sct_quartiles found = {sorted[0], sct_quantile(sorted, n, 0.25),
                               sct_quantile(sorted, n, 0.5), sct_quantile(sorted, n, 0.75)};
  return found;
}
