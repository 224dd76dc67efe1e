/* What a run of the PTX says of the sizes that are tuned: a body's arithmetic takes time, and who
 * does something else than its plan states is ranked by what it did. */
#include "tune_fixture.h"

#define RANK "thread = blockIdx.x * (long long)kThreads + threadIdx.x;" /* of direct.cu */

/* 2^20 elements, each 4,000 times through `step`. */
static const char *worker(const char *type, const char *step) {
  return sct_arena_printf(
      &tf_arena,
      "local s = require \"sectile\"\n"
      "return s.kernel {\n"
      "  name = \"work\", dims = { \"i\" },\n"
      "  inputs = { s.array(\"a\", \"%s\") }, outputs = { s.array(\"b\", \"%s\") },\n"
      "  body = \"auto t = a; for (int k = 0; k < 4000; k++) { %s } b = t;\",\n"
      "  tolerance = 1e-3, sizes = { { i = 1048576 } },\n"
      "}\n",
      type, type, step);
}

static const struct {
  const char *type, *step, *by;
  double least_us, most_us; /* on an H200: 128, 64, 16, 64 lanes a cycle of 132 SMs at 1.98 GHz */
} works[] = {
    {"f32", "t = fmaf(t, 0.999f, 0.5f);", "issue", 125, 170},
    {"f64", "t = fma(t, 0.999, 0.5);", "FP64", 250, 300},
    {"f32", "t = __expf(-t);", "SFU", 1000, 1150},
    {"u32", "t = t ^ (t >> 3);", "INT", 490, 620},
};

static void arithmetic_takes_time(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(works); k++) {
    tf_run r = tf_new(NULL, NULL);
    r.opts.device = "virtual:h200";
    tf_tune_ok(&r, worker(works[k].type, works[k].step));
    for (int i = 0; i < r.report.sizes[0].n_rows; i++) {
      const sct_tune_row *row = &r.report.sizes[0].rows[i];
      const double us = row->outcome.predicted_ns / 1e3;
      if (us < works[k].least_us || us > works[k].most_us ||
          strcmp(row->predicted_limit, works[k].by) != 0) {
        fail_msg("%s: %s: %.1f us by %s", works[k].step, row->label, us, row->predicted_limit);
      }
    }
    tf_free(&r);
  }
}

/* Few blocks, medians of an H200 (2026-11-28, docs/figures/model.md): what counts is how long one
 * takes, not what the device could do. */
static const struct {
  const char *rest;
  double measured_us;
} few_blocks[] = {
    {"dims = { \"r\", \"c\" }, inputs = { s.array(\"a\", \"f32\") },"
     "outputs = { s.array(\"b\", \"f32\", nil, { scan = \"sum\" }) }, body = \"b = a;\","
     "sizes = { { r = 2, c = 30000 } }",
     94.8},
    {"dims = { \"r\", \"c\" }, inputs = { s.array(\"a\", \"f32\") },"
     "outputs = { s.array(\"b\", \"f32\", nil, { scan = \"max\" }) }, body = \"b = a;\","
     "sizes = { { r = 1, c = 40000 } }",
     122.8},
    {"dims = { \"i\" }, inputs = { s.array(\"a\", \"f32\") }, outputs = { s.array(\"b\", \"f32\") "
     "},"
     "body = \"float v = a; for (int q = 0; q < 1000; q++) v = sqrtf(v); b = v;\","
     "sizes = { { i = 1024 } }",
     30.3},
};

static void few_blocks_take_as_long_as_one(void **state) {
  (void)state;
  const char *label = "direct t256";
  for (int k = 0; k < SCT_COUNT(few_blocks); k++) {
    tf_run r = tf_new(NULL, NULL);
    r.opts.device = "virtual:h200";
    r.opts.only = (sct_tune_labels){1, &label};
    tf_tune_ok(&r, sct_arena_printf(&tf_arena,
                                    "local s = require \"sectile\"\n"
                                    "return s.kernel { name = \"few\", tolerance = 1e-3, %s }\n",
                                    few_blocks[k].rest));
    double us = 0.0;
    for (int i = 0; i < r.report.sizes[0].n_rows; i++) {
      const sct_tune_row *row = &r.report.sizes[0].rows[i];
      us = strcmp(row->label, label) == 0 ? row->outcome.predicted_ns / 1e3 : us;
    }
    if (us < few_blocks[k].measured_us / 1.25 || us > few_blocks[k].measured_us * 1.25) {
      fail_msg("%s: %.1f us, measured %.1f", few_blocks[k].rest, us, few_blocks[k].measured_us);
    }
    tf_free(&r);
  }
}

