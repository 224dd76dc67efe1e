/* Stores of sweeps as one file for replays, tests/search/h200.json.
 *
 *   bench_sweeps SPEC STORE [size:LABEL ...] [SPEC STORE ...]
 *     SPEC: the store's kernel, with all sizes
 *     that it was tuned for; LABEL: a size to take, such as "i=1024"; none: all
 *
 * Of a candidate at a size: the median and the quartiles that a GPU gave, and what a session knows
 * before it compiles it: the predicted time and its penalties, reckoned here by the present model
 * from what the plan says of its traffic, as a search does. A candidate of the store that the
 * present space has not is left out, and so is one that failed: how many is said on standard error.
 */
#include "search/search.h"
#include "store/store.h"
#include "tune/tune.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What tests have read: it stays. */
__attribute__((unused)) static sct_arena kept_rows;

#define MAX_SIZES 16
#define N_TIMES   3
#define SIZE      "size:"

static const char what[] = "Recorded sweeps for comparing search methods; by scripts/bench sweeps.";
static const char fields[] =
    "candidates: a value's index per axis, -n for "
    "n axes in a row that the strategy lacks. sizes: one entry a candidate; predicted_ns and "
    "penalties by "
    "the "
    "model on virtual:h200, from counts of 6 blocks, registers unknown, as before a candidate is "
    "compiled; median_ns, q1_ns and q3_ns "
    "measured, "
    "median 0: does not fit this size, or failed. try_ms: the whole session by the candidates "
    "timed "
    "in it, on 16 cores.";

static void must(sct_status status, const sct_error *err) {
  if (status != SCT_OK) {
    fprintf(stderr, "bench_sweeps: %s\n", err->text);
    exit(1);
  }
}

static void *room(size_t n, size_t each) {
  void *p = calloc(n + 1, each);
  if (!p) {
    fprintf(stderr, "bench_sweeps: out of memory\n");
    exit(1);
  }
  return p;
}

/* What a size of a kernel comes to, by item. */
typedef struct sweep {
  char *label;
  double *times_ns[N_TIMES]; /* median, quartiles; 0: none */
  double *predicted_ns;
  double *penalty[SCT_N_PENALTIES];
} sweep;

typedef struct kernel {
  char *device, *driver, *nvrtc, *date; /* of the last sweep */
  double first_s, last_s;               /* of the day: begin and end of the session */
  int n_tried;
  sct_tune_candidates cands;
  bool *is_naive, *is_there; /* [n_items] */
  sweep sizes[MAX_SIZES];
  int n_sizes;
} kernel;

/* ---- sizes ---- */

static int index_of(const sct_spec *spec, const char *name, size_t n) {
  for (int k = 0; k < spec->n_extents; k++) {
    if (strlen(spec->extent_names[k]) == n && strncmp(spec->extent_names[k], name, n) == 0) {
      return k;
    }
  }
  return -1;
}

static int operand_of(const sct_spec *spec, const char *name, size_t n) {
  for (int k = 0; k < spec->n_operands; k++) {
    if (strlen(spec->operands[k].name) == n && strncmp(spec->operands[k].name, name, n) == 0) {
      return k;
    }
  }
  return -1;
}

/* A size by its label: "i=1024 pick=permuted". */
static void read_label(sct_size *size, const sct_spec *spec, const char *label) {
  size->extent = room((size_t)spec->n_extents, sizeof *size->extent);
  size->fill = room((size_t)spec->n_operands, sizeof *size->fill);
  size->label = label;
  for (const char *at = label; *at;) {
    const size_t n = strcspn(at, "=");
    const char *value = at[n] ? at + n + 1 : at + n;
    const int extent = index_of(spec, at, n), operand = operand_of(spec, at, n);
    if (extent >= 0) {
      size->extent[extent] = strtoll(value, NULL, 10);
    } else if (operand >= 0) {
      size->fill[operand] = strncmp(value, "identity", 8) == 0   ? SCT_FILL_IDENTITY
                            : strncmp(value, "permuted", 8) == 0 ? SCT_FILL_PERMUTED
                                                                 : SCT_FILL_RANDOM;
    } else {
      fprintf(stderr, "bench_sweeps: %s has no '%.*s'\n", spec->name, (int)n, at);
      exit(1);
    }
    at = value + strcspn(value, " ");
    at += *at == ' ';
  }
}

