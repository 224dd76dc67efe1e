/* Opening: new folders, and files that must be refused and left as they are. */
#include "store_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>

/* A store with some results, closed. */
static void make_store(const fixture *f, int n) {
  sct_store *s = fx_open(f->path, false);
  const sct_row_run run = fx_run(s);
  for (int i = 0; i < n; ++i) {
    FX_OK(fx_put(s, &run, i, NULL, &err));
  }
  sct_store_close(s);
}

/* Both ways of opening fail so, and not a byte of the file changes. */
static void expect_refusal(const char *path, sct_status code, const char *word) {
  size_t n_before = 0;
  size_t n_after = 0;
  char *before = fx_bytes(path, &n_before);
  for (int read_only = 0; read_only < 2; ++read_only) {
    sct_error err = {0};
    sct_store *s = NULL;
    const sct_status status = sct_store_open(&s, path, read_only != 0, &err);
    if (status != code || strstr(err.text, word) == NULL || strstr(err.text, path) == NULL) {
      fail_msg("expected status %d and \"%s\", got %d: %s", code, word, status, err.text);
    }
    assert_null(s);
    char *after = fx_bytes(path, &n_after);
    assert_int_equal(n_after, n_before);
    assert_memory_equal(after, before, n_before);
    free(after);
  }
  free(before);
}

static void test_new_store(void **state) {
  const fixture *const f = *state;
  make_store(f, 1);
  char *text = fx_ask(f->path, "PRAGMA journal_mode");
  assert_string_equal(text, "wal");
  free(text);
  text = fx_ask(f->path, "PRAGMA user_version");
  assert_string_equal(text, "6");
  free(text);
  text = fx_ask(f->path,
                "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT'");
  assert_string_equal(text, "6");
  free(text);
  fx_check_integrity(f->path);
  char wal[256];
  (void)snprintf(wal, sizeof(wal), "%s-wal", f->path);
  assert_int_not_equal(access(wal, F_OK), 0); /* a clean close leaves one file */
}

static void test_empty_file_becomes_a_store(void **state) {
  const fixture *const f = *state;
  char path[128];
  (void)snprintf(path, sizeof(path), "%s/empty.db", f->dir);
  fx_write(path, "", 0);
  sct_store_close(fx_open(path, false));
  sct_store_close(fx_open(path, true));
}

static void test_reading_what_is_not_there(void **state) {
  const fixture *const f = *state;
  sct_error err = {0};
  sct_store *s = NULL;
  assert_int_equal(sct_store_open(&s, f->path, true, &err), SCT_EIO);
  assert_non_null(strstr(err.text, "nothing has been tuned"));
  assert_int_not_equal(access(f->path, F_OK), 0); /* and it was not made */
}

static void test_not_a_database(void **state) {
  const fixture *const f = *state;
  char path[128];
  char text[4096];
  (void)snprintf(path, sizeof(path), "%s/notes.txt", f->dir);
  fx_write(path, "my notes\n", 9);
  expect_refusal(path, SCT_EDATA, "not an SQLite database");
  memset(text, 'x', sizeof(text));
  fx_write(path, text, sizeof(text));
  expect_refusal(path, SCT_EDATA, "not an SQLite database");
  sct_error err = {0};
  sct_store *s = NULL;
  assert_int_equal(sct_store_open(&s, f->dir, false, &err), SCT_EDATA);
  assert_non_null(strstr(err.text, "not a file"));
}

static void test_database_of_another_program(void **state) {
  const fixture *const f = *state;
  char path[128];
  (void)snprintf(path, sizeof(path), "%s/other.db", f->dir);
  fx_sql(path, "CREATE TABLE mail (id INTEGER); INSERT INTO mail VALUES (1)");
  expect_refusal(path, SCT_EDATA, "another program");
  fx_sql(path, "PRAGMA application_id = 77");
  expect_refusal(path, SCT_EDATA, "another program");
}

