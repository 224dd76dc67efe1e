/* Cases for self-tests of headers: some of the situations of verification. Of small ones a header
 * has all bytes. Of larger ones it makes what inputs hold, and has digests of what outputs must. */
#include "measure_session.h"
#include "measure_walk.h"
#include "ptx/ptx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 4096 /* of all arrays of a case that stands in the file as it is */

/* What all cases together may have: bytes in the file, bytes of arrays, cases. */
#define MOST_IN_FILE   ((int64_t)64 << 10)
#define MOST_BYTES     ((int64_t)24 << 20)
#define MOST_CASES     64
#define DIGEST_IN_FILE 12 /* as long as so many bytes are in the file */

static int64_t bytes_of(const sct_case *c, int n_operands) {
  int64_t bytes = 0;
  for (int k = 0; k < n_operands; k++) {
    bytes += c->shape.op[k].bytes;
  }
  return bytes;
}

static bool is_small(const sct_measure *m, const sct_case *c) {
  return bytes_of(c, m->addressing.spec->n_operands) <= SMALL_BYTES;
}

/* ---- digests ---- */

/* Fields whose values may differ at their end; others are met bit for bit. */
static bool is_near(const sct_measure *m, double tolerance, const sct_field *f) {
  return sct_type_get(f->type)->exponent_bits > 0 &&
         (m->addressing.spec->n_moves == 0 || tolerance > 0);
}

/* A sum says enough where values may differ by little, each of a part's. */
#define LEAST_DIGITS   23
#define MOST_TOLERANCE 0x1p-12

static bool has_digests(const sct_measure *m, const sct_case *c, int op) {
  const sct_record *record = &m->addressing.spec->operands[op].record;
  const double tolerance = sct_shape_tolerance(&c->shape, op);
  bool has = op >= m->addressing.spec->n_inputs && !is_small(m, c);
  for (int f = 0; f < record->n_fields; f++) {
    const sct_type_info *type = sct_type_get(record->fields[f].type);
    const int digits = type->bytes / type->lanes * 8 - 1 - type->exponent_bits;
    has = has && (!is_near(m, tolerance, &record->fields[f]) ||
                  (digits >= LEAST_DIGITS && tolerance <= MOST_TOLERANCE));
  }
  return has;
}

static double number_of(const uint8_t *at, int64_t bytes) {
  float single;
  double value;
  if (bytes == sizeof value) {
    memcpy(&value, at, sizeof value);
    return value;
  }
  memcpy(&single, at, sizeof single);
  return (double)single;
}

static void add_field(uint64_t *bits, double *sum, const uint8_t *image, int64_t at,
                      const sct_field *f, bool near) {
  const int64_t lanes = sct_type_get(f->type)->lanes, bytes = f->bytes / lanes;
  for (int64_t lane = 0; lane < lanes && near; lane++) {
    const int64_t place = at + lane * bytes;
    const double weight = 1 + (double)(sct_mix64(0, (uint64_t)place) >> 11) * 0x1p-53;
    const double x = number_of(image + place, bytes);
    *sum += isfinite(x) ? weight * x : 0;
    *bits += isfinite(x) ? 0 : sct_mix64(isnan(x) ? 0 : x > 0 ? 1 : 2, (uint64_t)place);
  }
  for (int64_t n = 0; n < f->bytes && !near; n += 8) {
    uint64_t word = 0;
    memcpy(&word, image + at + n, (size_t)(f->bytes - n < 8 ? f->bytes - n : 8));
    *bits += sct_mix64(word, (uint64_t)(at + n));
  }
}

