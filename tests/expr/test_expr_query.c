/* Questions about expressions: variables, terms, ranges, divisors; substitution.
 * (test_expr_random.c holds ranges and divisors to values; here stands how tight they are.) */
#include "expr_test.h"

static sct_expr i, j, n, m, by4;

static int setup(void **state) {
  (void)state;
  open_pool();
  i = sct_expr_var(pool, "i", 0, SCT_EXPR_MAX_VALUE, 1);
  j = sct_expr_var(pool, "j", 0, 511, 1);
  n = sct_expr_var(pool, "n", 1, SCT_EXPR_MAX_VALUE, 1);
  m = sct_expr_var(pool, "m", -8, 8, 1);
  by4 = sct_expr_var(pool, "by4", 0, SCT_EXPR_MAX_VALUE, 4);
  return 0;
}

static void test_shape(void **state) {
  (void)state;
  int64_t value = 0;
  assert_int_equal(sct_expr_op_of(pool, parse("i * n")), SCT_EXPR_SUM);
  assert_int_equal(sct_expr_op_of(pool, parse("2 * i")), SCT_EXPR_SUM);
  assert_int_equal(sct_expr_op_of(pool, parse("i // 3")), SCT_EXPR_DIV);
  assert_int_equal(sct_expr_op_of(pool, parse("i % 3")), SCT_EXPR_MOD);
  assert_int_equal(sct_expr_op_of(pool, parse("4")), SCT_EXPR_CONST);
  assert_true(sct_expr_is_const(pool, parse("3 * 4"), &value));
  assert_int_equal(value, 12);
  assert_false(sct_expr_is_const(pool, i, &value));
}

static void test_variables(void **state) {
  (void)state;
  sct_expr vars[3];
  const sct_expr e = parse("n * (j // 3) + n % 7 + min(i, 5)");
  assert_int_equal(sct_expr_vars(pool, e, vars, 3), 3);
  assert_int_equal(vars[0], i);
  assert_int_equal(vars[1], j);
  assert_int_equal(vars[2], n);
  vars[1] = SCT_EXPR_NONE;
  assert_int_equal(sct_expr_vars(pool, e, vars, 1), 3);
  assert_int_equal(vars[1], SCT_EXPR_NONE);
  assert_true(sct_expr_mentions(pool, e, j));
  assert_false(sct_expr_mentions(pool, e, m));
  assert_false(sct_expr_mentions(pool, parse("i - i + 3"), i));
}

static void test_quotients(void **state) {
  (void)state;
  sct_expr dividend[4], divisor[4];
  const sct_expr e = parse("n * (i // 3) + (j // n + 1) % 7 + i % 3");
  assert_int_equal(sct_expr_quotients(pool, e, dividend, divisor, 4), 3); /* i by 3 once */
  bool by_n = false, by_3 = false, by_7 = false;
  for (int k = 0; k < 3; k++) {
    by_n = by_n || (dividend[k] == j && divisor[k] == n);
    by_3 = by_3 || (dividend[k] == i && divisor[k] == parse("3"));
    by_7 = by_7 || (dividend[k] == parse("j // n + 1") && divisor[k] == parse("7"));
  }
  assert_true(by_n && by_3 && by_7);
  assert_int_equal(sct_expr_quotients(pool, parse("4 * i + n"), dividend, divisor, 4), 0);
}

static void test_substitution_of_parts(void **state) {
  (void)state;
  const sct_expr part[] = {parse("i // n"), parse("i % n"), i};
  const sct_expr with[] = {parse("j"), parse("m"), parse("j * n + m")};
  const sct_expr e = parse("8 * (i // n) + i % n + i");
  assert_int_equal(sct_expr_subst(pool, e, part, with, 3), parse("8 * j + m + j * n + m"));
}

static void test_linear(void **state) {
  (void)state;
  int64_t coef = 0;
  sct_expr rest = SCT_EXPR_NONE;
  assert_true(sct_expr_linear(pool, parse("12 * j + i * n + 7"), j, &coef, &rest));
  assert_int_equal(coef, 12);
  assert_int_equal(rest, parse("i * n + 7"));
  assert_true(sct_expr_linear(pool, parse("i + 7"), j, &coef, &rest));
  assert_int_equal(coef, 0);
  assert_int_equal(rest, parse("i + 7"));
  assert_true(sct_expr_linear(pool, j, j, &coef, &rest));
  assert_int_equal(coef, 1);
  assert_int_equal(rest, parse("0"));
  assert_false(sct_expr_linear(pool, parse("j * n"), j, &coef, &rest));
  assert_false(sct_expr_linear(pool, parse("4 * j + j // 3"), j, &coef, &rest));
}

