/* Permutes of ranks 3 to 8: kernels in tiles of several dimensions against the naive variant, with
 * elements of 1 to 8 bytes, gaps between rows, further operands; and kernels with one mistake each,
 * which must be found. */
#include "tune_verify.h"

#define SPEC(dims, type, in, out, extra, body, sizes)                                              \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'permuted', dims = { " dims " },\n"                                    \
  "  inputs = { s.array('a', '" type "', " in ")" extra " },\n"                                    \
  "  outputs = { s.array('b', '" type "', " out ") }, body = '" body "',\n"                        \
  "  sizes = { { " sizes " } } }\n"
#define ORDER(dims) "s.row_major, { dims = { " dims " } }"

#define REVERSED3                                                                                  \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'k', 'j', 'i'"), "", "b = a;",                \
       "i = 9, j = 50, k = 7")
#define ROWS3                                                                                      \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'j', 'i', 'k'"), "", "b = a;",                \
       "i = 9, j = 50, k = 64")
#define ODD_ROWS                                                                                   \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'j', 'i', 'k'"), "", "b = a;",                \
       "i = 11, j = 50, k = 61")
#define ODD_ROWS_F64                                                                               \
  SPEC("'i', 'j', 'k'", "f64", "s.row_major", ORDER("'j', 'i', 'k'"), "", "b = a;",                \
       "i = 9, j = 51, k = 47")
#define ODD_ROW                                                                                    \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'j', 'i', 'k'"), ", s.array('c', 'f32')",     \
       "b = a - c;", "i = 3, j = 5, k = 4501")
#define PITCHED_ROWS                                                                               \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major",                                                      \
       "s.pitched { align = 64 }, { dims = { 'j', 'i', 'k' } }", "", "b = a;",                     \
       "i = 11, j = 50, k = 61")
#define TWO_ROWS                                                                                   \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'j', 'i', 'k'"), "", "b = a;",                \
       "i = 2, j = 3, k = 25")
#define RANK4                                                                                      \
  SPEC("'i', 'j', 'k', 'l'", "f64", "s.row_major", ORDER("'k', 'j', 'i', 'l'"), "", "b = a;",      \
       "i = 9, j = 50, k = 7, l = 4")
#define RANK5                                                                                      \
  SPEC("'i', 'j', 'k', 'l', 'm'", "u8", "s.row_major", ORDER("'m', 'k', 'i', 'l', 'j'"), "",       \
       "b = a;", "i = 9, j = 5, k = 7, l = 5, m = 6")
#define RANK5_F32                                                                                  \
  SPEC("'i', 'j', 'k', 'l', 'm'", "f32", "s.row_major", ORDER("'m', 'k', 'i', 'l', 'j'"), "",      \
       "b = a;", "i = 8, j = 7, k = 5, l = 16, m = 30")
#define RANK6                                                                                      \
  SPEC("'i', 'j', 'k', 'l', 'm', 'n'", "f16", "s.row_major",                                       \
       ORDER("'j', 'l', 'n', 'i', 'k', 'm'"), "", "b = a;",                                        \
       "i = 3, j = 5, k = 7, l = 5, m = 6, n = 4")
#define RANK7                                                                                      \
  SPEC("'i', 'j', 'k', 'l', 'm', 'n', 'o'", "f32", "s.row_major",                                  \
       ORDER("'o', 'm', 'k', 'i', 'n', 'l', 'j'"), "", "b = a;",                                   \
       "i = 3, j = 5, k = 2, l = 5, m = 2, n = 4, o = 6")
#define RANK8                                                                                      \
  SPEC("'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'", "f32", "s.row_major",                             \
       ORDER("'p', 'n', 'l', 'j', 'o', 'm', 'k', 'i'"), "", "b = a;",                              \
       "i = 3, j = 5, k = 2, l = 5, m = 2, n = 4, o = 6, p = 3")
#define PITCHED                                                                                    \
  SPEC("'i', 'j', 'k'", "f32", "s.pitched { align = 64 }", ORDER("'k', 'j', 'i'"), "", "b = a;",   \
       "i = 9, j = 50, k = 7")
#define OPERANDS                                                                                   \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'k', 'j', 'i'"),                              \
       ", s.array('w', 'f32', s.row_major, { dims = { 'j' } }), "                                  \
       "s.array('c', 'f32', s.row_major, { dims = { 'k', 'j', 'i' } })",                           \
       "b = a * w + c;", "i = 9, j = 50, k = 7")

#define ODD_PAIRS                                                                                  \
  SPEC("'i', 'j', 'k'", "f32", "s.row_major", ORDER("'j', 'i', 'k'"), "", "b = a;",                \
       "i = 2, j = 50, k = 61")
#define BYTES                                                                                      \
  SPEC("'i', 'j', 'k'", "u8", "s.row_major", ORDER("'k', 'j', 'i'"), "", "b = a;",                 \
       "i = 40, j = 50, k = 8")
#define RANK4_ODD                                                                                  \
  SPEC("'i', 'j', 'k', 'l'", "f32", "s.row_major", ORDER("'j', 'l', 'i', 'k'"), "", "b = a;",      \
       "i = 3, j = 25, k = 30, l = 47")

