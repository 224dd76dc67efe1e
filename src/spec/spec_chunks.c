/* Chunks: a kernel of which a part of one dimension is a call of its own, with a smaller extent and
 * pointers that are some steps further. That is so where the bytes of each array are a sum of that
 * dimension's index times a step and something that knows neither index nor extent. */
#include "spec/spec_internal.h"

#include <string.h>

#define TEXT_BYTES 320

/* Why dimension `dim` cannot be cut. */
typedef struct refusal {
  char text[TEXT_BYTES];
  const sct_operand *of; /* the array; NULL: no single one */
} refusal;

static sct_status refuse(refusal *why, const sct_operand *of, const char *fmt, ...)
    SCT_PRINTF(3, 4);
static sct_status refuse(refusal *why, const sct_operand *of, const char *fmt, ...) {
  va_list args;
  why->of = of;
  va_start(args, fmt);
  vsnprintf(why->text, sizeof why->text, fmt, args);
  va_end(args);
  return SCT_ESPEC;
}

/* `e` with one variable replaced. */
static sct_expr put(const sct_spec *spec, sct_expr e, sct_expr var, sct_expr with) {
  return sct_expr_subst(spec->pool, e, &var, &with, 1);
}

/* What `e` grows by where `var` grows by one. */
static sct_expr growth(const sct_spec *spec, sct_expr e, sct_expr var) {
  const sct_expr next = sct_expr_add(spec->pool, var, sct_expr_const(spec->pool, 1));
  return sct_expr_sub(spec->pool, put(spec, e, var, next), e);
}

/* Only extents other than that of `dim`. */
static bool is_over_extents(const sct_spec *spec, sct_expr e, int dim) {
  sct_expr vars[SCT_MAX_EXTENTS + SCT_MAX_DIMS + SCT_MAX_OPERANDS];
  const int n = sct_expr_vars(spec->pool, e, vars, SCT_COUNT(vars));
  bool all = e != SCT_EXPR_NONE && n <= SCT_COUNT(vars);
  for (int v = 0; v < n && all; v++) {
    bool extent = false;
    for (int k = 0; k < spec->n_extents; k++) {
      extent = extent || (k != dim && vars[v] == spec->extent_var[k]);
    }
    all = extent;
  }
  return all;
}

sct_expr sct_spec_chunk_step(const sct_spec *spec, int op, int layout, int dim) {
  const sct_operand *operand = &spec->operands[op];
  const sct_layout *l = &operand->layouts[layout];
  const sct_expr n = spec->extent_var[dim];
  const sct_expr step = growth(spec, l->offset[0], spec->dim_var[dim]);
  bool cuts = is_over_extents(spec, step, dim) && growth(spec, l->bytes, n) == step;
  for (int f = 0; f < operand->record.n_fields && cuts; f++) {
    cuts = growth(spec, l->offset[f], spec->dim_var[dim]) == step &&
           !sct_expr_mentions(spec->pool, l->offset[f], n);
  }
  int64_t lo = 0, hi = 0;
  sct_expr_range(spec->pool, step, &lo, &hi);
  return cuts && lo >= 0 ? step : SCT_EXPR_NONE;
}

bool sct_spec_is_shared(const sct_spec *spec, int op, int dim) {
  const sct_operand *operand = &spec->operands[op];
  bool mentions = false;
  for (int d = 0; d < operand->n_dims; d++) {
    mentions = mentions || sct_expr_mentions(spec->pool, operand->at[d], spec->dim_var[dim]);
  }
  return operand->is_output && !mentions &&
         (operand->accumulate != SCT_REDUCE_NONE || operand->reduce != SCT_REDUCE_NONE);
}

bool sct_spec_writes_all(const sct_spec *spec, int op, int layout) {
  const sct_operand *operand = &spec->operands[op];
  const sct_record *record = &operand->record;
  if (operand->is_output && sct_operand_start_byte(operand) >= 0) {
    return true;
  }
  bool all = operand->is_output && !sct_operand_is_prefilled(operand) &&
             record->bytes == record->data_bytes && sct_operand_shared(operand) == 1;
  sct_expr bytes = sct_expr_const(spec->pool, record->bytes);
  for (int d = 0; d < operand->n_dims && all; d++) {
    bool own = false;
    for (int k = 0; k < spec->n_dims; k++) {
      own =
          own || (operand->at[d] == spec->dim_var[k] && operand->extent[d] == spec->extent_var[k]);
    }
    all = own;
    bytes = sct_expr_mul(spec->pool, bytes, operand->extent[d]);
  }
  return all && operand->layouts[layout].bytes == bytes;
}

/* ---- may a dimension be cut? ---- */

