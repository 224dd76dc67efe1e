/* Which candidates are rendered while there is time. Where a budget may not suffice for all, they
 * are rendered in an order whose every beginning is spread over the space: the naive ones, a few of
 * each strategy, and then the same share of every strategy, with steps of the golden ratio, which
 * no period of an axis meets. The order does not depend on time, so more time only adds candidates.
 */
#include "tune/tune_internal.h"

#include <math.h>
#include <stdlib.h>

#define GOLDEN 0.6180339887498949
#define FEW    4 /* of a strategy, that are rendered in any case */

typedef struct ranked {
  double at; /* -1: naive; 0: in any case; else the share of its strategy that comes before it */
  size_t candidate;
} ranked;

static int by_rank(const void *pa, const void *pb) {
  const ranked *a = pa, *b = pb;
  if (a->at != b->at) {
    return a->at < b->at ? -1 : 1;
  }
  return a->candidate < b->candidate ? -1 : a->candidate > b->candidate;
}

/* n_of[n_strategies]: scratch, zeroed. */
static void rank_all(ranked *all, const sct_tune_candidates *cands, size_t *n_of) {
  const sct_space *space = &cands->space;
  for (size_t c = 0; c < space->n_candidates; c++) {
    const double rank = (double)n_of[space->candidates[c].strategy]++;
    all[c] = (ranked){.at = fmod(rank * GOLDEN, 1.0), .candidate = c};
  }
  for (size_t c = 0; c < space->n_candidates; c++) {
    const int strategy = space->candidates[c].strategy;
    if (sct_tune_is_naive(cands, c)) {
      all[c].at = -1.0;
    } else if (all[c].at * (double)n_of[strategy] < FEW) {
      all[c].at = 0.0;
    }
  }
}

void sct_tune_order_init(tune_order *out, const sct_tune_candidates *cands, int64_t until_ns) {
  const size_t n = cands->space.n_candidates;
  SCT_OWNED ranked *all = sct_alloc((n + 1) * sizeof *all);
  SCT_OWNED size_t *n_of = sct_alloc(((size_t)cands->space.n_strategies + 1) * sizeof *n_of);
  *out = (tune_order){
      .until_ns = until_ns, .n = n, .candidate = sct_alloc((n + 1) * sizeof *out->candidate)};
  rank_all(all, cands, n_of);
  qsort(all, n, sizeof *all, by_rank);
  for (size_t k = 0; k < n; k++) {
    out->candidate[k] = all[k].candidate;
    out->n_least += all[k].at <= 0.0;
  }
}

void sct_tune_order_free(tune_order *order) {
  sct_free(order->candidate);
  *order = (tune_order){0};
}
