/* Batches: good kernels, one bad among many, what the errors say, equal code, threads. */
#include "compile_fixture.h"

static const sct_compile_opts plain = {.arch = "sm_90", .threads = 1};

static void test_good_kernel_gives_code_and_figures(void **state) {
  (void)state;
  char *source = fx_map_source(0, "x + 1.0f");
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, source, "map");
  assert_true(r.ok);
  assert_false(r.from_cache);
  assert_null(r.log);
  assert_memory_equal(r.cubin, "\177ELF", 4);
  assert_non_null(strstr(r.ptx, r.entry));
  assert_non_null(strstr(r.ptx, ".target sm_90"));
  assert_non_null(strstr(r.ptx, "\t.loc\t")); /* PTX lines can be traced to source lines */
  assert_in_range(r.registers, 4, 32);
  assert_int_equal(r.spill_load_bytes + r.spill_store_bytes + r.stack_bytes, 0);
  assert_int_equal(r.static_shared_bytes, 0);
  /* 24 bytes of parameters behind what sm_90 keeps in bank 0 */
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
  free(source);
}

static void test_version_and_options(void **state) {
  (void)state;
  const char *const extra[] = {"--use_fast_math", NULL};
  const sct_compile_opts opts = {.arch = "sm_90", .extra = extra};
  sct_compiler *compiler = fx_compiler(&opts);
  int major = 0;
  int minor = -1;
  assert_int_equal(sscanf(sct_compiler_version(compiler), "%d.%d", &major, &minor), 2);
  assert_in_range(major, 12, 99);
  assert_non_null(strstr(sct_compiler_options(compiler), "--gpu-architecture=sm_90"));
  assert_non_null(strstr(sct_compiler_options(compiler), " --use_fast_math"));
  sct_compiler_free(compiler);
}

static void test_one_broken_of_twenty(void **state) {
  (void)state;
  enum { N = 20, BAD = 13 };
  char *source[N];
  sct_compile_unit units[N];
  sct_compiled r[N];
  for (int i = 0; i < N; ++i) {
    char expression[64];
    (void)snprintf(expression, sizeof(expression), i == BAD ? "x * undefined_name%d" : "x * %d.0f",
                   i);
    source[i] = fx_map_source(i, expression);
    units[i] = (sct_compile_unit){source[i], "map", false};
  }
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .batch = N};
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, units, N, r);
  for (int i = 0; i < N; ++i) {
    assert_int_equal(r[i].ok, i != BAD);
    assert_int_equal(r[i].log != NULL, i == BAD);
  }
  assert_true(sct_has_prefix(r[BAD].log, "line 3: error: identifier \"undefined_name13\""));
  assert_null(strstr(r[BAD].log, "::")); /* nothing of our namespaces */
  assert_null(r[BAD].cubin);
  /* the others went through one program together, so they share it */
  assert_ptr_equal(r[0].cubin, r[N - 1].cubin);
  assert_false(sct_hash_equal(r[0].code_hash, r[1].code_hash)); /* another constant */
  for (int i = 0; i < N; ++i) {
    sct_compiled_free(&r[i]);
    free(source[i]);
  }
  sct_compiler_free(compiler);
}

/* 80,000 static bytes: ptxas refuses, and with -v does not say why. */
#define TOO_MUCH_SHARED                                                                            \
  "__global__ void map(float *b) {\n"                                                              \
  "  __shared__ float s[20000];\n"                                                                 \
  "  s[threadIdx.x] = b[1]; __syncthreads(); b[0] = s[3];\n"                                       \
  "}\n"

/* Errors that name nobody, or the wrong unit, must still end with the right one failing. */
static void test_errors_that_leak_into_neighbours(void **state) {
  (void)state;
  char *good = fx_map_source(0, "x");
  char *other = fx_map_source(1, "x + 2.0f");
  const char *const bad[] = {
      "__global__ void map(float *b) {\n  b[0] = 1;\n",            /* no closing brace */
      "__global__ void map(float *b) {\n  b[0] = 1;\n}\n}\n",      /* one too many */
      "__global__ void map(float *b) {\n  b[0] = 1; /* open\n}\n", /* comment */
      "__device__ float g(float);\n__global__ void map(float *b) { b[0] = g(1); }\n", /* no body */
      TOO_MUCH_SHARED,
  };
  for (int i = 0; i < SCT_COUNT(bad); ++i) {
    const sct_compile_unit units[] = {
        {good, "map", false}, {bad[i], "map", false}, {other, "map", false}};
    sct_compiled r[3];
    sct_compiler *compiler = fx_compiler(&plain);
    fx_run(compiler, units, 3, r);
    assert_true(r[0].ok && r[2].ok);
    assert_false(r[1].ok);
    assert_non_null(strstr(r[1].log, "error"));
    for (int k = 0; k < 3; ++k) {
      sct_compiled_free(&r[k]);
    }
    sct_compiler_free(compiler);
  }
  free(good);
  free(other);
}

