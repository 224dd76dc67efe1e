/* Images: the bytes of arrays before and after a kernel, walked element by element through the
 * layout's expressions. */
#include "measure_walk.h"

#include <math.h>
#include <string.h>

#define GAP_BYTE   0xd5 /* between the elements of inputs: never a value anybody expects */
#define MOST_BYTES 16   /* of a field */

/* Every byte of its spans the same. */
static uint8_t *new_image(const sct_shape *s, int op, uint8_t byte) {
  if (!sct_shape_is_sparse(s, op)) {
    uint8_t *all = sct_realloc(NULL, (size_t)s->op[op].bytes + 1); /* not cleared before */
    return memset(all, byte, (size_t)s->op[op].bytes);
  }
  uint8_t *image = sct_image_new(s, op);
  for (int k = 0; k < s->op[op].n_spans; k++) {
    const sct_span span = s->op[op].spans[k];
    memset(image + span.from, byte, (size_t)(span.to - span.from));
  }
  return image;
}

uint8_t *sct_image_new(const sct_shape *s, int op) {
  const size_t bytes = (size_t)s->op[op].bytes + 1;
  return sct_shape_is_sparse(s, op) ? sct_alloc_sparse(bytes) : sct_alloc(bytes);
}

void sct_image_free(uint8_t *image, const sct_shape *s, int op) {
  if (s->addressing && sct_shape_is_sparse(s, op)) {
    sct_unmap(image, (size_t)s->op[op].bytes + 1);
  } else {
    sct_free(image);
  }
}

uint8_t sct_image_background(const sct_shape *s, int op, uint8_t poison) {
  const sct_operand *operand = s->addressing->op[op].op;
  const int start = sct_operand_start_byte(operand);
  const bool holds = !operand->is_output || sct_operand_is_prefilled(operand);
  return !holds ? poison : start >= 0 ? (uint8_t)start : GAP_BYTE;
}

static void mark(uint8_t *flags, const int64_t *offsets, int n, int byte, int64_t bytes) {
  uint8_t marks[SCT_PART * MOST_BYTES];
  memset(marks, byte, (size_t)(n * bytes));
  sct_fields_scatter(flags, offsets, marks, n, bytes);
}

/* Which of an array's dimensions tell apart the rows that are reduced or scanned. */
typedef struct row_dims {
  bool all_alike; /* nothing is reduced or scanned */
  bool stay;      /* results go onto what the elements hold, and there are none here */
  int n;
  int from[SCT_MAX_DIMS];    /* the array's dimension */
  bool ragged[SCT_MAX_DIMS]; /* it goes through all rows, one after the other */
} row_dims;

static row_dims row_dims_of(const sct_shape *s, const sct_operand *op) {
  const sct_spec *spec = s->addressing->spec;
  row_dims out = {.all_alike = !spec->reduces && !spec->scans && spec->n_steps == 0,
                  .stay = op->is_inout && op->reduce != SCT_REDUCE_NONE && s->n_elements == 0};
  for (int d = 0; d < op->n_dims; d++) {
    const bool ragged = sct_spec_is_ragged(spec) && op->at[d] == spec->dim_var[spec->ragged.dim];
    bool kept = ragged;
    for (int dim = 0; dim < spec->n_dims; dim++) {
      kept = kept ||
             (!sct_spec_combines_along(spec, dim) && strcmp(op->dims[d], spec->dims[dim]) == 0);
    }
    if (kept) {
      out.from[out.n] = d;
      out.ragged[out.n++] = ragged;
    }
  }
  return out;
}

/* Which values an array's elements have. In variant 0 special ones among ordinary ones, but where
 * results are compared within a tolerance only finite ones. What is reduced or scanned is special
 * row by row, as one value can decide about a row: the first is ordinary. In other variants each
 * row is of a kind of its own, and what stands alone has every value. */
typedef struct kind {
  sct_mix mix;
  bool finite;
  uint64_t row;
  int scale, signs;
} kind;

/* Is an element of it a part of many summands? Where nothing else differs between these, each
 * addition rounds alike, and n of them lose n units, be it the reference's. */
static bool is_repeated(const sct_shape *s, int op) {
  const sct_spec *spec = s->addressing->spec;
  const sct_operand *operand = s->addressing->op[op].op;
  bool fixed = false;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    fixed = fixed || sct_spec_combines_along(spec, dim);
  }
  for (int d = 0; d < operand->n_dims; d++) {
    const int dim = sct_shape_dim_of(s, op, d);
    fixed = fixed && dim >= 0 && !sct_spec_combines_along(spec, dim);
  }
  return fixed;
}

