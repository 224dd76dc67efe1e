/* The stored JSON documents as checked structs. A store is data that may come from elsewhere, so
 * nothing is believed: every name must be a name, every type one of ours, every expression one that
 * only computes. What does not fit is SCT_EDATA with the field's path. */
#include "emit/emit_internal.h"

#include <limits.h>
#include <string.h>

static sct_status get_name(const char **out, sct_json at) {
  SCT_TRY(sct_json_text(out, at, NULL));
  return emit_is_name(*out) ? SCT_OK : sct_json_fail(at, "expected a name");
}

/* Reads the name of a field, which may be an element of an array: "q[3]". */
static sct_status get_field_name(const char **out, sct_json at) {
  char base[256];
  SCT_TRY(sct_json_text(out, at, NULL));
  const size_t n = strcspn(*out, "["),
               digits = strspn(*out + n + ((*out)[n] != '\0'), "0123456789");
  snprintf(base, sizeof base, "%.*s", (int)n, *out);
  const bool element =
      (*out)[n] == '[' && digits > 0 && digits < 3 && strcmp(*out + n + 1 + digits, "]") == 0;
  return emit_is_name(base) && ((*out)[n] == '\0' || element)
             ? SCT_OK
             : sct_json_fail(at, "expected a name");
}

static sct_status get_align(int64_t *out, sct_json at) {
  SCT_TRY(sct_json_integer(out, at, 1, 4096));
  return (*out & (*out - 1)) == 0 ? SCT_OK : sct_json_fail(at, "expected a power of two");
}

static sct_status get_type(const emit_type **out, sct_json at) {
  const char *name = NULL;
  SCT_TRY(sct_json_text(&name, at, NULL));
  *out = emit_type_find(name);
  return *out != NULL ? SCT_OK : sct_json_fail(at, "expected a type such as f32");
}

/* ---- the signature ---- */

static sct_status read_field(emit_field *f, sct_json at, bool bare, int64_t record_bytes) {
  const emit_type *type = NULL;
  SCT_TRY(get_type(&type, sct_json_member(at, "type")));
  f->type = type->name;
  f->cuda = type->cuda;
  f->bytes = type->bytes;
  f->name = "";
  if (!bare) {
    SCT_TRY(get_field_name(&f->name, sct_json_member(at, "name")));
  }
  return sct_json_integer(&f->offset, sct_json_member(at, "offset"), 0, record_bytes - f->bytes);
}

static sct_status read_record(emit_record *record, sct_json at, bool bare) {
  const sct_json fields = sct_json_member(at, "fields");
  if (!json_is_object(at.json)) {
    return sct_json_fail(at, "expected an object");
  }
  SCT_TRY(sct_json_integer(&record->bytes, sct_json_member(at, "bytes"), 1, 1 << 20));
  SCT_TRY(get_align(&record->align, sct_json_member(at, "align")));
  record->packed = sct_json_is_true(at, "packed");
  if (!bare) {
    SCT_TRY(get_name(&record->name, sct_json_member(at, "name")));
  }
  SCT_TRY(sct_json_length(&record->n_fields, fields, false));
  record->fields = SCT_ARENA_NEW(at.doc->arena, emit_field, record->n_fields + 1);
  if (record->n_fields < 1 || (bare && record->n_fields != 1)) {
    return sct_json_fail(fields, "expected %s", bare ? "one field" : "at least one field");
  }
  for (int k = 0; k < record->n_fields; k++) {
    SCT_TRY(read_field(&record->fields[k], sct_json_item(fields, (size_t)k), bare, record->bytes));
  }
  return SCT_OK;
}

