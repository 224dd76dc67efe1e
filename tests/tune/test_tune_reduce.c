/* Reductions against a plain host computation: every way to fold, every kind of type, first, middle
 * and last dimensions, extents of 0, 1 and around a warp, long runs, outputs side by side.
 * Candidates of all strategies, naive first, run as PTX with every access checked. All sums are of
 * small whole numbers, so that every order gives the same bits. */
#include "part.h"
#include "tune_picked.h"

#include <math.h>

enum { MAX_PICKED = 6, SPREAD = 4 };
enum { MAX_DIMS = 3, MAX_RESULTS = 3, MAX_OUTPUTS = 2, KEEP_X = 1, KEEP_Y = 2, KEEP_Z = 4 };

/* One field of an output: where it lies in the output's element, and what is folded. */
typedef struct result {
  int output, offset, stride;
  const char *type;
  sct_reduce reduce;
  bool counts; /* the contribution is 1, not the element */
} result;

typedef struct problem {
  const char *name; /* "what: of labels": of candidates but the naive one only those with this in */
  const char *dims, *input, *outputs, *body;
  int n_dims, kept, n_outputs, n_results;
  bool by_columns; /* the input's first index runs fastest */
  const char *type;
  result results[MAX_RESULTS];
} problem;

#define FROM(input, by_columns, type, reduce)                                                      \
  1, 1, by_columns, input, {                                                                       \
    { 0, 0, 0, type, reduce, false }                                                               \
  }
#define ONE(type, reduce) FROM(type, false, type, reduce)
/* After SUM_AND_COUNT. */
#define SEVERAL(type, reduce)                                                                      \
  2, 3, false, "f32", {                                                                            \
    {0, 0, 8, "f32", SCT_REDUCE_SUM, false}, {0, 4, 8, "i32", SCT_REDUCE_SUM, true}, {             \
      1, 0, 0, type, reduce, false                                                                 \
    }                                                                                              \
  }
#define YX    "'y', 'x'"
#define ZYX   "'z', 'y', 'x'"
#define INOUT ", inout = true"
#define OUT_AS(name, type, dims, how, more)                                                        \
  "s.array('" name "', '" type "', s.row_major, { dims = { " dims " }, reduce = '" how "'" more    \
  " })"
#define OUT(type, dims, how)  OUT_AS("t", type, dims, how, "")
#define ONTO(type, dims, how) OUT_AS("t", type, dims, how, INOUT)
#define SUM_AND_COUNT(dims, more)                                                                  \
  "s.array('t', s.record { { 's', 'f32' }, { 'n', 'i32' } }, s.aos, "                              \
  "{ dims = { " dims " }, reduce = 'sum'" more " })"

