/* Fits what is known before anything is measured (src/search/search_effects.def) to recorded
 * sweeps, and says what it is worth on kernels that it was not fitted to.
 *
 *   bench_fit [--lines | --held] JUDGED [FURTHER...]
 *     --lines: prints the lines of search_effects.def, in place of what they are worth
 *     --held: fits nothing, and says what search_effects.def is worth on JUDGED
 *     JUDGED: sweeps in which every candidate was timed; FURTHER: for the fit only
 *
 * The fit: ln(measured / predicted), of candidates that are predicted within 30 % of the least and
 * measured within three times the best, is explained by strains, by the prediction itself and by
 * values of axes, each in two columns, one for small sweeps (sct_search_is_small()) and one for the
 * others. Differences within a sweep count only; every sweep counts the same; a candidate counts
 * the more the nearer the best it is. Ridge regression (Hoerl and Kennard, Technometrics 12 (1970),
 * equation 2.1): a value that few kernels have, or that goes with another one, stays near 0.
 *
 * Out of family: for every family of kernels in JUDGED, the search runs with what was fitted
 * without any sweep of that family, of FURTHER neither; and the same for every kernel. Prints
 * tables of Markdown, or the lines.
 */
#include "bench_near.h"

#include <math.h>
#include <string.h>

#define MAX_FILES   8
#define MAX_SWEEPS  512
#define MAX_FITS    128
#define MAX_COLUMNS 640

#define PREDICTED_WITHIN 1.3
#define MEASURED_WITHIN  3.0
#define ALIKE            1.02 /* as in search.c */
#define LEAST_ROWS       10   /* of a sweep that is fitted to */
#define LEAST_SWEEPS     4    /* that have a value */
#define DECAY            0.2  /* of a candidate's weight, in ln(measured / best) */
#define SWEEP_WEIGHT     50.0
#define RIDGE_EFFECT     60.0
#define RIDGE_WEIGHT     1.0
#define STEP             0.01 /* of an effect that is printed; less is 0 */
/* Strains, and the prediction itself. */
#define N_WEIGHTS (SCT_N_STRAINS + 1)
#define PREDICTED SCT_N_STRAINS

typedef struct column {
  const char *axis, *value; /* NULL: a weight */
  bool small;
  int weight;
  int n_sweeps;
} column;

typedef struct fit {
  const sct_sweep *const *sweeps;
  int n_sweeps;
  const char *without; /* a family or a kernel; NULL: none */
  column columns[MAX_COLUMNS];
  int n;
  double a[MAX_COLUMNS][MAX_COLUMNS], b[MAX_COLUMNS], w[MAX_COLUMNS];
} fit;

static void *room(size_t bytes) {
  void *p = calloc(1, bytes + 1);
  if (!p) {
    fprintf(stderr, "bench_fit: out of memory\n");
    exit(1);
  }
  return p;
}

/* ---- rows and columns ---- */

static double least_predicted(const sct_sweep *s) {
  double least = INFINITY;
  for (int k = 0; k < s->problem.n_points; k++) {
    const double p = s->problem.points[k].predicted;
    least = p > 0.0 ? fmin(least, p) : least;
  }
  return least;
}

/* Candidates that are fitted to. */
static int choose_rows(const sct_sweep *s, int *rows) {
  const double least = least_predicted(s);
  int n = 0;
  for (int k = 0; k < s->problem.n_points; k++) {
    const double predicted = s->problem.points[k].predicted;
    if (predicted > 0.0 && predicted <= PREDICTED_WITHIN * least && s->median_ns[k] > 0.0 &&
        s->median_ns[k] < MEASURED_WITHIN * s->best_ns) {
      rows[n++] = k;
    }
  }
  return n >= LEAST_ROWS ? n : 0;
}

static bool takes_part(const fit *f, const sct_sweep *s) {
  return !f->without || (strcmp(f->without, s->family) != 0 && strcmp(f->without, s->kernel) != 0);
}

static int find_column(const fit *f, const char *axis, const char *value, bool small) {
  for (int c = 0; c < f->n; c++) {
    const column *col = &f->columns[c];
    if (col->axis && col->small == small && strcmp(col->axis, axis) == 0 &&
        strcmp(col->value, value) == 0) {
      return c;
    }
  }
  return -1;
}