static sct_status read_operand(emit_operand *op, sct_json at) {
  const char *role = NULL;
  SCT_TRY(get_name(&op->name, sct_json_member(at, "name")));
  SCT_TRY(sct_json_text(&role, sct_json_member(at, "role"), NULL));
  op->is_output = strcmp(role, "out") == 0;
  if (!op->is_output && strcmp(role, "in") != 0) {
    return sct_json_fail(sct_json_member(at, "role"), "expected in or out");
  }
  op->is_inout = sct_json_is_true(at, "inout");
  op->keeps = sct_json_is_true(at, "keeps");
  const bool bare = sct_json_is_true(at, "bare");
  SCT_TRY(read_record(&op->record, sct_json_member(at, "record"), bare));
  SCT_TRY(sct_json_texts(&op->layouts, &op->n_layouts, sct_json_member(at, "layouts"), false));
  SCT_TRY(sct_json_text(&op->reduce, sct_json_member(at, "reduce"), ""));
  SCT_TRY(sct_json_text(&op->scan, sct_json_member(at, "scan"), ""));
  SCT_TRY(sct_json_text(&op->accumulate, sct_json_member(at, "accumulate"), ""));
  op->ordered = sct_json_is_true(at, "ordered");
  op->start = -1;
  if (sct_json_member(at, "start").json != NULL) {
    SCT_TRY(sct_json_integer(&op->start, sct_json_member(at, "start"), 0, 255));
  }
  SCT_TRY(sct_json_texts(&op->at, &op->n_at, sct_json_member(at, "at"), true));
  SCT_TRY(sct_json_texts(&op->taps, &op->n_taps, sct_json_member(at, "taps"), true));
  SCT_TRY(sct_json_text(&op->border, sct_json_member(at, "border"), "none"));
  op->offsets = sct_json_is_true(at, "offsets");
  return sct_json_texts(&op->dims, &op->n_dims, sct_json_member(at, "dims"), true);
}

/* Dimensions name the indices of formulas: each must be a parameter beside the extents. */
static sct_status check_indices(const emit_operand *op, const emit_signature *sig, sct_json dims) {
  for (int d = 0; d < op->n_dims; d++) {
    const char *name = op->dims[d];
    bool good = emit_is_name(name) && strcmp(name, "min") != 0 && strcmp(name, "max") != 0 &&
                !sct_has_prefix(name, "sct_floor_");
    for (int other = 0; other < d; other++) {
      good = good && strcmp(name, op->dims[other]) != 0;
    }
    for (int k = 0; k < sig->n_extents; k++) {
      good = good && !(sct_has_prefix(name, "n_") && strcmp(name + 2, sig->extents[k].name) == 0);
    }
    if (!good) {
      return sct_json_fail(sct_json_item(dims, (size_t)d),
                           "expected a name that no other index has");
    }
  }
  return SCT_OK;
}

/* An expression over the extents and, with `op`, over its indices. */
static sct_status get_expression(const char **out, sct_json at, const emit_signature *sig,
                                 const emit_operand *op) {
  SCT_TRY(sct_json_text(out, at, NULL));
  if (emit_is_expression(*out, sig, op)) {
    return SCT_OK;
  }
  return sct_json_fail(at, "expected an expression over %sthe extents n_...",
                       op != NULL && op->n_dims > 0 ? "indices and " : "");
}

static sct_status get_expressions(const char ***out, sct_json list, int n,
                                  const emit_signature *sig, const emit_operand *op) {
  int length = 0;
  SCT_TRY(sct_json_length(&length, list, false));
  if (length != n) {
    return sct_json_fail(list, "expected one expression for each dimension, field or layout");
  }
  *out = SCT_ARENA_NEW(list.doc->arena, const char *, n + 1);
  for (int k = 0; k < n; k++) {
    SCT_TRY(get_expression(&(*out)[k], sct_json_item(list, (size_t)k), sig, op));
  }
  return SCT_OK;
}

