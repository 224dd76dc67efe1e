/* What a commit writes to the log: at once, seen by others, and told if it fails. */
#include "store_fixture.h"

/* Sources of one page, of some, and of more than is held back at once. */
static const int source_bytes[] = {200, 5000, 9000, 70000, 300000, 100};
enum { N_ROWS = SCT_COUNT(source_bytes) };

static void hash_of(char out[32], int tag) {
  (void)snprintf(out, 32, "hash%06d", tag);
}

static char *source_of(int tag, int bytes) {
  char *const text = malloc((size_t)bytes + 1);
  assert_non_null(text);
  for (int i = 0; i < bytes; ++i) {
    text[i] = (char)('a' + (i / 7 + i / 4096 + tag) % 26);
  }
  text[bytes] = '\0';
  return text;
}

static sct_status put(sct_store *s, const sct_row_run *run, int tag, int bytes, sct_error *err) {
  char hash[32];
  char *const source = source_of(tag, bytes);
  hash_of(hash, tag);
  sct_row_candidate c = {.problem = run->problem,
                         .source_hash = hash,
                         .label = "l",
                         .strategy = "s",
                         .source = source,
                         .kernel = "k"};
  sct_row_outcome o = {.run = run->id, .outcome = "ok", .times.median_ns = tag};
  const sct_status status = sct_store_put_result(s, &c, &o, false, err);
  free(source);
  return status;
}

/* Does the file have the row, whole? By SQLite alone: nothing of ours is in between. */
static bool has_row(sqlite3 *db, int tag, int bytes) {
  char hash[32];
  sqlite3_stmt *q = NULL;
  hash_of(hash, tag);
  assert_int_equal(sqlite3_prepare_v2(db,
                                      "SELECT c.source, o.median_ns FROM candidate c JOIN outcome o"
                                      " ON o.candidate = c.id WHERE c.source_hash = ?",
                                      -1, &q, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_bind_text(q, 1, hash, -1, SQLITE_STATIC), SQLITE_OK);
  const bool found = sqlite3_step(q) == SQLITE_ROW;
  if (found) {
    char *const source = source_of(tag, bytes);
    assert_true(strcmp((const char *)sqlite3_column_text(q, 0), source) == 0);
    assert_true(sqlite3_column_double(q, 1) == tag);
    free(source);
  }
  assert_int_equal(sqlite3_finalize(q), SQLITE_OK);
  return found;
}

static sqlite3 *open_alone(const char *path) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "unix"), SQLITE_OK);
  return db;
}

static void copy_file(const fixture *f, const char *suffix) {
  char from[160], to[160];
  size_t n = 0;
  (void)snprintf(from, sizeof(from), "%s%s", f->path, suffix);
  (void)snprintf(to, sizeof(to), "%s/copy.db%s", f->dir, suffix);
  char *const data = fx_bytes(from, &n);
  fx_write(to, data, n);
  free(data);
}

/* What would be there if the process were killed now: the files, without the memory it shares. */
static void expect_on_file(const fixture *f, int n_rows) {
  char path[160];
  (void)snprintf(path, sizeof(path), "%s/copy.db", f->dir);
  copy_file(f, "");
  copy_file(f, "-wal");
  sqlite3 *const db = open_alone(path);
  for (int k = 0; k < N_ROWS; ++k) {
    assert_int_equal(has_row(db, k, source_bytes[k]), k < n_rows);
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK); /* takes its log with it */
  fx_check_integrity(path);
}

static void test_others_see_each_commit(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  sqlite3 *const other = open_alone(f->path);
  for (int k = 0; k < N_ROWS; ++k) {
    assert_false(has_row(other, k, source_bytes[k]));
    FX_OK(put(s, &run, k, source_bytes[k], &err));
    assert_true(has_row(other, k, source_bytes[k]));
    expect_on_file(f, k + 1);
  }
  assert_int_equal(sqlite3_close(other), SQLITE_OK);
  sct_store_close(s);
}

/* Goes round the log: it is copied to the store and begun anew. */
static void test_many_commits(void **state) {
  const fixture *const f = *state;
  enum { ROWS = 60, BYTES = 100000 };
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  for (int k = 0; k < ROWS; ++k) {
    FX_OK(put(s, &run, k, BYTES, &err));
  }
  sct_store_close(s);
  sqlite3 *const db = open_alone(f->path);
  for (int k = 0; k < ROWS; ++k) {
    assert_true(has_row(db, k, BYTES));
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  fx_check_integrity(f->path);
}

#ifdef SCT_FAULTS

/* ---- the other side: puts the rows in a process of its own, whose writes fail on command */

/* A commit of somebody else, where the failed one would have been. */
static void write_beside(const char *path, int k) {
  char sql[200];
  (void)snprintf(sql, sizeof(sql),
                 "INSERT INTO problem (spec_hash, name, spec_file, canonical, signature)"
                 " VALUES ('beside%d', hex(zeroblob(1000)), '', '', '')",
                 k);
  sqlite3 *const db = open_alone(path);
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
    (void)fprintf(stderr, "beside: %s\n", sqlite3_errmsg(db));
  }
  (void)sqlite3_close(db);
}

/* Says '+' for a row that is acknowledged, '-' for one that is not. */
static void say(const char *path, int k, sct_status status) {
  if (status != SCT_OK) {
    write_beside(path, k);
  }
  (void)printf("%c", status == SCT_OK ? '+' : '-');
}

