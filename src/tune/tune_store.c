/* A session's rows in the store: problem, device, runs, and one durable transaction a candidate. */
#include "tune/tune_internal.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Rows own their strings when read; when written they borrow them. */
static char *borrow(const char *text) {
  return (char *)(uintptr_t)(text ? text : "");
}

static char *keep(tune_session *s, const char *text) {
  return sct_arena_strdup(&s->plan.arena, text);
}

/* ---- problem and device ------------------------------------------------------------------------
 */

static sct_status put_problem(tune_session *s, sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  char hex[SCT_HASH_HEX];
  sct_str_clear(&s->scratch);
  SCT_TRY(sct_codegen_signature(&s->scratch, spec, err));
  const char *signature = keep(s, sct_str_c(&s->scratch));
  sct_str_clear(&s->scratch);
  sct_str_append(&s->scratch, sct_path_basename(spec->file));
  sct_script_show_params(&s->scratch);
  s->problem = (sct_row_problem){.name = borrow(spec->name),
                                 .spec_hash = keep(s, sct_hash_hex(hex, spec->hash)),
                                 .spec_file = keep(s, sct_str_c(&s->scratch)),
                                 .canonical = borrow(spec->canonical),
                                 .signature = borrow(signature)};
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
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", d->cc_major, d->cc_minor);
  const char *nvrtc = sct_compiler_version(s->compiler);
  char *description = describe(d);
  if (!description) {
    return sct_fail(err, SCT_EINTERNAL, "the device's name is not UTF-8");
  }
  s->device_row = (sct_row_device){.name = borrow(d->name),
                                   .device_id = borrow(d->id),
                                   .uuid = borrow(d->uuid),
                                   .driver = borrow(d->driver),
                                   .nvrtc = borrow(nvrtc),
                                   .tool = borrow(SCT_VERSION),
                                   .arch = keep(s, arch),
                                   .cc_major = d->cc_major,
                                   .cc_minor = d->cc_minor,
                                   .is_virtual = d->is_virtual,
                                   .measurement = SCT_MEASUREMENT,
                                   .clock_khz = d->clock_khz,
                                   .options = borrow(sct_compiler_options(s->compiler)),
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
  sct_str gpu = {0};
  if (s->kind->times &&
      sct_tune_conditions(&gpu, sct_measure_conditions(s->measure), NULL) == SCT_OK) {
    json_object_set_new(doc, "gpu", json_loads(sct_str_c(&gpu), 0, NULL));
  }
  sct_str_free(&gpu);
  char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
  json_decref(doc);
  return text;
}

static void now_text(char out[32]) {
  struct timespec now;
  struct tm utc;
  clock_gettime(CLOCK_REALTIME, &now);
  const size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
  snprintf(out + n, 32 - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/* What an earlier session decided for a run stays until this one decides anew. */
static sct_status read_run(tune_session *s, sct_row_run *run, sct_error *err) {
  sct_row_run *rows = NULL;
  int n = 0;
  SCT_TRY(sct_store_runs(s->store, run->problem, run->device, &rows, &n, err));
  for (int k = 0; k < n; k++) {
    const sct_row_run *known = &rows[k];
    if (known->id == run->id) {
      run->ceiling_bytes_s = s->opts->again ? 0 : known->ceiling_bytes_s;
      run->noise = known->noise;
      run->n_candidates = known->n_candidates;
      run->n_verified = known->n_verified;
      run->n_failed = known->n_failed;
      run->n_tied = known->n_tied;
      run->winner = known->winner;
      run->naive = known->naive;
      run->raced = known->raced;
      run->started = keep(s, known->started);
      run->finished = keep(s, known->finished);
      run->conditions = keep(s, known->conditions);
    }
  }
  sct_row_run_free(rows, n);
  return SCT_OK;
}

static sct_status put_run(tune_session *s, int size, sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(spec, &spec->sizes[size], &read_bytes, &write_bytes);
  char now[32];
  now_text(now);
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
  SCT_TRY(sct_store_put_run(s->store, run, err));
  return read_run(s, run, err);
}

sct_status sct_tune_store_raced(tune_session *s, int size, int n_stages, sct_error *err) {
  s->runs[size].raced = n_stages;
  return sct_store_finish_run(s->store, &s->runs[size], err);
}

/* ---- races -------------------------------------------------------------------------------------
 */

/* The session's number of a race by its name. */
static int race_number(tune_session *s, const char *name) {
  for (size_t k = 0; k < s->n_races; k++) {
    if (strcmp(s->races[k], name) == 0) {
      return (int)k + 1;
    }
  }
  const char *copy = sct_arena_strdup(&s->plan.arena, name);
  SCT_GROW(s->races, s->n_races, s->cap_races);
  s->races[s->n_races++] = copy;
  return (int)s->n_races;
}

/* The name holds what no other race in any store shares: the process, the moment, the problem and
 * the device. */
int sct_tune_race_new(tune_session *s) {
  char hex[SCT_HASH_HEX], now[32];
  now_text(now);
  sct_str_clear(&s->scratch);
  sct_str_printf(&s->scratch, "%s %lld %ld %zu %s %s", now, (long long)sct_now_ns(), (long)getpid(),
                 s->n_races, s->device.uuid, s->plan.spec.canonical ? s->plan.spec.canonical : "");
  return race_number(s, sct_hash_hex(hex, sct_hash_text(sct_str_c(&s->scratch))));
}

sct_status sct_tune_store_begin(tune_session *s, sct_error *err) {
  SCT_TRY(put_problem(s, err));
  SCT_TRY(put_device(s, err));
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    SCT_TRY(put_run(s, z, err));
  }
  int n = 0;
  SCT_TRY(sct_store_count(s->store, s->problem.id, s->device_row.id, &n, err));
  s->nothing_known = n == 0;
  return sct_tune_find_stale(s, err);
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

static const char *race_name(const tune_session *s, const tune_cell *cell) {
  return cell->race > 0 ? s->races[cell->race - 1] : "";
}

static void fill_outcome(tune_session *s, int k, int size, sct_row_outcome *row) {
  const sct_tune_item *item = &s->plan.items[k];
  const tune_cell *cell = sct_tune_cell(s, k, size);
  const sct_outcome_kind kind = item->outcome != SCT_OUT_OK ? item->outcome : cell->verdict.outcome;
  const char *detail = item->outcome != SCT_OUT_OK ? item->detail : cell->verdict.detail;
  *row = (sct_row_outcome){.run = s->runs[size].id,
                           .outcome = borrow(sct_outcome_name(kind)),
                           .detail = borrow(detail),
                           .median_ns = cell->timing.median_ns,
                           .q1_ns = cell->timing.q1_ns,
                           .q3_ns = cell->timing.q3_ns,
                           .min_ns = cell->timing.min_ns,
                           .sm_clock_mhz = cell->timing.sm_clock_mhz,
                           .samples_ns = cell->timing.samples_ns,
                           .n_samples = cell->timing.n_samples,
                           .overhead_ns = cell->timing.overhead_ns,
                           .resident_ns = cell->timing.resident_ns,
                           .launches = cell->timing.launches,
                           .copies = cell->timing.copies,
                           .n_slow = cell->timing.n_slow,
                           .race = borrow(race_name(s, cell)),
                           .requests_ld = -1,
                           .sectors_ld = -1,
                           .sectors_ld_ideal = -1,
                           .requests_st = -1,
                           .sectors_st = -1,
                           .sectors_st_ideal = -1,
                           .wavefronts = -1,
                           .degree = -1,
                           .predicted_ns = cell->predicted.ns};
  if (!cell->counted || cell->estimated) {
    return;
  }
  const sct_counters *c = &cell->counters;
  row->requests_ld = (double)c->load.requests;
  row->sectors_ld = (double)c->load.sectors;
  row->sectors_ld_ideal = (double)c->load.sectors_ideal;
  row->requests_st = (double)c->store.requests;
  row->sectors_st = (double)c->store.sectors;
  row->sectors_st_ideal = (double)c->store.sectors_ideal;
  row->wavefronts = sct_model_exchanged(c);
  row->degree = sct_model_degrees(c, &s->plan.spec, &s->plan.spec.sizes[size]).both;
  row->counts_exact = c->blocks_counted == c->blocks && item->approximate == NULL;
  row->coalesced = cell->coalesced;
}

bool sct_tune_has_outcome(const tune_session *s, const sct_tune_item *item, const tune_cell *cell) {
  if (!item->code.source) {
    return false;
  }
  if (item->outcome != SCT_OUT_OK) {
    return true;
  }
  const bool done = s->kind->times ? cell->timing.n_samples > 0 : cell->verified;
  return cell->fits && (done || cell->verdict.outcome != SCT_OUT_OK);
}

#define N_COUNTS 6
static const char *const count_names[N_COUNTS] = {"requests_ld", "sectors_ld",    "requests_st",
                                                  "sectors_st",  "wavefronts_ld", "wavefronts_st"};

static void put_counts(sct_str *out, const char *name, const sct_run_counts *c) {
  const int64_t counts[N_COUNTS] = {c->requests_ld, c->sectors_ld,    c->requests_st,
                                    c->sectors_st,  c->wavefronts_ld, c->wavefronts_st};
  sct_str_append(out, "\"");
  sct_str_append(out, name);
  sct_str_append(out, "\":{");
  for (int k = 0; k < N_COUNTS; k++) {
    sct_str_append(out, k > 0 ? ",\"" : "\"");
    sct_str_append(out, count_names[k]);
    sct_str_append(out, "\":");
    sct_str_append_int(out, counts[k]);
  }
  sct_str_append(out, "}");
}

static const char *const pipe_names[SCT_N_PIPES] = {
#define SCT_PIPE(id, name, doc) [SCT_PIPE_##id] = name,
#include "base/base_pipes.def"
#undef SCT_PIPE
};

static void put_small_size(sct_str *out, const sct_ptx_check *check) {
  if (check->known) {
    sct_str_append(out, "{");
    put_counts(out, "ptx", &check->ptx);
    sct_str_append(out, ",\"machine\":{");
    for (int p = 0; p < SCT_N_PIPES; p++) {
      sct_str_printf(out, "%s\"%s\":[%.17g,%.17g]", p > 0 ? "," : "", pipe_names[p],
                     check->per_block[p], check->per_work[p]);
    }
    sct_str_printf(out, "},\"by\":\"%s\",\"elements\":%lld}",
                   check->by_elements ? "elements" : "requests", (long long)check->elements);
  }
}

static void take_counts(sct_run_counts *out, const json_t *doc) {
  int64_t *const counts[N_COUNTS] = {&out->requests_ld, &out->sectors_ld,    &out->requests_st,
                                     &out->sectors_st,  &out->wavefronts_ld, &out->wavefronts_st};
  for (int k = 0; k < N_COUNTS; k++) {
    *counts[k] = json_integer_value(json_object_get(doc, count_names[k]));
  }
}

static void take_small_size(sct_ptx_check *out, const char *text) {
  json_t *doc = json_loads(text, 0, NULL);
  const json_t *ptx = json_object_get(doc, "ptx");
  if (!out->known && json_is_object(ptx)) {
    *out = (sct_ptx_check){.known = true};
    take_counts(&out->ptx, ptx);
    for (int p = 0; p < SCT_N_PIPES; p++) {
      const json_t *each = json_object_get(json_object_get(doc, "machine"), pipe_names[p]);
      out->per_block[p] = json_number_value(json_array_get(each, 0));
      out->per_work[p] = json_number_value(json_array_get(each, 1));
    }
    const char *by = json_string_value(json_object_get(doc, "by"));
    out->by_elements = by != NULL && strcmp(by, "elements") == 0;
    out->elements = json_integer_value(json_object_get(doc, "elements"));
  }
  json_decref(doc);
}

/* What is known of a cell, but for the time of day. */
typedef struct told {
  sct_row_result row;
  char hex[SCT_HASH_HEX];  /* of the source; the row points here */
  sct_str small;           /* and here */
  char says[SCT_HASH_HEX]; /* all that the outcome says but which are coalesced */
} told;

static void tell(tune_session *s, int k, int size, told *out) {
  const sct_tune_item *item = &s->plan.items[k];
  out->small = (sct_str){0};
  fill_candidate(s, item, &out->row.candidate, out->hex);
  fill_outcome(s, k, size, &out->row.outcome);
  put_small_size(&out->small, &item->ptx);
  out->row.outcome.small_size = borrow(sct_str_c(&out->small));
  (void)sct_store_says(out->says, &out->row);
}

/* Does the store have all that is known of it, but maybe whether it is coalesced? */
static bool is_stored(tune_session *s, int k, int size) {
  const tune_cell *cell = sct_tune_cell(s, k, size);
  if (!cell->stored) {
    return false;
  }
  told now;
  tell(s, k, size, &now);
  const bool same = strcmp(now.says, cell->stored_as) == 0;
  sct_str_free(&now.small);
  return same;
}

sct_status sct_tune_store_cell(tune_session *s, int k, int size, bool replace, sct_error *err) {
  const sct_tune_item *item = &s->plan.items[k];
  tune_cell *cell = sct_tune_cell(s, k, size);
  if (cell->from_store || !sct_tune_has_outcome(s, item, cell)) {
    return SCT_OK;
  }
  if (s->runs[size].raced > 0 && !cell->from_store && !cell->stored && cell->timing.n_samples > 0 &&
      cell->race == 0) {
    SCT_TRY(sct_tune_store_raced(s, size, 0, err)); /* one more that has to race */
  }
  char now[32];
  told t;
  sct_str axes = {0};
  tell(s, k, size, &t);
  now_text(now);
  t.row.outcome.measured = now;
  sct_codegen_axes(&axes, &s->plan.space, &s->plan.space.candidates[item->candidate]);
  t.row.candidate.axes = axes.data;
  t.row.candidate.launch = borrow(item->code.launch);
  const sct_status status =
      sct_store_put_result(s->store, &t.row.candidate, &t.row.outcome, replace, err);
  cell->outcome_id = t.row.outcome.id;
  cell->stored = status == SCT_OK;
  memcpy(cell->stored_as, t.says, sizeof t.says);
  cell->was_coalesced = cell->coalesced;
  sct_str_free(&axes);
  sct_str_free(&t.small);
  return status;
}

sct_status sct_tune_store_size(tune_session *s, int size, sct_error *err) {
  const size_t most = (size_t)s->plan.n_items + 1;
  sct_id *outcomes = sct_alloc(sizeof *outcomes * most);
  bool *coalesced = sct_alloc(sizeof *coalesced * most);
  sct_status status = SCT_OK;
  const bool partly = sct_tune_is_part(s); /* what is least is known of all candidates together */
  int n = 0;
  for (int k = 0; k < s->plan.n_items && status == SCT_OK; k++) {
    tune_cell *cell = sct_tune_cell(s, k, size);
    if (!cell->from_store && !is_stored(s, k, size)) {
      status = sct_tune_store_cell(s, k, size, true, err);
    } else if (cell->coalesced != cell->was_coalesced && !(cell->from_store && partly)) {
      outcomes[n] = cell->outcome_id;
      coalesced[n++] = cell->was_coalesced = cell->coalesced;
    }
  }
  if (status == SCT_OK) {
    status = sct_store_put_judged(s->store, outcomes, coalesced, n, err);
  }
  sct_free(outcomes);
  sct_free(coalesced);
  return status;
}

/* Takes the samples, whose order is that of the rounds of their race, and what was made of them. */
static void take_timing(tune_session *s, tune_cell *cell, sct_row_outcome *known) {
  cell->timing = (sct_timing){.samples_ns = known->samples_ns,
                              .n_samples = known->n_samples,
                              .median_ns = known->median_ns,
                              .q1_ns = known->q1_ns,
                              .q3_ns = known->q3_ns,
                              .min_ns = known->min_ns,
                              .overhead_ns = known->overhead_ns > 0 ? known->overhead_ns : 0,
                              .resident_ns = known->resident_ns > 0 ? known->resident_ns : 0,
                              .launches = known->launches,
                              .copies = known->copies,
                              .n_slow = known->n_slow,
                              .sm_clock_mhz = known->sm_clock_mhz};
  known->samples_ns = NULL;
  cell->race = known->race[0] != '\0' ? race_number(s, known->race) : 0;
}

/* A failure is not tried again. At a size that the kernel does not fit it is one of the kernel. */
static void take_failure(tune_session *s, sct_tune_item *item, tune_cell *cell,
                         const sct_row_outcome *known) {
  for (int kind = 0; kind < SCT_N_OUTCOMES; kind++) {
    if (strcmp(known->outcome, sct_outcome_name((sct_outcome_kind)kind)) != 0) {
      continue;
    }
    cell->from_store = true;
    if (!cell->fits) {
      item->outcome = (sct_outcome_kind)kind;
      item->detail = keep(s, known->detail);
      return;
    }
    cell->verdict.outcome = (sct_outcome_kind)kind;
    snprintf(cell->verdict.detail, sizeof cell->verdict.detail, "%s", known->detail);
  }
}

sct_status sct_tune_store_resume(tune_session *s, int k, int size, sct_error *err) {
  tune_cell *cell = sct_tune_cell(s, k, size);
  sct_tune_item *item = &s->plan.items[k];
  if (item->outcome != SCT_OUT_OK || !item->code.source) {
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
  const bool good = strcmp(known.outcome.outcome, sct_outcome_name(SCT_OUT_OK)) == 0;
  take_small_size(&item->ptx, known.outcome.small_size);
  if (good && cell->fits && (!s->kind->times || known.outcome.n_samples > 0)) {
    take_timing(s, cell, &known.outcome);
    cell->verified = true;
    cell->from_store = true;
    cell->was_coalesced = known.outcome.coalesced;
  } else if (!good) {
    take_failure(s, item, cell, &known.outcome);
  }
  cell->outcome_id = known.outcome.id;
  sct_row_result_clear(&known);
  return SCT_OK;
}

sct_status sct_tune_resume_item(tune_session *s, int k, sct_error *err) {
  const bool ask =
      s->store && !s->opts->again && !(s->nothing_known && !sct_store_shared(s->store));
  for (int z = 0; ask && z < s->plan.spec.n_sizes; z++) {
    SCT_TRY(sct_tune_store_resume(s, k, z, err));
  }
  return SCT_OK;
}

/* Not all is compiled, so the report has times and outcomes, and not all registers and counts. */
/* The winner in the store is none of this session's candidates: the best of those is told, and what
 * stays. */
static sct_status report_kept(tune_session *s, int size, sct_error *err) {
  sct_rank_row *rows = sct_alloc(sizeof *rows * (size_t)(s->plan.n_items + 1));
  s->choices[size] = sct_tune_decide(s, size, rows);
  sct_free(rows);
  return sct_tune_find_kept(s, size, err);
}

sct_status sct_tune_store_known(tune_session *s, sct_error *err) {
  const sct_spec *spec = &s->plan.spec;
  for (int z = 0; z < spec->n_sizes; z++) {
    s->choices[z] = (sct_choice){.winner = -1, .fastest = -1, .faster_ratio = 1.0};
    for (int k = 0; k < s->plan.n_items; k++) {
      const sct_tune_item *item = &s->plan.items[k];
      tune_cell *cell = sct_tune_cell(s, k, z);
      cell->fits =
          item->outcome == SCT_OUT_OK && sct_codegen_fits(spec, &item->code, &spec->sizes[z]);
      if (s->store && !cell->from_store) {
        SCT_TRY(sct_tune_store_resume(s, k, z, err));
      }
      cell->coalesced = cell->was_coalesced;
      if (cell->from_store && cell->outcome_id == s->runs[z].winner) {
        s->choices[z].winner = k;
        s->choices[z].n_tied = s->runs[z].n_tied;
      }
    }
    if (s->choices[z].winner < 0 && s->runs[z].winner != 0 && sct_tune_is_part(s)) {
      SCT_TRY(report_kept(s, z, err));
    }
  }
  return SCT_OK;
}

/* When the run was decided: now, unless nothing came that an earlier session did not have. */
static char *decided(tune_session *s, int size) {
  char now[32];
  bool anything = s->runs[size].finished == NULL || s->runs[size].finished[0] == '\0';
  for (int k = 0; !anything && k < s->plan.n_items; k++) {
    const tune_cell *cell = sct_tune_cell(s, k, size);
    anything = s->plan.items[k].outcome == SCT_OUT_OK && !cell->from_store &&
               sct_tune_has_outcome(s, &s->plan.items[k], cell);
  }
  now_text(now);
  return anything ? keep(s, now) : s->runs[size].finished;
}

/* ---- the end of a run --------------------------------------------------------------------------
 */

static void count_outcomes(tune_session *s, int size) {
  sct_row_run *run = &s->runs[size];
  run->n_candidates = run->n_verified = run->n_failed = 0;
  for (int k = 0; k < s->plan.n_items; k++) {
    const tune_cell *cell = sct_tune_cell(s, k, size);
    const sct_tune_item *item = &s->plan.items[k];
    if (sct_tune_has_outcome(s, item, cell)) {
      const bool good = item->outcome == SCT_OUT_OK && cell->verdict.outcome == SCT_OUT_OK;
      run->n_candidates++;
      run->n_verified += good;
      run->n_failed += !good;
    }
  }
}

sct_id sct_tune_naive_outcome(tune_session *s, int size, const int *layout) {
  const int64_t naive = sct_codegen_naive(&s->plan.spec, &s->plan.space, layout);
  for (int k = 0; k < s->plan.n_items; k++) {
    if (s->plan.items[k].candidate == naive) {
      return sct_tune_cell(s, k, size)->outcome_id;
    }
  }
  return 0;
}

sct_status sct_tune_store_end(tune_session *s, int size, sct_error *err) {
  sct_row_run *run = &s->runs[size];
  const sct_choice *choice = &s->choices[size];
  SCT_TRY(sct_tune_find_kept(s, size, err));
  if (s->kept[size]) { /* but for the ceiling and the winner as it was */
    return sct_store_finish_run(s->store, run, err);
  }
  count_outcomes(s, size);
  run->finished = decided(s, size);
  run->n_tied = choice->n_tied;
  run->noise = choice->noise;
  if (s->kind->times && sct_measure_conditions(s->measure)->n_samples > 0) {
    char *conditions = conditions_json(s); /* with the clocks seen meanwhile */
    run->conditions = conditions ? keep(s, conditions) : run->conditions;
    sct_free(conditions);
  }
  if (choice->winner >= 0) {
    run->winner = sct_tune_cell(s, choice->winner, size)->outcome_id;
    run->naive = sct_tune_naive_outcome(s, size, s->plan.items[choice->winner].code.layout);
    sct_str conditions = {0};
    sct_str_append(&conditions, run->conditions);
    sct_tune_add_shapes(s, size, &conditions);
    run->conditions = keep(s, sct_str_c(&conditions));
    sct_str_free(&conditions);
  }
  return sct_store_finish_run(s->store, run, err);
}
