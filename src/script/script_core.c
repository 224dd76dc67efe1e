/* `require "sectile.core"`: what the Lua of tuning/sectile cannot do in Lua - places in the user's
 * file, spelling, layout files, text as expressions. */
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

enum { MAX_LEVELS = 8, MAX_SUGGESTED = 256 };

/* Upvalue: a Lua function. Notes where it is called from and calls it. A C function keeps the
 * caller's frame even in `return f(...)`, where Lua would drop it. */
static int call_placed(lua_State *L) {
  sct_sandbox *sb = sct_sandbox_of(L);
  const char *file = NULL;
  int line = 0;
  for (int level = 1; !file && level <= MAX_LEVELS; level++) { /* past pcall and the like */
    file = sct_script_where(L, level, &line);
  }
  sb->place_file = file;
  sb->place_line = line;
  return sct_script_call_upvalue(L);
}

/* core.placed(f) -> f, noting where it is called from */
int sct_script_core_placed(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushcclosure(L, call_placed, 1);
  return 1;
}

/* core.place() -> file, line of the call that the last placed function noted */
int sct_script_core_place(lua_State *L) {
  const sct_sandbox *sb = sct_sandbox_of(L);
  lua_pushstring(L, sb->place_file ? sb->place_file : "?");
  lua_pushinteger(L, sb->place_line);
  return 2;
}

/* core.function_line(f) -> the line where a Lua function begins (0: not one). */
int sct_script_core_function_line(lua_State *L) {
  lua_Debug ar;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_pushvalue(L, 1);
  lua_getinfo(L, ">S", &ar);
  lua_pushinteger(L, ar.linedefined > 0 ? ar.linedefined : 0);
  return 1;
}

/* core.fail_at(file, line, text): never returns. */
int sct_script_core_fail_at(lua_State *L) {
  const char *file = luaL_checkstring(L, 1);
  const lua_Integer line = luaL_checkinteger(L, 2);
  luaL_checkstring(L, 3);
  return sct_script_raise_at(L, file, (int)line, "%s",
                             sct_script_text(L, 3, &sct_sandbox_of(L)->scratch));
}

/* core.key_line(file, line, text, is_key) -> the line where text stands, at or after `line`. */
int sct_script_core_key_line(lua_State *L) {
  const sct_script_chunk *chunk = sct_script_find_chunk(sct_sandbox_of(L), luaL_checkstring(L, 1));
  const int line = (int)luaL_checkinteger(L, 2);
  const char *needle = luaL_checkstring(L, 3);
  lua_pushinteger(L, chunk ? sct_spec_find_line(chunk->text, line, needle, lua_toboolean(L, 4))
                           : line);
  return 1;
}

/* core.suggest(word, names) -> "; did you mean 'x'?" or "; expected one of ..." */
int sct_script_core_suggest(lua_State *L) {
  const char *word = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  const char *names[MAX_SUGGESTED];
  int n = 0;
  luaL_checkstack(L, MAX_SUGGESTED, NULL);
  while (n < MAX_SUGGESTED && lua_rawgeti(L, 2, n + 1) == LUA_TSTRING) {
    names[n++] = lua_tostring(L, -1); /* stays on the stack, so it stays alive */
  }
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_str_clear(text);
  sct_str_suggest(text, word, SCT_NAMES(names, n));
  lua_pushlstring(L, sct_str_c(text), text->len);
  return 1;
}

/* core.freeze(table, what, call) -> a read-only view; `call` makes it callable. */
int sct_script_core_freeze(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  sct_sandbox_freeze(L, 1, luaL_checkstring(L, 2));
  if (lua_isfunction(L, 3)) {
    lua_getmetatable(L, -1);
    lua_pushvalue(L, 3);
    lua_setfield(L, -2, "__call");
    lua_pop(L, 1);
  }
  return 1;
}

/* core.fills() -> what a spec may say of how an array is filled, a list. */
int sct_script_core_fills(lua_State *L) {
  lua_newtable(L);
  for (int k = 0, n = 0; k < SCT_N_FILLS; k++) {
    const char *name = sct_fill_name((sct_fill)k, ~0);
    if (name) {
      lua_pushstring(L, name);
      lua_rawseti(L, -2, ++n);
    }
  }
  return 1;
}

/* core.types() -> the names of all types, a list; and by its name what each is: cuda, bytes, lanes,
 * exponent (bits of a component's, 0: it is no floating-point number), shared. */
int sct_script_core_types(lua_State *L) {
  int n = 0;
  const char *const *names = sct_type_names(&n);
  lua_createtable(L, n, n);
  for (int k = 0; k < n; k++) {
    const sct_type_info *info = sct_type_get((sct_type)k);
    const struct {
      const char *key;
      int value;
    } numbers[] = {{"bytes", info->bytes},
                   {"lanes", info->lanes},
                   {"exponent", info->exponent_bits},
                   {"shared", info->shared}};
    lua_pushstring(L, names[k]);
    lua_rawseti(L, -2, k + 1);
    lua_createtable(L, 0, SCT_COUNT(numbers) + 1);
    lua_pushstring(L, info->cuda);
    lua_setfield(L, -2, "cuda");
    for (int i = 0; i < SCT_COUNT(numbers); i++) {
      lua_pushinteger(L, numbers[i].value);
      lua_setfield(L, -2, numbers[i].key);
    }
    lua_setfield(L, -2, names[k]);
  }
  return 1;
}

