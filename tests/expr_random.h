/* Random expressions as trees of the test's own, evaluated by the test's own arithmetic: what the
 * pool folds is compared with these. */
#ifndef SCT_TESTS_EXPR_RANDOM_H
#define SCT_TESTS_EXPR_RANDOM_H

#include "expr_test.h"

#include <inttypes.h>
#include <stdio.h>

/* A variable with the range and multiple it is declared with, and the values the test tries. */
typedef struct domain {
  const char *name;
  int64_t lo, hi, multiple; /* as declared */
  int64_t from, step;
  int count;
} domain;

#define UNBOUNDED_LO SCT_EXPR_MIN_VALUE
#define UNBOUNDED_HI SCT_EXPR_MAX_VALUE
static const domain domains[] = {
    {"a", 0, 3, 1, 0, 1, 4},
    {"b", 0, 12, 4, 0, 4, 4},
    {"c", 0, 37, 1, 0, 1, 38},
    {"d", -6, 6, 1, -6, 1, 13},
    {"e", 0, 1, 1, 0, 1, 2},
    {"n", 0, UNBOUNDED_HI, 1, 0, 1, 41},
    {"m", 0, UNBOUNDED_HI, 4, 0, 4, 11},
    {"z", UNBOUNDED_LO, UNBOUNDED_HI, 1, -20, 1, 41},
};
#define N_DOMAINS 8

typedef enum tree_op {
  TREE_CONST,
  TREE_LEAF,
  TREE_SUM, /* n-ary */
  TREE_SUB,
  TREE_MUL, /* n-ary */
  TREE_DIV,
  TREE_MOD,
  TREE_MIN, /* n-ary, as the next two */
  TREE_MAX,
  TREE_XOR,
  TREE_LT,
  TREE_LE,
  TREE_EQ,
  TREE_NE,
  TREE_AND,
  TREE_OR,
  TREE_NOT,
} tree_op;

typedef struct tree {
  tree_op op;
  int64_t value; /* of a constant; the index of a leaf */
  int n;
  int kid[3];
} tree;

#define MAX_TREES 200
static tree trees[MAX_TREES];
static int n_trees;
static sct_expr leaves[N_DOMAINS];
static int64_t leaf_values[N_DOMAINS];

static inline int open_leaves(void **state) {
  (void)state;
  open_pool();
  for (int k = 0; k < N_DOMAINS; k++) {
    const domain *d = &domains[k];
    leaves[k] = sct_expr_var(pool, d->name, d->lo, d->hi, d->multiple);
    assert_int_not_equal(leaves[k], SCT_EXPR_NONE);
  }
  return 0;
}

/* The seed of this run: SCT_TEST_SEED or `fallback`; printed, so that a failure can be repeated. */
static inline sct_rng open_rng(uint64_t fallback) {
  const char *text = getenv("SCT_TEST_SEED");
  const uint64_t seed = text != NULL ? strtoull(text, NULL, 0) : fallback;
  printf("seed %" PRIu64 "\n", seed);
  return sct_rng_new(seed);
}

/* ---- making trees */

static inline int new_tree(tree_op op, int64_t value, int n) {
  assert_true(n_trees < MAX_TREES);
  trees[n_trees] = (tree){op, value, n, {0, 0, 0}};
  return n_trees++;
}

static inline int random_const(sct_rng *rng) {
  static const int64_t values[] = {0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 12, 16, 31, 32, 33, -1, -4};
  return new_tree(TREE_CONST, values[sct_rng_below(rng, SCT_COUNT(values))], 0);
}

static inline int random_divisor(sct_rng *rng) {
  static const int64_t values[] = {1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 32, 48, -1, -3, -8};
  return new_tree(TREE_CONST, values[sct_rng_below(rng, SCT_COUNT(values))], 0);
}

