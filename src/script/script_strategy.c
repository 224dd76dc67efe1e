/* Strategies: Lua files that say when they apply, which axes they have and what their constraints
 * are. This file loads them and turns them into plain sct_strategy data. */
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define STRATEGY_FOLDER         "tuning/strategies/"
#define LAYOUT_PREFIX           "layout_" /* axis "layout_p" chooses the layout of operand p */
#define MAX_LAYOUT_COMBINATIONS 64
#define MAX_NAME                48   /* it begins labels */
#define MAX_LIST                4096 /* values of an axis, conditions, facts */

/* ---- which files -------------------------------------------------------------------------------
 */

typedef struct file_list {
  sct_arena *arena;
  const char **names;
  size_t n, cap;
} file_list;

static void add_file(void *ctx, const char *name) {
  file_list *list = ctx;
  if (!sct_has_suffix(name, ".lua")) {
    return;
  }
  SCT_GROW(list->names, list->n, list->cap);
  list->names[list->n++] = sct_arena_strdup(list->arena, name);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The naive variant is always the first: everything is compared with it. */
static void direct_first(file_list *list) {
  for (size_t k = 0; k < list->n; k++) {
    if (strcmp(list->names[k], STRATEGY_FOLDER "direct.lua") == 0) {
      const char *direct = list->names[k];
      memmove(&list->names[1], &list->names[0], k * sizeof *list->names);
      list->names[0] = direct;
      return;
    }
  }
}

static sct_status find_files(file_list *list, const char *strategy_dir, size_t *n_assets,
                             sct_error *err) {
  sct_asset_list(STRATEGY_FOLDER, add_file, list);
  direct_first(list);
  *n_assets = list->n;
  if (strategy_dir) {
    DIR *dir = sct_opendir(strategy_dir);
    if (!dir) {
      return sct_fail(err, SCT_EIO, "cannot open the strategy directory '%s'", strategy_dir);
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
      const char *path = sct_arena_printf(list->arena, "%s/%s", strategy_dir, e->d_name);
      if (e->d_name[0] != '.') {
        add_file(list, path);
      }
    }
    closedir(dir);
    if (list->n > *n_assets) {
      qsort(list->names + *n_assets, list->n - *n_assets, sizeof *list->names, by_name);
    }
  }
  return SCT_OK;
}

/* ---- the state ---------------------------------------------------------------------------------
 */

/* Upvalue: the table behind the environment. */
static int env_assign(lua_State *L) {
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
  return luaL_error(L, "assignment to global '%s'; write `local %s` in front", key, key);
}

/* Pushes a metatable that looks `names` up, the table at the top, and cannot be got at: were it the
 * environment itself, a global `__gc` would be a finaliser. */
static void push_env_meta(lua_State *L, bool read_only) {
  lua_createtable(L, 0, 3);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  if (read_only) {
    lua_pushcfunction(L, env_assign);
    lua_setfield(L, -2, "__newindex");
  }
}

/* The names of strategies and templates: E and the generator's files, the sandbox's globals behind
 * them. `names_ref` holds the table, `env_ref` the read-only _ENV of strategies,
 * `template_meta_ref` the metatable of each template's own table. */
static int make_env(lua_State *L) {
  sct_script *script = lua_touserdata(L, 1);
  lua_createtable(L, 0, 4);
  sct_script_push_expr_library(L);
  lua_setfield(L, -2, "E");
  lua_createtable(L, 0, 1);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  push_env_meta(L, false);
  script->template_meta_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_createtable(L, 0, 0);
  lua_pushvalue(L, -2);
  push_env_meta(L, true);
  lua_remove(L, -2);
  lua_setmetatable(L, -2);
  script->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  script->names_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}

/* `folder` NULL: an asset. */
static sct_status read_strategy_file(sct_str *out, const char *name, const char *folder,
                                     sct_error *err) {
  if (!folder) {
    return sct_asset_read(out, name, err);
  }
  bool found = false;
  sct_error why;
  const sct_status status = sct_script_read_below(out, folder, "the strategy directory",
                                                  sct_path_basename(name), &found, &why);
  if (status != SCT_OK) {
    return sct_fail(err, status, "%s:1: error: %s", name, why.text);
  }
  return found ? SCT_OK : sct_fail(err, SCT_EIO, "cannot read '%s'", name);
}

/* Runs one file in the shared environment and leaves its result on the stack. */
static sct_status run_file(sct_script *script, const char *name, const char *folder,
                           sct_error *err) {
  lua_State *L = script->sandbox.L;
  sct_str text = {0};
  sct_status status = read_strategy_file(&text, name, folder, err);
  if (status == SCT_OK) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    const int env = lua_gettop(L);
    status = sct_sandbox_load(&script->sandbox, name, sct_str_c(&text), text.len, env, err);
    lua_remove(L, env);
  }
  if (status == SCT_OK) {
    status = sct_sandbox_call(&script->sandbox, 0, 1, err);
  }
  sct_str_free(&text);
  return status;
}