static void note_values(fit *f, const sct_sweep *s, const int *rows, int n_rows) {
  for (int a = 0; a < s->problem.n_axes; a++) {
    const sct_search_axis *axis = &s->problem.axes[a];
    for (int v = 0; v < axis->n_values; v++) {
      bool met = false;
      for (int r = 0; r < n_rows && !met; r++) {
        met = s->problem.points[rows[r]].value[a] == v;
      }
      if (!met) {
        continue;
      }
      int c = find_column(f, axis->name, axis->values[v], s->problem.small);
      if (c < 0 && f->n < MAX_COLUMNS) {
        c = f->n++;
        f->columns[c] = (column){axis->name, axis->values[v], s->problem.small, 0, 0};
      }
      if (c >= 0) {
        f->columns[c].n_sweeps++;
      }
    }
  }
}

static void choose_columns(fit *f, int *rows) {
  for (int k = 0; k < f->n_sweeps; k++) {
    if (takes_part(f, f->sweeps[k])) {
      const int n = choose_rows(f->sweeps[k], rows);
      note_values(f, f->sweeps[k], rows, n);
    }
  }
  int n = 0;
  for (int c = 0; c < f->n; c++) {
    if (f->columns[c].n_sweeps >= LEAST_SWEEPS) {
      f->columns[n++] = f->columns[c];
    }
  }
  for (int k = 0; k < 2 * N_WEIGHTS; k++) {
    f->columns[n + k] = (column){NULL, NULL, k % 2 == 1, k / 2, 0};
  }
  f->n = n + 2 * N_WEIGHTS;
}

/* Predictions that are alike are as one. */
static double believed(const sct_sweep *s, int point, double least) {
  return fmax(s->problem.points[point].predicted, least);
}

/* A candidate's entries in all columns; `least` is what counts as the least prediction. */
static void fill_row(const fit *f, const sct_sweep *s, int point, double least, double *x) {
  const sct_search_point *p = &s->problem.points[point];
  memset(x, 0, sizeof *x * MAX_COLUMNS);
  for (int a = 0; a < s->problem.n_axes; a++) {
    const sct_search_axis *axis = &s->problem.axes[a];
    if (p->value[a] >= 0) {
      const int c = find_column(f, axis->name, axis->values[p->value[a]], s->problem.small);
      if (c >= 0) {
        x[c] = 1.0;
      }
    }
  }
  for (int c = f->n - 2 * N_WEIGHTS; c < f->n; c++) {
    const int w = f->columns[c].weight;
    const double unit = w == PREDICTED ? log(believed(s, point, least) / least) : p->strain[w];
    x[c] = f->columns[c].small == s->problem.small ? unit : 0.0;
  }
}

/* ---- the fit ---- */

/* Adds w x x' and w x y; only where x is not 0. */
static void accumulate(fit *f, const double *x, double y, double w) {
  int at[MAX_COLUMNS], n = 0;
  for (int c = 0; c < f->n; c++) {
    if (x[c] != 0.0) {
      at[n++] = c;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      f->a[at[i]][at[j]] += w * x[at[i]] * x[at[j]];
    }
    f->b[at[i]] += w * x[at[i]] * y;
  }
}

/* Weighted by nearness to the best, differences from the sweep's mean. */
static void add_sweep(fit *f, const sct_sweep *s, int *rows) {
  const int n = choose_rows(s, rows);
  const double least = ALIKE * least_predicted(s);
  double x[MAX_COLUMNS], mean[MAX_COLUMNS] = {0}, mean_y = 0.0, total = 0.0;
  for (int pass = 0; pass < 2; pass++) {
    for (int r = 0; r < n; r++) {
      const double ns = s->median_ns[rows[r]];
      const double y = log(ns / believed(s, rows[r], least));
      double w = exp(-log(ns / s->best_ns) / DECAY);
      if (pass == 0) {
        total += w;
        continue;
      }
      w *= SWEEP_WEIGHT / total;
      fill_row(f, s, rows[r], least, x);
      accumulate(f, x, y, w);
      mean_y += w / SWEEP_WEIGHT * y;
      for (int c = 0; c < f->n; c++) {
        mean[c] += w / SWEEP_WEIGHT * x[c];
      }
    }
  }
  if (n > 0) {
    accumulate(f, mean, mean_y, -SWEEP_WEIGHT);
  }
}

