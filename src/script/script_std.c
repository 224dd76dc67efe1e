/* What a script can call: the allow-list of script_api.def, registered behind read-only tables,
 * with our own pairs (sorted), math.random (seeded), setmetatable (no __gc), require and include;
 * script_lib.c has those that replace functions of Lua's libraries.
 *
 * Pattern functions are charged for the worst case of the backtracking matcher before they start:
 * (subject + 1) to the power of the pattern's repetitions. It over-estimates ordinary patterns, so
 * a unit of budget buys PATTERN_STEPS_A_UNIT of it. */
#include <lualib.h>

#include <stdlib.h>
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

enum cost { FREE, LIST, SHIFT, PATTERN };

enum { PATTERN_STEPS_A_UNIT = 50, MAX_NAMES = 256 };

/* Registry keys: their addresses are the keys. */
static const char core_key = 0;
static const char loaded_key = 0;

/* ---- read-only tables ---- */

/* The string keys of the table at idx, sorted. They stay valid as long as the table. */
static int collect_names(lua_State *L, int idx, const char **names, int cap) {
  int n = 0;
  lua_pushnil(L);
  while (lua_next(L, idx) != 0) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING && n < cap) {
      names[n++] = lua_tostring(L, -1);
    }
  }
  sct_sort_texts(names, (size_t)n);
  return n;
}

/* Upvalues: the real table, what it is called. */
static int frozen_index(lua_State *L) {
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
    return 1;
  }
  const char *what = lua_tostring(L, lua_upvalueindex(2));
  if (lua_type(L, 2) != LUA_TSTRING) {
    lua_pushnil(L); /* ipairs asks for one element too many */
    return 1;
  }
  const char *names[MAX_NAMES];
  const int n = collect_names(L, lua_upvalueindex(1), names, MAX_NAMES);
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_str_clear(text);
  if (what[0] == '\0') {
    sct_str_printf(text, "unknown name '%s'", lua_tostring(L, 2));
    const char *near = sct_nearest(lua_tostring(L, 2), SCT_NAMES(names, n));
    if (near) { /* listing every global would not help anybody */
      sct_str_printf(text, "; did you mean '%s'?", near);
    }
  } else {
    sct_str_printf(text, "%s has no '%s'", what, lua_tostring(L, 2));
    sct_str_suggest(text, lua_tostring(L, 2), SCT_NAMES(names, n));
  }
  return luaL_error(L, "%s", sct_str_c(text));
}

static int frozen_assign(lua_State *L) {
  const char *what = lua_tostring(L, lua_upvalueindex(2));
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
  if (what[0] == '\0') {
    return luaL_error(L, "assignment to global '%s'; write `local %s` in front", key, key);
  }
  return luaL_error(L, "%s is read-only: '%s' cannot be set", what, key);
}

static int frozen_len(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, lua_upvalueindex(1)));
  return 1;
}

static int sorted_next(lua_State *L);
static int push_sorted_pairs(lua_State *L, int table);

static int frozen_pairs(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  return push_sorted_pairs(L, lua_gettop(L));
}

void sct_sandbox_freeze(lua_State *L, int idx, const char *what) {
  static const struct {
    const char *event;
    lua_CFunction f;
  } events[] = {{"__index", frozen_index},
                {"__newindex", frozen_assign},
                {"__len", frozen_len},
                {"__pairs", frozen_pairs}};
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 6, NULL);
  lua_newtable(L);
  lua_createtable(L, 0, SCT_COUNT(events) + 1);
  for (int k = 0; k < SCT_COUNT(events); k++) {
    lua_pushvalue(L, idx);
    lua_pushstring(L, what);
    lua_pushcclosure(L, events[k].f, 2);
    lua_setfield(L, -2, events[k].event);
  }
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
}

/* ---- sorted pairs ---- */

static int key_rank(lua_State *L, int idx) {
  const int type = lua_type(L, idx);
  return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : type == LUA_TBOOLEAN ? 2 : 3;
}

/* Numbers, then strings, then booleans, then at most one of the others. */
static int key_less(lua_State *L) {
  const int a = key_rank(L, 1);
  const int b = key_rank(L, 2);
  bool less = a < b;
  if (a == b && a <= 1) {
    less = lua_compare(L, 1, 2, LUA_OPLT);
  } else if (a == b && a == 2) {
    less = !lua_toboolean(L, 1) && lua_toboolean(L, 2);
  }
  lua_pushboolean(L, less);
  return 1;
}

/* Upvalues: table, its sorted keys, position. */
static int sorted_next(lua_State *L) {
  lua_Integer k = lua_tointeger(L, lua_upvalueindex(3));
  for (;;) {
    k++;
    if (lua_rawgeti(L, lua_upvalueindex(2), k) == LUA_TNIL) {
      return 1;
    }
    lua_pushvalue(L, -1);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) {
      lua_pushinteger(L, k);
      lua_replace(L, lua_upvalueindex(3));
      return 2;
    }
    lua_pop(L, 2); /* removed while iterating */
  }
}

