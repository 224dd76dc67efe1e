/* The kernel as strategies and templates see it: plain tables of names, sizes and expressions,
 * which tuning/sectile/modes.lua rewrites over canonical modes. Strategies never see C data. */
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

/* ---- the expression library --------------------------------------------------------------------
 */

static sct_expr_pool *pool_of(lua_State *L) {
  return sct_sandbox_of(L)->pool;
}

/* E.var(name, lo, hi [, multiple]): a variable; the same name with other bounds is another variable
 * whose text is still `name`. */
static int expr_var(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const lua_Integer lo = luaL_checkinteger(L, 2), hi = luaL_checkinteger(L, 3);
  const lua_Integer multiple = luaL_optinteger(L, 4, 1);
  const char *full = lua_pushfstring(L, "%s#%I:%I:%I", name, lo, hi, multiple);
  sct_script_push_expr(L, sct_expr_var(pool_of(L), full, lo, hi, multiple));
  return 1;
}

/* E.raw(name, lo, hi): the variable of exactly this name; a later call gives the same one. */
static int expr_raw(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const lua_Integer lo = luaL_checkinteger(L, 2), hi = luaL_checkinteger(L, 3);
  const sct_expr e = sct_expr_var_find(pool_of(L), name);
  sct_script_push_expr(L, e != SCT_EXPR_NONE ? e : sct_expr_var(pool_of(L), name, lo, hi, 1));
  return 1;
}

#define MAX_PAIRS 64

/* How many pairs the list at 2 has. */
static int count_pairs(lua_State *L) {
  luaL_checktype(L, 2, LUA_TTABLE);
  const lua_Integer n = luaL_len(L, 2) / 2;
  luaL_argcheck(L, n <= MAX_PAIRS, 2, "too many variables");
  return (int)n;
}

/* E.subst(e, { var, with, var, with, ... }); instead of a variable any part of e */
static int expr_subst(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1);
  const int n = count_pairs(L);
  sct_expr vars[MAX_PAIRS], with[MAX_PAIRS];
  for (lua_Integer k = 0; k < n; k++) {
    lua_geti(L, 2, 2 * k + 1);
    lua_geti(L, 2, 2 * k + 2);
    vars[k] = sct_script_check_expr(L, -2);
    with[k] = sct_script_check_expr(L, -1);
    lua_pop(L, 2);
  }
  sct_script_push_expr(L, sct_expr_subst(pool_of(L), e, vars, with, n));
  return 1;
}

static int read_vars(lua_State *L, int idx, sct_expr vars[MAX_PAIRS]) {
  luaL_checktype(L, idx, LUA_TTABLE);
  const lua_Integer n = luaL_len(L, idx);
  luaL_argcheck(L, n <= MAX_PAIRS, idx, "too many variables");
  for (lua_Integer k = 0; k < n; k++) {
    lua_geti(L, idx, k + 1);
    vars[k] = sct_script_check_expr(L, -1);
    lua_pop(L, 1);
  }
  return (int)n;
}

/* E.split(e, { vars }) -> terms that mention one of vars, the other terms */
static int expr_split(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1);
  sct_expr vars[MAX_PAIRS], with, without;
  const int n = read_vars(L, 2, vars);
  sct_expr_split(pool_of(L), e, vars, n, &with, &without);
  sct_script_push_expr(L, with);
  sct_script_push_expr(L, without);
  return 2;
}

/* E.linear(e, var) -> coefficient, rest; nil if e is not linear in var */
static int expr_linear(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1), var = sct_script_check_expr(L, 2);
  int64_t coef;
  sct_expr rest;
  if (!sct_expr_linear(pool_of(L), e, var, &coef, &rest)) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, coef);
  sct_script_push_expr(L, rest);
  return 2;
}

static int expr_mentions(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1), var = sct_script_check_expr(L, 2);
  lua_pushboolean(L, sct_expr_mentions(pool_of(L), e, var));
  return 1;
}

/* E.divisor(e [, { vars }, multiple]): the largest known divisor, if every var were a multiple of
 * it */
static int expr_divisor(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1);
  sct_expr vars[MAX_PAIRS];
  int64_t multiples[MAX_PAIRS];
  int n = 0;
  if (!lua_isnoneornil(L, 2)) {
    n = read_vars(L, 2, vars);
    for (int k = 0; k < n; k++) {
      multiples[k] = luaL_checkinteger(L, 3);
    }
  }
  lua_pushinteger(L, sct_expr_divisor_if(pool_of(L), e, vars, multiples, n));
  return 1;
}

