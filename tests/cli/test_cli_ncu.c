/* `profile --counters`: NVIDIA's profiler found, run and read. Here scripts stand in for it: one
 * prints what it printed of a kernel (tests/cli/ncu), others fail as it fails. */
#include "cli/cli_count.h"
#include "cli_gpu_fixture.h"

#include <math.h>
#include <sys/stat.h>

#define RECORDED   SCT_TESTS_DIR "/cli/ncu/double3.csv"
#define DOUBLE3    SCT_ROOT_DIR "/examples/gallery/double3.cu"
#define LD_SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define GRID       "launch__grid_size"

/* ---- reading ---- */

static bool all[CLI_N_METRICS];

static int metric(const char *name) {
  for (int k = 0; k < CLI_N_METRICS; k++) {
    if (strcmp(cli_metrics[k].name, name) == 0) {
      return k;
    }
  }
  fail_msg("no metric '%s'", name);
  return -1;
}

static const char *read_text(cli_ncu *out, const char *text, int n_launches) {
  static sct_error err;
  err = (sct_error){0};
  memset(all, 1, sizeof all);
  return cli_ncu_read(out, text, "ncu", n_launches, all, &err) == SCT_OK ? NULL : err.text;
}

static void test_what_it_prints(void **state) {
  (void)state;
  cli_ncu ncu;
  sct_str text = {0};
  assert_int_equal(sct_file_read(&text, RECORDED, NULL), SCT_OK);
  assert_null(read_text(&ncu, sct_str_c(&text), 1));
  assert_int_equal(ncu.n_launches, 1);
  assert_true(ncu.values[0][metric(LD_SECTORS)] == 2359296);
  assert_true(ncu.values[0][metric("launch__waves_per_multiprocessor")] == 3.88);
  assert_true(ncu.values[0][metric("lts__t_sector_hit_rate.pct")] == 66.61);
  cli_ncu_free(&ncu);
  sct_str_free(&text);
}

#define HEAD "\"ID\",\"Kernel Name\",\"" GRID "\",\"dram__bytes_read.sum\"\n"

/* Units, separators, quotes, line ends, metrics that it has not. */
static void test_numbers(void **state) {
  (void)state;
  static const struct {
    const char *row, *unit;
    double grid, read;
  } known[] = {{"\"0\",\"k<a, \"\"b\"\">\",\"1,048,576\",\"2,000.5\"", "Kbyte", 1048576, 2000500},
               {"\"0\",\"k\",\"0\",\"3\"", "Mbyte", 0, 3e6},
               {"0,k,17,1.5e3\r", "byte", 17, 1500},
               {"\"0\",\"k\",\"8 (4; 4)\",\"1\"", "Gbyte", 8, 1e9},
               {"\"0\",\"k\",\"n/a\",\"\"", "byte", NAN, NAN},
               {"\"0\",\"k\",\"(!) n/a\",\"nan\"", "", NAN, NAN}};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    char text[512];
    cli_ncu ncu;
    snprintf(text, sizeof text, "==PROF== x\n\n" HEAD "\"\",\"\",\"\",\"%s\"\n==WARNING== y\n%s\n",
             known[k].unit, known[k].row);
    assert_null(read_text(&ncu, text, 1));
    const double grid = ncu.values[0][metric(GRID)];
    const double read = ncu.values[0][metric("dram__bytes_read.sum")];
    assert_true(grid == known[k].grid || (isnan(grid) && isnan(known[k].grid)));
    assert_true(read == known[k].read || (isnan(read) && isnan(known[k].read)));
    assert_true(isnan(ncu.values[0][metric(LD_SECTORS)]));
    cli_ncu_free(&ncu);
  }
}

/* The real profiler's raw page has some 250 columns of the device's attributes before its metrics.
 */
static void test_many_columns(void **state) {
  (void)state;
  cli_ncu ncu;
  sct_str text = {0}, row = {0};
  sct_str_append(&text, "\"ID\"");
  sct_str_append(&row, "\"0\"");
  for (int k = 0; k < 300; k++) {
    sct_str_printf(&text, ",\"device__attribute_%d\"", k);
    sct_str_printf(&row, ",\"%d\"", k);
  }
  sct_str_printf(&text, ",\"" GRID "\"\n%s,\"4096\"\n", sct_str_c(&row));
  assert_null(read_text(&ncu, sct_str_c(&text), 1));
  assert_true(ncu.values[0][metric(GRID)] == 4096);
  cli_ncu_free(&ncu);
  sct_str_free(&text);
  sct_str_free(&row);
}