static void test_newer_schema(void **state) {
  const fixture *const f = *state;
  make_store(f, 1);
  fx_sql(f->path, "PRAGMA user_version = 7");
  expect_refusal(f->path, SCT_EDATA, "newer version");
  fx_sql(f->path, "PRAGMA user_version = 0");
  expect_refusal(f->path, SCT_EDATA, "no version");
}

/* Our tables when it was opened, but not any more: found when they are used. */
static void test_column_goes_missing(void **state) {
  const fixture *const f = *state;
  make_store(f, 1);
  sct_store *const reader = fx_open(f->path, true);
  sct_store *const writer = fx_open(f->path, false);
  fx_sql(f->path, "ALTER TABLE outcome RENAME COLUMN degree TO other");
  sct_error why = {0};
  sct_row_result *rows = NULL;
  int n = 0;
  assert_int_equal(sct_store_results(reader, &kept_rows, 1, false, &rows, &n, &why), SCT_EDATA);
  assert_non_null(strstr(why.text, "degree"));
  sct_store_close(reader);
  /* The outcome cannot be put, so its candidate is not there either. */
  const sct_row_run run = {.id = 1, .problem = 1};
  assert_int_equal(fx_put(writer, &run, 50, NULL, &why), SCT_EDATA);
  sct_row_problem p = {.spec_hash = "another"};
  FX_OK(sct_store_put_problem(writer, &p, &err)); /* the store goes on working */
  sct_store_close(writer);
  char *text = fx_ask(f->path, "SELECT count(*) FROM candidate");
  assert_string_equal(text, "1");
  free(text);
}

static void overwrite(const char *path, size_t from, size_t to, const char *whole, size_t n,
                      int byte) {
  char *copy = malloc(n);
  assert_non_null(copy);
  memcpy(copy, whole, n);
  memset(copy + from, byte, (to < n ? to : n) - from);
  fx_write(path, copy, n);
  free(copy);
}

static void test_damaged_pages(void **state) {
  const fixture *const f = *state;
  enum { PAGE = 4096 };
  make_store(f, 60);
  size_t n = 0;
  char *whole = fx_bytes(f->path, &n);
  assert_true(n > 8 * PAGE);
  /* header, first page behind it, schema page, each page of the middle */
  overwrite(f->path, 0, 50, whole, n, 'x');
  expect_refusal(f->path, SCT_EDATA, "not an SQLite database");
  overwrite(f->path, 100, PAGE, whole, n, 0xff);
  expect_refusal(f->path, SCT_EDATA, "damaged");
  for (size_t page = 1; page * PAGE < n; ++page) {
    overwrite(f->path, page * PAGE, (page + 1) * PAGE, whole, n, 0xff);
    expect_refusal(f->path, SCT_EDATA, "damaged");
  }
  fx_write(f->path, whole, n - 3 * PAGE); /* the end is missing */
  expect_refusal(f->path, SCT_EDATA, "damaged");
  fx_write(f->path, whole, 60);
  expect_refusal(f->path, SCT_EDATA, "not an SQLite database");
  fx_write(f->path, whole, n); /* whole again */
  sct_store_close(fx_open(f->path, false));
  free(whole);
}

/* Random bytes changed anywhere: opening and reading everything never crashes, and what is opened
 * can be read or says why not. */
