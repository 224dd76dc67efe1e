/* What an index space touches of an array: the bytes of the fields that the body uses, at every
 * element's own place and at its taps, as sets of bytes (spec_spans.h).
 *
 * First every index of the array by itself: the places along it, what its taps reach, cut by the
 * border. Then the layout's offset over these. Both are the same step, of spec_sum.c: an expression
 * over variables becomes spans. What lies behind an index array is in spec_entries.c. */
#include <string.h>

#include "spec/spec_footprint.h"

/* ---- places ---- */

sct_expr sct_places_in(const places *p, sct_expr e) {
  return sct_expr_subst(p->spec->pool, e, p->vars, p->with, p->n_vars);
}

static bool open_places(places *p, const sct_spec *spec, int op, int layout, const sct_size *size) {
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  *p = (places){.spec = spec,
                .op = &spec->operands[op],
                .layout = &spec->operands[op].layouts[layout],
                .size = size};
  for (int k = 0; k < spec->n_extents; k++) {
    p->vars[p->n_vars] = spec->extent_var[k];
    p->with[p->n_vars++] = sct_expr_const(spec->pool, size->extent[k]);
  }
  for (int d = 0; d < spec->n_dims; d++) {
    p->dim[d] = sct_sum_var(spec->pool, size->extent[d] > 0 ? size->extent[d] : 1);
    p->vars[p->n_vars] = spec->dim_var[d];
    p->with[p->n_vars++] = p->dim[d];
  }
  for (int d = 0; d < p->op->n_dims; d++) {
    if (sct_spec_env_eval(spec, &env, p->op->extent[d], &p->extent[d], NULL) != SCT_OK) {
      return false;
    }
  }
  return true;
}

/* Adds the dimensions that `e` mentions. */
bool sct_places_dims(const places *p, sum *s) {
  for (int d = 0; d < p->spec->n_dims; d++) {
    if (sct_expr_mentions(p->spec->pool, s->e, p->dim[d]) &&
        !sct_sum_add(s, p->dim[d], p->size->extent[d])) {
      return false;
    }
  }
  return true;
}

static bool is_unknown(const places *p, sct_expr at) {
  bool unknown = false;
  for (int k = 0; k < p->spec->n_operands; k++) {
    unknown = unknown || (p->spec->operands[k].is_index &&
                          sct_expr_mentions(p->spec->pool, at, p->spec->operands[k].index_value));
  }
  return unknown || sct_spec_is_computed(p->spec, at);
}

/* Does another index of the array move with a dimension of this one? */
static bool stands_alone(const places *p, int d) {
  bool alone = true;
  for (int dim = 0; dim < p->spec->n_dims; dim++) {
    const sct_expr var = p->spec->dim_var[dim];
    for (int other = 0; other < p->op->n_dims; other++) {
      alone = alone && (other == d || !sct_expr_mentions(p->spec->pool, p->op->at[d], var) ||
                        !sct_expr_mentions(p->spec->pool, p->op->at[other], var));
    }
  }
  return alone;
}

/* What lies beyond one end of an array's index finds: its mirror image, the last element there
 * being the mirror; the whole array, where that lies beyond the other end. */
static void put_mirrored(sct_spans *out, const span *s, bool is_low, int64_t extent) {
  SCT_SCOPED(sct_spans) beyond = {0};
  const span all = {.width = extent};
  const int64_t mirror = is_low ? 0 : extent - 1;
  sct_spans_clip(&beyond, s, is_low ? INT64_MIN / 4 : extent, is_low ? 0 : INT64_MAX / 4);
  for (size_t k = 0; k < beyond.n; k++) {
    span *const at = &beyond.at[k];
    at->base = 2 * mirror - (at->base + sct_span_reach(at) - 1);
    const bool fits = at->base >= 0 && at->base + sct_span_reach(at) <= extent;
    sct_spans_put(out, fits ? at : &all);
  }
}

/* What a tap finds of `s`, places along an array's index of `extent`. */
static void put_bordered(sct_spans *out, const span *s, sct_border border, int64_t extent) {
  const int64_t end = s->base + sct_span_reach(s);
  const span first = {.base = 0, .width = 1}, last = {.base = extent - 1, .width = 1};
  if (border == SCT_BORDER_NONE) {
    sct_spans_put(out, s);
    return;
  }
  sct_spans_clip(out, s, 0, extent);
  if (border == SCT_BORDER_CLAMP && s->base < 0) {
    sct_spans_put(out, &first);
  }
  if (border == SCT_BORDER_CLAMP && end > extent) {
    sct_spans_put(out, &last);
  }
  if (border == SCT_BORDER_REFLECT) {
    put_mirrored(out, s, true, extent);
    put_mirrored(out, s, false, extent);
  }
  for (int64_t from = border == SCT_BORDER_WRAP ? s->base - extent + 1 : end; from < end;) {
    const int64_t period = (from >= 0 ? from / extent : -((extent - 1 - from) / extent)) * extent;
    SCT_SCOPED(sct_spans) wrapped = {0};
    if (period != 0) {
      sct_spans_clip(&wrapped, s, period, period + extent);
    }
    for (size_t k = 0; k < wrapped.n; k++) {
      wrapped.at[k].base -= period;
      sct_spans_put(out, &wrapped.at[k]);
    }
    from = period + extent;
  }
}

