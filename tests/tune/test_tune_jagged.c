/* Tiles whose rows come as they lie, from the line on that they start in: transposes and permutes
 * with rows of any length, elements of 1 to 8 bytes and further operands against the naive variant;
 * and kernels with one mistake each, which must be found. */
#include "tune_verify.h"

#define SPEC(dims, inputs, output, body, sizes)                                                    \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'turned', dims = { " dims " }, scalars = { { 'k', 'f32' } },\n"        \
  "  inputs = { " inputs " }, outputs = { s.array('b', " output ") }, body = '" body "',\n"        \
  "  sizes = { { " sizes " } } }\n"
#define MATRIX(type)                                                                               \
  SPEC("'row', 'col'", "s.array('a', '" type "')", "'" type "', s.col_major", "b = a;",            \
       "row = 301, col = 203")
#define OPERANDS(type)                                                                             \
  SPEC("'row', 'col'", "s.array('a', '" type "'), s.array('c', '" type "')",                       \
       "'" type "', s.col_major", "b = a * k + c + row - 2 * col;", "row = 133, col = 75")
#define PITCHED                                                                                    \
  SPEC("'row', 'col'", "s.array('a', 'f32', s.pitched { align = 4 })", "'f32', s.col_major",       \
       "b = a;", "row = 301, col = 203")
#define CROPPED                                                                                    \
  SPEC("'row', 'col'",                                                                             \
       "s.array('a', 'f32', s.row_major, { at = { 'row + 2', 'col' }, pad = { 2, 0 } })",          \
       "'f32', s.col_major", "b = a;", "row = 128, col = 65")
#define STACK                                                                                      \
  SPEC("'i', 'j', 'l'", "s.array('a', 'f32')", "'f32', s.row_major, { dims = { 'i', 'l', 'j' } }", \
       "b = a;", "i = 3, j = 71, l = 133")
#define REVERSED                                                                                   \
  SPEC("'i', 'j', 'l'", "s.array('a', 'f64')", "'f64', s.row_major, { dims = { 'l', 'j', 'i' } }", \
       "b = a;", "i = 67, j = 3, l = 71")

#define SMALL "jagged t256 a256 b256 ob"
#define LARGE "jagged t512 a256 b256 oa"

static const struct {
  const char *spec, *label;
} cases[] = {
    {MATRIX("u8"), LARGE},
    {MATRIX("f16"), SMALL},
    {MATRIX("f32"), SMALL},
    {MATRIX("f64"), "jagged t256 a512 b512 oa"},
    {MATRIX("f32x2"), "jagged t256 a512 b512 ob"},
    {OPERANDS("f32"), SMALL},
    {OPERANDS("f16"), SMALL},
    {PITCHED, SMALL},
    {CROPPED, SMALL},
    {STACK, "jagged t512 a1024 b256 oa"},
    {REVERSED, "jagged t256 a512 b512 ob"},
};

static void jagged_tiles_are_right(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tv_world w;
    tv_open_text(&w, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    tv_close(&w);
  }
}

#define F32 MATRIX("f32"), SMALL
#define F16 MATRIX("f16"), SMALL

static const tv_mistake mistakes[] = {
    {F32, "asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");", ""},
    {F32, "__syncthreads();", ""},
    {F32, "(start & -128ll) + 16", "(start & -64ll) + 16"},
    {F32, "word_place < start + 256", "word_place < start + 240"},
    {F32, "tile_line * a_step & 127", "tile_line * a_step & 63"},
    {F32, "(run_start & 31)", "(run_start & 15)"},
    {F32, "first_row >= kSkew - 1", "first_row >= 0"},
    {F32, "word_place + 16 <= 4 * n_col * n_row", "true"},
    {F32, " && row >= 0", ""},
    {F32, "if (first_col + tile_x >= n_col) break;", ""},
    {F32, "if (row >= 0 && row + 0 < n_row)", "if (row + 0 < n_row)"},
    {F16, "row + 1 < n_row", "row < n_row"},
    {F16, "if (row + part >= 0 && row + part < n_row)\n              at", "at"},
};

static void each_mistake_is_found(void **state) {
  (void)state;
  tv_assert_found(mistakes, SCT_COUNT(mistakes));
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(jagged_tiles_are_right),
                                     cmocka_unit_test(each_mistake_is_found)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
