/* The winner of a spec that the store has, for `gen --winner`. */
#include "cli/cli_internal.h"

#include <string.h>

typedef struct wanted {
  const cli_args *args;
  sct_arena *arena;
  sct_row_device *devices;
  sct_row_run *runs;
  int n_devices, n_runs;
} wanted;

static const sct_row_device *device_of(const wanted *w, const sct_row_run *run) {
  return sct_row_device_find(w->devices, w->n_devices, run->device);
}

static bool is_wanted(const wanted *w, const sct_row_run *run) {
  const sct_row_device *device = device_of(w, run);
  const cli_args *args = w->args;
  return run->winner != 0 && device != NULL &&
         (!args->device || strcmp(args->device, device->device_id) == 0) &&
         (!args->size || strcmp(args->size, run->size_label) == 0);
}

/* GPUs come first, then what was tuned last. */
static bool stands_before(const wanted *w, const sct_row_run *a, const sct_row_run *b) {
  const bool virtual_a = device_of(w, a)->is_virtual, virtual_b = device_of(w, b)->is_virtual;
  const int order = strcmp(a->started, b->started);
  return virtual_a != virtual_b ? virtual_b : order != 0 ? order > 0 : a->id > b->id;
}

/* That all sizes of its device have this winner; else what each has. */
static sct_status check_same(wanted *w, sct_store *store, const sct_row_run *first,
                             const sct_row_result *winner, sct_error *err) {
  SCT_SCOPED(sct_str) each = {0};
  bool same = true;
  sct_status status = SCT_OK;
  for (int k = 0; k < w->n_runs; k++) {
    sct_row_result other;
    if (is_wanted(w, &w->runs[k]) && w->runs[k].device == first->device) {
      SCT_TRY(sct_store_result(store, w->arena, w->runs[k].winner, &other, err));
      same = same && strcmp(other.candidate.source_hash, winner->candidate.source_hash) == 0;
      sct_str_printf(&each, "\n  %s: %s", w->runs[k].size_label, other.candidate.label);
    }
  }
  if (!same) {
    status = sct_fail(err, SCT_EUSAGE, "sizes have winners of their own: name one with --size%s",
                      sct_str_c(&each));
  }
  return status;
}

static sct_status choose(wanted *w, sct_store *store, sct_row_result *out, sct_error *err) {
  const sct_row_run *first = NULL;
  for (int k = 0; k < w->n_runs; k++) {
    const sct_row_run *run = &w->runs[k];
    first = is_wanted(w, run) && (!first || stands_before(w, run, first)) ? run : first;
  }
  if (!first) {
    return sct_fail(err, SCT_EDATA, "the store has no winner of this spec%s%s%s%s",
                    w->args->size ? " at " : "", w->args->size ? w->args->size : "",
                    w->args->device ? " on " : "", w->args->device ? w->args->device : "");
  }
  SCT_TRY(sct_store_result(store, w->arena, first->winner, out, err));
  return check_same(w, store, first, out, err);
}

/* Where its kernel is, whichever templates made it. */
static sct_status load(wanted *w, sct_store *store, sct_row_result *out, sct_error *err) {
  SCT_SCOPED(sct_spec) spec = {0};
  sct_row_problem *problems = NULL;
  char hash[SCT_HASH_HEX];
  int n = 0;
  SCT_TRY(
      cli_hint_example(sct_script_try_spec(&spec, w->args->words[0], err), w->args->words[0], err));
  sct_hash_hex(hash, spec.hash);
  SCT_TRY(sct_store_problem_by_hash(store, w->arena, hash, &problems, &n, err));
  if (n == 0) {
    return sct_fail(err, SCT_EDATA,
                    "the store has nothing of this spec: run `sectile tune` on it first");
  }
  SCT_TRY(sct_store_devices(store, w->arena, &w->devices, &w->n_devices, err));
  SCT_TRY(sct_store_runs(store, w->arena, problems[0].id, 0, &w->runs, &w->n_runs, err));
  return choose(w, store, out, err);
}

sct_status cli_find_winner(sct_str *label, char hash[SCT_HASH_HEX], const cli_args *args,
                           sct_error *err) {
  SCT_SCOPED(sct_arena) arena = {0};
  wanted w = {.args = args, .arena = &arena};
  SCT_OWNED_PTR(sct_store) store = NULL;
  sct_row_result winner;
  SCT_TRY(cli_store_open(&store, args, true, err));
  SCT_TRY(load(&w, store, &winner, err));
  sct_str_append(label, winner.candidate.label);
  snprintf(hash, SCT_HASH_HEX, "%s", winner.candidate.source_hash);
  return SCT_OK;
}
