/* Nothing in a store can break out of its place in a header: comments, strings, names, expressions
 * and kernel sources, with chosen and with random texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit/emit_internal.h"

/* ---- comments and strings ---- */

static const char *const hostile[] = {
    "*/ int evil;",
    "/* open",
    "line\nline",
    "tail\\",
    "tail\?\?/",
    "\x1b[31m",
    "\r\n#error",
    "\"quoted\"",
    "\xe2\x80\xae right to left",
    "\?\?/\n",
    "a\\\nb",
    "%s%n",
    "'",
    "\xff\xfe",
};

static void assert_calm(const char *text, const char *from) {
  static const char *const never[] = {"\n", "\r", "\\", "*/", "/*", "\?\?", "\x1b"};
  for (int k = 0; k < SCT_COUNT(never); k++) {
    if (strstr(text, never[k]) != NULL) {
      fail_msg("'%s' came out of '%s' as '%s'", never[k], from, text);
    }
  }
  for (const char *at = text; *at != '\0'; at++) {
    assert_in_range((unsigned char)*at, 0x20, 0x7e);
  }
}

static void comments_stay_on_their_line(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(hostile); k++) {
    sct_str s = {0};
    emit_comment(&s, hostile[k]);
    assert_calm(sct_str_c(&s), hostile[k]);
    sct_str_free(&s);
  }
  sct_str s = {0};
  emit_comment(&s, "NVIDIA H200 (sm_90), 4.0 | 16.0: what is legal stays");
  assert_string_equal(sct_str_c(&s), "NVIDIA H200 (sm_90), 4.0 | 16.0: what is legal stays");
  sct_str_clear(&s);
  emit_comment(&s, "a\\b *\xc3\xa9/ \?\?/");
  assert_string_equal(sct_str_c(&s), "a/b *_/ ? ?/");
  sct_str_clear(&s);
  emit_comment(&s, NULL);
  assert_int_equal(s.len, 0);
  sct_str_free(&s);
}

static void pieces_do_not_join_to_a_bracket(void **state) {
  (void)state;
  sct_str s = {0};
  emit_comment(&s, "*");
  emit_comment(&s, "/");
  emit_comment(&s, "?");
  emit_comment(&s, "?");
  assert_calm(sct_str_c(&s), "* / ? ?");
  sct_str_free(&s);
}

/* Reads back what emit_string wrote between the quotes of a literal, as C does. */
static void read_literal(sct_str *out, const char *literal) {
  const char *at = literal;
  while (*at != '\0') {
    assert_int_not_equal(*at, '"');
    assert_in_range((unsigned char)*at, 0x20, 0x7e);
    assert_int_not_equal(*at, '?'); /* only ever escaped */
    char c = *at++;
    if (c == '\\' && *at >= '0' && *at <= '7') {
      c = (char)((at[0] - '0') * 64 + (at[1] - '0') * 8 + (at[2] - '0'));
      at += 3;
    } else if (c == '\\') {
      assert_non_null(strchr("\"\\?", *at));
      c = *at++;
    }
    sct_str_append_n(out, &c, 1);
  }
}

static void strings_read_back(void **state) {
  (void)state;
  for (int k = 0; k < SCT_COUNT(hostile); k++) {
    sct_str s = {0};
    sct_str back = {0};
    emit_string(&s, hostile[k]);
    read_literal(&back, sct_str_c(&s));
    assert_string_equal(sct_str_c(&back), hostile[k]);
    sct_str_free(&s);
    sct_str_free(&back);
  }
}

static void random_texts_stay_in_place(void **state) {
  (void)state;
  const uint64_t seed = 20250117;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  static const char alphabet[] = "ab*/\\?\n\r\t\"'#%: \x01\x7f\x80\xbf\xc3\xff";
  for (int round = 0; round < 5000; round++) {
    char text[24];
    const int n = (int)sct_rng_below(&rng, SCT_COUNT(text));
    for (int k = 0; k < n; k++) {
      text[k] = alphabet[sct_rng_below(&rng, (int64_t)sizeof(alphabet) - 1)];
    }
    text[n] = '\0';
    sct_str s = {0};
    sct_str back = {0};
    emit_comment(&s, text);
    assert_calm(sct_str_c(&s), text);
    sct_str_clear(&s);
    emit_string(&s, text);
    read_literal(&back, sct_str_c(&s));
    assert_string_equal(sct_str_c(&back), text);
    sct_str_free(&s);
    sct_str_free(&back);
  }
}

