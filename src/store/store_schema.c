/* store_schema - the tables, column by column. docs/store.md says what they mean.
 *
 * A change here that an older program would misread raises SCT_STORE_SCHEMA. */
#include "store/store_internal.h"

#include <stddef.h>
#include <string.h>

enum {
  PLAIN = 0,
  KEY = SCT_STORE_KEY,
  FINISH = SCT_STORE_FINISH,
  HEAVY = SCT_STORE_HEAVY,
  STAMP = SCT_STORE_STAMP,
  EVALUATED = SCT_STORE_EVALUATED,
  RENEWED = SCT_STORE_RENEWED
};

/* A column in a part of a row: `part` is "", or ends with a point. Samples are of an outcome. */
#define COLUMN(row, part, field, column_kind, column_is, schema)                                   \
  {                                                                                                \
    .name = #field, .kind = SCT_COLUMN_##column_kind, .offset = offsetof(row, part field),         \
    .count_offset = offsetof(sct_row_result, outcome.times.n_samples), .is = column_is,            \
    .since = schema                                                                                \
  }

#define PROBLEM(field, kind, is) COLUMN(sct_row_problem, , field, kind, is, 0)
static const sct_store_column problem_columns[] = {
    PROBLEM(spec_hash, TEXT, KEY),     PROBLEM(name, TEXT, PLAIN),
    PROBLEM(spec_file, TEXT, PLAIN),   PROBLEM(canonical, TEXT, PLAIN),
    PROBLEM(signature, JSON, RENEWED),
};

#define DEVICE(field, kind, is, since) COLUMN(sct_row_device, , field, kind, is, since)
static const sct_store_column device_columns[] = {
    DEVICE(key, TEXT, KEY, 0),          DEVICE(name, TEXT, PLAIN, 0),
    DEVICE(device_id, TEXT, PLAIN, 0),  DEVICE(uuid, TEXT, PLAIN, 0),
    DEVICE(driver, TEXT, PLAIN, 0),     DEVICE(nvrtc, TEXT, PLAIN, 0),
    DEVICE(tool, TEXT, PLAIN, 0),       DEVICE(arch, TEXT, PLAIN, 0),
    DEVICE(cc_major, INT, PLAIN, 0),    DEVICE(cc_minor, INT, PLAIN, 0),
    DEVICE(is_virtual, BOOL, PLAIN, 0), DEVICE(description, JSON, PLAIN, 0),
    DEVICE(measurement, INT, PLAIN, 3), DEVICE(clock_khz, INT, PLAIN, 3),
    DEVICE(options, TEXT, PLAIN, 3),
};

#define RUN(field, kind, is, since) COLUMN(sct_row_run, , field, kind, is, since)
static const sct_store_column run_columns[] = {
    RUN(problem, REF, KEY, 0),
    RUN(device, REF, KEY, 0),
    RUN(size_label, TEXT, KEY, 0),
    RUN(extents, JSON, PLAIN, 0),
    RUN(read_bytes, REAL, PLAIN, 0),
    RUN(write_bytes, REAL, PLAIN, 0),
    RUN(ceiling_bytes_s, REAL, FINISH, 0),
    RUN(noise, REAL, FINISH, 0),
    RUN(n_candidates, INT, FINISH, 0),
    RUN(n_verified, INT, FINISH, 0),
    RUN(n_failed, INT, FINISH, 0),
    RUN(n_tied, INT, FINISH, 0),
    RUN(started, TEXT, STAMP, 0),
    RUN(conditions, JSON, FINISH, 0),
    RUN(winner, MAY_REF, FINISH, 0),
    RUN(naive, MAY_REF, FINISH, 0),
    RUN(finished, TEXT, FINISH, 3),
    RUN(raced, INT, FINISH, 3),
    RUN(estimates, JSON, FINISH, 6),
};

#define CANDIDATE(field, kind, is) COLUMN(sct_row_result, candidate., field, kind, is, 0)
static const sct_store_column candidate_columns[] = {
    CANDIDATE(problem, REF, KEY),   CANDIDATE(source_hash, TEXT, KEY),
    CANDIDATE(label, TEXT, PLAIN),  CANDIDATE(strategy, TEXT, PLAIN),
    CANDIDATE(axes, JSON, PLAIN),   CANDIDATE(source, TEXT, HEAVY),
    CANDIDATE(kernel, TEXT, PLAIN), CANDIDATE(launch, JSON, PLAIN),
};

/* Options and resources belong to a compile for one architecture, so they stand with the outcome: a
 * source has others on another device. An outcome and an earlier outcome have the same
 * columns; the second is one of several of its candidate, distinguished by its contents. */
