/* The whole way of a spec with `host = true`: ways are modelled, those that may be the best timed
 * where the device gives times, and all that run are verified. */
#include "tune/tune_host.h"
#include "emit/emit.h"
#include "tune/tune_record.h"
#include "tune/tune_table.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_SAMPLES 5
#define MOST_SAMPLES  15
#define SAMPLES_NS    ((int64_t)1500000000)
#define RATES_NS      ((int64_t)10000000000) /* to measure copies that the store has no time of */

/* A kernel's predicted time at some extents, which chunks of several ways have. */
typedef struct known_time {
  const sct_tune_item *item;
  int64_t extent[SCT_MAX_EXTENTS];
  double ns;
} known_time;

typedef struct session {
  sct_host_report *out;
  const sct_tune_opts *opts;
  const sct_tune_events *events; /* NULL: nobody watches */
  tune_device device, peer;      /* peer: the second one, if there is one */
  tune_host_store store;
  sct_tune_candidates cands;
  sct_emit *header; /* whose rule chooses kernels, as in programs; NULL: there is none */
  struct sct_ptx_module **modules; /* [cands.n_items] */
  sct_block_counter *block_counter;
  known_time times[64];
  int n_times;
  sct_transfer_report transfers; /* of a device that is timed */
  tune_rates rates;
} session;

double sct_host_row_ns(const sct_host_row *row) {
  return row->times.median_ns > 0 ? row->times.median_ns : row->modelled_ns;
}

/* ---- kernels ---- */

/* Where the store has no header of the spec, chunks are computed by the naive variant. */
static sct_status open_header(session *s, sct_error *err) {
  const tune_host_store *const store = &s->store;
  const sct_emit_request request = {.name = store->spec_name, .spec_hash = store->spec_hash};
  if (!store->is_known) {
    return SCT_OK;
  }
  const sct_status status = sct_emit_open(&s->header, store->store, &request, err);
  if (status == SCT_EDATA) {
    sct_log(SCT_LOG_WARN, "kernels in the store are not used: %s", err ? err->text : "");
  }
  return status == SCT_EDATA ? SCT_OK : status;
}

static sct_status make_candidates(session *s, const char *spec_path, sct_error *err) {
  sct_tune_labels only = {0};
  if (s->header) {
    only.label = sct_emit_kernels(s->header, &only.n);
  }
  const sct_tune_candidates_opts opts = {
      .strategy_dir = s->opts->strategy_dir, .only = &only, .only_naive = true};
  sct_status status = sct_tune_candidates_make(&s->cands, spec_path, &s->device.desc, &opts, err);
  if (status == SCT_EUSAGE && only.n > 0) { /* a label that strategies of today do not have */
    sct_log(SCT_LOG_WARN, "kernels in the store are not used: %s", err ? err->text : "");
    sct_emit_close(s->header);
    s->header = NULL;
    only.n = 0;
    status = sct_tune_candidates_make(&s->cands, spec_path, &s->device.desc, &opts, err);
  }
  return status;
}

static sct_status compile(session *s, sct_error *err) {
  const size_t n = (size_t)s->cands.n_items;
  SCT_OWNED sct_compile_unit *units = sct_alloc(sizeof *units * (n + 1));
  SCT_OWNED sct_compiled *results = sct_alloc(sizeof *results * (n + 1));
  SCT_OWNED int *items = sct_alloc(sizeof *items * (n + 1));
  int n_units = 0;
  for (int k = 0; k < s->cands.n_items; k++) {
    const sct_kernel_code *code = &s->cands.items[k].code;
    if (s->cands.items[k].outcome == SCT_OUT_OK) {
      items[n_units] = k;
      units[n_units++] = (sct_compile_unit){code->source, code->kernel, code->n_params > 0};
    }
  }
  SCT_TRY(sct_compiler_run(s->device.compiler, units, n_units, results, NULL, NULL, err));
  s->modules = sct_alloc(sizeof *s->modules * (n + 1));
  for (int u = 0; u < n_units; u++) {
    sct_tune_item *item = &s->cands.items[items[u]];
    item->compiled = results[u];
    if (!results[u].ok ||
        sct_ptx_parse(&s->modules[items[u]], results[u].ptx, "PTX", err) != SCT_OK) {
      item->outcome = SCT_OUT_COMPILE_ERROR;
    }
  }
  return SCT_OK;
}

