/* Is an output right? Bit for bit, or value by value: within a tolerance, and any NaN for a NaN. */
#include "measure_data.h"
#include "measure_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDING 1e-3     /* what is further off than this share has another cause */
#define LEAST_SCALE   0x1p-100 /* the least tolerance, 2^-22, of it is still above denormals */
#define MORE_SPREAD   4        /* times what some draws showed */

/* How near a value must come. Where all values are of one magnitude: within the tolerance of itself
 * or of `usual`, the median magnitude of its field, whichever is greater, as what cancels keeps the
 * rounding errors of what it was made of. Where they are of many: within the tolerance of itself,
 * and of what inputs that are off by the tolerance make of it (draws); what these make infinite or
 * finite may be either. In either case by what roundings of its own make of it, where these are
 * known, and by one more to its type. Above 1 rounding leaves nothing of a sum. Any NaN equals any
 * other where values are computed: compilers choose its bits. */
typedef struct criterion {
  double tolerance, usual;
  bool computed;
  const sct_draws *draws; /* NULL: values are of one magnitude */
  const sct_draws *own;   /* other runs of what is compared; NULL: none */
  const sct_shape *shape;
  int op;
  bool few; /* what is compared is a sum of few */
} criterion;

/* By how much a value, which is at this byte, changes in draws; infinite: by anything. */
static double spread_of(const criterion *j, const sct_draws *draws, sct_type type, double value,
                        int64_t byte) {
  double spread = 0;
  for (int k = 0; draws && k < draws->n; k++) {
    if (!j->few && sct_shape_rounding(j->shape, k) < 0) {
      continue;
    }
    const double drawn = sct_data_float(type, draws->image[k][j->op] + byte);
    const bool alike =
        isfinite(value) ? isfinite(drawn) : drawn == value || (isnan(drawn) && isnan(value));
    spread = !alike ? INFINITY : isfinite(value) ? fmax(spread, fabs(drawn - value)) : spread;
  }
  return spread;
}

/* From a finite value to the next one of its type: two that are rounded to it may be that far
 * apart, however near they were before. */
static double spacing(sct_type type, double value) {
  const sct_type_info *info = sct_type_get(type);
  const int digits = info->bytes * 8 / info->lanes - 1 - info->exponent_bits;
  const uint64_t one = 1;
  const double least = sct_data_float(type, &one);
  return value == 0 ? least : fmax(ldexp(1, ilogb(value) - digits), least);
}

static bool is_right(const criterion *j, sct_type type, double got, double want, int64_t byte) {
  if (j->tolerance > 1 || got == want || (j->computed && isnan(want) && isnan(got))) {
    return true;
  }
  const bool spreads = j->tolerance > 0 && j->computed;
  const double spread = spreads ? spread_of(j, j->draws, type, want, byte) : 0;
  const double own = spreads ? spread_of(j, j->own, type, got, byte) : 0;
  const double of_inputs = spread > 0 ? j->tolerance * spread / j->draws->change : 0;
  const double share = MORE_SPREAD * (of_inputs + own);
  if (share > 0 && !(share < fabs(want))) {
    return true; /* not a digit of it is known */
  }
  const double scale = fmax(fmax(fabs(want), j->usual), LEAST_SCALE);
  return isfinite(got) && isfinite(want) &&
         fabs(got - want) <=
             j->tolerance * scale + share + (j->tolerance > 0 ? spacing(type, want) : 0);
}

/* The first lane that is not right; -1: none. */
static int bad_lane(const criterion *j, sct_type type, const uint8_t *got, const uint8_t *want,
                    int64_t offset) {
  const sct_type_info *info = sct_type_get(type);
  const int bytes = info->bytes / info->lanes;
  for (int lane = 0; lane < info->lanes; lane++) {
    const int64_t byte = offset + lane * bytes;
    const uint8_t *g = got + byte, *w = want + byte;
    if (memcmp(g, w, (size_t)bytes) == 0) {
      continue;
    }
    const double a = info->kind == SCT_KIND_FLOAT ? sct_data_float(type, g) : 0;
    const double b = info->kind == SCT_KIND_FLOAT ? sct_data_float(type, w) : 0;
    const bool by_value = info->kind == SCT_KIND_FLOAT && (j->tolerance > 0 || isnan(b));
    if (!by_value || !is_right(j, type, a, b, byte)) {
      return lane;
    }
  }
  return -1;
}

