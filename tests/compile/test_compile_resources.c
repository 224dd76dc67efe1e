/* Registers, spills, stack and shared memory of kernels whose figures are known, and the parsing of
 * logs and cubins that no compiler wrote. */
#include "compile/compile_internal.h"
#include "compile_fixture.h"

/* Holds `kept` floats in registers across a barrier. */
static char *hungry_source(int kept, const char *bounds) {
  char *text = NULL;
  if (asprintf(&text,
               "constexpr int kept = %d;\n"
               "__global__ void %s k(const float *a, float *b) {\n"
               "  float v[kept];\n"
               "#pragma unroll\n"
               "  for (int i = 0; i < kept; ++i) { v[i] = a[i * 1024 + threadIdx.x]; }\n"
               "  __syncthreads();\n"
               "  float *out = b + threadIdx.x;\n"
               "#pragma unroll\n"
               "  for (int i = 0; i < kept; ++i) { out[i * 1024] = v[i] * v[(i + 1) %% kept]; }\n"
               "}\n",
               kept, bounds) < 0) {
    abort();
  }
  return text;
}

static void test_spills_under_a_launch_bound(void **state) {
  (void)state;
  char *free_source = hungry_source(96, "");
  char *bound_source = hungry_source(96, "__launch_bounds__(1024, 2)");
  const sct_compile_unit units[] = {{free_source, "k", false}, {bound_source, "k", false}};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1};
  sct_compiled r[2];
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, units, 2, r);
  assert_true(r[0].ok && r[1].ok);
  assert_in_range(r[0].registers, 96, 255);
  assert_int_equal(r[0].spill_store_bytes, 0);
  assert_int_equal(r[1].registers, 32); /* 65536 registers / (2 blocks x 1024 threads) */
  assert_true(r[1].spill_store_bytes >= 4 * (96 - 32));
  assert_true(r[1].spill_load_bytes >= r[1].spill_store_bytes);
  assert_true(r[1].stack_bytes >= 4 * (96 - 32));
  assert_int_equal(r[1].stack_bytes % 8, 0);
  for (int i = 0; i < 2; ++i) { /* as ptxas said it, and as the cubin says it */
    assert_int_equal(sct_cubin_registers(r[i].cubin, r[i].cubin_bytes, r[i].entry), r[i].registers);
    assert_int_equal(sct_cubin_registers(r[i].cubin, r[i].cubin_bytes, "other"), 0);
    for (size_t n = 0; n < r[i].cubin_bytes; n += 37) { /* cut short, in memory of that size */
      void *cut = malloc(n > 0 ? n : 1);
      memcpy(cut, r[i].cubin, n);
      (void)sct_cubin_registers(cut, n, r[i].entry);
      free(cut);
    }
  }
  for (int i = 0; i < 2; ++i) {
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
  free(free_source);
  free(bound_source);
}

static void test_register_limit_option(void **state) {
  (void)state;
  char *source = hungry_source(96, "");
  const char *const extra[] = {"--maxrregcount=40", NULL};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .extra = extra};
  const sct_compile_unit unit = {source, "k", false};
  sct_compiled r;
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, &unit, 1, &r);
  assert_int_equal(r.registers, 40);
  assert_true(r.spill_store_bytes > 0);
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
  free(source);
}

static void test_static_shared_memory(void **state) {
  (void)state;
  /* 3 x 776 doubles declared, an array of unknown size beside them that does not count */
  const char *source =
      "extern __shared__ float dynamic_part[];\n"
      "__global__ void k(const double *a, double *b) {\n"
      "  __shared__ double tile[3][776];\n"
      "  tile[threadIdx.x % 3][threadIdx.x] = a[threadIdx.x];\n"
      "  dynamic_part[threadIdx.x] = 1.0f;\n"
      "  __syncthreads();\n"
      "  b[threadIdx.x] = tile[1][threadIdx.x ^ 1] + dynamic_part[threadIdx.x ^ 1];\n"
      "}\n";
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, source, "k");
  assert_true(r.ok);
  assert_int_equal(r.static_shared_bytes, 3 * 776 * 8);
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