static bool has_layouts(const sct_spec *spec, const sct_kernel_code *code,
                        const char *const *layouts) {
  for (int k = 0; k < spec->n_operands; k++) {
    if (strcmp(spec->operands[k].layouts[code->layout[k]].label, layouts[k]) != 0) {
      return false;
    }
  }
  return true;
}

/* The header's kernel of this label, if it is right at a size. */
static int item_of(const session *s, const char *label, const sct_size *size) {
  const sct_spec *const spec = &s->cands.spec;
  for (int k = 0; k < s->cands.n_items; k++) {
    const sct_tune_item *const item = &s->cands.items[k];
    if (item->outcome == SCT_OUT_OK && strcmp(item->label, label) == 0 &&
        has_layouts(spec, &item->code, sct_emit_layouts(s->header)) &&
        sct_codegen_fits(spec, &item->code, size)) {
      return k;
    }
  }
  return -1;
}

/* The first that a call of the header tries and that is right, else a naive variant. */
static int choose_kernel(const session *s, const int64_t *extent, sct_host_row *row) {
  const sct_spec *const spec = &s->cands.spec;
  const sct_device_desc *const d = &s->device.desc;
  const sct_emit_device on = {d->name, d->cc_major, d->cc_minor, d->n_sms};
  const sct_size size = {.extent = (int64_t *)(uintptr_t)extent, .fill = spec->sizes[0].fill};
  sct_emit_taken taken = {0};
  int found = -1;
  if (s->header) {
    sct_emit_take(&taken, s->header, &on, extent);
  }
  for (int k = 0; k < taken.n && found < 0; k++) {
    found = item_of(s, taken.labels[k], &size);
    row->is_exact = found >= 0 && k == 0 && taken.size != NULL;
  }
  row->tuned = row->is_exact ? sct_arena_strdup(&s->out->arena, taken.size) : NULL;
  row->rule_of = found >= 0 ? sct_arena_strdup(&s->out->arena, taken.device) : NULL;
  found = found >= 0 ? found : sct_tune_naive_item(&s->cands, 0);
  row->kernel = found >= 0 ? sct_arena_strdup(&s->out->arena, s->cands.items[found].label) : NULL;
  return found;
}

/* By its counts; by its bytes where the device's description lacks rates. */
static sct_status predict(session *s, int k, const sct_size *size, double *ns, sct_error *err) {
  const sct_tune_item *item = &s->cands.items[k];
  const sct_spec *spec = &s->cands.spec;
  SCT_SCOPED(sct_counters) counters = {0};
  sct_prediction predicted = {0};
  int64_t read_bytes = 0, write_bytes = 0;
  const sct_workload work = {.spec = spec,
                             .code = &item->code,
                             .size = size,
                             .counters = &counters,
                             .registers = item->compiled.registers,
                             .shared_bytes =
                                 item->code.shared_bytes + item->compiled.static_shared_bytes};
  if (!s->block_counter) {
    sct_block_counter_new(&s->block_counter, spec, &s->device.desc, s->opts->seed, 0);
  }
  SCT_TRY(sct_block_counter_count(s->block_counter, &counters, &item->code, s->modules[k],
                                  item->compiled.entry, size, 0, err));
  SCT_TRY(sct_model_predict(&predicted, &s->device.rated, &work, err));
  sct_spec_traffic(spec, size, &read_bytes, &write_bytes);
  const double peak = s->device.desc.peak_bytes_s;
  *ns = predicted.ns > 0 ? predicted.ns
        : peak > 0       ? (double)(read_bytes + write_bytes) / peak * 1e9
                         : 0;
  return SCT_OK;
}

