/* Diagnoses: what the executor found, with its place. */
#include "ptx/exec/ptx_exec.h"

#include <stdarg.h>

static const struct {
  const char *name;
} kinds[SCT_PTX_N_KINDS] = {
#define SCT_PTX_KIND(id, name, text) {name},
#include "ptx_kinds.def"
#undef SCT_PTX_KIND
};

const char *sct_ptx_kind_name(sct_ptx_kind kind) {
  return kinds[kind].name;
}

/* Copies a piece of PTX with its blanks squeezed. */
static void copy_text(char *out, size_t size, ptx_span text) {
  size_t n = 0;
  bool blank = false;
  for (int i = 0; i < text.len && n + 2 < size; i++) {
    const char c = text.p[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      blank = n > 0;
      continue;
    }
    if (blank) {
      out[n++] = ' ';
      blank = false;
    }
    out[n++] = c;
  }
  out[n] = '\0';
}

void sct_ptx_fault(ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane, uint64_t address,
                   const char *fmt, ...) {
  if (x->stop) {
    return;
  }
  const bool race = ptx_is_race(kind);
  const bool undefined = kind == SCT_PTX_UNDEFINED_ADDRESS || kind == SCT_PTX_UNDEFINED_BRANCH ||
                         kind == SCT_PTX_UNDEFINED_STORE;
  x->soft = x->has_soft ? !race : undefined && x->launch->races;
  if (x->has_soft && !race) { /* the first one stands */
    x->stop = true;
    return;
  }
  const sct_ptx_module *m = x->launch->module;
  sct_ptx_diag *d = &x->diag;
  va_list args;
  x->stop = true;
  *d = (sct_ptx_diag){.kind = kind,
                      .lane = lane,
                      .address = address,
                      .warp = x->warp != NULL ? x->warp->index : -1};
  memcpy(d->block, x->block, sizeof d->block);
  copy_text(d->kernel, sizeof d->kernel, x->launch->kernel->name);
  if (u != NULL) {
    const ptx_origin *o = &x->code->insts[u->inst];
    d->ptx_line = o->line;
    d->line = o->loc.line;
    copy_text(d->instruction, sizeof d->instruction, o->text);
    if (o->loc.file > 0 && o->loc.file < m->n_files && m->files[o->loc.file] != NULL) {
      snprintf(d->file, sizeof d->file, "%s", m->files[o->loc.file]);
    }
  }
  va_start(args, fmt);
  vsnprintf(d->text, sizeof d->text, fmt, args);
  va_end(args);
}

void sct_ptx_diag_print(sct_str *out, const sct_ptx_diag *d) {
  if (d->kind == SCT_PTX_CLEAN) {
    sct_str_append(out, kinds[d->kind].name);
    return;
  }
  sct_str_printf(out, "%s: %s (kernel %s", kinds[d->kind].name, d->text, d->kernel);
  if (d->line > 0) {
    sct_str_printf(out, ", line %d of %s", d->line, d->file[0] != '\0' ? d->file : "the source");
  }
  if (d->ptx_line > 0) {
    sct_str_printf(out, ", PTX line %d: %s", d->ptx_line, d->instruction);
  }
  if (d->warp >= 0) {
    sct_str_printf(out, ", block (%lld,%lld,%lld), warp %d", (long long)d->block[0],
                   (long long)d->block[1], (long long)d->block[2], d->warp);
  }
  if (d->lane >= 0) {
    sct_str_printf(out, ", lane %d", d->lane);
  }
  sct_str_append(out, ")");
}
