/* The process of one of several sessions: does what its parent was told to do, on one device, and
 * tells it everything. */
#include "cli/cli.h"
#include "cli/cli_session.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define STEP_NS ((int64_t)50000000) /* between two messages of the same phase */

typedef struct telling {
  sct_wire wire;
  char phase[24];
  int64_t told_ns;
  bool stop;
} telling;

/* The parent may be slow to read where its own output is; if it dies, so does this process. */
static void send_message(telling *t, cli_message code) {
  const sct_io io = sct_wire_send(SCT_CHILD_FD, code, &t->wire, SCT_NO_DEADLINE);
  if (io != SCT_IO_OK) {
    exit(1); /* nobody listens */
  }
}

static void on_begins(void *ctx, int spec) {
  telling *t = ctx;
  t->phase[0] = '\0';
  sct_wire_clear(&t->wire);
  sct_wire_put_i64(&t->wire, spec);
  send_message(t, CLI_MESSAGE_BEGINS);
}

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  telling *t = ctx;
  const int64_t now = sct_now_ns();
  if (strcmp(t->phase, phase) == 0 && done < total && now - t->told_ns < STEP_NS) {
    return;
  }
  snprintf(t->phase, sizeof t->phase, "%s", phase);
  t->told_ns = now;
  sct_wire_clear(&t->wire);
  sct_wire_put_text(&t->wire, phase);
  sct_wire_put_i64(&t->wire, done);
  sct_wire_put_i64(&t->wire, total);
  sct_wire_put_text(&t->wire, item ? item : "");
  send_message(t, CLI_MESSAGE_PROGRESS);
}

static void put_json(sct_wire *w, const json_t *doc) {
  char *text = doc ? json_dumps(doc, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  sct_wire_put_text(w, text ? text : "");
  w->failed |= doc && !text;
  sct_free(text);
}

static void on_event(void *ctx, const char *event, json_t *members) {
  telling *t = ctx;
  sct_wire_clear(&t->wire);
  sct_wire_put_text(&t->wire, event);
  put_json(&t->wire, members);
  json_decref(members);
  send_message(t, CLI_MESSAGE_EVENT);
}

/* Whatever the parent sends means that. */
static bool on_stop(void *ctx) {
  telling *t = ctx;
  struct pollfd ready = {.fd = SCT_CHILD_FD, .events = POLLIN};
  t->stop = t->stop || poll(&ready, 1, 0) > 0;
  return t->stop;
}

static sct_status on_ended(void *ctx, cli_outcome *o, sct_error *err) {
  telling *t = ctx;
  (void)err;
  sct_wire_clear(&t->wire);
  sct_wire_put_i64(&t->wire, o->spec);
  sct_wire_put_i64(&t->wire, (int64_t)o->status);
  sct_wire_put_text(&t->wire, o->message);
  sct_wire_put_text(&t->wire, o->stale);
  put_json(&t->wire, o->document);
  sct_wire_put_text(&t->wire, sct_str_c(&o->board));
  cli_outcome_free(o);
  send_message(t, CLI_MESSAGE_ENDED);
  return SCT_OK;
}

/* ---- the role ---- */

/* The parent's arguments and what it wants; texts live in `start`. */
static sct_status read_start(sct_wire *start, cli_session *s, cli_args *args, sct_arena *arena,
                             sct_error *err) {
  const int64_t argc = sct_wire_get_i64(start);
  char **argv = argc > 0 && argc < CLI_ANY_NUMBER ? SCT_ARENA_NEW(arena, char *, argc + 1) : NULL;
  for (int64_t k = 0; argv && k < argc; k++) {
    argv[k] = sct_arena_strdup(arena, sct_wire_get_text(start)); /* getopt may move them */
  }
  s->device = sct_wire_get_text(start);
  s->place = (int)sct_wire_get_i64(start);
  s->n_places = (int)sct_wire_get_i64(start);
  char cores[24];
  snprintf(cores, sizeof cores, "%lld", (long long)sct_wire_get_i64(start));
  s->wants_events = sct_wire_get_i64(start) != 0;
  s->wants_document = sct_wire_get_i64(start) != 0;
  s->wants_board = sct_wire_get_i64(start) != 0;
  s->colour = sct_wire_get_i64(start) != 0;
  if (start->failed || !argv || setenv("SECTILE_CORES", cores, 1) != 0) {
    return sct_fail(err, SCT_EINTERNAL, "the session's process got no message it understands");
  }
  SCT_TRY(cli_parse(args, (int)argc, argv, err));
  return cli_set_up(args, err);
}

static sct_status run_session(telling *t, int *left, sct_error *err) {
  sct_wire start = {0};
  sct_arena arena = {0};
  cli_args args = {0};
  const cli_listener to = {.ctx = t,
                           .begins = on_begins,
                           .progress = on_progress,
                           .event = on_event,
                           .stop = on_stop,
                           .ended = on_ended};
  cli_session s = {.args = &args, .to = &to};
  uint32_t code = 0;
  sct_status status = sct_wire_recv(SCT_CHILD_FD, &code, &start, SCT_NO_DEADLINE) == SCT_IO_OK
                          ? read_start(&start, &s, &args, &arena, err)
                          : sct_fail(err, SCT_EINTERNAL, "no message came");
  if (status == SCT_OK) {
    sct_log_set_subject(s.device);
    sct_log(SCT_LOG_INFO, "session %d of %d, on %d cores", s.place + 1, s.n_places, sct_cores());
    status = cli_session_run(&s, left, err);
  }
  sct_wire_free(&start);
  sct_arena_free(&arena);
  return status;
}

int sct_cli_session_main(int argc, char **argv) {
  const int refused = sct_process_enter(argc, argv);
  if (refused != 0) {
    return refused;
  }
  cli_prepare();
  telling t = {0};
  sct_error err = {0};
  int left = 0;
  const sct_status status = run_session(&t, &left, &err);
  sct_wire_clear(&t.wire);
  sct_wire_put_i64(&t.wire, (int64_t)status);
  sct_wire_put_text(&t.wire, err.text);
  sct_wire_put_i64(&t.wire, left);
  send_message(&t, CLI_MESSAGE_LAST);
  sct_wire_free(&t.wire);
  return 0;
}
