/* The files of strategies, and the environment that they and templates run in. */
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define STRATEGY_DIRECTORY "tuning/strategies/"

/* ---- which files -------------------------------------------------------------------------------
 */

typedef struct file_list {
  sct_arena *arena;
  const char **names;
  size_t n, cap;
} file_list;

static void add_file(file_list *list, const char *name) {
  SCT_GROW(list->names, list->n, list->cap);
  list->names[list->n++] = name;
}

/* The naive variant is always the first: everything is compared with it. */
static void direct_first(file_list *list) {
  for (size_t k = 0; k < list->n; k++) {
    if (strcmp(list->names[k], STRATEGY_DIRECTORY "direct.lua") == 0) {
      const char *direct = list->names[k];
      memmove(&list->names[1], &list->names[0], k * sizeof *list->names);
      list->names[0] = direct;
      return;
    }
  }
}

static sct_status find_files(file_list *list, const char *strategy_dir, size_t *n_assets,
                             sct_error *err) {
  int n = 0;
  const char **assets = sct_asset_names(&n, list->arena, STRATEGY_DIRECTORY, ".lua");
  for (int k = 0; k < n; k++) {
    add_file(list, assets[k]);
  }
  direct_first(list);
  *n_assets = list->n;
  if (strategy_dir) {
    DIR *dir = sct_opendir(strategy_dir);
    if (!dir) {
      return sct_fail(err, SCT_EIO, "cannot open the strategy directory '%s'", strategy_dir);
    }
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
      const char *path = sct_arena_printf(list->arena, "%s/%s", strategy_dir, e->d_name);
      if (e->d_name[0] != '.' && sct_has_suffix(path, ".lua")) {
        add_file(list, path);
      }
    }
    closedir(dir);
    sct_sort_texts(list->names + *n_assets, list->n - *n_assets);
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

/* `directory` NULL: an asset. */
static sct_status read_strategy_file(sct_str *out, const char *name, const char *directory,
                                     sct_error *err) {
  if (!directory) {
    return sct_asset_read(out, name, err);
  }
  bool found = false;
  sct_error why;
  const sct_status status = sct_script_read_below(out, directory, "the strategy directory",
                                                  sct_path_basename(name), &found, &why);
  if (status != SCT_OK) {
    return sct_fail(err, status, "%s:1: error: %s", name, why.text);
  }
  return found ? SCT_OK : sct_fail(err, SCT_EIO, "cannot read '%s'", name);
}

/* Runs one file in the shared environment and leaves its result on the stack. */
static sct_status run_file(sct_script *script, const char *name, const char *directory,
                           sct_error *err) {
  lua_State *L = script->sandbox.L;
  SCT_SCOPED(sct_str) text = {0};
  sct_status status = read_strategy_file(&text, name, directory, err);
  if (status == SCT_OK) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->env_ref);
    const int env = lua_gettop(L);
    status = sct_sandbox_load(&script->sandbox, name, sct_str_c(&text), text.len, env, err);
    lua_remove(L, env);
  }
  SCT_THEN(sct_sandbox_call(&script->sandbox, 0, 1, err));
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
  static const char *const names[] = {"reads",      "kit",   "strides",    "modes",   "reduce",
                                      "records",    "cuda",  "halo",       "sides",   "spread",
                                      "both",       "thin",  "across",     "aligned", "staging",
                                      "accumulate", "boxes", "row_streams"};
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
    script->directory = sct_arena_strdup(&script->arena, strategy_dir);
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
  SCT_THEN(sct_library_read(script, err));
  SCT_THEN(load_generator(script, err));
  SCT_THEN(load_strategies(script, strategy_dir, err));
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
