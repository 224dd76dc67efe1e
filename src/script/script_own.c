/* Kernels of the user's own, from the tables that tuning/sectile/own.lua has checked, with the CUDA
 * files that they name. A file that one includes by #include "..." comes in its place, so that the
 * text needs nothing from disk; #include <...> stays. */
#include <string.h>

#include "script/script_spec_internal.h"

enum { MAX_INCLUDES = 16, MAX_TEXT_BYTES = 4 << 20, MAX_FILES = 64 };

/* ---- files ---- */

/* A text under construction, and which line of which file each of its lines is. */
typedef struct file_reader {
  const sct_sandbox *sb;
  sct_arena *arena;
  sct_str text, lines;
  const char *once[MAX_FILES]; /* files that say #pragma once */
  int n_once;
  sct_error *err;
} file_reader;

/* The file as users name it: below the spec's directory. */
static const char *path_of(const file_reader *r, const char *name) {
  return strcmp(r->sb->root, ".") == 0 ? sct_arena_strdup(r->arena, name)
                                       : sct_arena_printf(r->arena, "%s/%s", r->sb->root, name);
}

/* SCT_EIO without a message: there is no such file. */
static sct_status read_file(const file_reader *r, sct_str *out, const char *name, sct_error *err) {
  bool found = false;
  SCT_TRY(sct_script_read_below(out, r->sb->root, "the spec's directory", name, &found, err));
  if (!found) { /* of a worked spec, wherever the program runs */
    const char *asset = path_of(r, name);
    asset += sct_has_prefix(asset, "./") ? 2 : 0;
    found = sct_has_prefix(asset, "tuning/kernels/") && sct_asset_read(out, asset, NULL) == SCT_OK;
  }
  return found ? SCT_OK : SCT_EIO;
}

/* What follows `#word` and blanks in a line of a file; NULL: the line is another one. */
static const char *directive(const char *line, const char *word) {
  const char *at = line + strspn(line, " \t");
  if (*at != '#') {
    return NULL;
  }
  at += 1 + strspn(at + 1, " \t");
  return sct_has_prefix(at, word) ? at + strlen(word) + strspn(at + strlen(word), " \t") : NULL;
}

/* Does a comment of several lines that is open before a line, n characters, end in it, or begin? */
static bool stays_in_comment(const char *line, size_t n, bool inside) {
  for (size_t k = 0; k < n; k++) {
    if (inside && line[k] == '*' && line[k + 1] == '/') {
      inside = false;
      k++;
    } else if (!inside && line[k] == '/' && line[k + 1] == '/') {
      return false;
    } else if (!inside && line[k] == '/' && line[k + 1] == '*') {
      inside = true;
      k++;
    } else if (!inside && line[k] == '"') {
      do {
        k += 1 + (line[k + 1] == '\\');
      } while (k < n && line[k] != '"');
    }
  }
  return inside;
}

static sct_status add_file(file_reader *r, const char *name, const char *from, int line, int depth);

/* Adds the file that a line includes, below the directory of `name`. */
static sct_status add_included(file_reader *r, const char *name, const char *quoted, int line,
                               int depth) {
  const size_t n = strcspn(quoted + 1, "\"\n");
  const size_t directory = strlen(name) - strlen(sct_path_basename(name));
  const char *target =
      sct_arena_printf(r->arena, "%.*s%.*s", (int)directory, name, (int)n, quoted + 1);
  for (int k = 0; k < r->n_once; k++) {
    if (strcmp(r->once[k], target) == 0) {
      return SCT_OK;
    }
  }
  return add_file(r, target, path_of(r, name), line, depth + 1);
}

static void add_line(file_reader *r, const char *path, int line, const char *text, size_t n) {
  sct_str_append_n(&r->text, text, n - (n > 0 && text[n - 1] == '\r'));
  sct_str_append(&r->text, "\n");
  sct_str_printf(&r->lines, "1 %d %s\n", line, path);
}

