/* Finding NVRTC, and what is said when it is not there or does not know the architecture. */
#include "compile_fixture.h"

static void expect_refusal(const sct_compile_opts *opts, sct_status code, const char *const *words,
                           int n_words) {
  sct_error err = {0};
  sct_compiler *compiler = NULL;
  assert_int_equal(sct_compiler_new(&compiler, opts, &err), code);
  assert_null(compiler);
  assert_int_equal(err.code, code);
  for (int i = 0; i < n_words; ++i) {
    if (strstr(err.text, words[i]) == NULL) {
      fail_msg("no \"%s\" in: %s", words[i], err.text);
    }
  }
}

static int restore_environment(void **state) {
  (void)state;
  return unsetenv("SECTILE_NVRTC");
}

static void test_missing_library(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90"};
  const char *const words[] = {"no NVRTC", "/nowhere/libnvrtc.so.13", "SECTILE_NVRTC"};
  assert_int_equal(setenv("SECTILE_NVRTC", "/nowhere/libnvrtc.so.13", 1), 0);
  expect_refusal(&opts, SCT_ENVRTC, words, SCT_COUNT(words));
}

/* A library that is there and is something else. */
static void test_library_without_the_functions(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90"};
  const char *const words[] = {"libm.so.6", "has no function nvrtcVersion"};
  assert_int_equal(setenv("SECTILE_NVRTC", "libm.so.6", 1), 0);
  expect_refusal(&opts, SCT_ENVRTC, words, SCT_COUNT(words));
}

static void test_file_that_is_no_library(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90"};
  char path[] = "/tmp/sct_no_library_XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "not a library", 13), 13);
  assert_int_equal(close(fd), 0);
  const char *const words[] = {"no NVRTC: unset SECTILE_NVRTC, or ", path, "cannot be loaded: "};
  assert_int_equal(setenv("SECTILE_NVRTC", path, 1), 0);
  expect_refusal(&opts, SCT_ENVRTC, words, SCT_COUNT(words));
  assert_int_equal(unlink(path), 0);
}

static void test_unknown_architecture(void **state) {
  (void)state;
  static const struct {
    const char *arch, *word;
  } bad[] = {
      {"sm_91", "did you mean 'sm_90'"},
      {"sm90", "did you mean 'sm_90'"},
      {"SM_90", "did you mean 'sm_90'"},
      {"gfx942", "sm_80"}, /* nothing near: all are listed */
      {"sm_90x", "'sm_90x'"},
      {"sm_75a", "'sm_75a'"}, /* specific targets begin with 90 */
      {"sm_", "'sm_'"},
      {"", "''"},
      {"compute_90", "'compute_90'"}, /* no machine code */
  };
  for (int i = 0; i < SCT_COUNT(bad); ++i) {
    const sct_compile_opts opts = {.arch = bad[i].arch};
    const char *const words[] = {"NVRTC", bad[i].word};
    expect_refusal(&opts, SCT_EUSAGE, words, SCT_COUNT(words));
  }
  const sct_compile_opts none = {0};
  expect_refusal(&none, SCT_EUSAGE, NULL, 0);
}

static void test_known_architectures_compile(void **state) {
  (void)state;
  const char *const archs[] = {"sm_80", "sm_90", "sm_90a"};
  const sct_compile_unit unit = {"__global__ void k(float *b) { b[threadIdx.x] = 1; }\n", "k",
                                 false};
  for (int i = 0; i < SCT_COUNT(archs); ++i) {
    const sct_compile_opts opts = {.arch = archs[i], .threads = 1};
    char target[64];
    (void)snprintf(target, sizeof(target), ".target %s", archs[i]);
    sct_compiled r;
    sct_compiler *compiler = fx_compiler(&opts);
    fx_run(compiler, &unit, 1, &r);
    assert_true(r.ok);
    assert_true(r.registers > 0);
    assert_non_null(strstr(r.ptx, target));
    sct_compiled_free(&r);
    sct_compiler_free(compiler);
  }
}

static void test_empty_request(void **state) {
  (void)state;
  const sct_compile_opts opts = {.arch = "sm_90"};
  sct_compiler *compiler = fx_compiler(&opts);
  sct_error err = {0};
  assert_int_equal(sct_compiler_run(compiler, NULL, 0, NULL, NULL, NULL, &err), SCT_OK);
  sct_compiler_free(compiler);
  sct_compiler_free(NULL);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_missing_library, restore_environment),
      cmocka_unit_test_teardown(test_library_without_the_functions, restore_environment),
      cmocka_unit_test_teardown(test_file_that_is_no_library, restore_environment),
      cmocka_unit_test(test_unknown_architecture),
      cmocka_unit_test(test_known_architectures_compile),
      cmocka_unit_test(test_empty_request),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
