/* Files: whole reads, atomic writes, directories, and where data and caches live. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT ((int64_t)64 << 20)

/* A pipe that nobody holds at its other end is empty, or has no reader: waiting might be for ever.
 */
static int open_at_once(const char *path, int flags) {
  const int fd = sct_open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
  if (fd >= 0) {
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  }
  return fd;
}

sct_status sct_file_read(sct_str *out, const char *path, sct_error *err) {
  return sct_file_read_most(out, path, FILE_LIMIT, err);
}

static sct_status too_large(const char *path, int64_t most, sct_error *err) {
  return sct_fail(err, SCT_EIO, "cannot read '%s': larger than %lld MiB", path,
                  (long long)(most >> 20));
}

sct_status sct_file_read_most(sct_str *out, const char *path, int64_t most, sct_error *err) {
  sct_str_clear(out);
  const int fd = open_at_once(path, O_RDONLY);
  if (fd < 0) {
    return sct_fail(err, SCT_EIO, "cannot read '%s': %s", path, strerror(errno));
  }
  sct_status status = SCT_OK;
  struct stat st;
  if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode)) {
    status = sct_fail(err, SCT_EIO, "cannot read '%s': it is not a file", path);
  } else if (st.st_size > most) {
    status = too_large(path, most, err);
  }
  char chunk[65536];
  while (status == SCT_OK) {
    const ssize_t n = sct_read(fd, chunk, sizeof chunk);
    if (n == 0) {
      break;
    }
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0 || (int64_t)out->len + n > most) {
      status = n < 0 ? sct_fail(err, SCT_EIO, "cannot read '%s': %s", path, strerror(errno))
                     : too_large(path, most, err);
      break;
    }
    sct_str_append_n(out, chunk, (size_t)n);
  }
  close(fd);
  return status;
}

static bool same_bytes(const char *path, const void *data, size_t n) {
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != n) {
    return false;
  }
  SCT_SCOPED(sct_str) old = {0};
  return sct_file_read(&old, path, NULL) == SCT_OK && old.len == n &&
         memcmp(sct_str_c(&old), data, n) == 0;
}

bool sct_write_all(int fd, const char *data, size_t n) {
  while (n > 0) {
    const ssize_t done = sct_write(fd, data, n);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    data += done;
    n -= (size_t)done;
  }
  return true;
}

static void sync_directory(const char *path) {
  SCT_SCOPED(sct_str) dir = {0};
  sct_path_dirname(&dir, path);
  const int fd = sct_open(sct_str_c(&dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd >= 0) {
    (void)sct_fsync(fd);
    close(fd);
  }
}

/* /dev/stdout, a pipe, /dev/null: what stands there is written to, never replaced by a file. */
static bool is_special(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static sct_status write_through(const char *path, const void *data, size_t n, sct_error *err) {
  const int fd = open_at_once(path, O_WRONLY);
  const bool written = fd >= 0 && sct_write_all(fd, data, n);
  const int e = errno;
  const bool closed = fd < 0 || sct_close(fd) == 0;
  if (!written || !closed) {
    return sct_fail(err, SCT_EIO, "cannot write '%s': %s", path, strerror(written ? errno : e));
  }
  return SCT_OK;
}

sct_status sct_file_write(const char *path, const void *data, size_t n, sct_error *err) {
  if (is_special(path)) {
    return write_through(path, data, n, err);
  }
  if (same_bytes(path, data, n)) {
    return SCT_OK;
  }
  SCT_SCOPED(sct_str) temp = {0};
  sct_str_printf(&temp, "%s.XXXXXX", path);
  const int fd = sct_mkostemp(temp.data, O_CLOEXEC);
  if (fd < 0) {
    const int e = errno;
    return sct_fail(err, SCT_EIO, "cannot write '%s': %s", path, strerror(e));
  }
  const mode_t mask = umask(0);
  umask(mask);
  bool good = sct_write_all(fd, data, n) && fchmod(fd, 0666 & ~mask) == 0 && sct_fsync(fd) == 0;
  int e = errno;
  if (sct_close(fd) != 0 && good) {
    good = false;
    e = errno;
  }
  if (good && sct_rename(temp.data, path) != 0) {
    good = false;
    e = errno;
  }
  if (good) {
    sync_directory(path);
  } else {
    unlink(temp.data);
  }
  return good ? SCT_OK : sct_fail(err, SCT_EIO, "cannot write '%s': %s", path, strerror(e));
}

sct_status sct_dir_make(const char *path, sct_error *err) {
  SCT_OWNED char *copy = sct_strdup(path);
  sct_status status = SCT_OK;
  for (char *p = copy + 1; status == SCT_OK; p++) {
    if (*p != '/' && *p != '\0') {
      continue;
    }
    const char old = *p;
    *p = '\0';
    struct stat st;
    if (sct_mkdir(copy, 0700) != 0 &&
        (errno != EEXIST || stat(copy, &st) != 0 || !S_ISDIR(st.st_mode))) {
      status = sct_fail(err, SCT_EIO, "cannot make directory '%s': %s", copy,
                        errno == EEXIST ? "a file is in the way" : strerror(errno));
    }
    *p = old;
    if (old == '\0') {
      break;
    }
  }
  return status;
}

bool sct_file_exists(const char *path) {
  struct stat st;
  return stat(path, &st) == 0;
}

bool sct_file_same(const char *a, const char *b) {
  struct stat of_a, of_b;
  return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

static void xdg_path(sct_str *out, const char *variable, const char *fallback) {
  const char *set = getenv(variable);
  if (set && set[0] == '/') {
    sct_str_printf(out, "%s/sectile", set);
    return;
  }
  const char *home = getenv("HOME");
  if (home &&
      home[0] == '/') { /* else it would be the root's, or depend on the current directory */
    sct_str_printf(out, "%s/%s/sectile", home, fallback);
  }
}

sct_status sct_path_store(sct_str *out, sct_error *err) {
  const size_t before = out->len;
  xdg_path(out, "XDG_DATA_HOME", ".local/share");
  if (out->len == before) {
    return sct_fail(
        err, SCT_EUSAGE,
        "no place for results: neither XDG_DATA_HOME nor HOME is an absolute path; name "
        "a file: --store FILE");
  }
  sct_str_append(out, "/store.db");
  return SCT_OK;
}

void sct_path_cache(sct_str *out) {
  xdg_path(out, "XDG_CACHE_HOME", ".cache");
}

void sct_path_dirname(sct_str *out, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) {
    sct_str_append(out, ".");
  } else {
    sct_str_append_n(out, path, slash == path ? 1 : (size_t)(slash - path));
  }
}

const char *sct_path_basename(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}
