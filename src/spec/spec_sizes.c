/* Problem sizes, and whether every place an array is read or written lies inside it. */
#include <stdlib.h>
#include <string.h>

#include "spec/spec_internal.h"

static const struct {
  const char *name;
  int of;
} fills[SCT_N_FILLS] = {
#define SCT_FILL(id, name, of) {name, of},
#include "spec_fills.def"
#undef SCT_FILL
};

const char *sct_fill_name(sct_fill fill, int kinds) {
  return fills[fill].of & kinds ? fills[fill].name : NULL;
}

/* ---- sizes ---- */

static sct_status check_size(sct_spec *spec, sct_size *size, sct_error *err) {
  int64_t total = 1;
  for (int k = 0; k < spec->n_extents; k++) {
    if (size->extent[k] < 0) {
      return sct_spec_fail_at(spec, err, spec->file, size->line,
                              "extent %s = %lld is negative; expected 0 or more",
                              spec->extent_names[k], (long long)size->extent[k]);
    }
    if (size->extent[k] > SCT_MAX_EXTENT) {
      return sct_spec_fail_at(spec, err, spec->file, size->line,
                              "extent %s = %lld is too large; at most 2^40", spec->extent_names[k],
                              (long long)size->extent[k]);
    }
  }
  for (int d = 0; d < spec->n_dims; d++) {
    total = sct_spec_mul(total, sct_spec_multiplies(spec, d) ? size->extent[d] : 1);
  }
  if (sct_spec_is_ragged(spec) && size->extent[spec->ragged.row] == 0 &&
      size->extent[spec->ragged.dim] > 0) {
    return sct_spec_fail_at(spec, err, spec->file, size->line,
                            "%s = %lld, but there is no row to which these elements belong",
                            spec->ragged.dim_name, (long long)size->extent[spec->ragged.dim]);
  }
  if (total > SCT_MAX_EXTENT) {
    return sct_spec_fail_at(spec, err, spec->file, size->line,
                            "this size has more than 2^40 elements");
  }
  return SCT_OK;
}

static void label_size(sct_spec *spec, sct_size *size) {
  SCT_SCOPED(sct_str) text = {0};
  for (int k = 0; k < spec->n_extents; k++) {
    sct_str_printf(&text, "%s%s=%lld", k > 0 ? " " : "", spec->extent_names[k],
                   (long long)size->extent[k]);
  }
  for (int k = 0; k < spec->n_operands; k++) {
    if (size->fill[k] != SCT_FILL_DEFAULT) {
      const char *const name = fills[size->fill[k]].name;
      const size_t colon = strcspn(name, ":");
      sct_str_printf(&text, " %s=%.*s%s%s", spec->operands[k].name, (int)colon, name,
                     name[colon] ? ":" : "", name[colon] ? spec->ragged.lengths_file : "");
    }
  }
  size->label = sct_arena_strdup(&spec->arena, sct_str_c(&text));
}

static sct_status check_one(sct_spec *spec, int k, sct_error *err) {
  SCT_TRY(check_size(spec, &spec->sizes[k], err));
  label_size(spec, &spec->sizes[k]);
  SCT_TRY(sct_spec_check_found(spec, &spec->sizes[k], err));
  SCT_TRY(sct_spec_check_limits(spec, &spec->sizes[k], err));
  for (int other = 0; other < k; other++) {
    if (strcmp(spec->sizes[other].label, spec->sizes[k].label) == 0) {
      return sct_spec_fail_at(spec, err, spec->file, spec->sizes[k].line, "size '%s' appears twice",
                              spec->sizes[k].label);
    }
  }
  return SCT_OK;
}

sct_status sct_spec_at_size(sct_size *size, sct_status status) {
  size->refused = size->refused || (size->around && status != SCT_OK);
  return size->around ? SCT_OK : status;
}

void sct_spec_leave_refused(sct_spec *spec) {
  int n = 0, n_around = 0;
  for (int k = 0; k < spec->n_sizes; k++) {
    const sct_size *size = &spec->sizes[k];
    if (!size->refused && n_around + size->around <= SCT_MOST_AROUND) {
      n_around += size->around;
      spec->sizes[n++] = *size;
    }
  }
  spec->n_added -= spec->n_sizes - n;
  spec->n_sizes = n;
}

