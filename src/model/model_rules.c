/* model_rules - what one warp instruction costs: sectors and tags in global memory, wavefronts in
 * shared memory, as an H200's profiler counts them (CC 7.0 and later; tests/oracle holds the
 * measurements). */
#include "model/model.h"

#define LANES        32
#define SECTOR_BYTES 32
#define SECTOR_BITS  5 /* shifts, not divisions: offsets may be negative */
#define TAG_BITS     7
#define BANKS        32
#define WORD_BYTES   4
#define WORD_BITS    2

/* Adds `value` to a small set; returns how many members it has now. */
static int add_distinct(int64_t *set, int n, int64_t value) {
  for (int k = n - 1; k >= 0; k--) { /* neighbours are the likeliest match */
    if (set[k] == value) {
      return n;
    }
  }
  set[n] = value;
  return n + 1;
}

/* Distinct sectors, tags and addresses of lanes in any order. An access is aligned to its width, so
 * it lies in one sector, and lanes with different addresses share no byte. */
typedef struct distinct {
  int sectors, tags, addresses;
} distinct;

static distinct count_scattered(const int64_t address[LANES], uint32_t active) {
  int64_t sector_set[LANES], tag_set[LANES];
  uint32_t bytes[LANES]; /* of each sector: where accesses begin in it */
  distinct n = {0};
  for (int lane = 0; lane < LANES; lane++) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    const int64_t sector = address[lane] >> SECTOR_BITS;
    int k = n.sectors - 1; /* neighbours are the likeliest match */
    while (k >= 0 && sector_set[k] != sector) {
      k--;
    }
    if (k < 0) {
      k = n.sectors++;
      sector_set[k] = sector;
      bytes[k] = 0;
    }
    bytes[k] |= 1u << (address[lane] & (SECTOR_BYTES - 1));
    n.tags = add_distinct(tag_set, n.tags, address[lane] >> TAG_BITS);
  }
  for (int k = 0; k < n.sectors; k++) {
    n.addresses += __builtin_popcount(bytes[k]);
  }
  return n;
}

/* The same for addresses that never step back, the usual case: no set is needed. false: they do. */
static bool count_ascending(const int64_t address[LANES], uint32_t active, distinct *n) {
  int64_t last = INT64_MIN; /* the last address */
  *n = (distinct){0};
  for (int lane = 0; lane < LANES; lane++) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    if (address[lane] < last) {
      return false;
    }
    n->sectors += address[lane] >> SECTOR_BITS != last >> SECTOR_BITS;
    n->tags += address[lane] >> TAG_BITS != last >> TAG_BITS;
    n->addresses += address[lane] != last;
    last = address[lane];
  }
  return true;
}

void sct_model_count_global(sct_count *c, const int64_t address[LANES], uint32_t active,
                            int width) {
  distinct n;
  if (active == 0) {
    return; /* a warp without an active lane executes nothing */
  }
  if (!count_ascending(address, active, &n)) {
    n = count_scattered(address, active);
  }
  const int64_t bytes = (int64_t)__builtin_popcount(active) * width;
  const int64_t enough = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  c->requests++;
  c->sectors += n.sectors;
  c->sectors_ideal += n.sectors < enough ? n.sectors : enough;
  c->tags += n.tags;
  c->distinct_bytes += (int64_t)n.addresses * width;
}

void sct_model_count_bulk(sct_count *c, int64_t address, int64_t bytes) {
  const int64_t last = address + bytes - 1;
  const int64_t sectors = (last >> SECTOR_BITS) - (address >> SECTOR_BITS) + 1;
  const int64_t enough = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  c->requests++;
  c->sectors += sectors;
  c->sectors_ideal += sectors < enough ? sectors : enough;
  c->tags += (last >> TAG_BITS) - (address >> TAG_BITS) + 1;
  c->distinct_bytes += bytes;
}

/* ---- shared memory */

/* True if lanes n and n ^ apart hold the same address wherever both are active. */
static bool lanes_agree(const int64_t address[LANES], uint32_t active, int apart) {
  for (int lane = 0; lane < LANES; lane++) {
    const int other = lane ^ apart;
    const bool both = (active >> lane & 1) != 0 && (active >> other & 1) != 0;
    if (both && address[lane] != address[other]) {
      return false;
    }
  }
  return true;
}

/* The most distinct words of one bank over the lanes first .. first + n - 1. */
static int group_wavefronts(const int64_t address[LANES], uint32_t active, int width, int first,
                            int n) {
  int64_t words[BANKS][LANES];
  int n_words[BANKS] = {0};
  int most = 0;
  for (int lane = first; lane < first + n; lane++) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    const int64_t last = (address[lane] + width - 1) >> WORD_BITS;
    for (int64_t word = address[lane] >> WORD_BITS; word <= last; word++) {
      const int bank = (int)(word & (BANKS - 1));
      n_words[bank] = add_distinct(words[bank], n_words[bank], word);
      most = n_words[bank] > most ? n_words[bank] : most;
    }
  }
  return most;
}

static uint32_t group_mask(int first, int n) {
  return (n == LANES ? UINT32_MAX : ((uint32_t)1 << n) - 1) << first;
}

void sct_model_count_shared(int64_t *wavefronts, int64_t *ideal, const int64_t address[LANES],
                            uint32_t active, int width) {
  const int natural = width <= WORD_BYTES ? LANES : width <= 8 ? LANES / 2 : LANES / 4;
  const bool pairs =
      natural < LANES && (lanes_agree(address, active, 1) || lanes_agree(address, active, 2));
  const int served = pairs ? 2 * natural : natural;
  int64_t total = 0;
  int64_t groups = 0;
  for (int first = 0; first < LANES; first += served) {
    total += group_wavefronts(address, active, width, first, served);
  }
  for (int first = 0; first < LANES; first += natural) {
    groups += (active & group_mask(first, natural)) != 0;
  }
  *wavefronts += total;
  *ideal += total < groups ? total : groups;
}

double sct_model_degree(const sct_count *c) {
  return c->sectors > 0 ? (double)c->distinct_bytes / (double)(SECTOR_BYTES * c->sectors) : 1.0;
}