static bool body_names(sct_spec *spec, const char *name) {
  token_list body;
  bool names = false;
  if (sct_spec_tokenize(&body, spec, NULL) == SCT_OK) {
    for (int k = 0; k < body.n; k++) {
      names = names || sct_token_is(&body.tokens[k], name);
    }
  }
  return names;
}

/* The body computes with the dimension's index or extent, or where in a byte an element lies. */
static sct_status check_body(sct_spec *spec, int dim, refusal *why) {
  const char *const name = spec->dims[dim];
  char extent[64];
  snprintf(extent, sizeof extent, "n_%s", name);
  if (body_names(spec, name) || body_names(spec, extent)) {
    return refuse(why, NULL, "the body computes with %s, which is another one in each chunk",
                  body_names(spec, name) ? name : extent);
  }
  for (int k = 0; k < spec->n_operands && spec->body_uses_dim[dim]; k++) {
    const sct_operand *op = &spec->operands[k];
    if (sct_operand_shared(op) > 1 && sct_expr_mentions(spec->pool, op->part, spec->dim_var[dim])) {
      return refuse(why, op,
                    "%d elements of '%s' share a byte along %s, in which a chunk may begin; put "
                    "another dimension first in dims",
                    sct_operand_shared(op), op->name, name);
    }
  }
  return SCT_OK;
}

/* Which of the array's dimensions has a place that moves along `dim` otherwise than by one step for
 * each index; -1: none, so that its layout decides. */
static int odd_place(const sct_spec *spec, const sct_operand *op, int dim) {
  int64_t step = 0;
  for (int d = 0; d < op->n_dims; d++) {
    const sct_expr by = growth(spec, op->at[d], spec->dim_var[dim]);
    if (!sct_expr_is_const(spec->pool, by, &step) || step < 0 ||
        sct_expr_mentions(spec->pool, op->at[d], spec->extent_var[dim])) {
      return d;
    }
  }
  return -1;
}

static sct_status check_layouts(const sct_spec *spec, int k, int dim, refusal *why) {
  const sct_operand *op = &spec->operands[k];
  const char *const name = spec->dims[dim];
  if (op->is_output && op->through_index && !op->stays && op->accumulate == SCT_REDUCE_NONE) {
    return refuse(why, op,
                  "an index says where elements of the output '%s' are, so that chunks would meet "
                  "there; it may stay on the device (host = false)",
                  op->name);
  }
  for (int l = 0; l < op->n_layouts; l++) {
    const sct_expr step = sct_spec_chunk_step(spec, k, l, dim);
    const int odd = step == SCT_EXPR_NONE ? odd_place(spec, op, dim) : -1;
    if (odd >= 0) {
      return refuse(why, op,
                    "elements of '%s' are at \"%s\", which does not go on by equal steps along "
                    "%s; let the array stay on the device (host = false), or put another dimension "
                    "first in dims",
                    op->name, op->at_text[odd], name);
    } else if (step == SCT_EXPR_NONE) {
      return refuse(why, op,
                    "a chunk of %s is no array of '%s' by itself in layout %s: its elements must "
                    "follow each other by equal steps, the slowest dimension first; give it a "
                    "layout such as s.row_major or s.aos",
                    name, op->name, op->layouts[l].label);
    }
    const sct_expr rest =
        put(spec, op->layouts[l].bytes, spec->extent_var[dim], sct_expr_const(spec->pool, 0));
    const sct_expr none = sct_expr_const(spec->pool, 0);
    if (op->is_output && step != none && rest != none) {
      return refuse(why, op,
                    "the output '%s' has more elements along %s than the kernel, so that a chunk "
                    "of it ends within the next one; give it no pad there",
                    op->name, name);
    }
  }
  return SCT_OK;
}

/* How far taps with a border reach along `dim`: such a chunk has neighbours of its elements too. */
static sct_status add_halo(sct_spec *spec, const sct_operand *op, int dim, refusal *why) {
  for (int d = 0; d < op->n_dims && op->border != SCT_BORDER_NONE; d++) {
    int64_t lo = 0, hi = 0;
    sct_operand_reach(op, d, &lo, &hi);
    const bool stays = lo == 0 && hi == 0 && op->at[d] == spec->dim_var[dim];
    if (stays || !sct_expr_mentions(spec->pool, op->at[d], spec->dim_var[dim])) {
      continue;
    }
    if (op->border == SCT_BORDER_WRAP || !sct_spec_is_own_dim(spec, op, d)) {
      return refuse(why, op,
                    "taps of '%s' reach %s; let them reach along other dimensions only, or take "
                    "border = \"clamp\" or \"zero\"",
                    op->name,
                    op->border == SCT_BORDER_WRAP ? "from one end to the other"
                                                  : "by more than neighbours of a chunk");
    }
    spec->halo_before = -lo > spec->halo_before ? -lo : spec->halo_before;
    spec->halo_after = hi > spec->halo_after ? hi : spec->halo_after;
  }
  return SCT_OK;
}

