/* measure_blocks - the counters of a whole kernel from some of its blocks, which run as PTX on the
 * CPU at the real extents. No check of verification is made again here: definedness bits and the
 * search for races cost more than the run itself.
 *
 * No array is there as a whole. Index arrays hold what they hold at this size, and are filled where
 * a block reaches them; of the others a few values stand for all, so that a run touches little
 * memory. Both are kept for the next candidate. */
#include "measure_blocks.h"
#include "measure_data.h"
#include "measure_ragged.h"
#include "model/model.h"
#include "ptx/ptx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BLOCKS  16 /* where they differ; else half as many do */
#define RAGGED_BLOCKS   40 /* where blocks have rows of random lengths: 8 rows are off by 20 % */
#define MOST_BLOCKS     64
#define MOST_SITES      8                   /* sizes and layouts whose arrays are kept */
#define MOST_FILLED     ((int64_t)64 << 20) /* bytes of index arrays that are kept */
#define WORKSPACE_BYTES ((int64_t)1 << 30)  /* the most a kernel may ask for */
#define MOST_BYTES      ((int64_t)1 << 34)  /* of an array */
#define FOLD_BYTES      16384               /* of an array that are there; it repeats */
#define MOST_WINDOWS    16
#define QUICK_BYTES     ((int64_t)1 << 25) /* of an index image where few steps are wanted */
#define MOST_STEPS      2000000            /* warp instructions of a block, at some 25 ns each */
#define LONG_STEPS      62500              /* a block that has more is counted at shorter extents */
#define LONG_ROWS       1000000 /* the same of ragged rows, which shorter launches tell little of */
#define ALL_STEPS       500000 /* of all blocks that run, but for the last; of ragged rows thrice */
#define SECTOR_BYTES    32
#define LEAST_PHASES    4  /* whatever arrays' rows say */
#define MOST_PHASES     16 /* of 2 bytes; single bytes may begin at more places */
#define N_COUNTS        6  /* of a sct_count */

/* The arrays of one size with one choice of layouts. */
typedef struct site {
  bool used;
  sct_site_key key;
  sct_ptx_memory *memory;
  uint64_t address[SCT_MAX_OPERANDS];
  uint64_t workspace; /* 0: no candidate has asked for one */
  sct_index_source source[SCT_MAX_OPERANDS];
  sct_spans *used_bytes[SCT_MAX_OPERANDS]; /* NULL: all are */
} site;

struct sct_block_counter {
  const sct_spec *spec;
  uint64_t seed;
  int max_shared_bytes;
  int64_t most_steps;
  site sites[MOST_SITES];
  int next; /* site to give up for another */
  sct_short_launches *shorter;
};

/* ---- what arrays hold ---- */

/* Does it matter what is in which element? */
static bool has_source(const sct_block_counter *s, const site *t, int op) {
  return op < s->spec->n_operands &&
         (s->spec->operands[op].is_index || t->key.fill[op] == SCT_FILL_PREFIX);
}

static void fill_zeros(void *ctx, uint8_t *out, int64_t offset, int64_t bytes) {
  (void)ctx;
  (void)out;
  (void)offset;
  (void)bytes;
}

