/* Candidates whose machine code and launches are equal run alike: the first of them is measured for
 * all. */
#include "tune/tune_internal.h"

#include <string.h>

static bool same_launch(const sct_spec *spec, const sct_kernel_code *a, const sct_kernel_code *b) {
  return a->threads == b->threads && a->grid == b->grid && a->shared_bytes == b->shared_bytes &&
         a->n_require == b->n_require &&
         memcmp(a->align, b->align, sizeof *a->align * (size_t)spec->n_operands) == 0 &&
         (a->n_require == 0 ||
          memcmp(a->require, b->require, sizeof *a->require * (size_t)a->n_require) == 0);
}

/* Is there a verdict that can be shared? */
static bool is_judged(tune_session *s, int item) {
  bool judged = s->plan.items[item].outcome != SCT_OUT_OK;
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    judged = judged || sct_tune_cell(s, item, z)->verified;
  }
  return judged;
}

void sct_tune_find_twin(tune_session *s, int item) {
  const sct_tune_item *mine = &s->plan.items[item];
  for (int k = 0; k < item && mine->compiled.ok; k++) {
    const sct_tune_item *other = &s->plan.items[k];
    if (s->group[k] == s->group[item] && s->twin[k] < 0 && other->compiled.ok && is_judged(s, k) &&
        sct_hash_equal(other->compiled.code_hash, mine->compiled.code_hash) &&
        same_launch(&s->plan.spec, &other->code, &mine->code)) {
      s->twin[item] = k;
      return;
    }
  }
}

static sct_status copy_timing(sct_timing *to, const sct_timing *from, sct_error *err) {
  double *samples = NULL;
  if (from->n_samples > 0) {
    samples = sct_alloc(sizeof *samples * (size_t)from->n_samples);
    if (!samples) {
      return sct_fail(err, SCT_ENOMEM, "out of memory");
    }
    memcpy(samples, from->samples_ns, sizeof *samples * (size_t)from->n_samples);
  }
  sct_free(to->samples_ns);
  *to = *from;
  to->samples_ns = samples;
  return SCT_OK;
}

sct_status sct_tune_take_twin(tune_session *s, int item, int size, sct_error *err) {
  const tune_cell *from = sct_tune_cell(s, s->twin[item], size);
  tune_cell *to = sct_tune_cell(s, item, size);
  if (!to->fits || !sct_tune_is_timed(from)) {
    return SCT_OK;
  }
  SCT_TRY(copy_timing(&to->timing, &from->timing, err));
  to->verdict = from->verdict;
  if (to->verdict.outcome == SCT_OUT_OK) {
    (void)snprintf(to->verdict.detail, sizeof to->verdict.detail,
                   "same machine code and launch as '%s', which was measured for both",
                   s->plan.items[s->twin[item]].label);
  }
  to->race = from->race;
  to->from_store = false;
  return SCT_OK;
}
