/* model_count - the counters of a whole kernel from the accesses it states.
 *
 * Extents become constants and expressions programs; then blocks are walked, and in each block the
 * iterations of an access' loops and the warps: all of them where they are few, else the first, the
 * last and some between, which stand for the others. Where the lanes' addresses differ from block
 * to block only by a base that is the same for all lanes, one count serves every base that is equal
 * modulo 128: sectors and tags repeat after 128 bytes (and conflicts stay when all banks turn by
 * whole words). */
#include "model/model.h"

#include <math.h>
#include <string.h>

#define LANES          SCT_EXPR_LANES
#define MAX_LOOPS      4
#define MAX_INDEX      2
#define MAX_ITERATIONS 1024 /* of one access in one block, before they are sampled */
#define DEFAULT_BLOCKS 24
#define GLOBAL_PATTERN 128 /* bytes after which what a warp costs repeats */
#define SHARED_PATTERN 4
#define SHUFFLE_BYTES  4 /* that a lane gets by one shuffle */
#define MAX_FOUNDS     8192

/* What programs read. */
enum {
  IN_BLOCK,
  IN_THREAD,
  IN_LOOP,
  IN_INDEX = IN_LOOP + MAX_LOOPS,
  N_INPUTS = IN_INDEX + MAX_INDEX
};

/* What one access costs: global counts or shared wavefronts. */
typedef struct cost {
  sct_count global;
  int64_t wavefronts, ideal, shuffles;
} cost;

/* The last count of one warp of one access, and what it was for. */
typedef struct remembered {
  bool valid;
  int64_t base; /* modulo the pattern */
  uint32_t active;
  cost cost;
} remembered;

/* What the lanes of a warp read from index operands in one iteration of the inner loops. */
typedef struct found {
  int64_t block; /* 1 + the block it was read in; 0: none */
  uint32_t lanes;
  int64_t value[MAX_INDEX][LANES];
} found;

/* One access, ready to be walked. Its address is varying + base. */
typedef struct walker {
  const sct_access *access;
  sct_expr_program *varying; /* the terms that mention thread or an index value */
  sct_expr_program *base;    /* the others: the same for all lanes */
  sct_expr_program *active;  /* NULL: always */
  sct_expr_program *warps;   /* NULL: all */
  sct_expr_program *one_in;  /* NULL: 1 */
  bool *on;                  /* [n_warps] which take part in the block at hand */
  sct_expr_program *count[MAX_LOOPS];
  sct_expr_program *linear[MAX_INDEX];
  sct_index_fill index_fill[MAX_INDEX]; /* what the index arrays hold */
  int64_t index_elements[MAX_INDEX];
  bool repeats;  /* its indexes are the same in every iteration of the outermost loop */
  found *founds; /* [n_founds * n_warps], if it repeats */
  int64_t n_founds;
  bool fixed; /* varying depends on thread alone: lanes[warp] holds it */
  int64_t (*lanes)[LANES];
  remembered *seen; /* [n_warps], if fixed */
} walker;

typedef struct tally {
  double requests, sectors, ideal, tags, distinct_bytes;
} tally;

typedef struct counting {
  const sct_spec *spec;
  const sct_kernel_code *code;
  const sct_size *size;
  const int64_t *start; /* [n_operands] addresses of arrays; NULL: 0 */
  int n_warps;
  sct_expr inputs[N_INPUTS]; /* block and thread; the rest belongs to the access at hand */
  int64_t value[N_INPUTS][LANES];
  tally load, store, bulk_load;
  tally *operand;
  double wavefronts[2], wavefronts_ideal[2]; /* loads, stores */
  double shuffles;
  bool sampled_loops;
  sct_error *err;
} counting;

/* ---- getting ready */

/* Says which access an error is about. */
static sct_status name_access(const counting *c, const sct_access *a, sct_status status) {
  const char *const where = a->operand >= 0 && a->operand < c->spec->n_operands
                                ? c->spec->operands[a->operand].name
                            : a->mem == SCT_MEM_SHARED ? "shared memory"
                                                       : "the module's array";
  return sct_fail_prefix(c->err, status, "%s, access %d (%s %s): ", c->code->kernel,
                         (int)(a - c->code->accesses), a->is_store ? "store to" : "load from",
                         where);
}

