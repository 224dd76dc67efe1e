/* Errors: from what Lua raised to "file:line: error: text", the source line under it. */
#include <stdlib.h>
#include <string.h>

#include "script/script_internal.h"
#include "script/script_private.h"

const char *const sct_script_spent_text =
    "the script ran too long (its instruction budget is spent)";

/* Line 0 is one that is not known. Splits "place:12: rest" at the first colon-number-colon. false:
 * no place in front. */
static bool split_place(const char *message, size_t *place_len, int *line, const char **rest) {
  for (const char *colon = strchr(message, ':'); colon; colon = strchr(colon + 1, ':')) {
    char *end = NULL;
    const long number = strtol(colon + 1, &end, 10);
    if (end > colon + 1 && *end == ':' && number >= 0 && number < INT32_MAX) {
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

static bool is_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* The first line where the name is a key ("name ="), is quoted, or just stands, in this order. */
static int line_of_name(const char *text, const char *name, size_t n) {
  int found[3] = {0}, line = 1;
  for (const char *p = text; *p; line += *p == '\n', p++) {
    if (strncmp(p, name, n) != 0 || is_name(p[n]) || (p > text && is_name(p[-1]))) {
      continue;
    }
    const char *after = p + n + strspn(p + n, " ");
    const bool opens = p > text && (p[-1] == '"' || p[-1] == '\'');
    const bool quoted = opens && p[n] == p[-1];
    const int way = !opens && *after == '=' && after[1] != '=' ? 0 : quoted ? 1 : 2;
    found[way] = found[way] == 0 ? line : found[way];
  }
  return found[0] > 0 ? found[0] : found[1] > 0 ? found[1] : found[2];
}

/* The line of a file that a message is about whose line nobody knows: that of the first name that
 * it quotes and that stands there. */
static int line_of_message(const sct_script_chunk *chunk, const char *message) {
  int line = 0;
  for (const char *p = chunk ? message : ""; line == 0 && (p = strchr(p, '\'')) != NULL;) {
    size_t n = 0;
    while (is_name(p[1 + n])) {
      n++;
    }
    line = n > 0 && p[1 + n] == '\'' ? line_of_name(chunk->text, p + 1, n) : 0;
    p += 1 + n;
  }
  return line > 0 ? line : 1;
}

/* "place:12: text" as "file:12: error: text" and the source line; line 0: not known. */
static void describe_at(sct_str *out, const sct_sandbox *sb, const char *place, size_t place_len,
                        int line, const char *text) {
  const sct_script_chunk *chunk = find_short(sb, place, place_len);
  char from[LUA_IDSIZE + 32] = "";
  if (chunk && sb->place_file &&
      (chunk->built_in || sct_has_prefix(chunk->name, SCT_OUR_DIRECTORY))) {
    /* our own Lua: the user's call is what can be changed */
    if (chunk->built_in) {
      snprintf(from, sizeof from, " (%s:%d)", chunk->short_name, line);
    }
    chunk = sct_script_find_chunk(sb, sb->place_file);
    line = sb->place_line;
  }
  line = line > 0 ? line : line_of_message(chunk, text);
  if (chunk) {
    sct_str_append(out, chunk->name);
  } else {
    sct_str_append_n(out, place, place_len);
  }
  const bool has_kind = sct_has_prefix(text, "error: ");
  sct_str_printf(out, ":%d: %s%s%s", line, has_kind ? "" : "error: ", text, from);
  if (chunk && !strchr(text, '\n')) {
    sct_spec_append_line(out, chunk->text, line);
  }
}

/* A message that names no place belongs to the line that ran when it was raised. */
static void describe_raised(sct_str *out, const sct_sandbox *sb, const char *text) {
  if (sb->raised_line > 0) {
    describe_at(out, sb, sb->raised_in, strlen(sb->raised_in), sb->raised_line, text);
  } else if (sb->blame) { /* a wrong value, found after the script had ended */
    describe_at(out, sb, sb->blame, strlen(sb->blame), 0, text);
  } else {
    sct_str_printf(out, "error: %s", text);
  }
}

static void describe(sct_str *out, const sct_sandbox *sb, const char *message) {
  size_t place_len = 0;
  int line = 0;
  const char *rest = NULL;
  const bool placed = split_place(message, &place_len, &line, &rest);
  /* a place that is no chunk's was made up by the script, unless C says it of a file not loaded */
  if (placed && (find_short(sb, message, place_len) || sb->raised_line == 0)) {
    describe_at(out, sb, message, place_len, line, rest);
  } else {
    describe_raised(out, sb, message);
  }
}

const char *sct_script_text(lua_State *L, int index, sct_str *out) {
  size_t n = 0;
  const char *text =
      lua_tolstring(L, index, &n); /* a string already: converts and raises nothing */
  if (strlen(text) == n) {
    return text;
  }
  sct_str_clear(out);
  for (const char *end = text + n; text <= end; text += strlen(text) + 1) {
    sct_str_append(out, text);
    sct_str_append(out, text + strlen(text) < end ? "\\x00" : "");
  }
  return sct_str_c(out);
}

char *sct_script_copy_text(sct_arena *arena, const char *text) {
  return text ? sct_arena_strdup(arena, text) : NULL;
}

char *sct_script_copy_printable(lua_State *L, sct_arena *arena, const char *text) {
  if (text && !sct_is_printable(text)) {
    luaL_error(L, "a text of the strategy holds a control character");
  }
  return sct_script_copy_text(arena, text);
}

sct_status sct_script_error(lua_State *L, int lua_status, sct_error *err) {
  sct_sandbox *sb = sct_sandbox_of(L);
  SCT_SCOPED(sct_str) text = {0}, whole = {0};
  if (lua_status == LUA_ERRMEM) {
    describe_raised(&text, sb, sb->refused ? sb->refused : "the script needs too much memory");
  } else if (lua_type(L, -1) == LUA_TSTRING) {
    describe(&text, sb, sct_script_text(L, -1, &whole));
  } else {
    char what[64];
    snprintf(what, sizeof(what), "the script raised a %s value", luaL_typename(L, -1));
    describe_raised(&text, sb, what);
  }
  lua_pop(L, 1);
  sb->raised_line = 0;
  sb->refused = NULL;
  SCT_SCOPED(sct_str) shown = {0};
  sct_str_append_printable(&shown, sct_str_c(&text)); /* scripts choose what messages hold */
  (void)sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&shown));
  return SCT_ESPEC;
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
