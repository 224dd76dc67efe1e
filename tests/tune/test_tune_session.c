/* One session end to end on the fake GPU: order of the report, ties, sizes, layouts, budget, stop,
 * resuming, and what the store holds afterwards. */
#include "tune_fixture.h"

#include <jansson.h>

#define SPEC TF_COPY("{ i = 4096 }")

/* ---- report ---- */

static void rows_stand_by_time_with_the_winner_first(void **state) {
  (void)state;
  tf_add_strategy("order", "other", tf_strategy("other", "{ 64, 96 }"));
  tf_run r = tf_new("slow@0=4 slow@1=2 slow@2=3 wrong@3", NULL);
  r.opts.strategy_dir = tf_path("order");
  tf_tune_ok(&r, SPEC);
  static const char *const order[] = {"other t96", "direct t128", "direct t512", "direct t256",
                                      "other t64"};
  const sct_tune_size *size = &r.report.sizes[0];
  assert_int_equal(size->n_rows, SCT_COUNT(order));
  for (int k = 0; k < SCT_COUNT(order); k++) {
    assert_string_equal(size->rows[k].label, order[k]);
    assert_int_equal(size->rows[k].winner, k == 0);
    assert_int_equal(size->rows[k].naive, strcmp(order[k], "direct t256") == 0);
  }
  const double base = size->rows[0].outcome.times.median_ns;
  assert_true(size->rows[1].outcome.times.median_ns > 1.9 * base &&
              size->rows[1].outcome.times.median_ns < 2.1 * base);
  assert_true(size->rows[3].outcome.times.median_ns > 3.9 * base &&
              size->rows[3].outcome.times.median_ns < 4.1 * base);
  assert_int_equal(size->n_tied, 1);
  assert_true(size->rows[0].tied && !size->rows[1].tied);
  assert_null(size->faster);
  tf_free(&r);
}

/* A naive variant that takes 30 times as long had its samples in the quick pass; one of 10 times
 * races the others. */
static void a_naive_variant_that_is_far_behind_does_not_race(void **state) {
  (void)state;
  static const double slow[] = {10, 30};
  for (int k = 0; k < SCT_COUNT(slow); k++) {
    char script[32];
    snprintf(script, sizeof script, "slow@0=%g", slow[k]);
    tf_run r = tf_new(script, NULL);
    tf_tune_ok(&r, SPEC);
    const sct_tune_row *last = &r.report.sizes[0].rows[2], *first = &r.report.sizes[0].rows[0];
    assert_true(last->naive && first->outcome.times.resident_ns > 0);
    assert_int_equal(last->outcome.times.resident_ns > 0, k == 0);
    assert_true(last->outcome.times.median_ns > 0.9 * slow[k] * first->outcome.times.median_ns &&
                last->outcome.times.median_ns < 1.1 * slow[k] * first->outcome.times.median_ns);
    tf_free(&r);
  }
}

static void figures_of_a_row_agree_with_each_other(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2", NULL);
  tf_tune_ok(&r, SPEC);
  const sct_tune_size *size = &r.report.sizes[0];
  assert_string_equal(r.report.name, "move");
  assert_string_equal(r.report.device.name, "Fake GPU");
  assert_string_equal(r.report.says, "timed");
  assert_string_equal(size->label, "i=4096");
  assert_true(size->read_bytes == 16384.0 && size->write_bytes == 16384.0);
  assert_true(size->ceiling_bytes_s > 0);
  assert_false(size->verified_only_counted);
  assert_int_equal(r.report.n_sources, 3);
  assert_int_equal(r.report.n_candidates, 3);
  assert_false(r.report.stopped_early);
  for (int k = 0; k < size->n_rows; k++) {
    const sct_tune_row *row = &size->rows[k];
    const sct_times *t = &row->outcome.times;
    assert_true(t->q1_ns <= t->median_ns && t->median_ns <= t->q3_ns);
    const double rate = 32768.0 / t->median_ns * 1e9;
    assert_true(row->bytes_per_s > 0.999 * rate && row->bytes_per_s < 1.001 * rate);
    const double share = rate / size->ceiling_bytes_s;
    assert_true(row->share > 0.999 * share && row->share < 1.001 * share);
    const sct_row_outcome *o = &row->outcome;
    assert_true(sct_row_sectors(o) == 1024.0); /* 32768 bytes of 32 */
    assert_true(o->sectors_ld_ideal + o->sectors_st_ideal == 1024.0);
    assert_true(sct_tune_row_loads(row) == 4.0 && sct_tune_row_stores(row) == 4.0);
    assert_true(o->degree > 0.999 && o->degree < 1.001);
    assert_true(row->occupancy > 0 && row->occupancy <= 1.0);
    assert_true(row->registers > 0 && row->spill_bytes == 0 && row->outcome.how.coalesced);
  }
  tf_free(&r);
}

