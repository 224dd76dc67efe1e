/* What the store has of kernels for chunks, and what it is given of ways from the host and back: in
 * the store these are a problem of their own, `host`, a run a size, a candidate a way. */
#include "tune/tune_host.h"
#include "tune/tune_record.h"

#include <math.h>
#include <string.h>

#define PROBLEM "host"

static sct_status find_runs(tune_host_store *s, const sct_spec *spec, sct_error *err) {
  char hash[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  int n = 0;
  sct_hash_hex(hash, spec->hash);
  SCT_TRY(sct_store_problem_by_hash(s->store, s->arena, hash, &problems, &n, err));
  return n > 0 ? sct_store_runs(s->store, s->arena, problems[0].id, s->device.id, &s->runs,
                                &s->n_runs, err)
               : SCT_OK;
}

sct_status sct_host_store_open(tune_host_store *out, const tune_device *device,
                               const sct_spec *spec, const sct_tune_opts *opts, sct_arena *arena,
                               sct_error *err) {
  char hash[SCT_HASH_HEX];
  *out = (tune_host_store){.arena = arena};
  SCT_TRY(sct_tune_open_store(&out->store, opts, err));
  if (!out->store) {
    return SCT_OK;
  }
  SCT_TRY(sct_tune_put_device(out->store, &device->desc, sct_compiler_version(device->compiler),
                              sct_compiler_options(device->compiler), arena, &out->device, err));
  SCT_TRY(find_runs(out, spec, err));
  char *canonical = sct_arena_printf(arena, SCT_HOST_PROBLEM, sct_hash_hex(hash, spec->hash));
  out->problem = (sct_row_problem){
      .name = sct_arena_strdup(arena, PROBLEM),
      .spec_hash = sct_arena_strdup(arena, sct_hash_hex(hash, sct_hash_text(canonical))),
      .spec_file = sct_arena_strdup(arena, sct_path_basename(spec->file)),
      .canonical = canonical};
  return sct_store_put_problem(out->store, &out->problem, err);
}

sct_status sct_host_store_winner(tune_host_store *s, const char *size_label, const char **label,
                                 sct_error *err) {
  *label = NULL;
  for (int k = 0; k < s->n_runs && s->store; k++) {
    sct_row_result winner;
    if (strcmp(s->runs[k].size_label, size_label) == 0 && s->runs[k].winner != 0) {
      SCT_TRY(sct_store_result(s->store, s->arena, s->runs[k].winner, &winner, err));
      *label = winner.candidate.label;
    }
  }
  return SCT_OK;
}

static sct_status keep_row(tune_host_store *s, const sct_row_run *run, const sct_spec *spec,
                           const sct_host_row *row, sct_error *err) {
  char hex[SCT_HASH_HEX], now[32];
  const sct_host_way *w = &row->way;
  sct_tune_now(now);
  char *label =
      sct_arena_printf(s->arena, "%s chunk=%lld streams=%d threads=%d", sct_host_name(w->memory),
                       (long long)w->chunk, w->streams, w->threads);
  sct_row_candidate candidate = {
      .problem = s->problem.id,
      .source_hash = sct_arena_strdup(s->arena, sct_hash_hex(hex, sct_hash_text(label))),
      .label = label,
      .strategy = sct_arena_strdup(s->arena, PROBLEM),
      .axes = sct_arena_printf(s->arena,
                               "{\"memory\":\"%s\",\"dim\":\"%s\",\"chunk\":%lld,\"chunk_mib\":%d,"
                               "\"streams\":%d,\"threads\":%d}",
                               sct_host_name(w->memory), spec->dims[spec->chunk_dim],
                               (long long)w->chunk, row->chunk_mib, w->streams, w->threads)};
  const bool timed = row->n_samples > 0;
  sct_row_outcome result = {.run = run->id,
                            .outcome = sct_arena_strdup(s->arena, sct_outcome_name(row->outcome)),
                            .detail = sct_arena_strdup(s->arena, row->failure ? row->failure : ""),
                            .median_ns = row->median_ns,
                            .q1_ns = row->q1_ns,
                            .q3_ns = row->q3_ns,
                            .samples_ns = row->samples_ns,
                            .n_samples = row->n_samples,
                            .launches = 1,
                            .measured = now,
                            SCT_NOT_COUNTED,
                            .predicted_ns = timed ? NAN : row->modelled_ns};
  return sct_store_put_result(s->store, &candidate, &result, true, err);
}

sct_status sct_host_store_keep(tune_host_store *s, const sct_spec *spec, const sct_size *size,
                               const sct_host_size *found, sct_error *err) {
  char now[32];
  if (!s->store) {
    return SCT_OK;
  }
  sct_tune_now(now);
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
  return SCT_OK;
}
