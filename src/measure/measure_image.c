/* Images: the bytes of arrays before and after a kernel, walked element by element through the
 * layout's expressions. */
#include "measure_data.h"

#include <string.h>

#define GAP_BYTE 0xd5 /* between the elements of inputs: never a value anybody expects */

static uint8_t *new_image(int64_t bytes, uint8_t byte) {
  uint8_t *image = sct_alloc((size_t)bytes + 1);
  if (image) {
    memset(image, byte, (size_t)bytes);
  }
  return image;
}

/* Offset of a field of the array's element idx. */
static int64_t element_offset(const sct_shape *s, int op, int field, const int64_t *idx) {
  const sct_plan_operand *p = &s->plan->op[op];
  int64_t inputs[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  memcpy(inputs, idx, sizeof *idx * (size_t)p->op->n_dims);
  memcpy(inputs + p->op->n_dims, s->extent, sizeof *idx * (size_t)s->plan->spec->n_extents);
  return sct_expr_program_run(p->element[field], inputs);
}

static bool inside(const sct_shape *s, int op, int field, int64_t offset) {
  const int64_t bytes = s->plan->op[op].op->record.fields[field].bytes;
  return offset >= 0 && offset <= s->op[op].bytes - bytes;
}

static sct_status outside(const sct_shape *s, int op, sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                  s->plan->op[op].op->name);
}

sct_status sct_image_input(uint8_t **out, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->plan->op[op].op;
  uint8_t *image = new_image(s->op[op].bytes, GAP_BYTE);
  int64_t idx[SCT_MAX_DIMS] = {0};
  if (!image) {
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  for (int64_t linear = 0; linear < s->op[op].count; linear++) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const sct_field *field = &operand->record.fields[f];
      const int64_t offset = element_offset(s, op, f, idx);
      if (!inside(s, op, f, offset)) {
        sct_free(image);
        return outside(s, op, err);
      }
      if (operand->is_index) {
        memcpy(image + offset, &s->op[op].values[linear], (size_t)field->bytes);
      } else {
        sct_data_value(image + offset, field->type, sct_data_key(s->plan->seed, op, f), linear);
      }
    }
    (void)sct_next_index(idx, s->op[op].extent, operand->n_dims);
  }
  *out = image;
  return SCT_OK;
}

static sct_status mark_owned(uint8_t *flags, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->plan->op[op].op;
  int64_t idx[SCT_MAX_DIMS] = {0};
  for (int64_t linear = 0; linear < s->op[op].count; linear++) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const int64_t offset = element_offset(s, op, f, idx);
      if (!inside(s, op, f, offset)) {
        return outside(s, op, err);
      }
      memset(flags + offset, SCT_BYTE_OWNED, (size_t)operand->record.fields[f].bytes);
    }
    (void)sct_next_index(idx, s->op[op].extent, operand->n_dims);
  }
  return SCT_OK;
}

/* The move that assigns this field; NULL without moves. */
static const sct_move *move_of(const sct_spec *spec, int op, int field) {
  for (int k = 0; k < spec->n_moves; k++) {
    if (spec->moves[k].out == op && spec->moves[k].out_field == field) {
      return &spec->moves[k];
    }
  }
  return NULL;
}

/* Marks the fields of the element that the kernel writes; with an image, places their values. */
static sct_status write_element(uint8_t *image, uint8_t *flags, const sct_shape *s, int op,
                                uint8_t *const *inputs, const int64_t *idx, int64_t linear,
                                sct_error *err) {
  const sct_plan *plan = s->plan;
  const sct_record *record = &plan->op[op].op->record;
  int64_t values[SCT_PLAN_INPUTS] = {0};
  sct_shape_inputs(s, idx, values);
  for (int f = 0; f < record->n_fields; f++) {
    const sct_move *move = move_of(plan->spec, op, f);
    const int64_t to = sct_expr_program_run(plan->op[op].offset[f], values);
    if (plan->spec->n_moves > 0 && !move) {
      continue; /* no move assigns it */
    }
    if (!inside(s, op, f, to)) {
      return outside(s, op, err);
    }
    memset(flags + to, SCT_BYTE_OWNED | SCT_BYTE_WRITTEN, (size_t)record->fields[f].bytes);
    if (image && move && plan->spec->reduces) {
      SCT_TRY(sct_image_reduced(image + to, s, move, inputs[move->in], idx, err));
    } else if (image && move) {
      const int64_t from = sct_expr_program_run(plan->op[move->in].offset[move->in_field], values);
      if (!inside(s, move->in, move->in_field, from)) {
        return outside(s, move->in, err);
      }
      memcpy(image + to, inputs[move->in] + from, (size_t)record->fields[f].bytes);
    } else if (image) {
      sct_data_value(image + to, record->fields[f].type, sct_data_key(plan->seed, op, f), linear);
    }
  }
  return SCT_OK;
}

static sct_status write_elements(uint8_t *image, uint8_t *flags, const sct_shape *s, int op,
                                 uint8_t *const *inputs, sct_error *err) {
  int64_t idx[SCT_MAX_DIMS] = {0};
  SCT_TRY(mark_owned(flags, s, op, err));
  for (int64_t linear = 0; linear < s->n_written; linear++) {
    SCT_TRY(write_element(image, flags, s, op, inputs, idx, linear, err));
    (void)sct_next_index(idx, s->write_extent, s->plan->spec->n_dims);
  }
  return SCT_OK;
}

