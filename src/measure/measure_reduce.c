/* Reductions on the host: what a kernel that only moves data into sums, maxima, variances and the
 * like, scans or accumulates it, must give. Floats are computed with in long double, so that this
 * is nearer to the truth than any order of additions on a device; integers wrap as theirs do. */
#include "measure_data.h"

#include <math.h>
#include <string.h>

typedef struct fold {
  sct_reduce reduce;
  sct_type type;
  const sct_type_info *info;
  long double real;  /* the sum, product or extreme; of a variance: the mean */
  long double other; /* the squares of what differs from it; the exponentials below the maximum */
  int64_t n;         /* values */
  uint64_t bits;     /* of an integer, sign-extended if it has a sign */
  int64_t index;     /* of the element that has this extreme; -1: none yet */
} fold;

static bool is_max(const fold *f) {
  return f->reduce == SCT_REDUCE_MAX || f->reduce == SCT_REDUCE_ARGMAX ||
         f->reduce == SCT_REDUCE_LOGSUMEXP || f->reduce == SCT_REDUCE_SOFTMAX_SUM;
}

static bool orders(const fold *f) {
  return is_max(f) || f->reduce == SCT_REDUCE_MIN || f->reduce == SCT_REDUCE_ARGMIN;
}

static uint64_t integer_of(const fold *f, const void *value) {
  const int unused = 64 - f->info->bytes * 8;
  uint64_t bits = 0;
  memcpy(&bits, value, (size_t)f->info->bytes);
  return f->info->kind == SCT_KIND_INT ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

/* What no value at all gives: 0, 1, or the lowest or highest of the type. */
static void start(fold *f) {
  const int bits = f->info->bytes * 8;
  const bool has_sign = f->info->kind == SCT_KIND_INT;
  const uint64_t highest = UINT64_MAX >> (64 - bits + has_sign);
  const uint64_t lowest = has_sign ? ~highest : 0;
  const bool multiplies = f->reduce == SCT_REDUCE_PRODUCT;
  f->real = !orders(f) ? multiplies : is_max(f) ? -INFINITY : INFINITY;
  f->bits = !orders(f) ? multiplies : is_max(f) ? lowest : highest;
  f->other = 0;
  f->n = 0;
  f->index = -1;
}

/* The greater of two, as the device has it: NaN is passed over, and 0 is above -0. */
static long double greater(long double x, long double y) {
  return isnan(y) || x > y || (x == y && !signbit(x)) ? x : y;
}

/* Equal ones are not subtracted, as they may be infinite. */
static void add_exponential(fold *f, long double v) {
  const long double scale = f->real == v ? 1 : expl(-fabsl(f->real - v));
  f->other = f->real < v ? f->other * scale + 1 : f->other + scale;
  f->real = greater(f->real, v);
}

static void add_real(fold *f, double value) {
  const long double v = (long double)value, off = v - f->real;
  f->n++;
  switch (f->reduce) {
  case SCT_REDUCE_SUM:
  case SCT_REDUCE_MEAN:
    f->real += v;
    break;
  case SCT_REDUCE_PRODUCT:
    f->real *= v;
    break;
  case SCT_REDUCE_VARIANCE:
    f->real += off / (long double)f->n;
    f->other += off * (v - f->real);
    break;
  case SCT_REDUCE_LOGSUMEXP:
  case SCT_REDUCE_SOFTMAX_SUM:
    add_exponential(f, v);
    break;
  case SCT_REDUCE_MAX:
    f->real = greater(f->real, v);
    break;
  default:
    f->real = -greater(-f->real, -v);
  }
}

/* What all values together give. */
static double result_of(const fold *f) {
  switch (f->reduce) {
  case SCT_REDUCE_MEAN:
    return (double)(f->real / (long double)f->n);
  case SCT_REDUCE_VARIANCE:
    return (double)(f->other / (long double)f->n);
  case SCT_REDUCE_LOGSUMEXP:
    return (double)(f->real + logl(f->other));
  case SCT_REDUCE_SOFTMAX_SUM:
    return (double)f->other;
  default:
    return (double)f->real;
  }
}

static bool is_above(const fold *f, uint64_t value) {
  const uint64_t flip = f->info->kind == SCT_KIND_INT ? (uint64_t)1 << 63 : 0; /* orders signs */
  return (value ^ flip) > (f->bits ^ flip);
}

static void add_integer(fold *f, uint64_t value) {
  const bool above = is_above(f, value);
  switch (f->reduce) {
  case SCT_REDUCE_SUM:
    f->bits += value;
    break;
  case SCT_REDUCE_PRODUCT:
    f->bits *= value;
    break;
  case SCT_REDUCE_AND:
    f->bits &= value;
    break;
  case SCT_REDUCE_OR:
    f->bits |= value;
    break;
  case SCT_REDUCE_XOR:
    f->bits ^= value;
    break;
  default:
    f->bits = above == (f->reduce == SCT_REDUCE_MAX) ? value : f->bits;
  }
}

static void add_value(fold *f, const void *value) {
  if (f->info->kind == SCT_KIND_FLOAT) {
    add_real(f, sct_data_float(f->type, value));
  } else {
    add_integer(f, integer_of(f, value));
  }
}

/* The next element in the order of their indices: of equals the first stays. NaN is passed over. */
static void find_extreme(fold *f, const void *value, int64_t index) {
  const bool is_real = f->info->kind == SCT_KIND_FLOAT;
  const long double real = is_real ? (long double)sct_data_float(f->type, value) : 0;
  const uint64_t bits = is_real ? 0 : integer_of(f, value);
  const bool same = is_real ? real == f->real : bits == f->bits;
  const bool above = is_real ? real > f->real : is_above(f, bits);
  const bool below = is_real ? real < f->real : !same && !above;
  if ((is_max(f) ? above : below) || (same && f->index < 0)) {
    f->real = real;
    f->bits = bits;
    f->index = index;
  }
}

static void put_fold(uint8_t *to, const fold *f) {
  if (f->info->kind == SCT_KIND_FLOAT) {
    sct_data_put_float(to, f->type, result_of(f));
  } else {
    memcpy(to, &f->bits, (size_t)f->info->bytes);
  }
}

/* Element number `index` of those that become one; of an index its place counts, too. */
static void add_element(fold *f, const void *value, int64_t index, bool is_arg) {
  if (is_arg) {
    find_extreme(f, value, index);
  } else {
    add_value(f, value);
  }
}

/* What they come to, as an output of so many bytes holds it. */
static void put_result(uint8_t *to, const fold *f, int64_t bytes, bool is_arg) {
  if (is_arg) {
    memcpy(to, &f->index, (size_t)bytes);
  } else {
    put_fold(to, f);
  }
}

/* Where the elements of an output begin and end along each dimension. */
typedef struct range {
  int64_t from[SCT_MAX_DIMS], to[SCT_MAX_DIMS];
} range;

/* false: there are none. */
static bool find_range(range *out, const sct_shape *s, const int64_t *kept) {
  const sct_spec *spec = s->addressing->spec;
  bool any = true;
  for (int d = 0; d < spec->n_dims; d++) {
    out->from[d] = spec->reduced[d] ? 0 : kept[d];
    out->to[d] = spec->reduced[d] ? s->extent[d] : kept[d] + 1;
    if (sct_spec_is_ragged(spec) && d == spec->ragged.dim) {
      const int64_t *offsets = &s->op[spec->ragged.offsets].values[kept[spec->ragged.row]];
      out->from[d] = offsets[0];
      out->to[d] = offsets[1];
    }
    any = any && out->from[d] < out->to[d];
  }
  return any;
}

/* false after the last. */
static bool next_reduced(const range *of, int n_dims, int64_t *idx) {
  for (int d = n_dims - 1; d >= 0; d--) {
    if (++idx[d] < of->to[d]) {
      return true;
    }
    idx[d] = of->from[d];
  }
  return false;
}

/* The number of an element among those that become one. */
static int64_t number_of(const sct_shape *s, const int64_t *idx) {
  const sct_spec *spec = s->addressing->spec;
  int64_t number = 0;
  for (int d = 0; d < spec->n_dims; d++) {
    number = spec->reduced[d] ? number * s->extent[d] + idx[d] : number;
  }
  return number;
}

sct_status sct_image_reduced(uint8_t *to, const sct_shape *s, const sct_move *move,
                             const uint8_t *input, const int64_t *kept, sct_error *err) {
  const sct_spec *spec = s->addressing->spec;
  const sct_field *field = &spec->operands[move->in].record.fields[move->in_field];
  const bool is_arg = sct_reduce_is_arg(spec->operands[move->out].reduce);
  fold f = {.reduce = spec->operands[move->out].reduce,
            .type = field->type,
            .info = sct_type_get(field->type)};
  int64_t idx[SCT_MAX_DIMS] = {0}, values[SCT_ADDRESSING_INPUTS] = {0};
  range of;
  bool more = find_range(&of, s, kept);
  if (spec->operands[move->out].is_inout && !more) {
    return SCT_OK; /* it keeps what it held */
  }
  memcpy(idx, of.from, sizeof *idx * (size_t)spec->n_dims);
  start(&f);
  if (spec->operands[move->out].is_inout) {
    add_value(&f, to);
  }
  for (; more; more = next_reduced(&of, spec->n_dims, idx)) {
    sct_shape_inputs(s, idx, values);
    const int64_t from =
        sct_expr_program_run(s->addressing->op[move->in].offset[move->in_field], values);
    if (from < 0 || from > s->op[move->in].bytes - field->bytes) {
      return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                      spec->operands[move->in].name);
    }
    add_element(&f, input + from, number_of(s, idx), is_arg);
  }
  put_result(to, &f, spec->operands[move->out].record.fields[move->out_field].bytes, is_arg);
  return SCT_OK;
}

