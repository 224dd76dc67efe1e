/* Sessions on several devices at once: a process each, whose messages are collected here. What they
 * print comes in the order of specs, then devices, whichever is done first. */
#include "cli/cli.h"
#include "cli/cli_session.h"

#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SCT_MESSAGES "cli/cli_messages.def"
#include "process/process_describe.def"

#define POLL_MS    100                    /* between looks at Ctrl-C */
#define MESSAGE_NS ((int64_t)10000000000) /* of one that has begun */
#define ENDING_NS  ((int64_t)10000000000) /* for a process to end after its last message */

typedef struct member {
  const char *device;
  sct_child child;
  bool stop_noted;
  int spec; /* the current one; -1: none yet */
  cli_progress progress;
  char subject[256];     /* "cuda:1: copy.lua" */
  cli_outcome *outcomes; /* [n_words] those that came, until they are reported; with `texts` */
  bool *came;            /* [n_words] */
  sct_status status;
  int left;
} member;

typedef struct many {
  cli_notify *to;
  const cli_args *args;
  member *members;
  int n;
  int n_reported; /* outcomes passed on or passed over: spec by spec, in each device by device */
  bool said_stopping;
  cli_progress_group group;
  sct_arena arena; /* owns the texts of outcomes */
  sct_wire wire;
} many;

/* ---- starting ---- */

/* Every session gets its share of the cores, the first ones what does not divide. */
static int share_of(int cores, int n, int k) {
  const int share = cores / n + (k < cores % n ? 1 : 0);
  return share > 0 ? share : 1;
}

static sct_status start_session(many *m, int k, sct_error *err) {
  member *it = &m->members[k];
  const sct_child_opts opts = {.role = SCT_SESSION_ARG};
  cli_session wants = {0};
  cli_notify_wants(m->to, &wants);
  const cli_start start = {.argv = (const char *const *)m->args->argv,
                           .n_argv = m->args->argc,
                           .device = it->device,
                           .place = k,
                           .n_places = m->n,
                           .cores = share_of(sct_cores(), m->n, k),
                           .wants_events = wants.wants_events};
  sct_wire_clear(&m->wire);
  sct_wire_put(&m->wire, cli_start_table(), &start);
  SCT_TRY(sct_child_start(&it->child, &opts, err));
  const sct_io io =
      sct_wire_send(it->child.fd, CLI_MESSAGE_START, &m->wire, sct_now_ns() + MESSAGE_NS);
  if (io == SCT_IO_OK) {
    return SCT_OK;
  }
  sct_child_kill(&it->child);
  return sct_fail(err, SCT_EIO, "it ended before it began");
}

/* ---- what came of it ---- */

/* Passes on what came, as far as nothing that stands before it is still to come. */
static sct_status report_in_order(many *m, sct_error *err) {
  for (; m->n_reported < m->args->n_words * m->n; m->n_reported++) {
    const int spec = m->n_reported / m->n;
    member *it = &m->members[m->n_reported % m->n];
    if (it->came[spec]) {
      it->came[spec] = false;
      cli_progress_clear(&it->progress);
      SCT_TRY(cli_notify_outcome(m->to, it->device, &it->outcomes[spec], err));
    } else if (sct_child_alive(&it->child)) {
      break;
    }
  }
  return SCT_OK;
}

/* Has its outcome of the spec come, passed on or not? */
static bool has_come(const many *m, const member *it, int spec) {
  return it->came[spec] || m->n_reported > spec * m->n + (int)(it - m->members);
}

/* For a session that cannot say it itself: the current spec failed. What is reported of it already
 * stays. */
