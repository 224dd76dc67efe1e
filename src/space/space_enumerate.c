/* Enumeration: every combination of axis values in order (the last axis runs fastest), axes that do
 * not matter collapsed to their neutral value, constraints applied before anything is generated. */
#include "space/space.h"

#include <string.h>

#define MAX_NAMES 128 /* axes and facts of a strategy */

/* A strategy's conditions as programs over its axes' values (in order) and its facts (constants).
 */
typedef struct checker {
  sct_space *space;
  const sct_strategy *strategy;
  const char *names[MAX_NAMES];
  int n_names;
  sct_expr vars[SCT_MAX_AXES];
  sct_expr_program *when[SCT_MAX_AXES]; /* NULL: always matters */
  sct_expr_program **where;
} checker;

/* ---- names -------------------------------------------------------------------------------------
 */

static sct_expr resolve(void *ctx, sct_expr_pool *pool, const char *name, bool is_string) {
  const checker *c = ctx;
  if (is_string) {
    return sct_expr_const(pool, sct_space_intern(name));
  }
  for (int a = 0; a < c->strategy->n_axes; a++) {
    if (strcmp(c->strategy->axes[a].name, name) == 0) {
      return c->vars[a];
    }
  }
  for (int f = 0; f < c->strategy->n_facts; f++) {
    if (strcmp(c->strategy->facts[f].name, name) == 0) {
      return sct_expr_const(pool, c->strategy->facts[f].value);
    }
  }
  if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
    return sct_expr_const(pool, name[0] == 't');
  }
  return SCT_EXPR_NONE;
}

