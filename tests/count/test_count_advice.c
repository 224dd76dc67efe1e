/* Advice: a kernel with a flaw has its issue, the mended one has it no longer, and its predicted
 * time is less by what was promised. */
#include "count_fixture.h"

#include <math.h>

static json_t *profiled;

static json_t *profile_of(const char *const *more) {
  fx_result r = {0};
  fx_run(&r, "profile", FX_COUNT "advice.cu", "--cases", FX_COUNT "advice.json", "-d",
         "virtual:orin_nano", "-q", "--json", more[0], more[1]);
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r);
  fx_free(&r);
  return doc;
}

static int setup(void **state) {
  static const char *const none[] = {NULL, NULL};
  (void)fx_setup(state);
  if (fx_has_nvrtc()) {
    profiled = profile_of(none);
  }
  return 0;
}

static int teardown(void **state) {
  json_decref(profiled);
  return fx_teardown(state);
}

static json_t *find_case(const char *name) {
  size_t k = 0;
  json_t *one = NULL;
  if (!profiled) {
    skip();
  }
  json_array_foreach(json_object_get(profiled, "cases"), k, one) {
    if (strcmp(json_string_value(json_object_get(one, "case")), name) == 0) {
      return one;
    }
  }
  fail_msg("no case '%s'", name);
  return NULL;
}

/* The first issue of this kind; NULL: none. */
static json_t *find_issue(const char *name, const char *id) {
  size_t k = 0;
  json_t *issue = NULL;
  json_array_foreach(json_object_get(find_case(name), "issues"), k, issue) {
    if (strcmp(json_string_value(json_object_get(issue, "id")), id) == 0) {
      return issue;
    }
  }
  return NULL;
}

static double time_of(const char *name) {
  return json_number_value(json_object_get(json_object_get(find_case(name), "speed"), "launch_ns"));
}

static const struct {
  const char *flaw, *id, *fix;
} pairs[] = {
    {"quads", "vector", "vectors"},
    {"field", "strided", "copy"},
    {"turn", "scattered", "turn_tile"},
    {"looked", "irregular", "in_order"},
    {"columns", "conflicts", "columns_padded"},
    {"vector_columns", "conflicts", "vector_columns_padded"},
    {"bins", "shared atomics", "bins_of_lanes"},
    {"by_lane", "divergence", "by_warp"},
    {"remainders", "integers", "masks"},
    {"of_constants", "constants", "of_shared"},
    {"halves", "compare and swap", "floats"},
    {"sum", "contended", "warp_sum"},
    {"doubles", "doubles", "singles"},
    {"thin", "small grid", "full"},
    {"lone", "few blocks", "full"},
    {"uneven", "imbalance", "even"},
    {"last", "tail", "no_last"},
    {"odd", "odd block", "whole"},
    {"bytes", "narrow", "byte_vectors"},
    {"spilled", "spills", "held"},
    {"waited", "barriers", "waited_less"},
};

/* Several issues of one kind are mended together; of narrow accesses each promises what that
 * brings, as one by one they cannot be. */
static double promised(const char *name, const char *id) {
  double sum = 0.0, most = 0.0;
  size_t k = 0;
  json_t *issue = NULL;
  json_array_foreach(json_object_get(find_case(name), "issues"), k, issue) {
    if (strcmp(json_string_value(json_object_get(issue, "id")), id) == 0) {
      const double ns = json_number_value(json_object_get(issue, "gain_ns"));
      sum += ns;
      most = fmax(most, ns);
    }
  }
  return strcmp(id, "narrow") == 0 ? most : sum;
}

static void test_fixes_keep_promises(void **state) {
  (void)state;
  int broken = 0;
  (void)find_case("copy");
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    const char *flaw = pairs[k].flaw, *fix = pairs[k].fix, *id = pairs[k].id;
    const double gain = promised(flaw, id), saved = time_of(flaw) - time_of(fix);
    const bool kept = fabs(saved - gain) <= 0.25 * fmax(gain, saved) + 20.0;
    if (!find_issue(flaw, id) || find_issue(fix, id) || !kept) {
      broken++;
      print_error("%s: %s%s, %s%s; %.0f ns promised, %.0f - %.0f = %.0f ns saved\n", id, flaw,
                  find_issue(flaw, id) ? "" : " lacks it", fix,
                  find_issue(fix, id) ? " has it too" : "", gain, time_of(flaw), time_of(fix),
                  saved);
    }
  }
  assert_int_equal(broken, 0);
}