static sct_status find_digests(const sct_measure *m, const sct_case *c, int op,
                               const uint8_t *image, sct_example *out, sct_error *err) {
  const sct_operand *operand = &m->addressing.spec->operands[op];
  const double tolerance = sct_shape_tolerance(&c->shape, op);
  const int64_t bytes = c->shape.op[op].bytes;
  int64_t offsets[SCT_PART];
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  const size_t n_parts = (size_t)(bytes / SCT_DIGEST_BYTES + 1);
  uint64_t *const bits = out->op[op].bits = sct_alloc(sizeof *bits * n_parts);
  double *const sums = out->op[op].sums = sct_alloc(sizeof *sums * n_parts);
  sct_part p = sct_part_first(c->shape.op[op].extent, operand->n_dims, c->shape.op[op].count);
  for (; p.n > 0; sct_part_next(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const sct_field *field = &operand->record.fields[f];
      const bool near = is_near(m, tolerance, field);
      if (!sct_walk_offsets(offsets, &walks[f], &c->shape, op, f, SCT_OWN, &p)) {
        return sct_walk_outside(&c->shape, op, err);
      }
      for (int k = 0; k < p.n; k++) {
        const int64_t part = offsets[k] / SCT_DIGEST_BYTES;
        add_field(&bits[part], &sums[part], image, offsets[k], field, near);
      }
    }
  }
  return SCT_OK;
}

/* ---- which cases, and what they cost ---- */

/* The header makes it. */
static bool is_made(const sct_measure *m, const sct_case *c, int op) {
  const sct_operand *operand = &m->addressing.spec->operands[op];
  return op < m->addressing.spec->n_inputs && !is_small(m, c) && !operand->is_index &&
         c->shape.fill[op] != SCT_FILL_PREFIX;
}

/* Another compiler's roundings are near where values are ordinary; of integers there are none. */
static bool takes_any_values(const sct_measure *m) {
  const sct_spec *spec = m->addressing.spec;
  bool integers = true;
  for (int k = 0; k < spec->n_operands; k++) {
    for (int f = 0; f < spec->operands[k].record.n_fields; f++) {
      const sct_type type = spec->operands[k].record.fields[f].type;
      integers = integers && sct_type_get(type)->exponent_bits == 0;
    }
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    integers = integers && sct_type_get(spec->scalars[k].type)->exponent_bits == 0;
  }
  return sct_outputs_known(m) || (integers && spec->tolerance == 0);
}

sct_case *sct_example_case(sct_measure *m, sct_case *c) {
  if (c->variant != 0 && !(is_small(m, c) && takes_any_values(m))) {
    sct_case_get_as(m, &(sct_case_want){c->dims, 0, c->own}, &c);
  }
  bool ok = c->legal;
  for (int k = 0; k < m->addressing.spec->n_operands && ok; k++) {
    ok = !sct_shape_is_sparse(&c->shape, k);
  }
  return ok ? c : NULL;
}

double sct_example_cost(const sct_measure *m, const sct_case *c) {
  const sct_spec *spec = m->addressing.spec;
  int64_t in_file = 0;
  for (int k = 0; k < spec->n_operands; k++) {
    const int64_t bytes = c->shape.op[k].bytes;
    const bool before = k < spec->n_inputs || sct_operand_is_prefilled(&spec->operands[k]);
    in_file += before && !is_made(m, c, k) ? bytes : 0;
    in_file += k < spec->n_inputs     ? 0
               : has_digests(m, c, k) ? bytes / SCT_DIGEST_BYTES * DIGEST_IN_FILE
                                      : bytes;
  }
  return 1.0 / MOST_CASES + (double)in_file / MOST_IN_FILE +
         (double)bytes_of(c, spec->n_operands) / MOST_BYTES;
}

/* ---- examples ---- */

static uint8_t *copy_of(const uint8_t *bytes, int64_t n) {
  uint8_t *copy = sct_alloc((size_t)n + 1);
  memcpy(copy, bytes, (size_t)n);
  return copy;
}

