/* Races: two accesses to the same bytes, at least one a write that changes them, with nothing
 * between that orders them.
 *
 * Every granule (the kernel's narrowest access, at most 4 bytes) of shared memory and of writable
 * buffers remembers its last writer and its readers as block, epoch and warp. A barrier of the
 * block orders all that came before it (x->base). An mbarrier orders only those who arrive before
 * those who wait, a barrier of some warps, flags and fences (ptx_sync.c) the same: every warp knows
 * up to which epoch it comes after each other one (ptx_clock; Flanagan and Freund, FastTrack, PLDI
 * 2009), and so do the mbarriers that carry this along; the bytes of bulk copies have a number of
 * their own, one for each mbarrier. Where several warps share a record, any wait that ended later
 * is taken to order them: a race may be missed there, none is invented. Warps of one block conflict
 * where nothing orders them, blocks always, but for those of a cluster before and after one of its
 * barriers, which release and acquire all memory, and where flags and fences order them
 * (ptx_blocks.c). A store that leaves the bytes as they were is no race (where a launch is to say
 * all that is wrong, only of two that store one value); where nothing orders it and the other
 * writer, it is a warning. Atomic operations do not conflict with each other within
 * the scope of both; a plain access does with one of another warp. Strong accesses (volatile,
 * relaxed) are for other blocks what atomic operations are; within a block they are not looked at.
 * Accesses to another block's shared memory (ptx_cluster.c) are ordered by the cluster's barriers
 * alone. */
#include "ptx/exec/ptx_exec.h"

/* The record of an access: block + 1 in the upper half, then the epoch, then who. 0: nobody. */
#define WHO_BITS   7
#define WHO_MANY   40                  /* several warps, which agree */
#define WHO_ATOMIC 64                  /* added to the warp or to WHO_MANY */
#define EPOCHS     0xffffffu           /* as many as there are */
#define NC_BIT     ((uint64_t)1 << 63) /* read through the read-only path */
#define PLAIN_BIT  ((uint64_t)1 << 31) /* the block of this update has stored there as well */
/* The upper half: NC_BIT, the narrowest scope of atomic operations, whether they are a strong
 * store, the block. */
#define SCOPE_SHIFT 61
#define STRONG_BIT  ((uint64_t)1 << 60)
#define BLOCK_MANY  UINT64_C(0x0fffffff)
/* Several blocks of the cluster that the block is of have read; the epoch is the number of the
 * cluster's barrier that the last of them comes before. */
#define CLUSTER_BIT ((uint64_t)1 << 31)

static uint64_t block_number(const ptx_exec *x) {
  return x->number % (BLOCK_MANY - 1) + 1;
}
static uint64_t record_of(const ptx_exec *x, const ptx_part *part, unsigned who) {
  const uint64_t block = part->shared ? 1 : block_number(x);
  const uint32_t epoch = (who & ~(unsigned)WHO_ATOMIC) < PTX_LANES ? x->warp->stamp : x->epoch;
  return block << 32 | (uint64_t)(epoch & EPOCHS) << WHO_BITS | who;
}