/* Equal times: every candidate ties, and the tie is broken by the label at last. */
static void ties_are_counted(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_tied, 3);
  for (int k = 0; k < 3; k++) {
    assert_true(r.report.sizes[0].rows[k].tied);
  }
  r.opts.measure.fake = "slow@2=2";
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_tied, 2);
  assert_false(tf_row(&r, 0, "direct t512")->tied);
  tf_free(&r);
}

/* A candidate whose text differs and whose machine code and launch do not runs alike: it is
 * measured once, and both rows hold what was found. */
static void equal_code_is_timed_once(void **state) {
  (void)state;
  sct_str text = {0};
  sct_error err;
  tf_must(sct_asset_read(&text, "templates/direct.cu", &err), &err);
  tf_write("assets/templates/again.cu",
           sct_arena_printf(&tf_arena, "%s// another text\n", sct_str_c(&text)));
  sct_str_free(&text);
  tf_add_strategy("duplicates", "again",
                  tf_replace(tf_strategy("again", "{ 128, 64 }"), "template = \"direct.cu\"",
                             "template = \"again.cu\""));
  tf_run r = tf_new("slow@0=4 slow@1=2 slow@2=5 slow@3=3", "duplicates.db");
  r.opts.strategy_dir = tf_path("duplicates");
  tf_tune_ok(&r, SPEC);
  const sct_tune_row *one = tf_row(&r, 0, "direct t128"), *other = tf_row(&r, 0, "again t128");
  assert_true(one->outcome.times.median_ns == other->outcome.times.median_ns &&
              one->outcome.times.q3_ns == other->outcome.times.q3_ns);
  assert_string_equal(other->outcome.outcome, "ok");
  assert_non_null(strstr(other->outcome.detail, "same machine code and launch as 'direct t128'"));
  assert_null(one->outcome.detail);
  const double base =
      one->outcome.times.median_ns / 2; /* the fourth binary that the fake gets is the last one */
  const sct_tune_row *last = tf_row(&r, 0, "again t64");
  assert_true(last->outcome.times.median_ns > 2.8 * base &&
              last->outcome.times.median_ns < 3.2 * base);
  assert_null(last->outcome.detail);
  assert_int_equal(r.report.sizes[0].n_verified, 5);
  tf_stored s;
  tf_stored_open(&s, "duplicates.db");
  assert_int_equal(s.n_results, 5);
  assert_non_null(strstr(tf_result(&s, "again t128")->outcome.detail, "direct t128"));
  tf_stored_close(&s);
  tf_free(&r);
}

#define VECTORS                                                                                    \
  "local s = require \"sectile\"\n"                                                                \
  "local vec = s.record { { \"x\", \"f32\" }, { \"y\", \"f32\" }, { \"z\", \"f32\" },\n"           \
  "  name = \"vec\" }\n"                                                                           \
  "return s.kernel {\n"                                                                            \
  "  name = \"lay\", dims = { \"i\" }, inputs = { s.array(\"a\", vec, s.soa) },\n"                 \
  "  outputs = { s.array(\"b\", vec, s.choose { s.aos, s.soa }) },\n"                              \
  "  body = \"b = a;\", sizes = { { i = 4096 } },\n"                                               \
  "}\n"

/* Records of 12 bytes written word by word touch three times the sectors: those with b=aos are not
 * coalesced, so the faster of them does not win unless it is asked for; it is told. */
