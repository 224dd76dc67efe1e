/* One tuner a GPU: an flock on a file named by the GPU's UUID. The kernel gives it back when its
 * holder ends, however it ends, so a file that is left over locks nothing. */
#include "device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_HOLDER  512 /* bytes of a holder's description of itself */
#define MAX_REOPENS 8   /* of a file that others remove */

void sct_lock_directory(sct_str *out) {
  const char *set = getenv("XDG_RUNTIME_DIR");
  if (set && set[0] == '/') {
    sct_str_printf(out, "%s/sectile", set);
  } else {
    sct_str_printf(out, "/tmp/sectile-%lu", (unsigned long)geteuid());
  }
}

/* ---- the directory ---- */

/* Nobody else may put files there: whoever can, could hold every lock, or lead us elsewhere. */
static sct_status check_directory(int directory, const char *path, sct_error *err) {
  struct stat st;
  if (fstat(directory, &st) != 0) {
    return sct_fail(err, SCT_EIO, "cannot look at '%s': %s", path, strerror(errno));
  }
  if (st.st_uid != geteuid()) {
    return sct_fail(
        err, SCT_EIO,
        "the lock directory '%s' belongs to user %lu, not to you; set XDG_RUNTIME_DIR to "
        "a directory of your own",
        path, (unsigned long)st.st_uid);
  }
  if ((st.st_mode & 077) != 0) {
    return sct_fail(
        err, SCT_EIO,
        "the lock directory '%s' is open to others (mode %04o); `chmod 700 %s` closes it", path,
        (unsigned)st.st_mode & 07777, path);
  }
  return SCT_OK;
}

static sct_status open_directory(int *out, const char *path, sct_error *err) {
  if (sct_mkdir(path, 0700) != 0 && errno != EEXIST) {
    return sct_fail(err, SCT_EIO, "cannot make the lock directory '%s': %s", path, strerror(errno));
  }
  const int directory = sct_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (directory < 0) {
    return sct_fail(err, SCT_EIO, "cannot open the lock directory '%s': %s", path,
                    errno == ELOOP || errno == ENOTDIR ? "it is not a directory" : strerror(errno));
  }
  const sct_status status = check_directory(directory, path, err);
  if (status != SCT_OK) {
    sct_close(directory);
    return status;
  }
  *out = directory;
  return SCT_OK;
}

/* ---- who holds it ---- */

/* What this process is called: its arguments. */
static void own_name(char *out, size_t size) {
  const int fd = sct_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
  const ssize_t n = fd < 0 ? 0 : sct_read(fd, out, size - 1);
  size_t len = n > 0 ? (size_t)n : 0;
  while (len > 0 && out[len - 1] == '\0') {
    len--;
  }
  for (size_t k = 0; k < len; k++) {
    out[k] = out[k] > ' ' && out[k] < 127 ? out[k] : ' ';
  }
  out[len] = '\0';
  if (fd >= 0) {
    sct_close(fd);
  }
}

static void write_holder(int fd) {
  char program[256], now[32], text[MAX_HOLDER];
  const time_t t = time(NULL);
  struct tm utc;
  own_name(program, sizeof program);
  strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  snprintf(text, sizeof text, "process %ld (%s) since %s", (long)getpid(), program, now);
  /* for people only: nothing depends on it */
  if (ftruncate(fd, 0) != 0 || sct_write(fd, text, strlen(text)) < 0) {
    sct_log(SCT_LOG_DEBUG, "the lock file could not be written: %s", strerror(errno));
  }
}

static void read_holder(int fd, char out[MAX_HOLDER]) {
  const ssize_t n = pread(fd, out, MAX_HOLDER - 1, 0);
  out[n > 0 ? n : 0] = '\0';
  for (char *c = out; *c; c++) {
    *c = *c >= ' ' && *c < 127 ? *c : ' ';
  }
  if (out[0] == '\0') {
    snprintf(out, MAX_HOLDER, "another process");
  }
}

/* ---- the lock ---- */

static int open_file(int directory, const char *file, const char *path, sct_error *err) {
  const int fd = sct_openat(directory, file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    (void)sct_fail(err, SCT_EIO, "cannot open the lock file '%s/%s': %s", path, file,
                   fd >= 0 || errno == ELOOP ? "it is no plain file" : strerror(errno));
    if (fd >= 0) {
      sct_close(fd);
    }
    return -1;
  }
  return fd;
}

/* Is the file that we hold still the one of that name? */
static bool still_there(int directory, const char *file, int fd) {
  struct stat named, held;
  return fstatat(directory, file, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(fd, &held) == 0 &&
         named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

static sct_status lock_file(int *out, int directory, const char *file, const char *path,
                            sct_error *err) {
  for (int k = 0; k < MAX_REOPENS; k++) {
    const int fd = open_file(directory, file, path, err);
    if (fd < 0) {
      return SCT_EIO;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      char holder[MAX_HOLDER];
      read_holder(fd, holder);
      sct_close(fd);
      return reason == EWOULDBLOCK
                 ? sct_fail(err, SCT_EBUSY, "%s", holder)
                 : sct_fail(err, SCT_EIO, "cannot lock '%s/%s': %s", path, file, strerror(reason));
    }
    if (still_there(directory, file, fd)) {
      write_holder(fd);
      *out = fd;
      return SCT_OK;
    }
    sct_close(fd);
  }
  return sct_fail(err, SCT_EIO, "the lock file '%s/%s' is removed again and again", path, file);
}

static bool is_plain_name(const char *name) {
  return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

sct_status sct_lock_take(int *fd, const char *name, sct_error *err) {
  SCT_SCOPED(sct_str) path = {0}, file = {0};
  int directory = -1;
  sct_status status = SCT_OK;
  *fd = -1;
  if (!is_plain_name(name)) {
    return sct_fail(err, SCT_EINTERNAL, "'%s' is no name of a lock", name);
  }
  sct_lock_directory(&path);
  sct_str_printf(&file, "%s.lock", name);
  SCT_TRY_DONE(open_directory(&directory, sct_str_c(&path), err));
  status = lock_file(fd, directory, sct_str_c(&file), sct_str_c(&path), err);
done:
  if (directory >= 0) {
    sct_close(directory);
  }
  return status;
}

void sct_lock_release(int *fd) {
  if (*fd >= 0) {
    sct_close(*fd);
  }
  *fd = -1;
}