/* What asynchronous copies write to shared memory takes as many wavefronts as sectors arrive in. */
static void test_what_is_exact(void **state) {
  (void)state;
  const cli_metric *const shared = &cli_metrics[metric("memory_l1_wavefronts_shared")];
  const cli_metric *const sectors = &cli_metrics[metric(LD_SECTORS)];
  sct_count_row row = {0};
  assert_true(cli_metric_is_exact(shared, &row) && cli_metric_is_exact(sectors, &row));
  assert_false(cli_metric_is_exact(&cli_metrics[metric("dram__bytes_read.sum")], &row));
  row.counters.shared_async.requests = 1;
  assert_false(cli_metric_is_exact(shared, &row));
  assert_true(cli_metric_is_exact(sectors, &row));
}

static void test_hostile_text(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } known[] = {
      {"", "the profiler printed no table; it said: nothing"},
      {"==PROF== a\n==WARNING== No kernels were profiled.\n\n", "it said: ==WARNING== No kernels"},
      {HEAD, "the profiler shows 0 of the 1 launches"},
      {HEAD "\"0\",\"k\",\"1\"\n", "ncu:2: error: 3 fields, where the profiler's table has 4"},
      {HEAD "\"0\",\"k\",\"1,5\",\"1\"\n", "ncu:2: error: '1,5' of " GRID " is no number"},
      {HEAD "\"0\",\"k\",\",100\",\"1\"\n", "',100' of " GRID " is no number"},
      {HEAD "\"0\",\"k\",\"0x10\",\"1\"\n", "'0x10' of " GRID " is no number"},
      {HEAD "\"0\",\"k\",\"1e999\",\"1\"\n", "'1e999' of " GRID " is no number"},
      {HEAD "\"0\",\"k\",\"--1\",\"1\"\n", "'--1' of " GRID " is no number"},
      {HEAD "\"0\",\"k\",\"1\",\"1\n",
       "ncu:2: error: field 4 of the profiler's table is not closed"},
      {HEAD "\"0\",\"k\"x,\"1\",\"1\"\n", "ncu:2: error: field 2"},
      {HEAD "\"0\",\"k\",\"1\",\"1\"\n\"1\",\"k\",\"1\",\"1\"\n",
       "ncu:3: error: the profiler shows more than the 1 launches"}};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    cli_ncu ncu;
    const char *said = read_text(&ncu, known[k].text, 1);
    if (!said || !strstr(said, known[k].says)) {
      fail_msg("text %d: '%s' instead of '%s'", k, said ? said : "nothing", known[k].says);
    }
    assert_null(ncu.values);
  }
  sct_str wide = {0};
  sct_str_append(&wide, "\"ID\"");
  for (int k = 0; k < 5000; k++) {
    sct_str_append(&wide, ",\"x\"");
  }
  cli_ncu ncu;
  assert_non_null(strstr(read_text(&ncu, sct_str_c(&wide), 1), "ncu:1: error: expected at most"));
  sct_str_free(&wide);
}

/* ---- running ---- */

/* A script of that name that stands in for the profiler, the only one in PATH. */
static void stand_in(const char *name, const char *script) {
  static const char *path;
  path = path ? path : sct_arena_strdup(&fx_arena, getenv("PATH"));
  const char *file = fx_write(name, sct_arena_printf(&fx_arena, "#!/bin/sh\n%s\n", script));
  assert_int_equal(chmod(file, 0700), 0);
  sct_str directory = {0};
  sct_path_dirname(&directory, file);
  setenv("PATH", sct_arena_printf(&fx_arena, "%s:%s", sct_str_c(&directory), path), 1);
  sct_str_free(&directory);
}

static void run_of(fx_result *r, const char *grid, const char *n, const char *option,
                   const char *value) {
  fx_run(r, "profile", DOUBLE3, "--kernel", "add", "--grid", grid, "--block", "256", "--arg", n,
         "--arg", "in=in", "--arg", "k=1.5", "--arg", "out=out", "--counters", option, value);
}

/* The recorded launch. */
static void run(fx_result *r, const char *option, const char *value) {
  run_of(r, "4096", "n=1048576", option, value);
}

/* Where no recorded count is looked at. */
static void run_one_block(fx_result *r, const char *option, const char *value) {
  run_of(r, "1", "n=256", option, value);
}

