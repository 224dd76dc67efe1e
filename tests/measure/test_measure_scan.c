/* Scans on the host and under verification: what outputs must hold, computed here a second time,
 * and kernels whose running sums are wrong in small ways. */
#include "measure_described.h"
#include "measure_problem.h"

#include <math.h>

/* ---- what the host makes of arrays ---- */

static void open_problem(problem *p, const char *type, const char *along, bool exclusive,
                         sct_reduce scan, int64_t rows, int64_t cols) {
  const fixture_array arrays[] = {
      {.name = "a", .types = type},
      {.name = "o", .types = type, .scan = scan, .along = along, .exclusive = exclusive}};
  problem_open(p, arrays, "o = a;", rows, cols);
}

/* Rows and columns, with the element itself and without it. */
static void test_running_sums_of_integers(void **state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    const bool by_column = k & 1, exclusive = k >> 1 & 1;
    const int64_t rows = k & 4 ? 37 : 1, cols = 53;
    problem p;
    open_problem(&p, "i32", by_column ? "row" : NULL, exclusive, SCT_REDUCE_SUM, rows, cols);
    problem_solve(&p);
    const uint32_t *a = (const uint32_t *)(void *)p.image[0];
    const uint32_t *o = (const uint32_t *)(void *)p.image[1];
    for (int64_t line = 0; line < (by_column ? cols : rows); line++) {
      uint32_t sum = 0;
      for (int64_t i = 0; i < (by_column ? rows : cols); i++) {
        const int64_t at = by_column ? i * cols + line : line * cols + i;
        sum += exclusive ? 0 : a[at];
        assert_int_equal(o[at], sum);
        sum += exclusive ? a[at] : 0;
      }
    }
    problem_close(&p);
  }
}

/* The first of those that are highest so far; -1 where nothing is. */
static void test_where_running_maxima_are(void **state) {
  (void)state;
  static const float row[] = {NAN, 2, -5, NAN, 7, 7, INFINITY, 1};
  static const int32_t want[2][8] = {{-1, 1, 1, 1, 4, 4, 6, 6}, {-1, -1, 1, 1, 1, 4, 4, 6}};
  for (int exclusive = 0; exclusive < 2; exclusive++) {
    const fixture_array arrays[] = {{.name = "a", .types = "f32"},
                                    {.name = "o",
                                     .types = "i32",
                                     .scan = SCT_REDUCE_ARGMAX,
                                     .compared = "f32",
                                     .exclusive = exclusive}};
    problem p;
    problem_open(&p, arrays, "o = a;", 1, SCT_COUNT(row));
    memcpy(p.image[0], row, sizeof row);
    problem_solve(&p);
    assert_memory_equal(p.image[1], want[exclusive], sizeof row);
    problem_close(&p);
  }
}

/* NaN is passed over; nothing at all is -inf. */
static void test_running_maxima(void **state) {
  (void)state;
  static const float row[] = {NAN, 2, -5, NAN, 7, 3, INFINITY, 1};
  static const float want[] = {-INFINITY, -INFINITY, 2, 2, 2, 7, 7, INFINITY};
  problem p;
  open_problem(&p, "f32", NULL, true, SCT_REDUCE_MAX, 1, SCT_COUNT(row));
  memcpy(p.image[0], row, sizeof row);
  problem_solve(&p);
  assert_memory_equal(p.image[1], want, sizeof want);
  problem_close(&p);
}

static void test_halves_are_rounded_where_they_are_stored(void **state) {
  (void)state;
  problem p;
  open_problem(&p, "bf16", NULL, false, SCT_REDUCE_SUM, 1, 1000);
  for (int k = 0; k < 1000; k++) {
    sct_data_put_float(p.image[0] + 2 * k, SCT_TYPE_BF16, 1);
  }
  problem_solve(&p);
  assert_true(sct_data_float(SCT_TYPE_BF16, p.image[1] + 2 * 999) == 1000); /* not 256 */
  problem_close(&p);
}

/* ---- verification ---- */

