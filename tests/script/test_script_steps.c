/* Kernels in steps: what a spec becomes, its mistakes, and which strategies are left. */
#include "script_test.h"

#include "space/space.h"

#include <math.h>

#define HEAD "local s = require 'sectile'\n"

/* A kernel over row and col with these steps (line 4), outputs (line 3), and more options (5). */
static const char *kernel(const char *outputs, const char *steps, const char *more) {
  static char text[2048];
  snprintf(text, sizeof text,
           HEAD "return s.kernel { name = 'k', dims = { 'row', 'col' },\n"
                "  outputs = { %s },\n"
                "  inputs = { s.array('x', 'f32'), s.array('b', 'f32', nil, { dims = 'row' }) },"
                " %s\n"
                "  %s\n"
                "  sizes = { { row = 8, col = 9 }, { row = 3, col = 0 } } }\n",
           outputs, steps, more);
  return text;
}

#define Y       "s.array('y', 'f32')"
#define Y_AND_L Y ", s.array('l', 'f32', nil, { dims = 'row' })"
#define MAX     "{ reduce = { m = 'max' }, body = 'm = x;' }"
#define SUM     "{ reduce = { t = 'sum' }, body = 't = expf(x - m);' }"
#define SOFTMAX "steps = { " MAX ", " SUM ", { body = 'y = expf(x - m) / t;' } },"

static void test_what_it_becomes(void **state) {
  (void)state;
  load_ok(kernel(Y, SOFTMAX, ""));
  assert_int_equal(spec.n_steps, 3);
  assert_int_equal(spec.n_values, 2);
  assert_string_equal(spec.values[1].name, "t");
  assert_int_equal(spec.values[1].reduce, SCT_REDUCE_SUM);
  assert_int_equal(spec.values[1].type, SCT_TYPE_F32);
  assert_int_equal(spec.values[1].step, 1);
  assert_true(!spec.reduces && spec.reduced[1] && !spec.reduced[0]);
  assert_false(spec.operands[2].per_row);
  assert_int_equal(spec.operands[2].step, 2);
  assert_string_equal(spec.body, "// m: max\nm = x;\n// t: sum\nt = expf(x - m);\n"
                                 "y = expf(x - m) / t;");
  const int64_t extent[][2] = {{8, 3}, {8, 9}, {8, 16}, {8, 16384}, {8, 65536}};
  /* 8192 u / n, 4 u sqrt(16384), as later steps take differences from it, 4 u sqrt(n) */
  const double units[] = {8192.0 / 3, 8192.0 / 9, 512, 512, 1024};
  for (int k = 0; k < SCT_COUNT(extent); k++) {
    const double tolerance =
        sct_spec_tolerance(&spec, 2, &(sct_size){.extent = (int64_t *)extent[k]});
    assert_true(fabs(tolerance / (units[k] * 0x1p-24) - 1) < 1e-9);
  }
  sct_spec_free(&spec);
}

#define MASKED(options, sizes)                                                                     \
  HEAD "return s.kernel { name = 'k', dims = { 'row', 'col' },\n"                                  \
       "  inputs = { s.array('mask', 'bool', nil, " options "), s.array('x', 'f32') },\n"          \
       "  outputs = { s.array('y', 'f32') },\n"                                                    \
       "  body = 'y = mask ? x : 0.0f;',\n"                                                        \
       "  sizes = { " sizes " } }\n"

