/* What people read: a document of JSON becomes text by a module of tuning/sectile, which may fill
 * templates. The module is ours, however long its work: no limit of a user's script holds. */
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"
#include "script/script_strategy_internal.h"

struct sct_page {
  sct_sandbox sandbox;
  char *module;
};

/* A call of a function. What is wrong with the data it was given is in `refused`. */
typedef struct page_call {
  sct_str *out;
  sct_page *page;
  const char *function;
  const json_t *doc, *look;
  sct_str refused;
} page_call;

/* core.template(name, env): the text of templates/NAME as a function that sees `env`, whose `_o`
 * gets each line. */
int sct_script_core_template(lua_State *L) {
  const char *name = lua_pushfstring(L, "templates/%s", luaL_checkstring(L, 1));
  sct_sandbox *sb = sct_sandbox_of(L);
  sct_error err;
  SCT_SCOPED(sct_str) text = {0};
  luaL_checktype(L, 2, LUA_TTABLE);
  sct_status status = sct_asset_read(&text, name, &err);
  SCT_THEN(sct_template_translate(&sb->scratch, name, sct_str_c(&text), &err));
  sct_str_free(&text); /* what follows may raise */
  SCT_THEN(sct_sandbox_load(sb, name, sct_str_c(&sb->scratch), sb->scratch.len, 2, &err));
  return status == SCT_OK ? 1 : luaL_error(L, "%s", err.text);
}

/* null is nil: a field that is null is absent. An item of a list is false, as lists have no holes.
 */
static void push_json(lua_State *L, const json_t *value) {
  const char *key = NULL;
  json_t *item = NULL;
  size_t k = 0;
  luaL_checkstack(L, 4, NULL);
  switch (value != NULL ? json_typeof(value) : JSON_NULL) {
  case JSON_OBJECT:
    lua_createtable(L, 0, (int)json_object_size(value));
    json_object_foreach((json_t *)value, key, item) {
      push_json(L, item);
      lua_setfield(L, -2, key);
    }
    break;
  case JSON_ARRAY:
    lua_createtable(L, (int)json_array_size(value), 0);
    json_array_foreach(value, k, item) {
      push_json(L, json_is_null(item) ? json_false() : item);
      lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    break;
  case JSON_STRING:
    lua_pushlstring(L, json_string_value(value), json_string_length(value));
    break;
  case JSON_INTEGER:
    lua_pushinteger(L, json_integer_value(value));
    break;
  case JSON_REAL:
    lua_pushnumber(L, json_real_value(value));
    break;
  case JSON_TRUE:
  case JSON_FALSE:
    lua_pushboolean(L, json_is_true(value));
    break;
  case JSON_NULL:
    lua_pushnil(L);
    break;
  }
}

static int call_page(lua_State *L) {
  page_call *call = lua_touserdata(L, 1);
  lua_pushcfunction(L, sct_script_push_module);
  lua_pushstring(L, call->page->module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, call->function);
  push_json(L, call->doc);
  push_json(L, call->look);
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) {
    sct_str_append(&call->refused, luaL_checkstring(L, -1));
    return 0;
  }
  lua_pop(L, 1);
  const lua_Integer n = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer k = 1; k <= n; k++) {
    lua_rawgeti(L, -1, k);
    sct_str_append(call->out, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  return 0;
}

sct_status sct_page_open(sct_page **out, const char *module, sct_error *err) {
  sct_page *page = sct_alloc(sizeof *page);
  const sct_status status = sct_sandbox_init(&page->sandbox, NULL, err);
  if (status != SCT_OK) {
    sct_free(page);
    return status;
  }
  page->sandbox.limit_bytes = page->sandbox.limit_string_bytes = SIZE_MAX / 2;
  page->sandbox.budget = SCT_SANDBOX_NO_LIMIT;
  page->module = sct_strdup(module);
  *out = page;
  return SCT_OK;
}

sct_status sct_page_call(sct_page *page, sct_str *out, const char *function, const json_t *doc,
                         const json_t *look, sct_error *err) {
  page_call call = {out, page, function, doc, look, {0}};
  sct_status status = sct_sandbox_protect(&page->sandbox, call_page, &call, err);
  if (status == SCT_OK && call.refused.len > 0) {
    status = sct_fail(err, SCT_EDATA, "%s", sct_str_c(&call.refused));
  }
  sct_str_free(&call.refused);
  return status;
}

void sct_page_close(sct_page *page) {
  if (page) {
    sct_sandbox_free(&page->sandbox);
    sct_free(page->module);
    sct_free(page);
  }
}

sct_status sct_script_page(sct_str *out, const char *module, const char *function,
                           const json_t *doc, const json_t *look, sct_error *err) {
  sct_page *page = NULL;
  SCT_TRY(sct_page_open(&page, module, err));
  const sct_status status = sct_page_call(page, out, function, doc, look, err);
  sct_page_close(page);
  return status;
}