static void numbers_read_back(void **state) {
  (void)state;
  static const double values[] = {0, 1, 513.2, 1.0 / 3.0, 4.2e12, 1e-300};
  for (int k = 0; k < SCT_COUNT(values); k++) {
    sct_str s = {0};
    emit_number(&s, values[k]);
    assert_true(strtod(sct_str_c(&s), NULL) == values[k]);
    sct_str_free(&s);
  }
  sct_str s = {0};
  emit_number(&s, 1e308 * 10); /* a header holds no infinity */
  assert_string_equal(sct_str_c(&s), "0");
  sct_str_free(&s);
}

/* ---- names and expressions ---- */

static void names_are_names(void **state) {
  (void)state;
  static const char *const good[] = {"a", "n_i", "add_const_double3", "stream", "int32", "Main"};
  static const char *const bad[] = {"",     "1a",   "a b", "a;",        "int", "main",    "__x",
                                    "a__b", "_Big", "new", "threadIdx", "a-b", "\xc3\xa9"};
  for (int k = 0; k < SCT_COUNT(good); k++) {
    assert_true(emit_is_name(good[k]));
  }
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    if (emit_is_name(bad[k])) {
      fail_msg("'%s' passed for a name", bad[k]);
    }
  }
  sct_str part = {0};
  sct_str_append(&part, "k1_");
  emit_name_part(&part, "my; strategy__} x");
  assert_string_equal(sct_str_c(&part), "k1_my_strategy_x");
  sct_str_free(&part);
}

static void expressions_only_compute(void **state) {
  (void)state;
  emit_extent extents[] = {{.name = "row", .is_dim = true}, {.name = "col", .is_dim = true}};
  const emit_signature sig = {.n_extents = 2, .extents = extents};
  static const char *const good[] = {
      "(n_row + 31) / 32 * ((n_col + 31) / 32)",
      "n_col % 4 == 0",
      "n_row >= 1 && !(n_col < 0x10LL) || n_row != 2",
      "min(n_row, n_col) + max(1, 2)",
      "(long long)n_row << 2",
      "n_row ? 1 : 0",
      "256",
      "n_row <= n_col",
  };
  static const char *const bad[] = {
      "",
      "n_row = 1",
      "n_row += 1",
      "n_row <<= 1",
      "n_row++",
      "--n_row",
      "n_depth",
      "system(n_row)",
      "n_row; evil()",
      "\"text\"",
      "n_row // x",
      "n_row /* x */",
      "(n_row",
      "n_row)(",
      "n_row}",
      "sizeof(n_row)",
      "a",
      "n_row \?\?/ 2",
      "n_row\n",
      "1x",
      "n_row, a.b",
      "asm",
      "n_row <: 1 :>",
      "0x",
      "++",
  };
  for (int k = 0; k < SCT_COUNT(good); k++) {
    if (!emit_is_expression(good[k], &sig, NULL)) {
      fail_msg("'%s' did not pass", good[k]);
    }
  }
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    if (emit_is_expression(bad[k], &sig, NULL)) {
      fail_msg("'%s' passed for an expression", bad[k]);
    }
  }
  assert_true(emit_mentions("(n_row + 31) / 32", "n_row"));
  assert_false(emit_mentions("(n_rows + n_row2 + an_row)", "n_row"));
}

/* ---- sources ---- */

#define KERNEL "__global__ void f(const float *a_in, float *b_out, long long n_i) {}\n"
static const char *const names[] = {"a", "b", "n_i"};

