/* Searching instead of trying everything: what is tried, what is not, and that it is said. */
#include "tune_fixture.h"

#include "search/search.h"

#define SPEC TF_COPY("{ i = 4096 }")
#define N    6 /* candidates */

static int setup(void **state) {
  const int rc = tf_setup(state);
  if (rc == 0) {
    tf_write("assets/tuning/strategies/direct.lua", tf_direct("{ 256, 128, 512, 64, 96, 192 }"));
  }
  return rc;
}

static tf_run searching(const char *faults, const char *store, const char *search, int most) {
  tf_run r = tf_new(faults, store);
  r.opts.search = search;
  r.opts.max_candidates = most;
  return r;
}

static void only_so_many_are_tried(void **state) {
  (void)state;
  int n;
  const sct_search_method *methods = sct_search_methods(&n);
  for (int m = 0; m < n; m++) {
    tf_run r = searching("ok", NULL, methods[m].name, 3);
    tf_tune_ok(&r, SPEC);
    const sct_tune_size *size = &r.report.sizes[0];
    assert_string_equal(r.report.search, methods[m].name);
    assert_int_equal(size->n_rows, 3);
    assert_int_equal(size->n_untried, N - 3);
    assert_int_equal(size->n_verified, 3);
    assert_int_equal(r.n_time, 3);
    assert_int_equal(r.n_verify, 3);
    assert_true(tf_row(&r, 0, "direct t256")->naive);
    assert_non_null(strstr(r.items, "<direct t256>"));
    assert_false(r.report.stopped_early);
    tf_free(&r);
  }
}

/* Estimates are for all; compiling is for those that are asked. */
static void only_what_is_asked_for_is_compiled(void **state) {
  (void)state;
  enum { MANY = 40 };
  sct_str threads = {0};
  sct_str_append(&threads, "{ 256");
  for (int k = 0; k < MANY; k++) {
    if (k != 14) { /* that is 256 */
      sct_str_printf(&threads, ", %d", 32 + 16 * k);
    }
  }
  sct_str_append(&threads, " }");
  tf_write("assets/tuning/strategies/direct.lua", tf_direct(sct_str_c(&threads)));
  sct_str_free(&threads);
  tf_run r = searching("ok", "asked.db", "model", 3);
  tf_tune_ok(&r, SPEC);
  assert_in_range(r.n_compile, 3, 10); /* some are under way when there are enough */
  assert_int_equal(r.of_compile, MANY);
  assert_int_equal(r.report.sizes[0].n_untried, MANY - 3);
  for (int k = 0; k < 3; k++) {
    assert_true(r.report.sizes[0].rows[k].counted &&
                r.report.sizes[0].rows[k].outcome.predicted_ns > 0.0);
    assert_true(r.report.sizes[0].rows[k].registers > 0);
  }
  tf_tune_ok(&r, SPEC); /* from the store, registers and all */
  assert_int_equal(r.n_time, 0);
  assert_in_range(r.n_compile, 3, 10);
  assert_true(r.report.sizes[0].rows[2].registers > 0);
  tf_free(&r);
}

static void all_are_tried_in_the_end(void **state) {
  (void)state;
  int n;
  const sct_search_method *methods = sct_search_methods(&n);
  tf_run all = searching("ok", NULL, NULL, 0);
  tf_tune_ok(&all, SPEC);
  assert_string_equal(all.report.search, "exhaustive");
  assert_int_equal(all.report.sizes[0].n_untried, 0);
  for (int m = 0; m < n; m++) {
    tf_run r = searching("ok", NULL, methods[m].name, 1000);
    tf_tune_ok(&r, SPEC);
    assert_int_equal(r.n_time, N);
    assert_int_equal(r.report.sizes[0].n_rows, N);
    assert_int_equal(r.report.sizes[0].n_untried, 0);
    assert_true(tf_row(&all, 0, r.report.sizes[0].rows[0].label)->tied); /* all are equally fast */
    tf_free(&r);
  }
  tf_free(&all);
}

/* What the store has counts, so the same number again measures nothing, and a greater one the rest.
 */
