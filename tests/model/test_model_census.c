/* Exact or approximate: the memory instructions of PTX and of machine code compared. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { W1, W2, W4, W8, W16 };

typedef struct pair {
  sct_memops ptx, sass;
} pair;

static void put(pair *p, sct_memop_space space, sct_memop_kind op, int width, int ptx, int sass) {
  p->ptx.n[space][op][width] = ptx;
  p->sass.n[space][op][width] = sass;
}

static void expect_exact(const pair *p) {
  sct_str cause = {0};
  if (!sct_model_counts_exact(&p->ptx, &p->sass, &cause)) {
    fail_msg("%s", sct_str_c(&cause));
  }
  assert_int_equal(cause.len, 0);
  sct_str_free(&cause);
}

static void expect_cause(const pair *p, const char *want) {
  sct_str cause = {0};
  assert_false(sct_model_counts_exact(&p->ptx, &p->sass, &cause));
  assert_string_equal(sct_str_c(&cause), want);
  sct_str_free(&cause);
}

static void equal_listings_are_exact(void **state) {
  (void)state;
  pair p = {0};
  expect_exact(&p);
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W16, 3, 3);
  put(&p, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, W1, 2, 2);
  p.ptx.bulk = p.sass.bulk = 1;
  expect_exact(&p);
}

static void local_memory_is_not_compared(void **state) {
  (void)state;
  pair p = {0};
  put(&p, SCT_MEMOP_LOCAL, SCT_MEMOP_LOAD, W4, 0, 20); /* spills */
  put(&p, SCT_MEMOP_LOCAL, SCT_MEMOP_STORE, W4, 3, 0); /* an array kept in registers */
  expect_exact(&p);
}

static void generic_accesses_may_be_any(void **state) {
  (void)state;
  pair p = {0};
  put(&p, SCT_MEMOP_GENERIC, SCT_MEMOP_LOAD, W4, 3, 1);
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W4, 1, 2);
  put(&p, SCT_MEMOP_SHARED, SCT_MEMOP_LOAD, W4, 0, 1);
  expect_exact(&p);
  put(&p, SCT_MEMOP_SHARED, SCT_MEMOP_LOAD, W4, 0, 2);
  expect_cause(&p, "the machine code has 5 loads of 4 bytes from memory by generic addresses where "
                   "the PTX has 4: code was copied or accesses were added; executed counts may "
                   "differ");
}

static void causes_say_what_happened(void **state) {
  (void)state;
  pair merged = {0}, split = {0}, gone = {0}, added = {0}, bulk = {0};
  put(&merged, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W4, 2, 0);
  put(&merged, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W8, 0, 1);
  expect_cause(&merged, "the machine code has 1 load of 8 bytes from global memory where the PTX "
                        "has 0: narrower accesses were merged; executed counts may differ");
  put(&split, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, W16, 1, 0);
  put(&split, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, W8, 0, 2);
  expect_cause(&split, "the machine code has 0 stores of 16 bytes to shared memory where the PTX "
                       "has 1: accesses were split into narrower ones; executed counts may differ");
  put(&gone, SCT_MEMOP_GLOBAL, SCT_MEMOP_STORE, W1, 4, 1);
  expect_cause(&gone,
               "the machine code has 1 store of 1 byte to global memory where the PTX has 4: "
               "accesses were left out or merged; executed counts may differ");
  put(&added, SCT_MEMOP_GLOBAL, SCT_MEMOP_ATOMIC, W4, 0, 1);
  expect_cause(&added, "the machine code has 1 atomic operation of 4 bytes on global memory where "
                       "the PTX has 0: code was copied or accesses were added; executed counts may "
                       "differ");
  bulk.ptx.bulk = 2;
  expect_cause(&bulk, "the machine code has 0 bulk copies where the PTX has 2; executed counts may "
                      "differ");
}

/* ---- loops */