/* Solves (a + ridge) w = b by Cholesky's factor, in place. */
static void solve(fit *f) {
  for (int c = 0; c < f->n; c++) {
    f->a[c][c] += f->columns[c].axis ? RIDGE_EFFECT : RIDGE_WEIGHT;
  }
  for (int i = 0; i < f->n; i++) {
    for (int j = 0; j <= i; j++) {
      double sum = f->a[i][j];
      for (int k = 0; k < j; k++) {
        sum -= f->a[i][k] * f->a[j][k];
      }
      f->a[i][j] = i == j ? sqrt(sum) : sum / f->a[j][j];
    }
  }
  for (int i = 0; i < f->n; i++) {
    f->w[i] = f->b[i];
    for (int k = 0; k < i; k++) {
      f->w[i] -= f->a[i][k] * f->w[k];
    }
    f->w[i] /= f->a[i][i];
  }
  for (int i = f->n - 1; i >= 0; i--) {
    for (int k = i + 1; k < f->n; k++) {
      f->w[i] -= f->a[k][i] * f->w[k];
    }
    f->w[i] /= f->a[i][i];
  }
}

static double rounded(double w, double step) {
  return round(w / step) * step;
}

static sct_search_effect *find_effect(sct_search_effect *effects, int n, const column *c) {
  for (int k = 0; k < n; k++) {
    if (strcmp(effects[k].axis, c->axis) == 0 && strcmp(effects[k].value, c->value) == 0) {
      return &effects[k];
    }
  }
  return NULL;
}

static int by_axis(const void *pa, const void *pb) {
  const sct_search_effect *a = pa, *b = pb;
  const int axis = strcmp(a->axis, b->axis);
  const long long x = strtoll(a->value, NULL, 10), y = strtoll(b->value, NULL, 10);
  return axis != 0 ? axis : x != y ? (x > y) - (x < y) : strcmp(a->value, b->value);
}

/* What was fitted, as the search takes it and as it is printed: in steps. */
static void read_off(const fit *f, sct_search_known *out) {
  sct_search_effect *effects = room(sizeof *effects * MAX_COLUMNS);
  *out = (sct_search_known){.effects = effects};
  for (int c = 0; c < f->n; c++) {
    const column *col = &f->columns[c];
    if (!col->axis) {
      const double w = rounded(f->w[c], 0.001);
      sct_search_weight *weight =
          col->weight == PREDICTED ? &out->predicted : &out->strain[col->weight];
      *(col->small ? &weight->small : &weight->large) = w;
      continue;
    }
    const double w = rounded(f->w[c], STEP);
    sct_search_effect *e = find_effect(effects, out->n_effects, col);
    if (w != 0.0 && !e) {
      e = &effects[out->n_effects++];
      *e = (sct_search_effect){col->axis, col->value, 0.0, 0.0};
    }
    if (w != 0.0) {
      *(col->small ? &e->small : &e->large) = w;
    }
  }
  qsort(effects, (size_t)out->n_effects, sizeof *effects, by_axis);
}

static void run_fit(sct_search_known *out, const sct_sweep *const *sweeps, int n,
                    const char *without) {
  fit *f = room(sizeof *f);
  int most = 0;
  f->sweeps = sweeps;
  f->n_sweeps = n;
  f->without = without;
  for (int k = 0; k < n; k++) {
    most = sweeps[k]->problem.n_points > most ? sweeps[k]->problem.n_points : most;
  }
  int *rows = room(sizeof *rows * (size_t)most);
  choose_columns(f, rows);
  for (int k = 0; k < n; k++) {
    if (takes_part(f, sweeps[k])) {
      add_sweep(f, sweeps[k], rows);
    }
  }
  solve(f);
  read_off(f, out);
  free(rows);
  free(f);
}

/* ---- what it is worth ---- */

/* Candidates tried until the one that looks best is near the best; replays as sct_sweep_search()
 * does, but ends there. */
