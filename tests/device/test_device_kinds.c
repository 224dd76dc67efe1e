/* The table of kinds, and what results mean. */
#include "device/device.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static void test_ids_are_split(void **state) {
  (void)state;
  const sct_device_kind *kind = NULL;
  const char *name = NULL;
  sct_error err;
  assert_int_equal(sct_device_parse(&kind, &name, "cuda:12", &err), SCT_OK);
  assert_string_equal(kind->prefix, "cuda");
  assert_string_equal(name, "12");
  assert_true(kind->runs && kind->times);
  assert_int_equal(sct_device_parse(&kind, &name, "virtual:h200", &err), SCT_OK);
  assert_string_equal(kind->prefix, "virtual");
  assert_string_equal(name, "h200");
  assert_true(kind->runs);
  assert_false(kind->times);
  assert_non_null(strstr(kind->says, "verified"));
  assert_non_null(strstr(kind->says, "counted and predicted, not timed"));
}

static void test_a_replay_says_that_it_measures_nothing(void **state) {
  (void)state;
  const sct_device_kind *kind = NULL;
  const char *name = NULL;
  assert_int_equal(sct_device_parse(&kind, &name, "replay:a:b.db#cuda:0", NULL), SCT_OK);
  assert_string_equal(name, "a:b.db#cuda:0");
  assert_true(kind->replays && kind->times);
  assert_false(kind->runs);
  assert_non_null(strstr(kind->says, "nothing is measured, nothing is stored"));
  int n = 0, n_replaying = 0;
  const sct_device_kind *kinds = sct_device_kinds(&n);
  for (int k = 0; k < n; k++) {
    n_replaying += kinds[k].replays;
  }
  assert_int_equal(n_replaying, 1);
}

static void test_wrong_ids_name_the_kinds(void **state) {
  (void)state;
  const sct_device_kind *kind = NULL;
  const char *name = NULL;
  sct_error err;
  assert_int_equal(sct_device_parse(&kind, &name, "cuad:0", &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "did you mean 'cuda'"));
  assert_int_equal(sct_device_parse(&kind, &name, "zebra", &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "cuda, virtual"));
  static const char *const nameless[] = {"cuda", "cuda:", "virtual:", "virtual"};
  for (int k = 0; k < SCT_COUNT(nameless); k++) {
    assert_int_equal(sct_device_parse(&kind, &name, nameless[k], &err), SCT_EUSAGE);
    assert_non_null(strstr(err.text, ":NAME"));
  }
  assert_int_equal(sct_device_parse(&kind, &name, "", &err), SCT_EUSAGE);
  assert_int_equal(sct_device_parse(&kind, &name, ":", NULL), SCT_EUSAGE);
}

static void test_the_table_is_in_use(void **state) {
  (void)state;
  int n = 0;
  const sct_device_kind *kinds = sct_device_kinds(&n);
  assert_int_equal(n, 3);
  for (int k = 0; k < n; k++) {
    char id[64];
    const sct_device_kind *kind = NULL;
    const char *name = NULL;
    snprintf(id, sizeof id, "%s:x", kinds[k].prefix);
    assert_int_equal(sct_device_parse(&kind, &name, id, NULL), SCT_OK);
    assert_ptr_equal(kind, &kinds[k]);
    assert_true(strlen(kinds[k].doc) > 0 && strlen(kinds[k].says) > 0);
  }
}

/* The twelve codes after which the CUDA header asks for the process to be ended, and 710. */
static void test_sticky_results(void **state) {
  (void)state;
  static const int sticky[] = {226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911};
  for (int code = 0; code < 1000; code++) {
    bool listed = false;
    for (int k = 0; k < SCT_COUNT(sticky); k++) {
      listed = listed || sticky[k] == code;
    }
    assert_int_equal(sct_cuda_is_sticky(code), listed);
  }
}

static void test_lost_devices(void **state) {
  (void)state;
  assert_true(sct_cuda_is_lost(214) && sct_cuda_is_lost(46) && sct_cuda_is_lost(226));
  assert_false(sct_cuda_is_lost(0) || sct_cuda_is_lost(1) || sct_cuda_is_lost(700) ||
               sct_cuda_is_lost(719) || sct_cuda_is_lost(2));
}

static void test_results_have_names_and_meanings(void **state) {
  (void)state;
  assert_string_equal(sct_cuda_result_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
  assert_string_equal(sct_cuda_result_name(0), "CUDA_SUCCESS");
  assert_non_null(strstr(sct_cuda_result_text(701), "shared memory"));
  assert_non_null(sct_cuda_result_name(-5));
  assert_non_null(sct_cuda_result_text(12345));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids_are_split),
      cmocka_unit_test(test_a_replay_says_that_it_measures_nothing),
      cmocka_unit_test(test_wrong_ids_name_the_kinds),
      cmocka_unit_test(test_the_table_is_in_use),
      cmocka_unit_test(test_sticky_results),
      cmocka_unit_test(test_lost_devices),
      cmocka_unit_test(test_results_have_names_and_meanings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
