/* Conversions from 16-bit floats, over all 65536 of them: to every integer in every rounding, to
 * integral values, to the other format. Values are built from their bits (ptx_half_exact.h). */
#include "ptx_eval.h"
#include "ptx_half_exact.h"

#define ALL 65536

static const char *const modes[] = {"rni", "rzi", "rmi", "rpi"};

/* The integral neighbour of v in the direction of the mode; exact: halves have few bits. */
static double integral(double v, int mode) {
  const double below = floor(v), above = ceil(v);
  if (mode == 0) {
    const double rest = v - below;
    const bool even = fmod(below, 2) == 0;
    return rest < 0.5 || (rest == 0.5 && even) ? below : above;
  }
  return mode == 1 ? (v < 0 ? above : below) : mode == 2 ? below : above;
}

static void fill(uint64_t **in, uint64_t **out) {
  *in = calloc(ALL, sizeof **in);
  *out = calloc(ALL, sizeof **out);
  assert_non_null(*in);
  assert_non_null(*out);
  for (int i = 0; i < ALL; i++) {
    (*in)[i] = (uint64_t)i;
  }
}

static void check(const char *text, const uint64_t *out, int i, uint64_t want) {
  if (out[i] != want) {
    fail_msg("%s of %#x is %#llx, not %#llx", text, (unsigned)i, (unsigned long long)out[i],
             (unsigned long long)want);
  }
}

/* Out of range: the nearest end. NaN: 0, as 64-bit integers the uppermost bit alone. */
static uint64_t to_integer(double v, int mode, int bits, bool is_signed) {
  const double least = is_signed ? -ldexp(1, bits - 1) : 0;
  const double end = ldexp(1, is_signed ? bits - 1 : bits);
  if (isnan(v)) {
    return bits == 64 ? (uint64_t)1 << 63 : 0;
  }
  const double r = isinf(v) ? v : integral(v, mode);
  if (r <= least) {
    return is_signed ? (uint64_t)1 << (bits - 1) : 0;
  }
  if (r >= end) {
    return UINT64_MAX >> (64 - bits) >> is_signed;
  }
  return r < 0 ? (uint64_t)(int64_t)r : (uint64_t)r;
}

static void to_integers(void **state) {
  (void)state;
  static const int widths[] = {8, 16, 32, 64};
  uint64_t *in0, *out;
  fill(&in0, &out);
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int form = 0; form < 64; form++) { /* kind, sign, width, mode */
    const half_kind *k = &half_kinds[form & 1];
    const bool is_signed = form & 2;
    const int bits = widths[form >> 2 & 3], mode = form >> 4;
    char text[64];
    snprintf(text, sizeof text, "cvt.%s.%c%d.%s %%d, %%a", modes[mode], is_signed ? 's' : 'u', bits,
             k->name);
    eval(text, bits <= 16 ? "11" : bits == 32 ? "31" : "61", in, ALL, out);
    const uint64_t keep = bits <= 16 ? 0xffff : UINT64_MAX >> (64 - bits);
    for (int i = 0; i < ALL; i++) {
      uint64_t want = to_integer(half_value(k, (uint32_t)i), mode, bits, is_signed);
      if (bits == 8 && is_signed) { /* sign-extended in its 16-bit register */
        want = (uint64_t)(int64_t)(int8_t)want;
      }
      check(text, out, i, want & keep);
    }
  }
  free(in0);
  free(out);
}

/* The bits of the integral value are found in the table of all values. */
static void to_integral_values(void **state) {
  (void)state;
  uint64_t *in0, *out;
  fill(&in0, &out);
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int form = 0; form < 8; form++) {
    const half_kind *k = &half_kinds[form & 1];
    const int mode = form >> 1;
    char text[64];
    snprintf(text, sizeof text, "cvt.%s.%s.%s %%d, %%a", modes[mode], k->name, k->name);
    eval(text, "11", in, ALL, out);
    for (int i = 0; i < ALL; i++) {
      const double v = half_value(k, (uint32_t)i);
      if (isnan(v)) {
        check(text, out, i, 0x7fff);
        continue;
      }
      const double r = isinf(v) ? v : integral(v, mode);
      const double got = half_value(k, (uint32_t)out[i]);
      if (got != r || ((out[i] ^ (uint64_t)i) & 0x8000) != 0) {
        fail_msg("%s of %#x is %g, not %g", text, (unsigned)i, got, r);
      }
    }
  }
  free(in0);
  free(out);
}

static void to_the_other_format(void **state) {
  (void)state;
  uint64_t *in0, *out;
  fill(&in0, &out);
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int form = 0; form < 2; form++) {
    const half_kind *from = &half_kinds[form], *to = &half_kinds[1 - form];
    char text[64];
    snprintf(text, sizeof text, "cvt.rn.%s.%s %%d, %%a", to->name, from->name);
    eval(text, "11", in, ALL, out);
    for (int i = 0; i < ALL; i++) {
      const uint32_t h = (uint32_t)i;
      exact x = {{0}};
      uint32_t m = 0;
      int e = 0;
      if (half_is_nan(from, h)) {
        check(text, out, i, 0x7fff);
      } else if (half_is_inf(from, h)) {
        check(text, out, i, half_inf(to) | (h & 0x8000));
      } else {
        half_split(from, h, &m, &e);
        exact_add(&x, (h & 0x8000) != 0, m, e);
        check(text, out, i, exact_round(x, to, (h & 0x8000) != 0));
      }
    }
  }
  free(in0);
  free(out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(to_integers),
                                     cmocka_unit_test(to_integral_values),
                                     cmocka_unit_test(to_the_other_format)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
