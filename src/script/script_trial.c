/* Trials: what scripts do is done in a limited child first, and here once it has survived there.
 *
 * The sandbox bounds what Lua runs, but a hole in it, a long string compared again and again or a
 * bug in what expressions become would take the session along. So the child goes a step ahead:
 * both sides run the same code and pass the same gates, and the parent passes one only when the
 * child is beyond the next. The two run side by side, which makes a trial cost little more than a
 * fork. Everything is deterministic; a digest of the results proves that it was. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "script/script_private.h"

enum {
  DEFAULT_SECONDS = 10,
  MAX_SECONDS = 3600,
  GATES_A_SECOND = 50, /* each this many gates buy another second of processor time */
  PIPE_FD = 3,
  MAX_FILES = 16,
};

#define TRIAL_BYTES ((rlim_t)1 << 30) /* of address space, on top of the parent's */
#define GATE        'g'
#define END         'e'

/* Shared with the child: where it was last seen. */
typedef struct trial_page {
  char file[256];
  int line;
} trial_page;

/* What the child says last, behind the byte END. */
typedef struct trial_end {
  sct_hash digest;
  int status;
  char text[sizeof(((sct_error *)0)->text)];
} trial_end;

struct sct_trial {
  bool is_child;
  int fd; /* the pipe: the child writes, the parent reads */
  pid_t pid;
  int seconds;
  int64_t gates; /* passed on this side */
  sct_hash digest;
  trial_page *page;
  const char *subject;
  /* the parent's */
  int64_t ahead; /* gates the child has passed */
  bool ended;
  trial_end end;
};

static trial_page *noted; /* in a child only */

void sct_script_trial_seen(lua_State *L) {
  int line = 0;
  const char *file = noted ? sct_script_where(L, 0, &line) : NULL;
  if (file) {
    snprintf(noted->file, sizeof(noted->file), "%s", file);
    noted->line = line;
  }
}

/* ---- the child ---- */

static void limit(int resource, rlim_t value) {
  struct rlimit now;
  if (getrlimit(resource, &now) == 0) {
    now.rlim_cur = now.rlim_max == RLIM_INFINITY || value < now.rlim_max ? value : now.rlim_max;
    now.rlim_max = resource == RLIMIT_CPU ? now.rlim_max : now.rlim_cur; /* it is raised later */
    (void)setrlimit(resource, &now);
  }
}