/* 0: the first of all. */
static uint64_t row_number(const sct_shape *s, const row_dims *rows, const int64_t *idx) {
  uint64_t row = 0;
  bool first = true;
  for (int k = 0; k < rows->n; k++) {
    int64_t at = idx[rows->from[k]];
    if (rows->ragged[k]) {
      const sct_ragged *ragged = &s->addressing->spec->ragged;
      int64_t point[SCT_MAX_DIMS] = {0};
      point[ragged->dim] = at;
      sct_shape_put_row(s, point);
      at = point[ragged->row];
    }
    row = sct_mix64(row, (uint64_t)at);
    first = first && at == 0;
  }
  return first ? 0 : row;
}

/* The only row of a size is ordinary; what all rows share is so at every other size. */
static kind first_kind(const sct_shape *s, const row_dims *rows, const int64_t *idx) {
  const sct_mix most = s->near ? SCT_MIX_FINITE : SCT_MIX_ANY;
  if (rows->all_alike) {
    return (kind){.mix = most};
  }
  if (rows->n == 0) {
    return (kind){.mix = s->n_elements % 2 == 0 ? SCT_MIX_NONE : most};
  }
  const uint64_t row = row_number(s, rows, idx);
  return (kind){.mix = row == 0 ? SCT_MIX_NONE : (sct_mix)(row % (most + 1))};
}

/* Where in its row an element is, and how many the row has. */
static int64_t place_in_row(const sct_shape *s, const row_dims *rows, const int64_t *idx, int op,
                            int64_t *n) {
  const sct_ragged *ragged = &s->addressing->spec->ragged;
  int64_t at = 0;
  *n = 1;
  for (int d = 0; d < s->addressing->op[op].op->n_dims; d++) {
    int64_t first = 0, extent = s->op[op].extent[d];
    for (int k = 0; k < rows->n; k++) {
      int64_t point[SCT_MAX_DIMS] = {0};
      point[ragged->dim] = idx[d];
      if (rows->from[k] == d && rows->ragged[k]) {
        sct_shape_put_row(s, point);
        const int64_t *offset = s->op[ragged->offsets].values + point[ragged->row];
        first = offset[0];
        extent = offset[1] - first;
      } else if (rows->from[k] == d) {
        first = idx[d];
        extent = 1;
      }
    }
    at = at * extent + idx[d] - first;
    *n *= extent;
  }
  return at;
}

/* One value in all of a row but for one place, which decides alone: the last one, or any. */
static kind odd_kind(const sct_shape *s, const row_dims *rows, const int64_t *idx, int op,
                     uint64_t row) {
  const uint64_t value = sct_mix64(sct_mix64(row, (uint64_t)s->variant), (uint64_t)op);
  int64_t n = 0;
  const int64_t at = place_in_row(s, rows, idx, op, &n);
  const bool is_last = s->variant / 4 % 2 == 0;
  const int64_t odd = is_last || n < 1 ? n - 1 : (int64_t)((value >> 8) % (uint64_t)n);
  return (kind){.mix = SCT_MIX_ONE, .finite = true, .row = sct_mix64(value, at == odd)};
}