/* Stores of older programs have none. */
static sct_status read_formulas(emit_operand *op, const emit_signature *sig, sct_json at) {
  const emit_operand without_indices = {.n_dims = 0};
  const sct_json list = sct_json_member(at, "formulas");
  int n = 0;
  SCT_TRY(sct_json_length(&n, list, true));
  if (n == 0) {
    return SCT_OK;
  }
  if (n != op->n_layouts) {
    return sct_json_fail(list, "expected one for each layout");
  }
  SCT_TRY(check_indices(op, sig, sct_json_member(at, "dims")));
  SCT_TRY(
      get_expressions(&op->shape, sct_json_member(at, "shape"), op->n_dims, sig, &without_indices));
  op->formulas = SCT_ARENA_NEW(at.doc->arena, emit_formula, n);
  for (int k = 0; k < n; k++) {
    emit_formula *f = &op->formulas[k];
    SCT_TRY(sct_json_text(&f->doc, sct_json_member(sct_json_item(list, (size_t)k), "doc"), ""));
    SCT_TRY(get_expression(&f->bytes, sct_json_member(sct_json_item(list, (size_t)k), "bytes"), sig,
                           &without_indices));
    SCT_TRY(get_expressions(&f->offsets, sct_json_member(sct_json_item(list, (size_t)k), "offsets"),
                            op->record.n_fields, sig, op));
  }
  return SCT_OK;
}

/* Reads the bytes of the array under each layout, which stores of older programs lack. */
static sct_status read_bytes(emit_operand *op, const emit_signature *sig, sct_json at) {
  const emit_operand without_indices = {.n_dims = 0};
  const sct_json list = sct_json_member(at, "bytes");
  int n = 0;
  SCT_TRY(sct_json_length(&n, list, true));
  return n == 0 ? SCT_OK : get_expressions(&op->bytes, list, op->n_layouts, sig, &without_indices);
}

/* Any number of expressions over extents; none in stores of older programs. */
static sct_status read_conditions(const char ***out, int *n, const emit_signature *sig,
                                  sct_json list) {
  SCT_TRY(sct_json_length(n, list, true));
  return *n == 0 ? SCT_OK : get_expressions(out, list, *n, sig, NULL);
}

static sct_status read_limits(emit_operand *op, const emit_signature *sig, sct_json at) {
  SCT_TRY(read_conditions(&op->inside, &op->n_inside, sig, sct_json_member(at, "inside")));
  const sct_json apart = sct_json_member(at, "apart");
  SCT_TRY(sct_json_length(&op->n_apart, apart, true));
  op->apart = SCT_ARENA_NEW(at.doc->arena, emit_steps, op->n_apart + 1);
  for (int k = 0; k < op->n_apart; k++) {
    const sct_json steps = sct_json_item(apart, (size_t)k);
    SCT_TRY(read_conditions(&op->apart[k].texts, &op->apart[k].n, sig, steps));
    if (op->apart[k].n % 2 != 0) {
      return sct_json_fail(steps, "expected a step and its last index, for each");
    }
  }
  return read_conditions(&op->bounds, &op->n_bounds, sig, sct_json_member(at, "bounds"));
}

enum { MOST_HALO = 1 << 16 };

/* Reads how the array is cut into chunks, for a spec with `host = true`. */
static sct_status read_chunks(emit_operand *op, const emit_signature *sig, sct_json at) {
  const emit_operand without_indices = {.n_dims = 0};
  const sct_json writes = sct_json_member(at, "writes_all");
  int n = 0;
  op->stays = sct_json_is_true(at, "stays");
  SCT_TRY(get_expressions(&op->chunk_steps, sct_json_member(at, "chunk_steps"), op->n_layouts, sig,
                          &without_indices));
  SCT_TRY(sct_json_length(&n, writes, false));
  if (n != op->n_layouts || op->bytes == NULL) {
    return sct_json_fail(writes, "expected one for each layout, and its bytes");
  }
  op->writes_all = SCT_ARENA_NEW(at.doc->arena, bool, n + 1);
  for (int k = 0; k < n; k++) {
    op->writes_all[k] = json_is_true(sct_json_item(writes, (size_t)k).json);
  }
  return SCT_OK;
}

