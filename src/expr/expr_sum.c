/* expr_sum - the normal form: a sum of terms, each a coefficient times a product of atoms.
 *
 * Products are multiplied out, terms stand in the order of expr_compare(), equal ones are merged,
 * and x // c * c + x % c becomes x. */
#include "expr/expr_pool.h"

#include <string.h>

/* ---- sums under construction */

void expr_sum_init(expr_sum *s) {
  s->constant = 0;
  s->n = 0;
  s->cap = EXPR_INLINE_TERMS;
  s->failed = false;
  s->terms = s->inline_terms;
}

void expr_sum_free(expr_sum *s) {
  if (s->terms != s->inline_terms) {
    sct_free(s->terms);
  }
  expr_sum_init(s);
}

static void fail(sct_expr_pool *pool, expr_sum *s, const char *why) {
  (void)expr_fail(pool, why);
  s->failed = true;
}

void expr_sum_add_const(sct_expr_pool *pool, expr_sum *s, int64_t value) {
  if (__builtin_add_overflow(s->constant, value, &s->constant)) {
    fail(pool, s, "a constant overflows 64 bits");
  }
}

void expr_sum_add_term(sct_expr_pool *pool, expr_sum *s, expr_term term) {
  if (s->n == s->cap) {
    const int cap = s->cap * 4;
    if (cap > 4 * EXPR_MAX_TERMS) {
      fail(pool, s, "the sum has too many terms");
      return;
    }
    expr_term *terms = sct_alloc((size_t)cap * sizeof *terms);
    memcpy(terms, s->terms, (size_t)s->n * sizeof *terms);
    if (s->terms != s->inline_terms) {
      sct_free(s->terms);
    }
    s->terms = terms;
    s->cap = cap;
  }
  s->terms[s->n++] = term;
}

static void add_scaled(sct_expr_pool *pool, expr_sum *s, expr_term term, int64_t k) {
  if (__builtin_mul_overflow(term.coef, k, &term.coef)) {
    fail(pool, s, "a constant overflows 64 bits");
  } else if (term.e == SCT_EXPR_NONE) {
    expr_sum_add_const(pool, s, term.coef);
  } else {
    expr_sum_add_term(pool, s, term);
  }
}

void expr_sum_add(sct_expr_pool *pool, expr_sum *s, sct_expr e, int64_t k) {
  if (e == SCT_EXPR_NONE) {
    s->failed = true; /* the reason is known already */
    return;
  }
  const expr_node *node = expr_node_of(pool, e);
  if (node->op != SCT_EXPR_CONST && node->op != SCT_EXPR_SUM) {
    add_scaled(pool, s, (expr_term){1, e}, k);
    return;
  }
  for (int i = 0; i < node->n && !s->failed; i++) {
    add_scaled(pool, s, expr_arg(pool, e, i), k);
  }
  add_scaled(pool, s, (expr_term){node->value, SCT_EXPR_NONE}, k);
}

expr_range expr_sum_range(const sct_expr_pool *pool, const expr_sum *s) {
  const expr_range constant = {s->constant, s->constant};
  expr_range r = expr_range_scale(constant, 1);
  for (int k = 0; k < s->n; k++) {
    r = expr_range_add(
        r, expr_range_scale(expr_node_of(pool, s->terms[k].e)->range, s->terms[k].coef));
  }
  return r;
}

int64_t expr_sum_content(const expr_sum *s) {
  int64_t g = 0;
  for (int k = 0; k < s->n; k++) {
    g = expr_gcd(g, s->terms[k].coef);
  }
  return g;
}

/* ---- the normal form */

static void merge(sct_expr_pool *pool, expr_sum *s) {
  int kept = 0;
  expr_sort(pool, s->terms, s->n);
  for (int k = 0; k < s->n; k++) {
    if (kept > 0 && s->terms[kept - 1].e == s->terms[k].e) {
      int64_t *coef = &s->terms[kept - 1].coef;
      if (__builtin_add_overflow(*coef, s->terms[k].coef, coef)) {
        fail(pool, s, "a constant overflows 64 bits");
        return;
      }
    } else {
      s->terms[kept++] = s->terms[k];
    }
    kept -= s->terms[kept - 1].coef == 0;
  }
  s->n = kept;
}

