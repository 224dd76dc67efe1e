/* `sectile count --coalescing`: older devices' transactions in the same columns. */
#include "count_fixture.h"

#define CU                                                                                         \
  "extern \"C\" __global__ void copy(const float *in, float *out, int shift) {\n"                  \
  "  int i = blockIdx.x * 256 + threadIdx.x;\n  out[i] = in[i + shift];\n}\n"
#define CASES                                                                                      \
  "[{\"case\": \"even\", \"kernel\": \"copy\", \"grid\": [4], \"block\": [256],\n"                 \
  "  \"args\": [\"in\", \"out\", 0]},\n"                                                           \
  " {\"case\": \"shifted\", \"kernel\": \"copy\", \"grid\": [4], \"block\": [256],\n"              \
  "  \"args\": [\"in\", \"out\", 1]}]"

static void count(fx_result *r, const char *model) {
  const char *cu = fx_write("old.cu", CU), *cases = fx_write("old.json", CASES);
  fx_run(r, "count", cu, "--cases", cases, "--csv", "--coalescing", model);
}

/* 1,024 floats: 32 warps, 64 half warps. */
static void transactions_stand_for_sectors(void **state) {
  (void)state;
  static const struct {
    const char *model;
    long long requests, even, shifted, store, tags;
  } known[] = {{"cc10", 64, 64, 1024, 64, 64},
               {"cc12", 64, 64, 96, 64, 64},
               {"cc20", 32, 32, 64, 128, 32},
               {"cc60", 32, 128, 160, 128, 128},
               {"cc70", 32, 128, 160, 128, 32}};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    fx_result r = {0};
    count(&r, known[k].model);
    fx_expect(&r, 0, "case,requests_ld,sectors_ld,tags_ld,requests_st,", NULL);
    const char *table = sct_str_c(&r.out);
    assert_int_equal(fx_figure(table, "even", "requests_ld"), known[k].requests);
    assert_int_equal(fx_figure(table, "even", "sectors_ld"), known[k].even);
    assert_int_equal(fx_figure(table, "even", "tags_ld"), known[k].tags);
    assert_int_equal(fx_figure(table, "shifted", "sectors_ld"), known[k].shifted);
    assert_int_equal(fx_figure(table, "shifted", "sectors_st"), known[k].store);
    /* a model is never exact */
    const bool exact = strstr(table, ",exact\n") != NULL;
    assert_int_equal(exact, strcmp(known[k].model, "cc70") == 0);
    fx_free(&r);
  }
}

static void unknown_models_name_the_nearest(void **state) {
  (void)state;
  fx_result r = {0};
  count(&r, "cc13");
  fx_expect(&r, 2, NULL, "unknown counting model 'cc13'; did you mean 'cc12'?");
  count(&r, "fermi");
  fx_expect(&r, 2, NULL, "expected one of cc70, cc10, cc12, cc20, cc60");
  fx_run(&r, "count", "--help");
  fx_expect(&r, 0, "--coalescing", NULL);
  fx_expect(&r, 0, "the sectors are its transactions", NULL);
  fx_free(&r);
}

int main(void) {
  if (fx_lacks_nvrtc()) {
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transactions_stand_for_sectors),
      cmocka_unit_test(unknown_models_name_the_nearest),
  };
  return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