/* The profiler gets the program itself with a file of launches, and is asked for our metrics. */
static void test_beside_ours(void **state) {
  (void)state;
  fx_result r = {0};
  stand_in("ncu", "echo \"$@\" > asked\ncat " RECORDED);
  run(&r, NULL, NULL);
  fx_expect(&r, 0, "add: add\n  counters   ", NULL);
  fx_expect(&r, 0, "  launch__grid_size   ", NULL);
  fx_expect(&r, 0, "19 of 19 exact counts are equal on cuda:0", NULL);
  fx_expect(&r, 0, "  l1tex__t_sector_hit_rate.pct ", NULL);
  assert_null(strstr(sct_str_c(&r.out), " ! "));
  assert_null(strstr(sct_str_c(&r.out), "issue")); /* sections only where they are asked for */
  sct_str asked = {0};
  assert_int_equal(sct_file_read(&asked, fx_path("asked"), NULL), SCT_OK);
  assert_non_null(strstr(sct_str_c(&asked), "--csv --page raw --print-units base --clock-control "
                                            "none --metrics launch__grid_size,"));
  assert_non_null(strstr(sct_str_c(&asked), sct_path_basename(SCT_PROGRAM)));
  const char *file = strstr(sct_str_c(&asked), " --launches ") + strlen(" --launches ");
  assert_false(sct_file_exists(sct_arena_strndup(&fx_arena, file, strcspn(file, "\n"))));
  sct_str_free(&asked);
  run(&r, "--section", "issues");
  fx_expect(&r, 0, "add: add\n  issue 1     strided", NULL);
  fx_expect(&r, 0, "19 of 19 exact counts", NULL);
  run(&r, "--metrics", GRID);
  fx_expect(&r, 0, "1 of 1 exact counts are equal", NULL);
  run(&r, "--csv", NULL);
  fx_expect(&r, 0,
            "case,kernel,metric,kind,sectile,ncu,equal\n\"add\",\"add\"," GRID ",exact,4096,",
            NULL);
  fx_expect(&r, 0, ",estimated,", NULL);
  fx_free(&r);
}

/* Of a spec all blocks are counted, and caches estimated: its naive kernel is the recorded one. */
static void test_a_spec(void **state) {
  (void)state;
  fx_result r = {0};
  stand_in("ncu", "cat " RECORDED);
  fx_run(&r, "profile", FX_SPECS "add_const_double3.lua", "--counters", "--csv");
  fx_expect(&r, 0, LD_SECTORS ",exact,2359296,2359296,1\n", NULL);
  fx_expect(&r, 0, "memory_l2_theoretical_sectors_global,exact,4718592,4718592,1\n", NULL);
  fx_expect(&r, 0, ",l1tex__t_sector_hit_rate.pct,estimated,", NULL);
  fx_free(&r);
}

/* One sector more: it is marked, in every form. */
static void test_a_difference(void **state) {
  (void)state;
  fx_result r = {0};
  stand_in("ncu", "sed 's/\"2,359,296\"/\"2,359,297\"/' " RECORDED);
  run(&r, NULL, NULL);
  fx_expect(&r, 0, "  ! +1\n", NULL);
  fx_expect(&r, 0, "18 of 19 exact counts are equal", NULL);
  run(&r, "--csv", NULL);
  fx_expect(&r, 0, LD_SECTORS ",exact,2359296,2359297,0\n", NULL);
  run(&r, "--json", NULL);
  json_t *doc = fx_json(&r);
  const json_t *counters =
      json_object_get(json_array_get(json_object_get(doc, "cases"), 0), "counters");
  assert_int_equal(json_integer_value(json_object_get(counters, "equal")), 18);
  assert_int_equal(json_integer_value(json_object_get(counters, "differ")), 1);
  assert_int_equal(json_array_size(json_object_get(counters, "metrics")), 27);
  json_decref(doc);
  fx_free(&r);
}

static void test_failures(void **state) {
  (void)state;
  static const struct {
    const char *script, *says;
  } known[] = {
      {"echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'; exit 1",
       "only administrators count (ERR_NVGPUCTRPERM): run as root"},
      {"echo '==ERROR== Failed to find metric x'; exit 1",
       "the profiler refused: Failed to find metric x"},
      {"echo 'sectile: cuLaunchKernel failed'; echo '==ERROR== The application returned an error "
       "code (4)'",
       "the launches on the GPU failed: cuLaunchKernel failed"},
      {"echo a last word; exit 3", "the profiler ended with exit status 3; it said: a last word"},
      {"kill -9 $$", "the profiler ended by signal 9"},
      {"echo '==WARNING== No kernels were profiled.'", "the profiler printed no table"}};
  fx_result r = {0};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    stand_in("ncu", known[k].script);
    run_one_block(&r, NULL, NULL);
    fx_expect(&r, k < 5 ? 4 : 8, NULL, known[k].says);
  }
  fx_free(&r);
}

