/* Verifying, and on a device that gives times, a quick pass over every candidate. */
#include "tune/tune_internal.h"

#include <stdlib.h>
#include <string.h>

#define WAIT_NS          ((int64_t)20000000)
#define RACING_SHARE     0.25 /* of a budget */
#define AROUND_OF_BUDGET 0.2  /* for sizes around listed ones */
#define AROUND_SHARE     0.4  /* of the time that listed sizes took */

/* How far measuring is. */
typedef struct quick_pass {
  int *items, n; /* of the current layouts */
  bool *taken;   /* [n] */
} quick_pass;

sct_status sct_tune_record_verdict(tune_session *s, int k, sct_error *err) {
  sct_tune_compare_code(&s->counting, k);
  for (int z = 0; z < s->cands.spec.n_sizes; z++) {
    SCT_TRY(sct_tune_store_cell(&s->record, k, z, err));
  }
  sct_tune_notify_item(&s->flow, &s->cands.items[k]);
  return SCT_OK;
}

/* ---- one layout choice: verify, then a quick pass at every size ---- */

static sct_status verify_item(tune_session *s, int k, sct_error *err) {
  sct_tune_item *item = &s->cands.items[k];
  const sct_binary binary = sct_tune_binary(item);
  sct_verdict verdict;
  SCT_TRY(sct_measure_verify(s->device.measure, &binary, &verdict, err));
  if (verdict.outcome != SCT_OUT_OK) {
    sct_tune_fail_item(&s->cands, k, verdict.outcome, verdict.detail);
    return sct_tune_record_verdict(s, k, err);
  }
  sct_tune_warn_item(&s->cands, k, verdict.warning);
  sct_tune_set_verified(&s->table, k);
  const sct_ptx_check check = sct_tune_ptx_check_of(&s->cands.spec, &verdict);
  SCT_TRY(sct_tune_apply_ptx_check(&s->counting, k, &check, err));
  return s->device.kind->times ? SCT_OK : sct_tune_record_verdict(s, k, err);
}

/* What was found of the item that runs alike. */
static sct_status take_verdict(tune_session *s, int k, sct_error *err) {
  const sct_tune_item *duplicate = &s->cands.items[s->table.duplicate[k]];
  sct_tune_item *item = &s->cands.items[k];
  item->outcome = duplicate->outcome;
  item->detail = duplicate->detail;
  item->warning = duplicate->warning;
  SCT_TRY(sct_tune_apply_ptx_check(&s->counting, k, &duplicate->ptx, err));
  if (item->outcome == SCT_OUT_OK) {
    sct_tune_set_verified(&s->table, k);
  }
  return item->outcome != SCT_OUT_OK || !s->device.kind->times ? sct_tune_record_verdict(s, k, err)
                                                               : SCT_OK;
}

/* A kernel that is right is so at samples that ask for it later. */
static sct_status take_asked(tune_session *s, int k, sct_error *err) {
  for (int z = 0; z < s->cands.spec.n_sizes; z++) {
    tune_cell *cell = sct_tune_cell(&s->table, k, z);
    if (cell->fits && !cell->passed_over && !cell->verified) {
      cell->verified = true;
      SCT_TRY(s->device.kind->times ? SCT_OK : sct_tune_store_cell(&s->record, k, z, err));
    }
  }
  return SCT_OK;
}

static sct_status verify_step(tune_session *s, int k, sct_error *err) {
  const sct_tune_item *item = &s->cands.items[k];
  const bool evaluated = item->outcome != SCT_OUT_OK || sct_tune_evaluated_already(&s->table, k);
  SCT_TRY(sct_tune_count(&s->counting, k, err)); /* both unless whoever checked it did */
  sct_tune_compare_code(&s->counting, k);
  if (s->searching && evaluated) {
    return item->outcome == SCT_OUT_OK ? take_asked(s, k, err) : SCT_OK;
  }
  sct_tune_progress(&s->flow, "verify", ++s->flow.n_verify, s->cands.n_items, item->label);
  if (evaluated) {
    return SCT_OK;
  }
  sct_tune_find_duplicate(&s->table, k);
  if (s->table.duplicate[k] >= 0) {
    return take_verdict(s, k, err);
  }
  return verify_item(s, k, err);
}

static sct_status quick_step(tune_session *s, int k, int size, sct_error *err) {
  tune_cell *cell = sct_tune_cell(&s->table, k, size);
  const sct_tune_item *item = &s->cands.items[k];
  if (cell->passed_over) {
    return SCT_OK;
  }
  sct_tune_progress(&s->flow, "time", ++s->flow.n_time,
                    (int64_t)s->cands.n_items * s->cands.spec.n_sizes, item->label);
  if (item->outcome != SCT_OUT_OK || !cell->fits || cell->from_store) {
    return SCT_OK;
  }
  if (s->table.duplicate[k] >= 0 &&
      sct_tune_is_timed(sct_tune_cell(&s->table, s->table.duplicate[k], size))) {
    sct_tune_copy_from_duplicate(&s->table, k, size);
  } else {
    const sct_binary binary = sct_tune_binary(item);
    sct_timing timing;
    SCT_TRY(sct_measure_time(s->device.measure, &binary, &s->cands.spec.sizes[size],
                             SCT_LEAST_BUDGET_NS, &timing, err));
    sct_tune_take_timing(&s->table, k, size, &timing, "");
  }
  SCT_TRY(sct_tune_store_cell(&s->record, k, size, err));
  sct_tune_notify_cell(&s->flow, &s->table, k, size);
  return SCT_OK;
}

