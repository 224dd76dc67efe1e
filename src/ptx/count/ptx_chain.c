/* ptx_chain - the longest chain of dependent instructions of a block: what it would take alone on a
 * multiprocessor, were everything it asks for free.
 *
 * An instruction starts when its operands are there. Compilers bring loads forward, past branches
 * that skip little too, but not past the end of a loop's iteration: what comes there begins when
 * all instructions before but stores have started, since a warp issues in order. Where a load finds
 * its line is not followed, so its latency stays open: a chain is cycles and how many loads wait
 * for each other, those of a line that the warp loaded shortly before apart. */
#include "ptx/exec/ptx_exec.h"

/* Time is kept in half cycles. By nominal ones the longer of two chains is found: a load from
 * memory under load, one that finds its line in L1. */
#define LOAD 1200
#define NEAR 80
/* Results by an H200 (2026-11-28): sums, fused products; special functions; shared memory. */
#define ALU    9
#define FP64   18
#define SFU    36
#define SHARED 60
/* A barrier of n warps takes 13 + 2 n cycles, between 15 for one and 77 for 32. */
#define BARRIER(n) (26 + 4 * (n))

/* Machine instructions that a guard may skip in place of a branch. */
#define MOST_GUARDED 16
/* ptxas makes a loop of so few machine instructions one of several iterations: by its machine code
 * (13.0, loops of 1 to 48 dependent sums) those of up to 20 four times or more, of 35 once; with a
 * constant count up to 70, five times or more. Where it loads, the loads still wait for each other.
 */
#define MOST_UNROLLED 24
#define UNROLLED      4

#define CYCLES(n) ((ptx_when){.half_cycles = (n)})
#define LOADS(n)  ((ptx_when){.half_cycles = LOAD * (n), .loads = (n)})
#define NEAR_BY   ((ptx_when){.half_cycles = NEAR, .near = 1})

static void wait_for(ptx_when *t, ptx_when other) {
  if (other.half_cycles > t->half_cycles) {
    *t = other;
  }
}

static ptx_when after(ptx_when t, ptx_when more) {
  return (ptx_when){t.half_cycles + more.half_cycles, t.loads + more.loads, t.near + more.near};
}

/* ---- what is known before the launch runs */

/* What an instruction does to chains besides waiting for operands. */
enum {
  STORES = 1,
  LOADS_GLOBAL = 2, /* from memory, or from a line that is near */
  LOADS_SHARED = 4,
  UNDER_WAY = 8, /* as a load from memory is */
  WIDE_FENCE = 16,
  BULK_COPY = 32,
  COPY_GROUPS = 64 /* cp.async, and what goes with it */
};

/* A micro-operation: the slots that it waits for, those only that another one writes, and after
 * them those that wait for it. */
typedef struct ptx_link {
  ptx_when takes;
  uint32_t slot;
  uint16_t n_from, n_to;
  uint16_t does;
} ptx_link;

/* A basic block. */
typedef struct ptx_stretch {
  int issued;
  bool may_unroll; /* its branch goes back, in most iterations inside an unrolled loop */
  bool waits;      /* what comes next waits for all that has started */
  uint32_t guard;  /* the slot of its end's condition */
} ptx_stretch;

struct ptx_links {
  ptx_link *links;        /* [n_uops]; of functions that the kernel calls zero */
  ptx_stretch *stretches; /* [n_blocks] */
  uint32_t *slots;
  size_t n_slots, cap_slots;
};

/* One that is wider than a block, if there is any: what was stored has to reach L2. */
static bool is_wide_fence(const ptx_code *c, const ptx_uop *u) {
  return u->fn == sct_ptx_op_fence && u->sync != 0 && c->orders_blocks;
}

static bool writes_several(const ptx_uop *u, uint8_t kind) {
  return (kind == PTX_INST_LOAD && u->d == PTX_SLOT_ZERO) ||
         (kind == PTX_INST_ATOMIC && u->e != 0) || u->fn == sct_ptx_op_mov_unpair ||
         u->fn == sct_ptx_op_mma;
}

