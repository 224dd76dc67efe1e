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

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
#define TEST(f) cmocka_unit_test_setup_teardown(f, tf_setup, tf_teardown)
  const struct CMUnitTest tests[] = {
      TEST(what_is_read_again_is_no_fault),
      TEST(other_layouts_are_left_to_the_naive_variant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
