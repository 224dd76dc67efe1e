/* store_read - rows out of the store. */
#include "store/store_internal.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of rows */

/* Reads all rows of a bound query, each made of the columns of `tables` in turn. */
static sct_status read_rows(sct_store_query *q, sct_arena *arena,
                            const sct_store_table *const *tables, int n_tables, void **out, int *n,
                            sct_error *err) {
  const size_t row_bytes = tables[0]->row_bytes;
  char *rows = NULL;
  bool more = false;
  sct_status status = sct_store_query_step(q, &more, err);
  for (*n = 0; status == SCT_OK && more; ++*n) {
    if ((*n & (*n - 1)) == 0) { /* a power of two: all that there is room for */
      rows = sct_realloc(rows, 2 * (size_t)(*n + 1) * row_bytes);
    }
    char *const row = rows + (size_t)*n * row_bytes;
    memset(row, 0, row_bytes);
    for (int t = 0; t < n_tables && status == SCT_OK; ++t) {
      status = sct_store_read_row(q, arena, tables[t], row, err);
    }
    SCT_THEN(sct_store_query_step(q, &more, err));
  }
  if (*n > 0) {
    *out = memcpy(sct_arena_alloc(arena, (size_t)*n * row_bytes), rows, (size_t)*n * row_bytes);
  }
  sct_free(rows);
  return status;
}

/* Rows made of columns of table c and, if there are two, of table o, whose candidate is a row of c.
 * *out receives the list; `kinds` and what follows are the parameters of `where`. */
static sct_status list(sct_store *s, sct_arena *arena, const sct_store_table *const *tables,
                       int n_tables, bool heavy, const char *where, void *out, int *n,
                       sct_error *err, const char *kinds, ...) {
  SCT_SCOPED(sct_store_query) q = {0};
  SCT_SCOPED(sct_str) sql = {0};
  void *rows = NULL;
  sct_str_append(&sql, "SELECT ");
  sct_store_column_list(&sql, s, tables[0], "c", heavy);
  if (n_tables > 1) {
    sct_str_append(&sql, ", ");
    sct_store_column_list(&sql, s, tables[1], "o", heavy);
    sct_str_printf(&sql, " FROM %s o JOIN candidate c ON c.id = o.candidate %s", tables[1]->name,
                   where);
  } else {
    sct_str_printf(&sql, " FROM %s c %s", tables[0]->name, where);
  }
  va_list values;
  va_start(values, kinds);
  const sct_status status = sct_store_query_vstart(&q, s, err, sct_str_c(&sql), kinds, values);
  va_end(values);
  SCT_TRY(status);
  SCT_TRY(read_rows(&q, arena, tables, n_tables, &rows, n, err));
  memcpy(out, &rows, sizeof(rows));
  return SCT_OK;
}

/* ---- problems and devices */

static const sct_store_table *const PROBLEM[] = {&sct_store_problem_table};
static const sct_store_table *const DEVICE[] = {&sct_store_device_table};
static const sct_store_table *const RUN[] = {&sct_store_run_table};
static const sct_store_table *const RESULT[] = {&sct_store_candidate_table,
                                                &sct_store_outcome_table};
static const sct_store_table *const EARLIER[] = {&sct_store_candidate_table,
                                                 &sct_store_earlier_table};

sct_status sct_store_problem_by_name(sct_store *s, sct_arena *arena, const char *name,
                                     sct_row_problem **rows, int *n, sct_error *err) {
  return list(s, arena, PROBLEM, 1, true, "WHERE c.name = ? ORDER BY c.id", rows, n, err, "t",
              name);
}

sct_status sct_store_problem_by_hash(sct_store *s, sct_arena *arena, const char *spec_hash,
                                     sct_row_problem **rows, int *n, sct_error *err) {
  return list(s, arena, PROBLEM, 1, true, "WHERE c.spec_hash = ?", rows, n, err, "t", spec_hash);
}

sct_status sct_store_problems(sct_store *s, sct_arena *arena, sct_row_problem **rows, int *n,
                              sct_error *err) {
  return list(s, arena, PROBLEM, 1, true, "ORDER BY c.name, c.id", rows, n, err, "");
}

const sct_row_device *sct_row_device_find(const sct_row_device *rows, int n, sct_id id) {
  for (int k = 0; k < n; k++) {
    if (rows[k].id == id) {
      return &rows[k];
    }
  }
  return NULL;
}

sct_status sct_store_devices(sct_store *s, sct_arena *arena, sct_row_device **rows, int *n,
                             sct_error *err) {
  return list(s, arena, DEVICE, 1, true, "ORDER BY c.id", rows, n, err, "");
}

sct_status sct_store_fetch(sct_store *s, sct_arena *arena, const sct_store_table *table, sct_id id,
                           void *row, sct_error *err) {
  char *rows = NULL;
  int n = 0;
  SCT_TRY(list(s, arena, &table, 1, true, "WHERE c.id = ?", &rows, &n, err, "i", id));
  if (n == 0) {
    return sct_fail(err, SCT_EDATA, "the store '%s' has no row %lld in '%s'", s->path,
                    (long long)id, table->name);
  }
  memcpy(row, rows, table->row_bytes);
  return SCT_OK;
}

sct_status sct_store_candidates(sct_store *s, sct_arena *arena, sct_id problem,
                                sct_row_result **rows, int *n, sct_error *err) {
  return list(s, arena, RESULT, 1, true, "WHERE c.problem = ? ORDER BY c.source_hash", rows, n, err,
              "i", problem);
}

/* ---- runs */

