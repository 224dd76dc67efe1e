/* Draws: how much results change with inputs. The naive variant runs on inputs each of which is off
 * by a little, up or down at random; a candidate whose roundings differ comes as far from the
 * reference as these runs do, be it that values cancel, or that an exponential magnifies them. */
#include "measure_walk.h"

#include "ptx/ptx.h"

#include <math.h>
#include <string.h>

#define MOST_CHANGE 0.125

/* Between a value and the next one, relative. */
static double step_of(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  return ldexp(1, info->exponent_bits + 1 - info->bytes / info->lanes * 8);
}

double sct_shape_change(const sct_shape *s) {
  const sct_spec *spec = s->addressing->spec;
  double change = 0;
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    change = fmax(change, k >= spec->n_inputs ? sct_shape_tolerance(s, k) : 0);
    for (int f = 0; f < op->record.n_fields && k < spec->n_inputs; f++) {
      const sct_type type = op->record.fields[f].type;
      change = fmax(change, sct_type_get(type)->kind == SCT_KIND_FLOAT ? step_of(type) : 0);
    }
  }
  return fmin(change, MOST_CHANGE);
}

#define FEW_SUMMANDS 64

bool sct_shape_sums_few(const sct_shape *s, int op, const int64_t *idx) {
  const sct_spec *spec = s->addressing->spec;
  const sct_ragged *ragged = &spec->ragged;
  int64_t point[SCT_MAX_DIMS], n = 1;
  if (s->addressing->op[op].op->accumulate != SCT_REDUCE_NONE) {
    return s->n_elements <= FEW_SUMMANDS;
  }
  memcpy(point, idx, sizeof *idx * (size_t)spec->n_dims);
  for (int d = 0; d < spec->n_dims && n <= FEW_SUMMANDS; d++) {
    if (sct_spec_is_ragged(spec) && d == ragged->dim) {
      if (s->op[op].write_extent[ragged->row] == 1) {
        sct_shape_put_row(s, point);
      }
      const int64_t *offset = s->op[ragged->offsets].values + point[ragged->row];
      n *= sct_spec_combines_along(spec, d) ? offset[1] - offset[0] : 1;
    } else if (sct_spec_combines_along(spec, d)) {
      n *= spec->scans ? idx[d] + 1 : s->extent[d];
    }
  }
  return n <= FEW_SUMMANDS;
}

/* Where some elements have few summands. */
static bool some_are_few(const sct_shape *s) {
  const sct_spec *spec = s->addressing->spec;
  const int64_t first[SCT_MAX_DIMS] = {0};
  return sct_spec_is_ragged(spec) || sct_shape_sums_few(s, spec->n_inputs, first);
}

int sct_shape_rounding(const sct_shape *s, int n) {
  return !some_are_few(s) ? n + 1 : n % 3 == 0 ? SCT_PTX_UP : n % 3 == 1 ? SCT_PTX_DOWN : n + 1;
}

/* Round numbers and literals are what bodies compare with; half of them stay as they are. */
static bool is_exact(const sct_literals *literals, sct_type type, double x) {
  int exponent = 0;
  const double fraction = frexp(x, &exponent) / sqrt(step_of(type));
  bool exact = fraction == floor(fraction);
  for (int k = 0; k < literals->n && !exact; k++) {
    exact = fabs(fabs(x) / fabs((double)literals->value[k]) - 1) < step_of(type) / 2;
  }
  return exact;
}

/* literals: NULL: nothing is compared with, and what cancels is known to no digit. */
static void change_lane(uint8_t *lane, const sct_literals *literals, sct_type type, double change,
                        uint64_t number, int draw) {
  const double x = sct_data_float(type, lane);
  const uint64_t random = sct_mix64(number, (uint64_t)draw);
  const bool stays = literals && number % 2 == 0 && is_exact(literals, type, x);
  if (isfinite(x) && x != 0 && !stays) {
    const double by = fmax(change, 0.75 * step_of(type));
    sct_data_put_float(lane, type, x * (random >> 32 & 1 ? 1 + by : 1 - by));
  }
}

sct_status sct_image_change(uint8_t *image, const sct_shape *s, int op, int draw, double change,
                            sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
  const bool moves = s->addressing->spec->n_moves > 0;
  const sct_literals *const literals = moves ? NULL : &s->addressing->literals;
  int64_t offsets[SCT_PART];
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  sct_part p = sct_part_first(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; sct_part_next(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      const sct_type type = operand->record.fields[f].type;
      const sct_type_info *info = sct_type_get(type);
      if (info->kind != SCT_KIND_FLOAT) {
        continue;
      }
      if (!sct_walk_offsets(offsets, &walks[f], s, op, f, SCT_OWN, &p)) {
        return sct_walk_outside(s, op, err);
      }
      for (int k = 0; k < p.n * info->lanes; k++) {
        uint8_t *const lane =
            image + offsets[k / info->lanes] + k % info->lanes * (info->bytes / info->lanes);
        const uint64_t number = (uint64_t)(p.linear * info->lanes + k);
        change_lane(lane, literals, type, change,
                    sct_mix64(sct_data_key(s->addressing->seed, op, f), number), draw);
      }
    }
  }
  return SCT_OK;
}
