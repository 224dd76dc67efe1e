/* Values, images and differences on the host. */
#include "measure_fixture.h"

#include "measure/measure_data.h"
#include "spec_offset.h"

#include <math.h>

static const int first_layout[SCT_MAX_OPERANDS];

/* ---- values ---- */

static void test_floats_are_ordinary_numbers(void **state) {
  (void)state;
  static const sct_type types[] = {SCT_TYPE_E4M3, SCT_TYPE_E5M2, SCT_TYPE_F16,
                                   SCT_TYPE_BF16, SCT_TYPE_F32,  SCT_TYPE_F64};
  for (int t = 0; t < SCT_COUNT(types); t++) {
    bool varies = false;
    double before = 0;
    for (int64_t k = 0; k < 2000; k++) {
      uint8_t value[16];
      sct_data_value(value, types[t], &(sct_stream){.key = 7}, k);
      const double x = sct_data_float(types[t], value);
      assert_true(x >= (t < 2 ? 0.5 : 1.0) && x < 2.0);
      varies = varies || (k > 0 && x != before);
      before = x;
    }
    assert_true(varies);
  }
}

static void test_vectors_have_independent_lanes(void **state) {
  (void)state;
  for (int mix = SCT_MIX_NONE; mix <= SCT_MIX_ANY; mix++) {
    const sct_stream stream = {.key = 7, .mix = (sct_mix)mix};
    for (int64_t k = 0; k < 300; k++) {
      uint32_t v[4];
      sct_data_value(v, SCT_TYPE_F32X4, &stream, k);
      for (int lane = 0; lane < 4; lane++) {
        uint32_t scalar;
        sct_data_value(&scalar, SCT_TYPE_F32, &stream, k * 4 + lane);
        assert_int_equal(scalar, v[lane]);
      }
      assert_true(mix != SCT_MIX_NONE || (v[0] != v[1] && v[1] != v[2] && v[2] != v[3]));
    }
  }
}

enum {
  MINUS,
  BELOW,
  ABOVE,
  ZERO,
  MINUS_ZERO,
  TINY,
  MINUS_TINY,
  LARGE,
  INF,
  MINUS_INF,
  NANS,
  OTHER_NAN,
  PLAIN,
  N
};

static int kind_of(sct_type type, const uint8_t *value, int bytes) {
  static const int exponents[] = {[2] = -14, [4] = -126, [8] = -1022};
  const double x = sct_data_float(type, value);
  const int least = type == SCT_TYPE_BF16 ? -126 : exponents[bytes];
  bool ones = true; /* 0x7fff: the device's NaN */
  for (int k = 0; k < bytes; k++) {
    ones = ones && value[k] == (k == bytes - 1 ? 0x7f : 0xff);
  }
  return isnan(x)                                         ? (ones ? NANS : OTHER_NAN)
         : isinf(x)                                       ? (x > 0 ? INF : MINUS_INF)
         : x == 0                                         ? (signbit(x) ? MINUS_ZERO : ZERO)
         : fabs(x) < ldexp(1, least)                      ? (x > 0 ? TINY : MINUS_TINY)
         : fabs(x) >= (type == SCT_TYPE_F16 ? 1e4 : 1e30) ? LARGE
         : x < 0                                          ? MINUS
         : x < 1                                          ? BELOW
         : x >= 2                                         ? ABOVE
                                                          : PLAIN;
}

/* All of them within a period, and few: most values are ordinary. */
static void test_every_special_value_comes_soon(void **state) {
  (void)state;
  static const sct_type types[] = {SCT_TYPE_F16, SCT_TYPE_BF16, SCT_TYPE_F32, SCT_TYPE_F64};
  for (int t = 0; t < SCT_COUNT(types) * 20; t++) {
    const sct_type type = types[t % 4];
    const int bytes = sct_type_get(type)->bytes;
    for (int mix = SCT_MIX_NONE; mix <= SCT_MIX_ANY; mix++) {
      const sct_stream stream = {.key = sct_data_key(5, t, 1), .mix = (sct_mix)mix};
      int n[N] = {0};
      for (int64_t k = 0; k < SCT_DATA_PERIOD; k++) {
        uint8_t value[16];
        sct_data_value(value, type, &stream, t * 32 + k);
        n[kind_of(type, value, bytes)]++;
      }
      for (int kind = 0; kind < PLAIN; kind++) {
        const bool may = mix == SCT_MIX_ANY || (mix == SCT_MIX_FINITE && kind < LARGE);
        assert_int_equal(n[kind] > 0, may);
      }
      assert_true(n[PLAIN] >= SCT_DATA_PERIOD * 15 / 16);
    }
  }
}

