/* Errors that point into a script: "file:line: error: text" and the source line; of a body also the
 * column, "file:line:column: error: text", and a caret. */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "spec/spec_internal.h"

enum { MAX_SHOWN = 200 }; /* characters of a line */

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
    sct_str_append_n(out, start, n > MAX_SHOWN ? MAX_SHOWN : n);
  }
}

static const char *find_source(const sct_spec *spec, const char *file) {
  const int k =
      spec ? sct_names_find(SCT_NAMES_IN(spec->sources, spec->n_sources, file), file) : -1;
  return k >= 0 ? spec->sources[k].text : NULL;
}

/* Where `at`, a place in a body, stands in a line of the script; NULL: not there, or not for sure.
 */
static const char *find_place(const char *line, const char *body, const char *at) {
  const char *first = at;
  while (first > body && first[-1] != '\n') {
    first--;
  }
  first += strspn(first, " \t");
  const size_t n = strcspn(first, "\r\n"), len = strcspn(line, "\n");
  const char *found = at >= first ? memmem(line, len, first, n) : NULL;
  const bool again = found && memmem(found + 1, len - (size_t)(found + 1 - line), first, n);
  return found && !again ? found + (at - first) : NULL;
}

/* A caret below what sct_spec_append_line() has of the line, as far as that goes. */
static void append_caret(sct_str *out, const char *line, const char *at) {
  line += strspn(line, " \t");
  sct_str_append(out, at - line < MAX_SHOWN ? "\n    " : "");
  for (; at - line < MAX_SHOWN && line <= at; line++) {
    sct_str_append(out, line == at ? "^" : *line == '\t' ? "\t" : " ");
  }
}

/* at: a place in the body, or NULL. */
static sct_status fail(const sct_spec *spec, sct_error *err, const char *file, int line,
                       const char *at, const sct_str *text) {
  SCT_SCOPED(sct_str) out = {0}, read = {0};
  const char *source = find_source(spec, file);
  if (!source &&
      (sct_file_read(&read, file, NULL) == SCT_OK || sct_asset_read(&read, file, NULL) == SCT_OK)) {
    source = sct_str_c(&read);
  }
  const char *start = line_start(source, line);
  const char *found = start && at ? find_place(start, spec->body, at) : NULL;
  sct_str_printf(&out, "%s:%d:", file, line);
  if (found) {
    sct_str_printf(&out, "%d:", (int)(found - start) + 1);
  }
  sct_str_printf(&out, " error: %s", sct_str_c(text));
  sct_spec_append_line(&out, source, line);
  if (found) {
    append_caret(&out, start, found);
  }
  return sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&out));
}

sct_status sct_spec_fail_at(const sct_spec *spec, sct_error *err, const char *file, int line,
                            const char *fmt, ...) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  return err ? fail(spec, err, file, line, NULL, &text) : SCT_ESPEC;
}

int sct_spec_body_line(const sct_spec *spec, const char *at) {
  int line = 0, first = spec->body_line;
  for (const char *p = spec->body; at && p < at; p++) {
    line += *p == '\n';
  }
  for (int k = 0; k < spec->n_maps; k++) { /* the last step that begins there or before */
    const sct_step *step = &spec->steps[k];
    first = k == 0 || step->first_line <= line ? step->body_line - step->first_line : first;
  }
  return spec->body_in_file ? first + line : line + 1;
}

sct_status sct_spec_fail_body(const sct_spec *spec, sct_error *err, const char *at, const char *fmt,
                              ...) {
  SCT_SCOPED(sct_str) text = {0};
  SCT_STR_FORMAT(&text, fmt);
  const int line = sct_spec_body_line(spec, at);
  if (!err || spec->body_in_file) {
    return err ? fail(spec, err, spec->file, line, at, &text) : SCT_ESPEC;
  }
  return sct_spec_fail_at(spec, err, spec->file, spec->body_line, "body, line %d: %s", line,
                          sct_str_c(&text));
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