static double tries(const sct_sweep *s, const sct_search_method *method, uint64_t seed) {
  sct_search *search = NULL;
  sct_error err;
  sct_rng rng = sct_rng_new(sct_mix64(seed, 1));
  sct_status status = sct_search_new(&search, method, &s->problem, seed, &err);
  int n = 0;
  for (bool found = false; status == SCT_OK && !found;) {
    const int k = sct_search_next(search);
    const double ns = sct_sweep_try(s, k, &rng);
    status = ns > 0.0 ? sct_search_tell(search, k, ns, &err) : sct_search_fail(search, k, &err);
    const int best = sct_search_best(search);
    n++;
    found = best >= 0 && s->median_ns[best] <= NEAR * s->best_ns;
    found = found || n == s->problem.n_points;
  }
  if (status != SCT_OK) {
    fprintf(stderr, "bench_fit: %s\n", err.text);
    exit(1);
  }
  sct_search_free(search);
  return n;
}

static double near_of(sct_sweep *s, const char *name, const sct_search_known *known) {
  double near[N_SEEDS];
  const sct_search_method *method = NULL;
  sct_error err;
  if (sct_search_find(&method, name, &err) != SCT_OK) {
    fprintf(stderr, "bench_fit: %s\n", err.text);
    exit(1);
  }
  s->problem.known = known;
  for (int seed = 0; seed < N_SEEDS; seed++) {
    near[seed] = tries(s, method, (uint64_t)seed + 1);
  }
  s->problem.known = NULL;
  return middle(near, N_SEEDS);
}

enum { NOTHING, NO_FAMILY, NO_KERNEL, IN, BUILT_IN, CHANCE, LEAST, N_WAYS };
static const struct {
  const char *name;
  bool fitted; /* to the sweeps at hand */
} ways[N_WAYS] = {
    {"nothing known", false},
    {"fitted without the family", true},
    {"fitted without the kernel", true},
    {"fitted with it", true},
    {"search_effects.def", false},
    {"random", false},
    {"least possible", false},
};

typedef struct result {
  const sct_sweep *sweep;
  double near[N_WAYS];
} result;

/* held: without the ways that were fitted. */
static void print_results(const result *results, int n, bool held) {
  double sum[N_WAYS] = {0}, less[N_WAYS] = {0};
  printf("| kernel | size | family |");
  for (int w = 0; w < N_WAYS; w++) {
    if (!held || !ways[w].fitted) {
      printf(" %s |", ways[w].name);
    }
  }
  printf("\n|---|---|---|");
  for (int w = 0; w < N_WAYS; w++) {
    printf("%s", held && ways[w].fitted ? "" : "---:|");
  }
  printf("\n");
  for (int k = 0; k < n; k++) {
    const result *r = &results[k];
    printf("| %s | %s | %s |", r->sweep->kernel, r->sweep->size, r->sweep->family);
    for (int w = 0; w < N_WAYS; w++) {
      if (!held || !ways[w].fitted) {
        printf(" %.1f |", r->near[w]);
      }
      sum[w] += r->near[w];
      less[w] += r->near[w] - 1.0;
    }
    printf("\n");
  }
  printf("\n| `model` with | sum | of random | without the naive one | median | "
         "median ratio to random | without the naive one |\n|---|---:|---:|---:|---:|---:|---:|\n");
  for (int w = 0; w < N_WAYS; w++) {
    if (held && ways[w].fitted) {
      continue;
    }
    double each[MAX_SWEEPS], ratio[MAX_SWEEPS], ratio_less[MAX_SWEEPS];
    int n_less = 0;
    for (int k = 0; k < n; k++) {
      const double *near = results[k].near;
      each[k] = near[w];
      ratio[k] = near[w] / near[CHANCE];
      if (near[CHANCE] > 1.0) {
        ratio_less[n_less++] = (near[w] - 1.0) / (near[CHANCE] - 1.0);
      }
    }
    printf("| %s | %.1f | %.3f | %.3f | %.1f | %.2f | %.2f |\n", ways[w].name, sum[w],
           sum[w] / sum[CHANCE], less[w] / less[CHANCE], middle(each, n), middle(ratio, n),
           n_less > 0 ? middle(ratio_less, n_less) : 0.0);
  }
}

