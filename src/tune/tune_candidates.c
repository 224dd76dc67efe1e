/* The candidates of a session: all that are left after pruning, with their generated kernels. */
#include "tune/tune_internal.h"

#include <string.h>

#define ALWAYS_RENDERED 63 /* candidates that are rendered whatever the budget */

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

/* ---- items -------------------------------------------------------------------------------------
 */

static char *label_of(const sct_space *space, const sct_candidate *cand, sct_arena *arena) {
  SCT_SCOPED(sct_str) text = {0};
  sct_space_label(&text, space, cand);
  return sct_arena_strdup(arena, sct_str_c(&text));
}

static sct_tune_item *with_source(sct_tune_candidates *cands, sct_hash hash) {
  sct_tune_item *item = cands->items;
  while (!sct_hash_equal(item->code.hash, hash)) {
    item++;
  }
  return item;
}

/* These sizes (NULL: all), and those that an item had (NULL: none). */
static const bool *join_sizes(sct_tune_candidates *cands, const bool *had, const bool *sizes) {
  bool *joined = SCT_ARENA_NEW(&cands->arena, bool, cands->spec.n_sizes + 1);
  for (int z = 0; z < cands->spec.n_sizes; z++) {
    joined[z] = (had && had[z]) || !sizes || sizes[z];
  }
  return joined;
}

/* Takes a kernel of candidate c; NULL, or why it is not kept. */
static const char *keep_item(sct_tune_candidates *cands, size_t c, const sct_generated *g,
                             hash_set *seen, const char *lacks) {
  const sct_candidate *cand = &cands->space.candidates[c];
  const bool is_naive = sct_tune_is_naive(cands, c);
  if (g->rejected || lacks) {
    return g->rejected ? g->rejected : lacks;
  }
  if (!g->failure && set_add(seen, g->code.hash)) {
    sct_tune_item *same = with_source(cands, g->code.hash);
    same->sizes = same->sizes ? join_sizes(cands, same->sizes, g->sizes) : NULL;
    same->naive = is_naive ? join_sizes(cands, same->naive, g->sizes) : same->naive;
    return "same source as an earlier candidate";
  }
  SCT_GROW(cands->items, cands->n_items, cands->cap_items);
  sct_tune_item *item = &cands->items[cands->n_items++];
  *item = (sct_tune_item){.candidate = (int64_t)c,
                          .outcome = SCT_OUT_OK,
                          .sizes = g->sizes,
                          .naive = is_naive ? join_sizes(cands, NULL, g->sizes) : NULL,
                          .code = g->code,
                          .label = label_of(&cands->space, cand, &cands->arena)};
  if (g->failure) { /* a failing candidate is an outcome */
    item->outcome = SCT_OUT_RENDER_ERROR;
    item->detail = sct_arena_strdup(&cands->arena, g->failure);
  }
  return NULL;
}

/* ---- only some ----------------------------------------------------------------------------------
 */

void sct_tune_layouts(int *out, const sct_tune_candidates *cands, int64_t c) {
  const sct_candidate *cand = &cands->space.candidates[c];
  for (int op = 0; op < cands->spec.n_operands; op++) {
    const int choice = sct_spec_choice_of(&cands->spec, op);
    out[op] = choice >= 0 ? cand->value[choice] : 0; /* their axes come first */
  }
}

bool sct_tune_is_naive(const sct_tune_candidates *cands, size_t c) {
  return sct_codegen_is_naive(&cands->spec, &cands->space, (int64_t)c);
}

/* wanted[c]: candidate c is asked for. */
static sct_status mark_wanted(const sct_tune_candidates *cands, const sct_tune_labels *only,
                              bool *wanted, sct_error *err) {
  for (size_t c = 0; c < cands->space.n_candidates; c++) {
    wanted[c] = sct_tune_is_naive(cands, c);
  }
  for (int k = 0; k < only->n; k++) {
    int64_t c = sct_space_find(&cands->space, only->label[k], 0, err);
    if (c < 0) {
      return SCT_EUSAGE;
    }
    for (; c >= 0; c = sct_space_find(&cands->space, only->label[k], c + 1, NULL)) {
      wanted[c] = true;
    }
  }
  return SCT_OK;
}

