/* Outputs that are accumulated: what may be, where they begin, what the tuner fills keys with. */
#include <math.h>

#include "spec_test.h"

/* h[key[i]] += ..., x beside it. */
static sct_operand *open_kernel(const char *type, sct_reduce how, bool inout) {
  open_spec("i");
  add_array("key", "i32", INPUT);
  add_array("x", type, INPUT);
  sct_operand *h = add_array("h", type, OUTPUT);
  h->accumulate = how;
  h->is_inout = inout;
  set_dims("h", "bin");
  set_at("h", "key");
  return h;
}

typedef struct kind_case {
  const char *type;
  sct_reduce how;
  bool inout;
  int start;        /* every byte; -1: it begins with what it holds */
  const char *says; /* part of the error; NULL: accepted */
} kind_case;

static void test_kinds(void **state) {
  (void)state;
  static const kind_case cases[] = {
      {"u32", SCT_REDUCE_SUM, false, 0, NULL},
      {"i64", SCT_REDUCE_SUM, true, -1, NULL},
      {"f32", SCT_REDUCE_SUM, false, 0, NULL},
      {"f64", SCT_REDUCE_SUM, false, 0, NULL},
      {"n:u32 t:f32", SCT_REDUCE_SUM, false, 0, NULL},
      {"u32", SCT_REDUCE_MAX, false, 0, NULL},
      {"u64", SCT_REDUCE_MIN, false, 0xff, NULL},
      {"i32", SCT_REDUCE_AND, false, 0xff, NULL},
      {"i64", SCT_REDUCE_OR, false, 0, NULL},
      {"u32", SCT_REDUCE_XOR, false, 0, NULL},
      {"i32", SCT_REDUCE_MAX, true, -1, NULL},
      {"i32", SCT_REDUCE_MAX, false, -1,
       "'h' cannot begin at the identity of max of i32 by itself; write inout = true"},
      {"a:u32 b:i32", SCT_REDUCE_MIN, false, -1, "cannot begin at the identity of min"},
      {"f32", SCT_REDUCE_MAX, true, -1, NULL},
      {"f64", SCT_REDUCE_MIN, false, -1,
       "'h' cannot begin at the identity of min of f64 by itself; write inout = true"},
      {"f64", SCT_REDUCE_AND, false, -1, "there is no atomic and of f64"},
      {"u8", SCT_REDUCE_SUM, false, -1, "there is no atomic add of u8; accumulate i32, u32, i64"},
      {"f16", SCT_REDUCE_SUM, false, 0, NULL},
      {"a:bf16 n:u32", SCT_REDUCE_SUM, true, -1, NULL},
      {"bf16", SCT_REDUCE_MAX, false, -1,
       "there is no atomic max of bf16; accumulate i32, u32, i64, u64, f32 or f64, and convert"},
      {"u16", SCT_REDUCE_SUM, false, -1, "there is no atomic add of u16"},
      {"u8", SCT_REDUCE_MAX, false, -1,
       "there is no atomic max of u8; accumulate i32, u32, i64, u64, f32 or f64, and convert"},
      {"e5m2", SCT_REDUCE_SUM, false, -1,
       "there is no atomic add of e5m2; accumulate i32, u32, i64, u64, f16, bf16, f32 or f64"},
      {"f32x4", SCT_REDUCE_SUM, false, -1, "use a record of 4 fields instead of a vector type"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const sct_operand *h = open_kernel(cases[k].type, cases[k].how, cases[k].inout);
    const sct_status status = sct_spec_bind(&spec, &err);
    if ((status == SCT_OK) != (cases[k].says == NULL)) {
      fail_msg("case %d: %s", k, status == SCT_OK ? "accepted" : err.text);
    }
    if (cases[k].says) {
      assert_says(cases[k].says);
      assert_says("docs/cookbook.md, \"A histogram\"");
    } else {
      assert_int_equal(sct_operand_start_byte(h), cases[k].start);
      assert_true(sct_operand_is_prefilled(h));
    }
    close_spec();
  }
}

static void test_names(void **state) {
  (void)state;
  sct_reduce how = SCT_REDUCE_NONE;
  assert_true(sct_accumulate_find(&how, "add") && how == SCT_REDUCE_SUM);
  assert_true(sct_accumulate_find(&how, "xor") && how == SCT_REDUCE_XOR);
  assert_false(sct_accumulate_find(&how, "sum"));
  assert_string_equal(sct_accumulate_name(SCT_REDUCE_SUM), "add");
  assert_string_equal(sct_accumulate_name(SCT_REDUCE_MIN), "min");
  assert_null(sct_accumulate_name(SCT_REDUCE_NONE));
}

typedef struct body_case {
  const char *body;
  int n_moves;
  const char *says;
} body_case;

static void test_bodies(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"h = x;", 1, NULL},
      {"h = 1;", 1, NULL},
      {"h = 12u;", 1, NULL},
      {"h = 2.0f;", 1, NULL},
      {"h = 1.5f;", 0, NULL},
      {"h = 010;", 0, NULL}, /* octal: the naive variant knows */
      {"h = 3000000000u;", 0, NULL},
      {"h = x * 2;", 0, NULL},
      {"if (x > 1) h = x; else keep(h);", 0, NULL},
      {"atomicMax(&h, x);", 0, "may not contain `atomicMax`; an output that several points add to"},
      {"h += x;", 0, "output 'h' is accumulated (add), so the body only assigns it"},
      {"h++;", 0, "is accumulated (add), so the body only assigns"},
      {"h = h + x;", 0, "is accumulated (add), so the body cannot read it"},
      {"if (x > 1) h = x;", 0, "h is not assigned when `x > 1` is false"},
  };
  for (int inout = 0; inout < 2; inout++) {
    for (int k = 0; k < SCT_COUNT(cases); k++) {
      open_kernel("u32", SCT_REDUCE_SUM, inout == 1);
      bind();
      lay_out_rest();
      set_sizes("i=100 bin=7");
      const sct_status status = try_finish(cases[k].body);
      if ((status == SCT_OK) != (cases[k].says == NULL)) {
        fail_msg("%s: %s", cases[k].body, status == SCT_OK ? "accepted" : err.text);
      }
      if (cases[k].says) {
        assert_says(cases[k].says);
      } else {
        assert_int_equal(spec.n_moves, cases[k].n_moves);
        assert_false(spec.component_wise);
      }
      close_spec();
    }
  }
}

