/* store_json - the whole store as one JSON document, and rows out of such a document.
 *
 * Rows refer to each other by their keys, and stand in the order of their keys, so equal contents
 * are equal bytes, whatever order they were put in. */
#include "store/store_json.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- writing ---- */

static json_t *samples_of(const double *samples, int n) {
  json_t *const list = json_array();
  for (int i = 0; i < n; ++i) {
    json_array_append_new(list, sct_json_number(samples[i]));
  }
  return list;
}

static json_t *value_of(const sct_store_column *c, const void *row) {
  const void *const field = (const char *)row + c->offset;
  switch (c->kind) {
  case SCT_COLUMN_TEXT:
  case SCT_COLUMN_JSON: {
    const char *const text = *(char *const *)field;
    return sct_json_string(text != NULL ? text : "");
  }
  case SCT_COLUMN_INT:
  case SCT_COLUMN_INT64:
    return json_integer(sct_store_integer(c, row));
  case SCT_COLUMN_BOOL:
    return json_boolean(sct_store_integer(c, row) != 0);
  case SCT_COLUMN_REAL:
    return sct_json_number(*(const double *)field);
  case SCT_COLUMN_SAMPLES:
    return samples_of(*(const double *const *)field,
                      *(const int *)((const char *)row + c->count_offset));
  case SCT_COLUMN_REF:
  case SCT_COLUMN_MAY_REF:
    break;
  }
  return json_null();
}

/* Counts of outcomes can be counted again. */
static bool is_left_out(const sct_store_table *table, const sct_store_column *c) {
  return sct_store_refers(c) != NULL ||
         (table == &sct_store_run_table &&
          (strcmp(c->name, "n_candidates") == 0 || strcmp(c->name, "n_verified") == 0 ||
           strcmp(c->name, "n_failed") == 0));
}

void sct_store_json_row(json_t *object, const sct_store_table *table, const void *row) {
  for (int i = 0; i < table->n_columns; ++i) {
    const sct_store_column *const c = &table->columns[i];
    if (!is_left_out(table, c)) {
      json_object_set_new(object, c->name, value_of(c, row));
    }
  }
}

static void add_columns(json_t *object, const sct_store_table *table, const void *row) {
  for (int i = 0; i < table->n_columns; ++i) {
    const sct_store_column *const c = &table->columns[i];
    const void *const field = (const char *)row + c->offset;
    if (c->kind == SCT_COLUMN_TEXT) {
      json_object_set_new(object, c->name, json_string_nocheck(*(char *const *)field));
    } else if (c->kind == SCT_COLUMN_JSON) {
      json_t *const doc = sct_json_load(*(char *const *)field);
      json_object_set_new(object, c->name, doc != NULL ? doc : json_object());
    } else if (c->kind != SCT_COLUMN_SAMPLES && sct_store_refers(c) == NULL) {
      json_object_set_new(object, c->name, value_of(c, row));
    }
  }
}

json_t *sct_row_device_json(const sct_row_device *row) {
  json_t *const object = json_object();
  add_columns(object, &sct_store_device_table, row);
  return object;
}

json_t *sct_row_run_json(const sct_row_run *row) {
  json_t *const object = json_object();
  add_columns(object, &sct_store_run_table, row);
  return object;
}

json_t *sct_row_result_json(const sct_row_result *row) {
  json_t *const object = json_object();
  add_columns(object, &sct_store_candidate_table, row);
  add_columns(object, &sct_store_outcome_table, row);
  return object;
}

/* ---- reading ---- */

/* The column's type in words, for messages. */
static const char *expected_of(const sct_store_column *c) {
  static const char *const words[] = {
      [SCT_COLUMN_TEXT] = "expected a text",
      [SCT_COLUMN_JSON] = "expected a text that holds a JSON object, or \"\"",
      [SCT_COLUMN_INT] = "expected a whole number of at most 31 bits",
      [SCT_COLUMN_INT64] = "expected a whole number",
      [SCT_COLUMN_BOOL] = "expected true or false",
      [SCT_COLUMN_REAL] = "expected a number, or null for none",
      [SCT_COLUMN_SAMPLES] = "expected a list of numbers",
  };
  return c->kind < SCT_COUNT(words) && words[c->kind] != NULL ? words[c->kind] : "expected a value";
}

