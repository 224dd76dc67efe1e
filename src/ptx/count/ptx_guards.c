/* Coverage: the conditions of a kernel that launches saw from one side only. */
#include "ptx/exec/ptx_exec.h"

#include <string.h>

/* Headers of the system and of toolkits: nothing of theirs is the kernel's own. */
bool sct_ptx_is_library(const sct_ptx_module *m, ptx_loc loc) {
  const char *path = loc.file > 0 && loc.file < m->n_files ? m->files[loc.file] : NULL;
  if (path == NULL || (strstr(path, "/include/") == NULL && strstr(path, "/targets/") == NULL)) {
    return false;
  }
  return strncmp(path, "/usr/", 5) == 0 || strstr(path, "/cuda") != NULL ||
         strstr(path, "/nvidia") != NULL;
}

/* The instruction with its guard, which stands before it. */
static ptx_span whole_text(const sct_ptx_module *m, ptx_span text) {
  const char *from = text.p;
  while (from > m->text && strchr("\n;{}", from[-1]) == NULL) {
    from--;
  }
  while (*from == ' ' || *from == '\t') {
    from++;
  }
  return (ptx_span){from, (int)(text.p + text.len - from)};
}

static bool same_place(const sct_ptx_guard *a, const sct_ptx_guard *b) {
  return a->line == b->line && a->was_true == b->was_true && strcmp(a->file, b->file) == 0;
}

int sct_ptx_uncovered(sct_ptx_guard *out, int most, const sct_ptx_module *m, const char *kernel,
                      const uint8_t *seen) {
  const ptx_func *f = sct_ptx_func_find(m, kernel);
  if (f == NULL || f->code == NULL) {
    return -1;
  }
  SCT_OWNED sct_ptx_guard *all = sct_alloc(sizeof(*all) * (f->code->n_insts + 1));
  int n = 0;
  for (size_t i = 0; i < f->code->n_insts; i++) {
    const ptx_origin *o = &f->code->insts[i];
    if ((seen[i] != SCT_PTX_WAS_TRUE && seen[i] != SCT_PTX_WAS_FALSE) ||
        sct_ptx_is_library(m, o->loc)) {
      continue;
    }
    const bool known = o->loc.file > 0 && o->loc.file < m->n_files;
    const ptx_span text = whole_text(m, o->text);
    all[n] = (sct_ptx_guard){.ptx_line = o->line,
                             .file = known && m->files[o->loc.file] ? m->files[o->loc.file] : "",
                             .line = o->loc.line,
                             .text = text.p,
                             .text_len = text.len,
                             .own = o->loc.file == f->code->insts[0].loc.file,
                             .was_true = seen[i] == SCT_PTX_WAS_TRUE};
    int k = 0;
    while (k < n && (all[n].line == 0 || !same_place(&all[k], &all[n]))) {
      k++;
    }
    n += k == n;
  }
  for (int k = 0; k < n && k < most; k++) {
    out[k] = all[k];
  }
  return n;
}
