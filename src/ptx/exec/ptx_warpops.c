/* Operations across the lanes of a warp, and small ones that stand alone. */
#include "ptx/exec/ptx_exec.h"

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

/* Every executing lane names itself, and every lane that is named is here (or has ended): from here
 * on they are together. */
static bool members_here(ptx_exec *x, const ptx_uop *u, uint32_t slot) {
  const uint32_t *member = ptx_r32(x, slot);
  ptx_warp *w = x->warp;
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint32_t absent = member[i] & ~x->mask & w->lanes & ~w->exited;
    if ((member[i] >> i & 1) == 0) {
      return sct_ptx_fault(x, u, SCT_PTX_ABSENT_LANE, i, 0,
                           "the mask 0x%x leaves out the lane itself", member[i]);
    }
    if (absent != 0) {
      return sct_ptx_fault(x, u, SCT_PTX_ABSENT_LANE, i, 0,
                           "the mask 0x%x names lane %d, which took another branch", member[i],
                           ptx_first_lane(absent));
    }
  }
  ptx_sync_lanes(x, w);
  return true;
}

void sct_ptx_op_syncwarp(ptx_exec *x, const ptx_uop *u) {
  (void)members_here(x, u, u->a);
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
  uint32_t t[PTX_LANES] = {0}, inside = 0, lanes = 0;
  uint64_t bits[PTX_LANES] = {0};
  if (!members_here(x, u, u->e)) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    int from = i;
    inside |= (uint32_t)shfl_source(u->op, i, b[i], c[i], &from) << i;
    t[i] = a[from];
    bits[i] = x->mask >> from & 1 ? sct_ptx_undef_get(x, u->a, from) : UINT64_MAX;
    if ((uint32_t)(x->state[u->b] | x->state[u->c]) >> i & 1) {
      bits[i] = UINT64_MAX;
    }
    lanes |= (uint32_t)((bits[i] & PTX_ALL) != 0) << i;
  }
  const ptx_uop put = {.d = u->d}, put_pred = {.d = u->vec};
  ptx_put32(x, &put, t);
  if (lanes != 0 && x->launch->definedness) {
    sct_ptx_undef_set(x, u->d, lanes, bits);
  }
  if (u->vec != 0) {
    ptx_put_pred(x, &put_pred, inside);
  }
}

/* Lane i's result t[i] comes from the lanes that it names: undefined if one of them is. */
static void put_group(ptx_exec *x, const ptx_uop *u, uint32_t d, const uint32_t *t, bool pred) {
  const uint32_t *member = ptx_r32(x, u->b);
  const uint32_t from = x->state[u->a];
  uint32_t undefined = 0, bits = 0;
  uint64_t all[PTX_LANES];
  const ptx_uop put = {.d = d};
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint32_t named = member[i] & x->mask;
    undefined |= (uint32_t)((from & named) != 0) << i;
    bits |= (uint32_t)(t[i] != 0) << i;
  }
  if (pred) {
    ptx_put_pred(x, &put, bits);
  } else {
    ptx_put32(x, &put, t);
  }
  memset(all, 0xff, sizeof all);
  if (undefined != 0 && x->launch->definedness) {
    sct_ptx_undef_set(x, d, undefined, all);
  }
}

void sct_ptx_op_vote(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *member = ptx_r32(x, u->b), yes = *ptx_pred(x, u->a);
  uint32_t t[PTX_LANES] = {0};
  if (!members_here(x, u, u->b)) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint32_t named = member[i] & x->mask, votes = yes & named;
    t[i] = u->op == PTX_VOTE_ALL   ? votes == named
           : u->op == PTX_VOTE_ANY ? votes != 0
           : u->op == PTX_VOTE_UNI ? votes == 0 || votes == named
                                   : votes;
  }
  put_group(x, u, u->d, t, u->op != PTX_VOTE_BALLOT);
}

static uint32_t redux(uint32_t a, uint32_t b, int op, bool is_signed) {
  const bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  switch (op) {
  case PTX_REDUX_ADD:
    return a + b;
  case PTX_REDUX_MIN:
    return less ? a : b;
  case PTX_REDUX_MAX:
    return less ? b : a;
  case PTX_REDUX_AND:
    return a & b;
  case PTX_REDUX_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

void sct_ptx_op_redux(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *member = ptx_r32(x, u->b), *a = ptx_r32(x, u->a);
  uint32_t t[PTX_LANES] = {0};
  if (!members_here(x, u, u->b)) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    uint32_t rest = member[i] & x->mask;
    t[i] = a[ptx_first_lane(rest)];
    for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
      t[i] = redux(t[i], a[ptx_first_lane(rest)], u->op, u->sign);
    }
  }
  put_group(x, u, u->d, t, false);
}

/* Lanes with the same value (any), or all named lanes if all have the same (all). */
void sct_ptx_op_match(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *member = ptx_r32(x, u->b);
  uint32_t t[PTX_LANES] = {0}, same[PTX_LANES] = {0};
  if (!members_here(x, u, u->b)) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint32_t named = member[i] & x->mask;
    for (uint32_t rest = named; rest != 0; rest &= rest - 1) {
      const int k = ptx_first_lane(rest);
      const bool equal = u->wide ? ptx_r64(x, u->a)[k] == ptx_r64(x, u->a)[i]
                                 : ptx_r32(x, u->a)[k] == ptx_r32(x, u->a)[i];
      t[i] |= (uint32_t)equal << k;
    }
    same[i] = t[i] == named;
    t[i] = u->op == 0 || same[i] ? t[i] : 0;
  }
  if (u->vec != 0) { /* first: the other destination may be a source */
    put_group(x, u, u->vec, same, true);
  }
  put_group(x, u, u->d, t, false);
}
