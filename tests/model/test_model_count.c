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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_degree),
      cmocka_unit_test(test_exchanged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
