/* Types, names and symbol lookup of parsed PTX. */
#include "ptx/front/ptx_ast.h"

#include <string.h>

static const struct {
  const char *name;
  int bytes;
  ptx_type_kind kind;
} types[PTX_N_TYPES] = {
    [PTX_T_NONE] = {"", 0, PTX_KIND_NONE},
#define PTX_TYPE(id, name, bytes, kind) [PTX_T_##id] = {name, bytes, PTX_KIND_##kind},
#include "ptx_types.def"
#undef PTX_TYPE
};

ptx_type sct_ptx_type_find(const char *name, int len) {
  for (int t = 1; t < PTX_N_TYPES; t++) {
    if ((int)strlen(types[t].name) == len && memcmp(types[t].name, name, (size_t)len) == 0) {
      return (ptx_type)t;
    }
  }
  return PTX_T_NONE;
}

int sct_ptx_type_bytes(ptx_type type) {
  return types[type].bytes;
}

ptx_type_kind sct_ptx_type_kind(ptx_type type) {
  return types[type].kind;
}

const char *sct_ptx_type_name(ptx_type type) {
  return types[type].name;
}

bool sct_ptx_span_is(ptx_span s, const char *text) {
  return (int)strlen(text) == s.len && memcmp(s.p, text, (size_t)s.len) == 0;
}

/* Asked for every instruction, of long lists: letter by letter, without calls. */
bool sct_ptx_span_in(ptx_span word, const char *list) {
  while (*list != '\0') {
    int same = 0, n = 0;
    while (list[n] != '\0' && list[n] != ' ') {
      same += n < word.len && list[n] == word.p[n];
      n++;
    }
    if (n == word.len && same == n) {
      return true;
    }
    list += n + (list[n] == ' ');
  }
  return false;
}

bool sct_ptx_type_in(ptx_type type, const char *list) {
  return sct_ptx_span_in((ptx_span){types[type].name, (int)strlen(types[type].name)}, list);
}

bool sct_ptx_span_equal(ptx_span a, ptx_span b) {
  return a.len == b.len && memcmp(a.p, b.p, (size_t)a.len) == 0;
}

const ptx_sym *sct_ptx_sym_find(const ptx_sym *list, ptx_span name) {
  for (; list != NULL; list = list->next) {
    if (sct_ptx_span_equal(list->name, name)) {
      return list;
    }
  }
  return NULL;
}

const ptx_sym *sct_ptx_sym_visible(const sct_ptx_module *module, const ptx_func *func, int scope,
                                   ptx_span name) {
  for (; scope >= 0; scope = func->scopes[scope].parent) {
    const ptx_sym *sym = sct_ptx_sym_find(func->scopes[scope].syms, name);
    if (sym != NULL) {
      return sym;
    }
  }
  for (int i = 0; i < func->n_params; i++) {
    if (sct_ptx_span_equal(func->params[i]->name, name)) {
      return func->params[i];
    }
  }
  for (int i = 0; i < func->n_rets; i++) {
    if (sct_ptx_span_equal(func->rets[i]->name, name)) {
      return func->rets[i];
    }
  }
  return sct_ptx_sym_find(module->syms, name);
}

bool sct_ptx_is_variable(const ptx_sym *sym) {
  return sym->space == PTX_SPACE_GLOBAL || sym->space == PTX_SPACE_CONST;
}
