/* Spec scripts: what they become, and every way they can be wrong, with the line and the nearest
 * legal name. */
#include "script_test.h"
#include "worked.h"

#define HEAD "local s = require 'sectile'\n"

/* One kernel from its parts; the array line is line 4, body line 6. */
static const char *kernel(const char *input, const char *body, const char *more) {
  static char text[4096];
  snprintf(text, sizeof text,
           HEAD "return s.kernel {\n"
                "  name = 'k', dims = { 'i' },\n"
                "  inputs = { %s },\n"
                "  outputs = { s.array('b', 'f32') },\n"
                "  body = [[%s]],\n"
                "%s\n"
                "}\n",
           input, body, more);
  return text;
}

#define SIZES   "  sizes = { { i = 8 } },"
#define INPUT_A "s.array('a', 'f32')"

/* e is what the text says: equal expressions have equal handles. */
static void assert_expr(sct_expr e, const char *text) {
  sct_expr want = SCT_EXPR_NONE;
  if (sct_expr_parse(&want, spec.pool, text, NULL, &err) != SCT_OK) {
    fail_msg("%s: %s", text, err.text);
  }
  sct_str printed = {0};
  sct_expr_print(&printed, spec.pool, e);
  if (e != want) {
    fail_msg("expected %s, got %s", text, sct_str_c(&printed));
  }
  sct_str_free(&printed);
}

/* ---- what a spec becomes ---- */

static void test_numbers_of_places(void **state) {
  (void)state;
  load_ok(HEAD
          "return s.kernel { name = 'k', dims = { 'i' }, extents = { 'step', 'first' },\n"
          "  inputs = { s.array('a', 'f32', nil, { dims = 'm', at = 'n_step * i + n_first',\n"
          "                                        extents = 'step * i + first' }) },\n"
          "  outputs = { s.array('b', 'f32', nil, { dims = { 'i', 'q' }, at = { 'i', 0 } }) },\n"
          "  body = 'b = a * n_step;', sizes = { { i = 9, step = 3, first = 5, q = 2 } } }\n");
  assert_int_equal(spec.n_extents, 4); /* in this order they are arguments of a launch */
  assert_string_equal(spec.extent_names[1], "step");
  assert_string_equal(spec.extent_names[2], "first");
  assert_string_equal(spec.extent_names[3], "q");
  assert_expr(spec.operands[0].layouts[0].offset[0], "4 * i * n_step + 4 * n_first");
  assert_string_equal(spec.sizes[0].label, "i=9 step=3 first=5 q=2");
  assert_non_null(strstr(spec.canonical, "extent step\nextent first\n"));
  sct_spec_free(&spec);
}

#define PICKED(option, at, body)                                                                   \
  HEAD "return s.kernel { name = 'k', dims = { 'i' }, inputs = {\n"                                \
       "  s.array('pick', 'i32', nil, { " option " }),\n"                                          \
       "  s.array('x', 'f32', nil, { dims = 'm', at = '" at "' }) },\n"                            \
       "  outputs = { s.array('y', 'f32') }, body = '" body                                        \
       "', sizes = { { i = 999, m = 50 } } }\n"

static void test_none(void **state) {
  (void)state;
  int none = 0;
  load_ok(PICKED("none = true", "2 * pick + 1", "y = pick < 0 ? 0.0f : x;"));
  assert_true(spec.operands[0].has_none);
  assert_expr(spec.operands[1].at[0], "2 * max(0, pick) + 1");
  for (int64_t k = 0; k < 999; k++) {
    const int64_t value = sct_spec_index_value(&spec, 0, k, &spec.sizes[0]);
    none += value == -1;
    assert_in_range(value + 1, 0, 25); /* 2 * 24 + 1 < 50 */
  }
  assert_in_range(none, 60, 200); /* one in eight */
  assert_non_null(strstr(spec.canonical, "  none\n"));
  sct_spec_free(&spec);
}

static void test_a_whole_spec(void **state) {
  (void)state;
  load_ok(HEAD
          "local vec = s.record { { 'x', 'f64' }, { 'y', 'f32' }, name = 'vec' }\n"
          "return s.kernel {\n"
          "  name = 'k', dims = { 'row', 'col' },\n"
          "  scalars = { { 'c', 'f32' } },\n"
          "  inputs = { s.array('a', vec, s.soa), s.array('t', 'f32', nil, { dims = 'col' }) },\n"
          "  outputs = { s.array('b', vec, s.choose { s.aos, s.aosoa { lanes = { 16, 64 } } }) },\n"
          "  body = [[\n"
          "    b.x = a.x + c;\n"
          "    b.y = a.y + t;\n"
          "  ]],\n"
          "  sizes = { { row = 4, col = 5 }, { row = 1 << 10, col = 77 } },\n"
          "  tolerance = 1e-6,\n"
          "}\n");
  assert_string_equal(spec.name, "k");
  assert_int_equal(spec.line, 3);
  assert_int_equal(spec.n_dims, 2);
  assert_string_equal(spec.dims[1], "col");
  assert_int_equal(spec.n_scalars, 1);
  assert_int_equal(spec.scalars[0].type, SCT_TYPE_F32);
  assert_int_equal(spec.n_operands, 3);
  assert_int_equal(spec.n_inputs, 2);
  const sct_operand *a = &spec.operands[0];
  assert_string_equal(a->record.name, "vec");
  assert_int_equal(a->record.bytes, 16);
  assert_int_equal(a->line, 6);
  assert_expr(a->layouts[0].offset[1], "8 * n_col * n_row + 4 * n_col * row + 4 * col");
  assert_int_equal(spec.operands[1].n_dims, 1);
  assert_expr(spec.operands[1].layouts[0].offset[0], "4 * col");
  const sct_operand *b = &spec.operands[2];
  assert_true(b->is_output);
  assert_int_equal(b->n_layouts, 3);
  assert_string_equal(b->layouts[0].label, "aos");
  assert_string_equal(b->layouts[2].label, "aosoa(lanes=64)");
  assert_string_equal(b->layouts[2].name, "aosoa");
  assert_string_equal(spec.body, "b.x = a.x + c;\n    b.y = a.y + t;");
  assert_int_equal(spec.body_line, 9);
  assert_true(spec.body_in_file);
  assert_int_equal(spec.n_sizes, 2);
  assert_int_equal(spec.sizes[1].extent[0], 1024);
  assert_true(spec.tolerance == 1e-6);
  sct_spec_free(&spec);
}

