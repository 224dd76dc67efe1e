/* Outputs that reduce: which may be reduced together, what follows for the kernel, and how near a
 * sum must come. */
#include "spec_offset.h"
#include "spec_test.h"

#include <math.h>

/* dims row, col; input a, output t over `dims`. */
static void open_reduction(const char *type, const char *dims, sct_reduce reduce) {
  open_spec("row col");
  add_array("a", type, INPUT);
  add_array("t", type, OUTPUT)->reduce = reduce;
  set_dims("t", dims);
}

static void finish_reduction(const char *body) {
  bind();
  lay_out_rest();
  set_sizes("row=6 col=10; row=3 col=0");
  finish(body);
}

static void test_names(void **state) {
  (void)state;
  sct_reduce reduce = SCT_REDUCE_NONE;
  assert_true(sct_reduce_find(&reduce, "max"));
  assert_int_equal(reduce, SCT_REDUCE_MAX);
  assert_false(sct_reduce_find(&reduce, "median"));
  assert_int_equal(reduce, SCT_REDUCE_MAX);
  assert_string_equal(sct_reduce_name(SCT_REDUCE_SUM), "sum");
  assert_null(sct_reduce_name(SCT_REDUCE_NONE));
}

static void test_row_sums(void **state) {
  (void)state;
  open_reduction("f32", "row", SCT_REDUCE_SUM);
  finish_reduction("t = a * a;");
  assert_true(spec.reduces);
  assert_false(spec.reduced[0]);
  assert_true(spec.reduced[1]);
  assert_non_null(strstr(spec.canonical, "\n  reduce sum\n"));
  int64_t read = 0;
  int64_t written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, 240);
  assert_int_equal(written, 24);
  sct_spec_traffic(&spec, &spec.sizes[1], &read, &written);
  assert_int_equal(read, 0);
  assert_int_equal(written, 12); /* sums of nothing are written too */
  close_spec();
}

/* Onto what the output holds: that is read, too, but not by the body. */
static void test_row_sums_onto_what_is_there(void **state) {
  (void)state;
  open_reduction("f32", "row", SCT_REDUCE_SUM);
  find("t")->is_inout = true;
  finish_reduction("t = a;");
  assert_true(spec.reduces);
  assert_int_equal(spec.n_moves, 1); /* so the host knows what must come out */
  assert_true(sct_operand_is_prefilled(find("t")));
  assert_true(sct_operand_is_read_too(find("t")));
  assert_false(sct_operand_is_updated(find("t")));
  assert_non_null(strstr(spec.canonical, "inout t"));
  assert_non_null(strstr(spec.canonical, "\n  reduce sum\n"));
  int64_t read = 0, written = 0;
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, 240 + 24);
  assert_int_equal(written, 24);
  assert_true(sct_spec_tolerance(&spec, 1, &spec.sizes[0]) == 4 * 0x1p-24 * sqrt(11));
  close_spec();

  static const char *const bodies[] = {"t += a;", "t = t + a;", "if (a > 0) t = a;",
                                       "if (a > 0) t = a; else keep(t);"};
  static const char *const says[] = {
      "output 't' is reduced (sum), so the body only assigns it what one element contributes",
      "output 't' is reduced (sum), so the body cannot read it",
      "output t is not assigned when `a > 0` is false; add an `else` that assigns it (0 adds",
      "output 't' is reduced (sum), so nothing is kept"};
  for (int k = 0; k < SCT_COUNT(bodies); k++) {
    open_reduction("f32", "row", SCT_REDUCE_SUM);
    find("t")->is_inout = true;
    bind();
    lay_out_rest();
    set_sizes("row=6 col=10");
    assert_int_equal(try_finish(bodies[k]), SCT_ESPEC);
    assert_says(says[k]);
    close_spec();
  }
}

static void test_a_full_reduction_has_one_element(void **state) {
  (void)state;
  open_reduction("i32", "", SCT_REDUCE_MAX);
  finish_reduction("t = a;");
  assert_true(spec.reduced[0] && spec.reduced[1]);
  assert_int_equal(spec.n_moves, 1);
  assert_int_equal(sct_spec_bytes(&spec, 1, 0, &spec.sizes[0]), 4);
  const int64_t idx[] = {5, 9};
  assert_int_equal(spec_offset(&spec, 1, 0, 0, idx, &spec.sizes[0]), 0);
  close_spec();
}