/* Byte offset of the element at idx of an array. */
static int64_t offset_of(const sct_spec *spec, int op, int layout, const sct_size *size,
                         const int64_t *idx) {
  const sct_operand *operand = &spec->operands[op];
  sct_expr vars[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  int64_t values[SCT_MAX_DIMS + SCT_MAX_EXTENTS], offset = -1;
  int n = 0;
  for (int d = 0; d < operand->n_dims; d++, n++) {
    vars[n] = operand->index[d];
    values[n] = idx[d];
  }
  for (int k = 0; k < spec->n_extents; k++, n++) {
    vars[n] = spec->extent_var[k];
    values[n] = size->extent[k];
  }
  const sct_expr_env env = {vars, values, n};
  const sct_status status =
      sct_expr_eval(spec->pool, operand->layouts[layout].element[0], &env, &offset, NULL);
  return status == SCT_OK ? offset : -1;
}

/* Values like those of timing, and so many of them only: which ones an access finds does not
 * matter. */
static void fill_values(uint8_t out[FOLD_BYTES], const sct_block_counter *s, int op) {
  const sct_masks masks = sct_data_record_masks(&s->spec->operands[op].record);
  const uint64_t key = sct_data_key(s->seed, op, 0);
  for (size_t k = 0; k < FOLD_BYTES / sizeof(uint64_t); k++) {
    const uint64_t word = (sct_mix64(key, k) & masks.and_mask) | masks.or_mask;
    memcpy(out + k * sizeof word, &word, sizeof word);
  }
}

/* ---- sites ---- */

static void site_free(site *t) {
  sct_ptx_memory_free(t->memory);
  for (int op = 0; op < SCT_MAX_OPERANDS; op++) {
    sct_index_source_free(&t->source[op]);
    sct_spans_end(t->used_bytes[op]);
  }
  *t = (site){0};
}

static int64_t count_used(const void *ctx, int64_t offset, int64_t bytes) {
  return sct_spans_within(ctx, offset, bytes);
}

static sct_status add_array(const sct_block_counter *s, site *t, sct_shape *shape, int op,
                            const sct_size *size, sct_error *err) {
  const sct_operand *operand = &s->spec->operands[op];
  uint8_t values[FOLD_BYTES];
  sct_ptx_buffer buffer = {
      .name = operand->name, .bytes = shape->op[op].bytes, .read_only = !operand->is_output};
  t->used_bytes[op] = sct_spec_used_bytes(s->spec, op, shape->addressing->layout[op], size);
  buffer.used = t->used_bytes[op] != NULL ? count_used : NULL;
  buffer.used_ctx = t->used_bytes[op];
  if (has_source(s, t, op)) {
    const int64_t most = s->most_steps < MOST_STEPS ? QUICK_BYTES : MOST_BYTES;
    SCT_TRY(sct_index_source_init(&t->source[op], shape, op, most, err));
    buffer.fill = sct_index_source_fill;
    buffer.fill_ctx = &t->source[op];
  } else {
    fill_values(values, s, op);
    buffer.fold = FOLD_BYTES;
    buffer.data = values;
  }
  return sct_ptx_memory_add(t->memory, &t->address[op], &buffer, err);
}

static sct_status site_init(const sct_block_counter *s, site *t, const sct_size *size,
                            const int *layout, sct_error *err) {
  SCT_SCOPED(sct_addressing) addressing = {0};
  SCT_SCOPED(sct_shape) shape = {0};
  t->used = true;
  t->key = sct_site_of(s->spec, size, layout);
  SCT_TRY(sct_addressing_init(&addressing, s->spec, layout, s->seed, err));
  SCT_TRY(sct_shape_init(&shape, &addressing, size->extent, size->fill, err));
  sct_ptx_memory_new(&t->memory);
  for (int op = 0; op < s->spec->n_operands; op++) {
    SCT_TRY(add_array(s, t, &shape, op, size, err));
  }
  return SCT_OK;
}

static sct_status find_site(sct_block_counter *s, site **out, const sct_size *size,
                            const int *layout, sct_error *err) {
  const sct_site_key wanted = sct_site_of(s->spec, size, layout);
  for (int k = 0; k < MOST_SITES; k++) {
    *out = &s->sites[k];
    if (s->sites[k].used && sct_sites_equal(&s->sites[k].key, &wanted)) {
      return SCT_OK;
    }
  }
  site *const t = *out = &s->sites[s->next];
  s->next = (s->next + 1) % MOST_SITES;
  site_free(t);
  const sct_status status = site_init(s, t, size, layout, err);
  if (status != SCT_OK) {
    site_free(t);
  }
  return status;
}

/* Gives back what blocks at other places have filled, and zeroes a workspace. */
static sct_status refresh(const sct_block_counter *s, site *t, bool workspace, sct_error *err) {
  int64_t filled = 0;
  for (int op = 0; op < s->spec->n_operands; op++) {
    filled += sct_ptx_memory_filled(t->memory, t->address[op]);
  }
  for (int op = 0; op < s->spec->n_operands && filled > MOST_FILLED; op++) {
    sct_ptx_memory_reset(t->memory, t->address[op], NULL);
  }
  if (workspace && t->workspace != 0) {
    sct_ptx_memory_reset(t->memory, t->workspace, NULL);
  } else if (workspace) {
    const sct_ptx_buffer buffer = {
        .name = "workspace", .bytes = WORKSPACE_BYTES, .fill = fill_zeros};
    SCT_TRY(sct_ptx_memory_add(t->memory, &t->workspace, &buffer, err));
  }
  return SCT_OK;
}

/* ---- launches ---- */

/* What a block did, and what all blocks together do. */
enum {
  STEPS = SCT_FIGURE_STEPS,
  SECTORS = SCT_FIGURE_SECTORS, /* of loads and stores */
  EXCESS = SCT_FIGURE_EXCESS,
  CHAIN = SCT_FIGURE_CHAIN,
  SHUFFLES = SCT_FIGURE_COUNTS,
  CONSTANT_WORDS,
  WAVEFRONTS,
  MACHINE = WAVEFRONTS + 4,
  LOAD = MACHINE + SCT_N_PIPES,
  STORE = LOAD + N_COUNTS,
  BULK = STORE + N_COUNTS,
  OPERANDS = BULK + N_COUNTS,
  /* of an operand */
  MOVED = 0,
  STORED = MOVED + N_COUNTS,
  ATOMIC_TURNS = STORED + N_COUNTS,
  N_OF_OPERAND
};

/* The last figures: an operand's sectors that were near, and those that its block had loaded
 * before, which no line through launches gives. */
static int near_of(const sct_spec *spec, int op) {
  return OPERANDS + N_OF_OPERAND * spec->n_operands + op;
}

static int again_of(const sct_spec *spec, int op) {
  return near_of(spec, spec->n_operands) + op;
}

typedef struct job {
  const sct_block_counter *s;
  const sct_kernel_code *code;
  const site *site;
  const sct_size *size;
  sct_ptx_launch_opts opts;
  uint64_t values[SCT_MAX_ARGS][2];
  int bytes[SCT_MAX_ARGS]; /* of the values */
  int array[SCT_MAX_ARGS]; /* whose address the value is: an operand; n_operands: the workspace;
                              -1: none */
  const void *args[SCT_MAX_ARGS];
  int64_t n_blocks; /* of a pass */
  int pass, passes; /* of a sequence of launches: the current one, and how many there are */
  int n_figures;
  int unit;          /* blocks that are sampled together: one of each window of an array */
  double *out;       /* of the units that run */
  bool sums;         /* `out` is one for all of them */
  sct_chain longest; /* of all blocks that ran */
  sct_ragged_rows
      rows; /* of blocks that have some, one after the other; fill NULL: they have none */
  int64_t n_run, steps_left;
  bool too_long; /* a block had more steps than it may */
  struct {
    double tags;        /* of the current launch */
    double met, others; /* requests of other blocks on the line of a request; in all */
  } atomics[SCT_MAX_OPERANDS];
} job;

static void set_arguments(job *j, const sct_size *size) {
  const sct_spec *spec = j->s->spec;
  sct_param params[SCT_MAX_ARGS];
  int n = sct_code_params(params, spec, j->code);
  const sct_scalar_values scalars = {.spec = spec, .seed = j->s->seed};
  for (int k = 0; k < n; k++) {
    j->array[k] = params[k].kind == SCT_PARAM_ARRAY ? params[k].number : -1;
    j->bytes[k] = (int)sizeof j->values[k][0];
    if (j->array[k] >= 0) {
      j->values[k][0] = j->site->address[j->array[k]];
    } else {
      j->bytes[k] = sct_code_value((uint8_t *)j->values[k], &scalars, &params[k], size->extent);
    }
  }
  if (j->code->workspace_bytes > 0) {
    j->array[n] = spec->n_operands;
    j->bytes[n] = (int)sizeof j->values[n][0];
    j->values[n++][0] = j->site->workspace;
  }
  if (j->code->passes > 0) { /* the interpreter numbers them */
    j->array[n] = -1;
    j->bytes[n++] = (int)sizeof(int);
  }
  for (int k = 0; k < n; k++) {
    j->args[k] = j->values[k];
  }
  j->opts.args = j->args;
  j->opts.n_args = n;
  j->opts.passes = j->code->passes;
}

static void add(double *sum, const sct_ptx_global *g) {
  const int64_t fields[N_COUNTS] = {g->requests, g->sectors,        g->sectors_ideal,
                                    g->tags,     g->distinct_bytes, g->contiguous_bytes};
  for (int k = 0; k < N_COUNTS; k++) {
    sum[k] += (double)fields[k];
  }
}

static void add_operand(job *j, double *out, int op) {
  const sct_ptx_buffer_counters of = sct_ptx_memory_counts(j->site->memory, j->site->address[op]);
  double *const each = out + OPERANDS + N_OF_OPERAND * op;
  add(each + MOVED, &of.load);
  add(each + MOVED, &of.store);
  add(each + MOVED, &of.atomics);
  add(each + STORED, &of.store);
  add(each + STORED, &of.atomics); /* what is accumulated is stored so */
  add(out + STORE, &of.atomics);
  each[ATOMIC_TURNS] += (double)of.atomic_turns;
  out[near_of(j->s->spec, op)] += (double)of.near_sectors;
  out[again_of(j->s->spec, op)] += (double)of.again_sectors;
  j->atomics[op].met += 2.0 * (double)of.meetings;
  j->atomics[op].tags += (double)of.atomic_slices;
}

static bool is_longer(sct_chain a, sct_chain b) {
  return a.cycles + a.loads > b.cycles + b.loads;
}

static void add_chain(job *j, double *out, int64_t i, const sct_ptx_chain *chain) {
  const sct_chain of = {(double)chain->cycles, (double)chain->loads, (double)chain->near};
  out[CHAIN] += of.cycles;
  out[CHAIN + 1] += of.loads;
  out[CHAIN + 2] += of.near;
  j->longest = is_longer(of, j->longest) ? of : j->longest;
  if (j->rows.fill != NULL && j->opts.blocks != NULL) {
    sct_ragged_add(&j->rows, j->opts.blocks[i], of);
  }
}

static bool add_block(void *ctx, int64_t i, const sct_ptx_counters *c) {
  job *const j = ctx;
  const sct_ptx_shared *atomics = &c->shared_atomics;
  double *const out = j->sums ? j->out : j->out + i / j->unit * j->n_figures;
  if (!j->sums && i % j->unit == 0) {
    memset(out, 0, sizeof *out * (size_t)j->n_figures);
  }
  out[STEPS] += (double)c->warp_instructions;
  add_chain(j, out, i, &c->chain);
  for (int p = 0; p < SCT_N_PIPES; p++) {
    out[MACHINE + p] += (double)c->machine.n[p];
  }
  out[SHUFFLES] += (double)c->shuffles;
  out[CONSTANT_WORDS] += (double)c->constant_words;
  out[WAVEFRONTS] += (double)c->shared_load.wavefronts;
  out[WAVEFRONTS + 1] += (double)c->shared_load.wavefronts_ideal;
  out[WAVEFRONTS + 2] += (double)(c->shared_store.wavefronts + atomics->wavefronts);
  out[WAVEFRONTS + 3] += (double)(c->shared_store.wavefronts_ideal + atomics->wavefronts_ideal);
  add(out + LOAD, &c->load);
  add(out + LOAD, &c->bulk_load);
  add(out + BULK, &c->bulk_load);
  add(out + STORE, &c->store);
  add(out + STORE, &c->bulk_store);
  for (int op = 0; op < j->s->spec->n_operands; op++) {
    add_operand(j, out, op);
  }
  out[SECTORS] = out[LOAD + 1] + out[STORE + 1];
  out[EXCESS] = out[SECTORS] - (out[LOAD + 5] + out[STORE + 5]) / SECTOR_BYTES;
  j->n_run++;
  j->steps_left -= c->warp_instructions;
  return j->steps_left > 0;
}

/* Requests of two blocks of the launch that could have met. */
static void end_atomics(job *j) {
  for (int op = 0; op < j->s->spec->n_operands; op++) {
    const double tags = j->atomics[op].tags;
    j->atomics[op].others += j->n_run > 0 ? tags * tags * (1.0 - 1.0 / (double)j->n_run) : 0;
    j->atomics[op].tags = 0;
  }
}

static sct_status run_blocks(void *ctx, double *out, int64_t *n_run, const int64_t *blocks,
                             int64_t n, int64_t most_steps, sct_error *err) {
  job *const j = ctx;
  SCT_SCOPED(sct_ptx_result) result = {0};
  SCT_SCOPED(sct_str) text = {0};
  *n_run = 0;
  if (n == 0) {
    return SCT_OK;
  }
  SCT_OWNED int64_t *of_units = sct_alloc(sizeof *of_units * (size_t)(n * j->unit));
  for (int64_t k = 0; k < n * j->unit; k++) {
    of_units[k] =
        j->pass * j->n_blocks + blocks[k / j->unit] + k % j->unit * (j->n_blocks / j->unit);
  }
  j->opts.blocks = of_units;
  j->opts.n_blocks = n * j->unit;
  j->out = out;
  j->n_run = 0;
  j->steps_left = most_steps;
  SCT_TRY(sct_ptx_launch(&result, j->site->memory, &j->opts, err));
  end_atomics(j);
  *n_run = j->n_run / j->unit;
  const bool too_long = result.diag.kind == SCT_PTX_STEP_LIMIT;
  const bool longest = j->n_run > 0 && sct_spec_is_ragged(j->s->spec); /* those before tell of it */
  j->too_long = too_long && !longest;
  if (result.diag.kind != SCT_PTX_CLEAN && !(too_long && longest)) {
    sct_ptx_diag_print(&text, &result.diag);
    return sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&text));
  }
  return SCT_OK;
}

