/* Functions that replace some of Lua's libraries: those whose own version can loop in C without an
 * end (string.rep of nothing, table functions over a length that a metamethod makes up), shows
 * addresses (tostring, string.format), or asks the clock (table.sort). */
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

/* ---- text ---- */

/* Pushes the value at idx as text. What has no text of its own is called by its type: an address
 * would differ from run to run. */
static void push_text(lua_State *L, int idx) {
  const bool by_type = lua_type(L, idx) >= LUA_TTABLE || lua_islightuserdata(L, idx);
  if (by_type && luaL_getmetafield(L, idx, "__tostring") == LUA_TNIL) {
    lua_pushstring(L, luaL_typename(L, idx));
    return;
  }
  if (by_type) {
    lua_pop(L, 1);
  }
  luaL_tolstring(L, idx, NULL);
}

int sct_script_lib_tostring(lua_State *L) {
  luaL_checkany(L, 1);
  push_text(L, 1);
  return 1;
}

/* string.rep(s, n [, separator]) */
int sct_script_lib_rep(lua_State *L) {
  size_t len = 0;
  size_t sep_len = 0;
  const char *text = luaL_checklstring(L, 1, &len);
  const lua_Integer n = luaL_checkinteger(L, 2);
  const char *sep = luaL_optlstring(L, 3, "", &sep_len);
  if (n <= 0 || len + sep_len == 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (n > (lua_Integer)SCT_SANDBOX_STRING_BYTES ||
      (len + sep_len) * (size_t)n > SCT_SANDBOX_STRING_BYTES + sep_len) {
    return luaL_error(L, "%s", sct_script_long_text);
  }
  sct_sandbox_charge(L, n / 4);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (lua_Integer k = 0; k < n; k++) {
    luaL_addlstring(&b, text, len);
    if (k + 1 < n) {
      luaL_addlstring(&b, sep, sep_len);
    }
  }
  luaL_pushresult(&b);
  return 1;
}

/* Position of the conversion's letter after the '%' at format[k]. */
static size_t conversion(const char *format, size_t k) {
  return k + 1 + strspn(format + k + 1, "-+ #0123456789.");
}

/* string.format(format, ...): Lua's own, upvalue 1, behind a look at what it would print. */
int sct_script_lib_format(lua_State *L) {
  const char *format = luaL_checkstring(L, 1);
  const int n = lua_gettop(L);
  int arg = 1;
  for (size_t k = 0; format[k]; k++) {
    if (format[k] != '%') {
      continue;
    }
    const size_t letter = conversion(format, k);
    if (format[letter] == 'p') {
      return luaL_error(L, "string.format has no %%p here: addresses differ from run to run");
    }
    arg += format[letter] != '%';
    if (format[letter] == 's' && arg <= n) {
      push_text(L, arg);
      lua_replace(L, arg);
    }
    k = format[letter] ? letter : letter - 1;
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, n, LUA_MULTRET);
  return lua_gettop(L);
}

/* ---- tables ---- */

/* Elements first .. last that a call goes over, at least `least`: charged before it starts. */
static void charge_interval(lua_State *L, lua_Integer first, lua_Integer last, int64_t least) {
  int64_t n = least;
  if (first <= last) {
    const uint64_t span = (uint64_t)last - (uint64_t)first;
    n = span > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)span + 1;
  }
  sct_sandbox_charge(L, n);
}

int sct_script_call_upvalue(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* rawset(table, key, value), not past the guard of a read-only one: our own Lua uses the globals.
 */
int sct_script_lib_rawset(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
    return luaL_error(L, "rawset: this table is read-only");
  }
  return sct_script_call_upvalue(L);
}

/* table.concat(list [, separator [, first [, last]]]) */
int sct_script_lib_concat(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  const int64_t n = sct_script_plain_length(L, 1);
  charge_interval(L, luaL_optinteger(L, 3, 1), luaL_optinteger(L, 4, n), 0);
  return sct_script_call_upvalue(L);
}

/* table.unpack(list [, first [, last]]) */
int sct_script_lib_unpack(lua_State *L) {
  const int64_t n = lua_istable(L, 1) ? sct_script_plain_length(L, 1) : luaL_len(L, 1);
  charge_interval(L, luaL_optinteger(L, 2, 1), luaL_optinteger(L, 3, n), 0);
  return sct_script_call_upvalue(L);
}

/* a < b by the function at `less`; the two values on top of the stack, which it pops. */
static bool is_less(lua_State *L, int less) {
  bool answer;
  if (less == 0) {
    answer = lua_compare(L, -2, -1, LUA_OPLT);
  } else {
    lua_pushvalue(L, less);
    lua_pushvalue(L, -3);
    lua_pushvalue(L, -3);
    lua_call(L, 2, 1);
    answer = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
  return answer;
}

/* Merges from[lo .. mid) and from[mid .. hi), counted from 0, into to[lo .. hi). */
static void merge(lua_State *L, int from, int to, int64_t lo, int64_t mid, int64_t hi, int less) {
  int64_t left = lo;
  int64_t right = mid;
  for (int64_t k = lo; k < hi; k++) {
    bool take_right = left == mid;
    if (!take_right && right < hi) {
      lua_rawgeti(L, from, right + 1);
      lua_rawgeti(L, from, left + 1);
      take_right = is_less(L, less); /* equal ones stay in order */
    }
    lua_rawgeti(L, from, take_right ? ++right : ++left);
    lua_rawseti(L, to, k + 1);
  }
}

void sct_script_sort(lua_State *L, int list, int64_t n, int less) {
  luaL_checkstack(L, 8, NULL);
  lua_newtable(L);
  int from = list;
  int to = lua_gettop(L);
  for (int64_t width = 1; width < n; width *= 2) {
    sct_sandbox_charge(L, 4 * n);
    for (int64_t lo = 0; lo < n; lo += 2 * width) {
      const int64_t mid = lo + width < n ? lo + width : n;
      merge(L, from, to, lo, mid, mid + width < n ? mid + width : n, less);
    }
    const int swap = from;
    from = to;
    to = swap;
  }
  for (int64_t k = 1; from != list && k <= n; k++) {
    lua_rawgeti(L, from, k);
    lua_rawseti(L, list, k);
  }
  lua_pop(L, 1);
}

/* table.sort(list [, less]): stable, and the same for every answer of `less`, consistent or not. */
int sct_script_lib_sort(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TFUNCTION);
  }
  lua_settop(L, 2);
  if (lua_getmetatable(L, 1)) { /* a view would be sorted past its guard */
    return luaL_error(L, "table.sort takes a plain table, without a metatable");
  }
  sct_script_sort(L, 1, (int64_t)lua_rawlen(L, 1), lua_isnil(L, 2) ? 0 : 2);
  return 0;
}
