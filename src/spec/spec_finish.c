/* The last step of making a spec: everything derived, everything checked, and the canonical text.
 *
 * The canonical text holds what makes two specs the same kernel: names, types, where every byte
 * lies, the body's tokens, the sizes. Not the path, comments, blanks, or how a layout was written.
 */
#include <string.h>

#include "spec/spec_internal.h"

/* ---- offsets over the index space ---- */

static sct_status place_layouts(sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    sct_operand *op = &spec->operands[k];
    if (op->n_layouts < 1) {
      return sct_spec_fail_at(spec, err, op->file, op->line, "array '%s' has no layout", op->name);
    }
    for (int n = 0; n < op->n_layouts; n++) {
      sct_layout *layout = &op->layouts[n];
      layout->offset = SCT_ARENA_NEW(&spec->arena, sct_expr, op->record.n_fields);
      for (int f = 0; f < op->record.n_fields; f++) {
        layout->offset[f] =
            sct_expr_subst(spec->pool, layout->element[f], op->index, op->at, op->n_dims);
        if (layout->offset[f] == SCT_EXPR_NONE) {
          return sct_spec_fail_at(spec, err, op->file, op->line,
                                  "the offset of '%s' under layout '%s' cannot be built: a number "
                                  "in it is too large, or it divides by zero",
                                  op->name, layout->label);
        }
      }
    }
  }
  return SCT_OK;
}

/* ---- canonical text ---- */

static void print_record(sct_str *out, const sct_record *record) {
  sct_str_printf(out, " record %s bytes %lld align %lld {", record->name ? record->name : "-",
                 (long long)record->bytes, (long long)record->align);
  for (int f = 0; f < record->n_fields; f++) {
    sct_str_printf(out, " %s:%s@%lld", record->fields[f].name,
                   sct_type_get(record->fields[f].type)->name, (long long)record->fields[f].offset);
  }
  sct_str_append(out, " }\n");
}

static void print_exprs(sct_str *out, const sct_spec *spec, const char *what, const sct_expr *e,
                        int n) {
  for (int k = 0; k < n; k++) {
    sct_str_printf(out, "  %s ", what);
    sct_expr_print(out, spec->pool, e[k]);
    sct_str_append(out, "\n");
  }
}

/* What an index is found by; ends the line. */
static void print_compared(sct_str *out, const sct_operand *op, sct_reduce how) {
  sct_str_printf(out, "%s%s\n", sct_reduce_is_arg(how) ? " of " : "",
                 sct_reduce_is_arg(how) ? sct_type_get(op->compared)->name : "");
}

static void print_operand(sct_str *out, const sct_spec *spec, const sct_operand *op) {
  sct_str_printf(out, "%s %s",
                 op->is_inout    ? "inout"
                 : op->is_output ? "output"
                                 : "input",
                 op->name);
  print_record(out, &op->record);
  if (op->has_none) {
    sct_str_append(out, "  none\n");
  }
  if (op->reduce != SCT_REDUCE_NONE) {
    sct_str_printf(out, "  reduce %s", sct_reduce_name(op->reduce));
    print_compared(out, op, op->reduce);
  }
  if (op->scan != SCT_REDUCE_NONE) {
    sct_str_printf(out, "  %s scan %s along %s", op->exclusive ? "exclusive" : "inclusive",
                   sct_reduce_name(op->scan), spec->dims[spec->scan_dim]);
    print_compared(out, op, op->scan);
  }
  if (op->accumulate != SCT_REDUCE_NONE) {
    sct_str_printf(out, "  accumulate %s%s\n", sct_accumulate_name(op->accumulate),
                   sct_operand_is_ordered(op) ? " in order" : "");
  }
  for (int d = 0; d < op->n_dims; d++) {
    sct_str_printf(out, "  dim %s\n", op->dims[d]);
  }
  print_exprs(out, spec, "extent", op->extent, op->n_dims);
  print_exprs(out, spec, "at", op->at, op->n_dims);
  if (op->n_taps > 0 || op->border != SCT_BORDER_NONE) {
    sct_str_append(out, "  border ");
    sct_border_print(out, op);
    for (int k = 0; k < op->n_taps; k++) {
      sct_str_append(out, k > 0 ? ", " : " taps ");
      sct_tap_print(out, op, k);
    }
    sct_str_append(out, "\n");
  }
  const int first = sct_spec_choice_leader(spec, (int)(op - spec->operands));
  if (op->n_layouts > 1 && op != &spec->operands[first]) {
    sct_str_printf(out, "  layout of %s\n", spec->operands[first].name);
  }
  if (op->converted > 0) {
    sct_str_printf(out, "  converted %lld\n", (long long)op->converted);
  }
  for (int k = 0; k < op->n_layouts; k++) {
    const sct_layout *layout = &op->layouts[k];
    sct_str_printf(out, "  layout %s%s\n", layout->label, layout->owns_gaps ? " owns gaps" : "");
    print_exprs(out, spec, " element", layout->element, op->record.n_fields);
    print_exprs(out, spec, " bytes", &layout->bytes, 1);
  }
}

