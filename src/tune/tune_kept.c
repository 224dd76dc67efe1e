/* The winner after a session of a part of the candidates (`only`, a budget too short to generate
 * all, or `again` that ended early):
 * having a look at a candidate must not make headers worse, so its winner takes the place in the
 * store only if it is shown to be better than the best that the session left out. */
#include "tune/tune_internal.h"

#include <string.h>

static bool is_tried(const tune_session *s, int size, sct_id outcome) {
  for (int k = 0; k < s->plan.n_items; k++) {
    const tune_cell *cell = &s->cells[k * s->plan.spec.n_sizes + size];
    if (cell->outcome_id == outcome && sct_tune_has_outcome(s, &s->plan.items[k], cell)) {
      return true;
    }
  }
  return false;
}

static double time_of(const tune_session *s, const sct_row_outcome *o) {
  const double ns = s->kind->times ? o->median_ns : o->predicted_ns;
  return ns > 0 ? ns : 0; /* unknown: NaN or 0 */
}

/* Verified, and not tried in this session. */
static bool is_left_out(const tune_session *s, int size, const sct_row_outcome *o) {
  return strcmp(o->outcome, sct_outcome_name(SCT_OUT_OK)) == 0 && !is_tried(s, size, o->id);
}

/* The store's winner, or where that was tried, the fastest that could have won; -1: none. */
static int best_left_out(const tune_session *s, int size, const sct_row_result *rows, int n) {
  int best = -1;
  for (int k = 0; k < n; k++) {
    const sct_row_outcome *o = &rows[k].outcome;
    if (!is_left_out(s, size, o)) {
      continue;
    }
    if (o->id == s->runs[size].winner) {
      return k;
    }
    const bool competes = (o->coalesced || s->opts->select_any) && time_of(s, o) > 0 &&
                          sct_space_find(&s->plan.space, rows[k].candidate.label, NULL) >= 0;
    if (competes && (best < 0 || time_of(s, o) < time_of(s, &rows[best].outcome))) {
      best = k;
    }
  }
  return best;
}

/* Does the session's winner move so much more than `known` that it is not coalesced beside it? The
 * session alone cannot tell: the least that any kernel needs may be that of one it left out. */
static bool is_worse_coalesced(const tune_session *s, int size, const sct_row_outcome *known) {
  const int winner = s->choices[size].winner;
  const tune_cell *cell = &s->cells[winner * s->plan.spec.n_sizes + size];
  const double there = known->sectors_ld + known->sectors_st;
  const double here = (double)(cell->counters.load.sectors + cell->counters.store.sectors);
  return known->coalesced && !s->opts->select_any && cell->counted && !cell->estimated &&
         there > 0 && here > SCT_COALESCED_SLACK * there;
}

/* Is the session's winner better than `known`? Where nothing shows it, it is not. */
static bool is_better(const tune_session *s, int size, const sct_row_outcome *known) {
  const int winner = s->choices[size].winner;
  if (winner < 0) {
    return false;
  }
  const sct_tune_item *item = &s->plan.items[winner];
  const tune_cell *cell = &s->cells[winner * s->plan.spec.n_sizes + size];
  const bool naive =
      item->candidate == sct_codegen_naive(&s->plan.spec, &s->plan.space, item->code.layout);
  const double here = s->kind->times ? cell->timing.median_ns : cell->predicted.ns;
  const double slack = s->kind->times ? 1.0 + SCT_LEAST_NOISE : SCT_PREDICTED_SLACK;
  const bool faster = known->id == s->runs[size].winner ? here * slack < time_of(s, known)
                                                        : here < time_of(s, known) * slack;
  /* a naive variant that was timed wins coalesced or not (tune_choose.c) */
  return here > 0 && faster && ((naive && s->kind->times) || !is_worse_coalesced(s, size, known));
}

/* The run's winner is the one left out. */
static void keep(tune_session *s, int size, const sct_row_result *known) {
  sct_row_run *run = &s->runs[size];
  const bool stays = run->winner == known->outcome.id;
  char time[48] = "not timed";
  if (time_of(s, &known->outcome) > 0) {
    snprintf(time, sizeof time, "%.4g us%s", time_of(s, &known->outcome) / 1e3,
             s->kind->times ? "" : " predicted");
  }
  s->kept[size] = sct_arena_printf(
      &s->plan.arena,
      "'%s' of an earlier session (%s) was not tried here and %s the winner that `emit` takes",
      known->candidate.label, time, stays ? "stays" : "is now");
  const int64_t c = sct_space_find(&s->plan.space, known->candidate.label, NULL);
  if (!stays && c >= 0) {
    int layout[SCT_MAX_OPERANDS];
    sct_tune_layouts(layout, &s->plan, c);
    run->winner = known->outcome.id;
    run->naive = sct_tune_naive_outcome(s, size, layout);
  }
}

sct_status sct_tune_find_kept(tune_session *s, int size, sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  if ((!sct_tune_is_part(s) && !s->opts->again) || s->runs[size].winner == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_store_results(s->store, s->runs[size].id, false, &rows, &n, err));
  const int best = best_left_out(s, size, rows, n);
  if (best >= 0 && !is_better(s, size, &rows[best].outcome)) {
    keep(s, size, &rows[best]);
  }
  sct_row_result_free(rows, n);
  return SCT_OK;
}