void sct_script_push_sorted_keys(lua_State *L, int table) {
  luaL_checkstack(L, 8, NULL);
  lua_newtable(L);
  const int keys = lua_gettop(L);
  lua_Integer n = 0;
  int unordered = 0;
  lua_pushnil(L);
  while (lua_next(L, table) != 0) {
    lua_pop(L, 1);
    unordered += key_rank(L, -1) == 3;
    lua_pushvalue(L, -1);
    lua_rawseti(L, keys, ++n);
  }
  if (unordered > 1) { /* they lie by their addresses, which differ from run to run */
    luaL_error(L, "pairs: keys that are tables or functions have no order; use a list");
  }
  lua_pushcfunction(L, key_less);
  sct_script_sort(L, keys, n, keys + 1);
  lua_pop(L, 1);
}

static int push_sorted_pairs(lua_State *L, int table) {
  sct_script_push_sorted_keys(L, table);
  const int keys = lua_gettop(L);
  lua_pushvalue(L, table);
  lua_pushvalue(L, keys);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, sorted_next, 3);
  return 1;
}

int sct_script_std_pairs(lua_State *L) {
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
    lua_pushvalue(L, 1);
    lua_call(L, 1, 3);
    return 3;
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  return push_sorted_pairs(L, 1);
}

/* ---- small replacements ---- */

static bool is_our_chunk(lua_State *L) {
  int line = 0;
  const char *name = sct_script_where(L, 1, &line);
  return name && sct_has_prefix(name, SCT_OUR_DIRECTORY);
}

/* Finalisers run where no hook fires. Weak tables show when memory is collected, which is no
 * business of a text that gives the same result every time; our own Lua may use them. */
int sct_script_std_setmetatable(lua_State *L) {
  static const char *const refused[] = {"__gc", "__mode"};
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, lua_isnoneornil(L, 2) || lua_istable(L, 2), 2, "nil or table");
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
    return luaL_error(L, "cannot change a protected metatable");
  }
  for (int k = 0; lua_istable(L, 2) && k < SCT_COUNT(refused); k++) {
    lua_pushstring(L, refused[k]);
    const bool ours = k > 0 && is_our_chunk(L);
    if (lua_rawget(L, 2) != LUA_TNIL && !ours) {
      return luaL_error(L, "a metatable may not have %s here", refused[k]);
    }
  }
  lua_settop(L, 2);
  lua_setmetatable(L, 1);
  return 1;
}

/* xpcall(f, handler, ...). Lua runs a handler where the error was raised; for an error of the
 * budget's hook that is inside the hook, where no hook fires: a handler that loops would never end.
 * Ours runs it after the call has been left. */
int sct_script_std_xpcall(lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 1);
  lua_copy(L, 2, 1); /* handler, (unused), ..., f */
  lua_replace(L, 2); /* handler, f, ... */
  if (lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0) == LUA_OK) {
    lua_pushboolean(L, 1);
    lua_replace(L, 1);
    return lua_gettop(L);
  }
  lua_call(L, 1, LUA_MULTRET);
  lua_pushboolean(L, 0);
  lua_insert(L, 1);
  return lua_gettop(L);
}

int sct_script_std_random(lua_State *L) {
  sct_rng *rng = &sct_sandbox_of(L)->rng;
  if (lua_gettop(L) == 0) {
    lua_pushnumber(L, sct_rng_unit(rng));
    return 1;
  }
  const bool two = lua_gettop(L) > 1;
  const lua_Integer lo = two ? luaL_checkinteger(L, 1) : 1;
  const lua_Integer hi = luaL_checkinteger(L, two ? 2 : 1);
  luaL_argcheck(L, lo <= hi && (lo >= 0 || hi < LUA_MAXINTEGER + lo), two ? 2 : 1,
                "interval is empty or too large");
  const int64_t width = hi - lo;
  lua_pushinteger(L, width == INT64_MAX ? (lua_Integer)(sct_rng_u64(rng) >> 1)
                                        : lo + sct_rng_below(rng, width + 1));
  return 1;
}

/* ---- modules and files ---- */

