/* Bit fields, permutations, counting bits, selection, moves. */
#include "ptx/exec/ptx_lanes.h"

const uint32_t sct_ptx_nibble[16][4] = {
#define N(b) ((b) ? PTX_ALL : 0u)
#define ROW(k)                                                                                     \
  { N((k)&1), N((k)&2), N((k)&4), N((k)&8) }
    ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
    ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15)};

#define IN3 LANE_IN(x, uint32_t, 32, a) LANE_IN(y, uint32_t, 32, b) LANE_IN(z, uint32_t, 32, c)
/* name, expression on the 32-bit x, y, z of one lane */
#define EACH32(name, expr) LANE_OP(name, 32, IN3, expr)
/* 64-bit x to a 32-bit result */
#define COUNT64(name, expr) LANE_OP(name, 32, LANE_IN(x, uint64_t, 64, a), expr)

/* ---- prmt: byte k of the result is byte (selector nibble k & 7) of (b:a), or its sign replicated
 */

static uint32_t prmt_byte(uint64_t pair, unsigned nibble) {
  const uint32_t byte = (uint32_t)(pair >> 8 * (nibble & 7)) & 0xff;
  return nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static uint32_t prmt(uint32_t x, uint32_t y, uint32_t selector) {
  const uint64_t pair = (uint64_t)y << 32 | x;
  uint32_t out = 0;
  for (int k = 0; k < 4; k++) {
    out |= prmt_byte(pair, selector >> 4 * k & 15) << 8 * k;
  }
  return out;
}

/* The named modes as selectors, by the lower two bits of c. */
static uint32_t prmt_mode(uint32_t x, uint32_t y, uint32_t c, const uint16_t selectors[4]) {
  return prmt(x, y, selectors[c & 3]);
}
static const uint16_t prmt_f4e_selectors[4] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t prmt_b4e_selectors[4] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t prmt_rc8_selectors[4] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t prmt_ecl_selectors[4] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t prmt_ecr_selectors[4] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t prmt_rc16_selectors[4] = {0x1010, 0x3232, 0x1010, 0x3232};

EACH32(prmt, prmt(x, y, z))
EACH32(prmt_f4e, prmt_mode(x, y, z, prmt_f4e_selectors))
EACH32(prmt_b4e, prmt_mode(x, y, z, prmt_b4e_selectors))
EACH32(prmt_rc8, prmt_mode(x, y, z, prmt_rc8_selectors))
EACH32(prmt_ecl, prmt_mode(x, y, z, prmt_ecl_selectors))
EACH32(prmt_ecr, prmt_mode(x, y, z, prmt_ecr_selectors))
EACH32(prmt_rc16, prmt_mode(x, y, z, prmt_rc16_selectors))

/* ---- bit fields: position and length are the lowest 8 bits of their operands */

/* `width` 32 or 64. Signed: the field's uppermost bit fills; beyond the value its sign bit does. */
static uint64_t bfe(uint64_t x, uint32_t pos, uint32_t len, unsigned width, bool is_signed) {
  pos &= 0xff;
  len &= 0xff;
  if (len == 0) {
    return 0;
  }
  const unsigned msb = width - 1;
  const unsigned top = pos + len - 1 < msb ? pos + len - 1 : msb;
  const uint64_t fill = is_signed && (x >> top & 1) ? UINT64_MAX : 0;
  uint64_t out = fill;
  if (pos <= msb) {
    const unsigned n = top - pos + 1;
    const uint64_t mask = n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
    out = (x >> pos & mask) | (fill & ~mask);
  }
  return out;
}

static uint64_t bfi(uint64_t field, uint64_t into, uint32_t pos, uint32_t len, unsigned width) {
  pos &= 0xff;
  len &= 0xff;
  if (pos >= width || len == 0) {
    return into;
  }
  const unsigned n = len > width - pos ? width - pos : len;
  const uint64_t mask = (n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1) << pos;
  return (field << pos & mask) | (into & ~mask);
}

EACH32(bfe_u32, bfe(x, y, z, 32, false))
EACH32(bfe_s32, bfe(x, y, z, 32, true))

#define BFE64(name, is_signed)                                                                     \
  LANE_OP(name, 64,                                                                                \
          LANE_IN(x, uint64_t, 64, a) LANE_IN(y, uint32_t, 32, b) LANE_IN(z, uint32_t, 32, c),     \
          bfe(x, y, z, 64, is_signed))
BFE64(bfe_u64, false)
BFE64(bfe_s64, true)

#define BFI(bits)                                                                                  \
  LANE_OP(bfi##bits, bits,                                                                         \
          LANE_IN(x, uint64_t, bits, a) LANE_IN(y, uint64_t, bits, b)                              \
              LANE_IN(pos, uint32_t, 32, c) LANE_IN(len, uint32_t, 32, e),                         \
          bfi(x, y, pos, len, bits))
BFI(32)
BFI(64)

static uint32_t bmsk(uint32_t start, uint32_t width) {
  return (uint32_t)bfi(UINT64_MAX, 0, start > 255 ? 255 : start, width > 32 ? 32 : width, 32);
}
EACH32(bmsk_clamp, bmsk(x, y))
EACH32(bmsk_wrap, bmsk(x & 31, y & 31))

/* Keeps the lower n bits and extends them. */
static uint32_t szext(uint32_t x, uint32_t n, bool is_signed) {
  return n == 0 ? 0 : n > 31 ? x : (uint32_t)bfe(x, 0, n, 32, is_signed);
}
EACH32(szext_clamp_u32, szext(x, y, false))
EACH32(szext_clamp_s32, szext(x, y, true))
EACH32(szext_wrap_u32, szext(x, y & 31, false))
EACH32(szext_wrap_s32, szext(x, y & 31, true))

/* ---- counting bits */

static uint32_t brev32(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

static uint32_t clz64(uint64_t x) {
  return x == 0 ? 64 : (uint32_t)__builtin_clzll(x);
}
static uint32_t clz32(uint32_t x) {
  return x == 0 ? 32 : (uint32_t)__builtin_clz(x);
}
/* Position of the uppermost bit that differs from the sign, all ones if there is none. */
static uint32_t bfind64(uint64_t x) {
  return x == 0 ? PTX_ALL : 63 - clz64(x);
}
static uint32_t bfind32(uint32_t x) {
  return x == 0 ? PTX_ALL : 31 - clz32(x);
}
static uint32_t shift_amount(uint32_t position, uint32_t msb) {
  return position == PTX_ALL ? PTX_ALL : msb - position;
}
#define SIGN32(x) ((int32_t)(x) < 0 ? ~(x) : (x))
#define SIGN64(x) ((int64_t)(x) < 0 ? ~(x) : (x))

EACH32(popc32, __builtin_popcount(x))
COUNT64(popc64, __builtin_popcountll(x))
EACH32(clz32, clz32(x))
COUNT64(clz64, clz64(x))
EACH32(brev32, brev32(x))
EACH32(bfind_u32, bfind32(x))
EACH32(bfind_s32, bfind32(SIGN32(x)))
COUNT64(bfind_u64, bfind64(x))
COUNT64(bfind_s64, bfind64(SIGN64(x)))
EACH32(bfind_shift_u32, shift_amount(bfind32(x), 31))
EACH32(bfind_shift_s32, shift_amount(bfind32(SIGN32(x)), 31))
COUNT64(bfind_shift_u64, shift_amount(bfind64(x), 63))
COUNT64(bfind_shift_s64, shift_amount(bfind64(SIGN64(x)), 63))

LANE_OP(brev64, 64, LANE_IN(x, uint64_t, 64, a),
        (uint64_t)brev32((uint32_t)x) << 32 | brev32((uint32_t)(x >> 32)))

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
    if (mask >> at & 1) {
      left--;
      if (left == 0) {
        return (uint32_t)at;
      }
    }
  }
  return PTX_ALL;
}
EACH32(fns, fns(x, y, (int32_t)z))