static void test_integers_reach_their_ends(void **state) {
  (void)state;
  for (int type = 0; type < SCT_N_TYPES; type++) {
    const sct_type_info *info = sct_type_get((sct_type)type);
    const int bytes = info->bytes / info->lanes;
    const uint64_t lowest = (uint64_t)1 << (bytes * 8 - 1), ones = lowest | (lowest - 1);
    const bool is_integer = info->kind == SCT_KIND_INT || info->kind == SCT_KIND_UINT;
    for (int divides = 0; divides < 2 && is_integer; divides++) {
      const sct_stream stream = {.key = 3, .mix = SCT_MIX_FINITE, .divides = divides};
      int n[4] = {0};
      for (int64_t k = 0; k < SCT_DATA_PERIOD; k++) {
        uint64_t value[2] = {0};
        sct_data_value(value, (sct_type)type, &stream, k);
        value[0] &= ones;
        n[0] += value[0] == 0;
        n[1] += value[0] == ones;
        n[2] += value[0] == lowest;
        n[3] += value[0] == lowest - 1;
      }
      assert_true(n[3] > 0);
      for (int k = 0; k < 3 && (!divides || bytes > 2); k++) { /* else by themselves, too */
        assert_int_equal(n[k] > 0, !divides);
      }
    }
  }
}

static void test_bools_are_0_or_1(void **state) {
  (void)state;
  sct_field fields[2] = {{.name = "a", .type = SCT_TYPE_F32}, {.name = "b", .type = SCT_TYPE_BOOL}};
  sct_record mixed = {.fields = fields, .n_fields = 2};
  assert_ok(sct_record_finish(&mixed, 0, &fixture_err));
  const sct_masks m = sct_data_record_masks(&mixed);
  assert_int_equal(m.and_mask | m.or_mask, 0x0101010101010101);
  for (int mix = SCT_MIX_NONE; mix <= SCT_MIX_ANY; mix++) {
    int n[2] = {0};
    for (int64_t k = 0; k < SCT_DATA_PERIOD; k++) {
      uint8_t value = 2;
      sct_data_value(&value, SCT_TYPE_BOOL, &(sct_stream){.key = 9, .mix = (sct_mix)mix}, k);
      assert_true(value < 2);
      n[value]++;
    }
    assert_true(n[0] > SCT_DATA_PERIOD / 4 && n[1] > SCT_DATA_PERIOD / 4);
  }
}

/* Of one row each value is above the one before, of another below it: of all types with order. */
static void test_values_rise_or_fall(void **state) {
  (void)state;
  for (int type = 0; type < SCT_N_TYPES; type++) {
    const sct_type_info *info = sct_type_get((sct_type)type);
    const int bytes = info->bytes / info->lanes;
    const bool is_real = info->kind == SCT_KIND_FLOAT;
    const bool has_order = info->kind == SCT_KIND_INT || info->kind == SCT_KIND_UINT || is_real;
    for (int falls = 0; falls < 2 && has_order && info->lanes == 1 && info->shared == 1; falls++) {
      const sct_stream stream = {.key = 3, .mix = SCT_MIX_RISES, .row = (uint64_t)falls};
      double before = falls ? INFINITY : -INFINITY;
      for (int64_t k = 0; k < (bytes == 1 ? 32 : 4096); k++) {
        uint64_t value[2] = {0};
        sct_data_value(value, (sct_type)type, &stream, k);
        const double v = is_real ? sct_data_float((sct_type)type, value) : (double)value[0];
        assert_true(falls ? v < before : v > before);
        before = v;
      }
    }
  }
}

/* Special values of a byte: negative ones, zeros, subnormals, and NaN where anything may be. */
static void test_small_floats_are_hostile_too(void **state) {
  (void)state;
  for (int t = 0; t < 2; t++) {
    const sct_type type = t == 0 ? SCT_TYPE_E4M3 : SCT_TYPE_E5M2;
    for (int mix = SCT_MIX_NONE; mix <= SCT_MIX_ANY; mix++) {
      int negative = 0, zero = 0, tiny = 0, large = 0, nans = 0;
      for (int64_t k = 0; k < SCT_DATA_PERIOD; k++) {
        uint8_t value;
        sct_data_value(&value, type, &(sct_stream){.key = 5, .mix = (sct_mix)mix}, k);
        const double x = sct_data_float(type, &value);
        negative += x < 0;
        zero += x == 0;
        tiny += x != 0 && fabs(x) < ldexp(1, t == 0 ? -6 : -14);
        large += fabs(x) > 100;
        nans += isnan(x);
      }
      const bool some = mix != SCT_MIX_NONE, any = mix == SCT_MIX_ANY;
      assert_true((negative > 0) == some && (zero > 0) == some && (tiny > 0) == some);
      assert_true((large > 0) == any && (nans > 0) == any);
    }
  }
}