static sct_status read_host(emit_signature *sig, sct_json root) {
  const sct_json host = sct_json_member(root, "host"), operands = sct_json_member(root, "operands");
  const char *name = NULL;
  sig->chunk_dim = -1;
  if (host.json == NULL) {
    return SCT_OK;
  }
  SCT_TRY(sct_json_text(&name, sct_json_member(host, "chunks"), NULL));
  for (int k = 0; k < sig->n_extents; k++) {
    sig->chunk_dim =
        sig->extents[k].is_dim && strcmp(sig->extents[k].name, name) == 0 ? k : sig->chunk_dim;
  }
  if (sig->chunk_dim < 0) {
    return sct_json_fail(sct_json_member(host, "chunks"), "expected a dimension");
  }
  SCT_TRY(sct_json_integer(&sig->halo_before, sct_json_member(host, "before"), 0, MOST_HALO));
  SCT_TRY(sct_json_integer(&sig->halo_after, sct_json_member(host, "after"), 0, MOST_HALO));
  for (int k = 0; k < sig->n_operands; k++) {
    SCT_TRY(read_chunks(&sig->operands[k], sig, sct_json_item(operands, (size_t)k)));
  }
  return SCT_OK;
}

static sct_status read_scalar(emit_scalar *scalar, sct_json at) {
  const emit_type *type = NULL;
  SCT_TRY(get_name(&scalar->name, sct_json_member(at, "name")));
  SCT_TRY(get_type(&type, sct_json_member(at, "type")));
  scalar->type = type->name;
  scalar->cuda = type->cuda;
  return SCT_OK;
}

static sct_status read_extent(emit_extent *extent, sct_json at) {
  SCT_TRY(sct_json_text(&extent->name, sct_json_member(at, "name"), NULL));
  extent->is_dim = sct_json_is_true(at, "dim");
  extent->reduced = extent->is_dim && sct_json_is_true(at, "reduced");
  extent->ragged = extent->is_dim && sct_json_is_true(at, "ragged");
  extent->rows = extent->is_dim && sct_json_is_true(at, "rows");
  if (!sct_is_identifier(extent->name) || strstr(extent->name, "__") != NULL) {
    return sct_json_fail(sct_json_member(at, "name"), "expected a name");
  }
  return SCT_OK;
}

const char *emit_argument(const emit_signature *sig, int k) {
  const int scalar = k - sig->n_operands;
  const int extent = scalar - sig->n_scalars;
  return scalar < 0   ? sig->operands[k].name
         : extent < 0 ? sig->scalars[scalar].name
                      : sig->extents[extent].name;
}

int emit_n_arguments(const emit_signature *sig) {
  return sig->n_operands + sig->n_scalars + sig->n_extents;
}

/* Two arguments of the launch function must not have one spelling; an extent's is n_<name>. */
static bool same_argument(const emit_signature *sig, int a, int b) {
  const int first_extent = sig->n_operands + sig->n_scalars;
  const char *left = emit_argument(sig, a);
  const char *right = emit_argument(sig, b); /* b > a */
  if (a < first_extent && b >= first_extent) {
    return sct_has_prefix(left, "n_") && strcmp(left + 2, right) == 0;
  }
  return strcmp(left, right) == 0;
}

static sct_status check_arguments(const emit_signature *sig, const sct_json_doc *doc) {
  for (int b = 1; b < emit_n_arguments(sig); b++) {
    for (int a = 0; a < b; a++) {
      if (same_argument(sig, a, b)) {
        return sct_json_fail((sct_json){doc, NULL, emit_argument(sig, a)},
                             "expected every argument to have a name of its own");
      }
    }
  }
  return SCT_OK;
}