/* Every block of a pass, however many. */
static sct_status run_all(job *j, sct_grid_sums *out, sct_error *err) {
  SCT_OWNED int64_t *blocks = sct_alloc(sizeof *blocks * (size_t)j->n_blocks + 1);
  *out = (sct_grid_sums){.figures = sct_alloc(sizeof *out->figures * (size_t)j->n_figures),
                         .blocks_run = j->n_blocks};
  for (int64_t k = 0; k < j->n_blocks; k++) {
    blocks[k] = k;
  }
  j->sums = true;
  int64_t n_run = 0;
  const sct_status status =
      run_blocks(j, out->figures, &n_run, blocks, j->n_blocks, INT64_MAX, err);
  if (status != SCT_OK) {
    sct_free(out->figures);
  }
  return status;
}

/* What another pass does is added. */
static void add_pass(sct_grid_sums *all, const sct_grid_sums *pass, int n_figures) {
  if (all->figures == NULL) {
    *all = *pass;
    return;
  }
  const double before = all->figures[SECTORS], more = pass->figures[SECTORS];
  const double share = before + more > 0.0 ? more / (before + more) : 0.0;
  all->error += share * (pass->error - all->error);
  all->excess_error += share * (pass->excess_error - all->excess_error);
  all->blocks_run += pass->blocks_run;
  for (int k = 0; k < n_figures; k++) {
    all->figures[k] += pass->figures[k];
  }
  sct_free(pass->figures);
}