static void test_others_do_not_reduce(void **state) {
  (void)state;
  open_spec("row col");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  finish_reduction("b = a;");
  assert_false(spec.reduces || spec.reduced[0] || spec.reduced[1]);
  assert_null(strstr(spec.canonical, "reduce"));
  assert_true(sct_spec_tolerance(&spec, 1, &spec.sizes[0]) == 0);
  close_spec();
}

static void test_the_hash_tells_how(void **state) {
  (void)state;
  sct_hash hash[3];
  for (int k = 0; k < 3; k++) {
    open_reduction("i32", "row", (sct_reduce)(k + 1));
    finish_reduction("t = a;");
    hash[k] = spec.hash;
    close_spec();
  }
  assert_memory_not_equal(&hash[0], &hash[1], sizeof hash[0]);
  assert_memory_not_equal(&hash[1], &hash[2], sizeof hash[0]);
}

static void test_records_and_several_outputs(void **state) {
  (void)state;
  open_spec("plane row col");
  add_array("a", "f32", INPUT);
  add_array("t", "s:f32 n:i32", OUTPUT)->reduce = SCT_REDUCE_SUM;
  add_array("m", "f32", OUTPUT)->reduce = SCT_REDUCE_MAX;
  set_dims("t", "row plane");
  set_dims("m", "plane row");
  bind();
  lay_out_rest();
  set_sizes("plane=2 row=6 col=10");
  finish("t.s = a; t.n = 1; m = a;");
  assert_false(spec.reduced[0] || spec.reduced[1]);
  assert_true(spec.reduced[2]);
  assert_true(sct_spec_tolerance(&spec, 1, &spec.sizes[0]) > 0);
  assert_true(sct_spec_tolerance(&spec, 2, &spec.sizes[0]) == 0); /* a maximum is exact */
  close_spec();
}

static void test_what_cannot_be_reduced(void **state) {
  (void)state;
  open_reduction("f32", "row", SCT_REDUCE_SUM);
  find("a")->reduce = SCT_REDUCE_SUM;
  assert_bind_fails("'a' is an input; reduce = \"sum\" belongs to an output");

  open_reduction("f32", "row", SCT_REDUCE_SUM);
  add_array("u", "f32", OUTPUT);
  assert_bind_fails(
      "output 't' reduces and output 'u' does not; a kernel reduces all of its outputs "
      "or none; what is reduced and used, or stored, next to other outputs is a value "
      "of steps, as in { reduce = { t = \"sum\" }, body = ... }");

  open_reduction("f32", "row col", SCT_REDUCE_MIN);
  assert_bind_fails("output 't' has all of the kernel's dimensions");

  open_reduction("f32", "rov", SCT_REDUCE_MIN);
  assert_bind_fails("'rov' is none; did you mean 'row'?");

  open_reduction("f32", "row", SCT_REDUCE_MIN);
  set_at("t", "row");
  assert_bind_fails("without `at`");

  open_reduction("f32", "row", SCT_REDUCE_MIN);
  set_extents("t", "2 * row");
  assert_bind_fails("without `extents`");

  open_reduction("f32x4", "row", SCT_REDUCE_SUM);
  assert_bind_fails("use a record of 4 fields");

  open_reduction("f32", "row", SCT_REDUCE_SUM);
  add_array("u", "f32", OUTPUT)->reduce = SCT_REDUCE_SUM;
  set_dims("u", "col");
  assert_bind_fails("outputs 't' and 'u' have different dimensions");

  open_reduction("f32", "row", SCT_REDUCE_SUM);
  add_array("u", "f32", OUTPUT)->reduce = SCT_REDUCE_SUM;
  set_dims("u", "");
  assert_bind_fails("outputs 't' and 'u' have different dimensions");
}

/* ---- where an extreme is ---- */

static void open_index(const char *type, sct_type compared) {
  open_spec("row col");
  add_array("a", "f32", INPUT);
  add_array("t", type, OUTPUT)->reduce = SCT_REDUCE_ARGMAX;
  set_dims("t", "row");
  find("t")->compared = compared;
}

static void test_an_index_is_no_value(void **state) {
  (void)state;
  open_index("i32", SCT_TYPE_F32);
  finish_reduction("t = a;");
  assert_int_equal(spec.n_moves, 1); /* of a float that is compared to an integer */
  assert_non_null(strstr(spec.canonical, "\n  reduce argmax of f32\n"));
  assert_true(sct_spec_tolerance(&spec, 1, &spec.sizes[0]) == 0);
  close_spec();

  open_index("i32", SCT_TYPE_I32);
  finish_reduction("t = a;");
  assert_int_equal(spec.n_moves, 0); /* a is rounded first */
  close_spec();

  open_index("f32", SCT_TYPE_F32);
  assert_bind_fails("'t' is an index (argmax), so its type is an integer such as i32 or i64");
  open_index("i32x2", SCT_TYPE_F32);
  assert_bind_fails("'t' is an index (argmax)");
  open_index("x:i32", SCT_TYPE_F32);
  assert_bind_fails("'t' is an index (argmax)");
}