/* A mask may be the beginning of each row. */
static void test_masks_are_prefixes(void **state) {
  (void)state;
  load_ok(MASKED("{ fill = 'prefix' }", "{ row = 900, col = 7 }, { row = 9, col = 1 },"
                                        " { row = 0, col = 7 },"
                                        " { row = 4, col = 8, mask = 'random' }"));
  assert_string_equal(spec.sizes[0].label, "row=900 col=7 mask=prefix");
  assert_string_equal(spec.sizes[3].label, "row=4 col=8 mask=random");
  int lengths[8] = {0};
  for (int64_t row = 0; row < 900; row++) {
    int length = 0;
    for (int64_t col = 0; col < 7; col++) {
      const int64_t value = sct_spec_index_value(&spec, 0, 7 * row + col, &spec.sizes[0]);
      assert_int_equal(value, length == col && value);
      length += (int)value;
    }
    lengths[length]++;
  }
  for (int length = 0; length < 8; length++) {
    assert_int_equal(lengths[length] > 90, length >= 3); /* of 180 each */
  }
  sct_spec_free(&spec);
  assert_fails(MASKED("{ fill = 'permuted' }", "{ row = 4, col = 8 }"), "spec.lua", 3,
               "unknown fill 'permuted' for 'mask'; expected one of random, prefix");
  assert_fails(MASKED("{}", "{ row = 4, col = 8, mask = 1 }"), "spec.lua", 6,
               "'mask' is a mask; say how it is filled; expected one of random, prefix");
  assert_fails(MASKED("{}", "{ row = 4, col = 8, x = 'prefix' }"), "spec.lua", 6,
               "there is no dimension, index array or mask 'x'");
}

/* Few elements, read again and again: equal summands are rounded alike. */
static void test_sums_of_few_values(void **state) {
  (void)state;
  load_ok(
      HEAD
      "return s.kernel { name = 'k', dims = { 'row', 'col' },\n"
      "  inputs = { s.array('pick', 'i32', nil, { fill = 'random' }),"
      " s.array('x', 'f32', nil, { dims = 'n', at = { 'pick' } }),"
      " s.array('b', 'f32', nil, { dims = 'row' }) },\n"
      "  outputs = { s.array('y', 'f32') },\n"
      "  steps = { { reduce = { t = 'sum' }, body = 't = x + b;' },"
      " { body = 'y = x / t;' } },\n"
      "  sizes = { { row = 4, col = 65536, n = 16 }, { row = 4, col = 65536, n = 70000 } } }\n");
  assert_true(sct_spec_tolerance(&spec, 3, &spec.sizes[0]) == 1024 * 64 * 0x1p-24);
  assert_true(sct_spec_tolerance(&spec, 3, &spec.sizes[1]) == 1024 * 0x1p-24);
  sct_spec_free(&spec);
}

/* Ragged rows are short whatever their number of elements. */
static void test_sums_of_ragged_rows(void **state) {
  (void)state;
  load_ok(HEAD "return s.kernel { name = 'k', dims = { 'row', 'k' }, ragged = { k = 'ptr' },\n"
               "  inputs = { s.array('ptr', 'i32', nil, { dims = 'row' }),"
               " s.array('x', 'f32', nil, { dims = 'k' }) },\n"
               "  outputs = { s.array('y', 'f32', nil, { dims = 'k' }) },\n"
               "  steps = { { reduce = { t = 'sum' }, body = 't = x;' },"
               " { body = 'y = x / t;' } },\n"
               "  sizes = { { row = 4, k = 65536 }, { row = 4, k = 1 << 20 } } }\n");
  assert_true(fabs(sct_spec_tolerance(&spec, 2, &spec.sizes[0]) * 0x1p24 - 8192.0 / 3) < 1e-9);
  assert_true(sct_spec_tolerance(&spec, 2, &spec.sizes[1]) == 4096 * 0x1p-24);
  sct_spec_free(&spec);
}

static void test_a_maximum_is_exact(void **state) {
  (void)state;
  const int64_t extent[] = {8, 9};
  load_ok(kernel(Y, "steps = { " MAX ", { body = 'y = x - m;' } },", ""));
  assert_true(sct_spec_tolerance(&spec, 2, &(sct_size){.extent = (int64_t *)extent}) == 0);
  sct_spec_free(&spec);
}

static void test_what_there_is_once_a_row(void **state) {
  (void)state;
  load_ok(kernel(Y_AND_L, "steps = { " MAX ", { body = 'l = m * b;' }, { body = 'y = x - m;' } },",
                 ""));
  assert_true(spec.operands[3].per_row && spec.steps[1].per_row && !spec.steps[2].per_row);
  int64_t read = 0, written = 0;
  sct_spec_traffic(&spec, &spec.sizes[1], &read, &written);
  assert_int_equal(written, 12); /* l has an element for each row, even of an empty one */
  sct_spec_free(&spec);
}

