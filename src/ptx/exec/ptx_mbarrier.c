/* mbarriers: phases that end when all arrivals and all bytes are there (PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier").
 *
 * The object is the 8 bytes in shared memory: parity of the phase, expected and pending arrivals,
 * bytes still to come. A copy of them beside it (ptx_mbar) tells when something else has written
 * there, and keeps what the bytes have no room for: how many phases there were, and who comes
 * behind whom. A warp whose wait fails hands over; when all that could run do nothing but wait and
 * no mbarrier changes any more, that is a deadlock. */
#include "ptx/exec/ptx_exec.h"

#include <stdarg.h>

#define COUNT_BITS 20
#define MAX_COUNT  ((1 << COUNT_BITS) - 1) /* of arrivals and of bytes, by the ISA */
#define MAGIC      UINT64_C(2)             /* no object is all zeros or all ones */
#define IDLE_TRIES 1000 /* failed waits in a row, of every warp, before it counts as a deadlock */
#define IDLE_STEPS 64   /* instructions between two of them */

/* What the 8 bytes say. */
typedef struct state {
  unsigned parity;
  int32_t expected, pending;
  int32_t tx; /* bytes expected and not there; negative: they came before */
} state;

static uint64_t encode(const state *s) {
  return (uint64_t)s->parity << 63 | MAGIC << 61 | (uint64_t)s->expected << 41 |
         (uint64_t)s->pending << 21 | (uint64_t)(s->tx + MAX_COUNT);
}

static state decode(uint64_t bits) {
  return (state){.parity = (unsigned)(bits >> 63),
                 .expected = (int32_t)(bits >> 41 & MAX_COUNT),
                 .pending = (int32_t)(bits >> 21 & MAX_COUNT),
                 .tx = (int32_t)(bits & (2 * MAX_COUNT + 1)) - MAX_COUNT};
}

static int number_of(const ptx_exec *x, const ptx_mbar *b) {
  return (int)(b - x->mbars);
}

/* "'full' + 8" */
static const char *place(const ptx_exec *x, int64_t address, char *out, size_t size) {
  snprintf(out, size, "shared address %lld", (long long)address);
  for (int i = 0; i < x->n_ranges; i++) {
    const ptx_range *r = &x->ranges[i];
    if (address >= r->lo && address < r->hi) {
      snprintf(out, size, "'%.*s' + %lld", r->sym->name.len, r->sym->name.p,
               (long long)(address - r->lo));
    }
  }
  return out;
}

/* Reports what is wrong with the mbarrier at an address; false. */
SCT_PRINTF(5, 6)
static bool misuse(ptx_exec *x, const ptx_uop *u, int lane, int64_t address, const char *fmt, ...) {
  char at[128], why[160];
  va_list args;
  va_start(args, fmt);
  vsnprintf(why, sizeof why, fmt, args);
  va_end(args);
  return sct_ptx_fault(x, u, SCT_PTX_MBARRIER, lane, (uint64_t)address, "the mbarrier at %s %s",
                       place(x, address, at, sizeof at), why);
}

/* ---- finding the object */

/* Its 8 bytes, in bounds and aligned, free of races; false: fault. */
static bool own_bytes(ptx_exec *x, const ptx_uop *u, int lane, uint64_t *address, bool generic,
                      ptx_dir dir) {
  ptx_access acc = {.mask = 1u << lane, .width = 8, .dir = dir};
  if (generic && *address >> PTX_WINDOW_SHIFT != PTX_WINDOW_SHARED) {
    return sct_ptx_fault(x, u, SCT_PTX_MBARRIER, lane, *address,
                         "an mbarrier at 0x%llx, which is not in shared memory",
                         (unsigned long long)*address);
  }
  *address -= generic ? PTX_WINDOW(PTX_WINDOW_SHARED) : 0;
  acc.addr[lane] = *address;
  const ptx_part part = sct_ptx_part_shared(x, u, &acc, acc.mask);
  return part.mask != 0 && (!x->launch->races || sct_ptx_race(x, u, &acc, &part, acc.mask));
}

