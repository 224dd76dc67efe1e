/* expr_props - what is known of a value without knowing the variables: bounds and divisibility.
 *
 * Bounds are intervals that saturate at +-2^62; a saturated end stays saturated through every
 * operation, so it always means "no bound". Divisors are exact common divisors, never guesses. */
#include "expr/expr_pool.h"

static const expr_range everything = {SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE};

static bool is_unbounded(int64_t bound) {
  return bound <= SCT_EXPR_MIN_VALUE || bound >= SCT_EXPR_MAX_VALUE;
}

bool expr_range_finite(expr_range r) {
  return !is_unbounded(r.lo) && !is_unbounded(r.hi);
}

static int64_t saturate(expr_int128 value) {
  if (value >= SCT_EXPR_MAX_VALUE) {
    return SCT_EXPR_MAX_VALUE;
  }
  return value <= SCT_EXPR_MIN_VALUE ? SCT_EXPR_MIN_VALUE : (int64_t)value;
}

static int64_t sat_mul(int64_t a, int64_t b) {
  return saturate((expr_int128)a * b);
}

expr_range expr_range_add(expr_range a, expr_range b) {
  expr_range r;
  r.lo = is_unbounded(a.lo) || is_unbounded(b.lo) ? SCT_EXPR_MIN_VALUE : saturate(a.lo + b.lo);
  r.hi = is_unbounded(a.hi) || is_unbounded(b.hi) ? SCT_EXPR_MAX_VALUE : saturate(a.hi + b.hi);
  return r;
}

expr_range expr_range_scale(expr_range a, int64_t k) {
  const expr_range r = {sat_mul(a.lo, k), sat_mul(a.hi, k)};
  return k >= 0 ? r : (expr_range){r.hi, r.lo};
}

static int64_t min2(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t max2(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static expr_range hull4(int64_t a, int64_t b, int64_t c, int64_t d) {
  return (expr_range){min2(min2(a, b), min2(c, d)), max2(max2(a, b), max2(c, d))};
}

static expr_range range_mul(expr_range a, expr_range b) {
  return hull4(sat_mul(a.lo, b.lo), sat_mul(a.lo, b.hi), sat_mul(a.hi, b.lo), sat_mul(a.hi, b.hi));
}

int64_t expr_floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t expr_floor_mod(int64_t a, int64_t b) {
  const int64_t r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t expr_gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x > INT64_MAX ? (int64_t)1 << 62 : (int64_t)x; /* 2^63: a smaller divisor of it */
}

int64_t expr_divisor_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product) && product != INT64_MIN) {
    return product < 0 ? -product : product;
  }
  return max2(expr_gcd(a, 0), expr_gcd(b, 0));
}

/* ---- ranges */

/* Atoms of a product stand in order, so equal ones are neighbours: an even power is never negative.
 */
static expr_range product_range(const sct_expr_pool *pool, const expr_term *args, int n) {
  expr_range r = {1, 1};
  for (int k = 0; k < n;) {
    expr_range power = {1, 1};
    int times = 0;
    const sct_expr atom = args[k].e;
    for (; k < n && args[k].e == atom; k++, times++) {
      power = range_mul(power, expr_node_of(pool, atom)->range);
    }
    if (times % 2 == 0) {
      power.lo = max2(power.lo, 0);
    }
    r = range_mul(r, power);
  }
  return r;
}

static int64_t bound_div(int64_t a, int64_t b) {
  if (is_unbounded(a)) {
    return (a > 0) == (b > 0) ? SCT_EXPR_MAX_VALUE : SCT_EXPR_MIN_VALUE;
  }
  if (is_unbounded(b)) { /* the limit: 0 from above, -1 from below */
    return a == 0 || (a > 0) == (b > 0) ? 0 : -1;
  }
  return expr_floor_div(a, b);
}

