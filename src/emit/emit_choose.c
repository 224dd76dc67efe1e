/* The rule of selection once more, for a size whose winner has other layouts than the header: the
 * fastest coalesced candidate among those with the right ones. What is within the noise of it is a
 * tie, and ties go to fewer sectors, shared wavefronts, requests, registers, then to the label, so
 * that the answer does not depend on chance. */
#include "emit/emit_internal.h"

#include <math.h>
#include <string.h>

#define PREDICTED_NOISE 0.02 /* as SCT_PREDICTED_SLACK */
#define PREDICTED_NS    50.0 /* as SCT_PREDICTED_NS */

/* By what candidates are compared: measured times, or predicted ones where none is measured, or
 * where none is predicted either by counts alone. */
typedef enum basis { MEASURED, PREDICTED, COUNTED } basis;

/* Who takes part: those with a time, and if `coalesced` says so only such. */
typedef struct contest {
  bool coalesced;
  basis by;
  double sectors; /* what moves no more than this takes part too; negative: nothing does */
} contest;

static double time_of(const contest *c, const sct_row_outcome *o) {
  const double ns = c->by == MEASURED ? o->median_ns : c->by == PREDICTED ? o->predicted_ns : 0;
  return ns > 0 ? ns : 0; /* unknown: NaN or 0 */
}

static double sectors_of(const sct_row_outcome *o) {
  return o->sectors_ld + o->sectors_st;
}

static bool competes(const contest *c, const sct_row_outcome *o) {
  return (o->how.coalesced || !c->coalesced || sectors_of(o) <= c->sectors) &&
         (time_of(c, o) > 0 || c->by == COUNTED);
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
  const double pairs[][2] = {{sectors_of(x), sectors_of(y)},
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

/* Where nothing is coalesced all compete. */
static contest find_contest(const sct_row_result *rows, int n, const bool *legal, bool any) {
  for (int all = any; all < 2; all++) {
    for (int by = MEASURED; by <= COUNTED; by++) {
      const contest c = {.coalesced = !all, .by = (basis)by, .sectors = -1};
      if (any_competes(&c, rows, n, legal)) {
        return c;
      }
    }
  }
  return (contest){.by = COUNTED, .sectors = -1};
}

/* The fastest row that takes part; -1: none does. */
static int fastest_row(const contest *c, const sct_row_result *rows, int n, const bool *legal) {
  int fastest = -1;
  for (int k = 0; k < n; k++) {
    if (legal[k] && competes(c, &rows[k].outcome) &&
        (fastest < 0 || time_of(c, &rows[k].outcome) < time_of(c, &rows[fastest].outcome))) {
      fastest = k;
    }
  }
  return fastest;
}

/* By the run's conditions a winner need not be coalesced. */
static bool selects_any(const char *conditions) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(conditions);
  const char *selection = json_string_value(json_object_get(root, "selection"));
  return selection != NULL && strcmp(selection, "any") == 0;
}

int emit_choose(const sct_row_result *rows, int n, const bool *legal, const sct_row_run *run) {
  contest c = find_contest(rows, n, legal, selects_any(run->conditions));
  int best = fastest_row(&c, rows, n, legal);
  if (best < 0) {
    return best;
  }
  c.sectors = sectors_of(&rows[best].outcome);
  const double fastest = time_of(&c, &rows[fastest_row(&c, rows, n, legal)].outcome);
  const double slack =
      c.by == PREDICTED ? fmax(PREDICTED_NOISE * fastest, PREDICTED_NS) : run->noise * fastest;
  best = -1;
  for (int k = 0; k < n; k++) {
    const bool tied = time_of(&c, &rows[k].outcome) <= fastest + slack;
    if (legal[k] && competes(&c, &rows[k].outcome) && tied &&
        (best < 0 || wins_tie(&rows[k], &rows[best]))) {
      best = k;
    }
  }
  return best;
}