sct_status sct_spec_check_sizes(sct_spec *spec, sct_error *err) {
  if (spec->n_sizes < 1) {
    return sct_spec_fail_at(spec, err, spec->file, spec->line,
                            "a kernel needs at least one size, as in sizes = { { %s = 1024 } }",
                            spec->dims[0]);
  }
  for (int k = 0; k < spec->n_sizes; k++) {
    SCT_TRY(sct_spec_at_size(&spec->sizes[k], check_one(spec, k, err)));
  }
  return SCT_OK;
}

/* ---- index arrays at one size ---- */

static sct_status check_index(const sct_spec *spec, int at, const sct_size *size, sct_error *err) {
  const sct_operand *op = &spec->operands[at];
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  int64_t limit = 0;
  int64_t count = 1;
  SCT_TRY(sct_spec_env_eval(spec, &env, op->index_limit, &limit, err));
  for (int d = 0; d < op->n_dims; d++) {
    int64_t extent = 0;
    SCT_TRY(sct_spec_env_eval(spec, &env, op->extent[d], &extent, err));
    count = sct_spec_mul(count, extent);
  }
  const sct_type_info *type = sct_type_get(op->record.fields[0].type);
  if (sct_type_index_limit(op->record.fields[0].type, limit) < limit) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "index array '%s' of type %s cannot hold indices up to %lld, which "
                            "size '%s' needs",
                            op->name, type->name, (long long)limit - 1, size->label);
  }
  const bool random = size->fill[at] == SCT_FILL_RANDOM || size->fill[at] == SCT_FILL_CONSTANT;
  if (op->index_scatters && (count > limit || random)) {
    return sct_spec_fail_at(spec, err, spec->file, size->line,
                            "an output is written through '%s', so its values must be distinct; %s",
                            op->name,
                            random ? "fill it with identity or permuted, or let the output "
                                     "accumulate"
                                   : "it has more elements than there are places; an output that "
                                     "adds up what falls on one place says accumulate = \"add\" "
                                     "(docs/cookbook.md, \"A histogram\")");
  }
  if (count > 0 && limit < 1 && sct_spec_elements(spec, size) > 0) {
    return sct_spec_fail_at(spec, err, op->file, op->line,
                            "at size '%s' there is no element that '%s' could point to",
                            size->label, op->name);
  }
  return SCT_OK;
}

/* ---- places at one size ---- */

typedef struct place {
  const sct_spec *spec;
  const sct_operand *op;
  const sct_size *size;
  int d;
  sct_expr at;        /* what is evaluated: the operand's own place or a tap's */
  const sct_tap *tap; /* NULL: its own */
  int64_t extent;
  sct_error *err;
} place;

static sct_status outside(const place *p, const spec_env *env, int64_t at) {
  const sct_spec *spec = p->spec;
  SCT_SCOPED(sct_str) where = {0};
  for (int k = 0; k < env->n; k++) {
    const sct_expr var = env->vars[k];
    if (sct_expr_mentions(spec->pool, p->at, var)) {
      sct_str_printf(&where, "%s%s = %lld", where.len > 0 ? ", " : " for ",
                     sct_expr_var_name(spec->pool, var), (long long)env->values[k]);
    }
  }
  const sct_operand *op = p->op;
  const int line = p->tap ? sct_spec_key_line(spec, op->file, op->line, p->tap->name)
                          : sct_spec_text_line(spec, op->file, op->line, op->at_text[p->d]);
  return p->tap
             ? sct_spec_fail_at(
                   spec, p->err, op->file, line,
                   "tap '%s' of '%s' reads %s %lld%s, outside [0, %lld) (size '%s'); say "
                   "what it finds there, as in border = \"clamp\", or pad the array",
                   p->tap->name, op->name, op->dims[p->d], (long long)at, sct_str_c(&where),
                   (long long)p->extent, p->size->label)
             : sct_spec_fail_at(spec, p->err, op->file, line,
                                "at of '%s', \"%s\", gives %lld%s, outside [0, %lld) (size '%s')",
                                op->name, op->at_text[p->d], (long long)at, sct_str_c(&where),
                                (long long)p->extent, p->size->label);
}

/* Evaluates the place with bit k of `corner` choosing the last instead of the first index (and for
 * index arrays the largest instead of the smallest value). */
