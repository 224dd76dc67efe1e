/* Kernels of CUDA text on a described device: its virtual GPU runs their PTX. */
#ifndef SCT_TESTS_MEASURE_DESCRIBED_H
#define SCT_TESTS_MEASURE_DESCRIBED_H

#include "measure_fixture.h"
#include "nvrtc_text.h"

static const sct_device_desc described = {.name = "Described",
                                          .id = "virtual:test",
                                          .cc_major = 9,
                                          .n_sms = 4,
                                          .smem_block_bytes = 49152,
                                          .smem_block_optin_bytes = 232448,
                                          .threads_block = 1024,
                                          .is_virtual = true};
static const int first_layout[SCT_MAX_OPERANDS];
static char *ptx; /* of all kernels of the test */

/* The kernel `entry`, launched as `code` says. */
static inline sct_verdict described_verify(sct_measure *m, sct_kernel_code *code,
                                           const char *entry) {
  const sct_binary binary = {.code = code, .entry = entry, .ptx = ptx};
  sct_verdict v;
  assert_ok(sct_measure_verify(m, &binary, &v, &fixture_err));
  return v;
}

static inline void described_expect(sct_verdict v, const char *kernel, sct_outcome_kind outcome,
                                    const char *says) {
  if (v.outcome != outcome || !strstr(v.detail, says)) {
    fail_msg("%s: %s: %s", kernel, sct_outcome_name(v.outcome), v.detail);
  }
}

/* The kernel `entry` against `naive`: both take a row of (row, col) a thread, in blocks of 64. */
static inline sct_verdict described_verify_rows(const fixture_array arrays[2], const char *body,
                                                const char *naive, const char *entry) {
  const sct_measure_opts opts = {.seed = 11, .described = &described};
  const int64_t extents[] = {100, 100};
  sct_spec spec;
  sct_measure *m = NULL;
  fixture_spec(&spec, "row col", arrays, 1, 2, NULL, body, extents);
  sct_kernel_code code = {.threads = 64};
  sct_expr_pool *pool = spec.pool;
  code.grid = sct_expr_div(pool, sct_expr_add(pool, spec.extent_var[0], sct_expr_const(pool, 63)),
                           sct_expr_const(pool, 64));
  sct_kernel_code other = code;
  const sct_binary first = {.code = &code, .entry = naive, .ptx = ptx};
  assert_ok(sct_measure_open(&m, 0, &opts, &fixture_err));
  assert_ok(sct_measure_problem(m, &spec, first_layout, &first, &fixture_err));
  const sct_verdict v = described_verify(m, &other, entry);
  sct_measure_close(m);
  sct_spec_free(&spec);
  return v;
}

/* Compiles the test's kernels and runs its tests: what main() returns. 77: there is no NVRTC. */
static inline int described_run(const char *cuda, const char *file, const struct CMUnitTest *tests,
                                size_t n) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  ptx = nvrtc_ptx(cuda, file, "compute_90", NULL);
  const int failed = ptx ? _cmocka_run_group_tests("tests", tests, n, NULL, NULL) : 1;
  free(ptx);
  return failed;
}

#endif