static void test_split(void **state) {
  (void)state;
  sct_expr with = SCT_EXPR_NONE;
  sct_expr without = SCT_EXPR_NONE;
  const sct_expr vars[2] = {j, m};
  sct_expr_split(pool, parse("i * n + 4 * j + n * m - 3"), vars, 2, &with, &without);
  assert_int_equal(with, parse("4 * j + n * m"));
  assert_int_equal(without, parse("i * n - 3"));
  sct_expr_split(pool, parse("8"), vars, 2, &with, &without);
  assert_int_equal(with, parse("0"));
  assert_int_equal(without, parse("8"));
}

static void has_range(const char *text, int64_t lo, int64_t hi) {
  int64_t have_lo = 0;
  int64_t have_hi = 0;
  sct_expr_range(pool, parse(text), &have_lo, &have_hi);
  if (have_lo != lo || have_hi != hi) {
    fail_msg("%s lies in [%lld, %lld], not in [%lld, %lld]", text, (long long)have_lo,
             (long long)have_hi, (long long)lo, (long long)hi);
  }
}

#define INF SCT_EXPR_MAX_VALUE
static void test_ranges(void **state) {
  (void)state;
  has_range("4 * j + 3", 3, 2047);
  has_range("3 - j", -508, 3);
  has_range("j * m", -4088, 4088);
  has_range("m * m", 0, 64);
  has_range("i * i", 0, INF);
  has_range("i - j", -511, INF);
  has_range("j - i", -INF, 511);
  has_range("i * m", -INF, INF);
  has_range("j // 32", 0, 15);
  has_range("m // 3", -3, 2);
  has_range("j // n", 0, 511);
  has_range("m // n", -8, 8);
  has_range("i // 32", 0, INF);
  has_range("i % 32", 0, 31);
  has_range("4 * i % 32", 0, 28);
  has_range("by4 % 32", 0, 28);
  has_range("j % n", 0, 511);
  has_range("m % -5", -4, 0);
  has_range("min(i, j)", 0, 511);
  has_range("max(i, m)", 0, INF);
  has_range("j ^ 256", 0, 511);
  has_range("m ^ 3", -16, 15);
  has_range("i < j", 0, 1);
  has_range("4611686018427387904 + i", -INF, INF); /* beyond 2^62 nothing is promised */
}

static void has_divisor(const char *text, int64_t d) {
  const int64_t have = sct_expr_divisor(pool, parse(text));
  if (have != d) {
    fail_msg("%s is known to be a multiple of %lld, not of %lld", text, (long long)have,
             (long long)d);
  }
}

static void test_divisors(void **state) {
  (void)state;
  has_divisor("12 * i + 8", 4);
  has_divisor("12 * i * n", 12);
  has_divisor("16 * i // 3", 1);
  has_divisor("(16 * i) % 24", 8);
  has_divisor("min(6 * i, 9 * n)", 3);
  has_divisor("(12 * i) ^ (8 * n)", 4);
  has_divisor("(6 * i) ^ (6 * n)", 2);
  has_divisor("(i < n) * 5", 5);
  has_divisor("0", 0);
  has_divisor("-24", 24);
  assert_int_equal(sct_expr_divisor(pool, by4), 4);
}

static void test_divisor_if(void **state) {
  (void)state;
  const sct_expr vars[2] = {n, i};
  const int64_t four_eight[2] = {4, 8};
  assert_int_equal(sct_expr_divisor_if(pool, parse("4 * (i * n + 4 * j)"), vars, four_eight, 1),
                   16);
  assert_int_equal(sct_expr_divisor_if(pool, parse("i * n"), vars, four_eight, 2), 32);
  assert_int_equal(sct_expr_divisor_if(pool, parse("n // 4 + 1"), vars, four_eight, 1), 1);
  assert_int_equal(sct_expr_divisor_if(pool, parse("i // 4"), vars, four_eight, 2), 2);
  assert_int_equal(sct_expr_divisor_if(pool, parse("4 * j"), vars, four_eight, 2), 4);
  const sct_expr both[2] = {i, j};
  assert_int_equal(sct_expr_divisor_if(pool, parse("4 * i + j"), both, four_eight, 2), 8);
}

static void test_subst(void **state) {
  (void)state;
  const sct_expr vars[2] = {i, j};
  const sct_expr with[2] = {j, i};
  assert_int_equal(sct_expr_subst(pool, parse("i // 8 - 3 * j"), vars, with, 2),
                   parse("j // 8 - 3 * i")); /* at once */
  const sct_expr e = parse("n * 4 + m");
  assert_int_equal(sct_expr_subst(pool, e, vars, with, 2), e);
  const sct_expr zero = parse("0");
  assert_int_equal(sct_expr_subst(pool, parse("4 * i + j + n"), &i, &zero, 1), parse("j + n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_shape, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_variables, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_quotients, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_substitution_of_parts, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_linear, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_split, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_ranges, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_divisors, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_divisor_if, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_subst, setup, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