static double work_before(void *ctx, int64_t block) {
  return sct_ragged_before(&((job *)ctx)->rows, block);
}

/* ---- counters ---- */

static sct_count rounded(const double *sum) {
  return (sct_count){.requests = llround(sum[0]),
                     .sectors = llround(sum[1]),
                     .sectors_ideal = llround(sum[2]),
                     .tags = llround(sum[3]),
                     .distinct_bytes = llround(sum[4]),
                     .contiguous_bytes = llround(sum[5])};
}

/* Requests of two blocks meet as often as the squares of the slices' shares add up to, however few
 * of them ran: the share of all that come to the slice of a usual one. */
static void set_atomics(sct_counters *out, const sct_launch_sums *sums) {
  for (int op = 0; op < out->n_operands; op++) {
    const double *const of = sums->all.figures + OPERANDS + N_OF_OPERAND * op;
    const double turns = of[ATOMIC_TURNS], share = sums->met[op];
    if (llround(share * turns) > out->line_lanes) {
      out->line_lanes = llround(share * turns);
      out->line_requests = llround(share * of[MOVED + 3]);
    }
  }
}

static void make_counters(sct_counters *out, const sct_spec *spec, const sct_launch_sums *sums) {
  const double *const all = sums->all.figures;
  const int n = spec->n_operands;
  *out = (sct_counters){.load = rounded(all + LOAD),
                        .store = rounded(all + STORE),
                        .bulk_load = rounded(all + BULK),
                        .operand = sct_alloc(sizeof *out->operand * (size_t)(n + 1)),
                        .stored = sct_alloc(sizeof *out->stored * (size_t)(n + 1)),
                        .n_operands = n,
                        .wavefronts_ld = llround(all[WAVEFRONTS]),
                        .wavefronts_ld_ideal = llround(all[WAVEFRONTS + 1]),
                        .wavefronts_st = llround(all[WAVEFRONTS + 2]),
                        .wavefronts_st_ideal = llround(all[WAVEFRONTS + 3]),
                        .shuffles = llround(all[SHUFFLES]),
                        .constant_words = llround(all[CONSTANT_WORDS]),
                        .blocks_counted = sums->all.blocks_run,
                        .blocks = sums->n_blocks,
                        .error = sums->all.error,
                        .excess_error = sums->all.excess_error,
                        .longest = sums->longest};
  const double blocks = sums->n_blocks > 0 ? (double)sums->n_blocks : 1.0;
  out->chain = (sct_chain){all[CHAIN] / blocks, all[CHAIN + 1] / blocks, all[CHAIN + 2] / blocks};
  memcpy(out->machine, all + MACHINE, sizeof out->machine);
  for (int op = 0; op < n; op++) {
    out->operand[op] = rounded(all + OPERANDS + N_OF_OPERAND * op + MOVED);
    out->operand[op].near = llround(all[near_of(spec, op)]);
    out->operand[op].again = llround(all[again_of(spec, op)]);
    out->stored[op] = rounded(all + OPERANDS + N_OF_OPERAND * op + STORED);
  }
  set_atomics(out, sums);
}

