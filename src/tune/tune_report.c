/* The result of a session as plain data, rows in the order a person wants to read them. */
#include "tune/tune_internal.h"

#include <stdlib.h>
#include <string.h>

/* A sentence for a person; NULL where the counts are exact. */
static const char *explain_counts(sct_arena *arena, const sct_tune_item *item,
                                  const tune_cell *cell) {
  const sct_counters *c = &cell->counters;
  SCT_SCOPED(sct_str) text = {0};
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
  return text.len > 0 ? sct_arena_strdup(arena, text.data) : NULL;
}

/* NULL: nothing. */
static const char *copy_text(sct_arena *arena, const char *text) {
  return text && text[0] != '\0' ? sct_arena_strdup(arena, text) : NULL;
}

static void fill_row(const tune_table *t, int k, int size, sct_tune_size *out, sct_tune_row *row) {
  const sct_tune_item *item = &t->cands->items[k];
  const tune_cell *cell = sct_tune_cell(t, k, size);
  const sct_own *own = sct_tune_own(t->cands, k);
  *row = (sct_tune_row){.label = sct_arena_strdup(&out->arena, item->label),
                        .outcome = sct_tune_outcome(t, k, size),
                        .registers = item->compiled.registers,
                        .spill_bytes =
                            item->compiled.spill_load_bytes + item->compiled.spill_store_bytes,
                        .shared_bytes = item->compiled.static_shared_bytes,
                        .tied = cell->tied,
                        .winner = k == t->choices[size].winner,
                        .naive = sct_tune_is_naive_item(t->cands, k, size),
                        .own = own ? (int)(own - t->cands->spec.own) + 1 : 0,
                        .counted = cell->row.sectors_ld >= 0,
                        .ptx = item->ptx};
  sct_row_outcome *o = &row->outcome;
  o->times.samples_ns = NULL;
  o->times.n_samples = 0;
  o->detail = copy_text(&out->arena, o->detail);
  o->race = sct_arena_strdup(&out->arena, o->race);
  row->warning = sct_row_is_ok(o) ? copy_text(&out->arena, item->warning) : NULL;
  if (row->counted) {
    const sct_spec *spec = &t->cands->spec;
    const sct_degrees degree = sct_model_degrees(&cell->counters, spec, &spec->sizes[size]);
    row->degree_ld = degree.load;
    row->degree_st = degree.store;
    row->approximate = explain_counts(&out->arena, item, cell);
  }
  if (item->compiled.ok) {
    row->occupancy =
        sct_model_occupancy(&t->cands->device, item->code.threads, item->compiled.registers,
                            item->compiled.static_shared_bytes + item->code.shared_bytes)
            .fraction;
  }
  if (o->predicted_ns > 0.0) {
    row->incredible = sct_tune_credible_ns(t, k, size) <= 0.0;
    row->predicted_limit = sct_limit_name(cell->predicted.limit);
  }
  if (o->times.median_ns > 0.0) {
    row->bytes_per_s = (out->read_bytes + out->write_bytes) / o->times.median_ns * 1e9;
    row->share = out->ceiling_bytes_s > 0.0 ? row->bytes_per_s / out->ceiling_bytes_s : 0.0;
  }
}

static double per_request(double sectors, double requests) {
  return requests > 0 ? sectors / requests : 0.0;
}

double sct_tune_row_loads(const sct_tune_row *row) {
  return per_request(row->outcome.sectors_ld, row->outcome.requests_ld);
}

double sct_tune_row_stores(const sct_tune_row *row) {
  return per_request(row->outcome.sectors_st, row->outcome.requests_st);
}

/* Winner, then timed by time, then untimed by predicted time and sectors, then failures; labels
 * last. */
