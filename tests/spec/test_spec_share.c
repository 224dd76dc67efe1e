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
  assert_says("field 'q' cannot be one i4: 2 of them share a byte; write an array, as in "
              "{ \"q\", \"i4\", 2 }");
  close_spec();
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("o", "d:f16 q[0]:u1 q[1]:u1 q[2]:u1", OUTPUT);
  assert_refused(
      "field 'q' of output 'o' cannot be of type u1: 8 of its elements share a byte, "
      "which one assignment has to write; write { \"q\", \"u8\", 3 }, where each holds 8 of "
      "them");
}

/* ---- fields of records ---- */

/* Blocks of a scale, 4 elements of i4 and u4 each, and 16 of u1. */
static void open_blocks(void) {
  open_spec("i j");
  add_scalar("k", "f32");
  add_array("a", "q[0]:i4 q[1]:i4 d:f32 u[0]:u4 u[1]:u4 m[0]:u1 m[1]:u1", INPUT);
  add_array("o", "f32", OUTPUT);
}

static sct_status close_blocks(const char *body) {
  bind();
  lay_out_rest();
  set_sizes("i=3 j=5");
  return try_finish(body);
}

static void test_fields_are_bytes(void **state) {
  (void)state;
  open_blocks();
  assert_int_equal(close_blocks("o = a.q[3] + a.m[7];"), SCT_OK);
  const sct_operand *a = find("a");
  assert_int_equal(sct_operand_shared(a), 1);
  assert_int_equal(a->record.bytes, 12); /* q at 0, d at 4, u at 8, m at 10 */
  assert_int_equal(a->record.fields[5].offset, 10);
  assert_int_equal(sct_field_elements(&a->record.fields[0]), 4);
  assert_int_equal(sct_field_elements(&a->record.fields[6]), 16);
  const bool used[] = {false, true, false, false, false, true, false};
  for (int f = 0; f < a->record.n_fields; f++) {
    assert_int_equal(a->used[f], used[f]);
  }
  assert_int_equal(spec.n_moves, 0);
  assert_false(spec.component_wise);
  close_spec();
}