/* Elements along `dim` are combined: each chunk with what the output holds of those before. */
static sct_status check_joined(const sct_spec *spec, int dim, refusal *why) {
  const char *const name = spec->dims[dim];
  if (!spec->reduces) {
    return refuse(why, NULL, "elements along %s are combined or scanned for others of the same row",
                  name);
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    if (sct_reduce_is_arg(op->reduce)) {
      return refuse(why, op,
                    "'%s' is an index along %s (%s), and a chunk knows only its own; put another "
                    "dimension first in dims",
                    op->name, name, sct_reduce_name(op->reduce));
    }
    if (!op->is_inout) {
      return refuse(why, op,
                    "elements of '%s' are combined along %s, so that each chunk goes onto what "
                    "those before have left; say inout = true there, and fill it before the call",
                    op->name, name);
    }
    for (int f = 0; f < op->record.n_fields; f++) {
      const sct_type_info *type = sct_type_get(op->record.fields[f].type);
      if (op->reduce == SCT_REDUCE_SUM && type->kind == SCT_KIND_FLOAT && type->bytes < 4) {
        return refuse(why, op,
                      "'%s' is combined along %s in %s, and would be rounded with each chunk; "
                      "give it the type f32",
                      op->name, name, type->name);
      }
    }
  }
  return SCT_OK;
}

/* What all chunks go onto must get each point once. */
static sct_status check_halo(const sct_spec *spec, int dim, refusal *why) {
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const bool halo = spec->halo_before > 0 || spec->halo_after > 0;
    if (halo && (op->through_index || sct_spec_is_shared(spec, k, dim))) {
      return refuse(why, op,
                    "taps reach beyond a chunk, so that chunks would both write elements of '%s'",
                    op->name);
    }
  }
  return SCT_OK;
}

static sct_status check_dim(sct_spec *spec, int dim, refusal *why) {
  spec->halo_before = spec->halo_after = 0;
  if (sct_spec_combines_along(spec, dim)) {
    SCT_TRY(check_joined(spec, dim, why));
  }
  SCT_TRY(check_body(spec, dim, why));
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(check_layouts(spec, k, dim, why));
    SCT_TRY(add_halo(spec, &spec->operands[k], dim, why));
  }
  return check_halo(spec, dim, why);
}

/* Where `host` stands that is about the array, or about all. */
static sct_status fail_at_host(const sct_spec *spec, const refusal *why, sct_error *err) {
  const sct_operand *of = why->of && why->of->host_given ? why->of : NULL;
  for (int k = 0; k < spec->n_operands && !of && !spec->host_given; k++) {
    of = spec->operands[k].host_given && !spec->operands[k].stays ? &spec->operands[k] : NULL;
  }
  const char *file = of ? of->file : spec->file;
  const int line = of ? sct_spec_key_line(spec, file, of->line, "host")
                      : sct_spec_own_key_line(spec, file, spec->line, "host");
  return sct_spec_fail_at(spec, err, file, line, "host = %s %s", of && of->stays ? "false" : "true",
                          why->text);
}

sct_status sct_spec_find_chunks(sct_spec *spec, sct_error *err) {
  refusal first = {.text = ""}, other, whole;
  int n_copied = 0;
  spec->chunk_dim = -1;
  if (!spec->host) {
    return SCT_OK;
  }
  for (int k = 0; k < spec->n_operands; k++) {
    n_copied += !spec->operands[k].stays;
  }
  if (n_copied == 0) {
    (void)refuse(&whole, NULL, "needs an array that lies on the host: all have host = false");
    return fail_at_host(spec, &whole, err);
  }
  if (sct_spec_is_ragged(spec)) {
    (void)refuse(&first, NULL, "rows of different lengths are not cut");
  }
  for (int d = 0; d < spec->n_dims && spec->chunk_dim < 0 && (d > 0 || first.text[0] == '\0');
       d++) {
    if (check_dim(spec, d, d == 0 ? &first : &other) == SCT_OK) {
      spec->chunk_dim = d;
    }
  }
  if (spec->chunk_dim >= 0) {
    return SCT_OK;
  }
  (void)refuse(&whole, first.of, "needs a dimension that can be cut into chunks; of %s: %s",
               spec->dims[0], first.text);
  return fail_at_host(spec, &whole, err);
}
