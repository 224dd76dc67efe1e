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

static sct_status damaged(const reader *r, const char *path, const char *expected) {
  return sct_fail(r->err, SCT_EDATA, "the stored %s is damaged: %s: expected %s", r->what, path,
                  expected);
}

/* "operands[1].name" */
static const char *path_join(const reader *r, const char *path, const char *key) {
  return sct_arena_printf(r->arena, "%s%s%s", path, path[0] != '\0' ? "." : "", key);
}

static const char *path_index(const reader *r, const char *path, size_t index) {
  return sct_arena_printf(r->arena, "%s[%zu]", path, index);
}

/* ---- one value ---- */

/* A string member; `fallback` when it is absent or null (NULL: it must be there). */
static sct_status get_text(const char **out, const reader *r, const json_t *object,
                           const char *path, const char *key, const char *fallback) {
  const json_t *value = json_object_get(object, key);
  const char *text = json_string_value(value);
  if (text == NULL && fallback != NULL && (value == NULL || json_is_null(value))) {
    text = fallback;
  }
  if (text == NULL) {
    return damaged(r, path_join(r, path, key), "text");
  }
  *out = sct_arena_strdup(r->arena, text);
  return SCT_OK;
}

static sct_status get_name(const char **out, const reader *r, const json_t *object,
                           const char *path, const char *key) {
  SCT_TRY(get_text(out, r, object, path, key, NULL));
  return emit_is_name(*out) ? SCT_OK : damaged(r, path_join(r, path, key), "a name");
}

static sct_status get_integer(int64_t *out, const reader *r, const json_t *object, const char *path,
                              const char *key, int64_t lo, int64_t hi) {
  const json_t *value = json_object_get(object, key);
  *out = json_integer_value(value);
  if (!json_is_integer(value) || *out < lo || *out > hi) {
    char expected[80];
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)lo,
             (long long)hi);
    return damaged(r, path_join(r, path, key), expected);
  }
  return SCT_OK;
}

/* A list member and its length; an absent list is empty when `optional`. */
static sct_status get_list(const json_t **out, int *n, const reader *r, const json_t *object,
                           const char *path, const char *key, bool optional) {
  *out = json_object_get(object, key);
  *n = 0;
  if (optional && (*out == NULL || json_is_null(*out))) {
    return SCT_OK;
  }
  if (!json_is_array(*out) || json_array_size(*out) > MAX_ITEMS) {
    return damaged(r, path_join(r, path, key), "a list");
  }
  *n = (int)json_array_size(*out);
  return SCT_OK;
}

static sct_status get_texts(const char ***out, int *n, const reader *r, const json_t *object,
                            const char *path, const char *key, bool optional) {
  const json_t *list = NULL;
  SCT_TRY(get_list(&list, n, r, object, path, key, optional));
  *out = SCT_ARENA_NEW(r->arena, const char *, *n + 1);
  for (int k = 0; k < *n; k++) {
    const char *text = json_string_value(json_array_get(list, (size_t)k));
    if (text == NULL) {
      return damaged(r, path_index(r, path_join(r, path, key), (size_t)k), "text");
    }
    (*out)[k] = sct_arena_strdup(r->arena, text);
  }
  return SCT_OK;
}

static sct_status get_type(const emit_type **out, const reader *r, const json_t *object,
                           const char *path) {
  const char *name = NULL;
  SCT_TRY(get_text(&name, r, object, path, "type", NULL));
  *out = emit_type_find(name);
  return *out != NULL ? SCT_OK : damaged(r, path_join(r, path, "type"), "a type such as f32");
}

static sct_status parse(json_t **out, const reader *r, const char *text) {
  json_error_t where;
  *out = json_loads(text != NULL ? text : "", JSON_REJECT_DUPLICATES, &where);
  if (!json_is_object(*out)) {
    return damaged(r, "the document", *out != NULL ? "an object" : where.text);
  }
  return SCT_OK;
}

/* ---- the signature ---- */

static sct_status read_field(emit_field *f, const reader *r, const json_t *object, const char *path,
                             bool bare, int64_t record_bytes) {
  const emit_type *type = NULL;
  SCT_TRY(get_type(&type, r, object, path));
  f->type = type->name;
  f->cuda = type->cuda;
  f->bytes = type->bytes;
  f->name = "";
  if (!bare) {
    SCT_TRY(get_name(&f->name, r, object, path, "name"));
  }
  return get_integer(&f->offset, r, object, path, "offset", 0, record_bytes - f->bytes);
}

