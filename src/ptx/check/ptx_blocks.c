/* Order between blocks. A block that fences and then writes a flag (atomically, or by a volatile or
 * relaxed store) releases what the fence covers; a block that reads the flag comes after it. Fences
 * and flags order blocks within their scope only: those of a block's scope none, those of a
 * cluster's scope blocks of one cluster.
 *
 * Blocks have numbers in the order in which they began, and what a block comes after is a set of
 * such numbers, few ranges as a rule; where there are too many, what lies between is counted in.
 * Of every block it is known what it has released at any flag, by warp and epoch. So a race may be
 * missed here, and none is invented:
 * - a fence of any warp before a barrier covers for a flag that another warp writes after it;
 * - who has read the flag comes after the release, with or without a fence of its own. */
#include "ptx/exec/ptx_exec.h"

#define MAX_FLAGS 4096 /* places; where there are more, any stands for the others */

typedef struct flag {
  uint64_t place; /* 0: free */
  ptx_blocks of[PTX_N_WIDE];
  uint32_t cluster; /* of the releases of its scope */
} flag;

struct ptx_order {
  int64_t *index; /* [n] of the block with this number */
  size_t n, cap;
  ptx_cover *released; /* [n], of kernels that order blocks */
  size_t n_released, cap_released;
  flag *flags; /* [MAX_FLAGS * 2] hashed; NULL: none yet */
  int n_flags;
  flag rest;
  bool orders;
  sct_ptx_diag warning;
};

/* ---- sets of blocks */

/* Joins the two ranges with the smallest gap. */
static void close_gap(ptx_blocks *s) {
  int at = 0;
  for (int i = 1; i + 1 < s->n; i++) {
    at = s->from[i + 1] - s->end[i] < s->from[at + 1] - s->end[at] ? i : at;
  }
  s->end[at] = s->end[at + 1];
  s->n--;
  for (int i = at + 1; i < s->n; i++) {
    s->from[i] = s->from[i + 1];
    s->end[i] = s->end[i + 1];
  }
}

static void add_range(ptx_blocks *s, uint32_t from, uint32_t end) {
  ptx_blocks out = {0};
  bool placed = false;
  for (int i = 0; i < s->n; i++) {
    if (s->from[i] <= from && s->end[i] >= end) {
      return;
    }
  }
  if (s->n == PTX_N_RANGES) {
    close_gap(s);
  }
  for (int i = 0; i < s->n; i++) {
    if (s->end[i] >= from && s->from[i] <= end) { /* they touch */
      from = s->from[i] < from ? s->from[i] : from;
      end = s->end[i] > end ? s->end[i] : end;
      continue;
    }
    if (s->from[i] > end && !placed) {
      out.from[out.n] = from;
      out.end[out.n++] = end;
      placed = true;
    }
    out.from[out.n] = s->from[i];
    out.end[out.n++] = s->end[i];
  }
  if (!placed) {
    out.from[out.n] = from;
    out.end[out.n++] = end;
  }
  *s = out;
}

static void add_blocks(ptx_blocks *to, const ptx_blocks *from) {
  for (int i = 0; i < from->n; i++) {
    add_range(to, from->from[i], from->end[i]);
  }
}

static bool contains(const ptx_blocks *s, uint32_t number) {
  for (int i = 0; i < s->n; i++) {
    if (number >= s->from[i] && number < s->end[i]) {
      return true;
    }
  }
  return false;
}

/* ---- a launch, a block */

ptx_order *sct_ptx_order_new(const ptx_launch *l) {
  ptx_order *o = sct_alloc(sizeof *o);
  o->orders = l->code->orders_cluster;
  return o;
}

void sct_ptx_order_free(ptx_order *order) {
  if (order != NULL) {
    sct_free(order->index);
    sct_free(order->released);
    sct_free(order->flags);
    sct_free(order);
  }
}

void sct_ptx_order_begin_block(ptx_exec *x) {
  ptx_order *o = x->launch->order;
  if (o == NULL) {
    return;
  }
  SCT_GROW(o->index, o->n, o->cap);
  x->number = (uint32_t)o->n;
  o->index[o->n++] = x->block_index;
  if (!o->orders) {
    return;
  }
  SCT_GROW(o->released, o->n_released, o->cap_released);
  o->released[o->n_released++] = (ptx_cover){{{0}}};
  x->cover = (ptx_cover){{{0}}};
  x->after.n = 0;
  x->fenced = false;
  for (int i = 0; i < x->launch->n_warps; i++) {
    x->warps[i].cover = (ptx_cover){{{0}}};
    x->warps[i].after.n = 0;
  }
}