static void test_values_once_a_row(void **state) {
  (void)state;
  load_ok(kernel(Y_AND_L,
                 "steps = { " MAX ", { row = { r = 'f32' }, body = 'l = m; r = l / b;' },"
                 "{ body = 'y = x * r;' } },",
                 ""));
  assert_true(spec.values[1].reduce == SCT_REDUCE_NONE && spec.steps[1].per_row);
  assert_false(spec.steps[1].reduces || spec.steps[2].per_row);
  assert_non_null(strstr(spec.body, "// r: once a row\nl = m; r = l / b;\n"));
  sct_spec_free(&spec);
}

static void test_rows_of_other_dimensions(void **state) {
  (void)state;
  load_ok(kernel(Y, "over = 'row', steps = { " MAX ", { body = 'y = x - m;' } },", ""));
  assert_true(spec.reduced[0] && !spec.reduced[1]);
  sct_spec_free(&spec);
  load_ok(kernel(Y, "over = { 'row', 'col' }, steps = { " MAX ", { body = 'y = x - m;' } },", ""));
  assert_true(spec.reduced[0] && spec.reduced[1]);
  sct_spec_free(&spec);
}

static void test_types_of_values(void **state) {
  (void)state;
  load_ok(HEAD "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('x', 'f64') },\n"
               "  outputs = { s.array('y', 'f64') }, sizes = { { i = 10 } },\n"
               "  steps = { { reduce = { m = 'max', n = { 'sum', 'i32' } },\n"
               "              body = 'm = x; n = x > 0.0;' }, { body = 'y = m * n;' } } }\n");
  assert_int_equal(spec.values[0].type, SCT_TYPE_F64);
  assert_int_equal(spec.values[1].type, SCT_TYPE_I32);
  sct_spec_free(&spec);
}

/* A step compares values of one type; later ones read an index. */
static void test_where_an_extreme_is(void **state) {
  (void)state;
  load_ok(kernel("s.array('y', 'i32', nil, { dims = 'row' })",
                 "steps = { { reduce = { k = 'argmax', q = { 'argmin', 'i32' } },"
                 " body = 'k = x; q = col % 3;' }, { body = 'y = k - q;' } },",
                 ""));
  assert_int_equal(spec.values[0].type, SCT_TYPE_I64);
  assert_int_equal(spec.values[0].compared, SCT_TYPE_F32);
  assert_int_equal(spec.values[1].compared, SCT_TYPE_I32);
  assert_non_null(strstr(spec.canonical, "step argmax f32 k argmin i32 q\n"));
  sct_spec_free(&spec);
}

static void test_the_hash_tells_how(void **state) {
  (void)state;
  static const char *const steps[] = {SOFTMAX,
                                      "steps = { { reduce = { m = 'min' }, body = 'm = x;' }, " SUM
                                      ", "
                                      "{ body = 'y = expf(x - m) / t;' } },",
                                      "over = 'row', " SOFTMAX};
  sct_hash hash[SCT_COUNT(steps)];
  for (int k = 0; k < SCT_COUNT(steps); k++) {
    load_ok(kernel(Y, steps[k], ""));
    hash[k] = spec.hash;
    sct_spec_free(&spec);
  }
  assert_memory_not_equal(&hash[0], &hash[1], sizeof hash[0]);
  assert_memory_not_equal(&hash[0], &hash[2], sizeof hash[0]);
}

/* ---- steps that are one body ---- */

#define YZ Y ", s.array('z', 'f32')"

static void test_maps_are_one_body(void **state) {
  (void)state;
  load_ok(kernel(YZ,
                 "steps = { { body = 'float q = x; y = q;' }, { body = [[float q = b;\n"
                 "        if (q > y)\n          q = y;\n        z = q;]] } },",
                 ""));
  assert_int_equal(spec.n_steps, 0);
  assert_int_equal(spec.n_maps, 2);
  assert_string_equal(spec.body, "{\n  float q = x; y = q;\n}\n"
                                 "{\n  float q = b;\n  if (q > y)\n    q = y;\n  z = q;\n}");
  assert_false(spec.reduces || spec.reduced[0] || spec.reduced[1]);
  sct_spec_free(&spec);
  load_ok(kernel(YZ, "steps = { { body = 'y = x;' }, { body = 'z = b;' } },", ""));
  assert_int_equal(spec.n_moves, 2); /* what must come out, the host knows */
  sct_spec_free(&spec);
  load_ok(kernel("s.array('y', 'f32', nil, { inout = true }), s.array('z', 'f32')",
                 "steps = { { body = 'y += x;' }, { body = 'if (x > b) z = x; else keep(z);' } },",
                 ""));
  assert_true(spec.operands[2].is_inout && spec.operands[3].keeps);
  sct_spec_free(&spec);
}

