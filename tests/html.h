/* What holds of every page of HTML. */
#ifndef SCT_TESTS_HTML_H
#define SCT_TESTS_HTML_H

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Every element ends where it should. */
static inline void assert_balanced(const char *html) {
  struct {
    const char *name;
    size_t n;
  } open[64];
  int depth = 0;
  const char *style = strstr(html, "<style>"), *end = strstr(html, "</style>");
  for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
    const bool closes = at[1] == '/';
    const char *name = at + 1 + closes;
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");
    const char *last = strchr(at, '>');
    assert_non_null(last);
    if (at[1] == '!' || strncmp(name, "meta", 4) == 0 || last[-1] == '/') {
      continue; /* has no end of its own */
    }
    if (style && at > style && at < end) {
      continue;
    }
    if (n == 0) {
      fail_msg("a '<' that begins nothing: %.40s", at);
    }
    if (!closes) {
      assert_true(depth < SCT_COUNT(open));
      open[depth].name = name;
      open[depth++].n = n;
    } else if (depth == 0 || open[depth - 1].n != n || strncmp(open[depth - 1].name, name, n)) {
      fail_msg("'%.*s' ends where '%.*s' is open", (int)n, name,
               depth > 0 ? (int)open[depth - 1].n : 0, depth > 0 ? open[depth - 1].name : "");
    } else {
      depth--;
    }
  }
  assert_int_equal(depth, 0);
}

static inline int count_of(const char *text, const char *word) {
  const char *const end = text + strlen(text);
  int n = 0;
  for (const char *at = text; (at = memmem(at, (size_t)(end - at), word, strlen(word))); at++) {
    n++; /* no strstr: with sanitizers it takes the length of what is left each time */
  }
  return n;
}

#endif
