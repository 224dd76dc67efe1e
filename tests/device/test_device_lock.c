/* Locks between processes, the folder they lie in, and the Multi-Process Service: real processes,
 * real files, a folder of the test's own. */
#include "device/device.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

#include <fcntl.h>

static char folder[64];
static char path[160];

static const char *in_folder(const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int set_up(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/sct_lock_XXXXXX");
  assert_non_null(mkdtemp(folder));
  return setenv("XDG_RUNTIME_DIR", folder, 1) + setenv("CUDA_MPS_PIPE_DIRECTORY", folder, 1);
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command);
}

/* A child that holds the lock until it is killed; returns when it does. */
static pid_t holder(const char *name) {
  int ready[2];
  assert_int_equal(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    int fd;
    char said = sct_lock_take(&fd, name, NULL) == SCT_OK ? 'y' : 'n';
    if (write(ready[1], &said, 1) != 1) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  char said = 0;
  assert_int_equal(read(ready[0], &said, 1), 1);
  assert_int_equal(said, 'y');
  close(ready[0]);
  close(ready[1]);
  return pid;
}

static void end(pid_t pid) {
  int status;
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* ---- locks ---- */

static void test_one_holder_at_a_time(void **state) {
  (void)state;
  sct_error err = {0};
  int fd, other;
  const pid_t pid = holder("GPU-1");
  char number[32];
  snprintf(number, sizeof number, "process %ld (", (long)pid);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_EBUSY);
  assert_int_equal(fd, -1);
  assert_non_null(strstr(err.text, number));
  assert_non_null(strstr(err.text, "test_device_lock"));
  assert_non_null(strstr(err.text, ") since 2"));
  assert_int_equal(sct_lock_take(&other, "GPU-2", &err), SCT_OK); /* another GPU is free */
  sct_lock_release(&other);
  end(pid); /* a dead holder holds nothing, though its file stays */
  assert_int_equal(access(in_folder("sectile/GPU-1.lock"), F_OK), 0);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_OK);
  assert_int_equal(sct_lock_take(&other, "GPU-1", &err), SCT_EBUSY); /* not even twice by us */
  sct_lock_release(&fd);
  assert_int_equal(fd, -1);
  sct_lock_release(&fd);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_OK);
  sct_lock_release(&fd);
}

static void test_nonsense_in_the_file_is_shown_harmlessly(void **state) {
  (void)state;
  sct_error err = {0};
  int fd;
  const pid_t pid = holder("GPU-1");
  FILE *f = fopen(in_folder("sectile/GPU-1.lock"), "w");
  fputs("a\033[31m\n\001b", f);
  fclose(f);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_EBUSY);
  assert_string_equal(err.text, "a [31m  b");
  f = fopen(in_folder("sectile/GPU-1.lock"), "w");
  fclose(f);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_EBUSY);
  assert_string_equal(err.text, "another process");
  end(pid);
}

static void test_the_folder_is_private(void **state) {
  (void)state;
  sct_error err = {0};
  struct stat st;
  int fd;
  umask(0);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_OK);
  sct_lock_release(&fd);
  assert_int_equal(stat(in_folder("sectile"), &st), 0);
  assert_int_equal(st.st_mode & 07777, 0700);
  assert_int_equal(stat(in_folder("sectile/GPU-1.lock"), &st), 0);
  assert_int_equal(st.st_mode & 07777, 0600);
  chmod(in_folder("sectile"), 0770);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_EIO);
  assert_non_null(strstr(err.text, "is open to others (mode 0770)"));
  chmod(in_folder("sectile"), 0700);
  umask(022);
}

