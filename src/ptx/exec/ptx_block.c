/* What a host thread keeps for its blocks: register files, shared memory, special registers. */
#include "ptx/exec/ptx_exec.h"

/* ---- special registers and constants */

static const struct {
  const char *name;
  bool wide, changes;
} sregs[] = {
#define PTX_SREG(name, wide, changes, value) {name, wide, changes},
#include "ptx/decode/ptx_sregs.def"
#undef PTX_SREG
};

static uint64_t sreg_value(const ptx_exec *x, const ptx_warp *w, int sreg, int lane) {
  const ptx_launch *l = x->launch;
  const int64_t linear = (int64_t)w->index * PTX_LANES + lane;
  const uint32_t bit = 1u << lane;
  int at = 0; /* only the value that is asked for is computed */
#define PTX_SREG(name, wide, changes, value)                                                       \
  if (at++ == sreg) {                                                                              \
    return (uint64_t)(value);                                                                      \
  }
#include "ptx/decode/ptx_sregs.def"
#undef PTX_SREG
  return 0;
}

bool sct_ptx_sreg_changes(int sreg) {
  const char *name = sregs[sreg].name;
  return sregs[sreg].changes || strncmp(name, "%nctaid", 7) == 0 ||
         strncmp(name, "%nclusterid", 11) == 0;
}

static void fill_sreg(const ptx_exec *x, ptx_warp *w, int sreg, uint8_t *slot) {
  const size_t bytes = sregs[sreg].wide ? 8 : 4;
  uint64_t v = sreg_value(x, w, sreg, 0);
  for (int i = 0; i < PTX_LANES; i++) {
    v = sregs[sreg].changes ? v : sreg_value(x, w, sreg, i);
    memcpy(slot + bytes * (size_t)i, &v, bytes);
  }
}

void sct_ptx_fill_sregs(ptx_exec *x, ptx_warp *w, int body, size_t slot_base, bool all) {
  const ptx_body *b = &x->code->bodies[body];
  for (size_t k = 0; k < b->n_sregs; k++) {
    if (all || sregs[b->sregs[k].sreg].changes) {
      fill_sreg(x, w, b->sregs[k].sreg, w->regs + (slot_base + b->sregs[k].slot) * PTX_SLOT_BYTES);
    }
  }
}

void sct_ptx_fill_consts(ptx_exec *x, ptx_warp *w, int body, size_t slot_base) {
  const ptx_body *b = &x->code->bodies[body];
  uint8_t *file = w->regs + slot_base * PTX_SLOT_BYTES;
  memset(file, 0, PTX_SLOT_BYTES);
  memset(file + PTX_SLOT_BYTES, 0xff, PTX_SLOT_BYTES);
  for (size_t k = 0; k < b->n_consts; k++) {
    uint8_t *slot = file + (size_t)b->consts[k].slot * PTX_SLOT_BYTES;
    const int bytes = b->consts[k].wide ? 8 : 4;
    for (int i = 0; i < PTX_LANES; i++) {
      memcpy(slot + bytes * i, &b->consts[k].bits, (size_t)bytes);
    }
  }
}

void sct_ptx_clear_state(ptx_exec *x, ptx_warp *w, int body, size_t slot_base) {
  const ptx_body *b = &x->code->bodies[body];
  const uint32_t undefined = x->launch->definedness ? PTX_ALL : 0;
  memset(w->state + slot_base, 0, sizeof(*w->state) * b->n_slots);
  for (uint32_t r = 0; r < b->n_regs; r++) {
    w->state[slot_base + PTX_SLOT_REGS + r] = undefined;
  }
  memset(w->has_bits + slot_base, 0, b->n_slots);
}

/* ---- a block begins */