static sct_status kernel_time(session *s, int k, const sct_size *size, double *ns, sct_error *err) {
  const size_t bytes = sizeof *size->extent * (size_t)s->cands.spec.n_extents;
  for (int t = 0; t < s->n_times; t++) {
    if (s->times[t].item == &s->cands.items[k] &&
        memcmp(s->times[t].extent, size->extent, bytes) == 0) {
      *ns = s->times[t].ns;
      return SCT_OK;
    }
  }
  SCT_TRY(predict(s, k, size, ns, err));
  known_time *t = &s->times[s->n_times < SCT_COUNT(s->times) ? s->n_times++ : 0];
  *t = (known_time){.item = &s->cands.items[k], .ns = *ns};
  memcpy(t->extent, size->extent, bytes);
  return SCT_OK;
}

/* ---- ways ---- */

/* Bytes of the largest array for an element of the dimension that is cut; and whether each of two
 * devices can have half of it, which the report says. */
static int64_t look_at_arrays(session *s, const sct_size *size, const int *layout) {
  sct_pipeline p;
  const sct_host_way whole = {SCT_HOST_LOCKED, 0, 1, 0, 1};
  int64_t most = 1;
  if (sct_pipeline_make(&p, &s->cands.spec, layout, size, &whole, NULL) == SCT_OK) {
    for (int k = 0; k < s->cands.spec.n_operands; k++) {
      const bool copied = !p.kernels[0].is_direct[k];
      most = copied && p.kernels[0].step[k] > most ? p.kernels[0].step[k] : most;
    }
    const int shared = sct_pipeline_shared(&p);
    if (shared >= 0 && s->opts->peer) {
      const sct_operand *op = &s->cands.spec.operands[shared];
      s->out->one_device =
          sct_arena_printf(&s->out->arena, "%s %s, so the job is not divided between two devices",
                           op->name, op->stays ? "stays on the device" : "is one for all chunks");
    }
    sct_pipeline_free(&p);
  }
  return most;
}

static void take_timeline(session *s, sct_host_row *row, const sct_timeline *t) {
  row->steps = SCT_ARENA_NEW(&s->out->arena, sct_pipe_step, t->n_steps + 1);
  memcpy(row->steps, t->steps, sizeof *t->steps * (size_t)t->n_steps);
  row->n_steps = t->n_steps;
  row->overlap = sct_model_overlap(t->steps, t->n_steps);
}

typedef struct way_cost {
  session *s;
  const sct_pipeline *p;
  int item;
} way_cost;

/* Of a kernel by its chunk's extents. */
static sct_status cost(void *ctx, double *ns, sct_host_work_kind work, int64_t amount,
                       sct_error *err) {
  const way_cost *c = ctx;
  session *s = c->s;
  int64_t extent[SCT_MAX_EXTENTS];
  if (work != SCT_HOST_KERNEL) {
    *ns = sct_rates_ns(&s->rates, c->p, work, amount);
    return SCT_OK;
  }
  memcpy(extent, c->p->size->extent, sizeof *extent * (size_t)c->p->spec->n_extents);
  extent[c->p->spec->chunk_dim] = amount;
  const sct_size chunk = {.extent = extent, .fill = c->p->size->fill, .label = "a chunk"};
  const int used = sct_codegen_fits(&s->cands.spec, &s->cands.items[c->item].code, &chunk)
                       ? c->item
                       : sct_tune_naive_item(&s->cands, c->item);
  SCT_TRY(kernel_time(s, used, &chunk, ns, err));
  *ns = sct_rates_kernel_ns(&s->rates, c->p, *ns);
  return SCT_OK;
}

static sct_status model_way(session *s, const sct_pipeline *p, int item, sct_host_row *row,
                            sct_error *err) {
  way_cost way = {s, p, item};
  const sct_pipe_costs costs = {cost, &way, p->way.memory == SCT_HOST_PAGEABLE};
  sct_timeline timeline = {0};
  const sct_status status =
      sct_model_pipeline(&timeline, p->kernels, p->options, p->way.devices, &costs, err);
  if (status == SCT_OK) {
    take_timeline(s, row, &timeline);
    row->modelled_ns = row->overlap.total_ns;
  }
  sct_timeline_free(&timeline);
  return status;
}

