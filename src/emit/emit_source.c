/* Whether a stored kernel may stand inside a namespace of a header. The text goes in byte for byte,
 * so it must be whole: a source that was cut short, or that closes more brackets than it opens,
 * would take the rest of the header with it. The compiler checks everything else. */
#include "emit/emit_internal.h"

#include <ctype.h>
#include <string.h>

enum { MAX_DEPTH = 256 };

static bool is_word_char(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

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

/* Appends `source` with comments and the contents of literals blanked, so that what is left can be
 * read by characters. Says what is wrong, or NULL. */
static const char *blank_text(sct_str *out, const char *source) {
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
      sct_str_append(out, " ");
    } else if (strncmp(at, "/*", 2) == 0) {
      const char *close = strstr(at + 2, "*/");
      if (close == NULL) {
        return "a comment that is never closed";
      }
      end = close + 2;
      sct_str_append(out, " ");
    } else if (*at == '"' || (*at == '\'' && (at == source || !is_word_char(at[-1])))) {
      if (*at == '"' && at > source && at[-1] == 'R') {
        return "a raw string";
      }
      end = literal_end(at);
      if (end == NULL) {
        return "a string that is never closed";
      }
      sct_str_append(out, "0"); /* any operand does */
    } else {
      sct_str_append_n(out, at, 1);
    }
    at = end;
  }
  return NULL;
}

static char opener_of(char closer) {
  return closer == ')' ? '(' : closer == ']' ? '[' : closer == '}' ? '{' : '\0';
}

/* Brackets match, no directive but #pragma, no other spelling of either. Says what is wrong, or
 * NULL. */
static const char *check_structure(const char *text) {
  char open[MAX_DEPTH];
  int depth = 0;
  bool line_start = true;
  for (const char *at = text; *at != '\0'; at++) {
    if (strncmp(at, "<%", 2) == 0 || strncmp(at, "%>", 2) == 0 || strncmp(at, "%:", 2) == 0 ||
        strncmp(at, "<:", 2) == 0) {
      return "another spelling of a bracket";
    }
    if (*at == '#' && (!line_start || strncmp(at, "#pragma ", 8) != 0)) {
      return "a preprocessor directive";
    }
    if (strchr("([{", *at) != NULL) {
      if (depth == MAX_DEPTH) {
        return "brackets nested too deeply";
      }
      open[depth++] = *at;
    } else if (opener_of(*at) != '\0') {
      if (depth == 0 || open[--depth] != opener_of(*at)) {
        return "a closing bracket that nothing opened";
      }
    }
    line_start = *at == '\n' || (line_start && isspace((unsigned char)*at));
  }
  return depth == 0 ? NULL : "a bracket that is never closed";
}

/* The parameter list of the function `name`, past its bracket; NULL: there is none. */
static const char *find_parameters(const char *text, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += n) {
    const char *after = at + n + strspn(at + n, " \n");
    if (*after == '(' && at > text && isspace((unsigned char)at[-1])) {
      return after + 1;
    }
  }
  return NULL;
}

/* The name of the parameter that ends before `end`: its last word. */
static int parameter_index(const char *begin, const char *end, const char *const *names, int n) {
  while (end > begin && !is_word_char(end[-1])) {
    end--;
  }
  const char *word = end;
  while (word > begin && is_word_char(word[-1])) {
    word--;
  }
  for (int k = 0; k < n; k++) {
    if (strlen(names[k]) == (size_t)(end - word) &&
        strncmp(names[k], word, (size_t)(end - word)) == 0) {
      return k;
    }
  }
  return -1;
}

/* Writes the index of each parameter's name to args; -1 where it is none of names. Returns how many
 * parameters there are, n + 1 for more than n. */
static int list_parameters(int *args, const char *list, const char *const *names, int n) {
  int count = 0;
  int depth = 0;
  const char *begin = list;
  for (const char *at = list; *at != '\0'; at++) {
    depth += (*at == '(') - (*at == ')');
    if (depth < 0 || (depth == 0 && *at == ',')) {
      const bool empty = strspn(begin, " \n") >= (size_t)(at - begin);
      if (!empty && count == n) {
        return n + 1;
      }
      if (!empty) {
        args[count++] = parameter_index(begin, at, names, n);
      }
      begin = at + 1;
    }
    if (depth < 0) {
      break;
    }
  }
  return count;
}

static sct_status match_parameters(int *args, int *n_args, const char *list, const char *kernel,
                                   const char *const *names, int n, sct_error *err) {
  const int count = list_parameters(args, list, names, n);
  bool by_name = count <= n;
  for (int k = 0; k < count && by_name; k++) {
    by_name = args[k] >= 0;
    for (int other = 0; other < k; other++) {
      by_name = by_name && args[other] != args[k];
    }
  }
  if (!by_name && count != n) {
    return sct_fail(err, SCT_EDATA,
                    "the parameters of the stored kernel '%s' are not the arguments of its spec: "
                    "expected %d, operands then scalars then extents",
                    kernel, n);
  }
  for (int k = 0; k < count && !by_name; k++) {
    args[k] = k;
  }
  *n_args = count;
  return SCT_OK;
}

sct_status emit_check_source(int *args, int *n_args, const char *source, const char *kernel,
                             const char *const *names, int n, sct_error *err) {
  sct_str text = {0};
  const char *wrong = blank_text(&text, source);
  if (wrong == NULL) {
    wrong = check_structure(sct_str_c(&text));
  }
  const char *list = find_parameters(sct_str_c(&text), kernel);
  sct_status status = SCT_OK;
  if (wrong != NULL) {
    status = sct_fail(err, SCT_EDATA,
                      "the stored source of kernel '%s' cannot stand in a header: it holds %s",
                      kernel, wrong);
  } else if (list == NULL) {
    status = sct_fail(err, SCT_EDATA, "the stored source holds no function '%s'", kernel);
  } else {
    status = match_parameters(args, n_args, list, kernel, names, n, err);
  }
  sct_str_free(&text);
  return status;
}
