/* Choosing: coalesced first, ties broken by counts, faster uncoalesced candidates named. */
#include "tune/tune_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static double samples[8][11];

/* Takes its samples as they are. */
static void sample(sct_rank_row *r, int k) {
  r->outcome.times = (sct_times){.samples_ns = samples[k], .n_samples = 11};
  sct_times_summarise(&r->outcome.times);
}

/* A row with samples spread by 0.2 % around `ns`; of 16 sectors up to 20 are coalesced. */
static sct_rank_row row(int k, const char *label, double ns, int n_sectors, int registers) {
  sct_rank_row r = {.eligible = true,
                    .label = label,
                    .registers = registers,
                    .outcome = {.race = "",
                                .sectors_ld = n_sectors,
                                .requests_ld = 100,
                                .how.coalesced = n_sectors <= 20}};
  if (ns > 0) {
    for (int s = 0; s < 11; s++) {
      samples[k][s] = ns * (1.0 + 0.0004 * (s - 5));
    }
    sample(&r, k);
  }
  return r;
}

static void test_the_fastest_coalesced_wins(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "direct", 1000, 48, 20), row(1, "staged", 400, 16, 30),
                         row(2, "vector", 500, 16, 10)};
  const sct_choice choice = sct_choose(rows, 3, false);
  assert_int_equal(choice.winner, 1);
  assert_int_equal(choice.passed_over, -1);
  assert_int_equal(choice.n_tied, 1);
  assert_true(choice.faster_ratio == 1.0);
}

static void assert_decided_by(const sct_choice *choice, const char *rules) {
  sct_str text = {0};
  sct_choice_rules(&text, choice);
  assert_string_equal(sct_str_c(&text), rules);
  sct_str_free(&text);
}

/* The choice names what decided among rows that are as good. */
static void test_the_rule_of_a_tie_is_named(void **state) {
  (void)state;
  static const char *const rules[] = {"fewer sectors",  "fewer shared wavefronts",
                                      "fewer requests", "fewer registers",
                                      "the label",      "exact arithmetic"};
  for (int k = 0; k < SCT_COUNT(rules); k++) {
    sct_rank_row rows[] = {row(0, "b", 100, 16, 20), row(1, "a", 100, 16, 20)};
    rows[1].outcome.sectors_ld *= k == 0 ? 0.9 : k == 5 ? 1.1 : 1.0;
    rows[0].fast = k == 5;
    rows[1].outcome.wavefronts = k == 1 ? 10.0 : 20.0;
    rows[0].outcome.wavefronts = 20.0;
    rows[1].outcome.requests_ld *= k == 2 ? 0.9 : 1.0;
    rows[1].registers -= k == 3 ? 4 : 0;
    const sct_choice choice = sct_choose(rows, 2, false);
    assert_int_equal(choice.winner, 1);
    assert_int_equal(choice.n_close, 2);
    assert_decided_by(&choice, rules[k]);
  }
  sct_rank_row alone[] = {row(0, "b", 100, 16, 20), row(1, "a", 200, 16, 20)};
  const sct_choice choice = sct_choose(alone, 2, false);
  assert_int_equal(choice.n_close, 1);
  assert_decided_by(&choice, "");
}

/* Several tie-breaks may each leave some out; what is unknown of one of them decides nothing. */
static void test_every_rule_that_decided_is_named(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "a", 100, 20, 1), row(1, "b", 100, 16, 30),
                         row(2, "c", 100, 16, 20)};
  sct_choice choice = sct_choose(rows, 3, false);
  assert_string_equal(rows[choice.winner].label, "c");
  assert_decided_by(&choice, "fewer sectors, then fewer registers");
  rows[0].outcome.sectors_ld = -1;
  choice = sct_choose(rows, 3, false);
  assert_string_equal(rows[choice.winner].label, "a");
  assert_decided_by(&choice, "fewer registers");
}

