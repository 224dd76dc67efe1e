/* Binding: extents, places, index arrays, and names that clash. */
#include "spec_test.h"

static void assert_expr(sct_expr e, const char *text) {
  sct_str printed = {0};
  sct_expr_print(&printed, spec.pool, e);
  assert_string_equal(sct_str_c(&printed), text);
  sct_str_free(&printed);
}

static void test_identity(void **state) {
  (void)state;
  open_spec("row col");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  bind();
  assert_int_equal(spec.n_extents, 2);
  assert_string_equal(spec.extent_names[1], "col");
  assert_expr(find("a")->at[0], "row");
  assert_expr(find("a")->extent[1], "n_col");
  assert_expr(find("a")->index[1], "a.1");
  assert_false(find("a")->is_index);
  assert_int_equal(find("a")->index_value, SCT_EXPR_NONE);
  close_spec();
}

static void test_shift_stride_pad(void **state) {
  (void)state;
  open_spec("i j");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_at("a", "3 * i + 1; n_j - 1 - j");
  set_extents("a", "3 * i, j");
  find("a")->pad[0] = 2;
  bind();
  assert_expr(find("a")->at[0], "3 * i + 1");
  assert_expr(find("a")->extent[0], "3 * n_i + 2");
  assert_expr(find("a")->extent[1], "n_j");
  close_spec();
}

