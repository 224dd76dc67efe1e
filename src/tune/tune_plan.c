/* The plan of a session: every candidate that is left after pruning, with its generated kernel. */
#include "tune/tune_internal.h"

#include <string.h>

#define SPREAD_FROM 256 /* candidates; fewer are made before processes have begun */
#define SAMPLE_FROM 64  /* that where the time may not suffice; fewer are generated in any case */

/* ---- equal sources are kept once ----------------------------------------------------------------
 */

typedef struct hash_set {
  sct_hash *slots;
  bool *used;
  size_t cap;
} hash_set;

static void set_make(hash_set *set, size_t n) {
  set->cap = 64;
  while (set->cap < 2 * n) {
    set->cap *= 2;
  }
  set->slots = sct_alloc(set->cap * sizeof *set->slots);
  set->used = sct_alloc(set->cap * sizeof *set->used);
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
  char *label = sct_arena_strdup(arena, sct_str_c(&text));
  sct_str_free(&text);
  return label;
}

void sct_tune_generate(tune_made *out, sct_tune_plan *plan, size_t c) {
  sct_error failure;
  *out = (tune_made){.rendered = true};
  const sct_status status =
      sct_codegen_make(&out->code, &out->rejected, &plan->arena, plan->script, &plan->spec,
                       &plan->space, &plan->space.candidates[c], &failure);
  out->failure = status != SCT_OK ? sct_arena_strdup(&plan->arena, failure.text) : NULL;
}

sct_hash sct_tune_made_hash(const tune_made *made) {
  return made->failure    ? sct_hash_text(made->failure)
         : made->rejected ? sct_hash_text(made->rejected)
                          : made->code.hash;
}

/* Takes what was made of a candidate. *kept tells whether it has a source of its own. */
static void keep_item(sct_tune_plan *plan, size_t c, tune_made *made, hash_set *seen, bool *kept) {
  sct_tune_item *item = &plan->items[plan->n_items];
  const sct_candidate *cand = &plan->space.candidates[c];
  *item = (sct_tune_item){.candidate = (int64_t)c, .outcome = SCT_OUT_OK, .code = made->code};
  made->code = (sct_kernel_code){0};
  *kept = false;
  if (!made->rendered) {
    plan->n_ungenerated++;
    return;
  }
  if (made->rejected) {
    sct_space_prune(&plan->space, cand->strategy, made->rejected);
    return;
  }
  if (!made->failure && set_add(seen, item->code.hash)) {
    sct_kernel_code_free(&item->code);
    sct_space_prune(&plan->space, cand->strategy, "same source as an earlier candidate");
    return;
  }
  item->label = label_of(&plan->space, cand, &plan->arena);
  if (made->failure) { /* a failing candidate is an outcome */
    item->outcome = SCT_OUT_RENDER_ERROR;
    item->detail = sct_arena_strdup(&plan->arena, made->failure);
  }
  *kept = true;
  plan->n_items++;
}

/* ---- only some ----------------------------------------------------------------------------------
 */

void sct_tune_layouts(int *out, const sct_tune_plan *plan, int64_t c) {
  const sct_candidate *cand = &plan->space.candidates[c];
  for (int op = 0, axis = 0; op < plan->spec.n_operands; op++) {
    const bool chosen = plan->spec.operands[op].n_layouts > 1;
    out[op] = chosen ? cand->value[axis++] : 0; /* their axes come first, in operand order */
  }
}

bool sct_tune_is_naive(const sct_tune_plan *plan, size_t c) {
  int layout[SCT_MAX_OPERANDS];
  sct_tune_layouts(layout, plan, (int64_t)c);
  return sct_codegen_naive(&plan->spec, &plan->space, layout) == (int64_t)c;
}