static sct_status read_lists(emit_signature *sig, sct_json root) {
  const sct_json operands = sct_json_member(root, "operands");
  const sct_json scalars = sct_json_member(root, "scalars");
  const sct_json extents = sct_json_member(root, "extents");
  SCT_TRY(sct_json_length(&sig->n_operands, operands, false));
  SCT_TRY(sct_json_length(&sig->n_scalars, scalars, true));
  SCT_TRY(sct_json_length(&sig->n_extents, extents, false));
  sig->operands = SCT_ARENA_NEW(root.doc->arena, emit_operand, sig->n_operands + 1);
  sig->scalars = SCT_ARENA_NEW(root.doc->arena, emit_scalar, sig->n_scalars + 1);
  sig->extents = SCT_ARENA_NEW(root.doc->arena, emit_extent, sig->n_extents + 1);
  for (int k = 0; k < sig->n_operands; k++) {
    SCT_TRY(read_operand(&sig->operands[k], sct_json_item(operands, (size_t)k)));
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    SCT_TRY(read_scalar(&sig->scalars[k], sct_json_item(scalars, (size_t)k)));
  }
  bool any_dim = false;
  for (int k = 0; k < sig->n_extents; k++) {
    SCT_TRY(read_extent(&sig->extents[k], sct_json_item(extents, (size_t)k)));
    any_dim = any_dim || sig->extents[k].is_dim;
    if (k > 0 && sig->extents[k].is_dim && !sig->extents[k - 1].is_dim) {
      return sct_json_fail(sct_json_item(extents, (size_t)k),
                           "expected those with \"dim\": true first");
    }
  }
  for (int k = 0; k < sig->n_operands; k++) { /* their expressions are over the extents */
    const sct_json operand = sct_json_item(operands, (size_t)k);
    SCT_TRY(read_formulas(&sig->operands[k], sig, operand));
    SCT_TRY(read_bytes(&sig->operands[k], sig, operand));
    SCT_TRY(read_limits(&sig->operands[k], sig, operand));
  }
  if (sig->n_operands == 0) {
    return sct_json_fail(operands, "expected at least one");
  }
  return any_dim ? check_arguments(sig, root.doc)
                 : sct_json_fail(extents, "expected at least one with \"dim\": true");
}

sct_status emit_read_signature(emit_signature *out, sct_arena *arena, const char *json,
                               sct_error *err) {
  const sct_json_doc doc = {arena, "the stored signature is damaged: ", "", SCT_EDATA, err};
  sct_json root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_json_parse(&root, &doc, json));
  SCT_TRY_DONE(get_name(&out->name, sct_json_member(root, "name")));
  SCT_TRY_DONE(sct_json_text(&out->body, sct_json_member(root, "body"), ""));
  SCT_TRY_DONE(read_lists(out, root));
  SCT_TRY_DONE(read_host(out, root));
done:
  json_decref(root.json);
  return status;
}

/* ---- launch data ---- */

static sct_status read_per_operand(emit_launch *launch, const emit_signature *sig, sct_json root) {
  launch->align = SCT_ARENA_NEW(root.doc->arena, int64_t, sig->n_operands);
  launch->layouts = SCT_ARENA_NEW(root.doc->arena, const char *, sig->n_operands);
  for (int k = 0; k < sig->n_operands; k++) {
    const emit_operand *op = &sig->operands[k];
    const sct_json align = sct_json_member(sct_json_member(root, "align"), op->name);
    launch->align[k] = emit_natural_align(&op->record);
    SCT_TRY(align.json != NULL ? get_align(&launch->align[k], align) : SCT_OK);
    SCT_TRY(sct_json_text(&launch->layouts[k],
                          sct_json_member(sct_json_member(root, "layouts"), op->name),
                          op->n_layouts == 1 ? op->layouts[0] : NULL));
  }
  return SCT_OK;
}

/* The argument called so among the first n, or -1. */
static int find_argument(const emit_signature *sig, const char *name, int first, int n) {
  for (int k = first; k < first + n; k++) {
    if (strcmp(emit_argument(sig, k), name) == 0) {
      return k;
    }
  }
  return -1;
}

