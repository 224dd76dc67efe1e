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
      strcmp(name, "sum") != 0 && sct_reduce_find(&found, name) && !sct_reduce_is_arg(found);
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
  if (info->bytes < 4 || (is_float && !adds)) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s': there is no atomic %s of %s; %s (" COOKBOOK ")", op->name,
                            sct_accumulate_name(op->accumulate), info->name,
                            is_float && !adds ? "accumulate i32, u32, i64 or u64"
                                              : "accumulate i32, u32, i64, u64, f32 or f64, and "
                                                "convert in a second kernel");
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

sct_status sct_spec_bind_accumulate(const sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
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
