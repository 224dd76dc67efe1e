/* store_internal - the tables as data, and the one way to a statement.
 *
 * Every table is a list of columns, each with its place in a row struct. Creating the tables,
 * binding, reading and freeing rows all walk that list, so a column is one line in store_schema.c.
 */
#ifndef SCT_STORE_INTERNAL_H
#define SCT_STORE_INTERNAL_H

#include "store/store.h"

#include <sqlite3.h>

#define SCT_STORE_APPLICATION_ID 0x5343544C /* "SCTL" */
#define SCT_STORE_SCHEMA         6          /* PRAGMA user_version */

struct sct_store {
  sqlite3 *db;
  char *path;
  int schema;        /* of the file as it is now; older only where it is opened for reading */
  unsigned version;  /* of the data, if nobody else has written */
  sct_arena scratch; /* rows that writing and joining look at */
};

/* ---- what SQLite stands on */

/* Gives SQLite our allocator, before its first use (store_memory.c). */
void sct_store_memory_init(void);
#ifdef SCT_FAULTS
/* Makes accesses to files fail on command (store_faults.c). */
void sct_store_faults_init(void);
#endif

/* ---- tables (store_schema.c) */

typedef enum sct_store_kind {
  SCT_COLUMN_TEXT,    /* char *; NULL is stored as "" and read back so */
  SCT_COLUMN_JSON,    /* char * with a JSON object, or empty; NULL is stored as "" */
  SCT_COLUMN_INT,     /* int */
  SCT_COLUMN_INT64,   /* int64_t */
  SCT_COLUMN_BOOL,    /* bool */
  SCT_COLUMN_REAL,    /* double; NaN is NULL in the table */
  SCT_COLUMN_REF,     /* sct_id of a row of the table with the column's name */
  SCT_COLUMN_MAY_REF, /* sct_id of an outcome; 0 is NULL in the table */
  SCT_COLUMN_SAMPLES  /* double * with an int count: a blob of IEEE doubles, little-endian */
} sct_store_kind;

/* What a column is; columns are chosen by such bits. */
enum {
  SCT_STORE_KEY = 1,    /* part of the table's unique key */
  SCT_STORE_FINISH = 2, /* rewritten by sct_store_finish_run() */
  SCT_STORE_HEAVY = 4,  /* left out of listings */
  SCT_STORE_STAMP = 8,  /* a time of day, which hashes leave out */
  SCT_STORE_EVALUATED =
      16, /* left out of hashes too: follows from counts, by a rule that may change */
  SCT_STORE_RENEWED = 32, /* a newer version of the program writes it anew */
  /* in choices only */
  SCT_STORE_VALUE = 64,  /* any that is no key */
  SCT_STORE_FIXED = 128, /* any that is neither key nor rewritten at the end */
  SCT_STORE_ALL = 256
};

typedef struct sct_store_column {
  const char *name;
  sct_store_kind kind;
  size_t offset;       /* in the row struct */
  size_t count_offset; /* SCT_COLUMN_SAMPLES: of the count */
  unsigned is;
  int since; /* first schema that has it; 0: all */
} sct_store_column;
bool sct_store_is_chosen(const sct_store_column *column, unsigned choice);
/* The table that a column refers to; NULL: it does not. */
const char *sct_store_refers(const sct_store_column *column);
/* A column of whole numbers, truths or references. */
int64_t sct_store_integer(const sct_store_column *column, const void *row);

typedef struct sct_store_table {
  const char *name;
  const sct_store_column *columns;
  int n_columns;
  size_t id_offset;
  size_t row_bytes;
  int since; /* first schema that has it; 0: all */
} sct_store_table;

extern const sct_store_table sct_store_problem_table;   /* sct_row_problem */
extern const sct_store_table sct_store_device_table;    /* sct_row_device */
extern const sct_store_table sct_store_run_table;       /* sct_row_run */
extern const sct_store_table sct_store_candidate_table; /* sct_row_result */
extern const sct_store_table sct_store_outcome_table;   /* sct_row_result */
extern const sct_store_table sct_store_earlier_table;   /* sct_row_result: replaced outcomes */

/* Table number k; NULL after the last. */
const sct_store_table *sct_store_table_at(int k);
/* Appends the statement that stands in a file of this schema for a table that was made when `made`
 * was the newest one, and has got what came since. */
void sct_store_table_sql(sct_str *out, const sct_store_table *table, int made, int schema);
/* Appends all that makes an empty file a store: tables, application_id, user_version. */
void sct_store_schema_sql(sct_str *out);
/* Appends what turns a store of an older schema into one of this one: the columns that came since.
 */
void sct_store_upgrade_sql(sct_str *out, int schema);
/* Appends "alias.id, alias.a, alias.b, ...". NULL in the place of heavy columns, if they are not
 * wanted, and of those that the file's schema does not have. */
void sct_store_column_list(sct_str *out, const sct_store *s, const sct_store_table *table,
                           const char *alias, bool heavy);

/* ---- statements (store_query.c) */

typedef struct sct_store_query {
  sct_store *store;
  sqlite3_stmt *stmt;
  int n_bound;
  int n_read;  /* columns of the current row */
  int result;  /* the first SQLite code that was not SQLITE_OK */
  sct_str why; /* what was wrong with a value, if that was it */
} sct_store_query;

