/* expr_div - floor division and remainder.
 *
 * Both first take out what the divisor divides: x = d * q + r, coefficient by coefficient, so that
 * x // d = q + r // d and x % d = r % d for every integer r. What is left is folded by ranges, by
 * known multiples and by the shape of r. A divisor is taken not to be 0. */
#include "expr/expr_pool.h"

static sct_expr divide_rest(sct_expr_pool *pool, sct_expr r, sct_expr d);
static sct_expr remainder_of_rest(sct_expr_pool *pool, sct_expr r, sct_expr d);

/* ---- taking out multiples */

/* atoms of `part` removed from `whole`: the quotient as a product, SCT_EXPR_NONE if they are not
 * all there. */
static sct_expr remove_atoms(sct_expr_pool *pool, sct_expr whole, sct_expr part) {
  sct_expr have[EXPR_MAX_DEGREE];
  sct_expr gone[EXPR_MAX_DEGREE];
  int n_have = expr_atoms(pool, whole, have);
  const int n_gone = expr_atoms(pool, part, gone);
  for (int k = 0; k < n_gone; k++) {
    int at = 0;
    while (at < n_have && have[at] != gone[k]) {
      at++;
    }
    if (at == n_have) {
      return SCT_EXPR_NONE;
    }
    have[at] = have[--n_have];
  }
  return expr_product(pool, have, n_have);
}

/* The largest divisor of c that is known to divide coef * e. */
static int64_t shared_divisor(const sct_expr_pool *pool, expr_term term, int64_t c) {
  const int64_t g = expr_gcd(term.coef, c);
  return g * expr_gcd(sct_expr_divisor(pool, term.e), c / g);
}

/* x = d * q + r for d = k * atoms (atoms NONE: a constant). Coefficients are cut towards zero, the
 * constant is floored. Terms that are multiples of k for what is known of their variables go to q
 * as divisions of their own. */
static void take_out(sct_expr_pool *pool, sct_expr x, expr_term d, expr_sum *q, expr_sum *r) {
  expr_sum terms;
  expr_sum_init(&terms);
  expr_sum_add(pool, &terms, x, 1);
  for (int k = 0; k < terms.n; k++) {
    const expr_term term = terms.terms[k];
    const sct_expr over = d.e == SCT_EXPR_NONE ? term.e : remove_atoms(pool, term.e, d.e);
    const int64_t whole = over == SCT_EXPR_NONE ? 0 : term.coef / d.coef;
    const expr_term rest = {term.coef - whole * d.coef, term.e};
    if (whole != 0) {
      expr_sum_add(pool, q, over, whole);
    }
    if (rest.coef == 0) {
      continue;
    }
    if (d.e == SCT_EXPR_NONE && shared_divisor(pool, rest, d.coef) == d.coef) {
      const int64_t g = expr_gcd(rest.coef, d.coef); /* exact: d / g divides the atoms */
      const sct_expr c = sct_expr_const(pool, d.coef / g);
      expr_sum_add(pool, q, divide_rest(pool, rest.e, c), rest.coef / g);
    } else {
      expr_sum_add_term(pool, r, rest);
    }
  }
  const int64_t whole = d.e == SCT_EXPR_NONE ? expr_floor_div(terms.constant, d.coef) : 0;
  expr_sum_add_const(pool, q, whole);
  expr_sum_add_const(pool, r, terms.constant - whole * d.coef);
  expr_sum_free(&terms);
}

/* ---- what is left */

bool expr_split_low(sct_expr_pool *pool, const expr_sum *s, int64_t a, expr_sum *x,
                    expr_sum *rest) {
  expr_sum_init(x);
  expr_sum_init(rest);
  for (int k = 0; k < s->n; k++) {
    const bool high = shared_divisor(pool, s->terms[k], a) == a;
    expr_sum_add_term(pool, high ? x : rest, s->terms[k]);
  }
  rest->constant = expr_floor_mod(s->constant, a);
  x->constant = s->constant - rest->constant;
  const expr_range range = expr_sum_range(pool, rest);
  return !x->failed && !rest->failed && range.lo >= 0 && range.hi < a;
}

/* Divisors of c that divide some of the terms, largest first: each term's own and the common ones.
 */