/* Value, name (light userdata), table: sets it there. Both the name and the table may need memory.
 */
static int set_name(lua_State *L) {
  lua_pushstring(L, lua_touserdata(L, 2));
  lua_pushvalue(L, 1);
  lua_settable(L, 3);
  return 0;
}

/* Takes the value on the stack's top as a name of strategies and templates. */
static sct_status keep_name(sct_script *script, const char *name, sct_error *err) {
  lua_State *L = script->sandbox.L;
  lua_pushcfunction(L, set_name);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)(uintptr_t)name);
  lua_rawgeti(L, LUA_REGISTRYINDEX, script->names_ref);
  if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
    return sct_script_error(L, LUA_ERRMEM, err);
  }
  return SCT_OK;
}

/* The generator's own Lua files, each a global of strategies and templates. */
static sct_status load_generator(sct_script *script, sct_error *err) {
  static const char *const names[] = {"reads",   "kit",    "strides", "modes", "reduce",
                                      "records", "cuda",   "halo",    "sides", "spread",
                                      "thin",    "across", "staging"};
  for (int k = 0; k < SCT_COUNT(names); k++) {
    char asset[64];
    snprintf(asset, sizeof asset, "tuning/sectile/%s.lua", names[k]);
    SCT_TRY(run_file(script, asset, NULL, err));
    SCT_TRY(keep_name(script, names[k], err));
  }
  return SCT_OK;
}

static int make_ref(lua_State *L) {
  lua_pushinteger(L, luaL_ref(L, LUA_REGISTRYINDEX));
  return 1;
}

/* Takes the value on the stack's top into the registry. The registry grows, so this is protected.
 */
static sct_status keep_table(sct_sandbox *sb, int *ref, sct_error *err) {
  lua_State *L = sb->L;
  SCT_TRY(sct_sandbox_stack(sb, 2, err));
  lua_pushcfunction(L, make_ref);
  lua_insert(L, -2);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    return sct_script_error(L, LUA_ERRMEM, err);
  }
  *ref = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return SCT_OK;
}

static sct_status load_strategies(sct_script *script, const char *strategy_dir, sct_error *err) {
  lua_State *L = script->sandbox.L;
  file_list list = {.arena = &script->arena};
  size_t n_assets = 0;
  sct_status status = find_files(&list, strategy_dir, &n_assets, err);
  if (status == SCT_OK) {
    script->files = SCT_ARENA_NEW(&script->arena, const char *, list.n);
    script->strategy_ref = SCT_ARENA_NEW(&script->arena, int, list.n);
  }
  script->n_built_in = (int)n_assets;
  if (status == SCT_OK && strategy_dir) {
    script->folder = sct_arena_strdup(&script->arena, strategy_dir);
    status = SCT_OK;
  }
  for (size_t k = 0; status == SCT_OK && k < list.n; k++) {
    status = run_file(script, list.names[k], k < n_assets ? NULL : strategy_dir, err);
    if (status == SCT_OK && !lua_istable(L, -1)) {
      status = sct_fail(err, SCT_ESPEC, "%s:1: error: a strategy file returns a table, not a %s",
                        list.names[k], luaL_typename(L, -1));
    }
    if (status == SCT_OK) {
      script->files[k] = list.names[k];
      status = keep_table(&script->sandbox, &script->strategy_ref[k], err);
      script->n_strategies = (int)k + (status == SCT_OK);
    }
  }
  sct_free(list.names);
  return status;
}

