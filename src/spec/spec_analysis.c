/* What the offset expressions tell: which dimension runs fastest in memory, and whether a group of
 * neighbours is one aligned word. Nothing is asked of the user; everything is folded out. */
#include <stdio.h>
#include <stdlib.h>

#include "spec/spec_internal.h"

enum { BASE_ALIGN = 256 }; /* of every array's base pointer, in bytes */

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* The pool is the spec's, which callers hold as const: analysis builds scratch expressions and
 * drops them again, so nothing they can see changes. */
static sct_expr offset_at(const sct_spec *spec, sct_expr offset, int dim, sct_expr index) {
  return sct_expr_subst(spec->pool, offset, &spec->dim_var[dim], &index, 1);
}

/* The variable that numbers groups; made once, so that marks and resets around it are cheap. */
static sct_expr group_var(const sct_spec *spec) {
  return sct_expr_var(spec->pool, "group.", 0, SCT_MAX_EXTENT, 1);
}

/* offset(width * g + v) */
static sct_expr group_offset(const sct_spec *spec, sct_expr offset, int dim, int64_t width,
                             int64_t v) {
  sct_expr_pool *pool = spec->pool;
  const sct_expr index =
      sct_expr_add(pool, sct_expr_mul(pool, group_var(spec), sct_expr_const(pool, width)),
                   sct_expr_const(pool, v));
  return offset_at(spec, offset, dim, index);
}

/* Does the value of an index array that `e` uses change with this dimension? */
static bool index_moves(const sct_spec *spec, sct_expr e, int dim) {
  for (int k = 0; k < spec->n_inputs; k++) {
    const sct_operand *index = &spec->operands[k];
    if (!index->is_index || !sct_expr_mentions(spec->pool, e, index->index_value)) {
      continue;
    }
    for (int d = 0; d < index->n_dims; d++) {
      if (sct_expr_mentions(spec->pool, index->at[d], spec->dim_var[dim])) {
        return true;
      }
    }
  }
  return false;
}

/* ---- memory order ---- */

typedef enum step_kind { STEP_NONE, STEP_CONST, STEP_EXTENT, STEP_OTHER } step_kind;

/* How far one step along `dim` goes inside an aligned pair of elements; `bytes` receives a constant
 * step, or its value at the largest size where it depends on extents. */
static step_kind step_of(const sct_spec *spec, sct_expr offset, int dim, int64_t *bytes) {
  *bytes = 0;
  if (index_moves(spec, offset, dim)) {
    return STEP_OTHER;
  }
  if (!sct_expr_mentions(spec->pool, offset, spec->dim_var[dim])) {
    return STEP_NONE;
  }
  const sct_expr step = sct_expr_sub(spec->pool, group_offset(spec, offset, dim, 2, 1),
                                     group_offset(spec, offset, dim, 2, 0));
  if (sct_expr_is_const(spec->pool, step, bytes)) {
    return STEP_CONST;
  }
  int64_t extent[SCT_MAX_EXTENTS];
  for (int k = 0; k < spec->n_extents; k++) {
    extent[k] = 4096;
    for (int size = 0; size < spec->n_sizes; size++) {
      const int64_t n = spec->sizes[size].extent[k];
      extent[k] = size == 0 || n > extent[k] ? n : extent[k];
    }
  }
  const spec_env env = sct_spec_env_extents(spec, extent);
  return sct_spec_env_eval(spec, &env, step, bytes, NULL) == SCT_OK ? STEP_EXTENT : STEP_OTHER;
}

int sct_spec_fastest_dim(const sct_spec *spec, const sct_operand *op, int layout,
                         int64_t *step_bytes) {
  const int32_t mark = sct_expr_mark(spec->pool);
  int best = -1;
  int64_t best_bytes = 0;
  bool best_const = false;
  bool others = false;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    int64_t bytes = 0;
    const step_kind kind = step_of(spec, op->layouts[layout].offset[0], dim, &bytes);
    others = others || kind == STEP_OTHER;
    if (kind != STEP_CONST && kind != STEP_EXTENT) {
      continue;
    }
    if (best < 0 || llabs(bytes) < llabs(best_bytes)) {
      best = dim;
      best_bytes = bytes;
      best_const = kind == STEP_CONST;
    }
  }
  sct_expr_reset(spec->pool, mark);
  *step_bytes = best_const ? best_bytes : 0;
  return best >= 0 ? best : others ? -2 : -1;
}

/* ---- runs ---- */

static int64_t cap_align(int64_t divisor) {
  return gcd(divisor, BASE_ALIGN);
}

/* Elements 1 .. width-1 of a group lie right behind element 0? */
static bool is_contiguous(const sct_spec *spec, sct_expr offset, int dim, int64_t width,
                          int64_t bytes) {
  if (!sct_expr_mentions(spec->pool, offset, spec->dim_var[dim])) {
    return width == 1;
  }
  const sct_expr first = group_offset(spec, offset, dim, width, 0);
  for (int64_t v = 1; v < width; v++) {
    const sct_expr gap = sct_expr_sub(spec->pool, group_offset(spec, offset, dim, width, v), first);
    int64_t value = 0;
    if (!sct_expr_is_const(spec->pool, gap, &value) || value != v * bytes) {
      return false;
    }
  }
  return true;
}

/* The offset where every extent is `width` times some whole number. */
static sct_expr with_multiples(const sct_spec *spec, sct_expr offset, int64_t width) {
  sct_expr_pool *pool = spec->pool;
  sct_expr with[SCT_MAX_EXTENTS];
  for (int k = 0; k < spec->n_extents; k++) {
    char name[32];
    snprintf(name, sizeof(name), "multiple.%d", k);
    const sct_expr whole = sct_expr_var(pool, name, 0, SCT_MAX_EXTENT, 1);
    with[k] = sct_expr_mul(pool, whole, sct_expr_const(pool, width));
  }
  return sct_expr_subst(pool, offset, spec->extent_var, with, spec->n_extents);
}

sct_run sct_spec_run(const sct_spec *spec, const sct_operand *op, int layout, int field, int dim,
                     int64_t width) {
  const sct_expr offset = op->layouts[layout].offset[field];
  const int64_t bytes = op->record.fields[field].bytes;
  sct_run run = {.contiguous = false, .contiguous_if = false, .align = 1, .align_if = 1};
  if (width > 1 && index_moves(spec, offset, dim)) {
    return run;
  }
  const int32_t mark = sct_expr_mark(spec->pool);
  const sct_expr known = with_multiples(spec, offset, width);
  run.contiguous = is_contiguous(spec, offset, dim, width, bytes);
  run.contiguous_if = is_contiguous(spec, known, dim, width, bytes);
  run.align = cap_align(sct_expr_divisor(spec->pool, group_offset(spec, offset, dim, width, 0)));
  run.align_if = cap_align(sct_expr_divisor(spec->pool, group_offset(spec, known, dim, width, 0)));
  sct_expr_reset(spec->pool, mark);
  return run;
}