double sct_median_magnitude(double *values, int64_t n) {
  int64_t some = 0;
  for (int64_t k = 0; k < n; k++) {
    values[some] = fabs(values[k]);
    some += isfinite(values[k]);
  }
  sct_sort_doubles(values, (size_t)some);
  return some > 0 ? values[some / 2] : 0;
}

/* Points may all fall on one element, whose sum is larger than what the others keep: what is
 * accumulated is measured by its largest value. And adding atomically may flush what is denormal
 * (PTX ISA, atom.add.f32). */

double sct_usual_of(const sct_operand *op, double *values, int64_t n) {
  double largest = LEAST_SCALE;
  if (op->accumulate == SCT_REDUCE_NONE) {
    return sct_median_magnitude(values, n);
  }
  for (int64_t k = 0; k < n; k++) {
    largest = isfinite(values[k]) ? fmax(largest, fabs(values[k])) : largest;
  }
  return largest;
}

int sct_usual_offsets(const sct_shape *s, int op, int field, int64_t offsets[SCT_USUAL_VALUES]) {
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_ADDRESSING_INPUTS] = {0};
  const int64_t step = 1 + s->op[op].n_written / SCT_USUAL_VALUES;
  int n = 0;
  for (int64_t linear = 0; linear < s->op[op].n_written; linear += step) {
    int64_t rest = linear;
    for (int d = s->op[op].write_dims - 1; d >= 0; d--) {
      idx[d] = rest % s->op[op].write_extent[d];
      rest /= s->op[op].write_extent[d];
    }
    sct_shape_written_inputs(s, op, idx, values);
    offsets[n++] = sct_expr_program_run(sct_shape_written(s, op, field), values);
  }
  return n;
}

double sct_usual_magnitude(const sct_shape *s, int op, int field, const uint8_t *want) {
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_type type = operand->record.fields[field].type;
  const sct_type_info *info = sct_type_get(type);
  int64_t offsets[SCT_USUAL_VALUES], n = 0;
  if (info->kind != SCT_KIND_FLOAT || s->op[op].n_written == 0) {
    return 0;
  }
  const int n_offsets = sct_usual_offsets(s, op, field, offsets);
  SCT_OWNED double *all = sct_alloc(sizeof *all * (size_t)n_offsets * (size_t)info->lanes);
  for (int k = 0; k < n_offsets; k++) {
    for (int lane = 0; lane < info->lanes; lane++) {
      all[n++] = sct_data_float(type, want + offsets[k] + lane * (info->bytes / info->lanes));
    }
  }
  return sct_usual_of(operand, all, n);
}

bool sct_shape_computes(const sct_shape *s, int op) {
  const sct_operand *o = s->addressing->op[op].op;
  return s->addressing->spec->n_moves == 0 || sct_reduce_rounds(o->reduce) ||
         sct_reduce_rounds(o->scan) || o->accumulate == SCT_REDUCE_SUM;
}

/* First byte at which a written value is not right; -1: none. */
static void first_value(const sct_shape *s, int op, const uint8_t *got, const uint8_t *want,
                        double tolerance, const sct_draws *draws, const sct_draws *own,
                        int64_t *byte) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_ADDRESSING_INPUTS] = {0};
  criterion criteria[SCT_MAX_FIELDS] = {{0}};
  bool known[SCT_MAX_FIELDS] = {false}; /* what is usual: asked for by the first that is off */
  *byte = -1;
  for (int64_t linear = 0; linear < s->op[op].n_written && *byte < 0; linear++) {
    sct_shape_written_inputs(s, op, idx, values);
    for (int f = 0; f < p->op->record.n_fields && *byte < 0; f++) {
      const int64_t offset = sct_expr_program_run(sct_shape_written(s, op, f), values);
      const sct_type type = p->op->record.fields[f].type;
      criterion *const c = &criteria[f];
      int lane = bad_lane(c, type, got, want, offset);
      if (lane >= 0 && !known[f]) {
        *c = (criterion){.tolerance = tolerance,
                         .usual = tolerance > 0 && !draws ? sct_usual_magnitude(s, op, f, want) : 0,
                         .computed = sct_shape_computes(s, op),
                         .draws = draws,
                         .own = own,
                         .shape = s,
                         .op = op};
        known[f] = true;
      }
      if (lane >= 0) {
        c->few = (draws || own) && sct_shape_sums_few(s, op, idx);
        lane = bad_lane(c, type, got, want, offset);
        c->few = false;
      }
      *byte =
          lane < 0 ? -1 : offset + lane * (sct_type_get(type)->bytes / sct_type_get(type)->lanes);
    }
    (void)sct_next_index(idx, s->op[op].write_extent, s->op[op].write_dims);
  }
}

