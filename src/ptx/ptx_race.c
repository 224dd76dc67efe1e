/* Races: two accesses to the same bytes, at least one a write that changes them, with nothing
 * between that orders them.
 *
 * Every granule (the kernel's narrowest access, at most 4 bytes) of shared memory and of writable
 * buffers remembers its last writer and its readers as block, epoch and warp; the epoch grows at
 * every barrier of the block. Warps of one block conflict within an epoch, blocks always. A store
 * that leaves the bytes as they were is no race. Atomic operations do not conflict with each other;
 * a plain access does with one of another warp. Where a kernel orders its blocks itself (fences of
 * device scope), blocks are not compared. */
#include "ptx/ptx_exec.h"

/* A touch: block + 1 in the upper half, then the epoch, then who. 0: nobody. */
#define WHO_BITS   7
#define WHO_MANY   40                  /* several warps, which agree */
#define WHO_ATOMIC 64                  /* added to the warp or to WHO_MANY */
#define NC_BIT     ((uint64_t)1 << 63) /* read through the read-only path */
#define BLOCK_MANY UINT64_C(0x7fffffff)

static uint64_t touch_of(const ptx_exec *x, const ptx_part *part, unsigned who) {
  const uint64_t block = part->shared ? 1 : (uint64_t)(x->block_index % 0x7ffffffe) + 1;
  return block << 32 | (uint64_t)(x->epoch & 0x1ffffff) << WHO_BITS | who;
}

static bool same_interval(uint64_t a, uint64_t b) {
  return (a & ~NC_BIT) >> WHO_BITS == b >> WHO_BITS;
}
static uint64_t block_of(uint64_t t) {
  return (t & ~NC_BIT) >> 32;
}
static unsigned who_of(uint64_t t) {
  return (unsigned)t & ((1u << WHO_BITS) - 1);
}
static bool is_atomic(uint64_t t) {
  return (who_of(t) & WHO_ATOMIC) != 0;
}
static unsigned warp_of(uint64_t t) { /* WHO_MANY: several */
  return who_of(t) & ~(unsigned)WHO_ATOMIC;
}

/* Whether `other` and `mine` are unordered: same block in the same epoch by another warp, or
 * another block. */
static bool unordered(const ptx_exec *x, uint64_t other, uint64_t mine) {
  if (other == 0) {
    return false;
  }
  if (block_of(other) != block_of(mine)) {
    return !x->code->orders_blocks;
  }
  return same_interval(other, mine) && warp_of(other) != warp_of(mine);
}

static void fault_race(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                       int lane, uint64_t other, bool other_wrote) {
  char who[96];
  const bool blocks = !part->shared && block_of(other) != block_of(touch_of(x, part, 0));
  if (blocks && block_of(other) == BLOCK_MANY) {
    snprintf(who, sizeof who, "several blocks");
  } else if (blocks) {
    snprintf(who, sizeof who, "block number %lld", (long long)block_of(other) - 1);
  } else if (warp_of(other) < PTX_LANES) {
    snprintf(who, sizeof who, "warp %u of the same block", warp_of(other));
  } else {
    snprintf(who, sizeof who, "other warps of the same block");
  }
  sct_ptx_fault(x, u, part->shared ? SCT_PTX_SHARED_RACE : SCT_PTX_GLOBAL_RACE, lane,
                acc->addr[lane], "%s %d bytes of %s%s%s that %s %s, with %s between",
                acc->dir == PTX_READ    ? "reads"
                : acc->dir == PTX_WRITE ? "changes"
                                        : "updates",
                acc->width, part->shared ? "shared memory" : "'",
                part->shared ? "" : part->buf->name, part->shared ? "" : "'", who,
                other_wrote ? (is_atomic(other) ? "updated" : "wrote") : "read",
                blocks ? "nothing" : "no barrier");
}

static bool read_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                         int lane, ptx_touch *t) {
  const bool nc = (u->op & PTX_MEM_NC) != 0;
  const uint64_t me = touch_of(x, part, (unsigned)x->warp->index);
  if (unordered(x, t->write, me) && who_of(t->write) != WHO_MANY) {
    fault_race(x, u, acc, part, lane, t->write, true);
    return false;
  }
  if (nc && t->write != 0) {
    sct_ptx_fault(x, u, SCT_PTX_NC_WRITTEN, lane, acc->addr[lane],
                  "reads '%s' through the read-only path where this kernel has written",
                  part->buf->name);
    return false;
  }
  const uint64_t keep = t->read & NC_BIT;
  uint64_t now = me;
  if (t->read != 0 && block_of(t->read) != block_of(me) && !x->code->orders_blocks) {
    now = BLOCK_MANY << 32 | WHO_MANY;
  } else if (same_interval(t->read, me) && who_of(t->read) != who_of(me)) {
    now = touch_of(x, part, WHO_MANY);
  }
  t->read = now | keep | (nc ? NC_BIT : 0);
  return true;
}