static sct_status check_corner(const place *p, unsigned corner) {
  const sct_spec *spec = p->spec;
  spec_env env = sct_spec_env_extents(spec, p->size->extent);
  unsigned bit = 1;
  for (int d = 0; d < spec->n_dims; d++, bit <<= 1) {
    sct_spec_env_add(&env, spec->dim_var[d], corner & bit ? p->size->extent[d] - 1 : 0);
  }
  for (int k = 0; k < spec->n_index; k++, bit <<= 1) {
    const sct_operand *index = &spec->operands[spec->index_order[k]];
    int64_t limit = 0;
    SCT_TRY(sct_spec_env_eval(spec, &env, index->index_limit, &limit, p->err));
    sct_spec_env_add(&env, index->index_value, corner & bit ? limit - 1 : 0);
  }
  int64_t at = 0;
  sct_error why;
  if (sct_spec_env_eval(spec, &env, p->at, &at, &why) != SCT_OK) {
    return sct_spec_fail_at(spec, p->err, p->op->file, p->op->line, "at of '%s', \"%s\": %s",
                            p->op->name, p->op->at_text[p->d], why.text);
  }
  return at < 0 || at >= p->extent ? outside(p, &env, at) : SCT_OK;
}

/* Does folding with the real bounds prove the place inside? */
static bool range_is_inside(const place *p) {
  const sct_spec *spec = p->spec;
  sct_expr_pool *pool = spec->pool;
  sct_expr vars[ENV_CAP];
  sct_expr with[ENV_CAP];
  int n = 0;
  const int32_t mark = sct_expr_mark(pool);
  for (int d = 0; d < spec->n_dims; d++) {
    vars[n] = spec->dim_var[d];
    char name[80];
    snprintf(name, sizeof(name), "%s.at", spec->dims[d]);
    with[n++] = sct_expr_var(pool, name, 0, p->size->extent[d] - 1, 1);
  }
  const spec_env env = sct_spec_env_extents(spec, p->size->extent);
  for (int k = 0; k < spec->n_inputs; k++) {
    int64_t limit = 0;
    if (spec->operands[k].is_index &&
        sct_spec_env_eval(spec, &env, spec->operands[k].index_limit, &limit, NULL) == SCT_OK) {
      vars[n] = spec->operands[k].index_value;
      char name[80];
      snprintf(name, sizeof(name), "%s.at", spec->operands[k].name);
      with[n++] = sct_expr_var(pool, name, 0, limit - 1, 1);
    }
  }
  for (int k = 0; k < spec->n_extents; k++) {
    vars[n] = spec->extent_var[k];
    with[n++] = sct_expr_const(pool, p->size->extent[k]);
  }
  int64_t lo = 0;
  int64_t hi = 0;
  sct_expr_range(pool, sct_expr_subst(pool, p->at, vars, with, n), &lo, &hi);
  sct_expr_reset(pool, mark);
  return lo >= 0 && hi < p->extent;
}

enum { MOST_POINTS = 4096 };

/* Neither proved nor refuted: try elements spread over the index space, the same on every run. */
static sct_status check_some_points(const place *p) {
  const sct_spec *spec = p->spec;
  const int64_t n = sct_spec_elements(spec, p->size);
  const int64_t tries = n < MOST_POINTS ? n : MOST_POINTS;
  for (int64_t t = 0; t < tries; t++) {
    int64_t rest = n <= MOST_POINTS ? t : (int64_t)(sct_mix64(1, (uint64_t)t) % (uint64_t)n);
    int64_t idx[SCT_MAX_DIMS] = {0};
    for (int d = spec->n_dims - 1; d >= 0; d--) {
      idx[d] = rest % p->size->extent[d];
      rest /= p->size->extent[d];
    }
    spec_env env = sct_spec_env_extents(spec, p->size->extent);
    SCT_TRY(sct_spec_env_place(spec, &env, p->op, idx, p->size, p->err));
    int64_t at = 0;
    SCT_TRY(sct_spec_env_eval(spec, &env, p->at, &at, p->err));
    if (at < 0 || at >= p->extent) {
      return outside(p, &env, at);
    }
  }
  return SCT_OK;
}

static sct_status check_place(const place *p) {
  if (range_is_inside(p)) {
    return SCT_OK;
  }
  const int bits = p->spec->n_dims + p->spec->n_index;
  for (unsigned corner = 0; corner < 1u << (bits < 12 ? bits : 12); corner++) {
    SCT_TRY(check_corner(p, corner));
  }
  return check_some_points(p);
}

