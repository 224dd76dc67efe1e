/* Ragged kernels: the elements of row r along one dimension are those from offsets[r] to
 * offsets[r + 1] - 1, as in CSR matrices. The index space holds each element once, in its row, so
 * the extent of that dimension is the number of elements of all rows. */
#include <string.h>

#include "spec/spec_internal.h"

static int ragged_line(const sct_spec *spec) {
  return sct_spec_key_line(spec, spec->file, spec->line, "ragged");
}

static sct_status unknown(const sct_spec *spec, const char *what, const char *name,
                          const char *const *names, int n, sct_error *err) {
  SCT_SCOPED(sct_str) hint = {0};
  sct_str_suggest(&hint, name, SCT_NAMES(names, n));
  return sct_spec_fail_at(spec, err, spec->file, ragged_line(spec), "ragged: there is no %s '%s'%s",
                          what, name, sct_str_c(&hint));
}

/* ---- before extents and places are parsed ---- */

static sct_status find_names(sct_spec *spec, sct_error *err) {
  sct_ragged *r = &spec->ragged;
  const char *names[SCT_MAX_OPERANDS];
  for (int k = 0; k < spec->n_inputs; k++) {
    names[k] = spec->operands[k].name;
  }
  r->dim = sct_spec_find_dim(spec, r->dim_name, strlen(r->dim_name));
  r->offsets = sct_spec_find_operand(spec, r->offsets_name, strlen(r->offsets_name));
  if (r->dim < 0) {
    return unknown(spec, "dimension", r->dim_name, spec->dims, spec->n_dims, err);
  }
  if (r->offsets < 0 || r->offsets >= spec->n_inputs) {
    return unknown(spec, "input", r->offsets_name, names, spec->n_inputs, err);
  }
  return SCT_OK;
}

/* The array of offsets: integers, one a row and one more. */
static sct_status check_offsets(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const char *wrong = NULL;
  if (op->record.fields[0].name[0] != '\0' || !sct_type_is_integer(op->record.fields[0].type)) {
    wrong = "has no bare integer type";
  } else if (op->n_dims != 1 || spec->ragged.row < 0 || spec->ragged.row == spec->ragged.dim) {
    wrong = "has other dimensions";
  } else if (op->at_text[0] || op->extent_text[0] || op->pad[0] > 1 || op->n_taps > 0 ||
             op->has_none) {
    wrong = "has at, extents, pad, taps or none";
  }
  return !wrong ? SCT_OK
                : sct_spec_fail_at(spec, err, op->file, op->line,
                                   "'%s' gives the offsets of ragged rows, but %s; it is written "
                                   "s.array(\"%s\", \"i32\", s.row_major, { dims = { \"row\" } }), "
                                   "and holds one offset more than there are rows",
                                   op->name, wrong, op->name);
}

sct_status sct_spec_bind_offsets(sct_spec *spec, sct_error *err) {
  sct_ragged *r = &spec->ragged;
  if (!sct_spec_is_ragged(spec)) {
    return SCT_OK;
  }
  SCT_TRY(find_names(spec, err));
  sct_operand *op = &spec->operands[r->offsets];
  r->row = op->n_dims == 1 ? sct_spec_find_dim(spec, op->dims[0], strlen(op->dims[0])) : -1;
  SCT_TRY(check_offsets(spec, op, err));
  op->pad[0] = 1;
  op->is_index = true;
  return SCT_OK;
}

/* ---- after that ---- */

static sct_status check_reduced(const sct_spec *spec, sct_error *err) {
  for (int d = 0; d < spec->n_dims; d++) {
    if (spec->reduced[d] != (d == spec->ragged.dim)) {
      return sct_spec_fail_at(
          spec, err, spec->file, ragged_line(spec),
          "ragged: a kernel that reduces ragged rows reduces '%s' and nothing else, but '%s' is %s;"
          " what is reduced over all rows is so over '%s' alone, without `ragged`",
          spec->ragged.dim_name, spec->dims[d], spec->reduced[d] ? "reduced, too" : "kept",
          spec->ragged.dim_name);
    }
  }
  return SCT_OK;
}

