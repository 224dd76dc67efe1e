/* Predictions corrected by measurements: a Gaussian process over the axes learns the logarithm of
 * measured by predicted cost, and the candidate with the greatest expected improvement is next.
 *
 * Posterior mean and variance: Rasmussen and Williams, Gaussian Processes for Machine Learning
 * (2006), algorithm 2.1, with the factor of the covariance grown by a row for each candidate.
 * Expected improvement: Jones, Schonlau and Welch, J. Global Optimization 13 (1998), equation 15.
 * Candidates that are under way count as if they had come to what is expected of them ("kriging
 * believer": Ginsbourger, Le Riche and Carraro, 2010, section 4), so that a batch is spread.
 * Everything is evaluated in a fixed order, so equal answers give equal questions. */
#include "search/search_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Covariance of two candidates' ln(measured / predicted), d_a their distance on axis a (0 to 1):
 *   LEVEL^2                             predictions as a whole are off
 *   + AXIS^2 x sum_a exp(-d_a / REACH)  an axis has an effect of its own,
 *     x OTHERS                            of which another strategy's candidates tell a part
 *   + JOINT^2 x exp(-sum_a d_a / REACH) axes act together
 * Standard deviations of a model that is right within some tens of per cent as a whole and within
 * ten between candidates. AXIS, JOINT and OTHERS were chosen among twenty settings by what they
 * came to on the sweeps of tests/search/h200.json and h200_held.json with what was known fitted to
 * other families of kernels, and to other kernels.
 */
#define LEVEL  1.0
#define AXIS   0.07
#define OTHERS 0.75
#define JOINT  0.02
#define REACH  0.7
/* Standard deviation of the logarithm of a measured cost: a quick pass repeats to 1 %. */
#define NOISE 0.01
/* After as many failures in a row the next candidate is the one most likely to run: predictions
 * lead into a region that does not. */
#define MAX_FAILURES 3
/* Candidates that are proposed before strategies that had no turn get one each: predictions are
 * worst at telling strategies apart, as what makes one better may be what they leave out. */
#define UNTIL_ALL 16
/* Candidates that are learnt from. With more, the order that they gave is followed to the end: a
 * step costs candidates x learnt ones. */
#define MAX_LEARNT 384

typedef struct learner {
  int n_learnt, cap;
  int strategy;         /* the axis of that name; -1: none */
  bool *met;            /* [its n_values] one of its candidates was proposed */
  int *which;           /* [cap] candidates in the order of learning */
  double *value;        /* [cap] ln(measured / predicted), or what is believed of it */
  double *factor;       /* [cap * cap] lower triangle: factor factor' = covariance + noise */
  double *solved;       /* [cap] factor^-1 value */
  double *part;         /* [cap * n] factor^-1 covariance with every candidate */
  double *left;         /* [n] variance that is left */
  double *mean;         /* [n] of ln(measured / predicted) */
  double *ran, *failed; /* [n] how many around it, by closeness */
  int n_failures;       /* since one ran */
  double far;           /* exp(-1 / REACH) */
  double *by_steps; /* exp(-distance / REACH) of axes in order, by how many values it is apart */
  int first[SCT_SEARCH_MAX_AXES]; /* of each axis, in by_steps */
  bool stale;                     /* solved and mean do not hold value any more */
} learner;

static void fill_steps(const sct_search *s, learner *m) {
  int n = 0;
  for (int a = 0; a < s->n_axes; a++) {
    m->first[a] = n;
    n += s->n_values[a];
  }
  m->far = exp(-1.0 / REACH);
  m->by_steps = sct_alloc((size_t)(n + 1) * sizeof *m->by_steps);
  for (int a = 0; m->by_steps && a < s->n_axes; a++) {
    for (int k = 0; k < s->n_values[a]; k++) {
      m->by_steps[m->first[a] + k] = exp(-(double)k / fmax(s->n_values[a] - 1, 1) / REACH);
    }
  }
}

