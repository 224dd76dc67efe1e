/* Taps as a spec script writes them. */
#include "script_test.h"

/* A kernel over row and col; the array's line is line 4, its options are on it. */
static const char *kernel(const char *options, const char *body) {
  static char text[2048];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\n"
           "return s.kernel {\n"
           "  name = 'k', dims = { 'row', 'col' },\n"
           "  inputs = { s.array('a', 'f32', s.row_major, %s) },\n"
           "  outputs = { s.array('b', 'f32') },\n"
           "  body = [[%s]], sizes = { { row = 4, col = 5 } },\n"
           "}\n",
           options, body);
  return text;
}

static void test_taps(void **state) {
  (void)state;
  load_ok(kernel("{ taps = { west = { 0, -1 }, north = { -1, 0 } }, border = 'zero' }",
                 "b = a + north + west;"));
  const sct_operand *a = &spec.operands[0];
  assert_int_equal(a->n_taps, 2);
  assert_int_equal(a->border, SCT_BORDER_ZERO);
  assert_string_equal(a->taps[0].name, "north"); /* in order of names, however they were written */
  assert_int_equal(a->taps[0].delta[0], -1);
  assert_int_equal(a->taps[0].delta[1], 0);
  assert_string_equal(a->taps[1].name, "west");
  assert_int_equal(a->taps[1].delta[1], -1);
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok(kernel("{ border = 'zero', taps = { north = { -1, 0 }, west = { 0, -1 } } }",
                 "b = a + north + west;"));
  assert_memory_equal(&hash, &spec.hash, sizeof hash);
  sct_spec_free(&spec);
  load_ok(kernel("{ dims = 'col', taps = { next = 1 }, border = 'wrap' }", "b = a + next;"));
  assert_int_equal(spec.operands[0].taps[0].delta[0], 1);
  assert_int_equal(spec.operands[0].border, SCT_BORDER_WRAP);
  sct_spec_free(&spec);
  load_ok(kernel("{ taps = {} }", "b = a;"));
  assert_int_equal(spec.operands[0].n_taps, 0);
  assert_int_equal(spec.n_moves, 1);
  sct_spec_free(&spec);
}

/* The words of torch.nn, as they stand there, by list and by name. */
static void test_windows(void **state) {
  (void)state;
  static const char *const same[] = {
      "{ window = { 3, 5 }, stride = 2, padding = { 1, 2 }, dilation = { 1, 3 }, reduce = 'max' }",
      "{ window = { row = 3, col = 5 }, stride = { row = 2, col = 2 }, reduce = 'max',"
      "  padding = { col = 2, row = 1 }, dilation = { col = 3 } }",
      "{ taps = { a = { window = { 3, 5 }, stride = { 2, 2 }, padding = { 1, 2 }, reduce = 'max',"
      "  dilation = { 1, 3 } } }, border = 'skip' }",
  };
  sct_hash hash;
  for (int k = 0; k < SCT_COUNT(same); k++) {
    load_ok(kernel(same[k], "b = a;"));
    assert_true(k == 0 || memcmp(&hash, &spec.hash, sizeof hash) == 0);
    hash = spec.hash;
    assert_non_null(
        strstr(spec.canonical, "  border skip taps a (-1, -2) max of (3, 5) by (1, 3)\n"));
    /* as many elements as all windows reach, less the padding */
    assert_int_equal(sct_spec_bytes(&spec, 0, 0, &spec.sizes[0]),
                     4 * (3 * 2 + 2 + 1 - 2) * (4 * 2 + 12 + 1 - 4));
    sct_spec_free(&spec);
  }
  load_ok(kernel("{ window = 2, stride = 2, reduce = 'mean', count_include_pad = false,"
                 "  dims = { 'row', 'm' }, at = { 'row', '2 * col' }, border = -1 / 0,"
                 "  extents = { 'row', '7' } }",
                 "b = a;"));
  assert_string_equal(spec.operands[0].taps[0].how, "mean inside");
  assert_string_equal(spec.operands[0].at_text[1], "2 * col");
  assert_true(spec.operands[0].border_value < -1e308);
  sct_spec_free(&spec);
}

