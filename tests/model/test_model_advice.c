/* Rules of what there is to mend: each holds on facts of its kind, and on no others. */
#include "model_fixture.h"

#include <math.h>

static const sct_device_desc device = {
    .n_sms = 100, .threads_sm = 2048, .inflight_bytes = 32768, .name = "device"};

static void assert_rules(sct_scope scope, const sct_facts *facts, const char *wanted) {
  sct_arena arena = {0};
  sct_advice found[SCT_N_RULES];
  sct_str got = {0};
  const int n = sct_model_advise(found, scope, facts, &arena);
  for (int k = 0; k < n; k++) {
    assert_true(found[k].gain > 0.0 && found[k].gain <= 1.0);
    assert_true(strlen(found[k].evidence) > 10 && strlen(found[k].advice) > 20);
    assert_true(found[k].of[0] != '\0');
    sct_str_printf(&got, "%s%s", k > 0 ? " " : "", found[k].id);
  }
  if (strcmp(sct_str_c(&got), wanted) != 0) {
    fail_msg("expected '%s', got '%s'", wanted, sct_str_c(&got));
  }
  sct_str_free(&got);
  sct_arena_free(&arena);
}

/* A load of 4 bytes a thread of a whole warp. */
static sct_facts loads(double each) {
  return (sct_facts){.access = "loads",
                     .is_load = true,
                     .width = 4.0,
                     .lanes = 32.0,
                     .each = each,
                     .ideal = 4.0,
                     .lines = each / 4.0,
                     .same = 1.0,
                     .excess = 1.0 - 4.0 / each,
                     .of_requests = 0.5};
}

static void test_an_access_is_one_issue(void **state) {
  (void)state;
  static const struct {
    double each;
    const char *rule;
  } cases[] = {{4.0, ""},          {4.3, ""},         {4.5, "unaligned"},
               {5.0, "unaligned"}, {5.1, "strided"},  {8.0, "strided"},
               {31.0, "strided"},  {31.5, "strided"}, {32.0, "strided"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_facts f = loads(cases[k].each);
    assert_rules(SCT_SCOPE_GLOBAL, &f, cases[k].rule);
  }
  sct_facts f = loads(16.0); /* two lanes a sector, each in a line of its own */
  f.lines = 16.0;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "scattered");
  f = loads(32.0);
  f.excess = 0.005; /* nothing of the whole kernel */
  assert_rules(SCT_SCOPE_GLOBAL, &f, "");
  f = loads(1.0);
  f.ideal = f.width = 1.0;
  f.excess = 0.0;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "narrow");
  f.of_requests = 0.01;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "");
  f = loads(1.0);
  f.same = 32.0;
  f.ideal = 1.0;
  f.excess = 0.0;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "uniform");
  f.is_load = false;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "");
  f.is_atomic = true;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "contended");
  f.same = 1.2;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "");
}

/* By what a request shows: its stride, whether a loaded value says where it goes, and whether the
 * thread takes all that lies between. */
static void test_an_access_is_called_what_it_is(void **state) {
  (void)state;
  sct_facts f = loads(16.0);
  f.loaded = true;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "irregular");
  f.stride = 16.0; /* as the index was, so in order */
  assert_rules(SCT_SCOPE_GLOBAL, &f, "strided");
  f.vector = true;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "vector");
  f = loads(7.0);
  f.stride = f.width; /* neighbours, in runs that end */
  assert_rules(SCT_SCOPE_GLOBAL, &f, "unaligned");
  f = loads(16.0);
  f.library = true;
  assert_rules(SCT_SCOPE_GLOBAL, &f, "");
}

static void test_shared_memory(void **state) {
  (void)state;
  sct_facts f = {.access = "loads", .each = 2.0, .ideal = 1.0, .excess = 0.5};
  assert_rules(SCT_SCOPE_SHARED, &f, "conflicts");
  f.width = 16.0;
  assert_rules(SCT_SCOPE_SHARED, &f, "conflicts"); /* once */
  f.is_atomic = true;
  assert_rules(SCT_SCOPE_SHARED, &f, "shared atomics");
  f.each = 1.05;
  assert_rules(SCT_SCOPE_SHARED, &f, "");
}

static sct_facts launch(void) {
  return (sct_facts){.device = &device,
                     .threads = 256,
                     .blocks = 800,
                     .waves = 1.0,
                     .fit = {.blocks_sm = 8, .warps_sm = 64, .fraction = 1.0, .limit = "threads"},
                     .active_lanes = 32.0};
}

