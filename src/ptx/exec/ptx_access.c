/* Where the lanes of a warp access memory: addresses, the piece of memory they fall into, and the
 * checks that keep them there. */
#include "ptx/exec/ptx_exec.h"

bool sct_ptx_addresses(ptx_exec *x, const ptx_uop *u, ptx_access *acc) {
  const uint64_t *base = ptx_r64(x, u->a);
  const uint64_t imm = (uint64_t)u->imm;
  const uint32_t undefined = (uint32_t)x->state[u->a] & x->mask;
  acc->mask = x->mask;
  acc->width = u->bytes * u->n;
  if (undefined != 0) {
    sct_ptx_before_undefined(x, u->a, ptx_first_lane(undefined));
    return sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_ADDRESS, ptx_first_lane(undefined), 0,
                         "the address depends on a value that was never set");
  }
  uint64_t off_run = 0;
  const uint64_t first = base[0] + imm, width = (uint64_t)acc->width;
  for (int i = 0; i < PTX_LANES; i++) {
    acc->addr[i] = base[i] + imm;
    off_run |= acc->addr[i] ^ (first + (uint64_t)i * width);
  }
  acc->full_run = off_run == 0 && x->mask == PTX_ALL;
  return true;
}

const char *sct_ptx_verb(ptx_dir dir) {
  return dir == PTX_READ ? "reads" : dir == PTX_WRITE ? "writes" : "updates";
}

/* "reads 4 bytes at offset 4000 of 'in' (4000 bytes), 0 bytes behind its end" */
static void fault_bounds(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane,
                         const ptx_buf *b) {
  const uint64_t a = acc->addr[lane];
  const int64_t off = (int64_t)(a - b->base);
  if (a >> PTX_WINDOW_SHIFT == PTX_WINDOW_HEAP) {
    sct_ptx_heap_fault(x, u, acc, lane);
  } else if (off < 0) {
    sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, a, "%s %d bytes at %lld bytes before '%s'",
                  sct_ptx_verb(acc->dir), acc->width, (long long)-off, b->name);
  } else {
    sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, a,
                  "%s %d bytes at offset %lld of '%s', which has %lld bytes",
                  sct_ptx_verb(acc->dir), acc->width, (long long)off, b->name, (long long)b->bytes);
  }
}

static void fault_aligned(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane) {
  const uint64_t a = acc->addr[lane];
  sct_ptx_fault(x, u, SCT_PTX_MISALIGNED, lane, a,
                "%s %d bytes at 0x%llx, which is %d bytes past a multiple of %d",
                sct_ptx_verb(acc->dir), acc->width, (unsigned long long)a,
                (int)(a % (uint64_t)acc->width), acc->width);
}

/* Whether the bytes belong to one variable, or one allocation. */
static bool in_piece(const ptx_exec *x, uint64_t address, int width) {
  if (address >> PTX_WINDOW_SHIFT == PTX_WINDOW_HEAP) {
    return sct_ptx_heap_holds(x->launch->memory, address, width);
  }
  const int64_t off = (int64_t)(address - PTX_WINDOW(PTX_WINDOW_VARS));
  for (const ptx_sym *s = x->launch->module->syms; s != NULL; s = s->next) {
    if ((s->space == PTX_SPACE_GLOBAL || s->space == PTX_SPACE_CONST) && off >= s->offset &&
        off + width <= s->offset + s->bytes) {
      return true;
    }
  }
  return false;
}

/* Lane by lane, after the quick test has failed: the first bad lane is the one to report. */
static uint32_t check_lanes(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo,
                            const ptx_buf *b) {
  const uint64_t window = b->base >> PTX_WINDOW_SHIFT;
  uint32_t in = 0;
  for (uint32_t m = todo; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const uint64_t a = acc->addr[i];
    if (a >> PTX_WINDOW_SHIFT != window) {
      continue;
    }
    const int64_t off = (int64_t)(a - b->base);
    if (off < 0 || off > b->bytes - acc->width || (b->in_pieces && !in_piece(x, a, acc->width))) {
      fault_bounds(x, u, acc, i, b);
      return 0;
    }
    if ((a & (uint64_t)(acc->width - 1)) != 0) {
      fault_aligned(x, u, acc, i);
      return 0;
    }
    in |= 1u << i;
  }
  return in;
}

