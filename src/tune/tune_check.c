/* Before a GPU runs a candidate, its PTX runs on the CPU at the smaller sizes of verification, with
 * every access checked: races, uninitialised values and reads outside of arrays, which a GPU may
 * not show, are found here, and what fails here is never sent to the GPU.
 *
 * Verification builds expressions in the spec's pool, so it cannot be shared between threads:
 * forked processes do it, each with a worker of its own. They know every candidate's kernel from
 * the time they were forked; the code that has been compiled since comes with the items. What a
 * process could not evaluate (it died, the interpreter does not know the PTX) is left to the GPU.
 */
#include "tune/tune_internal.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define SCT_MESSAGES "tune/tune_messages.def"
#include "process/process_describe.def"

#define ITEMS_A_PROCESS 4 /* fewer are not worth a further process; handed out at once */
#define MESSAGE_NS      ((int64_t)10000000000) /* of one that has begun */
#define DYING_NS        ((int64_t)2000000000)
#define CHECK_NICE      5 /* after what times and what steers */
typedef struct process {
  sct_child child;
  int pending[TUNE_CHECK_TOGETHER], n_pending; /* items it has not answered for */
  int naive;                                   /* what they are compared with */
} process;

struct tune_check {
  const tune_table *table;
  tune_queue *queue; /* where items wait for their verdicts */
  process processes[TUNE_CHECK_PROCESSES];
  int n_processes, most;
  bool useless; /* no process can be started: the GPU decides */
  int *waiting; /* items that wait, in their order */
  int n_waiting, n_added, n_done;
  sct_wire wire;
};

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

static sct_status open_described(sct_measure **out, const sct_tune_opts *session,
                                 const sct_device_desc *described, sct_error *err) {
  sct_measure_opts opts = session->measure;
  opts.seed = session->seed;
  opts.fake = NULL;
  opts.described = described;
  return sct_measure_open(out, 0, &opts, err);
}

/* What a process holds of what it was sent. */
typedef struct bench {
  sct_measure *measure;
  int naive; /* -1: none yet */
  char *naive_ptx, *naive_entry;
  bool has_problem;
  sct_verdict verdict; /* the last one */
} bench;

static void evaluate(const sct_tune_candidates *cands, bench *b, const char *ptx, const char *entry,
                     tune_evaluation *m) {
  const sct_binary naive = {
      .code = &cands->items[b->naive].code, .ptx = b->naive_ptx, .entry = b->naive_entry};
  const sct_binary other = {.code = &cands->items[m->item].code, .ptx = ptx, .entry = entry};
  sct_status status = SCT_OK;
  b->verdict = (sct_verdict){.outcome = SCT_OUT_OK};
  if (!b->has_problem) {
    status = sct_measure_problem(b->measure, &cands->spec, cands->items[m->item].code.layout,
                                 &naive, NULL);
    b->has_problem = status == SCT_OK;
  }
  if (status == SCT_OK) {
    status =
        sct_measure_verify(b->measure, m->item == b->naive ? &naive : &other, &b->verdict, NULL);
  }
  m->evaluated = status == SCT_OK;
  m->no_reference = status == SCT_ENOTVERIFIED;
  m->outcome = b->verdict.outcome;
  m->detail = b->verdict.detail;
  m->warning = b->verdict.warning;
  if (m->evaluated) {
    m->run = sct_tune_ptx_check_of(&cands->spec, &b->verdict);
  }
}

static void take_naive(bench *b, const tune_ask_items *ask) {
  if (ask->naive != b->naive) {
    b->has_problem = false; /* it borrows what is replaced here */
    b->naive = ask->naive;
    sct_free(b->naive_ptx);
    sct_free(b->naive_entry);
    b->naive_ptx = sct_strdup(ask->naive_ptx);
    b->naive_entry = sct_strdup(ask->naive_entry);
  }
}

