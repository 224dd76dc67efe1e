/* Elements that share a byte: extents and places of bytes, the part that the body gets, and what is
 * refused. */
#include "spec_test.h"

static void open_kernel(const char *type) {
  open_spec("row col");
  add_scalar("k", "f32");
  add_array("q", type, INPUT);
  add_array("o", "f32", OUTPUT);
}

static void close_kernel(const char *body) {
  bind();
  lay_out_rest();
  set_sizes("row=4 col=5");
  finish(body);
}

static int64_t value_at(sct_expr e, int64_t row, int64_t col) {
  const sct_expr vars[] = {spec.dim_var[0], spec.dim_var[1], spec.extent_var[0],
                           spec.extent_var[1]};
  const int64_t values[] = {row, col, 4, 5};
  const sct_expr_env env = {vars, values, SCT_COUNT(values)};
  int64_t value = -1;
  assert_int_equal(sct_expr_eval(spec.pool, e, &env, &value, &err), SCT_OK);
  return value;
}

/* Rows of 5 take 3 bytes of two, and 1 byte of eight. */
static void test_places_are_bytes(void **state) {
  (void)state;
  static const struct {
    const char *type;
    int64_t shared;
  } cases[] = {{"i4", 2}, {"u4", 2}, {"u1", 8}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const int64_t shared = cases[k].shared, pitch = (5 + shared - 1) / shared;
    open_kernel(cases[k].type);
    close_kernel("o = q;");
    const sct_operand *q = find("q");
    assert_int_equal(value_at(q->extent[1], 0, 0), pitch);
    assert_int_equal(sct_spec_bytes(&spec, 0, 0, &spec.sizes[0]), 4 * pitch);
    for (int64_t row = 0; row < 4; row++) {
      for (int64_t col = 0; col < 5; col++) {
        assert_int_equal(value_at(q->layouts[0].offset[0], row, col), row * pitch + col / shared);
        assert_int_equal(value_at(q->part, row, col), col % shared);
      }
    }
    assert_int_equal(spec.n_moves, 0); /* a part of a byte is no byte */
    assert_true(spec.body_uses_dim[1] && !spec.body_uses_dim[0]);
    close_spec();
  }
}

static void test_bodies_get_parts(void **state) {
  (void)state;
  static const struct {
    const char *type;
    bool shifted;
    const char *body, *kernel;
  } cases[] = {
      {"i4", false, "o = q * k; // q", "o = signed_bits<4>(q, (int)(col & 1)) * k; // q"},
      {"u4", false, "o = q-q;",
       "o = unsigned_bits<4>(q, (int)(col & 1))-unsigned_bits<4>(q, (int)(col & 1));"},
      {"u1", true, "float t = 1; if (q) t = k; o = t;",
       "float t = 1; if (unsigned_bits<1>(q, (int)((col + 3) & 7))) t = k; o = t;"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_kernel(cases[k].type);
    if (cases[k].shifted) {
      set_at("q", "row;col + 3");
      find("q")->pad[1] = 3;
    }
    close_kernel(cases[k].body);
    assert_string_equal(spec.kernel_body, cases[k].kernel);
    close_spec();
  }
}

static void assert_refused(const char *says) {
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says(says);
  close_spec();
}

static void test_refused(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("o", "i4", OUTPUT);
  assert_refused(
      "output 'o' cannot be of type i4: 2 of its elements share a byte, which one thread "
      "has to write; write u8, whose element is all 2 of them");
  open_kernel("u1");
  add_scalar("s", "u4");
  assert_refused("scalar 's' cannot be of type u4");
  open_spec("row col");
  add_array("pick", "i32", INPUT);
  add_array("q", "u4", INPUT);
  add_array("o", "f32", OUTPUT);
  set_at("q", "row;pick");
  assert_refused("'q' of type u4 is addressed through 'pick' along its last dimension");
  open_spec("row col"); /* and one of them cannot be an index */
  add_array("pick", "u4", INPUT);
  add_array("t", "f32", INPUT);
  add_array("o", "f32", OUTPUT);
  set_at("t", "pick;col");
  assert_refused("'pick' cannot be an index");
  sct_record record = {0};
  open_spec("i");
  make_record(&record, "d:f16 q:i4");
  assert_int_equal(sct_record_finish(&record, 0, &err), SCT_ESPEC);
  assert_says("field 'q' cannot be of type i4: fields of records have whole bytes; write u8, of "
              "which the body takes 2 values apart (docs/cookbook.md, \"Blocks of weights\")");
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_are_bytes),
      cmocka_unit_test(test_bodies_get_parts),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
