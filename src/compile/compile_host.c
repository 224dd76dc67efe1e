/* compile_host - the device code of a CUDA file, for a compiler that takes nothing else: functions
 * of the host and variables of its libraries' types become blanks, so lines stay where they are.
 *
 * A light pass, no parser: the text of a namespace is a row of declarations, each of which ends at
 * a semicolon or with a block. */
#include "compile/compile_internal.h"

#include <ctype.h>
#include <string.h>

#define MAX_NESTED 32 /* of #if */

/* Skips a comment, a literal or a directive that begins at `at`; `at` itself if there is none. */
static const char *skip_opaque(const char *at, bool line_begins) {
  if (at[0] == '/' && at[1] == '/') {
    return at + strcspn(at, "\n");
  }
  if (at[0] == '/' && at[1] == '*') {
    const char *const end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
  }
  if (at[0] == 'R' && at[1] == '"' && strchr(at, '(') != NULL) {
    const size_t n = strcspn(at + 2, "(");
    SCT_SCOPED(sct_str) close = {0};
    sct_str_printf(&close, ")%.*s\"", (int)n, at + 2);
    const char *const end = strstr(at, sct_str_c(&close));
    return end ? end + close.len : at + strlen(at);
  }
  if (at[0] == '"' || (at[0] == '\'' && !isalnum((unsigned char)at[-1]))) { /* 1'000 is a number */
    const char *end = at + 1;
    while (*end != '\0' && *end != at[0] && *end != '\n') {
      end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    }
    return *end == at[0] ? end + 1 : end;
  }
  if (at[0] == '#' && line_begins) {
    const char *end = at;
    while (*end != '\0' && (*end != '\n' || end[-1] == '\\')) {
      end++;
    }
    return end;
  }
  return at;
}

typedef struct scan {
  const char *text; /* with a newline in front */
  char *out;        /* [strlen(text)] a copy of it */
} scan;

static bool begins_line(const scan *s, const char *at) {
  while (at > s->text && (at[-1] == ' ' || at[-1] == '\t')) {
    at--;
  }
  return at == s->text || at[-1] == '\n';
}

/* Each branch of an #if opens as many braces as the others. */
static void count_branches(int *depth, int *outer, int *n, const char *directive) {
  const char *const word = directive + 1 + strspn(directive + 1, " \t");
  if (sct_has_prefix(word, "if") && *n < MAX_NESTED) {
    outer[(*n)++] = *depth;
  } else if (sct_has_prefix(word, "el") && *n > 0) {
    *depth = outer[*n - 1];
  } else if (sct_has_prefix(word, "endif") && *n > 0) {
    (*n)--;
  }
}

/* The brace that closes the one at `at`, or the end. */
static const char *skip_block(const scan *s, const char *at) {
  int depth = 0, n = 0, outer[MAX_NESTED];
  while (*at != '\0') {
    const char *const next = skip_opaque(at, begins_line(s, at));
    if (next != at) {
      if (*at == '#') {
        count_branches(&depth, outer, &n, at);
      }
      at = next;
      continue;
    }
    depth += *at == '{';
    depth -= *at == '}';
    if (depth == 0) {
      return at;
    }
    at++;
  }
  return at;
}

/* Blanks all but directives and line ends. */
static void blank(const scan *s, const char *from, const char *to) {
  while (from < to) {
    const bool directive = *from == '#' && begins_line(s, from);
    const char *const next = directive ? skip_opaque(from, true) : from + 1;
    if (!directive && *from != '\n') {
      s->out[from - s->text] = ' ';
    }
    from = next;
  }
}

/* What a declaration says in front of its block or semicolon: one blank for blanks, comments,
 * directives and literals. */
static void read_head(const scan *s, sct_str *head, const char *from, const char *to) {
  for (const char *at = from; at < to;) {
    const char *const next = skip_opaque(at, begins_line(s, at));
    if (next != at || isspace((unsigned char)*at)) {
      const bool blank_before = head->len == 0 || head->data[head->len - 1] == ' ';
      sct_str_append(head, blank_before ? "" : " ");
      at = next != at ? next : at + 1;
    } else {
      sct_str_append_n(head, at, 1);
      at++;
    }
  }
}

static bool has_word(const char *text, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
    if ((at == text || !sct_is_word(at[-1])) && !sct_is_word(at[n])) {
      return true;
    }
  }
  return false;
}

static bool begins_with_word(const char *text, const char *word) {
  return sct_has_prefix(text, word) && !sct_is_word(text[strlen(word)]);
}

static bool has_any(const char *text, const char *const *words, int n) {
  for (int k = 0; k < n; ++k) {
    if (has_word(text, words[k])) {
      return true;
    }
  }
  return false;
}