/* Every reading of a mixed buffer in every type is a normal number: at every aligned offset, and of
 * a packed record at every offset. */
static void check_mixed(bool packed, double least) {
  sct_field fields[2] = {{.name = "a", .type = SCT_TYPE_F64}, {.name = "b", .type = SCT_TYPE_F16}};
  sct_record mixed = {.fields = fields, .n_fields = 2, .packed = packed};
  assert_ok(sct_record_finish(&mixed, 0, &fixture_err));
  const sct_masks m = sct_data_record_masks(&mixed);
  uint8_t bytes[4096];
  for (int64_t k = 0; k < 512; k++) {
    const uint64_t word = (sct_mix64(1, (uint64_t)k) & m.and_mask) | m.or_mask;
    memcpy(bytes + k * 8, &word, 8);
  }
  static const sct_type types[] = {SCT_TYPE_F16, SCT_TYPE_BF16, SCT_TYPE_F32, SCT_TYPE_F64};
  for (int64_t k = 0; k + 8 <= 4096; k++) {
    for (int t = 0; t < SCT_COUNT(types); t++) {
      const double x = sct_data_float(types[t], bytes + k);
      if (packed || k % sct_type_get(types[t])->bytes == 0) {
        assert_true(isnormal(x) && fabs(x) >= least && fabs(x) < 2.0);
      }
    }
  }
  fields[1].type = SCT_TYPE_E5M2; /* a byte at any offset */
  assert_int_equal(sct_data_record_masks(&mixed).or_mask, 0x3c3c3c3c3c3c3c3c);
  fields[1].type = SCT_TYPE_F64X2; /* its lanes have this type too: no byte pattern needed */
  assert_int_equal(sct_data_record_masks(&mixed).or_mask, 0x3ff0000000000000);
}

static void test_mixed_masks_read_as_normal_numbers(void **state) {
  (void)state;
  check_mixed(false, 0x1p-7);
  check_mixed(true, 0x1p-61);
}

static void test_scalars_are_small_and_not_zero(void **state) {
  (void)state;
  for (int type = 0; type < SCT_N_TYPES; type++) {
    sct_scalar scalar = {"k", (sct_type)type};
    const sct_spec spec = {.n_scalars = 1, .scalars = &scalar};
    for (uint64_t seed = 0; seed < 50; seed++) {
      uint8_t value[16] = {0};
      const sct_type_info *info = sct_type_get((sct_type)type);
      sct_data_scalar(value, &(sct_scalar_values){.spec = &spec, .seed = seed}, 0);
      if (info->kind == SCT_KIND_FLOAT) {
        const double x = sct_data_float((sct_type)type, value);
        assert_true(x >= (info->bytes == 1 ? 0.5 : 1) && x < 2);
      } else {
        int64_t x = 0;
        memcpy(&x, value, (size_t)(info->bytes / info->lanes));
        assert_in_range(x, 1, 100);
      }
    }
  }
}