static void test_assembler_error_names_the_source_line(void **state) {
  (void)state;
  const char *source = "__global__ void k(float *b) {\n"
                       "  float x = b[1];\n"
                       "  asm(\"bogus.instr %0;\" : \"+f\"(x));\n"
                       "  b[0] = x;\n"
                       "}\n";
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, source, "k");
  assert_false(r.ok);
  assert_non_null(strstr(r.log, "line 3: error:"));
  assert_non_null(strstr(r.log, "bogus"));
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

static void test_too_much_shared_memory_says_so(void **state) {
  (void)state;
  sct_compiler *compiler = NULL;
  sct_compiled r = fx_one(&compiler, TOO_MUCH_SHARED, "map");
  assert_false(r.ok);
  assert_non_null(strstr(r.log, "too much shared data"));
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

static void test_missing_kernel_is_named(void **state) {
  (void)state;
  const char *source = "__device__ float g(float x) { return x; }\n"
                       "__global__ void k(float *b) { b[0] = g(b[1]); }\n";
  const sct_compile_unit units[] = {
      {source, "kern", false}, {source, "g", false}, {source, "k", false}};
  sct_compiled r[3];
  sct_compiler *compiler = fx_compiler(&plain);
  fx_run(compiler, units, 3, r);
  assert_string_equal(r[0].log, "error: the source has no __global__ function 'kern'\n");
  assert_string_equal(r[1].log, "error: the source has no __global__ function 'g'\n");
  assert_true(r[2].ok);
  for (int i = 0; i < 3; ++i) {
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
}

/* A macro of one source must not reach the next one. */
static void test_macros_stay_in_their_source(void **state) {
  (void)state;
  const char *const define = "#define SCALE 3.0f\n__global__ void k(float *b) { b[0] = SCALE; }\n";
  const char *const ask = "#ifdef SCALE\n#define N 200\n#else\n#define N 100\n#endif\n"
                          "__global__ void k(float *b) {\n  __shared__ float s[N];\n"
                          "  s[threadIdx.x] = 1; __syncthreads(); b[0] = s[threadIdx.x ^ 1];\n}\n";
  const char *const uses =
      "__global__ void k(float *b) { const float SCALE = b[1]; b[0] = SCALE; }\n";
  const sct_compile_unit units[] = {{define, "k", false}, {ask, "k", false}, {uses, "k", false}};
  sct_compiled r[3];
  sct_compiler *compiler = fx_compiler(&plain);
  fx_run(compiler, units, 3, r);
  assert_int_equal(r[1].static_shared_bytes, 400);
  for (int i = 0; i < 3; ++i) {
    assert_true(r[i].ok);
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
}

static void test_equal_code_has_an_equal_hash(void **state) {
  (void)state;
  char *a = fx_map_source(1, "x / 3.1f"); /* a slow path in a function of its own */
  char *b = fx_map_source(2, "(x) / (3.1f)");
  char *c = fx_map_source(3, "x / 3.2f");
  /* a launch bound limits launches and does not change the code */
  const char *const bound[] = {
      "__global__ void k(float *b) { b[threadIdx.x] += 1; }\n",
      "__global__ void __launch_bounds__(256) k(float *b) { b[threadIdx.x] += 1; }\n",
      "__global__ void __cluster_dims__(2, 1, 1) k(float *b) { b[threadIdx.x] += 1; }\n",
  };
  const sct_compile_unit units[] = {{a, "map", false},      {b, "map", false},
                                    {c, "map", false},      {bound[0], "k", false},
                                    {bound[1], "k", false}, {bound[2], "k", false}};
  sct_compiled r[6];
  sct_compiler *compiler = fx_compiler(&plain);
  fx_run(compiler, units, 6, r);
  assert_true(sct_hash_equal(r[0].code_hash, r[1].code_hash));
  assert_string_not_equal(r[0].entry, r[1].entry);
  assert_false(sct_hash_equal(r[0].code_hash, r[2].code_hash));
  assert_true(sct_hash_equal(r[3].code_hash, r[4].code_hash));
  assert_false(sct_hash_equal(r[3].code_hash, r[5].code_hash));
  for (int i = 0; i < 6; ++i) {
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
  free(a);
  free(b);
  free(c);
}

/* Values in constant memory are not in the machine code: kernels that differ only there differ. */
static void test_tables_make_code_differ(void **state) {
  (void)state;
  const char *const format = "__constant__ float table[4] = {1, 2, 3, %d};\n"
                             "__global__ void k(float *b, int i) { b[0] = table[i & 3]; }\n";
  char one[256];
  char two[256];
  (void)snprintf(one, sizeof(one), format, 4);
  (void)snprintf(two, sizeof(two), format, 5);
  const sct_compile_unit units[] = {{one, "k", false}, {two, "k", false}};
  /* programs of their own, so that both tables have the same address */
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .batch = 1};
  sct_compiled r[2];
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, units, 2, r);
  assert_true(r[0].ok && r[1].ok);
  assert_false(sct_hash_equal(r[0].code_hash, r[1].code_hash));
  for (int i = 0; i < 2; ++i) {
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
}

/* A source that stands several times in a request is compiled once and gives each its own result.
 */
static void test_equal_sources(void **state) {
  (void)state;
  char *source = fx_map_source(0, "x");
  const char *const bad = "__global__ void map( { }\n";
  const sct_compile_unit units[] = {
      {source, "map", false}, {bad, "map", false}, {source, "map", false}, {bad, "map", false}};
  sct_compiled r[4];
  sct_compiler *compiler = fx_compiler(&plain);
  fx_run(compiler, units, 4, r);
  assert_true(r[0].ok && r[2].ok && !r[1].ok && !r[3].ok);
  assert_string_equal(r[0].entry, r[2].entry);
  assert_ptr_not_equal(r[0].entry, r[2].entry);
  assert_ptr_equal(r[0].cubin, r[2].cubin);
  assert_string_equal(r[1].log, r[3].log);
  for (int i = 0; i < 4; ++i) {
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
  free(source);
}

static void test_threads_do_not_change_results(void **state) {
  (void)state;
  enum { N = 12 };
  char *source[N];
  sct_compile_unit units[N];
  sct_compiled one[N];
  sct_compiled four[N];
  for (int i = 0; i < N; ++i) {
    char expression[64];
    (void)snprintf(expression, sizeof(expression), i == 5 ? "x +" : "x / %d.5f", i);
    source[i] = fx_map_source(i, expression);
    units[i] = (sct_compile_unit){source[i], "map", false};
  }
  const sct_compile_opts opts1 = {.arch = "sm_90", .threads = 1, .batch = 5};
  const sct_compile_opts opts4 = {.arch = "sm_90", .threads = 4, .batch = 2};
  sct_compiler *compiler1 = fx_compiler(&opts1);
  sct_compiler *compiler4 = fx_compiler(&opts4);
  fx_run(compiler1, units, N, one);
  fx_run(compiler4, units, N, four);
  for (int i = 0; i < N; ++i) {
    assert_int_equal(one[i].ok, i != 5);
    assert_int_equal(four[i].ok, one[i].ok);
    if (one[i].ok) {
      assert_string_equal(four[i].entry, one[i].entry);
      assert_true(sct_hash_equal(four[i].code_hash, one[i].code_hash));
      assert_int_equal(four[i].registers, one[i].registers);
    } else {
      assert_string_equal(four[i].log, one[i].log);
    }
    sct_compiled_free(&one[i]);
    sct_compiled_free(&four[i]);
    free(source[i]);
  }
  sct_compiler_free(compiler1);
  sct_compiler_free(compiler4);
}

/* Results outlive the compiler. */
static void test_lifetime_of_code(void **state) {
  (void)state;
  char *a = fx_map_source(0, "x + 1.0f");
  char *b = fx_map_source(1, "x + 2.0f");
  const sct_compile_unit units[] = {{a, "map", false}, {b, "map", false}};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .batch = 1};
  sct_compiled r[2];
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, units, 2, r);
  const unsigned char *const kept = r[0].cubin;
  sct_compiled_free(&r[0]);
  assert_memory_equal(kept, "\177ELF", 4); /* still there: the compiler holds it */
  sct_compiler_free(compiler);
  assert_memory_equal(r[1].cubin, "\177ELF", 4);
  assert_non_null(strstr(r[1].ptx, r[1].entry));
  sct_compiled_free(&r[1]);
  free(a);
  free(b);
}

typedef struct progress_log {
  int calls, last, total, stop_at;
} progress_log;

static bool on_progress(void *ctx, int done, int total) {
  progress_log *const log = ctx;
  assert_true(done >= log->last && done <= total);
  ++log->calls;
  log->last = done;
  log->total = total;
  return log->stop_at < 0 || done < log->stop_at;
}

static void test_progress_and_stop(void **state) {
  (void)state;
  enum { N = 6 };
  char *source[N];
  sct_compile_unit units[N];
  sct_compiled r[N];
  for (int i = 0; i < N; ++i) {
    source[i] = fx_map_source(i, "x");
    units[i] = (sct_compile_unit){source[i], "map", false};
  }
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .batch = 1};
  sct_compiler *compiler = fx_compiler(&opts);
  sct_error err = {0};
  progress_log all = {.stop_at = -1};
  assert_int_equal(sct_compiler_run(compiler, units, N, r, on_progress, &all, &err), SCT_OK);
  assert_int_equal(all.last, N);
  assert_int_equal(all.total, N);
  for (int i = 0; i < N; ++i) {
    sct_compiled_free(&r[i]);
  }
  progress_log some = {.stop_at = 0}; /* at the first call */
  assert_int_equal(sct_compiler_run(compiler, units, N, r, on_progress, &some, &err),
                   SCT_EINTERRUPTED);
  assert_true(some.last < N);
  for (int i = 0; i < N; ++i) {
    sct_compiled_free(&r[i]);
    free(source[i]);
  }
  sct_compiler_free(compiler);
}

/* The limit is looked at between passes: with 1 ns every source misses it. */
static void test_time_limit_is_an_outcome(void **state) {
  (void)state;
  char *a = fx_map_source(0, "x + 1.0f");
  char *b = fx_map_source(1, "x + 2.0f");
  const sct_compile_unit units[] = {{a, "map", false}, {b, "map", false}};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1, .limit_ns = 1};
  sct_compiled r[2];
  sct_compiler *compiler = fx_compiler(&opts);
  fx_run(compiler, units, 2, r);
  for (int i = 0; i < 2; ++i) {
    assert_false(r[i].ok);
    assert_non_null(strstr(r[i].log, "took longer than"));
    sct_compiled_free(&r[i]);
  }
  sct_compiler_free(compiler);
  free(a);
  free(b);
}