static sct_status add_lines(file_reader *r, const char *name, const char *text, int depth) {
  const char *path = path_of(r, name);
  bool in_comment = false;
  int line = 1;
  for (const char *at = text; *at != '\0'; line++) {
    const size_t n = strcspn(at, "\n");
    const char *quoted = in_comment ? NULL : directive(at, "include");
    const char *pragma = in_comment ? NULL : directive(at, "pragma");
    if (quoted != NULL && *quoted == '"') {
      SCT_TRY(add_included(r, name, quoted, line, depth));
    } else if (pragma != NULL && sct_has_prefix(pragma, "once")) {
      r->once[r->n_once] = sct_arena_strdup(r->arena, name);
      r->n_once += r->n_once < MAX_FILES - 1;
    } else {
      add_line(r, path, line, at, n);
    }
    in_comment = stays_in_comment(at, n, in_comment);
    at += n + (at[n] == '\n');
  }
  return SCT_OK;
}

/* `from`, `line`: where it is asked for. */
static sct_status add_file(file_reader *r, const char *name, const char *from, int line,
                           int depth) {
  SCT_SCOPED(sct_str) text = {0};
  sct_error why = {0};
  sct_error *const err = r->err;
  sct_status status = read_file(r, &text, name, &why);
  if (status != SCT_OK) {
    status = why.text[0] != '\0' ? sct_spec_fail(err, from, line, "%s", why.text)
                                 : sct_spec_fail(err, from, line,
                                                 "there is no CUDA file '%s' below the spec's "
                                                 "directory",
                                                 name);
  } else if (strlen(sct_str_c(&text)) != text.len) {
    status = sct_spec_fail(err, from, line, "'%s' holds a zero byte; it is no CUDA text", name);
  } else if (depth > MAX_INCLUDES || r->text.len + text.len > MAX_TEXT_BYTES) {
    status = sct_spec_fail(err, from, line, "'%s' is included too deeply, or by itself", name);
  } else {
    status = add_lines(r, name, sct_str_c(&text), depth);
  }
  return status;
}

static sct_status read_cuda(sct_own *own, sct_script_loader *ld) {
  file_reader r = {.sb = &ld->sb, .arena = &ld->spec->arena, .err = ld->err};
  const int line = sct_spec_text_line(ld->spec, ld->spec->file, own->line, own->cuda);
  const sct_status status = add_file(&r, own->cuda, ld->spec->file, line, 0);
  own->text = sct_arena_strdup(r.arena, sct_str_c(&r.text));
  own->lines = sct_arena_strdup(r.arena, sct_str_c(&r.lines));
  sct_str_free(&r.text);
  sct_str_free(&r.lines);
  return status;
}

/* ---- tables ---- */

static void read_values(lua_State *L, sct_spec *spec, int table, sct_own_axis *axis) {
  axis->name = sct_script_field_string(L, spec, table, "name");
  axis->n_values = sct_script_list_length(L, table, "values");
  axis->values = SCT_ARENA_NEW(&spec->arena, sct_axis_value, axis->n_values);
  for (int k = 0; k < axis->n_values; k++) {
    sct_axis_value *value = &axis->values[k];
    sct_script_push_item(L, table, "values", k);
    value->is_string = lua_type(L, -1) == LUA_TSTRING;
    value->is_bool = lua_isboolean(L, -1);
    value->number = value->is_bool ? lua_toboolean(L, -1) : lua_tointeger(L, -1);
    value->text = value->is_bool ? (value->number ? "1" : "0") : NULL;
    if (value->text) {
      lua_pop(L, 1);
    } else {
      luaL_tolstring(L, -1, NULL);
      lua_remove(L, -2);
      value->text = sct_script_take_string(L, spec);
    }
  }
}

/* [n] texts of the list at table[key], of at most `most`. */
static int read_texts(lua_State *L, sct_spec *spec, int table, const char *key, int most,
                      const char **out) {
  const int n = sct_script_list_length(L, table, key);
  for (int k = 0; k < n && k < most; k++) {
    sct_script_push_item(L, table, key, k);
    out[k] = sct_script_take_string(L, spec);
  }
  return n;
}

