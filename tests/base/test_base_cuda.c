/* CUDA text as brackets, words and directives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include "base/base.h"

static void test_blanking_keeps_places(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"int a; // b {\nc", "int a;       \nc"},
      {"x /* {\n} */ y", "x     \n     y"},
      {"f(\"a\\\"b\") + '{' + 1'000", "f(0     ) + 0   + 1'000"},
      {"", ""},
  };
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    sct_str out = {0};
    assert_null(sct_cuda_blank(&out, texts[k][0]));
    assert_string_equal(sct_str_c(&out), texts[k][1]);
    sct_str_free(&out);
  }
}

static void test_texts_that_cannot_be_read(void **state) {
  (void)state;
  static const char *const texts[][2] = {
      {"/* open", "a comment that is never closed"},
      {"char *s = \"open\n;", "a string that is never closed"},
      {"R\"(x)\"", "a raw string"},
      {"?\?=", "a trigraph"},
      {"// on \\\nand on", "a comment that a backslash continues"},
  };
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    sct_str out = {0};
    assert_string_equal(sct_cuda_blank(&out, texts[k][0]), texts[k][1]);
    sct_str_free(&out);
  }
}

static void test_structures(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool macros;
    int line;
    const char *wrong;
  } cases[] = {
      {"f() {\n#pragma unroll\n}\n", false, 0, NULL},
      {"\n#define A {\n", false, 2, "a preprocessor directive"},
      {"int x; # pragma", false, 1, "a preprocessor directive"},
      {"f() {\n(\n}\n", false, 3, "a closing bracket that nothing opened"},
      {"f() {\n(\n)\n", true, 1, "a bracket that is never closed"},
      {"int a[2] = <%1, 2%>;", true, 1, "another spelling of a bracket"},
      /* macros may hold anything, and the branches of a condition open alike */
      {"#define BEGIN { \\\n  (\nf() { }\n", true, 0, NULL},
      {"#if A\nvoid f() {\n#elif B\nvoid g() {\n#else\nvoid h() {\n#endif\n}\n", true, 0, NULL},
      {"#include <cuda_fp16.h>\n# include <cuda/std/cstdint>\n", true, 0, NULL},
      {"#include \"mine.cuh\"\n", true, 1, "an #include of something else than a <header>"},
      {"#include </etc/passwd>\n", true, 1, "an #include of something else than a <header>"},
      {"#include <a/../../b>\n", true, 1, "an #include of something else than a <header>"},
      {"\n#include MACRO\n", true, 2, "an #include of something else than a <header>"},
      {"#ifdef A\n#endif\n#endif\n", true, 3, "an #else or #endif that no #if began"},
      {"\n#if 1\n#else\n", true, 2, "an #if without its #endif"},
      {"#line 7\n", true, 1, "an unknown preprocessor directive"},
      {"#import <x>\n", true, 1, "an unknown preprocessor directive"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    int line = 0;
    const char *wrong = sct_cuda_structure(cases[k].text, cases[k].macros, &line);
    if (!cases[k].wrong) {
      assert_null(wrong);
    } else {
      assert_non_null(wrong);
      assert_string_equal(wrong, cases[k].wrong);
      assert_int_equal(line, cases[k].line);
    }
  }
}

static void test_names_of_kernels(void **state) {
  (void)state;
  static const char *const good[] = {
      "f", "_f2", "ns::f", "f<float>", "ns::f<ns::v<4>, 16, -1>", "f<unsigned long long *>"};
  static const char *const bad[] = {"",      "2f",    "f;",        "f<4",      "f<4>>",
                                    ":f",    "f::",   "a:b",       "f<4>(x)",  "f<4> ",
                                    "f g",   "<f>",   "f<{T}>",    "f<\"x\">", "f<1;>",
                                    "a::2b", "f<4>g", "f<4>;x<4>", "f<a>\n"};
  for (int k = 0; k < SCT_COUNT(good); k++) {
    assert_true(sct_is_kernel_name(good[k]));
  }
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    if (sct_is_kernel_name(bad[k])) {
      fail_msg("'%s' is a name", bad[k]);
    }
  }
}

static void test_lines_of_files(void **state) {
  (void)state;
  static const char runs[] = "2 10 a.cu\n1 3 b c.cuh\n";
  const char *file = NULL;
  int n = 0, line = 0;
  assert_true(sct_lines_find(runs, 2, &file, &n, &line));
  assert_true(n == 4 && strncmp(file, "a.cu", 4) == 0 && line == 11);
  assert_true(sct_lines_find(runs, 3, &file, &n, &line));
  assert_true(n == 7 && strncmp(file, "b c.cuh", 7) == 0 && line == 3);
  assert_false(sct_lines_find(runs, 4, &file, &n, &line));
  assert_false(sct_lines_find(runs, 0, &file, &n, &line));
  assert_false(sct_lines_find("0 1 a\n", 1, &file, &n, &line));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blanking_keeps_places),
      cmocka_unit_test(test_texts_that_cannot_be_read),
      cmocka_unit_test(test_structures),
      cmocka_unit_test(test_names_of_kernels),
      cmocka_unit_test(test_lines_of_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
