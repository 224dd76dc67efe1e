/* Content hashes: XXH3, 128 bits. */
#include "base/base.h"

#include <string.h>
#include <xxhash.h>

sct_hash sct_hash_bytes(const void *data, size_t n) {
  const XXH128_hash_t h = XXH3_128bits(n ? data : "", n);
  return (sct_hash){.hi = h.high64, .lo = h.low64};
}

sct_hash sct_hash_text(const char *text) {
  return sct_hash_bytes(text, strlen(text));
}

char *sct_hash_hex(char out[SCT_HASH_HEX], sct_hash h) {
  static const char digits[] = "0123456789abcdef";
  for (int k = 0; k < 16; k++) {
    const int shift = 60 - 4 * k;
    out[k] = digits[h.hi >> shift & 15];
    out[k + 16] = digits[h.lo >> shift & 15];
  }
  out[32] = '\0';
  return out;
}

bool sct_hash_equal(sct_hash a, sct_hash b) {
  return a.hi == b.hi && a.lo == b.lo;
}
