/* A child process seen from its parent: started, collected, ended. */
#include "process/process.h"
#include "process/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_NS  ((int64_t)10000000000) /* a killed process with a busy GPU may take seconds */
#define FIRST_FD 10                     /* above SCT_CHILD_FD, so that dup2 cannot meet it */

extern char **environ;

bool sct_child_alive(const sct_child *c) {
  return c->pid > 0;
}

/* ---- starting ---- */

/* A connected pair, close-on-exec, both above the numbers the child uses. */
static sct_status make_sockets(int fds[2], sct_error *err) {
  int low[2] = {-1, -1};
  fds[0] = fds[1] = -1;
  if (sct_socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, low) == 0) {
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

/* Our environment with `variable`, "NAME=value", before all others; freed with sct_free. */
static char **environment_with(char *variable) {
  size_t n = 0;
  while (environ[n] != NULL) {
    n++;
  }
  char **const all = sct_alloc((n + 2) * sizeof *all);
  all[0] = variable;
  memcpy(all + 1, environ, n * sizeof *all);
  return all;
}

/* Where the child's descriptors 0 to 3 lead. Returns 0 or an errno. */
static int set_files(posix_spawn_file_actions_t *actions, const sct_child_opts *opts, int fd) {
  int result = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  if (result == 0 && opts->quiet && getenv("SCT_FAULTS") == NULL) { /* which writes there */
    result = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
  }
  if (result == 0) { /* a kernel's printf must not reach the program's output */
    result = posix_spawn_file_actions_adddup2(actions, 2, 1);
  }
  return result == 0 ? posix_spawn_file_actions_adddup2(actions, fd, SCT_CHILD_FD) : result;
}

static int set_attributes(posix_spawnattr_t *attr) {
  sigset_t none, standard;
  sigemptyset(&none);
  sigemptyset(&standard);
  sigaddset(&standard, SIGINT);
  sigaddset(&standard, SIGTERM);
  sigaddset(&standard, SIGPIPE);
  int result = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
  result = result == 0 ? posix_spawnattr_setpgroup(attr, 0) : result;
  result = result == 0 ? posix_spawnattr_setsigmask(attr, &none) : result;
  return result == 0 ? posix_spawnattr_setsigdefault(attr, &standard) : result;
}

/* posix_spawn, as fork would copy the page tables of a large parent. Returns 0 or an errno. */
static int spawn(pid_t *pid, const sct_child_opts *opts, const char *path, int fd) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  char name[] = "sectile-worker", parent[32], memory[32], priority[16];
  snprintf(parent, sizeof parent, "%ld", (long)getpid());
  snprintf(memory, sizeof memory, "%lld", (long long)opts->memory_bytes);
  snprintf(priority, sizeof priority, "%d", opts->nice);
  char *const argv[] = {name, (char *)(uintptr_t)opts->role, parent, memory, priority, NULL};
  int result = posix_spawn_file_actions_init(&actions);
  if (result != 0) {
    return result;
  }
  result = posix_spawnattr_init(&attr);
  if (result != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return result;
  }
  char mark[] = SCT_CHILD_MARK "=1";
  char **const environment = environment_with(mark);
  result = set_attributes(&attr);
  result = result == 0 ? set_files(&actions, opts, fd) : result;
  if (result == 0) {
    result = sct_spawn(pid, path, &actions, &attr, argv, environment);
  }
  sct_free(environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attr);
  return result;
}

sct_status sct_child_start(sct_child *c, const sct_child_opts *opts, sct_error *err) {
  int fds[2];
  const char *path = opts->program ? opts->program : "/proc/self/exe";
  *c = (sct_child){.fd = -1};
  if (getenv(SCT_CHILD_MARK) != NULL) {
    return sct_fail(err, SCT_EINTERNAL,
                    "this program was started as '%s' and does not act as one: its main() must "
                    "hand over to the worker of that name",
                    opts->role);
  }
  SCT_TRY(make_sockets(fds, err));
  const int result = spawn(&c->pid, opts, path, fds[1]);
  close(fds[1]);
  if (result != 0) {
    close(fds[0]);
    *c = (sct_child){.fd = -1};
    return sct_fail(err, SCT_EIO, "cannot start the worker %s: %s", path, strerror(result));
  }
  c->fd = fds[0];
  return SCT_OK;
}