/* wanted[c]: candidate c is asked for. */
static sct_status mark_wanted(const sct_tune_plan *plan, const sct_tune_labels *only, bool *wanted,
                              sct_error *err) {
  for (size_t c = 0; c < plan->space.n_candidates; c++) {
    wanted[c] = sct_tune_is_naive(plan, c);
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
  bool spread;                   /* over processes, if they are many */
  int64_t until_ns;              /* of these; 0: they have all the time */
} plan_job;

/* One candidate, behind the trial's gate. */
static sct_status make_next(const plan_job *job, size_t c, hash_set *seen, sct_trial *trial,
                            sct_error *err) {
  sct_tune_plan *plan = job->plan;
  tune_made made;
  bool kept = false;
  SCT_TRY(sct_trial_gate(trial, err));
  sct_tune_generate(&made, plan, c);
  sct_trial_note(trial, sct_tune_made_hash(&made));
  keep_item(plan, c, &made, seen, &kept);
  if (kept && !job->keep_code) {
    sct_kernel_code_free(&plan->items[plan->n_items - 1].code);
  }
  return SCT_OK;
}

static void show_progress(const plan_job *job, size_t n_done) {
  if (job->events && job->events->progress) {
    job->events->progress(job->events->ctx, "generate", (int64_t)n_done,
                          (int64_t)job->plan->space.n_candidates, NULL);
  }
}

/* The same for one that another process has made; sampled[c]: it has been taken already. */
static sct_status take_next(const plan_job *job, size_t c, hash_set *seen, tune_makers *makers,
                            tune_made *sampled, sct_error *err) {
  tune_made made = {.rendered = false};
  bool kept = false;
  if (!sampled) {
    SCT_TRY(sct_tune_makers_next(makers, &made, c, err));
  }
  keep_item(job->plan, c, sampled ? &sampled[c] : &made, seen, &kept);
  return SCT_OK;
}

/* made[n_candidates]: all that is rendered of a sample, which does not come in their order. */
static sct_status take_sample(const plan_job *job, const tune_sample *sample, tune_makers *makers,
                              tune_made *made, sct_error *err) {
  for (size_t k = 0, n_done = 0; k < job->plan->space.n_candidates; k++) {
    tune_made one;
    SCT_TRY(sct_tune_makers_next(makers, &one, k, err));
    if (one.rendered) {
      made[sample->order[k]] = one;
      show_progress(job, ++n_done);
    }
  }
  return SCT_OK;
}

/* makers NULL: all is made here; sampled NULL: it is taken from the makers as it comes. */
static sct_status make_items(const plan_job *job, tune_makers *makers, tune_made *sampled,
                             sct_trial *trial, sct_error *err) {
  sct_tune_plan *plan = job->plan;
  const size_t n = plan->space.n_candidates;
  const bool some = job->only && job->only->n > 0;
  hash_set seen = {0};
  sct_status status = SCT_OK;
  bool *wanted = some ? sct_alloc((n + 1) * sizeof *wanted) : NULL;
  plan->items = sct_alloc((n + 1) * sizeof *plan->items);
  set_make(&seen, n);
  if (some) {
    status = mark_wanted(plan, job->only, wanted, err);
  }
  for (size_t c = 0; status == SCT_OK && c < n; c++) {
    if (some && !wanted[c]) {
      sct_space_prune(&plan->space, plan->space.candidates[c].strategy, "not asked for");
    } else {
      status = makers ? take_next(job, c, &seen, makers, sampled, err)
                      : make_next(job, c, &seen, trial, err);
    }
    if (!sampled) {
      show_progress(job, c + 1);
    }
  }
  set_free(&seen);
  sct_free(wanted);
  return status;
}

/* Candidates are made by several processes, once the spec's and the strategies' own scripts have
 * been tried. */
static bool is_spread(const plan_job *job) {
  const size_t from = job->until_ns ? SAMPLE_FROM : SPREAD_FROM;
  return job->spread && job->plan->space.n_candidates >= from && (!job->only || job->only->n == 0);
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
  return is_spread(job) ? SCT_OK : make_items(job, NULL, NULL, trial, err);
}

static sct_status make_in_child(void *ctx, sct_trial *trial, sct_error *err) {
  plan_job job = *(const plan_job *)ctx;
  job.events = NULL;
  job.keep_code = false;
  return make_plan(&job, trial, err);
}

/* All of it, the items too unless they are spread. */
static sct_status try_plan(const plan_job *job, sct_error *err) {
  sct_trial *trial = NULL;
  SCT_TRY(sct_trial_start(&trial, job->spec_path, make_in_child, (void *)(uintptr_t)job, err));
  sct_status status = make_plan(job, trial, err);
  if (status == SCT_OK) {
    status = sct_trial_finish(trial, err);
  }
  sct_trial_free(trial);
  return status;
}

/* *lost: a process ended that should not, or there is none; nothing is wrong with the scripts. */
static sct_status spread_items(const plan_job *job, bool *lost, sct_error *err) {
  const size_t n = job->plan->space.n_candidates;
  tune_makers *makers = NULL;
  tune_made *sampled = NULL;
  tune_sample sample = {.until_ns = job->until_ns};
  sct_status status = SCT_OK;
  *lost = false;
  if (job->until_ns) {
    sampled = sct_alloc((n + 1) * sizeof *sampled);
    sct_tune_sample_init(&sample, job->plan, job->until_ns);
  }
  if (status == SCT_OK) {
    *lost = !sct_tune_makers_start(&makers, job->plan, &sample, job->spec_path);
  }
  if (makers) {
    status = sampled ? take_sample(job, &sample, makers, sampled, err) : SCT_OK;
    status = status == SCT_OK ? make_items(job, makers, sampled, NULL, err) : status;
    status = status == SCT_OK ? sct_tune_makers_finish(makers, err) : status;
    *lost = sct_tune_makers_lost(makers);
    sct_tune_makers_free(makers);
  }
  for (size_t c = 0; sampled && c < n; c++) {
    sct_kernel_code_free(&sampled[c].code); /* what no item has taken */
  }
  sct_free(sampled);
  sct_tune_sample_free(&sample);
  return status;
}

static sct_status plan_with(const plan_job *job, const sct_device_desc *device, bool *lost,
                            sct_error *err) {
  *job->plan = (sct_tune_plan){.device = *device};
  *lost = false;
  sct_status status = try_plan(job, err);
  if (status == SCT_OK && is_spread(job)) {
    status = spread_items(job, lost, err);
  }
  if (status != SCT_OK || *lost) {
    sct_tune_plan_free(job->plan);
  }
  return status;
}

sct_status sct_tune_plan_make(sct_tune_plan *out, const char *spec_path,
                              const sct_device_desc *device, const char *strategy_dir,
                              const sct_tune_labels *only, const sct_tune_events *events,
                              sct_error *err) {
  bool lost = false;
  const plan_job job = {out, spec_path, strategy_dir, only, events, true, false, 0};
  return plan_with(&job, device, &lost, err);
}

sct_status sct_tune_plan_spread(sct_tune_plan *out, const char *spec_path,
                                const sct_device_desc *device, const char *strategy_dir,
                                const sct_tune_labels *only, int64_t until_ns,
                                const sct_tune_events *events, sct_error *err) {
  bool lost = false;
  const plan_job job = {out, spec_path, strategy_dir, only, events, true, true, until_ns};
  const sct_status status = plan_with(&job, device, &lost, err);
  if (!lost) {
    return status;
  }
  sct_log(SCT_LOG_WARN, "%s: a process that renders candidates was lost; all are rendered again",
          spec_path);
  return sct_tune_plan_make(out, spec_path, device, strategy_dir, only, events, err);
}

sct_status sct_tune_plan_complete(sct_tune_plan *plan, int item, sct_error *err) {
  sct_tune_item *it = &plan->items[item];
  return sct_codegen_complete(&it->code, &plan->arena, plan->script, &plan->spec, &plan->space,
                              &plan->space.candidates[it->candidate], err);
}

void sct_tune_plan_free(sct_tune_plan *plan) {
  for (int k = 0; k < plan->n_items; k++) {
    sct_compiled_free(&plan->items[k].compiled);
    sct_kernel_code_free(&plan->items[k].code);
  }
  for (size_t k = 0; k < plan->n_sent; k++) {
    sct_wire_free(&plan->sent[k]);
  }
  sct_free(plan->sent);
  sct_free(plan->items);
  sct_space_free(&plan->space);
  sct_script_free(plan->script);
  sct_spec_free(&plan->spec);
  sct_arena_free(&plan->arena);
  *plan = (sct_tune_plan){0};
}
