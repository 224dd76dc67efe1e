/* Parameters of specs and more sizes: defaults, values from outside, and what is refused. */
#include "script_test.h"

#define CALL "s.params { fields = 2, scale = 0.5, to = 'soa', whole = true }"
#define SPEC                                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "local p = " CALL "\n"                                                                           \
  "local fields = {}\n"                                                                            \
  "for n = 1, p.fields do fields[n] = { 'f' .. n, 'f32' } end\n"                                   \
  "local names = { [0.5] = 'half', [2.0] = 'two' }\n"                                              \
  "return s.kernel {\n"                                                                            \
  "  name = names[p.scale] .. (p.whole and '_whole' or ''), dims = { 'i' },\n"                     \
  "  inputs = { s.array('a', s.record(fields)) },\n"                                               \
  "  outputs = { s.array('b', s.record(fields), s[p.to]) },\n"                                     \
  "  body = 'b = a;', sizes = { { i = 8 } },\n"                                                    \
  "}\n"

static void give(int n, const char *const *texts) {
  assert_int_equal(sct_script_set_params(texts, n, &err), SCT_OK);
}

#define GIVE(...)                                                                                  \
  static const char *const texts[] = {__VA_ARGS__};                                                \
  give(SCT_COUNT(texts), texts)

static int forget(void **state) {
  give(0, NULL);
  sct_script_set_sizes(NULL, 0);
  return remove_folder(state);
}

static void test_defaults_stand(void **state) {
  (void)state;
  load_ok(SPEC);
  assert_string_equal(spec.name, "half_whole");
  assert_int_equal(spec.operands[0].record.n_fields, 2);
  sct_spec_free(&spec);
}

static void test_values_from_outside(void **state) {
  (void)state;
  GIVE("fields=7", "scale=2", "to=aos", "whole=false");
  load_ok(SPEC);
  const sct_hash other = spec.hash;
  assert_string_equal(spec.name, "two");
  assert_int_equal(spec.operands[0].record.n_fields, 7);
  sct_spec_free(&spec);
  give(0, NULL);
  load_ok(SPEC);
  assert_memory_not_equal(&spec.hash, &other, sizeof other);
  sct_spec_free(&spec);
}

static void refused(const char *text, const char *says) {
  const char *const one[] = {text};
  give(1, one);
  assert_fails(SPEC, "spec.lua", 2, says);
  give(0, NULL);
}

static void test_what_does_not_fit_is_refused(void **state) {
  (void)state;
  refused("fields=x", "the parameter 'fields' is a whole number; `-p fields=x` gives none");
  refused("fields=1.5", "the parameter 'fields' is a whole number");
  refused("scale=", "the parameter 'scale' is a number; `-p scale=` gives none");
  refused("whole=1", "the parameter 'whole' is true or false");
  refused("field=3", "there is no parameter 'field'; did you mean 'fields'?");
}

static void test_a_spec_without_parameters_takes_none(void **state) {
  (void)state;
  GIVE("fields=3");
  assert_fails("local s = require 'sectile'\n"
               "return s.kernel {\n"
               "  name = 'k', dims = { 'i' }, outputs = { s.array('b', 'f32') },\n"
               "  body = 'b = 1;', sizes = { { i = 8 } },\n"
               "}\n",
               "spec.lua", 2, "the spec takes no parameters (s.params), but 'fields' is given");
}

static void test_wrong_calls(void **state) {
  (void)state;
  static const struct {
    const char *call, *says;
  } cases[] = {
      {"s.params(7)", "s.params is called once, with the defaults"},
      {"s.params { 7 }", "s.params: '1' is no name"},
      {"s.params { ['a b'] = 7 }", "s.params: 'a b' is no name"},
      {"s.params { list = {} }", "'list' must be a number, a text or a boolean, not a table"},
      {"s.params {} ; s.params {}", "s.params is called once, with the defaults"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char text[200];
    snprintf(text, sizeof text, "local s = require 'sectile'\nlocal p = %s\n", cases[k].call);
    assert_fails(text, "spec.lua", 2, cases[k].says);
  }
}

static void test_texts_that_are_no_parameters(void **state) {
  (void)state;
  static const char *const wrong[] = {"fields", "=3", "3a=4", "a b=4", ""};
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    assert_int_equal(sct_script_set_params(&wrong[k], 1, &err), SCT_EUSAGE);
    assert_non_null(strstr(err.text, "expected NAME=VALUE"));
  }
  static const char *const twice[] = {"fields=3", "field=3", "fields=4"};
  give(2, twice);
  assert_int_equal(sct_script_set_params(twice, 3, &err), SCT_EUSAGE);
  assert_string_equal(err.text, "the parameter 'fields' is given twice");
}