#define MAX_CANDIDATES 24
static int low_candidates(const sct_expr_pool *pool, const expr_sum *s, int64_t c, int64_t *out) {
  int n = 0;
  for (int k = 0; k < s->n && n < MAX_CANDIDATES; k++) {
    const int64_t d = shared_divisor(pool, s->terms[k], c);
    const int known = n;
    for (int j = -1; j < known && n < MAX_CANDIDATES; j++) {
      const int64_t g = j < 0 ? d : expr_gcd(d, out[j]);
      int at = 0;
      while (at < n && out[at] != g) {
        at++;
      }
      if (at == n && g > 1) {
        out[n++] = g;
      }
    }
  }
  for (int k = 1; k < n; k++) {
    for (int j = k; j > 0 && out[j - 1] < out[j]; j--) {
      const int64_t swap = out[j];
      out[j] = out[j - 1];
      out[j - 1] = swap;
    }
  }
  return n;
}

typedef struct low_split {
  int64_t factor; /* r = factor * high + low, factor divides c */
  sct_expr high, low;
} low_split;

static sct_expr exact_quotient(sct_expr_pool *pool, expr_sum *s, int64_t g) {
  for (int k = 0; k < s->n; k++) {
    s->terms[k].coef /= g;
  }
  s->constant /= g;
  return expr_sum_finish(pool, s);
}

/* r = factor * high + low where c // factor and low decide: (a*x + s) // (a*b) = x // b and
 * (a*x + s) % (a*b) = a * (x % b) + s for 0 <= s < a. A multiple that only the variables promise
 * cannot be divided out; then low alone is dropped. false if nothing is gained. */
static bool find_low(sct_expr_pool *pool, sct_expr r, int64_t c, low_split *out) {
  int64_t candidates[MAX_CANDIDATES];
  bool found = false;
  expr_sum s;
  expr_sum_init(&s);
  expr_sum_add(pool, &s, r, 1);
  const int n = low_candidates(pool, &s, c, candidates);
  for (int k = 0; k < n && !found; k++) {
    expr_sum x;
    expr_sum rest;
    const bool fits = expr_split_low(pool, &s, candidates[k], &x, &rest);
    const int64_t g = expr_gcd(expr_gcd(expr_sum_content(&x), x.constant), c);
    if (fits && (g > 1 || rest.n > 0 || rest.constant != 0)) {
      found = true;
      out->factor = g;
      out->high = exact_quotient(pool, &x, g);
      out->low = expr_sum_finish(pool, &rest);
    }
    expr_sum_free(&x);
    expr_sum_free(&rest);
  }
  expr_sum_free(&s);
  return found;
}

/* r == y // a + k: then r // b = (y + k*a) // (a*b), for b > 0. */
static sct_expr divide_quotient(sct_expr_pool *pool, sct_expr r, sct_expr d) {
  const expr_node *node = expr_node_of(pool, r);
  const int64_t k = node->op == SCT_EXPR_SUM ? node->value : 0;
  sct_expr div = r;
  if (node->op == SCT_EXPR_SUM) {
    const expr_term first = expr_arg(pool, r, 0);
    div = node->n == 1 && first.coef == 1 ? first.e : SCT_EXPR_NONE;
  }
  if (div == SCT_EXPR_NONE || expr_op(pool, div) != SCT_EXPR_DIV ||
      expr_node_of(pool, d)->range.lo < 0) {
    return SCT_EXPR_NONE;
  }
  const sct_expr y = expr_arg(pool, div, 0).e;
  const sct_expr a = expr_arg(pool, div, 1).e;
  const sct_expr shifted = sct_expr_add(pool, y, sct_expr_mul(pool, a, sct_expr_const(pool, k)));
  return sct_expr_div(pool, shifted, sct_expr_mul(pool, a, d));
}

/* r == y % m with c dividing m: then r // c = (y // c) % (m / c). */
static sct_expr divide_remainder(sct_expr_pool *pool, sct_expr r, int64_t c) {
  int64_t m = 0;
  if (expr_op(pool, r) != SCT_EXPR_MOD || !sct_expr_is_const(pool, expr_arg(pool, r, 1).e, &m) ||
      m % c != 0) {
    return SCT_EXPR_NONE;
  }
  const sct_expr y = expr_arg(pool, r, 0).e;
  return sct_expr_mod(pool, sct_expr_div(pool, y, sct_expr_const(pool, c)),
                      sct_expr_const(pool, m / c));
}

