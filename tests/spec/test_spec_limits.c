/* The ends of every range: how many dimensions, arrays, fields, names and elements there may be,
 * and what happens one beyond. */
#include "spec_offset.h"
#include "spec_test.h"

static void test_many_dimensions(void **state) {
  (void)state;
  open_spec("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12");
  add_array("x", "f32", INPUT);
  add_array("y", "f32", OUTPUT);
  bind();
  lay_out("x", AOSOA, 4);
  lay_out_rest();
  set_sizes("a1=2 a2=3 a3=1 a4=2 a5=3 a6=2 a7=1 a8=2 a9=1 a10=1 a11=2 a12=1");
  finish("y = x;");
  assert_int_equal(sct_spec_elements(&spec, &spec.sizes[0]), 288);
  const int64_t idx[] = {1, 2, 0, 1, 2, 1, 0, 1, 0, 0, 1, 0};
  assert_int_equal(spec_offset(&spec, 1, 0, 0, idx, &spec.sizes[0]), 287 * 4);
  close_spec();
}

static void test_an_array_of_too_many_dimensions(void **state) {
  (void)state;
  open_spec("i");
  add_array("y", "f32", OUTPUT);
  static const char *dims[] = {"i",  "m1", "m2", "m3",  "m4",  "m5", "m6",
                               "m7", "m8", "m9", "m10", "m11", "m12"};
  find("y")->dims = dims;
  find("y")->n_dims = 13;
  assert_bind_fails("array 'y' has at most 12 dimensions, not 13");
}

static void test_too_many_extents(void **state) {
  (void)state;
  open_spec("i");
  static char names[27][8];
  for (int op = 0; op < 3; op++) {
    static const char *array_names[] = {"x", "y", "z"};
    sct_operand *o = add_array(array_names[op], "f32", op == 2 ? OUTPUT : INPUT);
    o->n_dims = 9;
    o->dims = SCT_ARENA_NEW(&spec.arena, const char *, 9);
    for (int d = 0; d < 9; d++) {
      snprintf(names[op * 9 + d], sizeof names[0], "m%d", op * 9 + d);
      o->dims[d] = names[op * 9 + d];
      o->at_text[d] = "i";
    }
  }
  assert_bind_fails("more than 24 dimensions in all");
}

static void test_too_many_arrays(void **state) {
  (void)state;
  open_spec("i");
  spec.operands = SCT_ARENA_NEW(&spec.arena, sct_operand, SCT_MAX_OPERANDS + 1);
  static char names[SCT_MAX_OPERANDS + 1][8];
  for (int k = 0; k <= SCT_MAX_OPERANDS; k++) {
    snprintf(names[k], sizeof names[k], "a%d", k);
    add_array(names[k], "f32", k == SCT_MAX_OPERANDS ? OUTPUT : INPUT);
  }
  assert_bind_fails("at most 32 arrays");
}

static void test_a_full_kernel(void **state) {
  (void)state;
  open_spec("i");
  spec.operands = SCT_ARENA_NEW(&spec.arena, sct_operand, SCT_MAX_OPERANDS);
  static char names[SCT_MAX_OPERANDS][8];
  sct_str body = {0};
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    snprintf(names[k], sizeof names[k], "a%d", k);
    add_array(names[k], "f32", k < SCT_MAX_OPERANDS / 2 ? INPUT : OUTPUT);
    if (k >= SCT_MAX_OPERANDS / 2) {
      sct_str_printf(&body, "a%d = a%d; ", k, k - SCT_MAX_OPERANDS / 2);
    }
  }
  bind();
  lay_out_rest();
  set_sizes("i=100");
  finish(sct_str_c(&body));
  assert_int_equal(spec.n_moves, SCT_MAX_OPERANDS / 2);
  assert_true(spec.component_wise);
  int64_t read = 0;
  int64_t written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, 16 * 400);
  assert_int_equal(written, 16 * 400);
  sct_str_free(&body);
  close_spec();
}

static void test_a_record_of_many_fields(void **state) {
  (void)state;
  sct_str fields = {0};
  for (int k = 0; k < SCT_MAX_FIELDS; k++) {
    sct_str_printf(&fields, "g%d:%s ", k, k % 3 == 0 ? "u8" : k % 3 == 1 ? "f64" : "i16");
  }
  open_spec("i");
  add_array("x", sct_str_c(&fields), INPUT);
  add_array("y", sct_str_c(&fields), OUTPUT);
  bind();
  lay_out("x", SOA, 0);
  lay_out("x", AOSOA, 32);
  lay_out_rest();
  set_sizes("i=1; i=1000");
  finish("y = x;");
  assert_int_equal(spec.n_moves, SCT_MAX_FIELDS);
  assert_false(spec.component_wise);
  sct_str_free(&fields);
  close_spec();
}

/* ---- bodies ---- */

