/* Outputs that are accumulated: points of the index space fall on elements that an index gives,
 * several on one, and their values are combined with what the element holds, by atomic operations.
 */
#include <string.h>

#include "spec/spec_internal.h"

#define COOKBOOK "docs/cookbook.md, \"A histogram\""

const char *sct_accumulate_name(sct_reduce accumulate) {
  return accumulate == SCT_REDUCE_SUM ? "add" : sct_reduce_name(accumulate);
}

bool sct_accumulate_find(sct_reduce *out, const char *name) {
  if (strcmp(name, "add") == 0) {
    *out = SCT_REDUCE_SUM;
    return true;
  }
  sct_reduce found = SCT_REDUCE_NONE;
  const bool known =
      strcmp(name, "sum") != 0 && sct_reduce_find(&found, name) && found <= SCT_REDUCE_XOR;
  *out = known ? found : *out;
  return known;
}

bool sct_spec_accumulates(const sct_spec *spec) {
  bool any = false;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    any = any || spec->operands[k].accumulate != SCT_REDUCE_NONE;
  }
  return any;
}

bool sct_operand_is_ordered(const sct_operand *op) {
  bool floats = false;
  for (int f = 0; f < op->record.n_fields; f++) {
    floats = floats || sct_type_get(op->record.fields[f].type)->kind == SCT_KIND_FLOAT;
  }
  return op->deterministic && op->accumulate == SCT_REDUCE_SUM && floats;
}

bool sct_spec_is_ordered(const sct_spec *spec) {
  bool any = false;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    any = any || sct_operand_is_ordered(&spec->operands[k]);
  }
  return any;
}

/* ---- where it begins ---- */

/* Every byte of the identity element; -1: its bytes differ. */
static int identity_byte(sct_reduce how, sct_type type) {
  const sct_type_kind kind = sct_type_get(type)->kind;
  switch (how) {
  case SCT_REDUCE_AND:
    return 0xff;
  case SCT_REDUCE_MAX:
    return kind == SCT_KIND_UINT ? 0 : -1;
  case SCT_REDUCE_MIN:
    return kind == SCT_KIND_UINT ? 0xff : -1;
  default:
    return 0;
  }
}

int sct_operand_start_byte(const sct_operand *op) {
  int byte = -1;
  for (int f = 0; f < op->record.n_fields && op->accumulate != SCT_REDUCE_NONE; f++) {
    const int one = identity_byte(op->accumulate, op->record.fields[f].type);
    byte = op->is_inout || one < 0 || (f > 0 && one != byte) ? -1 : one;
    if (byte < 0) {
      break;
    }
  }
  return byte;
}

/* ---- what is refused ---- */

static sct_status check_type(const sct_spec *spec, const sct_operand *op, sct_type type,
                             sct_error *err) {
  const sct_type_info *info = sct_type_get(type);
  const bool is_float = info->kind == SCT_KIND_FLOAT;
  const bool adds = op->accumulate == SCT_REDUCE_SUM;
  if (info->lanes > 1) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' accumulates values of type %s; use a record of %d fields "
                            "instead of a vector type (" COOKBOOK ")",
                            op->name, info->name, info->lanes);
  }
  const bool is_half = is_float && info->bytes == 2;
  const bool orders = op->accumulate == SCT_REDUCE_MAX || op->accumulate == SCT_REDUCE_MIN;
  if ((info->bytes < 4 && !(is_half && adds)) || (is_float && !adds && !orders)) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s': there is no atomic %s of %s; %s (" COOKBOOK ")", op->name,
                            sct_accumulate_name(op->accumulate), info->name,
                            adds ? "accumulate i32, u32, i64, u64, f16, bf16, f32 or f64, and "
                                   "convert in a second kernel"
                            : orders
                                ? "accumulate i32, u32, i64, u64, f32 or f64, and convert in a "
                                  "second kernel"
                                : "accumulate i32, u32, i64 or u64, and convert in a second "
                                  "kernel");
  }
  return SCT_OK;
}