#define EXCHANGED  "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"
#define WORDS      "permute t256 i16 p1 q2 vi4 vo4 r64 n8 xwords oa hnone"
#define RUNS       "runs s56 p2 q2 vi4 vo1 r64 xshared"
#define RUNS_ODD   "runs s28 p1 q1 vi1 vo1 r64 xshared"
#define ODD_PIECES "runs s56 p1 q2 vi1 vo1 r64 xregisters"
#define ROW_WORDS  "permute t256 i16 p1 q1 vi4 vo4 r64 n8 xwords oa hnone"

static const struct {
  const char *spec, *label;
} cases[] = {
    {REVERSED3, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {REVERSED3, "permute t256 i16 p2 q3 vi1 vo1 r64 n2 xshared oa hnone"},
    {ROWS3, "permute t256 i8 p1 q2 vi4 vo4 r64 n8 xregisters oa hnone"},
    {ODD_ROWS, WORDS},
    {ODD_ROWS_F64, "permute t256 i8 p1 q2 vi2 vo2 r64 n2 xwords ob hnone"},
    {ODD_ROW, "permute t256 i16 p1 q1 vi4 vo4 r64 n8 xwords oa hcs"},
    {TWO_ROWS, WORDS},
    {PITCHED_ROWS, ROW_WORDS},
    {RANK4, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK5, "permute t256 i32 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK5_F32, "permute t256 i16 p2 q2 vi1 vo1 r64 n8 xshared ob hnone"},
    {RANK6, "permute t256 i16 p2 q3 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK6, "permute t256 i16 p2 q2 vi4 vo2 r64 n8 xshared ob hnone"},
    {RANK7, "permute t256 i8 p3 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK8, "permute t256 i8 p3 q4 vi1 vo1 r64 n8 xshared oa hnone"},
    {RANK8, "tile t256 a32 b32 vi1 vo1 fpad k1 oa hnone"},
    {PITCHED, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {OPERANDS, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa hnone"},
    {OPERANDS, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xregisters oa hnone"},
    {REVERSED3, "runs s56 p2 q2 vi2 vo1 r64 xshared"},
    {REVERSED3, "runs s28 p3 q2 vi1 vo1 r64 xshared"},
    {ROWS3, "runs s28 p1 q2 vi4 vo4 r64 xshared"},
    {ODD_ROWS, "runs s56 p1 q2 vi1 vo1 r64 xshared"},
    {ODD_ROWS, "runs s28 p1 q2 vi1 vo1 r64 xregisters"},
    {PITCHED_ROWS, "runs s28 p1 q1 vi1 vo1 r64 xregisters"},
    {RANK4, "runs s56 p2 q2 vi2 vo2 r64 xshared"},
    {RANK4_ODD, RUNS_ODD},
    {BYTES, "runs s28 p2 q1 vi16 vo8 r64 xshared"},
    {RANK5_F32, RUNS},
    {RANK6, "runs s28 p2 q2 vi8 vo1 r64 xshared"},
    {RANK7, "runs s28 p2 q2 vi4 vo1 r64 xshared"},
    {OPERANDS, "runs s56 p2 q2 vi2 vo1 r64 xshared"},
};

static void permutes_are_right(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tv_world w;
    tv_open_text(&w, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    tv_close(&w);
  }
}

static const tv_mistake mistakes[] = {
    {REVERSED3, EXCHANGED, "__syncthreads(); // all", "// all"},
    {REVERSED3, EXCHANGED, "2 * left + 1", "left"},
    {REVERSED3, EXCHANGED, "len_j != out_j", "round == 1"},
    {REVERSED3, EXCHANGED, "const int b_start = b_before;", ""},
    {REVERSED3, EXCHANGED, "& 31)]", "& 15)]"},
    {RANK4, EXCHANGED, "if (round % 32 == 0)",
     "if (round == 0)"}, /* one block takes more than 32 tiles */
    {PITCHED_ROWS, ROW_WORDS, " && a_place - a_rest + 8 <= a_count", ""},
    {ODD_ROWS, WORDS, " || run_shift != out_shift", ""},
    {ODD_ROWS, WORDS, "group >= 0 && group + 4 <= tile_cells", "group >= 0"},
    {ODD_ROWS, WORDS, "group >= 0 && group + 4 <= tile_cells", "group + 4 <= tile_cells"},
    {ODD_ROWS, WORDS, "at_k + 4 <= len_k", "true"},
    {ODD_ROWS, WORDS, "if (a_rest > 0)", "if (a_rest > 1)"},
    {RANK5_F32, RUNS, "__syncthreads();", ""},
    {RANK5_F32, RUNS, "/ 8 * 8 + 4", "/ 8 * 8"},
    {ODD_PAIRS, ODD_PIECES, "run_length + slack + 127", "run_length + 127"},
    {RANK4_ODD, RUNS_ODD, "cell >= 0 && ", ""},
    {RANK4_ODD, RUNS_ODD, "cell < run_length", "cell <= run_length"},
    {RANK4_ODD, RUNS_ODD, "item += kWarps", "item += kWarps + 1"},
};

static void each_mistake_is_found(void **state) {
  (void)state;
  tv_assert_found(mistakes, SCT_COUNT(mistakes));
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(permutes_are_right),
                                     cmocka_unit_test(each_mistake_is_found)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
