/* store_foreign - one run in the formats of other tuners: Kernel Tuner's cache, T4 results. */
#include "store/store_json.h"

#include <stdlib.h>
#include <string.h>

typedef struct one_run {
  sct_arena arena; /* of the rows */
  sct_row_problem problem;
  sct_row_device device;
  sct_row_run run;
  sct_row_result *rows;
  int n;
  json_t *names;   /* the parameters, in order */
  json_t **values; /* [n]: a row's, an object */
} one_run;

#define STRATEGY  "strategy"
#define CANDIDATE "candidate"
#define ABSENT    "-" /* a parameter that the strategy does not have */

static int by_source(const void *a, const void *b) {
  return strcmp(((const sct_row_result *)a)->candidate.source_hash,
                ((const sct_row_result *)b)->candidate.source_hash);
}

static bool has_name(const json_t *names, const char *name) {
  const json_t *known = NULL;
  size_t i = 0;
  json_array_foreach(names, i, known) {
    if (strcmp(json_string_value(known), name) == 0) {
      return true;
    }
  }
  return false;
}

/* Strategies have axes of their own: the parameters are those of all, and a value says that there
 * is none. */
static void take_axes(one_run *r) {
  const json_t *known = NULL;
  size_t k = 0;
  json_array_append_new(r->names, json_string(STRATEGY));
  for (int i = 0; i < r->n; ++i) {
    const char *name = NULL;
    json_t *value = NULL;
    r->values[i] = sct_json_load(r->rows[i].candidate.axes);
    r->values[i] = r->values[i] != NULL ? r->values[i] : json_object();
    json_object_foreach(r->values[i], name, value) {
      if (!has_name(r->names, name)) {
        json_array_append_new(r->names, json_string(name));
      }
    }
    json_object_set_new(r->values[i], STRATEGY, sct_json_string(r->rows[i].candidate.strategy));
  }
  for (int i = 0; i < r->n; ++i) {
    json_array_foreach(r->names, k, known) {
      if (json_object_get(r->values[i], json_string_value(known)) == NULL) {
        json_object_set_new(r->values[i], json_string_value(known), json_string(ABSENT));
      }
    }
  }
}

/* A value as Python's str() writes it. */
static void put_python(sct_str *out, const json_t *value) {
  if (json_is_string(value)) {
    sct_str_append(out, json_string_value(value));
  } else if (json_is_boolean(value)) {
    sct_str_append(out, json_is_true(value) ? "True" : "False");
  } else if (json_is_integer(value)) {
    sct_str_printf(out, "%lld", (long long)json_integer_value(value));
  } else {
    sct_str_printf(out, "%.15g", json_number_value(value));
  }
}

static void put_key(sct_str *out, const one_run *r, int i) {
  const json_t *name = NULL;
  size_t k = 0;
  json_array_foreach(r->names, k, name) {
    sct_str_append(out, k > 0 ? "," : "");
    put_python(out, json_object_get(r->values[i], json_string_value(name)));
  }
}

/* Candidates may differ in what is no axis, such as layouts: then the label is one more. */
static void make_unique(one_run *r) {
  json_t *const seen = json_object();
  bool twice = false;
  for (int i = 0; i < r->n && !twice; ++i) {
    SCT_SCOPED(sct_str) key = {0};
    put_key(&key, r, i);
    twice = json_object_get(seen, sct_str_c(&key)) != NULL;
    json_object_set_new(seen, sct_str_c(&key), json_true());
  }
  json_decref(seen);
  if (twice) {
    json_array_append_new(r->names, json_string(CANDIDATE));
  }
  for (int i = 0; i < r->n && twice; ++i) {
    json_object_set_new(r->values[i], CANDIDATE, sct_json_string(r->rows[i].candidate.label));
  }
}

static void close_run(one_run *r) {
  for (int i = 0; r->values != NULL && i < r->n; ++i) {
    json_decref(r->values[i]);
  }
  sct_free(r->values);
  json_decref(r->names);
  sct_arena_free(&r->arena);
}

/* A candidate that ran and was not timed has no place in these formats. */
static void drop_untimed(one_run *r) {
  int kept = 0;
  for (int i = 0; i < r->n; ++i) {
    const sct_row_outcome *const o = &r->rows[i].outcome;
    if (strcmp(o->outcome, "ok") != 0 || o->n_samples > 0 || o->median_ns > 0) {
      r->rows[kept++] = r->rows[i];
    }
  }
  r->n = kept;
}

