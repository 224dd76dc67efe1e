/* expr_eval - one careful evaluation: every overflow, division by zero and unbound variable is an
 * error that says so. `and` and `or` stop at the first operand that decides. */
#include "expr/expr_pool.h"

typedef struct evaluation {
  const sct_expr_pool *pool;
  const sct_expr_env *env;
  sct_error *err;
} evaluation;

static sct_status eval(const evaluation *v, sct_expr e, int64_t *value);

static sct_status overflow(const evaluation *v) {
  return sct_fail(v->err, SCT_ESPEC, "the value overflows 64 bits");
}

static sct_status eval_variable(const evaluation *v, sct_expr e, int64_t *value) {
  for (int k = 0; k < v->env->n; k++) {
    if (v->env->vars[k] == e) {
      *value = v->env->values[k];
      return SCT_OK;
    }
  }
  return sct_fail(v->err, SCT_ESPEC, "'%s' has no value here", sct_expr_var_name(v->pool, e));
}

/* In 128 bits, so that a sum whose parts cancel is not refused. */
static sct_status eval_sum(const evaluation *v, const expr_node *node, int64_t *value) {
  expr_int128 total = node->value;
  for (int k = 0; k < node->n; k++) {
    const expr_term term = v->pool->args[node->first + k];
    int64_t x = 0;
    SCT_TRY(eval(v, term.e, &x));
    if (__builtin_add_overflow(total, (expr_int128)term.coef * x, &total)) {
      return overflow(v);
    }
  }
  *value = (int64_t)total;
  return *value == total ? SCT_OK : overflow(v);
}

static sct_status eval_product(const evaluation *v, const expr_node *node, int64_t *value) {
  *value = 1;
  for (int k = 0; k < node->n; k++) {
    int64_t x = 0;
    SCT_TRY(eval(v, v->pool->args[node->first + k].e, &x));
    if (__builtin_mul_overflow(*value, x, value)) {
      return overflow(v);
    }
  }
  return SCT_OK;
}

static sct_status eval_junction(const evaluation *v, const expr_node *node, int64_t *value) {
  const bool all = node->op == SCT_EXPR_AND;
  *value = all;
  for (int k = 0; k < node->n && (*value != 0) == all; k++) {
    SCT_TRY(eval(v, v->pool->args[node->first + k].e, value));
  }
  *value = *value != 0;
  return SCT_OK;
}

static sct_status eval_division(const evaluation *v, const expr_node *node, int64_t a, int64_t b,
                                int64_t *value) {
  if (b == 0) {
    return sct_fail(v->err, SCT_ESPEC, "division by zero");
  }
  if (node->op == SCT_EXPR_MOD) {
    *value = expr_floor_mod(a, b);
    return SCT_OK;
  }
  if (a == INT64_MIN && b == -1) {
    return overflow(v);
  }
  *value = expr_floor_div(a, b);
  return SCT_OK;
}

int64_t sct_expr_eval_binary(sct_expr_op op, int64_t a, int64_t b) {
  switch (op) {
  case SCT_EXPR_AND:
    return a != 0 && b != 0;
  case SCT_EXPR_OR:
    return a != 0 || b != 0;
  case SCT_EXPR_MIN:
    return a < b ? a : b;
  case SCT_EXPR_MAX:
    return a > b ? a : b;
  case SCT_EXPR_XOR:
    return a ^ b;
  case SCT_EXPR_LT:
    return a < b;
  case SCT_EXPR_LE:
    return a <= b;
  case SCT_EXPR_EQ:
    return a == b;
  default: /* SCT_EXPR_NE */
    return a != b;
  }
}

static sct_status eval_pair(const evaluation *v, const expr_node *node, int64_t *value) {
  int64_t a = 0;
  SCT_TRY(eval(v, v->pool->args[node->first].e, &a));
  for (int k = 1; k < node->n; k++) {
    int64_t b = 0;
    SCT_TRY(eval(v, v->pool->args[node->first + k].e, &b));
    switch (node->op) {
    case SCT_EXPR_DIV:
    case SCT_EXPR_MOD:
      SCT_TRY(eval_division(v, node, a, b, &a));
      break;
    default:
      a = sct_expr_eval_binary(node->op, a, b);
      break;
    }
  }
  *value = node->op == SCT_EXPR_NOT ? a == 0 : a;
  return SCT_OK;
}

static sct_status eval(const evaluation *v, sct_expr e, int64_t *value) {
  const expr_node *node = expr_node_of(v->pool, e);
  if (node->op == EXPR_PROD) {
    return eval_product(v, node, value);
  }
  switch (node->op) {
  case SCT_EXPR_CONST:
    *value = node->value;
    return SCT_OK;
  case SCT_EXPR_VAR:
    return eval_variable(v, e, value);
  case SCT_EXPR_SUM:
    return eval_sum(v, node, value);
  case SCT_EXPR_AND:
  case SCT_EXPR_OR:
    return eval_junction(v, node, value);
  default:
    return eval_pair(v, node, value);
  }
}

sct_status sct_expr_eval(const sct_expr_pool *pool, sct_expr e, const sct_expr_env *env,
                         int64_t *value, sct_error *err) {
  if (e == SCT_EXPR_NONE) {
    return sct_fail(err, SCT_ESPEC, "there is no expression to evaluate");
  }
  const evaluation v = {pool, env, err};
  int64_t result = 0;
  SCT_TRY(eval(&v, e, &result));
  *value = result;
  return SCT_OK;
}
