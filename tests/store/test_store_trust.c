/* Stores that somebody else has had in hand: what runs, and rows that do not say what they should.
 */
#include "store_fixture.h"

/* Letters of a statement in the file, changed as a text: SQLite does not look at it then. */
#define IN_SCHEMA(sql) "PRAGMA writable_schema = ON; " sql "; PRAGMA writable_schema = RESET"
#define REWRITE(table, old, new)                                                                   \
  IN_SCHEMA("UPDATE sqlite_schema SET sql = replace(sql, \"" old                                   \
            "\", \"" new "\") WHERE name = '" table "'")
#define WITHOUT_KEYS "PRAGMA foreign_keys = OFF; "

/* A store of two results and an earlier one, closed. */
static void make_store(const fixture *f) {
  sct_store *const s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sct_row_candidate c = {.problem = run.problem,
                         .source_hash = (char *)(uintptr_t) "hash000001",
                         .label = (char *)(uintptr_t) "direct t1"};
  sct_row_outcome o = {.run = run.id, .outcome = (char *)(uintptr_t) "spills", .degree = 0.5};
  FX_OK(fx_put(s, &run, 1, NULL, &err));
  FX_OK(fx_put(s, &run, 2, NULL, &err));
  FX_OK(sct_store_put_result(s, &c, &o, true, &err));
  sct_store_close(s);
}

/* Opened neither way, the reason has these words, and not a byte has changed. */
static void expect_refusal(const char *path, const char *a, const char *b) {
  size_t n_before = 0, n_after = 0;
  char *const before = fx_bytes(path, &n_before);
  for (int read_only = 0; read_only < 2; ++read_only) {
    sct_error err = {0};
    sct_store *s = NULL;
    const sct_status status = sct_store_open(&s, path, read_only != 0, &err);
    if (status != SCT_EDATA || strstr(err.text, a) == NULL || strstr(err.text, b) == NULL ||
        strstr(err.text, path) == NULL) {
      fail_msg("expected \"%s\" and \"%s\", got status %d: %s", a, b, status, err.text);
    }
    assert_null(s);
    char *const after = fx_bytes(path, &n_after);
    assert_int_equal(n_after, n_before);
    assert_memory_equal(after, before, n_before);
    free(after);
  }
  free(before);
}