static sct_status open_run(one_run *r, sct_store *s, sct_id run, sct_error *err) {
  *r = (one_run){0};
  SCT_TRY(sct_store_fetch(s, &r->arena, &sct_store_run_table, run, &r->run, err));
  SCT_TRY(
      sct_store_fetch(s, &r->arena, &sct_store_problem_table, r->run.problem, &r->problem, err));
  SCT_TRY(sct_store_fetch(s, &r->arena, &sct_store_device_table, r->run.device, &r->device, err));
  SCT_TRY(sct_store_results(s, &r->arena, run, true, &r->rows, &r->n, err));
  drop_untimed(r);
  if (r->n == 0) {
    return sct_fail(err, SCT_EDATA, "%s at %s on %s: nothing was timed, so there is nothing to say",
                    r->problem.name, r->run.size_label, r->device.name);
  }
  qsort(r->rows, (size_t)r->n, sizeof(r->rows[0]), by_source);
  r->values = sct_alloc(sizeof(json_t *) * (size_t)(r->n + 1));
  r->names = json_array();
  take_axes(r);
  make_unique(r);
  return SCT_OK;
}

static json_t *parameters_of(const one_run *r, int i) {
  json_t *const object = json_object();
  const json_t *name = NULL;
  size_t k = 0;
  json_array_foreach(r->names, k, name) {
    const char *const key = json_string_value(name);
    json_object_set(object, key, json_object_get(r->values[i], key));
  }
  return object;
}

static json_t *times_of(const sct_row_outcome *o, double unit_ns) {
  json_t *const list = json_array();
  for (int i = 0; i < o->n_samples; ++i) {
    json_array_append_new(list, sct_json_number(o->samples_ns[i] / unit_ns));
  }
  return list;
}

#define MS 1e6 /* ns */

static double mean_ms(const sct_row_outcome *o) {
  double sum = 0;
  for (int i = 0; i < o->n_samples; ++i) {
    sum += o->samples_ns[i];
  }
  return o->n_samples > 0 ? sum / o->n_samples / MS : o->median_ns / MS;
}

/* What its samples took on the device. */
static double benchmark_ms(const sct_row_outcome *o) {
  return mean_ms(o) * o->n_samples * (double)(o->launches > 1 ? o->launches : 1);
}

/* Both formats have a time for each part of a candidate's evaluation. Sectile compiles and checks
 * in batches next to the measuring and stores no time of these: 0. */
static void put_parts(json_t *times, const sct_row_outcome *o, const char *const names[4],
                      const char *benchmark) {
  for (int k = 0; k < 4; ++k) {
    json_object_set_new(times, names[k], json_real(0));
  }
  json_object_set_new(times, benchmark, sct_json_number(benchmark_ms(o)));
}

/* What our outcomes are called elsewhere; any other is the last row. */
static const struct {
  const char *outcome, *kernel_tuner, *t4;
} words[] = {
    {"ok", NULL, "correct"},
    {"render_error", "InvalidConfig", "constraints"},
    {"too_large", "InvalidConfig", "constraints"},
    {"spills", "InvalidConfig", "constraints"},
    {"compile_error", "CompilationFailedConfig", "compile"},
    {"hang", "RuntimeFailedConfig", "timeout"},
    {"wrong_result", "RuntimeFailedConfig", "correctness"},
    {"not_written", "RuntimeFailedConfig", "correctness"},
    {"input_changed", "RuntimeFailedConfig", "correctness"},
    {"race", "RuntimeFailedConfig", "correctness"},
    {NULL, "RuntimeFailedConfig", "runtime"},
};

static int words_of(const char *outcome) {
  int k = 0;
  while (words[k].outcome != NULL && strcmp(words[k].outcome, outcome) != 0) {
    ++k;
  }
  return k;
}

/* ---- Kernel Tuner ---- */

static json_t *size_of(const one_run *r) {
  json_t *const extents = sct_json_load(r->run.extents), *const list = json_array();
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(extents, name, value) {
    json_array_append(list, value);
  }
  json_decref(extents);
  return list;
}

/* All values that a parameter has, each once. */
static json_t *values_of(const one_run *r, const char *name) {
  json_t *const list = json_array();
  for (int i = 0; i < r->n; ++i) {
    json_t *const value = json_object_get(r->values[i], name);
    const json_t *known = NULL;
    size_t k = 0;
    bool there = false;
    json_array_foreach(list, k, known) {
      there = there || json_equal(known, value) == 1;
    }
    if (!there) {
      json_array_append(list, value);
    }
  }
  return list;
}

