/* Kernels that reduce: outputs that lack some of the kernel's dimensions and say how the values of
 * the elements that meet in one place become one. */
#include <math.h>
#include <string.h>

#include "spec/spec_internal.h"

static const char *const names[] = {
#define SCT_REDUCE(id, name) name,
#include "spec_reduce.def"
#undef SCT_REDUCE
};

const char *sct_reduce_name(sct_reduce reduce) {
  return reduce == SCT_REDUCE_NONE ? NULL : names[reduce - 1];
}

bool sct_reduce_find(sct_reduce *out, const char *name) {
  const int k = sct_names_find(SCT_NAMES(names, SCT_COUNT(names)), name);
  if (k >= 0) {
    *out = (sct_reduce)(k + 1);
  }
  return k >= 0;
}

/* ---- what a kernel that reduces must be ---- */

static bool has_dim(const sct_operand *op, const char *name) {
  return sct_names_find(SCT_NAMES(op->dims, op->n_dims), name) >= 0;
}

static sct_status check_alone(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const sct_operand *first = &spec->operands[spec->n_inputs];
  if (!op->is_output && op->reduce != SCT_REDUCE_NONE) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s' is an input; reduce = \"%s\" belongs to an output", op->name,
                            sct_reduce_name(op->reduce));
  }
  if (op->is_inout && !op->is_output) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s' is an input; an array that is updated in place belongs to "
                            "outputs, with inout = true, and not in inputs",
                            op->name);
  }
  if (op->is_inout && sct_reduce_is_arg(op->reduce)) {
    const char *how = sct_reduce_name(op->reduce);
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is an index (%s) and inout, but an index that it holds "
                            "does not say which value was found there; leave inout out, reduce the "
                            "value, too (reduce = \"%s\"), and combine both with those of before "
                            "in a kernel of its own",
                            op->name, how, how + strlen("arg"));
  }
  if (op->is_inout && sct_reduce_is_real(op->reduce)) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is a %s and inout, but what it holds does not say how "
                            "many values that is of; reduce to an array of its own, and combine "
                            "both in a kernel of its own",
                            op->name, sct_reduce_name(op->reduce));
  }
  if (op->is_output && (op->reduce == SCT_REDUCE_NONE) != (first->reduce == SCT_REDUCE_NONE)) {
    const bool lacks = op->reduce == SCT_REDUCE_NONE;
    return sct_spec_fail_at(
        spec, err, op->file, op->line,
        "output '%s' reduces and output '%s' does not; a kernel reduces all of "
        "its outputs or none; what is reduced and used, or stored, next "
        "to other outputs is a value of steps, as in { reduce = { t = \"%s\" }, "
        "body = ... } (docs/specs.md, \"Steps\")",
        lacks ? first->name : op->name, lacks ? op->name : first->name,
        sct_reduce_name(lacks ? first->reduce : op->reduce));
  }
  return SCT_OK;
}

static sct_status check_dims(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const sct_operand *first = &spec->operands[spec->n_inputs];
  for (int d = 0; d < op->n_dims; d++) {
    if (sct_spec_find_dim(spec, op->dims[d], strlen(op->dims[d])) < 0) {
      SCT_SCOPED(sct_str) hint = {0};
      sct_str_suggest(&hint, op->dims[d], SCT_NAMES(spec->dims, spec->n_dims));
      return sct_spec_fail_at(
          spec, err, op->file, op->line,
          "output '%s' reduces, so its dimensions are some of the kernel's; '%s' is none%s",
          op->name, op->dims[d], sct_str_c(&hint));
    }
    if (op->at_text[d] || op->extent_text[d]) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "output '%s' reduces: it has an element for each index of its "
                              "dimensions, without `%s`",
                              op->name, op->at_text[d] ? "at" : "extents");
    }
    if (!has_dim(first, op->dims[d]) || op->n_dims != first->n_dims) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "outputs '%s' and '%s' have different dimensions; a kernel reduces "
                              "all of its outputs along the same ones",
                              first->name, op->name);
    }
  }
  if (op->n_dims != first->n_dims) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "outputs '%s' and '%s' have different dimensions; a kernel reduces all "
                            "of its outputs along the same ones",
                            first->name, op->name);
  }
  if (op->n_dims >= spec->n_dims) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' has all of the kernel's dimensions, so there is nothing "
                            "to reduce; leave one out: dims = { ... }",
                            op->name);
  }
  return SCT_OK;
}