sct_status sct_script_new(sct_script **out, sct_spec *spec, const sct_device_desc *device,
                          const char *strategy_dir, sct_error *err) {
  sct_script *script = sct_alloc(sizeof *script);
  script->spec = spec;
  script->device = device;
  sct_status status = sct_sandbox_init(&script->sandbox, NULL, err);
  if (status == SCT_OK) {
    script->sandbox.pool = spec->pool;
    status = sct_sandbox_protect(&script->sandbox, make_env, script, err);
  }
  if (status == SCT_OK) {
    status = sct_library_read(script, err);
  }
  if (status == SCT_OK) {
    status = load_generator(script, err);
  }
  if (status == SCT_OK) {
    status = load_strategies(script, strategy_dir, err);
  }
  if (status != SCT_OK) {
    sct_script_free(script);
    return status;
  }
  *out = script;
  return SCT_OK;
}

void sct_script_free(sct_script *script) {
  if (!script) {
    return;
  }
  sct_sandbox_free(&script->sandbox);
  sct_arena_free(&script->arena);
  sct_free(script);
}

/* ---- strategies as plain data: runs protected, raises freely ------------------------------------
 */

typedef struct reader {
  sct_script *script;
  sct_space *space;
} reader;

/* Field `name` of the table at the top as kept text; NULL if nil. */
static const char *opt_text(lua_State *L, sct_arena *arena, const char *file, const char *name) {
  const char *text = NULL;
  lua_getfield(L, -1, name);
  if (lua_type(L, -1) == LUA_TSTRING) {
    text = sct_script_keep_shown(L, arena, lua_tostring(L, -1));
  } else if (!lua_isnil(L, -1)) {
    sct_script_raise_at(L, file, 1, "'%s' of the strategy is a string, not a %s", name,
                        luaL_typename(L, -1));
  }
  lua_pop(L, 1);
  return text;
}

/* Unknown keys are typos: say so, with the nearest legal one. The table is at the top. */
static void check_keys(lua_State *L, const char *file, const char *what, const char *const *legal,
                       int n_legal) {
  const int table = lua_gettop(L);
  sct_script_push_sorted_keys(L, table);
  for (lua_Integer n = 1; lua_rawgeti(L, table + 1, n) != LUA_TNIL; n++, lua_pop(L, 1)) {
    if (lua_type(L, -1) != LUA_TSTRING) {
      continue;
    }
    const char *key = lua_tostring(L, -1);
    bool known = false;
    for (int k = 0; k < n_legal; k++) {
      known |= strcmp(key, legal[k]) == 0;
    }
    if (!known) {
      sct_str *scratch = &sct_sandbox_of(L)->scratch;
      sct_str_clear(scratch);
      sct_str_suggest(scratch, key, legal, n_legal);
      sct_script_raise_at(L, file, 1, "unknown field '%s' in %s%s", key, what, sct_str_c(scratch));
    }
  }
  lua_settop(L, table);
}

static void read_value(lua_State *L, reader *r, const char *file, const char *axis,
                       sct_axis_value *value) {
  sct_arena *arena = &r->space->arena;
  if (lua_isinteger(L, -1)) {
    value->number = lua_tointeger(L, -1);
    lua_pushfstring(L, "%I", (LUAI_UACINT)value->number);
    value->text = sct_script_keep_shown(L, arena, lua_tostring(L, -1));
    lua_pop(L, 1);
  } else if (lua_isboolean(L, -1)) {
    value->is_bool = true;
    value->number = lua_toboolean(L, -1);
    value->text = value->number ? "1" : "0";
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    value->is_string = true;
    value->text = sct_script_keep_shown(L, arena, lua_tostring(L, -1));
    value->number = sct_space_intern(value->text);
  } else {
    sct_script_raise_at(L, file, 1,
                        "axis '%s': a value is an integer, a string or a boolean, not a %s", axis,
                        luaL_typename(L, -1));
  }
}

static bool same_value(const sct_axis_value *a, const sct_axis_value *b) {
  return a->is_string == b->is_string && a->is_bool == b->is_bool && a->number == b->number;
}

/* Length of the list at the top; nothing there is an empty one. What is no list at all would drop
 * out without a word. */
static int list_length(lua_State *L, const char *file, const char *name) {
  if (!lua_isnil(L, -1) && !lua_istable(L, -1)) {
    sct_script_raise_at(L, file, 1, "'%s' is a list, not a %s", name, luaL_typename(L, -1));
  }
  const int64_t n = lua_isnil(L, -1) ? 0 : sct_script_plain_length(L, -1);
  if (n > MAX_LIST) {
    sct_script_raise_at(L, file, 1, "'%s' has %lld entries; at most %d are possible", name,
                        (long long)n, MAX_LIST);
  }
  return (int)n;
}

