/* The table of methods, and what is the same for all of them: every candidate once, naive ones
 * first, and what became of each. */
#include "search/search_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Part of the expected cost that `order` decides among candidates that are predicted alike. */
#define ORDER_WEIGHT 0.01
/* Predictions below this times the least one count as equal to it: they rest on counts of some
 * blocks. The same as where nothing is timed (module tune). */
#define ALIKE 1.02

/* ---- the table ---- */

static const sct_search_method methods[] = {
    {"exhaustive", "all candidates, in the order of the space", NULL, search_exhaustive_next, NULL,
     NULL},
    {"model", "predicted times, corrected by what was measured so far", search_model_start,
     search_model_next, search_model_reported, search_model_end},
    {"local", "downhill from candidate to neighbour, again and again from good predictions",
     search_local_start, search_local_next, search_local_reported, search_local_end},
    {"random", "all candidates, in an order that the seed decides", NULL, search_random_next, NULL,
     NULL},
};

const sct_search_method *sct_search_methods(int *n) {
  *n = SCT_COUNT(methods);
  return methods;
}

sct_status sct_search_find(const sct_search_method **out, const char *name, sct_error *err) {
  int k;
  SCT_TRY(sct_names_choose(&k, SCT_NAMES_IN(methods, SCT_COUNT(methods), name), name, err,
                           "search method '%s' is unknown", name));
  *out = &methods[k];
  return SCT_OK;
}

/* ---- places on the axes ---- */

static bool as_number(const char *text, long long *out) {
  char *end;
  *out = strtoll(text, &end, 10);
  return end != text && *end == '\0';
}

/* How many of the axis' values are less than its value v: v's place, if all are numbers. */
static int place_of(const sct_search_axis *axis, int v) {
  long long mine = 0, other = 0;
  int less = 0;
  for (int k = 0; k < axis->n_values; k++) {
    if (!as_number(axis->values[k], &other) || !as_number(axis->values[v], &mine)) {
      return -1;
    }
    less += other < mine;
  }
  return less;
}

static void order_axis(sct_search *s, int a) {
  const sct_search_axis *axis = &s->problem->axes[a];
  int16_t place[SCT_SEARCH_MAX_VALUES];
  s->ordered[a] = true;
  s->n_values[a] = axis->n_values;
  for (int v = 0; v < axis->n_values; v++) {
    place[v] = (int16_t)place_of(axis, v);
    s->ordered[a] = s->ordered[a] && place[v] >= 0;
  }
  for (int k = 0; k < s->n; k++) {
    const int16_t v = s->problem->points[k].value[a];
    s->place[k * s->n_axes + a] = v >= 0 && s->ordered[a] ? place[v] : v;
  }
}

int search_neighbours(const sct_search *s, int point, int *out) {
  const int16_t *mine = &s->place[(size_t)point * (size_t)s->n_axes];
  int below[SCT_SEARCH_MAX_AXES], above[SCT_SEARCH_MAX_AXES], n = 0;
  memset(below, -1, sizeof below);
  memset(above, -1, sizeof above);
  for (int k = 0; k < s->n; k++) {
    const int16_t *other = &s->place[(size_t)k * (size_t)s->n_axes];
    int axis = -1, n_differ = 0;
    for (int a = 0; a < s->n_axes && n_differ < 2; a++) {
      if (other[a] != mine[a]) {
        axis = a;
        n_differ += other[a] < 0 || mine[a] < 0 ? 2 : 1;
      }
    }
    if (n_differ != 1) {
      continue;
    }
    if (!s->ordered[axis]) {
      out[n++] = k;
    } else if (other[axis] < mine[axis]) {
      const int b = below[axis];
      below[axis] = b < 0 || s->place[b * s->n_axes + axis] < other[axis] ? k : b;
    } else {
      const int b = above[axis];
      above[axis] = b < 0 || s->place[b * s->n_axes + axis] > other[axis] ? k : b;
    }
  }
  for (int a = 0; a < s->n_axes; a++) {
    if (below[a] >= 0) {
      out[n++] = below[a];
    }
    if (above[a] >= 0) {
      out[n++] = above[a];
    }
  }
  return n;
}

/* ---- what to expect ---- */

/* What a unit of a penalty adds to ln(measured / predicted), and of how much of the differences
 * between predictions measured times have less. Round figures near those of a regression over the
 * sweeps in tests/search/h200.json, not fitted to any device in particular: with 110 lines of
 * fitted effects of axes beside them, searches settled after 77 candidates in place of 85, no
 * better. */
static const double penalty_weight[SCT_N_PENALTIES] = {
    [SCT_PENALTY_REQUESTS] = 0.6, [SCT_PENALTY_FLIGHT] = 0.15, [SCT_PENALTY_BLOCKS] = 0.05};
#define DISBELIEF 0.3

static double penalized(const sct_search_point *p) {
  double sum = 0.0;
  for (int i = 0; i < SCT_N_PENALTIES; i++) {
    sum += penalty_weight[i] * p->penalty[i];
  }
  return sum;
}

/* prior = ln(predicted) - DISBELIEF x ln(predicted / the least) + ORDER_WEIGHT x (place by `order`,
 * 0 to 1) + its penalties by their weights + a grain of the seed, so that equal candidates are
 * tried in an order of their own for each seed. What is not predicted is expected to cost as much
 * as the worst that is. */