static void test_they_are_shown_for_a_shell(void **state) {
  (void)state;
  GIVE("fields=7", "to=a b", "name=it's");
  sct_str shown = {0};
  sct_script_show_params(&shown);
  assert_string_equal(sct_str_c(&shown), " -p fields=7 -p 'to=a b' -p 'name=it'\\''s'");
  sct_str_free(&shown);
}

/* ---- more sizes ---- */

#define ROWS                                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel {\n"                                                                            \
  "  name = 'k', dims = { 'i', 'j' }, inputs = { s.array('a', 'f32') },\n"                         \
  "  outputs = { s.array('b', 'f32') }, body = 'b = a;',\n"                                        \
  "  sizes = { { i = 8, j = 4 } },\n"                                                              \
  "}\n"

static void test_more_sizes_leave_the_spec_what_it_is(void **state) {
  (void)state;
  static const char *const more[] = {"i=100,j=3", " j = 5 , i = 1"};
  load_ok(ROWS);
  const sct_hash alone = spec.hash;
  sct_spec_free(&spec);
  sct_script_set_sizes(more, SCT_COUNT(more));
  load_ok(ROWS);
  assert_int_equal(spec.n_sizes, 3);
  assert_string_equal(spec.sizes[1].label, "i=100 j=3");
  assert_string_equal(spec.sizes[2].label, "i=1 j=5");
  assert_memory_equal(&spec.hash, &alone, sizeof alone);
  sct_spec_free(&spec);
}

static void test_texts_that_are_no_sizes(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"i=100", "this size lacks the extent of 'j'"},
      {"i=100,j=3,k=1", "there is no dimension, index array or mask 'k'; did you mean 'i'?"},
      {"i=100,j=x", "j must be a whole number, not x"},
      {"i=-1,j=1", "extent i = -1 is negative"},
      {"i=8,j=4", "size 'i=8 j=4' appears twice"},
      {"i=1,i=2,j=1", "--add-size 'i=1,i=2,j=1': i is given twice"},
      {"100", "--add-size '100': expected NAME=NUMBER and commas"},
      {"", "--add-size '': expected NAME=NUMBER and commas"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_script_set_sizes(&cases[k].text, 1);
    assert_fails(ROWS, "spec.lua", 2, cases[k].says);
  }
}

/* ---- ranges ---- */

#define RANGE(listed, range)                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel {\n"                                                                            \
  "  name = 'k', dims = { 'i', 'j' }, inputs = { s.array('a', 'f32') },\n"                         \
  "  outputs = { s.array('b', 'f32', s.row_major, { dims = { 'i' }, reduce = 'sum' }) },\n"        \
  "  body = 'b = a;',\n"                                                                           \
  "  sizes = { " listed " s.range { " range " } },\n"                                              \
  "}\n"

static void test_samples_fill_a_range(void **state) {
  (void)state;
  int n_short = 0, n_long = 0, n_powers = 0, n_odd = 0;
  load_ok(RANGE("", "i = { 1, 1 << 20 }, j = { 8, 1 << 17 }, bytes = { 1 << 16, 1 << 32 }"));
  assert_int_equal(spec.n_sizes, 48);
  assert_int_equal(spec.n_added, 48);
  for (int k = 0; k < spec.n_sizes; k++) {
    const int64_t i = spec.sizes[k].extent[0], j = spec.sizes[k].extent[1];
    const int64_t bytes = 4 * (i * j + i);
    assert_true(spec.sizes[k].sampled);
    assert_true(i >= 1 && i <= 1 << 20 && j >= 8 && j <= 1 << 17);
    assert_true(bytes >= 1 << 16 && bytes <= INT64_C(1) << 32);
    n_short += i < 1024;
    n_long += i >= 1024;
    n_powers += (i & (i - 1)) == 0;
    n_odd += i % 2 == 1;
  }
  assert_true(n_short >= 16 && n_long >= 16 && n_powers >= 8 && n_odd >= 8);
  sct_spec_free(&spec);
}

