/* tune_permutes - specs of permutes of ranks 3 to 8, their candidates against the naive variant,
 * and candidates with one mistake each, which must be found. */
#ifndef SCT_TESTS_TUNE_PERMUTES_H
#define SCT_TESTS_TUNE_PERMUTES_H

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

typedef struct tp_case {
  const char *spec, *label;
} tp_case;

static inline void tp_assert_right(const tp_case *cases, int n) {
  for (int k = 0; k < n; k++) {
    tv_world w;
    tv_open_text(&w, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    tv_close(&w);
  }
}

#endif
