/* The process of one of several sessions: does what its parent was asked to do, on one device, and
 * reports everything to it. */
#include "cli/cli_session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STEP_NS ((int64_t)50000000) /* between two messages of the same phase */

typedef struct sender {
  int fd;
  sct_wire wire;
  char phase[24];
  int64_t sent_ns;
  bool stop;
} sender;

/* The parent may be slow to read where its own output is; if it dies, so does this process. */
static void send_message(sender *t, cli_message code, const sct_message *what, const void *from) {
  sct_wire_clear(&t->wire);
  sct_wire_put(&t->wire, what, from);
  if (sct_wire_send(t->fd, code, &t->wire, SCT_NO_DEADLINE) != SCT_IO_OK) {
    _exit(1); /* nobody listens: as if killed */
  }
}

static void on_begins(void *ctx, int spec) {
  sender *t = ctx;
  t->phase[0] = '\0';
  send_message(t, CLI_MESSAGE_BEGINS, cli_begins_table(), &(cli_begins){spec});
}

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  sender *t = ctx;
  const int64_t now = sct_now_ns();
  if (strcmp(t->phase, phase) == 0 && done < total && now - t->sent_ns < STEP_NS) {
    return;
  }
  snprintf(t->phase, sizeof t->phase, "%s", phase);
  t->sent_ns = now;
  send_message(t, CLI_MESSAGE_PROGRESS, cli_step_table(), &(cli_step){phase, done, total, item});
}

/* Takes the document; NULL for none. */
static char *text_of(json_t *doc) {
  sct_str text = {0};
  (void)sct_json_dump(&text, doc, JSON_COMPACT, NULL);
  return text.data;
}

static void on_event(void *ctx, const char *event, json_t *members) {
  char *text = text_of(members);
  send_message(ctx, CLI_MESSAGE_EVENT, cli_event_table(), &(cli_event){event, text});
  sct_free(text);
}

/* Whatever the parent sends means that. */
static bool on_stop(void *ctx) {
  sender *t = ctx;
  struct pollfd ready = {.fd = t->fd, .events = POLLIN};
  t->stop = t->stop || poll(&ready, 1, 0) > 0;
  return t->stop;
}

static sct_status on_ended(void *ctx, cli_outcome *o, sct_error *err) {
  (void)err;
  char *text = text_of(json_incref(o->document));
  const cli_ended ended = {o->spec, o->status, o->message, o->stale, text, sct_str_c(&o->board)};
  send_message(ctx, CLI_MESSAGE_ENDED, cli_ended_table(), &ended);
  sct_free(text);
  cli_outcome_free(o);
  return SCT_OK;
}

/* ---- the process ---- */

void cli_session_child(int fd, void *ctx) {
  const cli_member_start *start = ctx;
  sender t = {.fd = fd};
  const cli_listener to = {.ctx = &t,
                           .begins = on_begins,
                           .progress = on_progress,
                           .event = on_event,
                           .stop = on_stop,
                           .ended = on_ended};
  cli_session s = start->session;
  char cores[24];
  sct_error err = {0};
  int left = 0;
  s.to = &to;
  snprintf(cores, sizeof cores, "%d", start->cores);
  sct_status status = setenv("SECTILE_CORES", cores, 1) == 0
                          ? SCT_OK
                          : sct_fail(&err, SCT_EINTERNAL, "the environment cannot be changed");
  if (status == SCT_OK) {
    sct_log_set_subject(s.device);
    sct_log(SCT_LOG_INFO, "session %d of %d, on %d cores", s.place + 1, s.n_places, sct_cores());
    status = cli_session_run(&s, &left, &err);
  }
  send_message(&t, CLI_MESSAGE_LAST, cli_last_table(), &(cli_last){status, err.text, left});
  sct_wire_free(&t.wire);
}
