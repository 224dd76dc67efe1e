/* process_shared - bodies of messages in files in memory: written once, sealed, and mapped by the
 * receiver, who copies nothing. The seals keep a sender that went wrong from changing what was
 * checked, and from cutting it off under the reader, which would be a SIGBUS. */
#include "process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };

/* Writing past a limit on files is a signal that kills. */
static bool may_write(size_t bytes) {
  struct rlimit r;
  return getrlimit(RLIMIT_FSIZE, &r) == 0 && (r.rlim_cur == RLIM_INFINITY || bytes <= r.rlim_cur);
}

static bool write_all(int fd, const uint8_t *bytes, size_t n) {
  while (n > 0) {
    const ssize_t done = sct_write(fd, bytes, n);
    if (done > 0) {
      bytes += done;
      n -= (size_t)done;
    } else if (done == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

int sct_process_seal(const sct_wire *body) {
  const size_t bytes = body->len + body->tail_bytes + 1;
  const int fd =
      may_write(bytes) ? sct_memfd_create("sectile", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
  if (fd >= 0 &&
      !(write_all(fd, body->data, body->len) && write_all(fd, body->tail, body->tail_bytes) &&
        write_all(fd, (const uint8_t *)"", 1) && sct_add_seals(fd, SEALS) == 0)) {
    (void)sct_close(fd);
    return -1;
  }
  return fd;
}

/* Descriptors are the lowest that are free, so a high one says that many are open. Whoever keeps
 * bodies leaves the other half to those who cannot do without. */
static bool may_keep(int descriptor) {
  struct rlimit r;
  return getrlimit(RLIMIT_NOFILE, &r) == 0 && (rlim_t)descriptor < r.rlim_cur / 2;
}

sct_io sct_process_map(sct_wire *body, int descriptor, size_t len) {
  struct stat st;
  const int seals = fcntl(descriptor, F_GET_SEALS); /* -1: another kind of file */
  const bool good = seals >= 0 && (seals & SEALS) == SEALS && fstat(descriptor, &st) == 0 &&
                    st.st_size == (off_t)len + 1;
  uint8_t *const data = good ? sct_map_private(descriptor, len + 1) : NULL;
  if (good && data && data[len] == 0) {
    sct_wire_free(body);
    *body = (sct_wire){.data = data, .len = len, .mapped_bytes = len + 1, .descriptor = descriptor};
    if (!may_keep(descriptor)) {
      sct_wire_close(body);
    }
    return SCT_IO_OK;
  }
  (void)sct_close(descriptor);
  sct_unmap(data, len + 1);
  return good && !data ? SCT_IO_REFUSED : SCT_IO_CLOSED;
}