static ptx_mbar *find(const ptx_exec *x, int64_t address) {
  for (size_t k = 0; k < x->n_mbars; k++) {
    if (x->mbars[k].address == address) {
      return &x->mbars[k];
    }
  }
  return NULL;
}

ptx_mbar *sct_ptx_mbar_at(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address, bool generic) {
  if (!own_bytes(x, u, lane, &address, generic, PTX_READ)) {
    return NULL;
  }
  ptx_mbar *b = find(x, (int64_t)address);
  if (b == NULL || !b->live) {
    misuse(x, u, lane, (int64_t)address, "is used %s",
           b == NULL ? "before mbarrier.init" : "after mbarrier.inval");
    return NULL;
  }
  if (memcmp(x->shared + address, &b->bits, 8) != 0) {
    misuse(x, u, lane, (int64_t)address, "has been overwritten by a plain store or copy");
    return NULL;
  }
  return b;
}

static bool is_generic(const ptx_uop *u) {
  return u->space == PTX_SPACE_NONE;
}

static void put(ptx_exec *x, ptx_mbar *b, state s) {
  if (s.pending == 0 && s.tx == 0) { /* the phase ends */
    s.parity ^= 1;
    s.pending = s.expected;
    b->phase++;
    b->done = ++x->epoch;
    sct_ptx_clock_join(&b->ended, &b->arriving);
    b->ended.known[b->who] = b->done;
  }
  b->bits = encode(&s);
  memcpy(x->shared + b->address, &b->bits, 8);
  x->events++;
}

/* ---- operands */

/* Whether the second operand is set in `lane`; false: fault. */
static bool is_set(ptx_exec *x, const ptx_uop *u, int lane, const char *what) {
  if (x->state[u->b] >> lane & 1) {
    return sct_ptx_fault(x, u, SCT_PTX_UNDEFINED_BRANCH, lane, 0, "the mbarrier's %s was never set",
                         what);
  }
  return true;
}

static bool count_of(ptx_exec *x, const ptx_uop *u, int lane, int least, const char *what,
                     int32_t *out) {
  const uint32_t v = ptx_r32(x, u->b)[lane];
  if (!is_set(x, u, lane, what)) {
    return false;
  }
  if (v < (uint32_t)least || v > MAX_COUNT) {
    return sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, 0,
                         "the mbarrier's %s is %u, not %d to %d", what, v, least, MAX_COUNT);
  }
  *out = (int32_t)v;
  return true;
}

/* Whose lanes run, one after the other; a fault in one ends it. */
typedef bool (*lane_fn)(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address);

static void each_lane(ptx_exec *x, const ptx_uop *u, lane_fn fn) {
  ptx_access acc;
  acc.dir = PTX_READ;
  if (!sct_ptx_addresses(x, u, &acc)) {
    return;
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    if (!fn(x, u, i, acc.addr[i])) {
      return;
    }
  }
}

#define EACH_LANE(name, fn)                                                                        \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    each_lane(x, u, fn);                                                                           \
  }

/* ---- init, inval */

static bool init(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  state s = {0};
  if (!count_of(x, u, lane, 1, "count", &s.expected) ||
      !own_bytes(x, u, lane, &address, is_generic(u), PTX_WRITE)) {
    return false;
  }
  ptx_mbar *b = find(x, (int64_t)address);
  if (b != NULL && b->live && memcmp(x->shared + address, &b->bits, 8) == 0) {
    return misuse(x, u, lane, (int64_t)address, "is initialised again without mbarrier.inval");
  }
  if (b == NULL) {
    SCT_GROW(x->mbars, x->n_mbars, x->cap_mbars);
    b = &x->mbars[x->n_mbars];
    *b = (ptx_mbar){.address = (int64_t)address,
                    .who = (uint8_t)(PTX_WHO_COPY + x->n_mbars % (PTX_N_WHO - PTX_WHO_COPY))};
    x->n_mbars++;
  }
  s.pending = s.expected;
  b->live = true;
  b->phase += b->phase & 1; /* begins with parity 0 */
  b->bits = encode(&s);
  memcpy(x->shared + address, &b->bits, 8);
  memset(x->shared_defined + address, 0xff, 8);
  x->events++;
  return true;
}