/* ---- what is known before a candidate is compiled ---- */

static void reckon(const kernel *k, sweep *s, const sct_size *size, int item) {
  const sct_tune_item *it = &k->cands.items[item];
  sct_error err;
  sct_counters c;
  sct_prediction p;
  double penalty[SCT_N_PENALTIES];
  must(sct_model_estimate(&c, &k->cands.spec, &it->code, size, &err), &err);
  const sct_workload work = {.spec = &k->cands.spec,
                             .code = &it->code,
                             .size = size,
                             .counters = &c,
                             .shared_bytes = it->code.shared_bytes + it->code.static_shared_bytes};
  must(sct_model_predict(&p, &k->cands.device, &work, &err), &err);
  sct_model_penalty(penalty, &k->cands.device, &work, &p);
  s->predicted_ns[item] = p.ns;
  for (int i = 0; i < SCT_N_PENALTIES; i++) {
    s->penalty[i][item] = penalty[i];
  }
  sct_counters_free(&c);
}

/* Seconds of the day in "2026-11-22T09:13:31.710Z". */
static double seconds_of(const char *time) {
  const char *at = strchr(time, 'T');
  int hours = 0, minutes = 0;
  double seconds = 0.0;
  if (at) {
    (void)sscanf(at, "T%d:%d:%lf", &hours, &minutes, &seconds);
  }
  return 3600.0 * hours + 60.0 * minutes + seconds;
}

static int find_item(const kernel *k, const char *label) {
  for (int i = 0; i < k->cands.n_items; i++) {
    if (k->cands.items[i].label && strcmp(k->cands.items[i].label, label) == 0) {
      return i;
    }
  }
  return -1;
}

static void read_run(kernel *k, sct_store *store, const sct_row_run *run) {
  sct_error err;
  sct_row_result *rows = NULL;
  sct_size size;
  int n = 0, unknown = 0, failed = 0, kept = 0;
  const size_t n_items = (size_t)k->cands.n_items;
  sweep *s = &k->sizes[k->n_sizes];
  *s = (sweep){.label = strdup(run->size_label)};
  for (int i = 0; i < N_TIMES; i++) {
    s->times_ns[i] = room(n_items, sizeof(double));
  }
  for (int i = 0; i < SCT_N_PENALTIES; i++) {
    s->penalty[i] = room(n_items, sizeof(double));
  }
  s->predicted_ns = room(n_items, sizeof(double));
  read_label(&size, &k->cands.spec, s->label);
  must(sct_store_results(store, &kept_rows, run->id, true, &rows, &n, &err), &err);
  const double began_s = seconds_of(run->started), ended_s = seconds_of(run->finished);
  k->first_s = k->n_tried == 0 || began_s < k->first_s ? began_s : k->first_s;
  k->last_s = ended_s > k->last_s ? ended_s : k->last_s;
  k->n_tried += n;
  free(k->date);
  k->date = strndup(run->started, strcspn(run->started, "T"));
  for (int r = 0; r < n; r++) {
    const sct_row_outcome *o = &rows[r].outcome;
    const int item = find_item(k, rows[r].candidate.label);
    const bool timed = strcmp(o->outcome, "ok") == 0 && o->times.median_ns > 0.0;
    unknown += item < 0;
    failed += item >= 0 && !timed;
    if (item >= 0 && timed) {
      const double times[N_TIMES] = {o->times.median_ns, o->times.q1_ns, o->times.q3_ns};
      for (int i = 0; i < N_TIMES; i++) {
        s->times_ns[i][item] = times[i];
      }
      k->is_there[item] = true;
      k->is_naive[item] = k->is_naive[item] || o->id == run->naive;
      kept++;
      reckon(k, s, &size, item);
    }
  }
  fprintf(stderr, "%s %s: %d candidates; %d failed or do not fit, %d not of the present space\n",
          k->cands.spec.name, s->label, kept, failed, unknown);
  k->n_sizes += kept > 0;
  free(size.extent);
  free(size.fill);
}

