/* Tables, progress, leaderboard and JSON from made-up figures: what a person and a script get. */
#include "cli/cli_internal.h"
#include "cli_fixture.h"

#include <math.h>

#define HAS(text, part)                                                                            \
  do {                                                                                             \
    if (!strstr((text), (part))) {                                                                 \
      fail_msg("no '%s' in:\n%s", (part), (text));                                                 \
    }                                                                                              \
  } while (0)
#define HAS_NOT(text, part)                                                                        \
  do {                                                                                             \
    if (strstr((text), (part))) {                                                                  \
      fail_msg("'%s' in:\n%s", (part), (text));                                                    \
    }                                                                                              \
  } while (0)

/* ---- progress ---- */

static const char *bar(int64_t done, int64_t total, int64_t left_ns) {
  static char text[128];
  sct_str out = {0};
  cli_progress_bar(&out, done, total, left_ns, 10);
  snprintf(text, sizeof text, "%s", sct_str_c(&out));
  sct_str_free(&out);
  return text;
}

static void the_bar_fills_up(void **state) {
  (void)state;
  assert_string_equal(bar(0, 40, -1), "[----------] 0/40");
  assert_string_equal(bar(20, 40, -1), "[#####-----] 20/40");
  assert_string_equal(bar(39, 40, 2000000000), "[#########-] 39/40  2 s left");
  assert_string_equal(bar(40, 40, -1), "[##########] 40/40");
  assert_string_equal(bar(0, 0, -1), "[##########] 0/0");
  char left[32];
  cli_format_left(left, 59000000001);
  assert_string_equal(left, "1 min 0 s");
  cli_format_left(left, (int64_t)200 * 1000000000);
  assert_string_equal(left, "3 min 20 s");
  cli_format_left(left, (int64_t)7500 * 1000000000);
  assert_string_equal(left, "2 h 5 min");
}

#define MS ((int64_t)1000000)

/* Runs a phase of `n` steps, `step_ns` apart, and gives what was printed. */
static char *progress_of(bool terminal, bool quiet, int n, int64_t step_ns) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  assert_non_null(out);
  cli_progress p = {.out = out, .terminal = terminal, .quiet = quiet, .width = 60, .subject = "a"};
  for (int k = 1; k <= n; k++) {
    cli_progress_step(&p, 1000 * MS + (k - 1) * step_ns, "compile", k, n, "direct threads=256");
  }
  cli_progress_clear(&p);
  fclose(out);
  return text;
}

static int count(const char *text, const char *part) {
  int n = 0;
  while ((text = strstr(text, part)) != NULL) {
    n++;
    text++;
  }
  return n;
}

static void a_terminal_gets_one_line_drawn_anew(void **state) {
  (void)state;
  char *text = progress_of(true, false, 1000, 10 * MS);
  HAS(text, "\r\033[Kcompile  [");
  HAS(text, "5 s left"); /* half of ten seconds */
  HAS_NOT(text, "\n");
  assert_int_equal(count(text, "compile"), 101); /* ten a second, and the last */
  assert_true(sct_has_suffix(text, "\r\033[K")); /* wiped in the end */
  for (const char *at = text; (at = strstr(at, "\033[K")) != NULL; at += 3) {
    assert_true(strcspn(at + 3, "\r") < 60); /* shorter than the terminal, so it never wraps */
  }
  free(text);
}

static void elsewhere_lines_are_sparse(void **state) {
  (void)state;
  char *text = progress_of(false, false, 1000, 30 * MS);
  assert_int_equal(count(text, "\n"), 3); /* at 10 s, 20 s and the end */
  HAS(text, "a: compile 1000/1000 (");
  HAS_NOT(text, "\033");
  HAS_NOT(text, "\r");
  free(text);
  text = progress_of(false, false, 1000, 1000);
  assert_int_equal(count(text, "\n"), 1);
  free(text);
}