static void a_later_session_goes_on(void **state) {
  (void)state;
  tf_run r = searching("ok", "go.db", "random", 2);
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, 2);
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, 0);
  assert_int_equal(r.report.sizes[0].n_rows, 2);
  r.opts.max_candidates = 5;
  r.opts.search = "model";
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, 3);
  assert_int_equal(r.report.sizes[0].n_untried, 1);
  tf_stored s;
  tf_stored_open(&s, "go.db");
  assert_int_equal(s.runs[0].n_candidates, 5);
  tf_stored_close(&s);
  r.opts.search = NULL;
  r.opts.max_candidates = 0;
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_rows, N);
  tf_free(&r);
}

static void a_failure_does_not_end_it(void **state) {
  (void)state;
  int n;
  const sct_search_method *methods = sct_search_methods(&n);
  for (int m = 0; m < n; m++) {
    tf_run r = searching("wrong@2 wrong@4", NULL, methods[m].name, 5);
    tf_tune_ok(&r, SPEC);
    assert_int_equal(r.report.sizes[0].n_rows, 5);
    assert_in_range(r.report.sizes[0].n_failed, 1, 2);
    assert_int_equal(r.report.sizes[0].n_untried, 1);
    tf_free(&r);
  }
}

/* So many are tried, not so many in each session, and a failure is one of them whether it is from
 * this session or from the store. */
static void failures_count_in_any_session(void **state) {
  (void)state;
  const char *spec = TF_COPY("{ i = 4096 }, { i = 1 << 20 }");
  tf_write("assets/tuning/strategies/direct.lua", /* below 128 threads they do not compile */
           tf_planned(tf_direct("{ 256, 128, 512, 64, 96, 192, 384, 448 }"),
                      "p.count = c.threads < 128 and \"no_such_name\" or p.count"));
  enum { FIRST = 3, MOST = 6, ALL = 8, FAIL = 3 };
  tf_run r = searching("wrong@2", "failing.db", "model", FIRST);
  for (int most = FIRST; most <= MOST; most += MOST - FIRST) {
    r.opts.max_candidates = most;
    tf_tune_ok(&r, spec);
    for (int z = 0; z < 2; z++) { /* and failures that the other size asked for */
      assert_in_range(r.report.sizes[z].n_rows, most, most + FAIL - (most == MOST));
      assert_int_equal(r.report.sizes[z].n_rows + r.report.sizes[z].n_untried, ALL);
    }
  }
  assert_true(r.report.sizes[0].n_failed > 0);
  const int rows[] = {r.report.sizes[0].n_rows, r.report.sizes[1].n_rows};
  tf_tune_ok(&r, spec);
  assert_int_equal(r.n_time + r.n_verify, 0);
  assert_int_equal(r.report.sizes[0].n_rows, rows[0]);
  assert_int_equal(r.report.sizes[1].n_rows, rows[1]);
  tf_free(&r);
}

/* Each size has a search of its own; what was verified for one is not verified for the other. */
static void sizes_are_searched_apart(void **state) {
  (void)state;
  tf_run r = searching("ok", NULL, "random", 2);
  tf_tune_ok(&r, TF_COPY("{ i = 4096 }, { i = 8192 }"));
  assert_int_equal(r.n_time, 4);
  assert_in_range(r.n_verify, 2, 3);
  for (int z = 0; z < 2; z++) {
    assert_int_equal(r.report.sizes[z].n_rows, 2);
    assert_int_equal(r.report.sizes[z].n_untried, N - 2);
  }
  tf_free(&r);
}

static void a_stopped_search_keeps_what_it_has(void **state) {
  (void)state;
  tf_run r = searching("ok", "stop.db", "model", 0);
  r.stop_at = 3;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EINTERRUPTED);
  assert_int_equal(r.n_time, 3);
  assert_int_equal(r.report.sizes[0].n_untried, N - 3);
  r.stop_at = 0;
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, N - 3);
  assert_int_equal(r.report.sizes[0].n_untried, 0);
  tf_free(&r);
}

