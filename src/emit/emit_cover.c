/* Few kernels for many sizes. Samples of a range may each have another winner; a header takes, for
 * all samples of a device, those of the listed sizes and a few more: always the one that brings the
 * samples nearest to the best that was found at each, until it brings little or they are enough. */
#include "emit/emit_internal.h"

#include <math.h>
#include <string.h>

#define MOST         6     /* kernels beside those of listed sizes */
#define LITTLE       0.005 /* of the cost; more is worth a kernel */
#define WORST_COUNTS 0.25  /* of the cost is the worst sample's, for its part */

/* What each kernel takes at each sample: ns[kernel * n_samples + sample], INFINITY: not tried. */
typedef struct matrix {
  int n_kernels, n_samples;
  const char **hash; /* [n_kernels] */
  double *ns, *best; /* best[n_samples] of all kernels */
  double *taken;     /* [n_samples] of those that were taken so far */
} matrix;

static double time_of(const sct_row_outcome *o) {
  return o->times.median_ns > 0 ? o->times.median_ns
         : o->predicted_ns > 0  ? o->predicted_ns
                                : INFINITY;
}

static int find_kernel(matrix *m, const char *hash) {
  int k = 0;
  while (k < m->n_kernels && strcmp(m->hash[k], hash) != 0) {
    k++;
  }
  return k;
}

static void fill(matrix *m, sct_arena *arena, emit_size *const *samples) {
  int room = 0;
  for (int s = 0; s < m->n_samples; s++) {
    room += samples[s]->n_rows;
  }
  m->hash = SCT_ARENA_NEW(arena, const char *, room + 1);
  m->ns = SCT_ARENA_NEW(arena, double, (room + 1) * m->n_samples);
  m->best = SCT_ARENA_NEW(arena, double, m->n_samples);
  m->taken = SCT_ARENA_NEW(arena, double, m->n_samples);
  for (int k = 0; k < room * m->n_samples; k++) {
    m->ns[k] = INFINITY;
  }
  for (int s = 0; s < m->n_samples; s++) {
    m->best[s] = m->taken[s] = INFINITY;
    for (int r = 0; r < samples[s]->n_rows; r++) {
      const sct_row_result *row = &samples[s]->rows[r];
      if (!samples[s]->legal[r]) {
        continue;
      }
      const int k = find_kernel(m, row->candidate.source_hash);
      m->hash[k] = row->candidate.source_hash;
      m->n_kernels += k == m->n_kernels;
      m->ns[k * m->n_samples + s] = time_of(&row->outcome);
      m->best[s] = fmin(m->best[s], m->ns[k * m->n_samples + s]);
    }
  }
}

/* How far samples are from the best that was found, by factors, with kernel k (-1: none) beside
 * those that were taken. One that none of them does counts as ten times as slow. */
static void regret_of(const matrix *m, int k, emit_regret *out) {
  double sum = 0, worst = 0;
  for (int s = 0; s < m->n_samples; s++) {
    const double ns = k < 0 ? m->taken[s] : fmin(m->taken[s], m->ns[k * m->n_samples + s]);
    const double loss = isfinite(ns) ? log(ns / m->best[s]) : log(10);
    sum += loss;
    worst = fmax(worst, loss);
  }
  *out = (emit_regret){m->n_samples, exp(sum / m->n_samples), exp(worst)};
}

static double cost_of(const matrix *m, int k) {
  emit_regret r;
  regret_of(m, k, &r);
  return log(r.mean) + WORST_COUNTS * log(r.worst);
}

static void take(matrix *m, int k) {
  for (int s = 0; s < m->n_samples; s++) {
    m->taken[s] = fmin(m->taken[s], m->ns[k * m->n_samples + s]);
  }
}

/* Greedily. */
static void choose(matrix *m, bool *chosen) {
  double cost = cost_of(m, -1);
  for (int n = 0; n < MOST; n++) {
    int next = -1;
    double least = cost - LITTLE;
    for (int k = 0; k < m->n_kernels; k++) {
      const double with = chosen[k] ? cost : cost_of(m, k);
      if (with < least) {
        least = with;
        next = k;
      }
    }
    if (next < 0) {
      break;
    }
    chosen[next] = true;
    take(m, next);
    cost = least;
  }
}

/* The row of the best chosen kernel at a sample; -1: none of them was tried there. */
static int best_row(matrix *m, const bool *chosen, const emit_size *sample) {
  int best = -1;
  for (int r = 0; r < sample->n_rows; r++) {
    const sct_row_result *row = &sample->rows[r];
    const int k = sample->legal[r] ? find_kernel(m, row->candidate.source_hash) : m->n_kernels;
    if (k < m->n_kernels && chosen[k] && isfinite(time_of(&row->outcome)) &&
        (best < 0 || time_of(&row->outcome) < time_of(&sample->rows[best].outcome))) {
      best = r;
    }
  }
  return best;
}

void emit_cover_rows(int *rows, emit_regret *regret, emit_size *const *samples, int n,
                     const char *const *known, int n_known) {
  SCT_SCOPED(sct_arena) arena = {0};
  matrix m = {.n_samples = n};
  fill(&m, &arena, samples);
  bool *chosen = SCT_ARENA_NEW(&arena, bool, m.n_kernels + 1);
  for (int k = 0; k < n_known; k++) {
    const int kernel = find_kernel(&m, known[k]);
    if (kernel < m.n_kernels && !chosen[kernel]) {
      chosen[kernel] = true;
      take(&m, kernel);
    }
  }
  choose(&m, chosen);
  regret_of(&m, -1, regret);
  for (int s = 0; s < n; s++) {
    rows[s] = best_row(&m, chosen, samples[s]);
  }
}

sct_status emit_cover(emit_header *h, emit_device *device, sct_store *store, sct_error *err) {
  const size_t room = (size_t)device->n_sizes + 1;
  emit_size **samples = SCT_ARENA_NEW(&h->arena, emit_size *, room);
  const char **known = SCT_ARENA_NEW(&h->arena, const char *, 2 * room);
  int *rows = SCT_ARENA_NEW(&h->arena, int, room);
  int n = 0, n_known = 0;
  for (int s = 0; s < device->n_sizes; s++) {
    emit_size *size = &device->sizes[s];
    if (size->naive) {
      known[n_known++] = size->naive->candidate.source_hash;
    }
    if (size->sampled) {
      samples[n++] = size;
    } else {
      known[n_known++] = size->winner->candidate.source_hash;
    }
  }
  if (n == 0) {
    return SCT_OK;
  }
  emit_cover_rows(rows, &device->regret, samples, n, known, n_known);
  for (int s = 0; s < n; s++) {
    const emit_size *of = samples[s];
    SCT_TRY(rows[s] < 0 ? SCT_OK
                        : emit_load_result(&samples[s]->winner, h, store,
                                           of->rows[rows[s]].outcome.id, err));
  }
  return SCT_OK;
}
