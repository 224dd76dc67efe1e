/* One session from spec to stored winners: the order of the phases, and what they share. */
#include "tune/tune_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_VIRTUAL "virtual:h200"
/* Of a budget that generating may take. Counting has as much, and so have races. */
#define GENERATE_SHARE 0.25

tune_cell *sct_tune_cell(tune_session *s, int item, int size) {
  return &s->cells[(size_t)item * (size_t)s->plan.spec.n_sizes + (size_t)size];
}

bool sct_tune_stop(tune_session *s) {
  if (s->events && s->events->stop && s->events->stop(s->events->ctx)) {
    s->stopped = true;
  }
  if (s->deadline_ns && sct_now_ns() > s->deadline_ns) {
    s->out_of_time = true;
  }
  return s->stopped || s->out_of_time;
}

bool sct_tune_is_part(const tune_session *s) {
  return s->opts->only.n > 0 || s->plan.n_ungenerated > 0;
}

void sct_tune_progress(tune_session *s, const char *phase, int64_t done, int64_t total,
                       const char *item) {
  if (s->events && s->events->progress) {
    s->events->progress(s->events->ctx, phase, done, total, item);
  }
}

/* ---- device ------------------------------------------------------------------------------------
 */

/* The first GPU if there is one, else the virtual H200. */
static sct_status default_device(char *id, size_t n, const sct_tune_opts *opts) {
  sct_device_desc *gpus = NULL;
  int n_gpus = 0;
  sct_error ignored;
  const sct_status status = sct_measure_list(&gpus, &n_gpus, &opts->measure, &ignored);
  snprintf(id, n, "%s", status == SCT_OK && n_gpus > 0 ? gpus[0].id : DEFAULT_VIRTUAL);
  sct_free(gpus);
  return SCT_OK;
}

/* The kind and the part after the colon of the device that the options ask for. */
static sct_status find_device(const sct_device_kind **kind, const char **name, char *id, size_t n,
                              const sct_tune_opts *opts, sct_error *err) {
  if (opts->device) {
    return sct_device_parse(kind, name, opts->device, err);
  }
  SCT_TRY(default_device(id, n, opts));
  return sct_device_parse(kind, name, id, err);
}

static sct_status open_gpu(sct_device_desc *desc, sct_measure **measure, const char *number,
                           const sct_tune_opts *opts, sct_error *err) {
  char *end;
  const long ordinal = strtol(number, &end, 10);
  if (*end != '\0' || ordinal < 0 || ordinal > 1023) {
    return sct_fail(err, SCT_EUSAGE,
                    "device 'cuda:%s': expected a number after the colon, as in cuda:0", number);
  }
  sct_measure_opts measure_opts = opts->measure;
  measure_opts.seed = opts->seed;
  SCT_TRY(sct_measure_open(measure, (int)ordinal, &measure_opts, err));
  *desc = *sct_measure_device(*measure);
  return SCT_OK;
}

static sct_status open_virtual(const sct_device_desc *desc, sct_measure **measure,
                               const sct_tune_opts *opts, sct_error *err) {
  sct_measure_opts measure_opts = opts->measure;
  measure_opts.seed = opts->seed;
  measure_opts.described = desc;
  return sct_measure_open(measure, 0, &measure_opts, err);
}

static sct_status open_replay(sct_device_desc *desc, tune_replay **replay, sct_measure **measure,
                              const char *name, const sct_tune_opts *opts, sct_error *err) {
  SCT_TRY(sct_tune_replay_open(replay, name, err));
  const sct_measure_opts measure_opts = {.seed = opts->seed,
                                         .recording = sct_tune_replay_recording(*replay)};
  SCT_TRY(sct_measure_open(measure, 0, &measure_opts, err));
  *desc = *sct_measure_device(*measure);
  return SCT_OK;
}

