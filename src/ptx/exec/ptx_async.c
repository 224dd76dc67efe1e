/* cp.async: bytes are read when the copy is issued and reach shared memory when the thread waits
 * for their group. In between their destination is undefined, so that a kernel that reads it early
 * is caught every time, not once in a thousand runs. */
#include "ptx/exec/ptx_exec.h"

bool sct_ptx_async_pending(const ptx_exec *x, int64_t address, int64_t bytes) {
  for (size_t k = 0; k < x->n_bulks; k++) {
    const ptx_bulk *b = &x->bulks[k];
    if (b->load && address < b->shared + b->bytes && b->shared < address + bytes) {
      return true;
    }
  }
  for (int i = 0; i < x->launch->n_warps; i++) {
    const ptx_warp *w = &x->warps[i];
    for (size_t k = 0; k < w->n_asyncs; k++) {
      const ptx_async *a = &w->asyncs[k];
      if (address < a->address + a->bytes && a->address < address + bytes) {
        return true;
      }
    }
  }
  return false;
}

/* Lanes that read anything, with full and with shortened copies. */
static uint32_t reading_lanes(const ptx_exec *x, const ptx_uop *u) {
  const uint32_t *size = ptx_r32(x, u->c);
  uint32_t lanes = 0;
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    lanes |= (uint32_t)(size[i] != 0) << i;
  }
  return lanes;
}

/* Source bytes of one lane; what lies after the given size is zero. */
static bool fetch(ptx_exec *x, const ptx_uop *u, const ptx_access *from, int lane, ptx_async *out) {
  const uint32_t size = ptx_r32(x, u->c)[lane];
  const uint32_t n = size < u->bytes ? size : u->bytes;
  memset(out->defined, 0xff, sizeof out->defined);
  if (n == 0) {
    return true;
  }
  ptx_access one = {.mask = 1u << lane, .width = 1, .dir = PTX_READ};
  one.addr[lane] = from->addr[lane] + n - 1;
  if (sct_ptx_part_global(x, u, &one, one.mask).mask == 0) {
    return false;
  }
  one.addr[lane] = from->addr[lane];
  const ptx_part part = sct_ptx_part_global(x, u, &one, one.mask);
  if (part.mask == 0) {
    return false;
  }
  if ((from->addr[lane] & (uint64_t)(u->bytes - 1)) != 0) {
    return sct_ptx_fault(x, u, SCT_PTX_MISALIGNED, lane, from->addr[lane],
                         "copies %d bytes from 0x%llx, which is no multiple", u->bytes,
                         (unsigned long long)from->addr[lane]);
  }
  one.width = (int)n;
  if (x->launch->races && !sct_ptx_race(x, u, &one, &part, 0)) {
    return false;
  }
  const size_t off = (from->addr[lane] - part.origin) & part.keep;
  memcpy(out->data, part.host + off, n);
  if (part.defined != NULL) {
    memcpy(out->defined, part.defined + off, n);
  }
  return true;
}

static bool issue(ptx_exec *x, const ptx_uop *u, const ptx_access *from, const ptx_access *to,
                  const ptx_part *part, int lane) {
  ptx_warp *w = x->warp;
  SCT_GROW(w->asyncs, w->n_asyncs, w->cap_asyncs);
  ptx_async *a = &w->asyncs[w->n_asyncs];
  *a = (ptx_async){.group = w->async_group[lane],
                   .lane = (uint8_t)lane,
                   .bytes = u->bytes,
                   .inst = u->inst,
                   .mbar = -1,
                   .address = (int64_t)to->addr[lane]};
  if (!fetch(x, u, from, lane, a)) {
    return false;
  }
  w->n_asyncs++;
  memset(part->defined + a->address, 0, u->bytes);
  return true;
}

void sct_ptx_op_cp_async(ptx_exec *x, const ptx_uop *u) {
  ptx_access from, to;
  ptx_uop dest = *u;
  dest.a = u->b;
  dest.imm = u->vec;
  from.dir = PTX_READ;
  to.dir = PTX_WRITE;
  from.uncached = to.uncached = false;
  if (!sct_ptx_addresses(x, u, &from) || !sct_ptx_addresses(x, &dest, &to)) {
    return;
  }
  const ptx_part part = sct_ptx_part_shared(x, u, &to, to.mask);
  if (part.mask == 0 || (x->launch->races && !sct_ptx_race(x, u, &to, &part, to.mask))) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    if (!issue(x, u, &from, &to, &part, ptx_first_lane(m))) {
      return;
    }
  }
  if (x->launch->counters) {
    const uint32_t reading = reading_lanes(x, u);
    ptx_count_shared(x, u, &to);
    from.full_run &= reading == PTX_ALL;
    from.mask = reading;
    if (reading != 0) {
      ptx_count_global(x, u, &from);
    }
  }
}

void sct_ptx_op_cp_commit(ptx_exec *x, const ptx_uop *u) {
  (void)u;
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    x->warp->async_group[ptx_first_lane(m)]++;
  }
}

static bool arrive(ptx_exec *x, const ptx_uop *u, const ptx_async *a) {
  ptx_access to = {.mask = 1u << a->lane, .width = a->bytes, .dir = PTX_WRITE};
  to.addr[a->lane] = (uint64_t)a->address;
  const ptx_part part = sct_ptx_part_shared(x, u, &to, to.mask);
  if (part.mask == 0 || (x->launch->races && !sct_ptx_race(x, u, &to, &part, to.mask))) {
    return false;
  }
  memcpy(part.host + a->address, a->data, a->bytes);
  memcpy(part.defined + a->address, a->defined, a->bytes);
  return true;
}

/* Groups older than the `imm` youngest committed ones arrive; with `op` set everything does. */
void sct_ptx_op_cp_wait(ptx_exec *x, const ptx_uop *u) {
  ptx_warp *w = x->warp;
  size_t kept = 0;
  for (size_t k = 0; k < w->n_asyncs; k++) {
    const ptx_async a = w->asyncs[k];
    const int64_t open = w->async_group[a.lane];
    const bool waited = (x->mask >> a.lane & 1) != 0 && (u->op || a.group < open - u->imm);
    if (!waited) {
      w->asyncs[kept++] = a;
    } else if (!arrive(x, u, &a)) {
      return;
    }
  }
  w->n_asyncs = kept;
}

void sct_ptx_async_deliver(ptx_exec *x, int k) {
  const ptx_mbar *b = &x->mbars[k];
  for (int i = 0; i < x->launch->n_warps; i++) {
    ptx_warp *w = &x->warps[i];
    size_t kept = 0;
    for (size_t j = 0; j < w->n_asyncs; j++) {
      const ptx_async a = w->asyncs[j];
      if (a.mbar != k || a.phase >= b->phase) {
        w->asyncs[kept++] = a;
        continue;
      }
      memcpy(x->shared + a.address, a.data, a.bytes);
      memcpy(x->shared_defined + a.address, a.defined, a.bytes);
      sct_ptx_race_deliver(x, a.address, a.bytes, b->who, b->done);
    }
    w->n_asyncs = kept;
  }
}
