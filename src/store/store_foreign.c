/* store_foreign - one run in the formats of other tuners: Kernel Tuner's cache, T4 results. */
#include "store/store_json.h"

#include <stdlib.h>
#include <string.h>

typedef struct one_run {
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
static bool take_axes(one_run *r) {
  bool good = json_array_append_new(r->names, json_string(STRATEGY)) == 0;
  for (int i = 0; i < r->n && good; ++i) {
    json_t *axes = json_loads(r->rows[i].candidate.axes, 0, NULL);
    const char *name = NULL;
    json_t *value = NULL;
    r->values[i] = axes != NULL ? axes : json_object();
    json_object_foreach(r->values[i], name, value) {
      if (!has_name(r->names, name)) {
        good = good && json_array_append_new(r->names, json_string(name)) == 0;
      }
    }
    good = good && json_object_set_new(r->values[i], STRATEGY,
                                       sct_store_json_string(r->rows[i].candidate.strategy)) == 0;
  }
  for (int i = 0; i < r->n && good; ++i) {
    const json_t *name = NULL;
    size_t k = 0;
    json_array_foreach(r->names, k, name) {
      if (json_object_get(r->values[i], json_string_value(name)) == NULL) {
        good = good &&
               json_object_set_new(r->values[i], json_string_value(name), json_string(ABSENT)) == 0;
      }
    }
  }
  return good;
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
static bool make_unique(one_run *r) {
  json_t *const seen = json_object();
  bool good = seen != NULL, twice = false;
  for (int i = 0; i < r->n && good && !twice; ++i) {
    sct_str key = {0};
    put_key(&key, r, i);
    twice = json_object_get(seen, sct_str_c(&key)) != NULL;
    good = json_object_set_new(seen, sct_str_c(&key), json_true()) == 0;
    sct_str_free(&key);
  }
  json_decref(seen);
  if (twice) {
    good = good && json_array_append_new(r->names, json_string(CANDIDATE)) == 0;
  }
  for (int i = 0; i < r->n && good && twice; ++i) {
    good = json_object_set_new(r->values[i], CANDIDATE,
                               sct_store_json_string(r->rows[i].candidate.label)) == 0;
  }
  return good;
}

static void close_run(one_run *r) {
  for (int i = 0; r->values != NULL && i < r->n; ++i) {
    json_decref(r->values[i]);
  }
  sct_free(r->values);
  json_decref(r->names);
  sct_store_clear_row(&sct_store_problem_table, &r->problem);
  sct_store_clear_row(&sct_store_device_table, &r->device);
  sct_store_clear_row(&sct_store_run_table, &r->run);
  sct_row_result_free(r->rows, r->n);
}

/* A candidate that ran and was not timed has no place in these formats. */
static void drop_untimed(one_run *r) {
  int kept = 0;
  for (int i = 0; i < r->n; ++i) {
    const sct_row_outcome *const o = &r->rows[i].outcome;
    if (strcmp(o->outcome, "ok") == 0 && o->n_samples == 0 && !(o->median_ns > 0)) {
      sct_row_result_clear(&r->rows[i]);
    } else {
      const sct_row_result row = r->rows[i];
      memset(&r->rows[i], 0, sizeof(row));
      r->rows[kept++] = row;
    }
  }
  r->n = kept;
}

static sct_status open_run(one_run *r, sct_store *s, sct_id run, sct_error *err) {
  *r = (one_run){0};
  SCT_TRY(sct_store_fetch(s, &sct_store_run_table, run, &r->run, err));
  SCT_TRY(sct_store_fetch(s, &sct_store_problem_table, r->run.problem, &r->problem, err));
  SCT_TRY(sct_store_fetch(s, &sct_store_device_table, r->run.device, &r->device, err));
  SCT_TRY(sct_store_results(s, run, true, &r->rows, &r->n, err));
  drop_untimed(r);
  if (r->n == 0) {
    return sct_fail(err, SCT_EDATA, "%s at %s on %s: nothing was timed, so there is nothing to say",
                    r->problem.name, r->run.size_label, r->device.name);
  }
  if (r->n > 0) {
    qsort(r->rows, (size_t)r->n, sizeof(r->rows[0]), by_source);
  }
  r->values = sct_alloc(sizeof(json_t *) * (size_t)(r->n + 1));
  r->names = json_array();
  return take_axes(r) && make_unique(r) ? SCT_OK
                                        : sct_fail(err, SCT_EDATA, "its axes are no object");
}

static void put_json(sct_str *out, const json_t *value) {
  char *const text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
  sct_str_append(out, text != NULL ? text : "null");
  sct_free(text);
}

/* "a":1,"b":2 of the parameters in their order. */
static void put_parameters(sct_str *out, const one_run *r, int i) {
  const json_t *name = NULL;
  size_t k = 0;
  json_array_foreach(r->names, k, name) {
    sct_str_append(out, k > 0 ? "," : "");
    sct_store_json_text(out, json_string_value(name));
    sct_str_append(out, ":");
    put_json(out, json_object_get(r->values[i], json_string_value(name)));
  }
}

static void put_times(sct_str *out, const sct_row_outcome *o, double unit_ns) {
  sct_str_append(out, "[");
  for (int i = 0; i < o->n_samples; ++i) {
    sct_str_append(out, i > 0 ? "," : "");
    sct_store_json_real(out, o->samples_ns[i] / unit_ns);
  }
  sct_str_append(out, "]");
}

#define MS 1e6 /* ns */

static double mean_ms(const sct_row_outcome *o) {
  double sum = 0;
  for (int i = 0; i < o->n_samples; ++i) {
    sum += o->samples_ns[i];
  }
  return o->n_samples > 0 ? sum / o->n_samples / MS : o->median_ns / MS;
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

static void put_size(sct_str *out, const one_run *r) {
  json_t *const extents = json_loads(r->run.extents, 0, NULL);
  const char *name = NULL;
  json_t *value = NULL;
  int n = 0;
  sct_str_append(out, "[");
  json_object_foreach(extents, name, value) {
    sct_str_printf(out, "%s%lld", n++ > 0 ? "," : "", (long long)json_integer_value(value));
  }
  sct_str_append(out, "]");
  json_decref(extents);
}

/* All values that a parameter has, each once. */
static void put_values(sct_str *out, const one_run *r, const char *name) {
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
      (void)json_array_append(list, value);
    }
  }
  put_json(out, list);
  json_decref(list);
}

static void put_kt_head(sct_str *out, const one_run *r) {
  const json_t *name = NULL;
  size_t k = 0;
  sct_str_append(out, "{\n\"device_name\": ");
  sct_store_json_text(out, r->device.name);
  sct_str_append(out, ",\n\"kernel_name\": ");
  sct_store_json_text(out, r->problem.name);
  sct_str_append(out, ",\n\"problem_size\": ");
  put_size(out, r);
  sct_str_append(out, ",\n\"tune_params_keys\": ");
  put_json(out, r->names);
  sct_str_append(out, ",\n\"tune_params\": {");
  json_array_foreach(r->names, k, name) {
    sct_str_append(out, k > 0 ? "," : "");
    sct_store_json_text(out, json_string_value(name));
    sct_str_append(out, ":");
    put_values(out, r, json_string_value(name));
  }
  sct_str_append(out, "},\n\"objective\": [\"time\"],\n\"sectile\": {\"spec_hash\": ");
  sct_store_json_text(out, r->problem.spec_hash);
  sct_str_append(out, ", \"uuid\": ");
  sct_store_json_text(out, r->device.uuid);
  sct_str_append(out, ", \"driver\": ");
  sct_store_json_text(out, r->device.driver);
  sct_str_append(out, ", \"nvrtc\": ");
  sct_store_json_text(out, r->device.nvrtc);
  sct_str_append(out, ", \"size\": ");
  sct_store_json_text(out, r->run.size_label);
  sct_str_append(out, "},\n\"cache\": {");
}

static void put_kt_entry(sct_str *out, const one_run *r, int i) {
  const sct_row_outcome *const o = &r->rows[i].outcome;
  const char *const word = words[words_of(o->outcome)].kernel_tuner;
  sct_str key = {0};
  put_key(&key, r, i);
  sct_str_printf(out, "%s\n", i > 0 ? "," : "");
  sct_store_json_text(out, sct_str_c(&key));
  sct_str_free(&key);
  sct_str_append(out, ": {");
  put_parameters(out, r, i);
  if (word != NULL) {
    sct_str_printf(out, ", \"time\": \"%s\", \"__error__\": \"%s\"", word, word);
  } else {
    sct_str_append(out, ", \"time\": ");
    sct_store_json_real(out, mean_ms(o));
    sct_str_append(out, ", \"times\": ");
    put_times(out, o, MS);
  }
  sct_str_append(out, ", \"timestamp\": ");
  sct_store_json_text(out, o->measured);
  sct_str_append(out, ", \"source_hash\": ");
  sct_store_json_text(out, r->rows[i].candidate.source_hash);
  sct_str_append(out, "}");
}

/* Its reader wants the very end to be brace, newline, brace. */
static void put_kernel_tuner(sct_str *out, const one_run *r) {
  put_kt_head(out, r);
  for (int i = 0; i < r->n; ++i) {
    put_kt_entry(out, r, i);
  }
  sct_str_append(out, "}\n}");
}

/* ---- T4 ---- */

static void put_t4_result(sct_str *out, const one_run *r, int i) {
  const sct_row_outcome *const o = &r->rows[i].outcome;
  const char *const word = words[words_of(o->outcome)].t4;
  const bool good = strcmp(o->outcome, "ok") == 0;
  sct_str_printf(out, "%s\n{\"timestamp\": ", i > 0 ? "," : "");
  sct_store_json_text(out, o->measured);
  sct_str_append(out, ", \"configuration\": {");
  put_parameters(out, r, i);
  sct_str_append(out, "}, \"times\": {\"compilation\": 0, \"compilation_time\": 0, \"runtimes\": ");
  put_times(out, o, MS);
  sct_str_printf(out, "}, \"invalidity\": \"%s\", \"correctness\": %d", word, good ? 1 : 0);
  sct_str_append(out, ", \"objectives\": [\"time\"], \"measurements\": [");
  if (good && (o->n_samples > 0 || o->median_ns > 0)) {
    sct_str_append(out, "{\"name\": \"time\", \"value\": ");
    sct_store_json_real(out, mean_ms(o));
    sct_str_append(out, ", \"unit\": \"ms\"}");
  }
  sct_str_append(out, "]}");
}

static void put_t4(sct_str *out, const one_run *r) {
  sct_str_append(out, "{\"schema_version\": \"1.0.0\",\n\"metadata\": {\"timeunit\": "
                      "\"miliseconds\", \"kernel\": ");
  sct_store_json_text(out, r->problem.name);
  sct_str_append(out, ", \"device\": ");
  sct_store_json_text(out, r->device.name);
  sct_str_append(out, ", \"size\": ");
  sct_store_json_text(out, r->run.size_label);
  sct_str_append(out, "},\n\"results\": [");
  for (int i = 0; i < r->n; ++i) {
    put_t4_result(out, r, i);
  }
  sct_str_append(out, "]}\n");
}

/* ---- both ---- */

static sct_status put_run(sct_store *s, sct_id run, void (*put)(sct_str *out, const one_run *r),
                          sct_str *out, sct_error *err) {
  one_run r;
  sct_status status = open_run(&r, s, run, err);
  if (status == SCT_OK) {
    put(out, &r);
    status = SCT_OK;
  }
  close_run(&r);
  return status;
}

sct_status sct_store_export_kernel_tuner(sct_store *s, sct_id run, sct_str *out, sct_error *err) {
  return put_run(s, run, put_kernel_tuner, out, err);
}

sct_status sct_store_export_t4(sct_store *s, sct_id run, sct_str *out, sct_error *err) {
  return put_run(s, run, put_t4, out, err);
}