/* Behind `template <...>`, and attributes. */
static const char *behind_template(const char *head) {
  while (begins_with_word(head, "template")) {
    int depth = 0, parens = 0;
    head += strcspn(head, "<");
    do {
      parens += *head == '(';
      parens -= *head == ')';
      depth += *head == '<' && parens == 0;
      depth -= *head == '>' && parens == 0;
      head += *head != '\0';
    } while (depth > 0 && *head != '\0');
    head += strspn(head, " ");
  }
  return head;
}

static bool is_type(const char *head) {
  static const char *const words[] = {"class", "struct", "union", "enum"};
  head = behind_template(head);
  for (int k = 0; k < SCT_COUNT(words); ++k) {
    if (begins_with_word(head, words[k])) {
      const char *const open = strchr(head, '(');
      const char *const body = strchr(head, '{');
      return open == NULL || (body != NULL && body < open) || strstr(head, "alignas") ||
             strstr(head, "__align__");
    }
  }
  return begins_with_word(head, "typedef");
}

/* Is the block a namespace or extern "C"? Literals are not in the head. */
static bool is_scope(const char *head) {
  return begins_with_word(head, "namespace") || begins_with_word(head, "inline namespace") ||
         strcmp(head, "extern ") == 0 || strcmp(head, "extern") == 0;
}

/* A function, as against a variable that is made of a list or a lambda. */
static bool is_function(const char *head) {
  head = behind_template(head);
  const char *const open = strchr(head, '(');
  const char *const is = strchr(head, '=');
  return open != NULL && (is == NULL || is > open || has_word(head, "operator"));
}

static bool is_of_host(const char *head, bool block) {
  static const char *const device[] = {"__device__",  "__global__", "__constant__", "__shared__",
                                       "__managed__", "constexpr",  "consteval"};
  static const char *const kept[] = {"using", "typedef", "static_assert", "concept", "namespace"};
  static const char *const libraries[] = {"std", "thrust", "__host__"};
  if (has_any(head, device, SCT_COUNT(device)) || is_type(head)) {
    return false;
  }
  return block || (!has_any(head, kept, SCT_COUNT(kept)) &&
                   (has_any(head, libraries, SCT_COUNT(libraries)) || is_function(head)));
}

static bool ends_access(const scan *s, const char *from, const char *at) {
  static const char *const words[] = {"public", "private", "protected"};
  SCT_SCOPED(sct_str) head = {0};
  read_head(s, &head, from, at);
  const char *const says = sct_str_c(&head) + strspn(sct_str_c(&head), " ");
  for (int k = 0; k < SCT_COUNT(words); ++k) {
    if (begins_with_word(says, words[k]) && strlen(says) <= strlen(words[k]) + 1) {
      return true;
    }
  }
  return false;
}

static const char *scan_scope(const scan *s, const char *at);

/* A declaration from `from` on that ends at `at`, or has a block there; returns where the next one
 * begins, `at` if this one goes on behind its block: *at is moved there. */
static const char *end_declaration(const scan *s, const char *from, const char **at) {
  const bool block = **at == '{';
  SCT_SCOPED(sct_str) head = {0};
  read_head(s, &head, from, *at);
  const char *const says = sct_str_c(&head) + strspn(sct_str_c(&head), " ");
  const bool whole = !block || is_scope(says) || (is_function(says) && !is_type(says));
  if (block && (is_scope(says) || is_type(says))) {
    *at = scan_scope(s, *at + 1);
  } else if (block) {
    *at = skip_block(s, *at);
  }
  if (whole && !(block && is_scope(says)) && is_of_host(says, block)) {
    blank(s, from, *at + (**at != '\0'));
  }
  *at += **at != '\0';
  return whole ? *at : from;
}

/* The declarations from `at` to the brace that ends them, or the end. */
static const char *scan_scope(const scan *s, const char *at) {
  const char *from = at; /* of the declaration */
  int depth = 0;         /* of parentheses */
  while (*at != '\0' && !(*at == '}' && depth == 0)) {
    const char *const next = skip_opaque(at, begins_line(s, at));
    if (next != at) {
      at = next;
      continue;
    }
    depth += *at == '(';
    depth -= *at == ')' && depth > 0;
    if (depth == 0 && (*at == ';' || *at == '{')) {
      from = end_declaration(s, from, &at);
      continue;
    }
    if (*at == ':' && depth == 0 && at[1] != ':' && at[-1] != ':' && ends_access(s, from, at)) {
      from = at + 1;
    }
    at++;
  }
  return at;
}

void sct_compile_without_host(sct_str *out, const char *source) {
  SCT_SCOPED(sct_str) text = {0}, copy = {0};
  sct_str_printf(&text, "\n%s", source);
  sct_str_append(&copy, sct_str_c(&text));
  const scan s = {.text = sct_str_c(&text), .out = copy.data};
  for (const char *at = s.text; *at != '\0'; at += *at != '\0') {
    at = scan_scope(&s, at); /* goes on behind a brace too many */
  }
  sct_str_append(out, sct_str_c(&copy) + 1);
}
