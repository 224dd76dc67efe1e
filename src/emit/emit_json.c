/* The stored JSON documents as checked structs. A store is data that may come from elsewhere, so
 * nothing is believed: every name must be a name, every type one of ours, every expression one that
 * only computes. What does not fit is SCT_EDATA with the field's path. */
#include "emit/emit_internal.h"

#include <jansson.h>
#include <limits.h>
#include <string.h>

enum { MAX_ITEMS = 4096 }; /* operands, fields, extents: far above anything a kernel has */

/* A document being read: where strings go, and what the messages call it. */
typedef struct reader {
  sct_arena *arena;
  const char *what; /* "signature" */
  sct_error *err;
} reader;

/* A value in a document, and where it stands: "operands[1].name". */
typedef struct value {
  const reader *r;
  const json_t *json; /* NULL: absent */
  const char *path;
} value;

static sct_status damaged(value at, const char *expected) {
  return sct_fail(at.r->err, SCT_EDATA, "the stored %s is damaged: %s: expected %s", at.r->what,
                  at.path, expected);
}

static value member(value object, const char *key) {
  return (value){object.r, json_object_get(object.json, key),
                 sct_arena_printf(object.r->arena, "%s%s%s", object.path,
                                  object.path[0] != '\0' ? "." : "", key)};
}

static value item(value list, int k) {
  return (value){list.r, json_array_get(list.json, (size_t)k),
                 sct_arena_printf(list.r->arena, "%s[%d]", list.path, k)};
}

/* ---- one value ---- */

static bool is_absent(value at) {
  return at.json == NULL || json_is_null(at.json);
}

/* `fallback` when it is absent (NULL: it must be there). */
static sct_status get_text(const char **out, value at, const char *fallback) {
  const char *text = is_absent(at) ? fallback : json_string_value(at.json);
  if (text == NULL) {
    return damaged(at, "text");
  }
  *out = sct_arena_strdup(at.r->arena, text);
  return SCT_OK;
}

static sct_status get_name(const char **out, value at) {
  SCT_TRY(get_text(out, at, NULL));
  return emit_is_name(*out) ? SCT_OK : damaged(at, "a name");
}

static sct_status get_integer(int64_t *out, value at, int64_t lo, int64_t hi) {
  *out = json_integer_value(at.json);
  if (!json_is_integer(at.json) || *out < lo || *out > hi) {
    char expected[80];
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)lo,
             (long long)hi);
    return damaged(at, expected);
  }
  return SCT_OK;
}

static sct_status get_align(int64_t *out, value at) {
  SCT_TRY(get_integer(out, at, 1, 4096));
  return (*out & (*out - 1)) == 0 ? SCT_OK : damaged(at, "a power of two");
}

/* The length of a list; an absent one is empty when `optional`. */
static sct_status get_length(int *n, value at, bool optional) {
  *n = 0;
  if (optional && is_absent(at)) {
    return SCT_OK;
  }
  if (!json_is_array(at.json) || json_array_size(at.json) > MAX_ITEMS) {
    return damaged(at, "a list");
  }
  *n = (int)json_array_size(at.json);
  return SCT_OK;
}

static sct_status get_texts(const char ***out, int *n, value list, bool optional) {
  SCT_TRY(get_length(n, list, optional));
  *out = SCT_ARENA_NEW(list.r->arena, const char *, *n + 1);
  for (int k = 0; k < *n; k++) {
    SCT_TRY(get_text(&(*out)[k], item(list, k), NULL));
  }
  return SCT_OK;
}

static sct_status get_type(const emit_type **out, value at) {
  const char *name = NULL;
  SCT_TRY(get_text(&name, at, NULL));
  *out = emit_type_find(name);
  return *out != NULL ? SCT_OK : damaged(at, "a type such as f32");
}

/* The caller ends `root`, also of a document that is none. */
static sct_status parse(json_t **root, value *out, const reader *r, const char *text) {
  json_error_t where;
  *root = json_loads(text != NULL ? text : "", JSON_REJECT_DUPLICATES, &where);
  *out = (value){r, *root, ""};
  return json_is_object(*root)
             ? SCT_OK
             : damaged((value){r, NULL, "the document"}, *root != NULL ? "an object" : where.text);
}

/* ---- the signature ---- */

static sct_status read_field(emit_field *f, value at, bool bare, int64_t record_bytes) {
  const emit_type *type = NULL;
  SCT_TRY(get_type(&type, member(at, "type")));
  f->type = type->name;
  f->cuda = type->cuda;
  f->bytes = type->bytes;
  f->name = "";
  if (!bare) {
    SCT_TRY(get_name(&f->name, member(at, "name")));
  }
  return get_integer(&f->offset, member(at, "offset"), 0, record_bytes - f->bytes);
}