static uint32_t epoch_of(uint64_t t) {
  return (uint32_t)(t >> WHO_BITS) & EPOCHS;
}
static uint64_t block_of(uint64_t t) {
  return t >> 32 & BLOCK_MANY;
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

static ptx_mem_scope scope_of(uint64_t t) {
  return (ptx_mem_scope)(t >> SCOPE_SHIFT & 3);
}

static bool of_cluster(uint64_t t) {
  return (t & CLUSTER_BIT) != 0 && !is_atomic(t);
}

/* Whether this warp comes after `other`, a record of its own block. */
static bool is_ordered_after(const ptx_exec *x, uint64_t other) {
  const ptx_warp *w = x->warp;
  const unsigned who = warp_of(other);
  const uint32_t epoch = epoch_of(other);
  const bool outside = who == PTX_WHO_CLUSTER;
  if (outside || epoch < (x->base & EPOCHS)) {
    return !outside || epoch < (x->cluster_base & EPOCHS);
  }
  if (who == WHO_MANY) {
    return epoch < w->acquired || sct_ptx_synced(x, who);
  }
  return who == (unsigned)w->index || w->clock.known[who] >= epoch ||
         (who < PTX_LANES && sct_ptx_synced(x, who));
}

/* The block of this cluster that made the record `other`; NULL: none. */
static const ptx_exec *peer_of(const ptx_exec *x, uint64_t other) {
  for (int k = 0; k < x->cluster->n; k++) {
    if (block_number(&x->cluster->blocks[k]) == block_of(other)) {
      return &x->cluster->blocks[k];
    }
  }
  return NULL;
}

/* How many barriers of the cluster this warp has waited at. */
static uint32_t waited(const ptx_exec *x) {
  return x->warp->arrived ? x->warp->cluster_phase : x->cluster->phase;
}

/* Whether a barrier of the cluster lies between `other`, a record of another of its blocks, and
 * what this warp does. What one block does between arriving and waiting counts as done before. */
static bool met(const ptx_exec *x, uint64_t other) {
  const ptx_exec *peer = peer_of(x, other);
  return peer != NULL &&
         epoch_of(other) < (of_cluster(other) ? waited(x) : peer->cluster_base & EPOCHS);
}

/* Whether flags order this warp after `other`, a record of another block. */
static bool flagged(const ptx_exec *x, uint64_t other) {
  if (of_cluster(other) || block_of(other) == BLOCK_MANY) {
    return sct_ptx_order_after_any(x); /* which of them is not known */
  }
  return sct_ptx_order_after(x, (uint32_t)block_of(other) - 1, warp_of(other), epoch_of(other));
}

/* Whether `other` and `mine` are unordered: same block, by another warp, with nothing in between,
 * or another block. */
static bool unordered(const ptx_exec *x, uint64_t other, uint64_t mine) {
  if (other == 0) {
    return false;
  }
  if (of_cluster(other) || block_of(other) != block_of(mine)) {
    return !met(x, other) && !(x->code->orders_cluster && flagged(x, other));
  }
  return warp_of(other) != warp_of(mine) && !is_ordered_after(x, other);
}

/* Whether what another block did, and an access of scope `mine`, are atomic for each other: each is
 * in the other's scope. */
static bool scopes_meet(const ptx_exec *x, uint64_t other, ptx_mem_scope mine) {
  const ptx_mem_scope scope = scope_of(other) > mine ? scope_of(other) : mine;
  const uint32_t n = (uint32_t)x->launch->n_cluster;
  const bool one_cluster = (block_of(other) - 1) / n == x->number / n;
  return scope == PTX_SCOPE_DEVICE || (scope == PTX_SCOPE_CLUSTER && one_cluster);
}

/* Why two atomic accesses of different blocks are none for each other. */
static const char *narrow_note(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                               uint64_t other, bool wrote) {
  const bool strong = acc->dir == PTX_ATOMIC || (u->op & PTX_MEM_STRONG) != 0;
  if (!wrote || !strong || !is_atomic(other) || scopes_meet(x, other, ptx_scope_of(u))) {
    return "";
  }
  return scope_of(other) == PTX_SCOPE_BLOCK || ptx_scope_of(u) == PTX_SCOPE_BLOCK
             ? ", and atomic only for its own block (.cta)"
             : ", and atomic only for its own cluster (.cluster)";
}

static bool fault_race(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                       int lane, uint64_t other, bool other_wrote) {
  char who[96];
  const bool several = of_cluster(other);
  const bool blocks =
      !part->shared && (several || block_of(other) != block_of(record_of(x, part, 0)));
  const bool stored = !is_atomic(other) || (blocks && (other & PLAIN_BIT) != 0);
  const char *wrote = stored ? "wrote" : "updated";
  if (several) {
    snprintf(who, sizeof who, "several blocks of the cluster");
  } else if (blocks && block_of(other) == BLOCK_MANY) {
    snprintf(who, sizeof who, "several blocks");
  } else if (blocks) {
    snprintf(who, sizeof who, "block number %lld",
             (long long)sct_ptx_order_index(x->launch->order, (uint32_t)block_of(other) - 1));
  } else if (warp_of(other) < PTX_LANES) {
    snprintf(who, sizeof who, "warp %u of the same block", warp_of(other));
  } else if (warp_of(other) == PTX_WHO_CLUSTER) {
    snprintf(who, sizeof who, "another block of the cluster");
  } else if (warp_of(other) >= PTX_WHO_COPY) {
    snprintf(who, sizeof who, "an asynchronous copy");
  } else {
    snprintf(who, sizeof who, "other warps of the same block");
  }
  sct_ptx_before_race(x, part, x->touch, other_wrote);
  return sct_ptx_find(x, u, part->shared ? SCT_PTX_SHARED_RACE : SCT_PTX_GLOBAL_RACE, lane,
                      acc->addr[lane], "%s %d bytes of %s%s%s that %s %s, with %s between%s",
                      acc->dir == PTX_READ    ? "reads"
                      : acc->dir == PTX_WRITE ? "changes"
                                              : "updates",
                      acc->width, part->shared ? "shared memory" : "'",
                      part->shared ? "" : part->buf->name, part->shared ? "" : "'", who,
                      other_wrote ? wrote : "read", blocks ? "nothing" : "no barrier",
                      narrow_note(x, u, acc, other, blocks && other_wrote));
}

/* `read` was by other blocks, unordered with this read, or is one of several already. */
static uint64_t read_by_several(const ptx_exec *x, uint64_t read) {
  const ptx_exec *peer = peer_of(x, read);
  if (peer == NULL) {
    return BLOCK_MANY << 32 | WHO_MANY;
  }
  const uint32_t mine = waited(x) + x->warp->arrived;
  const uint32_t phase = of_cluster(read) && epoch_of(read) > mine ? epoch_of(read) : mine;
  return block_number(x) << 32 | CLUSTER_BIT | (uint64_t)(phase & EPOCHS) << WHO_BITS | WHO_MANY;
}

/* Whether `other` is a strong store of this warp's block: those are compared between blocks only.
 */
static bool strong_here(const ptx_exec *x, uint64_t other) {
  return (other & STRONG_BIT) != 0 && block_of(other) == block_number(x);
}

static bool read_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                         int lane, ptx_last_access *t) {
  const bool nc = (u->op & PTX_MEM_NC) != 0;
  const uint64_t me = record_of(x, part, (unsigned)x->warp->index);
  if (unordered(x, t->write, me) && who_of(t->write) != WHO_MANY &&
      (part->shared || !strong_here(x, t->write)) &&
      !fault_race(x, u, acc, part, lane, t->write, true)) {
    return false;
  }
  if (nc && t->write != 0) {
    return sct_ptx_fault(x, u, SCT_PTX_NC_WRITTEN, lane, acc->addr[lane],
                         "reads '%s' through the read-only path where this kernel has written",
                         part->buf->name);
  }
  const uint64_t keep = t->read & NC_BIT, read = keep ^ t->read;
  uint64_t now = me;
  if (unordered(x, read, me)) {
    const bool blocks = of_cluster(read) || block_of(read) != block_of(me);
    now = blocks                             ? read_by_several(x, read)
          : warp_of(read) == PTX_WHO_CLUSTER ? read /* which asks for more than this one does */
                                             : record_of(x, part, WHO_MANY);
  }
  t->read = now | keep | (nc ? NC_BIT : 0);
  return true;
}