static bool reads_several(const ptx_uop *u, uint8_t kind) {
  return kind == PTX_INST_STORE || kind == PTX_INST_ATOMIC || u->fn == sct_ptx_op_mov_pair;
}

/* After how long the result of `u` is there. */
static ptx_when latency(const ptx_uop *u, const ptx_origin *o) {
  if ((o->kind == PTX_INST_LOAD || o->kind == PTX_INST_STORE) && u->d != PTX_SLOT_ZERO) {
    return CYCLES(ALU); /* of a wmma: an address, or registers */
  }
  const bool near_by = u->space == PTX_SPACE_SHARED || u->space == PTX_SPACE_LOCAL;
  switch ((ptx_inst_kind)o->kind) {
  case PTX_INST_LOAD:
    if (u->space == PTX_SPACE_PARAM) {
      return CYCLES(0);
    }
    return near_by || u->space == PTX_SPACE_CONST ? CYCLES(SHARED) : LOADS(1);
  case PTX_INST_ATOMIC:
    return near_by ? CYCLES(2 * SHARED) : LOADS(1);
  case PTX_INST_ASYNC:
  case PTX_INST_BULK_LOAD:
    return LOADS(1);
  case PTX_INST_SHUFFLE:
    return CYCLES(SHARED);
  default:
    break;
  }
  const uint8_t *c = o->cost;
  const int others = c[SCT_PIPE_ISSUE] - c[SCT_PIPE_FP64] - c[SCT_PIPE_SFU];
  return CYCLES(ALU * others + FP64 * c[SCT_PIPE_FP64] + SFU * c[SCT_PIPE_SFU]);
}

static uint16_t deeds(const ptx_code *c, const ptx_uop *u, uint8_t kind, ptx_when takes) {
  const bool shared = kind == PTX_INST_LOAD && u->space == PTX_SPACE_SHARED;
  const bool in_groups =
      u->fn == sct_ptx_op_cp_async || u->fn == sct_ptx_op_cp_commit || u->fn == sct_ptx_op_cp_wait;
  return (uint16_t)((kind == PTX_INST_STORE ? STORES : 0) | (shared ? LOADS_SHARED : 0) |
                    (kind == PTX_INST_LOAD && takes.loads > 0 ? LOADS_GLOBAL : 0) |
                    (takes.loads > 0 ? UNDER_WAY : 0) | (is_wide_fence(c, u) ? WIDE_FENCE : 0) |
                    (kind == PTX_INST_BULK_LOAD ? BULK_COPY : 0) | (in_groups ? COPY_GROUPS : 0));
}

static void put(ptx_links *l, uint32_t slot) {
  SCT_GROW(l->slots, l->n_slots, l->cap_slots);
  l->slots[l->n_slots++] = slot;
}

static bool is_own(const ptx_code *c, uint32_t slot) {
  return slot < c->bodies[0].n_slots;
}

/* The slots that wait for `u`. */
static void put_written(ptx_links *l, const ptx_code *c, const ptx_uop *u, uint8_t kind) {
  if (kind == PTX_INST_BULK_LOAD) {
    return;
  }
  if (writes_several(u, kind)) {
    for (uint32_t k = 0; k < u->n; k++) {
      put(l, c->vec[u->vec + k]);
    }
  } else if (kind != PTX_INST_STORE && u->d > PTX_SLOT_TRUE && is_own(c, u->d)) {
    put(l, u->d);
  }
}

/* The slots that `u` waits for. */
static void put_read(ptx_links *l, const ptx_code *c, const ptx_uop *u, uint8_t kind) {
  const uint32_t from[] = {u->a, u->b, u->c, u->e, u->guard};
  for (int k = 0; k < SCT_COUNT(from); k++) {
    if (is_own(c, from[k])) {
      put(l, from[k]);
    }
  }
  for (uint32_t k = 0; reads_several(u, kind) && k < u->n; k++) {
    put(l, c->vec[u->vec + k]);
  }
  if (u->fn == sct_ptx_op_mma) { /* all behind the results */
    const uint8_t *regs = c->mmas[u->imm].regs;
    const uint32_t n = regs[PTX_MATRIX_A] + regs[PTX_MATRIX_B] + regs[PTX_MATRIX_C];
    for (uint32_t k = 0; k < n; k++) {
      put(l, c->vec[u->vec + u->n + k]);
    }
  }
}

