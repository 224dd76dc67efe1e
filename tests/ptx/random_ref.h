/* Plain C for random_ops.def: what one lane's instruction gives. Nothing here comes from module
 * ptx.
 */
#ifndef TESTS_RANDOM_REF_H
#define TESTS_RANDOM_REF_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { REF_RN = FE_TONEAREST, REF_RZ = FE_TOWARDZERO, REF_RM = FE_DOWNWARD, REF_RP = FE_UPWARD };
enum { REF_FTZ = 1, REF_SAT = 2, REF_NAN = 4 };

/* ---- bits */

static inline float ref_f32(uint64_t bits) {
  const uint32_t b = (uint32_t)bits;
  float f = 0;
  memcpy(&f, &b, 4);
  return f;
}
static inline double ref_f64(uint64_t bits) {
  double f = 0;
  memcpy(&f, &bits, 8);
  return f;
}
static inline uint64_t ref_bits32(float f) {
  uint32_t b = 0;
  memcpy(&b, &f, 4);
  return b;
}
static inline uint64_t ref_bits64(double f) {
  uint64_t b = 0;
  memcpy(&b, &f, 8);
  return b;
}
static inline uint64_t ref_canon32(uint64_t bits) {
  return isnan(ref_f32(bits)) ? 0x7fffffffu : bits;
}
static inline uint64_t ref_canon64(uint64_t bits) {
  return isnan(ref_f64(bits)) ? UINT64_C(0x7ff8000000000000) : bits;
}
static inline uint64_t ref_flush(uint64_t bits) {
  return fpclassify(ref_f32(bits)) == FP_SUBNORMAL ? bits & 0x80000000u : bits;
}
static inline int ref_unordered(double a, double b) {
  return isnan(a) || isnan(b);
}
static inline uint64_t ref_clamp(int64_t v, int64_t lo, int64_t hi) {
  return (uint64_t)(v < lo ? lo : v > hi ? hi : v);
}

/* ---- integers */

/* Upper half of a 128-bit product, by halves. */
static inline uint64_t ref_mul_hi(uint64_t a, uint64_t b, bool is_signed) {
  const uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
  const uint64_t mid = ah * bl + (al * bl >> 32), low = (mid & 0xffffffffu) + al * bh;
  uint64_t hi = ah * bh + (mid >> 32) + (low >> 32);
  if (is_signed) {
    hi -= (a >> 63 ? b : 0) + (b >> 63 ? a : 0);
  }
  return hi;
}

