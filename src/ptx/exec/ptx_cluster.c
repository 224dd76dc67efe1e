/* Clusters: blocks that run together, meet at barriers of their own and write to each other's
 * shared memory (barrier.cluster, mapa, st.shared::cluster). Each block has an executor; they take
 * turns, and one hands over where its warps wait for the others.
 *
 * An address in the shared memory of a block has that block's rank plus 1 above the bits of an
 * address; without, it is the own block's. Who goes there has waited at a barrier of the cluster
 * before, and the other block at one after, else it may not run yet, or have ended. */
#include "ptx/exec/ptx_exec.h"

#define RANK_SHIFT 24 /* shared addresses are smaller */
#define RANK_BITS  ((uint64_t)0xff << RANK_SHIFT)

/* ---- barriers */

static bool is_missing(const ptx_exec *x, const ptx_warp *w) {
  const bool ended = x->launch->opts->lenient_exits && w->status == PTX_WARP_DONE;
  return !ended && !(w->arrived && w->cluster_phase == x->cluster->phase);
}

/* A warp that the barrier still waits for, and its block; NULL: none. */
static const ptx_warp *missing(const ptx_cluster *c, const ptx_exec **block) {
  for (int k = 0; k < c->n; k++) {
    for (int i = 0; i < c->blocks[k].launch->n_warps; i++) {
      if (is_missing(&c->blocks[k], &c->blocks[k].warps[i])) {
        *block = &c->blocks[k];
        return &c->blocks[k].warps[i];
      }
    }
  }
  return NULL;
}

static void release(ptx_cluster *c) {
  c->phase++;
  c->arrived = 0;
  c->blocks[0].changes++;
  for (int k = 0; k < c->n; k++) {
    ptx_exec *x = &c->blocks[k];
    if (x->is_near != NULL) {
      sct_ptx_chain_meet(x, PTX_WARP_CLUSTER, -1);
    }
    for (int i = 0; i < x->launch->n_warps; i++) {
      ptx_warp *w = &x->warps[i];
      if (w->status == PTX_WARP_CLUSTER) {
        w->status = PTX_WARP_READY;
        ptx_sync_lanes(x, w);
      }
    }
    sct_ptx_clock_barrier(x);
    x->cluster_base = x->epoch;
  }
  sct_ptx_order_cluster(c);
}

void sct_ptx_cluster_barrier(ptx_exec *x, const ptx_uop *u) {
  ptx_cluster *c = x->cluster;
  ptx_warp *w = x->warp;
  const bool arrives = u->op == PTX_BAR_CLUSTER_ARRIVE;
  if (w->arrived == arrives) {
    sct_ptx_fault(x, u, SCT_PTX_BARRIER_DIVERGENCE, -1, 0, "%s",
                  arrives ? "arrives at the cluster's barrier again before it has waited"
                          : "waits for the cluster's barrier and has not arrived at it");
    return;
  }
  w->arrived = arrives;
  if (arrives) {
    x->counters.barriers++;
    w->cluster_phase = c->phase;
    if (++c->arrived == c->n * x->launch->n_warps) {
      release(c);
    }
  } else if (w->cluster_phase == c->phase) {
    w->status = PTX_WARP_CLUSTER;
    w->barrier = u;
  }
}

static void fault_stuck(ptx_cluster *c, const ptx_exec *block, const ptx_warp *absent) {
  for (int k = 0; k < c->n; k++) {
    ptx_exec *x = &c->blocks[k];
    for (int i = 0; i < x->launch->n_warps; i++) {
      if (x->warps[i].status == PTX_WARP_CLUSTER) {
        x->warp = &x->warps[i];
        sct_ptx_fault(x, x->warps[i].barrier, SCT_PTX_BARRIER_DIVERGENCE, -1, 0,
                      "warp %d of block number %lld does not arrive at the cluster's barrier",
                      absent->index, (long long)block->block_index);
        return;
      }
    }
  }
}

static void check_end(ptx_exec *x);

/* ---- running */

/* No block has got on: with lenient exits what has ended counts as arrived; else that is wrong, but
 * where a warp has stopped with a soft diagnosis. False: the cluster ends. */