static void test_values_print_in_hex_and_as_numbers(void **state) {
  (void)state;
  const float f = 2.5F;
  const int16_t i = -2;
  const uint16_t half = 0x3e00, bf = 0x4020, inf = 0xfc00, tiny = 0x0001;
  const struct {
    sct_type type;
    const void *value;
    const char *text;
  } cases[] = {{SCT_TYPE_F32, &f, "0x40200000 (2.5)"},
               {SCT_TYPE_I16, &i, "0xfffe (-2)"},
               {SCT_TYPE_U16, &i, "0xfffe (65534)"},
               {SCT_TYPE_F16, &half, "0x3e00 (1.5)"},
               {SCT_TYPE_BF16, &bf, "0x4020 (2.5)"},
               {SCT_TYPE_F16, &inf, "0xfc00 (-inf)"},
               {SCT_TYPE_F16, &tiny, "0x0001 (5.96046448e-08)"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str text = {0};
    sct_data_print(&text, cases[k].type, 0, cases[k].value);
    assert_string_equal(sct_str_c(&text), cases[k].text);
    sct_str_free(&text);
  }
}

/* ---- images ---- */

/* Element e of field f of the only input, read from its image through spec_offset. */
static void read_value(const sct_spec *spec, const uint8_t *image, int field, int64_t i,
                       void *out) {
  const int64_t idx[1] = {i};
  const int64_t offset = spec_offset(spec, 0, 0, field, idx, &spec->sizes[0]);
  memcpy(out, image + offset, (size_t)spec->operands[0].record.fields[field].bytes);
}

static void test_same_logical_data_in_every_layout(void **state) {
  (void)state;
  static const fixture_layout kinds[] = {FIXTURE_AOS, FIXTURE_SOA, FIXTURE_AOSOA};
  const int64_t n[] = {37};
  uint8_t values[SCT_COUNT(kinds)][37][3][8];
  memset(values, 0, sizeof values);
  for (int k = 0; k < SCT_COUNT(kinds); k++) {
    sct_spec spec;
    sct_addressing addressing;
    sct_shape shape;
    uint8_t *image = NULL;
    const fixture_array arrays[] = {{.name = "a", .types = "f64 u8 f32", .layout = kinds[k]},
                                    {.name = "b", .types = "f64 u8 f32", .layout = FIXTURE_AOS}};
    fixture_spec(&spec, "i", arrays, 1, 2, NULL, "b = a;", n);
    assert_ok(sct_addressing_init(&addressing, &spec, first_layout, 5, &fixture_err));
    assert_ok(sct_shape_init(&shape, &addressing, n, NULL, &fixture_err));
    assert_ok(sct_image_input(&image, &shape, 0, &fixture_err));
    for (int64_t i = 0; i < n[0]; i++) {
      for (int f = 0; f < 3; f++) {
        read_value(&spec, image, f, i, values[k][i][f]);
      }
    }
    sct_free(image);
    sct_shape_free(&shape);
    sct_addressing_free(&addressing);
    sct_spec_free(&spec);
  }
  assert_memory_equal(values[0], values[1], sizeof values[0]);
  assert_memory_equal(values[0], values[2], sizeof values[0]);
  assert_memory_not_equal(values[0][0], values[0][1], sizeof values[0][0]);
}

/* A problem at the size its spec names, with all images. */
typedef struct world {
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  uint8_t *image[8], *flags[8];
} world;

#define POISON 0xa5

static void world_open(world *w, const char *dims, const fixture_array *arrays, int n_inputs, int n,
                       const char *body, const int64_t *extents) {
  *w = (world){0};
  fixture_spec(&w->spec, dims, arrays, n_inputs, n, NULL, body, extents);
  assert_ok(sct_addressing_init(&w->addressing, &w->spec, first_layout, 5, &fixture_err));
  assert_ok(sct_shape_init(&w->shape, &w->addressing, extents, NULL, &fixture_err));
  sct_shape_index(&w->shape);
  for (int k = 0; k < n; k++) {
    if (k < n_inputs) {
      assert_ok(sct_image_input(&w->image[k], &w->shape, k, &fixture_err));
    } else {
      assert_ok(sct_image_output(&w->image[k], &w->shape, k, w->image, POISON, &fixture_err));
      assert_ok(sct_image_flags(&w->flags[k], &w->shape, k, &fixture_err));
    }
  }
}

static void world_close(world *w) {
  for (int k = 0; k < 8; k++) {
    sct_free(w->image[k]);
    sct_free(w->flags[k]);
  }
  sct_shape_free(&w->shape);
  sct_addressing_free(&w->addressing);
  sct_spec_free(&w->spec);
}

static void test_host_evaluation_is_the_layouts(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {23, 9};
  const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "f32", .layout = FIXTURE_COL}};
  world_open(&w, "row col", arrays, 1, 2, "b = a;", n);
  assert_int_equal(w.spec.n_moves, 1);
  for (int64_t row = 0; row < 23; row++) {
    for (int64_t col = 0; col < 9; col++) { /* written out: a transpose */
      assert_memory_equal(w.image[1] + 4 * (col * 23 + row), w.image[0] + 4 * (row * 9 + col), 4);
    }
  }
  for (int64_t k = 0; k < w.shape.op[1].bytes; k++) {
    assert_int_equal(w.flags[1][k], SCT_BYTE_OWNED | SCT_BYTE_WRITTEN);
  }
  world_close(&w);
}

/* Element by element, by another way of evaluating; rows are longer than what is done at once. */
static void check_elements(const char *dims, int n_dims, fixture_layout from, fixture_layout to,
                           const int64_t *n) {
  world w;
  const fixture_array arrays[] = {{.name = "a", .types = "f32 u8", .layout = from},
                                  {.name = "b", .types = "f32 u8", .layout = to}};
  world_open(&w, dims, arrays, 1, 2, "b = a;", n);
  int64_t idx[SCT_MAX_DIMS] = {0}, n_written = 0, k = 0;
  do {
    for (int f = 0; f < 2; f++, n_written += f == 1 ? 4 : 1) {
      const int64_t at = spec_offset(&w.spec, 0, 0, f, idx, &w.spec.sizes[0]);
      const int64_t out = spec_offset(&w.spec, 1, 0, f, idx, &w.spec.sizes[0]);
      const sct_type type = w.spec.operands[0].record.fields[f].type;
      uint8_t want[4];
      const sct_stream stream = {.key = sct_data_key(5, 0, f), .mix = SCT_MIX_ANY};
      sct_data_value(want, type, &stream, k);
      assert_memory_equal(w.image[0] + at, want, f == 0 ? 4 : 1);
      assert_memory_equal(w.image[1] + out, want, f == 0 ? 4 : 1);
      assert_int_equal(w.flags[1][out], SCT_BYTE_OWNED | SCT_BYTE_WRITTEN);
    }
    k++;
  } while (sct_next_index(idx, n, n_dims));
  assert_int_equal(k, w.shape.n_elements);
  for (int64_t byte = 0; byte < w.shape.op[1].bytes; byte++) {
    n_written -= w.flags[1][byte] != 0;
  }
  assert_int_equal(n_written, 0);
  world_close(&w);
}

