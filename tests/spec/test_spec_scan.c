/* Outputs that are scanned: which may be scanned together, along what, and what their bodies may
 * say. */
#include "spec_test.h"

#include <math.h>

/* dims row, col; input a, output o of that type. */
static sct_operand *open_scan(const char *type) {
  open_spec("row col");
  add_array("a", type, INPUT);
  sct_operand *o = add_array("o", type, OUTPUT);
  o->scan = SCT_REDUCE_SUM;
  return o;
}

static void finish_scan(const char *body) {
  bind();
  lay_out_rest();
  set_sizes("row=6 col=10; row=3 col=0");
  finish(body);
}

static void assert_body_fails(const char *body, const char *says) {
  open_scan("f32");
  bind();
  lay_out_rest();
  set_sizes("row=6 col=10");
  spec.body = body;
  assert_int_equal(sct_spec_finish(&spec, &err), SCT_ESPEC);
  assert_says(says);
  close_spec();
}

static void test_what_it_becomes(void **state) {
  (void)state;
  open_scan("f32");
  finish_scan("o = a;");
  assert_true(spec.scans && !spec.reduces && spec.scan_dim == 1 && spec.n_moves == 1);
  assert_false(spec.component_wise); /* elements are not independent */
  assert_true(sct_spec_combines_along(&spec, 1) && !sct_spec_combines_along(&spec, 0));
  assert_non_null(strstr(spec.canonical, "\n  inclusive scan sum along col\n"));
  const int64_t extent[] = {6, 10000};
  assert_true(sct_spec_tolerance(&spec, 1, &(sct_size){.extent = (int64_t *)extent}) ==
              400 * 0x1p-24); /* 4 u sqrt(10000) */
  close_spec();

  sct_operand *o = open_scan("i32");
  o->along = "row";
  o->exclusive = true;
  o->scan = SCT_REDUCE_MAX;
  finish_scan("o = a;");
  assert_int_equal(spec.scan_dim, 0);
  assert_non_null(strstr(spec.canonical, "\n  exclusive scan max along row\n"));
  assert_true(sct_spec_tolerance(&spec, 1, &(sct_size){.extent = (int64_t *)extent}) == 0);
  close_spec();
}

static void test_others_do_not_scan(void **state) {
  (void)state;
  open_scan("f32")->scan = SCT_REDUCE_NONE;
  finish_scan("o = a;");
  assert_false(spec.scans || sct_spec_combines_along(&spec, 0) ||
               sct_spec_combines_along(&spec, 1));
  assert_true(spec.component_wise);
  close_spec();
}

static void test_what_cannot_be_scanned(void **state) {
  (void)state;
  open_scan("f32");
  find("a")->scan = SCT_REDUCE_SUM;
  assert_bind_fails("'a' is an input; scan = \"sum\" belongs to an output");

  open_scan("f32");
  add_array("u", "f32", OUTPUT);
  assert_bind_fails("output 'o' is scanned and output 'u' is not");

  open_scan("f32")->along = "rov";
  assert_bind_fails("'rov' is none; did you mean 'row'?");

  open_scan("f32");
  add_array("u", "f32", OUTPUT)->scan = SCT_REDUCE_MIN;
  find("u")->along = "row";
  assert_bind_fails("outputs 'o' and 'u' are scanned along 'col' and 'row'");

  open_scan("f32")->is_inout = true;
  assert_bind_fails("output 'o' has scan and inout");

  open_scan("f32x4");
  assert_bind_fails("use a record of 4 fields");

  open_scan("bool");
  assert_bind_fails("output 'o' scans values of type bool; use u8");

  open_scan("f32");
  spec.tolerance_given = true;
  assert_bind_fails("tolerance = 0 cannot hold for 'o'");

  open_scan("f32");
  set_dims("o", "row");
  set_at("o", "row");
  bind();
  lay_out_rest();
  set_sizes("row=6 col=10");
  spec.body = "o = a;";
  assert_int_equal(sct_spec_finish(&spec, &err), SCT_ESPEC);
  assert_says("output 'o' is written twice");
  close_spec();
}

static void test_what_bodies_cannot_say(void **state) {
  (void)state;
  assert_body_fails("o += a;", "write `=`, as in `o = ...;`");
  assert_body_fails("float x = o; o = a;", "output 'o' is scanned (sum), so the body cannot read");
  assert_body_fails("if (a > 0) o = a; else keep(o);",
                    "output 'o' is scanned (sum), so nothing is");
  assert_body_fails("if (a > 0) o = a;", "(0 adds nothing to a sum)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_becomes),
      cmocka_unit_test(test_others_do_not_scan),
      cmocka_unit_test(test_what_cannot_be_scanned),
      cmocka_unit_test(test_what_bodies_cannot_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
