/* Expressions as Lua values: arithmetic on them builds, nothing evaluates.
 *
 * A layout function is ordinary Lua; run on these values it leaves behind the expression it would
 * have computed. The functions that Lua's operators cannot give (comparisons, min, max) take plain
 * integers too, so that the same layout function also runs on numbers and the two can be compared.
 */
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

static const char type_name[] = "sectile.expr"; /* its address is a key of the registry */

/* An expression is a hundred instructions' worth: building one is not a single VM step. */
enum { BUILD_UNITS = 100 };

typedef struct expr_box {
  sct_expr e;
} expr_box;

/* ---- in and out ---- */

static sct_expr_pool *pool_of(lua_State *L) {
  sct_expr_pool *pool = sct_sandbox_of(L)->pool;
  if (!pool) {
    luaL_error(L, "no expressions can be built here");
  }
  return pool;
}

void sct_script_push_expr(lua_State *L, sct_expr e) {
  if (e == SCT_EXPR_NONE) {
    luaL_error(L, "the result of this arithmetic is too large, or it divides by zero");
  }
  sct_sandbox_charge(L, BUILD_UNITS);
  expr_box *box = lua_newuserdatauv(L, sizeof(*box), 0);
  box->e = e;
  lua_rawgetp(L, LUA_REGISTRYINDEX, type_name);
  lua_setmetatable(L, -2);
}

/* NULL: it is something else. */
static const expr_box *to_box(lua_State *L, int idx) {
  const expr_box *box = lua_touserdata(L, idx);
  if (box == NULL || !lua_getmetatable(L, idx)) {
    return NULL;
  }
  lua_rawgetp(L, LUA_REGISTRYINDEX, type_name);
  const bool is_ours = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return is_ours ? box : NULL;
}

sct_expr sct_script_to_expr(lua_State *L, int idx) {
  const expr_box *box = to_box(L, idx);
  if (box) {
    return box->e;
  }
  int is_integer = 0;
  const lua_Integer value = lua_tointegerx(L, idx, &is_integer);
  if (!is_integer || lua_type(L, idx) != LUA_TNUMBER) {
    return SCT_EXPR_NONE;
  }
  return sct_expr_const(pool_of(L), value);
}

sct_expr sct_script_check_expr(lua_State *L, int idx) {
  const sct_expr e = sct_script_to_expr(L, idx);
  if (e != SCT_EXPR_NONE) {
    return e;
  }
  if (lua_type(L, idx) == LUA_TNUMBER) {
    luaL_error(L, "%f is not an integer: offsets are whole bytes; divide with //",
               lua_tonumber(L, idx));
  }
  luaL_error(L, "an integer or an expression was expected, not a %s value", luaL_typename(L, idx));
  return SCT_EXPR_NONE;
}

/* ---- operators ---- */

static int push_binary(lua_State *L, sct_expr (*build)(sct_expr_pool *, sct_expr, sct_expr)) {
  const sct_expr a = sct_script_check_expr(L, 1);
  const sct_expr b = sct_script_check_expr(L, 2);
  sct_script_push_expr(L, build(pool_of(L), a, b));
  return 1;
}

#define BINARY(name, build)                                                                        \
  static int name(lua_State *L) {                                                                  \
    return push_binary(L, build);                                                                  \
  }
BINARY(op_add, sct_expr_add)
BINARY(op_sub, sct_expr_sub)
BINARY(op_mul, sct_expr_mul)
/* A divisor that may be zero for an extent of zero is fine: nothing is then addressed. */
BINARY(op_idiv, sct_expr_div)
BINARY(op_mod, sct_expr_mod)

static int op_unm(lua_State *L) {
  sct_script_push_expr(L, sct_expr_neg(pool_of(L), sct_script_check_expr(L, 1)));
  return 1;
}

static int op_div(lua_State *L) {
  return luaL_error(L, "`/` gives fractions in Lua; write `//` for whole-number division");
}

static int op_compare(lua_State *L) {
  return luaL_error(L, "an expression has no value yet, so `<`, `<=` and `==` cannot decide; use "
                       "lt, le, eq, min or max of the module sectile (they give expressions)");
}

static int op_concat(lua_State *L) {
  return luaL_error(L, "an expression is no text; use tostring(e) or e:c()");
}

/* By a power of two, which `build` multiplies by or divides by. */
static int shift(lua_State *L, sct_expr (*build)(sct_expr_pool *, sct_expr, sct_expr)) {
  const lua_Integer by = lua_isinteger(L, 2) ? lua_tointeger(L, 2) : -1;
  if (by < 0 || by > 61) {
    return luaL_error(L, "expressions shift by constants from 0 to 61 only");
  }
  lua_pushinteger(L, (lua_Integer)1 << by);
  lua_replace(L, 2);
  return push_binary(L, build);
}

static int op_shl(lua_State *L) {
  return shift(L, sct_expr_mul);
}

static int op_shr(lua_State *L) {
  return shift(L, sct_expr_div);
}

static int op_band(lua_State *L) {
  const int mask_at = lua_isinteger(L, 2) ? 2 : 1;
  const lua_Integer mask = lua_isinteger(L, mask_at) ? lua_tointeger(L, mask_at) : -1;
  if (mask < 0 || mask == LUA_MAXINTEGER || (mask & (mask + 1)) != 0) {
    return luaL_error(L, "`&` of expressions takes a mask 2^k - 1 only; use // and %%");
  }
  const sct_expr e = sct_script_check_expr(L, 3 - mask_at);
  sct_script_push_expr(L, sct_expr_mod(pool_of(L), e, sct_expr_const(pool_of(L), mask + 1)));
  return 1;
}