/* ---- the block_counter ---- */

void sct_block_counter_new(sct_block_counter **out, const sct_spec *spec,
                           const sct_device_desc *device, uint64_t seed, int64_t most_steps) {
  *out = sct_alloc(sizeof **out);
  sct_memory_keep_pages();
  (*out)->spec = spec;
  (*out)->seed = seed;
  (*out)->max_shared_bytes = (int)device->smem_block_optin_bytes;
  (*out)->most_steps = most_steps > 0 ? most_steps : MOST_STEPS;
}

void sct_block_counter_free(sct_block_counter *s) {
  for (int k = 0; s != NULL && k < MOST_SITES; k++) {
    site_free(&s->sites[k]);
  }
  sct_short_launches_free(s != NULL ? s->shorter : NULL);
  sct_free(s);
}

sct_short_launches **sct_blocks_shorter(sct_block_counter *s) {
  return &s->shorter;
}

/* For the interpreter's memory. */
static bool is_too_large(const sct_spec *spec, const sct_kernel_code *code, const sct_size *size) {
  bool large = false;
  for (int op = 0; op < spec->n_operands; op++) {
    large = large || sct_spec_bytes(spec, op, code->layout[op], size) > MOST_BYTES;
  }
  return large;
}

static sct_status open_job(sct_block_counter *s, job *j, const sct_counted_kernel *of,
                           const sct_size *size, sct_error *err) {
  const sct_spec *spec = s->spec;
  const sct_kernel_code *code = of->code;
  const sct_expr_env env = {spec->extent_var, size->extent, spec->n_extents};
  int64_t n_blocks = 0;
  site *t = NULL;
  if (is_too_large(spec, code, size)) {
    return sct_fail(err, SCT_ESPEC, "an array of more than 16 GiB");
  }
  SCT_TRY(sct_expr_eval(spec->pool, code->grid, &env, &n_blocks, err));
  SCT_TRY(find_site(s, &t, size, code->layout, err));
  SCT_TRY(refresh(s, t, code->workspace_bytes > 0, err));
  const int block_y = code->block[1] > 0 ? code->block[1] : 1;
  const int block_z = code->block[2] > 0 ? code->block[2] : 1;
  int yz[2];
  sct_code_grid_yz(yz, spec, code, size->extent);
  *j = (job){.s = s,
             .code = code,
             .site = t,
             .size = size,
             .n_blocks = n_blocks > 0 ? n_blocks : 0,
             .passes = code->passes > 0 ? code->passes : 1,
             .unit = 1,
             .n_figures = again_of(spec, spec->n_operands),
             .opts = {.module = of->module,
                      .kernel = of->entry,
                      .grid = {n_blocks / yz[0] / yz[1], yz[0], yz[1]},
                      .block = {code->threads / block_y / block_z, block_y, block_z},
                      .shared_bytes = code->shared_bytes,
                      .max_steps = s->most_steps,
                      .max_shared_bytes = s->max_shared_bytes,
                      .no_definedness = true,
                      .no_races = true,
                      .per_buffer = true,
                      .chains = true}};
  const sct_ragged *const ragged = &spec->ragged;
  if (sct_spec_is_ragged(spec) && size->extent[ragged->dim] > 0) {
    sct_ragged_rows_init(&j->rows, &t->source[ragged->offsets].fill, size->extent[ragged->row],
                         size->extent[ragged->dim], j->n_blocks);
  }
  set_arguments(j, size);
  return SCT_OK;
}