/* Atoms that every term of both sums has at least as often. Returns how many. */
static int common_atoms(sct_expr_pool *pool, const expr_sum *a, const expr_sum *b,
                        sct_expr *common) {
  int n = a->constant == 0 && b->constant == 0 ? expr_atoms(pool, a->terms[0].e, common) : 0;
  for (int k = 0; k < n;) {
    const sct_expr so_far = expr_product(pool, common, k + 1);
    bool everywhere = so_far != SCT_EXPR_NONE;
    for (int t = 0; t < a->n + b->n && everywhere; t++) {
      const sct_expr e = t < a->n ? a->terms[t].e : b->terms[t - a->n].e;
      everywhere = remove_atoms(pool, e, so_far) != SCT_EXPR_NONE;
    }
    if (everywhere) {
      k++;
    } else {
      common[k] = common[--n];
    }
  }
  return n;
}

/* Divides r and d by what all their terms share. Returns that factor, or NONE if it is 1. */
static sct_expr cancel_common(sct_expr_pool *pool, sct_expr *r, sct_expr *d) {
  expr_sum top;
  expr_sum bottom;
  sct_expr atoms[EXPR_MAX_DEGREE];
  expr_sum_init(&top);
  expr_sum_init(&bottom);
  expr_sum_add(pool, &top, *r, 1);
  expr_sum_add(pool, &bottom, *d, 1);
  const int n = common_atoms(pool, &top, &bottom, atoms);
  const int64_t g = expr_gcd(expr_gcd(expr_sum_content(&top), top.constant),
                             expr_gcd(expr_sum_content(&bottom), bottom.constant));
  expr_sum_free(&top);
  expr_sum_free(&bottom);
  if (n == 0 && g <= 1) {
    return SCT_EXPR_NONE;
  }
  const sct_expr factor = sct_expr_mul(pool, expr_product(pool, atoms, n), sct_expr_const(pool, g));
  const sct_expr top_rest = sct_expr_div(pool, *r, factor);
  const sct_expr bottom_rest = sct_expr_div(pool, *d, factor);
  if (top_rest == SCT_EXPR_NONE || bottom_rest == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  *r = top_rest;
  *d = bottom_rest;
  return factor;
}

/* True if r lies in [k*c, (k+1)*c) for one k. */
static bool one_quotient(const sct_expr_pool *pool, sct_expr r, sct_expr d, int64_t *k) {
  const expr_range range = expr_node_of(pool, r)->range;
  const int64_t least = expr_node_of(pool, d)->range.lo;
  int64_t c = 0;
  *k = 0;
  if (expr_is(pool, r, 0) || (range.lo >= 0 && range.hi < least)) {
    return true;
  }
  if (!expr_range_finite(range) || !sct_expr_is_const(pool, d, &c)) {
    return false;
  }
  *k = expr_floor_div(range.lo, c);
  return *k == expr_floor_div(range.hi, c);
}

/* r // d, when take_out() found nothing more to take. */
static sct_expr divide_rest(sct_expr_pool *pool, sct_expr r, sct_expr d) {
  int64_t c = 0;
  int64_t k = 0;
  if (r == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  if (one_quotient(pool, r, d, &k)) {
    return sct_expr_const(pool, k);
  }
  if (sct_expr_is_const(pool, d, &c)) {
    low_split split;
    if (find_low(pool, r, c, &split)) {
      return sct_expr_div(pool, split.high, sct_expr_const(pool, c / split.factor));
    }
    const sct_expr inner = divide_remainder(pool, r, c);
    if (inner != SCT_EXPR_NONE) {
      return inner;
    }
  } else if (cancel_common(pool, &r, &d) != SCT_EXPR_NONE) {
    return sct_expr_div(pool, r, d);
  }
  const sct_expr nested = divide_quotient(pool, r, d);
  if (nested != SCT_EXPR_NONE) {
    return nested;
  }
  const expr_term args[2] = {{1, r}, {1, d}};
  return expr_intern(pool, SCT_EXPR_DIV, 0, args, 2);
}

/* ---- remainders */

/* (k * (y % m) + rest) % d = (k * y + rest) % d when d divides k * m. NONE if there is no such y.
 */
static sct_expr unwrap_remainder(sct_expr_pool *pool, sct_expr r, sct_expr d) {
  expr_sum s;
  int64_t c = 0;
  int64_t m = 0;
  const bool constant = sct_expr_is_const(pool, d, &c);
  expr_sum_init(&s);
  expr_sum_add(pool, &s, r, 1);
  for (int k = 0; k < s.n; k++) {
    sct_expr atoms[EXPR_MAX_DEGREE];
    const expr_term term = s.terms[k];
    const int n = expr_atoms(pool, term.e, atoms);
    for (int a = 0; a < n; a++) {
      if (expr_op(pool, atoms[a]) != SCT_EXPR_MOD) {
        continue;
      }
      const sct_expr y = expr_arg(pool, atoms[a], 0).e;
      const sct_expr by = expr_arg(pool, atoms[a], 1).e;
      const bool divides =
          constant && sct_expr_is_const(pool, by, &m) && m % (c / expr_gcd(c, term.coef)) == 0;
      if (by == d || divides) {
        atoms[a] = atoms[n - 1];
        s.terms[k] = s.terms[--s.n];
        expr_sum_add(pool, &s, sct_expr_mul(pool, expr_product(pool, atoms, n - 1), y), term.coef);
        return expr_sum_finish(pool, &s);
      }
    }
  }
  expr_sum_free(&s);
  return SCT_EXPR_NONE;
}

/* The node r % d. Its quotient is made first, so that sums can join the two. */
static sct_expr intern_remainder(sct_expr_pool *pool, sct_expr r, sct_expr d) {
  const expr_term args[2] = {{1, r}, {1, d}};
  const sct_expr known = expr_find(pool, SCT_EXPR_MOD, 0, args, 2);
  if (known != SCT_EXPR_NONE) {
    return known;
  }
  const sct_expr partner = divide_rest(pool, r, d);
  const sct_expr e = expr_intern(pool, SCT_EXPR_MOD, 0, args, 2);
  if (e != SCT_EXPR_NONE) {
    pool->nodes[e].partner = partner < e ? partner : SCT_EXPR_NONE;
  }
  return e;
}

/* r % d, when take_out() found nothing more to take. */
static sct_expr remainder_of_rest(sct_expr_pool *pool, sct_expr r, sct_expr d) {
  int64_t c = 0;
  int64_t k = 0;
  if (r == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  if (one_quotient(pool, r, d, &k)) {
    const sct_expr multiple = sct_expr_mul(pool, d, sct_expr_const(pool, k));
    return sct_expr_sub(pool, r, multiple);
  }
  const sct_expr unwrapped = unwrap_remainder(pool, r, d);
  if (unwrapped != SCT_EXPR_NONE) {
    return sct_expr_mod(pool, unwrapped, d);
  }
  if (sct_expr_is_const(pool, d, &c)) {
    low_split split;
    if (find_low(pool, r, c, &split)) {
      const sct_expr by = sct_expr_const(pool, c / split.factor);
      const sct_expr high = sct_expr_mod(pool, split.high, by);
      const sct_expr factor = sct_expr_const(pool, split.factor);
      return sct_expr_add(pool, sct_expr_mul(pool, factor, high), split.low);
    }
  } else {
    const sct_expr factor = cancel_common(pool, &r, &d);
    if (factor != SCT_EXPR_NONE) {
      return sct_expr_mul(pool, factor, sct_expr_mod(pool, r, d));
    }
  }
  return intern_remainder(pool, r, d);
}

/* ---- both */

static sct_expr fold(sct_expr_pool *pool, sct_expr x, sct_expr d, bool want_remainder) {
  expr_term by;
  if (x == SCT_EXPR_NONE || d == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  if (expr_is(pool, d, 0)) {
    return expr_fail(pool, "division by zero");
  }
  if (x == d) {
    return sct_expr_const(pool, want_remainder ? 0 : 1);
  }
  const bool single = expr_single_term(pool, d, &by);
  if (by.coef < 0) { /* x // -d = -x // d,  x % -d = -(-x % d) */
    const sct_expr e = fold(pool, sct_expr_neg(pool, x), sct_expr_neg(pool, d), want_remainder);
    return want_remainder ? sct_expr_neg(pool, e) : e;
  }
  if (!single) {
    return want_remainder ? remainder_of_rest(pool, x, d) : divide_rest(pool, x, d);
  }
  expr_sum q;
  expr_sum r;
  expr_sum_init(&q);
  expr_sum_init(&r);
  take_out(pool, x, by, &q, &r);
  const sct_expr rest = expr_sum_finish(pool, &r);
  if (want_remainder) {
    expr_sum_free(&q);
    return remainder_of_rest(pool, rest, d);
  }
  expr_sum_add(pool, &q, divide_rest(pool, rest, d), 1);
  return expr_sum_finish(pool, &q);
}

sct_expr sct_expr_div(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  return fold(pool, a, b, false);
}

sct_expr sct_expr_mod(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  return fold(pool, a, b, true);
}
