/* spec_reach - what the extents of a call must satisfy so that every place lies inside of its array
 * and no two elements are written to one: conditions over extents, which the launch function asks.
 * Those that hold for all extents are left out, so that most kernels have none.
 *
 * A place is seen as a sum over variables that are independent of each other: dimensions, and
 * quotients and remainders that have a dimension to themselves. Where it rises or falls with each
 * of them, it is least and greatest where they are. Places that index arrays or the body give are
 * not looked at, nor are those in which a dimension stands twice. */
#include "spec/spec_internal.h"

#define MAX_VARS (2 * SCT_MAX_DIMS)

typedef struct reach_var {
  sct_expr var, lo, hi; /* the bounds are expressions over extents */
} reach_var;

typedef struct reach {
  const sct_spec *spec;
  sct_expr at;
  int n, n_made; /* variables; those that were made for quotients */
  reach_var vars[MAX_VARS];
} reach;

static bool is_extent(const sct_spec *spec, sct_expr var) {
  for (int k = 0; k < spec->n_extents; k++) {
    if (var == spec->extent_var[k]) {
      return true;
    }
  }
  return false;
}

static bool has_extents_only(const sct_spec *spec, sct_expr e) {
  sct_expr vars[SCT_MAX_EXTENTS];
  const int n = sct_expr_vars(spec->pool, e, vars, SCT_COUNT(vars));
  bool only = n <= SCT_COUNT(vars);
  for (int k = 0; k < n && only; k++) {
    only = is_extent(spec, vars[k]);
  }
  return only;
}

/* By how much the place grows with a step of `var`. */
static sct_expr step_of(const reach *r, sct_expr e, sct_expr var) {
  sct_expr_pool *pool = r->spec->pool;
  const sct_expr next = sct_expr_add(pool, var, sct_expr_const(pool, 1));
  return sct_expr_sub(pool, sct_expr_subst(pool, e, &var, &next, 1), e);
}

/* The least and the greatest value of e over the variables; false: it does not follow. */
static bool find_bounds(const reach *r, sct_expr e, sct_expr *lo, sct_expr *hi) {
  sct_expr vars[MAX_VARS], least[MAX_VARS], most[MAX_VARS];
  for (int k = 0; k < r->n; k++) {
    int64_t low = 0, high = 0;
    sct_expr_range(r->spec->pool, step_of(r, e, r->vars[k].var), &low, &high);
    if (low < 0 && high > 0) {
      return false;
    }
    vars[k] = r->vars[k].var;
    least[k] = low >= 0 ? r->vars[k].lo : r->vars[k].hi;
    most[k] = low >= 0 ? r->vars[k].hi : r->vars[k].lo;
  }
  *lo = sct_expr_subst(r->spec->pool, e, vars, least, r->n);
  *hi = sct_expr_subst(r->spec->pool, e, vars, most, r->n);
  return *lo != SCT_EXPR_NONE && *hi != SCT_EXPR_NONE && has_extents_only(r->spec, *lo) &&
         has_extents_only(r->spec, *hi);
}

/* Takes the variables of `e` off the list; false: the place still has one of them. */
static bool take_vars(reach *r, sct_expr e) {
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    if (!sct_expr_mentions(r->spec->pool, e, r->vars[k].var)) {
      r->vars[n++] = r->vars[k];
    } else if (sct_expr_mentions(r->spec->pool, r->at, r->vars[k].var)) {
      return false;
    }
  }
  r->n = n;
  return true;
}