/* All lanes of a full warp at once: any bad sign makes the caller look closer. */
static bool all_inside(const ptx_access *acc, const ptx_buf *b) {
  const uint64_t limit = (uint64_t)(b->bytes - acc->width);
  uint64_t bad = limit, low = 0;
  for (int i = 0; i < PTX_LANES; i++) {
    const uint64_t off = acc->addr[i] - b->base;
    bad |= off | (limit - off);
    low |= acc->addr[i];
  }
  return (int64_t)bad >= 0 && (low & (uint64_t)(acc->width - 1)) == 0;
}

/* Contents on demand: chunks that lanes are the first to access. */
static void fill_lanes(ptx_buf *b, const ptx_access *acc, uint32_t lanes) {
  if (acc->full_run && lanes == PTX_ALL) {
    sct_ptx_buf_fill(b, (int64_t)(acc->addr[0] - b->base), (int64_t)acc->width * PTX_LANES);
    return;
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    sct_ptx_buf_fill(b, (int64_t)(acc->addr[ptx_first_lane(m)] - b->base), acc->width);
  }
}

ptx_part sct_ptx_part_global(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo) {
  const int first = ptx_first_lane(todo);
  const uint64_t a = acc->addr[first];
  ptx_buf *b = ptx_memory_window(x->launch->memory, a);
  ptx_part part = {0};
  if (b == NULL) {
    sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, first, a,
                  "%s %d bytes at 0x%llx, far from any buffer", sct_ptx_verb(acc->dir), acc->width,
                  (unsigned long long)a);
    return part;
  }
  part = (ptx_part){
      .host = b->host, .defined = b->defined, .origin = b->base, .keep = b->keep, .buf = b};
  if (todo == PTX_ALL && !b->in_pieces && all_inside(acc, b)) {
    part.mask = todo;
  } else {
    part.mask = check_lanes(x, u, acc, todo, b);
  }
  if (b->fill != NULL && part.mask != 0) {
    fill_lanes(b, acc, part.mask);
  }
  if (part.mask != 0 && acc->dir != PTX_READ) {
    if (b->read_only) {
      sct_ptx_fault(x, u, SCT_PTX_READ_ONLY, first, a,
                    "%s %d bytes at offset %lld of read-only '%s'", sct_ptx_verb(acc->dir),
                    acc->width, (long long)(a - b->base), b->name);
      part.mask = 0;
    }
  }
  return part;
}

/* ---- shared memory */

static const ptx_range *shared_range(const ptx_exec *x, int64_t a) {
  for (int i = 0; i < x->n_ranges; i++) {
    if (a >= x->ranges[i].lo && a < x->ranges[i].hi) {
      return &x->ranges[i];
    }
  }
  return NULL;
}

/* What the source calls a variable: of the mangled name the last part, "1s" of "_ZZ1fPfE1s". */
static ptx_span source_name(ptx_span name) {
  for (int i = name.len - 1; i > 2 && name.p[0] == '_' && name.p[1] == 'Z'; i--) {
    int n = 0, scale = 1, k = i - 1;
    for (; k > 2 && name.p[k] >= '0' && name.p[k] <= '9' && scale <= 1000; k--, scale *= 10) {
      n += scale * (name.p[k] - '0');
    }
    if (k < i - 1 && n > 0 && i + n <= name.len && i + n >= name.len - 2) { /* "_0" may follow */
      return (ptx_span){name.p + i, n};
    }
  }
  return name;
}

