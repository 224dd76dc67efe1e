/* Before a GPU runs a candidate, its PTX runs on the CPU at the smaller sizes of verification, with
 * every access checked: races, uninitialised values and reads outside of arrays, which a GPU may
 * not show, are found here, and what fails here is never sent to the GPU.
 *
 * Verification builds expressions in the spec's pool, so it cannot be shared between threads:
 * forked processes share the list of candidates, each with a worker of its own, and send verdicts
 * through one pipe. What a process could not judge (it died, the interpreter does not know the PTX)
 * is left to the GPU. */
#include "tune/tune_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES   64
#define ITEMS_A_PROCESS 4 /* fewer are not worth another one */
#define POLL_MS         100

/* One candidate's verdict on its way to the parent: below PIPE_BUF, so it is written whole. */
typedef struct message {
  int item;                  /* -1: no session could be opened, detail says why */
  bool judged, no_reference; /* neither: the worker or the interpreter is at fault */
  sct_outcome_kind outcome;
  char detail[512];
} message;

typedef struct check {
  int *order; /* items to check, those of equal layouts beside each other */
  int n;
  int *left; /* those whose naive variant failed, so that there was nothing to compare with */
  int n_left;
  atomic_int *next; /* into order; shared by the processes */
  pid_t pids[MAX_PROCESSES];
  int n_pids;
  int pipe[2];
} check;

/* ---- a process ---- */

/* What the interpreter's verdict means for a candidate that a GPU could still run. The others say
 * something of the interpreter or of the sizes it takes. */
static bool is_failure(sct_outcome_kind outcome) {
  switch (outcome) {
  case SCT_OUT_WRONG_RESULT:
  case SCT_OUT_NOT_WRITTEN:
  case SCT_OUT_OUT_OF_BOUNDS:
  case SCT_OUT_INPUT_CHANGED:
  case SCT_OUT_ILLEGAL_ACCESS:
  case SCT_OUT_MISALIGNED:
  case SCT_OUT_UNINITIALISED:
  case SCT_OUT_RACE:
  case SCT_OUT_BARRIER:
  case SCT_OUT_TRAP:
  case SCT_OUT_HANG:
    return true;
  default:
    return false;
  }
}

static void send_message(int fd, const message *m) {
  ssize_t n;
  do {
    n = sct_write(fd, m, sizeof *m);
  } while (n < 0 && errno == EINTR);
}

static sct_status open_described(sct_measure **out, const tune_session *s,
                                 const sct_device_desc *described, sct_error *err) {
  sct_measure_opts opts = s->opts->measure;
  opts.seed = s->opts->seed;
  opts.fake = NULL;
  opts.described = described;
  return sct_measure_open(out, 0, &opts, err);
}

/* Judges items until none is left. */
static void judge_items(tune_session *s, check *c, sct_measure *measure) {
  int group = -1;
  for (;;) {
    const int at = atomic_fetch_add(c->next, 1);
    if (at >= c->n) {
      return;
    }
    const int item = c->order[at], naive = sct_tune_naive_item(s, item);
    message m = {.item = item};
    sct_verdict verdict = {.outcome = SCT_OUT_OK};
    sct_status status = naive < 0 ? SCT_ENOTVERIFIED : SCT_OK;
    if (status == SCT_OK && naive != group) {
      const sct_binary reference = sct_tune_binary(&s->plan.items[naive]);
      status = sct_measure_problem(measure, &s->plan.spec, s->plan.items[item].code.layout,
                                   &reference, NULL);
      group = status == SCT_OK ? naive : -1;
    }
    if (status == SCT_OK) {
      const sct_binary binary = sct_tune_binary(&s->plan.items[item]);
      status = sct_measure_verify(measure, &binary, &verdict, NULL);
    }
    m.judged = status == SCT_OK;
    m.no_reference = status == SCT_ENOTVERIFIED;
    m.outcome = verdict.outcome;
    memcpy(m.detail, verdict.detail, sizeof m.detail);
    send_message(c->pipe[1], &m);
  }
}

static _Noreturn void run_process(tune_session *s, check *c) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sct_fault_role("check");
  signal(SIGINT, SIG_IGN); /* the parent decides */
  signal(SIGTERM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* the program waits for signals in a thread of its own */
  close(c->pipe[0]);
  sct_device_desc described = s->device;
  sct_measure *measure = NULL;
  sct_error err = {0};
  described.is_virtual = true;
  if (open_described(&measure, s, &described, &err) == SCT_OK) {
    judge_items(s, c, measure);
  } else {
    message m = {.item = -1};
    snprintf(m.detail, sizeof m.detail, "%.*s", (int)sizeof m.detail - 1, err.text);
    send_message(c->pipe[1], &m);
  }
  sct_measure_close(measure);
  sct_fault_report();
  _exit(0); /* nothing of the parent's is flushed or freed here */
}

/* ---- the parent ---- */

