/* A worker process seen from its parent: nothing it does, or fails to do, may block us. */
#include "measure_process.h"

#include "measure/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_NS                                                                                    \
  ((int64_t)10000000000)               /* a killed process with a busy GPU may take seconds to go  \
                                        */
#define DYING_NS ((int64_t)2000000000) /* for one that said it ends */
#define FIRST_FD 10                    /* above SCT_WORKER_FD, so that dup2 cannot meet it */

extern char **environ;

void sct_reply_free(sct_reply *reply) {
  sct_wire_free(&reply->body);
  *reply = (sct_reply){0};
}

bool sct_worker_alive(const sct_worker *w) {
  return w->pid > 0;
}

/* ---- starting ---- */

/* A connected pair, close-on-exec, both above the numbers the worker uses. */
static sct_status make_sockets(int fds[2], sct_error *err) {
  int low[2] = {-1, -1};
  fds[0] = fds[1] = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) == 0) {
    fds[0] = fcntl(low[0], F_DUPFD_CLOEXEC, FIRST_FD);
    fds[1] = fcntl(low[1], F_DUPFD_CLOEXEC, FIRST_FD);
  }
  const int reason = errno;
  for (int k = 0; k < 2; k++) {
    if (low[k] >= 0) {
      close(low[k]);
    }
  }
  if (fds[0] >= 0 && fds[1] >= 0) {
    return SCT_OK;
  }
  for (int k = 0; k < 2; k++) {
    if (fds[k] >= 0) {
      close(fds[k]);
    }
  }
  return sct_fail(err, SCT_EIO, "cannot make a socket for the worker: %s", strerror(reason));
}