#define READ "signed_bits_in<4>"
static void test_bodies_get_fields(void **state) {
  (void)state;
  static const struct {
    const char *body, *kernel;
  } cases[] = {
      {"o = a.q[3] * a.d; // q", "o = signed_bits<4>(a.q[1], 1) * a.d; // q"},
      {"o = a.u[ j % 4 ];", "o = un" READ "(a.u,  j % 4 );"},
      {"o = a.q[a.u[a.m[15]] & 3];", "o = " READ "(a.q, un" READ "(a.u, unsigned_bits<1>(a.m[1], "
                                     "7)) & 3);"},
      {"float t = 0; for (int n = 0; n < 4; n++) t += a.q[n] * a.u[(n + 1) % 4]; o = t;",
       "float t = 0; for (int n = 0; n < 4; n++) t += " READ "(a.q, n) * un" READ
       "(a.u, (n + 1) % 4); o = t;"},
      {"int n = 0; o = a.q[n++] + (uint8_t)a.q[uint8_t(n)];",
       "int n = 0; o = " READ "(a.q, n++) + (unsigned char)" READ
       "(a.q, static_cast<unsigned char>(n));"},
      {"float v[2] = {k, k}; o = a.q[max(i, 1)] + v[1];",
       "float v[2] = {k, k}; o = " READ "(a.q, max(i, 1)) + v[1];"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_blocks();
    assert_int_equal(close_blocks(cases[k].body), SCT_OK);
    assert_string_equal(spec.kernel_body, cases[k].kernel);
    close_spec();
  }
}

/* Bytes of such elements cannot be named, but a record of u8 may be moved. */
static void test_records_are_not_copied(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "q[0]:u1 q[1]:u1", INPUT);
  add_array("o", "q[0]:u8 q[1]:u8", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=3");
  assert_int_equal(try_finish("o = a;"), SCT_ESPEC);
  assert_says("'o' and 'a' have different fields; assign them one by one; elements of u1 that are "
              "only moved are { \"q\", \"u8\", 2 } in both");
  close_spec();
}

static void test_wrong_elements(void **state) {
  (void)state;
  static const struct {
    const char *body, *says;
  } cases[] = {
      {"o = a.q[4];", "'a.q' has 4 elements; the last one is a.q[3]"},
      {"o = a.m[16];", "'a.m' has 16 elements; the last one is a.m[15]"},
      {"o = a.q;", "'a.q' is an array of 4 elements; name one, as in a.q[0]"},
      {"o = a.u[i, 1];", "'a.u' is an array of 4 elements, so it has one index, as in a.u[4 * row "
                         "+ col]"},
      {"a.q[0] = 1; o = 1;", "'a' is an input and cannot be assigned"},
      {"o = 0; for (int n = 0; n < 5; n++) o += a.u[n];",
       "`n` runs from 0 to 4, but the array has 4 elements"},
      {"const int *p = &a.q[i & 1]; o = *p;",
       "an element of type i4 is a part of a byte and has no address; write `int v = a.q[i & 1];` "
       "and take that of v"},
      {"o = a.q[1 - 2];", "there is no element -1: the array has 4"},
      {"const int n = 2; o = a.u[n * n];", "there is no element 4: the array has 4"},
      {"o = signed_bits_in(a.q, 0);", "a body may not contain `signed_bits_in`"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_blocks();
    assert_int_equal(close_blocks(cases[k].body), SCT_ESPEC);
    assert_says(cases[k].says);
    close_spec();
  }
}

/* What a tap finds is read as the array's own element is. */
static void test_taps_have_fields(void **state) {
  (void)state;
  open_blocks();
  sct_operand *a = find("a");
  a->taps = SCT_ARENA_NEW(&spec.arena, sct_tap, 1);
  a->n_taps = 1;
  a->border = SCT_BORDER_ZERO;
  a->taps[0] = (sct_tap){.name = "west", .delta = SCT_ARENA_NEW(&spec.arena, int64_t, 2)};
  a->taps[0].delta[1] = -1;
  assert_int_equal(close_blocks("o = west.q[2] - a.q[0];"), SCT_OK);
  assert_string_equal(spec.kernel_body,
                      "o = signed_bits<4>(west.q[1], 0) - signed_bits<4>(a.q[0], 0);");
  assert_true(a->taps[0].used[1] && !a->taps[0].used[0]);
  close_spec();
}

/* Elements are integers: their quotient by a float is one of floats. */
static void test_fast_arithmetic(void **state) {
  (void)state;
  open_blocks();
  spec.tolerance_given = true;
  spec.tolerance = 1e-3;
  assert_int_equal(close_blocks("o = a.q[i & 1] / k + a.q[1] / a.u[0];"), SCT_OK);
  assert_string_equal(spec.fast_body, "o = __fdividef(" READ "(a.q, i & 1), k) + "
                                      "signed_bits<4>(a.q[0], 1) / unsigned_bits<4>(a.u[0], 0);");
  close_spec();
  open_kernel("u4");
  spec.tolerance_given = true;
  spec.tolerance = 1e-3;
  close_kernel("o = expf(q) / k + q / k;");
  assert_string_equal(spec.fast_body,
                      "o = __fdividef(__expf(unsigned_bits<4>(q, (int)(col & 1))), k) + "
                      "__fdividef(unsigned_bits<4>(q, (int)(col & 1)), k);");
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places_are_bytes),
      cmocka_unit_test(test_bodies_get_parts),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_fields_are_bytes),
      cmocka_unit_test(test_bodies_get_fields),
      cmocka_unit_test(test_wrong_elements),
      cmocka_unit_test(test_records_are_not_copied),
      cmocka_unit_test(test_taps_have_fields),
      cmocka_unit_test(test_fast_arithmetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
