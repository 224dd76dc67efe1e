/* The documents the store keeps for emit: what a kernel's arguments are, and how to launch it. */
#include "codegen/codegen.h"
#include "json/json.h"

#include <ctype.h>
#include <string.h>

static json_t *record_json(const sct_record *record) {
  json_t *fields = json_array();
  for (int f = 0; f < record->n_fields; f++) {
    const sct_field *field = &record->fields[f];
    json_array_append_new(fields, json_pack("{s:s, s:s, s:I}", "name", field->name, "type",
                                            sct_type_get(field->type)->name, "offset",
                                            (json_int_t)field->offset));
  }
  return json_pack("{s:s?, s:o, s:I, s:I, s:b}", "name", record->name, "fields", fields, "bytes",
                   (json_int_t)record->bytes, "align", (json_int_t)record->align, "packed",
                   record->packed);
}

static json_t *taps_json(const sct_operand *op, sct_str *scratch) {
  json_t *list = json_array();
  for (int k = 0; k < op->n_taps; k++) {
    sct_str_clear(scratch);
    sct_tap_print(scratch, op, k);
    json_array_append_new(list, json_string(sct_str_c(scratch)));
  }
  return list;
}

static json_t *expr_json(const sct_spec *spec, sct_expr e) {
  SCT_SCOPED(sct_str) text = {0};
  sct_expr_print_c(&text, spec->pool, e, true);
  return json_string(sct_str_c(&text));
}

static json_t *expr_list(const sct_spec *spec, const sct_expr *e, int n) {
  json_t *array = json_array();
  for (int k = 0; k < n; k++) {
    json_array_append_new(array, expr_json(spec, e[k]));
  }
  return array;
}

/* Where every byte of the operand lies under each of its layouts: the layouts' own expressions,
 * with its indices under the names of its dimensions. NULL: a name is another variable's. */
static json_t *formulas_json(const sct_spec *spec, const sct_operand *op) {
  const int32_t mark = sct_expr_mark(spec->pool);
  sct_expr index[SCT_MAX_DIMS];
  sct_expr offsets[SCT_MAX_FIELDS];
  bool complete = true;
  for (int d = 0; d < op->n_dims; d++) {
    index[d] = sct_expr_var(spec->pool, op->dims[d], 0, SCT_MAX_EXTENT, 1);
    complete = complete && index[d] != SCT_EXPR_NONE;
  }
  json_t *formulas = json_array();
  for (int k = 0; k < op->n_layouts; k++) {
    const sct_layout *layout = &op->layouts[k];
    for (int f = 0; f < op->record.n_fields; f++) {
      offsets[f] = sct_expr_subst(spec->pool, layout->element[f], op->index, index, op->n_dims);
      complete = complete && offsets[f] != SCT_EXPR_NONE;
    }
    json_array_append_new(formulas,
                          json_pack("{s:s, s:o, s:o}", "doc", layout->doc ? layout->doc : "",
                                    "bytes", expr_json(spec, layout->bytes), "offsets",
                                    expr_list(spec, offsets, op->record.n_fields)));
  }
  sct_expr_reset(spec->pool, mark);
  if (!complete) {
    json_decref(formulas);
    return NULL;
  }
  return formulas;
}

/* How chunks of the host's array follow each other in each of its layouts, and whether what lies
 * there before is needed. */
static void add_chunks(json_t *json, const sct_spec *spec, const sct_operand *op) {
  json_t *steps = json_array(), *writes = json_array();
  const int k = (int)(op - spec->operands);
  for (int l = 0; l < op->n_layouts; l++) {
    json_array_append_new(steps, expr_json(spec, sct_spec_chunk_step(spec, k, l, spec->chunk_dim)));
    json_array_append_new(writes, json_boolean(sct_spec_writes_all(spec, k, l)));
  }
  json_object_set_new(json, "chunk_steps", steps);
  json_object_set_new(json, "writes_all", writes);
  if (op->stays) {
    json_object_set_new(json, "stays", json_true());
  }
}