/* core.is_kernel_name(text) -> whether it names a kernel, "ns::copy<float, 4>" */
int sct_script_core_is_kernel_name(lua_State *L) {
  lua_pushboolean(L, sct_is_kernel_name(luaL_checkstring(L, 1)));
  return 1;
}

/* ---- layout files ---- */

/* core.layout_names() -> the built-in layouts, sorted */
int sct_script_core_layout_names(lua_State *L) {
  int n = 0;
  const char **names = sct_asset_names(&n, &sct_sandbox_of(L)->arena, "tuning/layouts/", ".lua");
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    const char *base = sct_path_basename(names[k]);
    lua_pushlstring(L, base, strlen(base) - strlen(".lua"));
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* core.layout_file(name) -> what the script returned, its chunk's name; nothing if there is no such
 * file. "x.lua" is looked for below the spec's directory, then among the built-in layouts; "x" is
 * built in. */
int sct_script_core_layout_file(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const bool is_file = sct_has_suffix(name, ".lua");
  if (!is_file || !sct_script_push_below_root(L, name)) {
    const char *asset = lua_pushfstring(L, "tuning/layouts/%s%s", name, is_file ? "" : ".lua");
    sct_str *text = &sct_sandbox_of(L)->scratch;
    if (strchr(name, '/') || sct_asset_read(text, asset, NULL) != SCT_OK) {
      return 0;
    }
    sct_script_push_chunk(L, asset, sct_str_c(text), text->len);
    sct_script_set_built_in(sct_sandbox_of(L), asset);
  }
  lua_Debug ar;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &ar);
  lua_pushstring(L, ar.source + 1); /* "@name" */
  lua_insert(L, -2);
  lua_call(L, 0, 1);
  lua_insert(L, -2);
  return 2;
}

/* core.read_text(name) -> the text of a file below the spec's directory, or nil */
int sct_script_core_read_text(lua_State *L) {
  sct_sandbox *sb = sct_sandbox_of(L);
  SCT_SCOPED(sct_str) text = {0};
  sct_error err = {0};
  bool found = false;
  if (sct_script_read_below(&text, sb->root, "the spec's directory", luaL_checkstring(L, 1), &found,
                            &err) != SCT_OK ||
      !found) {
    lua_pushnil(L);
  } else {
    lua_pushlstring(L, sct_str_c(&text), text.len);
  }
  return 1;
}

/* ---- text as an expression ---- */

typedef struct name_values {
  lua_State *L;
  int names, values; /* stack indexes of two lists of equal length */
} name_values;

static sct_expr resolve_name(void *ctx, sct_expr_pool *pool, const char *name, bool is_string) {
  const name_values *nv = ctx;
  (void)pool;
  sct_expr found = SCT_EXPR_NONE;
  const lua_Integer n = is_string ? 0 : (lua_Integer)lua_rawlen(nv->L, nv->names);
  for (lua_Integer k = 1; k <= n && found == SCT_EXPR_NONE; k++) {
    lua_rawgeti(nv->L, nv->names, k);
    if (lua_type(nv->L, -1) == LUA_TSTRING && strcmp(lua_tostring(nv->L, -1), name) == 0) {
      lua_rawgeti(nv->L, nv->values, k);
      found = sct_script_to_expr(nv->L, -1);
      lua_pop(nv->L, 1);
    }
    lua_pop(nv->L, 1);
  }
  return found;
}

/* core.evaluate(text, names, values) -> an expression, or an integer where all that the text names
 * are integers; nil and a message when the text is wrong. */
int sct_script_core_evaluate(lua_State *L) {
  const char *text = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  const char *names[SCT_MAX_EXTENTS];
  int n = 0;
  luaL_checkstack(L, SCT_MAX_EXTENTS + 8, NULL);
  while (n < SCT_MAX_EXTENTS && lua_rawgeti(L, 2, n + 1) == LUA_TSTRING) {
    names[n++] = lua_tostring(L, -1);
  }
  name_values nv = {L, 2, 3};
  const sct_expr_names resolver = {resolve_name, &nv, names, n};
  sct_expr_pool *pool = sct_sandbox_of(L)->pool;
  sct_expr e = SCT_EXPR_NONE;
  sct_error err;
  if (sct_expr_parse(&e, pool, text, &resolver, &err) != SCT_OK) {
    lua_pushnil(L);
    lua_pushstring(L, err.text);
    return 2;
  }
  int64_t value = 0;
  if (sct_expr_is_const(pool, e, &value)) {
    lua_pushinteger(L, value);
  } else {
    sct_script_push_expr(L, e);
  }
  return 1;
}
