/* Calls that fail on command: the n-th of a kind, in a process of a role, with a reason; and what
 * files look like afterwards. The variable is read before main, so each case is a process. */
#include "base/base.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

/* ---- the other side: what a case does ---- */

/* Opens a pair of sockets and says whether it came. */
static void open_pipe(void) {
  int fds[2];
  const bool there = sct_socketpair(AF_UNIX, SOCK_STREAM, fds) == 0;
  printf("%c", there ? '.' : 'x');
  if (there) {
    close(fds[0]);
    close(fds[1]);
  }
}

static int act_pipes(const char *words) {
  for (int k = 0; k < atoi(words); k++) {
    open_pipe();
  }
  return 0;
}

/* As many blocks of memory; what is printed goes at once. */
static int act_alloc(const char *words) {
  for (int k = 0; k < atoi(words); k++) {
    sct_free(sct_alloc(3 << 20));
    printf(".");
    fflush(stdout);
  }
  return 0;
}

static int act_quiet(const char *words) {
  sct_memory_end_silently();
  return act_alloc(words);
}

static int act_leak(const char *words) {
  char *volatile kept = sct_strdup(words);
  printf("%s", kept);
  return 0;
}

static int act_role(const char *words) {
  for (int k = 0; k < 2; k++) {
    open_pipe();
    sct_fault_role(words);
  }
  return 0;
}

static int act_write(const char *path) {
  sct_error err = {0};
  const sct_status status = sct_file_write(path, "new text", 8, &err);
  printf("%s", status == SCT_OK ? "written" : err.text);
  return sct_exit_code(status);
}

static int act_dir(const char *path) {
  sct_error err = {0};
  const sct_status status = sct_dir_make(path, &err);
  printf("%s", status == SCT_OK ? "made" : err.text);
  return sct_exit_code(status);
}

static int act_read(const char *path) {
  sct_str text = {0};
  sct_error err = {0};
  const sct_status status = sct_file_read(&text, path, &err);
  printf("%s", status == SCT_OK ? sct_str_c(&text) : err.text);
  sct_str_free(&text);
  return sct_exit_code(status);
}

static const struct {
  const char *name;
  int (*run)(const char *words);
} acts[] = {{"pipes", act_pipes}, {"alloc", act_alloc}, {"quiet", act_quiet}, {"leak", act_leak},
            {"role", act_role},   {"write", act_write}, {"dir", act_dir},     {"read", act_read}};

static int act(const char *name, const char *words) {
  for (int k = 0; k < SCT_COUNT(acts); k++) {
    if (strcmp(acts[k].name, name) == 0) {
      return acts[k].run(words);
    }
  }
  return 99;
}

/* ---- this side ---- */

typedef struct result {
  int exit_code;
  char out[2048], err[2048];
} result;

static const char *in_folder(char out[128], const char *name) {
  snprintf(out, 128, "%s/%s", folder, name);
  return out;
}

static void slurp(char *out, size_t n, const char *path) {
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  out[fread(out, 1, n - 1, f)] = '\0';
  fclose(f);
}

static result run(const char *faults, const char *name, const char *words) {
  char out[128], err[128];
  result r = {0};
  in_folder(out, "stdout");
  in_folder(err, "stderr");
  fflush(NULL);
  const pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    setenv("SCT_FAULTS", faults, 1);
    if (freopen(out, "w", stdout) && freopen(err, "w", stderr)) {
      execl("/proc/self/exe", "test", name, words, (char *)NULL);
    }
    _exit(98);
  }
  int status = 0;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  r.exit_code = WEXITSTATUS(status);
  slurp(r.out, sizeof r.out, out);
  slurp(r.err, sizeof r.err, err);
  return r;
}

static void expect(const char *faults, const char *name, const char *words, const char *out) {
  const result r = run(faults, name, words);
  if (strcmp(r.out, out) != 0) {
    fail_msg("SCT_FAULTS=%s %s: '%s' instead of '%s'", faults, name, r.out, out);
  }
}

static void test_nth(void **state) {
  (void)state;
  expect("", "pipes", "5", ".....");
  expect("pipe:1", "pipes", "5", "x....");
  expect("pipe:4", "pipes", "5", "...x.");
  expect("pipe:4+", "pipes", "6", "...xxx");
  expect("pipe:2,pipe:4", "pipes", "5", ".x.x.");
  expect("pipe:6", "pipes", "5", ".....");
  expect("open:1", "pipes", "5", ".....");
}

static void test_role(void **state) {
  (void)state;
  expect("pipe@main:1", "role", "worker", "x.");
  expect("pipe@worker:1", "role", "worker", ".x"); /* counts start anew with a role */
  expect("pipe:1", "role", "worker", "xx");
  expect("pipe@other:1", "role", "worker", "..");
}

