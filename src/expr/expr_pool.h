/* expr_pool - what the files of this module share: nodes, interning, sums under construction.
 *
 * A node is immutable and found by its content, so a handle is a value. Arguments live in one array
 * of (coefficient, handle) pairs; only sums use the coefficient. Everything known about a node
 * (range, divisor, which variables) is worked out once, when it is made. */
#ifndef SCT_EXPR_POOL_H
#define SCT_EXPR_POOL_H

#include "expr/expr.h"

#define EXPR_PROD       ((sct_expr_op)(SCT_EXPR_NOT + 1)) /* two or more atoms; to callers a sum */
#define EXPR_MAX_TERMS  1024                              /* of one sum */
#define EXPR_MAX_DEGREE 32                                /* atoms of one product */
#define EXPR_MAX_DEPTH  200 /* nesting of divisions and the like; bounds every recursion here */
/* Nodes of an expression written out: shared parts count each time, as whoever walks or prints it
 * meets them. Without it forty nested divisions, each used twice, are 2^40 steps. */
#define EXPR_MAX_TREE ((int64_t)1 << 17)

__extension__ typedef __int128 expr_int128;

typedef struct expr_term {
  int64_t coef;
  sct_expr e; /* an atom or a product of atoms */
} expr_term;

/* lo == SCT_EXPR_MIN_VALUE and hi == SCT_EXPR_MAX_VALUE mean "no bound". */
typedef struct expr_range {
  int64_t lo, hi;
} expr_range;

typedef struct expr_node {
  sct_expr_op op;
  int32_t first, n; /* arguments: pool->args[first .. first + n) */
  sct_expr next;    /* the next older node of the same bucket */
  sct_expr partner; /* of a remainder: the floor division of the same operands, made before it */
  int depth;
  int64_t tree; /* see EXPR_MAX_TREE */
  uint64_t hash;
  int64_t value; /* of a constant; the constant part of a sum */
  int64_t divisor;
  expr_range range;
  uint64_t var_mask; /* bit (hash of name % 64) of every variable inside */
  char *name;        /* of a variable; owned */
} expr_node;

struct sct_expr_pool {
  expr_node *nodes; /* nodes[0] is no expression */
  size_t n_nodes, cap_nodes;
  expr_term *args;
  size_t n_args, cap_args;
  sct_expr *buckets; /* newest node first, so that a reset pops heads only */
  size_t n_buckets;  /* power of two */
  const char *failure;
};

/* ---- pool (expr_pool.c) */

static inline const expr_node *expr_node_of(const sct_expr_pool *pool, sct_expr e) {
  return &pool->nodes[e];
}
static inline sct_expr_op expr_op(const sct_expr_pool *pool, sct_expr e) {
  return pool->nodes[e].op;
}
/* Argument k; copy it before building anything: the array moves. */
static inline expr_term expr_arg(const sct_expr_pool *pool, sct_expr e, int k) {
  return pool->args[pool->nodes[e].first + k];
}
static inline bool expr_is(const sct_expr_pool *pool, sct_expr e, int64_t value) {
  return expr_op(pool, e) == SCT_EXPR_CONST && pool->nodes[e].value == value;
}

/* The node with this content, made if there is none; a constant if its range is one value. `args`
 * must not point into the pool. */
sct_expr expr_intern(sct_expr_pool *pool, sct_expr_op op, int64_t value, const expr_term *args,
                     int n);
/* The node with this content, or SCT_EXPR_NONE if nobody has made it yet. */
sct_expr expr_find(const sct_expr_pool *pool, sct_expr_op op, int64_t value, const expr_term *args,
                   int n);
/* Sets the pool's failure and returns SCT_EXPR_NONE. */
sct_expr expr_fail(sct_expr_pool *pool, const char *why);
/* A total order by content (never by handle): products of more atoms first, variables by name
 * before everything else. */
int expr_compare(const sct_expr_pool *pool, sct_expr a, sct_expr b);
void expr_sort(const sct_expr_pool *pool, expr_term *args, int n);

/* ---- properties (expr_props.c) */

/* Fills range, divisor, depth, tree and var_mask of a node that is about to join the pool. */
void expr_properties(const sct_expr_pool *pool, expr_node *node, const expr_term *args);
expr_range expr_range_add(expr_range a, expr_range b);
expr_range expr_range_scale(expr_range a, int64_t k);
bool expr_range_finite(expr_range r);
int64_t expr_gcd(int64_t a, int64_t b); /* of magnitudes; gcd(0, x) = |x| */
/* |a * b| if that fits, else |a| or |b|, whichever is larger: a divisor of the product anyway. */
int64_t expr_divisor_mul(int64_t a, int64_t b);
int64_t expr_floor_div(int64_t a, int64_t b); /* b != 0; not INT64_MIN / -1 */
int64_t expr_floor_mod(int64_t a, int64_t b);
static inline bool expr_is_truth(const sct_expr_pool *pool, sct_expr e) {
  return pool->nodes[e].range.lo >= 0 && pool->nodes[e].range.hi <= 1;
}

/* ---- sums and products (expr_sum.c) */

#define EXPR_INLINE_TERMS 16

/* A sum under construction. Failure (overflow, size, memory) is sticky; the reason is the pool's.
 */
typedef struct expr_sum {
  int64_t constant;
  int n, cap;
  bool failed;
  expr_term *terms; /* inline_terms or heap: do not copy the struct */
  expr_term inline_terms[EXPR_INLINE_TERMS];
} expr_sum;

void expr_sum_init(expr_sum *s);
void expr_sum_free(expr_sum *s);
void expr_sum_add_const(sct_expr_pool *pool, expr_sum *s, int64_t value);
void expr_sum_add_term(sct_expr_pool *pool, expr_sum *s, expr_term term);
/* s += k * e */
void expr_sum_add(sct_expr_pool *pool, expr_sum *s, sct_expr e, int64_t k);
/* Sorts, merges, drops zeros, joins quotients with their remainders. */
void expr_sum_collect(sct_expr_pool *pool, expr_sum *s);
expr_range expr_sum_range(const sct_expr_pool *pool, const expr_sum *s);
/* gcd of the terms' coefficients (not the constant); 0 if there is no term. */
int64_t expr_sum_content(const expr_sum *s);
/* The expression; frees s. */
sct_expr expr_sum_finish(sct_expr_pool *pool, expr_sum *s);
/* Product of atoms in any order: 1 for none, the atom for one. */
sct_expr expr_product(sct_expr_pool *pool, const sct_expr *atoms, int n);
/* e as coefficient times atoms (NONE: there are none); false if it has several terms. */
bool expr_single_term(const sct_expr_pool *pool, sct_expr e, expr_term *term);
/* Atoms of a product (or the single atom e). Returns how many; `out` holds EXPR_MAX_DEGREE. */
int expr_atoms(const sct_expr_pool *pool, sct_expr e, sct_expr *out);

/* ---- divisions (expr_div.c) */

/* s = *x + *rest, where every term of x is a known multiple of a and 0 <= rest < a. false if it
 * cannot be seen to be so. Both are unfinished sums that the caller frees (also after false). */
bool expr_split_low(sct_expr_pool *pool, const expr_sum *s, int64_t a, expr_sum *x, expr_sum *rest);

#endif
