/* Index arrays: in which order they are read, which values keep every place inside its array, and
 * whether those of outputs must differ. */
#include <string.h>

#include "spec/spec_internal.h"

sct_expr sct_spec_index_place(const sct_spec *spec, const sct_operand *index) {
  return index->has_none ? sct_expr_binary(spec->pool, SCT_EXPR_MAX, index->index_value,
                                           sct_expr_const(spec->pool, 0))
                         : index->index_value;
}

/* ---- order ---- */

static bool is_read_through(const sct_spec *spec, const sct_operand *op, const sct_operand *index) {
  bool through = false;
  for (int d = 0; d < op->n_dims; d++) {
    through = through || sct_expr_mentions(spec->pool, op->at[d], index->index_value);
  }
  return through;
}

/* Sets how many index arrays are read one after the other before `op` is: `n_after` is the number
 * of arrays that are read after it. */
static sct_status find_depth(sct_spec *spec, sct_operand *op, int n_after, sct_error *err) {
  if (n_after > spec->n_inputs) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "index array '%s' is read through itself, by way of others; one of "
                            "them is read at dimensions alone",
                            op->name);
  }
  op->index_depth = 0;
  for (int k = 0; k < spec->n_inputs; k++) {
    sct_operand *index = &spec->operands[k];
    if (index->is_index && is_read_through(spec, op, index)) {
      SCT_TRY(find_depth(spec, index, n_after + 1, err));
      op->through_index = true;
      op->index_depth =
          index->index_depth < op->index_depth ? op->index_depth : index->index_depth + 1;
    }
  }
  return SCT_OK;
}

static void sort_by_depth(sct_spec *spec) {
  spec->index_order = SCT_ARENA_NEW(&spec->arena, int, spec->n_inputs);
  for (int depth = 0; depth < spec->n_inputs; depth++) {
    for (int k = 0; k < spec->n_inputs; k++) {
      if (spec->operands[k].is_index && spec->operands[k].index_depth == depth) {
        spec->index_order[spec->n_index++] = k;
      }
    }
  }
}

/* ---- limits ---- */

/* The sign of every step of `var` in `e`: 1, -1, or 0 where it differs or is not known. */
static int direction(const sct_spec *spec, sct_expr e, sct_expr var) {
  sct_expr_pool *pool = spec->pool;
  const sct_expr next = sct_expr_add(pool, var, sct_expr_const(pool, 1));
  int64_t lo = 0, hi = 0;
  sct_expr_range(pool, sct_expr_sub(pool, sct_expr_subst(pool, e, &var, &next, 1), e), &lo, &hi);
  return lo >= 0 ? 1 : hi <= 0 ? -1 : 0;
}

/* `e`, of which `var` lies in [0, most], with the value of `var` that makes it largest;
 * SCT_EXPR_NONE where that is not known. */
static sct_expr at_largest(const sct_spec *spec, sct_expr e, sct_expr var, sct_expr most) {
  const int along = direction(spec, e, var);
  const sct_expr value = along > 0 ? most : sct_expr_const(spec->pool, 0);
  return along == 0 ? SCT_EXPR_NONE : sct_expr_subst(spec->pool, e, &var, &value, 1);
}

/* An expression over extents that `e`, over dimensions, does not exceed; it has no quotients of
 * dimensions. SCT_EXPR_NONE: none is known. */
static sct_expr most_of_dims(const sct_spec *spec, sct_expr e) {
  for (int d = 0; d < spec->n_dims; d++) {
    const sct_expr last =
        sct_expr_sub(spec->pool, spec->extent_var[d], sct_expr_const(spec->pool, 1));
    if (sct_expr_mentions(spec->pool, e, spec->dim_var[d])) {
      e = at_largest(spec, e, spec->dim_var[d], last);
    }
  }
  return e;
}

enum { MAX_QUOTIENTS = 16 };

/* The first of its quotients or remainders, innermost first, of a dividend over dimensions. */
static bool find_quotient(const sct_spec *spec, sct_expr e, sct_expr *dividend, sct_expr *divisor) {
  sct_expr dividends[MAX_QUOTIENTS], divisors[MAX_QUOTIENTS];
  const int all = sct_expr_quotients(spec->pool, e, dividends, divisors, MAX_QUOTIENTS);
  for (int k = 0; k < all && k < MAX_QUOTIENTS; k++) {
    if (sct_spec_mentions_dims(spec, dividends[k])) {
      *dividend = dividends[k];
      *divisor = divisors[k];
      return true;
    }
  }
  return false;
}