static void test_said(void **state) {
  (void)state;
  result r = run("pipe:2", "pipes", "3");
  assert_non_null(strstr(r.err, "fault: pipe@main:2 fails\n"));
  assert_non_null(strstr(r.err, "fault: live main 0\n"));
  assert_null(strstr(r.err, "count"));
  r = run("count", "pipes", "7");
  assert_non_null(strstr(r.err, "fault: count main pipe=7\n"));
  r = run("count", "leak", "lost");
  assert_non_null(strstr(r.err, "fault: live main 1\n"));
}

static void test_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"pipe",    "pipe:0",  "pipe:x",    "pip:1",
                                      "pipe@:1", "pipe:1-", "pipe:1:E?", "count2"};
  for (int k = 0; k < SCT_COUNT(wrong); k++) {
    const result r = run(wrong[k], "pipes", "1");
    assert_int_equal(r.exit_code, 2);
    assert_non_null(strstr(r.err, "fault: cannot read '"));
    assert_non_null(strstr(r.err, "expected count, once=FILE or KIND"));
  }
}

/* Refused memory ends the program: with a whole sentence, or without a word. */
static void test_memory(void **state) {
  (void)state;
  result r = run("malloc:3", "alloc", "5");
  assert_int_equal(r.exit_code, sct_exit_code(SCT_ENOMEM));
  assert_string_equal(r.out, "..");
  assert_string_equal(r.err, "fault: malloc@main:3 fails\n"
                             "sectile: out of memory: 3 MiB more were refused; end other programs "
                             "or take smaller sizes, and run it again\n");
  r = run("malloc:3", "quiet", "5");
  assert_int_equal(r.exit_code, sct_exit_code(SCT_ENOMEM));
  assert_string_equal(r.err, "fault: malloc@main:3 fails\n");
}

/* Every step of writing a file fails in turn: the old bytes stay, nothing else is left behind, and
 * the reason is said. */
static void test_write(void **state) {
  (void)state;
  static const struct {
    const char *faults, *reason;
  } steps[] = {{"open:2", "Too many open files"},      {"open:2:EROFS", "Read-only file system"},
               {"write:1", "No space left on device"}, {"write:1:EDQUOT", "Disk quota exceeded"},
               {"write:1:EFBIG", "File too large"},    {"fsync:1", "Input/output error"},
               {"close:1", "Input/output error"},      {"rename:1", "Permission denied"}};
  char path[128], text[64], names[256], wanted[512], command[256];
  in_folder(path, "file");
  for (int k = 0; k < SCT_COUNT(steps); k++) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("old text", f); /* as long as the new: it is read to be compared */
    fclose(f);
    const result r = run(steps[k].faults, "write", path);
    assert_int_equal(r.exit_code, 1);
    snprintf(wanted, sizeof wanted, "cannot write '%s': %s", path, steps[k].reason);
    assert_string_equal(r.out, wanted);
    slurp(text, sizeof text, path);
    assert_string_equal(text, "old text");
    snprintf(command, sizeof command, "ls -A %s | tr '\\n' ' ' >%s.names", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s.names", folder);
    slurp(names, sizeof names, command);
    assert_string_equal(names, "file stderr stdout ");
    unlink(command);
  }
  expect("fsync:2", "write", path, "written"); /* of the folder: the file is in place */
  slurp(text, sizeof text, path);
  assert_string_equal(text, "new text");
}

static void test_read_and_folder(void **state) {
  (void)state;
  char path[128], wanted[256];
  in_folder(path, "stdout");
  snprintf(wanted, sizeof wanted, "cannot read '%s': Input/output error", path);
  expect("read:1", "read", path, wanted);
  snprintf(wanted, sizeof wanted, "cannot read '%s': Too many open files", path);
  expect("open:1", "read", path, wanted);
  in_folder(path, "a/b");
  snprintf(wanted, sizeof wanted, "cannot make directory '%s': No space left on device", path);
  char calls[32]; /* one for each part of the path, this the last */
  int n = 0;
  for (const char *p = path; *p; p++) {
    n += *p == '/';
  }
  snprintf(calls, sizeof calls, "mkdir:%d", n);
  expect(calls, "dir", path, wanted);
  expect("", "dir", path, "made");
}

static int make_folder(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "faults");
}

static int remove_folder(void **state) {
  (void)state;
  return scratch_remove(folder);
}

int main(int argc, char **argv) {
  if (argc == 3) {
    return act(argv[1], argv[2]);
  }
#ifndef SCT_FAULTS
  printf("skipped: this build makes no calls fail\n");
  return 77;
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nth),
      cmocka_unit_test(test_role),
      cmocka_unit_test(test_said),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_memory),
      cmocka_unit_test(test_write),
      cmocka_unit_test(test_read_and_folder),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
