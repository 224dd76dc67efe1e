/* Outputs that are updated in place, or kept in part: what their bodies may say, what they become
 * in a kernel, and what is refused. */
#include "spec_test.h"

static void open_kernel(bool inout) {
  open_spec("i j");
  add_scalar("k", "f32");
  add_array("a", "f32", INPUT);
  add_array("o", "f32", OUTPUT)->is_inout = inout;
  add_array("p", "x:f32 y:f32", OUTPUT)->is_inout = inout;
}

typedef struct body_case {
  bool inout;
  const char *body;
  const char *says; /* part of the error; NULL: accepted */
} body_case;

static void test_bodies(void **state) {
  (void)state;
  static const body_case cases[] = {
      {true, "o += k * a; p.x = p.y;", NULL},
      {true, "if (a > 1) o = a; p.x += 1;", NULL},
      {true, "float t = o; o = p.x; p.x = t;", NULL},
      {true, "o++; if (o > 2) p.y = 1; else keep(p);", NULL},
      {true, "if (a < o) o = a;", "'p' is updated in place (inout), but never assigned"},
      {false, "if (a > 1) o = a; else keep(o); p.x = a; p.y = a;", NULL},
      {false, "o = a; if (a > 1) keep(o); keep(p);", NULL},
      {false, "if (a > 1) { keep(o); keep(p); } else { o = a; p.x = a; p.y = k; }", NULL},
      {false, "if (a > 1) o = a; keep(p);",
       "output o is not assigned when `a > 1` is false; add an `else` that assigns it; what stays "
       "as it was says `keep(o);` there"},
      {false, "o += a; keep(p);",
       "output 'o' is read before it is assigned; an array that is updated in place has inout"},
      {false, "a = 1; o = a; keep(p);",
       "did you mean 'o'? Declare an array that is updated in place as an output with inout = "
       "true"},
      {false, "o = keep(o); keep(p);",
       "keep() is a statement that leaves a whole element of an output as it was, as in "
       "`keep(o);`; "
       "of a record with inout = true, fields that are not assigned stay, too"},
      {false, "keep(a); o = a; keep(p);", "as in `keep(o);`"},
      {false, "keep(p.x); p.y = a; o = a;", "keep() is a statement"},
      {false, "keep; o = a; keep(p);", "keep() is a statement"},
      {false, "float o_kept = a; keep(o); keep(p);",
       "keep(o) makes the name 'o_kept', which is taken"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_kernel(cases[k].inout);
    bind();
    lay_out_rest();
    set_sizes("i=4 j=5");
    const sct_status status = try_finish(cases[k].body);
    if ((status == SCT_OK) != (cases[k].says == NULL)) {
      fail_msg("%s: %s", cases[k].body, status == SCT_OK ? "accepted" : err.text);
    }
    if (cases[k].says) {
      assert_says(cases[k].says);
    }
    close_spec();
  }
}

/* keep(o) sets a flag beside o; elements that are read and written count twice. */
static void test_what_becomes_of_them(void **state) {
  (void)state;
  int64_t read = 0, written = 0;
  open_kernel(false);
  bind();
  lay_out_rest();
  set_sizes("i=4 j=5");
  finish("if (a > 1) { o = a; } else { keep( o ); }\np.x = a; p.y = a;");
  assert_string_equal(spec.kernel_body,
                      "if (a > 1) { o = a; } else { o_kept = true; }\np.x = a; p.y = a;");
  assert_true(find("o")->keeps && !find("p")->keeps);
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, 20 * 4);        /* a */
  assert_int_equal(written, 20 * 4 * 2); /* p: what is kept of o depends on the data */
  assert_int_equal(spec.n_moves, 0);     /* what p holds is known, but not what o does */
  close_spec();
  open_kernel(true);
  bind();
  lay_out_rest();
  set_sizes("i=4 j=5");
  finish("o = a; p.x = p.x + o;");
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(read, 20 * 4 * 3); /* a, o, p.x */
  assert_int_equal(written, 20 * 4 * 2);
  assert_false(find("p")->used[1]);
  close_spec();
}

static void test_what_is_refused(void **state) {
  (void)state;
  open_kernel(true);
  add_array("q", "f32", INPUT)->is_inout = true;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("'q' is an input; an array that is updated in place belongs to outputs");
  close_spec();

  open_kernel(true);
  sct_tap west = {.name = "west", .delta = (int64_t[]){0, -1}};
  find("o")->taps = &west;
  find("o")->n_taps = 1;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("'o' cannot have taps: it is updated in place, so its neighbours may be old or new");
  close_spec();

  open_spec("i j");
  add_array("a", "f32", INPUT);
  sct_operand *m = add_array("m", "i32", OUTPUT);
  m->is_inout = true;
  m->reduce = SCT_REDUCE_ARGMAX;
  m->compared = SCT_TYPE_F32;
  set_dims("m", "i");
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("output 'm' is an index (argmax) and inout");
  assert_says("reduce the value, too (reduce = \"max\")");
  close_spec();

  open_spec("i j");
  add_array("a", "f32", INPUT);
  add_array("m", "f32", OUTPUT)->reduce = SCT_REDUCE_MAX;
  set_dims("m", "i");
  bind();
  lay_out_rest();
  set_sizes("i=4 j=5");
  assert_int_equal(try_finish("if (a > 1) m = a; else keep(m);"), SCT_ESPEC);
  assert_says("output 'm' is reduced (max), so nothing is kept");
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bodies),
      cmocka_unit_test(test_what_becomes_of_them),
      cmocka_unit_test(test_what_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
