/* expr_pool - nodes found by content. Newer nodes stand in front of older ones in their bucket, so
 * going back to a mark pops bucket heads and touches nothing else. */
#include "expr/expr_pool.h"

#include <string.h>

void sct_expr_pool_new(sct_expr_pool **out) {
  const size_t n_buckets = 256;
  sct_expr_pool *pool = sct_alloc(sizeof *pool);
  pool->n_buckets = n_buckets;
  pool->buckets = sct_alloc(n_buckets * sizeof *pool->buckets);
  SCT_GROW(pool->nodes, pool->n_nodes, pool->cap_nodes);
  pool->nodes[0] = (expr_node){.op = SCT_EXPR_CONST};
  pool->n_nodes = 1;
  *out = pool;
}

void sct_expr_pool_free(sct_expr_pool *pool) {
  if (pool == NULL) {
    return;
  }
  for (size_t k = 1; k < pool->n_nodes; k++) {
    sct_free(pool->nodes[k].name);
  }
  sct_free(pool->nodes);
  sct_free(pool->args);
  sct_free(pool->buckets);
  sct_free(pool);
}

int32_t sct_expr_mark(const sct_expr_pool *pool) {
  return (int32_t)pool->n_nodes;
}

void sct_expr_reset(sct_expr_pool *pool, int32_t mark) {
  while (pool->n_nodes > (size_t)mark && pool->n_nodes > 1) {
    expr_node *node = &pool->nodes[pool->n_nodes - 1];
    pool->buckets[node->hash & (pool->n_buckets - 1)] = node->next;
    pool->n_args -= (size_t)node->n;
    sct_free(node->name);
    pool->n_nodes--;
  }
  pool->failure = NULL;
}

const char *sct_expr_failure(const sct_expr_pool *pool) {
  return pool->failure != NULL ? pool->failure : "no expression";
}

sct_expr expr_fail(sct_expr_pool *pool, const char *why) {
  pool->failure = why;
  return SCT_EXPR_NONE;
}

/* ---- interning */

static uint64_t mix(uint64_t h, uint64_t value) {
  h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ (h >> 29);
}

static uint64_t hash_content(sct_expr_op op, int64_t value, const expr_term *args, int n) {
  uint64_t h = mix((uint64_t)op + 1, (uint64_t)value);
  for (int k = 0; k < n; k++) {
    h = mix(mix(h, (uint64_t)args[k].e), (uint64_t)args[k].coef);
  }
  return h;
}

static uint64_t hash_name(const char *name) {
  uint64_t h = 1;
  for (const char *c = name; *c != '\0'; c++) {
    h = mix(h, (uint64_t)(unsigned char)*c);
  }
  return h;
}

static bool equal_content(const sct_expr_pool *pool, const expr_node *node, sct_expr_op op,
                          int64_t value, const expr_term *args, int n) {
  if (node->op != op || node->value != value || node->n != n || node->name != NULL) {
    return false;
  }
  for (int k = 0; k < n; k++) {
    const expr_term have = pool->args[node->first + k];
    if (have.e != args[k].e || have.coef != args[k].coef) {
      return false;
    }
  }
  return true;
}

static sct_expr find_hashed(const sct_expr_pool *pool, uint64_t hash, sct_expr_op op, int64_t value,
                            const expr_term *args, int n) {
  sct_expr e = pool->buckets[hash & (pool->n_buckets - 1)];
  while (e != SCT_EXPR_NONE) {
    const expr_node *node = expr_node_of(pool, e);
    if (node->hash == hash && equal_content(pool, node, op, value, args, n)) {
      return e;
    }
    e = node->next;
  }
  return SCT_EXPR_NONE;
}

sct_expr expr_find(const sct_expr_pool *pool, sct_expr_op op, int64_t value, const expr_term *args,
                   int n) {
  return find_hashed(pool, hash_content(op, value, args, n), op, value, args, n);
}

/* Twice the buckets; nodes go in oldest first, which keeps the newest at the head. */
static void grow_buckets(sct_expr_pool *pool) {
  const size_t n_buckets = pool->n_buckets * 2;
  sct_expr *buckets = sct_alloc(n_buckets * sizeof *buckets);
  for (size_t k = 1; k < pool->n_nodes; k++) {
    sct_expr *head = &buckets[pool->nodes[k].hash & (n_buckets - 1)];
    pool->nodes[k].next = *head;
    *head = (sct_expr)k;
  }
  sct_free(pool->buckets);
  pool->buckets = buckets;
  pool->n_buckets = n_buckets;
}

static sct_expr append(sct_expr_pool *pool, expr_node node, const expr_term *args) {
  if (node.depth > EXPR_MAX_DEPTH) {
    return expr_fail(pool, "the expression is nested too deeply");
  }
  if (node.tree > EXPR_MAX_TREE) {
    return expr_fail(pool, "the expression is too large");
  }
  while (pool->cap_args < pool->n_args + (size_t)node.n) {
    SCT_GROW(pool->args, pool->cap_args, pool->cap_args);
  }
  if (pool->n_nodes == INT32_MAX || pool->n_args >= INT32_MAX - EXPR_MAX_TERMS) {
    return expr_fail(pool, "there are too many expressions");
  }
  SCT_GROW(pool->nodes, pool->n_nodes, pool->cap_nodes);
  if (pool->n_nodes >= pool->n_buckets) {
    grow_buckets(pool);
  }
  node.first = (int32_t)pool->n_args;
  for (int k = 0; k < node.n; k++) {
    pool->args[pool->n_args++] = args[k];
  }
  sct_expr *head = &pool->buckets[node.hash & (pool->n_buckets - 1)];
  node.next = *head;
  *head = (sct_expr)pool->n_nodes;
  pool->nodes[pool->n_nodes++] = node;
  return *head;
}