/* Nobody has read what this warp is about to change. */
static bool readers_ordered(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                            const ptx_part *part, int lane, const ptx_last_access *t) {
  const uint64_t reader = t->read & ~NC_BIT;
  if (unordered(x, reader, record_of(x, part, (unsigned)x->warp->index)) &&
      !fault_race(x, u, acc, part, lane, reader, false)) {
    return false;
  }
  if (t->read & NC_BIT) {
    return sct_ptx_fault(x, u, SCT_PTX_NC_WRITTEN, lane, acc->addr[lane],
                         "writes '%s' where this kernel reads through the read-only path",
                         part->buf->name);
  }
  return true;
}

static void warn_same_value(const ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                            const ptx_part *part, int lane, uint64_t other) {
  const bool blocks = !part->shared && block_of(other) != block_number(x);
  sct_ptx_warn(
      x, u, part->shared ? SCT_PTX_SHARED_RACE : SCT_PTX_GLOBAL_RACE, lane, acc->addr[lane],
      "writes the value to %d bytes of %s%s%s that another %s wrote there, with %s between: "
      "right only as long as all of them write the same",
      acc->width, part->shared ? "shared memory" : "'", part->shared ? "" : part->buf->name,
      part->shared ? "" : "'", blocks ? "block" : "warp", blocks ? "nothing" : "no barrier");
}

