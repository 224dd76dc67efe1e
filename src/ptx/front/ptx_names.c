/* Names of functions that were inlined: .loc gives a label of section .debug_str, whose bytes are
 * the name as the linker knows it. */
#include "ptx/front/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

/* The last identifier of a mangled name, without parameters: "sync" of _ZN2cg4syncEv. */
static const char *plain_name(sct_arena *arena, const char *name) {
  const char *at = name, *last = NULL;
  long n = 0;
  if (strncmp(name, "_Z", 2) != 0) {
    return sct_arena_strdup(arena, name);
  }
  at += 2;
  const char *const nested = *at == 'N' ? at : NULL;
  while (*at != '\0' && strchr("NKVL", *at) != NULL) {
    at++;
  }
  while (*at >= '0' && *at <= '9') {
    char *end = NULL;
    n = strtol(at, &end, 10);
    if (n <= 0 || n > (long)strlen(end)) {
      break;
    }
    last = end;
    at = end + n;
    if (nested == NULL) {
      break;
    }
  }
  return last != NULL ? sct_arena_strndup(arena, last, (size_t)n) : "";
}

/* ".b8 95,90,78" up to a 0, on as many lines as it takes; what follows them. */
static const char *read_bytes(const char *at, sct_str *out) {
  while (strncmp(at, ".b8", 3) == 0) {
    at += 3;
    do {
      char *end = NULL;
      const char c = (char)strtol(at + 1, &end, 10);
      if (end == at + 1) {
        return end;
      }
      at = end;
      if (c == '\0') {
        return at;
      }
      sct_str_append_n(out, &c, 1);
    } while (*at == ',');
    at += strspn(at, " \t\n");
  }
  return at;
}

void sct_ptx_name_functions(sct_ptx_module *m) {
  const char *at = m->n_functions > 0 ? strstr(m->text, ".debug_str") : NULL;
  at = at != NULL ? strchr(at, '{') : NULL;
  while (at != NULL && *at != '\0' && *at != '}') {
    at++;
    at += strspn(at, " \t\n");
    const ptx_span label = {at, (int)strcspn(at, ": \t\n}")};
    if (at[label.len] != ':') {
      continue;
    }
    SCT_SCOPED(sct_str) name = {0};
    at += label.len + 1;
    at = read_bytes(at + strspn(at, " \t\n"), &name);
    for (size_t k = 0; k < m->n_functions; k++) {
      if (sct_ptx_span_equal(m->functions[k].label, label)) {
        m->functions[k].name = plain_name(&m->arena, sct_str_c(&name));
      }
    }
  }
}