static json_t *kernel_tuner_entry(const one_run *r, int i) {
  const sct_row_outcome *const o = &r->rows[i].outcome;
  const char *const word = words[words_of(o->outcome)].kernel_tuner;
  json_t *const entry = parameters_of(r, i);
  if (word != NULL) {
    json_object_set_new(entry, "time", json_string(word));
    json_object_set_new(entry, "__error__", json_string(word));
  } else {
    json_object_set_new(entry, "time", sct_json_number(mean_ms(o)));
    json_object_set_new(entry, "times", times_of(o, MS));
  }
  static const char *const parts[] = {"compile_time", "verification_time", "strategy_time",
                                      "framework_time"};
  put_parts(entry, o, parts, "benchmark_time");
  json_object_set_new(entry, "timestamp", sct_json_string(o->measured));
  json_object_set_new(entry, "source_hash", sct_json_string(r->rows[i].candidate.source_hash));
  return entry;
}

static json_t *kernel_tuner(const one_run *r) {
  json_t *const params = json_object(), *const cache = json_object();
  const json_t *name = NULL;
  size_t k = 0;
  json_array_foreach(r->names, k, name) {
    json_object_set_new(params, json_string_value(name), values_of(r, json_string_value(name)));
  }
  for (int i = 0; i < r->n; ++i) {
    SCT_SCOPED(sct_str) key = {0};
    put_key(&key, r, i);
    json_object_set_new(cache, sct_str_c(&key), kernel_tuner_entry(r, i));
  }
  json_t *const ours = json_pack(
      "{s:o, s:o, s:o, s:o, s:o}", "spec_hash", sct_json_string(r->problem.spec_hash), "uuid",
      sct_json_string(r->device.uuid), "driver", sct_json_string(r->device.driver), "nvrtc",
      sct_json_string(r->device.nvrtc), "size", sct_json_string(r->run.size_label));
  return json_pack("{s:o, s:o, s:o, s:O, s:o, s:[s], s:o, s:o}", "device_name",
                   sct_json_string(r->device.name), "kernel_name", sct_json_string(r->problem.name),
                   "problem_size", size_of(r), "tune_params_keys", r->names, "tune_params", params,
                   "objective", "time", "sectile", ours, "cache", cache);
}

/* ---- T4 ---- */

static json_t *t4_result(const one_run *r, int i) {
  const sct_row_outcome *const o = &r->rows[i].outcome;
  const bool good = strcmp(o->outcome, "ok") == 0;
  json_t *const measurements = json_array();
  if (good && (o->n_samples > 0 || o->median_ns > 0)) {
    json_array_append_new(measurements, json_pack("{s:s, s:o, s:s}", "name", "time", "value",
                                                  sct_json_number(mean_ms(o)), "unit", "ms"));
  }
  static const char *const parts[] = {"compilation", "validation", "search_algorithm", "framework"};
  json_t *const times = json_pack("{s:o}", "runtimes", times_of(o, MS));
  put_parts(times, o, parts, "benchmark");
  return json_pack("{s:o, s:o, s:o, s:s, s:i, s:[s], s:o}", "timestamp",
                   sct_json_string(o->measured), "configuration", parameters_of(r, i), "times",
                   times, "invalidity", words[words_of(o->outcome)].t4, "correctness", good ? 1 : 0,
                   "objectives", "time", "measurements", measurements);
}

static json_t *t4(const one_run *r) {
  json_t *const results = json_array();
  for (int i = 0; i < r->n; ++i) {
    json_array_append_new(results, t4_result(r, i));
  }
  return json_pack("{s:s, s:{s:s, s:o, s:o, s:o}, s:o}", "schema_version", "1.0.0", "metadata",
                   "timeunit", "milliseconds", "kernel", sct_json_string(r->problem.name), "device",
                   sct_json_string(r->device.name), "size", sct_json_string(r->run.size_label),
                   "results", results);
}

/* ---- both ---- */

static sct_status put_run(sct_store *s, sct_id run, json_t *(*document)(const one_run *r),
                          sct_str *out, sct_error *err) {
  one_run r;
  sct_status status = open_run(&r, s, run, err);
  if (status == SCT_OK) { /* Kernel Tuner wants the very end to be brace, newline, brace */
    status = sct_json_dump(out, document(&r), JSON_INDENT(1), err);
  }
  close_run(&r);
  return status;
}

sct_status sct_store_export_kernel_tuner(sct_store *s, sct_id run, sct_str *out, sct_error *err) {
  return put_run(s, run, kernel_tuner, out, err);
}

sct_status sct_store_export_t4(sct_store *s, sct_id run, sct_str *out, sct_error *err) {
  return put_run(s, run, t4, out, err);
}