static sct_expr bind_extents(const counting *c, sct_expr e) {
  sct_expr_pool *pool = c->spec->pool;
  sct_expr values[SCT_MAX_EXTENTS];
  for (int k = 0; k < c->spec->n_extents; k++) {
    values[k] = sct_expr_const(pool, c->size->extent[k]);
  }
  return sct_expr_subst(pool, sct_expr_expand(pool, e), c->spec->extent_var, values,
                        c->spec->n_extents);
}

/* Programs never fail, so what may fail is tried once, for the first lane of the first block. */
static sct_status make_program(const counting *c, sct_expr_program **out, sct_expr e) {
  const int64_t zeros[N_INPUTS] = {0};
  const sct_expr_env env = {c->inputs, zeros, N_INPUTS};
  int64_t value = 0;
  SCT_TRY(sct_expr_eval(c->spec->pool, e, &env, &value, c->err));
  return sct_expr_program_new(out, c->spec->pool, e, c->inputs, N_INPUTS, c->err);
}

static bool mentions_any(const counting *c, sct_expr e, int from, int to) {
  for (int k = from; k < to; k++) {
    if (sct_expr_mentions(c->spec->pool, e, c->inputs[k])) {
      return true;
    }
  }
  return false;
}

static int find_index_operand(const sct_spec *spec, sct_expr value) {
  for (int k = 0; k < spec->n_operands; k++) {
    if (spec->operands[k].is_index && spec->operands[k].index_value == value) {
      return k;
    }
  }
  return -1;
}

static sct_status prepare_indexes(const counting *c, walker *w) {
  const sct_access *a = w->access;
  const sct_expr_env extents = {c->spec->extent_var, c->size->extent, c->spec->n_extents};
  for (int k = 0; k < a->n_index; k++) {
    const int op = find_index_operand(c->spec, a->index_var[k]);
    if (op < 0) {
      return sct_fail(c->err, SCT_ESPEC, "'%s' is no index operand's value",
                      sct_expr_var_name(c->spec->pool, a->index_var[k]));
    }
    w->index_fill[k] = sct_spec_index_fill(c->spec, op, c->size);
    w->index_elements[k] = 1;
    for (int d = 0; d < c->spec->operands[op].n_dims; d++) {
      int64_t extent = 0;
      SCT_TRY(
          sct_expr_eval(c->spec->pool, c->spec->operands[op].extent[d], &extents, &extent, c->err));
      w->index_elements[k] *= extent;
    }
    const sct_expr linear = bind_extents(c, a->index_linear[k]);
    SCT_TRY(make_program(c, &w->linear[k], linear));
    w->repeats =
        (k == 0 || w->repeats) && a->n_loops > 0 && !mentions_any(c, linear, IN_LOOP, IN_LOOP + 1);
  }
  return SCT_OK;
}

static sct_status prepare_address(const counting *c, walker *w) {
  sct_expr_pool *pool = c->spec->pool;
  const sct_expr lane_inputs[1 + MAX_INDEX] = {c->inputs[IN_THREAD], c->inputs[IN_INDEX],
                                               c->inputs[IN_INDEX + 1]};
  const sct_expr address = bind_extents(c, w->access->address);
  sct_expr varying = SCT_EXPR_NONE;
  sct_expr base = SCT_EXPR_NONE;
  sct_expr_split(pool, address, lane_inputs, 1 + w->access->n_index, &varying, &base);
  SCT_TRY(make_program(c, &w->varying, varying));
  SCT_TRY(make_program(c, &w->base, base));
  w->fixed = !mentions_any(c, varying, IN_BLOCK, IN_BLOCK + 1) &&
             !mentions_any(c, varying, IN_LOOP, N_INPUTS);
  return SCT_OK;
}

static void set_threads(counting *c, int warp) {
  for (int lane = 0; lane < LANES; lane++) {
    c->value[IN_THREAD][lane] = warp * LANES + lane;
  }
}

static void run_lanes(const counting *c, const sct_expr_program *program, int64_t out[LANES]) {
  sct_expr_program_run_lanes(program, (const int64_t(*)[LANES])c->value, out);
}

