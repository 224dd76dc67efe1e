/* Sweeps from a JSON file: a kernel's axes and candidates once, then a list of times for each
 * size. */
#include "sweeps.h"

#include <jansson.h>
#include <string.h>

typedef struct reader {
  sct_replay *replay;
  const char *path, *device;
  const json_t *axes, *candidates, *naive;
  double try_ns;
  sct_error *err;
} reader;

static sct_status wrong(const reader *r, const char *what) {
  return sct_fail(r->err, SCT_EDATA, "%s: expected %s", r->path, what);
}

static double number_at(const json_t *list, size_t k) {
  return json_number_value(json_array_get(list, k));
}

/* A place is an index into the axis' values; -n: it has none of the next n axes. */
static sct_status set_axes(const reader *r, sct_sweep *sweep, const json_t *places) {
  const size_t n_axes = json_array_size(r->axes);
  for (size_t a = 0, p = 0; a < n_axes; p++) {
    const json_t *axis = json_array_get(r->axes, a), *place = json_array_get(places, p);
    const char *name = json_string_value(json_array_get(axis, 0));
    const json_int_t v = json_integer_value(place);
    if (!name || !json_is_integer(place) || v < -(json_int_t)(n_axes - a)) {
      return wrong(r, "an axis' name and values, and a place on each axis for every candidate");
    }
    a += v < 0 ? (size_t)-v : 1;
    if (v < 0) {
      continue;
    }
    const char *value = json_string_value(json_array_get(json_array_get(axis, 1), (size_t)v));
    if (!value) {
      return wrong(r, "places that are values of their axis");
    }
    SCT_TRY(sct_search_set(&sweep->problem, name, value, r->err));
  }
  return SCT_OK;
}

static bool is_naive(const reader *r, size_t candidate) {
  bool found = false;
  for (size_t k = 0; k < json_array_size(r->naive); k++) {
    found = found || json_integer_value(json_array_get(r->naive, k)) == (json_int_t)candidate;
  }
  return found;
}

/* What the prediction of a candidate leaves out; a file may be without. */
static sct_status set_penalties(const reader *r, sct_sweep *sweep, const json_t *penalties,
                                size_t k) {
  double penalty[SCT_N_PENALTIES] = {0};
  for (int i = 0; penalties && i < SCT_N_PENALTIES; i++) {
    const json_t *list = json_object_get(penalties, sct_penalty_name((sct_penalty)i));
    if (json_array_size(list) != json_array_size(r->candidates)) {
      return wrong(r, "in penalties a list of a number for each candidate for every penalty");
    }
    penalty[i] = number_at(list, k);
  }
  sct_search_penalty(&sweep->problem, penalty);
  return SCT_OK;
}

static sct_status read_size(const reader *r, const char *kernel, const json_t *size) {
  static const char *const lists[] = {"predicted_ns", "median_ns", "q1_ns", "q3_ns"};
  enum { PREDICTED, MEDIAN, Q1, Q3, N_LISTS };
  const json_t *list[N_LISTS];
  const size_t n = json_array_size(r->candidates);
  const char *label = json_string_value(json_object_get(size, "label"));
  for (int k = 0; k < N_LISTS; k++) {
    list[k] = json_object_get(size, lists[k]);
    const bool left_out = (k == Q1 || k == Q3) && !list[k];
    if (!label || (json_array_size(list[k]) != n && !left_out)) {
      return wrong(r, "a label, and in every list of a size a number for each candidate");
    }
  }
  sct_sweep *sweep;
  sweep_begin(&sweep, r->replay, (int)n, kernel, label, r->device);
  sweep->try_ns = r->try_ns;
  for (size_t k = 0; k < n; k++) {
    const double median = number_at(list[MEDIAN], k);
    if (median <= 0.0) {
      continue;
    }
    const double quartiles[] = {list[Q1] ? number_at(list[Q1], k) : median, median,
                                list[Q3] ? number_at(list[Q3], k) : median};
    if (quartiles[0] <= 0.0 || quartiles[2] < quartiles[0]) {
      return wrong(r, "quartiles of every time");
    }
    sct_search_add(&sweep->problem, number_at(list[PREDICTED], k),
                   number_at(json_object_get(size, "order"), k), is_naive(r, k));
    SCT_TRY(set_penalties(r, sweep, json_object_get(size, "penalties"), k));
    SCT_TRY(set_axes(r, sweep, json_array_get(r->candidates, k)));
    sweep_samples(r->replay, sweep, median, quartiles, SCT_COUNT(quartiles));
  }
  sweep_end(r->replay);
  return SCT_OK;
}

static sct_status read_kernel(reader *r, const json_t *kernel) {
  const json_t *sizes = json_object_get(kernel, "sizes");
  const char *name = json_string_value(json_object_get(kernel, "name"));
  r->axes = json_object_get(kernel, "axes");
  r->candidates = json_object_get(kernel, "candidates");
  r->naive = json_object_get(kernel, "naive");
  r->try_ns = 1e6 * json_number_value(json_object_get(kernel, "try_ms"));
  if (!name || r->try_ns <= 0.0 || json_array_size(r->axes) == 0 ||
      json_array_size(r->candidates) == 0 || !json_is_array(r->naive)) {
    return wrong(r, "in every kernel name, try_ms, naive, axes, candidates and sizes");
  }
  for (size_t z = 0; z < json_array_size(sizes); z++) {
    SCT_TRY(read_size(r, name, json_array_get(sizes, z)));
  }
  return SCT_OK;
}

static sct_status read_kernels(reader *r, const json_t *doc) {
  const json_t *kernels = json_object_get(doc, "kernels");
  r->device = json_string_value(json_object_get(doc, "device"));
  if (!r->device || json_array_size(kernels) == 0) {
    return wrong(r, "the members device and kernels");
  }
  for (size_t k = 0; k < json_array_size(kernels); k++) {
    SCT_TRY(read_kernel(r, json_array_get(kernels, k)));
  }
  return SCT_OK;
}

sct_status sweeps_from_json(sct_replay *out, const char *path, sct_error *err) {
  sct_str text = {0};
  json_error_t where;
  reader r = {.replay = out, .path = path, .err = err};
  sct_status status = sct_file_read(&text, path, err);
  if (status == SCT_OK) {
    json_t *doc = json_loadb(sct_str_c(&text), text.len, JSON_REJECT_DUPLICATES, &where);
    status = doc ? read_kernels(&r, doc)
                 : sct_fail(err, SCT_EDATA, "%s:%d: error: not a store, and not JSON: %s", path,
                            where.line, where.text);
    json_decref(doc);
  }
  sct_str_free(&text);
  return status;
}
