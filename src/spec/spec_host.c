/* The host's view: where every element lies at a given size, what index arrays hold, how many bytes
 * move. The same expressions that become CUDA text, evaluated. */
#include <string.h>

#include "spec/spec_internal.h"

int64_t sct_spec_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > SCT_EXPR_MAX_VALUE) {
    return SCT_EXPR_MAX_VALUE;
  }
  return product;
}

/* ---- environments ---- */

void sct_spec_env_add(spec_env *env, sct_expr var, int64_t value) {
  env->vars[env->n] = var;
  env->values[env->n] = value;
  env->n++;
}

spec_env sct_spec_env_extents(const sct_spec *spec, const int64_t *extent) {
  spec_env env;
  env.n = 0;
  for (int k = 0; k < spec->n_extents; k++) {
    sct_spec_env_add(&env, spec->extent_var[k], extent[k]);
  }
  return env;
}

sct_status sct_spec_env_eval(const sct_spec *spec, const spec_env *env, sct_expr e, int64_t *value,
                             sct_error *err) {
  const sct_expr_env vars = {env->vars, env->values, env->n};
  return sct_expr_eval(spec->pool, e, &vars, value, err);
}

/* Row-major number of the element that `op` is read at, over its own extents. */
static sct_status linear_place(const sct_spec *spec, const spec_env *env, const sct_operand *op,
                               int64_t *linear, sct_error *err) {
  *linear = 0;
  for (int d = 0; d < op->n_dims; d++) {
    int64_t extent = 0;
    int64_t at = 0;
    SCT_TRY(sct_spec_env_eval(spec, env, op->extent[d], &extent, err));
    SCT_TRY(sct_spec_env_eval(spec, env, op->at[d], &at, err));
    *linear = sct_spec_mul(*linear, extent) + at;
  }
  return SCT_OK;
}

sct_status sct_spec_env_place(const sct_spec *spec, spec_env *env, const sct_operand *op,
                              const int64_t *idx, const sct_size *size, sct_error *err) {
  for (int d = 0; d < spec->n_dims; d++) {
    sct_spec_env_add(env, spec->dim_var[d], idx[d]);
  }
  for (int k = 0; k < spec->n_index && op->through_index; k++) {
    const sct_operand *index = &spec->operands[spec->index_order[k]];
    int64_t linear = 0;
    SCT_TRY(linear_place(spec, env, index, &linear, err));
    sct_spec_env_add(env, index->index_value,
                     sct_spec_index_value(spec, spec->index_order[k], linear, size));
  }
  return SCT_OK;
}

/* ---- choices of layouts ---- */

int sct_spec_choice_leader(const sct_spec *spec, int op) {
  int first = op;
  for (int k = op - 1; k >= 0 && spec->operands[op].choice_group > 0; k--) {
    first = spec->operands[k].choice_group == spec->operands[op].choice_group ? k : first;
  }
  return first;
}

/* Choices of the operands before `end`. */
static int n_choices(const sct_spec *spec, int end) {
  int n = 0;
  for (int k = 0; k < end; k++) {
    n += spec->operands[k].n_layouts > 1 && sct_spec_choice_leader(spec, k) == k;
  }
  return n;
}

int sct_spec_n_choices(const sct_spec *spec) {
  return n_choices(spec, spec->n_operands);
}

int sct_spec_choice_of(const sct_spec *spec, int op) {
  return spec->operands[op].n_layouts > 1 ? n_choices(spec, sct_spec_choice_leader(spec, op)) : -1;
}

/* ---- addresses ---- */

int64_t sct_spec_bytes(const sct_spec *spec, int op, int layout, const sct_size *size) {
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  int64_t bytes = 0;
  if (sct_spec_env_eval(spec, &env, spec->operands[op].layouts[layout].bytes, &bytes, NULL) !=
      SCT_OK) {
    return 0;
  }
  return bytes;
}

static int64_t operand_elements(const sct_spec *spec, const sct_operand *op, const sct_size *size) {
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  int64_t n = 1;
  for (int d = 0; d < op->n_dims; d++) {
    int64_t extent = 0;
    if (sct_spec_env_eval(spec, &env, op->extent[d], &extent, NULL) != SCT_OK || extent < 0) {
      return 0;
    }
    n = sct_spec_mul(n, extent);
  }
  return n;
}

/* ---- index arrays ---- */

static sct_fill resolve_fill(const sct_operand *op, sct_fill fill, int64_t count, int64_t limit) {
  if (fill != SCT_FILL_DEFAULT) {
    return fill;
  }
  const bool distinct = op->index_scatters || (count == limit && !op->index_collects);
  return distinct ? SCT_FILL_PERMUTED : SCT_FILL_RANDOM;
}