static inline int random_tree(sct_rng *rng, int depth) {
  static const tree_op often[] = {TREE_SUM, TREE_SUM, TREE_SUM, TREE_MUL, TREE_MUL,
                                  TREE_DIV, TREE_DIV, TREE_MOD, TREE_MOD, TREE_SUB};
  if (depth == 0 || sct_rng_below(rng, 8) == 0) {
    return sct_rng_below(rng, 10) < 7 ? new_tree(TREE_LEAF, sct_rng_below(rng, N_DOMAINS), 0)
                                      : random_const(rng);
  }
  tree_op op = often[sct_rng_below(rng, SCT_COUNT(often))];
  if (sct_rng_below(rng, 5) == 0) {
    op = (tree_op)(TREE_MIN + sct_rng_below(rng, TREE_NOT - TREE_MIN + 1));
  }
  const bool n_ary = op == TREE_SUM || op == TREE_MUL || (op >= TREE_MIN && op <= TREE_XOR);
  const int n = op == TREE_NOT ? 1 : n_ary ? 2 + (int)sct_rng_below(rng, 2) : 2;
  const int made = new_tree(op, 0, n);
  for (int k = 0; k < n; k++) {
    const bool divides = (op == TREE_DIV || op == TREE_MOD) && k == 1;
    const bool scales = op == TREE_MUL && k == 0 && sct_rng_below(rng, 4) != 0;
    const bool plain = divides && sct_rng_below(rng, 5) != 0;
    const int kid = plain    ? random_divisor(rng)
                    : scales ? random_const(rng)
                             : random_tree(rng, depth - 1);
    trees[made].kid[k] = kid;
  }
  return made;
}

/* ---- the test's own arithmetic. false: a division by zero or an overflow on the way. */

static inline bool direct(int t, int64_t *value);

static inline bool direct_step(tree_op op, int64_t x, int64_t y, int64_t *value) {
  switch (op) {
  case TREE_SUM:
    return !__builtin_add_overflow(x, y, value);
  case TREE_SUB:
    return !__builtin_sub_overflow(x, y, value);
  case TREE_MUL:
    return !__builtin_mul_overflow(x, y, value);
  case TREE_DIV:
  case TREE_MOD: {
    if (y == 0 || x > INT64_MAX / 4 || x < INT64_MIN / 4) {
      return false;
    }
    int64_t q = x / y;
    while (y > 0 ? q * y > x : q * y < x) { /* down to the floor */
      q--;
    }
    *value = op == TREE_DIV ? q : x - q * y;
    return true;
  }
  case TREE_MIN:
    *value = x < y ? x : y;
    return true;
  case TREE_MAX:
    *value = x < y ? y : x;
    return true;
  case TREE_XOR:
    *value = x ^ y;
    return true;
  case TREE_LT:
    *value = x < y;
    return true;
  case TREE_LE:
    *value = x <= y;
    return true;
  case TREE_EQ:
    *value = x == y;
    return true;
  default:
    *value = x != y;
    return true;
  }
}

static inline bool direct(int at, int64_t *value) {
  const tree *t = &trees[at];
  int64_t y = 0;
  if (t->op == TREE_CONST || t->op == TREE_LEAF) {
    *value = t->op == TREE_CONST ? t->value : leaf_values[t->value];
    return true;
  }
  if (!direct(t->kid[0], value)) {
    return false;
  }
  if (t->op == TREE_NOT ||
      ((*value != 0) == (t->op == TREE_OR) && (t->op == TREE_AND || t->op == TREE_OR))) {
    *value = t->op == TREE_OR || (t->op == TREE_NOT && *value == 0);
    return true;
  }
  for (int k = 1; k < t->n; k++) {
    if (!direct(t->kid[k], &y)) {
      return false;
    }
    if (t->op == TREE_AND || t->op == TREE_OR) {
      *value = y != 0;
    } else if (!direct_step(t->op, *value, y, value)) {
      return false;
    }
  }
  return true;
}

/* ---- through the pool */

