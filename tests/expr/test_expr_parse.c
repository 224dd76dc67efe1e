/* Text to expression: Lua's precedences, and errors that name the column and the nearest name. */
#include "expr_test.h"

static sct_expr a, b, threads;

static int setup(void **state) {
  (void)state;
  open_pool();
  a = sct_expr_var(pool, "a", -100, 100, 1);
  b = sct_expr_var(pool, "b", -100, 100, 1);
  threads = sct_expr_var(pool, "threads", 32, 1024, 32);
  sct_expr_var(pool, "layout.x", 0, 9, 1);
  return 0;
}

static void same(const char *text, const char *with_brackets) {
  if (parse(text) != parse(with_brackets)) {
    fail_msg("%s does not read as %s", text, with_brackets);
  }
}

static void test_precedence(void **state) {
  (void)state;
  same("a + b * a", "a + (b * a)");
  same("a - b - a + 3", "((a - b) - a) + 3");
  same("a * b // 7 % 5", "((a * b) // 7) % 5");
  same("a / 3", "a // 3");
  same("-a % 3", "(-a) % 3");
  same("- 3 * a", "(-3) * a");
  same("a ^ b + 1", "a ^ (b + 1)");
  same("a ^ b < 3", "(a ^ b) < 3");
  same("a ~ b", "a ^ b");
  same("a < b and b < 3 or a == 9", "((a < b) and (b < 3)) or (a == 9)");
  same("a == 1 or a == 2 and b == 3", "a == 1 or ((a == 2) and (b == 3))");
  same("not a == b", "(not a) == b");
  same("not (a < b) and b > 3", "(not (a < b)) and (b > 3)");
  same("a ~= b", "a != b");
  same("a < 3 && b < 3 || !a", "a < 3 and b < 3 or not a");
  same("a >= b", "b <= a");
  same("a > b", "b < a");
  same("min(a, b + 1) * 2", "2 * min(b + 1, a)");
  same("max( a , min(b,3) )", "max(min(3, b), a)");
  same("0x1F", "31");
  same("layout.x + 1", "1 + layout.x");
  same("--a", "a");
  assert_int_equal(parse("-9223372036854775808"), sct_expr_const(pool, INT64_MIN));
  assert_int_equal(parse("9223372036854775807"), sct_expr_const(pool, INT64_MAX));
  assert_int_not_equal(parse("a < b"), parse("a <= b"));
  assert_int_not_equal(parse("min(a, b)"), parse("max(a, b)"));
}

static void refuses(const char *text, const char *expected) {
  const sct_expr untouched = a;
  sct_expr e = untouched;
  sct_error err = {SCT_OK, ""};
  assert_int_equal(sct_expr_parse(&e, pool, text, NULL, &err), SCT_ESPEC);
  assert_int_equal(err.code, SCT_ESPEC);
  assert_int_equal(e, untouched);
  if (strncmp(err.text, expected, strlen(expected)) != 0) {
    fail_msg("'%s' gives \"%s\", not \"%s\"", text, err.text, expected);
  }
}

static void test_errors(void **state) {
  (void)state;
  refuses("", "column 1: expected a value, but the text ends here");
  refuses("a +", "column 4: expected a value, but the text ends here");
  refuses("a + * b", "column 5: expected a value before '*'");
  refuses("(a + b", "column 7: expected ')', but the text ends here");
  refuses("a b", "column 3: expected an operator or the end before 'b'");
  refuses("a < b < 3", "column 7: comparisons do not chain: write 'a < b and b < c'");
  refuses("a and", "column 6: expected a value");
  refuses("and a", "column 1: expected a value before 'and'");
  refuses("thread * 4", "column 1: unknown name 'thread'; did you mean 'threads'?");
  refuses("4 * (threads + treads)", "column 16: unknown name 'treads'; did you mean 'threads'?");
  refuses("mim(a, b)", "column 1: unknown function 'mim'; did you mean 'min'?");
  refuses("sqrt(a)", "column 1: unknown function 'sqrt'; expected one of min, max");
  refuses("min(a)", "column 6: expected ',' and a second value before ')'");
  refuses("min(a, b", "column 9: expected ')', but the text ends here");
  refuses("a // 0", "column 3: division by zero");
  refuses("a % (3 - 3)", "column 3: division by zero");
  refuses("1.5 * a", "column 1: only integers are allowed here");
  refuses("12ab", "column 1: malformed number");
  refuses("0x", "column 1: malformed number");
  refuses("9223372036854775808", "column 1: the number does not fit 64 bits");
  refuses("99999999999999999999", "column 1: the number does not fit 64 bits");
  refuses("4611686018427387904 * 4", "column 21: a constant overflows 64 bits");
  refuses("a @ b", "column 3: '@' is no operator here");
  refuses("a << 2", "column 4: expected a value before '<'");
  refuses("a == 'cs", "column 6: the string has no closing '");
  refuses("a = b", "column 3: '=' is no operator here");
}

