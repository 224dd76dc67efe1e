/* Candidates whose machine code and launches are equal run alike: the first of them is measured for
 * all. */
#include "tune/tune_table.h"

#include <string.h>

static bool same_params(const sct_kernel_code *a, const sct_kernel_code *b) {
  bool same = a->n_params == b->n_params && memcmp(a->block, b->block, sizeof a->block) == 0 &&
              memcmp(a->grid_dims, b->grid_dims, sizeof a->grid_dims) == 0;
  for (int k = 0; k < a->n_params && same; k++) {
    const sct_param *p = &a->params[k], *q = &b->params[k];
    same =
        p->kind == q->kind && p->number == q->number && p->value == q->value && p->type == q->type;
  }
  return same;
}

static bool same_launch(const sct_spec *spec, const sct_kernel_code *a, const sct_kernel_code *b) {
  return same_params(a, b) && a->threads == b->threads && a->grid == b->grid &&
         a->shared_bytes == b->shared_bytes && a->n_require == b->n_require &&
         memcmp(a->align, b->align, sizeof *a->align * (size_t)spec->n_operands) == 0 &&
         (a->n_require == 0 ||
          memcmp(a->require, b->require, sizeof *a->require * (size_t)a->n_require) == 0);
}

/* Is there a verdict that can be shared? */
static bool is_evaluated(const tune_table *t, int item) {
  bool evaluated = t->cands->items[item].outcome != SCT_OUT_OK;
  for (int z = 0; z < t->cands->spec.n_sizes; z++) {
    evaluated = evaluated || sct_tune_cell(t, item, z)->verified;
  }
  return evaluated;
}

/* The first duplicate in the order of candidates counts. */
void sct_tune_find_duplicate(tune_table *t, int item) {
  const sct_tune_item *mine = &t->cands->items[item];
  for (int k = 0; k < item && mine->compiled.ok && t->duplicate[item] < 0; k++) {
    const sct_tune_item *other = &t->cands->items[k];
    if (sct_hash_equal(other->compiled.code_hash, mine->compiled.code_hash) && other->compiled.ok &&
        t->group[k] == t->group[item] && t->duplicate[k] < 0 && is_evaluated(t, k) &&
        same_launch(&t->cands->spec, &other->code, &mine->code)) {
      t->duplicate[item] = k;
    }
  }
}

static void copy_timing(sct_timing *to, const sct_timing *from) {
  double *samples = NULL;
  if (from->n_samples > 0) {
    samples = sct_alloc(sizeof *samples * (size_t)from->n_samples);
    memcpy(samples, from->samples_ns, sizeof *samples * (size_t)from->n_samples);
  }
  sct_free(to->samples_ns);
  *to = *from;
  to->samples_ns = samples;
}

void sct_tune_copy_from_duplicate(tune_table *t, int item, int size) {
  const tune_cell *from = sct_tune_cell(t, t->duplicate[item], size);
  tune_cell *to = sct_tune_cell(t, item, size);
  if (!to->fits || !sct_tune_is_timed(from)) {
    return;
  }
  copy_timing(&to->timing, &from->timing);
  to->verdict = from->verdict;
  if (to->verdict.outcome == SCT_OUT_OK) {
    (void)snprintf(to->verdict.detail, sizeof to->verdict.detail,
                   "same machine code and launch as '%s', which was measured for both",
                   t->cands->items[t->duplicate[item]].label);
  }
  to->race = from->race;
  to->from_store = false;
}