#define RECORDS                                                                                    \
  "local s = require \"sectile\"\n"                                                                \
  "local three = s.record { { \"x\", \"f64\" }, { \"y\", \"f64\" }, { \"z\", \"f64\" } }\n"        \
  "return s.kernel {\n"                                                                            \
  "  name = \"move\", dims = { \"i\" },\n"                                                         \
  "  inputs = { s.array(\"a\", three) }, outputs = { s.array(\"b\", three) },\n"                   \
  "  body = \"b.x = a.x; b.y = a.y; b.z = a.z;\", sizes = { { i = 4096 } },\n"                     \
  "}\n"

static void add_map(const char *from, const char *to) {
  sct_str text = {0};
  sct_error err;
  assert_int_equal(sct_file_read(&text, SCT_ROOT_DIR "/tuning/strategies/map.lua", &err), SCT_OK);
  tf_write("assets/tuning/strategies/map.lua", tf_replace(sct_str_c(&text), from, to));
  sct_str_free(&text);
}

/* The naive variant needs 24 sectors a request where 8 would do, whatever else is tried. */
static void what_is_coalesced_depends_on_nothing_else(void **state) {
  (void)state;
  int n;
  const sct_search_method *methods = sct_search_methods(&n);
  add_map("{ 256, 128, 512 }", "{ 128 }");
  for (int m = -1; m < n; m++) {
    tf_run r = searching("ok", m < 0 ? "all.db" : NULL, m < 0 ? NULL : methods[m].name, m >= 0);
    tf_tune_ok(&r, RECORDS);
    assert_int_equal(r.report.sizes[0].n_untried > 0, m >= 0);
    const sct_tune_row *naive = tf_row(&r, 0, "direct t256");
    assert_false(naive->outcome.how.coalesced);
    assert_true(naive->degree_ld > 0.333 && naive->degree_ld < 0.334);
    tf_free(&r);
  }
  const char *const only[] = {"direct t128"};
  tf_run r = tf_new("ok", "all.db");
  r.opts.only = (sct_tune_labels){SCT_COUNT(only), only};
  tf_tune_ok(&r, RECORDS);
  assert_int_equal(r.report.n_sources, 2);
  assert_false(tf_row(&r, 0, "direct t256")->outcome.how.coalesced);
  assert_false(tf_row(&r, 0, only[0])->outcome.how.coalesced);
  tf_free(&r);
  tf_stored stored;
  tf_stored_open(&stored, "all.db");
  assert_false(tf_result(&stored, "direct t256")->outcome.how.coalesced);
  tf_stored_close(&stored);
}

static void a_virtual_device_verifies_what_is_asked(void **state) {
  (void)state;
  tf_run r = searching(NULL, NULL, "model", 2);
  r.opts.device = "virtual:h200";
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_verify, 2);
  assert_int_equal(r.report.sizes[0].n_rows, 2);
  assert_int_equal(r.report.sizes[0].n_untried, N - 2);
  assert_true(tf_row(&r, 0, "direct t256")->outcome.predicted_ns > 0);
  tf_free(&r);
}

/* Records, of which some fields are read, with these options of their choice. */
#define CONVERTED(options)                                                                         \
  "local s = require \"sectile\"\n"                                                                \
  "local f = {}\n"                                                                                 \
  "for n = 1, 8 do f[n] = { \"f\" .. n, \"f32\" } end\n"                                           \
  "return s.kernel {\n"                                                                            \
  "  name = \"sum\", dims = { \"i\" }, outputs = { s.array(\"b\", \"f32\") },\n"                   \
  "  inputs = { s.array(\"a\", s.record(f), s.choose { s.aos, s.soa" options " }) },\n"            \
  "  body = \"b = a.f1;\", sizes = { { i = 1 << 24 } },\n"                                         \
  "}\n"