/* E.vars(e) -> list of its variables */
static int expr_vars(lua_State *L) {
  sct_expr vars[MAX_PAIRS];
  const int n = sct_expr_vars(pool_of(L), sct_script_check_expr(L, 1), vars, MAX_PAIRS);
  sct_script_push_exprs(L, vars, n < MAX_PAIRS ? n : MAX_PAIRS);
  return 1;
}

/* E.quotients(e) -> list of { dividend, divisor } of its divisions and remainders */
static int expr_quotients(lua_State *L) {
  sct_expr dividend[MAX_PAIRS], divisor[MAX_PAIRS];
  const int n =
      sct_expr_quotients(pool_of(L), sct_script_check_expr(L, 1), dividend, divisor, MAX_PAIRS);
  lua_createtable(L, n, 0);
  for (int k = 0; k < n && k < MAX_PAIRS; k++) {
    sct_script_push_exprs(L, (const sct_expr[]){dividend[k], divisor[k]}, 2);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* E.eval(e, { var, value, ... }) -> integer */
static int expr_eval(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1);
  sct_expr vars[MAX_PAIRS];
  int64_t values[MAX_PAIRS], value;
  const int n = count_pairs(L);
  for (lua_Integer k = 0; k < n; k++) {
    lua_geti(L, 2, 2 * k + 1);
    lua_geti(L, 2, 2 * k + 2);
    vars[k] = sct_script_check_expr(L, -2);
    values[k] = luaL_checkinteger(L, -1);
    lua_pop(L, 2);
  }
  const sct_expr_env env = {.vars = vars, .values = values, .n = n};
  sct_error err;
  if (sct_expr_eval(pool_of(L), e, &env, &value, &err) != SCT_OK) {
    return luaL_error(L, "%s", err.text);
  }
  lua_pushinteger(L, value);
  return 1;
}

/* Appends `text` without the "#lo:hi:multiple" that E.var puts after a variable's name. */
static void push_without_tags(lua_State *L, const char *text) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (const char *p = text; *p; p++) {
    if (*p != '#') {
      luaL_addchar(&b, *p);
      continue;
    }
    while (p[1] == ':' || p[1] == '-' || (p[1] >= '0' && p[1] <= '9')) {
      p++;
    }
  }
  luaL_pushresult(&b);
}

/* E.text(e, wide): C text */
static int expr_text(lua_State *L) {
  const sct_expr e = sct_script_check_expr(L, 1);
  sct_str *scratch = &sct_sandbox_of(L)->scratch;
  sct_str_clear(scratch);
  sct_expr_print_c(scratch, pool_of(L), e, lua_toboolean(L, 2));
  push_without_tags(L, sct_str_c(scratch));
  return 1;
}

void sct_script_push_expr_library(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"var", expr_var},         {"raw", expr_raw},       {"subst", expr_subst},
      {"split", expr_split},     {"linear", expr_linear}, {"mentions", expr_mentions},
      {"divisor", expr_divisor}, {"vars", expr_vars},     {"quotients", expr_quotients},
      {"eval", expr_eval},       {"text", expr_text},     {NULL, NULL}};
  luaL_newlib(L, functions);
}

/* ---- the view ----------------------------------------------------------------------------------
 */

static void set_string(lua_State *L, const char *key, const char *value) {
  if (value) {
    lua_pushstring(L, value);
  } else {
    lua_pushnil(L);
  }
  lua_setfield(L, -2, key);
}

static void set_integer(lua_State *L, const char *key, int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, key);
}

static void set_boolean(lua_State *L, const char *key, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, key);
}

static void set_expr(lua_State *L, const char *key, sct_expr e) {
  sct_script_push_expr(L, e);
  lua_setfield(L, -2, key);
}

static const char *const type_kinds[] = {"int", "uint", "float", "bool"};

static void set_exprs(lua_State *L, const char *key, const sct_expr *list, int n) {
  sct_script_push_exprs(L, list, n);
  lua_setfield(L, -2, key);
}

static void set_strings(lua_State *L, const char *key, const char *const *list, int n) {
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    lua_pushstring(L, list[k]);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, key);
}

static void set_type(lua_State *L, const sct_type_info *type) {
  set_string(L, "type", type->name);
  set_string(L, "cuda", type->cuda);
  set_string(L, "kind", type_kinds[type->kind]);
}

