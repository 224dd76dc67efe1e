/* Random kernels: a seed gives a small program as a tree (this file), its PTX (random_emit.h) and,
 * lane by lane in plain C, its results (random_eval.h).
 *
 * 2 blocks of 64 threads. Every thread fills all its registers from `in`, runs the program and
 * stores all of them to its own part of `out`, so nothing that goes wrong stays hidden. Warp
 * operations and barriers only stand where all lanes are together. No operation is approximate. */
#ifndef TESTS_RANDOM_KERNEL_H
#define TESTS_RANDOM_KERNEL_H

#include "base/base.h"

#include "random_ref_half.h"

#include <assert.h>
#include <stdlib.h>

/* ---- instructions */

typedef struct random_op {
  const char *text, *sig;
  uint64_t (*value)(uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t i);
} random_op;

#define RANDOM_OP(id, text, sig, expr)                                                             \
  static uint64_t random_value_##id(uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t i) {  \
    (void)a, (void)b, (void)c, (void)e, (void)i;                                                   \
    return (uint64_t)(expr);                                                                       \
  }
#include "random_ops.def"
#undef RANDOM_OP

static const random_op random_ops[] = {
#define RANDOM_OP(id, text, sig, expr) {text, sig, random_value_##id},
#include "random_ops.def"
#undef RANDOM_OP
};

/* ---- registers: classes as in random_ops.def, each with its own */

static const struct random_class {
  char letter;
  const char *name; /* in PTX */
  int n, bytes;
} random_classes[] = {{'1', "%h", 6, 2}, {'3', "%r", 10, 4}, {'6', "%w", 8, 8}, {'f', "%f", 8, 4},
                      {'d', "%g", 6, 8}, {'h', "%v", 6, 2},  {'x', "%x", 4, 4}, {'k', "%k", 6, 2},
                      {'y', "%y", 4, 4}, {'p', "%p", 6, 0}};

enum {
  RANDOM_REGS = 6 + 10 + 8 + 8 + 6 + 6 + 4 + 6 + 4 + 6,
  RANDOM_BLOCKS = 2,
  RANDOM_BLOCK = 64,
  RANDOM_THREADS = RANDOM_BLOCKS * RANDOM_BLOCK,
  RANDOM_POOL_BYTES = 4096, /* of `in`, that loads go to; the threads' first values follow */
  RANDOM_OWN_BYTES = 64,    /* of `out`, a thread, that stores go to; the last values follow */
  RANDOM_SLOT_BYTES = 16,   /* of shared memory, a thread */
  RANDOM_IN_BYTES = RANDOM_POOL_BYTES + 8 * RANDOM_REGS * RANDOM_THREADS,
  RANDOM_THREAD_BYTES = RANDOM_OWN_BYTES + 8 * RANDOM_REGS,
  RANDOM_OUT_BYTES = RANDOM_THREAD_BYTES * RANDOM_THREADS,
  RANDOM_MAX_NODES = 400,
};

static inline int random_class_of(char letter) {
  int k = 0;
  letter = letter == 'b' ? '3' : letter;
  while (random_classes[k].letter != letter) {
    k++;
    assert(k < SCT_COUNT(random_classes));
  }
  return k;
}
static inline int random_first_reg(int class) {
  int first = 0;
  for (int k = 0; k < class; k++) {
    first += random_classes[k].n;
  }
  return first;
}
static inline int random_class_of_reg(int reg) {
  int class = 0;
  while (reg >= random_first_reg(class) + random_classes[class].n) {
    class ++;
  }
  return class;
}
static inline uint64_t random_cut(char letter) {
  switch (letter) {
  case 'p':
    return 1;
  case 'b':
    return 31;
  case '1':
  case 'h':
  case 'k':
    return 0xffff;
  case '3':
  case 'x':
  case 'y':
  case 'f':
    return 0xffffffff;
  default:
    return UINT64_MAX;
  }
}

/* ---- memory accesses */

typedef struct random_access {
  const char *text; /* modifiers of ld and st */
  char class;
  int n, bytes; /* of an element */
  bool sign;    /* a load extends it so */
} random_access;

