/* Exact or approximate: PTX against machine code of one compile, with and without what a run
 * showed. */
#include "compile/compile.h"
#include "model/model.h"
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct built {
  sct_compiler *compiler;
  sct_compiled compiled;
  sct_ptx_module *module;
} built;

/* `kernel` is one of the kernels of `source`; all are there to be asked for. */
static built build(const char *source, const char *kernel, const char *arch) {
  built b = {0};
  sct_error err = {0};
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  const sct_compile_unit unit = {source, kernel, false};
  if (sct_compiler_new(&b.compiler, &opts, &err) != SCT_OK) {
    skip();
  }
  assert_int_equal(sct_compiler_run(b.compiler, &unit, 1, &b.compiled, NULL, NULL, &err), SCT_OK);
  if (!b.compiled.ok) {
    fail_msg("%s", b.compiled.log);
  }
  assert_int_equal(sct_ptx_parse(&b.module, b.compiled.ptx, "kernel.ptx", &err), SCT_OK);
  return b;
}

static void release(built *b) {
  sct_ptx_module_free(b->module);
  sct_compiled_free(&b->compiled);
  sct_compiler_free(b->compiler);
}

static bool is_exact(const built *b, const char *kernel, const sct_ptx_result *run,
                     sct_str *cause) {
  sct_memops ptx, sass;
  sct_error err = {0};
  if (sct_ptx_memops_run(&ptx, b->module, kernel, run, &err) != SCT_OK ||
      sct_sass_memops(&sass, b->compiled.cubin, b->compiled.cubin_bytes, kernel, &err) != SCT_OK) {
    fail_msg("%s: %s", kernel, err.text);
  }
  return sct_model_counts_exact(&ptx, &sass, cause);
}

/* Without a run only loops that ptxas unrolled are in doubt. */
static void oracle_kernels_are_exact_but_for_unrolled_loops(void **state) {
  (void)state;
  static const char *const looping[] = {"staged_aos_3",  "staged_aos_6", "staged_aos_7",
                                        "staged_aos_12", "col_sum_f32",  "row_sum_f32"};
  sct_error err = {0};
  sct_str source = {0};
  int n_in_doubt = 0;
  assert_int_equal(sct_file_read(&source, SCT_TESTS_DIR "/oracle/micro.cu", &err), SCT_OK);
  built b = build(sct_str_c(&source), "dead_x", "sm_90");
  for (int i = 0; i < sct_ptx_n_kernels(b.module); i++) {
    const char *name = sct_ptx_kernel_at(b.module, i)->name;
    sct_str cause = {0};
    bool known = false;
    for (int k = 0; k < SCT_COUNT(looping); k++) {
      known |= strcmp(looping[k], name) == 0;
    }
    if (is_exact(&b, name, NULL, &cause) == known) {
      fail_msg("%s: %s", name, known ? "exact" : sct_str_c(&cause));
    }
    if (known) {
      n_in_doubt++;
      assert_non_null(strstr(sct_str_c(&cause), "a loop that lanes may leave one by one"));
    }
    sct_str_free(&cause);
  }
  assert_int_equal(n_in_doubt, SCT_COUNT(looping));
  release(&b);
  sct_str_free(&source);
}

/* Runs `kernel` of (in, out, n) on one block of 64 threads; `in` and `out` hold 65536 words. */
static void launch(const built *b, const char *kernel, int32_t n, bool per_instruction,
                   sct_ptx_result *result) {
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  uint64_t address[2];
  float *data = sct_alloc(4 << 16);
  assert_non_null(data);
  sct_ptx_memory_new(&memory);
  for (int i = 0; i < 2; i++) {
    const sct_ptx_buffer buffer = {.name = i == 0 ? "in" : "out", .bytes = 4 << 16, .data = data};
    assert_int_equal(sct_ptx_memory_add(memory, &address[i], &buffer, &err), SCT_OK);
  }
  const void *args[] = {&address[0], &address[1], &n};
  const sct_ptx_launch_opts opts = {.module = b->module,
                                    .kernel = kernel,
                                    .grid = {1, 1, 1},
                                    .block = {64, 1, 1},
                                    .args = args,
                                    .n_args = 3,
                                    .per_instruction = per_instruction};
  assert_int_equal(sct_ptx_launch(result, memory, &opts, &err), SCT_OK);
  assert_int_equal(result->diag.kind, SCT_PTX_CLEAN);
  sct_ptx_memory_free(memory);
  sct_free(data);
}

