/* The canonical text: equal for equal kernels, different for every difference that matters. And
 * the lines that messages point at. */
#include "spec_test.h"

/* A two-field copy with one detail changed by `change`. */
static sct_hash hash_of(int change) {
  open_spec(change == 1 ? "j" : "i");
  spec.name = change == 2 ? "other" : "test";
  spec.file = change == 3 ? "elsewhere/spec.lua" : "spec.lua";
  add_scalar("k", change == 4 ? "f64" : "f32");
  sct_operand *a = add_array("a", change == 5 ? "x:f32 y:i32" : "x:f32 y:f32", INPUT);
  add_array("b", "x:f32 y:f32", OUTPUT);
  if (change == 6) {
    a->record.packed = true;
    assert_int_equal(sct_record_finish(&a->record, 16, &err), SCT_OK);
  }
  a->pad[0] = change == 7 ? 1 : 0;
  a->line = change == 8 ? 77 : a->line;
  if (change == 9) {
    set_at("a", "0 + i");
  } else if (change == 10) {
    a->pad[0] = 1;
    set_at("a", "i + 1");
  }
  bind();
  lay_out("a", change == 11 ? SOA : AOS, 0)->label = "l";
  if (change == 12) {
    a->layouts[0].owns_gaps = true;
  }
  if (change == 13) {
    lay_out("a", SOA, 0);
  }
  lay_out_rest();
  set_sizes(change == 14 ? "i=5" : change == 1 ? "j=4" : "i=4");
  spec.tolerance = change == 15 ? 1e-6 : 0;
  finish(change == 16   ? "b.x = a.x; b.y = a.y + k;"
         : change == 17 ? "b.x=a.x; /* same */\n\n  b.y = a.y; // as before\n"
                        : "b.x = a.x; b.y = a.y;");
  const sct_hash hash = spec.hash;
  assert_true(sct_hash_equal(hash, sct_hash_text(spec.canonical)));
  close_spec();
  return hash;
}

static void test_what_changes_the_hash(void **state) {
  (void)state;
  static const int harmless[] = {3, 8, 9, 17};
  const sct_hash plain = hash_of(0);
  for (int change = 1; change <= 17; change++) {
    bool same = false;
    for (int k = 0; k < SCT_COUNT(harmless); k++) {
      same = same || harmless[k] == change;
    }
    if (sct_hash_equal(plain, hash_of(change)) != same) {
      fail_msg("change %d: the hash should%s change", change, same ? " not" : "");
    }
  }
}

/* ---- lines ---- */

static const char script[] = "local s = require 'sectile'\n"                 /* 1 */
                             "-- a comment (with brackets\n"                 /* 2 */
                             "local a = s.array(\"a\", \"f32\")\n"           /* 3 */
                             "return s.kernel {\n"                           /* 4 */
                             "  name = \"x\", -- dims = wrong\n"             /* 5 */
                             "  dims = { \"i\" },\n"                         /* 6 */
                             "  inputs = { s.array(\"p\", \"f32\",\n"        /* 7 */
                             "    s.row_major, { at = { \"i + 1\" } }) },\n" /* 8 */
                             "  sizes = {\n"                                 /* 9 */
                             "    { i = 4 }, { i = 5 },\n"                   /* 10 */
                             "    { i = 6,\n"                                /* 11 */
                             "    },\n"                                      /* 12 */
                             "    { i = 7 } },\n"                            /* 13 */
                             "}\n"                                           /* 14 */
                             "local dims = 3\n";                             /* 15 */

static void test_find_line(void **state) {
  (void)state;
  assert_int_equal(sct_spec_find_line(script, 4, "dims", true), 6);
  assert_int_equal(sct_spec_find_line(script, 4, "at", true), 8);
  assert_int_equal(sct_spec_find_line(script, 7, "i + 1", false), 8);
  assert_int_equal(sct_spec_find_line(script, 3, "f32", false), 3);
  assert_int_equal(sct_spec_find_line(script, 4, "tolerance", true), 4); /* not there */
  assert_int_equal(sct_spec_find_line(script, 3, "dims", true), 3);      /* another statement */
  assert_int_equal(sct_spec_find_line(script, 4, "im", true), 4);        /* part of a word */
  assert_int_equal(sct_spec_find_line(script, 0, "at", true), 8);        /* anywhere */
  assert_int_equal(sct_spec_find_line(script, 99, "at", true), 99);
}

static void test_find_item(void **state) {
  (void)state;
  assert_int_equal(sct_spec_find_item(script, 4, "sizes", 0), 10);
  assert_int_equal(sct_spec_find_item(script, 4, "sizes", 1), 10);
  assert_int_equal(sct_spec_find_item(script, 4, "sizes", 2), 11);
  assert_int_equal(sct_spec_find_item(script, 4, "sizes", 3), 13);
  assert_int_equal(sct_spec_find_item(script, 4, "sizes", 4), 4); /* there are four */
  assert_int_equal(sct_spec_find_item(script, 4, "nothing", 0), 4);
}

static void test_fail_at_shows_the_source_line(void **state) {
  (void)state;
  const sct_source source = {"mine.lua", script};
  sct_spec with = {.sources = (sct_source *)&source, .n_sources = 1};
  sct_error e;
  assert_int_equal(sct_spec_fail_at(&with, &e, "mine.lua", 6, "bad %s", "dims"), SCT_ESPEC);
  assert_string_equal(e.text, "mine.lua:6: error: bad dims\n    dims = { \"i\" },");
  assert_int_equal(sct_spec_fail_at(&with, &e, "mine.lua", 600, "bad"), SCT_ESPEC);
  assert_string_equal(e.text, "mine.lua:600: error: bad");
  assert_int_equal(sct_spec_fail(&e, "not there.lua", 3, "bad"), SCT_ESPEC);
  assert_string_equal(e.text, "not there.lua:3: error: bad");
  assert_int_equal(sct_spec_fail(NULL, "not there.lua", 3, "bad"), SCT_ESPEC);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_changes_the_hash),
      cmocka_unit_test(test_find_line),
      cmocka_unit_test(test_find_item),
      cmocka_unit_test(test_fail_at_shows_the_source_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
