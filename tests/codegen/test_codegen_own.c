/* Candidates of kernels of the user's own: their text and launch, what their plans reject, and how
 * they come as messages. */
#include "codegen_fixture.h"

#define LABEL "own_transpose PAD=1 ROWS=8 TILE=32"

static void test_what_it_becomes(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "transpose_own");
  sct_kernel_code code = fixture_make(&f, LABEL);
  assert_string_equal(code.kernel, "transpose<32, 8>");
  assert_true(sct_has_prefix(code.source, "constexpr int PAD = 1;\n// Transposes a matrix"));
  assert_true(code.threads == 256 && code.block[0] == 32 && code.block[1] == 8);
  assert_int_equal(code.n_params, 4);
  assert_int_equal(code.n_require, 4); /* blocks along y; two ints; fewer than 2^31 elements */
  sct_str log = {0};
  sct_codegen_map_log(&log, &code, "line 1: a\nline 2: b\n");
  assert_string_equal(sct_str_c(&log),
                      "tuning/kernels/transpose_own.lua:14: a (line 1 of the source)\n"
                      "tuning/kernels/transpose_own.cu:1: b (line 2 of the source)\n");
  sct_str_free(&log);
  const int64_t sizes[][3] = {{1, 1, 1},
                              {0, 7, 1},
                              {46340, 46340, 1},
                              {46341, 46341, 0},
                              {1, (int64_t)1 << 31, 0},
                              {65535 * 32 + 1, 1, 0}};
  for (int k = 0; k < SCT_COUNT(sizes); k++) {
    assert_int_equal(sct_codegen_fits(&f.spec, &code, &(sct_size){.extent = (int64_t *)sizes[k]}),
                     sizes[k][2]);
  }
  sct_kernel_code_free(&code);
  fixture_close(&f);
}

/* A spec with an entry that has these options, in memory but for its file. */
static void is_rejected(const char *options, const char *why) {
  fixture f;
  sct_str text = {0};
  sct_error problem = {0};
  sct_str_printf(&text,
                 "local s = require 'sectile'\n"
                 "return s.kernel { name = 'k', dims = { 'row', 'col' },\n"
                 "  inputs = { s.array('a', 'f32') }, outputs = { s.array('b', 'f32') },\n"
                 "  body = 'b = a;', sizes = { { row = 8, col = 9 } }, also = { cuda = "
                 "'transpose_own.cu',\n"
                 "  kernel = 'transpose<1, 2>', args = { 'b', 'a', 'n_col', 'n_row' }, axes = { N "
                 "= { 1, 2048 } },\n  %s } }\n",
                 options);
  f = (fixture){0};
  if (sct_script_load_spec_text(&f.spec, "tuning/kernels/x.lua", sct_str_c(&text), &problem) !=
      SCT_OK) {
    fail_msg("%s", problem.text);
  }
  fixture_finish(&f);
  const char *rejected = NULL;
  sct_kernel_code code;
  const int64_t c = sct_space_find(&f.space, "own_transpose N=2048", 0, &problem);
  assert_true(c >= 0);
  MUST(sct_codegen_make(&code, &rejected, &f.arena, f.script, &f.spec, &f.space,
                        &f.space.candidates[c], err));
  if ((rejected != NULL) != (why != NULL) || (why && !strstr(rejected, why))) {
    fail_msg("%s: %s", options, rejected ? rejected : "taken");
  }
  sct_kernel_code_free(&code);
  fixture_close(&f);
  sct_str_free(&text);
}

static void test_what_is_rejected(void **state) {
  (void)state;
  is_rejected("block = 32, grid = 'n_row'", NULL);
  is_rejected("block = 'N', grid = 'n_row'", "block x: 2048; expected 1 to 1024");
  is_rejected("block = { 32, 'N // 32' }, grid = 'n_row'", "2048 threads a block; at most 1024");
  is_rejected("block = { 1, 1, 'N // 16' }, grid = 'n_row'", "block z: 128; expected 1 to 64");
  is_rejected("block = '2048 - N', grid = 'n_row'", "block x: 0; expected 1 to 1024");
  is_rejected("block = 32, grid = 'n_row // (N - 2048)'", "grid: division by zero");
  is_rejected("block = 32, grid = '(n_row - n_col) // 3'", "grid: it divides what may be negative");
  is_rejected("block = 32, grid = 'max(n_row - n_col, 0) // 3'", NULL);
  is_rejected("block = 32, grid = 1, shared = '1 - N'", "shared: -2047; expected 0 to");
  is_rejected("block = 32, grid = 1, align = { a = 'N + 1' }", "align: 2049 is no power of two");
  is_rejected("block = 32, grid = 1, align = { a = '4 * N' }", "align: 8192; expected 1 to 4096");
  is_rejected("block = 32, grid = { 1, '32 * N' }", "more than 65535 blocks along y or z");
  is_rejected("block = 32, grid = 1, where = 'n_row * (2048 - N) > n_row'",
              "n_row * (2048 - N) > n_row");
}

/* As it is sent, and with one thing that cannot be. */
static void test_messages(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f, "transpose_own");
  const sct_kernel_code code = fixture_make(&f, LABEL);
  for (int wrong = 0; wrong < 7; wrong++) {
    sct_generated g = {.rendered = true, .code = code}, got;
    sct_param params[4];
    memcpy(params, code.params, sizeof params);
    g.code.params = params;
    params[1].number = wrong == 1 ? 2 : params[1].number;
    params[2].value = wrong == 2 ? SCT_EXPR_NONE : params[2].value;
    params[0].value = wrong == 3 ? params[2].value : params[0].value;
    g.code.block[1] = wrong == 4 ? 0 : 8;
    g.code.block[0] = wrong == 5 ? 16 : 32;
    g.code.kernel = wrong == 6 ? "transpose<32, 8>(); evil" : code.kernel;
    sct_wire wire = {0};
    sct_codegen_put(&wire, &f.spec, &g);
    assert_false(wire.failed);
    assert_true(sct_codegen_get(&got, &wire, &f.spec, &f.arena));
    assert_int_equal(got.failure != NULL, wrong > 0);
    if (wrong == 0) {
      assert_true(got.code.n_params == 4 && got.code.params[2].value == params[2].value);
      assert_memory_equal(got.code.grid_dims, code.grid_dims, sizeof code.grid_dims);
      assert_memory_equal(got.code.block, code.block, sizeof code.block);
      assert_true(sct_hash_equal(got.code.hash, code.hash));
    }
    sct_wire_free(&wire);
  }
  sct_kernel_code_free((sct_kernel_code *)(uintptr_t)&code);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_becomes),
      cmocka_unit_test(test_what_is_rejected),
      cmocka_unit_test(test_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