/* A thread a row of n columns, but for what the name says; 64 threads a block. */
static const char *const cuda_text =
    "#define SCAN(name, T, start, body) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const T *a, T *o, long long rows, long long n) { \\\n"
    "  const long long row = blockIdx.x * 64LL + threadIdx.x; \\\n"
    "  if (row >= rows) return; a += row * n; o += row * n; \\\n"
    "  T s = start; for (int k = 0; k < n; k++) { body; } }\n"
    "SCAN(sums, float, 0, s += a[k]; o[k] = s)\n"
    "SCAN(without_itself, float, 0, o[k] = s; s += a[k])\n"
    "SCAN(anew_at_tiles, float, 0, s = k % 4096 ? s : 0; s += a[k]; o[k] = s)\n"
    "SCAN(first_twice, float, n > 0 ? a[0] : 0, s += a[k]; o[k] = s)\n"
    "SCAN(tile_twice, float, 0, s += a[k]; if (k == 4095) s += a[k]; o[k] = s)\n"
    "SCAN(one_lost, float, 0, s += k == 4096 ? 0 : a[k]; o[k] = s)\n"
    "SCAN(last_not_written, float, 0, s += a[k]; if (k + 1 < n || n < 33) o[k] = s)\n"
    "SCAN(of_absolutes, float, 0, s += fabsf(a[k]); o[k] = s)\n"
    "SCAN(by_pairs, float, 0, if (k % 2 == 0) { o[k] = s + a[k];\n"
    "  const float two = a[k] + (k + 1 < n ? a[k + 1] : 0); s += two; } else o[k] = s)\n"
    "SCAN(wraps, unsigned int, 0, s += a[k]; o[k] = s)\n"
    "SCAN(wraps_but_one, unsigned int, 0, s += a[k] + (k == 8999); o[k] = s)\n"
    "#define LOWEST -__int_as_float(0x7f800000)\n"
    "SCAN(products, float, 1, s *= a[k]; o[k] = s)\n"
    "SCAN(products_anew, float, 1, s = k % 4096 ? s : 1; s *= a[k]; o[k] = s)\n"
    "SCAN(products_but_one, float, 1, s *= k == 4096 ? 1 : a[k]; o[k] = s)\n"
    "SCAN(maxima, float, LOWEST, s = fmaxf(s, a[k]); o[k] = s)\n"
    "SCAN(maxima_from_zero, float, 0, s = fmaxf(s, a[k]); o[k] = s)\n"
    "SCAN(maxima_with_nan, float, LOWEST, s = a[k] > s || a[k] != a[k] ? a[k] : s; o[k] = s)\n";

static sct_verdict verify(const char *type, sct_reduce scan, const char *body, const char *naive,
                          const char *entry) {
  const fixture_array arrays[] = {{.name = "a", .types = type},
                                  {.name = "o", .types = type, .scan = scan}};
  return described_verify_rows(arrays, body, naive, entry);
}

static void test_wrong_sums_are_found(void **state) {
  (void)state;
  static const struct {
    const char *type;
    sct_reduce scan;
    const char *body, *naive, *kernel;
    sct_outcome_kind outcome;
  } cases[] = {
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "by_pairs", SCT_OUT_OK},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "without_itself", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "anew_at_tiles", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "first_twice", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "tile_twice", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "one_lost", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "last_not_written", SCT_OUT_NOT_WRITTEN},
      {"f32", SCT_REDUCE_SUM, "o = a;", "sums", "of_absolutes", SCT_OUT_WRONG_RESULT},
      {"u32", SCT_REDUCE_SUM, "o = a;", "wraps", "wraps", SCT_OUT_OK},
      {"u32", SCT_REDUCE_SUM, "o = a;", "wraps", "wraps_but_one", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_PRODUCT, "o = a;", "products", "products", SCT_OUT_OK},
      {"f32", SCT_REDUCE_PRODUCT, "o = a;", "products", "products_anew", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_PRODUCT, "o = a;", "products", "products_but_one", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_MAX, "o = a;", "maxima", "maxima", SCT_OUT_OK},
      {"f32", SCT_REDUCE_MAX, "o = a;", "maxima", "maxima_from_zero", SCT_OUT_WRONG_RESULT},
      {"f32", SCT_REDUCE_MAX, "o = a;", "maxima", "maxima_with_nan", SCT_OUT_WRONG_RESULT},
      /* a body that computes is held against the naive variant */
      {"f32", SCT_REDUCE_SUM, "o = 1 * a;", "sums", "by_pairs", SCT_OUT_OK},
      {"f32", SCT_REDUCE_SUM, "o = 1 * a;", "sums", "tile_twice", SCT_OUT_WRONG_RESULT},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    described_expect(
        verify(cases[k].type, cases[k].scan, cases[k].body, cases[k].naive, cases[k].kernel),
        cases[k].kernel, cases[k].outcome, "");
  }
}

/* The naive variant of a body that only moves is held against the host. */
static void test_a_wrong_naive_variant_is_found(void **state) {
  (void)state;
  const sct_verdict v = verify("f32", SCT_REDUCE_SUM, "o = a;", "tile_twice", "tile_twice");
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_running_sums_of_integers),
      cmocka_unit_test(test_where_running_maxima_are),
      cmocka_unit_test(test_running_maxima),
      cmocka_unit_test(test_halves_are_rounded_where_they_are_stored),
      cmocka_unit_test(test_wrong_sums_are_found),
      cmocka_unit_test(test_a_wrong_naive_variant_is_found),
  };
  return described_run(cuda_text, "scan.cu", tests, SCT_COUNT(tests));
}
