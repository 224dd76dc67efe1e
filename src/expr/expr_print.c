/* expr_print - expressions as text, in two dialects: C/CUDA for generated kernels, and the
 * canonical one that sct_expr_parse() reads back.
 *
 * Both print a sum as a person would: positive terms first, higher degrees and larger strides in
 * front, constants last. In C a division is a shift, a mask, `/` or `%` only where the operands are
 * known not to be negative; anything else calls sct_floor_div or sct_floor_mod. */
#include "expr/expr_pool.h"

#include <inttypes.h>

/* How tightly the outermost operation of a text binds. Bit operations sit below everything, so that
 * they always stand in parentheses inside other operations, as readers of C expect. */
typedef enum level {
  LEVEL_TOP,
  LEVEL_BITS,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_COMPARISON,
  LEVEL_SUM,
  LEVEL_PRODUCT,
  LEVEL_UNARY,
  LEVEL_PRIMARY
} level;

typedef struct printer {
  sct_str *out;
  const sct_expr_pool *pool;
  bool c;    /* C, else canonical */
  bool wide; /* variables are long long */
} printer;

static void print_at(const printer *p, sct_expr e, level need);

/* ---- what an operation becomes */

/* True if C's division gives what floor division does: nothing negative, or no remainder. */
static bool plain_division(const printer *p, const expr_node *node) {
  const expr_node *a = expr_node_of(p->pool, p->pool->args[node->first].e);
  const expr_node *b = expr_node_of(p->pool, p->pool->args[node->first + 1].e);
  const bool exact = b->op == SCT_EXPR_CONST && a->divisor % b->value == 0;
  return !p->c || exact || (a->range.lo >= 0 && b->range.lo >= 0);
}

/* k if the division is a shift by k or a mask of k bits in C, else -1. */
static int shift_of(const printer *p, const expr_node *node) {
  int64_t c = 0;
  if (!p->c || !plain_division(p, node) ||
      !sct_expr_is_const(p->pool, p->pool->args[node->first + 1].e, &c) || c < 2 ||
      (c & (c - 1)) != 0) {
    return -1;
  }
  return __builtin_ctzll((unsigned long long)c);
}

/* True for arithmetic in the place of a condition (a product of conditions, say), which compilers
 * want compared with 0. */
static bool is_bare_number(const printer *p, sct_expr e) {
  const sct_expr_op op = expr_op(p->pool, e);
  return p->c && (op == EXPR_PROD || op == SCT_EXPR_SUM);
}

static level level_of(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  const expr_term first = node->n > 0 ? expr_arg(p->pool, e, 0) : (expr_term){0, SCT_EXPR_NONE};
  if (node->op == EXPR_PROD) {
    return LEVEL_PRODUCT;
  }
  switch (node->op) {
  case SCT_EXPR_CONST:
    return node->value < 0 ? LEVEL_UNARY : LEVEL_PRIMARY;
  case SCT_EXPR_SUM:
    if (node->n > 1 || node->value != 0) {
      return LEVEL_SUM;
    }
    return first.coef == -1 && expr_op(p->pool, first.e) != EXPR_PROD ? LEVEL_UNARY : LEVEL_PRODUCT;
  case SCT_EXPR_DIV:
  case SCT_EXPR_MOD:
    if (shift_of(p, node) >= 0) {
      return LEVEL_BITS;
    }
    return plain_division(p, node) ? LEVEL_PRODUCT : LEVEL_PRIMARY;
  case SCT_EXPR_XOR:
    return LEVEL_BITS;
  case SCT_EXPR_LT:
  case SCT_EXPR_LE:
  case SCT_EXPR_EQ:
  case SCT_EXPR_NE:
    return LEVEL_COMPARISON;
  case SCT_EXPR_AND:
    return LEVEL_AND;
  case SCT_EXPR_OR:
    return LEVEL_OR;
  case SCT_EXPR_NOT:
    return is_bare_number(p, first.e) ? LEVEL_COMPARISON : LEVEL_UNARY;
  default: /* variables, calls */
    return LEVEL_PRIMARY;
  }
}

/* True if the C text of e has type int although variables are long long: no variable takes part
 * but inside comparisons. */
static bool is_narrow(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  if (!p->c || !p->wide || node->op == SCT_EXPR_VAR) {
    return false;
  }
  if (node->op >= SCT_EXPR_LT && node->op <= SCT_EXPR_NOT) {
    return true;
  }
  for (int k = 0; k < node->n; k++) {
    if (!is_narrow(p, expr_arg(p->pool, e, k).e)) {
      return false;
    }
  }
  return true;
}

static void print_constant(const printer *p, int64_t value, bool as_long) {
  const bool big = value > INT32_MAX || value < -INT32_MAX;
  if (p->c && value == INT64_MIN) { /* has no literal */
    sct_str_append(p->out, "(-9223372036854775807LL - 1)");
  } else {
    sct_str_printf(p->out, "%" PRId64 "%s", value, p->c && (big || as_long) ? "LL" : "");
  }
}

