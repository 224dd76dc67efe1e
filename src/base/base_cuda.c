/* CUDA text as brackets, words and directives: what may stand in a namespace of a file that others
 * include. A text that was cut short, or that closes more than it opens, would take the rest of the
 * file with it. The compiler checks everything else. */
#include "base/base.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 256 };

/* Where the string or character literal that opens at `at` ends (past its quote); NULL: it does
 * not. */
static const char *literal_end(const char *at) {
  const char quote = *at;
  for (at++; *at != quote; at++) {
    if (*at == '\\' && at[1] != '\0') {
      at++;
    }
    if (*at == '\0' || *at == '\n') {
      return NULL;
    }
  }
  return at + 1;
}

/* Blanks, and the line ends of what they stand for. */
static void append_blank(sct_str *out, const char *from, const char *end) {
  for (; from < end; from++) {
    sct_str_append_n(out, *from == '\n' ? "\n" : " ", 1);
  }
}

const char *sct_cuda_blank(sct_str *out, const char *source) {
  for (const char *at = source; *at != '\0';) {
    const char *end = at + 1;
    if (strncmp(at, "??", 2) == 0) {
      return "a trigraph";
    }
    if (strncmp(at, "//", 2) == 0) {
      end = at + strcspn(at, "\n");
      if (end[-1] == '\\') {
        return "a comment that a backslash continues";
      }
      append_blank(out, at, end);
    } else if (strncmp(at, "/*", 2) == 0) {
      const char *close = strstr(at + 2, "*/");
      if (close == NULL) {
        return "a comment that is never closed";
      }
      end = close + 2;
      append_blank(out, at, end);
    } else if (*at == '"' || (*at == '\'' && (at == source || !sct_is_word(at[-1])))) {
      if (*at == '"' && at > source && at[-1] == 'R') {
        return "a raw string";
      }
      end = literal_end(at);
      if (end == NULL) {
        return "a string that is never closed";
      }
      sct_str_append(out, "0"); /* any operand does */
      append_blank(out, at + 1, end);
    } else {
      sct_str_append_n(out, at, 1);
    }
    at = end;
  }
  return NULL;
}

/* ---- brackets and directives ---- */

/* What is open at a place of the text. */
typedef struct structure {
  int row;
  char open[MAX_DEPTH];
  int row_of[MAX_DEPTH], depth;
  int depth_at_if[MAX_DEPTH]; /* brackets that are open where each #if begins */
  int row_of_if[MAX_DEPTH], n_ifs;
} structure;

static char opener_of(char closer) {
  return closer == ')' ? '(' : closer == ']' ? '[' : closer == '}' ? '{' : '\0';
}

static const char *take_bracket(structure *s, char c) {
  if (strchr("([{", c) != NULL) {
    if (s->depth == MAX_DEPTH) {
      return "brackets nested too deeply";
    }
    s->row_of[s->depth] = s->row;
    s->open[s->depth++] = c;
  } else if (opener_of(c) != '\0' && (s->depth == 0 || s->open[--s->depth] != opener_of(c))) {
    return "a closing bracket that nothing opened";
  }
  return NULL;
}

static bool is_word(const char *at, size_t n, const char *word) {
  return strlen(word) == n && strncmp(at, word, n) == 0;
}

/* <cuda_fp16.h>: a name below the compiler's include directories. */
static bool is_system_header(const char *at) {
  const size_t n = *at == '<' ? strcspn(at, ">\n") : 0;
  bool good = n > 1 && at[n] == '>' && isalnum((unsigned char)at[1]);
  for (size_t k = 1; k < n; k++) {
    good = good && (sct_is_word(at[k]) || strchr("/.-", at[k]) != NULL) &&
           strncmp(at + k, "..", 2) != 0;
  }
  return good && strspn(at + n + 1, " \t\r") == strcspn(at + n + 1, "\n");
}

