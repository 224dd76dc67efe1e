/* Enumeration: every combination of axis values in order (the last axis runs fastest), axes that do
 * not matter collapsed to their neutral value, constraints applied before anything is generated.
 *
 * A constraint is applied as soon as the last axis it names has its value: what it forbids falls
 * with everything below it, so that a space of many axes is never walked in full. Counts stay
 * exact: every point of the product is kept, collapsed, or pruned by one constraint. */
#include <string.h>

#include "space/space.h"

enum { MAX_NAMES = 256, MAX_CANDIDATES = 4000000 };

/* A strategy's conditions as programs over its axes' values (in order); facts are constants. */
typedef struct checker {
  sct_space *space;
  int strategy_at;
  const sct_strategy *strategy;
  const char *names[MAX_NAMES]; /* axes, then facts */
  int n_names;
  sct_expr vars[SCT_MAX_AXES];
  int n_visible;                        /* axes that the condition now parsed may name */
  const char *unknown_value;            /* a quoted text that no axis has as a value */
  sct_expr_program *when[SCT_MAX_AXES]; /* NULL: always matters */
  sct_expr_program **where;
  int *depth; /* [n_where] the last axis a constraint names, 0 if none */
  /* the point under construction */
  sct_candidate cand;
  int64_t values[SCT_MAX_AXES];
} checker;

/* ---- errors ---- */

/* An error at the line of the strategy's file where `text` stands. */
static sct_status fail_at_text(const sct_strategy *s, const char *file, int line, const char *text,
                               sct_error *err, const char *message) {
  SCT_SCOPED(sct_str) source = {0};
  if (sct_asset_read(&source, file, NULL) != SCT_OK) {
    sct_str_clear(&source);
    if (sct_file_read(&source, file, NULL) != SCT_OK) {
      sct_str_clear(&source);
    }
  }
  if (line <= 0) {
    line = sct_spec_find_line(sct_str_c(&source), 0, text, false);
  }
  const sct_source known = {file, sct_str_c(&source)};
  const sct_spec with = {.sources = (sct_source *)&known, .n_sources = 1};
  return sct_spec_fail_at(&with, err, file, line, "strategy '%s': %s", s->name, message);
}

static sct_status fail_axis(const sct_strategy *s, const char *axis, sct_error *err,
                            const char *fmt) {
  char message[512];
  snprintf(message, sizeof(message), fmt, axis);
  return fail_at_text(s, s->file, 0, axis, err, message);
}

/* ---- names ---- */

static sct_expr resolve_value(checker *c, sct_expr_pool *pool, const char *text) {
  for (int a = 0; a < c->strategy->n_axes; a++) {
    const sct_axis *axis = &c->strategy->axes[a];
    for (int v = 0; v < axis->n_values; v++) {
      if (axis->values[v].is_string && strcmp(axis->values[v].text, text) == 0) {
        return sct_expr_const(pool, sct_space_intern(text));
      }
    }
  }
  c->unknown_value = sct_arena_strdup(&c->space->arena, text);
  return SCT_EXPR_NONE;
}

static sct_expr resolve(void *ctx, sct_expr_pool *pool, const char *name, bool is_string) {
  checker *c = ctx;
  if (is_string) {
    return resolve_value(c, pool, name);
  }
  const sct_strategy *s = c->strategy;
  const int axis = sct_names_find(SCT_NAMES_IN(s->axes, c->n_visible, name), name);
  const int fact = sct_names_find(SCT_NAMES_IN(s->facts, s->n_facts, name), name);
  if (axis >= 0 || fact >= 0) {
    return axis >= 0 ? c->vars[axis] : sct_expr_const(pool, s->facts[fact].value);
  }
  if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0) {
    return sct_expr_const(pool, name[0] == 't');
  }
  return SCT_EXPR_NONE;
}

