/* Brute-force checks of layouts: overlap, bounds, sizes of 0, pitches that are too short only at
 * the real size; and what the check must let pass. */
#include "spec_test.h"

static void open_layout(const char *dims, const char *fields, layout_kind kind, int64_t parameter,
                        const char *sizes) {
  open_spec(dims);
  add_array("a", fields, INPUT);
  add_array("b", fields, OUTPUT);
  bind();
  lay_out("b", kind, parameter);
  lay_out_rest();
  set_sizes(sizes);
}

static void test_sound_layouts_pass(void **state) {
  (void)state;
  static const char *const records[] = {"f32", "x:f32 y:f32 z:f32", "a:u8 b:f64 c:u8 d:i16",
                                        "a:f64 b:f32 c:i32 d:u16 e:u8"};
  static const struct {
    layout_kind kind;
    int64_t parameter;
  } layouts[] = {{AOS, 0},    {SOA, 0},       {AOSOA, 1},     {AOSOA, 32},
                 {AOSOA, 48}, {COL_MAJOR, 0}, {PITCHED, 256}, {PITCHED, 24}};
  for (int r = 0; r < SCT_COUNT(records); r++) {
    for (int k = 0; k < SCT_COUNT(layouts); k++) {
      open_layout("i", records[r], layouts[k].kind, layouts[k].parameter, "i=0; i=1; i=1000003");
      finish("b = a;");
      close_spec();
      open_layout("i j", records[r], layouts[k].kind, layouts[k].parameter,
                  "i=0 j=5; i=8191 j=4096");
      finish("b = a;");
      close_spec();
      open_layout("i j k", records[r], layouts[k].kind, layouts[k].parameter, "i=100 j=31 k=700");
      finish("b = a;");
      close_spec();
    }
  }
}

static void test_overlap(void **state) {
  (void)state;
  open_layout("i", "x:f32 y:f32", STRIDE_ONE, 4, "i=4");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("layout.lua:7: error: layout 'kind5(4)': ");
  assert_says("field y of element (0) and field x of element (1) share bytes 4 to 7");
  assert_says("(array 'b', extents 2)");
  close_spec();
}

static void test_overlap_of_one_byte(void **state) {
  (void)state;
  open_layout("i", "x:f32 y:f32", STRIDE_ONE, 7, "i=4");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("share bytes 7 to 7");
  close_spec();
}

static void test_out_of_bounds(void **state) {
  (void)state;
  open_layout("i", "x:f32 y:f32", TOO_SHORT, 1, "i=4");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("field y of element (0) takes bytes 4 to 7, outside [0, 7)");
  close_spec();
  open_layout("i", "f32", AOS, 0, "i=4");
  find("b")->layouts[0].element[0] =
      sct_expr_sub(spec.pool, find("b")->layouts[0].element[0], con(4));
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("element (0) takes bytes -4 to -1, outside [0, 4)");
  close_spec();
}

/* A fixed pitch is fine on every small extent and too short at the real one. */
static void open_fixed_pitch(int64_t pitch, const char *sizes) {
  open_layout("i j", "f32", AOS, 0, sizes);
  sct_operand *a = find("b");
  a->layouts[0].element[0] =
      sct_expr_add(spec.pool, sct_expr_mul(spec.pool, a->index[0], con(4 * pitch)),
                   sct_expr_mul(spec.pool, a->index[1], con(4)));
  a->layouts[0].bytes = sct_expr_mul(spec.pool, a->extent[0], con(4 * pitch));
}

static void test_pitch_too_short_at_the_real_size(void **state) {
  (void)state;
  open_fixed_pitch(5000, "i=100 j=5000");
  finish("b = a;");
  close_spec();
  open_fixed_pitch(5000, "i=100 j=5000; i=100 j=5001");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("element (0, 5000) and element (1, 0) share bytes 20000 to 20003");
  assert_says("extents 100 x 5001); at most j = 5000, the other extents being as they are");
  close_spec();
  open_fixed_pitch(5000, "i=100 j=9000"); /* neither end of a row meets the next row's start */
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("element (0, 5000) and element (1, 0) share bytes 20000 to 20003");
  close_spec();
}

/* Strides in plain numbers hold for the sizes given, and need not for larger extents. */
static void test_strides_made_for_the_size(void **state) {
  (void)state;
  open_fixed_pitch(11, "i=6 j=11");
  finish("b = a;");
  close_spec();
  open_fixed_pitch(11, "i=6 j=12");
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("element (0, 11) and element (1, 0) share");
  close_spec();
}

static void test_division_by_an_extent(void **state) {
  (void)state;
  open_layout("i", "f32", AOS, 0, "i=4");
  sct_operand *a = find("b"); /* sound for every n but 0, where the size divides by 0 */
  a->layouts[0].bytes = sct_expr_mul(
      spec.pool,
      sct_expr_div(spec.pool, sct_expr_mul(spec.pool, a->extent[0], a->extent[0]), a->extent[0]),
      con(4));
  const sct_status status = try_finish("b = a;");
  if (status != SCT_OK) { /* folding may cancel it, which is as good */
    assert_says("its size cannot be worked out");
    assert_says("extents 0");
  }
  close_spec();
  open_layout("i", "f32", AOS, 0, "i=4");
  a = find("b");
  a->layouts[0].bytes = sct_expr_sub(spec.pool, a->layouts[0].bytes, con(8));
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("its size is negative: -8 bytes");
  close_spec();
}

static void test_every_alternative_is_checked(void **state) {
  (void)state;
  open_layout("i", "x:f32 y:f32", AOS, 0, "i=4");
  lay_out("b", SOA, 0);
  lay_out("b", STRIDE_ONE, 4);
  assert_int_equal(try_finish("b = a;"), SCT_ESPEC);
  assert_says("layout 'kind5(4)'");
  close_spec();
}

/* A window that slides over a signal, a value for all: nothing is written there. */
static void test_what_is_only_read_may_overlap(void **state) {
  (void)state;
  for (int is_index = 0; is_index < 2; is_index++) {
    open_spec("i j");
    add_array("a", is_index ? "i32" : "f32", INPUT);
    if (is_index) {
      add_array("t", "f32", INPUT);
      set_dims("t", "m");
      set_at("t", "a");
    }
    add_array("b", "f32", OUTPUT);
    bind();
    sct_layout *layout = lay_out("a", AOS, 0);
    const sct_operand *a = find("a");
    layout->element[0] =
        sct_expr_mul(spec.pool, sct_expr_add(spec.pool, a->index[0], a->index[1]), con(4));
    lay_out_rest();
    set_sizes(is_index ? "i=100 j=31 m=7" : "i=100 j=31");
    if (is_index) {
      assert_int_equal(try_finish("b = t;"), SCT_ESPEC);
      assert_says("element (0, 1) and element (1, 0) share bytes 4 to 7 (array 'a'");
    } else {
      finish("b = a;");
    }
    close_spec();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sound_layouts_pass),
      cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_overlap_of_one_byte),
      cmocka_unit_test(test_out_of_bounds),
      cmocka_unit_test(test_pitch_too_short_at_the_real_size),
      cmocka_unit_test(test_strides_made_for_the_size),
      cmocka_unit_test(test_division_by_an_extent),
      cmocka_unit_test(test_every_alternative_is_checked),
      cmocka_unit_test(test_what_is_only_read_may_overlap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
