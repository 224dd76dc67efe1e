/* Recorded sweeps: read from a JSON file or a store, then tried as a device would be. */
#include "sweeps.h"
#include "search/search_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- building, for both readers ---- */

void sweep_begin(sct_sweep **out, sct_replay *replay, int n_points, const char *kernel,
                 const char *size, const char *device) {
  SCT_GROW(replay->sweeps, replay->n_sweeps, replay->cap_sweeps);
  sct_arena *arena = &replay->arena;
  sct_sweep *s = &replay->sweeps[replay->n_sweeps++];
  *s = (sct_sweep){.kernel = sct_arena_strdup(arena, kernel),
                   .size = sct_arena_strdup(arena, size),
                   .device = sct_arena_strdup(arena, device),
                   .n_samples = SCT_ARENA_NEW(arena, int, n_points + 1),
                   .samples_ns = SCT_ARENA_NEW(arena, const double *, n_points + 1),
                   .median_ns = SCT_ARENA_NEW(arena, double, n_points + 1)};
  *out = s;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void sweep_samples(sct_replay *replay, sct_sweep *sweep, double median_ns, const double *samples_ns,
                   int n) {
  const int point = sweep->problem.n_points - 1;
  double *copy = SCT_ARENA_NEW(&replay->arena, double, n + 1);
  memcpy(copy, samples_ns, sizeof *copy * (size_t)n);
  qsort(copy, (size_t)n, sizeof *copy, by_value);
  sweep->samples_ns[point] = copy;
  sweep->n_samples[point] = n;
  sweep->median_ns[point] = median_ns;
  if (sweep->best_ns <= 0.0 || median_ns < sweep->best_ns) {
    sweep->best_ns = median_ns;
  }
}

void sweep_end(sct_replay *replay) {
  sct_sweep *s = &replay->sweeps[replay->n_sweeps - 1];
  if (s->best_ns <= 0.0) {
    sct_search_problem_free(&s->problem);
    *s = (sct_sweep){0};
    replay->n_sweeps--;
  }
}

sct_status sct_replay_open(sct_replay *out, const char *path, sct_error *err) {
  static const char magic[] = "SQLite format 3";
  *out = (sct_replay){0};
  char start[sizeof magic] = {0};
  const int file = sct_open(path, O_RDONLY | O_CLOEXEC, 0);
  const ssize_t got = file >= 0 ? sct_read(file, start, sizeof magic) : -1;
  if (file >= 0) {
    sct_close(file);
  }
  if (got < 0) {
    return sct_fail(err, SCT_EIO, "%s: cannot be read: %s", path, strerror(errno));
  }
  const bool is_store = got == (ssize_t)sizeof magic && memcmp(start, magic, sizeof magic) == 0;
  const sct_status status =
      is_store ? sweeps_from_store(out, path, err) : sweeps_from_json(out, path, err);
  if (status != SCT_OK) {
    sct_replay_free(out);
  }
  return status;
}

void sct_replay_free(sct_replay *replay) {
  for (int k = 0; k < replay->n_sweeps; k++) {
    sct_search_problem_free(&replay->sweeps[k].problem);
  }
  sct_free(replay->sweeps);
  sct_arena_free(&replay->arena);
  *replay = (sct_replay){0};
}

/* ---- trying ---- */

#define DRAWS 5

double sct_sweep_try(const sct_sweep *sweep, int point, sct_rng *rng) {
  double drawn[DRAWS];
  if (sweep->n_samples[point] == 0) {
    return 0.0;
  }
  for (int k = 0; k < DRAWS; k++) {
    drawn[k] = sweep->samples_ns[point][sct_rng_below(rng, sweep->n_samples[point])];
  }
  qsort(drawn, DRAWS, sizeof *drawn, by_value);
  return drawn[DRAWS / 2];
}

static sct_status try_one(sct_search *search, const sct_sweep *sweep, int point, sct_rng *rng,
                          sct_error *err) {
  const double ns = sct_sweep_try(sweep, point, rng);
  return ns > 0.0 ? sct_search_report(search, point, ns, err) : sct_search_fail(search, point, err);
}

sct_status sct_sweep_search(sct_search_score *scores, int *n, const sct_sweep *sweep,
                            const sct_search_method *method, uint64_t seed, int batch,
                            sct_error *err) {
  sct_search *search = NULL;
  sct_rng rng = sct_rng_new(sct_mix64(seed, 1));
  int *under_way = sct_alloc(sizeof *under_way * (size_t)(batch + 1));
  sct_search_new(&search, method, &sweep->problem, seed);
  sct_status status = SCT_OK;
  *n = 0;
  for (int asked = 1; status == SCT_OK && asked > 0;) {
    asked = 0;
    for (int k; asked < batch && (k = sct_search_next(search)) >= 0;) {
      under_way[asked++] = k;
    }
    for (int k = 0; status == SCT_OK && k < asked; k++) {
      status = try_one(search, sweep, under_way[k], &rng, err);
      const int best = search->best;
      scores[*n] = (sct_search_score){.n_tried = *n + 1,
                                      .found = best < 0 ? INFINITY
                                                        : sweep->median_ns[best] / sweep->best_ns};
      ++*n;
    }
  }
  sct_search_free(search);
  sct_free(under_way);
  return status;
}
