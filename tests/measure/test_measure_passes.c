/* Means, variances, products and sums of exponentials: what outputs must hold, computed here by
 * several passes, and kernels that take one or two and are wrong in small ways. */
#include "measure_described.h"
#include "measure_problem.h"

#include <math.h>

/* ---- what the host makes of arrays ---- */

static const int64_t lengths[] = {0, 1, 2, 31, 32, 33, 100};

/* By several passes, in doubles. */
static double by_passes(sct_reduce reduce, const double *a, int64_t n) {
  double sum = 0, product = 1, squares = 0, highest = -INFINITY, exponentials = 0;
  for (int64_t k = 0; k < n; k++) {
    sum += a[k];
    product *= a[k];
    highest = fmax(highest, a[k]);
  }
  for (int64_t k = 0; k < n; k++) {
    squares += (a[k] - sum / (double)n) * (a[k] - sum / (double)n);
    exponentials += isinf(highest) && a[k] == highest ? 1 : exp(a[k] - highest);
  }
  return reduce == SCT_REDUCE_PRODUCT     ? product
         : reduce == SCT_REDUCE_MEAN      ? sum / (double)n
         : reduce == SCT_REDUCE_VARIANCE  ? squares / (double)n
         : reduce == SCT_REDUCE_LOGSUMEXP ? highest + log(exponentials)
                                          : exponentials;
}

/* Also far from 0, of one value, infinite ones and none. */
static void test_what_takes_several_passes(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(lengths) * 5 * 5; k++) {
    const int64_t n = lengths[k % SCT_COUNT(lengths)];
    const sct_reduce reduce = (sct_reduce)(SCT_REDUCE_PRODUCT + k / SCT_COUNT(lengths) % 5);
    const int kind = k / SCT_COUNT(lengths) / 5;
    problem p;
    double got = 0;
    const fixture_array arrays[] = {{.name = "a", .types = "f64"},
                                    {.name = "t", .types = "f64", .dims = "row", .reduce = reduce}};
    problem_open(&p, arrays, "t = a;", 1, n);
    double *a = (double *)(void *)p.image[0];
    for (int64_t col = 0; col < n; col++) {
      const double some = (double)(col * 7 % 11) / 8 - 0.5;
      const double values[] = {some + 0.75, 1e6 + some, 3, col == n / 2 ? INFINITY : some,
                               -INFINITY};
      a[col] = values[kind];
    }
    problem_solve(&p);
    memcpy(&got, p.image[1], 8);
    const double want = by_passes(reduce, a, n);
    const bool same = got == want || (isnan(got) && isnan(want));
    assert_true(same || fabs(got - want) <= 1e-9 * fabs(want));
    problem_close(&p);
  }
}

/* ---- verification ---- */