static sct_status measure_ceiling(tune_session *s, int size, sct_error *err) {
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(&s->cands.spec, &s->cands.spec.sizes[size], &read_bytes, &write_bytes);
  const int64_t bytes = read_bytes + write_bytes; /* 0 where outputs are kept and nothing is read */
  return sct_measure_ceiling(s->device.measure, bytes > 2 ? bytes : 2, NULL, 0,
                             &s->record.runs[size].ceiling_bytes_s, err);
}

/* ---- waiting for candidates that are not compiled or checked yet ---- */

sct_status sct_tune_await(tune_session *s, int k, sct_error *err) {
  SCT_TRY(sct_tune_want(s, k, err));
  while (!sct_tune_is_ready(s->queue, k) && !sct_tune_stop(&s->flow)) {
    SCT_TRY(sct_tune_pump(s, WAIT_NS, err));
  }
  return SCT_OK;
}

/* The naive variant of item k's layouts, ready; the next one stands in for one that fails. */
static sct_status await_naive(tune_session *s, int k, int *naive, sct_error *err) {
  for (*naive = sct_tune_naive_item(&s->cands, k);
       *naive >= 0 && !sct_tune_is_ready(s->queue, *naive) && !sct_tune_stop(&s->flow);
       *naive = sct_tune_naive_item(&s->cands, k)) {
    SCT_TRY(sct_tune_await(s, *naive, err));
  }
  return SCT_OK;
}

bool sct_tune_can_measure(const tune_session *s, int k) {
  const int naive = sct_tune_naive_item(&s->cands, k);
  return sct_tune_is_ready(s->queue, k) &&
         (naive < 0 || sct_tune_is_ready(s->queue, naive) || !sct_tune_is_wanted(s->queue, naive));
}

/* The first in their order that is ready; waits until one is. -1: the session is to stop. */
static sct_status next_item(tune_session *s, const quick_pass *sc, int *next, sct_error *err) {
  *next = -1;
  SCT_TRY(sct_tune_pump(s, 0, err));
  while (!sct_tune_stop(&s->flow)) {
    for (int k = 0; k < sc->n; k++) {
      if (!sc->taken[k] && sct_tune_is_ready(s->queue, sc->items[k])) {
        *next = k;
        return SCT_OK;
      }
    }
    SCT_TRY(sct_tune_pump(s, WAIT_NS, err));
  }
  return SCT_OK;
}

/* ---- one layout choice ---- */

/* A search has asked for it at some size. */
static bool is_asked(const tune_table *t, int item) {
  bool asked = false;
  for (int z = 0; z < t->cands->spec.n_sizes; z++) {
    asked = asked || !sct_tune_cell(t, item, z)->passed_over;
  }
  return asked;
}

/* The items of a group; in a search those that it waits for and that are ready. */
static int group_of(const tune_session *s, int first, int *items) {
  int n = 0;
  for (int k = first; k < s->cands.n_items; k++) {
    if (s->table.group[k] == first &&
        (!s->searching || (is_asked(&s->table, k) && sct_tune_can_measure(s, k)))) {
      items[n++] = k;
    }
  }
  return n;
}

/* Verifies every item, and times it at the first size, as they become ready. */
static sct_status measure_first(tune_session *s, quick_pass *sc, sct_error *err) {
  for (int n = 0; n < sc->n && !sct_tune_stop(&s->flow); n++) {
    int next = 0;
    SCT_TRY(next_item(s, sc, &next, err));
    if (next < 0) {
      break;
    }
    sc->taken[next] = true;
    SCT_TRY(verify_step(s, sc->items[next], err));
    if (s->device.kind->times && !sct_tune_stop(&s->flow)) {
      SCT_TRY(quick_step(s, sc->items[next], 0, err));
    }
  }
  return SCT_OK;
}

