/* store_export - the whole store as text, and one run as a document. */
#include "store/store_json.h"

#include <stdlib.h>
#include <string.h>

/* Keys of devices and source hashes of outcomes, which rows name. */
typedef struct export {
  sct_store *s;
  const sct_store_reader *reader;
  sct_arena *arena; /* of the whole */
  sct_row_device *devices;
  int n_devices;
}
export;

static int by_spec(const void *a, const void *b) {
  return strcmp(((const sct_row_problem *)a)->spec_hash, ((const sct_row_problem *)b)->spec_hash);
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const sct_row_device *)a)->key, ((const sct_row_device *)b)->key);
}

static int by_source(const void *a, const void *b) {
  const sct_row_result *const x = a, *const y = b;
  const int order = strcmp(x->candidate.source_hash, y->candidate.source_hash);
  if (order != 0 || x->outcome.content == NULL || y->outcome.content == NULL) {
    return order;
  }
  return strcmp(x->outcome.content, y->outcome.content);
}

static const char *key_of(const export *e, sct_id device) {
  const sct_row_device *known = sct_row_device_find(e->devices, e->n_devices, device);
  return known != NULL ? known->key : "";
}

static const char *source_of(const sct_row_result *rows, int n, sct_id outcome) {
  for (int i = 0; i < n; ++i) {
    if (rows[i].outcome.id == outcome) {
      return rows[i].candidate.source_hash;
    }
  }
  return "";
}

static json_t *key_or_null(const char *key) {
  return key[0] != '\0' ? sct_json_string(key) : json_null();
}

static json_t *outcomes_json(sct_row_result *rows, int n) {
  json_t *const list = json_array();
  if (n > 0) {
    qsort(rows, (size_t)n, sizeof(rows[0]), by_source);
  }
  for (int i = 0; i < n; ++i) {
    json_t *const object =
        json_pack("{s:o}", "candidate", key_or_null(rows[i].candidate.source_hash));
    sct_store_json_row(object, &sct_store_outcome_table, &rows[i]);
    json_array_append_new(list, object);
  }
  return list;
}

static sct_status add_run(const export *e, sct_arena *arena, json_t *list, const sct_row_run *run,
                          sct_error *err) {
  sct_row_result *rows = NULL, *earlier = NULL;
  int n = 0, n_earlier = 0;
  SCT_TRY(sct_store_results(e->s, arena, run->id, true, &rows, &n, err));
  SCT_TRY(sct_store_earlier(e->s, arena, run->id, &earlier, &n_earlier, err));
  json_t *const object = json_pack("{s:o, s:o, s:o}", "device", key_or_null(key_of(e, run->device)),
                                   "winner", key_or_null(source_of(rows, n, run->winner)), "naive",
                                   key_or_null(source_of(rows, n, run->naive)));
  sct_store_json_row(object, &sct_store_run_table, run);
  json_object_set_new(object, "outcomes", outcomes_json(rows, n));
  json_object_set_new(object, "earlier", outcomes_json(earlier, n_earlier));
  json_array_append_new(list, object);
  return SCT_OK;
}

static int compare_runs(const void *a, const void *b, void *ctx) {
  const sct_row_run *const x = a, *const y = b;
  const int order = strcmp(key_of(ctx, x->device), key_of(ctx, y->device));
  return order != 0 ? order : strcmp(x->size_label, y->size_label);
}

static sct_status add_runs(export *e, json_t *object, sct_id problem, sct_error *err) {
  sct_row_run *runs = NULL;
  int n = 0;
  SCT_TRY(sct_store_all_runs(e->s, e->arena, problem, &runs, &n, err));
  if (n > 0) {
    qsort_r(runs, (size_t)n, sizeof(runs[0]), compare_runs, e);
  }
  json_t *const list = json_array();
  sct_status status = SCT_OK;
  for (int i = 0; i < n && status == SCT_OK; ++i) {
    SCT_SCOPED(sct_arena) arena = {0};
    status = add_run(e, &arena, list, &runs[i], err);
  }
  json_object_set_new(object, "runs", list);
  return status;
}

static json_t *row_json(const sct_store_table *table, const void *row) {
  json_t *const object = json_object();
  sct_store_json_row(object, table, row);
  return object;
}

static sct_status add_candidates(export *e, json_t *object, sct_id problem, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  sct_row_result *rows = NULL;
  int n = 0;
  const sct_status status = sct_store_candidates(e->s, &arena, problem, &rows, &n, err);
  json_t *const list = json_array();
  for (int i = 0; i < n && status == SCT_OK; ++i) {
    json_array_append_new(list, row_json(&sct_store_candidate_table, &rows[i]));
  }
  json_object_set_new(object, "candidates", list);
  return status;
}

static sct_status put_problem(export *e, const sct_row_problem *problem, sct_error *err) {
  SCT_OWNED_PTR(json_t) const object = row_json(&sct_store_problem_table, problem);
  SCT_TRY(add_candidates(e, object, problem->id, err));
  SCT_TRY(add_runs(e, object, problem->id, err));
  return e->reader->problem(e->reader->ctx, object, err);
}

