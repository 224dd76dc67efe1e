/* store_import - what a file of results says, joined to the store in one transaction. */
#include "store/store_json.h"

#include <errno.h>
#include <string.h>

/* Ids by key of what the document has named so far. */
typedef struct reading {
  sct_store *s;
  sct_json_place *at;
  json_t *devices, *candidates; /* of the current problem */
  sct_id problem;
} reading;

static sct_status list_of(const reading *r, const json_t *object, const char *name, json_t **out,
                          sct_error *err) {
  *out = json_object_get(object, name);
  return json_is_array(*out) ? SCT_OK : sct_store_json_fail(r->at, name, "expected a list", err);
}

static void remember(json_t *ids, const char *key, sct_id id) {
  json_object_set_new(ids, key, json_integer(id));
}

/* The id that the text `name` of an object stands for; 0 with `optional` for null. */
static sct_status recall(const reading *r, const json_t *ids, const json_t *object,
                         const char *name, sct_id *out, sct_error *err) {
  const char *const key = json_string_value(json_object_get(object, name));
  const json_t *const id = key != NULL ? json_object_get(ids, key) : NULL;
  *out = json_integer_value(id);
  return id != NULL ? SCT_OK
                    : sct_store_json_fail(r->at, name, "expected the key of one of this file", err);
}

/* ---- devices, candidates ---- */

static sct_status take_device(reading *r, const json_t *object, sct_error *err) {
  sct_row_device row = {0};
  sct_id id = 0;
  sct_status status = sct_store_json_take(r->at, &sct_store_device_table, object, &row, err);
  if (status == SCT_OK) {
    status = sct_store_join_row(r->s, &sct_store_device_table, &row, &id, err);
  }
  if (status == SCT_OK) {
    remember(r->devices, row.key, id);
  }
  sct_store_clear_row(&sct_store_device_table, &row);
  return status;
}

static sct_status take_candidate(reading *r, const json_t *object, sct_error *err) {
  sct_row_result row = {0};
  sct_id id = 0;
  sct_status status = sct_store_json_take(r->at, &sct_store_candidate_table, object, &row, err);
  if (status == SCT_OK) {
    row.candidate.problem = r->problem;
    status = sct_store_join_row(r->s, &sct_store_candidate_table, &row, &id, err);
  }
  if (status == SCT_OK) {
    remember(r->candidates, row.candidate.source_hash, id);
  }
  sct_store_clear_row(&sct_store_candidate_table, &row);
  return status;
}

/* ---- runs ---- */

static sct_status take_outcome(reading *r, const json_t *object, sct_id run, sct_error *err) {
  sct_row_result row = {0};
  sct_status status = sct_store_json_take(r->at, &sct_store_outcome_table, object, &row, err);
  if (status == SCT_OK) {
    status = recall(r, r->candidates, object, "candidate", &row.outcome.candidate, err);
  }
  if (status == SCT_OK) {
    row.outcome.run = run;
    status = sct_store_join_outcome(r->s, &row, err);
  }
  sct_store_clear_row(&sct_store_outcome_table, &row);
  return status;
}

static sct_status take_outcomes(reading *r, const json_t *object, const char *name, sct_id run,
                                sct_error *err) {
  json_t *list = NULL, *outcome = NULL;
  size_t i = 0;
  SCT_TRY(list_of(r, object, name, &list, err));
  json_array_foreach(list, i, outcome) {
    sct_store_json_enter(r->at, name, i);
    SCT_TRY(take_outcome(r, outcome, run, err));
    sct_store_json_leave(r->at);
  }
  return SCT_OK;
}

/* Source hash of the winner or naive variant; "" for null. */
static sct_status take_named(const reading *r, const json_t *object, const char *name,
                             const char **out, sct_error *err) {
  const json_t *const value = json_object_get(object, name);
  sct_id ignored = 0;
  *out = json_is_string(value) ? json_string_value(value) : "";
  return json_is_null(value) ? SCT_OK : recall(r, r->candidates, object, name, &ignored, err);
}