static void test_random_damage(void **state) {
  const fixture *const f = *state;
  make_store(f, 20);
  size_t n = 0;
  char *whole = fx_bytes(f->path, &n);
  char *copy = malloc(n);
  assert_non_null(copy);
  const uint64_t seed = 77;
  print_message("seed %llu\n", (unsigned long long)seed);
  sct_rng rng = sct_rng_new(seed);
  int refused = 0;
  for (int i = 0; i < 150; ++i) {
    memcpy(copy, whole, n);
    for (int k = 0; k < 8; ++k) {
      copy[sct_rng_below(&rng, (int64_t)n)] ^= (char)(1 + sct_rng_below(&rng, 255));
    }
    fx_write(f->path, copy, n);
    sct_error err = {0};
    sct_store *s = NULL;
    if (sct_store_open(&s, f->path, true, &err) != SCT_OK) {
      ++refused;
      assert_true(err.text[0] != '\0');
      continue;
    }
    sct_row_result *rows = NULL;
    int n_rows = 0;
    if (sct_store_results(s, &kept_rows, 1, true, &rows, &n_rows, &err) == SCT_OK) {
    }
    sct_store_close(s);
  }
  assert_in_range(refused, 10, 149);
  free(whole);
  free(copy);
}

/* ---- permissions: in a child that is not root */

enum { NOBODY = 65534 };

static void in_unprivileged_child(const fixture *f, void (*body)(const fixture *f)) {
  char command[256];
  (void)snprintf(command, sizeof(command), "chmod -R a+rX %s", f->dir);
  assert_int_equal(system(command), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
      _exit(3);
    }
    body(f);
    _exit(0);
  }
  int ended = 0;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended));
  assert_int_equal(WEXITSTATUS(ended), 0);
}

static void expect_io_error(const char *path, bool read_only, const char *word) {
  sct_error err = {0};
  sct_store *s = NULL;
  const sct_status status = sct_store_open(&s, path, read_only, &err);
  if (status != SCT_EIO || strstr(err.text, word) == NULL || strstr(err.text, path) == NULL) {
    (void)fprintf(stderr, "status %d: %s\n", status, err.text);
    _exit(4);
  }
}

static void writing_is_refused(const fixture *f) {
  expect_io_error(f->path, false, "Permission denied");
}

static void reading_works(const fixture *f) {
  sct_error err = {0};
  sct_store *s = NULL;
  sct_row_result *rows = NULL;
  int n = 0;
  if (sct_store_open(&s, f->path, true, &err) != SCT_OK ||
      sct_store_results(s, &kept_rows, 1, true, &rows, &n, &err) != SCT_OK || n != 3) {
    (void)fprintf(stderr, "%s\n", err.text);
    _exit(5);
  }
  sct_store_close(s);
}

static void test_read_only_folder(void **state) {
  const fixture *const f = *state;
  in_unprivileged_child(f, writing_is_refused); /* nothing there, and it cannot be made */
  fixture direct = *f;                          /* where its folder is there */
  (void)snprintf(direct.path, sizeof(direct.path), "%s/new.db", f->dir);
  in_unprivileged_child(&direct, writing_is_refused);
  make_store(f, 3);
  in_unprivileged_child(f, writing_is_refused);
  in_unprivileged_child(f, reading_works);
}

/* The file may be written, its folder not: WAL needs the folder. */
static void test_writable_file_in_a_read_only_folder(void **state) {
  const fixture *const f = *state;
  make_store(f, 3);
  assert_int_equal(chmod(f->path, 0666), 0);
  in_unprivileged_child(f, writing_is_refused);
  in_unprivileged_child(f, reading_works);
}

static void unread_changes_are_named(const fixture *f) {
  expect_io_error(f->path, true, "-wal");
}

static void test_read_only_folder_with_changes_in_the_wal(void **state) {
  const fixture *const f = *state;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    make_store(f, 1);
    sct_store *s = fx_open(f->path, false);
    const sct_row_run run = fx_run(s);
    FX_OK(fx_put(s, &run, 50, NULL, &err));
    _exit(0); /* without closing: the row stays in the WAL */
  }
  int ended = 0;
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_int_equal(ended, 0);
  char shm[256]; /* as after copying the store and its WAL */
  (void)snprintf(shm, sizeof(shm), "%s-shm", f->path);
  assert_int_equal(unlink(shm), 0);
  in_unprivileged_child(f, unread_changes_are_named);
}

