/* Running blocks: warps one after the other until each waits or ends, lanes parted by branches kept
 * on a stack that brings them together again at the branch's immediate post-dominator. */
#include "ptx/exec/ptx_exec.h"

#define SLICE_STEPS 10000 /* after which a warp that spins on another one yields */

/* ---- frames and paths */

static void enter(ptx_exec *x, ptx_warp *w) {
  x->warp = w;
  x->frame = &w->frames[w->n_frames - 1];
  x->regs = w->regs + x->frame->slot_base * PTX_SLOT_BYTES;
  x->state = w->state + x->frame->slot_base;
}

static bool push_path(ptx_exec *x, int32_t pc, int32_t rpc, uint32_t mask) {
  ptx_warp *w = x->warp;
  if (w->n_paths == w->cap_paths) {
    return sct_ptx_fault(x, NULL, SCT_PTX_CALL_DEPTH, -1, 0, "branches nested too deep");
  }
  w->paths[w->n_paths++] = (ptx_path){pc, rpc, mask};
  return true;
}

static uint32_t live_lanes(const ptx_warp *w, uint32_t mask) {
  return mask & ~w->exited & ~w->frames[w->n_frames - 1].returned;
}

/* Drops paths that have ended; false: the warp has. */
static bool settle(ptx_exec *x) {
  ptx_warp *w = x->warp;
  for (;;) {
    const ptx_frame *f = x->frame;
    if (w->n_paths == f->path_base) {
      if (w->n_frames == 1) {
        w->status = PTX_WARP_DONE;
        x->changes++;
        return false;
      }
      sct_ptx_return(x);
      enter(x, w);
      continue;
    }
    const ptx_path *p = &w->paths[w->n_paths - 1];
    if (p->pc >= 0 && p->pc != p->rpc && live_lanes(w, p->mask) != 0) {
      return true;
    }
    w->n_paths--;
  }
}

/* A block of the kernel itself in which lanes do nothing but end. */
static bool leaves(const ptx_exec *x, int32_t block) {
  const ptx_block *b = &x->code->blocks[block >= 0 ? block : 0];
  const bool ends = b->term == PTX_TERM_EXIT || (b->term == PTX_TERM_RET && x->warp->n_frames == 1);
  return block >= 0 && ends && b->n_insts == 1 && x->code->uops[b->end].guard == PTX_SLOT_TRUE;
}

/* Lanes go to several blocks: those whose block is the meeting point wait in the entry below. With
 * lenient exits none waits at the end of the kernel for the others, which may come to a barrier
 * first: those that leave do so before the others go on. */
static void split(ptx_exec *x, const ptx_block *b, const int32_t *to, const uint32_t *mask, int n) {
  ptx_warp *w = x->warp;
  ptx_path *p = &w->paths[w->n_paths - 1];
  const bool lenient = x->launch->opts->lenient_exits;
  const int32_t meet = lenient && leaves(x, b->ipdom) ? -1 : b->ipdom;
  if (meet < 0 || p->rpc == meet) {
    w->n_paths--;
  } else {
    p->pc = meet;
  }
  for (int last = 0; last <= (int)lenient; last++) { /* the last pushed runs first */
    for (int i = 0; i < n; i++) {
      const bool waits = to[i] == meet;
      if (!waits && (!lenient || leaves(x, to[i]) == (last == 1)) &&
          !push_path(x, to[i], meet, mask[i])) {
        return;
      }
    }
  }
}

/* ---- how blocks end */

/* Lanes in which the guard of `u` holds; a guard that is undefined there is a diagnosis. */
static uint32_t guarded(ptx_exec *x, const ptx_uop *u, uint32_t live) {
  const uint32_t undefined = (uint32_t)x->state[u->guard] & live;
  if (undefined != 0) {
    sct_ptx_before_undefined(x, u->guard, ptx_first_lane(undefined));
    if (!sct_ptx_find(x, u, SCT_PTX_UNDEFINED_BRANCH, ptx_first_lane(undefined), 0,
                      "what happens here depends on a value that was never set")) {
      return 0;
    }
  }
  const uint32_t yes = *ptx_pred(x, u->guard) ^ u->guard_flip;
  if (u->guard != PTX_SLOT_TRUE) {
    ptx_see(x, u, yes, live);
  }
  return live & yes;
}

