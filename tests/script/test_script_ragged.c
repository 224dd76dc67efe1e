/* Ragged rows: what a spec becomes, its mistakes, the offsets that the tuner makes, and which
 * strategies are left. */
#include "script_test.h"

#include "space/space.h"

/* A kernel over row, j and k with this head (line 3), arrays (4), body (5) and sizes (6). */
static const char *kernel(const char *ragged, const char *inputs, const char *outputs,
                          const char *sizes) {
  static char text[2048];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\n"
           "return s.kernel { name = 'q', dims = { 'row', 'j', 'k' },\n"
           "  %s\n"
           "  inputs = { s.array('x', 'f32', nil, { dims = 'k' }), %s },\n"
           "  outputs = { %s }, body = 'y = x;',\n"
           "  sizes = { %s } }\n",
           ragged, inputs, outputs, sizes);
  return text;
}

#define RAGGED "ragged = { k = 'ptr' },"
#define PTR    "s.array('ptr', 'i32', nil, { dims = 'row' })"
#define SUM    "s.array('y', 'f32', nil, { dims = { 'row', 'j' }, reduce = 'sum' })"
#define MAP    "s.array('y', 'f32', nil, { dims = { 'j', 'k' } })"
#define SIZES  "{ row = 8, j = 3, k = 90 }"

static void test_what_it_becomes(void **state) {
  (void)state;
  load_ok(kernel(RAGGED, PTR, SUM, SIZES));
  assert_int_equal(spec.ragged.dim, 2);
  assert_int_equal(spec.ragged.row, 0);
  assert_int_equal(spec.ragged.offsets, 1);
  assert_true(spec.reduced[2] && !spec.reduced[1] && !spec.reduced[0]);
  assert_int_equal(sct_spec_elements(&spec, &spec.sizes[0]), 3 * 90);
  assert_int_equal(sct_spec_bytes(&spec, 1, 0, &spec.sizes[0]), 9 * 4); /* one more than rows */
  int64_t read = 0, written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, 90 * 4 + 8 * 4);
  assert_int_equal(written, 8 * 3 * 4);
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok(kernel("", "s.array('ptr', 'i32', nil, { dims = 'row' })", SUM, SIZES));
  assert_memory_not_equal(&hash, &spec.hash, sizeof hash);
  sct_spec_free(&spec);
}

/* What moves with rows and their elements is found once an element. */
static void test_traffic_of_maps(void **state) {
  (void)state;
  load_ok(kernel(RAGGED, PTR ", s.array('w', 'f32', nil, { dims = { 'row', 'k' } })", MAP,
                 "{ row = 1000, j = 2, k = 90 }"));
  assert_int_equal(sct_spec_touched_bytes(&spec, 2, &spec.sizes[0]), 0); /* no body names it */
  spec.operands[2].used[0] = true;
  assert_int_equal(sct_spec_touched_bytes(&spec, 2, &spec.sizes[0]), 90 * 4);
  assert_int_equal(sct_spec_touched_bytes(&spec, 3, &spec.sizes[0]), 2 * 90 * 4);
  sct_spec_free(&spec);
}

/* ---- mistakes ---- */

#define FAILS(line, ragged, inputs, outputs, sizes, says)                                          \
  assert_fails(kernel(ragged, inputs, outputs, sizes), "spec.lua", line, says)

