/* What scripts do is done in limited children.
 *
 * The sandbox bounds what Lua runs, but a hole in it, a long string compared again and again or a
 * bug in what expressions become would take the session along. So a child forked for the purpose
 * does it first: what it makes comes in messages, and where it ends before its time, the line where
 * its hook was last seen is the place of the error. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "script/script_private.h"

enum {
  DEFAULT_SECONDS = 10,
  MAX_SECONDS = 3600,
  MAX_FILES = 16,
};

#define CHILD_BYTES  ((rlim_t)1 << 30)    /* of address space, on top of the parent's */
#define HEADWAY_NS   ((int64_t)100000000) /* between signs of life */
#define DYING_NS     ((int64_t)2000000000)
#define SECOND_NS    ((int64_t)1000000000)
#define CODE_HEADWAY ((uint32_t)SCT_N_STATUS)
#define CODE_MESSAGE (CODE_HEADWAY + 1) /* lesser codes: the status at the end, with its text */

/* Shared with the child: where it was last seen. */
typedef struct seen_page {
  char file[256];
  int line;
} seen_page;

struct sct_script_child {
  sct_child child; /* in the child itself only fd */
  int seconds;
  seen_page *page;
  const char *subject;
  sct_script_fn fn;
  void *ctx;
  int64_t sent_ns; /* the child's */
};

static seen_page *seen; /* in a child only */

void sct_script_child_record_line(lua_State *L) {
  int line = 0;
  const char *file = seen ? sct_script_where(L, 0, &line) : NULL;
  if (file) {
    snprintf(seen->file, sizeof(seen->file), "%s", file);
    seen->line = line;
  }
}

/* ---- the child ---- */

static void limit(int resource, rlim_t value) {
  struct rlimit now;
  if (getrlimit(resource, &now) == 0) {
    now.rlim_max = now.rlim_cur =
        now.rlim_max == RLIM_INFINITY || value < now.rlim_max ? value : now.rlim_max;
    (void)setrlimit(resource, &now);
  }
}

/* Address space in use. */
static int64_t space_bytes(void) {
  SCT_SCOPED(sct_str) text = {0};
  const long pages = sct_file_read(&text, "/proc/self/statm", NULL) == SCT_OK
                         ? strtol(sct_str_c(&text), NULL, 10)
                         : 0;
  return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* Nothing but the socket and stderr stays open. */
static int drop_files(int fd) {
  const int null = sct_open("/dev/null", O_RDWR | O_CLOEXEC, 0);
  for (int k = STDIN_FILENO; k <= STDOUT_FILENO; k++) {
    if (dup2(null, k) < 0) {
      close(k);
    }
  }
  if (fd != SCT_CHILD_FD) {
    dup2(fd, SCT_CHILD_FD);
  }
  sct_process_close_above(SCT_CHILD_FD);
  return SCT_CHILD_FD;
}

static void confine(const sct_script_child *self) {
  if (!SCT_SANITIZED) { /* which reserve more address space than there is memory */
    limit(RLIMIT_AS, (rlim_t)space_bytes() + CHILD_BYTES);
  }
  sct_process_limit_cpu(self->seconds * SECOND_NS);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, MAX_FILES);
  limit(RLIMIT_NPROC, 0);
}

static sct_status send(sct_script_child *self, uint32_t code, const sct_wire *body,
                       sct_error *err) {
  self->sent_ns = sct_now_ns();
  return sct_wire_send(self->child.fd, code, body, SCT_NO_DEADLINE) == SCT_IO_OK
             ? SCT_OK
             : sct_fail(err, SCT_EIO, "nobody takes what the scripts made");
}

sct_status sct_script_child_send(sct_script_child *self, const sct_wire *body, sct_error *err) {
  return send(self, CODE_MESSAGE, body, err);
}

sct_status sct_script_child_step(sct_script_child *self, sct_error *err) {
  if (!self) {
    return SCT_OK;
  }
  sct_process_limit_cpu(self->seconds * SECOND_NS);
  return sct_now_ns() - self->sent_ns < HEADWAY_NS ? SCT_OK : send(self, CODE_HEADWAY, NULL, err);
}

static void run_child(int fd, void *ctx) {
  sct_script_child *self = ctx;
  sct_error err = {0};
  SCT_SCOPED(sct_wire) end = {0};
  self->child.fd = drop_files(fd);
  confine(self);
  seen = self->page;
  const sct_status status = self->fn(self->ctx, self, &err);
  sct_wire_put_text(&end, err.text);
  (void)sct_wire_send(self->child.fd, (uint32_t)status, &end, SCT_NO_DEADLINE);
}

/* ---- the parent ---- */

sct_status sct_script_child_start(sct_script_child **out, const char *subject, sct_script_fn fn,
                                  void *ctx, sct_error *err) {
  seen_page *page = sct_map_shared(sizeof *page);
  if (!page) {
    return sct_fail(err, SCT_EIO, "cannot run the scripts in a child: %s", strerror(errno));
  }
  sct_script_child *c = sct_alloc(sizeof *c);
  *c = (sct_script_child){
      .seconds = (int)sct_script_limit("SECTILE_SCRIPT_SECONDS", DEFAULT_SECONDS, 1, MAX_SECONDS),
      .page = page,
      .subject = subject,
      .fn = fn,
      .ctx = ctx};
  const sct_status status = sct_child_fork(&c->child, "script", run_child, c, err);
  if (status != SCT_OK) {
    sct_script_child_free(c);
    return status;
  }
  *out = c;
  return SCT_OK;
}

