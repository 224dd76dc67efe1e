/* What a spec's dimensions became, in words: the view of tuning/sectile/modes.lua as plain data. */
#include "script/script_strategy_internal.h"

#include <string.h>

typedef struct modes_job {
  sct_script *script;
  const char *splits;
  sct_mode_list *out;
} modes_job;

/* Field `name` of the table at the top as kept text. */
static const char *text_field(lua_State *L, sct_arena *arena, const char *name) {
  lua_getfield(L, -1, name);
  const char *text = sct_script_copy_text(arena, luaL_checkstring(L, -1));
  lua_pop(L, 1);
  return text;
}

/* Field `name` of the table at the top, a list of texts, as kept texts. */
static const char **text_list(lua_State *L, sct_arena *arena, const char *name, int *n) {
  lua_getfield(L, -1, name);
  *n = (int)luaL_len(L, -1);
  const char **list = SCT_ARENA_NEW(arena, const char *, *n + 1);
  for (int k = 0; k < *n; k++) {
    lua_geti(L, -1, k + 1);
    list[k] = sct_script_copy_text(arena, luaL_checkstring(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return list;
}

static void read_mode(lua_State *L, const sct_spec *spec, sct_arena *arena, sct_mode *mode) {
  int n = 0;
  mode->name = text_field(L, arena, "name");
  mode->extent = text_field(L, arena, "extent");
  mode->from = text_list(L, arena, "from", &mode->n_from);
  mode->strides = text_list(L, arena, "strides", &n);
  mode->sizes = SCT_ARENA_NEW(arena, int64_t, spec->n_sizes + 1);
  lua_getfield(L, -1, "sizes");
  for (int k = 0; k < spec->n_sizes; k++) {
    lua_geti(L, -1, k + 1);
    mode->sizes[k] = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static int read_modes(lua_State *L) {
  const modes_job *job = lua_touserdata(L, 1);
  const sct_spec *spec = job->script->spec;
  sct_mode_list *out = job->out;
  int *layout = lua_newuserdatauv(L, sizeof *layout * (size_t)spec->n_operands, 0);
  memset(layout, 0, sizeof *layout * (size_t)spec->n_operands);
  lua_rawgeti(L, LUA_REGISTRYINDEX, job->script->names_ref);
  lua_getfield(L, -1, "strides");
  lua_getfield(L, -1, "describe");
  const sct_view_kind kind = {.splits = job->splits, .taps = "together"};
  sct_script_push_view(L, job->script, layout, &kind, NULL);
  lua_call(L, 1, 1);
  out->n = (int)luaL_len(L, -1);
  out->modes = SCT_ARENA_NEW(&out->arena, sct_mode, out->n + 1);
  for (int k = 0; k < out->n; k++) {
    lua_geti(L, -1, k + 1);
    read_mode(L, spec, &out->arena, &out->modes[k]);
    lua_pop(L, 1);
  }
  out->requires = text_list(L, &out->arena, "requires", &out->n_requires);
  return 0;
}

sct_status sct_script_modes(sct_mode_list *out, sct_script *script, const char *splits,
                            sct_error *err) {
  *out = (sct_mode_list){0};
  modes_job job = {.script = script, .splits = splits, .out = out};
  const sct_status status = sct_sandbox_protect(&script->sandbox, read_modes, &job, err);
  if (status != SCT_OK) {
    sct_mode_list_free(out);
  }
  return status;
}

void sct_mode_list_free(sct_mode_list *list) {
  sct_arena_free(&list->arena);
  *list = (sct_mode_list){0};
}
