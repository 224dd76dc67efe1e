/* sweeps - recorded sweeps in place of a device, for tests and benchmarks of search methods. */
#ifndef SCT_TESTS_SWEEPS_H
#define SCT_TESTS_SWEEPS_H

#include "search/search.h"

/* All candidates of one kernel at one size with the times that a device gave, so that methods are
 * compared without one. What cannot run at this size is left out, what failed is in it. */
typedef struct sct_sweep {
  const char *kernel, *size, *device; /* "transpose_f32", "row=4096 col=4096", "NVIDIA H200" */
  sct_search_problem problem;
  double try_ns;  /* what trying one candidate takes, on average, with all that belongs to it */
  int *n_samples; /* [n_points] 0: it failed */
  const double **samples_ns; /* of each, sorted */
  double *median_ns;         /* of each; 0: it failed */
  double best_ns;            /* the least median */
} sct_sweep;

typedef struct sct_replay {
  sct_arena arena;
  int n_sweeps;
  size_t cap_sweeps;
  sct_sweep *sweeps; /* without those in which nothing has a time */
} sct_replay;

/* Reads all timed runs of a store, or a JSON file of sweeps (tests/search/h200.json says what is in
 * it). SCT_EIO, SCT_EDATA with the place, SCT_ENOMEM. */
sct_status sct_replay_open(sct_replay *out, const char *path, sct_error *err);
void sct_replay_free(sct_replay *replay);
/* What measuring a candidate gives: the median of five samples drawn from the recorded ones, a
 * quick pass. 0: it fails. */
double sct_sweep_try(const sct_sweep *sweep, int point, sct_rng *rng);

/* How a search went, at one of its steps. */
typedef struct sct_search_score {
  int n_tried;
  double found; /* median of the candidate that looks best so far, by the best; infinite: none */
} sct_search_score;
/* Lets a method search a sweep: scores[n_points] receives one entry a candidate, in the order of
 * trying; *n how many there are. Up to `batch` candidates (at least 1) are under way at a time. */
sct_status sct_sweep_search(sct_search_score *scores, int *n, const sct_sweep *sweep,
                            const sct_search_method *method, uint64_t seed, int batch,
                            sct_error *err);

/* ---- for their readers ---- */

/* A further sweep for up to n_points candidates; *out is good until the next one. Texts are copied.
 */
void sweep_begin(sct_sweep **out, sct_replay *replay, int n_points, const char *kernel,
                 const char *size, const char *device);
/* Times of the candidate that was added last; copied. */
void sweep_samples(sct_replay *replay, sct_sweep *sweep, double median_ns, const double *samples_ns,
                   int n);
/* Drops the last sweep if nothing in it has a time. */
void sweep_end(sct_replay *replay);

sct_status sweeps_from_json(sct_replay *out, const char *path, sct_error *err);
sct_status sweeps_from_store(sct_replay *out, const char *path, sct_error *err);

#endif
