/* Caches that the accesses of a launch run through, for estimated hit rates: an L1 an SM and one
 * L2, both of lines of four sectors, 16 ways, least recently used.
 *
 * Blocks leave a trace of the sectors that they touch. Those of a wave, as many as are resident at
 * once, are replayed together when all have run: block k on SM k modulo their number, a request of
 * each in turn. So the result does not depend on host threads. A GPU interleaves warps too, and
 * its SMs drift apart: that makes it an estimate. */
#include "ptx/exec/ptx_exec.h"

/* Sectors that a launch reads for itself (instructions, constants, parameters) and that L2 has. On
 * an H200 ncu counted hits that 5,750 to 8,200 of them explain, in launches of 40 to 1,024 blocks
 * of seven kernels; 15,000 to 19,000 in three of one more. */
#define LAUNCH_SECTORS 6000

#define WAYS          16
#define LINE_SECTORS  4
#define LINE_BYTES    128
#define FIRST         4 /* bit of a trace's word: a request begins */
#define OP            3 /* bits of the operation below the sector */
#define SECTOR_SHIFT  3
#define MOST_OF_BLOCK ((int64_t)64 << 20)  /* bytes of a block's trace; longer: nothing is known */
#define MOST_OF_WAVE  ((int64_t)256 << 20) /* what a wave aims at */
#define MOST_AT_ONCE  ((int64_t)512 << 20) /* of a wave whose blocks differ; more: as above */
#define HASH          0x9e3779b97f4a7c15u

typedef enum op { LOAD, STORE, PAST_L1, ATOMIC } op;

/* ---- traces ---- */

static void put(ptx_trace *t, uint64_t sector, op what, bool first) {
  if (t->n * (int64_t)sizeof(*t->words) >= MOST_OF_BLOCK) {
    t->cut = true;
    return;
  }
  SCT_GROW(t->words, t->n, t->cap);
  t->words[t->n++] = sector << SECTOR_SHIFT | (first ? FIRST : 0) | what;
}

void sct_ptx_trace_access(ptx_trace *t, const ptx_access *acc) {
  const op what = acc->dir == PTX_ATOMIC  ? ATOMIC
                  : acc->dir == PTX_WRITE ? STORE
                  : acc->uncached         ? PAST_L1
                                          : LOAD;
  uint64_t address[PTX_LANES], seen[PTX_LANES];
  const int n = sct_ptx_addresses_of(address, acc, acc->mask);
  int n_seen = 0;
  for (int k = 0; k < n; k++) {
    const uint64_t sector = address[k] / 32;
    int e = n_seen - 1; /* almost always the last one, or a new one */
    while (e >= 0 && seen[e] != sector) {
      e--;
    }
    if (e < 0) {
      put(t, sector, what, n_seen == 0);
      seen[n_seen++] = sector;
    }
  }
}

void sct_ptx_trace_bulk(ptx_trace *t, uint64_t address, int64_t bytes, bool load) {
  const uint64_t last = (address + (uint64_t)bytes - 1) / 32;
  for (uint64_t s = address / 32; s <= last; s++) {
    put(t, s, load ? PAST_L1 : STORE, s == address / 32);
  }
}

/* ---- caches ---- */

typedef struct line {
  uint64_t tag; /* the line's number + 1; 0: none */
  uint32_t used;
  uint8_t valid, dirty; /* bits of sectors */
} line;

typedef struct cache {
  line *lines;
  uint64_t n_sets;
  uint32_t clock;
} cache;

struct ptx_caches {
  sct_ptx_traffic traffic;
  cache l2, *l1; /* [n_sms] */
  int n_sms;
  int64_t resident;
  int64_t words; /* of the current wave's traces */
};

static void cache_init(cache *c, int64_t bytes) {
  const int64_t sets = bytes / (WAYS * LINE_BYTES);
  c->n_sets = (uint64_t)(sets > 1 ? sets : 1);
  c->lines = sct_alloc(sizeof(*c->lines) * WAYS * (size_t)c->n_sets);
}

/* The line of a sector, made room for; `written` counts the sectors that its victim gives back. */
static line *find(cache *c, uint64_t sector, int64_t *written) {
  const uint64_t tag = sector / LINE_SECTORS + 1;
  line *const set = &c->lines[WAYS * ((tag * HASH >> 20) % c->n_sets)];
  line *oldest = set;
  c->clock++;
  for (int w = 0; w < WAYS; w++) {
    if (set[w].tag == tag) {
      set[w].used = c->clock;
      return &set[w];
    }
    oldest = set[w].used < oldest->used ? &set[w] : oldest;
  }
  *written += __builtin_popcount(oldest->dirty);
  *oldest = (line){.tag = tag, .used = c->clock};
  return oldest;
}