/* What is known of an item's code without running it. */
static void look_at_code(tune_session *s, const tune_ask_items *of, const tune_ask_item *ask,
                         tune_evaluation *m, sct_arena *arena) {
  const sct_compiled compiled = {.ok = true,
                                 .entry = (char *)(uintptr_t)ask->entry, /* only read */
                                 .ptx = of->ptx,
                                 .cubin = of->cubin,
                                 .cubin_bytes = (size_t)of->n_cubin};
  if (ask->n_due == s->cands.spec.n_sizes) {
    m->counts = sct_tune_counts_of(&s->counting, ask->item, &compiled, ask->due, arena);
    m->n_counts = s->cands.spec.n_sizes;
  }
  if (ask->wants_comparison) {
    m->comparison = sct_tune_comparison_of(&s->counting.parsed, &compiled, arena);
  }
}

/* One message of the parent. false: it is gone, or speaks no sense. */
static bool serve(tune_session *s, int fd, bench *b, sct_wire *in, sct_wire *out) {
  uint32_t code = 0;
  tune_ask_items ask;
  sct_tune_parsed_free(&s->counting.parsed); /* it borrows the text of the last message */
  if (sct_wire_recv(fd, &code, in, SCT_NO_DEADLINE) != SCT_IO_OK ||
      !sct_wire_get_whole(in, tune_ask_items_table(), &ask) || ask.naive >= s->cands.n_items) {
    return false;
  }
  take_naive(b, &ask);
  bool good = true;
  for (int64_t k = 0; k < ask.n_items && good; k++) {
    const tune_ask_item *item = &ask.items[k];
    SCT_SCOPED(sct_arena) arena = {0};
    tune_evaluation m = {.item = item->item};
    if (m.item >= s->cands.n_items) {
      return false;
    }
    evaluate(&s->cands, b, ask.ptx, item->entry, &m);
    look_at_code(s, &ask, item, &m, &arena);
    sct_wire_clear(out);
    sct_wire_put(out, tune_evaluation_table(), &m);
    good = sct_wire_send(fd, SCT_OK, out, SCT_NO_DEADLINE) == SCT_IO_OK;
  }
  return good;
}

static void run_process(int fd, void *ctx) {
  tune_session *s = ctx;
  bench b = {.naive = -1};
  SCT_SCOPED(sct_wire) in = {0}, out = {0};
  sct_device_desc described = s->device.desc;
  sct_error err = {0};
  (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + CHECK_NICE);
  described.is_virtual = true;
  if (open_described(&b.measure, s->opts, &described, &err) == SCT_OK) {
    while (serve(s, fd, &b, &in, &out)) {
    }
  } else {
    sct_log(SCT_LOG_WARN, "a process of the check could not start: %s", err.text);
  }
  sct_measure_close(b.measure);
  sct_free(b.naive_ptx);
  sct_free(b.naive_entry);
  sct_tune_counting_free(&s->counting);
}

/* ---- the parent: processes ---- */

static bool start_process(tune_session *s, tune_check *c) {
  process *p = &c->processes[c->n_processes];
  *p = (process){0};
  const bool started = sct_child_fork(&p->child, "check", run_process, s, NULL) == SCT_OK;
  c->n_processes += started;
  return started;
}

static void leave_to_gpu(tune_check *c, int item) {
  sct_tune_set_ready(c->queue, item);
  c->n_done++;
}

static void lose_process(tune_check *c, int index) {
  process *p = &c->processes[index];
  (void)sct_child_wait(&p->child, 0);
  for (int k = 0; k < p->n_pending; k++) {
    leave_to_gpu(c, p->pending[k]);
  }
  *p = c->processes[--c->n_processes];
}

/* ---- the parent: handing out ---- */

static void remove_waiting(tune_check *c, int at) {
  c->n_waiting--;
  memmove(c->waiting + at, c->waiting + at + 1, sizeof *c->waiting * (size_t)(c->n_waiting - at));
}

/* How many items a process gets. Few at first, so that all processes have something to do. */
static int at_once(const tune_check *c) {
  return c->n_added > TUNE_CHECK_TOGETHER * c->most ? TUNE_CHECK_TOGETHER : ITEMS_A_PROCESS;
}

/* Takes some waiting items that have one text and one naive variant,
 * which is compiled; an item without any naive variant left is the GPU's. Returns that variant, or
 * -1. */
