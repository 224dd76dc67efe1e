/* `host = true`: which dimension is cut into chunks, how arrays go on along it, what is refused. */
#include "script_test.h"

/* A kernel over row and col; arrays stand in lines 4 and 5, `host` in line 6. */
static const char *kernel(const char *inputs, const char *outputs, const char *body) {
  static char text[2048];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\n"
           "return s.kernel {\n"
           "  name = 'k', dims = { 'row', 'col' },\n"
           "  inputs = { %s },\n"
           "  outputs = { %s },\n"
           "  host = true, body = [[%s]], sizes = { { row = 4, col = 6%s } },\n"
           "}\n",
           inputs, outputs, body, strstr(inputs, "'m'") || strstr(outputs, "'m'") ? ", m = 9" : "");
  return text;
}

/* The step of an operand along the dimension that is cut, as text. */
static const char *step(int op) {
  static sct_str text;
  sct_str_clear(&text);
  const sct_expr e = sct_spec_chunk_step(&spec, op, 0, spec.chunk_dim);
  sct_expr_print(&text, spec.pool, e);
  return sct_str_c(&text);
}

static void test_steps(void **state) {
  (void)state;
  load_ok(kernel("s.array('a', 'f64'), s.array('w', 'f32', s.row_major, { dims = 'col' })",
                 "s.array('b', 'f32')", "b = a * w;"));
  assert_int_equal(spec.chunk_dim, 0);
  assert_true(spec.halo_before == 0 && spec.halo_after == 0);
  assert_string_equal(step(0), "8 * n_col");
  assert_string_equal(step(1), "0");
  assert_string_equal(step(2), "4 * n_col");
  assert_true(sct_spec_writes_all(&spec, 2, 0));
  assert_false(sct_spec_writes_all(&spec, 0, 0)); /* an input */
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok(
      "local s = require 'sectile'\n" /* without host */
      "return s.kernel {\n  name = 'k', dims = { 'row', 'col' },\n"
      "  inputs = { s.array('a', 'f64'), s.array('w', 'f32', s.row_major, { dims = 'col' }) },\n"
      "  outputs = { s.array('b', 'f32') }, body = [[b = a * w;]],\n"
      "  sizes = { { row = 4, col = 6 } } }\n");
  assert_int_equal(spec.chunk_dim, -1);
  assert_memory_equal(&hash, &spec.hash, sizeof hash); /* measured for one is measured for both */
  sct_spec_free(&spec);
}

static void test_which_dimension(void **state) {
  (void)state;
  load_ok(kernel("s.array('a', 'f32', s.col_major)", "s.array('b', 'f32', s.col_major)", "b = a;"));
  assert_int_equal(spec.chunk_dim, 1); /* rows are the faster ones */
  assert_string_equal(step(1), "4 * n_row");
  sct_spec_free(&spec);
  load_ok(kernel("s.array('a', 'f32')",
                 "s.array('b', 'f32', s.row_major, { dims = 'row', reduce = 'sum' })", "b = a;"));
  assert_int_equal(spec.chunk_dim, 0); /* a row's sum is in one chunk */
  sct_spec_free(&spec);
  load_ok(
      kernel("s.array('t', 'f32', s.row_major, { dims = { 'm', 'col' }, at = { 'pick', 'col' } }), "
             "s.array('pick', 'i32', s.row_major, { dims = 'row' })",
             "s.array('b', 'f32')", "b = t;"));
  assert_string_equal(step(0), "0"); /* a table that all chunks read */
  assert_string_equal(step(1), "4");
  sct_spec_free(&spec);
}

