/* From names and texts to variables and expressions: extents, index variables, `extents`, `at`. */
#include <string.h>

#include "spec/spec_internal.h"

int sct_spec_find_operand(const sct_spec *spec, const char *name, size_t len) {
  return sct_names_find_n(SCT_NAMES_IN(spec->operands, spec->n_operands, name), name, len);
}

int sct_spec_find_dim(const sct_spec *spec, const char *name, size_t len) {
  return sct_names_find_n(SCT_NAMES(spec->dims, spec->n_dims), name, len);
}

int sct_spec_find_field(const sct_record *record, const char *name, size_t len) {
  for (int k = 0; k < record->n_fields; k++) {
    const char *field = record->fields[k].name;
    if (strncmp(field, name, len) == 0 && strcspn(field, "[") == len) {
      return k;
    }
  }
  return -1;
}

/* ---- names ---- */

static sct_status fail_name(const sct_spec *spec, const char *file, int line, const char *what,
                            const char *name, const char *bad, sct_error *err) {
  char other[64];
  snprintf(other, sizeof other, "%s_", name);
  if (!bad) {
    return SCT_OK;
  }
  return sct_spec_bad_name(other)
             ? sct_spec_fail_at(spec, err, file, line, "%s '%s' %s", what, name, bad)
             : sct_spec_fail_at(spec, err, file, line, "%s '%s' %s; call it '%s'", what, name, bad,
                                other);
}

static sct_status check_name(const sct_spec *spec, const char *file, int line, const char *what,
                             const char *name, sct_error *err) {
  return fail_name(spec, file, line, what, name, sct_spec_bad_name(name), err);
}

static sct_status check_taken(const sct_spec *spec, const char *file, int line, const char *what,
                              const char *name, int n_scalars, int n_operands, sct_error *err) {
  const char *taken = NULL;
  for (int k = 0; k < n_scalars; k++) {
    taken = strcmp(spec->scalars[k].name, name) == 0 ? "a scalar" : taken;
  }
  for (int k = 0; k < n_operands; k++) {
    taken = strcmp(spec->operands[k].name, name) == 0 ? "an array" : taken;
  }
  for (int k = 0; k < spec->n_dims; k++) {
    taken = strcmp(spec->dims[k], name) == 0 ? "a dimension" : taken;
    const bool extent = sct_has_prefix(name, "n_") && strcmp(name + 2, spec->dims[k]) == 0;
    taken = extent ? "the extent of a dimension" : taken;
  }
  if (taken) {
    return sct_spec_fail_at(spec, err, file, line, "%s '%s': the name is already %s", what, name,
                            taken);
  }
  return SCT_OK;
}

sct_status sct_spec_check_value_name(const sct_spec *spec, const char *file, int line,
                                     const char *what, const char *name, sct_error *err) {
  SCT_TRY(check_name(spec, file, line, what, name, err));
  return check_taken(spec, file, line, what, name, spec->n_scalars, spec->n_operands, err);
}

/* A variable of a type's name would hide the type. */
static sct_status check_records(const sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const char *type = op->record.name;
    if (type) {
      SCT_TRY(check_taken(spec, op->file, op->line, "record", type, spec->n_scalars,
                          spec->n_operands, err));
    }
  }
  return SCT_OK;
}

/* An array in inputs and in outputs: what is meant is one that is updated in place. */
static sct_status check_listed_once(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const int first = sct_spec_find_operand(spec, op->name, strlen(op->name));
  const sct_operand *other = &spec->operands[first];
  if (other == op || other->is_output == op->is_output) {
    return SCT_OK;
  }
  return sct_spec_fail_at(spec, err, op->file, op->line,
                          "array '%s' is in both inputs and outputs; to update it in place, list "
                          "it in outputs alone, with inout = true: its element is then read and "
                          "written at one index; what reads other elements of it writes an array "
                          "of another name",
                          op->name);
}

