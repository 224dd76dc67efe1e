/* Which element a byte of an array belongs to, and the message about a wrong one. */
#include "measure_data.h"

#include <string.h>

/* Offset of a field of the array's element idx. */
static int64_t element_offset(const sct_shape *s, int op, int field, const int64_t *idx) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  int64_t inputs[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  memcpy(inputs, idx, sizeof *idx * (size_t)p->op->n_dims);
  memcpy(inputs + p->op->n_dims, s->extent, sizeof *idx * (size_t)s->addressing->spec->n_extents);
  return sct_expr_program_run(p->element[field], inputs);
}

/* ---- finding a byte ---- */

static bool holds(const sct_field *field, int64_t offset, int64_t byte) {
  return byte >= offset && byte < offset + field->bytes;
}

/* Where strides tell elements apart, from the largest on. */
static bool find_by_strides(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_operand *operand = s->addressing->op[op].op;
  const bool is_own = sct_shape_writes_all(s, op) && operand->accumulate == SCT_REDUCE_NONE;
  sct_places at;
  for (int f = 0; f < operand->record.n_fields && is_own; f++) {
    if (!sct_shape_places(s, op, f, &at)) {
      continue;
    }
    sct_place found = {.field = f, .in_space = true};
    int64_t idx[SCT_PLACE_DIMS] = {0};
    bool taken[SCT_PLACE_DIMS] = {false};
    int64_t rest = byte - at.origin;
    for (int n = 0; n < operand->n_dims; n++) {
      int most = -1;
      for (int d = 0; d < operand->n_dims; d++) {
        most = !taken[d] && (most < 0 || at.stride[d] > at.stride[most]) ? d : most;
      }
      const int64_t k = at.stride[most] > 0 && rest > 0 ? rest / at.stride[most] : 0;
      idx[most] = k < at.extent[most] ? k : at.extent[most] - 1;
      found.idx[sct_shape_dim_of(s, op, most)] = idx[most];
      rest -= idx[most] * at.stride[most];
      taken[most] = true;
    }
    found.offset = element_offset(s, op, f, idx);
    if (holds(&operand->record.fields[f], found.offset, byte)) {
      *out = found;
      return true;
    }
  }
  return false;
}

static bool find_in_space(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_ADDRESSING_INPUTS] = {0};
  if (p->op->accumulate != SCT_REDUCE_NONE) {
    return false; /* points fall on it, but it is none's own */
  }
  for (int64_t linear = 0; linear < s->op[op].n_written; linear++) {
    sct_shape_inputs(s, idx, values);
    for (int f = 0; f < p->op->record.n_fields; f++) {
      const int64_t offset = sct_expr_program_run(p->offset[f], values);
      if (holds(&p->op->record.fields[f], offset, byte)) {
        *out = (sct_place){.field = f, .in_space = true, .offset = offset};
        memcpy(out->idx, idx, sizeof idx);
        return true;
      }
    }
    (void)sct_next_index(idx, s->op[op].write_extent, s->addressing->spec->n_dims);
  }
  return false;
}

void sct_find_byte(const sct_shape *s, int op, int64_t byte, sct_place *out) {
  const sct_operand *operand = s->addressing->op[op].op;
  int64_t idx[SCT_MAX_DIMS] = {0};
  if (find_by_strides(s, op, byte, out) || find_in_space(s, op, byte, out)) {
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
static bool is_unwritten(const uint8_t *got, const uint8_t *want, int64_t n, int poison) {
  for (int64_t k = 0; k < n; k++) {
    const int held = poison == SCT_POISON_UNLIKE ? 0xff ^ want[k] : poison;
    if (got[k] != want[k] && got[k] != held) {
      return false;
    }
  }
  return true;
}

/* "b.y of element row=3 col=31", or "b.y of its own element [5], which no element writes". */
static void print_place(sct_str *out, const sct_shape *s, int op, const sct_place *place) {
  const sct_spec *spec = s->addressing->spec;
  const sct_operand *operand = s->addressing->op[op].op;
  const char *field = operand->record.fields[place->field].name;
  sct_str_printf(out, "%s%s%s of", operand->name, field[0] != '\0' ? "." : "", field);
  if (place->in_space) {
    sct_str_append(out, " element");
    for (int d = 0; d < spec->n_dims; d++) {
      if (!sct_spec_writes_once(spec, operand, d)) {
        sct_str_printf(out, " %s=%lld", spec->dims[d], (long long)place->idx[d]);
      }
    }
    return;
  }
  sct_str_append(out, " its own element ");
  for (int d = 0; d < operand->n_dims; d++) {
    sct_str_printf(out, "[%lld]", (long long)place->idx[d]);
  }
  if (operand->accumulate == SCT_REDUCE_NONE) {
    sct_str_append(out, ", which the kernel must leave alone");
  }
}

void sct_describe_difference(sct_verdict *out, const sct_shape *s, int op, int64_t byte,
                             const sct_place *place, const uint8_t *got, const uint8_t *want,
                             int poison) {
  const sct_operand *operand = s->addressing->op[op].op;
  SCT_SCOPED(sct_str) text = {0}, size = {0};
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
      const bool is_its = place->in_space || operand->accumulate != SCT_REDUCE_NONE;
      out->outcome = is_its ? SCT_OUT_WRONG_RESULT : SCT_OUT_OUT_OF_BOUNDS;
      sct_data_print(&text, field->type, lane, got);
      sct_str_append(&text, " instead of ");
      sct_data_print(&text, field->type, lane, want);
    }
  }
  snprintf(out->detail, sizeof out->detail, "%s", sct_str_c(&text));
}
