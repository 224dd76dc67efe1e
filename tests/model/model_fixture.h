/* Kernels described by hand, on a spec with one input and one output. */
#ifndef SCT_TESTS_MODEL_FIXTURE_H
#define SCT_TESTS_MODEL_FIXTURE_H

#include "model/model.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static sct_expr_pool *fixture_pool;
static sct_operand fixture_operands[2]; /* 0: what is loaded from, 1: what is stored to */
static sct_spec fixture_spec;
static sct_size fixture_size;
static sct_kernel_code fixture_code;

/* A kernel of 1-D blocks. */
static inline void open_kernel(int64_t blocks, int threads) {
  sct_expr_pool_new(&fixture_pool);
  memset(fixture_operands, 0, sizeof fixture_operands);
  fixture_operands[0].name = "in";
  fixture_operands[1].name = "out";
  fixture_operands[1].is_output = true;
  fixture_spec = (sct_spec){
      .name = "fixture", .pool = fixture_pool, .operands = fixture_operands, .n_operands = 2};
  fixture_spec.n_inputs = 1;
  fixture_size = (sct_size){0};
  fixture_code = (sct_kernel_code){.kernel = "fixture", .threads = threads};
  fixture_code.grid = sct_expr_const(fixture_pool, blocks);
}

static inline void close_kernel(void) {
  sct_expr_pool_free(fixture_pool);
  fixture_pool = NULL;
}

#endif
