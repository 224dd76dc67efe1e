/* store_query - statements, rows and transactions: the only place that binds and reads values. */
#include "store/store_internal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- errors */

static sct_status status_of(int result) {
  switch (result & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return SCT_EBUSY;
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
  case SQLITE_FORMAT:
    return SCT_EDATA;
  case SQLITE_FULL:
  case SQLITE_IOERR:
  case SQLITE_READONLY:
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
  case SQLITE_NOLFS:
    return SCT_EIO;
  default:
    return SCT_EINTERNAL;
  }
}

sct_status sct_store_fail(sct_store *s, int result, const char *what, sct_error *err) {
  const sct_status code = status_of(result);
  const char *const text = s->db != NULL ? sqlite3_errmsg(s->db) : sqlite3_errstr(result);
  const int reason = s->db != NULL ? sqlite3_system_errno(s->db) : 0;
  switch (code) {
  case SCT_EDATA:
    return sct_fail(err, code,
                    "the store '%s' is damaged (%s: %s); it was left as it is: put a copy in its "
                    "place, or move it away to start anew",
                    s->path, what, text);
  case SCT_EBUSY:
    return sct_fail(err, code, "the store '%s' is in use by another process (%s)", s->path, what);
  case SCT_EIO:
    return sct_fail(err, code, "the store '%s': %s: %s%s%s", s->path, what, text,
                    reason != 0 ? ": " : "", reason != 0 ? strerror(reason) : "");
  default:
    return sct_fail(err, code, "the store '%s': %s: %s", s->path, what, text);
  }
}

/* ---- statements */

/* Our text is right, so the tables are not ours (any more: they were looked at on opening). */
static sct_status not_ours(const sct_store *s, sct_error *err) {
  return sct_fail(err, SCT_EDATA, "the store '%s' lacks what it should hold: %s", s->path,
                  sqlite3_errmsg(s->db));
}

static void note(sct_store_query *q, int result) {
  if (q->result == SQLITE_OK) {
    q->result = result;
  }
}

static void bind_text(sct_store_query *q, const char *text) {
  note(q, sqlite3_bind_text(q->stmt, ++q->n_bound, text != NULL ? text : "", -1, SQLITE_STATIC));
}

void sct_store_bind_id(sct_store_query *q, sct_id id) {
  note(q, sqlite3_bind_int64(q->stmt, ++q->n_bound, id));
}

sct_status sct_store_query_vstart(sct_store_query *q, sct_store *s, sct_error *err, const char *sql,
                                  const char *kinds, va_list values) {
  memset(q, 0, sizeof(*q));
  q->store = s;
  const int result = sqlite3_prepare_v2(s->db, sql, -1, &q->stmt, NULL);
  if (result != SQLITE_OK) {
    return result == SQLITE_ERROR ? not_ours(s, err)
                                  : sct_store_fail(s, result, "reading its tables", err);
  }
  for (; *kinds != '\0'; ++kinds) {
    if (*kinds == 'i') {
      sct_store_bind_id(q, va_arg(values, sct_id));
    } else {
      bind_text(q, va_arg(values, const char *));
    }
  }
  return SCT_OK;
}

sct_status sct_store_query_start(sct_store_query *q, sct_store *s, sct_error *err, const char *sql,
                                 const char *kinds, ...) {
  va_list values;
  va_start(values, kinds);
  const sct_status status = sct_store_query_vstart(q, s, err, sql, kinds, values);
  va_end(values);
  return status;
}

sct_status sct_store_query_ids(sct_store *s, sct_error *err, sct_id *out, int n, bool *found,
                               const char *sql, const char *kinds, ...) {
  SCT_SCOPED(sct_store_query) q = {0};
  bool row = false;
  va_list values;
  va_start(values, kinds);
  sct_status status = sct_store_query_vstart(&q, s, err, sql, kinds, values);
  va_end(values);
  SCT_THEN(sct_store_query_step(&q, &row, err));
  for (int i = 0; i < n; ++i) {
    out[i] = status == SCT_OK && row ? sqlite3_column_int64(q.stmt, i) : 0;
  }
  if (found != NULL) {
    *found = row;
  }
  return status;
}

void sct_store_query_free(sct_store_query *q) {
  (void)sqlite3_finalize(q->stmt);
  sct_str_free(&q->why);
  memset(q, 0, sizeof(*q));
}

sct_status sct_store_query_step(sct_store_query *q, bool *row, sct_error *err) {
  *row = false;
  if (q->why.len > 0) {
    return sct_fail(err, SCT_EINTERNAL, "the store '%s': %s", q->store->path, q->why.data);
  }
  if (q->result != SQLITE_OK) {
    return sct_store_fail(q->store, q->result, "binding a value", err);
  }
  q->n_read = 0;
  const int result = sqlite3_step(q->stmt);
  if (result == SQLITE_ERROR) {
    return not_ours(q->store, err);
  }
  if (result != SQLITE_ROW && result != SQLITE_DONE) {
    return sct_store_fail(q->store, result,
                          sqlite3_stmt_readonly(q->stmt) != 0 ? "reading" : "writing", err);
  }
  *row = result == SQLITE_ROW;
  return SCT_OK;
}