sct_status sct_tune_device(sct_device_desc *out, const sct_tune_opts *opts, sct_error *err) {
  const sct_device_kind *kind;
  const char *name;
  char id[32];
  sct_measure *measure = NULL;
  SCT_TRY(find_device(&kind, &name, id, sizeof id, opts, err));
  if (!kind->times) {
    return sct_script_load_device(out, name, err);
  }
  sct_tune_opts look = *opts;
  tune_replay *replay = NULL;
  look.measure.look_only = true;
  const sct_status status = kind->replays ? open_replay(out, &replay, &measure, name, opts, err)
                                          : open_gpu(out, &measure, name, &look, err);
  sct_measure_close(measure);
  sct_tune_replay_free(replay);
  return status;
}

bool sct_tune_compiles_for(const sct_device_desc *d) {
  char arch[16];
  if (d->counting_only) {
    return false;
  }
  snprintf(arch, sizeof arch, "sm_%d%d", d->cc_major, d->cc_minor);
  const sct_compile_opts opts = {.arch = arch, .threads = 1};
  sct_compiler *probe = NULL;
  const sct_status status = sct_compiler_new(&probe, &opts, NULL);
  sct_compiler_free(probe);
  return status == SCT_OK || status == SCT_ENVRTC; /* no NVRTC at all: that is said elsewhere */
}

/* The described device of the nearest compute capability that candidates can be compiled for. */
static bool nearest_usable(sct_device_desc *out, const sct_device_desc *wanted) {
  sct_arena arena = {0};
  const char **names = NULL;
  int n = 0, least = INT_MAX;
  sct_script_device_names(&names, &n, &arena);
  for (int k = 0; k < n; k++) {
    sct_device_desc d;
    if (sct_script_load_device(&d, names[k], NULL) != SCT_OK) {
      continue;
    }
    const int far = abs(10 * (d.cc_major - wanted->cc_major) + d.cc_minor - wanted->cc_minor);
    if (far < least && sct_tune_compiles_for(&d)) {
      least = far;
      *out = d;
    }
  }
  sct_arena_free(&arena);
  return least < INT_MAX;
}

/* A described device that the toolkit does not compile for: it can be counted for, not tuned for.
 */
static sct_status not_compiled_for(const sct_device_desc *d, sct_error *err) {
  sct_device_desc usable;
  sct_str text = {0};
  sct_str_printf(&text,
                 "device '%s' is for counting only: this toolkit cannot compile for "
                 "compute capability %d.%d",
                 d->id, d->cc_major, d->cc_minor);
  if (nearest_usable(&usable, d)) {
    sct_str_printf(&text, "; the nearest device to tune for is %s (%d.%d)", usable.id,
                   usable.cc_major, usable.cc_minor);
  }
  const sct_status status = sct_fail(err, SCT_ENODEVICE, "%s", sct_str_c(&text));
  sct_str_free(&text);
  return status;
}

