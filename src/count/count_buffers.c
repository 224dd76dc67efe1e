/* count_buffers - what the pointers of a launch point to. */
#include "count/count_internal.h"

#include <string.h>

#define GIVEN_WORDS (INT64_C(16) << 20)
#define GIVEN_INDEX INT64_C(10000)

static uint32_t float_bits(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

#define COUNT_FILL(name, word)                                                                     \
  static void fill_##name(uint32_t *words, int64_t n) {                                            \
    for (int64_t i = 0; i < n; i++) {                                                              \
      words[i] = word;                                                                             \
    }                                                                                              \
  }
#include "count/count_fills.def"
#undef COUNT_FILL

static void (*const fills[])(uint32_t *words, int64_t n) = {
#define COUNT_FILL(name, word) fill_##name,
#include "count/count_fills.def"
#undef COUNT_FILL
};

const char *const count_fills[] = {
#define COUNT_FILL(name, word) #name,
#include "count/count_fills.def"
#undef COUNT_FILL
};
const int count_n_fills = SCT_COUNT(count_fills);

enum { ZERO, WORDS, INDEX, PERM }; /* the first rows of count_fills.def */

const sct_count_buffer count_given[] = {
    {.name = "in", .bytes = 4 * GIVEN_WORDS, .fill = WORDS},
    {.name = "b", .bytes = 4 * GIVEN_WORDS, .fill = WORDS},
    {.name = "out", .bytes = 4 * GIVEN_WORDS, .fill = ZERO},
    {.name = "ind", .bytes = 4 * GIVEN_INDEX, .fill = INDEX},
    {.name = "perm", .bytes = 4 * GIVEN_INDEX, .fill = PERM},
};
const int count_n_given = SCT_COUNT(count_given);

static sct_status add_buffer(sct_ptx_memory *memory, uint64_t *address, const sct_count_buffer *b,
                             sct_error *err) {
  const int64_t n = (b->bytes + 3) / 4;
  uint32_t *const words = sct_alloc((size_t)n * sizeof(*words));
  fills[b->fill](words, n);
  const sct_ptx_buffer given = {.name = b->name, .bytes = b->bytes, .data = words};
  const sct_status status = sct_ptx_memory_add(memory, address, &given, err);
  sct_free(words);
  return status;
}

sct_status count_memory_new(sct_ptx_memory **out, uint64_t *address,
                            const sct_count_manifest *manifest, sct_error *err) {
  sct_ptx_memory_new(out);
  for (int i = 0; i < manifest->n_buffers; i++) {
    if (!manifest->buffers[i].used) {
      continue;
    }
    const sct_status status = add_buffer(*out, &address[i], &manifest->buffers[i], err);
    if (status != SCT_OK) {
      sct_ptx_memory_free(*out);
      *out = NULL;
      return status;
    }
  }
  return SCT_OK;
}
