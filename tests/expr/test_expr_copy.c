/* Expressions as bytes: what is read back is the expression itself where the pool is the same, has
 * its value in another pool, and no bytes make an expression of nothing. */
#include "expr_random.h"

#define N_CASES   3000
#define N_SAMPLES 12

static sct_str bytes;

static int setup(void **state) {
  (void)state;
  open_leaves();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  sct_str_free(&bytes);
  close_pool();
  return 0;
}

static sct_expr copy_of(sct_expr_pool *to, sct_expr e) {
  sct_str_clear(&bytes);
  sct_expr_write(&bytes, pool, e);
  return sct_expr_read(to, sct_str_c(&bytes), bytes.len);
}

/* The leaves in a pool of their own, and their handles there. */
static sct_expr_pool *other_pool(sct_expr there[N_DOMAINS]) {
  sct_expr_pool *other = NULL;
  sct_expr_pool_new(&other);
  for (int k = N_DOMAINS - 1; k >= 0; k--) { /* in another order: other handles */
    const domain *d = &domains[k];
    there[k] = sct_expr_var(other, d->name, d->lo, d->hi, d->multiple);
  }
  return other;
}

static void test_random_expressions_arrive(void **state) {
  (void)state;
  sct_rng rng = open_rng(11);
  sct_expr there[N_DOMAINS];
  sct_expr_pool *other = other_pool(there);
  int n_same = 0, n_all = 0;
  for (int k = 0; k < N_CASES; k++) {
    n_trees = 0;
    const int t = random_tree(&rng, 1 + (int)sct_rng_below(&rng, 4));
    const int32_t mark = sct_expr_mark(pool), other_mark = sct_expr_mark(other);
    const sct_expr e = build(t, false);
    if (e != SCT_EXPR_NONE) {
      const sct_expr far = copy_of(other, e);
      assert_int_not_equal(far, SCT_EXPR_NONE);
      n_all++;
      n_same += copy_of(pool, e) == e;
      bool used[N_DOMAINS] = {false};
      mark_used(t, used);
      for (int n = 0; n < N_SAMPLES; n++) {
        int64_t here_value = 0, far_value = 0;
        assign(used, (int64_t)sct_rng_below(&rng, count_assignments(used)));
        const sct_expr_env here_env = {leaves, leaf_values, N_DOMAINS};
        const sct_expr_env far_env = {there, leaf_values, N_DOMAINS};
        const bool known = sct_expr_eval(pool, e, &here_env, &here_value, NULL) == SCT_OK &&
                           sct_expr_eval(other, far, &far_env, &far_value, NULL) == SCT_OK;
        assert_true(!known || here_value == far_value);
      }
    }
    sct_expr_reset(pool, mark);
    sct_expr_reset(other, other_mark);
  }
  sct_expr_pool_free(other);
  assert_true(n_all > N_CASES / 2);
  assert_true(n_same > n_all - n_all / 50); /* folded again, a few come out otherwise */
}

static void test_no_expression_is_no_bytes(void **state) {
  (void)state;
  assert_int_equal(copy_of(pool, SCT_EXPR_NONE), SCT_EXPR_NONE);
  assert_int_equal(bytes.len, 0);
}

static void test_damaged_bytes_are_none(void **state) {
  (void)state;
  const sct_expr e = parse("min(n % 7 + 4 * c, a * b) + 3");
  assert_int_equal(copy_of(pool, e), e);
  for (size_t n = 0; n < bytes.len; n++) {
    assert_int_equal(sct_expr_read(pool, bytes.data, n), SCT_EXPR_NONE);
  }
  sct_str_append_n(&bytes, "\0", 1);
  assert_int_equal(sct_expr_read(pool, bytes.data, bytes.len), SCT_EXPR_NONE);
  sct_rng rng = open_rng(12);
  for (int k = 0; k < 2000; k++) { /* any answer, but no crash */
    assert_int_equal(copy_of(pool, e), e);
    bytes.data[sct_rng_below(&rng, (int64_t)bytes.len)] = (char)sct_rng_below(&rng, 256);
    (void)sct_expr_read(pool, bytes.data, bytes.len);
  }
}

static void test_an_unknown_variable_is_none(void **state) {
  (void)state;
  sct_expr_pool *empty = NULL;
  sct_expr_pool_new(&empty);
  assert_int_equal(copy_of(empty, parse("a + 1")), SCT_EXPR_NONE);
  assert_int_not_equal(copy_of(empty, parse("41 + 1")), SCT_EXPR_NONE);
  sct_expr_pool_free(empty);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_random_expressions_arrive, setup, teardown),
      cmocka_unit_test_setup_teardown(test_no_expression_is_no_bytes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damaged_bytes_are_none, setup, teardown),
      cmocka_unit_test_setup_teardown(test_an_unknown_variable_is_none, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
