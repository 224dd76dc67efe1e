/* One session from spec to stored winners: the order of the phases, and what they share. */
#include "tune/tune_internal.h"

/* Share of a budget that generating may take, counting too, and races too. */
#define GENERATE_SHARE 0.25

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* Anything that the store did not have. */
static bool measured_anything(const tune_table *t) {
  bool measured = false;
  for (int k = 0; k < t->cands->n_items * t->cands->spec.n_sizes; k++) {
    const tune_cell *cell = &t->cells[k];
    measured = measured || ((cell->verified || sct_tune_is_timed(cell)) && !cell->from_store);
  }
  return measured;
}

/* Decides at every size, and stores what was decided. */
static sct_status conclude(tune_session *s, sct_error *err) {
  SCT_OWNED sct_rank_row *rows = sct_alloc(sizeof *rows * (size_t)(s->cands.n_items + 1));
  for (int z = 0; z < s->cands.spec.n_sizes; z++) {
    s->table.choices[z] = sct_tune_decide(&s->table, z, rows);
    if (s->cands.spec.sizes[z].around && s->table.choices[z].winner < 0) {
      continue; /* there was no time for it */
    }
    sct_tune_notify_size(&s->flow, &s->table, z);
    SCT_TRY(sct_tune_store_size(&s->record, z, err));
    SCT_TRY(sct_tune_store_end(&s->record, z, err));
  }
  return SCT_OK;
}

/* When the session is to end: the budget counts from begun_ns on. What follows generation has half
 * of it in any case, for whatever was generated is worth nothing until it is tried. */
static int64_t deadline(int64_t budget_ns, int64_t begun_ns) {
  const int64_t end_ns = begun_ns + budget_ns, least_ns = sct_now_ns() + budget_ns / 2;
  return budget_ns == 0 ? 0 : end_ns > least_ns ? end_ns : least_ns;
}

/* Device, store and candidates, and the parts that follow from these. */
static sct_status begin(tune_session *s, const char *spec_path, int64_t *begun_ns, sct_error *err) {
  const sct_tune_opts *opts = s->opts;
  SCT_TRY(sct_tune_device_open(&s->device, opts, err));
  SCT_TRY(sct_tune_record_open(&s->record, &s->table, &s->device, opts, err));
  sct_tune_fill_rates(&s->device, opts);
  *begun_ns = sct_now_ns(); /* without the wait for the device */
  const int64_t share_ns = (int64_t)(GENERATE_SHARE * (double)opts->budget_ns);
  const int64_t until_ns = opts->budget_ns > 0 ? *begun_ns + share_ns : 0;
  const sct_compiler *const compiler = s->device.compiler; /* a replay has none */
  const sct_tune_candidates_opts cands = {.strategy_dir = opts->strategy_dir,
                                          .only = &opts->only,
                                          .share = opts->share,
                                          .heat = opts->heat,
                                          .around = opts->around,
                                          .select_any = opts->select_any,
                                          .until_ns = until_ns,
                                          .events = s->flow.events,
                                          .nvrtc =
                                              compiler ? sct_compiler_version(compiler) : NULL};
  SCT_TRY(sct_tune_candidates_make(&s->cands, spec_path, &s->device.desc, &cands, err));
  sct_tune_table_init(&s->table, &s->cands, s->device.kind->times, opts);
  s->counting = (tune_counting){.table = &s->table,
                                .rated = &s->device.rated,
                                .seed = opts->seed,
                                .recorded = s->device.replay != NULL};
  return s->device.replay ? sct_tune_replay_load(s->device.replay, &s->cands, err) : SCT_OK;
}

static sct_status run_phases(tune_session *s, const char *spec_path, sct_error *err) {
  const sct_search_method *method;
  int64_t begun_ns = 0;
  SCT_TRY(sct_search_find(&method, sct_tune_search_name(s->opts), err));
  SCT_TRY(begin(s, spec_path, &begun_ns, err));
  sct_tune_notify_start(&s->flow, &s->cands, sct_tune_conditions_of(&s->device));
  SCT_TRY(sct_tune_store_begin(&s->record, err));
  s->searching = sct_tune_searches(s->opts);
  s->begun_ns = begun_ns;
  SCT_TRY(sct_tune_queue_begin(s, err));
  s->flow.deadline_ns = deadline(s->opts->budget_ns, begun_ns);
  const sct_status measured = sct_tune_measure(s, err);
  const bool early = sct_tune_stop(&s->flow);
  s->flow.out_of_time = s->flow.out_of_time || s->cands.n_ungenerated > 0;
  sct_measure_end_worker(s->device.measure); /* its worker takes a while to end */
  sct_tune_queue_end(s);
  if (measured != SCT_OK && measured != SCT_ENOTVERIFIED) {
    return measured;
  }
  if (early && s->record.store && !measured_anything(&s->table)) {
    return sct_tune_store_known(&s->record, err);
  }
  const sct_status status = conclude(s, err);
  return status == SCT_OK ? measured : status;
}

static void close_session(tune_session *s) {
  sct_tune_queue_end(s);
  sct_measure_close(s->device.measure); /* it borrows the spec and the kernels of cands */
  sct_tune_counting_free(&s->counting);
  sct_tune_table_free(&s->table);
  sct_tune_candidates_free(&s->cands);
  sct_tune_device_close(&s->device);
  sct_tune_record_close(&s->record);
}

/* What the session as a whole came to. */
static sct_status verdict(const tune_session *s, sct_error *err) {
  for (int z = 0; z < s->cands.spec.n_sizes; z++) {
    if (s->table.choices[z].winner < 0 && !s->flow.stopped && !s->cands.spec.sizes[z].around) {
      return sct_fail(err, SCT_ENOTVERIFIED,
                      "%s at %s: no candidate was verified; `--json` lists why", s->cands.spec.name,
                      s->cands.spec.sizes[z].label);
    }
  }
  if (s->flow.stopped) {
    return sct_fail(err, SCT_EINTERRUPTED,
                    measured_anything(&s->table)
                        ? "interrupted; results so far are stored, the same command continues"
                        : "interrupted before any candidate was evaluated");
  }
  if (s->flow.out_of_time) {
    return sct_fail(err, SCT_ESTOPPED, "%s: the time budget ended before every candidate was %s",
                    s->cands.spec.name, s->device.kind->times ? "timed" : "verified");
  }
  return SCT_OK;
}

sct_status sct_tune_run(sct_tune_report *out, const char *spec_path, const sct_tune_opts *opts,
                        const sct_tune_events *events, sct_error *err) {
  *out = (sct_tune_report){0};
  tune_session s = {.opts = opts, .flow = {.events = events}};
  sct_status status = run_phases(&s, spec_path, err);
  if (status == SCT_OK || status == SCT_ENOTVERIFIED) {
    const sct_status filled = sct_tune_report_fill(&s, out, err);
    if (filled != SCT_OK) {
      status = filled;
    } else if (status == SCT_OK) {
      status = verdict(&s, err);
    }
  }
  close_session(&s);
  return status;
}
