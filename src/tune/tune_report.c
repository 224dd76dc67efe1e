/* The result of a session as plain data, rows in the order a person wants to read them. */
#include "tune/tune_internal.h"

#include <stdlib.h>
#include <string.h>

static double per_request(int64_t sectors, int64_t requests) {
  return requests > 0 ? (double)sectors / (double)requests : 0.0;
}

static void fill_counts(const sct_spec *spec, int size, sct_tune_row *row, const sct_counters *c) {
  const sct_degrees degree = sct_model_degrees(c, spec, &spec->sizes[size]);
  row->sectors_ld = per_request(c->load.sectors, c->load.requests);
  row->sectors_st = per_request(c->store.sectors, c->store.requests);
  row->sectors = (double)(c->load.sectors + c->store.sectors);
  row->sectors_ideal = (double)(c->load.sectors_ideal + c->store.sectors_ideal);
  row->degree = degree.both;
  row->degree_ld = degree.load;
  row->degree_st = degree.store;
}

/* A sentence for a person, malloc'ed; *out stays NULL where the counts are exact. */
static void explain_counts(char **out, const sct_tune_item *item, const tune_cell *cell) {
  const sct_counters *c = &cell->counters;
  sct_str text = {0};
  if (c->error > 0) {
    if (c->blocks_counted > 0) {
      sct_str_printf(&text, "%lld of %lld blocks were counted", (long long)c->blocks_counted,
                     (long long)c->blocks);
    } else {
      sct_str_append(&text, "shorter launches were counted");
    }
    sct_str_printf(&text, ", sectors to within %.2g %%", 100.0 * c->error);
  }
  if (item->approximate) {
    sct_str_printf(&text, "%s%s", text.len > 0 ? "; " : "", item->approximate);
  }
  *out = text.data;
}

static void fill_row(const tune_table *t, int k, int size, const sct_tune_size *out,
                     sct_tune_row *row) {
  const sct_tune_item *item = &t->cands->items[k];
  const tune_cell *cell = sct_tune_cell(t, k, size);
  const sct_outcome_kind kind = item->outcome != SCT_OUT_OK ? item->outcome : cell->verdict.outcome;
  const char *detail = item->outcome != SCT_OUT_OK ? item->detail : cell->verdict.detail;
  *row = (sct_tune_row){.outcome = sct_outcome_name(kind),
                        .median_ns = cell->timing.median_ns,
                        .q1_ns = cell->timing.q1_ns,
                        .q3_ns = cell->timing.q3_ns,
                        .overhead_ns = cell->timing.overhead_ns,
                        .resident_ns = cell->timing.resident_ns,
                        .n_slow = cell->timing.n_slow,
                        .n_contended = cell->timing.n_contended,
                        .registers = item->compiled.registers,
                        .spill_bytes =
                            item->compiled.spill_load_bytes + item->compiled.spill_store_bytes,
                        .shared_bytes = item->compiled.static_shared_bytes,
                        .how = cell->how,
                        .tied = cell->tied,
                        .winner = k == t->choices[size].winner};
  row->label = sct_strdup(item->label);
  row->detail = detail && detail[0] != '\0' ? sct_strdup(detail) : NULL;
  row->warning = kind == SCT_OUT_OK && item->warning ? sct_strdup(item->warning) : NULL;
  row->naive = sct_tune_is_naive_item(t->cands, k, size);
  const sct_own *own = sct_tune_own(t->cands, k);
  row->own = own ? (int)(own - t->cands->spec.own) + 1 : 0;
  if (cell->counted && !cell->estimated) {
    fill_counts(&t->cands->spec, size, row, &cell->counters);
    row->counted = true;
    explain_counts(&row->approximate, item, cell);
  }
  if (item->compiled.ok) {
    row->occupancy =
        sct_model_occupancy(&t->cands->device, item->code.threads, item->compiled.registers,
                            item->compiled.static_shared_bytes + item->code.shared_bytes)
            .fraction;
  }
  row->ptx = item->ptx;
  if (cell->predicted.ns > 0.0) {
    row->predicted_ns = cell->predicted.ns;
    row->incredible = sct_tune_credible_ns(t, k, size) <= 0.0;
    row->predicted_limit = sct_limit_name(cell->predicted.limit);
  }
  if (row->median_ns > 0.0) {
    row->bytes_per_s = (out->read_bytes + out->write_bytes) / row->median_ns * 1e9;
    row->share = out->ceiling_bytes_s > 0.0 ? row->bytes_per_s / out->ceiling_bytes_s : 0.0;
  }
}