/* A listed size keeps its place, and what is sampled changes no hash. */
static void test_samples_come_behind_what_is_listed(void **state) {
  (void)state;
  load_ok(RANGE("{ i = 5, j = 6 },", "i = { 1, 100 }, j = 7, samples = 3"));
  const sct_hash hash = spec.hash;
  assert_int_equal(spec.n_sizes, 4);
  assert_false(spec.sizes[0].sampled);
  assert_string_equal(spec.sizes[0].label, "i=5 j=6");
  for (int k = 1; k < 4; k++) {
    assert_true(spec.sizes[k].sampled);
    assert_int_equal(spec.sizes[k].extent[1], 7);
  }
  sct_spec_free(&spec);
  load_ok(RANGE("{ i = 5, j = 6 },", "i = { 1, 1000 }, j = 7, ['i * j'] = { 70, 700 }"));
  assert_memory_equal(&spec.hash, &hash, sizeof hash);
  for (int k = 1; k < spec.n_sizes; k++) {
    assert_true(spec.sizes[k].extent[0] >= 10 && spec.sizes[k].extent[0] <= 100);
  }
  sct_spec_free(&spec);
  load_ok(RANGE("", "i = { 3, 5 }, j = 7")); /* fewer sizes than samples: each once */
  assert_int_equal(spec.n_sizes, 3);
  sct_spec_free(&spec);
}

/* ---- around listed sizes ---- */

#define LISTED(more, sizes)                                                                        \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel {\n"                                                                            \
  "  name = 'k', dims = { 'i', 'j' }, inputs = { s.array('a', 'f32' " more ") },\n"                \
  "  outputs = { s.array('b', 'f32', s.row_major, { dims = { 'i' }, reduce = 'sum' }) },\n"        \
  "  body = 'b = a;',\n"                                                                           \
  "  sizes = " sizes ",\n"                                                                         \
  "}\n"

static void test_sizes_around_listed_ones(void **state) {
  (void)state;
  load_ok(LISTED("", "{ { i = 4096, j = 1000 } }"));
  const sct_hash hash = spec.hash;
  assert_int_equal(spec.n_sizes, 1);
  sct_spec_free(&spec);
  sct_script_set_around(INT64_C(1) << 28);
  load_ok(LISTED("", "{ { i = 4096, j = 1000 } }"));
  assert_memory_equal(&spec.hash, &hash, sizeof hash);
  assert_int_equal(spec.n_sizes, 1 + SCT_MOST_AROUND);
  assert_int_equal(spec.n_added, SCT_MOST_AROUND);
  assert_false(spec.sizes[0].around);
  int n_thin = 0;
  for (int k = 1; k < spec.n_sizes; k++) {
    const int64_t i = spec.sizes[k].extent[0], j = spec.sizes[k].extent[1];
    assert_true(spec.sizes[k].around && spec.sizes[k].sampled);
    assert_true(i >= 256 && i <= 65536 && j >= 62 && j <= 16000);
    assert_true(4 * (i * j + i) <= INT64_C(1) << 28);
    n_thin += i == 256 || i == 65536 || j == 62 || j == 16000;
  }
  assert_true(n_thin >= 3);
  sct_spec_free(&spec);
  /* an extent that arrays fix stays as it is */
  load_ok(LISTED(", s.row_major, { extents = { 'i', '3' } }", "{ { i = 4096, j = 3 } }"));
  assert_true(spec.n_sizes > 4);
  for (int k = 1; k < spec.n_sizes; k++) {
    assert_true(spec.sizes[k].extent[1] <= 3);
  }
  sct_spec_free(&spec);
  load_ok(
      RANGE("{ i = 5, j = 6 },", "i = { 1, 100 }, j = 7, samples = 3")); /* not beside a range */
  assert_int_equal(spec.n_sizes, 4);
  sct_spec_free(&spec);
  sct_script_set_around(0);
}

/* ---- calls ---- */

#define CALLS LISTED("", "s.calls 'calls.csv'")