sct_ptx_diag *sct_ptx_order_warning(ptx_order *order) {
  return &order->warning;
}

int64_t sct_ptx_order_index(const ptx_order *order, uint32_t number) {
  return number < order->n ? order->index[number] : -1;
}

static uint32_t cluster_of(const ptx_exec *x, uint32_t number) {
  return number / (uint32_t)x->launch->n_cluster;
}

/* ---- fences and barriers */

static void join_cover(ptx_cover *to, const ptx_cover *from, int n_warps) {
  for (int s = 0; s < PTX_N_WIDE; s++) {
    for (int i = 0; i < n_warps; i++) {
      const uint32_t before = from->before[s][i];
      to->before[s][i] = before > to->before[s][i] ? before : to->before[s][i];
    }
  }
}

/* Epochs of warp `i` below this come before what the current warp does from here on. */
static uint32_t ordered_before(const ptx_exec *x, int i) {
  const ptx_warp *w = x->warp;
  if (i == w->index) {
    return w->stamp;
  }
  const uint32_t known = w->clock.known[i] + 1;
  const uint32_t met = sct_ptx_synced(x, (unsigned)i) ? x->warps[i].stamp + 1 : x->base;
  return known > met ? known : met;
}

void sct_ptx_order_fence(ptx_exec *x, ptx_mem_scope scope) {
  const ptx_order *o = x->launch->order;
  ptx_warp *w = x->warp;
  if (o == NULL || !o->orders || scope == PTX_SCOPE_BLOCK) {
    return;
  }
  w->stamp = ++x->epoch; /* what it does from here on is not covered */
  x->fenced = true;
  for (int i = 0; i < x->launch->n_warps; i++) {
    const uint32_t before = ordered_before(x, i);
    for (int s = (int)scope; s < PTX_N_WIDE; s++) {
      w->cover.before[s][i] = before;
    }
  }
}

void sct_ptx_order_barrier(ptx_exec *x) {
  if (!x->fenced) {
    return;
  }
  x->fenced = false;
  for (int i = 0; i < x->launch->n_warps; i++) {
    ptx_warp *w = &x->warps[i];
    join_cover(&x->cover, &w->cover, x->launch->n_warps);
    add_blocks(&x->after, &w->after);
    w->after.n = 0;
  }
}

/* All that the blocks of a cluster did before its barrier is released to each of them, and what one
 * of them releases later has it with it. */
void sct_ptx_order_cluster(ptx_cluster *c) {
  ptx_order *o = c->blocks[0].launch->order;
  ptx_blocks all = {0};
  if (o == NULL || !o->orders) {
    return;
  }
  for (int k = 0; k < c->n; k++) {
    ptx_exec *x = &c->blocks[k];
    sct_ptx_order_barrier(x);
    add_blocks(&all, &x->after);
    add_range(&all, x->number, x->number + 1);
    for (int i = 0; i < x->launch->n_warps; i++) {
      o->released[x->number].before[PTX_SCOPE_CLUSTER][i] = x->epoch;
    }
  }
  for (int k = 0; k < c->n; k++) {
    add_blocks(&c->blocks[k].after, &all);
  }
}

/* ---- flags */

static flag *find_flag(ptx_order *o, uint64_t place, bool make) {
  if (o->flags == NULL && !make) {
    return &o->rest;
  }
  o->flags = o->flags == NULL ? sct_alloc(sizeof *o->flags * MAX_FLAGS * 2) : o->flags;
  size_t at = (size_t)(sct_mix64(place, 1) % (MAX_FLAGS * 2));
  while (o->flags[at].place != 0 && o->flags[at].place != place) {
    at = (at + 1) % (MAX_FLAGS * 2);
  }
  if (o->flags[at].place == 0 && (!make || o->n_flags == MAX_FLAGS)) {
    return &o->rest;
  }
  o->n_flags += o->flags[at].place == 0;
  o->flags[at].place = place;
  return &o->flags[at];
}

