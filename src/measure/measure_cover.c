#include "measure_cover.h"

#include <assert.h>

void sct_cover_init(sct_cover *out, int n_traits) {
  assert(n_traits <= SCT_MAX_TRAITS);
  const size_t n_bits = (size_t)n_traits * (size_t)n_traits;
  out->n_traits = n_traits;
  out->pairs = sct_alloc(sizeof *out->pairs * (n_bits / 64 + 1));
}

void sct_cover_free(sct_cover *cover) {
  sct_free(cover->pairs);
  *cover = (sct_cover){0};
}

/* Number of the pair's bit: either order gives the same. */
static size_t bit_of(const sct_cover *cover, const sct_traits *traits, int i, int j) {
  const size_t a = traits->all[i], b = traits->all[j];
  return a < b ? a * (size_t)cover->n_traits + b : b * (size_t)cover->n_traits + a;
}

int sct_cover_gain(const sct_cover *cover, const sct_traits *traits) {
  int gain = 0;
  for (int i = 0; i < traits->n; i++) {
    for (int j = i; j < traits->n; j++) {
      const size_t bit = bit_of(cover, traits, i, j);
      const bool is_new = (cover->pairs[bit / 64] >> (bit % 64) & 1) == 0;
      gain += is_new ? i == j ? SCT_NEW_TRAIT : 1 : 0;
    }
  }
  return gain;
}

void sct_cover_add(sct_cover *cover, const sct_traits *traits) {
  for (int i = 0; i < traits->n; i++) {
    for (int j = i; j < traits->n; j++) {
      const size_t bit = bit_of(cover, traits, i, j);
      cover->pairs[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
  }
}