/* ---- rows */

static const void *field_of(const void *row, size_t offset) {
  return (const char *)row + offset;
}

static void bind_samples(sct_store_query *q, const sct_store_column *c, const void *row) {
  const double *const *const samples = field_of(row, c->offset);
  const int *const n = field_of(row, c->count_offset);
  const bool none = *samples == NULL || *n <= 0;
  note(q, none ? sqlite3_bind_zeroblob(q->stmt, ++q->n_bound, 0)
               : sqlite3_bind_blob64(q->stmt, ++q->n_bound, *samples,
                                     (sqlite3_uint64)*n * sizeof(double), SQLITE_STATIC));
}

/* What no row may say, on its way in or out. A key must say something: an empty one would make
 * different rows equal. */
static void check_value(sct_str *why, const sct_store_column *c, const void *row) {
  const bool is_text = c->kind == SCT_COLUMN_TEXT || c->kind == SCT_COLUMN_JSON;
  const char *const text = is_text ? *(char *const *)field_of(row, c->offset) : NULL;
  SCT_SCOPED(sct_str) place = {0};
  if (why->len > 0 || !is_text) {
    return;
  }
  if (c->kind == SCT_COLUMN_JSON && !sct_store_is_json(text, &place)) {
    sct_str_printf(why, "column '%s' must be a JSON object (%s)", c->name, sct_str_c(&place));
  }
  if ((c->is & SCT_STORE_KEY) != 0 && (text == NULL || text[0] == '\0')) {
    sct_str_printf(why, "the key '%s' is empty", c->name);
  }
}

static void bind_column(sct_store_query *q, const sct_store_column *c, const void *row) {
  const void *const field = field_of(row, c->offset);
  check_value(&q->why, c, row);
  switch (c->kind) {
  case SCT_COLUMN_TEXT:
  case SCT_COLUMN_JSON:
    bind_text(q, *(char *const *)field);
    break;
  case SCT_COLUMN_REAL: /* SQLite makes NaN NULL */
    note(q, sqlite3_bind_double(q->stmt, ++q->n_bound, *(const double *)field));
    break;
  case SCT_COLUMN_SAMPLES:
    bind_samples(q, c, row);
    break;
  default:
    if (c->kind == SCT_COLUMN_MAY_REF && sct_store_integer(c, row) == 0) {
      note(q, sqlite3_bind_null(q->stmt, ++q->n_bound));
    } else {
      sct_store_bind_id(q, sct_store_integer(c, row));
    }
  }
}

void sct_store_bind_row(sct_store_query *q, const sct_store_table *table, const void *row,
                        unsigned choice) {
  for (int i = 0; i < table->n_columns; ++i) {
    if (sct_store_is_chosen(&table->columns[i], choice)) {
      bind_column(q, &table->columns[i], row);
    }
  }
}

static int clamp_int(int64_t value) {
  return value > INT_MAX ? INT_MAX : value < INT_MIN ? INT_MIN : (int)value;
}

static void read_samples(sct_store_query *q, sct_arena *arena, int column, double **samples,
                         int *n) {
  const void *const blob = sqlite3_column_blob(q->stmt, column);
  const int bytes = sqlite3_column_bytes(q->stmt, column);
  *n = bytes / (int)sizeof(double);
  *samples = NULL;
  if (*n > 0) {
    *samples = memcpy(SCT_ARENA_NEW(arena, double, *n), blob, (size_t)*n * sizeof(double));
  }
}

static void read_column(sct_store_query *q, sct_arena *arena, const sct_store_column *c,
                        void *row) {
  const int at = q->n_read++;
  char *const field = (char *)row + c->offset;
  switch (c->kind) {
  case SCT_COLUMN_TEXT:
  case SCT_COLUMN_JSON: {
    const unsigned char *const text = sqlite3_column_text(q->stmt, at);
    *(char **)field = sct_arena_strdup(arena, text != NULL ? (const char *)text : "");
    break;
  }
  case SCT_COLUMN_INT:
    *(int *)field = clamp_int(sqlite3_column_int64(q->stmt, at));
    break;
  case SCT_COLUMN_BOOL:
    *(bool *)field = sqlite3_column_int64(q->stmt, at) != 0;
    break;
  case SCT_COLUMN_REAL:
    *(double *)field = sqlite3_column_type(q->stmt, at) == SQLITE_NULL
                           ? (double)NAN
                           : sqlite3_column_double(q->stmt, at);
    break;
  case SCT_COLUMN_SAMPLES:
    read_samples(q, arena, at, (double **)field, (int *)((char *)row + c->count_offset));
    break;
  case SCT_COLUMN_INT64:
  case SCT_COLUMN_REF:
  case SCT_COLUMN_MAY_REF:
    *(int64_t *)field = sqlite3_column_int64(q->stmt, at);
    break;
  }
}

