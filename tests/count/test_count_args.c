/* Arguments as bytes: integers, reals of four formats, structs; and what does not fit. */
#include "count/count_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

static int type_of(const char *name) {
  for (int k = 0; k < count_n_types; k++) {
    if (strcmp(count_types[k].name, name) == 0) {
      return k;
    }
  }
  fail_msg("no type '%s'", name);
  return -1;
}

static uint64_t of_buffers[] = {0x1000, 0x200000000};
static count_addresses addresses = {.of = of_buffers};

static bool encode(void *out, int64_t bytes, char number, const sct_count_arg *arg, sct_str *why) {
  const count_layout to = {.bytes = bytes, .number = number};
  return count_encode(out, &to, arg, &addresses, why);
}

/* The encoded bytes as a number, little-endian. */
static uint64_t encoded(const sct_count_arg *arg, int64_t bytes) {
  uint8_t out[8] = {0};
  uint64_t v = 0;
  sct_str why = {0};
  if (!encode(out, bytes, '\0', arg, &why)) {
    fail_msg("%s", sct_str_c(&why));
  }
  memcpy(&v, out, 8);
  return v;
}

static void expect_refusal(const sct_count_arg *arg, int64_t bytes, const char *says) {
  uint8_t out[64];
  sct_str why = {0};
  assert_false(encode(out, bytes, '\0', arg, &why));
  if (strstr(sct_str_c(&why), says) == NULL) {
    fail_msg("no '%s' in: %s", says, sct_str_c(&why));
  }
  sct_str_free(&why);
}

static sct_count_arg integer(int64_t v) {
  return (sct_count_arg){.kind = SCT_COUNT_INTEGER, .integer = v, .type = -1};
}

static sct_count_arg real(double v, const char *type) {
  return (sct_count_arg){.kind = SCT_COUNT_REAL, .real = v, .type = type ? type_of(type) : -1};
}

static void integers_take_the_size_of_their_parameter(void **state) {
  (void)state;
  const struct {
    int64_t value, bytes;
    uint64_t want;
  } good[] = {{-1, 1, 0xff},
              {255, 1, 0xff},
              {-128, 1, 0x80},
              {65535, 2, 0xffff},
              {-2, 4, 0xfffffffe},
              {4294967295, 4, 0xffffffff},
              {-2147483648LL, 4, 0x80000000},
              {INT64_MIN, 8, 0x8000000000000000},
              {INT64_MAX, 8, INT64_MAX}};
  for (int k = 0; k < SCT_COUNT(good); k++) {
    const sct_count_arg arg = integer(good[k].value);
    assert_true(encoded(&arg, good[k].bytes) == good[k].want);
  }
  const struct {
    int64_t value, bytes;
  } bad[] = {{256, 1}, {-129, 1}, {65536, 2}, {-32769, 2}, {4294967296, 4}, {-2147483649LL, 4}};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    const sct_count_arg arg = integer(bad[k].value);
    expect_refusal(&arg, bad[k].bytes, "does not fit");
  }
  const sct_count_arg arg = integer(1);
  expect_refusal(&arg, 12, "expected a list of its members");
}

/* Bits from the tables of IEEE 754 binary16 and of bfloat16. */
static void reals_are_rounded_to_their_format(void **state) {
  (void)state;
  const struct {
    double value;
    const char *type;
    int64_t bytes;
    uint64_t want;
  } good[] = {
      {1.5, NULL, 4, 0x3fc00000},
      {1.5, NULL, 8, 0x3ff8000000000000},
      {1.5, NULL, 2, 0x3e00},
      {1.5, "bf16", 2, 0x3fc0},
      {-2.0, "f16", 2, 0xc000},
      {-0.0, "f16", 2, 0x8000},
      {0.0, "f16", 2, 0},
      {65504, "f16", 2, 0x7bff},           /* the largest */
      {65519.999, "f16", 2, 0x7bff},       /* still rounds down */
      {65520, "f16", 2, 0x7c00},           /* halfway: to even, which is infinity */
      {1e300, "f16", 2, 0x7c00},           /* far beyond */
      {-1e300, "bf16", 2, 0xff80},         /* */
      {0x1p-14, "f16", 2, 0x0400},         /* the smallest normal number */
      {0x1p-24, "f16", 2, 0x0001},         /* the smallest of all */
      {0x1p-25, "f16", 2, 0x0000},         /* halfway to it: to even */
      {0x1.8p-25, "f16", 2, 0x0001},       /* above half */
      {0x1.ffcp-15, "f16", 2, 0x0400},     /* rounds up into the normal numbers */
      {1.0 + 0x1p-11, "f16", 2, 0x3c00},   /* tie to even */
      {1.0 + 0x1.8p-10, "f16", 2, 0x3c02}, /* tie to even, upwards */
      {1.0 + 0x1.01p-8, "bf16", 2, 0x3f81},
      {0x1p-133, "bf16", 2, 0x0001},
      {1e-300, "f16", 2, 0},
  };
  for (int k = 0; k < SCT_COUNT(good); k++) {
    const sct_count_arg arg = real(good[k].value, good[k].type);
    const uint64_t got = encoded(&arg, good[k].bytes);
    if (got != good[k].want) {
      fail_msg("%a: 0x%llx, expected 0x%llx", good[k].value, (unsigned long long)got,
               (unsigned long long)good[k].want);
    }
  }
  const sct_count_arg arg = real(1.5, NULL), single = real(1, "f32");
  expect_refusal(&arg, 1, "a number with a point for 1 bytes");
  expect_refusal(&single, 8, "f32 has 4 bytes, expected 8");
}