/* Which candidates are rendered, in which order: all, those asked for, or what there is time for.
 */
static sct_status choose(tune_order *out, const sct_tune_candidates *cands,
                         const sct_tune_labels *only, const sct_tune_candidates_opts *opts,
                         sct_error *err) {
  const size_t n = cands->space.n_candidates;
  const bool some = only->n > 0 || opts->only_naive;
  if (opts->until_ns > 0 && n > ALWAYS_RENDERED && !some && opts->share.n == 0) {
    sct_tune_order_init(out, cands, opts->until_ns);
    return SCT_OK;
  }
  SCT_OWNED bool *wanted = sct_alloc((n + 1) * sizeof *wanted);
  const sct_status status = some ? mark_wanted(cands, only, wanted, err) : SCT_OK;
  *out = (tune_order){.candidate = sct_alloc((n + 1) * sizeof *out->candidate)};
  for (size_t c = 0; c < n && status == SCT_OK; c++) {
    if (!some || wanted[c]) {
      out->candidate[out->n++] = c;
    }
  }
  return status;
}

/* Why NVRTC is too old for a candidate. A naive variant stays: without it there is no session, and
 * NVRTC's own words say why. */
static const char *lack_of(const sct_tune_candidates *cands, size_t c, const sct_generated *g,
                           const char *nvrtc) {
  const int arch = 10 * cands->device.cc_major + cands->device.cc_minor;
  const bool source = !g->rejected && !g->failure && g->code.source;
  const char *const lacks = source ? sct_compile_unsupported(nvrtc, arch, g->code.source) : NULL;
  return lacks && !sct_tune_is_naive(cands, c) ? lacks : NULL;
}

/* What became of candidate c at its sizes. */
static void keep_items_of(sct_tune_candidates *cands, size_t c, const sct_generated *all,
                          hash_set *seen, const char *nvrtc) {
  const char *reason = NULL;
  bool kept = false;
  for (const sct_generated *g = all; g; g = g->next) {
    const char *why = keep_item(cands, c, g, seen, lack_of(cands, c, g, nvrtc));
    kept = kept || !why;
    reason = reason ? reason : why;
  }
  if (!kept) {
    sct_space_prune(&cands->space, cands->space.candidates[c].strategy, reason);
  }
}

static void keep_items(sct_tune_candidates *cands, const sct_generated *all, bool some,
                       const char *nvrtc) {
  const size_t n = cands->space.n_candidates;
  hash_set seen = {0};
  size_t n_kernels = 0;
  for (size_t c = 0; c < n; c++) {
    for (const sct_generated *g = &all[c]; g; g = g->next) {
      n_kernels++;
    }
  }
  set_make(&seen, n_kernels);
  for (size_t c = 0; c < n; c++) {
    if (all[c].rendered) {
      keep_items_of(cands, c, &all[c], &seen, nvrtc);
    } else if (some) {
      sct_space_prune(&cands->space, cands->space.candidates[c].strategy, "not asked for");
    } else {
      cands->n_ungenerated++;
    }
  }
  set_free(&seen);
  for (size_t p = 0; p < cands->space.n_prunes; p++) {
    const sct_prune *prune = &cands->space.prunes[p];
    if (sct_has_prefix(prune->reason, "NVRTC ")) {
      sct_log(SCT_LOG_WARN, "%s: %lld candidates are left out: %s, this one is %s", prune->strategy,
              (long long)prune->count, prune->reason, nvrtc);
    }
  }
}

/* ---- a share of the candidates ------------------------------------------------------------------
 */

/* Those with the least hashes are in every share, so that shares of several cards can be compared
 * by more than the naive variant. */
#define COMMON 4

