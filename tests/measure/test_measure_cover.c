/* Pairs of traits that situations cover, against a table of them all. */
#include "measure/measure_cover.h"

#include <setjmp.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static sct_traits of(const int *numbers, int n) {
  sct_traits t = {0};
  for (int k = 0; k < n; k++) {
    sct_traits_add(&t, numbers[k]);
  }
  return t;
}

static void test_a_pair_is_covered_by_what_has_both(void **state) {
  (void)state;
  SCT_SCOPED(sct_cover) cover = {0};
  sct_cover_init(&cover, 10);
  const sct_traits first = of((int[]){1, 4, 7}, 3), again = of((int[]){7, 1, 4}, 3);
  const sct_traits apart = of((int[]){4, 2, 7}, 3), other = of((int[]){0, 9}, 2);
  const sct_traits mixed = of((int[]){1, 2}, 2), none = {0};
  assert_int_equal(sct_cover_gain(&cover, &first), 3 + 3 * SCT_NEW_TRAIT);
  sct_cover_add(&cover, &first);
  assert_int_equal(sct_cover_gain(&cover, &first), 0);
  assert_int_equal(sct_cover_gain(&cover, &again), 0);
  assert_int_equal(sct_cover_gain(&cover, &apart), 2 + SCT_NEW_TRAIT); /* 2, with 4 and with 7 */
  assert_int_equal(sct_cover_gain(&cover, &other), 1 + 2 * SCT_NEW_TRAIT);
  sct_cover_add(&cover, &apart);
  assert_int_equal(sct_cover_gain(&cover, &mixed), 1); /* each has been, but not both at once */
  assert_int_equal(sct_cover_gain(&cover, &none), 0);
  sct_cover_add(&cover, &mixed);
  assert_int_equal(sct_cover_gain(&cover, &mixed), 0);
  assert_int_equal(sct_cover_gain(&cover, &other), 1 + 2 * SCT_NEW_TRAIT);
}

static bool covered[SCT_MAX_TRAITS][SCT_MAX_TRAITS];

static void test_gains_agree_with_a_table(void **state) {
  (void)state;
  static const int n_traits[] = {1, 8, 9, 63, 64, 65, SCT_MAX_TRAITS};
  sct_rng rng = sct_rng_new(3);
  for (int k = 0; k < SCT_COUNT(n_traits); k++) {
    const int most = n_traits[k];
    SCT_SCOPED(sct_cover) cover = {0};
    sct_cover_init(&cover, most);
    memset(covered, 0, sizeof covered);
    for (int round = 0; round < 200; round++) {
      sct_traits t = {0};
      for (int trait = 0; trait < most; trait++) { /* the last ones too */
        if (trait + 1 == most || sct_rng_below(&rng, most) < 6) {
          sct_traits_add(&t, trait);
        }
      }
      int want = 0;
      for (int i = 0; i < t.n; i++) {
        for (int j = i; j < t.n; j++) {
          want += covered[t.all[i]][t.all[j]] ? 0 : i == j ? SCT_NEW_TRAIT : 1;
        }
      }
      assert_int_equal(sct_cover_gain(&cover, &t), want);
      if (round % 3 != 0) {
        sct_cover_add(&cover, &t);
        for (int i = 0; i < t.n; i++) {
          for (int j = i; j < t.n; j++) {
            covered[t.all[i]][t.all[j]] = true;
          }
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_pair_is_covered_by_what_has_both),
      cmocka_unit_test(test_gains_agree_with_a_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