/* Halves are rounded with each point: by how many fall on one element, which the fill tells. */
static void test_halves_come_less_near(void **state) {
  (void)state;
  open_kernel("f16", SCT_REDUCE_SUM, false);
  bind();
  lay_out_rest();
  set_sizes("i=4 bin=1; i=16000 bin=1000; i=4000 bin=1000");
  finish("h = 1;");
  const int h = spec.n_inputs; /* the only output */
  spec.sizes[2].fill[0] = SCT_FILL_CONSTANT;
  /* 4 points: 4 u sqrt(4), as all may meet; 16 on average: 16 + 6 sqrt(16) + 6 at most */
  assert_true(fabs(sct_spec_tolerance(&spec, h, &spec.sizes[0]) - 8 * 0x1p-11) < 1e-9);
  assert_true(fabs(sct_spec_tolerance(&spec, h, &spec.sizes[1]) - 46 * 0x1p-11) < 1e-9);
  /* 4,000 equal ones are lost from 2,048 on */
  assert_true(sct_spec_tolerance(&spec, h, &spec.sizes[2]) == SCT_ANY_RESULT);
  /* in one order, blocks add up floats */
  spec.operands[h].deterministic = true;
  assert_true(sct_spec_tolerance(&spec, h, &spec.sizes[2]) < 0.002);
  close_spec();
}

/* Points may meet: more keys than bins, random or all the same; what is moved is the array once. */
static void test_keys(void **state) {
  (void)state;
  int64_t read = 0, written = 0;
  open_kernel("u32", SCT_REDUCE_SUM, false);
  bind();
  lay_out_rest();
  set_sizes("i=1000 bin=8; i=1000 bin=9 key=random");
  finish("h = 1;");
  assert_true(find("key")->index_collects && !find("key")->index_scatters);
  assert_int_equal(sct_spec_index_fill(&spec, 0, &spec.sizes[0]).fill, SCT_FILL_RANDOM);
  sct_spec_traffic(&spec, &spec.sizes[0], &read, &written);
  assert_int_equal(written, 8 * 4);
  assert_int_equal(read, 1000 * 4 + 8 * 4);
  spec.sizes[0].fill[0] = SCT_FILL_CONSTANT;
  for (int k = 0; k < 1000; k += 333) {
    assert_int_equal(sct_spec_index_value(&spec, 0, k, &spec.sizes[0]), 4);
  }
  close_spec();
}

/* One index array for an output that is accumulated and for one that is not: values are distinct.
 */
static void test_beside_a_scatter(void **state) {
  (void)state;
  open_kernel("u32", SCT_REDUCE_SUM, false);
  add_array("o", "u32", OUTPUT);
  set_dims("o", "bin");
  set_at("o", "key");
  bind();
  lay_out_rest();
  set_sizes("i=7 bin=8 key=random");
  assert_int_equal(try_finish("h = 1; o = x;"), SCT_ESPEC);
  assert_says("an output is written through 'key', so its values must be distinct; fill it");
  close_spec();
}

