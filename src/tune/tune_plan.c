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
  if (!item->label) {
    sct_kernel_code_free(&item->code);
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  }
  if (status != SCT_OK) { /* a failing candidate is an outcome */
    item->outcome = SCT_OUT_RENDER_ERROR;
    item->detail = sct_arena_strdup(&plan->arena, failure.text);
  }
  *kept = true;
  return SCT_OK;
}

/* ---- only some ----------------------------------------------------------------------------------
 */

/* The naive one of its layouts. */
static bool is_naive(const sct_tune_plan *plan, size_t c) {
  const sct_candidate *cand = &plan->space.candidates[c];
  int layout[SCT_MAX_OPERANDS] = {0};
  for (int op = 0, axis = 0; op < plan->spec.n_operands; op++) {
    if (plan->spec.operands[op].n_layouts > 1) { /* their axes come first, in operand order */
      layout[op] = cand->value[axis++];
    }
  }
  return sct_codegen_naive(&plan->spec, &plan->space, layout) == (int64_t)c;
}

/* wanted[c]: candidate c is asked for. */
static sct_status mark_wanted(const sct_tune_plan *plan, const sct_tune_labels *only, bool *wanted,
                              sct_error *err) {
  for (size_t c = 0; c < plan->space.n_candidates; c++) {
    wanted[c] = is_naive(plan, c);
  }
  for (int k = 0; k < only->n; k++) {
    const int64_t c = sct_space_find(&plan->space, only->label[k], err);
    if (c < 0) {
      return SCT_EUSAGE;
    }
    wanted[c] = true;
  }
  return SCT_OK;
}

/* What both sides of a trial run. */
typedef struct plan_job {
  sct_tune_plan *plan;
  const char *spec_path, *strategy_dir;
  const sct_tune_labels *only;   /* NULL: all candidates */
  const sct_tune_events *events; /* NULL: nobody watches */
  bool keep_code;                /* the child only looks whether it can be made */
} plan_job;

/* One candidate, behind the trial's gate. */
static sct_status make_next(const plan_job *job, size_t c, hash_set *seen, sct_trial *trial,
                            sct_error *err) {
  sct_tune_plan *plan = job->plan;
  sct_tune_item *item = &plan->items[plan->n_items];
  bool kept;
  SCT_TRY(sct_trial_gate(trial, err));
  SCT_TRY(make_item(plan, c, seen, &kept, err));
  if (kept) {
    sct_trial_note(trial,
                   item->outcome == SCT_OUT_OK ? item->code.hash : sct_hash_text(item->detail));
    plan->n_items++;
  }
  if (kept && !job->keep_code) {
    sct_kernel_code_free(&item->code);
  }
  return SCT_OK;
}

static sct_status make_items(const plan_job *job, sct_trial *trial, sct_error *err) {
  sct_tune_plan *plan = job->plan;
  const sct_tune_events *events = job->events;
  const size_t n = plan->space.n_candidates;
  const bool some = job->only && job->only->n > 0;
  hash_set seen = {0};
  sct_status status = SCT_OK;
  bool *wanted = some ? sct_alloc((n + 1) * sizeof *wanted) : NULL;
  plan->items = sct_alloc((n + 1) * sizeof *plan->items);
  if (!plan->items || (some && !wanted) || !set_make(&seen, n)) {
    status = sct_fail(err, SCT_ENOMEM, "out of memory");
  } else if (some) {
    status = mark_wanted(plan, job->only, wanted, err);
  }
  for (size_t c = 0; status == SCT_OK && c < n; c++) {
    status = some && !wanted[c] ? sct_space_prune(&plan->space, plan->space.candidates[c].strategy,
                                                  "not asked for", err)
                                : make_next(job, c, &seen, trial, err);
    if (events && events->progress) {
      events->progress(events->ctx, "generate", (int64_t)c + 1, (int64_t)n, NULL);
    }
  }
  set_free(&seen);
  sct_free(wanted);
  return status;
}

static sct_status make_plan(const plan_job *job, sct_trial *trial, sct_error *err) {
  sct_tune_plan *out = job->plan;
  SCT_TRY(sct_trial_gate(trial, err));
  SCT_TRY(sct_script_load_spec(&out->spec, job->spec_path, err));
  sct_trial_note(trial, out->spec.hash);
  SCT_TRY(sct_trial_gate(trial, err));
  SCT_TRY(sct_script_new(&out->script, &out->spec, &out->device, job->strategy_dir, err));
  SCT_TRY(sct_script_space(&out->space, out->script, err));
  SCT_TRY(sct_trial_gate(trial, err));
  SCT_TRY(sct_space_enumerate(&out->space, err));
  return make_items(job, trial, err);
}

static sct_status make_in_child(void *ctx, sct_trial *trial, sct_error *err) {
  plan_job job = *(const plan_job *)ctx;
  job.events = NULL;
  job.keep_code = false;
  return make_plan(&job, trial, err);
}

sct_status sct_tune_plan_make(sct_tune_plan *out, const char *spec_path,
                              const sct_device_desc *device, const char *strategy_dir,
                              const sct_tune_labels *only, const sct_tune_events *events,
                              sct_error *err) {
  *out = (sct_tune_plan){.device = *device};
  plan_job job = {out, spec_path, strategy_dir, only, events, true};
  sct_trial *trial = NULL;
  sct_status status = sct_trial_start(&trial, spec_path, make_in_child, &job, err);
  if (status == SCT_OK) {
    status = make_plan(&job, trial, err);
  }
  if (status == SCT_OK) {
    status = sct_trial_finish(trial, err);
  }
  sct_trial_free(trial);
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
