/* Launching: arguments and limits checked, blocks spread over host threads, counters summed, the
 * diagnosis of the lowest failing block reported, outputs checked at the end. */
#include "ptx/exec/ptx_exec.h"

#include <pthread.h>
#include <string.h>

#define DEFAULT_STEPS  INT64_C(50000000)
#define DEFAULT_SHARED 232448 /* bytes a block may have on an H200 */
#define MAX_THREADS    64
#define MAX_CLUSTER    16
/* of an H200: multiprocessors, and what each has */
#define N_SMS        132
#define SM_BLOCKS    32
#define SM_WARPS     64
#define SM_SHARED    233472
#define SM_REGISTERS 65536
#define SM_PARTS     4 /* that warps are spread over */

/* ---- what the caller gave */

static sct_status find_kernel(ptx_launch *l, const sct_ptx_launch_opts *o, sct_error *err) {
  const sct_ptx_module *m = o->module;
  l->kernel = sct_ptx_func_find(m, o->kernel);
  if (l->kernel != NULL) {
    l->code = l->kernel->code;
    return l->code != NULL ? SCT_OK : sct_fail(err, SCT_EDATA, "%s", l->kernel->error);
  }
  int k;
  return sct_names_choose(&k, SCT_NAMES_IN(m->kernels, m->n_kernels, name), o->kernel, err,
                          "no kernel '%s' in %s", o->kernel, m->name);
}

static sct_status check_shape(ptx_launch *l, const sct_ptx_launch_opts *o, sct_error *err) {
  static const int64_t max_grid[3] = {2147483647, 65535, 65535}, max_block[3] = {1024, 1024, 64};
  int64_t threads = 1;
  l->n_blocks = 1;
  for (int k = 0; k < 3; k++) {
    l->grid[k] = o->grid[k] != 0 ? o->grid[k] : 1;
    l->block[k] = o->block[k] != 0 ? o->block[k] : 1;
    const bool block_fits = l->block[k] >= 1 && l->block[k] <= max_block[k];
    if (!block_fits || l->grid[k] < 1 || l->grid[k] > max_grid[k]) {
      return sct_fail(err, SCT_EUSAGE, "kernel '%s': %s of %lld along %c, expected 1 to %lld",
                      o->kernel, block_fits ? "grid" : "block",
                      (long long)(block_fits ? l->grid[k] : l->block[k]), "xyz"[k],
                      (long long)(block_fits ? max_grid[k] : max_block[k]));
    }
    l->n_blocks *= l->grid[k];
    threads *= l->block[k];
  }
  const int64_t own = l->kernel->cluster, cluster = own > 0 ? own : o->cluster;
  l->n_cluster = cluster > 1 ? (int)cluster : 1;
  if (cluster < 0 || cluster > MAX_CLUSTER || (own > 1 && !l->kernel->cluster_is_row)) {
    return sct_fail(err, SCT_EDATA, "kernel '%s': clusters are rows of at most %d blocks here",
                    o->kernel, MAX_CLUSTER);
  }
  if (l->grid[0] % l->n_cluster != 0) {
    return sct_fail(err, SCT_EUSAGE,
                    "kernel '%s': the grid of %lld blocks has no whole clusters"
                    " of %d",
                    o->kernel, (long long)l->grid[0], l->n_cluster);
  }
  l->cooperative = o->cooperative || l->code->syncs_grid;
  l->n_together = l->n_cluster;
  l->passes = o->passes > 1 ? o->passes : 1;
  if (l->cooperative && o->blocks != NULL) {
    return sct_fail(err, SCT_EUSAGE, "kernel '%s': of a cooperative grid no single blocks run",
                    o->kernel);
  }
  for (int64_t k = 0; o->blocks != NULL && k < o->n_blocks; k++) {
    if (o->blocks[k] < 0 || o->blocks[k] >= l->n_blocks * l->passes) {
      return sct_fail(err, SCT_EUSAGE, "kernel '%s': the grid has no block %lld", o->kernel,
                      (long long)o->blocks[k]);
    }
  }
  const int64_t most = l->kernel->max_threads > 0 ? l->kernel->max_threads : 1024;
  if (threads > 1024 || threads > most) {
    return sct_fail(err, SCT_EUSAGE, "kernel '%s': %lld threads a block, it takes at most %lld",
                    o->kernel, (long long)threads, (long long)(most < 1024 ? most : 1024));
  }
  l->n_threads = (int)threads;
  l->n_warps = (int)(threads + PTX_LANES - 1) / PTX_LANES;
  return SCT_OK;
}

