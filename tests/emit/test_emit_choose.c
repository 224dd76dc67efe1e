/* Stored rows as the rule of selection sees them (tests/measure/test_measure_choose.c has the
 * rule). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emit/emit_internal.h"

/* A row by what the rule looks at; every other figure is equal. */
typedef struct row {
  const char *label;
  double median_ns;
  bool coalesced;
  double sectors, wavefronts, requests;
  int registers;
  bool legal;
} row;

#define MAX_ROWS 8

static const char *choose(const row *list, int n, bool any) {
  static sct_row_result results[MAX_ROWS];
  bool legal[MAX_ROWS];
  for (int k = 0; k < n; k++) {
    results[k] =
        (sct_row_result){.candidate = {.label = list[k].label, .registers = list[k].registers},
                         .outcome = {.race = "",
                                     .times.median_ns = list[k].median_ns,
                                     .how.coalesced = list[k].coalesced,
                                     .sectors_ld = list[k].sectors,
                                     .wavefronts = list[k].wavefronts,
                                     .requests_st = list[k].requests}};
    legal[k] = list[k].legal;
  }
  const int best = emit_choose(results, n, legal, -1, any);
  return best >= 0 ? list[best].label : "none";
}

static void the_fastest_coalesced_wins(void **state) {
  (void)state;
  const row rows[] = {{"wild", 100, false, 10, 0, 0, 8, true},
                      {"slow", 300, true, 8, 0, 0, 8, true},
                      {"fast", 200, true, 9, 0, 0, 8, true},
                      {"other layout", 50, true, 8, 0, 0, 8, false}};
  assert_string_equal(choose(rows, 4, false), "fast");
  assert_string_equal(choose(rows, 4, true), "wild");
  assert_string_equal(choose(rows, 1, false), "wild"); /* nothing is coalesced */
  assert_string_equal(choose(&rows[3], 1, true), "none");
  assert_string_equal(choose(rows, 0, true), "none");
}

/* Only one that moves no more sectors takes part beside coalesced ones. */
static void one_that_is_not_coalesced_ties_by_its_sectors(void **state) {
  (void)state;
  row rows[] = {{"wild", 200, false, 10, 0, 0, 1, true}, {"fast", 200, true, 9, 0, 0, 8, true}};
  assert_string_equal(choose(rows, 2, false), "fast");
  rows[0].sectors = 9;
  assert_string_equal(choose(rows, 2, false), "wild");
}

static void untimed_ones_do_not_beat_timed_ones(void **state) {
  (void)state;
  const row rows[] = {{"verified only", 0, true, 1, 0, 0, 1, true},
                      {"timed", 200, true, 9, 0, 0, 8, true},
                      {"timed wild", 100, false, 10, 0, 0, 8, true}};
  assert_string_equal(choose(rows, 3, false), "timed");
  assert_string_equal(choose(rows, 1, false), "verified only"); /* a virtual device */
}

static void ties_go_by_counts_then_label(void **state) {
  (void)state;
  /* every row loses against the next by the one figure that comes first */
  const row rows[] = {{"a", 200, true, 9, 0, 0, 0, true},   {"b", 200.5, true, 8, 7, 0, 0, true},
                      {"c", 200.5, true, 8, 6, 5, 0, true}, {"d", 200.5, true, 8, 6, 4, 3, true},
                      {"f", 200.5, true, 8, 6, 4, 2, true}, {"e", 200.5, true, 8, 6, 4, 2, true},
                      {"z", 203, true, 1, 1, 1, 1, true}};
  static const char *const expected[] = {"a", "b", "c", "d", "f", "e", "e"};
  for (int n = 1; n <= SCT_COUNT(rows); n++) {
    assert_string_equal(choose(rows, n, false), expected[n - 1]);
  }
}