/* The varying part of every lane, once and for all. */
static void prepare_lanes(counting *c, walker *w) {
  if (!w->fixed) {
    return;
  }
  w->lanes = sct_alloc((size_t)c->n_warps * sizeof *w->lanes);
  w->seen = sct_alloc((size_t)c->n_warps * sizeof *w->seen);
  for (int warp = 0; warp < c->n_warps; warp++) {
    set_threads(c, warp);
    run_lanes(c, w->varying, w->lanes[warp]);
  }
}

static sct_status prepare(counting *c, walker *w) {
  const sct_access *a = w->access;
  for (int k = 0; k < MAX_LOOPS; k++) {
    c->inputs[IN_LOOP + k] = k < a->n_loops ? a->loop_var[k] : SCT_EXPR_NONE;
  }
  for (int k = 0; k < MAX_INDEX; k++) {
    c->inputs[IN_INDEX + k] = k < a->n_index ? a->index_var[k] : SCT_EXPR_NONE;
  }
  SCT_TRY(prepare_indexes(c, w));
  SCT_TRY(prepare_address(c, w));
  for (int k = 0; k < a->n_loops; k++) {
    SCT_TRY(make_program(c, &w->count[k], bind_extents(c, a->loop_count[k])));
  }
  if (a->active != SCT_EXPR_NONE) {
    SCT_TRY(make_program(c, &w->active, bind_extents(c, a->active)));
  }
  if (a->warps != SCT_EXPR_NONE) {
    SCT_TRY(make_program(c, &w->warps, bind_extents(c, a->warps)));
  }
  if (a->one_in != SCT_EXPR_NONE) {
    SCT_TRY(make_program(c, &w->one_in, bind_extents(c, a->one_in)));
  }
  w->on = sct_alloc((size_t)c->n_warps * sizeof *w->on);
  prepare_lanes(c, w);
  return SCT_OK;
}

static void walker_free(walker *w) {
  sct_expr_program_free(w->varying);
  sct_expr_program_free(w->base);
  sct_expr_program_free(w->active);
  sct_expr_program_free(w->warps);
  sct_expr_program_free(w->one_in);
  sct_free(w->on);
  for (int k = 0; k < MAX_LOOPS; k++) {
    sct_expr_program_free(w->count[k]);
  }
  for (int k = 0; k < MAX_INDEX; k++) {
    sct_expr_program_free(w->linear[k]);
  }
  sct_free(w->lanes);
  sct_free(w->seen);
  sct_free(w->founds);
}

/* ---- one warp instruction */

static void set_uniform(counting *c, int input, int64_t value) {
  for (int lane = 0; lane < LANES; lane++) {
    c->value[input][lane] = value;
  }
}

/* Puts the values that the lanes of `lanes` read from index operands in place. Returns the lanes
 * whose element exists. */
static uint32_t read_indexes(counting *c, const walker *w, uint32_t lanes) {
  int64_t linear[LANES];
  for (int k = 0; k < w->access->n_index; k++) {
    run_lanes(c, w->linear[k], linear);
    for (int lane = 0; lane < LANES; lane++) {
      const bool inside = linear[lane] >= 0 && linear[lane] < w->index_elements[k];
      lanes &= inside ? UINT32_MAX : ~((uint32_t)1 << lane);
      c->value[IN_INDEX + k][lane] =
          (lanes >> lane & 1) != 0 ? sct_index_fill_value(&w->index_fill[k], linear[lane]) : 0;
    }
  }
  return lanes;
}

static uint32_t active_lanes(const counting *c, const walker *w, uint32_t exist) {
  int64_t taken[LANES];
  uint32_t mask = 0;
  if (w->active == NULL) {
    return exist;
  }
  run_lanes(c, w->active, taken);
  for (int lane = 0; lane < LANES; lane++) {
    mask |= (uint32_t)(taken[lane] != 0) << lane;
  }
  return mask & exist;
}

static void count_lanes(const walker *w, const int64_t address[LANES], uint32_t active, cost *sum) {
  if (w->access->is_bulk) {
    for (int lane = 0; lane < LANES; lane++) {
      if ((active >> lane & 1) != 0) {
        sct_model_count_bulk(&sum->global, address[lane], w->access->width);
      }
    }
  } else if (w->access->mem == SCT_MEM_SHUFFLE) {
    sum->shuffles += w->access->width / SHUFFLE_BYTES;
  } else if (w->access->mem == SCT_MEM_GLOBAL) {
    sct_model_count_global(&sum->global, address, active, w->access->width);
  } else {
    sct_model_count_shared(&sum->wavefronts, &sum->ideal, address, active, w->access->width);
  }
}

