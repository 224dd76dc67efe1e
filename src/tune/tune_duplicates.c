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

void sct_tune_copy_from_duplicate(tune_table *t, int item, int size) {
  const tune_cell *from = sct_tune_cell(t, t->duplicate[item], size);
  tune_cell *to = sct_tune_cell(t, item, size);
  if (!to->fits || !sct_tune_is_timed(from)) {
    return;
  }
  sct_times_set(&to->row.times, &from->row.times);
  to->row.outcome = from->row.outcome;
  to->row.detail =
      sct_row_is_ok(&from->row)
          ? sct_arena_printf(&t->cands->arena,
                             "same machine code and launch as '%s', which was measured for both",
                             t->cands->items[t->duplicate[item]].label)
          : from->row.detail;
  to->row.race = from->row.race;
  to->from_store = false;
}
