/* Counting rules of older devices, as models: no toolkit that writes the PTX this module reads
 * compiles for them, so they tell what the same address streams would have cost there. From the
 * CUDA C Programming Guide 4.2, appendix F ("Compute Capability 1.x", "2.x"), and for CC 3.x to
 * 6.x from the vendor's description of its L1 (tag_lanes).
 *
 * A row tells into which requests a warp access is split, and what one request costs. */
#include "ptx/exec/ptx_exec.h"

typedef struct cost {
  int64_t transactions, bytes;
} cost;

/* Cost of the lanes of `mask`, all of one request that begins at lane `first`. */
typedef cost (*cost_fn)(const ptx_access *acc, uint32_t mask, int first, int segment);
typedef int (*wavefronts_fn)(const ptx_access *acc, uint32_t mask);

typedef uint8_t by_width[SCT_PTX_N_WIDTHS]; /* of a lane: 1, 2, 4, 8, 16, 32 bytes */

struct ptx_rules {
  by_width lanes;       /* of a request */
  by_width load, store; /* bytes of a segment, the largest transaction */
  uint8_t uncached;     /* of a load that passes by L1; 0: as cached */
  by_width tag_lanes;   /* lanes whose lines are looked up together */
  cost_fn cost;
  by_width shared_lanes;    /* of a request to shared memory */
  wavefronts_fn wavefronts; /* of such a request; NULL: as on CC 7.0 */
  bool shared_words;        /* wider lanes are taken apart into 4-byte requests */
};

#define SAME(n)                                                                                    \
  { n, n, n, n, n, n }

/* ---- global memory */

static cost in_segments(const ptx_access *acc, uint32_t mask, int first, int segment) {
  uint64_t at[PTX_LANES];
  const int n = sct_ptx_addresses_of(at, acc, mask);
  (void)first;
  for (int k = 0; k < n; k++) {
    at[k] /= (uint64_t)segment;
  }
  const int64_t distinct = sct_ptx_distinct(at, n);
  return (cost){distinct, distinct * segment};
}

/* CC 1.0: lane k of the half warp takes word k after an aligned address; else every lane is served
 * alone. Words of 4 bytes fill one segment of 64, of 8 one of 128, of 16 two of 128. */
static cost in_order(const ptx_access *acc, uint32_t mask, int first, int segment) {
  const uint64_t width = (uint64_t)acc->width;
  const int lane = ptx_first_lane(mask);
  const uint64_t base = acc->addr[lane] - (uint64_t)(lane - first) * width;
  bool ordered = (width == 4 || width == 8 || width == 16) && base % (uint64_t)segment == 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m);
    ordered &= acc->addr[i] == base + (uint64_t)(i - first) * width;
  }
  const int64_t lanes = ptx_count_lanes(mask);
  return ordered ? in_segments(acc, mask, first, segment) : (cost){lanes, 32 * lanes};
}

/* The half of [base, base + size) that holds [lo, hi), as long as there is one, down to 32 bytes.
 */
static int shrink(uint64_t base, int size, uint64_t lo, uint64_t hi) {
  for (; size > 32; size /= 2) {
    const uint64_t middle = base + (uint64_t)size / 2;
    if (lo < middle && hi > middle) {
      break;
    }
    base = lo >= middle ? middle : base;
  }
  return size;
}

/* CC 1.2: the segment of the lowest lane serves all lanes in it, halved while half is enough. */
static cost in_shrinking(const ptx_access *acc, uint32_t mask, int first, int segment) {
  cost sum = {0};
  (void)first;
  for (uint32_t left = mask, served = 0; left != 0; left &= ~served) {
    const uint64_t number = acc->addr[ptx_first_lane(left)] / (uint64_t)segment;
    uint64_t lo = UINT64_MAX, hi = 0;
    served = 0;
    for (uint32_t m = left; m != 0; m &= m - 1) {
      const int i = ptx_first_lane(m);
      const uint64_t a = acc->addr[i];
      if (a / (uint64_t)segment == number) {
        served |= 1u << i;
        lo = a < lo ? a : lo;
        hi = a + (uint64_t)acc->width > hi ? a + (uint64_t)acc->width : hi;
      }
    }
    sum.transactions++;
    sum.bytes += shrink(number * (uint64_t)segment, segment, lo, hi);
  }
  return sum;
}

