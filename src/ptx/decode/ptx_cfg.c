/* Immediate post-dominators: where the lanes of a warp that parted at a branch meet again.
 *
 * Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), run on the reversed
 * graph from a virtual exit. Blocks from which no exit can be reached (endless loops) get none. */
#include "ptx/decode/ptx_code.h"

typedef struct graph {
  const ptx_code *code;
  int32_t base, n; /* blocks of the body; number n is the virtual exit */
  int32_t *order;  /* [n + 1] post order number in the reversed graph, -1: not reached */
  int32_t *by_order;
  int32_t *idom;
  int32_t *pred_first, *pred; /* predecessors: edges of the reversed graph */
} graph;

int32_t sct_ptx_successor(const ptx_code *c, int32_t b, int32_t k) {
  const ptx_block *blk = &c->blocks[b];
  const bool jumps = blk->term == PTX_TERM_TABLE || blk->term == PTX_TERM_BRANCH;
  const bool ends = blk->term == PTX_TERM_RET || blk->term == PTX_TERM_EXIT;
  const ptx_uop *u = jumps || ends ? &c->uops[blk->end] : NULL;
  const int32_t n_taken = blk->term == PTX_TERM_TABLE ? (int32_t)u->vec : jumps;
  if (k < n_taken) {
    return blk->term == PTX_TERM_TABLE ? c->tables[u->imm + k] : blk->target;
  }
  return k == n_taken && (u == NULL || u->guard != PTX_SLOT_TRUE) ? blk->next : -1;
}

/* Successor number k of block b of the body; blocks that leave the body go to the virtual exit
 * first. */
static int32_t successor(const graph *g, int32_t b, int32_t k) {
  const ptx_block *blk = &g->code->blocks[g->base + b];
  const bool ends = blk->term == PTX_TERM_RET || blk->term == PTX_TERM_EXIT;
  if (ends && k == 0) {
    return g->n;
  }
  const int32_t s = sct_ptx_successor(g->code, g->base + b, k - ends);
  return s >= 0 ? s - g->base : -1;
}

/* pred_first[b] to pred_first[b + 1] are then the predecessors of b. */
static void build_preds(graph *g) {
  int32_t n_edges = 0;
  g->pred_first = sct_alloc(sizeof(int32_t) * (size_t)(g->n + 3));
  for (int32_t b = 0; b < g->n; b++) {
    for (int32_t k = 0, s = 0; (s = successor(g, b, k)) >= 0; k++) {
      g->pred_first[s + 2]++;
      n_edges++;
    }
  }
  for (int32_t b = 0; b <= g->n; b++) {
    g->pred_first[b + 2] += g->pred_first[b + 1];
  }
  g->pred = sct_alloc(sizeof(int32_t) * (size_t)(n_edges + 1));
  for (int32_t b = 0; b < g->n; b++) {
    for (int32_t k = 0, s = 0; (s = successor(g, b, k)) >= 0; k++) {
      g->pred[g->pred_first[s + 1]++] = b;
    }
  }
}

/* Depth-first over predecessors from the virtual exit, with its own stack. */
static void number_blocks(graph *g) {
  SCT_OWNED int32_t *stack = sct_alloc(sizeof(int32_t) * 2 * (size_t)(g->n + 1));
  int32_t depth = 1, count = 0;
  stack[0] = g->n;
  stack[1] = g->pred_first[g->n];
  for (int32_t b = 0; b <= g->n; b++) {
    g->order[b] = -1;
  }
  g->order[g->n] = -2; /* seen */
  while (depth > 0) {
    int32_t *top = &stack[2 * (depth - 1)];
    if (top[1] < g->pred_first[top[0] + 1]) {
      const int32_t p = g->pred[top[1]++];
      if (g->order[p] == -1) {
        g->order[p] = -2;
        stack[2 * depth] = p;
        stack[2 * depth + 1] = g->pred_first[p];
        depth++;
      }
    } else {
      g->order[top[0]] = count;
      g->by_order[count++] = top[0];
      depth--;
    }
  }
}

static int32_t intersect(const graph *g, int32_t a, int32_t b) {
  while (a != b) {
    while (g->order[a] < g->order[b]) {
      a = g->idom[a];
    }
    while (g->order[b] < g->order[a]) {
      b = g->idom[b];
    }
  }
  return a;
}

static void solve(graph *g) {
  bool changed = true;
  for (int32_t b = 0; b <= g->n; b++) {
    g->idom[b] = -1;
  }
  g->idom[g->n] = g->n;
  while (changed) {
    changed = false;
    for (int32_t i = g->order[g->n] - 1; i >= 0; i--) {
      const int32_t b = g->by_order[i];
      int32_t best = -1;
      for (int32_t k = 0, s = 0; (s = successor(g, b, k)) >= 0; k++) {
        if (g->order[s] >= 0 && g->idom[s] >= 0) {
          best = best < 0 ? s : intersect(g, s, best);
        }
      }
      changed |= best != g->idom[b];
      g->idom[b] = best;
    }
  }
}

void sct_ptx_cfg_ipdoms(ptx_code *code, ptx_body *body) {
  graph g = {.code = code, .base = body->entry, .n = body->n_blocks};
  const size_t bytes = sizeof(int32_t) * (size_t)(g.n + 1);
  g.order = sct_alloc(bytes);
  g.by_order = sct_alloc(bytes);
  g.idom = sct_alloc(bytes);
  build_preds(&g);
  number_blocks(&g);
  solve(&g);
  for (int32_t b = 0; b < g.n; b++) {
    const int32_t d = g.idom[b];
    code->blocks[g.base + b].ipdom = d >= 0 && d < g.n ? g.base + d : -1;
  }
  sct_free(g.order);
  sct_free(g.by_order);
  sct_free(g.idom);
  sct_free(g.pred_first);
  sct_free(g.pred);
}