static void test_mistakes(void **state) {
  (void)state;
  FAILS(3, "ragged = {},", PTR, SUM, SIZES, "as in ragged = { k = \"ptr\" }");
  FAILS(3, "ragged = { k = 'ptr', j = 'ptr' },", PTR, SUM, SIZES, "ragged names one dimension");
  FAILS(3, "ragged = { 'ptr' },", PTR, SUM, SIZES, "ragged names one dimension");
  FAILS(3, "ragged = { kk = 'ptr' },", PTR, SUM, SIZES,
        "there is no dimension 'kk'; did you mean 'k'?");
  FAILS(3, "ragged = { k = 'prt' },", PTR, SUM, SIZES, "no input 'prt'; did you mean 'ptr'?");
  FAILS(3, "ragged = { k = 'y' },", PTR, SUM, SIZES, "there is no input 'y'");
  FAILS(4, RAGGED, "s.array('ptr', 'f32', nil, { dims = 'row' })", SUM, SIZES,
        "'ptr' gives the offsets of ragged rows, but has no bare integer type");
  FAILS(4, RAGGED, "s.array('ptr', 'i32', nil, { dims = { 'row', 'j' } })", SUM, SIZES,
        "but has other dimensions");
  FAILS(4, RAGGED, "s.array('ptr', 'i32', nil, { dims = 'k' })", SUM, SIZES, "other dimensions");
  FAILS(4, RAGGED, "s.array('ptr', 'i32', nil, { dims = 'rp' })", SUM, SIZES, "other dimensions");
  FAILS(4, RAGGED, "s.array('ptr', 'i32', nil, { dims = 'row', at = 'row + 1' })", SUM, SIZES,
        "has at, extents, pad, taps or none");
  FAILS(4, RAGGED, "s.array('ptr', 'i32', s.strided { 2 }, { dims = 'row' })", SUM, SIZES,
        "its layout is s.row_major");
  FAILS(4, RAGGED, PTR ", s.array('z', 'f32', nil, { dims = 'm', at = 'k - ptr' })", SUM,
        "{ row = 8, j = 3, k = 90, m = 90 }", "the place in a row cannot be an index yet");
  FAILS(5, RAGGED, PTR ", s.array('c', 'i32', nil, { dims = 'k' })",
        "s.array('y', 'f32', nil, { dims = 'm', at = 'c', accumulate = 'add' })",
        "{ row = 8, j = 3, k = 90, m = 90 }", "'y' is accumulated, which kernels with ragged rows");
  FAILS(5, RAGGED, PTR, "s.array('y', 'f32', nil, { dims = { 'row', 'k' } })", SIZES,
        "one an element by dims = { \"k\" }");
  FAILS(3, RAGGED, PTR, "s.array('y', 'f32', nil, { dims = 'row', reduce = 'sum' })", SIZES,
        "reduces 'k' and nothing else, but 'j' is reduced, too");
  FAILS(3, RAGGED, PTR, "s.array('y', 'f32', nil, { dims = { 'j', 'k' }, reduce = 'sum' })", SIZES,
        "but 'row' is reduced, too");
  FAILS(6, RAGGED, PTR, SUM, "{ row = 0, j = 3, k = 1 }", "there is no row to which these");
  FAILS(6, RAGGED, PTR, SUM, "{ row = 8, j = 3, k = 90, ptr = 'permuted' }",
        "unknown fill 'permuted' for 'ptr'; expected one of constant, uniform, power, file:NAME");
  FAILS(4, RAGGED,
        PTR ", s.array('c', 'i8', nil, { dims = 'k', fill = 'power' })"
            ", s.array('z', 'f32', nil, { dims = 'k', at = 'c' })",
        SUM, SIZES, "unknown fill 'power' for 'c'");
  FAILS(4, RAGGED, "s.array('ptr', 'i8', nil, { dims = 'row' })", SUM,
        "{ row = 8, j = 3, k = 128 }", "of type i8 cannot hold indices up to 128");
}

/* CSR as it is thought of first. */
static void test_offsets_with_a_dimension_of_their_own(void **state) {
  (void)state;
  FAILS(4, "", "s.array('ptr', 'i32', nil, { dims = 'rp' })", SUM, "{ row = 8, j = 3, k = 9 }",
        "the kernel has ragged = { ... } (cookbook, \"Rows of different lengths\")");
}

/* ---- offsets ---- */

