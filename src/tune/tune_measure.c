/* Verifying, and on a device that gives times, a quick screen of every candidate. */
#include "tune/tune_internal.h"

#include <stdlib.h>
#include <string.h>

#define SCREEN_BUDGET_NS ((int64_t)1) /* the fewest samples that give a median and quartiles */

sct_binary sct_tune_binary(const sct_tune_item *item) {
  return (sct_binary){.code = &item->code,
                      .cubin = item->compiled.cubin,
                      .cubin_bytes = item->compiled.cubin_bytes,
                      .ptx = item->compiled.ptx,
                      .entry = item->compiled.entry};
}

/* An item whose template failed has no kernel, so it is of no group. */
bool sct_tune_same_layouts(const tune_session *s, int a, int b) {
  const int *x = s->plan.items[a].code.layout, *y = s->plan.items[b].code.layout;
  return x && y && memcmp(x, y, sizeof(int) * (size_t)s->plan.spec.n_operands) == 0;
}

/* The first usable item with the same layouts as item k whose strategy is the naive one; -1 if it
 * failed. */
int sct_tune_naive_item(const tune_session *s, int k) {
  for (int n = 0; n < s->plan.n_items; n++) {
    const sct_tune_item *item = &s->plan.items[n];
    if (item->outcome == SCT_OUT_OK && s->plan.space.candidates[item->candidate].strategy == 0 &&
        sct_tune_same_layouts(s, n, k)) {
      return n;
    }
  }
  return -1;
}

sct_status sct_tune_set_problem(tune_session *s, int naive, sct_error *err) {
  const sct_binary binary = sct_tune_binary(&s->plan.items[naive]);
  return sct_measure_problem(s->measure, &s->plan.spec, s->plan.items[naive].code.layout, &binary,
                             err);
}

/* Where the detail names a line of the source, it names the template's line instead. */
void sct_tune_fail_item(tune_session *s, int item, const sct_verdict *verdict) {
  sct_tune_item *failed = &s->plan.items[item];
  sct_str_clear(&s->scratch);
  sct_codegen_map_log(&s->scratch, &failed->code, verdict->detail);
  const size_t len = strcspn(sct_str_c(&s->scratch), "\n");
  failed->outcome = verdict->outcome;
  failed->detail = sct_arena_strndup(&s->plan.arena, sct_str_c(&s->scratch), len);
  sct_tune_tell_item(s, item);
}

/* Verification is of the kernel, so it holds at every size that fits. */
static void set_verified(tune_session *s, int item) {
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    tune_cell *cell = sct_tune_cell(s, item, z);
    cell->verified = cell->verified || cell->fits;
  }
}

/* ---- one layout choice: verify, then screen at every size
 * ---------------------------------------- */

bool sct_tune_known_already(tune_session *s, int item) {
  for (int z = 0; z < s->plan.spec.n_sizes; z++) {
    const tune_cell *cell = sct_tune_cell(s, item, z);
    if (cell->fits && !cell->from_store && !cell->passed_over) {
      return false;
    }
  }
  return true;
}

/* Has it been verified at another size, in an earlier round of a search? */
static bool is_verified(tune_session *s, int item) {
  bool verified = false;
  for (int z = 0; s->searching && z < s->plan.spec.n_sizes; z++) {
    const tune_cell *cell = sct_tune_cell(s, item, z);
    verified = verified || (cell->verified && !cell->from_store);
  }
  return verified;
}

bool sct_tune_judged_already(tune_session *s, int item) {
  return sct_tune_known_already(s, item) || is_verified(s, item);
}

/* Holds what the interpreter counted against the model at the same size. */
static sct_status compare_counts(tune_session *s, sct_tune_item *item, const sct_verdict *verdict,
                                 sct_error *err) {
  if (!verdict->counted || !item->code.counted) {
    return SCT_OK;
  }
  sct_fill fill[SCT_MAX_OPERANDS];
  int64_t extent[SCT_MAX_EXTENTS];
  memcpy(extent, verdict->extent, sizeof extent);
  memcpy(fill, verdict->fill, sizeof fill);
  const sct_size size = {.extent = extent, .fill = fill, .label = "a small size"};
  sct_counters c = {0};
  SCT_TRY(sct_model_count(&c, &s->plan.spec, &item->code, &size, INT64_MAX, err));
  item->ptx = (sct_ptx_check){.known = true,
                              .ptx = verdict->counts,
                              .model = {.requests_ld = c.load.requests,
                                        .sectors_ld = c.load.sectors,
                                        .requests_st = c.store.requests,
                                        .sectors_st = c.store.sectors,
                                        .wavefronts_ld = c.wavefronts_ld,
                                        .wavefronts_st = c.wavefronts_st}};
  item->ptx.same = memcmp(&item->ptx.ptx, &item->ptx.model, sizeof item->ptx.ptx) == 0;
  sct_counters_free(&c);
  return SCT_OK;
}

static sct_status verify_group(tune_session *s, const int *items, int n, sct_error *err) {
  for (int k = 0; k < n && !sct_tune_stop(s); k++) {
    sct_tune_item *item = &s->plan.items[items[k]];
    const bool judged = item->outcome != SCT_OUT_OK || sct_tune_judged_already(s, items[k]);
    if (s->searching && judged) {
      continue;
    }
    sct_tune_progress(s, "verify", ++s->n_verify, s->plan.n_items, item->label);
    if (judged) {
      continue;
    }
    const sct_binary binary = sct_tune_binary(item);
    sct_verdict verdict;
    SCT_TRY(sct_measure_verify(s->measure, &binary, &verdict, err));
    if (verdict.outcome != SCT_OUT_OK) {
      sct_tune_fail_item(s, items[k], &verdict);
    } else {
      set_verified(s, items[k]);
      if (!s->kind->times) {
        sct_tune_tell_item(s, items[k]);
      }
      SCT_TRY(compare_counts(s, item, &verdict, err));
    }
  }
  return SCT_OK;
}

