/* store_read - rows out of the store. */
#include "store/store_internal.h"
#include "json/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of rows */

typedef struct row_list {
  size_t row_bytes;
  char *rows;
  size_t n, cap;
} row_list;

static void *add_row(row_list *list) {
  if (list->n == list->cap) {
    const size_t cap = list->cap > 0 ? list->cap * 2 : 16;
    char *const rows = sct_realloc(list->rows, cap * list->row_bytes);
    list->rows = rows;
    list->cap = cap;
  }
  char *const row = list->rows + list->n++ * list->row_bytes;
  memset(row, 0, list->row_bytes);
  return row;
}

static void free_rows(const sct_store_table *const *tables, int n_tables, void *rows, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (int t = 0; t < n_tables; ++t) {
      sct_store_clear_row(tables[t], (char *)rows + i * tables[t]->row_bytes);
    }
  }
  sct_free(rows);
}

/* Reads all rows of a bound query, each made of the columns of `tables` in turn. */
static sct_status read_rows(sct_store_query *q, const sct_store_table *const *tables, int n_tables,
                            void **out, int *n, sct_error *err) {
  row_list list = {.row_bytes = tables[0]->row_bytes};
  bool more = false;
  sct_status status = sct_store_query_step(q, &more, err);
  while (status == SCT_OK && more) {
    void *const row = add_row(&list);
    for (int t = 0; t < n_tables && status == SCT_OK; ++t) {
      status = sct_store_read_row(q, tables[t], row, err);
    }
    if (status == SCT_OK) {
      status = sct_store_query_step(q, &more, err);
    }
  }
  if (status != SCT_OK) {
    free_rows(tables, n_tables, list.rows, list.n);
    return status;
  }
  *out = list.rows;
  *n = (int)list.n;
  return SCT_OK;
}

/* A list of one table: `where` has at most two parameters, ids from 1 on or a text. */
static sct_status list_table(sct_store *s, const sct_store_table *table, const char *where,
                             const char *text, sct_id a, sct_id b, void **out, int *n,
                             sct_error *err) {
  sct_store_query q = {0};
  sct_str sql = {0};
  sct_str_append(&sql, "SELECT ");
  sct_store_column_list(&sql, s, table, "t", true);
  sct_str_printf(&sql, " FROM %s t %s", table->name, where);
  sct_status status = sct_store_query_start(&q, s, sct_str_c(&sql), err);
  if (status == SCT_OK) {
    if (text != NULL) {
      sct_store_bind_text(&q, text);
    }
    if (a != 0) {
      sct_store_bind_id(&q, a);
    }
    if (b != 0) {
      sct_store_bind_id(&q, b);
    }
    status = read_rows(&q, &table, 1, out, n, err);
  }
  sct_store_query_end(&q);
  sct_str_free(&sql);
  return status;
}

/* ---- problems and devices */

static sct_status list_problems(sct_store *s, const char *where, const char *text,
                                sct_row_problem **rows, int *n, sct_error *err) {
  void *list = NULL;
  SCT_TRY(list_table(s, &sct_store_problem_table, where, text, 0, 0, &list, n, err));
  *rows = list;
  return SCT_OK;
}

sct_status sct_store_problem_by_name(sct_store *s, const char *name, sct_row_problem **rows, int *n,
                                     sct_error *err) {
  return list_problems(s, "WHERE t.name = ? ORDER BY t.id", name, rows, n, err);
}

sct_status sct_store_problem_by_hash(sct_store *s, const char *spec_hash, sct_row_problem **rows,
                                     int *n, sct_error *err) {
  return list_problems(s, "WHERE t.spec_hash = ?", spec_hash, rows, n, err);
}

sct_status sct_store_problems(sct_store *s, sct_row_problem **rows, int *n, sct_error *err) {
  return list_problems(s, "ORDER BY t.name, t.id", NULL, rows, n, err);
}

sct_status sct_store_devices(sct_store *s, sct_row_device **rows, int *n, sct_error *err) {
  void *list = NULL;
  SCT_TRY(list_table(s, &sct_store_device_table, "ORDER BY t.id", NULL, 0, 0, &list, n, err));
  *rows = list;
  return SCT_OK;
}

sct_status sct_store_fetch(sct_store *s, const sct_store_table *table, sct_id id, void *row,
                           sct_error *err) {
  sct_store_query q = {0};
  sct_str sql = {0};
  bool any = false;
  sct_str_append(&sql, "SELECT ");
  sct_store_column_list(&sql, s, table, "t", true);
  sct_str_printf(&sql, " FROM %s t WHERE t.id = ?", table->name);
  sct_status status = sct_store_query_start(&q, s, sct_str_c(&sql), err);
  if (status == SCT_OK) {
    sct_store_bind_id(&q, id);
    status = sct_store_query_step(&q, &any, err);
  }
  if (status == SCT_OK) {
    status = any ? sct_store_read_row(&q, table, row, err)
                 : sct_fail(err, SCT_EDATA, "the store '%s' has no row %lld in '%s'", s->path,
                            (long long)id, table->name);
  }
  sct_store_query_end(&q);
  sct_str_free(&sql);
  return status;
}