/* Elements of such an output belong to elements of rows, by their number in all rows. */
static sct_status check_output(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  const sct_ragged *r = &spec->ragged;
  bool names_row = false, names_offset = false;
  for (int d = 0; d < op->n_dims; d++) {
    names_row = names_row || sct_expr_mentions(spec->pool, op->at[d], spec->dim_var[r->row]);
    names_offset = names_offset ||
                   sct_expr_mentions(spec->pool, op->at[d], spec->operands[r->offsets].index_value);
  }
  if (names_offset) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "at of '%s' names '%s', the offsets of ragged rows; the place in a row "
                            "cannot be an index yet; '%s' is the place in all rows",
                            op->name, r->offsets_name, r->dim_name);
  }
  if (op->accumulate != SCT_REDUCE_NONE) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' is accumulated, which kernels with ragged rows do not do; "
                            "give the row of each element as an index array instead of `ragged`",
                            op->name);
  }
  if (op->is_output && !op->per_row && names_row) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "output '%s' moves with '%s', whose rows are ragged; it has one value "
                            "a row by reduce = \"sum\", or one an element by dims = { \"%s\" }",
                            op->name, spec->dims[r->row], r->dim_name);
  }
  return SCT_OK;
}

sct_status sct_spec_check_ragged(sct_spec *spec, sct_error *err) {
  const sct_ragged *r = &spec->ragged;
  if (!sct_spec_is_ragged(spec)) {
    return SCT_OK;
  }
  sct_operand *offsets = &spec->operands[r->offsets];
  if (spec->reduces || spec->n_steps > 0) {
    SCT_TRY(check_reduced(spec, err));
  }
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(check_output(spec, &spec->operands[k], err));
  }
  offsets->index_limit =
      sct_expr_add(spec->pool, spec->extent_var[r->dim], sct_expr_const(spec->pool, 1));
  return SCT_OK;
}

/* Kernels find rows by a search in offsets that lie one after the other. */
sct_status sct_spec_check_offsets_layout(const sct_spec *spec, sct_error *err) {
  if (!sct_spec_is_ragged(spec)) {
    return SCT_OK;
  }
  const sct_operand *op = &spec->operands[spec->ragged.offsets];
  int64_t step = 0, origin = -1;
  sct_expr rest;
  const bool is_dense =
      op->n_layouts == 1 &&
      sct_expr_linear(spec->pool, op->layouts[0].element[0], op->index[0], &step, &rest) &&
      step == op->record.bytes && sct_expr_is_const(spec->pool, rest, &origin) && origin == 0;
  return is_dense ? SCT_OK
                  : sct_spec_fail_at(spec, err, op->file, op->line,
                                     "'%s' gives the offsets of ragged rows, which lie one after "
                                     "the other: its layout is s.row_major",
                                     op->name);
}

/* ---- what offsets the tuner gives ---- */

/* The share of the elements of some rows that one half of them has. A product of such shares is how
 * R-MAT graphs come to degrees like those of the web (Chakrabarti, Zhan, Faloutsos, 2004: a + b).
 */
#define HEAVY_SHARE 0.76

/* Halves the rows until one is left, and gives one half, by chance, more of the elements. */
static int64_t power_offset(const sct_index_fill *fill, int64_t row) {
  int64_t first = 0, end = fill->rows, before = 0, elements = fill->limit - 1;
  while (row > first && row < end) {
    const int64_t middle = first + (end - first) / 2;
    const uint64_t bits = sct_mix64(sct_mix64(fill->seed, (uint64_t)first), (uint64_t)end);
    const double share = bits % 2 == 0 ? HEAVY_SHARE : 1 - HEAVY_SHARE;
    const int64_t left = (int64_t)((double)elements * share + 0.5);
    if (row <= middle) {
      end = middle;
      elements = left;
    } else {
      first = middle;
      before += left;
      elements -= left;
    }
  }
  return row > first ? before + elements : before;
}

__extension__ typedef __int128 wide;

/* Rows have the lengths of the file, which is read again from its start where they are more, in
 * proportion to the elements that there are. */
static int64_t listed_offset(const sct_index_fill *fill, int64_t row) {
  const sct_ragged *r = fill->ragged;
  const int64_t n = r->n_lengths, all = r->ends[n - 1];
  const wide before = (wide)(row / n) * all + (row % n > 0 ? r->ends[row % n - 1] : 0);
  const wide total =
      (wide)(fill->rows / n) * all + (fill->rows % n > 0 ? r->ends[fill->rows % n - 1] : 0);
  return total == 0 ? 0 : (int64_t)(before * (fill->limit - 1) / total);
}

