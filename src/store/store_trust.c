/* store_trust - what a file from others may hold: our tables, and nothing that runs.
 *
 * SQLite stores statements: triggers, views, expressions of indexes and columns, modules of virtual
 * tables. None is run before the list of them has been compared with what this program makes. */
#include "store/store_internal.h"

#include <string.h>

enum { SHOWN = 48 /* letters of a text that differs */ };

/* The current row: type, name, table, statement. NULL and what is no text read as "". */
static const char *text_at(const sct_store_query *q, int column) {
  const unsigned char *const text = sqlite3_column_text(q->stmt, column);
  return text != NULL ? (const char *)text : "";
}

static sct_status refuse_thing(const sct_store_query *q, sct_error *err) {
  return sct_fail(err, SCT_EDATA,
                  "the store '%s' holds the %.16s '%.64s', which sectile does not make; nothing of "
                  "it was run, and it was left as it is",
                  q->store->path, text_at(q, 0), text_at(q, 1));
}

static size_t common(const char *a, const char *b) {
  size_t n = 0;
  while (a[n] != '\0' && a[n] == b[n]) {
    ++n;
  }
  return n;
}

/* A table may have been made by any version before its file's, and have got its columns since. */
static sct_status check_table(const sct_store_query *q, const sct_store_table *table,
                              sct_error *err) {
  const char *const found = text_at(q, 3);
  SCT_SCOPED(sct_str) expected = {0};
  size_t nearest = 0;
  SCT_SCOPED(sct_str) wanted = {0}; /* what stands where the nearest one differs */
  bool same = false;
  for (int made = table->since > 0 ? table->since : 1; made <= q->store->schema && !same; ++made) {
    sct_str_clear(&expected);
    sct_store_table_sql(&expected, table, made, q->store->schema);
    const size_t n = common(sct_str_c(&expected), found);
    same = strcmp(sct_str_c(&expected), found) == 0;
    if (wanted.len == 0 || n > nearest) {
      nearest = n;
      sct_str_clear(&wanted);
      sct_str_printf(&wanted, "%.*s", SHOWN, sct_str_c(&expected) + n);
    }
  }
  sct_status status = SCT_OK;
  if (!same) {
    status = sct_fail(err, SCT_EDATA,
                      "the table '%s' of the store '%s' is not as sectile makes it: at letter %zu "
                      "expected \"%s\", found \"%.*s\"; nothing of it was run, and it was left as "
                      "it is",
                      table->name, q->store->path, nearest + 1, sct_str_c(&wanted), SHOWN,
                      found + nearest);
  }
  return status;
}

/* Our table of this name, if a file of this schema has it; *k its number. */
static const sct_store_table *find_table(const sct_store *s, const char *name, int *k) {
  for (*k = 0; sct_store_table_at(*k) != NULL; ++*k) {
    const sct_store_table *const table = sct_store_table_at(*k);
    if (strcmp(table->name, name) == 0 && table->since <= s->schema) {
      return table;
    }
  }
  return NULL;
}

/* One row of sqlite_schema. *seen: a bit for each of our tables. */
static sct_status check_thing(const sct_store_query *q, unsigned *seen, sct_error *err) {
  const char *const type = text_at(q, 0);
  int k = 0;
  const sct_store_table *const table = find_table(q->store, text_at(q, 2), &k);
  if (table == NULL) {
    return refuse_thing(q, err);
  }
  if (strcmp(type, "table") == 0 && strcmp(text_at(q, 1), table->name) == 0) {
    *seen |= 1U << k;
    return check_table(q, table, err);
  }
  /* What UNIQUE makes has no statement. */
  const bool made_by_unique = strcmp(type, "index") == 0 && text_at(q, 3)[0] == '\0' &&
                              sct_has_prefix(text_at(q, 1), "sqlite_autoindex_");
  return made_by_unique ? SCT_OK : refuse_thing(q, err);
}

sct_status sct_store_check_tables(sct_store *s, sct_error *err) {
  SCT_SCOPED(sct_store_query) q = {0};
  bool more = false;
  unsigned seen = 0;
  SCT_TRY(sct_store_query_start(
      &q, s, err, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid", ""));
  SCT_TRY(sct_store_query_step(&q, &more, err));
  while (more) {
    SCT_TRY(check_thing(&q, &seen, err));
    SCT_TRY(sct_store_query_step(&q, &more, err));
  }
  for (int k = 0; sct_store_table_at(k) != NULL; ++k) {
    const sct_store_table *const table = sct_store_table_at(k);
    if (table->since <= s->schema && (seen >> k & 1U) == 0) {
      return sct_fail(err, SCT_EDATA,
                      "the store '%s' lacks what it should hold: no such table: %s; it was left "
                      "as it is",
                      s->path, table->name);
    }
  }
  return SCT_OK;
}

sct_status sct_store_check_references(sct_store *s, sct_error *err) {
  SCT_SCOPED(sct_store_query) q = {0};
  bool row = false;
  SCT_TRY(sct_store_query_start(&q, s, err, "PRAGMA foreign_key_check", ""));
  SCT_TRY(sct_store_query_step(&q, &row, err));
  return !row ? SCT_OK
              : sct_fail(err, SCT_EDATA,
                         "the store '%s' is damaged: row %lld of '%s' refers to a row of '%s' that "
                         "is not there; it was left as it is: put a copy in its place, or move it "
                         "away to start anew",
                         s->path, (long long)sqlite3_column_int64(q.stmt, 1), text_at(&q, 0),
                         text_at(&q, 2));
}
