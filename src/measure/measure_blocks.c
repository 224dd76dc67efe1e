/* measure_blocks - the counters of a whole kernel from some of its blocks, which run as PTX on the
 * CPU at the real extents. No check of verification is made again here: definedness bits and the
 * search for races cost more than the run itself.
 *
 * No array is there as a whole. Index arrays hold what they hold at this size, and are filled where
 * a block reaches them; of the others a few values stand for all, so that a run touches little
 * memory. Both are kept for the next candidate. */
#include "measure_data.h"
#include "model/model.h"
#include "ptx/ptx.h"

#include <math.h>
#include <string.h>

#define LANES           32
#define DEFAULT_BLOCKS  8
#define RAGGED_BLOCKS   40 /* where blocks have rows of random lengths: 8 rows are off by 20 % */
#define MOST_BLOCKS     64
#define MOST_SITES      8                   /* sizes and layouts whose arrays are kept */
#define MOST_FILLED     ((int64_t)64 << 20) /* bytes of index arrays that are kept */
#define WORKSPACE_BYTES ((int64_t)1 << 30)  /* the most a kernel may ask for */
#define MOST_BYTES      ((int64_t)1 << 34)  /* of an array */
#define FOLD_BYTES      16384               /* of an array that are there; it repeats */
#define DENSE_TRIES     64                  /* elements of an index array that are looked at */
/* Warp instructions of one block, at some 25 ns each. Half as many are enough of the blocks between
 * the ends, unless there is only one. */
#define MOST_STEPS 2000000

/* What fills an index array, or a mask. */
typedef struct source {
  sct_index_fill fill;
  int64_t bytes;  /* of an element, if they lie one after the other */
  uint8_t *image; /* else the whole array */
} source;

/* The arrays of one size with one choice of layouts. */
typedef struct site {
  bool used;
  int64_t extent[SCT_MAX_EXTENTS];
  sct_fill fill[SCT_MAX_OPERANDS];
  int layout[SCT_MAX_OPERANDS];
  sct_ptx_memory *memory;
  uint64_t address[SCT_MAX_OPERANDS];
  uint64_t workspace; /* 0: no candidate has asked for one */
  source source[SCT_MAX_OPERANDS];
  sct_spans *used_bytes[SCT_MAX_OPERANDS]; /* NULL: all are */
} site;

struct sct_block_counter {
  const sct_spec *spec;
  uint64_t seed;
  int max_shared_bytes;
  int64_t most_steps;
  site sites[MOST_SITES];
  int next; /* site to give up for another */
};

/* ---- what arrays hold ---- */

/* Does it matter what is in which element? */
static bool has_source(const sct_block_counter *s, const site *t, int op) {
  return op < s->spec->n_operands &&
         (s->spec->operands[op].is_index || t->fill[op] == SCT_FILL_PREFIX);
}

static void fill_index(void *ctx, uint8_t *out, int64_t offset, int64_t bytes) {
  const source *from = ctx;
  if (from->image != NULL) {
    memcpy(out, from->image + offset, (size_t)bytes);
    return;
  }
  for (int64_t at = 0; at < bytes; at += from->bytes) {
    const int64_t value = sct_index_fill_value(&from->fill, (offset + at) / from->bytes);
    memcpy(out + at, &value, (size_t)from->bytes);
  }
}

static void fill_zeros(void *ctx, uint8_t *out, int64_t offset, int64_t bytes) {
  (void)ctx;
  (void)out;
  (void)offset;
  (void)bytes;
}

/* Byte offset of the element at idx of an index array. */
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

/* Is the index array nothing but one element after the other? Its elements share no byte, so where
 * it has no other bytes, some of them tell. */
static bool is_dense(const sct_spec *spec, int op, int layout, const sct_shape *shape,
                     const sct_size *size) {
  const int n_dims = spec->operands[op].n_dims;
  const int64_t each = spec->operands[op].record.fields[0].bytes, count = shape->op[op].count;
  bool dense = shape->op[op].bytes == each * count;
  for (int k = 0; k < DENSE_TRIES && dense && count > 0; k++) {
    const int64_t linear =
        k < 2 ? k % count : (int64_t)(sct_mix64(0, (uint64_t)k) % (uint64_t)count);
    int64_t idx[SCT_MAX_DIMS], left = linear;
    for (int d = n_dims - 1; d >= 0; d--) {
      idx[d] = left % shape->op[op].extent[d];
      left /= shape->op[op].extent[d];
    }
    dense = offset_of(spec, op, layout, size, idx) == each * linear;
  }
  return dense;
}