/* ---- scanned outputs ---- */

/* The line through idx, whose index along the scanned dimension is 0. */
static sct_status scan_line(uint8_t *image, const sct_shape *s, const sct_move *move,
                            const uint8_t *input, int64_t *idx, sct_error *err) {
  const sct_spec *spec = s->addressing->spec;
  const sct_operand *out = &spec->operands[move->out];
  const sct_field *in = &spec->operands[move->in].record.fields[move->in_field];
  const int64_t bytes = out->record.fields[move->out_field].bytes;
  const bool is_arg = sct_reduce_is_arg(out->scan);
  const sct_expr_program *read = s->addressing->op[move->in].offset[move->in_field];
  const sct_expr_program *written = s->addressing->op[move->out].offset[move->out_field];
  fold f = {.reduce = out->scan, .type = in->type, .info = sct_type_get(in->type)};
  start(&f);
  for (int64_t k = 0; k < s->extent[spec->scan_dim]; k++) {
    int64_t values[SCT_ADDRESSING_INPUTS] = {0};
    idx[spec->scan_dim] = k;
    sct_shape_inputs(s, idx, values);
    const int64_t from = sct_expr_program_run(read, values);
    const int64_t to = sct_expr_program_run(written, values);
    if (from < 0 || from > s->op[move->in].bytes - f.info->bytes || to < 0 ||
        to > s->op[move->out].bytes - bytes) {
      return sct_fail(err, SCT_EINTERNAL, "an element of '%s' or '%s' lies outside its array",
                      spec->operands[move->in].name, out->name);
    }
    if (out->exclusive) {
      put_result(image + to, &f, bytes, is_arg);
    }
    add_element(&f, input + from, k, is_arg);
    if (!out->exclusive) {
      put_result(image + to, &f, bytes, is_arg);
    }
  }
  idx[spec->scan_dim] = 0;
  return SCT_OK;
}

