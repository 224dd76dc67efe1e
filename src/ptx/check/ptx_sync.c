/* Order between the warps of a block without a barrier (between blocks: ptx_blocks.c): a warp that
 * fences and then writes a flag (atomically, or by a volatile or relaxed store) releases what it
 * did before; a warp that reads the flag and then fences acquires it. Both together order their
 * plain accesses.
 *
 * Kept by flag: the warps that have released there, with all they had acquired themselves. What a
 * warp does after its release counts as released with it, so a race may be missed here, but none is
 * invented. A barrier orders everything and makes all of this void. */
#include "ptx/exec/ptx_exec.h"

#define SHARED_PLACE ((uint64_t)1 << 63) /* tells shared addresses from global ones */

static void begin_interval(ptx_exec *x) {
  if (x->flags_base == x->base) {
    return;
  }
  x->flags_base = x->base;
  x->n_flags = 0;
  x->flags_rest = 0;
  for (int i = 0; i < x->launch->n_warps; i++) {
    x->warps[i].fenced = false;
    x->warps[i].seen = x->warps[i].synced = 0;
  }
}

static void release_at(ptx_exec *x, uint64_t place, uint32_t warps) {
  for (int i = 0; i < x->n_flags; i++) {
    if (x->flags[i].place == place) {
      x->flags[i].warps |= warps;
      return;
    }
  }
  if (x->n_flags < PTX_N_FLAGS) {
    x->flags[x->n_flags++] = (ptx_flag){place, warps};
  } else {
    x->flags_rest |= warps; /* more flags than there is room for: any flag stands for these */
  }
}

static uint32_t released_at(const ptx_exec *x, uint64_t place) {
  for (int i = 0; i < x->n_flags; i++) {
    if (x->flags[i].place == place) {
      return x->flags[i].warps | x->flags_rest;
    }
  }
  return x->flags_rest;
}

/* Lanes of the warp may have released to each other as well. */
static void acquire(ptx_exec *x) {
  x->warp->synced |= x->warp->seen;
  ptx_sync_lanes(x, x->warp);
}

void sct_ptx_sync_access(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                         const ptx_part *part) {
  ptx_warp *w = x->warp;
  begin_interval(x);
  const bool releases = acc->dir != PTX_READ && (w->fenced || (u->sync & PTX_SYNC_RELEASE) != 0);
  for (uint32_t m = part->mask; m != 0 && acc->dir != PTX_WRITE; m &= m - 1) {
    const uint64_t place = acc->addr[ptx_first_lane(m)] | (part->shared ? SHARED_PLACE : 0);
    w->seen |= released_at(x, place);
  }
  if (u->sync & PTX_SYNC_ACQUIRE) {
    acquire(x);
  }
  for (uint32_t m = part->mask; m != 0 && releases; m &= m - 1) {
    const uint64_t place = acc->addr[ptx_first_lane(m)] | (part->shared ? SHARED_PLACE : 0);
    release_at(x, place, w->synced | 1u << w->index);
  }
  sct_ptx_order_access(x, u, acc, part);
}

void sct_ptx_op_fence(ptx_exec *x, const ptx_uop *u) {
  ptx_warp *w = x->warp;
  begin_interval(x);
  w->fenced |= (u->sync & PTX_SYNC_RELEASE) != 0;
  if (u->sync & PTX_SYNC_ACQUIRE) {
    acquire(x);
  }
  if (u->sync & PTX_SYNC_RELEASE) {
    sct_ptx_order_fence(x, ptx_scope_of(u));
  }
}

bool sct_ptx_synced(const ptx_exec *x, unsigned warp) {
  const uint32_t synced = x->flags_base == x->base ? x->warp->synced : 0;
  const uint32_t all = PTX_ALL >> (PTX_LANES - x->launch->n_warps);
  return warp < PTX_LANES ? (synced >> warp & 1) != 0
                          : ((synced | 1u << x->warp->index) & all) == all;
}