static kind varied_kind(const sct_shape *s, const row_dims *rows, const int64_t *idx, int op) {
  static const sct_mix of_rows[] = {SCT_MIX_WIDE, SCT_MIX_FINITE, SCT_MIX_ONE,    SCT_MIX_ANY,
                                    SCT_MIX_FEW,  SCT_MIX_NONE,   SCT_MIX_SCALED, SCT_MIX_ENDS};
  /* it may be the only one: in every other variant each summand shows */
  static const sct_mix of_first_sum[] = {SCT_MIX_NONE, SCT_MIX_SCALED, SCT_MIX_NONE, SCT_MIX_WIDE,
                                         SCT_MIX_NONE, SCT_MIX_FINITE, SCT_MIX_ONE,  SCT_MIX_ENDS};
  static const sct_mix of_sums[] = {SCT_MIX_NONE, SCT_MIX_SCALED, SCT_MIX_WIDE, SCT_MIX_NONE,
                                    SCT_MIX_FEW,  SCT_MIX_SCALED, SCT_MIX_ANY,  SCT_MIX_SCALED};
  static const sct_mix of_all_rows[] = {SCT_MIX_NONE, SCT_MIX_SCALED, SCT_MIX_WIDE,
                                        SCT_MIX_NONE, SCT_MIX_FEW,    SCT_MIX_FINITE};
  const uint64_t v = (uint64_t)s->variant, other = sct_mix64(v, (uint64_t)op);
  if (rows->all_alike) {
    const bool sums = s->near && sct_spec_accumulates(s->addressing->spec);
    const sct_mix alone = v % 8 == 5 ? SCT_MIX_FEW : v % 8 == 3 ? SCT_MIX_ANY : SCT_MIX_WIDE;
    return (kind){.mix = sums ? of_sums[v % SCT_COUNT(of_sums)] : alone,
                  .finite = sums,
                  .row = sums ? other : v}; /* of several arrays: equal ones, and 0 with -0, meet */
  }
  const bool orders = sct_spec_orders(s->addressing->spec);
  if (rows->n == 0) {
    return v % 4 == 1 && orders ? odd_kind(s, rows, idx, op, 0)
                                : (kind){.mix = of_all_rows[other % SCT_COUNT(of_all_rows)],
                                         .finite = true,
                                         .row = other};
  }
  const uint64_t row = row_number(s, rows, idx), at = v % SCT_COUNT(of_rows);
  const uint64_t more = sct_mix64(row, v / SCT_COUNT(of_rows));
  if (v % 4 == 1 && row % 4 > 1 && orders) {
    return (kind){.mix = SCT_MIX_RISES, .row = v / 4}; /* of one variant all rise, or all fall */
  }
  if (v % 4 == 1 && row % 4 == 1 && orders) {
    return odd_kind(s, rows, idx, op, row);
  }
  if (row == 0 && s->near) {
    return (kind){.mix = at == 7 && v / 8 % 2 == 0 ? SCT_MIX_ANY : of_first_sum[at],
                  .finite = true,
                  .row = more};
  }
  return (kind){
      .mix = of_rows[(row + v) % SCT_COUNT(of_rows)], .finite = (row >> 8) % 2 == 0, .row = more};
}

/* Values of one magnitude, which is another in most variants. */
static kind alike_kind(const sct_shape *s, kind of, bool is_real) {
  static const int scales[] = {0, 7, -7, 20, 3, -20, 10, 0, 38, -38, 5, -3, 14, 0, -12, 30};
  const bool ends = of.mix == SCT_MIX_ENDS || of.mix == SCT_MIX_NONE || of.mix == SCT_MIX_FINITE;
  const sct_mix of_integers = s->variant % 2 == 0 ? SCT_MIX_FINITE : SCT_MIX_WIDE;
  of.mix = !is_real ? of_integers : ends ? of.mix : of.finite ? SCT_MIX_FINITE : SCT_MIX_ANY;
  of.signs = is_real ? (int)(sct_mix64(of.row, 1) % 3) : SCT_AS_THEY_ARE;
  of.scale = is_real ? scales[s->variant % SCT_COUNT(scales)] : 0;
  return of;
}

static kind kind_of(const sct_shape *s, const row_dims *rows, const int64_t *idx, int op,
                    bool is_real) {
  if (!rows->stay && sct_spec_has_product(s->addressing->spec)) {
    const uint64_t row = row_number(s, rows, idx), variant = (uint64_t)s->variant;
    return (kind){.mix = SCT_MIX_FACTORS, .row = sct_mix64(row, variant)};
  }
  if (rows->stay || s->variant == 0) {
    return rows->stay ? (kind){.mix = SCT_MIX_STAYS} : first_kind(s, rows, idx);
  }
  const kind of = varied_kind(s, rows, idx, op);
  return s->near && s->addressing->alike ? alike_kind(s, of, is_real) : of;
}

/* Special values where arrays begin and end; where one decides about many, not always. */
static void put_ends(uint8_t *image, const sct_shape *s, int op, sct_type type, sct_stream *stream,
                     const sct_part *p, const int64_t *offsets) {
  const bool decides = !row_dims_of(s, s->addressing->op[op].op).all_alike ||
                       sct_spec_accumulates(s->addressing->spec);
  const int64_t last = s->op[op].count - 1;
  if (s->variant == 0 || (decides && s->variant % 8 != 7)) {
    return;
  }
  stream->mix = SCT_MIX_ENDS;
  stream->row = (uint64_t)(s->variant + 3 * op);
  if (p->linear == 0) {
    sct_data_values(image, offsets, 1, type, stream, 0);
  }
  stream->row++;
  if (p->linear + p->n - 1 == last && last > 0) {
    sct_data_values(image, offsets + (p->n - 1), 1, type, stream, last);
  }
}