/* ptxas unrolls these loops. */
static const char sums[] =
    "typedef unsigned long long u64;\n"
    "extern \"C\" __global__ void together(const float *in, float *out, int n) {\n"
    "  const int c = threadIdx.x;\n"
    "  if (c < 64) { float s = 0; for (int r = 0; r < n; r++) s += in[(u64)r * n + c]; "
    "out[c] = s; }\n"
    "}\n"
    "extern \"C\" __global__ void apart(const float *in, float *out, int n) {\n"
    "  const int c = threadIdx.x, end = n + (n > 100 ? c : 0);\n"
    "  if (c < 64) { float s = 0; for (int r = 0; r < end; r++) s += in[(u64)r * n + c]; "
    "out[c] = s; }\n"
    "}\n"
    "extern \"C\" __global__ void nested(const float *in, float *out, int n) {\n"
    "  const int c = threadIdx.x;\n"
    "  for (int q = 0; q < c % 4 + 1; q++) {\n"
    "    float s = 0; for (int r = 0; r < n; r++) s += in[(u64)r * n + c + q]; out[c + 64 * q] = "
    "s;\n"
    "  }\n"
    "}\n";

static void expect_run(const built *b, const char *kernel, int32_t n, bool exact) {
  sct_ptx_result result;
  sct_str cause = {0};
  launch(b, kernel, n, true, &result);
  if (is_exact(b, kernel, &result, &cause) != exact) {
    fail_msg("%s(%d): %s", kernel, n, exact ? sct_str_c(&cause) : "exact");
  }
  sct_ptx_result_free(&result);
  sct_str_free(&cause);
}

static void a_run_shows_whether_lanes_leave_together(void **state) {
  (void)state;
  built b = build(sums, "together", "sm_90");
  sct_str cause = {0};
  assert_false(is_exact(&b, "together", NULL, &cause)); /* ptxas unrolls it */
  assert_false(is_exact(&b, "apart", NULL, &cause));
  expect_run(&b, "together", 37, true);
  expect_run(&b, "apart", 37, true);
  expect_run(&b, "apart", 137, false);
  expect_run(&b, "nested", 37, false); /* the loop around it lets lanes go one by one */
  sct_str_free(&cause);
  release(&b);
}

static void a_run_without_records_shows_nothing(void **state) {
  (void)state;
  built b = build(sums, "together", "sm_90");
  sct_ptx_result result;
  sct_str cause = {0};
  launch(&b, "together", 37, false, &result);
  assert_false(is_exact(&b, "together", &result, &cause));
  sct_ptx_result_free(&result);
  sct_str_free(&cause);
  release(&b);
}

static void merged_and_narrowed_loads_are_approximate(void **state) {
  (void)state;
  static const char source[] =
      "extern \"C\" __global__ void low(const double *in, unsigned *out) {\n"
      "  unsigned v;\n"
      "  asm(\"{ .reg .b64 t; ld.global.b64 t, [%1]; cvt.u32.u64 %0, t; }\" : \"=r\"(v) : "
      "\"l\"(in + threadIdx.x));\n"
      "  out[threadIdx.x] = v;\n"
      "}\n";
  built b = build(source, "low", "sm_90");
  sct_str cause = {0};
  assert_false(is_exact(&b, "low", NULL, &cause));
  assert_string_equal(
      sct_str_c(&cause),
      "the machine code has 0 loads of 8 bytes from global memory where the PTX has "
      "1: accesses were split into narrower ones; executed counts may differ");
  sct_str_free(&cause);
  release(&b);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oracle_kernels_are_exact_but_for_unrolled_loops),
      cmocka_unit_test(a_run_shows_whether_lanes_leave_together),
      cmocka_unit_test(a_run_without_records_shows_nothing),
      cmocka_unit_test(merged_and_narrowed_loads_are_approximate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