sct_status sct_image_scan(uint8_t *image, const sct_shape *s, int op, uint8_t *const *inputs,
                          sct_error *err) {
  const sct_spec *spec = s->addressing->spec;
  int64_t lines[SCT_MAX_DIMS];
  memcpy(lines, s->extent, sizeof *lines * (size_t)spec->n_dims);
  lines[spec->scan_dim] = 1;
  for (int k = 0; k < spec->n_moves; k++) {
    const sct_move *move = &spec->moves[k];
    int64_t idx[SCT_MAX_DIMS] = {0};
    bool more = move->out == op && s->n_elements > 0;
    for (; more; more = sct_next_index(idx, lines, spec->n_dims)) {
      SCT_TRY(scan_line(image, s, move, inputs[move->in], idx, err));
    }
  }
  return SCT_OK;
}

/* ---- accumulated outputs ---- */

/* Where the move's value for the element idx lies, NULL: it is a number; -1 at *place: outside. */
static const uint8_t *find_value(const sct_shape *s, const sct_move *move, uint8_t *const *inputs,
                                 const int64_t *idx, int64_t *place) {
  int64_t values[SCT_ADDRESSING_INPUTS] = {0};
  sct_shape_inputs(s, idx, values);
  *place = sct_shape_place(s, move->out, values);
  if (move->in < 0) {
    return NULL;
  }
  const int64_t bytes = s->addressing->op[move->in].op->record.fields[move->in_field].bytes;
  const int64_t from =
      sct_expr_program_run(s->addressing->op[move->in].offset[move->in_field], values);
  *place = from < 0 || from > s->op[move->in].bytes - bytes ? -1 : *place;
  return *place < 0 ? NULL : inputs[move->in] + from;
}

