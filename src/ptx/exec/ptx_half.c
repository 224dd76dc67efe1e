/* Arithmetic on 16-bit floats, f16 and bf16, one or two to a register.
 *
 * Operands become doubles, which hold every one of them and every product of two. A sum may need
 * more bits than a double has (a bf16 product against a much smaller addend): it is rounded to odd
 * there, which keeps "something was dropped" in the last bit, so that the one rounding to 16 bits
 * that follows is the right one (Boldo and Melquiond, IEEE Trans. Computers 2008: 53 bits are more
 * than the 11 + 2 it takes). Results have one NaN, 0x7fff, signs and absolute values too: the
 * hardware computes them by adding -0. */
#include "ptx/exec/ptx_lanes.h"
#include "ptx/exec/ptx_values.h"

#include <math.h>

#define INLINE __attribute__((always_inline)) static inline

typedef void (*half_loop)(double *restrict t, const double *a, const double *b, const double *c,
                          unsigned flags);

/* Constants of a format: all that is done with it is inlined, and folds them in. */
typedef struct half_format {
  bool bf16;
  int mant, emin, emax; /* stored bits of a mantissa; exponents of normal numbers */
  uint16_t exponent;    /* mask of the exponent field */
} half_format;

static const half_format f16_format = {false, 10, -14, 15, 0x7c00};
static const half_format bf16_format = {true, 7, -126, 127, 0x7f80};

uint16_t sct_ptx_flush16(uint16_t bits, uint16_t exponent) {
  return (bits & exponent) == 0 ? bits & 0x8000 : bits;
}

/* a + b, rounded to odd: exact by Knuth's two-sum, then away from an even last bit. */
static double odd_sum(double a, double b) {
  double s = a + b;
  if (!isfinite(s)) {
    return s;
  }
  const double from_b = s - a;
  const double dropped = (a - (s - from_b)) + (b - from_b);
  uint64_t bits = 0;
  memcpy(&bits, &s, 8);
  if (dropped != 0 && (bits & 1) == 0) {
    bits += (dropped > 0) == (s > 0) ? 1 : UINT64_MAX;
    memcpy(&s, &bits, 8);
  }
  return s;
}

/* The value as a double; a NaN keeps its sign for .xorsign. */
INLINE double value_of(uint16_t h, const half_format *f) {
  const uint32_t magnitude = h & 0x7fffu;
  float v = ptx_float(magnitude << 16);
  if (!f->bf16) {
    const uint32_t m = magnitude << 13;
    const float normal = ptx_float(m + (112u << 23)); /* 112: between the exponents' biases */
    const float subnormal = ptx_float(m + (113u << 23)) - 0x1p-14f;
    v = m < 1u << 23 ? subnormal : magnitude < f->exponent ? normal : ptx_float(m | 0x7f800000);
  }
  return copysign((double)v, h & 0x8000 ? -1.0 : 1.0);
}

/* The nearest value, ties to even: a power of two is added whose last place weighs what the last
 * place of the result does, so the sum's lower bits are the result's. */
INLINE uint16_t nearest(double v, const half_format *f) {
  const uint16_t sign = signbit(v) ? 0x8000 : 0;
  const double magnitude = fabs(v);
  uint64_t bits = 0;
  memcpy(&bits, &magnitude, 8);
  if (bits > (uint64_t)0x7ff << 52) {
    return 0x7fff;
  }
  const int least = f->emin + 1023, field = (int)(bits >> 52);
  if (field > f->emax + 1023) {
    return sign | f->exponent;
  }
  const int e = field < least ? least : field;
  const uint64_t power_bits = (uint64_t)(e + 52 - f->mant) << 52;
  double power = 0;
  memcpy(&power, &power_bits, 8);
  power += magnitude;
  memcpy(&bits, &power, 8);
  /* the mantissa holds the hidden bit of a normal number: a carry runs on into the exponent, up to
   * infinity */
  const uint32_t out = ((uint32_t)(e - least) << f->mant) + (uint32_t)(bits - power_bits);
  return (uint16_t)(sign | out);
}

/* The 16-bit values of a slot that begin at bit `shift`. */
INLINE void widen(double *out, const uint32_t *lanes, int shift, const half_format *f, bool ftz) {
  LANES(i) {
    const uint16_t bits = (uint16_t)(lanes[i] >> shift);
    out[i] = value_of(ftz ? sct_ptx_flush16(bits, f->exponent) : bits, f);
  }
}

/* One operation of n_in operands on the n values of each lane. */
INLINE void run(ptx_exec *x, const ptx_uop *u, half_loop loop, int n_in, const half_format *f,
                int n) {
  const bool ftz = (u->flags & PTX_F_FTZ) != 0;
  /* what rounds to the least normal number where subnormals are as exact as normal ones: .ftz
   * flushes all below (an H200 does) */
  const double least_normal = ldexp(1.0, f->emin) - ldexp(1.0, f->emin - f->mant - 2);
  const uint32_t slots[3] = {u->a, u->b, u->c};
  uint32_t out[PTX_LANES] = {0};
  for (int shift = 0; shift < 16 * n; shift += 16) {
    double t[PTX_LANES], in[3][PTX_LANES];
    for (int k = 0; k < n_in; k++) {
      widen(in[k], ptx_r32(x, slots[k]), shift, f, ftz);
    }
    loop(t, in[0], in[n_in > 1 ? 1 : 0], in[n_in > 2 ? 2 : 0], u->flags);
    if (u->flags & (PTX_F_SAT | PTX_F_RELU)) {
      sct_ptx_clamp(t, u->flags);
    }
    LANES(i) {
      const uint16_t bits = nearest(t[i], f);
      out[i] |= (uint32_t)(ftz && fabs(t[i]) < least_normal ? bits & 0x8000 : bits) << shift;
    }
  }
  ptx_put32(x, u, out);
}

#define OP(name, loop, n_in, format, n)                                                            \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    run(x, u, loop, n_in, &format, n);                                                             \
  }
#define PTX_HALF_LANE(op, sub, name, sig, sig2, attrs, bf16_attrs, expr)                           \
  static void loop_##name(double *restrict t, const double *a, const double *b, const double *c,   \
                          unsigned flags) {                                                        \
    (void)flags;                                                                                   \
    LANES(i) {                                                                                     \
      const double x = a[i], y = b[i], z = c[i];                                                   \
      (void)y;                                                                                     \
      (void)z;                                                                                     \
      t[i] = (expr);                                                                               \
    }                                                                                              \
  }                                                                                                \
  OP(name##_f16, loop_##name, sizeof(sig) - 2, f16_format, 1)                                      \
  OP(name##_f16x2, loop_##name, sizeof(sig) - 2, f16_format, 2)                                    \
  OP(name##_bf16, loop_##name, sizeof(sig) - 2, bf16_format, 1)                                    \
  OP(name##_bf16x2, loop_##name, sizeof(sig) - 2, bf16_format, 2)
#define PTX_HALF(op, sub, name, sig, sig2, attrs, bf16_attrs)
#define PTX_ALU(op, sub, types, fn, sig, attrs, undef)
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU
