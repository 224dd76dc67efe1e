/* Counting what a kernel states that it touches: its accesses evaluated for every lane of sampled
 * blocks. */
#include "model/model.h"

#include <math.h>
#include <string.h>

#define LANES          32
#define DEFAULT_BLOCKS 48
#define MAX_INPUTS     64
#define MAX_LOOPS      4
#define MAX_INDEX      2

/* One access as programs over the inputs: thread, block, loops, index values, extents. */
typedef struct counted_access {
  const sct_access *access;
  sct_expr_program *address, *active, *loop_count[MAX_LOOPS], *linear[MAX_INDEX];
  int index_operand[MAX_INDEX];
} counted_access;

typedef struct counter {
  const sct_spec *spec;
  const sct_size *size;
  sct_expr vars[MAX_INPUTS];
  int64_t values[MAX_INPUTS];
  int n_inputs, at_loops, at_index;
  double *sums; /* [n_operands + 2][N_SUMS]: operands, shared loads, shared stores; of the block at
                   hand */
} counter;

/* What is summed per operand and direction. */
enum { REQUESTS, SECTORS, IDEAL, TAGS, BYTES, N_SUMS };

/* ---- programs ----------------------------------------------------------------------------------
 */

static sct_expr named(sct_expr_pool *pool, const char *name) {
  const sct_expr e = sct_expr_var_find(pool, name);
  return e != SCT_EXPR_NONE ? e : sct_expr_var(pool, name, 0, SCT_EXPR_MAX_VALUE, 1);
}

static sct_status set_inputs(counter *c, const sct_access *access, sct_error *err) {
  const sct_spec *spec = c->spec;
  if (2 + MAX_LOOPS + MAX_INDEX + spec->n_extents > MAX_INPUTS) {
    return sct_fail(err, SCT_ESPEC, "more than %d extents", MAX_INPUTS - 2 - MAX_LOOPS - MAX_INDEX);
  }
  int n = 0;
  c->vars[n++] = named(spec->pool, "thread");
  c->vars[n++] = named(spec->pool, "block");
  for (int k = 0; k < spec->n_extents; k++) {
    c->values[n] = c->size->extent[k];
    c->vars[n++] = spec->extent_var[k];
  }
  c->at_loops = n;
  for (int k = 0; k < access->n_loops; k++) {
    c->vars[n++] = access->loop_var[k];
  }
  c->at_index = n;
  for (int k = 0; k < access->n_index; k++) {
    c->vars[n++] = access->index_var[k];
  }
  c->n_inputs = n;
  return SCT_OK;
}

static int operand_of_index(const sct_spec *spec, sct_expr var) {
  for (int op = 0; op < spec->n_operands; op++) {
    if (spec->operands[op].is_index && spec->operands[op].index_value == var) {
      return op;
    }
  }
  return -1;
}

static void close_access(counted_access *a) {
  sct_expr_program_free(a->address);
  sct_expr_program_free(a->active);
  for (int k = 0; k < MAX_LOOPS; k++) {
    sct_expr_program_free(a->loop_count[k]);
  }
  for (int k = 0; k < MAX_INDEX; k++) {
    sct_expr_program_free(a->linear[k]);
  }
  *a = (counted_access){0};
}

static sct_status open_access(counted_access *a, counter *c, const sct_access *access,
                              sct_error *err) {
  *a = (counted_access){.access = access};
  SCT_TRY(set_inputs(c, access, err));
  sct_expr_pool *pool = c->spec->pool;
  SCT_TRY(sct_expr_program_new(&a->address, pool, access->address, c->vars, c->n_inputs, err));
  if (access->active != SCT_EXPR_NONE) {
    SCT_TRY(sct_expr_program_new(&a->active, pool, access->active, c->vars, c->n_inputs, err));
  }
  for (int k = 0; k < access->n_loops; k++) {
    SCT_TRY(sct_expr_program_new(&a->loop_count[k], pool, access->loop_count[k], c->vars,
                                 c->n_inputs, err));
  }
  for (int k = 0; k < access->n_index; k++) {
    a->index_operand[k] = operand_of_index(c->spec, access->index_var[k]);
    if (a->index_operand[k] < 0) {
      return sct_fail(err, SCT_ESPEC, "an access names an index value that no operand has");
    }
    SCT_TRY(sct_expr_program_new(&a->linear[k], pool, access->index_linear[k], c->vars, c->n_inputs,
                                 err));
  }
  return SCT_OK;
}

/* ---- one warp instruction ----------------------------------------------------------------------
 */

/* Elements that index operand `op` holds at this size. */
static int64_t index_elements(const counter *c, int op) {
  return sct_spec_bytes(c->spec, op, 0, c->size) / c->spec->operands[op].record.bytes;
}

/* Puts the values of index operands for the lane at hand in place; false if an element lies
 * outside. */
static bool load_indexes(counter *c, const counted_access *a) {
  for (int k = 0; k < a->access->n_index; k++) {
    const int op = a->index_operand[k];
    const int64_t linear = sct_expr_program_run(a->linear[k], c->values);
    if (linear < 0 || linear >= index_elements(c, op)) {
      return false;
    }
    c->values[c->at_index + k] = sct_spec_index_value(c->spec, op, linear, c->size);
  }
  return true;
}

static void add_count(double *sums, const sct_count *one) {
  sums[REQUESTS] += (double)one->requests;
  sums[SECTORS] += (double)one->sectors;
  sums[IDEAL] += (double)one->sectors_ideal;
  sums[TAGS] += (double)one->tags;
  sums[BYTES] += (double)one->bytes;
}

static void count_warp(counter *c, const counted_access *a, int64_t first_thread) {
  int64_t address[LANES] = {0};
  uint32_t active = 0;
  for (int lane = 0; lane < LANES; lane++) {
    c->values[0] = first_thread + lane;
    if ((a->active && !sct_expr_program_run(a->active, c->values)) || !load_indexes(c, a)) {
      continue;
    }
    active |= 1u << lane;
    address[lane] = sct_expr_program_run(a->address, c->values);
  }
  const sct_access *access = a->access;
  sct_count one = {0};
  if (access->mem == SCT_MEM_GLOBAL) {
    sct_model_count_global(&one, address, active, access->width);
    add_count(c->sums + access->operand * N_SUMS, &one);
  } else {
    sct_model_count_shared(&one.sectors, &one.sectors_ideal, address, active, access->width);
    add_count(c->sums + (c->spec->n_operands + access->is_store) * N_SUMS, &one);
  }
}

