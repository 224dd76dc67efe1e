/* A session's rows in the store: problem, device, runs, and one durable transaction a candidate. */
#include "tune/tune_record.h"
#include "json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *keep(const tune_record *r, const char *text) {
  return sct_arena_strdup(&r->table->cands->arena, text);
}

/* ---- opening ---- */

sct_status sct_tune_open_store(sct_store **out, const char *given, bool read_only, sct_error *err) {
  if (given) {
    return given[0] == '\0' ? SCT_OK : sct_store_open(out, given, read_only, err);
  }
  SCT_SCOPED(sct_str) path = {0};
  SCT_TRY(sct_path_store(&path, err));
  return sct_store_open(out, sct_str_c(&path), read_only, err);
}

sct_status sct_tune_record_open(tune_record *out, tune_table *table, const tune_device *where,
                                const sct_tune_opts *opts, sct_error *err) {
  *out = (tune_record){.table = table, .where = where, .opts = opts};
  return where->replay ? SCT_OK /* it measures nothing that could be kept */
                       : sct_tune_open_store(&out->store, opts->store_path, false, err);
}

void sct_tune_record_close(tune_record *r) {
  sct_free(r->runs);
  sct_free(r->kept);
  sct_free(r->stale);
  if (r->store) {
    sct_store_close(r->store);
  }
}

/* ---- problem and device ------------------------------------------------------------------------
 */

static sct_status put_problem(tune_record *r, sct_error *err) {
  const sct_spec *spec = &r->table->cands->spec;
  char hex[SCT_HASH_HEX];
  SCT_SCOPED(sct_str) signature = {0}, file = {0};
  sct_status status = sct_codegen_signature(&signature, spec, err);
  sct_str_append(&file, sct_path_basename(spec->file));
  sct_script_show_params(&file);
  r->problem = (sct_row_problem){.name = spec->name,
                                 .spec_hash = keep(r, sct_hash_hex(hex, spec->hash)),
                                 .spec_file = keep(r, sct_str_c(&file)),
                                 .canonical = spec->canonical,
                                 .signature = keep(r, sct_str_c(&signature))};
  return status == SCT_OK ? sct_store_put_problem(r->store, &r->problem, err) : status;
}

/* NULL: a text is not UTF-8. */
static char *compact(json_t *doc) {
  sct_str text = {0};
  (void)sct_json_dump(&text, doc, JSON_COMPACT, NULL);
  return text.data;
}

static char *describe(const sct_device_desc *d) {
  json_t *doc = json_pack("{s:s}", "name", d->name);
#define SCT_SMALL(name)  json_object_set_new(doc, #name, json_integer(d->name));
#define SCT_NUMBER(name) SCT_SMALL(name)
#define SCT_RATE(name)   json_object_set_new(doc, #name, json_real(d->name));
#define SCT_KEPT_IN_STORE
#include "spec/spec_device.def"
#undef SCT_KEPT_IN_STORE
  return compact(doc);
}

sct_status sct_tune_device_row(sct_row_device *row, const sct_device_desc *d, const char *nvrtc,
                               const char *options, sct_arena *arena, sct_error *err) {
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", d->cc_major, d->cc_minor);
  char *description = describe(d);
  if (!description) {
    return sct_fail(err, SCT_EINTERNAL, "the device's name is not UTF-8");
  }
  *row = (sct_row_device){.name = d->name,
                          .device_id = d->id,
                          .uuid = d->uuid,
                          .driver = d->driver,
                          .nvrtc = nvrtc,
                          .tool = SCT_VERSION,
                          .arch = sct_arena_strdup(arena, arch),
                          .cc_major = d->cc_major,
                          .cc_minor = d->cc_minor,
                          .is_virtual = d->is_virtual,
                          .measurement = SCT_MEASUREMENT,
                          .clock_khz = d->clock_khz,
                          .options = options,
                          .description = sct_arena_strdup(arena, description)};
  sct_free(description);
  return SCT_OK;
}