/* A quotient or a remainder becomes a variable. */
static bool replace(reach *r, sct_expr dividend, sct_expr divisor) {
  sct_expr_pool *pool = r->spec->pool;
  const sct_expr part[] = {sct_expr_div(pool, dividend, divisor),
                           sct_expr_mod(pool, dividend, divisor)};
  char name[32];
  int64_t low = 0, high = 0;
  sct_expr lo, hi;
  snprintf(name, sizeof name, "reach.%d", r->n_made++);
  const sct_expr var = sct_expr_var(pool, name, 0, SCT_MAX_EXTENT, 1);
  const sct_expr quotient = sct_expr_subst(pool, r->at, &part[0], &var, 1);
  const sct_expr rest = sct_expr_subst(pool, r->at, &part[1], &var, 1);
  const bool is_rest = quotient == r->at;
  sct_expr_range(pool, divisor, &low, &high);
  if (low < 1 || !has_extents_only(r->spec, divisor) || (!is_rest && rest != r->at) ||
      !find_bounds(r, dividend, &lo, &hi)) {
    return false;
  }
  sct_expr_range(pool, lo, &low, &high);
  r->at = is_rest ? rest : quotient;
  if (low < 0 || (is_rest && sct_expr_op_of(pool, dividend) != SCT_EXPR_VAR) ||
      !take_vars(r, dividend)) {
    return false;
  }
  const sct_expr last = sct_expr_sub(pool, divisor, sct_expr_const(pool, 1));
  const sct_expr zero = sct_expr_const(pool, 0);
  r->vars[r->n++] =
      is_rest ? (reach_var){var, zero, sct_expr_binary(pool, SCT_EXPR_MIN, last, hi)}
              : (reach_var){var, sct_expr_div(pool, lo, divisor), sct_expr_div(pool, hi, divisor)};
  return true;
}

/* The place as one over independent variables; false: it is not. */
static bool reach_of(reach *r, const sct_spec *spec, sct_expr at) {
  sct_expr dividend[SCT_MAX_DIMS], divisor[SCT_MAX_DIMS];
  *r = (reach){.spec = spec, .at = at};
  for (int d = 0; d < spec->n_dims; d++) {
    if (sct_expr_mentions(spec->pool, at, spec->dim_var[d])) {
      r->vars[r->n++] =
          (reach_var){spec->dim_var[d], sct_expr_const(spec->pool, 0),
                      sct_expr_sub(spec->pool, spec->extent_var[d], sct_expr_const(spec->pool, 1))};
    }
  }
  for (bool more = true; more;) {
    const int n = sct_expr_quotients(spec->pool, r->at, dividend, divisor, SCT_MAX_DIMS);
    int first = 0;
    while (first < n && first < SCT_MAX_DIMS && has_extents_only(spec, dividend[first])) {
      first++;
    }
    more = first < n;
    if (more && (first == SCT_MAX_DIMS || !replace(r, dividend[first], divisor[first]))) {
      return false;
    }
  }
  return true;
}

/* ---- conditions ---- */

static void add_limit(sct_spec *spec, sct_expr holds, int op) {
  int64_t value = 0;
  bool known =
      holds == SCT_EXPR_NONE || (sct_expr_is_const(spec->pool, holds, &value) && value != 0);
  for (int k = 0; k < spec->n_limits; k++) {
    known = known || (spec->limits[k].holds == holds && spec->limits[k].op == op);
  }
  if (!known) {
    spec->limits[spec->n_limits++] = (sct_condition){.op = op, .holds = holds};
  }
}

/* The place lies in the array, as do those of taps; where there is a border that reads elements of
 * the array in their stead, it has some. */
static void add_inside(sct_spec *spec, int k, int d, const reach *r) {
  const sct_operand *op = &spec->operands[k];
  sct_expr_pool *pool = spec->pool;
  sct_expr lo, hi;
  int64_t far[2] = {0, 0};
  if (sct_operand_leaves(op, d)) {
    if (sct_border_reads(op->border) && !sct_spec_is_own_dim(spec, op, d)) {
      add_limit(spec, sct_expr_binary(pool, SCT_EXPR_LT, sct_expr_const(pool, 0), op->extent[d]),
                k);
    }
    return;
  }
  if (!find_bounds(r, r->at, &lo, &hi)) {
    return;
  }
  sct_operand_reach(op, d, &far[0], &far[1]);
  lo = sct_expr_add(pool, lo, sct_expr_const(pool, far[0]));
  hi = sct_expr_add(pool, hi, sct_expr_const(pool, far[1]));
  add_limit(spec, sct_expr_binary(pool, SCT_EXPR_LE, sct_expr_const(pool, 0), lo), k);
  add_limit(spec, sct_expr_binary(pool, SCT_EXPR_LT, hi, op->extent[d]), k);
}

/* No two elements have one place: where steps follow from numbers of the call, that depends on
 * them.
 */
