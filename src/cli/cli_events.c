/* --events: what happens in a session as lines of JSON, one an event, written as it happens. */
#include "cli/cli_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sct_status cli_events_open(cli_events *e, const char *path, sct_error *err) {
  *e = (cli_events){.fd = -1, .start_ns = sct_now_ns()};
  if (!path) {
    return SCT_OK;
  }
  /* a pipe without a reader is an error, not a wait */
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const bool own = strcmp(path, "-") != 0;
  e->fd = own ? sct_open(path, flags, 0666) : STDOUT_FILENO;
  if (own && e->fd >= 0) {
    (void)fcntl(e->fd, F_SETFL, fcntl(e->fd, F_GETFL) & ~O_NONBLOCK);
  }
  return e->fd >= 0
             ? SCT_OK
             : sct_fail(err, SCT_EIO, "cannot write events to '%s': %s", path, strerror(errno));
}

void cli_events_close(cli_events *e) {
  if (e->fd > STDERR_FILENO) {
    sct_close(e->fd);
  }
  e->fd = -1;
}

/* A reader that went away ends the stream, not the session; a full disk does too, and is reported.
 */
static void write_line(cli_events *e, const sct_str *line) {
  if (e->fd >= 0 && !sct_write_all(e->fd, line->data, line->len)) {
    e->lost = errno == EPIPE ? 0 : errno;
    sct_log(SCT_LOG_WARN, "events end here: %s", strerror(errno));
    cli_events_close(e);
  }
}

void cli_events_write(cli_events *e, const char *event, json_t *members) {
  SCT_SCOPED(sct_str) line = {0};
  json_t *doc = e->fd >= 0 ? json_pack("{s:s, s:f}", "event", event, "seconds",
                                       (double)(sct_now_ns() - e->start_ns) / 1e9)
                           : NULL;
  if (doc) {
    json_object_update(doc, members);
    if (sct_json_dump(&line, doc, JSON_COMPACT | JSON_REAL_PRECISION(10), NULL) == SCT_OK) {
      sct_str_append(&line, "\n");
      write_line(e, &line);
    }
  }
  json_decref(members);
}

static json_t *conditions_of(const sct_conditions *c) {
  SCT_SCOPED(sct_str) text = {0};
  json_t *doc =
      c && sct_tune_conditions(&text, c, NULL) == SCT_OK ? sct_json_load(sct_str_c(&text)) : NULL;
  return doc ? doc : json_null();
}

static json_t *names_of(uint64_t throttle) {
  SCT_SCOPED(sct_str) names = {0};
  sct_throttle_names(&names, throttle, ",");
  return names.len > 0 ? sct_json_string(sct_str_c(&names)) : json_null();
}

static json_t *started(const sct_tune_event *x) {
  return json_pack("{s:o, s:o, s:i, s:i, s:o}", "name", sct_json_string(x->name), "device",
                   cli_json_device(x->device), "sources", x->n_sources, "sizes", x->n_sizes,
                   "conditions", conditions_of(x->conditions));
}

static json_t *evaluated(const sct_tune_event *x) {
  return json_pack("{s:o, s:o, s:o}", "label", sct_json_string(x->label), "outcome",
                   sct_json_string(x->row->outcome), "detail", sct_json_string(x->row->detail));
}

static double median_of(const sct_tune_event *x) {
  return x->row ? x->row->times.median_ns : 0;
}

static json_t *timed(const sct_tune_event *x) {
  const sct_times *t = &x->row->times;
  const char *detail = x->row->detail;
  return json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:i, s:o}", "label", sct_json_string(x->label), "size",
      sct_json_string(x->size), "outcome", sct_json_string(x->row->outcome), "detail",
      sct_json_string(detail && detail[0] ? detail : NULL), "median_ns",
      cli_json_positive(median_of(x)), "samples", t->n_samples, "slow_samples", t->n_slow,
      "contended_samples", t->n_contended, "throttle", names_of(t->throttle));
}

static json_t *raced(const sct_tune_event *x) {
  return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}", "stage", sct_json_string(x->phase), "size",
                   sct_json_string(x->size), "racers", x->n_racers, "rounds", x->n_rounds, "leader",
                   sct_json_string(x->label), "median_ns", cli_json_positive(median_of(x)));
}

static json_t *size_done(const sct_tune_event *x) {
  return json_pack("{s:o, s:o, s:o, s:i}", "size", sct_json_string(x->size), "winner",
                   sct_json_string(x->label), "median_ns", cli_json_positive(median_of(x)), "tied",
                   x->n_tied);
}

json_t *cli_events_members(const char **name, const sct_tune_event *event) {
  static const struct {
    const char *name;
    json_t *(*members)(const sct_tune_event *event);
  } kinds[] = {[SCT_TUNE_STARTED] = {"start", started},
               [SCT_TUNE_EVALUATED] = {"candidate", evaluated},
               [SCT_TUNE_TIMED] = {"timed", timed},
               [SCT_TUNE_RACED] = {"race", raced},
               [SCT_TUNE_SIZE_DONE] = {"size", size_done}};
  *name = kinds[event->kind].name;
  return kinds[event->kind].members(event);
}