/* bodies: what canonical text has of them. */
static void write_canonical(sct_spec *spec, const char *bodies) {
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "spec 1\nkernel %s\n", spec->name);
  for (int d = 0; d < spec->n_dims; d++) {
    sct_str_printf(&text, "dim %s\n", spec->dims[d]);
  }
  for (int k = 0; k < spec->n_numbers; k++) {
    sct_str_printf(&text, "extent %s\n", spec->numbers[k]);
  }
  if (sct_spec_is_ragged(spec)) {
    const sct_ragged *r = &spec->ragged;
    sct_str_printf(&text, "ragged %s %s\n", r->dim_name, r->offsets_name);
    if (r->lengths_file) { /* two files may have one name */
      const size_t bytes = sizeof *r->ends * (size_t)r->n_lengths;
      sct_str_printf(&text, "lengths %016llx\n",
                     (unsigned long long)sct_hash_bytes(r->ends, bytes).lo);
    }
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    sct_str_printf(&text, "scalar %s %s\n", spec->scalars[k].name,
                   sct_type_get(spec->scalars[k].type)->name);
  }
  for (int k = 0; k < spec->n_operands; k++) {
    print_operand(&text, spec, &spec->operands[k]);
  }
  sct_str_printf(&text, "%stolerance %.17g\n", bodies, spec->tolerance);
  for (int k = 0; k < spec->n_sizes - spec->n_added; k++) {
    sct_str_printf(&text, "size %s\n", spec->sizes[k].label);
  }
  spec->canonical = sct_arena_strdup(&spec->arena, sct_str_c(&text));
  spec->hash = sct_hash_text(sct_str_c(&text));
}

/* ---- finish ---- */

static sct_status check_only_body(sct_spec *spec, sct_str *canonical, sct_error *err) {
  bool assigned[SCT_MAX_OPERANDS] = {false};
  body_tree *tree = NULL;
  SCT_TRY(sct_spec_parse(&tree, spec, err));
  SCT_TRY(sct_spec_check_body(spec, tree, assigned, err));
  SCT_TRY(sct_spec_check_assigned(spec, tree, err));
  sct_spec_write_bodies(spec, tree, &spec->kernel_body, &spec->fast_body);
  sct_spec_classify_body(spec, tree);
  for (int k = 0; k < spec->n_values; k++) {
    sct_str_printf(canonical, "index %s\n", spec->values[k].name);
  }
  sct_spec_print_tokens(canonical, tree);
  return SCT_OK;
}

sct_status sct_spec_finish(sct_spec *spec, sct_error *err) {
  SCT_SCOPED(sct_str) bodies = {0};
  if (!(spec->tolerance >= 0 && spec->tolerance <= 1)) {
    return sct_spec_fail_at(spec, err, spec->file, spec->line,
                            "tolerance = %g; expected a number from 0 to 1", spec->tolerance);
  }
  sct_spec_begin_bodies(spec);
  SCT_TRY((spec->n_steps > 0 ? sct_spec_check_steps : check_only_body)(spec, &bodies, err));
  SCT_TRY(place_layouts(spec, err));
  SCT_TRY(sct_spec_check_accumulate(spec, err));
  SCT_TRY(sct_spec_check_offsets_layout(spec, err));
  sct_spec_find_limits(spec);
  SCT_TRY(sct_spec_check_sizes(spec, err));
  SCT_TRY(sct_spec_check_places(spec, err));
  SCT_TRY(sct_spec_check_ordered(spec, err));
  SCT_TRY(sct_spec_check_layouts(spec, err));
  sct_spec_leave_refused(spec);
  write_canonical(spec, sct_str_c(&bodies));
  SCT_TRY(sct_spec_find_chunks(spec, err));
  spec->footprints = sct_footprints_new();
  return SCT_OK;
}

void sct_spec_free(sct_spec *spec) {
  sct_expr_pool_free(spec->pool);
  sct_arena_free(&spec->arena);
  sct_footprints_end(spec->footprints);
  memset(spec, 0, sizeof(*spec));
}
