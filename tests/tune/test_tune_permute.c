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
#define RANK4                                                                                      \
  SPEC("'i', 'j', 'k', 'l'", "f64", "s.row_major", ORDER("'k', 'j', 'i', 'l'"), "", "b = a;",      \
       "i = 9, j = 50, k = 7, l = 4")
#define RANK5                                                                                      \
  SPEC("'i', 'j', 'k', 'l', 'm'", "u8", "s.row_major", ORDER("'m', 'k', 'i', 'l', 'j'"), "",       \
       "b = a;", "i = 9, j = 5, k = 7, l = 5, m = 6")
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

static const struct {
  const char *spec, *label;
} cases[] = {
    {REVERSED3, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {REVERSED3, "permute t256 i16 p2 q3 vi1 vo1 r64 n2 xshared ob m3 hnone"},
    {ROWS3, "permute t256 i8 p1 q2 vi4 vo4 r64 n8 xregisters oa m0 hnone"},
    {RANK4, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {RANK5, "permute t256 i32 p2 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {RANK6, "permute t256 i16 p2 q3 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {RANK6, "permute t256 i16 p2 q2 vi4 vo2 r64 n8 xshared ob m0 hnone"},
    {RANK7, "permute t256 i8 p3 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {RANK8, "permute t256 i8 p3 q4 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {RANK8, "tile t256 a32 b32 vi1 vo1 fpad k1 oa hnone"},
    {PITCHED, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {OPERANDS, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"},
    {OPERANDS, "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xregisters oa m0 hnone"},
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

#define EXCHANGED "permute t256 i8 p2 q2 vi1 vo1 r64 n8 xshared oa m0 hnone"

static const struct {
  const char *spec, *from, *to;
} mistakes[] = {
    {REVERSED3, "__syncthreads(); // all", "// all"},
    {REVERSED3, "2 * left + 1", "left"},
    {REVERSED3, "len_j != out_j", "round == 1"},
    {REVERSED3, "const int b_start = b_before;", ""},
    {REVERSED3, "& 31)]", "& 15)]"},
    {RANK4, "if (round % 32 == 0)", "if (round == 0)"}, /* one block takes more than 32 tiles */
};

static void each_mistake_is_found(void **state) {
  int missed = 0;
  (void)state;
  for (int k = 0; k < SCT_COUNT(mistakes); k++) {
    tv_world w;
    tv_open_text(&w, mistakes[k].spec, EXCHANGED);
    tv_assert_right(&w, EXCHANGED);
    const char *at = strstr(w.code.source, mistakes[k].from);
    assert_non_null(at);
    sct_str source = {0};
    sct_str_append_n(&source, w.code.source, (size_t)(at - w.code.source));
    sct_str_append(&source, mistakes[k].to);
    sct_str_append(&source, at + strlen(mistakes[k].from));
    if (tv_verify(&w, sct_str_c(&source)).outcome == SCT_OUT_OK) {
      print_error("'%s' -> '%s' is not found\n", mistakes[k].from, mistakes[k].to);
      missed++;
    }
    sct_str_free(&source);
    tv_close(&w);
  }
  assert_int_equal(missed, 0);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(permutes_are_right),
                                     cmocka_unit_test(each_mistake_is_found)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