/* Adds what all points bring to folds[], by the elements of the array that they fall on. */
static sct_status add_points(fold *folds, const sct_shape *s, const sct_move *move,
                             uint8_t *const *inputs, sct_error *err) {
  int64_t idx[SCT_MAX_DIMS] = {0}, place = 0;
  bool more = s->n_elements > 0;
  for (; more; more = sct_next_index(idx, s->extent, s->addressing->spec->n_dims)) {
    const uint8_t *value = find_value(s, move, inputs, idx, &place);
    if (place < 0) {
      return sct_fail(err, SCT_EINTERNAL, "a point falls outside of '%s'",
                      s->addressing->op[move->out].op->name);
    }
    fold *f = &folds[place];
    if (f->info->kind == SCT_KIND_FLOAT) {
      add_real(f, value ? sct_data_float(f->type, value) : (double)move->number);
    } else {
      add_integer(f, value ? integer_of(f, value) : (uint64_t)move->number);
    }
  }
  return SCT_OK;
}

/* Reads what the elements of a field hold into folds[], or stores it. */
static void exchange_folds(fold *folds, const sct_shape *s, int op, int field, uint8_t *image,
                           bool stores) {
  const sct_operand *operand = s->addressing->op[op].op;
  int64_t idx[SCT_MAX_DIMS] = {0}, inputs[SCT_ADDRESSING_INPUTS] = {0};
  for (int64_t k = 0; k < s->op[op].count; k++) {
    fold *f = &folds[k];
    sct_shape_written_inputs(s, op, idx, inputs);
    uint8_t *at = image + sct_expr_program_run(sct_shape_written(s, op, field), inputs);
    const bool is_real = f->info->kind == SCT_KIND_FLOAT;
    if (stores && is_real) {
      sct_data_put_float(at, f->type, (double)f->real);
    } else if (stores) {
      memcpy(at, &f->bits, (size_t)f->info->bytes);
    } else if (is_real) {
      f->real = (long double)sct_data_float(f->type, at);
    } else {
      f->bits = integer_of(f, at);
    }
    (void)sct_next_index(idx, s->op[op].extent, operand->n_dims);
  }
}

sct_status sct_image_accumulate(uint8_t *image, const sct_shape *s, int op, uint8_t *const *inputs,
                                sct_error *err) {
  const sct_spec *spec = s->addressing->spec;
  sct_status status = SCT_OK;
  for (int k = 0; k < spec->n_moves && status == SCT_OK; k++) {
    const sct_move *move = &spec->moves[k];
    if (move->out != op) {
      continue;
    }
    const sct_type type = spec->operands[op].record.fields[move->out_field].type;
    SCT_OWNED fold *folds = sct_alloc(sizeof *folds * (size_t)(s->op[op].count + 1));
    for (int64_t n = 0; n < s->op[op].count; n++) {
      folds[n] = (fold){.reduce = spec->operands[op].accumulate,
                        .type = type,
                        .info = sct_type_get(type),
                        .index = -1};
    }
    exchange_folds(folds, s, op, move->out_field, image, false);
    status = add_points(folds, s, move, inputs, err);
    exchange_folds(folds, s, op, move->out_field, image, true);
  }
  return status;
}
