/* `sectile transfer SPEC`: ways from the host and back as tables and timelines. */
#include "cli/cli_internal.h"

#include <string.h>

static json_t *engines_json(const double ns[SCT_N_ENGINES]) {
  json_t *doc = json_object();
  for (int e = 0; e < SCT_N_ENGINES; e++) {
    json_object_set_new(doc, sct_engine_name((sct_engine)e), json_real(ns[e]));
  }
  return doc;
}

static json_t *samples_json(const sct_host_row *row) {
  json_t *list = json_array();
  for (int k = 0; k < row->times.n_samples; k++) {
    json_array_append_new(list, json_real(row->times.samples_ns[k]));
  }
  return list;
}

static json_t *timeline_json(const sct_host_row *row) {
  json_t *list = json_array();
  for (int k = 0; k < row->n_steps; k++) {
    const sct_pipe_step *s = &row->steps[k];
    json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:f, s:f}", "engine",
                                          sct_engine_name(s->engine), "device",
                                          s->engine == SCT_ENGINE_HOST ? 0 : s->device, "stream",
                                          s->stream, "begin_ns", s->begin_ns, "end_ns", s->end_ns));
  }
  return list;
}

static json_t *row_json(const sct_host_size *z, int k) {
  const sct_host_row *row = &z->rows[k];
  const double ns = sct_host_row_ns(row);
  const double bound_ns = row->way.devices > 1 ? z->two_bound_ns : z->bound_ns;
  json_t *doc = json_pack("{s:s, s:o, s:i, s:i, s:i, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}",
                          "memory", sct_host_name(row->way.memory), "chunk",
                          row->way.chunk > 0 ? json_integer(row->way.chunk) : json_null(),
                          "streams", row->way.streams, "threads", row->way.threads, "devices",
                          row->way.devices, "kernel", sct_json_string(row->kernel), "tuned",
                          row->tuned ? sct_json_string(row->tuned) : json_null(), "tuned_exactly",
                          row->is_exact, "modelled_ns", cli_json_positive(row->modelled_ns),
                          "median_ns", cli_json_positive(row->times.median_ns), "q1_ns",
                          cli_json_positive(row->times.q1_ns), "q3_ns",
                          cli_json_positive(row->times.q3_ns), "samples_ns", samples_json(row),
                          "failure", row->failure ? sct_json_string(row->failure) : json_null());
  json_object_set_new(doc, "rule_of", row->rule_of ? sct_json_string(row->rule_of) : json_null());
  json_object_set_new(doc, "bytes_s",
                      cli_json_positive(ns > 0 ? (z->bytes_in + z->bytes_out) / ns * 1e9 : 0));
  json_object_set_new(doc, "share", cli_json_positive(ns > 0 ? bound_ns / ns : 0));
  json_object_set_new(doc, "busy_ns", engines_json(row->overlap.busy_ns));
  json_object_set_new(doc, "host_threads", json_integer(row->overlap.n_threads));
  json_object_set_new(doc, "total_ns", json_real(row->overlap.total_ns));
  json_object_set_new(doc, "hidden", json_real(row->overlap.hidden));
  json_object_set_new(doc, "limit", json_string(sct_engine_name(row->overlap.limit)));
  if (k == z->locked || k == z->pageable) {
    json_object_set_new(doc, "timeline", timeline_json(row));
  }
  return doc;
}

static json_t *chosen_json(int row) {
  return row >= 0 ? json_integer(row) : json_null();
}

static json_t *size_json(const sct_host_size *z) {
  json_t *ways = json_array();
  for (int k = 0; k < z->n_rows; k++) {
    json_array_append_new(ways, row_json(z, k));
  }
  return json_pack(
      "{s:o, s:I, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "size", sct_json_string(z->label),
      "n", (json_int_t)z->n, "bytes_in", z->bytes_in, "bytes_out", z->bytes_out, "engines_ns",
      engines_json(z->engine_ns), "bound_ns", cli_json_positive(z->bound_ns), "two_bound_ns",
      cli_json_positive(z->two_bound_ns), "lock_ns", cli_json_positive(z->lock_ns), "ways", ways,
      "page_locked", chosen_json(z->locked), "pageable", chosen_json(z->pageable));
}

static json_t *report_json(const sct_host_report *r) {
  json_t *sizes = json_array();
  for (int z = 0; z < r->n_sizes; z++) {
    json_array_append_new(sizes, size_json(&r->sizes[z]));
  }
  return json_pack("{s:o, s:o, s:o, s:b, s:s, s:s, s:b, s:o}", "device",
                   cli_json_device(&r->device), "peer",
                   r->peer.id[0] != '\0' ? cli_json_device(&r->peer) : json_null(), "one_device",
                   r->one_device ? sct_json_string(r->one_device) : json_null(), "halo",
                   r->has_halo, "name", r->name, "dim", r->dim, "timed", r->timed, "sizes", sizes);
}

static bool is_wrong(const sct_host_report *r) {
  bool failed = false;
  for (int z = 0; z < r->n_sizes; z++) {
    for (int k = 0; k < r->sizes[z].n_rows; k++) {
      const sct_outcome_kind outcome = r->sizes[z].rows[k].outcome;
      failed = failed || (outcome != SCT_OUT_OK && outcome != SCT_OUT_TOO_LARGE);
    }
  }
  return failed;
}

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  cli_progress_step(ctx, sct_now_ns(), phase, done, total, item);
}

sct_status cli_transfer_spec(const cli_args *args, sct_error *err) {
  sct_tune_opts opts = {.store_path = args->store,
                        .strategy_dir = args->strategies,
                        .budget_ns = args->budget_ns,
                        .seed = args->seed,
                        .measure = cli_measure_opts(args)};
  SCT_OWNED char *devices = args->device ? sct_strdup(args->device) : NULL;
  sct_host_report r = {0};
  if (args->sizes || args->again) {
    return sct_fail(err, SCT_EUSAGE,
                    "--%s is for copies alone: a spec has sizes of its own (--size), and its ways "
                    "are timed each time",
                    args->sizes ? "sizes" : "again");
  }
  SCT_TRY(cli_choose_devices(&opts, devices, err));
  cli_progress progress = cli_progress_new(args);
  const sct_tune_events events = {.ctx = &progress, .progress = on_progress};
  cli_progress_start(&progress, sct_now_ns(), args->words[0]);
  sct_status status = cli_hint_example(
      sct_tune_host(&r, args->words[0], args->size, &opts, &events, err), args->words[0], err);
  cli_progress_clear(&progress);
  if (status == SCT_OK) {
    json_t *look = cli_output_style(args);
    json_object_set_new(look, "spec", sct_json_string(args->words[0]));
    status = cli_show(args, "sectile.show_transfer", "spec", report_json(&r), look, err);
  }
  if (status == SCT_OK && is_wrong(&r)) {
    status = SCT_ENOTVERIFIED;
  }
  sct_arena_free(&r.arena);
  return status;
}
