/* match: over any subset of a warp, against loops over its lanes; and the fences there are. */
#include "ptx_kernel.h"

/* %d1 holds the input; the lanes of `mask` run `body`, whose results are %r2 and %r3. */
static sct_ptx_kind run_match(const char *body, uint32_t mask, const uint64_t in[32],
                              uint32_t out[64]) {
  sct_str text = {0};
  sct_str_printf(&text,
                 "%sadd.s64 %%d2, %%pi, %%o; ld.global.u64 %%d1, [%%d2]; cvt.u32.u64 %%r1, %%d1;\n"
                 "mov.u32 %%r9, %u; mov.u32 %%r2, 77; mov.u32 %%r3, 77;\n"
                 "shr.u32 %%r8, %%r9, %%i; and.b32 %%r8, %%r8, 1;\n"
                 "setp.eq.u32 %%p2, %%r8, 0; @%%p2 bra END;\n%s\n"
                 "END: st.global.u32 [%%po], %%r2; st.global.u32 [%%po+128], %%r3; ret;\n}\n",
                 PTX_KERNEL, mask, body);
  const kernel_run r = {.blocks = 1, .threads = 32, .in = in, .in_bytes = 256, .out_bytes = 256};
  const sct_ptx_kind kind = run_kernel(sct_str_c(&text), &r, out, NULL);
  sct_str_free(&text);
  return kind;
}

static uint32_t equal_lanes(const uint64_t in[32], uint32_t mask, int lane, bool wide) {
  uint32_t same = 0;
  for (int k = 0; k < 32; k++) {
    const uint64_t differ = in[k] ^ in[lane];
    same |= (uint32_t)((wide ? differ : (uint32_t)differ) == 0) << k;
  }
  return same & mask;
}

static void any_subset(void **state) {
  (void)state;
  static const struct {
    const char *body;
    bool all, wide, pred;
  } cases[] = {
      {"match.any.sync.b32 %r2, %r1, %r9;", false, false, false},
      {"match.any.sync.b64 %r2, %d1, %r9;", false, true, false},
      {"match.all.sync.b32 %r2, %r1, %r9;", true, false, false},
      {"match.all.sync.b32 %r2|%p3, %r1, %r9; selp.u32 %r3, 1, 0, %p3;", true, false, true},
      {"match.all.sync.b64 %r2|%p3, %d1, %r9; selp.u32 %r3, 1, 0, %p3;", true, true, true},
      {"mov.u32 %r2, %r1; match.all.sync.b32 %r2|%p3, %r2, %r9; selp.u32 %r3, 1, 0, %p3;", true,
       false, true},
      {"mov.u32 %r2, %r9; match.any.sync.b32 %r2, %r1, %r2;", false, false, false},
  };
  const uint64_t seed = 211;
  sct_rng rng = sct_rng_new(seed);
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int round = 0; round < 24; round++) {
    const uint32_t random = (uint32_t)sct_rng_u64(&rng);
    const uint32_t mask = round < 6 ? UINT32_MAX : round < 8 ? 1u << 3 * round : random | 1;
    uint64_t in[32];
    uint32_t out[64];
    for (int i = 0; i < 32; i++) { /* equal in all, in the lower half only, few values, any */
      const uint64_t v = sct_rng_below(&rng, 3);
      in[i] = round % 4 == 0 ? 5 : round % 4 == 1 ? 5 | v << 32 : round % 4 == 2 ? v : v << 31 | v;
    }
    for (int k = 0; k < SCT_COUNT(cases); k++) {
      assert_int_equal(run_match(cases[k].body, mask, in, out), SCT_PTX_CLEAN);
      for (int i = 0; i < 32; i++) {
        const uint32_t same = equal_lanes(in, mask, i, cases[k].wide);
        const bool here = mask >> i & 1;
        const uint32_t want = !here ? 77 : !cases[k].all || same == mask ? same : 0;
        const uint32_t want_pred = here && cases[k].pred ? same == mask : 77;
        if (out[i] != want || out[32 + i] != want_pred) {
          fail_msg("%s of 0x%x: lane %d has 0x%x and %u, not 0x%x and %u", cases[k].body, mask, i,
                   out[i], out[32 + i], want, want_pred);
        }
      }
    }
  }
}

