/* Exact arithmetic on 16-bit floats, for tests: every value, product and sum is an integer of 640
 * bits whose bit i weighs 2^(i - 280), so that there is one rounding, at the end, by looking at
 * bits. */
#ifndef TESTS_PTX_HALF_EXACT_H
#define TESTS_PTX_HALF_EXACT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define EXACT_WORDS 20
#define EXACT_POINT 280

typedef struct exact { /* two's complement */
  uint32_t w[EXACT_WORDS];
} exact;

typedef struct half_kind {
  const char *name;
  int mant, emin, emax;
} half_kind;

static const half_kind half_kinds[2] = {{"f16", 10, -14, 15}, {"bf16", 7, -126, 127}};

static inline int half_exp_field(const half_kind *k, uint32_t h) {
  return (int)((h & 0x7fff) >> k->mant);
}
static inline uint32_t half_inf(const half_kind *k) {
  return (uint32_t)(2 * k->emax + 1) << k->mant;
}
static inline bool half_is_nan(const half_kind *k, uint32_t h) {
  return (h & 0x7fff) > half_inf(k);
}
static inline bool half_is_inf(const half_kind *k, uint32_t h) {
  return (h & 0x7fff) == half_inf(k);
}
static inline bool half_is_subnormal(const half_kind *k, uint32_t h) {
  return half_exp_field(k, h) == 0;
}

/* |h| = *m * 2^*e */
static inline void half_split(const half_kind *k, uint32_t h, uint32_t *m, int *e) {
  const int field = half_exp_field(k, h);
  *m = h & ((1u << k->mant) - 1);
  if (field != 0) {
    *m |= 1u << k->mant;
  }
  *e = (field == 0 ? k->emin : field - k->emax) - k->mant;
}

static inline double half_value(const half_kind *k, uint32_t h) {
  uint32_t m = 0;
  int e = 0;
  if (half_is_nan(k, h)) {
    return (double)NAN;
  }
  half_split(k, h, &m, &e);
  const double v = half_is_inf(k, h) ? (double)INFINITY : ldexp(m, e);
  return h & 0x8000 ? -v : v;
}

static inline void exact_negate(exact *x) {
  uint64_t carry = 1;
  for (int i = 0; i < EXACT_WORDS; i++) {
    carry += (uint32_t)~x->w[i];
    x->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* x += (negative ? -1 : 1) * m * 2^e */
static inline void exact_add(exact *x, bool negative, uint32_t m, int e) {
  exact y = {{0}};
  const int at = e + EXACT_POINT;
  const uint64_t shifted = (uint64_t)m << (at % 32);
  y.w[at / 32] = (uint32_t)shifted;
  y.w[at / 32 + 1] = (uint32_t)(shifted >> 32);
  if (negative) {
    exact_negate(&y);
  }
  uint64_t carry = 0;
  for (int i = 0; i < EXACT_WORDS; i++) {
    carry += (uint64_t)x->w[i] + y.w[i];
    x->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

static inline bool exact_bit(const exact *x, int i) {
  return i >= 0 && (x->w[i / 32] >> (i % 32) & 1) != 0;
}

/* To the nearest value of the kind, ties to even; an exact zero gets the sign `zero_negative`. */
static inline uint32_t exact_round(exact x, const half_kind *k, bool zero_negative) {
  const bool negative = x.w[EXACT_WORDS - 1] >> 31 != 0;
  int top = 32 * EXACT_WORDS - 1;
  if (negative) {
    exact_negate(&x);
  }
  while (top >= 0 && !exact_bit(&x, top)) {
    top--;
  }
  if (top < 0) {
    return zero_negative ? 0x8000 : 0;
  }
  const int exponent = top - EXACT_POINT < k->emin ? k->emin : top - EXACT_POINT;
  const int last = exponent - k->mant + EXACT_POINT; /* weighs one unit of the last place */
  uint32_t m = 0;
  for (int i = top; i >= last; i--) {
    m = m << 1 | exact_bit(&x, i);
  }
  bool below = false;
  for (int i = 0; i < last - 1; i++) {
    below = below || exact_bit(&x, i);
  }
  m += exact_bit(&x, last - 1) && (below || (m & 1) != 0);
  uint32_t out = ((uint32_t)(exponent - k->emin) << k->mant) + m;
  out = out > half_inf(k) ? half_inf(k) : out;
  return out | (negative ? 0x8000 : 0);
}

/* a * b + c with one rounding; NaN is 0x7fff. */
static inline uint32_t exact_fma(const half_kind *k, uint32_t a, uint32_t b, uint32_t c) {
  const bool negative = ((a ^ b) & 0x8000) != 0, c_negative = (c & 0x8000) != 0;
  const bool product_inf = half_is_inf(k, a) || half_is_inf(k, b);
  if (half_is_nan(k, a) || half_is_nan(k, b) || half_is_nan(k, c)) {
    return 0x7fff;
  }
  if (product_inf && ((a & 0x7fff) == 0 || (b & 0x7fff) == 0)) {
    return 0x7fff;
  }
  if (product_inf && half_is_inf(k, c) && negative != c_negative) {
    return 0x7fff;
  }
  if (product_inf || half_is_inf(k, c)) {
    return half_inf(k) | ((product_inf ? negative : c_negative) ? 0x8000 : 0);
  }
  uint32_t ma, mb, mc;
  int ea, eb, ec;
  exact x = {{0}};
  half_split(k, a, &ma, &ea);
  half_split(k, b, &mb, &eb);
  half_split(k, c, &mc, &ec);
  exact_add(&x, negative, ma * mb, ea + eb);
  exact_add(&x, c_negative, mc, ec);
  return exact_round(x, k, negative && c_negative);
}

#endif