/* How it is reduced; of an index also what is compared, described as a field is. */
static void set_reduce(lua_State *L, const char *key, sct_reduce reduce, sct_type compared) {
  set_string(L, key, sct_reduce_name(reduce));
  if (sct_reduce_is_arg(reduce)) {
    const sct_type_info *type = sct_type_get(compared);
    lua_createtable(L, 0, 4);
    set_type(L, type);
    set_integer(L, "bytes", type->bytes);
    lua_setfield(L, -2, "compared");
  }
}

static void push_record(lua_State *L, const sct_record *record) {
  lua_createtable(L, 0, 8);
  set_string(L, "name", record->name);
  set_integer(L, "bytes", record->bytes);
  set_integer(L, "align", record->align);
  set_integer(L, "data_bytes", record->data_bytes);
  set_boolean(L, "packed", record->packed);
  set_boolean(L, "bare", record->name == NULL);
  lua_createtable(L, record->n_fields, 0);
  for (int f = 0; f < record->n_fields; f++) {
    const sct_field *field = &record->fields[f];
    const sct_type_info *type = sct_type_get(field->type);
    lua_createtable(L, 0, 12);
    char word[SCT_FIELD_WORD];
    sct_field_word(word, field->name);
    set_string(L, "name", field->name);
    set_string(L, "word", word);
    set_integer(L, "n_elements", field->n_elements);
    set_integer(L, "shared", type->shared);
    set_type(L, type);
    set_integer(L, "lanes", type->lanes);
    set_integer(L, "bytes", field->bytes);
    set_integer(L, "offset", field->offset);
    set_integer(L, "prefix", field->prefix);
    set_integer(L, "index", f + 1);
    lua_rawseti(L, -2, f + 1);
  }
  lua_setfield(L, -2, "fields");
}

static void push_taps(lua_State *L, const sct_operand *op) {
  lua_createtable(L, op->n_taps, 0);
  for (int k = 0; k < op->n_taps; k++) {
    lua_createtable(L, 0, 2);
    set_string(L, "name", op->taps[k].name);
    sct_script_push_integers(L, op->taps[k].delta, op->n_dims);
    lua_setfield(L, -2, "delta");
    if (op->taps[k].how) {
      set_string(L, "how", op->taps[k].how);
      sct_script_push_integers(L, op->taps[k].count, op->n_dims);
      lua_setfield(L, -2, "count");
      sct_script_push_integers(L, op->taps[k].step, op->n_dims);
      lua_setfield(L, -2, "step");
    }
    lua_rawseti(L, -2, k + 1);
  }
}

static void push_operand(lua_State *L, const sct_spec *spec, int op, int layout) {
  const sct_operand *operand = &spec->operands[op];
  const sct_layout *chosen = &operand->layouts[layout];
  lua_createtable(L, 0, 16);
  set_string(L, "name", operand->name);
  set_integer(L, "number", op + 1);
  set_boolean(L, "is_output", operand->is_output);
  set_boolean(L, "is_inout", operand->is_inout);
  set_boolean(L, "keeps", operand->keeps);
  set_boolean(L, "is_index", operand->is_index);
  set_boolean(L, "has_none", operand->has_none);
  set_reduce(L, "reduce", operand->reduce, operand->compared);
  set_reduce(L, "scan", operand->scan, operand->compared);
  set_boolean(L, "exclusive", operand->exclusive);
  set_string(L, "accumulate", sct_accumulate_name(operand->accumulate));
  set_boolean(L, "through_index", operand->through_index);
  set_string(L, "layout", chosen->name);
  set_string(L, "layout_label", chosen->label);
  set_boolean(L, "owns_gaps", chosen->owns_gaps);
  set_expr(L, "bytes", chosen->bytes);
  push_record(L, &operand->record);
  lua_setfield(L, -2, "record");
  set_exprs(L, "offset", chosen->offset, operand->record.n_fields);
  set_exprs(L, "at", operand->at, operand->n_dims);
  set_exprs(L, "extent", operand->extent, operand->n_dims);
  set_exprs(L, "element", chosen->element,
            operand->record.n_fields); /* the offset over `index`, the array's own indices */
  set_exprs(L, "index", operand->index, operand->n_dims);
  push_taps(L, operand);
  lua_setfield(L, -2, "taps");
  set_string(L, "border", sct_border_name(operand->border));
  lua_pushnumber(L, operand->border_value);
  lua_setfield(L, -2, "border_value");
  set_integer(L, "index_depth", operand->index_depth);
  if (operand->is_index) {
    set_expr(L, "index_value", operand->index_value);
  }
}

/* The sizes that are tuned, or those of them that are asked for: for each the list of its extents,
 * in the order of k.extents. */
