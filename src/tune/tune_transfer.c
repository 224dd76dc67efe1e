/* Copies between a device and the host, or a second device: what the store has of them, and what is
 * timed now. In the store they are a problem of their own, `transfer`: a run a size, a candidate a
 * kind and way. */
#include "tune/tune_record.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

#define PROBLEM      "transfer"
#define VERSION_TEXT "sectile transfer 1" /* of what a time means */
#define LEAST        3                    /* samples */
#define MOST         101
#define NO_TIME      "no time was left for it (--budget)"

typedef struct session {
  sct_transfer_report *out;
  const sct_tune_opts *opts;
  tune_device device, peer; /* peer: the second one, if there is one */
  sct_store *store;         /* NULL: keep nothing */
  sct_row_problem problem;
  sct_row_device row;
  sct_row_run runs[SCT_TRANSFER_MOST_SIZES];
} session;

static sct_transfer_cell *cell_at(session *s, sct_host_kind kind, int way, int z) {
  return &s->out->rows[kind][way].cells[z];
}

#define LABEL_BYTES 128

static const char *way_name(sct_host_kind kind, int way) {
  return way == SCT_TRANSFER_SETUP ? "setup" : sct_way_name(kind, (sct_way)way);
}

/* What the second device is known by. */
static const char *peer_name(const session *s, sct_host_kind kind) {
  const sct_device_desc *d = &s->out->peer;
  return !sct_host_is_peer(kind) ? "" : d->uuid[0] != '\0' ? d->uuid : d->id;
}

static void label_of(char out[LABEL_BYTES], const session *s, sct_host_kind kind, int way) {
  const char *peer = peer_name(s, kind);
  snprintf(out, LABEL_BYTES, "%s %s%s%s", sct_host_name(kind), way_name(kind, way),
           peer[0] != '\0' ? " " : "", peer);
}

/* ---- the store ---- */

static sct_status open_store(session *s, sct_error *err) {
  SCT_TRY(sct_tune_open_store(&s->store, s->opts->store_path, false, err));
  if (!s->store) {
    return SCT_OK;
  }
  char hex[SCT_HASH_HEX];
  sct_arena *arena = &s->out->arena;
  s->problem = (sct_row_problem){
      .name = PROBLEM,
      .spec_hash = sct_arena_strdup(arena, sct_hash_hex(hex, sct_hash_text(VERSION_TEXT))),
      .canonical = VERSION_TEXT};
  SCT_TRY(sct_store_put_problem(s->store, &s->problem, err));
  return sct_tune_put_device(s->store, &s->device.desc, "", "", arena, &s->row, err);
}

/* Takes over a result, if it is of a kind and way. */
static void take_known(session *s, int z, const sct_row_result *row) {
  char label[LABEL_BYTES];
  for (int kind = 0; kind < s->out->n_kinds; kind++) {
    for (int way = 0; way < SCT_TRANSFER_N_WAYS; way++) {
      label_of(label, s, (sct_host_kind)kind, way);
      const sct_row_outcome *o = &row->outcome;
      if (strcmp(label, row->candidate.label) == 0) {
        sct_transfer_cell *cell = cell_at(s, (sct_host_kind)kind, way, z);
        *cell = (sct_transfer_cell){
            .known = true, .failure = sct_row_is_ok(o) ? NULL : o->detail, .times = o->times};
        cell->times.median_ns = s->out->timed ? o->times.median_ns : o->predicted_ns;
      }
    }
  }
}

/* The run of a size, and what it has already. */
static sct_status open_run(session *s, int z, sct_error *err) {
  char now[32];
  sct_arena *arena = &s->out->arena;
  const long long bytes = (long long)s->out->bytes[z];
  sct_tune_timestamp(now);
  s->runs[z] = (sct_row_run){.problem = s->problem.id,
                             .device = s->row.id,
                             .size_label = sct_arena_printf(arena, "bytes=%lld", bytes),
                             .extents = sct_arena_printf(arena, "{\"bytes\":%lld}", bytes),
                             .read_bytes = (double)bytes,
                             .write_bytes = (double)bytes,
                             .started = sct_arena_strdup(arena, now)};
  SCT_TRY(sct_store_put_run(s->store, &s->runs[z], err));
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_results(s->store, arena, s->runs[z].id, false, &rows, &n, err));
  for (int k = 0; k < n && !s->opts->again; k++) {
    take_known(s, z, &rows[k]);
  }
  return SCT_OK;
}