static int take_batch(tune_check *c, int *items, int *n) {
  const sct_tune_candidates *cands = c->table->cands;
  const int most = at_once(c);
  int naive = -1;
  *n = 0;
  for (int at = 0; at < c->n_waiting && *n < most;) {
    const int k = c->waiting[at], its = sct_tune_naive_item(cands, k);
    const char *ptx = cands->items[k].compiled.ptx;
    if (its < 0) {
      leave_to_gpu(c, k);
      remove_waiting(c, at);
    } else if (cands->items[its].compiled.ok &&
               (*n == 0 || (its == naive && ptx == cands->items[items[0]].compiled.ptx))) {
      naive = its;
      items[(*n)++] = k;
      remove_waiting(c, at);
    } else {
      at++;
    }
  }
  return naive;
}

static bool send_batch(tune_check *c, process *p, int naive, const int *items, int n) {
  const sct_tune_item *all = c->table->cands->items;
  const sct_compiled *of = &all[items[0]].compiled; /* and of the others */
  const sct_compiled *reference = &all[naive].compiled;
  const int n_sizes = c->table->cands->spec.n_sizes;
  tune_ask_item list[TUNE_CHECK_TOGETHER];
  SCT_OWNED uint8_t *due = sct_alloc((size_t)n * (size_t)n_sizes);
  for (int k = 0; k < n; k++) {
    uint8_t *const at = due + (size_t)k * (size_t)n_sizes;
    p->pending[k] = items[k];
    for (int z = 0; z < n_sizes; z++) {
      at[z] = sct_tune_is_due(c->table, items[k], z);
    }
    list[k] = (tune_ask_item){.item = items[k],
                              .entry = all[items[k]].compiled.entry,
                              .wants_comparison = !all[items[k]].compared,
                              .due = at,
                              .n_due = n_sizes};
  }
  p->n_pending = n;
  p->naive = naive;
  const tune_ask_items ask = {.naive = naive,
                              .naive_entry = reference->entry,
                              .naive_ptx = reference->ptx,
                              .ptx = of->ptx,
                              .items = list,
                              .n_items = n,
                              .cubin = of->cubin,
                              .n_cubin = (int64_t)of->cubin_bytes};
  sct_wire_clear(&c->wire);
  sct_wire_put(&c->wire, tune_ask_items_table(), &ask);
  return sct_wire_send(p->child.fd, 0, &c->wire, sct_now_ns() + MESSAGE_NS) == SCT_IO_OK;
}

static process *idle_process(tune_session *s) {
  tune_check *c = s->check;
  for (int k = 0; k < c->n_processes; k++) {
    if (c->processes[k].n_pending == 0) {
      return &c->processes[k];
    }
  }
  const int wanted = (c->n_added + ITEMS_A_PROCESS - 1) / ITEMS_A_PROCESS;
  if (c->n_processes < c->most && c->n_processes < wanted && !c->useless) {
    c->useless = !start_process(s, c) && c->n_processes == 0;
    return c->n_processes > 0 ? idle_process(s) : NULL;
  }
  return NULL;
}

static void hand_out(tune_session *s) {
  tune_check *c = s->check;
  while (c->n_waiting > 0) {
    int items[TUNE_CHECK_TOGETHER], n = 0;
    process *p = idle_process(s);
    if (!p) {
      break;
    }
    const int naive = take_batch(c, items, &n);
    if (n == 0) {
      break; /* those that are left wait for their naive variant */
    }
    if (!send_batch(c, p, naive, items, n)) {
      lose_process(c, (int)(p - c->processes));
    }
  }
  while (c->useless && c->n_waiting > 0) {
    leave_to_gpu(c, c->waiting[--c->n_waiting]);
  }
}

/* ---- the parent: verdicts ---- */

/* Evaluated against a naive variant that failed: another one, if there is any, stands in for it. */
static void try_another(tune_check *c, int item, int naive) {
  const int next = sct_tune_naive_item(c->table->cands, item);
  if (next >= 0 && next != naive) {
    c->waiting[c->n_waiting++] = item;
  } else {
    leave_to_gpu(c, item);
  }
}