static sct_status put_all(export *e, sct_error *err) {
  sct_row_problem *problems = NULL;
  int n = 0;
  SCT_TRY(sct_store_devices(e->s, e->arena, &e->devices, &e->n_devices, err));
  SCT_TRY(sct_store_problems(e->s, e->arena, &problems, &n, err));
  sct_status status = SCT_OK;
  if (e->n_devices > 0) {
    qsort(e->devices, (size_t)e->n_devices, sizeof(e->devices[0]), by_key);
  }
  if (n > 0) {
    qsort(problems, (size_t)n, sizeof(problems[0]), by_spec);
  }
  for (int i = 0; i < e->n_devices && status == SCT_OK; ++i) {
    SCT_OWNED_PTR(json_t) const object = row_json(&sct_store_device_table, &e->devices[i]);
    status = e->reader->device(e->reader->ctx, object, err);
  }
  for (int i = 0; i < n && status == SCT_OK; ++i) {
    status = put_problem(e, &problems[i], err);
  }
  return status;
}

sct_status sct_store_read_all(sct_store *s, const sct_store_reader *reader, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  export e = {.s = s, .reader = reader, .arena = &arena};
  SCT_TRY(sct_store_exec(s, "BEGIN", err)); /* all of it as of one moment */
  sct_status status =
      sct_store_check_references(s, err); /* joins leave out what refers to nothing */
  SCT_THEN(put_all(&e, err));
  sct_store_end_read(s);
  return status;
}

/* ---- one run ---- */

/* The members of an object in the order of its text, which tables of Lua do not keep: with their
 * names, or their values alone. */
static json_t *members_json(const char *text, bool named) {
  SCT_OWNED_PTR(json_t) object = sct_json_load(text);
  json_t *list = json_array();
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(object, name, value) {
    json_array_append_new(list, named ? json_pack("[s, O]", name, value) : json_incref(value));
  }
  return list;
}

/* Formats of other tuners have no place for a candidate that ran and was not timed. */
static json_t *timed_json(sct_row_result *rows, int n) {
  json_t *const list = json_array();
  if (n > 0) {
    qsort(rows, (size_t)n, sizeof(rows[0]), by_source);
  }
  for (int i = 0; i < n; ++i) {
    const sct_row_outcome *const o = &rows[i].outcome;
    if (!sct_row_is_ok(o) || o->times.n_samples > 0 || o->times.median_ns > 0) {
      json_t *const object = row_json(&sct_store_candidate_table, &rows[i]);
      sct_store_json_row(object, &sct_store_outcome_table, &rows[i]);
      json_object_set_new(object, "axes", members_json(rows[i].candidate.axes, true));
      json_array_append_new(list, object);
    }
  }
  return list;
}

sct_status sct_store_run_json(json_t **out, sct_store *s, sct_id id, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  sct_row_run run;
  sct_row_problem problem;
  sct_row_device device;
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_fetch(s, &arena, &sct_store_run_table, id, &run, err));
  SCT_TRY(sct_store_fetch(s, &arena, &sct_store_problem_table, run.problem, &problem, err));
  SCT_TRY(sct_store_fetch(s, &arena, &sct_store_device_table, run.device, &device, err));
  SCT_TRY(sct_store_results(s, &arena, id, true, &rows, &n, err));
  json_t *const timed = timed_json(rows, n);
  if (json_array_size(timed) == 0) {
    json_decref(timed);
    return sct_fail(err, SCT_EDATA, "%s at %s on %s: nothing was timed, so there is nothing to say",
                    problem.name, run.size_label, device.name);
  }
  *out = json_pack("{s:o, s:o, s:o, s:o, s:o}", "problem",
                   row_json(&sct_store_problem_table, &problem), "device",
                   row_json(&sct_store_device_table, &device), "run",
                   row_json(&sct_store_run_table, &run), "extents",
                   members_json(run.extents, false), "rows", timed);
  return SCT_OK;
}

/* ---- the whole store ---- */

static sct_status list_device(void *ctx, json_t *object, sct_error *err) {
  (void)err;
  json_array_append(json_object_get(ctx, "devices"), object);
  return SCT_OK;
}

static sct_status list_problem(void *ctx, json_t *object, sct_error *err) {
  (void)err;
  json_array_append(json_object_get(ctx, "problems"), object);
  return SCT_OK;
}

sct_status sct_store_export(sct_store *s, sct_str *out, sct_error *err) {
  json_t *const doc = json_pack("{s:s, s:i, s:[], s:[]}", "format", SCT_STORE_FORMAT, "schema",
                                SCT_STORE_SCHEMA, "devices", "problems");
  const sct_store_reader reader = {doc, list_device, list_problem};
  const sct_status status = sct_store_read_all(s, &reader, err);
  if (status != SCT_OK) {
    json_decref(doc);
    return status;
  }
  SCT_TRY(sct_json_dump(out, doc, JSON_INDENT(1) | JSON_COMPACT, err));
  sct_str_append(out, "\n");
  return SCT_OK;
}