/* Before a GPU has timed anything, by the run that checks the naive variant. */
static void a_gpu_session_knows_it_too(void **state) {
  (void)state;
  tf_run r = tf_new("ok", "work.db");
  tf_tune(&r, TF_COPY("{ i = 4096 }"));
  for (int i = 0; i < r.report.sizes[0].n_rows; i++) {
    assert_true(r.report.sizes[0].rows[i].ptx.known);
    assert_true(r.report.sizes[0].rows[i].ptx.per_work[SCT_PIPE_ISSUE] > 0.0);
  }
  tf_free(&r);
}

/* Element rank / 32 of part rank % 32, so the lanes of a warp are far apart. */
#define STRIDED                                                                                    \
  "rank = blockIdx.x * (long long)kThreads + threadIdx.x;\n"                                       \
  "  const long long each = $(count) / 32, even = each * 32;\n"                                    \
  "  const long long thread = rank < even ? rank % 32 * each + rank / 32 : rank;"

/* The naive strategy over STRIDED elements whose plan says this of its traffic. */
static void add_liar(const char *name, const char *traffic) {
  sct_str text = {0};
  sct_error err;
  if (sct_asset_read(&text, "templates/direct.cu", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  tf_write(
      sct_arena_printf(&tf_arena, "assets/templates/%s.cu", name),
      tf_replace(sct_str_c(&text), RANK, sct_arena_printf(&tf_arena, "%s // %s", STRIDED, name)));
  sct_str_free(&text);
  tf_add_strategy("liars", name,
                  tf_planned(tf_replace(tf_strategy(name, "{ 64 }"), "template = \"direct.cu\"",
                                        sct_arena_printf(&tf_arena, "template = \"%s.cu\"", name)),
                             traffic));
}

/* One states neighbours, one next to nothing: by its plan each would win or tie. */
static void a_plan_that_lies_does_not_win(void **state) {
  (void)state;
  add_liar("neighbours", "");
  add_liar("nothing", "p.traffic = { { operand = 1, width = 16, sectors = k.extents[1] // 1024 },"
                      "    { operand = 2, width = 16, sectors = k.extents[1] // 1024 } }");
  tf_run r = tf_new(NULL, "liars.db");
  r.opts.device = "virtual:h200";
  r.opts.strategy_dir = tf_path("liars");
  for (int again = 0; again < 2; again++) { /* then from the store */
    tf_tune_ok(&r, TF_COPY("{ i = 16777216 }"));
    const sct_tune_row *honest = tf_row(&r, 0, "direct t256");
    assert_true(honest->outcome.how.coalesced);
    for (int k = 0; k < 2; k++) {
      const sct_tune_row *liar = tf_row(&r, 0, k == 0 ? "neighbours" : "nothing");
      assert_true(sct_row_sectors(&liar->outcome) >
                  1.5 * sct_row_sectors(&honest->outcome)); /* small parts are not far apart */
      assert_true(liar->outcome.predicted_ns > 0.99 * honest->outcome.predicted_ns);
      assert_false(liar->outcome.how.coalesced || liar->winner);
      assert_non_null(strstr(liar->approximate, "blocks were counted"));
    }
    assert_int_equal(strncmp(r.report.sizes[0].rows[0].label, "direct ", 7), 0);
  }
  tf_free(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tf_setup, tf_teardown)

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      TEST(arithmetic_takes_time),
      TEST(few_blocks_take_as_long_as_one),
      TEST(a_gpu_session_knows_it_too),
      TEST(a_plan_that_lies_does_not_win),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