/* posix_spawn, as fork would copy the page tables of a large parent. Returns 0 or an errno. */
static int spawn(pid_t *pid, const char *program, int fd) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  sigset_t none, standard;
  char parent[32];
  snprintf(parent, sizeof parent, "%ld", (long)getpid());
  char *const argv[] = {"sectile-worker", SCT_WORKER_ARG, parent, NULL};
  sigemptyset(&none);
  sigemptyset(&standard);
  sigaddset(&standard, SIGINT);
  sigaddset(&standard, SIGTERM);
  sigaddset(&standard, SIGPIPE);
  int result = posix_spawn_file_actions_init(&actions);
  if (result != 0) {
    return result;
  }
  result = posix_spawnattr_init(&attr);
  if (result != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return result;
  }
  const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if ((result = posix_spawnattr_setflags(&attr, flags)) == 0 &&
      (result = posix_spawnattr_setpgroup(&attr, 0)) == 0 &&
      (result = posix_spawnattr_setsigmask(&attr, &none)) == 0 &&
      (result = posix_spawnattr_setsigdefault(&attr, &standard)) == 0 &&
      (result = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
      /* a kernel's printf must not reach the program's output */
      (result = posix_spawn_file_actions_adddup2(&actions, 2, 1)) == 0 &&
      (result = posix_spawn_file_actions_adddup2(&actions, fd, SCT_WORKER_FD)) == 0) {
    result = posix_spawn(pid, program, &actions, &attr, argv, environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attr);
  return result;
}

sct_status sct_worker_start(sct_worker *w, const char *program, sct_error *err) {
  int fds[2];
  const char *path = program ? program : "/proc/self/exe";
  *w = (sct_worker){.fd = -1};
  SCT_TRY(make_sockets(fds, err));
  const int result = spawn(&w->pid, path, fds[1]);
  close(fds[1]);
  if (result != 0) {
    close(fds[0]);
    *w = (sct_worker){.fd = -1};
    return sct_fail(err, SCT_EIO, "cannot start the worker %s: %s", path, strerror(result));
  }
  w->fd = fds[0];
  return SCT_OK;
}

/* ---- ending ---- */

/* Waits for the process at most wait_ns. */
static bool reap(const sct_worker *w, int64_t wait_ns, int *wait_status) {
  const int64_t end = sct_now_ns() + wait_ns;
  struct timespec pause_time = {.tv_nsec = 200000};
  for (;;) {
    const pid_t got = waitpid(w->pid, wait_status, WNOHANG);
    if (got == w->pid || (got < 0 && errno == ECHILD)) {
      return true;
    }
    if (sct_now_ns() >= end) {
      return false;
    }
    nanosleep(&pause_time, NULL);
    if (pause_time.tv_nsec < 5000000) {
      pause_time.tv_nsec *= 2;
    }
  }
}

/* Ends the group, collects the process, closes the socket. Returns its wait status. */
static int end(sct_worker *w, int64_t grace_ns) {
  int wait_status = 0;
  if (grace_ns <= 0 || !reap(w, grace_ns, &wait_status)) {
    kill(-w->pid, SIGKILL);
    kill(w->pid, SIGKILL); /* it may not lead a group yet */
    if (!reap(w, REAP_NS, &wait_status)) {
      sct_log(SCT_LOG_WARN, "worker %ld does not end after SIGKILL; its GPU may be stuck",
              (long)w->pid);
    }
  }
  close(w->fd);
  *w = (sct_worker){.fd = -1};
  return wait_status;
}

void sct_worker_kill(sct_worker *w) {
  if (sct_worker_alive(w)) {
    (void)end(w, 0);
  }
}

int sct_worker_stop(sct_worker *w, int64_t grace_ns) {
  if (!sct_worker_alive(w)) {
    return 0;
  }
  const int64_t deadline = sct_now_ns() + grace_ns;
  const sct_io io = sct_wire_send(w->fd, SCT_OP_QUIT, NULL, deadline);
  const int wait_status = end(w, io == SCT_IO_OK ? grace_ns : 0);
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

bool sct_worker_check(sct_worker *w) {
  int wait_status = 0;
  if (sct_worker_alive(w) && reap(w, 0, &wait_status)) {
    close(w->fd);
    *w = (sct_worker){.fd = -1};
  }
  return sct_worker_alive(w);
}

/* ---- asking ---- */

static void describe_end(sct_reply *reply, int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    snprintf(reply->text, sizeof reply->text, "the worker process was ended by signal %d (%s)",
             WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  } else {
    snprintf(reply->text, sizeof reply->text, "the worker process ended with exit status %d",
             WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
  }
}

static void fail_reply(sct_worker *w, sct_op op, sct_io io, int64_t limit_ns, sct_reply *reply) {
  if (io == SCT_IO_NOMEM) {
    reply->kind = SCT_REPLY_NOMEM;
    snprintf(reply->text, sizeof reply->text, "out of memory");
    sct_worker_kill(w);
  } else if (io == SCT_IO_TIMEOUT) {
    char limit[32];
    reply->kind = SCT_REPLY_TIMEOUT;
    snprintf(reply->text, sizeof reply->text, "no answer to %s within %s", sct_op_name(op),
             sct_format_ns(limit, (double)limit_ns));
    sct_worker_kill(w);
  } else {
    reply->kind = SCT_REPLY_DIED;
    describe_end(reply, end(w, DYING_NS));
  }
}

void sct_worker_call(sct_worker *w, sct_op op, const sct_wire *request, int64_t limit_ns,
                     sct_reply *reply) {
  const int64_t deadline = sct_now_ns() + limit_ns;
  uint32_t code = 0;
  reply->status = SCT_OK;
  reply->result = 0;
  reply->text[0] = '\0';
  sct_wire_clear(&reply->body);
  if (!sct_worker_alive(w)) {
    reply->kind = SCT_REPLY_DIED;
    snprintf(reply->text, sizeof reply->text, "there is no worker process");
    return;
  }
  sct_io io = sct_wire_send(w->fd, op, request, deadline);
  if (io == SCT_IO_OK) {
    io = sct_wire_recv(w->fd, &code, &reply->body, deadline);
  }
  if (io != SCT_IO_OK) {
    fail_reply(w, op, io, limit_ns, reply);
    return;
  }
  reply->kind = code == SCT_OK ? SCT_REPLY_OK : SCT_REPLY_FAILED;
  if (code != SCT_OK) {
    reply->status = code < SCT_N_STATUS ? (sct_status)code : SCT_EINTERNAL;
    reply->result = (int)sct_wire_get_i64(&reply->body);
    snprintf(reply->text, sizeof reply->text, "%s", sct_wire_get_text(&reply->body));
    if (sct_cuda_is_sticky(reply->result)) {
      (void)end(w, DYING_NS);
    }
  }
}
