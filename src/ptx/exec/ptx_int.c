/* Integer and bit operations, 32 lanes at a time. Results are computed for all lanes and kept for
 * the active ones: none of these can fail, and straight loops become vector code. */
#include "ptx/exec/ptx_lanes.h"

/* name, type of the operands as read, expression on x, y, z */
#define IN1(T, bits)             LANE_IN(x, T, bits, a)
#define IN2(T, bits)             IN1(T, bits) LANE_IN(y, T, bits, b)
#define IN3(T, bits)             IN2(T, bits) LANE_IN(z, T, bits, c)
#define UNARY32(name, T, expr)   LANE_OP(name, 32, IN1(T, 32), expr)
#define UNARY64(name, T, expr)   LANE_OP(name, 64, IN1(T, 64), expr)
#define BINARY32(name, T, expr)  LANE_OP(name, 32, IN2(T, 32), expr)
#define BINARY64(name, T, expr)  LANE_OP(name, 64, IN2(T, 64), expr)
#define TERNARY32(name, T, expr) LANE_OP(name, 32, IN3(T, 32), expr)
#define TERNARY64(name, T, expr) LANE_OP(name, 64, IN3(T, 64), expr)
/* 64 bits shifted or cut by 32-bit operands */
#define BINARY64BY32(name, T, expr) LANE_OP(name, 64, IN1(T, 64) LANE_IN(y, uint32_t, 32, b), expr)
#define WIDE(name, T, expr)         LANE_OP(name, 64, IN2(T, 32), expr)
#define WIDE3(name, T, expr)                                                                       \
  LANE_OP(name, 64, IN2(T, 32) LANE_IN(z, uint64_t, 64, c), (uint64_t)(expr) + z)

/* ---- add, sub, mul with carries. The carry is one bit a lane, kept with the warp. */

static void put_carry(ptx_exec *x, const ptx_uop *u, uint32_t out) {
  if (u->flags & PTX_F_CC) {
    x->warp->carry = (x->warp->carry & ~x->mask) | (out & x->mask);
  }
}

/* over x, y, z and the carry k in a type that holds the whole sum s */
#define CARRY(name, bits, T, sum, carry_out)                                                       \
  void sct_ptx_op_##name(ptx_exec *x_, const ptx_uop *u) {                                         \
    uint##bits##_t t[PTX_LANES];                                                                   \
    uint32_t out = 0;                                                                              \
    LANES(i) {                                                                                     \
      IN3(T, bits)                                                                                 \
      const T k = x_->warp->carry >> i & 1;                                                        \
      (void)k;                                                                                     \
      const T s = (sum);                                                                           \
      t[i] = (uint##bits##_t)s;                                                                    \
      out |= (uint32_t)(carry_out) << i;                                                           \
    }                                                                                              \
    ptx_put##bits(x_, u, t);                                                                       \
    put_carry(x_, u, out);                                                                         \
  }
#define CARRY32(name, sum, carry_out) CARRY(name, 32, uint64_t, sum, carry_out)
#define CARRY64(name, sum, carry_out) CARRY(name, 64, wide_u64, sum, carry_out)

__extension__ typedef unsigned __int128 wide_u64;
__extension__ typedef __int128 wide_s64;

static uint64_t mulhi_u64(uint64_t x, uint64_t y) {
  return (uint64_t)((wide_u64)x * y >> 64);
}
static uint64_t mulhi_s64(uint64_t x, uint64_t y) {
  return (uint64_t)((wide_s64)(int64_t)x * (int64_t)y >> 64);
}
static uint32_t mulhi_u32(uint32_t x, uint32_t y) {
  return (uint32_t)((uint64_t)x * y >> 32);
}
static uint32_t mulhi_s32(uint32_t x, uint32_t y) {
  return (uint32_t)((uint64_t)((int64_t)(int32_t)x * (int32_t)y) >> 32);
}

