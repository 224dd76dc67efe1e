/* count_names - which kernels a file has, for messages: those that the compiler emitted by the
 * names a reader knows, and templates, which it emits only when they are asked for. */
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

const char *count_skip_parens(const char *at) {
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

const char *count_declared(const char **name, const char *at) {
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
      at = count_skip_parens(at);
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
    const char *const end = count_declared(&name, at);
    if (end) {
      add_name(l, sct_arena_strndup(&l->arena, name, (size_t)(end - name)));
    }
  }
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