/* The literals, and what scalars are: a body compares arrays with them, too. */
static sct_literals literals_of(const sct_shape *s) {
  const sct_spec *spec = s->addressing->spec;
  const sct_scalar_values scalars = sct_shape_scalars(s);
  sct_literals out = s->addressing->literals;
  for (int k = 0; k < spec->n_scalars && s->variant != 0; k++) {
    const sct_type type = spec->scalars[k].type;
    const sct_type_info *info = sct_type_get(type);
    int64_t value[2] = {0};
    sct_data_scalar(value, &scalars, k);
    const double real = info->kind == SCT_KIND_FLOAT ? sct_data_float(type, value) : 0;
    const bool fits = out.n < SCT_MAX_LITERALS && info->kind != SCT_KIND_BOOL && isfinite(real);
    if (fits) { /* in front, where the body's are */
      memmove(out.value + 1, out.value, sizeof *out.value * (size_t)out.n);
      const int unused = info->kind == SCT_KIND_INT ? 64 - 8 * info->bytes / info->lanes : 0;
      const int64_t whole = (int64_t)((uint64_t)value[0] << unused) >> unused;
      out.value[0] = info->kind == SCT_KIND_FLOAT ? (long double)real : (long double)whole;
      out.n++;
      out.n_body++;
    }
  }
  return out;
}

/* What atomic operations keep the greatest or the least of must not hold NaN before: they compare
 * its bits. */
static void clear_nans(uint8_t *image, const sct_operand *op, sct_type type, const int64_t *offsets,
                       int n) {
  const bool orders = op->accumulate == SCT_REDUCE_MAX || op->accumulate == SCT_REDUCE_MIN;
  for (int k = 0; k < n && orders && sct_type_get(type)->kind == SCT_KIND_FLOAT; k++) {
    if (isnan(sct_data_float(type, image + offsets[k]))) {
      sct_data_put_float(image + offsets[k], type, 0.0);
    }
  }
}

/* Values of the elements of a part, together as long as they are of one kind. */
static void put_values(uint8_t *image, const sct_shape *s, int op, int field, const sct_part *p,
                       const int64_t *offsets) {
  int64_t idx[SCT_MAX_DIMS];
  memcpy(idx, p->idx, sizeof idx);
  const row_dims rows = row_dims_of(s, s->addressing->op[op].op);
  const sct_type type = s->addressing->op[op].op->record.fields[field].type;
  const bool is_real = sct_type_get(type)->kind == SCT_KIND_FLOAT;
  kind now = kind_of(s, &rows, idx, op, is_real);
  const uint64_t key = sct_data_key(s->addressing->seed, op, field);
  const sct_literals literals = literals_of(s);
  sct_stream stream = {.key = s->variant == 0 ? key : sct_mix64(key, (uint64_t)s->variant),
                       .mix = now.mix,
                       .finite = now.finite,
                       .row = now.row,
                       .scale = now.scale,
                       .signs = now.signs,
                       .divides = s->variant == 0 ? strpbrk(s->addressing->spec->body, "/%") != NULL
                                                  : s->addressing->literals.divides,
                       .near = s->near && s->variant != 0,
                       .round = s->near && s->variant != 0 && is_repeated(s, op),
                       .bounded = s->near && s->addressing->alike && rows.all_alike,
                       .literals = &literals};
  int from = 0;
  for (int k = 1; k < p->n && !rows.all_alike; k++) {
    (void)sct_next_index(idx, p->extent, p->n_dims);
    now = kind_of(s, &rows, idx, op, is_real);
    if (now.mix != stream.mix || now.row != stream.row) {
      sct_data_values(image, offsets + from, k - from, type, &stream, p->linear + from);
      stream.mix = now.mix;
      stream.finite = now.finite;
      stream.row = now.row;
      stream.signs = now.signs;
      from = k;
    }
  }
  sct_data_values(image, offsets + from, p->n - from, type, &stream, p->linear + from);
  put_ends(image, s, op, type, &stream, p, offsets);
  clear_nans(image, s->addressing->op[op].op, type, offsets, p->n);
}

static void put_input(uint8_t *image, const sct_shape *s, int op, int field, const sct_part *p,
                      const int64_t *offsets) {
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_field *f = &operand->record.fields[field];
  if (s->fill[op] == SCT_FILL_PREFIX) {
    const sct_index_fill fill = sct_shape_index_fill(s, op);
    for (int k = 0; k < p->n; k++) {
      image[offsets[k]] = (uint8_t)sct_index_fill_value(&fill, p->linear + k);
    }
    return;
  }
  if (!operand->is_index) {
    put_values(image, s, op, field, p, offsets);
    return;
  }
  for (int k = 0; k < p->n; k++) {
    memcpy(image + offsets[k], &s->op[op].values[p->linear + k], (size_t)f->bytes);
  }
}

