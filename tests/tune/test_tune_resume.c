/* Sessions that go on where others ended: what is known is not measured again, and the result is
 * the same; what was measured under other conditions is not used, and that is said. */
#include "tune_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#define SPEC  TF_COPY("{ i = 4096 }")
#define SIZES TF_COPY("{ i = 4096 }, { i = 8192 }")

static void sql(const char *store, const char *text) {
  sqlite3 *db = NULL;
  char *why = NULL;
  assert_int_equal(sqlite3_open(tf_path(store), &db), SQLITE_OK);
  if (sqlite3_exec(db, text, NULL, NULL, &why) != SQLITE_OK) {
    fail_msg("%s", why);
  }
  sqlite3_close(db);
}

/* A copy of the store beside it, which ask_both() calls "old": a store takes no tables of others.
 */
static void keep_copy(const char *store) {
  sct_str text = {0};
  sct_str_printf(&text, "VACUUM INTO '%s.old'", tf_path(store));
  sql(store, sct_str_c(&text));
  sct_str_free(&text);
}

static int ask_both(const char *store, const char *question) {
  sct_str text = {0};
  sct_str_printf(&text, "ATTACH '%s.old' AS old; %s", tf_path(store), question);
  const int answer = tf_ask(store, sct_str_c(&text));
  sct_str_free(&text);
  return answer;
}

/* ---- two reports say the same ---- */

static void same_text(const char *a, const char *b) {
  assert_string_equal(a ? a : "", b ? b : "");
}

static void same_row(const sct_tune_row *a, const sct_tune_row *b) {
  same_text(a->label, b->label);
  same_text(a->outcome.outcome, b->outcome.outcome);
  same_text(a->outcome.detail, b->outcome.detail);
  const sct_times *x = &a->outcome.times, *y = &b->outcome.times;
  assert_true(x->median_ns == y->median_ns && x->q1_ns == y->q1_ns && x->q3_ns == y->q3_ns);
  assert_true(x->overhead_ns == y->overhead_ns && x->resident_ns == y->resident_ns);
  assert_int_equal(x->n_slow, y->n_slow);
  assert_true(a->bytes_per_s == b->bytes_per_s && a->share == b->share);
  assert_true(a->outcome.predicted_ns == b->outcome.predicted_ns);
  assert_true(sct_row_sectors(&a->outcome) == sct_row_sectors(&b->outcome));
  assert_int_equal(a->winner, b->winner);
  assert_int_equal(a->tied, b->tied);
  assert_int_equal(a->naive, b->naive);
  assert_int_equal(a->ptx.known, b->ptx.known);
  assert_memory_equal(&a->ptx.ptx, &b->ptx.ptx, sizeof a->ptx.ptx);
}

static void same_report(const sct_tune_report *a, const sct_tune_report *b) {
  assert_int_equal(a->n_sizes, b->n_sizes);
  for (int z = 0; z < a->n_sizes; z++) {
    const sct_tune_size *x = &a->sizes[z], *y = &b->sizes[z];
    assert_int_equal(x->n_rows, y->n_rows);
    assert_int_equal(x->n_tied, y->n_tied);
    assert_int_equal(x->n_unfit, y->n_unfit);
    assert_int_equal(x->n_verified, y->n_verified);
    assert_int_equal(x->n_failed, y->n_failed);
    assert_true(x->ceiling_bytes_s == y->ceiling_bytes_s);
    same_text(x->faster, y->faster);
    for (int k = 0; k < x->n_rows; k++) {
      same_row(&x->rows[k], &y->rows[k]);
    }
  }
}

/* ---- a finished session ---- */