static void test_gather(void **state) {
  (void)state;
  open_spec("i");
  add_array("pick", "i32", INPUT);
  add_array("table", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("table", "m");
  set_at("table", "pick");
  bind();
  assert_int_equal(spec.n_extents, 2);
  assert_string_equal(spec.extent_names[1], "m");
  assert_true(find("pick")->is_index);
  assert_false(find("pick")->index_scatters);
  assert_true(find("table")->through_index);
  assert_false(find("b")->through_index);
  assert_expr(find("pick")->index_limit, "n_m");
  assert_expr(find("pick")->index_value, "pick");
  close_spec();
}

/* a * pick + b < extent bounds pick; two uses take the smaller bound. */
static void test_index_limit(void **state) {
  (void)state;
  open_spec("i");
  add_array("pick", "u32", INPUT);
  add_array("t", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("t", "m");
  set_at("t", "4 * pick + 3");
  set_dims("b", "m2");
  set_at("b", "pick");
  bind();
  sct_expr_env env = {(sct_expr[]){spec.extent_var[1], spec.extent_var[2]}, NULL, 2};
  for (int64_t m = 0; m < 40; m++) {
    for (int64_t m2 = 0; m2 < 12; m2++) {
      int64_t limit = -1;
      env.values = (int64_t[]){m, m2};
      assert_int_equal(sct_expr_eval(spec.pool, find("pick")->index_limit, &env, &limit, &err),
                       SCT_OK);
      int64_t fits = 0; /* how many values 0, 1, ... stay inside both */
      while (4 * fits + 3 < m && fits < m2) {
        fits++;
      }
      assert_int_equal(limit < 0 ? 0 : limit, fits);
    }
  }
  assert_true(find("pick")->index_scatters);
  close_spec();
}

/* Elements of the index space n_i x n_j at which `at` with pick = value lies outside of [0, m). */
static bool stays_inside(sct_expr at, const int64_t *extent, int64_t value) {
  sct_expr vars[6] = {spec.dim_var[0], spec.dim_var[1], find("pick")->index_value};
  int64_t values[6] = {0, 0, value};
  memcpy(vars + 3, spec.extent_var, 3 * sizeof *vars);
  memcpy(values + 3, extent, 3 * sizeof *values);
  bool inside = true;
  for (values[0] = 0; values[0] < extent[0]; values[0]++) {
    for (values[1] = 0; values[1] < extent[1]; values[1]++) {
      const sct_expr_env env = {vars, values, 6};
      int64_t place = -1;
      assert_int_equal(sct_expr_eval(spec.pool, at, &env, &place, &err), SCT_OK);
      inside = inside && place >= 0 && place < extent[2];
    }
  }
  return inside;
}

/* An index and dimensions: all values below the limit keep every place inside, and no others do. */
static void test_limit_with_dimensions(void **state) {
  (void)state;
  static const char *const forms[] = {
      "pick + i",           "16 * pick + i % 16",          "pick * n_j + j",
      "2 * pick + i // 3",  "pick + n_i - 1 - i",          "pick + 2 * i + 3 * j",
      "pick + i * n_j + j", "pick + 2 + (2 * i + 1) // 4", "pick + i // (n_j + 1)"};
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    open_spec("i j");
    add_array("pick", "i32", INPUT);
    add_array("t", "f32", INPUT);
    add_array("b", "f32", OUTPUT);
    set_dims("t", "m");
    set_at("t", forms[k]);
    bind();
    for (int n = 0; n < 6 * 5 * 60; n++) {
      const int64_t extent[] = {1 + n % 6 * (n % 2 ? 1 : 7), 1 + n / 6 % 5, n / 30};
      const sct_expr_env env = {spec.extent_var, extent, 3};
      int64_t limit = -1;
      assert_int_equal(sct_expr_eval(spec.pool, find("pick")->index_limit, &env, &limit, &err),
                       SCT_OK);
      for (int64_t value = 0; value < limit; value++) {
        assert_true(stays_inside(find("t")->at[0], extent, value));
      }
      const bool is_tight = k != 1 || extent[0] >= 16; /* a remainder is taken to reach its last */
      assert_true(!is_tight || !stays_inside(find("t")->at[0], extent, limit < 0 ? 0 : limit));
    }
    close_spec();
  }
}

static void test_index_is_a_term(void **state) {
  (void)state;
  static const char *const bad[] = {
      "pick * 0 + i - pick", "pick // 2", "-1 * pick", "pick - 1", "i * pick",
      "pick + i * (i - 3)"};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    open_spec("i");
    add_array("pick", "i32", INPUT);
    add_array("t", "f32", INPUT);
    add_array("b", "f32", OUTPUT);
    set_at("t", bad[k]);
    assert_bind_fails("an index array stands alone, or as a * pick + b");
  }
  open_spec("i");
  add_array("page", "i32", INPUT);
  add_array("slot", "i32", INPUT);
  add_array("t", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_at("t", "16 * page + slot");
  assert_bind_fails("at = { \"slot\", \"page\" }");
}

/* Of an output no two values of the index may share a place. */
static void test_scattered_windows(void **state) {
  (void)state;
  static const struct {
    const char *at;
    bool meets;
  } cases[] = {{"pick", false},      {"4 * pick + j % 4", false}, {"n_j * pick + j", false},
               {"pick + j", true},   {"4 * pick + j % 5", true},  {"n_j * pick + i", true},
               {"n_i * pick", true}, {"pick + 3", false},         {"2 * pick + n_j", false}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_spec("i j");
    add_array("pick", "i32", INPUT);
    add_array("b", "f32", OUTPUT);
    set_dims("b", "m");
    set_at("b", cases[k].at);
    if (cases[k].meets) {
      assert_bind_fails("different values of 'pick' may lead to one element");
    } else {
      bind();
      assert_true(find("pick")->index_scatters);
      close_spec();
    }
  }
}

/* "base" is read at what "pick" holds, and the table at what "base" holds. */
static void open_chain(const char *base_at) {
  open_spec("i");
  add_array("base", "i32", INPUT); /* listed before what it is read through */
  add_array("pick", "i32", INPUT);
  add_array("t", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("base", "p");
  set_at("base", base_at);
  set_dims("t", "m");
  set_at("t", "base + 1");
}

static void test_chain(void **state) {
  (void)state;
  open_chain("pick");
  bind();
  assert_int_equal(spec.n_index, 2);
  assert_ptr_equal(&spec.operands[spec.index_order[0]], find("pick"));
  assert_ptr_equal(&spec.operands[spec.index_order[1]], find("base"));
  assert_int_equal(find("pick")->index_depth, 0);
  assert_int_equal(find("base")->index_depth, 1);
  assert_int_equal(find("t")->index_depth, 2);
  assert_true(find("base")->through_index);
  assert_expr(find("pick")->index_limit, "n_p");
  assert_expr(find("base")->index_limit, "n_m - 1");
  assert_false(find("pick")->index_scatters);
  close_spec();
}

static void test_chain_scatters(void **state) {
  (void)state;
  open_chain("pick");
  set_dims("b", "q");
  set_at("b", "base");
  bind();
  assert_true(find("pick")->index_scatters);
  assert_true(find("base")->index_scatters);
  close_spec();
}

static void test_cycle(void **state) {
  (void)state;
  open_chain("pick");
  set_dims("pick", "r");
  set_at("pick", "base");
  assert_bind_fails("is read through itself, by way of others");
}

static void test_what_cannot_be_an_index(void **state) {
  (void)state;
  static const struct {
    const char *at, *says;
  } cases[] = {
      {"a", "'a' cannot be an index"}, /* itself */
      {"r", "'r' cannot be an index"}, /* a record */
      {"f", "'f' cannot be an index"}, /* floating point */
      {"v", "'v' cannot be an index"}, /* a vector */
      {"b", "'b' cannot be an index"}, /* an output */
      {"pik", "did you mean 'pick'?"}, {"i +", "at of 'a', \"i +\": column"},
      {"n_k", "unknown name 'n_k'"},   {"'i'", "'i'"},
      {"i // 0", "at of 'a'"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_spec("i");
    add_array("a", "i32", INPUT);
    add_array("r", "x:i32", INPUT);
    add_array("f", "f32", INPUT);
    add_array("v", "i32x2", INPUT);
    add_array("pick", "i32", INPUT);
    add_array("b", "i32", OUTPUT);
    set_at("a", cases[k].at);
    assert_bind_fails(cases[k].says);
  }
}

static void test_own_dimension_needs_a_place(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("a", "m");
  assert_bind_fails("'a' has a dimension 'm' that the kernel has not");
}

static void test_extents_name_dimensions(void **state) {
  (void)state;
  open_spec("col");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_extents("a", "3 * cal");
  assert_bind_fails("extents of 'a', \"3 * cal\"");
  open_spec("col");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_extents("a", "3 * cal");
  assert_bind_fails("did you mean 'col'?");
}

/* Generated kernels call what is theirs otherwise where a user's name is the same. */
static void test_names_of_generated_code(void **state) {
  (void)state;
  open_spec("block line");
  add_scalar("lane", "f32");
  add_array("a", "f32", INPUT);
  add_array("a_tile", "f32", INPUT);
  add_array("first_line", "f32", INPUT);
  add_array("partial", "x:f32 y:f32", OUTPUT)->record.name = "exchange";
  bind();
  close_spec();
}

static void test_clashing_names(void **state) {
  (void)state;
  open_spec("i i");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("dimension 'i' appears twice");
  open_spec("i");
  add_scalar("i", "f32");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("scalar 'i': the name is already a dimension");
  open_spec("i");
  add_scalar("b", "f32");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("array 'b': the name is already a scalar");
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("a", "f32", OUTPUT);
  assert_bind_fails("array 'a' is in both inputs and outputs; to update it in place, list it in "
                    "outputs alone, with inout = true");
  open_spec("i");
  add_array("n_i", "f32", OUTPUT);
  assert_bind_fails("array 'n_i': the name is already the extent of a dimension");
  open_spec("i");
  add_array("n_m", "i32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("b", "m");
  set_at("b", "i");
  assert_bind_fails("array 'n_m': the name is already the extent of a dimension");
  open_spec("n_i i");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("dimension 'n_i' is called as the extent of 'i' is in bodies");
  open_spec("for");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("dimension 'for' is a word of CUDA C++");
  open_spec("i");
  add_array("b", "f32", OUTPUT);
  spec.name = "../x";
  assert_bind_fails("kernel name '../x' is not a name");
}

static void test_amounts(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "f32", INPUT);
  assert_bind_fails("at least one output");
  open_spec("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("1 to 12 dimensions, not 13");
  open_spec("");
  add_array("b", "f32", OUTPUT);
  assert_bind_fails("1 to 12 dimensions, not 0");
}

/* Unnamed records that are equal are one C type; named ones must agree. */
static void test_record_names(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "x:f32 y:f32", INPUT);
  add_array("c", "x:f32 y:f64", INPUT);
  add_array("s", "f32", INPUT);
  add_array("b", "x:f32 y:f32", OUTPUT);
  bind();
  assert_string_equal(find("a")->record.name, "a_record");
  assert_string_equal(find("c")->record.name, "c_record");
  assert_ptr_equal(find("b")->record.name, find("a")->record.name);
  assert_null(find("s")->record.name);
  close_spec();
  open_spec("i");
  add_array("a", "x:f32 y:f32", INPUT)->record.name = "point";
  add_array("b", "x:f32 y:f64", OUTPUT)->record.name = "point";
  assert_bind_fails("'a' and 'b' have different records with the name 'point'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_shift_stride_pad),
      cmocka_unit_test(test_gather),
      cmocka_unit_test(test_index_limit),
      cmocka_unit_test(test_limit_with_dimensions),
      cmocka_unit_test(test_index_is_a_term),
      cmocka_unit_test(test_scattered_windows),
      cmocka_unit_test(test_chain),
      cmocka_unit_test(test_chain_scatters),
      cmocka_unit_test(test_cycle),
      cmocka_unit_test(test_what_cannot_be_an_index),
      cmocka_unit_test(test_own_dimension_needs_a_place),
      cmocka_unit_test(test_extents_name_dimensions),
      cmocka_unit_test(test_names_of_generated_code),
      cmocka_unit_test(test_clashing_names),
      cmocka_unit_test(test_amounts),
      cmocka_unit_test(test_record_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
