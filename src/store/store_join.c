/* store_join - the union of two stores, row by row.
 *
 * What is known of a candidate in a run is a set of outcomes, each named by its content: joining is
 * the union of the sets, and which of them stands as the outcome follows from the set alone. Every
 * rule here is a maximum or a minimum, so the result does not depend on the order, nor on how often
 * something is joined. docs/store.md states the rules. */
#include "store/store_internal.h"

#include <math.h>
#include <string.h>

/* Two rows with one key and different contents: the one with the lesser hash. */
static bool prevails(const sct_store_table *table, const void *row, const void *known) {
  char a[SCT_HASH_HEX], b[SCT_HASH_HEX];
  return strcmp(sct_store_row_hash(a, table, row), sct_store_row_hash(b, table, known)) < 0;
}

sct_status sct_store_join_row(sct_store *s, const sct_store_table *table, const void *row,
                              sct_id *id, sct_error *err) {
  bool inserted = false;
  SCT_TRY(sct_store_insert(s, table, row, id, &inserted, err));
  if (inserted) {
    return SCT_OK;
  }
  sct_arena_free(&s->scratch);
  void *const known = sct_arena_alloc(&s->scratch, table->row_bytes);
  SCT_TRY(sct_store_fetch(s, &s->scratch, table, *id, known, err));
  return prevails(table, row, known) ? sct_store_update(s, table, row, SCT_STORE_VALUE, *id, err)
                                     : SCT_OK;
}

/* ---- runs */

static const char *lesser(const char *a, const char *b) {
  return strcmp(a, b) <= 0 ? a : b;
}

sct_status sct_store_join_run(sct_store *s, const sct_row_run *row, sct_id *id, bool *inserted,
                              sct_error *err) {
  const sct_row_run open = {.problem = row->problem,
                            .device = row->device,
                            .size_label = row->size_label,
                            .extents = row->extents,
                            .read_bytes = row->read_bytes,
                            .write_bytes = row->write_bytes,
                            .started = row->started};
  SCT_TRY(sct_store_insert(s, &sct_store_run_table, &open, id, inserted, err));
  if (*inserted) {
    return SCT_OK;
  }
  sct_row_run known;
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_run_table, *id, &known, err));
  sct_row_run merged = prevails(&sct_store_run_table, row, &known) ? open : known;
  merged.started = lesser(row->started, known.started);
  return sct_store_update(s, &sct_store_run_table, &merged, SCT_STORE_FIXED, *id, err);
}

/* Source hash of an outcome's candidate, "" for outcome 0. */
static sct_status hash_of(sct_store *s, sct_id outcome, char out[2 * SCT_HASH_HEX],
                          sct_error *err) {
  SCT_SCOPED(sct_store_query) q = {0};
  bool row = false;
  sct_status status = sct_store_query_start(&q, s, err,
                                            "SELECT c.source_hash FROM outcome o JOIN candidate c "
                                            "ON c.id = o.candidate WHERE o.id = ?",
                                            "i", outcome);
  SCT_THEN(sct_store_query_step(&q, &row, err));
  snprintf(out, 2 * SCT_HASH_HEX, "%s",
           status == SCT_OK && row ? (const char *)sqlite3_column_text(q.stmt, 0) : "");
  return status;
}

/* The outcome of a run that has this source hash; 0 for "". */
static sct_status outcome_of(sct_store *s, sct_id run, const char *hash, sct_id *out,
                             sct_error *err) {
  SCT_TRY(sct_store_query_ids(s, err, out, 1, NULL,
                              "SELECT o.id FROM outcome o JOIN candidate c ON c.id = "
                              "o.candidate WHERE o.run = ? AND c.source_hash = ?",
                              "it", run, hash));
  if (*out == 0 && hash[0] != '\0') {
    return sct_fail(err, SCT_EDATA, "a run's winner or naive variant '%s' is none of its outcomes",
                    hash);
  }
  return SCT_OK;
}

/* How a run ended, as text that orders: the later first of all, then whatever it says. */
static void describe_end(sct_str *out, const sct_row_run *run, const char *winner,
                         const char *naive) {
  sct_str_printf(out, "%s\n%a\n%a\n%d\n%d\n%s\n%s\n%s", run->finished, run->ceiling_bytes_s,
                 run->noise, run->n_tied, run->raced, winner, naive, run->conditions);
}

/* Counts follow from the outcomes. Once for all that was joined: a thousand shards have one run. */
sct_status sct_store_join_counts(sct_store *s, sct_error *err) {
  return sct_store_exec(
      s,
      "UPDATE run SET (n_candidates, n_verified, n_failed) = (SELECT count(*), "
      "count(*) FILTER (WHERE outcome = 'ok'), count(*) FILTER (WHERE outcome <> 'ok') "
      "FROM outcome WHERE outcome.run = run.id)",
      err);
}

