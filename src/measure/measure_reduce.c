/* Reductions on the host: what a kernel that only moves data into sums, maxima and minima must
 * give. Floats are summed in long double, so that this is nearer to the truth than any order of
 * additions on a device; integers wrap as theirs do. */
#include "measure_data.h"

#include <math.h>
#include <string.h>

typedef struct fold {
  sct_reduce reduce;
  sct_type type;
  const sct_type_info *info;
  long double real;
  uint64_t bits; /* of an integer, sign-extended if it has a sign */
} fold;

static uint64_t integer_of(const fold *f, const void *value) {
  const int unused = 64 - f->info->bytes * 8;
  uint64_t bits = 0;
  memcpy(&bits, value, (size_t)f->info->bytes);
  return f->info->kind == SCT_KIND_INT ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* What no value at all gives: 0, or the lowest or highest of the type. */
static void start(fold *f) {
  const int bits = f->info->bytes * 8;
  const bool has_sign = f->info->kind == SCT_KIND_INT;
  const uint64_t highest = UINT64_MAX >> (64 - bits + has_sign);
  const uint64_t lowest = has_sign ? ~highest : 0;
  f->real = f->reduce == SCT_REDUCE_SUM ? 0 : f->reduce == SCT_REDUCE_MAX ? -INFINITY : INFINITY;
  f->bits = f->reduce == SCT_REDUCE_SUM ? 0 : f->reduce == SCT_REDUCE_MAX ? lowest : highest;
}

/* The greater of two, as the device has it: NaN is passed over, and 0 is above -0. */
static long double greater(long double x, long double y) {
  return isnan(y) || x > y || (x == y && !signbit(x)) ? x : y;
}

static void add_real(fold *f, double value) {
  const long double v = (long double)value;
  f->real = f->reduce == SCT_REDUCE_SUM   ? f->real + v
            : f->reduce == SCT_REDUCE_MAX ? greater(f->real, v)
                                          : -greater(-f->real, -v);
}

static void add_integer(fold *f, uint64_t value) {
  const uint64_t flip = f->info->kind == SCT_KIND_INT ? (uint64_t)1 << 63 : 0; /* orders signs */
  const bool above = (value ^ flip) > (f->bits ^ flip);
  if (f->reduce == SCT_REDUCE_SUM) {
    f->bits += value;
  } else if (above == (f->reduce == SCT_REDUCE_MAX)) {
    f->bits = value;
  }
}

/* Steps the reduced dimensions only; false after the last. */
static bool next_reduced(const sct_shape *s, int64_t *idx) {
  const sct_spec *spec = s->plan->spec;
  for (int d = spec->n_dims - 1; d >= 0; d--) {
    if (spec->reduced[d] && ++idx[d] < s->extent[d]) {
      return true;
    }
    idx[d] = spec->reduced[d] ? 0 : idx[d];
  }
  return false;
}

sct_status sct_image_reduced(uint8_t *to, const sct_shape *s, const sct_move *move,
                             const uint8_t *input, const int64_t *kept, sct_error *err) {
  const sct_spec *spec = s->plan->spec;
  const sct_field *field = &spec->operands[move->out].record.fields[move->out_field];
  fold f = {.reduce = spec->operands[move->out].reduce,
            .type = field->type,
            .info = sct_type_get(field->type)};
  const bool is_real = f.info->kind == SCT_KIND_FLOAT;
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_PLAN_INPUTS] = {0};
  memcpy(idx, kept, sizeof *idx * (size_t)spec->n_dims);
  start(&f);
  for (bool more = s->n_elements > 0; more; more = next_reduced(s, idx)) {
    sct_shape_inputs(s, idx, values);
    const int64_t from = sct_expr_program_run(s->plan->op[move->in].offset[move->in_field], values);
    if (from < 0 || from > s->op[move->in].bytes - field->bytes) {
      return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                      spec->operands[move->in].name);
    }
    if (is_real) {
      add_real(&f, sct_data_float(f.type, input + from));
    } else {
      add_integer(&f, integer_of(&f, input + from));
    }
  }
  if (is_real) {
    sct_data_put_float(to, f.type, (double)f.real);
  } else {
    memcpy(to, &f.bits, (size_t)field->bytes);
  }
  return SCT_OK;
}