/* The second session's GPU would make everything wrong, slower or hang: it is not asked. */
static void a_finished_session_measures_nothing(void **state) {
  (void)state;
  tf_run first = tf_new("slow@0=1.002 wrong@2", "done.db");
  tf_add_strategy("more", "other", tf_strategy("other", "{ 64, 96 }"));
  first.opts.strategy_dir = tf_path("more");
  tf_tune_ok(&first, SIZES);
  assert_true(first.report.sizes[0].n_tied > 1);
  const int earlier = tf_ask("done.db", "SELECT count(*) FROM earlier");
  assert_true(earlier > 0); /* the samples of quick pass and race */
  keep_copy("done.db");

  tf_run second = tf_new("wrong@0 slow@1=50 slow@3=9 hang@4", "done.db");
  second.opts.strategy_dir = first.opts.strategy_dir;
  tf_tune_ok(&second, SIZES);
  assert_int_equal(second.n_final, 0);
  same_report(&first.report, &second.report);
  assert_null(second.report.stale);
  assert_int_equal(tf_ask("done.db", "SELECT count(*) FROM earlier"), earlier);
  assert_int_equal(ask_both("done.db", "SELECT count(*) FROM (SELECT * FROM outcome EXCEPT "
                                       "SELECT * FROM old.outcome)"),
                   0);
  assert_int_equal(ask_both("done.db", "SELECT count(*) FROM (SELECT * FROM run EXCEPT "
                                       "SELECT * FROM old.run)"),
                   0);
  tf_free(&first);
  tf_free(&second);
}

/* A candidate is known by its source and launch: a store of a program that had an axis more, of one
 * value, is gone on with, and keeps its axes. */
static void an_axis_that_is_gone_does_not_matter(void **state) {
  (void)state;
  tf_run first = tf_new("slow@0=2", "axes.db");
  tf_tune_ok(&first, SPEC);
  sql("axes.db", "UPDATE candidate SET axes = replace(axes, '}', ',\"min_blocks\":0}')");
  tf_run second = tf_new("wrong@0 slow@1=50", "axes.db");
  tf_tune_ok(&second, SPEC);
  assert_int_equal(second.n_final, 0);
  same_report(&first.report, &second.report);
  assert_int_equal(tf_ask("axes.db", "SELECT count(*) FROM candidate WHERE "
                                     "axes LIKE '%\"min_blocks\":0}'"),
                   3);
  tf_free(&first);
  tf_free(&second);
}

static void a_virtual_session_gives_the_same_report(void **state) {
  (void)state;
  tf_run r[2];
  for (int k = 0; k < 2; k++) {
    r[k] = tf_new(NULL, "virtual.db");
    r[k].opts.device = "virtual:h200";
    tf_tune_ok(&r[k], SPEC);
  }
  assert_true(r[0].report.sizes[0].rows[0].ptx.known);
  same_report(&r[0].report, &r[1].report);
  tf_free(&r[0]);
  tf_free(&r[1]);
}

/* Samples are stored in the order of the rounds, so that pairs can be formed later. */
static void races_are_stored_as_pairs(void **state) {
  (void)state;
  tf_run r = tf_new("slow@1=3", "pairs.db");
  tf_tune_ok(&r, SPEC);
  tf_stored s;
  tf_stored_open(&s, "pairs.db");
  const sct_row_outcome *a = &tf_result(&s, "direct t256")->outcome;
  const sct_row_outcome *b = &tf_result(&s, "direct t512")->outcome;
  assert_int_equal(strlen(a->race), 32);
  assert_string_equal(a->race, b->race);
  assert_int_equal(a->times.n_samples, b->times.n_samples);
  assert_true(a->times.launches > 0 && a->times.copies > 0 && a->times.overhead_ns > 0);
  bool sorted = true;
  for (int k = 1; k < a->times.n_samples; k++) {
    sorted = sorted && a->times.samples_ns[k - 1] <= a->times.samples_ns[k];
  }
  assert_false(sorted);
  assert_int_equal(s.runs[0].raced, 2);
  assert_int_equal(strlen(s.runs[0].finished), 24);
  tf_stored_close(&s);
  tf_free(&r);
}

/* A candidate that comes later races those that have been there. */
static void a_further_candidate_races_the_others(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2 slow@1=2 slow@2=2", "further.db");
  tf_tune_ok(&r, SPEC);
  tf_add_strategy("later", "other", tf_strategy("other", "{ 64, 96 }"));
  r.opts.strategy_dir = tf_path("later");
  r.opts.measure.fake = "ok";
  tf_tune_ok(&r, SPEC);
  assert_true(r.n_final > 0);
  tf_stored s;
  tf_stored_open(&s, "further.db");
  const char *race = tf_result(&s, "other t64")->outcome.race;
  assert_int_equal(strlen(race), 32);
  assert_string_equal(race, tf_result(&s, "direct t256")->outcome.race);
  tf_stored_close(&s);
  tf_free(&r);
}