/* ---- selection and moves */

#define SELECT(name, bits, mask)                                                                   \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    uint##bits##_t t[PTX_LANES];                                                                   \
    memcpy(t, ptx_r##bits(x, u->b), sizeof t);                                                     \
    ptx_blend##bits(t, ptx_r##bits(x, u->a), mask);                                                \
    ptx_put##bits(x, u, t);                                                                        \
  }
SELECT(sel32, 32, *ptx_pred(x, u->c))
SELECT(sel64, 64, *ptx_pred(x, u->c))

/* Lanes where c >= 0; a NaN counts as not. */
static uint32_t slct_mask(const ptx_exec *x, const ptx_uop *u) {
  const uint32_t *c = ptx_r32(x, u->c);
  const float *f = ptx_rf32(x, u->c);
  uint32_t m = 0;
  LANES(i) {
    const bool ge = u->from == PTX_T_F32
                        ? f[i] >= 0.0f || ((u->flags & PTX_F_FTZ) && f[i] > -0x1p-126f)
                        : (int32_t)c[i] >= 0;
    m |= (uint32_t)ge << i;
  }
  return m;
}

SELECT(slct32, 32, slct_mask(x, u))
SELECT(slct64, 64, slct_mask(x, u))

LANE_OP(mov32, 32, LANE_IN(x, uint32_t, 32, a), x)
LANE_OP(mov64, 64, LANE_IN(x, uint64_t, 64, a), x)

void sct_ptx_op_mov_pred(ptx_exec *x, const ptx_uop *u) {
  ptx_put_pred(x, u, *ptx_pred(x, u->a));
}

/* The clock advances with every basic block that the host thread runs. */
void sct_ptx_op_mov_clock(ptx_exec *x, const ptx_uop *u) {
  uint32_t narrow[PTX_LANES];
  uint64_t wide[PTX_LANES];
  x->clock++;
  LANES(i) {
    narrow[i] = (uint32_t)x->clock;
    wide[i] = x->clock;
  }
  if (u->wide) {
    ptx_put64(x, u, wide);
  } else {
    ptx_put32(x, u, narrow);
  }
}