bool sct_operand_is_mask(const sct_operand *op) {
  return !op->is_index && !op->is_output && op->n_dims > 0 && op->record.n_fields == 1 &&
         op->record.fields[0].type == SCT_TYPE_BOOL;
}

sct_index_fill sct_spec_index_fill(const sct_spec *spec, int op, const sct_size *size) {
  const sct_operand *index = &spec->operands[op];
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  sct_index_fill fill = {.seed = sct_hash_text(index->name).lo};
  if (!index->is_index) {
    fill.fill = SCT_FILL_PREFIX;
    fill.limit = 2;
    (void)sct_spec_env_eval(spec, &env, index->extent[index->n_dims - 1], &fill.columns, NULL);
    return fill;
  }
  if (sct_spec_env_eval(spec, &env, index->index_limit, &fill.limit, NULL) != SCT_OK) {
    fill.limit = 0;
  }
  if (sct_spec_is_ragged(spec) && op == spec->ragged.offsets) {
    fill.are_offsets = true;
    fill.rows = size->extent[spec->ragged.row];
    fill.ragged = &spec->ragged;
    fill.fill = size->fill[op] == SCT_FILL_DEFAULT ? SCT_FILL_UNIFORM : size->fill[op];
    return fill;
  }
  fill.has_none = index->has_none;
  fill.limit = sct_type_index_limit(index->record.fields[0].type, fill.limit);
  fill.count = operand_elements(spec, index, size);
  fill.lowest = INT64_MIN >> (64 - index->record.fields[0].bytes * 8);
  fill.collects = index->index_collects;
  fill.fill = resolve_fill(index, size->fill[op], fill.count, fill.limit);
  return fill;
}

/* Some value beside a place where an eighth of [0, limit) ends, 0 and limit - 1 among them. */
static int64_t edge_value(int64_t limit, uint64_t random) {
  const int64_t eighth = (int64_t)(random % 9), beside = (int64_t)(random / 9 % 3) - 1;
  const int64_t value = (int64_t)((double)limit * (double)eighth / 8.0) + beside;
  return value < 0 ? 0 : value >= limit ? limit - 1 : value;
}

/* Rows are true up to a place of their own, half of them to all: a batch of sequences of different
 * lengths. Shorter ones would be rare in one, and counts of a few blocks would tell less of all. */
static int64_t prefix_value(const sct_index_fill *fill, int64_t linear) {
  const int64_t columns = fill->columns < 1 ? 1 : fill->columns, half = columns / 2;
  const uint64_t random = sct_mix64(fill->seed, (uint64_t)(linear / columns));
  return linear % columns < half + (int64_t)(random % (uint64_t)(columns - half + 1));
}

enum { VALUES_A_NONE = 8 }; /* of an index array that may hold none */

/* Every value below 0 stands for none. */
static int64_t none_value(const sct_index_fill *fill, int64_t linear) {
  const uint64_t random = sct_mix64(fill->seed + 1, (uint64_t)linear);
  const int64_t values[] = {-1, -2, fill->lowest, fill->lowest / 2 - 1, -3};
  return fill->variant == 0 ? -1 : values[random % SCT_COUNT(values)];
}

static bool is_none(const sct_index_fill *fill, int64_t linear) {
  const bool is_end = linear == 0 || linear == fill->count - 1;
  return fill->has_none && (sct_mix64(~fill->seed, (uint64_t)linear) % VALUES_A_NONE == 0 ||
                            (is_end && fill->variant % 4 == (linear == 0 ? 1 : 2)));
}

/* Random, with both ends of the array more often, or in runs, or in order, up or down. */
static int64_t varied_value(const sct_index_fill *fill, int64_t linear) {
  const int64_t limit = fill->limit, last = fill->count > 1 ? fill->count - 1 : 1;
  const uint64_t random = sct_mix64(fill->seed, (uint64_t)linear);
  const int64_t ends[] = {0, limit - 1, limit > 1, limit - 1 - (limit > 1)};
  const int64_t up = (int64_t)((double)linear / (double)last * (double)(limit - 1));
  const int run = 2 + fill->variant % 7;
  if (linear == 0 || linear == fill->count - 1) {
    return (linear == 0) == (fill->variant / 4 % 2 == 0) ? limit - 1 : 0;
  }
  switch (fill->variant % 4) {
  case 0:
    return random % 8 == 0 ? ends[random / 8 % SCT_COUNT(ends)]
                           : (int64_t)(random / 8 % (uint64_t)limit);
  case 1:
    return (int64_t)(sct_mix64(fill->seed, (uint64_t)(linear / run)) % (uint64_t)limit);
  default:
    return fill->variant % 4 == 2 ? up : limit - 1 - up;
  }
}