static void acquire_from(ptx_exec *x, const flag *f, ptx_mem_scope scope) {
  ptx_blocks *to = &x->warp->after;
  if (scope == PTX_SCOPE_DEVICE) {
    add_blocks(to, &f->of[PTX_SCOPE_DEVICE]);
  }
  if (f->cluster == cluster_of(x, x->number)) {
    add_blocks(to, &f->of[PTX_SCOPE_CLUSTER]);
  }
  x->fenced |= to->n > 0;
}

/* Releases of the other blocks of the cluster go on with this one's. */
static void pass_on_cluster(const ptx_exec *x, ptx_order *o) {
  const uint32_t n = (uint32_t)x->launch->n_cluster, first = x->number / n * n;
  for (uint32_t k = first; n > 1 && k < first + n && k < o->n_released; k++) {
    ptx_cover *c = &o->released[k];
    for (int i = 0; k != x->number && i < x->launch->n_warps; i++) {
      const uint32_t before = c->before[PTX_SCOPE_CLUSTER][i];
      c->before[PTX_SCOPE_DEVICE][i] =
          before > c->before[PTX_SCOPE_DEVICE][i] ? before : c->before[PTX_SCOPE_DEVICE][i];
    }
  }
}

static void release_to(ptx_exec *x, ptx_order *o, flag *f, ptx_mem_scope scope) {
  ptx_blocks all = x->after;
  add_blocks(&all, &x->warp->after);
  add_range(&all, x->number, x->number + 1);
  if (scope == PTX_SCOPE_DEVICE) {
    add_blocks(&f->of[PTX_SCOPE_DEVICE], &all);
    pass_on_cluster(x, o);
  }
  if (f->cluster != cluster_of(x, x->number)) {
    f->cluster = cluster_of(x, x->number);
    f->of[PTX_SCOPE_CLUSTER].n = 0;
  }
  add_blocks(&f->of[PTX_SCOPE_CLUSTER], &all);
}

static bool covers(const ptx_cover *c, ptx_mem_scope scope, int n_warps) {
  bool any = false;
  for (int i = 0; i < n_warps; i++) {
    any |= c->before[scope][i] != 0;
  }
  return any;
}

void sct_ptx_order_access(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                          const ptx_part *part) {
  ptx_order *o = x->launch->order;
  const ptx_mem_scope scope = ptx_scope_of(u);
  const int n_warps = x->launch->n_warps;
  if (o == NULL || !o->orders || scope == PTX_SCOPE_BLOCK || part->shared) {
    return;
  }
  for (uint32_t m = part->mask; m != 0 && acc->dir != PTX_WRITE; m &= m - 1) {
    acquire_from(x, find_flag(o, acc->addr[ptx_first_lane(m)], false), scope);
  }
  if (acc->dir == PTX_READ) {
    return;
  }
  if (u->sync & PTX_SYNC_RELEASE) {
    sct_ptx_order_fence(x, scope);
  }
  ptx_cover cover = x->cover;
  join_cover(&cover, &x->warp->cover, n_warps);
  if (!covers(&cover, PTX_SCOPE_CLUSTER, n_warps)) {
    return;
  }
  const bool wide = scope == PTX_SCOPE_DEVICE && covers(&cover, PTX_SCOPE_DEVICE, n_warps);
  join_cover(&o->released[x->number], &cover, n_warps);
  for (uint32_t m = part->mask; m != 0; m &= m - 1) {
    flag *f = find_flag(o, acc->addr[ptx_first_lane(m)], true);
    release_to(x, o, f, wide ? PTX_SCOPE_DEVICE : PTX_SCOPE_CLUSTER);
  }
}

/* ---- what comes after what */

bool sct_ptx_order_after(const ptx_exec *x, uint32_t number, unsigned warp, uint32_t epoch) {
  const ptx_order *o = x->launch->order;
  if (o == NULL || !o->orders ||
      !(contains(&x->after, number) || contains(&x->warp->after, number))) {
    return false;
  }
  const bool near = cluster_of(x, number) == cluster_of(x, x->number);
  const uint32_t *before = o->released[number].before[near ? PTX_SCOPE_CLUSTER : PTX_SCOPE_DEVICE];
  if (warp < PTX_LANES) {
    return epoch < before[warp];
  }
  bool any = false;
  for (int i = 0; i < x->launch->n_warps; i++) {
    any |= epoch < before[i];
  }
  return any;
}

bool sct_ptx_order_after_any(const ptx_exec *x) {
  return x->after.n > 0 || x->warp->after.n > 0;
}