static const problem problems[] = {
    {"f32 rows", YX, "", OUT("f32", "'y'", "sum"), "t = a;", 2, KEEP_Y, ONE("f32", SCT_REDUCE_SUM)},
    {"f32 short rows: lanes=4 ", YX, "", OUT("f32", "'y'", "sum"), "t = a;", 2, KEEP_Y,
     ONE("f32", SCT_REDUCE_SUM)},
    {"u8 shorter rows: lanes=1 ", YX, "", OUT("u8", "'y'", "max"), "t = a;", 2, KEEP_Y,
     ONE("u8", SCT_REDUCE_MAX)},
    {"i32 shared rows: blocks=528 ", YX, "", OUT("i32", "'y'", "max"), "t = a;", 2, KEEP_Y,
     ONE("i32", SCT_REDUCE_MAX)},
    {"f32 columns", YX, "", OUT("f32", "'x'", "sum"), "t = a;", 2, KEEP_X,
     ONE("f32", SCT_REDUCE_SUM)},
    {"f32 all", YX, "", OUT("f32", "", "sum"), "t = a;", 2, 0, ONE("f32", SCT_REDUCE_SUM)},
    {"f32 line", "'x'", "", OUT("f32", "", "max"), "t = a;", 1, 0, ONE("f32", SCT_REDUCE_MAX)},
    {"u8 columns", YX, "", OUT("u8", "'x'", "max"), "t = a;", 2, KEEP_X, ONE("u8", SCT_REDUCE_MAX)},
    {"i8 rows", YX, "", OUT("i8", "'y'", "sum"), "t = a;", 2, KEEP_Y, ONE("i8", SCT_REDUCE_SUM)},
    {"i64 all", YX, "", OUT("i64", "", "min"), "t = a;", 2, 0, ONE("i64", SCT_REDUCE_MIN)},
    {"f32 rows off a word:start=any ", YX, "", OUT("f32", "'y'", "sum"), "t = a;", 2, KEEP_Y,
     ONE("f32", SCT_REDUCE_SUM)},
    {"u8 rows off a word:start=any ", YX, "", OUT("u8", "'y'", "sum"), "t = a;", 2, KEEP_Y,
     ONE("u8", SCT_REDUCE_SUM)},
    {"f64 planes off a word:reduce ", ZYX, "", OUT("f64", "'z'", "sum"), "t = a;", 3, KEEP_Z,
     ONE("f64", SCT_REDUCE_SUM)},
    {"f32 columns off a word:reduce ", YX, "", OUT("f32", "'x'", "sum"), "t = a;", 2, KEEP_X,
     ONE("f32", SCT_REDUCE_SUM)},
    {"u8 columns off a word:reduce ", YX, "", OUT("u8", "'x'", "max"), "t = a;", 2, KEEP_X,
     ONE("u8", SCT_REDUCE_MAX)},
    {"i16 lines of a box off a word:reduce ", ZYX, "", OUT("i16", "'z', 'x'", "sum"), "t = a;", 3,
     KEEP_Z | KEEP_X, ONE("i16", SCT_REDUCE_SUM)},
    {"f32 shorter rows: outputs=2 ", YX, "", OUT("f32", "'y'", "sum"), "t = a;", 2, KEEP_Y,
     ONE("f32", SCT_REDUCE_SUM)},
    {"u16 rows off a word: start=any ", YX, "", OUT("u16", "'y'", "max"), "t = a;", 2, KEEP_Y,
     ONE("u16", SCT_REDUCE_MAX)},
    {"u8 of the middle off a word:reduce t", ZYX, "", OUT("u8", "'y'", "max"), "t = a;", 3, KEEP_Y,
     ONE("u8", SCT_REDUCE_MAX)},
    {"f32 long shared columns: blocks=264 ", YX, "", OUT("f32", "'x'", "sum"), "t = a;", 2, KEEP_X,
     ONE("f32", SCT_REDUCE_SUM)},
    {"u8 stripes of columns off a word: outputs=4 ", YX, "", OUT("u8", "'x'", "min"), "t = a;", 2,
     KEEP_X, ONE("u8", SCT_REDUCE_MIN)},
    {"f64 long lines of a box:reduce t", ZYX, "", OUT("f64", "'z', 'x'", "sum"), "t = a;", 3,
     KEEP_Z | KEEP_X, ONE("f64", SCT_REDUCE_SUM)},
    {"f32 long planes through a box:reduce t", ZYX, "", OUT("f32", "'y'", "sum"), "t = a;", 3,
     KEEP_Y, ONE("f32", SCT_REDUCE_SUM)},
    {"f16 rows", YX, "", OUT("f16", "'y'", "sum"), "t = a;", 2, KEEP_Y, ONE("f16", SCT_REDUCE_SUM)},
    {"f16 columns", YX, "", OUT("f16", "'x'", "min"), "t = a;", 2, KEEP_X,
     ONE("f16", SCT_REDUCE_MIN)},
    {"f64 of the middle", ZYX, "", OUT("f64", "'y'", "sum"), "t = a;", 3, KEEP_Y,
     ONE("f64", SCT_REDUCE_SUM)},
    {"f32 planes", ZYX, "", OUT("f32", "'z'", "max"), "t = a;", 3, KEEP_Z,
     ONE("f32", SCT_REDUCE_MAX)},
    {"f32 lines of a box", ZYX, "", OUT("f32", "'z', 'x'", "sum"), "t = a;", 3, KEEP_Z | KEEP_X,
     ONE("f32", SCT_REDUCE_SUM)},
    {"i32 through a box", ZYX, "", OUT("i32", "'x'", "sum"), "t = a;", 3, KEEP_X,
     ONE("i32", SCT_REDUCE_SUM)},
    {"several outputs of rows", YX, "",
     SUM_AND_COUNT("'y'", "") ", " OUT_AS("m", "f64", "'y'", "max", ""), "t.s = a; t.n = 1; m = a;",
     2, KEEP_Y, SEVERAL("f64", SCT_REDUCE_MAX)},
    {"several outputs of columns", YX, "",
     SUM_AND_COUNT("'x'", "") ", " OUT_AS("m", "f32", "'x'", "min", ""), "t.s = a; t.n = 1; m = a;",
     2, KEEP_X, SEVERAL("f32", SCT_REDUCE_MIN)},
    {"rows of a matrix by columns", YX, ", s.col_major", OUT("f32", "'y'", "sum"), "t = a;", 2,
     KEEP_Y, FROM("f32", true, "f32", SCT_REDUCE_SUM)},
    {"f32 rows and where",
     YX,
     "",
     OUT("i32", "'y'", "argmax") ", " OUT_AS("m", "f32", "'y'", "max", ""),
     "t = a; m = a;",
     2,
     KEEP_Y,
     2,
     2,
     false,
     "f32",
     {{0, 0, 4, "i32", SCT_REDUCE_ARGMAX, false}, {1, 0, 4, "f32", SCT_REDUCE_MAX, false}}},
    {"where in shared rows: blocks=528 ", YX, "", OUT("i64", "'y'", "argmin"), "t = a;", 2, KEEP_Y,
     FROM("f32", false, "i64", SCT_REDUCE_ARGMIN)},
    {"f32 rows onto what is there", YX, "", ONTO("f32", "'y'", "sum"), "t = a;", 2, KEEP_Y,
     ONE("f32", SCT_REDUCE_SUM)},
    {"i8 rows onto what is there off a word:start=any ", YX, "", ONTO("i8", "'y'", "sum"), "t = a;",
     2, KEEP_Y, ONE("i8", SCT_REDUCE_SUM)},
    {"i32 shared rows onto what is there: blocks=528 ", YX, "", ONTO("i32", "'y'", "max"), "t = a;",
     2, KEEP_Y, ONE("i32", SCT_REDUCE_MAX)},
    {"f32 long shared columns onto what is there: blocks=264 ", YX, "", ONTO("f32", "'x'", "sum"),
     "t = a;", 2, KEEP_X, ONE("f32", SCT_REDUCE_SUM)},
    {"u8 stripes of columns onto what is there off a word: outputs=4 ", YX, "",
     ONTO("u8", "'x'", "min"), "t = a;", 2, KEEP_X, ONE("u8", SCT_REDUCE_MIN)},
    {"f32 shorter rows onto what is there: outputs=2 ", YX, "", ONTO("f32", "'y'", "sum"), "t = a;",
     2, KEEP_Y, ONE("f32", SCT_REDUCE_SUM)},
    {"f16 columns onto what is there", YX, "", ONTO("f16", "'x'", "sum"), "t = a;", 2, KEEP_X,
     ONE("f16", SCT_REDUCE_SUM)},
    {"f64 all onto what is there", YX, "", ONTO("f64", "", "sum"), "t = a;", 2, 0,
     ONE("f64", SCT_REDUCE_SUM)},
    {"i16 lines of a box onto what is there", ZYX, "", ONTO("i16", "'z', 'x'", "sum"), "t = a;", 3,
     KEEP_Z | KEEP_X, ONE("i16", SCT_REDUCE_SUM)},
    {"several outputs of columns, one onto what is there", YX, "",
     SUM_AND_COUNT("'x'", INOUT) ", " OUT_AS("m", "f32", "'x'", "min", ""),
     "t.s = a; t.n = 1; m = a;", 2, KEEP_X, SEVERAL("f32", SCT_REDUCE_MIN)},
    {"where in rows off a word:start=any ", YX, "", OUT("i32", "'y'", "argmax"), "t = a;", 2,
     KEEP_Y, FROM("u8", false, "i32", SCT_REDUCE_ARGMAX)},
    {"f32 rows of any length off a word: lanes=any ", YX, "", OUT("f32", "'y'", "sum"), "t = a;", 2,
     KEEP_Y, ONE("f32", SCT_REDUCE_SUM)},
    {"u8 rows of any length onto what is there off a word: lanes=any ", YX, "",
     ONTO("u8", "'y'", "min"), "t = a;", 2, KEEP_Y, ONE("u8", SCT_REDUCE_MIN)},
    {"f16 rows of any length off a word: lanes=any ", YX, "", OUT("f16", "'y'", "max"), "t = a;", 2,
     KEEP_Y, ONE("f16", SCT_REDUCE_MAX)},
    {"f64 all of any length off a word: lanes=any ", YX, "", OUT("f64", "", "sum"), "t = a;", 2, 0,
     ONE("f64", SCT_REDUCE_SUM)},
    {"where in rows of any length off a word: lanes=any ", YX, "", OUT("i32", "'y'", "argmin"),
     "t = a;", 2, KEEP_Y, FROM("i16", false, "i32", SCT_REDUCE_ARGMIN)},
    {"several outputs of rows of any length: lanes=any ", YX, "",
     SUM_AND_COUNT("'y'", INOUT) ", " OUT_AS("m", "f64", "'y'", "max", ""),
     "t.s = a; t.n = 1; m = a;", 2, KEEP_Y, SEVERAL("f64", SCT_REDUCE_MAX)},
    {"i32 of the middle, any length: lanes=any ", ZYX, "", OUT("i32", "'y'", "sum"), "t = a;", 3,
     KEEP_Y, ONE("i32", SCT_REDUCE_SUM)},
    {"where in columns", YX, "", OUT("i32", "'x'", "argmin"), "t = a;", 2, KEEP_X,
     FROM("f64", false, "i32", SCT_REDUCE_ARGMIN)},
    {"where in planes through a box", ZYX, "", OUT("i64", "'y'", "argmax"), "t = a;", 3, KEEP_Y,
     FROM("i16", false, "i64", SCT_REDUCE_ARGMAX)},
    {"where of all by columns", YX, ", s.col_major", OUT("i32", "", "argmax"), "t = a;", 2, 0,
     FROM("i32", true, "i32", SCT_REDUCE_ARGMAX)},
    {"f32 means of rows", YX, "", OUT("f32", "'y'", "mean"), "t = a;", 2, KEEP_Y,
     ONE("f32", SCT_REDUCE_MEAN)},
    {"f16 means of columns", YX, "", OUT("f16", "'x'", "mean"), "t = a;", 2, KEEP_X,
     ONE("f16", SCT_REDUCE_MEAN)},
    {"f32 variances of rows off a word:start=any ", YX, "", OUT("f32", "'y'", "variance"), "t = a;",
     2, KEEP_Y, ONE("f32", SCT_REDUCE_VARIANCE)},
    {"f32 variances of shared rows: blocks=528 ", YX, "", OUT("f32", "'y'", "variance"), "t = a;",
     2, KEEP_Y, ONE("f32", SCT_REDUCE_VARIANCE)},
    {"f64 variance of all of any length off a word: lanes=any ", YX, "", OUT("f64", "", "variance"),
     "t = a;", 2, 0, ONE("f64", SCT_REDUCE_VARIANCE)},
    {"f32 long shared columns below their maximum: blocks=264 ", YX, "",
     OUT("f32", "'x'", "softmax_sum"), "t = a;", 2, KEEP_X, ONE("f32", SCT_REDUCE_SOFTMAX_SUM)},
    {"f32 exponentials of rows of any length off a word: lanes=any ", YX, "",
     OUT("f32", "'y'", "logsumexp"), "t = a;", 2, KEEP_Y, ONE("f32", SCT_REDUCE_LOGSUMEXP)},
    {"f64 exponentials of the middle", ZYX, "", OUT("f64", "'y'", "logsumexp"), "t = a;", 3, KEEP_Y,
     ONE("f64", SCT_REDUCE_LOGSUMEXP)},
    {"i32 products of rows", YX, "", OUT("i32", "'y'", "product"), "t = 2 * a + 1;", 2, KEEP_Y,
     ONE("i32", SCT_REDUCE_PRODUCT)},
    {"f64 products of columns onto what is there", YX, "", ONTO("f64", "'x'", "product"),
     "t = a > 0 ? 2.0 : a < 0 ? -0.5 : 1.0;", 2, KEEP_X, ONE("f64", SCT_REDUCE_PRODUCT)},
    {"where the index counts", YX, "", OUT("f32", "", "max"), "t = a + (x == 0 ? 0 : -100);", 2, 0,
     ONE("f32", SCT_REDUCE_MAX)},
};

