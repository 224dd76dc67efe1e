/* A session's rows in the store: problem, device, runs, and one durable transaction a candidate. */
#include "tune/tune_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Rows own their strings when read; when written they borrow them. */
static char *borrow(const char *text) {
  return (char *)(uintptr_t)(text ? text : "");
}

static char *keep(tune_session *s, const char *text) {
  char *copy = sct_arena_strdup(&s->plan.arena, text);
  return copy ? copy : borrow("");
}

static sct_status out_of_memory(sct_error *err) {
  return sct_fail(err, SCT_ENOMEM, "out of memory");
}

/* ---- problem and device ------------------------------------------------------------------------
 */

static sct_status put_problem(tune_session *s, sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  char hex[SCT_HASH_HEX];
  sct_str_clear(&s->scratch);
  SCT_TRY(sct_codegen_signature(&s->scratch, spec, err));
  s->problem = (sct_row_problem){.name = borrow(spec->name),
                                 .spec_hash = keep(s, sct_hash_hex(hex, spec->hash)),
                                 .spec_file = borrow(sct_path_basename(spec->file)),
                                 .canonical = borrow(spec->canonical),
                                 .signature = keep(s, sct_str_c(&s->scratch))};
  return sct_store_put_problem(s->store, &s->problem, err);
}

static char *describe(const sct_device_desc *d) {
  json_t *doc =
      json_pack("{s:s, s:i, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:f, s:f, s:I, s:i}", "name",
                d->name, "n_sms", d->n_sms, "smem_sm_bytes", (json_int_t)d->smem_sm_bytes,
                "smem_block_bytes", (json_int_t)d->smem_block_bytes, "smem_block_optin_bytes",
                (json_int_t)d->smem_block_optin_bytes, "regs_sm", d->regs_sm, "threads_sm",
                d->threads_sm, "blocks_sm", d->blocks_sm, "l2_bytes", (json_int_t)d->l2_bytes,
                "peak_bytes_s", d->peak_bytes_s, "copy_bytes_s", d->copy_bytes_s, "memory_bytes",
                (json_int_t)d->memory_bytes, "clock_khz", d->clock_khz);
  char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
  json_decref(doc);
  return text;
}

static sct_status put_device(tune_session *s, sct_error *err) {
  const sct_device_desc *d = &s->device;
  char hex[SCT_HASH_HEX], arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", d->cc_major, d->cc_minor);
  const char *nvrtc = sct_compiler_version(s->compiler);
  sct_str_clear(&s->scratch);
  sct_str_printf(&s->scratch, "%s\n%s\n%s\n%s\n%s\n%s\n%s", d->id, d->name, d->uuid, arch,
                 d->driver, nvrtc, SCT_VERSION);
  char *description = describe(d);
  if (!description) {
    return out_of_memory(err);
  }
  s->device_row =
      (sct_row_device){.key = keep(s, sct_hash_hex(hex, sct_hash_text(sct_str_c(&s->scratch)))),
                       .name = borrow(d->name),
                       .device_id = borrow(d->id),
                       .uuid = borrow(d->uuid),
                       .driver = borrow(d->driver),
                       .nvrtc = borrow(nvrtc),
                       .tool = borrow(SCT_VERSION),
                       .arch = keep(s, arch),
                       .cc_major = d->cc_major,
                       .cc_minor = d->cc_minor,
                       .is_virtual = d->is_virtual,
                       .description = keep(s, description)};
  sct_free(description);
  return sct_store_put_device(s->store, &s->device_row, err);
}

/* ---- runs --------------------------------------------------------------------------------------
 */

static char *extents_json(const sct_spec *spec, const sct_size *size) {
  json_t *doc = json_object();
  for (int k = 0; k < spec->n_extents; k++) {
    json_object_set_new(doc, spec->extent_names[k], json_integer(size->extent[k]));
  }
  char *text = json_dumps(doc, JSON_COMPACT);
  json_decref(doc);
  return text;
}

static char *conditions_json(const tune_session *s) {
  json_t *doc = json_pack(
      "{s:I, s:s, s:s, s:s}", "seed", (json_int_t)s->opts->seed, "options",
      sct_compiler_options(s->compiler), "selection", s->opts->select_any ? "any" : "coalesced",
      "protocol",
      s->kind->times
          ? "units of launches held back until queued, streaming over copies, launch cost "
            "subtracted; screen, race, final"
          : "PTX verified on the CPU; counted and predicted, not timed");
  char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
  json_decref(doc);
  return text;
}