/* Items that could run on the GPU and have not, group by group. */
static sct_status list_items(tune_session *s, check *c, sct_error *err) {
  const int n = s->plan.n_items;
  bool *listed = sct_alloc(sizeof *listed * (size_t)(n + 1));
  c->order = sct_alloc(sizeof *c->order * (size_t)(n + 1));
  c->left = sct_alloc(sizeof *c->left * (size_t)(n + 1));
  if (!listed || !c->order || !c->left) {
    sct_free(listed);
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  for (int first = 0; first < n; first++) {
    for (int k = first; k < n; k++) {
      if (listed[k] || !sct_tune_same_layouts(s, first, k)) {
        continue;
      }
      listed[k] = true;
      if (s->plan.items[k].outcome == SCT_OUT_OK && !sct_tune_judged_already(s, k)) {
        c->order[c->n++] = k;
      }
    }
  }
  sct_free(listed);
  return SCT_OK;
}

static sct_status start_processes(tune_session *s, check *c, sct_error *err) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int wanted = (c->n + ITEMS_A_PROCESS - 1) / ITEMS_A_PROCESS;
  wanted = cores > 0 && wanted > cores ? (int)cores : wanted;
  wanted = wanted > MAX_PROCESSES ? MAX_PROCESSES : wanted;
  c->next = sct_map_shared(sizeof *c->next);
  if (!c->next || sct_pipe2(c->pipe, O_CLOEXEC) != 0) {
    return sct_fail(err, SCT_EIO, "cannot start the check: %s", strerror(errno));
  }
  atomic_init(c->next, 0);
  while (c->n_pids < wanted) {
    const pid_t pid = sct_fork();
    if (pid == 0) {
      run_process(s, c);
    }
    if (pid < 0) {
      break; /* fewer than wanted; with none the GPU decides */
    }
    c->pids[c->n_pids++] = pid;
  }
  close(c->pipe[1]);
  c->pipe[1] = -1;
  return SCT_OK;
}

static void take_message(tune_session *s, check *c, const message *m) {
  if (m->item < 0) {
    sct_log(SCT_LOG_WARN, "a process of the check could not start: %s", m->detail);
    return;
  }
  sct_tune_item *item = &s->plan.items[m->item];
  if (m->no_reference) {
    c->left[c->n_left++] = m->item;
  }
  if (!m->judged || (m->outcome != SCT_OUT_OK && !is_failure(m->outcome))) {
    return; /* the GPU decides */
  }
  s->n_checked++;
  if (m->outcome != SCT_OUT_OK) {
    sct_verdict verdict = {.outcome = m->outcome};
    memcpy(verdict.detail, m->detail, sizeof verdict.detail);
    sct_tune_fail_item(s, m->item, &verdict);
    s->n_caught++;
    sct_log(SCT_LOG_INFO, "%s failed the check: %s", item->label, item->detail);
  }
}

/* One whole message, or false at the end of all processes. */
static bool read_message(int fd, message *m) {
  size_t at = 0;
  while (at < sizeof *m) {
    const ssize_t n = sct_read(fd, (char *)m + at, sizeof *m - at);
    if (n > 0) {
      at += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

/* Takes verdicts until all processes have ended, the user stops or the time is up. */
static void collect(tune_session *s, check *c) {
  int done = 0;
  while (!sct_tune_stop(s)) {
    struct pollfd ready = {.fd = c->pipe[0], .events = POLLIN};
    const int n = poll(&ready, 1, POLL_MS);
    if (n < 0 && errno != EINTR) {
      return;
    }
    message m;
    if (n <= 0) {
      continue;
    }
    if (!read_message(c->pipe[0], &m)) {
      return;
    }
    take_message(s, c, &m);
    if (m.item >= 0) {
      sct_tune_progress(s, "check", ++done, c->n, s->plan.items[m.item].label);
    }
  }
}

static void end_processes(check *c) {
  for (int k = 0; k < c->n_pids; k++) {
    kill(c->pids[k], SIGKILL); /* its worker dies with it; one that has ended is a zombie still */
  }
  for (int k = 0; k < c->n_pids; k++) {
    while (waitpid(c->pids[k], NULL, 0) < 0 && errno == EINTR) {
    }
  }
}

/* One round over c->order. */
static sct_status run_round(tune_session *s, check *c, sct_error *err) {
  c->n_left = c->n_pids = 0;
  c->pipe[0] = c->pipe[1] = -1;
  const sct_status status = start_processes(s, c, err);
  if (status == SCT_OK) {
    collect(s, c);
  }
  end_processes(c);
  for (int k = 0; k < 2; k++) {
    if (c->pipe[k] >= 0) {
      close(c->pipe[k]);
    }
  }
  if (c->next) {
    munmap(c->next, sizeof *c->next);
  }
  return status;
}

/* A naive variant that fails takes those it is compared with out of a round; the next usable one of
 * their layouts is their reference in the next. Every further round has lost a naive variant. */
sct_status sct_tune_check(tune_session *s, sct_error *err) {
  check c = {.pipe = {-1, -1}};
  sct_status status = list_items(s, &c, err);
  for (int caught = -1; status == SCT_OK && c.n > 0 && s->n_caught > caught && !sct_tune_stop(s);) {
    caught = s->n_caught;
    status = run_round(s, &c, err);
    c.n = 0;
    for (int k = 0; k < c.n_left; k++) {
      if (sct_tune_naive_item(s, c.left[k]) >= 0) {
        c.order[c.n++] = c.left[k];
      }
    }
  }
  sct_free(c.order);
  sct_free(c.left);
  return status;
}
