/* Which bits of a value are undefined, and how that spreads.
 *
 * The executor keeps one bit a lane for "something in this value is undefined"; only when that bit
 * is set do the functions here look at single bits. So packed bytes, padding inside words and
 * masked tails raise no false alarm: an undefined byte that never reaches an address, a branch or a
 * store is none of our business. The rules are those of Valgrind's memcheck (Seward and Nethercote,
 * USENIX 2005). */
#include "ptx/exec/ptx_exec.h"
#include "ptx/exec/ptx_values.h"

uint64_t sct_ptx_undef_get(const ptx_exec *x, uint32_t slot, int lane) {
  if ((x->state[slot] >> lane & 1) == 0) {
    return 0;
  }
  const ptx_warp *w = x->warp;
  const size_t at = x->frame->slot_base + slot;
  return w->has_bits[at] ? w->bits[at * PTX_LANES + (size_t)lane] : UINT64_MAX;
}

void sct_ptx_undef_set(ptx_exec *x, uint32_t d, uint32_t lanes, const uint64_t *bits) {
  ptx_warp *w = x->warp;
  const size_t at = x->frame->slot_base + d;
  uint64_t *row = &w->bits[at * PTX_LANES];
  if (!w->has_bits[at]) {
    for (int i = 0; i < PTX_LANES; i++) {
      row[i] = UINT64_MAX;
    }
    w->has_bits[at] = 1;
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    row[i] = bits[i];
    x->state[d] = (x->state[d] & ~(1u << i)) | (uint32_t)(bits[i] != 0) << i;
  }
}

/* Undefined bits spread upwards with carries. */
static uint64_t upwards(uint64_t v) {
  return v | (0 - v);
}

/* Each half of the value, `width` bits, is undefined entirely or not at all. */
static uint64_t halves(uint64_t v, unsigned width) {
  const uint64_t low = ((uint64_t)1 << width) - 1;
  return ((v & low) != 0 ? low : 0) | ((v >> width & low) != 0 ? low << width : 0);
}

static uint64_t lane_value(const ptx_exec *x, uint32_t slot, int lane, bool wide) {
  return wide ? ptx_r64(x, slot)[lane] : ptx_r32(x, slot)[lane];
}

static uint64_t shift_bits(const ptx_exec *x, const ptx_uop *u, int lane, uint64_t va,
                           unsigned width) {
  const uint32_t by = ptx_r32(x, u->b)[lane];
  if (sct_ptx_undef_get(x, u->b, lane) != 0) {
    return UINT64_MAX;
  }
  const unsigned n = by >= width ? width : by;
  switch ((ptx_undef)u->undef) {
  case PTX_UNDEF_SHL:
    return n > 63 ? 0 : va << n;
  case PTX_UNDEF_SHR:
    return n > 63 ? 0 : va >> n;
  default: /* the sign bit is copied */
    return (uint64_t)((int64_t)(va << (64 - width)) >> (n > 63 ? 63 : n) >> (64 - width));
  }
}

/* Only the bits of the source's own type are read: what lies above them in the register is free.
 * Between integers each goes where its value goes, and a sign goes to all bits above. */
static uint64_t cvt_bits(const ptx_uop *u, uint64_t va) {
  const ptx_type to = (ptx_type)u->to, from = (ptx_type)u->from;
  const uint64_t read = sct_ptx_extend(va, from);
  if (u->flags != 0 || sct_ptx_value_is_float(to) || sct_ptx_value_is_float(from)) {
    return read != 0 ? UINT64_MAX : 0;
  }
  return sct_ptx_extend(read, to);
}

/* A value keeps its undefined bits within its own width: anything above was never there. */
static uint64_t result_width(const ptx_uop *u) {
  return u->bytes == 0 || u->bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->bytes) - 1;
}

/* Undefined bits of the result in one lane. */
static uint64_t result_bits(const ptx_exec *x, const ptx_uop *u, int lane) {
  const uint64_t va = sct_ptx_undef_get(x, u->a, lane), vb = sct_ptx_undef_get(x, u->b, lane);
  const bool wide = u->bytes == 8;
  switch ((ptx_undef)u->undef) {
  case PTX_UNDEF_MOV:
    return va;
  case PTX_UNDEF_XOR:
    return va | vb;
  case PTX_UNDEF_AND: { /* a defined 0 decides */
    const uint64_t a = lane_value(x, u->a, lane, wide), b = lane_value(x, u->b, lane, wide);
    return (va & vb) | (va & b) | (vb & a);
  }
  case PTX_UNDEF_OR: { /* a defined 1 decides */
    const uint64_t a = lane_value(x, u->a, lane, wide), b = lane_value(x, u->b, lane, wide);
    return (va & vb) | (va & ~b) | (vb & ~a);
  }
  case PTX_UNDEF_ADD:
    return upwards(va | vb | sct_ptx_undef_get(x, u->c, lane));
  case PTX_UNDEF_SHL:
  case PTX_UNDEF_SHR:
  case PTX_UNDEF_SAR:
    return shift_bits(x, u, lane, va, 8u * u->bytes);
  case PTX_UNDEF_SELECT:
    if (sct_ptx_undef_get(x, u->c, lane) != 0) {
      return UINT64_MAX;
    }
    return *ptx_pred(x, u->c) >> lane & 1 ? va : vb;
  case PTX_UNDEF_PRMT:
    if (sct_ptx_undef_get(x, u->c, lane) != 0) {
      return UINT64_MAX;
    }
    return sct_ptx_prmt((va & PTX_ALL) | vb << 32, ptx_r32(x, u->c)[lane]);
  case PTX_UNDEF_LOW:
  case PTX_UNDEF_HIGH: {
    const uint64_t half = u->undef == PTX_UNDEF_LOW ? vb & 0xffff : vb >> 16;
    return (va | half | sct_ptx_undef_get(x, u->c, lane)) != 0 ? UINT64_MAX : 0;
  }
  case PTX_UNDEF_PACK2:
    return halves(va | vb | sct_ptx_undef_get(x, u->c, lane), 4u * u->bytes);
  case PTX_UNDEF_ZEXT:
    return va & result_width(u);
  case PTX_UNDEF_CVT:
    return cvt_bits(u, va);
  default:
    return UINT64_MAX;
  }
}

void sct_ptx_undef_propagate(ptx_exec *x, const ptx_uop *u, uint32_t lanes) {
  uint64_t bits[PTX_LANES] = {0};
  const bool exact = u->undef != PTX_UNDEF_ALL && u->undef != PTX_UNDEF_OWN;
  for (uint32_t l = lanes; l != 0; l &= l - 1) {
    const int lane = ptx_first_lane(l);
    bits[lane] = exact ? result_bits(x, u, lane) & result_width(u) : UINT64_MAX;
  }
  sct_ptx_origin_pass(x, u, lanes);
  x->state[u->d] &= ~x->mask;
  sct_ptx_undef_set(x, u->d, lanes, bits);
}