/* 236,800 sectors, scaled from 8 of 528 blocks, and 227,328 that are exact. */
static void test_counts_within_their_error_tie(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "sampled", 100, 236800, 10), row(1, "exact", 100, 227328, 20)};
  rows[0].outcome.how.coalesced = rows[1].outcome.how.coalesced = true;
  assert_string_equal(rows[sct_choose(rows, 2, false).winner].label, "exact");
  rows[0].outcome.how.sectors_error = 0.05;
  const sct_choice choice = sct_choose(rows, 2, false);
  assert_string_equal(rows[choice.winner].label, "sampled");
  assert_decided_by(&choice, "fewer registers");
}

/* One field of a record of three: asked for alone it is a third of its sectors. A tile of whole
 * records asks for all bytes of them, and needs a third; overlapping ones need no more. */
static void test_what_is_thrown_away_is_moved_for_nothing(void **state) {
  (void)state;
  static const char text[] =
      "local s = require 'sectile'\n"
      "local r = s.record { { 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' } }\n"
      "return s.kernel { name = 'x', dims = { 'i' }, inputs = { s.array('a', r) },\n"
      "  outputs = { s.array('b', 'f32') }, body = 'b = a.x;', sizes = { { i = 3200 } } }\n";
  sct_spec spec;
  sct_error err;
  if (sct_script_load_spec_text(&spec, "x.lua", text, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  static const struct {
    int64_t sectors, distinct_bytes;
    double load, both;
  } reads[] = {
      {1200, 12800, 1.0 / 3, 0.5}, {1200, 38400, 1.0 / 3, 0.5}, {2400, 76800, 1.0 / 6, 2.0 / 7}};
  for (int k = 0; k < SCT_COUNT(reads); k++) {
    sct_count operand[] = {{.sectors = reads[k].sectors, .distinct_bytes = reads[k].distinct_bytes},
                           {.sectors = 400, .distinct_bytes = 12800}};
    const sct_counters c = {
        .load = operand[0], .store = operand[1], .operand = operand, .n_operands = 2};
    const sct_degrees d = sct_model_degrees(&c, &spec, &spec.sizes[0]);
    assert_true(fabs(d.load - reads[k].load) < 1e-9 && d.store == 1.0);
    assert_true(fabs(d.both - reads[k].both) < 1e-9);
  }
  sct_spec_free(&spec);
}

/* What is updated in place is written once, however often steps read it. */
static void test_what_is_read_again_was_written_once(void **state) {
  (void)state;
  static const char text[] =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'x', dims = { 'i' }, body = 'b = b + 1.0f;',\n"
      "  outputs = { s.array('b', 'f32', s.row_major, { inout = true }) },\n"
      "  sizes = { { i = 3200 }, { i = 0 } } }\n";
  sct_spec spec;
  sct_error err;
  if (sct_script_load_spec_text(&spec, "x.lua", text, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_count operand[] = {{.sectors = 1600, .distinct_bytes = 4 * 12800}};
  const sct_counters c = {.load = {.sectors = 1200, .distinct_bytes = 3 * 12800},
                          .store = {.sectors = 400, .distinct_bytes = 12800},
                          .operand = operand,
                          .n_operands = 1};
  const sct_degrees d = sct_model_degrees(&c, &spec, &spec.sizes[0]);
  assert_true(fabs(d.load - 1.0 / 3) < 1e-9 && d.store == 1.0);
  const sct_degrees none = sct_model_degrees(&c, &spec, &spec.sizes[1]);
  assert_true(none.load >= 0.0 && none.store >= 0.0);
  sct_spec_free(&spec);
}

static void test_ties_go_to_counts_then_label(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "b", 400.0, 18, 30), row(1, "c", 400.1, 16, 40),
                         row(2, "a", 400.2, 16, 40), row(3, "z", 400.2, 16, 41),
                         row(4, "slow", 480, 16, 1)};
  const sct_choice choice = sct_choose(rows, 5, false);
  assert_string_equal(rows[choice.winner].label, "a");
  assert_int_equal(choice.n_tied, 4);
  assert_false(rows[4].tied);
  assert_true(choice.noise > 0.0 && choice.noise < 0.01);
}

static void test_noise_decides_what_is_a_tie(void **state) {
  (void)state;
  /* 1 % apart with 0.2 % of scatter: no tie; the same with 3 % of scatter: a tie; 3 % apart: never
   */
  sct_rank_row rows[] = {row(0, "a", 400, 18, 1), row(1, "b", 404, 16, 1)};
  assert_int_equal(sct_choose(rows, 2, false).winner, 0);
  for (int s = 0; s < 11; s++) {
    samples[0][s] = 400 * (1.0 + 0.006 * (s - 5));
  }
  sample(&rows[0], 0);
  assert_int_equal(sct_choose(rows, 2, false).winner, 1);
  rows[1] = row(1, "b", 412, 16, 1);
  assert_int_equal(sct_choose(rows, 2, false).winner, 0);
  assert_false(rows[1].tied);
  /* 0.8 % apart is a tie, as it may come out the other way round, but no matter of counts */
  for (int k = 0; k < 2; k++) {
    rows[0] = row(0, "a", 400, 18, 1);
    rows[1] = row(1, "b", k == 0 ? 403.2 : 405.2, 16, 1);
    assert_int_equal(sct_choose(rows, 2, false).winner, 0);
    assert_int_equal(rows[1].tied, k == 0);
  }
  /* a row that was only in the quick pass does not tie with one that raced */
  rows[1] = row(1, "b", 400.1, 16, 1);
  rows[0].outcome.race = "1";
  assert_int_equal(sct_choose(rows, 2, false).winner, 0);
  rows[1].outcome.race = "2"; /* another race: compared without pairs */
  assert_int_equal(sct_choose(rows, 2, false).winner, 1);
}

/* A drift of 4 % that two rows of a race share hides nothing: they are 1 % apart in every round. */
static void test_rows_of_a_race_are_compared_in_pairs(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "a", 400, 18, 1), row(1, "b", 404, 16, 1)};
  for (int s = 0; s < 11; s++) {
    samples[0][s] = 400 * (1.0 + 0.004 * s);
    samples[1][s] = 404 * (1.0 + 0.004 * s);
  }
  rows[0].outcome.race = rows[1].outcome.race = "1";
  assert_int_equal(sct_choose(rows, 2, false).winner, 0);
  rows[1].outcome.race = "2";
  assert_int_equal(sct_choose(rows, 2, false).winner, 1);
}