static expr_range div_range(expr_range a, expr_range b) {
  if (b.lo >= 0 || b.hi <= 0) { /* a divisor is never 0 */
    const int64_t near = b.lo >= 0 ? max2(b.lo, 1) : min2(b.hi, -1);
    const int64_t far = b.lo >= 0 ? max2(b.hi, 1) : min2(b.lo, -1);
    return hull4(bound_div(a.lo, near), bound_div(a.lo, far), bound_div(a.hi, near),
                 bound_div(a.hi, far));
  }
  const int64_t most = max2(sat_mul(a.lo, -1), max2(a.lo, max2(a.hi, sat_mul(a.hi, -1))));
  return (expr_range){sat_mul(most, -1), most};
}

static expr_range mod_range(expr_range a, expr_range b, int64_t divisor) {
  expr_range r = {0, 0};
  if (b.hi > 0) {
    r.hi = is_unbounded(b.hi) ? b.hi : b.hi - 1;
  }
  if (b.lo < 0) {
    r.lo = is_unbounded(b.lo) ? b.lo : b.lo + 1;
  }
  if (b.lo >= 0 && a.lo >= 0) {
    r.hi = min2(r.hi, a.hi);
  }
  if (!is_unbounded(r.hi) && divisor > 1) {
    r.hi -= r.hi % divisor;
  }
  return r;
}

/* All of [-2^k, 2^k) maps into itself under exclusive or, and [0, 2^k) too. */
static expr_range xor_range(const sct_expr_pool *pool, const expr_term *args, int n) {
  expr_range r = {0, 0};
  for (int k = 0; k < n; k++) {
    const expr_range a = expr_node_of(pool, args[k].e)->range;
    r.lo = min2(r.lo, a.lo);
    r.hi = max2(r.hi, a.hi);
  }
  if (is_unbounded(r.lo) || is_unbounded(r.hi)) {
    return (expr_range){r.lo < 0 ? SCT_EXPR_MIN_VALUE : 0, SCT_EXPR_MAX_VALUE};
  }
  int64_t limit = 1;
  while (limit <= r.hi || limit < -r.lo) {
    limit *= 2;
  }
  return (expr_range){r.lo < 0 ? -limit : 0, limit - 1};
}

static expr_range node_range(const sct_expr_pool *pool, const expr_node *node,
                             const expr_term *args) {
  expr_range r = {0, 1}; /* comparisons and logic */
  if (node->op == EXPR_PROD) {
    return product_range(pool, args, node->n);
  }
  switch (node->op) {
  case SCT_EXPR_CONST:
    return (expr_range){saturate(node->value), saturate(node->value)};
  case SCT_EXPR_SUM:
    r = (expr_range){saturate(node->value), saturate(node->value)};
    for (int k = 0; k < node->n; k++) {
      r = expr_range_add(r, expr_range_scale(expr_node_of(pool, args[k].e)->range, args[k].coef));
    }
    return r;
  case SCT_EXPR_DIV:
    return div_range(expr_node_of(pool, args[0].e)->range, expr_node_of(pool, args[1].e)->range);
  case SCT_EXPR_MOD:
    return mod_range(expr_node_of(pool, args[0].e)->range, expr_node_of(pool, args[1].e)->range,
                     node->divisor);
  case SCT_EXPR_MIN:
  case SCT_EXPR_MAX:
    r = expr_node_of(pool, args[0].e)->range;
    for (int k = 1; k < node->n; k++) {
      const expr_range a = expr_node_of(pool, args[k].e)->range;
      r = node->op == SCT_EXPR_MIN ? (expr_range){min2(r.lo, a.lo), min2(r.hi, a.hi)}
                                   : (expr_range){max2(r.lo, a.lo), max2(r.hi, a.hi)};
    }
    return r;
  case SCT_EXPR_XOR:
    return xor_range(pool, args, node->n);
  case SCT_EXPR_VAR:
    return everything; /* variables bring their own */
  default:
    return r;
  }
}

/* ---- divisors */

typedef int64_t (*divisor_fn)(const void *ctx, sct_expr e);

/* The divisor rule of every operation, with the arguments' divisors from `of`. 0 stands for "the
 * value is 0", of which everything is a divisor. */