static void assert_layout(const char *record, const char *dims, const char *layout,
                          const char *first, const char *last, const char *bytes) {
  char text[1024];
  snprintf(text, sizeof text,
           HEAD "local r = %s\n"
                "return s.kernel { name = 'k', dims = %s,\n"
                "  inputs = { s.array('a', r, %s) }, outputs = { s.array('b', r) },\n"
                "  body = 'b = a;', sizes = { { i = 9, j = %s } } }",
           record, dims, layout, strstr(dims, "j") ? "7" : "nil");
  load_ok(text);
  const sct_operand *a = &spec.operands[0];
  assert_expr(a->layouts[0].offset[0], first);
  assert_expr(a->layouts[0].offset[a->record.n_fields - 1], last);
  assert_expr(a->layouts[0].bytes, bytes);
  sct_spec_free(&spec);
}

static void test_built_in_layouts(void **state) {
  (void)state;
  static const char three[] = "s.record { { 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' } }";
  static const char gap[] = "s.record { { 'x', 'u8' }, { 'y', 'f64' } }";
  static const char packed[] = "s.record { { 'x', 'u8' }, { 'y', 'f64' }, packed = true }";
  static const char aligned[] = "s.record { { 'x', 'f32' }, { 'y', 'f32' }, align = 16 }";
  static const char d1[] = "{ 'i' }";
  static const char d2[] = "{ 'i', 'j' }";
  assert_layout(three, d1, "s.aos", "12 * i", "12 * i + 8", "12 * n_i");
  assert_layout(three, d1, "nil", "12 * i", "12 * i + 8", "12 * n_i");
  assert_layout(three, d1, "s.soa", "4 * i", "8 * n_i + 4 * i", "12 * n_i");
  assert_layout(gap, d1, "s.soa", "i", "(n_i + 7) // 8 * 8 + 8 * i",
                "(n_i + 7) // 8 * 8 + 8 * n_i");
  assert_layout(gap, d1, "s.aosoa { lanes = 4 }", "i // 4 * 64 + i % 4",
                "i // 4 * 64 + i % 4 * 8 + 32", "(n_i + 3) // 4 * 64");
  assert_layout(packed, d1, "s.aos", "9 * i", "9 * i + 1", "9 * n_i");
  assert_layout(aligned, d1, "s.aos", "16 * i", "16 * i + 4", "16 * n_i");
  assert_layout("'f32'", d2, "s.row_major", "4 * i * n_j + 4 * j", "4 * i * n_j + 4 * j",
                "4 * n_i * n_j");
  assert_layout("'f32'", d2, "s.col_major", "4 * j * n_i + 4 * i", "4 * j * n_i + 4 * i",
                "4 * n_i * n_j");
  assert_layout("'f32'", d2, "s.pitched { pitch = '4 * j + 64' }", "4 * i * n_j + 64 * i + 4 * j",
                "4 * i * n_j + 64 * i + 4 * j", "4 * n_i * n_j + 64 * n_i");
  assert_layout("'f32'", d2, "s.pitched { elements = 'j + 16' }", "4 * i * n_j + 64 * i + 4 * j",
                "4 * i * n_j + 64 * i + 4 * j", "4 * n_i * n_j + 64 * n_i");
  assert_layout("'f32'", d2, "s.pitched", "(n_j + 63) // 64 * 256 * i + 4 * j",
                "(n_j + 63) // 64 * 256 * i + 4 * j", "(n_j + 63) // 64 * 256 * n_i");
  assert_layout("'f32'", d2, "s.strided { 'j + 1', 1 }", "4 * i * n_j + 4 * i + 4 * j",
                "4 * i * n_j + 4 * i + 4 * j",
                "4 * max(n_i - 1, 0) * min(n_i * n_j, 1) * n_j + 4 * max(n_i - 1, 0) * min(n_i * "
                "n_j, 1) + 4 * max(n_j - 1, 0) * min(n_i * n_j, 1) + 4 * min(n_i * n_j, 1)");
  assert_layout(three, d1, "s.aosoa { lanes = 48 }", "i // 48 * 576 + i % 48 * 4",
                "i // 48 * 576 + i % 48 * 4 + 384", "(n_i + 47) // 48 * 576");
}