static sct_status check_names(const sct_spec *spec, sct_error *err) {
  SCT_TRY(fail_name(spec, spec->file, spec->line, "kernel name", spec->name,
                    sct_spec_bad_kernel_name(spec->name), err));
  if (spec->n_dims < 1 || spec->n_dims > SCT_MAX_DIMS) {
    return sct_spec_fail_at(spec, err, spec->file, spec->line,
                            "a kernel has 1 to %d dimensions, not %d", SCT_MAX_DIMS, spec->n_dims);
  }
  for (int k = 0; k < spec->n_dims; k++) {
    SCT_TRY(check_name(spec, spec->file, spec->line, "dimension", spec->dims[k], err));
    for (int other = 0; other < k; other++) {
      if (strcmp(spec->dims[other], spec->dims[k]) == 0) {
        return sct_spec_fail_at(spec, err, spec->file, spec->line, "dimension '%s' appears twice",
                                spec->dims[k]);
      }
    }
  }
  for (int k = 0; k < spec->n_scalars; k++) {
    SCT_TRY(check_name(spec, spec->file, spec->line, "scalar", spec->scalars[k].name, err));
    SCT_TRY(check_taken(spec, spec->file, spec->line, "scalar", spec->scalars[k].name, k, 0, err));
  }
  if (spec->n_operands > SCT_MAX_OPERANDS || spec->n_inputs >= spec->n_operands) {
    return sct_spec_fail_at(spec, err, spec->file, spec->line,
                            "a kernel has at least one output and at most %d arrays",
                            SCT_MAX_OPERANDS);
  }
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    SCT_TRY(check_name(spec, op->file, op->line, "array", op->name, err));
    SCT_TRY(check_listed_once(spec, op, err));
    SCT_TRY(check_taken(spec, op->file, op->line, "array", op->name, spec->n_scalars, k, err));
    if (op->n_dims > SCT_MAX_DIMS) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "array '%s' has at most %d dimensions, not %d", op->name,
                              SCT_MAX_DIMS, op->n_dims);
    }
  }
  return check_records(spec, err);
}

/* ---- extents ---- */

static sct_expr find_extent(const sct_spec *spec, const char *name) {
  const int k = sct_names_find(SCT_NAMES(spec->extent_names, spec->n_extents), name);
  return k >= 0 ? spec->extent_var[k] : SCT_EXPR_NONE;
}

static sct_status add_extent(sct_spec *spec, const char *name, int line, sct_error *err) {
  if (find_extent(spec, name) != SCT_EXPR_NONE) {
    return SCT_OK;
  }
  if (spec->n_extents == SCT_MAX_EXTENTS) {
    return sct_spec_fail_at(spec, err, spec->file, line, "more than %d dimensions in all",
                            SCT_MAX_EXTENTS);
  }
  char *var = sct_arena_printf(&spec->arena, "n_%s", name);
  const sct_expr e = var ? sct_expr_var(spec->pool, var, 0, SCT_MAX_EXTENT, 1) : SCT_EXPR_NONE;
  spec->extent_names[spec->n_extents] = name;
  spec->extent_var[spec->n_extents] = e;
  spec->n_extents++;
  return SCT_OK;
}

static sct_status make_extents(sct_spec *spec, sct_error *err) {
  spec->extent_names = SCT_ARENA_NEW(&spec->arena, const char *, SCT_MAX_EXTENTS);
  spec->extent_var = SCT_ARENA_NEW(&spec->arena, sct_expr, SCT_MAX_EXTENTS);
  spec->dim_var = SCT_ARENA_NEW(&spec->arena, sct_expr, spec->n_dims);
  for (int k = 0; k < spec->n_dims; k++) {
    spec->dim_var[k] = sct_expr_var(spec->pool, spec->dims[k], 0, SCT_MAX_EXTENT, 1);
    SCT_TRY(add_extent(spec, spec->dims[k], spec->line, err));
  }
  for (int k = 0; k < spec->n_numbers; k++) {
    const int line = sct_spec_text_line(spec, spec->file, spec->line, spec->numbers[k]);
    SCT_TRY(check_name(spec, spec->file, line, "extent", spec->numbers[k], err));
    SCT_TRY(check_taken(spec, spec->file, line, "extent", spec->numbers[k], spec->n_scalars,
                        spec->n_operands, err));
    if (find_extent(spec, spec->numbers[k]) != SCT_EXPR_NONE) {
      return sct_spec_fail_at(spec, err, spec->file, line, "extent '%s' appears twice",
                              spec->numbers[k]);
    }
    SCT_TRY(add_extent(spec, spec->numbers[k], line, err));
  }
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    for (int d = 0; d < op->n_dims; d++) {
      SCT_TRY(check_name(spec, op->file, op->line, "dimension", op->dims[d], err));
      const bool is_own = op->extent_text[d] && strcmp(op->extent_text[d], op->dims[d]) == 0;
      op->extent_text[d] = is_own ? NULL : op->extent_text[d];
      if (!op->extent_text[d]) {
        SCT_TRY(add_extent(spec, op->dims[d], op->line, err));
      }
    }
  }
  for (int k = 0; k < spec->n_dims; k++) {
    const bool is_extent = strncmp(spec->dims[k], "n_", 2) == 0 &&
                           find_extent(spec, spec->dims[k] + 2) != SCT_EXPR_NONE;
    if (is_extent) {
      return sct_spec_fail_at(spec, err, spec->file, spec->line,
                              "dimension '%s' is called as the extent of '%s' is in bodies and "
                              "`at`; choose another name",
                              spec->dims[k], spec->dims[k] + 2);
    }
  }
  return SCT_OK;
}