sct_status sct_store_candidates(sct_store *s, sct_id problem, sct_row_result **rows, int *n,
                                sct_error *err) {
  void *list = NULL;
  SCT_TRY(list_table(s, &sct_store_candidate_table, "WHERE t.problem = ? ORDER BY t.source_hash",
                     NULL, problem, 0, &list, n, err));
  *rows = list;
  return SCT_OK;
}

/* ---- runs */

typedef struct sized_run {
  sct_row_run row;
  double n_elements;
} sized_run;

/* The product of the extents; 0 if they are not a JSON object of numbers. */
static double count_elements(const char *extents) {
  json_t *const object = sct_json_load(extents);
  double n = json_object_size(object) > 0 ? 1 : 0;
  const char *name = NULL;
  json_t *value = NULL;
  json_object_foreach(object, name, value) {
    n *= json_number_value(value);
  }
  json_decref(object);
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
  sized_run *const sized = sct_alloc((size_t)n * sizeof(*sized));
  for (int i = 0; i < n; ++i) {
    sized[i] = (sized_run){rows[i], count_elements(rows[i].extents)};
  }
  qsort(sized, (size_t)n, sizeof(*sized), compare_runs);
  for (int i = 0; i < n; ++i) {
    rows[i] = sized[i].row;
  }
  sct_free(sized);
}

/* A winner may have failed when it was measured again, in a store that was merged into this one:
 * then it is none. */
static sct_status withhold_winners(sct_store *s, sct_row_run *rows, int n, sct_error *err) {
  for (int i = 0; i < n; ++i) {
    sct_store_query q = {0};
    bool good = true;
    sct_status status = SCT_OK;
    if (rows[i].winner != 0) {
      status = sct_store_query_start(&q, s, "SELECT 1 FROM outcome WHERE id = ? AND outcome = 'ok'",
                                     err);
      if (status == SCT_OK) {
        sct_store_bind_id(&q, rows[i].winner);
        status = sct_store_query_step(&q, &good, err);
      }
      sct_store_query_end(&q);
    }
    SCT_TRY(status);
    rows[i].winner = good ? rows[i].winner : 0;
  }
  return SCT_OK;
}

sct_status sct_store_all_runs(sct_store *s, sct_id problem, sct_row_run **rows, int *n,
                              sct_error *err) {
  void *list = NULL;
  SCT_TRY(
      list_table(s, &sct_store_run_table, "WHERE t.problem = ?", NULL, problem, 0, &list, n, err));
  *rows = list;
  return SCT_OK;
}

sct_status sct_store_runs(sct_store *s, sct_id problem, sct_id device, sct_row_run **rows, int *n,
                          sct_error *err) {
  void *list = NULL;
  const char *const where =
      device != 0 ? "WHERE t.problem = ? AND t.device = ?" : "WHERE t.problem = ?";
  SCT_TRY(list_table(s, &sct_store_run_table, where, NULL, problem, device, &list, n, err));
  sort_runs(list, *n);
  sct_status status = withhold_winners(s, list, *n, err);
  if (status != SCT_OK) {
    sct_row_run_free(list, *n);
    return status;
  }
  *rows = list;
  return SCT_OK;
}

/* ---- results */

static const sct_store_table *const RESULT[] = {&sct_store_candidate_table,
                                                &sct_store_outcome_table};

static const sct_store_table *const EARLIER[] = {&sct_store_candidate_table,
                                                 &sct_store_earlier_table};

/* `where` has one id and, if `text` is not NULL, one text as parameters. */
static sct_status list_results(sct_store *s, const sct_store_table *const tables[2],
                               const char *where, sct_id id, const char *text, bool heavy,
                               void **out, int *n, sct_error *err) {
  sct_store_query q = {0};
  sct_str sql = {0};
  sct_str_append(&sql, "SELECT ");
  sct_store_column_list(&sql, s, tables[0], "c", heavy);
  sct_str_append(&sql, ", ");
  sct_store_column_list(&sql, s, tables[1], "o", heavy);
  sct_str_printf(&sql, " FROM %s o JOIN candidate c ON c.id = o.candidate %s", tables[1]->name,
                 where);
  sct_status status = sct_store_query_start(&q, s, sct_str_c(&sql), err);
  if (status == SCT_OK) {
    sct_store_bind_id(&q, id);
    if (text != NULL) {
      sct_store_bind_text(&q, text);
    }
    status = read_rows(&q, tables, 2, out, n, err);
  }
  sct_store_query_end(&q);
  sct_str_free(&sql);
  return status;
}