/* Rows after which where they begin in a sector repeats: of all arrays, along all dimensions but
 * the one whose elements are nearest. What is in arrays may matter too. */
static int phases(const job *j) {
  const sct_spec *const spec = j->s->spec;
  int64_t most = j->code->indexed ? MOST_PHASES / 2 : LEAST_PHASES;
  for (int op = 0; op < spec->n_operands; op++) {
    int64_t idx[SCT_MAX_DIMS] = {0}, nearest = INT64_MAX, all = 0;
    const int64_t origin = offset_of(spec, op, j->code->layout[op], j->size, idx);
    for (int d = 0; d < spec->operands[op].n_dims; d++) {
      idx[d] = 1;
      const int64_t step = llabs(offset_of(spec, op, j->code->layout[op], j->size, idx) - origin);
      idx[d] = 0;
      all |= step < nearest ? (nearest == INT64_MAX ? 0 : nearest) : step;
      nearest = step < nearest ? step : nearest;
    }
    const int64_t twos = all & -all;
    most = twos > 0 && SECTOR_BYTES / twos > most ? SECTOR_BYTES / twos : most;
  }
  return (int)(most < MOST_PHASES ? most : MOST_PHASES);
}

/* Blocks of one tile that go by what index arrays hold, each through another window, have the work
 * of one together, in whichever of them it is. */
static void join_windows(sct_grid *grid, job *j) {
  if (j->code->indexed && grid->n_tiles == 2 && grid->tiles[1] <= MOST_WINDOWS) {
    j->unit = (int)grid->tiles[1];
    grid->n_blocks = grid->tiles[0];
    grid->n_tiles = 1;
  }
}

/* What a plan says of its grid, or the sides of one of the user's kernels. */
static void set_tiles(sct_grid *grid, const job *j) {
  const sct_spec *const spec = j->s->spec;
  const sct_expr_env env = {spec->extent_var, j->size->extent, spec->n_extents};
  const bool is_own = j->code->n_params > 0;
  int64_t product = 1;
  for (int k = 0; k < (is_own ? 3 : j->code->n_tiles); k++) {
    int64_t n = is_own ? j->opts.grid[k] : 0;
    if (!is_own && sct_expr_eval(spec->pool, j->code->tiles[k], &env, &n, NULL) != SCT_OK) {
      n = 0;
    }
    product *= n;
    if (n > 1) {
      grid->tiles[grid->n_tiles++] = n;
    }
  }
  grid->n_tiles = product == j->n_blocks ? grid->n_tiles : 0;
}

/* The roundest number of elements of which n_blocks blocks hold n. */
static int64_t elements_of_block(int64_t n, int64_t n_blocks) {
  const int64_t least = (n + n_blocks - 1) / n_blocks, most = (n - 1) / (n_blocks - 1);
  for (int bit = 62; bit > 0; bit--) {
    const int64_t round = most >> bit << bit;
    if (round >= least) {
      return round;
    }
  }
  return least <= most ? most : 0;
}

/* Where blocks follow each other along the elements of an output, some may hold the end of a row of
 * it, or one more than others: of the shortest rows that are longer than a block, else of the
 * longest. */
static void set_rows(sct_grid *grid, const job *j) {
  const sct_spec *const spec = j->s->spec;
  const sct_operand *const out = &spec->operands[spec->n_inputs];
  const sct_expr_env env = {spec->extent_var, j->size->extent, spec->n_extents};
  int64_t row[SCT_MAX_DIMS], n = 1;
  for (int d = out->n_dims - 1; d >= 0; d--) {
    int64_t extent = 0;
    if (sct_expr_eval(spec->pool, out->extent[d], &env, &extent, NULL) != SCT_OK || extent <= 0) {
      return;
    }
    row[d] = n;
    n *= extent;
  }
  const int64_t tile = n > 1 && grid->n_blocks > 1 ? elements_of_block(n, grid->n_blocks) : 0;
  for (int d = out->n_dims - 2; d >= 0 && tile > 0 && grid->row <= tile; d--) {
    if (row[d] % tile != 0 && tile % row[d] != 0) {
      grid->tile = tile;
      grid->row = row[d];
    }
  }
}

