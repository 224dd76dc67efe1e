/* Text, spelling, hashes, formats, errors. */
#include "base/base.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

static void test_str_grows_and_formats(void **state) {
  (void)state;
  sct_str s = {0};
  assert_string_equal(sct_str_c(&s), "");
  for (int k = 0; k < 1000; k++) {
    sct_str_printf(&s, "%d,", k % 10);
  }
  assert_int_equal(s.len, 2000);
  assert_memory_equal(s.data + 1990, "5,6,7,8,9,", 11);
  sct_str_clear(&s);
  sct_str_append_n(&s, "a\0b", 3);
  assert_int_equal(s.len, 3);
  sct_str_free(&s);
}

static void test_str_appends_integers(void **state) {
  (void)state;
  static const int64_t edges[] = {0,         1,
                                  -1,        9,
                                  10,        -10,
                                  99,        100,
                                  INT32_MAX, INT32_MIN,
                                  INT64_MAX, INT64_MAX - 1,
                                  INT64_MIN, INT64_MIN + 1};
  sct_rng rng = sct_rng_new(3);
  for (int k = 0; k < 2000; k++) {
    const int64_t drawn = (int64_t)sct_rng_u64(&rng) >> sct_rng_below(&rng, 64);
    const int64_t value = k < SCT_COUNT(edges) ? edges[k] : drawn;
    char expected[32];
    sct_str s = {0};
    sct_str_append(&s, "<");
    sct_str_append_int(&s, value);
    snprintf(expected, sizeof expected, "<%lld", (long long)value);
    assert_string_equal(sct_str_c(&s), expected);
    sct_str_free(&s);
  }
}

/* A text that fits is written where it will stand, one that does not is written again; either way
 * it is whole, and what was there stays. */
static void test_str_formats_at_every_length(void **state) {
  (void)state;
  char expected[200];
  for (int before = 0; before < 140; before++) {
    for (int more = 0; more < 140 - before; more += 3) {
      sct_str s = {0};
      sct_str_printf(&s, "%0*d", before, 0);
      sct_str_printf(&s, "%0*d|", more, 0);
      snprintf(expected, sizeof expected, "%0*d%0*d|", before, 0, more, 0);
      assert_string_equal(s.data, expected);
      assert_int_equal(s.len, strlen(expected));
      assert_true(s.cap > s.len);
      sct_str_free(&s);
    }
  }
}