sct_status sct_spec_check_result(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  sct_reduce way = SCT_REDUCE_NONE;
  const bool scans = strcmp(sct_spec_combining_word(op, &way), "scanned") == 0;
  const sct_type_info *first = sct_type_get(op->record.fields[0].type);
  const char *how = sct_reduce_name(way);
  if (sct_reduce_is_arg(way) &&
      (op->record.fields[0].name[0] != '\0' || first->kind == SCT_KIND_FLOAT || first->lanes > 1)) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is an index (%s), so its type is an integer such as i32 "
                            "or i64; in which type values are compared is said by %s = "
                            "{ \"%s\", \"f32\" }",
                            op->name, how, scans ? "scan" : "reduce", how);
  }
  for (int f = 0; f < op->record.n_fields && sct_reduce_is_real(way); f++) {
    const sct_type_info *type = sct_type_get(op->record.fields[f].type);
    if (type->kind != SCT_KIND_FLOAT) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "output '%s' is a %s of values, which has a fraction, and %s has "
                              "none; use f32",
                              op->name, how, type->name);
    }
  }
  return SCT_OK;
}

static sct_status check_types(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  SCT_TRY(sct_spec_check_result(spec, op, err));
  for (int f = 0; f < op->record.n_fields; f++) {
    const sct_type_info *type = sct_type_get(op->record.fields[f].type);
    if (type->kind == SCT_KIND_BOOL) {
      return sct_spec_fail_at(
          spec, err, op->file, op->line,
          "output '%s' reduces values of type bool; use u8: max is 1 where some "
          "are true, min where all are, and a sum of u32 counts them",
          op->name);
    }
    if (type->lanes > 1) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "output '%s' reduces values of type %s; use a record of %d fields "
                              "instead of a vector type",
                              op->name, type->name, type->lanes);
    }
  }
  return SCT_OK;
}

/* Is some field of the output a sum of floating-point values, or what depends on their order as a
 * sum does? */
static bool sums_floats(const sct_operand *op) {
  bool any = false;
  for (int f = 0; f < op->record.n_fields; f++) {
    any = any || sct_type_get(op->record.fields[f].type)->kind == SCT_KIND_FLOAT;
  }
  return any && (sct_reduce_rounds(op->reduce) || op->accumulate == SCT_REDUCE_SUM ||
                 sct_reduce_rounds(op->scan));
}

sct_status sct_spec_bind_reduce(sct_spec *spec, sct_error *err) {
  const sct_operand *first = &spec->operands[spec->n_inputs];
  spec->reduced = SCT_ARENA_NEW(&spec->arena, bool, spec->n_dims);
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    SCT_TRY(check_alone(spec, op, err));
    if (op->reduce != SCT_REDUCE_NONE) {
      SCT_TRY(check_dims(spec, op, err));
      SCT_TRY(check_types(spec, op, err));
    }
    if (sums_floats(op) && op->accumulate == SCT_REDUCE_NONE && spec->tolerance_given &&
        spec->tolerance == 0) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "tolerance = 0 cannot hold for '%s', a sum of floating-point values: "
                              "it depends on the order of the summands; leave it out for one that "
                              "follows from their number",
                              op->name);
    }
  }
  spec->reduces = first->reduce != SCT_REDUCE_NONE;
  for (int d = 0; d < spec->n_dims; d++) {
    spec->reduced[d] = spec->reduces && !has_dim(first, spec->dims[d]);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    spec->operands[k].per_row = spec->reduces;
  }
  return SCT_OK;
}