/* Sectors of the workspace, by all. The block that comes last reads what all others left there, and
 * of some of many blocks none comes last. */
static double workspace_share(const sct_spec *spec, const double *figures) {
  double others = figures[SECTORS];
  for (int op = 0; op < spec->n_operands; op++) {
    others -= figures[OPERANDS + N_OF_OPERAND * op + MOVED + 1];
  }
  return figures[SECTORS] > 0 ? fmax(others, 0) / figures[SECTORS] : 0;
}

static double met_share(const job *j, int op) {
  return j->atomics[op].others > 0.0 ? j->atomics[op].met / j->atomics[op].others : 0.0;
}

sct_status sct_blocks_count(sct_block_counter *s, sct_launch_sums *out,
                            const sct_counted_kernel *kernel, const sct_size *size,
                            int64_t most_blocks, int64_t most_steps, bool *too_long,
                            sct_error *err) {
  job j;
  *too_long = is_too_large(s->spec, kernel->code, size);
  SCT_TRY(open_job(s, &j, kernel, size, err));
  j.opts.max_steps = most_steps;
  j.opts.block_done = add_block;
  j.opts.block_ctx = &j;
  const bool by_rows = j.rows.fill != NULL;
  sct_grid grid = {.n_blocks = j.n_blocks,
                   .n_phases = phases(&j),
                   .work_before = by_rows ? work_before : NULL,
                   .most_blocks = most_blocks,
                   .most_steps = by_rows ? 3 * ALL_STEPS : ALL_STEPS,
                   .n_figures = j.n_figures,
                   .run = run_blocks,
                   .ctx = &j};
  const bool all = most_blocks == SCT_ALL_BLOCKS;
  if (!all) {
    set_tiles(&grid, &j);
    join_windows(&grid, &j);
    set_rows(&grid, &j);
  }
  sct_status status = SCT_OK;
  for (; j.pass < j.passes && status == SCT_OK; j.pass++) {
    sct_grid_sums pass = {0};
    status = all ? run_all(&j, &pass, err) : sct_grid_sample(&pass, &grid, err);
    if (status == SCT_OK) {
      add_pass(&out->all, &pass, j.n_figures);
    }
  }
  if (status != SCT_OK) {
    sct_free(out->all.figures);
    out->all.figures = NULL;
  }
  out->all.blocks_run *= j.unit;
  *too_long = j.too_long;
  const bool has_last = kernel->code->workspace_bytes > 0 && j.passes == 1;
  if (status == SCT_OK && has_last && out->all.blocks_run < j.n_blocks) {
    out->all.error += workspace_share(s->spec, out->all.figures);
    out->all.excess_error += workspace_share(s->spec, out->all.figures);
  }
  out->n_blocks = j.passes * j.n_blocks;
  out->longest = by_rows ? sct_ragged_longest(&j.rows, j.longest) : j.longest;
  out->n_figures = j.n_figures;
  out->end_counts = near_of(s->spec, 0);
  for (int op = 0; op < s->spec->n_operands; op++) {
    out->met[op] = met_share(&j, op);
  }
  return status;
}

static int64_t blocks_wanted(const sct_block_counter *s, int64_t max_blocks) {
  return max_blocks > 0 ? max_blocks : sct_spec_is_ragged(s->spec) ? RAGGED_BLOCKS : DEFAULT_BLOCKS;
}

sct_status sct_block_counter_count(sct_block_counter *s, sct_counters *out,
                                   const sct_kernel_code *code, const sct_ptx_module *module,
                                   const char *entry, const sct_size *size, int64_t max_blocks,
                                   sct_error *err) {
  const sct_counted_kernel kernel = {code, module, entry};
  const int64_t most = blocks_wanted(s, max_blocks);
  const bool all = most == SCT_ALL_BLOCKS;
  const int64_t longest = sct_spec_is_ragged(s->spec) ? LONG_ROWS : LONG_STEPS;
  const int64_t few = longest < s->most_steps ? longest : s->most_steps;
  sct_launch_sums sums = {0};
  bool too_long = false;
  sct_status status =
      sct_blocks_count(s, &sums, &kernel, size, most, all ? s->most_steps : few, &too_long, err);
  if (too_long && !all) {
    status = sct_fit_count(s, &sums, s->spec, &kernel, size, most, s->most_steps, err);
    if (status != SCT_OK) {
      status = sct_blocks_count(s, &sums, &kernel, size, most, s->most_steps, &too_long, err);
    }
  }
  if (status == SCT_OK) {
    make_counters(out, s->spec, &sums);
  }
  sct_free(sums.all.figures);
  return status;
}

/* Number k of n blocks of all: both ends, and one at random of each of n - 2 equal parts, as at
 * even distances layouts could fall in step. */