bool sct_tune_row_good(const sct_tune_row *row) {
  return strcmp(row->outcome, sct_outcome_name(SCT_OUT_OK)) == 0;
}

double sct_tune_row_ns(const sct_tune_row *row) {
  return row->median_ns > 0.0 ? row->median_ns : row->predicted_ns;
}

/* Winner, then timed by time, then untimed by predicted time and sectors, then failures; labels
 * last. */
static int by_rank(const void *pa, const void *pb) {
  const sct_tune_row *a = pa, *b = pb;
  if (a->winner != b->winner) {
    return a->winner ? -1 : 1;
  }
  if (sct_tune_row_good(a) != sct_tune_row_good(b)) {
    return sct_tune_row_good(a) ? -1 : 1;
  }
  const double keys[][2] = {
      {a->median_ns, b->median_ns},
      {a->incredible ? 0.0 : a->predicted_ns, b->incredible ? 0.0 : b->predicted_ns},
      {a->sectors, b->sectors}};
  for (int k = 0; k < SCT_COUNT(keys); k++) {
    const double x = keys[k][0], y = keys[k][1];
    if (x != y) { /* what is unknown stands last */
      return x > 0 && (y <= 0 || x < y) ? -1 : 1;
    }
  }
  if (a->registers != b->registers) {
    return a->registers < b->registers ? -1 : 1;
  }
  return strcmp(a->label, b->label);
}

/* Reports a candidate that is not coalesced but faster, with the ratio. */
static char *faster_sentence(const tune_table *t, int size) {
  const sct_choice *choice = &t->choices[size];
  if (choice->passed_over < 0) {
    return NULL;
  }
  const bool unknown = sct_tune_cell(t, choice->passed_over, size)->how.unknown;
  sct_str text = {0};
  sct_str_printf(&text,
                 "'%s' is %s%.2f times as fast but not %scoalesced; --select any "
                 "takes it",
                 t->cands->items[choice->passed_over].label, t->times ? "" : "predicted to be ",
                 choice->faster_ratio, unknown ? "known to be " : "");
  return text.data;
}

/* What the choice counts and times do not show. */
static char *converted_sentence(const tune_table *t, int size) {
  double most = 0;
  sct_str text = {0};
  for (int k = 0; k < t->cands->n_items; k++) {
    const double ns = sct_tune_conversion_ns(t, k, size);
    most = ns > most ? ns : most;
  }
  if (most == 0) {
    return NULL;
  }
  sct_str_printf(&text,
                 "conversions are not in these times: candidates with other layouts than the first "
                 "pay up to %.3g us a launch, and the winner is chosen with that",
                 most / 1e3);
  return text.data;
}