/* ---- steps that reduce different dimensions ---- */

/* Over a, b and c, of which x has all and w the second; steps stand in line 5. */
static const char *nested(const char *outputs, const char *steps) {
  static char text[2048];
  snprintf(text, sizeof text,
           HEAD "return s.kernel { name = 'k', dims = { 'a', 'b', 'c' },\n"
                "  outputs = { %s },\n"
                "  inputs = { s.array('x', 'f32'), s.array('w', 'f32', nil, { dims = 'b' }) },\n"
                "  steps = { %s },\n"
                "  sizes = { { a = 3, b = 4, c = 5 } } }\n",
           outputs, steps);
  return text;
}

#define ALONG(dims) "s.array('y', 'f32', nil, { dims = { " dims " } })"
#define MAX_C       "{ reduce = { m = 'max' }, over = 'c', body = 'm = x;' },"
#define SUM_AB      "{ reduce = { t = 'sum' }, over = { 'b', 'a' }, body = 't = m * w;' },"

/* Values differ along what a step names and does not reduce. */
static void test_different_dimensions(void **state) {
  (void)state;
  load_ok(nested(ALONG("") ", s.array('z', 'f32', nil, { dims = { 'a', 'b' } })",
                 MAX_C SUM_AB "{ body = 'z = m / t;' }, { body = 'y = t;' }"));
  assert_true(spec.nested && spec.reduced[0] && spec.reduced[1] && spec.reduced[2]);
  assert_int_equal(spec.values[0].dims, 3);
  assert_int_equal(spec.values[1].dims, 0);
  assert_int_equal(spec.steps[1].domain, 3);
  assert_int_equal(spec.steps[2].uses, 3);
  assert_true(!spec.steps[2].per_row && spec.steps[3].per_row);
  assert_non_null(strstr(spec.canonical, "step over c max f32 m\n"));
  assert_non_null(strstr(spec.canonical, "step over a, b sum f32 t\n"));
  /* c for each of a and b, and again for each in steps 2 and 3; y once */
  const int64_t extent[] = {3, 4, 5};
  assert_true(sct_spec_nested_work(&spec, extent) == 60 + 12 * 6 + 12 * 6 + 1);
  int64_t read = 0, written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(written, 4 + 12 * 4);
  sct_spec_free(&spec);
  /* the same ones are those of the kernel */
  load_ok(nested(ALONG("'a', 'b'"), MAX_C "{ body = 'y = m;' }"));
  assert_true(!spec.nested && spec.reduced[2] && !spec.reduced[1] && spec.operands[2].per_row);
  sct_spec_free(&spec);
}

