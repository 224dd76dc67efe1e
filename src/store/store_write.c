/* store_write - putting rows: insert what is new, find what is there, in one transaction. */
#include "store/store_internal.h"

#include <string.h>

/* Appends the names of the wanted columns, each followed by `suffix`, with `separator` between. */
static void append_names(sct_str *sql, const sct_store_table *table, unsigned choice,
                         const char *suffix, const char *separator) {
  const char *between = "";
  for (int i = 0; i < table->n_columns; ++i) {
    if (sct_store_is_chosen(&table->columns[i], choice)) {
      sct_str_append(sql, between);
      sct_str_append(sql, table->columns[i].name);
      sct_str_append(sql, suffix);
      between = separator;
    }
  }
}

/* Runs one statement on the chosen columns of a row, then `id` (0: none). *found receives the first
 * column of the answer, if there is one. */
static sct_status run_on_row(sct_store *s, sct_str *sql, const sct_store_table *table,
                             const void *row, unsigned choice, sct_id id, sct_id *found,
                             sct_error *err) {
  SCT_SCOPED(sct_store_query) q = {0};
  bool any = false;
  sct_status status = sct_store_query_start(&q, s, err, sct_str_c(sql), "");
  if (status == SCT_OK) {
    sct_store_bind_row(&q, table, row, choice);
    if (id != 0) {
      sct_store_bind_id(&q, id);
    }
    status = sct_store_query_step(&q, &any, err);
  }
  if (status == SCT_OK && any && found != NULL) {
    *found = sqlite3_column_int64(q.stmt, 0);
  }
  sct_str_free(sql);
  return status;
}

static sct_status find_row(sct_store *s, const sct_store_table *table, const void *row, sct_id *id,
                           sct_error *err) {
  sct_str sql = {0};
  sct_str_printf(&sql, "SELECT id FROM %s WHERE ", table->name);
  append_names(&sql, table, SCT_STORE_KEY, " = ?", " AND ");
  *id = 0;
  SCT_TRY(run_on_row(s, &sql, table, row, SCT_STORE_KEY, 0, id, err));
  return *id != 0 ? SCT_OK
                  : sct_fail(err, SCT_EINTERNAL, "the store '%s': a row of '%s' vanished", s->path,
                             table->name);
}

static void append_insert(sct_str *sql, const sct_store_table *table) {
  sct_str_printf(sql, "INSERT INTO %s (", table->name);
  append_names(sql, table, SCT_STORE_ALL, "", ", ");
  sct_str_append(sql, ") VALUES (");
  for (int i = 0; i < table->n_columns; ++i) {
    sct_str_append(sql, i > 0 ? ", ?" : "?");
  }
  sct_str_append(sql, ") ON CONFLICT (");
  append_names(sql, table, SCT_STORE_KEY, "", ", ");
  sct_str_append(sql, ") DO NOTHING");
}

sct_status sct_store_insert(sct_store *s, const sct_store_table *table, const void *row, sct_id *id,
                            bool *inserted, sct_error *err) {
  sct_str sql = {0};
  append_insert(&sql, table);
  SCT_TRY(run_on_row(s, &sql, table, row, SCT_STORE_ALL, 0, NULL, err));
  *inserted = sqlite3_changes(s->db) > 0;
  if (*inserted) {
    *id = sqlite3_last_insert_rowid(s->db);
    return SCT_OK;
  }
  return find_row(s, table, row, id, err);
}

sct_status sct_store_update(sct_store *s, const sct_store_table *table, const void *row,
                            unsigned choice, sct_id id, sct_error *err) {
  sct_str sql = {0};
  sct_str_printf(&sql, "UPDATE %s SET ", table->name);
  append_names(&sql, table, choice, " = ?", ", ");
  sct_str_append(&sql, " WHERE id = ?");
  SCT_TRY(run_on_row(s, &sql, table, row, choice, id, NULL, err));
  return sqlite3_changes(s->db) == 1
             ? SCT_OK
             : sct_fail(err, SCT_EDATA, "the store '%s' has no row %lld in '%s'", s->path,
                        (long long)id, table->name);
}