static void fill_size(tune_session *s, int size, sct_tune_size *out) {
  const tune_table *t = &s->table;
  const sct_size *problem_size = &t->cands->spec.sizes[size];
  const int w = t->choices[size].winner;
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(&t->cands->spec, problem_size, &read_bytes, &write_bytes);
  out->label = sct_strdup(problem_size->label);
  out->sampled = problem_size->sampled;
  out->read_bytes = (double)read_bytes;
  out->write_bytes = (double)write_bytes;
  out->ceiling_bytes_s = s->record.runs[size].ceiling_bytes_s;
  out->n_tied = t->choices[size].n_tied;
  out->verified_only_counted = !t->times;
  out->faster = faster_sentence(t, size);
  out->passed_over = t->choices[size].passed_over < 0
                         ? NULL
                         : sct_strdup(t->cands->items[t->choices[size].passed_over].label);
  out->faster_ratio = t->choices[size].faster_ratio;
  out->converted = converted_sentence(t, size);
  out->kept = s->record.kept[size] ? sct_strdup(s->record.kept[size]) : NULL;
  out->recorded = s->device.replay
                      ? sct_tune_replay_best(s->device.replay, w >= 0 ? &t->cands->items[w] : NULL,
                                             size, t->select_any)
                      : NULL;
  out->rows = sct_alloc(sizeof *out->rows * (size_t)(t->cands->n_items + 1));
  for (int k = 0; k < t->cands->n_items; k++) {
    const tune_cell *cell = sct_tune_cell(t, k, size);
    const bool failed = t->cands->items[k].outcome != SCT_OUT_OK;
    sct_tune_find_sizes(&s->counting, k); /* where a session ended early not all were looked at */
    if (!failed && !cell->fits) {
      out->n_unfit += !t->cands->items[k].sizes || t->cands->items[k].sizes[size];
      continue;
    }
    const bool done = sct_tune_is_measured(t, cell);
    const bool reached = failed || done || cell->verdict.outcome != SCT_OUT_OK;
    if (!reached) {
      out->n_untried++;
      continue;
    }
    sct_tune_row *row = &out->rows[out->n_rows++]; /* freed with the report, filled or not */
    fill_row(t, k, size, out, row);
    out->n_stored += cell->from_store;
    out->n_verified += sct_tune_row_good(row);
    out->n_failed += !sct_tune_row_good(row);
  }
  qsort(out->rows, (size_t)out->n_rows, sizeof *out->rows, by_rank);
  sct_tune_why(t, size, out);
}

sct_status sct_tune_report_fill(tune_session *s, sct_tune_report *out, sct_error *err) {
  *out = (sct_tune_report){.device = s->device.desc,
                           .says = s->device.kind->says,
                           .replayed = s->device.kind->replays,
                           .n_points = s->cands.space.n_points,
                           .n_candidates = (int64_t)s->cands.space.n_candidates,
                           .n_sources = s->cands.n_items,
                           .share = s->opts->share,
                           .heat = s->opts->heat,
                           .n_ungenerated = s->cands.n_ungenerated,
                           .n_checked = s->flow.n_checked,
                           .n_caught = s->flow.n_caught,
                           .search = sct_tune_search_name(s->opts),
                           .settled = s->opts->settle && !s->flow.stopped && !s->flow.out_of_time,
                           .stopped_early = s->flow.stopped || s->flow.out_of_time};
  out->stale = s->record.stale;
  s->record.stale = NULL;
  const sct_conditions *c = sct_tune_conditions_of(&s->device);
  if (c) {
    out->contended = c->start.n_others > 0;
    out->n_contended = c->n_contended;
    out->n_slow = c->n_slow;
    out->n_samples = c->n_samples;
    out->throttle = c->throttle;
    SCT_TRY(sct_tune_conditions(&out->conditions, c, err));
  }
  out->name = sct_strdup(s->cands.spec.name);
  out->sizes = sct_alloc(sizeof *out->sizes * (size_t)(s->cands.spec.n_sizes + 1));
  for (int z = 0; z < s->cands.spec.n_sizes; z++) {
    out->n_sizes = z + 1;
    fill_size(s, z, &out->sizes[z]);
  }
  return SCT_OK;
}

void sct_tune_report_free(sct_tune_report *report) {
  for (int z = 0; z < report->n_sizes; z++) {
    sct_tune_size *size = &report->sizes[z];
    for (int r = 0; r < size->n_rows; r++) {
      sct_free(size->rows[r].label);
      sct_free(size->rows[r].detail);
      sct_free(size->rows[r].warning);
      sct_free(size->rows[r].approximate);
    }
    sct_free(size->rows);
    sct_free(size->label);
    sct_free(size->faster);
    sct_free(size->passed_over);
    sct_free(size->uncoalesced);
    sct_free(size->kept);
    sct_free(size->converted);
    sct_free(size->recorded);
    sct_free(size->why);
    sct_free(size->decided);
    sct_free(size->best);
    sct_arena_free(&size->arena);
  }
  sct_free(report->sizes);
  sct_free(report->name);
  sct_free(report->stale);
  sct_str_free(&report->conditions);
  *report = (sct_tune_report){0};
}