LANE_OP(mov_activemask, 32, , x_->mask)
LANE_OP(zext64, 64, LANE_IN(x, uint32_t, 32, a), x)
LANE_OP(sext64, 64, LANE_IN(x, int32_t, 32, a), (int64_t)x)
LANE_OP(trunc32, 32, LANE_IN(x, uint64_t, 64, a), x)
LANE_OP(add_window, 64, LANE_IN(x, uint64_t, 64, a), x + (uint64_t)u->imm)

/* Whether the generic address names a .const variable of the module. */
static bool in_const(const ptx_exec *x, uint64_t address) {
  for (const ptx_sym *s = x->launch->module->syms; s != NULL; s = s->next) {
    const uint64_t at = PTX_WINDOW(PTX_WINDOW_VARS) + (uint64_t)s->offset;
    if (s->space == PTX_SPACE_CONST && address - at < (uint64_t)s->bytes) {
      return true;
    }
  }
  return false;
}

static bool in_space(const ptx_exec *x, uint64_t address, ptx_space space) {
  switch (address >> PTX_WINDOW_SHIFT) {
  case PTX_WINDOW_SHARED:
    return space == PTX_SPACE_SHARED;
  case PTX_WINDOW_LOCAL:
    return space == PTX_SPACE_LOCAL;
  case PTX_WINDOW_PARAM:
    return space == PTX_SPACE_PARAM;
  default:
    return space == (in_const(x, address) ? PTX_SPACE_CONST : PTX_SPACE_GLOBAL);
  }
}

void sct_ptx_op_isspacep(ptx_exec *x, const ptx_uop *u) {
  uint32_t m = 0;
  LANES(i) {
    const uint64_t address = u->wide ? ptx_r64(x, u->a)[i] : ptx_r32(x, u->a)[i];
    m |= (uint32_t)in_space(x, address, (ptx_space)u->space) << i;
  }
  ptx_put_pred(x, u, m);
}

void sct_ptx_op_nanosleep(ptx_exec *x, const ptx_uop *u) {
  (void)u;
  x->yield = true;
}

void sct_ptx_op_add_frame(ptx_exec *x, const ptx_uop *u) {
  const uint64_t *a = ptx_r64(x, u->a);
  uint64_t t[PTX_LANES];
  LANES(i) {
    t[i] = a[i] + (uint64_t)x->frame->local_base;
  }
  ptx_put64(x, u, t);
}

/* ---- {lo, hi}: pieces of `bytes` bytes, lowest first; undefined bits go where the bytes go */

void sct_ptx_op_mov_pair(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *vec = x->code->vec + u->vec;
  uint64_t wide[PTX_LANES] = {0}, bits[PTX_LANES] = {0};
  uint32_t state = 0;
  uint32_t narrow[PTX_LANES];
  for (int k = 0; k < u->n; k++) {
    const uint32_t *a = ptx_r32(x, vec[k]);
    const uint64_t piece = u->bytes == 2 ? 0xffff : PTX_ALL;
    state |= x->state[vec[k]];
    LANES(i) {
      wide[i] |= (a[i] & piece) << 8 * u->bytes * k;
    }
    for (uint32_t m = x->state[vec[k]] & x->mask; m != 0; m &= m - 1) {
      const int i = ptx_first_lane(m);
      bits[i] |= (sct_ptx_undef_get(x, vec[k], i) & piece) << 8 * u->bytes * k;
    }
  }
  LANES(i) {
    narrow[i] = (uint32_t)wide[i];
  }
  if (u->wide) {
    ptx_put64(x, u, wide); /* its operands are all slot 0: the state is set here */
  } else {
    ptx_put32(x, u, narrow);
  }
  sct_ptx_undef_set(x, u->d, state & x->mask, bits);
}

void sct_ptx_op_mov_unpair(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *vec = x->code->vec + u->vec;
  const uint64_t piece = u->bytes == 2 ? 0xffff : PTX_ALL;
  uint64_t whole[PTX_LANES], bits[PTX_LANES] = {0};
  const uint32_t state = x->state[u->a];
  LANES(i) {
    whole[i] = u->wide ? ptx_r64(x, u->a)[i] : ptx_r32(x, u->a)[i];
  }
  for (uint32_t m = state & x->mask; m != 0; m &= m - 1) {
    bits[ptx_first_lane(m)] = sct_ptx_undef_get(x, u->a, ptx_first_lane(m));
  }
  for (int k = 0; k < u->n; k++) {
    uint32_t t[PTX_LANES];
    uint64_t part[PTX_LANES];
    const ptx_uop put = {.d = vec[k]};
    LANES(i) {
      t[i] = (uint32_t)(whole[i] >> 8 * u->bytes * k & piece);
      part[i] = bits[i] >> 8 * u->bytes * k & piece;
    }
    ptx_put32(x, &put, t);
    sct_ptx_undef_set(x, vec[k], state & x->mask, part);
  }
}
