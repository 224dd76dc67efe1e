/* The strategy exchange: transposes and permutes of any rank and length, elements of 1 to 16 bytes
 * and further operands against the naive variant. */
#include "tune_verify.h"

#define SPEC(dims, type, in, out, extra, body, sizes)                                              \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'permuted', dims = { " dims " },\n"                                    \
  "  inputs = { s.array('a', '" type "', " in ")" extra " },\n"                                    \
  "  outputs = { s.array('b', '" type "', " out ") }, body = '" body "',\n"                        \
  "  sizes = { { " sizes " } } }\n"
#define ORDER(dims) "s.row_major, { dims = { " dims " } }"

#define MATRIX(type, sizes)                                                                        \
  SPEC("'row', 'col'", type, "s.row_major", "s.col_major", "", "b = a;", sizes)
#define ODD(type)  MATRIX(type, "row = 301, col = 203")
#define EVEN(type) MATRIX(type, "row = 304, col = 208")
#define OPERANDS2                                                                                  \
  SPEC("'row', 'col'", "f32", "s.row_major", "s.col_major",                                        \
       ", s.array('c', 'f32'), s.array('r', 'f32', s.row_major, { dims = { 'row' } }), "           \
       "s.array('d', 'f32', s.col_major)",                                                         \
       "b = a + c * row - 2 * col + r * d;", "row = 133, col = 75")
#define STACK                                                                                      \
  SPEC("'i', 'j', 'l'", "f32", "s.row_major", ORDER("'i', 'l', 'j'"), "", "b = a;",                \
       "i = 3, j = 71, l = 133")
#define RANK4_BACK                                                                                 \
  SPEC("'h', 'i', 'j', 'l'", "f32", "s.row_major", ORDER("'l', 'j', 'i', 'h'"), "", "b = a;",      \
       "h = 9, i = 11, j = 7, l = 13")

#define RANK4_LAST                                                                                 \
  SPEC("'h', 'i', 'j', 'l'", "f32", "s.row_major", ORDER("'l', 'i', 'j', 'h'"), "", "b = a;",      \
       "h = 8, i = 5, j = 9, l = 75")
#define RANK6_SHARED                                                                               \
  SPEC("'i', 'j', 'k', 'l', 'm', 'n'", "f32", "s.row_major",                                       \
       ORDER("'k', 'n', 'i', 'm', 'j', 'l'"), "", "b = a;",                                        \
       "i = 3, j = 5, k = 2, l = 4, m = 24, n = 30")
/* h, i and m, n merge: an extent that is a product divides blocks, and places along a side. All of
 * l fits into both of the tiles that share it. */
#define RANK7_MERGED                                                                               \
  SPEC("'h', 'i', 'j', 'k', 'l', 'm', 'n'", "f32", "s.row_major",                                  \
       ORDER("'m', 'n', 'h', 'i', 'l', 'k', 'j'"), "", "b = a;",                                   \
       "h = 2, i = 3, j = 4, k = 5, l = 7, m = 3, n = 11")
#define MIXED                                                                                      \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'mixed', dims = { 'row', 'col' }, body = 'b = a;',\n"                  \
  "  inputs = { s.array('a', 'u8', s.row_major) },\n"                                              \
  "  outputs = { s.array('b', 'u16', s.col_major) }, sizes = { { row = 203, col = 304 } } }\n"

/* Operands of both orders: results in tiles of their own or in an input's, bytes and halves turned
 * in registers, what is added to, sides of several modes, and inputs that move straight. */
#define BOTH(dims, in, out, body, sizes)                                                           \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'both', dims = { " dims " },\n"                                        \
  "  inputs = { " in " }, outputs = { " out " }, body = '" body "',\n"                             \
  "  sizes = { { " sizes " } } }\n"
#define BOTH_BYTES(sizes)                                                                          \
  BOTH("'row', 'col'", "s.array('a', 'f32')",                                                      \
       "s.array('b', 'e4m3'), s.array('c', 'e4m3', s.col_major)", "b = a; c = 2 * a;", sizes)
#define BOTH_HALVES                                                                                \
  BOTH("'row', 'col'", "s.array('a', 'bf16'), s.array('d', 'f16', s.col_major)",                   \
       "s.array('b', 'f16'), s.array('c', 'f16', s.col_major)", "b = a + d; c = a - d;",           \
       "row = 160, col = 208")
#define BOTH_PAIRS(sizes)                                                                          \
  BOTH("'row', 'col'", "s.array('a', 'f32x2'), s.array('b', 'f32x2', s.col_major)",                \
       "s.array('c', 'f32x2', s.col_major), s.array('d', 'f32x2')",                                \
       "c.x = a.x + b.x; c.y = a.y - b.y; d = c; d.y = b.y;", sizes)
#define BOTH_INOUT                                                                                 \
  BOTH("'row', 'col'", "s.array('a', 'f32')",                                                      \
       "s.array('b', 'i32'), s.array('c', 'f32', s.col_major, { inout = true }), "                 \
       "s.array('d', 'u8', s.col_major)",                                                          \
       "b = a; c += a; if (a < 2.0f) d = a; else keep(d);", "row = 132, col = 76")
#define BOTH_RANK4                                                                                 \
  BOTH("'h', 'i', 'j', 'l'", "s.array('a', 'f32'), s.array('w', 'f32', " ORDER("'i', 'l'") ")",    \
       "s.array('b', 'f32'), s.array('c', 'u16', " ORDER("'l', 'j', 'i', 'h'") ")",                \
       "b = a * w; c = a;", "h = 4, i = 5, j = 7, l = 24")