static bool are_few(const ptx_code *c, int32_t from, int32_t to, int most) {
  int n = 0;
  for (int32_t i = from; i < to && n <= most; i++) {
    n += c->insts[i].cost[SCT_PIPE_ISSUE];
  }
  return n <= most;
}

/* Do compilers make the branch at its end a guard of what it skips? One that leaves a loop whose
 * iterations stand one after the other skips others like it, and stays a branch. */
static bool is_guard(const ptx_code *c, const ptx_block *b) {
  const ptx_block *const to = &c->blocks[b->target];
  bool straight = to > b;
  for (const ptx_block *k = b + 1; straight && k < to; k++) {
    straight = k->term != PTX_TERM_BRANCH || k->target < b->target;
  }
  return straight && are_few(c, b[1].first_inst, to->first_inst, MOST_GUARDED);
}

static bool is_arithmetic(const ptx_code *c, int32_t from, int32_t to) {
  while (from < to &&
         (c->insts[from].kind == PTX_INST_OTHER || c->insts[from].kind == PTX_INST_BRANCH)) {
    from++;
  }
  return from == to;
}

/* May the branch at its end go back inside an unrolled loop? */
static bool may_unroll(const ptx_code *c, const ptx_block *b) {
  const int32_t from = c->blocks[b->target].first_inst, to = b->first_inst + b->n_insts;
  return from < to && are_few(c, from, to, MOST_UNROLLED) && is_arithmetic(c, from, to);
}

static ptx_stretch stretch_of(const ptx_code *c, const ptx_block *b) {
  const bool branches = b->term == PTX_TERM_BRANCH;
  ptx_stretch s = {.may_unroll = branches && may_unroll(c, b),
                   .waits = b->term == PTX_TERM_BARRIER || b->term == PTX_TERM_CALL ||
                            b->term == PTX_TERM_TABLE || (branches && !is_guard(c, b)),
                   .guard = b->term != PTX_TERM_FALL ? c->uops[b->end].guard : PTX_SLOT_TRUE};
  for (int32_t i = b->first_inst; i < b->first_inst + b->n_insts; i++) {
    s.issued += c->insts[i].cost[SCT_PIPE_ISSUE];
  }
  return s;
}

static void add_links(ptx_links *l, const ptx_code *c, const ptx_block *b) {
  for (int32_t k = b->first; k < b->end; k++) {
    const ptx_uop *const u = &c->uops[k];
    const ptx_origin *const o = &c->insts[u->inst];
    const ptx_when takes = latency(u, o);
    const size_t first = l->n_slots;
    put_read(l, c, u, o->kind);
    const size_t middle = l->n_slots;
    put_written(l, c, u, o->kind);
    l->links[k] = (ptx_link){.takes = takes,
                             .slot = (uint32_t)first,
                             .n_from = (uint16_t)(middle - first),
                             .n_to = (uint16_t)(l->n_slots - middle),
                             .does = deeds(c, u, o->kind, takes)};
  }
}

/* Constants and special registers are always there. */
static void drop_unwritten(ptx_links *l, const ptx_code *c) {
  SCT_OWNED bool *written = sct_alloc(c->bodies[0].n_slots + 1);
  for (size_t k = 0; k < c->n_uops; k++) {
    const ptx_link *const of = &l->links[k];
    for (int i = 0; i < of->n_to; i++) {
      written[l->slots[of->slot + of->n_from + (uint32_t)i]] = true;
    }
  }
  for (size_t k = 0; k < c->n_uops; k++) {
    ptx_link *const of = &l->links[k];
    uint32_t *const slots = &l->slots[of->slot];
    uint16_t n = 0;
    for (int i = 0; i < of->n_from; i++) {
      if (written[slots[i]]) {
        slots[n++] = slots[i];
      }
    }
    memmove(slots + n, slots + of->n_from, sizeof *slots * of->n_to);
    of->n_from = n;
  }
}

