/* mutants_data - what tests/tune/mutants.lua reads of data files, as structs. Their texts are
 * Lua's, which keeps what it returned. */
#ifndef SCT_TESTS_TUNE_MUTANTS_DATA_H
#define SCT_TESTS_TUNE_MUTANTS_DATA_H

#include "codegen/codegen_fixture.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

typedef struct md_asset {
  const char *path, *text;
} md_asset;

/* A candidate, or a mutant of one. */
typedef struct md_item {
  const char *name, *label;
  const char *kind;      /* NULL: right as it is */
  const char *file;      /* the asset that is changed; NULL: the source, or nothing */
  const char *from, *to; /* of a mutant that is wrong by its label alone: NULL */
  const char *what;      /* of a directory: what is wrong, or ""; else NULL */
  int number;            /* of the mutant in its data file, from 1; in a directory MUT */
  int original;          /* the item that it is a mutant of */
  const md_asset *assets;
  int n_assets;
} md_item;

/* Candidates of one spec for one device, in front, then mutants. */
typedef struct md_group {
  const char *data, *spec, *device;
  const char *path, *text; /* one of them is NULL */
  bool drawn;              /* candidates are drawn */
  md_item *items;
  int n_items;
} md_group;

/* A change of a kernel's source, or (operand >= 0) of what it asks of a pointer. */
typedef struct md_change {
  const char *kind, *from, *to;
  const char *where; /* "line 12: TEXT" */
  int64_t at;        /* offset of `from` */
  int operand;
} md_change;

static lua_State *md_lua;
static sct_arena md_arena; /* of the structs */

/* Calls the function under its n arguments; the result stays, for good. */
static inline void md_call(int n) {
  if (lua_pcall(md_lua, n, 1, 0) != LUA_OK) {
    fail_msg("%s", lua_tostring(md_lua, -1));
  }
  assert_true(lua_checkstack(md_lua, 32));
}

static inline void md_function(const char *name) {
  lua_getfield(md_lua, 1, name);
}

static inline void md_open(void) {
  md_lua = luaL_newstate();
  assert_non_null(md_lua);
  luaL_openlibs(md_lua);
  if (luaL_dofile(md_lua, SCT_TESTS_DIR "/tune/mutants.lua") != LUA_OK) {
    fail_msg("%s", lua_tostring(md_lua, -1));
  }
  lua_pushstring(md_lua, SCT_ROOT_DIR);
  lua_setfield(md_lua, 1, "root");
}

static inline void md_close(void) {
  lua_close(md_lua);
  sct_arena_free(&md_arena);
}

/* ---- fields of the table at the top ---- */

static inline const char *md_text(const char *field) {
  lua_getfield(md_lua, -1, field);
  const char *text = lua_tostring(md_lua, -1);
  lua_pop(md_lua, 1);
  return text;
}

static inline int64_t md_number(const char *field) {
  lua_getfield(md_lua, -1, field);
  const int64_t number = lua_tointeger(md_lua, -1);
  lua_pop(md_lua, 1);
  return number;
}

/* Pushes the list; its length. */
static inline int md_list(const char *field) {
  lua_getfield(md_lua, -1, field);
  return (int)lua_rawlen(md_lua, -1);
}

static inline md_item md_read_item(void) {
  md_item item = {.name = md_text("name"),
                  .label = md_text("label"),
                  .kind = md_text("kind"),
                  .file = md_text("file"),
                  .from = md_text("from"),
                  .to = md_text("to"),
                  .what = md_text("what"),
                  .number = (int)md_number("number"),
                  .original = (int)md_number("original") - 1};
  item.n_assets = md_list("assets");
  md_asset *assets = SCT_ARENA_NEW(&md_arena, md_asset, item.n_assets + 1);
  for (int k = 0; k < item.n_assets; k++) {
    lua_rawgeti(md_lua, -1, k + 1);
    lua_rawgeti(md_lua, -1, 1);
    lua_rawgeti(md_lua, -2, 2);
    assets[k] = (md_asset){lua_tostring(md_lua, -2), lua_tostring(md_lua, -1)};
    lua_pop(md_lua, 3);
  }
  lua_pop(md_lua, 1);
  item.assets = assets;
  return item;
}

static inline md_group md_read_group(void) {
  md_group group = {.data = md_text("data"),
                    .spec = md_text("spec"),
                    .device = md_text("device"),
                    .path = md_text("path"),
                    .text = md_text("text")};
  lua_getfield(md_lua, -1, "drawn");
  group.drawn = lua_toboolean(md_lua, -1);
  lua_pop(md_lua, 1);
  group.n_items = md_list("items");
  group.items = SCT_ARENA_NEW(&md_arena, md_item, group.n_items + 1);
  for (int k = 0; k < group.n_items; k++) {
    lua_rawgeti(md_lua, -1, k + 1);
    group.items[k] = md_read_item();
    lua_pop(md_lua, 1);
  }
  lua_pop(md_lua, 1);
  return group;
}

/* The groups of a data file, of a directory, or of a spec. */
static inline md_group *md_groups(const char *name, int *n) {
  md_function("groups");
  lua_pushstring(md_lua, name);
  md_call(1);
  *n = (int)lua_rawlen(md_lua, -1);
  md_group *groups = SCT_ARENA_NEW(&md_arena, md_group, *n + 1);
  for (int k = 0; k < *n; k++) {
    lua_rawgeti(md_lua, -1, k + 1);
    groups[k] = md_read_group();
    lua_pop(md_lua, 1);
  }
  return groups;
}

/* The changes that operators make to a kernel's source. */
static inline md_change *md_operators(const char *source, int *n) {
  md_function("operators");
  lua_pushstring(md_lua, source);
  md_call(1);
  *n = (int)lua_rawlen(md_lua, -1);
  md_change *changes = SCT_ARENA_NEW(&md_arena, md_change, *n + 1);
  for (int k = 0; k < *n; k++) {
    lua_rawgeti(md_lua, -1, k + 1);
    changes[k] = (md_change){.kind = md_text("kind"),
                             .from = md_text("from"),
                             .to = md_text("to"),
                             .where = md_text("where"),
                             .at = md_number("at"),
                             .operand = -1};
    lua_pop(md_lua, 1);
  }
  return changes;
}

/* The kinds, in their order. */
static inline const char **md_kinds(int *n) {
  lua_getfield(md_lua, 1, "kinds");
  *n = (int)lua_rawlen(md_lua, -1);
  const char **kinds = SCT_ARENA_NEW(&md_arena, const char *, *n + 1);
  for (int k = 0; k < *n; k++) {
    lua_rawgeti(md_lua, -1, k + 1);
    kinds[k] = lua_tostring(md_lua, -1);
    lua_pop(md_lua, 1);
  }
  return kinds;
}

/* Ends the test with the list of kinds, unless this is one. */
static inline void md_check_kind(const char *kind) {
  md_function("check_kind");
  lua_pushstring(md_lua, kind);
  md_call(1);
}

#endif