/* Lengths of all rows; [0] is the number of empty ones. */
static void check_offsets(const char *fill, int64_t rows, int64_t elements, int64_t *n_empty,
                          int64_t *longest) {
  char size[128];
  snprintf(size, sizeof size, "{ row = %lld, j = 1, k = %lld, ptr = '%s' }", (long long)rows,
           (long long)elements, fill);
  load_ok(kernel(RAGGED, PTR, SUM, size));
  int64_t before = 0;
  *n_empty = *longest = 0;
  assert_int_equal(sct_spec_index_value(&spec, 1, 0, &spec.sizes[0]), 0);
  for (int64_t row = 0; row < rows; row++) {
    const int64_t end = sct_spec_index_value(&spec, 1, row + 1, &spec.sizes[0]);
    if (end < before || end > elements) {
      fail_msg("%s: row %lld of %lld ends at %lld, before it %lld of %lld", fill, (long long)row,
               (long long)rows, (long long)end, (long long)before, (long long)elements);
    }
    *n_empty += end == before;
    *longest = end - before > *longest ? end - before : *longest;
    before = end;
  }
  assert_int_equal(before, elements);
  sct_spec_free(&spec);
}

static void test_offsets_that_the_tuner_makes(void **state) {
  (void)state;
  static const char *const fills[] = {"constant", "uniform", "power"};
  static const int64_t sizes[][2] = {{0, 0},     {1, 0},        {1, 1},       {1, 777},
                                     {2, 1},     {3, 100},      {33, 7},      {1000, 1},
                                     {777, 776}, {1000, 16000}, {4096, 65536}};
  int64_t n_empty = 0, longest = 0;
  for (int f = 0; f < SCT_COUNT(fills); f++) {
    for (int k = 0; k < SCT_COUNT(sizes); k++) {
      check_offsets(fills[f], sizes[k][0], sizes[k][1], &n_empty, &longest);
    }
  }
  check_offsets("constant", 1000, 16000, &n_empty, &longest);
  assert_true(n_empty == 0 && longest == 16);
  check_offsets("uniform", 1000, 16000, &n_empty, &longest);
  assert_in_range(longest, 24, 32);
  check_offsets("uniform", 1000, 1000, &n_empty, &longest);
  assert_in_range(n_empty, 100, 600);
  check_offsets("power", 4096, 65536, &n_empty, &longest);
  assert_in_range(n_empty, 200, 2500);       /* 16 in the mean */
  assert_in_range(longest, 1000, 65536 / 2); /* 0.76^12 of all is 2433 */
}

/* Billions of elements, whose products with rows no 64-bit integer holds. */
static void test_large_offsets(void **state) {
  (void)state;
  static const char *const fills[] = {"constant", "uniform", "power"};
  const int64_t rows = 100000007, elements = 600000000011;
  for (int f = 0; f < SCT_COUNT(fills); f++) {
    const sct_index_fill fill = {.fill = (sct_fill)(SCT_FILL_CONSTANT + f),
                                 .limit = elements + 1,
                                 .rows = rows,
                                 .are_offsets = true,
                                 .seed = 7};
    int64_t before = 0;
    for (int64_t row = 0; row <= rows; row += 123457) {
      const int64_t at = sct_index_fill_value(&fill, row);
      assert_true(at >= before && at <= elements);
      before = at;
    }
    assert_int_equal(sct_index_fill_value(&fill, rows), elements);
    assert_true(sct_index_fill_value(&fill, rows - 1) <= elements);
  }
}

static int64_t offset_at(int size, int64_t row) {
  return sct_spec_index_value(&spec, spec.ragged.offsets, row, &spec.sizes[size]);
}

/* Lengths 3, 0, 5 and again 3, 0, ... */
static void test_lengths_from_a_file(void **state) {
  (void)state;
  write_file("lengths.txt", "3\n0 5\r\n\n");
  load_ok(kernel(RAGGED, PTR, SUM,
                 "{ row = 4, j = 1, k = 11, ptr = 'file:lengths.txt' }, "
                 "{ row = 3, j = 1, k = 16, ptr = 'file:lengths.txt' }, "
                 "{ row = 2, j = 1, k = 0, ptr = 'file:lengths.txt' }"));
  static const int64_t ends[] = {0, 3, 3, 8, 11}, twice[] = {0, 6, 6, 16};
  for (int row = 0; row < SCT_COUNT(ends); row++) {
    assert_int_equal(offset_at(0, row), ends[row]);
  }
  for (int row = 0; row < SCT_COUNT(twice); row++) {
    assert_int_equal(offset_at(1, row), twice[row]);
  }
  assert_int_equal(offset_at(2, 2), 0);
  assert_string_equal(spec.sizes[0].label, "row=4 j=1 k=11 ptr=file:lengths.txt");
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  write_file("lengths.txt", "3 0 6");
  load_ok(kernel(RAGGED, "s.array('ptr', 'i32', nil, { dims = 'row', fill = 'file:lengths.txt' })",
                 SUM, "{ row = 4, j = 1, k = 11, ptr = 'file:lengths.txt' }"));
  assert_memory_not_equal(&hash, &spec.hash, sizeof hash);
  sct_spec_free(&spec);
}

