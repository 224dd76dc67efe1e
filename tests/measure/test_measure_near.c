/* The worker's kernel that compares values within a tolerance, on the virtual GPU, against the same
 * comparison in C: every kind, hostile values, fewer values than threads and more. */
#include "measure_fixture.h"

#include "measure/measure_data.h"
#include "ptx/ptx.h"
#include "worker/worker.h"
#include "worker/worker_backend.h"

#include <math.h>

enum { MOST = 700, THREADS = 64, BLOCKS = 3 };
static const struct {
  sct_type type;
  int kind, bytes;
} kinds[] = {{SCT_TYPE_F16, SCT_NEAR_F16, 2},
             {SCT_TYPE_BF16, SCT_NEAR_BF16, 2},
             {SCT_TYPE_F32, SCT_NEAR_F32, 4},
             {SCT_TYPE_F64, SCT_NEAR_F64, 8}};

static int64_t far_by_kernel(const sct_ptx_module *module, int kind, const uint8_t *a,
                             const uint8_t *b, int64_t n, double tolerance, double usual) {
  const int64_t bytes = n * kinds[kind].bytes, none = 0;
  const sct_ptx_buffer buffers[] = {
      {.name = "a", .bytes = bytes, .data = a, .read_only = true},
      {.name = "b", .bytes = bytes, .data = b, .read_only = true},
      {.name = "result", .bytes = 8, .data = &none},
  };
  uint64_t at[3];
  sct_ptx_memory *memory = NULL;
  sct_ptx_memory_new(&memory);
  for (int k = 0; k < 3; k++) {
    assert_ok(sct_ptx_memory_add(memory, &at[k], &buffers[k], &fixture_err));
  }
  const void *args[] = {&at[0], &at[1], &n, &kinds[kind].kind, &tolerance, &usual, &at[2]};
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = "sct_near",
                                    .grid = {BLOCKS, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .args = args,
                                    .n_args = SCT_COUNT(args)};
  sct_ptx_result result;
  assert_ok(sct_ptx_launch(&result, memory, &opts, &fixture_err));
  assert_string_equal(result.diag.text, "");
  int64_t far;
  memcpy(&far, sct_ptx_memory_data(memory, at[2]), sizeof far);
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
  return far;
}

static int64_t far_in_c(int kind, const uint8_t *a, const uint8_t *b, int64_t n, double tolerance,
                        double usual) {
  int64_t far = 0;
  for (int64_t k = 0; k < n; k++) {
    const double x = sct_data_float(kinds[kind].type, a + k * kinds[kind].bytes);
    const double y = sct_data_float(kinds[kind].type, b + k * kinds[kind].bytes);
    const bool both = isfinite(x) && isfinite(y);
    far += !(x == y || (both && fabs(x - y) <= tolerance * fmax(fabs(y), usual)));
  }
  return far;
}

/* Values of any bits, and pairs that are a few units in the last place apart. */
static void draw(int kind, uint8_t *a, uint8_t *b, int64_t n, uint64_t seed) {
  const int bytes = kinds[kind].bytes;
  for (int64_t k = 0; k < n; k++) {
    const uint64_t bits = sct_mix64(seed, (uint64_t)k);
    const uint64_t apart = k % 3 == 0 ? bits >> 7 : bits % 8 == 0 ? 0 : bits >> (k % 40 + 20);
    const uint64_t other = bits ^ apart;
    memcpy(a + k * bytes, &bits, (size_t)bytes);
    memcpy(b + k * bytes, &other, (size_t)bytes);
  }
}

static void counts_what_c_counts(void **state) {
  (void)state;
  static const double tolerances[] = {1e-6, 1e-3, 0.5}, usuals[] = {0, 1e-30, 3.0, 1e30};
  static const int64_t lengths[] = {1, 63, 64, 193, MOST};
  sct_str text = {0};
  sct_ptx_module *module = NULL;
  sct_worker_ptx(&text);
  assert_ok(sct_ptx_parse(&module, sct_str_c(&text), "worker.ptx", &fixture_err));
  uint8_t a[8 * MOST], b[8 * MOST];
  int64_t some = 0, all = 0;
  for (int kind = 0; kind < SCT_COUNT(kinds); kind++) {
    for (int k = 0; k < SCT_COUNT(lengths) * SCT_COUNT(tolerances) * SCT_COUNT(usuals); k++) {
      const int64_t n = lengths[k % SCT_COUNT(lengths)];
      const double tolerance = tolerances[k / SCT_COUNT(lengths) % SCT_COUNT(tolerances)];
      const double usual = usuals[k / (SCT_COUNT(lengths) * SCT_COUNT(tolerances))];
      draw(kind, a, b, n, (uint64_t)(k + 100 * kind));
      const int64_t want = far_in_c(kind, a, b, n, tolerance, usual);
      assert_int_equal(far_by_kernel(module, kind, a, b, n, tolerance, usual), want);
      some += want;
      all += n;
    }
  }
  assert_in_range(some, all / 10, all - all / 10); /* both answers are common */
  sct_ptx_module_free(module);
  sct_str_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(counts_what_c_counts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