sct_status sct_image_flags(uint8_t **flags, const sct_shape *s, int op, sct_error *err) {
  uint8_t *marks = new_image(s->op[op].bytes, 0);
  if (!marks) {
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  const sct_status status = write_elements(NULL, marks, s, op, NULL, err);
  if (status == SCT_OK) {
    *flags = marks;
  } else {
    sct_free(marks);
  }
  return status;
}

sct_status sct_image_output(uint8_t **out, uint8_t **flags, const sct_shape *s, int op,
                            uint8_t *const *inputs, uint8_t poison, sct_error *err) {
  uint8_t *image = new_image(s->op[op].bytes, poison), *marks = new_image(s->op[op].bytes, 0);
  const sct_status status = image && marks ? write_elements(image, marks, s, op, inputs, err)
                                           : sct_fail(err, SCT_ENOMEM, "out of memory");
  if (status == SCT_OK) {
    *out = image;
    *flags = marks;
  } else {
    sct_free(image);
    sct_free(marks);
  }
  return status;
}

/* ---- finding a byte ---- */

static bool holds(const sct_field *field, int64_t offset, int64_t byte) {
  return byte >= offset && byte < offset + field->bytes;
}

static bool find_in_space(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_plan_operand *p = &s->plan->op[op];
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_PLAN_INPUTS] = {0};
  for (int64_t linear = 0; linear < s->n_written; linear++) {
    sct_shape_inputs(s, idx, values);
    for (int f = 0; f < p->op->record.n_fields; f++) {
      const int64_t offset = sct_expr_program_run(p->offset[f], values);
      if (holds(&p->op->record.fields[f], offset, byte)) {
        *out = (sct_place){.field = f, .in_space = true, .offset = offset};
        memcpy(out->idx, idx, sizeof idx);
        return true;
      }
    }
    (void)sct_next_index(idx, s->write_extent, s->plan->spec->n_dims);
  }
  return false;
}

void sct_find_byte(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_operand *operand = s->plan->op[op].op;
  int64_t idx[SCT_MAX_DIMS] = {0};
  if (find_in_space(s, op, byte, out)) {
    return;
  }
  for (int64_t linear = 0; linear < s->op[op].count; linear++) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const int64_t offset = element_offset(s, op, f, idx);
      if (holds(&operand->record.fields[f], offset, byte)) {
        *out = (sct_place){.field = f, .offset = offset};
        memcpy(out->idx, idx, sizeof idx);
        return;
      }
    }
    (void)sct_next_index(idx, s->op[op].extent, operand->n_dims);
  }
  *out = (sct_place){.field = -1, .offset = byte};
}

/* ---- differences ---- */

/* All that is wrong is that some bytes still hold the poison. */
static bool is_unwritten(const uint8_t *got, const uint8_t *want, int64_t n, uint8_t poison) {
  for (int64_t k = 0; k < n; k++) {
    if (got[k] != want[k] && got[k] != poison) {
      return false;
    }
  }
  return true;
}

/* "b.y of element row=3 col=31", or "b.y of its own element [5], which no element writes". */
static void print_place(sct_str *out, const sct_shape *s, int op, const sct_place *place) {
  const sct_spec *spec = s->plan->spec;
  const sct_operand *operand = s->plan->op[op].op;
  const char *field = operand->record.fields[place->field].name;
  sct_str_printf(out, "%s%s%s of", operand->name, field[0] != '\0' ? "." : "", field);
  if (place->in_space) {
    sct_str_append(out, " element");
    for (int d = 0; d < spec->n_dims; d++) {
      if (!spec->reduced[d]) {
        sct_str_printf(out, " %s=%lld", spec->dims[d], (long long)place->idx[d]);
      }
    }
    return;
  }
  sct_str_append(out, " its own element ");
  for (int d = 0; d < operand->n_dims; d++) {
    sct_str_printf(out, "[%lld]", (long long)place->idx[d]);
  }
  sct_str_append(out, ", which the kernel must leave alone");
}

void sct_describe_difference(sct_verdict *out, const sct_shape *s, int op, int64_t byte,
                             const sct_place *place, const uint8_t *got, const uint8_t *want,
                             uint8_t poison) {
  const sct_operand *operand = s->plan->op[op].op;
  sct_str text = {0}, size = {0};
  sct_shape_label(&size, s);
  out->outcome = SCT_OUT_OUT_OF_BOUNDS;
  if (place->field < 0) {
    sct_str_printf(&text, "byte %lld of %s, between its elements (%s): 0x%02x instead of 0x%02x",
                   (long long)byte, operand->name, sct_str_c(&size), got[0], want[0]);
  } else {
    const sct_field *field = &operand->record.fields[place->field];
    const sct_type_info *info = sct_type_get(field->type);
    const int lane = (int)((byte - place->offset) / (info->bytes / info->lanes));
    print_place(&text, s, op, place);
    sct_str_printf(&text, " (%s): ", sct_str_c(&size));
    if (is_unwritten(got, want, field->bytes, poison)) {
      out->outcome = SCT_OUT_NOT_WRITTEN;
      sct_str_append(&text, "not written, expected ");
      sct_data_print(&text, field->type, lane, want);
    } else {
      out->outcome = place->in_space ? SCT_OUT_WRONG_RESULT : SCT_OUT_OUT_OF_BOUNDS;
      sct_data_print(&text, field->type, lane, got);
      sct_str_append(&text, " instead of ");
      sct_data_print(&text, field->type, lane, want);
    }
  }
  snprintf(out->detail, sizeof out->detail, "%s", sct_str_c(&text));
  sct_str_free(&text);
  sct_str_free(&size);
}