void sct_script_child_free(sct_script_child *c) {
  if (c) {
    sct_child_kill(&c->child);
    munmap(c->page, sizeof *c->page);
    sct_free(c);
  }
}

/* An error at the place where the child was last seen. */
static sct_status fail_there(const sct_script_child *c, sct_error *err, const char *what) {
  const seen_page *page = c->page;
  const bool known = page->line > 0 && memchr(page->file, '\0', sizeof(page->file));
  return sct_fail(err, SCT_ESPEC, "%s:%d: error: %s", known ? page->file : c->subject,
                  known ? page->line : 1, what);
}

/* What stopped the child may be a limit that was there before its own; then no script is at fault.
 * `needed`: what its own would have been. */
static bool stopped_by(const sct_script_child *c, sct_error *err, sct_ulimit limit,
                       int64_t needed) {
  SCT_SCOPED(sct_str) text = {0};
  const bool low = sct_ulimit_low(&text, limit, needed);
  if (low) {
    (void)sct_fail(
        err, limit == SCT_ULIMIT_SPACE || limit == SCT_ULIMIT_DATA ? SCT_ENOMEM : SCT_EIO,
        "%s: a limit of the system stopped its scripts: %s", c->subject, sct_str_c(&text));
  }
  return low;
}

static sct_status fail_memory(const sct_script_child *c, sct_error *err) {
  const int64_t own = space_bytes() + (int64_t)CHILD_BYTES;
  if (stopped_by(c, err, SCT_ULIMIT_SPACE, own) ||
      stopped_by(c, err, SCT_ULIMIT_DATA, (int64_t)CHILD_BYTES)) {
    return SCT_ENOMEM;
  }
  return fail_there(c, err, "the scripts need too much memory (more than 1 GiB)");
}

/* No message comes any more. */
static sct_status fail_gone(sct_script_child *c, sct_error *err) {
  const int status = sct_child_wait(&c->child, DYING_NS);
  if (sct_child_out_of_memory(status)) {
    return fail_memory(c, err);
  }
  char what[160];
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if ((number == SIGXCPU || number == SIGKILL) && stopped_by(c, err, SCT_ULIMIT_TIME, c->seconds)) {
    return SCT_EIO;
  }
  if ((number == SIGSEGV || number == SIGBUS) && stopped_by(c, err, SCT_ULIMIT_STACK, 0)) {
    return SCT_EIO;
  }
  if (number == SIGXCPU) {
    snprintf(what, sizeof(what), "the scripts took more than %d s of processor time", c->seconds);
  } else {
    snprintf(what, sizeof(what), "the child that ran the scripts ended early (%s)",
             number ? strsignal(number) : "it was refused something");
  }
  return fail_there(c, err, what);
}

static sct_status fail_slow(sct_script_child *c, sct_error *err) {
  char what[96];
  sct_child_kill(&c->child);
  snprintf(what, sizeof(what), "the scripts made no headway for %d s", c->seconds);
  return fail_there(c, err, what);
}

sct_status sct_script_child_receive(sct_script_child *c, sct_wire *body, bool *ended,
                                    sct_error *err) {
  uint32_t code = CODE_HEADWAY;
  while (code == CODE_HEADWAY) {
    const int64_t until_ns = sct_now_ns() + c->seconds * SECOND_NS;
    const sct_io io = sct_wire_recv(c->child.fd, &code, body, until_ns);
    if (io == SCT_IO_FAILED || io == SCT_IO_NONSENSE) {
      sct_child_kill(&c->child);
      return sct_fail(err, SCT_EIO, "%s: cannot read what the scripts made", c->subject);
    }
    if (io != SCT_IO_OK) {
      return io == SCT_IO_TIMEOUT ? fail_slow(c, err) : fail_gone(c, err);
    }
  }
  *ended = code != CODE_MESSAGE;
  if (*ended && code != SCT_OK) {
    const sct_status status = code < SCT_N_STATUS ? (sct_status)code : SCT_EINTERNAL;
    return sct_fail(err, status, "%s", sct_wire_get_text(body));
  }
  return SCT_OK;
}

sct_status sct_script_child_finish(sct_script_child *c, sct_error *err) {
  SCT_SCOPED(sct_wire) body = {0};
  bool ended = false;
  const sct_status status = sct_script_child_receive(c, &body, &ended, err);
  return status != SCT_OK || ended
             ? status
             : sct_fail(err, SCT_EINTERNAL, "%s: its scripts made more than was asked for",
                        c->subject);
}

sct_status sct_script_dry_run(const char *subject, sct_script_fn fn, void *ctx, sct_error *err) {
  sct_script_child *c = NULL;
  SCT_TRY(sct_script_child_start(&c, subject, fn, ctx, err));
  const sct_status status = sct_script_child_finish(c, err);
  sct_script_child_free(c);
  return status;
}

/* ---- a spec alone ---- */

typedef struct spec_job {
  sct_spec *out;
  const char *path;
} spec_job;

static sct_status load(void *ctx, sct_script_child *unused, sct_error *err) {
  const spec_job *job = ctx;
  (void)unused;
  return sct_script_load_spec(job->out, job->path, err);
}

sct_status sct_script_try_spec(sct_spec *out, const char *path, sct_error *err) {
  spec_job job = {out, path};
  memset(out, 0, sizeof(*out));
  SCT_TRY(sct_script_dry_run(path, load, &job, err));
  return load(&job, NULL, err);
}