static void test_no_winner_is_slower_than_the_naive_variant(void **state) {
  (void)state;
  /* all tied; by counts "b" would win, but it is slower than the naive variant, "c" is not */
  sct_rank_row rows[] = {row(0, "direct", 400.1, 18, 20), row(1, "b", 400.2, 16, 20),
                         row(2, "c", 400.0, 17, 20)};
  assert_int_equal(sct_choose(rows, 3, false).winner, 1);
  rows[0].naive = true;
  const sct_choice choice = sct_choose(rows, 3, false);
  assert_int_equal(choice.winner, 2);
  assert_int_equal(choice.n_tied, 3);
}

static void test_faster_but_not_coalesced_is_named_and_taken_only_on_request(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "direct", 300, 48, 20), row(1, "staged", 400, 16, 30)};
  sct_choice choice = sct_choose(rows, 2, false);
  assert_int_equal(choice.winner, 1);
  assert_int_equal(choice.fastest, 0);
  assert_true(choice.faster_ratio > 1.3 && choice.faster_ratio < 1.4);
  assert_int_equal(choice.passed_over, 0);
  choice = sct_choose(rows, 2, true);
  assert_int_equal(choice.winner, 0);
  assert_true(choice.faster_ratio == 1.0);
  assert_int_equal(choice.passed_over, -1);
  rows[0] = row(0, "direct", 384, 48, 20); /* by 4 % */
  assert_int_equal(sct_choose(rows, 2, false).passed_over, -1);
  rows[0] = row(0, "direct", 379, 48, 20);
  assert_int_equal(sct_choose(rows, 2, false).passed_over, 0);
  /* no news within noise, even of one that was only in the quick pass, and so is not tied */
  rows[0] = row(0, "direct", 399, 48, 20);
  rows[1].outcome.race = "1";
  choice = sct_choose(rows, 2, false);
  assert_int_equal(choice.fastest, 0);
  assert_true(choice.faster_ratio == 1.0);
}