/* Neighbours that are whole runs become one. */
static void join_runs(sct_spans *s) {
  for (size_t a = 0; a < s->n; a++) {
    sct_span_join(&s->at[a]);
  }
  for (size_t a = 0; a < s->n; a++) {
    for (size_t b = 0; b < s->n; b++) {
      span *x = &s->at[a], *y = &s->at[b];
      if (a != b && x->n_modes == 0 && y->n_modes == 0 && y->base >= x->base &&
          y->base <= x->base + x->width) {
        const int64_t end = y->base + y->width;
        x->width = end > x->base + x->width ? end - x->base : x->width;
        *y = s->at[--s->n];
        a = 0;
        b = (size_t)-1;
      }
    }
  }
}

static bool is_offsets(const sct_spec *spec, const sct_operand *op) {
  return sct_spec_is_ragged(spec) && op == &spec->operands[spec->ragged.offsets];
}

/* Places along index d of the array, at tap `tap` (NULL: the own place). */
static bool put_index(sct_spans *out, const places *p, int d, const sct_tap *tap) {
  if (is_offsets(p->spec, p->op) || is_unknown(p, p->op->at[d])) { /* each row has two offsets */
    const span all = {.width = p->extent[d]};
    sct_spans_put(out, &all);
    return true;
  }
  SCT_SCOPED(sct_spans) own = {0};
  SCT_OWNED sum *s = sct_alloc(sizeof *s);
  *s = (sum){.pool = p->spec->pool, .e = sct_places_in(p, p->op->at[d]), .fixed = {.width = 1}};
  if (s->e == SCT_EXPR_NONE || !sct_places_dims(p, s) || !sct_sum_put(&own, s)) {
    return false;
  }
  for (size_t k = 0; k < own.n; k++) {
    sct_span_join(&own.at[k]);
    own.at[k].base += tap ? tap->delta[d] : 0;
    for (int64_t n = tap ? sct_tap_count(tap, d) : 1; n > 0; n--) {
      put_bordered(out, &own.at[k], p->op->border, p->extent[d]);
      own.at[k].base += tap ? sct_tap_step(tap, d) : 0;
    }
  }
  join_runs(out);
  return true;
}

/* Index d of the array as a span says it: its variables are added. */
static sct_expr index_of(sum *s, const span *at) {
  sct_expr index = sct_expr_const(s->pool, at->base);
  for (int k = 0; k <= at->n_modes; k++) {
    const int64_t count = k < at->n_modes ? at->mode[k].count : at->width;
    const int64_t stride = k < at->n_modes ? at->mode[k].stride : 1;
    if (count > 1) {
      const sct_expr var = sct_sum_var(s->pool, count);
      index = sct_sum_add(s, var, count)
                  ? sct_expr_add(s->pool, index,
                                 sct_expr_mul(s->pool, var, sct_expr_const(s->pool, stride)))
                  : SCT_EXPR_NONE;
    }
  }
  return index;
}

/* A number over several indices, each in [base, base + width) of `box`, that takes every value of a
 * range: as row-major numbers do, which a layout then divides. *first receives its least value, the
 * result is how many it has; 0: it does not. */
