/* What the arrays of a verification size hold, on the host. Where it is known before anything ran,
 * it is made, sent and given back, so that the next size lies in the same memory (a page that is
 * touched first costs more than what it holds); whoever needs it again makes it again. */
#include "measure_session.h"

#include <assert.h>
#include <string.h>

bool sct_outputs_known(const sct_measure *m) {
  return m->addressing.spec->n_moves > 0 && m->addressing.spec->tolerance == 0;
}

sct_status sct_case_images(const sct_measure *m, sct_case *c, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  for (int k = 0; k < spec->n_operands; k++) {
    if (c->image[k]) {
      continue;
    }
    const sct_operand *op = &spec->operands[k];
    if (k < spec->n_inputs || (sct_operand_is_prefilled(op) && spec->n_moves == 0)) {
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
    sct_image_free(c->image[k], &c->shape, k);
    sct_image_free(c->flags[k], &c->shape, k);
    c->image[k] = c->flags[k] = NULL;
  }
}

/* Leaves its extents only. */
static void empty_case(sct_measure *m, sct_case *c, sct_wire *freed) {
  sct_case_release(m, c, freed);
  sct_case_free_images(c);
  c->referenced = c->referenced && sct_outputs_known(m); /* else the image was the reference */
  sct_shape_unindex(&c->shape);
}

void sct_cases_make_room(sct_measure *m) {
  if (m->cases.bytes > m->cases.most_bytes) {
    sct_cases_empty(m, m->cases.most_bytes); /* the next candidate has the same cases */
  }
}

void sct_cases_empty(sct_measure *m, int64_t most) {
  sct_wire freed = {0};
  while (m->cases.bytes > most) {
    sct_case *oldest = NULL;
    for (size_t k = 0; k < m->cases.n; k++) {
      sct_case *c = m->cases.all[k];
      oldest = c->generation != 0 && (!oldest || c->last_used < oldest->last_used) ? c : oldest;
    }
    if (!oldest) {
      break;
    }
    empty_case(m, oldest, &freed);
  }
  sct_remote_free(m, &freed);
}

int64_t sct_case_array_bytes(const sct_measure *m, const sct_case *c, int op) {
  return m->is_virtual ? sct_shape_image_bytes(&c->shape, op) : c->shape.op[op].bytes;
}

/* ---- places ---- */

/* Devices that watch what is written get to know what must be: a fake GPU, the interpreter. */
static sct_status expect(sct_measure *m, sct_case *c, int op, int64_t buffer, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  const uint8_t *flags = NULL;
  if (m->is_virtual) {
    SCT_TRY(sct_ask_NAME(m, &(sct_ask_name){buffer, spec->operands[op].name}, NULL, err));
  }
  if (op < spec->n_inputs || (m->fake[0] == '\0' && !m->is_virtual)) {
    return SCT_OK;
  }
  if (!m->is_virtual) {
    SCT_TRY(sct_case_images(m, c, err));
  }
  SCT_TRY(sct_case_flags(c, op, &flags, err));
  return sct_remote_set_expected(m, buffer, &c->shape, op, flags,
                                 m->is_virtual ? NULL : c->image[op], err);
}

static void count_placed(sct_measure *m, sct_case *c, int op) {
  const int64_t bytes = sct_case_array_bytes(m, c, op);
  c->placed_bytes += bytes;
  m->cases.bytes += bytes;
}

/* A place of its own for one array, with what it holds. */
static sct_status place_array(sct_measure *m, sct_case *c, int op, int64_t residue, int64_t *buffer,
                              sct_error *err) {
  SCT_TRY(sct_remote_alloc_at(m, &c->shape, op, residue, buffer, err));
  count_placed(m, c, op);
  SCT_GROW(c->placed[op], (size_t)c->n_placed[op], c->cap_placed[op]);
  c->placed[op][c->n_placed[op]++] = (sct_placed){residue, *buffer};
  if (op < m->addressing.spec->n_inputs) {
    SCT_TRY(sct_ask_COPY(m, &(sct_ask_copy){*buffer, c->buffer[op]}, NULL, err));
    SCT_TRY(sct_ask_SEAL(m, &(sct_a_buffer){*buffer}, NULL, err));
  }
  return expect(m, c, op, *buffer, err);
}

/* The array of an output where the driver puts it; inputs have theirs. */
static sct_status need_array(sct_measure *m, sct_case *c, int op, sct_error *err) {
  if (c->buffer[op] < 0) {
    SCT_TRY(sct_remote_alloc_at(m, &c->shape, op, 0, &c->buffer[op], err));
    count_placed(m, c, op);
  }
  if (!c->expected[op]) {
    SCT_TRY(expect(m, c, op, c->buffer[op], err));
    c->expected[op] = true;
  }
  return SCT_OK;
}

sct_status sct_case_place(sct_measure *m, sct_case *c, const int64_t *residue, sct_error *err) {
  c->last_used = ++m->cases.clock;
  for (int k = 0; k < m->addressing.spec->n_operands; k++) {
    int64_t buffer = -1;
    for (int n = 0; n < c->n_placed[k]; n++) {
      buffer = c->placed[k][n].residue == residue[k] ? c->placed[k][n].buffer : buffer;
    }
    if (residue[k] == 0) {
      SCT_TRY(need_array(m, c, k, err));
      buffer = c->buffer[k];
    } else if (buffer < 0) {
      SCT_TRY(place_array(m, c, k, residue[k], &buffer, err));
    }
    c->used[k] = buffer;
  }
  return SCT_OK;
}