static json_t *operand_json(const sct_spec *spec, const sct_operand *op, sct_str *scratch) {
  json_t *layouts = json_array(), *bytes = json_array();
  for (int k = 0; k < op->n_layouts; k++) {
    json_array_append_new(layouts, json_string(op->layouts[k].label));
    json_array_append_new(bytes, expr_json(spec, op->layouts[k].bytes));
  }
  json_t *json = json_pack("{s:s, s:s, s:o, s:b, s:o, s:o, s:o}", "name", op->name, "role",
                           op->is_output ? "out" : "in", "record", record_json(&op->record), "bare",
                           op->record.name == NULL, "layouts", layouts, "dims",
                           sct_json_strings(op->dims, op->n_dims), "at",
                           sct_json_strings(op->at_text, op->n_dims));
  json_object_set_new(json, "bytes", bytes);
  if (op->is_inout) {
    json_object_set_new(json, "inout", json_true());
  }
  if (op->keeps) {
    json_object_set_new(json, "keeps", json_true());
  }
  if (op->n_taps > 0) {
    json_object_set_new(json, "taps", taps_json(op, scratch));
  }
  if (op->n_taps > 0 || op->border != SCT_BORDER_NONE) {
    sct_str_clear(scratch);
    sct_border_print(scratch, op);
    json_object_set_new(json, "border", json_string(sct_str_c(scratch)));
  }
  if (op->reduce != SCT_REDUCE_NONE) {
    json_object_set_new(json, "reduce", json_string(sct_reduce_name(op->reduce)));
  }
  if (op->scan != SCT_REDUCE_NONE) {
    json_object_set_new(json, "scan",
                        json_sprintf("%s %s along %s", op->exclusive ? "exclusive" : "inclusive",
                                     sct_reduce_name(op->scan), spec->dims[spec->scan_dim]));
  }
  if (op->accumulate != SCT_REDUCE_NONE) {
    json_object_set_new(
        json, "accumulate",
        json_sprintf("%s%s", sct_accumulate_name(op->accumulate),
                     sct_operand_is_ordered(op) ? ", the same bits after every launch" : ""));
    if (sct_operand_is_ordered(op)) {
      json_object_set_new(json, "ordered", json_true());
    }
    if (sct_operand_start_byte(op) >= 0) {
      json_object_set_new(json, "start", json_integer(sct_operand_start_byte(op)));
    }
  }
  if (spec->chunk_dim >= 0) {
    add_chunks(json, spec, op);
  }
  json_object_set_new(json, "shape", expr_list(spec, op->extent, op->n_dims));
  json_object_set_new(json, "formulas", formulas_json(spec, op));
  return json;
}

/* What bounds the magnitude of e, where it may overflow: products of other extents than those of
 * the index space. */
static void add_bound(json_t *list, const sct_spec *spec, sct_expr e) {
  SCT_SCOPED(sct_str) text = {0};
  if (sct_spec_has_numbers(spec, e)) {
    sct_expr_print_bound(&text, spec->pool, e);
  }
  for (const char *at = sct_str_c(&text); (at = strstr(at, " * ")) != NULL; at++) {
    if (isalpha((unsigned char)at[-1]) || at[-1] == ')') {
      json_array_append_new(list, json_string(sct_str_c(&text)));
      break;
    }
  }
}

/* A host compiler does not know what some texts call. */
static bool is_known(const json_t *text) {
  return strstr(json_string_value(text), "sct_floor_") == NULL;
}

/* Each step and how often it is taken. */
static json_t *steps_json(const sct_spec *spec, const sct_condition *limit) {
  json_t *steps = json_array();
  bool known = true;
  for (int k = 0; k < limit->n_steps; k++) {
    json_t *step = expr_json(spec, limit->step[k]), *last = expr_json(spec, limit->last[k]);
    known = known && is_known(step) && is_known(last);
    json_array_append_new(steps, step);
    json_array_append_new(steps, last);
  }
  if (!known) {
    json_array_clear(steps);
  }
  return steps;
}

/* The limits of a call that are about one operand, and bounds of all numbers on the way. */
static void add_limits(json_t *operand, const sct_spec *spec, int op) {
  const sct_operand *of = &spec->operands[op];
  json_t *inside = json_array(), *apart = json_array(), *bounds = json_array();
  for (int k = 0; k < of->n_layouts; k++) {
    add_bound(bounds, spec, of->layouts[k].bytes);
  }
  for (int k = 0; k < spec->n_limits; k++) {
    const sct_condition *limit = &spec->limits[k];
    if (limit->op == op && limit->n_steps > 0) {
      json_array_append_new(apart, steps_json(spec, limit));
    } else if (limit->op == op) {
      SCT_OWNED_PTR(json_t) holds = expr_json(spec, limit->holds);
      if (is_known(holds)) {
        json_array_append(inside, holds);
        add_bound(bounds, spec, limit->holds);
      }
    }
  }
  json_object_set_new(operand, "inside", inside);
  json_object_set_new(operand, "apart", apart);
  json_object_set_new(operand, "bounds", bounds);
}