sct_status sct_store_join_end(sct_store *s, sct_id id, bool inserted, const sct_row_run *row,
                              const char *winner, const char *naive, sct_error *err) {
  sct_row_run known = {0};
  SCT_SCOPED(sct_str) mine = {0}, theirs = {0};
  char known_winner[2 * SCT_HASH_HEX], known_naive[2 * SCT_HASH_HEX];
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_run_table, id, &known, err));
  SCT_TRY(hash_of(s, known.winner, known_winner, err));
  SCT_TRY(hash_of(s, known.naive, known_naive, err));
  describe_end(&mine, &known, known_winner, known_naive);
  describe_end(&theirs, row, winner, naive);
  const bool take = inserted || strcmp(theirs.data, mine.data) > 0;
  sct_row_run merged = take ? *row : known;
  merged.id = id;
  if (take) {
    SCT_TRY(outcome_of(s, id, winner, &merged.winner, err));
    SCT_TRY(outcome_of(s, id, naive, &merged.naive, err));
  }
  return sct_store_update(s, &sct_store_run_table, &merged, SCT_STORE_FINISH, id, err);
}

/* ---- outcomes */

/* The greater one of two copies: by the newer rule, and by that what speaks for the kernel. */
static sct_row_coalesced greater(const sct_row_coalesced *a, const sct_row_coalesced *b) {
  const double keys[][2] = {{a->rule, b->rule},      {a->coalesced, b->coalesced},
                            {a->share, b->share},    {a->utilisation, b->utilisation},
                            {a->passes, b->passes},  {a->sectors_error, b->sectors_error},
                            {a->unknown, b->unknown}};
  for (int k = 0; k < SCT_COUNT(keys); k++) {
    const double x = isnan(keys[k][0]) ? 0.0 : keys[k][0], y = isnan(keys[k][1]) ? 0.0 : keys[k][1];
    if (x != y) {
      return x > y ? *a : *b;
    }
  }
  return *a;
}

/* Joins two copies of one outcome: the earlier time of measuring counts. */
static sct_status join_notes(sct_store *s, const sct_store_table *table, sct_row_result *known,
                             const sct_row_result *row, sct_id id, sct_error *err) {
  sct_row_result merged = *known;
  merged.outcome.measured = lesser(known->outcome.measured, row->outcome.measured);
  merged.outcome.how = greater(&known->outcome.how, &row->outcome.how);
  if (strcmp(merged.outcome.measured, known->outcome.measured) == 0 &&
      sct_row_coalesced_same(&merged.outcome.how, &known->outcome.how)) {
    return SCT_OK;
  }
  return sct_store_update(s, table, &merged, SCT_STORE_EVALUATED | SCT_STORE_STAMP, id, err);
}

static sct_status join_earlier(sct_store *s, const sct_row_result *row, sct_error *err) {
  bool inserted = false;
  sct_id id = 0;
  sct_row_result known;
  SCT_TRY(sct_store_insert(s, &sct_store_earlier_table, row, &id, &inserted, err));
  if (inserted) {
    return SCT_OK;
  }
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_earlier_table, id, &known, err));
  return join_notes(s, &sct_store_earlier_table, &known, row, id, err);
}

/* Puts the earlier outcome `latest` in the place of outcome `id`, if it is later. */
static sct_status settle(sct_store *s, sct_id id, sct_id latest, sct_error *err) {
  sct_row_result now, other;
  char content[SCT_HASH_HEX];
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_outcome_table, id, &now, err));
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_earlier_table, latest, &other, err));
  (void)sct_store_row_hash(content, &sct_store_outcome_table, &now);
  const int order = strcmp(other.outcome.measured, now.outcome.measured);
  if (order < 0 || (order == 0 && strcmp(other.outcome.content, content) <= 0)) {
    return SCT_OK;
  }
  now.outcome.content = content;
  SCT_TRY(join_earlier(s, &now, err));
  SCT_TRY(
      sct_store_query_ids(s, err, NULL, 0, NULL, "DELETE FROM earlier WHERE id = ?", "i", latest));
  return sct_store_update(s, &sct_store_outcome_table, &other, SCT_STORE_VALUE, id, err);
}

sct_status sct_store_join_outcome(sct_store *s, sct_row_result *row, sct_error *err) {
  bool inserted = false;
  sct_id id = 0, latest = 0;
  SCT_TRY(sct_store_insert(s, &sct_store_outcome_table, row, &id, &inserted, err));
  if (inserted) {
    return SCT_OK;
  }
  char mine[SCT_HASH_HEX], theirs[SCT_HASH_HEX];
  sct_row_result known;
  sct_arena_free(&s->scratch);
  SCT_TRY(sct_store_fetch(s, &s->scratch, &sct_store_outcome_table, id, &known, err));
  (void)sct_store_row_hash(mine, &sct_store_outcome_table, &known);
  (void)sct_store_row_hash(theirs, &sct_store_outcome_table, row);
  if (strcmp(mine, theirs) == 0) {
    SCT_TRY(join_notes(s, &sct_store_outcome_table, &known, row, id, err));
  } else {
    sct_row_result other = *row;
    other.outcome.content = theirs;
    SCT_TRY(join_earlier(s, &other, err));
  }
  SCT_TRY(sct_store_query_ids(s, err, &latest, 1, NULL,
                              "SELECT id FROM earlier WHERE run = ? AND candidate = ? "
                              "ORDER BY measured DESC, content DESC LIMIT 1",
                              "ii", row->outcome.run, row->outcome.candidate));
  return latest != 0 ? settle(s, id, latest, err) : SCT_OK;
}