static sct_status set_source(source *out, const sct_block_counter *s, sct_shape *shape, int op,
                             const sct_size *size, sct_error *err) {
  *out = (source){.fill = sct_spec_index_fill(s->spec, op, size),
                  .bytes = s->spec->operands[op].record.fields[0].bytes};
  if (is_dense(s->spec, op, shape->addressing->layout[op], shape, size)) {
    return SCT_OK;
  }
  sct_shape_index(shape);
  return sct_image_input(&out->image, shape, op, err);
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
    sct_free(t->source[op].image);
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
    SCT_TRY(set_source(&t->source[op], s, shape, op, size, err));
    buffer.fill = fill_index;
    buffer.fill_ctx = &t->source[op];
  } else {
    fill_values(values, s, op);
    buffer.fold = FOLD_BYTES;
    buffer.data = values;
  }
  return sct_ptx_memory_add(t->memory, &t->address[op], &buffer, err);
}

static void set_key(const sct_block_counter *s, site *t, const sct_size *size, const int *layout) {
  t->used = true;
  memcpy(t->extent, size->extent, sizeof *t->extent * (size_t)s->spec->n_extents);
  memcpy(t->fill, size->fill, sizeof *t->fill * (size_t)s->spec->n_operands);
  memcpy(t->layout, layout, sizeof *t->layout * (size_t)s->spec->n_operands);
}

static bool same_key(const site *a, const site *b) {
  return a->used && memcmp(a->extent, b->extent, sizeof a->extent) == 0 &&
         memcmp(a->fill, b->fill, sizeof a->fill) == 0 &&
         memcmp(a->layout, b->layout, sizeof a->layout) == 0;
}

