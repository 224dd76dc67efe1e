/* The rule of selection among candidates with the header's layouts. */
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

static const char *choose(const row *list, int n, double noise, const char *selection) {
  static sct_row_result results[MAX_ROWS];
  bool legal[MAX_ROWS];
  char conditions[64];
  snprintf(conditions, sizeof(conditions), "{\"selection\": \"%s\"}", selection);
  const sct_row_run run = {.noise = noise, .conditions = conditions};
  for (int k = 0; k < n; k++) {
    results[k] = (sct_row_result){
        .candidate = {.label = (char *)list[k].label, .registers = list[k].registers},
        .outcome = {.median_ns = list[k].median_ns,
                    .how.coalesced = list[k].coalesced,
                    .sectors_ld = list[k].sectors,
                    .wavefronts = list[k].wavefronts,
                    .requests_st = list[k].requests}};
    legal[k] = list[k].legal;
  }
  const int best = emit_choose(results, n, legal, &run);
  return best >= 0 ? list[best].label : "none";
}

static void the_fastest_coalesced_wins(void **state) {
  (void)state;
  const row rows[] = {{"wild", 100, false, 10, 0, 0, 8, true},
                      {"slow", 300, true, 8, 0, 0, 8, true},
                      {"fast", 200, true, 9, 0, 0, 8, true},
                      {"other layout", 50, true, 8, 0, 0, 8, false}};
  assert_string_equal(choose(rows, 4, 0.01, "coalesced"), "fast");
  assert_string_equal(choose(rows, 4, 0.01, "any"), "wild");
  assert_string_equal(choose(rows, 1, 0.01, "coalesced"), "wild"); /* nothing is coalesced */
  assert_string_equal(choose(&rows[3], 1, 0.01, "any"), "none");
  assert_string_equal(choose(rows, 0, 0.01, "any"), "none");
}

/* Only one that moves no more sectors takes part beside coalesced ones. */
static void one_that_is_not_coalesced_ties_by_its_sectors(void **state) {
  (void)state;
  row rows[] = {{"wild", 200, false, 10, 0, 0, 1, true}, {"fast", 200, true, 9, 0, 0, 8, true}};
  assert_string_equal(choose(rows, 2, 0.01, "coalesced"), "fast");
  rows[0].sectors = 9;
  assert_string_equal(choose(rows, 2, 0.01, "coalesced"), "wild");
}

static void untimed_ones_do_not_beat_timed_ones(void **state) {
  (void)state;
  const row rows[] = {{"verified only", 0, true, 1, 0, 0, 1, true},
                      {"timed", 200, true, 9, 0, 0, 8, true},
                      {"timed wild", 100, false, 10, 0, 0, 8, true}};
  assert_string_equal(choose(rows, 3, 0.01, "coalesced"), "timed");
  assert_string_equal(choose(rows, 1, 0.01, "coalesced"), "verified only"); /* a virtual device */
}

static void ties_go_by_counts_then_label(void **state) {
  (void)state;
  /* every row loses against the next by the one figure that comes first */
  const row rows[] = {{"a", 200, true, 9, 0, 0, 0, true}, {"b", 201, true, 8, 7, 0, 0, true},
                      {"c", 201, true, 8, 6, 5, 0, true}, {"d", 201, true, 8, 6, 4, 3, true},
                      {"f", 201, true, 8, 6, 4, 2, true}, {"e", 201, true, 8, 6, 4, 2, true},
                      {"z", 203, true, 1, 1, 1, 1, true}};
  static const char *const expected[] = {"a", "b", "c", "d", "f", "e", "e"};
  for (int n = 1; n <= SCT_COUNT(rows); n++) {
    assert_string_equal(choose(rows, n, 0.01, "coalesced"), expected[n - 1]);
  }
  assert_string_equal(choose(rows, SCT_COUNT(rows), 0.02, "coalesced"), "z");
  assert_string_equal(choose(rows, SCT_COUNT(rows), 0, "coalesced"), "a");
}

/* Of a virtual device, by what it predicts; never beside times that were measured. */
static void predicted_times_count_where_there_are_no_others(void **state) {
  (void)state;
  bool legal[] = {true, true, true};
  sct_row_result rows[] = {
      {.candidate.label = (char *)"few", .outcome = {.how.coalesced = true, .sectors_ld = 1}},
      {.candidate.label = (char *)"slow", .outcome = {.how.coalesced = true, .sectors_ld = 2}},
      {.candidate.label = (char *)"fast", .outcome = {.how.coalesced = true, .sectors_ld = 3}}};
  static const double predicted[] = {300, 207, 204};
  sct_row_run run = {.conditions = (char *)"{}"};
  assert_int_equal(emit_choose(rows, 3, legal, &run), 0);
  for (int k = 0; k < 3; k++) {
    rows[k].outcome.predicted_ns = predicted[k];
  }
  assert_int_equal(emit_choose(rows, 3, legal, &run), 1); /* within 2 %, fewer sectors */
  rows[2].outcome.median_ns = 1000;
  assert_int_equal(emit_choose(rows, 3, legal, &run), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fastest_coalesced_wins),
      cmocka_unit_test(one_that_is_not_coalesced_ties_by_its_sectors),
      cmocka_unit_test(untimed_ones_do_not_beat_timed_ones),
      cmocka_unit_test(ties_go_by_counts_then_label),
      cmocka_unit_test(predicted_times_count_where_there_are_no_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