/* One row in a transaction of its own. */
static sct_status put_alone(sct_store *s, const sct_store_table *table, const void *row, sct_id *id,
                            sct_error *err) {
  bool inserted = false;
  sct_id found = 0;
  SCT_TRY(sct_store_begin(s, err));
  SCT_TRY(sct_store_end(s, sct_store_insert(s, table, row, &found, &inserted, err), err));
  *id = found;
  return SCT_OK;
}

/* Whether the row has a signature, and the stored problem another one. */
static sct_status signature_differs(bool *differs, sct_store *s, const sct_row_problem *row,
                                    sct_id id, sct_error *err) {
  sct_row_problem known = {0};
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_problem_table, id, &known, err));
  const char *text = row->signature != NULL ? row->signature : "";
  *differs = text[0] != '\0' && strcmp(known.signature, text) != 0;
  return SCT_OK;
}

static sct_status put_problem(sct_store *s, const sct_row_problem *row, sct_id *id,
                              sct_error *err) {
  bool inserted = false;
  bool differs = false;
  SCT_TRY(sct_store_insert(s, &sct_store_problem_table, row, id, &inserted, err));
  SCT_TRY(signature_differs(&differs, s, row, *id, err));
  return differs ? sct_store_update(s, &sct_store_problem_table, row, SCT_STORE_RENEWED, *id, err)
                 : SCT_OK;
}

/* The signature follows from the spec and this version of the program, so an
 * older one's gives way. */
sct_status sct_store_put_problem(sct_store *s, sct_row_problem *row, sct_error *err) {
  sct_id found = 0;
  SCT_TRY(sct_store_begin(s, err));
  SCT_TRY(sct_store_end(s, put_problem(s, row, &found, err), err));
  row->id = found;
  return SCT_OK;
}

char *sct_store_device_key(char out[SCT_HASH_HEX], const sct_row_device *row) {
  const bool has_uuid = row->uuid != NULL && row->uuid[0] != '\0';
  const char *const parts[] = {row->name, has_uuid ? row->uuid : row->device_id, row->driver,
                               row->nvrtc, row->options};
  SCT_SCOPED(sct_str) text = {0};
  for (int i = 0; i < SCT_COUNT(parts); ++i) {
    sct_str_printf(&text, "%s\n", parts[i] != NULL ? parts[i] : "");
  }
  sct_str_printf(&text, "%d\n%d\n%d.%d\n", row->measurement, row->clock_khz, row->cc_major,
                 row->cc_minor);
  (void)sct_hash_hex(out, sct_hash_bytes(sct_str_c(&text), text.len));
  return out;
}

sct_status sct_store_put_device(sct_store *s, sct_row_device *row, sct_error *err) {
  char key[SCT_HASH_HEX];
  sct_row_device keyed = *row;
  if (row->key == NULL || row->key[0] == '\0') {
    keyed.key = sct_store_device_key(key, row);
  }
  return put_alone(s, &sct_store_device_table, &keyed, &row->id, err);
}

sct_status sct_store_put_run(sct_store *s, sct_row_run *row, sct_error *err) {
  return put_alone(s, &sct_store_run_table, row, &row->id, err);
}

/* A header is made of what a run names: that must be one of its own outcomes. */
static sct_status check_outcome(sct_store *s, sct_id run, sct_id outcome, sct_error *err) {
  bool found = outcome == 0;
  if (!found) {
    SCT_TRY(sct_store_query_ids(s, err, NULL, 0, &found,
                                "SELECT 1 FROM outcome WHERE run = ? AND id = ?", "ii", run,
                                outcome));
  }
  return found ? SCT_OK
               : sct_fail(err, SCT_EINTERNAL, "the store '%s': outcome %lld is not one of run %lld",
                          s->path, (long long)outcome, (long long)run);
}

static sct_status finish_run(sct_store *s, const sct_row_run *row, sct_error *err) {
  SCT_TRY(check_outcome(s, row->id, row->winner, err));
  SCT_TRY(check_outcome(s, row->id, row->naive, err));
  return sct_store_update(s, &sct_store_run_table, row, SCT_STORE_FINISH, row->id, err);
}

sct_status sct_store_finish_run(sct_store *s, const sct_row_run *row, sct_error *err) {
  SCT_TRY(sct_store_begin(s, err));
  return sct_store_end(s, finish_run(s, row, err), err);
}

