/* Errors that point into a script: "file:line: error: text" and the source line. */
#include <ctype.h>
#include <string.h>

#include "spec/spec_internal.h"

static const char *line_start(const char *text, int line) {
  for (int k = 1; k < line && text; k++) {
    text = strchr(text, '\n');
    text = text ? text + 1 : NULL;
  }
  return text;
}

static void append_line(sct_str *out, const char *text, int line) {
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
  for (int k = 0; spec && k < spec->n_sources; k++) {
    if (strcmp(spec->sources[k].file, file) == 0) {
      return spec->sources[k].text;
    }
  }
  return NULL;
}

sct_status sct_spec_fail_at(const sct_spec *spec, sct_error *err, const char *file, int line,
                            const char *fmt, ...) {
  if (!err) {
    return SCT_ESPEC;
  }
  sct_str text = {0};
  sct_str_printf(&text, "%s:%d: error: ", file, line);
  va_list args;
  va_start(args, fmt);
  sct_str_vprintf(&text, fmt, args);
  va_end(args);
  const char *source = find_source(spec, file);
  sct_str read = {0};
  if (!source &&
      (sct_file_read(&read, file, NULL) == SCT_OK || sct_asset_read(&read, file, NULL) == SCT_OK)) {
    source = sct_str_c(&read);
  }
  append_line(&text, source, line);
  const sct_status status = sct_str_status(&text, err);
  if (status == SCT_OK) {
    sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&text));
  }
  sct_str_free(&read);
  sct_str_free(&text);
  return status == SCT_OK ? SCT_ESPEC : status;
}

/* ---- finding the line of a word ---- */

static bool is_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static bool stands_here(const char *text, const char *p, const char *needle, size_t len,
                        bool is_key) {
  if (strncmp(p, needle, len) != 0) {
    return false;
  }
  if (!is_key) {
    return p > text && (p[-1] == '"' || p[-1] == '\'') && p[len] == p[-1];
  }
  if ((p > text && is_word_char(p[-1])) || is_word_char(p[len])) {
    return false;
  }
  const char *after = p + len + strspn(p + len, " \t");
  return after[0] == '=' && after[1] != '=';
}

int sct_spec_find_line(const char *text, int from_line, const char *needle, bool is_key) {
  const size_t len = strlen(needle);
  const char *p = line_start(text, from_line);
  int depth = 0;
  bool opened = false;
  for (int line = from_line; p && *p && len > 0; p++) {
    if (stands_here(text, p, needle, len, is_key)) {
      return line;
    }
    if (*p == '\n') {
      line++;
    } else if (strchr("({[", *p)) {
      depth++;
      opened = true;
    } else if (strchr(")}]", *p)) {
      depth--;
    }
    if (depth < 0 || (opened && depth == 0 && *p == '\n')) {
      break; /* the statement that began on from_line is over */
    }
  }
  return from_line;
}