static void end_branch(ptx_exec *x, const ptx_block *b, const ptx_uop *u, uint32_t live,
                       uint32_t taken) {
  ptx_path *p = &x->warp->paths[x->warp->n_paths - 1];
  if (taken == live) {
    p->pc = b->target;
  } else if (taken == 0) {
    p->pc = b->next;
  } else {
    const int32_t to[2] = {b->next, b->target};
    const uint32_t mask[2] = {live & ~taken, taken};
    x->counters.divergent_branches++;
    x->insts[u->inst].divergent++;
    split(x, b, to, mask, 2);
  }
}

static void end_table(ptx_exec *x, const ptx_block *b, const ptx_uop *u, uint32_t live,
                      uint32_t taken) {
  int32_t to[PTX_LANES + 1];
  uint32_t mask[PTX_LANES + 1];
  int n = 0;
  const uint32_t *index = ptx_r32(x, u->a);
  const uint32_t undefined = (uint32_t)x->state[u->a] & taken;
  if (undefined != 0) {
    sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_BRANCH, ptx_first_lane(undefined), 0,
                  "the branch index was never set");
    return;
  }
  for (uint32_t m = taken; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    if (index[i] >= u->vec) {
      sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, i, 0, "branch index %u of a table of %u", index[i],
                    u->vec);
      return;
    }
    const int32_t target = x->code->tables[u->imm + index[i]];
    int k = 0;
    while (k < n && to[k] != target) {
      k++;
    }
    if (k == n) {
      to[n] = target;
      mask[n++] = 0;
    }
    mask[k] |= 1u << i;
  }
  if (live & ~taken) {
    to[n] = b->next;
    mask[n++] = live & ~taken;
  }
  if (n == 1) {
    x->warp->paths[x->warp->n_paths - 1].pc = to[0];
  } else {
    x->counters.divergent_branches++;
    x->insts[u->inst].divergent++;
    split(x, b, to, mask, n);
  }
}

static void end_ret(ptx_exec *x, const ptx_block *b, uint32_t taken, bool exits) {
  ptx_warp *w = x->warp;
  if (exits || w->n_frames == 1) {
    w->exited |= taken;
  } else {
    x->frame->returned |= taken;
  }
  w->paths[w->n_paths - 1].pc = b->next;
}

static void end_block(ptx_exec *x, const ptx_block *b, uint32_t live) {
  ptx_path *p = &x->warp->paths[x->warp->n_paths - 1];
  if (b->term == PTX_TERM_FALL) {
    p->pc = b->next;
    return;
  }
  const ptx_uop *u = &x->code->uops[b->end];
  const uint32_t taken = guarded(x, u, live);
  if (x->stop) {
    return;
  }
  switch ((ptx_term)b->term) {
  case PTX_TERM_BRANCH:
    x->counters.branches += u->guard != PTX_SLOT_TRUE;
    end_branch(x, b, u, live, taken);
    break;
  case PTX_TERM_TABLE:
    x->counters.branches++;
    end_table(x, b, u, live, taken);
    break;
  case PTX_TERM_RET:
    end_ret(x, b, taken, false);
    break;
  case PTX_TERM_EXIT:
    end_ret(x, b, taken, true);
    break;
  case PTX_TERM_BARRIER:
    p->pc = b->next;
    if (taken != 0) {
      sct_ptx_barrier(x, u, taken);
      x->yield = true; /* the order of warps begins anew */
    }
    break;
  case PTX_TERM_CALL:
    p->pc = b->next;
    if (taken != 0) {
      sct_ptx_call(x, u, taken);
      enter(x, x->warp);
    }
    break;
  case PTX_TERM_FALL:
    break;
  }
}

/* ---- warps and blocks */

static void run_basic_block(ptx_exec *x, const ptx_block *b, uint32_t live) {
  const ptx_uop *u = &x->code->uops[b->first], *end = &x->code->uops[b->end];
  for (; u < end; u++) {
    x->mask = live;
    if (u->guard != PTX_SLOT_TRUE) {
      x->mask = guarded(x, u, live);
      if (x->stop) {
        return;
      }
      if (x->mask == 0) {
        continue;
      }
    }
    u->fn(x, u);
    if (x->stop) {
      return;
    }
  }
  end_block(x, b, live);
}

