/* What reading a spec's tables needs: fields, lists, places, strings that belong to the arena. */
#include <string.h>

#include "script/script_spec_internal.h"

/* The string at the top of the stack as the arena's; pops it. NULL for nil. */
const char *sct_script_take_string(lua_State *L, sct_spec *spec) {
  size_t n = 0;
  const char *text = lua_tolstring(L, -1, &n);
  if (text && strlen(text) != n) {
    luaL_error(L, "a text in the spec holds a zero byte");
  }
  const char *copy = sct_script_keep(&spec->arena, text);
  lua_pop(L, 1);
  return copy;
}

const char *sct_script_field_string(lua_State *L, sct_spec *spec, int table, const char *key) {
  lua_getfield(L, table, key);
  return sct_script_take_string(L, spec);
}

int64_t sct_script_field_integer(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const int64_t value = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return value;
}

int sct_script_list_length(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  lua_pop(L, 1);
  return n;
}

/* Pushes item k (from 0) of the list at table[key]. */
void sct_script_push_item(lua_State *L, int table, const char *key, int k) {
  lua_getfield(L, table, key);
  lua_rawgeti(L, -1, k + 1);
  lua_remove(L, -2);
}

/* The value on top in a message: numbers and texts as they are, others by their type. */
const char *sct_script_shown(lua_State *L) {
  return lua_isstring(L, -1) ? luaL_tolstring(L, -1, NULL) : luaL_typename(L, -1);
}

void sct_script_read_place(lua_State *L, sct_spec *spec, int table, const char **file, int *line) {
  lua_getfield(L, table, "place");
  const int place = lua_gettop(L);
  *file = sct_script_field_string(L, spec, place, "file");
  *line = (int)sct_script_field_integer(L, place, "line");
  lua_pop(L, 1);
}

void sct_script_push_module_function(lua_State *L, const char *module, const char *name) {
  lua_pushcfunction(L, sct_script_push_module);
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}
