/* Renders candidates, each once: in limited children (module script) that are forked
 * once the spec and the strategies are loaded. Candidates are dealt out round-robin; kernels are
 * sent many at a time, and `cands` keeps the messages, which their texts lie in. */
#include "tune/tune_internal.h"

#include <string.h>

enum {
  MAX_RENDERERS = 64,
  A_RENDERER = 32,   /* candidates that are worth one */
  TOGETHER = 1 << 16 /* bytes, or more, that are sent at once */
};

typedef struct renderer {
  sct_script_child *child;
  size_t inbox; /* its last message, an index into cands->sent */
  bool has_inbox, over;
} renderer;

/* ---- a child ---- */

typedef struct share {
  sct_tune_candidates *cands;
  sct_script *script;
  const tune_order *order;
  size_t first, step;
} share;

static bool is_over(const tune_order *order, size_t k) {
  return order->until_ns > 0 && k >= order->n_least && sct_now_ns() > order->until_ns;
}

/* Is the same kernel, or the same word of none, at both? */
static bool is_alike(const sct_generated *a, const sct_generated *b) {
  const char *x = a->failure ? a->failure : a->rejected;
  const char *y = b->failure ? b->failure : b->rejected;
  return (a->failure == NULL) == (b->failure == NULL) &&
         (x && y ? strcmp(x, y) == 0 : x == y && sct_hash_equal(a->code.hash, b->code.hash));
}

/* Candidate c at a size (from 1; 0: at all of them), of the arena. */
static sct_generated *make(const share *mine, size_t c, int size, sct_arena *arena) {
  const sct_tune_candidates *cands = mine->cands;
  sct_generated *g = SCT_ARENA_NEW(arena, sct_generated, 1);
  sct_candidate cand = cands->space.candidates[c];
  sct_error why;
  cand.size = size;
  g->rendered = true;
  const sct_status status = sct_codegen_make(&g->code, &g->rejected, arena, mine->script,
                                             &cands->spec, &cands->space, &cand, &why);
  g->failure = status != SCT_OK ? sct_arena_strdup(arena, why.text) : NULL;
  return g;
}

/* Renders the candidate for each of its sizes alone, so that what a size is offered does not depend
 * on which others are tuned; sizes of the same kernel are joined. */
static sct_generated *make_apart(const share *mine, size_t c, sct_arena *arena) {
  const sct_tune_candidates *cands = mine->cands;
  const bool *wanted = cands->space.strategies[cands->space.candidates[c].strategy].sizes;
  sct_generated *first = wanted ? NULL : make(mine, c, 0, arena), **last = &first;
  for (int z = 0; wanted && z < cands->spec.n_sizes; z++) {
    if (!wanted[z]) {
      continue;
    }
    sct_generated *g = make(mine, c, z + 1, arena), *same = first;
    while (same && !is_alike(same, g)) {
      same = same->next;
    }
    if (same) {
      sct_kernel_code_free(&g->code);
    } else {
      g->sizes = SCT_ARENA_NEW(arena, bool, cands->spec.n_sizes);
      same = *last = g;
      last = &g->next;
    }
    ((bool *)(uintptr_t)same->sizes)[z] = true;
  }
  return first;
}

/* What follows a kernel in a message: its sizes, one byte each, and whether there is another. */
static void put_sizes(sct_wire *out, const sct_generated *g, int n_sizes) {
  for (int z = 0; z < n_sizes; z++) {
    sct_wire_put_raw(out, &(uint8_t){!g->sizes || g->sizes[z]}, 1);
  }
  sct_wire_put_raw(out, &(uint8_t){g->next != NULL}, 1);
}

static void render(sct_wire *out, const share *mine, size_t c) {
  SCT_SCOPED(sct_arena) arena = {0};
  for (sct_generated *g = make_apart(mine, c, &arena); g; g = g->next) {
    sct_codegen_put(out, &mine->cands->spec, g);
    put_sizes(out, g, mine->cands->spec.n_sizes);
    sct_kernel_code_free(&g->code);
  }
}

static sct_status render_share(void *ctx, sct_script_child *self, sct_error *err) {
  const share *mine = ctx;
  SCT_SCOPED(sct_wire) out = {0};
  sct_status status = SCT_OK;
  for (size_t k = mine->first; status == SCT_OK && k < mine->order->n; k += mine->step) {
    if (is_over(mine->order, k)) {
      sct_codegen_put(&out, &mine->cands->spec, &(sct_generated){.rendered = false});
      break;
    }
    SCT_TRY(sct_script_child_step(self, err));
    render(&out, mine, mine->order->candidate[k]);
    if (out.len >= TOGETHER) {
      status = sct_script_child_send(self, &out, err);
      sct_wire_clear(&out);
    }
  }
  if (status == SCT_OK && out.len > 0) {
    status = sct_script_child_send(self, &out, err);
  }
  return status;
}

