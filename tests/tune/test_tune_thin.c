/* Tiles of a dimension that is short: transposes to and from a few rows or columns, further
 * operands and dimensions, elements of 1 to 8 bytes, against the naive variant; and kernels with
 * one mistake each, which must be found. */
#include "tune_verify.h"

#define SPEC(dims, inputs, output, body, sizes)                                                    \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'turned', dims = { " dims " }, scalars = { { 'k', 'f32' } },\n"        \
  "  inputs = { " inputs " }, outputs = { s.array('b', " output ") }, body = '" body "',\n"        \
  "  sizes = { { " sizes " } } }\n"
#define MATRIX(type, sizes)                                                                        \
  SPEC("'row', 'col'", "s.array('a', '" type "')", "'" type "', s.col_major", "b = a;", sizes)
#define OPERANDS(sizes)                                                                            \
  SPEC("'row', 'col'",                                                                             \
       "s.array('a', 'f32'), s.array('c', 'f32'), s.array('d', 'f32', s.col_major)",               \
       "'f32', s.col_major", "b = a * k + c - d + row - 2 * col;", sizes)
#define STACK(sizes)                                                                               \
  SPEC("'i', 'j', 'l'", "s.array('a', 'f32')", "'f32', s.row_major, { dims = { 'i', 'l', 'j' } }", \
       "b = a;", sizes)

#define TO_ROWS "tile t128 a8 b128 vi1 vo4 fpad k0 oa hnone"
#define TO_COLS "tile t128 a128 b8 vi4 vo1 fpad k0 oa hkeepin"

static const struct {
  const char *spec, *label;
} cases[] = {
    {MATRIX("f32", "row = 1000, col = 7"), TO_ROWS},
    {MATRIX("f32", "row = 7, col = 1000"), TO_COLS},
    {MATRIX("f32", "row = 1001, col = 8"), "tile t256 a8 b256 vi1 vo1 fpad k0 oa hkeepout"},
    {MATRIX("f32", "row = 900, col = 13"), "tile t256 a16 b256 vi1 vo4 fpad k0 oa hkeepin"},
    {MATRIX("f64", "row = 5, col = 500"), "tile t256 a128 b8 vi2 vo1 fpad k0 oa hnone"},
    {MATRIX("f64", "row = 16, col = 500"), "tile t256 a128 b16 vi2 vo1 fpad k0 oa hnone"},
    {MATRIX("f16", "row = 1000, col = 3"), TO_ROWS},
    {MATRIX("u8", "row = 2, col = 1200"), "tile t256 a256 b8 vi4 vo1 fpad k0 oa hnone"},
    {OPERANDS("row = 1000, col = 6"), TO_ROWS},
    {OPERANDS("row = 6, col = 1000"), TO_COLS},
    {STACK("i = 5, j = 300, l = 7"), TO_ROWS},
    {STACK("i = 5, j = 7, l = 300"), TO_COLS},
};

static void thin_tiles_are_right(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tv_world w;
    tv_open_text(&w, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    tv_close(&w);
  }
}

#define ROWS MATRIX("f32", "row = 1000, col = 7"), TO_ROWS
#define COLS MATRIX("f32", "row = 7, col = 1000"), TO_COLS
#define DEEP STACK("i = 5, j = 300, l = 7"), TO_ROWS

static const tv_mistake mistakes[] = {
    {ROWS, "if (first_col + tile_x < n_col) {", "if (first_col + tile_x <= n_col) {"},
    {ROWS, "if (first_col + tile_x < n_col)\n          loaded",
     "if (first_col + tile_x + 1 < n_col)\n          loaded"},
    {ROWS, "first_row + kRow <= n_row", "first_row <= n_row"},
    {ROWS, "__syncthreads();", ""},
    {COLS, "if (first_row + tile_y < n_row) {", "{"},
    {COLS, "if (first_row + tile_y < n_row)\n          load_words",
     "if (tile_y < n_row + 1)\n          load_words"},
    {DEEP, "block % tiles_j", "block % (tiles_j + 1)"},
};

static void each_mistake_is_found(void **state) {
  (void)state;
  tv_assert_found(mistakes, SCT_COUNT(mistakes));
}

/* Where no size has a short dimension, no tile is for one; and what covers it is the least. */
static void they_are_offered_where_sizes_are_thin(void **state) {
  (void)state;
  static const struct {
    const char *spec;
    int a8, a16, b8, b16;
  } offers[] = {{MATRIX("f32", "row = 1000, col = 1000"), 0, 0, 0, 0},
                {MATRIX("f32", "row = 1000, col = 8"), 1, 0, 0, 0},
                {MATRIX("f32", "row = 1000, col = 9"), 0, 1, 0, 0},
                {MATRIX("f32", "row = 16, col = 1000"), 0, 0, 0, 1},
                {MATRIX("f32", "row = 17, col = 1000"), 0, 0, 0, 0},
                {MATRIX("f32", "row = 1000, col = 7 }, { row = 7, col = 1000"), 1, 0, 1, 0}};
  for (int k = 0; k < SCT_COUNT(offers); k++) {
    tv_world w;
    int seen[4] = {0};
    static const char *const parts[] = {" a8 b", " a16 b", " b8 v", " b16 v"};
    tv_open_text(&w, offers[k].spec, "direct t256 hcs");
    for (size_t c = 0; c < w.f.space.n_candidates; c++) {
      sct_str label = {0};
      sct_space_label(&label, &w.f.space, &w.f.space.candidates[c]);
      for (int part = 0; part < SCT_COUNT(seen); part++) {
        seen[part] |= strncmp(sct_str_c(&label), "tile ", 5) == 0 &&
                      strstr(sct_str_c(&label), parts[part]) != NULL;
      }
      sct_str_free(&label);
    }
    assert_int_equal(seen[0], offers[k].a8);
    assert_int_equal(seen[1], offers[k].a16);
    assert_int_equal(seen[2], offers[k].b8);
    assert_int_equal(seen[3], offers[k].b16);
    tv_close(&w);
  }
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(thin_tiles_are_right),
                                     cmocka_unit_test(each_mistake_is_found),
                                     cmocka_unit_test(they_are_offered_where_sizes_are_thin)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