/* ---- ending ---- */

/* Waits for the process at most wait_ns. */
static bool reap(const sct_child *c, int64_t wait_ns, int *wait_status) {
  const int64_t end = sct_now_ns() + wait_ns;
  struct timespec pause_time = {.tv_nsec = 200000};
  for (;;) {
    const pid_t got = waitpid(c->pid, wait_status, WNOHANG);
    if (got == c->pid || (got < 0 && errno == ECHILD)) {
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

int sct_child_wait(sct_child *c, int64_t grace_ns) {
  int wait_status = 0;
  if (!sct_child_alive(c)) {
    return 0;
  }
  if (grace_ns <= 0 || !reap(c, grace_ns, &wait_status)) {
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL); /* it may not lead a group yet */
    if (!reap(c, REAP_NS, &wait_status)) {
      sct_log(SCT_LOG_WARN, "worker %ld does not end after SIGKILL; its GPU may be stuck",
              (long)c->pid);
    }
  }
  close(c->fd);
  *c = (sct_child){.fd = -1};
  return wait_status;
}

void sct_child_kill(sct_child *c) {
  (void)sct_child_wait(c, 0);
}

int sct_child_stop(sct_child *c, uint32_t quit, int64_t grace_ns) {
  if (!sct_child_alive(c)) {
    return 0;
  }
  const int64_t deadline = sct_now_ns() + grace_ns;
  const sct_io io = sct_wire_send(c->fd, quit, NULL, deadline);
  const int wait_status = sct_child_wait(c, io == SCT_IO_OK ? grace_ns : 0);
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

bool sct_child_reap(sct_child *c) {
  int wait_status = 0;
  if (sct_child_alive(c) && reap(c, 0, &wait_status)) {
    close(c->fd);
    *c = (sct_child){.fd = -1};
  }
  return sct_child_alive(c);
}

bool sct_child_out_of_memory(int wait_status) {
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == sct_exit_code(SCT_ENOMEM);
}

void sct_child_describe_end(char *out, size_t bytes, int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    snprintf(out, bytes, "ended by signal %d (%s)", WTERMSIG(wait_status),
             strsignal(WTERMSIG(wait_status)));
  } else if (sct_child_out_of_memory(wait_status)) {
    snprintf(out, bytes, "ran out of memory");
  } else {
    snprintf(out, bytes, "ended with exit status %d",
             WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1);
  }
}

/* ---- other programs ---- */

/* Where descriptors 0 to 2 of another program lead. Returns 0 or an errno. */
static int set_log(posix_spawn_file_actions_t *actions, const char *log) {
  int result = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
  result = result == 0 ? posix_spawn_file_actions_addopen(actions, 1, log,
                                                          O_WRONLY | O_CREAT | O_TRUNC, 0600)
                       : result;
  return result == 0 ? posix_spawn_file_actions_adddup2(actions, 1, 2) : result;
}

sct_status sct_program_run(int *wait_status, char *const argv[], const char *log, int64_t limit_ns,
                           sct_error *err) {
  posix_spawn_file_actions_t actions;
  sct_child c = {0};
  char locale[] = "LC_ALL=C";
  int result = posix_spawn_file_actions_init(&actions);
  if (result == 0) {
    char **const environment = environment_with(locale);
    result = set_log(&actions, log);
    result = result == 0 ? sct_spawn(&c.pid, argv[0], &actions, NULL, argv, environment) : result;
    sct_free(environment);
    posix_spawn_file_actions_destroy(&actions);
  }
  if (result != 0) {
    return sct_fail(err, SCT_EIO, "cannot start %s: %s", argv[0], strerror(result));
  }
  if (reap(&c, limit_ns, wait_status)) {
    return SCT_OK;
  }
  kill(c.pid, SIGTERM);
  if (!reap(&c, REAP_NS, wait_status)) {
    kill(c.pid, SIGKILL);
    (void)reap(&c, REAP_NS, wait_status);
  }
  return sct_fail(err, SCT_EIO, "%s did not end in %.0f s", argv[0], (double)limit_ns / 1e9);
}
