/* One session of `tune`: all specs on one device, one after the other. */
#include "cli/cli_session.h"

#include <stdlib.h>
#include <string.h>

void cli_outcome_free(cli_outcome *o) {
  json_decref(o->document);
  o->document = NULL;
}

json_t *cli_session_document(const cli_session *s, int spec, const sct_tune_report *report,
                             sct_status status, const char *message) {
  const bool all = s->args->json || s->wants_events;
  return json_pack("{s:o, s:o, s:s, s:i, s:o, s:o}", "spec", sct_json_string(s->args->words[spec]),
                   "device_id", sct_json_string(s->device), "status", sct_status_text(status),
                   "exit_code", sct_exit_code(status), "message",
                   status == SCT_OK ? json_null() : sct_json_string(message), "report",
                   cli_json_report(report, all ? CLI_ALL_ROWS : s->args->top));
}

/* ---- what sct_tune_run reports ---- */

typedef struct hearing {
  const cli_session *s;
  char phases[160]; /* reported as events, a comma after each: phases alternate */
} hearing;

static void notify_event(const cli_session *s, const char *event, json_t *members) {
  s->to->event(s->to->ctx, event, members);
}

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  hearing *h = ctx;
  h->s->to->progress(h->s->to->ctx, phase, done, total, item);
  char word[32];
  snprintf(word, sizeof word, "%s,", phase);
  const size_t used = strlen(h->phases);
  if (h->s->wants_events && !strstr(h->phases, word)) {
    snprintf(h->phases + used, sizeof h->phases - used, "%s", word);
    notify_event(h->s, "phase",
                 json_pack("{s:s, s:I}", "phase", phase, "steps", (json_int_t)total));
  }
}

static void on_event(void *ctx, const sct_tune_event *event) {
  const hearing *h = ctx;
  const char *name;
  if (h->s->wants_events) {
    json_t *members = cli_events_members(&name, event);
    notify_event(h->s, name, members);
  }
}

static bool on_stop(void *ctx) {
  const hearing *h = ctx;
  return h->s->to->stop(h->s->to->ctx);
}

/* ---- one spec ---- */

static sct_status report_ended(const cli_session *s, int spec, const sct_tune_report *report,
                               sct_status outcome, const sct_error *why, sct_error *err) {
  cli_outcome o = {.spec = spec,
                   .status = outcome,
                   .message = outcome == SCT_OK ? "" : why->text,
                   .stale = report->stale ? report->stale : "",
                   .document = cli_session_document(s, spec, report, outcome, why->text)};
  return s->to->ended(s->to->ctx, &o, err);
}

static bool no_range_here(void) {
  const char *text = getenv("SECTILE_NO_RANGE");
  return text && text[0] != '\0';
}

/* Statuses of the spec go to *outcome; `err` is for failing to report it. */
static sct_status tune_one(const cli_session *s, int spec, sct_status *outcome, sct_error *err) {
  const cli_args *args = s->args;
  hearing h = {.s = s};
  sct_tune_opts opts = {.device = s->device,
                        .store_path = args->store,
                        .strategy_dir = args->strategies,
                        .only = {args->only.n, args->only.items},
                        .share = args->share,
                        .heat = {args->top_of, args->top},
                        .budget_ns = args->budget_ns,
                        .seed = args->seed,
                        .search = args->search,
                        .around = !args->no_range && args->only.n == 0 && !no_range_here(),
                        .settle = cli_settles(args),
                        .max_candidates = args->max_candidates,
                        .select_any = args->select_any,
                        .again = args->again,
                        .no_check = args->no_check,
                        .place = s->place,
                        .n_places = s->n_places,
                        .measure = cli_measure_opts(args)};
  opts.measure.stop = on_stop;
  opts.measure.stop_ctx = &h;
  const sct_tune_events events = {
      .ctx = &h, .progress = on_progress, .stop = on_stop, .happened = on_event};
  SCT_SCOPED(sct_tune_report) report = {0};
  sct_error why = {0};
  s->to->begins(s->to->ctx, spec);
  if (s->wants_events) {
    notify_event(s, "spec",
                 json_pack("{s:o, s:s}", "spec", sct_json_string(args->words[spec]), "version",
                           SCT_VERSION));
  }
  *outcome = cli_hint_example(sct_tune_run(&report, args->words[spec], &opts, &events, &why),
                              args->words[spec], &why);
  return report_ended(s, spec, &report, *outcome, &why, err);
}

/* ---- all of them ---- */

/* The next spec would fail for the same reason. */
static bool ends_all(sct_status outcome) {
  return outcome == SCT_EUSAGE || outcome == SCT_ENODEVICE || outcome == SCT_ENVRTC ||
         outcome == SCT_EUNHEALTHY || outcome == SCT_ENOMEM || outcome == SCT_EDATA ||
         outcome == SCT_EBUSY;
}

sct_status cli_session_run(const cli_session *s, int *left, sct_error *err) {
  sct_status first = SCT_OK, status = SCT_OK;
  bool stopped = false;
  *left = s->args->n_words;
  for (int k = 0; status == SCT_OK && k < s->args->n_words && !stopped; k++) {
    sct_status outcome;
    status = tune_one(s, k, &outcome, err);
    first = first == SCT_OK || outcome == SCT_EINTERRUPTED ? outcome : first;
    *left = s->args->n_words - k - 1;
    if (ends_all(outcome)) {
      break;
    }
    stopped = s->to->stop(s->to->ctx);
  }
  if (status != SCT_OK) {
    return status;
  }
  return stopped && *left > 0 ? SCT_EINTERRUPTED : first;
}