/* The outcome `old` becomes an earlier one, and `row` stands in its place, unless both say the
 * same.
 */
static sct_status replace_outcome(sct_store *s, sct_row_result *old, sct_row_result *row,
                                  sct_error *err) {
  char before[SCT_HASH_HEX], after[SCT_HASH_HEX];
  (void)sct_store_row_hash(before, &sct_store_outcome_table, old);
  (void)sct_store_row_hash(after, &sct_store_outcome_table, row);
  if (strcmp(before, after) == 0) {
    return sct_row_coalesced_same(&old->outcome.how, &row->outcome.how)
               ? SCT_OK
               : sct_store_update(s, &sct_store_outcome_table, row, SCT_STORE_EVALUATED,
                                  row->outcome.id, err);
  }
  bool inserted = false;
  sct_id id = 0;
  old->outcome.content = before;
  SCT_TRY(sct_store_insert(s, &sct_store_earlier_table, old, &id, &inserted, err));
  SCT_TRY(sct_store_query_ids(s, err, NULL, 0, NULL, /* what stands is not an earlier one as well */
                              "DELETE FROM earlier WHERE run = ? AND candidate = ? AND content = ?",
                              "iit", row->outcome.run, row->outcome.candidate, after));
  return sct_store_update(s, &sct_store_outcome_table, row, SCT_STORE_VALUE, row->outcome.id, err);
}

static sct_status check_problem(sct_store *s, sct_id run, sct_id problem, sct_error *err) {
  bool found = false;
  SCT_TRY(sct_store_query_ids(s, err, NULL, 0, &found,
                              "SELECT 1 FROM run WHERE id = ? AND problem = ?", "ii", run,
                              problem));
  return found ? SCT_OK
               : sct_fail(err, SCT_EINTERNAL, "the store '%s': run %lld is not of problem %lld",
                          s->path, (long long)run, (long long)problem);
}

static sct_status put_result(sct_store *s, sct_row_result *row, bool replace, sct_error *err) {
  bool inserted = false;
  SCT_TRY(check_problem(s, row->outcome.run, row->candidate.problem, err));
  SCT_TRY(sct_store_insert(s, &sct_store_candidate_table, row, &row->candidate.id, &inserted, err));
  row->outcome.candidate = row->candidate.id;
  SCT_TRY(sct_store_insert(s, &sct_store_outcome_table, row, &row->outcome.id, &inserted, err));
  if (inserted || !replace) {
    return SCT_OK;
  }
  sct_row_result old;
  sct_arena_free(&s->scratch);
  SCT_TRY(sct_store_result(s, &s->scratch, row->outcome.id, &old, err));
  return replace_outcome(s, &old, row, err);
}

sct_status sct_store_put_result(sct_store *s, sct_row_candidate *cand, sct_row_outcome *outcome,
                                bool replace, sct_error *err) {
  sct_row_result row = {*cand, *outcome};
  /* The log is synced by the next change that is no result, and when the store is closed. */
  SCT_TRY(sct_store_exec(s, "PRAGMA synchronous = NORMAL", err));
  sct_status status = sct_store_begin(s, err);
  status = status == SCT_OK ? sct_store_end(s, put_result(s, &row, replace, err), err) : status;
  const sct_status again = sct_store_exec(s, "PRAGMA synchronous = FULL", status ? NULL : err);
  SCT_TRY(status == SCT_OK ? again : status);
  cand->id = row.candidate.id;
  outcome->candidate = row.candidate.id;
  outcome->id = row.outcome.id;
  return SCT_OK;
}

static sct_status put_coalesced(sct_store *s, const sct_id *outcomes, const sct_row_coalesced *how,
                                int n, sct_error *err) {
  for (int k = 0; k < n; ++k) {
    const sct_row_result row = {.outcome = {.how = how[k]}};
    SCT_TRY(
        sct_store_update(s, &sct_store_outcome_table, &row, SCT_STORE_EVALUATED, outcomes[k], err));
  }
  return SCT_OK;
}

sct_status sct_store_put_coalesced(sct_store *s, const sct_id *outcomes,
                                   const sct_row_coalesced *how, int n, sct_error *err) {
  if (n == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_store_begin(s, err));
  return sct_store_end(s, put_coalesced(s, outcomes, how, n, err), err);
}