static bool write_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                          const ptx_part *part, int lane, ptx_last_access *t, bool changed) {
  const uint64_t me = record_of(x, part, (unsigned)x->warp->index);
  const bool races = unordered(x, t->write, me) && (part->shared || !strong_here(x, t->write));
  if (!changed && (races || x->launch->findings == NULL)) { /* either may read the one value */
    if (races) {
      warn_same_value(x, u, acc, part, lane, t->write);
    }
    if (races && block_of(t->write) == block_of(me)) {
      t->write = record_of(x, part, WHO_MANY);
    }
    return true;
  }
  if (races && !fault_race(x, u, acc, part, lane, t->write, true)) {
    return false;
  }
  if (!readers_ordered(x, u, acc, part, lane, t)) {
    return false;
  }
  t->write = me;
  return true;
}

/* What an atomic operation, or a strong store, of this warp leaves where `last` was the record. */
static uint64_t updated_record(const ptx_exec *x, uint64_t last, uint64_t me) {
  const bool same_block = block_of(last) == block_of(me);
  const bool stored = last != 0 && (!is_atomic(last) || (last & PLAIN_BIT) != 0);
  const bool open = is_atomic(last) && unordered(x, last, me);
  const ptx_mem_scope scope =
      (open || same_block) && scope_of(last) > scope_of(me) ? scope_of(last) : scope_of(me);
  uint64_t now = me;
  if (open && !same_block && scope == PTX_SCOPE_DEVICE) {
    now = BLOCK_MANY << 32 | WHO_ATOMIC | WHO_MANY;
  } else if (open && same_block) {
    now = (me >> WHO_BITS << WHO_BITS) | WHO_ATOMIC |
          (warp_of(last) == PTX_WHO_CLUSTER ? PTX_WHO_CLUSTER : WHO_MANY);
  }
  return (now & ~((uint64_t)3 << SCOPE_SHIFT)) | (uint64_t)scope << SCOPE_SHIFT |
         (same_block && stored ? PLAIN_BIT : 0);
}

/* An atomic operation reads and, where it changes something, writes. Other warps may do the same:
 * then the record stands for all of them. A strong store is one for other blocks. */
