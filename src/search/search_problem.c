/* A problem is built candidate by candidate from texts, so that a space, a store and a recorded
 * sweep describe it alike. */
#include "search/search.h"

#include <math.h>
#include <string.h>

void sct_search_add(sct_search_problem *problem, double predicted, double order, bool first) {
  SCT_GROW(problem->points, problem->n_points, problem->cap_points);
  sct_search_point *p = &problem->points[problem->n_points++];
  *p = (sct_search_point){.predicted = isfinite(predicted) && predicted > 0.0 ? predicted : 0.0,
                          .order = order,
                          .first = first};
  memset(p->value, -1, sizeof p->value);
}

void sct_search_penalty(sct_search_problem *problem, const double penalty[SCT_N_PENALTIES]) {
  sct_search_point *p = &problem->points[problem->n_points - 1];
  for (int k = 0; k < SCT_N_PENALTIES; k++) {
    p->penalty[k] = isfinite(penalty[k]) ? penalty[k] : 0.0;
  }
}

static sct_status find_axis(sct_search_problem *problem, const char *name, int *out,
                            sct_error *err) {
  *out = sct_names_find(SCT_NAMES_IN(problem->axes, problem->n_axes, name), name);
  if (*out >= 0) {
    return SCT_OK;
  }
  if (problem->n_axes == SCT_SEARCH_MAX_AXES) {
    return sct_fail(err, SCT_EINTERNAL, "search: more than %d axes", SCT_SEARCH_MAX_AXES);
  }
  char *copy = sct_arena_strdup(&problem->arena, name);
  *out = problem->n_axes++;
  problem->axes[*out] = (sct_search_axis){.name = copy};
  return SCT_OK;
}

static sct_status find_value(sct_search_problem *problem, sct_search_axis *axis, const char *text,
                             int *out, sct_error *err) {
  *out = sct_names_find(SCT_NAMES(axis->values, axis->n_values), text);
  if (*out >= 0) {
    return SCT_OK;
  }
  if (axis->n_values == SCT_SEARCH_MAX_VALUES) {
    return sct_fail(err, SCT_EINTERNAL, "search: axis '%s' has more than %d values", axis->name,
                    SCT_SEARCH_MAX_VALUES);
  }
  char *copy = sct_arena_strdup(&problem->arena, text);
  SCT_GROW(axis->values, axis->n_values, axis->cap_values);
  *out = axis->n_values;
  axis->values[axis->n_values++] = copy;
  return SCT_OK;
}

sct_status sct_search_set(sct_search_problem *problem, const char *axis, const char *value,
                          sct_error *err) {
  int a = 0, v = 0;
  if (problem->n_points == 0) {
    return sct_fail(err, SCT_EINTERNAL, "search: axis '%s' is set before there is a candidate",
                    axis);
  }
  SCT_TRY(find_axis(problem, axis, &a, err));
  SCT_TRY(find_value(problem, &problem->axes[a], value, &v, err));
  problem->points[problem->n_points - 1].value[a] = (int16_t)v;
  return SCT_OK;
}

sct_status sct_search_set_all(sct_search_problem *problem, const sct_space *space,
                              const sct_candidate *cand, sct_error *err) {
  const sct_strategy *strategy = &space->strategies[cand->strategy];
  SCT_TRY(sct_search_set(problem, "strategy", strategy->name, err));
  for (int a = 0; a < strategy->n_axes; a++) {
    const sct_axis *axis = &strategy->axes[a];
    SCT_TRY(sct_search_set(problem, axis->name, axis->values[cand->value[a]].text, err));
  }
  return SCT_OK;
}

/* Steps of 5 %. */
double sct_search_round_count(double count) {
  return count > 0.0 ? round(log(count) / 0.05) : 0.0;
}

void sct_search_problem_free(sct_search_problem *problem) {
  for (int a = 0; a < problem->n_axes; a++) {
    sct_free(problem->axes[a].values);
  }
  sct_free(problem->points);
  sct_arena_free(&problem->arena);
  *problem = (sct_search_problem){0};
}