/* Two sessions: their lines stand below each other and are drawn together. */
static void several_sessions_have_a_line_each(void **state) {
  (void)state;
  char *text = NULL, *lines[2] = {NULL, NULL};
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  assert_non_null(out);
  cli_progress_group group = {.n = 2, .lines = lines};
  cli_progress p[2];
  for (int k = 0; k < 2; k++) {
    p[k] = (cli_progress){.out = out, .terminal = true, .width = 60, .group = &group, .line = k};
    p[k].device = k == 0 ? "cuda:0" : "cuda:1";
  }
  cli_progress_step(&p[0], 1000 * MS, "compile", 1, 9, "direct");
  fflush(out);
  HAS(text, "\r\033[Kcuda:0   compile  [");
  assert_int_equal(count(text, "\n"), 2); /* the second is empty */
  HAS_NOT(text, "A");                     /* nothing to go up to */
  cli_progress_step(&p[1], 1001 * MS, "time", 2, 9, "direct");
  fflush(out);
  const char *again = strstr(text, "\033[2A");
  assert_non_null(again);
  HAS(again, "\r\033[Kcuda:0   compile  [");
  HAS(again, "\n\r\033[Kcuda:1   time     [");
  cli_progress_clear(&p[0]);
  fflush(out);
  assert_true(sct_has_suffix(text, "\033[2A\r\033[J"));
  cli_progress_step(&p[1], 2000 * MS, "time", 3, 9, "direct"); /* the cleared one is gone */
  fflush(out);
  HAS_NOT(strstr(text, "\033[J"), "cuda:0");
  cli_progress_clear(&p[1]);
  cli_progress_group_free(&group);
  fclose(out);
  free(text);
}

static void quiet_prints_nothing(void **state) {
  (void)state;
  char *text = progress_of(true, true, 100, 100 * MS);
  assert_string_equal(text, "");
  free(text);
}

/* ---- the leaderboard ---- */

static char winner_label[] = "staged t256", tied_label[] = "staged t512", naive_label[] = "direct",
            far_label[] = "vector v8", bad_label[] = "vector v4", wrong_label[] = "flat v2",
            hung_label[] = "flat v4", lost_label[] = "flat v8";
static char wrong_detail[] = "b.x of element i=3: 1 instead of 2\nand a second line";
static char name[] = "kernel", size_label[] = "i=1024", faster[] = "'x' is 1.20 times as fast";

static sct_tune_row rows[] = {
    {.label = winner_label,
     .outcome.outcome = "ok",
     .outcome.times.median_ns = 12000,
     .bytes_per_s = 4.2e12,
     .share = 0.98,
     .outcome.requests_ld = 8,
     .outcome.sectors_ld = 8 * 8,
     .outcome.requests_st = 8,
     .outcome.sectors_st = 8 * 4.5,
     .degree_ld = 1,
     .degree_st = 0.5,
     .registers = 24,
     .occupancy = 1,
     .outcome.how = {.rule = SCT_COALESCED_ABSOLUTE,
                     .coalesced = true,
                     .share = 1,
                     .utilisation = 0.5,
                     .passes = 1,
                     .sectors_error = 0.03},
     .counted = true,
     .tied = true,
     .winner = true},
    {.label = tied_label,
     .outcome.outcome = "ok",
     .outcome.times.median_ns = 12010,
     .bytes_per_s = 4.19e12,
     .share = 0.97,
     .outcome.requests_ld = 8,
     .outcome.sectors_ld = 8 * 8,
     .outcome.requests_st = 8,
     .outcome.sectors_st = 8 * 8,
     .degree_ld = 1,
     .degree_st = 0.5,
     .registers = 25,
     .occupancy = 0.5,
     .outcome.how.coalesced = true,
     .tied = true},
    {.label = far_label,
     .outcome.outcome = "ok",
     .outcome.times.median_ns = 20000,
     .bytes_per_s = 2e12,
     .share = 0.5,
     .outcome.requests_ld = 8,
     .outcome.sectors_ld = 8 * 24,
     .outcome.requests_st = 8,
     .outcome.sectors_st = 8 * 24,
     .degree_ld = 0.3333,
     .degree_st = 0.125,
     .registers = 32,
     .spill_bytes = 16,
     .occupancy = 0.5},
    {.label = naive_label,
     .outcome.outcome = "ok",
     .outcome.times.median_ns = 30000,
     .bytes_per_s = 1.5e12,
     .share = 0.3,
     .outcome.requests_ld = 8,
     .outcome.sectors_ld = 8 * 24,
     .outcome.requests_st = 8,
     .outcome.sectors_st = 8 * 24,
     .degree_ld = 0.3333,
     .degree_st = 0.125,
     .registers = 16,
     .occupancy = 1,
     .naive = true},
    {.label = wrong_label, .outcome.outcome = "wrong_result", .outcome.detail = wrong_detail},
    {.label = bad_label, .outcome.outcome = "compile_error"},
    {.label = hung_label, .outcome.outcome = "hang"},
    {.label = lost_label, .outcome.outcome = "crash"},
};