static const struct hostile {
  const char *sql, *says, *also;
} hostile[] = {
    {"CREATE TRIGGER t AFTER INSERT ON outcome BEGIN DELETE FROM problem; END", "the trigger 't'",
     "does not make"},
    {"CREATE VIEW v AS SELECT * FROM device", "the view 'v'", "does not make"},
    {WITHOUT_KEYS "DROP TABLE device; CREATE VIEW device AS SELECT 1 AS id", "the view 'device'",
     "nothing of it was run"},
    {"CREATE VIEW v AS SELECT 1; CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN DELETE FROM run; "
     "END",
     "the view 'v'", ""},
    {"CREATE INDEX i ON outcome (abs(median_ns))", "the index 'i'", "does not make"},
    {"CREATE INDEX sqlitf ON run (size_label)", "the index 'sqlitf'", "does not make"},
    {"CREATE TABLE mail (id INTEGER)", "the table 'mail'", "does not make"},
    {"ANALYZE", "'sqlite_stat1'", "does not make"},
    {"ALTER TABLE run ADD COLUMN g INTEGER AS (abs(raced)) VIRTUAL", "table 'run'",
     "found \"g INTEGER AS (abs(raced)) VIRTUAL"},
    {"ALTER TABLE outcome RENAME COLUMN degree TO other", "table 'outcome'", "expected \"degree"},
    {"DROP TABLE earlier", "no such table: earlier", "lacks what it should hold"},
    {REWRITE("outcome", "degree REAL", "degree REAL CHECK (degree > 0)"), "table 'outcome'",
     "CHECK (degree > 0)"},
    {REWRITE("problem", "UNIQUE (spec_hash)", "UNIQUE (spec_hash) ON CONFLICT REPLACE"),
     "table 'problem'", "found \" ON CONFLICT REPLACE"},
    {REWRITE("problem", "name TEXT NOT NULL", "name TEXT NOT NULL DEFAULT (randomblob(9))"),
     "table 'problem'", "DEFAULT (randomblob(9))"},
    {REWRITE("run", "REFERENCES device(id)", "REFERENCES device(id) ON DELETE CASCADE"),
     "table 'run'", "ON DELETE CASCADE"},
    {REWRITE("candidate", "label TEXT", "label TEXT COLLATE NOCASE"), "table 'candidate'",
     "COLLATE NOCASE"},
    {REWRITE("device", " STRICT", ""), "table 'device'", "expected \" STRICT\", found \"\""},
    {IN_SCHEMA("INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v "
               "USING fts5(x)')"),
     "the table 'v'", "nothing of it was run"},
    {IN_SCHEMA("UPDATE sqlite_schema SET rootpage = 0, sql = 'CREATE VIRTUAL TABLE earlier USING "
               "fts5(x)' WHERE name = 'earlier'; DELETE FROM sqlite_schema WHERE tbl_name = "
               "'earlier' AND type = 'index'"),
     "table 'earlier'", "found \"VIRTUAL TABLE"},
    {WITHOUT_KEYS "UPDATE run SET device = 99", "row 1 of 'run'", "a row of 'device'"},
    {WITHOUT_KEYS "UPDATE run SET winner = 99", "row 1 of 'run'", "a row of 'outcome'"},
    {WITHOUT_KEYS "UPDATE earlier SET candidate = 99", "row 1 of 'earlier'",
     "a row of 'candidate'"},
};

static void what_would_run_is_refused(void **state) {
  const fixture *const f = *state;
  make_store(f);
  size_t n = 0;
  char *const whole = fx_bytes(f->path, &n);
  for (int k = 0; k < SCT_COUNT(hostile); ++k) {
    fx_write(f->path, whole, n);
    fx_sql(f->path, hostile[k].sql);
    expect_refusal(f->path, hostile[k].says, hostile[k].also);
  }
  fx_write(f->path, whole, n);
  sct_store_close(fx_open(f->path, false)); /* as it was it is good */
  free(whole);
}

/* What a terminal would obey does not reach it as such (the command line prints it as \xNN): here
 * the name is only cut. */
static void long_names_are_cut(void **state) {
  const fixture *const f = *state;
  make_store(f);
  sct_str sql = {0};
  sct_str_printf(&sql, "CREATE TABLE \"%0500d\" (id INTEGER)", 7);
  fx_sql(f->path, sct_str_c(&sql));
  sct_str_free(&sql);
  sct_error err = {0};
  sct_store *s = NULL;
  assert_int_equal(sct_store_open(&s, f->path, true, &err), SCT_EDATA);
  assert_true(strlen(err.text) < 400);
}

/* Any letter of any statement: a table is ours to the letter, or refused. */
static void no_letter_may_differ(void **state) {
  const fixture *const f = *state;
  static const char *const tables[] = {"problem",   "device",  "run",
                                       "candidate", "outcome", "earlier"};
  make_store(f);
  size_t n = 0;
  char *const whole = fx_bytes(f->path, &n);
  sct_rng rng = sct_rng_new(5);
  sct_str sql = {0};
  for (int k = 0; k < 60; ++k) {
    fx_write(f->path, whole, n);
    const int at = (int)sct_rng_below(&rng, 140) + 1;
    static const char letters[] = "(),xX 0\\\"";
    sct_str_clear(&sql);
    sct_str_printf(&sql,
                   IN_SCHEMA("UPDATE sqlite_schema SET sql = substr(sql, 1, %d) || '%c' || "
                             "substr(sql, %d) WHERE name = '%s'"),
                   at, letters[sct_rng_below(&rng, SCT_COUNT(letters) - 1)], at + 1,
                   tables[sct_rng_below(&rng, SCT_COUNT(tables))]);
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    (void)sqlite3_exec(db, sct_str_c(&sql), NULL, NULL, NULL); /* RESET may find it malformed */
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    expect_refusal(f->path, "", "");
  }
  sct_str_free(&sql);
  free(whole);
}