static sct_status put_run(tune_session *s, int size, sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(spec, &spec->sizes[size], &read_bytes, &write_bytes);
  char now[32];
  const time_t t = time(NULL);
  struct tm utc;
  strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
  char *extents = extents_json(spec, &spec->sizes[size]), *conditions = conditions_json(s);
  sct_row_run *run = &s->runs[size];
  *run = (sct_row_run){.problem = s->problem.id,
                       .device = s->device_row.id,
                       .size_label = borrow(spec->sizes[size].label),
                       .extents = keep(s, extents ? extents : "{}"),
                       .read_bytes = (double)read_bytes,
                       .write_bytes = (double)write_bytes,
                       .started = keep(s, now),
                       .conditions = keep(s, conditions ? conditions : "{}")};
  sct_free(extents);
  sct_free(conditions);
  return sct_store_put_run(s->store, run, err);
}

sct_status sct_tune_store_begin(tune_session *s, sct_error *err) {
  SCT_TRY(put_problem(s, err));
  SCT_TRY(put_device(s, err));
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    SCT_TRY(put_run(s, z, err));
  }
  return SCT_OK;
}

/* ---- candidates and outcomes -------------------------------------------------------------------
 */

static void fill_candidate(tune_session *s, const sct_tune_item *item, sct_row_candidate *row,
                           char hex[SCT_HASH_HEX]) {
  const sct_candidate *cand = &s->plan.space.candidates[item->candidate];
  *row = (sct_row_candidate){
      .problem = s->problem.id,
      .source_hash = sct_hash_hex(hex, item->code.hash),
      .label = item->label,
      .strategy = borrow(s->plan.space.strategies[cand->strategy].name),
      .source = borrow(item->code.source),
      .kernel = borrow(item->code.kernel),
      .options = borrow(sct_compiler_options(s->compiler)),
      .registers = item->compiled.registers,
      .spill_bytes = item->compiled.spill_load_bytes + item->compiled.spill_store_bytes,
      .shared_bytes = item->compiled.static_shared_bytes + (int)item->code.shared_bytes};
}

static void fill_outcome(const sct_tune_item *item, const tune_cell *cell, const sct_row_run *run,
                         sct_row_outcome *row) {
  const sct_outcome_kind kind = item->outcome != SCT_OUT_OK ? item->outcome : cell->verdict.outcome;
  const char *detail = item->outcome != SCT_OUT_OK ? item->detail : cell->verdict.detail;
  *row = (sct_row_outcome){.run = run->id,
                           .outcome = borrow(sct_outcome_name(kind)),
                           .detail = borrow(detail),
                           .median_ns = cell->timing.median_ns,
                           .q1_ns = cell->timing.q1_ns,
                           .q3_ns = cell->timing.q3_ns,
                           .min_ns = cell->timing.min_ns,
                           .sm_clock_mhz = cell->timing.sm_clock_mhz,
                           .samples_ns = cell->timing.samples_ns,
                           .n_samples = cell->timing.n_samples,
                           .requests_ld = -1,
                           .sectors_ld = -1,
                           .sectors_ld_ideal = -1,
                           .requests_st = -1,
                           .sectors_st = -1,
                           .sectors_st_ideal = -1,
                           .wavefronts = -1,
                           .degree = -1,
                           .predicted_ns = cell->predicted.ns};
  if (!cell->counted) {
    return;
  }
  const sct_counters *c = &cell->counters;
  const sct_count whole = {.bytes = c->load.bytes + c->store.bytes,
                           .sectors = c->load.sectors + c->store.sectors};
  row->requests_ld = (double)c->load.requests;
  row->sectors_ld = (double)c->load.sectors;
  row->sectors_ld_ideal = (double)c->load.sectors_ideal;
  row->requests_st = (double)c->store.requests;
  row->sectors_st = (double)c->store.sectors;
  row->sectors_st_ideal = (double)c->store.sectors_ideal;
  row->wavefronts = (double)(c->wavefronts_ld + c->wavefronts_st);
  row->degree = sct_model_degree(&whole);
  row->counts_exact = c->blocks_counted == c->blocks && item->approximate == NULL;
  row->coalesced = cell->coalesced;
}

/* Nothing is stored of a kernel whose requirements do not hold at this size, of one without text,
 * or of one that was not reached. */