bool sct_store_is_json(const char *text, sct_str *why) {
  json_error_t place;
  if (text == NULL || text[0] == '\0') {
    return true;
  }
  SCT_OWNED_PTR(json_t) const json = json_loads(text, JSON_REJECT_DUPLICATES, &place);
  const bool good = json_is_object(json);
  if (json == NULL && why != NULL) {
    sct_str_printf(why, "line %d, column %d: %s", place.line, place.column, place.text);
  } else if (!good && why != NULL) {
    sct_str_append(why, "expected an object");
  }
  return good;
}

/* The text stays the document's. */
static bool take_text(const sct_store_column *c, const json_t *value, char **field) {
  const char *const text = json_string_value(value);
  if (text == NULL || ((c->is & SCT_STORE_KEY) != 0 && text[0] == '\0') ||
      (c->kind == SCT_COLUMN_JSON && !sct_store_is_json(text, NULL))) {
    return false;
  }
  *field = (char *)(uintptr_t)text;
  return true;
}

static bool take_samples(sct_arena *arena, const json_t *value, double **samples, int *n) {
  const size_t size = json_array_size(value);
  if (!json_is_array(value) || size > INT_MAX / sizeof(double)) {
    return false;
  }
  *samples = SCT_ARENA_NEW(arena, double, size);
  *n = (int)size;
  for (size_t i = 0; i < size; ++i) {
    const json_t *const sample = json_array_get(value, i);
    if (!json_is_number(sample)) {
      return false;
    }
    (*samples)[i] = json_number_value(sample);
  }
  return true;
}

static bool take_value(sct_arena *arena, const sct_store_column *c, const json_t *value,
                       void *row) {
  char *const field = (char *)row + c->offset;
  switch (c->kind) {
  case SCT_COLUMN_TEXT:
  case SCT_COLUMN_JSON:
    return take_text(c, value, (char **)field);
  case SCT_COLUMN_INT: {
    const json_int_t number = json_integer_value(value);
    *(int *)field = (int)number;
    return json_is_integer(value) && number >= INT_MIN && number <= INT_MAX;
  }
  case SCT_COLUMN_INT64:
    *(int64_t *)field = json_integer_value(value);
    return json_is_integer(value);
  case SCT_COLUMN_BOOL:
    *(bool *)field = json_is_true(value);
    return json_is_boolean(value);
  case SCT_COLUMN_REAL:
    *(double *)field = json_is_null(value) ? (double)NAN : json_number_value(value);
    return json_is_null(value) || json_is_number(value);
  case SCT_COLUMN_SAMPLES:
    return take_samples(arena, value, (double **)field, (int *)((char *)row + c->count_offset));
  case SCT_COLUMN_REF:
  case SCT_COLUMN_MAY_REF:
    break;
  }
  return false;
}

sct_status sct_store_json_take(sct_json at, int schema, const sct_store_table *table, void *row) {
  if (!json_is_object(at.json)) {
    return sct_json_fail(at, "expected an object");
  }
  for (int i = 0; i < table->n_columns; ++i) {
    const sct_store_column *const c = &table->columns[i];
    const json_t *const value = json_object_get(at.json, c->name);
    const bool is_newer = value == NULL && c->since > schema;
    if (!is_left_out(table, c) && !is_newer &&
        (value == NULL || !take_value(at.doc->arena, c, value, row))) {
      return sct_json_fail(sct_json_member(at, c->name), "%s",
                           value == NULL ? "is missing" : expected_of(c));
    }
  }
  return SCT_OK;
}
