/* The final heat of shares that several cards tried: what the cards' times have in common, and
 * which candidates of a merged store are raced once more, all on one card. */
#include "tune/tune_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sheets of several cards ---- */

static int by_source(const void *a, const void *b) {
  const sct_row_result *x = a, *y = b;
  return strcmp(x->candidate.source_hash, y->candidate.source_hash);
}

static bool is_timed(const sct_row_result *row) {
  return row && row->outcome.times.median_ns > 0 && sct_row_is_ok(&row->outcome);
}

/* times[n]: the time in every sheet of row k of the first; false: a sheet does not have it. */
static bool common_times(double *times, const sct_tune_sheet *sheets, int n, int k) {
  bool all = true;
  for (int s = 0; s < n && all; s++) {
    const sct_row_result *row =
        bsearch(&sheets[0].rows[k], sheets[s].rows, (size_t)sheets[s].n, sizeof *row, by_source);
    all = is_timed(row);
    times[s] = all ? row->outcome.times.median_ns : 0;
  }
  return all;
}

void sct_tune_scale(sct_tune_sheet *sheets, int n) {
  for (int s = 0; s < n; s++) {
    qsort(sheets[s].rows, (size_t)sheets[s].n, sizeof *sheets[s].rows, by_source);
    sheets[s].scale = 1.0;
    sheets[s].n_common = 0;
  }
  const int most = n > 1 ? sheets[0].n : 0;
  SCT_OWNED double *ratios = sct_alloc(sizeof *ratios * ((size_t)n * (size_t)most + 1));
  SCT_OWNED double *times = sct_alloc(sizeof *times * ((size_t)n + 1));
  int n_common = 0;
  for (int k = 0; k < most; k++) {
    if (common_times(times, sheets, n, k)) {
      const double usual = sct_quartiles_of(times, n).median;
      for (int s = 0; s < n; s++) {
        ratios[(size_t)s * (size_t)most + (size_t)n_common] = times[s] / usual;
      }
      n_common++;
    }
  }
  for (int s = 0; s < n && n_common > 0; s++) {
    sheets[s].scale = sct_quartiles_of(ratios + (size_t)s * (size_t)most, n_common).median;
    sheets[s].n_common = n_common;
  }
}

/* ---- which candidates ---- */

typedef struct named {
  const char *label;
  int64_t candidate;
} named;

typedef struct heat {
  const sct_tune_candidates *cands;
  named *named; /* [n_candidates] sorted by label */
  const sct_tune_candidates_opts *opts;
  sct_arena *arena;
  sct_store *store;
  sct_row_run *runs;
  sct_row_device *devices;
  int n_runs, n_devices;
  sct_tune_sheet *sheets; /* [n_sheets] of the current size */
  int n_sheets;
  const char **labels;
  size_t n, cap;
} heat;

static int by_label(const void *a, const void *b) {
  return strcmp(((const named *)a)->label, ((const named *)b)->label);
}

static void name_candidates(heat *h) {
  const sct_space *space = &h->cands->space;
  SCT_SCOPED(sct_str) text = {0};
  h->named = SCT_ARENA_NEW(h->arena, named, space->n_candidates + 1);
  for (size_t c = 0; c < space->n_candidates; c++) {
    sct_str_clear(&text);
    sct_space_label(&text, space, &space->candidates[c]);
    h->named[c] = (named){sct_arena_strdup(h->arena, sct_str_c(&text)), (int64_t)c};
  }
  qsort(h->named, space->n_candidates, sizeof *h->named, by_label);
}

/* -1: these templates and strategies do not make it. */
static int64_t find_candidate(const heat *h, const char *label) {
  const named key = {.label = label};
  const named *found =
      bsearch(&key, h->named, h->cands->space.n_candidates, sizeof *h->named, by_label);
  return found ? found->candidate : -1;
}

/* Cards of the device's kind, whatever their driver: they say what is worth trying. */
static sct_status read_sheets(heat *h, const char *size, sct_error *err) {
  h->sheets = SCT_ARENA_NEW(h->arena, sct_tune_sheet, h->n_runs + 1);
  const sct_row_device **cards = SCT_ARENA_NEW(h->arena, const sct_row_device *, h->n_runs + 1);
  h->n_sheets = 0;
  for (int k = 0; k < h->n_runs; k++) {
    const sct_row_device *card = sct_row_device_find(h->devices, h->n_devices, h->runs[k].device);
    if (!card || strcmp(h->runs[k].size_label, size) != 0 ||
        strcmp(card->name, h->cands->device.name) != 0) {
      continue;
    }
    sct_tune_sheet *sheet = &h->sheets[h->n_sheets];
    SCT_TRY(
        sct_store_results(h->store, h->arena, h->runs[k].id, false, &sheet->rows, &sheet->n, err));
    cards[h->n_sheets++] = card;
  }
  sct_tune_scale(h->sheets, h->n_sheets);
  for (int s = 0; s < h->n_sheets; s++) {
    if (h->sheets[s].scale > 1.0 + SCT_MOST_NOISE) {
      sct_log(SCT_LOG_WARN,
              "%s at %s: %s took %.2f times as long as usual for %d candidates that all cards "
              "timed: a slow or throttled card; its times are scaled",
              h->cands->spec.name, size, cards[s]->uuid, h->sheets[s].scale, h->sheets[s].n_common);
    }
  }
  return SCT_OK;
}