static pair unrolled(bool uniform) {
  pair p = {0};
  p.ptx.n_loops = 1;
  p.ptx.loops[0].uniform = uniform;
  p.ptx.loops[0].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD][W4] = 2;
  p.ptx.loops[0].n[SCT_MEMOP_SHARED][SCT_MEMOP_STORE][W4] = 1;
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W4, 3, 11); /* one outside; five copies of two */
  put(&p, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, W4, 1, 5);
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_STORE, W4, 1, 1);
  return p;
}

static void copies_of_uniform_loops_are_exact(void **state) {
  (void)state;
  pair p = unrolled(true);
  expect_exact(&p);
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_STORE, W4, 1, 5); /* it stands outside */
  expect_cause(&p, "the machine code has 11 loads of 4 bytes from global memory where the PTX has "
                   "3: code was copied, not only loops unrolled; executed counts may differ");
}

static void copies_must_explain_every_kind(void **state) {
  (void)state;
  pair p = unrolled(true);
  put(&p, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, W4, 1,
      4); /* four copies of the store, five of the load */
  expect_cause(&p, "the machine code has 11 loads of 4 bytes from global memory where the PTX has "
                   "3: code was copied, not only loops unrolled; executed counts may differ");
  put(&p, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, W4, 1, 5);
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W4, 3, 10);
  expect_cause(&p, "the machine code has 10 loads of 4 bytes from global memory where the PTX has "
                   "3: code was copied, not only loops unrolled; executed counts may differ");
}

static void loops_that_lanes_leave_one_by_one_are_not(void **state) {
  (void)state;
  pair p = unrolled(false);
  expect_cause(&p, "the machine code has 11 loads of 4 bytes from global memory where the PTX has "
                   "3: a loop that lanes may leave one by one was unrolled; executed counts may "
                   "differ");
}

static void several_loops_have_their_own_copies(void **state) {
  (void)state;
  pair p = {0};
  p.ptx.n_loops = 3;
  for (int i = 0; i < 3; i++) {
    p.ptx.loops[i].uniform = i != 1;
    p.ptx.loops[i].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD][W4] = 1 + i;
  }
  p.ptx.loops[2].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][W8] = 1;
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W4, 6, 4 * 1 + 1 * 2 + 3 * 3);
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_STORE, W8, 1, 3);
  expect_exact(&p);
  p.ptx.loops[0].uniform = false; /* then no number of copies gives 15 loads and 3 stores */
  sct_str cause = {0};
  assert_false(sct_model_counts_exact(&p.ptx, &p.sass, &cause));
  sct_str_free(&cause);
}

static void a_loop_that_waits_is_approximate(void **state) {
  (void)state;
  pair p = {0};
  p.ptx.waiting = 1;
  expect_cause(&p,
               "a loop reads global memory until another block has written it: how often depends "
               "on when the blocks run");
}

/* Many loops with many copies: the search ends. */
static void the_search_is_bounded(void **state) {
  (void)state;
  pair p = {0};
  p.ptx.n_loops = SCT_MEMOP_MAX_LOOPS;
  for (int i = 0; i < SCT_MEMOP_MAX_LOOPS; i++) {
    p.ptx.loops[i].uniform = true;
    p.ptx.loops[i].n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD][W4] = 2 * (i + 1);
  }
  put(&p, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, W4, 272, 272 + 20001); /* odd: no solution */
  sct_str cause = {0};
  assert_false(sct_model_counts_exact(&p.ptx, &p.sass, &cause));
  sct_str_free(&cause);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_listings_are_exact),
      cmocka_unit_test(local_memory_is_not_compared),
      cmocka_unit_test(generic_accesses_may_be_any),
      cmocka_unit_test(causes_say_what_happened),
      cmocka_unit_test(copies_of_uniform_loops_are_exact),
      cmocka_unit_test(copies_must_explain_every_kind),
      cmocka_unit_test(loops_that_lanes_leave_one_by_one_are_not),
      cmocka_unit_test(several_loops_have_their_own_copies),
      cmocka_unit_test(a_loop_that_waits_is_approximate),
      cmocka_unit_test(the_search_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