static sct_status check_shared(ptx_launch *l, const sct_ptx_launch_opts *o, sct_error *err) {
  const int64_t limit = o->max_shared_bytes > 0 ? o->max_shared_bytes : DEFAULT_SHARED;
  const ptx_code *c = l->code;
  if (o->shared_bytes < 0 || c->shared_packed + o->shared_bytes > limit) {
    return sct_fail(err, SCT_EUSAGE, "kernel '%s': %lld + %lld bytes of shared memory, limit %lld",
                    o->kernel, (long long)c->shared_packed, (long long)o->shared_bytes,
                    (long long)limit);
  }
  l->shared_end = PTX_SHARED_BASE;
  for (size_t i = 0; i < c->n_shared; i++) {
    const ptx_shared_sym *s = &c->shared[i];
    const int64_t end = s->address + (s->sym->is_extern ? o->shared_bytes : s->padded);
    l->shared_end = end > l->shared_end ? end : l->shared_end;
  }
  return SCT_OK;
}

/* Blocks that an H200 has room for at once. */
static int64_t resident_blocks(const ptx_launch *l, const sct_ptx_launch_opts *o) {
  const int64_t shared = l->code->shared_packed + o->shared_bytes + PTX_SHARED_BASE;
  const int64_t of[] = {SM_BLOCKS, SM_WARPS / l->n_warps, SM_SHARED / shared,
                        o->registers > 0 ? SM_REGISTERS / ((o->registers + 7) / 8 * 8 * PTX_LANES) /
                                               SM_PARTS * SM_PARTS / l->n_warps
                                         : SM_BLOCKS};
  int64_t least = of[0];
  for (int i = 1; i < SCT_COUNT(of); i++) {
    least = of[i] < least ? of[i] : least;
  }
  return least * N_SMS;
}

/* All blocks of a cooperative grid run at once, or none. */
static sct_status check_cooperative(ptx_launch *l, const sct_ptx_launch_opts *o, sct_error *err) {
  if (!l->cooperative) {
    return SCT_OK;
  }
  const int64_t most = resident_blocks(l, o);
  if (l->n_blocks > most) {
    return sct_fail(err, SCT_EUSAGE,
                    "kernel '%s': a cooperative grid of %lld blocks is too large, %lld are "
                    "resident at once (%d multiprocessors with %lld each)",
                    o->kernel, (long long)l->n_blocks, (long long)most, N_SMS,
                    (long long)(most / N_SMS));
  }
  l->n_together = (int)l->n_blocks;
  return SCT_OK;
}

static sct_status pack_args(ptx_launch *l, const sct_ptx_launch_opts *o, sct_error *err) {
  const ptx_func *k = l->kernel;
  if (o->n_args != k->n_params) {
    return sct_fail(err, SCT_EUSAGE, "kernel '%s' takes %d arguments, not %d", o->kernel,
                    k->n_params, o->n_args);
  }
  l->params = sct_alloc((size_t)(k->param_bytes > 0 ? k->param_bytes : 1));
  for (int i = 0; i < k->n_params; i++) {
    memcpy(l->params + k->params[i]->offset, o->args[i], (size_t)k->params[i]->bytes);
  }
  return SCT_OK;
}

/* ---- passes of a sequence */

/* Sets what runs next: the blocks of a pass, or of those that are asked for as many as follow each
 * other in one. false: all have run. */
static bool next_pass(ptx_launch *l) {
  const sct_ptx_launch_opts *o = l->opts;
  if (o->blocks == NULL) {
    l->pass++;
    l->n_run = l->cooperative ? 1 : l->n_blocks / l->n_cluster;
  } else {
    const int64_t first = l->first += l->n_run;
    l->pass = first < o->n_blocks ? (int)(o->blocks[first] / l->n_blocks) : l->passes;
    l->n_run = 0;
    while (first + l->n_run < o->n_blocks && o->blocks[first + l->n_run] / l->n_blocks == l->pass) {
      l->n_run++;
    }
  }
  if (o->passes > 0 && l->pass < l->passes) {
    const ptx_sym *last = l->kernel->params[l->kernel->n_params - 1];
    memcpy(l->params + last->offset, &l->pass, sizeof l->pass);
  }
  return l->pass < l->passes;
}