/* Long along what is reduced, short along what is kept: the naive variant has several blocks an
 * element. */
static const int64_t lines[][MAX_DIMS] = {{0}, {1}, {31}, {33}, {1024}, {9001}};
/* The last ones are for rows off a word: several blocks of columns, more than a tile of a row. */
enum { OFF_PLANES = 2, OFF_BOXES = 1 };
static const int64_t planes[][MAX_DIMS] = {{0, 5},    {5, 0},  {1, 1},    {3, 31},  {9, 33},
                                           {2, 4100}, {35, 8}, {133, 21}, {5, 1031}};
/* Rows of any length: parts of a warp, warps, blocks and several blocks have one. */
static const int64_t rows[][MAX_DIMS] = {{3, 0},    {1, 1},  {300, 3},  {70, 6},   {40, 17},
                                         {33, 40},  {9, 67}, {9, 130},  {2, 1031}, {200, 520},
                                         {2, 4100}, {1, 7},  {3, 36001}};
static const int64_t boxes[][MAX_DIMS] = {{2, 0, 3}, {1, 1, 1},    {3, 2, 33},
                                          {5, 7, 8}, {2, 130, 16}, {3, 31, 133}};

/* ---- on the host ---- */

static bool has_sign(const char *type) {
  return type[0] != 'u';
}