static void blame(many *m, member *it, sct_status status, const char *text) {
  const int spec = it->spec < 0 ? 0 : it->spec;
  cli_outcome *o = &it->outcomes[spec];
  it->status = status;
  if (spec >= m->args->n_words || has_come(m, it, spec)) {
    cli_progress_clear(&it->progress);
    sct_log(SCT_LOG_ERROR, "%s", text);
    return;
  }
  const cli_session s = {.args = m->args, .device = it->device};
  const sct_tune_report none = {0};
  *o = (cli_outcome){.spec = spec,
                     .status = status,
                     .message = sct_arena_strdup(&m->arena, text),
                     .stale = "",
                     .document = cli_session_document(&s, spec, &none, status, text)};
  it->came[spec] = true;
  cli_notify_end_event(m->to, it->device, o);
}

/* The process is gone, or speaks no sense. */
static void lose(many *m, member *it) {
  char how[128], text[512];
  const int wait_status = sct_child_wait(&it->child, 0);
  sct_child_describe_end(how, sizeof how, wait_status);
  snprintf(text, sizeof text, "the session on %s %s; what it measured is stored", it->device, how);
  it->left = m->args->n_words - it->spec - 1;
  blame(m, it, sct_child_out_of_memory(wait_status) ? SCT_ENOMEM : SCT_EINTERNAL, text);
}

/* ---- messages ---- */

static void take_outcome(many *m, member *it, const cli_ended *got) {
  if (got->spec >= m->args->n_words || has_come(m, it, got->spec)) {
    lose(m, it);
    return;
  }
  cli_outcome *o = &it->outcomes[got->spec];
  *o = (cli_outcome){.spec = got->spec,
                     .status = got->status,
                     .message = sct_arena_strdup(&m->arena, got->message),
                     .stale = sct_arena_strdup(&m->arena, got->stale),
                     .document = sct_json_load(got->document)};
  it->came[got->spec] = true;
  cli_notify_end_event(m->to, it->device, o);
}

static void begin_spec(many *m, member *it, int spec) {
  if (spec < m->args->n_words) {
    it->spec = spec;
    snprintf(it->subject, sizeof it->subject, "%s: %s", it->device, m->args->words[spec]);
    cli_progress_start(&it->progress, sct_now_ns(), it->subject);
  }
}

static void take_last(many *m, member *it, const cli_last *got) {
  it->status = got->status;
  it->left = got->left;
  (void)sct_child_wait(&it->child, ENDING_NS);
  if (got->text[0] != '\0') {
    blame(m, it, it->status, got->text);
  }
}

/* false: it is none. */
static bool take_body(many *m, member *it, uint32_t code) {
  union {
    cli_begins begins;
    cli_step step;
    cli_event event;
    cli_ended ended;
    cli_last last;
  } got;
  sct_wire *w = &m->wire;
  if (code == CLI_MESSAGE_BEGINS && sct_wire_get_whole(w, cli_begins_table(), &got.begins)) {
    begin_spec(m, it, got.begins.spec);
  } else if (code == CLI_MESSAGE_PROGRESS && sct_wire_get_whole(w, cli_step_table(), &got.step)) {
    const cli_step *s = &got.step;
    cli_progress_step(&it->progress, sct_now_ns(), s->phase, s->done, s->total, s->item);
  } else if (code == CLI_MESSAGE_EVENT && sct_wire_get_whole(w, cli_event_table(), &got.event)) {
    cli_notify_event(m->to, it->device, got.event.name, sct_json_load(got.event.members));
  } else if (code == CLI_MESSAGE_ENDED && sct_wire_get_whole(w, cli_ended_table(), &got.ended)) {
    take_outcome(m, it, &got.ended);
  } else if (code == CLI_MESSAGE_LAST && sct_wire_get_whole(w, cli_last_table(), &got.last)) {
    take_last(m, it, &got.last);
  } else {
    return false;
  }
  return true;
}

static void take_message(many *m, member *it) {
  uint32_t code = 0;
  if (sct_wire_recv(it->child.fd, &code, &m->wire, sct_now_ns() + MESSAGE_NS) != SCT_IO_OK ||
      !take_body(m, it, code)) {
    lose(m, it);
  }
}

/* ---- the whole ---- */

