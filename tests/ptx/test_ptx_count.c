/* The counting rules alone, on random and on known address patterns, against plain definitions. */
#include "ptx/exec/ptx_exec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static bool active(const ptx_access *a, int i) {
  return a->mask >> i & 1;
}

/* Values of address / unit that no earlier active lane has. */
static int64_t distinct(const ptx_access *a, uint64_t unit) {
  int64_t n = 0;
  for (int i = 0; i < 32; i++) {
    bool seen = !active(a, i);
    for (int k = 0; k < i; k++) {
      seen |= active(a, k) && a->addr[k] / unit == a->addr[i] / unit;
    }
    n += !seen;
  }
  return n;
}

/* Of some bytes every third has no use. */
static bool is_used(int64_t byte) {
  return byte % 512 < 300 || byte % 3 != 0;
}

static int64_t used_of(const void *ctx, int64_t offset, int64_t bytes) {
  int64_t n = 0;
  (void)ctx;
  for (int64_t b = offset; b < offset + bytes; b++) {
    n += is_used(b);
  }
  return n;
}

static bool is_asked(const ptx_access *a, uint64_t address) {
  bool found = false;
  for (int i = 0; i < 32; i++) {
    found |= active(a, i) && a->addr[i] == address;
  }
  return found;
}

static int64_t in_sectors(uint64_t start, int64_t bytes) {
  return bytes == 0 ? 0 : 32 * (((int64_t)(start % 32) + bytes + 31) / 32);
}

/* Runs of 64 used bytes fill sectors from where they begin, all else from its lowest address, but
 * no more than the request has. Of few lanes each byte counts. */
static int64_t contiguous(const ptx_access *a, const ptx_buf *b) {
  int64_t rest = 0, all = 0, sum = 0;
  uint64_t rest_start = UINT64_MAX;
  for (int i = 0; i < 32; i++) {
    const uint64_t start = a->addr[i];
    bool begins = active(a, i) && !is_asked(a, start - (uint64_t)a->width);
    for (int k = 0; k < i; k++) {
      begins = begins && !(active(a, k) && a->addr[k] == start);
    }
    int64_t used = 0;
    for (uint64_t at = start; begins && is_asked(a, at); at += (uint64_t)a->width) {
      used += b == NULL ? a->width : used_of(NULL, (int64_t)(at - b->base), a->width);
    }
    all += used;
    if (used >= 64) {
      sum += in_sectors(start, used);
    } else if (begins) {
      rest += used;
      rest_start = start < rest_start ? start : rest_start;
    }
  }
  sum += in_sectors(rest_start, rest);
  const int64_t moved = 32 * distinct(a, 32);
  return __builtin_popcount(a->mask) < 8 ? all : sum < moved ? sum : moved;
}

static void check_global(const ptx_access *a) {
  sct_ptx_global g = {0};
  int lanes = 0;
  for (int i = 0; i < 32; i++) {
    lanes += active(a, i);
  }
  sct_ptx_count_global(&g, a);
  const int64_t sectors = distinct(a, 32), least = ((int64_t)lanes * a->width + 31) / 32;
  assert_int_equal(g.requests, 1);
  assert_int_equal(g.sectors, sectors);
  assert_int_equal(g.tags, distinct(a, 128));
  assert_int_equal(g.sectors_ideal, sectors < least ? sectors : least);
  assert_int_equal(g.bytes, (int64_t)lanes * a->width);
  const ptx_buf some = {.base = a->addr[__builtin_ctz(a->mask)] % 512, .used = used_of};
  assert_int_equal(sct_ptx_contiguous(NULL, a), contiguous(a, NULL));
  assert_int_equal(sct_ptx_contiguous(&some, a), contiguous(a, &some));
}

/* Most words that share a bank among lanes [first, first + n): every pair of words is looked at. */
static int64_t bank_load(const ptx_access *a, int first, int n) {
  uint64_t words[32 * 4];
  int count = 0, most = 0;
  for (int i = first; i < first + n; i++) {
    for (uint64_t b = 0; active(a, i) && b < (uint64_t)a->width; b++) {
      const uint64_t w = (a->addr[i] + b) / 4;
      bool seen = false;
      for (int k = 0; k < count; k++) {
        seen |= words[k] == w;
      }
      if (!seen) {
        words[count++] = w;
      }
    }
  }
  for (int k = 0; k < count; k++) {
    int same = 0;
    for (int j = 0; j < count; j++) {
      same += words[j] % 32 == words[k] % 32;
    }
    most = same > most ? same : most;
  }
  return most;
}

static bool pairs_agree(const ptx_access *a, int step) {
  for (int i = 0; i < 32; i++) {
    const int j = i ^ step;
    if (active(a, i) && active(a, j) && a->addr[i] != a->addr[j]) {
      return false;
    }
  }
  return true;
}