static int64_t value_of(const problem *p, int64_t linear) {
  return (linear * 7 + linear / 13) % 11 - (has_sign(p->type) ? 5 : 0);
}

/* A half float that holds a whole number, as one. */
static double half_to_double(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double v = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -v : v;
}

static double got_value(const char *type, const uint8_t *at) {
  uint64_t bits = 0;
  const bool is_float = type[0] == 'f';
  const int n = atoi(type + 1);
  memcpy(&bits, at, (size_t)n / 8);
  if (is_float && n == 16) {
    return half_to_double((uint16_t)bits);
  } else if (is_float && n == 32) {
    float v;
    memcpy(&v, at, 4);
    return (double)v;
  } else if (is_float) {
    double v;
    memcpy(&v, at, 8);
    return v;
  }
  return has_sign(type) ? (double)((int64_t)(bits << (64 - n)) >> (64 - n)) : (double)bits;
}

/* What a sum wraps to, and where an extreme starts, in this type. */
static double wrapped(const char *type, double v) {
  const double span = ldexp(1, atoi(type + 1));
  if (type[0] == 'f') {
    return v;
  }
  v = v - span * floor(v / span);
  return has_sign(type) && v >= span / 2 ? v - span : v;
}

/* What an output that is inout holds before the launch; others hold nothing that counts. */
static double held_before(const result *r, int64_t place) {
  return (double)((place * 5 + r->offset) % 9) - (has_sign(r->type) ? 4 : 0);
}

