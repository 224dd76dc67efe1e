/* Device descriptions: tuning/devices/NAME.lua as a virtual GPU. */
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

#define DIRECTORY "tuning/devices/"

typedef struct device_loader {
  sct_device_desc *out;
  const char *asset;
} device_loader;

/* ---- names ---- */

void sct_script_device_names(const char ***out, int *n, sct_arena *arena) {
  *out = sct_asset_names(n, arena, DIRECTORY, ".lua");
  for (int k = 0; k < *n; k++) {
    const char *base = sct_path_basename((*out)[k]);
    (*out)[k] = sct_arena_strndup(arena, base, strlen(base) - strlen(".lua"));
  }
}

static sct_status unknown_device(const char *name, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  SCT_SCOPED(sct_str) text = {0};
  const char **names = NULL;
  int n = 0;
  sct_script_device_names(&names, &n, &arena);
  sct_str_printf(&text, "there is no description of a device '%s'", name);
  sct_str_suggest(&text, name, SCT_NAMES(names, n));
  return sct_fail(err, SCT_ENODEVICE, "%s", sct_str_c(&text));
}

/* ---- reading ---- */

static void text_of(lua_State *L, const char *key, char *out, size_t n) {
  lua_getfield(L, -1, key);
  snprintf(out, n, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
}

static const char *const pipe_keys[SCT_N_PIPES] = {
    [SCT_PIPE_FP32] = "fp32_clk", [SCT_PIPE_FP64] = "fp64_clk", [SCT_PIPE_SFU] = "sfu_clk",
    [SCT_PIPE_INT] = "int_clk",   [SCT_PIPE_IMUL] = "int_clk",  [SCT_PIPE_ISSUE] = "issue_clk",
};

/* Arguments: the loader, what the file returned. Raises the errors of tuning/sectile/device.lua. */
static int read_device(lua_State *L) {
  const device_loader *loader = lua_touserdata(L, 1);
  sct_device_desc *d = loader->out;
  lua_pushcfunction(L, sct_script_push_module);
  lua_pushstring(L, "sectile.device");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "read");
  lua_pushvalue(L, 2);
  lua_pushstring(L, loader->asset);
  lua_call(L, 2, 1);
  text_of(L, "name", d->name, sizeof(d->name));
  text_of(L, "coalescing", d->coalescing, sizeof(d->coalescing));
  text_of(L, "held_against", d->held_against, sizeof(d->held_against));
  d->held_error = sct_script_field_number(L, -1, "held_error");
  d->regs_by_block = sct_script_field_flag(L, -1, "regs_by_block");
  d->counting_only = sct_script_field_flag(L, -1, "counting_only");
#define SCT_SMALL(name)  d->name = (int)sct_script_field_integer(L, -1, #name);
#define SCT_NUMBER(name) d->name = sct_script_field_integer(L, -1, #name);
#define SCT_RATE(name)   d->name = sct_script_field_number(L, -1, #name);
#include "spec/spec_device.def"
  for (int p = 0; p < SCT_N_PIPES; p++) {
    d->pipe_clk[p] = (int)sct_script_field_integer(L, -1, pipe_keys[p]);
  }
  d->is_virtual = true;
  return 0;
}

static sct_status run_device(device_loader *loader, const sct_str *text, sct_error *err) {
  sct_sandbox sb;
  memset(loader->out, 0, sizeof(*loader->out));
  SCT_TRY(sct_sandbox_init(&sb, NULL, err));
  sct_status status = sct_sandbox_load(&sb, loader->asset, sct_str_c(text), text->len, 0, err);
  SCT_THEN(sct_sandbox_call(&sb, 0, 1, err));
  if (status == SCT_OK) {
    lua_pushcfunction(sb.L, read_device);
    lua_pushlightuserdata(sb.L, loader);
    lua_rotate(sb.L, -3, 2);
    status = sct_sandbox_call(&sb, 2, 0, err);
  }
  sct_sandbox_free(&sb);
  if (status != SCT_OK) {
    memset(loader->out, 0, sizeof(*loader->out));
  }
  return status;
}

sct_status sct_script_read_device(sct_device_desc *out, const char *path, sct_error *err) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_file_read(&text, path, err));
  return run_device(&(device_loader){out, path}, &text, err);
}

sct_status sct_script_load_device(sct_device_desc *out, const char *name, sct_error *err) {
  memset(out, 0, sizeof(*out));
  if (!sct_is_identifier(name) || strlen(name) > 14) {
    return unknown_device(name, err);
  }
  char asset[64];
  snprintf(asset, sizeof(asset), DIRECTORY "%s.lua", name);
  SCT_SCOPED(sct_str) text = {0};
  const bool known = sct_asset_read(&text, asset, NULL) == SCT_OK;
  if (!known) {
    return unknown_device(name, err);
  }
  SCT_TRY(run_device(&(device_loader){out, asset}, &text, err));
  snprintf(out->id, sizeof(out->id), "virtual:%s", name);
  return SCT_OK;
}

sct_status sct_script_load_devices(sct_device_desc **out, int *n, sct_arena *arena,
                                   sct_error *err) {
  const char **names = NULL;
  int n_names = 0;
  sct_script_device_names(&names, &n_names, arena);
  *out = SCT_ARENA_NEW(arena, sct_device_desc, n_names + 1);
  *n = 0;
  for (int k = 0; k < n_names; k++) {
    const sct_status status = sct_script_load_device(&(*out)[*n], names[k], err);
    if (status != SCT_OK && err) {
      return status;
    }
    *n += status == SCT_OK ? 1 : 0;
  }
  return SCT_OK;
}