static void test_halos(void **state) {
  (void)state;
  load_ok(kernel("s.array('a', 'f32', s.row_major, { border = 'zero', taps = { up = { -1, 0 }, "
                 "below = { 3, 2 }, left = { 0, -1 } } })",
                 "s.array('b', 'f32')", "b = a + up + below + left;"));
  assert_true(spec.halo_before == 1 && spec.halo_after == 3);
  sct_spec_free(&spec);
  load_ok(
      kernel("s.array('a', 'f32', s.row_major, { border = 'wrap', taps = { left = { 0, -1 } } })",
             "s.array('b', 'f32')", "b = a + left;"));
  assert_true(spec.halo_before == 0 && spec.halo_after == 0);
  sct_spec_free(&spec);
  load_ok(kernel("s.array('a', 'f32', s.row_major, { at = { 'row + 1', 'col' }, pad = { 2, 0 }, "
                 "taps = { up = { -1, 0 }, below = { 1, 0 } } })",
                 "s.array('b', 'f32')", "b = a + up + below;"));
  assert_true(spec.halo_before == 0 && spec.halo_after == 0); /* the array of a chunk has them */
  assert_string_equal(step(0), "4 * n_col");
  sct_spec_free(&spec);
}

static void test_what_is_written(void **state) {
  (void)state;
  static const char *const partly[] = {
      "s.array('b', 'f32', s.row_major, { inout = true })",
      "s.array('b', s.record { { 'x', 'f32' }, { 'y', 'u8' }, name = 'r' }, s.aos)",
      "s.array('b', 'f32', s.row_major, { pad = { 0, 1 } })",
      ("s.array('b', 'f32', s.row_major, "
       "{ at = { 'row', '2 * col' }, extents = { 'row', '2 * col' } })"),
  };
  for (int k = 0; k < SCT_COUNT(partly); k++) {
    load_ok(kernel("s.array('a', 'f32')", partly[k], k == 1 ? "b.x = a; b.y = 1;" : "b = a;"));
    assert_false(sct_spec_writes_all(&spec, 1, 0));
    sct_spec_free(&spec);
  }
  load_ok(
      kernel("s.array('a', 'f32')", "s.array('b', 'f32')", "if (a > 0.0f) b = a; else keep(b);"));
  assert_false(sct_spec_writes_all(&spec, 1, 0));
  sct_spec_free(&spec);
}

/* The largest of halves is one of them: chunks round nothing. */
static void test_largest_of_halves(void **state) {
  (void)state;
  load_ok(kernel("s.array('a', 'f32')",
                 "s.array('b', 'f16', s.row_major, { dims = 'col', reduce = 'max', inout = true })",
                 "b = a;"));
  assert_int_equal(spec.chunk_dim, 0);
  sct_spec_free(&spec);
}