static void a_faster_variant_that_is_not_coalesced_is_told(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=4 slow@2=3 slow@3=2 slow@4=3", NULL);
  tf_tune_ok(&r, VECTORS);
  tf_assert_winner(&r, 0, "direct b=soa t128");
  const sct_tune_row *aos = tf_row(&r, 0, "direct b=aos t128");
  assert_false(aos->outcome.how.coalesced || aos->tied);
  assert_true(tf_row(&r, 0, "direct b=soa t256")->outcome.how.coalesced);
  assert_true(aos->outcome.times.median_ns <
              0.55 * r.report.sizes[0].rows[0].outcome.times.median_ns);
  assert_non_null(r.report.sizes[0].faster);
  assert_non_null(strstr(r.report.sizes[0].faster, "'direct b=aos t128' is 2.0"));
  assert_non_null(strstr(r.report.sizes[0].faster, "--select any"));
  r.opts.select_any = true;
  tf_tune_ok(&r, VECTORS);
  tf_assert_winner(&r, 0, "direct b=aos t128");
  assert_null(r.report.sizes[0].faster);
  tf_free(&r);
}

/* ---- sizes ---- */

/* Only multiples of 64 fit "even": at the other size it is unfit, neither failed nor verified. */
static void a_kernel_that_does_not_fit_a_size_is_unfit(void **state) {
  (void)state;
  const char *text = tf_strategy("even", "{ 64 }");
  text = tf_planned(text, "p.requires = { (k.extents[1] % 64):eq(0) }");
  tf_add_strategy("unfit", "even", text);
  tf_run r = tf_new("slow@0=2 slow@1=3 slow@2=4", "unfit.db");
  r.opts.strategy_dir = tf_path("unfit");
  tf_tune_ok(&r, TF_COPY("{ i = 4096 }, { i = 5000 }, { i = 64 }"));
  assert_int_equal(r.report.n_sizes, 3);
  tf_assert_winner(&r, 0, "even");
  tf_assert_winner(&r, 1, "direct t256");
  assert_int_equal(r.report.sizes[0].n_unfit, 0);
  assert_int_equal(r.report.sizes[1].n_unfit, 1);
  assert_int_equal(r.report.sizes[2].n_unfit, 0);
  assert_null(tf_find(&r, 1, "even"));
  assert_int_equal(r.report.sizes[1].n_rows, 3);
  assert_int_equal(r.report.sizes[1].n_failed, 0);
  tf_stored s;
  tf_stored_open(&s, "unfit.db");
  assert_int_equal(s.n_runs, 3); /* by number of elements */
  static const char *const labels[] = {"i=64", "i=4096", "i=5000"};
  static const int counts[] = {4, 4, 3};
  for (int z = 0; z < 3; z++) {
    tf_results(&s, z);
    assert_string_equal(s.runs[z].size_label, labels[z]);
    assert_int_equal(s.n_results, counts[z]);
    assert_int_equal(s.runs[z].n_candidates, counts[z]);
  }
  tf_stored_close(&s);
  tf_free(&r);
}

/* One that fits no size is never run: it would take the only worker with it. */
static void an_unfit_kernel_is_not_run(void **state) {
  (void)state;
  const char *text = tf_strategy("even", "{ 64 }");
  text = tf_planned(text, "p.requires = { (k.extents[1] % 64):eq(0) }");
  tf_add_strategy("unfit", "even", text);
  tf_run r = tf_new("crash@3 gone=2 slow@0=2", NULL);
  r.opts.strategy_dir = tf_path("unfit");
  tf_tune_ok(&r, TF_COPY("{ i = 5000 }"));
  assert_int_equal(r.report.sizes[0].n_unfit, 1);
  assert_int_equal(r.report.sizes[0].n_verified, 3);
  assert_non_null(strstr(r.items, "<even>")); /* its turn came */
  tf_tune(&r, TF_COPY("{ i = 6400 }"));
  assert_int_equal(r.status, SCT_EUNHEALTHY);
  tf_free(&r);
}

static void sizes_have_winners_of_their_own(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2", NULL);
  tf_tune_ok(&r, TF_COPY("{ i = 1000 }, { i = 100000 }"));
  for (int z = 0; z < 2; z++) {
    assert_int_equal(r.report.sizes[z].n_rows, 3);
    assert_true(r.report.sizes[z].rows[0].winner);
    assert_false(r.report.sizes[z].rows[0].naive);
    tf_assert_winner(&r, z, r.report.sizes[z].rows[0].label);
  }
  const double small = tf_row(&r, 0, "direct t256")->outcome.times.median_ns;
  assert_true(tf_row(&r, 1, "direct t256")->outcome.times.median_ns > 1.05 * small);
  assert_true(r.report.sizes[1].read_bytes == 400000.0);
  tf_free(&r);
}