/* A pitch that is a new name is a dimension of the array, and an argument of the kernel. */
static void test_a_pitch_at_launch(void **state) {
  (void)state;
  static const char text[] =
      HEAD "return s.kernel { name = 'k', dims = { 'i', 'j' },\n"
           "  inputs = { s.array('a', 'f32', s.pitched { elements = 'wide' }) },\n"
           "  outputs = { s.array('b', s.record { { 'x', 'f32' }, { 'y', 'f32' } },\n"
           "    s.pitched { elements = 'to' }, { extents = { 'i + 1', 'j' } }) },\n"
           "  body = 'b.x = a; b.y = a;', sizes = { { i = 9, j = 7, wide = %d, to = %d } } }";
  char full[1024];
  snprintf(full, sizeof full, text, 8, 10);
  load_ok(full);
  assert_expr(spec.operands[0].layouts[0].offset[0], "4 * i * n_wide + 4 * j");
  assert_expr(spec.operands[0].layouts[0].bytes, "4 * n_i * n_wide");
  assert_expr(spec.operands[1].layouts[0].offset[1], "8 * i * n_to + 8 * j + 4");
  assert_expr(spec.operands[1].layouts[0].bytes, "8 * n_i * n_to + 8 * n_to");
  sct_spec_free(&spec);
  snprintf(full, sizeof full, text, 6, 10);
  assert_fails(full, "spec.lua", 3, "at of 'a', \"j\", gives 6 for j = 6, outside [0, 6)");
  snprintf(full, sizeof full, text, 8, 6);
  assert_fails(full, "spec.lua", 5, "at of 'b', \"j\", gives 6 for j = 6, outside [0, 6)");
}

static void test_places(void **state) {
  (void)state;
  load_ok(kernel("s.array('pick', 'i32'), s.array('a', 'f32', s.row_major, "
                 "{ dims = { 'm' }, at = { 'pick' } }), "
                 "s.array('c', 'f32', nil, { at = 'i + 1', pad = 1 })",
                 "b = a + c;", "  sizes = { { i = 8, m = 20, pick = 'identity' } },"));
  assert_int_equal(spec.n_extents, 2);
  assert_true(spec.operands[0].is_index);
  assert_expr(spec.operands[1].layouts[0].offset[0], "4 * pick");
  assert_expr(spec.operands[2].layouts[0].offset[0], "4 * i + 4");
  assert_expr(spec.operands[2].layouts[0].bytes, "4 * n_i + 4");
  assert_int_equal(spec.sizes[0].fill[0], SCT_FILL_IDENTITY);
  assert_string_equal(spec.sizes[0].label, "i=8 m=20 pick=identity");
  sct_spec_free(&spec);
}

static void test_hash_ignores_writing(void **state) {
  (void)state;
  load_ok(kernel(INPUT_A, "b = a + 1.0f;", SIZES));
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok(HEAD
          "-- another way to write it\n"
          "local t = 'f' .. 32\nlocal a = s.array('a', t, s.layout 'row_major')\n\n"
          "return (s.kernel { sizes = { { ['i'] = 2^3 // 1 | 0 } }, dims = { 'i' }, name = 'k',\n"
          "  body = 'b   =  a + 1.0f ;  // comment', inputs = { a },\n"
          "  outputs = { s.array('b', t) } })\n");
  assert_true(sct_hash_equal(hash, spec.hash));
  sct_spec_free(&spec);
  load_ok(kernel("s.array('a', 'f32', s.aosoa { lanes = 4 })", "b = a + 1.0f;", SIZES));
  assert_false(sct_hash_equal(hash, spec.hash));
  sct_spec_free(&spec);
}

/* A body put together by code: its lines are not in the file. */
static void test_computed_body(void **state) {
  (void)state;
  assert_fails(HEAD
               "local b = 'b = a;\\n' .. 'b = ' .. 'oops;'\n"
               "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', 'f32') },\n"
               "  outputs = { s.array('b', 'f32') }, body = b, sizes = { { i = 1 } } }",
               "spec.lua", 4, "body, line 2: unknown name 'oops'");
}

/* Lua knows four ends of a line; C counts the same lines. */
static void test_ends_of_lines(void **state) {
  (void)state;
  static const char *const ends[] = {"\n", "\r", "\r\n", "\n\r"};
  static const char *const lines[] = {"local s = require 'sectile'",
                                      "",
                                      "return s.kernel {",
                                      "name = 'k', dims = { 'i' },",
                                      "outputs = { s.array('b', 'f32') },",
                                      "body = [[",
                                      "",
                                      "b = oops;",
                                      "]],",
                                      "sizes = {",
                                      "{ i = 1 } } }"};
  for (int k = 0; k < SCT_COUNT(ends); k++) {
    sct_str text = {0};
    for (int n = 0; n < SCT_COUNT(lines); n++) {
      sct_str_printf(&text, "%s%s", lines[n], ends[k]);
    }
    assert_fails(sct_str_c(&text), "spec.lua", 8, "unknown name 'oops'");
    assert_true(sct_has_suffix(err.text, "\n    b = oops;\n        ^"));
    sct_str_free(&text);
  }
}

/* ---- what is wrong ---- */