static sct_status check_axes(const sct_strategy *s, sct_error *err) {
  if (s->n_axes > SCT_MAX_AXES || s->n_axes + s->n_facts > MAX_NAMES) {
    return fail_axis(s, "axes", err, "too many %s or facts");
  }
  for (int a = 0; a < s->n_axes; a++) {
    const sct_axis *axis = &s->axes[a];
    if (axis->n_values < 1) {
      return fail_axis(s, axis->name, err, "axis '%s' has no values");
    }
    if (axis->neutral < 0 || axis->neutral >= axis->n_values) {
      return fail_axis(s, axis->name, err, "axis '%s': its neutral value is not among its values");
    }
    for (int b = 0; b < a; b++) {
      if (strcmp(s->axes[b].name, axis->name) == 0) {
        return fail_axis(s, axis->name, err, "two axes are called '%s'");
      }
      if (strcmp(s->axes[b].key, axis->key) == 0) {
        return fail_axis(s, axis->key, err, "two axes have the key '%s', so labels are ambiguous");
      }
    }
    for (int v = 0; v < axis->n_values; v++) {
      for (int w = 0; w < v; w++) {
        if (strcmp(axis->values[v].text, axis->values[w].text) == 0) {
          return fail_axis(s, axis->name, err, "axis '%s' has a value twice");
        }
      }
    }
  }
  return SCT_OK;
}

static void make_vars(checker *c) {
  const sct_strategy *s = c->strategy;
  for (int a = 0; a < s->n_axes; a++) {
    char name[160]; /* the pool is the spec's: keep clear of its names */
    snprintf(name, sizeof(name), "axis:%s.%s", s->name, s->axes[a].name);
    c->vars[a] = sct_expr_var_find(c->space->pool, name);
    if (c->vars[a] == SCT_EXPR_NONE) {
      c->vars[a] = sct_expr_var(c->space->pool, name, SCT_EXPR_MIN_VALUE, SCT_EXPR_MAX_VALUE, 1);
    }
    c->names[c->n_names++] = s->axes[a].name;
  }
  for (int f = 0; f < s->n_facts; f++) {
    c->names[c->n_names++] = s->facts[f].name;
  }
}

/* ---- conditions ---- */

static sct_status fail_condition(checker *c, const char *what, const char *text, const char *file,
                                 int line, const char *why, sct_error *err) {
  SCT_SCOPED(sct_str) message = {0};
  sct_str_printf(&message, "%s \"%s\": ", what, text);
  if (c->unknown_value) {
    const char *values[MAX_NAMES];
    int n = 0;
    for (int a = 0; a < c->strategy->n_axes; a++) {
      const sct_axis *axis = &c->strategy->axes[a];
      for (int v = 0; v < axis->n_values && n < MAX_NAMES; v++) {
        if (axis->values[v].is_string) {
          values[n++] = axis->values[v].text;
        }
      }
    }
    sct_str_printf(&message, "no axis has the value '%s'", c->unknown_value);
    sct_str_suggest(&message, c->unknown_value, SCT_NAMES(values, n));
  } else {
    sct_str_append(&message, why);
  }
  return fail_at_text(c->strategy, file, line, text, err, sct_str_c(&message));
}

/* `n_axes`: how many axes, from the first, the condition may name. */
static sct_status compile_condition(checker *c, sct_expr_program **out, int *depth,
                                    const char *what, const sct_constraint *condition, int n_axes,
                                    sct_error *err) {
  const sct_strategy *s = c->strategy;
  const char *legal[MAX_NAMES]; /* the visible axes, then the facts */
  int n_legal = 0;
  for (int k = 0; k < c->n_names; k++) {
    if (k < n_axes || k >= s->n_axes) {
      legal[n_legal++] = c->names[k];
    }
  }
  c->n_visible = n_axes;
  c->unknown_value = NULL;
  const sct_expr_names names = {resolve, c, legal, n_legal};
  sct_expr e = SCT_EXPR_NONE;
  sct_error why;
  sct_status status = sct_expr_parse(&e, c->space->pool, condition->text, &names, &why);
  SCT_THEN(sct_expr_program_new(out, c->space->pool, e, c->vars, s->n_axes, &why));
  if (status != SCT_OK) {
    return fail_condition(c, what, condition->text, condition->file, condition->line, why.text,
                          err);
  }
  for (int a = 0; a < s->n_axes && depth; a++) {
    if (sct_expr_mentions(c->space->pool, e, c->vars[a])) {
      *depth = a;
    }
  }
  return SCT_OK;
}

