/* compile_pool - the workers of a compiler: started when there is something to do, asked with a
 * deadline, and what their end means for the job they had. */
#include "compile/compile_internal.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MESSAGE_NS       ((int64_t)10000000000) /* of a message that has begun */
#define LEAST_MESSAGE_NS ((int64_t)1000000000)  /* a busy machine is no reason */
#define DYING_NS         ((int64_t)2000000000)
#define ABOUT_NS         ((int64_t)60000000000) /* loading the library from a cold disk */
#define GRACE_NS         ((int64_t)2000000000)  /* for a worker that keeps the limit by itself */
enum { WORKER_NICE = 5 };                       /* below what times and what schedules */

static int64_t message_ns(const sct_compiler *compiler) {
  const int64_t most = compiler->limit_ns < MESSAGE_NS ? compiler->limit_ns : MESSAGE_NS;
  return most > LEAST_MESSAGE_NS ? most : LEAST_MESSAGE_NS;
}

static sct_status start(const sct_compiler *compiler, sct_compile_worker *w, sct_error *err) {
  const sct_child_opts opts = {.program = compiler->program,
                               .role = SCT_COMPILE_WORKER_ARG,
                               .memory_bytes = compiler->memory_bytes,
                               .nice = WORKER_NICE,
                               .quiet = true}; /* one that dies may have much to say */
  *w = (sct_compile_worker){0};
  return sct_child_start(&w->child, &opts, err);
}

sct_status sct_compile_worker_ready(sct_compiler *compiler, sct_compile_worker *w, bool fresh,
                                    sct_error *err) {
  if (fresh && w->n_jobs > 0) {
    sct_child_kill(&w->child);
  }
  return sct_child_reap(&w->child) ? SCT_OK : start(compiler, w, err);
}

sct_compile_job sct_compile_job_of(const sct_compiler *compiler) {
  return (sct_compile_job){.limit_ns = compiler->limit_ns,
                           .options = (const char *const *)compiler->options,
                           .n_options = compiler->n_options};
}

bool sct_compile_worker_send(sct_compiler *compiler, sct_compile_worker *w, sct_compile_op op) {
  const int64_t now = sct_now_ns();
  const int64_t limit_ns =
      op == SCT_COMPILE_OP_ABOUT ? ABOUT_NS : compiler->limit_ns + compiler->limit_ns / 8;
  w->busy = true;
  w->n_jobs += op != SCT_COMPILE_OP_ABOUT;
  w->deadline_ns = now + limit_ns + GRACE_NS;
  return sct_wire_send(w->child.fd, op, &compiler->wire, now + MESSAGE_NS) == SCT_IO_OK;
}

/* ---- how a job ended */

static void too_slow(const sct_compiler *compiler, sct_compile_end *end) {
  char limit[32];
  end->failure = SCT_COMPILE_TIMEOUT;
  (void)snprintf(end->text, sizeof(end->text), "compiling took longer than %s",
                 sct_format_ns(limit, (double)compiler->limit_ns));
}

static void crashed(sct_compile_end *end, const char *how) {
  end->failure = SCT_COMPILE_CRASH;
  (void)snprintf(end->text, sizeof(end->text), "the compiler crashed on it: its process %s", how);
}

static void died(const sct_compiler *compiler, sct_compile_worker *w, sct_compile_end *end) {
  const int status = sct_child_wait(&w->child, DYING_NS);
  char how[96];
  if (sct_child_out_of_memory(status)) {
    char limit[32];
    end->failure = SCT_COMPILE_MEMORY;
    SCT_SCOPED(sct_str) low = {0};
    if (sct_ulimit_low(&low, SCT_ULIMIT_SPACE, compiler->memory_bytes) ||
        sct_ulimit_low(&low, SCT_ULIMIT_DATA, compiler->memory_bytes)) {
      (void)snprintf(end->text, sizeof(end->text), "compiling needs more memory: %s",
                     sct_str_c(&low));
    } else {
      (void)snprintf(end->text, sizeof(end->text), "compiling needs more than %s of memory",
                     sct_format_bytes(limit, (double)compiler->memory_bytes));
    }
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
    too_slow(compiler, end);
  } else {
    sct_child_describe_end(how, sizeof(how), status);
    crashed(end, how);
  }
}

sct_status sct_compile_worker_receive(sct_compiler *compiler, sct_compile_worker *w,
                                      sct_compile_end *end, sct_error *err) {
  uint32_t code = 0;
  const int64_t now = sct_now_ns();
  const bool late = now >= w->deadline_ns;
  *end = (sct_compile_end){.failure = SCT_COMPILE_NONE};
  w->busy = false;
  const sct_io io =
      sct_wire_recv(w->child.fd, &code, &compiler->reply, late ? now : now + message_ns(compiler));
  if (io == SCT_IO_FAILED) {
    sct_child_kill(&w->child);
    return sct_fail(err, SCT_EIO, "cannot read what a compiler process answered");
  }
  if (io == SCT_IO_TIMEOUT) {
    sct_child_kill(&w->child);
    if (late) {
      too_slow(compiler, end);
    } else {
      crashed(end, "stopped in the middle of its answer");
    }
  } else if (io == SCT_IO_CLOSED) {
    died(compiler, w, end);
  } else if (io == SCT_IO_NONSENSE || code >= SCT_N_STATUS) {
    sct_child_kill(&w->child);
    crashed(end, "answered what makes no sense");
  } else if (code == SCT_ESTOPPED) {
    too_slow(compiler, end);
  } else if (code != SCT_OK) {
    return sct_fail(err, (sct_status)code, "%s", sct_wire_get_text(&compiler->reply));
  }
  return SCT_OK;
}

/* A worker that waits for a job ends when its parent is gone. */
void sct_compile_workers_kill(sct_compiler *compiler, int keep) {
  for (int i = keep; i < SCT_COMPILE_MAX_WORKERS; ++i) {
    sct_compile_worker *const w = &compiler->workers[i];
    if (sct_child_alive(&w->child)) { /* all at once, then collected one by one */
      (void)(w->busy ? kill(-w->child.pid, SIGKILL) : shutdown(w->child.fd, SHUT_RDWR));
    }
  }
  for (int i = keep; i < SCT_COMPILE_MAX_WORKERS; ++i) {
    sct_compile_worker *const w = &compiler->workers[i];
    (void)sct_child_wait(&w->child, w->busy ? 0 : DYING_NS);
    *w = (sct_compile_worker){0};
  }
}