/* A layout wins by what it saves, less its part of the copy that makes it. */
static void conversions_count(void **state) {
  (void)state;
  static const struct {
    const char *spec, *layout;
  } cases[] = {{CONVERTED(""), "a=soa"},
               {CONVERTED(", converted = 1"), "a=aos"},
               {CONVERTED(", converted = 100"), "a=soa"}};
  sct_assets_override(NULL);
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tf_run r = searching(NULL, NULL, "model", 6);
    r.opts.device = "virtual:h200";
    tf_tune_ok(&r, cases[k].spec);
    const sct_tune_size *size = &r.report.sizes[0];
    assert_true(size->rows[0].winner);
    assert_non_null(strstr(size->rows[0].label, cases[k].layout));
    assert_int_equal(size->converted != NULL, k > 0);
    assert_int_equal(strstr(size->why, "is faster, conversions included.") != NULL, k == 1);
    tf_free(&r);
  }
}

#define LAYOUTS                                                                                    \
  "local s = require \"sectile\"\n"                                                                \
  "local f = {}\n"                                                                                 \
  "for n = 1, 7 do f[n] = { \"f\" .. n, \"f32\" } end\n"                                           \
  "return s.kernel {\n"                                                                            \
  "  name = \"sum\", dims = { \"i\" }, outputs = { s.array(\"b\", \"f32\") },\n"                   \
  "  inputs = { s.array(\"a\", s.record(f), s.choose { s.aos, s.soa, s.aosoa { lanes = 32 } }) "   \
  "},\n"                                                                                           \
  "  body = \"b = a.f1 + a.f4 + a.f5 + a.f6;\", sizes = { { i = 1 << 20 } },\n"                    \
  "}\n"

/* What is compiled already changes nothing, nor do more processes. */
static void a_search_on_a_virtual_device_repeats(void **state) {
  (void)state;
  tf_run r[3];
  sct_assets_override(NULL); /* all built-in strategies */
  for (int k = 0; k < 3; k++) {
    r[k] = searching(NULL, NULL, "model", k == 1 ? 60 : 20);
    r[k].opts.device = "virtual:h200";
    r[k].opts.cache_dir = tf_path("cold"); /* the first finds nothing, the last more than it asks */
    r[k].opts.compile_threads = k == 0 ? 1 : 2;
    tf_tune_ok(&r[k], LAYOUTS);
  }
  const sct_tune_size *cold = &r[0].report.sizes[0], *warm = &r[2].report.sizes[0];
  assert_int_equal(cold->n_rows, 20);
  assert_int_equal(warm->n_rows, 20);
  assert_true(r[1].report.sizes[0].n_rows >= 60 && warm->n_untried > 60);
  for (int k = 0; k < 20; k++) {
    assert_string_equal(cold->rows[k].label, warm->rows[k].label);
  }
  for (int k = 0; k < 3; k++) {
    tf_free(&r[k]);
  }
}

/* What is left of it is for the race, without which the best of a quick pass would win. */
static void the_budget_leaves_time_for_the_race(void **state) {
  (void)state;
  tf_write("assets/tuning/strategies/direct.lua",
           tf_direct("{ 256, 128, 512, 64, 96, 160, 192, 224, 288, 320, 352, 384, 416, 448 }"));
  tf_run r = tf_new("ok", NULL);
  tf_tune_ok(&r, SPEC); /* so that all is compiled */
  r.opts.budget_ns = 4000000000;
  r.pause_ms = 500;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_ESTOPPED);
  assert_true(r.report.stopped_early);
  assert_in_range(r.report.sizes[0].n_untried, 1, 13);
  assert_true(r.n_final > 0);
  tf_free(&r);
}

/* Nothing is left to try, so a budget has not ended early, however long compiling would take. */
static void what_the_store_knows_needs_no_budget(void **state) {
  (void)state;
  tf_run r = searching("ok", "known.db", NULL, 0);
  tf_tune_ok(&r, SPEC);
  r.opts.cache_dir = tf_path("another");
  r.opts.budget_ns = 60000000000;
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, 0);
  assert_in_range(r.n_compile, 0, N);
  assert_false(r.report.stopped_early);
  assert_int_equal(r.report.sizes[0].n_rows, N);
  tf_free(&r);
}