sct_status sct_tune_put_device(sct_store *store, const sct_device_desc *d, const char *nvrtc,
                               const char *options, sct_arena *arena, sct_row_device *row,
                               sct_error *err) {
  SCT_TRY(sct_tune_device_row(row, d, nvrtc, options, arena, err));
  return sct_store_put_device(store, row, err);
}

static sct_status put_device(tune_record *r, sct_error *err) {
  return sct_tune_put_device(r->store, &r->where->desc, sct_compiler_version(r->where->compiler),
                             sct_compiler_options(r->where->compiler), &r->table->cands->arena,
                             &r->device, err);
}

/* ---- runs --------------------------------------------------------------------------------------
 */

char *sct_tune_extents_json(const sct_spec *spec, const sct_size *size) {
  json_t *doc = json_object();
  for (int k = 0; k < spec->n_extents; k++) {
    json_object_set_new(doc, spec->extent_names[k], json_integer(size->extent[k]));
  }
  return compact(doc);
}

/* Which part of the candidates a session is of, and where; "": not a share, nor a final heat. */
static const char *part_of(const tune_record *r) {
  const sct_tune_opts *o = r->opts;
  sct_arena *arena = &r->table->cands->arena;
  return o->share.n > 0       ? sct_arena_printf(arena, "share %d/%d", o->share.k, o->share.n)
         : o->heat.store_path ? sct_arena_printf(arena, "top %d", o->heat.n)
                              : "";
}

/* Candidates that the session may try at this size. */
static int count_to_try(const tune_table *t, int size) {
  int n = 0;
  for (int k = 0; k < t->cands->n_items; k++) {
    const sct_tune_item *item = &t->cands->items[k];
    n += item->outcome != SCT_OUT_OK || sct_tune_is_for_size(t->cands, item, size);
  }
  return n;
}

static void put_part(const tune_record *r, int size, json_t *doc) {
  const char *part = part_of(r);
  char node[256] = "";
  (void)gethostname(node, sizeof node - 1);
  if (part[0] != '\0') {
    json_object_set_new(doc, "part", json_string(part));
    json_object_set_new(doc, "node", sct_json_string(node));
    json_object_set_new(doc, "planned", json_integer(count_to_try(r->table, size)));
  } else {
    json_object_del(doc, "part");
    json_object_del(doc, "node");
    json_object_del(doc, "planned");
  }
}

static bool is_of_other_part(const tune_record *r, const char *conditions) {
  SCT_OWNED_PTR(json_t) doc = sct_json_load(conditions);
  const char *part = json_string_value(json_object_get(doc, "part"));
  return strcmp(part ? part : "", part_of(r)) != 0;
}

static char *conditions_json(const tune_record *r, int size) {
  json_t *doc = json_pack(
      "{s:I, s:s, s:s, s:s}", "seed", (json_int_t)r->opts->seed, "options",
      sct_compiler_options(r->where->compiler), "selection",
      r->table->select_any ? "any" : "coalesced", "protocol",
      r->table->times
          ? "units of launches held back until queued, streaming over copies, launch cost "
            "subtracted; quick pass, race, final"
          : "PTX verified on the CPU; counted and predicted, not timed");
  SCT_SCOPED(sct_str) gpu = {0};
  if (r->table->times &&
      sct_tune_conditions(&gpu, sct_measure_conditions(r->where->measure), NULL) == SCT_OK) {
    json_object_set_new(doc, "gpu", sct_json_load(sct_str_c(&gpu)));
  }
  put_part(r, size, doc);
  return compact(doc);
}

