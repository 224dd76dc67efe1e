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
      {"i=1,i=2,j=1", "--add-size 'i=1,i=2,j=1': i stands there twice"},
      {"100", "--add-size '100': expected NAME=NUMBER and commas"},
      {"", "--add-size '': expected NAME=NUMBER and commas"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_script_set_sizes(&cases[k].text, 1);
    assert_fails(ROWS, "spec.lua", 2, cases[k].says);
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
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
