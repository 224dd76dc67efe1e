/* What is said of counters, and which of many blocks stand for all. */
#include "model_fixture.h"

static void test_degree(void **state) {
  (void)state;
  const sct_count none = {0};
  const sct_count records = {.requests = 3, .sectors = 72, .distinct_bytes = 768};
  assert_true(sct_model_degree(&none) == 1.0);
  assert_true(sct_model_degree(&records) == 768.0 / (72 * 32));
}

/* Lanes exchange bytes by either. */
static void test_exchanged(void **state) {
  (void)state;
  const sct_counters c = {.wavefronts_ld = 5, .wavefronts_st = 7, .shuffles = 11};
  assert_true(sct_model_exchange_wavefronts(&c) == 23.0);
}

/* Numbers ascend from the first to the last, and what they stand for is all. */
static void test_subsets_stand_for_all(void **state) {
  (void)state;
  for (int64_t total = 1; total < 5000; total = total * 3 + 1) {
    for (int64_t most = 3; most < 100; most += 13) {
      const sct_subset s = sct_subset_of(total, most);
      double all = 0;
      assert_int_equal(s.n, total < most ? total : most);
      for (int64_t k = 0; k < s.n; k++) {
        assert_true(k == 0 || sct_subset_at(s, k) > sct_subset_at(s, k - 1));
        all += sct_subset_weight(s, k);
      }
      assert_int_equal(sct_subset_at(s, 0), 0);
      assert_int_equal(sct_subset_at(s, s.n - 1), total - 1);
      assert_true(all > (double)total - 1e-6 && all < (double)total + 1e-6);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_degree),
      cmocka_unit_test(test_exchanged),
      cmocka_unit_test(test_subsets_stand_for_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