static sct_status read_record(emit_record *record, const reader *r, const json_t *object,
                              const char *path, bool bare) {
  const json_t *fields = NULL;
  if (!json_is_object(object)) {
    return damaged(r, path, "an object");
  }
  SCT_TRY(get_integer(&record->bytes, r, object, path, "bytes", 1, 1 << 20));
  SCT_TRY(get_integer(&record->align, r, object, path, "align", 1, 4096));
  if ((record->align & (record->align - 1)) != 0) {
    return damaged(r, path_join(r, path, "align"), "a power of two");
  }
  record->packed = json_is_true(json_object_get(object, "packed"));
  if (!bare) {
    SCT_TRY(get_name(&record->name, r, object, path, "name"));
  }
  SCT_TRY(get_list(&fields, &record->n_fields, r, object, path, "fields", false));
  record->fields = SCT_ARENA_NEW(r->arena, emit_field, record->n_fields + 1);
  if (record->n_fields < 1 || (bare && record->n_fields != 1)) {
    return damaged(r, path_join(r, path, "fields"), bare ? "one field" : "at least one field");
  }
  for (int k = 0; k < record->n_fields; k++) {
    const char *at = path_index(r, path_join(r, path, "fields"), (size_t)k);
    SCT_TRY(read_field(&record->fields[k], r, json_array_get(fields, (size_t)k), at, bare,
                       record->bytes));
  }
  return SCT_OK;
}

static sct_status read_operand(emit_operand *op, const reader *r, const json_t *object,
                               const char *path) {
  const char *role = NULL;
  SCT_TRY(get_name(&op->name, r, object, path, "name"));
  SCT_TRY(get_text(&role, r, object, path, "role", NULL));
  op->is_output = strcmp(role, "out") == 0;
  if (!op->is_output && strcmp(role, "in") != 0) {
    return damaged(r, path_join(r, path, "role"), "in or out");
  }
  const bool bare = json_is_true(json_object_get(object, "bare"));
  SCT_TRY(read_record(&op->record, r, json_object_get(object, "record"),
                      path_join(r, path, "record"), bare));
  SCT_TRY(get_texts(&op->layouts, &op->n_layouts, r, object, path, "layouts", false));
  SCT_TRY(get_text(&op->reduce, r, object, path, "reduce", ""));
  SCT_TRY(get_texts(&op->at, &op->n_at, r, object, path, "at", true));
  SCT_TRY(get_texts(&op->taps, &op->n_taps, r, object, path, "taps", true));
  SCT_TRY(get_text(&op->border, r, object, path, "border", "none"));
  return get_texts(&op->dims, &op->n_dims, r, object, path, "dims", true);
}

/* Dimensions name the indices of formulas: each must be a parameter beside the extents. */
static sct_status check_indices(const emit_operand *op, const reader *r, const emit_signature *sig,
                                const char *path) {
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
      return damaged(r, path_index(r, path_join(r, path, "dims"), (size_t)d),
                     "a name that no other index has");
    }
  }
  return SCT_OK;
}

static sct_status check_expressions(const char *const *texts, int n, int expected, const reader *r,
                                    const emit_signature *sig, const emit_operand *op,
                                    const char *path) {
  if (n != expected) {
    return damaged(r, path, "one expression for each dimension or field");
  }
  for (int k = 0; k < n; k++) {
    if (!emit_is_expression(texts[k], sig, op)) {
      return damaged(r, path_index(r, path, (size_t)k),
                     op->n_dims > 0 ? "an expression over indices and the extents n_..."
                                    : "an expression over the extents n_...");
    }
  }
  return SCT_OK;
}

static sct_status read_formula(emit_formula *f, const reader *r, const emit_signature *sig,
                               const emit_operand *op, const json_t *object, const char *path) {
  int n = 0;
  const emit_operand without_indices = {.n_dims = 0};
  SCT_TRY(get_text(&f->doc, r, object, path, "doc", ""));
  SCT_TRY(get_text(&f->bytes, r, object, path, "bytes", NULL));
  SCT_TRY(
      check_expressions(&f->bytes, 1, 1, r, sig, &without_indices, path_join(r, path, "bytes")));
  SCT_TRY(get_texts(&f->offsets, &n, r, object, path, "offsets", false));
  return check_expressions(f->offsets, n, op->record.n_fields, r, sig, op,
                           path_join(r, path, "offsets"));
}