/* ---- what is told is stored ---- */

typedef struct listener {
  const char *store;
  int n_told, n_missing;
} listener;

static void look_up(void *ctx, const sct_tune_event *event) {
  listener *l = ctx;
  if (event->kind != SCT_TUNE_EVALUATED && event->kind != SCT_TUNE_TIMED) {
    return;
  }
  tf_stored s;
  tf_stored_open(&s, l->store);
  bool found = false;
  for (int run = 0; run < s.n_runs && !found; run++) {
    tf_results(&s, run);
    for (int k = 0; k < s.n_results && !found; k++) {
      found = strcmp(s.results[k].candidate.label, event->label) == 0 &&
              strcmp(s.results[k].outcome.outcome, event->row->outcome) == 0;
    }
  }
  tf_stored_close(&s);
  l->n_told++;
  l->n_missing += !found;
}

/* Whoever reads an event may count on it, whatever happens to the session in the next moment; and
 * what was stored at once is not stored again, otherwise, when all is decided. */
static void assert_told_is_stored(tf_run *r, const char *store, int n_told) {
  static const char spec[] = TF_COPY("{ i = 4096 }, { i = 8192 }");
  listener l = {.store = store};
  const sct_tune_events events = {.ctx = &l, .happened = look_up};
  const char *path = tf_write("spec.lua", spec);
  tf_must(sct_tune_run(&r->report, path, &r->opts, &events, &r->err), &r->err);
  assert_int_equal(l.n_told, n_told);
  assert_int_equal(l.n_missing, 0);
  tf_stored s;
  tf_stored_open(&s, store);
  for (int run = 0; run < s.n_runs; run++) {
    sct_error err;
    sct_row_result *rows;
    int n;
    tf_must(sct_store_earlier(s.store, &kept_rows, s.runs[run].id, &rows, &n, &err), &err);
    for (int k = 0; k < n; k++) { /* a race takes the place of a first measurement */
      assert_string_equal(rows[k].outcome.outcome, "ok");
      assert_true(rows[k].outcome.times.n_samples > 0);
    }
  }
  tf_stored_close(&s);
  tf_free(r);
}

static void what_is_told_is_stored(void **state) {
  (void)state;
  tf_run r = tf_new("wrong@1", "told.db");
  assert_told_is_stored(&r, "told.db", 1 + 2 * 2);
  r = tf_new(NULL, "virtual.db");
  r.opts.device = "virtual:h200";
  assert_told_is_stored(&r, "virtual.db", 3);
  /* below 256 threads it does not compile */
  tf_write("assets/tuning/strategies/direct.lua",
           tf_planned(tf_direct("{ 256, 128, 512 }"),
                      "p.count = c.threads < 256 and \"no_such_name\" or p.count"));
  r = tf_new("ok", "compile.db");
  assert_told_is_stored(&r, "compile.db", 1 + 2 * 2);
  r = tf_new("ok", "search.db");
  r.opts.search = "model";
  assert_told_is_stored(&r, "search.db", 1 + 2 * 2);
}

/* ---- killed ---- */

typedef struct killer {
  int at, n;
} killer;

static void kill_at(void *ctx, const char *phase, int64_t done, int64_t total, const char *item) {
  killer *k = ctx;
  (void)done, (void)total, (void)item;
  if (strcmp(phase, "time") == 0 || strcmp(phase, "race") == 0 || strcmp(phase, "final") == 0) {
    if (++k->n == k->at) {
      kill(getpid(), SIGKILL);
    }
  }
}

