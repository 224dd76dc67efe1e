/* A random program in plain C, lane by lane: no masks of warps, no PTX. */
#ifndef TESTS_RANDOM_EVAL_H
#define TESTS_RANDOM_EVAL_H

#include "random_emit.h"

typedef struct random_thread {
  uint64_t reg[RANDOM_REGS];
  uint8_t own[RANDOM_OWN_BYTES], local[RANDOM_OWN_BYTES];
} random_thread;

typedef struct random_block {
  const random_program *p;
  const uint8_t *in;
  random_thread thread[RANDOM_BLOCK];
  uint8_t shared[RANDOM_BLOCK][RANDOM_SLOT_BYTES];
} random_block;

#define RANDOM_LANES(t, mask)                                                                      \
  for (int t = 0; t < RANDOM_BLOCK; t++)                                                           \
    if ((mask) >> t & 1)

static inline void random_load(random_thread *t, const random_access *a, const int *regs,
                               const uint8_t *from) {
  for (int k = 0; k < a->n; k++) {
    uint64_t v = 0;
    memcpy(&v, from + k * a->bytes, (size_t)a->bytes);
    if (a->sign && (v >> (8 * a->bytes - 1) & 1) != 0) {
      v |= UINT64_MAX << 8 * a->bytes;
    }
    t->reg[regs[k]] = v & random_cut(a->class);
  }
}
static inline void random_store(const random_thread *t, const random_access *a, const int *regs,
                                uint8_t *to) {
  for (int k = 0; k < a->n; k++) {
    memcpy(to + k * a->bytes, &t->reg[regs[k]], (size_t)a->bytes);
  }
}

static inline void random_eval_operation(random_block *b, const random_node *n, uint64_t mask) {
  const random_op *op = &random_ops[n->op];
  RANDOM_LANES(t, mask) {
    uint64_t v[5] = {0}, constant = 0, *reg = b->thread[t].reg;
    if (n->guard >= 0 && (reg[n->guard] != 0) == n->unless) {
      continue;
    }
    for (int k = 0; op->sig[k + 1] != '\0'; k++) {
      v[k] = n->is_imm[k] ? n->imm[k] : reg[n->src[k]];
      constant = op->sig[k + 1] == 'i' ? v[k] : constant;
    }
    reg[n->dst[0]] = op->value(v[0], v[1], v[2], v[3], constant) & random_cut(op->sig[0]);
  }
}

static inline void random_eval_memory(random_block *b, const random_node *n, uint64_t mask) {
  const random_access *a = &random_accesses[n->access];
  const uint64_t unit = (uint64_t)(a->n * a->bytes);
  RANDOM_LANES(t, mask) {
    random_thread *x = &b->thread[t];
    const uint64_t at = x->reg[n->index];
    const uint64_t own = at % RANDOM_OWN_BYTES / unit * unit;
    switch (n->kind) {
    case RANDOM_LOAD:
      random_load(x, a, n->dst, b->in + at % RANDOM_POOL_BYTES / unit * unit);
      break;
    case RANDOM_OWN_LOAD:
      random_load(x, a, n->dst, x->own + own);
      break;
    case RANDOM_OWN_STORE:
      random_store(x, a, n->src, x->own + own);
      break;
    case RANDOM_LOCAL_LOAD:
      random_load(x, a, n->dst, x->local + own);
      break;
    default:
      random_store(x, a, n->src, x->local + own);
      break;
    }
  }
}

static inline void random_eval_exchange(random_block *b, const random_node *n) {
  const random_access *to = &random_accesses[n->access], *from = &random_accesses[n->access2];
  for (int t = 0; t < RANDOM_BLOCK; t++) {
    const uint64_t at = b->thread[t].reg[n->index] % RANDOM_POOL_BYTES / 16 * 16;
    if (n->choice == 2) {
      memcpy(b->shared[t], b->in + at, 16);
    } else {
      random_store(&b->thread[t], to, n->src, b->shared[t] + random_slot_offset(to, n->imm[0]));
    }
  }
  for (int t = 0; t < RANDOM_BLOCK; t++) {
    const uint64_t v = b->thread[t].reg[n->index];
    const uint64_t who = n->choice == 1 ? (uint64_t)(t / 32 * 32) + v % 32 : v % RANDOM_BLOCK;
    random_load(&b->thread[t], from, n->dst, b->shared[who] + random_slot_offset(from, n->imm[1]));
  }
}

/* Lane `l` reads lane *from of its segment; false: it would leave the segment, and keeps its own.
 */
static inline bool random_shfl_source(const random_node *n, int l, uint64_t by, int *from) {
  const int width = 32 >> n->choice, first = l / width * width, k = (int)(by & 31);
  *from = n->op == 0 ? first + (k & (width - 1)) : n->op == 1 ? l - k : n->op == 2 ? l + k : l ^ k;
  const bool inside = n->op == 1 ? *from >= first : *from < first + width;
  *from = inside ? *from : l;
  return inside;
}