static void test_mistakes_of_different_dimensions(void **state) {
  (void)state;
  assert_fails(nested(ALONG("'a'"), MAX_C SUM_AB "{ body = 'y = t + m;' }"), "spec.lua", 5,
               "step 3 assigns 'y', which has one element for all indices of 'b', along which 'm' "
               "differs; reduce it to a value in a step before, with over = \"b\"");
  assert_fails(nested(ALONG("'a', 'b'"), MAX_C SUM_AB "{ body = 'y = t; y = c;' }"), "spec.lua", 5,
               "indices of 'c', along which 'c' differs");
  assert_fails(nested(ALONG("") ", s.array('z', 'f32', nil, { dims = 'a', inout = true })",
                      MAX_C SUM_AB "{ body = 'y = t;' }, { body = 'z = t;' }"),
               "spec.lua", 3, "output 'z' is inout, and steps of this kernel reduce different");
  assert_fails(nested(ALONG(""), MAX_C "{ row = { t = 'f32' }, over = 'a', body = 't = m;' }"),
               "spec.lua", 5, "step 2 has over and does not reduce");
  assert_fails(nested(ALONG(""), MAX_C "{ reduce = { t = 'sum' }, over = 'd', body = 't = m;' }"),
               "spec.lua", 5, "some of the kernel's dimensions; 'd' is none");
  /* each of these values is computed by those before it, twice as many times */
  char steps[2048] = "{ reduce = { v0 = 'max' }, over = 'c', body = 'v0 = x;' },";
  for (int k = 1; k < 8; k++) {
    const size_t at = strlen(steps);
    char all[128] = "v0";
    for (int v = 1; v < k; v++) {
      snprintf(all + strlen(all), sizeof all - strlen(all), " + v%d", v);
    }
    snprintf(steps + at, sizeof steps - at,
             "{ reduce = { v%d = 'max' }, over = 'c', body = 'v%d = x + %s;' },", k, k, all);
  }
  strcat(steps, "{ reduce = { t = 'sum' }, over = 'a', body = 't = v7;' }, { body = 'y = t;' }");
  assert_fails(nested(ALONG("'b'"), steps), "spec.lua", 5,
               "step 7 follows from too many values of steps that reduce different dimensions");
}

/* Only the naive variant knows such kernels. */
static void test_strategies_of_different_dimensions(void **state) {
  (void)state;
  sct_device_desc device;
  sct_script *script = NULL;
  sct_space space = {0};
  load_ok(nested(ALONG(""), MAX_C SUM_AB "{ body = 'y = t;' }"));
  assert_int_equal(sct_script_load_device(&device, "h200", &err), SCT_OK);
  assert_int_equal(sct_script_new(&script, &spec, &device, NULL, &err), SCT_OK);
  assert_int_equal(sct_script_space(&space, script, &err), SCT_OK);
  for (int k = 0; k < space.n_strategies; k++) {
    const sct_strategy *strategy = &space.strategies[k];
    assert_int_equal(strategy->applies, strcmp(strategy->name, "direct") == 0);
  }
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(&spec);
}

/* ---- mistakes ---- */

#define FAILS(line, outputs, steps, more, says)                                                    \
  assert_fails(kernel(outputs, steps, more), "spec.lua", line, says)

static void test_mistakes_of_tables(void **state) {
  (void)state;
  FAILS(4, Y, SOFTMAX, "body = 'y = x;',", "s.kernel has body and steps; steps replace a body");
  FAILS(2, Y, "", "", "s.kernel needs 'body'");
  FAILS(5, Y, "body = 'y = x;',", "over = 'row',", "over says what steps reduce");
  FAILS(4, Y, "over = 'rov', " SOFTMAX, "", "'rov' is none; did you mean 'row'?");
  FAILS(4, Y, "steps = {},", "", "steps is empty");
  FAILS(4, Y,
        "steps = (function() local r = {} for k = 1, 33 do r['v' .. k] = 'max' end"
        " return { { reduce = r, body = 'v1 = x;' } } end)(),",
        "", "33 values in all; steps have at most 32");
  FAILS(4, Y, "steps = { { reduce = { m = 'median' }, body = 'm = x;' } },", "",
        "step 1: unknown reduce 'median'");
  FAILS(4, Y, "steps = { { reduce = { v = 'std' }, body = 'v = x;' } },", "",
        "step 1: unknown reduce 'std'; write variance, and take sqrtf of it in a later step");
  FAILS(4, Y, "steps = { { reduce = { v = { 'mean', 'i64' } }, body = 'v = x;' } },", "",
        "step 1: 'v' is a mean, which has a fraction, and i64 has none; write f32 or f64");
  FAILS(4, Y, "steps = { { reduce = { m = { 'max', 'f16' } }, body = 'm = x;' } },", "",
        "values are i32 i64 u32 u64 f32 f64, not f16");
  FAILS(4, Y, "steps = { { reduce = 'max', body = 'm = x;' } },", "", "reduce must be a table");
  FAILS(4, Y, "steps = { { reduce = { 'max' }, body = 'm = x;' } },", "", "every value has a name");
  FAILS(4, Y, "steps = { { reduce = { x = 'max' }, body = 'x = x;' } },", "", "already an array");
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, row = { r = 'f32' }, body = 'm = x;' } },", "",
        "a step reduces, or is done once a row");
  FAILS(4, Y, "steps = { " MAX ", " MAX " },", "", "value 'm' of step 2: the name is taken");
  FAILS(4, Y, "steps = { { redcue = { m = 'max' }, body = 'm = x;' } },", "",
        "did you mean 'reduce'?");
  FAILS(5, Y, SOFTMAX, "tolerance = 0,", "tolerance = 0 cannot hold for what follows from 't'");
  FAILS(3, "s.array('y', 'f32', nil, { dims = 'row', reduce = 'sum' })", SOFTMAX, "",
        "reduce to a value there");
}