sct_expr expr_intern(sct_expr_pool *pool, sct_expr_op op, int64_t value, const expr_term *args,
                     int n) {
  const uint64_t hash = hash_content(op, value, args, n);
  const sct_expr found = find_hashed(pool, hash, op, value, args, n);
  if (found != SCT_EXPR_NONE) {
    return found;
  }
  expr_node node = {.op = op, .n = n, .value = value, .hash = hash};
  expr_properties(pool, &node, args);
  if (n > 0 && node.range.lo == node.range.hi && expr_range_finite(node.range)) {
    return sct_expr_const(pool, node.range.lo);
  }
  return append(pool, node, args);
}

/* ---- leaves */

sct_expr sct_expr_const(sct_expr_pool *pool, int64_t value) {
  return expr_intern(pool, SCT_EXPR_CONST, value, NULL, 0);
}

sct_expr sct_expr_var_find(const sct_expr_pool *pool, const char *name) {
  const uint64_t hash = hash_name(name);
  sct_expr e = pool->buckets[hash & (pool->n_buckets - 1)];
  while (e != SCT_EXPR_NONE) {
    const expr_node *node = expr_node_of(pool, e);
    if (node->hash == hash && node->name != NULL && strcmp(node->name, name) == 0) {
      return e;
    }
    e = node->next;
  }
  return SCT_EXPR_NONE;
}

static int64_t clamp(int64_t value) {
  const int64_t capped = value > SCT_EXPR_MAX_VALUE ? SCT_EXPR_MAX_VALUE : value;
  return capped < SCT_EXPR_MIN_VALUE ? SCT_EXPR_MIN_VALUE : capped;
}

/* Bounds moved inwards to multiples of `multiple`. */
static expr_range tighten(int64_t lo, int64_t hi, int64_t multiple) {
  expr_range r = {clamp(lo), clamp(hi)};
  if (r.lo > SCT_EXPR_MIN_VALUE) {
    r.lo += expr_floor_mod(-r.lo, multiple);
  }
  if (r.hi < SCT_EXPR_MAX_VALUE) {
    r.hi -= expr_floor_mod(r.hi, multiple);
  }
  return r;
}

static sct_expr append_variable(sct_expr_pool *pool, const char *name, expr_range range,
                                int64_t multiple) {
  expr_node node = {.op = SCT_EXPR_VAR, .range = range, .divisor = multiple};
  node.hash = hash_name(name);
  node.var_mask = UINT64_C(1) << (node.hash % 64);
  node.name = sct_strdup(name);
  const sct_expr e = append(pool, node, NULL);
  if (e == SCT_EXPR_NONE) {
    sct_free(node.name);
  }
  return e;
}

sct_expr sct_expr_var(sct_expr_pool *pool, const char *name, int64_t lo, int64_t hi,
                      int64_t multiple) {
  if (lo > hi || multiple < 1) {
    return expr_fail(pool, "a variable needs lo <= hi and a multiple of at least 1");
  }
  const expr_range range = tighten(lo, hi, multiple);
  if (range.lo > range.hi) {
    return expr_fail(pool, "a variable's range holds no multiple of what it is a multiple of");
  }
  const sct_expr found = sct_expr_var_find(pool, name);
  if (found == SCT_EXPR_NONE) {
    return append_variable(pool, name, range, multiple);
  }
  const expr_node *node = expr_node_of(pool, found);
  if (node->range.lo != range.lo || node->range.hi != range.hi || node->divisor != multiple) {
    return expr_fail(pool, "the variable is known with other bounds");
  }
  return found;
}

const char *sct_expr_var_name(const sct_expr_pool *pool, sct_expr var) {
  return expr_node_of(pool, var)->name;
}

/* ---- order */

static int degree(const expr_node *node) {
  return node->op == EXPR_PROD ? node->n : 1;
}

/* Kinds in the order of sct_expr_op, but constants after everything. */
static int64_t rank(const expr_node *node) {
  return node->op == SCT_EXPR_CONST ? INT64_MAX : (int64_t)node->op;
}

static int order_int(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

int expr_compare(const sct_expr_pool *pool, sct_expr a, sct_expr b) {
  if (a == b) {
    return 0;
  }
  const expr_node *x = expr_node_of(pool, a);
  const expr_node *y = expr_node_of(pool, b);
  int c = order_int(degree(y), degree(x));
  c = c != 0 ? c : order_int(rank(x), rank(y));
  if (c == 0 && x->op == SCT_EXPR_VAR) {
    return strcmp(x->name, y->name);
  }
  c = c != 0 ? c : order_int(x->n, y->n);
  for (int k = 0; c == 0 && k < x->n; k++) {
    const expr_term s = pool->args[x->first + k];
    const expr_term t = pool->args[y->first + k];
    c = expr_compare(pool, s.e, t.e);
    c = c != 0 ? c : order_int(s.coef, t.coef);
  }
  return c != 0 ? c : order_int(x->value, y->value);
}

/* Insertion sort: arguments arrive as a few sorted runs, and there are few of them. */
void expr_sort(const sct_expr_pool *pool, expr_term *args, int n) {
  for (int k = 1; k < n; k++) {
    const expr_term term = args[k];
    int at = k;
    while (at > 0 && expr_compare(pool, args[at - 1].e, term.e) > 0) {
      args[at] = args[at - 1];
      at--;
    }
    args[at] = term;
  }
}
