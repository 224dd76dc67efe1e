/* What the tests of expressions share: one pool, and text to expression. */
#ifndef SCT_TESTS_EXPR_TEST_H
#define SCT_TESTS_EXPR_TEST_H

#include "expr/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sct_expr_pool *pool;

static inline void open_pool(void) {
  sct_expr_pool_new(&pool);
}

/* A teardown of cmocka. */
static inline int close_pool(void **state) {
  (void)state;
  sct_expr_pool_free(pool);
  pool = NULL;
  return 0;
}

/* The expression of `text` over the pool's variables; the test fails if it does not parse. */
static inline sct_expr parse(const char *text) {
  sct_expr e = SCT_EXPR_NONE;
  sct_error err = {SCT_OK, ""};
  if (sct_expr_parse(&e, pool, text, NULL, &err) != SCT_OK) {
    fail_msg("%s: %s", text, err.text);
  }
  return e;
}

#endif