static sct_status open_device(tune_session *s, sct_error *err) {
  const char *name;
  char id[32];
  SCT_TRY(find_device(&s->kind, &name, id, sizeof id, s->opts, err));
  if (s->kind->replays) {
    return open_replay(&s->device, &s->replay, &s->measure, name, s->opts, err);
  }
  if (s->kind->times) {
    return open_gpu(&s->device, &s->measure, name, s->opts, err);
  }
  SCT_TRY(sct_script_load_device(&s->device, name, err));
  if (s->device.counting_only) {
    return not_compiled_for(&s->device, err);
  }
  return open_virtual(&s->device, &s->measure, s->opts, err);
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static sct_status open_store(tune_session *s, sct_error *err) {
  if (s->opts->store_path && s->opts->store_path[0] == '\0') {
    return SCT_OK;
  }
  sct_str_clear(&s->scratch);
  if (s->opts->store_path) {
    sct_str_append(&s->scratch, s->opts->store_path);
  } else {
    SCT_TRY(sct_path_store(&s->scratch, err));
  }
  return sct_store_open(&s->store, sct_str_c(&s->scratch), false, err);
}

static sct_status open_compiler(tune_session *s, sct_error *err) {
  sct_str cache = {0};
  if (!s->opts->cache_dir) {
    sct_path_cache(&cache);
  } else {
    sct_str_append(&cache, s->opts->cache_dir);
  }
  sct_status status = SCT_OK;
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", s->device.cc_major, s->device.cc_minor);
  const sct_compile_opts opts = {.arch = arch,
                                 .threads = s->opts->compile_threads,
                                 .limit_ns = s->opts->compile_limit_ns,
                                 .place = s->opts->place,
                                 .n_places = s->opts->n_places,
                                 .sends_on = sct_tune_is_checked(s),
                                 .cache_dir = cache.len ? sct_str_c(&cache) : NULL};
  status = sct_compiler_new(&s->compiler, &opts, err);
  sct_str_free(&cache);
  return status == SCT_EUSAGE && s->device.is_virtual ? not_compiled_for(&s->device, err) : status;
}

sct_status sct_tune_open(tune_session *s, sct_error *err) {
  SCT_TRY(open_device(s, err));
  if (s->replay) {
    return SCT_OK; /* neither compiled nor stored */
  }
  SCT_TRY(open_compiler(s, err));
  return open_store(s, err);
}

/* ---- deciding ----------------------------------------------------------------------------------
 */

/* Stencils read values again: at taps, and arrays that lack a dimension on every line. */
static bool is_read_again(const sct_spec *spec, int op) {
  const sct_operand *o = &spec->operands[op];
  bool stencil = false;
  for (int k = 0; k < spec->n_inputs; k++) {
    stencil = stencil || spec->operands[k].n_taps > 0;
  }
  return stencil && !o->is_output && !o->through_index &&
         (o->n_taps > 0 || o->n_dims < spec->n_dims);
}

/* What a stencil reads again lies in a cache, and candidates differ in how often they do: there
 * each access is judged by itself, by sectors for one that it needs, and counts as if the array was
 * read once. Elsewhere no kernel can stay below what its elements fill: what the model counts is
 * scaled from sampled blocks, and where many of them lie at borders it can be less, which would
 * make it a measure that no other candidate reaches. */
void sct_tune_judged_sectors(int64_t *out, const sct_spec *spec, const sct_size *size,
                             const int *layout, const sct_count *counted) {
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_count *c = &counted[op];
    if (is_read_again(spec, op) && c->sectors_ideal > 0) {
      const double array = (double)sct_spec_bytes(spec, op, layout[op], size) / 32;
      out[op] = (int64_t)(array * (double)c->sectors / (double)c->sectors_ideal);
    } else {
      const int64_t least = sct_spec_distinct_bytes(spec, op, size) / 32;
      out[op] = c->sectors > least ? c->sectors : least;
    }
  }
}

/* Is some candidate of the space not counted at this size? Then the least that is known may be more
 * than the least there is. */
static bool is_part(tune_session *s, int size) {
  bool part = sct_tune_is_part(s);
  for (int k = 0; k < s->plan.n_items && !part; k++) {
    const tune_cell *cell = sct_tune_cell(s, k, size);
    part = cell->fits && (!cell->counted || cell->estimated);
  }
  return part;
}