static int put_rows(const char *path) {
  sct_error err = {0};
  sct_store *s = NULL;
  if (sct_store_open(&s, path, false, &err) != SCT_OK) {
    return 2;
  }
  const sct_row_run run = {.id = 1, .problem = 1};
  sct_fault_role("rows"); /* counted from here */
  for (int k = 0; k < N_ROWS; ++k) {
    const sct_status status = put(s, &run, k, source_bytes[k], &err);
    if (status != SCT_OK && (status != SCT_EIO || strstr(err.text, path) == NULL)) {
      (void)fprintf(stderr, "status %d: %s\n", status, err.text);
      return 3;
    }
    say(path, k, status);
  }
  (void)fflush(stdout);
  if (strstr(getenv("SCT_FAULTS"), "count") != NULL) {
    sct_fault_report();
    _exit(0); /* before the log is copied */
  }
  sct_fault_role("closing");
  sct_store_close(s);
  return 0;
}

static int take(FILE *file, char *out, int size) {
  const size_t n = fread(out, 1, (size_t)size - 1, file);
  out[n] = '\0';
  assert_int_equal(fclose(file), 0);
  return (int)n;
}

/* Runs it; `rows` has a sign for each, `errors` what it said on stderr. */
static void run_rows(const fixture *f, const char *faults, char rows[64], char errors[1024]) {
  char out[96], err[96];
  int ended = 0;
  (void)snprintf(out, sizeof(out), "%s/out", f->dir);
  (void)snprintf(err, sizeof(err), "%s/err", f->dir);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (freopen(out, "w", stdout) && freopen(err, "w", stderr) &&
        setenv("SCT_FAULTS", faults, 1) == 0) {
      (void)execl("/proc/self/exe", "rows", f->path, (char *)NULL);
    }
    _exit(9);
  }
  assert_int_equal(waitpid(child, &ended, 0), child);
  (void)take(fopen(out, "r"), rows, 64);
  (void)take(fopen(err, "r"), errors, 1024);
  if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
    fail_msg("%s: %d: %s", faults, ended, errors);
  }
}

/* A store without rows. It is made once, as that takes many syncs. */
static void make_empty_store(const fixture *f) {
  char empty[160], log[160];
  size_t n = 0;
  (void)snprintf(empty, sizeof(empty), "%s/empty.db", f->dir);
  (void)snprintf(log, sizeof(log), "%s-wal", f->path);
  const bool made = access(empty, F_OK) == 0;
  if (!made) {
    sct_store *s = fx_open(f->path, false);
    (void)fx_run(s);
    sct_store_close(s);
  }
  char *const data = fx_bytes(made ? empty : f->path, &n);
  (void)unlink(log);
  fx_write(made ? f->path : empty, data, n);
  free(data);
}

static void check_rows(const fixture *f, const char *rows) {
  assert_int_equal(strlen(rows), N_ROWS);
  sqlite3 *const db = open_alone(f->path);
  for (int k = 0; k < N_ROWS; ++k) {
    const bool found = has_row(db, k, source_bytes[k]);
    assert_true(found == (rows[k] == '+'));
  }
  assert_int_equal(sqlite3_close(db), SQLITE_OK);
  fx_check_integrity(f->path);
}

/* One write fails, then all is well again: the row is told to be missing, is missing, and nothing
 * of it gets between what others and we commit afterwards. */
static void test_each_write_fails(void **state) {
  const fixture *const f = *state;
  int told = 0;
  for (int n = 1; n < 200; ++n) {
    char faults[64], rows[64], errors[1024];
    (void)snprintf(faults, sizeof(faults), "dbwrite@rows:%d", n);
    make_empty_store(f);
    run_rows(f, faults, rows, errors);
    check_rows(f, rows);
    if (strstr(errors, " fails\n") == NULL) {
      assert_int_equal(strspn(rows, "+"), N_ROWS);
      break;
    }
    told += strspn(rows, "+") < N_ROWS;
  }
  assert_true(told >= N_ROWS); /* each row's commit failed once at least */
}

/* From some write on there is no room. */
static void test_no_room_from_a_write_on(void **state) {
  const fixture *const f = *state;
  for (int n = 1; n < 8; n += 2) {
    char faults[64], rows[64], errors[1024];
    (void)snprintf(faults, sizeof(faults), "dbwrite@rows:%d+:ENOSPC", n);
    make_empty_store(f);
    run_rows(f, faults, rows, errors);
    const size_t good = strspn(rows, "+");
    assert_true(good < N_ROWS && strspn(rows + good, "-") == N_ROWS - good);
    check_rows(f, rows);
  }
}

static int counted(const char *errors, const char *kind) {
  const char *const said = strstr(errors, kind);
  assert_non_null(said);
  return atoi(said + strlen(kind));
}

/* The disk is waited for when the log begins and when it is copied to the store, not for each row.
 */
static void test_rows_do_not_wait_for_the_disk(void **state) {
  const fixture *const f = *state;
  char rows[64], errors[1024];
  make_empty_store(f);
  run_rows(f, "count", rows, errors);
  check_rows(f, rows);
  assert_int_equal(strspn(rows, "+"), N_ROWS);
  assert_in_range(counted(errors, " dbsync="), 0, 2);
}
#endif

int main(int argc, char **argv) {
#ifdef SCT_FAULTS
  if (argc > 1) {
    return put_rows(argv[1]);
  }
#else
  (void)argc, (void)argv;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_others_see_each_commit, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_many_commits, fx_setup, fx_teardown),
#ifdef SCT_FAULTS
      cmocka_unit_test_setup_teardown(test_each_write_fails, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_no_room_from_a_write_on, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_rows_do_not_wait_for_the_disk, fx_setup, fx_teardown),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
