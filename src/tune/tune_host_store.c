/* What the store has of kernels for chunks, and what it is given of ways from the host and back: in
 * the store these are a problem of their own, `host`, a run a size, a candidate a way. */
#include "tune/tune_host.h"
#include "tune/tune_record.h"
#include "json/json.h"

#include <math.h>
#include <string.h>

#define PROBLEM "host"

static char *canonical_of(sct_arena *arena, const sct_spec *spec) {
  char hash[SCT_HASH_HEX];
  unsigned stays = 0;
  for (int k = 0; k < spec->n_operands; k++) {
    stays |= spec->operands[k].stays ? 1u << k : 0;
  }
  return sct_arena_printf(arena, SCT_HOST_PROBLEM, sct_hash_hex(hash, spec->hash), stays);
}

static sct_status find_spec(tune_host_store *s, const sct_spec *spec, sct_error *err) {
  char hash[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  int n = 0;
  s->spec_name = sct_arena_strdup(s->arena, spec->name);
  s->spec_hash = sct_arena_strdup(s->arena, sct_hash_hex(hash, spec->hash));
  SCT_TRY(sct_store_problem_by_hash(s->store, s->arena, s->spec_hash, &problems, &n, err));
  s->is_known = n > 0;
  return SCT_OK;
}

sct_status sct_host_store_open(tune_host_store *out, const tune_device *device,
                               const sct_spec *spec, const sct_tune_opts *opts, sct_arena *arena,
                               sct_error *err) {
  char hash[SCT_HASH_HEX];
  *out = (tune_host_store){.arena = arena};
  SCT_TRY(sct_tune_open_store(&out->store, opts->store_path, false, err));
  if (!out->store) {
    return SCT_OK;
  }
  SCT_TRY(sct_tune_put_device(out->store, &device->desc, sct_compiler_version(device->compiler),
                              sct_compiler_options(device->compiler), arena, &out->device, err));
  SCT_TRY(find_spec(out, spec, err));
  char *canonical = canonical_of(arena, spec);
  out->problem = (sct_row_problem){
      .name = sct_arena_strdup(arena, PROBLEM),
      .spec_hash = sct_arena_strdup(arena, sct_hash_hex(hash, sct_hash_text(canonical))),
      .spec_file = sct_arena_strdup(arena, sct_path_basename(spec->file)),
      .canonical = canonical};
  return sct_store_put_problem(out->store, &out->problem, err);
}

/* ---- timelines, which the run keeps ---- */

#define COLUMNS 120

static json_t *lane_json(const sct_host_row *row, sct_engine engine, int device) {
  double lane[COLUMNS];
  json_t *list = json_array();
  sct_model_engine_columns(lane, COLUMNS, row->steps, row->n_steps, engine, device);
  for (int c = 0; c < COLUMNS; c++) {
    json_array_append_new(list, json_integer((json_int_t)(100 * lane[c] + 0.5)));
  }
  return list;
}

/* The timeline as JSON; engines of a second device have its number: "in 2". There is one host. */
static json_t *timeline_json(sct_arena *arena, const sct_host_row *row, const char *label) {
  json_t *lanes = json_object();
  for (int d = 0; d < row->overlap.n_devices; d++) {
    for (int e = 0; e < SCT_N_ENGINES; e++) {
      const char *name = sct_engine_name((sct_engine)e);
      if (row->overlap.busy_ns[e] > 0 && (d == 0 || e != SCT_ENGINE_HOST)) {
        json_object_set_new(lanes, d == 0 ? name : sct_arena_printf(arena, "%s %d", name, d + 1),
                            lane_json(row, (sct_engine)e, d));
      }
    }
  }
  return json_pack("{s:s, s:f, s:f, s:s, s:o}", "way", label, "total_ns", row->overlap.total_ns,
                   "hidden", row->overlap.hidden, "limit", sct_engine_name(row->overlap.limit),
                   "lanes", lanes);
}

static char *label_of(const tune_host_store *s, const sct_host_way *w) {
  return sct_arena_printf(s->arena, "%s chunk=%lld streams=%d threads=%d%s",
                          sct_host_name(w->memory), (long long)w->chunk, w->streams, w->threads,
                          w->devices > 1 ? " devices=2" : "");
}

/* Appends the timelines of the fastest ways of both kinds of arrays. */
static sct_status timelines(const tune_host_store *s, sct_str *out, const sct_host_size *found,
                            sct_error *err) {
  json_t *list = json_array();
  const int chosen[] = {found->locked, found->pageable};
  for (int k = 0; k < SCT_COUNT(chosen); k++) {
    if (chosen[k] >= 0) {
      const sct_host_row *row = &found->rows[chosen[k]];
      json_array_append_new(list, timeline_json(s->arena, row, label_of(s, &row->way)));
    }
  }
  return sct_json_dump(out,
                       json_pack("{s:f, s:f, s:o}", "bound_ns", found->bound_ns, "two_bound_ns",
                                 found->two_bound_ns, "timelines", list),
                       JSON_COMPACT, err);
}

/* ---- ways ---- */

static sct_status keep_row(tune_host_store *s, const sct_row_run *run, const sct_spec *spec,
                           const sct_host_row *row, sct_error *err) {
  char hex[SCT_HASH_HEX], now[32];
  const sct_host_way *w = &row->way;
  sct_tune_timestamp(now);
  char *label = label_of(s, w);
  sct_row_candidate candidate = {
      .problem = s->problem.id,
      .source_hash = sct_arena_strdup(s->arena, sct_hash_hex(hex, sct_hash_text(label))),
      .label = label,
      .strategy = sct_arena_strdup(s->arena, PROBLEM),
      .axes = sct_arena_printf(s->arena,
                               "{\"memory\":\"%s\",\"dim\":\"%s\",\"chunk\":%lld,\"chunk_mib\":%d,"
                               "\"streams\":%d,\"threads\":%d,\"devices\":%d}",
                               sct_host_name(w->memory), spec->dims[spec->chunk_dim],
                               (long long)w->chunk, row->chunk_mib, w->streams, w->threads,
                               w->devices)};
  const bool timed = row->times.n_samples > 0;
  sct_row_outcome result = {.run = run->id,
                            .outcome = sct_outcome_name(row->outcome),
                            .detail = row->failure,
                            .times = row->times,
                            .measured = now,
                            SCT_NOT_COUNTED,
                            .predicted_ns = timed ? NAN : row->modelled_ns};
  result.times.launches = 1;
  return sct_store_put_result(s->store, &candidate, &result, true, err);
}

sct_status sct_host_store_keep(tune_host_store *s, const sct_spec *spec, const sct_size *size,
                               const sct_host_size *found, sct_error *err) {
  char now[32];
  if (!s->store) {
    return SCT_OK;
  }
  sct_tune_timestamp(now);
  SCT_OWNED char *extents = sct_tune_extents_json(spec, size);
  sct_row_run run = {.problem = s->problem.id,
                     .device = s->device.id,
                     .size_label = sct_arena_strdup(s->arena, size->label),
                     .extents = extents,
                     .read_bytes = found->bytes_in,
                     .write_bytes = found->bytes_out,
                     .started = now};
  SCT_TRY(sct_store_put_run(s->store, &run, err));
  for (int k = 0; k < found->n_rows; k++) {
    SCT_TRY(keep_row(s, &run, spec, &found->rows[k], err));
  }
  SCT_SCOPED(sct_str) conditions = {0};
  SCT_TRY(timelines(s, &conditions, found, err));
  run.conditions = sct_arena_strdup(s->arena, sct_str_c(&conditions));
  run.n_candidates = found->n_rows;
  run.finished = now;
  return sct_store_finish_run(s->store, &run, err);
}

/* ---- what the store has ---- */

static json_t *ways_json(const sct_row_result *rows, int n) {
  json_t *list = json_array();
  for (int k = 0; k < n; k++) {
    const sct_row_outcome *o = &rows[k].outcome;
    const double ns = sct_row_ns(o);
    if (sct_row_is_ok(o) && ns > 0) {
      json_t *axes = sct_json_load(rows[k].candidate.axes);
      json_array_append_new(list, json_pack("{s:o, s:o, s:f, s:b}", "way",
                                            sct_json_string(rows[k].candidate.label), "axes",
                                            axes ? axes : json_object(), "ns", ns, "timed",
                                            o->times.median_ns > 0));
    }
  }
  return list;
}

static sct_status list_run(json_t *out, sct_store *store, sct_arena *arena, const sct_row_run *run,
                           sct_error *err) {
  sct_row_result *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_results(store, arena, run->id, false, &rows, &n, err));
  json_t *conditions = sct_json_load(run->conditions);
  json_array_append_new(
      out, json_pack("{s:o, s:f, s:o, s:o}", "size", sct_json_string(run->size_label), "bytes",
                     run->read_bytes + run->write_bytes, "ways", ways_json(rows, n), "found",
                     conditions ? conditions : json_object()));
  return SCT_OK;
}

