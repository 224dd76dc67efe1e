/* Evaluation that refuses what it cannot do, and programs that promise only speed. */
#include "expr_test.h"

static sct_expr i, n;

static int setup(void **state) {
  (void)state;
  open_pool();
  i = sct_expr_var(pool, "i", SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
  n = sct_expr_var(pool, "n", SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
  return 0;
}

static sct_status eval(const char *text, int64_t of_i, int64_t of_n, int64_t *value,
                       sct_error *err) {
  const sct_expr vars[2] = {i, n};
  const int64_t values[2] = {of_i, of_n};
  const sct_expr_env env = {vars, values, 2};
  return sct_expr_eval(pool, parse(text), &env, value, err);
}

static void gives(const char *text, int64_t of_i, int64_t of_n, int64_t want) {
  int64_t value = 0;
  sct_error err = {SCT_OK, ""};
  assert_int_equal(eval(text, of_i, of_n, &value, &err), SCT_OK);
  assert_int_equal(value, want);
}

static void refuses(const char *text, int64_t of_i, int64_t of_n, const char *why) {
  int64_t value = 42;
  sct_error err = {SCT_OK, ""};
  assert_int_equal(eval(text, of_i, of_n, &value, &err), SCT_ESPEC);
  assert_string_equal(err.text, why);
  assert_int_equal(value, 42);
}

static void test_floor_semantics(void **state) {
  (void)state;
  gives("i // n", 7, 2, 3);
  gives("i // n", -7, 2, -4);
  gives("i // n", 7, -2, -4);
  gives("i // n", -7, -2, 3);
  gives("i % n", 7, 2, 1);
  gives("i % n", -7, 2, 1);
  gives("i % n", 7, -2, -1);
  gives("i % n", -7, -2, -1);
  gives("i % n", INT64_MIN, -1, 0);
  gives("i // 8", -1, 0, -1);
  gives("i % 8", -1, 0, 7);
}

static void test_what_is_refused(void **state) {
  (void)state;
  const char *const overflow = "the value overflows 64 bits";
  refuses("i // n", 1, 0, "division by zero");
  refuses("i % n", 1, 0, "division by zero");
  refuses("i // n", INT64_MIN, -1, overflow);
  refuses("i * n", INT64_MAX, 2, overflow);
  refuses("i + n", INT64_MAX, 1, overflow);
  refuses("4 * i", INT64_MAX / 2, 0, overflow);
  gives("i + n - 1", INT64_MAX, 1, INT64_MAX); /* what cancels is no overflow */
  int64_t value = 0;
  sct_error err = {SCT_OK, ""};
  const int64_t three = 3;
  const sct_expr_env env = {&i, &three, 1};
  assert_int_equal(sct_expr_eval(pool, parse("i + n"), &env, &value, &err), SCT_ESPEC);
  assert_string_equal(err.text, "'n' has no value here");
  assert_int_equal(sct_expr_eval(pool, SCT_EXPR_NONE, &env, &value, &err), SCT_ESPEC);
  assert_int_equal(sct_expr_eval(pool, parse("i + n"), &env, &value, NULL), SCT_ESPEC);
}

static void test_guards(void **state) {
  (void)state;
  gives("n ~= 0 and i // n > 3", 9, 0, 0);
  gives("n == 0 or i // n > 3", 9, 0, 1);
  gives("n ~= 0 and i // n > 3", 9, 2, 1);
}

static void test_programs(void **state) {
  (void)state;
  sct_error err = {SCT_OK, ""};
  sct_expr_program *program = NULL;
  const sct_expr inputs[2] = {n, i};
  const sct_expr e = parse("2 * i * (i // 32) + i // 32 * 7 + i % 6 - n");
  assert_int_equal(sct_expr_program_new(&program, pool, e, inputs, 2, &err), SCT_OK);
  assert_int_equal(sct_expr_program_run(program, (const int64_t[]){5, 100}), 200 * 3 + 21 + 4 - 5);
  sct_expr_program_free(program);

  assert_int_equal(sct_expr_program_new(&program, pool, e, inputs, 1, &err), SCT_ESPEC);
  assert_string_equal(err.text, "'i' has no value here");
  assert_int_equal(sct_expr_program_new(&program, pool, SCT_EXPR_NONE, inputs, 1, &err), SCT_ESPEC);

  assert_int_equal(sct_expr_program_new(&program, pool, parse("i // n + i % n"), inputs, 2, &err),
                   SCT_OK);
  assert_int_equal(sct_expr_program_run(program, (const int64_t[]){0, 9}), 0); /* documented */
  assert_int_equal(sct_expr_program_run(program, (const int64_t[]){-1, INT64_MIN}), INT64_MIN);
  sct_expr_program_free(program);

  assert_int_equal(sct_expr_program_new(&program, pool, parse("17"), NULL, 0, &err), SCT_OK);
  assert_int_equal(sct_expr_program_run(program, NULL), 17);
  sct_expr_program_free(program);

  assert_int_equal(sct_expr_program_new(&program, pool, i, inputs, 2, &err), SCT_OK);
  assert_int_equal(sct_expr_program_run(program, (const int64_t[]){1, 2}), 2);
  sct_expr_program_free(program);
  sct_expr_program_free(NULL);
}

/* n // k % (inner + 1): the left side waits while the right one is worked out. */
static sct_expr wrap(sct_expr inner, int64_t k) {
  const sct_expr left = sct_expr_div(pool, n, sct_expr_const(pool, k));
  return sct_expr_mod(pool, left, sct_expr_add(pool, inner, sct_expr_const(pool, 1)));
}

/* Many values at once, and too many parts. */
static void test_program_parts(void **state) {
  (void)state;
  sct_error err = {SCT_OK, ""};
  sct_expr_program *program = NULL;
  sct_expr e = i;
  for (int k = 2; k < 60; k++) {
    e = wrap(e, k);
  }
  const int64_t values[2] = {1000003, 987654321};
  const sct_expr inputs[2] = {i, n};
  const sct_expr_env env = {inputs, values, 2};
  int64_t want = 0;
  assert_int_equal(sct_expr_eval(pool, e, &env, &want, &err), SCT_OK);
  assert_int_equal(sct_expr_program_new(&program, pool, e, inputs, 2, &err), SCT_OK);
  assert_int_equal(sct_expr_program_run(program, values), want);
  sct_expr_program_free(program);
  e = sct_expr_const(pool, 0);
  for (int k = 2; k < 1000; k++) {
    e = sct_expr_add(pool, e, wrap(i, k));
  }
  assert_int_equal(sct_expr_program_new(&program, pool, e, inputs, 2, &err), SCT_ESPEC);
  assert_non_null(strstr(err.text, "more than 2048 parts"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_floor_semantics, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_what_is_refused, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_guards, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_programs, setup, close_pool),
      cmocka_unit_test_setup_teardown(test_program_parts, setup, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