static void shuffle(int *order, int n, uint64_t seed) {
  for (int i = n - 1; i > 0; i--) {
    const int j = (int)(sct_mix64(seed, (uint64_t)i) % (uint64_t)(i + 1));
    const int t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
}

static void set_order(ptx_exec *x) {
  const int n = x->launch->n_warps;
  for (int i = 0; i < n; i++) {
    x->order[i] = x->launch->opts->order == SCT_PTX_REVERSE ? n - 1 - i : i;
  }
  if (x->launch->opts->order == SCT_PTX_SHUFFLED) {
    shuffle(x->order, n, sct_mix64(x->launch->opts->seed, (uint64_t)x->block_index));
  }
}

static void begin_warp(ptx_exec *x, ptx_warp *w) {
  const ptx_launch *l = x->launch;
  const int left = l->n_threads - w->index * PTX_LANES;
  w->status = PTX_WARP_READY;
  w->lanes = left >= PTX_LANES ? PTX_ALL : (1u << left) - 1;
  w->exited = 0;
  w->carry = 0;
  w->n_asyncs = 0;
  w->arrived = false;
  ptx_sync_lanes(x, w);
  w->steps = 0;
  w->stamp = x->epoch;
  w->idle = (ptx_idle){0};
  memset(w->async_group, 0, sizeof w->async_group);
  memset(w->bulk_group, 0, sizeof w->bulk_group);
  w->n_frames = 1;
  w->frames[0] = (ptx_frame){.call = -1, .mask = w->lanes};
  w->paths[0] = (ptx_path){l->code->bodies[0].entry, -1, w->lanes};
  w->n_paths = 1;
  sct_ptx_clear_state(x, w, 0, 0);
  sct_ptx_fill_sregs(x, w, 0, 0, false);
  if (x->is_near != NULL) {
    sct_ptx_chain_begin(x, w);
  }
  if (w->local_bytes > 0) {
    sct_ptx_clear_locals(l->code, w, l->definedness);
  }
}

void sct_ptx_block_begin(ptx_exec *x, int64_t block_index) {
  const ptx_launch *l = x->launch;
  x->block_index = block_index;
  x->block[0] = block_index % l->grid[0];
  x->block[1] = block_index / l->grid[0] % l->grid[1];
  x->block[2] = block_index / (l->grid[0] * l->grid[1]);
  x->steps = 0;
  sct_ptx_clock_begin_block(x);
  sct_ptx_order_begin_block(x);
  x->base = x->block_epoch = x->cluster_base = ++x->epoch;
  x->events = 0;
  x->copied = (ptx_when){0};
  x->n_mbars = 0;
  sct_ptx_bulk_clear(x);
  x->stop = x->soft = x->has_soft = x->ended = false;
  x->unset.buf = NULL;
  x->visit.by = NULL;
  memset(x->barriers, 0, sizeof x->barriers);
  for (int i = 0; i < x->n_ranges; i++) {
    memset(x->shared_defined + x->ranges[i].lo, l->definedness ? 0 : 0xff,
           (size_t)(x->ranges[i].padded - x->ranges[i].lo));
  }
  set_order(x);
  if (x->loaded != NULL) {
    memset(x->loaded, 0, sizeof *x->loaded * PTX_BLOCK_LINES);
  }
  for (int i = 0; i < l->n_warps; i++) {
    begin_warp(x, &x->warps[i]);
  }
}

/* ---- memory of a host thread */

static void new_warp(ptx_exec *x, ptx_warp *w, int index) {
  const ptx_body *b = &x->code->bodies[0];
  w->index = index;
  w->n_slots = b->n_slots;
  w->cap_paths = PTX_MAX_PATHS;
  w->local_bytes = sct_ptx_local_bytes(x->code);
  /* not cleared where their definedness is tracked */
  const size_t bytes = w->n_slots * PTX_SLOT_BYTES;
  w->regs = x->launch->definedness ? sct_realloc(NULL, bytes) : sct_alloc(bytes);
  w->state = sct_alloc(w->n_slots * sizeof(*w->state));
  /* not cleared: has_bits says which of them count */
  w->bits = sct_realloc(NULL, w->n_slots * PTX_LANES * sizeof(*w->bits));
  w->has_bits = sct_alloc(w->n_slots);
  w->paths = sct_alloc(sizeof(*w->paths) * PTX_MAX_PATHS);
  w->frames = sct_alloc(sizeof(*w->frames) * PTX_MAX_FRAMES);
  if (w->local_bytes > 0) {
    w->local = sct_alloc((size_t)w->local_bytes * PTX_LANES);
    w->local_defined = sct_alloc((size_t)w->local_bytes * PTX_LANES);
  }
  sct_ptx_fill_consts(x, w, 0, 0);
  sct_ptx_fill_sregs(x, w, 0, 0, true);
  if (x->is_near != NULL) {
    sct_ptx_chain_new(w);
  }
}

static void free_warp(ptx_warp *w) {
  sct_free(w->regs);
  sct_free(w->state);
  sct_free(w->bits);
  sct_free(w->has_bits);
  sct_free(w->origins);
  sct_free(w->paths);
  sct_free(w->frames);
  sct_free(w->local);
  sct_free(w->local_defined);
  sct_free(w->asyncs);
  sct_ptx_chain_free(w);
}

static void new_shared(ptx_exec *x) {
  const ptx_launch *l = x->launch;
  const ptx_code *c = x->code;
  if (c->n_shared == 0) {
    return;
  }
  x->ranges = sct_alloc(sizeof(*x->ranges) * c->n_shared);
  /* dynamic shared memory lies far behind the static one: nothing in between is touched */
  x->shared = sct_alloc_sparse((size_t)l->shared_end);
  x->shared_defined = sct_alloc_sparse((size_t)l->shared_end);
  if (l->races) {
    const size_t n = sct_ptx_shared_granules(x);
    x->shared_last_access = sct_alloc_sparse(sizeof(*x->shared_last_access) * n);
    x->shared_lanes = sct_alloc_sparse(sizeof(*x->shared_lanes) * n);
    x->shared_touches = l->findings ? sct_alloc_sparse(sizeof(*x->shared_touches) * n) : NULL;
  }
  for (size_t i = 0; i < c->n_shared; i++) {
    const ptx_shared_sym *s = &c->shared[i];
    const int64_t bytes = s->sym->is_extern ? l->opts->shared_bytes : s->bytes;
    const int64_t padded = s->sym->is_extern ? bytes : s->padded;
    x->ranges[x->n_ranges++] = (ptx_range){
        .lo = s->address, .hi = s->address + bytes, .padded = s->address + padded, .sym = s->sym};
  }
}

/* Counters of a host thread's block. */
static void new_counters(ptx_exec *x) {
  const ptx_launch *l = x->launch;
  x->insts = sct_alloc(sizeof(*x->insts) * (l->code->n_insts + 1));
  x->requests = l->opts->per_instruction && l->counters
                    ? sct_alloc(sizeof(*x->requests) * (l->code->n_insts + 1))
                    : NULL;
  x->block_runs = sct_alloc(sizeof(*x->block_runs) * (l->code->n_blocks + 1));
  x->block_lanes = sct_alloc(sizeof(*x->block_lanes) * (l->code->n_blocks + 1));
  const int n_buffers = l->memory->n_buffers;
  x->by_buffer =
      l->opts->per_buffer ? sct_alloc(sizeof(*x->by_buffer) * (size_t)(n_buffers + 1)) : NULL;
}

static void share_counters(ptx_exec *x, const ptx_exec *with) {
  x->shares = true;
  x->insts = with->insts;
  x->requests = with->requests;
  x->block_runs = with->block_runs;
  x->block_lanes = with->block_lanes;
  x->by_buffer = with->by_buffer;
}

void sct_ptx_exec_init(ptx_exec *x, const ptx_launch *l, ptx_cluster *cluster,
                       const ptx_exec *with) {
  *x = (ptx_exec){.launch = l, .code = l->code, .cluster = cluster, .seen = l->opts->seen};
  x->warps = sct_alloc(sizeof(*x->warps) * (size_t)l->n_warps);
  x->order = sct_alloc(sizeof(*x->order) * (size_t)l->n_warps);
  x->is_near = l->opts->chains ? sct_alloc(sizeof(*x->is_near) * (l->code->n_insts + 1)) : NULL;
  x->loaded = l->opts->chains ? sct_alloc(sizeof(*x->loaded) * PTX_BLOCK_LINES) : NULL;
  if (with != NULL) {
    share_counters(x, with);
  } else {
    new_counters(x);
  }
  new_shared(x);
  for (int i = 0; i < l->n_warps; i++) {
    new_warp(x, &x->warps[i], i);
  }
}

static void free_shared(ptx_exec *x) {
  const size_t n = sct_ptx_shared_granules(x);
  if (x->shared) {
    sct_unmap(x->shared, (size_t)x->launch->shared_end);
    sct_unmap(x->shared_defined, (size_t)x->launch->shared_end);
  }
  if (x->shared_lanes) {
    sct_unmap(x->shared_last_access, sizeof(*x->shared_last_access) * n);
    sct_unmap(x->shared_lanes, sizeof(*x->shared_lanes) * n);
  }
  if (x->shared_touches) {
    sct_unmap(x->shared_touches, sizeof(*x->shared_touches) * n);
  }
}

void sct_ptx_exec_free(ptx_exec *x) {
  sct_ptx_bulk_clear(x);
  sct_free(x->bulks);
  sct_free(x->mbars);
  for (int i = 0; x->warps != NULL && i < x->launch->n_warps; i++) {
    free_warp(&x->warps[i]);
  }
  sct_free(x->warps);
  sct_free(x->order);
  sct_free(x->is_near);
  sct_free(x->loaded);
  if (!x->shares) {
    sct_free(x->insts);
    sct_free(x->requests);
    sct_free(x->block_runs);
    sct_free(x->block_lanes);
    sct_free(x->by_buffer);
  }
  sct_free(x->trace.words);
  sct_free(x->ranges);
  free_shared(x);
}