static void test_wrong_kernels(void **state) {
  (void)state;
  static const struct {
    const char *input, *body, *more;
    int line;
    const char *says;
  } cases[] = {
      {INPUT_A, "b = a;", "  tolerence = 0.1,\n" SIZES, 7,
       "s.kernel has no option 'tolerence'; did you mean 'tolerance'?"},
      {INPUT_A, "b = a;", "  tolerance = 'small',\n" SIZES, 7,
       "s.kernel: tolerance must be a number, not a string"},
      {INPUT_A, "b = a;", "  tolerance = 2,\n" SIZES, 2,
       "tolerance = 2; expected a number from 0 to 1"},
      {INPUT_A, "b = a;", "  tolerance = 0/0,\n" SIZES, 2, "tolerance = "},
      {INPUT_A, "b = a;", "  scalars = { 'k' },\n" SIZES, 2,
       "scalars: item 1 must be a table, not a string"},
      {INPUT_A, "b = a;", "  scalars = { { 'k' } },\n" SIZES, 7,
       "scalars: item 1 must be { name, type }"},
      {INPUT_A, "b = a;", "  scalars = { { 'k', 'f31' } },\n" SIZES, 7,
       "scalar 'k': unknown type 'f31'; did you mean 'f32'?"},
      {INPUT_A, "b = a;", "  scalars = { { 'int', 'f32' } },\n" SIZES, 2,
       "scalar 'int' is a word of CUDA C++"},
      {INPUT_A, "b = a;", "", 2, "s.kernel needs 'sizes'"},
      {INPUT_A, "b = a;", "  sizes = {},", 2, "a kernel needs at least one size"},
      {INPUT_A, "b = a;", "  sizes = {\n  { i = -4 } },", 8, "extent i = -4 is negative"},
      {INPUT_A, "b = a;", "  sizes = {\n  { i = 4 },\n  { i = 4.5 } },", 9,
       "sizes: i must be a whole number, not 4.5"},
      {INPUT_A, "b = a;", "  sizes = {\n  { i = 4 },\n  { j = 4 } },", 9,
       "sizes: there is no dimension, index array or mask 'j'; did you mean 'i'?"},
      {INPUT_A, "b = a;", "  sizes = { { 4 } },", 7, "sizes: every entry has a name"},
      {INPUT_A, "b = a;", "  sizes = { { } },", 7, "sizes: this size lacks the extent of 'i'"},
      {INPUT_A, "b = a;", "  sizes = { { i = 'many' } },", 7,
       "sizes: i must be a whole number, not many"},
      {INPUT_A, "b = a;", "  sizes = { { i = 2^20 } },", 7,
       "sizes: i must be a whole number, not 1048576.0 (a float); write 1048576"},
      {INPUT_A, "b = a;", "  sizes = { { i = '64' } },", 7,
       "sizes: i must be a whole number, not 64 (a text); write 64"},
      {INPUT_A, "b = a;", "  sizes = { { i = 2^63 } },", 7,
       "sizes: i must be a whole number, not 9.2233720368548e+18"},
      {INPUT_A, "b = a;", "  sizes = { { i = 4, a = 'identity' } },", 7,
       "there is no dimension, index array or mask 'a'"},
      {INPUT_A, "b = a;", "  sizes = { { i = 4 }, { i = 4 } },", 7, "size 'i=4' appears twice"},
      {INPUT_A, "b = c;", SIZES, 6, "unknown name 'c'"},
      {INPUT_A, "\n  b = a;\n  b = a + q;\n", SIZES, 8, "unknown name 'q'"},
      {INPUT_A, "", SIZES, 2, "the body is empty"},
      {INPUT_A, "b = a;\n#define X\n", SIZES, 7, "a body may not contain `#`"},
      {"'a'", "b = a;", SIZES, 2, "inputs: item 1 must be a table, not a string"},
      {"{ 'a', 'f32' }", "b = a;", SIZES, 4, "inputs: item 1 must be an s.array(...)"},
      {"s.aos", "b = a;", SIZES, 4, "inputs: item 1 must be an s.array(...)"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_fails(kernel(cases[k].input, cases[k].body, cases[k].more), "spec.lua", cases[k].line,
                 cases[k].says);
  }
}

static void test_wrong_arrays(void **state) {
  (void)state;
  static const struct {
    const char *input, *says;
  } cases[] = {
      {"s.array('a', 'uint8')", "array 'a': unknown type 'uint8'; write u8"},
      {"s.array('a', 'complex64')", "array 'a': unknown type 'complex64'; write f32x2"},
      {"s.array('a', 'float16')", "array 'a': unknown type 'float16'; write f16"},
      {"s.array('a', 'fp8')", "array 'a': unknown type 'fp8'; write e4m3 or e5m2"},
      {"s.array('a', 'f23')", "array 'a': unknown type 'f23'; did you mean 'f32'?"},
      {"s.array('a')", "array 'a': a type name such as \"f32\" was expected, not a nil"},
      {"s.array()", "s.array: its first argument is a name, not a nil"},
      {"s.array('a', {})", "its type must be a type name or an s.record"},
      {"s.array('a', 'f32', s.aoss)", "sectile has no 'aoss'; did you mean 'aos'?"},
      {"s.array('a', 'f32', 'aos')", "its third argument is a layout such as s.aos, not a string"},
      {"s.array('a', 'f32', { at = 'i' })",
       "its third argument is a layout such as s.aos, not a table"},
      {"s.array('a', 'f32', nil, { att = 'i' })",
       "s.array has no option 'att'; did you mean 'at'?"},
      {"s.array('a', 'f32', nil, { 'i' })", "options have names"},
      {"s.array('a', 'f32', nil, 'i')", "options are given as a table, not a string"},
      {"s.array('a', 'f32', nil, { at = 'i + 1' })", "gives 8 for i = 7, outside [0, 8)"},
      {"s.array('a', 'f32', nil, { at = 'k' })", "unknown name 'k'"},
      {"s.array('a', 'f32', nil, { at = true })",
       "s.array: at must be a table or string, not a boolean"},
      {"s.array('a', 'f32', nil, { at = { 'i', 'i' } })", "has 1 dimension, but at has 2 items"},
      {"s.array('a', 'f32', nil, { at = {} })", "has 1 dimension, but at has 0 items"},
      {"s.array('a', 'f32', nil, { pad = -9 })", "'a' has a negative extent (-1)"},
      {"s.array('a', 'f32', nil, { pad = 1.5 })",
       "s.array: pad must be an integer or table, not a number"},
      {"s.array('a', 'f32', nil, { pad = { 1, 2 } })", "has 1 dimension, but pad has 2 items"},
      {"s.array('a', 'f32', nil, { dims = {}, at = 'i' })", "has 0 dimensions, but at has 1 item"},
      {"s.array('a', 'f32', nil, { dims = 'm' })",
       "'a' has a dimension 'm' that the kernel has not"},
      {"s.array('a', 'f32', nil, { extents = '3 * n_i' })", "unknown name 'n_i'"},
      {"s.array('a', 'f32', nil, { fill = 'identity' })",
       "no other array is read or written through it"},
      {"s.array('a', 'f32', nil, { fill = 'idendity' })",
       "unknown fill 'idendity'; did you mean 'identity'?"},
      {"s.array('threadIdx', 'f32')", "array 'threadIdx' is a word of CUDA C++"},
      {"s.array('a b', 'f32')", "array 'a b' is not a name"},
      {"s.array('b', 'f32')", "array 'b' is in both inputs and outputs"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const bool output = strstr(cases[k].says, "inputs and outputs") != NULL; /* the second 'b' */
    assert_fails(kernel(cases[k].input, "b = a;", SIZES), "spec.lua", output ? 5 : 4,
                 cases[k].says);
  }
}

static void test_wrong_records(void **state) {
  (void)state;
  static const struct {
    const char *record, *says;
  } cases[] = {
      {"{}", "a record needs at least one field"},
      {"5", "s.record takes a table of { name, type } pairs, not a number"},
      {"{ 'x' }", "field 1 must be { name, type }"},
      {"{ { 'x' } }", "field 1 must be { name, type }"},
      {"{ { 'x', 'f32', 3, 4 } }", "field 1 must be { name, type }, as in { \"x\", \"f32\" }, or"},
      {"{ { 'x', 'f32', 0 } }", "field 'x' has 0 elements; expected a whole number from 1 to 64"},
      {"{ { 'x', 'f32', 2.5 } }", "field 'x' has 2.5 elements; expected a whole number"},
      {"{ { 'x', 'f32', '3' } }", "field 'x' has 3 elements; expected a whole number"},
      {"{ { 'x', 'f32', 60 }, { 'y', 'f64', 5 } }",
       "a record has at most 64 fields, not 65; each element of an array is one"},
      {"{ { 'x', 'f32x2', 3 } }", "field 'x' is an array of f32x2; arrays have elements of one"},
      {"{ { 'x', 'i4', 7 } }", "7 elements of i4, of which 2 share a byte, and the last byte is "
                               "not full; write 8"},
      {"{ { 'x', 'u4', 130 } }", "'x' has 130 elements; expected a whole number from 2 to 128"},
      {"{ { 'x', 'u1', 0 } }", "'x' has 0 elements; expected a whole number from 8 to 512"},
      {"{ { 'x', 'u1' } }", "field 'x' cannot be one u1: 8 of them share a byte; write an array"},
      {"{ { 'x', 'u4', 128 }, { 'y', 'f64' } }", "at most 64 fields, not 65; each element"},
      {"{ { 'x[0]', 'f32' } }", "field 'x[0]': an array is { \"x\", \"f32\", count }"},
      {"{ { 'x', 'f32', 3 }, { 'x', 'f32' } }", "field 'x' appears twice"},
      {"{ { 'x', 'f32', align = 3 } }", "field 'x' has no option 'align'"},
      {"{ { 'x', 'flt' } }", "field 'x': unknown type 'flt'"},
      {"{ { 'x', 'f32' }, pakced = true }",
       "s.record has no option 'pakced'; did you mean 'packed'?"},
      {"{ { 'x', 'f32' }, packed = 1 }", "s.record: packed must be a boolean, not an integer"},
      {"{ { 'x', 'f32' }, align = 3 }", "align = 3 is not possible; expected a power of two"},
      {"{ { 'x', 'f32' }, { 'x', 'f64' } }", "field 'x' appears twice"},
      {"{ { 'double', 'f32' } }", "field name 'double' is a word of CUDA C++"},
      {"{ { 'x', 'f32' }, name = 'class' }", "record name 'class' is a word of CUDA C++"},
      {"{ { 'x', 'f32' }, name = 'time' }", "record name 'time' is declared by C or CUDA headers"},
      {"{ { 'x', 'f32' }, name = 'assert' }", "'assert' is declared by C or CUDA headers"},
      {"{ { 'x', 'f32' }, name = 'offsetof' }", "'offsetof' is declared by C or CUDA headers"},
      {"{ { 'x', 'f32' }, name = 'jmp_buf' }", "'jmp_buf' is declared by C or CUDA headers"},
      {"{ { 'x', 'f32' }, name = 'uint4' }",
       "record name 'uint4' is declared by C or CUDA headers"},
      {"setmetatable({ { 'x', 'f32' } }, {})", "a plain table was expected, without a metatable"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD "\nlocal r = s.record(%s)\nreturn s.kernel { name = 'k', dims = { 'i' },"
                  "outputs = { s.array('b', r) }, body = 'b.x = 0;', sizes = { { i = 1 } } }",
             cases[k].record);
    assert_fails(text, "spec.lua", 3, cases[k].says);
  }
  static const char *const beside[][2] = {{"i", "record 'i': the name is already a dimension"},
                                          {"b", "record 'b': the name is already an array"}};
  for (int k = 0; k < SCT_COUNT(beside); k++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD "\nlocal r = s.record { { 'x', 'f32' }, name = '%s' }\nreturn s.kernel { "
                  "name = 'k', dims = { 'i' }, outputs = { s.array('b', r) }, body = 'b.x = 0;', "
                  "sizes = { { i = 1 } } }",
             beside[k][0]);
    assert_fails(text, "spec.lua", 4, beside[k][1]);
  }
}

static void test_wrong_layouts(void **state) {
  (void)state;
  static const struct {
    const char *layout, *says;
  } cases[] = {
      {"s.aosoa { lane = 4 }", "layout aosoa has no parameter 'lane'; did you mean 'lanes'?"},
      {"s.aosoa { lanes = 0 }", "layout aosoa: lanes = 0 is too small; at least 1"},
      {"s.aosoa { lanes = 2.5 }", "layout aosoa: lanes must be a whole number, not 2.5"},
      {"s.aosoa { lanes = 'many' }", "layout aosoa: lanes must be a whole number, not many"},
      {"s.aosoa { lanes = {} }", "layout aosoa: 'lanes' has no values"},
      {"s.aosoa { 32 }", "layout aosoa: write lanes = 32"},
      {"s.aosoa(32)", "layout aosoa: parameters are given as a table"},
      {"s.aosoa { lanes = { 4, 4 } }", "layout aosoa(lanes=4) appears twice in this choice"},
      {"s.aos { lanes = 4 }", "layout aos has no parameter 'lanes'; it has none"},
      {"s.strided", "layout strided needs a value for 'strides'"},
      {"s.strided { 1, 2 }", "2 strides for 1 dimensions (tuning/layouts/strided.lua:"},
      {"s.strided { 'i +' }", "\"i +\": "},
      {"s.strided { 1 << 62 }", "too large, or it divides by zero (tuning/layouts/strided.lua:"},
      {"s.pitched { pitch = 4 }", "element (1) takes bytes 4 to 7, outside [0, 4) (array 'a'"},
      {"s.pitched { align = 1 << 60 }",
       "its size is too large: 1152921504606846976 bytes; at most"},
      {"s.strided { 0 }", "layout strided: strides = 0 is too small"},
      {"s.pitched { align = 256, pich = 3 }",
       "layout pitched has no parameter 'pich'; did you mean 'pitch'?"},
      {"s.choose { s.pitched { elements = 'p' }, s.aos }", "a pitch that is known at launch, 'p', "
                                                           "goes with neither s.choose nor pad"},
      {"s.pitched { pitch = '4 * p' }",
       "unknown name 'p'; did you mean 'i'? (a pitch that is known at "
       "launch: s.pitched { elements = \"pitch\" }"},
      {"s.choose {}", "s.choose takes a list of layouts"},
      {"s.choose { 'aos' }", "s.choose: item 1 must be a table, not a string"},
      {"s.choose { {} }", "s.choose takes layouts, as in s.choose { s.aos, s.soa }; not a table"},
      {"s.layout 'aosoaa'", "unknown layout 'aosoaa'; did you mean 'aosoa'?"},
      {"s.layout 'absent.lua'", "there is no layout file 'absent.lua' below the spec's directory"},
      {"s.layout(3)", "s.layout takes the name of a file, not a number"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char input[200];
    snprintf(input, sizeof input, "s.array('a', 'f32', %s)", cases[k].layout);
    assert_fails(kernel(input, "b = a;", SIZES), "spec.lua", 4, cases[k].says);
  }
}

/* ---- layout files ---- */

static void assert_file_fails(const char *layout, int line, const char *says) {
  write_file("mine.lua", layout);
  assert_fails(
      kernel("s.array('a', s.record { { 'x', 'f32' }, { 'y', 'f64' } }, s.layout 'mine.lua')",
             "b = a.x;", SIZES),
      "mine.lua", line, says);
}

#define OFFSET "  offset = function(l, field, idx, ext)\n"

static void test_wrong_layout_files(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *says;
  } cases[] = {
      {"\nreturn 3", 1, "a layout file returns a table"},
      {"return {\n name = 'm',\n offest = 1 }", 3,
       "layout file has no option 'offest'; did you mean 'offset'?"},
      {"return { offset = print_it }", 1, "unknown name 'print_it'"},
      {"return { name = 'm', bytes = function() end }", 1, "layout file needs 'offset'"},
      {"return { name = 'm',\n" OFFSET " return 0 end,\n bytes = 12 }", 4,
       "layout file: bytes must be a function, not an integer"},
      {"return { name = 'm',\n" OFFSET "    return nil end, bytes = function() return 1 end }", 2,
       "offset returned nothing"},
      {"return { name = 'm',\n" OFFSET "    return 'x' end, bytes = function() return 1 end }", 2,
       "offset must give a whole number, not x"},
      {"return { name = 'm',\n" OFFSET "    return 0 end,\n bytes = function() end }", 4,
       "bytes returned nothing"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[1] * l.lanes end, bytes = function() return 1 end }",
       3, "the layout's `l` has no 'lanes'"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[1] * l.record.byts end, bytes = function() return 1 end }",
       3, "l.record has no 'byts'; did you mean 'bytes'?"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[1] * field.ofset end, bytes = function() return 1 end }",
       3, "a field has no 'ofset'; did you mean 'offset'?"},
      {"return { name = 'm',\n" OFFSET
       "    if idx[1] < 4 then return 0 end end, bytes = function() return 1 end }",
       3, "an expression has no value yet, so `<`, `<=` and `==` cannot decide"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[1] / 2 end, bytes = function() return 1 end }",
       3, "write `//` for whole-number division"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[1] // 0 end, bytes = function() return 1 end }",
       3, "divides by zero"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[2] * 4 end, bytes = function() return 1 end }",
       3, "attempt to perform arithmetic on a nil value"},
      {"return { name = 'm',\n" OFFSET
       "    return idx[1] * 2.5 end, bytes = function() return 1 end }",
       3, "2.5 is not an integer"},
      {"return { name = 'm', params = { { 'n', { 1, 'x' } } },\n" OFFSET
       "    return 0 end, bytes = function() return 1 end }",
       1, "parameter 'n': its values are whole numbers"},
      {"return { name = 'm',\n params = { 'n' },\n" OFFSET
       "    return 0 end, bytes = function() return 1 end }",
       2, "layout parameter 1: { name, values, default = value } was expected"},
      {"return { name = 'm', params = { { 'n', { 1 }, defualt = 1 } },\n" OFFSET
       "    return 0 end, bytes = function() return 1 end }",
       1, "layout parameter has no option 'defualt'; did you mean 'default'?"},
      {"local x = = 1", 1, "unexpected symbol"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_file_fails(cases[k].text, cases[k].line, cases[k].says);
  }
}