/* The directive whose # stands at `at`. The branches of a condition open and close alike. */
static const char *take_directive(structure *s, const char *at) {
  static const char *const harmless[] = {"define", "undef", "error", "warning", "pragma"};
  const char *word = at + 1 + strspn(at + 1, " \t");
  const size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");
  if (is_word(word, n, "if") || is_word(word, n, "ifdef") || is_word(word, n, "ifndef")) {
    if (s->n_ifs == MAX_DEPTH) {
      return "conditions nested too deeply";
    }
    s->row_of_if[s->n_ifs] = s->row;
    s->depth_at_if[s->n_ifs++] = s->depth;
    return NULL;
  }
  if (is_word(word, n, "else") || is_word(word, n, "elif") || is_word(word, n, "endif")) {
    if (s->n_ifs == 0) {
      return "an #else or #endif that no #if began";
    }
    s->n_ifs -= is_word(word, n, "endif");
    s->depth = is_word(word, n, "endif") ? s->depth : s->depth_at_if[s->n_ifs - 1];
    return NULL;
  }
  if (is_word(word, n, "include")) {
    return is_system_header(word + n + strspn(word + n, " \t"))
               ? NULL
               : "an #include of something else than a <header>";
  }
  for (int k = 0; k < SCT_COUNT(harmless); k++) {
    if (is_word(word, n, harmless[k])) {
      return NULL;
    }
  }
  return "an unknown preprocessor directive";
}

/* The last character of a directive, which backslashes continue. */
static const char *directive_end(const char *at) {
  while (at[1] != '\0' && (at[1] != '\n' || *at == '\\')) {
    at++;
  }
  return at;
}

/* What is wrong at *at, which moves to the end of a directive. */
static const char *take(structure *s, const char **at, bool line_start, bool macros) {
  static const char *const spellings[] = {"<%", "%>", "%:", "<:"};
  const char c = **at;
  for (int k = 0; k < SCT_COUNT(spellings); k++) {
    if (strncmp(*at, spellings[k], 2) == 0) {
      return "another spelling of a bracket";
    }
  }
  if (c == '#' && line_start && macros) {
    const char *const end = directive_end(*at);
    const char *wrong = take_directive(s, *at);
    for (; *at < end && wrong == NULL; (*at)++) {
      s->row += **at == '\n';
    }
    return wrong;
  }
  return c == '#' && (!line_start || strncmp(*at, "#pragma ", 8) != 0) ? "a preprocessor directive"
                                                                       : take_bracket(s, c);
}

const char *sct_cuda_structure(const char *text, bool macros, int *line) {
  structure s = {.row = 1};
  bool line_start = true;
  const char *wrong = NULL;
  for (const char *at = text; *at != '\0' && wrong == NULL; at++) {
    wrong = take(&s, &at, line_start, macros);
    line_start = *at == '\n' || (line_start && isspace((unsigned char)*at));
    s.row += *at == '\n';
  }
  if (wrong == NULL && s.depth > 0) {
    wrong = "a bracket that is never closed";
    s.row = s.row_of[s.depth - 1];
  } else if (wrong == NULL && s.n_ifs > 0) {
    wrong = "an #if without its #endif";
    s.row = s.row_of_if[s.n_ifs - 1];
  }
  if (line != NULL) {
    *line = s.row;
  }
  return wrong;
}

bool sct_is_kernel_name(const char *text) {
  const size_t n = strcspn(text, "<");
  int angles = 0;
  bool named = n > 0;
  for (size_t k = 0; k < n && named; k++) { /* words with :: between them */
    const bool first = k == 0 || text[k - 1] == ':';
    if (text[k] == ':') {
      named = k > 0 && text[k + 1] == ':' && sct_is_word(text[k - 1]) && sct_is_word(text[k + 2]);
      k += named;
    } else {
      named = sct_is_word(text[k]) && !(first && isdigit((unsigned char)text[k]));
    }
  }
  for (const char *at = text + n; *at != '\0' && named; at++) {
    angles += (*at == '<') - (*at == '>');
    named = (sct_is_word(*at) || strchr("<>:, *-", *at) != NULL) &&
            (angles > 0 || (*at == '>' && at[1] == '\0'));
  }
  return named && angles == 0;
}

/* The map of lines is a text of runs: how many lines, the first of them in its file, the file.
 * A text of another form is a map that ends there. */
bool sct_lines_find(const char *runs, int line, const char **file, int *n_file, int *file_line) {
  long left = line;
  for (const char *at = runs; left > 0 && *at;) {
    char *end = NULL;
    const long n = strtol(at, &end, 10), first = *end == ' ' ? strtol(end, &end, 10) : 0;
    const size_t length = strcspn(end, "\n");
    if (n < 1 || first < 1 || first > INT_MAX - n || length < 2 || length > INT_MAX ||
        *end != ' ' || end[length] != '\n') {
      return false;
    }
    if (left <= n) {
      *file = end + 1;
      *n_file = (int)length - 1;
      *file_line = (int)(first + left - 1);
      return true;
    }
    left -= n;
    at = end + length + 1;
  }
  return false;
}
