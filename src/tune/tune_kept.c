/* The winner after a session of a part of the candidates (`only`, a budget too short to generate
 * all, or `again` that ended early):
 * having a look at a candidate must not make headers worse, so its winner takes the place in the
 * store only if it is shown to be better than the best that the session left out. */
#include "tune/tune_record.h"

#include <string.h>

static bool is_tried(const tune_table *t, int size, sct_id outcome) {
  for (int k = 0; k < t->cands->n_items; k++) {
    if (sct_tune_cell(t, k, size)->row.id == outcome && sct_tune_has_outcome(t, k, size)) {
      return true;
    }
  }
  return false;
}

static double time_of(const tune_table *t, const sct_row_outcome *o) {
  const double ns = t->times ? o->times.median_ns : o->predicted_ns;
  return ns > 0 ? ns : 0; /* unknown: NaN or 0 */
}

/* Verified, and not tried in this session. */
static bool is_left_out(const tune_table *t, int size, const sct_row_outcome *o) {
  return sct_row_is_ok(o) && !is_tried(t, size, o->id);
}

/* The store's winner, or where that was tried, the fastest that could have won; -1: none. */
static int best_left_out(const tune_record *r, int size, const sct_row_result *rows, int n) {
  const tune_table *t = r->table;
  int best = -1;
  for (int k = 0; k < n; k++) {
    const sct_row_outcome *o = &rows[k].outcome;
    if (!is_left_out(t, size, o)) {
      continue;
    }
    if (o->id == r->runs[size].winner) {
      return k;
    }
    const bool competes = (o->how.coalesced || t->select_any) && time_of(t, o) > 0 &&
                          sct_space_find(&t->cands->space, rows[k].candidate.label, 0, NULL) >= 0;
    if (competes && (best < 0 || time_of(t, o) < time_of(t, &rows[best].outcome))) {
      best = k;
    }
  }
  return best;
}

/* Is the session's winner better than `known`? Where nothing shows it, it is not. */
static bool is_better(const tune_record *r, int size, const sct_row_outcome *known) {
  const tune_table *t = r->table;
  const int winner = t->choices[size].winner;
  if (winner < 0) {
    return false;
  }
  const tune_cell *cell = sct_tune_cell(t, winner, size);
  const bool naive = sct_tune_is_naive_item(t->cands, winner, size);
  const double here = t->times ? cell->row.times.median_ns : sct_tune_credible_ns(t, winner, size);
  const double slack = t->times ? 1.0 + SCT_LEAST_NOISE : SCT_PREDICTED_SLACK;
  const bool faster = known->id == r->runs[size].winner ? here * slack < time_of(t, known)
                                                        : here < time_of(t, known) * slack;
  /* a naive variant wins coalesced or not (measure_choose.c) */
  return here > 0 && faster &&
         (naive || t->select_any || cell->row.how.coalesced || !known->how.coalesced);
}

/* The run's winner is the one left out. */
static void keep(tune_record *r, int size, const sct_row_result *known) {
  const tune_table *t = r->table;
  sct_row_run *run = &r->runs[size];
  const bool stays = run->winner == known->outcome.id;
  char time[48] = "not timed";
  if (time_of(t, &known->outcome) > 0) {
    snprintf(time, sizeof time, "%.4g us%s", time_of(t, &known->outcome) / 1e3,
             t->times ? "" : " predicted");
  }
  r->kept[size] = sct_arena_printf(
      &t->cands->arena,
      "'%s' of an earlier session (%s) was not tried here and %s the winner that `emit` takes",
      known->candidate.label, time, stays ? "stays" : "is now");
  const int64_t c = sct_space_find(&t->cands->space, known->candidate.label, 0, NULL);
  if (!stays && c >= 0) {
    int layout[SCT_MAX_OPERANDS];
    sct_tune_layouts(layout, t->cands, c);
    run->winner = known->outcome.id;
    run->naive = sct_tune_naive_outcome(t, size, layout);
  }
}

sct_status sct_tune_find_kept(tune_record *r, int size, sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  if ((!r->table->partial && !r->opts->again) || r->runs[size].winner == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_store_results(r->store, &r->table->cands->arena, r->runs[size].id, false, &rows, &n,
                            err));
  const int best = best_left_out(r, size, rows, n);
  if (best >= 0 && !is_better(r, size, &rows[best].outcome)) {
    keep(r, size, &rows[best]);
  }
  return SCT_OK;
}
