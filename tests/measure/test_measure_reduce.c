/* Reductions on the host and under verification: what outputs must hold, computed here a second
 * time and in another way, and kernels whose sums are wrong in small ways. */
#include "fuzz/reference.h"
#include "measure_fixture.h"
#include "nvrtc_text.h"

#include "measure/measure_data.h"
#include "measure/measure_session.h"

#include <math.h>

static const int first_layout[SCT_MAX_OPERANDS];

/* ---- halves ---- */

static void test_every_half_goes_back_and_forth(void **state) {
  (void)state;
  static const sct_type types[] = {SCT_TYPE_F16, SCT_TYPE_BF16};
  for (int t = 0; t < 2; t++) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
      const uint16_t half = (uint16_t)bits;
      uint16_t back = 0;
      const double value = sct_data_float(types[t], &half);
      sct_data_put_float(&back, types[t], value);
      if (isnan(value)) {
        assert_true(isnan(sct_data_float(types[t], &back)));
      } else {
        assert_int_equal(back, half);
      }
    }
  }
}

static void test_halves_are_rounded_to_nearest_even(void **state) {
  (void)state;
  static const struct {
    sct_type type;
    double value;
    uint16_t bits;
  } cases[] = {{SCT_TYPE_F16, 1 + 0x1p-11, 0x3c00},
               {SCT_TYPE_F16, 1 + 0x1p-11 + 0x1p-30, 0x3c01},
               {SCT_TYPE_F16, 1 + 3 * 0x1p-11, 0x3c02},
               {SCT_TYPE_F16, 65519, 0x7bff},
               {SCT_TYPE_F16, 65520, 0x7c00},
               {SCT_TYPE_F16, -1e30, 0xfc00},
               {SCT_TYPE_F16, 0x1p-25, 0x0000},
               {SCT_TYPE_F16, 0x1.8p-25, 0x0001},
               {SCT_TYPE_F16, 0x1p-14 - 0x1p-25, 0x0400},
               {SCT_TYPE_BF16, 1 + 0x1p-8, 0x3f80},
               {SCT_TYPE_BF16, 1 + 3 * 0x1p-8, 0x3f82},
               {SCT_TYPE_BF16, -INFINITY, 0xff80}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint16_t bits = 0;
    sct_data_put_float(&bits, cases[k].type, cases[k].value);
    assert_int_equal(bits, cases[k].bits);
  }
}

/* All numbers of a byte, halfway between them and beyond, as plain C has them. */
static void test_floats_of_a_byte(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 512; bits++) {
    const bool e4m3 = bits < 256;
    const sct_type type = e4m3 ? SCT_TYPE_E4M3 : SCT_TYPE_E5M2;
    const uint8_t byte = (uint8_t)bits, next = (uint8_t)(bits + 1);
    const float want = e4m3 ? fz_from_e4m3((fz_e4m3){byte}) : fz_from_e5m2((fz_e5m2){byte});
    const float above = e4m3 ? fz_from_e4m3((fz_e4m3){next}) : fz_from_e5m2((fz_e5m2){next});
    const double got = sct_data_float(type, &byte), half = ((double)want + (double)above) / 2;
    assert_true(isnan(want) ? isnan(got) : got == (double)want && !signbit(got) == !signbit(want));
    const double values[] = {want, half, nextafter(half, 1e9), nextafter(half, -1e9), want * 1e6f};
    for (int k = 0; k < SCT_COUNT(values); k++) {
      const float value = (float)values[k];
      uint8_t back = 0;
      sct_data_put_float(&back, type, (double)value);
      assert_int_equal(back, e4m3 ? fz_to_e4m3(value).bits : fz_to_e5m2(value).bits);
    }
  }
}

/* ---- what the host makes of arrays ---- */

typedef struct problem {
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  uint8_t *image[2], *flags;
} problem;

/* t over `dims` from a over row x col; the input holds random numbers. `index`: the type of t where
 * that is one. */
static void open_indices(problem *p, const char *type, const char *index, const char *dims,
                         sct_reduce reduce, int64_t rows, int64_t cols) {
  const fixture_array arrays[] = {
      {.name = "a", .types = type},
      {.name = "t", .types = index, .dims = dims, .reduce = reduce, .compared = type}};
  const int64_t extents[] = {rows, cols};
  memset(p, 0, sizeof *p);
  fixture_spec(&p->spec, "row col", arrays, 1, 2, NULL, "t = a;", extents);
  assert_ok(sct_addressing_init(&p->addressing, &p->spec, first_layout, 5, &fixture_err));
  assert_ok(sct_shape_init(&p->shape, &p->addressing, extents, NULL, &fixture_err));
  assert_ok(sct_image_input(&p->image[0], &p->shape, 0, &fixture_err));
}