static void test_calls_are_listed_by_their_bytes(void **state) {
  (void)state;
  SCT_SCOPED(sct_str) text = {0};
  sct_str_append(&text, "j, i, count\r\n10,7,1\n");
  for (int k = 0; k < 30; k++) {
    sct_str_printf(&text, "%d,100,5\n", 1000 + k);
  }
  sct_str_append(&text, "10,7,2\n\nj, i, count\n4096,4096,1000\n"); /* added to, by another run */
  write_file("calls.csv", sct_str_c(&text));
  load_ok(CALLS);
  assert_int_equal(spec.n_sizes, 32);
  assert_int_equal(spec.n_added, 32);
  const sct_size *last = &spec.sizes[31], *first = &spec.sizes[0];
  assert_false(last->sampled); /* nearly all bytes */
  assert_int_equal(last->extent[0], 4096);
  assert_int_equal(last->weight, 1000);
  assert_true(first->sampled);
  assert_int_equal(first->extent[1], 1029);
  assert_int_equal(spec.sizes[30].extent[0], 7);
  assert_int_equal(spec.sizes[30].weight, 3);
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  write_file("calls.csv", "i,j\n3,4\n"); /* once each */
  load_ok(CALLS);
  assert_int_equal(spec.n_sizes, 1);
  assert_int_equal(spec.sizes[0].weight, 1);
  assert_memory_equal(&spec.hash, &hash, sizeof hash); /* a program's calls change */
  sct_spec_free(&spec);
}

static void test_files_that_are_no_calls(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
    int line;
  } cases[] = {
      {"", "calls.csv:1: ''; expected the extents' names", 6},
      {"i,j", "calls.csv:1: no call; expected a line of numbers", 6},
      {"i,j,i\n1,2,3", "calls.csv:1: 'i' is given twice", 6},
      {"i,j\n1", "calls.csv:2: 1 values; expected 2: i,j", 6},
      {"i,j\n\n1,x", "calls.csv:3: j = 'x'; expected a whole number", 6},
      {"i,j\n1,-2", "calls.csv:2: j = '-2'; expected a whole number", 6},
      {"i,k\n1,2", "there is no dimension, index array or mask 'k'", 2},
      {"i\n1", "this size lacks the extent of 'j'", 2},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    write_file("calls.csv", cases[k].text);
    assert_fails(CALLS, "spec.lua", cases[k].line, cases[k].says);
  }
  assert_fails(LISTED("", "s.calls 'none.csv'"), "spec.lua", 6, "there is no file 'none.csv'");
  assert_fails(LISTED("", "s.calls(7)"), "spec.lua", 6, "s.calls takes the name of a file");
}

static void test_texts_that_are_no_ranges(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } cases[] = {
      {RANGE("", "7"), "s.range takes limits of extents"},
      {RANGE("", "j = 7"), "s.range: no extent has limits"},
      {RANGE("", "i = { 9, 1 }, j = 7"), "s.range: i = { least, most }, whole numbers from 1"},
      {RANGE("", "i = { 0, 1 }, j = 7"), "s.range: i = { least, most }, whole numbers from 1"},
      {RANGE("", "i = { 1 }, j = 7"), "s.range: i = { least, most }"},
      {RANGE("", "i = { 1, 'x' }, j = 7"), "s.range: i"},
      {RANGE("", "i = { 1, 9 }, k = 7"), "there is no dimension, index array or mask 'k'"},
      {RANGE("", "i = { 1, 9 }"), "this size lacks the extent of 'j'"},
      {RANGE("", "i = { 1, 9 }, j = 7, samples = 0"), "samples is a whole number from 1 to 256"},
      {RANGE("", "i = { 1, 9 }, j = 7, bytes = { 1, 2 }"), "no size lies within all limits"},
      {RANGE("", "i = { 1, 9 }, j = 7, ['i * k'] = { 1, 2 }"), "s.range: \"i * k\": "},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    if (load(cases[k].text) == SCT_OK) {
      fail_msg("accepted:\n%s", cases[k].text);
    }
    if (!strstr(err.text, cases[k].says)) {
      fail_msg("expected \"%s\", got: %s", cases[k].says, err.text);
    }
  }
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, forget)
  const struct CMUnitTest tests[] = {
      TEST(test_defaults_stand),
      TEST(test_values_from_outside),
      TEST(test_what_does_not_fit_is_refused),
      TEST(test_a_spec_without_parameters_takes_none),
      TEST(test_wrong_calls),
      TEST(test_texts_that_are_no_parameters),
      TEST(test_they_are_shown_for_a_shell),
      TEST(test_more_sizes_leave_the_spec_what_it_is),
      TEST(test_texts_that_are_no_sizes),
      TEST(test_samples_fill_a_range),
      TEST(test_samples_come_behind_what_is_listed),
      TEST(test_texts_that_are_no_ranges),
      TEST(test_sizes_around_listed_ones),
      TEST(test_calls_are_listed_by_their_bytes),
      TEST(test_files_that_are_no_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
