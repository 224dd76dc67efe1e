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

#define MARCHING                                                                                   \
  "stencil halo=registers threads=128 lanes=64 vec=4 items=1 rows=4 wide=1 march=4 align=sector "  \
  "store=none"

/* A session with the real strategy. */
static tf_run new_run(void) {
  tf_run r = tf_new(NULL, NULL);
  sct_str text = {0};
  sct_error err;
  if (sct_file_read(&text, SCT_ROOT_DIR "/tuning/strategies/stencil.lua", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  tf_write("assets/tuning/strategies/stencil.lua", sct_str_c(&text));
  sct_str_free(&text);
  r.opts.device = "virtual:h200";
  return r;
}

static void what_is_read_again_is_no_fault(void **state) {
  (void)state;
  const char *const label = MARCHING;
  tf_run r = new_run();
  r.opts.only = (sct_tune_labels){1, &label};
  tf_tune_ok(&r, SPEC("s.row_major"));
  assert_true(tf_row(&r, 0, MARCHING)->outcome.how.coalesced);
  tf_assert_winner(&r, 0, MARCHING);
  tf_free(&r);
}

/* Neighbours along the last dimension must be neighbours in memory. */
static void other_layouts_are_left_to_the_naive_variant(void **state) {
  (void)state;
  tf_run r = new_run();
  tf_tune_ok(&r, SPEC("s.col_major"));
  for (int k = 0; k < r.report.sizes[0].n_rows; k++) {
    assert_null(strstr(r.report.sizes[0].rows[k].label, "stencil"));
  }
  tf_free(&r);
}

/* Fields of records that lie apart, an array without a dimension of the kernel, a body that names
 * dimensions: both ways to keep what taps reach give what the reference says. */
static void fields_and_lines_alike(void **state) {
  (void)state;
  const char *const labels[] = {
      "stencil halo=registers threads=256 lanes=128 vec=4 items=1 rows=2 wide=1 march=4 "
      "align=sector store=none",
      "stencil halo=shared threads=256 lanes=32 vec=1 items=4 rows=2 wide=1 march=1 align=sector "
      "store=none",
      "stencil halo=shared threads=256 lanes=32 vec=1 items=4 rows=2 wide=1 march=1 align=none "
      "store=none"};
  tf_run r = new_run();
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

/* ---- what random specs found ---- */

#define KERNEL(dims, a, b, o, body, sizes)                                                         \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'k', dims = { " dims " },\n"                                           \
  "  inputs = { s.array('a', " a ")" b " }, outputs = { s.array('o', " o ") },\n"                  \
  "  body = '" body "', sizes = { { " sizes " } } }\n"
#define REGISTERS(lanes, vec)                                                                      \
  "stencil halo=registers threads=256 lanes=" lanes " vec=" vec                                    \
  " items=1 rows=1 wide=1 march=1 align=sector store=none"
#define SHARED(vec, items, rows, wide)                                                             \
  "stencil halo=shared threads=256 lanes=32 vec=" vec " items=" items " rows=" rows " wide=" wide  \
  " march=1 align=sector store=none"

static const char *const found[][3] = {
    {"a dimension without taps, where the array has a halo",
     KERNEL("'i', 'j', 'k'",
            "'u8', s.row_major, { at = { 'i', 'j + 5', 'k + 5' }, pad = { 0, 10, 11 },\n"
            "    taps = { t = { 2, 0, -3 } }, border = 'clamp' }",
            "", "'u8'", "o = t - a;", "i = 9, j = 7, k = 132"),
     SHARED("4", "8", "2", "1")},
    {"outputs with steps of their own",
     KERNEL("'i'", "'u32', s.row_major, { taps = { t = { 4 } }, border = 'zero' }", "",
            "'u32', s.strided { 3 }", "o = t - a;", "i = 260"),
     REGISTERS("256", "4")},
    {"an array without taps in another order",
     KERNEL("'i', 'j'", "'i8', s.col_major, { taps = { t = { -1, 1 } }, border = 'clamp' }",
            ", s.array('b', 'u32')", "'i8', s.col_major", "o = t + b;", "i = 132, j = 21"),
     SHARED("4", "4", "4", "1")},
    {"an array without taps that runs backwards",
     KERNEL("'i', 'j'", "'u32', s.row_major, { taps = { t = { -1, 1 } }, border = 'clamp' }",
            ", s.array('b', 'u32', nil, { dims = 'j', at = { 'n_j - 1 - j' } })", "'u32'",
            "o = t + b;", "i = 13, j = 64"),
     REGISTERS("128", "4")},
    {"dimensions that are one, the first of the array the faster",
     KERNEL("'i', 'j', 'k'", "'u32', s.col_major, { taps = { t = { 1, 0, 0 } }, border = 'clamp' }",
            "", "'u32', s.col_major", "o = t - a;", "i = 32, j = 2, k = 37"),
     REGISTERS("128", "4")},
    {"a line's first columns, where the array has a halo",
     KERNEL(
         "'i', 'j'",
         "'u32', s.row_major, { at = { 'i', 'j + 40' }, pad = { 0, 80 }, taps = { t = { 0, 1 } },"
         "\n    border = 'none' }",
         "", "'u32'", "o = t - a;", "i = 65, j = 129"),
     SHARED("1", "4", "2", "1")},
    {"rows of outputs that start between the inputs' words",
     KERNEL("'i', 'j'", "'u8', s.row_major, { taps = { t = { 1, 0 } }, border = 'wrap' }", "",
            "'u8', s.pitched { pitch = 'j + 4' }", "o = t - a;", "i = 9, j = 144"),
     REGISTERS("128", "16")},
    {"records of 16 bytes that are aligned to 8",
     KERNEL("'i', 'j'",
            "s.record { { 'p', 'i64' }, { 'q', 'i32' } }, s.aos, { taps = { t = { 1, 0 } },\n"
            "    border = 'zero' }",
            "", "'i32'", "o = t.q - a.q;", "i = 9, j = 33"),
     REGISTERS("128", "1")},
    {"elements that start between words of their size",
     KERNEL("'i', 'j'",
            "'i32x4', s.pitched { pitch = '16 * j + 4' }, { taps = { t = { 1, 1 } },\n"
            "    border = 'clamp' }",
            "", "'i32x4'", "o = t;", "i = 9, j = 33"),
     SHARED("1", "4", "2", "1")},
    {"records that are larger than words, up to the array's end",
     KERNEL("'i'",
            "s.record { { 'u', 'i32x4' }, align = 32 }, s.aos, { taps = { t = { 2 } },\n"
            "    border = 'clamp' }",
            "", "'i32x4'", "o = a.u;", "i = 2048"),
     "stencil halo=shared threads=256 lanes=256 vec=1 items=4 rows=1 wide=1 march=1 align=sector "
     "store=none"},
    {"taps along the first and the last dimension of an array, the first the fastest",
     KERNEL("'i', 'j', 'k'",
            "'u32', s.col_major, { at = { 'i', 'j + 1', 'k' }, pad = { 0, 1, 0 },\n"
            "    taps = { t = { 1, 0, 1 } }, border = 'wrap' }",
            "", "'u32', s.col_major", "o = a - t;", "i = 64, j = 5, k = 9"),
     REGISTERS("128", "4")},
    {"extents with remainders",
     KERNEL(
         "'i', 'j'",
         "'u32', s.row_major, { extents = { 'i + i % 3', 'j + j % 3' }, taps = { t = { 1, 1 } },\n"
         "    border = 'zero' }",
         "", "'u32'", "o = a - t;", "i = 65, j = 129"),
     SHARED("1", "4", "2", "1")},
    {"values beside a line that no other tap of its column reaches",
     KERNEL("'i', 'j', 'k'",
            "'u32', s.row_major, { taps = { t = { -2, 0, 1 }, u = { 0, 1, 3 } },\n"
            "    border = 'clamp' }",
            "", "'u32'", "o = t - 3 * u;", "i = 9, j = 6, k = 128"),
     "stencil halo=registers threads=128 lanes=32 vec=4 items=1 rows=1 wide=1 march=4 "
     "align=sector store=none"},
    {"a tile that is almost all of shared memory",
     KERNEL("'i', 'j', 'k'",
            "'i32x4', s.row_major, { taps = { t = { 3, 0, 0 }, unread = { 3, 1, 0 } },\n"
            "    border = 'wrap' }",
            "", "'i32x4'", "o = t;", "i = 9, j = 17, k = 33"),
     "stencil halo=shared threads=256 lanes=32 vec=1 items=4 rows=4 wide=2 march=1 align=none "
     "store=none"},
};

static void odd_specs_are_right(void **state) {
  (void)state;
  tf_run r = new_run();
  int n_wrong = 0;
  for (int k = 0; k < SCT_COUNT(found); k++) {
    r.opts.only = (sct_tune_labels){1, &found[k][2]};
    tf_tune_ok(&r, found[k][1]);
    if (strcmp(tf_row(&r, 0, found[k][2])->outcome.outcome, "ok") != 0) {
      print_message("%s:\n", found[k][0]);
      tf_show(&r.report.sizes[0]);
      n_wrong++;
    }
  }
  assert_int_equal(n_wrong, 0);
  tf_free(&r);
}

int main(int argc, char **argv) {
  TF_WORKER(argc, argv)
#define TEST(f) cmocka_unit_test_setup_teardown(f, tf_setup, tf_teardown)
  const struct CMUnitTest tests[] = {
      TEST(what_is_read_again_is_no_fault),
      TEST(other_layouts_are_left_to_the_naive_variant),
      TEST(fields_and_lines_alike),
      TEST(odd_specs_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
