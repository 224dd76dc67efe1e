/* Which kernels a call tries, as templates/header/runtime.cuh decides it: whose rule, a listed size
 * of that device, the branch of its rule, the naive variant. */
#include "emit/emit_internal.h"

#include <stdlib.h>
#include <string.h>

/* As in a header: 3, the same model; 2, the same compute capability; 1, the same major version. */
static int match_of(const emit_device *d, const sct_emit_device *on) {
  const bool same_model = d->n_sms == on->n_sms && strcmp(d->row->name, on->name) == 0;
  return d->row->cc_major != on->major ? 0 : d->row->cc_minor != on->minor ? 1 : 2 + same_model;
}

static int far_of(const emit_device *d, const sct_emit_device *on) {
  return 1000 * abs(d->row->cc_major - on->major) + abs(d->row->cc_minor - on->minor);
}

static const emit_device *find_device(const sct_emit *e, const sct_emit_device *on) {
  const emit_device *best = NULL;
  for (int k = 0; k < e->n_devices; k++) {
    const emit_device *const d = &e->devices[k];
    if (d->n_sizes > 0 &&
        (best == NULL || match_of(d, on) > match_of(best, on) ||
         (match_of(d, on) == match_of(best, on) && far_of(d, on) < far_of(best, on)))) {
      best = d;
    }
  }
  return best;
}

void sct_emit_take(sct_emit_taken *out, const sct_emit *e, const sct_emit_device *on,
                   const int64_t *extents) {
  const emit_device *const d = find_device(e, on);
  const size_t bytes = sizeof *extents * (size_t)e->sig.n_extents;
  const sct_rule_node *const leaf = sct_rule_leaf(&d->rule, d->features, extents, e->sig.n_extents);
  *out = (sct_emit_taken){.device = d->row->name};
  for (int k = 0; k < d->n_sizes && out->size == NULL; k++) {
    const emit_size *const size = &d->sizes[k];
    if (size->shown && !size->sampled && memcmp(size->extents, extents, bytes) == 0) {
      out->size = size->run->size_label;
      out->labels[out->n++] = e->kernels[size->kernel].source->label;
    }
  }
  for (int k = 0; k < leaf->n_order; k++) {
    out->labels[out->n++] = e->kernels[leaf->order[k]].source->label;
  }
  out->labels[out->n++] = e->kernels[0].source->label;
}

const char *const *sct_emit_kernels(sct_emit *e, int *n) {
  const char **labels = SCT_ARENA_NEW(&e->arena, const char *, e->n_kernels + 1);
  for (int k = 0; k < e->n_kernels; k++) {
    labels[k] = e->kernels[k].source->label;
  }
  *n = e->n_kernels;
  return labels;
}

const char *const *sct_emit_layouts(const sct_emit *e) {
  return e->layout;
}