static void fill_priors(sct_search *s) {
  double worst = 0.0, soonest = INFINITY, least = INFINITY, most = -INFINITY;
  for (int k = 0; k < s->n; k++) {
    const sct_search_point *p = &s->problem->points[k];
    worst = fmax(worst, p->predicted);
    soonest = p->predicted > 0.0 ? fmin(soonest, p->predicted) : soonest;
    least = fmin(least, p->order);
    most = fmax(most, p->order);
  }
  for (int k = 0; k < s->n; k++) {
    const sct_search_point *p = &s->problem->points[k];
    const double predicted = p->predicted > 0.0 ? fmax(p->predicted, ALIKE * soonest) : worst;
    const double order = most > least ? (p->order - least) / (most - least) : 0.0;
    const double grain = 1e-6 * (double)(sct_mix64(s->seed, (uint64_t)k) >> 11) * 0x1p-53;
    s->prior[k] = ORDER_WEIGHT * order + penalized(p) + grain;
    if (predicted > 0.0) {
      s->prior[k] += log(predicted) - DISBELIEF * log(predicted / (ALIKE * soonest));
    }
  }
}

int search_most_promising(const sct_search *s) {
  int best = -1;
  for (int k = 0; k < s->n; k++) {
    if (s->state[k] == SEARCH_UNTRIED && (best < 0 || s->prior[k] < s->prior[best])) {
      best = k;
    }
  }
  return best;
}

/* ---- a search ---- */

static void allocate(sct_search *s) {
  const size_t n = (size_t)s->n + 1;
  s->first = sct_alloc(n * sizeof *s->first);
  s->state = sct_alloc(n * sizeof *s->state);
  s->cost = sct_alloc(n * sizeof *s->cost);
  s->prior = sct_alloc(n * sizeof *s->prior);
  s->place = sct_alloc(n * (size_t)(s->n_axes + 1) * sizeof *s->place);
}

void sct_search_new(sct_search **out, const sct_search_method *method,
                    const sct_search_problem *problem, uint64_t seed) {
  sct_search *s = sct_alloc(sizeof *s);
  *s = (sct_search){.method = method,
                    .problem = problem,
                    .rng = sct_rng_new(seed),
                    .seed = seed,
                    .n = problem->n_points,
                    .n_axes = problem->n_axes,
                    .best = -1,
                    .mark = INFINITY};
  allocate(s);
  for (int a = 0; a < s->n_axes; a++) {
    order_axis(s, a);
  }
  fill_priors(s);
  for (int k = 0; k < s->n; k++) {
    if (problem->points[k].first) {
      s->first[s->n_first++] = k;
    }
  }
  if (method->start) {
    method->start(s);
  }
  *out = s;
}

void sct_search_free(sct_search *s) {
  if (!s) {
    return;
  }
  if (s->method->end) {
    s->method->end(s);
  }
  sct_free(s->first);
  sct_free(s->state);
  sct_free(s->cost);
  sct_free(s->prior);
  sct_free(s->place);
  sct_free(s);
}

int sct_search_next(sct_search *s) {
  int k = -1;
  for (int i = 0; i < s->n_first && k < 0; i++) {
    k = s->state[s->first[i]] == SEARCH_UNTRIED ? s->first[i] : -1;
  }
  if (k < 0 && s->n_proposed < s->n) {
    k = s->method->next(s);
  }
  if (k >= 0) {
    s->state[k] = SEARCH_PROPOSED;
    s->n_proposed++;
  }
  return k;
}

static sct_status hear(sct_search *s, int point, search_state state, double cost, sct_error *err) {
  if (point < 0 || point >= s->n) {
    return sct_fail(err, SCT_EINTERNAL, "search: candidate %d of %d", point, s->n);
  }
  if (s->state[point] == SEARCH_REPORTED || s->state[point] == SEARCH_FAILED) {
    return sct_fail(err, SCT_EINTERNAL, "search: candidate %d is reported twice", point);
  }
  if (state == SEARCH_REPORTED && !(isfinite(cost) && cost > 0.0)) {
    return sct_fail(err, SCT_EINTERNAL, "search: candidate %d costs %g; expected more than 0",
                    point, cost);
  }
  const bool proposed = s->state[point] == SEARCH_PROPOSED;
  const bool gains = state == SEARCH_REPORTED && cost < (1.0 - SCT_SEARCH_GAIN) * s->mark;
  s->n_proposed += !proposed;
  s->n_since = gains && proposed ? 0 : s->n_since + 1;
  s->mark = gains ? cost : s->mark;
  s->state[point] = state;
  s->cost[point] = cost;
  if (state == SEARCH_REPORTED && (s->best < 0 || cost < s->cost[s->best])) {
    s->best = point;
  }
  if (s->method->reported) {
    s->method->reported(s, point);
  }
  return SCT_OK;
}

sct_status sct_search_report(sct_search *s, int point, double cost, sct_error *err) {
  return hear(s, point, SEARCH_REPORTED, cost, err);
}

sct_status sct_search_fail(sct_search *s, int point, sct_error *err) {
  return hear(s, point, SEARCH_FAILED, 0.0, err);
}

bool sct_search_is_settled(const sct_search *s) {
  bool waiting = false; /* those that come first are tried in any case */
  for (int i = 0; i < s->n_first; i++) {
    waiting = waiting || s->state[s->first[i]] == SEARCH_UNTRIED;
  }
  return !waiting && s->best >= 0 && s->n_since >= SCT_SEARCH_PATIENCE;
}