/* ---- race records of writable buffers live as long as a pass */

static void add_access_records(const ptx_launch *l) {
  for (int k = PTX_WINDOW_VARS; k < PTX_N_WINDOWS; k++) {
    ptx_buf *b = l->memory->table[k];
    if (b == NULL) {
      continue;
    }
    if (l->races && !b->read_only && b->bytes > 0) {
      const int shift = sct_ptx_granule_shift(l->code->min_global_bytes);
      b->access_bytes = sizeof(*b->last_access) * (size_t)((b->bytes >> shift) + 2);
      b->last_access =
          ptx_is_sparse(b) ? sct_alloc_sparse(b->access_bytes) : sct_alloc(b->access_bytes);
      b->touch_bytes = sizeof(*b->touches) * (size_t)((b->bytes >> shift) + 2);
      b->touches = l->findings ? sct_alloc_sparse(b->touch_bytes) : NULL;
    }
  }
}

static void drop_access_records(const ptx_launch *l) {
  for (int k = PTX_WINDOW_VARS; k < PTX_N_WINDOWS; k++) {
    ptx_buf *b = l->memory->table[k];
    if (b == NULL) {
      continue;
    }
    if (ptx_is_sparse(b)) {
      sct_unmap(b->last_access, b->access_bytes);
    } else {
      sct_free(b->last_access);
    }
    b->last_access = NULL;
    if (b->touches != NULL) {
      sct_unmap(b->touches, b->touch_bytes);
    }
    b->touches = NULL;
  }
}

/* ---- host threads */

typedef struct work {
  const ptx_launch *launch;
  int64_t next;   /* block to be handed out */
  int64_t failed; /* lowest block with a diagnosis; n_run: none */
  int64_t soft;   /* lowest block with a soft diagnosis (ptx_exec.h); n_run: none */
  sct_ptx_diag soft_diag;
  sct_ptx_diag diag; /* of that block */
  pthread_mutex_t lock;
  /* where caches are asked for: blocks (or clusters) are handed out a wave at a time */
  ptx_trace *traces;           /* of the wave's blocks */
  int64_t wave, wave_end, run; /* its first, its end, how many of it have run */
  pthread_cond_t next_wave;
  bool enough; /* the caller wants no more blocks */
} work;

typedef struct worker {
  work *w;
  ptx_cluster *clusters; /* one, or all of a cooperative grid */
  int n_clusters;
  ptx_exec *blocks; /* [n_together] of these */
  int n_counted;    /* of its blocks; where some blocks are asked for, only the first is */
  pthread_t thread;
} worker;

static int64_t block_at(const ptx_launch *l, int64_t i) {
  if (l->opts->blocks != NULL) {
    return l->opts->blocks[l->first + i] - l->pass * l->n_blocks;
  }
  switch (l->opts->order) {
  case SCT_PTX_REVERSE:
    return (l->n_run - 1 - i) * l->n_cluster;
  case SCT_PTX_SHUFFLED:
    return sct_permute(i, l->n_run, l->opts->seed) * l->n_cluster;
  default:
    return i * l->n_cluster;
  }
}

/* Next block or cluster, as its place in the order of execution; -1: none left that could matter.
 */
static int64_t take(work *w) {
  pthread_mutex_lock(&w->lock);
  while (w->launch->caches != NULL && w->next == w->wave_end && w->next < w->failed) {
    pthread_cond_wait(&w->next_wave, &w->lock);
  }
  const int64_t i = w->next < w->failed ? w->next++ : -1;
  pthread_mutex_unlock(&w->lock);
  return i;
}

/* The first wave is one block, which shows how long traces are. */
static void set_wave(work *w, int64_t n) {
  const int64_t left = w->launch->n_run - w->next;
  w->wave = w->next;
  w->wave_end = w->next + (n < left ? n : left);
  w->run = 0;
  w->traces =
      sct_alloc(sizeof(*w->traces) * (size_t)((w->wave_end - w->wave) * w->launch->n_together));
}

