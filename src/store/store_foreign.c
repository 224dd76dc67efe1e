/* store_foreign - caches of Kernel Tuner and T4 results as problems of their own.
 *
 * What others measured was not verified or timed by us: its problem has a name that no spec can
 * have
 * ("kernel-tuner:convolution"), its device says which program it was, and its run has no winner. */
#include "store/store_json.h"

#include <string.h>

/* One file: everything below it is of one problem, one device, one size. */
typedef struct foreign {
  sct_store *s;
  const char *file;
  const char *tool; /* "Kernel Tuner" */
  const char *mark; /* of names and hashes: "kernel-tuner" */
  const char *kernel;
  sct_id problem, run;
} foreign;

static void hash_hex(char out[SCT_HASH_HEX], const foreign *f, const char *what) {
  SCT_SCOPED(sct_str) text = {0};
  sct_str_printf(&text, "%s\n%s\n%s", f->mark, f->kernel, what);
  (void)sct_hash_hex(out, sct_hash_text(sct_str_c(&text)));
}

static void dump(sct_str *out, json_t *json) {
  (void)sct_json_dump(out, json_incref(json),
                      JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15), NULL);
}

/* ---- problem, device, run */

static sct_status put_head(foreign *f, const char *device_name, const char *size, json_t *extents,
                           sct_error *err) {
  char spec_hash[SCT_HASH_HEX], key[SCT_HASH_HEX];
  SCT_SCOPED(sct_str) name = {0}, extents_text = {0}, conditions = {0};
  const char *const file = sct_path_basename(f->file);
  sct_id device_id = 0;
  bool inserted = false;
  hash_hex(spec_hash, f, "problem");
  sct_str_printf(&name, "%s:%s", f->mark, f->kernel);
  sct_str_printf(&conditions,
                 "{\"origin\":\"%s\",\"protocol\":\"as %s measured it; not verified or "
                 "timed by sectile\"}",
                 f->tool, f->tool);
  dump(&extents_text, extents);
  const sct_row_problem problem = {
      .name = sct_str_c(&name), .spec_hash = spec_hash, .spec_file = file};
  sct_status status =
      sct_store_join_row(f->s, &sct_store_problem_table, &problem, &f->problem, err);
  if (status == SCT_OK) {
    sct_row_device device = {.name = device_name, .device_id = f->mark, .tool = f->tool};
    device.key = sct_store_device_key(key, &device);
    status = sct_store_join_row(f->s, &sct_store_device_table, &device, &device_id, err);
  }
  if (status == SCT_OK) {
    const sct_row_run run = {.problem = f->problem,
                             .device = device_id,
                             .size_label = size,
                             .extents = sct_str_c(&extents_text),
                             .started = "",
                             .finished = "",
                             .conditions = sct_str_c(&conditions)};
    status = sct_store_join_run(f->s, &run, &f->run, &inserted, err);
    if (status == SCT_OK && inserted) {
      status = sct_store_join_end(f->s, f->run, true, &run, "", "", err);
    }
  }
  return status;
}

/* ---- results */

static void label_of(sct_str *out, json_t *axes) {
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(axes, name, value) {
    sct_str_printf(out, "%s%s=", out->len > 0 ? " " : "", name);
    if (json_is_string(value)) {
      sct_str_append(out, json_string_value(value));
    } else {
      dump(out, value);
    }
  }
}

/* What became of a candidate, whose parameters in order are `params`. */
static sct_status put_result(foreign *f, json_t *params, const sct_row_outcome *outcome,
                             sct_error *err) {
  char hash[SCT_HASH_HEX];
  SCT_SCOPED(sct_str) axes = {0}, label = {0};
  sct_row_result row = {.outcome = *outcome};
  label_of(&label, params);
  dump(&axes, params);
  hash_hex(hash, f, sct_str_c(&axes));
  row.candidate = (sct_row_candidate){.problem = f->problem,
                                      .source_hash = hash,
                                      .label = sct_str_c(&label),
                                      .strategy = f->mark,
                                      .axes = sct_str_c(&axes),
                                      .kernel = f->kernel};
  SCT_TRY(sct_store_join_row(f->s, &sct_store_candidate_table, &row, &row.candidate.id, err));
  row.outcome.run = f->run;
  row.outcome.candidate = row.candidate.id;
  return sct_store_join_outcome(f->s, &row, err);
}