/* The image of an input that the header makes. */
static uint8_t *make_words(const sct_measure *m, const sct_case *c, int op, sct_example *out) {
  const sct_masks masks = sct_data_record_masks(&m->addressing.spec->operands[op].record);
  uint8_t *image = sct_image_new(&c->shape, op);
  out->op[op].key = sct_data_key(m->seed, op, 0);
  out->op[op].and_mask = masks.and_mask;
  out->op[op].or_mask = masks.or_mask;
  for (int64_t at = 0; at < c->shape.op[op].bytes; at += 8) {
    const int64_t left = c->shape.op[op].bytes - at;
    const uint64_t word =
        (sct_mix64(out->op[op].key, (uint64_t)at / 8) & masks.and_mask) | masks.or_mask;
    memcpy(image + at, &word, (size_t)(left < 8 ? left : 8));
  }
  return image;
}

/* What arrays hold before, out->op[].before where that stands in the file. */
static sct_status make_before(const sct_measure *m, const sct_case *c, uint8_t **images,
                              sct_example *out, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  for (int k = 0; k < spec->n_operands; k++) {
    if (is_made(m, c, k)) {
      images[k] = make_words(m, c, k, out);
    } else if (k < spec->n_inputs || sct_operand_is_prefilled(&spec->operands[k])) {
      SCT_TRY(sct_image_input(&images[k], &c->shape, k, err));
      out->op[k].before = copy_of(images[k], c->shape.op[k].bytes);
    }
  }
  return SCT_OK;
}

static sct_status fill_output(const sct_measure *m, const sct_case *c, int op, const uint8_t *image,
                              sct_example *out, sct_error *err) {
  const sct_operand *operand = &m->addressing.spec->operands[op];
  const double tolerance = sct_shape_tolerance(&c->shape, op);
  out->op[op].tolerance = tolerance == 0 && !sct_shape_computes(&c->shape, op) ? -1 : tolerance;
  out->op[op].usual = sct_alloc(sizeof(double) * (size_t)operand->record.n_fields);
  for (int f = 0; f < operand->record.n_fields; f++) {
    out->op[op].usual[f] = sct_usual_magnitude(&c->shape, op, f, image);
  }
  if (has_digests(m, c, op)) {
    return find_digests(m, c, op, image, out, err);
  }
  out->op[op].after = copy_of(image, c->shape.op[op].bytes);
  return SCT_OK;
}

/* A small case's reference was made; others have one of what the header makes. */
static sct_status fill_arrays(sct_measure *m, sct_case *c, sct_example *out, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  uint8_t *before[SCT_MAX_OPERANDS] = {NULL}, *made[SCT_MAX_OPERANDS] = {NULL};
  sct_verdict verdict = {0};
  sct_status status = make_before(m, c, before, out, err);
  SCT_THEN(is_small(m, c) ? SCT_OK : sct_case_outputs(m, c, before, made, &verdict, err));
  if (status == SCT_OK && verdict.outcome != SCT_OUT_OK) {
    status = sct_fail(err, SCT_ENOTVERIFIED, "the naive variant failed: %s", verdict.detail);
  }
  for (int k = 0; k < spec->n_operands && status == SCT_OK; k++) {
    out->op[k].bytes = c->shape.op[k].bytes;
    if (k >= spec->n_inputs) {
      status = fill_output(m, c, k, made[k] ? made[k] : c->image[k], out, err);
    }
  }
  for (int k = 0; k < spec->n_operands; k++) {
    sct_image_free(before[k], &c->shape, k);
    sct_image_free(made[k], &c->shape, k);
  }
  return status;
}

static sct_status make_example(sct_measure *m, sct_case *c, sct_example *out, sct_error *err) {
  const sct_spec *spec = m->addressing.spec;
  if (is_small(m, c)) {
    SCT_TRY(sct_case_reference(m, c, err));
  } else {
    sct_shape_index(&c->shape);
  }
  out->poison = c->poison;
  out->n_elements = c->shape.n_elements;
  memcpy(out->extent, c->shape.extent, sizeof out->extent);
  for (int k = 0; k < spec->n_scalars; k++) {
    const sct_scalar_values scalars = sct_shape_scalars(&c->shape);
    sct_data_scalar(out->scalar[k], &scalars, k);
  }
  return fill_arrays(m, c, out, err);
}