/* First byte that must be equal and is not; -1: none. Written bytes compared by value do not
 * count here. */
static int64_t first_byte(const sct_shape *s, int op, const uint8_t *got, const uint8_t *want,
                          const uint8_t *flags, bool by_value) {
  const bool gaps_are_free = s->addressing->op[op].layout->owns_gaps;
  for (int n = 0; n < sct_shape_n_spans(s, op); n++) {
    const sct_span span = sct_shape_span(s, op, n);
    for (int64_t k = span.from; k < span.to; k++) {
      if (got[k] != want[k] && !(flags[k] == 0 && gaps_are_free) &&
          !(by_value && (flags[k] & SCT_BYTE_WRITTEN))) {
        return k;
      }
    }
  }
  return -1;
}

/* A value that is off by little is more often rounded another way, as a sum in another order or a
 * product that the compiler fused, than wrong: the sentence then ends with the tolerance that would
 * take it. Where one of two values is not finite, a product may have overflowed that was fused, and
 * so never rounded, in the other kernel. */
static void hint_at_rounding(sct_verdict *out, const sct_shape *s, int op, const sct_place *place,
                             int64_t byte, const uint8_t *got, const uint8_t *want, bool by_value) {
  const sct_type type = s->addressing->op[op].op->record.fields[place->field].type;
  const sct_type_info *info = sct_type_get(type);
  if (info->kind != SCT_KIND_FLOAT || !by_value) {
    return;
  }
  const double a = sct_data_float(type, got + byte), b = sct_data_float(type, want + byte);
  const double scale = fmax(fabs(b), sct_usual_magnitude(s, op, place->field, want));
  const double off = fabs(a - b) / scale;
  const size_t used = strlen(out->detail), room = sizeof out->detail - used;
  const char *const body = s->addressing->spec->body;
  const bool may_fuse = strpbrk(body, "*") && strpbrk(body, "+-");
  if (off > 0 && off <= MOST_ROUNDING) {
    snprintf(out->detail + used, room, "; %s`tolerance = %g` in the spec accepts this difference",
             may_fuse ? "compilers fuse products and sums: write `fmaf(x, y, z)` (`fma` of "
                        "doubles) in the body; or, if rounding may differ, "
                      : "if rounding may differ, ",
             pow(10, ceil(log10(off))));
  } else if (!(isfinite(a) && isfinite(b)) && may_fuse) {
    snprintf(out->detail + used, room,
             "; if a product overflowed that another kernel fused with a sum, `fmaf(x, y, z)` "
             "(`fma` of doubles) in the body computes the same in all");
  }
}

static bool are_equal(const sct_shape *s, int op, const uint8_t *got, const uint8_t *want) {
  bool equal = true;
  for (int k = 0; k < sct_shape_n_spans(s, op) && equal; k++) {
    const sct_span span = sct_shape_span(s, op, k);
    equal = memcmp(got + span.from, want + span.from, (size_t)(span.to - span.from)) == 0;
  }
  return equal;
}

void sct_check_output(sct_verdict *out, const sct_shape *s, int op, const uint8_t *got,
                      const uint8_t *want, const uint8_t *flags, int poison, double tolerance,
                      const sct_draws *draws, const sct_draws *own) {
  const bool by_value = tolerance > 0 || s->addressing->spec->n_moves == 0;
  if (are_equal(s, op, got, want)) {
    return;
  }
  int64_t byte = first_byte(s, op, got, want, flags, by_value);
  if (byte < 0 && by_value) {
    first_value(s, op, got, want, tolerance, draws, own, &byte);
  }
  if (byte >= 0) {
    sct_place place;
    sct_find_byte(s, op, byte, &place);
    sct_describe_difference(out, s, op, byte, &place, got + place.offset, want + place.offset,
                            poison);
    if (out->outcome == SCT_OUT_WRONG_RESULT) {
      hint_at_rounding(out, s, op, &place, byte, got, want, by_value);
    }
  }
}
