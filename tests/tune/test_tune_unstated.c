/* What kernels do is counted from blocks of the compiled PTX, on the virtual device and beside the
 * check that goes before a GPU. A strategy that says nothing of it, with a template of its own,
 * lies in a folder of the user's. */
#include "tune_fixture.h"

#define SPEC TF_COPY("{ i = 1048576 }, { i = 12345 }")

static const int64_t sectors[] = {1048576 / 8, (12345 + 7) / 8}; /* of a, and of b */

static const char *asset_text(const char *name) {
  sct_str text = {0};
  sct_error err;
  if (sct_asset_read(&text, name, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  const char *kept = sct_arena_strdup(&tf_arena, sct_str_c(&text));
  sct_str_free(&text);
  assert_non_null(kept);
  return kept;
}

/* FOLDER/mine: the naive strategy as "bare", without its traffic, and its template beside it. */
static void write_bare(const char *threads) {
  const char *strategy = tf_replace(tf_strategy("bare", threads), "template = \"direct.cu\"",
                                    "template = \"bare.cu\"");
  tf_add_strategy("mine", "bare", tf_planned(strategy, "p.traffic = nil"));
  tf_write("mine/bare.cu",
           sct_arena_printf(&tf_arena, "// mine\n%s", asset_text("templates/direct.cu")));
}

static void assert_same_counts(const tf_run *r, const char *label, const char *stated) {
  for (int z = 0; z < r->report.n_sizes; z++) {
    const sct_tune_row *row = tf_row(r, z, label), *other = tf_row(r, z, stated);
    tf_assert_outcome(r, z, label, "ok");
    assert_true(row->counted);
    assert_true(row->outcome.how.coalesced);
    assert_true(row->ptx.known);
    assert_true(sct_row_sectors(&row->outcome) == sct_row_sectors(&other->outcome));
    assert_true(sct_row_sectors(&row->outcome) == (double)(2 * sectors[z]));
    assert_true(sct_tune_row_loads(row) == sct_tune_row_loads(other));
    assert_true(sct_tune_row_stores(row) == sct_tune_row_stores(other));
    assert_true(row->outcome.predicted_ns > 0.0);
    assert_true(row->outcome.predicted_ns == other->outcome.predicted_ns);
  }
}

static void it_is_counted_on_the_virtual_device(void **state) {
  (void)state;
  write_bare("{ 128 }");
  tf_run r = tf_new(NULL, NULL);
  r.opts.device = "virtual:h200";
  r.opts.strategy_dir = tf_path("mine");
  tf_tune_ok(&r, SPEC);
  assert_same_counts(&r, "bare", "direct t128");
  tf_free(&r);
}

static void it_is_counted_beside_the_check_of_a_gpu(void **state) {
  (void)state;
  write_bare("{ 128 }");
  tf_run r = tf_new("ok", NULL);
  r.opts.strategy_dir = tf_path("mine");
  tf_tune_ok(&r, SPEC);
  assert_true(r.n_check > 0);
  assert_same_counts(&r, "bare", "direct t128");
  tf_free(&r);
}

/* A strategy NAME like "bare" whose plan has this `traffic`. */
static void write_traffic(const char *dir, const char *name, const char *threads,
                          const char *traffic) {
  const char *plan = sct_arena_printf(&tf_arena, "p.traffic = %s", traffic);
  tf_add_strategy(dir, name, tf_planned(tf_strategy(name, threads), plan));
}

static void a_search_begins_with_what_plans_say_of_their_traffic(void **state) {
  (void)state;
  const char *much = "{ { operand = 1, width = 4, bytes = k.extents[1] * 4,"
                     " sectors = k.extents[1] * 64, lines = k.extents[1] * 64 } }";
  write_traffic("said", "a_lot", "{ 64 }", much);
  write_traffic("said", "little", "{ 96 }", "{ { operand = 1, width = 16 }, wavefronts = 1 }");
  tf_run r = tf_new(NULL, NULL);
  r.opts.device = "virtual:h200";
  r.opts.strategy_dir = tf_path("said");
  r.opts.search = "model";
  r.opts.max_candidates = 3; /* the naive ones, two, among them */
  tf_tune_ok(&r, TF_COPY("{ i = 33554432 }"));
  assert_true(tf_row(&r, 0, "little")->counted);
  const sct_tune_row *row = tf_find(&r, 0, "a_lot");
  assert_true(row == NULL || !row->counted); /* an estimate is no count */
  tf_free(&r);
}

static void wrong_traffic_says_what_was_expected(void **state) {
  (void)state;
  static const struct {
    const char *name, *traffic, *says;
  } cases[] = {
      {"wrong_a", "7", "'traffic' of a plan is a list of operands, not a number"},
      {"wrong_b", "{ 7 }", "an operand in a plan's 'traffic' is a table { operand, width }"},
      {"wrong_c", "{ { operand = 3, width = 4 } }",
       "'operand' of a plan's 'traffic' is a number from 1 to 2"},
      {"wrong_d", "{ { operand = 1 } }", "'width' of a plan's 'traffic' is a number from 1"},
      {"wrong_e", "{ { operand = 1, width = 4, sector = 3 } }", "unknown field 'sector'"},
      {"wrong_f", "{ { operand = 1, width = 4, bytes = \"many\" } }",
       "'bytes' of a plan's 'traffic' is an expression over extents, not a string"},
      {"wrong_g", "{ { operand = 1, width = 4 }, { operand = 1, width = 8 } }",
       "operand 1 stands in a plan's 'traffic' twice"},
      {"wrong_h", "{ { operand = 1, width = 4, bytes = E.raw('thread', 0, 9) } }",
       "'traffic' of a plan mentions 'thread'"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    write_traffic("wrong", cases[k].name, "{ 64 }", cases[k].traffic);
  }
  tf_run r = tf_new("ok", NULL);
  r.opts.strategy_dir = tf_path("wrong");
  tf_tune_ok(&r, TF_COPY("{ i = 4096 }"));
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tf_assert_outcome(&r, 0, cases[k].name, "render_error");
    const char *detail = tf_row(&r, 0, cases[k].name)->outcome.detail;
    if (strstr(detail, cases[k].says) == NULL) {
      fail_msg("expected %s, got: %s", cases[k].says, detail);
    }
  }
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_counted_on_the_virtual_device),
      cmocka_unit_test(it_is_counted_beside_the_check_of_a_gpu),
      cmocka_unit_test(a_search_begins_with_what_plans_say_of_their_traffic),
      cmocka_unit_test(wrong_traffic_says_what_was_expected),
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
