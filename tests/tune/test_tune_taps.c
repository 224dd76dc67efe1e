/* A session over a stencil: what taps read again makes no candidate less coalesced, and the one
 * that reads least is predicted fastest. */
#include "tune/tune_fixture.h"

#define SPEC(layout)                                                                               \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'blur', dims = { 'row', 'col' },\n"                                    \
  "  inputs = { s.array('a', 'f32', " layout ", { border = 'clamp', taps = {\n"                    \
  "    north = { -1, 0 }, south = { 1, 0 }, west = { 0, -1 }, east = { 0, 1 } } }),\n"             \
  "    s.array('c', 'f32', nil, { dims = 'col' }) },\n"                                            \
  "  outputs = { s.array('b', 'f32') }, body = 'b = c * (a + north + south + west + east);',\n"    \
  "  sizes = { { row = 4096, col = 4096 } } }\n"

#define MARCHING "stencil w1" /* axes with one value are in no label */

/* The real strategy, with one candidate. */
static void one_stencil(void) {
  static const char *const cuts[][2] = {
      {"{ 128, 256, 512 }", "{ 128 }"}, {"{ 1, 2, 4, 8 }", "{ 1 }"},
      {"{ 1, 2, 4, 8, 16 }", "{ 4 }"},  {"{ 1, 2, 4, 8 }", "{ 4 }"},
      {"{ 1, 4, 16 }", "{ 4 }"},        {"\"none\", \"cs\"", "\"none\""}};
  sct_str text = {0};
  sct_error err;
  if (sct_file_read(&text, SCT_ROOT_DIR "/tuning/strategies/stencil.lua", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  const char *cut = sct_str_c(&text);
  for (int k = 0; k < SCT_COUNT(cuts); k++) {
    cut = tf_replace(cut, cuts[k][0], cuts[k][1]);
  }
  tf_write("assets/tuning/strategies/stencil.lua", cut);
  sct_str_free(&text);
}

static tf_run tune(const char *spec) {
  tf_run r = tf_new(NULL, NULL);
  r.opts.device = "virtual:h200";
  one_stencil();
  tf_tune_ok(&r, spec);
  return r;
}

static void what_is_read_again_is_no_fault(void **state) {
  (void)state;
  tf_run r = tune(SPEC("s.row_major"));
  assert_int_equal(r.report.sizes[0].n_rows, 4);
  assert_true(tf_row(&r, 0, "direct t256")->coalesced);
  assert_true(tf_row(&r, 0, MARCHING)->coalesced);
  tf_assert_winner(&r, 0, MARCHING);
  tf_free(&r);
}

/* Neighbours along the last dimension must be neighbours in memory. */
static void other_layouts_are_left_to_the_naive_variant(void **state) {
  (void)state;
  tf_run r = tune(SPEC("s.col_major"));
  assert_int_equal(r.report.sizes[0].n_rows, 3);
  assert_null(tf_find(&r, 0, MARCHING));
  tf_free(&r);
}

/* Fields of records that lie apart, an array without a dimension of the kernel, a body that names
 * dimensions: both ways to keep what taps reach give what the reference says. */
static void fields_and_lines_alike(void **state) {
  (void)state;
  const char *const labels[] = {
      "stencil2 halo=registers threads=256 lanes=128 vec=4 items=1 rows=2 wide=1 march=4 "
      "align=sector store=none",
      "stencil2 halo=shared threads=256 lanes=32 vec=1 items=4 rows=2 wide=1 march=1 align=sector "
      "store=none",
      "stencil2 halo=shared threads=256 lanes=32 vec=1 items=4 rows=2 wide=1 march=1 align=none "
      "store=none"};
  tf_run r = tf_new(NULL, NULL);
  sct_str text = {0};
  sct_error err;
  if (sct_file_read(&text, SCT_ROOT_DIR "/tuning/strategies/stencil2.lua", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  tf_write("assets/tuning/strategies/stencil2.lua", sct_str_c(&text));
  sct_str_free(&text);
  r.opts.device = "virtual:h200";
  r.opts.only = (sct_tune_labels){SCT_COUNT(labels), labels};
  tf_tune_ok(&r,
             "local s = require 'sectile'\n"
             "return s.kernel { name = 'k', dims = { 'i', 'j' }, tolerance = 1e-6,\n"
             "  inputs = { s.array('a', s.record { { 'x', 'f32' }, { 'y', 'f32' } }, s.soa, {\n"
             "    border = 'wrap', taps = { n = { -2, 0 }, e = { 0, 1 }, w = { 0, -1 } } }),\n"
             "    s.array('h', 'f32', nil, { dims = 'j', taps = { g = 1 }, border = 'zero' }) },\n"
             "  outputs = { s.array('b', 'f32') },\n"
             "  body = 'b = a.x + 2 * n.y + 3 * e.x + 4 * w.y + g * h + (float)(i + 5 * j);',\n"
             "  sizes = { { i = 67, j = 132 } } }\n");
  for (int k = 0; k < SCT_COUNT(labels); k++) {
    assert_non_null(tf_row(&r, 0, labels[k]));
  }
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
#define TEST(f) cmocka_unit_test_setup_teardown(f, tf_setup, tf_teardown)
  const struct CMUnitTest tests[] = {
      TEST(what_is_read_again_is_no_fault),
      TEST(other_layouts_are_left_to_the_naive_variant),
      TEST(fields_and_lines_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