void search_model_start(sct_search *s) {
  learner *m = sct_alloc(sizeof *m);
  s->own = m;
  const size_t n = (size_t)s->n + 1;
  m->cap = s->n < MAX_LEARNT ? s->n : MAX_LEARNT;
  m->strategy = -1;
  for (int a = 0; a < s->n_axes; a++) {
    m->strategy = strcmp(s->problem->axes[a].name, "strategy") == 0 ? a : m->strategy;
  }
  m->met = sct_alloc((size_t)(m->strategy < 0 ? 1 : s->n_values[m->strategy]) * sizeof *m->met);
  const size_t cap = (size_t)m->cap + 1;
  m->which = sct_alloc(cap * sizeof *m->which);
  m->value = sct_alloc(cap * sizeof *m->value);
  m->factor = sct_alloc(cap * cap * sizeof *m->factor);
  m->solved = sct_alloc(cap * sizeof *m->solved);
  m->part = sct_alloc(cap * n * sizeof *m->part);
  m->left = sct_alloc(n * sizeof *m->left);
  m->mean = sct_alloc(n * sizeof *m->mean);
  m->ran = sct_alloc(n * sizeof *m->ran);
  m->failed = sct_alloc(n * sizeof *m->failed);
  for (int k = 0; k < s->n; k++) {
    m->left[k] = LEVEL * LEVEL + AXIS * AXIS * s->n_axes + JOINT * JOINT;
  }
  fill_steps(s, m);
}

void search_model_end(sct_search *s) {
  learner *m = s->own;
  if (m) {
    sct_free(m->met);
    sct_free(m->which);
    sct_free(m->value);
    sct_free(m->factor);
    sct_free(m->solved);
    sct_free(m->part);
    sct_free(m->left);
    sct_free(m->mean);
    sct_free(m->ran);
    sct_free(m->failed);
    sct_free(m->by_steps);
    sct_free(m);
  }
}

/* ---- the process ---- */

/* exp(-distance / REACH) on one axis: 1 for the same value, FAR for one without an order. */
static double nearness(const sct_search *s, const learner *m, int axis, int16_t a, int16_t b) {
  if (a == b) {
    return 1.0;
  }
  if (a < 0 || b < 0 || !s->ordered[axis]) {
    return m->far;
  }
  return m->by_steps[m->first[axis] + abs(a - b)];
}

/* 1 for the same place, less with every step: of axes that act together. */
static double closeness(const sct_search *s, const learner *m, int a, int b) {
  const int16_t *x = &s->place[(size_t)a * (size_t)s->n_axes];
  const int16_t *y = &s->place[(size_t)b * (size_t)s->n_axes];
  double joint = 1.0;
  for (int axis = 0; axis < s->n_axes; axis++) {
    joint *= nearness(s, m, axis, x[axis], y[axis]);
  }
  return joint;
}

static double covariance(const sct_search *s, const learner *m, int a, int b) {
  const int16_t *x = &s->place[(size_t)a * (size_t)s->n_axes];
  const int16_t *y = &s->place[(size_t)b * (size_t)s->n_axes];
  double own = 0.0, joint = 1.0;
  for (int axis = 0; axis < s->n_axes; axis++) {
    const double near = nearness(s, m, axis, x[axis], y[axis]);
    own += near;
    joint *= near;
  }
  own *= m->strategy >= 0 && x[m->strategy] != y[m->strategy] ? OTHERS : 1.0;
  return LEVEL * LEVEL + AXIS * AXIS * own + JOINT * JOINT * joint;
}

/* Adds a row to the factor, and takes what it explains off every candidate's variance. */
static void learn(sct_search *s, learner *m, int point, double value) {
  const int r = m->n_learnt;
  double *row = &m->factor[(size_t)r * (size_t)m->cap];
  double *part = &m->part[(size_t)r * (size_t)s->n];
  for (int j = 0; j < r; j++) {
    row[j] = m->part[(size_t)j * (size_t)s->n + (size_t)point];
  }
  row[r] = sqrt(fmax(m->left[point], 0.0) + NOISE * NOISE);
  for (int k = 0; k < s->n; k++) {
    part[k] = covariance(s, m, point, k);
  }
  for (int j = 0; j < r; j++) {
    const double *earlier = &m->part[(size_t)j * (size_t)s->n];
    for (int k = 0; k < s->n; k++) {
      part[k] -= row[j] * earlier[k];
    }
  }
  for (int k = 0; k < s->n; k++) {
    part[k] /= row[r];
    m->left[k] -= part[k] * part[k];
  }
  m->which[r] = point;
  m->value[r] = value;
  m->n_learnt = r + 1;
  m->stale = true;
}

static void refresh(const sct_search *s, learner *m) {
  memset(m->mean, 0, (size_t)s->n * sizeof *m->mean);
  for (int r = 0; r < m->n_learnt; r++) {
    const double *row = &m->factor[(size_t)r * (size_t)m->cap];
    const double *part = &m->part[(size_t)r * (size_t)s->n];
    double v = m->value[r];
    for (int j = 0; j < r; j++) {
      v -= row[j] * m->solved[j];
    }
    m->solved[r] = v / row[r];
    for (int k = 0; k < s->n; k++) {
      m->mean[k] += part[k] * m->solved[r];
    }
  }
  m->stale = false;
}

