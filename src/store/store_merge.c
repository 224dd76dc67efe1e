/* store_merge - several stores into one, in one transaction. */
#include "store/store_internal.h"

#include <stdlib.h>
#include <string.h>

/* What the rows of one table have become: ids of the source, ascending, and where they are now. */
typedef struct moved_row {
  sct_id from, to;
  sct_id problem; /* of a candidate or run, in the target */
  bool inserted;
} moved_row;

typedef struct id_map {
  moved_row *rows;
  size_t n, cap;
} id_map;

typedef struct merge {
  sct_store *to, *from;
  id_map problems, devices, runs, candidates;
} merge;

static void note(id_map *map, moved_row row) {
  SCT_GROW(map->rows, map->n, map->cap);
  map->rows[map->n++] = row;
}

static int by_from(const void *a, const void *b) {
  const sct_id x = ((const moved_row *)a)->from, y = ((const moved_row *)b)->from;
  return (x > y) - (x < y);
}

static const moved_row *find(const merge *m, const id_map *map, sct_id from, const char *table,
                             sct_error *err) {
  const moved_row key = {.from = from};
  const moved_row *row = map->n > 0 ? bsearch(&key, map->rows, map->n, sizeof(key), by_from) : NULL;
  if (row == NULL) {
    (void)sct_fail(err, SCT_EDATA,
                   "the store '%s' is damaged: something refers to row %lld of '%s', which it has "
                   "not; nothing was merged",
                   m->from->path, (long long)from, table);
  }
  return row;
}

/* ---- one row of each table */

static sct_status move_problem(merge *m, void *row, sct_error *err) {
  const sct_row_problem *const p = row;
  moved_row moved = {.from = p->id};
  SCT_TRY(sct_store_join_row(m->to, &sct_store_problem_table, p, &moved.to, err));
  note(&m->problems, moved);
  return SCT_OK;
}

static sct_status move_device(merge *m, void *row, sct_error *err) {
  const sct_row_device *const d = row;
  moved_row moved = {.from = d->id};
  SCT_TRY(sct_store_join_row(m->to, &sct_store_device_table, d, &moved.to, err));
  note(&m->devices, moved);
  return SCT_OK;
}

static sct_status move_run(merge *m, void *row, sct_error *err) {
  sct_row_run *const r = row;
  const moved_row *const problem = find(m, &m->problems, r->problem, "problem", err);
  const moved_row *const device =
      problem != NULL ? find(m, &m->devices, r->device, "device", err) : NULL;
  if (device == NULL) {
    return SCT_EDATA;
  }
  moved_row moved = {.from = r->id, .problem = problem->to};
  r->problem = problem->to;
  r->device = device->to;
  SCT_TRY(sct_store_join_run(m->to, r, &moved.to, &moved.inserted, err));
  note(&m->runs, moved);
  return SCT_OK;
}

static sct_status move_candidate(merge *m, void *row, sct_error *err) {
  sct_row_result *const c = row;
  const moved_row *const problem = find(m, &m->problems, c->candidate.problem, "problem", err);
  if (problem == NULL) {
    return SCT_EDATA;
  }
  moved_row moved = {.from = c->candidate.id, .problem = problem->to};
  c->candidate.problem = problem->to;
  SCT_TRY(sct_store_join_row(m->to, &sct_store_candidate_table, c, &moved.to, err));
  note(&m->candidates, moved);
  return SCT_OK;
}

static sct_status move_outcome(merge *m, void *row, sct_error *err) {
  sct_row_result *const o = row;
  const moved_row *const run = find(m, &m->runs, o->outcome.run, "run", err);
  const moved_row *const candidate =
      run != NULL ? find(m, &m->candidates, o->outcome.candidate, "candidate", err) : NULL;
  if (candidate == NULL) {
    return SCT_EDATA;
  }
  if (run->problem != candidate->problem) {
    return sct_fail(err, SCT_EDATA,
                    "the store '%s' is damaged: outcome %lld is of a candidate of another problem; "
                    "nothing was merged",
                    m->from->path, (long long)o->outcome.id);
  }
  o->outcome.run = run->to;
  o->outcome.candidate = candidate->to;
  return sct_store_join_outcome(m->to, o, err);
}