static bool unstick(ptx_cluster *c) {
  const ptx_exec *block = NULL;
  const ptx_warp *absent = missing(c, &block);
  for (int k = 0; k < c->n; k++) {
    if (c->blocks[k].has_soft) {
      return false;
    }
  }
  if (absent == NULL) {
    release(c);
    return true;
  }
  fault_stuck(c, block, absent);
  return false;
}

static bool has_stopped(const ptx_cluster *c) {
  bool stopped = false;
  for (int k = 0; k < c->n; k++) {
    stopped |= c->blocks[k].stop;
  }
  return stopped;
}

static void begin(ptx_cluster *c, int64_t block_index) {
  const int64_t first = block_index - block_index % c->n;
  c->rank = (int)(block_index - first);
  c->phase = 0;
  c->arrived = 0;
  for (int k = 0; k < c->n; k++) {
    sct_ptx_block_begin(&c->blocks[k], first + (c->rank + k) % c->n);
  }
}

/* Each block gets its turn. False: all have ended, or there is a diagnosis. */
static bool turn(ptx_cluster *c) {
  const bool reverse = c->blocks[0].launch->opts->order == SCT_PTX_REVERSE;
  const uint32_t phase = c->phase;
  bool looks = false;
  int left = 0;
  for (int k = 0; k < c->n; k++) {
    ptx_exec *x = &c->blocks[reverse ? c->n - 1 - k : k];
    if (!x->ended) {
      sct_ptx_run_block(x);
      left += !x->ended;
      looks |= x->looks;
      if (x->ended && !x->stop && !x->has_soft) {
        check_end(x);
      }
    }
    if (has_stopped(c)) {
      return false;
    }
  }
  return left > 0 && (c->phase != phase || looks || unstick(c));
}

/* ---- a cooperative grid */

#define IDLE_ROUNDS 2000 /* in which blocks only look: none will do anything any more */

static uint64_t changes(const ptx_cluster *c, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < c[i].n; k++) {
      sum += c[i].blocks[k].changes;
    }
  }
  return sum;
}

/* Blocks look at flags that nobody will change. */
static void fault_idle(ptx_cluster *c, int n) {
  ptx_exec *waiting = NULL;
  const ptx_exec *ended = NULL;
  bool soft = false; /* a diagnosis stands, and that warp is missing */
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < c[i].n; k++) {
      ptx_exec *x = &c[i].blocks[k];
      waiting = waiting == NULL && !x->ended && x->looks ? x : waiting;
      ended = ended == NULL && x->ended ? x : ended;
      soft |= x->has_soft;
    }
  }
  if (waiting == NULL || soft) {
    return;
  }
  waiting->warp = &waiting->warps[waiting->looker->index];
  if (ended != NULL && waiting->code->syncs_grid) {
    sct_ptx_fault(waiting, waiting->look, SCT_PTX_BARRIER_DIVERGENCE, -1, 0,
                  "block number %lld has ended without reaching the barrier of the grid",
                  (long long)ended->block_index);
  } else {
    sct_ptx_fault(waiting, waiting->look, SCT_PTX_DEADLOCK, -1, 0,
                  "waits for what another block must write, and none does");
  }
}

void sct_ptx_run_clusters(ptx_cluster *c, int n, int64_t block_index) {
  const ptx_launch *l = c->blocks[0].launch;
  uint64_t seen = 0;
  int idle = 0;
  for (int i = 0; i < n; i++) {
    begin(&c[i], block_index + (int64_t)i * c->n);
  }
  for (bool left = true; left && idle < IDLE_ROUNDS;) {
    left = false;
    for (int i = 0; i < n; i++) {
      const int64_t at = l->opts->order == SCT_PTX_REVERSE    ? n - 1 - i
                         : l->opts->order == SCT_PTX_SHUFFLED ? sct_permute(i, n, l->opts->seed)
                                                              : i;
      left |= turn(&c[at]);
      if (has_stopped(&c[at])) {
        return;
      }
    }
    const uint64_t now = n > 1 ? changes(c, n) : 0;
    idle = n > 1 && now == seen ? idle + 1 : 0;
    seen = now;
  }
  if (idle == IDLE_ROUNDS) {
    fault_idle(c, n);
  }
}

