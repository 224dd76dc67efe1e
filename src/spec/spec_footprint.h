/* How arrays at one size become sets of bytes, for the files that work footprints out. */
#ifndef SCT_SPEC_FOOTPRINT_H
#define SCT_SPEC_FOOTPRINT_H

#include "spec/spec_internal.h"
#include "spec/spec_spans.h"

enum { SECTOR = 32, MOST_VARS = 48 };

/* ---- expressions as spans (spec_sum.c) ---- */

typedef struct variable {
  sct_expr var;
  int64_t count;
} variable;

/* An expression over variables; `fixed` has its modes so far, and the width. */
typedef struct sum {
  sct_expr_pool *pool;
  sct_expr e;
  span fixed;
  int n;
  variable v[MOST_VARS];
} sum;

/* A new variable of the pool, in [0, count). */
sct_expr sct_sum_var(sct_expr_pool *pool, int64_t count);
/* false: there is no room. */
bool sct_sum_add(sum *s, sct_expr var, int64_t count);
/* Puts the spans of the values of an expression. false: there are too many. */
bool sct_sum_put(sct_spans *out, sum *s);

/* ---- the places of an array ---- */

/* One array at one size. Variables of the pool from `mark` on are its own. */
typedef struct places {
  const sct_spec *spec;
  const sct_operand *op;
  const sct_layout *layout;
  const sct_size *size;
  int64_t extent[SCT_MAX_DIMS];          /* of the array */
  sct_expr dim[SCT_MAX_DIMS];            /* of the index space: a variable of the real range */
  int n_vars;                            /* extents, dimensions, ... */
  sct_expr vars[ENV_CAP], with[ENV_CAP]; /* ... and what stands for them */
} places;

/* An expression of the spec at this size, over the variables of the real ranges. */
sct_expr sct_places_in(const places *p, sct_expr e);
/* Adds the dimensions that `s` mentions. */
bool sct_places_dims(const places *p, sum *s);

/* What the rows touch that an index array, or the body, points to (spec_entries.c). */
bool sct_places_entries(sct_footprint *out, const places *p);

#endif