static const random_access random_accesses[] = {
    {"u8", '3', 1, 1, false},     {"s8", '3', 1, 1, true},      {"b8", '3', 1, 1, false},
    {"u16", '1', 1, 2, false},    {"s16", '1', 1, 2, true},     {"b16", '3', 1, 2, false},
    {"b32", '3', 1, 4, false},    {"f32", 'f', 1, 4, false},    {"u32", '6', 1, 4, false},
    {"s32", '6', 1, 4, true},     {"b64", '6', 1, 8, false},    {"f64", 'd', 1, 8, false},
    {"v2.u8", '3', 2, 1, false},  {"v4.u8", '3', 4, 1, false},  {"v2.b16", '1', 2, 2, false},
    {"v4.b16", '1', 4, 2, false}, {"v2.b32", '3', 2, 4, false}, {"v4.f32", 'f', 4, 4, false},
    {"v2.f32", 'f', 2, 4, false}, {"v4.b32", '3', 4, 4, false}, {"v2.b64", '6', 2, 8, false},
    {"v2.f64", 'd', 2, 8, false}, {"b16", 'h', 1, 2, false},    {"v4.b16", 'k', 4, 2, false},
    {"v2.b32", 'x', 2, 4, false}, {"b32", 'y', 1, 4, false},
};

static const char *const random_caches[] = {"", "", ".ca", ".cg", ".cs", ".nc"};

/* ---- programs */

typedef enum random_kind {
  RANDOM_OPERATION,
  RANDOM_IF,
  RANDOM_LOOP,   /* trips differ from lane to lane */
  RANDOM_REPEAT, /* a constant number of times */
  RANDOM_SWITCH,
  RANDOM_SHFL,
  RANDOM_VOTE,
  RANDOM_REDUX,
  RANDOM_EXCHANGE, /* through shared memory, among the block, a warp, or from an asynchronous copy
                    */
  RANDOM_LOAD,
  RANDOM_OWN_STORE,
  RANDOM_OWN_LOAD,
  RANDOM_LOCAL_STORE,
  RANDOM_LOCAL_LOAD,
  RANDOM_N_KINDS
} random_kind;

typedef struct random_node {
  random_kind kind;
  int op;      /* of random_ops; of SHFL, VOTE and REDUX which one */
  int guard;   /* a predicate register, -1: none */
  bool unless; /* the guard is negated */
  int dst[4], src[4];
  bool is_imm[4];
  uint64_t imm[4];
  int access, access2; /* of random_accesses; stores of EXCHANGE, its loads */
  int index;           /* register of the address or the condition */
  int choice;          /* mode, trips, variant */
  int first, second, next, cases[4];
  int depth;
} random_node;

typedef struct random_program {
  uint64_t seed;
  random_node nodes[RANDOM_MAX_NODES];
  int n, root, labels;
  sct_rng rng;
} random_program;

/* What has been generated, for the report. */
typedef struct random_coverage {
  int64_t ops[SCT_COUNT(random_ops)];
  int64_t kinds[RANDOM_N_KINDS];
  int64_t accesses[SCT_COUNT(random_accesses)];
} random_coverage;

static inline int random_below(random_program *p, int n) {
  return (int)sct_rng_below(&p->rng, n);
}

static inline int random_reg(random_program *p, char letter) {
  const int class = random_class_of(letter);
  return random_first_reg(class) + random_below(p, random_classes[class].n);
}

/* Corners and small numbers as often as any others. */
static inline uint64_t random_bits(sct_rng *rng, char letter) {
  static const uint64_t corners[] = {
      0,         1,          2,          UINT64_MAX, 31,
      32,        33,         0x80000000, 0x7fffffff, 0xffff,
      0x8000,    0x7fff,     255,        128,        UINT64_C(1) << 63,
      INT64_MAX, 0xffffffff, 63,         64,         15};
  static const float floats[] = {
      0.0f,      -0.0f,     1.0f,         -1.0f,           0.5f,     1.5f,       2.5f,   -3.5f,
      0x1p-126f, 0x1p-149f, -0x1.8p-130f, 0x1.fffffep127f, INFINITY, -INFINITY,  NAN,    0x1p31f,
      -0x1p31f,  0x1p63f,   65504.0f,     65520.0f,        0x1p-14f, 0x1.8p-25f, 255.5f, 0.1f};
  const uint64_t any = sct_rng_u64(rng);
  const int64_t kind = sct_rng_below(rng, 8);
  if (strchr("hxky", letter) != NULL) { /* no immediates: two in a word are drawn as one */
    const double v = kind < 1 ? (double)floats[any % SCT_COUNT(floats)]
                              : (double)(int64_t)(any % 20001 - 10000) * 0x1p-8;
    const uint64_t low = strchr("hx", letter) ? ref_to_half(v, REF_RN) : ref_to_bf16(v, REF_RN);
    return kind > 5 ? any : low | (any >> 8 & 0xffff) << 16;
  }
  if (letter == 'f' || letter == 'd') {
    const double small = (double)(int64_t)(any % 20001 - 10000) * 0x1p-8;
    const double v = kind < 2 ? (double)floats[any % SCT_COUNT(floats)] : small;
    if (kind > 5) {
      return any;
    }
    return letter == 'd' ? ref_canon64(ref_bits64(kind == 5 ? small / 3 : v))
                         : ref_canon32(ref_bits32((float)(kind == 5 ? small / 3 : v)));
  }
  return kind < 2 ? corners[any % SCT_COUNT(corners)] : kind < 5 ? any >> (any & 63) : any;
}