/* ---- asking and reporting ---- */

/* Expected improvement on `best` of a value with this mean and deviation, all logarithms. */
static double improvement(double best, double mean, double deviation) {
  if (deviation <= 0.0) {
    return fmax(best - mean, 0.0);
  }
  const double u = (best - mean) / deviation;
  const double density = exp(-0.5 * u * u) * 0.3989422804014327; /* 1 / sqrt(2 pi) */
  return deviation * (u * 0.5 * erfc(-u * 0.7071067811865476) + density);
}

/* The value of a candidate's strategy; -1: it has none. */
static int strategy_of(const sct_search *s, const learner *m, int k) {
  return m->strategy < 0 ? -1 : s->place[(size_t)k * (size_t)s->n_axes + (size_t)m->strategy];
}

static void meet(const sct_search *s, learner *m, int k) {
  const int strategy = strategy_of(s, m, k);
  if (strategy >= 0) {
    m->met[strategy] = true;
  }
}

static bool is_of_new_strategy(const sct_search *s, const learner *m, int k) {
  const int strategy = strategy_of(s, m, k);
  return strategy >= 0 && !m->met[strategy];
}

/* The most promising one of a strategy that had no turn; -1: there is none. */
static int choose_of_new_strategy(const sct_search *s, const learner *m) {
  int chosen = -1;
  for (int k = 0; k < s->n; k++) {
    if (s->state[k] == SEARCH_UNTRIED && is_of_new_strategy(s, m, k) &&
        (chosen < 0 || s->prior[k] < s->prior[chosen])) {
      chosen = k;
    }
  }
  return chosen;
}

/* The greatest expected improvement times the probability that it runs (Schonlau, Welch and Jones,
 * New Developments and Applications in Experimental Design, 1998), and among equal ones (it
 * vanishes far from the best) the least expected cost; by the latter alone where no more is learnt,
 * and by what was expected from the start where nothing is known but what naive variants take. */
static int choose(const sct_search *s, const learner *m) {
  const bool guessing = m->n_learnt <= s->n_first;
  const bool learning = s->best >= 0 && m->n_learnt < m->cap && !guessing;
  const bool escaping = m->n_failures >= MAX_FAILURES;
  const double best = s->best >= 0 ? log(s->cost[s->best]) : 0.0;
  double most = 0.0, least = 0.0;
  int chosen = -1;
  for (int k = 0; k < s->n; k++) {
    if (s->state[k] != SEARCH_UNTRIED) {
      continue;
    }
    const double mean = s->prior[k] + (guessing ? 0.0 : m->mean[k]);
    const double runs = (1.0 + m->ran[k]) / (1.0 + m->ran[k] + m->failed[k]);
    const double gain = escaping   ? runs
                        : learning ? runs * improvement(best, mean, sqrt(fmax(m->left[k], 0.0)))
                                   : 0.0;
    if (chosen < 0 || gain > most || (gain == most && mean < least)) {
      chosen = k;
      most = gain;
      least = mean;
    }
  }
  return chosen;
}

int search_model_next(sct_search *s) {
  learner *m = s->own;
  if (m->stale) {
    refresh(s, m);
  }
  const int of_new = s->n_proposed < UNTIL_ALL ? -1 : choose_of_new_strategy(s, m);
  const int k = of_new >= 0 ? of_new : choose(s, m);
  m->n_failures = m->n_failures >= MAX_FAILURES ? 0 : m->n_failures;
  meet(s, m, k);
  if (m->n_learnt < m->cap) {
    learn(s, m, k, m->mean[k]);
  }
  return k;
}

/* Adds a candidate's word on whether those around it run. */
static void weigh(const sct_search *s, const learner *m, double *weight, int point) {
  for (int k = 0; k < s->n; k++) {
    weight[k] += closeness(s, m, point, k);
  }
}

/* A failed candidate teaches nothing of costs: what was believed of it stays. */
void search_model_reported(sct_search *s, int point) {
  learner *m = s->own;
  meet(s, m, point);
  weigh(s, m, s->state[point] == SEARCH_FAILED ? m->failed : m->ran, point);
  m->n_failures = s->state[point] == SEARCH_FAILED ? m->n_failures + 1 : 0;
  if (s->state[point] == SEARCH_FAILED) {
    return;
  }
  const double value = log(s->cost[point]) - s->prior[point];
  int r = 0;
  while (r < m->n_learnt && m->which[r] != point) {
    r++;
  }
  if (r < m->n_learnt) {
    m->value[r] = value;
    m->stale = true;
  } else if (m->n_learnt < m->cap) {
    learn(s, m, point, value);
  }
}