static void push_sizes(lua_State *L, const sct_spec *spec, const bool *sizes) {
  lua_createtable(L, spec->n_sizes, 0);
  for (int size = 0, n = 0; size < spec->n_sizes; size++) {
    if (sizes && !sizes[size]) {
      continue;
    }
    sct_script_push_integers(L, spec->sizes[size].extent, spec->n_extents);
    lua_rawseti(L, -2, ++n);
  }
}

static void push_device(lua_State *L, const sct_device_desc *d) {
  lua_createtable(L, 0, 10);
  set_string(L, "name", d->name);
  set_integer(L, "cc", d->cc_major * 10 + d->cc_minor);
  set_integer(L, "sms", d->n_sms);
  set_integer(L, "smem_block_bytes", d->smem_block_bytes);
  set_integer(L, "smem_optin_bytes", d->smem_block_optin_bytes);
  set_integer(L, "smem_sm_bytes", d->smem_sm_bytes);
  set_integer(L, "threads_block", d->threads_block);
  set_integer(L, "threads_sm", d->threads_sm);
  set_integer(L, "l2_bytes", d->l2_bytes);
  set_integer(L, "inflight_bytes", d->inflight_bytes);
}

/* The values of step `step`, described as fields of a record are. */
static void push_values(lua_State *L, const sct_spec *spec, int step) {
  lua_newtable(L);
  for (int k = 0, n = 0; k < spec->n_values; k++) {
    const sct_value *value = &spec->values[k];
    const sct_type_info *type = sct_type_get(value->type);
    if (value->step == step) {
      lua_createtable(L, 0, 6);
      set_string(L, "name", value->name);
      set_reduce(L, "reduce", value->reduce, value->compared);
      set_type(L, type);
      set_integer(L, "bytes", type->bytes);
      lua_rawseti(L, -2, ++n);
    }
  }
}

/* What the body computes for `at`: names, and the variables that stand for them. */
static void push_computed(lua_State *L, const sct_spec *spec) {
  lua_createtable(L, spec->n_values, 0);
  for (int k = 0; k < spec->n_values; k++) {
    lua_createtable(L, 0, 2);
    set_string(L, "name", spec->values[k].name);
    set_expr(L, "value", spec->values[k].index);
    lua_rawseti(L, -2, k + 1);
  }
}

static const char *step_body(const sct_step *step, bool fast) {
  return fast && step->fast_body ? step->fast_body : step->kernel_body;
}

/* Pushes what is computed, of all steps together: elements that share a byte are named by it. */
static void push_body(lua_State *L, const sct_spec *spec, bool fast) {
  lua_pushstring(L, spec->n_steps > 0         ? ""
                    : fast && spec->fast_body ? spec->fast_body
                                              : spec->kernel_body);
  for (int s = 0; s < spec->n_steps; s++) {
    lua_pushfstring(L, "%s\n", step_body(&spec->steps[s], fast));
    lua_concat(L, 2);
  }
}

/* Some of the kernel's dimensions as a set of names. */
static void push_dims(lua_State *L, const char *key, const sct_spec *spec, unsigned dims) {
  lua_newtable(L);
  for (int d = 0; d < spec->n_dims; d++) {
    if (dims >> d & 1) {
      set_boolean(L, spec->dims[d], true);
    }
  }
  lua_setfield(L, -2, key);
}

/* Pushes the steps, each with its body, its values and the numbers of the outputs it assigns. */
static void push_steps(lua_State *L, const sct_spec *spec, bool fast) {
  lua_createtable(L, spec->n_steps, 0);
  for (int s = 0; s < spec->n_steps; s++) {
    lua_createtable(L, 0, 4);
    const sct_step *step = &spec->steps[s];
    set_string(L, "body", step_body(step, fast));
    set_boolean(L, "per_row", spec->steps[s].per_row);
    set_boolean(L, "reduces", spec->steps[s].reduces);
    push_dims(L, "over", spec, spec->nested ? step->reduced : 0);
    push_dims(L, "domain", spec, step->domain);
    push_values(L, spec, s);
    lua_setfield(L, -2, "values");
    lua_newtable(L);
    for (int op = spec->n_inputs, n = 0; op < spec->n_operands; op++) {
      if (spec->operands[op].step == s) {
        lua_pushinteger(L, op + 1);
        lua_rawseti(L, -2, ++n);
      }
    }
    lua_setfield(L, -2, "outputs");
    lua_rawseti(L, -2, s + 1);
  }
}