static void test_layouts_that_overlap_or_leave(void **state) {
  (void)state;
  assert_file_fails("return { name = 'm',\n" OFFSET "    return idx[1] * 12 + field.offset end,\n"
                    "  bytes = function(l, ext) return l.count(ext) * 16 end }",
                    2, "field y of element (0) and field x of element (1) share bytes 12 to 15");
  assert_file_fails("return { name = 'm',\n" OFFSET "    return idx[1] * 16 + field.offset end,\n"
                    "  bytes = function(l, ext) return l.count(ext) * 12 end }",
                    2, "field y of element (0) takes bytes 8 to 15, outside [0, 12)");
}

/* Deciding by `type` or by comparing with a number slips past the tracer: numbers tell. */
static void test_layout_that_behaves_differently_on_numbers(void **state) {
  (void)state;
  assert_file_fails("return { name = 'm',\n" OFFSET "    if idx[1] == 3 then return 0 end\n"
                    "    return idx[1] * 16 + field.offset end,\n"
                    "  bytes = function(l, ext) return l.count(ext) * 16 end }",
                    2, "offset gives 0 for plain numbers, but the formula traced from it gives 48");
}

/* The layout of the issue: blocks of 48 records, fields in reverse order. */
static void test_a_new_layout(void **state) {
  (void)state;
  write_file("reversed.lua",
             "return { name = 'reversed', params = { { 'lanes', { 24, 48 }, default = 48 } },\n"
             "  offset = function(l, field, idx, ext)\n"
             "    local i, start = l.linear(idx, ext), 0\n"
             "    for k = #l.record.fields, field.index + 1, -1 do\n"
             "      start = start + l.record.fields[k].bytes\n"
             "    end\n"
             "    return i // l.lanes * (l.lanes * l.record.data_bytes) + l.lanes * start\n"
             "      + i % l.lanes * field.bytes\n"
             "  end,\n"
             "  bytes = function(l, ext)\n"
             "    return l.round_up(l.count(ext), l.lanes) * l.record.data_bytes\n"
             "  end }");
  load_ok(kernel("s.array('a', s.record { { 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' } }, "
                 "s.layout 'reversed.lua')",
                 "b = a.x;", SIZES));
  const sct_layout *layout = &spec.operands[0].layouts[0];
  assert_string_equal(layout->label, "reversed(lanes=48)");
  assert_expr(layout->offset[0], "i // 48 * 576 + i % 48 * 4 + 384");
  assert_expr(layout->offset[2], "i // 48 * 576 + i % 48 * 4");
  assert_int_equal(layout->line, 2);
  sct_spec_free(&spec);
  assert_fails(
      kernel("s.array('a', 'f32', s.layout('reversed.lua') { lanes = 47 })", "b = a;", SIZES),
      "spec.lua", 4, "lanes = 47 is not one of 24, 48");
}