/* One that reads an array again, whole sectors at a time, is coalesced, and may move more than one
 * that reads it once. */
static void test_what_moves_no_more_than_a_coalesced_row_competes(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "once", 300, 40, 20), row(1, "again", 400, 48, 30),
                         row(2, "worse", 200, 64, 30)};
  rows[1].outcome.how.coalesced = true;
  const sct_choice choice = sct_choose(rows, 3, false);
  assert_int_equal(choice.winner, 0);
  assert_false(rows[0].outcome.how.coalesced);
  assert_int_equal(choice.passed_over, 2);
  rows[0].outcome.sectors_ld = 49;
  assert_int_equal(sct_choose(rows, 3, false).winner, 1);
}

static void test_failures_do_not_count(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "wrong", 100, 2, 1), row(1, "right", 400, 16, 30)};
  rows[0].eligible = false; /* its few sectors must not make the other look uncoalesced */
  const sct_choice choice = sct_choose(rows, 2, false);
  assert_int_equal(choice.winner, 1);
  rows[1].eligible = false;
  assert_int_equal(sct_choose(rows, 2, false).winner, -1);
  assert_int_equal(sct_choose(rows, 0, false).winner, -1);
}

static void test_untimed_rows_are_ranked_by_counts(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "many requests", 0, 16, 10), row(1, "few", 0, 16, 20),
                         row(2, "conflicts", 0, 16, 5), row(3, "wasteful", 0, 32, 1)};
  rows[0].outcome.requests_ld = 200;
  rows[2].outcome.wavefronts = 5;
  sct_choice choice = sct_choose(rows, 4, false);
  assert_decided_by(&choice, "fewer shared wavefronts, then fewer requests");
  assert_string_equal(rows[choice.winner].label, "few");
  assert_int_equal(choice.n_tied, 1);
}

/* What is said of ties does not depend on whether there are times. */
static void test_predictions_that_are_close_tie(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "a", 0, 17, 1), row(1, "b", 0, 16, 1), row(2, "c", 0, 16, 1)};
  rows[0].outcome.predicted_ns = 40000;
  rows[1].outcome.predicted_ns = 40700;
  rows[2].outcome.predicted_ns = 42000;
  const sct_choice choice = sct_choose(rows, 3, false);
  assert_int_equal(choice.winner, 1);
  assert_int_equal(choice.n_tied, 2);
  assert_int_equal(choice.n_close, 2);
  assert_decided_by(&choice, "fewer sectors");
  assert_true(rows[0].tied && rows[1].tied && !rows[2].tied);
}

/* A 12-byte record whose naive variant is predicted to be 10 % faster than all that is coalesced.
 */
static void test_no_prediction_loses_to_naive(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "direct", 0, 48, 20), row(1, "map", 0, 16, 30),
                         row(2, "bad", 0, 48, 10)};
  rows[0].naive = true;
  rows[0].outcome.predicted_ns = 9945;
  rows[1].outcome.predicted_ns = 10920;
  rows[2].outcome.predicted_ns = 5000;
  sct_choice choice = sct_choose(rows, 3, false);
  assert_string_equal(rows[choice.winner].label, "direct");
  assert_int_equal(choice.passed_over, 2);
  assert_true(choice.faster_ratio > 1.98 && choice.faster_ratio < 2.0);
  rows[1].outcome.predicted_ns = 10000; /* the model knows no better */
  choice = sct_choose(rows, 3, false);
  assert_string_equal(rows[choice.winner].label, "map");
}

