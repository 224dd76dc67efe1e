/* Children that are forked: they know all that their parent knew at that time. */
#include "process/process_internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Signals are those of a new program: the parent may wait for some in a thread of its own. */
static void enter(const char *role, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1); /* it died before the line above */
  }
  for (int k = 1; k < SIGRTMIN; k++) {
    signal(k, k == SIGXFSZ || k == SIGPIPE ? SIG_IGN : SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  sct_fault_role(role);
  sct_memory_end_silently(); /* the parent sees the exit code */
}

sct_status sct_child_fork(sct_child *c, const char *role, void (*run)(int fd, void *ctx), void *ctx,
                          sct_error *err) {
  int fds[2];
  const pid_t parent = getpid();
  *c = (sct_child){.fd = -1};
  if (sct_socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, fds) != 0) {
    return sct_fail(err, SCT_EIO, "cannot make a socket for a child: %s", strerror(errno));
  }
  const pid_t pid = sct_fork();
  if (pid == 0) {
    close(fds[0]);
    enter(role, parent);
    run(fds[1], ctx);
    sct_fault_report();
    _exit(0); /* nothing of the parent's is flushed or freed here */
  }
  const int reason = errno;
  close(fds[1]);
  if (pid < 0) {
    close(fds[0]);
    return sct_fail(err, SCT_EIO, "cannot start a child: %s", strerror(reason));
  }
  setpgid(pid, pid); /* whichever of the two comes first */
  *c = (sct_child){.pid = pid, .fd = fds[0]};
  return SCT_OK;
}