static void open_problem(problem *p, const char *type, const char *dims, sct_reduce reduce,
                         int64_t rows, int64_t cols) {
  open_indices(p, type, type, dims, reduce, rows, cols);
}

static void reduce_on_host(problem *p) {
  assert_ok(sct_image_output(&p->image[1], &p->shape, 1, p->image, 0xa5, &fixture_err));
  assert_ok(sct_image_flags(&p->flags, &p->shape, 1, &fixture_err));
  for (int64_t k = 0; k < p->shape.op[1].bytes; k++) {
    assert_int_equal(p->flags[k], SCT_BYTE_OWNED | SCT_BYTE_WRITTEN);
  }
}

static void close_problem(problem *p) {
  sct_free(p->image[0]);
  sct_free(p->image[1]);
  sct_free(p->flags);
  sct_shape_free(&p->shape);
  sct_addressing_free(&p->addressing);
  sct_spec_free(&p->spec);
}

/* t = a over rows of n columns, onto what t holds. */
static void open_onto(problem *p, const char *type, sct_reduce reduce, int64_t rows, int64_t n) {
  const fixture_array arrays[] = {
      {.name = "a", .types = type},
      {.name = "t", .types = type, .dims = "row", .reduce = reduce, .inout = true}};
  const int64_t extents[] = {rows, n};
  memset(p, 0, sizeof *p);
  fixture_spec(&p->spec, "row col", arrays, 1, 2, NULL, "t = a;", extents);
  assert_ok(sct_addressing_init(&p->addressing, &p->spec, first_layout, 5, &fixture_err));
  assert_ok(sct_shape_init(&p->shape, &p->addressing, extents, NULL, &fixture_err));
  assert_ok(sct_image_input(&p->image[0], &p->shape, 0, &fixture_err));
}

static const int64_t lengths[] = {0, 1, 2, 31, 32, 33, 100};

static void test_sums_of_doubles(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(lengths); k++) {
    const int64_t n = lengths[k];
    problem p;
    open_problem(&p, "f64", "row", SCT_REDUCE_SUM, 3, n);
    reduce_on_host(&p);
    for (int row = 0; row < 3; row++) {
      double sum = 0, got;
      for (int64_t col = n - 1; col >= 0; col--) {
        double value;
        memcpy(&value, p.image[0] + (row * n + col) * 8, 8);
        sum += value;
      }
      memcpy(&got, p.image[1] + row * 8, 8);
      assert_true(fabs(got - sum) <= 1e-14 * sum);
      assert_true(n > 0 || got == 0);
    }
    close_problem(&p);
  }
}

/* Columns, with negative values and infinities among them. */
static void test_maxima_and_minima_of_floats(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(lengths); k++) {
    for (int is_max = 0; is_max < 2; is_max++) {
      const int64_t n = lengths[k];
      problem p;
      open_problem(&p, "f32", "col", is_max ? SCT_REDUCE_MAX : SCT_REDUCE_MIN, n, 5);
      float *a = (float *)(void *)p.image[0];
      for (int64_t i = 0; i < n * 5; i++) {
        a[i] = i % 5 == 4 ? -INFINITY : -a[i] * (float)(1 + i % 7);
      }
      reduce_on_host(&p);
      for (int col = 0; col < 5; col++) {
        float best = is_max ? -INFINITY : INFINITY, got;
        for (int64_t row = 0; row < n; row++) {
          best = is_max ? fmaxf(best, a[row * 5 + col]) : fminf(best, a[row * 5 + col]);
        }
        memcpy(&got, p.image[1] + col * 4, 4);
        assert_true(got == best);
      }
      close_problem(&p);
    }
  }
}