int expr_atoms(const sct_expr_pool *pool, sct_expr e, sct_expr *out) {
  if (expr_op(pool, e) != EXPR_PROD) {
    out[0] = e;
    return 1;
  }
  const int n = expr_node_of(pool, e)->n;
  for (int k = 0; k < n; k++) {
    out[k] = expr_arg(pool, e, k).e;
  }
  return n;
}

static int sorted_factors(const sct_expr_pool *pool, const sct_expr *atoms, int n,
                          expr_term *factors) {
  for (int k = 0; k < n; k++) {
    factors[k] = (expr_term){1, atoms[k]};
  }
  expr_sort(pool, factors, n);
  return n;
}

sct_expr expr_product(sct_expr_pool *pool, const sct_expr *atoms, int n) {
  expr_term factors[EXPR_MAX_DEGREE];
  if (n == 0) {
    return sct_expr_const(pool, 1);
  }
  if (n > EXPR_MAX_DEGREE) {
    return expr_fail(pool, "a product has too many factors");
  }
  return n == 1 ? atoms[0]
                : expr_intern(pool, EXPR_PROD, 0, factors, sorted_factors(pool, atoms, n, factors));
}

bool expr_single_term(const sct_expr_pool *pool, sct_expr e, expr_term *term) {
  const expr_node *node = expr_node_of(pool, e);
  *term = (expr_term){1, e};
  if (node->op == SCT_EXPR_CONST) {
    *term = (expr_term){node->value, SCT_EXPR_NONE};
  } else if (node->op == SCT_EXPR_SUM) {
    *term = expr_arg(pool, e, 0);
    return node->n == 1 && node->value == 0;
  }
  return true;
}

/* Where the sum has coef * m * (others * x // m) beside coef * (others * x % m): its index, or -1.
 */
static int find_quotient(const sct_expr_pool *pool, const expr_sum *s, int64_t coef,
                         const sct_expr *others, int n_others, sct_expr mod) {
  const sct_expr quotient = expr_node_of(pool, mod)->partner;
  expr_term m;
  int64_t want = 0;
  if (quotient == SCT_EXPR_NONE || expr_op(pool, quotient) != SCT_EXPR_DIV ||
      !expr_single_term(pool, expr_arg(pool, mod, 1).e, &m) ||
      __builtin_mul_overflow(coef, m.coef, &want)) {
    return -1;
  }
  sct_expr atoms[2 * EXPR_MAX_DEGREE];
  expr_term factors[2 * EXPR_MAX_DEGREE];
  int n = n_others;
  memcpy(atoms, others, (size_t)n_others * sizeof *atoms);
  n += m.e == SCT_EXPR_NONE ? 0 : expr_atoms(pool, m.e, atoms + n);
  if (n >= EXPR_MAX_DEGREE) {
    return -1;
  }
  atoms[n++] = quotient;
  const sct_expr product =
      n == 1 ? quotient
             : expr_find(pool, EXPR_PROD, 0, factors, sorted_factors(pool, atoms, n, factors));
  for (int k = 0; k < s->n; k++) {
    if (s->terms[k].e == product && s->terms[k].coef == want) {
      return k;
    }
  }
  return -1;
}

static void remove_term(expr_sum *s, int k) {
  memmove(&s->terms[k], &s->terms[k + 1], (size_t)(s->n - k - 1) * sizeof *s->terms);
  s->n--;
}