static void check_shared(const ptx_access *a) {
  sct_ptx_shared s = {0};
  const int natural = a->width <= 4 ? 32 : 128 / a->width;
  int group = natural;
  if (group < 32 && (pairs_agree(a, 1) || pairs_agree(a, 2))) {
    group *= 2;
  }
  int64_t wavefronts = 0, groups = 0;
  for (int i = 0; i < 32; i += group) {
    wavefronts += bank_load(a, i, group);
  }
  for (int i = 0; i < 32; i += natural) {
    groups += bank_load(a, i, natural) > 0;
  }
  sct_ptx_count_shared(&s, a);
  assert_int_equal(s.requests, 1);
  assert_int_equal(s.wavefronts, wavefronts);
  assert_int_equal(s.wavefronts_ideal, wavefronts < groups ? wavefronts : groups);
}

static ptx_access random_access(sct_rng *rng) {
  ptx_access a = {.dir = PTX_READ};
  const int widths[] = {1, 2, 4, 8, 16};
  a.width = widths[sct_rng_below(rng, 5)];
  a.mask = sct_rng_below(rng, 3) == 0 ? (uint32_t)sct_rng_u64(rng) : PTX_ALL;
  a.mask = a.mask == 0 ? 1 : a.mask;
  const int kind = (int)sct_rng_below(rng, 7);
  const uint64_t base = 4096 + (uint64_t)(a.width * sct_rng_below(rng, 64));
  const uint64_t step = (uint64_t)sct_rng_below(rng, 40), row = 1u << sct_rng_below(rng, 5);
  for (uint64_t i = 0; i < 32; i++) {
    const uint64_t random = (uint64_t)sct_rng_below(rng, kind == 0 ? 16 : 4000);
    const uint64_t at = kind == 1   ? step * i
                        : kind == 2 ? step * (31 - i)
                        : kind == 3 ? i / 2 * step
                        : kind == 4 ? (i & ~(uint64_t)2) * step
                        : kind == 5 ? (i * 7 + step) % 32
                        : kind == 6 ? i / row * (row + step) + i % row
                                    : random;
    a.addr[i] = base + at * (uint64_t)a.width;
  }
  uint64_t off = 0;
  for (uint64_t i = 0; i < 32; i++) {
    off |= a.addr[i] ^ (a.addr[0] + i * (uint64_t)a.width);
  }
  a.full_run = off == 0 && a.mask == PTX_ALL;
  return a;
}

static void random_patterns(void **state) {
  (void)state;
  const uint64_t seed = 7;
  sct_rng rng = sct_rng_new(seed);
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int k = 0; k < 20000; k++) {
    const ptx_access a = random_access(&rng);
    check_global(&a);
    check_shared(&a);
  }
}

/* The figures of counters.md. */
static void known_patterns(void **state) {
  (void)state;
  static const struct {
    int width, step, shift;
    int64_t sectors, tags, ideal;
  } known[] = {{4, 4, 0, 4, 1, 4},     {4, 4, 4, 5, 2, 4},   {8, 8, 0, 8, 2, 8},
               {16, 16, 0, 16, 4, 16}, {8, 24, 0, 24, 6, 8}, {4, 0, 0, 1, 1, 1}};
  for (int k = 0; k < SCT_COUNT(known); k++) {
    ptx_access a = {.mask = PTX_ALL, .width = known[k].width};
    sct_ptx_global g = {0};
    for (int i = 0; i < 32; i++) {
      a.addr[i] = (uint64_t)(8192 + known[k].shift + i * known[k].step);
    }
    sct_ptx_count_global(&g, &a);
    assert_int_equal(g.sectors, known[k].sectors);
    assert_int_equal(g.tags, known[k].tags);
    assert_int_equal(g.sectors_ideal, known[k].ideal);
  }
  static const struct { /* column reads of a tile: bytes of a row */
    int width, pitch;
    int64_t wavefronts;
  } tiles[] = {{4, 128, 32}, {4, 132, 1}, {8, 264, 2}, {1, 32, 8}, {1, 36, 1}};
  for (int k = 0; k < SCT_COUNT(tiles); k++) {
    ptx_access a = {.mask = PTX_ALL, .width = tiles[k].width};
    sct_ptx_shared s = {0};
    for (int i = 0; i < 32; i++) {
      a.addr[i] = (uint64_t)(1024 + i * tiles[k].pitch);
    }
    sct_ptx_count_shared(&s, &a);
    assert_int_equal(s.wavefronts, tiles[k].wavefronts);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_patterns),
                                     cmocka_unit_test(known_patterns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