/* Expressions as Lua values: what a layout function can do with them. */
static void test_expression_values(void **state) {
  (void)state;
  write_file(
      "values.lua",
      "local s = require 'sectile'\n"
      "local function check(l, i)\n"
      "  if type(i) == 'number' then return end\n"
      "  assert(tostring(i << 3) == tostring(8 * i) and tostring(i >> 2) == tostring(i // 4))\n"
      "  assert(tostring(i & 15) == tostring(i % 16) and tostring(15 & i) == tostring(i % 16))\n"
      "  assert((i + 1 - 1):same(i) and not (i + 1):same(i) and (-(-i)):same(i))\n"
      "  assert((i - i):const() == 0 and (i + 1):const() == nil)\n"
      "  local lo, hi = (i % 7 + 2):range()\n"
      "  assert(lo == 2 and hi == 8 and (12 * i):divisor() == 12)\n"
      "  assert((3 * i):c() == '3 * a.0' or (3 * i):c(true))\n"
      "  assert(s.min(i, i):same(i) and s.max(3, 4, 2) == 4 and s.lt(1, 2) == 1)\n"
      "  assert(s.xor(6, 3) == 5 and s.lnot(0) == 1 and s.land(1, 0) == 0 and s.lor(0, 2) == 1)\n"
      "  assert(s.le(i % 4, 3):const() == 1 and (i % 4):lt(4):const() == 1)\n"
      "  assert(tostring(i ~ 1) == tostring(s.xor(i, 1)))\n"
      "  assert(not pcall(function() return i & 6 end) and not pcall(function() return i << i "
      "end))\n"
      "  assert(not pcall(function() return i .. 'x' end) and not pcall(function() return i + '1' "
      "end))\n"
      "  assert(not pcall(function() return i == i + 1 end) and not pcall(function() return i <= 3 "
      "end))\n"
      "  assert(not pcall(function() return i.foo end) and not pcall(function() i.x = 1 end))\n"
      "end\n"
      "return { name = 'values', offset = function(l, field, idx, ext)\n"
      "  check(l, idx[1])\n"
      "  return l.linear(idx, ext) * l.record.bytes + field.offset end,\n"
      "  bytes = function(l, ext) return l.count(ext) * l.record.bytes end }");
  load_ok(kernel("s.array('a', 'f32', s.layout 'values.lua')", "b = a;", SIZES));
  sct_spec_free(&spec);
}

