/* Pipelines of bulk copies with one mistake each: what the generator wrote, with a wait, a fence, a
 * barrier or a number changed, must fail on the virtual device, whatever the values are; and as it
 * was written it must not. The device has one SM, so that blocks stay for many tiles and every
 * stage is filled several times. */
#include "tune_verify.h"

/* ---- mistakes ---- */

#define STAYS  "bulk t512 i1 g1 n2 w1 obulk hnone"
#define SINGLE "bulk t128 i2 g0 n1 w1 obulk hnone"
#define WORDS  "bulk t512 i1 g1 n3 w1 ovector hnone"
#define DIRECT "bulk t512 i1 g1 n2 w0 ovector hnone"

static const struct {
  const char *label, *from, *to, *says;
} mistakes[] = {
    {STAYS, "wait_phase(&arrived[stage], parity);", "", "async_early"},
    {STAYS, "parity ^= 1;", "", "async_early"},
    {STAYS, "stage = 0;\n", "stage = 0; parity ^= 1;\n", "async_early"},
    {STAYS, "if (++stage == kStages)", "if (++stage == 1)", "deadlock"},
    {STAYS, "fence_async(); //", "//", "proxy_fence"},
    {STAYS, "bulk_wait_read(); // the image", "; // the image", "may still read"},
    {STAYS, "bulk_wait_read(); // shared", "; // shared", "may still read"},
    {STAYS, "bulk_commit();\n", "\n", "may still read"},
    {STAYS, "out_slice ^= 1;", "", "may still read"},
    {STAYS, "__syncthreads();\n    fetch", "fetch", "race"},
    {STAYS, "__syncthreads(); // all", "// all", "shared_race"},
    {STAYS, "init_barrier(&arrived[stage], 1)", "init_barrier(&arrived[stage], 2)", "deadlock"},
    {STAYS, "expect_bytes(&arrived[stage], 14336)", "expect_bytes(&arrived[stage], 14320)",
     "expect_tx says too little"},
    {STAYS, "expect_bytes(&arrived[stage], 14336)", "expect_bytes(&arrived[stage], 14352)",
     "deadlock"},
    {STAYS, "28 * first), 14336", "28 * first), 14320", "deadlock"},
    {STAYS, "ahead < kStages;", "ahead < kStages - 1;", "deadlock"},
    {STAYS, "gridDim.x, stage); // all", "gridDim.x, (stage + 1) % kStages); // all",
     "gets 1 arrivals"},
    {STAYS, "q_tile[out_slice] + 2048, 2048", "q_tile[out_slice] + 2048, 2032", "not written"},
    {SINGLE, "wait_phase(&arrived[stage], 0);", "", "async_early"},
    {SINGLE, "wait_phase(&arrived[stage], 0);", "wait_phase(&arrived[stage], 1);", "async_early"},
    {SINGLE, "__syncthreads(); // all", "// all", "shared_race"},
    {SINGLE, "__syncthreads();\n    if", "if", "race"},
    {WORDS, "out_slice ^= 1;", "", "race"},
    {WORDS, "__syncthreads();\n    fetch", "fetch", "race"},
    {DIRECT, "__syncthreads();\n    fetch", "fetch", "race"},
};

/* `text` with its first `from` replaced; malloc'ed. */
static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  sct_str out = {0};
  if (at == NULL) {
    fail_msg("no '%s' in:\n%s", from, text);
  }
  sct_str_append_n(&out, text, (size_t)(at - text));
  sct_str_append(&out, to);
  sct_str_append(&out, at + strlen(from));
  return out.data;
}

static void each_mistake_is_found(void **state) {
  const char *label = NULL;
  tv_world w;
  int missed = 0;
  (void)state;
  for (int k = 0; k < SCT_COUNT(mistakes); k++) {
    if (label == NULL || strcmp(label, mistakes[k].label) != 0) {
      if (label != NULL) {
        tv_close(&w);
      }
      label = mistakes[k].label;
      tv_open(&w, 1, "particle_aos_to_soa", label);
      tv_assert_right(&w, label);
    }
    char *source = replaced(w.code.source, mistakes[k].from, mistakes[k].to);
    const sct_verdict v = tv_verify(&w, source);
    if (v.outcome == SCT_OUT_OK || strstr(v.detail, mistakes[k].says) == NULL) {
      print_error("%s, '%s' -> '%s': %s: %s\n", label, mistakes[k].from, mistakes[k].to,
                  sct_outcome_name(v.outcome), v.detail);
      missed++;
    }
    sct_free(source);
  }
  tv_close(&w);
  assert_int_equal(missed, 0);
}

/* ---- blocks that stay ---- */

/* Of 132 SMs no block would get a second tile at a size that can be interpreted; it is verified
 * with few blocks, so a mistake of the later rounds shows all the same. */
static void loops_are_verified_on_large_devices(void **state) {
  static const char *const label = "bulk t128 i4 g4 n2 w1 obulk hnone";
  tv_world w;
  (void)state;
  tv_open(&w, 132, "particle_aos_to_soa", label);
  assert_int_equal(w.code.rounds, 5);
  tv_assert_right(&w, label);
  char *source = replaced(w.code.source, "parity ^= 1;", "");
  const sct_verdict v = tv_verify(&w, source);
  assert_int_equal(v.outcome, SCT_OUT_RACE);
  assert_non_null(strstr(v.detail, "async_early"));
  sct_free(source);
  tv_close(&w);
}

/* What no row above is about: fields of all widths, words of padding, one field a run. */
static void stages_are_filled_again_and_again(void **state) {
  static const struct {
    const char *spec, *label;
  } cases[] = {
      {"mixed_soa_to_aos", "bulk t512 i1 g1 n4 w0 obulk hnone"},
      {"mixed_aos_to_soa", "bulk t256 i1 g2 n3 w1 obulk hnone"},
      {"add_const_double3", "bulk t512 i1 g1 n3 w0 ovector hnone"},
      {"record64_aos_to_aos", "bulk t256 i1 g2 n2 w0 obulk hnone"},
      {"particle_soa_to_aos", "bulk t128 i1 g4 n4 w0 obulk hnone"},
  };
  (void)state;
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    tv_world w;
    tv_open(&w, 1, cases[k].spec, cases[k].label);
    tv_assert_right(&w, cases[k].label);
    tv_close(&w);
  }
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_mistake_is_found),
                                     cmocka_unit_test(loops_are_verified_on_large_devices),
                                     cmocka_unit_test(stages_are_filled_again_and_again)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