/* Keeps the traces of cluster i; the last of a wave has them replayed. */
static void finish(work *w, int64_t i, ptx_exec *blocks) {
  const int n = w->launch->n_together;
  pthread_mutex_lock(&w->lock);
  for (int b = 0; b < n; b++) {
    sct_ptx_caches_move_trace(w->launch->caches, w->traces, (w->wave_end - w->wave) * n,
                              &w->traces[(i - w->wave) * n + b], &blocks[b].trace);
  }
  if (++w->run == w->wave_end - w->wave) {
    const int64_t most = sct_ptx_caches_wave(w->launch->caches, w->traces, w->run * n);
    sct_ptx_caches_replay(w->launch->caches, w->traces, w->run * n);
    sct_free(w->traces);
    set_wave(w, (most + n - 1) / n);
    pthread_cond_broadcast(&w->next_wave);
  }
  pthread_mutex_unlock(&w->lock);
}

/* What is left where a block failed. */
static void drop_traces(work *w) {
  for (int64_t k = 0; k < (w->wave_end - w->wave) * w->launch->n_together; k++) {
    sct_free(w->traces[k].words);
  }
  sct_free(w->traces);
}

static void report(work *w, int64_t i, const ptx_exec *x) {
  pthread_mutex_lock(&w->lock);
  if (x->stop && i < w->failed) {
    w->failed = i;
    w->diag = x->diag;
    pthread_cond_broadcast(&w->next_wave);
  } else if (!x->stop && i < w->soft) {
    w->soft = i;
    w->soft_diag = x->diag;
  }
  pthread_mutex_unlock(&w->lock);
}

/* A race explains an undefined value of an earlier block; nothing else does. */
static const sct_ptx_diag *verdict(const work *w) {
  const bool race = ptx_is_race(w->diag.kind);
  if (w->soft < w->launch->n_run && (w->soft < w->failed && !race)) {
    return &w->soft_diag;
  }
  return w->failed < w->launch->n_run ? &w->diag : NULL;
}

/* ---- results */

static void add_inst(sct_ptx_inst_counters *to, const sct_ptx_inst_counters *from) {
  to->executed += from->executed;
  to->lanes += from->lanes;
  to->divergent += from->divergent;
  to->swap_loops += from->swap_loops;
  sct_ptx_global_add(&to->global, &from->global);
  sct_ptx_shared_add(&to->shared, &from->shared);
}

/* Executions are counted by basic block. */
static void spread_runs(ptx_exec *x) {
  for (size_t b = 0; b < x->code->n_blocks; b++) {
    const ptx_block *blk = &x->code->blocks[b];
    for (int32_t i = blk->first_inst; i < blk->first_inst + blk->n_insts; i++) {
      x->insts[i].executed += x->block_runs[b];
      x->insts[i].lanes += x->block_lanes[b];
    }
    x->counters.warp_instructions += x->block_runs[b] * blk->n_insts;
    x->counters.lane_instructions += x->block_lanes[b] * blk->n_insts;
  }
}

static int width_index(int bytes) {
  return bytes <= 1 ? 0 : 31 - __builtin_clz((unsigned)bytes);
}

/* Instructions that go to memory, and those that steer. */
static void add_pipe(sct_ptx_counters *one, const ptx_origin *o, const sct_ptx_inst_counters *i) {
  const int64_t n = i->executed * o->cost[SCT_PIPE_ISSUE];
  switch ((ptx_inst_kind)o->kind) {
  case PTX_INST_BRANCH:
  case PTX_INST_BARRIER:
    one->control_instructions = n;
    break;
  case PTX_INST_OTHER:
    break;
  default:
    one->memory_instructions = n;
    break;
  }
}

static void add_machine(sct_ptx_counters *c, const ptx_origin *o, const sct_ptx_inst_counters *i) {
  for (int p = 0; p < SCT_N_PIPES; p++) {
    c->machine.n[p] += i->executed * o->cost[p];
  }
}