static double start_of(const result *r) {
  if (sct_reduce_is_arg(r->reduce)) {
    return -1;
  }
  const int bits = atoi(r->type + 1);
  const double top = r->type[0] == 'f'   ? INFINITY
                     : has_sign(r->type) ? ldexp(1, bits - 1) - 1
                                         : ldexp(1, bits) - 1;
  const double bottom = r->type[0] == 'f' ? -INFINITY : has_sign(r->type) ? -ldexp(1, bits - 1) : 0;
  switch (r->reduce) {
  case SCT_REDUCE_MAX:
    return bottom;
  case SCT_REDUCE_MIN:
    return top;
  default:
    return r->reduce == SCT_REDUCE_PRODUCT;
  }
}

static bool keeps(const problem *p, int d) {
  return (p->kept >> (p->n_dims - 1 - d) & 1) != 0;
}

/* The first of those that are highest, or lowest: best[] has their values. */
static void find_extreme(const result *r, double *at, double *best, double value, int64_t number) {
  if (*at < 0 || (r->reduce == SCT_REDUCE_ARGMAX ? value > *best : value < *best)) {
    *at = (double)number;
    *best = value;
  }
}

/* What the body gives for an element: products have factors of both sides of 1. */
static double contribution(const problem *p, const result *r, double value, int64_t x) {
  if (r->reduce == SCT_REDUCE_PRODUCT && r->type[0] == 'f') {
    return value > 0 ? 2 : value < 0 ? -0.5 : 1;
  } else if (r->reduce == SCT_REDUCE_PRODUCT) {
    return 2 * value + 1;
  }
  return r->counts ? 1 : value - (strchr(p->body, '?') && x != 0 ? 100 : 0);
}

/* The sum of what the sums of all squares, or exponentials, say besides that of the values. */
static double result_of(const result *r, double sum, double other, double highest, double n) {
  switch (r->reduce) {
  case SCT_REDUCE_MEAN:
    return n > 0 ? sum / n : NAN;
  case SCT_REDUCE_VARIANCE:
    return n > 0 ? (other - sum * sum / n) / n : NAN;
  case SCT_REDUCE_LOGSUMEXP:
    return log(other);
  case SCT_REDUCE_SOFTMAX_SUM:
    return n > 0 ? other / exp(highest) : 0;
  default:
    return sum;
  }
}

