/* What `tune` reports of its sessions, one or several: events, leaderboards, documents. */
#include "cli/cli_session.h"

#include <string.h>

sct_status cli_notify_open(cli_notify *t, const cli_args *args, sct_error *err) {
  *t = (cli_notify){.args = args, .n_sessions = 1};
  if (args->events) {
    SCT_TRY(
        cli_check_target(args, args->events, (const char *const *)args->words, args->n_words, err));
  }
  SCT_TRY(cli_events_open(&t->events, args->events, err));
  t->documents = json_array();
  return SCT_OK;
}

void cli_notify_close(cli_notify *t) {
  cli_events_close(&t->events);
  json_decref(t->documents);
  t->documents = NULL;
  sct_str_free(&t->said);
}

/* Events, in place of all else there. */
static bool streams_to_stdout(const cli_notify *t) {
  return t->args->events && strcmp(t->args->events, "-") == 0;
}

void cli_notify_wants(const cli_notify *t, cli_session *s) {
  s->wants_events = t->events.fd >= 0;
}

void cli_notify_event(cli_notify *t, const char *device, const char *event, json_t *members) {
  if (members) {
    json_object_set_new(members, "device_id", sct_json_string(device));
  }
  cli_events_write(&t->events, event, members);
}

/* ---- what came of a spec ---- */

void cli_notify_end_event(cli_notify *t, const char *device, const cli_outcome *o) {
  if (t->events.fd >= 0) {
    cli_notify_event(t, device, "end", json_deep_copy(o->document));
  }
}

sct_status cli_leaderboard(sct_str *out, const json_t *report, int top, json_t *given,
                           sct_error *err) {
  SCT_OWNED_PTR(json_t) look = given;
  json_object_set_new(look, "top", json_integer(top));
  json_object_set_new(look, "patience", json_integer(SCT_SEARCH_PATIENCE));
  json_object_set_new(look, "gain", json_real(SCT_SEARCH_GAIN));
  return sct_script_page(out, "sectile.show_tune", "board", report, look, err);
}

static sct_status show(cli_notify *t, const cli_outcome *o, sct_error *err) {
  const json_t *report = json_object_get(o->document, "report");
  if (t->args->json) {
    json_array_append(t->documents, o->document);
    return SCT_OK;
  }
  if (!json_is_object(report)) {
    return SCT_OK;
  }
  sct_str text = {0};
  sct_str_append(&text, t->n_boards++ > 0 ? "\n" : "");
  const sct_status status =
      cli_leaderboard(&text, report, t->args->top, cli_output_style(t->args), err);
  if (status != SCT_OK) {
    sct_str_free(&text);
    return status;
  }
  return cli_print(&text, err);
}

/* An error in the spec itself is reported once, not once a device. */
static void report(cli_notify *t, const char *device, const cli_outcome *o) {
  sct_error why = {0};
  const bool placed = cli_starts_with_place(o->message);
  if (placed && strcmp(sct_str_c(&t->said), o->message) == 0) {
    return;
  }
  if (placed) {
    sct_str_clear(&t->said);
    sct_str_append(&t->said, o->message);
  }
  (void)sct_fail(&why, o->status, "%s", o->message);
  cli_report_of(device, &why);
}

sct_status cli_notify_outcome(cli_notify *t, const char *device, cli_outcome *o, sct_error *err) {
  const bool several = t->n_sessions > 1;
  const sct_status status = streams_to_stdout(t) ? SCT_OK : show(t, o, err);
  if (o->stale[0] != '\0') {
    cli_note(t->args, "%s%s%s", several ? device : "", several ? ": " : "", o->stale);
  }
  if (o->status != SCT_OK) {
    report(t, several ? device : NULL, o);
  }
  cli_outcome_free(o);
  return status;
}

sct_status cli_notify_end(cli_notify *t, sct_status *outcome, sct_error *err) {
  if (*outcome == SCT_OK && t->events.lost != 0) {
    sct_error why = {0};
    *outcome = sct_fail(&why, SCT_EIO, "the events are not complete: %s", strerror(t->events.lost));
    cli_report(&why);
  }
  if (!t->args->json || streams_to_stdout(t)) {
    return SCT_OK;
  }
  return cli_json_print(json_pack("{s:s, s:i, s:O}", "version", SCT_VERSION, "exit_code",
                                  sct_exit_code(*outcome), "tuned", t->documents),
                        err);
}