static bool update_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                           const ptx_part *part, int lane, ptx_last_access *t, bool changed) {
  const uint64_t last = t->write, strong = acc->dir == PTX_ATOMIC ? 0 : STRONG_BIT;
  const uint64_t me = record_of(x, part, WHO_ATOMIC | (unsigned)x->warp->index) | strong |
                      (uint64_t)ptx_scope_of(u) << SCOPE_SHIFT;
  const bool same_block = block_of(last) == block_of(me);
  const bool stored = last != 0 && (!is_atomic(last) || (last & PLAIN_BIT) != 0);
  const bool apart = !same_block && is_atomic(last) && !scopes_meet(x, last, ptx_scope_of(u));
  const bool conflicts = same_block ? !is_atomic(last) && strong == 0 : stored;
  if ((apart || (conflicts && (changed || u->e != 0))) && unordered(x, last, me) &&
      !fault_race(x, u, acc, part, lane, last, true)) {
    return false;
  }
  if (!changed || (same_block && strong != 0 && last != 0 && !is_atomic(last))) {
    return true;
  }
  const uint64_t reader = t->read & ~NC_BIT;
  const bool near = !of_cluster(reader) && block_of(reader) == block_of(me);
  if (!(near && strong != 0) && !readers_ordered(x, u, acc, part, lane, t)) {
    return false;
  }
  t->write = updated_record(x, last, me);
  return true;
}

size_t sct_ptx_shared_granules(const ptx_exec *x) {
  return ((size_t)x->launch->shared_end >> sct_ptx_granule_shift(x->code->min_shared_bytes)) + 1;
}

/* A strong load: what another block wrote there must be strong as well, or come before. */
static bool read_strong(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                        int lane, const ptx_last_access *t) {
  const uint64_t me = record_of(x, part, (unsigned)x->warp->index), last = t->write;
  const bool meets = is_atomic(last) && scopes_meet(x, last, ptx_scope_of(u));
  return last == 0 || block_of(last) == block_of(me) || meets || !unordered(x, last, me) ||
         fault_race(x, u, acc, part, lane, last, true);
}

int sct_ptx_granule_shift(int min_bytes) {
  return min_bytes >= 4 ? 2 : min_bytes >= 2 ? 1 : 0;
}

/* Nobody, this warp, or the same block before its last barrier (`base`): nothing to look at. */
static inline bool settled(uint64_t record, uint64_t me, uint64_t base) {
  return record == 0 || record == me || (record < base && record >= base >> 32 << 32);
}

/* Whether the block itself has done this since the last barrier of its cluster. */
static bool is_recent(const ptx_exec *peer, uint64_t record) {
  return record != 0 && warp_of(record) != PTX_WHO_CLUSTER &&
         epoch_of(record) >= (peer->cluster_base & EPOCHS);
}

/* What `acc` of another block of the cluster conflicts with, of what the block itself did since the
 * last barrier of the cluster; 0: nothing. */
static uint64_t conflict_cluster(const ptx_exec *peer, const ptx_access *acc,
                                 const ptx_last_access *t, bool *wrote) {
  const bool atomics = acc->dir == PTX_ATOMIC && is_atomic(t->write);
  *wrote = is_recent(peer, t->write) && !atomics;
  return *wrote ? t->write : acc->dir != PTX_READ && is_recent(peer, t->read) ? t->read : 0;
}

/* An access to shared memory of another block: only barriers of the cluster order it with what that
 * block does. Which of several blocks did it is not known. */
static bool race_cluster(ptx_exec *x, const ptx_uop *u, const ptx_access *acc,
                         const ptx_part *part) {
  const int shift = sct_ptx_granule_shift(x->code->min_shared_bytes);
  ptx_exec *peer = part->peer;
  const uint64_t who = PTX_WHO_CLUSTER | (acc->dir == PTX_ATOMIC ? WHO_ATOMIC : 0);
  const uint64_t me = (uint64_t)1 << 32 | (uint64_t)(peer->epoch & EPOCHS) << WHO_BITS | who;
  for (uint32_t m = part->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t at = acc->addr[i] - part->origin;
    for (uint64_t g = at >> shift; g <= (at + (uint64_t)acc->width - 1) >> shift; g++) {
      ptx_last_access *t = &peer->shared_last_access[g];
      bool wrote = false;
      const uint64_t other = conflict_cluster(peer, acc, t, &wrote);
      if (other != 0 && !fault_race(x, u, acc, part, i, other, wrote)) {
        return false;
      }
      *(acc->dir == PTX_READ ? &t->read : &t->write) = me;
    }
  }
  return true;
}

