/* The counting rules for one warp instruction, as an H200's profiler counts them (CC 7.0 and
 * later). */
#include "model/model.h"

#define LANES        32
#define SECTOR_BYTES 32
#define LINE_BYTES   128
#define BANKS        32
#define WORD_BYTES   4

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

/* How many aligned pieces of `piece` bytes the active lanes touch. */
static int distinct_pieces(const int64_t address[LANES], uint32_t active, int width, int piece) {
  int64_t set[LANES * 2];
  int n = 0;
  for (int lane = 0; lane < LANES; lane++) {
    if (active >> lane & 1) {
      n = add_distinct(set, n, address[lane] / piece);
      n = add_distinct(set, n, (address[lane] + width - 1) / piece);
    }
  }
  return n;
}

void sct_model_count_global(sct_count *c, const int64_t address[LANES], uint32_t active,
                            int width) {
  if (!active) {
    return;
  }
  const int64_t bytes = (int64_t)__builtin_popcount(active) * width;
  const int64_t sectors = distinct_pieces(address, active, width, SECTOR_BYTES);
  const int64_t least = (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  c->requests++;
  c->sectors += sectors;
  c->sectors_ideal += sectors < least ? sectors : least;
  c->tags += distinct_pieces(address, active, width, LINE_BYTES);
  c->bytes += bytes;
}

/* Do lanes n and n ^ apart hold the same address wherever both are active? */
static bool lanes_agree(const int64_t address[LANES], uint32_t active, int apart) {
  for (int lane = 0; lane < LANES; lane++) {
    const int other = lane ^ apart;
    if ((active >> lane & 1) && (active >> other & 1) && address[lane] != address[other]) {
      return false;
    }
  }
  return true;
}

/* Lanes served together: all for up to 4 bytes, 16 for 8 bytes, 8 for 16 bytes, twice as many if
 * pairs agree. */
static int group_lanes(const int64_t address[LANES], uint32_t active, int width) {
  if (width <= WORD_BYTES) {
    return LANES;
  }
  const int lanes = width == 8 ? 16 : 8;
  const bool pairs = lanes_agree(address, active, 1) || lanes_agree(address, active, 2);
  return pairs ? 2 * lanes : lanes;
}

/* The largest number of distinct words in one bank over the lanes first .. first + n - 1. */
static int group_wavefronts(const int64_t address[LANES], uint32_t active, int width, int first,
                            int n) {
  int64_t words[BANKS][LANES];
  int n_words[BANKS] = {0}, most = 0;
  for (int lane = first; lane < first + n; lane++) {
    if (!(active >> lane & 1)) {
      continue;
    }
    const int64_t last = (address[lane] + width - 1) / WORD_BYTES;
    for (int64_t word = address[lane] / WORD_BYTES; word <= last; word++) {
      const int bank = (int)(word % BANKS);
      n_words[bank] = add_distinct(words[bank], n_words[bank], word);
      most = n_words[bank] > most ? n_words[bank] : most;
    }
  }
  return most;
}

void sct_model_count_shared(int64_t *wavefronts, int64_t *ideal, const int64_t address[LANES],
                            uint32_t active, int width) {
  if (!active) {
    return;
  }
  const int n = group_lanes(address, active, width);
  for (int first = 0; first < LANES; first += n) {
    const uint32_t lanes = (n == LANES ? UINT32_MAX : ((1u << n) - 1)) << first;
    if (active & lanes) {
      *wavefronts += group_wavefronts(address, active, width, first, n);
      *ideal += 1;
    }
  }
}

double sct_model_degree(const sct_count *c) {
  return c->sectors > 0 ? (double)c->bytes / (double)(SECTOR_BYTES * c->sectors) : 1.0;
}
