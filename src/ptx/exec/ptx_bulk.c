/* cp.async.bulk: one thread moves a run of bytes between global and shared memory.
 *
 * Nothing is sooner than it must be. A load takes its bytes at once, but tells its mbarrier only
 * when somebody waits there, and they reach shared memory when the first wait of their phase
 * succeeds. A store takes its bytes at once too; its source may not change before a wait_group that
 * covers it, and they reach global memory with wait_group (without .read) or the end of the block.
 * In between the destination is undefined, so a kernel that reads early, or waits for the wrong
 * thing, is caught every time. */
#include "ptx/exec/ptx_exec.h"

#define BULK_ALIGN 16 /* of both addresses and the size, by the ISA */

static void drop(ptx_bulk *b) {
  sct_free(b->data);
  b->data = NULL;
}

void sct_ptx_bulk_clear(ptx_exec *x) {
  for (size_t k = 0; k < x->n_bulks; k++) {
    drop(&x->bulks[k]);
  }
  x->n_bulks = 0;
}

static bool overlap(const ptx_bulk *b, int64_t address, int64_t bytes) {
  return address < b->shared + b->bytes && b->shared < address + bytes;
}

bool sct_ptx_bulk_reads(const ptx_exec *x, int64_t address, int bytes) {
  for (size_t k = 0; k < x->n_bulks; k++) {
    if (!x->bulks[k].load && !x->bulks[k].signalled && overlap(&x->bulks[k], address, bytes)) {
      return true;
    }
  }
  return false;
}

bool sct_ptx_bulk_writes(const ptx_exec *x, const ptx_buf *buf, int64_t offset, int bytes) {
  for (size_t k = 0; k < x->n_bulks; k++) {
    const ptx_bulk *b = &x->bulks[k];
    if (!b->load && b->buf == buf && offset < b->offset + b->bytes && b->offset < offset + bytes) {
      return true;
    }
  }
  return false;
}

/* ---- both sides of a copy */

typedef struct ends {
  uint64_t global, shared;
  uint32_t bytes;
  ptx_part g, s;
} ends;

static bool aligned(ptx_exec *x, const ptx_uop *u, int lane, const char *what, uint64_t address) {
  if (address % BULK_ALIGN == 0) {
    return true;
  }
  return sct_ptx_fault(x, u, SCT_PTX_MISALIGNED, lane, address,
                       "the %s of a bulk copy is 0x%llx, %d bytes past a multiple of %d", what,
                       (unsigned long long)address, (int)(address % BULK_ALIGN), BULK_ALIGN);
}

/* First and last byte lie in one buffer that may be used so. */
static bool in_global(ptx_exec *x, const ptx_uop *u, int lane, ptx_dir dir, ends *e) {
  ptx_access one = {.mask = 1u << lane, .width = 1, .dir = dir};
  const ptx_buf *b = ptx_memory_window(x->launch->memory, e->global);
  const int64_t off = b != NULL ? (int64_t)(e->global - b->base) : 0;
  if (b != NULL && off >= 0 && off <= b->bytes && off + (int64_t)e->bytes > b->bytes) {
    return sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, e->global,
                         "a bulk copy %s %u bytes at offset %lld of '%s', which has %lld bytes",
                         dir == PTX_READ ? "reads" : "writes", e->bytes, (long long)off, b->name,
                         (long long)b->bytes);
  }
  one.addr[lane] = e->global + e->bytes - 1;
  if (sct_ptx_part_global(x, u, &one, one.mask).mask == 0) {
    return false;
  }
  one.addr[lane] = e->global;
  e->g = sct_ptx_part_global(x, u, &one, one.mask);
  if (e->g.mask != 0 && b->fill != NULL) {
    sct_ptx_buf_fill(e->g.buf, off, (int64_t)e->bytes);
  }
  return e->g.mask != 0;
}

static bool in_shared(ptx_exec *x, const ptx_uop *u, int lane, ptx_dir dir, ends *e) {
  ptx_access one = {.mask = 1u << lane, .width = 1, .dir = dir};
  one.addr[lane] = e->shared;
  e->s = sct_ptx_part_shared(x, u, &one, one.mask);
  if (e->s.mask == 0) {
    return false;
  }
  for (int i = 0; i < x->n_ranges; i++) {
    const ptx_range *r = &x->ranges[i];
    if ((int64_t)e->shared >= r->lo && (int64_t)e->shared < r->hi &&
        (int64_t)e->shared + e->bytes > r->hi) {
      return sct_ptx_fault(
          x, u, SCT_PTX_OUT_OF_BOUNDS, lane, e->shared,
          "a bulk copy %s %u bytes at offset %lld of shared '%.*s', which has %lld bytes",
          dir == PTX_READ ? "reads" : "writes", e->bytes, (long long)((int64_t)e->shared - r->lo),
          r->sym->name.len, r->sym->name.p, (long long)(r->hi - r->lo));
    }
  }
  return true;
}

