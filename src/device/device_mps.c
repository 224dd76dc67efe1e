/* Is the Multi-Process Service in front of the GPUs? Its control daemon keeps a pipe and its
 * process number in a directory; directories are left behind by daemons that are gone, so it must
 * be seen alive. */
#include "device_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DEFAULT_DIRECTORY "/tmp/nvidia-mps"

bool sct_read_line(const char *path, char *out, size_t size) {
  const int fd = sct_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  const ssize_t n = fd < 0 ? -1 : sct_read(fd, out, size - 1);
  if (fd >= 0) {
    sct_close(fd);
  }
  out[n > 0 ? n : 0] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return n > 0;
}

typedef enum liveness { GONE, ALIVE, UNKNOWN } liveness;

/* By the process number that the daemon wrote down. */
static liveness by_number(sct_mps *out) {
  char path[320], text[64], name[64];
  snprintf(path, sizeof path, "%s/nvidia-cuda-mps-control.pid", out->directory);
  const long pid = sct_read_line(path, text, sizeof text) ? strtol(text, NULL, 10) : 0;
  if (pid <= 0) {
    return UNKNOWN;
  }
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
    return GONE; /* or of another PID namespace: then the pipe tells */
  }
  snprintf(path, sizeof path, "/proc/%ld/comm", pid);
  if (!sct_read_line(path, name, sizeof name) || !sct_has_prefix(name, "nvidia-cuda-mps")) {
    return GONE; /* the number went to another program */
  }
  out->pid = pid;
  snprintf(out->program, sizeof out->program, "%s", name);
  return ALIVE;
}

/* By somebody reading the pipe. Nothing is sent. */
static liveness by_pipe(const char *directory) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat st;
  const int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/control", directory);
  if (n < 0 || (size_t)n >= sizeof address.sun_path || stat(address.sun_path, &st) != 0) {
    return GONE;
  }
  if (S_ISFIFO(st.st_mode)) {
    const int fd = sct_open(address.sun_path, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd >= 0) {
      sct_close(fd);
    }
    return fd >= 0 ? ALIVE : errno == ENXIO ? GONE : UNKNOWN;
  }
  if (!S_ISSOCK(st.st_mode)) {
    return UNKNOWN;
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int result = fd < 0 ? -1 : connect(fd, (struct sockaddr *)&address, sizeof address);
  const int reason = errno;
  if (fd >= 0) {
    sct_close(fd);
  }
  return result == 0 || reason == EAGAIN ? ALIVE : reason == ECONNREFUSED ? GONE : UNKNOWN;
}

bool sct_mps_find(sct_mps *out) {
  const char *set = getenv("CUDA_MPS_PIPE_DIRECTORY");
  *out = (sct_mps){.chosen = set && set[0] != '\0'};
  snprintf(out->directory, sizeof out->directory, "%s", out->chosen ? set : DEFAULT_DIRECTORY);
  snprintf(out->program, sizeof out->program, "nvidia-cuda-mps-control");
  const liveness number = by_number(out);
  const liveness pipe = number == ALIVE ? ALIVE : by_pipe(out->directory);
  /* A pipe that cannot be tried counts where the user chose this directory. */
  return pipe == ALIVE || (pipe == UNKNOWN && number == UNKNOWN && out->chosen);
}