/* Unless it is there already. */
static void add_place(const sct_measure *m, sct_example *e, const int64_t *residue) {
  const size_t bytes = sizeof *residue * (size_t)m->addressing.spec->n_operands;
  for (int k = 0; k < e->n_places; k++) {
    if (memcmp(e->places[k], residue, bytes) == 0) {
      return;
    }
  }
  SCT_GROW(e->places, (size_t)e->n_places, e->cap_places);
  memset(e->places[e->n_places], 0, sizeof e->places[0]);
  memcpy(e->places[e->n_places++], residue, bytes);
}

/* Where drivers put arrays, where the naive variant needs them at least, and where the situations
 * have them. */
static void add_places(const sct_measure *m, sct_example *e, const sct_situations *list,
                       const sct_case *c) {
  int64_t residue[SCT_MAX_OPERANDS] = {0};
  add_place(m, e, residue);
  for (int k = 0; k < m->addressing.spec->n_operands; k++) {
    residue[k] = sct_code_residue(m->naive.code, k);
  }
  add_place(m, e, residue);
  for (int k = 0; k < list->n; k++) {
    if (list->all[k].c == c) {
      add_place(m, e, list->all[k].residue);
    }
  }
}

static int by_elements(const void *a, const void *b) {
  const sct_example *x = a, *y = b;
  int order = x->n_elements < y->n_elements ? -1 : x->n_elements > y->n_elements;
  for (int k = 0; k < SCT_MAX_EXTENTS && order == 0; k++) {
    order = x->extent[k] < y->extent[k] ? -1 : x->extent[k] > y->extent[k];
  }
  return order;
}

static sct_status make_all(sct_measure *m, const sct_situations *list, sct_example *out, int *n,
                           sct_error *err) {
  for (int k = 0; k < list->n; k++) {
    bool known = false;
    for (int before = 0; before < k; before++) {
      known = known || list->all[before].c == list->all[k].c;
    }
    if (!known) {
      sct_example *e = &out[(*n)++];
      SCT_TRY(make_example(m, list->all[k].c, e, err));
      add_places(m, e, list, list->all[k].c);
    }
  }
  return SCT_OK;
}

sct_status sct_measure_examples(sct_measure *m, const sct_binary *kernels, int n_kernels,
                                sct_example **out, int *n, sct_error *err) {
  sct_situations list = {0};
  *n = 0;
  *out = NULL;
  SCT_TRY(sct_remote_ensure(m, err));
  for (int k = n_kernels - 1; k >= 0; k--) { /* the naive one adds what others have no use for */
    sct_ptx_traits found;
    const sct_ptx_traits *traits = sct_find_traits(m, &kernels[k], &found) ? &found : NULL;
    sct_situations_choose(m, kernels[k].code, traits, 1.0 / n_kernels, &list);
  }
  *out = sct_alloc(sizeof **out * (size_t)(list.n + 1));
  sct_status status = make_all(m, &list, *out, n, err);
  sct_free(list.all);
  if (status == SCT_OK) {
    qsort(*out, (size_t)*n, sizeof **out, by_elements);
    return SCT_OK;
  }
  for (int k = 0; k < *n; k++) {
    sct_example_free(&(*out)[k]);
  }
  sct_free(*out);
  *out = NULL;
  *n = 0;
  return status;
}

void sct_example_free(sct_example *example) {
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    sct_free(example->op[k].before);
    sct_free(example->op[k].after);
    sct_free(example->op[k].bits);
    sct_free(example->op[k].sums);
    sct_free(example->op[k].usual);
  }
  sct_free(example->places);
  *example = (sct_example){0};
}
