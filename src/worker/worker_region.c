/* What the device's checksum and comparison kernels compute, on the host: for memory of the
 * host's own, for guard zones whose sum is known beforehand, and as the kernels' reference. */
#include "worker_backend.h"

#include <string.h>

/* A word's part in a sum, by its number: another word there gives another part. */
static uint64_t part_of(uint64_t value, int64_t word) {
  value += ((uint64_t)word + 1) * 0x9e3779b97f4a7c15u;
  for (int round = 0; round < 2; round++) {
    value = (value ^ value >> 32) * 0xd6e8feb86659fd93u;
  }
  return value ^ value >> 32;
}

uint64_t sct_region_sum(const uint8_t *bytes, int64_t lo, int64_t hi) {
  uint64_t sum = 0;
  if (lo >= hi) {
    return 0;
  }
  for (int64_t word = lo / 8; word * 8 < hi; word++) {
    uint8_t part[8] = {0};
    const int64_t from = word * 8 < lo ? lo : word * 8, to = word * 8 + 8 > hi ? hi : word * 8 + 8;
    memcpy(part + (from - word * 8), bytes + (from - lo), (size_t)(to - from));
    uint64_t value;
    memcpy(&value, part, sizeof value);
    sum += part_of(value, word);
  }
  return sum;
}

int64_t sct_bytes_differ(const uint8_t *a, const uint8_t *b, const uint8_t *c, int64_t n,
                         int64_t *first) {
  int64_t count = 0;
  *first = -1;
  if (n == 0 || memcmp(a, b, (size_t)n) == 0) {
    return 0; /* as nearly always, and many bytes at once */
  }
  for (int64_t k = 0; k < n; k++) {
    if (a[k] != b[k] && (!c || b[k] == c[k])) {
      *first = count == 0 ? k : *first;
      count++;
    }
  }
  return count;
}