static sct_status join_run(reading *r, const json_t *object, sct_row_run *row, sct_error *err) {
  const char *winner = NULL, *naive = NULL;
  bool inserted = false;
  sct_id id = 0;
  SCT_TRY(recall(r, r->devices, object, "device", &row->device, err));
  SCT_TRY(take_named(r, object, "winner", &winner, err));
  SCT_TRY(take_named(r, object, "naive", &naive, err));
  row->problem = r->problem;
  SCT_TRY(sct_store_join_run(r->s, row, &id, &inserted, err));
  SCT_TRY(take_outcomes(r, object, "outcomes", id, err));
  SCT_TRY(take_outcomes(r, object, "earlier", id, err));
  sct_error why = {0};
  const sct_status status = sct_store_join_end(r->s, id, inserted, row, winner, naive, &why);
  return status == SCT_EDATA ? sct_store_json_fail(r->at, "winner", why.text, err)
         : status == SCT_OK  ? SCT_OK
                             : sct_fail(err, status, "%s", why.text);
}

static sct_status take_run(reading *r, const json_t *object, sct_error *err) {
  sct_row_run row = {0};
  sct_status status = sct_store_json_take(r->at, &sct_store_run_table, object, &row, err);
  if (status == SCT_OK) {
    status = join_run(r, object, &row, err);
  }
  sct_store_clear_row(&sct_store_run_table, &row);
  return status;
}

/* ---- problems ---- */

static sct_status each(reading *r, const json_t *object, const char *name,
                       sct_status (*take)(reading *r, const json_t *object, sct_error *err),
                       sct_error *err) {
  json_t *list = NULL, *item = NULL;
  size_t i = 0;
  SCT_TRY(list_of(r, object, name, &list, err));
  json_array_foreach(list, i, item) {
    sct_store_json_enter(r->at, name, i);
    SCT_TRY(take(r, item, err));
    sct_store_json_leave(r->at);
  }
  return SCT_OK;
}

static sct_status take_problem(reading *r, const json_t *object, sct_error *err) {
  sct_row_problem row = {0};
  json_decref(r->candidates);
  r->candidates = json_object();
  sct_status status = sct_store_json_take(r->at, &sct_store_problem_table, object, &row, err);
  if (status == SCT_OK) {
    status = sct_store_join_row(r->s, &sct_store_problem_table, &row, &r->problem, err);
  }
  sct_store_clear_row(&sct_store_problem_table, &row);
  SCT_TRY(status);
  SCT_TRY(each(r, object, "candidates", take_candidate, err));
  return each(r, object, "runs", take_run, err);
}

static sct_status read_ours(sct_store *s, sct_json_place *at, const json_t *doc, sct_error *err) {
  const json_t *const schema = json_object_get(doc, "schema");
  if (!json_is_integer(schema) || json_integer_value(schema) != SCT_STORE_SCHEMA) {
    return sct_store_json_fail(at, "schema", "this version of sectile reads 3", err);
  }
  reading r = {.s = s, .at = at, .devices = json_object(), .candidates = json_object()};
  sct_status status = each(&r, doc, "devices", take_device, err);
  if (status == SCT_OK) {
    status = each(&r, doc, "problems", take_problem, err);
  }
  json_decref(r.devices);
  json_decref(r.candidates);
  return status;
}

/* ---- files ---- */

static const struct {
  const char *key, *value; /* value NULL: any */
  sct_status (*read)(sct_store *s, sct_json_place *at, const json_t *doc, sct_error *err);
} formats[] = {
    {"format", SCT_STORE_FORMAT, read_ours},
    {"tune_params_keys", NULL, sct_store_read_kernel_tuner},
    {"cache", NULL, sct_store_read_kernel_tuner},
    {"results", NULL, sct_store_read_t4},
};