static inline uint64_t ref_lop3(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint64_t d = 0;
  for (int k = 0; k < 32; k++) {
    const int at = (int)((a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1));
    d |= (table >> at & 1) << k;
  }
  return d;
}
static inline uint64_t ref_bmsk(uint64_t a, uint64_t b, bool wrap) {
  const uint64_t pos = a & 31, width = b & 31;
  const bool over = !wrap && (a >= 32 || b >= 32);
  const uint64_t from = !wrap && a >= 32 ? 0 : UINT64_C(0xffffffff) << pos;
  const uint64_t behind = over || pos + width >= 32 ? 0 : UINT64_C(0xffffffff) << (pos + width);
  return from & ~behind & 0xffffffffu;
}
static inline uint64_t ref_szext(uint64_t a, uint64_t b, bool wrap, bool is_signed) {
  const uint64_t width = b & 31;
  if (!wrap && b >= 32) {
    return a;
  }
  const uint64_t high = UINT64_C(0xffffffff) << width & 0xffffffffu;
  const bool negative = is_signed && width > 0 && (a >> (width - 1) & 1) != 0;
  return (a & ~high) | (negative ? high : 0);
}
static inline uint64_t ref_bytes(uint64_t a, uint64_t b, int b3, int b2, int b1, int b0) {
  const uint64_t all = b << 32 | a;
  return (all >> 8 * b3 & 255) << 24 | (all >> 8 * b2 & 255) << 16 | (all >> 8 * b1 & 255) << 8 |
         (all >> 8 * b0 & 255);
}
static inline uint64_t ref_prmt(uint64_t a, uint64_t b, uint64_t c) {
  const uint64_t all = b << 32 | a;
  uint64_t d = 0;
  for (int k = 0; k < 4; k++) {
    const uint64_t pick = c >> 4 * k & 15, byte = all >> 8 * (pick & 7) & 255;
    d |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * k;
  }
  return d;
}
static inline uint64_t ref_prmt_f4e(uint64_t a, uint64_t b, uint64_t c) {
  const int k = (int)c;
  return ref_bytes(a, b, 3 + k, 2 + k, 1 + k, k);
}
static inline uint64_t ref_prmt_b4e(uint64_t a, uint64_t b, uint64_t c) {
  const int k = (int)c;
  return ref_bytes(a, b, (5 + k) & 7, (6 + k) & 7, (7 + k) & 7, k);
}
static inline uint64_t ref_prmt_rc8(uint64_t a, uint64_t b, uint64_t c) {
  const int k = (int)c;
  return ref_bytes(a, b, k, k, k, k);
}
static inline int ref_larger(int a, int b) {
  return a > b ? a : b;
}
static inline uint64_t ref_prmt_ecl(uint64_t a, uint64_t b, uint64_t c) {
  const int k = (int)c;
  return ref_bytes(a, b, 3, ref_larger(2, k), ref_larger(1, k), k);
}
static inline uint64_t ref_prmt_ecr(uint64_t a, uint64_t b, uint64_t c) {
  const int k = (int)c;
  return ref_bytes(a, b, k, k < 2 ? k : 2, k < 1 ? k : 1, 0);
}
static inline uint64_t ref_prmt_rc16(uint64_t a, uint64_t b, uint64_t c) {
  const int k = 2 * (int)(c & 1);
  return ref_bytes(a, b, k + 1, k, k + 1, k);
}
/* -a and |a| of a signed integer of so many bits; of the least one, what its neighbour gives. */
static inline uint64_t ref_neg(uint64_t a, int bits) {
  const uint64_t least = (uint64_t)1 << (bits - 1), mask = least | (least - 1);
  return (a & mask) == least ? least - 1 : 0 - a;
}

static inline uint64_t ref_abs(uint64_t a, int bits) {
  return (a >> (bits - 1) & 1) != 0 ? ref_neg(a, bits) : a;
}

static inline uint64_t ref_bfe(uint64_t a, uint64_t pos, uint64_t len, int width, bool is_signed) {
  const uint64_t msb = (uint64_t)width - 1;
  const uint64_t top = pos + len - 1 < msb ? pos + len - 1 : msb;
  const uint64_t sign = is_signed && len != 0 ? a >> top & 1 : 0;
  uint64_t d = 0;
  for (uint64_t k = 0; k <= msb; k++) {
    d |= (k < len && pos + k <= msb ? a >> (pos + k) & 1 : sign) << k;
  }
  return d;
}
static inline uint64_t ref_bfi(uint64_t a, uint64_t b, uint64_t pos, uint64_t len, int width) {
  uint64_t d = b;
  for (uint64_t k = 0; k < len && pos + k < (uint64_t)width; k++) {
    d = (d & ~((uint64_t)1 << (pos + k))) | (a >> k & 1) << (pos + k);
  }
  return d;
}
static inline uint64_t ref_clz(uint64_t a, int width) {
  uint64_t n = 0;
  while (n < (uint64_t)width && (a >> ((uint64_t)width - 1 - n) & 1) == 0) {
    n++;
  }
  return n;
}
static inline uint64_t ref_brev(uint64_t a, int width) {
  uint64_t d = 0;
  for (int k = 0; k < width; k++) {
    d |= (a >> k & 1) << (width - 1 - k);
  }
  return d;
}

/* ---- floats: volatile, so that no operation leaves its rounding mode */

static inline uint64_t ref_done32(volatile float *r, int flags) {
  fesetround(FE_TONEAREST);
  uint64_t bits = ref_canon32(ref_bits32(*r));
  if (flags & REF_SAT) {
    const float f = ref_f32(bits);
    bits = f > 0 ? ref_bits32(f < 1 ? f : 1.0f) : 0;
  }
  return flags & REF_FTZ ? ref_flush(bits) : bits;
}

/* .ftz with .rn, of a product that rounded to the least normal number: was it below 2^-126 by more
 * than half a unit of a normal number's last place? Long doubles hold products of floats. */
