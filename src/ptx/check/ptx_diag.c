/* Diagnoses: what the executor found, with its place. */
#include "ptx/exec/ptx_exec.h"

#include <stdarg.h>
#include <string.h>

static const struct {
  const char *name, *text;
} kinds[SCT_PTX_N_KINDS] = {
#define SCT_PTX_KIND(id, name, text) {name, text},
#include "ptx_kinds.def"
#undef SCT_PTX_KIND
};

const char *sct_ptx_kind_name(sct_ptx_kind kind) {
  return kinds[kind].name;
}

const char *sct_ptx_kind_text(sct_ptx_kind kind) {
  return kinds[kind].text;
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

/* The user's place, what was called there, and where it was called from. */
static void describe_place(sct_ptx_diag *d, const sct_ptx_module *m, const ptx_origin *o) {
  ptx_loc at = o->user;
  d->line = at.line;
  snprintf(d->file, sizeof d->file, "%s", sct_ptx_file_of(m, at));
  if (o->loc.file != at.file) {
    d->callee_line = o->loc.line;
    snprintf(d->callee_file, sizeof d->callee_file, "%s", sct_ptx_file_of(m, o->loc));
    snprintf(d->callee, sizeof d->callee, "%s", sct_ptx_function_of(m, o->loc));
  }
  while (at.call > 0 && d->n_called < SCT_COUNT(d->called)) {
    const int from = at.file;
    at = m->calls[at.call - 1].loc;
    if (at.file != from || d->n_called > 0) {
      const char *const file = sct_ptx_file_of(m, at);
      snprintf(d->called_file[d->n_called], sizeof d->called_file[0], "%s",
               strcmp(file, d->file) == 0 ? "" : file);
    }
    d->called[d->n_called++] = at.line;
  }
}

static void describe_before(sct_ptx_diag *d, const ptx_exec *x) {
  const sct_ptx_module *m = x->launch->module;
  d->before = (sct_ptx_place){.warp = -1, .lane = -1};
  if (x->before.inst == 0) {
    return;
  }
  const ptx_origin *o = &x->code->insts[x->before.inst - 1];
  d->before = (sct_ptx_place){
      .ptx_line = o->line, .line = o->user.line, .warp = x->before.warp, .lane = x->before.lane};
  snprintf(d->before.file, sizeof d->before.file, "%s", sct_ptx_file_of(m, o->user));
}

static void describe(sct_ptx_diag *d, const ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind,
                     int lane, uint64_t address) {
  const sct_ptx_module *m = x->launch->module;
  *d = (sct_ptx_diag){.kind = kind,
                      .lane = lane,
                      .address = address,
                      .warp = x->warp != NULL ? x->warp->index : -1};
  memcpy(d->block, x->block, sizeof d->block);
  describe_before(d, x);
  copy_text(d->kernel, sizeof d->kernel, x->launch->kernel->name);
  if (u != NULL) {
    const ptx_origin *o = &x->code->insts[u->inst];
    d->ptx_line = o->line;
    copy_text(d->instruction, sizeof d->instruction, o->text);
    describe_place(d, m, o);
  }
}

/* Ends the block, or its current warp, with a diagnosis; false: another one stands. */
static bool stop(ptx_exec *x, sct_ptx_kind kind) {
  if (x->stop) {
    return false;
  }
  const bool race = ptx_is_race(kind), stands = x->has_soft && !race;
  const bool undefined = kind == SCT_PTX_UNDEFINED_ADDRESS || kind == SCT_PTX_UNDEFINED_BRANCH ||
                         kind == SCT_PTX_UNDEFINED_STORE;
  x->soft = x->has_soft ? !race : undefined && x->launch->races;
  x->stop = true;
  return !stands;
}

bool sct_ptx_fault(ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane, uint64_t address,
                   const char *fmt, ...) {
  va_list args;
  if (!stop(x, kind)) {
    return false;
  }
  describe(&x->diag, x, u, kind, lane, address);
  x->before = (ptx_before){0};
  va_start(args, fmt);
  vsnprintf(x->diag.text, sizeof x->diag.text, fmt, args);
  va_end(args);
  return false;
}

bool sct_ptx_find(ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane, uint64_t address,
                  const char *fmt, ...) {
  sct_ptx_diag d;
  va_list args;
  const bool goes_on = x->launch->findings != NULL;
  if (!goes_on && !stop(x, kind)) {
    return false;
  }
  describe(&d, x, u, kind, lane, address);
  x->before = (ptx_before){0};
  va_start(args, fmt);
  vsnprintf(d.text, sizeof d.text, fmt, args);
  va_end(args);
  if (goes_on) {
    sct_ptx_findings_add(x->launch->findings, &d);
  } else {
    x->diag = d;
  }
  return goes_on;
}

void sct_ptx_warn(const ptx_exec *x, const ptx_uop *u, sct_ptx_kind kind, int lane,
                  uint64_t address, const char *fmt, ...) {
  va_list args;
  sct_ptx_diag *d = sct_ptx_order_warning(x->launch->order);
  if (d->kind != SCT_PTX_CLEAN) {
    return;
  }
  describe(d, x, u, kind, lane, address);
  va_start(args, fmt);
  vsnprintf(d->text, sizeof d->text, fmt, args);
  va_end(args);
}

/* The block's first undefined store has left a byte that is undefined still. */
static bool is_unset(const ptx_exec *x) {
  const ptx_buf *b = x->unset.buf;
  return b != NULL && sct_ptx_buf_undefined(b, x->unset.from, x->unset.to) >= 0;
}

static void keep_unset(ptx_exec *x) {
  if (x->launch->findings != NULL) {
    sct_ptx_findings_add(x->launch->findings, &x->unset.diag);
  } else if (stop(x, SCT_PTX_UNDEFINED_STORE)) {
    x->diag = x->unset.diag;
  }
}

void sct_ptx_fault_unless_set(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address,
                              ptx_buf *buf, int64_t from, int64_t to) {
  if (is_unset(x)) {
    return;
  }
  sct_ptx_diag *d = &x->unset.diag;
  describe(d, x, u, SCT_PTX_UNDEFINED_STORE, lane, address);
  x->before = (ptx_before){0};
  snprintf(d->text, sizeof d->text, "stores a value that was never set at offset %lld of '%s'",
           (long long)from, buf->name);
  x->unset.buf = buf;
  x->unset.from = from;
  x->unset.to = to;
  if (!sct_ptx_buf_track_undefined(buf)) {
    x->unset.buf = NULL;
    keep_unset(x);
  }
}

void sct_ptx_fault_if_unset(ptx_exec *x) {
  if (is_unset(x)) {
    keep_unset(x);
  }
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
  if (d->callee_line > 0) {
    sct_str_printf(out, ", in %s%sline %d of %s", d->callee, d->callee[0] != '\0' ? ", " : "",
                   d->callee_line, d->callee_file);
  }
  for (int k = 0; k < d->n_called; k++) {
    if (d->called_file[k][0] != '\0') {
      sct_str_printf(out, ", called in line %d of %s", d->called[k], d->called_file[k]);
    }
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