static bool inval(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  ptx_mbar *b = sct_ptx_mbar_at(x, u, lane, address, is_generic(u));
  if (b == NULL || !own_bytes(x, u, lane, &address, is_generic(u), PTX_WRITE)) {
    return false;
  }
  b->live = false;
  memset(x->shared_defined + b->address, x->launch->definedness ? 0 : 0xff, 8);
  x->events++;
  return true;
}

EACH_LANE(mbarrier_init, init)
EACH_LANE(mbarrier_inval, inval)

/* ---- bytes and arrivals */

static bool add_tx(ptx_exec *x, const ptx_uop *u, int lane, const ptx_mbar *b, state *s,
                   int64_t bytes) {
  const int64_t tx = s->tx + bytes;
  if (tx > MAX_COUNT || tx < -MAX_COUNT) {
    return misuse(x, u, lane, b->address, "would wait for %lld bytes: its limit is %d",
                  (long long)tx, MAX_COUNT);
  }
  s->tx = (int32_t)tx;
  return true;
}

bool sct_ptx_mbar_complete(ptx_exec *x, const ptx_uop *u, int lane, ptx_mbar *b, int64_t bytes) {
  state s = decode(b->bits);
  if (!add_tx(x, u, lane, b, &s, -bytes)) {
    return false;
  }
  if (s.pending == 0 && s.tx < 0) {
    return misuse(x, u, lane, b->address,
                  "gets %d bytes more than phase %u expects: expect_tx says too little", -s.tx,
                  b->phase);
  }
  put(x, b, s);
  return true;
}

static bool expect(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  ptx_mbar *b = sct_ptx_mbar_at(x, u, lane, address, is_generic(u));
  int32_t bytes = 0;
  if (b == NULL || !count_of(x, u, lane, 0, "byte count", &bytes)) {
    return false;
  }
  state s = decode(b->bits);
  if (!add_tx(x, u, lane, b, &s, bytes)) {
    return false;
  }
  put(x, b, s);
  return true;
}

static bool complete(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  ptx_mbar *b = sct_ptx_mbar_at(x, u, lane, address, is_generic(u));
  int32_t bytes = 0;
  return b != NULL && count_of(x, u, lane, 0, "byte count", &bytes) &&
         sct_ptx_mbar_complete(x, u, lane, b, bytes);
}

EACH_LANE(mbarrier_expect, expect)
EACH_LANE(mbarrier_complete, complete)

/* What arrive gives and test_wait takes, opaque to the kernel: which mbarrier, how many phases were
 * over, how many arrivals were pending. */
static uint64_t token(const ptx_exec *x, const ptx_mbar *b, int32_t pending) {
  return (uint64_t)number_of(x, b) << 52 | (uint64_t)b->phase << COUNT_BITS | (uint32_t)pending;
}

/* What the warp has done before comes before whatever waits for this phase: noted once for all its
 * lanes, since every arrival begins a stamp. */
static void release(ptx_exec *x, ptx_mbar *b) {
  const ptx_warp *w = x->warp;
  if (b->arriving.known[w->index] != w->stamp) {
    sct_ptx_clock_join(&b->arriving, &w->clock);
    b->arriving.known[w->index] = w->stamp;
  }
}

