/* The process of one of several sessions: does what its parent was asked to do, on one device, and
 * reports everything to it. */
#include "cli/cli.h"
#include "cli/cli_session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STEP_NS ((int64_t)50000000) /* between two messages of the same phase */

typedef struct sender {
  sct_wire wire;
  char phase[24];
  int64_t sent_ns;
  bool stop;
} sender;

/* The parent may be slow to read where its own output is; if it dies, so does this process. */
static void send_message(sender *t, cli_message code, const sct_message *what, const void *from) {
  sct_wire_clear(&t->wire);
  sct_wire_put(&t->wire, what, from);
  if (sct_wire_send(SCT_CHILD_FD, code, &t->wire, SCT_NO_DEADLINE) != SCT_IO_OK) {
    _exit(1); /* the parent is gone: ends as if killed */
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
  SCT_OWNED char *text = text_of(members);
  send_message(ctx, CLI_MESSAGE_EVENT, cli_event_table(), &(cli_event){event, text});
}

/* Whatever the parent sends means that. */
static bool on_stop(void *ctx) {
  sender *t = ctx;
  struct pollfd ready = {.fd = SCT_CHILD_FD, .events = POLLIN};
  t->stop = t->stop || poll(&ready, 1, 0) > 0;
  return t->stop;
}

static sct_status on_ended(void *ctx, cli_outcome *o, sct_error *err) {
  (void)err;
  SCT_OWNED char *text = text_of(json_incref(o->document));
  const cli_ended ended = {o->spec, o->status, o->message, o->stale, text};
  send_message(ctx, CLI_MESSAGE_ENDED, cli_ended_table(), &ended);
  cli_outcome_free(o);
  return SCT_OK;
}

/* ---- the role ---- */

/* The parent's arguments and what it wants; texts live in `message`. */
static sct_status read_start(sct_wire *message, cli_session *s, cli_args *args, sct_arena *arena,
                             sct_error *err) {
  cli_start start;
  if (!sct_wire_get_whole(message, cli_start_table(), &start)) {
    return sct_fail(err, SCT_EINTERNAL, "the session's process got no message it understands");
  }
  char **argv = SCT_ARENA_NEW(arena, char *, start.n_argv + 1);
  for (int64_t k = 0; k < start.n_argv; k++) {
    argv[k] = sct_arena_strdup(arena, start.argv[k]); /* getopt may move them */
  }
  s->device = start.device;
  s->place = start.place;
  s->n_places = start.n_places;
  s->wants_events = start.wants_events;
  char cores[24];
  snprintf(cores, sizeof cores, "%d", start.cores);
  if (setenv("SECTILE_CORES", cores, 1) != 0) {
    return sct_fail(err, SCT_EINTERNAL, "the environment cannot be changed");
  }
  SCT_TRY(cli_parse(args, (int)start.n_argv, argv, err));
  return cli_set_up(args, err);
}

static sct_status run_session(sender *t, int *left, sct_error *err) {
  SCT_SCOPED(sct_wire) start = {0};
  SCT_SCOPED(sct_arena) arena = {0};
  cli_args args = {0};
  const cli_listener to = {.ctx = t,
                           .begins = on_begins,
                           .progress = on_progress,
                           .event = on_event,
                           .stop = on_stop,
                           .ended = on_ended};
  cli_session s = {.args = &args, .to = &to};
  uint32_t code = 0;
  SCT_TRY(sct_wire_recv(SCT_CHILD_FD, &code, &start, SCT_NO_DEADLINE) == SCT_IO_OK
              ? read_start(&start, &s, &args, &arena, err)
              : sct_fail(err, SCT_EINTERNAL, "no message came"));
  sct_log_set_subject(s.device);
  sct_log(SCT_LOG_INFO, "session %d of %d, on %d cores", s.place + 1, s.n_places, sct_cores());
  return cli_session_run(&s, left, err);
}

int sct_cli_session_main(int argc, char **argv) {
  const int refused = sct_process_enter(argc, argv);
  if (refused != 0) {
    return refused;
  }
  cli_prepare();
  sender t = {0};
  sct_error err = {0};
  int left = 0;
  const sct_status status = run_session(&t, &left, &err);
  send_message(&t, CLI_MESSAGE_LAST, cli_last_table(), &(cli_last){status, err.text, left});
  sct_wire_free(&t.wire);
  return 0;
}
