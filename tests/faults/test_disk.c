/* A full disk, a limit on the size of files, folders that cannot be written, an output that is
 * full, closed or has no reader: old data stays whole, the message names the cause, the exit code
 * is that of a file error, and running again afterwards comes to the full result. */
#include "faults_session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/resource.h>

static fs_place place;
static fs_run run;

static void start_over(const char *store) {
  fs_reset_store(&place, fs_path(&place, store));
  fs_spill(fs_path(&place, "out.h"), FS_OLD);
  fs_delete(fs_path(&place, "cache"));
}

static void expect_intact(void) {
  char why[512];
  fs_check_files(&place, why);
  if (why[0] != '\0') {
    fail_msg("%s\n%s", why, run.err);
  }
}

static void expect_failure(const char *message) {
  if (run.exit_code != 1 || !strstr(run.err, message)) {
    fail_msg("exit code %d, expected 1 and '%s' in:\n%s", run.exit_code, message, run.err);
  }
  assert_int_equal(run.orphans, 0);
  expect_intact();
}

static void expect_whole_result(void) {
  static char rows[FS_MAX];
  assert_true(fs_query(fs_path(&place, "store.db"), FS_ROWS, "copy", rows, sizeof rows));
  assert_string_equal(rows, place.new_rows);
  expect_intact();
}

static void expect_resume(void) {
  fs_execute(&place, fs_tune, NULL, NULL, &run);
  assert_int_equal(run.exit_code, 0);
  expect_whole_result();
}

/* ---- the disk ---- */

/* From every write of the store on there is no room. */
static void test_disk_full_at_every_write_of_the_store(void **state) {
  (void)state;
  int failed = 0;
  fs_execute(&place, fs_tune, NULL, NULL, &run); /* fills the cache */
  for (int n = 1; n < 200; n++) {
    char faults[64];
    fs_reset_store(&place, fs_path(&place, "base.db"));
    snprintf(faults, sizeof faults, "dbwrite@main:%d+:ENOSPC", n);
    fs_execute(&place, fs_tune, faults, NULL, &run);
    if (!strstr(run.err, " fails\n")) {
      assert_true(n > 5); /* there are that many writes at least */
      break;
    }
    if (run.exit_code != 0) { /* the last ones tidy up: nothing is lost if they fail */
      expect_failure("database or disk is full");
      failed++;
    }
    expect_intact();
  }
  assert_true(failed > 3);
  expect_resume();
}

static int count_text(const char *text, const char *what) {
  int n = 0;
  for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
    n++;
  }
  return n;
}

/* From every sync of the store on the disk does not take what was written: the session fails, and
 * what it told by then is in the store. */
static void test_what_is_told_is_stored(void **state) {
  (void)state;
  static const char *const words[] = {"tune",     "--assets",         FS_ASSETS, "--store",
                                      "store.db", "--device",         "cuda:0",  "--events",
                                      "-",        FS_ROOT "tiny.lua", NULL};
  bool failed_once = false;
  int most = 0;
  for (int n = 1; n < 200; n++) {
    char faults[64], rows[64];
    fs_reset_store(&place, fs_path(&place, "base.db"));
    snprintf(faults, sizeof faults, "dbsync@main:%d+", n);
    fs_execute(&place, words, faults, "ok", &run);
    if (!strstr(run.err, " fails\n")) {
      assert_true(n > 1);
      break;
    }
    assert_true(fs_query(fs_path(&place, "store.db"),
                         "SELECT count(*) FROM outcome o JOIN run r ON o.run = r.id JOIN problem p "
                         "ON r.problem = p.id WHERE p.name = ?",
                         "copy", rows, sizeof rows));
    const int told =
        count_text(run.out, "\"event\": \"timed\"") + count_text(run.out, "\"event\":\"timed\"");
    const bool failed = run.exit_code != 0;
    assert_true(told <= atoi(rows));
    failed_once = failed_once || failed;
    most = told > most ? told : most;
    if (failed) {
      expect_failure("the store 'store.db': ");
    }
  }
  assert_true(failed_once);
  assert_true(most > 1);
}

/* Other files: the compile cache does without, the header is refused. */
static void test_disk_full_at_other_writes(void **state) {
  (void)state;
  start_over("base.db");
  fs_execute(&place, fs_tune, "write@main:1+", NULL, &run);
  assert_int_equal(run.exit_code, 0);
  assert_non_null(strstr(run.err, "no longer cached: No space left on device"));
  expect_whole_result();
  start_over("both.db");
  fs_execute(&place, fs_emit, "write@main:1+", NULL, &run);
  expect_failure("cannot write 'out.h': No space left on device");
}

/* Runs with files of at most `bytes`: the kernel itself refuses, and would end a program that does
 * not ignore SIGXFSZ. */
static void run_limited(const char *const *words, int64_t bytes) {
  fflush(NULL);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    const struct rlimit r = {(rlim_t)bytes, (rlim_t)bytes};
    setrlimit(RLIMIT_FSIZE, &r);
    fs_child_(&place, words, NULL, NULL, NULL);
  }
  fs_finish(&place, pid, &run);
}

