/* Search methods on recorded sweeps: how soon each has found how good a candidate. Prints the
 * tables of `scripts/bench search`. */
#include "bench_near.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_METHODS     16
#define N_SETTLED_SEEDS 5

static const double shares[] = {0.05, 0.10, 0.20, 0.50};
static const double times_s[] = {1.0, 3.0, 10.0};

typedef struct sample {
  double at_share[4], at_time[3];
  double n_near; /* candidates tried until one is near the best */
} sample;

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

/* Candidates that each method needs over all sweeps. near[k * MAX_METHODS + m] */
static void print_sums(const double *near, int n_sweeps, const char *const *names, int n,
                       int random) {
  double *ratio = sct_alloc(sizeof *ratio * 3 * (size_t)(n_sweeps + 1));
  double *ratio_less = ratio + n_sweeps, *each = ratio_less + n_sweeps;
  printf("\n| method | until within 2 %% of the best, all sweeps | of random | the naive one not "
         "counted | median sweep | median ratio | the naive one not counted |\n"
         "|---|---:|---:|---:|---:|---:|---:|\n");
  for (int m = 0; ratio && m < n; m++) {
    double sum = 0.0, chance = 0.0;
    int n_less = 0;
    for (int k = 0; k < n_sweeps; k++) {
      const double mine = near[k * MAX_METHODS + m], other = near[k * MAX_METHODS + random];
      sum += mine;
      chance += other;
      each[k] = mine;
      ratio[k] = mine / other;
      if (other > 1.0) {
        ratio_less[n_less++] = (mine - 1.0) / (other - 1.0);
      }
    }
    printf("| %s | %.1f | %.3f | %.3f | %.1f | %.2f | %.2f |\n", names[m], sum, sum / chance,
           (sum - n_sweeps) / fmax(chance - n_sweeps, 1.0), middle(each, n_sweeps),
           middle(ratio, n_sweeps), n_less > 0 ? middle(ratio_less, n_less) : 0.0);
  }
  sct_free(ratio);
}

static sct_status compare(sct_replay *replay, int batch, sct_error *err) {
  int n_methods, random = 0;
  const sct_search_method *methods = sct_search_methods(&n_methods);
  const char *names[MAX_METHODS];
  double *near = sct_alloc(sizeof *near * MAX_METHODS * (size_t)(replay->n_sweeps + 1));
  sct_status status = near ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory");
  for (int m = 0; m < n_methods; m++) {
    names[m] = methods[m].name;
    random = strcmp(names[m], "random") == 0 ? m : random;
  }
  names[n_methods] = "least possible";
  print_head();
  for (int k = 0; status == SCT_OK && k < replay->n_sweeps; k++) {
    for (int m = 0; status == SCT_OK && m < n_methods; m++) {
      status = run(&replay->sweeps[k], &methods[m], batch, &near[k * MAX_METHODS + m], err);
    }
    near[k * MAX_METHODS + n_methods] = least_possible(&replay->sweeps[k]);
  }
  if (status == SCT_OK) {
    print_sums(near, replay->n_sweeps, names, n_methods + 1, random);
  }
  sct_free(near);
  return status;
}

/* The search that ends by itself, over all sweeps and seeds: how many it tries, and what it finds.
 */
static sct_status settle(const sct_replay *replay, int batch, sct_error *err) {
  sct_search_score *scores = NULL;
  const sct_search_method *model;
  double n_tried = 0.0, n_searches = 0.0, n_1 = 0.0, n_5 = 0.0, worst = 0.0;
  SCT_TRY(sct_search_find(&model, "model", err));
  for (int k = 0; k < replay->n_sweeps; k++) {
    const sct_sweep *sweep = &replay->sweeps[k];
    scores = sct_realloc(scores, sizeof *scores * (size_t)sweep->problem.n_points);
    for (int seed = 1; scores && seed <= N_SETTLED_SEEDS; seed++) {
      int n = 0, last = 0, at = 0;
      SCT_TRY(sct_sweep_search(scores, &n, sweep, model, (uint64_t)seed, batch, err));
      for (double mark = INFINITY; at < n && at - last <= SCT_SEARCH_PATIENCE; at++) {
        last = scores[at].found < (1.0 - SCT_SEARCH_GAIN) * mark ? at : last;
        mark = last == at ? scores[at].found : mark;
      }
      const double found = scores[at - 1].found;
      n_tried += at;
      n_searches += 1.0;
      n_1 += found <= 1.01;
      n_5 += found <= 1.05;
      worst = fmax(worst, found);
    }
  }
  sct_free(scores);
  printf("| %d | %.0f | %.0f | %.1f %% | %.1f %% | %.3f |\n", batch, n_searches,
         n_tried / n_searches, 100.0 * n_1 / n_searches, 100.0 * n_5 / n_searches, worst);
  return SCT_OK;
}

/* bench_search --settled SWEEPS: the rows of a table. */
static sct_status settle_all(const char *path, sct_error *err) {
  sct_replay replay;
  SCT_TRY(sct_replay_open(&replay, path, err));
  sct_status status = settle(&replay, 16, err);
  status = status == SCT_OK ? settle(&replay, 32, err) : status;
  sct_replay_free(&replay);
  return status;
}

int main(int argc, char **argv) {
  sct_error err = {0};
  sct_replay replay;
  if (argc == 3 && strcmp(argv[1], "--settled") == 0) {
    const sct_status settled = settle_all(argv[2], &err);
    if (settled != SCT_OK) {
      fprintf(stderr, "bench_search: %s\n", err.text);
    }
    return sct_exit_code(settled);
  }
  const int batch = argc > 2 ? atoi(argv[2]) : 1;
  if (argc < 2 || argc > 3 || batch < 1) {
    fprintf(stderr, "usage: bench_search SWEEPS [BATCH], or --settled SWEEPS\n");
    return 2;
  }
  sct_status status = sct_replay_open(&replay, argv[1], &err);
  if (status == SCT_OK) {
    status = compare(&replay, batch, &err);
    sct_replay_free(&replay);
  }
  if (status != SCT_OK) {
    fprintf(stderr, "bench_search: %s\n", err.text);
  }
  return sct_exit_code(status);
}