ptx_links *sct_ptx_links_new(const ptx_code *c) {
  ptx_links *const l = sct_alloc(sizeof *l);
  const ptx_body *const own = &c->bodies[0];
  l->links = sct_alloc(sizeof *l->links * (c->n_uops + 1));
  l->stretches = sct_alloc(sizeof *l->stretches * (c->n_blocks + 1));
  for (int32_t b = 0; b < (int32_t)c->n_blocks; b++) {
    l->stretches[b] = stretch_of(c, &c->blocks[b]);
    if (b >= own->entry && b < own->entry + own->n_blocks) {
      add_links(l, c, &c->blocks[b]);
    }
  }
  SCT_GROW(l->slots, l->n_slots, l->cap_slots); /* of a kernel that only returns, too */
  drop_unwritten(l, c);
  return l;
}

void sct_ptx_links_free(ptx_links *l) {
  if (l != NULL) {
    sct_free(l->links);
    sct_free(l->stretches);
    sct_free(l->slots);
    sct_free(l);
  }
}

/* ---- a warp's chain */

void sct_ptx_chain_new(ptx_warp *w) {
  w->chain.ready = sct_alloc(sizeof *w->chain.ready * w->n_slots);
}

void sct_ptx_chain_begin(const ptx_exec *x, ptx_warp *w) {
  ptx_when *const ready = w->chain.ready;
  w->chain = (ptx_chain){.ready = ready};
  memset(ready, 0, sizeof *ready * x->code->bodies[0].n_slots);
}

void sct_ptx_chain_free(ptx_warp *w) {
  sct_free(w->chain.ready);
}

/* Was the sector at `address` loaded since another line took its place among the `n`? */
static bool find_sector(ptx_line *lines, uint64_t n, uint64_t address) {
  const uint64_t number = address / 128 + 1;
  const uint32_t sector = 1u << address / 32 % 4;
  ptx_line *const line = &lines[number % n];
  const bool found = line->number == number && (line->sectors & sector) != 0;
  *line = (ptx_line){number, (line->number == number ? line->sectors : 0) | sector};
  return found;
}

void sct_ptx_chain_load(ptx_exec *x, sct_ptx_buffer_counters *of, uint32_t inst, uint64_t address,
                        int64_t sectors) {
  const bool near = find_sector(x->warp->chain.line, PTX_NEAR_LINES, address);
  const bool again = find_sector(x->loaded, PTX_BLOCK_LINES, address);
  x->is_near[inst] = near;
  if (of != NULL) {
    of->near_sectors += near ? sectors : 0;
    of->again_sectors += again ? sectors : 0;
  }
}

/* A warp has so many loads under way, at most. */
static void hold_load(ptx_chain *c, ptx_when *start, ptx_when latency) {
  ptx_when *const before = &c->under_way[c->n_loads++ % PTX_LOADS_AT_ONCE];
  wait_for(start, *before);
  *before = after(*start, latency);
}

/* cp.async, and waits for all of its groups but the last ones. */
static void follow_groups(ptx_chain *c, const ptx_uop *u, ptx_when end) {
  if (u->fn == sct_ptx_op_cp_async) {
    wait_for(&c->copied[c->n_groups % PTX_COPY_GROUPS], end);
  } else if (u->fn == sct_ptx_op_cp_commit) {
    c->copied[++c->n_groups % PTX_COPY_GROUPS] = (ptx_when){0};
  } else {
    const uint32_t later = u->op != 0 ? 0 : (uint32_t)u->imm + 1;
    for (uint32_t k = later; k < PTX_COPY_GROUPS; k++) {
      wait_for(&c->now, c->copied[(c->n_groups - k) % PTX_COPY_GROUPS]);
    }
  }
}

