/* Errors that point into a script: "file:line: error: text" and the source line. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "spec/spec_internal.h"

static const char *line_start(const char *text, int line) {
  for (int k = 1; k < line && text; k++) {
    text = strchr(text, '\n');
    text = text ? text + 1 : NULL;
  }
  return text;
}

void sct_spec_append_line(sct_str *out, const char *text, int line) {
  const char *start = line_start(text, line);
  if (!start) {
    return;
  }
  start += strspn(start, " \t");
  const size_t n = strcspn(start, "\r\n");
  if (n > 0) {
    sct_str_append(out, "\n    ");
    sct_str_append_n(out, start, n > 200 ? 200 : n);
  }
}

static const char *find_source(const sct_spec *spec, const char *file) {
  const int k =
      spec ? sct_names_find(SCT_NAMES_IN(spec->sources, spec->n_sources, file), file) : -1;
  return k >= 0 ? spec->sources[k].text : NULL;
}

sct_status sct_spec_fail_at(const sct_spec *spec, sct_error *err, const char *file, int line,
                            const char *fmt, ...) {
  if (!err) {
    return SCT_ESPEC;
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "%s:%d: error: ", file, line);
  SCT_STR_FORMAT(&text, fmt);
  const char *source = find_source(spec, file);
  SCT_SCOPED(sct_str) read = {0};
  if (!source &&
      (sct_file_read(&read, file, NULL) == SCT_OK || sct_asset_read(&read, file, NULL) == SCT_OK)) {
    source = sct_str_c(&read);
  }
  sct_spec_append_line(&text, source, line);
  return sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&text));
}

/* ---- finding the line of a word ---- */

static bool stands_here(const char *text, const char *p, const char *needle, size_t len,
                        bool is_key) {
  if (strncmp(p, needle, len) != 0) {
    return false;
  }
  if (!is_key) {
    return p > text && (p[-1] == '"' || p[-1] == '\'') && p[len] == p[-1];
  }
  if ((p > text && sct_is_word(p[-1])) || sct_is_word(p[len])) {
    return false;
  }
  const char *after = p + len + strspn(p + len, " \t");
  return after[0] == '=' && after[1] != '=';
}

/* A reader of Lua text that knows lines, bracket depth and comments; not strings that hold
 * brackets: it only serves to point at a line. */
typedef struct walker {
  const char *p;
  int line, depth;
  bool opened;
} walker;

static walker walk_from(const char *text, int from_line) {
  return (walker){.p = line_start(text, from_line), .line = from_line};
}

/* Takes one character in; false: the text, or the statement that was begun, is over. */
static bool walk(walker *w) {
  if (w->p[0] == '-' && w->p[1] == '-') {
    w->p += strcspn(w->p, "\n");
  }
  const char c = *w->p;
  if (c == '\0') {
    return false;
  }
  w->p++;
  w->line += c == '\n';
  if (strchr("({[", c)) {
    w->depth++;
    w->opened = true;
  } else if (strchr(")}]", c)) {
    w->depth--;
  }
  return w->depth >= 0 && !(w->opened && w->depth == 0 && c == '\n');
}

int sct_spec_find_line(const char *text, int from_line, const char *needle, bool is_key) {
  const size_t len = strlen(needle);
  const bool anywhere = from_line == 0;
  walker w = walk_from(text, anywhere ? 1 : from_line);
  while (w.p && len > 0) {
    if (stands_here(text, w.p, needle, len, is_key)) {
      return w.line;
    }
    if (!walk(&w) && (!anywhere || *w.p == '\0')) {
      break;
    }
  }
  return anywhere ? 1 : from_line;
}

int sct_spec_find_item(const char *text, int from_line, const char *key, int n) {
  const size_t len = strlen(key);
  walker w = walk_from(text, from_line);
  while (w.p && !stands_here(text, w.p, key, len, true)) {
    if (!walk(&w)) {
      return from_line;
    }
  }
  if (!w.p) {
    return from_line;
  }
  const int outside = w.depth;
  for (int seen = 0; seen <= n;) {
    const char c = *w.p;
    const int line = w.line;
    if (!walk(&w) || (w.depth == outside && strchr("})]", c))) {
      break;
    }
    seen += c == '{' && w.depth == outside + 2;
    if (seen > n) {
      return line;
    }
  }
  return from_line;
}

int sct_spec_text_line(const sct_spec *spec, const char *file, int line, const char *text) {
  const char *source = find_source(spec, file);
  return source ? sct_spec_find_line(source, line, text, false) : line;
}

int sct_spec_own_key_line(const sct_spec *spec, const char *file, int line, const char *text) {
  const char *source = find_source(spec, file);
  const size_t len = strlen(text);
  walker w = walk_from(source ? source : "", line);
  int found = line, depth = INT_MAX;
  bool goes_on = w.p != NULL;
  while (goes_on) {
    if (w.depth < depth && stands_here(source, w.p, text, len, true)) {
      found = w.line;
      depth = w.depth;
    }
    goes_on = walk(&w);
  }
  return found;
}

int sct_spec_key_line(const sct_spec *spec, const char *file, int line, const char *text) {
  const char *source = find_source(spec, file);
  return source ? sct_spec_find_line(source, line, text, true) : line;
}
