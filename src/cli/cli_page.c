/* The command `report`: a session as one page that needs no network and no script. A complete
 * session only reads the store. The page's text and charts are in tuning/sectile/report.lua and
 * templates/report. */
#include "cli/cli_count.h"
#include "emit/emit.h"

#include <string.h>

/* ---- what a page is made of ---- */

/* A candidate's profile as `profile --json` has it, with its text and a request of each access. */
static sct_status profile_json(json_t *size, const char *key, const char *label,
                               const cli_args *given, const sct_tune_report *report,
                               sct_error *err) {
  cli_args args = *given;
  cli_candidate *candidate = NULL;
  args.pick = label;
  args.size = json_string_value(json_object_get(size, "label"));
  SCT_TRY(cli_candidate_open(&candidate, &args, &report->device, err));
  const sct_count_row *row = cli_candidate_row(candidate);
  json_t *doc = cli_profile_json(row, &report->device);
  cli_profile_add_pictures(doc, row, &report->device);
  json_object_set_new(doc, "source", cli_lines_json(row->source));
  json_object_set_new(size, key, doc);
  cli_candidate_free(candidate);
  return SCT_OK;
}

static sct_status add_profiles(json_t *doc, const sct_tune_size *size, const cli_args *args,
                               const sct_tune_report *report, sct_error *err) {
  const char *naive = NULL;
  if (size->n_rows == 0 || !size->rows[0].winner) {
    return SCT_OK;
  }
  for (int r = 0; r < size->n_rows && !naive; r++) {
    const sct_tune_row *row = &size->rows[r];
    naive = row->naive && sct_row_is_ok(&row->outcome) ? row->label : NULL;
  }
  const char *winner = size->rows[0].label;
  SCT_TRY(profile_json(doc, "winner_profile", winner, args, report, err));
  return profile_json(doc, "naive_profile", naive ? naive : winner, args, report, err);
}

/* What the store has of copies to and from the device. */
static sct_status add_transfers(json_t *doc, const cli_args *args, const sct_tune_report *report,
                                sct_error *err) {
  sct_transfer_list list = {0};
  json_t *copies = json_array();
  json_object_set_new(doc, "transfers", copies);
  const sct_status status =
      report->replayed ? SCT_OK
                       : sct_tune_transfers_known(&list, &report->device, args->store, err);
  for (int k = 0; k < list.n; k++) {
    const sct_transfer_known *c = &list.copies[k];
    json_array_append_new(copies,
                          json_pack("{s:i, s:s, s:s, s:s, s:I, s:f}", "kind", (int)c->kind,
                                    "memory", sct_host_name(c->kind), "way", c->way, "peer",
                                    c->peer, "bytes", (json_int_t)c->bytes, "bytes_s", c->bytes_s));
  }
  sct_arena_free(&list.arena);
  return status;
}

/* Adds the ways from the host and back, where the spec says `host`. */
static sct_status add_ways(json_t *doc, const cli_args *args, const sct_tune_report *report,
                           sct_error *err) {
  const sct_tune_opts opts = {.store_path = args->store};
  SCT_SCOPED(sct_spec) spec = {0};
  json_t *ways = json_array();
  json_object_set_new(doc, "ways", ways);
  if (report->replayed) {
    return SCT_OK;
  }
  SCT_TRY(sct_script_try_spec(&spec, args->words[0], err));
  return spec.chunk_dim >= 0 ? sct_tune_host_known(ways, &spec, &report->device, &opts, err)
                             : SCT_OK;
}

/* Adds the rule for other sizes, where the store has enough for a header. */
static sct_status add_rules(json_t *doc, const cli_args *args, const sct_tune_report *report,
                            sct_error *err) {
  SCT_SCOPED(sct_spec) spec = {0};
  SCT_OWNED_PTR(sct_store) store = NULL;
  SCT_OWNED_PTR(sct_emit) header = NULL;
  char hash[SCT_HASH_HEX];
  json_object_set_new(doc, "rules", json_null());
  if (report->replayed) {
    return SCT_OK;
  }
  SCT_TRY(sct_script_try_spec(&spec, args->words[0], err));
  const sct_emit_request request = {.name = spec.name, .spec_hash = sct_hash_hex(hash, spec.hash)};
  if (cli_store_open(&store, args, true, NULL) == SCT_OK &&
      sct_emit_open(&header, store, &request, NULL) == SCT_OK) {
    json_object_set_new(doc, "rules", sct_emit_rules(header));
  }
  return SCT_OK;
}