static void test_refusals(void **state) {
  (void)state;
  static const char a[] = "s.array('a', 'f32')", b[] = "s.array('b', 'f32')";
  const struct {
    const char *inputs, *outputs, *body, *says;
  } cases[] = {
      {"s.array('a', 'f32', s.col_major)", b, "b = a;",
       "of row: a chunk of row is no array of 'a' by itself in layout col_major: its elements must "
       "follow each other by equal steps, the slowest dimension first; give it a layout such as "
       "s.row_major or s.aos"},
      {"s.array('a', s.record { { 'x', 'f32' }, { 'y', 'f32' }, name = 'r' }, "
       "s.choose { s.aos, s.soa })",
       b, "b = a.x + a.y;", "no array of 'a' by itself in layout soa"},
      {a, b, "b = a * (float)row;", "of row: the body computes with row, which is another one"},
      {a, b, "b = a / (float)n_row; // n_col", "the body computes with n_row"},
      {a, "s.array('b', 'f32', s.row_major, { dims = 'col', reduce = 'sum' })", "b = a;",
       "elements of 'b' are combined along row, so that each chunk goes onto what those before "
       "have "
       "left; say inout = true there"},
      {a, "s.array('b', 'f16', s.row_major, { dims = 'col', reduce = 'sum', inout = true })",
       "b = a;",
       "'b' is combined along row in f16, and would be rounded with each chunk; give it "
       "the type f32"},
      {a, "s.array('b', 'i32', s.row_major, { dims = 'col', reduce = 'argmax' })", "b = a;",
       "'b' is an index along row (argmax)"},
      {a, "s.array('b', 'f32', s.row_major, { scan = 'sum', along = 'row' })", "b = a;",
       "elements along row are combined or scanned"},
      {a, "s.array('b', 'f32', s.row_major, { pad = { 1, 0 } })", "b = a;",
       "the output 'b' has more elements along row than the kernel"},
      {"s.array('a', 'f32', s.row_major, { border = 'wrap', taps = { up = { -1, 0 } } })", b,
       "b = a + up;", "taps of 'a' reach from one end to the other"},
      {"s.array('a', 'f32', s.row_major, { border = 'zero', at = { '2 * row', 'col' }, "
       "extents = { '2 * row', 'col' }, taps = { up = { -1, 0 } } })",
       b, "b = a + up;", "reach by more than neighbours of a chunk"},
      {"s.array('a', 'f32', s.row_major, { at = { 'n_row - 1 - row', 'col' } })", b, "b = a;",
       "of row: elements of 'a' are at \"n_row - 1 - row\", which does not go on by equal steps "
       "along "
       "row; let the array stay on the device (host = false), or put another dimension first"},
      {"s.array('a', 'f32', s.row_major, { dims = { 'half', 'col' }, at = { 'row // 2', 'col' }, "
       "extents = { '(row + 1) // 2', 'col' } })",
       b, "b = a;", "elements of 'a' are at \"row // 2\", which"},
      {"s.array('a', 'u4', s.row_major, { dims = { 'col', 'row' } })", b, "b = a;",
       "of row: 2 elements of 'a' share a byte along row, in which a chunk may begin"},
      {"s.array('a', 'f32'), s.array('to', 'i32', s.row_major, { dims = 'row' })",
       "s.array('b', 'f32', s.row_major, { at = { 'to', 'col' } })", "b = a;",
       "an index says where elements of the output 'b' are"},
      {"s.array('a', 'f32', s.row_major, { border = 'zero', taps = { up = { -1, 0 } } }), "
       "s.array('to', 'i32', s.row_major, { dims = 'row' })",
       "s.array('b', 'f32', s.row_major, { dims = 'm', at = 'to', accumulate = 'add' })",
       "b = a + up;", "so that chunks would both write elements of 'b'"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const char *text = kernel(cases[k].inputs, cases[k].outputs, cases[k].body);
    assert_fails(text, "spec.lua", 6, cases[k].says);
  }
  assert_fails("local s = require 'sectile'\n"
               "return s.kernel {\n  name = 'k', dims = { 'i' }, host = 1,\n"
               "  outputs = { s.array('b', 'f32') }, body = 'b = 1;', sizes = { { i = 4 } } }\n",
               "spec.lua", 3, "host must be a boolean");
}

/* Arrays say one by one where they lie: line 4 has the input, line 5 the output, line 6 the
 * kernel's own `host`, if it has one. */
static const char *placed(const char *inputs, const char *outputs, const char *host,
                          const char *body) {
  static char text[2048];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\n"
           "return s.kernel {\n"
           "  name = 'k', dims = { 'row', 'col' },\n"
           "  inputs = { %s },\n"
           "  outputs = { %s },\n"
           "  %s body = [[%s]], sizes = { { row = 4, col = 6%s } },\n"
           "}\n",
           inputs, outputs, host, body, strstr(outputs, "'m'") ? ", m = 9" : "");
  return text;
}

#define ARRAY(name, options) "s.array('" name "', 'f32', s.row_major, { " options " })"
#define TO                   "s.array('to', 'i32', s.row_major, { dims = 'row' })"
#define SCATTERED            "dims = { 'm', 'col' }, at = { 'to', 'col' }"
#define UP                   "border = 'zero', taps = { up = { -1, 0 } }"

