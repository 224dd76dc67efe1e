/* System calls behind one door, see base_sys.h. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int sct_open(const char *path, int flags, mode_t mode) {
  return sct_fault(SCT_FAULT_OPEN) ? -1 : open(path, flags, mode);
}

int sct_openat(int dir, const char *path, int flags, mode_t mode) {
  return sct_fault(SCT_FAULT_OPEN) ? -1 : openat(dir, path, flags, mode);
}

int sct_mkostemp(char *pattern, int flags) {
  return sct_fault(SCT_FAULT_OPEN) ? -1 : mkostemp(pattern, flags);
}

DIR *sct_opendir(const char *path) {
  return sct_fault(SCT_FAULT_OPEN) ? NULL : opendir(path);
}

ssize_t sct_read(int fd, void *out, size_t n) {
  return sct_fault(SCT_FAULT_READ) ? -1 : read(fd, out, n);
}

ssize_t sct_write(int fd, const void *data, size_t n) {
  return sct_fault(SCT_FAULT_WRITE) ? -1 : write(fd, data, n);
}

int sct_fsync(int fd) {
  return sct_fault(SCT_FAULT_FSYNC) ? -1 : fsync(fd);
}

int sct_close(int fd) {
  const bool fails = sct_fault(SCT_FAULT_CLOSE);
  const int reason = errno;
  const int result = close(fd);
  if (fails) {
    errno = reason;
    return -1;
  }
  return result;
}

int sct_rename(const char *from, const char *to) {
  return sct_fault(SCT_FAULT_RENAME) ? -1 : rename(from, to);
}

int sct_renameat(int from_dir, const char *from, int to_dir, const char *to) {
  return sct_fault(SCT_FAULT_RENAME) ? -1 : renameat(from_dir, from, to_dir, to);
}

int sct_mkdir(const char *path, mode_t mode) {
  return sct_fault(SCT_FAULT_MKDIR) ? -1 : mkdir(path, mode);
}

int sct_mkdirat(int dir, const char *path, mode_t mode) {
  return sct_fault(SCT_FAULT_MKDIR) ? -1 : mkdirat(dir, path, mode);
}

int sct_socketpair(int domain, int type, int fds[2]) {
  return sct_fault(SCT_FAULT_PIPE) ? -1 : socketpair(domain, type, 0, fds);
}

pid_t sct_fork(void) {
  return sct_fault(SCT_FAULT_FORK) ? -1 : fork();
}

int sct_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
              const posix_spawnattr_t *attr, char *const argv[], char *const envp[]) {
  return sct_fault(SCT_FAULT_FORK) ? errno : posix_spawn(pid, path, actions, attr, argv, envp);
}

int sct_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                      void *arg) {
  return sct_fault(SCT_FAULT_THREAD) ? errno : pthread_create(thread, attr, run, arg);
}

void *sct_map_shared(size_t bytes) {
  void *const p = sct_fault(SCT_FAULT_MMAP) ? MAP_FAILED
                                            : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

void *sct_map_sparse(size_t bytes) {
  void *const p = sct_fault(SCT_FAULT_MMAP)
                      ? MAP_FAILED
                      : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  sct_fault_live(p != MAP_FAILED);
  return p == MAP_FAILED ? NULL : p;
}

void sct_map_forget(void *p, size_t bytes) {
  (void)madvise(p, bytes, MADV_DONTNEED);
}

void sct_unmap(void *p, size_t bytes) {
  if (p) {
    sct_fault_live(-1);
    (void)munmap(p, bytes);
  }
}
