/* What arrays and scalars are given in variants other than 0. */
#include "measure_fixture.h"

#include "measure/measure_data.h"

#include <math.h>

static const int first_layout[SCT_MAX_OPERANDS];

/* What a body's text says of its numbers, and of those that it shifts, divides or indexes by. */
static void test_literals_are_those_of_the_text(void **state) {
  (void)state;
  static const struct {
    const char *body;
    long double value[4];
    bool divides, places;
  } cases[] = {
      {"b = a >= 1.5f ? k * a : a; /* 7 */", {1.5L}, false, false},
      {"b = a * 1e-3f + .5 - 0x1F + 0; // 9\nb = a1 / 3;", {1e-3L, 0.5L, 31, 3}, false, false},
      {"b = a / (2 + 1.5e+3f);", {2, 1500}, false, false},
      {"b = a / (g + 1);", {1}, true, false},
      {"b = a % g;", {0}, true, false},
      {"b /= g;", {0}, true, false},
      {"b = a << 3;", {3}, false, false},
      {"b = a >> (3 - g);", {3}, false, true},
      {"b = c.q[2];", {2}, false, false},
      {"b = c.q[g];", {0}, false, true},
      {"for (int j = 0; j < g; j++) b += a;", {0}, false, true},
      {"b = a < g;", {0}, false, false},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_literals found;
    int n = 0;
    sct_literals_find(&found, &(sct_spec){.body = cases[k].body});
    for (int v = 0; v < 4 && cases[k].value[v] != 0; v++) {
      assert_true(found.n > v && found.value[v] == cases[k].value[v]);
      n++;
    }
    assert_int_equal(found.n, n);
    assert_int_equal(found.divides, cases[k].divides);
    assert_int_equal(found.places, cases[k].places);
  }
}

/* Over 16 variants a scalar is of either sign, 0, large, and a literal with both neighbours. */
static void test_scalars_vary(void **state) {
  (void)state;
  sct_scalar scalars[] = {{"k", SCT_TYPE_F32}, {"g", SCT_TYPE_I32}};
  const sct_spec spec = {.n_scalars = 2, .scalars = scalars};
  for (int near = 0; near < 2; near++) {
    bool plus = false, minus = false, exact = false, above = false, below = false, other = false;
    bool i_plus = false, i_minus = false, i_zero = false, i_exact = false, i_far = false;
    sct_literals literals = {.n = 1, .value = {1000}};
    for (int variant = 1; variant <= 16; variant++) {
      const sct_scalar_values of = {&spec, 5, variant, near, &literals, 0};
      uint8_t bytes[16] = {0};
      float x;
      int32_t i;
      sct_data_scalar(bytes, &of, 0);
      memcpy(&x, bytes, sizeof x);
      plus = plus || x == (near ? 0x1p-20F : 0);
      minus = minus || (signbit(x) && x == (near ? -0x1p-20F : 0));
      exact = exact || x == 1000;
      above = above || x == nextafterf(1000, 2000);
      below = below || x == nextafterf(1000, 0);
      other = other || x < -1;
      sct_data_scalar(bytes, &of, 1);
      memcpy(&i, bytes, sizeof i);
      i_plus = i_plus || i == 1001;
      i_minus = i_minus || i < -1;
      i_zero = i_zero || i == 0;
      i_exact = i_exact || i == 1000;
      i_far = i_far || i > 65536;
    }
    assert_true(plus && minus && exact && above && below && other);
    assert_true(i_plus && i_minus && i_zero && i_exact && i_far);
    for (int flag = 0; flag < 2; flag++) { /* by which it divides, or shifts */
      literals.divides = flag == 0;
      literals.places = flag == 1;
      for (int variant = 1; variant <= 16; variant++) {
        int32_t i = 0;
        uint8_t bytes[16] = {0};
        sct_data_scalar(bytes, &(sct_scalar_values){&spec, 5, variant, near, &literals, 0}, 1);
        memcpy(&i, bytes, sizeof i);
        assert_true(flag == 0 ? i != 0 && i != -1 : i >= 1 && i <= 100);
      }
    }
  }
}