static sct_status read_record(emit_record *record, value at, bool bare) {
  const value fields = member(at, "fields");
  if (!json_is_object(at.json)) {
    return damaged(at, "an object");
  }
  SCT_TRY(get_integer(&record->bytes, member(at, "bytes"), 1, 1 << 20));
  SCT_TRY(get_align(&record->align, member(at, "align")));
  record->packed = json_is_true(json_object_get(at.json, "packed"));
  if (!bare) {
    SCT_TRY(get_name(&record->name, member(at, "name")));
  }
  SCT_TRY(get_length(&record->n_fields, fields, false));
  record->fields = SCT_ARENA_NEW(at.r->arena, emit_field, record->n_fields + 1);
  if (record->n_fields < 1 || (bare && record->n_fields != 1)) {
    return damaged(fields, bare ? "one field" : "at least one field");
  }
  for (int k = 0; k < record->n_fields; k++) {
    SCT_TRY(read_field(&record->fields[k], item(fields, k), bare, record->bytes));
  }
  return SCT_OK;
}

static sct_status read_operand(emit_operand *op, value at) {
  const char *role = NULL;
  SCT_TRY(get_name(&op->name, member(at, "name")));
  SCT_TRY(get_text(&role, member(at, "role"), NULL));
  op->is_output = strcmp(role, "out") == 0;
  if (!op->is_output && strcmp(role, "in") != 0) {
    return damaged(member(at, "role"), "in or out");
  }
  const bool bare = json_is_true(json_object_get(at.json, "bare"));
  SCT_TRY(read_record(&op->record, member(at, "record"), bare));
  SCT_TRY(get_texts(&op->layouts, &op->n_layouts, member(at, "layouts"), false));
  SCT_TRY(get_text(&op->reduce, member(at, "reduce"), ""));
  SCT_TRY(get_texts(&op->at, &op->n_at, member(at, "at"), true));
  SCT_TRY(get_texts(&op->taps, &op->n_taps, member(at, "taps"), true));
  SCT_TRY(get_text(&op->border, member(at, "border"), "none"));
  return get_texts(&op->dims, &op->n_dims, member(at, "dims"), true);
}

/* Dimensions name the indices of formulas: each must be a parameter beside the extents. */
static sct_status check_indices(const emit_operand *op, const emit_signature *sig, value dims) {
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
      return damaged(item(dims, d), "a name that no other index has");
    }
  }
  return SCT_OK;
}

/* An expression over the extents and, with `op`, over its indices. */
static sct_status get_expression(const char **out, value at, const emit_signature *sig,
                                 const emit_operand *op) {
  SCT_TRY(get_text(out, at, NULL));
  if (emit_is_expression(*out, sig, op)) {
    return SCT_OK;
  }
  return damaged(at, op != NULL && op->n_dims > 0
                         ? "an expression over indices and the extents n_..."
                         : "an expression over the extents n_...");
}

static sct_status get_expressions(const char ***out, value list, int n, const emit_signature *sig,
                                  const emit_operand *op) {
  int length = 0;
  SCT_TRY(get_length(&length, list, false));
  if (length != n) {
    return damaged(list, "one expression for each dimension or field");
  }
  *out = SCT_ARENA_NEW(list.r->arena, const char *, n + 1);
  for (int k = 0; k < n; k++) {
    SCT_TRY(get_expression(&(*out)[k], item(list, k), sig, op));
  }
  return SCT_OK;
}

/* Stores of older programs have none. */
static sct_status read_formulas(emit_operand *op, const emit_signature *sig, value at) {
  const emit_operand without_indices = {.n_dims = 0};
  const value list = member(at, "formulas");
  int n = 0;
  SCT_TRY(get_length(&n, list, true));
  if (n == 0) {
    return SCT_OK;
  }
  if (n != op->n_layouts) {
    return damaged(list, "one for each layout");
  }
  SCT_TRY(check_indices(op, sig, member(at, "dims")));
  SCT_TRY(get_expressions(&op->shape, member(at, "shape"), op->n_dims, sig, &without_indices));
  op->formulas = SCT_ARENA_NEW(at.r->arena, emit_formula, n);
  for (int k = 0; k < n; k++) {
    emit_formula *f = &op->formulas[k];
    SCT_TRY(get_text(&f->doc, member(item(list, k), "doc"), ""));
    SCT_TRY(get_expression(&f->bytes, member(item(list, k), "bytes"), sig, &without_indices));
    SCT_TRY(get_expressions(&f->offsets, member(item(list, k), "offsets"), op->record.n_fields, sig,
                            op));
  }
  return SCT_OK;
}