static void add_distinct(sct_spec *spec, int op, const reach *r) {
  sct_condition *limit = &spec->limits[spec->n_limits];
  int64_t least = 0, most = 0;
  bool given = false;
  *limit = (sct_condition){.op = op,
                           .step = SCT_ARENA_NEW(&spec->arena, sct_expr, r->n + 1),
                           .last = SCT_ARENA_NEW(&spec->arena, sct_expr, r->n + 1)};
  for (int k = 0; k < r->n; k++) {
    const sct_expr step = step_of(r, r->at, r->vars[k].var);
    sct_expr_range(spec->pool, step, &least, &most);
    if (least < 0 || !has_extents_only(spec, step)) {
      return;
    }
    given = given || sct_spec_has_numbers(spec, step);
    limit->step[k] = step;
    limit->last[k] = sct_expr_sub(spec->pool, r->vars[k].hi, r->vars[k].lo);
  }
  limit->n_steps = r->n;
  spec->n_limits += given;
}

bool sct_spec_has_numbers(const sct_spec *spec, sct_expr e) {
  bool any = false;
  for (int k = spec->n_dims; k < spec->n_extents; k++) {
    any = any || sct_expr_mentions(spec->pool, e, spec->extent_var[k]);
  }
  return any;
}

/* Does another place of the output tell its elements apart by some variable of this one? */
static bool stands_elsewhere(const sct_spec *spec, const sct_operand *op, int d) {
  bool any = false;
  for (int other = 0; other < op->n_dims; other++) {
    for (int n = 0; n < spec->n_dims; n++) {
      any = any || (other != d && sct_expr_mentions(spec->pool, op->at[d], spec->dim_var[n]) &&
                    sct_expr_mentions(spec->pool, op->at[other], spec->dim_var[n]));
    }
  }
  return any;
}

void sct_spec_find_limits(sct_spec *spec) {
  int most = 0;
  for (int k = 0; k < spec->n_operands; k++) {
    most += 3 * spec->operands[k].n_dims;
  }
  spec->limits = SCT_ARENA_NEW(&spec->arena, sct_condition, most);
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    for (int d = 0; d < op->n_dims; d++) {
      reach r;
      if (!reach_of(&r, spec, op->at[d])) {
        continue;
      }
      add_inside(spec, k, d, &r);
      if (op->is_output && op->accumulate == SCT_REDUCE_NONE && !stands_elsewhere(spec, op, d)) {
        add_distinct(spec, k, &r);
      }
    }
  }
}

static bool value_of(const sct_spec *spec, sct_expr e, const int64_t *extent, int64_t *value) {
  const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
  return sct_expr_eval(spec->pool, e, &env, value, NULL) == SCT_OK;
}

/* Goes through the steps from the smallest on. */
static bool steps_are_apart(const sct_spec *spec, const sct_condition *limit,
                            const int64_t *extent) {
  int64_t step[MAX_VARS], last[MAX_VARS], reached = 0;
  for (int k = 0; k < limit->n_steps; k++) {
    int64_t s = 0, l = 0;
    int at = k;
    if (!value_of(spec, limit->step[k], extent, &s) ||
        !value_of(spec, limit->last[k], extent, &l)) {
      return false;
    }
    for (; at > 0 && step[at - 1] > s; at--) {
      step[at] = step[at - 1];
      last[at] = last[at - 1];
    }
    step[at] = s;
    last[at] = l;
  }
  for (int k = 0; k < limit->n_steps; k++) {
    if (last[k] > 0 && step[k] <= reached) {
      return false;
    }
    reached = last[k] > 0 ? sct_spec_mul(step[k], last[k]) + reached : reached;
  }
  return true;
}

bool sct_spec_limit_holds(const sct_spec *spec, const sct_condition *limit, const int64_t *extent) {
  int64_t value = 0;
  return limit->n_steps > 0 ? steps_are_apart(spec, limit, extent)
                            : value_of(spec, limit->holds, extent, &value) && value != 0;
}

sct_status sct_spec_check_limits(const sct_spec *spec, const sct_size *size, sct_error *err) {
  for (int k = 0; k < spec->n_limits && sct_spec_elements(spec, size) > 0; k++) {
    const sct_condition *limit = &spec->limits[k];
    if (limit->n_steps > 0 && !sct_spec_limit_holds(spec, limit, size->extent)) {
      return sct_spec_fail_at(spec, err, spec->file, size->line,
                              "output '%s' is written twice at size '%s': steps of its place "
                              "overlap; a pitch is at least as long as a row",
                              spec->operands[limit->op].name, size->label);
    }
  }
  return SCT_OK;
}