static const char *timestamp_of(const json_t *entry) {
  const char *const text = json_string_value(json_object_get(entry, "timestamp"));
  return text != NULL ? text : "";
}

/* Times of a list, in units of `unit_ns`. */
static sct_status take_times(sct_json list, double unit_ns, sct_times *t) {
  const size_t n = json_array_size(list.json);
  if (sct_json_absent(list)) {
    return SCT_OK;
  }
  t->samples_ns = n > 0 ? sct_alloc(n * sizeof(double)) : NULL;
  for (size_t i = 0; i < n; ++i) {
    const json_t *const value = json_array_get(list.json, i);
    if (!json_is_number(value) || json_number_value(value) < 0) {
      return sct_json_fail(list, "expected times, numbers from 0 on");
    }
    t->samples_ns[t->n_samples++] = json_number_value(value) * unit_ns;
  }
  if (n > 0) {
    sct_times_summarise(t);
  }
  return json_is_array(list.json) ? SCT_OK : sct_json_fail(list, "expected a list of times");
}

static bool is_scalar(const json_t *value) {
  return json_is_number(value) || json_is_string(value) || json_is_boolean(value);
}

/* What another tuner calls our outcomes; rows end with NULL. */
typedef struct outcome_word {
  const char *word, *outcome;
} outcome_word;

static const char *outcome_of(const outcome_word *words, const char *word) {
  while (words->word != NULL && (word == NULL || strcmp(word, words->word) != 0)) {
    ++words;
  }
  return words->outcome;
}

/* ---- Kernel Tuner ---- */

#define MS 1e6 /* ns */

static const outcome_word kt_errors[] = {{"InvalidConfig", "too_large"},
                                         {"CompilationFailedConfig", "compile_error"},
                                         {"RuntimeFailedConfig", "launch_error"},
                                         {0}};

static sct_status kt_axes(const json_t *keys, sct_json entry, json_t *axes) {
  const json_t *key = NULL;
  size_t i = 0;
  json_array_foreach(keys, i, key) {
    json_t *const value = json_object_get(entry.json, json_string_value(key));
    if (!is_scalar(value)) {
      return sct_json_fail(sct_json_member(entry, json_string_value(key)),
                           "expected this parameter's value");
    }
    json_object_set(axes, json_string_value(key), value);
  }
  return SCT_OK;
}

/* An entry's record of the time: an error in its own place, or (older files) in the time's. */
static sct_status kt_time(sct_json entry, const char *objective, sct_row_outcome *out) {
  const bool own = json_object_get(entry.json, "__error__") != NULL;
  const sct_json failure = sct_json_member(entry, own ? "__error__" : objective);
  const char *const word = json_string_value(failure.json);
  if (word != NULL) {
    out->outcome = outcome_of(kt_errors, word);
    out->detail = word;
    return out->outcome != NULL
               ? SCT_OK
               : sct_json_fail(failure, "expected InvalidConfig, CompilationFailedConfig or "
                                        "RuntimeFailedConfig");
  }
  out->outcome = "ok";
  const sct_json ms = sct_json_member(entry, "time");
  if (!json_is_number(ms.json) || json_number_value(ms.json) < 0) {
    return sct_json_fail(ms, "expected a time in ms, or the word of an error");
  }
  const double mean = json_number_value(ms.json) * MS; /* where there are no samples */
  out->times = (sct_times){.median_ns = mean, .q1_ns = mean, .q3_ns = mean, .min_ns = mean};
  return take_times(sct_json_member(entry, "times"), MS, &out->times);
}

