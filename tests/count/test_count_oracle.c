/* The program against what an H200's profiler counted for 641 launches (tests/oracle). */
#include "count_fixture.h"

#include <math.h>

static const struct {
  const char *ours, *theirs;
} columns[] = {
    {"requests_ld", "l1tex__t_requests_pipe_lsu_mem_global_op_ld"},
    {"sectors_ld", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"},
    {"tags_ld", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld"},
    {"requests_st", "l1tex__t_requests_pipe_lsu_mem_global_op_st"},
    {"sectors_st", "l1tex__t_sectors_pipe_lsu_mem_global_op_st"},
    {"tags_st", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st"},
    {"sectors_global", "memory_l2_theoretical_sectors_global"},
    {"sectors_global_ideal", "memory_l2_theoretical_sectors_global_ideal"},
    {"wavefronts_shared_ld", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld"},
    {"wavefronts_shared_st", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st"},
    {"wavefronts_shared", "memory_l1_wavefronts_shared"},
    {"wavefronts_shared_ideal", "memory_l1_wavefronts_shared_ideal"},
};

static sct_str ours, theirs; /* CSV */

static int setup(void **state) {
  sct_error err = {0};
  fx_result r = {0};
  fx_setup(state);
  assert_int_equal(sct_file_read(&theirs, FX_ORACLE "h200.csv", &err), SCT_OK);
  fx_run(&r, "count", FX_ORACLE "micro.cu", "--cases", FX_ORACLE "manifest.json", "--csv", "-o",
         fx_path("ours.csv"));
  fx_expect(&r, 0, NULL, NULL);
  assert_int_equal(r.out.len, 0);
  assert_int_equal(sct_file_read(&ours, fx_path("ours.csv"), &err), SCT_OK);
  fx_free(&r);
  return 0;
}

static int teardown(void **state) {
  sct_str_free(&ours);
  sct_str_free(&theirs);
  return fx_teardown(state);
}

/* Appends the columns of a case in which it differs from a row of the table `truth`. */
static bool differs(const char *mine, const char *row, const char *truth, sct_str *report) {
  const size_t before = report->len;
  for (int k = 0; k < SCT_COUNT(columns); k++) {
    const int from = fx_column(truth, columns[k].theirs);
    const long long got = strtoll(fx_field(mine, 1 + k), NULL, 10);
    const long long want = strtoll(fx_field(row, from), NULL, 10);
    if (got != want) {
      sct_str_printf(report, " %s %lld (H200 %lld)", columns[k].ours, got, want);
    }
  }
  return report->len > before;
}

static bool is_exact(const char *mine) {
  const char *counts = fx_field(mine, 1 + SCT_COUNT(columns));
  assert_true(sct_has_prefix(counts, "exact\n") || sct_has_prefix(counts, "approximate\n"));
  return *counts == 'e';
}

/* Holds every case that is called exact to the truth; returns how many are not. */
static int compare(const char *counted, const char *truth, int n) {
  int cases = 0, wrong = 0, approximate = 0;
  const char *row = strchr(truth, '\n'), *mine = strchr(counted, '\n');
  for (; row != NULL && row[1] != '\0'; row = strchr(row + 1, '\n')) {
    assert_non_null(mine);
    assert_true(mine[1] != '\0');
    sct_str report = {0};
    const size_t name = strcspn(row + 1, ",") + 1; /* rows stand in the manifest's order */
    assert_memory_equal(row + 1, mine + 1, name);
    approximate += !is_exact(mine + 1);
    if (is_exact(mine + 1) && differs(mine + 1, row + 1, truth, &report)) {
      print_message("%.*s%s\n", (int)name, row + 1, sct_str_c(&report));
      wrong++;
    }
    sct_str_free(&report);
    mine = strchr(mine + 1, '\n');
    cases++;
  }
  assert_int_equal(cases, n);
  assert_true(mine != NULL && mine[1] == '\0');
  assert_int_equal(wrong, 0);
  return approximate;
}

static void every_case_counts_as_on_an_h200(void **state) {
  (void)state; /* unrolled loops too: these runs leave them together */
  assert_int_equal(compare(sct_str_c(&ours), sct_str_c(&theirs), 531), 0);
}

static void columns_stand_in_their_order(void **state) {
  (void)state;
  const char *table = sct_str_c(&ours);
  assert_int_equal(fx_column(table, "case"), 0);
  for (int k = 0; k < SCT_COUNT(columns); k++) {
    assert_int_equal(fx_column(table, columns[k].ours), 1 + k);
  }
  assert_int_equal(fx_column(table, "counts"), 1 + SCT_COUNT(columns));
}

/* Figures that a person can check: three requests of 24 sectors a warp of 24-byte records. */
static void records_and_gathers_have_their_figures(void **state) {
  (void)state;
  static const struct {
    const char *name, *column;
    long long want;
  } known[] = {
      {"add_const_double3_1048576_1.5", "requests_ld", 98304},
      {"add_const_double3_1048576_1.5", "sectors_ld", 24LL * 98304},
      {"add_const_double3_1048576_1.5", "requests_st", 98304},
      {"add_const_double3_1048576_1.5", "sectors_st", 2359296},
      {"add_const_double3_1048576_1.5", "sectors_global", 4718592},
      {"add_const_double3_1048576_1.5", "sectors_global_ideal", 4718592 - 3145728},
      {"add_const_double_3145728_1.5", "requests_ld", 98304},
      {"add_const_double_3145728_1.5", "sectors_ld", 8LL * 98304},
      {"add_const_double_3145728_1.5", "sectors_global_ideal", 16LL * 98304},
      {"indirect_f32_10000_ind", "requests_ld", 626},
      {"indirect_f32_10000_ind", "sectors_ld", 2500},
      {"indirect_f64_10000_ind", "sectors_ld", 3750},
  };
  for (int k = 0; k < SCT_COUNT(known); k++) {
    assert_int_equal(fx_figure(sct_str_c(&ours), known[k].name, known[k].column), known[k].want);
  }
}

/* Atomics are in the sums. Those that the machine does by loops over compare-and-swap (floats, and
 * 64 bits in shared memory) are not called exact: how often they go round depends on other warps.
 */
static void atomics_count_as_on_an_h200(void **state) {
  (void)state;
  enum { BY_LOOPS = 18 };
  sct_error err = {0};
  sct_str counted = {0}, truth = {0};
  fx_result r = {0};
  assert_int_equal(sct_file_read(&truth, FX_ORACLE "atomics_h200.csv", &err), SCT_OK);
  fx_run(&r, "count", FX_ORACLE "atomics.cu", "--cases", FX_ORACLE "atomics.json", "--csv", "-o",
         fx_path("atomics.csv"));
  fx_expect(&r, 0, NULL, NULL);
  assert_int_equal(sct_file_read(&counted, fx_path("atomics.csv"), &err), SCT_OK);
  assert_int_equal(compare(sct_str_c(&counted), sct_str_c(&truth), 110), BY_LOOPS);
  fx_free(&r);
  sct_str_free(&counted);
  sct_str_free(&truth);
}

/* Distinct bytes asked for by bytes moved, loads and stores apart: stride 1, 32, 3, a shift, and
 * one float for a warp. */
static void coalescing_is_of_distinct_bytes(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double load, store;
  } known[] = {{"ld_f32_1_0", 100, 100},       {"ld_f32_32_0", 12.5, 100},
               {"ld_f32_3_0", 100.0 / 3, 100}, {"ld_f32_1_1", 80, 100},
               {"perm_f32_4", 12.5, 100},      {"st_f32_1_1", 100, 80},
               {"st_f32_32_0", 100, 12.5}};
  fx_result r = {0};
  fx_run(&r, "count", FX_ORACLE "micro.cu", "--cases", FX_ORACLE "manifest.json", "--json");
  fx_expect(&r, 0, NULL, NULL);
  json_t *doc = fx_json(&r), *c;
  size_t k;
  int found = 0;
  json_array_foreach(json_object_get(doc, "cases"), k, c) {
    const double load = json_real_value(json_object_get(c, "degree_ld"));
    const double store = json_real_value(json_object_get(c, "degree_st"));
    assert_true(load > 0 && load <= 1 && store > 0 && store <= 1);
    for (int i = 0; i < SCT_COUNT(known); i++) {
      if (strcmp(json_string_value(json_object_get(c, "case")), known[i].name) == 0) {
        assert_true(fabs(100 * load - known[i].load) < 1e-6);
        assert_true(fabs(100 * store - known[i].store) < 1e-6);
        found++;
      }
    }
  }
  assert_int_equal(found, SCT_COUNT(known));
  json_decref(doc);
  fx_free(&r);
}

int main(void) {
  if (fx_lacks_nvrtc()) {
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_stand_in_their_order),
      cmocka_unit_test(records_and_gathers_have_their_figures),
      cmocka_unit_test(every_case_counts_as_on_an_h200),
      cmocka_unit_test(atomics_count_as_on_an_h200),
      cmocka_unit_test(coalescing_is_of_distinct_bytes),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
