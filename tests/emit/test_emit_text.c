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

/* ---- the functions of tuning/sectile/header_text.lua ---- */

static char folder[64];

/* A module that calls them, each for all of doc.texts, with a line for what each gives. */
static int setup(void **state) {
  static const char *const module =
      "local header_text = require 'sectile.header_text'\n"
      "local function each(f)\n"
      "  return function(doc)\n"
      "    local out = {}\n"
      "    for _, text in ipairs(doc.texts) do out[#out + 1] = tostring(f(text, doc)) .. '\\n' "
      "end\n"
      "    return out\n"
      "  end\n"
      "end\n"
      "return {\n"
      "  comment = each(function(text, doc) return header_text.comment(text, doc.before) end),\n"
      "  literal = each(header_text.literal),\n"
      "  number = each(header_text.number),\n"
      "  none = function() return { header_text.number(math.huge), ' ',\n"
      "    header_text.number(-math.huge), ' ', header_text.number(0 / 0) } end,\n"
      "  is_name = each(header_text.is_name),\n"
      "  is_expression = each(function(text)\n"
      "    return header_text.is_expression(text, { n_row = true, n_col = true })\n"
      "  end),\n"
      "  is_offset = each(function(text)\n"
      "    return header_text.is_expression(text, { n_row = true, i = true }, true)\n"
      "  end),\n"
      "  words = each(function(text)\n"
      "    return header_text.words { text }.n_row or false\n"
      "  end),\n"
      "}\n";
  sct_error err = {0};
  sct_str path = {0};
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/sct_emit_XXXXXX");
  assert_non_null(mkdtemp(folder));
  sct_str_printf(&path, "%s/tuning/sectile", folder);
  assert_int_equal(sct_dir_make(sct_str_c(&path), &err), SCT_OK);
  sct_str_append(&path, "/probe.lua");
  assert_int_equal(sct_file_write(sct_str_c(&path), module, strlen(module), &err), SCT_OK);
  sct_str_free(&path);
  sct_assets_override(folder);
  return 0;
}

static int teardown(void **state) {
  char command[128];
  (void)state;
  sct_assets_override(NULL);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  assert_int_equal(system(command), 0);
  return 0;
}