/* A thread a row of n columns, but for what the name says; 64 threads a block. */
static const char *const cuda_text =
    "#define KERNEL(name, T) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const T *a, T *t, long long rows, long long n) { \\\n"
    "  const long long row = blockIdx.x * 64LL + threadIdx.x; \\\n"
    "  if (row >= rows) return; a += row * n;\n"
    "#define LOWEST -__int_as_float(0x7f800000)\n"
    "#define UP for (int k = 0; k < n; k++)\n"
    "KERNEL(sum, float) float s = 0; UP s += a[k]; t[row] = s; }\n"
    "KERNEL(mean, float) float s = 0; UP s += a[k]; t[row] = s / n; }\n"
    "KERNEL(mean_of_some, float) float s = 0; UP s += a[k]; t[row] = s / max(n, 1LL); }\n"
    "#define SQUARES float m = 0, q = 0; UP m += a[k]; m /= n; UP q += (a[k] - m) * (a[k] - m);\n"
    "KERNEL(variance, float) SQUARES t[row] = q / n; }\n"
    "KERNEL(unbiased, float) SQUARES t[row] = q / (n - 1); }\n"
    "KERNEL(welford, float) float m = 0, q = 0; UP { const float d = a[k] - m;\n"
    "  m += d / (k + 1); q += d * (a[k] - m); } t[row] = q / n; }\n"
    "KERNEL(of_squares, float) float s = 0, q = 0; UP s += a[k], q += a[k] * a[k];\n"
    "  t[row] = q / n - s / n * (s / n); }\n"
    "#define LOG(name, same, above) KERNEL(name, float) float m = LOWEST, s = 0; \\\n"
    "  UP { const float e = same expf(-fabsf(a[k] - m)); if (m < a[k]) { s = above; m = a[k]; } "
    "\\\n"
    "    else s += e; } t[row] = m + logf(s); }\n"
    "LOG(online, a[k] == m ? 1 :, s * e + 1)\n"
    "LOG(inf_less_inf, , s * e + 1)\n"
    "LOG(not_scaled, a[k] == m ? 1 :, s + 1)\n"
    "KERNEL(not_shifted, float) float s = 0; UP s += expf(a[k]); t[row] = logf(s); }\n"
    "KERNEL(product, float) float s = 1; UP s *= a[k]; t[row] = s; }\n"
    "KERNEL(product_back, float) float s = 1; for (int k = n - 1; k >= 0; k--) s *= a[k];\n"
    "  t[row] = s; }\n"
    "KERNEL(product_but_one, float) float s = 1; for (int k = 0; k < n - (n > 5000); k++)\n"
    "  s *= a[k]; t[row] = s; }\n"
    "KERNEL(whole, int) int s = 1; UP s *= a[k]; t[row] = s; }\n"
    "KERNEL(whole_but_last, int) int s = 1; for (int k = 0; k < n - (n > 9000); k++) s *= a[k];\n"
    "  t[row] = s; }\n";

/* One pass or two, and what each may do wrong. */
static void test_wrong_passes_are_found(void **state) {
  (void)state;
  static const struct {
    const char *type;
    sct_reduce reduce;
    const char *body, *naive, *kernel;
    sct_outcome_kind outcome;
    const char *says;
  } cases[] = {
      {"f32", SCT_REDUCE_MEAN, "t = a;", "mean", "mean", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_MEAN, "t = a;", "mean", "sum", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_MEAN, "t = a;", "mean", "mean_of_some", SCT_OUT_WRONG_RESULT, "n_col=0"},
      {"f32", SCT_REDUCE_VARIANCE, "t = a;", "variance", "variance", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_VARIANCE, "t = a;", "variance", "welford", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_VARIANCE, "t = 1 * a;", "variance", "welford", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_VARIANCE, "t = a;", "variance", "of_squares", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_VARIANCE, "t = a;", "variance", "unbiased", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_LOGSUMEXP, "t = a;", "online", "online", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_LOGSUMEXP, "t = a;", "online", "not_shifted", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_LOGSUMEXP, "t = a;", "online", "not_scaled", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_LOGSUMEXP, "t = a;", "online", "inf_less_inf", SCT_OUT_WRONG_RESULT, ""},
      {"f32", SCT_REDUCE_PRODUCT, "t = a;", "product", "product_back", SCT_OUT_OK, ""},
      {"f32", SCT_REDUCE_PRODUCT, "t = a;", "product", "product_but_one", SCT_OUT_WRONG_RESULT, ""},
      {"i32", SCT_REDUCE_PRODUCT, "t = a;", "whole", "whole", SCT_OUT_OK, ""},
      {"i32", SCT_REDUCE_PRODUCT, "t = a;", "whole", "whole_but_last", SCT_OUT_WRONG_RESULT, ""},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const fixture_array arrays[] = {
        {.name = "a", .types = cases[k].type},
        {.name = "t", .types = cases[k].type, .dims = "row", .reduce = cases[k].reduce}};
    described_expect(described_verify_rows(arrays, cases[k].body, cases[k].naive, cases[k].kernel),
                     cases[k].kernel, cases[k].outcome, cases[k].says);
  }
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_takes_several_passes),
      cmocka_unit_test(test_wrong_passes_are_found),
  };
  return described_run(cuda_text, "passes.cu", tests, SCT_COUNT(tests));
}