static void test_what_is_wrong(void **state) {
  (void)state;
  static const struct {
    const char *options, *says;
  } cases[] = {
      {"{ taps = 3 }", "s.array: taps must be a table, not an integer"},
      {"{ tap = {} }", "s.array has no option 'tap'; did you mean 'taps'?"},
      {"{ taps = { { -1, 0 } } }", "array 'a': every tap has a name, as in taps = { west"},
      {"{ taps = { west = { 0, -1, 0 } } }",
       "array 'a' has 2 dimensions, but tap 'west' has 3 offsets"},
      {"{ taps = { west = -1 } }", "array 'a' has 2 dimensions, but tap 'west' has 1 offset"},
      {"{ taps = { west = { 0, 0.5 } } }", "tap 'west': item 2 must be an integer, not a number"},
      {"{ taps = { west = { 0, 'col' } } }", "tap 'west': item 2 must be an integer, not a string"},
      {"{ taps = { west = 'x' } }", "tap 'west': item 1 must be an integer, not a string"},
      {"{ taps = { west = { x = 1 } } }", "tap 'west' is a list; it has no 'x'"},
      {"{ border = 'skip' }", "array 'a': only windows leave out what lies outside"},
      {"{ taps = { west = { 0, -1 } }, border = 'clmap' }",
       "array 'a': unknown border 'clmap'; did you mean 'clamp'?"},
      {"{ taps = { west = { 0, -1 } }, border = {} }",
       "border must be a string or number, not a table"},
      {"{ taps = { west = { 0, -1 } }, border = 0 / 0 }", "its border is no number (NaN)"},
      {"{ window = 3 }", "becomes one value: say which by reduce = \"max\""},
      {"{ window = 3, reduce = 'argmax' }", "its window: unknown reduce 'argmax'"},
      {"{ window = 0, reduce = 'max' }", "window is a whole number from 1 to 65536"},
      {"{ window = { row = 65536, col = 2 }, reduce = 'max' }",
       "the window of 'a' has 131072 elements; from 1 to 4096 are possible"},
      {"{ window = { lane = 2 }, reduce = 'max' }", "a dimension that the array has not"},
      {"{ window = 3, stride = { row = 2 }, reduce = 'max' }",
       "stride is given for dimension 'row', along which it has no window"},
      {"{ window = 3, padding = -1, reduce = 'max' }", "padding is a whole number from 0"},
      {"{ stride = 2 }", "stride belongs to a window, as in { window = 3, stride = ... }"},
      {"{ window = 3, reduce = 'max', border = 'none', extents = { 'row', 'col' } }",
       "tap 'a' of 'a' reads col 6 for col = 4, outside [0, 5)"},
      {"{ taps = { west = { 0, -1 } } }",
       "tap 'west' of 'a' reads col -1 for col = 0, outside [0, 5) (size 'row=4 col=5')"},
      {"{ taps = { west = { 0, 0 } }, border = 'wrap' }",
       "tap 'west' of 'a' is where the array itself is read"},
      {"{ taps = setmetatable({}, {}) }", "a plain table was expected, without a metatable"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_fails(kernel(cases[k].options, "b = a;"), "spec.lua", 4, cases[k].says);
  }
  assert_fails(kernel("{ taps = { west = { 0, -1 } }, border = 'wrap' }", "b = a + wets;"),
               "spec.lua", 6, "unknown name 'wets'; did you mean 'west'?");
  assert_fails("local s = require 'sectile'\n"
               "return s.kernel { name = 'k', dims = { 'i' },\n"
               "  inputs = { s.array('a', 'f32', nil, {\n"
               "    border = 'wrap',\n"
               "    taps = {\n"
               "      next = 1,\n"
               "      other = 1,\n"
               "    } }) },\n"
               "  outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { i = 4 } } }\n",
               "spec.lua", 7, "taps 'next' and 'other' of 'a' are the same place");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_taps),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_what_is_wrong),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
