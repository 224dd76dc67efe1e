/* Counting rules for CC 7.0 and later, as measured on an H200 (531 kernels, counters.md): one warp
 * access at a time, from lane addresses alone. The executor calls these beside the access; nothing
 * here changes what a kernel computes. */
#include "ptx/exec/ptx_exec.h"

/* ---- distinct values of a lane function, e.g. address / 32 */

/* Any order: a small hash table. */
static int distinct_any(const uint64_t *v, int n) {
  uint64_t seen[64];
  bool used[64] = {false};
  int count = 0;
  for (int i = 0; i < n; i++) {
    unsigned h = (unsigned)(v[i] * 0x9e3779b97f4a7c15u >> 58);
    while (used[h] && seen[h] != v[i]) {
      h = (h + 1) & 63;
    }
    count += !used[h];
    used[h] = true;
    seen[h] = v[i];
  }
  return count;
}

/* Sorted values are counted by their steps; almost all real accesses are sorted. */
int sct_ptx_distinct(const uint64_t *v, int n) {
  int steps = 1;
  uint64_t down = 0;
  for (int i = 1; i < n; i++) {
    steps += v[i] != v[i - 1];
    down |= v[i] - v[i - 1];
  }
  return down >> 63 != 0 ? distinct_any(v, n) : steps;
}

/* An access is aligned to its width, so lanes with different addresses share no byte. */
int sct_ptx_addresses_of(uint64_t *out, const ptx_access *acc, uint32_t mask) {
  int n = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    out[n++] = acc->addr[ptx_first_lane(m)];
  }
  return n;
}

static void add_request(sct_ptx_global *g, int64_t sectors, int64_t tags, int64_t bytes,
                        int64_t distinct_bytes) {
  const int64_t least = (bytes + 31) / 32;
  g->requests++;
  g->sectors += sectors;
  g->sectors_ideal += sectors < least ? sectors : least;
  g->tags += tags;
  g->moved += 32 * sectors;
  g->bytes += bytes;
  g->distinct_bytes += distinct_bytes;
}

void sct_ptx_count_bulk(sct_ptx_global *g, uint64_t address, int64_t bytes) {
  const uint64_t last = address + (uint64_t)bytes - 1;
  add_request(g, (int64_t)(last / 32 - address / 32 + 1), (int64_t)(last / 128 - address / 128 + 1),
              bytes, bytes);
}

void sct_ptx_count_global(sct_ptx_global *g, const ptx_access *acc) {
  const int64_t bytes = (int64_t)ptx_count_lanes(acc->mask) * acc->width;
  if (acc->full_run) {
    sct_ptx_count_bulk(g, acc->addr[0], bytes);
    return;
  }
  uint64_t address[PTX_LANES], sector[PTX_LANES], line[PTX_LANES];
  const int n = sct_ptx_addresses_of(address, acc, acc->mask);
  for (int k = 0; k < n; k++) {
    sector[k] = address[k] / 32;
    line[k] = address[k] / 128;
  }
  const int64_t distinct_bytes = (int64_t)sct_ptx_distinct(address, n) * acc->width;
  add_request(g, sct_ptx_distinct(sector, n), sct_ptx_distinct(line, n), bytes, distinct_bytes);
}

/* ---- what a request would move if its bytes were contiguous */

static int64_t used_bytes(const ptx_buf *b, uint64_t start, int64_t bytes) {
  return b != NULL ? b->used(b->used_ctx, (int64_t)(start - b->base), bytes) : bytes;
}

/* Bytes of the sectors that so many fill from there on. */
static int64_t filled_bytes(uint64_t start, int64_t bytes) {
  return bytes > 0 ? ((int64_t)(start % 32) + bytes + 31) / 32 * 32 : 0;
}

int64_t sct_ptx_contiguous_run(const ptx_buf *b, uint64_t start, int64_t bytes) {
  return filled_bytes(start, used_bytes(b, start, bytes));
}

static int ordered_addresses_of(uint64_t *out, const ptx_access *acc) {
  const int n = sct_ptx_addresses_of(out, acc, acc->mask);
  for (int k = 1; k < n; k++) {
    const uint64_t a = out[k];
    int at = k;
    for (; at > 0 && out[at - 1] > a; at--) {
      out[at] = out[at - 1];
    }
    out[at] = a;
  }
  return n;
}

