/* Errors: from what Lua raised to "file:line: error: text", the source line under it. */
#include <stdlib.h>
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

const char *const sct_script_spent_text =
    "the script ran too long (its instruction budget is spent)";

/* Splits "place:12: rest" at the first colon-number-colon. false: no place in front. */
static bool split_place(const char *message, size_t *place_len, int *line, const char **rest) {
  for (const char *colon = strchr(message, ':'); colon; colon = strchr(colon + 1, ':')) {
    char *end = NULL;
    const long number = strtol(colon + 1, &end, 10);
    if (end > colon + 1 && *end == ':' && number > 0 && number < INT32_MAX) {
      *place_len = (size_t)(colon - message);
      *line = (int)number;
      *rest = end + 1;
      while (**rest == ' ') {
        (*rest)++;
      }
      return true;
    }
    if (strchr(message, '\n') && colon > strchr(message, '\n')) {
      return false;
    }
  }
  return false;
}

static const sct_script_chunk *find_short(const sct_sandbox *sb, const char *place, size_t len) {
  for (size_t k = 0; k < sb->n_chunks; k++) {
    const sct_script_chunk *chunk = &sb->chunks[k];
    const bool is_name = strlen(chunk->name) == len && strncmp(chunk->name, place, len) == 0;
    const bool is_short =
        strlen(chunk->short_name) == len && strncmp(chunk->short_name, place, len) == 0;
    if (is_name || is_short) {
      return chunk;
    }
  }
  return NULL;
}

/* "\n    the source line" without its indentation, or nothing. */
static void append_source_line(sct_str *out, const char *text, int line) {
  for (int k = 1; k < line && text; k++) {
    text = strchr(text, '\n');
    text = text ? text + 1 : NULL;
  }
  if (!text) {
    return;
  }
  text += strspn(text, " \t");
  const size_t n = strcspn(text, "\r\n");
  if (n > 0) {
    sct_str_append(out, "\n    ");
    sct_str_append_n(out, text, n > 200 ? 200 : n);
  }
}

static void describe(sct_str *out, const sct_sandbox *sb, const char *message) {
  size_t place_len = 0;
  int line = 0;
  const char *rest = NULL;
  if (!split_place(message, &place_len, &line, &rest)) {
    sct_str_printf(out, "error: %s", message);
    return;
  }
  const sct_script_chunk *chunk = find_short(sb, message, place_len);
  if (chunk && sb->place_file && sct_has_prefix(chunk->name, "tuning/sectile/")) {
    /* our own Lua: the user's call is what can be changed */
    chunk = sct_script_find_chunk(sb, sb->place_file);
    line = sb->place_line;
  }
  if (chunk) {
    sct_str_append(out, chunk->name);
  } else {
    sct_str_append_n(out, message, place_len);
  }
  const bool has_kind = sct_has_prefix(rest, "error: ");
  sct_str_printf(out, ":%d: %s%s", line, has_kind ? "" : "error: ", rest);
  if (chunk && !strchr(rest, '\n')) {
    append_source_line(out, chunk->text, line);
  }
}

/* A memory error carries no place of its own; the allocator noted one. */
static void describe_refusal(sct_str *out, const sct_sandbox *sb) {
  char message[LUA_IDSIZE + 128];
  const char *what = sb->spent ? sct_script_spent_text : "the script needs too much memory";
  if (sb->refused_line > 0) {
    snprintf(message, sizeof(message), "%s:%d: %s", sb->refused_in, sb->refused_line, what);
  } else {
    snprintf(message, sizeof(message), "%s", what);
  }
  describe(out, sb, message);
}

sct_status sct_script_error(lua_State *L, int lua_status, sct_error *err) {
  sct_sandbox *sb = sct_sandbox_of(L);
  const bool no_memory = sb->no_memory;
  sb->no_memory = false;
  sct_str text = {0};
  if (no_memory) {
    lua_pop(L, 1);
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  if (lua_status == LUA_ERRMEM) {
    describe_refusal(&text, sb);
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    describe(&text, sb, lua_tostring(L, -1)); /* a string already: converts nothing, raises not */
  } else {
    sct_str_printf(&text, "error: the script raised a %s value", luaL_typename(L, -1));
  }
  lua_pop(L, 1);
  const sct_status status = text.failed ? SCT_ENOMEM : SCT_ESPEC;
  sct_fail(err, status, "%s", text.failed ? "out of memory" : sct_str_c(&text));
  sct_str_free(&text);
  return status;
}

int sct_script_raise_at(lua_State *L, const char *file, int line, const char *fmt, ...) {
  sct_str *text = &sct_sandbox_of(L)->scratch;
  char message[2048];
  va_list args;
  va_start(args, fmt);
  vsnprintf(message, sizeof(message), fmt, args); /* an argument may point into the scratch text */
  va_end(args);
  sct_str_clear(text);
  sct_str_printf(text, "%s:%d: %s", file, line, message);
  lua_pushstring(L, sct_str_c(text));
  return lua_error(L);
}

const char *sct_script_where(lua_State *L, int level, int *line) {
  lua_Debug ar;
  *line = 0;
  if (!lua_getstack(L, level, &ar) || !lua_getinfo(L, "Sl", &ar) || ar.currentline <= 0) {
    return NULL;
  }
  *line = ar.currentline;
  const sct_script_chunk *chunk = find_short(sct_sandbox_of(L), ar.short_src, strlen(ar.short_src));
  return chunk ? chunk->name : NULL;
}