/* One step of x // m * m + x % m = x, under any common factor. false if there is none to take. */
static bool join_one(sct_expr_pool *pool, expr_sum *s) {
  sct_expr atoms[EXPR_MAX_DEGREE];
  for (int k = 0; k < s->n; k++) {
    const expr_term term = s->terms[k];
    const int n = expr_atoms(pool, term.e, atoms);
    for (int a = 0; a < n; a++) {
      const sct_expr mod = atoms[a];
      if (expr_op(pool, mod) != SCT_EXPR_MOD) {
        continue;
      }
      atoms[a] = atoms[n - 1];
      const int at = find_quotient(pool, s, term.coef, atoms, n - 1, mod);
      if (at >= 0) {
        const sct_expr x = expr_arg(pool, mod, 0).e;
        const sct_expr others = expr_product(pool, atoms, n - 1);
        remove_term(s, at > k ? at : k);
        remove_term(s, at > k ? k : at);
        expr_sum_add(pool, s, sct_expr_mul(pool, others, x), term.coef);
        return true;
      }
      atoms[a] = mod;
    }
  }
  return false;
}

/* x and c of an atom x // c that is known to leave no remainder. */
static bool exact_division(const sct_expr_pool *pool, sct_expr atom, sct_expr *x, int64_t *c) {
  if (expr_op(pool, atom) != SCT_EXPR_DIV ||
      !sct_expr_is_const(pool, expr_arg(pool, atom, 1).e, c)) {
    return false;
  }
  *x = expr_arg(pool, atom, 0).e;
  return sct_expr_divisor(pool, *x) % *c == 0;
}

/* coef * (x // by), what they share taken out of both, in the place of term k. */
static void replace_quotient(sct_expr_pool *pool, expr_sum *s, int k, int64_t coef, sct_expr x,
                             int64_t by) {
  const int64_t g = expr_gcd(coef, by);
  remove_term(s, k);
  expr_sum_add(pool, s, sct_expr_div(pool, x, sct_expr_const(pool, by / g)), coef / g);
}

/* Term k is coef * (x // c) without remainder. If the sum also has x // d or x itself, the two
 * become one quotient by lcm(c, d). */
static bool merge_quotients(sct_expr_pool *pool, expr_sum *s, int k, sct_expr x, int64_t c) {
  for (int j = 0; j < s->n; j++) {
    sct_expr y = s->terms[j].e;
    int64_t d = 1;
    int64_t left = 0;
    int64_t right = 0;
    int64_t sum = 0;
    if (j == k || (y != x && (!exact_division(pool, y, &y, &d) || y != x))) {
      continue;
    }
    const int64_t g = expr_gcd(c, d);
    if (!__builtin_mul_overflow(s->terms[k].coef, d / g, &left) &&
        !__builtin_mul_overflow(s->terms[j].coef, c / g, &right) &&
        !__builtin_add_overflow(left, right, &sum)) {
      s->terms[j].coef = 0;
      replace_quotient(pool, s, k, sum, x, expr_divisor_mul(c / g, d));
      return true;
    }
  }
  return false;
}

/* One step of c * (x // c) = x and (x // c) * y = (x * y) // c, for an x known to be a multiple of
 * c: divisions without remainder keep the whole product inside and nothing in common with the
 * coefficient. false if there is none to take. */
static bool merge_exact(sct_expr_pool *pool, expr_sum *s) {
  sct_expr atoms[EXPR_MAX_DEGREE];
  for (int k = 0; k < s->n; k++) {
    const expr_term term = s->terms[k];
    const int n = expr_atoms(pool, term.e, atoms);
    int64_t by = 1;
    int n_exact = 0;
    bool overflow = false;
    for (int a = 0; a < n; a++) {
      sct_expr x = SCT_EXPR_NONE;
      int64_t c = 1;
      if (exact_division(pool, atoms[a], &x, &c)) {
        overflow = overflow || __builtin_mul_overflow(by, c, &by);
        atoms[a] = x;
        n_exact++;
      }
    }
    if (n_exact == 0 || overflow) {
      continue;
    }
    if (n == 1 && expr_gcd(term.coef, by) == 1) {
      if (merge_quotients(pool, s, k, atoms[0], by)) {
        return true;
      }
      continue;
    }
    sct_expr product = sct_expr_const(pool, 1);
    for (int a = 0; a < n; a++) {
      product = sct_expr_mul(pool, product, atoms[a]);
    }
    replace_quotient(pool, s, k, term.coef, product, by);
    return true;
  }
  return false;
}