/* `e` without that quotient and that remainder, which are replaced by their largest values. */
static sct_expr without_quotient(const sct_spec *spec, sct_expr e, sct_expr dividend,
                                 sct_expr divisor) {
  sct_expr_pool *pool = spec->pool;
  const sct_expr one = sct_expr_const(pool, 1);
  const sct_expr by = sct_expr_binary(pool, SCT_EXPR_MAX, divisor, one);
  const sct_expr part = sct_expr_var(pool, "quotient", 0, SCT_MAX_EXTENT, 1);
  const sct_expr parts[] = {sct_expr_div(pool, dividend, divisor),
                            sct_expr_mod(pool, dividend, divisor)};
  const sct_expr most[] = {sct_expr_div(pool, most_of_dims(spec, dividend), by),
                           sct_expr_sub(pool, by, one)};
  int64_t lo = 0, hi = 0;
  sct_expr_range(pool, divisor, &lo, &hi);
  if (lo < 0 || sct_spec_mentions_dims(spec, divisor)) {
    return SCT_EXPR_NONE;
  }
  for (int k = 0; k < SCT_COUNT(parts); k++) {
    const sct_expr with = sct_expr_subst(pool, e, &parts[k], &part, 1);
    e = with == e ? e : at_largest(spec, with, part, most[k]);
  }
  return e;
}

/* The largest value of any `e` over the index space, or SCT_EXPR_NONE. */
static sct_expr most_of(const sct_spec *spec, sct_expr e) {
  sct_expr dividend = SCT_EXPR_NONE, divisor = SCT_EXPR_NONE;
  while (find_quotient(spec, e, &dividend, &divisor)) {
    const sct_expr less = without_quotient(spec, e, dividend, divisor);
    if (less == e || less == SCT_EXPR_NONE) {
      return SCT_EXPR_NONE;
    }
    e = less;
  }
  return most_of_dims(spec, e);
}

static bool mentions_index(const sct_spec *spec, sct_expr e) {
  bool any = false;
  for (int k = 0; k < spec->n_index; k++) {
    any = any || sct_expr_mentions(spec->pool, e, spec->operands[spec->index_order[k]].index_value);
  }
  return any;
}

/* A place as factor * value + rest. */
typedef struct indexed_place {
  sct_expr factor;    /* over extents, at least 1 wherever there are elements */
  sct_expr rest;      /* over dimensions and extents */
  sct_expr most_rest; /* over extents: rest does not exceed it */
} indexed_place;

static bool split_place(indexed_place *out, const sct_spec *spec, const sct_operand *index,
                        sct_expr at) {
  sct_expr_pool *pool = spec->pool;
  const sct_expr named = sct_spec_index_place(spec, index);
  const sct_expr var = sct_expr_var(pool, "index", 0, SCT_MAX_EXTENT, 1);
  const sct_expr numbers[] = {sct_expr_const(pool, 0), sct_expr_const(pool, 1)};
  int64_t lo = 0, hi = 0, factor = 0;
  at = sct_expr_subst(pool, at, &named, &var, 1);
  out->rest = sct_expr_subst(pool, at, &var, &numbers[0], 1);
  out->factor = sct_expr_sub(pool, sct_expr_subst(pool, at, &var, &numbers[1], 1), out->rest);
  const sct_expr again = sct_expr_add(pool, sct_expr_mul(pool, out->factor, var), out->rest);
  bool fits = again == at && !mentions_index(spec, out->rest) && !mentions_index(spec, out->factor);
  fits = fits && !sct_spec_mentions_dims(spec, out->factor);
  sct_expr_range(pool, out->rest, &lo, &hi);
  out->most_rest = fits ? most_of(spec, out->rest) : SCT_EXPR_NONE;
  fits = fits && hi >= 0 && (!sct_expr_is_const(pool, out->factor, &factor) || factor >= 1);
  return fits && out->most_rest != SCT_EXPR_NONE;
}