/* ---- layouts ---- */

#define CHOOSE                                                                                     \
  "local s = require \"sectile\"\n"                                                                \
  "local pair = s.record { { \"x\", \"f32\" }, { \"y\", \"f32\" }, name = \"pair\" }\n"            \
  "return s.kernel {\n"                                                                            \
  "  name = \"lay\", dims = { \"i\" }, inputs = { s.array(\"a\", pair, s.soa) },\n"                \
  "  outputs = { s.array(\"b\", pair, s.choose { s.aos, s.soa }) },\n"                             \
  "  body = \"b = a;\", sizes = { { i = 4096 } },\n"                                               \
  "}\n"

/* Two choices of layouts: each has its own naive variant and reference; the best of both wins. */
static void layout_choices_are_groups_with_a_naive_variant_each(void **state) {
  (void)state;
  /* binaries in order: naive of aos 0, two more of aos, then those of soa (its naive is 0 again) */
  tf_run r = tf_new("slow@0=3 slow@1=2 slow@2=2 slow@3=1.5 ok@4", "lay.db");
  tf_tune_ok(&r, CHOOSE);
  const sct_tune_size *size = &r.report.sizes[0];
  assert_int_equal(size->n_rows, 6);
  int n_naive = 0, n_soa = 0;
  for (int k = 0; k < size->n_rows; k++) {
    n_naive += size->rows[k].naive;
    n_soa += strstr(size->rows[k].label, "b=soa") != NULL;
    assert_string_equal(size->rows[k].outcome.outcome, "ok");
  }
  assert_int_equal(n_naive, 2);
  assert_int_equal(n_soa, 3);
  tf_assert_winner(&r, 0, "direct b=soa t512");
  tf_stored s;
  tf_stored_open(&s, "lay.db");
  const sct_row_result *naive = tf_result(&s, "direct b=soa t256");
  assert_int_equal(s.runs[0].naive, naive->outcome.id); /* the one of the winner's layouts */
  int n_coalesced = 0;
  for (int k = 0; k < size->n_rows; k++) { /* known since all were seen, and stored since then */
    const sct_tune_row *row = &size->rows[k];
    const sct_row_result *stored = tf_result(&s, row->label);
    assert_int_equal(stored->outcome.how.coalesced, row->outcome.how.coalesced);
    assert_true(stored->outcome.times.median_ns == row->outcome.times.median_ns);
    n_coalesced += row->outcome.how.coalesced;
  }
  assert_in_range(n_coalesced, 1, size->n_rows);
  json_t *axes = json_loads(naive->candidate.axes, 0, NULL);
  assert_string_equal(json_string_value(json_object_get(axes, "layout_b")), "soa");
  json_decref(axes);
  json_t *launch = json_loads(naive->candidate.launch, 0, NULL);
  assert_non_null(json_object_get(launch, "layouts"));
  json_decref(launch);
  tf_stored_close(&s);
  tf_free(&r);
}

/* ---- budget and stop ---- */

static void the_budget_ends_the_session_early(void **state) {
  (void)state;
  tf_run r = tf_new("ok", "budget.db");
  tf_tune_ok(&r, SPEC); /* all is known: the next one has a winner whenever it ends */
  assert_false(r.report.stopped_early);
  r.opts.budget_ns = 1;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_ESTOPPED);
  assert_non_null(strstr(r.err.text, "the time budget ended"));
  assert_non_null(strstr(r.err.text, "move"));
  assert_true(r.report.stopped_early);
  assert_int_equal(r.report.sizes[0].n_rows, 3);
  assert_int_equal(r.n_time + r.n_verify + r.n_final, 0);
  tf_free(&r);
}

static void a_budget_too_short_for_anything_verifies_nothing(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  r.opts.budget_ns = 1;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_ENOTVERIFIED);
  assert_non_null(strstr(r.err.text, "i=4096"));
  assert_int_equal(r.report.n_sizes, 1);
  assert_int_equal(r.report.sizes[0].n_rows, 0);
  tf_free(&r);
}

/* Strategies that make this many candidates. */
static void many_candidates(tf_run *r, int n) {
  sct_str values = {0};
  for (int k = 1; k <= n; k++) {
    sct_str_printf(&values, "%s%d", k > 1 ? ", " : "{ ", 4 * k);
  }
  sct_str_append(&values, " }");
  tf_add_strategy("many", "other", tf_strategy("other", sct_str_c(&values)));
  sct_str_free(&values);
  r->opts.strategy_dir = tf_path("many");
}