#define FILE_FAILS(sizes, says)                                                                    \
  assert_fails(kernel(RAGGED, PTR, SUM, "{ row = 8, j = 3, k = 90, ptr = 'file:" sizes "' }"),     \
               "spec.lua", 6, says)

static void test_files_without_lengths(void **state) {
  (void)state;
  write_file("lengths.txt", "3 0\n5\n");
  write_file("words.txt", "3 0\n5x\n");
  write_file("negative.txt", "\n3 0 -1\n");
  write_file("zeros.txt", "0 0\n");
  write_file("large.txt", "1099511627776 1\n");
  FILE_FAILS("none.txt", "fill \"file:none.txt\": there is no such file in the spec's directory");
  FILE_FAILS("../lengths.txt", "fill \"file:../lengths.txt\"");
  FILE_FAILS("words.txt", "words.txt:2: expected lengths of rows: whole numbers of 0 or more");
  FILE_FAILS("negative.txt", "negative.txt:2: expected lengths of rows");
  FILE_FAILS("large.txt", "large.txt:1: expected lengths of rows");
  FILE_FAILS("zeros.txt", "zeros.txt lists no length above 0");
  FILE_FAILS("lengths.txt' }, { row = 8, j = 3, k = 91, ptr = 'file:zeros.txt",
             "lengths are in 'lengths.txt' and in 'zeros.txt'");
  assert_fails(kernel("",
                      "s.array('p', 'i32', nil, { dims = 'row', fill = 'file:lengths.txt' }), "
                      "s.array('z', 'f32', nil, { dims = 'm', at = 'p' })",
                      SUM, SIZES ", { row = 8, j = 3, k = 90, m = 4 }"),
               "spec.lua", 4, "unknown fill 'file:lengths.txt' for 'p'");
}

/* ---- strategies ---- */

/* Of the strategies only the naive variant and `other` take the kernel. */
static void applies(const char *text, const char *other) {
  sct_device_desc device;
  sct_script *script = NULL;
  sct_space space = {0};
  load_ok(text);
  assert_int_equal(sct_script_load_device(&device, "h200", &err), SCT_OK);
  assert_int_equal(sct_script_new(&script, &spec, &device, NULL, &err), SCT_OK);
  assert_int_equal(sct_script_space(&space, script, &err), SCT_OK);
  for (int k = 0; k < space.n_strategies; k++) {
    const sct_strategy *s = &space.strategies[k];
    assert_int_equal(s->applies, strcmp(s->name, "direct") == 0 || strcmp(s->name, other) == 0);
    if (strcmp(s->name, "reduce") == 0) {
      assert_string_equal(s->why_not, "rows have different lengths");
    }
  }
  sct_space_free(&space);
  sct_script_free(script);
  sct_spec_free(&spec);
}

static void test_strategies_must_say_that_they_know_ragged_rows(void **state) {
  (void)state;
  applies(kernel(RAGGED, PTR, SUM, SIZES), "ragged");
  applies(kernel(RAGGED, PTR, MAP, SIZES), "rows");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_becomes),
      cmocka_unit_test(test_traffic_of_maps),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_offsets_with_a_dimension_of_their_own),
      cmocka_unit_test(test_offsets_that_the_tuner_makes),
      cmocka_unit_test(test_large_offsets),
      cmocka_unit_test(test_lengths_from_a_file),
      cmocka_unit_test(test_files_without_lengths),
      cmocka_unit_test(test_strategies_must_say_that_they_know_ragged_rows),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
