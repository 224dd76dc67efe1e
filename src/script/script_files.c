/* The files that scripts consist of: regular ones, of limited size, below a directory. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script/script_private.h"

#define SCRIPT_BYTES ((off_t)1 << 20)

static sct_status read_all(sct_str *out, int fd, const char *path, sct_error *err) {
  char part[16384];
  for (;;) {
    const ssize_t n = sct_read(fd, part, sizeof(part));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return sct_fail(err, SCT_EIO, "cannot read '%s': %s", path, strerror(errno));
    }
    if (n == 0) {
      return SCT_OK;
    }
    sct_str_append_n(out, part, (size_t)n);
    if (out->len > (size_t)SCRIPT_BYTES) { /* it grew after we looked at its size */
      return sct_fail(err, SCT_EIO, "cannot read '%s': larger than 1 MiB", path);
    }
  }
}

sct_status sct_script_read_file(sct_str *out, const char *path, sct_error *err) {
  sct_str_clear(out);
  const int fd =
      sct_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0); /* a FIFO would wait */
  if (fd < 0) {
    return sct_fail(err, SCT_EIO, "cannot read '%s': %s", path, strerror(errno));
  }
  struct stat st;
  sct_status status;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    status = sct_fail(err, SCT_EIO, "cannot read '%s': it is not a regular file", path);
  } else if (st.st_size > SCRIPT_BYTES) {
    status = sct_fail(err, SCT_EIO, "cannot read '%s': larger than 1 MiB", path);
  } else {
    status = read_all(out, fd, path, err);
  }
  sct_close(fd);
  return status;
}

/* "x..y.lua" is a name, "../x.lua" a way out. */
static bool climbs(const char *name) {
  for (const char *p = name; *p; p += strcspn(p, "/"), p += *p == '/') {
    if (strcspn(p, "/") == 2 && p[0] == '.' && p[1] == '.') {
      return true;
    }
  }
  return false;
}

sct_status sct_script_read_below(sct_str *out, const char *root, const char *what, const char *name,
                                 bool *found, sct_error *err) {
  char real_root[PATH_MAX];
  char path[PATH_MAX];
  char real[PATH_MAX];
  *found = false;
  if (name[0] == '/' || climbs(name)) {
    return sct_fail(err, SCT_ESPEC, "'%s' is outside %s; only files below it may be read", name,
                    what);
  }
  const int n = snprintf(path, sizeof(path), "%s/%s", root, name);
  if (n < 0 || n >= (int)sizeof(path) || !realpath(root, real_root) || !realpath(path, real)) {
    return SCT_OK;
  }
  const size_t root_len = strcmp(real_root, "/") == 0 ? 0 : strlen(real_root);
  if (strncmp(real, real_root, root_len) != 0 || real[root_len] != '/') {
    return sct_fail(err, SCT_ESPEC, "'%s' leads out of %s; only files below it may be read", name,
                    what);
  }
  *found = true;
  return sct_script_read_file(out, real, err);
}