/* ---- making them */

static inline int random_list(random_program *p, int depth, int level, bool together);

/* Instructions whose guards ptxas keeps: see random_ops.def. */
static inline bool random_may_guard(const char *text) {
  static const char *const guarded[] = {"add.u32",    "add.s32", "sub.u32", "sub.s32", "mul.lo.u32",
                                        "mul.lo.s32", "min.s32", "max.u32", "and.b32", "or.b32",
                                        "xor.b32",    "not.b32", "shl.b32", "shr.u32", "mov.b32"};
  for (int k = 0; k < SCT_COUNT(guarded); k++) {
    if (strcmp(text, guarded[k]) == 0) {
      return true;
    }
  }
  return false;
}

static inline void random_operation(random_program *p, random_node *n) {
  n->op = random_below(p, SCT_COUNT(random_ops));
  const char *sig = random_ops[n->op].sig;
  const bool plain = strchr(random_ops[n->op].text, '$') == NULL;
  n->dst[0] = random_reg(p, sig[0]);
  for (int k = 1; sig[k] != '\0'; k++) {
    const bool constant = sig[k] == 'i';
    n->is_imm[k - 1] =
        constant || (plain && k > 1 && strchr("phxky", sig[k]) == NULL && random_below(p, 5) == 0);
    n->imm[k - 1] = random_bits(&p->rng, sig[k]) & (constant ? 255 : random_cut(sig[k]));
    n->imm[k - 1] &= sig[k] == '1' ? 0x7fff : UINT64_MAX; /* see random_ops.def */
    n->src[k - 1] = constant ? 0 : random_reg(p, sig[k]);
  }
  if (sig[1] != '\0' && sig[1] == sig[2] && n->src[0] == n->src[1] &&
      strchr("fdhxky", sig[1]) != NULL) { /* see random_ops.def on min and max */
    const int class = random_class_of(sig[1]), first = random_first_reg(class);
    n->src[1] = first + (n->src[1] - first + 1) % random_classes[class].n;
  }
  if (plain && random_may_guard(random_ops[n->op].text) && random_below(p, 2) == 0) {
    n->guard = random_reg(p, 'p');
    n->unless = random_below(p, 2) != 0;
  }
}

static inline void random_registers(random_program *p, int *regs, const random_access *a) {
  const int class = random_class_of(a->class), first = random_first_reg(class);
  const int at = random_below(p, random_classes[class].n);
  for (int k = 0; k < a->n; k++) { /* a vector's are different ones */
    regs[k] = first + (at + k) % random_classes[class].n;
  }
}

static inline void random_memory(random_program *p, random_node *n) {
  const bool stores = n->kind == RANDOM_OWN_STORE || n->kind == RANDOM_LOCAL_STORE;
  n->access = random_below(p, SCT_COUNT(random_accesses));
  n->access2 = random_below(p, SCT_COUNT(random_accesses));
  n->index = random_reg(p, '3');
  if (n->kind == RANDOM_EXCHANGE) {
    n->choice = random_below(p, 3);
    random_registers(p, n->src, &random_accesses[n->access]);
    random_registers(p, n->dst, &random_accesses[n->access2]);
    n->imm[0] = sct_rng_u64(&p->rng);
    n->imm[1] = sct_rng_u64(&p->rng);
    return;
  }
  n->choice = random_below(p, SCT_COUNT(random_caches));
  random_registers(p, stores ? n->src : n->dst, &random_accesses[n->access]);
}

static inline void random_warp(random_program *p, random_node *n) {
  n->index = random_reg(p, '3');
  n->dst[0] = random_reg(p, '3');
  n->dst[1] = random_reg(p, 'p');
  n->src[0] = random_reg(p, n->kind == RANDOM_VOTE ? 'p' : '3');
  n->op = random_below(p, n->kind == RANDOM_REDUX ? 9 : 4);
  n->choice = random_below(p, 4); /* width of the segments: 32 >> choice */
  n->is_imm[0] = random_below(p, 2) != 0;
  n->imm[0] = (uint64_t)random_below(p, 32);
}