static void test_mistakes_of_maps(void **state) {
  (void)state;
  FAILS(5, Y, "steps = { { body = 'y = x;' } },", "over = 'row',", "none of these steps does");
  FAILS(3, YZ, "steps = { { body = 'y = x;' }, { body = 'float z2 = x;' } },", "",
        "output z is never assigned");
  FAILS(4, YZ, "steps = { { body = 'float q = x; y = q;' }, { body = 'z = q;' } },", "",
        "'q' is not declared here");
  FAILS(4, YZ, "steps = { { body = 'y = z;' }, { body = 'z = x;' } },", "",
        "output 'z' is read before it is assigned");
  FAILS(3, Y_AND_L, "steps = { { body = 'y = x;' }, { body = 'l = b;' } },", "",
        "output 'l' is written twice");
}

static void test_mistakes_of_bodies(void **state) {
  (void)state;
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, body = 'm += x;' } },", "",
        "what one element contributes: write `=`, as in `m = ...;`");
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, body = 'm = x; float q = m;' } },", "",
        "'m' can be read in a step that follows");
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, body = 'if (x > 0.0f) m = x;' } },", "",
        "value m is not assigned when `x > 0.0f` is false");
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, body = 'm = x - t;' }, " SUM " },", "",
        "'t' is a value of step 2, and this is step 1");
  FAILS(4, Y, "steps = { " MAX ", { body = 'm = 1.0f; y = x;' } },", "",
        "'m' is a value of step 1 and cannot be assigned here");
  FAILS(4, Y, "steps = { " MAX " },", "", "the last step gives values, and no step");
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, body = 'm = x; y = x;' } },", "",
        "output 'y' is assigned by a step of its own");
  FAILS(4, Y, "steps = { " MAX ", { body = 'float q = m;' } },", "", "what it computes is lost");
  FAILS(4, Y, "steps = { " MAX ", { body = 'y = m;' }, { body = 'y = x;' } },", "",
        "output 'y' is assigned by step 2 already");
  FAILS(3, Y_AND_L, "steps = { " MAX ", { body = 'y = m;' } },", "",
        "output 'l' is assigned by no step");
  FAILS(4, Y_AND_L, "steps = { " MAX ", { body = 'y = x; l = m;' } },", "",
        "assigns 'l', which has one element a row, and 'y', which has all");
  FAILS(4, Y_AND_L, "steps = { " MAX ", { body = 'l = m + x;' }, { body = 'y = x;' } },", "",
        "it cannot use 'x', which differs along it");
  FAILS(4, Y_AND_L, "steps = { " MAX ", { body = 'l = m; ' }, { body = 'y = l;' } },", "",
        "output 'l' belongs to another step");
  FAILS(4, Y, "steps = { " MAX ", { body = 'y = w;' } },", "", "unknown name 'w'");
  FAILS(4, Y, "steps = { { row = { r = 'f32' }, body = 'r = x;' }, { body = 'y = r;' } },", "",
        "it cannot use 'x', which differs along it");
  FAILS(4, Y, "steps = { { row = { r = 'f32' }, body = 'r = 1.0f; y = r;' } },", "",
        "step 1 computes what there is once a row, and assigns 'y'");
  FAILS(4, Y,
        "steps = { { row = { r = 'f32' }, body = 'float q = r; r = q;' }, { body = 'y = r;' } },",
        "", "value 'r' is read before it is assigned");
}

#define HELD       "s.array('o', 'f32', nil, { inout = true })"
#define HELD_AND_L HELD ", s.array('l', 'f32', nil, { dims = 'row', inout = true })"