/* Generating counts: what the budget leaves no time for is not generated, but told. */
static void the_budget_holds_for_generating(void **state) {
  (void)state;
  tf_run r = tf_new("ok", "generating.db");
  many_candidates(&r, 200);
  r.opts.budget_ns = 1;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_ENOTVERIFIED);
  assert_true(r.report.stopped_early);
  assert_in_range(r.report.n_sources, 3, 12); /* some of both strategies, in any case */
  assert_int_equal(r.report.n_sources + r.report.n_ungenerated, r.report.n_candidates);
  tf_stored s;
  tf_stored_open(&s, "generating.db");
  assert_int_equal(s.n_results, 0); /* it is no outcome */
  tf_stored_close(&s);
  r.opts.budget_ns = 0;
  r.opts.max_candidates = 1;
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.n_ungenerated, 0);
  assert_int_equal(r.report.n_sources, r.report.n_candidates - 3); /* with the source of another */
  tf_free(&r);
}

/* Nothing is tried, and the winner is not even generated: it stays, and what is known is told. */
static void a_winner_that_was_not_generated_stays(void **state) {
  (void)state;
  static const char *const only[] = {"other t404"};
  tf_run r = tf_new("slow@0=2", "ungenerated.db");
  many_candidates(&r, 200);
  r.opts.only = (sct_tune_labels){1, only};
  tf_tune_ok(&r, SPEC);
  tf_assert_winner(&r, 0, only[0]);
  tf_stored before, after;
  tf_stored_open(&before, "ungenerated.db");
  r.opts.only.n = 0;
  r.opts.budget_ns = 1;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_ESTOPPED);
  assert_true(r.report.n_ungenerated > 100);
  tf_assert_winner(&r, 0, "direct t256");
  assert_non_null(strstr(r.report.sizes[0].kept, "'other t404' of an earlier session"));
  assert_null(r.report.stale); /* it is no stranger */
  tf_stored_open(&after, "ungenerated.db");
  assert_int_equal(before.runs[0].winner, after.runs[0].winner);
  tf_stored_close(&before);
  tf_stored_close(&after);
  tf_free(&r);
}

static void stopping_keeps_what_was_measured(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2", "stopped.db");
  r.stop_at = 2; /* the second candidate is measured, the third is not reached */
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EINTERRUPTED);
  assert_true(r.report.stopped_early);
  assert_int_equal(r.n_time, 2);
  assert_string_equal(r.items, "<direct t256><direct t128>");
  assert_int_equal(r.n_final, 0);
  assert_int_equal(r.report.n_sizes, 1);
  assert_int_equal(r.report.sizes[0].n_untried, 1); /* which it fits */
  assert_int_equal(r.report.sizes[0].n_unfit, 0);
  tf_assert_winner(&r, 0, "direct t128");
  assert_true(tf_row(&r, 0, "direct t128")->outcome.times.median_ns > 0);
  tf_stored s;
  tf_stored_open(&s, "stopped.db");
  assert_int_equal(s.n_results, 2);
  assert_true(tf_result(&s, "direct t256")->outcome.times.n_samples > 0);
  assert_int_equal(s.runs[0].winner, tf_result(&s, "direct t128")->outcome.id);
  tf_stored_close(&s);

  r.stop_at = 0; /* goes on with the third */
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_rows, 3);
  assert_false(r.report.stopped_early);
  tf_free(&r);
}

/* What was not compiled yet when it ended fits the size all the same: it was not reached. */
static void what_was_not_compiled_was_not_reached(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  many_candidates(&r, 200);
  r.opts.cache_dir = "";
  r.stop_at = 1;
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EINTERRUPTED);
  assert_true(r.report.sizes[0].n_untried > 100);
  assert_int_equal(r.report.sizes[0].n_unfit, 0);
  tf_free(&r);
}

/* Counts as the first timing, so that tf_stop() says to stop once kernels are compiled. */
static void stop_at_compile(void *ctx, const char *phase, int64_t done, int64_t total,
                            const char *note) {
  (void)done;
  (void)total;
  (void)note;
  ((tf_run *)ctx)->n_time |= strcmp(phase, "compile") == 0;
}