static int by_rank(const void *pa, const void *pb) {
  const sct_tune_row *a = pa, *b = pb;
  const sct_row_outcome *of_a = &a->outcome, *of_b = &b->outcome;
  if (a->winner != b->winner) {
    return a->winner ? -1 : 1;
  }
  if (sct_row_is_ok(of_a) != sct_row_is_ok(of_b)) {
    return sct_row_is_ok(of_a) ? -1 : 1;
  }
  const double keys[][2] = {
      {of_a->times.median_ns, of_b->times.median_ns},
      {a->incredible ? 0.0 : of_a->predicted_ns, b->incredible ? 0.0 : of_b->predicted_ns},
      {sct_row_sectors(of_a), sct_row_sectors(of_b)}};
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
static const char *faster_sentence(sct_arena *arena, const tune_table *t, int size) {
  const sct_choice *choice = &t->choices[size];
  if (choice->passed_over < 0) {
    return NULL;
  }
  const bool unknown = sct_tune_cell(t, choice->passed_over, size)->row.how.unknown;
  return sct_arena_printf(
      arena, "'%s' is %s%.2f times as fast but not %scoalesced; --select any takes it",
      t->cands->items[choice->passed_over].label, t->times ? "" : "predicted to be ",
      choice->faster_ratio, unknown ? "known to be " : "");
}

/* What the choice counts and times do not show. */
static const char *converted_sentence(sct_arena *arena, const tune_table *t, int size) {
  double most = 0;
  for (int k = 0; k < t->cands->n_items; k++) {
    const double ns = sct_tune_conversion_ns(t, k, size);
    most = ns > most ? ns : most;
  }
  return most == 0 ? NULL
                   : sct_arena_printf(arena,
                                      "conversions are not in these times: candidates with other "
                                      "layouts than the first pay up to %.3g us a launch, and the "
                                      "winner is chosen with that",
                                      most / 1e3);
}

static void fill_size(tune_session *s, int size, sct_tune_size *out) {
  const tune_table *t = &s->table;
  const sct_size *problem_size = &t->cands->spec.sizes[size];
  const sct_choice *choice = &t->choices[size];
  const sct_tune_item *items = t->cands->items;
  sct_arena *arena = &out->arena;
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(&t->cands->spec, problem_size, &read_bytes, &write_bytes);
  out->label = sct_arena_strdup(arena, problem_size->label);
  out->sampled = problem_size->sampled;
  out->around = problem_size->around;
  out->read_bytes = (double)read_bytes;
  out->write_bytes = (double)write_bytes;
  out->ceiling_bytes_s = s->record.runs[size].ceiling_bytes_s;
  out->n_tied = choice->n_tied;
  out->verified_only_counted = !t->times;
  out->faster = faster_sentence(arena, t, size);
  out->passed_over =
      copy_text(arena, choice->passed_over < 0 ? NULL : items[choice->passed_over].label);
  out->faster_ratio = choice->faster_ratio;
  out->converted = converted_sentence(arena, t, size);
  out->kept = copy_text(arena, s->record.kept[size]);
  if (s->device.replay) {
    out->recorded =
        sct_tune_replay_best(s->device.replay, choice->winner >= 0 ? &items[choice->winner] : NULL,
                             size, t->select_any, arena);
  }
  out->rows = sct_alloc(sizeof *out->rows * (size_t)(t->cands->n_items + 1));
  for (int k = 0; k < t->cands->n_items; k++) {
    const tune_cell *cell = sct_tune_cell(t, k, size);
    const bool failed = items[k].outcome != SCT_OUT_OK;
    sct_tune_find_sizes(&s->counting, k); /* where a session ended early not all were looked at */
    if (!failed && !cell->fits) {
      out->n_unfit += !items[k].sizes || items[k].sizes[size];
      continue;
    }
    const bool done = sct_tune_is_measured(t, cell);
    const bool reached = failed || done || !sct_row_is_ok(&cell->row);
    if (!reached) {
      out->n_untried++;
      continue;
    }
    sct_tune_row *row = &out->rows[out->n_rows++];
    fill_row(t, k, size, out, row);
    out->n_stored += cell->from_store;
    out->n_verified += sct_row_is_ok(&row->outcome);
    out->n_failed += !sct_row_is_ok(&row->outcome);
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
    sct_free(size->rows);
    sct_arena_free(&size->arena);
  }
  sct_free(report->sizes);
  sct_free(report->name);
  sct_free(report->stale);
  sct_str_free(&report->conditions);
  *report = (sct_tune_report){0};
}