/* Whether it is new, and a candidate. */
static bool add_label(heat *h, const char *label) {
  const bool known = sct_names_find(SCT_NAMES(h->labels, (int)h->n), label) >= 0;
  const bool is_new = !known && find_candidate(h, label) >= 0;
  if (is_new) {
    SCT_GROW(h->labels, h->n, h->cap);
    h->labels[h->n++] = label;
  }
  return is_new;
}

static void fill_row(const heat *h, const sct_tune_sheet *sheet, const sct_row_result *r,
                     sct_rank_row *row) {
  const int64_t c = find_candidate(h, r->candidate.label);
  const bool known = h->cands->device.is_virtual || r->outcome.times.median_ns > 0;
  *row = (sct_rank_row){.outcome = r->outcome,
                        .eligible = sct_row_is_ok(&r->outcome) && c >= 0 && known,
                        .registers = r->candidate.registers,
                        .fast = c >= 0 && sct_space_is_fast(&h->cands->space, c),
                        .label = r->candidate.label};
  row->outcome.times.median_ns /= sheet->scale;
  row->outcome.race = ""; /* rows of several cards, without samples */
}

/* Times that are hardly longer count as equal to the least one, which has to be there. */
static bool add_quickest(heat *h, const sct_rank_row *rows, size_t n) {
  const sct_rank_row *quickest = NULL;
  double least = INFINITY;
  for (size_t k = 0; k < n; k++) {
    const double ns = sct_row_ns(&rows[k].outcome);
    if (rows[k].outcome.how.coalesced && ns > 0 && ns < least) {
      quickest = &rows[k];
      least = ns;
    }
  }
  return quickest && add_label(h, quickest->label);
}

/* One after the other, as sessions choose their winner. */
static void add_best(heat *h) {
  size_t n = 0, at = 0;
  for (int s = 0; s < h->n_sheets; s++) {
    n += (size_t)h->sheets[s].n;
  }
  SCT_OWNED sct_rank_row *rows = sct_alloc(sizeof *rows * (n + 1));
  for (int s = 0; s < h->n_sheets; s++) {
    for (int k = 0; k < h->sheets[s].n; k++) {
      fill_row(h, &h->sheets[s], &h->sheets[s].rows[k], &rows[at++]);
    }
  }
  for (int k = 0; k < h->opts->heat.n; k++) {
    const sct_choice choice = sct_choose(rows, (int)n, h->opts->select_any);
    if (choice.winner < 0) {
      break;
    }
    const char *label = rows[choice.winner].label;
    add_label(h, label);
    if (k == 0 && h->opts->heat.n > 1) {
      k += add_quickest(h, rows, n);
    }
    for (size_t r = 0; r < n; r++) { /* on whatever card */
      rows[r].eligible = rows[r].eligible && strcmp(rows[r].label, label) != 0;
    }
  }
}

static sct_status read_store(heat *h, sct_error *err) {
  const sct_spec *spec = &h->cands->spec;
  char hex[SCT_HASH_HEX];
  sct_row_problem *problems = NULL;
  int n = 0;
  SCT_TRY(sct_store_problem_by_hash(h->store, h->arena, sct_hash_hex(hex, spec->hash), &problems,
                                    &n, err));
  if (n > 0) {
    SCT_TRY(sct_store_devices(h->store, h->arena, &h->devices, &h->n_devices, err));
    SCT_TRY(sct_store_runs(h->store, h->arena, problems[0].id, 0, &h->runs, &h->n_runs, err));
  }
  name_candidates(h);
  for (int z = 0; z < spec->n_sizes; z++) {
    SCT_TRY(read_sheets(h, spec->sizes[z].label, err));
    add_best(h);
  }
  return h->n > 0 ? SCT_OK
                  : sct_fail(err, SCT_EDATA,
                             "--top-of: '%s' has no candidate of this version of '%s' that ran on "
                             "a device called '%s'",
                             h->opts->heat.store_path, spec->name, h->cands->device.name);
}

sct_status sct_tune_heat_labels(sct_tune_labels *out, sct_tune_candidates *cands,
                                const sct_tune_candidates_opts *opts, sct_error *err) {
  heat h = {.cands = cands, .opts = opts, .arena = &cands->arena};
  SCT_TRY(sct_store_open(&h.store, opts->heat.store_path, true, err));
  const sct_status status = read_store(&h, err);
  sct_store_close(h.store);
  const char **kept = SCT_ARENA_NEW(&cands->arena, const char *, h.n + 1);
  for (size_t k = 0; k < h.n; k++) {
    kept[k] = h.labels[k];
  }
  sct_free(h.labels);
  *out = (sct_tune_labels){(int)h.n, kept};
  return status;
}