static void cost_add(cost *sum, const cost *c) {
  sum->global.requests += c->global.requests;
  sum->global.sectors += c->global.sectors;
  sum->global.sectors_ideal += c->global.sectors_ideal;
  sum->global.tags += c->global.tags;
  sum->global.distinct_bytes += c->global.distinct_bytes;
  sum->wavefronts += c->wavefronts;
  sum->ideal += c->ideal;
  sum->shuffles += c->shuffles;
}

/* The same where `inner`, the iteration of all loops but the outermost, was met before. */
static uint32_t find_indexes(counting *c, walker *w, int warp, int64_t inner, uint32_t lanes) {
  if (inner >= w->n_founds) {
    return read_indexes(c, w, lanes);
  }
  found *f = &w->founds[inner * c->n_warps + warp];
  const size_t bytes = (size_t)w->access->n_index * sizeof f->value[0];
  if (f->block == 1 + c->value[IN_BLOCK][0]) {
    memcpy(c->value[IN_INDEX], f->value, bytes);
    return f->lanes;
  }
  f->block = 1 + c->value[IN_BLOCK][0];
  f->lanes = read_indexes(c, w, lanes);
  memcpy(f->value, c->value[IN_INDEX], bytes);
  return f->lanes;
}

/* Room for what is found in `inner` iterations. */
static void keep_founds(const counting *c, walker *w, int64_t inner) {
  const int64_t most = MAX_FOUNDS / c->n_warps, n = inner < most ? inner : most;
  if (!w->repeats || n <= w->n_founds) {
    return;
  }
  sct_free(w->founds);
  w->founds = sct_alloc((size_t)(n * c->n_warps) * sizeof *w->founds);
  w->n_founds = n;
}

/* Adds what one warp costs in the iteration at hand. */
static void count_warp(counting *c, walker *w, int warp, int64_t inner, int64_t base, cost *sum) {
  const int left = c->code->threads - warp * LANES;
  uint32_t exist = left >= LANES ? UINT32_MAX : ((uint32_t)1 << left) - 1;
  int64_t address[LANES];
  set_threads(c, warp);
  exist = w->access->n_index > 0 ? find_indexes(c, w, warp, inner, exist) : exist;
  const uint32_t active = active_lanes(c, w, exist);
  if (active == 0) {
    return;
  }
  remembered *seen = w->fixed ? &w->seen[warp] : NULL;
  const int64_t pattern =
      base & ((w->access->mem == SCT_MEM_GLOBAL ? GLOBAL_PATTERN : SHARED_PATTERN) - 1);
  if (seen != NULL && seen->valid && seen->base == pattern && seen->active == active) {
    cost_add(sum, &seen->cost);
    return;
  }
  if (w->fixed) {
    memcpy(address, w->lanes[warp], sizeof address);
  } else {
    run_lanes(c, w->varying, address);
  }
  for (int lane = 0; lane < LANES; lane++) {
    address[lane] += base;
  }
  cost once = {0};
  count_lanes(w, address, active, &once);
  cost_add(sum, &once);
  if (seen != NULL) {
    *seen = (remembered){true, pattern, active, once};
  }
}

/* ---- blocks */

static void tally_add(tally *t, const sct_count *c, double weight) {
  t->requests += weight * (double)c->requests;
  t->sectors += weight * (double)c->sectors;
  t->ideal += weight * (double)c->sectors_ideal;
  t->tags += weight * (double)c->tags;
  t->distinct_bytes += weight * (double)c->distinct_bytes;
}

static void account(counting *c, const sct_access *a, const cost *sum, double weight) {
  if (a->mem == SCT_MEM_SHUFFLE) {
    c->shuffles += weight * (double)sum->shuffles;
    return;
  }
  if (a->mem == SCT_MEM_SHARED) {
    c->wavefronts[a->is_store] += weight * (double)sum->wavefronts;
    c->wavefronts_ideal[a->is_store] += weight * (double)sum->ideal;
    return;
  }
  tally_add(a->is_store ? &c->store : &c->load, &sum->global, weight);
  if (a->is_bulk && !a->is_store) {
    tally_add(&c->bulk_load, &sum->global, weight);
  }
  if (a->operand >= 0 && a->operand < c->spec->n_operands) {
    tally_add(&c->operand[a->operand], &sum->global, weight);
  }
}