/* Sums of one instruction go to the totals of its kind. */
static void add_to_totals(sct_ptx_counters *c, const ptx_origin *o,
                          const sct_ptx_inst_counters *i) {
  sct_ptx_counters one = {0};
  add_machine(&one, o, i);
  one.flops[o->flop_type] = i->lanes * o->flops;
  one.matrix_products = o->matrix_flops > 0 ? i->executed : 0;
  one.matrix_flops = i->executed * o->matrix_flops;
  add_pipe(&one, o, i);
  switch ((ptx_inst_kind)o->kind) {
  case PTX_INST_LOAD:
    one.load = i->global;
    one.shared_load = i->shared;
    one.load_width[width_index(o->width)] = i->global.requests;
    break;
  case PTX_INST_ASYNC:
    one.load = i->global;
    one.shared_async = i->shared;
    one.load_width[width_index(o->width)] = i->global.requests;
    break;
  case PTX_INST_STORE:
    one.store = i->global;
    one.shared_store = i->shared;
    one.store_width[width_index(o->width)] = i->global.requests;
    break;
  case PTX_INST_BULK_LOAD:
    one.bulk_load = i->global;
    break;
  case PTX_INST_BULK_STORE:
    one.bulk_store = i->global;
    break;
  case PTX_INST_ATOMIC:
    one.atomics = i->global;
    one.shared_atomics = i->shared;
    one.swap_loops = i->swap_loops;
    break;
  case PTX_INST_SHUFFLE:
    one.shuffles = i->executed;
    break;
  default:
    break;
  }
  sct_ptx_counters_add(c, &one);
}

/* ---- blocks one by one */

static bool is_memory(ptx_inst_kind kind) {
  return kind != PTX_INST_OTHER && kind != PTX_INST_BRANCH && kind != PTX_INST_BARRIER;
}

/* Adds what a basic block did, and forgets it. */
static void report_basic_block(ptx_exec *x, size_t b) {
  const ptx_block *const blk = &x->code->blocks[b];
  const int64_t runs = x->block_runs[b];
  for (int32_t k = blk->first_inst; k < blk->first_inst + blk->n_insts; k++) {
    sct_ptx_inst_counters *const inst = &x->insts[k];
    inst->executed = runs;
    if (is_memory((ptx_inst_kind)x->code->insts[k].kind)) {
      inst->lanes = x->block_lanes[b];
      add_to_totals(&x->counters, &x->code->insts[k], inst);
    } else {
      add_machine(&x->counters, &x->code->insts[k], inst);
    }
    *inst = (sct_ptx_inst_counters){0};
  }
  x->counters.warp_instructions += runs * blk->n_insts;
  x->counters.lane_instructions += x->block_lanes[b] * blk->n_insts;
  x->block_runs[b] = x->block_lanes[b] = 0;
}

/* Tells the caller what a block did, and forgets it: of instructions that touch no memory only the
 * pipes that they take. false: the caller wants no more. */
static bool report_block(const ptx_launch *l, int64_t i, ptx_exec *x) {
  for (size_t b = 0; b < x->code->n_blocks; b++) {
    if (x->block_runs[b] > 0) {
      report_basic_block(x, b);
    }
  }
  for (int b = 0; x->by_buffer != NULL && b < l->memory->n_buffers; b++) {
    l->memory->table[PTX_WINDOW_FIRST + b]->counts = x->by_buffer[b];
    x->by_buffer[b] = (sct_ptx_buffer_counters){0};
  }
  const bool more = l->opts->block_done(l->opts->block_ctx, l->first + i, &x->counters);
  x->counters = (sct_ptx_counters){0};
  return more;
}

/* The counters of a grid's blocks, which may be many, are sums from the start. */
static void new_blocks(worker *k, const ptx_launch *l) {
  const int n = l->n_together, of = l->n_cluster;
  k->n_clusters = n / of;
  k->blocks = sct_alloc(sizeof(*k->blocks) * (size_t)n);
  k->clusters = sct_alloc(sizeof(*k->clusters) * (size_t)k->n_clusters);
  k->n_counted = l->opts->blocks != NULL ? 1 : n;
  for (int b = 0; b < n; b++) {
    ptx_cluster *const c = &k->clusters[b / of];
    *c = (ptx_cluster){.blocks = &k->blocks[b / of * of], .n = of};
    sct_ptx_exec_init(&k->blocks[b], l, c, b > 0 && l->cooperative ? &k->blocks[0] : NULL);
  }
}

