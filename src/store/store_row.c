/* store_row - what follows from a row alone. */
#include "store/store.h"

#include <math.h>
#include <string.h>

/* ---- times */

void sct_times_summarise(sct_times *t) {
  const sct_quartiles of = sct_quartiles_of(t->samples_ns, t->n_samples);
  t->min_ns = of.min;
  t->q1_ns = of.q1;
  t->median_ns = of.median;
  t->q3_ns = of.q3;
}

void sct_times_free(sct_times *t) {
  sct_free(t->samples_ns);
  *t = (sct_times){0};
}

void sct_times_set(sct_times *t, const sct_times *from) {
  const size_t bytes = sizeof(double) * (size_t)from->n_samples;
  double *samples = bytes > 0 ? memcpy(sct_alloc(bytes), from->samples_ns, bytes) : NULL;
  sct_times_free(t);
  *t = *from;
  t->samples_ns = samples;
}

/* ---- outcomes */

bool sct_row_is_ok(const sct_row_outcome *row) {
  return strcmp(row->outcome, "ok") == 0;
}

double sct_row_ns(const sct_row_outcome *row) {
  return row->times.median_ns > 0 ? row->times.median_ns
         : row->predicted_ns > 0  ? row->predicted_ns
                                  : 0;
}

double sct_row_sectors(const sct_row_outcome *row) {
  return row->sectors_ld < 0 ? -1 : row->sectors_ld + row->sectors_st;
}

double sct_row_requests(const sct_row_outcome *row) {
  return row->requests_ld < 0 ? -1 : row->requests_ld + row->requests_st;
}

bool sct_row_same_race(const sct_row_outcome *a, const sct_row_outcome *b) {
  return a->race[0] != '\0' && strcmp(a->race, b->race) == 0;
}

static double known(double figure) {
  return isnan(figure) ? 0.0 : figure;
}

bool sct_row_coalesced_same(const sct_row_coalesced *a, const sct_row_coalesced *b) {
  return a->rule == b->rule && a->coalesced == b->coalesced && a->unknown == b->unknown &&
         known(a->share) == known(b->share) && known(a->utilisation) == known(b->utilisation) &&
         known(a->passes) == known(b->passes) && known(a->sectors_error) == known(b->sectors_error);
}