/* All but arithmetic: when it starts, and, in *takes, after how long its result is there. */
static ptx_when follow_memory(ptx_exec *x, ptx_chain *c, const ptx_uop *u, const ptx_link *l,
                              ptx_when start, ptx_when *takes) {
  if ((l->does & LOADS_GLOBAL) != 0 && x->is_near[u->inst]) {
    *takes = NEAR_BY;
  } else if ((l->does & UNDER_WAY) != 0) {
    hold_load(c, &start, *takes);
  } else if ((l->does & LOADS_SHARED) != 0) {
    wait_for(&start, x->copied);
  }
  if ((l->does & WIDE_FENCE) != 0) {
    wait_for(&c->now, after(start, LOADS(2)));
  } else {
    wait_for((l->does & STORES) != 0 ? &c->stored : &c->last, start);
  }
  if ((l->does & COPY_GROUPS) != 0) {
    follow_groups(c, u, after(start, *takes));
  }
  if ((l->does & BULK_COPY) != 0) {
    wait_for(&x->copied, after(start, *takes));
  }
  return start;
}

static void step(ptx_exec *x, ptx_chain *c, int32_t k) {
  const ptx_link *const l = &x->launch->links->links[k];
  const uint32_t *slot = &x->launch->links->slots[l->slot], *const middle = slot + l->n_from;
  ptx_when start = c->now, takes = l->takes;
  for (; slot < middle; slot++) {
    wait_for(&start, c->ready[*slot]);
  }
  if (l->does == 0) {
    wait_for(&c->last, start);
  } else {
    start = follow_memory(x, c, &x->code->uops[k], l, start, &takes);
  }
  const ptx_when end = after(start, takes);
  for (const uint32_t *const stop = middle + l->n_to; slot < stop; slot++) {
    c->ready[*slot] = end;
  }
}

/* What comes next in the code may wait for the condition only. */
static void end_of_block(const ptx_exec *x, ptx_chain *c, const ptx_block *b,
                         const ptx_stretch *s) {
  if (s->may_unroll && ++c->n_iterations % UNROLLED != 0) {
    return;
  }
  if (s->waits) {
    wait_for(&c->now, c->last);
  }
  if (b->term == PTX_TERM_BARRIER) {
    wait_for(&c->now, c->stored);
  }
  if (b->term != PTX_TERM_FALL && is_own(x->code, s->guard)) {
    wait_for(&c->now, c->ready[s->guard]);
  }
}

void sct_ptx_chain_block(ptx_exec *x, ptx_warp *w, const ptx_block *b, bool in_kernel) {
  ptx_chain *const c = &w->chain;
  const ptx_stretch *const s = &x->launch->links->stretches[b - x->code->blocks];
  const ptx_when then = after(c->now, CYCLES(2 * s->issued));
  for (int32_t k = b->first; k < b->end && in_kernel; k++) {
    step(x, c, k);
  }
  wait_for(&c->now, then);
  if (in_kernel) {
    end_of_block(x, c, b, s);
  }
}

/* A barrier of warps: all go on when the last one has come. */
void sct_ptx_chain_meet(ptx_exec *x, ptx_warp_status status, int barrier) {
  ptx_when latest = {0};
  int n = 0;
  for (int pass = 0; pass < 2; pass++) {
    latest.half_cycles += pass * BARRIER(n);
    for (int i = 0; i < x->launch->n_warps; i++) {
      ptx_warp *const w = &x->warps[i];
      if (w->status == status && (barrier < 0 || w->barrier_id == barrier)) {
        n += pass == 0;
        wait_for(pass == 0 ? &latest : &w->chain.now, pass == 0 ? w->chain.now : latest);
      }
    }
  }
}

void sct_ptx_chain_end(ptx_exec *x) {
  ptx_when longest = {0};
  for (int i = 0; i < x->launch->n_warps; i++) {
    wait_for(&longest, x->warps[i].chain.now);
    wait_for(&longest, x->warps[i].chain.last);
    wait_for(&longest, x->warps[i].chain.stored);
  }
  const int64_t own = longest.half_cycles - LOAD * longest.loads - NEAR * longest.near;
  x->counters.chain.cycles += own / 2;
  x->counters.chain.loads += longest.loads;
  x->counters.chain.near += longest.near;
}
