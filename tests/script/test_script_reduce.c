/* Reductions in spec scripts: the option, its mistakes, and which strategies are left. */
#include "script_test.h"

#include "space/space.h"

#define HEAD "local s = require 'sectile'\n"

/* A kernel over row and col with these outputs (line 3), and more options (line 5). */
static const char *reduction(const char *outputs, const char *body, const char *more) {
  static char text[2048];
  snprintf(text, sizeof text,
           HEAD "return s.kernel { name = 'k', dims = { 'row', 'col' },\n"
                "  outputs = { %s },\n"
                "  inputs = { s.array('a', 'f32') }, body = '%s',\n"
                "  %s\n"
                "  sizes = { { row = 8, col = 9 } } }\n",
           outputs, body, more);
  return text;
}

static void test_what_it_becomes(void **state) {
  (void)state;
  load_ok(reduction("s.array('t', 'f32', s.row_major, { dims = 'row', reduce = 'max' })", "t = a;",
                    ""));
  assert_int_equal(spec.operands[1].reduce, SCT_REDUCE_MAX);
  assert_int_equal(spec.operands[0].reduce, SCT_REDUCE_NONE);
  assert_true(spec.reduces && spec.reduced[1] && !spec.reduced[0]);
  assert_false(spec.tolerance_given);
  sct_spec_free(&spec);
  load_ok(reduction("s.array('t', 'f32', nil, { dims = {}, reduce = 'sum' })", "t = a * a;",
                    "tolerance = 1e-4,"));
  assert_int_equal(spec.operands[1].n_dims, 0);
  assert_true(spec.tolerance_given && spec.tolerance == 1e-4);
  sct_spec_free(&spec);
}

/* What is compared: floats, the wider ones where an input has them, or integers that hold all. */
static void test_what_is_compared(void **state) {
  (void)state;
  static const struct {
    const char *type, *reduce;
    sct_type compared;
  } cases[] = {{"f32", "'argmax'", SCT_TYPE_F32},
               {"bf16", "'argmin'", SCT_TYPE_F32},
               {"f64", "'argmin'", SCT_TYPE_F64},
               {"f64x2", "'argmin'", SCT_TYPE_F64},
               {"u8", "'argmax'", SCT_TYPE_I32},
               {"u32", "'argmax'", SCT_TYPE_I64},
               {"i64", "'argmax'", SCT_TYPE_I64},
               {"u64", "'argmax'", SCT_TYPE_U64},
               {"f32", "{ 'argmax', 'i64' }", SCT_TYPE_I64}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD "return s.kernel { name = 'k', dims = { 'i' },\n"
                  "  inputs = { s.array('a', '%s') }, body = 't = 1;', sizes = { { i = 9 } },\n"
                  "  outputs = { s.array('t', 'i32', nil, { dims = {}, reduce = %s }) } }\n",
             cases[k].type, cases[k].reduce);
    load_ok(text);
    assert_int_equal(spec.operands[1].compared, cases[k].compared);
    assert_true(sct_reduce_is_arg(spec.operands[1].reduce));
    sct_spec_free(&spec);
  }
}

static void test_layouts_of_one_element(void **state) {
  (void)state;
  load_ok(HEAD "local pair = s.record { { 'x', 'f64' }, { 'n', 'i32' } }\n"
               "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', 'f64') },\n"
               "  outputs = { s.array('t', pair, s.choose { s.aos, s.soa },\n"
               "    { dims = {}, reduce = 'sum' }) },\n"
               "  body = 't.x = a; t.n = 1;', sizes = { { i = 100 } } }\n");
  const sct_operand *t = &spec.operands[1];
  assert_int_equal(t->n_layouts, 2);
  for (int k = 0; k < 2; k++) {
    int64_t bytes = 0;
    int64_t offset = 0;
    assert_true(sct_expr_is_const(spec.pool, t->layouts[k].bytes, &bytes));
    assert_true(sct_expr_is_const(spec.pool, t->layouts[k].offset[1], &offset));
    assert_true(bytes >= 12 && offset == 8);
  }
  sct_spec_free(&spec);
}