/* Nobody has read what this warp is about to change. */
static bool readers_ordered(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                            const ptx_part *part, int lane, const ptx_touch *t) {
  const uint64_t reader = t->read & ~NC_BIT;
  if (unordered(x, reader, touch_of(x, part, (unsigned)x->warp->index))) {
    fault_race(x, u, acc, part, lane, reader, false);
    return false;
  }
  if (t->read & NC_BIT) {
    sct_ptx_fault(x, u, SCT_PTX_NC_WRITTEN, lane, acc->addr[lane],
                  "writes '%s' where this kernel reads through the read-only path",
                  part->buf->name);
    return false;
  }
  return true;
}

static bool write_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                          const ptx_part *part, int lane, ptx_touch *t, bool changed) {
  const uint64_t me = touch_of(x, part, (unsigned)x->warp->index);
  if (!changed) { /* the same value again: both may be read by their writers */
    if (unordered(x, t->write, me) && block_of(t->write) == block_of(me)) {
      t->write = touch_of(x, part, WHO_MANY);
    }
    return true;
  }
  if (unordered(x, t->write, me)) {
    fault_race(x, u, acc, part, lane, t->write, true);
    return false;
  }
  if (!readers_ordered(x, u, acc, part, lane, t)) {
    return false;
  }
  t->write = me;
  return true;
}

/* An atomic operation reads and, where it changes something, writes. Other warps may do the same:
 * then the touch stands for all of them. */
static bool update_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                           const ptx_part *part, int lane, ptx_touch *t, bool changed) {
  const uint64_t me = touch_of(x, part, WHO_ATOMIC | (unsigned)x->warp->index), last = t->write;
  if ((changed || u->e != 0) && unordered(x, last, me) && !is_atomic(last)) {
    fault_race(x, u, acc, part, lane, last, true);
    return false;
  }
  if (!changed) {
    return true;
  }
  if (!readers_ordered(x, u, acc, part, lane, t)) {
    return false;
  }
  t->write = me;
  if (is_atomic(last) && block_of(last) != block_of(me) && !x->code->orders_blocks) {
    t->write = BLOCK_MANY << 32 | WHO_ATOMIC | WHO_MANY;
  } else if (is_atomic(last) && same_interval(last, me) && warp_of(last) != warp_of(me)) {
    t->write = touch_of(x, part, WHO_ATOMIC | WHO_MANY);
  }
  return true;
}

int sct_ptx_granule_shift(int min_bytes) {
  return min_bytes >= 4 ? 2 : min_bytes >= 2 ? 1 : 0;
}

/* Nobody, this warp, or the same block before its last barrier: nothing to look at. */
static inline bool settled(uint64_t touch, uint64_t me) {
  const uint64_t interval = me >> WHO_BITS << WHO_BITS;
  return touch == 0 || touch == me || (touch < interval && touch >= me >> 32 << 32);
}

bool sct_ptx_race(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                  uint32_t changed) {
  const int shift =
      sct_ptx_granule_shift(part->shared ? x->code->min_shared_bytes : x->code->min_global_bytes);
  ptx_touch *touch = part->shared ? x->shared_touch : part->buf != NULL ? part->buf->touch : NULL;
  if (touch == NULL || ((u->op & PTX_MEM_STRONG) != 0 && acc->dir != PTX_ATOMIC)) {
    return true;
  }
  const uint64_t origin = part->origin >> shift;
  const uint64_t me = touch_of(x, part, (unsigned)x->warp->index);
  const bool plain = acc->dir != PTX_ATOMIC && (u->op & PTX_MEM_NC) == 0;
  for (uint32_t m = part->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t first = (acc->addr[i] >> shift) - origin;
    const uint64_t last = ((acc->addr[i] + (uint64_t)acc->width - 1) >> shift) - origin;
    const bool write = acc->dir != PTX_READ;
    for (uint64_t g = first; g <= last; g++) {
      ptx_touch *t = &touch[g];
      if (plain && settled(t->write, me) && settled(t->read, me)) {
        *(write ? &t->write : &t->read) = write && !(changed >> i & 1) ? t->write : me;
        continue;
      }
      const bool alters = changed >> i & 1;
      const bool ok = acc->dir == PTX_ATOMIC ? update_granule(x, u, acc, part, i, t, alters)
                      : write                ? write_granule(x, u, acc, part, i, t, alters)
                                             : read_granule(x, u, acc, part, i, t);
      if (!ok) {
        return false;
      }
    }
  }
  return !part->shared || sct_ptx_race_warp(x, u, acc, part, changed);
}