/* Operands of one lane: slot a global, b shared, c size; false: fault. An empty copy has no parts.
 */
static bool operands(ptx_exec *x, const ptx_uop *u, int lane, bool load, ends *e) {
  static const char *const names[] = {"global address", "shared address", "size"};
  const uint32_t slots[] = {u->a, u->b, u->c};
  *e = (ends){.global = ptx_r64(x, u->a)[lane],
              .shared = ptx_r64(x, u->b)[lane],
              .bytes = ptx_r32(x, u->c)[lane]};
  for (int i = 0; i < SCT_COUNT(slots); i++) {
    if (x->state[slots[i]] >> lane & 1) {
      return sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_ADDRESS, lane, 0,
                           "the %s of a bulk copy was never set", names[i]);
    }
  }
  if (e->bytes % BULK_ALIGN != 0) {
    return sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, e->global,
                         "a bulk copy of %u bytes, which is no multiple of %d", e->bytes,
                         BULK_ALIGN);
  }
  return aligned(x, u, lane, "global address", e->global) &&
         aligned(x, u, lane, "shared address", e->shared) &&
         (e->bytes == 0 || (in_global(x, u, lane, load ? PTX_READ : PTX_WRITE, e) &&
                            in_shared(x, u, lane, load ? PTX_WRITE : PTX_READ, e)));
}

/* Checks both sides at issue: the copy is ordered after what its thread is ordered after. */
static bool races(ptx_exec *x, const ptx_uop *u, int lane, bool load, const ends *e) {
  ptx_access g = {.mask = 1u << lane, .width = (int)e->bytes, .dir = load ? PTX_READ : PTX_WRITE};
  ptx_access s = {.mask = 1u << lane, .width = (int)e->bytes, .dir = load ? PTX_WRITE : PTX_READ};
  g.addr[lane] = e->global;
  s.addr[lane] = e->shared;
  return !x->launch->races ||
         (sct_ptx_race(x, u, &g, &e->g, g.mask) && sct_ptx_race(x, u, &s, &e->s, s.mask));
}

/* A new entry of the list with room for its bytes. */
static ptx_bulk *add(ptx_exec *x, const ptx_uop *u, int lane, const ends *e) {
  uint8_t *data = sct_alloc(2 * (size_t)e->bytes + 1);
  SCT_GROW(x->bulks, x->n_bulks, x->cap_bulks);
  ptx_bulk *b = &x->bulks[x->n_bulks++];
  *b = (ptx_bulk){.lane = (uint8_t)lane,
                  .warp = x->warp->index,
                  .by = u,
                  .shared = (int64_t)e->shared,
                  .bytes = (int64_t)e->bytes,
                  .mbar = -1,
                  .data = data,
                  .defined = data + e->bytes};
  return b;
}

static void take(ptx_bulk *b, const uint8_t *from, const uint8_t *defined) {
  memcpy(b->data, from, (size_t)b->bytes);
  if (defined != NULL) {
    memcpy(b->defined, defined, (size_t)b->bytes);
  } else {
    memset(b->defined, 0xff, (size_t)b->bytes);
  }
}

static void count(ptx_exec *x, const ptx_uop *u, const ends *e, bool load) {
  if (x->launch->counters) {
    sct_ptx_global one = {0};
    sct_ptx_count_bulk(&one, e->global, e->bytes);
    if (x->by_buffer != NULL) {
      one.contiguous_bytes =
          sct_ptx_contiguous_run(ptx_part_used(x, e->global), e->global, e->bytes);
    }
    sct_ptx_global_add(&x->insts[u->inst].global, &one);
    if (x->launch->opts->caches != NULL) {
      sct_ptx_trace_bulk(&x->trace, e->global, e->bytes, load);
    }
    sct_ptx_buffer_counters *of = ptx_counts_of(x, e->global);
    if (of != NULL) {
      sct_ptx_global_add(load ? &of->load : &of->store, &one);
    }
    if (x->launch->opts->watch != NULL) {
      sct_ptx_pass_bulk(x, u, e->global, e->bytes, load);
    }
  }
}

/* ---- loads */

