/* count_buffers - what the pointers of a launch point to. */
#include "count/count_internal.h"

#include <string.h>

#define GIVEN_WORDS (INT64_C(16) << 20)
#define GIVEN_INDEX INT64_C(10000)
#define SEED        1 /* of what is shuffled and random */

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

const sct_count_buffer count_given[] = {
    {.name = "in", .bytes = 4 * GIVEN_WORDS, .fill = COUNT_IS_words, .type = -1},
    {.name = "b", .bytes = 4 * GIVEN_WORDS, .fill = COUNT_IS_words, .type = -1},
    {.name = "out", .bytes = 4 * GIVEN_WORDS, .fill = COUNT_IS_zero, .type = -1},
    {.name = "ind", .bytes = 4 * GIVEN_INDEX, .fill = COUNT_IS_index, .type = -1},
    {.name = "perm", .bytes = 4 * GIVEN_INDEX, .fill = COUNT_IS_perm, .type = -1},
};
const int count_n_given = SCT_COUNT(count_given);

/* Random numbers below b->below; of real types with fractions, below 1 by default. */
static void limit(uint32_t *words, int64_t n, const sct_count_buffer *b) {
  for (int64_t i = 0; b->below > 0 && i < n; i++) {
    words[i] = (uint32_t)(words[i] % (uint64_t)b->below);
  }
}

static double real_of(const sct_count_buffer *b, uint32_t word) {
  const double below = b->below > 0 ? (double)b->below : 1.0;
  return b->fill == COUNT_IS_random ? below * (word / 4294967296.0) : word;
}

/* Element i has the value that a buffer of words has as word i. */
static void *typed(const uint32_t *words, int64_t n, const sct_count_buffer *b) {
  const int bytes = count_types[b->type].bytes;
  uint8_t *const data = sct_alloc((size_t)(n * bytes));
  const count_layout to = {.bytes = bytes};
  SCT_SCOPED(sct_str) ignored = {0};
  for (int64_t i = 0; i < n; i++) {
    const int64_t mask = bytes < 4 ? (INT64_C(1) << (8 * bytes)) - 1 : UINT32_MAX;
    const sct_count_arg value = {.kind =
                                     count_types[b->type].real ? SCT_COUNT_REAL : SCT_COUNT_INTEGER,
                                 .type = b->type,
                                 .integer = words[i] & mask,
                                 .real = real_of(b, words[i])};
    (void)count_encode(data + i * bytes, &to, &value, NULL, &ignored);
  }
  return data;
}

/* What values and files hold, as often as it fits. */
static void *repeated(const sct_count_buffer *b) {
  uint8_t *const data = sct_alloc((size_t)b->bytes);
  for (int64_t at = 0; at < b->bytes; at += b->held_bytes) {
    const int64_t left = b->bytes - at;
    memcpy(data + at, b->held, (size_t)(left < b->held_bytes ? left : b->held_bytes));
  }
  return data;
}

void *count_contents(const sct_count_buffer *b) {
  const bool real = b->type >= 0 && count_types[b->type].real;
  if (b->held) {
    return repeated(b);
  }
  const int64_t n = b->type < 0 ? (b->bytes + 3) / 4 : b->bytes / count_types[b->type].bytes;
  uint32_t *const words = sct_alloc((size_t)n * sizeof(*words));
  fills[b->type >= 0 && b->fill == COUNT_IS_f32 ? COUNT_IS_index : b->fill](words, n);
  if (!real) {
    limit(words, n, b);
  }
  if (b->type < 0 || (count_types[b->type].bytes == 4 && !real)) {
    return words;
  }
  void *const data = typed(words, n, b);
  sct_free(words);
  return data;
}

static sct_status add_buffer(sct_ptx_memory *memory, uint64_t *address, const sct_count_buffer *b,
                             sct_error *err) {
  void *const data = count_contents(b);
  const sct_ptx_buffer given = {
      .name = b->name, .bytes = b->bytes, .data = b->fill == COUNT_IS_unset ? NULL : data};
  const sct_status status = sct_ptx_memory_add(memory, address, &given, err);
  sct_free(data);
  return status;
}

/* Members of a list, once all addresses are known. Their types have the sizes that were summed. */
static void fill_list(sct_ptx_memory *memory, uint64_t *address, int i, const sct_count_buffer *b) {
  count_addresses known = {.of = address};
  SCT_SCOPED(sct_str) ignored = {0};
  uint8_t *const data = sct_alloc((size_t)b->bytes);
  const count_layout to = {.bytes = b->bytes};
  (void)count_encode(data, &to, b->list, &known, &ignored);
  sct_ptx_memory_reset(memory, address[i], data);
  sct_free(known.pointers);
  sct_free(data);
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
  for (int i = 0; i < manifest->n_buffers; i++) {
    if (manifest->buffers[i].used && manifest->buffers[i].list) {
      fill_list(*out, address, i, &manifest->buffers[i]);
    }
  }
  return SCT_OK;
}