static sct_status time_cell(tune_session *s, int item, int size, int64_t budget_ns, sct_timing *out,
                            sct_error *err) {
  const sct_binary binary = sct_tune_binary(&s->plan.items[item]);
  *out = (sct_timing){0};
  return sct_measure_time(s->measure, &binary, &s->plan.spec.sizes[size], budget_ns, out, err);
}

static sct_status screen_group(tune_session *s, const int *items, int n, int size, sct_error *err) {
  const int64_t total = (int64_t)s->plan.n_items * s->plan.spec.n_sizes;
  for (int k = 0; k < n && !sct_tune_stop(s); k++) {
    tune_cell *cell = sct_tune_cell(s, items[k], size);
    sct_tune_item *item = &s->plan.items[items[k]];
    if (cell->passed_over) {
      continue;
    }
    sct_tune_progress(s, "time", ++s->n_time, total, item->label);
    if (item->outcome != SCT_OUT_OK || !cell->fits || cell->from_store) {
      continue;
    }
    SCT_TRY(time_cell(s, items[k], size, SCREEN_BUDGET_NS, &cell->timing, err));
    cell->verdict = cell->timing.verdict;
    sct_tune_tell_cell(s, items[k], size);
    if (s->store) {
      SCT_TRY(sct_tune_store_cell(s, items[k], size, true, err));
    }
  }
  return SCT_OK;
}

static sct_status measure_ceiling(tune_session *s, int size, sct_error *err) {
  int64_t read_bytes, write_bytes;
  sct_spec_traffic(&s->plan.spec, &s->plan.spec.sizes[size], &read_bytes, &write_bytes);
  return sct_measure_ceiling(s->measure, read_bytes + write_bytes, NULL, 0,
                             &s->runs[size].ceiling_bytes_s, err);
}

/* Items with the layouts of item `first`, in order. */
static int group_of(const tune_session *s, int first, int *items) {
  int n = 0;
  for (int k = first; k < s->plan.n_items; k++) {
    if (sct_tune_same_layouts(s, k, first)) {
      items[n++] = k;
    }
  }
  return n;
}

static bool is_first_of_group(const tune_session *s, int k) {
  for (int n = 0; n < k; n++) {
    if (sct_tune_same_layouts(s, n, k)) {
      return false;
    }
  }
  return true;
}

/* Is there anything to do in this group? */
static bool is_asked(tune_session *s, const int *items, int n) {
  bool asked = false;
  for (int k = 0; k < n; k++) {
    for (int z = 0; z < s->plan.spec.n_sizes; z++) {
      asked = asked || !sct_tune_cell(s, items[k], z)->passed_over;
    }
  }
  return asked;
}

static sct_status screen_all(tune_session *s, int *items, sct_error *err) {
  for (int k = 0; k < s->plan.n_items && !sct_tune_stop(s); k++) {
    if (!s->plan.items[k].code.layout || !is_first_of_group(s, k)) {
      continue;
    }
    const int n = group_of(s, k, items), naive = sct_tune_naive_item(s, k);
    if (s->searching && !is_asked(s, items, n)) {
      continue;
    }
    if (naive < 0) {
      return sct_fail(
          err, SCT_ENOTVERIFIED,
          "%s: the naive variant does not compile or run, so nothing can be verified: %s: %s",
          s->plan.spec.name, sct_outcome_text(s->plan.items[k].outcome),
          s->plan.items[k].detail ? s->plan.items[k].detail : "");
    }
    if (naive != s->naive_set) {
      SCT_TRY(sct_tune_set_problem(s, naive, err));
      s->naive_set = naive;
    }
    SCT_TRY(verify_group(s, items, n, err));
    for (int z = 0; s->kind->times && z < s->plan.spec.n_sizes; z++) {
      if (s->runs[z].ceiling_bytes_s <= 0.0) {
        SCT_TRY(measure_ceiling(s, z, err));
      }
      SCT_TRY(screen_group(s, items, n, z, err));
    }
  }
  return SCT_OK;
}

sct_status sct_tune_screen(tune_session *s, sct_error *err) {
  int *items = sct_alloc(sizeof *items * (size_t)(s->plan.n_items + 1));
  sct_status status = items ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory");
  if (status == SCT_OK && s->kind->times && !s->opts->no_check) {
    status = sct_tune_check(s, err);
  }
  if (status == SCT_OK) {
    status = screen_all(s, items, err);
  }
  sct_free(items);
  return status;
}

sct_status sct_tune_measure(tune_session *s, sct_error *err) {
  sct_rank_row *rows = sct_alloc(sizeof *rows * (size_t)(s->plan.n_items + 1));
  sct_status status = rows ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory");
  for (int z = 0; s->store && !s->opts->again && status == SCT_OK && z < s->plan.spec.n_sizes;
       z++) {
    for (int k = 0; status == SCT_OK && k < s->plan.n_items; k++) {
      status = sct_tune_store_resume(s, k, z, err);
    }
  }
  s->naive_set = -1;
  if (status == SCT_OK) {
    status = sct_tune_searches(s->opts) ? sct_tune_search(s, err) : sct_tune_screen(s, err);
  }
  for (int z = 0; status == SCT_OK && s->kind->times && z < s->plan.spec.n_sizes; z++) {
    if (sct_tune_stop(s)) {
      break;
    }
    status = sct_tune_final(s, z, rows, err);
  }
  sct_free(rows);
  return status;
}