static sct_status kt_entry(foreign *f, const json_t *keys, const char *objective, sct_json entry) {
  if (!json_is_object(entry.json)) {
    return sct_json_fail(entry, "expected an object");
  }
  SCT_OWNED_PTR(json_t) const params = json_object();
  sct_row_outcome outcome = {.measured = timestamp_of(entry.json), SCT_NOT_COUNTED};
  sct_status status = kt_axes(keys, entry, params);
  SCT_THEN(kt_time(entry, objective, &outcome));
  SCT_THEN(put_result(f, params, &outcome, entry.doc->err));
  sct_times_free(&outcome.times);
  return status;
}

/* "4096x1024" and {"x": 4096, "y": 1024} of a number, a list of numbers and words, or a word; "?"
 * where there is none, as in caches of old versions. Words are Kernel Tuner's expressions: no
 * extents. */
static sct_status kt_size(sct_json size, sct_str *label, json_t *extents) {
  static const char *const names[] = {"x", "y", "z"};
  const size_t n = json_is_array(size.json) ? json_array_size(size.json) : 1;
  if (sct_json_absent(size)) {
    sct_str_append(label, "?");
    return SCT_OK;
  }
  for (size_t i = 0; i < n; ++i) {
    const json_t *const value = json_is_array(size.json) ? json_array_get(size.json, i) : size.json;
    const json_int_t number =
        json_is_real(value) ? (json_int_t)json_real_value(value) : json_integer_value(value);
    if (!(json_is_number(value) || json_is_string(value)) || i >= (size_t)SCT_COUNT(names)) {
      return sct_json_fail(size, "expected a number, a list of one to three, or a word");
    }
    sct_str_append(label, i > 0 ? "x" : "");
    if (json_is_string(value)) {
      sct_str_append(label, json_string_length(value) > 0 ? json_string_value(value) : "?");
      continue;
    }
    sct_str_append_int(label, number);
    json_object_set_new(extents, names[i], json_integer(number));
  }
  return n > 0 ? SCT_OK : sct_json_fail(size, "expected a size");
}

static sct_status kt_head(foreign *f, sct_json doc) {
  const sct_json device = sct_json_member(doc, "device_name");
  const sct_json kernel = sct_json_member(doc, "kernel_name");
  f->kernel = json_string_value(kernel.json);
  if (!json_is_string(device.json)) {
    return sct_json_fail(device, "expected a text");
  }
  if (f->kernel == NULL || f->kernel[0] == '\0') {
    return sct_json_fail(kernel, "expected a name");
  }
  SCT_SCOPED(sct_str) size = {0};
  SCT_OWNED_PTR(json_t) const extents = json_object();
  SCT_TRY(kt_size(sct_json_member(doc, "problem_size"), &size, extents));
  return put_head(f, json_string_value(device.json), sct_str_c(&size), extents, doc.doc->err);
}

static sct_status kt_keys(sct_json keys) {
  const json_t *key = NULL;
  size_t i = 0;
  bool good = json_array_size(keys.json) > 0;
  json_array_foreach(keys.json, i, key) {
    good = good && json_is_string(key);
  }
  return good ? SCT_OK : sct_json_fail(keys, "expected a list of names");
}

sct_status sct_store_read_kernel_tuner(sct_store *s, const char *file, sct_json doc) {
  foreign f = {.s = s, .file = file, .tool = "Kernel Tuner", .mark = "kernel-tuner"};
  const sct_json keys = sct_json_member(doc, "tune_params_keys");
  const sct_json cache = sct_json_member(doc, "cache");
  const json_t *const objective = json_object_get(doc.json, "objective");
  const char *word =
      json_string_value(json_is_array(objective) ? json_array_get(objective, 0) : objective);
  const char *key = NULL;
  json_t *entry = NULL;
  SCT_TRY(kt_keys(keys));
  if (!json_is_object(cache.json)) {
    return sct_json_fail(cache, "expected an object");
  }
  SCT_TRY(kt_head(&f, doc));
  json_object_foreach(cache.json, key, entry) {
    SCT_TRY(kt_entry(&f, keys.json, word != NULL ? word : "time", sct_json_member(cache, key)));
  }
  return SCT_OK;
}