static sct_status keep(session *s, sct_host_kind kind, int way, int z, const sct_timing *t,
                       sct_error *err) {
  char label[LABEL_BYTES], hex[SCT_HASH_HEX], now[32], axes[2 * LABEL_BYTES];
  if (!s->store) {
    return SCT_OK;
  }
  label_of(label, s, kind, way);
  sct_tune_timestamp(now);
  const char *peer = peer_name(s, kind);
  snprintf(axes, sizeof axes, "{\"memory\":\"%s\",\"way\":\"%s\"%s%s%s}", sct_host_name(kind),
           way_name(kind, way), peer[0] != '\0' ? ",\"peer\":\"" : "", peer,
           peer[0] != '\0' ? "\"" : "");
  sct_arena *arena = &s->out->arena;
  sct_row_candidate candidate = {
      .problem = s->problem.id,
      .source_hash = sct_arena_strdup(arena, sct_hash_hex(hex, sct_hash_text(label))),
      .label = label,
      .strategy = PROBLEM,
      .axes = axes};
  sct_row_outcome outcome = {.run = s->runs[z].id,
                             .outcome = sct_outcome_name(t->verdict.outcome),
                             .detail = t->verdict.detail,
                             .times = s->out->timed ? t->times : (sct_times){0},
                             .measured = now,
                             SCT_NOT_COUNTED,
                             .predicted_ns = s->out->timed ? NAN : t->times.median_ns};
  outcome.times.launches = 1;
  return sct_store_put_result(s->store, &candidate, &outcome, true, err);
}

/* ---- timing ---- */

/* What came of a cell. */
static sct_status take(session *s, sct_host_kind kind, int way, int z, const sct_timing *t,
                       sct_error *err) {
  const bool ok = t->verdict.outcome == SCT_OUT_OK;
  sct_transfer_cell *cell = cell_at(s, kind, way, z);
  *cell = (sct_transfer_cell){.known = true,
                              .failure =
                                  ok ? NULL : sct_arena_strdup(&s->out->arena, t->verdict.detail),
                              .times = t->times};
  cell->times.samples_ns = NULL;
  return keep(s, kind, way, z, t, err);
}

/* The sizes first..last of a kind fail, those ways that are not known yet. */
static sct_status fail_sizes(session *s, sct_host_kind kind, int first, int last,
                             const sct_timing *t, sct_error *err) {
  for (int z = first; z <= last; z++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      if (!cell_at(s, kind, way, z)->known) {
        SCT_TRY(take(s, kind, way, z, t, err));
      }
    }
  }
  return SCT_OK;
}

/* A smaller array may fit. */
static bool is_too_large(sct_outcome_kind outcome) {
  return outcome == SCT_OUT_TOO_LARGE || outcome == SCT_OUT_CRASH || outcome == SCT_OUT_HANG;
}

/* A timing that worked, or did not because of one size. */
static sct_status take_timing(session *s, sct_host_kind kind, int way, int z, int room,
                              const sct_timing *t, double made_ns, sct_error *err) {
  if (s->out->timed && made_ns > 0 && !cell_at(s, kind, SCT_TRANSFER_SETUP, room)->known) {
    double sample = made_ns;
    sct_timing made = {.verdict = {.outcome = SCT_OUT_OK},
                       .times = {.samples_ns = &sample, .n_samples = 1}};
    sct_times_summarise(&made.times);
    SCT_TRY(take(s, kind, SCT_TRANSFER_SETUP, room, &made, err));
  }
  return take(s, kind, way, z, t, err);
}

/* Times one cell with arrays for size *room, and for smaller ones where these do not fit. */
static sct_status time_cell(session *s, sct_host_kind kind, int way, int z, int *room,
                            int64_t limit_ns, sct_error *err) {
  while (*room >= z) {
    const sct_ask_transfer ask = {.kind = kind,
                                  .way = (sct_way)way,
                                  .bytes = s->out->bytes[z],
                                  .room = s->out->bytes[*room],
                                  .least = LEAST,
                                  .most = MOST,
                                  .limit_ns = limit_ns};
    sct_timing t;
    double made_ns = 0;
    SCT_TRY(sct_measure_transfer(s->device.measure, sct_host_is_peer(kind) ? s->peer.measure : NULL,
                                 &ask, &t, &made_ns, err));
    const sct_outcome_kind outcome = t.verdict.outcome;
    if (outcome == SCT_OUT_OK || outcome == SCT_OUT_WRONG_RESULT) {
      const sct_status status = take_timing(s, kind, way, z, *room, &t, made_ns, err);
      sct_times_free(&t.times);
      return status;
    }
    const int last = *room; /* what is refused at all is refused at all sizes */
    *room = is_too_large(outcome) ? *room - 1 : -1;
    SCT_TRY(fail_sizes(s, kind, *room + 1, last, &t, err));
  }
  return SCT_OK;
}

