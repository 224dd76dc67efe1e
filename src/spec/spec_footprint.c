/* What an index space touches of an array: the bytes of the fields that the body uses, at every
 * element's own place and at its taps, as sets of bytes (spec_spans.h).
 *
 * First every index of the array by itself: the places along it, what its taps reach, cut by the
 * border. Then the layout's offset over these. Both are the same step: an expression over
 * variables, each in [0, count), becomes spans. A variable that stands in a quotient is split into
 * the digits that the divisor asks for; what is then a term of its own is a mode, and what is still
 * entangled (a swizzle, a clamp) is gone through.
 *
 * Behind an index array an element is found anywhere, so nothing is joined that only chance brings
 * together: the entries of the index array are taken in their order, each with the row that it
 * points to at its real address, and a row's sectors count unless the entry before touched them.
 * What the body computes is not known: there each element is a row of its own. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"
#include "spec/spec_spans.h"

enum {
  MOST_VARS = 48,
  MOST_POINTS = 1 << 18, /* of entangled variables */
  MOST_ENTRIES = 2048,   /* of index arrays that are looked at, each with the entry before it */
  MOST_BUILT = 64,       /* the same where an entry decides which bytes a row has */
  SECTOR = 32
};

/* ---- expressions as spans ---- */

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

static int n_made; /* names of variables; they are gone with the mark */

static sct_expr new_var(sct_expr_pool *pool, int64_t count) {
  char name[48];
  snprintf(name, sizeof name, "footprint.%d.%lld", n_made++ & 0xffffff, (long long)count);
  return sct_expr_var(pool, name, 0, count - 1, 1);
}

static bool add_var(sum *s, sct_expr var, int64_t count) {
  if (s->n == MOST_VARS || var == SCT_EXPR_NONE) {
    return false;
  }
  s->v[s->n++] = (variable){var, count};
  return true;
}

static void drop_var(sum *s, int k) {
  memmove(&s->v[k], &s->v[k + 1], sizeof *s->v * (size_t)(s->n - 1 - k));
  s->n--;
}

static bool put_sum(sct_spans *out, sum *s);

/* In place of variable k: `with`, over a new variable. */
static void replace(sum *s, int k, sct_expr with) {
  const sct_expr var = s->v[k].var;
  s->e = sct_expr_subst(s->pool, s->e, &var, &with, 1);
}