/* What a function gives for each item of a list, which it ends. */
static json_t *call_on(const char *function, json_t *texts, const char *before) {
  sct_error err = {0};
  sct_str out = {0};
  json_t *doc = json_pack("{s:o, s:s?}", "texts", texts, "before", before);
  json_t *lines = json_array();
  if (sct_script_page(&out, "sectile.probe", function, doc, NULL, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  for (const char *at = sct_str_c(&out); *at != '\0';) {
    const size_t n = strcspn(at, "\n");
    json_array_append_new(lines, json_stringn_nocheck(at, n));
    at += n + 1;
  }
  assert_int_equal(json_array_size(lines), json_array_size(texts));
  sct_str_free(&out);
  json_decref(doc);
  return lines;
}

static json_t *call(const char *function, const char *const *texts, int n) {
  json_t *list = json_array();
  for (int k = 0; k < n; k++) {
    json_array_append_new(list, json_string_nocheck(texts[k]));
  }
  return call_on(function, list, NULL);
}

static const char *line(const json_t *lines, int k) {
  return json_string_value(json_array_get(lines, (size_t)k));
}

static void assert_all(const char *function, const char *const *texts, int n, const char *answer) {
  json_t *lines = call(function, texts, n);
  for (int k = 0; k < n; k++) {
    if (strcmp(line(lines, k), answer) != 0) {
      fail_msg("%s of '%s' is %s", function, texts[k], line(lines, k));
    }
  }
  json_decref(lines);
}

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
  static const char *const texts[] = {"NVIDIA H200 (sm_90), 4.0 | 16.0: what is legal stays",
                                      "a\\b *\xc3\xa9/ \?\?/",
                                      "",
                                      "\?\?\?",
                                      "/*/",
                                      "*/*",
                                      "**//"};
  static const char *const calm[] = {"NVIDIA H200 (sm_90), 4.0 | 16.0: what is legal stays",
                                     "a/b *_/ ? ?/",
                                     "",
                                     "? ? ?",
                                     "/ * /",
                                     "* / *",
                                     "** //"};
  json_t *lines = call("comment", hostile, SCT_COUNT(hostile));
  for (int k = 0; k < SCT_COUNT(hostile); k++) {
    assert_calm(line(lines, k), hostile[k]);
  }
  json_decref(lines);
  lines = call("comment", texts, SCT_COUNT(texts));
  for (int k = 0; k < SCT_COUNT(texts); k++) {
    assert_string_equal(line(lines, k), calm[k]);
  }
  json_decref(lines);
}

static void pieces_do_not_join_to_a_bracket(void **state) {
  (void)state;
  static const char *const pieces[][3] = {
      {"*", "/", " /"}, {"/", "*", " *"}, {"?", "?", " ?"}, {"a", "/", "/"}};
  for (int k = 0; k < SCT_COUNT(pieces); k++) {
    json_t *lines = call_on("comment", json_pack("[s]", pieces[k][1]), pieces[k][0]);
    assert_string_equal(line(lines, 0), pieces[k][2]);
    json_decref(lines);
  }
}

/* Reads back what literal() wrote between the quotes of a literal, as C does. */
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

static void assert_reads_back(const char *literal, const char *text) {
  sct_str back = {0};
  read_literal(&back, literal);
  assert_string_equal(sct_str_c(&back), text);
  sct_str_free(&back);
}

static void strings_read_back(void **state) {
  (void)state;
  json_t *lines = call("literal", hostile, SCT_COUNT(hostile));
  for (int k = 0; k < SCT_COUNT(hostile); k++) {
    assert_reads_back(line(lines, k), hostile[k]);
  }
  json_decref(lines);
}

static void random_texts_stay_in_place(void **state) {
  (void)state;
  const uint64_t seed = 20250117;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  static const char alphabet[] = "ab*/\\?\n\r\t\"'#%: \x01\x7f\x80\xbf\xc3\xff[]^-~";
  json_t *texts = json_array();
  for (int round = 0; round < 5000; round++) {
    char text[24];
    const int n = (int)sct_rng_below(&rng, SCT_COUNT(text));
    for (int k = 0; k < n; k++) {
      text[k] = alphabet[sct_rng_below(&rng, (int64_t)sizeof(alphabet) - 1)];
    }
    text[n] = '\0';
    json_array_append_new(texts, json_string_nocheck(text));
  }
  json_t *comments = call_on("comment", json_incref(texts), NULL);
  json_t *literals = call_on("literal", json_incref(texts), NULL);
  for (int k = 0; k < (int)json_array_size(texts); k++) {
    assert_calm(line(comments, k), line(texts, k));
    assert_reads_back(line(literals, k), line(texts, k));
  }
  json_decref(comments);
  json_decref(literals);
  json_decref(texts);
}

static void numbers_read_back(void **state) {
  (void)state;
  static const double values[] = {0, 1, 513.2, 1.0 / 3.0, 4.2e12, 1e-300};
  json_t *list = json_array();
  for (int k = 0; k < SCT_COUNT(values); k++) {
    json_array_append_new(list, json_real(values[k]));
  }
  json_array_append_new(list, json_integer(INT64_MIN));
  json_t *lines = call_on("number", list, NULL);
  for (int k = 0; k < SCT_COUNT(values); k++) {
    assert_true(strtod(line(lines, k), NULL) == values[k]);
  }
  assert_string_equal(line(lines, SCT_COUNT(values)), "-9223372036854775808");
  json_decref(lines);
  sct_str out = {0};
  sct_error err = {0};
  assert_int_equal(sct_script_page(&out, "sectile.probe", "none", NULL, NULL, &err), SCT_OK);
  assert_string_equal(sct_str_c(&out), "0 0 0"); /* a header holds no infinity */
  sct_str_free(&out);
}

/* ---- names and expressions ---- */

static void names_are_names(void **state) {
  (void)state;
  static const char *const good[] = {"a", "n_i", "add_const_double3", "stream", "int32", "Main"};
  static const char *const bad[] = {"",     "1a",   "a b", "a;",        "int", "main",    "__x",
                                    "a__b", "_Big", "new", "threadIdx", "a-b", "\xc3\xa9"};
  assert_all("is_name", good, SCT_COUNT(good), "true");
  assert_all("is_name", bad, SCT_COUNT(bad), "false");
}

static void expressions_only_compute(void **state) {
  (void)state;
  static const char *const good[] = {
      "(n_row + 31) / 32 * ((n_col + 31) / 32)",
      "n_col % 4 == 0",
      "n_row >= 1 && !(n_col < 0x10LL) || n_row != 2",
      "min(n_row, n_col) + max(1, 2)",
      "(long long)n_row << 2",
      "n_row ? 1 : 0",
      "256",
      "n_row <= n_col",
      "-n_row == ~n_col ^ 0xFFu",
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
      "n_row =! n_col",
      "n_row >>= 1",
      "n_row =",
      "= n_row",
      "n_row %: 2",
      "n_row \\ 2",
      "\xc3\xa9",
      "0x1g",
      "1.5",
      "sct_floor_div(n_row, 2)",
      "(long long)(n_row) : n_col)",
  };
  assert_all("is_expression", good, SCT_COUNT(good), "true");
  assert_all("is_expression", bad, SCT_COUNT(bad), "false");
  static const char *const offsets[] = {"sct_floor_div(i - 2, n_row)", "sct_floor_mod(i, 4) * 8"};
  assert_all("is_offset", offsets, SCT_COUNT(offsets), "true");
  assert_all("is_expression", offsets, SCT_COUNT(offsets), "false");
  static const char *const with[] = {"(n_row + 31) / 32", "n_row"};
  static const char *const without[] = {"(n_rows + n_row2 + an_row)", ""};
  assert_all("words", with, SCT_COUNT(with), "true");
  assert_all("words", without, SCT_COUNT(without), "false");
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
  return cmocka_run_group_tests(tests, setup, teardown);
}