static sct_status write_page(const cli_args *args, const sct_tune_report *report, sct_error *err) {
  sct_str text = {0};
  SCT_OWNED_PTR(json_t) doc = cli_json_report(report, CLI_ALL_ROWS);
  json_object_set_new(doc, "version", json_string(SCT_VERSION));
  json_object_set_new(doc, "conditions_text",
                      report->conditions.len > 0 ? sct_json_string(sct_str_c(&report->conditions))
                                                 : json_null());
  sct_status status = add_transfers(doc, args, report, err);
  SCT_THEN(add_ways(doc, args, report, err));
  SCT_THEN(add_rules(doc, args, report, err));
  for (int z = 0; z < report->n_sizes; z++) {
    const sct_tune_size *size = &report->sizes[z];
    json_t *of = json_array_get(json_object_get(doc, "sizes"), (size_t)z);
    json_object_set_new(of, "stored", json_integer(size->n_stored));
    SCT_THEN(add_profiles(of, size, args, report, err));
  }
  SCT_THEN(sct_script_page(&text, "sectile.report", "session", doc, NULL, err));
  if (status != SCT_OK) {
    sct_str_free(&text);
    return status;
  }
  return cli_write_output(args, &text, err);
}

/* ---- the command ---- */

typedef struct session {
  cli_progress progress;
} session;

static void on_progress(void *ctx, const char *phase, int64_t done, int64_t total,
                        const char *item) {
  session *s = ctx;
  cli_progress_step(&s->progress, sct_now_ns(), phase, done, total, item);
}

static bool on_stop(void *ctx) {
  session *s = ctx;
  cli_progress_tick(&s->progress, sct_now_ns());
  return false;
}

/* "my_kernel.html" of "specs/my_kernel.lua", in the working directory; NULL: standard output. */
static const char *target_of(sct_arena *arena, const cli_args *args) {
  const char *const name = sct_path_basename(args->words[0]);
  const size_t n = strlen(name) - (sct_has_suffix(name, ".lua") ? strlen(".lua") : 0);
  return !args->out                    ? sct_arena_printf(arena, "%.*s.html", (int)n, name)
         : strcmp(args->out, "-") == 0 ? NULL
                                       : args->out;
}

sct_status cli_page(const cli_args *given, sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  cli_args with = *given;
  const cli_args *const args = &with;
  with.out = target_of(&arena, given);
  session s = {.progress = cli_progress_new(args)};
  const sct_tune_opts opts = {.device = args->device,
                              .store_path = args->store,
                              .strategy_dir = args->strategies,
                              .only = {args->only.n, args->only.items},
                              .seed = args->seed,
                              .settle = cli_settles(args),
                              .max_candidates = args->max_candidates,
                              .measure = cli_measure_opts(args)};
  const sct_tune_events events = {.ctx = &s, .progress = on_progress, .stop = on_stop};
  SCT_SCOPED(sct_tune_report) report = {0};
  if (args->out) {
    const char *const reads[] = {args->words[0]};
    SCT_TRY(cli_check_target(args, args->out, reads, 1, err));
  }
  cli_progress_start(&s.progress, sct_now_ns(), args->words[0]);
  const sct_status outcome = cli_hint_example(
      sct_tune_run(&report, args->words[0], &opts, &events, err), args->words[0], err);
  cli_progress_clear(&s.progress);
  sct_status status = outcome;
  if (report.name) {
    sct_error why = {0};
    status = write_page(args, &report, &why);
    if (status != SCT_OK) {
      *err = why;
    } else if (!given->out) {
      cli_note(args, "wrote %s", args->out);
    }
    status = status == SCT_OK ? outcome : status;
  }
  return status;
}
