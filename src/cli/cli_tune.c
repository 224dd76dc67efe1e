/* The command `tune`: on which devices, one session here or several in processes of their own, and
 * an end by Ctrl-C that keeps what was measured. */
#include "cli/cli_session.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

bool cli_interrupted(void) {
  return atomic_load(&interrupted);
}

/* Before there is any other thread: they inherit what is blocked. */
static void catch_interrupts(void) {
  static sigset_t set;
  pthread_t thread;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hang_up;
  if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) {
    sigaddset(&set, SIGHUP); /* the terminal is gone; under nohup that is nothing */
  }
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (sct_thread_create(&thread, NULL, watch_signals, &set) == 0) {
    pthread_detach(thread);
  } else { /* then the first signal ends the program */
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  }
}

/* ---- which devices ---- */

#define MAX_DEVICES 64

typedef struct device_ids {
  sct_arena arena;
  int n;
  const char *ids[MAX_DEVICES];
} device_ids;

static sct_status add_id(device_ids *d, const char *id, size_t len, sct_error *err) {
  char *copy = sct_arena_printf(&d->arena, "%.*s", (int)len, id);
  const sct_device_kind *kind;
  const char *name;
  if (len == 0) {
    return sct_fail(err, SCT_EUSAGE,
                    "--device: expected ids with commas between them, as in cuda:0,cuda:1");
  }
  SCT_TRY(sct_device_parse(&kind, &name, copy, err));
  for (int k = 0; k < d->n; k++) {
    if (strcmp(d->ids[k], copy) == 0) {
      return sct_fail(err, SCT_EUSAGE, "--device: '%s' is given twice", copy);
    }
  }
  if (d->n == MAX_DEVICES) {
    return sct_fail(err, SCT_EUSAGE, "--device: more than %d devices", MAX_DEVICES);
  }
  d->ids[d->n++] = copy;
  return SCT_OK;
}

static sct_status add_list(device_ids *d, const char *list, sct_error *err) {
  for (const char *at = list;; at++) {
    const size_t len = strcspn(at, ",");
    SCT_TRY(add_id(d, at, len, err));
    at += len;
    if (*at == '\0') {
      return SCT_OK;
    }
  }
}

/* Every GPU that the driver shows; *why where there is none. */
static sct_status add_gpus(device_ids *d, const cli_args *args, int most, sct_error *why) {
  SCT_OWNED sct_device_desc *gpus = NULL;
  int n = 0;
  const sct_measure_opts opts = cli_measure_opts(args);
  SCT_TRY(sct_measure_list(&gpus, &n, &opts, why));
  for (int k = 0; k < n && k < most; k++) {
    SCT_TRY(add_id(d, gpus[k].id, strlen(gpus[k].id), why));
  }
  return SCT_OK;
}

#define A_DAY_S (24 * 60 * 60)

/* Is it a day since this was asked on this machine? A file in the cache says so; without a cache it
 * always is. */
static bool first_today(void) {
  SCT_SCOPED(sct_str) path = {0};
  char host[65] = "", now[32]; /* a file with the bytes that it has keeps its time */
  struct stat st;
  (void)gethostname(host, sizeof host - 1);
  sct_path_cache(&path);
  if (path.len == 0) {
    return true;
  }
  (void)sct_dir_make(sct_str_c(&path), NULL);
  sct_str_printf(&path, "/no_gpu.%s", host);
  if (stat(sct_str_c(&path), &st) == 0 && time(NULL) - st.st_mtime < A_DAY_S) {
    return false;
  }
  snprintf(now, sizeof now, "%lld\n", (long long)time(NULL));
  (void)sct_file_write(sct_str_c(&path), now, strlen(now), NULL);
  return true;
}

/* Looked for once, not once a spec: --device, else the first GPU, else a virtual one. */
static sct_status choose_devices(device_ids *d, const cli_args *args, sct_error *err) {
  sct_error why = {0};
  if (args->device && strcmp(args->device, "all") == 0) {
    (void)add_gpus(d, args, MAX_DEVICES, &why);
    return d->n > 0 ? SCT_OK
                    : sct_fail(err, SCT_ENODEVICE, "--device all: no GPU here: %s",
                               why.text[0] ? why.text : "none is visible");
  }
  if (args->device) {
    return add_list(d, args->device, err);
  }
  (void)add_gpus(d, args, 1, &why);
  if (d->n == 0) {
    SCT_TRY(add_list(d, "virtual:" CLI_VIRTUAL, err));
    if (first_today()) { /* the leaderboard names the device in any case */
      cli_note(args, "no GPU here: %s; using %s: %s", why.text[0] ? why.text : "none is visible",
               d->ids[0], cli_device_says(d->ids[0]));
    }
  }
  return SCT_OK;
}

