/* Hints that L2 is to keep what is loaded, or what is stored: candidates of the strategies that
 * have them are right on the virtual device, for values of 1 to 16 bytes; the policy is on that
 * side of global memory only; and devices that know no policies have no such candidates. */
#include "tune_verify.h"

#define LOAD  "ld.global.nc.L2::cache_hint"
#define STORE "st.global.L2::cache_hint"
#define HINT  "L2::cache_hint"

static const struct {
  const char *spec, *label, *with, *without;
} cases[] = {
    {"mixed_aos_to_soa", "vector t128 i1 v1 hkeepin b0", LOAD, STORE},
    {"mixed_aos_to_soa", "vector t128 i1 v1 hkeepout b0", STORE, LOAD},
    {"transpose_f16", "vector t128 i1 v1 hkeepin b0", LOAD, STORE},
    {"transpose_f16", "vector t128 i1 v1 hkeepout b0", STORE, LOAD},
    {"add_const_double3", "flat t128 i1 v2 hkeepin", LOAD, STORE},
    {"add_const_double3", "flat t128 i1 v1 hkeepout", STORE, LOAD},
    {"particle_aos_to_soa", "vector t128 i1 v4 hkeepout b0", STORE, LOAD},
    {"particle_soa_to_aos", "staged t128 i1 in0 out1 swarp fpad hkeepout u0", STORE, LOAD},
    {"particle_aos_to_soa", "staged t128 i1 in1 out0 sblock fpad hkeepin u0", LOAD, STORE},
    {"mixed_aos_to_soa", "sections t128 i1 wall r1 sblock fnone hkeepout", STORE, LOAD},
    {"particle_soa_to_aos", "shuffle t128 i1 v1 hkeepin", LOAD, STORE},
    {"record48_soa_to_aos", "shuffle t128 i1 v1 hkeepout", STORE, LOAD},
    {"shifted_u8", "shift t128 i1 w1 nlane hkeepin", LOAD, STORE},
    {"shifted", "shift t128 i1 w1 nload hkeepout", STORE, LOAD},
    {"transpose_u8", "packed t512 a128 b256 w2 rnone ob hkeepin", LOAD, STORE},
    {"transpose_f16", "packed t512 a128 b256 w1 rnone ob hkeepout", STORE, LOAD},
    {"particle_aos_to_soa", "bulk t128 i1 g0 n1 w1 obulk hkeepin",
     "complete_tx::bytes.L2::cache_hint", "bulk_group.L2::cache_hint"},
    {"mixed_soa_to_aos", "bulk t128 i2 g0 n1 w0 obulk hkeepout", "bulk_group.L2::cache_hint",
     "complete_tx::bytes.L2::cache_hint"},
    {"add_const_double3", "bulk t128 i1 g0 n1 w0 ovector hkeepout", STORE,
     "complete_tx::bytes.L2::cache_hint"},
};

static void kept_on_one_side_and_right(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tv_world w;
    tv_open(&w, 132, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    sct_compiled compiled = tv_compile(&w, &w.code, w.code.source);
    if (!strstr(compiled.ptx, cases[k].with) || strstr(compiled.ptx, cases[k].without) ||
        !strstr(compiled.ptx, "createpolicy.fractional.L2::evict_last")) {
      fail_msg("%s of %s: %s expected, %s not\n%s", cases[k].label, cases[k].spec, cases[k].with,
               cases[k].without, compiled.ptx);
    }
    sct_compiled_free(&compiled);
    tv_close(&w);
  }
}

/* The space of a worked spec for a device. */
static void open_space(fixture *f, const char *spec, const char *device) {
  char path[512];
  *f = (fixture){0};
  snprintf(path, sizeof path, "%s/tuning/kernels/%s.lua", SCT_ROOT_DIR, spec);
  MUST(sct_script_load_spec(&f->spec, path, err));
  MUST(sct_script_load_device(&f->device, device, err));
  MUST(sct_script_new(&f->script, &f->spec, &f->device, NULL, err));
  MUST(sct_script_space(&f->space, f->script, err));
  MUST(sct_space_enumerate(&f->space, err));
}

/* Where there are no policies of L2, such a candidate is the same text as the one without a hint.
 */
static void older_devices_have_no_policies(void **state) {
  static const char *const labels[][2] = {
      {"vector t128 i1 v2 hkeepin b0", "vector t128 i1 v2 hnone b0"},
      {"flat t128 i1 v2 hkeepout", "flat t128 i1 v2 hnone"},
  };
  (void)state;
  for (int k = 0; k < SCT_COUNT(labels); k++) {
    for (int newer = 0; newer < 2; newer++) {
      fixture f;
      open_space(&f, "add_const_double3", newer ? "a100" : "t4");
      sct_kernel_code kept = fixture_make(&f, labels[k][0]);
      sct_kernel_code plain = fixture_make(&f, labels[k][1]);
      assert_int_equal(strcmp(kept.source, plain.source) == 0, !newer);
      assert_int_equal(strstr(kept.source, HINT) != NULL, newer);
      sct_kernel_code_free(&kept);
      sct_kernel_code_free(&plain);
      fixture_close(&f);
    }
  }
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(kept_on_one_side_and_right),
                                     cmocka_unit_test(older_devices_have_no_policies)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
