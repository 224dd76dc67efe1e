/* What is tried beside the search at each sample of a range. Few kernels are to do for all samples,
 * so trials go where they can change which: the kernels that a header would have by what is known
 * and estimated now are tried wherever they seem near the best, and at each sample those that seem
 * better than what was found there. Estimates learn from that, and the choice is made again, until
 * it rests on what was tried. */
#include "tune/tune_internal.h"

#include <math.h>

#define ROUNDS    8
#define AROUND    3   /* of them at sizes around listed ones */
#define NEAR      1.5 /* times the best: where a kernel of the choice is tried */
#define PROMISING 1.1 /* and any kernel, */
#define MOST_EACH 2   /* at most so many at a sample for each situation each round */

typedef struct elsewhere {
  tune_session *s;
  sct_arena arena;
  int *item, *size; /* [m.n_kernels] [m.n_samples] */
  sct_rule_matrix m;
  bool *wanted; /* [kernel * n_samples + sample] */
} elsewhere;

static tune_cell *cell_of(const elsewhere *e, int kernel, int sample) {
  return sct_tune_cell(&e->s->table, e->item[kernel], e->size[sample]);
}

static double time_of(const tune_table *t, const tune_cell *cell) {
  return !t->times                       ? cell->predicted.ns
         : cell->row.times.n_samples > 0 ? cell->row.times.median_ns
                                         : 0;
}

/* May trials be spent on it? */
static bool is_turn(const elsewhere *e, int sample) {
  const sct_size *size = &e->s->cands.spec.sizes[e->size[sample]];
  return size->sampled && size->around == e->s->around;
}

static void list_kernels(elsewhere *e, const int64_t **extents) {
  const sct_tune_candidates *const cands = &e->s->cands;
  int n_kernels = 0, n_samples = 0;
  e->item = SCT_ARENA_NEW(&e->arena, int, cands->n_items + 1);
  e->size = SCT_ARENA_NEW(&e->arena, int, cands->spec.n_sizes + 1);
  for (int k = 0; k < cands->n_items; k++) {
    if (sct_tune_was_tried(&e->s->table, k)) {
      e->item[n_kernels++] = k;
    }
  }
  for (int z = 0; z < cands->spec.n_sizes; z++) {
    if (!cands->spec.sizes[z].around || e->s->around) {
      extents[n_samples] = cands->spec.sizes[z].extent;
      e->size[n_samples++] = z;
    }
  }
  sct_rule_new(&e->m, &e->arena, n_kernels, n_samples);
  e->m.extents = extents;
  e->m.n_extents = cands->spec.n_extents;
  for (int s = 0; s < n_samples; s++) {
    e->m.calls[s] = (double)cands->spec.sizes[e->size[s]].weight;
  }
  e->wanted = SCT_ARENA_NEW(&e->arena, bool, n_kernels *n_samples + 1);
}

static void take_times(elsewhere *e) {
  const tune_table *const t = &e->s->table;
  for (int k = 0; k < e->m.n_kernels; k++) {
    e->m.plain[k] = sct_tune_is_plain(t->cands, e->item[k]);
    e->m.total[k] = sct_tune_is_general(t->cands, e->item[k]);
    for (int s = 0; s < e->m.n_samples; s++) {
      const int at = k * e->m.n_samples + s;
      e->m.may[at] = sct_tune_estimate(&e->s->counting, e->item[k], e->size[s]);
      const tune_cell *const cell = cell_of(e, k, s);
      const double ns = time_of(t, cell);
      e->m.tried[at] = sct_tune_has_outcome(t, e->item[k], e->size[s]) && ns > 0;
      e->m.may[at] = e->m.may[at] && sct_row_is_ok(&cell->row);
      e->m.tried[at] = e->m.tried[at] && e->m.may[at];
      e->m.predicted[at] = sct_tune_credible_ns(t, e->item[k], e->size[s]);
      e->m.ns[at] = e->m.tried[at] ? ns : INFINITY;
    }
  }
  sct_rule_estimate(&e->m, &e->arena);
  sct_rule_rate(&e->m, &e->arena);
}

/* A kernel that was not tried at a sample, as far as it seems no more than `most` times the best
 * there in a situation. */