static void test_an_index_fits_its_type(void **state) {
  (void)state;
  static const struct {
    const char *type;
    int64_t cols;
    bool fits;
  } cases[] = {{"i8", 127, true},
               {"i8", 128, false},
               {"u8", 255, true},
               {"u8", 256, false}, /* 255 is that of no element */
               {"i32", (int64_t)1 << 31, false},
               {"i64", (int64_t)1 << 33, true}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    char sizes[64];
    open_index(cases[k].type, SCT_TYPE_F32);
    bind();
    lay_out_rest();
    snprintf(sizes, sizeof sizes, "row=2 col=%lld", (long long)cases[k].cols);
    set_sizes(sizes);
    spec.body = "t = a;";
    assert_int_equal(sct_spec_finish(&spec, &err), cases[k].fits ? SCT_OK : SCT_ESPEC);
    if (!cases[k].fits) {
      assert_says("cannot hold indices up to");
    }
    close_spec();
  }
}

static void test_nothing_is_accumulated_at_an_index(void **state) {
  (void)state;
  sct_reduce how = SCT_REDUCE_NONE;
  assert_false(sct_accumulate_find(&how, "argmax") || sct_accumulate_find(&how, "sum") ||
               sct_accumulate_find(&how, "product") || sct_accumulate_find(&how, "mean"));
  assert_int_equal(how, SCT_REDUCE_NONE);
  assert_true(sct_accumulate_find(&how, "xor"));
}

/* ---- tolerances ---- */

static double tolerance_of(const char *type, int64_t n) {
  open_reduction(type, "row", SCT_REDUCE_SUM);
  finish_reduction("t = a;");
  const int64_t extent[] = {1000, n};
  const double tolerance = sct_spec_tolerance(&spec, 1, &(sct_size){.extent = (int64_t *)extent});
  close_spec();
  return tolerance;
}

static void test_the_tolerance_grows_with_the_root_of_the_summands(void **state) {
  (void)state;
  assert_true(tolerance_of("f32", 0) == 0x1p-22);
  assert_true(tolerance_of("f32", 1) == 0x1p-22);
  assert_true(tolerance_of("f32", 1 << 20) == 0x1p-12);
  assert_true(tolerance_of("f64", 1 << 20) == 0x1p-41);
  assert_true(tolerance_of("f16", 1) == 0x1p-10 + 0x1p-22);
  assert_true(tolerance_of("bf16", 1 << 20) == 0x1p-7 + 0x1p-12);
  assert_true(tolerance_of("u32", 1 << 20) == 0);
  /* a summand that is missing shows at every size that is verified in full */
  assert_true(tolerance_of("f32", 20000) < 1.0 / 20000 / 1.4);
}

static void test_a_given_tolerance_holds(void **state) {
  (void)state;
  open_reduction("f32", "row", SCT_REDUCE_SUM);
  spec.tolerance = 1e-3;
  spec.tolerance_given = true;
  finish_reduction("t = a;");
  assert_true(sct_spec_tolerance(&spec, 1, &spec.sizes[0]) == 1e-3);
  close_spec();
  open_reduction("f32", "row", SCT_REDUCE_SUM);
  spec.tolerance_given = true;
  assert_bind_fails("tolerance = 0 cannot hold for 't'");
  open_reduction("f32", "row", SCT_REDUCE_MAX);
  spec.tolerance_given = true;
  finish_reduction("t = a;");
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_row_sums),
      cmocka_unit_test(test_row_sums_onto_what_is_there),
      cmocka_unit_test(test_a_full_reduction_has_one_element),
      cmocka_unit_test(test_others_do_not_reduce),
      cmocka_unit_test(test_the_hash_tells_how),
      cmocka_unit_test(test_records_and_several_outputs),
      cmocka_unit_test(test_what_cannot_be_reduced),
      cmocka_unit_test(test_an_index_is_no_value),
      cmocka_unit_test(test_an_index_fits_its_type),
      cmocka_unit_test(test_nothing_is_accumulated_at_an_index),
      cmocka_unit_test(test_the_tolerance_grows_with_the_root_of_the_summands),
      cmocka_unit_test(test_a_given_tolerance_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