static void stopping_while_compiling_is_an_interruption(void **state) {
  (void)state;
  tf_run r = tf_new("ok", NULL);
  const char *path = tf_write("spec.lua", SPEC);
  r.stop_at = 1;
  const sct_tune_events events = {.ctx = &r, .progress = stop_at_compile, .stop = tf_stop};
  assert_int_equal(sct_tune_run(&r.report, path, &r.opts, &events, &r.err), SCT_EINTERRUPTED);
  assert_true(r.report.stopped_early);
  assert_int_equal(r.report.sizes[0].n_rows, 0);
  assert_int_equal(r.report.sizes[0].n_untried, 3);
  assert_int_equal(r.report.sizes[0].n_unfit, 0);
  tf_free(&r);
}

/* What an earlier session found is in the report all the same, and stays in the store. */
static void stopping_while_compiling_leaves_what_is_known(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2 slow@2=3 wrong@1", "known.db");
  tf_tune_ok(&r, SPEC);
  const double median = r.report.sizes[0].rows[0].outcome.times.median_ns;
  const char *winner = sct_arena_strdup(&tf_arena, r.report.sizes[0].rows[0].label);
  const char *path = tf_write("spec.lua", SPEC);
  r.stop_at = 1;
  r.n_time = 0;
  const sct_tune_events events = {.ctx = &r, .progress = stop_at_compile, .stop = tf_stop};
  sct_tune_report_free(&r.report);
  assert_int_equal(sct_tune_run(&r.report, path, &r.opts, &events, &r.err), SCT_EINTERRUPTED);
  assert_true(r.report.stopped_early);
  assert_int_equal(r.report.sizes[0].n_rows, 3);
  tf_assert_winner(&r, 0, winner);
  assert_true(r.report.sizes[0].rows[0].outcome.times.median_ns == median);
  tf_assert_outcome(&r, 0, "direct t128", "wrong_result");
  tf_stored s;
  tf_stored_open(&s, "known.db");
  assert_int_equal(s.runs[0].winner, tf_result(&s, winner)->outcome.id);
  tf_stored_close(&s);
  tf_free(&r);
}

/* ---- again ---- */

static double stored_median(const char *store, const char *label) {
  tf_stored s;
  tf_stored_open(&s, store);
  const double median = tf_result(&s, label)->outcome.times.median_ns;
  tf_stored_close(&s);
  return median;
}

/* The second session would find "direct t128" ten times slower, and "direct t512" wrong: it does
 * not look, since both are known and not among the finalists. */
static void tuning_again_resumes(void **state) {
  (void)state;
  tf_run r = tf_new("slow@1=4 slow@2=4", "resume.db");
  tf_tune_ok(&r, SPEC);
  const double known = stored_median("resume.db", "direct t128");
  r.opts.measure.fake = "slow@1=40 wrong@2";
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "direct t512", "ok");
  assert_true(tf_row(&r, 0, "direct t128")->outcome.times.median_ns == known);
  assert_true(stored_median("resume.db", "direct t128") == known);
  tf_stored s;
  tf_stored_open(&s, "resume.db");
  assert_true(tf_result(&s, "direct t128")->outcome.times.sm_clock_mhz == 1980.0);
  assert_int_equal(s.n_problems, 1);
  assert_int_equal(s.n_devices, 1);
  assert_int_equal(s.n_runs, 1); /* one row, not a second one */
  assert_int_equal(s.n_results, 3);
  tf_stored_close(&s);

  r.opts.again = true;
  r.opts.measure.fake = "slow@1=40 wrong@2";
  tf_tune_ok(&r, SPEC);
  tf_assert_outcome(&r, 0, "direct t512", "wrong_result");
  assert_true(tf_row(&r, 0, "direct t128")->outcome.times.median_ns > 5 * known);
  assert_true(stored_median("resume.db", "direct t128") > 5 * known);
  tf_free(&r);
}

static void another_kernel_is_another_problem(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2", "two.db");
  tf_tune_ok(&r, SPEC);
  tf_tune_ok(&r, tf_replace(SPEC, "name = \"move\"", "name = \"carry\""));
  tf_stored s;
  tf_stored_open(&s, "two.db");
  assert_int_equal(s.n_problems, 2);
  assert_string_equal(s.problems[0].name, "carry");
  assert_string_equal(s.problems[1].name, "move");
  assert_int_equal(s.n_results, 3);
  tf_stored_close(&s);
  tf_free(&r);
}