/* Its destination is neither on its way already nor still being read. */
static bool free_to_fill(ptx_exec *x, const ptx_uop *u, int lane, const ends *e) {
  const bool filled = sct_ptx_async_pending(x, (int64_t)e->shared, e->bytes);
  if (!filled && !sct_ptx_bulk_reads(x, (int64_t)e->shared, (int)e->bytes)) {
    return true;
  }
  return sct_ptx_fault(
      x, u, SCT_PTX_ASYNC_EARLY, lane, e->shared,
      "a bulk copy into %u bytes that an earlier asynchronous copy %s: no wait in between",
      e->bytes, filled ? "fills" : "may still read");
}

static bool load(ptx_exec *x, const ptx_uop *u, int lane) {
  ends e;
  if (!operands(x, u, lane, true, &e)) {
    return false;
  }
  const uint64_t at = ptx_r64(x, u->e)[lane];
  if (x->state[u->e] >> lane & 1) {
    return sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_ADDRESS, lane, 0,
                         "the mbarrier's address was never set");
  }
  const ptx_mbar *m = sct_ptx_mbar_at(x, u, lane, at, u->space == PTX_SPACE_NONE);
  if (m == NULL || e.bytes == 0) {
    return m != NULL;
  }
  if (!free_to_fill(x, u, lane, &e) || !races(x, u, lane, true, &e)) {
    return false;
  }
  ptx_bulk *b = add(x, u, lane, &e);
  if (b == NULL) {
    return false;
  }
  const size_t off = (e.global - e.g.origin) & e.g.keep;
  b->load = true;
  b->mbar = (int32_t)(m - x->mbars);
  take(b, e.g.host + off, e.g.defined != NULL ? e.g.defined + off : NULL);
  if (x->launch->definedness) {
    memset(x->shared_defined + e.shared, 0, e.bytes);
  }
  count(x, u, &e, true);
  return true;
}

bool sct_ptx_bulk_finish(ptx_exec *x, int k) {
  ptx_mbar *m = &x->mbars[k];
  for (size_t i = 0; i < x->n_bulks; i++) {
    ptx_bulk *b = &x->bulks[i];
    if (!b->load || b->signalled || b->mbar != k) {
      continue;
    }
    b->signalled = true;
    b->phase = m->phase;
    if (!sct_ptx_mbar_complete(x, b->by, b->lane, m, b->bytes)) {
      return false;
    }
  }
  return true;
}

void sct_ptx_bulk_deliver(ptx_exec *x, int k) {
  const ptx_mbar *m = &x->mbars[k];
  size_t kept = 0;
  sct_ptx_async_deliver(x, k);
  for (size_t i = 0; i < x->n_bulks; i++) {
    ptx_bulk *b = &x->bulks[i];
    if (!b->load || !b->signalled || b->mbar != k || b->phase >= m->phase) {
      x->bulks[kept++] = *b;
      continue;
    }
    memcpy(x->shared + b->shared, b->data, (size_t)b->bytes);
    memcpy(x->shared_defined + b->shared, b->defined, (size_t)b->bytes);
    sct_ptx_race_deliver(x, b->shared, b->bytes, m->who, m->done);
    drop(b);
  }
  x->n_bulks = kept;
}

/* ---- stores */

/* An undefined byte, other than in padding, or one that a copy has not brought yet. */
static bool source_is_set(ptx_exec *x, const ptx_uop *u, int lane, const ends *e) {
  const int64_t to = (int64_t)(e->global - e->g.origin);
  for (int64_t i = 0; x->launch->definedness && i < (int64_t)e->bytes; i++) {
    if (x->shared_defined[(int64_t)e->shared + i] == 0xff) {
      continue;
    }
    if (sct_ptx_async_pending(x, (int64_t)e->shared + i, 1)) {
      return sct_ptx_fault(
          x, u, SCT_PTX_ASYNC_EARLY, lane, e->shared + (uint64_t)i,
          "copies bytes that an asynchronous copy has not delivered: no wait in between");
    }
    if (e->g.buf->required == NULL || e->g.buf->required[to + i] != 0) {
      return sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_STORE, lane, e->shared + (uint64_t)i,
                           "copies a byte that was never set to offset %lld of '%s'",
                           (long long)(to + i), e->g.buf->name);
    }
  }
  return true;
}

static bool is_fenced(ptx_exec *x, const ptx_uop *u, int lane, const ends *e) {
  int writer = 0;
  const int64_t at = sct_ptx_race_unfenced(x, (int64_t)e->shared, e->bytes, &writer);
  if (at < 0) {
    return true;
  }
  return sct_ptx_fault(
      x, u, SCT_PTX_PROXY_FENCE, lane, (uint64_t)at,
      "copies what warp %d wrote with plain stores, with no fence.proxy.async after them", writer);
}

