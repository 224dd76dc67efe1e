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

static int64_t nominal(ptx_when t) {
  return t.cycles + LOAD * (int64_t)t.loads + NEAR * (int64_t)t.near;
}

static void wait_for(ptx_when *t, ptx_when other) {
  if (nominal(other) > nominal(*t)) {
    *t = other;
  }
}

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

/* One that is wider than a block, if there is any: what was stored has to reach L2. */
static bool is_wide_fence(const ptx_exec *x, const ptx_uop *u) {
  return u->fn == sct_ptx_op_fence && u->sync != 0 && x->code->orders_blocks;
}

static bool writes_several(const ptx_uop *u, uint8_t kind) {
  return kind == PTX_INST_LOAD || (kind == PTX_INST_ATOMIC && u->e != 0) ||
         u->fn == sct_ptx_op_mov_unpair;
}

static bool reads_several(const ptx_uop *u, uint8_t kind) {
  return kind == PTX_INST_STORE || kind == PTX_INST_ATOMIC || u->fn == sct_ptx_op_mov_pair;
}

/* After how long the result of `u` is there. */
static ptx_when latency(const ptx_exec *x, const ptx_uop *u, const ptx_origin *o) {
  const bool near_by = u->space == PTX_SPACE_SHARED || u->space == PTX_SPACE_LOCAL;
  switch ((ptx_inst_kind)o->kind) {
  case PTX_INST_LOAD:
    if (u->space == PTX_SPACE_PARAM) {
      return (ptx_when){0};
    }
    return near_by || u->space == PTX_SPACE_CONST ? (ptx_when){.cycles = SHARED}
           : x->is_near[u->inst]                  ? (ptx_when){.near = 1}
                                                  : (ptx_when){.loads = 1};
  case PTX_INST_ATOMIC:
    return near_by ? (ptx_when){.cycles = 2 * SHARED} : (ptx_when){.loads = 1};
  case PTX_INST_ASYNC:
  case PTX_INST_BULK_LOAD:
    return (ptx_when){.loads = 1};
  case PTX_INST_SHUFFLE:
    return (ptx_when){.cycles = SHARED};
  default:
    break;
  }
  const uint8_t *c = o->cost;
  const int others = c[SCT_PIPE_ISSUE] - c[SCT_PIPE_FP64] - c[SCT_PIPE_SFU];
  return (ptx_when){.cycles = ALU * others + FP64 * c[SCT_PIPE_FP64] + SFU * c[SCT_PIPE_SFU]};
}

static ptx_when after(ptx_when t, ptx_when more) {
  return (ptx_when){t.cycles + more.cycles, t.loads + more.loads, t.near + more.near};
}

/* When the operands of `u` are there, none before `now`. */
static ptx_when start_of(const ptx_exec *x, const ptx_when *ready, const ptx_uop *u, uint8_t kind,
                         ptx_when now) {
  const uint32_t n_slots = x->code->bodies[0].n_slots;
  const uint32_t from[] = {u->a, u->b, u->c, u->e, u->guard};
  for (int k = 0; k < SCT_COUNT(from); k++) {
    if (from[k] < n_slots) {
      wait_for(&now, ready[from[k]]);
    }
  }
  for (uint32_t k = 0; reads_several(u, kind) && k < u->n; k++) {
    wait_for(&now, ready[x->code->vec[u->vec + k]]);
  }
  return now;
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
  } else if (u->fn == sct_ptx_op_cp_wait) {
    const uint32_t later = u->op != 0 ? 0 : (uint32_t)u->imm + 1;
    for (uint32_t k = later; k < PTX_COPY_GROUPS; k++) {
      wait_for(&c->now, c->copied[(c->n_groups - k) % PTX_COPY_GROUPS]);
    }
  }
}