static sct_tune_report report_of(sct_tune_size *size) {
  *size = (sct_tune_size){.label = size_label,
                          .n_rows = SCT_COUNT(rows),
                          .rows = rows,
                          .ceiling_bytes_s = 4.27e12,
                          .read_bytes = 24576,
                          .write_bytes = 24576,
                          .n_verified = 4,
                          .n_failed = 4,
                          .n_tied = 2,
                          .n_unfit = 3,
                          .faster = faster};
  return (sct_tune_report){.name = name,
                           .device = {.id = "cuda:0", .name = "NVIDIA H200", .cc_major = 9},
                           .says = "timed",
                           .n_points = 50,
                           .n_candidates = 20,
                           .n_sources = 12,
                           .n_ungenerated = 6,
                           .n_checked = 12,
                           .n_caught = 1,
                           .n_sizes = 1,
                           .sizes = size};
}

static void board_of(sct_str *out, const sct_tune_report *report, int top, int width, bool colour) {
  SCT_OWNED_PTR(json_t) doc = cli_json_report(report, CLI_ALL_ROWS);
  json_t *look = json_pack("{s:b, s:i}", "colour", colour, "width", width);
  sct_error err = {0};
  if (cli_leaderboard(out, doc, top, look, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
}

static char *board(int top, bool colour) {
  sct_tune_size size;
  const sct_tune_report report = report_of(&size);
  sct_str out = {0};
  board_of(&out, &report, top, 0, colour);
  char *text = strdup(sct_str_c(&out));
  sct_str_free(&out);
  return text;
}

static void the_board_says_what_matters(void **state) {
  (void)state;
  char *text = board(10, false);
  HAS(text, "kernel on cuda:0 (NVIDIA H200, CC 9.0): timed\n");
  HAS(text, "20 candidates, 12 different kernels (`sectile space` lists them)\n");
  HAS(text, "\ngenerated 14 of 20 candidates in the time that --budget leaves for it; a longer "
            "--budget, or none, goes on with the others\n");
  HAS(text, "\n12 checked on the CPU before the GPU, 1 failed there\n");
  HAS(text, "i=1024: reads 24 KiB, writes 24 KiB; a copy moves 4270 GB/s\n");
  HAS(text,
      "  *   1  staged t256     12 us     2.50     98 %  4200      100 %         50 %      ~8.0 "
      "|  4.5    24");
  HAS(text, "  =   2  staged t512");
  HAS(text, "  !   3  vector v8");
  HAS(text, "  n!  4  direct");
  HAS(text, "16 B");
  HAS(text, "4 verified, 4 failed, 3 not for this size; 2 tie for the best");
  HAS(text, "failed: flat v2: results differ from the reference: b.x of element i=3: 1 instead of "
            "2\n");
  HAS(text, "failed: vector v4: did not compile\n");
  HAS(text, "failed: flat v4: did not end in time\n");
  HAS(text, "and 1 more; --json has all of them");
  HAS_NOT(text, "second line");
  HAS_NOT(text, "flat v8");
  HAS(text, "  100 %\n  passed over: 'x' is 1.20 times as fast\n"); /* right below the table */
  HAS(text, "\n* winner   = tied with it   n naive   ! uncoalesced   ~ from a sample of blocks\n");
  HAS(text, "\ncoalesced: share of ");
  HAS_NOT(text, "\033");
  free(text);
}

/* A sample whose error allows that a row is coalesced. */
static void the_board_says_what_is_unknown(void **state) {
  (void)state;
  sct_row_coalesced *const how = &rows[2].outcome.how;
  *how = (sct_row_coalesced){.unknown = true, .share = 0.9, .sectors_error = 0.5};
  char *text = board(10, false);
  HAS(text, "  ~!  3  vector v8");
  HAS(text, "   ~! uncoalesced by a sample, within its error");
  free(text);
  *how = (sct_row_coalesced){0};
}

static void a_short_board_keeps_the_naive_row(void **state) {
  (void)state;
  char *text = board(1, false);
  HAS(text, "1  staged t256");
  HAS_NOT(text, "staged t512");
  HAS_NOT(text, "vector v8");
  HAS(text, "  n!  4  direct");
  free(text);
}

static void the_winner_is_green_on_a_terminal(void **state) {
  (void)state;
  char *text = board(10, true);
  HAS(text, "\033[1;32m  *   1  staged t256");
  HAS(text, "\033[33m  !   3  vector v8");
  HAS(text, "\033[31mfailed:\033[0m");
  free(text);
}

static void columns_of_time_are_left_out_where_nothing_ran(void **state) {
  (void)state;
  sct_tune_row counted[] = {rows[0], rows[3]};
  for (int k = 0; k < SCT_COUNT(counted); k++) {
    counted[k].outcome.times.median_ns = counted[k].bytes_per_s = counted[k].share = 0;
    counted[k].outcome.predicted_ns = 24000;
    counted[k].predicted_limit = "DRAM bytes";
  }
  sct_tune_size size;
  sct_tune_report report = report_of(&size);
  size.rows = counted;
  size.n_rows = SCT_COUNT(counted);
  size.verified_only_counted = true;
  size.ceiling_bytes_s = 0;
  sct_str out = {0};
  board_of(&out, &report, 10, 0, false);
  const char *text = sct_str_c(&out);
  HAS(text, "staged t256");
  HAS(text, "4 verified, 4 failed");
  HAS(text, "  predicted  x naive  GB/s  coalesced  utilisation  sectors ld | st  limiter   ");
  HAS(text, "      24 us     1.00     2      100 %         50 %      ~8.0 |  4.5  DRAM bytes");
  HAS_NOT(text, "  time");
  HAS_NOT(text, "of copy");
  sct_str_free(&out);
}

/* Rows of one time are counted after three, but those that are shown in any case. */
static void equal_rows_are_counted(void **state) {
  (void)state;
  static char labels[12][32];
  sct_tune_row many[12];
  for (int k = 0; k < SCT_COUNT(many); k++) {
    snprintf(labels[k], sizeof labels[k], k == 6 ? "direct t%d" : "map t%d", k);
    many[k] = rows[0];
    many[k].label = labels[k];
    many[k].winner = k == 0;
    many[k].naive = k == 6;
    many[k].outcome.times.median_ns = many[k].bytes_per_s = many[k].share = 0;
    many[k].outcome.predicted_ns = k < 8 ? 10000 + k / 10.0 : 20000 + 5000.0 * k;
    many[k].predicted_limit = "DRAM bytes";
  }
  sct_tune_size size;
  sct_tune_report report = report_of(&size);
  size.rows = many;
  size.n_rows = SCT_COUNT(many);
  size.best = "map 10 us, direct 10 us\n";
  sct_str out = {0};
  board_of(&out, &report, 6, 0, false);
  const char *text = sct_str_c(&out);
  HAS(text, "    3  map t2");
  HAS(text, "    4  to 8: 5 more as fast      10 us");
  HAS_NOT(text, "map t3");
  HAS(text, "  =n   7  direct t6");
  HAS(text, "    9  map t8");
  HAS(text, "   10  map t9"); /* the sixth line */
  HAS_NOT(text, "map t10");
  HAS(text, "best of     map 10 us, direct 10 us");
  HAS(text, "     0.17  "); /* x naive of 60 us */
  sct_str_free(&out);
}

/* A document of some rows of a large session gives the leaderboard of all of them. */
static void a_board_needs_few_rows(void **state) {
  (void)state;
  enum { ROWS = 3000 };
  static char labels[ROWS][24];
  static sct_tune_row many[ROWS];
  for (int run = 1; run <= ROWS; run *= 6) { /* rows that take as long */
    for (int k = 0; k < ROWS; k++) {
      snprintf(labels[k], sizeof labels[k], "%s t%d", k % 1000 == 7 ? "own" : "map", k);
      many[k] = rows[0];
      many[k].label = labels[k];
      many[k].winner = k == 0;
      many[k].tied = k < run;
      many[k].naive = k == 2007;
      many[k].own = k == 1007 ? 1 : 0;
      many[k].outcome.times.median_ns = 10000 + 100.0 * (k / run);
      many[k].outcome.outcome = k < ROWS - 200 ? "ok" : "hang";
    }
    sct_tune_size size;
    sct_tune_report report = report_of(&size);
    size.rows = many;
    size.n_rows = ROWS;
    size.n_failed = 200;
    for (int top = 1; top <= 200; top += 40) {
      sct_str all = {0}, few = {0};
      sct_error err = {0};
      board_of(&all, &report, top, 0, false);
      SCT_OWNED_PTR(json_t) doc = cli_json_report(&report, top);
      const json_t *first = json_array_get(json_object_get(doc, "sizes"), 0);
      assert_in_range(json_array_size(json_object_get(first, "rows")), 1, 5 * top + 2 + 64);
      json_t *look = json_pack("{s:b, s:i}", "colour", 0, "width", 0);
      assert_int_equal(cli_leaderboard(&few, doc, top, look, &err), SCT_OK);
      assert_string_equal(sct_str_c(&few), sct_str_c(&all));
      sct_str_free(&all);
      sct_str_free(&few);
    }
  }
}

static size_t widest_line(const char *text) {
  size_t most = 0;
  for (const char *at = text; *at; at += *at == '\n') {
    const size_t n = strcspn(at, "\n");
    most = n > most ? n : most;
    at += n;
  }
  return most;
}

/* Labels go on in further lines, and columns are left out. */
static void a_board_fits_the_terminal(void **state) {
  (void)state;
  static char label[] = "exchange threads=512 tile=128x32 load=4 store=4 start=any blocks=out";
  for (int width = 40; width <= 120; width += 20) {
    sct_tune_row wide[] = {rows[0], rows[3]};
    wide[0].label = label;
    sct_tune_size size;
    sct_tune_report report = report_of(&size);
    size.rows = wide;
    size.n_rows = SCT_COUNT(wide);
    sct_str out = {0};
    board_of(&out, &report, 10, width, false);
    assert_in_range(widest_line(sct_str_c(&out)), 20, width);
    HAS(sct_str_c(&out), " with COLUMNS=");
    HAS(sct_str_c(&out), "x naive");
    sct_str_clear(&out);
    board_of(&out, &report, 10, 0, false);
    HAS_NOT(sct_str_c(&out), "COLUMNS=");
    sct_str_free(&out);
  }
}

/* ---- JSON ---- */

static void the_report_is_complete_as_json(void **state) {
  (void)state;
  sct_tune_size size;
  const sct_tune_report report = report_of(&size);
  json_t *doc = cli_json_report(&report, CLI_ALL_ROWS);
  assert_non_null(doc);
  const json_t *first = json_array_get(json_object_get(doc, "sizes"), 0);
  const json_t *list = json_object_get(first, "rows");
  assert_int_equal(json_array_size(list), SCT_COUNT(rows));
  const json_t *row = json_array_get(list, 0);
  assert_int_equal(json_integer_value(json_object_get(doc, "ungenerated")), 6);
  assert_int_equal(json_integer_value(json_object_get(row, "rank")), 1);
  assert_true(json_is_true(json_object_get(row, "winner")));
  assert_true(fabs(json_number_value(json_object_get(row, "sectors_st")) - 4.5) < 1e-12);
  const json_t *failed = json_array_get(list, 4);
  assert_true(json_is_null(json_object_get(failed, "median_ns")));
  assert_string_equal(json_string_value(json_object_get(failed, "detail")), wrong_detail);
  assert_int_equal(json_integer_value(json_object_get(first, "unfit")), 3);
  assert_string_equal(json_string_value(json_object_get(first, "faster")), faster);
  json_decref(doc);
}

static void json_bears_what_is_no_number_and_no_text(void **state) {
  (void)state;
  json_t *nan_json = sct_json_number(NAN), *zero = cli_json_positive(0.0),
         *none = sct_json_string(NULL),
         *odd = sct_json_string("a\xff"
                                "b");
  assert_true(json_is_null(nan_json) && json_is_null(zero) && json_is_null(none));
  assert_string_equal(json_string_value(odd), "a?b");
  json_decref(odd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bar_fills_up),
      cmocka_unit_test(a_terminal_gets_one_line_drawn_anew),
      cmocka_unit_test(elsewhere_lines_are_sparse),
      cmocka_unit_test(several_sessions_have_a_line_each),
      cmocka_unit_test(quiet_prints_nothing),
      cmocka_unit_test(the_board_says_what_matters),
      cmocka_unit_test(the_board_says_what_is_unknown),
      cmocka_unit_test(a_short_board_keeps_the_naive_row),
      cmocka_unit_test(the_winner_is_green_on_a_terminal),
      cmocka_unit_test(columns_of_time_are_left_out_where_nothing_ran),
      cmocka_unit_test(equal_rows_are_counted),
      cmocka_unit_test(a_board_needs_few_rows),
      cmocka_unit_test(a_board_fits_the_terminal),
      cmocka_unit_test(the_report_is_complete_as_json),
      cmocka_unit_test(json_bears_what_is_no_number_and_no_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