static void test_images_of_long_and_short_rows(void **state) {
  (void)state;
  check_elements("row col", 2, FIXTURE_AOS, FIXTURE_COL, (const int64_t[]){3, 700});
  check_elements("row col", 2, FIXTURE_COL, FIXTURE_SOA, (const int64_t[]){70, 2});
  check_elements("row col", 2, FIXTURE_SOA, FIXTURE_COL, (const int64_t[]){9, 1});
  check_elements("row col", 2, FIXTURE_FANNED, FIXTURE_AOS, (const int64_t[]){5, 300});
  check_elements("row col", 2, FIXTURE_SOA, FIXTURE_FANNED, (const int64_t[]){7, 3});
  check_elements("i j k", 3, FIXTURE_AOS, FIXTURE_SOA, (const int64_t[]){4, 5, 6});
  check_elements("i j k l m", 5, FIXTURE_SOA, FIXTURE_AOS, (const int64_t[]){2, 3, 2, 3, 4});
  check_elements("i", 1, FIXTURE_AOSOA, FIXTURE_AOS, (const int64_t[]){1000}); /* i % 32, i // 32 */
  check_elements("i", 1, FIXTURE_SOA, FIXTURE_AOSOA, (const int64_t[]){513});
}

static void test_flags_tell_gaps_and_untouched_elements(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {10};
  const fixture_array arrays[] = {
      {.name = "a", .types = "f64 u8", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f64 u8", .layout = FIXTURE_AOS, .at = "i + 1", .pad = 2}};
  world_open(&w, "i", arrays, 1, 2, "b = a;", n);
  assert_int_equal(w.shape.op[1].bytes, 12 * 16);
  for (int64_t k = 0; k < w.shape.op[1].bytes; k++) {
    const bool written = k / 16 >= 1 && k / 16 <= 10, owned = k % 16 < 9;
    assert_int_equal(w.flags[1][k], owned ? SCT_BYTE_OWNED | (written ? SCT_BYTE_WRITTEN : 0) : 0);
    assert_true((written && owned) || w.image[1][k] == POISON);
  }
  world_close(&w);
}

/* The image and the flags of array 1 of the world, over again. */
static sct_status again(const world *w) {
  uint8_t *image = NULL, *flags = NULL;
  const sct_status a = sct_image_output(&image, &w->shape, 1, w->image, POISON, &fixture_err);
  const sct_status b = sct_image_flags(&flags, &w->shape, 1, &fixture_err);
  sct_free(image);
  sct_free(flags);
  assert_int_equal(a, b);
  return a;
}

/* Elements from the last one back, at strides or not. */
static void test_elements_outside_of_their_array_are_told(void **state) {
  (void)state;
  static const fixture_layout layouts[] = {FIXTURE_SOA, FIXTURE_AOS, FIXTURE_AOSOA};
  for (int k = 0; k < SCT_COUNT(layouts); k++) {
    world w;
    const int64_t n[] = {40};
    const fixture_array arrays[] = {
        {.name = "a", .types = "f32 u8", .layout = layouts[k]},
        {.name = "b", .types = "f32 u8", .layout = layouts[k], .at = "39 - i"}};
    world_open(&w, "i", arrays, 1, 2, "b = a;", n);
    assert_ok(again(&w));
    w.shape.op[1].n_written = w.shape.op[1].write_extent[0] = 41; /* the last is element -1 */
    assert_int_equal(again(&w), SCT_EINTERNAL);
    assert_non_null(strstr(fixture_err.text, "an element of 'b' lies outside its array"));
    w.shape.op[1].n_written = w.shape.op[1].write_extent[0] = 40;
    int64_t end = w.shape.op[1].bytes;
    while (w.flags[1][end - 1] == 0) { /* padding */
      end--;
    }
    w.shape.op[1].bytes = end;
    assert_ok(again(&w));
    w.shape.op[1].bytes = end - 1;
    assert_int_equal(again(&w), SCT_EINTERNAL);
    world_close(&w);
  }
}

static void test_gather_reads_through_the_index(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {50, 31};
  const fixture_array arrays[] = {
      {.name = "pick", .types = "i32", .layout = FIXTURE_AOS},
      {.name = "table", .types = "f64", .dims = "m", .at = "pick", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f64", .layout = FIXTURE_AOS}};
  world_open(&w, "i", arrays, 2, 3, "b = table;", n);
  bool varies = false;
  for (int64_t i = 0; i < 50; i++) {
    int32_t pick;
    memcpy(&pick, w.image[0] + 4 * i, 4);
    assert_int_equal(pick, sct_spec_index_value(&w.spec, 0, i, &w.spec.sizes[0]));
    assert_memory_equal(w.image[2] + 8 * i, w.image[1] + 8 * pick, 8);
    varies = varies || pick != i % 31;
  }
  assert_true(varies);
  assert_true(sct_shape_is_legal(&w.shape));
  w.shape.op[1].extent[0] = 30; /* shorter than values may say: each of them is looked at */
  for (int64_t i = 0; i < 50; i++) {
    w.shape.op[0].values[i] = i % 30;
  }
  assert_true(sct_shape_is_legal(&w.shape));
  w.shape.op[0].values[49] = 30; /* one past the table */
  assert_false(sct_shape_is_legal(&w.shape));
  world_close(&w);
}

static void test_many_index_values_agree_with_single_ones(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {160001, 160001}; /* enough for several threads */
  const fixture_array arrays[] = {
      {.name = "pick", .types = "i32", .layout = FIXTURE_AOS},
      {.name = "table", .types = "u8", .dims = "m", .at = "pick", .layout = FIXTURE_AOS},
      {.name = "b", .types = "u8", .layout = FIXTURE_AOS}};
  world_open(&w, "i", arrays, 2, 3, "b = table;", n);
  for (int64_t i = 0; i < n[0]; i += 977) {
    assert_int_equal(w.shape.op[0].values[i],
                     sct_spec_index_value(&w.spec, 0, i, &w.spec.sizes[0]));
  }
  assert_int_equal(w.shape.op[0].values[n[0] - 1],
                   sct_spec_index_value(&w.spec, 0, n[0] - 1, &w.spec.sizes[0]));
  world_close(&w);
}

/* ---- differences ---- */

static sct_verdict check(const world *w, int op, const uint8_t *got, double tolerance) {
  sct_verdict v = {.outcome = SCT_OUT_OK};
  sct_check_output(&v, &w->shape, op, got, w->image[op], w->flags[op], POISON, tolerance, NULL,
                   NULL);
  return v;
}

static void test_differences_name_the_place(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {10};
  const fixture_array arrays[] = {
      {.name = "a", .types = "f32 u8", .layout = FIXTURE_AOS},
      {.name = "b", .types = "f32 u8", .layout = FIXTURE_AOS, .at = "i + 1", .pad = 2}};
  world_open(&w, "i", arrays, 1, 2, "b = a;", n);
  uint8_t got[96];
  memcpy(got, w.image[1], sizeof got);
  assert_int_equal(check(&w, 1, got, 0).outcome, SCT_OUT_OK);
  got[8 * 1 + 6] = 1; /* padding, owned by the layout */
  assert_int_equal(check(&w, 1, got, 0).outcome, SCT_OUT_OK);

  const float wrong = 8.0F, right = 1.25F;
  memcpy(w.image[1] + 8 * 4, &right, 4);
  memcpy(got + 8 * 4, &wrong, 4);
  sct_verdict v = check(&w, 1, got, 0);
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
  assert_string_equal(v.detail, "b.x0 of element i=3 (n_i=10): 0x41000000 (8) instead of "
                                "0x3fa00000 (1.25)");
  memset(got + 8 * 4, POISON, 4);
  v = check(&w, 1, got, 0);
  assert_int_equal(v.outcome, SCT_OUT_NOT_WRITTEN);
  assert_non_null(strstr(v.detail, "b.x0 of element i=3"));
  memcpy(got + 8 * 4, w.image[1] + 8 * 4, 4);

  got[8 * 11] = 0; /* the last element is not in the index space */
  v = check(&w, 1, got, 0);
  assert_int_equal(v.outcome, SCT_OUT_OUT_OF_BOUNDS);
  assert_non_null(strstr(v.detail, "b.x0 of its own element [11]"));
  world_close(&w);
}

static void test_gaps_that_nobody_owns_must_stay(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {3, 5};
  const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "f32", .layout = FIXTURE_PITCHED}};
  world_open(&w, "row col", arrays, 1, 2, "b = a;", n);
  uint8_t got[3 * 64];
  memcpy(got, w.image[1], sizeof got);
  assert_int_equal(check(&w, 1, got, 0).outcome, SCT_OUT_OK);
  got[64 + 20] = 0; /* behind the second row */
  const sct_verdict v = check(&w, 1, got, 0);
  assert_int_equal(v.outcome, SCT_OUT_OUT_OF_BOUNDS);
  assert_string_equal(v.detail,
                      "byte 84 of b, between its elements (n_row=3 n_col=5): 0x00 instead of 0xa5");
  assert_int_equal(check(&w, 1, got, 0.1).outcome, SCT_OUT_OUT_OF_BOUNDS);
  world_close(&w);
}

static void test_tolerance_is_relative(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {4};
  const fixture_array arrays[] = {{.name = "a", .types = "f32x2 i32", .layout = FIXTURE_SOA},
                                  {.name = "b", .types = "f32x2 i32", .layout = FIXTURE_SOA}};
  world_open(&w, "i", arrays, 1, 2, "b = a;", n);
  uint8_t got[4 * 16];
  float x;
  memcpy(got, w.image[1], sizeof got);
  memcpy(&x, got + 12, 4); /* i = 1, lane 1 */
  const float near = x * 1.0005F, far = x * 1.01F;
  memcpy(got + 12, &near, 4);
  assert_int_equal(check(&w, 1, got, 0).outcome, SCT_OUT_WRONG_RESULT);
  assert_int_equal(check(&w, 1, got, 1e-3).outcome, SCT_OUT_OK);
  sct_verdict v = check(&w, 1, got, 1e-4);
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
  assert_non_null(strstr(v.detail, "; if rounding may differ, `tolerance = 0.001` in the spec "
                                   "accepts this difference"));
  const float a_bit = *(const float *)(const void *)(w.image[1] + 8) * 1.0005F;
  memcpy(got + 8, &a_bit, 4); /* lane 0 is within the tolerance */
  memcpy(got + 12, &far, 4);
  v = check(&w, 1, got, 1e-3);
  assert_int_equal(v.outcome, SCT_OUT_WRONG_RESULT);
  assert_null(strstr(v.detail, "tolerance"));
  char expected[64];
  snprintf(expected, sizeof expected, "(%.9g) instead of", (double)far);
  assert_non_null(strstr(v.detail, expected)); /* the lane that is off, not the first */
  memcpy(got, w.image[1], sizeof got);
  got[32] ^= 1; /* an integer: no tolerance */
  assert_int_equal(check(&w, 1, got, 0.5).outcome, SCT_OUT_WRONG_RESULT);
  world_close(&w);
}

/* What compilers fuse is better written as they do than taken within a tolerance. */
static void test_products_are_fused_before_they_are_tolerated(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {5};
  const fixture_array arrays[] = {{.name = "a", .types = "f32"}, {.name = "b", .types = "f32"}};
  world_open(&w, "i", arrays, 1, 2, "b = a * 3.0f + a;", n);
  uint8_t got[5 * 4];
  memcpy(got, w.image[1], sizeof got);
  got[4] ^= 1;
  const sct_verdict v = check(&w, 1, got, 0);
  const char *const fused = strstr(v.detail, "write `fmaf(x, y, z)` (`fma` of doubles)");
  assert_non_null(fused);
  assert_non_null(strstr(fused, "if rounding may differ, `tolerance = 1e-0"));
  world_close(&w);
}

/* Beside what cancelled, values that did not: their errors are what it may be off by. */
static void test_a_small_value_may_be_off_by_what_is_usual(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {5};
  const fixture_array arrays[] = {{.name = "a", .types = "f32"}, {.name = "b", .types = "f32"}};
  world_open(&w, "i", arrays, 1, 2, "b = a;", n);
  static const float want[] = {0.001F, 100, -200, 300, 1e30F}; /* the median is 200 */
  float got[5];
  memcpy(w.image[1], want, sizeof want);
  memcpy(got, want, sizeof got);
  got[0] += 0.19F;
  assert_int_equal(check(&w, 1, (uint8_t *)got, 1e-3).outcome, SCT_OUT_OK);
  got[0] += 0.02F;
  assert_int_equal(check(&w, 1, (uint8_t *)got, 1e-3).outcome, SCT_OUT_WRONG_RESULT);
  world_close(&w);
}

/* The verdict on a value's bits, the second of three that the body gives. */
static sct_verdict check_bits(const char *body, uint32_t got, uint32_t want, double tolerance) {
  world w;
  const int64_t n[] = {3};
  const fixture_array arrays[] = {{.name = "a", .types = "f32"}, {.name = "b", .types = "f32"}};
  world_open(&w, "i", arrays, 1, 2, body, n);
  uint8_t all[12];
  memcpy(w.image[1] + 4, &want, 4);
  memcpy(all, w.image[1], sizeof all);
  memcpy(all + 4, &got, 4);
  const sct_verdict v = check(&w, 1, all, tolerance);
  world_close(&w);
  return v;
}

/* NaN for NaN, whatever its bits where it was computed; nothing near it or infinity. */
static void test_special_results_are_equal_or_wrong(void **state) {
  (void)state;
  static const struct {
    uint32_t got, want;
    bool moved, computed; /* is that right? */
  } cases[] = {{0x7fffffff, 0x7fffffff, true, true},   {0xffc00001, 0x7fffffff, false, true},
               {0x7fffffff, 0x3f800000, false, false}, {0x3f800000, 0x7fffffff, false, false},
               {0x7f800000, 0x7f800000, true, true},   {0x3f800000, 0x7f800000, false, false},
               {0x7f800000, 0x3f800000, false, false}, {0x7f800000, 0xff800000, false, false},
               {0x7fffffff, 0x7f800000, false, false}};
  for (int k = 0; k < SCT_COUNT(cases) * 4; k++) {
    const bool computes = k % 2 == 1;
    const sct_verdict v = check_bits(computes ? "b = 1 * a;" : "b = a;", cases[k / 4].got,
                                     cases[k / 4].want, k / 2 % 2 == 1 ? 0.01 : 0);
    assert_int_equal(v.outcome == SCT_OUT_OK,
                     computes ? cases[k / 4].computed : cases[k / 4].moved);
  }
}

/* x * y + z is infinite or NaN in one kernel and not in another where only one rounds x * y. */
static void test_fused_products_are_hinted_at(void **state) {
  (void)state;
  const sct_verdict verdicts[] = {check_bits("b = 2 * a + a * a;", 0x7fffffff, 0xff800000, 0),
                                  check_bits("b = 2 * a + a * a;", 0x3f800000, 0x7f800000, 0),
                                  check_bits("b = 2 * a + a * a;", 0x3f800000, 0x41800000, 0),
                                  check_bits("b = 2 * a;", 0x7fffffff, 0xff800000, 0)};
  for (int k = 0; k < SCT_COUNT(verdicts); k++) {
    assert_int_equal(verdicts[k].outcome, SCT_OUT_WRONG_RESULT);
    assert_int_equal(strstr(verdicts[k].detail, "`fmaf(x, y, z)`") != NULL, k < 2);
  }
}

static void test_lengths_are_checked(void **state) {
  (void)state;
  world w;
  const int64_t n[] = {4}, negative[] = {-1}, huge[] = {INT64_MAX};
  const fixture_array arrays[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                  {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};
  world_open(&w, "i", arrays, 1, 2, "b = a;", n);
  sct_shape s;
  assert_int_equal(sct_shape_init(&s, &w.addressing, negative, NULL, NULL), SCT_ESPEC);
  assert_int_equal(sct_shape_init(&s, &w.addressing, huge, NULL, NULL), SCT_ESPEC);
  const int bad_layout[] = {1, 0};
  sct_addressing addressing;
  assert_int_equal(sct_addressing_init(&addressing, &w.spec, bad_layout, 1, &fixture_err),
                   SCT_EUSAGE);
  assert_non_null(strstr(fixture_err.text, "'a'"));
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_floats_are_ordinary_numbers),
      cmocka_unit_test(test_vectors_have_independent_lanes),
      cmocka_unit_test(test_every_special_value_comes_soon),
      cmocka_unit_test(test_integers_reach_their_ends),
      cmocka_unit_test(test_values_rise_or_fall),
      cmocka_unit_test(test_bools_are_0_or_1),
      cmocka_unit_test(test_small_floats_are_hostile_too),
      cmocka_unit_test(test_mixed_masks_read_as_normal_numbers),
      cmocka_unit_test(test_scalars_are_small_and_not_zero),
      cmocka_unit_test(test_values_print_in_hex_and_as_numbers),
      cmocka_unit_test(test_same_logical_data_in_every_layout),
      cmocka_unit_test(test_host_evaluation_is_the_layouts),
      cmocka_unit_test(test_images_of_long_and_short_rows),
      cmocka_unit_test(test_flags_tell_gaps_and_untouched_elements),
      cmocka_unit_test(test_elements_outside_of_their_array_are_told),
      cmocka_unit_test(test_gather_reads_through_the_index),
      cmocka_unit_test(test_many_index_values_agree_with_single_ones),
      cmocka_unit_test(test_differences_name_the_place),
      cmocka_unit_test(test_gaps_that_nobody_owns_must_stay),
      cmocka_unit_test(test_tolerance_is_relative),
      cmocka_unit_test(test_products_are_fused_before_they_are_tolerated),
      cmocka_unit_test(test_a_small_value_may_be_off_by_what_is_usual),
      cmocka_unit_test(test_special_results_are_equal_or_wrong),
      cmocka_unit_test(test_fused_products_are_hinted_at),
      cmocka_unit_test(test_lengths_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
