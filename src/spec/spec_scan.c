/* Kernels that scan: an element of an output has what the elements up to it along one dimension
 * come to, by sums, maxima or minima. */
#include <string.h>

#include "spec/spec_internal.h"

/* What a scanned output cannot be besides. */
static const char *other_way(const sct_operand *op) {
  return op->reduce != SCT_REDUCE_NONE       ? "reduce"
         : op->accumulate != SCT_REDUCE_NONE ? "accumulate"
         : op->is_inout                      ? "inout"
                                             : NULL;
}

static sct_status check_alone(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const sct_operand *first = &spec->operands[spec->n_inputs];
  if (op->scan != SCT_REDUCE_NONE && !op->is_output) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "'%s' is an input; scan = \"%s\" belongs to an output", op->name,
                            sct_reduce_name(op->scan));
  }
  if (op->is_output && (op->scan == SCT_REDUCE_NONE) != (first->scan == SCT_REDUCE_NONE)) {
    const bool lacks = op->scan == SCT_REDUCE_NONE;
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is scanned and output '%s' is not; a kernel scans all of "
                            "its outputs or none: write the other one by a kernel of its own",
                            lacks ? first->name : op->name, lacks ? op->name : first->name);
  }
  if (op->scan != SCT_REDUCE_NONE && other_way(op)) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' has scan and %s; a scan writes every element once, from "
                            "inputs: give it a name of its own",
                            op->name, other_way(op));
  }
  return SCT_OK;
}

static sct_status check_kernel(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  if (spec->n_steps > 0) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' has scan = \"%s\", but this kernel has steps, which "
                            "reduce rows and do not scan them; write a kernel with a body",
                            op->name, sct_reduce_name(op->scan));
  }
  if (sct_spec_is_ragged(spec)) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is scanned, and rows are ragged: that is not done yet; "
                            "scan all of '%s' and subtract what holds where a row begins",
                            op->name, spec->ragged.dim_name);
  }
  SCT_TRY(sct_spec_check_result(spec, op, err));
  const sct_type_info *type = sct_type_get(op->record.fields[0].type);
  for (int f = 0; f < op->record.n_fields && type->lanes == 1 && type->kind != SCT_KIND_BOOL; f++) {
    type = sct_type_get(op->record.fields[f].type);
  }
  if (type->kind == SCT_KIND_BOOL) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' scans values of type bool; use u8: max is 1 from the "
                            "first that is true on, min until one is not, and a sum of u32 counts "
                            "them",
                            op->name);
  }
  if (type->lanes > 1) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' scans values of type %s; use a record of %d fields "
                            "instead of a vector type",
                            op->name, type->name, type->lanes);
  }
  return SCT_OK;
}

/* The dimension along which an output is scanned. */
static sct_status find_dim(const sct_spec *spec, const sct_operand *op, int *dim, sct_error *err) {
  SCT_SCOPED(sct_str) hint = {0};
  sct_status status = SCT_OK;
  *dim = op->along ? sct_spec_find_dim(spec, op->along, strlen(op->along)) : spec->n_dims - 1;
  if (*dim < 0) {
    sct_str_suggest(&hint, op->along, SCT_NAMES(spec->dims, spec->n_dims));
    status =
        sct_spec_fail_at(spec, err, op->file, sct_spec_key_line(spec, op->file, op->line, "along"),
                         "output '%s' is scanned along one of the kernel's dimensions; '%s' "
                         "is none%s",
                         op->name, op->along, sct_str_c(&hint));
  }
  return status;
}

sct_status sct_spec_bind_scan(sct_spec *spec, sct_error *err) {
  const sct_operand *first = &spec->operands[spec->n_inputs];
  spec->scans = first->scan != SCT_REDUCE_NONE;
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    int dim = -1;
    SCT_TRY(check_alone(spec, op, err));
    if (op->scan == SCT_REDUCE_NONE) {
      continue;
    }
    SCT_TRY(check_kernel(spec, op, err));
    SCT_TRY(find_dim(spec, op, &dim, err));
    if (op != first && dim != spec->scan_dim) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "outputs '%s' and '%s' are scanned along '%s' and '%s'; a kernel "
                              "scans all of its outputs along the same dimension",
                              first->name, op->name, spec->dims[spec->scan_dim], spec->dims[dim]);
    }
    spec->scan_dim = dim;
  }
  return SCT_OK;
}