/* Lengths where kernels change their way, each as a row after and before rows that are empty, of
 * one element and long: around powers of two, and longer than a block. From one of them on, again
 * and again; rows of few elements have the shorter ones alone. One row, the first, the last or one
 * between, has what is left, and those after the last element have none. */
static const int16_t lengths[] = {0,  1,  2,  3,  4,  5,  7,   8,   9,   0,   15,  16,  17,
                                  31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300};
static const int16_t long_lengths[] = {270, 300, 1030};
#define ROWS_A_LENGTH                                                                              \
  7                    /* empty, it, 1, it, long, it, empty: an odd number, as warps have pairs    \
                        */
#define MOST_A_ROW  8  /* the elements of a case by those of a row of the longest length */
#define MOST_BESIDE 64 /* that, beside a row that has most of all */

/* Is there room for all of them? */
static bool has_all_lengths(const sct_index_fill *fill) {
  return fill->rows >= SCT_COUNT(lengths) * ROWS_A_LENGTH &&
         fill->limit > SCT_COUNT(lengths) * 2 * 300;
}

typedef struct row_lengths {
  int variant, n; /* lengths that occur */
  int64_t most;   /* elements of a long row */
} row_lengths;

static row_lengths row_lengths_of(const sct_index_fill *fill) {
  const bool beside = fill->variant % 3 == 0 && !has_all_lengths(fill);
  const int64_t longest = (fill->limit - 1) / (beside ? MOST_BESIDE : MOST_A_ROW);
  row_lengths out = {.variant = fill->variant, .n = 3, .most = 2 * longest + 1};
  while (out.n < SCT_COUNT(lengths) && lengths[out.n] <= longest) {
    out.n++;
  }
  return out;
}

/* Of row number `at` of the sequence, from any row on. */
static int64_t length_at(const row_lengths *r, int64_t at) {
  const int64_t k = (at / ROWS_A_LENGTH + r->variant * 5) % r->n;
  const int64_t far = long_lengths[(k + r->variant) % SCT_COUNT(long_lengths)];
  const int64_t of[ROWS_A_LENGTH] = {
      0, lengths[k], 1, lengths[k], far < r->most ? far : r->most, lengths[k], 0};
  return of[at % ROWS_A_LENGTH];
}

static int64_t before_row(const row_lengths *r, int64_t row) {
  const int64_t period = (int64_t)r->n * ROWS_A_LENGTH, first = r->variant % ROWS_A_LENGTH;
  int64_t all = 0, before = 0;
  for (int64_t k = 0; k < period; k++) {
    const int64_t length = length_at(r, first + k);
    all += length;
    before += k < row % period ? length : 0;
  }
  return row / period * all + before;
}

/* The first, the last, or one between two that are empty, where that takes no neighbour away. */
static int64_t huge_row(const sct_index_fill *fill) {
  const int64_t last = fill->rows - 1, middle = last / 2, which = fill->variant / 4 % 3;
  const int64_t beside = (fill->variant + middle) % ROWS_A_LENGTH;
  return which == 0                            ? 0
         : which == 2 || has_all_lengths(fill) ? last
         : middle > beside                     ? middle - beside
                                               : middle;
}

static int64_t varied_offset(const sct_index_fill *fill, int64_t row) {
  const row_lengths r = row_lengths_of(fill);
  const int64_t elements = fill->limit - 1;
  const int64_t left = elements - before_row(&r, fill->rows);
  const int64_t before = before_row(&r, row) + (row > huge_row(fill) && left > 0 ? left : 0);
  return before < elements ? before : elements;
}

int64_t sct_spec_offset(const sct_index_fill *fill, int64_t row) {
  const int64_t elements = fill->limit - 1;
  if (row <= 0 || row >= fill->rows) {
    return row <= 0 ? 0 : elements;
  }
  if (fill->variant % 4 != 0 || (fill->variant > 0 && has_all_lengths(fill))) {
    return varied_offset(fill, row);
  }
  if (fill->fill == SCT_FILL_POWER) {
    return power_offset(fill, row);
  }
  if (fill->fill == SCT_FILL_FILE) {
    return listed_offset(fill, row);
  }
  const uint64_t bits = sct_mix64(fill->seed, (uint64_t)row) >> 11;
  const double late = fill->fill == SCT_FILL_UNIFORM ? (double)bits * 0x1p-53 - 0.5 : 0;
  return (int64_t)(((long double)row + late) * elements / fill->rows);
}
