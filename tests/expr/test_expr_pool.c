/* Handles as values: equal content gives equal handles, a mark brings everything back, variables
 * keep their promises, failures say why. */
#include "expr_test.h"

static int setup(void **state) {
  (void)state;
  open_pool();
  return 0;
}

static void test_equal_content_is_one_handle(void **state) {
  (void)state;
  const sct_expr i = sct_expr_var(pool, "i", 0, 9, 1);
  const sct_expr n = sct_expr_var(pool, "n", 0, 9, 1);
  const sct_expr once = sct_expr_add(pool, sct_expr_mul(pool, i, n), sct_expr_const(pool, 3));
  const sct_expr again = sct_expr_add(pool, sct_expr_const(pool, 3), sct_expr_mul(pool, n, i));
  assert_int_equal(once, again);
  assert_int_not_equal(once, sct_expr_add(pool, once, sct_expr_const(pool, 1)));
  assert_int_equal(sct_expr_const(pool, 7), sct_expr_const(pool, 7));
}

static void test_reset_forgets_what_came_after(void **state) {
  (void)state;
  const sct_expr i = sct_expr_var(pool, "i", 0, 9999, 1);
  const sct_expr kept = parse("i // 32 * 64");
  const int32_t mark = sct_expr_mark(pool);
  sct_expr first = SCT_EXPR_NONE;
  for (int round = 0; round < 3; round++) {
    sct_expr_var(pool, "j", 0, 10 + round, 1); /* other bounds each time: it has been forgotten */
    const sct_expr e = parse("j * (i // 32) * 64 + i % 32");
    first = round == 0 ? e : first;
    assert_int_equal(e, first);
    sct_expr_reset(pool, mark);
    assert_int_equal(sct_expr_mark(pool), mark);
    assert_int_equal(sct_expr_var_find(pool, "j"), SCT_EXPR_NONE);
    assert_int_equal(sct_expr_var_find(pool, "i"), i);
    assert_int_equal(parse("64 * (i // 32)"), kept);
    sct_expr_reset(pool, mark);
  }
}

/* Enough nodes to grow every table, with marks taken before and inside. */
static void test_reset_after_growth(void **state) {
  (void)state;
  sct_expr_var(pool, "i", 0, 9999, 1);
  const sct_expr before = parse("i // 7 + 3");
  const int32_t mark = sct_expr_mark(pool);
  for (int round = 0; round < 2; round++) {
    int32_t inner = 0;
    sct_expr middle = SCT_EXPR_NONE;
    for (int k = 0; k < 3000; k++) {
      char name[24];
      snprintf(name, sizeof name, "v%d", k);
      const sct_expr v = sct_expr_var(pool, name, 0, 100 + round, 1);
      const sct_expr e = sct_expr_mul(pool, v, parse("i // 7"));
      middle = k == 1500 ? e : middle;
      inner = k == 1500 ? sct_expr_mark(pool) : inner;
    }
    sct_expr_reset(pool, inner);
    assert_int_equal(sct_expr_var_find(pool, "v1501"), SCT_EXPR_NONE);
    assert_int_equal(parse("v1500 * (i // 7)"), middle);
    sct_expr_reset(pool, mark);
    assert_int_equal(sct_expr_var_find(pool, "v0"), SCT_EXPR_NONE);
    assert_int_equal(parse("3 + i // 7"), before);
  }
}

/* x % c remembers its quotient; a reset must not leave that pointing at something else. */
static void test_reset_and_quotients(void **state) {
  (void)state;
  sct_expr_var(pool, "i", 0, 9999, 1);
  sct_expr_var(pool, "k", 0, 9999, 1);
  const int32_t mark = sct_expr_mark(pool);
  for (int round = 0; round < 3; round++) {
    const sct_expr mod = parse(round == 1 ? "k % 9" : "i % 8");
    assert_int_not_equal(mod, SCT_EXPR_NONE);
    assert_int_equal(parse("i // 8 * 8 + i % 8"), parse("i"));
    assert_int_equal(parse("k // 9 * 9 + k % 9"), parse("k"));
    sct_expr_reset(pool, mark);
  }
}

static void test_variables(void **state) {
  (void)state;
  const sct_expr v = sct_expr_var(pool, "v", 3, 30, 4);
  int64_t lo = 0;
  int64_t hi = 0;
  assert_int_equal(sct_expr_var(pool, "v", 3, 30, 4), v);
  assert_int_equal(sct_expr_var(pool, "v", 3, 31, 1), SCT_EXPR_NONE);
  assert_string_equal(sct_expr_failure(pool), "the variable is known with other bounds");
  assert_string_equal(sct_expr_var_name(pool, v), "v");
  assert_int_equal(sct_expr_op_of(pool, v), SCT_EXPR_VAR);
  assert_int_equal(sct_expr_divisor(pool, v), 4);
  sct_expr_range(pool, v, &lo, &hi);
  assert_int_equal(lo, 4); /* the multiples of 4 in [3, 30] */
  assert_int_equal(hi, 28);
  assert_int_equal(sct_expr_var(pool, "w", 5, 7, 8), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_var(pool, "w", 5, 4, 1), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_var(pool, "w", 5, 9, 0), SCT_EXPR_NONE);
}