/* The arguments behind STORE that choose sizes. */
static int count_labels(char *const *args) {
  int n = 0;
  while (args[n] && strncmp(args[n], SIZE, strlen(SIZE)) == 0) {
    n++;
  }
  return n;
}

static bool is_wanted(char *const *args, const char *label) {
  const int n = count_labels(args);
  bool wanted = n == 0;
  for (int k = 0; k < n; k++) {
    wanted = wanted || strcmp(args[k] + strlen(SIZE), label) == 0;
  }
  return wanted;
}

static void take_text(char **out, const char *text) {
  free(*out);
  *out = strdup(text);
}

static void read_kernel(kernel *k, const char *spec, const char *path, char *const *labels) {
  sct_error err;
  sct_device_desc device;
  sct_store *store = NULL;
  sct_row_problem *problems = NULL;
  sct_row_device *devices = NULL;
  int n_problems = 0, n_devices = 0;
  must(sct_script_load_device(&device, "h200", &err), &err);
  must(sct_tune_candidates_make(&k->cands, spec, &device, &(sct_tune_candidates_opts){0}, &err),
       &err);
  k->is_naive = room((size_t)k->cands.n_items, sizeof *k->is_naive);
  k->is_there = room((size_t)k->cands.n_items, sizeof *k->is_there);
  must(sct_store_open(&store, path, true, &err), &err);
  must(sct_store_problem_by_name(store, &kept_rows, k->cands.spec.name, &problems, &n_problems,
                                 &err),
       &err);
  must(sct_store_devices(store, &kept_rows, &devices, &n_devices, &err), &err);
  for (int p = 0; p < n_problems; p++) {
    for (int d = 0; d < n_devices; d++) {
      sct_row_run *runs = NULL;
      int n = 0;
      must(sct_store_runs(store, &kept_rows, problems[p].id, devices[d].id, &runs, &n, &err), &err);
      for (int r = 0; r < n && k->n_sizes < MAX_SIZES && !devices[d].is_virtual; r++) {
        if (!is_wanted(labels, runs[r].size_label)) {
          k->n_tried += runs[r].n_candidates; /* of the same session */
          continue;
        }
        read_run(k, store, &runs[r]);
        take_text(&k->device, devices[d].name);
        take_text(&k->driver, devices[d].driver);
        take_text(&k->nvrtc, devices[d].nvrtc);
      }
    }
  }
  sct_store_close(store);
}

/* ---- writing ---- */

/* Candidates that have a time at some size, and their axes: each axis with its values, and each
 * candidate as places in those lists. */
static void print_candidates(const kernel *k) {
  sct_search_problem problem = {0};
  sct_error err;
  const char *comma = "";
  for (int i = 0; i < k->cands.n_items; i++) {
    if (k->is_there[i]) {
      sct_search_add(&problem, 1.0, 0.0, false);
      must(sct_search_set_all(&problem, &k->cands.space,
                              &k->cands.space.candidates[k->cands.items[i].candidate], &err),
           &err);
    }
  }
  printf("\"axes\":[");
  for (int a = 0; a < problem.n_axes; a++) {
    printf("%s[\"%s\",[", a > 0 ? "," : "", problem.axes[a].name);
    for (int v = 0; v < problem.axes[a].n_values; v++) {
      printf("%s\"%s\"", v > 0 ? "," : "", problem.axes[a].values[v]);
    }
    printf("]]");
  }
  printf("],\n\"candidates\":[");
  for (int c = 0; c < problem.n_points; c++, comma = ",") {
    const int16_t *value = problem.points[c].value;
    printf("%s[", comma);
    for (int a = 0, lacks = 0; a < problem.n_axes; a++) {
      const bool more = a + 1 < problem.n_axes;
      lacks = value[a] < 0 ? lacks + 1 : 0;
      if (value[a] >= 0 || !more || value[a + 1] >= 0) {
        printf("%d%s", value[a] < 0 ? -lacks : value[a], more ? "," : "");
      }
    }
    printf("]");
  }
  printf("],\n");
  sct_search_problem_free(&problem);
}

