/* Offsets of an array's elements, in row-major order: by strides where the layout is a sum of them,
 * else by its program. */
#include "measure_walk.h"

#include <string.h>

sct_status sct_walk_outside(const sct_shape *s, int op, sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "an element of '%s' lies outside its array",
                  s->addressing->op[op].op->name);
}

sct_part sct_part_first(const int64_t *extent, int n_dims, int64_t count) {
  return (sct_part){.extent = extent,
                    .n_dims = n_dims,
                    .left = count,
                    .n = (int)(count < SCT_PART ? count : SCT_PART)};
}

/* The index n elements later. */
static void advance(int64_t *idx, const int64_t *extent, int n_dims, int64_t n) {
  for (int d = n_dims - 1; d >= 0 && n > 0; d--) {
    n += idx[d];
    idx[d] = n % extent[d];
    n /= extent[d];
  }
}

void sct_part_next(sct_part *p) {
  p->linear += p->n;
  p->left -= p->n;
  advance(p->idx, p->extent, p->n_dims, p->n);
  p->n = (int)(p->left < SCT_PART ? p->left : SCT_PART);
}

/* Where each dimension by itself adds the same at each step, what the program gives at the corners
 * of the unit cube tells all of it: a product of indices shows as a corner that is no sum. */
static void find_strides(sct_walk *w, int n_dims, int64_t *inputs) {
  for (unsigned corner = 0; w->linear && corner < 1U << n_dims; corner++) {
    uint64_t sum = w->origin;
    for (int d = 0; d < n_dims; d++) {
      inputs[d] = corner >> d & 1;
      sum += inputs[d] != 0 ? w->stride[d] : 0;
    }
    const uint64_t found = (uint64_t)sct_expr_program_run(w->program, inputs);
    if (corner == 0) {
      w->origin = found;
    } else if ((corner & (corner - 1)) == 0) { /* one step, along one dimension */
      w->stride[__builtin_ctz(corner)] = found - w->origin;
    } else {
      w->linear = found == sum;
    }
  }
}

bool sct_walk_inside(const sct_walk *w, const sct_part *p, int64_t bytes, int64_t array_bytes) {
  int64_t low = (int64_t)w->origin, high = low;
  bool lost = !w->linear;
  for (int d = 0; d < p->n_dims && !lost; d++) {
    int64_t span = 0;
    lost = __builtin_mul_overflow((int64_t)w->stride[d], p->extent[d] - 1, &span);
    int64_t *end = span < 0 ? &low : &high;
    lost = lost || __builtin_add_overflow(*end, span, end);
  }
  return !lost && low >= 0 && high <= array_bytes - bytes;
}

void sct_walk_begin(sct_walk *w, const sct_expr_program *program, int n_dims, bool indexed,
                    int64_t *inputs) {
  *w = (sct_walk){.program = program,
                  .even = n_dims > 0 && !indexed && sct_expr_program_is_affine(program, n_dims - 1),
                  .linear = n_dims > 0 && !indexed && n_dims <= SCT_WALK_STRIDES};
  for (int d = 0; d < n_dims && w->linear; d++) {
    w->linear = sct_expr_program_is_affine(program, d);
  }
  find_strides(w, n_dims, inputs);
}

/* out[k]: the offset of element k of the part, by strides. */
static void linear_offsets(int64_t *out, const sct_walk *w, const sct_part *p) {
  const int last = p->n_dims - 1;
  const uint64_t step = w->stride[last];
  uint64_t at = w->origin;
  int64_t idx[SCT_WALK_STRIDES];
  for (int d = 0; d <= last; d++) {
    idx[d] = p->idx[d];
    at += (uint64_t)idx[d] * w->stride[d];
  }
  for (int k = 0; k < p->n;) {
    const int64_t row = p->extent[last] - idx[last];
    const int n = row < p->n - k ? (int)row : p->n - k;
    for (int j = 0; j < n; j++) {
      out[k + j] = (int64_t)(at + (uint64_t)j * step);
    }
    k += n;
    at += (uint64_t)n * step;
    idx[last] += n;
    for (int d = last; d > 0 && idx[d] == p->extent[d]; d--) {
      at += w->stride[d - 1] - (uint64_t)p->extent[d] * w->stride[d];
      idx[d] = 0;
      idx[d - 1]++;
    }
  }
}

/* out[k]: the offset of element k of n in one row, by the program. inputs[]: those of the first
 * element; only the last dimension's differs from element to element. */
