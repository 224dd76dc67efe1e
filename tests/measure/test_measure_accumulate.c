/* Accumulated outputs: what points bring is combined on the host as well, so the naive variant has
 * a reference of its own, and what a kernel loses or counts twice is found. */
#include "measure_described.h"

#include <math.h>

/* 64 threads a block, one point each; the output has at most 4096 elements where shared memory
 * holds it. TAKE(part): what a block does with its points, which k and v describe. */
static const char *const cuda_text =
    "#define KERNEL(name, T) extern \"C\" __global__ void __launch_bounds__(64) \\\n"
    "  name(const int *key, const T *x, T *o, long long n, long long m)\n"
    "#define I const int t = threadIdx.x; const long long i = blockIdx.x * 64LL + t; (void)t;\n"
    "#define K key[i]\n"
    "KERNEL(add, unsigned) { I if (i < n) atomicAdd(&o[K], x[i]); }\n"
    "KERNEL(not_atomic, unsigned) { I if (i < n) o[K] += x[i]; }\n"
    "KERNEL(stored, unsigned) { I if (i < n) o[K] = x[i]; }\n"
    "KERNEL(last_lost, unsigned) { I if (i < n - 1) atomicAdd(&o[K], x[i]); }\n"
    "KERNEL(tail_lost, unsigned) { I if (i < n / 32 * 32) atomicAdd(&o[K], x[i]); }\n"
    "KERNEL(twice, unsigned) { I if (i < n) { atomicAdd(&o[K], x[i]);\n"
    "  if (i == n - 1) atomicAdd(&o[K], x[i]); } }\n"
    "KERNEL(next_element, unsigned) { I if (i < n) atomicAdd(&o[(K + 1) % m], x[i]); }\n"
    "KERNEL(another_point, unsigned) { I if (i < n) atomicAdd(&o[K], x[n - 1 - i]); }\n"
    "KERNEL(nothing, unsigned) { }\n"
    "KERNEL(first_of_warp, unsigned) { I const int k = i < n ? K : -1;\n"
    "  const unsigned same = __match_any_sync(~0u, k);\n"
    "  if (i < n && t % 32 == __ffs(same) - 1) atomicAdd(&o[k], x[i]); }\n"
    /* in shared memory first: FIRST is where each element begins, MEET what comes before points */
    "#define PRIVATE(name, T, OP, FIRST, MEET, MERGE) \\\n"
    "  KERNEL(name, T) { I __shared__ T s[4096]; \\\n"
    "    for (int b = t; b < m; b += 64) s[b] = FIRST; \\\n"
    "    MEET; if (i < n) OP(&s[K], x[i]); __syncthreads(); \\\n"
    "    for (int b = t; b < m; b += 64) MERGE; }\n"
    "#define SYNC __syncthreads()\n"
    "PRIVATE(private_add, unsigned, atomicAdd, 0, SYNC, atomicAdd(&o[b], s[b]))\n"
    "PRIVATE(begins_at_one, unsigned, atomicAdd, 1, SYNC, atomicAdd(&o[b], s[b]))\n"
    "PRIVATE(merged_by_stores, unsigned, atomicAdd, 0, SYNC, o[b] = s[b])\n"
    "PRIVATE(merged_twice, unsigned, atomicAdd, 0, SYNC, atomicAdd(&o[b], 2 * s[b]))\n"
    "PRIVATE(first_not_merged, unsigned, atomicAdd, 0, SYNC, if (b) atomicAdd(&o[b], s[b]))\n"
    "PRIVATE(no_barrier, unsigned, atomicAdd, 0, (void)0, atomicAdd(&o[b], s[b]))\n"
    "#define LOWEST (-2147483647 - 1)\n"
    "KERNEL(most, int) { I if (i < n) atomicMax(&o[K], x[i]); }\n"
    "PRIVATE(private_most, int, atomicMax, LOWEST, SYNC, atomicMax(&o[b], s[b]))\n"
    "PRIVATE(most_from_zero, int, atomicMax, 0, SYNC, atomicMax(&o[b], s[b]))\n"
    "PRIVATE(most_from_above_lowest, int, atomicMax, -1000, SYNC, atomicMax(&o[b], s[b]))\n"
    "KERNEL(most_without_sign, int) { I if (i < n)\n"
    "  atomicMax((unsigned *)&o[K], (unsigned)x[i]); }\n"
    "KERNEL(least_instead, int) { I if (i < n) atomicMin(&o[K], x[i]); }\n"
    "KERNEL(sum, float) { I if (i < n) atomicAdd(&o[K], x[i]); }\n"
    "PRIVATE(private_sum, float, atomicAdd, 0, SYNC, atomicAdd(&o[b], s[b]))\n"
    "KERNEL(sum_not_atomic, float) { I if (i < n) o[K] += x[i]; }\n"
    "KERNEL(sum_loses_last, float) { I if (i < n - 1) atomicAdd(&o[K], x[i]); }\n"
    "KERNEL(sum_of_absolutes, float) { I if (i < n) atomicAdd(&o[K], fabsf(x[i])); }\n"
    "PRIVATE(sum_forgets, float, atomicAdd, 0, SYNC, o[b] = s[b])\n"
    "KERNEL(any_bit, unsigned) { I if (i < n) atomicOr(&o[K], x[i]); }\n"
    "KERNEL(any_bit_by_xor, unsigned) { I if (i < n) atomicXor(&o[K], x[i]); }\n";

typedef struct world {
  sct_spec spec;
  sct_measure *m;
  fixture_kernel kernel;
} world;

