/* From generated candidates to those that may be measured: compiled in worker processes, counted,
 * taken over from the store where it has them, and before a GPU checked on the CPU. All of this
 * goes on while the device is busy with earlier candidates: whoever waits for a candidate, or is
 * between two, calls sct_tune_pump(). Without a search all candidates are wanted from the start. */
#include "tune/tune_internal.h"

#include <poll.h>
#include <string.h>

struct tune_queue {
  sct_compile_unit *units; /* in the order of compiling */
  sct_compiled *compiled;
  int *item; /* [n_units] which item a unit is of */
  int *unit; /* [n_items] */
  int n_units, n_wanted, n_compiled;
  tune_stage *stage; /* [n_items] */
};

bool sct_tune_is_wanted(const tune_queue *q, int item) {
  return q->stage[item] != TUNE_WAITING;
}

bool sct_tune_is_ready(const tune_queue *q, int item) {
  return q->stage[item] == TUNE_READY;
}

bool sct_tune_all_compiled(const tune_queue *q) {
  return q->n_compiled == q->n_wanted;
}

int sct_tune_n_units(const tune_queue *q) {
  return q->n_units;
}

void sct_tune_set_ready(tune_queue *q, int item) {
  q->stage[item] = TUNE_READY;
}

/* ---- results of the compiler ---- */

static void take_compiled(sct_tune_candidates *cands, int k, const sct_compiled *compiled) {
  static const sct_outcome_kind outcome_of[] = {
      [SCT_COMPILE_NONE] = SCT_OUT_OK,
      [SCT_COMPILE_ERROR] = SCT_OUT_COMPILE_ERROR,
      [SCT_COMPILE_TIMEOUT] = SCT_OUT_COMPILE_TIMEOUT,
      [SCT_COMPILE_CRASH] = SCT_OUT_COMPILE_CRASH,
      [SCT_COMPILE_MEMORY] = SCT_OUT_COMPILE_MEMORY,
  };
  sct_tune_item *item = &cands->items[k];
  item->compiled = *compiled;
  if (!compiled->ok) {
    SCT_SCOPED(sct_str) log = {0};
    sct_codegen_map_log(&log, &item->code, compiled->log ? compiled->log : "");
    item->outcome = outcome_of[compiled->failure];
    item->detail = sct_arena_strdup(&cands->arena, sct_str_c(&log));
    return;
  }
  if (!sct_tune_params_fit(cands, k)) {
    return;
  }
  const sct_device_desc *device = &cands->device;
  const int64_t shared = compiled->static_shared_bytes + item->code.shared_bytes;
  const int64_t limit =
      item->code.shared_bytes > 0 ? device->smem_block_optin_bytes : device->smem_block_bytes;
  const sct_occupancy occupancy =
      sct_model_occupancy(device, item->code.threads, compiled->registers, shared);
  if (shared > limit || item->code.threads > device->threads_block || occupancy.blocks_sm < 1) {
    item->outcome = SCT_OUT_TOO_LARGE;
    item->detail = sct_arena_printf(&cands->arena, "%d threads, %d registers, %lld shared bytes",
                                    item->code.threads, compiled->registers, (long long)shared);
  } else if (compiled->spill_load_bytes + compiled->spill_store_bytes > 0 &&
             !sct_tune_is_direct(cands, (int)(item - cands->items)) && item->code.n_params == 0) {
    /* Kernels of the user's own may spill. A stack frame alone is no spill: functions have one of
     * their own, such as sinf's 32 bytes for the reduction of large arguments. */
    item->outcome = SCT_OUT_SPILLS;
    item->detail = sct_arena_printf(&cands->arena, "%d bytes stored, %d loaded",
                                    compiled->spill_store_bytes, compiled->spill_load_bytes);
  }
}

/* ---- one item on its way ---- */

/* Has item checked on the CPU before it is ready, if the device and the options want that and it
 * was not evaluated before. */
static void ask_check(tune_session *s, int item) {
  if (!s->device.checked || s->cands.items[item].outcome != SCT_OUT_OK ||
      s->cands.items[item].checked || sct_tune_evaluated_already(&s->table, item)) {
    return;
  }
  s->cands.items[item].checked = true;
  s->queue->stage[item] = TUNE_CHECKING;
  sct_tune_check_add(s, item);
}

/* compiled NULL: it is recorded what compiling gives. */
static sct_status item_compiled(tune_session *s, int k, const sct_compiled *compiled,
                                sct_error *err) {
  tune_queue *q = s->queue;
  sct_tune_item *item = &s->cands.items[k];
  if (compiled) {
    take_compiled(&s->cands, k, compiled);
  } else {
    sct_tune_replay_compiled(s->device.replay, &s->cands, k);
  }
  const bool failed = item->outcome != SCT_OUT_OK;
  sct_tune_find_sizes(&s->counting, k);
  if (!s->searching) { /* a search has looked before */
    SCT_TRY(sct_tune_resume_item(&s->record, k, err));
  }
  SCT_TRY(sct_tune_predict(&s->counting, k, err));
  if (failed) {
    SCT_TRY(sct_tune_record_verdict(s, k, err));
  }
  q->stage[k] = TUNE_READY;
  ask_check(s, k);
  if (q->stage[k] != TUNE_READY || s->searching) {
    return SCT_OK; /* who checks it looks at the rest too, or whoever measures it */
  }
  sct_tune_compare_code(&s->counting, k);
  return sct_tune_count(&s->counting, k, err);
}