static sct_status read_scalar(emit_scalar *scalar, value at) {
  const emit_type *type = NULL;
  SCT_TRY(get_name(&scalar->name, member(at, "name")));
  SCT_TRY(get_type(&type, member(at, "type")));
  scalar->type = type->name;
  scalar->cuda = type->cuda;
  return SCT_OK;
}

static sct_status read_extent(emit_extent *extent, value at) {
  SCT_TRY(get_text(&extent->name, member(at, "name"), NULL));
  extent->is_dim = json_is_true(json_object_get(at.json, "dim"));
  extent->reduced = extent->is_dim && json_is_true(json_object_get(at.json, "reduced"));
  if (!sct_is_identifier(extent->name) || strstr(extent->name, "__") != NULL) {
    return damaged(member(at, "name"), "a name");
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

static sct_status check_arguments(const emit_signature *sig, const reader *r) {
  for (int b = 1; b < emit_n_arguments(sig); b++) {
    for (int a = 0; a < b; a++) {
      if (same_argument(sig, a, b)) {
        return damaged((value){r, NULL, emit_argument(sig, a)},
                       "every argument to have a name of its own");
      }
    }
  }
  return SCT_OK;
}

static sct_status read_lists(emit_signature *sig, value root) {
  const value operands = member(root, "operands");
  const value scalars = member(root, "scalars");
  const value extents = member(root, "extents");
  SCT_TRY(get_length(&sig->n_operands, operands, false));
  SCT_TRY(get_length(&sig->n_scalars, scalars, true));
  SCT_TRY(get_length(&sig->n_extents, extents, false));
  sig->operands = SCT_ARENA_NEW(root.r->arena, emit_operand, sig->n_operands + 1);
  sig->scalars = SCT_ARENA_NEW(root.r->arena, emit_scalar, sig->n_scalars + 1);
  sig->extents = SCT_ARENA_NEW(root.r->arena, emit_extent, sig->n_extents + 1);
  for (int k = 0; k < sig->n_operands; k++) {
    SCT_TRY(read_operand(&sig->operands[k], item(operands, k)));
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    SCT_TRY(read_scalar(&sig->scalars[k], item(scalars, k)));
  }
  bool any_dim = false;
  for (int k = 0; k < sig->n_extents; k++) {
    SCT_TRY(read_extent(&sig->extents[k], item(extents, k)));
    any_dim = any_dim || sig->extents[k].is_dim;
    if (k > 0 && sig->extents[k].is_dim && !sig->extents[k - 1].is_dim) {
      return damaged(item(extents, k), "those with \"dim\": true first");
    }
  }
  for (int k = 0; k < sig->n_operands; k++) { /* their expressions are over the extents */
    SCT_TRY(read_formulas(&sig->operands[k], sig, item(operands, k)));
  }
  if (sig->n_operands == 0) {
    return damaged(operands, "at least one");
  }
  return any_dim ? check_arguments(sig, root.r)
                 : damaged(extents, "at least one with \"dim\": true");
}

sct_status emit_read_signature(emit_signature *out, sct_arena *arena, const char *json,
                               sct_error *err) {
  const reader r = {arena, "signature", err};
  json_t *document = NULL;
  value root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(parse(&document, &root, &r, json));
  SCT_TRY_DONE(get_name(&out->name, member(root, "name")));
  SCT_TRY_DONE(get_text(&out->body, member(root, "body"), ""));
  SCT_TRY_DONE(read_lists(out, root));
done:
  json_decref(document);
  return status;
}

/* ---- launch data ---- */

/* What an operand's pointer needs when the document does not say: the largest word of its fields.
 */
static int64_t natural_align(const emit_operand *op) {
  int64_t align = 1;
  for (int k = 0; k < op->record.n_fields && !op->record.packed; k++) {
    align = op->record.fields[k].bytes > align ? op->record.fields[k].bytes : align;
  }
  return align;
}

static sct_status read_per_operand(emit_launch *launch, const emit_signature *sig, value root) {
  launch->align = SCT_ARENA_NEW(root.r->arena, int64_t, sig->n_operands);
  launch->layouts = SCT_ARENA_NEW(root.r->arena, const char *, sig->n_operands);
  for (int k = 0; k < sig->n_operands; k++) {
    const emit_operand *op = &sig->operands[k];
    const value align = member(member(root, "align"), op->name);
    launch->align[k] = natural_align(op);
    SCT_TRY(align.json != NULL ? get_align(&launch->align[k], align) : SCT_OK);
    SCT_TRY(get_text(&launch->layouts[k], member(member(root, "layouts"), op->name),
                     op->n_layouts == 1 ? op->layouts[0] : NULL));
  }
  return SCT_OK;
}

static sct_status read_launch(emit_launch *launch, const emit_signature *sig, value root) {
  const value requires = member(root, "requires");
  const value workspace = member(root, "workspace_bytes");
  SCT_TRY(get_name(&launch->kernel, member(root, "kernel")));
  SCT_TRY(get_integer(&launch->threads, member(root, "threads"), 1, 1024));
  SCT_TRY(get_integer(&launch->shared_bytes, member(root, "shared_bytes"), 0, 1 << 24));
  SCT_TRY(
      get_integer(&launch->static_shared_bytes, member(root, "static_shared_bytes"), 0, 1 << 24));
  SCT_TRY(get_expression(&launch->grid, member(root, "grid"), sig, NULL));
  SCT_TRY(get_length(&launch->n_requires, requires, true));
  launch->requires = SCT_ARENA_NEW(root.r->arena, const char *, launch->n_requires + 1);
  for (int k = 0; k < launch->n_requires; k++) {
    SCT_TRY(get_expression(&launch->requires[k], item(requires, k), sig, NULL));
  }
  SCT_TRY(get_text(&launch->doc, member(root, "doc"), ""));
  if (workspace.json != NULL) {
    SCT_TRY(get_integer(&launch->workspace_bytes, workspace, 0, 1 << 30));
  }
  if (json_is_true(json_object_get(root.json, "exclusive"))) {
    return sct_fail(
        root.r->err, SCT_EDATA,
        "the kernel '%s' keeps partial results in an array of its own, as older versions "
        "made them: run `sectile tune` on its spec again",
        launch->kernel);
  }
  return read_per_operand(launch, sig, root);
}

sct_status emit_read_launch(emit_launch *out, sct_arena *arena, const emit_signature *sig,
                            const char *json, sct_error *err) {
  const reader r = {arena, "launch data", err};
  json_t *document = NULL;
  value root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(parse(&document, &root, &r, json));
  SCT_TRY_DONE(read_launch(out, sig, root));
done:
  json_decref(document);
  return status;
}

/* ---- small documents ---- */

sct_status emit_read_extents(int64_t *out, double *elements, const emit_signature *sig,
                             const char *json, sct_error *err) {
  sct_arena arena = {0};
  const reader r = {&arena, "extents of a run", err};
  json_t *document = NULL;
  value root;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(parse(&document, &root, &r, json));
  *elements = 1;
  for (int k = 0; k < sig->n_extents; k++) {
    SCT_TRY_DONE(get_integer(&out[k], member(root, sig->extents[k].name), 0, LLONG_MAX));
    *elements *= sig->extents[k].is_dim ? (double)out[k] : 1.0;
  }
done:
  json_decref(document);
  sct_arena_free(&arena);
  return status;
}

int64_t emit_read_n_sms(const char *json) {
  json_t *root = json_loads(json != NULL ? json : "", 0, NULL);
  const int64_t n = json_integer_value(json_object_get(root, "n_sms"));
  json_decref(root);
  return n > 0 && n < 100000 ? n : 0;
}

/* Digits of so many shapes. */
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
  json_t *root = json_loads(conditions != NULL ? conditions : "", 0, NULL);
  const json_t *shapes = json_object_get(root, "shapes");
  const char *winner = json_string_value(json_object_get(shapes, "winner"));
  const char *slower = json_string_value(json_object_get(shapes, "slower"));
  const int64_t step = json_integer_value(json_object_get(shapes, "step"));
  const int64_t reach = json_integer_value(json_object_get(shapes, "reach"));
  if (winner != NULL && hash != NULL && strcmp(winner, hash) == 0 &&
      is_table(slower, step, reach, n_dims)) {
    out = (emit_shapes){sct_arena_strdup(arena, slower), (int)step, (int)reach};
  }
  json_decref(root);
  return out;
}

bool emit_selects_any(const char *conditions) {
  json_t *root = json_loads(conditions != NULL ? conditions : "", 0, NULL);
  const char *selection = json_string_value(json_object_get(root, "selection"));
  const bool any = selection != NULL && strcmp(selection, "any") == 0;
  json_decref(root);
  return any;
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
  json_t *left = json_loads(a != NULL ? a : "", 0, NULL);
  json_t *right = json_loads(b != NULL ? b : "", 0, NULL);
  const bool same = json_is_object(left) && json_is_object(right) && axes_within(left, right) &&
                    axes_within(right, left);
  json_decref(left);
  json_decref(right);
  return same;
}
