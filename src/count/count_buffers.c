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

enum { ZERO, WORDS, INDEX, PERM, F32 }; /* the first rows of count_fills.def */

const sct_count_buffer count_given[] = {
    {.name = "in", .bytes = 4 * GIVEN_WORDS, .fill = WORDS, .type = -1},
    {.name = "b", .bytes = 4 * GIVEN_WORDS, .fill = WORDS, .type = -1},
    {.name = "out", .bytes = 4 * GIVEN_WORDS, .fill = ZERO, .type = -1},
    {.name = "ind", .bytes = 4 * GIVEN_INDEX, .fill = INDEX, .type = -1},
    {.name = "perm", .bytes = 4 * GIVEN_INDEX, .fill = PERM, .type = -1},
};
const int count_n_given = SCT_COUNT(count_given);

/* Element i has the value that a buffer of words has as word i. */
static void *typed(const uint32_t *words, int64_t n, int type) {
  const int bytes = count_types[type].bytes;
  uint8_t *const data = sct_alloc((size_t)(n * bytes));
  sct_str ignored = {0};
  for (int64_t i = 0; i < n; i++) {
    const int64_t mask = bytes < 4 ? (INT64_C(1) << (8 * bytes)) - 1 : UINT32_MAX;
    const sct_count_arg value = {.kind =
                                     count_types[type].real ? SCT_COUNT_REAL : SCT_COUNT_INTEGER,
                                 .type = type,
                                 .integer = words[i] & mask,
                                 .real = words[i]};
    (void)count_encode(data + i * bytes, bytes, &value, NULL, &ignored);
  }
  sct_str_free(&ignored);
  return data;
}

void *count_contents(const sct_count_buffer *b, int64_t *held) {
  const int64_t n = b->type < 0 ? (b->bytes + 3) / 4 : b->bytes / count_types[b->type].bytes;
  uint32_t *const words = sct_alloc((size_t)n * sizeof(*words));
  const bool same = b->type < 0 || (count_types[b->type].bytes == 4 && !count_types[b->type].real);
  *held = b->bytes;
  fills[b->type >= 0 && b->fill == F32 ? INDEX : b->fill](words, n);
  if (same) {
    return words;
  }
  void *const data = typed(words, n, b->type);
  sct_free(words);
  return data;
}

static sct_status add_buffer(sct_ptx_memory *memory, uint64_t *address, const sct_count_buffer *b,
                             sct_error *err) {
  int64_t held = 0;
  void *const data = count_contents(b, &held);
  const sct_ptx_buffer given = {.name = b->name, .bytes = b->bytes, .data = data};
  const sct_status status = sct_ptx_memory_add(memory, address, &given, err);
  sct_free(data);
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