/* ---- shared memory */

/* CC 1.x: 16 banks; in each step one word, here that of the lowest lane left, is broadcast to all
 * lanes that want it, and every other bank serves one lane. Which word and which lane is left open
 * by the guide. */
static int broadcast_steps(const ptx_access *acc, uint32_t mask, uint64_t offset) {
  int steps = 0;
  for (uint32_t left = mask; left != 0; steps++) {
    const uint64_t word = (acc->addr[ptx_first_lane(left)] + offset) / 4;
    uint32_t busy = 1u << (word & 15), served = 0;
    for (uint32_t m = left; m != 0; m &= m - 1) {
      const int i = ptx_first_lane(m);
      const uint64_t w = (acc->addr[i] + offset) / 4;
      const uint32_t bank = 1u << (w & 15);
      served |= w == word || (busy & bank) == 0 ? 1u << i : 0;
      busy |= bank;
    }
    left &= ~served;
  }
  return steps;
}

static int wavefronts_cc10(const ptx_access *acc, uint32_t mask) {
  int n = 0;
  for (int at = 0; at == 0 || at < acc->width; at += 4) {
    n += broadcast_steps(acc, mask, (uint64_t)at);
  }
  return n;
}

/* ---- the table */

/* Idle lanes belong to a request as active ones do, and a request of idle lanes only is none. */
static const ptx_rules rules[] = {
    [SCT_PTX_CC10] = {.lanes = SAME(16),
                      .load = {32, 32, 64, 128, 128, 32},
                      .store = {32, 32, 64, 128, 128, 32},
                      .tag_lanes = SAME(16),
                      .cost = in_order,
                      .shared_lanes = SAME(16),
                      .wavefronts = wavefronts_cc10,
                      .shared_words = true},
    [SCT_PTX_CC12] = {.lanes = SAME(16),
                      .load = {32, 64, 128, 128, 128, 128},
                      .store = {32, 64, 128, 128, 128, 128},
                      .tag_lanes = SAME(16),
                      .cost = in_shrinking,
                      .shared_lanes = SAME(16),
                      .wavefronts = wavefronts_cc10,
                      .shared_words = true},
    /* Any number of lanes may want one word of 32 banks. A conflict-free access of 16-byte lanes
     * takes four wavefronts for 512 bytes; the guide calls that two-way, seen from a half warp. */
    [SCT_PTX_CC20] = {.lanes = {32, 32, 32, 16, 8, 4},
                      .load = SAME(128),
                      .store = SAME(32),
                      .uncached = 32,
                      .tag_lanes = {32, 32, 32, 16, 8, 4},
                      .cost = in_segments,
                      .shared_lanes = {32, 32, 32, 16, 8, 4},
                      .wavefronts = sct_ptx_bank_wavefronts},
    /* One request a warp instruction, as the profiler counts; the tag lookup takes it apart into
     * groups of 8, 4 or 2 threads. */
    [SCT_PTX_CC60] = {.lanes = SAME(32),
                      .load = SAME(32),
                      .store = SAME(32),
                      .tag_lanes = {8, 8, 8, 4, 2, 1},
                      .cost = in_segments},
};

const ptx_rules *sct_ptx_rules(sct_ptx_coalescing model) {
  return model == SCT_PTX_CC70 ? NULL : &rules[model];
}

static int width_index(const ptx_access *acc) {
  return 31 - __builtin_clz((unsigned)acc->width);
}