/* Folds element by element into the place it belongs to, as one would explain it. */
static double *expected(const problem *p, const result *r, bool onto, const int64_t *n,
                        int64_t n_places) {
  double *want = sct_alloc(sizeof *want * (size_t)(n_places + 1));
  double *best = sct_alloc(sizeof *best * (size_t)(n_places + 1));
  double *highest = sct_alloc(sizeof *highest * (size_t)(n_places + 1));
  const bool squares = r->reduce == SCT_REDUCE_VARIANCE;
  int64_t count = 1;
  for (int d = 0; d < p->n_dims; d++) {
    count *= n[d];
  }
  for (int64_t k = 0; k < n_places; k++) {
    want[k] = onto ? held_before(r, k) : start_of(r);
    highest[k] = -INFINITY;
  }
  for (int64_t linear = 0; linear < count; linear++) {
    int64_t idx[MAX_DIMS], rest = linear, place = 0, column_major = 0, number = 0;
    for (int d = p->n_dims - 1; d >= 0; d--) {
      idx[d] = rest % n[d];
      rest /= n[d];
      column_major = column_major * n[d] + idx[d];
    }
    for (int d = 0; d < p->n_dims; d++) {
      place = keeps(p, d) ? place * n[d] + idx[d] : place;
      number = keeps(p, d) ? number : number * n[d] + idx[d];
    }
    const double value = contribution(
        p, r, (double)value_of(p, p->by_columns ? column_major : linear), idx[p->n_dims - 1]);
    double *at = &want[place];
    if (sct_reduce_is_arg(r->reduce)) {
      find_extreme(r, at, &best[place], value, number);
      continue;
    }
    highest[place] = fmax(highest[place], value);
    best[place] += squares ? value * value : exp(value);
    *at = r->reduce == SCT_REDUCE_MAX       ? fmax(*at, value)
          : r->reduce == SCT_REDUCE_MIN     ? fmin(*at, value)
          : r->reduce == SCT_REDUCE_PRODUCT ? wrapped(r->type, *at * value)
                                            : wrapped(r->type, *at + value);
  }
  for (int64_t k = 0; k < n_places; k++) {
    want[k] = result_of(r, want[k], best[k], highest[k], (double)count / (double)n_places);
  }
  sct_free(highest);
  sct_free(best);
  return want;
}

/* ---- on the virtual device ---- */

static const char *spec_text(sct_arena *arena, const problem *p) {
  static const char *const sizes[][3] = {
      {"x = 4096", "y = 64, x = 4096", "z = 8, y = 64, x = 256"},
      {"x = 801", "y = 200, x = 801", "z = 20, y = 200, x = 81"},
      {"x = 8000", "y = 200, x = 8000", "z = 20, y = 200, x = 80"},
      {"x = 16", "y = 200, x = 16", "z = 4, y = 200, x = 16"}};
  const int which = strstr(p->name, "off a word") ? 1
                    : strstr(p->name, "long")     ? 2
                    : strstr(p->name, "short")    ? 3
                                                  : 0;
  return sct_arena_printf(arena,
                          "local s = require 'sectile'\n"
                          "return s.kernel { name = 'k', dims = { %s },\n"
                          "  inputs = { s.array('a', '%s'%s) },\n  outputs = { %s },\n"
                          "  body = '%s', sizes = { { %s } } }\n",
                          p->dims, p->type, p->input, p->outputs, p->body,
                          sizes[which][p->n_dims - 1]);
}

static int stride_of(const result *r) {
  return r->stride > 0 ? r->stride : atoi(r->type + 1) / 8;
}

/* Sums and extremes of small whole numbers are exact. */
static bool is_right(const result *r, double got, double want) {
  const double near = !sct_reduce_is_real(r->reduce) ? 0
                      : strcmp(r->type, "f16") == 0  ? 0x1p-10
                      : strcmp(r->type, "f32") == 0  ? 0x1p-18
                                                     : 0x1p-40;
  return got == want || (isnan(got) && isnan(want)) ||
         fabs(got - want) <= near * fmax(fabs(want), 0x1p-4);
}

static void compare(const fixture *f, const problem *p, const picked *c, const int64_t *n,
                    int64_t n_places, sct_ptx_memory *memory, const uint64_t *pointer) {
  for (int k = 0; k < p->n_results; k++) {
    const result *r = &p->results[k];
    const int stride = stride_of(r);
    const uint8_t *out = sct_ptx_memory_data(memory, pointer[r->output]);
    double *want = expected(p, r, f->spec.operands[1 + r->output].is_inout, n, n_places);
    for (int64_t place = 0; place < n_places; place++) {
      const double got = got_value(r->type, out + place * stride + r->offset);
      if (!is_right(r, got, want[place])) {
        fail_msg("%s, '%s', extents %lld %lld %lld: result %d, place %lld is %.17g, not %.17g",
                 p->name, c->label, (long long)n[0], (long long)n[1], (long long)n[2], k,
                 (long long)place, got, want[place]);
      }
    }
    sct_free(want);
  }
}

