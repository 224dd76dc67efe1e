/* Conversions between all scalar types: operands are brought to 64-bit integers or to doubles
 * (which hold every narrower float exactly), rounded once, and stored. */
#include "ptx/exec/ptx_lanes.h"
#include "ptx/exec/ptx_values.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

int sct_ptx_conversion_index(ptx_type type) {
  switch (type) {
  case PTX_T_NONE:
  case PTX_T_PRED:
  case PTX_T_B128:
  case PTX_T_F16X2:
  case PTX_T_BF16X2:
  case PTX_T_E4M3X2:
  case PTX_T_E5M2X2:
  case PTX_T_F32X2:
  case PTX_T_U16X2:
  case PTX_T_S16X2:
  case PTX_T_B8:
  case PTX_T_B16:
  case PTX_T_B32:
  case PTX_T_B64:
    return -1;
  default:
    return (int)type;
  }
}

bool sct_ptx_value_is_float(ptx_type type) {
  return type == PTX_T_F16 || type == PTX_T_BF16 || type == PTX_T_F32 || type == PTX_T_F64;
}

/* ---- 16-bit floats */

float sct_ptx_f16_to_f32(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
  uint32_t bits = sign;
  if (e == 31) {
    bits = m != 0 ? 0x7fffffff : sign | 0x7f800000;
  } else if (e != 0) {
    bits = sign | (e + 112) << 23 | m << 13;
  } else {
    bits |= ptx_bits32((float)m * 0x1p-24f);
  }
  return ptx_float(bits);
}

float sct_ptx_bf16_to_f32(uint16_t h) {
  uint32_t bits = (uint32_t)h << 16;
  bits = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
  return ptx_float(bits);
}

/* Whether a magnitude is rounded away from zero, given the dropped part against one half. */
static bool round_up(bool negative, bool odd, int against_half, bool inexact, unsigned rounding) {
  switch (rounding & PTX_F_RND_MASK) {
  case PTX_F_RZ:
    return false;
  case PTX_F_RM:
    return negative && inexact;
  case PTX_F_RP:
    return !negative && inexact;
  default:
    if (rounding & PTX_F_RNA) {
      return against_half >= 0;
    }
    return against_half > 0 || (against_half == 0 && odd);
  }
}