static bool seems_near(const elsewhere *e, int kernel, int sample, int situation, double most) {
  const double loss = e->m.loss[kernel * e->m.n_cells + sample * SCT_RULE_SITUATIONS + situation];
  return !e->m.tried[kernel * e->m.n_samples + sample] && is_turn(e, sample) && loss <= log(most);
}

static void want_promising(elsewhere *e, int sample, int situation) {
  for (int n = 0; n < MOST_EACH; n++) {
    int best = -1;
    for (int k = 0; k < e->m.n_kernels; k++) {
      const int at = k * e->m.n_samples + sample;
      if (!e->wanted[at] && seems_near(e, k, sample, situation, PROMISING) &&
          (best < 0 || e->m.ns[at] < e->m.ns[best * e->m.n_samples + sample])) {
        best = k;
      }
    }
    if (best >= 0) {
      e->wanted[best * e->m.n_samples + sample] = true;
    }
  }
}

/* Which cells are to be tried; false: none. */
static bool choose_cells(elsewhere *e) {
  bool *chosen = SCT_ARENA_NEW(&e->arena, bool, e->m.n_kernels + 1);
  bool *kept = SCT_ARENA_NEW(&e->arena, bool, e->m.n_kernels + 1);
  bool *all = SCT_ARENA_NEW(&e->arena, bool, e->m.n_samples + 1), any = false;
  for (int s = 0; s < e->m.n_samples; s++) {
    all[s] = true;
  }
  sct_rule_cover(chosen, kept, &e->m, all, SCT_RULE_MOST_ADDED);
  for (int s = 0; s < e->m.n_samples; s++) {
    for (int k = 0; k < e->m.n_kernels; k++) {
      bool near = false;
      for (int situation = 0; situation < SCT_RULE_SITUATIONS; situation++) {
        near = near || seems_near(e, k, s, situation, NEAR);
      }
      e->wanted[k * e->m.n_samples + s] = chosen[k] && near;
    }
    for (int situation = 0; situation < SCT_RULE_SITUATIONS; situation++) {
      want_promising(e, s, situation);
    }
  }
  for (int at = 0; at < e->m.n_kernels * e->m.n_samples; at++) {
    any = any || e->wanted[at];
  }
  return any;
}

/* Counts a cell first, which may show that it is far; then, where there are times, tries it. */
static sct_status try_cell(elsewhere *e, int kernel, int sample, bool *timing, sct_error *err) {
  tune_table *const t = &e->s->table;
  tune_cell *const cell = cell_of(e, kernel, sample);
  const bool counted = cell->counted && !cell->estimated;
  cell->passed_over = false;
  if (!counted) {
    SCT_TRY(sct_tune_count(&e->s->counting, e->item[kernel], err));
  }
  const bool now = counted || cell->estimated; /* it cannot be counted */
  cell->passed_over = t->times && !now;
  cell->verified = cell->verified || !t->times;
  *timing = *timing || (t->times && now);
  return t->times ? SCT_OK
                  : sct_tune_store_cell(&e->s->record, e->item[kernel], e->size[sample], err);
}

static sct_status try_cells(elsewhere *e, sct_error *err) {
  bool timing = false;
  for (int k = 0; k < e->m.n_kernels; k++) {
    for (int s = 0; s < e->m.n_samples && !sct_tune_stop(&e->s->flow); s++) {
      if (e->wanted[k * e->m.n_samples + s]) {
        SCT_TRY(try_cell(e, k, s, &timing, err));
      }
    }
  }
  return timing ? sct_tune_quick_pass(e->s, err) : SCT_OK;
}

sct_status sct_tune_elsewhere(tune_session *s, sct_error *err) {
  sct_status status = SCT_OK;
  bool again = true;
  const int most = s->around ? AROUND : ROUNDS;
  for (int n = 0; n < most && again && status == SCT_OK && !sct_tune_stop(&s->flow); n++) {
    elsewhere e = {.s = s};
    const int64_t **extents = SCT_ARENA_NEW(&e.arena, const int64_t *, s->cands.spec.n_sizes + 1);
    list_kernels(&e, extents);
    take_times(&e);
    again = choose_cells(&e);
    status = try_cells(&e, err);
    sct_arena_free(&e.arena);
  }
  return status;
}