static sct_status check_types(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const bool adds = op->accumulate == SCT_REDUCE_SUM;
  for (int f = 0; f < op->record.n_fields; f++) {
    const sct_type type = op->record.fields[f].type;
    SCT_TRY(check_type(spec, op, type, err));
    if (adds && sct_type_get(type)->kind == SCT_KIND_FLOAT && spec->tolerance_given &&
        spec->tolerance == 0) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "tolerance = 0 cannot hold for '%s', a sum of floating-point values: "
                              "it depends on the order of the summands, which differs from run to "
                              "run; leave it out for one that follows from their number",
                              op->name);
    }
  }
  if (op->record.packed) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is accumulated, so its record is not packed: atomic "
                            "operations need aligned fields",
                            op->name);
  }
  return SCT_OK;
}

static sct_status check_kind(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const char *how = sct_accumulate_name(op->accumulate);
  if (!op->is_output) {
    return sct_spec_fail_at(
        spec, err, op->file, op->line,
        "'%s' is an input; accumulate = \"%s\" belongs to an output (" COOKBOOK ")", op->name, how);
  }
  if (op->reduce != SCT_REDUCE_NONE) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' has reduce and accumulate; reduce is for all elements of "
                            "some dimensions, accumulate for places that an index gives: write one "
                            "of them (" COOKBOOK ")",
                            op->name);
  }
  if (spec->n_steps > 0) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s': kernels with steps do not accumulate; write two kernels, "
                            "of which the second accumulates what the first wrote (" COOKBOOK ")",
                            op->name);
  }
  return SCT_OK;
}

/* ---- sums of floats in one order ---- */

/* What the naive variant does for them: each element goes through all points. 2^38 are predicted to
 * take an H200 0.2 s. */
#define MOST_TESTS ((int64_t)1 << 38)

static bool have_same_places(const sct_operand *a, const sct_operand *b) {
  bool same = a->n_dims == b->n_dims;
  for (int d = 0; d < a->n_dims && same; d++) {
    same = a->extent[d] == b->extent[d] && a->at[d] == b->at[d];
  }
  return same;
}

/* Points are combined by blocks that have elements of one array, or copies of it. */
static sct_status check_beside(const sct_spec *spec, const sct_operand *ordered, sct_error *err) {
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (op->accumulate == SCT_REDUCE_NONE || !have_same_places(op, ordered)) {
      return sct_spec_fail_at(
          spec, err, ordered->file, ordered->line,
          "'%s' adds up floats in one order (deterministic = true), so every output of its kernel "
          "is accumulated at the same places, and '%s' is not; write a second kernel for "
          "it (" COOKBOOK ")",
          ordered->name, op->name);
    }
  }
  return SCT_OK;
}

static sct_status check_bitwise(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  if (op->deterministic && op->accumulate == SCT_REDUCE_NONE) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s': deterministic = true belongs to an output that is accumulated; "
                            "results of all others "
                            "are the same bits after every launch anyway: leave it out (" COOKBOOK
                            ")",
                            op->name);
  }
  return SCT_OK;
}

/* Is the place the index of a dimension? An element is then met by the points of one index. */
static bool is_dim(const sct_spec *spec, sct_expr at, const sct_size *size, int64_t *extent) {
  for (int d = 0; d < spec->n_dims; d++) {
    if (at == spec->dim_var[d]) {
      *extent = size->extent[d];
      return true;
    }
  }
  return false;
}

/* The points that elements of the output look at, all together, and its elements. */
static sct_status count_tests(int64_t *tests, int64_t *places, const sct_spec *spec,
                              const sct_operand *op, const sct_size *size, sct_error *err) {
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  int64_t extent = 0;
  *tests = sct_spec_elements(spec, size);
  *places = 1;
  for (int d = 0; d < op->n_dims; d++) {
    SCT_TRY(sct_spec_env_eval(spec, &env, op->extent[d], &extent, err));
    *places = sct_spec_mul(*places, extent);
    *tests /= is_dim(spec, op->at[d], size, &extent) && extent > 0 ? extent : 1;
  }
  *tests = sct_spec_mul(*tests, *places);
  return SCT_OK;
}

