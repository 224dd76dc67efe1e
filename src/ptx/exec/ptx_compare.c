/* setp and set: one function a comparison and type, chosen from a table. */
#include "ptx/exec/ptx_lanes.h"
#include "ptx/exec/ptx_values.h"

#include <assert.h>

typedef uint32_t (*compare_fn)(const void *a, const void *b);

/* 16-bit values fill 32-bit lanes; halves are compared as f32. */
#define COMPARE(id, type, lane, value, expr, unordered)                                            \
  static uint32_t cmp_##id##_##type(const void *a, const void *b) {                                \
    const lane *p = a, *q = b;                                                                     \
    uint32_t m = 0;                                                                                \
    LANES(i) {                                                                                     \
      const value x = (value)p[i], y = (value)q[i];                                                \
      const bool ordered = x == x && y == y;                                                       \
      m |= (uint32_t)(ordered ? (expr) : (unordered)) << i;                                        \
    }                                                                                              \
    return m;                                                                                      \
  }

#define PTX_CMP(id, name, expr, unordered, ints, floats)                                           \
  COMPARE(id, u16, uint32_t, uint16_t, expr, unordered)                                            \
  COMPARE(id, s16, uint32_t, int16_t, expr, unordered)                                             \
  COMPARE(id, u32, uint32_t, uint32_t, expr, unordered)                                            \
  COMPARE(id, s32, uint32_t, int32_t, expr, unordered)                                             \
  COMPARE(id, u64, uint64_t, uint64_t, expr, unordered)                                            \
  COMPARE(id, s64, uint64_t, int64_t, expr, unordered)                                             \
  COMPARE(id, f32, float, float, expr, unordered)                                                  \
  COMPARE(id, f64, double, double, expr, unordered)
#include "ptx/decode/ptx_cmps.def"
#undef PTX_CMP

enum { V_U16, V_S16, V_U32, V_S32, V_U64, V_S64, V_F32, V_F64, N_V };

static const struct {
  compare_fn fn[N_V];
  bool ints, floats;
} compares[] = {
#define PTX_CMP(id, name, expr, unordered, ints, floats)                                           \
  {{cmp_##id##_u16, cmp_##id##_s16, cmp_##id##_u32, cmp_##id##_s32, cmp_##id##_u64,                \
    cmp_##id##_s64, cmp_##id##_f32, cmp_##id##_f64},                                               \
   ints,                                                                                           \
   floats},
#include "ptx/decode/ptx_cmps.def"
#undef PTX_CMP
};

static int value_index(ptx_type type) {
  switch (type) {
  case PTX_T_U16:
  case PTX_T_B16:
    return V_U16;
  case PTX_T_S16:
    return V_S16;
  case PTX_T_U32:
  case PTX_T_B32:
    return V_U32;
  case PTX_T_S32:
    return V_S32;
  case PTX_T_U64:
  case PTX_T_B64:
    return V_U64;
  case PTX_T_S64:
    return V_S64;
  case PTX_T_F16:
  case PTX_T_F16X2:
  case PTX_T_BF16:
  case PTX_T_BF16X2:
  case PTX_T_F32:
    return V_F32;
  case PTX_T_F64:
    return V_F64;
  default:
    return -1;
  }
}

bool sct_ptx_compare_known(uint8_t cmp, ptx_type type) {
  const int v = value_index(type);
  if (v < 0) {
    return false;
  }
  if (sct_ptx_type_kind(type) == PTX_KIND_B && cmp > 1) {
    return false; /* bits are equal or not, nothing more */
  }
  return v >= V_F32 ? compares[cmp].floats : compares[cmp].ints;
}

/* The comparison of an instruction that the decoder accepted: sct_ptx_compare_known() holds. */
static compare_fn function_of(const ptx_uop *u) {
  const int v = value_index((ptx_type)u->from);
  assert(v >= 0);
  return compares[u->op].fn[v < 0 ? 0 : v];
}

/* The 16-bit floats that begin at bit `shift`. */
static uint32_t compare_half(const ptx_exec *x, const ptx_uop *u, int shift) {
  const uint32_t slots[2] = {u->a, u->b};
  const bool bf16 = u->from == PTX_T_BF16 || u->from == PTX_T_BF16X2;
  float in[2][PTX_LANES];
  for (int k = 0; k < 2; k++) {
    const uint32_t *lanes = ptx_r32(x, slots[k]);
    LANES(i) {
      uint16_t bits = (uint16_t)(lanes[i] >> shift);
      bits = (u->flags & PTX_F_FTZ) ? sct_ptx_flush16(bits, 0x7c00) : bits;
      in[k][i] = bf16 ? sct_ptx_bf16_to_f32(bits) : sct_ptx_f16_to_f32(bits);
    }
  }
  return function_of(u)(in[0], in[1]);
}

static uint32_t compare(const ptx_exec *x, const ptx_uop *u) {
  const compare_fn fn = function_of(u);
  if (sct_ptx_type_kind((ptx_type)u->from) == PTX_KIND_H) {
    return compare_half(x, u, 0);
  }
  if ((u->flags & PTX_F_FTZ) == 0) {
    return fn(ptx_r32(x, u->a), ptx_r32(x, u->b));
  }
  float in[2][PTX_LANES];
  memcpy(in[0], ptx_rf32(x, u->a), sizeof in[0]);
  memcpy(in[1], ptx_rf32(x, u->b), sizeof in[1]);
  sct_ptx_flush32(in[0]);
  sct_ptx_flush32(in[1]);
  return fn(in[0], in[1]);
}

static uint32_t combine(uint32_t m, uint32_t c, uint8_t op) {
  switch (op) {
  case PTX_BOOL_AND:
    return m & c;
  case PTX_BOOL_OR:
    return m | c;
  case PTX_BOOL_XOR:
    return m ^ c;
  default:
    return m;
  }
}

void sct_ptx_op_setp(ptx_exec *x, const ptx_uop *u) {
  const uint32_t m = compare(x, u), c = *ptx_pred(x, u->c);
  ptx_see(x, u, m, x->mask);
  if (u->vec != 0) { /* the second destination gets the opposite */
    ptx_uop second = *u;
    second.d = u->vec;
    ptx_put_pred(x, &second, combine(~m, c, u->n));
  }
  ptx_put_pred(x, u, combine(m, c, u->n));
}

static uint32_t true_value(ptx_type type) {
  switch (type) {
  case PTX_T_F32:
    return 0x3f800000;
  case PTX_T_F16:
  case PTX_T_F16X2:
    return 0x3c00;
  case PTX_T_BF16:
  case PTX_T_BF16X2:
    return 0x3f80;
  case PTX_T_U16:
  case PTX_T_S16:
    return 0xffff;
  default:
    return PTX_ALL;
  }
}

void sct_ptx_op_set(ptx_exec *x, const ptx_uop *u) {
  const uint32_t m = combine(compare(x, u), *ptx_pred(x, u->c), u->n);
  const uint32_t yes = true_value((ptx_type)u->to);
  uint32_t t[PTX_LANES];
  LANES(i) {
    t[i] = m >> i & 1 ? yes : 0;
  }
  ptx_put32(x, u, t);
}

/* ---- pairs of 16-bit floats: each half has an answer of its own */

/* Lanes of `lanes` whose half at `shift` is undefined in a or b, or that have no c. */
static uint32_t undefined_half(const ptx_exec *x, const ptx_uop *u, uint32_t lanes, int shift) {
  uint32_t out = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t v = sct_ptx_undef_get(x, u->a, i) | sct_ptx_undef_get(x, u->b, i);
    const bool half = (v >> shift & 0xffff) != 0 || sct_ptx_undef_get(x, u->c, i) != 0;
    out |= (uint32_t)half << i;
  }
  return out;
}

