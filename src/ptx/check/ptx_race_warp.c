/* Races within a warp: two lanes, two instructions, the same bytes of shared memory, one of them a
 * write that changes them, and nothing between that brings the lanes together.
 *
 * The interpreter runs converged lanes in lockstep, a GPU since compute capability 7.0 need not,
 * and neither must the compiler: without __syncwarp() it may move one access past the other. Every
 * granule remembers the lanes that wrote it last and those that read it since, with the number of
 * the warp's last synchronisation (ptx_warp.sync, which no two warps or blocks share), so nothing
 * has to be cleared.
 *
 * What brings lanes together: barriers of the block and of the warp, and every operation with a
 * member mask. For shuffles and votes the manual promises no order of memory, but ptxas keeps it;
 * a mask of some lanes counts for all of the warp. Both may hide a mistake, neither makes one up.
 * Volatile accesses and atomics are left out: they are how code orders itself. */
#include "ptx/exec/ptx_exec.h"

static bool fault(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane, uint64_t granule,
                  uint32_t others, bool they_wrote) {
  const ptx_part part = {.shared = true};
  sct_ptx_before_race(x, &part, x->shared_touches ? &x->shared_touches[granule] : NULL, they_wrote);
  return sct_ptx_find(x, u, SCT_PTX_WARP_RACE, lane, acc->addr[lane],
                      "%s %d bytes of shared memory that lane %d of the same warp %s, with no "
                      "__syncwarp() between",
                      acc->dir == PTX_READ ? "reads" : "changes", acc->width,
                      ptx_first_lane(others), they_wrote ? "wrote" : "read");
}

/* Other lanes than `lane` among the writers; none if it was one itself: then all of them wrote the
 * same value in one instruction. */
static uint32_t other_writers(const ptx_lanes *g, uint32_t sync, int lane) {
  const uint32_t lanes = g->write_sync == sync ? g->written_by : 0;
  return lanes >> lane & 1 ? 0 : lanes;
}

static uint32_t other_readers(const ptx_lanes *g, uint32_t sync, int lane) {
  return g->read_sync == sync ? g->read_by & ~(1u << lane) : 0;
}

static void add_reader(ptx_lanes *g, uint32_t sync, int lane) {
  g->read_by = (g->read_sync == sync ? g->read_by : 0) | 1u << lane;
  g->read_sync = sync;
}

/* The readers of the old value no longer matter: whoever changes it next meets this writer. */
static void set_writer(ptx_lanes *g, uint32_t sync, int lane, bool first) {
  g->written_by = (first ? 0 : g->written_by) | 1u << lane;
  g->write_sync = sync;
}

/* First and last granule of a lane's bytes. */
static uint64_t first_of(const ptx_access *acc, int lane, int shift) {
  return acc->addr[lane] >> shift;
}
static uint64_t last_of(const ptx_access *acc, int lane, int shift) {
  return (acc->addr[lane] + (uint64_t)acc->width - 1) >> shift;
}

static bool read_lanes(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t mask,
                       int shift) {
  const uint32_t sync = x->warp->sync;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    for (uint64_t g = first_of(acc, i, shift); g <= last_of(acc, i, shift); g++) {
      ptx_lanes *at = &x->shared_lanes[g];
      const uint32_t others = other_writers(at, sync, i);
      if (others != 0 && !fault(x, u, acc, i, g, others, true)) {
        return false;
      }
      add_reader(at, sync, i);
    }
  }
  return true;
}

/* Looks at all lanes before any is noted: lanes of one instruction do not race here (two that store
 * different values to one place are found by the store). */
static bool write_lanes(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t mask,
                        uint32_t changed, int shift) {
  const uint32_t sync = x->warp->sync;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    for (uint64_t g = first_of(acc, i, shift); g <= last_of(acc, i, shift); g++) {
      const ptx_lanes *at = &x->shared_lanes[g];
      const uint32_t writers = changed >> i & 1 ? other_writers(at, sync, i) : 0;
      const uint32_t readers = other_readers(at, sync, i);
      if ((writers != 0 || readers != 0) &&
          !fault(x, u, acc, i, g, writers != 0 ? writers : readers, writers != 0)) {
        return false;
      }
    }
  }
  for (int again = 0; again < 2; again++) {
    for (uint32_t m = mask; m != 0; m &= m - 1) {
      const int i = ptx_first_lane(m);
      for (uint64_t g = first_of(acc, i, shift); g <= last_of(acc, i, shift); g++) {
        set_writer(&x->shared_lanes[g], sync, i, again == 0);
      }
    }
  }
  return true;
}

bool sct_ptx_race_warp(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                       uint32_t changed, uint32_t counts) {
  const int shift = sct_ptx_granule_shift(x->code->min_shared_bytes);
  if (acc->dir == PTX_READ) {
    return read_lanes(x, u, acc, part->mask, shift);
  }
  return acc->dir != PTX_WRITE || write_lanes(x, u, acc, part->mask & counts, changed, shift);
}