#define SYMMETRISED                                                                                \
  SPEC("'row', 'col'", "f16", "s.row_major", "s.col_major",                                        \
       ", s.array('d', 'f32', s.col_major), s.array('r', 'f32', s.row_major, "                     \
       "{ dims = { 'row' } })",                                                                    \
       "b = 0.5f * (a + d) + r;", "row = 144, col = 264")

#define SMALL "exchange threads=256 tile=64x64 load=lines start=sector blocks=out evict=none"
#define WIDE  "exchange threads=256 tile=64x64 blocks=out evict=loads"

static const struct {
  const char *spec, *label;
} cases[] = {
    {EVEN("u8"), "exchange threads=256 tile=128x128 load=16 store=16 blocks=out evict=loads"},
    {EVEN("u8"), "exchange threads=256 tile=128x128 load=8 store=16 blocks=out evict=none"},
    {EVEN("f16"), "exchange threads=256 tile=64x128 load=8 store=4 blocks=out evict=stores"},
    {EVEN("f32"), WIDE},
    {EVEN("f64"), "exchange threads=256 tile=32x64 blocks=out evict=loads"},
    {ODD("u8"),
     "exchange threads=256 tile=256x64 load=lines store=4 start=sector blocks=out evict=none"},
    {ODD("f16"),
     "exchange threads=256 tile=128x64 load=lines store=2 start=any blocks=out evict=none"},
    {MATRIX("f16", "row = 301, col = 62"),
     "exchange threads=128 tile=64x128 load=lines store=2 start=sector blocks=out evict=none"},
    {MATRIX("u8", "row = 301, col = 41"),
     "exchange threads=256 tile=64x128 load=lines store=4 start=sector blocks=in evict=none"},
    {ODD("f32"), SMALL},
    {ODD("f32"), "exchange threads=256 tile=32x128 load=1 start=sector blocks=out evict=stores"},
    {ODD("f64"), "exchange threads=256 tile=32x64 load=lines start=sector blocks=out evict=stores"},
    {ODD("f32x4"), "exchange threads=256 tile=32x64 blocks=out evict=stores"},
    {MATRIX("f32", "row = 7, col = 1203"),
     "exchange threads=256 tile=512x8 load=lines start=any blocks=out evict=none"},
    {MATRIX("f32", "row = 1204, col = 7"),
     "exchange threads=256 tile=8x512 load=1 blocks=out evict=stores"},
    {MATRIX("f32", "row = 7, col = 1204"),
     "exchange threads=128 tile=128x8 load=4 start=any blocks=out evict=none"},
    {MATRIX("f32", "row = 1204, col = 7"),
     "exchange threads=128 tile=8x128 load=1 blocks=out evict=loads"},
    {RANK4_LAST, "exchange threads=256 tile=64x32 load=lines blocks=out evict=none"},
    {RANK4_LAST, "exchange threads=256 tile=64x256 load=lines blocks=in evict=stores"},
    {RANK6_SHARED, "exchange threads=256 tile=360x20 blocks=out evict=none"},
    {RANK7_MERGED, "exchange threads=256 tile=128x20 load=1 blocks=out evict=loads"},
    {MIXED, "exchange threads=256 tile=32x128 load=8 store=2 start=sector blocks=out evict=none"},
    {OPERANDS2, SMALL},
    {OPERANDS2, "exchange threads=256 tile=32x64 load=1 start=any blocks=out evict=loads"},
    {STACK, "exchange threads=256 tile=64x32 load=lines start=sector blocks=tiles evict=none"},
    {RANK4_BACK, SMALL},
    {BOTH_BYTES("row = 208, col = 272"),
     "exchange threads=256 tile=64x128 load=16 blocks=out evict=loads"},
    {BOTH_BYTES("row = 208, col = 272"),
     "exchange threads=256 tile=128x64 load=8 blocks=out evict=none"},
    {BOTH_BYTES("row = 61, col = 203"), "exchange threads=128 tile=64x64 blocks=out evict=loads"},
    {BOTH_HALVES, "exchange threads=128 tile=64x64 load=8 store=8 blocks=out evict=loads"},
    {BOTH_HALVES, "exchange threads=256 tile=64x128 load=4 store=8 blocks=out evict=stores"},
    {BOTH_PAIRS("row = 134, col = 90"), "exchange threads=128 tile=32x64 blocks=out evict=none"},
    {BOTH_PAIRS("row = 133, col = 75"), "exchange threads=128 tile=64x32 blocks=out evict=loads"},
    {BOTH_INOUT, "exchange threads=128 tile=32x64 blocks=out evict=loads"},
    {BOTH_INOUT, "exchange threads=512 tile=64x64 blocks=out evict=none"},
    {BOTH_RANK4, "exchange threads=128 tile=32x32 blocks=out evict=loads"},
    {SYMMETRISED, "exchange threads=256 tile=64x64 load=8 blocks=out evict=none"},
    {RANK4_BACK, "exchange threads=256 tile=32x128 load=1 start=sector blocks=out evict=stores"},
};

static void exchanges_are_right(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tv_world w;
    tv_open_text(&w, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    tv_close(&w);
  }
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(exchanges_are_right)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