/* ---- rows ---- */

static const struct tampered {
  const char *table, *column, *value, *says;
} tampered[] = {
    {"problem", "signature", "{\"a\":", "must be a JSON object (line 1, column 5: "},
    {"problem", "signature", "5", "must be a JSON object"},
    {"candidate", "axes", "[1,[2]]", "must be a JSON object (expected an object)"},
    {"problem", "signature", "{\"a\":1,\"a\":2}", "duplicate object key"},
    {"problem", "spec_hash", "", "the key 'spec_hash' is empty"},
    {"device", "description", "nope", "must be a JSON object"},
    {"device", "key", "", "the key 'key' is empty"},
    {"run", "extents", "{", "must be a JSON object"},
    {"run", "conditions", "{\"seed\":}", "must be a JSON object"},
    {"run", "size_label", "", "the key 'size_label' is empty"},
    {"candidate", "axes", "]", "must be a JSON object"},
    {"candidate", "launch", "x", "must be a JSON object"},
    {"candidate", "source_hash", "", "the key 'source_hash' is empty"},
    {"outcome", "small_size", "{}{}", "must be a JSON object"},
    {"earlier", "small_size", "'", "must be a JSON object"},
    {"earlier", "content", "", "the key 'content' is empty"},
};

/* A reader that meets the row says which, in which store, and ends; what is merged into stays. */
static void rows_that_do_not_read_are_named(void **state) {
  const fixture *const f = *state;
  char good[160], place[64];
  make_store(f);
  (void)snprintf(good, sizeof(good), "%s/good.db", f->dir);
  size_t n = 0;
  char *const whole = fx_bytes(f->path, &n);
  fx_write(good, whole, n);
  for (int k = 0; k < SCT_COUNT(tampered); ++k) {
    const struct tampered *const t = &tampered[k];
    fx_write(f->path, whole, n);
    char *const sql =
        sqlite3_mprintf("UPDATE %s SET %s = %Q WHERE id = 1", t->table, t->column, t->value);
    fx_sql(f->path, sql);
    sqlite3_free(sql);
    (void)snprintf(place, sizeof(place), "row 1 of '%s'", t->table);
    sct_store *const s = fx_open(f->path, true);
    sct_store *const to = fx_open(good, false);
    for (int merging = 0; merging < 2; ++merging) {
      sct_str out = {0};
      sct_error err = {0};
      const sct_status status =
          merging ? sct_store_merge(to, &s, 1, &err) : sct_store_export(s, &out, &err);
      sct_str_free(&out);
      if (status != SCT_EDATA || strstr(err.text, place) == NULL ||
          strstr(err.text, t->column) == NULL || strstr(err.text, t->says) == NULL ||
          strstr(err.text, f->path) == NULL) {
        fail_msg("%s.%s = '%s': status %d: %s", t->table, t->column, t->value, status, err.text);
      }
    }
    sct_store_close(s);
    sct_store_close(to);
  }
  size_t n_after = 0;
  char *const after = fx_bytes(good, &n_after);
  assert_int_equal(n_after, n);
  free(after);
  char *const outcomes = fx_ask(good, "SELECT count(*) || ' ' || total(median_ns) FROM outcome");
  assert_string_equal(outcomes, "2 2005.0");
  free(outcomes);
  free(whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_would_run_is_refused, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(long_names_are_cut, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(no_letter_may_differ, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(rows_that_do_not_read_are_named, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
