/* Templates: CUDA text with `//%` lines of Lua and `$(expr)`, translated line by line to a Lua
 * chunk, so that a Lua error's line number is the template's. */
#include "script/script_strategy_internal.h"

#include <string.h>

/* Appends text[0..n) as a Lua string literal. */
static void append_literal(sct_str *out, const char *text, size_t n) {
  sct_str_append(out, "\"");
  for (size_t k = 0; k < n; k++) {
    const unsigned char c = (unsigned char)text[k];
    if (c == '"' || c == '\\') {
      sct_str_printf(out, "\\%c", c);
    } else if (c < 32 || c == 127) {
      sct_str_printf(out, "\\%03d", c);
    } else {
      sct_str_append_n(out, text + k, 1);
    }
  }
  sct_str_append(out, "\"");
}

/* The position of the parenthesis that closes the one before text[0], skipping Lua strings; n if
 * none. */
static size_t closing(const char *text, size_t n) {
  int depth = 1;
  char quote = 0;
  for (size_t k = 0; k < n; k++) {
    const char c = text[k];
    if (quote) {
      if (c == '\\') {
        k++;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(') {
      depth++;
    } else if (c == ')' && --depth == 0) {
      return k;
    }
  }
  return n;
}

static sct_status translate_text(sct_str *out, const char *name, int line, const char *text,
                                 size_t n, sct_error *err) {
  sct_str_printf(out, "_o(%d", line);
  size_t from = 0;
  for (size_t k = 0; k + 1 < n; k++) {
    if (text[k] != '$' || text[k + 1] != '(') {
      continue;
    }
    const size_t inner = k + 2, length = closing(text + inner, n - inner);
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
  return sct_str_status(out, err);
}