/* Address space in use. */
static int64_t space_bytes(void) {
  sct_str text = {0};
  const long pages = sct_file_read(&text, "/proc/self/statm", NULL) == SCT_OK
                         ? strtol(sct_str_c(&text), NULL, 10)
                         : 0;
  sct_str_free(&text);
  return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* The sanitizers reserve more address space than there is memory. */
#if SCT_SANITIZED
static void limit_memory(void) {}
#else
static void limit_memory(void) {
  limit(RLIMIT_AS, (rlim_t)space_bytes() + TRIAL_BYTES);
}
#endif

/* Nothing but the pipe and stderr stays open. */
static void drop_files(int fd) {
  const int null = sct_open("/dev/null", O_RDWR | O_CLOEXEC, 0);
  for (int k = STDIN_FILENO; k <= STDOUT_FILENO; k++) {
    if (dup2(null, k) < 0) {
      close(k);
    }
  }
  if (fd != PIPE_FD) {
    dup2(fd, PIPE_FD);
  }
  fcntl(PIPE_FD, F_SETFD, FD_CLOEXEC);
  if (close_range(PIPE_FD + 1, ~0U, 0) != 0) {
    for (int k = PIPE_FD + 1; k < 4096; k++) {
      close(k);
    }
  }
}

static void confine(sct_trial *trial, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1); /* it died before we asked */
  }
  for (int k = 1; k < SIGRTMIN; k++) {
    signal(k, k == SIGXFSZ || k == SIGPIPE ? SIG_IGN : SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  drop_files(trial->fd);
  trial->fd = PIPE_FD;
  limit_memory();
  limit(RLIMIT_CPU, (rlim_t)trial->seconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, MAX_FILES);
  limit(RLIMIT_NPROC, 0);
}

static void send_all(int fd, const void *data, size_t n) {
  for (const char *at = data; n > 0;) {
    const ssize_t done = sct_write(fd, at, n);
    if (done < 0 && errno != EINTR) {
      _exit(1); /* nobody listens any more */
    }
    at += done > 0 ? done : 0;
    n -= done > 0 ? (size_t)done : 0;
  }
}

static _Noreturn void run_child(sct_trial *trial, sct_trial_fn fn, void *ctx, pid_t parent) {
  trial->is_child = true;
  sct_fault_role("script");
  sct_memory_end_silently();
  confine(trial, parent);
  noted = trial->page;
  sct_error err = {0};
  trial->end.status = fn(ctx, trial, &err);
  trial->end.digest = trial->digest;
  snprintf(trial->end.text, sizeof(trial->end.text), "%s", err.text);
  const char tag = END;
  send_all(trial->fd, &tag, 1);
  send_all(trial->fd, &trial->end, sizeof(trial->end));
  sct_fault_report();
  _exit(0);
}

/* ---- the parent ---- */

sct_status sct_trial_start(sct_trial **out, const char *subject, sct_trial_fn fn, void *ctx,
                           sct_error *err) {
  sct_trial *trial = sct_alloc(sizeof(*trial));
  int fds[2];
  void *page = sct_map_shared(sizeof(trial_page));
  if (!page || sct_pipe2(fds, O_CLOEXEC) != 0) {
    const int reason = errno;
    if (page) {
      munmap(page, sizeof(trial_page));
    }
    sct_free(trial);
    return sct_fail(err, SCT_EIO, "cannot try the scripts in a child: %s", strerror(reason));
  }
  *trial = (sct_trial){
      .fd = fds[0],
      .seconds = (int)sct_script_limit("SECTILE_SCRIPT_SECONDS", DEFAULT_SECONDS, 1, MAX_SECONDS),
      .page = page,
      .subject = subject};
  const pid_t parent = getpid();
  trial->pid = sct_fork();
  if (trial->pid == 0) {
    trial->fd = fds[1];
    run_child(trial, fn, ctx, parent);
  }
  const int reason = errno;
  close(fds[1]);
  if (trial->pid < 0) {
    trial->ended = true;
    sct_trial_free(trial);
    return sct_fail(err, SCT_EIO, "cannot try the scripts in a child: %s", strerror(reason));
  }
  setpgid(trial->pid, trial->pid); /* whichever of the two comes first */
  *out = trial;
  return SCT_OK;
}

/* Kills what is left of the child and its group; its wait status. */
static int reap(sct_trial *trial) {
  int status = 0;
  if (trial->pid > 0) {
    kill(-trial->pid, SIGKILL);
    kill(trial->pid, SIGKILL);
    while (waitpid(trial->pid, &status, 0) < 0 && errno == EINTR) {
    }
    trial->pid = 0;
  }
  return status;
}

void sct_trial_free(sct_trial *trial) {
  if (!trial) {
    return;
  }
  reap(trial);
  close(trial->fd);
  munmap(trial->page, sizeof(*trial->page));
  sct_free(trial);
}

/* An error at the place where the child was last seen. */
static sct_status fail_there(sct_trial *trial, sct_error *err, const char *what) {
  const trial_page *page = trial->page;
  const bool seen = page->line > 0 && memchr(page->file, '\0', sizeof(page->file));
  return sct_fail(err, SCT_ESPEC, "%s:%d: error: %s", seen ? page->file : trial->subject,
                  seen ? page->line : 1, what);
}

/* What stopped the child may be a limit that was there before its own; then no script is at fault.
 * `needed`: what its own would have been. */
static bool stopped_by(const sct_trial *trial, sct_error *err, sct_ulimit limit, int64_t needed) {
  sct_str text = {0};
  const bool low = sct_ulimit_low(&text, limit, needed);
  if (low) {
    (void)sct_fail(
        err, limit == SCT_ULIMIT_SPACE || limit == SCT_ULIMIT_DATA ? SCT_ENOMEM : SCT_EIO,
        "%s: a limit of the system stopped its scripts: %s", trial->subject, sct_str_c(&text));
  }
  sct_str_free(&text);
  return low;
}

static sct_status fail_memory(sct_trial *trial, sct_error *err) {
  const int64_t own = space_bytes() + (int64_t)TRIAL_BYTES;
  if (stopped_by(trial, err, SCT_ULIMIT_SPACE, own) ||
      stopped_by(trial, err, SCT_ULIMIT_DATA, (int64_t)TRIAL_BYTES)) {
    return SCT_ENOMEM;
  }
  return fail_there(trial, err, "the scripts need too much memory (more than 1 GiB)");
}

/* The pipe has ended without the last word. */
static sct_status fail_gone(sct_trial *trial, sct_error *err) {
  int status = 0;
  while (waitpid(trial->pid, &status, 0) < 0 && errno == EINTR) {
  }
  trial->pid = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == sct_exit_code(SCT_ENOMEM)) {
    return fail_memory(trial, err);
  }
  char what[160];
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if ((number == SIGXCPU || number == SIGKILL) &&
      stopped_by(trial, err, SCT_ULIMIT_TIME, trial->seconds)) {
    return SCT_EIO;
  }
  if ((number == SIGSEGV || number == SIGBUS) && stopped_by(trial, err, SCT_ULIMIT_STACK, 0)) {
    return SCT_EIO;
  }
  if (number == SIGXCPU) {
    snprintf(what, sizeof(what), "the scripts took more than %d s of processor time",
             trial->seconds);
  } else {
    snprintf(what, sizeof(what), "the child that tried the scripts ended early (%s)",
             number ? strsignal(number) : "it was refused something");
  }
  return fail_there(trial, err, what);
}