sct_status sct_store_read_row(sct_store_query *q, sct_arena *arena, const sct_store_table *table,
                              void *row, sct_error *err) {
  *(sct_id *)((char *)row + table->id_offset) = sqlite3_column_int64(q->stmt, q->n_read++);
  for (int i = 0; i < table->n_columns; ++i) {
    read_column(q, arena, &table->columns[i], row);
    check_value(&q->why, &table->columns[i], row);
  }
  return q->why.len == 0
             ? SCT_OK
             : sct_fail(err, SCT_EDATA,
                        "the store '%s' is damaged: row %lld of '%s': %s; it was left as it is: "
                        "put a copy in its place, or move it away to start anew",
                        q->store->path, (long long)*(sct_id *)((char *)row + table->id_offset),
                        table->name, q->why.data);
}

/* ---- hashes of rows */

static void append_number(sct_str *out, const char *mark, int64_t value, const char *end) {
  sct_str_append(out, mark);
  sct_str_append_int(out, value);
  sct_str_append(out, end);
}

/* Every value with a mark of its kind and its length, so that no two rows give the same text. */
static void append_value(sct_str *out, const sct_store_column *c, const void *row) {
  const void *const field = field_of(row, c->offset);
  switch (c->kind) {
  case SCT_COLUMN_TEXT:
  case SCT_COLUMN_JSON: {
    const char *const text = *(char *const *)field;
    append_number(out, "t", (int64_t)(text != NULL ? strlen(text) : 0), ":");
    sct_str_append(out, text != NULL ? text : "");
    break;
  }
  case SCT_COLUMN_INT:
  case SCT_COLUMN_INT64:
  case SCT_COLUMN_BOOL:
    append_number(out, "i", sct_store_integer(c, row), ";");
    break;
  case SCT_COLUMN_REAL: {
    const double value = *(const double *)field;
    sct_str_append(out, isnan(value) ? "n" : "d");
    sct_str_append_n(out, isnan(value) ? "" : field, isnan(value) ? 0 : sizeof(value));
    break;
  }
  case SCT_COLUMN_SAMPLES: {
    const double *const *const samples = field;
    const int *const n = field_of(row, c->count_offset);
    append_number(out, "s", *samples != NULL ? *n : 0, ":");
    sct_str_append_n(out, (const char *)*samples,
                     *samples != NULL ? (size_t)*n * sizeof(double) : 0);
    break;
  }
  case SCT_COLUMN_REF:
  case SCT_COLUMN_MAY_REF:
    break;
  }
}

char *sct_store_row_hash(char out[SCT_HASH_HEX], const sct_store_table *table, const void *row) {
  SCT_SCOPED(sct_str) text = {0};
  for (int i = 0; i < table->n_columns; ++i) {
    const sct_store_column *const c = &table->columns[i];
    if (!sct_store_is_chosen(c, SCT_STORE_KEY | SCT_STORE_STAMP | SCT_STORE_EVALUATED |
                                    SCT_STORE_FINISH)) {
      append_value(&text, c, row);
    }
  }
  (void)sct_hash_hex(out, sct_hash_bytes(sct_str_c(&text), text.len));
  return out;
}

char *sct_store_result_hash(char out[SCT_HASH_HEX], const sct_row_result *row) {
  return sct_store_row_hash(out, &sct_store_outcome_table, row);
}

/* ---- transactions */

sct_status sct_store_exec(sct_store *s, const char *sql, sct_error *err) {
  const int result = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
  return result == SQLITE_OK ? SCT_OK : sct_store_fail(s, result, "writing", err);
}

void sct_store_end_read(sct_store *s) {
  (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

/* One more after a commit of ours, and after each transaction that finds commits of others. */
unsigned sct_store_version(const sct_store *s) {
  unsigned version = 0;
  (void)sqlite3_file_control(s->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}

bool sct_store_changed_by_others(const sct_store *s) {
  return sct_store_version(s) != s->version;
}

sct_status sct_store_begin(sct_store *s, sct_error *err) {
  return sct_store_exec(s, "BEGIN IMMEDIATE", err);
}

sct_status sct_store_end(sct_store *s, sct_status status, sct_error *err) {
  if (status == SCT_OK) {
    status = sct_store_exec(s, "COMMIT", err);
    s->version += status == SCT_OK;
  }
  /* Some failures have rolled back by themselves. */
  if (status != SCT_OK && sqlite3_get_autocommit(s->db) == 0) {
    (void)sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
  }
  return status;
}
