/* Kernels described by hand: accesses as text, on a spec with one input and one output. */
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

enum { LOAD = 0, STORE = 1 };
#define MAX_ACCESSES 32

static sct_expr_pool *fixture_pool;
static sct_operand fixture_operands[2]; /* 0: what is loaded from, 1: what is stored to */
static sct_spec fixture_spec;
static sct_size fixture_size;
static sct_access fixture_accesses[MAX_ACCESSES];
static sct_kernel_code fixture_code;

static inline sct_expr parse(const char *text) {
  sct_expr e = SCT_EXPR_NONE;
  sct_error err = {SCT_OK, ""};
  if (sct_expr_parse(&e, fixture_pool, text, NULL, &err) != SCT_OK) {
    fail_msg("%s: %s", text, err.text);
  }
  return e;
}

/* A kernel of 1-D blocks without accesses yet. Variables: thread, block, loops j (outer) and k, gid
 * and lane. */
static inline void open_kernel(int64_t blocks, int threads) {
  char text[64];
  sct_expr_pool_new(&fixture_pool);
  sct_expr_var(fixture_pool, "thread", 0, 1023, 1);
  sct_expr_var(fixture_pool, "block", 0, INT32_MAX, 1);
  sct_expr_var(fixture_pool, "j", 0, INT32_MAX, 1);
  sct_expr_var(fixture_pool, "k", 0, INT32_MAX, 1);
  snprintf(text, sizeof text, "block * %d + thread", threads);
  sct_expr_let(fixture_pool, "gid", parse(text));
  sct_expr_let(fixture_pool, "lane", parse("thread % 32"));
  memset(fixture_operands, 0, sizeof fixture_operands);
  fixture_operands[0].name = "in";
  fixture_operands[1].name = "out";
  fixture_operands[1].is_output = true;
  fixture_spec = (sct_spec){
      .name = "fixture", .pool = fixture_pool, .operands = fixture_operands, .n_operands = 2};
  fixture_spec.n_inputs = 1;
  fixture_size = (sct_size){0};
  memset(fixture_accesses, 0, sizeof fixture_accesses);
  fixture_code = (sct_kernel_code){.threads = threads, .accesses = fixture_accesses};
  fixture_code.kernel = "fixture";
  fixture_code.grid = sct_expr_const(fixture_pool, blocks);
  fixture_code.counted = true;
}

static inline void close_kernel(void) {
  sct_expr_pool_free(fixture_pool);
  fixture_pool = NULL;
}

static inline sct_access *add_access(sct_mem mem, int direction, int width, const char *active,
                                     const char *address) {
  sct_access *a = &fixture_accesses[fixture_code.n_accesses++];
  assert_true(fixture_code.n_accesses <= MAX_ACCESSES);
  a->mem = mem;
  a->is_store = direction == STORE;
  a->operand = mem == SCT_MEM_GLOBAL ? direction : -1;
  a->width = width;
  a->address = parse(address);
  a->active = active != NULL ? parse(active) : SCT_EXPR_NONE;
  return a;
}

/* The same inside a loop over `var` ("k" or "j"). */
static inline void add_loop(sct_access *a, const char *var, const char *count) {
  a->loop_var[a->n_loops] = parse(var);
  a->loop_count[a->n_loops++] = parse(count);
}

/* Counts the kernel; max_blocks 0 takes the module's own choice. */
static inline sct_counters count_kernel(int64_t max_blocks) {
  sct_counters c = {0};
  sct_error err = {SCT_OK, ""};
  if (sct_model_count(&c, &fixture_spec, &fixture_code, &fixture_size, max_blocks, &err) !=
      SCT_OK) {
    fail_msg("%s", err.text);
  }
  return c;
}

#endif