int64_t sct_ptx_contiguous(const ptx_buf *b, const ptx_access *acc) {
  if (acc->full_run) {
    return sct_ptx_contiguous_run(b, acc->addr[0], PTX_LANES * (int64_t)acc->width);
  }
  uint64_t address[PTX_LANES], rest_start = UINT64_MAX, next_sector = 0;
  const int n = ordered_addresses_of(address, acc);
  int64_t moved = 0, all = 0, filled = 0, rest = 0;
  for (int first = 0, end = 0; first < n; first = end) {
    const uint64_t start = address[first];
    uint64_t stop = start;
    for (end = first; end < n && address[end] <= stop; end++) {
      stop = address[end] + (uint64_t)acc->width;
    }
    const int64_t used = used_bytes(b, start, (int64_t)(stop - start));
    if (used >= SCT_PTX_LONG_RUN) {
      filled += filled_bytes(start, used);
    } else {
      rest_start = start < rest_start ? start : rest_start;
      rest += used;
    }
    all += used;
    next_sector = start / 32 > next_sector ? start / 32 : next_sector;
    moved += 32 * (int64_t)((stop + 31) / 32 - next_sector);
    next_sector = (stop + 31) / 32;
  }
  filled += filled_bytes(rest_start, rest);
  return n < SCT_PTX_FEW_LANES ? all : filled < moved ? filled : moved;
}

#define GOLDEN 0x9e3779b97f4a7c15u /* spreads lines over the counts */

/* Turns that a request takes: lanes of one word one each, those of a sector's other words share
 * them. */
static int turns_of(const ptx_access *acc) {
  uint64_t address[PTX_LANES];
  const int n = sct_ptx_addresses_of(address, acc, acc->mask);
  int turn[PTX_LANES], turns = 0; /* of its word */
  for (int k = 0; k < n; k++) {
    int taken = 0; /* of its sector */
    turn[k] = 1;
    for (int i = 0; i < k; i++) {
      turn[k] += address[i] == address[k];
      taken = address[i] / 32 == address[k] / 32 && turn[i] > taken ? turn[i] : taken;
    }
    turns += turn[k] > taken;
  }
  return turns;
}

void sct_ptx_count_lines(ptx_exec *x, sct_ptx_buffer_counters *of, const ptx_access *acc) {
  ptx_lines *const lines = x->launch->lines;
  const uint32_t block = (uint32_t)x->block_index, request = ++lines->request;
  for (uint32_t m = acc->mask; m != 0; m &= m - 1) {
    const uint64_t address = acc->addr[ptx_first_lane(m)];
    const uint64_t at = address / SCT_PTX_SLICE_BYTES * GOLDEN >> (64 - PTX_LINE_BITS);
    if (lines->line[at].block != block) {
      lines->line[at].block = block;
      lines->line[at].n_block = 0;
    }
    if (lines->line[at].request != request) {
      lines->line[at].request = request;
      of->meetings += lines->line[at].n++ - lines->line[at].n_block++;
      of->atomic_slices++;
    }
  }
  of->atomic_turns += turns_of(acc);
}

/* ---- shared memory: 32 banks of 4 bytes, lanes served in groups */

/* Whether every active lane agrees with lane ^ step, if that one is active too. */
static bool lanes_agree(const ptx_access *acc, int step) {
  for (uint32_t m = acc->mask; m != 0; m &= m - 1) {
    const int i = ptx_first_lane(m), j = i ^ step;
    if ((acc->mask >> j & 1) && acc->addr[i] != acc->addr[j]) {
      return false;
    }
  }
  return true;
}

/* Lanes that are served together: fewer, the wider they are. */
static int natural_lanes(int width) {
  return width <= 4 ? PTX_LANES : width == 8 ? 16 : 8;
}

static int group_lanes(const ptx_access *acc) {
  const int lanes = natural_lanes(acc->width);
  return lanes < PTX_LANES && (lanes_agree(acc, 1) || lanes_agree(acc, 2)) ? 2 * lanes : lanes;
}

int sct_ptx_bank_wavefronts(const ptx_access *acc, uint32_t mask) {
  uint32_t words[32][PTX_LANES];
  uint8_t n[32] = {0};
  int most = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint64_t a = acc->addr[ptx_first_lane(m)];
    const uint64_t last = (a + (uint64_t)acc->width - 1) / 4;
    for (uint64_t w = a / 4; w <= last; w++) {
      const unsigned bank = (unsigned)w & 31;
      int k = 0;
      while (k < n[bank] && words[bank][k] != (uint32_t)w) {
        k++;
      }
      if (k == n[bank]) {
        words[bank][n[bank]++] = (uint32_t)w;
        most = n[bank] > most ? n[bank] : most;
      }
    }
  }
  return most;
}

/* Ideal is what the profiler calls so: as many wavefronts as the width needs, fewer where lanes
 * share addresses. That rule gives its column in all measured cases, the ones with lanes n & ~2
 * too. */