/* One axis: { "threads", { 128, 256 }, key = "t", doc = "...", when = "...", neutral = 256 } */
static void read_axis(lua_State *L, reader *r, const char *file, sct_axis *axis) {
  static const char *const legal[] = {"key", "doc", "when", "neutral"};
  sct_arena *arena = &r->space->arena;
  if (!lua_istable(L, -1)) {
    sct_script_raise_at(L, file, 1, "an axis is a table { name, values }, not a %s",
                        luaL_typename(L, -1));
  }
  check_keys(L, file, "an axis", legal, SCT_COUNT(legal));
  lua_geti(L, -1, 1);
  if (lua_type(L, -1) != LUA_TSTRING || !sct_is_identifier(lua_tostring(L, -1))) {
    sct_script_raise_at(L, file, 1, "the first entry of an axis is its name");
  }
  axis->name = sct_script_keep_shown(L, arena, lua_tostring(L, -1));
  lua_pop(L, 1);
  axis->key = opt_text(L, arena, file, "key");
  axis->doc = opt_text(L, arena, file, "doc");
  axis->when = opt_text(L, arena, file, "when");
  if (!axis->key) {
    axis->key = axis->name;
  }
  lua_geti(L, -1, 2);
  axis->n_values = lua_istable(L, -1) ? list_length(L, file, "the values of an axis") : 0;
  if (axis->n_values < 1) {
    sct_script_raise_at(L, file, 1, "axis '%s' has no values: write { \"%s\", { 1, 2, 4 } }",
                        axis->name, axis->name);
  }
  axis->values = sct_arena_alloc(arena, sizeof *axis->values * (size_t)axis->n_values);
  for (int k = 0; k < axis->n_values; k++) {
    lua_geti(L, -1, k + 1);
    read_value(L, r, file, axis->name, &axis->values[k]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  lua_getfield(L, -1, "neutral");
  if (!lua_isnil(L, -1)) {
    sct_axis_value neutral = {0};
    read_value(L, r, file, axis->name, &neutral);
    axis->neutral = -1;
    for (int k = 0; k < axis->n_values; k++) {
      if (same_value(&neutral, &axis->values[k])) {
        axis->neutral = k;
      }
    }
    if (axis->neutral < 0) {
      sct_script_raise_at(L, file, 1, "axis '%s': its neutral value is none of its values",
                          axis->name);
    }
  }
  lua_pop(L, 1);
}

/* Pushes field `name` of the strategy at index s: a value, or what the function there returns for
 * k. */
static void push_field(lua_State *L, int s, const char *name, int view) {
  lua_getfield(L, s, name);
  if (lua_isfunction(L, -1)) {
    lua_pushvalue(L, view);
    lua_call(L, 1, 1);
  }
}

static int layout_axes(const sct_spec *spec) {
  int n = 0;
  for (int op = 0; op < spec->n_operands; op++) {
    n += spec->operands[op].n_layouts > 1;
  }
  return n;
}

static void read_axes(lua_State *L, reader *r, int s, int view, sct_strategy *strategy) {
  sct_arena *arena = &r->space->arena;
  const sct_spec *spec = r->script->spec;
  push_field(L, s, "axes", view);
  if (!lua_istable(L, -1)) {
    sct_script_raise_at(L, strategy->file, 1, "'axes' is a list of axes");
  }
  const int n_layout = layout_axes(spec), n = n_layout + list_length(L, strategy->file, "axes");
  if (n > SCT_MAX_AXES) {
    sct_script_raise_at(L, strategy->file, 1, "%d axes; at most %d are possible", n, SCT_MAX_AXES);
  }
  strategy->axes = sct_arena_alloc(arena, sizeof *strategy->axes * (size_t)(n + 1));
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *operand = &spec->operands[op];
    if (operand->n_layouts < 2) {
      continue;
    }
    sct_axis *axis = &strategy->axes[strategy->n_axes++];
    lua_pushfstring(L, LAYOUT_PREFIX "%s", operand->name);
    axis->name = sct_script_keep_shown(L, arena, lua_tostring(L, -1));
    lua_pushfstring(L, "%s=", operand->name);
    axis->key = sct_script_keep_shown(L, arena, lua_tostring(L, -1));
    lua_pop(L, 2);
    axis->doc = "layout of an operand that the tuner may lay out";
    axis->n_values = operand->n_layouts;
    axis->values = sct_arena_alloc(arena, sizeof *axis->values * (size_t)axis->n_values);
    for (int k = 0; k < axis->n_values; k++) {
      axis->values[k].is_string = true;
      axis->values[k].text = sct_script_keep_shown(L, arena, operand->layouts[k].label);
      axis->values[k].number = sct_space_intern(axis->values[k].text);
    }
  }
  for (int k = n_layout; k < n; k++) {
    lua_geti(L, -1, k - n_layout + 1);
    read_axis(L, r, strategy->file, &strategy->axes[strategy->n_axes++]);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void read_where(lua_State *L, reader *r, int s, int view, sct_strategy *strategy) {
  push_field(L, s, "where", view);
  const int n = list_length(L, strategy->file, "where");
  strategy->where = sct_arena_alloc(&r->space->arena, sizeof *strategy->where * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    lua_geti(L, -1, k + 1);
    if (lua_type(L, -1) != LUA_TSTRING) {
      sct_script_raise_at(L, strategy->file, 1,
                          "a constraint is text, such as \"threads * items <= 4096\"");
    }
    strategy->where[k].text = sct_script_keep_shown(L, &r->space->arena, lua_tostring(L, -1));
    strategy->where[k].file = strategy->file;
    lua_pop(L, 1);
  }
  strategy->n_where = n;
  lua_pop(L, 1);
}

/* facts: a list of { name, integer }, so that their order is fixed. */
static void read_facts(lua_State *L, reader *r, int s, int view, sct_strategy *strategy) {
  push_field(L, s, "facts", view);
  const int n = list_length(L, strategy->file, "facts");
  strategy->facts = sct_arena_alloc(&r->space->arena, sizeof *strategy->facts * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    lua_geti(L, -1, k + 1);
    if (!lua_istable(L, -1)) {
      sct_script_raise_at(L, strategy->file, 1, "a fact is { name, integer }");
    }
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    if (lua_type(L, -2) != LUA_TSTRING || !lua_isinteger(L, -1)) {
      sct_script_raise_at(L, strategy->file, 1, "a fact is { name, integer }");
    }
    strategy->facts[k].name = sct_script_keep_shown(L, &r->space->arena, lua_tostring(L, -2));
    strategy->facts[k].value = lua_tointeger(L, -1);
    lua_pop(L, 3);
  }
  strategy->n_facts = n;
  lua_pop(L, 1);
}

const char *sct_script_why_not(lua_State *L, int s, int view, const char *file) {
  const char *reason = NULL;
  lua_getfield(L, s, "applies");
  const int n = list_length(L, file, "applies");
  for (int k = 1; k <= n && !reason; k++) {
    lua_geti(L, -1, k);
    if (!lua_istable(L, -1)) {
      sct_script_raise_at(L, file, 1,
                          "an entry of 'applies' is { condition in words, function(k) }");
    }
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1)) {
      sct_script_raise_at(L, file, 1,
                          "an entry of 'applies' is { condition in words, function(k) }");
    }
    lua_pushvalue(L, view);
    lua_call(L, 1, 1);
    if (!lua_toboolean(L, -1)) {
      reason = lua_tostring(L, -2);
    }
    lua_pop(L, 3);
  }
  lua_pop(L, 1);
  return reason; /* still referenced by the strategy's table */
}

static bool next_layouts(const sct_spec *spec, int *layout) {
  for (int op = spec->n_operands - 1; op >= 0; op--) {
    if (++layout[op] < spec->operands[op].n_layouts) {
      return true;
    }
    layout[op] = 0;
  }
  return false;
}

/* A strategy that reads every array at its own place only would leave taps out; what can read them
 * says so. */
static const char *taps_unknown(lua_State *L, const sct_spec *spec, int s) {
  bool any = false;
  for (int k = 0; k < spec->n_operands; k++) {
    any = any || spec->operands[k].n_taps > 0;
  }
  lua_getfield(L, s, "taps");
  const bool known = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return any && !known ? "every array is read at one place (no taps)" : NULL;
}

const char *sct_script_splits(lua_State *L, int s) {
  static const char *const words[] = {"none", SCT_SPLITS_MERGING, "all"};
  const char *splits = SCT_SPLITS_MERGING;
  if (lua_getfield(L, s, "splits") != LUA_TNIL) {
    const char *given = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    splits = NULL;
    for (int k = 0; k < SCT_COUNT(words); k++) {
      splits = strcmp(given, words[k]) == 0 ? words[k] : splits;
    }
    if (!splits) {
      luaL_error(L, "'splits' of a strategy is \"none\", \"merging\" or \"all\"");
    }
  }
  lua_pop(L, 1);
  return splits;
}

/* Leaves on the stack the view of the first layout combination that the strategy applies to (or of
 * the first one at all, with the reason). */
static const char *push_fitting_view(lua_State *L, reader *r, int s, const char *file) {
  const sct_spec *spec = r->script->spec;
  const char *const no_taps = taps_unknown(L, spec, s), *const splits = sct_script_splits(L, s);
  int *layout = lua_newuserdatauv(L, sizeof *layout * (size_t)spec->n_operands, 0);
  memset(layout, 0, sizeof *layout * (size_t)spec->n_operands);
  const char *first_reason = NULL;
  for (int n = 0; n < MAX_LAYOUT_COMBINATIONS; n++) {
    sct_script_push_view(L, r->script, layout, splits);
    const char *reason = no_taps ? no_taps : sct_script_why_not(L, s, lua_gettop(L), file);
    if (!reason) {
      return NULL;
    }
    first_reason = first_reason ? first_reason : reason;
    if (!next_layouts(spec, layout)) {
      break;
    }
    lua_pop(L, 1);
  }
  return first_reason;
}

static void read_strategy(lua_State *L, reader *r, int k, sct_strategy *strategy) {
  static const char *const legal[] = {"name",  "doc",      "applies", "axes",    "taps",  "where",
                                      "facts", "template", "plan",    "reduces", "splits"};
  sct_arena *arena = &r->space->arena;
  const int top = lua_gettop(L);
  strategy->file = r->script->files[k];
  r->script->sandbox.blame = strategy->file;
  lua_rawgeti(L, LUA_REGISTRYINDEX, r->script->strategy_ref[k]);
  const int s = lua_gettop(L);
  check_keys(L, strategy->file, "a strategy", legal, SCT_COUNT(legal));
  strategy->name = opt_text(L, arena, strategy->file, "name");
  strategy->doc = opt_text(L, arena, strategy->file, "doc");
  strategy->template_name = opt_text(L, arena, strategy->file, "template");
  if (!strategy->name || !sct_is_identifier(strategy->name) || strlen(strategy->name) > MAX_NAME ||
      !strategy->template_name) {
    sct_script_raise_at(L, strategy->file, 1,
                        "a strategy has a name (an identifier, at most %d letters) and a template",
                        MAX_NAME);
  }
  for (int other = 0; other < k; other++) { /* labels begin with the name */
    if (strcmp(r->space->strategies[other].name, strategy->name) == 0) {
      sct_script_raise_at(L, strategy->file, 1, "there is a strategy '%s' already: %s",
                          strategy->name, r->space->strategies[other].file);
    }
  }
  if (strchr(strategy->template_name, '/')) {
    sct_script_raise_at(L, strategy->file, 1, "template '%s': a file of templates/, without a '/'",
                        strategy->template_name);
  }
  const char *reason = NULL;
  lua_getfield(L, s, "reduces");
  if (r->script->spec->reduces && !lua_toboolean(L, -1)) {
    reason = "every element has a place of its own in the outputs";
  } else {
    reason = push_fitting_view(L, r, s, strategy->file);
  }
  const int view = lua_gettop(L);
  strategy->applies = reason == NULL;
  strategy->why_not = reason ? sct_script_keep_shown(L, arena, reason) : NULL;
  if (strategy->applies) {
    read_axes(L, r, s, view, strategy);
    read_where(L, r, s, view, strategy);
    read_facts(L, r, s, view, strategy);
  }
  lua_settop(L, top);
}

static int read_space(lua_State *L) {
  reader *r = lua_touserdata(L, 1);
  sct_space *space = r->space;
  const int n = r->script->n_strategies;
  space->strategies = sct_arena_alloc(&space->arena, sizeof *space->strategies * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    space->n_strategies = k + 1;
    read_strategy(L, r, k, &space->strategies[k]);
  }
  return 0;
}

sct_status sct_script_space(sct_space *out, sct_script *script, sct_error *err) {
  *out = (sct_space){.pool = script->spec->pool};
  reader r = {.script = script, .space = out};
  const sct_status status = sct_sandbox_protect(&script->sandbox, read_space, &r, err);
  if (status != SCT_OK) {
    sct_arena_free(&out->arena);
    *out = (sct_space){0};
  }
  return status;
}
