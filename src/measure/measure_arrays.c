/* What the arrays of a verification size hold, on the host. An array is the same whatever layouts
 * the others have, so it is made once for all choices of layouts in which it lies in the same way.
 */
#include "measure_session.h"

#include <string.h>

#define MAX_SHARED_BYTES ((int64_t)1 << 27)

bool sct_known_before(const sct_measure *m) {
  return m->plan.spec->n_moves > 0 && m->plan.spec->tolerance == 0;
}

/* Where the size and the operand's own layout decide what the array holds, a name for that. */
static bool name_image(const sct_measure *m, const sct_case *c, int op, sct_hash *name) {
  const sct_spec *spec = m->plan.spec;
  int64_t said[SCT_MAX_EXTENTS + 3];
  int n = 0;
  if (m->plan.n_index > 0 || (op >= spec->n_inputs && !sct_known_before(m))) {
    return false;
  }
  said[n++] = op;
  said[n++] = m->plan.op[op].layout - spec->operands[op].layouts;
  said[n++] = op < spec->n_inputs ? 0 : c->poison;
  for (int k = 0; k < spec->n_extents; k++) {
    said[n++] = c->shape.extent[k];
  }
  *name = sct_hash_bytes(said, sizeof said[0] * (size_t)n);
  return true;
}

static bool find_image(const sct_measure *m, sct_hash name, sct_case *c, int op) {
  for (size_t k = 0; k < m->n_shared; k++) {
    if (sct_hash_equal(m->shared[k].name, name)) {
      c->image[op] = m->shared[k].image;
      c->flags[op] = m->shared[k].flags;
      c->borrowed[op] = true;
      return true;
    }
  }
  return false;
}

/* What cannot be kept stays the case's. */
static void keep_image(sct_measure *m, sct_hash name, sct_case *c, int op, int64_t bytes) {
  if (m->shared_bytes + bytes <= MAX_SHARED_BYTES &&
      SCT_GROW(m->shared, m->n_shared, m->cap_shared)) {
    m->shared[m->n_shared++] = (sct_shared){name, c->image[op], c->flags[op]};
    m->shared_bytes += bytes;
    c->borrowed[op] = true;
  }
}

sct_status sct_case_images(sct_measure *m, sct_case *c, sct_error *err) {
  const sct_spec *spec = m->plan.spec;
  for (int k = 0; k < spec->n_operands; k++) {
    const int64_t bytes = c->shape.op[k].bytes * (k < spec->n_inputs ? 1 : 2); /* flags too */
    sct_hash name = {0};
    if (c->image[k]) {
      continue;
    }
    m->case_bytes += bytes;
    const bool named = name_image(m, c, k, &name);
    if (named && find_image(m, name, c, k)) {
      continue;
    }
    if (k < spec->n_inputs) {
      SCT_TRY(sct_image_input(&c->image[k], &c->shape, k, err));
    } else {
      SCT_TRY(sct_image_output(&c->image[k], &c->flags[k], &c->shape, k, c->image, c->poison, err));
    }
    if (named) {
      keep_image(m, name, c, k, bytes);
    }
  }
  return SCT_OK;
}

void sct_case_free_images(sct_case *c) {
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    sct_free(c->borrowed[k] ? NULL : c->image[k]);
    sct_free(c->borrowed[k] ? NULL : c->flags[k]);
  }
}

void sct_images_drop(sct_measure *m) {
  for (size_t k = 0; k < m->n_shared; k++) {
    sct_free(m->shared[k].image);
    sct_free(m->shared[k].flags);
  }
  sct_free(m->shared);
  m->shared = NULL;
  m->n_shared = m->cap_shared = 0;
  m->shared_bytes = 0;
}
