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
  const char *copy = sct_script_copy_text(&spec->arena, text);
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

double sct_script_field_number(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const double value = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return value;
}

bool sct_script_field_flag(lua_State *L, int table, const char *key) {
  lua_getfield(L, table, key);
  const bool value = lua_toboolean(L, -1);
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
const char *sct_script_describe_value(lua_State *L) {
  return lua_isstring(L, -1) ? luaL_tolstring(L, -1, NULL) : luaL_typename(L, -1);
}

void sct_script_read_place(lua_State *L, sct_spec *spec, int table, const char **file, int *line) {
  lua_getfield(L, table, "place");
  const int place = lua_gettop(L);
  *file = sct_script_field_string(L, spec, place, "file");
  *line = (int)sct_script_field_integer(L, place, "line");
  lua_pop(L, 1);
}

void sct_script_check_keys(lua_State *L, const char *file, const char *what,
                           const char *const *legal, int n_legal) {
  const int table = lua_gettop(L);
  sct_script_push_sorted_keys(L, table);
  for (lua_Integer n = 1; lua_rawgeti(L, table + 1, n) != LUA_TNIL; n++, lua_pop(L, 1)) {
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    bool known = key == NULL;
    for (int k = 0; k < n_legal && !known; k++) {
      known = strcmp(key, legal[k]) == 0;
    }
    if (!known) {
      sct_str *text = &sct_sandbox_of(L)->scratch;
      sct_str_clear(text);
      sct_str_printf(text, "unknown field '%s' in %s", key, what);
      sct_str_suggest(text, key, SCT_NAMES(legal, n_legal));
      if (file) {
        sct_script_raise_at(L, file, SCT_LINE_OF_NAME, "%s", sct_str_c(text));
      }
      luaL_error(L, "%s", sct_str_c(text));
    }
  }
  lua_settop(L, table);
}

void sct_script_push_exprs(lua_State *L, const sct_expr *e, int n) {
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    sct_script_push_expr(L, e[k]);
    lua_rawseti(L, -2, k + 1);
  }
}

void sct_script_push_integers(lua_State *L, const int64_t *values, int n) {
  lua_createtable(L, n, 0);
  for (int k = 0; k < n; k++) {
    lua_pushinteger(L, values[k]);
    lua_rawseti(L, -2, k + 1);
  }
}

void sct_script_push_module_function(lua_State *L, const char *module, const char *name) {
  lua_pushcfunction(L, sct_script_push_module);
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}
