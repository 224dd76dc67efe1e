/* store_foreign_read - caches of Kernel Tuner and T4 results as problems of their own.
 *
 * What others measured was not verified or timed by us: its problem has a name that no spec can
 * have
 * ("kernel-tuner:convolution"), its device says which program it was, and its run has no winner. */
#include "store/store_json.h"

#include <stdlib.h>
#include <string.h>

/* One file: everything below it is of one problem, one device, one size. */
typedef struct foreign {
  sct_store *s;
  sct_json_place *at;
  const char *tool; /* "Kernel Tuner" */
  const char *mark; /* of names and hashes: "kernel-tuner" */
  const char *kernel;
  sct_id problem, run;
} foreign;

typedef struct foreign_result {
  json_t *axes; /* borrowed, object of the parameters in order */
  const char *outcome, *detail, *measured;
  double *samples_ns;
  int n_samples;
  double mean_ns; /* where there are no samples */
} foreign_result;

static void hash_hex(char out[SCT_HASH_HEX], const foreign *f, const char *what) {
  sct_str text = {0};
  sct_str_printf(&text, "%s\n%s\n%s", f->mark, f->kernel, what);
  (void)sct_hash_hex(out, sct_hash_text(sct_str_c(&text)));
  sct_str_free(&text);
}

static char *borrow(const char *text) {
  return (char *)(uintptr_t)(text != NULL ? text : "");
}

static sct_status dump(sct_str *out, const json_t *json, sct_error *err) {
  char *const text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
  sct_str_append(out, text != NULL ? text : "");
  const bool good = text != NULL;
  sct_free(text);
  return good ? SCT_OK : sct_fail(err, SCT_EDATA, "a text is not UTF-8");
}

/* ---- problem, device, run */

static sct_status put_head(foreign *f, const char *device_name, const char *size,
                           const json_t *extents, sct_error *err) {
  char spec_hash[SCT_HASH_HEX], key[SCT_HASH_HEX];
  sct_str name = {0}, extents_text = {0}, conditions = {0};
  const char *const file = sct_path_basename(f->at->file);
  sct_id device_id = 0;
  bool inserted = false;
  hash_hex(spec_hash, f, "problem");
  sct_str_printf(&name, "%s:%s", f->mark, f->kernel);
  sct_str_printf(&conditions,
                 "{\"origin\":\"%s\",\"protocol\":\"as %s measured it; not verified or "
                 "timed by sectile\"}",
                 f->tool, f->tool);
  sct_status status = dump(&extents_text, extents, err);
  if (status == SCT_OK) {
    const sct_row_problem problem = {
        .name = borrow(sct_str_c(&name)), .spec_hash = spec_hash, .spec_file = borrow(file)};
    status = sct_store_join_row(f->s, &sct_store_problem_table, &problem, &f->problem, err);
  }
  if (status == SCT_OK) {
    sct_row_device device = {
        .name = borrow(device_name), .device_id = borrow(f->mark), .tool = borrow(f->tool)};
    device.key = sct_store_device_key(key, &device);
    status = sct_store_join_row(f->s, &sct_store_device_table, &device, &device_id, err);
  }
  if (status == SCT_OK) {
    const sct_row_run run = {.problem = f->problem,
                             .device = device_id,
                             .size_label = borrow(size),
                             .extents = borrow(sct_str_c(&extents_text)),
                             .started = borrow(""),
                             .finished = borrow(""),
                             .conditions = borrow(sct_str_c(&conditions))};
    status = sct_store_join_run(f->s, &run, &f->run, &inserted, err);
    if (status == SCT_OK && inserted) {
      status = sct_store_join_end(f->s, f->run, true, &run, "", "", err);
    }
  }
  sct_str_free(&name);
  sct_str_free(&extents_text);
  sct_str_free(&conditions);
  return status;
}