/* The process that is to launch reads the file; without a driver that is as far as it gets. */
static void test_the_launching_process(void **state) {
  (void)state;
  fx_result r = {0};
  stand_in("ncu", "while [ \"$1\" != --metrics ]; do shift; done; shift 2; exec \"$@\"");
  run_one_block(&r, NULL, NULL);
  if (!strstr(sct_str_c(&r.err), "the profiler printed no table")) { /* a GPU is here */
    fx_expect(&r, 4, NULL, "the launches on the GPU failed: ");
    assert_null(strstr(sct_str_c(&r.err), "holds no launches"));
  }
  fx_run(&r, "profile", FX_SPECS "add_const_double3.lua", "--counters");
  assert_null(strstr(sct_str_c(&r.err), "holds no launches"));
  fx_run(&r, "--launches", DOUBLE3);
  fx_expect(&r, 8, NULL, "holds no launches");
  fx_run(&r, "--launches");
  fx_expect(&r, 2, NULL, "not by hand");
  fx_free(&r);
}

static void test_where_it_is(void **state) {
  (void)state;
  fx_result r = {0};
  const char *path = sct_arena_strdup(&fx_arena, getenv("PATH"));
  assert_int_equal(sct_dir_make(fx_path("kit/nsight-compute-2024.1"), NULL), SCT_OK);
  assert_int_equal(sct_dir_make(fx_path("kit/nsight-compute-2025.3"), NULL), SCT_OK);
  stand_in("kit/nsight-compute-2024.1/ncu", "echo old; exit 1");
  stand_in("kit/nsight-compute-2025.3/ncu", "echo new; exit 1");
  setenv("PATH", "/nowhere", 1);
  setenv("CUDA_HOME", fx_path("kit"), 1);
  run_one_block(&r, NULL, NULL);
  fx_expect(&r, 4, NULL, "it said: new");
  unsetenv("CUDA_HOME");
  run_one_block(&r, NULL, NULL);
  /* a real one, where this machine has it, may fail in its own way: the GPU is hidden, say */
  if (access("/usr/local/cuda/bin/ncu", F_OK) != 0 &&
      access("/opt/nvidia/nsight-compute", F_OK) != 0) {
    fx_expect(&r, 4, NULL, "`ncu` was not found in PATH, in CUDA_HOME");
  }
  setenv("PATH", path, 1);
  fx_free(&r);
}

static void test_what_it_needs(void **state) {
  (void)state;
  fx_result r = {0};
  run_one_block(&r, "--device", "virtual:h200");
  fx_expect(&r, 2, NULL, "--counters needs a GPU: expected --device cuda:N, not virtual:h200");
  run_one_block(&r, "--metrics", "launch__grid_sise");
  fx_expect(&r, 2, NULL, "did you mean 'launch__grid_size'?");
  fx_fake("none");
  run_one_block(&r, NULL, NULL);
  fx_expect(&r, 4, NULL, "driver was not found");
  fx_fake("ok");
  fx_free(&r);
}

int main(void) {
  void *state = NULL;
  fx_gpu_setup(&state);
  fx_fake("ok");
  fx_result r = {0};
  stand_in("ncu", "cat " RECORDED);
  run_one_block(&r, NULL, NULL);
  const bool nvrtc = r.exit_code != 4;
  fx_free(&r);
  const struct CMUnitTest reading[] = {
      cmocka_unit_test(test_what_it_prints), cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_many_columns),   cmocka_unit_test(test_what_is_exact),
      cmocka_unit_test(test_hostile_text),
  };
  const struct CMUnitTest running[] = {
      cmocka_unit_test(test_beside_ours),
      cmocka_unit_test(test_a_difference),
      cmocka_unit_test(test_a_spec),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_the_launching_process),
      cmocka_unit_test(test_where_it_is),
      cmocka_unit_test(test_what_it_needs),
  };
  const int failed = cmocka_run_group_tests(reading, NULL, NULL) +
                     (nvrtc ? cmocka_run_group_tests(running, NULL, NULL) : 0);
  fx_teardown(&state);
  return failed;
}
