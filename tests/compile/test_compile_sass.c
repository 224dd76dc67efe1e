/* The memory instructions found in machine code, for kernels whose instructions are written out, on
 * every architecture of compile_sass.def; and cubins that are damaged or unknown. */
#include "compile/compile_internal.h"
#include "compile_fixture.h"

static const int all_archs[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

/* Compiles for sm_<sm>; false if this NVRTC does not know it. */
static bool compile_for(int sm, const char *source, sct_compiler **compiler, sct_compiled *result) {
  char arch[16];
  sct_error err = {0};
  (void)snprintf(arch, sizeof(arch), "sm_%d", sm);
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  const sct_compile_unit unit = {source, "k", false};
  if (sct_compiler_new(compiler, &opts, &err) != SCT_OK) {
    assert_int_equal(err.code, SCT_EUSAGE);
    return false;
  }
  fx_run(*compiler, &unit, 1, result);
  if (!result->ok) {
    fail_msg("%s: %s", arch, result->log);
  }
  return true;
}

/* Fills `out` with the census of `source`; false: unknown architecture. */
static bool census_for(int sm, const char *source, sct_memops *out) {
  sct_compiler *compiler = NULL;
  sct_compiled r;
  sct_error err = {0};
  if (!compile_for(sm, source, &compiler, &r)) {
    return false;
  }
  if (sct_sass_memops(out, r.cubin, r.cubin_bytes, r.entry, &err) != SCT_OK) {
    fail_msg("sm_%d: %s", sm, err.text);
  }
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
  return true;
}

static void expect_row(int sm, const sct_memops *got, sct_memop_space space, sct_memop_kind op,
                       const int32_t want[SCT_MEMOP_N_WIDTHS]) {
  for (int w = 0; w < SCT_MEMOP_N_WIDTHS; ++w) {
    if (got->n[space][op][w] != want[w]) {
      fail_msg("sm_%d, space %d, operation %d: %d accesses of %d bytes where %d are written", sm,
               (int)space, (int)op, got->n[space][op][w], 1 << w, want[w]);
    }
  }
}

/* One access of 1 byte, two of 2, three of 4, two of 8, one of 16. */
#define LINE_LD(space, type, ctype, reg, at)                                                       \
  "  { " ctype " v; asm volatile(\"ld.volatile" space type " %0, [%1+" #at "];\" : \"=" reg        \
  "\"(v) : PLACE : \"memory\"); sum += v; }\n"
#define LINE_LD4(space, at)                                                                        \
  "  { unsigned x, y, z, w; asm volatile(\"ld.volatile" space ".v4.u32 {%0,%1,%2,%3}, [%4+" #at    \
  "];\" : \"=r\"(x), \"=r\"(y), \"=r\"(z), \"=r\"(w) : PLACE : \"memory\"); "                      \
  "sum += x ^ y * 3 ^ z * 5 ^ w * 7; }\n"
#define LINE_ST(space, type, ctype, reg, at)                                                       \
  "  asm volatile(\"st.volatile" space type " [%0+" #at "], %1;\" :: PLACE, \"" reg "\"((" ctype   \
  ")sum) : \"memory\");\n"
#define LINE_ST4(space, at)                                                                        \
  "  asm volatile(\"st.volatile" space ".v4.u32 [%0+" #at                                          \
  "], {%1,%1,%1,%1};\" :: PLACE, \"r\"((unsigned)sum) : \"memory\");\n"

#define LOADS(space)                                                                               \
  LINE_LD(space, ".u8", "unsigned short", "h", 0)                                                  \
  LINE_LD(space, ".u16", "unsigned short", "h", 2)                                                 \
  LINE_LD(space, ".s16", "short", "h", 4)                                                          \
  LINE_LD(space, ".u32", "unsigned", "r", 8)                                                       \
  LINE_LD(space, ".f32", "float", "f", 12)                                                         \
  LINE_LD(space, ".s32", "int", "r", 16)                                                           \
  LINE_LD(space, ".u64", "unsigned long long", "l", 24)                                            \
  LINE_LD(space, ".f64", "double", "d", 32) LINE_LD4(space, 48)
#define STORES(space)                                                                              \
  LINE_ST(space, ".u8", "unsigned short", "h", 64)                                                 \
  LINE_ST(space, ".u16", "unsigned short", "h", 66)                                                \
  LINE_ST(space, ".u16", "unsigned short", "h", 68)                                                \
  LINE_ST(space, ".u32", "unsigned", "r", 72)                                                      \
  LINE_ST(space, ".f32", "float", "f", 76)                                                         \
  LINE_ST(space, ".u32", "unsigned", "r", 80)                                                      \
  LINE_ST(space, ".u64", "unsigned long long", "l", 88)                                            \
  LINE_ST(space, ".f64", "double", "d", 96) LINE_ST4(space, 112)
#define HEAD                                                                                       \
  "__global__ void k(char *p, char *q) {\n  unsigned long long sum = threadIdx.x;\n"               \
  "  extern __shared__ char s[];\n  const unsigned at = threadIdx.x * 256 + "                      \
  "(unsigned)__cvta_generic_to_shared(s);\n  (void)at; p += threadIdx.x * 256; q += "              \
  "threadIdx.x * 256;\n"

static const int32_t five_widths[SCT_MEMOP_N_WIDTHS] = {1, 2, 3, 2, 1, 0};
static const int32_t nothing[SCT_MEMOP_N_WIDTHS] = {0};

static void test_loads_and_stores_of_every_width(void **state) {
  (void)state;
  static const struct {
    sct_memop_space space;
    const char *source;
  } cases[] = {
      {SCT_MEMOP_GLOBAL, "#define PLACE \"l\"(p)\n" HEAD LOADS(".global") STORES(".global") "}\n"},
      {SCT_MEMOP_SHARED, "#define PLACE \"r\"(at)\n" HEAD LOADS(".shared") STORES(".shared") "}\n"},
      {SCT_MEMOP_GENERIC, "#define PLACE \"l\"(p)\n" HEAD LOADS("") STORES("") "}\n"},
  };
  for (int a = 0; a < SCT_COUNT(all_archs); ++a) {
    for (int c = 0; c < SCT_COUNT(cases); ++c) {
      sct_memops got;
      if (!census_for(all_archs[a], cases[c].source, &got)) {
        continue;
      }
      for (int space = 0; space < SCT_MEMOP_N_SPACES; ++space) {
        const int32_t *want = space == (int)cases[c].space ? five_widths : nothing;
        expect_row(all_archs[a], &got, (sct_memop_space)space, SCT_MEMOP_LOAD, want);
        expect_row(all_archs[a], &got, (sct_memop_space)space, SCT_MEMOP_STORE, want);
        expect_row(all_archs[a], &got, (sct_memop_space)space, SCT_MEMOP_ATOMIC, nothing);
      }
      assert_int_equal(got.bulk, 0);
      assert_int_equal(got.n_loops, 0);
    }
  }
}

static void test_accesses_of_32_bytes(void **state) {
  (void)state;
  static const int32_t one[SCT_MEMOP_N_WIDTHS] = {0, 0, 0, 0, 0, 1};
  for (int a = 0; a < SCT_COUNT(all_archs); ++a) {
    sct_memops got;
    if (all_archs[a] >= 100 &&
        census_for(all_archs[a],
                   HEAD "  unsigned long long a, b, c, d;\n"
                        "  asm volatile(\"ld.global.v4.u64 {%0,%1,%2,%3}, [%4];\" : \"=l\"(a), "
                        "\"=l\"(b), \"=l\"(c), \"=l\"(d) : \"l\"(p));\n"
                        "  asm volatile(\"st.global.v4.u64 [%0], {%1,%2,%3,%4};\" :: \"l\"(q), "
                        "\"l\"(a + sum), \"l\"(b + 1), \"l\"(c + 2), \"l\"(d + 3));\n}\n",
                   &got)) {
      expect_row(all_archs[a], &got, SCT_MEMOP_GLOBAL, SCT_MEMOP_LOAD, one);
      expect_row(all_archs[a], &got, SCT_MEMOP_GLOBAL, SCT_MEMOP_STORE, one);
    }
  }
}

/* ptxas surrounds asynchronous copies with shared loads that never run. */
static void test_asynchronous_copies(void **state) {
  (void)state;
  static const int32_t async[SCT_MEMOP_N_WIDTHS] = {0, 0, 1, 2, 3, 0};
  static const char source[] = HEAD
      "#define COPY(op, off, n) asm volatile(\"cp.async.\" op \".shared.global [%0+\" #off \"], "
      "[%1+\" #off \"], \" #n \";\" :: \"r\"(at), \"l\"(p) : \"memory\");\n"
      "  COPY(\"ca\", 0, 4) COPY(\"ca\", 8, 8) COPY(\"ca\", 16, 8) COPY(\"ca\", 32, 16)\n"
      "  COPY(\"cg\", 48, 16) COPY(\"cg\", 64, 16)\n"
      "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n}\n";
  for (int a = 0; a < SCT_COUNT(all_archs); ++a) {
    sct_memops got;
    if (all_archs[a] >= 80 && census_for(all_archs[a], source, &got)) {
      expect_row(all_archs[a], &got, SCT_MEMOP_GLOBAL, SCT_MEMOP_ASYNC, async);
      expect_row(all_archs[a], &got, SCT_MEMOP_SHARED, SCT_MEMOP_LOAD, nothing);
      expect_row(all_archs[a], &got, SCT_MEMOP_SHARED, SCT_MEMOP_STORE, nothing);
    }
  }
}

#define ATOMICS(body)                                                                              \
  HEAD "  unsigned v; unsigned long long w; float f; double d;\n" body                             \
       "  (void)v; (void)w; (void)f; (void)d;\n}\n"
#define ATOM(form, out, reg, place, value)                                                         \
  "  asm volatile(\"atom." form " %0, [%1], %2;\" : \"=" reg "\"(" out ") : " place ", \"" reg     \
  "\"(" value ") : \"memory\"); sum += (unsigned long long)" out ";\n"
#define RED(form, reg, place, value)                                                               \
  "  asm volatile(\"red." form " [%0], %1;\" :: " place ", \"" reg "\"(" value ") : "              \
  "\"memory\");\n"

static void test_atomics(void **state) {
  (void)state;
  static const int32_t global[SCT_MEMOP_N_WIDTHS] = {0, 0, 6, 6, 0, 0};
  static const int32_t shared[SCT_MEMOP_N_WIDTHS] = {0, 0, 3, 1, 0, 0};
  static const char source[] = ATOMICS(
      ATOM("global.add.u32", "v", "r", "\"l\"(p)", "(unsigned)sum") ATOM(
          "global.min.s32", "v", "r", "\"l\"(p + 4)",
          "(unsigned)sum") ATOM("global.add.f32", "f", "f", "\"l\"(p + 8)",
                                "(float)sum") ATOM("global.add.u64", "w", "l", "\"l\"(p + 16)",
                                                   "sum") ATOM("global.max.s64", "w", "l",
                                                               "\"l\"(p + 24)", "sum")
          ATOM("global.add.f64", "d", "d", "\"l\"(p + 32)", "(double)sum") RED(
              "global.or.b32", "r", "\"l\"(p + 40)",
              "(unsigned)sum") RED("global.add.f32", "f", "\"l\"(p + 44)", "(float)sum")
              RED("global.add.u64", "l", "\"l\"(p + 48)", "sum") RED(
                  "global.add.f64", "d",
                  "\"l\"(p + 56)",
                  "(double)sum") "  asm volatile(\"atom.global.cas.b32 %0, [%1], 1, 2;\" : "
                                 "\"=r\"(v) : \"l\"(p + 64) : "
                                 "\"memory\");\n"
                                 "  asm volatile(\"atom.global.cas.b64 %0, [%1], %2, %2;\" : "
                                 "\"=l\"(w) : \"l\"(p + 72), "
                                 "\"l\"(sum) : \"memory\"); sum += v + w;\n" ATOM(
                                     "shared.add.u32", "v", "r", "\"r\"(at)", "(unsigned)sum")
                                     ATOM("shared.max.s32", "v", "r", "\"r\"(at + 4)",
                                          "(unsigned)sum") "  asm volatile(\"atom.shared.cas.b32 "
                                                           "%0, [%1], 1, 2;\" : \"=r\"(v) : "
                                                           "\"r\"(at + 8) : "
                                                           "\"memory\");\n"
                                                           "  asm volatile(\"atom.shared.cas.b64 "
                                                           "%0, [%1], %2, %2;\" : \"=l\"(w) : "
                                                           "\"r\"(at + 16), "
                                                           "\"l\"(sum) : \"memory\"); sum += v + "
                                                           "w;\n"
                                                           "  *(unsigned long long *)q = sum;\n");
  for (int a = 0; a < SCT_COUNT(all_archs); ++a) {
    sct_memops got;
    if (census_for(all_archs[a], source, &got)) {
      expect_row(all_archs[a], &got, SCT_MEMOP_GLOBAL, SCT_MEMOP_ATOMIC, global);
      expect_row(all_archs[a], &got, SCT_MEMOP_SHARED, SCT_MEMOP_ATOMIC, shared);
    }
  }
}

static void test_vector_reductions(void **state) {
  (void)state;
  static const int32_t want[SCT_MEMOP_N_WIDTHS] = {0, 0, 2, 2, 2, 0};
  static const char source[] = HEAD
      "  const float f = (float)sum; const unsigned h = (unsigned)sum;\n"
      "  asm volatile(\"red.global.add.noftz.f16x2 [%0], %1;\" :: \"l\"(p), \"r\"(h));\n"
      "  asm volatile(\"red.global.add.noftz.bf16x2 [%0], %1;\" :: \"l\"(p + 4), \"r\"(h));\n"
      "  asm volatile(\"red.global.add.v2.f32 [%0], {%1,%1};\" :: \"l\"(p + 8), \"f\"(f));\n"
      "  asm volatile(\"red.global.add.noftz.v2.bf16x2 [%0], {%1,%1};\" :: \"l\"(p + 16), "
      "\"r\"(h));\n"
      "  asm volatile(\"red.global.add.v4.f32 [%0], {%1,%1,%1,%1};\" :: \"l\"(p + 32), "
      "\"f\"(f));\n"
      "  asm volatile(\"red.global.add.noftz.v4.f16x2 [%0], {%1,%1,%1,%1};\" :: \"l\"(p + 48), "
      "\"r\"(h));\n}\n";
  for (int a = 0; a < SCT_COUNT(all_archs); ++a) {
    sct_memops got;
    if (all_archs[a] >= 90 && census_for(all_archs[a], source, &got)) {
      expect_row(all_archs[a], &got, SCT_MEMOP_GLOBAL, SCT_MEMOP_ATOMIC, want);
    }
  }
}

static void test_bulk_copies(void **state) {
  (void)state;
  static const char source[] = HEAD
      "#if __CUDA_ARCH__ >= 900\n"
      "  asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
      "[%1], 64, [%2];\" :: \"r\"(at), \"l\"(p), \"r\"(at + 128) : \"memory\");\n"
      "  asm volatile(\"cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 64;\" :: "
      "\"l\"(p), \"r\"(at) : \"memory\");\n"
      "  asm volatile(\"cp.async.bulk.prefetch.L2.global [%0], 64;\" :: \"l\"(p));\n"
      "#endif\n}\n";
  for (int a = 0; a < SCT_COUNT(all_archs); ++a) {
    sct_memops got;
    if (census_for(all_archs[a], source, &got)) {
      assert_int_equal(got.bulk, all_archs[a] >= 90 ? 2 : 0);
    }
  }
}

/* Spills and saved registers are local; guarded accesses count, called functions too. */
static void test_calls_guards_and_local_memory(void **state) {
  (void)state;
  static const char source[] =
      "static __device__ __noinline__ int far(const int *p, int i) { return p[i] + p[i + 9]; }\n"
      "__global__ void k(int *p, int *q, int n) {\n"
      "  int v[64];\n"
      "  for (int i = 0; i < 64; ++i) { v[i] = far(p, i + (int)threadIdx.x); }\n"
      "  if (threadIdx.x < n) { q[threadIdx.x] = v[n & 63]; }\n"
      "}\n";
  sct_memops got;
  if (!census_for(90, source, &got)) {
    skip();
  }
  int32_t loads = 0, local = 0;
  for (int w = 0; w < SCT_MEMOP_N_WIDTHS; ++w) {
    loads +=
        got.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_LOAD][w] + got.n[SCT_MEMOP_GENERIC][SCT_MEMOP_LOAD][w];
    local += got.n[SCT_MEMOP_LOCAL][SCT_MEMOP_STORE][w];
  }
  assert_int_equal(loads, 2);
  assert_true(local > 0);
  assert_int_equal(got.n[SCT_MEMOP_GLOBAL][SCT_MEMOP_STORE][2], 1);
}

