/* Headers of the form c: which architectures are compiled, what stands in the header, and programs
 * of C and C++ that launch such kernels on a runtime of our own (tests/emit/nvcc). What a compiler
 * makes of the kernels is tested in tests/cli/test_cli_compilers.c. */
#include "emit/emit_fixture.h"

/* What was asked to be compiled. */
static char archs[256], kernels[2048];

static sct_status pretend(const char *context, sct_emit_code *out, const char *source,
                          const char *arch, const char *const *names, int n, sct_error *err) {
  if (strcmp(context, arch) == 0) {
    return sct_fail(err, SCT_ENVRTC, "there is no compiler for %s", arch);
  }
  assert_non_null(strstr(source, "__global__ void"));
  snprintf(archs + strlen(archs), sizeof archs - strlen(archs), "%s ", arch);
  snprintf(out->nvrtc, sizeof out->nvrtc, "12.9");
  sct_str_printf(&out->cubin, "cubin %s", arch);
  sct_str_append_n(&out->cubin, "", 1); /* the fake runtime reads a text */
  sct_str_printf(&out->ptx, "ptx %s", arch);
  for (int k = 0; k < n; k++) {
    const char *last = strrchr(names[k], ':');
    snprintf(kernels + strlen(kernels), sizeof kernels - strlen(kernels), "%s ", names[k]);
    sct_str_printf(&out->entries, "%s\n", last + 1);
  }
  return SCT_OK;
}

static int setup(void **state) {
  fixture *f = malloc(sizeof(*f));
  fixture_open(f);
  archs[0] = kernels[0] = '\0';
  *state = f;
  return 0;
}

static void each_architecture_is_compiled_once(void **state) {
  fixture *f = *state;
  sct_str text = {0};
  const sct_emit_request request = {
      .name = "add3", .form = SCT_EMIT_C, .compile = pretend, .context = ""};
  fixture_add_two_devices(f);
  fixture_check(f, fixture_emit(&text, f, &request));
  assert_string_equal(archs, "sm_80 sm_90 ");
  assert_non_null(strstr(kernels, "add3_detail::k0_direct::add3_k0_direct "));
  assert_true(has_text(&text, "--form c -o add3.h"));
  assert_true(has_text(&text, "// ---- Kernels, compiled by NVRTC 12.9."));
  assert_true(has_text(&text, "{9, 0, true, add3_detail_ptx_90},\n"
                              "    {8, 0, false, add3_detail_sm_80},\n"
                              "    {9, 0, false, add3_detail_sm_90},\n"));
  /* "ptx sm_90" with its NUL */
  assert_true(has_text(&text, "ptx_90[] = {\n    112,116,120,32,115,109,95,57,48,0,\n};\n"));
  assert_true(has_text(&text, "    \"add3_k0_direct\",\n"));
  assert_false(has_text(&text, "__global__"));
  sct_str_free(&text);
}

static sct_status emit_for(fixture *f, sct_str *text, const char *targets) {
  const sct_emit_request request = {
      .name = "add3", .form = SCT_EMIT_C, .compile = pretend, .context = "", .targets = targets};
  return fixture_emit(text, f, &request);
}

/* In any order; devices of a major version in between take PTX of an older one. */
static void targets_are_what_is_asked_for(void **state) {
  fixture *f = *state;
  sct_str text = {0};
  fixture_add_two_devices(f);
  fixture_check(f, emit_for(f, &text, "sm_120,sm_86,sm_80,sm_100,sm_86"));
  assert_string_equal(archs, "sm_80 sm_86 sm_100 sm_120 ");
  assert_true(has_text(&text, "--form c --targets sm_120,sm_86,sm_80,sm_100,sm_86 -o add3.h"));
  assert_true(has_text(&text, "    {8, 6, true, add3_detail_ptx_86},\n"
                              "    {10, 0, true, add3_detail_ptx_100},\n"
                              "    {12, 0, true, add3_detail_ptx_120},\n"
                              "    {8, 0, false, add3_detail_sm_80},\n"));
  sct_str_free(&text);
}

static void targets_have_the_names_of_architectures(void **state) {
  fixture *f = *state;
  sct_str text = {0};
  static const char *const wrong[] = {"hopper", "sm_90a", "sm_", "sm_8", "sm_80,", "sm_1000"};
  fixture_add(f);
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    assert_int_equal(emit_for(f, &text, wrong[k]), SCT_EUSAGE);
    assert_non_null(strstr(f->err.text, "' is no architecture; expected numbers with commas"));
    f->err = (sct_error){0};
  }
  assert_string_equal(archs, "");
  sct_str_free(&text);
}

enum { LARGE = 400 * 1024 }; /* more than 1 MiB of text, which no script makes */