/* What all copies of a pipeline take without gaps, and one kernel; the longest of them. */
static sct_status find_bound(session *s, const sct_pipeline *p, int item, sct_host_size *z,
                             sct_error *err) {
  z->bytes_in = z->bytes_out = z->bound_ns = 0;
  for (int k = 0; k < p->spec->n_operands; k++) {
    z->bytes_in += (double)sct_pipeline_copied(p, k, false);
    z->bytes_out += (double)sct_pipeline_copied(p, k, true);
  }
  z->engine_ns[SCT_ENGINE_IN] =
      sct_rates_copy_ns(&s->rates, SCT_HOST_LOCKED, SCT_BOTH_WAYS, z->bytes_in);
  z->engine_ns[SCT_ENGINE_OUT] =
      sct_rates_copy_ns(&s->rates, SCT_HOST_LOCKED, SCT_BOTH_WAYS, z->bytes_out);
  z->lock_ns = sct_rates_lock_ns(&s->rates, z->bytes_in + z->bytes_out);
  SCT_TRY(kernel_time(s, item, p->size, &z->engine_ns[SCT_ENGINE_KERNEL], err));
  for (int e = 0; e < SCT_N_ENGINES; e++) {
    z->bound_ns = z->engine_ns[e] > z->bound_ns ? z->engine_ns[e] : z->bound_ns;
  }
  return SCT_OK;
}

/* A way with its pipeline and kernel. */
static sct_status open_way(const session *s, const sct_size *size, sct_host_row *row,
                           sct_pipeline *p, int *item, sct_error *err) {
  int64_t extent[SCT_MAX_EXTENTS];
  memcpy(extent, size->extent, sizeof *extent * (size_t)s->cands.spec.n_extents);
  int64_t *const n = &extent[s->cands.spec.chunk_dim];
  *n = row->way.devices > 1 ? sct_host_half(*n) : *n;
  *n = row->way.chunk > 0 && row->way.chunk < *n ? row->way.chunk : *n;
  *item = choose_kernel(s, extent, row);
  if (*item < 0) {
    return sct_fail(err, SCT_ENOTVERIFIED, "%s: the naive variant does not compile",
                    s->cands.spec.name);
  }
  SCT_TRY(sct_pipeline_make(p, &s->cands.spec, s->cands.items[*item].code.layout, size, &row->way,
                            err));
  row->way.chunk = row->way.chunk > 0 ? p->way.chunk : 0; /* as it is cut */
  return SCT_OK;
}

/* ---- runs ---- */

static sct_status set_problem(session *s, int item, sct_error *err) {
  const int naive = sct_tune_naive_item(&s->cands, item);
  if (naive == s->device.naive_set) {
    return SCT_OK;
  }
  SCT_TRY(sct_tune_set_problem(&s->device, &s->cands, naive, err));
  s->device.naive_set = naive;
  return SCT_OK;
}

static sct_status run_pipeline(session *s, const sct_pipeline *p, int item, sct_host_row *row,
                               sct_error *err) {
  const int64_t budget_ns = s->opts->budget_ns / (s->cands.spec.n_sizes * HOST_MOST_TIMED);
  const sct_sample_limits limits = {LEAST_SAMPLES, MOST_SAMPLES,
                                    budget_ns > 0 ? budget_ns : SAMPLES_NS};
  const sct_sample_limits none = {0};
  const sct_binary binary = sct_tune_binary(&s->cands.items[item]);
  sct_timing t;
  sct_timeline timeline = {0};
  const sct_status status = sct_measure_pipeline(
      s->device.measure, &binary, p, s->out->timed ? &limits : &none, &t, &timeline, err);
  if (status != SCT_OK) {
    sct_timeline_free(&timeline);
    return status;
  }
  row->outcome = t.verdict.outcome;
  if (t.verdict.outcome != SCT_OUT_OK) {
    row->failure = sct_arena_printf(&s->out->arena, "%s: %s", sct_outcome_text(t.verdict.outcome),
                                    t.verdict.detail);
  } else if (s->out->timed) {
    row->times = t.times;
    row->times.samples_ns = SCT_ARENA_NEW(&s->out->arena, double, t.times.n_samples + 1);
    memcpy(row->times.samples_ns, t.times.samples_ns, sizeof(double) * (size_t)t.times.n_samples);
    take_timeline(s, row, &timeline);
  }
  sct_times_free(&t.times);
  sct_timeline_free(&timeline);
  return SCT_OK;
}