BINARY32(add16, uint32_t, (x + y) & 0xffff)
BINARY32(sub16, uint32_t, (x - y) & 0xffff)
BINARY32(mul16, uint32_t, (x * y) & 0xffff)
BINARY32(plain_add32, uint32_t, x + y)
BINARY32(plain_sub32, uint32_t, x - y)
BINARY64(plain_add64, uint64_t, x + y)
BINARY64(plain_sub64, uint64_t, x - y)
TERNARY32(plain_mad32, uint32_t, x *y + z)
TERNARY64(plain_mad64, uint64_t, x *y + z)
BINARY32(mul32, uint32_t, x *y)
BINARY64(mul64, uint64_t, x *y)
CARRY32(carry_add32, x + y, s >> 32)
CARRY32(addc32, x + y + k, s >> 32)
CARRY32(carry_sub32, x - y, s >> 63)
CARRY32(subc32, x - y - k, s >> 63)
CARRY64(carry_add64, x + y, s >> 64)
CARRY64(addc64, x + y + k, s >> 64)
CARRY64(carry_sub64, x - y, s >> 127)
CARRY64(subc64, x - y - k, s >> 127)
CARRY32(carry_mad32, (uint32_t)(x *y) + z, s >> 32)
CARRY32(madclo_32, (uint32_t)(x *y) + z + k, s >> 32)
CARRY32(carry_madhi_u32, (x * y >> 32) + z, s >> 32)
CARRY32(carry_madhi_s32, (uint64_t)mulhi_s32((uint32_t)x, (uint32_t)y) + z, s >> 32)
CARRY32(madchi_u32, (x * y >> 32) + z + k, s >> 32)
CARRY32(madchi_s32, (uint64_t)mulhi_s32((uint32_t)x, (uint32_t)y) + z + k, s >> 32)
CARRY64(carry_mad64, (wide_u64)(uint64_t)(x *y) + z, s >> 64)
CARRY64(madclo_64, (wide_u64)(uint64_t)(x *y) + z + k, s >> 64)
CARRY64(carry_madhi_u64, (x * y >> 64) + z, s >> 64)
CARRY64(carry_madhi_s64, (wide_u64)mulhi_s64((uint64_t)x, (uint64_t)y) + z, s >> 64)
CARRY64(madchi_u64, (x * y >> 64) + z + k, s >> 64)
CARRY64(madchi_s64, (wide_u64)mulhi_s64((uint64_t)x, (uint64_t)y) + z + k, s >> 64)

/* Forms that may, but seldom do, write the carry. */
#define MAYBE_CARRY(name, plain, carry)                                                            \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    if (u->flags & PTX_F_CC) {                                                                     \
      sct_ptx_op_##carry(x, u);                                                                    \
    } else {                                                                                       \
      sct_ptx_op_##plain(x, u);                                                                    \
    }                                                                                              \
  }
MAYBE_CARRY(add32, plain_add32, carry_add32)
MAYBE_CARRY(sub32, plain_sub32, carry_sub32)
MAYBE_CARRY(add64, plain_add64, carry_add64)
MAYBE_CARRY(sub64, plain_sub64, carry_sub64)
MAYBE_CARRY(mad32, plain_mad32, carry_mad32)
MAYBE_CARRY(mad64, plain_mad64, carry_mad64)