/* Rows that steps reduce are longer at some size of the spec's own: several blocks may have one,
 * and leave partial results in a workspace. So programs call one function, whichever kernels win.
 */
#define LONG_ROW    65536
#define LONG_COLUMN 8192 /* rows that do not run along the last dimension */

static bool has_long_rows(const sct_spec *spec) {
  bool found = false;
  for (int k = 0; k < spec->n_sizes - spec->n_added && spec->n_steps > 0; k++) {
    double elements = 1.0;
    for (int d = 0; d < spec->n_dims; d++) {
      elements *= spec->reduced[d] ? (double)spec->sizes[k].extent[d] : 1.0;
    }
    found = found || elements > (spec->reduced[spec->n_dims - 1] ? LONG_ROW : LONG_COLUMN);
  }
  return found && !sct_spec_is_ragged(spec);
}

sct_status sct_codegen_signature(sct_str *out, const sct_spec *spec, sct_error *err) {
  SCT_SCOPED(sct_str) scratch = {0};
  json_t *extents = json_array(), *scalars = json_array(), *operands = json_array();
  for (int k = 0; k < spec->n_extents; k++) {
    json_t *extent =
        json_pack("{s:s, s:b}", "name", spec->extent_names[k], "dim", k < spec->n_dims);
    if (k < spec->n_dims && spec->reduced[k]) {
      json_object_set_new(extent, "reduced", json_true());
    }
    if (sct_spec_is_ragged(spec) && (k == spec->ragged.dim || k == spec->ragged.row)) {
      json_object_set_new(extent, k == spec->ragged.dim ? "ragged" : "rows", json_true());
    }
    json_array_append_new(extents, extent);
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    json_array_append_new(scalars, json_pack("{s:s, s:s}", "name", spec->scalars[k].name, "type",
                                             sct_type_get(spec->scalars[k].type)->name));
  }
  for (int k = 0; k < spec->n_operands; k++) {
    json_t *operand = operand_json(spec, &spec->operands[k], &scratch);
    if (sct_spec_is_ragged(spec) && k == spec->ragged.offsets) {
      json_object_set_new(operand, "offsets", json_true());
    }
    add_limits(operand, spec, k);
    json_array_append_new(operands, operand);
  }
  json_t *signature = json_pack("{s:s, s:o, s:o, s:o, s:s}", "name", spec->name, "extents", extents,
                                "scalars", scalars, "operands", operands, "body", spec->body);
  if (spec->nested || has_long_rows(spec)) { /* whichever kernels win, as of what is reduced */
    json_object_set_new(signature, "workspace", json_true());
  }
  if (spec->chunk_dim >= 0) {
    json_object_set_new(signature, "host",
                        json_pack("{s:s, s:I, s:I}", "chunks", spec->dims[spec->chunk_dim],
                                  "before", (json_int_t)spec->halo_before, "after",
                                  (json_int_t)spec->halo_after));
  }
  return sct_json_dump(out, signature, JSON_COMPACT, err);
}

/* What each parameter of a kernel of the user's own receives. */
static json_t *params_json(const sct_spec *spec, const sct_kernel_code *code) {
  json_t *list = json_array();
  for (int k = 0; k < code->n_params; k++) {
    const sct_param *p = &code->params[k];
    json_array_append_new(list, p->kind == SCT_PARAM_ARRAY
                                    ? json_pack("{s:s}", "array", spec->operands[p->number].name)
                                : p->kind == SCT_PARAM_SCALAR
                                    ? json_pack("{s:s}", "scalar", spec->scalars[p->number].name)
                                    : json_pack("{s:o, s:s}", "value", expr_json(spec, p->value),
                                                "type", sct_type_get(p->type)->name));
  }
  return list;
}

