/* The device library: templates/device/ holds CUDA definitions with blank lines between them. A
 * kernel carries those that its text mentions, and those that they mention. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "script/script_private.h"
#include "script/script_strategy_internal.h"

#define DIRECTORY "templates/device/"

/* ---- words of a CUDA text ----------------------------------------------------------------------
 */

static bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool in_word(char c) {
  return starts_word(c) || (c >= '0' && c <= '9');
}

/* Past the comment, the string or the `$(expression)` that starts at p; p itself if none does. */
static const char *skip_other(const char *p) {
  if (p[0] == '/' && p[1] == '/') {
    return p + strcspn(p, "\n");
  }
  if (p[0] == '/' && p[1] == '*') {
    const char *end = strstr(p + 2, "*/");
    return end ? end + 2 : p + strlen(p);
  }
  if (p[0] == '"') {
    for (p++; *p && *p != '"'; p++) {
      p += p[0] == '\\' && p[1];
    }
    return p + (*p == '"');
  }
  if (p[0] == '$' && p[1] == '(') {
    p += 2 + sct_hole_length(p + 2, strlen(p + 2));
    return p + (*p == ')');
  }
  return p;
}

/* The next name at or after *p that is no member of something; *p moves after it. False: none. */
static bool next_word(const char **p, const char **word, size_t *n) {
  const char *at = *p;
  while (*at) {
    const char *after = skip_other(at);
    if (after != at) {
      at = after;
    } else if (in_word(*at) || *at == '.') {
      const bool name = starts_word(*at);
      const char *from = at++;
      while (in_word(*at)) {
        at++;
      }
      if (name) {
        *word = from;
        *n = (size_t)(at - from);
        *p = at;
        return true;
      }
    } else {
      at++;
    }
  }
  *p = at;
  return false;
}

/* ---- reading the library -----------------------------------------------------------------------
 */
/* Past the brackets that open at p. */
static const char *skip_brackets(const char *p, char open, char close) {
  int depth = 0;
  do {
    depth += *p == open ? 1 : *p == close ? -1 : 0;
    p += *p != '\0';
  } while (*p && depth > 0);
  return p;
}

/* The name that a definition gives: the first one before a `(`, `{`, `=` or `;`. */
static void name_part(sct_script *script, struct sct_library_part *part) {
  const char *p = part->text, *word = "";
  size_t n = 0;
  bool is_template = false;
  while (next_word(&p, &word, &n)) {
    is_template = is_template || strncmp(word, "template ", 9) == 0;
    const bool attribute = strncmp(word, "__", 2) == 0 || strncmp(word, "alignas(", 8) == 0;
    p = *(p + strspn(p, " ")) == '<' ? skip_brackets(p + strspn(p, " "), '<', '>') : p;
    const char *next = p + strspn(p, " ");
    if (attribute && *next == '(') {
      p = skip_brackets(next, '(', ')');
    } else if (*next && strchr("({=;", *next)) {
      part->name = sct_arena_strndup(&script->arena, word, n);
      part->is_called = *next == '(' || is_template;
      return;
    }
  }
  part->name = ""; /* a comment on its own */
}

/* Adds the definitions of one file. */
static sct_status add_parts(sct_script *script, const char *file, const char *text,
                            sct_error *err) {
  for (int line = 1; *text;) {
    if (*text == '\n') {
      line++;
      text++;
      continue;
    }
    if (script->n_parts == SCT_MAX_LIBRARY) {
      return sct_fail(err, SCT_ESPEC, "%s:%d: error: more than %d definitions in %s", file, line,
                      SCT_MAX_LIBRARY, DIRECTORY);
    }
    const char *end = strstr(text, "\n\n");
    struct sct_library_part *part = &script->parts[script->n_parts];
    *part = (struct sct_library_part){.file = file, .line = line};
    part->text =
        sct_arena_strndup(&script->arena, text, end ? (size_t)(end + 1 - text) : strlen(text));
    name_part(script, part);
    script->n_parts += part->name[0] != '\0';
    for (const char *c = part->text; *c; c++, text++) {
      line += *c == '\n';
    }
  }
  return SCT_OK;
}

sct_status sct_library_read(sct_script *script, sct_error *err) {
  int n = 0;
  const char **files = sct_asset_names(&n, &script->arena, DIRECTORY, ".cuh");
  script->parts = SCT_ARENA_NEW(&script->arena, struct sct_library_part, SCT_MAX_LIBRARY);
  for (int k = 0; k < n; k++) {
    SCT_SCOPED(sct_str) text = {0};
    SCT_TRY(sct_asset_read(&text, files[k], err));
    SCT_TRY(add_parts(script, files[k], sct_str_c(&text), err));
  }
  return SCT_OK;
}

/* ---- what a kernel carries ---------------------------------------------------------------------
 */

struct mentions {
  const sct_script *script;
  bool *carried; /* [n_parts] */
  /* numbers from 1, 0: none. The last definition with this first letter; the one before each */
  int last[UCHAR_MAX + 1], before[SCT_MAX_LIBRARY];
};

static bool is_mention(const struct sct_library_part *part, const char *word, size_t n) {
  return strncmp(part->name, word, n) == 0 && part->name[n] == '\0' &&
         (!part->is_called || word[n] == '(' || word[n] == '<');
}

static void note_mentions(struct mentions *m, const char *text) {
  const char *word = "";
  size_t n = 0;
  while (next_word(&text, &word, &n)) {
    for (int k = m->last[(unsigned char)word[0]]; k > 0; k = m->before[k - 1]) {
      const struct sct_library_part *part = &m->script->parts[k - 1];
      if (!m->carried[k - 1] && is_mention(part, word, n)) {
        m->carried[k - 1] = true;
        note_mentions(m, part->text);
      }
    }
  }
}

void sct_library_needed(const sct_script *script, const char *text, bool carried[SCT_MAX_LIBRARY]) {
  struct mentions m = {.script = script, .carried = carried};
  memset(carried, 0, SCT_MAX_LIBRARY * sizeof(*carried));
  for (int k = 0; k < script->n_parts; k++) {
    int *const last = &m.last[(unsigned char)script->parts[k].name[0]];
    m.before[k] = *last;
    *last = k + 1;
  }
  note_mentions(&m, text);
}

/* ---- names that a template takes ---------------------------------------------------------------
 */

static void add_word(lua_State *L, const char *word, size_t n) {
  lua_pushlstring(L, word, n);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
}

/* Adds the names in strings of a `$(expression)`: they are the kernel's, but for `{field}`s of
 * kit.each and escapes. */
static void add_words_of_strings(lua_State *L, const char *p, const char *end) {
  for (; p < end; p++) {
    if (*p == '"') {
      const char *const close = skip_other(p) - 1;
      const char *at = p + 1, *word = p;
      size_t n = 0;
      while (next_word(&at, &word, &n) && word < close) {
        if (word[-1] != '{' && word[-1] != '\\') {
          add_word(L, word, n);
        }
      }
      p = close;
    }
  }
}

void sct_library_push_words(lua_State *L, const sct_script *script, const char *template_text) {
  lua_newtable(L);
  for (int k = 0; k < script->n_parts; k++) {
    add_word(L, script->parts[k].name, strlen(script->parts[k].name));
  }
  for (const char *p = strstr(template_text, "$("); p; p = strstr(p + 2, "$(")) {
    add_words_of_strings(L, p + 2, skip_other(p));
  }
  const char *word = "";
  size_t n = 0;
  while (next_word(&template_text, &word, &n)) {
    add_word(L, word, n);
  }
}