/* x = digits * q + r, and the last few. */
static bool split_digits(sct_spans *out, const sum *s, int k, int64_t digits) {
  SCT_OWNED sum *one = sct_alloc(sizeof *one);
  const int64_t count = s->v[k].count, whole = count / digits, rest = count % digits;
  for (int tail = 0; tail < 2; tail++) {
    const int64_t n_q = tail ? 1 : whole, n_r = tail ? rest : digits;
    if (n_q == 0 || n_r == 0) {
      continue;
    }
    *one = *s;
    const sct_expr q = new_var(s->pool, n_q), r = new_var(s->pool, n_r);
    const sct_expr high = tail ? sct_expr_const(s->pool, whole * digits)
                               : sct_expr_mul(s->pool, q, sct_expr_const(s->pool, digits));
    replace(one, k, sct_expr_add(s->pool, high, r));
    drop_var(one, k);
    if (one->e == SCT_EXPR_NONE || (!tail && !add_var(one, q, n_q)) || !add_var(one, r, n_r) ||
        !put_sum(out, one)) {
      return false;
    }
  }
  return true;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* Makes one quotient simpler. *done: spans were put for all that it became. */
static bool simplify(sct_spans *out, sum *s, bool *done, bool *failed) {
  sct_expr dividend[MOST_VARS], divisor[MOST_VARS];
  const int n = sct_expr_quotients(s->pool, s->e, dividend, divisor, MOST_VARS);
  for (int j = 0; j < n && j < MOST_VARS; j++) {
    int64_t by = 0, step = 0;
    sct_expr rest;
    for (int k = 0; k < s->n && sct_expr_is_const(s->pool, divisor[j], &by) && by > 1; k++) {
      const bool linear = sct_expr_mentions(s->pool, dividend[j], s->v[k].var) &&
                          sct_expr_linear(s->pool, dividend[j], s->v[k].var, &step, &rest);
      const int64_t digits = linear ? by / gcd(by, step) : 0;
      if (digits > 1 && digits < s->v[k].count) {
        *done = true;
        *failed = !split_digits(out, s, k, digits);
        return true;
      }
    }
  }
  return false;
}

static int compare_values(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* How many of the values from the first on are evenly spaced. */
static int64_t even_run(const int64_t *value, int64_t n) {
  int64_t run = n < 2 ? n : 2;
  while (run < n && value[run] - value[run - 1] == value[1] - value[0]) {
    run++;
  }
  return run;
}

/* Distinct ascending values, each added to the base: as few spans as follow from even steps. */
static bool put_values(sct_spans *out, const sum *s, const int64_t *value, int64_t n) {
  int64_t run = even_run(value, n), starts = 0;
  bool alike = n % run == 0;
  for (int64_t k = 0; k < n && alike; k += run) {
    alike = even_run(value + k, run) == run &&
            (run < 2 || value[k + 1] - value[k] == value[1] - value[0]);
  }
  SCT_OWNED sum *part = sct_alloc(sizeof *part);
  if (alike && run > 1) {
    SCT_OWNED int64_t *start = sct_alloc(sizeof *start * (size_t)(n / run));
    for (int64_t k = 0; k < n; k += run) {
      start[starts++] = value[k];
    }
    *part = *s;
    const bool added = sct_span_add(&part->fixed, run > 1 ? value[1] - value[0] : 0, run);
    return added && put_values(out, part, start, starts);
  }
  for (int64_t k = 0; k < n; k += run) {
    run = even_run(value + k, n - k);
    *part = *s;
    part->fixed.base += value[k];
    if (!sct_span_add(&part->fixed, run > 1 ? value[k + 1] - value[k] : 0, run) ||
        !put_sum(out, part)) {
      return false;
    }
  }
  return true;
}

/* The variables that stand with variable `first` in terms which are not multiples of one alone, and
 * those that stand with these. */
static void entangled(const sum *s, int first, bool in[MOST_VARS]) {
  memset(in, 0, sizeof *in * MOST_VARS);
  in[first] = true;
  for (bool more = true; more;) {
    sct_expr group[MOST_VARS], with, without;
    int n = 0;
    for (int k = 0; k < s->n; k++) {
      group[n] = s->v[k].var;
      n += in[k];
    }
    sct_expr_split(s->pool, s->e, group, n, &with, &without);
    more = false;
    for (int k = 0; k < s->n; k++) {
      const bool joins = !in[k] && sct_expr_mentions(s->pool, with, s->v[k].var);
      in[k] = in[k] || joins;
      more = more || joins;
    }
  }
}

/* Goes through the values that an entangled group of variables gives. */
static bool put_entangled(sct_spans *out, const sum *s, int first) {
  bool in[MOST_VARS];
  sct_expr var[MOST_VARS], with, without;
  int64_t count[MOST_VARS], index[MOST_VARS] = {0}, points = 1, n_values = 0;
  int n = 0;
  entangled(s, first, in);
  SCT_OWNED sum *rest = sct_alloc(sizeof *rest);
  *rest = *s;
  for (int k = s->n - 1; k >= 0; k--) {
    if (in[k]) {
      var[n] = s->v[k].var;
      count[n++] = s->v[k].count;
      points = sct_spec_mul(points, s->v[k].count);
      drop_var(rest, k);
    }
  }
  sct_expr_split(s->pool, s->e, var, n, &with, &without);
  rest->e = without;
  sct_expr_program *program = NULL;
  if (points > MOST_POINTS ||
      sct_expr_program_new(&program, s->pool, with, var, n, NULL) != SCT_OK) {
    return false;
  }
  SCT_OWNED int64_t *value = sct_alloc(sizeof *value * (size_t)points);
  for (int64_t p = 0; p < points; p++) {
    value[p] = sct_expr_program_run(program, index);
    for (int k = 0; k < n && ++index[k] == count[k]; k++) {
      index[k] = 0;
    }
  }
  sct_expr_program_free(program);
  qsort(value, (size_t)points, sizeof *value, compare_values);
  for (int64_t p = 0; p < points; p++) {
    if (n_values == 0 || value[p] != value[n_values - 1]) {
      value[n_values++] = value[p];
    }
  }
  return put_values(out, rest, value, n_values);
}

/* Puts the spans of the values of an expression. false: there are too many. */
static bool put_sum(sct_spans *out, sum *s) {
  bool done = false, failed = false;
  while (simplify(out, s, &done, &failed)) {
    if (done) {
      return !failed;
    }
  }
  for (int k = s->n - 1; k >= 0; k--) {
    int64_t step = 0;
    sct_expr rest;
    if (sct_expr_linear(s->pool, s->e, s->v[k].var, &step, &rest)) {
      if (!sct_span_add(&s->fixed, step, s->v[k].count)) {
        return false;
      }
      s->e = rest;
      drop_var(s, k);
    }
  }
  if (s->n > 0) {
    return put_entangled(out, s, 0);
  }
  int64_t base = 0;
  if (!sct_expr_is_const(s->pool, s->e, &base)) {
    return false;
  }
  span put = s->fixed;
  put.base += base;
  sct_spans_put(out, &put);
  return true;
}

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

static sct_expr put_in(const places *p, sct_expr e) {
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
    p->dim[d] = new_var(spec->pool, size->extent[d] > 0 ? size->extent[d] : 1);
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
static bool add_dims(const places *p, sum *s) {
  for (int d = 0; d < p->spec->n_dims; d++) {
    if (sct_expr_mentions(p->spec->pool, s->e, p->dim[d]) &&
        !add_var(s, p->dim[d], p->size->extent[d])) {
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

/* Places along index d of the array, moved by `delta`. */
static bool put_index(sct_spans *out, const places *p, int d, int64_t delta) {
  const bool is_offsets =
      sct_spec_is_ragged(p->spec) && p->op == &p->spec->operands[p->spec->ragged.offsets];
  if (is_offsets || is_unknown(p, p->op->at[d])) { /* each row has two offsets */
    const span all = {.width = p->extent[d]};
    sct_spans_put(out, &all);
    return true;
  }
  SCT_SCOPED(sct_spans) own = {0};
  SCT_OWNED sum *s = sct_alloc(sizeof *s);
  *s = (sum){.pool = p->spec->pool, .e = put_in(p, p->op->at[d]), .fixed = {.width = 1}};
  if (s->e == SCT_EXPR_NONE || !add_dims(p, s) || !put_sum(&own, s)) {
    return false;
  }
  for (size_t k = 0; k < own.n; k++) {
    sct_span_join(&own.at[k]);
    own.at[k].base += delta;
    put_bordered(out, &own.at[k], p->op->border, p->extent[d]);
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
      const sct_expr var = new_var(s->pool, count);
      index = add_var(s, var, count)
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
    const sct_expr var = new_var(s->pool, count);
    const sct_expr with = sct_expr_add(s->pool, var, sct_expr_const(s->pool, first));
    const sct_expr joined = sct_expr_subst(s->pool, e, &dividend[j], &with, 1);
    bool free = joined != SCT_EXPR_NONE;
    for (int d = 0; d < p->op->n_dims; d++) {
      free = free && !(sct_expr_mentions(s->pool, dividend[j], p->op->index[d]) &&
                       sct_expr_mentions(s->pool, joined, p->op->index[d]));
    }
    if (free) {
      add_var(s, var, count);
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
      index[d] = !is_in ? op->index[d] : box[d] ? index_of(one, box[d]) : put_in(p, op->at[d]);
    }
    one->e = sct_expr_subst(s->pool, put_in(p, offset), op->index, index, op->n_dims);
    if (one->e == SCT_EXPR_NONE || !add_dims(p, one) || !put_sum(out, one)) {
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
    const int64_t delta = tap < 0 ? 0 : op->taps[tap].delta[d];
    if (stands_alone(p, d) || is_unknown(p, op->at[d])) {
      good = put_index(&index[d], p, d, delta);
      none = none || index[d].n == 0;
    } else {
      good = delta == 0;
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

/* ---- rows that index arrays point to ---- */

/* Rows of one kind: their bytes, which are the same for each entry, and where an entry's begin. */
typedef struct row_kind {
  sct_expr place;
  sct_spans row;
} row_kind;

typedef struct walk {
  const places *p;
  bool of_entry[SCT_MAX_DIMS]; /* an entry is an index in each of these dimensions */
  int64_t n_entries;
  int n_vars; /* that places are over: dimensions, values of index arrays */
  sct_expr vars[SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  sct_index_fill fill[SCT_MAX_OPERANDS];
  bool computed; /* the body says where; nothing is known of it */
  int n_kinds;
  row_kind *kind; /* one for each tap and field at most */
} walk;

/* Finds what an entry is: an index in each dimension that the index arrays move with. */
static void find_entries(walk *w, const places *p) {
  const sct_spec *spec = p->spec;
  w->p = p;
  for (int d = 0; d < p->op->n_dims; d++) {
    w->computed = w->computed || sct_spec_is_computed(spec, p->op->at[d]);
  }
  for (int dim = 0; dim < spec->n_dims; dim++) {
    w->vars[w->n_vars++] = p->dim[dim];
    w->of_entry[dim] = w->computed;
    for (int k = 0; k < spec->n_operands && !w->computed; k++) {
      const sct_operand *index = &spec->operands[k];
      for (int d = 0; d < p->op->n_dims && index->is_index; d++) {
        w->of_entry[dim] =
            w->of_entry[dim] || (sct_expr_mentions(spec->pool, p->op->at[d], index->index_value) &&
                                 sct_spec_moves_with(spec, index, dim));
      }
    }
  }
  const sct_ragged *r = &spec->ragged;
  if (sct_spec_is_ragged(spec) && (w->of_entry[r->dim] || w->of_entry[r->row])) {
    w->of_entry[r->dim] = true; /* an element says which row it is in */
  }
  w->n_entries = 1;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    const bool counts = w->of_entry[dim] && sct_spec_multiplies(spec, dim);
    w->n_entries = sct_spec_mul(w->n_entries, counts ? p->size->extent[dim] : 1);
  }
  for (int k = 0; k < spec->n_index; k++) {
    const int op = spec->index_order[k];
    w->vars[w->n_vars++] = spec->operands[op].index_value;
    w->fill[op] = sct_spec_index_fill(spec, op, p->size);
  }
}

/* The row that element `k` of ragged rows is in. */
static int64_t row_of(const walk *w, int64_t k) {
  const sct_ragged *r = &w->p->spec->ragged;
  int64_t first = 0, end = w->p->size->extent[r->row];
  while (end - first > 1) {
    const int64_t middle = first + (end - first) / 2;
    *(sct_spec_offset(&w->fill[r->offsets], middle) <= k ? &first : &end) = middle;
  }
  return first;
}

/* Values of the variables that places are over, at an entry. */
static bool enter(const walk *w, int64_t entry, int64_t *values) {
  const sct_spec *spec = w->p->spec;
  spec_env env = sct_spec_env_extents(spec, w->p->size->extent);
  for (int dim = spec->n_dims - 1; dim >= 0; dim--) {
    const bool counts = w->of_entry[dim] && sct_spec_multiplies(spec, dim);
    values[dim] = counts ? entry % w->p->size->extent[dim] : 0;
    entry /= counts ? w->p->size->extent[dim] : 1;
  }
  if (sct_spec_is_ragged(spec) && w->of_entry[spec->ragged.dim]) {
    values[spec->ragged.row] = row_of(w, values[spec->ragged.dim]);
  }
  for (int dim = 0; dim < spec->n_dims; dim++) {
    sct_spec_env_add(&env, spec->dim_var[dim], values[dim]);
  }
  for (int k = 0; k < spec->n_index; k++) {
    const int op = spec->index_order[k];
    const sct_operand *index = &spec->operands[op];
    int64_t linear = 0, extent = 0, at = 0;
    for (int d = 0; d < index->n_dims; d++) {
      if (sct_spec_env_eval(spec, &env, index->extent[d], &extent, NULL) != SCT_OK ||
          sct_spec_env_eval(spec, &env, index->at[d], &at, NULL) != SCT_OK) {
        return false;
      }
      linear = linear * extent + at;
    }
    values[spec->n_dims + k] = sct_index_fill_value(&w->fill[op], linear);
    sct_spec_env_add(&env, index->index_value, values[spec->n_dims + k]);
  }
  return true;
}

/* Splits an offset into what an entry decides and the row, which is put where others begin at the
 * same place. false: a row's bytes depend on its entry, or there are too many. */
static bool put_row(walk *w, sct_expr offset, int64_t width) {
  const places *p = w->p;
  sct_expr_pool *pool = p->spec->pool;
  sct_expr of_entry[SCT_MAX_DIMS + SCT_MAX_OPERANDS + SCT_MAX_VALUES], place, rest;
  int n = 0, kind = 0;
  for (int k = 0; k < w->n_vars; k++) {
    of_entry[n] = w->vars[k];
    n += k >= p->spec->n_dims || w->of_entry[k];
  }
  for (int k = 0; k < p->spec->n_values && w->computed; k++) {
    of_entry[n++] = p->spec->values[k].index;
  }
  sct_expr_split(pool, offset, of_entry, n, &place, &rest);
  for (int dim = 0; dim < p->spec->n_dims; dim++) {
    if (!w->of_entry[dim] && sct_expr_mentions(pool, place, p->dim[dim])) {
      return false;
    }
  }
  while (kind < w->n_kinds && w->kind[kind].place != place) {
    kind++;
  }
  w->kind[kind].place = place;
  w->n_kinds += kind == w->n_kinds;
  SCT_OWNED sum *s = sct_alloc(sizeof *s);
  *s = (sum){.pool = pool, .e = rest, .fixed = {.width = width}};
  return add_dims(p, s) && put_sum(&w->kind[kind].row, s);
}

/* The offset of field f at the own place (tap -1) or a tap, without borders; NONE: it is not used
 * there. */
static sct_expr offset_of(const places *p, int tap, int f) {
  const sct_operand *op = p->op;
  sct_expr index[SCT_MAX_DIMS];
  if (!(tap < 0 ? op->used_here : op->taps[tap].used)[f] && !op->is_index) {
    return SCT_EXPR_NONE;
  }
  for (int d = 0; d < op->n_dims; d++) {
    const int64_t delta = tap < 0 ? 0 : op->taps[tap].delta[d];
    index[d] =
        sct_expr_add(p->spec->pool, put_in(p, op->at[d]), sct_expr_const(p->spec->pool, delta));
  }
  return sct_expr_subst(p->spec->pool, put_in(p, p->layout->element[f]), op->index, index,
                        op->n_dims);
}

static bool put_rows(walk *w) {
  const sct_operand *op = w->p->op;
  for (int tap = -1; tap < op->n_taps; tap++) {
    for (int f = 0; f < op->record.n_fields; f++) {
      const sct_expr offset = offset_of(w->p, tap, f);
      if (offset != SCT_EXPR_NONE && !put_row(w, offset, op->record.fields[f].bytes)) {
        return false;
      }
    }
  }
  return true;
}

/* The row of one entry, where rows differ. */
static bool put_entry(sct_spans *out, const walk *w, int64_t entry) {
  const places *p = w->p;
  int64_t values[SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  sct_expr var[SCT_MAX_DIMS + SCT_MAX_OPERANDS], with[SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  int n = 0;
  bool good = enter(w, entry, values);
  SCT_OWNED sum *s = sct_alloc(sizeof *s);
  for (int k = 0; k < w->n_vars; k++) {
    var[n] = w->vars[k];
    with[n] = sct_expr_const(p->spec->pool, values[k]);
    n += k >= p->spec->n_dims || w->of_entry[k];
  }
  for (int tap = -1; tap < p->op->n_taps; tap++) {
    for (int f = 0; f < p->op->record.n_fields && good; f++) {
      const sct_expr offset = offset_of(p, tap, f);
      *s = (sum){.pool = p->spec->pool, .e = sct_expr_subst(p->spec->pool, offset, var, with, n)};
      s->fixed.width = p->op->record.fields[f].bytes;
      good = offset == SCT_EXPR_NONE || (add_dims(p, s) && put_sum(out, s));
    }
  }
  return good;
}

/* Units of a row at `place` that the one at `before` has not. */
static int64_t new_units(const sct_spans *row, int64_t place, int64_t before, int64_t unit) {
  SCT_SCOPED(sct_spans) both = {0};
  const int64_t old = sct_spans_units(row, before, unit);
  for (size_t k = 0; k < row->n; k++) {
    span moved = row->at[k];
    sct_spans_put(&both, &moved);
    moved.base += place - before;
    sct_spans_put(&both, &moved);
  }
  const int64_t all = sct_spans_units(&both, before, unit);
  return old < 0 || all < 0 ? -1 : all - old;
}

static int64_t reach_of(const sct_spans *row) {
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (size_t k = 0; k < row->n; k++) {
    const int64_t end = row->at[k].base + sct_span_reach(&row->at[k]);
    lo = row->at[k].base < lo ? row->at[k].base : lo;
    hi = end > hi ? end : hi;
  }
  return hi - lo;
}

/* What an entry touches that the one before it did not. */
typedef struct visit {
  const walk *w;
  const row_kind *kind;
  sct_expr_program *program; /* of its place */
  int64_t reach, bytes;      /* of a row */
  int64_t sectors[SECTOR]; /* of a row that begins so many bytes into a sector; -1: not yet known */
} visit;

static bool place_of(const visit *v, int64_t entry, int64_t *place) {
  int64_t values[SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  if (!enter(v->w, entry, values)) {
    return false;
  }
  *place = sct_expr_program_run(v->program, values);
  return true;
}

static bool add_entry(sct_footprint *out, visit *v, int64_t entry, double weight) {
  int64_t place = 0, before = 0;
  if (!place_of(v, entry, &place) || (entry > 0 && !place_of(v, entry - 1, &before))) {
    return false;
  }
  const int64_t apart = place > before ? place - before : before - place;
  int64_t sectors = 0, bytes = 0;
  if (entry == 0 || apart >= v->reach) {
    int64_t *const known = &v->sectors[(uint64_t)place % SECTOR];
    *known = *known < 0 ? sct_spans_units(&v->kind->row, place, SECTOR) : *known;
    sectors = *known;
    bytes = v->bytes;
  } else if (apart > 0) {
    sectors = new_units(&v->kind->row, place, before, SECTOR);
    bytes = new_units(&v->kind->row, place, before, 1);
  }
  out->sectors += weight * (double)sectors;
  out->bytes += weight * (double)bytes;
  return sectors >= 0 && bytes >= 0;
}

/* Entry k of those that are looked at: of few all, else the first and one of each of equal parts;
 * how many it stands for. */
static double nth_entry(const walk *w, int64_t most, int64_t k, int64_t *entry) {
  const int64_t others = w->n_entries - 1, parts = others < most ? others : most;
  *entry = 0;
  if (k == 0) {
    return 1.0;
  }
  const double length = (double)others / (double)parts;
  const int64_t from = (int64_t)((double)(k - 1) * length), to = (int64_t)((double)k * length);
  *entry = 1 + from + (int64_t)(sct_mix64(0, (uint64_t)k) % (uint64_t)(to > from ? to - from : 1));
  return length;
}

/* Adds what the entries' rows touch where each is another. */
static bool add_built(sct_footprint *out, const walk *w) {
  bool good = !w->computed;
  for (int64_t k = 0; k <= MOST_BUILT && k < w->n_entries && good; k++) {
    SCT_SCOPED(sct_spans) both = {0};
    int64_t entry = 0, old[2] = {0, 0};
    const int32_t mark = sct_expr_mark(w->p->spec->pool);
    const double weight = nth_entry(w, MOST_BUILT, k, &entry);
    if (entry > 0) {
      good = put_entry(&both, w, entry - 1);
      old[0] = sct_spans_units(&both, 0, SECTOR);
      old[1] = sct_spans_units(&both, 0, 1);
    }
    good = good && put_entry(&both, w, entry);
    const int64_t all[] = {sct_spans_units(&both, 0, SECTOR), sct_spans_units(&both, 0, 1)};
    out->sectors += weight * (double)(all[0] - old[0]);
    out->bytes += weight * (double)(all[1] - old[1]);
    good = good && old[0] >= 0 && old[1] >= 0 && all[0] >= 0 && all[1] >= 0;
    sct_expr_reset(w->p->spec->pool, mark);
  }
  return good;
}

/* Adds what the entries' rows of one kind touch. */
static bool add_kind(sct_footprint *out, const walk *w, const row_kind *kind) {
  visit v = {.w = w,
             .kind = kind,
             .reach = reach_of(&kind->row) + SECTOR,
             .bytes = sct_spans_units(&kind->row, 0, 1)};
  memset(v.sectors, 0xff, sizeof v.sectors);
  if (w->computed) {
    const int64_t each = sct_spans_units(&kind->row, 0, SECTOR);
    out->sectors += (double)w->n_entries * (double)each;
    out->bytes += (double)w->n_entries * (double)v.bytes;
    return each >= 0 && v.bytes >= 0;
  }
  if (v.bytes < 0 || sct_expr_program_new(&v.program, w->p->spec->pool, kind->place, w->vars,
                                          w->n_vars, NULL) != SCT_OK) {
    return false;
  }
  bool good = true;
  for (int64_t k = 0; k <= MOST_ENTRIES && k < w->n_entries && good; k++) {
    int64_t entry = 0;
    const double weight = nth_entry(w, MOST_ENTRIES, k, &entry);
    good = add_entry(out, &v, entry, weight);
  }
  sct_expr_program_free(v.program);
  return good;
}

static bool walk_entries(sct_footprint *out, const places *p) {
  SCT_OWNED walk *w = sct_alloc(sizeof *w);
  w->kind = sct_alloc(sizeof *w->kind * (size_t)(p->op->record.n_fields * (p->op->n_taps + 1) + 1));
  find_entries(w, p);
  const bool alike = put_rows(w);
  bool good = alike || add_built(out, w);
  for (int k = 0; k < w->n_kinds; k++) {
    good = good && (!alike || add_kind(out, w, &w->kind[k]));
    sct_spans_free(&w->kind[k].row);
  }
  sct_free(w->kind);
  return good;
}

/* ---- answers ---- */

static bool is_empty(const sct_spec *spec, const sct_operand *op, const sct_size *size) {
  return sct_spec_elements(spec, size) == 0 && !op->per_row;
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
    return walk_entries(out, p);
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
  for (size_t k = 0; k < out->n; k++) {
    sct_span_order(&out->at[k]);
  }
  return out;
}