/* Without a border, the taps that reach farthest stay inside too. */
static sct_status check_taps(place p) {
  sct_expr_pool *pool = p.spec->pool;
  const sct_expr own = p.at;
  int64_t reach[2];
  sct_operand_reach(p.op, p.d, &reach[0], &reach[1]);
  for (int k = 0; k < p.op->n_taps; k++) {
    p.tap = &p.op->taps[k];
    const int64_t first = p.tap->delta[p.d];
    const int64_t last = first + (sct_tap_count(p.tap, p.d) - 1) * sct_tap_step(p.tap, p.d);
    for (int end = 0; end < 2; end++) {
      const int64_t delta = end == 0 ? first : last;
      if (delta == 0 || delta != reach[end]) {
        continue;
      }
      const int32_t mark = sct_expr_mark(pool);
      p.at = sct_expr_add(pool, own, sct_expr_const(pool, delta));
      const sct_status status = check_place(&p);
      sct_expr_reset(pool, mark);
      SCT_TRY(status);
    }
  }
  return SCT_OK;
}

static sct_status check_operand(const sct_spec *spec, const sct_operand *op, const sct_size *size,
                                sct_error *err) {
  const spec_env env = sct_spec_env_extents(spec, size->extent);
  for (int d = 0; d < op->n_dims; d++) {
    place p = {.spec = spec, .op = op, .size = size, .d = d, .at = op->at[d], .err = err};
    sct_error why;
    if (sct_spec_env_eval(spec, &env, op->extent[d], &p.extent, &why) != SCT_OK) {
      return sct_spec_fail_at(spec, err, op->file, op->line, "extents of '%s': %s", op->name,
                              why.text);
    }
    if (p.extent < 0) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "'%s' has a negative extent (%lld) at size '%s'", op->name,
                              (long long)p.extent, size->label);
    }
    if (sct_spec_elements(spec, size) == 0 || sct_spec_is_computed(spec, p.at)) {
      continue;
    }
    if (!sct_operand_leaves(op, d)) {
      SCT_TRY(check_place(&p));
      SCT_TRY(check_taps(p));
    } else if (sct_border_reads(op->border) && p.extent == 0) {
      return sct_spec_fail_at(spec, err, op->file, op->line,
                              "'%s' has no elements at size '%s', so that border = \"%s\" finds "
                              "none",
                              op->name, size->label, sct_border_name(op->border));
    }
  }
  return SCT_OK;
}

/* ---- outputs are written once ---- */

typedef struct written {
  int64_t at[SCT_MAX_DIMS];
  int64_t element; /* linear number in the index space */
} written;

static int compare_written(const void *a, const void *b) {
  const written *x = a;
  const written *y = b;
  for (int d = 0; d < SCT_MAX_DIMS; d++) {
    if (x->at[d] != y->at[d]) {
      return x->at[d] < y->at[d] ? -1 : 1;
    }
  }
  return x->element < y->element ? -1 : x->element > y->element;
}

/* Ragged rows: each element is in one of them, and which one does not matter. */
static void unravel(const sct_spec *spec, const int64_t *extent, int64_t linear, int64_t *idx) {
  for (int d = spec->n_dims - 1; d >= 0; d--) {
    idx[d] = sct_spec_multiplies(spec, d) ? linear % extent[d] : 0;
    linear /= sct_spec_multiplies(spec, d) ? extent[d] : 1;
  }
}

/* Where element `linear` of a small index space writes. Index arrays hold their own element's
 * number: distinct values, as sct_spec_check_sizes makes sure of. */
static sct_status place_small(const sct_spec *spec, const sct_operand *op, const int64_t *extent,
                              int64_t linear, written *out, sct_error *err) {
  int64_t idx[SCT_MAX_DIMS];
  unravel(spec, extent, linear, idx);
  spec_env env = sct_spec_env_extents(spec, extent);
  for (int d = 0; d < spec->n_dims; d++) {
    sct_spec_env_add(&env, spec->dim_var[d], idx[d]);
  }
  for (int k = 0; k < spec->n_index; k++) {
    const sct_operand *index = &spec->operands[spec->index_order[k]];
    int64_t number = 0;
    for (int d = 0; d < index->n_dims; d++) {
      int64_t at = 0;
      int64_t n = 0;
      SCT_TRY(sct_spec_env_eval(spec, &env, index->at[d], &at, err));
      SCT_TRY(sct_spec_env_eval(spec, &env, index->extent[d], &n, err));
      number = number * n + at;
    }
    sct_spec_env_add(&env, index->index_value, number);
  }
  memset(out, 0, sizeof(*out));
  out->element = linear;
  for (int d = 0; d < op->n_dims; d++) {
    SCT_TRY(sct_spec_env_eval(spec, &env, op->at[d], &out->at[d], err));
  }
  return SCT_OK;
}

