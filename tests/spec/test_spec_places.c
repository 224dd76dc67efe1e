/* Sizes, places against extents, index arrays and their fills, traffic. */
#include "spec_offset.h"
#include "spec_test.h"

/* A map over one dimension with `at` and `extents` for its input. */
static void open_map(const char *at, const char *extents, int64_t pad, const char *sizes) {
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_at("a", at);
  if (extents) {
    set_extents("a", extents);
  }
  find("a")->pad[0] = pad;
  bind();
  lay_out_rest();
  set_sizes(sizes);
}

static void test_places_inside(void **state) {
  (void)state;
  static const struct {
    const char *at, *extents;
    int64_t pad;
  } cases[] = {
      {"i", NULL, 0},
      {"i + 1", NULL, 1},
      {"3 * i + 2", "3 * i", 0},
      {"n_i - 1 - i", NULL, 0},
      {"i // 32", "(i + 31) // 32", 0},
      {"i % 7", NULL, 7},
      {"(i + 5) % n_i", NULL, 0},
      {"min(i + 3, n_i - 1)", NULL, 0},
      {"i ^ 1", NULL, 1},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_map(cases[k].at, cases[k].extents, cases[k].pad, "i=0; i=1; i=2; i=1000; i=1048577");
    if (try_finish("b = a;") != SCT_OK) {
      fail_msg("%s: %s", cases[k].at, err.text);
    }
    close_spec();
  }
}