static inline int random_make(random_program *p, int depth, int level, bool together) {
  static const random_kind inner[] = {RANDOM_IF, RANDOM_IF, RANDOM_LOOP, RANDOM_REPEAT,
                                      RANDOM_SWITCH};
  static const random_kind memory[] = {RANDOM_LOAD,     RANDOM_LOAD,        RANDOM_OWN_STORE,
                                       RANDOM_OWN_LOAD, RANDOM_LOCAL_STORE, RANDOM_LOCAL_LOAD};
  static const random_kind warp[] = {RANDOM_SHFL, RANDOM_VOTE, RANDOM_REDUX, RANDOM_EXCHANGE,
                                     RANDOM_EXCHANGE};
  const int what = random_below(p, 100);
  const int at = p->n++;
  random_node *n = &p->nodes[at];
  *n = (random_node){.guard = -1, .first = -1, .second = -1, .next = -1, .depth = level};
  for (int i = 0; i < 4; i++) {
    n->cases[i] = -1;
  }
  if (what < 10 && depth > 0 && p->n < RANDOM_MAX_NODES / 2) {
    n->kind = inner[random_below(p, SCT_COUNT(inner))];
    n->index = random_reg(p, n->kind == RANDOM_IF ? 'p' : '3');
    n->choice = 1 + random_below(p, 4);
    const bool stay = together && n->kind == RANDOM_REPEAT;
    for (int i = 0; i < 4 && n->kind == RANDOM_SWITCH; i++) {
      const int list = random_list(p, depth - 1, level + 1, false);
      p->nodes[at].cases[i] = list;
    }
    const int first = random_list(p, depth - 1, level + 1, stay);
    const int second = n->kind == RANDOM_IF ? random_list(p, depth - 1, level + 1, false) : -1;
    p->nodes[at].first = first;
    p->nodes[at].second = second;
  } else if (what < 25) {
    n->kind = memory[random_below(p, SCT_COUNT(memory))];
    random_memory(p, n);
  } else if (what < 38 && together) {
    n->kind = warp[random_below(p, SCT_COUNT(warp))];
    if (n->kind == RANDOM_EXCHANGE) {
      random_memory(p, n);
    } else {
      random_warp(p, n);
    }
  } else {
    n->kind = RANDOM_OPERATION;
    random_operation(p, n);
  }
  return at;
}

static inline int random_list(random_program *p, int depth, int level, bool together) {
  int first = -1, last = -1;
  const int length = level == 0 ? 30 + random_below(p, 60) : 1 + random_below(p, 6);
  for (int k = 0; k < length && p->n < RANDOM_MAX_NODES - 40; k++) {
    const int at = random_make(p, depth, level, together);
    if (first < 0) {
      first = at;
    } else {
      p->nodes[last].next = at;
    }
    last = at;
  }
  return first;
}

/* The program of a seed; `limit` cuts it after so many statements of the outermost level, -1: not.
 */
static inline void random_program_make(random_program *p, uint64_t seed, int limit) {
  p->seed = seed;
  p->n = 0;
  p->labels = 0;
  p->rng = sct_rng_new(seed);
  p->root = random_list(p, 3, 0, true);
  int *link = &p->root;
  for (int k = 0; *link >= 0; k++) {
    if (k == limit) {
      *link = -1;
      break;
    }
    link = &p->nodes[*link].next;
  }
}

/* Number of statements of the outermost level. */
static inline int random_program_length(const random_program *p) {
  int n = 0;
  for (int at = p->root; at >= 0; at = p->nodes[at].next) {
    n++;
  }
  return n;
}

static inline void random_cover(random_coverage *c, const random_program *p) {
  for (int i = 0; i < p->n; i++) {
    const random_node *n = &p->nodes[i];
    c->kinds[n->kind]++;
    if (n->kind == RANDOM_OPERATION) {
      c->ops[n->op]++;
    } else if (n->kind >= RANDOM_EXCHANGE) {
      c->accesses[n->access]++;
    }
  }
}

/* Contents of `in`. */
static inline void random_input(uint8_t *in, uint64_t seed) {
  sct_rng rng = sct_rng_new(seed ^ 0x5eed);
  for (int k = 0; k < RANDOM_POOL_BYTES; k += 8) {
    const uint64_t v = random_bits(&rng, "36fdxyhd"[k / 8 & 7]);
    memcpy(in + k, &v, 8);
  }
  for (int t = 0; t < RANDOM_THREADS; t++) {
    for (int r = 0; r < RANDOM_REGS; r++) {
      const uint64_t v = random_bits(&rng, random_classes[random_class_of_reg(r)].letter);
      memcpy(in + RANDOM_POOL_BYTES + 8 * (RANDOM_REGS * t + r), &v, 8);
    }
  }
}

#endif