static bool arrive(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  ptx_mbar *b = sct_ptx_mbar_at(x, u, lane, address, is_generic(u));
  int32_t n = 1, bytes = 0;
  const bool expects = (u->flags & PTX_MBAR_EXPECT_TX) != 0;
  if (b == NULL || !(expects ? count_of(x, u, lane, 0, "byte count", &bytes)
                             : count_of(x, u, lane, 1, "arrival count", &n))) {
    return false;
  }
  state s = decode(b->bits);
  if (n > s.pending) {
    return misuse(x, u, lane, b->address, "gets %d arrivals in phase %u, which waits for %d more",
                  n, b->phase, s.pending);
  }
  if (!add_tx(x, u, lane, b, &s, bytes)) {
    return false;
  }
  if ((u->flags & PTX_MBAR_NO_COMPLETE) != 0 && n == s.pending && s.tx == 0) {
    return misuse(x, u, lane, b->address, "ends phase %u by an arrival with .noComplete", b->phase);
  }
  ptx_r64(x, u->d)[lane] = token(x, b, s.pending);
  release(x, b);
  s.pending -= n;
  s.expected -= (u->flags & PTX_MBAR_DROP) != 0 ? n : 0;
  put(x, b, s);
  return true;
}

void sct_ptx_op_mbarrier_arrive(ptx_exec *x, const ptx_uop *u) {
  each_lane(x, u, arrive);
  x->state[u->d] &= ~x->mask;
  x->warp->stamp = ++x->epoch;
}

void sct_ptx_op_mbarrier_pending(ptx_exec *x, const ptx_uop *u) {
  uint32_t t[PTX_LANES];
  for (int i = 0; i < PTX_LANES; i++) {
    t[i] = (uint32_t)ptx_r64(x, u->a)[i] & MAX_COUNT;
  }
  ptx_put32(x, u, t);
}

/* cp.async.mbarrier.arrive: the earlier copies of the thread belong to the current phase; without
 * .noinc the arrival is one more than the phase waits for, so nothing changes. */
static bool copies_arrive(ptx_exec *x, const ptx_uop *u, int lane, uint64_t address) {
  ptx_mbar *b = sct_ptx_mbar_at(x, u, lane, address, is_generic(u));
  ptx_warp *w = x->warp;
  if (b == NULL) {
    return false;
  }
  state s = decode(b->bits);
  const bool noinc = (u->flags & PTX_MBAR_NO_COMPLETE) != 0;
  if (noinc && s.pending == 0) {
    return misuse(x, u, lane, b->address, "gets an arrival in phase %u, which waits for none",
                  b->phase);
  }
  for (size_t k = 0; k < w->n_asyncs; k++) {
    ptx_async *a = &w->asyncs[k];
    if (a->lane == lane && a->mbar < 0) {
      a->mbar = number_of(x, b);
      a->phase = b->phase;
    }
  }
  release(x, b);
  s.pending -= noinc;
  put(x, b, s);
  return true;
}

void sct_ptx_op_cp_mbarrier_arrive(ptx_exec *x, const ptx_uop *u) {
  each_lane(x, u, copies_arrive);
  x->warp->stamp = ++x->epoch;
}

/* ---- waits */

/* Whether the phase that the operand means is over; false: fault. */
static bool is_over(ptx_exec *x, const ptx_uop *u, int lane, const ptx_mbar *b, bool *out) {
  const bool by_parity = u->flags == PTX_MBAR_PARITY;
  if (!is_set(x, u, lane, by_parity ? "parity" : "state")) {
    return false;
  }
  if (by_parity) {
    const uint32_t parity = ptx_r32(x, u->b)[lane];
    *out = parity != (b->phase & 1);
    return parity <= 1 ||
           sct_ptx_fault(x, u, SCT_PTX_BAD_OPERAND, lane, 0, "the parity of a phase is %u", parity);
  }
  const uint64_t v = ptx_r64(x, u->b)[lane];
  const uint32_t phase = (uint32_t)(v >> COUNT_BITS);
  if ((int)(v >> 52) != number_of(x, b) || phase > b->phase) {
    return misuse(x, u, lane, b->address, "is waited for with a state that it never gave");
  }
  if (phase + 1 < b->phase) {
    return misuse(x, u, lane, b->address,
                  "is waited for with the state of phase %u, but phase %u is on", phase, b->phase);
  }
  *out = phase < b->phase;
  return true;
}