static void test_arrays_may_stay_on_the_device(void **state) {
  (void)state;
  static const struct {
    const char *inputs, *outputs, *host, *body;
    int chunk_dim;
    bool stays[3];
  } cases[] = {
      {ARRAY("a", "host = true"), ARRAY("b", ""), "", "b = a;", 0, {false, true}},
      {ARRAY("a", ""), ARRAY("b", "host = true"), "", "b = a;", 0, {true, false}},
      {ARRAY("a", ""), ARRAY("b", "host = false"), "host = true,", "b = a;", 0, {false, true}},
      {ARRAY("a", "host = true"), ARRAY("b", ""), "host = true,", "b = a;", 0, {false, false}},
      {ARRAY("a", ""), ARRAY("b", "host = false"), "", "b = a;", -1, {false, false}},
      {ARRAY("a", "host = true"), ARRAY("b", ""), "host = false,", "b = a;", 0, {false, true}},
      /* places that an index gives, of the device's array */
      {ARRAY("a", "host = true") ", " TO,
       ARRAY("b", SCATTERED),
       "",
       "b = a;",
       0,
       {false, true, true}},
      /* neighbours of the host's array, and of the device's */
      {ARRAY("a", "host = true, " UP), ARRAY("b", ""), "", "b = a + up;", 0, {false, true}},
      {ARRAY("a", UP), ARRAY("b", "host = true"), "", "b = a + up;", 0, {true, false}},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    load_ok(placed(cases[k].inputs, cases[k].outputs, cases[k].host, cases[k].body));
    assert_int_equal(spec.chunk_dim, cases[k].chunk_dim);
    assert_int_equal(spec.host, cases[k].chunk_dim >= 0);
    for (int op = 0; op < spec.n_operands; op++) {
      assert_int_equal(spec.operands[op].stays, cases[k].stays[op]);
    }
    sct_spec_free(&spec);
  }
  load_ok(placed(ARRAY("a", "host = true"), ARRAY("b", ""), "", "b = a;"));
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok(placed(ARRAY("a", ""), ARRAY("b", ""), "", "b = a;"));
  assert_memory_equal(&hash, &spec.hash, sizeof hash); /* where arrays lie is not measured */
  sct_spec_free(&spec);
}

static void test_what_may_not_stay(void **state) {
  (void)state;
  static const struct {
    const char *inputs, *outputs, *host, *body;
    int line;
    const char *says;
  } cases[] = {
      {ARRAY("a", "host = false"), ARRAY("b", "host = false"), "host = true,", "b = a;", 6,
       "host = true needs an array that lies on the host: all have host = false"},
      /* an array's own place, else that of the first on the host */
      {ARRAY("a", ""), "s.array('b', 'f32', s.col_major, { host = true })", "", "b = a;", 5,
       "host = true needs a dimension that can be cut into chunks; of row: a chunk of row is no "
       "array of 'b' by itself"},
      {ARRAY("a", "host = true"), "s.array('b', 'f32', s.col_major)", "", "b = a;", 4,
       "array of 'b' by itself in layout col_major"},
      {ARRAY("a", ""), "s.array('b', 'f32', s.col_major, { host = false })", "host = true,",
       "b = a;", 5, "host = false needs a dimension that can be cut"},
      {ARRAY("a", ""), ARRAY("b", "host = true"), "", "b = a * (float)row;", 5,
       "host = true needs a dimension that can be cut into chunks; of row: the body computes"},
      {ARRAY("a", "") ", " TO, ARRAY("b", "host = true, " SCATTERED), "", "b = a;", 5,
       "chunks would meet there; it may stay on the device (host = false)"},
      {ARRAY("a", "host = true, " UP) ", " TO, ARRAY("b", SCATTERED), "", "b = a + up;", 4,
       "taps reach beyond a chunk, so that chunks would both write elements of 'b'"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_fails(placed(cases[k].inputs, cases[k].outputs, cases[k].host, cases[k].body),
                 "spec.lua", cases[k].line, cases[k].says);
  }
  assert_fails(placed(ARRAY("a", "host = 'gpu'"), ARRAY("b", ""), "", "b = a;"), "spec.lua", 4,
               "host must be a boolean");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_which_dimension),
      cmocka_unit_test(test_halos),
      cmocka_unit_test(test_what_is_written),
      cmocka_unit_test(test_largest_of_halves),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_arrays_may_stay_on_the_device),
      cmocka_unit_test(test_what_may_not_stay),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