static int64_t values_of_number(const places *p, sct_expr number, const span *const *box,
                                int64_t *first) {
  sct_expr vars[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  int64_t values[SCT_MAX_DIMS + SCT_MAX_EXTENTS], step[SCT_MAX_DIMS], count[SCT_MAX_DIMS];
  const int n_dims = p->op->n_dims;
  int64_t reached = 0;
  int n = 0;
  sct_expr_program *program = NULL;
  for (int d = 0; d < n_dims; d++) {
    vars[d] = p->op->index[d];
    values[d] = box[d] ? box[d]->base : 0;
  }
  memcpy(vars + n_dims, p->spec->extent_var, sizeof *vars * (size_t)p->spec->n_extents);
  memcpy(values + n_dims, p->size->extent, sizeof *values * (size_t)p->spec->n_extents);
  if (sct_expr_program_new(&program, p->spec->pool, number, vars, n_dims + p->spec->n_extents,
                           NULL) != SCT_OK) {
    return 0;
  }
  *first = sct_expr_program_run(program, values);
  bool good = true;
  for (int d = 0; d < n_dims && good; d++) {
    if (!sct_expr_mentions(p->spec->pool, number, vars[d])) {
      continue;
    }
    values[d]++;
    const int64_t by = sct_expr_program_run(program, values) - *first;
    values[d]--;
    int at = n++;
    for (; at > 0 && step[at - 1] > by; at--) {
      step[at] = step[at - 1];
      count[at] = count[at - 1];
    }
    step[at] = by;
    good = box[d] && box[d]->n_modes == 0 && by > 0 && sct_expr_program_is_affine(program, d);
    count[at] = good ? box[d]->width : 0;
  }
  sct_expr_program_free(program);
  for (int k = 0; k < n && good; k++) {
    good = step[k] <= reached + 1;
    reached += step[k] * (count[k] - 1);
  }
  return good && n > 1 ? reached + 1 : 0;
}

/* The layout's offset, with one variable in place of such a number if nothing else depends on its
 * indices. */
static sct_expr offset_by_numbers(sum *s, const places *p, int f, const span *const *box) {
  sct_expr dividend[MOST_VARS], divisor[MOST_VARS], e = p->layout->element[f];
  const int n = sct_expr_quotients(s->pool, e, dividend, divisor, MOST_VARS);
  for (int j = 0; j < n && j < MOST_VARS; j++) {
    int64_t first = 0;
    const int64_t count = values_of_number(p, dividend[j], box, &first);
    if (count == 0 || s->n == MOST_VARS) {
      continue;
    }
    const sct_expr var = sct_sum_var(s->pool, count);
    const sct_expr with = sct_expr_add(s->pool, var, sct_expr_const(s->pool, first));
    const sct_expr joined = sct_expr_subst(s->pool, e, &dividend[j], &with, 1);
    bool free = joined != SCT_EXPR_NONE;
    for (int d = 0; d < p->op->n_dims; d++) {
      free = free && !(sct_expr_mentions(s->pool, dividend[j], p->op->index[d]) &&
                       sct_expr_mentions(s->pool, joined, p->op->index[d]));
    }
    if (free) {
      sct_sum_add(s, var, count);
      return joined;
    }
  }
  return e;
}

/* The fields in `used` at the own place (tap -1) or a tap, with the places along each index that
 * stands alone; `s` has the expressions of the others. */
static bool put_box(sct_spans *out, const places *p, const bool *used, const sum *s,
                    const span *const *box) {
  const sct_operand *op = p->op;
  SCT_OWNED sum *one = sct_alloc(sizeof *one);
  for (int f = 0; f < op->record.n_fields; f++) {
    if (!used[f] && !op->is_index) {
      continue;
    }
    sct_expr index[SCT_MAX_DIMS];
    *one = *s;
    one->fixed = (span){.width = op->record.fields[f].bytes};
    const sct_expr offset = offset_by_numbers(one, p, f, box);
    for (int d = 0; d < op->n_dims; d++) {
      const bool is_in = sct_expr_mentions(s->pool, offset, op->index[d]);
      index[d] = !is_in   ? op->index[d]
                 : box[d] ? index_of(one, box[d])
                          : sct_places_in(p, op->at[d]);
    }
    one->e = sct_expr_subst(s->pool, sct_places_in(p, offset), op->index, index, op->n_dims);
    if (one->e == SCT_EXPR_NONE || !sct_places_dims(p, one) || !sct_sum_put(out, one)) {
      return false;
    }
  }
  return true;
}

/* Fields at the own place (tap -1) or at a tap: behind an index array, any element. */
static bool put_tap(sct_spans *out, const places *p, int tap) {
  const sct_operand *op = p->op;
  const bool *used = tap < 0 ? op->used_here : op->taps[tap].used;
  sct_spans index[SCT_MAX_DIMS] = {0};
  const span *box[SCT_MAX_DIMS] = {NULL};
  size_t at[SCT_MAX_DIMS] = {0};
  bool good = true, none = false;
  SCT_OWNED sum *s = sct_alloc(sizeof *s);
  *s = (sum){.pool = p->spec->pool};
  for (int d = 0; d < op->n_dims && good; d++) {
    const sct_tap *const at_tap = tap < 0 ? NULL : &op->taps[tap];
    if (stands_alone(p, d) || is_unknown(p, op->at[d])) {
      good = put_index(&index[d], p, d, at_tap);
      none = none || index[d].n == 0;
    } else {
      good = op->border == SCT_BORDER_NONE &&
             (!at_tap || (at_tap->delta[d] == 0 && sct_tap_count(at_tap, d) == 1));
    }
  }
  for (bool more = good && !none; more && good;) {
    for (int d = 0; d < op->n_dims; d++) {
      box[d] = index[d].n > 0 ? &index[d].at[at[d]] : NULL;
    }
    good = put_box(out, p, used, s, box);
    more = false;
    for (int d = op->n_dims - 1; d >= 0 && !more; d--) {
      more = ++at[d] < index[d].n;
      at[d] = more ? at[d] : 0;
    }
  }
  for (int d = 0; d < op->n_dims; d++) {
    sct_spans_free(&index[d]);
  }
  return good;
}

/* All that the body may touch. */
static bool put_all(sct_spans *out, const places *p) {
  bool good = true;
  for (int tap = -1; tap < p->op->n_taps && good; tap++) {
    good = put_tap(out, p, tap);
  }
  return good;
}

/* ---- answers ---- */

/* Rows of no elements have their offsets all the same. */
static bool is_empty(const sct_spec *spec, const sct_operand *op, const sct_size *size) {
  bool none = false;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    none = none || (size->extent[dim] == 0 && sct_spec_multiplies(spec, dim) &&
                    !sct_spec_writes_once(spec, op, dim));
  }
  return none && !is_offsets(spec, op);
}