/* ---- the two texts ---- */

typedef struct resolve_ctx {
  const sct_spec *spec;
  const sct_operand *op;
  bool is_place;     /* `at`: dims, n_<extent> and index operands; else extents by their own name */
  int wrong_operand; /* an operand that cannot be an index, -1: none */
  const char *scalar; /* one that was named, NULL: none */
  const char *names[2 * SCT_MAX_EXTENTS + SCT_MAX_OPERANDS + SCT_MAX_VALUES];
  int n_names;
} resolve_ctx;

static sct_expr resolve_operand(resolve_ctx *ctx, const char *name) {
  const sct_spec *spec = ctx->spec;
  const int at = sct_spec_find_operand(spec, name, strlen(name));
  if (at < 0) {
    return SCT_EXPR_NONE;
  }
  sct_operand *op = &spec->operands[at];
  if (op->is_output || op == ctx->op || op->record.fields[0].name[0] != '\0' ||
      !sct_type_is_integer(op->record.fields[0].type)) {
    ctx->wrong_operand = at;
    return SCT_EXPR_NONE;
  }
  op->is_index = true;
  return sct_spec_index_place(spec, op);
}

static sct_expr resolve(void *data, sct_expr_pool *pool, const char *name, bool is_string) {
  resolve_ctx *ctx = data;
  (void)pool;
  if (is_string) {
    return SCT_EXPR_NONE;
  }
  for (int k = 0; k < ctx->spec->n_scalars; k++) {
    const char *scalar = ctx->spec->scalars[k].name;
    ctx->scalar = strcmp(scalar, name) == 0 ? scalar : ctx->scalar;
  }
  if (!ctx->is_place) {
    return find_extent(ctx->spec, name);
  }
  const int dim = sct_spec_find_dim(ctx->spec, name, strlen(name));
  if (dim >= 0) {
    return ctx->spec->dim_var[dim];
  }
  const sct_expr extent =
      sct_has_prefix(name, "n_") ? find_extent(ctx->spec, name + 2) : SCT_EXPR_NONE;
  const sct_value *value =
      ctx->spec->n_steps == 0 ? sct_spec_find_step_value(ctx->spec, name, strlen(name)) : NULL;
  return extent != SCT_EXPR_NONE ? extent : value ? value->index : resolve_operand(ctx, name);
}

static void list_names(resolve_ctx *ctx) {
  const sct_spec *spec = ctx->spec;
  if (!ctx->is_place) {
    for (int k = 0; k < spec->n_extents; k++) {
      ctx->names[ctx->n_names++] = spec->extent_names[k];
    }
    return;
  }
  for (int k = 0; k < spec->n_dims; k++) {
    ctx->names[ctx->n_names++] = spec->dims[k];
  }
  for (int k = 0; k < spec->n_extents; k++) {
    ctx->names[ctx->n_names++] = sct_expr_var_name(spec->pool, spec->extent_var[k]);
  }
  for (int k = 0; k < spec->n_inputs; k++) {
    ctx->names[ctx->n_names++] = spec->operands[k].name;
  }
  for (int k = 0; k < spec->n_values && spec->n_steps == 0; k++) {
    ctx->names[ctx->n_names++] = spec->values[k].name;
  }
}

