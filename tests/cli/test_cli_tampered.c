/* Stores that somebody else has changed, by every command that opens one: exit code 8, the place,
 * nothing of theirs run, and the file as it was. */
#include "cli_gpu_fixture.h"

#include <sqlite3.h>

#define TUNE "tune", "copy.lua", "--no-virtual-check", "--assets", "assets", "-q"

static sct_str whole; /* the store as this program made it */

static int set_up(void **state) {
  if (fx_gpu_setup(state) != 0) {
    return 1;
  }
  fx_result r = {0};
  fx_fake("slow@0=2 slow@1=1.9 wrong@3");
  fx_run(&r, TUNE, "--device", "cuda:0", "--store", "good.db");
  fx_expect(&r, 0, "1 failed", NULL);
  fx_run(&r, "export", "--store", "good.db", "-o", "good.json");
  fx_expect(&r, 0, NULL, NULL);
  fx_free(&r);
  return sct_file_read(&whole, fx_path("good.db"), NULL) != SCT_OK;
}

static int tear_down(void **state) {
  sct_str_free(&whole);
  return fx_teardown(state);
}

/* Every command that reads or writes bad.db; `deep`: it reads all rows of it. */
static const struct command {
  const char *words[14];
  bool deep;
} commands[] = {
    {{TUNE, "--device", "cuda:0", "--store", "bad.db"}, false},
    {{"tune", "copy.lua", "--assets", "assets", "-q", "--device", "replay:bad.db"}, false},
    {{"emit", "copy", "--store", "bad.db"}, false},
    {{"emit", "copy.lua", "--store", "bad.db", "--json"}, false},
    {{"compare", "bad.db", "good.db"}, false},
    {{"compare", "good.db", "bad.db", "--json"}, false},
    {{"merge", "out.db", "bad.db"}, true},
    {{"merge", "bad.db", "good.db"}, false},
    {{"export", "--store", "bad.db"}, true},
    {{"export", "--format", "kernel-tuner", "--store", "bad.db"}, false},
    {{"export", "--format", "t4", "--store", "bad.db"}, false},
    {{"import", "good.json", "--store", "bad.db"}, false},
};

static void run_sql(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
    fail_msg("%s: %s", sql, sqlite3_errmsg(db));
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* bad.db is the good store after this; what an earlier command left is gone. */
static void spoil(const char *sql) {
  static const char *const leftovers[] = {"bad.db-wal", "bad.db-shm", "out.db"};
  for (int k = 0; k < SCT_COUNT(leftovers); k++) {
    (void)unlink(fx_path(leftovers[k]));
  }
  assert_int_equal(sct_file_write(fx_path("bad.db"), whole.data, whole.len, NULL), SCT_OK);
  run_sql(fx_path("bad.db"), sql);
}

static void expect_same_file(const sct_str *before) {
  sct_str after = {0};
  assert_int_equal(sct_file_read(&after, fx_path("bad.db"), NULL), SCT_OK);
  assert_int_equal(after.len, before->len);
  assert_memory_equal(after.data, before->data, before->len);
  sct_str_free(&after);
}

/* ---- what would run ---- */

static void no_command_opens_what_would_run(void **state) {
  (void)state;
  static const char *const hostile[][2] = {
      {"CREATE TRIGGER t AFTER INSERT ON outcome BEGIN DELETE FROM problem; END",
       "holds the trigger 't'"},
      {"PRAGMA foreign_keys = OFF; ALTER TABLE device RENAME TO hidden;"
       "CREATE VIEW device AS SELECT * FROM hidden",
       "holds the table 'hidden'"},
      {"ALTER TABLE run ADD COLUMN g TEXT AS (hex(zeroblob(90000000))) VIRTUAL",
       "the table 'run' of the store"},
      {"CREATE TABLE \"\x1b[31m\" (id)", "holds the table '\\x1b[31m'"},
  };
  for (int h = 0; h < SCT_COUNT(hostile); h++) {
    spoil(hostile[h][0]);
    sct_str before = {0};
    assert_int_equal(sct_file_read(&before, fx_path("bad.db"), NULL), SCT_OK);
    for (int c = 0; c < SCT_COUNT(commands); c++) {
      fx_result r = {0};
      fx_run_list(&r, commands[c].words);
      fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, hostile[h][1]);
      fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "bad.db");
      fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "it was left as it is");
      fx_free(&r);
      expect_same_file(&before);
      assert_false(sct_file_exists(fx_path("out.db")));
    }
    sct_str_free(&before);
  }
}

