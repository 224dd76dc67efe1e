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

/* Rows of these lengths, again and again from one of them on; one row, the first, the last or one
 * between, has what is left, and those after the last element have none. */
#define N_LENGTHS 16
static const int16_t lengths[][N_LENGTHS] = {
    {0, 70, 0, 33, 0, 0, 129, 31, 32, 33, 0, 0, 300, 1, 0, 65},
    {1, 0, 0, 2, 0, 33, 3, 0, 0, 0, 1, 31, 9, 0, 32, 0},
    {0, 1030, 0, 5, 0, 0, 0, 300, 1, 0, 33, 64, 0, 0, 500, 0},
};

static int64_t before_row(const int16_t *length, int first, int64_t row) {
  int64_t all = 0, before = 0;
  for (int k = 0; k < N_LENGTHS; k++) {
    all += length[k];
    before += k < row % N_LENGTHS ? length[(first + k) % N_LENGTHS] : 0;
  }
  return row / N_LENGTHS * all + before;
}

static int64_t varied_offset(const sct_index_fill *fill, int64_t row) {
  const int64_t elements = fill->limit - 1, v = fill->variant;
  const int16_t *const length = lengths[v % SCT_COUNT(lengths)];
  const int first = (int)(v * 5 % N_LENGTHS);
  const int64_t left = elements - before_row(length, first, fill->rows);
  const int64_t huge = (fill->rows - 1) * (v / 4 % 3) / 2;
  const int64_t before = before_row(length, first, row) + (row > huge && left > 0 ? left : 0);
  return before < elements ? before : elements;
}

int64_t sct_spec_offset(const sct_index_fill *fill, int64_t row) {
  const int64_t elements = fill->limit - 1;
  if (row <= 0 || row >= fill->rows) {
    return row <= 0 ? 0 : elements;
  }
  if (fill->variant % 4 != 0) {
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
