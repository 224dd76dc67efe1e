/* store_import - a file of results or another store, joined to the store in one
 * transaction. Another store is read as its export would be, a problem at a time. */
#include "store/store_json.h"

#include <errno.h>
#include <string.h>

#define FIRST_EXPORT 3 /* the schema of the oldest export that is read */

/* Ids by key of what the document has named so far. */
typedef struct reading {
  sct_store *s;
  int schema;                   /* of the document */
  json_t *devices, *candidates; /* of the current problem */
  sct_id problem;
} reading;

static void remember(json_t *ids, const char *key, sct_id id) {
  json_object_set_new(ids, key, json_integer(id));
}

/* The id that the text `at` stands for. */
static sct_status recall(const json_t *ids, sct_json at, sct_id *out) {
  const char *const key = json_string_value(at.json);
  const json_t *const id = key != NULL ? json_object_get(ids, key) : NULL;
  *out = json_integer_value(id);
  return id != NULL ? SCT_OK : sct_json_fail(at, "expected the key of one of this file");
}

/* Every item of the list `name`. */
static sct_status each(reading *r, sct_json object, const char *name, sct_id run,
                       sct_status (*take)(reading *r, sct_json at, sct_id run)) {
  const sct_json list = sct_json_member(object, name);
  if (!json_is_array(list.json)) {
    return sct_json_fail(list, "expected a list");
  }
  for (size_t i = 0; i < json_array_size(list.json); ++i) {
    SCT_TRY(take(r, sct_json_item(list, i), run));
  }
  return SCT_OK;
}

/* ---- devices, candidates ---- */

static sct_status take_device(reading *r, sct_json at, sct_id none) {
  (void)none;
  sct_row_device row = {0};
  sct_id id = 0;
  SCT_TRY(sct_store_json_take(at, r->schema, &sct_store_device_table, &row));
  SCT_TRY(sct_store_join_row(r->s, &sct_store_device_table, &row, &id, at.doc->err));
  remember(r->devices, row.key, id);
  return SCT_OK;
}

static sct_status take_candidate(reading *r, sct_json at, sct_id none) {
  (void)none;
  sct_row_result row = {0};
  sct_id id = 0;
  SCT_TRY(sct_store_json_take(at, r->schema, &sct_store_candidate_table, &row));
  row.candidate.problem = r->problem;
  SCT_TRY(sct_store_join_row(r->s, &sct_store_candidate_table, &row, &id, at.doc->err));
  remember(r->candidates, row.candidate.source_hash, id);
  return SCT_OK;
}

/* ---- runs ---- */

static sct_status take_outcome(reading *r, sct_json at, sct_id run) {
  sct_row_result row = {0};
  SCT_TRY(sct_store_json_take(at, r->schema, &sct_store_outcome_table, &row));
  SCT_TRY(recall(r->candidates, sct_json_member(at, "candidate"), &row.outcome.candidate));
  row.outcome.run = run;
  return sct_store_join_outcome(r->s, &row, at.doc->err);
}

/* Source hash of the winner or naive variant; "" for null. */
static sct_status take_named(const reading *r, sct_json at, const char **out) {
  sct_id ignored = 0;
  *out = json_is_string(at.json) ? json_string_value(at.json) : "";
  return json_is_null(at.json) ? SCT_OK : recall(r->candidates, at, &ignored);
}

static sct_status join_run(reading *r, sct_json at, sct_row_run *row) {
  const sct_json named = sct_json_member(at, "winner");
  const char *winner = NULL, *naive = NULL;
  bool inserted = false;
  sct_id id = 0;
  SCT_TRY(recall(r->devices, sct_json_member(at, "device"), &row->device));
  SCT_TRY(take_named(r, named, &winner));
  SCT_TRY(take_named(r, sct_json_member(at, "naive"), &naive));
  row->problem = r->problem;
  SCT_TRY(sct_store_join_run(r->s, row, &id, &inserted, at.doc->err));
  SCT_TRY(each(r, at, "outcomes", id, take_outcome));
  SCT_TRY(each(r, at, "earlier", id, take_outcome));
  sct_error why = {0};
  const sct_status status = sct_store_join_end(r->s, id, inserted, row, winner, naive, &why);
  return status == SCT_EDATA ? sct_json_fail(named, "%s", why.text)
         : status == SCT_OK  ? SCT_OK
                             : sct_fail(at.doc->err, status, "%s", why.text);
}

