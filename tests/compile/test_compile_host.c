/* Which parts of a file are the host's: they become blanks, and every line stays where it is. */
#include "compile/compile_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* Runs of blanks as one, so that tests read; line ends stay. */
static void squeeze(sct_str *out, const char *text) {
  for (const char *at = text; *at != '\0'; at++) {
    const bool after =
        out->len > 0 && (out->data[out->len - 1] == ' ' || out->data[out->len - 1] == '\n');
    if (*at != ' ' || (!after && at[1] != '\n')) {
      while (*at == '\n' && out->len > 0 && out->data[out->len - 1] == ' ') {
        out->data[--out->len] = '\0';
      }
      sct_str_append_n(out, at, 1);
    }
  }
}

static void expect(const char *source, const char *wanted) {
  sct_str device = {0}, got = {0};
  sct_compile_without_host(&device, source);
  assert_int_equal(device.len, strlen(source));
  squeeze(&got, sct_str_c(&device));
  if (strcmp(sct_str_c(&got), wanted) != 0) {
    fail_msg("of:\n%s\nis left:\n%s\nexpected:\n%s", source, sct_str_c(&got), wanted);
  }
  sct_str_free(&device);
  sct_str_free(&got);
}

static void unchanged(const char *source) {
  sct_str device = {0};
  sct_compile_without_host(&device, source);
  assert_string_equal(sct_str_c(&device), source);
  sct_str_free(&device);
}

static void device_code_stays(void **state) {
  (void)state;
  unchanged(
      "#include <vector>\n#define MAX(a, b) ((a) > (b) ? (a) : (b)) {\n"
      "using namespace std;\nusing real = float;\ntypedef struct { int n; } box;\n"
      "enum kind { ONE, TWO };\nconstexpr int area(int n) { return n * n; }\n"
      "const int pad = (3 + 1);\n__constant__ float lut[2] = {1, 2};\n"
      "static __device__ int helper(int n = area(2)) { return n; }\n"
      "struct dims { int n; __device__ int size() const { return n; } int pad = (1); };\n"
      "template <class T, int N = (3 > 2)> struct __align__(16) vec { T v[N]; };\n"
      "template <class T> __global__ void __launch_bounds__(256) k(T *p, T x = T{3}) {\n"
      "  if (x > '{') p[0] = x; // }\n}\n"
      "namespace a { namespace b { extern \"C\" { __global__ void c(int *p) { *p = 1; } } } }\n"
      "static_assert(sizeof(dims) == 8, \"{\");\n");
}

static void functions_of_the_host_go(void **state) {
  (void)state;
  expect("__device__ int a;\nint main(int argc, char **argv) {\n  puts(\"}\");\n}\nenum { N };\n",
         "__device__ int a;\n\n\n\nenum { N };\n");
  expect("template <class T> void check(T a) { if (a) {} }\n__global__ void k() {}\n",
         "\n__global__ void k() {}\n");
  expect("std::vector<float> all;\nstd::string name(int n);\nint f();\n__host__ int g();\n",
         "\n\n\n\n");
  expect(
      "namespace a {\nvoid f() {}\n__global__ void k() {}\nbool operator==(b, b) { return 1; }\n}",
      "namespace a {\n\n__global__ void k() {}\n\n}");
  expect("const char *raw() { return R\"x(} \")x\"; }\n__device__ int n = 1'000;\n",
         "\n__device__ int n = 1'000;\n");
}

static void directives_stay(void **state) {
  (void)state;
  expect("int main() {\n#if A\n  if (x) {\n#elif B\n  for (;;) {\n#else\n  {\n#endif\n  }\n}\n"
         "__device__ int n;\n",
         "\n#if A\n\n#elif B\n\n#else\n\n#endif\n\n\n__device__ int n;\n");
}

static void classes_lose_what_is_of_the_host(void **state) {
  (void)state;
  expect("struct grid {\nint n;\nvoid print() { puts(\"\"); }\n__device__ int at() { return n; }\n"
         "private:\nint more() { return 1; }\npublic:\nstd::string name;\nint m;\n};\n",
         "struct grid {\nint n;\n\n__device__ int at() { return n; }\n"
         "private:\n\npublic:\n\nint m;\n};\n");
}

static void texts_that_are_no_source_end(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",  "}",   "}}} {{{", "\"",         "'",        "R\"(",          "/*",
      "#", "#\\", "int f(",  "template <", "struct {", "extern \"C\" {"};
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    sct_str device = {0};
    sct_compile_without_host(&device, texts[k]);
    assert_int_equal(device.len, strlen(texts[k]));
    sct_str_free(&device);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(device_code_stays),
      cmocka_unit_test(functions_of_the_host_go),
      cmocka_unit_test(directives_stay),
      cmocka_unit_test(classes_lose_what_is_of_the_host),
      cmocka_unit_test(texts_that_are_no_source_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