static void whole_sources_pass(void **state) {
  (void)state;
  static const char *const good[] = {
      KERNEL,
      "// a comment with { and \" and /*\n" KERNEL,
      "/* { */ struct s { char c = '}'; const char *t = \"}\\\"{\"; };\n" KERNEL,
      "#pragma once\n" KERNEL,
      "constexpr int big = 1'000'000;\n" KERNEL,
      "__device__ int f_helper(int f) { return (f); }\n" KERNEL,
      "__global__ void f(const float *__restrict__ a_in, float (*b_out)[4], long long n_i) {}",
  };
  for (int k = 0; k < SCT_COUNT(good); k++) {
    int args[3] = {-1, -1, -1};
    int n = 0;
    sct_error err = {0};
    if (emit_check_source(args, &n, good[k], "f", names, 3, &err) != SCT_OK) {
      fail_msg("%s\n%s", err.text, good[k]);
    }
    assert_int_equal(n, 3);
    for (int a = 0; a < 3; a++) {
      assert_int_equal(args[a], a);
    }
  }
}

static void broken_sources_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *source, *says;
  } bad[] = {
      {KERNEL "}", "closing bracket that nothing opened"},
      {KERNEL "} evil(); namespace x {", "closing bracket that nothing opened"},
      {"__global__ void f(float *a, float *b, long long n_i) {", "never closed"},
      {"__global__ void f(float *a, float *b, long long n_i) { (]; }", "nothing opened"},
      {KERNEL "/* open", "comment that is never closed"},
      {KERNEL "const char *t = \"open;\n\";", "string that is never closed"},
      {KERNEL "// swallows the next line \\\n", "backslash continues"},
      {KERNEL "#define n_i 0\n", "preprocessor directive"},
      {KERNEL "  # include <x>\n", "preprocessor directive"},
      {KERNEL "int x; #pragma y\n", "preprocessor directive"},
      {KERNEL "%: define x\n", "another spelling"},
      {KERNEL "struct s <% %>;", "another spelling"},
      {KERNEL "\?\?=define x\n", "trigraph"},
      {KERNEL "auto t = R\"(})\";", "raw string"},
      {"__global__ void g(float *a) {}", "no function 'f'"},
      {"", "no function 'f'"},
      {"__global__ void f(float *a, float *b) {} // n_i", NULL}, /* fewer, all known: by name */
      {"__global__ void f(float *p, float *q) {}", "not the arguments of its spec"},
      {"__global__ void f(float *a, float *b, int n_i, int x) {}", "not the arguments"},
  };
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    int args[3];
    int n = 0;
    sct_error err = {0};
    const sct_status status = emit_check_source(args, &n, bad[k].source, "f", names, 3, &err);
    assert_int_equal(status, bad[k].says != NULL ? SCT_EDATA : SCT_OK);
    if (bad[k].says != NULL && strstr(err.text, bad[k].says) == NULL) {
      fail_msg("'%s' is not in: %s", bad[k].says, err.text);
    }
  }
}

static void parameters_are_found_by_name_or_place(void **state) {
  (void)state;
  int args[3];
  int n = 0;
  sct_error err = {0};
  const char *swapped = "__global__ void f(long long n_i, float *b, const float *a) {}";
  assert_int_equal(emit_check_source(args, &n, swapped, "f", names, 3, &err), SCT_OK);
  assert_int_equal(n, 3);
  assert_int_equal(args[0], 2);
  assert_int_equal(args[1], 1);
  assert_int_equal(args[2], 0);
  const char *fewer = "__global__ void f(float *b) {}";
  assert_int_equal(emit_check_source(args, &n, fewer, "f", names, 3, &err), SCT_OK);
  assert_int_equal(n, 1);
  assert_int_equal(args[0], 1);
  const char *none = "__global__ void f() {}";
  assert_int_equal(emit_check_source(args, &n, none, "f", names, 3, &err), SCT_OK);
  assert_int_equal(n, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comments_stay_on_their_line),
      cmocka_unit_test(pieces_do_not_join_to_a_bracket),
      cmocka_unit_test(strings_read_back),
      cmocka_unit_test(random_texts_stay_in_place),
      cmocka_unit_test(numbers_read_back),
      cmocka_unit_test(names_are_names),
      cmocka_unit_test(expressions_only_compute),
      cmocka_unit_test(whole_sources_pass),
      cmocka_unit_test(broken_sources_are_refused),
      cmocka_unit_test(parameters_are_found_by_name_or_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