static bool race_granule(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                         int lane, ptx_last_access *t, bool changed) {
  const bool strong = (u->op & PTX_MEM_STRONG) != 0;
  if (acc->dir == PTX_ATOMIC || (strong && acc->dir == PTX_WRITE)) {
    return update_granule(x, u, acc, part, lane, t, changed);
  }
  return strong                  ? read_strong(x, u, acc, part, lane, t)
         : acc->dir == PTX_WRITE ? write_granule(x, u, acc, part, lane, t, changed)
                                 : read_granule(x, u, acc, part, lane, t);
}

/* The record of a read that this one adds nothing to: of several warps of the block, since its last
 * barrier, none of which this warp comes after. 0: there is none. */
static uint64_t read_by_many(const ptx_exec *x, const ptx_access *acc, const ptx_part *part) {
  const bool after = x->warp->acquired > 0 || sct_ptx_synced(x, WHO_MANY);
  return acc->dir == PTX_READ && !after ? record_of(x, part, WHO_MANY) : 0;
}

bool sct_ptx_race(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, const ptx_part *part,
                  uint32_t changed) {
  const int shift =
      sct_ptx_granule_shift(part->shared ? x->code->min_shared_bytes : x->code->min_global_bytes);
  ptx_last_access *granules = part->shared        ? x->shared_last_access
                              : part->buf != NULL ? part->buf->last_access
                                                  : NULL;
  const ptx_touch *const touches = part->shared        ? x->shared_touches
                                   : part->buf != NULL ? part->buf->touches
                                                       : NULL;
  const bool strong = (u->op & PTX_MEM_STRONG) != 0;
  x->touch = NULL;
  if ((strong || acc->dir == PTX_ATOMIC) && (part->shared || part->buf != NULL)) {
    sct_ptx_sync_access(x, u, acc, part);
  }
  if (granules == NULL || (strong && (part->shared || (u->op & PTX_MEM_GUESS) != 0))) {
    return true;
  }
  if (part->peer != NULL) {
    return race_cluster(x, u, acc, part);
  }
  const uint64_t origin = part->origin >> shift;
  const uint32_t ordered = part->shared && x->cluster->n > 1 ? x->cluster_base : x->base;
  const uint64_t me = record_of(x, part, (unsigned)x->warp->index);
  const uint64_t base = me >> 32 << 32 | (uint64_t)(ordered & EPOCHS) << WHO_BITS;
  const bool plain = acc->dir != PTX_ATOMIC && (u->op & (PTX_MEM_NC | PTX_MEM_STRONG)) == 0;
  const uint32_t counts = x->launch->findings != NULL ? PTX_ALL : changed;
  const uint64_t many = plain ? read_by_many(x, acc, part) : 0;
  for (uint32_t m = part->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t first = (acc->addr[i] >> shift) - origin;
    const uint64_t last = ((acc->addr[i] + (uint64_t)acc->width - 1) >> shift) - origin;
    const bool write = acc->dir != PTX_READ;
    for (uint64_t g = first; g <= last; g++) {
      ptx_last_access *t = &granules[g];
      if (plain && t->read == many && many != 0 && settled(t->write, me, base)) {
        continue;
      }
      if (plain && settled(t->write, me, base) && settled(t->read, me, base)) {
        *(write ? &t->write : &t->read) = write && !(counts >> i & 1) ? t->write : me;
        continue;
      }
      x->touch = touches != NULL ? &touches[g] : NULL;
      if (!race_granule(x, u, acc, part, i, t, changed >> i & 1)) {
        return false;
      }
    }
  }
  if (part->shared && part->origin == 0 && !sct_ptx_race_warp(x, u, acc, part, changed, counts)) {
    return false;
  }
  if (touches != NULL) {
    sct_ptx_touch(x, u, acc, part);
  }
  return true;
}

/* ---- asynchronous copies */