/* What other variants have in place of a fill's values, distinct ones in place of distinct ones. */
static int64_t other_value(const sct_index_fill *fill, int64_t linear) {
  sct_index_fill of = *fill;
  const int64_t at = linear % fill->limit;
  of.seed = sct_mix64(fill->seed, (uint64_t)fill->variant);
  switch (fill->fill) {
  case SCT_FILL_IDENTITY:
    return fill->variant % 2 == 0 ? at : fill->limit - 1 - at;
  case SCT_FILL_PERMUTED:
    return sct_permute(at, fill->limit, of.seed);
  case SCT_FILL_CONSTANT:
    return (fill->limit - 1) * (fill->variant % 3) / 2;
  case SCT_FILL_RANDOM:
    return fill->collects ? (int64_t)(sct_mix64(of.seed, (uint64_t)linear) % (uint64_t)of.limit)
                          : varied_value(&of, linear);
  case SCT_FILL_PREFIX:
    return prefix_value(&of, linear);
  default:
    return edge_value(fill->limit, sct_mix64(of.seed, (uint64_t)linear));
  }
}

int64_t sct_index_fill_value(const sct_index_fill *fill, int64_t linear) {
  if (fill->limit < 1) {
    return 0; /* there is nothing to point to; sct_spec_finish refuses such sizes */
  }
  if (fill->are_offsets) {
    return sct_spec_offset(fill, linear);
  }
  if (is_none(fill, linear)) {
    return none_value(fill, linear);
  }
  if (fill->variant != 0) {
    return other_value(fill, linear);
  }
  switch (fill->fill) {
  case SCT_FILL_IDENTITY:
    return linear % fill->limit;
  case SCT_FILL_PERMUTED:
    return sct_permute(linear % fill->limit, fill->limit, fill->seed);
  case SCT_FILL_CONSTANT:
    return fill->limit / 2;
  case SCT_FILL_EDGES:
    return edge_value(fill->limit, sct_mix64(fill->seed, (uint64_t)linear));
  case SCT_FILL_PREFIX:
    return prefix_value(fill, linear);
  default:
    return (int64_t)(sct_mix64(fill->seed, (uint64_t)linear) % (uint64_t)fill->limit);
  }
}

int64_t sct_spec_index_value(const sct_spec *spec, int op, int64_t linear, const sct_size *size) {
  const sct_index_fill fill = sct_spec_index_fill(spec, op, size);
  return sct_index_fill_value(&fill, linear);
}

/* ---- amounts ---- */

int64_t sct_spec_elements(const sct_spec *spec, const sct_size *size) {
  int64_t n = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    n = sct_spec_mul(n, sct_spec_multiplies(spec, d) ? size->extent[d] : 1);
  }
  return n;
}

bool sct_spec_moves_with(const sct_spec *spec, const sct_operand *op, int dim) {
  for (int d = 0; d < op->n_dims; d++) {
    if (sct_expr_mentions(spec->pool, op->at[d], spec->dim_var[dim]) ||
        sct_spec_is_computed(spec, op->at[d])) {
      return true;
    }
    for (int k = 0; k < spec->n_inputs && op->through_index; k++) {
      const sct_operand *index = &spec->operands[k];
      if (index->is_index && sct_expr_mentions(spec->pool, op->at[d], index->index_value) &&
          sct_spec_moves_with(spec, index, dim)) {
        return true;
      }
    }
  }
  return false;
}

/* Is what moves with `dim` known from the elements of ragged rows, of which each is in one? */
static bool is_counted(const sct_spec *spec, const sct_operand *op, int dim) {
  return !sct_spec_multiplies(spec, dim) && sct_spec_moves_with(spec, op, spec->ragged.dim);
}

/* How far apart along dimension d of the array the elements are that the index space has at one
 * tap: the greatest common divisor of its steps, 0 if there is one place only. */
static int64_t spacing(const sct_spec *spec, const sct_operand *op, int d) {
  int64_t step = 0;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    int64_t factor = 0;
    sct_expr rest;
    if (!sct_expr_mentions(spec->pool, op->at[d], spec->dim_var[dim])) {
      continue;
    }
    if (!sct_expr_linear(spec->pool, op->at[d], spec->dim_var[dim], &factor, &rest)) {
      return 1;
    }
    for (int64_t other = factor < 0 ? -factor : factor; other != 0;) {
      const int64_t left = step % other;
      step = other;
      other = left;
    }
  }
  return step;
}