/* ---- sums */

/* coef * e; `e` is an atom or a product. The coefficient stands in front of variables ("24 * i")
 * and after other operations ("i / 48 * 1344"), which saves parentheses. */
static void print_term(const printer *p, int64_t coef, sct_expr e) {
  sct_expr atoms[EXPR_MAX_DEGREE];
  const int n = expr_atoms(p->pool, e, atoms);
  const bool in_front = level_of(p, atoms[0]) == LEVEL_PRIMARY;
  const bool as_long = is_narrow(p, e);
  if (coef == -1) {
    sct_str_append(p->out, "-");
  } else if (coef != 1 && in_front) {
    print_constant(p, coef, as_long);
    sct_str_append(p->out, " * ");
  }
  const bool something_before = coef == -1 || (coef != 1 && in_front);
  for (int k = 0; k < n; k++) {
    sct_str_append(p->out, k > 0 ? " * " : "");
    print_at(p, atoms[k], k > 0 || something_before ? LEVEL_UNARY : LEVEL_PRODUCT);
  }
  if (coef != 1 && coef != -1 && !in_front) {
    sct_str_append(p->out, " * ");
    print_constant(p, coef, as_long);
  }
}

static int degree_of(const sct_expr_pool *pool, sct_expr e) {
  return expr_op(pool, e) == EXPR_PROD ? expr_node_of(pool, e)->n : 1;
}

/* True if x is printed before y: positive before negative, then higher degree, then larger
 * coefficient; the normal form's own order decides ties. */
static bool goes_before(const sct_expr_pool *pool, expr_term x, expr_term y) {
  if ((x.coef > 0) != (y.coef > 0)) {
    return x.coef > 0;
  }
  const int dx = degree_of(pool, x.e);
  const int dy = degree_of(pool, y.e);
  if (dx != dy) {
    return dx > dy;
  }
  return x.coef > 0 ? x.coef > y.coef : x.coef < y.coef;
}

static void print_signed(const printer *p, int64_t coef, sct_expr e, bool first) {
  const bool minus = coef < 0 && coef != INT64_MIN && !first;
  sct_str_append(p->out, first ? "" : minus ? " - " : " + ");
  print_term(p, minus ? -coef : coef, e);
}

static void print_sum_constant(const printer *p, int64_t value, bool first, bool as_long) {
  const bool minus = value < 0 && value != INT64_MIN && !first;
  sct_str_append(p->out, first ? "" : minus ? " - " : " + ");
  print_constant(p, minus ? -value : value, as_long);
}

static void print_sum(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  expr_term terms[EXPR_MAX_TERMS];
  terms[0] = expr_arg(p->pool, e, 0);
  for (int k = 1; k < node->n; k++) {
    const expr_term term = expr_arg(p->pool, e, k);
    int at = k;
    while (at > 0 && goes_before(p->pool, term, terms[at - 1])) {
      terms[at] = terms[at - 1];
      at--;
    }
    terms[at] = term;
  }
  const bool as_long = is_narrow(p, e);
  const bool constant_first = terms[0].coef < 0 && node->value > 0;
  if (constant_first) {
    print_sum_constant(p, node->value, true, as_long);
  }
  for (int k = 0; k < node->n; k++) {
    print_signed(p, terms[k].coef, terms[k].e, k == 0 && !constant_first);
  }
  if (!constant_first && node->value != 0) {
    print_sum_constant(p, node->value, false, as_long);
  }
}

/* ---- the rest */

static void print_division(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  const bool mod = node->op == SCT_EXPR_MOD;
  const sct_expr a = expr_arg(p->pool, e, 0).e;
  const sct_expr b = expr_arg(p->pool, e, 1).e;
  const int shift = shift_of(p, node);
  if (!plain_division(p, node)) {
    sct_str_append(p->out, mod ? "sct_floor_mod(" : "sct_floor_div(");
    print_at(p, a, LEVEL_TOP);
    sct_str_append(p->out, ", ");
    print_at(p, b, LEVEL_TOP);
    sct_str_append(p->out, ")");
    return;
  }
  if (shift >= 0) {
    print_at(p, a, LEVEL_PRIMARY);
    sct_str_append(p->out, mod ? " & " : " >> ");
    print_constant(p, mod ? (INT64_C(1) << shift) - 1 : shift, false);
    return;
  }
  print_at(p, a, LEVEL_PRODUCT);
  sct_str_append(p->out, mod ? " % " : p->c ? " / " : " // ");
  print_at(p, b, LEVEL_UNARY);
}

/* A variable of few values may be an int, which counts a loop. */
static bool may_be_int(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  return is_narrow(p, e) || (p->c && p->wide && node->op == SCT_EXPR_VAR &&
                             node->range.lo >= INT32_MIN && node->range.hi <= INT32_MAX);
}