/* The bytes of an output before the launch, NULL where they do not count. */
static uint8_t *new_contents(const fixture *f, const problem *p, int output, int64_t n_places) {
  const sct_operand *op = &f->spec.operands[1 + output];
  if (!op->is_inout) {
    return NULL;
  }
  uint8_t *bytes = sct_alloc((size_t)(n_places * op->record.bytes) + 8);
  for (int k = 0; k < p->n_results; k++) {
    const result *r = &p->results[k];
    for (int64_t place = 0; place < n_places && r->output == output; place++) {
      uint8_t value[8] = {0};
      picked_put(value, r->type, 0, (int64_t)held_before(r, place));
      if (r->type[0] == 'f' && held_before(r, place) == 0) {
        value[atoi(r->type + 1) / 8 - 1] = 0x80; /* -0, to which 0 may not be added in vain */
      }
      memcpy(bytes + place * stride_of(r) + r->offset, value, (size_t)atoi(r->type + 1) / 8);
    }
  }
  return bytes;
}

/* A launch leaves its workspace as the next one, of whatever kernel, wants it. */
static void counters_are_zero(const problem *p, const picked *c, const void *workspace) {
  const uint32_t *counters = workspace;
  for (int k = 0; k < 65536 && c->code.workspace_bytes > 0; k++) {
    if (counters[k] != 0) {
      fail_msg("%s, '%s': counter %d is %u after a launch", p->name, c->label, k, counters[k]);
    }
  }
}

/* All that launches share lies in their arguments, so those with other workspaces may overlap.
 * Constants are variables with a value in PTX. */
static void keeps_nothing_in_the_module(const problem *p, const picked *c) {
  static const char *const marks[] = {"\n.global", "\n.visible .global"};
  for (int k = 0; k < SCT_COUNT(marks); k++) {
    for (const char *at = strstr(c->compiled.ptx, marks[k]); at; at = strstr(at + 1, marks[k])) {
      const size_t line = strcspn(at + 1, "\n") + 1;
      if (!memchr(at, '=', line)) {
        fail_msg("%s, '%s': the module has a variable: %.*s", p->name, c->label, (int)line, at);
      }
    }
  }
}

static void run(const fixture *f, const problem *p, const picked *c, const int64_t *n) {
  int64_t count = 1, n_places = 1;
  for (int d = 0; d < p->n_dims; d++) {
    count *= n[d];
    n_places *= keeps(p, d) ? n[d] : 1;
  }
  if (n_places == 0) {
    return;
  }
  void *a = sct_alloc((size_t)count * 8 + 8);
  assert_non_null(a);
  for (int64_t k = 0; k < count; k++) {
    picked_put(a, p->type, k, value_of(p, k));
  }
  picked_run r;
  uint64_t out[MAX_OUTPUTS] = {0};
  uint8_t *held[MAX_OUTPUTS] = {NULL};
  picked_run_open(&r, c, &f->spec, n);
  assert_true(r.blocks > 0); /* sums of nothing are written too */
  /* where any element may be the first one, it is not the first of a word */
  const sct_record *record = &f->spec.operands[0].record;
  picked_run_add_buffer(
      &r, &(sct_ptx_buffer){.name = "a",
                            .bytes = count * record->bytes,
                            .data = a,
                            .read_only = true,
                            .misalign = c->code.align[0] > record->align ? 0 : record->bytes});
  for (int k = 0; k < p->n_outputs; k++) {
    const int64_t bytes = n_places * f->spec.operands[1 + k].record.bytes;
    held[k] = new_contents(f, p, k, n_places);
    out[k] = picked_run_add_buffer(
        &r, &(sct_ptx_buffer){.name = "t", .bytes = bytes, .data = held[k], .output = true});
  }
  picked_run_add_extents(&r);
  const uint64_t workspace = picked_run_add_workspace(&r);
  for (int turn = 0; turn < (workspace != 0 ? 2 : 1); turn++) {
    for (int k = 0; k < p->n_outputs && turn > 0; k++) {
      if (held[k]) {
        sct_ptx_memory_reset(r.memory, out[k], held[k]);
      }
    }
    picked_run_launch(&r, p->name);
    for (int k = 0; k < p->n_outputs && count == 0; k++) {
      const uint8_t *after = sct_ptx_memory_data(r.memory, out[k]);
      const int64_t bytes = n_places * f->spec.operands[1 + k].record.bytes;
      assert_true(!held[k] || memcmp(held[k], after, (size_t)bytes) == 0);
    }
    compare(f, p, c, n, n_places, r.memory, out);
    counters_are_zero(p, c, sct_ptx_memory_data(r.memory, workspace));
  }
  picked_run_close(&r);
  for (int k = 0; k < p->n_outputs; k++) {
    sct_free(held[k]);
  }
  sct_free(a);
}