static void test_places_outside(void **state) {
  (void)state;
  static const struct {
    const char *at, *extents;
    int64_t pad;
    const char *sizes, *says;
  } cases[] = {
      {"i + 1", NULL, 0, "i=10", "gives 10 for i = 9, outside [0, 10) (size 'i=10')"},
      {"i + 1", NULL, 0, "i=100000000", "gives 100000000 for i = 99999999"}, /* one of 10^8 */
      {"i - 1", NULL, 0, "i=10", "gives -1 for i = 0, outside [0, 10)"},
      {"3 * i", NULL, 0, "i=10", "gives 27 for i = 9, outside [0, 10)"},
      {"3 * i + 3", "3 * i", 0, "i=0; i=10", "gives 30 for i = 9, outside [0, 30)"},
      {"n_i - i", NULL, 0, "i=10", "gives 10 for"},
      {"i // 32", "i // 32", 0, "i=64; i=65", "gives 2 for i = 64, outside [0, 2)"},
      {"i % 7", "5", 0, "i=7", "outside [0, 5)"}, /* the corners 0 and 6 % 7 show it */
      {"(i * i) % 11", "9", 0, "i=12", "gives 9 for i = 3, outside [0, 9)"}, /* no corner does */
      {"i // n_i", NULL, -1, "i=1", "outside [0, 0)"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_map(cases[k].at, cases[k].extents, cases[k].pad, cases[k].sizes);
    assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
    assert_says("spec.lua:2: error: at of 'a'");
    assert_says(cases[k].says);
    close_spec();
  }
}

static void test_bad_sizes(void **state) {
  (void)state;
  static const struct {
    const char *sizes, *says;
  } cases[] = {
      {"", "at least one size, as in sizes = { { i = 1024 } }"},
      {"i=4; i=-1", "spec.lua:21: error: extent i = -1 is negative"},
      {"i=2000000000000", "extent i = 2000000000000 is too large"},
      {"i=4; i=5; i=4", "spec.lua:22: error: size 'i=4' appears twice"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_map("i", NULL, 0, cases[k].sizes);
    assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
    assert_says(cases[k].says);
    close_spec();
  }
  open_map("i", NULL, -5, "i=4");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("'a' has a negative extent (-1) at size 'i=4'");
  close_spec();
  open_map("i", NULL, 0, "i=4");
  spec.tolerance = -1;
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("tolerance = -1; expected a number from 0 to 1");
  close_spec();
}

static void test_outputs_are_written_once(void **state) {
  (void)state;
  static const char *const bad[] = {"i // 2", "0", "i % 3", "2 * (i // 2)"};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    open_spec("i");
    add_array("a", "f32", INPUT);
    add_array("b", "f32", OUTPUT);
    set_at("b", bad[k]);
    bind();
    lay_out_rest();
    set_sizes("i=8");
    assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
    assert_says("output 'b' is written twice: elements (");
    close_spec();
  }
  open_spec("i j"); /* an output without one of the dimensions */
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("b", "i");
  bind();
  lay_out_rest();
  set_sizes("i=8 j=3");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("elements (0, 0) and (0, 1) both write element (0)");
  close_spec();
}

/* ---- index arrays ---- */

static void open_gather(const char *type, int scatter, const char *sizes) {
  open_spec("i");
  add_array("pick", type, INPUT);
  add_array("t", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims(scatter ? "b" : "t", "m");
  set_at(scatter ? "b" : "t", "pick");
  bind();
  lay_out_rest();
  set_sizes(sizes);
}

static void assert_values(int size, bool permutation, int64_t limit) {
  const int pick = (int)(find("pick") - spec.operands);
  const sct_size *s = &spec.sizes[size];
  bool *seen = sct_alloc((size_t)limit);
  int64_t repeated = 0;
  for (int64_t k = 0; k < s->extent[0]; k++) {
    const int64_t value = sct_spec_index_value(&spec, pick, k, s);
    assert_in_range(value, 0, limit - 1);
    repeated += seen[value];
    seen[value] = true;
  }
  sct_free(seen);
  assert_int_equal(permutation, repeated == 0);
}

static void test_fills(void **state) {
  (void)state;
  open_gather("i32", 0,
              "i=1000 m=1000; i=1000 m=700; i=1000 m=1000 pick=random; i=9 m=9 pick=identity");
  finish("b = t;");
  assert_values(0, true, 1000); /* lengths agree: permuted */
  assert_values(1, false, 700); /* else random */
  assert_values(2, false, 1000);
  for (int64_t k = 0; k < 9; k++) {
    assert_int_equal(sct_spec_index_value(&spec, 0, k, &spec.sizes[3]), k);
  }
  assert_string_equal(spec.sizes[2].label, "i=1000 m=1000 pick=random");
  assert_string_equal(spec.sizes[1].label, "i=1000 m=700");
  close_spec();
}

static void test_scatter_values_are_distinct(void **state) {
  (void)state;
  open_gather("i32", 1, "i=500 m=3000");
  finish("b = t;");
  assert_values(0, true, 3000); /* permuted although the lengths differ */
  close_spec();
  open_gather("i32", 1, "i=500 m=499");
  assert_int_equal(try_finish("b = t;"), SCT_ESPEC);
  assert_says(
      "spec.lua:20: error: an output is written through 'pick', so its values must be distinct");
  assert_says("more elements than there are places");
  close_spec();
  open_gather("i32", 1, "i=5 m=50 pick=random");
  assert_int_equal(try_finish("b = t;"), SCT_ESPEC);
  assert_says("fill it with identity or permuted");
  close_spec();
}

static void test_index_type_must_hold_the_values(void **state) {
  (void)state;
  open_gather("u8", 0, "i=4 m=256");
  finish("b = t;");
  close_spec();
  open_gather("u8", 0, "i=4 m=257");
  assert_int_equal(try_finish("b = t;"), SCT_ESPEC);
  assert_says("index array 'pick' of type u8 cannot hold indices up to 256");
  close_spec();
  open_gather("i8", 0, "i=4 m=129");
  assert_int_equal(try_finish("b = t;"), SCT_ESPEC);
  assert_says("of type i8 cannot hold indices up to 128");
  close_spec();
  open_gather("i32", 0, "i=4 m=0");
  assert_int_equal(try_finish("b = t;"), SCT_ESPEC);
  assert_says("there is no element that 'pick' could point to");
  close_spec();
}

static void test_host_offset_follows_the_index(void **state) {
  (void)state;
  open_gather("i32", 0, "i=100 m=70");
  finish("b = t;");
  const sct_size *s = &spec.sizes[0];
  for (int64_t i = 0; i < 100; i++) {
    const int64_t value = sct_spec_index_value(&spec, 0, i, s);
    assert_int_equal(spec_offset(&spec, 1, 0, 0, &i, s), 4 * value);
    assert_int_equal(spec_offset(&spec, 2, 0, 0, &i, s), 4 * i);
  }
  assert_int_equal(sct_spec_bytes(&spec, 1, 0, s), 280);
  assert_int_equal(sct_spec_elements(&spec, s), 100);
  close_spec();
}

/* ---- traffic ---- */

static void assert_traffic(int64_t reads, int64_t writes) {
  int64_t r = -1;
  int64_t w = -1;
  sct_spec_traffic(&spec, &spec.sizes[0], &r, &w);
  assert_int_equal(r, reads);
  assert_int_equal(w, writes);
}

static void test_traffic(void **state) {
  (void)state;
  open_spec("i j");
  add_array("a", "x:f32 y:f64 z:f32", INPUT); /* y is not used */
  add_array("bias", "f32", INPUT);
  add_array("unused", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  set_dims("bias", "j");
  bind();
  lay_out_rest();
  set_sizes("i=10 j=7");
  finish("b = a.x + a.z + bias;");
  assert_traffic(70 * 8 + 7 * 4, 70 * 4);
  close_spec();
  open_map("3 * i", "3 * i", 0, "i=10"); /* touches 10 of 30 */
  finish("b = a;");
  assert_traffic(40, 40);
  close_spec();
  open_map("i // 32", "(i + 31) // 32", 0, "i=64"); /* each of 2 many times */
  finish("b = a;");
  assert_traffic(8, 256);
  close_spec();
  open_gather("i32", 0, "i=100 m=10");
  finish("b = t;");
  assert_traffic(100 * 4 + 100 * 4, 400);
  close_spec();
  open_map("i", NULL, 0, "i=0");
  finish("b = a;");
  assert_traffic(0, 0);
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_inside),
      cmocka_unit_test(test_places_outside),
      cmocka_unit_test(test_bad_sizes),
      cmocka_unit_test(test_outputs_are_written_once),
      cmocka_unit_test(test_fills),
      cmocka_unit_test(test_scatter_values_are_distinct),
      cmocka_unit_test(test_index_type_must_hold_the_values),
      cmocka_unit_test(test_host_offset_follows_the_index),
      cmocka_unit_test(test_traffic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