/* CUDA's min and max take two arguments of one type. */
static void print_argument(const printer *p, sct_expr e) {
  if (!may_be_int(p, e)) {
    print_at(p, e, LEVEL_TOP);
  } else if (expr_op(p->pool, e) == SCT_EXPR_CONST) {
    print_constant(p, expr_node_of(p->pool, e)->value, true);
  } else {
    sct_str_append(p->out, "(long long)");
    print_at(p, e, LEVEL_PRIMARY);
  }
}

static void print_extreme(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  const char *name = node->op == SCT_EXPR_MIN ? "min(" : "max(";
  for (int k = 1; k < node->n; k++) {
    sct_str_append(p->out, name);
  }
  print_argument(p, expr_arg(p->pool, e, 0).e);
  for (int k = 1; k < node->n; k++) {
    sct_str_append(p->out, ", ");
    print_argument(p, expr_arg(p->pool, e, k).e);
    sct_str_append(p->out, ")");
  }
}

static void print_xor(const printer *p, sct_expr e) {
  const int n = expr_node_of(p->pool, e)->n;
  for (int k = 0; k < n; k++) {
    sct_str_append(p->out, k > 0 ? " ^ " : "");
    print_at(p, expr_arg(p->pool, e, k).e, LEVEL_PRIMARY);
  }
}

static void print_conditions(const printer *p, sct_expr e, const char *between) {
  const int n = expr_node_of(p->pool, e)->n;
  for (int k = 0; k < n; k++) {
    const sct_expr condition = expr_arg(p->pool, e, k).e;
    const bool bare = is_bare_number(p, condition);
    sct_str_append(p->out, k > 0 ? between : "");
    print_at(p, condition, bare ? LEVEL_SUM : LEVEL_COMPARISON);
    sct_str_append(p->out, bare ? " != 0" : "");
  }
}

static void print_not(const printer *p, sct_expr condition) {
  if (is_bare_number(p, condition)) {
    print_at(p, condition, LEVEL_SUM);
    sct_str_append(p->out, " == 0");
  } else {
    sct_str_append(p->out, p->c ? "!" : "not ");
    print_at(p, condition, LEVEL_UNARY);
  }
}

/* A constant on the left changes sides: "n >= 1". */
static void print_comparison(const printer *p, sct_expr e) {
  const sct_expr_op op = expr_op(p->pool, e);
  const sct_expr a = expr_arg(p->pool, e, 0).e;
  const sct_expr b = expr_arg(p->pool, e, 1).e;
  const bool swap = expr_op(p->pool, a) == SCT_EXPR_CONST;
  const char *text = " == ";
  if (op == SCT_EXPR_LT) {
    text = swap ? " > " : " < ";
  } else if (op == SCT_EXPR_LE) {
    text = swap ? " >= " : " <= ";
  } else if (op == SCT_EXPR_NE) {
    text = p->c ? " != " : " ~= ";
  }
  print_at(p, swap ? b : a, LEVEL_SUM);
  sct_str_append(p->out, text);
  print_at(p, swap ? a : b, LEVEL_SUM);
}

static void print_node(const printer *p, sct_expr e) {
  const expr_node *node = expr_node_of(p->pool, e);
  if (node->op == EXPR_PROD) {
    print_term(p, 1, e);
    return;
  }
  switch (node->op) {
  case SCT_EXPR_CONST:
    print_constant(p, node->value, false);
    break;
  case SCT_EXPR_VAR:
    sct_str_append(p->out, node->name);
    break;
  case SCT_EXPR_SUM:
    print_sum(p, e);
    break;
  case SCT_EXPR_DIV:
  case SCT_EXPR_MOD:
    print_division(p, e);
    break;
  case SCT_EXPR_MIN:
  case SCT_EXPR_MAX:
    print_extreme(p, e);
    break;
  case SCT_EXPR_XOR:
    print_xor(p, e);
    break;
  case SCT_EXPR_AND:
    print_conditions(p, e, p->c ? " && " : " and ");
    break;
  case SCT_EXPR_OR: /* compilers warn about && inside || */
    print_conditions(p, e, p->c ? " || " : " or ");
    break;
  case SCT_EXPR_NOT:
    print_not(p, expr_arg(p->pool, e, 0).e);
    break;
  default:
    print_comparison(p, e);
    break;
  }
}

static void print_at(const printer *p, sct_expr e, level need) {
  const bool enclose = level_of(p, e) < need;
  sct_str_append(p->out, enclose ? "(" : "");
  print_node(p, e);
  sct_str_append(p->out, enclose ? ")" : "");
}

void sct_expr_print_c(sct_str *out, const sct_expr_pool *pool, sct_expr e, bool wide) {
  const printer p = {out, pool, true, wide};
  if (e != SCT_EXPR_NONE) {
    print_at(&p, e, LEVEL_TOP);
  }
}

void sct_expr_print(sct_str *out, const sct_expr_pool *pool, sct_expr e) {
  const printer p = {out, pool, false, false};
  if (e != SCT_EXPR_NONE) {
    print_at(&p, e, LEVEL_TOP);
  }
}