/* Status and text for an SQLite result; `what` was being done. */
sct_status sct_store_fail(sct_store *s, int result, const char *what, sct_error *err);
/* Prepares `sql` and binds its parameters: a letter of `kinds` for each, 'i' for an sct_id and 't'
 * for a text. Queries are SCT_SCOPED. */
sct_status sct_store_query_start(sct_store_query *q, sct_store *s, sct_error *err, const char *sql,
                                 const char *kinds, ...);
sct_status sct_store_query_vstart(sct_store_query *q, sct_store *s, sct_error *err, const char *sql,
                                  const char *kinds, va_list values);
void sct_store_query_free(sct_store_query *q);
/* Runs a statement, with parameters as above, for its first row: out[n] receives the numbers in its
 * columns, *found (may be NULL) whether there is a row. */
sct_status sct_store_query_ids(sct_store *s, sct_error *err, sct_id *out, int n, bool *found,
                               const char *sql, const char *kinds, ...);
/* Bind the next parameter. Failures are kept for the next step. */
void sct_store_bind_id(sct_store_query *q, sct_id id);
void sct_store_bind_row(sct_store_query *q, const sct_store_table *table, const void *row,
                        unsigned choice);
/* *row: there is one, and reading starts at its first column. */
sct_status sct_store_query_step(sct_store_query *q, bool *row, sct_error *err);
/* Reads id and columns, as sct_store_column_list() names them. */
sct_status sct_store_read_row(sct_store_query *q, sct_arena *arena, const sct_store_table *table,
                              void *row, sct_error *err);

/* Hex hash of a row: all columns but its key, references, times of day, and what follows from other
 * rows. */
char *sct_store_row_hash(char out[SCT_HASH_HEX], const sct_store_table *table, const void *row);

/* ---- what a file from others may hold (store_trust.c) */

/* SCT_EDATA unless the file holds our tables, byte for byte as some version of the program made
 * them, and nothing else: no trigger, view, index or virtual table, no generated column, CHECK or
 * ON CONFLICT. Reads nothing but the list of what is there, so nothing of theirs has run. */
sct_status sct_store_check_tables(sct_store *s, sct_error *err);
/* SCT_EDATA if a row refers to one that is not there. */
sct_status sct_store_check_references(sct_store *s, sct_error *err);
/* A JSON object, or "": what a JSON column may hold. *why (may be NULL) gets the first fault. */
bool sct_store_is_json(const char *text, sct_str *why);

/* ---- rows by table (store_write.c, store_read.c) */

/* Inserts the row or finds the one with its key. */
sct_status sct_store_insert(sct_store *s, const sct_store_table *table, const void *row, sct_id *id,
                            bool *inserted, sct_error *err);
/* Rewrites the chosen columns of row `id`. */
sct_status sct_store_update(sct_store *s, const sct_store_table *table, const void *row,
                            unsigned choice, sct_id id, sct_error *err);
/* Reads row `id`, which must be there. */
sct_status sct_store_fetch(sct_store *s, sct_arena *arena, const sct_store_table *table, sct_id id,
                           void *row, sct_error *err);
/* Candidates of a problem by source hash; the outcomes are empty. */
sct_status sct_store_candidates(sct_store *s, sct_arena *arena, sct_id problem,
                                sct_row_result **rows, int *n, sct_error *err);
/* Like sct_store_runs(), with winners that sct_store_runs() withholds, in no order. */
sct_status sct_store_all_runs(sct_store *s, sct_arena *arena, sct_id problem, sct_row_run **rows,
                              int *n, sct_error *err);

/* ---- joining (store_join.c): all within a transaction of the caller */

/* A problem, device or candidate. */
sct_status sct_store_join_row(sct_store *s, const sct_store_table *table, const void *row,
                              sct_id *id, sct_error *err);
/* A run without its end, which sct_store_join_end() joins when its outcomes are there. */
sct_status sct_store_join_run(sct_store *s, const sct_row_run *row, sct_id *id, bool *inserted,
                              sct_error *err);
/* One more outcome of a candidate in a run: run and candidate are those of `s`. */
sct_status sct_store_join_outcome(sct_store *s, sct_row_result *row, sct_error *err);
/* `winner` and `naive` are source hashes, or "". */
sct_status sct_store_join_end(sct_store *s, sct_id id, bool inserted, const sct_row_run *row,
                              const char *winner, const char *naive, sct_error *err);
/* When all is joined: counts the outcomes of runs. */
sct_status sct_store_join_counts(sct_store *s, sct_error *err);

/* Runs statements without parameters and rows of interest. */
sct_status sct_store_exec(sct_store *s, const char *sql, sct_error *err);
/* Ends a transaction that only read. */
void sct_store_end_read(sct_store *s);
/* Takes the write lock. */
sct_status sct_store_begin(sct_store *s, sct_error *err);
/* A number that differs when the data does, as of the last transaction. */
unsigned sct_store_version(const sct_store *s);
/* Commits if `status` is SCT_OK, else rolls back and returns it. */
sct_status sct_store_end(sct_store *s, sct_status status, sct_error *err);

#endif
