/* Barriers of a block: bar.sync, bar.arrive, bar.red with their numbers and thread counts. */
#include "ptx/exec/ptx_exec.h"

/* All threads of the block have come, or as many as the barrier asks for. */
static bool complete(const ptx_exec *x, const ptx_barrier *b) {
  int32_t expected = b->expected;
  if (x->has_soft) {
    return false; /* a warp that has stopped is missing */
  }
  if (expected == 0) {
    expected = PTX_LANES * x->launch->n_warps;
    for (int i = 0; x->launch->opts->lenient_exits && i < x->launch->n_warps; i++) {
      expected -= x->warps[i].status == PTX_WARP_DONE ? PTX_LANES : 0;
    }
  }
  return b->arrived >= expected;
}

/* What bar.red gives to every thread. */
static void deliver(ptx_warp *w, const ptx_barrier *b) {
  const ptx_uop *u = w->barrier;
  const ptx_frame *f = &w->frames[w->n_frames - 1];
  const size_t slot = f->slot_base + u->d;
  uint32_t *d = (uint32_t *)(void *)(w->regs + slot * PTX_SLOT_BYTES);
  const uint32_t m = w->barrier_mask;
  w->state[slot] &= ~m;
  if (u->op == PTX_BAR_POPC) {
    for (int i = 0; i < PTX_LANES; i++) {
      d[i] = m >> i & 1 ? b->votes : d[i];
    }
  } else {
    const bool yes = u->op == PTX_BAR_AND ? b->votes == b->all : b->votes != 0;
    d[0] = yes ? d[0] | m : d[0] & ~m;
  }
}

static bool waits_at(const ptx_warp *w, int id) {
  return w->status == PTX_WARP_BARRIER && w->barrier_id == id;
}

/* Whether every warp waits there, but for those that have ended. */
static bool all_wait(const ptx_exec *x, int id) {
  bool all = true;
  for (int i = 0; i < x->launch->n_warps; i++) {
    all &= waits_at(&x->warps[i], id) || x->warps[i].status == PTX_WARP_DONE;
  }
  return all;
}

static void release(ptx_exec *x, int id) {
  ptx_barrier *b = &x->barriers[id];
  const bool whole = b->expected == 0 || all_wait(x, id);
  if (x->is_near != NULL) {
    sct_ptx_chain_meet(x, PTX_WARP_BARRIER, id);
  }
  for (int i = 0; i < x->launch->n_warps; i++) {
    ptx_warp *w = &x->warps[i];
    if (waits_at(w, id)) {
      if (w->barrier->op >= PTX_BAR_POPC) {
        deliver(w, b);
      }
      w->status = PTX_WARP_READY;
      ptx_sync_lanes(x, w);
      if (!whole) {
        sct_ptx_clock_leave(x, &x->barrier_clocks[id], w);
      }
    }
  }
  *b = (ptx_barrier){0};
  x->changes++;
  if (whole) {
    sct_ptx_clock_barrier(x);
  }
}

/* The operand must be the same in all lanes; -1 after a fault. */
static int64_t uniform(ptx_exec *x, const ptx_uop *u, uint32_t slot, uint32_t mask,
                       const char *what) {
  const uint32_t *v = ptx_r32(x, slot);
  const int first = ptx_first_lane(mask);
  if ((uint32_t)x->state[slot] & mask) {
    sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_BRANCH, first, 0, "the barrier's %s was never set", what);
    return -1;
  }
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    if (v[ptx_first_lane(m)] != v[first]) {
      sct_ptx_fault(x, u, SCT_PTX_BARRIER_DIVERGENCE, ptx_first_lane(m), 0,
                    "the barrier's %s differs between the lanes of a warp", what);
      return -1;
    }
  }
  return v[first];
}

/* All lanes of the warp must be here: a barrier waits for threads, not for warps. */
static bool whole_warp(ptx_exec *x, const ptx_uop *u, uint32_t mask) {
  const ptx_warp *w = x->warp;
  const uint32_t wanted = x->launch->opts->lenient_exits ? w->lanes & ~w->exited : w->lanes;
  const uint32_t missing = wanted & ~mask;
  if (missing == 0) {
    return true;
  }
  const int lane = ptx_first_lane(missing);
  return sct_ptx_fault(
      x, u, SCT_PTX_BARRIER_DIVERGENCE, lane, 0, "lane %d %s (lanes 0x%x are here)", lane,
      w->exited >> lane & 1 ? "has ended without reaching it" : "took another branch", mask);
}

void sct_ptx_barrier(ptx_exec *x, const ptx_uop *u, uint32_t mask) {
  ptx_warp *w = x->warp;
  if (u->op >= PTX_BAR_CLUSTER_ARRIVE) {
    if (whole_warp(x, u, mask)) {
      sct_ptx_cluster_barrier(x, u);
    }
    return;
  }
  const int64_t id = uniform(x, u, u->a, mask, "number");
  const int64_t count = x->stop ? -1 : uniform(x, u, u->b, mask, "thread count");
  if (x->stop || !whole_warp(x, u, mask)) {
    return;
  }
  if (id >= PTX_N_BARRIERS || (count != 0 && count % PTX_LANES != 0)) {
    sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, -1, 0, "barrier %lld for %lld threads", (long long)id,
                  (long long)count);
    return;
  }
  ptx_barrier *b = &x->barriers[id];
  if (count != 0) {
    if (b->arrived == 0) {
      x->barrier_clocks[id] = (ptx_clock){0};
    }
    sct_ptx_clock_arrive(x, &x->barrier_clocks[id], w, u->op == PTX_BAR_ARRIVE);
  }
  x->counters.barriers++;
  b->expected = (int32_t)count;
  b->arrived += PTX_LANES;
  b->by = u;
  if (u->op >= PTX_BAR_POPC) {
    b->votes += (uint32_t)__builtin_popcount(*ptx_pred(x, u->c) & mask);
    b->all += (uint32_t)__builtin_popcount(mask);
  }
  if (u->op != PTX_BAR_ARRIVE) {
    w->status = PTX_WARP_BARRIER;
    w->barrier = u;
    w->barrier_id = (int)id;
    w->barrier_mask = mask;
  }
  if (complete(x, b)) {
    release(x, (int)id);
  }
}

/* Nothing can run: warps have ended that others wait for, or each waits for another barrier. */
void sct_ptx_barrier_fault_stuck(ptx_exec *x) {
  const ptx_warp *waiting = NULL;
  int ended = -1;
  for (int i = 0; i < x->launch->n_warps; i++) {
    if (x->warps[i].status == PTX_WARP_BARRIER) {
      waiting = &x->warps[i];
      if (complete(x, &x->barriers[waiting->barrier_id])) {
        release(x, waiting->barrier_id);
        return;
      }
    } else if (x->warps[i].status == PTX_WARP_DONE && ended < 0) {
      ended = i;
    }
  }
  if (waiting == NULL) {
    return;
  }
  x->warp = &x->warps[waiting->index];
  if (ended >= 0) {
    sct_ptx_fault(x, waiting->barrier, SCT_PTX_BARRIER_DIVERGENCE, -1, 0,
                  "warp %d has ended without reaching the barrier that warp %d waits at", ended,
                  waiting->index);
  } else {
    sct_ptx_fault(x, waiting->barrier, SCT_PTX_DEADLOCK, -1, 0,
                  "every warp waits at a barrier, and none of them is complete");
  }
}