sct_status sct_codegen_launch(sct_str *out, const sct_spec *spec, const sct_kernel_code *code,
                              sct_error *err) {
  json_t *requires = json_array(), *align = json_object(), *layouts = json_object();
  for (int k = 0; k < code->n_require; k++) {
    json_array_append_new(requires, expr_json(spec, code->require[k]));
  }
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *operand = &spec->operands[op];
    json_object_set_new(align, operand->name, json_integer(code->align[op]));
    json_object_set_new(layouts, operand->name,
                        json_string(operand->layouts[code->layout[op]].label));
  }
  json_t *launch =
      json_pack("{s:s, s:i, s:o, s:I, s:I, s:o, s:o, s:o, s:s}", "kernel", code->kernel, "threads",
                code->threads, "grid", expr_json(spec, code->grid), "shared_bytes",
                (json_int_t)code->shared_bytes, "static_shared_bytes",
                (json_int_t)code->static_shared_bytes, "requires", requires, "align", align,
                "layouts", layouts, "doc", code->launcher_doc ? code->launcher_doc : "");
  if (code->n_params > 0) {
    json_object_set_new(launch, "params", params_json(spec, code));
    json_object_set_new(launch, "grid_dims", expr_list(spec, code->grid_dims, 3));
    json_object_set_new(launch, "block",
                        json_pack("[i, i, i]", code->block[0], code->block[1], code->block[2]));
  }
  if (code->workspace_bytes > 0) {
    json_object_set_new(launch, "workspace_bytes", json_integer(code->workspace_bytes));
  }
  if (code->passes > 0) {
    json_object_set_new(launch, "passes", json_integer(code->passes));
  }
  return sct_json_dump(out, launch, JSON_COMPACT, err);
}

static json_t *tree_json(const sct_spec *spec, sct_expr e) {
  SCT_SCOPED(sct_str) text = {0};
  sct_expr_print_tree(&text, spec->pool, e);
  return json_loads(sct_str_c(&text), JSON_DECODE_ANY, NULL);
}

/* Arrays, scalars, extents, workspace, pass: a kernel of the user's own has "params" in its launch.
 */
static json_t *arguments_json(const sct_spec *spec, const sct_kernel_code *code) {
  json_t *list = json_array();
  for (int k = 0; k < spec->n_operands; k++) {
    json_array_append_new(list, json_string(spec->operands[k].name));
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    json_array_append_new(list, json_string(spec->scalars[k].name));
  }
  for (int k = 0; k < spec->n_extents; k++) {
    json_array_append_new(list, json_sprintf("n_%s", spec->extent_names[k]));
  }
  if (code->workspace_bytes > 0) {
    json_array_append_new(list, json_string("workspace"));
  }
  if (code->passes > 0) {
    json_array_append_new(list, json_string("pass"));
  }
  return list;
}

sct_status sct_codegen_trees(sct_str *out, const sct_spec *spec, const sct_kernel_code *code,
                             sct_error *err) {
  json_t *grid = json_array(), *requires = json_array(), *trees = json_object();
  for (int d = 0; d < 3; d++) {
    json_array_append_new(grid, code->n_params > 0 ? tree_json(spec, code->grid_dims[d])
                                : d == 0           ? tree_json(spec, code->grid)
                                                   : json_integer(1));
  }
  for (int k = 0; k < code->n_require; k++) {
    json_array_append_new(requires, tree_json(spec, code->require[k]));
  }
  json_object_set_new(trees, "grid", grid);
  json_object_set_new(trees, "requires", requires);
  if (code->n_params == 0) {
    json_object_set_new(trees, "arguments", arguments_json(spec, code));
  }
  return sct_json_dump(out, trees, JSON_COMPACT, err);
}

static json_t *value_json(const sct_axis_value *value) {
  return value->is_string ? json_string(value->text)
         : value->is_bool ? json_boolean(value->number != 0)
                          : json_integer(value->number);
}

void sct_codegen_axes(sct_str *out, const sct_space *space, const sct_candidate *cand) {
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  json_t *axes = json_object();
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *axis = &strategy->axes[a];
    json_object_set_new(axes, axis->name, value_json(&axis->values[cand->value[a]]));
  }
  (void)sct_json_dump(out, axes, JSON_COMPACT, NULL); /* what is no text stays out */
}
