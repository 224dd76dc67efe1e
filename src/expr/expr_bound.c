/* expr_bound - a bound of an expression's magnitude, and so of every value on the way to it. */
#include "expr/expr_pool.h"

#include <inttypes.h>

/* The arguments, `sign` between them. */
static void join(sct_str *out, const sct_expr_pool *pool, sct_expr e, const char *sign);

static int64_t magnitude(int64_t value) {
  return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

void sct_expr_print_bound(sct_str *out, const sct_expr_pool *pool, sct_expr e) {
  const expr_node *node = expr_node_of(pool, e);
  const bool is_sum = node->op == SCT_EXPR_SUM;
  if (node->op == SCT_EXPR_CONST) {
    sct_str_printf(out, "%" PRId64, magnitude(node->value));
  } else if (node->op == SCT_EXPR_VAR) {
    sct_str_append(out, node->name);
  } else if (node->op == EXPR_PROD) {
    join(out, pool, e, " * ");
  } else if (node->op == SCT_EXPR_DIV || node->op == SCT_EXPR_MOD) {
    sct_expr_print_bound(out, pool, expr_arg(pool, e, 0).e); /* of integers: no larger */
  } else {
    sct_str_append(out, "(");
    join(out, pool, e, " + ");
    if (is_sum && node->value != 0) {
      sct_str_printf(out, " + %" PRId64, magnitude(node->value));
    }
    sct_str_append(out, ")");
  }
}

static void join(sct_str *out, const sct_expr_pool *pool, sct_expr e, const char *sign) {
  const int n = expr_node_of(pool, e)->n;
  for (int k = 0; k < n; k++) {
    const expr_term term = expr_arg(pool, e, k);
    sct_str_append(out, k > 0 ? sign : "");
    if (expr_op(pool, e) == SCT_EXPR_SUM && magnitude(term.coef) != 1) {
      sct_str_printf(out, "%" PRId64 " * ", magnitude(term.coef));
    }
    sct_expr_print_bound(out, pool, term.e);
  }
}