void expr_sum_collect(sct_expr_pool *pool, expr_sum *s) {
  do {
    if (s->failed) {
      return;
    }
    merge(pool, s);
  } while (!s->failed && (join_one(pool, s) || merge_exact(pool, s)));
}

sct_expr expr_sum_finish(sct_expr_pool *pool, expr_sum *s) {
  sct_expr e = SCT_EXPR_NONE;
  expr_sum_collect(pool, s);
  if (s->failed) {
    /* the reason has been given */
  } else if (s->n > EXPR_MAX_TERMS) {
    (void)expr_fail(pool, "the sum has too many terms");
  } else if (s->n == 0) {
    e = sct_expr_const(pool, s->constant);
  } else if (s->n == 1 && s->constant == 0 && s->terms[0].coef == 1) {
    e = s->terms[0].e;
  } else {
    e = expr_intern(pool, SCT_EXPR_SUM, s->constant, s->terms, s->n);
  }
  expr_sum_free(s);
  return e;
}

/* ---- arithmetic */

static sct_expr add_scaled_pair(sct_expr_pool *pool, sct_expr a, sct_expr b, int64_t k) {
  if (a == SCT_EXPR_NONE || b == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  expr_sum s;
  expr_sum_init(&s);
  expr_sum_add(pool, &s, a, 1);
  expr_sum_add(pool, &s, b, k);
  return expr_sum_finish(pool, &s);
}

sct_expr sct_expr_add(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  return add_scaled_pair(pool, a, b, 1);
}

sct_expr sct_expr_sub(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  return add_scaled_pair(pool, a, b, -1);
}

sct_expr sct_expr_neg(sct_expr_pool *pool, sct_expr a) {
  return add_scaled_pair(pool, sct_expr_const(pool, 0), a, -1);
}

static sct_expr multiply_products(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  sct_expr atoms[2 * EXPR_MAX_DEGREE];
  const int n = expr_atoms(pool, a, atoms);
  return expr_product(pool, atoms, n + expr_atoms(pool, b, atoms + n));
}

/* s += term * b, b multiplied out. */
static void add_multiplied(sct_expr_pool *pool, expr_sum *s, expr_term term, sct_expr b) {
  expr_sum factors;
  expr_sum_init(&factors);
  expr_sum_add(pool, &factors, b, term.coef);
  for (int k = 0; k < factors.n && !factors.failed; k++) {
    const sct_expr product = multiply_products(pool, term.e, factors.terms[k].e);
    factors.terms[k].e = product;
    factors.failed = product == SCT_EXPR_NONE;
  }
  for (int k = 0; k < factors.n && !factors.failed && !s->failed; k++) {
    expr_sum_add_term(pool, s, factors.terms[k]);
  }
  if (factors.failed) {
    s->failed = true;
  } else if (factors.constant != 0) {
    expr_sum_add_term(pool, s, (expr_term){factors.constant, term.e});
  }
  expr_sum_free(&factors);
}

sct_expr sct_expr_mul(sct_expr_pool *pool, sct_expr a, sct_expr b) {
  if (a == SCT_EXPR_NONE || b == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  if (expr_op(pool, b) == SCT_EXPR_CONST) {
    const sct_expr swap = a;
    a = b;
    b = swap;
  }
  expr_sum s;
  expr_sum left;
  expr_sum_init(&s);
  expr_sum_init(&left);
  expr_sum_add(pool, &left, a, 1);
  expr_sum_add(pool, &s, b, left.constant);
  s.n = left.constant == 0 ? 0 : s.n; /* no terms with coefficient 0 */
  for (int k = 0; k < left.n && !s.failed; k++) {
    add_multiplied(pool, &s, left.terms[k], b);
  }
  s.failed = s.failed || left.failed;
  expr_sum_free(&left);
  return expr_sum_finish(pool, &s);
}