static void step(ptx_exec *x, ptx_chain *c, const ptx_uop *u) {
  const ptx_origin *o = &x->code->insts[u->inst];
  const ptx_when takes = latency(x, u, o);
  ptx_when start = start_of(x, c->ready, u, o->kind, c->now);
  if (o->kind == PTX_INST_LOAD && u->space == PTX_SPACE_SHARED) {
    wait_for(&start, x->copied);
  } else if (takes.loads > 0) {
    hold_load(c, &start, takes);
  }
  const ptx_when end = after(start, takes);
  if (is_wide_fence(x, u)) {
    wait_for(&c->now, after(start, (ptx_when){.loads = 2}));
  } else {
    wait_for(o->kind == PTX_INST_STORE ? &c->stored : &c->last, start);
  }
  follow_groups(c, u, end);
  if (o->kind == PTX_INST_BULK_LOAD) {
    wait_for(&x->copied, end);
  } else if (writes_several(u, o->kind)) {
    for (uint32_t k = 0; k < u->n; k++) {
      c->ready[x->code->vec[u->vec + k]] = end;
    }
  } else if (o->kind != PTX_INST_STORE && u->d > PTX_SLOT_TRUE &&
             u->d < x->code->bodies[0].n_slots) {
    c->ready[u->d] = end;
  }
}

static bool are_few(const ptx_exec *x, int32_t from, int32_t to, int most) {
  int n = 0;
  for (int32_t i = from; i < to && n <= most; i++) {
    n += x->code->insts[i].cost[SCT_PIPE_ISSUE];
  }
  return n <= most;
}

/* Do compilers make the branch at its end a guard of what it skips? One that leaves a loop whose
 * iterations stand one after the other skips others like it, and stays a branch. */
static bool is_guard(const ptx_exec *x, const ptx_block *b) {
  const ptx_block *const to = &x->code->blocks[b->target];
  bool straight = to > b;
  for (const ptx_block *k = b + 1; straight && k < to; k++) {
    straight = k->term != PTX_TERM_BRANCH || k->target < b->target;
  }
  return straight && are_few(x, b[1].first_inst, to->first_inst, MOST_GUARDED);
}

static bool is_arithmetic(const ptx_exec *x, int32_t from, int32_t to) {
  while (from < to && (x->code->insts[from].kind == PTX_INST_OTHER ||
                       x->code->insts[from].kind == PTX_INST_BRANCH)) {
    from++;
  }
  return from == to;
}

/* Does the branch at its end go back inside an unrolled loop? */
static bool is_unrolled(const ptx_exec *x, ptx_chain *c, const ptx_block *b) {
  const int32_t from = x->code->blocks[b->target].first_inst, to = b->first_inst + b->n_insts;
  return from < to && are_few(x, from, to, MOST_UNROLLED) && is_arithmetic(x, from, to) &&
         ++c->n_iterations % UNROLLED != 0;
}

/* What comes next in the code may wait for the condition only. */
static void end_of_block(const ptx_exec *x, ptx_chain *c, const ptx_block *b) {
  if (b->term == PTX_TERM_BRANCH && is_unrolled(x, c, b)) {
    return;
  }
  if (b->term == PTX_TERM_BARRIER || b->term == PTX_TERM_CALL || b->term == PTX_TERM_TABLE ||
      (b->term == PTX_TERM_BRANCH && !is_guard(x, b))) {
    wait_for(&c->now, c->last);
  }
  if (b->term == PTX_TERM_BARRIER) {
    wait_for(&c->now, c->stored);
  }
  if (b->term != PTX_TERM_FALL) {
    const uint32_t guard = x->code->uops[b->end].guard;
    wait_for(&c->now, guard < x->code->bodies[0].n_slots ? c->ready[guard] : c->now);
  }
}

void sct_ptx_chain_block(ptx_exec *x, ptx_warp *w, const ptx_block *b, bool in_kernel) {
  ptx_chain *const c = &w->chain;
  int issued = 0;
  for (int32_t i = b->first_inst; i < b->first_inst + b->n_insts; i++) {
    issued += x->code->insts[i].cost[SCT_PIPE_ISSUE];
  }
  const ptx_when then = after(c->now, (ptx_when){.cycles = 2 * issued});
  for (int32_t k = b->first; k < b->end && in_kernel; k++) {
    step(x, c, &x->code->uops[k]);
  }
  wait_for(&c->now, then);
  if (in_kernel) {
    end_of_block(x, c, b);
  }
}

/* A barrier of warps: all go on when the last one has come. */
void sct_ptx_chain_meet(ptx_exec *x, ptx_warp_status status, int barrier) {
  ptx_when latest = {0};
  int n = 0;
  for (int pass = 0; pass < 2; pass++) {
    latest.cycles += pass * BARRIER(n);
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
  x->counters.chain.cycles += longest.cycles / 2;
  x->counters.chain.loads += longest.loads;
  x->counters.chain.near += longest.near;
  wait_for(&x->longest, longest);
}