/* Counts what has come. */
static sct_status put_tail(foreign *f, sct_error *err) {
  sct_row_run run = {0};
  sct_status status = sct_store_fetch(f->s, &sct_store_run_table, f->run, &run, err);
  if (status == SCT_OK) {
    status = sct_store_join_end(f->s, f->run, false, &run, "", "", err);
  }
  sct_store_clear_row(&sct_store_run_table, &run);
  return status;
}

/* ---- results */

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double q) {
  const double at = q * (n - 1);
  const int below = (int)at, above = below + 1 < n ? below + 1 : below;
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static void summarise(sct_row_outcome *o, const foreign_result *r) {
  const int n = r->n_samples;
  o->median_ns = o->q1_ns = o->q3_ns = o->min_ns = r->mean_ns;
  if (n == 0) {
    return;
  }
  double *const sorted = sct_alloc((size_t)n * sizeof(*sorted));
  memcpy(sorted, r->samples_ns, (size_t)n * sizeof(*sorted));
  qsort(sorted, (size_t)n, sizeof(*sorted), by_value);
  o->median_ns = quantile(sorted, n, 0.5);
  o->q1_ns = quantile(sorted, n, 0.25);
  o->q3_ns = quantile(sorted, n, 0.75);
  o->min_ns = sorted[0];
  sct_free(sorted);
}

static void label_of(sct_str *out, json_t *axes) {
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(axes, name, value) {
    sct_str_printf(out, "%s%s=", out->len > 0 ? " " : "", name);
    if (json_is_string(value)) {
      sct_str_append(out, json_string_value(value));
    } else {
      (void)dump(out, value, NULL);
    }
  }
}

static sct_status put_result(foreign *f, const foreign_result *r, sct_error *err) {
  char hash[SCT_HASH_HEX];
  sct_str axes = {0}, label = {0};
  sct_row_result row = {0};
  label_of(&label, r->axes);
  sct_status status = dump(&axes, r->axes, err);
  if (status == SCT_OK) {
    status = SCT_OK;
  }
  if (status == SCT_OK) {
    hash_hex(hash, f, sct_str_c(&axes));
    row.candidate = (sct_row_candidate){.problem = f->problem,
                                        .source_hash = hash,
                                        .label = borrow(sct_str_c(&label)),
                                        .strategy = borrow(f->mark),
                                        .axes = borrow(sct_str_c(&axes)),
                                        .kernel = borrow(f->kernel)};
    status = sct_store_join_row(f->s, &sct_store_candidate_table, &row, &row.candidate.id, err);
  }
  if (status == SCT_OK) {
    row.outcome = (sct_row_outcome){.run = f->run,
                                    .candidate = row.candidate.id,
                                    .outcome = borrow(r->outcome),
                                    .detail = borrow(r->detail),
                                    .measured = borrow(r->measured),
                                    .samples_ns = r->samples_ns,
                                    .n_samples = r->n_samples,
                                    .requests_ld = -1,
                                    .sectors_ld = -1,
                                    .sectors_ld_ideal = -1,
                                    .requests_st = -1,
                                    .sectors_st = -1,
                                    .sectors_st_ideal = -1,
                                    .wavefronts = -1,
                                    .degree = -1};
    summarise(&row.outcome, r);
  }
  if (status == SCT_OK) {
    status = sct_store_join_outcome(f->s, &row, err);
  }
  sct_str_free(&axes);
  sct_str_free(&label);
  return status;
}

/* Times of a list, in units of `unit_ns`. */
static sct_status take_times(foreign *f, const json_t *list, const char *key, double unit_ns,
                             foreign_result *r, sct_error *err) {
  const size_t n = json_array_size(list);
  if (list == NULL || json_is_null(list)) {
    return SCT_OK;
  }
  r->samples_ns = n > 0 ? sct_alloc(n * sizeof(double)) : NULL;
  for (size_t i = 0; i < n; ++i) {
    const json_t *const value = json_array_get(list, i);
    if (!json_is_number(value) || json_number_value(value) < 0) {
      return sct_store_json_fail(f->at, key, "expected times, numbers from 0 on", err);
    }
    r->samples_ns[r->n_samples++] = json_number_value(value) * unit_ns;
  }
  return json_is_array(list) ? SCT_OK
                             : sct_store_json_fail(f->at, key, "expected a list of times", err);
}

static bool is_scalar(const json_t *value) {
  return json_is_number(value) || json_is_string(value) || json_is_boolean(value);
}

/* ---- Kernel Tuner ---- */

#define MS 1e6 /* ns */

static const struct {
  const char *word, *outcome;
} kt_errors[] = {{"InvalidConfig", "too_large"},
                 {"CompilationFailedConfig", "compile_error"},
                 {"RuntimeFailedConfig", "launch_error"}};

static const char *kt_outcome(const char *word) {
  for (int k = 0; word != NULL && k < SCT_COUNT(kt_errors); ++k) {
    if (strcmp(word, kt_errors[k].word) == 0) {
      return kt_errors[k].outcome;
    }
  }
  return NULL;
}

static sct_status kt_axes(foreign *f, const json_t *keys, const json_t *entry, json_t *axes,
                          sct_error *err) {
  const json_t *key = NULL;
  size_t i = 0;
  json_array_foreach(keys, i, key) {
    json_t *const value = json_object_get(entry, json_string_value(key));
    if (!is_scalar(value)) {
      return sct_store_json_fail(f->at, json_string_value(key), "expected this parameter's value",
                                 err);
    }
    json_object_set(axes, json_string_value(key), value);
  }
  return SCT_OK;
}

/* What an entry says of the time: an error in its own place, or (older files) in the time's. */
static sct_status kt_time(foreign *f, const json_t *entry, const char *objective, foreign_result *r,
                          sct_error *err) {
  const json_t *const time = json_object_get(entry, objective);
  const json_t *const error = json_object_get(entry, "__error__");
  const char *const word = json_string_value(error != NULL ? error : time);
  if (word != NULL) {
    r->outcome = kt_outcome(word);
    r->detail = word;
    return r->outcome != NULL
               ? SCT_OK
               : sct_store_json_fail(f->at, error != NULL ? "__error__" : objective,
                                     "expected InvalidConfig, CompilationFailedConfig or "
                                     "RuntimeFailedConfig",
                                     err);
  }
  r->outcome = "ok";
  const json_t *const ms = json_object_get(entry, "time");
  if (!json_is_number(ms) || json_number_value(ms) < 0) {
    return sct_store_json_fail(f->at, "time", "expected a time in ms, or the word of an error",
                               err);
  }
  r->mean_ns = json_number_value(ms) * MS;
  return take_times(f, json_object_get(entry, "times"), "times", MS, r, err);
}

static sct_status kt_entry(foreign *f, const json_t *keys, const char *objective,
                           const json_t *entry, sct_error *err) {
  if (!json_is_object(entry)) {
    return sct_store_json_fail(f->at, NULL, "expected an object", err);
  }
  foreign_result r = {.axes = json_object()};
  r.measured = json_string_value(json_object_get(entry, "timestamp"));
  sct_status status = kt_axes(f, keys, entry, r.axes, err);
  if (status == SCT_OK) {
    status = kt_time(f, entry, objective, &r, err);
  }
  if (status == SCT_OK) {
    status = put_result(f, &r, err);
  }
  sct_free(r.samples_ns);
  json_decref(r.axes);
  return status;
}

/* "4096x1024" and {"x": 4096, "y": 1024} of a number, a list of numbers and words, or a word; "?"
 * where there is none, as in caches of old versions. Words are Kernel Tuner's expressions: no
 * extents. */
static sct_status kt_size(foreign *f, const json_t *size, sct_str *label, json_t *extents,
                          sct_error *err) {
  static const char *const names[] = {"x", "y", "z"};
  const size_t n = json_is_array(size) ? json_array_size(size) : 1;
  if (size == NULL || json_is_null(size)) {
    sct_str_append(label, "?");
    return SCT_OK;
  }
  for (size_t i = 0; i < n; ++i) {
    const json_t *const value = json_is_array(size) ? json_array_get(size, i) : size;
    const json_int_t number =
        json_is_real(value) ? (json_int_t)json_real_value(value) : json_integer_value(value);
    if (!(json_is_number(value) || json_is_string(value)) || i >= (size_t)SCT_COUNT(names)) {
      return sct_store_json_fail(f->at, "problem_size",
                                 "expected a number, a list of one to three, or a word", err);
    }
    sct_str_append(label, i > 0 ? "x" : "");
    if (json_is_string(value)) {
      sct_str_append(label, json_string_length(value) > 0 ? json_string_value(value) : "?");
      continue;
    }
    sct_str_append_int(label, number);
    (void)json_object_set_new(extents, names[i], json_integer(number));
  }
  return n > 0 ? SCT_OK : sct_store_json_fail(f->at, "problem_size", "expected a size", err);
}

static sct_status kt_head(foreign *f, const json_t *doc, sct_error *err) {
  const char *const device = json_string_value(json_object_get(doc, "device_name"));
  f->kernel = json_string_value(json_object_get(doc, "kernel_name"));
  if (device == NULL) {
    return sct_store_json_fail(f->at, "device_name", "expected a text", err);
  }
  if (f->kernel == NULL || f->kernel[0] == '\0') {
    return sct_store_json_fail(f->at, "kernel_name", "expected a name", err);
  }
  sct_str size = {0};
  json_t *const extents = json_object();
  sct_status status = kt_size(f, json_object_get(doc, "problem_size"), &size, extents, err);
  if (status == SCT_OK) {
    status = put_head(f, device, sct_str_c(&size), extents, err);
  }
  json_decref(extents);
  sct_str_free(&size);
  return status;
}

static sct_status kt_keys(foreign *f, const json_t *keys, sct_error *err) {
  const json_t *key = NULL;
  size_t i = 0;
  json_array_foreach(keys, i, key) {
    if (!json_is_string(key)) {
      return sct_store_json_fail(f->at, "tune_params_keys", "expected a list of names", err);
    }
  }
  return json_array_size(keys) > 0
             ? SCT_OK
             : sct_store_json_fail(f->at, "tune_params_keys", "expected a list of names", err);
}

sct_status sct_store_read_kernel_tuner(sct_store *s, sct_json_place *at, const json_t *doc,
                                       sct_error *err) {
  foreign f = {.s = s, .at = at, .tool = "Kernel Tuner", .mark = "kernel-tuner"};
  const json_t *const keys = json_object_get(doc, "tune_params_keys");
  const json_t *const objective = json_object_get(doc, "objective");
  const char *word =
      json_string_value(json_is_array(objective) ? json_array_get(objective, 0) : objective);
  json_t *const cache = json_object_get(doc, "cache");
  const char *key = NULL;
  json_t *entry = NULL;
  SCT_TRY(kt_keys(&f, keys, err));
  if (!json_is_object(cache)) {
    return sct_store_json_fail(at, "cache", "expected an object", err);
  }
  SCT_TRY(kt_head(&f, doc, err));
  json_object_foreach(cache, key, entry) {
    sct_store_json_enter_key(at, "cache");
    sct_store_json_enter_key(at, key);
    SCT_TRY(kt_entry(&f, keys, word != NULL ? word : "time", entry, err));
    sct_store_json_leave(at);
    sct_store_json_leave(at);
  }
  return put_tail(&f, err);
}

/* ---- T4 ---- */

static const struct {
  const char *word, *outcome;
} t4_outcomes[] = {{"correct", "ok"},
                   {"timeout", "hang"},
                   {"compile", "compile_error"},
                   {"runtime", "launch_error"},
                   {"correctness", "wrong_result"},
                   {"constraints", "too_large"}};

static const struct {
  const char *word;
  double ns;
} t4_units[] = {{"miliseconds", 1e6},  {"milliseconds", 1e6}, {"ms", 1e6},
                {"microseconds", 1e3}, {"nanoseconds", 1},    {"seconds", 1e9}};

static sct_status t4_unit(foreign *f, const json_t *doc, double *ns, sct_error *err) {
  const json_t *const unit = json_object_get(json_object_get(doc, "metadata"), "timeunit");
  *ns = MS;
  for (int k = 0; unit != NULL && k < SCT_COUNT(t4_units); ++k) {
    if (json_is_string(unit) && strcmp(json_string_value(unit), t4_units[k].word) == 0) {
      *ns = t4_units[k].ns;
      return SCT_OK;
    }
  }
  return unit == NULL ? SCT_OK
                      : sct_store_json_fail(f->at, "metadata.timeunit",
                                            "expected miliseconds, microseconds, nanoseconds or "
                                            "seconds",
                                            err);
}

static sct_status t4_result(foreign *f, const json_t *result, double unit_ns, sct_error *err) {
  json_t *const configuration = json_object_get(result, "configuration");
  const json_t *const times = json_object_get(result, "times");
  const char *const word = json_string_value(json_object_get(result, "invalidity"));
  foreign_result r = {.axes = configuration};
  const char *name = NULL;
  json_t *value = NULL;
  if (!json_is_object(configuration)) {
    return sct_store_json_fail(f->at, "configuration", "expected an object", err);
  }
  json_object_foreach(configuration, name, value) {
    if (!is_scalar(value)) {
      return sct_store_json_fail(f->at, "configuration", "expected numbers, texts or booleans",
                                 err);
    }
  }
  if (!json_is_object(times)) {
    return sct_store_json_fail(f->at, "times", "expected an object", err);
  }
  for (int k = 0; word != NULL && k < SCT_COUNT(t4_outcomes); ++k) {
    r.outcome = strcmp(word, t4_outcomes[k].word) == 0 ? t4_outcomes[k].outcome : r.outcome;
  }
  if (r.outcome == NULL) {
    return sct_store_json_fail(f->at, "invalidity",
                               "expected correct, timeout, compile, runtime, correctness or "
                               "constraints",
                               err);
  }
  r.detail = strcmp(r.outcome, "ok") == 0 ? "" : word;
  r.measured = json_string_value(json_object_get(result, "timestamp"));
  sct_status status =
      take_times(f, json_object_get(times, "runtimes"), "times.runtimes", unit_ns, &r, err);
  if (status == SCT_OK) {
    status = put_result(f, &r, err);
  }
  sct_free(r.samples_ns);
  return status;
}

sct_status sct_store_read_t4(sct_store *s, sct_json_place *at, const json_t *doc, sct_error *err) {
  foreign f = {.s = s, .at = at, .tool = "T4 results", .mark = "t4"};
  const json_t *const results = json_object_get(doc, "results");
  const json_t *result = NULL;
  size_t i = 0;
  double unit_ns = 0;
  if (!json_is_array(results)) {
    return sct_store_json_fail(at, "results", "expected a list", err);
  }
  SCT_TRY(t4_unit(&f, doc, &unit_ns, err));
  json_t *const none = json_object();
  f.kernel = sct_path_basename(at->file); /* the format names neither kernel nor device */
  const sct_status status = put_head(&f, "unknown device", "unknown size", none, err);
  json_decref(none);
  SCT_TRY(status);
  json_array_foreach(results, i, result) {
    sct_store_json_enter(at, "results", i);
    SCT_TRY(t4_result(&f, result, unit_ns, err));
    sct_store_json_leave(at);
  }
  return put_tail(&f, err);
}