static sct_status read_any(sct_store *s, sct_json_place *at, const json_t *doc, sct_error *err) {
  for (int k = 0; k < SCT_COUNT(formats); ++k) {
    const json_t *const mark = json_object_get(doc, formats[k].key);
    const char *const text = json_string_value(mark);
    if (mark != NULL &&
        (formats[k].value == NULL || (text != NULL && strcmp(text, formats[k].value) == 0))) {
      return formats[k].read(s, at, doc, err);
    }
  }
  return sct_store_json_fail(at, NULL,
                             "expected an export of sectile (\"format\": \"" SCT_STORE_FORMAT
                             "\"), a cache of Kernel Tuner (\"tune_params_keys\", \"cache\") or T4 "
                             "results (\"results\")",
                             err);
}

static sct_status parse_fail(const char *file, const json_error_t *why, sct_error *err) {
  return sct_fail(err, SCT_EDATA, "%s:%d:%d: error: %s; nothing was imported", file, why->line,
                  why->column, why->text);
}

/* A cache of Kernel Tuner that is being written lacks its end: the closing braces, and maybe part
 * of its last line. What stands in whole lines is taken. */
static json_t *parse_open_cache(const sct_str *text, json_error_t *why) {
  static const char *const ends[] = {"}}", "}"};
  sct_str whole = {0};
  json_t *doc = NULL;
  size_t len = text->len;
  for (int cut = 0; cut < 2 && doc == NULL; ++cut) {
    while (len > 0 && strchr(" \t\r\n,", text->data[len - 1]) != NULL) {
      --len;
    }
    for (int k = 0; k < SCT_COUNT(ends) && doc == NULL; ++k) {
      sct_str_clear(&whole);
      sct_str_append_n(&whole, text->data, len);
      sct_str_append(&whole, ends[k]);
      json_error_t ignored;
      doc = json_loads(sct_str_c(&whole), JSON_REJECT_DUPLICATES, &ignored);
    }
    while (len > 0 && text->data[len - 1] != '\n') { /* the torn line */
      --len;
    }
  }
  (void)why;
  sct_str_free(&whole);
  if (doc != NULL && !json_is_object(json_object_get(doc, "cache"))) {
    json_decref(doc);
    doc = NULL;
  }
  return doc;
}

static sct_status parse(const char *file, json_t **out, sct_error *err) {
  json_error_t why;
  sct_str text = {0};
  SCT_TRY(sct_file_read(&text, file, err));
  *out = NULL;
  if (memchr(sct_str_c(&text), '\0', text.len) != NULL) {
    const bool store = sct_has_prefix(sct_str_c(&text), "SQLite format 3");
    sct_str_free(&text);
    return sct_fail(err, SCT_EDATA, "%s: error: it %s; nothing was imported", file,
                    store ? "is a database, not an export of one: `sectile merge` joins stores"
                          : "has a zero byte, so it is no JSON");
  }
  *out = json_loadb(sct_str_c(&text), text.len, JSON_REJECT_DUPLICATES, &why);
  if (*out == NULL && text.len > 0) {
    *out = parse_open_cache(&text, &why);
  }
  sct_str_free(&text);
  if (*out == NULL) {
    return parse_fail(file, &why, err);
  }
  if (!json_is_object(*out)) {
    json_decref(*out);
    return sct_fail(err, SCT_EDATA, "%s:1: error: expected an object; nothing was imported", file);
  }
  return SCT_OK;
}

sct_status sct_store_import(sct_store *s, const char *file, sct_error *err) {
  json_t *doc = NULL;
  sct_json_place at = {.file = file};
  SCT_TRY(parse(file, &doc, err));
  sct_status status = sct_store_begin(s, err);
  if (status == SCT_OK) {
    status = sct_store_end(s, read_any(s, &at, doc, err), err);
  }
  json_decref(doc);
  return status;
}