/* Runs the loops around an access for one warp. */
static void count_loops(counter *c, const counted_access *a, int64_t first_thread) {
  const int n = a->access->n_loops;
  int64_t count[MAX_LOOPS] = {0};
  int64_t *at = c->values + c->at_loops;
  for (int k = 0; k < n; k++) {
    at[k] = 0;
  }
  c->values[0] = first_thread;
  for (int k = 0; k < n; k++) {
    count[k] = sct_expr_program_run(a->loop_count[k], c->values);
    if (count[k] <= 0) {
      return;
    }
  }
  for (;;) {
    count_warp(c, a, first_thread);
    int k = n - 1;
    while (k >= 0 && ++at[k] == count[k]) {
      at[k--] = 0;
    }
    if (k < 0) {
      return;
    }
  }
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Block number `k` of a sample of `n` out of `blocks`: the first, the last, and one at a
 * pseudo-random place of each stratum between (evenly spaced ones could fall in step with the
 * layout). */
static int64_t sampled_block(int64_t k, int64_t n, int64_t blocks) {
  if (n == blocks || k == 0) {
    return k;
  }
  if (k == n - 1) {
    return blocks - 1;
  }
  const int64_t inner = blocks - 2, low = 1 + (k - 1) * inner / (n - 2),
                high = 1 + k * inner / (n - 2);
  return low + (int64_t)(sct_mix64(0, (uint64_t)k) % (uint64_t)(high - low));
}

static sct_status blocks_of(const sct_spec *spec, const sct_kernel_code *code, const sct_size *size,
                            int64_t *blocks, sct_error *err) {
  const sct_expr_env env = {.vars = spec->extent_var, .values = size->extent, .n = spec->n_extents};
  return sct_expr_eval(spec->pool, code->grid, &env, blocks, err);
}

/* The first block and the last are themselves; the others stand for all between them. */
static double weight_of(int64_t k, int64_t n, int64_t blocks) {
  return n == blocks || k == 0 || k == n - 1 ? 1.0 : (double)(blocks - 2) / (double)(n - 2);
}

static void finish_count(sct_count *out, const double *sums) {
  out->requests += llround(sums[REQUESTS]);
  out->sectors += llround(sums[SECTORS]);
  out->sectors_ideal += llround(sums[IDEAL]);
  out->tags += llround(sums[TAGS]);
  out->bytes += llround(sums[BYTES]);
}

static void finish(sct_counters *out, const sct_spec *spec, const double *totals) {
  for (int op = 0; op < spec->n_operands; op++) {
    const double *sums = totals + op * N_SUMS;
    finish_count(&out->operand[op], sums);
    finish_count(spec->operands[op].is_output ? &out->store : &out->load, sums);
  }
  const double *shared = totals + spec->n_operands * N_SUMS;
  out->wavefronts_ld = llround(shared[SECTORS]);
  out->wavefronts_ld_ideal = llround(shared[IDEAL]);
  out->wavefronts_st = llround(shared[N_SUMS + SECTORS]);
  out->wavefronts_st_ideal = llround(shared[N_SUMS + IDEAL]);
}

static void count_block(counter *c, const counted_access *accesses, int n, int threads,
                        int64_t block, size_t n_sums) {
  memset(c->sums, 0, n_sums * sizeof *c->sums);
  for (int a = 0; a < n; a++) {
    if (set_inputs(c, accesses[a].access, NULL) != SCT_OK) {
      continue; /* it succeeded when the access was opened */
    }
    for (int64_t first = 0; first < threads; first += LANES) {
      c->values[1] = block;
      count_loops(c, &accesses[a], first);
    }
  }
}

sct_status sct_model_count(sct_counters *out, const sct_spec *spec, const sct_kernel_code *code,
                           const sct_size *size, int64_t max_blocks, sct_error *err) {
  *out = (sct_counters){.n_operands = spec->n_operands};
  const size_t n_sums = (size_t)(spec->n_operands + 2) * N_SUMS;
  counter c = {.spec = spec, .size = size, .sums = sct_alloc(n_sums * sizeof(double))};
  double *totals = sct_alloc(n_sums * sizeof *totals);
  counted_access *accesses = sct_alloc(sizeof *accesses * (size_t)(code->n_accesses + 1));
  out->operand = sct_alloc(sizeof *out->operand * (size_t)(spec->n_operands + 1));
  sct_status status = SCT_OK;
  int n_open = 0;
  if (!c.sums || !totals || !accesses || !out->operand) {
    SCT_TRY_DONE(sct_fail(err, SCT_ENOMEM, "out of memory"));
  }
  SCT_TRY_DONE(blocks_of(spec, code, size, &out->blocks, err));
  for (; n_open < code->n_accesses; n_open++) {
    status = open_access(&accesses[n_open], &c, &code->accesses[n_open], err);
    if (status != SCT_OK) {
      (void)sct_fail_prefix(err, status, "%s, access %d: ", code->kernel, n_open);
      n_open++;
      goto done;
    }
  }
  const int64_t most = max_blocks > 0 ? max_blocks : DEFAULT_BLOCKS;
  out->blocks_counted = out->blocks < most ? out->blocks : most < 3 ? 3 : most;
  if (out->blocks_counted > out->blocks) {
    out->blocks_counted = out->blocks;
  }
  for (int64_t k = 0; k < out->blocks_counted; k++) {
    count_block(&c, accesses, n_open, code->threads,
                sampled_block(k, out->blocks_counted, out->blocks), n_sums);
    for (size_t s = 0; s < n_sums; s++) {
      totals[s] += c.sums[s] * weight_of(k, out->blocks_counted, out->blocks);
    }
  }
  finish(out, spec, totals);
done:
  for (int a = 0; a < n_open; a++) {
    close_access(&accesses[a]);
  }
  sct_free(accesses);
  sct_free(totals);
  sct_free(c.sums);
  if (status != SCT_OK) {
    sct_counters_free(out);
  }
  return status;
}

void sct_counters_free(sct_counters *c) {
  sct_free(c->operand);
  *c = (sct_counters){0};
}
