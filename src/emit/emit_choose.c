/* The rule of selection once more, for a size whose winner has other layouts than the header: the
 * fastest coalesced candidate among those with the right ones. What is within the noise of it is a
 * tie, and ties go to fewer sectors, shared wavefronts, requests, registers, then to the label, so
 * that the answer does not depend on chance. */
#include "emit/emit_internal.h"

#include <string.h>

/* Who takes part: `coalesced` and `timed` say that the candidate must be that. */
typedef struct contest {
  bool coalesced, timed;
} contest;

static bool competes(const contest *c, const sct_row_outcome *o) {
  return (o->how.coalesced || !c->coalesced) && (o->median_ns > 0 || !c->timed);
}

static bool any_competes(const contest *c, const sct_row_result *rows, int n, const bool *legal) {
  for (int k = 0; k < n; k++) {
    if (legal[k] && competes(c, &rows[k].outcome)) {
      return true;
    }
  }
  return false;
}

static bool wins_tie(const sct_row_result *a, const sct_row_result *b) {
  const sct_row_outcome *x = &a->outcome;
  const sct_row_outcome *y = &b->outcome;
  const double pairs[][2] = {{x->sectors_ld + x->sectors_st, y->sectors_ld + y->sectors_st},
                             {x->wavefronts, y->wavefronts},
                             {x->requests_ld + x->requests_st, y->requests_ld + y->requests_st},
                             {a->candidate.registers, b->candidate.registers}};
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    if (pairs[k][0] != pairs[k][1]) {
      return pairs[k][0] < pairs[k][1];
    }
  }
  return strcmp(a->candidate.label, b->candidate.label) < 0;
}

int emit_choose(const sct_row_result *rows, int n, const bool *legal, const sct_row_run *run) {
  contest c = {.coalesced = !emit_selects_any(run->conditions), .timed = true};
  double fastest = -1;
  int best = -1;
  if (!any_competes(&c, rows, n, legal)) { /* a virtual device times nothing */
    c.timed = false;
  }
  if (!any_competes(&c, rows, n, legal)) { /* nothing is coalesced: all compete */
    c = (contest){.coalesced = false, .timed = true};
    c.timed = any_competes(&c, rows, n, legal);
  }
  for (int k = 0; k < n; k++) {
    const double t = rows[k].outcome.median_ns;
    if (legal[k] && competes(&c, &rows[k].outcome) && (fastest < 0 || t < fastest)) {
      fastest = t;
    }
  }
  for (int k = 0; k < n; k++) {
    const bool tied = rows[k].outcome.median_ns <= fastest * (1 + run->noise);
    if (legal[k] && competes(&c, &rows[k].outcome) && tied &&
        (best < 0 || wins_tie(&rows[k], &rows[best]))) {
      best = k;
    }
  }
  return best;
}