static void *run_blocks(void *ctx) {
  worker *k = ctx;
  work *w = k->w;
  const ptx_launch *l = w->launch;
  new_blocks(k, l);
  for (int64_t i = take(w); i >= 0; i = take(w)) {
    sct_ptx_memory_refresh(l->memory);
    sct_ptx_run_clusters(k->clusters, k->n_clusters, block_at(l, i));
    for (int b = 0; b < l->n_together; b++) {
      if (k->blocks[b].stop || k->blocks[b].has_soft) {
        report(w, i, &k->blocks[b]);
      }
    }
    if (l->caches != NULL) {
      finish(w, i, k->blocks);
    }
    if (l->opts->block_done != NULL && !k->blocks[0].stop && !report_block(l, i, &k->blocks[0])) {
      w->enough = true; /* it is the only thread */
      break;
    }
  }
  return NULL;
}

static void sum_buffers(const ptx_launch *l, const worker *workers, int n) {
  for (int b = 0; l->opts->per_buffer && b < l->memory->n_buffers; b++) {
    sct_ptx_buffer_counters sum = {0};
    for (int k = 0; k < n; k++) {
      for (int e = 0; e < workers[k].n_counted; e++) {
        if (!workers[k].blocks[e].shares) {
          sct_ptx_buffer_counters_add(&sum, &workers[k].blocks[e].by_buffer[b]);
        }
      }
    }
    sct_ptx_buffer_counters_add(&l->memory->table[PTX_WINDOW_FIRST + b]->counts, &sum);
  }
}

static void collect_block(sct_ptx_result *out, ptx_exec *x) {
  if (!x->shares) {
    spread_runs(x);
  }
  sct_ptx_counters_add(&out->counters, &x->counters);
  if (x->shares) {
    return;
  }
  for (size_t i = 0; i < x->code->n_insts; i++) {
    add_inst(&out->insts[i], &x->insts[i]);
  }
  if (x->requests != NULL) {
    sct_ptx_merge_requests(out->requests, x);
  }
}

/* Room for what all passes do. */
static void begin_counts(sct_ptx_result *out, const ptx_launch *l) {
  out->insts = sct_alloc(sizeof(*out->insts) * (l->code->n_insts + 1));
  if (l->opts->per_instruction) {
    out->requests = sct_alloc(sizeof(*out->requests) * (l->code->n_insts + 1));
  }
  for (int b = 0; l->opts->per_buffer && b < l->memory->n_buffers; b++) {
    l->memory->table[PTX_WINDOW_FIRST + b]->counts = (sct_ptx_buffer_counters){0};
  }
}

static void collect(sct_ptx_result *out, const ptx_launch *l, worker *workers, int n) {
  for (int k = 0; k < n; k++) {
    for (int b = 0; b < workers[k].n_counted; b++) {
      collect_block(out, &workers[k].blocks[b]);
    }
  }
  sum_buffers(l, workers, n);
}

static void end_counts(sct_ptx_result *out, const ptx_launch *l) {
  const ptx_code *c = l->code;
  sct_ptx_inst_counters *sum = out->insts;
  for (size_t i = 0; i < c->n_insts; i++) {
    const ptx_origin *o = &c->insts[i];
    add_to_totals(&out->counters, o, &sum[i]);
    sum[i].ptx_line = o->line;
    sum[i].line = o->user.line;
    sum[i].text = o->text.p;
    sum[i].text_len = o->text.len;
    sum[i].file = sct_ptx_file_of(l->module, o->user);
    sum[i].callee_file = "";
    sum[i].callee = "";
    if (o->loc.file != o->user.file) {
      sum[i].callee_file = sct_ptx_file_of(l->module, o->loc);
      sum[i].callee_line = o->loc.line;
      sum[i].callee = sct_ptx_function_of(l->module, o->loc);
    }
  }
  if (l->opts->per_instruction) {
    out->n_insts = (int)c->n_insts;
  } else {
    sct_free(out->insts);
    out->insts = NULL;
  }
}