/* Runs the way of a row at a size that can be interpreted. */
static sct_status run_small(session *s, const sct_pipeline *p, int item, sct_host_row *row,
                            sct_error *err) {
  sct_host_way way = row->way;
  int64_t dims[SCT_MAX_DIMS], extent[SCT_MAX_EXTENTS];
  sct_pipeline small;
  sct_pipeline_small(p->spec, p->size, &way, dims);
  if (!sct_measure_small_size(s->device.measure, dims, extent)) {
    row->outcome = SCT_OUT_TOO_LARGE;
    row->failure = "not verified: the spec does not allow a size that is small enough";
    return SCT_OK;
  }
  const sct_size size = {.extent = extent, .fill = p->size->fill, .label = "a small size"};
  SCT_TRY(sct_pipeline_make(&small, p->spec, p->layout, &size, &way, err));
  const sct_status status = run_pipeline(s, &small, item, row, err);
  sct_pipeline_free(&small);
  return status;
}

static sct_status run_way(session *s, const sct_size *size, sct_host_row *row, sct_error *err) {
  sct_pipeline p = {0};
  int item = -1;
  sct_status status = open_way(s, size, row, &p, &item, err);
  SCT_THEN(set_problem(s, item, err));
  SCT_THEN(s->out->timed ? run_pipeline(s, &p, item, row, err) : run_small(s, &p, item, row, err));
  sct_pipeline_free(&p);
  return status;
}

/* ---- a size ---- */

static int fastest(const session *s, const sct_host_size *z, sct_host_kind memory) {
  int best = -1;
  for (int k = 0; k < z->n_rows; k++) {
    const sct_host_row *row = &z->rows[k];
    const bool counts =
        row->way.memory == memory && !row->failure && (row->times.median_ns > 0 || !s->out->timed);
    best =
        counts && (best < 0 || sct_host_row_ns(row) < sct_host_row_ns(&z->rows[best])) ? k : best;
  }
  return best;
}

/* The ways from number `first` on. */
static sct_status model_ways(session *s, const sct_size *size, sct_host_size *z, int first,
                             sct_error *err) {
  for (int k = first; k < z->n_rows; k++) {
    sct_pipeline p = {0};
    int item = -1;
    sct_status status = open_way(s, size, &z->rows[k], &p, &item, err);
    if (k == 0) {
      SCT_THEN(find_bound(s, &p, item, z, err));
    }
    SCT_THEN(model_way(s, &p, item, &z->rows[k], err));
    sct_pipeline_free(&p);
    SCT_TRY(status);
  }
  return SCT_OK;
}

/* The best of them, each with a half on either device; the bound is that of the larger half. */
static sct_status model_halves(session *s, const sct_size *size, sct_host_size *z, sct_error *err) {
  const int first = z->n_rows;
  if (!s->opts->peer || s->out->one_device || z->n < 2) {
    return SCT_OK;
  }
  sct_host_list_halves(z);
  int64_t extent[SCT_MAX_EXTENTS];
  sct_size half = {.extent = extent, .fill = size->fill, .label = "half"};
  memcpy(extent, size->extent, sizeof *extent * (size_t)s->cands.spec.n_extents);
  extent[s->cands.spec.chunk_dim] = sct_host_half(z->n);
  sct_host_size of_half = {0};
  sct_host_row whole = {.way = {SCT_HOST_LOCKED, 0, 1, 0, 1}};
  sct_pipeline p = {0};
  int item = -1;
  sct_status status = open_way(s, &half, &whole, &p, &item, err);
  SCT_THEN(find_bound(s, &p, item, &of_half, err));
  z->two_bound_ns = of_half.bound_ns;
  sct_pipeline_free(&p);
  SCT_THEN(model_ways(s, size, z, first, err));
  return status;
}