static void test_none_passes_through(void **state) {
  (void)state;
  const sct_expr i = sct_expr_var(pool, "i", 0, 9, 1);
  sct_expr with = i;
  sct_expr without = i;
  int64_t lo = 0;
  int64_t hi = 0;
  assert_int_equal(sct_expr_add(pool, i, SCT_EXPR_NONE), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_mul(pool, SCT_EXPR_NONE, i), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_div(pool, i, SCT_EXPR_NONE), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_neg(pool, SCT_EXPR_NONE), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_not(pool, SCT_EXPR_NONE), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_binary(pool, SCT_EXPR_MIN, SCT_EXPR_NONE, i), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_binary(pool, SCT_EXPR_VAR, i, i), SCT_EXPR_NONE);
  assert_int_equal(sct_expr_subst(pool, i, &i, &(sct_expr){SCT_EXPR_NONE}, 1), SCT_EXPR_NONE);
  assert_false(sct_expr_is_const(pool, SCT_EXPR_NONE, NULL));
  assert_false(sct_expr_mentions(pool, SCT_EXPR_NONE, i));
  assert_int_equal(sct_expr_vars(pool, SCT_EXPR_NONE, NULL, 0), 0);
  sct_expr_split(pool, SCT_EXPR_NONE, &i, 1, &with, &without);
  assert_int_equal(with, SCT_EXPR_NONE);
  assert_int_equal(without, SCT_EXPR_NONE);
  sct_expr_range(pool, SCT_EXPR_NONE, &lo, &hi);
  assert_int_equal(lo, SCT_EXPR_MIN_VALUE);
  assert_int_equal(hi, SCT_EXPR_MAX_VALUE);
}

static void fails(sct_expr e, const char *why) {
  assert_int_equal(e, SCT_EXPR_NONE);
  assert_string_equal(sct_expr_failure(pool), why);
}

static void test_overflow_and_size(void **state) {
  (void)state;
  const sct_expr i = sct_expr_var(pool, "i", 0, 9, 1);
  const sct_expr big = sct_expr_const(pool, INT64_MAX);
  const sct_expr least = sct_expr_const(pool, INT64_MIN);
  const char *const overflow = "a constant overflows 64 bits";
  fails(sct_expr_add(pool, big, sct_expr_const(pool, 1)), overflow);
  fails(sct_expr_mul(pool, big, sct_expr_const(pool, 2)), overflow);
  fails(sct_expr_neg(pool, least), overflow);
  fails(sct_expr_add(pool, sct_expr_mul(pool, big, i), i), overflow);
  fails(sct_expr_mul(pool, sct_expr_mul(pool, big, i), sct_expr_const(pool, 3)), overflow);
  fails(sct_expr_div(pool, least, sct_expr_const(pool, -1)), overflow);
  fails(sct_expr_div(pool, i, sct_expr_const(pool, 0)), "division by zero");
  fails(sct_expr_mod(pool, i, sct_expr_const(pool, 0)), "division by zero");
  assert_int_equal(sct_expr_mul(pool, least, sct_expr_const(pool, 1)), least);

  sct_expr power = i;
  for (int k = 0; k < 10 && power != SCT_EXPR_NONE; k++) {
    power = sct_expr_mul(pool, power, power);
  }
  fails(power, "a product has too many factors");

  sct_expr deep = sct_expr_var(pool, "z", SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
  for (int k = 0; k < 1000 && deep != SCT_EXPR_NONE; k++) {
    deep = sct_expr_div(pool,
                        sct_expr_add(pool, sct_expr_mul(pool, deep, sct_expr_const(pool, 3)),
                                     sct_expr_const(pool, 1)),
                        sct_expr_const(pool, 7));
  }
  fails(deep, "the expression is nested too deeply");
  sct_expr shared = sct_expr_var(pool, "z", SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
  for (int k = 0; k < 100 && shared != SCT_EXPR_NONE; k++) { /* 2^k nodes when written out */
    shared = sct_expr_div(pool, sct_expr_mul(pool, shared, shared), sct_expr_const(pool, 7));
  }
  fails(shared, "the expression is too large");

  sct_expr wide = sct_expr_const(pool, 0);
  for (int k = 0; k < 2000 && wide != SCT_EXPR_NONE; k++) {
    char name[24];
    snprintf(name, sizeof name, "v%d", k);
    wide = sct_expr_add(pool, wide, sct_expr_var(pool, name, 0, 9, 1));
  }
  fails(wide, "the sum has too many terms");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_equal_content_is_one_handle, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_reset_forgets_what_came_after, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_reset_after_growth, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_reset_and_quotients, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_variables, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_none_passes_through, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_overflow_and_size, setup, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
