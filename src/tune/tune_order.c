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

typedef struct turn {
  double at; /* -1: naive; 0: in any case; else the share of its strategy that comes before it */
  size_t candidate;
} turn;

static int by_turn(const void *pa, const void *pb) {
  const turn *a = pa, *b = pb;
  if (a->at != b->at) {
    return a->at < b->at ? -1 : 1;
  }
  return a->candidate < b->candidate ? -1 : a->candidate > b->candidate;
}

/* n_of[n_strategies]: scratch, zeroed. */
static void take_turns(turn *turns, const sct_tune_candidates *cands, size_t *n_of) {
  const sct_space *space = &cands->space;
  for (size_t c = 0; c < space->n_candidates; c++) {
    const double rank = (double)n_of[space->candidates[c].strategy]++;
    turns[c] = (turn){.at = fmod(rank * GOLDEN, 1.0), .candidate = c};
  }
  for (size_t c = 0; c < space->n_candidates; c++) {
    const int strategy = space->candidates[c].strategy;
    if (strategy == 0 && sct_tune_is_naive(cands, c)) {
      turns[c].at = -1.0;
    } else if (turns[c].at * (double)n_of[strategy] < FEW) {
      turns[c].at = 0.0;
    }
  }
}

void sct_tune_order_init(tune_order *out, const sct_tune_candidates *cands, int64_t until_ns) {
  const size_t n = cands->space.n_candidates;
  SCT_OWNED turn *turns = sct_alloc((n + 1) * sizeof *turns);
  SCT_OWNED size_t *n_of = sct_alloc(((size_t)cands->space.n_strategies + 1) * sizeof *n_of);
  *out = (tune_order){
      .until_ns = until_ns, .n = n, .candidate = sct_alloc((n + 1) * sizeof *out->candidate)};
  take_turns(turns, cands, n_of);
  qsort(turns, n, sizeof *turns, by_turn);
  for (size_t k = 0; k < n; k++) {
    out->candidate[k] = turns[k].candidate;
    out->n_least += turns[k].at <= 0.0;
  }
}

void sct_tune_order_free(tune_order *order) {
  sct_free(order->candidate);
  *order = (tune_order){0};
}