/* ---- cubins that cannot be read */

static void expect_failure(const void *cubin, size_t bytes, const char *entry, sct_status want,
                           const char *text) {
  sct_memops got;
  sct_error err = {0};
  memset(&got, 7, sizeof(got));
  assert_int_equal(sct_sass_memops(&got, cubin, bytes, entry, &err), want);
  if (strstr(err.text, text) == NULL) {
    fail_msg("'%s' in: %s", text, err.text);
  }
  assert_int_equal(got.bulk, 0x07070707); /* unchanged */
}

/* Sets the width of the first global load to one that no compiler writes. */
static void break_width(unsigned char *code, size_t bytes) {
  for (size_t at = 0; at + 16 <= bytes; at += 16) {
    if (code[at] == 0x81 && (code[at + 1] & 1) != 0) {
      code[at + 9] |= 14;
      return;
    }
  }
  fail_msg("no load");
}

static void test_unknown_machine_code_is_an_error(void **state) {
  (void)state;
  sct_compiler *compiler = NULL;
  char *source = fx_map_source(1, "x + 1.f");
  sct_compiled r = fx_one(&compiler, source, "map");
  assert_true(r.ok);
  unsigned char *copy = malloc(r.cubin_bytes);
  assert_non_null(copy);
  memcpy(copy, r.cubin, r.cubin_bytes);
  expect_failure(copy, r.cubin_bytes, "nobody", SCT_EUSAGE, "no kernel 'nobody'");
  expect_failure(copy, 40, r.entry, SCT_EDATA, "no sound cubin");
  for (size_t cut = 64; cut < r.cubin_bytes / 2; cut += 61) { /* sections are missing */
    expect_failure(copy, cut, r.entry, SCT_EDATA, "no sound cubin");
  }
  sct_compile_text text;
  assert_true(sct_compile_elf_text(&text, copy, r.cubin_bytes, r.entry));
  assert_int_equal(text.sm, 90);
  assert_true(text.bytes > 0 && text.bytes % 16 == 0);
  copy[49] = 70; /* e_flags */
  expect_failure(copy, r.cubin_bytes, r.entry, SCT_EDATA, "machine code of sm_70: known are sm_75");
  copy[49] = 90;
  break_width(copy + (text.data - copy), text.bytes);
  expect_failure(copy, r.cubin_bytes, r.entry, SCT_EDATA, "LDG of unknown width");
  free(copy);
  free(source);
  sct_compiled_free(&r);
  sct_compiler_free(compiler);
}

int main(int argc, char **argv) {
  FX_WORKER(argc, argv)
  sct_compiler *compiler = NULL;
  sct_error err = {0};
  const sct_compile_opts opts = {.arch = "sm_90", .threads = 1};
  if (sct_compiler_new(&compiler, &opts, &err) != SCT_OK) {
    return 77;
  }
  sct_compiler_free(compiler);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loads_and_stores_of_every_width),
      cmocka_unit_test(test_accesses_of_32_bytes),
      cmocka_unit_test(test_asynchronous_copies),
      cmocka_unit_test(test_atomics),
      cmocka_unit_test(test_vector_reductions),
      cmocka_unit_test(test_bulk_copies),
      cmocka_unit_test(test_calls_guards_and_local_memory),
      cmocka_unit_test(test_unknown_machine_code_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