/* Different places of a tap's window: those that are multiples of the spacing apart are one. */
static int64_t window_sets(const sct_operand *op, const int64_t *spacing_of, const sct_tap *tap) {
  int64_t n = 1;
  for (int d = 0; d < op->n_dims; d++) {
    const int64_t count = sct_tap_count(tap, d);
    int64_t period = 1;
    while (spacing_of[d] > 0 && period < count &&
           period * sct_tap_step(tap, d) % spacing_of[d] != 0) {
      period++;
    }
    n = sct_spec_mul(n, spacing_of[d] > 0 ? period : count);
  }
  return n;
}

/* Do two taps (-1: the array itself) reach the same elements, but for those at the edges? */
static bool are_alike(const sct_operand *op, const int64_t *spacing_of, int a, int b) {
  bool alike = true;
  for (int d = 0; d < op->n_dims; d++) {
    const int64_t apart = (a < 0 ? 0 : op->taps[a].delta[d]) - (b < 0 ? 0 : op->taps[b].delta[d]);
    alike = alike && (spacing_of[d] == 0 ? apart == 0 : apart % spacing_of[d] == 0);
  }
  return alike;
}

int64_t sct_spec_tap_sets(const sct_spec *spec, const sct_operand *op) {
  int64_t spacing_of[SCT_MAX_DIMS] = {0}, n = 0;
  bool own_is_read = true;
  const int32_t mark = sct_expr_mark(spec->pool);
  for (int d = 0; d < op->n_dims && op->n_taps > 0; d++) {
    spacing_of[d] = spacing(spec, op, d);
  }
  sct_expr_reset(spec->pool, mark);
  for (int tap = -1; tap < op->n_taps; tap++) {
    const bool is_window = tap >= 0 && op->taps[tap].how != NULL;
    bool is_new = true;
    for (int other = -1; other < tap && is_new; other++) {
      is_new = !are_alike(op, spacing_of, tap, other);
    }
    n += is_window ? window_sets(op, spacing_of, &op->taps[tap]) : is_new ? 1 : 0;
    own_is_read = own_is_read && !(is_window && strcmp(op->taps[tap].name, op->name) == 0);
  }
  return own_is_read ? n : n - 1;
}

/* Elements of `op` that the index space touches; overlapping reads count once, gathers
 * each, and what is accumulated at most the array. */
static int64_t touched(const sct_spec *spec, const sct_operand *op, const sct_size *size) {
  int64_t n = 1;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    const bool none =
        size->extent[dim] == 0 && !op->per_row && !sct_spec_writes_once(spec, op, dim);
    const bool moves = sct_spec_moves_with(spec, op, dim) && !is_counted(spec, op, dim);
    n = sct_spec_mul(n, moves || none ? size->extent[dim] : 1);
  }
  n = sct_spec_mul(n, sct_spec_tap_sets(spec, op));
  const int64_t all = operand_elements(spec, op, size);
  const bool each = op->through_index && op->accumulate == SCT_REDUCE_NONE;
  return each || n < all ? n : all;
}

/* Bytes of one element that the body uses. */
static int64_t used_bytes(const sct_operand *op) {
  int64_t bytes = 0;
  for (int f = 0; f < op->record.n_fields; f++) {
    bytes += op->used[f] || op->is_index ? op->record.fields[f].bytes : 0;
  }
  return bytes;
}

bool sct_spec_mentions_dims(const sct_spec *spec, sct_expr e) {
  bool any = false;
  for (int dim = 0; dim < spec->n_dims; dim++) {
    any = any || sct_expr_mentions(spec->pool, e, spec->dim_var[dim]);
  }
  return any;
}

int64_t sct_operand_reads(const sct_operand *op) {
  int64_t reads = 1;
  for (int k = 0; k < op->n_taps; k++) {
    int64_t n = 1;
    for (int d = 0; d < op->n_dims; d++) {
      n = sct_spec_mul(n, sct_tap_count(&op->taps[k], d));
    }
    reads += n;
  }
  return reads;
}

int64_t sct_spec_element_bytes(const sct_spec *spec, int op, const sct_size *size) {
  const sct_operand *const o = &spec->operands[op];
  return sct_spec_mul(sct_spec_elements(spec, size),
                      sct_spec_mul(used_bytes(o), sct_operand_reads(o)));
}

int64_t sct_spec_touched_bytes(const sct_spec *spec, int op, const sct_size *size) {
  const sct_operand *const o = &spec->operands[op];
  return sct_spec_mul(used_bytes(o), touched(spec, o, size));
}

void sct_spec_traffic(const sct_spec *spec, const sct_size *size, int64_t *read_bytes,
                      int64_t *write_bytes) {
  *read_bytes = 0;
  *write_bytes = 0;
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const int64_t bytes = sct_spec_touched_bytes(spec, k, size);
    *read_bytes += !op->is_output || sct_operand_is_read_too(op) ? bytes : 0;
    *write_bytes += op->is_output && !op->keeps ? bytes : 0;
  }
}