static sct_status read_param(emit_param *param, const emit_signature *sig, sct_json at) {
  const sct_json array = sct_json_member(at, "array"), scalar = sct_json_member(at, "scalar");
  const bool is_array = array.json != NULL;
  const char *name = NULL;
  const emit_type *type = NULL;
  param->argument = -1;
  if (is_array || scalar.json != NULL) {
    SCT_TRY(sct_json_text(&name, is_array ? array : scalar, NULL));
    param->argument = is_array ? find_argument(sig, name, 0, sig->n_operands)
                               : find_argument(sig, name, sig->n_operands, sig->n_scalars);
    return param->argument >= 0 ? SCT_OK : sct_json_fail(at, "expected an array or a scalar");
  }
  SCT_TRY(get_expression(&param->value, sct_json_member(at, "value"), sig, NULL));
  SCT_TRY(get_type(&type, sct_json_member(at, "type")));
  param->cuda = type->cuda;
  return SCT_OK;
}

/* Reads the launch of a kernel of the user's own, which has "params". */
static sct_status read_own(emit_launch *launch, const emit_signature *sig, sct_json root) {
  const sct_json params = sct_json_member(root, "params"), block = sct_json_member(root, "block");
  const emit_operand without_indices = {.n_dims = 0};
  SCT_TRY(sct_json_text(&launch->kernel, sct_json_member(root, "kernel"), NULL));
  SCT_TRY(sct_json_length(&launch->n_params, params, false));
  if (!sct_is_kernel_name(launch->kernel) || launch->n_params == 0) {
    return sct_json_fail(sct_json_member(root, "kernel"), "expected the name of a kernel");
  }
  launch->params = SCT_ARENA_NEW(root.doc->arena, emit_param, launch->n_params);
  for (int k = 0; k < launch->n_params; k++) {
    SCT_TRY(read_param(&launch->params[k], sig, sct_json_item(params, (size_t)k)));
  }
  for (size_t d = 0; d < 3; d++) {
    SCT_TRY(sct_json_integer(&launch->block[d], sct_json_item(block, d), 1, 1024));
  }
  return get_expressions(&launch->grid_dims, sct_json_member(root, "grid_dims"), 3, sig,
                         &without_indices);
}

static sct_status read_launch(emit_launch *launch, const emit_signature *sig, sct_json root) {
  const sct_json requires = sct_json_member(root, "requires");
  const sct_json workspace = sct_json_member(root, "workspace_bytes");
  SCT_TRY(sct_json_member(root, "params").json != NULL
              ? read_own(launch, sig, root)
              : get_name(&launch->kernel, sct_json_member(root, "kernel")));
  SCT_TRY(sct_json_integer(&launch->threads, sct_json_member(root, "threads"), 1, 1024));
  SCT_TRY(
      sct_json_integer(&launch->shared_bytes, sct_json_member(root, "shared_bytes"), 0, 1 << 24));
  SCT_TRY(sct_json_integer(&launch->static_shared_bytes,
                           sct_json_member(root, "static_shared_bytes"), 0, 1 << 24));
  SCT_TRY(get_expression(&launch->grid, sct_json_member(root, "grid"), sig, NULL));
  SCT_TRY(sct_json_length(&launch->n_requires, requires, true));
  launch->requires = SCT_ARENA_NEW(root.doc->arena, const char *, launch->n_requires + 1);
  for (int k = 0; k < launch->n_requires; k++) {
    SCT_TRY(get_expression(&launch->requires[k], sct_json_item(requires, (size_t)k), sig, NULL));
  }
  SCT_TRY(sct_json_text(&launch->doc, sct_json_member(root, "doc"), ""));
  if (workspace.json != NULL) {
    SCT_TRY(sct_json_integer(&launch->workspace_bytes, workspace, 0, 1 << 30));
  }
  if (sct_json_is_true(root, "exclusive")) {
    return sct_fail(
        root.doc->err, SCT_EDATA,
        "the kernel '%s' keeps partial results in an array of its own, as older versions "
        "made them: run `sectile tune` on its spec again",
        launch->kernel);
  }
  return read_per_operand(launch, sig, root);
}

sct_status emit_read_launch(emit_launch *out, sct_arena *arena, const emit_signature *sig,
                            const char *json, sct_error *err) {
  const sct_json_doc doc = {arena, "the stored launch data is damaged: ", "", SCT_EDATA, err};
  sct_json root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_json_parse(&root, &doc, json));
  SCT_TRY_DONE(read_launch(out, sig, root));