/* As an older version stored all outcomes: not coalesced, by the rule of its time. */
static void make_relative(const char *store) {
  sct_error err;
  sct_store *writable;
  sct_id id[N];
  const sct_row_coalesced how[N] = {{.rule = SCT_COALESCED_RELATIVE}};
  tf_stored s;
  tf_stored_open(&s, store);
  assert_int_equal(s.n_results, N);
  for (int k = 0; k < N; k++) {
    id[k] = s.results[k].outcome.id;
  }
  tf_stored_close(&s);
  tf_must(sct_store_open(&writable, tf_path(store), false, &err), &err);
  tf_must(sct_store_put_coalesced(writable, id, how, N, &err), &err);
  sct_store_close(writable);
}

/* Rows of an older version are called coalesced by the rule of today; what an earlier session found
 * out by compiling stays, though this one does not compile. */
static void what_the_store_knows_is_evaluated_anew_and_kept(void **state) {
  (void)state;
  tf_run r = searching("ok", "judged.db", NULL, 0);
  tf_tune_ok(&r, SPEC);
  make_relative("judged.db");
  r.opts.cache_dir = tf_path("another");
  r.opts.budget_ns = 60000000000;
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, 0);
  tf_stored s;
  tf_stored_open(&s, "judged.db");
  assert_int_equal(s.n_results, N);
  for (int k = 0; k < N; k++) {
    assert_true(s.results[k].outcome.how.coalesced);
    assert_int_equal(s.results[k].outcome.how.rule, SCT_COALESCED_ABSOLUTE);
    assert_true(s.results[k].candidate.registers > 0);
    assert_true(s.results[k].outcome.times.n_samples > 0);
  }
  tf_stored_close(&s);
  tf_free(&r);
}

/* Candidates that differ in their launch only are compiled together, asked for or not. */
static void equal_sources_come_together(void **state) {
  (void)state;
  const char *text = tf_replace(tf_direct("{ 256, 128 }"), "return { { \"threads\"",
                                "return { { \"spare\", { 0, 1024 }, key = \"s\" }, { \"threads\"");
  text = tf_planned(text, "p.shared_bytes = c.spare");
  tf_write("assets/tuning/strategies/direct.lua", text);
  tf_run r = searching("ok", NULL, "random", 1);
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.n_time, 1);
  assert_int_equal(r.n_compile, 2);
  assert_int_equal(r.report.sizes[0].n_untried, 3);
  tf_free(&r);
}

static void an_unknown_method_is_refused_before_anything_runs(void **state) {
  (void)state;
  tf_run r = searching("ok", NULL, "randon", 0);
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EUSAGE);
  assert_non_null(strstr(r.err.text, "did you mean 'random'"));
  assert_int_equal(r.n_compile + r.n_time, 0);
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, tf_teardown)
  const struct CMUnitTest tests[] = {
      TEST(only_so_many_are_tried),
      cmocka_unit_test_setup_teardown(only_what_is_asked_for_is_compiled, tf_setup, tf_teardown),
      TEST(all_are_tried_in_the_end),
      TEST(a_later_session_goes_on),
      TEST(conversions_count),
      TEST(a_failure_does_not_end_it),
      cmocka_unit_test_setup_teardown(failures_count_in_any_session, tf_setup, tf_teardown),
      TEST(sizes_are_searched_apart),
      TEST(a_stopped_search_keeps_what_it_has),
      TEST(what_is_coalesced_depends_on_nothing_else),
      TEST(a_virtual_device_verifies_what_is_asked),
      cmocka_unit_test_setup_teardown(a_search_on_a_virtual_device_repeats, tf_setup, tf_teardown),
      cmocka_unit_test_setup_teardown(the_budget_leaves_time_for_the_race, tf_setup, tf_teardown),
      TEST(what_the_store_knows_needs_no_budget),
      TEST(what_the_store_knows_is_evaluated_anew_and_kept),
      cmocka_unit_test_setup_teardown(equal_sources_come_together, tf_setup, tf_teardown),
      TEST(an_unknown_method_is_refused_before_anything_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
