/* Integers packed in a 32-bit register: dot products (dp4a, dp2a), pairs of 16-bit numbers, and the
 * sums of absolute differences that remain of the video instructions. */
#include "ptx/exec/ptx_lanes.h"

/* name, expression on the x, y, z of one lane */
#define EACH(name, expr)                                                                           \
  LANE_OP(name, 32,                                                                                \
          LANE_IN(x, uint32_t, 32, a) LANE_IN(y, uint32_t, 32, b) LANE_IN(z, uint32_t, 32, c),     \
          expr)

/* Piece `k` of `bits` bits. */
static int32_t piece(uint32_t v, int k, int bits, bool is_signed) {
  const uint32_t raw = v >> (k * bits) & ((1u << bits) - 1);
  const bool negative = is_signed && (raw >> (bits - 1)) != 0;
  return (int32_t)raw - (negative ? (int32_t)(1u << bits) : 0);
}

/* ---- dot products: modulo 2^32 */

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

EACH(dp4a_uu, dp4a(x, y, z, false, false))
EACH(dp4a_us, dp4a(x, y, z, false, true))
EACH(dp4a_su, dp4a(x, y, z, true, false))
EACH(dp4a_ss, dp4a(x, y, z, true, true))
EACH(dp2a_lo_uu, dp2a(x, y, z, 0, false, false))
EACH(dp2a_lo_us, dp2a(x, y, z, 0, false, true))
EACH(dp2a_lo_su, dp2a(x, y, z, 0, true, false))
EACH(dp2a_lo_ss, dp2a(x, y, z, 0, true, true))
EACH(dp2a_hi_uu, dp2a(x, y, z, 2, false, false))
EACH(dp2a_hi_us, dp2a(x, y, z, 2, false, true))
EACH(dp2a_hi_su, dp2a(x, y, z, 2, true, false))
EACH(dp2a_hi_ss, dp2a(x, y, z, 2, true, true))

/* ---- pairs of 16-bit integers */

static uint32_t two(int32_t lo, int32_t hi) {
  return ((uint32_t)lo & 0xffff) | (uint32_t)hi << 16;
}
static int32_t min_of(int32_t x, int32_t y) {
  return x < y ? x : y;
}
static int32_t max_of(int32_t x, int32_t y) {
  return x > y ? x : y;
}
#define PAIR(name, fn, sign, relu)                                                                 \
  EACH(name, two(max_of(fn(piece(x, 0, 16, sign), piece(y, 0, 16, sign)), relu),                   \
                 max_of(fn(piece(x, 1, 16, sign), piece(y, 1, 16, sign)), relu)))

EACH(add_x2, ((x + y) & 0xffff) | ((x & 0xffff0000) + (y & 0xffff0000)))
PAIR(min_u16x2, min_of, false, INT32_MIN)
PAIR(max_u16x2, max_of, false, INT32_MIN)
PAIR(min_s16x2, min_of, true, (u->flags & PTX_F_RELU) ? 0 : INT32_MIN)
PAIR(max_s16x2, max_of, true, (u->flags & PTX_F_RELU) ? 0 : INT32_MIN)

/* ---- vabsdiff2, vabsdiff4: |x - y| of each piece, side by side or added up with z */

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
EACH(absdiff2_u, absdiff(x, y, 16, false))
EACH(absdiff2_s, absdiff(x, y, 16, true))
EACH(absdiff4_u, absdiff(x, y, 8, false))
EACH(absdiff4_s, absdiff(x, y, 8, true))
EACH(absdiff2_add_u, absdiff_sum(x, y, z, 16, false))
EACH(absdiff2_add_s, absdiff_sum(x, y, z, 16, true))
EACH(absdiff4_add_u, absdiff_sum(x, y, z, 8, false))
EACH(absdiff4_add_s, absdiff_sum(x, y, z, 8, true))