static int push_text(lua_State *L, bool c) {
  sct_str *text = &sct_sandbox_of(L)->scratch;
  const sct_expr e = sct_script_check_expr(L, 1);
  sct_str_clear(text);
  if (c) {
    sct_expr_print_c(text, pool_of(L), e, lua_toboolean(L, 2));
  } else {
    sct_expr_print(text, pool_of(L), e);
  }
  lua_pushlstring(L, sct_str_c(text), text->len);
  return 1;
}

static int op_tostring(lua_State *L) {
  return push_text(L, false);
}

/* ---- functions that take integers too ---- */

/* Upvalue: the operation. min and max take any number of arguments, the others two. */
static int fn_binary(lua_State *L) {
  const sct_expr_op op = (sct_expr_op)lua_tointeger(L, lua_upvalueindex(1));
  const int n = lua_gettop(L);
  const bool many = op == SCT_EXPR_MIN || op == SCT_EXPR_MAX;
  if (many ? n < 1 : n != 2) {
    return luaL_error(L,
                      many ? "at least one argument was expected" : "two arguments were expected");
  }
  bool plain = true;
  for (int k = 1; k <= n; k++) {
    plain = plain && lua_isinteger(L, k);
  }
  if (plain) {
    lua_Integer value = lua_tointeger(L, 1);
    for (int k = 2; k <= n; k++) {
      value = sct_expr_eval_binary(op, value, lua_tointeger(L, k));
    }
    lua_pushinteger(L, value);
    return 1;
  }
  sct_expr e = sct_script_check_expr(L, 1);
  for (int k = 2; k <= n; k++) {
    sct_sandbox_charge(L, BUILD_UNITS);
    e = sct_expr_binary(pool_of(L), op, e, sct_script_check_expr(L, k));
  }
  sct_script_push_expr(L, e);
  return 1;
}

static int fn_lnot(lua_State *L) {
  if (lua_isinteger(L, 1)) {
    lua_pushinteger(L, lua_tointeger(L, 1) == 0);
    return 1;
  }
  sct_script_push_expr(L, sct_expr_not(pool_of(L), sct_script_check_expr(L, 1)));
  return 1;
}

static int op_bxor(lua_State *L) {
  sct_script_push_expr(L, sct_expr_binary(pool_of(L), SCT_EXPR_XOR, sct_script_check_expr(L, 1),
                                          sct_script_check_expr(L, 2)));
  return 1;
}

/* ---- methods only ---- */

static int method_same(lua_State *L) {
  lua_pushboolean(L, sct_script_check_expr(L, 1) == sct_script_check_expr(L, 2));
  return 1;
}

static int method_const(lua_State *L) {
  int64_t value = 0;
  if (sct_expr_is_const(pool_of(L), sct_script_check_expr(L, 1), &value)) {
    lua_pushinteger(L, value);
  } else {
    lua_pushnil(L);
  }
  return 1;
}

static int method_range(lua_State *L) {
  int64_t lo = 0;
  int64_t hi = 0;
  sct_expr_range(pool_of(L), sct_script_check_expr(L, 1), &lo, &hi);
  lua_pushinteger(L, lo);
  lua_pushinteger(L, hi);
  return 2;
}

static int method_divisor(lua_State *L) {
  lua_pushinteger(L, sct_expr_divisor(pool_of(L), sct_script_check_expr(L, 1)));
  return 1;
}

static int method_c(lua_State *L) {
  return push_text(L, true);
}

/* ---- registration ---- */

static const struct {
  const char *name;
  sct_expr_op op;
} binary_functions[] = {
    {"lt", SCT_EXPR_LT},   {"le", SCT_EXPR_LE},    {"eq", SCT_EXPR_EQ},
    {"ne", SCT_EXPR_NE},   {"min", SCT_EXPR_MIN},  {"max", SCT_EXPR_MAX},
    {"xor", SCT_EXPR_XOR}, {"land", SCT_EXPR_AND}, {"lor", SCT_EXPR_OR},
};

void sct_script_expr_functions(lua_State *L) {
  for (int k = 0; k < SCT_COUNT(binary_functions); k++) {
    lua_pushinteger(L, binary_functions[k].op);
    lua_pushcclosure(L, fn_binary, 1);
    lua_setfield(L, -2, binary_functions[k].name);
  }
  lua_pushcfunction(L, fn_lnot);
  lua_setfield(L, -2, "lnot");
}

void sct_script_open_expr(lua_State *L) {
  static const luaL_Reg operators[] = {
      {"__add", op_add},    {"__sub", op_sub},           {"__mul", op_mul},
      {"__idiv", op_idiv},  {"__mod", op_mod},           {"__unm", op_unm},
      {"__div", op_div},    {"__pow", op_div},           {"__lt", op_compare},
      {"__le", op_compare}, {"__eq", op_compare},        {"__concat", op_concat},
      {"__shl", op_shl},    {"__shr", op_shr},           {"__band", op_band},
      {"__bxor", op_bxor},  {"__tostring", op_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"same", method_same},   {"const", method_const},
                                     {"range", method_range}, {"divisor", method_divisor},
                                     {"c", method_c},         {NULL, NULL}};
  luaL_newmetatable(L, type_name);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, type_name); /* by address too, which is faster to find */
  luaL_setfuncs(L, operators, 0);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  sct_script_expr_functions(L);
  sct_sandbox_freeze(L, -1, "an expression");
  lua_setfield(L, -3, "__index");
  lua_pop(L, 1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
}
