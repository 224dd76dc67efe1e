/* expr_tree - expressions as data for programs that have no parser of them: lists of JSON with the
 * operation first, as in ["//", ["+", "n_i", 255], 256]. */
#include "expr/expr_pool.h"

#include <inttypes.h>

static const char *name_of(sct_expr_op op) {
  switch (op) {
  case SCT_EXPR_DIV:
    return "//";
  case SCT_EXPR_MOD:
    return "%";
  case SCT_EXPR_MIN:
    return "min";
  case SCT_EXPR_MAX:
    return "max";
  case SCT_EXPR_XOR:
    return "^";
  case SCT_EXPR_LT:
    return "<";
  case SCT_EXPR_LE:
    return "<=";
  case SCT_EXPR_EQ:
    return "==";
  case SCT_EXPR_NE:
    return "!=";
  case SCT_EXPR_AND:
    return "and";
  case SCT_EXPR_OR:
    return "or";
  case SCT_EXPR_NOT:
    return "not";
  default:
    return "*";
  }
}

/* A term of a sum: coefficient times what it stands before. */
static void print_term(sct_str *out, const sct_expr_pool *pool, const expr_term *term) {
  if (term->coef != 1) {
    sct_str_printf(out, "[\"*\", %" PRId64 ", ", term->coef);
  }
  sct_expr_print_tree(out, pool, term->e);
  sct_str_append(out, term->coef != 1 ? "]" : "");
}

static void print_sum(sct_str *out, const sct_expr_pool *pool, const expr_node *node) {
  const bool several = node->n + (node->value != 0) > 1;
  sct_str_append(out, several ? "[\"+\"" : "");
  for (int k = 0; k < node->n; k++) {
    const expr_term term = pool->args[node->first + k];
    sct_str_append(out, several ? ", " : "");
    print_term(out, pool, &term);
  }
  if (node->value != 0) {
    sct_str_printf(out, ", %" PRId64, node->value);
  }
  sct_str_append(out, several ? "]" : "");
}

void sct_expr_print_tree(sct_str *out, const sct_expr_pool *pool, sct_expr e) {
  const expr_node *node = expr_node_of(pool, e);
  switch (node->op) {
  case SCT_EXPR_CONST:
    sct_str_printf(out, "%" PRId64, node->value);
    return;
  case SCT_EXPR_VAR:
    sct_str_printf(out, "\"%s\"", node->name);
    return;
  case SCT_EXPR_SUM:
    print_sum(out, pool, node);
    return;
  default:
    sct_str_printf(out, "[\"%s\"", name_of(node->op));
    for (int k = 0; k < node->n; k++) {
      sct_str_append(out, ", ");
      sct_expr_print_tree(out, pool, pool->args[node->first + k].e);
    }
    sct_str_append(out, "]");
  }
}