/* A whole number for a float is that float. */
static void numbers_are_of_the_parameter_s_kind(void **state) {
  (void)state;
  const sct_count_arg whole = integer(3), point = real(1.5, NULL), typed = real(1.5, "f32");
  sct_count_arg bits = integer(3);
  float single = 0;
  double wide = 0;
  int32_t word = 0;
  sct_str why = {0};
  bits.type = type_of("i32");
  assert_true(encode(&single, 4, 'f', &whole, &why));
  assert_true(encode(&wide, 8, 'f', &whole, &why));
  assert_true(single == 3.0F && wide == 3.0);
  assert_true(encode(&word, 4, 'f', &bits, &why) && word == 3);
  assert_true(encode(&word, 4, 'i', &typed, &why));
  assert_int_equal(word, 0x3fc00000);
  assert_false(encode(&word, 4, 'i', &point, &why));
  assert_string_equal(sct_str_c(&why), "a number with a point, expected a whole one of 4 bytes");
  sct_str_free(&why);
}

static void addresses_have_eight_bytes(void **state) {
  (void)state;
  const sct_count_arg at = {.kind = SCT_COUNT_BUFFER, .buffer = 1, .offset = 16, .type = -1};
  const sct_count_arg none = {.kind = SCT_COUNT_NULL, .type = -1};
  assert_true(encoded(&at, 8) == 0x200000010);
  assert_true(encoded(&none, 8) == 0);
  expect_refusal(&at, 4, "an address has 8 bytes, expected 4");
}

/* struct { char c; float *p; struct { short s; float f; } in; } has 24 bytes. */
static void structs_are_laid_out_as_in_c(void **state) {
  (void)state;
  sct_count_arg inner[] = {integer(7), real(1.0, NULL)};
  inner[0].type = type_of("i16");
  sct_count_arg members[] = {
      integer(-1),
      {.kind = SCT_COUNT_BUFFER, .buffer = 0, .type = -1},
      {.kind = SCT_COUNT_STRUCT, .members = inner, .n_members = 2, .type = -1}};
  members[0].type = type_of("i8");
  sct_count_arg arg = {.kind = SCT_COUNT_STRUCT, .members = members, .n_members = 3, .type = -1};
  static const uint8_t want[24] = {0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0,    0,
                                   0,    0, 0, 0, 7, 0, 0, 0, 0, 0,    0x80, 0x3f};
  uint8_t got[24];
  sct_str why = {0};
  assert_true(encode(got, 24, '\0', &arg, &why));
  assert_memory_equal(got, want, 24);
  const count_pointer *last = &addresses.pointers[addresses.n - 1];
  assert_true(last->at == got + 8 && last->buffer == 0 && last->offset == 0);
  arg.n_members = 1;
  expect_refusal(&arg, 24, "members take 1 bytes, expected 24");
  members[0].integer = 300;
  expect_refusal(&arg, 1, "300 does not fit");
}

/* struct { short s; double d; } as the compiler lays it out, given as two whole numbers. */
static void structs_are_laid_out_as_the_compiler_says(void **state) {
  (void)state;
  count_layout members[] = {{.offset = 0, .bytes = 2}, {.offset = 8, .bytes = 8, .number = 'f'}};
  const count_layout to = {.bytes = 16, .members = members};
  sct_count_arg given[] = {integer(7), integer(2)};
  const sct_count_arg arg = {
      .kind = SCT_COUNT_STRUCT, .members = given, .n_members = 2, .type = -1};
  uint8_t got[16];
  double d = 0;
  sct_str why = {0};
  assert_true(count_encode(got, &to, &arg, &addresses, &why));
  memcpy(&d, got + 8, sizeof d);
  assert_true(got[0] == 7 && got[2] == 0 && d == 2.0);
  members[1].offset = 12; /* a member of another struct */
  assert_false(count_encode(got, &to, &arg, &addresses, &why));
  assert_string_equal(sct_str_c(&why), "member 2 ends after the 16 bytes there are");
  sct_str_free(&why);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_take_the_size_of_their_parameter),
      cmocka_unit_test(reals_are_rounded_to_their_format),
      cmocka_unit_test(numbers_are_of_the_parameter_s_kind),
      cmocka_unit_test(addresses_have_eight_bytes),
      cmocka_unit_test(structs_are_laid_out_as_in_c),
      cmocka_unit_test(structs_are_laid_out_as_the_compiler_says),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sct_free(addresses.pointers);
  return failed;
}
