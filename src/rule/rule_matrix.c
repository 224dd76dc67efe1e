/* What each kernel takes at each size, and what it loses against the best that was found there. A
 * size counts three times: as it is, with arrays as cudaMalloc gives them; with arrays that begin
 * an element further, which some kernels do not take; and as one that only kernels without any
 * condition take, for calls whose extents are no multiples of what the sample's are. */
#include "rule/rule.h"

#include <math.h>

/* Weights of these. */
static const double weights[SCT_RULE_SITUATIONS] = {0.75, 0.15, 0.1};

#define DOUBLED 0.25 /* the loss (of the logarithm) that costs twice as much as it is */

void sct_rule_new(sct_rule_matrix *out, sct_arena *arena, int n_kernels, int n_samples) {
  const int n = n_kernels * n_samples;
  *out = (sct_rule_matrix){.n_kernels = n_kernels, .n_samples = n_samples, .naive = -1};
  out->ns = SCT_ARENA_NEW(arena, double, n + 1);
  out->tried = SCT_ARENA_NEW(arena, bool, n + 1);
  out->may = SCT_ARENA_NEW(arena, bool, n + 1);
  out->predicted = SCT_ARENA_NEW(arena, double, n + 1);
  out->calls = SCT_ARENA_NEW(arena, double, n_samples + 1);
  out->plain = SCT_ARENA_NEW(arena, bool, n_kernels + 1);
  out->total = SCT_ARENA_NEW(arena, bool, n_kernels + 1);
  for (int k = 0; k < n; k++) {
    out->ns[k] = INFINITY;
  }
}

double sct_rule_cost(double loss) {
  return loss * (1 + loss / DOUBLED);
}

static bool takes(const sct_rule_matrix *m, int kernel, int situation) {
  return situation == 0 || (situation == 1 ? m->plain[kernel] : m->total[kernel]);
}

double sct_rule_best(const sct_rule_matrix *m, int sample, int situation) {
  double best = INFINITY;
  for (int k = 0; k < m->n_kernels; k++) {
    const int at = k * m->n_samples + sample;
    best = m->tried[at] && takes(m, k, situation) ? fmin(best, m->ns[at]) : best;
  }
  return best;
}

/* A size's weight: half of it is that of any size, so that none is given up; the other half its
 * share of the time of all calls, where these are known. */
static double weight_of(const sct_rule_matrix *m, int sample, double all) {
  const double share = all > 0 ? m->calls[sample] * sct_rule_best(m, sample, 0) / all : 0;
  return all > 0 ? (1 + share * m->n_samples) / 2 : 1;
}

/* What all calls take by the best kernels; 0: no calls are known. */
static double time_of_calls(const sct_rule_matrix *m) {
  double all = 0;
  for (int s = 0; s < m->n_samples; s++) {
    const double best = sct_rule_best(m, s, 0);
    all += m->calls[s] > 0 && isfinite(best) ? m->calls[s] * best : 0;
  }
  return all;
}

void sct_rule_rate(sct_rule_matrix *m, sct_arena *arena) {
  m->n_cells = m->n_samples * SCT_RULE_SITUATIONS;
  m->loss = SCT_ARENA_NEW(arena, double, m->n_kernels * m->n_cells + 1);
  m->weight = SCT_ARENA_NEW(arena, double, m->n_cells + 1);
  const double all = time_of_calls(m);
  for (int cell = 0; cell < m->n_cells; cell++) {
    const int sample = cell / SCT_RULE_SITUATIONS, situation = cell % SCT_RULE_SITUATIONS;
    const double best = sct_rule_best(m, sample, situation);
    m->weight[cell] = isinf(best) ? 0 : weight_of(m, sample, all) * weights[situation];
    for (int k = 0; k < m->n_kernels; k++) {
      const double ns = m->ns[k * m->n_samples + sample];
      const bool runs = isfinite(ns) && isfinite(best) && takes(m, k, situation);
      m->loss[k * m->n_cells + cell] = runs ? fmax(log(ns / best), 0) : INFINITY;
    }
  }
}
