/* What a call must satisfy (spec_reach.c): over small extents of every combination, the conditions
 * hold where a walk over all elements finds every place in its array, and no element written twice.
 */
#include "spec_test.h"

enum { MOST = 4 }; /* extents 0 to MOST - 1 or so */

typedef struct reach_case {
  const char *dims, *at, *extents; /* of the output `o`, or of the input `a` */
  const char *sizes;
  int n_limits; /* how many conditions there are */
} reach_case;

/* Every element's place: inside, and where `apart` no two the same. */
static bool walk(const sct_operand *op, const int64_t *extent, bool apart) {
  int64_t idx[SCT_MAX_DIMS] = {0}, seen[256], n_seen = 0;
  sct_expr vars[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  int64_t values[SCT_MAX_DIMS + SCT_MAX_EXTENTS], total = 1;
  for (int d = 0; d < spec.n_dims; d++) {
    total *= extent[d];
  }
  for (int64_t e = 0; e < total; e++) {
    int64_t left = e, number = 0;
    int n = 0;
    for (int d = spec.n_dims - 1; d >= 0; d--) {
      idx[d] = left % extent[d];
      left /= extent[d];
      vars[n] = spec.dim_var[d];
      values[n++] = idx[d];
    }
    for (int k = 0; k < spec.n_extents; k++) {
      vars[n] = spec.extent_var[k];
      values[n++] = extent[k];
    }
    for (int d = 0; d < op->n_dims; d++) {
      int64_t at = 0, most = 0;
      const sct_expr_env env = {vars, values, n};
      assert_int_equal(sct_expr_eval(spec.pool, op->at[d], &env, &at, &err), SCT_OK);
      assert_int_equal(sct_expr_eval(spec.pool, op->extent[d], &env, &most, &err), SCT_OK);
      if (at < 0 || at >= most) {
        return false;
      }
      number = number * 1000 + at;
    }
    for (int64_t k = 0; k < n_seen && apart; k++) {
      if (seen[k] == number) {
        return false;
      }
    }
    assert_in_range(n_seen, 0, SCT_COUNT(seen) - 1);
    seen[n_seen++] = number;
  }
  return true;
}

static bool hold(const int64_t *extent) {
  bool all = true;
  for (int k = 0; k < spec.n_limits; k++) {
    all = all && sct_spec_limit_holds(&spec, &spec.limits[k], extent);
  }
  return all;
}

/* All extents from `least` on; elements are there. */
static void try_all(const char *name, const sct_operand *op) {
  int64_t extent[SCT_MAX_EXTENTS], combinations = 1, held = 0;
  for (int k = 0; k < spec.n_extents; k++) {
    combinations *= k < spec.n_dims ? MOST : 2 * MOST;
  }
  for (int64_t c = 0; c < combinations; c++) {
    int64_t left = c;
    for (int k = 0; k < spec.n_extents; k++) {
      const int64_t many = k < spec.n_dims ? MOST : 2 * MOST;
      extent[k] = left % many + (k < spec.n_dims);
      left /= many;
    }
    const bool right = walk(op, extent, op->is_output);
    held += right;
    if (hold(extent) != right) {
      sct_str text = {0};
      for (int k = 0; k < spec.n_extents; k++) {
        sct_str_printf(&text, " %s=%lld", spec.extent_names[k], (long long)extent[k]);
      }
      fail_msg("%s at%s: %s", name, sct_str_c(&text), right ? "refused" : "accepted");
    }
  }
  assert_true(held > 0);
}

static void test_outputs(void **state) {
  (void)state;
  static const reach_case cases[] = {
      {"t", "n_to * i + j", "to * i", "i=3 j=2 to=4", 2},
      {"t", "n_to * j + i", NULL, "i=3 j=2 to=4 t=12", 2},
      {"t", "n_to + i + n_i * j", NULL, "i=3 j=2 to=4 t=12", 1},
      {"r ld", "i; j", NULL, "i=3 j=2 r=4 ld=4", 2},
      {"r ld", "j; n_i - 1 - i", NULL, "i=3 j=2 r=4 ld=4", 2},
      {"i j", "i; j", NULL, "i=3 j=2", 0},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_spec("i j");
    add_array("a", "f32", INPUT);
    sct_operand *o = add_array("o", "f32", OUTPUT);
    if (strstr(cases[k].at, "n_to")) {
      set_numbers("to");
    }
    set_dims("o", cases[k].dims);
    set_at("o", cases[k].at);
    if (cases[k].extents) {
      set_extents("o", cases[k].extents);
    }
    bind();
    lay_out_rest();
    set_sizes(cases[k].sizes);
    finish("o = a;");
    if (spec.n_limits != cases[k].n_limits) {
      fail_msg("%s: %d limits", cases[k].at, spec.n_limits);
    }
    try_all(cases[k].at, o);
    close_spec();
  }
}

static void test_inputs(void **state) {
  (void)state;
  static const reach_case cases[] = {
      {"t", "n_to * i + j", NULL, "i=3 j=2 to=2 t=12", 1},
      {"t", "i // 2 + 3 * j", NULL, "i=3 j=2 t=12", 1},
      {"t", "i // n_to + j", NULL, "i=3 j=2 to=2 t=12", -1},
      {"t", "i % 3 + j", NULL, "i=3 j=2 t=12", 1},
      {"t", "max(i, 1) + min(j, 2)", NULL, "i=3 j=2 t=12", -1},
      {"t u", "j; i // 2", NULL, "i=3 j=2 t=12 u=2", 2},
      {"t", "j + 2", NULL, "i=3 j=2 t=12", 1},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_spec("i j");
    sct_operand *a = add_array("a", "f32", INPUT);
    add_array("o", "f32", OUTPUT);
    if (strstr(cases[k].at, "n_to")) {
      set_numbers("to");
    }
    set_dims("a", cases[k].dims);
    set_at("a", cases[k].at);
    bind();
    lay_out_rest();
    set_sizes(cases[k].sizes);
    finish("o = a;");
    if (cases[k].n_limits >= 0) {
      if (spec.n_limits != cases[k].n_limits) {
        fail_msg("%s: %d limits", cases[k].at, spec.n_limits);
      }
      try_all(cases[k].at, a);
    }
    close_spec();
  }
}

/* Nothing is said of places in which a dimension stands twice, or that an index array gives. */
static void test_what_is_not_known(void **state) {
  (void)state;
  open_spec("i");
  add_array("pick", "i32", INPUT);
  add_array("a", "f32", INPUT);
  add_array("b", "f32", INPUT);
  add_array("o", "f32", OUTPUT);
  set_dims("a", "t");
  set_at("a", "i // 4 * 2 + i % 4");
  set_dims("b", "u");
  set_at("b", "pick");
  bind();
  lay_out_rest();
  set_sizes("i=8 t=8 u=8");
  finish("o = a + b;");
  assert_int_equal(spec.n_limits, 0);
  close_spec();
}

static void test_a_size_that_writes_twice(void **state) {
  (void)state;
  open_spec("i j");
  add_array("a", "f32", INPUT);
  add_array("o", "f32", OUTPUT);
  set_numbers("to");
  set_dims("o", "t");
  set_at("o", "n_to * i + j");
  bind();
  lay_out_rest();
  set_sizes("i=3 j=4 to=4 t=100; i=3 j=4 to=3 t=100");
  assert_int_equal(try_finish("o = a;"), SCT_ESPEC);
  assert_says(
      "output 'o' is written twice at size 'i=3 j=4 to=3 t=100': steps of its place overlap");
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outputs),
      cmocka_unit_test(test_inputs),
      cmocka_unit_test(test_what_is_not_known),
      cmocka_unit_test(test_a_size_that_writes_twice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