/* Ways of one memory after the other, for which the worker keeps the arrays. */
static sct_status run_size(session *s, const sct_size *size, sct_host_size *z, sct_error *err) {
  int n_wanted = 0, n_done = 0;
  for (int k = 0; k < z->n_rows; k++) {
    n_wanted += sct_host_is_wanted(s->out, z, k);
  }
  for (int memory = 0; memory < SCT_N_HOSTS; memory++) {
    for (int k = 0; k < z->n_rows; k++) {
      if ((int)z->rows[k].way.memory != memory || !sct_host_is_wanted(s->out, z, k)) {
        continue;
      }
      if (s->events && s->events->progress) {
        s->events->progress(s->events->ctx, s->out->timed ? "time" : "verify", ++n_done, n_wanted,
                            z->label);
      }
      SCT_TRY(run_way(s, size, &z->rows[k], err));
    }
  }
  return SCT_OK;
}

static sct_status try_size(session *s, const sct_size *size, sct_host_size *z, sct_error *err) {
  const sct_spec *spec = &s->cands.spec;
  sct_host_row none = {0};
  *z = (sct_host_size){.label = sct_arena_strdup(&s->out->arena, size->label),
                       .n = size->extent[spec->chunk_dim],
                       .rows = SCT_ARENA_NEW(&s->out->arena, sct_host_row, HOST_MOST_ROWS)};
  if (sct_spec_elements(spec, size) == 0) {
    return SCT_OK;
  }
  const int item = choose_kernel(s, size->extent, &none);
  sct_host_list_ways(z, spec,
                     item >= 0 ? look_at_arrays(s, size, s->cands.items[item].code.layout) : 1);
  SCT_TRY(model_ways(s, size, z, 0, err));
  SCT_TRY(model_halves(s, size, z, err));
  SCT_TRY(run_size(s, size, z, err));
  z->locked = fastest(s, z, SCT_HOST_LOCKED);
  z->pageable = fastest(s, z, SCT_HOST_PAGEABLE);
  return sct_host_store_keep(&s->store, spec, size, z, err);
}

/* ---- a session ---- */

/* Before the device is opened: sizes of `transfer`, so that what it has measured counts. */
static sct_status measure_rates(session *s, sct_error *err) {
  static const int64_t bytes[] = {4 << 10, 256 << 10, 4 << 20, 16 << 20, 64 << 20};
  const sct_device_kind *kind = NULL;
  const char *name = NULL;
  sct_device_desc desc;
  s->rates.device = &s->device.desc;
  SCT_TRY(sct_tune_device(&desc, s->opts, err));
  SCT_TRY(sct_device_parse(&kind, &name, desc.id, err));
  s->out->timed = kind->times;
  if (!kind->times) {
    return SCT_OK;
  }
  sct_tune_opts opts = *s->opts;
  opts.again = false;
  opts.peer = NULL; /* copies between both are no part of it */
  opts.budget_ns = RATES_NS;
  s->transfers.n_sizes = SCT_COUNT(bytes);
  memcpy(s->transfers.bytes, bytes, sizeof bytes);
  s->rates.transfers = &s->transfers;
  return sct_tune_transfer(&s->transfers, &opts, err);
}

static sct_status check_spec(const sct_spec *spec, const char *size, sct_error *err) {
  int k = 0;
  if (spec->chunk_dim < 0) {
    return sct_fail(err, SCT_EUSAGE,
                    "%s: %s has no `host = true`, so its arrays do not come from the host; write "
                    "it into s.kernel { ... }, or at arrays",
                    spec->file, spec->name);
  }
  return size ? sct_names_choose(&k, SCT_NAMES_IN(spec->sizes, spec->n_sizes, label), size, err,
                                 "the spec has no size '%s'", size)
              : SCT_OK;
}