static void put_half_pred(ptx_exec *x, const ptx_uop *u, uint32_t slot, uint32_t m, uint32_t lanes,
                          uint32_t undefined) {
  ptx_uop to = *u;
  uint64_t bits[PTX_LANES] = {0};
  to.d = slot;
  ptx_put_pred(x, &to, m);
  if (lanes != 0) {
    LANES(i) {
      bits[i] = undefined >> i & 1 ? UINT64_MAX : 0;
    }
    sct_ptx_undef_set(x, slot, lanes, bits);
  }
}

/* p|q: p answers for the lower halves, q for the upper ones. */
void sct_ptx_op_setp_pair(ptx_exec *x, const ptx_uop *u) {
  const uint32_t c = *ptx_pred(x, u->c);
  const uint32_t lo = combine(compare_half(x, u, 0), c, u->n);
  const uint32_t hi = combine(compare_half(x, u, 16), c, u->n);
  const uint32_t lanes = (uint32_t)(x->state[u->a] | x->state[u->b] | x->state[u->c]) & x->mask;
  const uint32_t no_lo = undefined_half(x, u, lanes, 0), no_hi = undefined_half(x, u, lanes, 16);
  if (u->vec != 0) {
    put_half_pred(x, u, u->vec, hi, lanes, no_hi);
  }
  put_half_pred(x, u, u->d, lo, lanes, no_lo);
}

void sct_ptx_op_set_pair(ptx_exec *x, const ptx_uop *u) {
  const uint32_t c = *ptx_pred(x, u->c);
  const uint32_t lo = combine(compare_half(x, u, 0), c, u->n);
  const uint32_t hi = combine(compare_half(x, u, 16), c, u->n);
  const uint32_t yes = true_value((ptx_type)u->to) & 0xffff;
  uint32_t t[PTX_LANES];
  LANES(i) {
    t[i] = (lo >> i & 1 ? yes : 0) | (hi >> i & 1 ? yes << 16 : 0);
  }
  ptx_put32(x, u, t);
}