static void test_refused_option(void **state) {
  (void)state;
  char *source = fx_map_source(0, "x");
  const char *const extra[] = {"--no-such-option", NULL};
  const sct_compile_opts opts = {.arch = "sm_90", .extra = extra};
  const sct_compile_unit unit = {source, "map", false};
  sct_compiler *compiler = fx_compiler(&opts);
  sct_error err = {0};
  sct_compiled r;
  assert_int_equal(sct_compiler_run(compiler, &unit, 1, &r, NULL, NULL, &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "no-such-option"));
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
  free(source);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_kernel_gives_code_and_figures),
      cmocka_unit_test(test_version_and_options),
      cmocka_unit_test(test_one_broken_of_twenty),
      cmocka_unit_test(test_errors_that_leak_into_neighbours),
      cmocka_unit_test(test_assembler_error_names_the_source_line),
      cmocka_unit_test(test_too_much_shared_memory_says_so),
      cmocka_unit_test(test_missing_kernel_is_named),
      cmocka_unit_test(test_macros_stay_in_their_source),
      cmocka_unit_test(test_equal_code_has_an_equal_hash),
      cmocka_unit_test(test_tables_make_code_differ),
      cmocka_unit_test(test_equal_sources),
      cmocka_unit_test(test_threads_do_not_change_results),
      cmocka_unit_test(test_lifetime_of_code),
      cmocka_unit_test(test_progress_and_stop),
      cmocka_unit_test(test_time_limit_is_an_outcome),
      cmocka_unit_test(test_refused_option),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
