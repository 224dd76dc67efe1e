/* expr_copy - expressions as bytes, from the pool of one process to that of another. They are built
 * anew there, so that the pool holds what its own builders make. */
#include "expr/expr_pool.h"

#include <string.h>

/* ---- writing: a node, then its arguments ---- */

static void put(sct_str *out, int64_t value) {
  sct_str_append_n(out, (const char *)&value, sizeof value);
}

static void write_node(sct_str *out, const sct_expr_pool *pool, sct_expr e) {
  const expr_node *node = expr_node_of(pool, e);
  put(out, (int64_t)node->op);
  if (node->op == SCT_EXPR_VAR) {
    const size_t n = strlen(node->name) + 1;
    put(out, (int64_t)n);
    sct_str_append_n(out, node->name, n);
    return;
  }
  put(out, node->value);
  put(out, node->n);
  for (int k = 0; k < node->n; k++) {
    const expr_term term = expr_arg(pool, e, k);
    put(out, term.coef);
    write_node(out, pool, term.e);
  }
}

void sct_expr_write(sct_str *out, const sct_expr_pool *pool, sct_expr e) {
  if (e != SCT_EXPR_NONE) {
    write_node(out, pool, e);
  }
}

/* ---- reading ---- */

typedef struct reader {
  sct_expr_pool *pool;
  const uint8_t *at;
  size_t left;
  int depth;
} reader;

static bool take(reader *r, int64_t *value) {
  if (r->left < sizeof *value) {
    return false;
  }
  memcpy(value, r->at, sizeof *value);
  r->at += sizeof *value;
  r->left -= sizeof *value;
  return true;
}

static sct_expr read_variable(reader *r) {
  int64_t n = 0;
  if (!take(r, &n) || n < 1 || (uint64_t)n > r->left || r->at[n - 1] != '\0') {
    return SCT_EXPR_NONE;
  }
  const char *name = (const char *)r->at;
  r->at += n;
  r->left -= (size_t)n;
  return sct_expr_var_find(r->pool, name);
}

/* What an operation is with one more argument. */
static sct_expr join(reader *r, int64_t op, sct_expr so_far, sct_expr_op kind, expr_term next) {
  if (op == EXPR_PROD) {
    return sct_expr_mul(r->pool, so_far, next.e);
  }
  if (kind == SCT_EXPR_SUM) {
    const sct_expr term = sct_expr_mul(r->pool, sct_expr_const(r->pool, next.coef), next.e);
    return sct_expr_add(r->pool, so_far, term);
  }
  if (so_far == SCT_EXPR_NONE) { /* the first */
    return kind == SCT_EXPR_NOT ? sct_expr_not(r->pool, next.e) : next.e;
  }
  return sct_expr_binary(r->pool, kind, so_far, next.e);
}

/* A sum begins with its constant, a product with 1, the others with their first argument. */
static sct_expr read_node(reader *r) {
  int64_t op = 0, value = 0, n = 0;
  if (r->depth > 2 * EXPR_MAX_DEPTH || !take(r, &op) || op < 0 || op > EXPR_PROD) {
    return SCT_EXPR_NONE;
  }
  if (op == SCT_EXPR_VAR) {
    return read_variable(r);
  }
  if (!take(r, &value) || !take(r, &n) || n < 0 || n > EXPR_MAX_TERMS) {
    return SCT_EXPR_NONE;
  }
  const bool first = op != SCT_EXPR_CONST && op != SCT_EXPR_SUM && op != EXPR_PROD;
  sct_expr e = first ? SCT_EXPR_NONE : sct_expr_const(r->pool, op == EXPR_PROD ? 1 : value);
  r->depth++;
  for (int64_t k = 0; k < n; k++) {
    expr_term next = {0};
    if (!take(r, &next.coef)) {
      return SCT_EXPR_NONE;
    }
    next.e = read_node(r);
    e = next.e != SCT_EXPR_NONE ? join(r, op, e, (sct_expr_op)op, next) : SCT_EXPR_NONE;
    if (e == SCT_EXPR_NONE) {
      return SCT_EXPR_NONE;
    }
  }
  r->depth--;
  return e;
}

sct_expr sct_expr_read(sct_expr_pool *pool, const void *bytes, size_t n) {
  reader r = {.pool = pool, .at = bytes, .left = n};
  const sct_expr e = n > 0 ? read_node(&r) : SCT_EXPR_NONE;
  return r.left == 0 ? e : expr_none(pool, "bytes that are no expression");
}
