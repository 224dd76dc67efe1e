/* Strategies that record no accesses: what their kernels do is counted from blocks of the compiled
 * PTX, on the virtual device and beside the check that goes before a GPU. Such a strategy, with a
 * template of its own, lies in a folder of the user's. */
#include "tune_fixture.h"

#define SPEC       TF_COPY("{ i = 1048576 }, { i = 12345 }")
#define HAND_OVER  "kit.hand_over(g, plan)"
#define UNRECORDED HAND_OVER " plan.accesses = nil"

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

/* FOLDER/mine: the naive strategy as "bare", without its accesses, and its template beside it. */
static void write_bare(const char *threads) {
  const char *strategy = tf_replace(tf_replace(tf_strategy("bare", threads), HAND_OVER, UNRECORDED),
                                    "template = \"direct.cu\"", "template = \"bare.cu\"");
  tf_add_strategy("mine", "bare", strategy);
  tf_write("mine/bare.cu",
           sct_arena_printf(&tf_arena, "// mine\n%s", asset_text("templates/direct.cu")));
}

static void assert_same_counts(const tf_run *r, const char *label, const char *stated) {
  for (int z = 0; z < r->report.n_sizes; z++) {
    const sct_tune_row *row = tf_row(r, z, label), *other = tf_row(r, z, stated);
    tf_assert_outcome(r, z, label, "ok");
    assert_true(row->counted);
    assert_true(row->coalesced);
    assert_true(row->ptx.known);
    assert_true(row->sectors == other->sectors);
    assert_true(row->sectors_ld == other->sectors_ld);
    assert_true(row->sectors_st == other->sectors_st);
    assert_true(row->predicted_ns > 0.0);
    assert_true(row->predicted_ns == other->predicted_ns);
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

int main(int argc, char **argv) {
  TF_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_counted_on_the_virtual_device),
      cmocka_unit_test(it_is_counted_beside_the_check_of_a_gpu),
  };
  return cmocka_run_group_tests(tests, tf_setup, tf_teardown);
}