/* A function that is not inlined spills too, and its figures stand apart from the kernel's. */
static void test_figures_of_called_functions(void **state) {
  (void)state;
  const char *source =
      "__device__ __noinline__ float many(const float *a) {\n"
      "  float v[80], s = 0;\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 80; ++i) { v[i] = a[i * 64]; }\n"
      "  __syncthreads();\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < 80; ++i) { s += v[i] * v[79 - i] + v[(i * 7) % 80]; }\n"
      "  return s;\n"
      "}\n"
      "__global__ void __launch_bounds__(1024, 2) k(const float *a, float *b) {\n"
      "  b[threadIdx.x] = many(a + threadIdx.x);\n"
      "}\n";
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, source, "k");
  assert_true(r.ok);
  assert_true(r.spill_store_bytes > 0);
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

/* The words of an older ptxas: no "cumulative stack", the constant bank in the line of registers.
 */
static void test_log_of_another_version(void **state) {
  (void)state;
  char first[] = "_Z1av";
  char second[] = "_ZN17u00112233445566771bEv";
  sct_compiled a = {.entry = first};
  sct_compiled b = {.entry = second};
  sct_compile_item item_a = {.out = &a, .space = "u0000000000000000"};
  sct_compile_item item_b = {.out = &b, .space = "u0011223344556677"};
  sct_compile_item *items[] = {&item_a, &item_b};
  sct_compile_log_resources(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_ZN17u00112233445566771bEv' for 'sm_80'\n"
      "ptxas info    : Function properties for _ZN17u00112233445566771bEv\n"
      "    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 10 registers, 96 bytes smem, 380 bytes cmem[0]\n"
      "ptxas info    : Function properties for _ZN17u001122334455667712helpEv\n"
      "    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\n"
      "ptxas info    : Compiling entry function '_Z1av' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1av\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 352 bytes cmem[0]",
      items, 2);
  assert_int_equal(b.registers, 10);
  assert_int_equal(b.static_shared_bytes, 96);
  assert_int_equal(b.stack_bytes, 16);
  assert_int_equal(b.spill_store_bytes, 16);
  assert_int_equal(b.spill_load_bytes, 24);
  assert_int_equal(a.registers, 255);
  assert_int_equal(a.spill_store_bytes + a.stack_bytes + a.static_shared_bytes, 0);
}

/* Every truncation and many single wrong bytes: the parser refuses or answers, and reads nothing
 * outside the buffer (the sanitizers watch). */
static void test_damaged_cubin(void **state) {
  (void)state;
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, "__global__ void k(float *b) { b[threadIdx.x] = 1; }\n", "k");
  sct_compile_bits whole;
  sct_compile_bits bits;
  assert_true(sct_compile_elf_kernel(&whole, r.cubin, r.cubin_bytes, r.entry));
  assert_false(sct_compile_elf_kernel(&bits, r.cubin, r.cubin_bytes, "another_name"));

  /* Section headers end the file, so no prefix of it is whole. */
  for (size_t n = 0; n < r.cubin_bytes; n += 1 + n / 64) {
    unsigned char *const part = malloc(n > 0 ? n : 1);
    assert_non_null(part);
    memcpy(part, r.cubin, n);
    const bool good = sct_compile_elf_kernel(&bits, part, n, r.entry);
    free(part);
    assert_true(!good || sct_hash_equal(bits.text, whole.text));
  }
  const uint64_t seed = 20240611;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  unsigned char *const copy = malloc(r.cubin_bytes);
  assert_non_null(copy);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    memcpy(copy, r.cubin, r.cubin_bytes);
    /* mostly in the header and the section table, where a wrong byte is an offset */
    const int64_t size = (int64_t)r.cubin_bytes;
    const int64_t at = i % 4 == 0   ? sct_rng_below(&rng, size)
                       : i % 4 == 1 ? sct_rng_below(&rng, 64)
                                    : size - 1 - sct_rng_below(&rng, size / 4);
    copy[at] ^= (unsigned char)(1 + sct_rng_below(&rng, 255));
    refused += sct_compile_elf_kernel(&bits, copy, r.cubin_bytes, r.entry) ? 0 : 1;
  }
  assert_in_range(refused, 100, 3999);
  free(copy);
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spills_under_a_launch_bound),
      cmocka_unit_test(test_register_limit_option),
      cmocka_unit_test(test_static_shared_memory),
      cmocka_unit_test(test_figures_of_called_functions),
      cmocka_unit_test(test_log_of_another_version),
      cmocka_unit_test(test_damaged_cubin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