static void read_params(lua_State *L, sct_spec *spec, int table, sct_own *own) {
  own->n_params = sct_script_list_length(L, table, "args");
  own->param_text = SCT_ARENA_NEW(&spec->arena, const char *, own->n_params);
  own->params = SCT_ARENA_NEW(&spec->arena, sct_param, own->n_params);
  for (int k = 0; k < own->n_params; k++) {
    sct_script_push_item(L, table, "args", k);
    const int item = lua_gettop(L);
    own->param_text[k] = sct_script_field_string(L, spec, item, "text");
    const char *type = sct_script_field_string(L, spec, item, "type");
    sct_type_find(&own->params[k].type, type); /* own.lua has seen to it that the name is known */
    lua_pop(L, 1);
  }
}

/* By the arrays' numbers; raises for one that there is not. */
static void read_align(lua_State *L, sct_spec *spec, int table, sct_own *own) {
  const sct_names arrays = SCT_NAMES_IN(spec->operands, spec->n_operands, name);
  const int n = sct_script_list_length(L, table, "align");
  own->align_text = SCT_ARENA_NEW(&spec->arena, const char *, spec->n_operands);
  for (int k = 0; k < n; k++) {
    sct_script_push_item(L, table, "align", k);
    const char *array = sct_script_field_string(L, spec, lua_gettop(L), "array");
    const char *bytes = sct_script_field_string(L, spec, lua_gettop(L), "bytes");
    const int op = sct_names_find(arrays, array);
    if (op < 0) {
      sct_str *text = &sct_sandbox_of(L)->scratch;
      sct_str_clear(text);
      sct_str_suggest(text, array, arrays);
      sct_script_raise_at(L, spec->file, sct_spec_key_line(spec, spec->file, own->line, array),
                          "align: there is no array '%s'%s", array, sct_str_c(text));
    }
    own->align_text[op] = bytes;
    lua_pop(L, 1);
  }
}

static void read_one(lua_State *L, sct_spec *spec, int table, sct_own *own) {
  own->name = sct_script_field_string(L, spec, table, "name");
  own->cuda = sct_script_field_string(L, spec, table, "cuda");
  own->kernel = sct_script_field_string(L, spec, table, "kernel");
  own->shared_text = sct_script_field_string(L, spec, table, "shared");
  own->n_axes = sct_script_list_length(L, table, "axes");
  own->axes = SCT_ARENA_NEW(&spec->arena, sct_own_axis, own->n_axes);
  for (int k = 0; k < own->n_axes; k++) {
    sct_script_push_item(L, table, "axes", k);
    read_values(L, spec, lua_gettop(L), &own->axes[k]);
    lua_pop(L, 1);
  }
  own->n_where = sct_script_list_length(L, table, "where");
  own->where_text = SCT_ARENA_NEW(&spec->arena, const char *, own->n_where);
  (void)read_texts(L, spec, table, "where", own->n_where, own->where_text);
  (void)read_texts(L, spec, table, "block", 3, own->block_text);
  (void)read_texts(L, spec, table, "grid", 3, own->grid_text);
  read_params(L, spec, table, own);
  read_align(L, spec, table, own);
}

sct_status sct_script_read_own(lua_State *L, sct_script_loader *ld, int kernel) {
  sct_spec *spec = ld->spec;
  const sct_script_chunk *chunk = sct_script_find_chunk(&ld->sb, spec->file);
  spec->n_own = sct_script_list_length(L, kernel, "also");
  spec->own = SCT_ARENA_NEW(&spec->arena, sct_own, spec->n_own);
  for (int k = 0; k < spec->n_own; k++) {
    sct_own *own = &spec->own[k];
    sct_script_push_item(L, kernel, "also", k);
    const int table = lua_gettop(L);
    const bool is_item = sct_script_field_flag(L, table, "is_item");
    own->line = !chunk    ? spec->line
                : is_item ? sct_spec_find_item(chunk->text, spec->line, "also", k)
                          : sct_spec_find_line(chunk->text, spec->line, "also", true);
    read_one(L, spec, table, own);
    lua_pop(L, 1);
    SCT_TRY(read_cuda(own, ld));
  }
  return SCT_OK;
}