/* Steps read what an output that is updated in place held, up to the one that assigns it. */
static void test_in_place(void **state) {
  (void)state;
  int64_t read = 0, written = 0;
  load_ok(kernel(HELD,
                 "steps = { { reduce = { m = 'max' }, body = 'm = o + x;' },"
                 "{ body = 'if (m > b) o -= m;' } },",
                 ""));
  assert_int_equal(spec.operands[2].step, 1);
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_true(read == 4 * (8 * 9 * 2 + 8) && written == 4 * 8 * 9);
  sct_spec_free(&spec);
  load_ok(kernel(HELD_AND_L,
                 "steps = { { reduce = { m = 'max' }, body = 'm = o * l;' },"
                 "{ row = { r = 'f32' }, body = 'l = fmaxf(l, m); r = l - m;' },"
                 "{ body = 'o = r;' } },",
                 ""));
  sct_spec_free(&spec);
  FAILS(4, HELD_AND_L, "steps = { " MAX ", { body = 'l += m;' }, { body = 'o = l;' } },", "",
        "'l' is updated in place by step 2, so this step would find it changed");
  FAILS(4, Y ", " HELD, "steps = { " MAX ", { body = 'o += m;' }, { body = 'y = o;' } },", "",
        "'o' is updated in place by step 2");
  FAILS(4, HELD_AND_L,
        "steps = { { row = { r = 'f32' }, body = 'r = l; l = b;' }, " MAX ","
        "{ body = 'o = r - m;' } },",
        "", "'l' has one element a row and is updated in place by step 1");
  FAILS(3, Y ", " HELD,
        "steps = { { reduce = { m = 'max' }, body = 'm = o;' }, { body = 'y = m;' } },", "",
        "output 'o' is assigned by no step");
  FAILS(4, Y ", " HELD, "steps = { " MAX ", { body = 'y = y + m;' }, { body = 'o = m;' } },", "",
        "output 'y' is read before it is assigned");
  FAILS(4, HELD, "steps = { { reduce = { m = 'max' }, body = 'm = x; o = x;' } },", "",
        "output 'o' is assigned by a step of its own");
}

/* Elements are kept by the step that assigns the others, once a row, too. */
static void test_kept_elements(void **state) {
  (void)state;
  int64_t read = 0, written = 0;
  load_ok(kernel(Y_AND_L,
                 "steps = { " MAX ", { body = 'if (m > b) l = m; else keep(l);' },"
                 "{ body = 'y = x; if (x > m) keep(y);' } },",
                 ""));
  assert_true(spec.operands[2].keeps && spec.operands[2].step == 2);
  assert_true(spec.operands[3].keeps && spec.operands[3].step == 1 && spec.steps[1].per_row);
  assert_string_equal(spec.steps[1].kernel_body, "if (m > b) l = m; else l_kept = true;");
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_true(read == 4 * (8 * 9 + 8) && written == 0);
  sct_spec_free(&spec);
  load_ok(kernel(HELD,
                 "steps = { { reduce = { m = 'max' }, body = 'm = o + x;' },"
                 "{ body = 'if (m > b) o -= m; else keep(o);' } },",
                 ""));
  assert_true(spec.operands[2].keeps && spec.operands[2].is_inout);
  sct_spec_free(&spec);
  FAILS(4, Y, "steps = { " MAX ", { body = 'if (x > m) y = x;' } },", "",
        "what stays as it was says `keep(y);` there");
  FAILS(4, Y, "steps = { { reduce = { m = 'max' }, body = 'm = x; keep(y);' } },", "",
        "step 1 reduces, so it assigns its values only; output 'y' is assigned by a step of its");
  FAILS(4, Y,
        "steps = { " MAX ", { body = 'if (m > 0) keep(y); else y = x;' },"
        "{ body = 'if (x > m) keep(y); else y = m;' } },",
        "", "'y' is assigned by step 2 already; one step assigns or keeps all its elements");
  FAILS(4, HELD, "steps = { " MAX ", { body = 'if (x > m) keep(o);' } },", "",
        "'o' is updated in place (inout), but never assigned");
  FAILS(4, Y_AND_L, "steps = { " MAX ", { body = 'if (x > m) keep(l); else l = m;' } },", "",
        "it cannot use 'x', which differs along it");
  FAILS(4, Y, "steps = { " MAX ", { body = 'y = x; keep(m);' } },", "", "as in `keep(y);`");
  FAILS(4, Y, "steps = { " MAX ", { body = 'float y_kept = x; keep(y);' } },", "",
        "makes the name 'y_kept', which is taken");
}