static sct_status site_init(const sct_block_counter *s, site *t, const sct_size *size,
                            const int *layout, sct_error *err) {
  SCT_SCOPED(sct_addressing) addressing = {0};
  SCT_SCOPED(sct_shape) shape = {0};
  set_key(s, t, size, layout);
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
  site wanted = {.used = true};
  set_key(s, &wanted, size, layout);
  for (int k = 0; k < MOST_SITES; k++) {
    *out = &s->sites[k];
    if (same_key(&s->sites[k], &wanted)) {
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

typedef struct job {
  const sct_block_counter *s;
  const sct_kernel_code *code;
  const site *site;
  sct_ptx_launch_opts opts;
  uint64_t values[SCT_MAX_ARGS][2];
  int bytes[SCT_MAX_ARGS]; /* of the values */
  int array[SCT_MAX_ARGS]; /* whose address the value is: an operand; n_operands: the workspace;
                              -1: none */
  const void *args[SCT_MAX_ARGS];
  double operand[SCT_MAX_OPERANDS][6]; /* sums; fields of sct_count */
  double stored[SCT_MAX_OPERANDS][6], load[6], store[6], bulk[6];
  double wavefronts[4], shuffles, machine[SCT_N_PIPES];
  double near[SCT_MAX_OPERANDS];
  sct_chain chain, longest; /* summed; the longest */
  struct {
    double lanes;       /* of the whole kernel */
    double met, others; /* of what ran: requests of other blocks on the line of a request; in all */
  } atomics[SCT_MAX_OPERANDS];
  int64_t steps; /* warp instructions, of all blocks that ran */
  bool too_long; /* a block had more than it may */
} job;

static void set_arguments(job *j, const sct_size *size) {
  const sct_spec *spec = j->s->spec;
  sct_param params[SCT_MAX_ARGS];
  int n = sct_code_params(params, spec, j->code);
  for (int k = 0; k < n; k++) {
    j->array[k] = params[k].kind == SCT_PARAM_ARRAY ? params[k].number : -1;
    j->bytes[k] = (int)sizeof j->values[k][0];
    if (j->array[k] >= 0) {
      j->values[k][0] = j->site->address[j->array[k]];
    } else {
      j->bytes[k] =
          sct_code_value((uint8_t *)j->values[k], spec, &params[k], j->s->seed, size->extent);
    }
  }
  if (j->code->workspace_bytes > 0) {
    j->array[n] = spec->n_operands;
    j->bytes[n] = (int)sizeof j->values[n][0];
    j->values[n++][0] = j->site->workspace;
  }
  for (int k = 0; k < n; k++) {
    j->args[k] = j->values[k];
  }
  j->opts.args = j->args;
  j->opts.n_args = n;
}

static void add(double sum[6], const sct_ptx_global *g, double weight) {
  const int64_t fields[] = {g->requests, g->sectors,        g->sectors_ideal,
                            g->tags,     g->distinct_bytes, g->contiguous};
  for (int k = 0; k < SCT_COUNT(fields); k++) {
    sum[k] += weight * (double)fields[k];
  }
}

static void add_run(job *j, const sct_ptx_counters *c, double weight) {
  add(j->load, &c->load, weight);
  add(j->load, &c->bulk_load, weight);
  add(j->bulk, &c->bulk_load, weight);
  add(j->store, &c->store, weight);
  add(j->store, &c->bulk_store, weight);
  for (int op = 0; op < j->s->spec->n_operands; op++) {
    const sct_ptx_buffer_counters of = sct_ptx_memory_counts(j->site->memory, j->site->address[op]);
    add(j->operand[op], &of.load, weight);
    add(j->operand[op], &of.store, weight);
    add(j->operand[op], &of.atomics, weight); /* what is accumulated is stored so */
    add(j->stored[op], &of.store, weight);
    add(j->stored[op], &of.atomics, weight);
    add(j->store, &of.atomics, weight);
    j->near[op] += weight * (double)of.near_sectors;
    j->atomics[op].lanes += weight * (double)of.atomic_lanes;
    j->atomics[op].met += 2.0 * (double)of.meetings;
    j->atomics[op].others +=
        (double)of.atomics.tags * (double)of.atomics.tags * (1.0 - 1.0 / (double)j->opts.n_blocks);
  }
  const sct_ptx_shared *atomics = &c->shared_atomics;
  const int64_t wavefronts[] = {c->shared_load.wavefronts, c->shared_load.wavefronts_ideal,
                                c->shared_store.wavefronts + atomics->wavefronts,
                                c->shared_store.wavefronts_ideal + atomics->wavefronts_ideal};
  for (int k = 0; k < SCT_COUNT(wavefronts); k++) {
    j->wavefronts[k] += weight * (double)wavefronts[k];
  }
  j->shuffles += weight * (double)c->shuffles;
  for (int p = 0; p < SCT_N_PIPES; p++) {
    j->machine[p] += weight * (double)c->machine.n[p];
  }
  j->chain.cycles += weight * (double)c->chain.cycles;
  j->chain.loads += weight * (double)c->chain.loads;
  j->chain.near += weight * (double)c->chain.near;
  j->steps += c->warp_instructions;
}

/* Runs the blocks, each of which stands for `weight`. */
static sct_status run_blocks(job *j, const int64_t *blocks, int64_t n, double weight,
                             sct_error *err) {
  SCT_SCOPED(sct_ptx_result) result = {0};
  SCT_SCOPED(sct_str) text = {0};
  if (n == 0) {
    return SCT_OK;
  }
  j->opts.blocks = blocks;
  j->opts.n_blocks = n;
  SCT_TRY(sct_ptx_launch(&result, j->site->memory, &j->opts, err));
  sct_status status = SCT_OK;
  j->too_long = result.diag.kind == SCT_PTX_STEP_LIMIT;
  if (result.diag.kind != SCT_PTX_CLEAN) {
    sct_ptx_diag_print(&text, &result.diag);
    status = sct_fail(err, SCT_ESPEC, "%s", sct_str_c(&text));
  } else {
    add_run(j, &result.counters, weight);
    if ((double)result.longest.loads + (double)result.longest.cycles >
        j->longest.loads + j->longest.cycles) {
      j->longest = (sct_chain){(double)result.longest.cycles, (double)result.longest.loads,
                               (double)result.longest.near};
    }
  }
  return status;
}

/* Both ends stand for themselves, those between for all between. Long blocks are much alike, and
 * fewer of them do: *subset becomes what ran. */
static sct_status run_subset(job *j, sct_subset *subset, sct_error *err) {
  int64_t block[MOST_BLOCKS];
  const bool all = subset->n == subset->total;
  const int64_t ends[] = {0, subset->total - 1};
  if (!all) {
    SCT_TRY(run_blocks(j, ends, 2, 1.0, err));
    const int64_t more = j->s->most_steps / 2 / (j->steps > 0 ? j->steps : 1);
    *subset = sct_subset_of(subset->total, more + 2 < subset->n ? more + 2 : subset->n);
  }
  for (int64_t k = 0; k < subset->n; k++) {
    block[k] = sct_subset_at(*subset, k);
  }
  return all ? run_blocks(j, block, subset->n, 1.0, err)
             : run_blocks(j, block + 1, subset->n - 2, sct_subset_weight(*subset, 1), err);
}

/* ---- counters ---- */

static sct_count rounded(const double sum[6]) {
  return (sct_count){.requests = llround(sum[0]),
                     .sectors = llround(sum[1]),
                     .sectors_ideal = llround(sum[2]),
                     .tags = llround(sum[3]),
                     .distinct_bytes = llround(sum[4]),
                     .contiguous = llround(sum[5])};
}

/* Requests of two blocks meet as often as the squares of the lines' shares add up to, however few
 * of them ran: the share of all that come to the line of a usual one. */
static void set_atomics(sct_counters *out, const job *j) {
  for (int op = 0; op < out->n_operands; op++) {
    const double others = j->atomics[op].others, lanes = j->atomics[op].lanes;
    const double share = others > 0.0 ? j->atomics[op].met / others : 0.0;
    if (llround(share * lanes) > out->line_lanes) {
      out->line_lanes = llround(share * lanes);
      out->line_requests = llround(share * j->operand[op][3]);
    }
  }
}

static void make_counters(sct_counters *out, const job *j, sct_subset subset) {
  const int n = j->s->spec->n_operands;
  *out = (sct_counters){.load = rounded(j->load),
                        .store = rounded(j->store),
                        .bulk_load = rounded(j->bulk),
                        .operand = sct_alloc(sizeof *out->operand * (size_t)(n + 1)),
                        .stored = sct_alloc(sizeof *out->stored * (size_t)(n + 1)),
                        .n_operands = n,
                        .wavefronts_ld = llround(j->wavefronts[0]),
                        .wavefronts_ld_ideal = llround(j->wavefronts[1]),
                        .wavefronts_st = llround(j->wavefronts[2]),
                        .wavefronts_st_ideal = llround(j->wavefronts[3]),
                        .shuffles = llround(j->shuffles),
                        .blocks_counted = subset.n,
                        .blocks = subset.total};
  const double total = subset.total > 0 ? (double)subset.total : 1.0;
  out->chain = (sct_chain){j->chain.cycles / total, j->chain.loads / total, j->chain.near / total};
  out->longest = j->longest;
  memcpy(out->machine, j->machine, sizeof out->machine);
  for (int op = 0; op < n; op++) {
    out->operand[op] = rounded(j->operand[op]);
    out->operand[op].near = llround(j->near[op]);
    out->stored[op] = rounded(j->stored[op]);
  }
  set_atomics(out, j);
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
  sct_free(s);
}

/* For the interpreter's memory. */
static bool is_too_large(const sct_spec *spec, const sct_kernel_code *code, const sct_size *size) {
  bool large = false;
  for (int op = 0; op < spec->n_operands; op++) {
    large = large || sct_spec_bytes(spec, op, code->layout[op], size) > MOST_BYTES;
  }
  return large;
}

/* A launch at `size`, and which of its blocks stand for all. */
static sct_status open_job(sct_block_counter *s, job *j, sct_subset *subset,
                           const sct_kernel_code *code, const sct_ptx_module *module,
                           const char *entry, const sct_size *size, int64_t max_blocks,
                           sct_error *err) {
  const sct_spec *spec = s->spec;
  const sct_expr_env env = {spec->extent_var, size->extent, spec->n_extents};
  int64_t n_blocks = 0;
  site *t = NULL;
  SCT_TRY(sct_expr_eval(spec->pool, code->grid, &env, &n_blocks, err));
  *subset = sct_subset_of(n_blocks > 0 ? n_blocks : 0,
                          max_blocks < MOST_BLOCKS ? max_blocks : MOST_BLOCKS);
  SCT_TRY(find_site(s, &t, size, code->layout, err));
  SCT_TRY(refresh(s, t, code->workspace_bytes > 0, err));
  const int block_y = code->block[1] > 0 ? code->block[1] : 1;
  const int block_z = code->block[2] > 0 ? code->block[2] : 1;
  int yz[2];
  sct_code_grid_yz(yz, spec, code, size->extent);
  *j = (job){.s = s,
             .code = code,
             .site = t,
             .opts = {.module = module,
                      .kernel = entry,
                      .grid = {n_blocks / yz[0] / yz[1], yz[0], yz[1]},
                      .block = {code->threads / block_y / block_z, block_y, block_z},
                      .shared_bytes = code->shared_bytes,
                      .max_steps = s->most_steps,
                      .max_shared_bytes = s->max_shared_bytes,
                      .no_definedness = true,
                      .no_races = true,
                      .per_buffer = true,
                      .chains = true}};
  set_arguments(j, size);
  return SCT_OK;
}

static sct_status count_at(sct_block_counter *s, sct_counters *out, const sct_kernel_code *code,
                           const sct_ptx_module *module, const char *entry, const sct_size *size,
                           int64_t max_blocks, bool *too_long, sct_error *err) {
  job j;
  sct_subset subset;
  *too_long = is_too_large(s->spec, code, size);
  if (*too_long) {
    return sct_fail(err, SCT_ESPEC, "an array of more than 16 GiB");
  }
  SCT_TRY(open_job(s, &j, &subset, code, module, entry, size, max_blocks, err));
  const sct_status status = run_subset(&j, &subset, err);
  *too_long = j.too_long;
  if (status == SCT_OK) {
    make_counters(out, &j, subset);
  }
  return status;
}

static int64_t blocks_wanted(const sct_block_counter *s, int64_t max_blocks) {
  return max_blocks > 0 ? max_blocks : sct_spec_is_ragged(s->spec) ? RAGGED_BLOCKS : DEFAULT_BLOCKS;
}

sct_status sct_block_counter_profile(sct_block_counter *s, sct_ptx_result *out,
                                     sct_partial_launch *launch, const sct_kernel_code *code,
                                     const sct_ptx_module *module, const char *entry,
                                     const sct_size *size, int64_t max_blocks,
                                     const sct_ptx_cache_sizes *caches, const sct_ptx_watch *watch,
                                     sct_error *err) {
  int64_t block[MOST_BLOCKS];
  job j;
  sct_subset subset;
  if (is_too_large(s->spec, code, size)) {
    return sct_fail(err, SCT_ESPEC, "an array of more than 16 GiB");
  }
  SCT_TRY(open_job(s, &j, &subset, code, module, entry, size, blocks_wanted(s, max_blocks), err));
  const bool all = max_blocks == SCT_ALL_BLOCKS;
  for (int64_t k = 0; k < subset.n; k++) {
    block[k] = sct_subset_at(subset, k);
  }
  *launch =
      (sct_partial_launch){.blocks = subset.total, .blocks_run = all ? subset.total : subset.n};
  memcpy(launch->grid, j.opts.grid, sizeof launch->grid);
  memcpy(launch->block, j.opts.block, sizeof launch->block);
  j.opts.blocks = all ? NULL : block;
  j.opts.n_blocks = all ? 0 : subset.n;
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
    fill_index(&t->source[op], out, 0, bytes);
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
  job j;
  sct_subset subset;
  site *t = NULL;
  sct_launches out = *on;
  SCT_TRY(open_job(s, &j, &subset, code, module, entry, size, 1, err));
  SCT_TRY(find_site(s, &t, size, code->layout, err));
  return write_job(s, &j, t, size, &out, path, err);
}

/* ---- sizes whose blocks have too much to do */

/* The longest dimension that blocks go along becomes a quarter, with the same rest of warps. false:
 * it is short already. */
static bool shorten(const sct_spec *spec, int64_t *extent) {
  int longest = -1;
  for (int d = 0; d < spec->n_dims; d++) {
    const bool any = !spec->reduces && !spec->scans && spec->n_steps == 0;
    const bool counts = any || sct_spec_combines_along(spec, d);
    longest = counts && (longest < 0 || extent[d] > extent[longest]) ? d : longest;
  }
  if (longest < 0 || extent[longest] < 8 * LANES) {
    return false;
  }
  extent[longest] = extent[longest] / (4 * LANES) * LANES + extent[longest] % LANES;
  return true;
}

static void scale(sct_count *c, double by) {
  c->requests = llround((double)c->requests * by);
  c->sectors = llround((double)c->sectors * by);
  c->sectors_ideal = llround((double)c->sectors_ideal * by);
  c->tags = llround((double)c->tags * by);
  c->distinct_bytes = llround((double)c->distinct_bytes * by);
  c->contiguous = llround((double)c->contiguous * by);
  c->near = llround((double)c->near * by);
}

static double ratio(int64_t a, int64_t b) {
  return b > 0 ? (double)a / (double)b : 1.0;
}

/* From counters of `small` to those of `size`: each operand by what is touched of it. */
static sct_status scale_counters(sct_counters *c, const sct_spec *spec, const sct_kernel_code *code,
                                 const sct_size *small, const sct_size *size, sct_error *err) {
  const sct_expr_env env = {spec->extent_var, size->extent, spec->n_extents};
  const sct_count load = c->load;
  const int64_t blocks = c->blocks;
  SCT_TRY(sct_expr_eval(spec->pool, code->grid, &env, &c->blocks, err));
  /* what a block reduces it exchanges once */
  const double work = spec->reduces
                          ? ratio(c->blocks, blocks)
                          : ratio(sct_spec_elements(spec, size), sct_spec_elements(spec, small));
  for (int op = 0; op < spec->n_operands; op++) {
    sct_count *const way = spec->operands[op].is_output ? &c->store : &c->load;
    const sct_count before = c->operand[op];
    const double by =
        ratio(sct_spec_touched_bytes(spec, op, size), sct_spec_touched_bytes(spec, op, small));
    scale(&c->operand[op], by);
    scale(&c->stored[op], by);
    way->requests += c->operand[op].requests - before.requests;
    way->sectors += c->operand[op].sectors - before.sectors;
    way->sectors_ideal += c->operand[op].sectors_ideal - before.sectors_ideal;
    way->tags += c->operand[op].tags - before.tags;
    way->distinct_bytes += c->operand[op].distinct_bytes - before.distinct_bytes;
    way->contiguous += c->operand[op].contiguous - before.contiguous;
  }
  const double elements = ratio(sct_spec_elements(spec, size), sct_spec_elements(spec, small));
  const double each = elements * ratio(blocks, c->blocks);
  sct_chain *const chains[] = {&c->chain, &c->longest};
  for (int k = 0; k < SCT_COUNT(chains); k++) {
    *chains[k] =
        (sct_chain){each * chains[k]->cycles, each * chains[k]->loads, each * chains[k]->near};
  }
  for (int p = 0; p < SCT_N_PIPES; p++) {
    c->machine[p] *= elements;
  }
  scale(&c->bulk_load, ratio(c->load.sectors, load.sectors));
  c->wavefronts_ld = llround(work * (double)c->wavefronts_ld);
  c->wavefronts_ld_ideal = llround(work * (double)c->wavefronts_ld_ideal);
  c->wavefronts_st = llround(work * (double)c->wavefronts_st);
  c->wavefronts_st_ideal = llround(work * (double)c->wavefronts_st_ideal);
  c->shuffles = llround(work * (double)c->shuffles);
  c->line_requests = llround(work * (double)c->line_requests);
  c->line_lanes = llround(work * (double)c->line_lanes);
  c->blocks_counted = c->blocks_counted > 1 ? c->blocks_counted - 1 : 0; /* not of this size */
  return SCT_OK;
}

sct_status sct_block_counter_count(sct_block_counter *s, sct_counters *out,
                                   const sct_kernel_code *code, const sct_ptx_module *module,
                                   const char *entry, const sct_size *size, int64_t max_blocks,
                                   sct_error *err) {
  const int64_t most = blocks_wanted(s, max_blocks);
  int64_t extent[SCT_MAX_EXTENTS];
  const sct_size small = {.label = size->label, .extent = extent, .fill = size->fill};
  bool too_long = false;
  memcpy(extent, size->extent, sizeof *extent * (size_t)s->spec->n_extents);
  sct_status status = count_at(s, out, code, module, entry, size, most, &too_long, err);
  const bool shortened = too_long;
  while (too_long && shorten(s->spec, extent)) {
    status = count_at(s, out, code, module, entry, &small, most, &too_long, err);
  }
  if (status == SCT_OK && shortened) {
    status = scale_counters(out, s->spec, code, &small, size, err);
    if (status != SCT_OK) {
      sct_counters_free(out);
    }
  }
  return status;
}