static bool is_less(sct_hash a, sct_hash b) {
  return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

/* The COMMON-th least hash of what was rendered. */
static sct_hash common_until(const sct_tune_candidates *cands) {
  sct_hash least[COMMON + 1];
  int n = 0;
  for (int i = 0; i < cands->n_items; i++) {
    int at = n;
    while (at > 0 && is_less(cands->items[i].code.hash, least[at - 1])) {
      least[at] = least[at - 1];
      at--;
    }
    least[at] = cands->items[i].code.hash;
    n = n < COMMON ? n + 1 : n;
  }
  return n > 0 ? least[n - 1] : (sct_hash){0};
}

/* Shares go by the hash of the source, so every machine splits the candidates alike. */
static void keep_share(sct_tune_candidates *cands, sct_tune_share share) {
  const sct_hash until = common_until(cands);
  const int n = cands->n_items;
  cands->n_items = 0;
  for (int i = 0; i < n; i++) {
    sct_tune_item *item = &cands->items[i];
    const sct_hash hash = item->code.hash;
    if (item->naive || !is_less(until, hash) ||
        hash.lo % (uint64_t)share.n == (uint64_t)share.k - 1) {
      cands->items[cands->n_items++] = *item;
    } else {
      sct_space_prune(&cands->space, cands->space.candidates[item->candidate].strategy,
                      "in another share");
      sct_kernel_code_free(&item->code);
    }
  }
}

/* ---- making them ---- */

#define AROUND_PART 16 /* of the memory, for arrays of a size around listed ones */

typedef struct make_job {
  sct_tune_candidates *cands;
  sct_script *script;
  const char *spec_path, *strategy_dir;
} make_job;

/* Both the dry run and what follows it. */
static sct_status load(void *ctx, sct_script_child *self, sct_error *err) {
  make_job *job = ctx;
  sct_tune_candidates *out = job->cands;
  SCT_TRY(sct_script_load_spec(&out->spec, job->spec_path, err));
  SCT_TRY(sct_script_child_step(self, err));
  SCT_TRY(sct_script_new(&job->script, &out->spec, &out->device, job->strategy_dir, err));
  SCT_TRY(sct_script_space(&out->space, job->script, err));
  SCT_TRY(sct_script_child_step(self, err));
  return sct_space_enumerate(&out->space, err);
}

static sct_status render(const make_job *job, const sct_tune_candidates_opts *opts,
                         sct_error *err) {
  sct_tune_candidates *cands = job->cands;
  tune_order order = {0};
  sct_tune_labels only = opts->only ? *opts->only : (sct_tune_labels){0};
  if (opts->heat.store_path) {
    SCT_TRY(sct_tune_heat_labels(&only, cands, opts, err));
  }
  SCT_OWNED sct_generated *all = sct_alloc((cands->space.n_candidates + 1) * sizeof *all);
  sct_status status = choose(&order, cands, &only, opts, err);
  SCT_THEN(sct_tune_render(all, cands, job->script, &order, opts->events, err));
  if (status == SCT_OK) {
    keep_items(cands, all, only.n > 0 || opts->only_naive, opts->nvrtc);
    for (int k = 0; opts->only && opts->only->n > 0 && k < cands->n_items; k++) {
      cands->items[k].sizes = NULL; /* wherever it runs, offered there or not */
    }
    if (opts->share.n > 0) {
      keep_share(cands, opts->share);
    }
  }
  sct_tune_order_free(&order);
  return status;
}

sct_status sct_tune_candidates_make(sct_tune_candidates *out, const char *spec_path,
                                    const sct_device_desc *device,
                                    const sct_tune_candidates_opts *opts, sct_error *err) {
  make_job job = {out, NULL, spec_path, opts->strategy_dir};
  *out = (sct_tune_candidates){.device = *device};
  sct_script_set_around(opts->around ? device->memory_bytes / AROUND_PART : 0);
  sct_status status = sct_script_dry_run(spec_path, load, &job, err);
  status = status == SCT_OK ? load(&job, NULL, err) : status;
  sct_script_set_around(0);
  status = status == SCT_OK ? render(&job, opts, err) : status;
  sct_script_free(job.script);
  if (status != SCT_OK) {
    sct_tune_candidates_free(out);
  }
  return status;
}

void sct_tune_candidates_free(sct_tune_candidates *cands) {
  for (int k = 0; k < cands->n_items; k++) {
    sct_compiled_free(&cands->items[k].compiled);
    sct_kernel_code_free(&cands->items[k].code);
  }
  for (size_t k = 0; k < cands->n_sent; k++) {
    sct_wire_free(&cands->sent[k]);
  }
  sct_free(cands->sent);
  sct_free(cands->items);
  sct_space_free(&cands->space);
  sct_spec_free(&cands->spec);
  sct_arena_free(&cands->arena);
  *cands = (sct_tune_candidates){0};
}
