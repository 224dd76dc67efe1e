/* Sweeps from a store: every run of a device that gave times. */
#include "sweeps.h"

#include "store/store.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* What tests have read: it stays. */
__attribute__((unused)) static sct_arena kept_rows;

/* A candidate from source to time, where the store does not say: what the sweeps of
 * tests/search/h200.json took on an H200 with 16 cores, 30 to 54 ms. */
#define TRY_NS 40e6

static sct_status set_axes(sct_sweep *sweep, const sct_row_candidate *cand, sct_error *err) {
  json_t *axes = json_loads(cand->axes, 0, NULL), *value;
  const char *name;
  sct_status status =
      json_is_object(axes)
          ? sct_search_set(&sweep->problem, "strategy", cand->strategy, err)
          : sct_fail(err, SCT_EDATA, "candidate '%s': its axes are no JSON object", cand->label);
  json_object_foreach(axes, name, value) {
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
    const char *text = json_is_string(value) ? json_string_value(value)
                       : json_is_boolean(value)
                           ? (json_is_true(value) ? "1" : "0") /* as in a space */
                           : number;
    if (status == SCT_OK) {
      status = sct_search_set(&sweep->problem, name, text, err);
    }
  }
  json_decref(axes);
  return status;
}

static bool before(const sct_row_result *a, const sct_row_result *b) {
  const sct_row_outcome *x = &a->outcome, *y = &b->outcome;
  const double mine[] = {sct_search_round_count(x->sectors_ld + x->sectors_st), x->wavefronts,
                         x->requests_ld + x->requests_st};
  const double other[] = {sct_search_round_count(y->sectors_ld + y->sectors_st), y->wavefronts,
                          y->requests_ld + y->requests_st};
  for (int k = 0; k < SCT_COUNT(mine); k++) {
    if (mine[k] < other[k] || mine[k] > other[k]) {
      return mine[k] < other[k];
    }
  }
  return false;
}

/* How many have fewer sectors, then shared wavefronts, requests. */
static int order_of(const sct_row_result *rows, int n, int k) {
  int less = 0;
  for (int i = 0; i < n; i++) {
    less += before(&rows[i], &rows[k]);
  }
  return less;
}

static sct_status add_row(sct_replay *replay, sct_sweep *sweep, const sct_row_run *run,
                          const sct_row_result *rows, int n, int k, sct_error *err) {
  const sct_row_outcome *o = &rows[k].outcome;
  const bool timed = strcmp(o->outcome, "ok") == 0 && o->times.median_ns > 0.0;
  if (strcmp(o->outcome, "ok") == 0 && !timed) {
    return SCT_OK; /* does not fit this size, or its session ended before */
  }
  sct_search_add(&sweep->problem, o->predicted_ns, order_of(rows, n, k), o->id == run->naive);
  SCT_TRY(set_axes(sweep, &rows[k].candidate, err));
  if (!timed) {
    return SCT_OK;
  }
  const double quartiles[] = {o->times.q1_ns, o->times.median_ns, o->times.q3_ns};
  const bool sampled = o->times.n_samples > 0;
  sweep_samples(replay, sweep, o->times.median_ns, sampled ? o->times.samples_ns : quartiles,
                sampled ? o->times.n_samples : SCT_COUNT(quartiles));
  return SCT_OK;
}

/* Candidates were stored as they were ready: nearly in the order of the space, whereas results come
 * by time. */
static int by_candidate(const void *pa, const void *pb) {
  const sct_id a = ((const sct_row_result *)pa)->candidate.id;
  const sct_id b = ((const sct_row_result *)pb)->candidate.id;
  return (a > b) - (a < b);
}

static sct_status read_run(sct_replay *replay, sct_store *store, const sct_row_problem *problem,
                           const sct_row_run *run, const sct_row_device *device, sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_results(store, &kept_rows, run->id, true, &rows, &n, err));
  qsort(rows, (size_t)n, sizeof *rows, by_candidate);
  sct_sweep *sweep = NULL;
  sweep_begin(&sweep, replay, n, problem->name, run->size_label, device->name);
  sct_status status = SCT_OK;
  for (int k = 0; status == SCT_OK && k < n; k++) {
    status = add_row(replay, sweep, run, rows, n, k, err);
  }
  if (status == SCT_OK) {
    sweep->try_ns = TRY_NS;
    sweep_end(replay);
  }
  return status;
}

static sct_status read_device(sct_replay *replay, sct_store *store, const sct_row_problem *problem,
                              const sct_row_device *device, sct_error *err) {
  sct_row_run *runs = NULL;
  int n = 0;
  SCT_TRY(sct_store_runs(store, &kept_rows, problem->id, device->id, &runs, &n, err));
  sct_status status = SCT_OK;
  for (int k = 0; status == SCT_OK && k < n; k++) {
    status = read_run(replay, store, problem, &runs[k], device, err);
  }
  return status;
}

sct_status sweeps_from_store(sct_replay *out, const char *path, sct_error *err) {
  sct_store *store = NULL;
  sct_row_problem *problems = NULL;
  sct_row_device *devices = NULL;
  int n_problems = 0, n_devices = 0;
  SCT_TRY(sct_store_open(&store, path, true, err));
  sct_status status = sct_store_problems(store, &kept_rows, &problems, &n_problems, err);
  if (status == SCT_OK) {
    status = sct_store_devices(store, &kept_rows, &devices, &n_devices, err);
  }
  for (int p = 0; p < n_problems; p++) {
    for (int d = 0; status == SCT_OK && d < n_devices; d++) {
      status = read_device(out, store, &problems[p], &devices[d], err);
    }
  }
  if (status == SCT_OK && out->n_sweeps == 0) {
    status = sct_fail(err, SCT_EDATA, "%s: no candidate has a time; tune on a GPU first", path);
  }
  sct_store_close(store);
  return status;
}