bool sct_script_push_below_root(lua_State *L, const char *name) {
  const sct_sandbox *sb = sct_sandbox_of(L);
  sct_str *text = &sct_sandbox_of(L)->scratch;
  sct_error err;
  bool found = false;
  if (sb->root &&
      sct_script_read_below(text, sb->root, "the spec's directory", name, &found, &err) != SCT_OK) {
    luaL_error(L, "%s", err.text);
  }
  if (found) {
    const bool here = strcmp(sb->root, ".") == 0 && !sct_has_prefix(name, SCT_OUR_DIRECTORY);
    const char *path = here ? name : lua_pushfstring(L, "%s/%s", sb->root, name);
    sct_script_push_chunk(L, path, sct_str_c(text), text->len);
    if (!here) {
      lua_remove(L, -2);
    }
  }
  return found;
}

/* Runs the chunk on top of the stack once and remembers its value under `key`; false while it
 * runs. */
static int run_once(lua_State *L, const char *key) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, key);
  lua_pop(L, 1);
  lua_call(L, 0, 1);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
  lua_pushvalue(L, -2);
  lua_setfield(L, -2, key);
  lua_pop(L, 1);
  return 1;
}

static bool push_loaded(lua_State *L, const char *key) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key);
  lua_getfield(L, -1, key);
  lua_remove(L, -2);
  if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) {
    luaL_error(L, "'%s' includes itself", strchr(key, ' ') + 1);
  }
  if (!lua_isnil(L, -1)) {
    return true;
  }
  lua_pop(L, 1);
  return false;
}

int sct_script_std_include(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const char *key = lua_pushfstring(L, "file %s", name);
  if (push_loaded(L, key)) {
    return 1;
  }
  if (!sct_script_push_below_root(L, name)) {
    return luaL_error(L, "include: there is no file '%s' in the spec's directory", name);
  }
  return run_once(L, key);
}

/* Pushes what the part `rest` of the module gives; "sectile" itself is one. */
static int push_part(lua_State *L, const char *name, const char *rest) {
  const char *key = lua_pushfstring(L, "module %s", name);
  if (push_loaded(L, key)) {
    return 1;
  }
  const char *asset = lua_pushfstring(L, "tuning/sectile/%s.lua", rest);
  sct_str *text = &sct_sandbox_of(L)->scratch;
  if (!sct_is_identifier(rest) || sct_asset_read(text, asset, NULL) != SCT_OK) {
    return luaL_error(L, "there is no module '%s'; did you mean 'sectile'?", name);
  }
  sct_script_push_chunk(L, asset, sct_str_c(text), text->len);
  return run_once(L, key);
}

int sct_script_push_module(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  return push_part(L, name, name + strlen("sectile."));
}

/* The parts are plain tables behind what scripts are checked with, so only our own Lua gets them.
 */
int sct_script_std_require(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  if (strcmp(name, "sectile.core") == 0) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &core_key);
    return 1;
  }
  if (strcmp(name, "sectile") == 0) {
    return push_part(L, name, name);
  }
  if (sct_has_prefix(name, "sectile.") && is_our_chunk(L)) {
    return push_part(L, name, name + strlen("sectile."));
  }
  return luaL_error(L,
                    "there is no module '%s'; did you mean 'sectile'? (files next to the spec are "
                    "read with include)",
                    name);
}

/* ---- charged functions ---- */

/* Worst case of matching `pattern` against a subject of n bytes, saturated. */
static double pattern_steps(const char *pattern, size_t len, size_t n) {
  const double span = (double)n + 1;
  size_t k = len > 0 && pattern[0] == '^' ? 1 : 0;
  double steps = k == 1 ? 1 : span;
  for (; k < len; k++) {
    if (pattern[k] == '%' && k + 1 < len) {
      k++;
      steps *= pattern[k] == 'b' || (pattern[k] >= '0' && pattern[k] <= '9') ? span : 1;
    } else if (strchr("*+-", pattern[k])) {
      steps *= span;
    } else if (pattern[k] == '?') {
      steps *= 2;
    }
  }
  return steps * (double)(len + 1) / 4 + span;
}

/* Upvalues: the cost. The function itself is the C function behind the closure's second one. */
static int charged(lua_State *L) {
  const enum cost cost = (enum cost)lua_tointeger(L, lua_upvalueindex(1));
  const lua_CFunction f = lua_tocfunction(L, lua_upvalueindex(2));
  if (cost == PATTERN && lua_isstring(L, 1) && lua_isstring(L, 2)) {
    size_t n = 0;
    size_t len = 0;
    lua_tolstring(L, 1, &n);
    const char *pattern = lua_tolstring(L, 2, &len);
    const double units = pattern_steps(pattern, len, n) / (double)PATTERN_STEPS_A_UNIT;
    sct_sandbox_charge(L, units < 1e18 ? (int64_t)units : INT64_MAX);
  } else if (lua_istable(L, 1)) {
    const int64_t n = sct_script_plain_length(L, 1);
    const bool moves = cost != SHIFT || lua_gettop(L) > 2; /* insert at the end moves nothing */
    sct_sandbox_charge(L, moves ? n : 0);
  }
  return f(L); /* none of these uses upvalues of its own */
}