/* Of a virtual device, by what it predicts; never beside times that were measured. */
static void predicted_times_count_where_there_are_no_others(void **state) {
  (void)state;
  bool legal[] = {true, true, true};
  sct_row_result rows[] = {
      {.candidate.label = "few", .outcome = {.how.coalesced = true, .sectors_ld = 1}},
      {.candidate.label = "slow", .outcome = {.how.coalesced = true, .sectors_ld = 2}},
      {.candidate.label = "fast", .outcome = {.how.coalesced = true, .sectors_ld = 3}}};
  static const double predicted[] = {300, 207, 204};
  assert_int_equal(emit_choose(rows, 3, legal, -1, false), 0);
  for (int k = 0; k < 3; k++) {
    rows[k].outcome.predicted_ns = predicted[k];
  }
  assert_int_equal(emit_choose(rows, 3, legal, -1, false), 1); /* within 2 %, fewer sectors */
  rows[2].outcome.times.median_ns = 1000;
  assert_int_equal(emit_choose(rows, 3, legal, -1, false), 2);
}

/* Samples of one race are compared in pairs, those of two are not compared at all. */
static void samples_of_a_race_are_pairs(void **state) {
  (void)state;
  double slow[9], fast[9];
  bool legal[] = {true, true};
  sct_row_result rows[2] = {{.candidate.label = "few",
                             .outcome = {.race = "",
                                         .times.median_ns = 203,
                                         .times.samples_ns = slow,
                                         .times.n_samples = 9,
                                         .sectors_ld = 1}},
                            {.candidate.label = "fast",
                             .outcome = {.race = "",
                                         .times.median_ns = 200,
                                         .times.samples_ns = fast,
                                         .times.n_samples = 9,
                                         .sectors_ld = 2}}};
  for (int k = 0; k < 9; k++) { /* always slower by 1.5 %, while the machine drifts by more */
    fast[k] = 196 + k;
    slow[k] = 1.015 * fast[k];
  }
  assert_int_equal(emit_choose(rows, 2, legal, -1, false), 0); /* each by itself: as good */
  rows[0].outcome.race = rows[1].outcome.race = "1";
  assert_int_equal(emit_choose(rows, 2, legal, -1, false), 1);
  slow[0] = slow[1] = slow[2] = 190;
  assert_int_equal(emit_choose(rows, 2, legal, -1, false), 0);
  rows[1].outcome.race = "2";
  for (int k = 0; k < 9; k++) {
    slow[k] = 1.03 * fast[k];
  }
  rows[0].outcome.times.median_ns = 206;
  assert_int_equal(emit_choose(rows, 2, legal, -1, false), 1);
}

static void exact_arithmetic_and_naive_rows_go_first(void **state) {
  (void)state;
  bool legal[] = {true, true};
  sct_row_result rows[2] = {
      {.candidate = {.label = "a", .axes = "{\"math\": \"fast\"}"},
       .outcome = {.race = "", .times.median_ns = 200, .how.coalesced = true}},
      {.candidate = {.label = "b", .axes = "{\"math\": \"exact\"}"},
       .outcome = {.race = "", .times.median_ns = 200, .how.coalesced = true}}};
  assert_int_equal(emit_choose(rows, 2, legal, -1, false), 1);
  rows[0].outcome.times.median_ns = 100;
  rows[0].outcome.how.coalesced = false;
  rows[0].outcome.sectors_ld = 1;
  assert_int_equal(emit_choose(rows, 2, legal, -1, false), 1);
  assert_int_equal(emit_choose(rows, 2, legal, 0, false), 0); /* naive, and faster */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fastest_coalesced_wins),
      cmocka_unit_test(one_that_is_not_coalesced_ties_by_its_sectors),
      cmocka_unit_test(untimed_ones_do_not_beat_timed_ones),
      cmocka_unit_test(ties_go_by_counts_then_label),
      cmocka_unit_test(predicted_times_count_where_there_are_no_others),
      cmocka_unit_test(samples_of_a_race_are_pairs),
      cmocka_unit_test(exact_arithmetic_and_naive_rows_go_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