/* Looks the sector up and keeps it; was it there? */
static bool look(cache *c, uint64_t sector, bool writes, int64_t *written) {
  line *const l = find(c, sector, written);
  const uint8_t bit = (uint8_t)(1u << sector % LINE_SECTORS);
  const bool there = (l->valid & bit) != 0;
  l->valid |= bit;
  l->dirty |= writes ? bit : 0;
  return there;
}

/* Stores go through L1, which keeps them, to L2, where they need nothing of DRAM. */
static void access(ptx_caches *c, cache *l1, uint64_t word) {
  const op what = word & OP;
  const uint64_t sector = word >> SECTOR_SHIFT;
  sct_ptx_traffic *const t = &c->traffic;
  int64_t none = 0;
  if ((what == LOAD || what == STORE) && l1->n_sets > 0) {
    const bool there = look(l1, sector, false, &none);
    t->l1_sectors++;
    t->l1_hits += there;
    if (what == LOAD && there) {
      return;
    }
  }
  const bool there = look(&c->l2, sector, what == STORE || what == ATOMIC, &t->dram_written);
  t->l2_reads += what != STORE;
  t->l2_writes += what == STORE;
  t->l2_hits += what == STORE || there;
  t->dram_read += what != STORE && !there;
}

/* ---- waves ---- */

void sct_ptx_caches_new(ptx_caches **out, const sct_ptx_cache_sizes *sizes) {
  ptx_caches *const c = *out = sct_alloc(sizeof(*c));
  c->n_sms = sizes->n_sms > 0 ? sizes->n_sms : 1;
  c->resident = (int64_t)c->n_sms * (sizes->blocks_sm > 0 ? sizes->blocks_sm : 1);
  c->l1 = sct_alloc(sizeof(*c->l1) * (size_t)c->n_sms);
  c->traffic.known = true;
  cache_init(&c->l2, sizes->l2_bytes);
  for (int k = 0; k < c->n_sms; k++) {
    if (sizes->l1_bytes > 0) { /* else loads are cached in L2 only */
      cache_init(&c->l1[k], sizes->l1_bytes);
    }
  }
}

static void drop(ptx_trace *t) {
  sct_free(t->words);
  *t = (ptx_trace){0};
}

void sct_ptx_caches_move_trace(ptx_caches *c, ptx_trace *traces, int64_t n, ptx_trace *to,
                               ptx_trace *from) {
  *to = *from;
  *from = (ptx_trace){0};
  if (!c->traffic.known) {
    drop(to);
    return;
  }
  c->words += (int64_t)to->n;
  c->traffic.known = !to->cut && c->words * (int64_t)sizeof(*to->words) <= MOST_AT_ONCE;
  for (int64_t k = 0; k < n && !c->traffic.known; k++) {
    drop(&traces[k]);
  }
}

int64_t sct_ptx_caches_wave(const ptx_caches *c, const ptx_trace *traces, int64_t n) {
  size_t longest = 0;
  for (int64_t k = 0; k < n; k++) {
    longest = traces[k].n > longest ? traces[k].n : longest;
  }
  const int64_t bytes = (int64_t)((longest + 1) * sizeof(*traces->words));
  const int64_t most = MOST_OF_WAVE / bytes;
  return most < 1 ? 1 : most < c->resident ? most : c->resident;
}

/* One request; false: the trace is at its end. */
static bool step(ptx_caches *c, cache *l1, ptx_trace *t) {
  if (t->at == t->n) {
    return false;
  }
  do {
    access(c, l1, t->words[t->at++]);
  } while (t->at < t->n && (t->words[t->at] & FIRST) == 0);
  return true;
}

void sct_ptx_caches_replay(ptx_caches *c, ptx_trace *traces, int64_t n) {
  for (bool more = true; more;) {
    more = false;
    for (int64_t k = 0; k < n; k++) {
      more |= step(c, &c->l1[k % c->n_sms], &traces[k]);
    }
  }
  for (int64_t k = 0; k < n; k++) {
    drop(&traces[k]);
  }
  c->words = 0;
}

sct_ptx_traffic sct_ptx_caches_free(ptx_caches *c) {
  sct_ptx_traffic t = c->traffic;
  for (uint64_t k = 0; k < WAYS * c->l2.n_sets; k++) {
    t.dram_written += __builtin_popcount(c->l2.lines[k].dirty);
  }
  for (int k = 0; k < c->n_sms; k++) {
    sct_free(c->l1[k].lines);
  }
  sct_free(c->l1);
  sct_free(c->l2.lines);
  sct_free(c);
  return t;
}

double sct_ptx_l2_hit_rate(const sct_ptx_traffic *t) {
  return (double)(t->l2_hits + LAUNCH_SECTORS) /
         (double)(t->l2_reads + t->l2_writes + LAUNCH_SECTORS);
}