static inline uint64_t ref_flush_product(uint64_t bits, long double exact, int flags) {
  const bool least = (bits & 0x7fffffff) == 0x00800000;
  return (flags & REF_FTZ) && least && fabsl(exact) < 0x1p-126L - 0x1p-151L ? bits & 0x80000000
                                                                            : bits;
}

#define REF_OP32(name, expr)                                                                       \
  static inline uint64_t ref_##name(uint64_t a, uint64_t b, uint64_t c, int rounding, int flags) { \
    volatile float x = ref_f32(flags & REF_FTZ ? ref_flush(a) : a);                                \
    volatile float y = ref_f32(flags & REF_FTZ ? ref_flush(b) : b);                                \
    volatile float z = ref_f32(flags & REF_FTZ ? ref_flush(c) : c);                                \
    fesetround(rounding);                                                                          \
    volatile float r = expr;                                                                       \
    (void)y, (void)z;                                                                              \
    return ref_done32(&r, flags);                                                                  \
  }
REF_OP32(sum32, x + y)
REF_OP32(difference32, x - y)
REF_OP32(product32, x *y)
REF_OP32(quotient32, x / y)
REF_OP32(root32, sqrtf(x))
REF_OP32(fused32, fmaf(x, y, z))
#define ref_add32(a, b, r, flags) ref_sum32(a, b, 0, r, flags)
#define ref_sub32(a, b, r, flags) ref_difference32(a, b, 0, r, flags)
#define ref_in32(a, flags)        ref_f32((flags)&REF_FTZ ? ref_flush(a) : (a))
#define ref_mul32(a, b, r, flags)                                                                  \
  ref_flush_product(ref_product32(a, b, 0, r, flags),                                              \
                    (long double)ref_in32(a, flags) * ref_in32(b, flags), flags)
#define ref_div32(a, b, r, flags) ref_quotient32(a, b, 0, r, flags)
#define ref_sqrt32(a, r, flags)   ref_root32(a, 0, 0, r, flags)
#define ref_fma32(a, b, c, r, flags)                                                               \
  ref_flush_product(ref_fused32(a, b, c, r, flags),                                                \
                    fmal(ref_in32(a, flags), ref_in32(b, flags), ref_in32(c, flags)), flags)

#define REF_OP64(name, expr)                                                                       \
  static inline uint64_t ref_##name(uint64_t a, uint64_t b, uint64_t c, int rounding) {            \
    volatile double x = ref_f64(a), y = ref_f64(b), z = ref_f64(c);                                \
    fesetround(rounding);                                                                          \
    volatile double r = expr;                                                                      \
    (void)y, (void)z;                                                                              \
    fesetround(FE_TONEAREST);                                                                      \
    return ref_canon64(ref_bits64(r));                                                             \
  }
REF_OP64(sum64, x + y)
REF_OP64(difference64, x - y)
REF_OP64(product64, x *y)
REF_OP64(quotient64, x / y)
REF_OP64(root64, sqrt(x))
REF_OP64(fused64, fma(x, y, z))
#define ref_add64(a, b, r)    ref_sum64(a, b, 0, r)
#define ref_sub64(a, b, r)    ref_difference64(a, b, 0, r)
#define ref_mul64(a, b, r)    ref_product64(a, b, 0, r)
#define ref_div64(a, b, r)    ref_quotient64(a, b, 0, r)
#define ref_sqrt64(a, r)      ref_root64(a, 0, 0, r)
#define ref_fma64(a, b, c, r) ref_fused64(a, b, c, r)

/* -0 is below +0; one NaN gives the other operand. */
static inline uint64_t ref_minmax32(uint64_t a, uint64_t b, bool larger, int flags) {
  const uint64_t fa = flags & REF_FTZ ? ref_flush(a) : a, fb = flags & REF_FTZ ? ref_flush(b) : b;
  const float x = ref_f32(fa), y = ref_f32(fb);
  if ((isnan(x) && isnan(y)) || ((flags & REF_NAN) && ref_unordered(x, y))) {
    return 0x7fffffffu;
  }
  if (isnan(x) || isnan(y)) {
    return isnan(x) ? fb : fa;
  }
  const bool first = x < y || (x <= y && signbit(x) != 0);
  return first != larger ? fa : fb;
}
static inline uint64_t ref_minmax64(uint64_t a, uint64_t b, bool larger) {
  const double x = ref_f64(a), y = ref_f64(b);
  if (ref_unordered(x, y)) {
    return ref_canon64(isnan(x) ? b : a);
  }
  const bool first = x < y || (x <= y && signbit(x) != 0);
  return first != larger ? a : b;
}

