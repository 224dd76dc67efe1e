/* measure_walk - elements of an array in parts, whose offsets are found together. */
#ifndef SCT_MEASURE_WALK_H
#define SCT_MEASURE_WALK_H

#include "measure_data.h"

#define SCT_PART 256 /* elements at most */

typedef struct sct_part {
  const int64_t *extent;
  int n_dims;
  int64_t idx[SCT_MAX_DIMS]; /* of its first element */
  int64_t linear;            /* number of that in row-major order */
  int64_t left;              /* elements from there on */
  int n;                     /* of this part, in that order; 0: there are no more */
} sct_part;

sct_part sct_part_first(const int64_t *extent, int n_dims, int64_t count);
void sct_part_next(sct_part *p);

/* Offsets of one field, part after part. Where they are a sum of strides times indices (modulo
 * 2^64), the strides are found once. */
#define SCT_WALK_STRIDES 6
_Static_assert(SCT_WALK_STRIDES < SCT_PLACE_DIMS, "with lanes");
typedef struct sct_walk {
  const sct_expr_program *program; /* NULL: not begun */
  bool even;                       /* along a row */
  bool linear;                     /* stride[] holds */
  bool inside;                     /* so none of them need be looked at */
  uint64_t origin, stride[SCT_WALK_STRIDES];
} sct_walk;

/* Whose elements: the array's own, or those that elements of the index space touch. */
typedef enum sct_whose { SCT_OWN, SCT_TOUCHED } sct_whose;

void sct_walk_inputs(int64_t inputs[SCT_ADDRESSING_INPUTS], const sct_shape *s, sct_whose of,
                     int n_dims, const int64_t *idx);
/* inputs[]: dimensions first, which are changed; the others are the same for all parts, unless the
 * offsets depend on what index arrays hold. */
void sct_walk_begin(sct_walk *w, const sct_expr_program *program, int n_dims, bool indexed,
                    int64_t *inputs);
/* Offsets of a field of the part's elements; false: one lies outside of the array. */
bool sct_walk_offsets(int64_t out[SCT_PART], sct_walk *w, const sct_shape *s, int op, int field,
                      sct_whose of, const sct_part *p);
/* Do all `bytes` at the offsets of these elements lie in an array of so many? Where this cannot be
 * said of strides, false. */
bool sct_walk_inside(const sct_walk *w, const sct_part *p, int64_t bytes, int64_t array_bytes);
/* Says that an element is outside. */
sct_status sct_walk_outside(const sct_shape *s, int op, sct_error *err);

#endif