/* A wait that has succeeded: the warp comes after all arrivals, and the copies are there. */
static void acquire(ptx_exec *x, const ptx_mbar *b) {
  ptx_warp *w = x->warp;
  w->acquired = ++x->epoch;
  ptx_sync_lanes(x, w);
  sct_ptx_clock_join(&w->clock, &b->ended);
  sct_ptx_bulk_deliver(x, number_of(x, b));
}

static void note_idle(ptx_exec *x, const ptx_uop *u, int lane, int mbar) {
  ptx_idle *w = &x->warp->idle;
  const bool again = w->by != NULL && w->events == x->events;
  *w = (ptx_idle){.tries = again ? w->tries + 1 : 1,
                  .events = x->events,
                  .steps = x->warp->steps,
                  .by = u,
                  .lane = lane,
                  .mbar = mbar};
  x->yield = x->waits = true;
}

void sct_ptx_op_mbarrier_wait(ptx_exec *x, const ptx_uop *u) {
  ptx_access acc;
  const ptx_mbar *last = NULL;
  uint32_t over = 0;
  int failed = 0; /* mbarrier of the first lane whose wait fails */
  const ptx_uop put_over = {.d = u->d};
  acc.dir = PTX_READ;
  if (!sct_ptx_addresses(x, u, &acc)) {
    return;
  }
  if (x->warp->steps - x->warp->idle.steps > IDLE_STEPS) {
    x->warp->idle.by = NULL; /* it did something else */
  }
  for (uint32_t m = x->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    const ptx_mbar *b = sct_ptx_mbar_at(x, u, i, acc.addr[i], is_generic(u));
    bool yes = false;
    if (b == NULL || !is_over(x, u, i, b, &yes) ||
        (!yes && !(sct_ptx_bulk_finish(x, number_of(x, b)) && is_over(x, u, i, b, &yes)))) {
      return;
    }
    if (yes && b != last) {
      acquire(x, b);
      last = b;
    }
    failed = !yes && over == (x->mask & ((1u << i) - 1)) ? number_of(x, b) : failed;
    over |= (uint32_t)yes << i;
  }
  ptx_put_pred(x, &put_over, over);
  if (over == x->mask) {
    x->warp->idle.by = NULL;
  } else {
    note_idle(x, u, ptx_first_lane(x->mask & ~over), failed);
  }
}

/* ---- a phase that cannot complete */

bool sct_ptx_mbar_all_idle(const ptx_exec *x) {
  bool any = false;
  for (int i = 0; i < x->launch->n_warps; i++) {
    const ptx_warp *w = &x->warps[i];
    if (w->status != PTX_WARP_READY) {
      continue;
    }
    if (w->idle.by == NULL || w->idle.tries < IDLE_TRIES || w->idle.events != x->events ||
        w->steps - w->idle.steps > IDLE_STEPS) {
      return false;
    }
    any = true;
  }
  return any;
}

void sct_ptx_mbar_fault_stuck(ptx_exec *x) {
  char at[128], why[160];
  int k = 0;
  if (x->has_soft) { /* the diagnosis of a warp that has stopped stands */
    return;
  }
  while (x->warps[k].status != PTX_WARP_READY) {
    k++;
  }
  const ptx_idle *w = &x->warps[k].idle;
  const ptx_mbar *b = &x->mbars[w->mbar];
  const state s = decode(b->bits);
  if (s.pending > 0) {
    snprintf(why, sizeof why, "%d of its %d arrivals never come", s.pending, s.expected);
  } else {
    snprintf(why, sizeof why, "%d bytes that it expects never come", s.tx);
  }
  if (s.pending > 0 && s.tx != 0) {
    const size_t n = strlen(why);
    snprintf(why + n, sizeof why - n, "; bytes to come: %d", s.tx);
  }
  x->warp = &x->warps[k];
  sct_ptx_fault(x, w->by, SCT_PTX_DEADLOCK, w->lane, (uint64_t)b->address,
                "waits for the mbarrier at %s, as all others wait: phase %u does not end, %s",
                place(x, b->address, at, sizeof at), b->phase, why);
}
