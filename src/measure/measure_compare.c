/* Is an output right? Bit for bit, or value by value within a relative tolerance. */
#include "measure_data.h"
#include "measure_session.h"

#include <math.h>
#include <string.h>

/* The first lane that is off by more than the tolerance; -1: none. NaN never passes. */
static int bad_lane(sct_type type, const uint8_t *got, const uint8_t *want, double tolerance) {
  const sct_type_info *info = sct_type_get(type);
  const int bytes = info->bytes / info->lanes;
  if (info->kind != SCT_KIND_FLOAT) {
    return memcmp(got, want, (size_t)info->bytes) == 0 ? -1 : 0;
  }
  for (int lane = 0; lane < info->lanes; lane++) {
    const double g = sct_data_float(type, got + lane * bytes);
    const double w = sct_data_float(type, want + lane * bytes);
    const bool near = g == w || fabs(g - w) <= tolerance * fabs(w);
    if (!near || isnan(g) || isnan(w)) {
      return lane;
    }
  }
  return -1;
}

/* First byte at which a written value is off by more than the tolerance; -1: none. */
static int64_t first_value(const sct_shape *s, int op, const uint8_t *got, const uint8_t *want,
                           double tolerance) {
  const sct_plan_operand *p = &s->plan->op[op];
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_PLAN_INPUTS] = {0};
  for (int64_t linear = 0; linear < s->n_written; linear++) {
    sct_shape_inputs(s, idx, values);
    for (int f = 0; f < p->op->record.n_fields; f++) {
      const int64_t offset = sct_expr_program_run(p->offset[f], values);
      const sct_type type = p->op->record.fields[f].type;
      const int lane = bad_lane(type, got + offset, want + offset, tolerance);
      if (lane >= 0) {
        return offset + lane * (sct_type_get(type)->bytes / sct_type_get(type)->lanes);
      }
    }
    (void)sct_next_index(idx, s->write_extent, s->plan->spec->n_dims);
  }
  return -1;
}

/* First byte that must be equal and is not; -1: none. With a tolerance, written bytes are judged by
 * value, so they do not count here. */
static int64_t first_byte(const sct_shape *s, int op, const uint8_t *got, const uint8_t *want,
                          const uint8_t *flags, bool by_value) {
  const bool gaps_are_free = s->plan->op[op].layout->owns_gaps;
  for (int64_t k = 0; k < s->op[op].bytes; k++) {
    if (got[k] != want[k] && !(flags[k] == 0 && gaps_are_free) &&
        !(by_value && (flags[k] & SCT_BYTE_WRITTEN))) {
      return k;
    }
  }
  return -1;
}

void sct_check_output(sct_verdict *out, const sct_shape *s, int op, const uint8_t *got,
                      const uint8_t *want, const uint8_t *flags, uint8_t poison, double tolerance) {
  const size_t bytes = (size_t)s->op[op].bytes;
  if (tolerance == 0 && memcmp(got, want, bytes) == 0) {
    return;
  }
  int64_t byte = first_byte(s, op, got, want, flags, tolerance > 0);
  if (byte < 0 && tolerance > 0) {
    byte = first_value(s, op, got, want, tolerance);
  }
  if (byte < 0) {
    return;
  }
  sct_place place;
  sct_find_byte(s, op, byte, &place);
  sct_describe_difference(out, s, op, byte, &place, got + place.offset, want + place.offset,
                          poison);
}