/* Sums and extremes of bytes, which wrap, begin with what the output held; rows of none stay. */
static void test_reductions_onto_what_is_there(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(lengths) * 3; k++) {
    const int64_t n = lengths[k % SCT_COUNT(lengths)];
    const sct_reduce reduce = (sct_reduce)(SCT_REDUCE_SUM + k / SCT_COUNT(lengths));
    problem p;
    uint8_t *held = NULL;
    open_onto(&p, "i8", reduce, 9, n);
    assert_ok(sct_image_input(&held, &p.shape, 1, &fixture_err));
    reduce_on_host(&p);
    int changed = 0;
    for (int row = 0; row < 9; row++) {
      int want = (int8_t)held[row];
      for (int64_t col = 0; col < n; col++) {
        const int value = (int8_t)p.image[0][row * n + col];
        want = reduce == SCT_REDUCE_SUM                       ? want + value
               : (reduce == SCT_REDUCE_MAX) == (value > want) ? value
                                                              : want;
      }
      assert_int_equal((int8_t)p.image[1][row], (int8_t)want);
      changed += p.image[1][row] != held[row];
    }
    assert_true((changed > 0) == (n > 0));
    sct_free(held);
    close_problem(&p);
  }
}

/* NaN is one of the values that are passed over, and stays where there are no others. */
static void test_maxima_onto_nan(void **state) {
  (void)state;
  for (int64_t n = 0; n < 2; n++) {
    problem p;
    uint8_t *held = NULL;
    int n_nan = 0;
    open_onto(&p, "f32", SCT_REDUCE_MAX, 2000, n);
    assert_ok(sct_image_input(&held, &p.shape, 1, &fixture_err));
    reduce_on_host(&p);
    for (int row = 0; row < 2000; row++) {
      float before, value = -INFINITY, got;
      memcpy(&before, held + row * 4, 4);
      memcpy(&value, p.image[0] + row * 4, n > 0 ? 4 : 0);
      memcpy(&got, p.image[1] + row * 4, 4);
      const float least = isnan(before) ? -INFINITY : before; /* fmaxf() keeps some NaNs */
      const float want = n == 0 ? before : value > least ? value : least;
      assert_true(n == 0 ? memcmp(&got, &want, 4) == 0 : got == want);
      n_nan += isnan(before);
    }
    assert_true(n_nan > 0);
    sct_free(held);
    close_problem(&p);
  }
}

/* Ties, NaN, infinities; rows of nothing else: the first of those that are highest, or -1. */
static void test_where_extremes_are(void **state) {
  (void)state;
  static const struct {
    sct_reduce reduce;
    float row[5];
    int64_t n, at;
  } cases[] = {{SCT_REDUCE_ARGMAX, {3, 7, 7, 1, 7}, 5, 1},
               {SCT_REDUCE_ARGMIN, {3, 7, 1, 1, 7}, 5, 2},
               {SCT_REDUCE_ARGMAX, {NAN, 2, NAN, 3, 3}, 5, 3},
               {SCT_REDUCE_ARGMIN, {NAN, INFINITY, NAN, INFINITY, NAN}, 5, 1},
               {SCT_REDUCE_ARGMAX, {NAN, -INFINITY, -INFINITY, NAN, NAN}, 5, 1},
               {SCT_REDUCE_ARGMAX, {NAN, NAN, NAN, NAN, NAN}, 5, -1},
               {SCT_REDUCE_ARGMAX, {-0.0F, 0.0F, -1, 0, 0}, 5, 0},
               {SCT_REDUCE_ARGMIN, {0}, 0, -1}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    problem p;
    int64_t got = 0;
    open_indices(&p, "f32", "i64", "row", cases[k].reduce, 1, cases[k].n);
    memcpy(p.image[0], cases[k].row, (size_t)cases[k].n * 4);
    reduce_on_host(&p);
    memcpy(&got, p.image[1], 8);
    assert_int_equal(got, cases[k].at);
    close_problem(&p);
  }
}

/* Over planes: rows are counted first. Of the lowest values of a type, too. */
static void test_where_extremes_of_integers_are(void **state) {
  (void)state;
  problem p;
  uint16_t got = 0;
  open_indices(&p, "i8", "u16", "", SCT_REDUCE_ARGMAX, 7, 100);
  memset(p.image[0], 0x80, 700);
  p.image[0][3 * 100 + 5] = 0x81;
  reduce_on_host(&p);
  memcpy(&got, p.image[1], 2);
  assert_int_equal(got, 305);
  close_problem(&p);
  open_indices(&p, "i8", "u16", "", SCT_REDUCE_ARGMAX, 7, 100);
  memset(p.image[0], 0x80, 700);
  reduce_on_host(&p);
  memcpy(&got, p.image[1], 2);
  assert_int_equal(got, 0);
  close_problem(&p);
}