/* How often each loop runs in the block at hand; returns the product. */
static int64_t loop_counts(const walker *w, int64_t scalars[N_INPUTS], int64_t counts[MAX_LOOPS]) {
  int64_t total = 1;
  for (int k = 0; k < w->access->n_loops; k++) {
    const int64_t n = sct_expr_program_run(w->count[k], scalars);
    counts[k] = n > 0 ? n : 0;
    if (__builtin_mul_overflow(total, counts[k], &total)) {
      total = INT64_MAX;
    }
  }
  return total;
}

/* Which warps of the block at hand take part; false: none. */
static bool choose_warps(const counting *c, walker *w, int64_t scalars[N_INPUTS]) {
  bool any = false;
  for (int warp = 0; warp < c->n_warps; warp++) {
    scalars[IN_THREAD] = warp * LANES;
    w->on[warp] = w->warps == NULL || sct_expr_program_run(w->warps, scalars) != 0;
    any = any || w->on[warp];
  }
  scalars[IN_THREAD] = 0;
  return any;
}

/* Where its array begins. */
static int64_t start_of(const counting *c, const sct_access *a) {
  const bool array = a->mem == SCT_MEM_GLOBAL && a->operand >= 0;
  return array && c->start != NULL && a->operand < c->spec->n_operands ? c->start[a->operand] : 0;
}

/* What an access costs in the block at hand. The last loop runs fastest. */
static void walk_block(counting *c, walker *w, double weight) {
  int64_t counts[MAX_LOOPS] = {1, 1, 1, 1};
  int64_t scalars[N_INPUTS] = {[IN_BLOCK] = c->value[IN_BLOCK][0]};
  if (!choose_warps(c, w, scalars)) {
    return;
  }
  if (w->one_in != NULL) { /* which one is left open, so each of them counts for a part */
    const int64_t blocks = sct_expr_program_run(w->one_in, scalars);
    weight /= blocks > 1 ? (double)blocks : 1;
  }
  const sct_sample iterations = sct_sample_of(loop_counts(w, scalars, counts), MAX_ITERATIONS);
  const int64_t inner = iterations.total / (counts[0] > 0 ? counts[0] : 1);
  keep_founds(c, w, counts[0] > 1 ? inner : 0);
  c->sampled_loops = c->sampled_loops || iterations.n < iterations.total;
  for (int64_t k = 0; k < iterations.n; k++) {
    cost sum = {0};
    const int64_t iteration = sct_sample_at(iterations, k);
    int64_t at = iteration;
    for (int loop = w->access->n_loops - 1; loop >= 0; loop--) {
      scalars[IN_LOOP + loop] = at % counts[loop];
      set_uniform(c, IN_LOOP + loop, at % counts[loop]);
      at /= counts[loop];
    }
    const int64_t base = sct_expr_program_run(w->base, scalars) + start_of(c, w->access);
    for (int warp = 0; warp < c->n_warps; warp++) {
      if (w->on[warp]) {
        count_warp(c, w, warp, iteration % inner, base, &sum);
      }
    }
    account(c, w->access, &sum, weight * sct_sample_weight(iterations, k));
  }
}

static sct_count rounded(const tally *t) {
  return (sct_count){.requests = llround(t->requests),
                     .sectors = llround(t->sectors),
                     .sectors_ideal = llround(t->ideal),
                     .tags = llround(t->tags),
                     .distinct_bytes = llround(t->distinct_bytes)};
}

static void fill(sct_counters *out, const counting *c, sct_sample blocks) {
  out->load = rounded(&c->load);
  out->store = rounded(&c->store);
  out->bulk_load = rounded(&c->bulk_load);
  for (int k = 0; k < out->n_operands; k++) {
    out->operand[k] = rounded(&c->operand[k]);
  }
  out->wavefronts_ld = llround(c->wavefronts[0]);
  out->wavefronts_ld_ideal = llround(c->wavefronts_ideal[0]);
  out->wavefronts_st = llround(c->wavefronts[1]);
  out->wavefronts_st_ideal = llround(c->wavefronts_ideal[1]);
  out->shuffles = llround(c->shuffles);
  out->blocks = blocks.total;
  out->blocks_counted = c->sampled_loops && blocks.n == blocks.total ? blocks.n - 1 : blocks.n;
}

