/* expr_rewrite - expressions rebuilt with other leaves.
 *
 * Rebuilding goes through the same builders as the first time, so the result is in normal form. */
#include "expr/expr_pool.h"

/* A small direct-mapped memory of what has been rebuilt: without it shared parts would be rebuilt
 * once per path. A collision only costs time. */
#define MEMO_SLOTS 64

typedef struct rewrite {
  sct_expr_pool *pool;
  const sct_expr *vars, *with; /* replacements, of leaves as a rule */
  int n;
  uint64_t var_mask; /* of vars: expressions without them stay as they are */
  sct_expr memo_key[MEMO_SLOTS], memo_value[MEMO_SLOTS];
} rewrite;

static sct_expr rebuild(rewrite *w, sct_expr e);

static sct_expr rebuild_sum(rewrite *w, sct_expr e) {
  sct_expr_pool *pool = w->pool;
  const int n = expr_node_of(pool, e)->n;
  expr_sum s;
  expr_sum_init(&s);
  expr_sum_add_const(pool, &s, expr_node_of(pool, e)->value);
  for (int k = 0; k < n && !s.failed; k++) {
    const expr_term term = expr_arg(pool, e, k);
    expr_sum_add(pool, &s, rebuild(w, term.e), term.coef);
  }
  return expr_sum_finish(pool, &s);
}

static sct_expr rebuild_chain(rewrite *w, sct_expr e) {
  sct_expr_pool *pool = w->pool;
  const sct_expr_op op = expr_op(pool, e);
  const int n = expr_node_of(pool, e)->n;
  sct_expr all = rebuild(w, expr_arg(pool, e, 0).e);
  for (int k = 1; k < n; k++) {
    const sct_expr next = rebuild(w, expr_arg(pool, e, k).e);
    all = op == EXPR_PROD ? sct_expr_mul(pool, all, next) : sct_expr_binary(pool, op, all, next);
  }
  return op == SCT_EXPR_NOT ? sct_expr_not(pool, all) : all;
}

static sct_expr rebuild_node(rewrite *w, sct_expr e) {
  for (int k = 0; k < w->n; k++) {
    if (w->vars[k] == e) {
      return w->with[k];
    }
  }
  switch (expr_op(w->pool, e)) {
  case SCT_EXPR_CONST:
  case SCT_EXPR_VAR:
    return e;
  case SCT_EXPR_SUM:
    return rebuild_sum(w, e);
  default:
    return rebuild_chain(w, e);
  }
}

static sct_expr rebuild(rewrite *w, sct_expr e) {
  if ((expr_node_of(w->pool, e)->var_mask & w->var_mask) == 0) {
    return e;
  }
  const int slot = e % MEMO_SLOTS;
  if (w->memo_key[slot] != e) {
    const sct_expr value = rebuild_node(w, e);
    w->memo_key[slot] = e;
    w->memo_value[slot] = value;
    return value;
  }
  return w->memo_value[slot];
}

sct_expr sct_expr_subst(sct_expr_pool *pool, sct_expr e, const sct_expr *vars, const sct_expr *with,
                        int n) {
  rewrite w = {.pool = pool, .vars = vars, .with = with, .n = n};
  if (e == SCT_EXPR_NONE) {
    return SCT_EXPR_NONE;
  }
  for (int k = 0; k < n; k++) {
    if (vars[k] == SCT_EXPR_NONE || with[k] == SCT_EXPR_NONE) {
      return SCT_EXPR_NONE;
    }
    w.var_mask |= expr_node_of(pool, vars[k])->var_mask;
  }
  return rebuild(&w, e);
}