/* ---- conversions */

#define REF_CONVERT(name, from, to, bits)                                                          \
  static inline uint64_t ref_##name(from a, int rounding) {                                        \
    volatile from x = a;                                                                           \
    fesetround(rounding);                                                                          \
    volatile to r = (to)x;                                                                         \
    fesetround(FE_TONEAREST);                                                                      \
    return bits(r);                                                                                \
  }
REF_CONVERT(u_to_f32, uint64_t, float, ref_bits32)
REF_CONVERT(s_to_f32, int64_t, float, ref_bits32)
REF_CONVERT(u_to_f64, uint64_t, double, ref_bits64)
REF_CONVERT(s_to_f64, int64_t, double, ref_bits64)
REF_CONVERT(double_to_f32, double, float, ref_bits32)

static inline uint64_t ref_f64_to_f32(uint64_t a, int rounding) {
  return ref_canon32(ref_double_to_f32(ref_f64(a), rounding));
}
static inline double ref_integral(double v, int rounding) {
  volatile double x = v;
  fesetround(rounding);
  volatile double r = nearbyint(x);
  fesetround(FE_TONEAREST);
  return r;
}
static inline uint64_t ref_integral32(uint64_t a, int rounding) {
  return ref_canon32(ref_bits32((float)ref_integral(ref_f32(a), rounding)));
}
static inline uint64_t ref_integral64(uint64_t a, int rounding) {
  return ref_canon64(ref_bits64(ref_integral(ref_f64(a), rounding)));
}
static inline uint64_t ref_to_int(double v, int rounding, int64_t lo, int64_t hi) {
  const double r = isnan(v) ? 0 : ref_integral(v, rounding);
  if (r >= 9223372036854775808.0 || r < -9223372036854775808.0) {
    return (uint64_t)(r > 0 ? hi : lo);
  }
  return ref_clamp((int64_t)r, lo, hi);
}
static inline uint64_t ref_to_u64(double v, int rounding) {
  const double r = isnan(v) ? 0 : ref_integral(v, rounding);
  return r >= 18446744073709551616.0 ? UINT64_MAX : r > 0 ? (uint64_t)r : 0;
}

/* ---- halves: `digits` of the significand, exponents from `least` (of the last digit of a
 * subnormal) to `most`; what is lost decides by comparison in double, where all of it is exact */
static inline uint16_t ref_narrow(double v, int rounding, int digits, int least, int most) {
  const uint16_t sign = signbit(v) ? 0x8000 : 0;
  const int fraction = digits - 1;
  const uint16_t infinite = (uint16_t)((most - least - fraction + 2) << fraction);
  if (isnan(v)) {
    return 0x7fff;
  }
  if (isinf(v) || fpclassify(v) == FP_ZERO) {
    return isinf(v) ? sign | infinite : sign;
  }
  int e = 0;
  (void)frexp(v, &e);
  const int last = e - digits > least ? e - digits : least; /* exponent of the last digit */
  const double steps = ref_integral(ldexp(fabs(v), -last), rounding == REF_RN ? REF_RN : REF_RZ);
  const uint64_t n = (uint64_t)steps; /* at most 2^digits: then it carries into the exponent */
  const uint64_t bits = ((uint64_t)(last - least) << fraction) + n;
  if (bits >= infinite) {
    return sign | (rounding == REF_RN ? infinite : (uint16_t)(infinite - 1));
  }
  return (uint16_t)(sign | bits);
}
static inline uint64_t ref_to_half(double v, int rounding) {
  return ref_narrow(v, rounding, 11, -24, 15);
}
static inline uint64_t ref_to_bf16(double v, int rounding) {
  return ref_narrow(v, rounding, 8, -133, 127);
}
static inline float ref_from_half(uint64_t bits) {
  const int e = (int)(bits >> 10 & 31), m = (int)(bits & 1023);
  const double size = e == 31  ? (m != 0 ? NAN : INFINITY)
                      : e == 0 ? ldexp(m, -24)
                               : ldexp(1024 + m, e - 25);
  return (float)(bits & 0x8000 ? -size : size);
}

#endif