static int count_unknown(session *s, sct_host_kind kind, int first, int last) {
  int n = 0;
  for (int z = first; z <= last; z++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      n += !cell_at(s, kind, way, z)->known;
    }
  }
  return n;
}

static sct_status time_kind(session *s, sct_host_kind kind, int64_t until_ns, sct_error *err) {
  const int n = s->out->n_sizes;
  int room = n - 1;
  for (int z = 0; z < n; z++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      sct_transfer_cell *cell = cell_at(s, kind, way, z);
      const int64_t left_ns = until_ns - sct_now_ns();
      if (!cell->known && left_ns > 0) {
        SCT_TRY(time_cell(s, kind, way, z, &room, left_ns / count_unknown(s, kind, z, n - 1), err));
      } else if (!cell->known) {
        cell->failure = NO_TIME;
      }
    }
  }
  return SCT_OK;
}

/* Each kind has its share of the time that is left. Pageable memory, the slowest, comes last and
 * has what the others did not need. */
static sct_status time_all(session *s, sct_error *err) {
  const int64_t budget_ns = s->opts->budget_ns > 0 ? s->opts->budget_ns : SCT_TRANSFER_BUDGET_NS;
  const int64_t end_ns = sct_now_ns() + budget_ns;
  for (int left = s->out->n_kinds; left > 0; left--) {
    const int64_t now_ns = sct_now_ns();
    const int64_t share_ns = (end_ns - now_ns) / left;
    SCT_TRY(time_kind(s, (sct_host_kind)(left - 1), now_ns + share_ns, err));
  }
  return SCT_OK;
}

/* ---- what it comes to ---- */

double sct_transfer_rate(const sct_transfer_report *r, sct_host_kind kind, int way, int size) {
  const double ns = r->rows[kind][way].cells[size].times.median_ns;
  return ns > 0 ? (double)r->bytes[size] * (way == SCT_BOTH_WAYS ? 2 : 1) / ns * 1e9 : 0;
}

/* Where a rate is reached between two sizes, as if time grew evenly with bytes: a latency and bytes
 * at a rate do so. */
static double reached_at(const sct_transfer_report *r, const sct_transfer_row *row, int z,
                         double bytes_ns) {
  const double last = (double)r->bytes[z], before = z > 0 ? (double)r->bytes[z - 1] : last;
  const double from_ns = z > 0 ? row->cells[z - 1].times.median_ns : 0;
  const double slope = z > 0 ? (row->cells[z].times.median_ns - from_ns) / (last - before) : 0;
  const double bytes = bytes_ns * (from_ns - before * slope) / (1 - bytes_ns * slope);
  return from_ns > 0 && bytes > before && bytes < last ? bytes : last;
}

static void sum_up(sct_transfer_report *r, sct_host_kind kind, int way) {
  sct_transfer_row *row = &r->rows[kind][way];
  for (int z = r->n_sizes - 1; z >= 0; z--) {
    const double rate = sct_transfer_rate(r, kind, way, z);
    row->latency_ns = rate > 0 ? row->cells[z].times.median_ns : row->latency_ns;
    row->best_bytes_s = rate > row->best_bytes_s ? rate : row->best_bytes_s;
  }
  const double half = row->best_bytes_s / 2;
  for (int z = r->n_sizes - 1; z >= 0 && half > 0; z--) {
    if (sct_transfer_rate(r, kind, way, z) >= half) {
      row->half_bytes = reached_at(r, row, z, half / 1e9 / (way == SCT_BOTH_WAYS ? 2 : 1));
    }
  }
}

/* ---- devices ---- */

static sct_status open_devices(session *s, sct_error *err) {
  SCT_TRY(sct_tune_devices_open(&s->device, &s->peer, s->opts, true, err));
  if (s->device.replay) {
    return sct_fail(err, SCT_EUSAGE, "a replay has no transfers: take the device itself");
  }
  s->out->device = s->device.desc;
  s->out->peer = s->peer.desc;
  s->out->n_kinds = s->opts->peer ? SCT_N_HOSTS : SCT_HOST_PEER;
  return SCT_OK;
}