/* 0 where the size has no time; without exponents, which take more room. */
static void print_list(const kernel *k, const sweep *s, const char *name, const double *values,
                       int n_digits) {
  const char *comma = "";
  printf("\"%s\":[", name);
  for (int i = 0; i < k->cands.n_items; i++) {
    if (k->is_there[i]) {
      const double v = s->times_ns[0][i] > 0.0 ? values[i] : 0.0;
      char text[32];
      snprintf(text, sizeof text, "%.*g", n_digits, v);
      const bool whole = strtod(text, NULL) >= 1000.0;
      snprintf(text, sizeof text, "%.*g", whole ? 15 : n_digits, strtod(text, NULL));
      printf("%s%s", comma, text);
      comma = ",";
    }
  }
  printf("]");
}

static void print_size(const kernel *k, const sweep *s) {
  static const char *const names[N_TIMES] = {"median_ns", "q1_ns", "q3_ns"};
  printf("{\"label\":\"%s\",\n", s->label);
  print_list(k, s, "predicted_ns", s->predicted_ns, 4);
  for (int i = 0; i < N_TIMES; i++) {
    printf(",\n");
    print_list(k, s, names[i], s->times_ns[i], 5);
  }
  printf(",\n\"penalties\":{");
  for (int i = 0; i < SCT_N_PENALTIES; i++) {
    printf("%s", i > 0 ? ",\n" : "");
    print_list(k, s, sct_penalty_name((sct_penalty)i), s->penalty[i], 2);
  }
  printf("}}");
}

static void print_kernel(const kernel *k) {
  const char *comma = "";
  printf("{\"name\":\"%s\",\"try_ms\":%.1f,\"naive\":[", k->cands.spec.name,
         1e3 * (k->last_s - k->first_s) / (k->n_tried > 0 ? k->n_tried : 1));
  for (int i = 0, at = 0; i < k->cands.n_items; i++) {
    if (k->is_naive[i] && k->is_there[i]) {
      printf("%s%d", comma, at);
      comma = ",";
    }
    at += k->is_there[i];
  }
  printf("],\n");
  print_candidates(k);
  printf("\"sizes\":[\n");
  for (int z = 0; z < k->n_sizes; z++) {
    printf("%s", z > 0 ? ",\n" : "");
    print_size(k, &k->sizes[z]);
  }
  printf("]}");
}

int main(int argc, char **argv) {
  for (int at = 1; at < argc || at == 1; at += 2 + count_labels(argv + at + 2)) {
    if (argc - at < 2) {
      fprintf(stderr, "usage: bench_sweeps SPEC STORE [size:LABEL...] [SPEC STORE ...]\n");
      return 2;
    }
    kernel k = {0};
    read_kernel(&k, argv[at], argv[at + 1], argv + at + 2);
    if (at == 1) {
      printf("{\n \"what\": \"%s\",\n \"device\": \"%s\",\n \"driver\": \"%s\",\n"
             " \"nvrtc\": \"%s\",\n \"date\": \"%s\",\n \"fields\": \"%s\",\n \"kernels\": [\n",
             what, k.device, k.driver, k.nvrtc, k.date, fields);
    }
    printf("%s", at > 1 ? ",\n" : "");
    print_kernel(&k);
  }
  printf("]\n}\n");
  return 0;
}