/* Names with characters that mean something in a URI. */
static void test_odd_path_read_only(void **state) {
  fixture odd = *(const fixture *)*state;
  (void)snprintf(odd.path, sizeof(odd.path), "%s/a?b#c%%20 d/store.db", odd.dir);
  make_store(&odd, 3);
  in_unprivileged_child(&odd, reading_works);
}

/* Names that SQLite would take for something else than a file: what is stored must be in it. */
static void test_names_that_mean_something_to_sqlite(void **state) {
  static const char *const names[] = {":memory:",      "file:a.db", "file:b.db?mode=memory",
                                      "file::memory:", "-c.db",     " "};
  const fixture *const f = *state;
  char before[512];
  assert_non_null(getcwd(before, sizeof(before)));
  assert_int_equal(chdir(f->dir), 0);
  for (int i = 0; i < SCT_COUNT(names); ++i) {
    fixture odd = *f;
    (void)snprintf(odd.path, sizeof(odd.path), "%s", names[i]);
    make_store(&odd, 3);
    assert_int_equal(access(names[i], F_OK), 0);
    reading_works(&odd);
    assert_int_equal(chmod(f->dir, 0555), 0);
    in_unprivileged_child(&odd, reading_works);
    assert_int_equal(chmod(f->dir, 0755), 0);
  }
  assert_int_equal(chdir(before), 0);
}

static void test_read_only_store_takes_no_rows(void **state) {
  const fixture *const f = *state;
  make_store(f, 1);
  sct_store *s = fx_open(f->path, true);
  sct_row_problem p = {.spec_hash = "77"};
  sct_error err = {0};
  assert_int_equal(sct_store_put_problem(s, &p, &err), SCT_EIO);
  sct_store_close(s);
  char wal[256];
  (void)snprintf(wal, sizeof(wal), "%s-wal", f->path);
  assert_int_not_equal(access(wal, F_OK), 0);
}

/* Stands in for that of the C library. SQLite has fcntl64, and is not asked. */
static bool no_locks;
int fcntl(int fd, int command, ...) {
  static int (*real)(int, int, ...);
  va_list values;
  va_start(values, command);
  void *const value = va_arg(values, void *);
  va_end(values);
  if (no_locks && (command == F_SETLK || command == F_GETLK || command == F_SETLKW)) {
    errno = ENOLCK;
    return -1;
  }
  if (real == NULL) {
    *(void **)&real = dlsym(RTLD_NEXT, "fcntl");
  }
  return real(fd, command, value);
}

/* At once and with advice, not after ten seconds as if it was in use. */
static void a_file_system_without_locks_is_refused(void **state) {
  const fixture *const f = *state;
  sct_store *s = fx_open(f->path, false);
  sct_store_close(s);
  for (int read_only = 0; read_only < 2; read_only++) {
    sct_error err = {0};
    no_locks = true;
    const sct_status status = sct_store_open(&s, f->path, read_only == 1, &err);
    no_locks = false;
    assert_int_equal(status, SCT_EIO);
    assert_non_null(strstr(err.text, "file system without locks"));
    assert_non_null(strstr(err.text, "/scratch"));
  }
  s = fx_open(f->path, false); /* whole */
  sct_store_close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_system_without_locks_is_refused, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(test_new_store, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_empty_file_becomes_a_store, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_reading_what_is_not_there, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_not_a_database, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_database_of_another_program, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_newer_schema, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_column_goes_missing, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_damaged_pages, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_random_damage, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_read_only_folder, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_writable_file_in_a_read_only_folder, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(test_read_only_folder_with_changes_in_the_wal, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(test_odd_path_read_only, fx_setup, fx_teardown),
      cmocka_unit_test_setup_teardown(test_names_that_mean_something_to_sqlite, fx_setup,
                                      fx_teardown),
      cmocka_unit_test_setup_teardown(test_read_only_store_takes_no_rows, fx_setup, fx_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