static uint32_t clamp_s32(int64_t v) {
  return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
BINARY32(addsat_s32, int32_t, clamp_s32((int64_t)x + y))
BINARY32(subsat_s32, int32_t, clamp_s32((int64_t)x - y))
TERNARY32(madhisat_s32, int32_t, clamp_s32(((int64_t)x * y >> 32) + z))

void sct_ptx_op_add_s32(ptx_exec *x, const ptx_uop *u) {
  (u->flags & PTX_F_SAT ? sct_ptx_op_addsat_s32 : sct_ptx_op_add32)(x, u);
}
void sct_ptx_op_sub_s32(ptx_exec *x, const ptx_uop *u) {
  (u->flags & PTX_F_SAT ? sct_ptx_op_subsat_s32 : sct_ptx_op_sub32)(x, u);
}
void sct_ptx_op_madhi_s32(ptx_exec *x, const ptx_uop *u) {
  (u->flags & PTX_F_SAT ? sct_ptx_op_madhisat_s32 : sct_ptx_op_carry_madhi_s32)(x, u);
}
void sct_ptx_op_madhi_u32(ptx_exec *x, const ptx_uop *u) {
  sct_ptx_op_carry_madhi_u32(x, u);
}
void sct_ptx_op_madhi_u64(ptx_exec *x, const ptx_uop *u) {
  sct_ptx_op_carry_madhi_u64(x, u);
}
void sct_ptx_op_madhi_s64(ptx_exec *x, const ptx_uop *u) {
  sct_ptx_op_carry_madhi_s64(x, u);
}

BINARY32(mulhi_u16, uint32_t, x *y >> 16)
BINARY32(mulhi_s16, int16_t, (uint32_t)(x *y) >> 16)
BINARY32(mulhi_u32, uint32_t, mulhi_u32(x, y))
BINARY32(mulhi_s32, uint32_t, mulhi_s32(x, y))
BINARY64(mulhi_u64, uint64_t, mulhi_u64(x, y))
BINARY64(mulhi_s64, uint64_t, mulhi_s64(x, y))
BINARY32(mulwide_u16, uint32_t, x *y)
BINARY32(mulwide_s16, int16_t, x *y)
WIDE(mulwide_u32, uint32_t, (uint64_t)x *y)
WIDE(mulwide_s32, int32_t, (int64_t)x *y)
TERNARY32(mad16, uint32_t, (x * y + z) & 0xffff)
WIDE3(madwide_u32, uint32_t, (uint64_t)x *y)
WIDE3(madwide_s32, int32_t, (int64_t)x *y)

/* The third operand is 32 bits wide, the first two 16. */
void sct_ptx_op_madwide_u16(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *a = ptx_r32(x, u->a), *b = ptx_r32(x, u->b), *c = ptx_r32(x, u->c);
  uint32_t t[PTX_LANES];
  LANES(i) {
    t[i] = a[i] * b[i] + c[i];
  }
  ptx_put32(x, u, t);
}
void sct_ptx_op_madwide_s16(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *a = ptx_r32(x, u->a), *b = ptx_r32(x, u->b), *c = ptx_r32(x, u->c);
  uint32_t t[PTX_LANES];
  LANES(i) {
    t[i] = (uint32_t)((int16_t)a[i] * (int16_t)b[i]) + c[i];
  }
  ptx_put32(x, u, t);
}

/* 24-bit products: sign extension by shifting up and down again */
#define S24(v) ((int64_t)((int32_t)((uint32_t)(v) << 8) >> 8))
BINARY32(mul24_u32, uint32_t, (uint64_t)(x & 0xffffff) * (y & 0xffffff))
BINARY32(mul24_s32, uint32_t, S24(x) * S24(y))
BINARY32(mul24hi_u32, uint32_t, (uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16)
BINARY32(mul24hi_s32, uint32_t, (uint64_t)(S24(x) * S24(y)) >> 16)
TERNARY32(mad24_u32, uint32_t, (uint64_t)(x & 0xffffff) * (y & 0xffffff) + z)
TERNARY32(mad24_s32, uint32_t, (uint64_t)(S24(x) * S24(y)) + z)

/* ---- division: by zero gives all ones and the dividend, as the hardware sequences do; compilers
 * compute such quotients where nobody uses them. */

static uint64_t div_s(int64_t x, int64_t y) {
  return y == 0 ? UINT64_MAX : y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / y);
}
static uint64_t rem_s(int64_t x, int64_t y) {
  return y == 0 ? (uint64_t)x : y == -1 ? 0 : (uint64_t)(x % y);
}
BINARY32(div_u16, uint32_t, y == 0 ? 0xffff : x / y)
BINARY32(div_s16, int16_t, div_s(x, y) & 0xffff)
BINARY32(div_u32, uint32_t, y == 0 ? UINT32_MAX : x / y)
BINARY32(div_s32, int32_t, div_s(x, y))
BINARY64(div_u64, uint64_t, y == 0 ? UINT64_MAX : x / y)
BINARY64(div_s64, int64_t, div_s(x, y))
BINARY32(rem_u16, uint32_t, y == 0 ? x : x % y)
BINARY32(rem_s16, int16_t, rem_s(x, y) & 0xffff)
BINARY32(rem_u32, uint32_t, y == 0 ? x : x % y)
BINARY32(rem_s32, int32_t, rem_s(x, y))
BINARY64(rem_u64, uint64_t, y == 0 ? x : x % y)
BINARY64(rem_s64, int64_t, rem_s(x, y))

UNARY32(abs_s16, int16_t, (uint16_t)(x < 0 ? -x : x))
UNARY32(abs_s32, uint32_t, (int32_t)x < 0 ? 0 - x : x)
UNARY64(abs_s64, uint64_t, (int64_t)x < 0 ? 0 - x : x)
UNARY32(neg16, uint32_t, (0 - x) & 0xffff)
UNARY32(neg32, uint32_t, 0 - x)
UNARY64(neg64, uint64_t, 0 - x)

#define RELU(v) ((u->flags & PTX_F_RELU) && (v) < 0 ? 0 : (v))
BINARY32(min_u16, uint32_t, x < y ? x : y)
BINARY32(min_s16, int16_t, (uint16_t)(x < y ? x : y))
BINARY32(min_u32, uint32_t, x < y ? x : y)
BINARY32(min_s32, int32_t, RELU(x < y ? x : y))
BINARY64(min_u64, uint64_t, x < y ? x : y)
BINARY64(min_s64, int64_t, x < y ? x : y)
BINARY32(max_u16, uint32_t, x > y ? x : y)
BINARY32(max_s16, int16_t, (uint16_t)(x > y ? x : y))
BINARY32(max_u32, uint32_t, x > y ? x : y)
BINARY32(max_s32, int32_t, RELU(x > y ? x : y))
BINARY64(max_u64, uint64_t, x > y ? x : y)
BINARY64(max_s64, int64_t, x > y ? x : y)
TERNARY32(sad_u16, uint32_t, ((x < y ? y - x : x - y) + z) & 0xffff)
TERNARY32(sad_s16, int16_t, (uint16_t)((x < y ? y - x : x - y) + z))
TERNARY32(sad_u32, uint32_t, (x < y ? y - x : x - y) + z)
TERNARY32(sad_s32, uint32_t, ((int32_t)x < (int32_t)y ? y - x : x - y) + z)
TERNARY64(sad_u64, uint64_t, (x < y ? y - x : x - y) + z)
TERNARY64(sad_s64, uint64_t, ((int64_t)x < (int64_t)y ? y - x : x - y) + z)

/* ---- logic and shifts */

BINARY32(and32, uint32_t, x &y)
BINARY64(and64, uint64_t, x &y)
BINARY32(or32, uint32_t, x | y)
BINARY64(or64, uint64_t, x | y)
BINARY32(xor32, uint32_t, x ^ y)
BINARY64(xor64, uint64_t, x ^ y)
UNARY32(not16, uint32_t, ~x & 0xffff)
UNARY32(not32, uint32_t, ~x)
UNARY64(not64, uint64_t, ~x)
UNARY32(cnot16, uint32_t, x == 0)
UNARY32(cnot32, uint32_t, x == 0)
UNARY64(cnot64, uint64_t, x == 0)
BINARY32(shl16, uint32_t, y > 15 ? 0 : x << y & 0xffff)
BINARY32(shl32, uint32_t, y > 31 ? 0 : x << (y & 31))
BINARY64BY32(shl64, uint64_t, y > 63 ? 0 : x << (y & 63))
BINARY32(shr_u16, uint32_t, y > 15 ? 0 : x >> y)
BINARY32(shr_u32, uint32_t, y > 31 ? 0 : x >> (y & 31))
BINARY64BY32(shr_u64, uint64_t, y > 63 ? 0 : x >> (y & 63))
BINARY32(shr_s16, uint32_t, (uint16_t)((int16_t)x >> (y > 15 ? 15 : y)))
BINARY32(shr_s32, uint32_t, (int32_t)x >> (y > 31 ? 31 : y))
BINARY64BY32(shr_s64, int64_t, x >> (y > 63 ? 63 : y))

/* Funnel shifts of (b:a) by c. */
#define PAIR       ((uint64_t)y << 32 | x)
#define CLAMP32(v) ((v) > 32 ? 32 : (v))
TERNARY32(shf_l_wrap, uint32_t, PAIR << (z & 31) >> 32)
TERNARY32(shf_r_wrap, uint32_t, PAIR >> (z & 31))
TERNARY32(shf_l_clamp, uint32_t, CLAMP32(z) == 32 ? x : PAIR << CLAMP32(z) >> 32)
TERNARY32(shf_r_clamp, uint32_t, PAIR >> CLAMP32(z))

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