/* ---- shared memory of other blocks */

static uint64_t address_of(const ptx_exec *x, const ptx_uop *u, int lane) {
  return u->wide ? ptx_r64(x, u->a)[lane] : ptx_r32(x, u->a)[lane];
}

/* A generic address that is none of shared memory has no block. */
static bool is_shared(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  return u->op == 0 || address >> PTX_WINDOW_SHIFT == PTX_WINDOW_SHARED ||
         sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, address,
                       "0x%llx is no address of shared memory", (unsigned long long)address);
}

void sct_ptx_op_mapa(ptx_exec *x, const ptx_uop *u) {
  const uint32_t *rank = ptx_r32(x, u->b);
  uint64_t t[PTX_LANES] = {0};
  const uint32_t known = x->mask & ~(uint32_t)(x->state[u->a] | x->state[u->b]);
  for (uint32_t m = known; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t a = address_of(x, u, i);
    if (!is_shared(x, u, i, a)) {
      return;
    }
    if (rank[i] >= (uint32_t)x->cluster->n) {
      sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, i, 0, "block %u of a cluster of %d", rank[i],
                    x->cluster->n);
      return;
    }
    t[i] = (a & ~RANK_BITS) | (uint64_t)(rank[i] + 1) << RANK_SHIFT;
  }
  sct_ptx_put(x, u, u->wide ? 8 : 4, t);
}

static uint32_t own_rank(const ptx_exec *x) {
  return (uint32_t)(x->block_index % x->cluster->n);
}

static uint32_t rank_of(const ptx_exec *x, uint64_t address) {
  const uint32_t above = (uint32_t)((address & RANK_BITS) >> RANK_SHIFT);
  return above == 0 ? own_rank(x) : above - 1;
}

void sct_ptx_op_getctarank(ptx_exec *x, const ptx_uop *u) {
  uint64_t t[PTX_LANES] = {0};
  for (uint32_t m = x->mask & ~(uint32_t)x->state[u->a]; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    if (!is_shared(x, u, i, address_of(x, u, i))) {
      return;
    }
    t[i] = rank_of(x, address_of(x, u, i));
  }
  sct_ptx_put(x, u, 4, t);
}

bool sct_ptx_is_peers(const ptx_exec *x, uint64_t address) {
  return address >> PTX_WINDOW_SHIFT == PTX_WINDOW_SHARED && rank_of(x, address) != own_rank(x);
}

ptx_exec *sct_ptx_cluster_peer(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane,
                               uint64_t *origin) {
  const ptx_cluster *c = x->cluster;
  const uint64_t rank = (acc->addr[lane] >> RANK_SHIFT) - 1;
  ptx_exec *peer = NULL;
  if (rank < (uint64_t)c->n) {
    peer = &c->blocks[((int)rank + c->n - c->rank) % c->n];
  }
  *origin = (rank + 1) << RANK_SHIFT;
  if (peer == NULL || peer == x) {
    return peer;
  }
  if (c->phase == 0 || peer->ended) {
    sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, acc->addr[lane],
                  "%s shared memory of block number %lld, which %s", sct_ptx_verb(acc->dir),
                  (long long)peer->block_index,
                  peer->ended ? "has ended" : "may not run yet: no barrier.cluster before");
  }
  peer->visit = (ptx_visit){
      .by = x, .warp = x->warp, .u = u, .lane = lane, .phase = c->phase, .dir = acc->dir};
  return x->stop ? NULL : peer;
}

/* A block that has ended with no barrier of the cluster after another one's access to its shared
 * memory may, on a GPU, have ended before. */
static void check_end(ptx_exec *x) {
  ptx_visit *v = &x->visit;
  if (v->by == NULL || v->phase != x->cluster->phase || v->by->stop) {
    return;
  }
  v->by->warp = v->warp;
  sct_ptx_fault(v->by, v->u, SCT_PTX_BAD_OPERAND, v->lane, 0,
                "%s shared memory of block number %lld, which may have ended: no barrier.cluster "
                "after",
                sct_ptx_verb(v->dir), (long long)x->block_index);
}

bool sct_ptx_cluster_address(uint64_t address) {
  return address >> RANK_SHIFT != 0;
}