static sct_status run(session *s, sct_error *err) {
  SCT_TRY(open_devices(s, err));
  s->out->timed = s->device.kind->times;
  SCT_TRY(open_store(s, err));
  for (int z = 0; z < s->out->n_sizes && s->store; z++) {
    SCT_TRY(open_run(s, z, err));
  }
  SCT_TRY(time_all(s, err));
  for (int kind = 0; kind < s->out->n_kinds; kind++) {
    for (int way = SCT_TO_DEVICE; way <= SCT_BOTH_WAYS; way++) {
      sum_up(s->out, (sct_host_kind)kind, way);
    }
  }
  return SCT_OK;
}

sct_status sct_tune_transfer(sct_transfer_report *out, const sct_tune_opts *opts, sct_error *err) {
  session s = {.out = out, .opts = opts};
  const sct_status status = run(&s, err);
  sct_measure_close(s.device.measure);
  sct_measure_close(s.peer.measure);
  sct_tune_device_close(&s.device);
  sct_tune_device_close(&s.peer);
  if (s.store) {
    sct_store_close(s.store);
  }
  return status;
}

/* ---- what the store has ---- */

static bool take_axes(sct_transfer_known *out, const char *text, sct_arena *arena) {
  SCT_OWNED_PTR(json_t) axes = sct_json_load(text);
  const char *memory = json_string_value(json_object_get(axes, "memory"));
  const char *way = json_string_value(json_object_get(axes, "way"));
  const char *peer = json_string_value(json_object_get(axes, "peer"));
  for (int kind = 0; memory && way && kind < SCT_N_HOSTS; kind++) {
    if (strcmp(memory, sct_host_name((sct_host_kind)kind)) == 0) {
      out->kind = (sct_host_kind)kind;
      out->way = sct_arena_strdup(arena, way);
      out->peer = sct_arena_strdup(arena, peer ? peer : "");
      return strcmp(way, way_name(out->kind, SCT_TRANSFER_SETUP)) != 0;
    }
  }
  return false; /* of another version */
}

/* Copies of a run that have a time, appended. */
static sct_status list_run(sct_transfer_list *out, sct_store *store, const sct_row_run *run,
                           sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_results(store, &out->arena, run->id, false, &rows, &n, err));
  sct_transfer_known *all = SCT_ARENA_NEW(&out->arena, sct_transfer_known, out->n + n + 1);
  for (int k = 0; k < out->n; k++) {
    all[k] = out->copies[k];
  }
  out->copies = all;
  for (int k = 0; k < n; k++) {
    const sct_row_outcome *o = &rows[k].outcome;
    sct_transfer_known *copy = &all[out->n];
    const double ns = sct_row_ns(o);
    const bool sized = run->read_bytes >= 1 && run->read_bytes <= SCT_MAX_TRANSFER;
    *copy = (sct_transfer_known){.bytes = sized ? (int64_t)run->read_bytes : 0};
    if (sized && ns > 0 && take_axes(copy, rows[k].candidate.axes, &out->arena)) {
      const bool both = strcmp(copy->way, sct_way_name(copy->kind, SCT_BOTH_WAYS)) == 0;
      copy->bytes_s = run->read_bytes * (both ? 2 : 1) / ns * 1e9;
      out->n++;
    }
  }
  return SCT_OK;
}

static sct_status list_all(sct_transfer_list *out, sct_store *store, const sct_device_desc *device,
                           sct_error *err) {
  char key[SCT_HASH_HEX], hex[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  sct_row_device wanted, *devices = NULL;
  sct_row_run *runs = NULL;
  int n_problems = 0, n_devices = 0, n_runs = 0;
  SCT_TRY(sct_tune_device_row(&wanted, device, "", "", &out->arena, err));
  sct_store_device_key(key, &wanted);
  sct_hash_hex(hex, sct_hash_text(VERSION_TEXT));
  SCT_TRY(sct_store_problem_by_hash(store, &out->arena, hex, &problems, &n_problems, err));
  SCT_TRY(sct_store_devices(store, &out->arena, &devices, &n_devices, err));
  for (int d = 0; d < n_devices && n_problems > 0; d++) {
    if (strcmp(devices[d].key, key) == 0) {
      SCT_TRY(sct_store_runs(store, &out->arena, problems->id, devices[d].id, &runs, &n_runs, err));
    }
  }
  for (int r = 0; r < n_runs; r++) {
    SCT_TRY(list_run(out, store, &runs[r], err));
  }
  return SCT_OK;
}

sct_status sct_tune_transfers_known(sct_transfer_list *out, const sct_device_desc *device,
                                    const char *store_path, sct_error *err) {
  sct_store *store = NULL;
  SCT_TRY(sct_tune_open_store(&store, store_path, true, err));
  const sct_status status = store ? list_all(out, store, device, err) : SCT_OK;
  if (store) {
    sct_store_close(store);
  }
  return status;
}