static void test_included_parts(void **state) {
  (void)state;
  write_file("part.lua",
             "local s = require 'sectile'\n\nreturn s.array('a', 'f32', nil, { at = 'i + 1' })");
  assert_fails(kernel("include 'part.lua'", "b = a;", SIZES), "part.lua", 3, "gives 8 for i = 7");
}

/* ---- worked specs ---- */

static void load_worked(const char *name) {
  if (worked_load(&spec, name, &err) != SCT_OK) {
    fail_msg("%s: %s", name, err.text);
  }
  assert_string_equal(spec.name, name);
  int64_t read = 0;
  int64_t written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_true(read > 0 &&
              (written > 0 || spec.operands[spec.n_inputs].keeps || sct_spec_accumulates(&spec)));
  sct_spec_free(&spec);
}

static void test_worked_specs(void **state) {
  (void)state;
  char here[1024];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir("/"), 0); /* from the program itself, not from disk */
  for (int k = 0; k < worked_count(); k++) {
    load_worked(worked_kernels[k].name);
  }
  assert_int_equal(chdir(here), 0);
  assert_true(worked_count() >= 66);
}

static void test_wrong_numbers_and_none(void **state) {
  (void)state;
  assert_fails(HEAD "return s.kernel { name = 'k', dims = { 'i' }, scalars = { { 'ld', 'i64' } },\n"
                    "  inputs = { s.array('a', 'f32', nil, { dims = 'm', at = 'ld * i' }) },\n"
                    "  outputs = { s.array('b', 'f32') }, body = 'b = a;',\n"
                    "  sizes = { { i = 9, m = 20 } } }\n",
               "spec.lua", 3,
               "'ld' is a scalar, which only bodies name; a number that places depend");
  assert_fails(HEAD "return s.kernel { name = 'k', dims = { 'i' }, extents = { 'i' },\n"
                    "  outputs = { s.array('b', 'f32') }, body = 'b = 1.0f;',\n"
                    "  sizes = { { i = 9 } } }\n",
               "spec.lua", 2, "extent 'i': the name is already a dimension");
  assert_fails(PICKED("", "none", "y = x;"), "spec.lua", 4, "unknown name 'none'");
  assert_fails(HEAD
               "return s.kernel { name = 'k', dims = { 'i' }, inputs = {\n"
               "  s.array('x', 'i32', nil, { none = true }) },\n"
               "  outputs = { s.array('y', 'i32') }, body = 'y = x;', sizes = { { i = 9 } } }\n",
               "spec.lua", 3, "array 'x' may hold none, but no other array");
  assert_fails(HEAD "return s.kernel { name = 'k', dims = { 'i' }, inputs = {\n"
                    "  s.array('p', 'i32', nil, { none = true }), s.array('x', 'f32') },\n"
                    "  outputs = { s.array('y', 'f32', nil, { dims = 'm', at = 'p' }) },\n"
                    "  body = 'y = x;', sizes = { { i = 9, m = 20 } } }\n",
               "spec.lua", 3, "an output is written through 'p', which may hold none");
  assert_fails(HEAD "return s.kernel { name = 'k', dims = { 'i' }, inputs = {\n"
                    "  s.array('p', 'u32', nil, { none = true }),\n"
                    "  s.array('x', 'f32', nil, { dims = 'm', at = 'p' }) },\n"
                    "  outputs = { s.array('y', 'f32') },\n"
                    "  body = 'y = x;', sizes = { { i = 9, m = 20 } } }\n",
               "spec.lua", 3, "its type is i8, i16, i32 or i64");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_whole_spec),
      cmocka_unit_test(test_numbers_of_places),
      cmocka_unit_test(test_none),
      cmocka_unit_test(test_wrong_numbers_and_none),
      cmocka_unit_test(test_built_in_layouts),
      cmocka_unit_test(test_a_pitch_at_launch),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_hash_ignores_writing),
      cmocka_unit_test(test_computed_body),
      cmocka_unit_test(test_ends_of_lines),
      cmocka_unit_test(test_wrong_kernels),
      cmocka_unit_test(test_wrong_arrays),
      cmocka_unit_test(test_wrong_records),
      cmocka_unit_test(test_wrong_layouts),
      cmocka_unit_test(test_wrong_layout_files),
      cmocka_unit_test(test_layouts_that_overlap_or_leave),
      cmocka_unit_test(test_layout_that_behaves_differently_on_numbers),
      cmocka_unit_test(test_a_new_layout),
      cmocka_unit_test(test_expression_values),
      cmocka_unit_test(test_included_parts),
      cmocka_unit_test(test_worked_specs),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