/* Every integer type, over all of the array: sums wrap, extremes know their sign. */
static void test_integers_are_exact(void **state) {
  (void)state;
  static const char *const types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
  for (int k = 0; k < SCT_COUNT(types) * 3 * SCT_COUNT(lengths); k++) {
    const int type = k % SCT_COUNT(types), bytes = 1 << type / 2;
    const uint64_t sign = (uint64_t)1 << (bytes * 8 - 1);
    const sct_reduce reduce = (sct_reduce)(1 + k / SCT_COUNT(types) % 3);
    const int64_t n = lengths[k / SCT_COUNT(types) / 3];
    const bool has_sign = type % 2 == 0;
    problem p;
    open_problem(&p, types[type], "", reduce, n, 3);
    reduce_on_host(&p);
    uint64_t sum = 0, least = UINT64_MAX, most = 0;
    for (int64_t i = 0; i < n * 3; i++) {
      uint64_t value = 0;
      memcpy(&value, p.image[0] + i * bytes, (size_t)bytes);
      sum += value;
      value ^= has_sign ? sign : 0; /* puts negative numbers below the others */
      least = value < least ? value : least;
      most = value > most ? value : most;
    }
    least ^= has_sign ? sign : 0;
    most ^= has_sign ? sign : 0;
    const uint64_t want = reduce == SCT_REDUCE_SUM ? sum : reduce == SCT_REDUCE_MAX ? most : least;
    assert_int_equal(p.shape.op[1].bytes, bytes);
    assert_memory_equal(p.image[1], &want, (size_t)bytes); /* the lower bytes: modulo 2^bits */
    close_problem(&p);
  }
}

static void test_halves_are_summed_beyond_their_precision(void **state) {
  (void)state;
  problem p;
  open_problem(&p, "bf16", "", SCT_REDUCE_SUM, 1000, 3);
  for (int k = 0; k < 3000; k++) {
    sct_data_put_float(p.image[0] + 2 * k, SCT_TYPE_BF16, 1);
  }
  reduce_on_host(&p);
  assert_true(sct_data_float(SCT_TYPE_BF16, p.image[1]) == 3008); /* of 8 bits: 3000 is between */
  close_problem(&p);
}

/* ---- verification ---- */