/* Fills rows[n_items] for one size and chooses. */
sct_choice sct_tune_decide(tune_session *s, int size, sct_rank_row *rows) {
  const int n_operands = s->plan.spec.n_operands;
  int64_t *sectors = sct_arena_alloc(&s->plan.arena, sizeof *sectors * (size_t)n_operands *
                                                         (size_t)(s->plan.n_items + 1));
  const bool part = is_part(s, size);
  for (int k = 0; k < s->plan.n_items; k++) {
    const tune_cell *cell = sct_tune_cell(s, k, size);
    const sct_tune_item *item = &s->plan.items[k];
    sct_rank_row *row = &rows[k];
    *row =
        (sct_rank_row){.label = item->label,
                       .naive = item->code.layout &&
                                item->candidate == sct_codegen_naive(&s->plan.spec, &s->plan.space,
                                                                     item->code.layout),
                       .registers = item->compiled.registers,
                       .passes = sct_model_passes(&s->plan.spec, &item->code),
                       .samples_ns = cell->timing.samples_ns,
                       .n_samples = cell->timing.n_samples,
                       .median_ns = cell->timing.median_ns,
                       .timed = cell->timing.n_samples > 0,
                       .predicted_ns = cell->predicted.ns,
                       .race = cell->race,
                       .uncoalesced = part && cell->from_store && !cell->was_coalesced,
                       .sectors = -1,
                       .wavefronts = -1,
                       .requests = -1};
    const bool failed =
        !cell->fits || item->outcome != SCT_OUT_OK || cell->verdict.outcome != SCT_OUT_OK;
    row->eligible = !failed && (s->kind->times ? row->timed : cell->verified);
    if (cell->counted && !cell->estimated && sectors && !failed) {
      const sct_counters *c = &cell->counters;
      int64_t *mine = sectors + (size_t)k * (size_t)n_operands;
      sct_tune_judged_sectors(mine, &s->plan.spec, &s->plan.spec.sizes[size], item->code.layout,
                              c->operand);
      row->operand_sectors = mine;
      row->sectors = (double)(c->load.sectors + c->store.sectors);
      row->requests = (double)(c->load.requests + c->store.requests);
      row->wavefronts = sct_model_exchanged(c);
    }
  }
  const sct_choice choice = sct_tune_choose(rows, s->plan.n_items, n_operands, s->opts->select_any);
  for (int k = 0; k < s->plan.n_items; k++) { /* pages are shared with processes until written to */
    tune_cell *cell = sct_tune_cell(s, k, size);
    if (cell->coalesced != rows[k].coalesced || cell->tied != rows[k].tied) {
      cell->coalesced = rows[k].coalesced;
      cell->tied = rows[k].tied;
    }
  }
  return choice;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* The first item with the layouts of each. */
static void find_groups(tune_session *s) {
  for (int k = 0; k < s->plan.n_items; k++) {
    s->twin[k] = s->group[k] = -1;
    for (int first = 0; first <= k && s->group[k] < 0 && s->plan.items[k].code.layout; first++) {
      if ((first == k || s->group[first] == first) && sct_tune_same_layouts(s, first, k)) {
        s->group[k] = first;
      }
    }
  }
}

static void allocate(tune_session *s) {
  const size_t n_sizes = (size_t)s->plan.spec.n_sizes, n_items = (size_t)s->plan.n_items;
  s->cells = sct_alloc(sizeof *s->cells * (n_items * n_sizes + 1));
  s->group = sct_alloc(sizeof *s->group * (n_items + 1));
  s->twin = sct_alloc(sizeof *s->twin * (n_items + 1));
  s->runs = sct_alloc(sizeof *s->runs * (n_sizes + 1));
  s->choices = sct_alloc(sizeof *s->choices * (n_sizes + 1));
  s->kept = sct_alloc(sizeof *s->kept * (n_sizes + 1));
  sct_tune_codes_new(&s->codes, s->plan.n_items);
  find_groups(s);
}

/* Anything that the store did not have. */
static bool measured_anything(tune_session *s) {
  bool measured = false;
  for (int k = 0; k < s->plan.n_items * s->plan.spec.n_sizes; k++) {
    const tune_cell *cell = &s->cells[k];
    measured = measured || ((cell->verified || sct_tune_is_timed(cell)) && !cell->from_store);
  }
  return measured;
}

/* Decides at every size, and stores what was decided. */
static sct_status conclude(tune_session *s, sct_error *err) {
  sct_rank_row *rows = sct_alloc(sizeof *rows * (size_t)(s->plan.n_items + 1));
  sct_status status = SCT_OK;
  for (int z = 0; status == SCT_OK && z < s->plan.spec.n_sizes; z++) {
    s->choices[z] = sct_tune_decide(s, z, rows);
    sct_tune_tell_size(s, z);
    if (s->store) {
      status = sct_tune_store_size(s, z, err);
    }
    if (s->store && status == SCT_OK) {
      status = sct_tune_store_end(s, z, err);
    }
  }
  sct_free(rows);
  return status;
}

/* When the session is to end: the budget counts from begun_ns on. What follows generation has half
 * of it in any case, for whatever was generated is worth nothing until it is tried. */
static int64_t deadline(const tune_session *s, int64_t begun_ns) {
  const int64_t budget_ns = s->opts->budget_ns;
  const int64_t end_ns = begun_ns + budget_ns, least_ns = sct_now_ns() + budget_ns / 2;
  return budget_ns == 0 ? 0 : end_ns > least_ns ? end_ns : least_ns;
}

static sct_status run_phases(tune_session *s, const char *spec_path, sct_error *err) {
  const sct_search_method *method;
  SCT_TRY(sct_search_find(&method, sct_tune_search_name(s->opts), err));
  SCT_TRY(sct_tune_open(s, err));
  SCT_TRY(sct_tune_rates(s, err));
  const int64_t begun_ns = sct_now_ns(); /* without the wait for the device */
  const int64_t share_ns = (int64_t)(GENERATE_SHARE * (double)s->opts->budget_ns);
  const int64_t until_ns = s->opts->budget_ns > 0 ? begun_ns + share_ns : 0;
  SCT_TRY(sct_tune_plan_spread(&s->plan, spec_path, &s->device, s->opts->strategy_dir,
                               &s->opts->only, until_ns, s->events, err));
  allocate(s);
  if (s->replay) {
    SCT_TRY(sct_tune_replay_load(s, err));
  }
  sct_tune_tell_start(s);
  if (s->store) {
    SCT_TRY(sct_tune_store_begin(s, err));
  }
  s->searching = sct_tune_searches(s->opts);
  SCT_TRY(sct_tune_pipeline_begin(s, err));
  s->deadline_ns = deadline(s, begun_ns);
  const sct_status measured = sct_tune_measure(s, err);
  const bool early = sct_tune_stop(s);
  s->out_of_time = s->out_of_time || s->plan.n_ungenerated > 0;
  sct_measure_leave(s->measure); /* its worker takes a while to end */
  sct_tune_pipeline_end(s);
  if (measured != SCT_OK && measured != SCT_ENOTVERIFIED) {
    return measured;
  }
  if (early && s->store && !measured_anything(s)) {
    return sct_tune_store_known(s, err);
  }
  const sct_status status = conclude(s, err);
  return status == SCT_OK ? measured : status;
}

static void close_session(tune_session *s) {
  sct_tune_pipeline_end(s);
  sct_measure_close(s->measure); /* it borrows the plan's spec and kernels */
  sct_sampler_free(s->sampler);
  for (int k = 0; s->cells && k < s->plan.n_items * s->plan.spec.n_sizes; k++) {
    sct_counters_free(&s->cells[k].counters);
    sct_free(s->cells[k].timing.samples_ns);
  }
  sct_free(s->cells);
  sct_free(s->group);
  sct_free(s->twin);
  sct_tune_codes_free(s->codes);
  sct_free(s->runs);
  sct_free(s->choices);
  sct_free(s->kept);
  sct_free(s->races);
  sct_free(s->stale);
  sct_tune_replay_free(s->replay);
  sct_tune_plan_free(&s->plan);
  if (s->compiler) {
    sct_compiler_free(s->compiler);
  }
  if (s->store) {
    sct_store_close(s->store);
  }
  sct_str_free(&s->scratch);
}

/* What the session as a whole came to. */
static sct_status verdict(const tune_session *s, sct_error *err) {
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    if (s->choices[z].winner < 0 && !s->stopped) {
      return sct_fail(err, SCT_ENOTVERIFIED,
                      "%s at %s: no candidate was verified; `--json` lists why", s->plan.spec.name,
                      s->plan.spec.sizes[z].label);
    }
  }
  if (s->stopped) {
    return sct_fail(err, SCT_EINTERRUPTED, "interrupted; what was measured is stored");
  }
  if (s->out_of_time) {
    return sct_fail(err, SCT_ESTOPPED, "%s: the time budget ended before every candidate was %s",
                    s->plan.spec.name, s->kind->times ? "timed" : "verified");
  }
  return SCT_OK;
}

sct_status sct_tune_run(sct_tune_report *out, const char *spec_path, const sct_tune_opts *opts,
                        const sct_tune_events *events, sct_error *err) {
  *out = (sct_tune_report){0};
  tune_session s = {.opts = opts, .events = events};
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