static sct_status count_blocks(counting *c, walker *walkers, sct_sample blocks) {
  for (int k = 0; k < c->code->n_accesses && blocks.n > 0; k++) {
    walkers[k].access = &c->code->accesses[k];
    const sct_status status = prepare(c, &walkers[k]);
    if (status != SCT_OK) {
      return name_access(c, walkers[k].access, status);
    }
  }
  for (int64_t b = 0; b < blocks.n; b++) {
    set_uniform(c, IN_BLOCK, sct_sample_at(blocks, b));
    for (int k = 0; k < c->code->n_accesses; k++) {
      walk_block(c, &walkers[k], sct_sample_weight(blocks, b));
    }
  }
  return SCT_OK;
}

static sct_expr find_or_make(sct_expr_pool *pool, const char *name) {
  const sct_expr known = sct_expr_var_find(pool, name);
  return known != SCT_EXPR_NONE ? known : sct_expr_var(pool, name, 0, SCT_EXPR_MAX_VALUE, 1);
}

sct_status sct_model_count(sct_counters *out, const sct_spec *spec, const sct_kernel_code *code,
                           const sct_size *size, int64_t max_blocks, sct_error *err) {
  return sct_model_count_at(out, spec, code, size, NULL, max_blocks, err);
}

sct_status sct_model_count_at(sct_counters *out, const sct_spec *spec, const sct_kernel_code *code,
                              const sct_size *size, const int64_t *start, int64_t max_blocks,
                              sct_error *err) {
  const sct_expr_env extents = {spec->extent_var, size->extent, spec->n_extents};
  int64_t n_blocks = 0;
  SCT_TRY(sct_expr_eval(spec->pool, code->grid, &extents, &n_blocks, err));
  const sct_sample blocks =
      sct_sample_of(n_blocks > 0 ? n_blocks : 0, max_blocks > 0 ? max_blocks : DEFAULT_BLOCKS);
  const int32_t mark = sct_expr_mark(spec->pool);
  const size_t n_operands = (size_t)spec->n_operands;
  sct_status status = SCT_OK;
  sct_counters counters = {.n_operands = spec->n_operands};
  counting c = {.spec = spec, .code = code, .size = size, .start = start, .err = err};
  c.n_warps = (code->threads + LANES - 1) / LANES;
  c.inputs[IN_BLOCK] = find_or_make(spec->pool, "block");
  c.inputs[IN_THREAD] = find_or_make(spec->pool, "thread");
  counters.operand = sct_alloc((n_operands + 1) * sizeof *counters.operand);
  c.operand = sct_alloc((n_operands + 1) * sizeof *c.operand);
  walker *walkers = sct_alloc((size_t)(code->n_accesses + 1) * sizeof *walkers);
  status = count_blocks(&c, walkers, blocks);
  if (status == SCT_OK) {
    fill(&counters, &c, blocks);
    *out = counters;
  } else {
    sct_counters_free(&counters);
  }
  for (int k = 0; k < code->n_accesses; k++) {
    walker_free(&walkers[k]);
  }
  sct_free(walkers);
  sct_free(c.operand);
  sct_expr_reset(spec->pool, mark);
  return status;
}

sct_degrees sct_model_degrees(const sct_counters *c, const sct_spec *spec, const sct_size *size) {
  sct_count load = c->load, store = c->store;
  for (int op = 0; op < c->n_operands; op++) {
    const int64_t excess = c->operand[op].distinct_bytes - sct_spec_element_bytes(spec, op, size);
    sct_count *const way = spec->operands[op].is_output ? &store : &load;
    way->distinct_bytes -= excess > 0 ? excess : 0;
  }
  const sct_count both = {.sectors = load.sectors + store.sectors,
                          .distinct_bytes = load.distinct_bytes + store.distinct_bytes};
  return (sct_degrees){sct_model_degree(&load), sct_model_degree(&store), sct_model_degree(&both)};
}

double sct_model_exchanged(const sct_counters *c) {
  return (double)(c->wavefronts_ld + c->wavefronts_st + c->shuffles);
}

void sct_counters_free(sct_counters *c) {
  if (c != NULL) {
    sct_free(c->operand);
    *c = (sct_counters){0};
  }
}