sct_status sct_image_input(uint8_t **out, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
  const int start = sct_operand_start_byte(operand);
  uint8_t *image = new_image(s, op, start >= 0 ? (uint8_t)start : GAP_BYTE);
  if (start >= 0) {
    *out = image;
    return SCT_OK;
  }
  int64_t offsets[SCT_PART];
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  sct_part p = sct_part_first(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; sct_part_next(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      if (!sct_walk_offsets(offsets, &walks[f], s, op, f, SCT_OWN, &p)) {
        sct_image_free(image, s, op);
        return sct_walk_outside(s, op, err);
      }
      put_input(image, s, op, f, &p, offsets);
    }
  }
  *out = image;
  return SCT_OK;
}

static sct_status mark_owned(uint8_t *flags, const sct_shape *s, int op, sct_error *err) {
  const sct_operand *operand = s->addressing->op[op].op;
  int64_t offsets[SCT_PART];
  sct_walk walks[SCT_MAX_FIELDS] = {{0}};
  sct_part p = sct_part_first(s->op[op].extent, operand->n_dims, s->op[op].count);
  for (; p.n > 0; sct_part_next(&p)) {
    for (int f = 0; f < operand->record.n_fields; f++) {
      if (!sct_walk_offsets(offsets, &walks[f], s, op, f, SCT_OWN, &p)) {
        return sct_walk_outside(s, op, err);
      }
      mark(flags, offsets, p.n, SCT_BYTE_OWNED, operand->record.fields[f].bytes);
    }
  }
  return SCT_OK;
}

/* The move that assigns this field; NULL without moves. */
static const sct_move *move_of(const sct_spec *spec, int op, int field) {
  for (int k = 0; k < spec->n_moves; k++) {
    if (spec->moves[k].out == op && spec->moves[k].out_field == field) {
      return &spec->moves[k];
    }
  }
  return NULL;
}

int sct_shape_dim_of(const sct_shape *s, int op, int d) {
  const sct_spec *spec = s->addressing->spec;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    if (s->addressing->op[op].op->at[d] == spec->dim_var[dim]) {
      return dim;
    }
  }
  return -1;
}

bool sct_shape_writes_all(const sct_shape *s, int op) {
  const sct_spec *spec = s->addressing->spec;
  const sct_operand *o = s->addressing->op[op].op;
  if (o->accumulate != SCT_REDUCE_NONE) {
    return true; /* what no point falls on keeps what it held, which is known, too */
  }
  bool all = s->op[op].count == s->op[op].n_written;
  for (int d = 0; d < o->n_dims && all; d++) {
    const int dim = sct_shape_dim_of(s, op, d);
    all = dim >= 0 && s->op[op].extent[d] == s->op[op].write_extent[dim];
    for (int before = 0; before < d && all; before++) {
      all = o->at[before] != o->at[d];
    }
  }
  for (int f = 0; f < o->record.n_fields && all; f++) {
    all = spec->n_moves == 0 || move_of(spec, op, f) != NULL;
  }
  return all;
}

#define ALL_MARKS (SCT_BYTE_OWNED | SCT_BYTE_WRITTEN)

/* The flags of every byte where all are the same; 0: to be found out. Elements do not overlap, so
 * arrays that are as large as their fields have no gaps. */
static int common_flags(const sct_shape *s, int op) {
  const sct_record *record = &s->addressing->op[op].op->record;
  int64_t bytes = 0;
  for (int f = 0; f < record->n_fields; f++) {
    bytes += record->fields[f].bytes;
  }
  return sct_shape_writes_all(s, op) && s->op[op].bytes == bytes * s->op[op].count ? ALL_MARKS : 0;
}

/* What a reducing kernel writes at offsets[]. */
static sct_status put_reduced(uint8_t *image, const sct_shape *s, const sct_move *move,
                              const uint8_t *input, const sct_part *p, const int64_t *offsets,
                              sct_error *err) {
  int64_t idx[SCT_MAX_DIMS];
  memcpy(idx, p->idx, sizeof idx);
  for (int k = 0; k < p->n; k++) {
    SCT_TRY(sct_image_reduced(image + offsets[k], s, move, input, idx, err));
    (void)sct_next_index(idx, p->extent, p->n_dims);
  }
  return SCT_OK;
}