/* ---- the store ---- */

static void assert_json(const char *text, const char *key) {
  json_error_t error;
  json_t *doc = json_loads(text, 0, &error);
  if (!doc || !json_object_get(doc, key)) {
    fail_msg("%s, no '%s' in: %s", doc ? "JSON" : error.text, key, text);
  }
  json_decref(doc);
}

static void assert_complete_result(const sct_row_result *row) {
  const sct_row_candidate *c = &row->candidate;
  const sct_row_outcome *o = &row->outcome;
  assert_int_equal(strlen(c->source_hash), SCT_HASH_HEX - 1);
  assert_string_equal(c->strategy, "direct");
  assert_non_null(strstr(c->source, "__global__"));
  assert_non_null(strstr(c->source, c->kernel));
  assert_true(strlen(c->kernel) > 0 && strlen(c->options) > 0);
  assert_non_null(strstr(c->options, "sm_90"));
  assert_true(c->registers > 0 && c->spill_bytes == 0);
  json_t *axes = json_loads(c->axes, 0, NULL), *launch = json_loads(c->launch, 0, NULL);
  assert_non_null(axes);
  assert_non_null(launch);
  const json_int_t threads = json_integer_value(json_object_get(axes, "threads"));
  assert_int_equal(threads, atoi(strchr(c->label, 't') + strlen("t t")));
  assert_int_equal(json_integer_value(json_object_get(launch, "threads")), threads);
  assert_non_null(strstr(json_string_value(json_object_get(launch, "grid")), "n_i"));
  json_decref(axes);
  json_decref(launch);
  assert_string_equal(o->outcome, "ok");
  assert_string_equal(o->detail, "");
  assert_in_range(o->times.n_samples, 3, 61);
  for (int k = 0; k < o->times.n_samples; k++) {
    assert_true(o->times.samples_ns[k] >= o->times.min_ns);
  }
  assert_true(o->times.min_ns <= o->times.q1_ns && o->times.q1_ns <= o->times.median_ns &&
              o->times.median_ns <= o->times.q3_ns);
  assert_true(o->times.sm_clock_mhz == 1980.0);
  assert_true(o->requests_ld == 128.0 && o->requests_st == 128.0); /* 4096 lanes, 32 a warp */
  assert_true(o->sectors_ld == 512.0 && o->sectors_st == 512.0);
  assert_true(o->sectors_ld_ideal == 512.0 && o->sectors_st_ideal == 512.0);
  assert_true(o->degree > 0.999 && o->degree < 1.001);
  assert_true(o->how.coalesced);
}

static void rows_of_the_store_are_complete(void **state) {
  (void)state;
  tf_run r = tf_new("slow@0=2 slow@2=3", "complete.db");
  tf_tune_ok(&r, SPEC);
  tf_stored s;
  tf_stored_open(&s, "complete.db");
  const sct_row_problem *p = &s.problems[0];
  assert_string_equal(p->name, "move");
  assert_string_equal(p->spec_file, "spec.lua"); /* no folder */
  assert_int_equal(strlen(p->spec_hash), SCT_HASH_HEX - 1);
  assert_true(strlen(p->canonical) > 0);
  assert_json(p->signature, "operands");
  const sct_row_device *d = &s.devices[0];
  assert_string_equal(d->name, "Fake GPU");
  assert_string_equal(d->device_id, "cuda:0");
  assert_string_equal(d->driver, "fake");
  assert_string_equal(d->arch, "sm_90");
  assert_string_equal(d->tool, SCT_VERSION);
  assert_true(strlen(d->nvrtc) > 0 && strlen(d->uuid) > 0 && strlen(d->key) > 0);
  assert_false(d->is_virtual);
  assert_json(d->description, "l2_bytes");
  const sct_row_run *run = &s.runs[0];
  assert_string_equal(run->size_label, "i=4096");
  json_t *extents = json_loads(run->extents, 0, NULL);
  assert_int_equal(json_object_size(extents), 1);
  assert_int_equal(json_integer_value(json_object_iter_value(json_object_iter(extents))), 4096);
  json_decref(extents);
  json_t *conditions = json_loads(run->conditions, 0, NULL);
  assert_int_equal(json_integer_value(json_object_get(conditions, "seed")), 7);
  assert_string_equal(json_string_value(json_object_get(conditions, "selection")), "coalesced");
  json_decref(conditions);
  assert_true(run->read_bytes == 16384.0 && run->write_bytes == 16384.0);
  assert_true(run->ceiling_bytes_s > 0);
  assert_int_equal(strlen(run->started), strlen("2020-01-01T00:00:00.000Z"));
  assert_int_equal(run->n_tied, 1);
  assert_true(run->noise >= 0 && run->noise < 0.05);
  assert_int_equal(run->winner, tf_result(&s, "direct t128")->outcome.id);
  assert_int_equal(run->naive, tf_result(&s, "direct t256")->outcome.id);
  assert_int_equal(s.n_results, 3);
  for (int k = 0; k < 3; k++) {
    assert_complete_result(&s.results[k]);
  }
  assert_string_equal(s.results[0].candidate.label, "direct t128"); /* by time */
  tf_stored_close(&s);
  tf_free(&r);
}