void sct_tune_timestamp(char out[32]) {
  struct timespec now;
  struct tm utc;
  clock_gettime(CLOCK_REALTIME, &now);
  const size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
  snprintf(out + n, 32 - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/* What an earlier session decided for a run stays until this one decides anew. */
static sct_status read_run(tune_record *r, sct_row_run *run, sct_error *err) {
  sct_row_run *rows = NULL;
  int n = 0;
  SCT_TRY(
      sct_store_runs(r->store, &r->table->cands->arena, run->problem, run->device, &rows, &n, err));
  for (int k = 0; k < n; k++) {
    const sct_row_run *known = &rows[k];
    if (known->id == run->id) {
      const double ceiling_bytes_s = r->opts->again ? 0 : known->ceiling_bytes_s;
      *run = *known;
      if (is_of_other_part(r, known->conditions)) {
        run->raced = 0; /* others raced */
      }
      run->ceiling_bytes_s = ceiling_bytes_s;
    }
  }
  return SCT_OK;
}

static sct_status put_run(tune_record *r, int size, sct_error *err) {
  const sct_spec *spec = &r->table->cands->spec;
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(spec, &spec->sizes[size], &read_bytes, &write_bytes);
  char now[32];
  sct_tune_timestamp(now);
  char *extents = sct_tune_extents_json(spec, &spec->sizes[size]),
       *conditions = conditions_json(r, size);
  sct_row_run *run = &r->runs[size];
  *run = (sct_row_run){.problem = r->problem.id,
                       .device = r->device.id,
                       .size_label = spec->sizes[size].label,
                       .extents = keep(r, extents ? extents : "{}"),
                       .read_bytes = (double)read_bytes,
                       .write_bytes = (double)write_bytes,
                       .started = keep(r, now),
                       .conditions = keep(r, conditions ? conditions : "{}")};
  sct_free(extents);
  sct_free(conditions);
  SCT_TRY(sct_store_put_run(r->store, run, err));
  return read_run(r, run, err);
}

sct_status sct_tune_store_raced(tune_record *r, int size, int n_stages, sct_error *err) {
  if (!r->store) {
    return SCT_OK;
  }
  r->runs[size].raced = n_stages;
  return sct_store_finish_run(r->store, &r->runs[size], err);
}

sct_status sct_tune_store_begin(tune_record *r, sct_error *err) {
  const size_t n_sizes = (size_t)r->table->cands->spec.n_sizes;
  r->runs = sct_alloc(sizeof *r->runs * (n_sizes + 1));
  r->kept = sct_alloc(sizeof *r->kept * (n_sizes + 1));
  if (!r->store) {
    return SCT_OK;
  }
  SCT_TRY(put_problem(r, err));
  SCT_TRY(put_device(r, err));
  for (int z = 0; z < r->table->cands->spec.n_sizes; z++) {
    SCT_TRY(put_run(r, z, err));
  }
  int n = 0;
  SCT_TRY(sct_store_count(r->store, r->problem.id, r->device.id, &n, err));
  r->nothing_known = n == 0;
  return sct_tune_find_stale(r, err);
}

/* ---- candidates and outcomes -------------------------------------------------------------------
 */

static void fill_candidate(tune_record *r, const sct_tune_item *item, sct_row_candidate *row,
                           char hex[SCT_HASH_HEX]) {
  const sct_candidate *cand = &r->table->cands->space.candidates[item->candidate];
  *row = (sct_row_candidate){
      .problem = r->problem.id,
      .source_hash = sct_hash_hex(hex, item->code.hash),
      .label = item->label,
      .strategy = r->table->cands->space.strategies[cand->strategy].name,
      .source = item->code.source,
      .kernel = item->code.kernel,
      .options = sct_compiler_options(r->where->compiler),
      .registers = item->compiled.registers,
      .spill_bytes = item->compiled.spill_load_bytes + item->compiled.spill_store_bytes,
      .shared_bytes = item->compiled.static_shared_bytes + (int)item->code.shared_bytes};
}

static void fill_outcome(tune_record *r, int k, int size, sct_row_outcome *row) {
  const sct_tune_item *item = &r->table->cands->items[k];
  *row = sct_tune_outcome(r->table, k, size);
  row->run = r->runs[size].id;
  row->detail = sct_row_is_ok(row) && item->warning ? item->warning : row->detail;
}

static const char *const pipe_names[SCT_N_PIPES] = {
#define SCT_PIPE(id, name, doc) [SCT_PIPE_##id] = name,
#include "base/base_pipes.def"
#undef SCT_PIPE
};

static void put_small_size(sct_str *out, const sct_ptx_check *check) {
  if (!check->known) {
    return;
  }
  json_t *ptx = json_object(), *machine = json_object();
#define SCT_RUN_COUNT(name) json_object_set_new(ptx, #name, json_integer(check->ptx.name));
#include "worker/worker_counts.def"
  for (int p = 0; p < SCT_N_PIPES; p++) {
    json_object_set_new(machine, pipe_names[p],
                        json_pack("[f, f]", check->per_block[p], check->per_work[p]));
  }
  json_t *doc = json_pack("{s:o, s:o, s:s, s:I}", "ptx", ptx, "machine", machine, "by",
                          check->by_elements ? "elements" : "requests", "elements",
                          (json_int_t)check->elements);
  if (check->n_uncovered >= 0) {
    json_object_set_new(doc, "n_uncovered", json_integer(check->n_uncovered));
    json_object_set_new(doc, "uncovered", sct_json_string(check->uncovered));
  }
  (void)sct_json_dump(out, doc, JSON_COMPACT, NULL);
}

static void take_small_size(sct_ptx_check *out, const char *text) {
  json_t *doc = sct_json_load(text);
  const json_t *ptx = json_object_get(doc, "ptx");
  if (!out->known && json_is_object(ptx)) {
    *out = (sct_ptx_check){.known = true};
#define SCT_RUN_COUNT(name) out->ptx.name = json_integer_value(json_object_get(ptx, #name));
#include "worker/worker_counts.def"
    for (int p = 0; p < SCT_N_PIPES; p++) {
      const json_t *each = json_object_get(json_object_get(doc, "machine"), pipe_names[p]);
      out->per_block[p] = json_number_value(json_array_get(each, 0));
      out->per_work[p] = json_number_value(json_array_get(each, 1));
    }
    const char *by = json_string_value(json_object_get(doc, "by"));
    out->by_elements = by != NULL && strcmp(by, "elements") == 0;
    out->elements = json_integer_value(json_object_get(doc, "elements"));
    const json_t *n = json_object_get(doc, "n_uncovered");
    const char *places = json_string_value(json_object_get(doc, "uncovered"));
    out->n_uncovered = json_is_integer(n) ? (int)json_integer_value(n) : -1;
    snprintf(out->uncovered, sizeof out->uncovered, "%s", places != NULL ? places : "");
  }
  json_decref(doc);
}

/* What is known of a cell, but for the time of day. */
typedef struct cell_row {
  sct_row_result row;
  char hex[SCT_HASH_HEX];  /* of the source; the row points here */
  sct_str small;           /* and here */
  char says[SCT_HASH_HEX]; /* sct_store_result_hash() of the outcome */
} cell_row;

static void read_cell(tune_record *r, int k, int size, cell_row *out) {
  const sct_tune_item *item = &r->table->cands->items[k];
  out->small = (sct_str){0};
  fill_candidate(r, item, &out->row.candidate, out->hex);
  fill_outcome(r, k, size, &out->row.outcome);
  put_small_size(&out->small, &item->ptx);
  out->row.outcome.small_size = sct_str_c(&out->small);
  (void)sct_store_result_hash(out->says, &out->row);
}

/* Does the store have all that is known of it, but maybe how it is coalesced? */
static bool is_stored(tune_record *r, int k, int size) {
  const tune_cell *cell = sct_tune_cell(r->table, k, size);
  if (!cell->stored) {
    return false;
  }
  cell_row now;
  read_cell(r, k, size, &now);
  const bool same = strcmp(now.says, cell->stored_as) == 0;
  sct_str_free(&now.small);
  return same;
}

sct_status sct_tune_store_cell(tune_record *r, int k, int size, sct_error *err) {
  const sct_tune_item *item = &r->table->cands->items[k];
  tune_cell *cell = sct_tune_cell(r->table, k, size);
  if (!r->store || cell->from_store || !sct_tune_has_outcome(r->table, k, size)) {
    return SCT_OK;
  }
  if (r->runs[size].raced > 0 && !cell->from_store && !cell->stored &&
      cell->row.times.n_samples > 0 && cell->row.race[0] == '\0') {
    SCT_TRY(sct_tune_store_raced(r, size, 0, err)); /* one more that has to race */
  }
  char now[32];
  cell_row t;
  SCT_SCOPED(sct_str) axes = {0};
  read_cell(r, k, size, &t);
  sct_tune_timestamp(now);
  t.row.outcome.measured = now;
  sct_codegen_axes(&axes, &r->table->cands->space,
                   &r->table->cands->space.candidates[item->candidate]);
  t.row.candidate.axes = axes.data;
  t.row.candidate.launch = item->code.launch;
  const sct_status status =
      sct_store_put_result(r->store, &t.row.candidate, &t.row.outcome, true, err);
  cell->row.id = t.row.outcome.id;
  cell->stored = status == SCT_OK;
  memcpy(cell->stored_as, t.says, sizeof t.says);
  cell->was = cell->row.how;
  sct_str_free(&t.small);
  return status;
}

sct_status sct_tune_store_size(tune_record *r, int size, sct_error *err) {
  if (!r->store) {
    return SCT_OK;
  }
  const size_t most = (size_t)r->table->cands->n_items + 1;
  SCT_OWNED sct_id *outcomes = sct_alloc(sizeof *outcomes * most);
  SCT_OWNED sct_row_coalesced *how = sct_alloc(sizeof *how * most);
  int n = 0;
  for (int k = 0; k < r->table->cands->n_items; k++) {
    tune_cell *cell = sct_tune_cell(r->table, k, size);
    if (!cell->from_store && !is_stored(r, k, size)) {
      SCT_TRY(sct_tune_store_cell(r, k, size, err));
    } else if (!sct_row_coalesced_same(&cell->row.how, &cell->was)) {
      outcomes[n] = cell->row.id;
      how[n++] = cell->was = cell->row.how;
    }
  }
  return sct_store_put_coalesced(r->store, outcomes, how, n, err);
}

/* A failure is not tried again. At a size that the kernel does not fit it is one of the kernel. */
static void take_failure(tune_record *r, sct_tune_item *item, tune_cell *cell,
                         const sct_row_outcome *known) {
  const sct_outcome_kind kind = sct_outcome_named(known->outcome);
  if (kind == SCT_N_OUTCOMES) {
    return;
  }
  cell->from_store = true;
  if (!cell->fits) {
    item->outcome = kind;
    item->detail = keep(r, known->detail);
    return;
  }
  cell->row.outcome = sct_outcome_name(kind);
  cell->row.detail = keep(r, known->detail);
}

/* A good outcome may have another detail: which candidate was measured for it. */
static bool is_warning(const char *detail) {
  return detail != NULL && strstr(detail, "_race: ") != NULL;
}

static sct_status resume(tune_record *r, int k, int size, sct_error *err) {
  tune_cell *cell = sct_tune_cell(r->table, k, size);
  sct_tune_item *item = &r->table->cands->items[k];
  if (item->outcome != SCT_OUT_OK || !item->code.source) {
    return SCT_OK;
  }
  char hex[SCT_HASH_HEX];
  SCT_SCOPED(sct_arena) arena = {0};
  sct_row_result known = {0};
  bool found = false;
  const sct_status status = sct_store_find(r->store, &arena, r->runs[size].id,
                                           sct_hash_hex(hex, item->code.hash), &known, &found, err);
  if (status != SCT_OK || !found) {
    return status;
  }
  const bool good = sct_row_is_ok(&known.outcome);
  take_small_size(&item->ptx, known.outcome.small_size);
  if (good && cell->fits && (!r->table->times || known.outcome.times.n_samples > 0)) {
    sct_times_set(&cell->row.times, &known.outcome.times); /* samples in the order of their race */
    cell->row.race = keep(r, known.outcome.race);
    cell->verified = true;
    cell->from_store = true;
    item->warning = is_warning(known.outcome.detail) ? keep(r, known.outcome.detail) : NULL;
    cell->was = known.outcome.how;
    if (!cell->counted || cell->estimated) {
      cell->row.how = cell->was;
    }
  } else if (!good) {
    take_failure(r, item, cell, &known.outcome);
  }
  cell->row.id = known.outcome.id;
  return SCT_OK;
}

sct_status sct_tune_resume_item(tune_record *r, int k, sct_error *err) {
  const bool ask =
      r->store && !r->opts->again && !(r->nothing_known && !sct_store_changed_by_others(r->store));
  for (int z = 0; ask && z < r->table->cands->spec.n_sizes; z++) {
    SCT_TRY(resume(r, k, z, err));
  }
  return SCT_OK;
}

/* The winner in the store is none of this session's candidates: the best of those is reported, and
 * what stays. */
static sct_status report_kept(tune_record *r, int size, sct_error *err) {
  SCT_OWNED sct_rank_row *rows = sct_alloc(sizeof *rows * (size_t)(r->table->cands->n_items + 1));
  r->table->choices[size] = sct_tune_decide(r->table, size, rows);
  return sct_tune_find_kept(r, size, err);
}

/* Not all is compiled, so the report has times and outcomes, and not all registers and counts. */
sct_status sct_tune_store_known(tune_record *r, sct_error *err) {
  const sct_spec *spec = &r->table->cands->spec;
  for (int z = 0; z < spec->n_sizes; z++) {
    r->table->choices[z] = (sct_choice){.winner = -1, .fastest = -1, .faster_ratio = 1.0};
    for (int k = 0; k < r->table->cands->n_items; k++) {
      const sct_tune_item *item = &r->table->cands->items[k];
      tune_cell *cell = sct_tune_cell(r->table, k, z);
      cell->fits = sct_tune_is_for_size(r->table->cands, item, z);
      if (!cell->from_store) {
        SCT_TRY(resume(r, k, z, err));
      }
      if (cell->from_store && cell->row.id == r->runs[z].winner) {
        r->table->choices[z].winner = k;
        r->table->choices[z].n_tied = r->runs[z].n_tied;
      }
    }
    if (r->table->choices[z].winner < 0 && r->runs[z].winner != 0 && r->table->partial) {
      SCT_TRY(report_kept(r, z, err));
    }
  }
  return SCT_OK;
}

/* When the run was decided: now, unless nothing came that an earlier session did not have. */
static const char *decided(tune_record *r, int size) {
  char now[32];
  bool anything = r->runs[size].finished == NULL || r->runs[size].finished[0] == '\0' ||
                  is_of_other_part(r, r->runs[size].conditions);
  for (int k = 0; !anything && k < r->table->cands->n_items; k++) {
    const tune_cell *cell = sct_tune_cell(r->table, k, size);
    anything = r->table->cands->items[k].outcome == SCT_OUT_OK && !cell->from_store &&
               sct_tune_has_outcome(r->table, k, size);
  }
  sct_tune_timestamp(now);
  return anything ? keep(r, now) : r->runs[size].finished;
}

/* ---- the end of a run --------------------------------------------------------------------------
 */

static void count_outcomes(const tune_table *t, int size, sct_row_run *run) {
  run->n_candidates = run->n_verified = run->n_failed = 0;
  for (int k = 0; k < t->cands->n_items; k++) {
    const tune_cell *cell = sct_tune_cell(t, k, size);
    const sct_tune_item *item = &t->cands->items[k];
    if (sct_tune_has_outcome(t, k, size)) {
      const bool good = item->outcome == SCT_OUT_OK && sct_row_is_ok(&cell->row);
      run->n_candidates++;
      run->n_verified += good;
      run->n_failed += !good;
    }
  }
}

/* Says in a run's conditions what was passed over, and whether the size is a sample of a range,
 * and how many calls of it a program logged, for readers of the store. What was a sample may be
 * listed now. */
static void put_choice(const tune_table *t, const sct_choice *choice, int size,
                       sct_str *conditions) {
  SCT_OWNED_PTR(json_t) doc = sct_json_load(sct_str_c(conditions));
  json_object_del(doc, "passed_over");
  json_object_del(doc, "sampled");
  json_object_del(doc, "calls");
  if (t->cands->spec.sizes[size].sampled) {
    json_object_set_new(doc, "sampled", json_true());
  }
  if (t->cands->spec.sizes[size].weight > 0) {
    json_object_set_new(doc, "calls", json_integer(t->cands->spec.sizes[size].weight));
  }
  if (choice->passed_over >= 0) {
    json_object_set_new(doc, "passed_over",
                        json_pack("{s:o, s:f, s:b}", "label",
                                  sct_json_string(t->cands->items[choice->passed_over].label),
                                  "ratio", choice->faster_ratio, "unknown",
                                  sct_tune_cell(t, choice->passed_over, size)->row.how.unknown));
  }
  sct_str_clear(conditions);
  (void)sct_json_dump(conditions, json_incref(doc), JSON_COMPACT, NULL);
}

/* Predicted times of kernels that were tried at other sizes, by the hashes of their sources. */
static char *estimates_json(const tune_table *t, int size) {
  json_t *doc = json_object();
  char hex[SCT_HASH_HEX];
  for (int k = 0; k < t->cands->n_items; k++) {
    const double ns = sct_tune_credible_ns(t, k, size);
    if (ns > 0 && !sct_tune_has_outcome(t, k, size) && sct_tune_cell(t, k, size)->fits &&
        sct_tune_was_tried(t, k)) {
      json_object_set_new(doc, sct_hash_hex(hex, t->cands->items[k].code.hash),
                          json_real(round(ns)));
    }
  }
  if (json_object_size(doc) > 0) {
    return compact(doc);
  }
  json_decref(doc);
  return NULL;
}

sct_status sct_tune_store_end(tune_record *r, int size, sct_error *err) {
  if (!r->store) {
    return SCT_OK;
  }
  sct_row_run *run = &r->runs[size];
  const sct_choice *choice = &r->table->choices[size];
  SCT_TRY(sct_tune_find_kept(r, size, err));
  if (r->kept[size]) { /* but for the ceiling and the winner as it was */
    return sct_store_finish_run(r->store, run, err);
  }
  count_outcomes(r->table, size, run);
  run->finished = decided(r, size);
  run->n_tied = choice->n_tied;
  run->noise = choice->noise;
  SCT_OWNED char *estimates = estimates_json(r->table, size);
  run->estimates = keep(r, estimates ? estimates : "");
  if (r->table->times && sct_measure_conditions(r->where->measure)->n_samples > 0) {
    char *conditions = conditions_json(r, size); /* with the clocks seen meanwhile */
    run->conditions = conditions ? keep(r, conditions) : run->conditions;
    sct_free(conditions);
  } else if (is_of_other_part(r, run->conditions)) {
    json_t *doc = sct_json_load(run->conditions);
    put_part(r, size, doc);
    SCT_OWNED char *conditions = compact(doc);
    run->conditions = conditions ? keep(r, conditions) : run->conditions;
  }
  if (choice->winner >= 0) {
    run->winner = sct_tune_cell(r->table, choice->winner, size)->row.id;
    run->naive =
        sct_tune_naive_outcome(r->table, size, r->table->cands->items[choice->winner].code.layout);
    SCT_SCOPED(sct_str) conditions = {0};
    sct_str_append(&conditions, run->conditions);
    put_choice(r->table, choice, size, &conditions);
    run->conditions = keep(r, sct_str_c(&conditions));
  }
  return sct_store_finish_run(r->store, run, err);
}