#define OUTCOME(field, kind, is, since) COLUMN(sct_row_result, outcome., field, kind, is, since)
#define TIMES(field, k, is, s)          COLUMN(sct_row_result, outcome.times., field, k, is, s)
#define HOW(field, k, s)                COLUMN(sct_row_result, outcome.how., field, k, EVALUATED, s)
#define OUTCOME_COLUMNS                                                                            \
  OUTCOME(run, REF, KEY, 0), OUTCOME(candidate, REF, KEY, 0), OUTCOME(outcome, TEXT, PLAIN, 0),    \
      OUTCOME(detail, TEXT, PLAIN, 0), CANDIDATE(options, TEXT, PLAIN),                            \
      CANDIDATE(registers, INT, PLAIN), CANDIDATE(spill_bytes, INT, PLAIN),                        \
      CANDIDATE(shared_bytes, INT, PLAIN), TIMES(median_ns, REAL, PLAIN, 0),                       \
      TIMES(q1_ns, REAL, PLAIN, 0), TIMES(q3_ns, REAL, PLAIN, 0), TIMES(min_ns, REAL, PLAIN, 0),   \
      TIMES(sm_clock_mhz, REAL, PLAIN, 0), TIMES(samples_ns, SAMPLES, HEAVY, 0),                   \
      OUTCOME(requests_ld, REAL, PLAIN, 0), OUTCOME(sectors_ld, REAL, PLAIN, 0),                   \
      OUTCOME(sectors_ld_ideal, REAL, PLAIN, 0), OUTCOME(requests_st, REAL, PLAIN, 0),             \
      OUTCOME(sectors_st, REAL, PLAIN, 0), OUTCOME(sectors_st_ideal, REAL, PLAIN, 0),              \
      OUTCOME(wavefronts, REAL, PLAIN, 0), OUTCOME(degree, REAL, PLAIN, 0),                        \
      HOW(coalesced, BOOL, 0), OUTCOME(counts_exact, BOOL, PLAIN, 0),                              \
      OUTCOME(predicted_ns, REAL, PLAIN, 2), TIMES(overhead_ns, REAL, PLAIN, 3),                   \
      TIMES(resident_ns, REAL, PLAIN, 3), TIMES(launches, INT, PLAIN, 3),                          \
      TIMES(copies, INT64, PLAIN, 3), TIMES(n_slow, INT, PLAIN, 3), OUTCOME(race, TEXT, PLAIN, 3), \
      OUTCOME(measured, TEXT, STAMP, 3), OUTCOME(small_size, JSON, PLAIN, 3), HOW(rule, INT, 4),   \
      HOW(share, REAL, 4), HOW(utilisation, REAL, 4), HOW(passes, REAL, 4),                        \
      HOW(sectors_error, REAL, 4), HOW(unknown, BOOL, 5)

static const sct_store_column outcome_columns[] = {OUTCOME_COLUMNS};
static const sct_store_column earlier_columns[] = {OUTCOME_COLUMNS, OUTCOME(content, TEXT, KEY, 0)};

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

bool sct_store_is_chosen(const sct_store_column *c, unsigned choice) {
  const unsigned value = (c->is & KEY) != 0 ? 0 : SCT_STORE_VALUE;
  const unsigned fixed = (c->is & (KEY | FINISH)) != 0 ? 0 : SCT_STORE_FIXED;
  return ((c->is | value | fixed | SCT_STORE_ALL) & choice) != 0;
}

const char *sct_store_refers(const sct_store_column *c) {
  return c->kind == SCT_COLUMN_REF ? c->name : c->kind == SCT_COLUMN_MAY_REF ? "outcome" : NULL;
}

int64_t sct_store_integer(const sct_store_column *c, const void *row) {
  const void *const field = (const char *)row + c->offset;
  return c->kind == SCT_COLUMN_INT    ? *(const int *)field
         : c->kind == SCT_COLUMN_BOOL ? *(const bool *)field
                                      : *(const int64_t *)field;
}

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
    if (sct_store_refers(c) != NULL) {
      sct_str_printf(out, " REFERENCES %s(id)", sct_store_refers(c));
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
    if ((table->columns[i].is & KEY) != 0) {
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
    if (((table->columns[i].is & HEAVY) != 0 && !heavy) || table->columns[i].since > s->schema) {
      sct_str_append(out, ", NULL");
    } else {
      sct_str_append(out, ", ");
      sct_str_append(out, alias);
      sct_str_append(out, ".");
      sct_str_append(out, table->columns[i].name);
    }
  }
}