static int64_t profiled_block(int64_t all, int64_t n, int64_t k) {
  if (n == all || k == 0) {
    return k;
  }
  if (k == n - 1) {
    return all - 1;
  }
  const int64_t part = (all - 2) / (n - 2), rest = (all - 2) % (n - 2);
  const int64_t from = 1 + (k - 1) * part + (k - 1) * rest / (n - 2);
  return from + (int64_t)(sct_mix64(0, (uint64_t)k) % (uint64_t)part);
}

sct_status sct_block_counter_profile(sct_block_counter *s, sct_ptx_result *out,
                                     sct_partial_launch *launch, const sct_kernel_code *code,
                                     const sct_ptx_module *module, const char *entry,
                                     const sct_size *size, int64_t max_blocks,
                                     const sct_ptx_cache_sizes *caches, const sct_ptx_watch *watch,
                                     sct_error *err) {
  const sct_counted_kernel kernel = {code, module, entry};
  int64_t block[MOST_BLOCKS];
  job j;
  SCT_TRY(open_job(s, &j, &kernel, size, err));
  const int64_t wanted = blocks_wanted(s, max_blocks), room = MOST_BLOCKS / j.passes;
  const int64_t most = wanted < room ? (wanted < 3 ? 3 : wanted) : room;
  const int64_t n = j.n_blocks < most ? j.n_blocks : most;
  const bool all = max_blocks == SCT_ALL_BLOCKS;
  for (int64_t k = 0; k < j.passes * n; k++) {
    block[k] = k / n * j.n_blocks + profiled_block(j.n_blocks, n, k % n);
  }
  *launch = (sct_partial_launch){.blocks = j.passes * j.n_blocks,
                                 .blocks_run = j.passes * (all ? j.n_blocks : n),
                                 .passes = j.passes};
  memcpy(launch->grid, j.opts.grid, sizeof launch->grid);
  memcpy(launch->block, j.opts.block, sizeof launch->block);
  j.opts.blocks = all ? NULL : block;
  j.opts.n_blocks = all ? 0 : j.passes * n;
  j.opts.per_instruction = true;
  j.opts.caches = caches;
  j.opts.watch = watch;
  j.opts.max_steps = 0;
  return sct_ptx_launch(out, j.site->memory, &j.opts, err);
}

/* ---- a launch in a file */

/* What array `op` holds, as the interpreter has it; `*held` bytes, which repeat in it. */
static void *contents_of(const sct_block_counter *s, site *t, int op, int64_t bytes,
                         int64_t *held) {
  const bool all = has_source(s, t, op);
  *held = all ? bytes : FOLD_BYTES;
  uint8_t *const out = sct_alloc((size_t)*held + 1);
  if (all) {
    sct_index_source_fill(&t->source[op], out, 0, bytes);
  } else if (op < s->spec->n_operands) {
    fill_values(out, s, op);
  }
  return out;
}

static sct_status write_job(const sct_block_counter *s, const job *j, site *t, const sct_size *size,
                            sct_launches *out, const char *path, sct_error *err) {
  const int n_arrays = s->spec->n_operands + 1;
  sct_launch_param params[SCT_MAX_ARGS];
  sct_launch_pointer pointers[SCT_MAX_ARGS];
  sct_launch_array arrays[SCT_MAX_OPERANDS + 1] = {0};
  void *contents[SCT_MAX_OPERANDS + 1] = {0};
  sct_launch_case one = {.entry = j->opts.kernel,
                         .grid = j->opts.grid,
                         .n_grid = 3,
                         .block = j->opts.block,
                         .n_block = 3,
                         .shared_bytes = j->opts.shared_bytes,
                         .params = params,
                         .n_params = j->opts.n_args,
                         .pointers = pointers};
  for (int op = 0; op < n_arrays; op++) {
    arrays[op].bytes = op < s->spec->n_operands
                           ? sct_spec_bytes(s->spec, op, j->code->layout[op], size)
                           : j->code->workspace_bytes;
    contents[op] = contents_of(s, t, op, arrays[op].bytes, &arrays[op].held);
  }
  for (int k = 0; k < j->opts.n_args; k++) {
    params[k] = (sct_launch_param){.bytes = j->args[k], .n_bytes = j->bytes[k]};
    if (j->array[k] >= 0) {
      pointers[one.n_pointers++] = (sct_launch_pointer){.param = k, .array = j->array[k]};
    }
  }
  out->arrays = arrays;
  out->n_arrays = n_arrays;
  out->cases = &one;
  out->n_cases = 1;
  const sct_status status = sct_launches_write(path, out, (const void *const *)contents, err);
  for (int op = 0; op < n_arrays; op++) {
    sct_free(contents[op]);
  }
  return status;
}

sct_status sct_block_counter_launches(sct_block_counter *s, const sct_kernel_code *code,
                                      const sct_ptx_module *module, const char *entry,
                                      const sct_size *size, const sct_launches *on,
                                      const char *path, sct_error *err) {
  const sct_counted_kernel kernel = {code, module, entry};
  job j;
  site *t = NULL;
  sct_launches out = *on;
  SCT_TRY(open_job(s, &j, &kernel, size, err));
  SCT_TRY(find_site(s, &t, size, code->layout, err));
  return write_job(s, &j, t, size, &out, path, err);
}