/* Locks and flags are the usual reason in a kernel that talks across blocks. */
static void fault_steps(ptx_exec *x) {
  const bool talks = x->code->has_global_atomics || x->code->orders_blocks;
  sct_ptx_fault(x, NULL, SCT_PTX_STEP_LIMIT, -1, 0, "block still running after %lld instructions%s",
                (long long)x->steps,
                talks ? "; if it waits for a flag or a lock: blocks run one after the other here, "
                        "and the lanes of a warp together, so a block must not wait for one that "
                        "comes later, nor a lane for another lane of its warp"
                      : "");
}

/* The current lanes wait for an mbarrier: others of the warp go on if a branch has parted them, as
 * they would on a GPU. The lowest of the paths that have nothing to do with what lies above it
 * comes to the top. */
static void turn_paths(const ptx_exec *x) {
  ptx_warp *w = x->warp;
  const int top = w->n_paths - 1;
  for (int i = x->frame->path_base; i < top; i++) {
    const ptx_path p = w->paths[i];
    uint32_t above = 0;
    for (int j = i + 1; j <= top; j++) {
      above |= w->paths[j].mask;
    }
    if ((p.mask & above) == 0 && p.pc >= 0 && p.pc != p.rpc && live_lanes(w, p.mask) != 0) {
      memmove(&w->paths[i], &w->paths[i + 1], sizeof p * (size_t)(top - i));
      w->paths[top] = p;
      return;
    }
  }
}

static void run_warp(ptx_exec *x, ptx_warp *w) {
  const int64_t until = x->steps + SLICE_STEPS;
  enter(x, w);
  x->yield = x->waits = false;
  while (w->status == PTX_WARP_READY && !x->stop && !x->yield && x->steps < until) {
    if (!settle(x)) {
      return;
    }
    const ptx_path *p = &w->paths[w->n_paths - 1];
    const ptx_block *b = &x->code->blocks[p->pc];
    const uint32_t live = live_lanes(w, p->mask);
    x->block_runs[p->pc]++;
    x->block_lanes[p->pc] += ptx_count_lanes(live);
    x->steps += b->n_insts;
    w->steps += b->n_insts;
    x->clock++;
    const bool in_kernel = w->n_frames == 1;
    if (x->is_near != NULL && b->term == PTX_TERM_BARRIER) { /* which may let the warp go on */
      sct_ptx_chain_block(x, w, b, in_kernel);
      run_basic_block(x, b, live);
    } else {
      run_basic_block(x, b, live);
      if (x->is_near != NULL) {
        sct_ptx_chain_block(x, w, b, in_kernel);
      }
    }
  }
  if (x->waits && !x->stop && w->status == PTX_WARP_READY) {
    turn_paths(x);
  }
  if (x->steps > x->launch->max_steps && !x->stop) {
    fault_steps(x);
  }
}

/* Looks at undefined stores; after one, the block ends with a diagnosis that a race may explain. */
static void end_stores(ptx_exec *x) {
  sct_ptx_fault_if_unset(x);
  x->has_soft = x->stop && x->soft;
  x->stop = x->stop && !x->soft;
}

void sct_ptx_run_block(ptx_exec *x) {
  const int n = x->launch->n_warps;
  x->looks = false;
  for (;;) {
    bool progress = false, left = false, meets = false;
    for (int k = 0; k < n && !x->stop; k++) {
      ptx_warp *w = &x->warps[x->order[k]];
      if (w->status == PTX_WARP_READY) {
        run_warp(x, w);
        progress = true;
      }
      if (x->stop && x->soft) {
        w->status = PTX_WARP_DONE;
        x->stop = false;
        x->has_soft = true;
      }
      left |= w->status != PTX_WARP_DONE;
      meets |= w->status == PTX_WARP_CLUSTER;
    }
    if (!x->stop && !left && !x->has_soft) {
      sct_ptx_bulk_end(x);
      end_stores(x);
    }
    x->ended = x->stop || !left || (!progress && x->has_soft);
    if (x->ended && x->is_near != NULL) {
      sct_ptx_chain_end(x);
    }
    if (x->ended || (!progress && meets) || x->looks) {
      return;
    }
    if (x->waits && sct_ptx_mbar_all_idle(x)) { /* a warp that has stopped may be missing */
      sct_ptx_mbar_fault_stuck(x);
      return;
    }
    if (!progress) {
      sct_ptx_barrier_fault_stuck(x);
      if (x->stop) {
        return;
      }
    }
  }
}