static void print_lines(const sct_search_known *known) {
  static const char *const ids[] = {
#define SCT_STRAIN(id, name) #id,
#include "model/model_strains.def"
#undef SCT_STRAIN
  };
  for (int k = 0; k < SCT_N_STRAINS; k++) {
    printf("SCT_WEIGHT(%s, %g, %g)\n", ids[k], known->strain[k].large, known->strain[k].small);
  }
  printf("SCT_PREDICTED(%g, %g)\n\n", known->predicted.large, known->predicted.small);
  for (int k = 0; k < known->n_effects; k++) {
    const sct_search_effect *e = &known->effects[k];
    printf("SCT_EFFECT(\"%s\", \"%s\", %g, %g)\n", e->axis, e->value, e->large, e->small);
  }
}

/* One fit a family or kernel; kept to the end. */
static sct_search_known known_without(const char *what, const sct_sweep *const *sweeps, int n) {
  static struct {
    const char *what;
    sct_search_known known;
  } fits[MAX_FITS];
  int k = 0;
  while (k < MAX_FITS - 1 && fits[k].what && strcmp(fits[k].what, what) != 0) {
    k++;
  }
  if (!fits[k].what) {
    fits[k].what = what;
    run_fit(&fits[k].known, sweeps, n, what);
  }
  return fits[k].known;
}

static void judge(sct_replay *judged, const sct_sweep *const *sweeps, int n_sweeps) {
  const sct_search_known none = {0};
  sct_search_known all;
  result *results = room(sizeof *results * (size_t)judged->n_sweeps);
  run_fit(&all, sweeps, n_sweeps, NULL);
  for (int k = 0; k < judged->n_sweeps; k++) {
    sct_sweep *s = &judged->sweeps[k];
    const sct_search_known families = known_without(s->family, sweeps, n_sweeps);
    const sct_search_known kernels = known_without(s->kernel, sweeps, n_sweeps);
    results[k] =
        (result){s,
                 {near_of(s, "model", &none), near_of(s, "model", &families),
                  near_of(s, "model", &kernels), near_of(s, "model", &all),
                  near_of(s, "model", NULL), near_of(s, "random", NULL), least_possible(s)}};
  }
  print_results(results, judged->n_sweeps, false);
  free((void *)(uintptr_t)all.effects);
  free(results);
}

static void judge_held(sct_replay *judged) {
  const sct_search_known none = {0};
  result *results = room(sizeof *results * (size_t)judged->n_sweeps);
  for (int k = 0; k < judged->n_sweeps; k++) {
    sct_sweep *s = &judged->sweeps[k];
    results[k] = (result){.sweep = s};
    results[k].near[NOTHING] = near_of(s, "model", &none);
    results[k].near[BUILT_IN] = near_of(s, "model", NULL);
    results[k].near[CHANCE] = near_of(s, "random", NULL);
    results[k].near[LEAST] = least_possible(s);
  }
  print_results(results, judged->n_sweeps, true);
  free(results);
}

static void print_fit(const sct_sweep *const *sweeps, int n_sweeps) {
  sct_search_known all;
  run_fit(&all, sweeps, n_sweeps, NULL);
  print_lines(&all);
  free((void *)(uintptr_t)all.effects);
}

int main(int argc, char **argv) {
  const bool lines = argc > 1 && strcmp(argv[1], "--lines") == 0;
  const bool held = argc > 1 && strcmp(argv[1], "--held") == 0;
  const int first = lines || held ? 2 : 1;
  sct_replay replays[MAX_FILES];
  static const sct_sweep *sweeps[MAX_SWEEPS];
  int n_sweeps = 0;
  sct_error err;
  if (argc <= first || argc > MAX_FILES + first) {
    fprintf(stderr, "usage: bench_fit [--lines | --held] JUDGED [FURTHER...]\n");
    return 2;
  }
  const int n_files = argc - first;
  for (int f = 0; f < n_files; f++) {
    if (sct_replay_open(&replays[f], argv[first + f], &err) != SCT_OK) {
      fprintf(stderr, "bench_fit: %s\n", err.text);
      return 1;
    }
    for (int k = 0; k < replays[f].n_sweeps && n_sweeps < MAX_SWEEPS; k++) {
      sweeps[n_sweeps++] = &replays[f].sweeps[k];
    }
  }
  if (lines) {
    print_fit(sweeps, n_sweeps);
  } else if (held) {
    judge_held(&replays[0]);
  } else {
    judge(&replays[0], sweeps, n_sweeps);
  }
  for (int f = 0; f < n_files; f++) {
    sct_replay_free(&replays[f]);
  }
  return 0;
}