/* Stores of older programs have none. */
static sct_status read_formulas(emit_operand *op, const reader *r, const emit_signature *sig,
                                const json_t *object, const char *path) {
  const json_t *list = NULL;
  int n = 0;
  int n_shape = 0;
  const emit_operand without_indices = {.n_dims = 0};
  SCT_TRY(get_list(&list, &n, r, object, path, "formulas", true));
  if (n == 0) {
    return SCT_OK;
  }
  if (n != op->n_layouts) {
    return damaged(r, path_join(r, path, "formulas"), "one for each layout");
  }
  SCT_TRY(check_indices(op, r, sig, path));
  SCT_TRY(get_texts(&op->shape, &n_shape, r, object, path, "shape", false));
  SCT_TRY(check_expressions(op->shape, n_shape, op->n_dims, r, sig, &without_indices,
                            path_join(r, path, "shape")));
  op->formulas = SCT_ARENA_NEW(r->arena, emit_formula, n);
  for (int k = 0; k < n; k++) {
    const char *at = path_index(r, path_join(r, path, "formulas"), (size_t)k);
    SCT_TRY(read_formula(&op->formulas[k], r, sig, op, json_array_get(list, (size_t)k), at));
  }
  return SCT_OK;
}

static sct_status read_scalar(emit_scalar *scalar, const reader *r, const json_t *object,
                              const char *path) {
  const emit_type *type = NULL;
  SCT_TRY(get_name(&scalar->name, r, object, path, "name"));
  SCT_TRY(get_type(&type, r, object, path));
  scalar->type = type->name;
  scalar->cuda = type->cuda;
  return SCT_OK;
}

static sct_status read_extent(emit_extent *extent, const reader *r, const json_t *object,
                              const char *path) {
  SCT_TRY(get_text(&extent->name, r, object, path, "name", NULL));
  extent->is_dim = json_is_true(json_object_get(object, "dim"));
  extent->reduced = extent->is_dim && json_is_true(json_object_get(object, "reduced"));
  if (!sct_is_identifier(extent->name) || strstr(extent->name, "__") != NULL) {
    return damaged(r, path_join(r, path, "name"), "a name");
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
        return damaged(r, emit_argument(sig, a), "every argument to have a name of its own");
      }
    }
  }
  return SCT_OK;
}

static sct_status read_lists(emit_signature *sig, const reader *r, const json_t *root) {
  const json_t *operands = NULL;
  const json_t *scalars = NULL;
  const json_t *extents = NULL;
  SCT_TRY(get_list(&operands, &sig->n_operands, r, root, "", "operands", false));
  SCT_TRY(get_list(&scalars, &sig->n_scalars, r, root, "", "scalars", true));
  SCT_TRY(get_list(&extents, &sig->n_extents, r, root, "", "extents", false));
  sig->operands = SCT_ARENA_NEW(r->arena, emit_operand, sig->n_operands + 1);
  sig->scalars = SCT_ARENA_NEW(r->arena, emit_scalar, sig->n_scalars + 1);
  sig->extents = SCT_ARENA_NEW(r->arena, emit_extent, sig->n_extents + 1);
  for (int k = 0; k < sig->n_operands; k++) {
    SCT_TRY(read_operand(&sig->operands[k], r, json_array_get(operands, (size_t)k),
                         path_index(r, "operands", (size_t)k)));
  }
  for (int k = 0; k < sig->n_scalars; k++) {
    SCT_TRY(read_scalar(&sig->scalars[k], r, json_array_get(scalars, (size_t)k),
                        path_index(r, "scalars", (size_t)k)));
  }
  bool any_dim = false;
  for (int k = 0; k < sig->n_extents; k++) {
    SCT_TRY(read_extent(&sig->extents[k], r, json_array_get(extents, (size_t)k),
                        path_index(r, "extents", (size_t)k)));
    any_dim = any_dim || sig->extents[k].is_dim;
    if (k > 0 && sig->extents[k].is_dim && !sig->extents[k - 1].is_dim) {
      return damaged(r, path_index(r, "extents", (size_t)k), "those with \"dim\": true first");
    }
  }
  for (int k = 0; k < sig->n_operands; k++) { /* their expressions are over the extents */
    SCT_TRY(read_formulas(&sig->operands[k], r, sig, json_array_get(operands, (size_t)k),
                          path_index(r, "operands", (size_t)k)));
  }
  if (sig->n_operands == 0 || !any_dim) {
    return damaged(r, sig->n_operands == 0 ? "operands" : "extents",
                   sig->n_operands == 0 ? "at least one" : "at least one with \"dim\": true");
  }
  return check_arguments(sig, r);
}