/* The kernel over the user's dimensions. */
static void push_user_view(lua_State *L, sct_script *script, const int *layout, bool fast,
                           const bool *sizes) {
  const sct_spec *spec = script->spec;
  const bool fast_component = fast && spec->fast_component_body;
  lua_createtable(L, 0, 16);
  set_string(L, "name", spec->name);
  push_body(L, spec, fast);
  lua_setfield(L, -2, "body");
  set_string(L, "component_body",
             fast_component ? spec->fast_component_body : spec->component_body);
  set_boolean(L, "moves_only", spec->n_moves > 0);
  if (spec->counted > 0) {
    set_integer(L, "counted", spec->counted);
  }
  set_boolean(L, "component_wise", spec->component_wise);
  set_boolean(L, "reduces", spec->reduces);
  set_boolean(L, "nested", spec->nested);
  set_boolean(L, "accumulates", sct_spec_accumulates(spec));
  set_boolean(L, "ordered", sct_spec_is_ordered(spec));
  if (spec->n_steps > 0) {
    push_steps(L, spec, fast);
    lua_setfield(L, -2, "steps");
  } else {
    push_computed(L, spec);
    lua_setfield(L, -2, "computed");
  }
  lua_createtable(L, spec->n_dims, 0);
  for (int d = 0; d < spec->n_dims; d++) {
    lua_pushboolean(L, spec->reduced[d]);
    lua_rawseti(L, -2, d + 1);
  }
  lua_setfield(L, -2, "reduced");
  if (spec->scans) {
    set_integer(L, "scan", spec->scan_dim + 1);
  }
  if (sct_spec_is_ragged(spec)) {
    lua_createtable(L, 0, 3);
    set_integer(L, "dim", spec->ragged.dim + 1);
    set_integer(L, "row", spec->ragged.row + 1);
    set_integer(L, "offsets", spec->ragged.offsets + 1);
    lua_setfield(L, -2, "ragged");
  }
  set_strings(L, "dims", spec->dims, spec->n_dims);
  set_exprs(L, "index", spec->dim_var, spec->n_dims);
  set_strings(L, "extent_names", spec->extent_names, spec->n_extents);
  set_exprs(L, "extents", spec->extent_var, spec->n_extents);
  push_sizes(L, spec, sizes);
  lua_setfield(L, -2, "sizes");
  lua_createtable(L, spec->n_scalars, 0);
  for (int k = 0; k < spec->n_scalars; k++) {
    lua_createtable(L, 0, 3);
    set_string(L, "name", spec->scalars[k].name);
    set_string(L, "type", sct_type_get(spec->scalars[k].type)->name);
    set_string(L, "cuda", sct_type_get(spec->scalars[k].type)->cuda);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, "scalars");
  lua_createtable(L, spec->n_operands, 0);
  for (int op = 0; op < spec->n_operands; op++) {
    push_operand(L, spec, op, layout[op]);
    lua_rawseti(L, -2, op + 1);
  }
  lua_setfield(L, -2, "operands");
  push_device(L, script->device);
  lua_setfield(L, -2, "device");
}

/* Layouts, sizes, and what a strategy takes: which view it is. */
static void push_view_key(lua_State *L, const sct_spec *spec, const int *layout,
                          const sct_view_kind *kind, const bool *sizes) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int op = 0; op < spec->n_operands; op++) {
    lua_pushfstring(L, "%d ", layout[op]);
    luaL_addvalue(&b);
  }
  for (int size = 0; sizes && size < spec->n_sizes; size++) {
    luaL_addchar(&b, sizes[size] ? '+' : '-');
  }
  luaL_addstring(&b, kind->splits);
  luaL_addstring(&b, kind->taps ? kind->taps : "");
  luaL_addstring(&b, kind->fast ? " fast" : "");
  luaL_pushresult(&b);
}

void sct_script_push_view(lua_State *L, sct_script *script, const int *layout,
                          const sct_view_kind *kind, const bool *sizes) {
  luaL_checkstack(L, 20, NULL);
  lua_rawgeti(L, LUA_REGISTRYINDEX, script->names_ref);
  lua_getfield(L, -1, "modes");
  lua_remove(L, -2);
  lua_getfield(L, -1, "known");
  push_view_key(L, script->spec, layout, kind, sizes);
  lua_call(L, 1, 1);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_getfield(L, -1, "view");
    push_user_view(L, script, layout, kind->fast, sizes);
    lua_pushstring(L, kind->splits);
    lua_pushstring(L, kind->taps);
    push_view_key(L, script->spec, layout, kind, sizes);
    lua_call(L, 4, 1);
  }
  lua_remove(L, -2);
}
