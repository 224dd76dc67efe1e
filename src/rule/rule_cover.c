/* Few kernels for many sizes. Each size may have another winner; a header takes those of the listed
 * sizes and a few more: always the one that brings all samples nearest to the best that was found
 * at each, until it brings little or they are enough; then others in the place of some, as long as
 * that helps. What the header has anyway costs nothing. */
#include "rule/rule.h"

#include <math.h>
#include <string.h>

#define LITTLE   0.005 /* a sample's cost in the mean; more is worth a kernel */
#define NOTHING  1e-4  /* and less is not worth one that the header has */
#define NO_TIMES 2.3   /* loss where no kernel was tried: ten times as slow */

typedef struct cover {
  const sct_rule_matrix *m;
  const bool *kept; /* the header has them */
  bool *chosen;
  double *cost; /* [kernel * n_cells + cell], weighted */
  double *none; /* [n_cells] of a cell that no kernel does */
  bool *known;  /* [n_kernels] tried at one of the samples */
  double all;   /* weights of these */
} cover;

static inline double lesser(double a, double b) { /* fmin() is a call */
  return a < b ? a : b;
}

static void open_cover(cover *c, sct_arena *arena, const bool *at) {
  const sct_rule_matrix *const m = c->m;
  c->cost = SCT_ARENA_NEW(arena, double, m->n_kernels * m->n_cells + 1);
  c->none = SCT_ARENA_NEW(arena, double, m->n_cells + 1);
  c->known = SCT_ARENA_NEW(arena, bool, m->n_kernels + 1);
  for (int cell = 0; cell < m->n_cells; cell++) {
    const int sample = cell / SCT_RULE_SITUATIONS;
    const double weight = at[sample] ? m->weight[cell] : 0;
    c->all += weight;
    c->none[cell] = weight * sct_rule_cost(NO_TIMES);
    for (int k = 0; k < m->n_kernels; k++) {
      const double loss = m->loss[k * m->n_cells + cell];
      c->cost[k * m->n_cells + cell] = isinf(loss) ? c->none[cell] : weight * sct_rule_cost(loss);
      c->known[k] = c->known[k] || (at[sample] && m->tried[k * m->n_samples + sample]);
    }
  }
}

/* The least cost of each cell by the chosen kernels but one; returns the sum. */
static double least_costs(double *out, const cover *c, int but) {
  const sct_rule_matrix *const m = c->m;
  double sum = 0;
  memcpy(out, c->none, sizeof *out * (size_t)m->n_cells);
  for (int k = 0; k < m->n_kernels; k++) {
    for (int cell = 0; cell < m->n_cells && c->chosen[k] && k != but; cell++) {
      out[cell] = lesser(out[cell], c->cost[k * m->n_cells + cell]);
    }
  }
  for (int cell = 0; cell < m->n_cells; cell++) {
    sum += out[cell];
  }
  return sum;
}

/* The kernel that brings most beside those of costs least[n_cells], with a price for those that the
 * header lacks (negative: none of these); -1: none is below `cost`. */
static int find_best(const cover *c, const double *least, double *cost, double price) {
  const sct_rule_matrix *const m = c->m;
  int best = -1;
  for (int k = 0; k < m->n_kernels; k++) {
    double sum = c->kept[k] ? 0 : price;
    if (!c->known[k] || c->chosen[k] || sum < 0) {
      continue;
    }
    for (int cell = 0; cell < m->n_cells; cell++) {
      sum += lesser(least[cell], c->cost[k * m->n_cells + cell]);
    }
    if (sum < *cost) {
      best = k;
      *cost = sum;
    }
  }
  return best;
}

/* One kernel less, or another in its place. */
static bool exchange(cover *c, double *least) {
  const double now = least_costs(least, c, -1);
  for (int k = 0; k < c->m->n_kernels; k++) {
    if (!c->chosen[k] || c->kept[k]) {
      continue;
    }
    const double without = least_costs(least, c, k);
    double cost = now - LITTLE * c->all / 10;
    const int other = find_best(c, least, &cost, 0);
    if (without < now + LITTLE * c->all || other >= 0) {
      c->chosen[k] = false;
      if (without >= now + LITTLE * c->all) {
        c->chosen[other] = true;
      }
      return true;
    }
  }
  return false;
}

void sct_rule_cover(bool *chosen, const bool *kept, const sct_rule_matrix *m, const bool *at,
                    int most) {
  SCT_SCOPED(sct_arena) arena = {0};
  double *least = SCT_ARENA_NEW(&arena, double, m->n_cells + 1);
  cover c = {.m = m, .kept = kept, .chosen = chosen};
  int n_added = 0;
  open_cover(&c, &arena, at);
  memset(chosen, false, sizeof *chosen * (size_t)m->n_kernels);
  for (int n = 0; n < SCT_RULE_MOST_USED; n++) {
    double cost = least_costs(least, &c, -1) - NOTHING * c.all;
    const int next = find_best(&c, least, &cost, n_added < most ? LITTLE * c.all : -1);
    if (next < 0) {
      break;
    }
    chosen[next] = true;
    n_added += !kept[next];
  }
  for (int n = 0; n < 100 && exchange(&c, least); n++) {
  }
}
