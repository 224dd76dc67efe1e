/* Operations on integers and bits, 32 lanes at a time: what the expressions of ptx_alu.def call,
 * and the functions that are made of them. Results are computed for all lanes and kept for the
 * active ones: none of these can fail, and straight loops become vector code. */
#include "ptx/exec/ptx_lanes.h"
#include "ptx/exec/ptx_values.h"

__extension__ typedef unsigned __int128 wide_u64;
__extension__ typedef __int128 wide_s64;

static uint64_t mulhi_s64(uint64_t x, uint64_t y) {
  return (uint64_t)((wide_s64)(int64_t)x * (int64_t)y >> 64);
}
static uint32_t mulhi_s32(uint64_t x, uint64_t y) {
  return (uint32_t)((uint64_t)((int64_t)(int32_t)x * (int32_t)y) >> 32);
}
static uint32_t clamp_s32(int64_t v) {
  return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

/* 24-bit operands; sign extension by shifting up and down again */
#define U24(v) ((uint64_t)((v)&0xffffff))
#define S24(v) ((uint64_t)(int64_t)((int32_t)((uint32_t)(v) << 8) >> 8))

/* Division by zero gives all ones and the dividend, as the hardware sequences do; compilers compute
 * such quotients where nobody uses them. */
static uint64_t div_s(int64_t x, int64_t y) {
  return y == 0 ? UINT64_MAX : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
}
static uint64_t rem_s(int64_t x, int64_t y) {
  return y == 0 ? (uint64_t)x : y == -1 ? 0 : (uint64_t)(x % y);
}
static uint64_t distance(int64_t x, int64_t y) {
  return x < y ? (uint64_t)y - (uint64_t)x : (uint64_t)x - (uint64_t)y;
}

#define RELU(v) ((u->flags & PTX_F_RELU) && (v) < 0 ? 0 : (v))
#define PAIR    ((uint64_t)y << 32 | x) /* of a funnel shift or a permutation */

/* Sign changes of floats are bit operations: a NaN keeps its payload. */
#define SIGN_BIT(bits) ((uint##bits##_t)1 << (bits - 1))

/* Byte k of the result is byte (selector nibble k & 7) of the pair (b:a), or its sign replicated.
 */
uint32_t sct_ptx_prmt(uint64_t pair, uint32_t selector) {
  uint32_t out = 0;
  for (int k = 0; k < 4; k++) {
    const uint32_t nibble = selector >> 4 * k & 15;
    const uint32_t byte = (uint32_t)(pair >> 8 * (nibble & 7)) & 0xff;
    out |= (nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
  }
  return out;
}

/* The named modes as selectors, by the lower two bits of c. */
static uint32_t prmt_mode(uint64_t pair, uint32_t c, int mode) {
  static const uint16_t selectors[][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543} /* f4e */, {0x5670, 0x6701, 0x7012, 0x0123} /* b4e */,
      {0x0000, 0x1111, 0x2222, 0x3333} /* rc8 */, {0x3210, 0x3211, 0x3222, 0x3333} /* ecl */,
      {0x0000, 0x1110, 0x2210, 0x3210} /* ecr */, {0x1010, 0x3232, 0x1010, 0x3232} /* rc16 */};
  return sct_ptx_prmt(pair, selectors[mode][c & 3]);
}

/* ---- bit fields: position and length are the lowest 8 bits of their operands */

/* `width` 32 or 64. Signed: the field's uppermost bit fills; beyond the value its sign bit does. */
static uint64_t bfe(uint64_t x, uint64_t pos, uint64_t len, unsigned width, bool is_signed) {
  pos &= 0xff;
  len &= 0xff;
  if (len == 0) {
    return 0;
  }
  const uint64_t msb = width - 1;
  const uint64_t top = pos + len - 1 < msb ? pos + len - 1 : msb;
  const uint64_t fill = is_signed && (x >> top & 1) ? UINT64_MAX : 0;
  if (pos > msb) {
    return fill;
  }
  const uint64_t n = top - pos + 1;
  const uint64_t mask = n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
  return (x >> pos & mask) | (fill & ~mask);
}

static uint64_t bfi(uint64_t field, uint64_t into, uint64_t pos, uint64_t len, unsigned width) {
  pos &= 0xff;
  len &= 0xff;
  if (pos >= width || len == 0) {
    return into;
  }
  const uint64_t n = len > width - pos ? width - pos : len;
  const uint64_t mask = (n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1) << pos;
  return (field << pos & mask) | (into & ~mask);
}

static uint32_t bmsk(uint32_t start, uint32_t width) {
  return (uint32_t)bfi(UINT64_MAX, 0, start > 255 ? 255 : start, width > 32 ? 32 : width, 32);
}

/* Keeps the lower n bits and extends them. */
static uint32_t szext(uint32_t x, uint32_t n, bool is_signed) {
  return n == 0 ? 0 : n > 31 ? x : (uint32_t)bfe(x, 0, n, 32, is_signed);
}

/* ---- single bits */

static uint32_t brev32(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
static uint64_t brev64(uint64_t x) {
  return (uint64_t)brev32((uint32_t)x) << 32 | brev32((uint32_t)(x >> 32));
}

/* Position of the uppermost 1, all ones if there is none; the same as a shift that brings it to
 * `msb`. */
static uint32_t top_bit(uint64_t x) {
  return x == 0 ? PTX_ALL : 63 - (uint32_t)__builtin_clzll(x);
}
static uint32_t to_top(uint64_t x, uint32_t msb) {
  return x == 0 ? PTX_ALL : msb - top_bit(x);
}
#define MAGNITUDE(x) ((x) < 0 ? ~(x) : (x)) /* bits that differ from the sign */

/* Position of the n-th set bit from `base` on, upwards for n > 0, downwards for n < 0. */
static uint32_t fns(uint32_t mask, uint32_t base, int32_t n) {
  if (base > 31) {
    return PTX_ALL;
  }
  if (n == 0) {
    return mask >> base & 1 ? base : PTX_ALL;
  }
  const int step = n > 0 ? 1 : -1;
  int64_t left = n > 0 ? n : -(int64_t)n;
  for (int at = (int)base; at >= 0 && at < 32; at += step) {
    left -= mask >> at & 1;
    if (left == 0) {
      return (uint32_t)at;
    }
  }
  return PTX_ALL;
}

/* ---- integers packed in a 32-bit register */

/* Piece `k` of `bits` bits. */
static int32_t piece(uint32_t v, int k, int bits, bool is_signed) {
  const uint32_t raw = v >> (k * bits) & ((1u << bits) - 1);
  const bool negative = is_signed && (raw >> (bits - 1)) != 0;
  return (int32_t)raw - (negative ? (int32_t)(1u << bits) : 0);
}

/* Dot products, modulo 2^32. */
static uint32_t dp4a(uint32_t x, uint32_t y, uint32_t z, bool sx, bool sy) {
  for (int k = 0; k < 4; k++) {
    z += (uint32_t)(piece(x, k, 8, sx) * piece(y, k, 8, sy));
  }
  return z;
}

/* Both halves of x with two bytes of y: the lower two, or from `first` on. */
static uint32_t dp2a(uint32_t x, uint32_t y, uint32_t z, int first, bool sx, bool sy) {
  for (int k = 0; k < 2; k++) {
    z += (uint32_t)piece(x, k, 16, sx) * (uint32_t)piece(y, first + k, 8, sy);
  }
  return z;
}

static int32_t min_of(int32_t x, int32_t y) {
  return x < y ? x : y;
}
static int32_t max_of(int32_t x, int32_t y) {
  return x > y ? x : y;
}
/* The operation on both halves, nothing below `least`. */
static uint32_t pairs(uint32_t x, uint32_t y, int32_t (*fn)(int32_t x, int32_t y), bool is_signed,
                      int32_t least) {
  const int32_t lo = max_of(fn(piece(x, 0, 16, is_signed), piece(y, 0, 16, is_signed)), least);
  const int32_t hi = max_of(fn(piece(x, 1, 16, is_signed), piece(y, 1, 16, is_signed)), least);
  return ((uint32_t)lo & 0xffff) | (uint32_t)hi << 16;
}
#define LEAST (u->flags & PTX_F_RELU ? 0 : INT32_MIN)

/* vabsdiff2, vabsdiff4: |x - y| of each piece, side by side or added up with z */
static uint32_t absdiff(uint32_t x, uint32_t y, int bits, bool is_signed) {
  uint32_t out = 0;
  for (int k = 0; k < 32 / bits; k++) {
    const int32_t d = piece(x, k, bits, is_signed) - piece(y, k, bits, is_signed);
    out |= ((uint32_t)(d < 0 ? -d : d) & ((1u << bits) - 1)) << (k * bits);
  }
  return out;
}
static uint32_t absdiff_sum(uint32_t x, uint32_t y, uint32_t z, int bits, bool is_signed) {
  const uint32_t d = absdiff(x, y, bits, is_signed);
  for (int k = 0; k < 32 / bits; k++) {
    z += (uint32_t)piece(d, k, bits, false);
  }
  return z;
}

/* ---- the functions: operands by their classes, destination first */

#define IN1(T, bits)              LANE_IN(x, T, bits, a)
#define IN2(T, bits)              IN1(T, bits) LANE_IN(y, T, bits, b)
#define IN3(T, bits)              IN2(T, bits) LANE_IN(z, T, bits, c)
#define IN_Y32(T)                 LANE_IN(y, T, 32, b)
#define IN_Z32(T)                 LANE_IN(z, T, 32, c)
#define IN_W32(T)                 LANE_IN(w, T, 32, e)
#define LANE_11(name, T, expr)    LANE_OP(name, 32, IN1(T, 32), (uint16_t)(expr))
#define LANE_111(name, T, expr)   LANE_OP(name, 32, IN2(T, 32), (uint16_t)(expr))
#define LANE_1111(name, T, expr)  LANE_OP(name, 32, IN3(T, 32), (uint16_t)(expr))
#define LANE_113(name, T, expr)   LANE_111(name, T, expr)
#define LANE_33(name, T, expr)    LANE_OP(name, 32, IN1(T, 32), expr)
#define LANE_333(name, T, expr)   LANE_OP(name, 32, IN2(T, 32), expr)
#define LANE_311(name, T, expr)   LANE_333(name, T, expr)
#define LANE_3333(name, T, expr)  LANE_OP(name, 32, IN3(T, 32), expr)
#define LANE_3113(name, T, expr)  LANE_OP(name, 32, IN2(T, 32) IN_Z32(uint32_t), expr)
#define LANE_33333(name, T, expr) LANE_OP(name, 32, IN3(T, 32) IN_W32(T), expr)
#define LANE_36(name, T, expr)    LANE_OP(name, 32, IN1(T, 64), expr)
#define LANE_66(name, T, expr)    LANE_OP(name, 64, IN1(T, 64), expr)
#define LANE_666(name, T, expr)   LANE_OP(name, 64, IN2(T, 64), expr)
#define LANE_6666(name, T, expr)  LANE_OP(name, 64, IN3(T, 64), expr)
#define LANE_633(name, T, expr)   LANE_OP(name, 64, IN2(T, 32), expr)
#define LANE_6336(name, T, expr)  LANE_OP(name, 64, IN2(T, 32) LANE_IN(z, uint64_t, 64, c), expr)
#define LANE_663(name, T, expr)   LANE_OP(name, 64, IN1(T, 64) IN_Y32(T), expr)
#define LANE_6633(name, T, expr)  LANE_OP(name, 64, IN1(T, 64) IN_Y32(T) IN_Z32(T), expr)
#define LANE_66633(name, T, expr) LANE_OP(name, 64, IN2(T, 64) IN_Z32(T) IN_W32(T), expr)

/* The carry is one bit a lane, kept with the warp: bit `bits` of a sum s in type T. */
#define CARRY(name, bits, T, sum)                                                                  \
  void sct_ptx_op_##name(ptx_exec *x_, const ptx_uop *u) {                                         \
    uint##bits##_t t[PTX_LANES];                                                                   \
    uint32_t out = 0;                                                                              \
    LANES(i) {                                                                                     \
      IN3(T, bits)                                                                                 \
      const T k = x_->warp->carry >> i & 1;                                                        \
      (void)k;                                                                                     \
      const T s = (sum);                                                                           \
      t[i] = (uint##bits##_t)s;                                                                    \
      out |= (uint32_t)(s >> bits & 1) << i;                                                       \
    }                                                                                              \
    ptx_put##bits(x_, u, t);                                                                       \
    if (u->flags & PTX_F_CC) {                                                                     \
      x_->warp->carry = (x_->warp->carry & ~x_->mask) | (out & x_->mask);                          \
    }                                                                                              \
  }
#define CARRY_333(name, sum)  CARRY(name, 32, uint64_t, sum)
#define CARRY_3333(name, sum) CARRY(name, 32, uint64_t, sum)
#define CARRY_666(name, sum)  CARRY(name, 64, wide_u64, sum)
#define CARRY_6666(name, sum) CARRY(name, 64, wide_u64, sum)

#define PTX_ALU(op, sub, types, fn, sig, attrs, undef)
#define PTX_LANE(op, sub, types, fn, sig, attrs, undef, T, expr) LANE_##sig(fn, T, expr)
#define PTX_CARRY(op, sub, types, fn, sig, attrs, undef, sum)    CARRY_##sig(fn, sum)
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU

/* ---- operations on whole slots */

void sct_ptx_op_lop3(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *a = ptx_r32(x, u->a), *b = ptx_r32(x, u->b), *c = ptx_r32(x, u->c);
  uint32_t t[PTX_LANES] = {0};
  for (int k = 0; k < 8; k++) { /* minterm k: bit 2 of k for a, bit 1 for b, bit 0 for c */
    if (u->imm >> k & 1) {
      const uint32_t fa = k & 4 ? 0 : PTX_ALL, fb = k & 2 ? 0 : PTX_ALL, fc = k & 1 ? 0 : PTX_ALL;
      LANES(i) {
        t[i] |= (a[i] ^ fa) & (b[i] ^ fb) & (c[i] ^ fc);
      }
    }
  }
  ptx_put32(x, u, t);
}

void sct_ptx_op_and_pred(ptx_exec *x, const ptx_uop *u) {
  ptx_put_pred(x, u, *ptx_pred(x, u->a) & *ptx_pred(x, u->b));
}
void sct_ptx_op_or_pred(ptx_exec *x, const ptx_uop *u) {
  ptx_put_pred(x, u, *ptx_pred(x, u->a) | *ptx_pred(x, u->b));
}
void sct_ptx_op_xor_pred(ptx_exec *x, const ptx_uop *u) {
  ptx_put_pred(x, u, *ptx_pred(x, u->a) ^ *ptx_pred(x, u->b));
}
void sct_ptx_op_not_pred(ptx_exec *x, const ptx_uop *u) {
  ptx_put_pred(x, u, ~*ptx_pred(x, u->a));
}