static void granules_of(const ptx_exec *x, int64_t address, int64_t bytes, ptx_last_access **from,
                        ptx_last_access **to) {
  const int shift = sct_ptx_granule_shift(x->code->min_shared_bytes);
  *from = x->shared_last_access + (address >> shift);
  *to = x->shared_last_access + ((address + bytes - 1) >> shift) + 1;
}

void sct_ptx_race_deliver(ptx_exec *x, int64_t address, int64_t bytes, unsigned who,
                          uint32_t epoch) {
  ptx_last_access *t = NULL, *end = NULL;
  if (!x->launch->races || bytes == 0) {
    return;
  }
  granules_of(x, address, bytes, &t, &end);
  for (; t < end; t++) {
    t->write = (uint64_t)1 << 32 | (uint64_t)(epoch & EPOCHS) << WHO_BITS | who;
  }
}

int64_t sct_ptx_race_unfenced(const ptx_exec *x, int64_t address, int64_t bytes, int *writer) {
  ptx_last_access *first = NULL, *end = NULL;
  if (!x->launch->races || bytes == 0) {
    return -1;
  }
  granules_of(x, address, bytes, &first, &end);
  for (const ptx_last_access *t = first; t < end; t++) {
    const unsigned who = who_of(t->write);
    if (t->write != 0 && who < PTX_LANES && epoch_of(t->write) >= (x->block_epoch & EPOCHS) &&
        epoch_of(t->write) > x->warp->clock.fenced[who]) {
      *writer = (int)who;
      return address + (int64_t)((t - first) << sct_ptx_granule_shift(x->code->min_shared_bytes));
    }
  }
  return -1;
}

void sct_ptx_clock_join(ptx_clock *to, const ptx_clock *from) {
  for (int i = 0; i < PTX_N_WHO; i++) {
    to->known[i] = from->known[i] > to->known[i] ? from->known[i] : to->known[i];
    to->fenced[i] = from->fenced[i] > to->fenced[i] ? from->fenced[i] : to->fenced[i];
  }
}

/* A record has few bits for its epoch. Between blocks nothing is compared, so counting may begin
 * anew; half of the range is left for one block. */
void sct_ptx_clock_begin_block(ptx_exec *x) {
  if (x->epoch <= EPOCHS / 2) {
    return;
  }
  x->epoch = x->flags_base = 0;
  if (x->shared_last_access != NULL) {
    memset(x->shared_last_access, 0, sizeof(*x->shared_last_access) * sct_ptx_shared_granules(x));
  }
  for (int i = 0; i < x->launch->n_warps; i++) {
    x->warps[i].clock = (ptx_clock){0};
    x->warps[i].acquired = 0;
  }
}

void sct_ptx_clock_barrier(ptx_exec *x) {
  ptx_clock all = {0};
  const int n = x->launch->n_warps;
  x->base = ++x->epoch;
  for (int i = 0; i < n; i++) {
    x->warps[i].stamp = x->epoch;
  }
  sct_ptx_order_barrier(x);
  if (x->code->uses_bulk) { /* what one warp has fenced, all have */
    for (int i = 0; i < n; i++) {
      sct_ptx_clock_join(&all, &x->warps[i].clock);
    }
    for (int i = 0; i < n; i++) {
      memcpy(x->warps[i].clock.fenced, all.fenced, sizeof all.fenced);
    }
  }
}

/* A barrier that not all warps wait at orders those that wait after those that arrived. */
void sct_ptx_clock_arrive(ptx_exec *x, ptx_clock *barrier, ptx_warp *w, bool goes_on) {
  sct_ptx_clock_join(barrier, &w->clock);
  barrier->known[w->index] = w->stamp;
  if (goes_on) { /* what it does from here on is not part of it */
    w->stamp = ++x->epoch;
  }
}

void sct_ptx_clock_leave(ptx_exec *x, const ptx_clock *barrier, ptx_warp *w) {
  sct_ptx_clock_join(&w->clock, barrier);
  w->stamp = w->acquired = ++x->epoch;
  sct_ptx_order_barrier(x);
}
