/* Selection and moves. */
#include "ptx/exec/ptx_lanes.h"

const uint32_t sct_ptx_nibble[16][4] = {
#define N(b) ((b) ? PTX_ALL : 0u)
#define ROW(k)                                                                                     \
  { N((k)&1), N((k)&2), N((k)&4), N((k)&8) }
    ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
    ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15)};

void sct_ptx_put(ptx_exec *x, const ptx_uop *u, int bytes, const uint64_t *v) {
  uint32_t t[PTX_LANES];
  if (bytes == 8) {
    ptx_put64(x, u, v);
    return;
  }
  const uint32_t keep = bytes == 2 ? 0xffff : PTX_ALL;
  LANES(i) {
    t[i] = (uint32_t)v[i] & keep;
  }
  ptx_put32(x, u, t);
}

/* ---- selection and moves */

#define SELECT(name, bits, chosen)                                                                 \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    uint##bits##_t t[PTX_LANES];                                                                   \
    const uint32_t yes = chosen;                                                                   \
    memcpy(t, ptx_r##bits(x, u->b), sizeof t);                                                     \
    ptx_blend##bits(t, ptx_r##bits(x, u->a), yes);                                                 \
    ptx_put##bits(x, u, t);                                                                        \
    ptx_see(x, u, yes, x->mask);                                                                   \
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
  uint64_t t[PTX_LANES];
  x->clock++;
  LANES(i) {
    t[i] = x->clock;
  }
  sct_ptx_put(x, u, u->wide ? 8 : 4, t);
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
    const bool is = in_space(x, address, (ptx_space)u->space);
    m |= (uint32_t)(is && !(u->op != 0 && sct_ptx_is_peers(x, address))) << i;
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
  sct_ptx_put(x, u, u->wide ? 8 : 4, wide); /* operands are all slot 0: the state is set here */
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