static void fault_shared(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, int lane) {
  const int64_t a = (int64_t)acc->addr[lane];
  const ptx_range *near = NULL;
  uint64_t best = UINT64_MAX; /* any address: differences may not fit in 63 bits */
  for (int i = 0; i < x->n_ranges; i++) {
    const ptx_range *r = &x->ranges[i];
    const uint64_t far = a < r->lo    ? (uint64_t)r->lo - (uint64_t)a
                         : a >= r->hi ? (uint64_t)a - (uint64_t)r->hi
                                      : 0;
    if (far < best) {
      best = far;
      near = r;
    }
  }
  const ptx_span name = near != NULL ? source_name(near->sym->name) : (ptx_span){0};
  if (near == NULL) {
    sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, (uint64_t)a,
                  "%s %d bytes of shared memory, of which the kernel has none",
                  sct_ptx_verb(acc->dir), acc->width);
    return;
  }
  sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, lane, (uint64_t)a,
                "%s %d bytes at offset %lld of shared '%.*s', which has %lld bytes",
                sct_ptx_verb(acc->dir), acc->width, (long long)((uint64_t)a - (uint64_t)near->lo),
                name.len, name.p, (long long)(near->hi - near->lo));
}

/* Lanes of `todo` whose addresses lie in the block of the cluster that the first one's lies in. */
static bool part_cluster(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t *todo,
                         ptx_part *part) {
  const int first = ptx_first_lane(*todo);
  ptx_exec *peer = sct_ptx_cluster_peer(x, u, acc, first, &part->origin);
  uint32_t same = 0;
  if (peer == NULL) {
    if (!x->stop) {
      fault_shared(x, u, acc, first);
    }
    return false;
  }
  for (uint32_t m = *todo; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    same |= sct_ptx_cluster_address(acc->addr[i] ^ acc->addr[first]) ? 0 : 1u << i;
  }
  *todo = same;
  part->host = peer->shared;
  part->defined = peer->shared_defined;
  part->peer = peer == x ? NULL : peer;
  return true;
}

ptx_part sct_ptx_part_shared(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo) {
  ptx_part part = {
      .host = x->shared, .defined = x->shared_defined, .keep = UINT64_MAX, .shared = true};
  const ptx_range *r = NULL;
  if (sct_ptx_cluster_address(acc->addr[ptx_first_lane(todo)]) &&
      !part_cluster(x, u, acc, &todo, &part)) {
    return part;
  }
  for (uint32_t m = todo; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const int64_t a = (int64_t)(acc->addr[i] - part.origin);
    if (r == NULL || a < r->lo || a > r->hi - acc->width) {
      r = shared_range(x, a);
      const int64_t end = r == NULL ? 0 : acc->dir == PTX_READ ? r->padded : r->hi;
      if (r == NULL || a > end - acc->width) {
        fault_shared(x, u, acc, i);
        return part;
      }
    }
    if ((a & (acc->width - 1)) != 0) {
      fault_aligned(x, u, acc, i);
      return part;
    }
  }
  part.mask = todo;
  return part;
}

/* ---- local memory: the same addresses in every lane mean different bytes */

ptx_part sct_ptx_part_local(ptx_exec *x, const ptx_uop *u, const ptx_access *acc, uint32_t todo) {
  const ptx_warp *w = x->warp;
  ptx_part part = {
      .host = w->local, .defined = w->local_defined, .keep = UINT64_MAX, .stride = w->local_bytes};
  for (uint32_t m = todo; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const int64_t a = (int64_t)acc->addr[i];
    if (a < 0 || a > w->local_bytes - acc->width) {
      sct_ptx_fault(x, u, SCT_PTX_OUT_OF_BOUNDS, i, (uint64_t)a,
                    "%s %d bytes at offset %lld of local memory, which has %lld bytes",
                    sct_ptx_verb(acc->dir), acc->width, (long long)a, (long long)w->local_bytes);
      return part;
    }
    if ((a & (acc->width - 1)) != 0) {
      fault_aligned(x, u, acc, i);
      return part;
    }
  }
  part.mask = todo;
  return part;
}