/* To a float of `mant` stored mantissa bits and exponents emin (of the least normal) to emax. */
static uint16_t narrow(double value, unsigned rounding, int mant, int emin, int emax) {
  const uint64_t bits = ptx_bits64(value);
  const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  const uint16_t inf = (uint16_t)((2 * emax + 1) << mant);
  const int field = (int)(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
  const bool finite = rounding & PTX_F_FINITE;
  if (field == 0x7ff) {
    return fraction != 0 ? 0x7fff : (uint16_t)(sign | (inf - finite));
  }
  const int e = field == 0 ? -1022 : field - 1023;
  const int exponent = e < emin ? emin : e;
  const uint64_t m = field == 0 ? fraction : fraction | (uint64_t)1 << 52;
  /* below 2^-60 of the last place only "something" is left of a value: a sticky bit stands for it
   */
  const int drop = 52 - mant + (exponent - e);
  const uint64_t at = drop > 62 ? m != 0 : m;
  const int by = drop > 62 ? 62 : drop;
  const uint64_t rest = at & (((uint64_t)1 << by) - 1), half = (uint64_t)1 << (by - 1);
  uint64_t whole = at >> by;
  const int against_half = rest > half ? 1 : rest == half ? 0 : -1;
  whole += round_up(sign != 0, whole & 1, against_half, rest != 0, rounding);
  /* whole includes the hidden bit for normal numbers; adding fields lets a carry run into the
   * exponent */
  const uint64_t out = ((uint64_t)(exponent - emin) << mant) + whole;
  if (out >=
      inf) { /* overflow: to infinity, or to the greatest finite number when rounding inwards */
    const bool inwards = finite || (rounding & PTX_F_RND_MASK) == PTX_F_RZ ||
                         ((rounding & PTX_F_RND_MASK) == PTX_F_RM && sign == 0) ||
                         ((rounding & PTX_F_RND_MASK) == PTX_F_RP && sign != 0);
    return (uint16_t)(sign | (inwards ? inf - 1 : inf));
  }
  return (uint16_t)(sign | out);
}

uint16_t sct_ptx_f64_to_f16(double value, unsigned rounding) {
  return narrow(value, rounding, 10, -14, 15);
}

uint16_t sct_ptx_f64_to_bf16(double value, unsigned rounding) {
  return narrow(value, rounding, 7, -126, 127);
}

/* ---- 8-bit floats: e4m3 has no infinity, and one NaN */

static uint8_t f64_to_byte(double value, ptx_type type) {
  const bool e4m3 = type == PTX_T_E4M3X2;
  /* exponents up to 16 do not overflow there, so that what is too large is found here */
  const uint16_t wide = e4m3 ? narrow(value, 0, 3, -6, 15) : narrow(value, 0, 2, -14, 16);
  const uint16_t size = wide & 0x7fff, largest = e4m3 ? 0x7e : 0x7b;
  return size == 0x7fff ? 0x7f : (uint8_t)(wide >> 8 | (size < largest ? size : largest));
}

static uint16_t byte_to_f16(uint8_t bits, ptx_type type) {
  const uint16_t sign = (uint16_t)((bits & 0x80) << 8), size = bits & 0x7f;
  if (type == PTX_T_E5M2X2) {
    return (uint16_t)(size > 0x7c ? 0x7fff : sign | size << 8);
  }
  /* an f16 of the same exponent is 256 times smaller */
  const double value = sct_ptx_f16_to_f32((uint16_t)(size << 7)) * 256.0;
  return size == 0x7f ? 0x7fff : sign | sct_ptx_f64_to_f16(value, 0);
}

/* ---- reading and storing lanes */

typedef struct lanes {
  bool is_float;
  uint64_t i[PTX_LANES]; /* integers, sign-extended to 64 bits */
  double f[PTX_LANES];
} lanes;

uint64_t sct_ptx_extend(uint64_t v, ptx_type type) {
  const int bits = 8 * sct_ptx_type_bytes(type);
  const int drop = 64 - bits;
  return sct_ptx_type_kind(type) == PTX_KIND_S ? (uint64_t)((int64_t)(v << drop) >> drop)
                                               : v << drop >> drop;
}

static double flush(double x) {
  return fabs(x) < 0x1p-126 ? copysign(0.0, x) : x;
}

static void read_lanes(const ptx_exec *x, const ptx_uop *u, lanes *out) {
  const ptx_type type = (ptx_type)u->from;
  out->is_float = sct_ptx_value_is_float(type);
  LANES(i) {
    const uint64_t raw = u->wide ? ptx_r64(x, u->a)[i] : ptx_r32(x, u->a)[i];
    if (!out->is_float) {
      out->i[i] = sct_ptx_extend(raw, type);
    } else if (type == PTX_T_F64) {
      out->f[i] = ptx_double(raw);
    } else if (type == PTX_T_F32) {
      const float f = ptx_float((uint32_t)raw);
      out->f[i] = (u->flags & PTX_F_FTZ) ? flush(f) : f;
    } else {
      out->f[i] = type == PTX_T_F16 ? sct_ptx_f16_to_f32((uint16_t)raw)
                                    : sct_ptx_bf16_to_f32((uint16_t)raw);
    }
  }
}

/* ---- integer results */

static double integral(double x, unsigned flags) {
  switch (flags & PTX_F_RND_MASK) {
  case PTX_F_RZ:
    return trunc(x);
  case PTX_F_RM:
    return floor(x);
  case PTX_F_RP:
    return ceil(x);
  default:
    return nearbyint(x);
  }
}

static int64_t int_min(ptx_type type) {
  const int bits = 8 * sct_ptx_type_bytes(type);
  return sct_ptx_type_kind(type) == PTX_KIND_S ? -((int64_t)1 << (bits - 2)) * 2 : 0;
}
static uint64_t int_max(ptx_type type) {
  const int bits = 8 * sct_ptx_type_bytes(type);
  return UINT64_MAX >> (64 - bits) >> (sct_ptx_type_kind(type) == PTX_KIND_S);
}

/* Out of range: the nearest end. NaN: zero, but the integer with only its upper bit for 64-bit
 * results and f64 sources (PTX ISA, cvt). */
static uint64_t float_to_int(double x, ptx_type to, ptx_type from, unsigned flags) {
  if (isnan(x)) {
    return sct_ptx_type_bytes(to) == 8 || from == PTX_T_F64
               ? (uint64_t)1 << (8 * sct_ptx_type_bytes(to) - 1)
               : 0;
  }
  const double r = integral(x, flags);
  if (r <= (double)int_min(to)) {
    return (uint64_t)int_min(to);
  }
  if (r >= (double)int_max(to)) {
    return int_max(to);
  }
  return r < 0 ? (uint64_t)(int64_t)r : (uint64_t)r;
}

static uint64_t saturate_int(uint64_t v, ptx_type from, ptx_type to) {
  const bool negative = sct_ptx_type_kind(from) == PTX_KIND_S && (int64_t)v < 0;
  if (negative) {
    return (int64_t)v < int_min(to) ? (uint64_t)int_min(to) : v;
  }
  return v > int_max(to) ? int_max(to) : v;
}

/* ---- float results */

static uint64_t bits32(float f) {
  const uint32_t b = ptx_bits32(f);
  return (b & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : b;
}

/* One rounding of all lanes in the mode that is set: never inlined, so that it stays between the
 * calls that set it. */
__attribute__((noinline)) static void doubles_to_f32(float *restrict t, const double *f) {
  LANES(i) {
    t[i] = (float)f[i];
  }
}
__attribute__((noinline)) static void ints_to_f32(float *restrict t, const uint64_t *v,
                                                  bool is_signed) {
  LANES(i) {
    t[i] = is_signed ? (float)(int64_t)v[i] : (float)v[i];
  }
}
__attribute__((noinline)) static void ints_to_f64(double *restrict t, const uint64_t *v,
                                                  bool is_signed) {
  LANES(i) {
    t[i] = is_signed ? (double)(int64_t)v[i] : (double)v[i];
  }
}

/* Integers beyond 53 bits on their way to a 16-bit float: what a double cannot hold goes into its
 * last bit (round to odd), so that the second rounding is right. */
static double odd_double(uint64_t v, bool is_signed) {
  const bool negative = is_signed && (int64_t)v < 0;
  uint64_t m = negative ? 0 - v : v;
  if (m >> 53 != 0) {
    m = (m >> 11 | ((m & 0x7ff) != 0)) << 11;
  }
  return negative ? -(double)m : (double)m;
}

static const int host_rounding[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

void sct_ptx_clamp(double *f, unsigned flags) {
  LANES(i) {
    if (flags & PTX_F_SAT) {
      f[i] = f[i] > 0 ? (f[i] < 1 ? f[i] : 1.0) : 0.0;
    }
    if ((flags & PTX_F_RELU) && f[i] <= 0) {
      f[i] = 0;
    }
  }
}

static void to_f32(const lanes *in, const ptx_uop *u, uint64_t *out) {
  float t[PTX_LANES];
  fesetround(host_rounding[u->flags & PTX_F_INT ? 0 : u->flags & PTX_F_RND_MASK]);
  if (in->is_float) {
    doubles_to_f32(t, in->f);
    for (int i = 0; i < PTX_LANES && (u->flags & PTX_F_FTZ); i++) { /* see flush_products */
      const float big = (float)(in->f[i] * 0x1p64);
      t[i] = fabsf(t[i]) == FLT_MIN && fabsf(big) < FLT_MIN * 0x1p64f ? copysignf(0, t[i]) : t[i];
    }
  } else {
    ints_to_f32(t, in->i, sct_ptx_type_kind((ptx_type)u->from) == PTX_KIND_S);
  }
  fesetround(FE_TONEAREST);
  LANES(i) {
    const float f = (u->flags & PTX_F_FTZ) ? (float)flush(t[i]) : t[i];
    out[i] = bits32(f);
  }
}

static void to_float(lanes *in, const ptx_uop *u, uint64_t *out) {
  const ptx_type to = (ptx_type)u->to;
  const unsigned rounding = u->flags & (PTX_F_RND_MASK | PTX_F_RNA | PTX_F_FINITE);
  if (in->is_float) {
    LANES(i) {
      in->f[i] = (u->flags & PTX_F_INT) ? integral(in->f[i], u->flags) : in->f[i];
    }
    sct_ptx_clamp(in->f, u->flags);
  }
  if (to == PTX_T_F32) {
    to_f32(in, u, out);
    return;
  }
  double f[PTX_LANES];
  const bool is_signed = sct_ptx_type_kind((ptx_type)u->from) == PTX_KIND_S;
  memcpy(f, in->f, sizeof f);
  if (!in->is_float && to == PTX_T_F64) {
    fesetround(host_rounding[rounding & PTX_F_RND_MASK]);
    ints_to_f64(f, in->i, is_signed);
    fesetround(FE_TONEAREST);
  } else if (!in->is_float) {
    LANES(i) {
      f[i] = odd_double(in->i[i], is_signed);
    }
  }
  LANES(i) {
    out[i] = to == PTX_T_F64   ? ptx_bits64(f[i])
             : to == PTX_T_F16 ? sct_ptx_f64_to_f16(f[i], rounding)
                               : sct_ptx_f64_to_bf16(f[i], rounding);
  }
}

void sct_ptx_op_cvt(ptx_exec *x, const ptx_uop *u) {
  lanes in;
  uint64_t out[PTX_LANES];
  const ptx_type to = (ptx_type)u->to, from = (ptx_type)u->from;
  read_lanes(x, u, &in);
  if (sct_ptx_value_is_float(to)) {
    to_float(&in, u, out);
  } else {
    LANES(i) {
      uint64_t v = in.i[i];
      if (in.is_float) {
        v = float_to_int(in.f[i], to, from, u->flags);
      } else if (u->flags & PTX_F_SAT) {
        v = saturate_int(v, from, to);
      }
      out[i] = sct_ptx_extend(v, to);
    }
  }
  sct_ptx_put(x, u, u->n, out);
}

static uint32_t to_small(double value, const ptx_uop *u) {
  return u->n == 1              ? f64_to_byte(value, (ptx_type)u->to)
         : u->to == PTX_T_F16X2 ? sct_ptx_f64_to_f16(value, u->flags)
                                : sct_ptx_f64_to_bf16(value, u->flags);
}

/* Two f32, or the halves of one register, to one register of two values of n bytes: the first
 * operand becomes the upper one. */
void sct_ptx_op_cvt_pack(ptx_exec *x, const ptx_uop *u) {
  uint32_t t[PTX_LANES];
  double f[2][PTX_LANES];
  if (u->from == PTX_T_F16X2) {
    LANES(i) {
      f[0][i] = sct_ptx_f16_to_f32((uint16_t)(ptx_r32(x, u->a)[i] >> 16));
      f[1][i] = sct_ptx_f16_to_f32((uint16_t)ptx_r32(x, u->a)[i]);
    }
  } else {
    LANES(i) {
      f[0][i] = ptx_rf32(x, u->a)[i];
      f[1][i] = ptx_rf32(x, u->b)[i];
    }
  }
  for (int k = 0; k < 2; k++) {
    sct_ptx_clamp(f[k], u->flags);
  }
  LANES(i) {
    t[i] = to_small(f[0][i], u) << 8 * u->n | to_small(f[1][i], u);
  }
  ptx_put32(x, u, t);
}

void sct_ptx_op_cvt_from_bytes(ptx_exec *x, const ptx_uop *u) {
  uint32_t t[PTX_LANES];
  LANES(i) {
    const uint32_t pair = ptx_r32(x, u->a)[i];
    t[i] = 0;
    for (int shift = 0; shift < 16; shift += 8) {
      const uint16_t half = byte_to_f16((uint8_t)(pair >> shift), (ptx_type)u->from);
      const bool negative = half & 0x8000;
      t[i] |= (uint32_t)((u->flags & PTX_F_RELU) && negative ? 0 : half) << 2 * shift;
    }
  }
  ptx_put32(x, u, t);
}
