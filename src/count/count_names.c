/* count_names - which kernels a file has, for messages: those that the compiler emitted by the
 * names a reader knows, and templates, which it emits only when they are asked for. And what the
 * source calls the parameters of a kernel, which PTX does not say. */
#include "count/count_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 256

typedef struct name_list {
  sct_arena arena;
  const char *names[MAX_NAMES];
  int n;
} name_list;

bool count_stands_for(const char *name, const char *full) {
  const size_t n = strlen(full), k = strlen(name);
  return strcmp(name, full) == 0 ||
         (n > k + 2 && strcmp(full + n - k, name) == 0 && memcmp(full + n - k - 2, "::", 2) == 0);
}

static void add_name(name_list *l, const char *name) {
  for (int k = 0; k < l->n; k++) {
    if (count_stands_for(name, l->names[k])) {
      return;
    }
  }
  if (name[0] != '\0' && l->n < MAX_NAMES) {
    l->names[l->n++] = name;
  }
}

/* The names at the start of a mangled one, as the Itanium
 * C++ ABI writes them (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling). */
void count_plain_name(sct_str *out, const char *entry) {
  if (!sct_has_prefix(entry, "_Z")) {
    sct_str_append(out, entry);
    return;
  }
  const char *at = entry + 2;
  const bool nested = *at == 'N';
  at += nested;
  at += *at == 'L'; /* internal linkage */
  while (isdigit((unsigned char)*at)) {
    char *name = NULL;
    const unsigned long n = strtoul(at, &name, 10);
    if (n > strlen(name)) {
      return;
    }
    sct_str_append(out, out->len > 0 ? "::" : "");
    sct_str_append_n(out, name, n);
    at = name + n;
    if (!nested) {
      return;
    }
  }
}

/* The closing parenthesis of the one at `at`, or the end. */
static const char *skip_parens(const char *at) {
  int depth = 0;
  for (; *at != '\0'; at++) {
    depth += *at == '(';
    depth -= *at == ')';
    if (depth == 0) {
      return at;
    }
  }
  return at;
}

/* The name of the function declared after `__global__`, and its end: what stands before the first
 * parenthesis that is not an attribute's, as that of __launch_bounds__(256). NULL: none. */
static const char *find_name(const char **name, const char *at) {
  const char *const from = at;
  for (; *at != '\0' && *at != ';' && *at != '{'; at++) {
    if (*at != '(') {
      continue;
    }
    const char *end = at;
    while (end > from && isspace((unsigned char)end[-1])) {
      end--;
    }
    const char *start = end;
    while (start > from && sct_is_word(start[-1])) {
      start--;
    }
    if (end - start >= 2 && memcmp(start, "__", 2) == 0) {
      at = skip_parens(at);
      if (*at == '\0') {
        return NULL;
      }
      continue;
    }
    *name = start;
    return end;
  }
  return NULL;
}

static void add_source(name_list *l, const char *source) {
  static const char word[] = "__global__";
  for (const char *at = strstr(source, word); at != NULL; at = strstr(at, word)) {
    at += sizeof(word) - 1;
    const char *name = NULL;
    const char *const end = find_name(&name, at);
    if (end) {
      add_name(l, sct_arena_strndup(&l->arena, name, (size_t)(end - name)));
    }
  }
}

/* ---- parameters */

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

/* The names between the parentheses that open at `at`; how many there are, -1 for more than n. */
static int names_between(const char **names, int n, sct_arena *arena, const char *at) {
  const char *const last = skip_parens(at);
  int depth = 0, found = 0;
  const char *from = at + 1;
  for (const char *p = from; p <= last && *last != '\0'; p++) {
    const bool ends = p == last || (*p == ',' && depth == 0);
    depth += *p == '(' || *p == '<' || *p == '[';
    depth -= p < last && (*p == ')' || *p == '>' || *p == ']');
    if (ends && found == n) {
      return p == last && strspn(from, " \t\r\n") == (size_t)(last - from) && n == 0 ? 0 : -1;
    }
    if (ends) {
      names[found] = last_word(arena, from, p);
      found += 1;
      from = p + 1;
    }
  }
  return found;
}

/* The text with blanks in place of comments. */
static const char *without_comments(sct_arena *arena, const char *source) {
  char *const text = sct_arena_strdup(arena, source);
  for (char *at = text; *at != '\0'; at++) {
    const char *const end = at[0] != '/'   ? NULL
                            : at[1] == '/' ? at + strcspn(at, "\n")
                            : at[1] == '*' ? strstr(at + 2, "*/")
                                           : NULL;
    const size_t n = end ? (size_t)(end - at) + (at[1] == '*' ? 2 : 0) : 0;
    memset(at, ' ', n);
  }
  return text;
}

bool count_parameters(const char **names, int n, sct_arena *arena, const char *kernel,
                      const char *source) {
  static const char word[] = "__global__";
  const char *const text = without_comments(arena, source);
  const size_t whole = strcspn(kernel, "<");
  size_t first = whole;
  while (first > 0 && sct_is_word(kernel[first - 1])) {
    first--;
  }
  for (const char *at = strstr(text, word); at != NULL; at = strstr(at, word)) {
    at += sizeof(word) - 1;
    const char *name = NULL;
    const char *const end = find_name(&name, at);
    if (!end || (size_t)(end - name) != whole - first ||
        strncmp(name, kernel + first, whole - first) != 0) {
      continue;
    }
    bool good = names_between(names, n, arena, end + strspn(end, " \t\r\n")) == n;
    for (int k = 0; good && k < n; k++) {
      good = names[k][0] != '\0';
    }
    if (good) {
      return true;
    }
  }
  return false;
}

void count_suggest_kernel(sct_str *out, const char *kernel, const sct_ptx_module *module,
                          const char *source) {
  name_list list = {0};
  SCT_SCOPED(sct_str) word = {0};
  for (int k = 0; module != NULL && k < sct_ptx_n_kernels(module); k++) {
    SCT_SCOPED(sct_str) plain = {0};
    count_plain_name(&plain, sct_ptx_kernel_at(module, k)->name);
    add_name(&list, sct_arena_strdup(&list.arena, sct_str_c(&plain)));
  }
  add_source(&list, source);
  sct_str_append_n(&word, kernel, strcspn(kernel, "<"));
  int found = 0; /* a namespace is missing */
  while (found < list.n && !count_stands_for(sct_str_c(&word), list.names[found])) {
    found++;
  }
  if (found < list.n && strcmp(list.names[found], sct_str_c(&word)) == 0) {
    /* the source has it, and the compiler emitted none of that name */
    if (strchr(kernel, '<') == NULL) {
      sct_str_printf(out,
                     "; a template is named with its arguments, as in '%s<float>', and what #if "
                     "leaves out is not there",
                     list.names[found]);
    }
  } else if (found < list.n) {
    sct_str_printf(out, "; did you mean '%s'?", list.names[found]);
  } else if (list.n > 0) {
    sct_str_suggest(out, sct_str_c(&word), SCT_NAMES(list.names, list.n));
  } else {
    sct_str_append(out, "; the file has no kernel");
  }
  sct_arena_free(&list.arena);
}
