/* expr_query - questions about the shape of an expression: which variables, which terms. */
#include "expr/expr_pool.h"

sct_expr_op sct_expr_op_of(const sct_expr_pool *pool, sct_expr e) {
  const sct_expr_op op = expr_op(pool, e);
  return op == EXPR_PROD ? SCT_EXPR_SUM : op;
}

bool sct_expr_is_const(const sct_expr_pool *pool, sct_expr e, int64_t *value) {
  if (e == SCT_EXPR_NONE || expr_op(pool, e) != SCT_EXPR_CONST) {
    return false;
  }
  if (value != NULL) {
    *value = expr_node_of(pool, e)->value;
  }
  return true;
}

bool sct_expr_mentions(const sct_expr_pool *pool, sct_expr e, sct_expr var) {
  if (e == SCT_EXPR_NONE || var == SCT_EXPR_NONE) {
    return false;
  }
  if (e == var) {
    return true;
  }
  const expr_node *node = expr_node_of(pool, e);
  const uint64_t wanted = expr_node_of(pool, var)->var_mask;
  if (e < var || (node->var_mask & wanted) != wanted) { /* parts are older than the whole */
    return false;
  }
  for (int k = 0; k < node->n; k++) {
    if (sct_expr_mentions(pool, expr_arg(pool, e, k).e, var)) {
      return true;
    }
  }
  return false;
}

/* The oldest variable inside e that is younger than `after`; SCT_EXPR_NONE if there is none. */
static sct_expr next_var(const sct_expr_pool *pool, sct_expr e, sct_expr after) {
  const expr_node *node = expr_node_of(pool, e);
  if (node->op == SCT_EXPR_VAR) {
    return e > after ? e : SCT_EXPR_NONE;
  }
  sct_expr next = SCT_EXPR_NONE;
  for (int k = 0; k < node->n; k++) {
    const sct_expr var = next_var(pool, expr_arg(pool, e, k).e, after);
    next = var != SCT_EXPR_NONE && (next == SCT_EXPR_NONE || var < next) ? var : next;
  }
  return next;
}

int sct_expr_vars(const sct_expr_pool *pool, sct_expr e, sct_expr *vars, int cap) {
  int n = 0;
  sct_expr var = e == SCT_EXPR_NONE ? SCT_EXPR_NONE : next_var(pool, e, SCT_EXPR_NONE);
  while (var != SCT_EXPR_NONE) {
    if (n < cap) {
      vars[n] = var;
    }
    n++;
    var = next_var(pool, e, var);
  }
  return n;
}

typedef struct quotients {
  sct_expr *dividend, *divisor;
  int n, cap;
} quotients;

static void add_quotient(quotients *q, sct_expr dividend, sct_expr divisor) {
  for (int k = 0; k < q->n && k < q->cap; k++) {
    if (q->dividend[k] == dividend && q->divisor[k] == divisor) {
      return;
    }
  }
  if (q->n < q->cap) {
    q->dividend[q->n] = dividend;
    q->divisor[q->n] = divisor;
  }
  q->n++;
}

static void find_quotients(const sct_expr_pool *pool, sct_expr e, quotients *q) {
  const expr_node *node = expr_node_of(pool, e);
  for (int k = 0; k < node->n; k++) {
    find_quotients(pool, expr_arg(pool, e, k).e, q);
  }
  if (node->op == SCT_EXPR_DIV || node->op == SCT_EXPR_MOD) {
    add_quotient(q, expr_arg(pool, e, 0).e, expr_arg(pool, e, 1).e);
  }
}

int sct_expr_quotients(const sct_expr_pool *pool, sct_expr e, sct_expr *dividend, sct_expr *divisor,
                       int cap) {
  quotients q = {.dividend = dividend, .divisor = divisor, .cap = cap};
  if (e != SCT_EXPR_NONE) {
    find_quotients(pool, e, &q);
  }
  return q.n;
}

bool sct_expr_linear(sct_expr_pool *pool, sct_expr e, sct_expr var, int64_t *coef, sct_expr *rest) {
  if (e == SCT_EXPR_NONE || var == SCT_EXPR_NONE) {
    return false;
  }
  bool linear = true;
  expr_sum s;
  expr_sum_init(&s);
  expr_sum_add(pool, &s, e, 1);
  *coef = 0;
  for (int k = 0; k < s.n && linear; k++) {
    if (s.terms[k].e == var) {
      *coef = s.terms[k].coef;
      s.terms[k].coef = 0;
    } else {
      linear = !sct_expr_mentions(pool, s.terms[k].e, var);
    }
  }
  if (linear) {
    *rest = expr_sum_finish(pool, &s);
  }
  expr_sum_free(&s);
  return linear && *rest != SCT_EXPR_NONE;
}

static bool mentions_any(const sct_expr_pool *pool, sct_expr e, const sct_expr *vars, int n) {
  for (int k = 0; k < n; k++) {
    if (sct_expr_mentions(pool, e, vars[k])) {
      return true;
    }
  }
  return false;
}

void sct_expr_split(sct_expr_pool *pool, sct_expr e, const sct_expr *vars, int n, sct_expr *with,
                    sct_expr *without) {
  *with = SCT_EXPR_NONE;
  *without = SCT_EXPR_NONE;
  if (e == SCT_EXPR_NONE) {
    return;
  }
  expr_sum terms;
  expr_sum yes;
  expr_sum no;
  expr_sum_init(&terms);
  expr_sum_init(&yes);
  expr_sum_init(&no);
  expr_sum_add(pool, &terms, e, 1);
  for (int k = 0; k < terms.n; k++) {
    const bool in = mentions_any(pool, terms.terms[k].e, vars, n);
    expr_sum_add_term(pool, in ? &yes : &no, terms.terms[k]);
  }
  expr_sum_add_const(pool, &no, terms.constant);
  *with = expr_sum_finish(pool, &yes);
  *without = expr_sum_finish(pool, &no);
  expr_sum_free(&terms);
}
