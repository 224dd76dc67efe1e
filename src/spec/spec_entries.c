/* Behind an index array an element is found anywhere, so nothing is joined that only chance brings
 * together: the entries of the index array are taken in their order, each with the row that it
 * points to at its real address, and a row's sectors count unless the entry before touched them.
 * What the body computes is not known: there each element is a row of its own. */
#include <string.h>

#include "spec/spec_footprint.h"

enum {
  MOST_SPANS = 1 << 14, /* of the rows of the entries that are looked at, some 0.7 us each, ... */
  LEAST_ENTRIES = 1024, /* ... but of so many entries */
  RUN = 32,             /* neighbours among them, where they are not all */
  MOST_BUILT = 512      /* entries where each decides which bytes its row has, at 50 us */
};

/* Rows of one kind: their bytes, which are the same for each entry, and where an entry's begin. */
typedef struct row_kind {
  sct_expr place;
  sct_expr_program *program; /* of it */
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
  bool alike;    /* rows are of these kinds; else each is worked out by itself */
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
  return sct_places_dims(p, s) && sct_sum_put(&w->kind[kind].row, s);
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
    index[d] = sct_expr_add(p->spec->pool, sct_places_in(p, op->at[d]),
                            sct_expr_const(p->spec->pool, delta));
  }
  return sct_expr_subst(p->spec->pool, sct_places_in(p, p->layout->element[f]), op->index, index,
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
  for (int k = 0; k < w->n_kinds; k++) {
    sct_spans_join(&w->kind[k].row);
  }
  return true;
}

static int64_t most_entries(const walk *w) {
  int64_t spans = 0;
  for (int k = 0; k < w->n_kinds; k++) {
    spans += (int64_t)w->kind[k].row.n;
  }
  const int64_t most = MOST_SPANS / (spans > 0 ? spans : 1);
  return !w->alike ? MOST_BUILT : most > LEAST_ENTRIES ? most : LEAST_ENTRIES;
}

/* The row of one entry, where it decides which bytes that has. */
static bool build_row(sct_spans *out, const walk *w, const int64_t *values) {
  const places *p = w->p;
  sct_expr var[SCT_MAX_DIMS + SCT_MAX_OPERANDS], with[SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  int n = 0;
  bool good = true;
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
      good = offset == SCT_EXPR_NONE || (sct_places_dims(p, s) && sct_sum_put(out, s));
    }
  }
  return good;
}

static bool put_entry(sct_spans *out, const walk *w, int64_t entry) {
  int64_t values[SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  if (!enter(w, entry, values)) {
    return false;
  }
  for (int k = 0; k < w->n_kinds && w->alike; k++) {
    const int64_t place = sct_expr_program_run(w->kind[k].program, values);
    for (size_t n = 0; n < w->kind[k].row.n; n++) {
      span moved = w->kind[k].row.at[n];
      moved.base += place;
      sct_spans_put(out, &moved);
    }
  }
  return w->alike || build_row(out, w, values);
}

/* Adds what an entry touches that the one before it did not. */
static bool add_entry(sct_footprint *out, const walk *w, int64_t entry, double weight) {
  SCT_SCOPED(sct_spans) both = {0};
  int64_t old[] = {0, 0};
  if (entry > 0) {
    if (!put_entry(&both, w, entry - 1)) {
      return false;
    }
    old[0] = sct_spans_units(&both, 0, SECTOR);
    old[1] = sct_spans_units(&both, 0, 1);
  }
  const bool good = put_entry(&both, w, entry);
  const int64_t all[] = {sct_spans_units(&both, 0, SECTOR), sct_spans_units(&both, 0, 1)};
  out->sectors += weight * (double)(all[0] - old[0]);
  out->bytes += weight * (double)(all[1] - old[1]);
  return good && old[0] >= 0 && old[1] >= 0 && all[0] >= 0 && all[1] >= 0;
}

/* Of few entries all, else the first and a run at a random place of each of equal parts: what
 * neighbours share is seen in a run. */
static bool add_entries(sct_footprint *out, const walk *w, int64_t most) {
  const int64_t others = w->n_entries - 1, runs = others <= most ? 1 : most / RUN;
  const int64_t length = others <= most ? others : RUN;
  const double weight = length > 0 ? (double)others / (double)(runs * length) : 0.0;
  bool good = add_entry(out, w, 0, 1.0);
  for (int64_t k = 0; k < runs * length && good; k++) {
    const int64_t run = k / length, from = others / runs * run;
    const int64_t room = others / runs - length + 1;
    const int64_t in = (int64_t)(sct_mix64(0, (uint64_t)run) % (uint64_t)room);
    const int32_t mark = sct_expr_mark(w->p->spec->pool);
    good = add_entry(out, w, 1 + from + in + k % length, weight);
    sct_expr_reset(w->p->spec->pool, mark);
  }
  return good;
}

/* Where the body computes places: a row for each element. */
static bool add_elements(sct_footprint *out, const walk *w) {
  bool good = w->alike;
  for (int k = 0; k < w->n_kinds; k++) {
    const int64_t sectors = sct_spans_units(&w->kind[k].row, 0, SECTOR);
    const int64_t bytes = sct_spans_units(&w->kind[k].row, 0, 1);
    out->sectors += (double)w->n_entries * (double)sectors;
    out->bytes += (double)w->n_entries * (double)bytes;
    good = good && sectors >= 0 && bytes >= 0;
  }
  return good;
}

bool sct_places_entries(sct_footprint *out, const places *p) {
  SCT_OWNED walk *w = sct_alloc(sizeof *w);
  w->kind = sct_alloc(sizeof *w->kind * (size_t)(p->op->record.n_fields * (p->op->n_taps + 1) + 1));
  find_entries(w, p);
  w->alike = put_rows(w);
  bool good = true;
  for (int k = 0; k < w->n_kinds && w->alike && !w->computed; k++) {
    good = good && sct_expr_program_new(&w->kind[k].program, p->spec->pool, w->kind[k].place,
                                        w->vars, w->n_vars, NULL) == SCT_OK;
  }
  good = good && (w->computed ? add_elements(out, w) : add_entries(out, w, most_entries(w)));
  for (int k = 0; k < w->n_kinds; k++) {
    sct_spans_free(&w->kind[k].row);
    sct_expr_program_free(w->kind[k].program);
  }
  sct_free(w->kind);
  return good;
}
