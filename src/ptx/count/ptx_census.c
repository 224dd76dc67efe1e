/* The memory instructions of a decoded kernel, counted statically: what sct_sass_memops() finds in
 * the machine code if ptxas kept them. */
#include "ptx/exec/ptx_exec.h"

#include <string.h>

static sct_memop_space space_of(ptx_space space) {
  return space == PTX_SPACE_GLOBAL   ? SCT_MEMOP_GLOBAL
         : space == PTX_SPACE_SHARED ? SCT_MEMOP_SHARED
         : space == PTX_SPACE_LOCAL  ? SCT_MEMOP_LOCAL
                                     : SCT_MEMOP_GENERIC;
}

static void add(sct_memops *out, int loop, sct_memop_space space, sct_memop_kind op, int bytes) {
  const int index = sct_memop_width_index(bytes);
  if (index >= 0) {
    out->n[space][op][index]++;
    if (loop >= 0 && loop < SCT_MEMOP_MAX_LOOPS) {
      out->loops[loop].n[space][op][index]++;
    }
  }
}

/* Modifiers of "atom.global.add.v2.f32 %r, [..]" by text: these opcodes name all they touch. */
typedef struct text_mods {
  ptx_space space;
  int bytes;
} text_mods;

static text_mods read_mods(ptx_span text) {
  text_mods m = {PTX_SPACE_NONE, 0};
  int n = 1;
  for (int at = 0; at < text.len && text.p[at] != ' ' && text.p[at] != '\t';) {
    int end = at;
    while (end < text.len && text.p[end] != '.' && text.p[end] != ' ' && text.p[end] != '\t') {
      end++;
    }
    const ptx_span word = {text.p + at, end - at};
    const ptx_type type = sct_ptx_type_find(word.p, word.len);
    m.bytes = type != PTX_T_NONE ? sct_ptx_type_bytes(type) : m.bytes;
    m.space = sct_ptx_span_is(word, "global")                     ? PTX_SPACE_GLOBAL
              : word.len >= 6 && memcmp(word.p, "shared", 6) == 0 ? PTX_SPACE_SHARED
                                                                  : m.space;
    n = sct_ptx_span_is(word, "v2")   ? 2
        : sct_ptx_span_is(word, "v4") ? 4
        : sct_ptx_span_is(word, "v8") ? 8
                                      : n;
    at = end + (end < text.len && text.p[end] == '.');
  }
  m.bytes *= n;
  return m;
}

static bool starts(ptx_span text, const char *prefix) {
  const int n = (int)strlen(prefix);
  return text.len >= n && memcmp(text.p, prefix, (size_t)n) == 0;
}

static bool contains(ptx_span text, const char *part) {
  const int n = (int)strlen(part);
  for (int i = 0; i + n <= text.len; i++) {
    if (memcmp(text.p + i, part, (size_t)n) == 0) {
      return true;
    }
  }
  return false;
}

/* Instructions that are known by what they are called, not by their micro-operations. */
static void add_by_text(sct_memops *out, int loop, const ptx_origin *o) {
  if (starts(o->text, "atom") || starts(o->text, "red.")) {
    const text_mods m = read_mods(o->text);
    add(out, loop, space_of(m.space), SCT_MEMOP_ATOMIC, m.bytes);
  } else if ((starts(o->text, "cp.async.bulk.") || starts(o->text, "cp.reduce.async.bulk.")) &&
             contains(o->text, "[") && !contains(o->text, ".prefetch.")) {
    out->bulk++;
  }
}

static void add_load(sct_memops *out, int loop, const ptx_uop *u) {
  ptx_live_part parts[PTX_LIVE_PARTS];
  const int n = u->space != PTX_SPACE_CONST ? sct_ptx_live_parts(u, parts) : 0;
  for (int k = 0; k < n; k++) {
    add(out, loop, space_of((ptx_space)u->space), SCT_MEMOP_LOAD, parts[k].bytes);
  }
}

static void add_uop(sct_memops *out, int loop, const ptx_code *c, const ptx_uop *u) {
  const bool first = u == c->uops || u[-1].inst != u->inst;
  if (sct_ptx_is_load(u)) {
    out->waiting +=
        loop >= 0 && first && (u->op & PTX_MEM_STRONG) != 0 && u->space != PTX_SPACE_SHARED;
    add_load(out, loop, u);
  } else if (u->fn == sct_ptx_op_st_global || u->fn == sct_ptx_op_st_shared ||
             u->fn == sct_ptx_op_st_local || u->fn == sct_ptx_op_st_generic) {
    add(out, loop, space_of((ptx_space)u->space), SCT_MEMOP_STORE, u->bytes * u->n);
  } else if (u->fn == sct_ptx_op_cp_async) {
    add(out, loop, SCT_MEMOP_GLOBAL, SCT_MEMOP_ASYNC, u->bytes);
  } else if (first) {
    add_by_text(out, loop, &c->insts[u->inst]);
  }
}

/* Place of `loop` among the loops of the census that hold memory instructions; `place` remembers.
 */
static void add_block(sct_memops *out, const ptx_code *c, const ptx_block *b, int32_t loop,
                      const ptx_loops *loops, int32_t *place) {
  const sct_memops before = *out;
  const int index = loop < 0 ? -1 : place[loop] > 0 ? place[loop] - 1 : out->n_loops;
  for (int32_t i = b->first; i <= b->end && i < (int32_t)c->n_uops; i++) {
    const bool inside = i < b->end || b->term != PTX_TERM_FALL;
    if (inside) {
      add_uop(out, index, c, &c->uops[i]);
    }
  }
  if (index == out->n_loops && index < SCT_MEMOP_MAX_LOOPS &&
      memcmp(before.n, out->n, sizeof before.n) != 0) {
    place[loop] = ++out->n_loops;
    out->loops[index].uniform = loops->together[loop];
  }
}

static void census(sct_memops *out, const ptx_code *c, const sct_ptx_inst_counters *insts) {
  ptx_loops loops;
  sct_memops found = {0};
  sct_ptx_loops_find(&loops, c, insts);
  SCT_OWNED int32_t *place = sct_alloc(sizeof(*place) * (size_t)(loops.n + 1));
  for (size_t b = 0; b < c->n_blocks; b++) {
    add_block(&found, c, &c->blocks[b], loops.of[b], &loops, place);
  }
  *out = found;
  sct_ptx_loops_free(&loops);
}

sct_status sct_ptx_memops_run(sct_memops *out, const sct_ptx_module *m, const char *kernel,
                              const sct_ptx_result *run, sct_error *err) {
  const ptx_func *f = sct_ptx_func_find(m, kernel);
  if (f == NULL) {
    return sct_fail(err, SCT_EUSAGE, "%s: no kernel '%s'", m->name, kernel);
  }
  if (f->code == NULL) {
    return sct_fail(err, SCT_EDATA, "%s", f->error);
  }
  if (f->code->uses_system) {
    return sct_fail(err, SCT_EDATA, "what printf, malloc and free do themselves is not counted");
  }
  const bool fits = run != NULL && run->insts != NULL && run->n_insts == (int)f->code->n_insts;
  census(out, f->code, fits ? run->insts : NULL);
  return SCT_OK;
}

sct_status sct_ptx_memops(sct_memops *out, const sct_ptx_module *m, const char *kernel,
                          sct_error *err) {
  return sct_ptx_memops_run(out, m, kernel, NULL, err);
}