static void test_a_launch_may_have_several(void **state) {
  (void)state;
  sct_facts f = launch();
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f.threads = 100;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "odd block");
  f.blocks = 99;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "odd block few blocks");
  f = launch();
  f.waves = 1.5;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "tail");
  f.waves = 10.5;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f.fit = (sct_occupancy){.blocks_sm = 2, .warps_sm = 16, .fraction = 0.25, .limit = "registers"};
  assert_rules(SCT_SCOPE_LAUNCH, &f, "registers");
  f.fit.limit = "shared memory";
  assert_rules(SCT_SCOPE_LAUNCH, &f, "occupancy");
  f.waves = 0.5; /* no more blocks are there */
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f = launch();
  f.waves = 4.0;
  f.waiting = 0.5;
  f.flight_bytes = 4096.0;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "latency");
  f.flight_bytes = 65536.0;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f.flight_bytes = 4096.0;
  f.waves = 1.0; /* one wave takes as long as it takes */
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f = launch();
  f.integers = 0.6;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "integers");
  f = launch();
  f.active_lanes = 20.0;
  assert_rules(SCT_SCOPE_LAUNCH, &f, ""); /* partial warps, not branches */
  f.branches = f.divergent = 3;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "divergence");
  f = launch();
  f.constant_words = 32.0;
  f.constant_time = 0.5;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "constants");
  f.constant_words = 1.0;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f = launch();
  f.local_requests = 5;
  f.local_share = 0.2;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "local memory");
  f.local_loaded = true;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "local memory");
  f.spilled_bytes = 64.0;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "spills local memory");
}

static void test_rules_of_a_profiler(void **state) {
  (void)state;
  sct_facts f = launch();
  f.waves = 0.1;
  f.blocks = 100;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "small grid");
  f.waves = 0.6;
  f.blocks = 130; /* two on some of the SMs */
  assert_rules(SCT_SCOPE_LAUNCH, &f, "imbalance");
  f.blocks = 200;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f.barriers = 4;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f.blocks = 100;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "barriers");
  f = launch();
  f.starting = 0.5;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "block starts");
  f = launch();
  f.fp64 = 0.5;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "");
  f.limit = SCT_LIMIT_FP64;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "doubles");
  f = launch();
  f.unfused = 0.3;
  assert_rules(SCT_SCOPE_LAUNCH, &f, ""); /* of no weight where memory is the limit */
  f.limit = SCT_LIMIT_FP32;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "not fused");
  f = launch();
  f.swapped = 1.0;
  assert_rules(SCT_SCOPE_LAUNCH, &f, "compare and swap");
}

static void test_layouts(void **state) {
  (void)state;
  sct_facts f = {.access = "a",
                 .width = 4.0,
                 .lanes = 32.0,
                 .stride = 32.0,
                 .each = 32.0,
                 .ideal = 4.0,
                 .bytes = 1e6};
  assert_rules(SCT_SCOPE_LAYOUT, &f, "unused bytes");
  f.each = 5.0; /* they begin between sectors */
  assert_rules(SCT_SCOPE_LAYOUT, &f, "");
  f = (sct_facts){.access = "a", .width = 8.0, .indexed = true};
  assert_rules(SCT_SCOPE_LAYOUT, &f, "indexed");
  f.width = 32.0;
  assert_rules(SCT_SCOPE_LAYOUT, &f, "");
  f = (sct_facts){.access = "a"};
  assert_rules(SCT_SCOPE_LAYOUT, &f, "");
}

static void test_specs(void **state) {
  (void)state;
  sct_facts f = {.less = "m", .shifts = true, .passes = 4.0};
  assert_rules(SCT_SCOPE_SPEC, &f, "one pass more");
  f.shifts = false;
  assert_rules(SCT_SCOPE_SPEC, &f, "one pass more");
  f.passes = 0.0; /* rows are held */
  assert_rules(SCT_SCOPE_SPEC, &f, "");
  f = (sct_facts){.access = "w", .tests = 1e11, .bytes = 1e8};
  assert_rules(SCT_SCOPE_SPEC, &f, "one order");
  f.bytes = 1024.0; /* blocks have copies */
  assert_rules(SCT_SCOPE_SPEC, &f, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_an_access_is_one_issue),
      cmocka_unit_test(test_an_access_is_called_what_it_is),
      cmocka_unit_test(test_shared_memory),
      cmocka_unit_test(test_rules_of_a_profiler),
      cmocka_unit_test(test_a_launch_may_have_several),
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_specs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