static sct_status pretend_large(const char *context, sct_emit_code *out, const char *source,
                                const char *arch, const char *const *names, int n, sct_error *err) {
  for (int k = 0; k < LARGE; k++) {
    sct_str_append_n(&out->cubin, "\xc8", 1);
  }
  return pretend(context, out, source, arch, names, n, err);
}

static void large_code_is_written_whole(void **state) {
  fixture *f = *state;
  sct_str text = {0};
  const sct_emit_request request = {
      .name = "add3", .form = SCT_EMIT_C, .compile = pretend_large, .context = ""};
  fixture_add(f);
  fixture_check(f, fixture_emit(&text, f, &request));
  int n = 0;
  for (const char *at = sct_str_c(&text); *at != '\0';
       at++) { /* no strstr: sanitizers measure all */
    n += at[0] == '2' && at[1] == '0' && at[2] == '0' && at[3] == ',';
  }
  assert_int_equal(n, LARGE);
  assert_true(has_text(&text, ",200,\n    200,"));
  sct_str_free(&text);
}

static void a_failed_compilation_is_passed_on(void **state) {
  fixture *f = *state;
  sct_str text = {0};
  const sct_emit_request request = {
      .name = "add3", .form = SCT_EMIT_C, .compile = pretend, .context = "sm_90"};
  fixture_add_two_devices(f);
  assert_int_equal(fixture_emit(&text, f, &request), SCT_ENVRTC);
  assert_non_null(strstr(f->err.text, "there is no compiler for sm_90"));
  assert_int_equal(text.len, 0);
  sct_str_free(&text);
}

/* Blocks run as clusters from 9.0 on: older code does not have such kernels. */
static void clusters_are_left_out_of_older_code(void **state) {
  fixture *f = *state;
  sct_str text = {0};
  static const char *const source =
      "__global__ void __cluster_dims__(2, 1, 1) add3_kernel(const void *a, void *b, double k,\n"
      "                                                      long long n_i) {\n}\n";
  const sct_emit_request request = {
      .name = "add3", .form = SCT_EMIT_C, .compile = pretend, .context = ""};
  fixture_add_two_devices(f);
  sct_row_run run =
      fixture_run(f, fixture_h200(f), "i=7", "{\"i\": 7}", 336, "2025-01-01T00:00:00Z");
  const sct_id naive = fixture_result(f, &run, &add_direct, 9000, false);
  const kernel wide = {"", "wide", "rows", "{}", add_direct.launch, 8};
  fixture_finish(f, &run, fixture_result_with(f, &run, &wide, source, 1000, true), naive);
  fixture_check(f, fixture_emit(&text, f, &request));
  const char *newer = strstr(kernels, "_rows ");
  assert_non_null(newer);
  assert_null(strstr(newer + 1, "_rows ")); /* asked for once, of two architectures */
  assert_true(has_text(&text, "attributes.ptxVersion >= 90"));
  sct_str_free(&text);
}

static void programs_of_c_launch_what_is_loaded(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"add3", "transpose", "scale", "row_sum", "shift2"};
  const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
  const char *toolkit = NULL;
  sct_str command = {0};
  for (int k = 0; k < SCT_COUNT(homes) && toolkit == NULL; k++) {
    sct_str_clear(&command);
    sct_str_printf(&command, "%s/include/cuda_runtime_api.h", homes[k] != NULL ? homes[k] : "");
    toolkit = homes[k] != NULL && access(sct_str_c(&command), R_OK) == 0 ? homes[k] : NULL;
  }
  if (toolkit == NULL || system("command -v c++ >/dev/null && command -v cc >/dev/null") != 0) {
    print_message("no toolkit or no compiler here: nothing is built\n");
    sct_str_free(&command);
    skip();
  }
  fixture_add_two_devices(f);
  fixture_transpose(f);
  fixture_scale(f);
  fixture_row_sum(f);
  fixture_shift(f);
  for (int k = 0; k < SCT_COUNT(names); k++) {
    const sct_emit_request request = {
        .name = names[k], .form = SCT_EMIT_C, .compile = pretend, .context = ""};
    sct_str_clear(&command);
    sct_str_printf(&command, "%s/%s.h", f->folder, names[k]);
    fixture_check(f, fixture_write(f, &request, sct_str_c(&command)));
  }
  sct_str_clear(&command);
  sct_str_printf(&command, "cd '%s' && bash '" SCT_TESTS_DIR "/emit/nvcc/code.sh' '%s' 2>&1",
                 f->folder, toolkit);
  assert_int_equal(system(sct_str_c(&command)), 0);
  sct_str_free(&command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
      TEST(targets_are_what_is_asked_for),       TEST(targets_have_the_names_of_architectures),
      TEST(each_architecture_is_compiled_once),  TEST(large_code_is_written_whole),
      TEST(a_failed_compilation_is_passed_on),   TEST(clusters_are_left_out_of_older_code),
      TEST(programs_of_c_launch_what_is_loaded),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