/* Nothing is ordinary: of each type every exponent, ties of each narrower type, literals. */
static void test_wide_values_have_every_exponent_and_tie(void **state) {
  (void)state;
  const sct_literals literals = {.n = 2, .value = {0.1L, 1000}};
  for (int near = 0; near < 2; near++) {
    const sct_stream stream = {
        .key = 3, .mix = SCT_MIX_WIDE, .near = near, .finite = near, .literals = &literals};
    bool exponent[256] = {false};
    int exact = 0, above = 0, halves = 0, ties = 0, beyond = 0, not_finite = 0, equal = 0;
    int last = 0, over = 0;
    float before = 0;
    for (int64_t k = 0; k < 40000; k++) {
      float x;
      uint32_t bits;
      sct_data_value(&x, SCT_TYPE_F32, &stream, k);
      memcpy(&bits, &x, sizeof bits);
      exponent[bits >> 23 & 255] = true;
      exact += x == 0.1F;
      above += x == nextafterf(0.1F, 1);
      halves += fabsf(x) < 41 && x - floorf(x) == 0.5F;
      ties += (bits & 0xffff) == 0x8000;             /* of bf16 */
      last += fabsf(x) >= 65504 && fabsf(x) < 65520; /* the largest f16, and what becomes it */
      over += fabsf(x) >= 65520 && fabsf(x) < 65521;
      beyond += fabsf(x) > 0x1p41F;
      not_finite += !isfinite(x);
      equal += x == before;
      before = x;
    }
    for (int e = 1; e < 255; e++) {
      assert_true(exponent[e] == (near ? e >= 127 - 40 && e <= 127 + 40 : true));
    }
    assert_true(exact > 5 && above > 5 && halves > 20 && ties > 20 && equal > 500);
    assert_true(last > 5 && over > 5);
    assert_int_equal(beyond > 0, !near);
    assert_int_equal(not_finite > 0, !near);
  }
}

static void test_wide_integers_have_every_length(void **state) {
  (void)state;
  const sct_literals literals = {.n = 2, .value = {1000, 3}};
  for (int divides = 0; divides < 2; divides++) {
    const sct_stream stream = {
        .key = 3, .mix = SCT_MIX_WIDE, .divides = divides, .literals = &literals};
    bool length[33] = {false}, small[49] = {false};
    int exact = 0, above = 0, multiple = 0, lowest = 0;
    for (int64_t k = 0; k < 20000; k++) {
      int32_t x;
      sct_data_value(&x, SCT_TYPE_I32, &stream, k);
      length[x > 0 ? 32 - __builtin_clz((unsigned)x) : 0] = true;
      small[x >= -8 && x <= 40 ? x + 8 : 0] = true;
      exact += x == 1000;
      above += x == 1001;
      multiple += x > 1000 && x % 1000 == 0;
      lowest += x == INT32_MIN;
    }
    for (int n = 0; n < 32; n++) {
      assert_true(length[n]);
    }
    for (int n = 0; n < 49; n++) {
      assert_int_equal(small[n], !divides || (n != 8 && n != 7));
    }
    assert_true(exact > 5 && above > 5 && multiple > 5);
    assert_int_equal(lowest > 0, !divides);
  }
}

/* The image of an input of 40 rows of 33: which of them hold what. */
typedef struct rows_found {
  int lowest, zeros, nans, equal, few, large, wide;
} rows_found;

