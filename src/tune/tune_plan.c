/* The plan of a session: every candidate that is left after pruning, with its generated kernel. */
#include "tune/tune.h"

#include <string.h>

/* ---- equal sources are kept once ----------------------------------------------------------------
 */

typedef struct hash_set {
  sct_hash *slots;
  bool *used;
  size_t cap;
} hash_set;

static bool set_make(hash_set *set, size_t n) {
  set->cap = 64;
  while (set->cap < 2 * n) {
    set->cap *= 2;
  }
  set->slots = sct_alloc(set->cap * sizeof *set->slots);
  set->used = sct_alloc(set->cap * sizeof *set->used);
  return set->slots && set->used;
}

/* true if the hash was there already */
static bool set_add(hash_set *set, sct_hash h) {
  size_t k = h.lo & (set->cap - 1);
  while (set->used[k] && !sct_hash_equal(set->slots[k], h)) {
    k = (k + 1) & (set->cap - 1);
  }
  const bool known = set->used[k];
  set->used[k] = true;
  set->slots[k] = h;
  return known;
}

static void set_free(hash_set *set) {
  sct_free(set->slots);
  sct_free(set->used);
}

/* ---- making ------------------------------------------------------------------------------------
 */

static char *label_of(const sct_space *space, const sct_candidate *cand, sct_arena *arena) {
  sct_str text = {0};
  sct_space_label(&text, space, cand);
  char *label = text.failed ? NULL : sct_arena_strdup(arena, sct_str_c(&text));
  sct_str_free(&text);
  return label;
}

/* Generates one candidate. *kept tells whether it has a source of its own. */
static sct_status make_item(sct_tune_plan *plan, size_t c, hash_set *seen, bool *kept,
                            sct_error *err) {
  sct_tune_item *item = &plan->items[plan->n_items];
  const sct_candidate *cand = &plan->space.candidates[c];
  *item = (sct_tune_item){.candidate = (int64_t)c, .outcome = SCT_OUT_OK};
  *kept = false;
  const char *rejected = NULL;
  sct_error failure;
  const sct_status status = sct_codegen_make(&item->code, &rejected, &plan->arena, plan->script,
                                             &plan->spec, &plan->space, cand, &failure);
  if (status == SCT_ENOMEM) {
    return sct_fail(err, status, "%s", failure.text);
  }
  if (rejected) {
    return sct_space_prune(&plan->space, cand->strategy, rejected, err);
  }
  if (status == SCT_OK && set_add(seen, item->code.hash)) {
    sct_kernel_code_free(&item->code);
    return sct_space_prune(&plan->space, cand->strategy, "same source as an earlier candidate",
                           err);
  }
  item->label = label_of(&plan->space, cand, &plan->arena);
  if (status != SCT_OK) { /* a failing candidate is an outcome */
    item->outcome = SCT_OUT_RENDER_ERROR;
    item->detail = sct_arena_strdup(&plan->arena, failure.text);
  }
  *kept = true;
  return item->label ? SCT_OK : sct_fail(err, SCT_ENOMEM, "out of memory");
}

static sct_status make_items(sct_tune_plan *plan, const sct_tune_events *events, sct_error *err) {
  const size_t n = plan->space.n_candidates;
  hash_set seen = {0};
  sct_status status = SCT_OK;
  plan->items = sct_alloc((n + 1) * sizeof *plan->items);
  if (!plan->items || !set_make(&seen, n)) {
    status = sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  for (size_t c = 0; status == SCT_OK && c < n; c++) {
    bool kept;
    status = make_item(plan, c, &seen, &kept, err);
    plan->n_items += status == SCT_OK && kept;
    if (events && events->progress) {
      events->progress(events->ctx, "generate", (int64_t)c + 1, (int64_t)n, NULL);
    }
  }
  set_free(&seen);
  return status;
}

sct_status sct_tune_plan_make(sct_tune_plan *out, const char *spec_path,
                              const sct_device_desc *device, const char *strategy_dir,
                              const sct_tune_events *events, sct_error *err) {
  *out = (sct_tune_plan){.device = *device};
  sct_status status = sct_script_load_spec(&out->spec, spec_path, err);
  if (status == SCT_OK) {
    status = sct_script_new(&out->script, &out->spec, &out->device, strategy_dir, err);
  }
  if (status == SCT_OK) {
    status = sct_script_space(&out->space, out->script, err);
  }
  if (status == SCT_OK) {
    status = sct_space_enumerate(&out->space, err);
  }
  if (status == SCT_OK) {
    status = make_items(out, events, err);
  }
  if (status != SCT_OK) {
    sct_tune_plan_free(out);
  }
  return status;
}

void sct_tune_plan_free(sct_tune_plan *plan) {
  for (int k = 0; k < plan->n_items; k++) {
    sct_compiled_free(&plan->items[k].compiled);
    sct_kernel_code_free(&plan->items[k].code);
  }
  sct_free(plan->items);
  sct_space_free(&plan->space);
  sct_script_free(plan->script);
  sct_spec_free(&plan->spec);
  sct_arena_free(&plan->arena);
  *plan = (sct_tune_plan){0};
}
