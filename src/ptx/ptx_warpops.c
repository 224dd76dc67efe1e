/* Operations across the lanes of a warp, and small ones that stand alone. */
#include "ptx/ptx_exec.h"

void sct_ptx_op_nop(ptx_exec *x, const ptx_uop *u) {
  (void)x;
  (void)u;
}

/* Terminators are executed by the block loop, never called. */
void sct_ptx_op_terminator(ptx_exec *x, const ptx_uop *u) {
  sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, -1, 0, "a terminator inside of a block");
}

void sct_ptx_op_trap(ptx_exec *x, const ptx_uop *u) {
  sct_ptx_fault(x, u, SCT_PTX_TRAP, ptx_first_lane(x->mask), 0, "the kernel gave up here");
}

void sct_ptx_op_fence(ptx_exec *x, const ptx_uop *u) {
  (void)x;
  (void)u;
}

/* Every executing lane names itself, and every lane that is named is here (or has ended). */
bool sct_ptx_members_here(ptx_exec *x, const ptx_uop *u, uint32_t slot) {
  const uint32_t *member = ptx_r32(x, slot);
  const ptx_warp *w = x->warp;
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint32_t absent = member[i] & ~x->mask & w->lanes & ~w->exited;
    if ((member[i] >> i & 1) == 0) {
      sct_ptx_fault(x, u, SCT_PTX_ABSENT_LANE, i, 0, "the mask 0x%x leaves out the lane itself",
                    member[i]);
      return false;
    }
    if (absent != 0) {
      sct_ptx_fault(x, u, SCT_PTX_ABSENT_LANE, i, 0,
                    "the mask 0x%x names lane %d, which took another branch", member[i],
                    ptx_first_lane(absent));
      return false;
    }
  }
  return true;
}

void sct_ptx_op_syncwarp(ptx_exec *x, const ptx_uop *u) {
  (void)sct_ptx_members_here(x, u, u->a);
}

/* Source lane of `lane` by the rules of shfl.sync; false: out of its segment. */
static bool shfl_source(int mode, int lane, uint32_t by, uint32_t c, int *from) {
  const int b = (int)(by & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
  const int max = (lane & segment) | (clamp & ~segment), min = lane & segment;
  bool inside = false;
  switch (mode) {
  case PTX_SHFL_UP:
    *from = lane - b;
    inside = *from >= max;
    break;
  case PTX_SHFL_DOWN:
    *from = lane + b;
    inside = *from <= max;
    break;
  case PTX_SHFL_BFLY:
    *from = lane ^ b;
    inside = *from <= max;
    break;
  default:
    *from = min | (b & ~segment);
    inside = *from <= max;
    break;
  }
  *from = inside ? *from : lane;
  return inside;
}

void sct_ptx_op_shfl(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *a = ptx_r32(x, u->a), *b = ptx_r32(x, u->b), *c = ptx_r32(x, u->c);
  uint32_t t[PTX_LANES] = {0}, inside = 0, lanes = 0, approx = 0;
  uint64_t bits[PTX_LANES] = {0};
  if (!sct_ptx_members_here(x, u, u->e)) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    int from = i;
    inside |= (uint32_t)shfl_source(u->op, i, b[i], c[i], &from) << i;
    t[i] = a[from];
    bits[i] = x->mask >> from & 1 ? sct_ptx_shadow_get(x, u->a, from) : UINT64_MAX;
    if ((uint32_t)(x->state[u->b] | x->state[u->c]) >> i & 1) {
      bits[i] = UINT64_MAX;
    }
    lanes |= (uint32_t)((bits[i] & PTX_ALL) != 0) << i;
    approx |= (uint32_t)(x->state[u->a] >> (32 + from) & 1) << i;
  }
  const ptx_uop put = {.d = u->d}, put_pred = {.d = u->vec};
  ptx_put32(x, &put, t);
  x->state[u->d] |= (uint64_t)(approx & x->mask) << 32;
  if (lanes != 0 && x->launch->definedness) {
    sct_ptx_shadow_set(x, u->d, lanes, bits);
  }
  if (u->vec != 0) {
    ptx_put_pred(x, &put_pred, inside);
  }
}