static int64_t divisor_rule(const sct_expr_pool *pool, sct_expr_op op, int64_t value, int n,
                            const expr_term *args, divisor_fn of, const void *ctx) {
  int64_t d = 0;
  int64_t c = 0;
  if (op == EXPR_PROD) {
    d = 1;
    for (int k = 0; k < n; k++) {
      d = expr_divisor_mul(d, of(ctx, args[k].e));
    }
    return d;
  }
  switch (op) {
  case SCT_EXPR_CONST:
    return expr_gcd(value, 0);
  case SCT_EXPR_SUM:
    d = expr_gcd(value, 0);
    for (int k = 0; k < n; k++) {
      d = expr_gcd(d, expr_divisor_mul(args[k].coef, of(ctx, args[k].e)));
    }
    return d;
  case SCT_EXPR_DIV: /* exact division keeps what is left of the divisor */
    d = of(ctx, args[0].e);
    return sct_expr_is_const(pool, args[1].e, &c) && c > 0 && d % c == 0 ? d / c : 1;
  case SCT_EXPR_MOD:
  case SCT_EXPR_MIN:
  case SCT_EXPR_MAX:
  case SCT_EXPR_XOR:
    for (int k = 0; k < n; k++) {
      d = expr_gcd(d, of(ctx, args[k].e));
    }
    return op == SCT_EXPR_XOR ? d & -d : d; /* bits below the lowest common one stay 0 */
  default:
    return 1;
  }
}

static int64_t stored_divisor(const void *ctx, sct_expr e) {
  return expr_node_of((const sct_expr_pool *)ctx, e)->divisor;
}

void expr_properties(const sct_expr_pool *pool, expr_node *node, const expr_term *args) {
  int depth = 0;
  node->tree = 1; /* no overflow: no argument is above EXPR_MAX_TREE, and they are few */
  for (int k = 0; k < node->n; k++) {
    const expr_node *arg = expr_node_of(pool, args[k].e);
    node->tree += arg->tree;
    depth = depth > arg->depth ? depth : arg->depth;
    node->var_mask |= arg->var_mask;
  }
  node->depth = depth + (node->n > 0 ? 1 : 0);
  node->divisor = divisor_rule(pool, node->op, node->value, node->n, args, stored_divisor, pool);
  node->range = node_range(pool, node, args);
}

typedef struct assumption {
  const sct_expr_pool *pool;
  const sct_expr *vars;
  const int64_t *multiples;
  int n;
  uint64_t var_mask;
} assumption;

static int64_t assumed_divisor(const void *ctx, sct_expr e) {
  const assumption *a = ctx;
  const expr_node *node = expr_node_of(a->pool, e);
  if ((node->var_mask & a->var_mask) == 0) {
    return node->divisor;
  }
  if (node->op != SCT_EXPR_VAR) {
    return divisor_rule(a->pool, node->op, node->value, node->n, a->pool->args + node->first,
                        assumed_divisor, ctx);
  }
  int64_t d = node->divisor;
  for (int k = 0; k < a->n; k++) {
    if (a->vars[k] == e && a->multiples[k] > 0) { /* lcm: both are known */
      d = expr_divisor_mul(d / expr_gcd(d, a->multiples[k]), a->multiples[k]);
    }
  }
  return d;
}

int64_t sct_expr_divisor_if(const sct_expr_pool *pool, sct_expr e, const sct_expr *vars,
                            const int64_t *multiples, int n) {
  if (e == SCT_EXPR_NONE) {
    return 1;
  }
  assumption a = {pool, vars, multiples, n, 0};
  for (int k = 0; k < n; k++) {
    a.var_mask |= expr_node_of(pool, vars[k])->var_mask;
  }
  return assumed_divisor(&a, e);
}

int64_t sct_expr_divisor(const sct_expr_pool *pool, sct_expr e) {
  return e == SCT_EXPR_NONE ? 1 : expr_node_of(pool, e)->divisor;
}

void sct_expr_range(const sct_expr_pool *pool, sct_expr e, int64_t *lo, int64_t *hi) {
  const expr_range r = e == SCT_EXPR_NONE ? everything : expr_node_of(pool, e)->range;
  *lo = r.lo;
  *hi = r.hi;
}