/* A thread a row of n columns, but for what the name says; 64 threads a block. */
static const char *const cuda_text =
    "#define KERNEL(name, T) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const T *a, T *t, long long rows, long long n) { \\\n"
    "  const long long row = blockIdx.x * 64LL + threadIdx.x; \\\n"
    "  if (row >= rows) return; a += row * n;\n"
    "KERNEL(sum, float) float s = 0; for (int k = 0; k < n; k++) s += a[k]; t[row] = s; }\n"
    "KERNEL(back, float) float s = 0; for (int k = n - 1; k >= 0; k--) s += a[k]; t[row] = s; }\n"
    "KERNEL(short_by_one, float) float s = 0; for (int k = 0; k < n - (n > 5000); k++) s += a[k];\n"
    "  t[row] = s; }\n"
    "KERNEL(one_twice, float) float s = n > 0 ? a[n - 1] : 0;\n"
    "  for (int k = 0; k < n; k++) s += a[k]; t[row] = s; }\n"
    "KERNEL(not_for_none, float) float s = 0; for (int k = 0; k < n; k++) s += a[k];\n"
    "  if (n > 0) t[row] = s; }\n"
    "KERNEL(highest, float) float s = -__int_as_float(0x7f800000);\n"
    "  for (int k = 0; k < n; k++) s = fmaxf(s, a[k]); t[row] = s; }\n"
    "KERNEL(max_from_zero, float) float s = 0;\n"
    "  for (int k = 0; k < n; k++) s = fmaxf(s, a[k]); t[row] = s; }\n"
    "KERNEL(of_absolutes, float) float s = 0; for (int k = 0; k < n; k++) s += fabsf(a[k]);\n"
    "  t[row] = s; }\n"
    "KERNEL(of_roots, float) float s = 0; for (int k = 0; k < n; k++) s += sqrtf(a[k]);\n"
    "  t[row] = s; }\n"
    "KERNEL(roots_back, float) float s = 0; for (int k = n - 1; k >= 0; k--) s += sqrtf(a[k]);\n"
    "  t[row] = s; }\n"
    "KERNEL(roots_but_one, float) float s = 0;\n"
    "  for (int k = 0; k < n - (n > 5000); k++) s += sqrtf(a[k]); t[row] = s; }\n"
    "KERNEL(less_one, float) float s = 0; for (int k = 0; k < n; k++) s += a[k] - 1; t[row] = s; "
    "}\n"
    "KERNEL(less_one_back, float) float s = 0; for (int k = n - 1; k >= 0; k--) s += a[k] - 1;\n"
    "  t[row] = s; }\n"
    "KERNEL(nan_is_highest, float) float s = -__int_as_float(0x7f800000);\n"
    "  for (int k = 0; k < n; k++) s = a[k] > s || a[k] != a[k] ? a[k] : s; t[row] = s; }\n"
    "KERNEL(first_is_highest, float) float s = n > 0 ? a[0] : -__int_as_float(0x7f800000);\n"
    "  for (int k = 1; k < n; k++) s = fmaxf(s, a[k]); t[row] = s; }\n"
    "#define WHERE(name, start, test) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const float *a, int *t, long long rows, long long n) { \\\n"
    "  const long long row = blockIdx.x * 64LL + threadIdx.x; \\\n"
    "  if (row >= rows) return; a += row * n; \\\n"
    "  float s = -__int_as_float(0x7f800000); int at = start; \\\n"
    "  for (int k = 0; k < n; k++) if (test) { s = a[k]; at = k; } t[row] = at; }\n"
    "WHERE(where, -1, a[k] > s || (a[k] == s && at < 0))\n"
    "WHERE(where_last, -1, a[k] >= s)\n"
    "WHERE(where_above, -1, a[k] > s)\n"
    "WHERE(where_or_first, 0, a[k] > s || (a[k] == s && at < 0))\n"
    "WHERE(where_nan, -1, a[k] > s || a[k] != a[k] || (a[k] == s && at < 0))\n"
    "WHERE(where_but_last, -1, k < n - (n > 5000) && (a[k] > s || (a[k] == s && at < 0)))\n"
    "#define ONTO(name, T, start) KERNEL(name, T) if (n == 0) return; T s = start;\n"
    "#define LOWEST -__int_as_float(0x7f800000)\n"
    "#define UP for (int k = 0; k < n; k++)\n"
    "ONTO(onto, float, 0) UP s += a[k]; t[row] += s; }\n"
    "ONTO(onto_first, float, t[row]) UP s += a[k]; t[row] = s; }\n"
    "ONTO(onto_twice, float, t[row]) UP s += a[k]; t[row] += s; }\n"
    "ONTO(onto_nothing, float, 0) UP s += a[k]; t[row] = s; }\n"
    "ONTO(onto_short, float, 0) UP s += a[k]; t[row] = n > 5000 ? s : t[row] + s; }\n"
    "ONTO(highest_onto, float, LOWEST) UP s = fmaxf(s, a[k]); t[row] = fmaxf(t[row], s); }\n"
    "ONTO(onto_its_nan, float, LOWEST) UP s = fmaxf(s, a[k]);\n"
    "  t[row] = t[row] < s ? s : t[row]; }\n"
    "KERNEL(onto_none, float) float s = LOWEST; UP s = fmaxf(s, a[k]);\n"
    "  t[row] = n > 0 ? fmaxf(t[row], s) : s; }\n"
    "KERNEL(highest_of_none, float) float s = LOWEST; UP s = fmaxf(s, a[k]);\n"
    "  t[row] = fmaxf(t[row], s); }\n"
    "ONTO(wraps_onto, int, 0) UP s += a[k]; t[row] += s; }\n"
    "ONTO(wraps_onto_few, int, 0) UP s += a[k]; t[row] = row < 64 ? t[row] + s : s; }\n"
    "KERNEL(wraps, int) unsigned int s = 0; for (int k = 0; k < n; k++) s += a[k]; t[row] = s; }\n"
    "KERNEL(off_by_one, int) unsigned int s = 0; for (int k = 0; k < n; k++) s += a[k];\n"
    "  t[row] = s + (n > 9000); }\n";

static char *ptx;

static const sct_device_desc described = {.name = "Described",
                                          .id = "virtual:test",
                                          .cc_major = 9,
                                          .n_sms = 4,
                                          .smem_block_bytes = 49152,
                                          .smem_block_optin_bytes = 232448,
                                          .threads_block = 1024,
                                          .is_virtual = true};