/* A prediction that is not believed is none: it stands after those that are. */
static void test_what_is_not_predicted_stands_last(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "unbelieved", 0, 16, 1), row(1, "slow", 0, 17, 1)};
  rows[1].outcome.predicted_ns = 1e9;
  assert_string_equal(rows[sct_choose(rows, 2, false).winner].label, "slow");
}

static void test_untimed_rows_are_ranked_by_predicted_time(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "slow", 0, 16, 1), row(1, "fast", 0, 17, 40),
                         row(2, "as fast", 0, 17, 30), row(3, "unknown", 0, 16, 1),
                         row(4, "wasteful", 0, 32, 1)};
  static const double ns[] = {41000, 40000, 40700, 0, 10000};
  for (int k = 0; k < SCT_COUNT(rows); k++) {
    rows[k].outcome.predicted_ns = ns[k];
  }
  sct_choice choice = sct_choose(rows, 5, false);
  assert_string_equal(rows[choice.winner].label, "as fast"); /* within 2 %, fewer registers */
  rows[0].outcome.predicted_ns = 40800;
  choice = sct_choose(rows, 5, false);
  assert_string_equal(rows[choice.winner].label, "slow"); /* fewer sectors */
  choice = sct_choose(rows, 5, true);
  assert_string_equal(rows[choice.winner].label, "wasteful"); /* not coalesced, if asked for */
  /* a prediction never decides where there are times */
  sct_rank_row timed[] = {row(0, "timed slow", 500, 16, 1), row(1, "timed fast", 400, 16, 1)};
  timed[0].outcome.predicted_ns = 1;
  timed[1].outcome.predicted_ns = 1000;
  choice = sct_choose(timed, 2, false);
  assert_string_equal(timed[choice.winner].label, "timed fast");
}

/* Not even a coalesced winner: where the naive variant is faster beyond noise, it is the result. */
static void test_a_naive_variant_that_is_faster_wins(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "direct", 390, 27, 1), row(1, "tile", 420, 16, 1),
                         row(2, "vector", 300, 26, 1), row(3, "also", 421, 16, 2)};
  rows[0].naive = true;
  sct_choice choice = sct_choose(rows, 4, false);
  assert_string_equal(rows[choice.winner].label, "direct");
  assert_true(rows[0].tied && !rows[1].tied && !rows[3].tied);
  assert_int_equal(choice.n_tied, 1);
  assert_string_equal(rows[choice.fastest].label, "vector"); /* named, and not taken */
  assert_true(choice.faster_ratio > 1.29 && choice.faster_ratio < 1.31);
  rows[0] = row(0, "direct", 419.9, 27, 1); /* within noise the coalesced one stays */
  rows[0].naive = true;
  choice = sct_choose(rows, 4, false);
  assert_string_equal(rows[choice.winner].label, "tile");
}

/* A hopeless kernel is sampled a few times, which is too little for an interval, and enough. */
static void test_a_few_samples_are_no_tie(void **state) {
  (void)state;
  sct_rank_row rows[] = {row(0, "fast", 100, 16, 30), row(1, "hopeless", 10000, 16, 10),
                         row(2, "near", 100.1, 16, 20)};
  rows[1].outcome.times.n_samples = rows[2].outcome.times.n_samples = 3;
  const sct_choice choice = sct_choose(rows, 3, false);
  assert_string_equal(rows[choice.winner].label, "near"); /* as good, with fewer registers */
  assert_false(rows[1].tied);
  assert_int_equal(choice.n_tied, 2);
}

#define N_CARDS 3