static void test_text_that_terminals_obey(void **state) {
  (void)state;
  static const struct {
    const char *text, *shown;
  } cases[] = {
      {"plain\ttext\n", "plain\ttext\n"},
      {"caf\xc3\xa9 \xe2\x82\xac \xe2\x80\x93 \xff", "caf\xc3\xa9 \xe2\x82\xac \xe2\x80\x93 \xff"},
      {"\x1b[31m\r\x7f", "\\x1b[31m\\x0d\\x7f"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b2J"},
      {"a\xe2\x80\xae"
       "b",
       "a\\xe2\\x80\\xaeb"},
      {"\xe2\x80\xa8\xe2\x80\x8f", "\\xe2\\x80\\xa8\\xe2\\x80\\x8f"},
      {"\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9\xe2\x81\xaa"},
      {"\xe2\x80", "\xe2\x80"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str shown = {0};
    sct_str_append_printable(&shown, cases[k].text);
    assert_string_equal(sct_str_c(&shown), cases[k].shown);
    assert_int_equal(sct_is_printable(cases[k].text), strcmp(cases[k].text, cases[k].shown) == 0);
    sct_str_free(&shown);
  }
}

static void test_nearest_name(void **state) {
  (void)state;
  static const char *const names[] = {"threads", "items", "pad_words", "xor"};
  assert_string_equal(sct_nearest("thraeds", SCT_NAMES(names, 4)), "threads");
  assert_string_equal(sct_nearest("Item", SCT_NAMES(names, 4)), "items");
  assert_string_equal(sct_nearest("pad_word", SCT_NAMES(names, 4)), "pad_words");
  assert_null(sct_nearest("banana", SCT_NAMES(names, 4)));
  assert_null(sct_nearest("x", SCT_NAMES(names, 0)));
  sct_str s = {0};
  sct_str_suggest(&s, "banana", SCT_NAMES(names, 4));
  assert_string_equal(sct_str_c(&s), "; expected one of threads, items, pad_words, xor");
  sct_str_clear(&s);
  sct_str_suggest(&s, "xro", SCT_NAMES(names, 4));
  assert_string_equal(sct_str_c(&s), "; did you mean 'xor'?");
  sct_str_free(&s);
}

static void test_names_are_found_in_any_array(void **state) {
  (void)state;
  static const struct {
    int value;
    const char *name;
  } rows[] = {{3, "map"}, {1, "ma"}, {4, "map"}, {1, ""}};
  const sct_names names = SCT_NAMES_IN(rows, SCT_COUNT(rows), name);
  sct_error err = {0};
  int k = 7;
  assert_int_equal(sct_names_find(names, "map"), 0);
  assert_int_equal(sct_names_find(names, "maps"), -1);
  assert_int_equal(sct_names_find(names, ""), 3);
  assert_int_equal(sct_names_find_n(names, "maps", 2), 1);
  assert_int_equal(sct_names_find_n(names, "maps", 4), -1);
  assert_int_equal(sct_names_find((sct_names){0}, "map"), -1);
  assert_int_equal(sct_names_choose(&k, names, "ma", &err, "unused"), SCT_OK);
  assert_int_equal(k, 1);
  assert_int_equal(sct_names_choose(&k, names, "mpa", &err, "no '%s'", "mpa"), SCT_EUSAGE);
  assert_int_equal(k, -1);
  assert_string_equal(err.text, "no 'mpa'; did you mean 'map'?");
}

static void test_hash_is_xxh3_128(void **state) {
  (void)state;
  char hex[SCT_HASH_HEX];
  /* XXH3_128bits of the empty input, from the algorithm's published test values */
  assert_string_equal(sct_hash_hex(hex, sct_hash_text("")), "99aa06d3014798d86001c324468d497f");
  assert_true(sct_hash_equal(sct_hash_text("abc"), sct_hash_bytes("abc", 3)));
  assert_false(sct_hash_equal(sct_hash_text("abc"), sct_hash_text("abd")));
}

static void test_formats(void **state) {
  (void)state;
  char out[32];
  assert_string_equal(sct_format_bytes(out, 12), "12 B");
  assert_string_equal(sct_format_bytes(out, 1536), "1.5 KiB");
  assert_string_equal(sct_format_ns(out, 12500), "12.5 us");
  assert_true(sct_is_identifier("_a1"));
  assert_false(sct_is_identifier("1a"));
  assert_false(sct_is_identifier(""));
  assert_false(sct_is_identifier("a b"));
}

static void test_holes_of_templates_end_where_lua_says(void **state) {
  (void)state;
  assert_int_equal(sct_hole_length("x) y)", 5), 1);
  assert_int_equal(sct_hole_length("f(x, (y))) + 1)", 15), 9);
  assert_int_equal(sct_hole_length("f(\"\\\")\", ')'))", 14), 13);
  assert_int_equal(sct_hole_length("f(x)", 4), 4);
  assert_int_equal(sct_hole_length("x)", 1), 1);
}

static void test_errors_and_exit_codes(void **state) {
  (void)state;
  sct_error err;
  assert_int_equal(sct_fail(&err, SCT_ESPEC, "no %s", "field"), SCT_ESPEC);
  assert_string_equal(err.text, "no field");
  assert_int_equal(sct_fail_prefix(&err, SCT_EIO, "a.lua:%d: ", 3), SCT_ESPEC);
  assert_string_equal(err.text, "a.lua:3: no field");
  assert_int_equal(sct_fail(NULL, SCT_EBUSY, "x"), SCT_EBUSY);
  assert_int_equal(sct_exit_code(SCT_ESPEC), 3);
  assert_int_equal(sct_exit_code(SCT_EBUSY), 75);
  assert_int_equal(sct_exit_code(SCT_EINTERRUPTED), 130);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_str_grows_and_formats),
      cmocka_unit_test(test_str_appends_integers),
      cmocka_unit_test(test_str_formats_at_every_length),
      cmocka_unit_test(test_text_that_terminals_obey),
      cmocka_unit_test(test_nearest_name),
      cmocka_unit_test(test_names_are_found_in_any_array),
      cmocka_unit_test(test_hash_is_xxh3_128),
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_holes_of_templates_end_where_lua_says),
      cmocka_unit_test(test_errors_and_exit_codes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
