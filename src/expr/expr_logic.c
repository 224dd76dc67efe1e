/* expr_logic - comparisons, and/or/not, min, max and exclusive or.
 *
 * A comparison is decided by the range of the difference of its sides. What remains is written with
 * positive coefficients on both sides, divided by their common factor, so that `4*i + 4 <= 4*n` and
 * `i < n` are one expression. `and` and `or` keep the order in which they were written: a guard
 * stays in front of what it guards. */
#include "expr/expr_pool.h"

/* ---- comparisons */

static sct_expr pair(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  if (a == SCT_EXPR_NONE || b == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  const expr_term args[2] = {{1, a}, {1, b}};
  return expr_intern(pool, op, 0, args, 2);
}

/* a - b. Coefficients whose negative does not exist fail: they could not change sides. */
static void difference(sct_expr_pool *pool, expr_sum *s, sct_expr a, sct_expr b) {
  expr_sum_init(s);
  expr_sum_add(pool, s, a, 1);
  expr_sum_add(pool, s, b, -1);
  expr_sum_collect(pool, s);
  bool too_big = s->constant == INT64_MIN;
  for (int k = 0; k < s->n; k++) {
    too_big = too_big || s->terms[k].coef == INT64_MIN;
  }
  if (too_big && !s->failed) {
    (void)expr_fail(pool, "a constant overflows 64 bits");
    s->failed = true;
  }
}

/* Divides the coefficients by g; the constant becomes `constant`. */
static void reduce(expr_sum *s, int64_t g, int64_t constant) {
  for (int k = 0; k < s->n; k++) {
    s->terms[k].coef /= g;
  }
  s->constant = constant;
}

/* The terms of s with a positive coefficient times `sign`, plus a constant. */
static sct_expr one_side(sct_expr_pool *pool, const expr_sum *s, int64_t sign, int64_t constant) {
  expr_sum side;
  expr_sum_init(&side);
  for (int k = 0; k < s->n; k++) {
    if ((s->terms[k].coef > 0) == (sign > 0)) {
      expr_sum_add(pool, &side, s->terms[k].e, s->terms[k].coef * sign);
    }
  }
  expr_sum_add_const(pool, &side, constant);
  return expr_sum_finish(pool, &side);
}

static bool is_const_expr(const sct_expr_pool *pool, sct_expr e) {
  return expr_op(pool, e) == SCT_EXPR_CONST;
}

/* s <= 0 for a sum that is neither always so nor never. */
static sct_expr at_most_zero(sct_expr_pool *pool, const expr_sum *s) {
  const int64_t limit = -s->constant; /* positive - negative <= limit */
  const sct_expr positive = one_side(pool, s, 1, 0);
  const sct_expr negative = one_side(pool, s, -1, 0);
  if (positive == SCT_EXPR_NONE || negative == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  if (is_const_expr(pool, positive)) {
    const bool is_it = limit == -1 && expr_is_truth(pool, negative);
    return is_it ? negative : pair(pool, SCT_EXPR_LE, sct_expr_const(pool, -limit), negative);
  }
  if (is_const_expr(pool, negative)) {
    if (limit == 0 && expr_is_truth(pool, positive)) {
      return sct_expr_not(pool, positive);
    }
    return limit == INT64_MAX ? pair(pool, SCT_EXPR_LE, positive, sct_expr_const(pool, limit))
                              : pair(pool, SCT_EXPR_LT, positive, sct_expr_const(pool, limit + 1));
  }
  return limit >= 0 ? pair(pool, SCT_EXPR_LE, positive, one_side(pool, s, -1, limit))
                    : pair(pool, SCT_EXPR_LT, one_side(pool, s, 1, -limit - 1), negative);
}

static sct_expr order_relation(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  expr_sum s;
  sct_expr e = SCT_EXPR_NONE;
  difference(pool, &s, a, b);
  expr_sum_add_const(pool, &s, op == SCT_EXPR_LT ? 1 : 0);
  if (!s.failed) {
    const int64_t g = s.n > 0 ? expr_sum_content(&s) : 1;
    reduce(&s, g, -expr_floor_div(-s.constant, g));
  }
  const expr_range range = expr_sum_range(pool, &s);
  if (s.failed) {
    /* the reason has been given */
  } else if (range.hi <= 0 || range.lo > 0) {
    e = sct_expr_const(pool, range.hi <= 0);
  } else {
    e = at_most_zero(pool, &s);
  }
  expr_sum_free(&s);
  return e;
}

/* s == 0 for a sum that may be either. The first term gets a positive sign. */
static sct_expr is_zero(sct_expr_pool *pool, const expr_sum *s, sct_expr_op op) {
  const int64_t sign = s->terms[0].coef > 0 ? 1 : -1;
  const int64_t value = -s->constant * sign; /* positive - negative == value */
  const sct_expr positive = one_side(pool, s, sign, 0);
  const sct_expr negative = one_side(pool, s, -sign, 0);
  if (positive == SCT_EXPR_NONE || negative == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  if (is_const_expr(pool, negative)) {
    if (expr_is_truth(pool, positive)) { /* value is 0 or 1: the range has been asked */
      return (value == 1) == (op == SCT_EXPR_EQ) ? positive : sct_expr_not(pool, positive);
    }
    return pair(pool, op, positive, sct_expr_const(pool, value));
  }
  return value >= 0 ? pair(pool, op, positive, one_side(pool, s, -sign, value))
                    : pair(pool, op, one_side(pool, s, sign, -value), negative);
}

/* A number that divides every value of the terms of s; 0 if there is no term. */
static int64_t terms_divisor(const sct_expr_pool *pool, const expr_sum *s) {
  int64_t d = 0;
  for (int k = 0; k < s->n; k++) {
    const int64_t known = sct_expr_divisor(pool, s->terms[k].e);
    d = expr_gcd(d, expr_divisor_mul(s->terms[k].coef, known));
  }
  return d;
}

static sct_expr equality(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  expr_sum s;
  sct_expr e = SCT_EXPR_NONE;
  difference(pool, &s, a, b);
  const int64_t g = expr_sum_content(&s);
  const int64_t divisor = terms_divisor(pool, &s);
  const bool out_of_step =
      !s.failed && s.n > 0 && (s.constant % divisor != 0 || s.constant % g != 0);
  if (!s.failed && s.n > 0 && !out_of_step) {
    reduce(&s, g, s.constant / g);
  }
  const expr_range range = expr_sum_range(pool, &s);
  if (s.failed) {
    /* the reason has been given */
  } else if (s.n == 0 || out_of_step || range.lo > 0 || range.hi < 0) {
    e = sct_expr_const(pool, (s.n == 0 && s.constant == 0) == (op == SCT_EXPR_EQ));
  } else {
    e = is_zero(pool, &s, op);
  }
  expr_sum_free(&s);
  return e;
}

static sct_expr relation(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  return op == SCT_EXPR_LT || op == SCT_EXPR_LE ? order_relation(pool, op, a, b)
                                                : equality(pool, op, a, b);
}

static sct_expr junction(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b);

/* ---- logic */

static sct_expr truth(sct_expr_pool *pool, sct_expr e) {
  if (e == SCT_EXPR_NONE || expr_is_truth(pool, e)) {
    return e;
  }
  return equality(pool, SCT_EXPR_NE, e, sct_expr_const(pool, 0));
}

sct_expr sct_expr_not(sct_expr_pool *pool, sct_expr a) {
  const sct_expr e = truth(pool, a);
  if (e == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  const sct_expr_op op = expr_op(pool, e);
  const int n = expr_node_of(pool, e)->n;
  const expr_term first = n > 0 ? expr_arg(pool, e, 0) : (expr_term){1, e};
  const sct_expr second = n > 1 ? expr_arg(pool, e, 1).e : SCT_EXPR_NONE;
  switch (op) {
  case SCT_EXPR_CONST:
    return sct_expr_const(pool, expr_is(pool, e, 0));
  case SCT_EXPR_LT:
    return order_relation(pool, SCT_EXPR_LE, second, first.e);
  case SCT_EXPR_LE:
    return order_relation(pool, SCT_EXPR_LT, second, first.e);
  case SCT_EXPR_EQ:
    return equality(pool, SCT_EXPR_NE, first.e, second);
  case SCT_EXPR_NE:
    return equality(pool, SCT_EXPR_EQ, first.e, second);
  case SCT_EXPR_NOT:
    return first.e;
  case SCT_EXPR_AND:
  case SCT_EXPR_OR: {
    sct_expr all = sct_expr_not(pool, first.e);
    for (int k = 1; k < n; k++) {
      const sct_expr next = sct_expr_not(pool, expr_arg(pool, e, k).e);
      all = junction(pool, op == SCT_EXPR_AND ? SCT_EXPR_OR : SCT_EXPR_AND, all, next);
    }
    return all;
  }
  default: {
    const expr_term arg = {1, e};
    return expr_intern(pool, SCT_EXPR_NOT, 0, &arg, 1);
  }
  }
}

/* A list of distinct operands under construction; order of arrival. */
#define MAX_OPERANDS 256
typedef struct operands {
  expr_term list[MAX_OPERANDS];
  int n;
  bool failed;
} operands;

static void add_operand(operands *o, sct_expr e) {
  for (int k = 0; k < o->n; k++) {
    if (o->list[k].e == e) {
      return;
    }
  }
  if (o->n == MAX_OPERANDS) {
    o->failed = true;
    return;
  }
  o->list[o->n++] = (expr_term){1, e};
}

/* e itself, or its operands if it is an `op`. */
static void add_flat(const sct_expr_pool *pool, operands *o, sct_expr_op op, sct_expr e) {
  if (expr_op(pool, e) != op) {
    add_operand(o, e);
    return;
  }
  const int n = expr_node_of(pool, e)->n;
  for (int k = 0; k < n; k++) {
    add_operand(o, expr_arg(pool, e, k).e);
  }
}

static sct_expr from_operands(sct_expr_pool *pool, sct_expr_op op, const operands *o) {
  if (o->failed) {
    return expr_fail(pool, "the expression has too many operands");
  }
  return o->n == 1 ? o->list[0].e : expr_intern(pool, op, 0, o->list, o->n);
}

static sct_expr junction(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  const sct_expr left = truth(pool, a);
  const sct_expr right = truth(pool, b);
  if (left == SCT_EXPR_NONE || right == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  const int64_t neutral = op == SCT_EXPR_AND ? 1 : 0;
  if (expr_is(pool, left, neutral) || expr_is(pool, right, !neutral)) {
    return right;
  }
  if (expr_is(pool, right, neutral) || expr_is(pool, left, !neutral)) {
    return left;
  }
  operands o;
  o.n = 0;
  o.failed = false;
  add_flat(pool, &o, op, left);
  add_flat(pool, &o, op, right);
  return from_operands(pool, op, &o);
}

/* ---- min and max */

/* True if taking the minimum (maximum) of a and b always gives a. */
static bool wins(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  expr_sum s;
  difference(pool, &s, op == SCT_EXPR_MIN ? a : b, op == SCT_EXPR_MIN ? b : a);
  const bool yes = !s.failed && expr_sum_range(pool, &s).hi <= 0;
  expr_sum_free(&s);
  return yes;
}

static sct_expr extreme(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  operands o;
  o.n = 0;
  o.failed = false;
  add_flat(pool, &o, op, a);
  add_flat(pool, &o, op, b);
  expr_sort(pool, o.list, o.n);
  for (int k = o.n - 1; k >= 0; k--) { /* of two that always tie the first stays */
    bool needed = true;
    for (int j = 0; j < o.n && needed; j++) {
      needed = j == k || !wins(pool, op, o.list[j].e, o.list[k].e);
    }
    if (!needed) {
      o.list[k] = o.list[--o.n];
    }
  }
  expr_sort(pool, o.list, o.n);
  return from_operands(pool, op, &o);
}

/* ---- exclusive or */

/* The lowest bit set; 2^62 stands for all higher ones. */
static int64_t low_bit(int64_t value) {
  const uint64_t bit = (uint64_t)value & (0 - (uint64_t)value);
  return bit == 0 || bit > (uint64_t)SCT_EXPR_MAX_VALUE ? SCT_EXPR_MAX_VALUE : (int64_t)bit;
}

/* Operands of a chain of xors under construction. */
typedef struct xor_chain {
  operands o;
  int64_t constant;
} xor_chain;

/* Adds e, which is no xor: constants become one, equal operands cancel. */
static void chain_add(sct_expr_pool *pool, xor_chain *chain, sct_expr e) {
  operands *o = &chain->o;
  if (e == SCT_EXPR_NONE || expr_op(pool, e) == SCT_EXPR_CONST) {
    o->failed = o->failed || e == SCT_EXPR_NONE;
    chain->constant ^= e == SCT_EXPR_NONE ? 0 : expr_node_of(pool, e)->value;
    return;
  }
  for (int k = 0; k < o->n; k++) {
    if (o->list[k].e == e) {
      o->list[k] = o->list[--o->n];
      return;
    }
  }
  add_operand(o, e);
}

/* e = high + low where high is a multiple of a power of two above low >= 0: no bit in common, so
 * the sum is a xor. Finds the largest such power; false if there is none. */
static bool cut(sct_expr_pool *pool, sct_expr e, sct_expr *high, sct_expr *low) {
  expr_sum s;
  bool found = false;
  expr_sum_init(&s);
  expr_sum_add(pool, &s, e, 1);
  for (int64_t step = SCT_EXPR_MAX_VALUE; step > 1 && !found; step /= 2) {
    expr_sum x;
    expr_sum rest;
    found = expr_split_low(pool, &s, step, &x, &rest) && (x.n > 0 || x.constant != 0) &&
            (rest.n > 0 || rest.constant != 0);
    if (found) {
      *high = expr_sum_finish(pool, &x);
      *low = expr_sum_finish(pool, &rest);
    }
    expr_sum_free(&x);
    expr_sum_free(&rest);
  }
  expr_sum_free(&s);
  return found;
}

static bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/* Adds e in the smallest pieces: the operands of a xor (also of a shifted one), the parts of a sum
 * that share no bit. So a chain does not depend on the order in which it was written. */
static void chain_flatten(sct_expr_pool *pool, xor_chain *chain, sct_expr e) {
  sct_expr high = SCT_EXPR_NONE;
  sct_expr low = SCT_EXPR_NONE;
  if (e == SCT_EXPR_NONE) {
    chain->o.failed = true;
    return;
  }
  expr_term term = {1, e};
  if (expr_op(pool, e) == SCT_EXPR_SUM) {
    const expr_node *node = expr_node_of(pool, e);
    term = node->n == 1 && node->value == 0 ? expr_arg(pool, e, 0) : term;
  }
  if (expr_op(pool, term.e) == SCT_EXPR_XOR && is_power_of_two(term.coef)) {
    const int n = expr_node_of(pool, term.e)->n;
    for (int k = 0; k < n; k++) {
      const sct_expr part = expr_arg(pool, term.e, k).e;
      chain_flatten(pool, chain, sct_expr_mul(pool, sct_expr_const(pool, term.coef), part));
    }
  } else if (expr_op(pool, e) == SCT_EXPR_SUM && cut(pool, e, &high, &low)) {
    chain_flatten(pool, chain, high);
    chain_flatten(pool, chain, low);
  } else {
    chain_add(pool, chain, e);
  }
}

/* The least step (a power of two that every value is a multiple of) of the chain without operand
 * `left_out`, which may be -1. */
static int64_t chain_step(sct_expr_pool *pool, const xor_chain *chain, int left_out) {
  int64_t step = low_bit(chain->constant);
  for (int k = 0; k < chain->o.n; k++) {
    const int64_t own = low_bit(sct_expr_divisor(pool, chain->o.list[k].e));
    step = k != left_out && own < step ? own : step;
  }
  return step;
}

/* Takes what shares no bit with anything else out of the chain and into `low`: the constant's bits
 * below all operands, and operands that fit below the step of all others. */
static void pull_low(sct_expr_pool *pool, xor_chain *chain, expr_sum *low) {
  operands *o = &chain->o;
  for (int k = -1; k < o->n; k++) {
    if (k < 0) { /* something has gone: there is more room for the others */
      const int64_t high = chain->constant;
      chain->constant = 0;
      const int64_t bits = expr_floor_mod(high, chain_step(pool, chain, -1));
      chain->constant = high - bits;
      expr_sum_add_const(pool, low, bits);
      continue;
    }
    const expr_range range = expr_node_of(pool, o->list[k].e)->range;
    if (range.lo >= 0 && range.hi < chain_step(pool, chain, k)) {
      expr_sum_add(pool, low, o->list[k].e, 1);
      o->list[k] = o->list[--o->n];
      k = -2;
    }
  }
}

/* The largest power of two that divides every coefficient and constant of the operands. */
static int64_t common_power(sct_expr_pool *pool, const operands *o) {
  int64_t content = 0;
  for (int k = 0; k < o->n; k++) {
    const sct_expr e = o->list[k].e;
    const sct_expr_op op = expr_op(pool, e);
    const expr_node *node = expr_node_of(pool, e);
    int64_t own = op == SCT_EXPR_CONST || op == SCT_EXPR_SUM ? node->value : 1;
    for (int j = 0; j < node->n && op == SCT_EXPR_SUM; j++) {
      own = expr_gcd(own, expr_arg(pool, e, j).coef);
    }
    content = expr_gcd(content, own);
  }
  return low_bit(content);
}

/* step * (p ^ q ^ ...) of what is left in the chain. */
static sct_expr chain_finish(sct_expr_pool *pool, xor_chain *chain) {
  operands *o = &chain->o;
  if (chain->constant != 0 || o->n == 0) {
    add_operand(o, sct_expr_const(pool, chain->constant));
  }
  if (o->n == 1 || o->failed) {
    return from_operands(pool, SCT_EXPR_XOR, o);
  }
  const int64_t power = common_power(pool, o);
  const sct_expr by = sct_expr_const(pool, power);
  for (int k = 0; k < o->n && power > 1; k++) {
    o->list[k].e = sct_expr_div(pool, o->list[k].e, by);
  }
  expr_sort(pool, o->list, o->n);
  return sct_expr_mul(pool, by, from_operands(pool, SCT_EXPR_XOR, o));
}

static sct_expr exclusive_or(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  xor_chain chain;
  expr_sum sum;
  chain.constant = 0;
  chain.o.n = 0;
  chain.o.failed = false;
  chain_flatten(pool, &chain, a);
  chain_flatten(pool, &chain, b);
  xor_chain rest = chain;
  expr_sum_init(&sum);
  pull_low(pool, &rest, &sum);
  const sct_expr high = chain_finish(pool, &rest);
  expr_sum_add(pool, &sum, high, 1);
  const int n_parts = sum.n;
  expr_sum_collect(pool, &sum);
  if (!sum.failed && sum.n != n_parts) { /* terms have met (12*e + e): the pieces would be lost */
    expr_sum_free(&sum);
    return chain_finish(pool, &chain);
  }
  return expr_sum_finish(pool, &sum);
}

/* ---- the door */

sct_expr sct_expr_binary(sct_expr_pool *pool, sct_expr_op op, sct_expr a, sct_expr b) {
  if (a == SCT_EXPR_NONE || b == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  switch (op) {
  case SCT_EXPR_SUM:
    return sct_expr_add(pool, a, b);
  case SCT_EXPR_DIV:
    return sct_expr_div(pool, a, b);
  case SCT_EXPR_MOD:
    return sct_expr_mod(pool, a, b);
  case SCT_EXPR_MIN:
  case SCT_EXPR_MAX:
    return extreme(pool, op, a, b);
  case SCT_EXPR_XOR:
    return exclusive_or(pool, a, b);
  case SCT_EXPR_LT:
  case SCT_EXPR_LE:
  case SCT_EXPR_EQ:
  case SCT_EXPR_NE:
    return relation(pool, op, a, b);
  case SCT_EXPR_AND:
  case SCT_EXPR_OR:
    return junction(pool, op, a, b);
  default:
    return expr_fail(pool, "not an operation of two operands");
  }
}
