/* Loops of a decoded kernel and of the functions it can call: which innermost loop a block stands
 * in, and whether a run showed that lanes leave it together.
 *
 * Natural loops of the back edges that a depth-first walk finds; loops with one header are one. */
#include "ptx/exec/ptx_exec.h"

#include <string.h>

typedef struct loop {
  int32_t header, size;
  uint8_t *in; /* [n_blocks] */
  bool together;
} loop;

typedef struct finder {
  const ptx_code *code;
  int32_t n; /* blocks */
  loop *loops;
  size_t n_loops, cap_loops;
} finder;

/* ---- loops */

static loop *loop_of_header(finder *f, int32_t header) {
  for (size_t i = 0; i < f->n_loops; i++) {
    if (f->loops[i].header == header) {
      return &f->loops[i];
    }
  }
  SCT_GROW(f->loops, f->n_loops, f->cap_loops);
  loop *l = &f->loops[f->n_loops];
  *l = (loop){.header = header, .in = sct_alloc((size_t)f->n)};
  f->n_loops++;
  l->in[header] = 1;
  return l;
}

/* The blocks from which `from` is reached without passing the header. */
static void add_back_edge(finder *f, int32_t from, int32_t header) {
  loop *l = loop_of_header(f, header);
  l->in[from] = 1;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t b = f->n - 1; b >= 0; b--) {
      for (int32_t k = 0, s = 0; !l->in[b] && (s = sct_ptx_successor(f->code, b, k)) >= 0; k++) {
        l->in[b] = s != header && l->in[s];
        changed |= l->in[b] != 0;
      }
    }
  }
}

enum { WHITE, ON_STACK, DONE };

/* Depth first from `entry`, with its own stack of block and next successor. */
static void walk(finder *f, int32_t entry, uint8_t *color, int32_t (*stack)[2]) {
  int32_t depth = 1;
  stack[0][0] = entry;
  stack[0][1] = 0;
  color[entry] = ON_STACK;
  while (depth > 0) {
    int32_t *top = stack[depth - 1];
    const int32_t s = sct_ptx_successor(f->code, top[0], top[1]++);
    if (s < 0) {
      color[top[0]] = DONE;
      depth--;
    } else if (color[s] == WHITE) {
      color[s] = ON_STACK;
      stack[depth][0] = s;
      stack[depth++][1] = 0;
    } else if (color[s] == ON_STACK) {
      add_back_edge(f, top[0], s);
    }
  }
}

/* ---- exits */

/* Whether no warp was split where this block leaves the loop. A guarded ret or exit keeps no such
 * record. */
static bool leaves_together(const finder *f, const loop *l, int32_t b,
                            const sct_ptx_inst_counters *insts) {
  const ptx_block *blk = &f->code->blocks[b];
  bool leaves = blk->term == PTX_TERM_RET || blk->term == PTX_TERM_EXIT;
  const bool known = !leaves;
  for (int32_t k = 0, s = 0; (s = sct_ptx_successor(f->code, b, k)) >= 0; k++) {
    leaves |= !l->in[s];
  }
  return !leaves || (known && insts != NULL && insts[f->code->uops[blk->end].inst].divergent == 0);
}

static void evaluate(finder *f, loop *l, const sct_ptx_inst_counters *insts) {
  l->together = insts != NULL;
  for (int32_t b = 0; b < f->n; b++) {
    l->size += l->in[b];
    l->together = l->together && (!l->in[b] || leaves_together(f, l, b, insts));
  }
  for (size_t i = 0; i < f->code->n_bodies; i++) { /* a way into the loop beside its header */
    const int32_t entry = f->code->bodies[i].entry;
    l->together = l->together && (!l->in[entry] || entry == l->header);
  }
}

/* A loop that is copied with a loop around it is copied like that one. */
static bool all_around(const finder *f, const loop *inner) {
  bool together = true;
  for (size_t i = 0; i < f->n_loops; i++) {
    together &= !f->loops[i].in[inner->header] || f->loops[i].together;
  }
  return together;
}

static void fill(ptx_loops *out, finder *f, const sct_ptx_inst_counters *insts) {
  out->of = sct_alloc(sizeof(*out->of) * (size_t)(f->n + 1));
  out->together = sct_alloc(f->n_loops + 1);
  out->n = (int32_t)f->n_loops;
  for (size_t i = 0; i < f->n_loops; i++) {
    evaluate(f, &f->loops[i], insts);
  }
  for (size_t i = 0; i < f->n_loops; i++) {
    out->together[i] = all_around(f, &f->loops[i]);
  }
  for (int32_t b = 0; b < f->n; b++) {
    out->of[b] = -1;
    for (size_t i = 0; i < f->n_loops; i++) {
      const bool inner = out->of[b] < 0 || f->loops[i].size < f->loops[out->of[b]].size;
      out->of[b] = f->loops[i].in[b] && inner ? (int32_t)i : out->of[b];
    }
  }
}

void sct_ptx_loops_find(ptx_loops *out, const ptx_code *code, const sct_ptx_inst_counters *insts) {
  finder f = {.code = code, .n = (int32_t)code->n_blocks};
  uint8_t *color = sct_alloc(code->n_blocks + 1);
  int32_t(*stack)[2] = sct_alloc(sizeof(*stack) * (code->n_blocks + 1));
  *out = (ptx_loops){0};
  for (size_t i = 0; i < code->n_bodies; i++) {
    walk(&f, code->bodies[i].entry, color, stack);
  }
  fill(out, &f, insts);
  for (size_t i = 0; i < f.n_loops; i++) {
    sct_free(f.loops[i].in);
  }
  sct_free(f.loops);
  sct_free(color);
  sct_free(stack);
}

void sct_ptx_loops_free(ptx_loops *loops) {
  sct_free(loops->of);
  sct_free(loops->together);
  *loops = (ptx_loops){0};
}