static sct_status measure_group(tune_session *s, quick_pass *sc, int first, sct_error *err) {
  int naive = -1;
  sc->n = group_of(s, first, sc->items);
  if (sc->n == 0) {
    return SCT_OK;
  }
  SCT_TRY(await_naive(s, first, &naive, err));
  if (sct_tune_stop(&s->flow)) {
    return SCT_OK;
  }
  if (naive < 0) {
    const sct_tune_item *item = &s->cands.items[first];
    return sct_fail(
        err, SCT_ENOTVERIFIED,
        "%s: the naive variant does not compile or run, so nothing can be verified: %s: %s",
        s->cands.spec.name, sct_outcome_text(item->outcome), item->detail ? item->detail : "");
  }
  memset(sc->taken, 0, sizeof *sc->taken * (size_t)sc->n);
  if (naive != s->device.naive_set) {
    SCT_TRY(sct_tune_set_problem(&s->device, &s->cands, naive, err));
    s->device.naive_set = naive;
  }
  if (s->device.kind->times && s->record.runs[0].ceiling_bytes_s <= 0.0) {
    SCT_TRY(measure_ceiling(s, 0, err));
  }
  SCT_TRY(measure_first(s, sc, err));
  for (int z = 1; s->device.kind->times && z < s->cands.spec.n_sizes && !sct_tune_stop(&s->flow);
       z++) {
    if (s->record.runs[z].ceiling_bytes_s <= 0.0) {
      SCT_TRY(measure_ceiling(s, z, err));
    }
    for (int k = 0; k < sc->n && !sct_tune_stop(&s->flow); k++) {
      SCT_TRY(quick_step(s, sc->items[k], z, err));
      SCT_TRY(sct_tune_pump(s, 0, err));
    }
  }
  return SCT_OK;
}

sct_status sct_tune_quick_pass(tune_session *s, sct_error *err) {
  quick_pass sc = {.items = sct_alloc(sizeof *sc.items * (size_t)(s->cands.n_items + 1)),
                   .taken = sct_alloc(sizeof *sc.taken * (size_t)(s->cands.n_items + 1))};
  sct_status status = SCT_OK;
  for (int k = 0; status == SCT_OK && k < s->cands.n_items && !sct_tune_stop(&s->flow); k++) {
    if (s->table.group[k] == k) {
      status = measure_group(s, &sc, k, err);
    }
  }
  sct_free(sc.items);
  sct_free(sc.taken);
  return status;
}

/* Races at the sizes whose turn it is. */
static sct_status race_sizes(tune_session *s, sct_error *err) {
  SCT_OWNED sct_rank_row *rows = sct_alloc(sizeof *rows * (size_t)(s->cands.n_items + 1));
  for (int z = 0; s->device.kind->times && z < s->cands.spec.n_sizes; z++) {
    if (sct_tune_stop(&s->flow)) {
      break;
    }
    SCT_TRY(s->cands.spec.sizes[z].around == s->around ? sct_tune_final(s, z, rows, err) : SCT_OK);
  }
  return SCT_OK;
}

/* Sizes around listed ones come last, within a share of the time that those took. */
static sct_status measure_around(tune_session *s, sct_error *err) {
  const sct_spec *spec = &s->cands.spec;
  const int64_t deadline_ns = s->flow.deadline_ns, now_ns = sct_now_ns();
  if (!spec->sizes[spec->n_sizes - 1].around || s->flow.stopped) {
    return SCT_OK;
  }
  s->around = true;
  if (s->device.kind->times) { /* else few are tried, the same in every session */
    const int64_t until_ns = now_ns + (int64_t)(AROUND_SHARE * (double)(now_ns - s->begun_ns));
    s->flow.deadline_ns = deadline_ns && deadline_ns < until_ns ? deadline_ns : until_ns;
  }
  sct_status status = sct_tune_search_around(s, err);
  status = status == SCT_OK ? race_sizes(s, err) : status;
  s->flow.deadline_ns = deadline_ns;
  s->flow.out_of_time = false;
  return status;
}

sct_status sct_tune_measure(tune_session *s, sct_error *err) {
  sct_status status = SCT_OK;
  const int64_t deadline_ns = s->flow.deadline_ns;
  const sct_spec *spec = &s->cands.spec;
  const double later = spec->sizes[spec->n_sizes - 1].around ? AROUND_OF_BUDGET : 0;
  const int64_t listed_ns =
      deadline_ns ? deadline_ns - (int64_t)(later * (double)s->opts->budget_ns) : 0;
  s->device.naive_set = -1;
  s->flow.deadline_ns = listed_ns;
  if (deadline_ns && s->device.kind->times) { /* the best are raced in any case */
    s->flow.deadline_ns -= (int64_t)(RACING_SHARE * (double)s->opts->budget_ns);
  }
  status = s->searching ? sct_tune_search(s, err) : sct_tune_quick_pass(s, err);
  const bool cut = s->flow.out_of_time;
  s->flow.deadline_ns = listed_ns;
  s->flow.out_of_time = false;
  status = status == SCT_OK ? race_sizes(s, err) : status;
  const bool cut_races = s->flow.out_of_time;
  s->flow.deadline_ns = deadline_ns;
  s->flow.out_of_time = false;
  status = status == SCT_OK ? measure_around(s, err) : status;
  s->flow.out_of_time = cut || cut_races;
  return status;
}