static sct_status take_all_compiled(tune_session *s, sct_error *err) {
  tune_queue *q = s->queue;
  for (int unit = sct_compiler_next(s->device.compiler); unit >= 0;
       unit = sct_compiler_next(s->device.compiler)) {
    const sct_compiled compiled = q->compiled[unit];
    q->compiled[unit] = (sct_compiled){0}; /* the item's from here on */
    if (!sct_tune_is_wanted(
            s->queue, q->item[unit])) { /* its source is that of another, launched otherwise */
      q->stage[q->item[unit]] = TUNE_COMPILING;
      q->n_wanted++;
    }
    q->n_compiled++;
    sct_tune_progress(&s->flow, "compile", q->n_compiled, q->n_units,
                      s->cands.items[q->item[unit]].label);
    SCT_TRY(item_compiled(s, q->item[unit], &compiled, err));
  }
  return SCT_OK;
}

sct_status sct_tune_pump(tune_session *s, int64_t wait_ns, sct_error *err) {
  struct pollfd ready[SCT_COMPILE_MAX_WORKERS + TUNE_CHECK_PROCESSES];
  const bool compiles = !sct_tune_all_compiled(s->queue);
  int n_compile = 0;
  if (compiles) {
    SCT_TRY(sct_compiler_step_begin(s->device.compiler, ready, &n_compile, err));
  }
  const int n_check = sct_tune_check_begin(s, ready + n_compile);
  if (n_compile + n_check > 0) { /* not waiting where none is at work yet */
    (void)poll(ready, (nfds_t)(n_compile + n_check), (int)((wait_ns + 999999) / 1000000));
  }
  if (compiles) {
    SCT_TRY(sct_compiler_step_end(s->device.compiler, ready, err));
    SCT_TRY(take_all_compiled(s, err));
    if (sct_tune_all_compiled(s->queue) && !s->searching) {
      sct_compiler_end(s->device.compiler); /* its workers leave their memory */
    }
  }
  return sct_tune_check_take(s, ready + n_compile, n_check, err);
}

/* ---- beginning and end ---- */

static void add_unit(tune_queue *q, const sct_tune_candidates *cands, int k) {
  const sct_kernel_code *code = &cands->items[k].code;
  q->units[q->n_units] = (sct_compile_unit){code->source, code->kernel, code->n_params > 0};
  q->unit[k] = q->n_units;
  q->item[q->n_units++] = k;
}

/* The naive variants come first, as all others of their layouts are compared with them; then the
 * layouts in the order of measuring. */
static void list_units(tune_queue *q, const tune_table *t) {
  const sct_tune_candidates *cands = t->cands;
  for (int k = 0; k < cands->n_items; k++) {
    if (cands->items[k].outcome != SCT_OUT_OK) {
      q->stage[k] = TUNE_READY; /* there is nothing to compile */
    } else if (t->group[k] == k) {
      add_unit(q, cands, k);
    }
  }
  for (int first = 0; first < cands->n_items; first++) {
    for (int k = first + 1; t->group[first] == first && k < cands->n_items; k++) {
      if (t->group[k] == first && cands->items[k].outcome == SCT_OUT_OK) {
        add_unit(q, cands, k);
      }
    }
  }
}

/* In place of compiling. */
static sct_status read_all(tune_session *s, sct_error *err) {
  tune_queue *q = s->queue;
  for (q->n_wanted = q->n_units; q->n_compiled < q->n_units; q->n_compiled++) {
    SCT_TRY(item_compiled(s, q->item[q->n_compiled], NULL, err));
  }
  return SCT_OK;
}

sct_status sct_tune_queue_begin(tune_session *s, sct_error *err) {
  const size_t n = (size_t)s->cands.n_items + 1;
  tune_queue *q = s->queue = sct_alloc(sizeof *q);
  q->units = sct_alloc(sizeof *q->units * n);
  q->compiled = sct_alloc(sizeof *q->compiled * n);
  q->item = sct_alloc(sizeof *q->item * n);
  q->unit = sct_alloc(sizeof *q->unit * n);
  q->stage = sct_alloc(sizeof *q->stage * n);
  list_units(q, &s->table);
  if (s->device.replay) {
    return read_all(s, err);
  }
  SCT_TRY(sct_compiler_open(s->device.compiler, q->units, q->n_units, q->compiled, err));
  for (int u = 0; u < q->n_units && !s->searching; u++) {
    SCT_TRY(sct_tune_want(s, q->item[u], err));
  }
  sct_tune_progress(&s->flow, "compile", 0, q->n_units, NULL);
  return take_all_compiled(s, err); /* what the cache has, whenever the session ends */
}

sct_status sct_tune_want(tune_session *s, int item, sct_error *err) {
  tune_queue *q = s->queue;
  if (q->stage[item] == TUNE_READY) { /* it may be wanted for another size than before */
    if (s->searching) {
      ask_check(s, item);
    }
    return SCT_OK;
  }
  if (q->stage[item] != TUNE_WAITING) {
    return SCT_OK;
  }
  q->stage[item] = TUNE_COMPILING;
  q->n_wanted++;
  return sct_compiler_want(s->device.compiler, q->unit[item], err);
}

void sct_tune_queue_end(tune_session *s) {
  tune_queue *q = s->queue;
  if (!q) {
    return;
  }
  sct_tune_check_end(s->check);
  s->check = NULL;
  if (s->device.compiler) {
    sct_compiler_end(s->device.compiler);
  }
  for (int u = 0; q->compiled && u < q->n_units; u++) {
    sct_compiled_free(&q->compiled[u]); /* results that were not taken */
  }
  sct_free(q->units);
  sct_free(q->compiled);
  sct_free(q->item);
  sct_free(q->unit);
  sct_free(q->stage);
  sct_free(q);
  s->queue = NULL;
}