static void print_index(sct_str *out, const int64_t *idx, int n) {
  sct_str_append(out, "(");
  for (int d = 0; d < n; d++) {
    sct_str_printf(out, "%s%lld", d > 0 ? ", " : "", (long long)idx[d]);
  }
  sct_str_append(out, ")");
}

static sct_status written_twice(const sct_spec *spec, const sct_operand *op, const int64_t *extent,
                                const written *a, const written *b, sct_error *err) {
  int64_t idx[SCT_MAX_DIMS];
  SCT_SCOPED(sct_str) text = {0};
  unravel(spec, extent, a->element, idx);
  print_index(&text, idx, spec->n_dims);
  sct_str_append(&text, " and ");
  unravel(spec, extent, b->element, idx);
  print_index(&text, idx, spec->n_dims);
  sct_str_append(&text, " both write element ");
  print_index(&text, a->at, op->n_dims);
  return sct_spec_fail_at(spec, err, op->file, op->line,
                          "output '%s' is written twice: elements %s; what combines them is "
                          "accumulate = \"add\" and the like, or over dimensions that the output "
                          "lacks reduce = \"sum\" (docs/cookbook.md)",
                          op->name, sct_str_c(&text));
}

/* Does a place of the operand name extent k, which is not one of the index space? */
static bool names_extent(const sct_spec *spec, const sct_operand *op, int k) {
  bool any = false;
  for (int d = 0; d < op->n_dims; d++) {
    any =
        any || (k >= spec->n_dims && sct_expr_mentions(spec->pool, op->at[d], spec->extent_var[k]));
  }
  return any;
}

/* Pitches that leave room: in the order of their values at the first size. Whether those of a call
 * do is one of its limits. */
static int64_t large_number(const sct_spec *spec, int k) {
  int64_t number = 16;
  for (int other = spec->n_dims; other < spec->n_extents; other++) {
    const bool below = spec->sizes[0].extent[other] < spec->sizes[0].extent[k];
    number *= below && number < SCT_MAX_EXTENT / 16 ? 16 : 1;
  }
  return number;
}

static sct_status check_written_once(const sct_spec *spec, const sct_operand *op, sct_error *err) {
  static const int64_t small[] = {5, 7, 3, 4, 2, 6};
  int64_t extent[SCT_MAX_EXTENTS];
  int64_t n = 1;
  for (int k = 0; k < spec->n_extents; k++) {
    const bool once = k < spec->n_dims && sct_spec_writes_once(spec, op, k);
    const bool many = k < spec->n_dims && k >= SCT_COUNT(small); /* twelve have 322,560 elements */
    extent[k] = once ? 1 : many ? 2 : small[k % SCT_COUNT(small)];
    extent[k] = names_extent(spec, op, k) ? large_number(spec, k) : extent[k];
    n *= k < spec->n_dims && sct_spec_multiplies(spec, k) ? extent[k] : 1;
  }
  SCT_OWNED written *all = sct_alloc(sizeof(*all) * (size_t)n);
  for (int64_t k = 0; k < n; k++) {
    SCT_TRY(place_small(spec, op, extent, k, &all[k], err));
  }
  qsort(all, (size_t)n, sizeof(*all), compare_written);
  for (int64_t k = 1; k < n; k++) {
    if (memcmp(all[k - 1].at, all[k].at, sizeof(all[k].at)) == 0) {
      SCT_TRY(written_twice(spec, op, extent, &all[k - 1], &all[k], err));
    }
  }
  return SCT_OK;
}

static sct_status check_places_of(sct_spec *spec, int at, sct_error *err) {
  const sct_size *size = &spec->sizes[at];
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].is_index) {
      SCT_TRY(check_index(spec, k, size, err));
    }
  }
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY(check_operand(spec, &spec->operands[k], size, err));
  }
  return SCT_OK;
}

sct_status sct_spec_check_places(sct_spec *spec, sct_error *err) {
  for (int k = 0; k < spec->n_sizes; k++) {
    SCT_TRY(spec->sizes[k].refused
                ? SCT_OK
                : sct_spec_at_size(&spec->sizes[k], check_places_of(spec, k, err)));
  }
  for (int k = spec->n_inputs; k < spec->n_operands && !spec->reduces; k++) {
    if (spec->operands[k].accumulate == SCT_REDUCE_NONE) {
      SCT_TRY(check_written_once(spec, &spec->operands[k], err));
    }
  }
  return SCT_OK;
}
