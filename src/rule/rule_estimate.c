/* What a kernel takes at a size that it was not tried at: the model's prediction, corrected by what
 * was timed. All kernels of a size share an error of the model, which the timed ones show; and a
 * kernel has one of its own, which is much the same at sizes alike. Where there is no prediction, a
 * kernel is taken to be somewhat slower than the best, and corrected in the same way. */
#include "rule/rule.h"

#include <math.h>

#define SLOWER   1.5  /* times the best, where nothing is predicted */
#define ALIKE    2.0  /* octaves: how far a kernel's own error reaches */
#define UNSURE   0.25 /* timed sizes that a kernel's own error must outweigh */
#define ANYWHERE 0.02 /* of a size's weight beyond any distance: what a kernel loses everywhere */

/* The square of how far two sizes are from each other, in octaves. */
static double distance2(const sct_rule_matrix *m, int a, int b) {
  double sum = 0;
  for (int k = 0; k < m->n_extents; k++) {
    const double x = (double)(m->extents[a][k] > 0 ? m->extents[a][k] : 1);
    const double y = (double)(m->extents[b][k] > 0 ? m->extents[b][k] : 1);
    const double octaves = log2(x / y);
    sum += octaves * octaves;
  }
  return sum;
}

/* By how much more than predicted kernels take at a size, as a logarithm: the mean of those that
 * were tried there. */
static double error_of(const sct_rule_matrix *m, int sample) {
  double sum = 0;
  int n = 0;
  for (int k = 0; k < m->n_kernels; k++) {
    const int at = k * m->n_samples + sample;
    if (m->tried[at] && m->predicted[at] > 0) {
      sum += log(m->ns[at] / m->predicted[at]);
      n++;
    }
  }
  return n > 0 ? sum / n : 0;
}

/* The logarithm of a kernel's time at a size but for the kernel's own error. */
static double before(const sct_rule_matrix *m, int at, double error, double best) {
  return m->predicted[at] > 0 ? log(m->predicted[at]) + error : log(SLOWER * best);
}

void sct_rule_estimate(sct_rule_matrix *m, sct_arena *arena) {
  const int n = m->n_samples;
  double *error = SCT_ARENA_NEW(arena, double, n + 1), *best = SCT_ARENA_NEW(arena, double, n + 1);
  double *near = SCT_ARENA_NEW(arena, double, n *n + 1); /* how alike two sizes are */
  for (int s = 0; s < n; s++) {
    error[s] = error_of(m, s);
    best[s] = sct_rule_best(m, s, 0);
    for (int other = 0; other < n; other++) {
      near[s * n + other] = ANYWHERE + exp(-distance2(m, s, other) / (2 * ALIKE * ALIKE));
    }
  }
  for (int k = 0; k < m->n_kernels; k++) {
    for (int s = 0; s < n; s++) {
      const int at = k * n + s;
      if (m->tried[at] || !m->may[at] || isinf(best[s])) {
        continue;
      }
      double sum = 0, all = UNSURE;
      for (int other = 0; other < n; other++) {
        const int there = k * n + other;
        if (m->tried[there]) {
          const double own = log(m->ns[there]) - before(m, there, error[other], best[other]);
          sum += near[s * n + other] * own;
          all += near[s * n + other];
        }
      }
      m->ns[at] = exp(before(m, at, error[s], best[s]) + sum / all);
    }
  }
}
