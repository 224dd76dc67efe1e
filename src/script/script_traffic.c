/* A plan's `traffic`: an estimate of what its kernel moves, for the order in which
 * candidates are tried. Counts of the compiled code take its place. */
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

#include <string.h>

#define MAX_WIDTH (1 << 30)

/* An expression over extents, or a whole number; SCT_EXPR_NONE where there is none. */
static sct_expr get_amount(lua_State *L, int t, const char *name) {
  lua_getfield(L, t, name);
  if (!lua_isnil(L, -1) && !lua_isinteger(L, -1) && !lua_isuserdata(L, -1)) {
    luaL_error(L, "'%s' of a plan's 'traffic' is an expression over extents, not a %s", name,
               luaL_typename(L, -1));
  }
  const sct_expr e = lua_isnil(L, -1) ? SCT_EXPR_NONE : sct_script_check_expr(L, -1);
  lua_pop(L, 1);
  return e;
}

static int64_t get_number(lua_State *L, int t, const char *name, int64_t most) {
  int is_integer = 0;
  lua_getfield(L, t, name);
  const int64_t value = lua_tointegerx(L, -1, &is_integer);
  if (!is_integer || value < 1 || value > most) {
    luaL_error(L, "'%s' of a plan's 'traffic' is a number from 1 to %I", name, (LUAI_UACINT)most);
  }
  lua_pop(L, 1);
  return value;
}

static bool get_flag(lua_State *L, int t, const char *name, bool otherwise) {
  lua_getfield(L, t, name);
  const bool value = lua_isnil(L, -1) ? otherwise : lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return value;
}

/* { operand = n, width = bytes a lane, bytes = expr, sectors = expr, lines = expr, store = bool,
 * bulk = bool } at the top */
static void read_operand(lua_State *L, const sct_spec *spec, sct_kernel_code *code) {
  static const char *const legal[] = {"operand", "width", "bytes", "sectors",
                                      "lines",   "store", "bulk"};
  const int t = lua_gettop(L);
  if (!lua_istable(L, t)) {
    luaL_error(L, "an operand in a plan's 'traffic' is a table { operand, width }, not a %s",
               luaL_typename(L, t));
  }
  sct_script_check_keys(L, NULL, "a plan's 'traffic'", legal, SCT_COUNT(legal));
  const int op = (int)get_number(L, t, "operand", spec->n_operands) - 1;
  if (code->traffic[op].width > 0) {
    luaL_error(L, "operand %d stands in a plan's 'traffic' twice", op + 1);
  }
  code->traffic[op] =
      (sct_traffic){.width = (int)get_number(L, t, "width", MAX_WIDTH),
                    .is_store = get_flag(L, t, "store", spec->operands[op].is_output),
                    .is_bulk = get_flag(L, t, "bulk", false),
                    .bytes = get_amount(L, t, "bytes"),
                    .sectors = get_amount(L, t, "sectors"),
                    .lines = get_amount(L, t, "lines")};
}

void sct_script_read_traffic(lua_State *L, int plan, const sct_spec *spec, sct_kernel_code *code) {
  code->traffic = SCT_ARENA_NEW(&code->arena, sct_traffic, spec->n_operands);
  for (int op = 0; op < spec->n_operands; op++) {
    code->traffic[op] =
        (sct_traffic){.bytes = SCT_EXPR_NONE, .sectors = SCT_EXPR_NONE, .lines = SCT_EXPR_NONE};
  }
  code->wavefronts = SCT_EXPR_NONE;
  lua_getfield(L, plan, "traffic");
  if (!lua_isnil(L, -1) && !lua_istable(L, -1)) {
    luaL_error(L, "'traffic' of a plan is a list of operands, not a %s", luaL_typename(L, -1));
  }
  if (lua_istable(L, -1)) {
    const int t = lua_gettop(L);
    static const char *const legal[] = {"wavefronts"};
    const int64_t n = sct_script_plain_length(L, t);
    sct_script_check_keys(L, NULL, "a plan's 'traffic'", legal, SCT_COUNT(legal));
    for (int64_t k = 1; k <= n; k++) {
      lua_geti(L, t, k);
      read_operand(L, spec, code);
      lua_settop(L, t);
    }
    code->wavefronts = get_amount(L, t, "wavefronts");
  }
  lua_pop(L, 1);
}
