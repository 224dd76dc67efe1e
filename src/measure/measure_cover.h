/* measure_cover - few of many situations, such that traits of them occur in pairs.
 *
 * A situation is the list of its traits (numbers below n_traits): "the rows are one more than a
 * multiple of 32", "a lies at 4 modulo 16". A set of situations covers a pair of traits if one of
 * them has both; mistakes that two circumstances must meet for show in a set that covers all pairs
 * that can occur (covering arrays, as in D. R. Kuhn et al., Software fault interactions and
 * implications for software testing, 2004). */
#ifndef SCT_MEASURE_COVER_H
#define SCT_MEASURE_COVER_H

#include "base/base.h"

#define SCT_MAX_TRAITS 256 /* that there are, in all */

typedef struct sct_cover {
  int n_traits;
  uint64_t *pairs; /* bits of those that were covered */
} sct_cover;

typedef struct sct_traits {
  int n;
  uint8_t all[SCT_MAX_TRAITS];
} sct_traits;

static inline void sct_traits_add(sct_traits *t, int trait) {
  t->all[t->n++] = (uint8_t)trait;
}

/* What is left of an extent that a modulus divides: what loops and guards get wrong. */
enum { SCT_REST_NONE, SCT_REST_ONE, SCT_REST_ALL_BUT_ONE, SCT_REST_OTHER, SCT_N_RESTS };

static inline int sct_rest_of(int64_t extent, int64_t modulus) {
  const int64_t rest = extent % modulus;
  return rest == 0             ? SCT_REST_NONE
         : rest == modulus - 1 ? SCT_REST_ALL_BUT_ONE
         : rest == 1           ? SCT_REST_ONE
                               : SCT_REST_OTHER;
}

/* The next one of some random numbers of 32 bits. */
static inline uint64_t sct_take(uint64_t *rng) {
  *rng = sct_mix64(*rng, 0x9e37);
  return *rng >> 32;
}

void sct_cover_init(sct_cover *out, int n_traits);
void sct_cover_free(sct_cover *cover);
SCT_OWNS(sct_cover, sct_cover_free)
/* How many pairs of its traits no situation has had so far; a trait that none has had counts as
 * many as this. */
#define SCT_NEW_TRAIT 40
int sct_cover_gain(const sct_cover *cover, const sct_traits *traits);
void sct_cover_add(sct_cover *cover, const sct_traits *traits);

#endif