static sct_status parse_text(sct_spec *spec, sct_operand *op, bool is_place, const char *text,
                             sct_expr *out, sct_error *err) {
  resolve_ctx ctx = {.spec = spec, .op = op, .is_place = is_place, .wrong_operand = -1};
  list_names(&ctx);
  const sct_expr_names names = {resolve, &ctx, ctx.names, ctx.n_names};
  sct_error why;
  if (sct_expr_parse(out, spec->pool, text, &names, &why) == SCT_OK) {
    return SCT_OK;
  }
  const char *what = is_place ? "at" : "extents";
  const int line = sct_spec_text_line(spec, op->file, op->line, text);
  if (ctx.scalar) {
    return sct_spec_fail_at(
        spec, err, op->file, line,
        "%s of '%s', \"%s\": '%s' is a scalar, which only bodies name; a number "
        "that places depend on stands in extents = { \"%s\" } of the kernel, not "
        "in scalars, sizes give it a value, and in `at` it is n_%s "
        "(docs/cookbook.md, \"A pitch that is known at launch\")",
        what, op->name, text, ctx.scalar, ctx.scalar, ctx.scalar);
  }
  if (ctx.wrong_operand >= 0) {
    const sct_operand *wrong = &spec->operands[ctx.wrong_operand];
    return sct_spec_fail_at(spec, err, op->file, line,
                            "%s of '%s': '%s' cannot be an index; an index array is another input "
                            "of a bare integer type",
                            what, op->name, wrong->name);
  }
  return sct_spec_fail_at(spec, err, op->file, line, "%s of '%s', \"%s\": %s", what, op->name, text,
                          why.text);
}

static sct_status bind_extents(sct_spec *spec, sct_operand *op, sct_error *err) {
  for (int d = 0; d < op->n_dims; d++) {
    sct_expr e = find_extent(spec, op->dims[d]);
    if (op->extent_text[d]) {
      SCT_TRY(parse_text(spec, op, false, op->extent_text[d], &e, err));
    }
    op->extent[d] = sct_expr_add(spec->pool, e, sct_expr_const(spec->pool, op->pad[d]));
    if (op->extent[d] == SCT_EXPR_NONE) {
      return sct_spec_fail_at(spec, err, op->file, op->line, "the extent of '%s' is too large",
                              op->name);
    }
  }
  return SCT_OK;
}

static sct_status bind_place(sct_spec *spec, sct_operand *op, sct_error *err) {
  for (int d = 0; d < op->n_dims; d++) {
    if (!op->at_text[d]) {
      const int dim = sct_spec_find_dim(spec, op->dims[d], strlen(op->dims[d]));
      if (dim < 0) {
        return sct_spec_fail_at(spec, err, op->file, op->line,
                                "'%s' has a dimension '%s' that the kernel has not; say where it "
                                "is read or written: at = { ... }; offsets of rows of different "
                                "lengths have the dimension of the rows, and the kernel has "
                                "ragged = { ... } (cookbook, \"Rows of different lengths\")",
                                op->name, op->dims[d]);
      }
      op->at_text[d] = op->dims[d];
    }
    SCT_TRY(parse_text(spec, op, true, op->at_text[d], &op->at[d], err));
    op->through_index = op->through_index || sct_spec_is_computed(spec, op->at[d]);
  }
  return SCT_OK;
}

/* ---- operands ---- */