static sct_status finish_body(const char *body) {
  open_spec("i");
  add_array("x", "f32", INPUT);
  add_array("y", "f32", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=4");
  const sct_status status = try_finish(body);
  close_spec();
  return status;
}

static void test_many_names_in_a_body(void **state) {
  (void)state;
  for (int n = 64; n <= 65; n++) {
    sct_str body = {0};
    sct_str_append(&body, "y = x; ");
    for (int k = 0; k < n; k++) {
      sct_str_printf(&body, "float t%d = x; ", k);
    }
    assert_int_equal(finish_body(sct_str_c(&body)), n == 64 ? SCT_OK : SCT_ESPEC);
    sct_str_free(&body);
  }
  assert_says("a body declares at most 64 names");
}

static void test_deep_brackets(void **state) {
  (void)state;
  for (int n = 64; n <= 65; n++) {
    sct_str body = {0};
    sct_str_append(&body, "y = ");
    for (int k = 0; k < n; k++) {
      sct_str_append(&body, "(");
    }
    sct_str_append(&body, "x");
    for (int k = 0; k < n; k++) {
      sct_str_append(&body, ")");
    }
    sct_str_append(&body, ";");
    assert_int_equal(finish_body(sct_str_c(&body)), n == 64 ? SCT_OK : SCT_ESPEC);
    sct_str_free(&body);
  }
  assert_says("brackets nest too deep");
}

static void test_a_long_body(void **state) {
  (void)state;
  sct_str body = {0};
  sct_str_append(&body, "y = x;");
  for (int k = 0; k < 5000; k++) {
    sct_str_append(&body, " y += x;\n");
  }
  assert_int_equal(finish_body(sct_str_c(&body)), SCT_OK);
  sct_str_free(&body);
}

/* Shortest bodies are refused in good order: no reader looks past the end. (What only the compiler
 * can tell, such as "y = ;", is left to it.) */
static void test_tiny_bodies(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "x",   "y",    ";",  "y;",   "x.", "y.;", "y=", "=;", "x;",       ".;",   "y=x",
      "++;", "y++;", "(;", "int;", "{}", "y.x", "1;", "?;", "float x;", "y==x;"};
  for (int k = 0; k < SCT_COUNT(bodies); k++) {
    if (finish_body(bodies[k]) == SCT_OK) {
      fail_msg("accepted: %s", bodies[k]);
    }
  }
  assert_int_equal(finish_body("y=x;"), SCT_OK);
}

/* Random token soup: refused or whole, never a crash; what passes assigns the output. */
static void test_random_bodies(void **state) {
  (void)state;
  static const char *const tokens[] = {"y", "x",     "=", ";",     "(",  ")", "{",    "}",
                                       "+", ".",     "1", "float", "if", "t", ",",    "[",
                                       "]", "fabsf", "i", "else",  "+=", "-", "2.5f", "y = x;"};
  const uint64_t seed = 31337;
  sct_rng rng = sct_rng_new(seed);
  int accepted = 0;
  for (int k = 0; k < 4000; k++) {
    sct_str body = {0};
    const int n = 1 + (int)sct_rng_below(&rng, 12);
    for (int w = 0; w < n; w++) {
      sct_str_printf(&body, "%s ", tokens[sct_rng_below(&rng, SCT_COUNT(tokens))]);
    }
    if (finish_body(sct_str_c(&body)) == SCT_OK) {
      accepted++;
      assert_non_null(strstr(sct_str_c(&body), "y"));
      assert_non_null(strstr(sct_str_c(&body), "="));
    } else {
      assert_int_equal(err.code, SCT_ESPEC);
      assert_says("spec.lua:10: error: ");
    }
    sct_str_free(&body);
  }
  print_message("seed %llu: %d of 4000 random bodies accepted\n", (unsigned long long)seed,
                accepted);
  assert_in_range(accepted, 1, 400);
}

/* ---- sizes ---- */

static void test_large_sizes(void **state) {
  (void)state;
  open_spec("i j");
  add_array("x", "f64", INPUT);
  add_array("y", "f64", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=1048576 j=1048576");
  finish("y = x;"); /* 2^40 elements, 2^43 bytes */
  assert_int_equal(sct_spec_bytes(&spec, 0, 0, &spec.sizes[0]), (int64_t)1 << 43);
  int64_t read = 0;
  int64_t written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, (int64_t)1 << 43);
  close_spec();
  open_spec("i j");
  add_array("x", "f64", INPUT);
  add_array("y", "f64", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=1048576 j=1048577");
  assert_int_equal(try_finish("y = x;"), SCT_ESPEC);
  assert_says("more than 2^40 elements");
  close_spec();
}

static void test_a_place_too_large_to_compute(void **state) {
  (void)state;
  open_spec("i");
  add_array("x", "f32", INPUT);
  add_array("y", "f32", OUTPUT);
  set_at("x", "i * 9223372036854775807");
  bind();
  lay_out_rest();
  set_sizes("i=4");
  assert_int_equal(try_finish("y = x;"), SCT_ESPEC);
  close_spec();
  open_spec("i");
  add_array("x", "f32", INPUT);
  add_array("y", "f32", OUTPUT);
  find("x")->pad[0] = INT64_MAX;
  if (sct_spec_bind(&spec, &err) == SCT_OK) {
    lay_out_rest();
    set_sizes("i=4");
    assert_int_equal(try_finish("y = x;"), SCT_ESPEC);
  }
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_dimensions),
      cmocka_unit_test(test_an_array_of_too_many_dimensions),
      cmocka_unit_test(test_too_many_extents),
      cmocka_unit_test(test_too_many_arrays),
      cmocka_unit_test(test_a_full_kernel),
      cmocka_unit_test(test_a_record_of_many_fields),
      cmocka_unit_test(test_many_names_in_a_body),
      cmocka_unit_test(test_deep_brackets),
      cmocka_unit_test(test_a_long_body),
      cmocka_unit_test(test_tiny_bodies),
      cmocka_unit_test(test_random_bodies),
      cmocka_unit_test(test_large_sizes),
      cmocka_unit_test(test_a_place_too_large_to_compute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