/* `reversed`: operands that may be exchanged are, and n-ary chains start at the other end. */
static inline sct_expr build(int at, bool reversed) {
  static const sct_expr_op ops[] = {
      [TREE_DIV] = SCT_EXPR_DIV, [TREE_MOD] = SCT_EXPR_MOD, [TREE_MIN] = SCT_EXPR_MIN,
      [TREE_MAX] = SCT_EXPR_MAX, [TREE_XOR] = SCT_EXPR_XOR, [TREE_LT] = SCT_EXPR_LT,
      [TREE_LE] = SCT_EXPR_LE,   [TREE_EQ] = SCT_EXPR_EQ,   [TREE_NE] = SCT_EXPR_NE,
      [TREE_AND] = SCT_EXPR_AND, [TREE_OR] = SCT_EXPR_OR,
  };
  const tree t = trees[at];
  if (t.op == TREE_CONST) {
    return sct_expr_const(pool, t.value);
  }
  if (t.op == TREE_LEAF) {
    return leaves[t.value];
  }
  const bool exchange = reversed && (t.op == TREE_SUM || t.op == TREE_MUL || t.op == TREE_EQ ||
                                     t.op == TREE_NE || (t.op >= TREE_MIN && t.op <= TREE_XOR));
  sct_expr all = build(t.kid[exchange ? t.n - 1 : 0], reversed);
  for (int k = 1; k < t.n; k++) {
    const sct_expr next = build(t.kid[exchange ? t.n - 1 - k : k], reversed);
    switch (t.op) {
    case TREE_SUM:
      all = sct_expr_add(pool, all, next);
      break;
    case TREE_SUB:
      all = sct_expr_sub(pool, all, next);
      break;
    case TREE_MUL:
      all = sct_expr_mul(pool, all, next);
      break;
    default:
      all = sct_expr_binary(pool, ops[t.op], all, next);
      break;
    }
  }
  return t.op == TREE_NOT ? sct_expr_not(pool, all) : all;
}

/* ---- assignments */

static inline void mark_used(int at, bool used[N_DOMAINS]) {
  const tree *t = &trees[at];
  if (t->op == TREE_LEAF) {
    used[t->value] = true;
  }
  for (int k = 0; k < t->n; k++) {
    mark_used(t->kid[k], used);
  }
}

/* How many assignments of the leaves of a tree there are. */
static inline int64_t count_assignments(const bool used[N_DOMAINS]) {
  int64_t n = 1;
  for (int k = 0; k < N_DOMAINS; k++) {
    n *= used[k] ? domains[k].count : 1;
  }
  return n;
}

/* Assignment number `index` of count_assignments(). */
static inline void assign(const bool used[N_DOMAINS], int64_t index) {
  for (int k = 0; k < N_DOMAINS; k++) {
    const domain *d = &domains[k];
    leaf_values[k] = d->from;
    if (used[k]) {
      leaf_values[k] += index % d->count * d->step;
      index /= d->count;
    }
  }
}

static inline const char *tree_text(int at, char *out, size_t size) {
  static const char *const names[] = {"",  "",  "+",  "-",  "*",  "//",  "%",  "min", "max",
                                      "^", "<", "<=", "==", "~=", "and", "or", "not"};
  const tree *t = &trees[at];
  if (t->op == TREE_CONST) {
    snprintf(out, size, "%" PRId64, t->value);
  } else if (t->op == TREE_LEAF) {
    snprintf(out, size, "%s", domains[t->value].name);
  } else {
    snprintf(out, size, "(%s", names[t->op]);
    for (int k = 0; k < t->n; k++) {
      const size_t have = strlen(out);
      snprintf(out + have, size - have, " ");
      tree_text(t->kid[k], out + have + 1, size - have - 1);
    }
    const size_t have = strlen(out);
    snprintf(out + have, size - have, ")");
  }
  return out;
}

#endif