static void test_mistakes(void **state) {
  (void)state;
  assert_fails(
      reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = 'summ' })", "t = a;", ""),
      "spec.lua", 3, "unknown reduce 'summ'; did you mean 'sum'?");
  assert_fails(
      reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = 'prod' })", "t = a;", ""),
      "spec.lua", 3, "unknown reduce 'prod'; write product");
  assert_fails(
      reduction("s.array('t', 'i32', nil, { dims = 'row', reduce = 'mean' })", "t = a;", ""),
      "spec.lua", 3, "'t' is a mean of values, which has a fraction, and i32 has none; use f32");
  assert_fails(
      reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = 'variance', inout = true })",
                "t = a;", ""),
      "spec.lua", 3, "'t' is a variance and inout, but what it holds does not say how many");
  assert_fails(
      reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = 'argmax' })", "t = a;", ""),
      "spec.lua", 3, "output 't' is an index (argmax), so its type is an integer such as i32");
  assert_fails(HEAD "return s.kernel { name = 'k', dims = { 'i' }, body = 't = a;',\n"
                    "  inputs = { s.array('a', 'f32') }, sizes = { { i = 127 }, { i = 128 } },\n"
                    "  outputs = { s.array('t', 'i8', nil, { dims = {}, reduce = 'argmax' }) } }\n",
               "spec.lua", 4, "'t' of type i8 cannot hold indices up to 127, which size 'i=128'");
  assert_fails(reduction("s.array('t', 'i32', nil, { dims = 'row', reduce = { 'argmax', 'f16' } })",
                         "t = a;", ""),
               "spec.lua", 3, "array 't': reduce: values are i32 i64 u32 u64 f32 f64, not f16");
  assert_fails(reduction("s.array('t', 'i32', nil, { dims = 'row', reduce = { 'max', 'f32' } })",
                         "t = a;", ""),
               "spec.lua", 3, "only argmax and argmin name a type, that in which values are");
  assert_fails(reduction("s.array('t', 'i32', nil, { dims = 'row', reduce = {} })", "t = a;", ""),
               "spec.lua", 3, "reduce is a word, or { word, type }");
  assert_fails(
      reduction("s.array('t', 'i32', nil, { at = 'row', accumulate = 'argmax' })", "t = a;", ""),
      "spec.lua", 3, "unknown accumulate 'argmax'");
  assert_fails(reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = true })", "t = a;", ""),
               "spec.lua", 3, "reduce must be a string or table, not a boolean");
  assert_fails(reduction("s.array('t', 'f32', nil, { reduce = 'sum' })", "t = a;", ""), "spec.lua",
               3, "there is nothing to reduce");
  assert_fails(reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = 'sum' })", "t = a;",
                         "tolerance = 0,"),
               "spec.lua", 3, "tolerance = 0 cannot hold");
  assert_fails(
      reduction("s.array('t', 'f32', nil, { dims = 'row' })", "t = a;", ""), "spec.lua", 3,
      "both write element (0); what combines them is accumulate = \"add\" and the like, or "
      "over dimensions that the output lacks reduce = \"sum\"");
  assert_fails(reduction("s.array('t', 'f32', nil, { dims = {} })", "t = a;", ""), "spec.lua", 3,
               "elements (0, 0) and (0, 1) both write element ()");
}

/* ---- scans ---- */

static const char *scan(const char *options) {
  static char outputs[256];
  snprintf(outputs, sizeof outputs, "s.array('o', 'f32', nil, { %s })", options);
  return reduction(outputs, "o = a;", "");
}