/* ---- candidates ---- */

/* Some of every strategy that applies: the first, and others far apart. */
static int pick(fixture *f, const problem *p, picked *list) {
  const char *only = strchr(p->name, ':');
  int n = 0;
  for (int strategy = 0; strategy < f->space.n_strategies; strategy++) {
    const bool naive = strcmp(f->space.strategies[strategy].name, "direct") == 0;
    size_t own = 0, seen = 0;
    for (int round = 0; round < 2; round++) { /* first to count them */
      const size_t step = naive ? own : own / SPREAD + 1;
      for (size_t c = 0; c < f->space.n_candidates && n < MAX_PICKED; c++) {
        sct_str label = {0};
        sct_space_label(&label, &f->space, &f->space.candidates[c]);
        const bool fits = f->space.candidates[c].strategy == strategy &&
                          (naive || !only || strstr(sct_str_c(&label), only + 1));
        own += round == 0 && fits;
        if (round == 1 && fits && seen++ % step == 0) {
          const bool made = picked_make(&list[n], f, c);
          n += made;
          seen -= !made; /* the next one instead */
        }
        sct_str_free(&label);
      }
    }
  }
  return n;
}

static void as_on_the_host(void **state) {
  const problem *p = *state;
  if (!part_has((int)(p - problems))) {
    skip();
  }
  fixture f;
  picked list[MAX_PICKED] = {{0}};
  sct_arena arena = {0};
  int runs = 0;
  const bool is_off = strstr(p->name, "off a word") != NULL;
  const bool any = strstr(p->name, "lanes=any") != NULL;
  const int64_t(*sizes)[MAX_DIMS] = p->n_dims == 1   ? lines
                                    : p->n_dims == 3 ? boxes
                                    : any            ? rows
                                                     : planes;
  const int n_sizes = p->n_dims == 1          ? SCT_COUNT(lines)
                      : p->n_dims == 2 && any ? SCT_COUNT(rows)
                      : p->n_dims == 2        ? SCT_COUNT(planes) - (is_off ? 0 : OFF_PLANES)
                                              : SCT_COUNT(boxes) - (is_off ? 0 : OFF_BOXES);
  fixture_open_text(&f, spec_text(&arena, p));
  const int n = pick(&f, p, list);
  picked_compile(list, n);
  for (int k = 0; k < n; k++) {
    keeps_nothing_in_the_module(p, &list[k]);
  }
  assert_true(n >= 2);
  assert_memory_equal(list[0].label, "direct", 6);
  for (int k = 0; k < n; k++) {
    for (int s = 0; s < n_sizes; s++) {
      int64_t extent[MAX_DIMS] = {0};
      const sct_size size = {.extent = extent};
      for (int d = 0; d < p->n_dims; d++) { /* columns: the same turned round */
        extent[d] = sizes[s][p->kept == KEEP_X ? p->n_dims - 1 - d : d];
      }
      if (sct_codegen_fits(&f.spec, &list[k].code, &size)) {
        run(&f, p, &list[k], extent);
        runs++;
      }
    }
  }
  picked_free(list, n);
  print_message("%d candidates, %d runs\n", n, runs);
  fixture_close(&f);
  sct_arena_free(&arena);
}

/* ---- all of them ---- */

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  struct CMUnitTest tests[SCT_COUNT(problems)];
  for (int k = 0; k < SCT_COUNT(problems); k++) {
    tests[k] = (struct CMUnitTest){.name = problems[k].name,
                                   .test_func = as_on_the_host,
                                   .initial_state = (void *)&problems[k]};
  }
  return _cmocka_run_group_tests("reductions", tests, SCT_COUNT(tests), picked_setup,
                                 picked_teardown);
}