static sct_status fail_place(const sct_spec *spec, const sct_operand *index, const sct_operand *op,
                             int d, sct_error *err) {
  const int line = sct_spec_text_line(spec, op->file, op->line, op->at_text[d]);
  for (int k = 0; k < spec->n_index; k++) {
    const sct_operand *other = &spec->operands[spec->index_order[k]];
    if (other != index && sct_expr_mentions(spec->pool, op->at[d], other->index_value)) {
      return sct_spec_fail_at(spec, err, op->file, line,
                              "at of '%s', \"%s\": which values keep '%s' and '%s' together inside "
                              "is not known; give the array a dimension for each, as in dims = { "
                              "\"page\", \"slot\" }, at = { \"%s\", \"%s\" }",
                              op->name, op->at_text[d], index->name, other->name, index->name,
                              other->name);
    }
  }
  return sct_spec_fail_at(spec, err, op->file, line,
                          "at of '%s', \"%s\": an index array stands alone, or as a * %s + b with "
                          "a >= 1, and b >= 0 over dimensions (docs/cookbook.md, \"A window that "
                          "starts where an index says\")",
                          op->name, op->at_text[d], index->name);
}

/* The values of `index` that keep a place inside: [0, (extent - 1 - rest) // factor + 1). */
static sct_status narrow_limit(sct_spec *spec, sct_operand *index, const sct_operand *op, int d,
                               sct_error *err) {
  sct_expr_pool *pool = spec->pool;
  indexed_place place;
  if (!split_place(&place, spec, index, op->at[d])) {
    return fail_place(spec, index, op, d, err);
  }
  const sct_expr one = sct_expr_const(pool, 1);
  const sct_expr last = sct_expr_sub(pool, op->extent[d], sct_expr_add(pool, place.most_rest, one));
  const sct_expr factor = sct_expr_binary(pool, SCT_EXPR_MAX, place.factor, one);
  const sct_expr count = sct_expr_add(pool, sct_expr_div(pool, last, factor), one);
  index->index_limit = index->index_limit == SCT_EXPR_NONE
                           ? count
                           : sct_expr_binary(pool, SCT_EXPR_MIN, index->index_limit, count);
  int64_t lo = 0, hi = 0;
  const bool moves = sct_spec_mentions_dims(spec, place.rest); /* else it is the same for all */
  sct_expr_range(pool, moves ? sct_expr_sub(pool, place.factor, place.most_rest) : place.factor,
                 &lo, &hi);
  if (op->is_output && op->accumulate == SCT_REDUCE_NONE && lo < 1) {
    return sct_spec_fail_at(spec, err, op->file,
                            sct_spec_text_line(spec, op->file, op->line, op->at_text[d]),
                            "at of '%s', \"%s\": different values of '%s' may lead to one element; "
                            "an output is written at a * %s + b where b < a (docs/cookbook.md, "
                            "\"Scatter\"), or accumulates",
                            op->name, op->at_text[d], index->name, index->name);
  }
  return SCT_OK;
}

/* Where a value may say that there is no element. */
static sct_status check_none(const sct_spec *spec, const sct_operand *index, sct_error *err) {
  if (index->has_none && sct_type_get(index->record.fields[0].type)->kind != SCT_KIND_INT) {
    return sct_spec_fail_at(spec, err, index->file, index->line,
                            "index array '%s' says none by a value below 0, so its type is i8, "
                            "i16, i32 or i64",
                            index->name);
  }
  if (index->has_none && index->index_scatters) {
    return sct_spec_fail_at(spec, err, index->file, index->line,
                            "an output is written through '%s', which may hold none: all elements "
                            "without a place would be written at 0; let the output accumulate, and "
                            "leave them out by keep() (docs/cookbook.md, \"Neighbours that may be "
                            "missing\")",
                            index->name);
  }
  return SCT_OK;
}

static sct_status bind_index(sct_spec *spec, sct_operand *index, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    for (int d = 0; d < op->n_dims; d++) {
      if (sct_expr_mentions(spec->pool, op->at[d], index->index_value)) {
        SCT_TRY(narrow_limit(spec, index, op, d, err));
        const bool collects = op->accumulate != SCT_REDUCE_NONE;
        index->index_scatters =
            index->index_scatters || (op->is_output && !collects) || op->index_scatters;
        index->index_collects = index->index_collects || collects;
      }
    }
  }
  return check_none(spec, index, err);
}

sct_status sct_spec_bind_indexes(sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(find_depth(spec, &spec->operands[k], 0, err));
  }
  sort_by_depth(spec);
  for (int k = spec->n_index - 1; k >= 0; k--) { /* what others scatter by is known before */
    const bool is_offsets =
        sct_spec_is_ragged(spec) && spec->index_order[k] == spec->ragged.offsets;
    if (!is_offsets) {
      SCT_TRY(bind_index(spec, &spec->operands[spec->index_order[k]], err));
    }
  }
  return SCT_OK;
}