static sct_status add_names(checker *c, sct_error *err) {
  const sct_strategy *s = c->strategy;
  if (s->n_axes + s->n_facts > MAX_NAMES) {
    return sct_fail(err, SCT_ESPEC, "%s:1: error: more than %d axes and facts", s->file, MAX_NAMES);
  }
  for (int a = 0; a < s->n_axes; a++) {
    if (s->axes[a].n_values < 1) {
      return sct_fail(err, SCT_ESPEC, "%s:1: error: axis '%s' has no values", s->file,
                      s->axes[a].name);
    }
    for (int b = 0; b < a; b++) {
      if (strcmp(s->axes[a].name, s->axes[b].name) == 0) {
        return sct_fail(err, SCT_ESPEC, "%s:1: error: two axes are called '%s'", s->file,
                        s->axes[a].name);
      }
    }
    char name[160]; /* the pool is the spec's: keep clear of its names */
    snprintf(name, sizeof name, "axis:%s.%s", s->name, s->axes[a].name);
    c->vars[a] = sct_expr_var_find(c->space->pool, name);
    if (c->vars[a] == SCT_EXPR_NONE) {
      c->vars[a] = sct_expr_var(c->space->pool, name, SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
    }
    c->names[c->n_names++] = s->axes[a].name;
  }
  for (int f = 0; f < s->n_facts; f++) {
    c->names[c->n_names++] = s->facts[f].name;
  }
  return SCT_OK;
}

/* ---- conditions --------------------------------------------------------------------------------
 */

static sct_status compile_condition(checker *c, sct_expr_program **out, const char *what,
                                    const char *text, int line, sct_error *err) {
  const sct_expr_names names = {
      .resolve = resolve, .ctx = c, .names = c->names, .n_names = c->n_names};
  sct_expr e;
  sct_error inner;
  sct_status status = sct_expr_parse(&e, c->space->pool, text, &names, &inner);
  if (status == SCT_OK) {
    status = sct_expr_program_new(out, c->space->pool, e, c->vars, c->strategy->n_axes, &inner);
  }
  return status == SCT_OK ? SCT_OK
                          : sct_fail(err, status, "%s:%d: error: %s \"%s\": %s", c->strategy->file,
                                     line > 0 ? line : 1, what, text, inner.text);
}

static sct_status open_checker(checker *c, sct_space *space, const sct_strategy *s,
                               sct_error *err) {
  *c = (checker){.space = space, .strategy = s};
  SCT_TRY(add_names(c, err));
  for (int a = 0; a < s->n_axes; a++) {
    if (s->axes[a].when) {
      SCT_TRY(compile_condition(c, &c->when[a], "condition of an axis", s->axes[a].when, 0, err));
    }
  }
  c->where = sct_alloc(sizeof(sct_expr_program *) * (size_t)(s->n_where + 1));
  if (!c->where) {
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  for (int w = 0; w < s->n_where; w++) {
    SCT_TRY(
        compile_condition(c, &c->where[w], "constraint", s->where[w].text, s->where[w].line, err));
  }
  return SCT_OK;
}

static void close_checker(checker *c) {
  for (int a = 0; a < SCT_MAX_AXES; a++) {
    sct_expr_program_free(c->when[a]);
  }
  for (int w = 0; c->where && w < c->strategy->n_where; w++) {
    sct_expr_program_free(c->where[w]);
  }
  sct_free(c->where);
}

/* ---- one point ---------------------------------------------------------------------------------
 */

typedef enum point_kind { POINT_KEPT, POINT_COLLAPSED, POINT_PRUNED } point_kind;

/* A point is a duplicate if an axis that does not matter has a value other than its neutral one. */
static point_kind judge(const checker *c, const sct_candidate *cand, int *constraint) {
  int64_t values[SCT_MAX_AXES];
  const sct_strategy *s = c->strategy;
  for (int a = 0; a < s->n_axes; a++) {
    values[a] = s->axes[a].values[cand->value[a]].number;
  }
  for (int a = 0; a < s->n_axes; a++) {
    if (c->when[a] && cand->value[a] != s->axes[a].neutral &&
        !sct_expr_program_run(c->when[a], values)) {
      return POINT_COLLAPSED;
    }
  }
  for (int w = 0; w < s->n_where; w++) {
    if (!sct_expr_program_run(c->where[w], values)) {
      *constraint = w;
      return POINT_PRUNED;
    }
  }
  return POINT_KEPT;
}

sct_status sct_space_prune(sct_space *space, int strategy, const char *reason, sct_error *err) {
  const char *name = space->strategies[strategy].name;
  for (size_t p = 0; p < space->n_prunes; p++) {
    if (strcmp(space->prunes[p].reason, reason) == 0 && space->prunes[p].strategy == name) {
      space->prunes[p].count++;
      return SCT_OK;
    }
  }
  char *copy = sct_arena_strdup(&space->arena, reason);
  if (!copy || !SCT_GROW(space->prunes, space->n_prunes, space->cap_prunes)) {
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  space->prunes[space->n_prunes++] = (sct_prune){.strategy = name, .reason = copy, .count = 1};
  return SCT_OK;
}

static bool next_point(const sct_strategy *s, sct_candidate *cand) {
  for (int a = s->n_axes - 1; a >= 0; a--) {
    if (++cand->value[a] < s->axes[a].n_values) {
      return true;
    }
    cand->value[a] = 0;
  }
  return false;
}

static sct_status enumerate_strategy(sct_space *space, int k, sct_error *err) {
  checker c;
  sct_status status = open_checker(&c, space, &space->strategies[k], err);
  sct_candidate cand = {.strategy = k};
  bool more = status == SCT_OK;
  while (more) {
    int constraint = 0;
    space->n_points++;
    switch (judge(&c, &cand, &constraint)) {
    case POINT_KEPT:
      if (!SCT_GROW(space->candidates, space->n_candidates, space->cap_candidates)) {
        status = sct_fail(err, SCT_ENOMEM, "out of memory");
        break;
      }
      space->candidates[space->n_candidates++] = cand;
      break;
    case POINT_COLLAPSED:
      space->n_collapsed++;
      break;
    case POINT_PRUNED:
      status = sct_space_prune(space, k, c.strategy->where[constraint].text, err);
      break;
    }
    more = status == SCT_OK && next_point(c.strategy, &cand);
  }
  close_checker(&c);
  return status;
}

sct_status sct_space_enumerate(sct_space *space, sct_error *err) {
  for (int k = 0; k < space->n_strategies; k++) {
    if (space->strategies[k].applies) {
      SCT_TRY(enumerate_strategy(space, k, err));
    }
  }
  return SCT_OK;
}

void sct_space_free(sct_space *space) {
  sct_free(space->candidates);
  sct_free(space->prunes);
  sct_arena_free(&space->arena);
  *space = (sct_space){0};
}

void sct_kernel_code_free(sct_kernel_code *code) {
  sct_arena_free(&code->arena);
  *code = (sct_kernel_code){0};
}