typedef struct sized_run {
  sct_row_run row;
  double n_elements;
} sized_run;

/* The product of the extents; 0 if they are not a JSON object of numbers. */
static double count_elements(const char *extents) {
  SCT_OWNED_PTR(json_t) const object = sct_json_load(extents);
  double n = json_object_size(object) > 0 ? 1 : 0;
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(object, name, value) {
    n *= json_number_value(value);
  }
  return n;
}

static int compare_runs(const void *left, const void *right) {
  const sized_run *const a = left;
  const sized_run *const b = right;
  if (a->row.device != b->row.device) {
    return a->row.device < b->row.device ? -1 : 1;
  }
  if (a->n_elements != b->n_elements) {
    return a->n_elements < b->n_elements ? -1 : 1;
  }
  return a->row.id < b->row.id ? -1 : a->row.id > b->row.id;
}

static void sort_runs(sct_row_run *rows, int n) {
  if (n < 2) {
    return;
  }
  SCT_OWNED sized_run *const sized = sct_alloc((size_t)n * sizeof(*sized));
  for (int i = 0; i < n; ++i) {
    sized[i] = (sized_run){rows[i], count_elements(rows[i].extents)};
  }
  qsort(sized, (size_t)n, sizeof(*sized), compare_runs);
  for (int i = 0; i < n; ++i) {
    rows[i] = sized[i].row;
  }
}

/* A winner may have failed when it was measured again, in a store that was merged into this one:
 * then it is none. */
static sct_status withhold_winners(sct_store *s, sct_row_run *rows, int n, sct_error *err) {
  for (int i = 0; i < n; ++i) {
    bool good = false;
    SCT_TRY(sct_store_query_ids(s, err, NULL, 0, &good,
                                "SELECT 1 FROM outcome WHERE id = ? AND outcome = 'ok'", "i",
                                rows[i].winner));
    rows[i].winner = good ? rows[i].winner : 0;
  }
  return SCT_OK;
}

sct_status sct_store_all_runs(sct_store *s, sct_arena *arena, sct_id problem, sct_row_run **rows,
                              int *n, sct_error *err) {
  return list(s, arena, RUN, 1, true, "WHERE c.problem = ?", rows, n, err, "i", problem);
}

sct_status sct_store_runs(sct_store *s, sct_arena *arena, sct_id problem, sct_id device,
                          sct_row_run **rows, int *n, sct_error *err) {
  SCT_TRY(list(s, arena, RUN, 1, true, "WHERE c.problem = ?1 AND (?2 = 0 OR c.device = ?2)", rows,
               n, err, "ii", problem, device));
  sort_runs(*rows, *n);
  return withhold_winners(s, *rows, *n, err);
}

/* ---- results */

sct_status sct_store_results(sct_store *s, sct_arena *arena, sct_id run, bool with_source,
                             sct_row_result **rows, int *n, sct_error *err) {
  /* Comparisons with NULL, which a NaN becomes, are neither true nor false: ifnull decides. */
  static const char where[] =
      "WHERE o.run = ? ORDER BY ifnull(o.median_ns > 0, 0) DESC,"
      " CASE WHEN o.median_ns > 0 THEN o.median_ns END,"
      " ifnull(o.sectors_ld >= 0 AND o.sectors_st >= 0, 0) DESC,"
      " CASE WHEN o.sectors_ld >= 0 AND o.sectors_st >= 0 THEN o.sectors_ld + o.sectors_st END,"
      " c.label, o.id";
  return list(s, arena, RESULT, 2, with_source, where, rows, n, err, "i", run);
}

sct_status sct_store_earlier(sct_store *s, sct_arena *arena, sct_id run, sct_row_result **rows,
                             int *n, sct_error *err) {
  *n = 0;
  *rows = NULL;
  if (s->schema < sct_store_earlier_table.since) {
    return SCT_OK;
  }
  return list(s, arena, EARLIER, 2, true, "WHERE o.run = ? ORDER BY o.measured, o.content", rows, n,
              err, "i", run);
}

sct_status sct_store_count(sct_store *s, sct_id problem, sct_id device, int *n, sct_error *err) {
  sct_id count = 0;
  const sct_status status =
      sct_store_query_ids(s, err, &count, 1, NULL,
                          "SELECT count(*) FROM outcome o JOIN run r ON r.id = "
                          "o.run WHERE r.problem = ? AND r.device = ?",
                          "ii", problem, device);
  *n = (int)count;
  return status;
}

sct_status sct_store_result(sct_store *s, sct_arena *arena, sct_id outcome, sct_row_result *row,
                            sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(list(s, arena, RESULT, 2, true, "WHERE o.id = ?", &rows, &n, err, "i", outcome));
  if (n == 0) {
    return sct_fail(err, SCT_EDATA, "the store '%s' has no outcome %lld", s->path,
                    (long long)outcome);
  }
  *row = rows[0];
  return SCT_OK;
}

sct_status sct_store_find(sct_store *s, sct_arena *arena, sct_id run, const char *source_hash,
                          sct_row_result *row, bool *found, sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  /* By way of the run's problem: the candidates' key begins with it. */
  static const char where[] = "WHERE o.run = ?1 AND c.source_hash = ?2 AND "
                              "c.problem = (SELECT r.problem FROM run r WHERE r.id = ?1)";
  SCT_TRY(list(s, arena, RESULT, 2, true, where, &rows, &n, err, "it", run, source_hash));
  *found = n > 0;
  if (*found) {
    *row = rows[0];
  }
  return SCT_OK;
}