static void an_empty_store_path_keeps_nothing(void **state) {
  (void)state;
  setenv("XDG_DATA_HOME", tf_path("data"), 1);
  tf_run r = tf_new("ok", NULL);
  tf_tune_ok(&r, SPEC);
  assert_false(sct_file_exists(tf_path("data/sectile/store.db")));
  r.opts.store_path = NULL; /* the default one, made with its folders */
  tf_tune_ok(&r, SPEC);
  assert_true(sct_file_exists(tf_path("data/sectile/store.db")));
  tf_free(&r);
}

static void a_store_that_is_none_is_left_alone(void **state) {
  (void)state;
  tf_write("other.db", "a letter, not a store, and longer than a header of a hundred bytes would "
                       "have to be to be taken for one by anybody");
  tf_run r = tf_new("ok", "other.db");
  tf_tune(&r, SPEC);
  assert_int_equal(r.status, SCT_EDATA);
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, tf_path("other.db"), NULL), SCT_OK);
  assert_true(sct_has_prefix(sct_str_c(&text), "a letter"));
  sct_str_free(&text);
  tf_free(&r);
}

static void a_cache_that_cannot_be_written_is_no_failure(void **state) {
  (void)state;
  tf_write("blocked", "a file where the cache folder should be");
  tf_run r = tf_new("slow@0=2", NULL);
  r.opts.cache_dir = tf_path("blocked/cache");
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_verified, 3);
  r.opts.cache_dir = ""; /* none at all */
  tf_tune_ok(&r, SPEC);
  assert_int_equal(r.report.sizes[0].n_verified, 3);
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_stand_by_time_with_the_winner_first),
      cmocka_unit_test(a_naive_variant_that_is_far_behind_does_not_race),
      cmocka_unit_test(figures_of_a_row_agree_with_each_other),
      cmocka_unit_test(ties_are_counted),
      cmocka_unit_test(equal_code_is_timed_once),
      cmocka_unit_test(a_faster_variant_that_is_not_coalesced_is_told),
      cmocka_unit_test(a_kernel_that_does_not_fit_a_size_is_unfit),
      cmocka_unit_test(an_unfit_kernel_is_not_run),
      cmocka_unit_test(sizes_have_winners_of_their_own),
      cmocka_unit_test(layout_choices_are_groups_with_a_naive_variant_each),
      cmocka_unit_test(the_budget_ends_the_session_early),
      cmocka_unit_test(a_budget_too_short_for_anything_verifies_nothing),
      cmocka_unit_test(the_budget_holds_for_generating),
      cmocka_unit_test(a_winner_that_was_not_generated_stays),
      cmocka_unit_test(stopping_keeps_what_was_measured),
      cmocka_unit_test(what_was_not_compiled_was_not_reached),
      cmocka_unit_test(stopping_while_compiling_is_an_interruption),
      cmocka_unit_test(stopping_while_compiling_leaves_what_is_known),
      cmocka_unit_test(tuning_again_resumes),
      cmocka_unit_test(another_kernel_is_another_problem),
      cmocka_unit_test(rows_of_the_store_are_complete),
      cmocka_unit_test(an_empty_store_path_keeps_nothing),
      cmocka_unit_test(a_store_that_is_none_is_left_alone),
      cmocka_unit_test(a_cache_that_cannot_be_written_is_no_failure),
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