static void test_scans(void **state) {
  (void)state;
  load_ok(scan("scan = 'max'"));
  assert_int_equal(spec.operands[1].scan, SCT_REDUCE_MAX);
  assert_true(spec.scans && spec.scan_dim == 1 && !spec.operands[1].exclusive);
  sct_spec_free(&spec);
  load_ok(scan("scan = 'sum', along = 'row', exclusive = true"));
  assert_true(spec.scans && spec.scan_dim == 0 && spec.operands[1].exclusive);
  sct_spec_free(&spec);
  assert_fails(scan("scan = 'summ'"), "spec.lua", 3, "unknown scan 'summ'; did you mean 'sum'?");
  assert_fails(scan("scan = 'argmax'"), "spec.lua", 3,
               "output 'o' is an index (argmax), so its type is an integer such as i32 or i64; in "
               "which type values are compared is said by scan = { \"argmax\", \"f32\" }");
  assert_fails(scan("scan = { 'max', 'f32' }"), "spec.lua", 3,
               "only argmax and argmin name a type, that in which values are compared; write scan");
  load_ok(reduction("s.array('o', 'i32', nil, { scan = { 'argmin', 'f64' } })", "o = a;", ""));
  assert_int_equal(spec.operands[1].scan, SCT_REDUCE_ARGMIN);
  assert_int_equal(spec.operands[1].compared, SCT_TYPE_F64);
  assert_non_null(strstr(spec.canonical, "\n  inclusive scan argmin along col of f64\n"));
  sct_spec_free(&spec);
  assert_fails(scan("along = 'row'"), "spec.lua", 3, "along belongs to a scan, as in { scan =");
  assert_fails(scan("exclusive = true"), "spec.lua", 3, "exclusive belongs to a scan");
  assert_fails(scan("scan = 'sum', along = 'rwo'"), "spec.lua", 3, "did you mean 'row'?");
  assert_fails(scan("scan = 'sum', inout = true"), "spec.lua", 3, "has scan and inout");
  assert_fails(scan("scan = 'sum', reduce = 'max', dims = 'row'"), "spec.lua", 3,
               "has scan and reduce");
}

/* ---- strategies ---- */

/* Those written for kernels whose elements each have a place say so in one sentence; others, of
 * whatever folder, must declare that they know reductions. */
static void test_strategies_must_say_that_they_reduce(void **state) {
  (void)state;
  sct_device_desc device;
  sct_script *script = NULL;
  sct_space space = {0};
  (void)mkdir(path_of("own"), 0700);
  write_file("own/able.lua", "return { name = 'able', template = 'direct.cu', reduces = true,\n"
                             "  axes = {}, plan = function() end }\n");
  write_file("own/unable.lua", "return { name = 'unable', template = 'direct.cu', axes = {},\n"
                               "  plan = function() end }\n");
  load_ok(reduction("s.array('t', 'f32', nil, { dims = 'row', reduce = 'sum' })", "t = a;", ""));
  assert_int_equal(sct_script_load_device(&device, "h200", &err), SCT_OK);
  assert_int_equal(sct_script_new(&script, &spec, &device, path_of("own"), &err), SCT_OK);
  assert_int_equal(sct_script_space(&space, script, &err), SCT_OK);
  for (int k = 0; k < space.n_strategies; k++) {
    const sct_strategy *s = &space.strategies[k];
    if (strcmp(s->name, "ragged") == 0) {
      continue; /* knows reductions, of rows of different lengths only */
    }
    const bool able = strcmp(s->name, "direct") == 0 || strcmp(s->name, "able") == 0 ||
                      strcmp(s->name, "reduce") == 0 || sct_has_prefix(s->name, "reduce_");
    if (!able) {
      assert_false(s->applies);
      assert_string_equal(s->why_not, "every element has a place of its own in the outputs");
    } else if (!sct_has_prefix(s->name, "reduce_")) {
      assert_true(s->applies);
    }
  }
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(&spec);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_becomes),
      cmocka_unit_test(test_what_is_compared),
      cmocka_unit_test(test_scans),
      cmocka_unit_test(test_layouts_of_one_element),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_strategies_must_say_that_they_reduce),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
