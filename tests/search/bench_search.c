/* Search methods on recorded sweeps: how soon each has found how good a candidate. Prints the
 * tables of `scripts/bench search`. */
#include "search/search.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define N_SEEDS 20
#define NEAR    1.02 /* as good as the best */

static const double shares[] = {0.05, 0.10, 0.20, 0.50};
static const double times_s[] = {1.0, 3.0, 10.0};

typedef struct sample {
  double at_share[4], at_time[3];
  double n_near; /* candidates tried until one is near the best */
} sample;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double middle(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, by_value);
  return 0.5 * (v[(n - 1) / 2] + v[n / 2]);
}

static sample summarise(const sct_search_score *scores, int n, double try_ns) {
  sample s = {.n_near = n};
  for (int k = 0; k < SCT_COUNT(shares); k++) {
    const int tried = (int)ceil(shares[k] * n);
    s.at_share[k] = scores[tried - 1].found;
  }
  for (int k = 0; k < SCT_COUNT(times_s); k++) {
    const double tried = fmin(floor(times_s[k] * 1e9 / try_ns), n);
    s.at_time[k] = tried < 1.0 ? INFINITY : scores[(int)tried - 1].found;
  }
  for (int k = n - 1; k >= 0; k--) {
    s.n_near = scores[k].found <= NEAR ? scores[k].n_tried : s.n_near;
  }
  return s;
}

/* The median over the seeds of the double at this offset in every sample. */
static double median_of(const sample *samples, size_t offset) {
  double v[N_SEEDS];
  for (int k = 0; k < N_SEEDS; k++) {
    memcpy(&v[k], (const char *)&samples[k] + offset, sizeof v[k]);
  }
  return middle(v, N_SEEDS);
}

static void print_ratio(double ratio) {
  if (isinf(ratio)) {
    printf(" none |");
  } else {
    printf(" %.3f |", ratio);
  }
}

static sct_status run(const sct_sweep *sweep, const sct_search_method *method, int batch,
                      double *n_near, sct_error *err) {
  sample samples[N_SEEDS];
  sct_search_score *scores = sct_alloc(sizeof *scores * (size_t)sweep->problem.n_points);
  sct_status status = scores ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory");
  for (int seed = 0; status == SCT_OK && seed < N_SEEDS; seed++) {
    int n = 0;
    status = sct_sweep_search(scores, &n, sweep, method, (uint64_t)seed + 1, batch, err);
    samples[seed] = summarise(scores, n, sweep->try_ns);
  }
  sct_free(scores);
  if (status != SCT_OK) {
    return status;
  }
  *n_near = median_of(samples, offsetof(sample, n_near));
  printf("| %s | %s | %s | %d |", sweep->kernel, sweep->size, method->name,
         sweep->problem.n_points);
  for (int k = 0; k < SCT_COUNT(shares); k++) {
    print_ratio(median_of(samples, offsetof(sample, at_share) + (size_t)k * sizeof(double)));
  }
  for (int k = 0; k < SCT_COUNT(times_s); k++) {
    print_ratio(median_of(samples, offsetof(sample, at_time) + (size_t)k * sizeof(double)));
  }
  printf(" %.1f |\n", *n_near);
  return SCT_OK;
}

/* The naive variant is always tried first. */
static double least_possible(const sct_sweep *sweep) {
  for (int k = 0; k < sweep->problem.n_points; k++) {
    if (sweep->problem.points[k].naive && sweep->n_samples[k] > 0 &&
        sweep->median_ns[k] <= NEAR * sweep->best_ns) {
      return 1.0;
    }
  }
  return 2.0;
}

static void print_head(void) {
  printf("| kernel | size | method | candidates |");
  for (int k = 0; k < SCT_COUNT(shares); k++) {
    printf(" %.0f %% |", 100.0 * shares[k]);
  }
  for (int k = 0; k < SCT_COUNT(times_s); k++) {
    printf(" %.0f s |", times_s[k]);
  }
  printf(" to within 2 %% |\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
}

/* Candidates that each method needs, summed over the sweeps. */
static void print_sums(const double *sums, const sct_search_method *methods, int n, double least) {
  double random = 0.0;
  for (int m = 0; m < n; m++) {
    random = strcmp(methods[m].name, "random") == 0 ? sums[m] : random;
  }
  printf("\n| method | candidates until within 2 %% of the best, all sweeps | of random |\n");
  printf("|---|---:|---:|\n");
  for (int m = 0; m < n; m++) {
    printf("| %s | %.1f | %.2f |\n", methods[m].name, sums[m], sums[m] / random);
  }
  printf("| least possible | %.1f | %.2f |\n", least, least / random);
}

int main(int argc, char **argv) {
  sct_error err = {0};
  sct_replay replay;
  int n_methods;
  const sct_search_method *methods = sct_search_methods(&n_methods);
  double sums[16] = {0}, least = 0.0;
  const int batch = argc > 2 ? atoi(argv[2]) : 1;
  if (argc < 2 || argc > 3 || batch < 1 || n_methods > SCT_COUNT(sums)) {
    fprintf(stderr, "usage: bench_search SWEEPS [BATCH]\n");
    return 2;
  }
  sct_status status = sct_replay_open(&replay, argv[1], &err);
  if (status == SCT_OK) {
    print_head();
  }
  for (int k = 0; status == SCT_OK && k < replay.n_sweeps; k++) {
    for (int m = 0; status == SCT_OK && m < n_methods; m++) {
      double n_near = 0.0;
      status = run(&replay.sweeps[k], &methods[m], batch, &n_near, &err);
      sums[m] += n_near;
    }
    least += least_possible(&replay.sweeps[k]);
  }
  if (status == SCT_OK) {
    print_sums(sums, methods, n_methods, least);
    sct_replay_free(&replay);
  } else {
    fprintf(stderr, "bench_search: %s\n", err.text);
  }
  return sct_exit_code(status);
}