int64_t sct_spec_ordered_tests(const sct_spec *spec, const sct_size *size) {
  int64_t tests = 0, places = 0, most = 0;
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const bool known =
        sct_operand_is_ordered(op) && count_tests(&tests, &places, spec, op, size, NULL) == SCT_OK;
    most = known && tests > most ? tests : most;
  }
  return most;
}

static sct_status check_tests(const sct_spec *spec, const sct_operand *op, const sct_size *size,
                              sct_error *err) {
  int64_t tests = 0, places = 0;
  SCT_TRY(count_tests(&tests, &places, spec, op, size, err));
  if (tests < 0 || tests > MOST_TESTS) {
    return sct_spec_fail_at(
        spec, err, spec->file, size->line,
        "'%s' adds up floats in one order (deterministic = true), for which kernels go through all "
        "points for each of its %lld elements: too long at size '%s' (points times elements may be "
        "2^38). Sort the points by element, and reduce ragged rows, which is in one order, too "
        "(docs/cookbook.md, \"Sums in one order\")",
        op->name, (long long)places, size->label);
  }
  return SCT_OK;
}

sct_status sct_spec_check_ordered(const sct_spec *spec, sct_error *err) {
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (sct_operand_is_ordered(op)) {
      SCT_TRY(check_beside(spec, op, err));
      for (int n = 0; n < spec->n_sizes; n++) {
        sct_size *size = &spec->sizes[n];
        SCT_TRY(size->refused ? SCT_OK : sct_spec_at_size(size, check_tests(spec, op, size, err)));
      }
    }
  }
  return SCT_OK;
}

/* ---- all of it ---- */

sct_status sct_spec_bind_accumulate(const sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    SCT_TRY(check_bitwise(spec, op, err));
    if (op->accumulate == SCT_REDUCE_NONE) {
      continue;
    }
    SCT_TRY(check_kind(spec, op, err));
    SCT_TRY(check_types(spec, op, err));
    if (!op->is_inout && sct_operand_start_byte(op) < 0) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "output '%s' cannot begin at the identity of %s of %s by itself; "
                              "write inout = true, and fill it before the first launch (" COOKBOOK
                              ")",
                              op->name, sct_accumulate_name(op->accumulate),
                              sct_type_get(op->record.fields[0].type)->name);
    }
  }
  return SCT_OK;
}

/* ---- layouts ---- */

/* Does the array consist of its elements alone, whatever the extents? */
static bool is_dense(const sct_spec *spec, const sct_operand *op, const sct_layout *layout) {
  sct_expr bytes = sct_expr_const(spec->pool, op->record.data_bytes);
  for (int d = 0; d < op->n_dims; d++) {
    bytes = sct_expr_mul(spec->pool, bytes, op->extent[d]);
  }
  return bytes != SCT_EXPR_NONE && bytes == layout->bytes;
}

sct_status sct_spec_check_accumulate(const sct_spec *spec, sct_error *err) {
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    for (int n = 0; n < op->n_layouts && op->accumulate != SCT_REDUCE_NONE; n++) {
      const sct_layout *layout = &op->layouts[n];
      for (int f = 0; f < op->record.n_fields; f++) {
        const int64_t bytes = op->record.fields[f].bytes;
        if (sct_expr_divisor(spec->pool, layout->element[f]) % bytes != 0) {
          return sct_spec_fail_at(spec, err, op->file, op->line,
                                  "output '%s' is accumulated, but layout '%s' does not keep its "
                                  "elements at multiples of their %lld bytes, which atomic "
                                  "operations need",
                                  op->name, layout->label, (long long)bytes);
        }
      }
      if (!op->is_inout && !layout->owns_gaps && !is_dense(spec, op, layout)) {
        return sct_spec_fail_at(spec, err, op->file, op->line,
                                "output '%s' begins at 0 by clearing the whole array, but layout "
                                "'%s' leaves bytes between elements that are not its own; take a "
                                "dense layout, or inout = true, and fill it before the first "
                                "launch (" COOKBOOK ")",
                                op->name, layout->label);
      }
    }
  }
  return SCT_OK;
}