static void absent_and_undefined_lanes(void **state) {
  (void)state;
  uint64_t in[32] = {0};
  uint32_t out[64];
  assert_int_equal(run_match("match.any.sync.b32 %r2, %r1, -1;", 0xff, in, out),
                   SCT_PTX_ABSENT_LANE);
  assert_int_equal(run_match("match.all.sync.b32 %r2, %r1, 0xfe;", 0xff, in, out),
                   SCT_PTX_ABSENT_LANE);
  /* %r20 is set in the upper lanes only; they ask among themselves */
  static const char head[] = "setp.gt.u32 %%p4, %%i, 15; @%%p4 mov.u32 %%r20, 1;\n"
                             "selp.b32 %%r21, 0xffff0000, 0x0000ffff, %%p4;\n%s";
  static const struct {
    const char *body;
    sct_ptx_kind kind;
  } cases[] = {
      {"match.any.sync.b32 %r22, %r20, %r21; @%p4 mov.u32 %r2, %r22;", SCT_PTX_CLEAN},
      {"match.any.sync.b32 %r2, %r20, %r21;", SCT_PTX_UNDEFINED_STORE},
      {"match.all.sync.b32 %r22|%p3, %r20, %r21; selp.u32 %r3, 1, 0, %p3;",
       SCT_PTX_UNDEFINED_STORE},
      {"match.all.sync.b32 %r22|%p3, %r20, %r21; @%p3 mov.u32 %r3, 1;", SCT_PTX_UNDEFINED_BRANCH}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char body[512];
    snprintf(body, sizeof body, head, cases[k].body);
    if (run_match(body, UINT32_MAX, in, out) != cases[k].kind) {
      fail_msg("%s", cases[k].body);
    }
  }
  assert_int_equal(run_match("match.any.sync.b32 %r2, %r1, -1;", UINT32_MAX, in, out),
                   SCT_PTX_CLEAN);
}

static void forms_as_ptxas_takes_them(void **state) {
  (void)state;
  static const struct {
    const char *text; /* S stands for every scope */
    bool legal;
  } cases[] = {
      {"match.any.sync.b32 %r1|%p1, %r2, -1", false},
      {"match.any.b32 %r1, %r2, -1", false},
      {"match.all.sync.u32 %r1, %r2, -1", false},
      {"match.all.sync.b32 %r1|%r3, %r2, -1", false},
      {"match.all.sync.b32 _|%p1, %r2, -1", true},
      {"membar.cta", true},
      {"membar.gl", true},
      {"membar.sys", true},
      {"membar.proxy.alias", true},
      {"membar.gpu", false},
      {"membar.proxy.async", false},
      {"membar", false},
      {"fence.S", true},
      {"fence.sc.S", true},
      {"fence.acq_rel.S", true},
      {"fence.acquire.S", true},
      {"fence.release.S", true},
      {"fence.proxy.tensormap::generic.release.S", true},
      {"fence.proxy.tensormap::generic.acquire.S [%po], 128", true},
      {"fence.proxy.tensormap::generic.acquire.S", false},
      {"fence.proxy.tensormap::generic.acq_rel.S", false},
      {"fence.relaxed.S", false},
      {"fence", false},
      {"fence.sc", false},
      {"fence.gl", false},
      {"fence.acq_rel", false},
      {"fence.acq_rel.gpu %r1", false},
      {"fence.acq_rel.gpu.cta", false},
      {"fence.gpu.acq_rel", false},
      {"fence.proxy.alias", true},
      {"fence.proxy.async", true},
      {"fence.proxy.async.global", true},
      {"fence.proxy.async.shared::cta", true},
      {"fence.proxy.async.shared::cluster", true},
      {"fence.proxy.async.shared", false},
      {"fence.proxy.generic", false},
      {"fence.proxy.async.gpu", false},
      {"fence.mbarrier_init.release.cluster", true},
      {"fence.mbarrier_init.release.cta", false},
      {"fence.mbarrier_init", false},
      {"fence.acquire.sync_restrict::shared::cluster.cluster", true},
      {"fence.release.sync_restrict::shared::cta.cluster", true},
      {"fence.acq_rel.sync_restrict::shared::cta.cluster", false},
      {"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", true},
      {"fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", true},
      {"fence.proxy.async::generic.acquire.sync_restrict::shared::cta.cluster", false},
  };
  static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
  for (int k = 0; k < SCT_COUNT(cases) * 4; k++) {
    const char *given = cases[k / 4].text, *at = strstr(given, ".S");
    sct_error err = {0};
    sct_ptx_module *module = NULL;
    sct_str text = {0};
    sct_str_printf(&text, "%s%.*s%s%s%s; ret;\n}\n", PTX_KERNEL,
                   at != NULL ? (int)(at - given) : (int)strlen(given), given, at ? "." : "",
                   at ? scopes[k % 4] : "", at ? at + 2 : "");
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "kernel.ptx", &err), SCT_OK);
    const char *error = sct_ptx_kernel_at(module, 0)->error;
    if ((error == NULL) != cases[k / 4].legal) {
      fail_msg("%s (%s): %s", given, scopes[k % 4], error != NULL ? error : "was taken");
    }
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_subset),
                                     cmocka_unit_test(absent_and_undefined_lanes),
                                     cmocka_unit_test(forms_as_ptxas_takes_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