/* ---- T4 ---- */

static const outcome_word t4_outcomes[] = {{"correct", "ok"},
                                           {"timeout", "hang"},
                                           {"compile", "compile_error"},
                                           {"runtime", "launch_error"},
                                           {"correctness", "wrong_result"},
                                           {"constraints", "too_large"},
                                           {0}};

static const struct {
  const char *word;
  double ns;
} t4_units[] = {{"miliseconds", 1e6},  {"milliseconds", 1e6}, {"ms", 1e6},
                {"microseconds", 1e3}, {"nanoseconds", 1},    {"seconds", 1e9}};

static sct_status t4_unit(sct_json unit, double *ns) {
  *ns = MS;
  for (int k = 0; json_is_string(unit.json) && k < SCT_COUNT(t4_units); ++k) {
    if (strcmp(json_string_value(unit.json), t4_units[k].word) == 0) {
      *ns = t4_units[k].ns;
      return SCT_OK;
    }
  }
  return unit.json == NULL
             ? SCT_OK
             : sct_json_fail(unit, "expected miliseconds, microseconds, nanoseconds or seconds");
}

static sct_status t4_result(foreign *f, sct_json result, double unit_ns) {
  const sct_json configuration = sct_json_member(result, "configuration");
  const sct_json times = sct_json_member(result, "times");
  const sct_json invalidity = sct_json_member(result, "invalidity");
  const char *const word = json_string_value(invalidity.json);
  sct_row_outcome outcome = {.outcome = outcome_of(t4_outcomes, word),
                             .measured = timestamp_of(result.json),
                             SCT_NOT_COUNTED};
  const char *name = NULL;
  json_t *value = NULL;
  if (!json_is_object(configuration.json)) {
    return sct_json_fail(configuration, "expected an object");
  }
  json_object_foreach(configuration.json, name, value) {
    if (!is_scalar(value)) {
      return sct_json_fail(configuration, "expected numbers, texts or booleans");
    }
  }
  if (!json_is_object(times.json)) {
    return sct_json_fail(times, "expected an object");
  }
  if (outcome.outcome == NULL) {
    return sct_json_fail(invalidity, "expected correct, timeout, compile, runtime, correctness or "
                                     "constraints");
  }
  outcome.detail = sct_row_is_ok(&outcome) ? "" : word;
  sct_status status = take_times(sct_json_member(times, "runtimes"), unit_ns, &outcome.times);
  SCT_THEN(put_result(f, configuration.json, &outcome, result.doc->err));
  sct_times_free(&outcome.times);
  return status;
}

sct_status sct_store_read_t4(sct_store *s, const char *file, sct_json doc) {
  foreign f = {.s = s, .file = file, .tool = "T4 results", .mark = "t4"};
  const sct_json results = sct_json_member(doc, "results");
  double unit_ns = 0;
  if (!json_is_array(results.json)) {
    return sct_json_fail(results, "expected a list");
  }
  SCT_TRY(t4_unit(sct_json_member(sct_json_member(doc, "metadata"), "timeunit"), &unit_ns));
  json_t *const none = json_object();
  f.kernel = sct_path_basename(file); /* the format names neither kernel nor device */
  const sct_status status = put_head(&f, "unknown device", "unknown size", none, doc.doc->err);
  json_decref(none);
  SCT_TRY(status);
  for (size_t i = 0; i < json_array_size(results.json); ++i) {
    SCT_TRY(t4_result(&f, sct_json_item(results, i), unit_ns));
  }
  return SCT_OK;
}
