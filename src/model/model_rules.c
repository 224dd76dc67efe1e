/* model_rules - what one warp instruction costs: sectors and tags in global memory, wavefronts in
 * shared memory, as an H200's profiler counts them (CC 7.0 and later; tests/oracle holds the
 * measurements). */
#include "model/model.h"

#define LANES        32
#define SECTOR_BYTES 32
#define BANKS        32
#define WORD_BYTES   4
#define MAX_WIDTH    32 /* bytes a lane */

/* The piece of 2^bits bytes that an address lies in; offsets may be negative. */
static int64_t piece_of(int64_t address, int bits) {
  return address >> bits;
}

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

/* Distinct sectors and tags of addresses in any order. */
static void count_scattered(const int64_t address[LANES], uint32_t active, int width,
                            int64_t *sectors, int64_t *tags) {
  int64_t sector_set[LANES * (MAX_WIDTH / SECTOR_BYTES + 1)];
  int64_t tag_set[LANES * 2];
  int n_sectors = 0;
  int n_tags = 0;
  for (int lane = 0; lane < LANES; lane++) {
    if ((active >> lane & 1) != 0) {
      const int64_t first = piece_of(address[lane], 5);
      const int64_t last = piece_of(address[lane] + width - 1, 5);
      n_sectors = add_distinct(sector_set, n_sectors, first);
      n_sectors = add_distinct(sector_set, n_sectors, last);
      n_tags = add_distinct(tag_set, n_tags, piece_of(first, 2));
      n_tags = add_distinct(tag_set, n_tags, piece_of(last, 2));
    }
  }
  *sectors = n_sectors;
  *tags = n_tags;
}

/* The same for addresses that never step back, the usual case: no set is needed. false: they do. */
static bool count_ascending(const int64_t address[LANES], uint32_t active, int width,
                            int64_t *sectors, int64_t *tags) {
  int64_t top = INT64_MIN; /* the last sector counted */
  *sectors = 0;
  *tags = 0;
  for (int lane = 0; lane < LANES; lane++) {
    if ((active >> lane & 1) == 0) {
      continue;
    }
    const int64_t first = piece_of(address[lane], 5);
    const int64_t last = piece_of(address[lane] + width - 1, 5);
    if (first < top) {
      return false;
    }
    if (first > top) {
      *tags += top == INT64_MIN || piece_of(first, 2) != piece_of(top, 2);
      ++*sectors;
    }
    if (last > first) {
      *tags += piece_of(last, 2) != piece_of(first, 2);
      ++*sectors;
    }
    top = last;
  }
  return true;
}

void sct_model_count_global(sct_count *c, const int64_t address[LANES], uint32_t active,
                            int width) {
  int64_t sectors = 0;
  int64_t tags = 0;
  if (active == 0) {
    return; /* a warp without an active lane executes nothing */
  }
  if (!count_ascending(address, active, width, &sectors, &tags)) {
    count_scattered(address, active, width, &sectors, &tags);
  }
  const int64_t bytes = (int64_t)__builtin_popcount(active) * width;
  const int64_t enough = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  c->requests++;
  c->sectors += sectors;
  c->sectors_ideal += sectors < enough ? sectors : enough;
  c->tags += tags;
  c->bytes += bytes;
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
    const int64_t last = piece_of(address[lane] + width - 1, 2);
    for (int64_t word = piece_of(address[lane], 2); word <= last; word++) {
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
  return c->sectors > 0 ? (double)c->bytes / (double)(SECTOR_BYTES * c->sectors) : 1.0;
}