static sct_status take_run(reading *r, sct_json at, sct_id none) {
  (void)none;
  sct_row_run row = {0};
  SCT_TRY(sct_store_json_take(at, r->schema, &sct_store_run_table, &row));
  return join_run(r, at, &row);
}

/* ---- problems ---- */

static sct_status take_problem(reading *r, sct_json at, sct_id none) {
  (void)none;
  sct_row_problem row = {0};
  json_decref(r->candidates);
  r->candidates = json_object();
  SCT_TRY(sct_store_json_take(at, r->schema, &sct_store_problem_table, &row));
  SCT_TRY(sct_store_join_row(r->s, &sct_store_problem_table, &row, &r->problem, at.doc->err));
  SCT_TRY(each(r, at, "candidates", 0, take_candidate));
  return each(r, at, "runs", 0, take_run);
}

static sct_status read_ours(sct_store *s, const char *file, sct_json doc) {
  const json_t *const schema = json_object_get(doc.json, "schema");
  (void)file;
  if (!json_is_integer(schema) || json_integer_value(schema) < FIRST_EXPORT ||
      json_integer_value(schema) > SCT_STORE_SCHEMA) {
    return sct_json_fail(sct_json_member(doc, "schema"), "this version of sectile reads %d to %d",
                         FIRST_EXPORT, SCT_STORE_SCHEMA);
  }
  reading r = {.s = s,
               .schema = (int)json_integer_value(schema),
               .devices = json_object(),
               .candidates = json_object()};
  sct_status status = each(&r, doc, "devices", 0, take_device);
  SCT_THEN(each(&r, doc, "problems", 0, take_problem));
  json_decref(r.devices);
  json_decref(r.candidates);
  return status;
}

/* ---- files ---- */

static const struct {
  const char *key, *value; /* value NULL: any */
  sct_status (*read)(sct_store *s, const char *file, sct_json doc);
} formats[] = {
    {"format", SCT_STORE_FORMAT, read_ours},
    {"tune_params_keys", NULL, sct_store_read_kernel_tuner},
    {"cache", NULL, sct_store_read_kernel_tuner},
    {"results", NULL, sct_store_read_t4},
};

static sct_status read_any(sct_store *s, const char *file, sct_json doc) {
  for (int k = 0; k < SCT_COUNT(formats); ++k) {
    const json_t *const mark = json_object_get(doc.json, formats[k].key);
    const char *const text = json_string_value(mark);
    if (mark != NULL &&
        (formats[k].value == NULL || (text != NULL && strcmp(text, formats[k].value) == 0))) {
      return formats[k].read(s, file, doc);
    }
  }
  return sct_json_fail(doc, "expected an export of sectile (\"format\": \"" SCT_STORE_FORMAT
                            "\"), a cache of Kernel Tuner (\"tune_params_keys\", \"cache\") or T4 "
                            "results (\"results\")");
}

/* A cache of Kernel Tuner that is being written lacks its end: the closing braces, and maybe part
 * of its last line. What stands in whole lines is taken. */
static json_t *parse_open_cache(const sct_str *text) {
  static const char *const ends[] = {"}}", "}"};
  SCT_SCOPED(sct_str) whole = {0};
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
      doc = json_loads(sct_str_c(&whole), JSON_REJECT_DUPLICATES, NULL);
    }
    while (len > 0 && text->data[len - 1] != '\n') { /* the torn line */
      --len;
    }
  }
  if (doc != NULL && !json_is_object(json_object_get(doc, "cache"))) {
    json_decref(doc);
    doc = NULL;
  }
  return doc;
}