/* Reads n bytes, waiting at most the trial's seconds for each part. */
static sct_status receive(sct_trial *trial, void *out, size_t n, sct_error *err) {
  for (char *at = out; n > 0;) {
    struct pollfd wait = {.fd = trial->fd, .events = POLLIN};
    const int ready = poll(&wait, 1, trial->seconds * 1000);
    if (ready == 0) {
      reap(trial);
      char what[96];
      snprintf(what, sizeof(what), "the scripts made no headway for %d s", trial->seconds);
      return fail_there(trial, err, what);
    }
    const ssize_t got = ready > 0 ? sct_read(trial->fd, at, n) : -1;
    if (got < 0 && errno != EINTR) { /* our doing, not the script's */
      const int reason = errno;
      reap(trial);
      return sct_fail(err, SCT_EIO, "cannot read from the child that tries the scripts: %s",
                      strerror(reason));
    }
    if (got == 0) {
      return fail_gone(trial, err);
    }
    at += got > 0 ? got : 0;
    n -= got > 0 ? (size_t)got : 0;
  }
  return SCT_OK;
}

static sct_status receive_message(sct_trial *trial, sct_error *err) {
  char tag = 0;
  SCT_TRY(receive(trial, &tag, 1, err));
  if (tag == GATE) {
    trial->ahead++;
    return SCT_OK;
  }
  SCT_TRY(receive(trial, &trial->end, sizeof(trial->end), err));
  trial->ended = true;
  trial->end.text[sizeof(trial->end.text) - 1] = '\0';
  return trial->end.status == SCT_OK
             ? SCT_OK
             : sct_fail(err, (sct_status)trial->end.status, "%s", trial->end.text);
}

sct_status sct_trial_gate(sct_trial *trial, sct_error *err) {
  if (!trial) {
    return SCT_OK;
  }
  trial->gates++;
  if (trial->is_child) {
    const char tag = GATE;
    send_all(trial->fd, &tag, 1);
    if (trial->gates % GATES_A_SECOND == 0) {
      limit(RLIMIT_CPU, (rlim_t)(trial->seconds + trial->gates / GATES_A_SECOND));
    }
    return SCT_OK;
  }
  while (!trial->ended && trial->ahead <= trial->gates) {
    SCT_TRY(receive_message(trial, err));
  }
  return SCT_OK;
}

void sct_trial_note(sct_trial *trial, sct_hash hash) {
  if (trial) {
    const sct_hash both[2] = {trial->digest, hash};
    trial->digest = sct_hash_bytes(both, sizeof(both));
  }
}

sct_status sct_trial_finish(sct_trial *trial, sct_error *err) {
  while (!trial->ended) {
    SCT_TRY(receive_message(trial, err));
  }
  if (!sct_hash_equal(trial->digest, trial->end.digest)) {
    return sct_fail(err, SCT_ESPEC,
                    "%s:1: error: the scripts gave something else when they ran again; did one of "
                    "their files change just now?",
                    trial->subject);
  }
  return SCT_OK;
}

/* ---- a spec alone ---- */

typedef struct spec_trial {
  sct_spec *out;
  const char *path;
} spec_trial;

static sct_status load(const spec_trial *job, sct_trial *trial, sct_error *err) {
  SCT_TRY(sct_trial_gate(trial, err));
  SCT_TRY(sct_script_load_spec(job->out, job->path, err));
  sct_trial_note(trial, job->out->hash);
  return SCT_OK;
}

static sct_status load_in_child(void *ctx, sct_trial *trial, sct_error *err) {
  return load(ctx, trial, err);
}

sct_status sct_script_try_spec(sct_spec *out, const char *path, sct_error *err) {
  spec_trial job = {out, path};
  sct_trial *trial = NULL;
  memset(out, 0, sizeof(*out));
  SCT_TRY(sct_trial_start(&trial, path, load_in_child, &job, err));
  sct_status status = load(&job, trial, err);
  if (status == SCT_OK) {
    status = sct_trial_finish(trial, err);
  }
  if (status != SCT_OK) {
    sct_spec_free(out);
  }
  sct_trial_free(trial);
  return status;
}