static sct_status make_operand(sct_spec *spec, sct_operand *op, sct_error *err) {
  if (sct_has_prefix(op->name, "n_") && find_extent(spec, op->name + 2) != SCT_EXPR_NONE) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "array '%s': the name is already the extent of a dimension", op->name);
  }
  op->extent = SCT_ARENA_NEW(&spec->arena, sct_expr, op->n_dims);
  op->index = SCT_ARENA_NEW(&spec->arena, sct_expr, op->n_dims);
  op->at = SCT_ARENA_NEW(&spec->arena, sct_expr, op->n_dims);
  op->index_value =
      sct_expr_var(spec->pool, op->name, op->has_none ? -SCT_MAX_EXTENT : 0, SCT_MAX_EXTENT, 1);
  for (int d = 0; d < op->n_dims; d++) {
    const char *name = sct_arena_printf(&spec->arena, "%s.%d", op->name, d);
    op->index[d] = name ? sct_expr_var(spec->pool, name, 0, SCT_MAX_EXTENT, 1) : SCT_EXPR_NONE;
    for (int other = 0; other < d; other++) {
      if (strcmp(op->dims[other], op->dims[d]) == 0) {
        return sct_spec_fail_at(spec, err, op->file, op->line,
                                "array '%s' has dimension '%s' twice", op->name, op->dims[d]);
      }
    }
  }
  return SCT_OK;
}

/* ---- record names ---- */

static bool same_record(const sct_record *a, const sct_record *b) {
  bool same = a->n_fields == b->n_fields && a->bytes == b->bytes && a->align == b->align;
  for (int k = 0; same && k < a->n_fields; k++) {
    same = a->fields[k].type == b->fields[k].type && a->fields[k].offset == b->fields[k].offset &&
           strcmp(a->fields[k].name, b->fields[k].name) == 0;
  }
  return same;
}

/* A record that the user left unnamed gets the name of an equal one before it, else one made from
 * the first array that has it. Equal names mean equal records. */
static sct_status name_record(sct_spec *spec, sct_operand *op, sct_error *err) {
  sct_record *record = &op->record;
  const bool bare = record->fields[0].name[0] == '\0';
  for (const sct_operand *other = spec->operands; other < op && !bare; other++) {
    const sct_record *known = &other->record;
    if (!record->name && known->name && same_record(known, record)) {
      record->name = known->name;
    }
    if (record->name && known->name && strcmp(record->name, known->name) == 0 &&
        !same_record(known, record)) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "arrays '%s' and '%s' have different records with the name '%s'",
                              other->name, op->name, record->name);
    }
  }
  if (!record->name && !bare) {
    record->name = sct_arena_printf(&spec->arena, "%s_record", op->name);
  }
  return SCT_OK;
}

static sct_status check_n_args(const sct_spec *spec, sct_error *err) {
  const int n = spec->n_operands + spec->n_scalars + spec->n_extents;
  return n < SCT_MAX_ARGS ? SCT_OK
                          : sct_spec_fail_at(spec, err, spec->file, spec->line,
                                             "a kernel takes at most %d arguments; %d arrays, %d "
                                             "scalars and %d extents are %d",
                                             SCT_MAX_ARGS - 1, spec->n_operands, spec->n_scalars,
                                             spec->n_extents, n);
}

sct_status sct_spec_bind(sct_spec *spec, sct_error *err) {
  SCT_TRY(check_names(spec, err));
  SCT_TRY(sct_spec_join_maps(spec, err));
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(name_record(spec, &spec->operands[k], err));
  }
  SCT_TRY(sct_spec_bind_reduce(spec, err));
  SCT_TRY(sct_spec_bind_scan(spec, err));
  SCT_TRY(sct_spec_bind_accumulate(spec, err));
  SCT_TRY(make_extents(spec, err));
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(make_operand(spec, &spec->operands[k], err));
  }
  SCT_TRY(sct_spec_bind_offsets(spec, err));
  SCT_TRY(sct_spec_bind_computed(spec, err));
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(bind_extents(spec, &spec->operands[k], err));
  }
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(bind_place(spec, &spec->operands[k], err));
  }
  SCT_TRY(sct_spec_bind_shared(spec, err));
  SCT_TRY(sct_spec_bind_indexes(spec, err));
  for (int k = 0; k < spec->n_operands; k++) {
    sct_operand *op = &spec->operands[k];
    op->index_value = op->is_index ? op->index_value : SCT_EXPR_NONE;
  }
  SCT_TRY(sct_spec_check_computed(spec, err));
  SCT_TRY(check_n_args(spec, err));
  SCT_TRY(sct_spec_bind_steps(spec, err));
  SCT_TRY(sct_spec_check_ragged(spec, err));
  SCT_TRY(sct_spec_check_taps(spec, err));
  return sct_spec_bind_own(spec, err);
}