static void test_a_limit_on_files(void **state) {
  (void)state;
  struct stat st;
  assert_int_equal(stat(fs_path(&place, "base.db"), &st), 0);
  static const int64_t limits[] = {4096, 8192, 20000, 40000};
  for (int k = 0; k < SCT_COUNT(limits); k++) {
    start_over("base.db");
    run_limited(fs_tune, limits[k]);
    if (run.exit_code != 0) {
      expect_failure("sectile: ");
      assert_true(strstr(run.err, "File too large") || strstr(run.err, "disk I/O error") ||
                  strstr(run.err, "disk is full"));
    }
    assert_true(run.exit_code == 0 || run.exit_code == 1);
    expect_intact();
  }
  expect_resume();
  start_over("both.db");
  run_limited(fs_emit, 512);
  expect_failure("cannot write 'out.h': File too large");
}

/* ---- folders ---- */

/* Root may write anywhere, so the program runs as nobody there. */
static void run_as_nobody(const char *const *words) {
  fflush(NULL);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    const int out = open(fs_path(&place, "stdout"), O_WRONLY | O_TRUNC);
    const int err = open(fs_path(&place, "stderr"), O_WRONLY | O_TRUNC);
    if (dup2(out, 1) < 0 || dup2(err, 2) < 0 || chdir(place.dir) != 0 ||
        (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))) {
      _exit(126);
    }
    setenv("XDG_CACHE_HOME", place.dir, 1);
    execv(SCT_PROGRAM, (char *const *)(uintptr_t)words);
    _exit(126);
  }
  fs_finish(&place, pid, &run);
}

static void test_a_folder_that_cannot_be_written(void **state) {
  (void)state;
  static const char *const tune[] = {"sectile",  "tune",         "--store",   "store.db",
                                     "--device", "virtual:h200", "older.lua", NULL};
  static const char *const emit[] = {"sectile", "emit", "--store", "store.db",
                                     "copy",    "-o",   "out.h",   NULL};
  start_over("both.db");
  assert_int_equal(chmod(fs_path(&place, "store.db"), 0444), 0);
  assert_int_equal(chmod(place.dir, 0555), 0);
  run_as_nobody(tune);
  chmod(place.dir, 0755);
  if (run.exit_code == 126) { /* the program or the folder is out of nobody's reach here */
    chmod(fs_path(&place, "store.db"), 0644);
    skip();
  }
  expect_failure("the store 'store.db' cannot be written");
  chmod(place.dir, 0555);
  run_as_nobody(emit); /* reading works; the header has no place */
  chmod(place.dir, 0755);
  chmod(fs_path(&place, "store.db"), 0644);
  expect_failure("cannot write 'out.h'");
}

/* ---- outputs ---- */

static void test_a_full_output(void **state) {
  (void)state;
  start_over("base.db");
  fs_finish(&place, fs_start(&place, fs_tune, NULL, NULL, "/dev/full"), &run);
  expect_failure("cannot write to standard output: No space left on device");
  expect_whole_result(); /* what was found is kept */
}

/* `what`: "closed": no descriptors 0 to 2; "pipe": nobody reads stdout. */
static void run_with_output(const char *what) {
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  fflush(NULL);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    char command[1024] = "exec \"$0\" \"$@\" 2>stderr";
    char *argv[24] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", command,
                      (char *)(uintptr_t)SCT_PROGRAM};
    for (int k = 0; fs_tune[k]; k++) {
      argv[4 + k] = (char *)(uintptr_t)fs_tune[k];
    }
    if (strcmp(what, "closed") == 0) {
      snprintf(command, sizeof command, "exec \"$0\" \"$@\" <&- >&- 2>&-");
    }
    dup2(fds[1], 1);
    close(fds[0]);
    close(fds[1]);
    setenv("XDG_CACHE_HOME", fs_path(&place, "cache"), 1);
    signal(SIGPIPE, SIG_DFL);
    if (chdir(place.dir) == 0) {
      execv("/bin/sh", argv);
    }
    _exit(126);
  }
  close(fds[0]);
  close(fds[1]);
  fs_finish(&place, pid, &run);
}

static void test_nobody_reads(void **state) {
  (void)state;
  start_over("base.db");
  run_with_output("pipe");
  expect_failure("cannot write to standard output: Broken pipe");
  expect_whole_result();
}

/* A file that got the number of a closed stream would be written over by what is printed. */
static void test_closed_streams(void **state) {
  (void)state;
  start_over("base.db");
  run_with_output("closed");
  assert_int_equal(run.exit_code, 1);
  expect_whole_result();
}

static int set_up(void **state) {
  (void)state;
  snprintf(place.dir, sizeof place.dir, "/tmp/sct_disk_XXXXXX");
  if (!mkdtemp(place.dir) || chmod(place.dir, 0755) != 0) {
    return -1;
  }
  fs_prepare(&place);
  fs_adopt();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  fs_delete(place.dir);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_disk_full_at_every_write_of_the_store),
      cmocka_unit_test(test_what_is_told_is_stored),
      cmocka_unit_test(test_disk_full_at_other_writes),
      cmocka_unit_test(test_a_limit_on_files),
      cmocka_unit_test(test_a_folder_that_cannot_be_written),
      cmocka_unit_test(test_a_full_output),
      cmocka_unit_test(test_nobody_reads),
      cmocka_unit_test(test_closed_streams),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
