/* Kernels of the user's own: their expressions, over extents and axes, and what their parameters
 * receive. */
#include <string.h>

#include "spec/spec_internal.h"

enum { MAX_ALL_AXES = 32 }; /* a search knows 64 names of axes, ours and layouts' included */

typedef struct own_names {
  const sct_spec *spec;
  const sct_own *own;
  bool extents; /* may be named, too */
  const char *names[SCT_MAX_EXTENTS + SCT_MAX_OWN_AXES + SCT_MAX_ARGS];
  int n;
} own_names;

static sct_expr resolve(void *ctx, sct_expr_pool *pool, const char *name, bool is_string) {
  const own_names *n = ctx;
  const int axis = sct_names_find(SCT_NAMES_IN(n->own->axes, n->own->n_axes, name), name);
  if (axis >= 0 && !is_string) {
    return n->own->axes[axis].var;
  }
  for (int k = 0; k < n->spec->n_extents && !is_string && n->extents; k++) {
    if (strcmp(sct_expr_var_name(pool, n->spec->extent_var[k]), name) == 0) {
      return n->spec->extent_var[k];
    }
  }
  return SCT_EXPR_NONE;
}

static own_names names_of(const sct_spec *spec, const sct_own *own, bool extents) {
  own_names n = {.spec = spec, .own = own, .extents = extents};
  for (int k = 0; k < own->n_axes; k++) {
    if (own->axes[k].var != SCT_EXPR_NONE) {
      n.names[n.n++] = own->axes[k].name;
    }
  }
  for (int k = 0; k < spec->n_extents && extents; k++) {
    n.names[n.n++] = sct_expr_var_name(spec->pool, spec->extent_var[k]);
  }
  return n;
}

/* Where `text` stands in the entry, in what it says of `key`. */
static int line_of(const sct_spec *spec, const sct_own *own, const char *key, const char *text) {
  const int line = sct_spec_key_line(spec, spec->file, own->line, key);
  return sct_spec_text_line(spec, spec->file, line, text);
}

static sct_status parse(sct_expr *out, sct_spec *spec, const sct_own *own, const char *what,
                        const char *text, own_names *names, sct_error *err) {
  const sct_expr_names resolver = {resolve, names, names->names, names->n};
  sct_error why;
  if (sct_expr_parse(out, spec->pool, text, &resolver, &why) == SCT_OK) {
    return SCT_OK;
  }
  return sct_spec_fail_at(spec, err, spec->file, line_of(spec, own, what, text),
                          "%s of '%s', \"%s\": %s", what, own->name, text, why.text);
}

/* ---- axes ---- */

static sct_status bind_axis(sct_spec *spec, sct_own *own, sct_own_axis *axis, int number,
                            sct_error *err) {
  const int line = sct_spec_key_line(spec, spec->file, own->line, axis->name);
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  SCT_TRY(sct_spec_check_value_name(spec, spec->file, line, "axis", axis->name, err));
  if (sct_has_prefix(axis->name, "layout_")) {
    return sct_spec_fail_at(spec, err, spec->file, line,
                            "axis '%s': names with layout_ are those of the arrays' layouts",
                            axis->name);
  }
  for (int k = 0; k < axis->n_values; k++) {
    const sct_axis_value *value = &axis->values[k];
    lo = value->number < lo ? value->number : lo;
    hi = value->number > hi ? value->number : hi;
    if (value->is_string && (!sct_is_printable(value->text) || strpbrk(value->text, ";{}#\\\"'"))) {
      return sct_spec_fail_at(spec, err, spec->file, line,
                              "axis '%s': a text is one that C++ has for a type or a value; '%s' "
                              "is none",
                              axis->name, value->text);
    }
  }
  if (!axis->values[0].is_string) {
    const char *name = sct_arena_printf(&spec->arena, "own %d.%s", number, axis->name);
    axis->var = sct_expr_var(spec->pool, name, lo, hi, 1);
  }
  return SCT_OK;
}

/* Marks the axes that stand in braces. */
static sct_status bind_name(sct_spec *spec, sct_own *own, sct_error *err) {
  const int line = line_of(spec, own, "kernel", own->kernel);
  const sct_names axes = SCT_NAMES_IN(own->axes, own->n_axes, name);
  for (const char *at = strchr(own->kernel, '{'); at != NULL; at = strchr(at + 1, '{')) {
    const size_t n = strcspn(at + 1, "}");
    const char *word = sct_arena_printf(&spec->arena, "%.*s", (int)n, at + 1);
    const int k = sct_names_find(axes, word);
    if (k < 0 || at[1 + n] != '}') {
      SCT_SCOPED(sct_str) hint = {0};
      sct_str_suggest(&hint, word, axes);
      return sct_spec_fail_at(spec, err, spec->file, line, "kernel \"%s\": there is no axis '%s'%s",
                              own->kernel, word, own->n_axes > 0 ? sct_str_c(&hint) : "");
    }
    own->is_argument[k] = true;
  }
  return SCT_OK;
}

/* ---- what is launched ---- */

static int find_scalar(const sct_spec *spec, const char *name) {
  return sct_names_find(SCT_NAMES_IN(spec->scalars, spec->n_scalars, name), name);
}