/* Chunks of both are computed by what won on the first. Before anything is measured. */
static sct_status check_models(const session *s, sct_error *err) {
  sct_tune_opts second = *s->opts;
  sct_device_desc a, b;
  second.device = s->opts->peer;
  if (!second.device) {
    return SCT_OK;
  }
  SCT_TRY(sct_tune_device(&a, s->opts, err));
  SCT_TRY(sct_tune_device(&b, &second, err));
  return strcmp(a.name, b.name) == 0
             ? SCT_OK
             : sct_fail(err, SCT_EUSAGE,
                        "%s (%s) is of another model than %s (%s), whose winners compute both "
                        "halves: expected a second %s, or %s alone",
                        b.id, b.name, a.id, a.name, a.name, a.id);
}

static sct_status prepare(session *s, const char *spec_path, const char *size, sct_error *err) {
  SCT_SCOPED(sct_spec) spec = {0};
  sct_host_report *out = s->out;
  SCT_TRY(sct_script_try_spec(&spec, spec_path, err));
  SCT_TRY(check_spec(&spec, size, err));
  SCT_TRY(check_models(s, err));
  SCT_TRY(measure_rates(s, err));
  SCT_TRY(sct_tune_devices_open(&s->device, &s->peer, s->opts, false, err));
  if (s->device.replay) {
    return sct_fail(err, SCT_EUSAGE, "a replay has no transfers: take the device itself");
  }
  if (s->device.desc.is_virtual && s->device.desc.pcie_bytes_s <= 0) {
    return sct_fail(err, SCT_EUSAGE, "%s states no link to the host (`pcie` of its description)",
                    s->device.desc.id);
  }
  sct_tune_fill_rates(&s->device, s->opts);
  sct_measure_set_peer(s->device.measure, s->peer.measure);
  out->device = s->device.desc;
  out->peer = s->peer.desc;
  out->name = sct_arena_strdup(&out->arena, spec.name);
  out->has_halo = spec.halo_before + spec.halo_after > 0;
  out->dim = sct_arena_strdup(&out->arena, spec.dims[spec.chunk_dim]);
  SCT_TRY(sct_host_store_open(&s->store, &s->device, &spec, s->opts, &out->arena, err));
  SCT_TRY(open_header(s, err));
  SCT_TRY(make_candidates(s, spec_path, err));
  return compile(s, err);
}

static sct_status run(session *s, const char *spec_path, const char *size, sct_error *err) {
  SCT_TRY(prepare(s, spec_path, size, err));
  const sct_spec *spec = &s->cands.spec;
  s->out->sizes = SCT_ARENA_NEW(&s->out->arena, sct_host_size, spec->n_sizes + 1);
  for (int z = 0; z < spec->n_sizes; z++) {
    if (!size || strcmp(size, spec->sizes[z].label) == 0) {
      SCT_TRY(try_size(s, &spec->sizes[z], &s->out->sizes[s->out->n_sizes++], err));
    }
  }
  return SCT_OK;
}

sct_status sct_tune_host(sct_host_report *out, const char *spec_path, const char *size,
                         const sct_tune_opts *opts, const sct_tune_events *events, sct_error *err) {
  session *s = sct_alloc(sizeof *s); /* transfers are some 30 KiB */
  s->out = out;
  s->opts = opts;
  s->events = events;
  const sct_status status = run(s, spec_path, size, err);
  for (int k = 0; k < s->cands.n_items && s->modules; k++) {
    sct_ptx_module_free(s->modules[k]);
  }
  sct_free(s->modules);
  sct_block_counter_free(s->block_counter);
  sct_emit_close(s->header);
  sct_measure_close(s->device.measure);
  sct_measure_close(s->peer.measure);
  sct_tune_candidates_free(&s->cands);
  sct_tune_device_close(&s->device);
  sct_tune_device_close(&s->peer);
  if (s->store.store) {
    sct_store_close(s->store.store);
  }
  sct_arena_free(&s->transfers.arena);
  sct_free(s);
  return status;
}