void sct_ptx_count_shared(sct_ptx_shared *s, const ptx_access *acc) {
  s->requests++;
  s->bytes += (int64_t)ptx_count_lanes(acc->mask) * acc->width;
  if (acc->full_run) { /* no two lanes share a word of different rows: one wavefront a group */
    const int groups = acc->width <= 4 ? 1 : acc->width / 4;
    s->wavefronts += groups;
    s->wavefronts_ideal += groups;
    return;
  }
  const int lanes = group_lanes(acc), natural = natural_lanes(acc->width);
  int wavefronts = 0, least = 0;
  for (int first = 0; first < PTX_LANES; first += lanes) {
    const uint32_t group = ptx_lane_group(first, lanes) & acc->mask;
    wavefronts += group != 0 ? sct_ptx_bank_wavefronts(acc, group) : 0;
  }
  for (int first = 0; first < PTX_LANES; first += natural) {
    least += (ptx_lane_group(first, natural) & acc->mask) != 0;
  }
  s->wavefronts += wavefronts;
  s->wavefronts_ideal += wavefronts < least ? wavefronts : least;
}

/* Most lanes that want a word of one bank, the same word or not. */
static int bank_lanes(const ptx_access *acc, uint32_t mask) {
  uint8_t n[32] = {0};
  int most = 0;
  for (uint32_t m = mask; m != 0; m &= m - 1) {
    const uint64_t a = acc->addr[ptx_first_lane(m)];
    for (uint64_t w = a / 4; w <= (a + (uint64_t)acc->width - 1) / 4; w++) {
      most = ++n[w & 31] > most ? n[w & 31] : most;
    }
  }
  return most;
}

void sct_ptx_count_shared_atomic(sct_ptx_shared *s, const ptx_access *acc, bool merges, int steps) {
  sct_ptx_shared one = {0};
  sct_ptx_count_shared(&one, acc);
  if (!merges) {
    const int lanes = natural_lanes(acc->width);
    one.wavefronts = one.wavefronts_ideal = 0;
    for (int first = 0; first < PTX_LANES; first += lanes) {
      const uint32_t group = ptx_lane_group(first, lanes) & acc->mask;
      one.wavefronts += group != 0 ? bank_lanes(acc, group) : 0;
      one.wavefronts_ideal += group != 0;
    }
  }
  one.wavefronts *= steps;
  one.wavefronts_ideal *= steps;
  sct_ptx_shared_add(s, &one);
}

int64_t sct_ptx_constant_words(const ptx_access *acc) {
  const int words = acc->width > 4 ? acc->width / 4 : 1;
  uint64_t first[PTX_LANES];
  int n = 0;
  for (uint32_t m = acc->mask; m != 0; m &= m - 1) {
    first[n++] = acc->addr[ptx_first_lane(m)] / 4;
  }
  return (int64_t)sct_ptx_distinct(first, n) * words;
}

/* ---- sums */

/* These structs are int64_t from end to end. */
static inline void add_sums(void *to, const void *from, size_t bytes) {
  int64_t *const sums = to;
  const int64_t *const more = from;
  for (size_t i = 0; i < bytes / sizeof *sums; i++) {
    sums[i] += more[i];
  }
}

void sct_ptx_global_add(sct_ptx_global *to, const sct_ptx_global *from) {
  add_sums(to, from, sizeof *to);
}

void sct_ptx_shared_add(sct_ptx_shared *to, const sct_ptx_shared *from) {
  add_sums(to, from, sizeof *to);
}

void sct_ptx_counters_add(sct_ptx_counters *to, const sct_ptx_counters *from) {
  add_sums(to, from, sizeof *to);
}

void sct_ptx_buffer_counters_add(sct_ptx_buffer_counters *to, const sct_ptx_buffer_counters *from) {
  add_sums(to, from, sizeof *to);
}

sct_ptx_global sct_ptx_global_sum(const sct_ptx_counters *c) {
  sct_ptx_global all = c->load;
  sct_ptx_global_add(&all, &c->store);
  sct_ptx_global_add(&all, &c->atomics);
  return all;
}

sct_ptx_shared sct_ptx_shared_sum(const sct_ptx_counters *c) {
  sct_ptx_shared all = c->shared_load;
  sct_ptx_shared_add(&all, &c->shared_store);
  sct_ptx_shared_add(&all, &c->shared_async);
  sct_ptx_shared_add(&all, &c->shared_atomics);
  return all;
}

static double degree(const sct_ptx_global *g) {
  return g->moved == 0 ? 1.0 : (double)g->distinct_bytes / (double)g->moved;
}

sct_ptx_degree sct_ptx_degree_of(const sct_ptx_counters *c) {
  sct_ptx_global load = c->load, store = c->store;
  sct_ptx_global_add(&load, &c->bulk_load);
  sct_ptx_global_add(&store, &c->bulk_store);
  sct_ptx_global both = load;
  sct_ptx_global_add(&both, &store);
  return (sct_ptx_degree){degree(&load), degree(&store), degree(&both)};
}