static sct_status list_all(json_t *out, sct_store *store, const sct_spec *spec,
                           const sct_device_desc *device, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  char hash[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  sct_row_device *devices = NULL;
  sct_row_run *runs = NULL;
  int n = 0, n_devices = 0, n_runs = 0;
  sct_hash_hex(hash, sct_hash_text(canonical_of(&arena, spec)));
  SCT_TRY(sct_store_problem_by_hash(store, &arena, hash, &problems, &n, err));
  SCT_TRY(sct_store_devices(store, &arena, &devices, &n_devices, err));
  if (n > 0) {
    SCT_TRY(sct_store_runs(store, &arena, problems[0].id, 0, &runs, &n_runs, err));
  }
  for (int k = 0; k < n_runs; k++) {
    const sct_row_device *on = sct_row_device_find(devices, n_devices, runs[k].device);
    if (on && strcmp(on->device_id, device->id) == 0 && strcmp(on->uuid, device->uuid) == 0) {
      SCT_TRY(list_run(out, store, &arena, &runs[k], err));
    }
  }
  return SCT_OK;
}

sct_status sct_tune_host_known(json_t *out, const sct_spec *spec, const sct_device_desc *device,
                               const sct_tune_opts *opts, sct_error *err) {
  SCT_OWNED_PTR(sct_store) store = NULL;
  SCT_TRY(sct_tune_open_store(&store, opts->store_path, false, err));
  return store ? list_all(out, store, spec, device, err) : SCT_OK;
}