/* Outputs with a byte that nobody wrote, and arrays left with an undefined one. */
static void check_outputs(sct_ptx_diag *diag, const ptx_launch *l) {
  for (int k = PTX_WINDOW_FIRST; k < PTX_N_WINDOWS; k++) {
    const ptx_buf *b = l->memory->table[k];
    if (b == NULL || !(b->output || b->has_undefined) || !l->definedness ||
        (b->has_undefined && l->findings)) {
      continue;
    }
    const int64_t at = sct_ptx_buf_undefined(b, 0, b->bytes);
    if (at < 0) {
      continue;
    }
    *diag = (sct_ptx_diag){.kind = b->has_undefined ? SCT_PTX_UNDEFINED_STORE : SCT_PTX_NOT_WRITTEN,
                           .warp = -1,
                           .lane = -1,
                           .address = b->base + (uint64_t)at};
    snprintf(diag->kernel, sizeof diag->kernel, "%.*s", l->kernel->name.len, l->kernel->name.p);
    snprintf(diag->text, sizeof diag->text, "byte %lld of output '%s' (%lld bytes) %s",
             (long long)at, b->name, (long long)b->bytes,
             b->has_undefined ? "holds a value that was never set" : "was never written");
    return;
  }
}

static int host_threads(const ptx_launch *l) {
  int n = l->opts->threads > 0 && l->opts->block_done == NULL && l->opts->seen == NULL
              ? l->opts->threads
              : 1;
  n = n > MAX_THREADS ? MAX_THREADS : n;
  n = n > l->n_run ? (int)l->n_run : n;
  return l->code->has_global_atomics || l->code->orders_blocks || l->code->uses_system ||
                 l->races || l->findings
             ? 1
             : n;
}

/* One pass. false: nothing comes after it. */
static bool run_blocks_of(sct_ptx_result *out, const ptx_launch *l) {
  work w = {.launch = l, .failed = l->n_run, .soft = l->n_run};
  const int n = host_threads(l);
  int started = 1;
  SCT_OWNED worker *workers = sct_alloc(sizeof(*workers) * (size_t)n);
  pthread_mutex_init(&w.lock, NULL);
  pthread_cond_init(&w.next_wave, NULL);
  if (l->caches != NULL) {
    set_wave(&w, 1);
  }
  for (int k = 0; k < n; k++) {
    workers[k].w = &w;
  }
  while (started < n &&
         sct_thread_create(&workers[started].thread, NULL, run_blocks, &workers[started]) == 0) {
    started++;
  }
  (void)run_blocks(&workers[0]); /* this thread is the first */
  for (int k = 1; k < started; k++) {
    pthread_join(workers[k].thread, NULL);
  }
  collect(out, l, workers, started);
  const sct_ptx_diag *diag = verdict(&w);
  if (diag != NULL) {
    out->diag = *diag;
  }
  for (int k = 0; k < started; k++) {
    for (int b = 0; b < l->n_together; b++) {
      sct_ptx_exec_free(&workers[k].blocks[b]);
    }
    sct_free(workers[k].blocks);
    sct_free(workers[k].clusters);
  }
  if (l->caches != NULL) {
    drop_traces(&w);
  }
  pthread_cond_destroy(&w.next_wave);
  pthread_mutex_destroy(&w.lock);
  return diag == NULL && !w.enough;
}

static bool run_pass(sct_ptx_result *out, ptx_launch *l) {
  add_access_records(l);
  l->order = l->races ? sct_ptx_order_new(l) : NULL;
  const bool more = run_blocks_of(out, l);
  if (l->order != NULL && out->warning.kind == SCT_PTX_CLEAN) {
    out->warning = *sct_ptx_order_warning(l->order);
  }
  sct_ptx_order_free(l->order);
  l->order = NULL;
  drop_access_records(l);
  return more;
}

static void run_all(sct_ptx_result *out, ptx_launch *l) {
  bool more = true;
  begin_counts(out, l);
  if (l->opts->caches != NULL) {
    sct_ptx_caches_new(&l->caches, l->opts->caches);
  }
  l->pass = -1;
  while (more && next_pass(l)) {
    more = run_pass(out, l);
  }
  if (out->diag.kind == SCT_PTX_CLEAN) {
    check_outputs(&out->diag, l);
  }
  end_counts(out, l);
  if (l->caches != NULL) {
    out->traffic = sct_ptx_caches_free(l->caches);
  }
}