/* ---- the parent ---- */

/* Takes one kernel of a candidate; *more: it has another. */
static sct_status take_one(renderer *r, sct_generated *out, bool *more, sct_tune_candidates *cands,
                           sct_error *err) {
  sct_wire *in = &cands->sent[r->inbox];
  const int n_sizes = cands->spec.n_sizes;
  *more = false;
  bool good = sct_codegen_get(out, in, &cands->spec, &cands->arena);
  if (good && out->rendered) {
    bool *sizes = SCT_ARENA_NEW(&cands->arena, bool, n_sizes + 1);
    for (int z = 0; z < n_sizes; z++) {
      sizes[z] = *(const uint8_t *)sct_wire_get_raw(in, 1) != 0;
    }
    out->sizes = sizes;
    *more = *(const uint8_t *)sct_wire_get_raw(in, 1) != 0;
    good = !in->failed;
  }
  sct_arena_free(&in->arena); /* lists; texts are in the message */
  r->over = !out->rendered;
  return good ? SCT_OK
              : sct_fail(err, SCT_EINTERNAL, "a process that renders candidates sent nonsense");
}

static sct_status take_next(renderer *r, sct_generated *out, sct_tune_candidates *cands,
                            sct_error *err) {
  *out = (sct_generated){.rendered = false};
  if (r->over) {
    return SCT_OK;
  }
  if (!r->has_inbox || cands->sent[r->inbox].at == cands->sent[r->inbox].len) {
    bool ended = false;
    SCT_GROW(cands->sent, cands->n_sent, cands->cap_sent);
    r->inbox = cands->n_sent++;
    r->has_inbox = true;
    SCT_TRY(sct_script_child_receive(r->child, &cands->sent[r->inbox], &ended, err));
    if (ended) {
      return sct_fail(err, SCT_EINTERNAL, "a process that renders candidates ended too early");
    }
  }
  bool more = false;
  SCT_TRY(take_one(r, out, &more, cands, err));
  while (more) {
    out->next = SCT_ARENA_NEW(&cands->arena, sct_generated, 1);
    out = out->next;
    SCT_TRY(take_one(r, out, &more, cands, err));
  }
  return SCT_OK;
}

static void end_all(renderer *list, size_t n) {
  for (size_t k = 0; k < n; k++) {
    sct_script_child_free(list[k].child);
  }
}

/* `all`: what they share. */
static sct_status start_all(renderer *list, size_t n, const share *all, sct_error *err) {
  for (size_t k = 0; k < n; k++) {
    share mine = {all->cands, all->script, all->order, .first = k, .step = n};
    list[k] = (renderer){.has_inbox = false};
    const sct_status status =
        sct_script_child_start(&list[k].child, all->cands->spec.file, render_share, &mine, err);
    if (status != SCT_OK) {
      end_all(list, k);
      return status;
    }
  }
  return SCT_OK;
}

sct_status sct_tune_render(sct_generated *out, sct_tune_candidates *cands, sct_script *script,
                           const tune_order *order, const sct_tune_events *events, sct_error *err) {
  const share all = {.cands = cands, .script = script, .order = order};
  renderer list[MAX_RENDERERS];
  const size_t cores = (size_t)sct_cores(), most = cores < MAX_RENDERERS ? cores : MAX_RENDERERS;
  const size_t worth = (order->n + A_RENDERER - 1) / A_RENDERER;
  size_t n = worth < most ? worth : most;
  sct_status status = start_all(list, n, &all, err);
  if (status != SCT_OK && n > 1) { /* the system gives only few processes */
    n = 1;
    status = start_all(list, n, &all, err);
  }
  SCT_TRY(status);
  for (size_t k = 0, n_done = 0; status == SCT_OK && k < order->n; k++) {
    sct_generated *g = &out[order->candidate[k]];
    status = take_next(&list[k % n], g, cands, err);
    if (g->rendered && events && events->progress) {
      events->progress(events->ctx, "generate", (int64_t)++n_done, (int64_t)order->n, NULL);
    }
    if (status == SCT_OK && events && events->stop && events->stop(events->ctx)) {
      status = sct_fail(err, SCT_EINTERRUPTED,
                        "interrupted while candidates were generated; none was evaluated");
    }
  }
  for (size_t k = 0; status == SCT_OK && k < n; k++) {
    status = sct_script_child_finish(list[k].child, err);
  }
  end_all(list, n);
  return status;
}