static void pass_on_interrupt(many *m) {
  for (int k = 0; k < m->n && cli_interrupted(); k++) {
    member *it = &m->members[k];
    if (!m->said_stopping) {
      cli_progress_clear(&it->progress);
      cli_note(m->args, CLI_STOPPING);
      m->said_stopping = true;
    }
    if (!it->stop_noted && sct_child_alive(&it->child)) {
      (void)sct_wire_send(it->child.fd, CLI_MESSAGE_STOP, NULL, sct_now_ns() + MESSAGE_NS);
    }
    it->stop_noted = true;
  }
}

/* Until the last process has ended. */
static sct_status listen_to_all(many *m, struct pollfd *ready, sct_error *err) {
  for (;;) {
    int n_alive = 0;
    SCT_TRY(report_in_order(m, err));
    for (int k = 0; k < m->n; k++) {
      const bool alive = sct_child_alive(&m->members[k].child);
      ready[k] = (struct pollfd){.fd = alive ? m->members[k].child.fd : -1, .events = POLLIN};
      n_alive += alive;
    }
    if (n_alive == 0) {
      return SCT_OK;
    }
    const int n = poll(ready, (nfds_t)m->n, POLL_MS);
    for (int k = 0; k < m->n; k++) {
      cli_progress_tick(&m->members[k].progress, sct_now_ns());
    }
    pass_on_interrupt(m);
    for (int k = 0; n > 0 && k < m->n; k++) {
      if (ready[k].fd >= 0 && ready[k].revents != 0) {
        take_message(m, &m->members[k]);
      }
    }
  }
}

static void set_up(many *m, const char *const *devices) {
  const size_t n_words = (size_t)m->args->n_words;
  m->members = SCT_ARENA_NEW(&m->arena, member, m->n);
  m->group.lines = SCT_ARENA_NEW(&m->arena, char *, m->n);
  m->group.n = m->n;
  for (int k = 0; k < m->n; k++) {
    member *it = &m->members[k];
    *it = (member){.device = devices[k], .child = {.fd = -1}, .spec = -1};
    it->outcomes = SCT_ARENA_NEW(&m->arena, cli_outcome, n_words);
    it->came = SCT_ARENA_NEW(&m->arena, bool, n_words);
    it->progress = cli_progress_new(m->args);
    it->progress.device = it->device;
    it->progress.group = &m->group;
    it->progress.line = k;
  }
}

static sct_status run_all(many *m, const char *const *devices, sct_error *err) {
  set_up(m, devices);
  struct pollfd *ready = SCT_ARENA_NEW(&m->arena, struct pollfd, m->n);
  m->to->n_sessions = m->n;
  for (int k = 0; k < m->n; k++) {
    sct_error why = {0};
    const sct_status status = start_session(m, k, &why);
    if (status != SCT_OK) {
      m->members[k].left = m->args->n_words - 1;
      blame(m, &m->members[k], status, why.text);
    }
  }
  return listen_to_all(m, ready, err);
}

sct_status cli_many_run(cli_notify *to, const cli_args *args, const char *const *devices, int n,
                        int *left, sct_error *err) {
  many m = {.to = to, .args = args, .n = n};
  sct_status first = SCT_OK;
  const sct_status status = run_all(&m, devices, err);
  *left = 0;
  for (int k = 0; m.members && k < n; k++) {
    member *it = &m.members[k];
    cli_progress_clear(&it->progress);
    sct_child_kill(&it->child); /* those that are left where this process fails */
    first = first == SCT_OK || it->status == SCT_EINTERRUPTED ? it->status : first;
    *left += it->left;
    for (int spec = 0; it->came && it->outcomes && spec < args->n_words; spec++) {
      if (it->came[spec]) {
        cli_outcome_free(&it->outcomes[spec]);
      }
    }
  }
  cli_progress_group_free(&m.group);
  sct_wire_free(&m.wire);
  sct_arena_free(&m.arena);
  return status == SCT_OK ? first : status;
}
