/* Processes that are forked from the session, for what may be done beside it: expressions live in
 * the spec's pool, which threads cannot share. Such a process knows every candidate's kernel from
 * the time it was forked. */
#include "tune/tune_internal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FORK_NICE = 5 }; /* behind what times and what steers */

static void enter(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sct_fault_role("check");
  sct_memory_end_silently();
  signal(SIGINT, SIG_IGN); /* the parent decides */
  signal(SIGHUP, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* the program waits for signals in a thread of its own */
  (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + FORK_NICE);
}

bool sct_tune_fork(sct_child *out, tune_session *s,
                   void (*run)(tune_session *s, int fd, const void *ctx), const void *ctx) {
  int fds[2];
  if (sct_socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, fds) != 0) {
    return false;
  }
  const pid_t pid = sct_fork();
  if (pid == 0) {
    close(fds[0]);
    enter();
    run(s, fds[1], ctx);
    sct_fault_report();
    _exit(0); /* nothing of the parent's is flushed or freed here */
  }
  close(fds[1]);
  if (pid < 0) {
    close(fds[0]);
    return false;
  }
  *out = (sct_child){.pid = pid, .fd = fds[0]};
  return true;
}
