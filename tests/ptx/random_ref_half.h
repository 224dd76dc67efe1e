/* Plain C for random_ops_half.def: 16-bit floats by way of double, rounded once. */
#ifndef TESTS_RANDOM_REF_HALF_H
#define TESTS_RANDOM_REF_HALF_H

#include "random_ref.h"

enum { REF_LARGER = 8 }; /* of minmax: the larger one */

#define ref_half_one  UINT64_C(0x3c00)
#define ref_half_one2 UINT64_C(0x3c003c00)
#define ref_bf16_one  UINT64_C(0x3f80)
#define ref_bf16_one2 UINT64_C(0x3f803f80)

static inline float ref_from_bf16(uint64_t bits) {
  return ref_f32(bits << 16);
}

/* a * b + c, of which a * b is exact, rounded to odd: what comes after it rounds as if it had seen
 * all digits (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). */
static inline double ref_fma_to_odd(double a, double b, double c) {
  volatile double p = a * b, s = p + c, part = s - p;
  volatile double lost = (p - (s - part)) + (c - part);
  if (!isfinite(s) || !(lost < 0 || lost > 0) || (ref_bits64(s) & 1) != 0) {
    return s;
  }
  return nextafter(s, lost > 0 ? INFINITY : -INFINITY);
}

static inline uint64_t ref_flush16(uint64_t bits, int flags) {
  return (flags & REF_FTZ) && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
}

typedef uint64_t (*ref_of_16)(uint64_t a, uint64_t b, uint64_t c, int flags);

static inline uint64_t ref_half_fma(uint64_t a, uint64_t b, uint64_t c, int flags) {
  double v =
      ref_fma_to_odd(ref_from_half(ref_flush16(a, flags)), ref_from_half(ref_flush16(b, flags)),
                     ref_from_half(ref_flush16(c, flags)));
  if (flags & REF_SAT) {
    v = v > 0 ? (v < 1 ? v : 1) : 0;
  }
  /* flushed is what is below 2^-14 when it is rounded as a normal number is */
  const uint64_t bits = ref_to_half(v, REF_RN);
  return (flags & REF_FTZ) && fabs(v) < 0x1p-14 - 0x1p-26 ? bits & 0x8000 : bits;
}
static inline uint64_t ref_bf16_fma(uint64_t a, uint64_t b, uint64_t c, int flags) {
  (void)flags;
  return ref_to_bf16(ref_fma_to_odd(ref_from_bf16(a), ref_from_bf16(b), ref_from_bf16(c)), REF_RN);
}

static inline uint64_t ref_minmax16(uint64_t a, uint64_t b, double x, double y, int flags) {
  if ((isnan(x) && isnan(y)) || ((flags & REF_NAN) && ref_unordered(x, y))) {
    return 0x7fff;
  }
  if (isnan(x) || isnan(y)) {
    return isnan(x) ? b : a;
  }
  const bool first = x < y || (x <= y && signbit(x) != 0);
  return first != ((flags & REF_LARGER) != 0) ? a : b;
}
static inline uint64_t ref_half_minmax(uint64_t a, uint64_t b, uint64_t c, int flags) {
  (void)c;
  return ref_minmax16(a, b, ref_from_half(a), ref_from_half(b), flags);
}
static inline uint64_t ref_bf16_minmax(uint64_t a, uint64_t b, uint64_t c, int flags) {
  (void)c;
  return ref_minmax16(a, b, ref_from_bf16(a), ref_from_bf16(b), flags);
}

#define REF_16(name, expr)                                                                         \
  static inline uint64_t ref_##name(uint64_t a, uint64_t b, uint64_t c, int flags) {               \
    (void)c, (void)flags;                                                                          \
    return (uint64_t)(expr);                                                                       \
  }
REF_16(add_u16, a + b)
REF_16(add_s16, a + b)
REF_16(min_u16, a < b ? a : b)
REF_16(max_u16, a > b ? a : b)
REF_16(min_s16, (int16_t)a < (int16_t)b ? a : b)
REF_16(max_s16, (int16_t)a > (int16_t)b ? a : b)

/* Applies a 16-bit operation to both halves of 32 bits. */
static inline uint64_t ref_pair(uint64_t a, uint64_t b, uint64_t c, ref_of_16 of, int flags) {
  const uint64_t low = of(a & 0xffff, b & 0xffff, c & 0xffff, flags) & 0xffff;
  return low | (of(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff, flags) & 0xffff) << 16;
}

#endif