static sct_status open_checker(checker *c, sct_error *err) {
  const sct_strategy *s = c->strategy;
  SCT_TRY(check_axes(s, err));
  make_vars(c);
  for (int a = 0; a < s->n_axes; a++) {
    if (s->axes[a].when) {
      const sct_constraint when = {s->axes[a].when, s->file, 0};
      SCT_TRY(compile_condition(c, &c->when[a], NULL, "condition", &when, a, err));
    }
  }
  c->where = sct_alloc(sizeof(*c->where) * (size_t)(s->n_where + 1));
  c->depth = sct_alloc(sizeof(*c->depth) * (size_t)(s->n_where + 1));
  for (int w = 0; w < s->n_where; w++) {
    SCT_TRY(compile_condition(c, &c->where[w], &c->depth[w], "constraint", &s->where[w], s->n_axes,
                              err));
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
  sct_free(c->depth);
}

/* ---- the walk ---- */

static int64_t saturated_add(int64_t a, int64_t b) {
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static int64_t saturated_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static void add_prune(sct_space *space, int strategy, const char *reason, int64_t count) {
  const char *name = space->strategies[strategy].name;
  for (size_t p = 0; p < space->n_prunes; p++) {
    if (strcmp(space->prunes[p].reason, reason) == 0 &&
        strcmp(space->prunes[p].strategy, name) == 0) {
      space->prunes[p].count = saturated_add(space->prunes[p].count, count);
      return;
    }
  }
  char *copy = sct_arena_strdup(&space->arena, reason);
  SCT_GROW(space->prunes, space->n_prunes, space->cap_prunes);
  space->prunes[space->n_prunes++] = (sct_prune){.strategy = name, .reason = copy, .count = count};
}

void sct_space_prune(sct_space *space, int strategy, const char *reason) {
  add_prune(space, strategy, reason, 1);
}

/* How many points lie below a choice for axes 0 .. a. */
static int64_t points_below(const sct_strategy *s, int a) {
  int64_t n = 1;
  for (int k = a + 1; k < s->n_axes; k++) {
    n = saturated_mul(n, s->axes[k].n_values);
  }
  return n;
}

static sct_status keep(checker *c, sct_error *err) {
  sct_space *space = c->space;
  if (space->n_candidates == MAX_CANDIDATES) {
    return fail_axis(c->strategy, "axes", err,
                     "more than 4 million candidates; give the %s fewer values or constraints");
  }
  SCT_GROW(space->candidates, space->n_candidates, space->cap_candidates);
  space->candidates[space->n_candidates++] = c->cand;
  return SCT_OK;
}

/* The first constraint that has its last value with axis `a` and is broken, or -1. */
static int broken(const checker *c, int a) {
  for (int w = 0; w < c->strategy->n_where; w++) {
    if (c->depth[w] == a && !sct_expr_program_run(c->where[w], c->values)) {
      return w;
    }
  }
  return -1;
}

/* Tries every value of axis `a`, the earlier ones being chosen. As deep as there are axes. */
static sct_status descend(checker *c, int a, sct_error *err) {
  const sct_strategy *s = c->strategy;
  if (a == s->n_axes) {
    return keep(c, err);
  }
  const sct_axis *axis = &s->axes[a];
  const int64_t below = points_below(s, a);
  const bool matters = !c->when[a] || sct_expr_program_run(c->when[a], c->values);
  for (int v = 0; v < axis->n_values; v++) {
    if (!matters && v != axis->neutral) {
      c->space->n_collapsed = saturated_add(c->space->n_collapsed, below);
      continue;
    }
    c->cand.value[a] = (int16_t)v;
    c->values[a] = axis->values[v].number;
    const int w = broken(c, a);
    if (w >= 0) {
      add_prune(c->space, c->strategy_at, s->where[w].text, below);
    } else {
      SCT_TRY(descend(c, a + 1, err));
    }
  }
  return SCT_OK;
}

static sct_status enumerate_strategy(sct_space *space, int at, sct_error *err) {
  sct_status status = SCT_OK;
  const sct_strategy *s = &space->strategies[at];
  checker c = {.space = space, .strategy_at = at, .strategy = s, .cand = {.strategy = at}};
  SCT_TRY_DONE(open_checker(&c, err));
  const int64_t all = points_below(s, -1);
  space->n_points = saturated_add(space->n_points, all);
  const int w = s->n_axes == 0 ? broken(&c, 0) : -1; /* constraints on facts alone */
  if (w >= 0) {
    add_prune(space, at, s->where[w].text, 1);
  } else {
    status = descend(&c, 0, err);
  }
done:
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
