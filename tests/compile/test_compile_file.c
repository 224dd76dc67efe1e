/* A whole CUDA file: names of kernels, include folders, standard headers, messages. */
#include "compile/compile_internal.h"
#include "compile_fixture.h"

static char folder[64];

static const char *write_file(const char *name, const char *text) {
  static char path[128];
  sct_error err = {0};
  (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
  assert_int_equal(sct_file_write(path, text, strlen(text), &err), SCT_OK);
  return path;
}

static sct_compiled_file compile(sct_compiler **compiler, const char *text,
                                 const char *const *kernels, int n, const char *const *extra) {
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .extra = extra};
  const sct_compile_file file = {write_file("a.cu", text), kernels, n, NULL};
  sct_compiled_file result;
  sct_error err = {0};
  *compiler = fx_compiler(&opts);
  if (sct_compiler_file(*compiler, &result, &file, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return result;
}

static void drop(sct_compiler *compiler, sct_compiled_file *result) {
  sct_compiled_file_free(result);
  sct_compiler_free(compiler);
}

static void test_names_of_every_kind(void **state) {
  (void)state;
  static const char *const kernels[] = {"plain", "c_name", "in::hidden", "copy<float>",
                                        "copy<double>"};
  static const char text[] = "__global__ void plain(int *p) { *p = 1; }\n"
                             "extern \"C\" __global__ void c_name(int *p) { *p = 2; }\n"
                             "namespace in { static __global__ void hidden(int *p) { *p = 3; } }\n"
                             "template <class T> __global__ void copy(T *p) { *p = T(4); }\n";
  sct_compiler *compiler;
  sct_compiled_file r = compile(&compiler, text, kernels, SCT_COUNT(kernels), NULL);
  assert_true(r.ok);
  assert_int_equal(r.n_entries, 5);
  assert_string_equal(r.entries[0], "_Z5plainPi");
  assert_string_equal(r.entries[1], "c_name");
  assert_string_equal(r.entries[3], "_Z4copyIfEvPT_");
  assert_string_equal(r.entries[4], "_Z4copyIdEvPT_");
  for (int k = 0; k < r.n_entries; k++) {
    assert_non_null(strstr(r.ptx, r.entries[k]));
    assert_non_null(memmem(r.cubin, r.cubin_bytes, r.entries[k], strlen(r.entries[k])));
  }
  assert_non_null(strstr(r.ptx, "a.cu\"")); /* line information names the file */
  drop(compiler, &r);
}

static void test_no_names_means_all_but_templates(void **state) {
  (void)state;
  sct_compiler *compiler;
  sct_compiled_file r = compile(&compiler,
                                "__global__ void plain(int *p) { *p = 1; }\n"
                                "template <class T> __global__ void copy(T *p) { *p = T(4); }\n",
                                NULL, 0, NULL);
  assert_true(r.ok);
  assert_int_equal(r.n_entries, 0);
  assert_non_null(strstr(r.ptx, "_Z5plainPi"));
  assert_null(strstr(r.ptx, "copy"));
  drop(compiler, &r);
}

/* Every name of the table compiles, all of them together, with host functions beside. */
static void test_standard_headers(void **state) {
  (void)state;
  static const char *const kernels[] = {"k"};
  sct_compiler *compiler;
  sct_str text = {0};
#define SCT_COMPILE_HEADER(name, from) sct_str_append(&text, "#include <" name ">\n");
#include "compile/compile_headers.def"
#undef SCT_COMPILE_HEADER
  sct_str_append(&text, "int main() { return 0; }\n"
                        "__global__ void k(std::uint8_t *p, uint32_t n) {\n"
                        "  *p = std::numeric_limits<std::uint8_t>::max();\n"
                        "  static_assert(std::is_same<uint32_t, unsigned>::value, \"\");\n"
                        "}\n");
  sct_compiled_file r = compile(&compiler, sct_str_c(&text), kernels, 1, NULL);
  if (!r.ok) {
    fail_msg("%s", r.log);
  }
  assert_string_equal(r.entries[0], "_Z1kPhj");
  sct_str_free(&text);
  drop(compiler, &r);
}

static void test_own_folder_and_options(void **state) {
  (void)state;
  static const char *const kernels[] = {"k"};
  static const char *const extra[] = {"--define-macro=N=3", NULL};
  sct_compiler *compiler;
  (void)write_file("beside.h", "#define TWICE(n) (2 * (n))\n");
  sct_compiled_file r = compile(&compiler,
                                "#include \"beside.h\"\n"
                                "__global__ void k(int *p) { *p = TWICE(N); }\n",
                                kernels, 1, extra);
  assert_true(r.ok);
  assert_non_null(strstr(r.ptx, ", 6;"));
  drop(compiler, &r);
}

static void test_unknown_names_are_told_from_errors(void **state) {
  (void)state;
  static const char *const kernels[] = {"k", "kk", "copy<flo>"};
  static const char good[] = "__global__ void k() {}\n"
                             "template <class T> __global__ void copy(T *p) {}\n";
  sct_compiler *compiler;
  sct_compiled_file r = compile(&compiler, good, kernels, 2, NULL);
  assert_false(r.ok);
  assert_int_equal(r.unknown, 1);
  assert_string_equal(r.log, "error: identifier \"kk\" is undefined\n");
  drop(compiler, &r);
  const char *const types[] = {"k", "copy<flo>"};
  r = compile(&compiler, good, types, 2, NULL);
  assert_int_equal(r.unknown, 1);
  assert_string_equal(r.log, "error: identifier \"flo\" is undefined\n");
  drop(compiler, &r);
  r = compile(&compiler, "__global__ void k() { x = 1; }\n", kernels, 2, NULL);
  assert_false(r.ok);
  assert_int_equal(r.unknown, -1);
  assert_non_null(strstr(r.log, "a.cu:1: error: identifier \"x\" is undefined\n"));
  assert_null(strstr(r.log, "kk"));
  assert_null(strstr(r.log, "detected in the compilation"));
  drop(compiler, &r);
}

static void test_assembler_errors_have_their_line(void **state) {
  (void)state;
  static const char *const kernels[] = {"k"};
  sct_compiler *compiler;
  sct_compiled_file r = compile(&compiler,
                                "__global__ void k(int *p) {\n"
                                "  asm volatile(\"no.such.thing;\");\n"
                                "}\n",
                                kernels, 1, NULL);
  assert_false(r.ok);
  assert_int_equal(r.unknown, -1);
  assert_non_null(strstr(r.log, "a.cu:2: error:"));
  drop(compiler, &r);
}

static void test_files_and_options_that_cannot_be_used(void **state) {
  (void)state;
  static const char *const extra[] = {"--no-such-option", NULL};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .extra = extra};
  const sct_compile_file none = {.path = "/nowhere/a.cu"};
  const sct_compile_file file = {.path = write_file("a.cu", "__global__ void k() {}\n")};
  sct_compiled_file result;
  sct_error err = {0};
  sct_compiler *const compiler = fx_compiler(&opts);
  assert_int_equal(sct_compiler_file(compiler, &result, &none, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "/nowhere/a.cu"));
  sct_compiled_file_free(&result);
  assert_int_equal(sct_compiler_file(compiler, &result, &file, &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "no-such-option"));
  drop(compiler, &result);
}

static const char with_host[] =
    "#include <vector>\n"
    "#include <string>\n"
    "#include \"cuda_runtime.h\"\n"
    "struct timer { std::string name; void begin() { cudaDeviceSynchronize(); } };\n"
    "namespace in { template <class T> __global__ void copy(T *p) { *p = T(4); } }\n"
    "static __global__ void plain(int *p) { *p = 1; }\n"
    "int main() {\n"
    "  std::vector<int> all(3);\n"
    "  int *p = nullptr;\n"
    "  cudaMalloc(&p, 4);\n"
    "  plain<<<1, 32>>>(p);\n"
    "}\n";

static sct_compiled_file compile_with(sct_compiler **compiler, const char *text, const char *kernel,
                                      sct_compile_with with) {
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .with = with};
  const sct_compile_file file = {write_file("h.cu", text), &kernel, 1, NULL};
  sct_compiled_file result;
  sct_error err = {0};
  *compiler = fx_compiler(&opts);
  if (sct_compiler_file(*compiler, &result, &file, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return result;
}

static bool has_nvcc(void) {
  sct_str path = {0};
  const bool found = sct_compile_find_tool(&path, "nvcc");
  sct_str_free(&path);
  return found;
}

/* Every compiler names the same entries; which one it was is said. */
static void expect_host_file(sct_compile_with with, const char *by) {
  static const char *const kernels[][2] = {{"in::copy<double>", "_ZN2in4copyIdEEvPT_"},
                                           {"plain", "_Z5plainPi"}};
  sct_compiler *compiler;
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    sct_compiled_file r = compile_with(&compiler, with_host, kernels[k][0], with);
    assert_true(r.ok);
    assert_non_null(strstr(r.entries[0], kernels[k][1] + 2)); /* a static one may be _ZL */
    assert_non_null(strstr(r.ptx, r.entries[0]));
    assert_non_null(memmem(r.cubin, r.cubin_bytes, r.entries[0], strlen(r.entries[0])));
    assert_non_null(strstr(r.ptx, "h.cu\"")); /* line information names the file */
    assert_int_equal(r.why != NULL, with == SCT_COMPILE_ANY);
    if (strstr(r.by, by) == NULL) {
      fail_msg("no '%s' in: %s", by, r.by);
    }
    drop(compiler, &r);
  }
  sct_compiled_file r = compile_with(&compiler, with_host, "in::cpy<float>", with);
  assert_true(!r.ok && r.unknown == 0);
  assert_non_null(strstr(r.log, "has no member \"cpy\""));
  drop(compiler, &r);
}

static void test_host_code_is_left_out(void **state) {
  (void)state;
  expect_host_file(SCT_COMPILE_STAND_INS, " without host code");
}

static void test_host_code_goes_to_nvcc(void **state) {
  (void)state;
  if (!has_nvcc()) {
    skip();
  }
  expect_host_file(SCT_COMPILE_ANY, "nvcc ");
  sct_compiler *compiler;
  sct_compiled_file r =
      compile_with(&compiler, "int main() { cudaFree(0); }\n__global__ void k() { x = 1; }\n", "k",
                   SCT_COMPILE_ANY);
  assert_true(!r.ok && r.unknown < 0);
  assert_non_null(strstr(r.log, "h.cu:2: error: identifier \"x\" is undefined"));
  drop(compiler, &r);
}

/* What NVRTC takes is nobody else's: parts of CUB, and headers of the host that only stand there.
 */
static void test_headers_of_the_host_are_empty(void **state) {
  (void)state;
  sct_compiler *compiler;
  sct_compiled_file r = compile_with(
      &compiler,
      "#include <iostream>\n#include <memory>\n#include <cfloat>\n#include <thrust/sort.h>\n"
      "using namespace std;\n__global__ void k(float *p) { *p = FLT_MAX; }\n",
      "k", SCT_COMPILE_ANY);
  assert_true(r.ok && r.by == NULL);
  drop(compiler, &r);
  r = compile_with(&compiler,
                   "#include \"helper_of_mine.h\"\nint main() { helper(); }\n"
                   "__global__ void k(float *p) { *p = 1; }\n",
                   "k", SCT_COMPILE_STAND_INS);
  assert_true(r.ok);
  drop(compiler, &r);
}

static int setup(void **state) {
  (void)state;
  fx_temp_dir(folder);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  fx_remove_dir(folder);
  return 0;
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const sct_compile_opts opts = {.arch = "sm_90"};
  sct_compiler *compiler = NULL;
  if (sct_compiler_new(&compiler, &opts, NULL) != SCT_OK) {
    return 77;
  }
  sct_compiler_free(compiler);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_of_every_kind),
      cmocka_unit_test(test_no_names_means_all_but_templates),
      cmocka_unit_test(test_standard_headers),
      cmocka_unit_test(test_own_folder_and_options),
      cmocka_unit_test(test_unknown_names_are_told_from_errors),
      cmocka_unit_test(test_host_code_is_left_out),
      cmocka_unit_test(test_host_code_goes_to_nvcc),
      cmocka_unit_test(test_headers_of_the_host_are_empty),
      cmocka_unit_test(test_assembler_errors_have_their_line),
      cmocka_unit_test(test_files_and_options_that_cannot_be_used),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