static sct_status bind_param(sct_spec *spec, sct_own *own, int k, sct_error *err) {
  sct_param *param = &own->params[k];
  const char *text = own->param_text[k];
  const int op = sct_spec_find_operand(spec, text, strlen(text)), scalar = find_scalar(spec, text);
  if (op >= 0) {
    *param = (sct_param){.kind = SCT_PARAM_ARRAY, .number = op};
    return SCT_OK;
  }
  if (scalar >= 0) {
    const sct_type_info *type = sct_type_get(spec->scalars[scalar].type);
    *param = (sct_param){.kind = SCT_PARAM_SCALAR, .number = scalar};
    return strcmp(type->name, "f16") != 0 && strcmp(type->name, "bf16") != 0
               ? SCT_OK
               : sct_spec_fail_at(spec, err, spec->file, line_of(spec, own, "args", text),
                                  "args of '%s': scalar '%s' is %s, which kernels of your own "
                                  "cannot be given; make it f32",
                                  own->name, text, type->name);
  }
  own_names names = names_of(spec, own, true);
  for (int n = 0; n < spec->n_operands; n++) {
    names.names[names.n++] = spec->operands[n].name;
  }
  for (int n = 0; n < spec->n_scalars; n++) {
    names.names[names.n++] = spec->scalars[n].name;
  }
  param->kind = SCT_PARAM_VALUE;
  return parse(&param->value, spec, own, "args", text, &names, err);
}

/* A condition that names an extent is one of the kernel's; others are constraints of the space,
 * which knows the layouts' axes and texts, too. */
static sct_status bind_where(sct_spec *spec, sct_own *own, int k, sct_error *err) {
  const char *text = own->where_text[k];
  own_names names = names_of(spec, own, true);
  if (strpbrk(text, "'\"") || strstr(text, "layout_")) {
    return SCT_OK;
  }
  SCT_TRY(parse(&own->where[k], spec, own, "where", text, &names, err));
  bool over_extents = false;
  for (int e = 0; e < spec->n_extents; e++) {
    over_extents =
        over_extents || sct_expr_mentions(spec->pool, own->where[k], spec->extent_var[e]);
  }
  own->where[k] = over_extents ? own->where[k] : SCT_EXPR_NONE;
  return SCT_OK;
}

/* Binds the three sides of a block or grid; a side that is not given is 1. */
static sct_status bind_sides(sct_spec *spec, sct_own *own, const char *what, const char **text,
                             bool extents, sct_expr *out, sct_error *err) {
  for (int d = 0; d < 3; d++) {
    own_names names = names_of(spec, own, extents);
    out[d] = sct_expr_const(spec->pool, 1);
    if (text[d]) {
      SCT_TRY(parse(&out[d], spec, own, what, text[d], &names, err));
    }
  }
  return SCT_OK;
}

static void allocate(sct_spec *spec, sct_own *own) {
  own->where = SCT_ARENA_NEW(&spec->arena, sct_expr, own->n_where);
  own->align = SCT_ARENA_NEW(&spec->arena, sct_expr, spec->n_operands);
  own->is_argument = SCT_ARENA_NEW(&spec->arena, bool, own->n_axes);
  own->is_macro = SCT_ARENA_NEW(&spec->arena, bool, own->n_axes);
}

static sct_status bind_one(sct_spec *spec, sct_own *own, int number, sct_error *err) {
  own_names axes_only;
  allocate(spec, own);
  for (int k = 0; k < own->n_axes; k++) {
    SCT_TRY(bind_axis(spec, own, &own->axes[k], number, err));
  }
  SCT_TRY(bind_name(spec, own, err));
  SCT_TRY(bind_sides(spec, own, "block", own->block_text, false, own->block, err));
  SCT_TRY(bind_sides(spec, own, "grid", own->grid_text, true, own->grid, err));
  axes_only = names_of(spec, own, false);
  own->shared = sct_expr_const(spec->pool, 0);
  if (own->shared_text) {
    SCT_TRY(parse(&own->shared, spec, own, "shared", own->shared_text, &axes_only, err));
  }
  for (int op = 0; op < spec->n_operands; op++) {
    own->align[op] = sct_expr_const(spec->pool, spec->operands[op].record.align);
    if (own->align_text[op]) {
      SCT_TRY(parse(&own->align[op], spec, own, "align", own->align_text[op], &axes_only, err));
    }
  }
  if (own->n_params >= SCT_MAX_ARGS) {
    return sct_spec_fail_at(spec, err, spec->file, own->line, "%d args; at most %d are possible",
                            own->n_params, SCT_MAX_ARGS - 1);
  }
  for (int k = 0; k < own->n_params; k++) {
    SCT_TRY(bind_param(spec, own, k, err));
  }
  for (int k = 0; k < own->n_where; k++) {
    SCT_TRY(bind_where(spec, own, k, err));
  }
  return sct_spec_check_own_text(spec, own, err);
}

sct_status sct_spec_bind_own(sct_spec *spec, sct_error *err) {
  int n_axes = 0;
  for (int k = 0; k < spec->n_own; k++) {
    n_axes += spec->own[k].n_axes;
  }
  if (n_axes > MAX_ALL_AXES) {
    return sct_spec_fail_at(spec, err, spec->file, spec->own[0].line,
                            "%d axes of kernels of your own in all; at most %d are possible",
                            n_axes, MAX_ALL_AXES);
  }
  for (int k = 0; k < spec->n_own; k++) {
    SCT_TRY(bind_one(spec, &spec->own[k], k, err));
  }
  return SCT_OK;
}

bool sct_param_bytes(uint8_t out[16], sct_type type, int64_t value) {
  const float f32 = (float)value;
  const double f64 = (double)value;
  memset(out, 0, 16);
  switch (type) {
  case SCT_TYPE_F32:
    memcpy(out, &f32, sizeof f32);
    return true;
  case SCT_TYPE_F64:
    memcpy(out, &f64, sizeof f64);
    return true;
  case SCT_TYPE_I32:
    memcpy(out, &value, 4); /* little-endian, as GPUs are */
    return value >= INT32_MIN && value <= INT32_MAX;
  case SCT_TYPE_U32:
    memcpy(out, &value, 4);
    return value >= 0 && value <= UINT32_MAX;
  default:
    memcpy(out, &value, sizeof value);
    return true;
  }
}