static bool has_outcome(const tune_session *s, const sct_tune_item *item, const tune_cell *cell) {
  if (!item->code.source) {
    return false;
  }
  if (item->outcome != SCT_OUT_OK) {
    return true;
  }
  const bool done = s->kind->times ? cell->timing.n_samples > 0 : cell->verified;
  return cell->fits && (done || cell->verdict.outcome != SCT_OUT_OK);
}

sct_status sct_tune_store_cell(tune_session *s, int k, int size, bool replace, sct_error *err) {
  const sct_tune_item *item = &s->plan.items[k];
  tune_cell *cell = sct_tune_cell(s, k, size);
  if (!has_outcome(s, item, cell)) {
    return SCT_OK;
  }
  char hex[SCT_HASH_HEX];
  sct_row_candidate cand;
  sct_row_outcome outcome;
  fill_candidate(s, item, &cand, hex);
  fill_outcome(item, cell, &s->runs[size], &outcome);
  sct_str axes = {0}, launch = {0};
  sct_status status =
      sct_codegen_axes(&axes, &s->plan.space, &s->plan.space.candidates[item->candidate], err);
  if (status == SCT_OK) {
    status = sct_codegen_launch(&launch, &s->plan.spec, &item->code, err);
  }
  if (status == SCT_OK) {
    cand.axes = axes.data;
    cand.launch = launch.data;
    status = sct_store_put_result(s->store, &cand, &outcome, replace, err);
    cell->outcome_id = outcome.id;
  }
  sct_str_free(&axes);
  sct_str_free(&launch);
  return status;
}

sct_status sct_tune_store_resume(tune_session *s, int k, int size, sct_error *err) {
  tune_cell *cell = sct_tune_cell(s, k, size);
  sct_tune_item *item = &s->plan.items[k];
  if (item->outcome != SCT_OUT_OK || !cell->fits) {
    return SCT_OK;
  }
  char hex[SCT_HASH_HEX];
  sct_row_result known;
  bool found = false;
  SCT_TRY(sct_store_find(s->store, s->runs[size].id, sct_hash_hex(hex, item->code.hash), &known,
                         &found, err));
  if (!found) {
    return SCT_OK;
  }
  if (strcmp(known.outcome.outcome, sct_outcome_name(SCT_OUT_OK)) == 0) {
    cell->timing.samples_ns = known.outcome.samples_ns;
    cell->timing.n_samples = known.outcome.n_samples;
    known.outcome.samples_ns = NULL;
    cell->timing.sm_clock_mhz = known.outcome.sm_clock_mhz;
    if (s->kind->times) {
      sct_stats_summary(&cell->timing);
    }
    cell->verified = true;
    cell->from_store = true;
  } else {
    for (int kind = 0; kind < SCT_N_OUTCOMES; kind++) { /* a failure is not tried again */
      if (strcmp(known.outcome.outcome, sct_outcome_name((sct_outcome_kind)kind)) == 0) {
        cell->verdict.outcome = (sct_outcome_kind)kind;
        snprintf(cell->verdict.detail, sizeof cell->verdict.detail, "%s",
                 known.outcome.detail ? known.outcome.detail : "");
        cell->from_store = true;
      }
    }
  }
  sct_row_result_clear(&known);
  return SCT_OK;
}

sct_status sct_tune_store_end(tune_session *s, int size, sct_error *err) {
  sct_row_run *run = &s->runs[size];
  const sct_choice *choice = &s->choices[size];
  run->n_candidates = run->n_verified = run->n_failed = 0;
  for (int k = 0; k < s->plan.n_items; k++) {
    const tune_cell *cell = sct_tune_cell(s, k, size);
    const sct_tune_item *item = &s->plan.items[k];
    if (!has_outcome(s, item, cell)) {
      continue;
    }
    const bool good = item->outcome == SCT_OUT_OK && cell->verdict.outcome == SCT_OUT_OK;
    run->n_candidates++;
    run->n_verified += good;
    run->n_failed += !good;
  }
  run->n_tied = choice->n_tied;
  run->noise = choice->noise;
  if (choice->winner >= 0) {
    run->winner = sct_tune_cell(s, choice->winner, size)->outcome_id;
    run->naive = 0;
    const int64_t naive =
        sct_codegen_naive(&s->plan.spec, &s->plan.space, s->plan.items[choice->winner].code.layout);
    for (int k = 0; k < s->plan.n_items; k++) {
      if (s->plan.items[k].candidate == naive) {
        run->naive = sct_tune_cell(s, k, size)->outcome_id;
      }
    }
  }
  return sct_store_finish_run(s->store, run, err);
}