sct_status emit_read_signature(emit_signature *out, sct_arena *arena, const char *json,
                               sct_error *err) {
  const reader r = {arena, "signature", err};
  json_t *root = NULL;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(parse(&root, &r, json));
  SCT_TRY_DONE(get_name(&out->name, &r, root, "", "name"));
  SCT_TRY_DONE(get_text(&out->body, &r, root, "", "body", ""));
  SCT_TRY_DONE(read_lists(out, &r, root));
done:
  json_decref(root);
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

static sct_status read_per_operand(emit_launch *launch, const reader *r, const emit_signature *sig,
                                   const json_t *root) {
  const json_t *align = json_object_get(root, "align");
  const json_t *layouts = json_object_get(root, "layouts");
  launch->align = SCT_ARENA_NEW(r->arena, int64_t, sig->n_operands);
  launch->layouts = SCT_ARENA_NEW(r->arena, const char *, sig->n_operands);
  for (int k = 0; k < sig->n_operands; k++) {
    const emit_operand *op = &sig->operands[k];
    launch->align[k] = natural_align(op);
    if (json_object_get(align, op->name) != NULL) {
      SCT_TRY(get_integer(&launch->align[k], r, align, "align", op->name, 1, 4096));
      if ((launch->align[k] & (launch->align[k] - 1)) != 0) {
        return damaged(r, path_join(r, "align", op->name), "a power of two");
      }
    }
    SCT_TRY(get_text(&launch->layouts[k], r, layouts, "layouts", op->name,
                     op->n_layouts == 1 ? op->layouts[0] : NULL));
  }
  return SCT_OK;
}

static sct_status read_launch(emit_launch *launch, const reader *r, const emit_signature *sig,
                              const json_t *root) {
  const char *const expression = "an expression over the extents n_...";
  SCT_TRY(get_name(&launch->kernel, r, root, "", "kernel"));
  SCT_TRY(get_integer(&launch->threads, r, root, "", "threads", 1, 1024));
  SCT_TRY(get_integer(&launch->shared_bytes, r, root, "", "shared_bytes", 0, 1 << 24));
  SCT_TRY(
      get_integer(&launch->static_shared_bytes, r, root, "", "static_shared_bytes", 0, 1 << 24));
  SCT_TRY(get_text(&launch->grid, r, root, "", "grid", NULL));
  if (!emit_is_expression(launch->grid, sig, NULL)) {
    return damaged(r, "grid", expression);
  }
  SCT_TRY(get_texts(&launch->requires, &launch->n_requires, r, root, "", "requires", true));
  for (int k = 0; k < launch->n_requires; k++) {
    if (!emit_is_expression(launch->requires[k], sig, NULL)) {
      return damaged(r, path_index(r, "requires", (size_t)k), expression);
    }
  }
  SCT_TRY(get_text(&launch->doc, r, root, "", "doc", ""));
  if (json_object_get(root, "workspace_bytes") != NULL) {
    SCT_TRY(get_integer(&launch->workspace_bytes, r, root, "", "workspace_bytes", 0, 1 << 30));
  }
  if (json_is_true(json_object_get(root, "exclusive"))) {
    return sct_fail(
        r->err, SCT_EDATA,
        "the kernel '%s' keeps partial results in an array of its own, as older versions "
        "made them: run `sectile tune` on its spec again",
        launch->kernel);
  }
  return read_per_operand(launch, r, sig, root);
}

sct_status emit_read_launch(emit_launch *out, sct_arena *arena, const emit_signature *sig,
                            const char *json, sct_error *err) {
  const reader r = {arena, "launch data", err};
  json_t *root = NULL;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(parse(&root, &r, json));
  SCT_TRY_DONE(read_launch(out, &r, sig, root));
done:
  json_decref(root);
  return status;
}

/* ---- small documents ---- */

sct_status emit_read_extents(int64_t *out, double *elements, const emit_signature *sig,
                             const char *json, sct_error *err) {
  sct_arena arena = {0};
  const reader r = {&arena, "extents of a run", err};
  json_t *root = NULL;
  sct_status status = SCT_OK;
  SCT_TRY_DONE(parse(&root, &r, json));
  *elements = 1;
  for (int k = 0; k < sig->n_extents; k++) {
    SCT_TRY_DONE(get_integer(&out[k], &r, root, "", sig->extents[k].name, 0, LLONG_MAX));
    *elements *= sig->extents[k].is_dim ? (double)out[k] : 1.0;
  }
done:
  json_decref(root);
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
  json_t *value = NULL;
  json_object_foreach(a, key, value) {
    if (!sct_has_prefix(key, "layout.") && !json_equal(value, json_object_get(b, key))) {
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
