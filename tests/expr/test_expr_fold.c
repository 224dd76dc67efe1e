/* Folding by name: one small case for every rule of expr.h and for what the layouts need. The
 * random test beside this one shows that the rules are right; this one shows that they are used. */
#include "expr_test.h"

static sct_expr i, j, g, v, t, n, n4, row, col, flag, z, five;

static int setup(void **state) {
  (void)state;
  open_pool();
  i = sct_expr_var(pool, "i", 0, SCT_EXPR_MAX_VALUE, 1);
  j = sct_expr_var(pool, "j", 0, 511, 1);
  g = sct_expr_var(pool, "g", 0, SCT_EXPR_MAX_VALUE, 1);
  v = sct_expr_var(pool, "v", 0, 3, 1);
  t = sct_expr_var(pool, "t", 0, SCT_EXPR_MAX_VALUE, 1);
  n = sct_expr_var(pool, "n", 0, SCT_EXPR_MAX_VALUE, 1);
  n4 = sct_expr_var(pool, "n4", 0, SCT_EXPR_MAX_VALUE, 4);
  row = sct_expr_var(pool, "row", 0, SCT_EXPR_MAX_VALUE, 1);
  col = sct_expr_var(pool, "col", 0, SCT_EXPR_MAX_VALUE, 1);
  flag = sct_expr_var(pool, "flag", 0, 1, 1);
  five = sct_expr_var(pool, "five", 5, 7, 1);
  z = sct_expr_var(pool, "z", SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
  return 0;
}

/* `text` must fold to exactly what `expected` prints as. */
static void folds(const char *text, const char *expected) {
  char result[256] = "";
  sct_str printed = {0};
  sct_expr_print(&printed, pool, parse(text));
  snprintf(result, sizeof result, "%s", sct_str_c(&printed));
  sct_str_free(&printed);
  if (strcmp(result, expected) != 0) {
    fail_msg("%s folds to %s, not to %s", text, result, expected);
  }
}

static void test_sums(void **state) {
  (void)state;
  folds("(i + 1) * (i - 1)", "i * i - 1");
  folds("2 * (i + n) - i - 2 * n", "i");
  folds("n * i + i * n", "2 * i * n");
  folds("5 - i", "5 - i");
  folds("i + n * row - 3", "n * row + i - 3");
  folds("-i - 5", "-i - 5");
  folds("0 * i", "0");
  assert_int_equal(parse("row * n + col"), parse("col + n * row"));
  assert_int_equal(parse("1 + i + n"), parse("n + 1 + i"));
}

static void test_multiples_leave_divisions(void **state) {
  (void)state;
  folds("(32 * i + n) // 32", "i + n // 32");
  folds("(32 * i + n) % 32", "n % 32");
  folds("(i + 37) // 32", "(i + 5) // 32 + 1");
  folds("(z - 1) // 4", "(z + 3) // 4 - 1");
  folds("(33 * v) // 32", "v"); /* v + v // 32 */
  folds("(row * n + col) // n", "row + col // n");
  folds("(row * n + col) % n", "col % n");
  folds("(6 * n * i) // (4 * n)", "i + i // 2");
  folds("z // -8", "-z // 8");
  folds("z % -8", "-(-z % 8)");
  folds("i // i", "1");
  folds("(i + n) % (i + n)", "0");
}

static void test_small_values_leave_divisions(void **state) {
  (void)state;
  folds("v // 4", "0");
  folds("v % 4", "v");
  folds("(v + 4) // 4", "1");
  folds("(v - 4) // 4", "-1");
  folds("(v - 4) % 4", "v");
  folds("five // 4", "1");
  folds("five % 4", "five - 4");
  folds("(i + five // 8) // 4", "i // 4");
  folds("five % 5 // 3", "0"); /* at most 2 */
  folds("j // 512", "0");
  folds("j // 511", "j // 511");
  folds("v // (n + 4)", "0");
  folds("v % (n + 4)", "v");
}

static void test_low_parts_leave_divisions(void **state) {
  (void)state;
  folds("(4 * g + v) // 32", "g // 8");
  folds("(4 * g + v) % 32", "g % 8 * 4 + v");
  folds("(6 * g + 4) // 9", "(2 * g + 1) // 3");
  folds("(6 * g + 4) % 9", "(2 * g + 1) % 3 * 3 + 1");
  folds("(16 * g + 4 * v + flag) // 32", "g // 2");
  folds("(4 * g + v + 1) // 32", "(4 * g + v + 1) // 32"); /* v + 1 may be 4 */
  folds("(n4 + v) // 8", "n4 // 8");
  folds("(n4 + v) % 8", "v + n4 % 8");
  folds("(n4 + i) // 4", "i // 4 + n4 // 4");
  folds("(n4 + i) % 4", "i % 4");
}

static void test_nested_divisions(void **state) {
  (void)state;
  folds("i // 4 // 8", "i // 32");
  folds("(i // 4 + 3) // 8", "(i + 12) // 32");
  folds("i // n // 4", "i // (4 * n)");
  folds("i // 4 // z", "i // 4 // z"); /* z may be negative */
  folds("i % 32 % 8", "i % 8");
  folds("(i % 32 * 3 + n) % 8", "(3 * i + n) % 8");
  folds("i % n % n", "i % n");
  folds("i % 8 % 32", "i % 8");
  folds("i % 32 // 4", "i // 4 % 8");
}

/* n4 is a multiple of 4: its quotients are exact. */
static void test_exact_divisions(void **state) {
  (void)state;
  folds("n4 // 4 * 4", "n4");
  folds("n4 // 4 * 2", "n4 // 2");
  folds("n4 // 4 * 3", "n4 // 4 * 3");
  folds("n4 // 2 + n4", "n4 // 2 * 3");
  folds("n4 // 4 + n4 // 2", "n4 // 4 * 3");
  folds("n4 // 4 * row", "n4 * row // 4");
  folds("-n4 // 4", "-(n4 // 4)");
  folds("n4 // 4 * (n4 // 2) * 2", "n4 * n4 // 4");
}

static void test_quotient_joins_remainder(void **state) {
  (void)state;
  folds("i // 32 * 32 + i % 32", "i");
  folds("n * 3 * (i // 7) * 7 + 3 * n * (i % 7)", "3 * i * n");
  folds("i // n * n + i % n", "i");
  folds("(i // n * n + i % n) * row", "i * row");
  folds("i // 128 * 32 + i // 4 % 32", "i // 4");
  folds("i // 32 * 896 + i % 32 * 4", "i // 32 * 896 + i % 32 * 4");
}

static void test_min_max(void **state) {
  (void)state;
  folds("min(v, 7)", "v");
  folds("max(v, 3)", "3");
  folds("min(i, i + 1)", "i");
  folds("max(i + v, i)", "i + v");
  folds("min(min(i, 9), min(n, 5))", "min(min(i, n), 5)");
  folds("min(i, i)", "i");
  folds("max(max(i, n), i)", "max(i, n)");
  assert_int_equal(parse("min(i, min(n, j))"), parse("min(min(j, i), n)"));
}

static void test_comparisons(void **state) {
  (void)state;
  folds("v < 4", "1");
  folds("v < 3", "v < 3");
  folds("v >= 4", "0");
  folds("4 * i + 4 <= 4 * n", "i < n");
  folds("i + 1 <= n", "i < n");
  folds("3 * i < 10", "i < 4");
  folds("i < i + 1", "1");
  folds("n4 == 6", "0");
  folds("2 * i == 7", "0");
  folds("2 * i ~= 8", "i ~= 4");
  folds("v == 9", "0");
  folds("i - n == 0", "i == n");
  folds("n == i", "i == n");
  folds("flag == 1", "flag");
  folds("flag == 0", "not flag");
  folds("flag > 0", "flag");
  folds("flag < 1", "not flag");
  folds("flag ~= 1", "not flag");
}

static void test_logic(void **state) {
  (void)state;
  folds("1 and i", "i ~= 0");
  folds("0 and i // n", "0");
  folds("flag or 7", "1");
  folds("flag or 0", "flag");
  folds("flag and i < n and flag", "flag and i < n");
  folds("not (i < n)", "n <= i");
  folds("not (i < n and flag)", "n <= i or not flag");
  folds("not not flag", "flag");
  folds("not (i == n)", "i ~= n");
  folds("n ~= 0 and i // n < 4", "n ~= 0 and i // n < 4"); /* the guard stays in front */
}

static void test_xor(void **state) {
  (void)state;
  folds("i ^ i", "0");
  folds("i ^ 0", "i");
  folds("i ^ n ^ i", "n");
  folds("6 ^ 3", "5");
  folds("(i ^ 5) ^ 5", "i");
  folds("(4 * i + v) ^ (4 * n)", "(i ^ n) * 4 + v");
  folds("v ^ 16", "v + 16");
  folds("flag ^ (12 * flag)", "flag ^ (12 * flag)"); /* 13 * flag would lose the pieces */
  folds("(8 * i) ^ (8 * n) ^ (4 * i + v)", "(i ^ (2 * i) ^ (2 * n)) * 4 + v");
  assert_int_equal(parse("(8 * i ^ 4 * n) ^ g"), parse("8 * i ^ (4 * n ^ g)"));
}

/* What layouts.lua files produce once a template has put in its indexes. */
static void test_layouts(void **state) {
  (void)state;
  sct_expr with = SCT_EXPR_NONE;
  sct_expr without = SCT_EXPR_NONE;
  const sct_expr aosoa = parse("i // 32 * 896 + 32 * 8 + i % 32 * 4");
  sct_expr place = parse("4 * g + v");
  const sct_expr vector = sct_expr_subst(pool, aosoa, &i, &place, 1);
  int64_t coef = 0;
  sct_expr rest = SCT_EXPR_NONE;
  assert_true(sct_expr_linear(pool, vector, v, &coef, &rest));
  assert_int_equal(coef, 4);
  assert_int_equal(rest, parse("g // 8 * 896 + g % 8 * 16 + 256"));

  place = parse("512 * t + j");
  sct_expr_split(pool, sct_expr_subst(pool, aosoa, &i, &place, 1), &t, 1, &with, &without);
  assert_int_equal(with, parse("14336 * t"));
  assert_int_equal(without, parse("j // 32 * 896 + j % 32 * 4 + 256"));

  const sct_expr blocks48 = parse("i // 48 * 1344 + i % 48 * 4");
  place = parse("96 * t + j");
  sct_expr_split(pool, sct_expr_subst(pool, blocks48, &i, &place, 1), &t, 1, &with, &without);
  assert_int_equal(with, parse("2688 * t"));
  assert_int_equal(without, parse("j // 48 * 1344 + j % 48 * 4"));

  const sct_expr offset = parse("4 * (row * n + 4 * g)");
  const int64_t four = 4;
  assert_int_equal(sct_expr_divisor(pool, offset), 4);
  assert_int_equal(sct_expr_divisor_if(pool, offset, &n, &four, 1), 16);
  assert_int_equal(sct_expr_divisor(pool, parse("4 * row * n4 + 16 * g")), 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_sums, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_multiples_leave_divisions, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_small_values_leave_divisions, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_low_parts_leave_divisions, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_nested_divisions, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_exact_divisions, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_quotient_joins_remainder, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_min_max, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_comparisons, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_logic, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_xor, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_layouts, setup, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
