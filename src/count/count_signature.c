/* count_signature - what the source text says of a kernel's parameters, which PTX does not: their
 * names, and which have a default value. */
#include "count/count_internal.h"

#include <ctype.h>
#include <string.h>

/* The last word of a parameter in front of its array bounds or its default value; "": it has no
 * name, but a type alone. */
static const char *last_word(sct_arena *arena, const char *from, const char *to) {
  static const char *const types[] = {"bool",  "char",   "short",  "int",     "long",
                                      "float", "double", "signed", "unsigned"};
  const char *end = from;
  while (end < to && *end != '[' && *end != '=') {
    end++;
  }
  while (end > from && isspace((unsigned char)end[-1])) {
    end--;
  }
  const char *start = end;
  while (start > from && sct_is_word(start[-1])) {
    start--;
  }
  const char *const name = sct_arena_strndup(arena, start, (size_t)(end - start));
  return sct_names_find(SCT_NAMES(types, SCT_COUNT(types)), name) >= 0 ? "" : name;
}

/* One line, without the blanks around it. */
static const char *trimmed(sct_arena *arena, const char *from, const char *to) {
  SCT_SCOPED(sct_str) text = {0};
  for (const char *at = from; at < to; at++) {
    const bool blank = isspace((unsigned char)*at) != 0;
    if (!blank) {
      sct_str_append_n(&text, at, 1);
    } else if (text.len > 0 && text.data[text.len - 1] != ' ') {
      sct_str_append(&text, " ");
    }
  }
  const size_t n = text.len > 0 && text.data[text.len - 1] == ' ' ? text.len - 1 : text.len;
  return sct_arena_strndup(arena, sct_str_c(&text), n);
}

/* The parameters between the parentheses that open at `at`; how many there are, -1 for more than n.
 */
static int params_between(count_param *params, int n, sct_arena *arena, const char *at) {
  const char *const last = count_skip_parens(at);
  int depth = 0, found = 0;
  const char *from = at + 1;
  for (const char *p = from; p <= last && *last != '\0'; p++) {
    const bool ends = p == last || (*p == ',' && depth == 0);
    depth += *p == '(' || *p == '<' || *p == '[' || *p == '{';
    depth -= p < last && (*p == ')' || *p == '>' || *p == ']' || *p == '}');
    if (ends && found == n) {
      return p == last && strspn(from, " \t\r\n") == (size_t)(last - from) && n == 0 ? 0 : -1;
    }
    if (ends) {
      params[found] = (count_param){.name = last_word(arena, from, p),
                                    .text = trimmed(arena, from, p),
                                    .has_default = memchr(from, '=', (size_t)(p - from)) != NULL};
      found += 1;
      from = p + 1;
    }
  }
  return found;
}

/* The text with blanks in place of comments and directives. */
static char *code_alone(sct_arena *arena, const char *source) {
  char *const text = sct_arena_strdup(arena, source);
  bool begins = true; /* a line, as far as it is read */
  for (char *at = text; *at != '\0'; at++) {
    const char *end = at[0] != '/'   ? NULL
                      : at[1] == '/' ? at + strcspn(at, "\n")
                      : at[1] == '*' ? strstr(at + 2, "*/")
                                     : NULL;
    size_t n = end ? (size_t)(end - at) + (at[1] == '*' ? 2 : 0) : 0;
    while (begins && *at == '#' && at[n] != '\0' && (at[n] != '\n' || at[n - 1] == '\\')) {
      n++;
    }
    begins = *at == '\n' || (begins && (isspace((unsigned char)*at) || n > 0));
    for (size_t k = 0; k < n; k++) {
      at[k] = at[k] == '\n' ? '\n' : ' ';
    }
  }
  return text;
}

/* Where a declaration begins that has __global__ at `at`. */
static const char *declaration(const char *text, const char *at) {
  while (at > text && strchr(";{}", at[-1]) == NULL) {
    at--;
  }
  return at + strspn(at, " \t\r\n");
}

/* "template <class T>" of a declaration that begins so. */
static const char *template_head(sct_arena *arena, const char *at) {
  static const char word[] = "template";
  int depth = 0, parens = 0;
  const char *end = at + sizeof(word) - 1;
  if (!sct_has_prefix(at, word)) {
    return "";
  }
  for (; *end != '\0'; end++) {
    parens += *end == '(';
    parens -= *end == ')';
    depth += *end == '<' && parens == 0;
    depth -= *end == '>' && parens == 0;
    if (depth == 0 && *end == '>') {
      return sct_arena_strndup(arena, at, (size_t)(end + 1 - at));
    }
  }
  return "";
}

static bool has_names(const count_signature *sig) {
  for (int k = 0; k < sig->n; k++) {
    if (sig->params[k].name[0] == '\0') {
      return false;
    }
  }
  return true;
}

bool count_signature_read(count_signature *out, sct_arena *arena, const char *kernel, int n, int of,
                          const char *source) {
  static const char word[] = "__global__";
  const char *const text = code_alone(arena, source);
  const size_t whole = strcspn(kernel, "<");
  size_t first = whole;
  while (first > 0 && sct_is_word(kernel[first - 1])) {
    first--;
  }
  bool found = false; /* one without all names */
  *out = (count_signature){0};
  for (const char *at = strstr(text, word); at != NULL; at = strstr(at, word)) {
    const char *const begin = declaration(text, at);
    at += sizeof(word) - 1;
    const char *name = NULL;
    const char *const end = count_declared(&name, at);
    if (!end || (size_t)(end - name) != whole - first ||
        strncmp(name, kernel + first, whole - first) != 0) {
      continue;
    }
    const char *const open = end + strspn(end, " \t\r\n");
    count_signature one = {.n = n,
                           .params = SCT_ARENA_NEW(arena, count_param, n + 1),
                           .at = begin - text,
                           .head = template_head(arena, begin)};
    if (params_between(one.params, n, arena, open) != n ||
        (of >= 0 && !one.params[of].has_default)) {
      continue;
    }
    one.list = sct_arena_strndup(arena, open, (size_t)(count_skip_parens(open) + 1 - open));
    if (!found || has_names(&one)) {
      *out = one;
      found = true;
    }
    if (has_names(&one)) {
      break;
    }
  }
  return found;
}