static sct_verdict verify_onto(const char *type, sct_reduce reduce, bool inout, const char *body,
                               const char *naive, const char *entry) {
  const sct_measure_opts opts = {.seed = 11, .described = &described};
  const char *const found = sct_reduce_is_arg(reduce) ? "i32" : type;
  const fixture_array arrays[] = {{.name = "a", .types = type},
                                  {.name = "t",
                                   .types = found,
                                   .dims = "row",
                                   .reduce = reduce,
                                   .compared = type,
                                   .inout = inout}};
  const int64_t extents[] = {100, 100};
  sct_spec spec;
  sct_measure *m = NULL;
  sct_verdict v;
  fixture_spec(&spec, "row col", arrays, 1, 2, NULL, body, extents);
  sct_kernel_code code = {.threads = 64};
  sct_expr_pool *pool = spec.pool;
  code.grid = sct_expr_div(pool, sct_expr_add(pool, spec.extent_var[0], sct_expr_const(pool, 63)),
                           sct_expr_const(pool, 64));
  sct_kernel_code other = code;
  const sct_binary first = {.code = &code, .entry = naive, .ptx = ptx};
  const sct_binary second = {.code = &other, .entry = entry, .ptx = ptx};
  assert_ok(sct_measure_open(&m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(m, &spec, first_layout, &first, &fixture_err));
  assert_ok(sct_measure_verify(m, &second, &v, &fixture_err));
  sct_measure_close(m);
  sct_spec_free(&spec);
  return v;
}

static sct_verdict verify(const char *type, sct_reduce reduce, const char *body, const char *naive,
                          const char *entry) {
  return verify_onto(type, reduce, false, body, naive, entry);
}

static void test_wrong_sums_are_found(void **state) {
  (void)state;
  static const struct {
    const char *type;
    sct_reduce reduce;
    const char *body, *naive, *kernel;
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"f32", SCT_REDUCE_SUM, "t = a;", "sum", "back", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_SUM, "t = a;", "sum", "short_by_one", SCT_OUT_WRONG_RESULT, "row=0 ("},
      {"f32", SCT_REDUCE_SUM, "t = a;", "sum", "one_twice", SCT_OUT_WRONG_RESULT, "n_col=1"},
      {"f32", SCT_REDUCE_SUM, "t = a;", "sum", "not_for_none", SCT_OUT_NOT_WRITTEN, "n_col=0"},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest", "highest", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest", "max_from_zero", SCT_OUT_WRONG_RESULT, "(-inf)"},
      {"i32", SCT_REDUCE_SUM, "t = a;", "wraps", "wraps", SCT_OUT_OK, ""},
      {"i32", SCT_REDUCE_SUM, "t = a;", "wraps", "off_by_one", SCT_OUT_WRONG_RESULT, "n_col=9001"},
      {"f32", SCT_REDUCE_ARGMAX, "t = a;", "where", "where", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_ARGMAX, "t = a;", "where", "where_last", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_ARGMAX, "t = a;", "where", "where_or_first", SCT_OUT_WRONG_RESULT,
       "n_col=0"},
      {"f32", SCT_REDUCE_ARGMAX, "t = a;", "where", "where_nan", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_ARGMAX, "t = 1 * a;", "where", "where_last", SCT_OUT_WRONG_RESULT, ""},
      /* a body that computes is held against the naive variant, within the tolerance too */
      {"f32", SCT_REDUCE_SUM, "t = 1 * a;", "sum", "back", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_SUM, "t = 1 * a;", "sum", "short_by_one", SCT_OUT_WRONG_RESULT, "row=0 ("},
      {"f32", SCT_REDUCE_SUM, "t = 1 * a;", "sum", "not_for_none", SCT_OUT_NOT_WRITTEN, "n_col=0"},
      {"f32", SCT_REDUCE_MAX, "t = 1 * a;", "highest", "max_from_zero", SCT_OUT_WRONG_RESULT,
       "(-inf)"},
      /* special values: signs, NaN that a sum comes to, what cancels */
      {"f32", SCT_REDUCE_SUM, "t = a;", "sum", "of_absolutes", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_SUM, "t = sqrtf(a);", "of_roots", "roots_back", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_SUM, "t = sqrtf(a);", "of_roots", "roots_but_one", SCT_OUT_WRONG_RESULT,
       "n_col=9001"},
      {"f32", SCT_REDUCE_SUM, "t = a - 1;", "less_one", "less_one_back", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest", "nan_is_highest", SCT_OUT_WRONG_RESULT, "nan"},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest", "first_is_highest", SCT_OUT_WRONG_RESULT, "nan"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_verdict v =
        verify(cases[k].type, cases[k].reduce, cases[k].body, cases[k].naive, cases[k].kernel);
    if (v.outcome != cases[k].outcome || !strstr(v.detail, cases[k].says)) {
      fail_msg("%s: %s: %s", cases[k].kernel, sct_outcome_name(v.outcome), v.detail);
    }
  }
}