/* `times` of candidates a, b, ...; 0: it failed. */
static void fill_sheet(sct_tune_sheet *sheet, sct_row_result *rows, const double *times, int n) {
  static char *hashes[] = {"a", "b", "c", "d"};
  for (int k = 0; k < n; k++) { /* rows of a store come in another order */
    rows[n - 1 - k] = (sct_row_result){
        .candidate.source_hash = hashes[k],
        .outcome = {.outcome = times[k] > 0 ? "ok" : "wrong_result", .times.median_ns = times[k]}};
  }
  *sheet = (sct_tune_sheet){.rows = rows, .n = n};
}

/* The third card takes half as long again for what all of them timed. */
static void test_cards_are_scaled_by_what_they_have_in_common(void **state) {
  (void)state;
  static const double times[N_CARDS][4] = {
      {100, 200, 0, 410}, {101, 200, 300, 400}, {150, 300, 450, 600}};
  sct_row_result rows[N_CARDS][4];
  sct_tune_sheet sheets[N_CARDS];
  for (int s = 0; s < N_CARDS; s++) {
    fill_sheet(&sheets[s], rows[s], times[s], 4);
  }
  sct_tune_scale(sheets, N_CARDS);
  assert_int_equal(sheets[0].n_common, 3);
  assert_true(fabs(sheets[0].scale - 1.0) < 1e-9);
  assert_true(fabs(sheets[1].scale - 1.0) < 1e-9);
  assert_true(fabs(sheets[2].scale - 1.5) < 0.02);
}

static void test_cards_with_nothing_in_common_are_not_scaled(void **state) {
  (void)state;
  static const double times[] = {100, 0};
  sct_row_result rows[2][2];
  sct_tune_sheet sheets[2];
  fill_sheet(&sheets[0], rows[0], times, 2);
  fill_sheet(&sheets[1], rows[1], (const double[]){0, 100}, 2);
  sct_tune_scale(sheets, 2);
  assert_true(sheets[0].scale == 1.0 && sheets[1].scale == 1.0);
  assert_int_equal(sheets[0].n_common, 0);
  sct_tune_scale(sheets, 1); /* alone */
  assert_true(sheets[0].scale == 1.0);
  sheets[0].n = 0; /* and one that timed nothing */
  sct_tune_scale(sheets, 2);
  assert_true(sheets[0].scale == 1.0 && sheets[1].scale == 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_fastest_coalesced_wins),
      cmocka_unit_test(test_the_rule_of_a_tie_is_named),
      cmocka_unit_test(test_every_rule_that_decided_is_named),
      cmocka_unit_test(test_counts_within_their_error_tie),
      cmocka_unit_test(test_what_is_thrown_away_is_moved_for_nothing),
      cmocka_unit_test(test_what_is_read_again_was_written_once),
      cmocka_unit_test(test_ties_go_to_counts_then_label),
      cmocka_unit_test(test_noise_decides_what_is_a_tie),
      cmocka_unit_test(test_rows_of_a_race_are_compared_in_pairs),
      cmocka_unit_test(test_no_winner_is_slower_than_the_naive_variant),
      cmocka_unit_test(test_a_naive_variant_that_is_faster_wins),
      cmocka_unit_test(test_faster_but_not_coalesced_is_named_and_taken_only_on_request),
      cmocka_unit_test(test_what_moves_no_more_than_a_coalesced_row_competes),
      cmocka_unit_test(test_failures_do_not_count),
      cmocka_unit_test(test_a_few_samples_are_no_tie),
      cmocka_unit_test(test_cards_are_scaled_by_what_they_have_in_common),
      cmocka_unit_test(test_cards_with_nothing_in_common_are_not_scaled),
      cmocka_unit_test(test_untimed_rows_are_ranked_by_counts),
      cmocka_unit_test(test_predictions_that_are_close_tie),
      cmocka_unit_test(test_no_prediction_loses_to_naive),
      cmocka_unit_test(test_what_is_not_predicted_stands_last),
      cmocka_unit_test(test_untimed_rows_are_ranked_by_predicted_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