static void test_nesting_is_bounded(void **state) {
  (void)state;
  sct_error err = {SCT_OK, ""};
  sct_expr e = SCT_EXPR_NONE;
  char text[5000];
  memset(text, '(', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_int_equal(sct_expr_parse(&e, pool, text, NULL, &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "nested too deeply"));
  memset(text, '-', sizeof text - 1);
  assert_int_equal(sct_expr_parse(&e, pool, text, NULL, &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "nested too deeply"));
}

/* Constraints: names and strings come from a resolver. */
static sct_expr resolve(void *ctx, sct_expr_pool *p, const char *name, bool is_string) {
  ++*(int *)ctx;
  if (is_string) {
    return strcmp(name, "cs") == 0 ? sct_expr_const(p, 1001) : SCT_EXPR_NONE;
  }
  return strcmp(name, "hint") == 0 ? sct_expr_const(p, 1001) : SCT_EXPR_NONE;
}

static void test_resolver(void **state) {
  (void)state;
  static const char *const known[] = {"hint", "cs"};
  int calls = 0;
  const sct_expr_names names = {resolve, &calls, known, 2};
  sct_error err = {SCT_OK, ""};
  sct_expr e = SCT_EXPR_NONE;
  assert_int_equal(sct_expr_parse(&e, pool, "hint == 'cs'", &names, &err), SCT_OK);
  assert_int_equal(e, sct_expr_const(pool, 1));
  assert_int_equal(sct_expr_parse(&e, pool, "hint ~= \"cs\"", &names, &err), SCT_OK);
  assert_int_equal(e, sct_expr_const(pool, 0));
  assert_int_equal(calls, 4);
  assert_int_equal(sct_expr_parse(&e, pool, "hint == 'cx'", &names, &err), SCT_ESPEC);
  assert_string_equal(err.text, "column 9: unknown name 'cx'; did you mean 'cs'?");
  assert_int_equal(sct_expr_parse(&e, pool, "hnit + 1", &names, &err), SCT_ESPEC);
  assert_string_equal(err.text, "column 1: unknown name 'hnit'; did you mean 'hint'?");
}

/* Random words in a row: an error with a column, or an expression whose text reads back. */
static void test_word_soup(void **state) {
  (void)state;
  static const char *const values[] = {
      "a",   "b",   "threads",  "layout.x", "3", "0x10", "7",  "not",   "-",
      "( a", "b )", "min( a ,", "(",        ")", "'s'",  "64", "and b", "9223372036854775807"};
  static const char *const operators[] = {"+", "-",  "*", "/",  "//", "%",   "^",  "~",
                                          "<", "<=", ")", "==", "~=", "and", "or", ","};
  sct_rng rng = sct_rng_new(31);
  const int32_t mark = sct_expr_mark(pool);
  int good = 0;
  printf("seed 31\n");
  for (int round = 0; round < 60000; round++) {
    char text[256] = "";
    const int64_t n = 1 + sct_rng_below(&rng, 9);
    for (int64_t k = 0; k < n; k++) {
      const bool value = (k % 2 == 0) != (sct_rng_below(&rng, 30) == 0);
      strcat(text, value ? values[sct_rng_below(&rng, SCT_COUNT(values))]
                         : operators[sct_rng_below(&rng, SCT_COUNT(operators))]);
      strcat(text, " ");
    }
    sct_expr e = SCT_EXPR_NONE;
    sct_error err = {SCT_OK, ""};
    if (sct_expr_parse(&e, pool, text, NULL, &err) == SCT_OK) {
      sct_str printed = {0};
      sct_expr_print(&printed, pool, e);
      if (parse(sct_str_c(&printed)) != e) {
        fail_msg("%s reads as %s, which reads as something else", text, sct_str_c(&printed));
      }
      sct_str_free(&printed);
      good++;
    } else {
      assert_int_equal(strncmp(err.text, "column ", 7), 0);
    }
    sct_expr_reset(pool, mark);
  }
  assert_true(good > 3000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_precedence, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_errors, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_nesting_is_bounded, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_resolver, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_word_soup, setup, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
