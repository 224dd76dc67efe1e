/* The command `tune`: one session a spec, with progress, leaderboards, and an end by Ctrl-C that
 * keeps what was measured. */
#include "cli/cli_internal.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Ctrl-C ---- */

static atomic_bool interrupted;

/* A thread takes the signals, because NVRTC puts handlers of its own in place while it compiles,
 * and they end the program: a blocked signal reaches no handler. The first asks the session to end,
 * the second ends the program. */
static void *watch_signals(void *set) {
  int number = 0;
  sigwait(set, &number);
  atomic_store(&interrupted, true);
  sigwait(set, &number);
  signal(number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, set, NULL);
  raise(number);
  return NULL;
}

/* Before there is any other thread: they inherit what is blocked. */
static void catch_interrupts(void) {
  static sigset_t set;
  pthread_t thread;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (sct_thread_create(&thread, NULL, watch_signals, &set) == 0) {
    pthread_detach(thread);
  } else { /* then the first signal ends the program */
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  }
}

/* ---- events of a session ---- */

typedef struct job {
  const cli_args *args;
  char device[32];
  sct_measure_opts measure;
  bool said_stopping;
  cli_progress progress;
  cli_events events;
  json_t *documents; /* with --json: one a spec */
} job;

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  job *j = ctx;
  cli_progress_step(&j->progress, sct_now_ns(), phase, done, total, item);
  cli_events_progress(&j->events, phase, total);
}

static void on_event(void *ctx, const sct_tune_event *event) {
  job *j = ctx;
  cli_events_happened(&j->events, event);
}

/* Does the stream of events take the place of what else goes to standard output? */
static bool streams_to_stdout(const job *j) {
  return j->args->events && strcmp(j->args->events, "-") == 0;
}

static bool on_stop(void *ctx) {
  job *j = ctx;
  if (interrupted && !j->said_stopping) {
    cli_progress_clear(&j->progress);
    cli_note(j->args, "stopping after this step; press Ctrl-C again to end at once");
    j->said_stopping = true;
  }
  return interrupted != 0;
}

/* ---- the device ---- */

/* Looked for once, not once a spec: --device, else the first GPU, else a virtual one. */
static void choose_device(job *j) {
  if (j->args->device) {
    snprintf(j->device, sizeof j->device, "%s", j->args->device);
    return;
  }
  sct_device_desc *gpus = NULL;
  int n = 0;
  sct_error why = {0};
  const sct_measure_opts opts = cli_measure_opts(j->args);
  const sct_status status = sct_measure_list(&gpus, &n, &opts, &why);
  if (status == SCT_OK && n > 0) {
    snprintf(j->device, sizeof j->device, "%s", gpus[0].id);
  } else {
    snprintf(j->device, sizeof j->device, "virtual:%s", CLI_VIRTUAL);
    cli_note(j->args, "no GPU here: %s; using %s: %s", why.text[0] ? why.text : "none is visible",
             j->device, cli_device_says(j->device));
  }
  sct_free(gpus);
}

/* ---- one spec ---- */

static json_t *spec_document(const char *path, const sct_tune_report *report, sct_status status,
                             const sct_error *err) {
  return json_pack("{s:o, s:s, s:i, s:o, s:o}", "spec", cli_json_text(path), "status",
                   sct_status_text(status), "exit_code", sct_exit_code(status), "message",
                   status == SCT_OK ? json_null() : cli_json_text(err->text), "report",
                   cli_json_report(report));
}

