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

ptx_loc sct_ptx_user_place(const sct_ptx_module *m, ptx_loc loc) {
  ptx_loc at = loc;
  while (at.call > 0 && sct_ptx_is_library(m, at)) {
    at = m->calls[at.call - 1].loc;
  }
  return sct_ptx_is_library(m, at) ? loc : at;
}

const char *sct_ptx_function_of(const sct_ptx_module *m, ptx_loc loc) {
  return loc.function > 0 ? m->functions[loc.function - 1].name : "";
}

const char *sct_ptx_file_of(const sct_ptx_module *m, ptx_loc loc) {
  const bool known = loc.file > 0 && loc.file < m->n_files && m->files[loc.file] != NULL;
  return known ? m->files[loc.file] : "";
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

typedef struct guards {
  const sct_ptx_module *m;
  const ptx_code *code;
  const uint8_t *seen;
  int32_t *def; /* [n_slots] of a body: the only micro-operation that sets it; -1: none, several */
  int own_file; /* of the first instruction that has one */
  int n;
  sct_ptx_guard *all; /* [n_insts] */
} guards;

static bool one_way(const guards *g, const ptx_uop *u) {
  return g->seen[u->inst] == SCT_PTX_WAS_TRUE || g->seen[u->inst] == SCT_PTX_WAS_FALSE;
}

static bool compares(const ptx_uop *u) {
  return u->fn == sct_ptx_op_setp;
}

#define TRIG_LARGE 0x47ce4780u /* 105,615: from there on sinf() and its like reduce by a table */

static const ptx_const *constant(const ptx_body *body, uint32_t slot) {
  for (size_t i = 0; i < body->n_consts; i++) {
    if (body->consts[i].slot == slot) {
      return &body->consts[i];
    }
  }
  return NULL;
}

/* Shortcuts that compilers and the device library put around their own slow paths: a division of 64
 * bits asks whether both operands fit 32, sine whether its argument is small. */
static bool is_shortcut(const guards *g, const ptx_body *body, const ptx_uop *u) {
  const ptx_const *c = constant(body, u->b);
  if (!compares(u) || (c == NULL && u->b != PTX_SLOT_ZERO)) {
    return false;
  }
  if (u->from == PTX_T_F32) {
    return c != NULL && c->bits == TRIG_LARGE;
  }
  const ptx_uop *mask = g->def[u->a] >= 0 ? &g->code->uops[g->def[u->a]] : NULL;
  const bool ands = mask != NULL && mask->fn == sct_ptx_op_and64 && (c == NULL || c->bits == 0);
  const ptx_const *by = ands ? constant(body, mask->b) : NULL;
  return by != NULL && by->bits == 0xffffffff00000000u;
}

/* Does the predicate come of a comparison that is listed itself? */
static bool follows(const guards *g, uint32_t slot, int depth) {
  const ptx_uop *u = g->def[slot] >= 0 ? &g->code->uops[g->def[slot]] : NULL;
  if (u == NULL || depth == 0 || compares(u)) {
    return u != NULL && compares(u) && one_way(g, u);
  }
  const bool combines = u->fn == sct_ptx_op_and_pred || u->fn == sct_ptx_op_or_pred ||
                        u->fn == sct_ptx_op_xor_pred || u->fn == sct_ptx_op_not_pred;
  return combines && (follows(g, u->a, depth - 1) || follows(g, u->b, depth - 1));
}

/* x >= y is never true where x < y is never false. */
static bool is_opposite(const ptx_uop *u) {
  static const char *const opposites[] = {
#define PTX_CMP(id, name, expr, unordered, ints, floats) name,
#include "ptx/decode/ptx_cmps.def"
#undef PTX_CMP
  };
  const char *name = compares(u) ? opposites[u->op] : "";
  return strcmp(name, "ne") == 0 || strcmp(name, "ge") == 0 || strcmp(name, "gt") == 0 ||
         strcmp(name, "hs") == 0 || strcmp(name, "hi") == 0;
}

static void add_guard(guards *g, const ptx_uop *u) {
  const ptx_origin *o = &g->code->insts[u->inst];
  const bool known = o->loc.file > 0 && o->loc.file < g->m->n_files;
  const ptx_span text = whole_text(g->m, o->text);
  sct_ptx_guard *new = &g->all[g->n];
  *new = (sct_ptx_guard){.ptx_line = o->line,
                         .file = known && g->m->files[o->loc.file] ? g->m->files[o->loc.file] : "",
                         .line = o->loc.line,
                         .text = text.p,
                         .text_len = text.len,
                         .own = o->loc.file == g->own_file,
                         .was_true = g->seen[u->inst] == SCT_PTX_WAS_TRUE,
                         .opposite = is_opposite(u)};
  for (int k = 0; k<g->n &&new->line> 0; k++) {
    const sct_ptx_guard *old = &g->all[k];
    if (old->line == new->line && strcmp(old->file, new->file) == 0 &&
        (old->was_true != old->opposite) == (new->was_true != new->opposite)) {
      return;
    }
  }
  g->n++;
}

static void find_defs(guards *g, const ptx_body *body, int32_t first, int32_t end) {
  for (uint32_t s = 0; s < body->n_slots; s++) {
    g->def[s] = -1;
  }
  SCT_OWNED uint8_t *n = sct_alloc(body->n_slots + 1);
  for (int32_t i = first; i < end; i++) {
    const ptx_uop *u = &g->code->uops[i];
    const uint32_t to[] = {u->d, compares(u) ? u->vec : 0};
    for (int k = 0; k < 2; k++) {
      if (to[k] >= PTX_SLOT_REGS && to[k] < body->n_slots) {
        n[to[k]] = (uint8_t)(n[to[k]] < 2 ? n[to[k]] + 1 : 2);
        g->def[to[k]] = n[to[k]] == 1 ? i : -1;
      }
    }
  }
}

static void look_at_body(guards *g, const ptx_body *body) {
  const ptx_block *b = &g->code->blocks[body->entry], *last = b + body->n_blocks - 1;
  const int32_t end = last->end + (last->term != PTX_TERM_FALL);
  g->def = sct_alloc(sizeof(*g->def) * (body->n_slots + 1));
  find_defs(g, body, b->first, end);
  for (int32_t i = b->first; i < end; i++) {
    const ptx_uop *u = &g->code->uops[i];
    const bool last_of = i + 1 == end || u[1].inst != u->inst;
    const bool selects = u->fn == sct_ptx_op_sel32 || u->fn == sct_ptx_op_sel64;
    const bool skipped =
        sct_ptx_is_library(g->m, g->code->insts[u->inst].loc) || is_shortcut(g, body, u);
    const bool implied =
        !compares(u) && (follows(g, u->guard, 8) || (selects && follows(g, u->c, 8)));
    if (last_of && one_way(g, u) && !implied && !skipped) {
      add_guard(g, u);
    }
  }
  sct_free(g->def);
}

int sct_ptx_uncovered(sct_ptx_guard *out, int most, const sct_ptx_module *m, const char *kernel,
                      const uint8_t *seen) {
  const ptx_func *f = sct_ptx_func_find(m, kernel);
  if (f == NULL || f->code == NULL) {
    return -1;
  }
  guards g = {.m = m, .code = f->code, .seen = seen};
  g.all = sct_alloc(sizeof(*g.all) * (f->code->n_insts + 1));
  for (size_t i = 0; i < f->code->n_insts && g.own_file == 0; i++) {
    g.own_file = f->code->insts[i].loc.file;
  }
  for (size_t i = 0; i < f->code->n_bodies; i++) {
    const ptx_span name = f->code->bodies[i].func->name;
    if (name.len < 11 || memcmp(name.p, "__internal_", 11) != 0) { /* of the device library */
      look_at_body(&g, &f->code->bodies[i]);
    }
  }
  for (int k = 0; k < g.n && k < most; k++) {
    out[k] = g.all[k];
  }
  sct_free(g.all);
  return g.n;
}