/* Source hash of the candidate that a run's winner or naive variant is. */
static sct_status name_outcome(merge *m, sct_id outcome, char **out, sct_error *err) {
  sct_row_result row = {0};
  *out = NULL;
  if (outcome == 0) {
    *out = sct_strdup("");
  } else {
    SCT_TRY(sct_store_result(m->from, outcome, &row, err));
    *out = row.candidate.source_hash;
    row.candidate.source_hash = NULL;
    sct_row_result_clear(&row);
  }
  return SCT_OK;
}

/* Outcomes are there now: what the run ended with can be named. */
static sct_status end_run(merge *m, void *row, sct_error *err) {
  const sct_row_run *const r = row;
  char *winner = NULL, *naive = NULL;
  const moved_row *const moved = find(m, &m->runs, r->id, "run", err);
  sct_status status = moved != NULL ? name_outcome(m, r->winner, &winner, err) : SCT_EDATA;
  if (status == SCT_OK) {
    status = name_outcome(m, r->naive, &naive, err);
  }
  if (status == SCT_OK) {
    status = sct_store_join_end(m->to, moved->to, moved->inserted, r, winner, naive, err);
  }
  sct_free(winner);
  sct_free(naive);
  return status;
}

/* ---- all rows */

static sct_status each(merge *m, const sct_store_table *table,
                       sct_status (*move)(merge *m, void *row, sct_error *err), sct_error *err) {
  sct_store_query q = {0};
  sct_str sql = {0};
  bool more = false;
  if (table->since > m->from->schema) {
    return SCT_OK;
  }
  void *const row = sct_alloc(table->row_bytes);
  sct_str_append(&sql, "SELECT ");
  sct_store_column_list(&sql, m->from, table, "t", true);
  sct_str_printf(&sql, " FROM %s t ORDER BY t.id", table->name);
  sct_status status = sct_store_query_start(&q, m->from, sct_str_c(&sql), err);
  if (status == SCT_OK) {
    status = sct_store_query_step(&q, &more, err);
  }
  while (status == SCT_OK && more) {
    memset(row, 0, table->row_bytes);
    status = sct_store_read_row(&q, table, row, err);
    if (status == SCT_OK) {
      status = move(m, row, err);
    }
    sct_store_clear_row(table, row);
    if (status == SCT_OK) {
      status = sct_store_query_step(&q, &more, err);
    }
  }
  sct_store_query_end(&q);
  sct_str_free(&sql);
  sct_free(row);
  return status;
}

static sct_status merge_one(sct_store *to, sct_store *from, sct_error *err) {
  merge m = {.to = to, .from = from};
  sct_status status = SCT_OK;
  SCT_TRY(sct_store_exec(from, "BEGIN", err)); /* all of it as of one moment */
  SCT_TRY_DONE(each(&m, &sct_store_problem_table, move_problem, err));
  SCT_TRY_DONE(each(&m, &sct_store_device_table, move_device, err));
  SCT_TRY_DONE(each(&m, &sct_store_run_table, move_run, err));
  SCT_TRY_DONE(each(&m, &sct_store_candidate_table, move_candidate, err));
  SCT_TRY_DONE(each(&m, &sct_store_outcome_table, move_outcome, err));
  SCT_TRY_DONE(each(&m, &sct_store_earlier_table, move_outcome, err));
  status = each(&m, &sct_store_run_table, end_run, err);
done:
  sct_store_leave(from);
  sct_free(m.problems.rows);
  sct_free(m.devices.rows);
  sct_free(m.runs.rows);
  sct_free(m.candidates.rows);
  return status;
}

sct_status sct_store_merge(sct_store *to, sct_store *const *from, int n, sct_error *err) {
  SCT_TRY(sct_store_begin(to, err));
  sct_status status = SCT_OK;
  for (int k = 0; k < n && status == SCT_OK; ++k) {
    status = merge_one(to, from[k], err);
  }
  return sct_store_end(to, status, err);
}