sct_status sct_ptx_launch(sct_ptx_result *out, sct_ptx_memory *memory, const sct_ptx_launch_opts *o,
                          sct_error *err) {
  ptx_launch l = {.module = o->module,
                  .opts = o,
                  .memory = memory,
                  .definedness = !o->no_definedness,
                  .races = !o->no_races,
                  .counters = !o->no_counters};
  ptx_printed printed = {.dropped = 0};
  ptx_buf *const kept = o->variables ? *o->variables : NULL;
  sct_status status = SCT_OK;
  *out = (sct_ptx_result){0};
  l.printed = &printed;
  l.max_steps = o->max_steps > 0 ? o->max_steps : DEFAULT_STEPS;
  if ((unsigned)o->coalescing >= SCT_PTX_N_COALESCING) {
    return sct_fail(err, SCT_EUSAGE, "kernel '%s': no counting model %d", o->kernel,
                    (int)o->coalescing);
  }
  l.rules = sct_ptx_rules(o->coalescing);
  SCT_TRY(find_kernel(&l, o, err));
  SCT_TRY(check_shape(&l, o, err));
  SCT_TRY(check_shared(&l, o, err));
  SCT_TRY(check_cooperative(&l, o, err));
  SCT_TRY_DONE(pack_args(&l, o, err));
  if (l.code->uses_system && !sct_ptx_heap_new(memory, o->heap_bytes)) {
    SCT_TRY_DONE(sct_fail(err, SCT_ENOMEM, "no address space for a heap of %lld bytes",
                          (long long)o->heap_bytes));
  }
  memory->table[PTX_WINDOW_GRID] = l.code->syncs_grid ? sct_ptx_grid_buf_new() : NULL;
  memory->table[PTX_WINDOW_VARS] = kept ? kept : sct_ptx_vars_new(o->module, l.code);
  l.findings = sct_ptx_findings_new(o->most_findings);
  l.lines = o->per_buffer && l.code->has_global_atomics ? sct_alloc(sizeof *l.lines) : NULL;
  l.links = o->chains ? sct_ptx_links_new(l.code) : NULL;
  run_all(out, &l);
  sct_ptx_findings_end(out, l.findings);
  out->heap = sct_ptx_heap_of(memory);
  out->printed = printed.text.data;
  out->prints_dropped = printed.dropped;
done:
  sct_ptx_links_free(l.links);
  sct_free(l.lines);
  if (!o->variables) {
    sct_ptx_buf_free(memory->table[PTX_WINDOW_VARS]);
  } else if (memory->table[PTX_WINDOW_VARS]) {
    *o->variables = memory->table[PTX_WINDOW_VARS];
  }
  memory->table[PTX_WINDOW_VARS] = NULL;
  sct_ptx_buf_free(memory->table[PTX_WINDOW_GRID]);
  memory->table[PTX_WINDOW_GRID] = NULL;
  sct_free(l.params);
  if (status != SCT_OK) {
    sct_ptx_result_free(out);
  }
  return status;
}

void sct_ptx_variables_free(ptx_buf *variables) {
  sct_ptx_buf_free(variables);
}

uint8_t *sct_ptx_variable_data(ptx_buf **variables, const sct_ptx_module *m, const char *kernel,
                               int index) {
  if (*variables == NULL) {
    const ptx_func *const f = kernel != NULL ? sct_ptx_func_find(m, kernel) : NULL;
    *variables = sct_ptx_vars_new(m, f != NULL ? f->code : NULL);
  }
  const ptx_sym *const sym = m->variable_syms[index];
  if ((*variables)->defined != NULL) { /* by a launch that found undefined values */
    memset((*variables)->defined + sym->offset, 0xff, (size_t)sym->bytes);
  }
  return (*variables)->host + sym->offset;
}

void sct_ptx_result_free(sct_ptx_result *result) {
  sct_free(result->findings);
  sct_free(result->insts);
  sct_free(result->requests);
  sct_free(result->printed);
  *result = (sct_ptx_result){0};
}