void sct_ptx_count_global_by(const ptx_rules *r, sct_ptx_global *g, const ptx_access *acc) {
  const int w = width_index(acc);
  const int segment = acc->dir != PTX_READ               ? r->store[w]
                      : acc->uncached && r->uncached > 0 ? r->uncached
                                                         : r->load[w];
  for (int first = 0; first < PTX_LANES; first += r->lanes[w]) {
    const uint32_t mask = ptx_lane_group(first, r->lanes[w]) & acc->mask;
    if (mask == 0) {
      continue;
    }
    const int64_t bytes = (int64_t)ptx_count_lanes(mask) * acc->width;
    const int64_t least = (bytes + segment - 1) / segment;
    const cost c = r->cost(acc, mask, first, segment);
    uint64_t address[PTX_LANES];
    const int n = sct_ptx_addresses_of(address, acc, mask);
    g->requests++;
    g->sectors += c.transactions;
    g->sectors_ideal += c.transactions < least ? c.transactions : least;
    g->moved += c.bytes;
    g->bytes += bytes;
    g->distinct_bytes += (int64_t)sct_ptx_distinct(address, n) * acc->width;
  }
  for (int first = 0; first < PTX_LANES; first += r->tag_lanes[w]) {
    const uint32_t mask = ptx_lane_group(first, r->tag_lanes[w]) & acc->mask;
    g->tags += mask != 0 ? in_segments(acc, mask, first, 128).transactions : 0;
  }
}

void sct_ptx_count_shared_by(const ptx_rules *r, sct_ptx_shared *s, const ptx_access *acc) {
  if (r->wavefronts == NULL) {
    sct_ptx_count_shared(s, acc);
    return;
  }
  const int w = width_index(acc);
  const int64_t least = r->shared_words && acc->width > 4 ? acc->width / 4 : 1;
  s->bytes += (int64_t)ptx_count_lanes(acc->mask) * acc->width;
  for (int first = 0; first < PTX_LANES; first += r->shared_lanes[w]) {
    const uint32_t mask = ptx_lane_group(first, r->shared_lanes[w]) & acc->mask;
    if (mask != 0) {
      s->requests++;
      s->wavefronts += r->wavefronts(acc, mask);
      s->wavefronts_ideal += least;
    }
  }
}

/* ---- names */

static const char *const names[] = {
#define SCT_PTX_COALESCING(id, name, cc, text) name,
#include "ptx/count/ptx_coalescing.def"
#undef SCT_PTX_COALESCING
};
static const int lowest_cc[] = {
#define SCT_PTX_COALESCING(id, name, cc, text) cc,
#include "ptx/count/ptx_coalescing.def"
#undef SCT_PTX_COALESCING
};

const char *sct_ptx_coalescing_name(sct_ptx_coalescing model) {
  return names[model];
}

/* The model of the device that "cc13" or "cc61" stands for; NULL: the name is no such thing. */
static const char *model_of_device(const char *name) {
  int cc = 0, end = 0, best = -1;
  if (sscanf(name, "cc%3d%n", &cc, &end) != 1 || name[end] != '\0') {
    return NULL;
  }
  for (int k = 0; k < SCT_PTX_N_COALESCING; k++) {
    if (lowest_cc[k] <= cc && (best < 0 || lowest_cc[k] > lowest_cc[best])) {
      best = k;
    }
  }
  return best < 0 ? NULL : names[best];
}

sct_status sct_ptx_coalescing_find(sct_ptx_coalescing *out, const char *name, sct_error *err) {
  const sct_names models = SCT_NAMES(names, SCT_PTX_N_COALESCING);
  const int k = sct_names_find(models, name);
  if (k >= 0) {
    *out = (sct_ptx_coalescing)k;
    return SCT_OK;
  }
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "unknown counting model '%s'", name);
  const char *near = model_of_device(name);
  sct_str_suggest(&text, near ? near : name, models);
  return sct_fail(err, SCT_EUSAGE, "%s", sct_str_c(&text));
}
