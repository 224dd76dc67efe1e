/* What integers are compared with and divided by, as NVRTC writes it, and which pointers are looked
 * at as numbers. */
#include "nvrtc_text.h"
#include "ptx_kernel.h"

static sct_ptx_module *module_of(const char *ptx) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  if (sct_ptx_parse(&module, ptx, "traits.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return module;
}

static sct_ptx_module *compiled(const char *cuda, const char *arch) {
  char *ptx = nvrtc_ptx(cuda, "traits.cu", arch, NULL);
  assert_non_null(ptx);
  sct_ptx_module *module = module_of(ptx);
  free(ptx);
  return module;
}

static sct_ptx_traits traits_of(const sct_ptx_module *module, const char *kernel) {
  sct_error err = {0};
  sct_ptx_traits out;
  if (sct_ptx_traits_of(&out, module, kernel, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return out;
}

static void print_constants(sct_str *out, const sct_ptx_traits *t) {
  for (int i = 0; i < t->n_constants; i++) {
    sct_str_printf(out, "%s%lld", i > 0 ? " " : "", (long long)t->constant[i]);
  }
}

/* ---- divisions by constants, of which compilers make multiplications */

static const char *const divisions[] = {
    "(int *y, unsigned n) { y[threadIdx.x] = n / %uu; }",
    "(int *y, int n) { y[threadIdx.x] = n / %u; }",
    "(int *y, unsigned n) { y[threadIdx.x] = n %% %uu; }",
    "(int *y, int n) { y[threadIdx.x] = n %% %u; }",
    "(int *y, int n) { if (n %% %u == 0) { y[threadIdx.x] = 1; } }",
    "(int *y, unsigned n) { if (n %% %uu == 0) { y[threadIdx.x] = 1; } }",
    "(int *y, unsigned long long n) { y[threadIdx.x] = (int)(n / %uu); }",
    "(int *y, long long n) { y[threadIdx.x] = (int)(n / %u); }",
    "(int *y, unsigned long long n) { if (n %% %uu == 0) { y[threadIdx.x] = 1; } }",
    "(int *y, long long n) { if (n %% %u == 0) { y[threadIdx.x] = 1; } }",
    "(int *y, long long n) { long long i = blockIdx.x; if (i < n) { y[i / %u] = 1; } }"};

/* In machine-independent words of two compilers: the one for sm_90, and that for sm_120, which
 * tests for divisibility by inverses. */
static void divisors_are_found(void **state) {
  (void)state;
  static const unsigned divisors[] = {3, 6, 7, 10, 12, 28, 32, 394, 412, 1000, 100003};
  static const char *const archs[] = {"sm_90", "sm_120"};
  sct_str cuda = {0};
  for (int f = 0; f < SCT_COUNT(divisions); f++) {
    for (int k = 0; k < SCT_COUNT(divisors); k++) {
      sct_str_printf(&cuda, "extern \"C\" __global__ void k%d_%u", f, divisors[k]);
      const char *text = strstr(divisions[f], "%u"), *rest = text + 2;
      for (const char *p = divisions[f]; p < text; p++) { /* "%%" is "%" */
        p += p[0] == '%' && p[1] == '%';
        sct_str_printf(&cuda, "%c", *p);
      }
      sct_str_printf(&cuda, "%u%s\n", divisors[k], rest);
    }
  }
  for (int a = 0; a < SCT_COUNT(archs); a++) {
    sct_ptx_module *module = compiled(sct_str_c(&cuda), archs[a]);
    for (int i = 0; i < sct_ptx_n_kernels(module); i++) {
      const char *name = sct_ptx_kernel_at(module, i)->name;
      const long long d = atoll(strchr(name, '_') + 1);
      const sct_ptx_traits t = traits_of(module, name);
      sct_str found = {0};
      bool hit = false, other = false;
      for (int k = 0; k < t.n_constants; k++) {
        hit |= t.constant[k] == d;
        other |= t.constant[k] > 2 * d; /* a factor of the machine's */
      }
      print_constants(&found, &t);
      if (!hit || other) {
        fail_msg("%s for %s: %s", name, archs[a], sct_str_c(&found));
      }
      sct_str_free(&found);
    }
    sct_ptx_module_free(module);
  }
  sct_str_free(&cuda);
}

/* ---- others */

static void positions_meet_constants(void **state) {
  (void)state;
  static const struct {
    const char *body, *want;
  } known[] = {
      {"if (n > 31) y[0] = 1;", "32"},
      {"if (n >= 31) y[0] = 1;", "31"},
      {"if (n == 77) y[0] = 1;", "77"},
      {"if (n / 12 > 5) y[0] = 1;", "72"},
      {"if (n - 5u < 95u) y[0] = 1;", "5 95 100"},
      {"y[min(n, 1000)] = 1;", "1000"},
      {"if ((n & 7) != 0) y[0] = 1;", "8"},
      {"y[n & ~63] = 1;", "64"},
      {"if (blockIdx.x * 192 + threadIdx.x < n) y[0] = 1;", "192"},
      {"for (int i = blockIdx.x * 48 + threadIdx.x; i < n; i += 96) y[i] = 1;", "48 96"},
      {"for (int i = threadIdx.x; i < n; i += 96) y[i] = 1;", ""}, /* of threads alone */
      {"y[threadIdx.x * 192] = 1;", ""},                           /* an address like any other */
      {"if (y[n] == 77) y[0] = 1;", ""},                           /* data */
      {"if (threadIdx.x < blockIdx.x) y[0] = 1;", ""},             /* no constant */
  };
  sct_str cuda = {0};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    sct_str_printf(&cuda,
                   "extern \"C\" __global__ void k%d(int *y, int n) {\n#pragma unroll 1\n%s}\n", k,
                   known[k].body);
  }
  sct_ptx_module *module = compiled(sct_str_c(&cuda), "sm_90");
  for (int k = 0; k < SCT_COUNT(known); k++) {
    char name[16];
    sct_str found = {0};
    snprintf(name, sizeof name, "k%d", k);
    const sct_ptx_traits t = traits_of(module, name);
    print_constants(&found, &t);
    assert_string_equal(sct_str_c(&found), known[k].want);
    sct_str_free(&found);
  }
  sct_ptx_module_free(module);
  sct_str_free(&cuda);
}

static void data_meets_literals(void **state) {
  (void)state;
  sct_ptx_module *module = compiled(
      "extern \"C\" __global__ void k(const float *x, const int *q, int *y, int n) {\n"
      "int v = 0; if (x[n] > 3.5f) v = 1; if (q[n] == -77) v += 2; if (n > 31) v += 4; y[0] = v;}",
      "sm_90");
  const sct_ptx_traits t = traits_of(module, "k");
  assert_int_equal(t.n_literals, 2);
  for (int i = 0; i < 2; i++) {
    const bool whole = strcmp(t.literal[i].type, "s32") == 0;
    assert_string_equal(t.literal[i].type, whole ? "s32" : "f32");
    assert_true(t.literal[i].bits == (whole ? UINT64_C(0xffffffb3) : UINT64_C(0x40600000)));
  }
  assert_int_equal(t.n_constants, 1);
  sct_ptx_module_free(module);
}

static void pointers_are_looked_at(void **state) {
  (void)state;
  sct_ptx_module *module =
      compiled("typedef unsigned long long u64;\n"
               "extern \"C\" __global__ void plain(const float *x, float *y, int n) {\n"
               "int i = threadIdx.x; if (i < n) y[i] = x[i]; }\n"
               "extern \"C\" __global__ void aligned(const float *x, float *y, int n) {\n"
               "if (((u64)y & 15) == 0) y[0] = x[n]; }\n"
               "extern \"C\" __global__ void narrow(const float *x, float *y, int n) {\n"
               "if (((unsigned)(u64)x >> 2) % 4 == 0) y[0] = x[n]; }\n"
               "extern \"C\" __global__ void end(const float *x, float *y, int n) {\n"
               "for (const float *p = x + threadIdx.x; p < x + n; p += 32) y[0] += *p; }\n"
               "extern \"C\" __global__ void alike(const float *x, float *y, int n) {\n"
               "if ((((u64)x ^ (u64)y) & 15) == 0) y[0] = x[n]; }\n"
               "extern \"C\" __global__ void shared(const float *x, float *y, int n) {\n"
               "__shared__ const float *p[32]; p[threadIdx.x] = x; __syncthreads();\n"
               "if (((u64)p[n] & 15) == 0) y[0] = x[n]; }\n",
               "sm_90");
  assert_int_equal(traits_of(module, "plain").inspected, 0);
  assert_int_equal(traits_of(module, "aligned").inspected, 2);
  assert_int_equal(traits_of(module, "narrow").inspected, 1);
  assert_int_equal(traits_of(module, "end").inspected, 1);
  assert_int_equal(traits_of(module, "alike").inspected, 3);
  assert_int_equal(traits_of(module, "shared").inspected, 1);
  sct_ptx_module_free(module);
}

static void constants_of_headers_are_left_out(void **state) {
  (void)state;
  sct_ptx_module *module =
      module_of(PTX_KERNEL ".loc 1 1 1\nsetp.lt.u32 %p1, %i, 50;\n"
                           ".loc 2 9 1, function_name $L, inlined_at 1 2 1\n"
                           "setp.lt.u32 %p2, %i, 70;\nret;\n}\n.file 1 \"/home/me/k.cu\"\n"
                           ".file 2 \"/usr/local/cuda/include/cooperative_groups.h\"\n");
  const sct_ptx_traits t = traits_of(module, "k");
  assert_int_equal(t.n_constants, 1);
  assert_int_equal(t.constant[0], 50);
  sct_ptx_module_free(module);
}

static void what_is_compared_is_kept(void **state) {
  (void)state;
  sct_str ptx = {0};
  sct_str_append(&ptx, PTX_KERNEL);
  for (int k = 0; k < 100; k++) {
    sct_str_printf(&ptx, "rem.u32 %%r1, %%i, %d;\n", 1000 + k);
  }
  for (int k = 0; k < 5; k++) {
    sct_str_printf(&ptx, "setp.lt.u32 %%p1, %%i, %d;\n", 5000 + k);
  }
  sct_str_append(&ptx, "ret;\n}\n");
  sct_ptx_module *module = module_of(sct_str_c(&ptx));
  const sct_ptx_traits t = traits_of(module, "k");
  assert_int_equal(t.n_constants, SCT_PTX_MAX_CONSTANTS);
  assert_int_equal(t.constant[0], 1000);
  assert_int_equal(t.constant[SCT_PTX_MAX_CONSTANTS - 6], 1000 + SCT_PTX_MAX_CONSTANTS - 6);
  assert_int_equal(t.constant[SCT_PTX_MAX_CONSTANTS - 5], 5000);
  assert_int_equal(t.constant[SCT_PTX_MAX_CONSTANTS - 1], 5004);
  sct_ptx_module_free(module);
  sct_str_free(&ptx);
}

static void unknown_kernels_are_errors(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_traits t;
  sct_ptx_module *module = module_of(PTX_HEAD ".visible .entry k() {\n.reg .b32 %r<4>;\n"
                                              "frobnicate.u32 %r1, %r2;\nret;\n}\n");
  assert_int_equal(sct_ptx_traits_of(&t, module, "kk", &err), SCT_EUSAGE);
  assert_int_equal(sct_ptx_traits_of(&t, module, "k", &err), SCT_EDATA);
  sct_ptx_module_free(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(divisors_are_found),
      cmocka_unit_test(positions_meet_constants),
      cmocka_unit_test(data_meets_literals),
      cmocka_unit_test(pointers_are_looked_at),
      cmocka_unit_test(constants_of_headers_are_left_out),
      cmocka_unit_test(what_is_compared_is_kept),
      cmocka_unit_test(unknown_kernels_are_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
