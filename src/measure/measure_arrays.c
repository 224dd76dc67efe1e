/* What the arrays of a verification size hold, on the host. Where it is known before anything ran,
 * it is made, sent and given back, so that the next size lies in the same memory (a page that is
 * touched first costs more than what it holds); whoever needs it again makes it again. */
#include "measure_session.h"

bool sct_known_before(const sct_measure *m) {
  return m->plan.spec->n_moves > 0 && m->plan.spec->tolerance == 0;
}

sct_status sct_case_images(const sct_measure *m, sct_case *c, sct_error *err) {
  const sct_spec *spec = m->plan.spec;
  for (int k = 0; k < spec->n_operands; k++) {
    if (c->image[k]) {
      continue;
    }
    if (k < spec->n_inputs) {
      SCT_TRY(sct_image_input(&c->image[k], &c->shape, k, err));
    } else {
      SCT_TRY(sct_image_output(&c->image[k], &c->shape, k, c->image, c->poison, err));
    }
  }
  return SCT_OK;
}

sct_status sct_case_flags(sct_case *c, int op, const uint8_t **flags, sct_error *err) {
  if (!c->flags[op]) {
    SCT_TRY(sct_image_flags(&c->flags[op], &c->shape, op, err));
  }
  *flags = c->flags[op];
  return SCT_OK;
}

void sct_case_free_images(sct_case *c) {
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    sct_free(c->image[k]);
    sct_free(c->flags[k]);
    c->image[k] = c->flags[k] = NULL;
  }
}