/* ---- rows ---- */

/* A command that meets the row says which it is. One that does not need it goes on. */
static void rows_that_do_not_read_are_refused(void **state) {
  (void)state;
  static const char *const rows[][3] = {
      {"problem", "signature", "{\"name\":"}, {"device", "description", "\x1b[31m"},
      {"run", "conditions", "{\"seed\":}"},   {"candidate", "launch", "nope"},
      {"candidate", "source_hash", ""},
  };
  for (int k = 0; k < SCT_COUNT(rows); k++) {
    char sql[160], place[64];
    snprintf(sql, sizeof sql, "UPDATE %s SET %s = '%s' WHERE id = 1", rows[k][0], rows[k][1],
             rows[k][2]);
    snprintf(place, sizeof place, "row 1 of '%s': ", rows[k][0]);
    const bool first = k < 3; /* tables that all commands read */
    for (int c = 0; c < SCT_COUNT(commands); c++) {
      fx_result r = {0};
      spoil(sql);
      fx_run_list(&r, commands[c].words);
      const bool must = commands[c].deep || (first && strcmp(commands[c].words[0], "tune") == 0);
      if (r.exit_code != sct_exit_code(SCT_EDATA) && (must || r.exit_code != 0)) {
        print_error("%s, %s %s\n", sql, commands[c].words[0], commands[c].words[1]);
        fx_show(&r);
        fail();
      }
      if (r.exit_code != 0 && commands[c].deep) {
        fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, place);
        fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, rows[k][1]);
      }
      assert_null(strchr(sct_str_c(&r.err), '\x1b'));
      fx_free(&r);
    }
  }
}

/* The run's end is rewritten by each session, with what the row said before. */
static void a_session_names_the_conditions_that_do_not_read(void **state) {
  (void)state;
  fx_result r = {0};
  spoil("UPDATE run SET conditions = 'tampered'");
  fx_run(&r, TUNE, "--device", "cuda:0", "--store", "bad.db");
  fx_expect(&r, sct_exit_code(SCT_EDATA), NULL,
            "row 1 of 'run': column 'conditions' must be a JSON object (line 1, column ");
  fx_free(&r);
}

/* A letter of the source that a disk or somebody has changed is in no header. */
static void a_source_that_was_not_measured_is_in_no_header(void **state) {
  (void)state;
  static const char *const changes[] = {
      "source = replace(source, 'a', 'e')",
      "launch = replace(launch, '\"threads\":', '\"threads\": ')"};
  fx_result r = {0};
  spoil("SELECT 1");
  fx_run(&r, "emit", "copy", "--store", "bad.db");
  fx_expect(&r, 0, "__global__", NULL);
  for (int k = 0; k < SCT_COUNT(changes); k++) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE candidate SET %s WHERE id = (SELECT o.candidate FROM run r JOIN outcome o ON "
             "o.id = r.winner)",
             changes[k]);
    spoil(sql);
    fx_run(&r, "emit", "copy", "--store", "bad.db", "-o", "bad.h");
    fx_expect(&r, sct_exit_code(SCT_EDATA), NULL, "is not what its hash says");
    assert_false(sct_file_exists(fx_path("bad.h")));
  }
  fx_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_command_opens_what_would_run),
      cmocka_unit_test(rows_that_do_not_read_are_refused),
      cmocka_unit_test(a_source_that_was_not_measured_is_in_no_header),
      cmocka_unit_test(a_session_names_the_conditions_that_do_not_read),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