static void test_links_are_not_followed(void **state) {
  (void)state;
  sct_error err = {0};
  int fd;
  assert_int_equal(mkdir(in_folder("real"), 0700), 0);
  assert_int_equal(symlink("real", in_folder("sectile")), 0);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_EIO);
  assert_non_null(strstr(err.text, "it is not a directory"));
  assert_int_equal(unlink(in_folder("sectile")), 0);
  assert_int_equal(mkdir(in_folder("sectile"), 0700), 0);
  assert_int_equal(symlink("../victim", in_folder("sectile/GPU-1.lock")), 0);
  assert_int_equal(sct_lock_take(&fd, "GPU-1", &err), SCT_EIO);
  assert_non_null(strstr(err.text, "it is no plain file"));
  assert_int_not_equal(access(in_folder("victim"), F_OK), 0);
  assert_int_equal(sct_lock_take(&fd, "../x", &err), SCT_EINTERNAL);
  assert_int_equal(sct_lock_take(&fd, "", &err), SCT_EINTERNAL);
}

static void test_where_the_folder_is(void **state) {
  (void)state;
  sct_str text = {0};
  char expected[96];
  snprintf(expected, sizeof expected, "%s/sectile", folder);
  sct_lock_directory(&text);
  assert_string_equal(sct_str_c(&text), expected);
  snprintf(expected, sizeof expected, "/tmp/sectile-%lu", (unsigned long)geteuid());
  static const char *const useless[] = {"", "relative"};
  for (int k = 0; k < SCT_COUNT(useless); k++) {
    setenv("XDG_RUNTIME_DIR", useless[k], 1);
    sct_str_clear(&text);
    sct_lock_directory(&text);
    assert_string_equal(sct_str_c(&text), expected);
  }
  sct_str_free(&text);
}

/* ---- the Multi-Process Service ---- */

static void write_number(long pid) {
  FILE *f = fopen(in_folder("nvidia-cuda-mps-control.pid"), "w");
  fprintf(f, "%ld\n", pid);
  fclose(f);
}

static pid_t process_called(const char *name) {
  int ready[2];
  char said = 0;
  assert_int_equal(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_NAME, name);
    if (write(ready[1], "y", 1) != 1) {
      _exit(1);
    }
    for (;;) {
      pause();
    }
  }
  assert_int_equal(read(ready[0], &said, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

static void test_mps_is_seen_by_its_daemon(void **state) {
  (void)state;
  sct_mps mps;
  assert_false(sct_mps_find(&mps)); /* an empty folder */
  assert_true(mps.chosen);
  const pid_t daemon = process_called("nvidia-cuda-mps"), other = process_called("bash");
  write_number(daemon);
  assert_true(sct_mps_find(&mps));
  assert_int_equal(mps.pid, daemon);
  assert_string_equal(mps.program, "nvidia-cuda-mps");
  assert_string_equal(mps.directory, folder);
  write_number(other); /* the number went to somebody else */
  assert_false(sct_mps_find(&mps));
  end(other);
  end(daemon);
  write_number(daemon); /* it is gone, its folder is not */
  assert_false(sct_mps_find(&mps));
}

static void test_mps_is_seen_by_its_pipe(void **state) {
  (void)state;
  sct_mps mps;
  assert_int_equal(mkfifo(in_folder("control"), 0600), 0);
  assert_false(sct_mps_find(&mps)); /* nobody reads it */
  const int reader = open(in_folder("control"), O_RDONLY | O_NONBLOCK);
  assert_true(sct_mps_find(&mps));
  close(reader);
  unlink(in_folder("control"));

  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/control", folder);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  assert_false(sct_mps_find(&mps)); /* nobody listens */
  assert_int_equal(listen(fd, 1), 0);
  assert_true(sct_mps_find(&mps));
  close(fd);
  assert_false(sct_mps_find(&mps));
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_one_holder_at_a_time),
      IN_FOLDER(test_nonsense_in_the_file_is_shown_harmlessly),
      IN_FOLDER(test_the_folder_is_private),
      IN_FOLDER(test_links_are_not_followed),
      IN_FOLDER(test_where_the_folder_is),
      IN_FOLDER(test_mps_is_seen_by_its_daemon),
      IN_FOLDER(test_mps_is_seen_by_its_pipe),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