sct_status sct_spec_check_found(const sct_spec *spec, const sct_size *size, sct_error *err) {
  int64_t elements = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    elements = sct_spec_mul(elements, sct_spec_combines_along(spec, d) ? size->extent[d] : 1);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const sct_type_info *type = sct_type_get(op->record.fields[0].type);
    const int bits = type->bytes * 8 - (type->kind == SCT_KIND_INT ? 1 : 0);
    sct_reduce way = SCT_REDUCE_NONE;
    (void)sct_spec_combining_word(op, &way);
    if (sct_reduce_is_arg(way) && bits < 62 && elements >= (int64_t)1 << bits) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "output '%s' of type %s cannot hold indices up to %lld, which size "
                              "'%s' needs; i64 can",
                              op->name, type->name, (long long)elements - 1, size->label);
    }
  }
  return SCT_OK;
}

/* ---- how near is near enough ---- */

/* Relative error of one rounding of floating-point numbers to nearest: half a unit in the last
 * place. */
static double unit_roundoff(sct_type type) {
  const sct_type_info *info = sct_type_get(type);
  return ldexp(0.5, info->exponent_bits + 1 - info->bytes / info->lanes * 8);
}

/* The unit roundoff of the coarsest sum of floats in steps; below 0: there is none. */
static double steps_unit(const sct_spec *spec) {
  double most = -1;
  for (int k = 0; k < spec->n_values; k++) {
    const sct_value *value = &spec->values[k];
    const bool sums =
        sct_reduce_rounds(value->reduce) && sct_type_get(value->type)->kind == SCT_KIND_FLOAT;
    most = sums ? fmax(most, unit_roundoff(value->type)) : most;
  }
  return most;
}

/* How many points fall on one element of an output, at most. */
static double points_on_one(const sct_spec *spec, const sct_operand *op, const sct_size *size) {
  double points = 1, elements = 1;
  bool spread = op->through_index && size->fill;
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  for (int d = 0; d < spec->n_dims; d++) {
    points *= (double)size->extent[d];
  }
  for (int d = 0; d < op->n_dims; d++) {
    int64_t extent = 0;
    spread = spread && !sct_spec_is_computed(spec, op->at[d]) &&
             sct_spec_env_eval(spec, &env, op->extent[d], &extent, NULL) == SCT_OK;
    elements *= (double)extent;
  }
  for (int k = 0; k < spec->n_inputs && spread; k++) {
    const sct_fill fill =
        spec->operands[k].is_index ? sct_spec_index_fill(spec, k, size).fill : SCT_FILL_RANDOM;
    spread = fill != SCT_FILL_CONSTANT && fill != SCT_FILL_EDGES;
  }
  const double usual = points / fmax(elements, 1);
  return spread ? fmin(points, usual + 6 * sqrt(usual) + 6) : points;
}

/* Halves that are accumulated are rounded with every point. Where these are so many that a sum of
 * equal ones grows no more, any result is right. */
static double accumulated_halves(double unit, double points) {
  const double tolerance = unit * fmax(4 * sqrt(points), points);
  return tolerance < 1 ? tolerance : SCT_ANY_RESULT;
}

/* Later steps take differences from what a sum came to, as x - mean does, and so lose some bits of
 * it, however few the summands were, of which rsqrtf(variance + 1e-5f) makes up to 316 times as
 * much where values are nearly equal. Right orders of layer norms of what tuning fills arrays with
 * differ by 60 u at 31 summands, 150 u at 256 to 1,000, 260 u at 4,096 and 516 u at 16,384 (one
 * serial sum; ten orders, a million values each): 4 sqrt(n) u covers that from here on, and up to
 * here one summand of n that is lost or counted twice shows, as it changes a norm by 1 / 2n. */
#define LEAST_IN_STEPS 16384

/* Rows of 3 to 6 are nearly equal once in ten thousand: their norms differ by 1,120, 550, 300 and
 * 310 u. This share of 1 / n covers it, a thousandth of what one summand changes. */
#define SHORT_ROW 0x1p13
#define SHORTEST  3 /* whose order matters: ragged rows may all have any length */

/* Is the place another one for summands of one sum? */
static bool varies(const sct_spec *spec, const sct_operand *of, sct_expr at) {
  bool row = false;
  for (int d = 0; d < spec->n_dims; d++) {
    row = row || (at == spec->dim_var[d] && !sct_spec_combines_along(spec, d));
  }
  return !row || of->accumulate != SCT_REDUCE_NONE;
}