/* Against the host, where the body moves; else against the naive variant. */
static void test_wrong_sums_onto_what_is_there_are_found(void **state) {
  (void)state;
  static const struct {
    const char *type;
    sct_reduce reduce;
    const char *body, *naive, *kernel;
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"f32", SCT_REDUCE_SUM, "t = a;", "onto", "onto_first", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_SUM, "t = 1 * a;", "onto", "onto_first", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_SUM, "t = a;", "onto", "onto_twice", SCT_OUT_WRONG_RESULT, "n_col=1"},
      {"f32", SCT_REDUCE_SUM, "t = 1 * a;", "onto", "onto_twice", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_SUM, "t = a;", "onto", "onto_nothing", SCT_OUT_WRONG_RESULT, "n_col=1"},
      {"f32", SCT_REDUCE_SUM, "t = a;", "onto", "sum", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_SUM, "t = 1 * a;", "onto", "onto_short", SCT_OUT_WRONG_RESULT, "9001"},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest_onto", "highest_onto", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest_onto", "highest", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest_onto", "onto_its_nan", SCT_OUT_WRONG_RESULT,
       "nan"},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest_onto", "onto_none", SCT_OUT_WRONG_RESULT,
       "n_col=0"},
      {"f32", SCT_REDUCE_MAX, "t = a;", "highest_onto", "highest_of_none", SCT_OUT_WRONG_RESULT,
       "n_col=0"},
      {"f32", SCT_REDUCE_MAX, "t = 1 * a;", "highest_onto", "highest_of_none", SCT_OUT_WRONG_RESULT,
       "n_col=0"},
      {"i32", SCT_REDUCE_SUM, "t = a;", "wraps_onto", "wraps_onto", SCT_OUT_OK, ""},
      {"i32", SCT_REDUCE_SUM, "t = a;", "wraps_onto", "wraps_onto_few", SCT_OUT_WRONG_RESULT, ""},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_verdict v = verify_onto(cases[k].type, cases[k].reduce, true, cases[k].body,
                                      cases[k].naive, cases[k].kernel);
    if (v.outcome != cases[k].outcome || !strstr(v.detail, cases[k].says)) {
      fail_msg("%s: %s: %s", cases[k].kernel, sct_outcome_name(v.outcome), v.detail);
    }
  }
}

/* The naive variant of a body that only moves is held against the host. */
static void test_a_wrong_naive_variant_is_found(void **state) {
  (void)state;
  const sct_verdict v = verify("f32", SCT_REDUCE_SUM, "t = a;", "short_by_one", "short_by_one");
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
  static const char *const wrong[] = {"onto_twice", "onto_nothing"};
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    const sct_verdict w = verify_onto("f32", SCT_REDUCE_SUM, true, "t = a;", wrong[k], wrong[k]);
    assert_int_equal(w.outcome, SCT_OUT_WRONG_RESULT);
  }
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  ptx = nvrtc_ptx(cuda_text, "reduce.cu", "compute_90", NULL);
  if (!ptx) {
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_half_goes_back_and_forth),
      cmocka_unit_test(test_floats_of_a_byte),
      cmocka_unit_test(test_halves_are_rounded_to_nearest_even),
      cmocka_unit_test(test_sums_of_doubles),
      cmocka_unit_test(test_maxima_and_minima_of_floats),
      cmocka_unit_test(test_reductions_onto_what_is_there),
      cmocka_unit_test(test_maxima_onto_nan),
      cmocka_unit_test(test_where_extremes_are),
      cmocka_unit_test(test_where_extremes_of_integers_are),
      cmocka_unit_test(test_integers_are_exact),
      cmocka_unit_test(test_halves_are_summed_beyond_their_precision),
      cmocka_unit_test(test_wrong_sums_are_found),
      cmocka_unit_test(test_wrong_sums_onto_what_is_there_are_found),
      cmocka_unit_test(test_a_wrong_naive_variant_is_found),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  free(ptx);
  return failed;
}