/* The line of a step's body, even where others have the same text. */
static void test_lines_of_bodies(void **state) {
  (void)state;
  assert_fails(HEAD
               "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('x', 'f32') },\n"
               "  outputs = { s.array('y', 'f32'), s.array('z', 'f32') },\n"
               "  sizes = { { i = 10 } }, steps = {\n"
               "    { reduce = { m = 'max' },\n"
               "      body = [[\n"
               "        m = x;\n"
               "      ]] },\n"
               "    { body = [[\n"
               "        y = m;\n"
               "        z = q;\n"
               "      ]] } } }\n",
               "spec.lua", 11, "unknown name 'q'");
  assert_fails(HEAD
               "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('x', 'f32') },\n"
               "  outputs = { s.array('y', 'f32'), s.array('z', 'f32') },\n"
               "  sizes = { { i = 10 } }, steps = {\n"
               "    { body = [[\n"
               "        float t = x;\n"
               "        y = t;\n"
               "      ]] },\n"
               "    { body = [[\n"
               "        float t = y;\n"
               "        z = q;\n"
               "      ]] } } }\n",
               "spec.lua", 11, "unknown name 'q'");
}

/* ---- strategies ---- */

static void test_strategies_must_say_that_they_know_steps(void **state) {
  (void)state;
  sct_device_desc device;
  sct_script *script = NULL;
  sct_space space = {0};
  (void)mkdir(path_of("own"), 0700);
  write_file("own/unable.lua", "return { name = 'unable', template = 'direct.cu', axes = {},\n"
                               "  plan = function() end }\n");
  load_ok(kernel(Y, SOFTMAX, ""));
  assert_int_equal(sct_script_load_device(&device, "h200", &err), SCT_OK);
  assert_int_equal(sct_script_new(&script, &spec, &device, path_of("own"), &err), SCT_OK);
  assert_int_equal(sct_script_space(&space, script, &err), SCT_OK);
  for (int k = 0; k < space.n_strategies; k++) {
    const sct_strategy *s = &space.strategies[k];
    const bool direct = strcmp(s->name, "direct") == 0;
    const bool able = direct || strcmp(s->name, "rows") == 0, empty = s->sizes && s->sizes[1];
    assert_int_equal(s->applies, direct || (able && !empty)); /* rows that are empty */
    if (!able) {
      assert_string_equal(s->why_not, "the kernel has a body, not steps");
    }
  }
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(&spec);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_becomes),
      cmocka_unit_test(test_masks_are_prefixes),
      cmocka_unit_test(test_sums_of_few_values),
      cmocka_unit_test(test_sums_of_ragged_rows),
      cmocka_unit_test(test_a_maximum_is_exact),
      cmocka_unit_test(test_what_there_is_once_a_row),
      cmocka_unit_test(test_values_once_a_row),
      cmocka_unit_test(test_rows_of_other_dimensions),
      cmocka_unit_test(test_types_of_values),
      cmocka_unit_test(test_where_an_extreme_is),
      cmocka_unit_test(test_the_hash_tells_how),
      cmocka_unit_test(test_maps_are_one_body),
      cmocka_unit_test(test_different_dimensions),
      cmocka_unit_test(test_mistakes_of_different_dimensions),
      cmocka_unit_test(test_strategies_of_different_dimensions),
      cmocka_unit_test(test_mistakes_of_tables),
      cmocka_unit_test(test_mistakes_of_maps),
      cmocka_unit_test(test_mistakes_of_bodies),
      cmocka_unit_test(test_in_place),
      cmocka_unit_test(test_kept_elements),
      cmocka_unit_test(test_lines_of_bodies),
      cmocka_unit_test(test_strategies_must_say_that_they_know_steps),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
