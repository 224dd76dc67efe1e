/* store_schema - the tables, column by column. docs/store.md says what they mean.
 *
 * A change here that an older program would misread raises SCT_STORE_SCHEMA. */
#include "store/store_internal.h"

#include <stddef.h>
#include <string.h>

#define TEXT(row, field)                                                                           \
  { .name = #field, .kind = SCT_COLUMN_TEXT, .offset = offsetof(row, field) }
#define JSON(row, field)                                                                           \
  { .name = #field, .kind = SCT_COLUMN_JSON, .offset = offsetof(row, field) }
#define INT(row, field)                                                                            \
  { .name = #field, .kind = SCT_COLUMN_INT, .offset = offsetof(row, field) }
#define BOOL(row, field)                                                                           \
  { .name = #field, .kind = SCT_COLUMN_BOOL, .offset = offsetof(row, field) }
#define REAL(row, field)                                                                           \
  { .name = #field, .kind = SCT_COLUMN_REAL, .offset = offsetof(row, field) }
#define KEY_TEXT(row, field)                                                                       \
  { .name = #field, .kind = SCT_COLUMN_TEXT, .offset = offsetof(row, field), .key = true }
#define KEY_REF(row, field, table)                                                                 \
  {                                                                                                \
    .name = #field, .kind = SCT_COLUMN_REF, .offset = offsetof(row, field), .refers = table,       \
    .key = true                                                                                    \
  }
/* Columns that came with a later schema. */
#define SINCE(row, field, column_kind, schema)                                                     \
  { .name = #field, .kind = column_kind, .offset = offsetof(row, field), .since = schema }
/* Columns that sct_store_finish_run() rewrites. */
#define FINISH(row, field, column_kind)                                                            \
  { .name = #field, .kind = column_kind, .offset = offsetof(row, field), .finish = true }
#define FINISH_REF(row, field, table)                                                              \
  {                                                                                                \
    .name = #field, .kind = SCT_COLUMN_MAY_REF, .offset = offsetof(row, field), .refers = table,   \
    .finish = true                                                                                 \
  }
/* Columns of a part (candidate, outcome) of sct_row_result. */
#define PART(part, field, column_kind)                                                             \
  { .name = #field, .kind = column_kind, .offset = offsetof(sct_row_result, part.field) }
#define PART_SINCE(part, field, column_kind, schema)                                               \
  {                                                                                                \
    .name = #field, .kind = column_kind, .offset = offsetof(sct_row_result, part.field),           \
    .since = schema                                                                                \
  }
#define STAMP(part, field, schema)                                                                 \
  {                                                                                                \
    .name = #field, .kind = SCT_COLUMN_TEXT, .offset = offsetof(sct_row_result, part.field),       \
    .since = schema, .stamp = true                                                                 \
  }
#define JUDGED(part, field)                                                                        \
  {                                                                                                \
    .name = #field, .kind = SCT_COLUMN_BOOL, .offset = offsetof(sct_row_result, part.field),       \
    .judged = true                                                                                 \
  }
#define SAMPLES(part, field, count)                                                                \
  {                                                                                                \
    .name = #field, .kind = SCT_COLUMN_SAMPLES, .offset = offsetof(sct_row_result, part.field),    \
    .count_offset = offsetof(sct_row_result, part.count), .heavy = true                            \
  }
#define PART_KEY(part, field, column_kind, table)                                                  \
  {                                                                                                \
    .name = #field, .kind = column_kind, .offset = offsetof(sct_row_result, part.field),           \
    .refers = table, .key = true                                                                   \
  }

static const sct_store_column problem_columns[] = {
    KEY_TEXT(sct_row_problem, spec_hash), TEXT(sct_row_problem, name),
    TEXT(sct_row_problem, spec_file),     TEXT(sct_row_problem, canonical),
    JSON(sct_row_problem, signature),
};

static const sct_store_column device_columns[] = {
    KEY_TEXT(sct_row_device, key),
    TEXT(sct_row_device, name),
    TEXT(sct_row_device, device_id),
    TEXT(sct_row_device, uuid),
    TEXT(sct_row_device, driver),
    TEXT(sct_row_device, nvrtc),
    TEXT(sct_row_device, tool),
    TEXT(sct_row_device, arch),
    INT(sct_row_device, cc_major),
    INT(sct_row_device, cc_minor),
    BOOL(sct_row_device, is_virtual),
    JSON(sct_row_device, description),
    SINCE(sct_row_device, measurement, SCT_COLUMN_INT, 3),
    SINCE(sct_row_device, clock_khz, SCT_COLUMN_INT, 3),
    SINCE(sct_row_device, options, SCT_COLUMN_TEXT, 3),
};

static const sct_store_column run_columns[] = {
    KEY_REF(sct_row_run, problem, "problem"),
    KEY_REF(sct_row_run, device, "device"),
    KEY_TEXT(sct_row_run, size_label),
    JSON(sct_row_run, extents),
    REAL(sct_row_run, read_bytes),
    REAL(sct_row_run, write_bytes),
    FINISH(sct_row_run, ceiling_bytes_s, SCT_COLUMN_REAL),
    FINISH(sct_row_run, noise, SCT_COLUMN_REAL),
    FINISH(sct_row_run, n_candidates, SCT_COLUMN_INT),
    FINISH(sct_row_run, n_verified, SCT_COLUMN_INT),
    FINISH(sct_row_run, n_failed, SCT_COLUMN_INT),
    FINISH(sct_row_run, n_tied, SCT_COLUMN_INT),
    {.name = "started",
     .kind = SCT_COLUMN_TEXT,
     .offset = offsetof(sct_row_run, started),
     .stamp = true},
    FINISH(sct_row_run, conditions, SCT_COLUMN_JSON),
    FINISH_REF(sct_row_run, winner, "outcome"),
    FINISH_REF(sct_row_run, naive, "outcome"),
    {.name = "finished",
     .kind = SCT_COLUMN_TEXT,
     .offset = offsetof(sct_row_run, finished),
     .finish = true,
     .since = 3},
    {.name = "raced",
     .kind = SCT_COLUMN_INT,
     .offset = offsetof(sct_row_run, raced),
     .finish = true,
     .since = 3},
};

static const sct_store_column candidate_columns[] = {
    PART_KEY(candidate, problem, SCT_COLUMN_REF, "problem"),
    PART_KEY(candidate, source_hash, SCT_COLUMN_TEXT, NULL),
    PART(candidate, label, SCT_COLUMN_TEXT),
    PART(candidate, strategy, SCT_COLUMN_TEXT),
    PART(candidate, axes, SCT_COLUMN_JSON),
    {.name = "source",
     .kind = SCT_COLUMN_TEXT,
     .offset = offsetof(sct_row_result, candidate.source),
     .heavy = true},
    PART(candidate, kernel, SCT_COLUMN_TEXT),
    PART(candidate, launch, SCT_COLUMN_JSON),
};

/* Options and resources belong to a compile for one architecture, so they stand with the outcome:
 * the same source has others on another device. An outcome and an earlier outcome have the same
 * columns; the second is one of several of its candidate, which what it says distinguishes. */
#define OUTCOME_COLUMNS                                                                            \
  PART_KEY(outcome, run, SCT_COLUMN_REF, "run"),                                                   \
      PART_KEY(outcome, candidate, SCT_COLUMN_REF, "candidate"),                                   \
      PART(outcome, outcome, SCT_COLUMN_TEXT), PART(outcome, detail, SCT_COLUMN_TEXT),             \
      PART(candidate, options, SCT_COLUMN_TEXT), PART(candidate, registers, SCT_COLUMN_INT),       \
      PART(candidate, spill_bytes, SCT_COLUMN_INT), PART(candidate, shared_bytes, SCT_COLUMN_INT), \
      PART(outcome, median_ns, SCT_COLUMN_REAL), PART(outcome, q1_ns, SCT_COLUMN_REAL),            \
      PART(outcome, q3_ns, SCT_COLUMN_REAL), PART(outcome, min_ns, SCT_COLUMN_REAL),               \
      PART(outcome, sm_clock_mhz, SCT_COLUMN_REAL), SAMPLES(outcome, samples_ns, n_samples),       \
      PART(outcome, requests_ld, SCT_COLUMN_REAL), PART(outcome, sectors_ld, SCT_COLUMN_REAL),     \
      PART(outcome, sectors_ld_ideal, SCT_COLUMN_REAL),                                            \
      PART(outcome, requests_st, SCT_COLUMN_REAL), PART(outcome, sectors_st, SCT_COLUMN_REAL),     \
      PART(outcome, sectors_st_ideal, SCT_COLUMN_REAL),                                            \
      PART(outcome, wavefronts, SCT_COLUMN_REAL), PART(outcome, degree, SCT_COLUMN_REAL),          \
      JUDGED(outcome, coalesced), PART(outcome, counts_exact, SCT_COLUMN_BOOL),                    \
      PART_SINCE(outcome, predicted_ns, SCT_COLUMN_REAL, 2),                                       \
      PART_SINCE(outcome, overhead_ns, SCT_COLUMN_REAL, 3),                                        \
      PART_SINCE(outcome, resident_ns, SCT_COLUMN_REAL, 3),                                        \
      PART_SINCE(outcome, launches, SCT_COLUMN_INT, 3),                                            \
      PART_SINCE(outcome, copies, SCT_COLUMN_INT64, 3),                                            \
      PART_SINCE(outcome, n_slow, SCT_COLUMN_INT, 3),                                              \
      PART_SINCE(outcome, race, SCT_COLUMN_TEXT, 3), STAMP(outcome, measured, 3),                  \
      PART_SINCE(outcome, small_size, SCT_COLUMN_JSON, 3)

static const sct_store_column outcome_columns[] = {OUTCOME_COLUMNS};
static const sct_store_column earlier_columns[] = {
    OUTCOME_COLUMNS, PART_KEY(outcome, content, SCT_COLUMN_TEXT, NULL)};

#define TABLE_SINCE(table, row, id_field, schema)                                                  \
  const sct_store_table sct_store_##table##_table = {                                              \
      .name = #table,                                                                              \
      .columns = table##_columns,                                                                  \
      .n_columns = SCT_COUNT(table##_columns),                                                     \
      .id_offset = offsetof(row, id_field),                                                        \
      .row_bytes = sizeof(row),                                                                    \
      .since = schema,                                                                             \
  }
#define TABLE(table, row, id_field) TABLE_SINCE(table, row, id_field, 0)
TABLE(problem, sct_row_problem, id);
TABLE(device, sct_row_device, id);
TABLE(run, sct_row_run, id);
TABLE(candidate, sct_row_result, candidate.id);
TABLE(outcome, sct_row_result, outcome.id);
TABLE_SINCE(earlier, sct_row_result, outcome.id, 3);

static const char *const TYPE_SQL[] = {
    [SCT_COLUMN_TEXT] = "TEXT NOT NULL",    [SCT_COLUMN_JSON] = "TEXT NOT NULL",
    [SCT_COLUMN_INT] = "INTEGER NOT NULL",  [SCT_COLUMN_INT64] = "INTEGER NOT NULL",
    [SCT_COLUMN_BOOL] = "INTEGER NOT NULL", [SCT_COLUMN_REAL] = "REAL",
    [SCT_COLUMN_REF] = "INTEGER NOT NULL",  [SCT_COLUMN_MAY_REF] = "INTEGER",
    [SCT_COLUMN_SAMPLES] = "BLOB NOT NULL",
};

/* Rows that are there have no value for a column added later: NULL where that is allowed, else what
 * says "unknown". */
static const char *default_of(sct_store_kind kind) {
  const char *const type = TYPE_SQL[kind];
  return strstr(type, "NOT NULL") == NULL ? ""
         : sct_has_prefix(type, "TEXT")   ? " DEFAULT ''"
                                          : " DEFAULT 0";
}

/* The columns of the schemas from `first` to `last`; of those that `added` says, as ALTER TABLE
 * leaves them in a table that was there before. */
static void columns_sql(sct_str *out, const sct_store_table *table, int first, int last,
                        bool added) {
  for (int i = 0; i < table->n_columns; ++i) {
    const sct_store_column *const c = &table->columns[i];
    if (c->since < first || c->since > last) {
      continue;
    }
    sct_str_printf(out, ", %s %s", c->name, TYPE_SQL[c->kind]);
    if (c->refers != NULL) {
      sct_str_printf(out, " REFERENCES %s(id)", c->refers);
    }
    sct_str_append(out, added ? default_of(c->kind) : "");
  }
}

void sct_store_table_sql(sct_str *out, const sct_store_table *table, int made, int schema) {
  sct_str_printf(out, "CREATE TABLE %s (id INTEGER PRIMARY KEY", table->name);
  columns_sql(out, table, 0, made, false);
  columns_sql(out, table, made + 1, schema, true);
  sct_str_append(out, ", UNIQUE (");
  const char *comma = "";
  for (int i = 0; i < table->n_columns; ++i) {
    if (table->columns[i].key) {
      sct_str_printf(out, "%s%s", comma, table->columns[i].name);
      comma = ", ";
    }
  }
  sct_str_append(out, ")) STRICT");
}

static const sct_store_table *const TABLES[] = {
    &sct_store_problem_table,   &sct_store_device_table,  &sct_store_run_table,
    &sct_store_candidate_table, &sct_store_outcome_table, &sct_store_earlier_table};

const sct_store_table *sct_store_table_at(int k) {
  return k < SCT_COUNT(TABLES) ? TABLES[k] : NULL;
}

static void create_sql(sct_str *out, const sct_store_table *table) {
  sct_store_table_sql(out, table, SCT_STORE_SCHEMA, SCT_STORE_SCHEMA);
  sct_str_append(out, ";\n");
}

void sct_store_schema_sql(sct_str *out) {
  for (int t = 0; t < SCT_COUNT(TABLES); ++t) {
    create_sql(out, TABLES[t]);
  }
  sct_str_printf(out, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n",
                 SCT_STORE_APPLICATION_ID, SCT_STORE_SCHEMA);
}

void sct_store_upgrade_sql(sct_str *out, int schema) {
  for (int t = 0; t < SCT_COUNT(TABLES); ++t) {
    if (TABLES[t]->since > schema) {
      create_sql(out, TABLES[t]);
      continue;
    }
    for (int i = 0; i < TABLES[t]->n_columns; ++i) {
      const sct_store_column *const c = &TABLES[t]->columns[i];
      if (c->since > schema) {
        sct_str_printf(out, "ALTER TABLE %s ADD COLUMN %s %s%s;\n", TABLES[t]->name, c->name,
                       TYPE_SQL[c->kind], default_of(c->kind));
      }
    }
  }
  sct_str_printf(out, "PRAGMA user_version = %d;\n", SCT_STORE_SCHEMA);
}

void sct_store_column_list(sct_str *out, const sct_store *s, const sct_store_table *table,
                           const char *alias, bool heavy) {
  sct_str_append(out, alias);
  sct_str_append(out, ".id");
  for (int i = 0; i < table->n_columns; ++i) {
    if ((table->columns[i].heavy && !heavy) || table->columns[i].since > s->schema) {
      sct_str_append(out, ", NULL");
    } else {
      sct_str_append(out, ", ");
      sct_str_append(out, alias);
      sct_str_append(out, ".");
      sct_str_append(out, table->columns[i].name);
    }
  }
}