/* The caller ends *out, also where it is no document to import. */
static sct_status parse(const char *file, json_t **out, sct_error *err) {
  json_error_t why;
  SCT_SCOPED(sct_str) text = {0};
  SCT_TRY(sct_file_read(&text, file, err));
  *out = NULL;
  if (memchr(sct_str_c(&text), '\0', text.len) != NULL) {
    const bool store = sct_has_prefix(sct_str_c(&text), "SQLite format 3");
    return sct_fail(err, SCT_EDATA, "%s: error: it %s; nothing was imported", file,
                    store ? "is a database, not an export of one: `sectile merge` joins stores"
                          : "has a zero byte: malformed JSON");
  }
  *out = json_loadb(sct_str_c(&text), text.len, JSON_REJECT_DUPLICATES, &why);
  if (*out == NULL && text.len > 0) {
    *out = parse_open_cache(&text);
  }
  sct_str_free(&text);
  if (*out == NULL) {
    return sct_fail(err, SCT_EDATA, "%s:%d:%d: error: %s; nothing was imported", file, why.line,
                    why.column, why.text);
  }
  return json_is_object(*out)
             ? SCT_OK
             : sct_fail(err, SCT_EDATA, "%s:1: error: expected an object; nothing was imported",
                        file);
}

sct_status sct_store_import(sct_store *s, const char *file, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  SCT_OWNED_PTR(json_t) root = NULL;
  SCT_TRY(parse(file, &root, err));
  const char *const before = sct_arena_printf(&arena, "%s: error: ", file);
  const sct_json_doc doc = {&arena, before, "; nothing was imported", SCT_EDATA, err};
  SCT_TRY(sct_store_begin(s, err));
  sct_status status = read_any(s, file, (sct_json){&doc, root, ""});
  SCT_THEN(sct_store_join_counts(s, err));
  return sct_store_end(s, status, err);
}

/* ---- stores ---- */

typedef struct merging {
  reading r;
  const sct_json_doc *doc;
} merging;

static sct_status merge_device(void *ctx, json_t *object, sct_error *err) {
  merging *const m = ctx;
  (void)err;
  return take_device(&m->r, (sct_json){m->doc, object, "a device"}, 0);
}

static sct_status merge_problem(void *ctx, json_t *object, sct_error *err) {
  merging *const m = ctx;
  const char *const name = json_string_value(json_object_get(object, "name"));
  (void)err;
  return take_problem(
      &m->r, (sct_json){m->doc, object, sct_arena_printf(m->doc->arena, "problem '%s'", name)}, 0);
}

static sct_status merge_one(sct_store *to, sct_store *from, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  const sct_json_doc doc = {&arena,
                            sct_arena_printf(&arena, "the store '%s' is damaged: ", from->path),
                            "; nothing was merged", SCT_EDATA, err};
  merging m = {.r = {.s = to,
                     .schema = SCT_STORE_SCHEMA,
                     .devices = json_object(),
                     .candidates = json_object()},
               .doc = &doc};
  const sct_store_reader reader = {&m, merge_device, merge_problem};
  const sct_status status = sct_store_read_all(from, &reader, err);
  json_decref(m.r.devices);
  json_decref(m.r.candidates);
  return status;
}

sct_status sct_store_merge(sct_store *to, sct_store *const *from, int n, sct_error *err) {
  SCT_TRY(sct_store_begin(to, err));
  sct_status status = SCT_OK;
  for (int k = 0; k < n && status == SCT_OK; ++k) {
    status = merge_one(to, from[k], err);
  }
  SCT_THEN(sct_store_join_counts(to, err));
  return sct_store_end(to, status, err);
}