/* true: it was killed. */
static bool killed(const tf_run *r, const char *path, int at) {
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    killer k = {.at = at};
    const sct_tune_events events = {.ctx = &k, .progress = kill_at};
    sct_tune_report report = {0};
    sct_error err;
    const sct_status status = sct_tune_run(&report, path, &r->opts, &events, &err);
    _exit(status == SCT_OK ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  if (WIFEXITED(status)) {
    assert_int_equal(WEXITSTATUS(status), 0);
  }
  return WIFSIGNALED(status);
}

/* One session is killed further and further on, until it comes to its end. */
static void a_killed_session_goes_on(void **state) {
  (void)state;
  static const char faults[] = "slow@0=2 slow@2=3";
  tf_run whole = tf_new(faults, "whole.db"), r = tf_new(faults, "killed.db");
  tf_tune_ok(&whole, SIZES);
  const char *path = tf_write("spec.lua", SIZES);
  int n_killed = 0, known = 0;
  for (int at = 2; killed(&r, path, at); at += 5) {
    n_killed++;
    const int rows = tf_ask("killed.db", "SELECT count(*) FROM outcome");
    assert_true(rows >= known); /* nothing acknowledged is lost */
    known = rows;
    assert_int_equal(tf_ask("killed.db", "SELECT count(*) FROM pragma_quick_check "
                                         "WHERE quick_check <> 'ok'"),
                     0);
    assert_int_equal(tf_ask("killed.db", "SELECT count(*) - count(DISTINCT run * 1000 + candidate) "
                                         "FROM outcome"),
                     0);
  }
  assert_true(n_killed >= 4);
  tf_tune_ok(&r, SIZES);
  assert_int_equal(r.n_final, 0);
  for (int z = 0; z < 2; z++) {
    tf_assert_winner(&r, z, "direct t128");
    assert_int_equal(r.report.sizes[z].n_rows, whole.report.sizes[z].n_rows);
    assert_int_equal(r.report.sizes[z].n_tied, whole.report.sizes[z].n_tied);
  }
  tf_free(&whole);
  tf_free(&r);
}

/* What had its quick pass before the kill has none again. */
static void a_killed_session_does_not_repeat_itself(void **state) {
  (void)state;
  tf_run r = tf_new("slow@2=9", "once.db");
  const char *path = tf_write("spec.lua", SPEC);
  assert_true(killed(&r, path, 3)); /* before the third is timed */
  assert_int_equal(tf_ask("once.db", "SELECT count(*) FROM outcome"), 2);
  keep_copy("once.db");
  tf_tune_ok(&r, SPEC);
  /* the samples of before the kill became earlier ones when their candidates raced */
  assert_int_equal(ask_both("once.db", "SELECT count(*) FROM old.outcome b JOIN main.earlier e ON "
                                       "e.samples_ns = b.samples_ns AND e.measured = b.measured"),
                   2);
  assert_int_equal(tf_ask("once.db", "SELECT count(*) - count(DISTINCT candidate) FROM earlier "
                                     "WHERE race = ''"),
                   0);
  tf_free(&r);
}

/* ---- other conditions ---- */

static void results_of_another_driver_are_not_used(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2", "stale.db");
  tf_tune_ok(&r, SPEC);
  assert_null(r.report.stale);
  static const struct {
    const char *change, *says;
  } cases[] = {
      {"driver = '570.1'", "of driver 570.1"},
      {"nvrtc = '12.1'", "of NVRTC 12.1"},
      {"options = '-G'", "of options -G"},
      {"measurement = 0", "of another way of measuring (sectile 0.1.0)"},
      {"clock_khz = 900000", "of a clock of 900 MHz"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sql("stale.db", sct_arena_printf(&tf_arena,
                                     "UPDATE device SET key = 'old%d', %s WHERE key NOT LIKE "
                                     "'old%%'",
                                     k, cases[k].change));
    tf_tune_ok(&r, SPEC);
    assert_true(r.n_final > 0); /* measured anew */
    assert_non_null(r.report.stale);
    if (!strstr(r.report.stale, cases[k].says) && k < 4) {
      fail_msg("no '%s' in: %s", cases[k].says, r.report.stale);
    }
    if (k == 0) {
      assert_string_equal(r.report.stale, "3 results of driver 570.1 are not used");
    }
    assert_int_equal(tf_ask("stale.db", "SELECT count(*) FROM outcome"), 3 * (k + 2));
  }
  assert_non_null(strstr(r.report.stale, " and 3 of other conditions are not used"));
  tf_free(&r);
}

static void results_of_another_spec_are_not_used(void **state) {
  (void)state;
  tf_run r = tf_new("ok", "spec.db");
  tf_tune_ok(&r, SPEC);
  tf_tune_ok(&r, SIZES);
  assert_string_equal(r.report.stale, "3 results of another version of the spec are not used");
  tf_tune_ok(&r, tf_replace(SPEC, "\"move\"", "\"other\""));
  assert_null(r.report.stale);
  tf_free(&r);
}

/* As after a new version of the program, or without the folder of strategies of the last time. */
static void results_of_other_kernels_are_not_used(void **state) {
  (void)state;
  tf_run first = tf_new("slow@0=2", "others.db");
  tf_add_strategy("extra", "other", tf_strategy("other", "{ 64, 96 }"));
  first.opts.strategy_dir = tf_path("extra");
  tf_tune_ok(&first, SIZES);
  assert_null(first.report.stale);
  tf_run second = tf_new("slow@0=2", "others.db");
  tf_tune_ok(&second, SIZES);
  assert_string_equal(second.report.stale, "4 results of kernels that these templates and "
                                           "strategies do not make are not used");
  assert_int_equal(tf_ask("others.db", "SELECT count(*) FROM outcome"), 2 * 5);
  const char *const labels[] = {"direct t128"};
  second.opts.only = (sct_tune_labels){1, labels};
  tf_tune_ok(&second, SIZES);
  assert_null(second.report.stale);
  tf_tune_ok(&first, SIZES);
  assert_null(first.report.stale);
  tf_free(&first);
  tf_free(&second);
}

/* ---- a part of what the store has ---- */

#define WINS(label)                                                                                \
  "SELECT count(*) FROM run r JOIN outcome o ON o.id = r.winner JOIN candidate c ON c.id = "       \
  "o.candidate WHERE r.n_candidates = 3 AND r.ceiling_bytes_s > 0 AND c.label = '" label "'"

/* A look at one candidate, or at a few again, makes no header worse. */
static void expect_kept(const char *store, const char *look, int most) {
  tf_run r = tf_new("slow@0=4 slow@1=3", store);
  const char *const labels[] = {look};
  r.opts.again = look == NULL;
  r.opts.max_candidates = most;
  r.opts.only = (sct_tune_labels){look ? 1 : 0, labels};
  tf_tune_ok(&r, SPEC);
  const sct_tune_size *size = &r.report.sizes[0];
  assert_non_null(size->kept);
  assert_non_null(strstr(size->kept, "'direct t512' of an earlier session ("));
  assert_false(tf_find(&r, 0, "direct t512") != NULL);
  assert_int_equal(tf_ask(store, WINS("direct t512")), 1);
  assert_int_equal(tf_ask(store, "SELECT count(*) FROM outcome"), 3);
  tf_free(&r);
}

static void a_part_of_a_session_leaves_a_better_winner(void **state) {
  (void)state;
  tf_run all = tf_new("slow@0=4 slow@1=3 slow@2=2", "part.db");
  tf_tune_ok(&all, SPEC);
  tf_assert_winner(&all, 0, "direct t512");
  assert_null(all.report.sizes[0].kept);
  expect_kept("part.db", "direct t128", 0);
  expect_kept("part.db", NULL, 1);

  tf_run r = tf_new("slow@0=4", "part.db");
  const char *const labels[] = {"direct t128", "direct t512"};
  r.opts.only = (sct_tune_labels){1, labels + 1};
  tf_tune_ok(&r, SPEC); /* the winner itself is looked at */
  assert_null(r.report.sizes[0].kept);
  r.opts.only = (sct_tune_labels){1, labels};
  r.opts.again = true; /* its own is faster */
  tf_tune_ok(&r, SPEC);
  assert_null(r.report.sizes[0].kept);
  assert_int_equal(tf_ask("part.db", "SELECT count(*) FROM run r JOIN outcome o ON o.id = r.winner "
                                     "JOIN candidate c ON c.id = o.candidate WHERE c.label = "
                                     "'direct t128'"),
                   1);
  tf_free(&r);
  tf_tune_ok(&all, SPEC); /* and all together are decided anew */
  tf_assert_winner(&all, 0, "direct t128");
  assert_int_equal(tf_ask("part.db", WINS("direct t128")), 1);
  tf_free(&all);
}

/* The winner that the store names, for a test that knows its label. */
static void expect_winner(const char *store, const char *label) {
  sct_str question = {0};
  sct_str_printf(&question,
                 "SELECT count(*) FROM run r JOIN outcome o ON o.id = r.winner JOIN outcome n ON "
                 "n.id = r.naive JOIN candidate c ON c.id = o.candidate WHERE o.outcome = 'ok' AND "
                 "c.label = '%s'",
                 label);
  assert_int_equal(tf_ask(store, sct_str_c(&question)), 1);
  sct_str_free(&question);
}

/* A session of t512, t128 and naive, best first; then one of `label` with these faults. */
static tf_run look_again(const char *store, const char *faults, const char *label, bool again) {
  static const char *labels[1];
  tf_run all = tf_new("slow@0=4 slow@1=3 slow@2=2", store);
  tf_tune_ok(&all, SPEC);
  tf_free(&all);
  expect_winner(store, "direct t512");
  labels[0] = label;
  tf_run r = tf_new(faults, store);
  r.opts.only = (sct_tune_labels){1, labels};
  r.opts.again = again;
  return r;
}

static void candidates_that_fail_leave_the_winner(void **state) {
  (void)state;
  static const struct {
    const char *name, *faults, *label, *before; /* before: SQL */
    bool again;
    sct_status status;
    const char *winner, *says;
  } cases[] = {
      {"fail", "slow@0=4 wrong@1", "direct t128", "", true, SCT_OK, "direct t512", "stays"},
      {"kept", "slow@0=4", "direct t256", "", false, SCT_OK, "direct t512", "stays"},
      {"naive", "slow@0=4", "direct t256", "", true, SCT_OK, "direct t512", "stays"},
      {"any", "slow@0=4 wrong@1", "direct t128", /* won when it need not be coalesced */
       "UPDATE outcome SET coalesced = 0", true, SCT_OK, "direct t512", "stays"},
      {"all", "wrong@0 wrong@1", "direct t128", "", true, SCT_ENOTVERIFIED, "direct t512", "stays"},
      /* the winner itself fails: not naive follows, but the next best */
      {"heir", "slow@0=4 wrong@1", "direct t512", "", true, SCT_OK, "direct t128", "is now"},
      {"slower", "slow@0=9 slow@1=8", "direct t512", "", true, SCT_OK, "direct t128", "is now"},
      {"unknown", "ok", "direct t511", "", true, SCT_EUSAGE, "direct t512", NULL},
      {"faster", "slow@0=4", "direct t128", "", true, SCT_OK, "direct t128", NULL},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char store[32];
    snprintf(store, sizeof store, "left%d.db", k);
    tf_run r = look_again(store, cases[k].faults, cases[k].label, cases[k].again);
    sql(store, cases[k].before);
    tf_tune(&r, SPEC);
    const char *kept = r.report.n_sizes > 0 ? r.report.sizes[0].kept : NULL;
    if (r.status != cases[k].status || !kept != !cases[k].says ||
        (kept && (!strstr(kept, cases[k].winner) || !strstr(kept, cases[k].says)))) {
      fail_msg("%s: %d, kept: %s; %s", cases[k].name, (int)r.status, kept ? kept : "(nothing)",
               r.err.text);
    }
    expect_winner(store, cases[k].winner);
    tf_free(&r);
  }
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_finished_session_measures_nothing),
      cmocka_unit_test(an_axis_that_is_gone_does_not_matter),
      cmocka_unit_test(a_virtual_session_gives_the_same_report),
      cmocka_unit_test(races_are_stored_as_pairs),
      cmocka_unit_test(a_further_candidate_races_the_others),
      cmocka_unit_test(a_killed_session_goes_on),
      cmocka_unit_test(a_killed_session_does_not_repeat_itself),
      cmocka_unit_test(results_of_another_driver_are_not_used),
      cmocka_unit_test(results_of_another_spec_are_not_used),
      cmocka_unit_test(results_of_other_kernels_are_not_used),
      cmocka_unit_test(a_part_of_a_session_leaves_a_better_winner),
      cmocka_unit_test(candidates_that_fail_leave_the_winner),
      cmocka_unit_test(what_is_told_is_stored), /* the last: it changes a strategy */
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