/* What is said names the cause: a stride to the byte, an index, the width that a pad must keep. */
static void test_words(void **state) {
  (void)state;
  static const struct {
    const char *name, *id, *evidence, *advice;
  } wanted[] = {
      {"quads", "vector", "accesses its 16 bytes piecewise", "one aligned vector"},
      {"pixels", "strided", "loads of 1 bytes per thread, stride 3 bytes", "one flat array"},
      {"looked", "irregular", "at loaded indices, unordered", "sort the work"},
      {"vector_columns", "conflicts", "of shared memory, 16 bytes per thread",
       "one vector of that"},
      {"columns", "conflicts", "32.0-way", "one word"},
      {"bins", "shared atomics", "are serialised", "private bins"},
      {"own_table", "local memory", "indexed by values that are loaded", "shared memory"},
      {"loop_table", "local memory", "indexed by variables", "unroll the loops"},
      {"halves", "compare and swap", "100 % of the atomics are of 16-bit floats", "__half2"},
      {"uneven", "imbalance", "12 blocks for 8 SMs: some have 2, others 1", "multiple"},
      {"thin", "small grid", "8 blocks of 64 threads fill 2 of the 48 warps", "several small"},
      {"broken_rows", "unaligned", "not aligned to 32-byte sectors", "pitch"},
  };
  static const char *const absent[][2] = {
      {"in_order", "irregular"}, {"vectors", "vector"},         {"broken_rows", "strided"},
      {"looked", "strided"},     {"columns", "shared atomics"}, {"held", "spills"},
      {"full", "small grid"},    {"floats", "compare and swap"}};
  for (int k = 0; k < SCT_COUNT(wanted); k++) {
    const json_t *issue = find_issue(wanted[k].name, wanted[k].id);
    const char *evidence = json_string_value(json_object_get(issue, "evidence"));
    const char *advice = json_string_value(json_object_get(issue, "advice"));
    if (!issue || !strstr(evidence, wanted[k].evidence) || !strstr(advice, wanted[k].advice)) {
      fail_msg("%s, %s: '%s', '%s'", wanted[k].name, wanted[k].id, issue ? evidence : "none",
               issue ? advice : "");
    }
  }
  for (int k = 0; k < SCT_COUNT(absent); k++) {
    assert_null(find_issue(absent[k][0], absent[k][1]));
  }
  const json_t *launch = json_object_get(find_case("spilled"), "launch");
  assert_true(json_integer_value(json_object_get(launch, "spill_store_bytes")) >= 64);
  launch = json_object_get(find_case("held"), "launch");
  assert_int_equal(json_integer_value(json_object_get(launch, "spill_load_bytes")), 0);
}

/* What --use_fast_math would give is what it gives; the device library's table is not the user's to
 * move. */
static void test_slow_arithmetic(void **state) {
  (void)state;
  static const char source[] =
      "__global__ void waves(const float *a, float *b) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  float v = a[i];\n"
      "  for (int k = 0; k < 8; k++) v = sinf(v + 1e7f * k) + powf(v, 1.5f) / (v + 3);\n"
      "  b[i] = v;\n"
      "}\n";
  fx_result r = {0};
  double ns[2], gain = 0.0;
  (void)find_case("copy");
  fx_write("slow.cu", source);
  for (int fast = 0; fast < 2; fast++) {
    fx_run(&r, "profile", "slow.cu", "--kernel", "waves", "--grid", "48", "--block", "256", "--arg",
           "in", "--arg", "out", "-d", "virtual:orin_nano", "-q", "--json",
           fast ? "--nvrtc=--use_fast_math" : NULL);
    fx_expect(&r, 0, NULL, NULL);
    json_t *doc = fx_json(&r);
    json_t *one = json_array_get(json_object_get(doc, "cases"), 0), *issue = NULL;
    size_t k = 0;
    ns[fast] = json_number_value(json_object_get(json_object_get(one, "speed"), "launch_ns"));
    json_array_foreach(json_object_get(one, "issues"), k, issue) {
      const char *id = json_string_value(json_object_get(issue, "id"));
      assert_true(strcmp(id, "uniform") != 0);
      if (strcmp(id, "slow arithmetic") == 0) {
        assert_false(fast);
        gain = json_number_value(json_object_get(issue, "gain_ns"));
      }
    }
    json_decref(doc);
  }
  assert_true(gain > 0.25 * ns[0] && fabs(gain - (ns[0] - ns[1])) < 1.0);
  fx_free(&r);
}

/* Devices split requests by rules of their own; --coalescing chooses others. */
static void test_devices_have_rules(void **state) {
  (void)state;
  static const struct {
    const char *device, *loads, *caches;
  } wanted[] = {
      {"virtual:geforce_8800", "  loads        384     6144  16.0 ",
       "  caches      the device has none\n"},
      {"virtual:gtx1070", "  loads        192      960   5.0 ", "L1 finds 0.0 % of the sectors"},
      {"virtual:h200", "  loads        192      960   5.0 ", "L1 finds 9.8 %"},
  };
  fx_result r = {0};
  (void)find_case("copy");
  fx_write("shifted.cu", "__global__ void shifted(const float *a, float *b) {\n"
                         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                         "  b[i] = a[i + 1];\n"
                         "}\n");
  for (int k = 0; k < SCT_COUNT(wanted); k++) {
    fx_run(&r, "profile", "shifted.cu", "--kernel", "shifted", "--grid", "24", "--block", "256",
           "--arg", "in", "--arg", "out", "-d", wanted[k].device, "-q", "--section",
           "global,caches");
    fx_expect(&r, 0, wanted[k].loads, NULL);
    fx_expect(&r, 0, wanted[k].caches, NULL);
  }
  fx_run(&r, "profile", "shifted.cu", "--kernel", "shifted", "--grid", "24", "--block", "256",
         "--arg", "in", "--arg", "out", "-q", "--metrics",
         "derived__memory_l2_theoretical_sectors_global_excessive,"
         "tex__texin_requests_global_ld_uncached,"
         "lts__request_tex_read_sectors_global_ld_uncached");
  fx_expect(&r, 0, "sectors_global_excessive    192\n", NULL);
  fx_expect(&r, 0, "requests_global_ld_uncached                     192\n", NULL);
  fx_expect(&r, 0, "read_sectors_global_ld_uncached           960\n", NULL);
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fixes_keep_promises),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_slow_arithmetic),
      cmocka_unit_test(test_devices_have_rules),
  };
  return _cmocka_run_group_tests("advice", tests, SCT_COUNT(tests), setup, teardown);
}