static void open_world(world *w, const char *type, sct_reduce how, bool inout, const char *body,
                       const char *naive) {
  const fixture_array arrays[] = {
      {.name = "key", .types = "i32"},
      {.name = "x", .types = type},
      {.name = "o", .types = type, .dims = "m", .at = "key", .inout = inout, .accumulate = how}};
  static const int64_t extents[] = {20000, 100};
  const sct_measure_opts opts = {.seed = 5, .described = &described};
  memset(w, 0, sizeof *w);
  fixture_spec(&w->spec, "i", arrays, 2, 3, NULL, body, extents);
  fixture_kernel_init(&w->kernel, &w->spec, 0, 64);
  w->kernel.code.require = w->kernel.require; /* what the kernels' shared memory holds */
  w->kernel.code.n_require = 1;
  w->kernel.require[0] = sct_expr_binary(w->spec.pool, SCT_EXPR_LE, w->spec.extent_var[1],
                                         sct_expr_const(w->spec.pool, 4096));
  w->kernel.binary = (sct_binary){.code = &w->kernel.code, .entry = naive, .ptx = ptx};
  assert_ok(sct_measure_open(&w->m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(w->m, &w->spec, first_layout, &w->kernel.binary, &fixture_err));
}

static void close_world(world *w) {
  sct_measure_close(w->m);
  sct_spec_free(&w->spec);
}

static sct_verdict verify(world *w, const char *entry) {
  return described_verify(w->m, &w->kernel.code, entry);
}

static void expect(world *w, const char *const *kernels, sct_outcome_kind outcome) {
  for (int k = 0; kernels[k]; k++) {
    described_expect(verify(w, kernels[k]), kernels[k], outcome, "");
  }
}

static void test_sums_of_integers(void **state) {
  (void)state;
  static const char *const right[] = {"add", "private_add", NULL};
  static const char *const wrong[] = {
      "last_lost", "tail_lost",     "twice",        "next_element",     "another_point",
      "nothing",   "begins_at_one", "merged_twice", "first_not_merged", "first_of_warp",
      NULL};
  static const char *const races[] = {"stored", "not_atomic", "no_barrier", "merged_by_stores",
                                      NULL};
  world w;
  open_world(&w, "u32", SCT_REDUCE_SUM, false, "o = x;", "add");
  assert_int_equal(w.spec.n_moves, 1);
  expect(&w, right, SCT_OUT_OK);
  expect(&w, wrong, SCT_OUT_WRONG_RESULT);
  expect(&w, races, SCT_OUT_RACE);
  close_world(&w);
}

/* The naive variant is held to what the host adds up, so a wrong one is no reference. */
static void test_the_reference_is_the_hosts(void **state) {
  (void)state;
  static const char *const naive[] = {"twice", "first_of_warp"};
  for (int k = 0; k < SCT_COUNT(naive); k++) {
    world w;
    sct_verdict v;
    open_world(&w, "u32", SCT_REDUCE_SUM, k == 0, "o = x;", naive[k]);
    const sct_binary binary = {.code = &w.kernel.code, .entry = "add", .ptx = ptx};
    assert_int_equal(sct_measure_verify(w.m, &binary, &v, &fixture_err), SCT_ENOTVERIFIED);
    assert_non_null(strstr(fixture_err.text, "the naive variant itself failed"));
    close_world(&w);
  }
}

static void test_maxima_begin_with_what_there_was(void **state) {
  (void)state;
  static const char *const right[] = {"most", "private_most", NULL};
  static const char *const wrong[] = {"most_from_zero", "most_from_above_lowest",
                                      "most_without_sign", "least_instead", NULL};
  world w;
  open_world(&w, "i32", SCT_REDUCE_MAX, true, "o = x;", "most");
  expect(&w, right, SCT_OUT_OK);
  expect(&w, wrong, SCT_OUT_WRONG_RESULT);
  close_world(&w);
}

static void test_sums_of_floats_come_near(void **state) {
  (void)state;
  static const char *const right[] = {"sum", "private_sum", NULL};
  static const char *const wrong[] = {"sum_loses_last", "sum_of_absolutes", "sum_forgets", NULL};
  static const char *const races[] = {"sum_not_atomic", NULL};
  world w;
  open_world(&w, "f32", SCT_REDUCE_SUM, true, "o = x;", "sum");
  const double found = sct_spec_tolerance(&w.spec, 2, &w.spec.sizes[0]);
  assert_true(fabs(found - 4 * 0x1p-24 * sqrt(20000)) < 1e-12);
  expect(&w, right, SCT_OUT_OK);
  expect(&w, wrong, SCT_OUT_WRONG_RESULT);
  expect(&w, races, SCT_OUT_RACE);
  close_world(&w);
}

/* A body that computes: the naive variant is the reference. */
static void test_bits(void **state) {
  (void)state;
  static const char *const right[] = {"any_bit", NULL};
  static const char *const wrong[] = {"any_bit_by_xor", "add", "nothing", NULL};
  world w;
  open_world(&w, "u32", SCT_REDUCE_OR, false, "o = x | 0;", "any_bit");
  assert_int_equal(w.spec.n_moves, 0);
  expect(&w, right, SCT_OUT_OK);
  expect(&w, wrong, SCT_OUT_WRONG_RESULT);
  close_world(&w);
}

int main(int argc, char **argv) {
  FIXTURE_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums_of_integers),
      cmocka_unit_test(test_the_reference_is_the_hosts),
      cmocka_unit_test(test_maxima_begin_with_what_there_was),
      cmocka_unit_test(test_sums_of_floats_come_near),
      cmocka_unit_test(test_bits),
  };
  return described_run(cuda_text, "accumulate.cu", tests, SCT_COUNT(tests));
}
