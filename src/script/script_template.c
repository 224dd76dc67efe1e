/* Templates: CUDA text with `//%` lines of Lua and `$(expr)`, translated line by line to a Lua
 * chunk, so that a Lua error's line number is the template's. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "script/script_private.h"
#include "script/script_strategy_internal.h"

/* Appends text[0..n) as a Lua string literal. */
static void append_literal(sct_str *out, const char *text, size_t n) {
  size_t from = 0; /* of what stands as it is */
  sct_str_append(out, "\"");
  for (size_t k = 0; k < n; k++) {
    const unsigned char c = (unsigned char)text[k];
    const bool quoted = c == '"' || c == '\\';
    if (quoted || c < 32 || c == 127) {
      sct_str_append_n(out, text + from, k - from);
      sct_str_printf(out, quoted ? "\\%c" : "\\%03d", c);
      from = k + 1;
    }
  }
  sct_str_append_n(out, text + from, n - from);
  sct_str_append(out, "\"");
}

static sct_status translate_text(sct_str *out, const char *name, int line, const char *text,
                                 size_t n, sct_error *err) {
  sct_str_printf(out, "_o(%d", line);
  size_t from = 0;
  for (size_t k = 0; k + 1 < n; k++) {
    if (text[k] != '$' || text[k + 1] != '(') {
      continue;
    }
    const size_t inner = k + 2, length = sct_hole_length(text + inner, n - inner);
    if (length == n - inner) {
      return sct_fail(err, SCT_ESPEC, "%s:%d: error: '$(' without its ')' on the same line\n  %.*s",
                      name, line, (int)n, text);
    }
    if (k > from) {
      sct_str_append(out, ", ");
      append_literal(out, text + from, k - from);
    }
    sct_str_append(out, ", {");
    sct_str_append_n(out, text + inner, length);
    sct_str_append(out, "}");
    k = inner + length;
    from = k + 1;
  }
  if (from < n) {
    sct_str_append(out, ", ");
    append_literal(out, text + from, n - from);
  }
  sct_str_append(out, ")\n");
  return SCT_OK;
}

sct_status sct_template_translate(sct_str *out, const char *name, const char *text,
                                  sct_error *err) {
  sct_str_clear(out);
  int line = 1;
  for (const char *p = text; *p; line++) {
    const char *end = strchr(p, '\n');
    const size_t whole = end ? (size_t)(end - p) : strlen(p);
    const size_t n = whole > 0 && p[whole - 1] == '\r' ? whole - 1 : whole; /* CRLF */
    const size_t blank = strspn(p, " \t");
    if (blank + 3 <= n && strncmp(p + blank, "//%", 3) == 0) {
      sct_str_append_n(out, p + blank + 3, n - blank - 3);
      sct_str_append(out, "\n");
    } else {
      SCT_TRY(translate_text(out, name, line, p, n, err));
    }
    p += whole + (end != NULL);
  }
  return SCT_OK;
}

/* ---- files -------------------------------------------------------------------------------------
 */

void sct_template_find(lua_State *L, sct_template *t, int strategy, const char *name) {
  if (strategy >= t->script->n_built_in) {
    const char *const path = lua_pushfstring(L, "%s/%s", t->script->directory, name);
    t->is_own = access(path, F_OK) == 0;
  }
  if (!t->is_own) {
    lua_pushfstring(L, "templates/%s", name);
  }
  t->name = lua_tostring(L, -1);
}

static sct_status read_template(sct_template *t, sct_error *err) {
  if (!t->is_own) {
    return sct_asset_read(&t->text, t->name, err);
  }
  bool found = false;
  sct_error why;
  const sct_status status =
      sct_script_read_below(&t->text, t->script->directory, "the strategy directory",
                            sct_path_basename(t->name), &found, &why);
  if (status != SCT_OK) {
    return sct_fail(err, status, "%s:1: error: %s", t->name, why.text);
  }
  return found ? SCT_OK : sct_fail(err, SCT_EIO, "cannot read '%s'", t->name);
}

/* Pushes the table that keeps what is made once of each template. */
static void push_kept(lua_State *L, const sct_template *t) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, t->script) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, t->script);
  }
}

/* Pushes what `make` makes of the template's text, which is kept as `what`. */
static void push_made(lua_State *L, sct_template *t, const char *what,
                      void (*make)(lua_State *L, const sct_script *script, const char *text)) {
  push_kept(L, t);
  const char *key = lua_pushfstring(L, "%s of %s", what, t->name);
  if (lua_getfield(L, -2, key) != LUA_TTABLE) {
    sct_error err;
    lua_pop(L, 1);
    if (read_template(t, &err) != SCT_OK) {
      luaL_error(L, "%s", err.text);
    }
    make(L, t->script, sct_str_c(&t->text));
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, key);
  }
  lua_replace(L, -3);
  lua_pop(L, 1);
}

void sct_template_push_words(lua_State *L, sct_template *t) {
  push_made(L, t, "words", sct_library_push_words);
}

/* Pushes a set of all names in a text, those in holes and lines of Lua too. */
static void make_names(lua_State *L, const sct_script *script, const char *text) {
  (void)script;
  lua_newtable(L);
  while (*text) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') {
      n++;
    }
    if (n > 0) {
      lua_pushlstring(L, text, n);
      lua_pushboolean(L, true);
      lua_rawset(L, -3);
    }
    text += n > 0 ? n : 1;
  }
}

void sct_template_push_names(lua_State *L, sct_template *t) {
  push_made(L, t, "names", make_names);
}

/* Pushes the template's function, translated and compiled. */
static void load_template(lua_State *L, sct_template *t) {
  sct_error err;
  sct_status status = read_template(t, &err);
  if (status == SCT_OK && strlen(sct_str_c(&t->text)) != t->text.len) {
    status = sct_fail(&err, SCT_ESPEC, "%s:1: error: the file holds a zero byte", t->name);
  }
  SCT_THEN(sct_template_translate(&t->chunk, t->name, sct_str_c(&t->text), &err));
  if (status == SCT_OK) {
    status =
        sct_sandbox_load(&t->script->sandbox, t->name, sct_str_c(&t->chunk), t->chunk.len, 0, &err);
  }
  if (status != SCT_OK) {
    luaL_error(L, "%s", err.text);
  }
}

void sct_template_push(lua_State *L, sct_template *t, int env) {
  push_kept(L, t);
  if (lua_getfield(L, -1, t->name) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    load_template(L, t);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, t->name);
  }
  lua_remove(L, -2);
  lua_pushvalue(L, env);
  (void)lua_setupvalue(L, -2, 1); /* of a whole chunk the first upvalue is _ENV */
}

void sct_template_free(sct_template *t) {
  sct_str_free(&t->text);
  sct_str_free(&t->chunk);
}