static void row_offsets(int64_t *out, const sct_walk *w, int n_dims, int n, int64_t *inputs) {
  const int last = n_dims - 1;
  const int n_run = w->even && n > 2 ? 2 : n;
  const int64_t index = last >= 0 ? inputs[last] : 0;
  for (int k = 0; k < n_run; k++) {
    if (k > 0) {
      inputs[last] = index + k;
    }
    out[k] = sct_expr_program_run(w->program, inputs);
  }
  for (int k = n_run; k < n; k++) {
    out[k] = (int64_t)((uint64_t)out[0] + (uint64_t)k * ((uint64_t)out[1] - (uint64_t)out[0]));
  }
}

static bool all_inside(const sct_shape *s, int op, int field, const int64_t *offsets, int n) {
  const int64_t bytes = s->addressing->op[op].op->record.fields[field].bytes;
  const uint64_t most = (uint64_t)(s->op[op].bytes - bytes);
  uint64_t outside = s->op[op].bytes < bytes && n > 0; /* in the sign: by one of them */
  outside <<= 63;
  for (int k = 0; k < n; k++) {
    outside |= (uint64_t)offsets[k] | (most - (uint64_t)offsets[k]);
  }
  return outside >> 63 == 0;
}

void sct_walk_inputs(int64_t inputs[SCT_ADDRESSING_INPUTS], const sct_shape *s, sct_whose of,
                     int n_dims, const int64_t *idx) {
  const sct_spec *spec = s->addressing->spec;
  if (of == SCT_TOUCHED) {
    int64_t at[SCT_MAX_DIMS];
    memcpy(at, idx, sizeof *idx * (size_t)spec->n_dims);
    if (sct_spec_is_ragged(spec) && !spec->reduces && spec->n_steps == 0) {
      sct_shape_put_row(s, at); /* what is reduced has an element a row, others one an element */
    }
    sct_shape_inputs(s, at, inputs);
    return;
  }
  memcpy(inputs, idx, sizeof *idx * (size_t)n_dims);
  memcpy(inputs + n_dims, s->extent, sizeof *idx * (size_t)s->addressing->spec->n_extents);
}

bool sct_walk_offsets(int64_t out[SCT_PART], sct_walk *w, const sct_shape *s, int op, int field,
                      sct_whose of, const sct_part *p) {
  const sct_addressing_operand *o = &s->addressing->op[op];
  const bool indexed = of == SCT_TOUCHED && s->addressing->spec->n_index > 0;
  int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
  sct_part row = *p; /* what is left of the part, row by row */
  if (!w->program) {
    sct_walk_inputs(inputs, s, of, p->n_dims, p->idx);
    sct_walk_begin(w, of == SCT_OWN ? o->element[field] : o->offset[field], p->n_dims, indexed,
                   inputs);
    w->inside = sct_walk_inside(w, p, o->op->record.fields[field].bytes, s->op[op].bytes);
  }
  if (w->linear) {
    linear_offsets(out, w, p);
    return w->inside || all_inside(s, op, field, out, p->n);
  }
  for (int k = 0; k < p->n; k += row.n) {
    const int last = p->n_dims - 1;
    const int64_t n = last < 0 || indexed ? 1 : p->extent[last] - row.idx[last];
    row.n = n < p->n - k ? (int)n : p->n - k;
    sct_walk_inputs(inputs, s, of, p->n_dims, row.idx);
    row_offsets(out + k, w, p->n_dims, row.n, inputs);
    advance(row.idx, p->extent, p->n_dims, row.n);
  }
  return all_inside(s, op, field, out, p->n);
}

bool sct_shape_places(const sct_shape *s, int op, int field, sct_places *out) {
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_type_info *info = sct_type_get(operand->record.fields[field].type);
  const int64_t lane_bytes = info->bytes / info->lanes, first[SCT_MAX_DIMS] = {0};
  const int n = operand->n_dims;
  const sct_part whole = {.extent = s->op[op].extent, .n_dims = n};
  int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
  sct_walk w;
  if (s->op[op].count == 0) {
    return false;
  }
  sct_walk_inputs(inputs, s, SCT_OWN, n, first);
  sct_walk_begin(&w, s->addressing->op[op].element[field], n, false, inputs);
  if (!sct_walk_inside(&w, &whole, info->bytes, s->op[op].bytes)) {
    return false;
  }
  *out = (sct_places){.count = s->op[op].count * info->lanes, .origin = (int64_t)w.origin};
  uint64_t aligned = w.origin;
  for (int d = 0; d < SCT_PLACE_DIMS; d++) {
    out->extent[d] = d < n ? s->op[op].extent[d] : d == n ? info->lanes : 1;
    out->stride[d] = d < n ? (int64_t)w.stride[d] : d == n ? lane_bytes : 0;
    aligned |= (uint64_t)out->stride[d];
  }
  return aligned % (uint64_t)lane_bytes == 0;
}