/* ---- one session, in this process ---- */

typedef struct job {
  const cli_args *args;
  const char *device;
  cli_notify *to;
  bool said_stopping;
  cli_progress progress;
} job;

static void on_begins(void *ctx, int spec) {
  job *j = ctx;
  cli_progress_start(&j->progress, sct_now_ns(), j->args->words[spec]);
}

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  job *j = ctx;
  cli_progress_step(&j->progress, sct_now_ns(), phase, done, total, item);
}

static void on_event(void *ctx, const char *event, json_t *members) {
  job *j = ctx;
  cli_notify_event(j->to, j->device, event, members);
}

static bool on_stop(void *ctx) {
  job *j = ctx;
  cli_progress_tick(&j->progress, sct_now_ns());
  if (cli_interrupted() && !j->said_stopping) {
    cli_progress_clear(&j->progress);
    cli_note(j->args, CLI_STOPPING);
    j->said_stopping = true;
  }
  return cli_interrupted();
}

static sct_status on_ended(void *ctx, cli_outcome *outcome, sct_error *err) {
  job *j = ctx;
  cli_progress_clear(&j->progress);
  cli_notify_end_event(j->to, j->device, outcome);
  return cli_notify_outcome(j->to, j->device, outcome, err);
}

static sct_status run_here(cli_notify *to, const cli_args *args, const char *device, int *left,
                           sct_error *err) {
  job j = {.args = args, .device = device, .to = to, .progress = cli_progress_new(args)};
  const cli_listener listener = {.ctx = &j,
                                 .begins = on_begins,
                                 .progress = on_progress,
                                 .event = on_event,
                                 .stop = on_stop,
                                 .ended = on_ended};
  cli_session s = {.args = args, .device = device, .to = &listener};
  cli_notify_wants(to, &s);
  return cli_session_run(&s, left, err);
}

/* ---- the command ---- */

static sct_status run_all(cli_notify *to, const cli_args *args, const device_ids *devices,
                          sct_error *err) {
  int left = 0;
  const sct_status status = devices->n == 1
                                ? run_here(to, args, devices->ids[0], &left, err)
                                : cli_many_run(to, args, devices->ids, devices->n, &left, err);
  if (cli_interrupted() && left > 0) {
    cli_note(args, "interrupted: %d more %s not tuned", left,
             left == 1 ? "spec was" : "specs were");
  }
  return status;
}

static sct_status check_asked(const cli_args *args, sct_error *err) {
  SCT_SCOPED(sct_str) store = {0};
  if ((args->only.n > 0) + (args->share.n > 0) + (args->top_of != NULL) > 1) {
    return sct_fail(err, SCT_EUSAGE,
                    "--only, --shard and --top-of each say which candidates are tried: give one");
  }
  SCT_TRY(cli_store_path(&store, args, err));
  return args->top_of && sct_file_same(args->top_of, sct_str_c(&store))
             ? sct_fail(err, SCT_EUSAGE,
                        "--top-of '%s' is where results are kept, too: give the final heat a store "
                        "of its own with --store",
                        args->top_of)
             : SCT_OK;
}

sct_status cli_tune(const cli_args *args, sct_error *err) {
  cli_notify to = {0};
  device_ids devices = {0};
  SCT_TRY(check_asked(args, err));
  sct_status outcome = SCT_OK, status = cli_notify_open(&to, args, err);
  if (status == SCT_OK) {
    catch_interrupts();
    status = choose_devices(&devices, args, err);
  }
  if (status == SCT_OK) {
    outcome = run_all(&to, args, &devices, err);
    status = err->text[0] == '\0' ? cli_notify_end(&to, &outcome, err) : outcome;
  }
  cli_notify_close(&to);
  sct_arena_free(&devices.arena);
  return status == SCT_OK ? outcome : status;
}