static rows_found count_rows(int variant) {
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  uint8_t *image = NULL;
  const int64_t sizes[] = {40, 33};
  const fixture_array arrays[] = {
      {.name = "a", .types = "f32"},
      {.name = "b", .types = "f32", .dims = "row", .reduce = SCT_REDUCE_MAX}};
  rows_found n = {0};
  fixture_spec(&spec, "row col", arrays, 1, 2, NULL, "b = a;", sizes);
  assert_ok(sct_addressing_init(&addressing, &spec, first_layout, 5, &fixture_err));
  assert_ok(sct_shape_init(&shape, &addressing, sizes, NULL, &fixture_err));
  shape.variant = variant;
  assert_ok(sct_image_input(&image, &shape, 0, &fixture_err));
  for (int row = 0; row < 40; row++) {
    const float *x = (const float *)image + 33 * row;
    int lowest = 0, zeros = 0, nans = 0, equal = 0, few = 0, large = 0;
    for (int k = 0; k < 33; k++) {
      lowest += x[k] == -INFINITY;
      zeros += x[k] == 0;
      nans += x[k] != x[k];
      equal += x[k] == x[0];
      few += fabsf(x[k]) <= 4 && x[k] == floorf(x[k]);
      large += fabsf(x[k]) > 100 && fabsf(x[k]) < INFINITY;
    }
    n.lowest += lowest == 33;
    n.zeros += zeros == 33;
    n.nans += nans == 33;
    n.equal += equal == 33 && lowest == 0 && zeros == 0;
    n.few += few == 33 && zeros < 33 && equal < 33;
    n.large += large > 8;
    n.wide += large > 0 && large <= 25 && few < 33;
  }
  sct_image_free(image, &shape, 0);
  sct_shape_free(&shape);
  sct_addressing_free(&addressing);
  sct_spec_free(&spec);
  return n;
}

static void test_rows_are_of_every_kind(void **state) {
  (void)state;
  rows_found all = {0};
  for (int variant = 1; variant <= 16; variant++) {
    const rows_found n = count_rows(variant);
    const int *from = (const int *)&n;
    for (int k = 0; k < (int)(sizeof n / sizeof *from); k++) {
      ((int *)&all)[k] += from[k];
    }
  }
  assert_true(all.lowest > 5 && all.zeros > 5 && all.nans > 5 && all.equal > 20 && all.few > 20 &&
              all.large > 20 && all.wide > 20);
}

/* How many normal values a draw leaves as they are. */
static int count_unchanged(const char *body) {
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  const int64_t sizes[] = {40, 33};
  const fixture_array arrays[] = {
      {.name = "a", .types = "f32"},
      {.name = "b", .types = "f32", .dims = "row", .reduce = SCT_REDUCE_SUM}};
  int n = 0;
  fixture_spec(&spec, "row col", arrays, 1, 2, NULL, body, sizes);
  assert_ok(sct_addressing_init(&addressing, &spec, first_layout, 5, &fixture_err));
  assert_ok(sct_shape_init(&shape, &addressing, sizes, NULL, &fixture_err));
  for (shape.variant = 1; shape.variant <= 8; shape.variant++) {
    uint8_t *before = NULL, *after = NULL;
    assert_ok(sct_image_input(&before, &shape, 0, &fixture_err));
    assert_ok(sct_image_input(&after, &shape, 0, &fixture_err));
    assert_ok(sct_image_change(after, &shape, 0, 0, 1e-3, &fixture_err));
    for (int k = 0; k < 40 * 33; k++) {
      const float x = ((const float *)before)[k];
      n += isnormal(x) && x == ((const float *)after)[k];
    }
    sct_image_free(before, &shape, 0);
    sct_image_free(after, &shape, 0);
  }
  sct_shape_free(&shape);
  sct_addressing_free(&addressing);
  sct_spec_free(&spec);
  return n;
}

/* A body may compare with round values, some of which stay. What only moves into a sum changes
 * everywhere: of 255 and -255, which both stayed, the rest of their sum would be exact. */
static void test_draws_change_what_cancels(void **state) {
  (void)state;
  assert_true(count_unchanged("b = a < 0 ? a : 2 * a;") > 100);
  assert_int_equal(count_unchanged("b = a;"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_literals_are_those_of_the_text),
      cmocka_unit_test(test_scalars_vary),
      cmocka_unit_test(test_wide_values_have_every_exponent_and_tie),
      cmocka_unit_test(test_wide_integers_have_every_length),
      cmocka_unit_test(test_rows_are_of_every_kind),
      cmocka_unit_test(test_draws_change_what_cancels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
