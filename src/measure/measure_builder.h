/* measure_builder - how a list of situations is made (measure_situations.c), and where arrays lie
 * in each of them (measure_residues.c). */
#ifndef SCT_MEASURE_BUILDER_H
#define SCT_MEASURE_BUILDER_H

#include "measure_cover.h"
#include "measure_session.h"

/* The remainders of an extent by a modulus that loops and guards get wrong. */
enum { REST_NONE, REST_ONE, REST_ALL_BUT_ONE, REST_OTHER, N_RESTS };

static inline int sct_rest_of(int64_t extent, int64_t modulus) {
  const int64_t rest = extent % modulus;
  return rest == 0             ? REST_NONE
         : rest == modulus - 1 ? REST_ALL_BUT_ONE
         : rest == 1           ? REST_ONE
                               : REST_OTHER;
}

/* The next number of a series that a seed begins. */
static inline uint64_t sct_take(uint64_t *rng) {
  *rng = sct_mix64(*rng, 0x9e37);
  return *rng >> 32;
}

#define SCT_MAX_MODULI 16 /* of a dimension */

typedef struct sct_moduli {
  int n;
  int64_t all[SCT_MAX_MODULI];
} sct_moduli;

/* What the cases of a candidate may cost in all, those that it meets anyway too, one that is listed
 * for no edge of the candidate's, and how many they are. */
typedef struct sct_budget {
  double all, one;
  int cases;
} sct_budget;

typedef struct sct_builder {
  sct_measure *m;
  const sct_spec *spec;
  const sct_kernel_code *code;
  sct_tuples must;
  sct_moduli of[SCT_MAX_DIMS];
  int n_traits;
  sct_cover cover;
  bool strange; /* the template of another, which has not been tested: much more is looked at */
  sct_budget most;
  double cost; /* of what was added, see cost_of() */
  sct_situations *out;
} sct_builder;

void sct_situation_add(sct_builder *b, sct_case *c, const int64_t *residue);

/* Where the arrays lie in each situation: of some that are drawn, what covers most pairs. */
void sct_choose_residues(sct_builder *b);

/* Further situations for kernels that look at addresses as numbers, to peel a head or to choose a
 * path: all pairs of what these can be modulo a vector, each with several remainders of the last
 * extent. */
void sct_add_unlike(sct_builder *b);

#endif