sct_status sct_store_results(sct_store *s, sct_id run, bool with_source, sct_row_result **rows,
                             int *n, sct_error *err) {
  /* Comparisons with NULL, which a NaN becomes, are neither true nor false: ifnull decides. */
  static const char where[] =
      "WHERE o.run = ? ORDER BY ifnull(o.median_ns > 0, 0) DESC,"
      " CASE WHEN o.median_ns > 0 THEN o.median_ns END,"
      " ifnull(o.sectors_ld >= 0 AND o.sectors_st >= 0, 0) DESC,"
      " CASE WHEN o.sectors_ld >= 0 AND o.sectors_st >= 0 THEN o.sectors_ld + o.sectors_st END,"
      " c.label, o.id";
  void *list = NULL;
  SCT_TRY(list_results(s, RESULT, where, run, NULL, with_source, &list, n, err));
  *rows = list;
  return SCT_OK;
}

sct_status sct_store_earlier(sct_store *s, sct_id run, sct_row_result **rows, int *n,
                             sct_error *err) {
  void *list = NULL;
  *n = 0;
  *rows = NULL;
  if (s->schema < sct_store_earlier_table.since) {
    return SCT_OK;
  }
  SCT_TRY(list_results(s, EARLIER, "WHERE o.run = ? ORDER BY o.measured, o.content", run, NULL,
                       true, &list, n, err));
  *rows = list;
  return SCT_OK;
}

sct_status sct_store_count(sct_store *s, sct_id problem, sct_id device, int *n, sct_error *err) {
  sct_store_query q;
  bool row = false;
  sct_status status =
      sct_store_query_start(&q, s,
                            "SELECT count(*) FROM outcome o JOIN run r ON r.id = o.run"
                            " WHERE r.problem = ? AND r.device = ?",
                            err);
  if (status == SCT_OK) {
    sct_store_bind_id(&q, problem);
    sct_store_bind_id(&q, device);
    status = sct_store_query_step(&q, &row, err);
  }
  *n = status == SCT_OK && row ? (int)sct_store_read_id(&q) : 0;
  sct_store_query_end(&q);
  return status;
}

/* Moves the only row of a list into the caller's. */
static bool take_only(void *list, int n, sct_row_result *row) {
  sct_row_result *const rows = list;
  if (n > 0) {
    *row = rows[0];
    memset(&rows[0], 0, sizeof(rows[0]));
  }
  sct_row_result_free(rows, n);
  return n > 0;
}

sct_status sct_store_result(sct_store *s, sct_id outcome, sct_row_result *row, sct_error *err) {
  void *list = NULL;
  int n = 0;
  SCT_TRY(list_results(s, RESULT, "WHERE o.id = ?", outcome, NULL, true, &list, &n, err));
  return take_only(list, n, row) ? SCT_OK
                                 : sct_fail(err, SCT_EDATA, "the store '%s' has no outcome %lld",
                                            s->path, (long long)outcome);
}

sct_status sct_store_find(sct_store *s, sct_id run, const char *source_hash, sct_row_result *row,
                          bool *found, sct_error *err) {
  void *list = NULL;
  int n = 0;
  /* By way of the run's problem: the candidates' key begins with it. */
  static const char where[] = "WHERE o.run = ?1 AND c.source_hash = ?2 AND "
                              "c.problem = (SELECT r.problem FROM run r WHERE r.id = ?1)";
  SCT_TRY(list_results(s, RESULT, where, run, source_hash, true, &list, &n, err));
  *found = take_only(list, n, row);
  return SCT_OK;
}

/* ---- freeing */

static void free_list(const sct_store_table *table, void *rows, int n) {
  free_rows(&table, 1, rows, rows != NULL ? (size_t)n : 0);
}

void sct_row_problem_free(sct_row_problem *rows, int n) {
  free_list(&sct_store_problem_table, rows, n);
}

void sct_row_device_free(sct_row_device *rows, int n) {
  free_list(&sct_store_device_table, rows, n);
}

void sct_row_run_free(sct_row_run *rows, int n) {
  free_list(&sct_store_run_table, rows, n);
}

/* Earlier outcomes have all columns of the others. */
void sct_row_result_free(sct_row_result *rows, int n) {
  free_rows(EARLIER, SCT_COUNT(EARLIER), rows, rows != NULL ? (size_t)n : 0);
}

void sct_row_result_clear(sct_row_result *row) {
  sct_store_clear_row(EARLIER[0], row);
  sct_store_clear_row(EARLIER[1], row);
}
