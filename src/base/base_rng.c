/* Random numbers that are the same on every machine, and stateless permutations. */
#include "base/base.h"

static uint64_t rotl(uint64_t x, int k) {
  return (x << k) | (x >> (64 - k));
}

/* splitmix64's finaliser (Steele, Lea, Flood 2014). */
static uint64_t finalise(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

sct_rng sct_rng_new(uint64_t seed) {
  sct_rng rng;
  for (int k = 0; k < 4; k++) {
    rng.s[k] = sct_mix64(seed, (uint64_t)k);
  }
  return rng;
}

/* xoshiro256** (Blackman, Vigna 2018). */
uint64_t sct_rng_u64(sct_rng *rng) {
  uint64_t *s = rng->s;
  const uint64_t result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotl(s[3], 45);
  return result;
}

int64_t sct_rng_below(sct_rng *rng, int64_t n) {
  const uint64_t range = (uint64_t)n, limit = UINT64_MAX - UINT64_MAX % range;
  uint64_t x = sct_rng_u64(rng);
  while (x >= limit) { /* values past the last whole multiple of n would favour small results */
    x = sct_rng_u64(rng);
  }
  return (int64_t)(x % range);
}

double sct_rng_unit(sct_rng *rng) {
  return (double)(sct_rng_u64(rng) >> 11) * 0x1p-53;
}

#define GOLDEN 0x9e3779b97f4a7c15ULL

uint64_t sct_mix64(uint64_t seed, uint64_t index) {
  return finalise(finalise(seed + GOLDEN) + (index + 1) * GOLDEN);
}

void sct_mix64_row(uint64_t *out, int n, uint64_t seed, uint64_t first) {
  uint64_t z = finalise(seed + GOLDEN) + first * GOLDEN;
  for (int k = 0; k < n; k++) {
    z += GOLDEN;
    out[k] = finalise(z);
  }
}

int64_t sct_permute(int64_t i, int64_t n, uint64_t seed) {
  if (n <= 1) {
    return 0;
  }
  int half = 1; /* bits of each Feistel half: the network permutes [0, 4^half) */
  while (half < 31 && ((int64_t)1 << (2 * half)) < n) {
    half++;
  }
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  uint64_t x = (uint64_t)i;
  do {
    uint64_t left = x >> half, right = x & mask;
    for (uint64_t round = 0; round < 4; round++) {
      const uint64_t next = left ^ (sct_mix64(seed + round, right) & mask);
      left = right;
      right = next;
    }
    x = (left << half) | right;
  } while (x >= (uint64_t)n);
  return (int64_t)x;
}