static void test_layouts(void **state) {
  (void)state;
  static const struct {
    layout_kind kind;
    int64_t parameter;
    bool inout;
    const char *says;
  } cases[] = {{AOS, 0, false, NULL},
               {COL_MAJOR, 0, false, NULL},
               {PITCHED, 64, true, NULL},
               {PITCHED, 64, false, "leaves bytes between elements that are not its own"},
               {STRIDE_ONE, 6, true, "does not keep its elements at multiples of their 4 bytes"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_kernel("u32", SCT_REDUCE_SUM, cases[k].inout);
    bind();
    lay_out("h", cases[k].kind, cases[k].parameter);
    lay_out_rest();
    set_sizes("i=7 bin=8");
    const sct_status status = try_finish("h = 1;");
    if ((status == SCT_OK) != (cases[k].says == NULL)) {
      fail_msg("case %d: %s", k, status == SCT_OK ? "accepted" : err.text);
    } else if (cases[k].says) {
      assert_says(cases[k].says);
    }
    close_spec();
  }
}

static void test_what_is_refused(void **state) {
  (void)state;
  open_kernel("u32", SCT_REDUCE_SUM, false);
  find("x")->accumulate = SCT_REDUCE_MAX;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("'x' is an input; accumulate = \"max\" belongs to an output");
  close_spec();

  open_kernel("u32", SCT_REDUCE_SUM, false)->reduce = SCT_REDUCE_MAX;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  close_spec();

  open_kernel("f32", SCT_REDUCE_SUM, false);
  spec.tolerance_given = true;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("tolerance = 0 cannot hold for 'h'");
  close_spec();

  open_kernel("u32", SCT_REDUCE_SUM, false)->record.packed = true;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("'h' is accumulated, so its record is not packed");
  close_spec();
}

/* Of sums of floats alone an order is kept; other ways need none. */
static void test_one_order(void **state) {
  (void)state;
  static const struct {
    const char *type;
    sct_reduce how;
    bool ordered;
  } cases[] = {{"u32", SCT_REDUCE_SUM, false},
               {"u64", SCT_REDUCE_XOR, false},
               {"u32", SCT_REDUCE_MAX, false},
               {"f32", SCT_REDUCE_SUM, true},
               {"n:u32 t:f32", SCT_REDUCE_SUM, true}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    for (int asked = 0; asked < 2; asked++) {
      open_kernel(cases[k].type, cases[k].how, false)->deterministic = asked == 1;
      bind();
      lay_out_rest();
      set_sizes("i=100 bin=7");
      finish("h = x;");
      const bool ordered = asked == 1 && cases[k].ordered;
      assert_int_equal(sct_spec_is_ordered(&spec), ordered);
      assert_int_equal(strstr(spec.canonical, "accumulate add in order") != NULL, ordered);
      close_spec();
    }
  }
}

/* Where an order is not kept, or takes too long. */
static void test_one_order_is_refused(void **state) {
  (void)state;
  open_kernel("f32", SCT_REDUCE_SUM, false);
  add_array("o", "f32", OUTPUT)->deterministic = true;
  assert_int_equal(sct_spec_bind(&spec, &err), SCT_ESPEC);
  assert_says("'o': deterministic = true belongs to an output that is accumulated; results of all");
  close_spec();

  open_kernel("f32", SCT_REDUCE_SUM, false)->deterministic = true;
  add_array("o", "f32", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=100 bin=7");
  assert_int_equal(try_finish("h = x; o = x;"), SCT_ESPEC);
  assert_says("every output of its kernel is accumulated at the same places, and 'o' is not");
  close_spec();

  open_kernel("f32", SCT_REDUCE_SUM, false)->deterministic = true;
  bind();
  lay_out_rest();
  set_sizes("i=16777216 bin=16384; i=16777216 bin=16385");
  assert_int_equal(try_finish("h = x;"), SCT_ESPEC);
  assert_says("for each of its 16385 elements: too long at size 'i=16777216 bin=16385'");
  assert_says("Sort the points by element, and reduce ragged rows");
  close_spec();
}

/* Where the body adds one number or nothing, counters may be narrower. */
static void test_counted(void **state) {
  (void)state;
  static const struct {
    const char *type, *body;
    int64_t counted;
  } cases[] = {
      {"u32", "h = 1;", 1},
      {"i64", "if (x > 1) { h = 3; } else { h = 3u; } // h", 3},
      {"u32", "if (x > 1) { h = 32767; } else keep(h);", 32767},
      {"u32", "h = 32768;", 0},
      {"u32", "h = 0;", 0},
      {"u32", "h = 010;", 0}, /* 8, as C reads it */
      {"u32", "h = 1; h = 2;", 0},
      {"u32", "h = x;", 0},
      {"u32", "if (x > 1) h = 1; else h = 1;", 0},
      {"f32", "h = 1;", 0},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_kernel(cases[k].type, SCT_REDUCE_SUM, false);
    bind();
    lay_out_rest();
    set_sizes("i=4 bin=8");
    finish(cases[k].body);
    assert_int_equal(spec.counted, cases[k].counted);
    close_spec();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds),     cmocka_unit_test(test_names),
      cmocka_unit_test(test_bodies),    cmocka_unit_test(test_halves_come_less_near),
      cmocka_unit_test(test_keys),      cmocka_unit_test(test_beside_a_scatter),
      cmocka_unit_test(test_layouts),   cmocka_unit_test(test_what_is_refused),
      cmocka_unit_test(test_one_order), cmocka_unit_test(test_one_order_is_refused),
      cmocka_unit_test(test_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