int64_t sct_script_plain_length(lua_State *L, int idx) {
  static const char *const events[] = {"__index", "__newindex", "__len"};
  if (!lua_getmetatable(L, idx)) {
    return (int64_t)lua_rawlen(L, idx);
  }
  lua_pop(L, 1);
  if (luaL_getmetafield(L, idx, "__len") != LUA_TNIL) {
    const bool frozen = lua_tocfunction(L, -1) == frozen_len;
    lua_pop(L, 1);
    if (frozen) {
      return (int64_t)luaL_len(L, idx);
    }
  }
  for (int k = 0; k < SCT_COUNT(events); k++) {
    if (luaL_getmetafield(L, idx, events[k]) != LUA_TNIL) {
      luaL_error(L, "the functions of `table` take plain tables, not one with %s", events[k]);
    }
  }
  return (int64_t)lua_rawlen(L, idx);
}

/* ---- registration ---- */

typedef struct api_entry {
  const char *library, *name;
  enum cost cost;
  lua_CFunction own;
} api_entry;

static const api_entry api[] = {
#define SCT_API_STD(library, name, cost)     {library, name, cost, NULL},
#define SCT_API_OWN(library, name, function) {library, name, FREE, sct_script_##function},
#include "script/script_api.def"
};

/* Pushes Lua's own value of that name; nil if it has none. The full libraries lie in the table at
 * `libraries`. */
static void push_full(lua_State *L, int libraries, const api_entry *entry) {
  if (lua_getfield(L, libraries, entry->library) == LUA_TTABLE) {
    lua_getfield(L, -1, entry->name);
    lua_remove(L, -2);
  }
}

/* Pushes the value that push_full() finds, wrapped when its work must be charged. */
static void push_std(lua_State *L, int libraries, const api_entry *entry) {
  push_full(L, libraries, entry);
  if (entry->cost != FREE) {
    lua_pushinteger(L, entry->cost);
    lua_insert(L, -2);
    lua_pushcclosure(L, charged, 2);
  }
}

/* A table of library name to table: the full standard libraries, or (ours) the allowed part. */
static void push_libraries(lua_State *L) {
  static const struct {
    const char *name, *key;
    lua_CFunction open;
  } libraries[] = {{LUA_GNAME, "", luaopen_base},
                   {LUA_STRLIBNAME, "string", luaopen_string},
                   {LUA_TABLIBNAME, "table", luaopen_table},
                   {LUA_MATHLIBNAME, "math", luaopen_math}};
  lua_newtable(L);
  for (int k = 0; k < SCT_COUNT(libraries); k++) {
    luaL_requiref(L, libraries[k].name, libraries[k].open, 0);
    lua_setfield(L, -2, libraries[k].key);
  }
}

static void register_api(lua_State *L, int full, int ours) {
  for (int k = 0; k < SCT_COUNT(api); k++) {
    if (lua_getfield(L, ours, api[k].library) == LUA_TNIL) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_setfield(L, ours, api[k].library);
    }
    if (api[k].own) { /* upvalue 1: Lua's function of that name, or nil */
      push_full(L, full, &api[k]);
      lua_pushcclosure(L, api[k].own, 1);
    } else {
      push_std(L, full, &api[k]);
    }
    lua_setfield(L, -2, api[k].name);
    lua_pop(L, 1);
  }
}

/* The table behind string methods becomes the allowed one, and scripts cannot get at it. */
static void lock_strings(lua_State *L, int ours) {
  lua_pushstring(L, "");
  lua_getmetatable(L, -1);
  lua_getfield(L, ours, "string");
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 2);
}

/* Plain tables become read-only views in the globals. */
static void install_globals(lua_State *L, int ours) {
  static const char *const views[] = {"string", "table", "math"};
  lua_getfield(L, ours, "");
  const int globals = lua_gettop(L);
  for (int k = 0; k < SCT_COUNT(views); k++) {
    lua_getfield(L, ours, views[k]);
    sct_sandbox_freeze(L, -1, views[k]);
    lua_setfield(L, globals, views[k]);
    lua_pop(L, 1);
  }
  sct_sandbox_freeze(L, globals, "");
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pop(L, 1);
}

void sct_script_open_std(lua_State *L) {
  push_libraries(L);
  const int full = lua_gettop(L);
  lua_newtable(L);
  const int ours = lua_gettop(L);
  register_api(L, full, ours);
  lock_strings(L, ours);
  install_globals(L, ours);
  lua_getfield(L, ours, "core");
  sct_script_expr_functions(L);
  sct_sandbox_freeze(L, -1, "sectile.core");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &core_key);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded_key);
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE); /* the full libraries become garbage */
  lua_settop(L, full - 1);
}