/* How many summands of output `of` may have different values, as inputs have elements for them. */
static double different_values(const sct_spec *spec, const sct_operand *of, const sct_size *size) {
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  double values = 1;
  for (int k = 0; k < spec->n_inputs; k++) {
    const sct_operand *op = &spec->operands[k];
    for (int d = 0; d < op->n_dims && !op->is_index; d++) {
      int64_t extent = 0;
      if (varies(spec, of, op->at[d]) &&
          sct_spec_env_eval(spec, &env, op->extent[d], &extent, NULL) == SCT_OK) {
        values *= extent > 1 ? (double)extent : 1;
      }
    }
  }
  return values;
}

/* Two orders of n positive summands differ by a random walk of at most n roundings each: sqrt(n) of
 * them and a factor of 4 hold for what tuning fills arrays with (n of them is the bound for the
 * worst input; Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Where only d
 * values are different, n / d summands are rounded alike, so that the walk has d steps of n / d.
 * Halves are summed as floats and rounded once more at the end. */
double sct_spec_tolerance(const sct_spec *spec, int op, const sct_size *size) {
  const sct_operand *operand = &spec->operands[op];
  double sum_unit = sums_floats(operand) ? 0 : -1;
  if (spec->n_steps > 0) {
    sum_unit = steps_unit(spec);
  }
  if (spec->tolerance_given || sum_unit < 0) {
    return spec->tolerance;
  }
  double summands = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    const bool meet = sct_spec_combines_along(spec, d) || operand->accumulate != SCT_REDUCE_NONE;
    summands *= meet ? (double)size->extent[d] : 1; /* all points may fall on one place */
  }
  const double shortest = sct_spec_is_ragged(spec) ? SHORTEST : fmax(summands, 1);
  const double in_short_rows = spec->n_steps > 0 ? SHORT_ROW / shortest : 0;
  summands *= fmax(summands / different_values(spec, operand, size), 1);
  summands += operand->is_inout && operand->reduce != SCT_REDUCE_NONE; /* what it held */
  if (spec->n_steps > 0) {
    summands = fmax(summands, LEAST_IN_STEPS);
  }
  double most = 0;
  for (int f = 0; f < operand->record.n_fields; f++) {
    const sct_type type = operand->record.fields[f].type;
    const double u = sct_type_get(type)->kind == SCT_KIND_FLOAT ? unit_roundoff(type) : 0;
    const double roundings = fmax(4 * sqrt(fmax(summands, 1)), in_short_rows);
    const double sum = fmax(fmin(u, 0x1p-24), sum_unit) * roundings;
    if (sct_type_get(type)->kind == SCT_KIND_FLOAT) {
      most = fmax(most, sum + (u > 0x1p-24 ? 2 * u : 0));
    }
    if (operand->accumulate != SCT_REDUCE_NONE && !operand->deterministic && u > 0x1p-24) {
      most = fmax(most, accumulated_halves(u, points_on_one(spec, operand, size)));
    }
  }
  return most;
}

static bool orders(sct_reduce how) {
  return how == SCT_REDUCE_MAX || how == SCT_REDUCE_MIN || sct_reduce_is_arg(how) ||
         how == SCT_REDUCE_LOGSUMEXP || how == SCT_REDUCE_SOFTMAX_SUM;
}

bool sct_spec_has_product(const sct_spec *spec) {
  bool any = false;
  for (int k = 0; k < spec->n_operands; k++) {
    any = any || spec->operands[k].reduce == SCT_REDUCE_PRODUCT ||
          spec->operands[k].scan == SCT_REDUCE_PRODUCT;
  }
  for (int k = 0; k < spec->n_values; k++) {
    any = any || spec->values[k].reduce == SCT_REDUCE_PRODUCT;
  }
  return any;
}

bool sct_spec_orders(const sct_spec *spec) {
  bool any = false;
  for (int k = 0; k < spec->n_operands; k++) {
    any = any || orders(spec->operands[k].reduce) || orders(spec->operands[k].scan);
  }
  for (int k = 0; k < spec->n_values; k++) {
    any = any || orders(spec->values[k].reduce);
  }
  return any;
}