/* Whole sectors for each element, or the array if it has fewer: where nothing better is known. */
static sct_footprint most_of(const sct_spec *spec, int op, int layout, const sct_size *size) {
  const double array = (double)sct_spec_bytes(spec, op, layout, size);
  const double asked = (double)sct_spec_element_bytes(spec, op, size);
  const double bytes = asked < array ? asked : array;
  return (sct_footprint){.sectors = (bytes + SECTOR - 1) / SECTOR, .bytes = bytes};
}

static bool measure(sct_footprint *out, const places *p) {
  if (p->op->through_index) {
    return sct_places_entries(out, p);
  }
  SCT_SCOPED(sct_spans) all = {0};
  if (!put_all(&all, p)) {
    return false;
  }
  const int64_t sectors = sct_spans_units(&all, 0, SECTOR), bytes = sct_spans_units(&all, 0, 1);
  *out = (sct_footprint){.sectors = (double)sectors, .bytes = (double)bytes};
  return sectors >= 0 && bytes >= 0;
}

static sct_footprint work_out(const sct_spec *spec, int op, int layout, const sct_size *size) {
  sct_footprint out = {.known = true};
  SCT_OWNED places *p = sct_alloc(sizeof *p);
  const int32_t mark = sct_expr_mark(spec->pool);
  if (!is_empty(spec, &spec->operands[op], size)) {
    out.known = open_places(p, spec, op, layout, size) && measure(&out, p);
  }
  sct_expr_reset(spec->pool, mark);
  return out.known ? out : most_of(spec, op, layout, size);
}

typedef struct known_footprint {
  sct_hash key;
  sct_footprint footprint;
} known_footprint;

struct sct_footprints {
  known_footprint *at;
  size_t n, cap;
};

struct sct_footprints *sct_footprints_new(void) {
  return sct_alloc(sizeof(struct sct_footprints));
}

void sct_footprints_end(struct sct_footprints *known) {
  if (known != NULL) {
    sct_free(known->at);
    sct_free(known);
  }
}

static sct_hash key_of(const sct_spec *spec, int op, int layout, const sct_size *size) {
  int64_t key[2 + SCT_MAX_EXTENTS + SCT_MAX_OPERANDS] = {op, layout};
  int n = 2;
  for (int k = 0; k < spec->n_extents; k++) {
    key[n++] = size->extent[k];
  }
  for (int k = 0; k < spec->n_operands; k++) {
    key[n++] = size->fill[k];
  }
  return sct_hash_bytes(key, sizeof *key * (size_t)n);
}

sct_footprint sct_spec_footprint(const sct_spec *spec, int op, int layout, const sct_size *size) {
  struct sct_footprints *const known = spec->footprints;
  const sct_hash key = key_of(spec, op, layout, size);
  for (size_t k = 0; k < known->n; k++) {
    if (memcmp(&known->at[k].key, &key, sizeof key) == 0) {
      return known->at[k].footprint;
    }
  }
  SCT_GROW(known->at, known->n, known->cap);
  known->at[known->n++] = (known_footprint){key, work_out(spec, op, layout, size)};
  return known->at[known->n - 1].footprint;
}

sct_spans *sct_spec_used_bytes(const sct_spec *spec, int op, int layout, const sct_size *size) {
  sct_spans *out = sct_alloc(sizeof *out);
  SCT_OWNED places *p = sct_alloc(sizeof *p);
  const int32_t mark = sct_expr_mark(spec->pool);
  const bool good = open_places(p, spec, op, layout, size) && put_all(out, p);
  sct_expr_reset(spec->pool, mark);
  const bool all = good && sct_spans_units(out, 0, 1) == sct_spec_bytes(spec, op, layout, size);
  if (!good || all) {
    sct_spans_end(out);
    return NULL;
  }
  sct_spans_order(out);
  return out;
}