static sct_status take_evaluation(tune_session *s, const tune_evaluation *m, int naive,
                                  sct_error *err) {
  tune_check *c = s->check;
  sct_tune_item *item = &s->cands.items[m->item];
  if (m->no_reference) {
    try_another(c, m->item, naive);
    return SCT_OK;
  }
  sct_tune_set_ready(s->queue, m->item);
  sct_tune_progress(&s->flow, "check", ++c->n_done, sct_tune_n_units(s->queue), item->label);
  if (!m->evaluated || (m->outcome != SCT_OUT_OK && !is_failure(m->outcome))) {
    return SCT_OK; /* the GPU decides */
  }
  s->flow.n_checked++;
  if (m->outcome != SCT_OUT_OK) {
    sct_tune_fail_item(&s->cands, m->item, m->outcome, m->detail);
    s->flow.n_caught++;
    sct_log(SCT_LOG_INFO, "%s failed the check: %s", item->label, item->detail);
    return sct_tune_record_verdict(s, m->item, err);
  }
  sct_tune_warn_item(&s->cands, m->item, m->warning);
  return sct_tune_apply_ptx_check(&s->counting, m->item, &m->run, err);
}

/* One message of a process. *lost: it is no more. */
static sct_status receive(tune_session *s, process *p, bool *lost, sct_error *err) {
  uint32_t code = 0;
  sct_wire *in = &s->check->wire;
  tune_evaluation m;
  *lost = true;
  if (sct_wire_recv(p->child.fd, &code, in, sct_now_ns() + MESSAGE_NS) != SCT_IO_OK ||
      !sct_wire_get_whole(in, tune_evaluation_table(), &m) || p->n_pending == 0 ||
      m.item != p->pending[0]) {
    return SCT_OK;
  }
  memmove(p->pending, p->pending + 1, sizeof p->pending[0] * (size_t)--p->n_pending);
  *lost = false;
  SCT_TRY(sct_tune_apply_counts(&s->counting, m.item, m.counts, m.n_counts, err));
  if (m.comparison) {
    sct_tune_apply_comparison(&s->cands, m.item, m.comparison);
  }
  return take_evaluation(s, &m, p->naive, err);
}

/* ---- the service ---- */

void sct_tune_check_add(tune_session *s, int item) {
  if (!s->check) {
    s->check = sct_alloc(sizeof *s->check);
    s->check->table = &s->table;
    s->check->queue = s->queue;
    s->check->waiting = sct_alloc(sizeof *s->check->waiting * (size_t)(s->cands.n_items + 1));
    s->check->most = sct_cores() < TUNE_CHECK_PROCESSES ? sct_cores() : TUNE_CHECK_PROCESSES;
  }
  s->check->waiting[s->check->n_waiting++] = item;
  s->check->n_added++;
}

int sct_tune_check_begin(tune_session *s, struct pollfd *ready) {
  tune_check *c = s->check;
  if (!c || c->n_done == c->n_added) {
    return 0;
  }
  hand_out(s);
  for (int k = 0; k < c->n_processes; k++) { /* one that waits too: it may have died */
    ready[k] = (struct pollfd){.fd = c->processes[k].child.fd, .events = POLLIN};
  }
  return c->n_processes;
}

/* All at once; one that waits for items ends by itself. */
static void let_go(tune_check *c) {
  for (int k = 0; k < c->n_processes; k++) {
    process *p = &c->processes[k];
    (void)(p->n_pending > 0 ? kill(p->child.pid, SIGKILL) : shutdown(p->child.fd, SHUT_RDWR));
  }
}

sct_status sct_tune_check_take(tune_session *s, const struct pollfd *ready, int n, sct_error *err) {
  tune_check *c = s->check;
  for (int k = n - 1; k >= 0; k--) { /* backwards: one that is lost is replaced by the last */
    bool lost = false;
    if (ready[k].revents != 0) {
      SCT_TRY(receive(s, &c->processes[k], &lost, err));
    }
    if (lost) {
      lose_process(c, k);
    }
  }
  if (c) {
    hand_out(s);
  }
  if (n > 0 && c->n_done == c->n_added && !s->searching && sct_tune_all_compiled(s->queue)) {
    let_go(c); /* nothing comes after this, and they take a while to leave their memory */
  }
  return SCT_OK;
}

void sct_tune_check_end(tune_check *c) {
  if (!c) {
    return;
  }
  let_go(c);
  for (int k = 0; k < c->n_processes; k++) {
    process *p = &c->processes[k];
    (void)sct_child_wait(&p->child, p->n_pending > 0 ? 0 : DYING_NS);
  }
  sct_wire_free(&c->wire);
  sct_free(c->waiting);
  sct_free(c);
}