static inline uint64_t random_redux(int op, uint64_t a, uint64_t b) {
  const int32_t x = (int32_t)a, y = (int32_t)b;
  const uint64_t all[] = {a + b,         a + b, a < b ? a : b, x < y ? a : b, a > b ? a : b,
                          x > y ? a : b, a & b, a | b,         a ^ b};
  return all[op] & 0xffffffffu;
}

static inline void random_eval_warp(random_block *b, const random_node *n, int warp) {
  random_thread *w = &b->thread[32 * warp];
  uint64_t v[32], by[32], sum = 0, votes = 0;
  for (int l = 0; l < 32; l++) {
    v[l] = w[l].reg[n->src[0]];
    by[l] = n->is_imm[0] ? n->imm[0] : w[l].reg[n->index];
    sum = l == 0 ? v[0] : random_redux(n->kind == RANDOM_REDUX ? n->op : 0, sum, v[l]);
    votes |= (v[l] & 1) << l;
  }
  for (int l = 0; l < 32; l++) {
    if (n->kind == RANDOM_REDUX) {
      w[l].reg[n->dst[0]] = sum;
    } else if (n->kind == RANDOM_VOTE && n->op == 3) {
      w[l].reg[n->dst[0]] = votes;
    } else if (n->kind == RANDOM_VOTE) {
      const bool all = votes == 0xffffffffu, any = votes != 0;
      w[l].reg[n->dst[1]] = n->op == 0 ? all : n->op == 1 ? any : all || !any;
    } else {
      int from = 0;
      const bool inside = random_shfl_source(n, l, by[l], &from);
      w[l].reg[n->dst[0]] = v[from];
      w[l].reg[n->dst[1]] = inside;
    }
  }
}

static inline void random_eval_list(random_block *b, int at, uint64_t mask);

static inline void random_eval_flow(random_block *b, const random_node *n, uint64_t mask) {
  uint64_t of[4] = {0};
  if (n->kind == RANDOM_REPEAT) {
    for (int k = 0; k < n->choice; k++) {
      random_eval_list(b, n->first, mask);
    }
    return;
  }
  RANDOM_LANES(t, mask) {
    of[b->thread[t].reg[n->index] & 3] |= (uint64_t)1 << t;
  }
  if (n->kind == RANDOM_IF) {
    random_eval_list(b, n->first, of[1]);
    random_eval_list(b, n->second, of[0]);
  } else if (n->kind == RANDOM_SWITCH) {
    for (int k = 0; k < 4; k++) {
      random_eval_list(b, n->cases[k], of[k]);
    }
  } else {
    random_eval_list(b, n->first, of[1] | of[2] | of[3]);
    random_eval_list(b, n->first, of[2] | of[3]);
    random_eval_list(b, n->first, of[3]);
  }
}

static inline void random_eval_list(random_block *b, int at, uint64_t mask) {
  for (; at >= 0 && mask != 0; at = b->p->nodes[at].next) {
    const random_node *n = &b->p->nodes[at];
    if (n->kind == RANDOM_OPERATION) {
      random_eval_operation(b, n, mask);
    } else if (n->kind >= RANDOM_LOAD) {
      random_eval_memory(b, n, mask);
    } else if (n->kind == RANDOM_EXCHANGE) {
      random_eval_exchange(b, n);
    } else if (n->kind >= RANDOM_SHFL) {
      random_eval_warp(b, n, 0);
      random_eval_warp(b, n, 1);
    } else {
      random_eval_flow(b, n, mask);
    }
  }
}

/* out[RANDOM_OUT_BYTES] as the kernel leaves it, from zeros. */
static inline void random_eval(const random_program *p, const uint8_t *in, uint8_t *out) {
  random_block *b = calloc(1, sizeof *b);
  for (int k = 0; b != NULL && k < RANDOM_BLOCKS; k++) {
    memset(b, 0, sizeof *b);
    b->p = p;
    b->in = in;
    for (int t = 0; t < RANDOM_BLOCK; t++) {
      for (int r = 0; r < RANDOM_REGS; r++) {
        const int at = RANDOM_POOL_BYTES + 8 * (RANDOM_REGS * (RANDOM_BLOCK * k + t) + r);
        memcpy(&b->thread[t].reg[r], in + at, 8);
        b->thread[t].reg[r] &= random_cut(random_classes[random_class_of_reg(r)].letter);
      }
    }
    random_eval_list(b, p->root, UINT64_MAX);
    for (int t = 0; t < RANDOM_BLOCK; t++) {
      uint8_t *to = out + RANDOM_THREAD_BYTES * (RANDOM_BLOCK * k + t);
      memset(to, 0, RANDOM_THREAD_BYTES);
      memcpy(to, b->thread[t].own, RANDOM_OWN_BYTES);
      memcpy(to + RANDOM_OWN_BYTES, b->thread[t].reg, sizeof b->thread[t].reg);
    }
  }
  free(b);
}

#endif
