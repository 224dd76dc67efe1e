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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fixes_keep_promises),
  };
  return _cmocka_run_group_tests("advice", tests, SCT_COUNT(tests), setup, teardown);
}