done:
  json_decref(root.json);
  return status;
}

/* ---- small documents ---- */

sct_status emit_read_extents(int64_t *out, double *elements, const emit_signature *sig,
                             const char *json, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  const sct_json_doc doc = {&arena, "the stored extents of a run are damaged: ", "", SCT_EDATA,
                            err};
  sct_json root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(sct_json_parse(&root, &doc, json));
  *elements = 1;
  for (int k = 0; k < sig->n_extents; k++) {
    SCT_TRY_DONE(
        sct_json_integer(&out[k], sct_json_member(root, sig->extents[k].name), 0, LLONG_MAX));
    *elements *= sig->extents[k].is_dim && !sig->extents[k].rows ? (double)out[k] : 1.0;
  }
done:
  json_decref(root.json);
  return status;
}

int64_t emit_read_n_sms(const char *json) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(json);
  const int64_t n = json_integer_value(json_object_get(root, "n_sms"));
  return n > 0 && n < 100000 ? n : 0;
}

/* The digits of all shapes. */
static bool is_table(const char *text, int64_t step, int64_t reach, int n_dims) {
  size_t n = 1;
  if (text == NULL || step < 1 || step > 6 || reach < 1 || reach > 20 || n_dims > 6) {
    return false;
  }
  for (int d = 0; d < n_dims; d++) {
    n *= 2 * (size_t)reach + 1;
  }
  return n <= 4096 && strlen(text) == n && strspn(text, "01") == n;
}

emit_shapes emit_read_shapes(sct_arena *arena, const char *conditions, const char *hash,
                             int n_dims) {
  emit_shapes out = {0};
  SCT_OWNED_PTR(json_t) root = sct_json_load(conditions);
  const json_t *shapes = json_object_get(root, "shapes");
  const char *winner = json_string_value(json_object_get(shapes, "winner"));
  const char *slower = json_string_value(json_object_get(shapes, "slower"));
  const int64_t step = json_integer_value(json_object_get(shapes, "step"));
  const int64_t reach = json_integer_value(json_object_get(shapes, "reach"));
  if (winner != NULL && hash != NULL && strcmp(winner, hash) == 0 &&
      is_table(slower, step, reach, n_dims)) {
    out = (emit_shapes){sct_arena_strdup(arena, slower), (int)step, (int)reach};
  }
  return out;
}

const char *emit_passed_over(sct_arena *arena, const char *conditions) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(conditions);
  const json_t *doc = json_object_get(root, "passed_over");
  const char *label = json_string_value(json_object_get(doc, "label"));
  const double ratio = json_number_value(json_object_get(doc, "ratio"));
  const bool unknown = json_is_true(json_object_get(doc, "unknown"));
  return label && ratio > 1.0 && ratio < 1e12
             ? sct_arena_printf(arena,
                                "passed over: '%s', %.2f times as fast but not %scoalesced; "
                                "sectile tune --select any takes it",
                                label, ratio, unknown ? "known to be " : "")
             : NULL;
}

bool emit_selects_any(const char *conditions) {
  SCT_OWNED_PTR(json_t) root = sct_json_load(conditions);
  const char *selection = json_string_value(json_object_get(root, "selection"));
  return selection != NULL && strcmp(selection, "any") == 0;
}

/* Every axis of `a` but layout.* stands with the same value in `b`. */
static bool axes_within(json_t *a, json_t *b) {
  const char *key = NULL;
  json_t *of_a = NULL;
  json_object_foreach(a, key, of_a) {
    if (!sct_has_prefix(key, "layout.") && !json_equal(of_a, json_object_get(b, key))) {
      return false;
    }
  }
  return true;
}

bool emit_same_axes(const char *a, const char *b) {
  SCT_OWNED_PTR(json_t) left = sct_json_load(a);
  SCT_OWNED_PTR(json_t) right = sct_json_load(b);
  return json_is_object(left) && json_is_object(right) && axes_within(left, right) &&
         axes_within(right, left);
}