static bool store(ptx_exec *x, const ptx_uop *u, int lane) {
  ends e;
  if (!operands(x, u, lane, false, &e) || e.bytes == 0) {
    return !x->stop;
  }
  if (!races(x, u, lane, false, &e) || !source_is_set(x, u, lane, &e) ||
      !is_fenced(x, u, lane, &e)) {
    return false;
  }
  ptx_bulk *b = add(x, u, lane, &e);
  if (b == NULL) {
    return false;
  }
  b->group = x->warp->bulk_group[lane];
  b->buf = e.g.buf;
  b->offset = (int64_t)((e.global - e.g.origin) & e.g.keep);
  take(b, x->shared + e.shared, x->shared_defined + e.shared);
  if (b->buf->defined != NULL && x->launch->definedness) {
    memset(b->buf->defined + b->offset, 0, e.bytes);
  }
  count(x, u, &e, false);
  return true;
}

static void write_back(ptx_bulk *b) {
  memcpy(b->buf->host + b->offset, b->data, (size_t)b->bytes);
  if (b->buf->defined != NULL) {
    memcpy(b->buf->defined + b->offset, b->defined, (size_t)b->bytes);
  }
  drop(b);
}

/* ---- instructions */

static void each_lane(ptx_exec *x, const ptx_uop *u,
                      bool (*fn)(ptx_exec *x, const ptx_uop *u, int lane)) {
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    if (!fn(x, u, ptx_first_lane(m))) {
      return;
    }
  }
}

void sct_ptx_op_bulk_load(ptx_exec *x, const ptx_uop *u) {
  each_lane(x, u, load);
}

void sct_ptx_op_bulk_store(ptx_exec *x, const ptx_uop *u) {
  each_lane(x, u, store);
}

static bool prefetch(ptx_exec *x, const ptx_uop *u, int lane) {
  ends e = {.global = ptx_r64(x, u->a)[lane], .bytes = ptx_r32(x, u->b)[lane]};
  if (e.bytes % BULK_ALIGN != 0) {
    return sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, e.global,
                         "a bulk prefetch of %u bytes, which is no multiple of %d", e.bytes,
                         BULK_ALIGN);
  }
  return aligned(x, u, lane, "global address", e.global) &&
         (e.bytes == 0 || in_global(x, u, lane, PTX_READ, &e));
}

void sct_ptx_op_bulk_prefetch(ptx_exec *x, const ptx_uop *u) {
  each_lane(x, u, prefetch);
}

void sct_ptx_op_bulk_commit(ptx_exec *x, const ptx_uop *u) {
  (void)u;
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    x->warp->bulk_group[ptx_first_lane(m)]++;
  }
}

/* All but the `imm` youngest committed groups: their sources have been read (op set), or their
 * bytes are in global memory. */
void sct_ptx_op_bulk_wait(ptx_exec *x, const ptx_uop *u) {
  const ptx_warp *w = x->warp;
  size_t kept = 0;
  for (size_t i = 0; i < x->n_bulks; i++) {
    ptx_bulk *b = &x->bulks[i];
    const bool waited = !b->load && b->warp == w->index && (x->mask >> b->lane & 1) != 0 &&
                        b->group < w->bulk_group[b->lane] - u->imm;
    b->signalled |= waited;
    if (waited && !u->op) {
      write_back(b);
    } else {
      x->bulks[kept++] = *b;
    }
  }
  x->n_bulks = kept;
}

/* fence.proxy.async: copies that this warp issues from here on may read what it is ordered after.
 */
void sct_ptx_op_fence_async(ptx_exec *x, const ptx_uop *u) {
  ptx_warp *w = x->warp;
  (void)u;
  for (int i = 0; i < PTX_LANES; i++) {
    const uint32_t known = w->clock.known[i] >= x->base ? w->clock.known[i] : x->base - 1;
    w->clock.fenced[i] = known;
  }
  w->clock.fenced[w->index] = w->stamp;
  w->stamp = ++x->epoch;
}

void sct_ptx_bulk_end(ptx_exec *x) {
  for (size_t i = 0; i < x->n_bulks && !x->stop; i++) {
    const ptx_bulk *b = &x->bulks[i];
    if (b->load || !b->signalled) {
      x->warp = &x->warps[b->warp];
      sct_ptx_fault(x, b->by, SCT_PTX_ASYNC_EARLY, b->lane, (uint64_t)b->shared,
                    "the block ends while this copy may still %s its shared memory: no wait for it",
                    b->load ? "write" : "read");
    }
  }
  for (size_t i = 0; i < x->n_bulks && !x->stop; i++) {
    write_back(&x->bulks[i]);
  }
  if (!x->stop) {
    x->n_bulks = 0;
  }
}