/* Places the values of one field at offsets[]. */
static sct_status put_output(uint8_t *image, const sct_shape *s, int op, int field,
                             uint8_t *const *inputs, sct_walk *read, const sct_part *p,
                             const int64_t *offsets, sct_error *err) {
  const sct_addressing *addressing = s->addressing;
  const sct_field *f = &addressing->op[op].op->record.fields[field];
  const sct_move *move = move_of(addressing->spec, op, field);
  int64_t from[SCT_PART];
  uint8_t fields[SCT_PART * MOST_BYTES];
  if (!move) {
    const sct_stream stream = {.key = sct_data_key(addressing->seed, op, field)};
    sct_data_values(image, offsets, p->n, f->type, &stream, p->linear);
    return SCT_OK;
  }
  if (addressing->spec->reduces) {
    return put_reduced(image, s, move, inputs[move->in], p, offsets, err);
  }
  if (!sct_walk_offsets(from, read, s, move->in, move->in_field, SCT_TOUCHED, p)) {
    return sct_walk_outside(s, move->in, err);
  }
  sct_fields_gather(fields, inputs[move->in], from, p->n, f->bytes);
  sct_fields_scatter(image, offsets, fields, p->n, f->bytes);
  return SCT_OK;
}

/* Marks what the kernel writes in flags, or places its values in an image; the other is NULL. */
static sct_status write_elements(uint8_t *image, uint8_t *flags, const sct_shape *s, int op,
                                 uint8_t *const *inputs, sct_error *err) {
  const sct_spec *spec = s->addressing->spec;
  const sct_record *record = &s->addressing->op[op].op->record;
  int64_t offsets[SCT_PART];
  sct_walk written[SCT_MAX_FIELDS] = {{0}}, read[SCT_MAX_FIELDS] = {{0}};
  if (flags &&
      !sct_shape_writes_all(s, op)) { /* else all that it owns is marked as written below */
    SCT_TRY(mark_owned(flags, s, op, err));
  }
  const sct_whose of =
      s->addressing->op[op].op->accumulate != SCT_REDUCE_NONE ? SCT_OWN : SCT_TOUCHED;
  sct_part p = sct_part_first(s->op[op].write_extent, s->op[op].write_dims, s->op[op].n_written);
  for (; p.n > 0; sct_part_next(&p)) {
    for (int f = 0; f < record->n_fields; f++) {
      if (spec->n_moves > 0 && !move_of(spec, op, f)) {
        continue; /* no move assigns it */
      }
      if (!sct_walk_offsets(offsets, &written[f], s, op, f, of, &p)) {
        return sct_walk_outside(s, op, err);
      }
      if (flags) {
        mark(flags, offsets, p.n, ALL_MARKS, record->fields[f].bytes);
      }
      if (image) {
        SCT_TRY(put_output(image, s, op, f, inputs, &read[f], &p, offsets, err));
      }
    }
  }
  return SCT_OK;
}

sct_status sct_image_flags(uint8_t **flags, const sct_shape *s, int op, sct_error *err) {
  const int common = common_flags(s, op);
  uint8_t *marks = new_image(s, op, (uint8_t)common);
  const sct_status status = common ? SCT_OK : write_elements(NULL, marks, s, op, NULL, err);
  if (status == SCT_OK) {
    *flags = marks;
  } else {
    sct_image_free(marks, s, op);
  }
  return status;
}

sct_status sct_image_output(uint8_t **out, const sct_shape *s, int op, uint8_t *const *inputs,
                            uint8_t poison, sct_error *err) {
  uint8_t *image = NULL;
  sct_status status = SCT_OK;
  if (s->addressing->op[op].op->accumulate != SCT_REDUCE_NONE) {
    SCT_TRY(sct_image_input(&image, s, op, err));
    status = sct_image_accumulate(image, s, op, inputs, err);
  } else {
    const bool scans = s->addressing->spec->scans && s->addressing->spec->n_moves > 0;
    if (sct_operand_is_prefilled(s->addressing->op[op].op)) {
      SCT_TRY(sct_image_input(&image, s, op, err));
    } else {
      image = new_image(s, op, poison);
    }
    status = scans ? sct_image_scan(image, s, op, inputs, err)
                   : write_elements(image, NULL, s, op, inputs, err);
  }
  if (status == SCT_OK) {
    *out = image;
  } else {
    sct_image_free(image, s, op);
  }
  return status;
}