static sct_status show(job *j, const char *path, const sct_tune_report *report, sct_status status,
                       const sct_error *session_err, sct_error *err) {
  if (j->args->json) {
    json_t *doc = spec_document(path, report, status, session_err);
    return json_array_append_new(j->documents, doc) == 0
               ? SCT_OK
               : sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  if (!report->name) {
    return SCT_OK;
  }
  sct_str text = {0};
  cli_board(&text, report, j->args->top, cli_wants_colour(stdout));
  return cli_print(&text, err);
}

/* Statuses of a session are reported here; `err` is for failing to show it. */
static sct_status tune_one(job *j, const char *path, sct_status *outcome, sct_error *err) {
  const cli_args *args = j->args;
  const sct_tune_opts opts = {.device = j->device,
                              .store_path = args->store,
                              .strategy_dir = args->strategies,
                              .budget_ns = args->budget_ns,
                              .seed = args->seed,
                              .search = args->search,
                              .max_candidates = args->max_candidates,
                              .select_any = args->select_any,
                              .again = args->again,
                              .no_check = args->no_check,
                              .measure = j->measure};
  const sct_tune_events events = {
      .ctx = j, .progress = on_progress, .stop = on_stop, .happened = on_event};
  sct_tune_report report = {0};
  sct_error session_err = {0};
  cli_progress_start(&j->progress, sct_now_ns(), path);
  cli_events_write(&j->events, "spec",
                   json_pack("{s:o, s:s}", "spec", cli_json_text(path), "version", SCT_VERSION));
  *outcome = cli_hint_example(sct_tune_run(&report, path, &opts, &events, &session_err), path,
                              &session_err);
  cli_progress_clear(&j->progress);
  cli_events_write(&j->events, "end", spec_document(path, &report, *outcome, &session_err));
  j->events.phase[0] = '\0';
  const sct_status status =
      streams_to_stdout(j) ? SCT_OK : show(j, path, &report, *outcome, &session_err, err);
  if (report.stale) {
    cli_note(args, "%s", report.stale);
  }
  if (*outcome != SCT_OK) {
    cli_report(&session_err);
  }
  sct_tune_report_free(&report);
  return status;
}

/* The next spec would fail for the same reason. */
static bool ends_all(sct_status outcome) {
  return outcome == SCT_EUSAGE || outcome == SCT_ENODEVICE || outcome == SCT_ENVRTC ||
         outcome == SCT_EUNHEALTHY || outcome == SCT_ENOMEM || outcome == SCT_EDATA ||
         outcome == SCT_EBUSY;
}

sct_status cli_tune(const cli_args *args, sct_error *err) {
  job j = {.args = args, .progress = {.out = stderr, .quiet = args->verbosity < 0}};
  j.progress.terminal = isatty(STDERR_FILENO) != 0;
  j.progress.width = cli_terminal_width(stderr);
  j.documents = json_array();
  sct_status first = SCT_OK, status = SCT_OK;
  int left = args->n_words;
  status = cli_events_open(&j.events, args->events, err);
  if (status != SCT_OK) {
    json_decref(j.documents);
    return status;
  }
  catch_interrupts();
  j.measure = cli_measure_opts(args);
  j.measure.stop = on_stop;
  j.measure.stop_ctx = &j;
  choose_device(&j);
  for (int k = 0; status == SCT_OK && k < args->n_words && !interrupted; k++) {
    sct_status outcome;
    if (k > 0 && !args->json && !streams_to_stdout(&j)) {
      fputs("\n", stdout);
    }
    status = tune_one(&j, args->words[k], &outcome, err);
    first = first == SCT_OK || outcome == SCT_EINTERRUPTED ? outcome : first;
    left = args->n_words - k - 1;
    if (ends_all(outcome)) {
      break;
    }
  }
  if (interrupted && left > 0) {
    cli_note(args, "interrupted: %d more %s not tuned", left,
             left == 1 ? "spec was" : "specs were");
    first = SCT_EINTERRUPTED;
  }
  cli_events_close(&j.events);
  if (status == SCT_OK && args->json && !streams_to_stdout(&j)) {
    status = cli_json_print(json_pack("{s:s, s:i, s:O}", "version", SCT_VERSION, "exit_code",
                                      sct_exit_code(first), "tuned", j.documents),
                            err);
  }
  json_decref(j.documents);
  return status == SCT_OK ? first : status;
}
