/* At which sizes a candidate is verified: small, odd, and around its own block edges, which are
 * found by asking its grid where another block starts. */
#include "measure_session.h"

#include <string.h>

/* ---- a candidate's launch ---- */

/* Grids of kernels whose blocks loop over tiles are verified with fewer blocks if they have more
 * than this. */
#define MANY_BLOCKS 3

static sct_expr_env extents_env(const sct_spec *spec, const int64_t *extent) {
  return (sct_expr_env){spec->extent_var, extent, spec->n_extents};
}

int64_t sct_code_blocks_at(const sct_spec *spec, const sct_kernel_code *code,
                           const int64_t *extent) {
  const sct_expr_env env = extents_env(spec, extent);
  int64_t blocks = -1;
  return sct_expr_eval(spec->pool, code->grid, &env, &blocks, NULL) == SCT_OK ? blocks : -1;
}

sct_status sct_code_blocks(const sct_shape *s, const sct_kernel_code *code, int64_t *blocks,
                           sct_verdict *verdict, sct_error *err) {
  const sct_expr_env env = extents_env(s->addressing->spec, s->extent);
  SCT_TRY(sct_expr_eval(s->addressing->spec->pool, code->grid, &env, blocks, err));
  if (*blocks < 0 || *blocks > INT32_MAX) {
    sct_verdict_set(verdict, SCT_OUT_TOO_LARGE, "a grid of %lld blocks; at most 2147483647",
                    (long long)*blocks);
  }
  return SCT_OK;
}

int64_t sct_code_few_blocks(const sct_kernel_code *code, int64_t blocks) {
  if (code->rounds == 0 || blocks <= MANY_BLOCKS) {
    return blocks;
  }
  return blocks > code->rounds ? blocks / code->rounds : 1;
}

static bool holds_at(const sct_spec *spec, sct_expr condition, const int64_t *extent) {
  const sct_expr_env env = extents_env(spec, extent);
  int64_t holds = 0;
  return sct_expr_eval(spec->pool, condition, &env, &holds, NULL) == SCT_OK && holds != 0;
}

bool sct_code_allows(const sct_addressing *addressing, const sct_kernel_code *code,
                     const int64_t *extent) {
  for (int k = 0; k < code->n_require; k++) {
    if (!holds_at(addressing->spec, code->require[k], extent)) {
      return false;
    }
  }
  return true;
}

void sct_code_fits(const sct_device_desc *device, const sct_kernel_code *code,
                   sct_verdict *verdict) {
  const int64_t shared = code->shared_bytes + code->static_shared_bytes;
  if (code->threads > device->threads_block) {
    sct_verdict_set(verdict, SCT_OUT_TOO_LARGE, "%d threads a block; the device has %d",
                    code->threads, device->threads_block);
  } else if (shared > device->smem_block_optin_bytes) {
    sct_verdict_set(verdict, SCT_OUT_TOO_LARGE,
                    "%lld bytes of shared memory a block; the device has %lld", (long long)shared,
                    (long long)device->smem_block_optin_bytes);
  }
}

/* ---- tuples ---- */

void sct_tuples_free(sct_tuples *t) {
  sct_free(t->values);
  *t = (sct_tuples){0};
}

/* Unless it is there already or too large. Extents above 0 are what requirements fix. */
static void add(sct_tuples *t, const int64_t *wanted) {
  int64_t values[SCT_MAX_DIMS], elements = 1;
  for (int d = 0; d < t->n_dims; d++) {
    values[d] = wanted[d] > 0 && t->only[d] > 0 ? t->only[d] : wanted[d];
    if (values[d] < 0 || values[d] > t->max_elements) {
      return;
    }
    elements *= d == t->row ? 1 : values[d];
    if (elements > t->max_elements) {
      return;
    }
  }
  const size_t bytes = sizeof *values * (size_t)t->n_dims;
  for (int k = 0; k < t->n; k++) {
    if (memcmp(t->values + (size_t)k * (size_t)t->n_dims, values, bytes) == 0) {
      return;
    }
  }
  const size_t len = (size_t)t->n * (size_t)t->n_dims;
  for (int d = 0; d < t->n_dims; d++) {
    SCT_GROW(t->values, len + (size_t)d, t->cap);
    t->values[len + (size_t)d] = values[d];
  }
  t->n++;
}

/* Nothing along one dimension, or nothing but one element. */
static void add_least(sct_tuples *t) {
  int64_t tuple[SCT_MAX_DIMS];
  for (int zero = 0; zero <= t->n_dims; zero++) {
    for (int d = 0; d < t->n_dims; d++) {
      tuple[d] = zero == t->n_dims ? 1 : d == zero ? 0 : 5;
    }
    add(t, tuple);
  }
}

#define MAX_UNIT ((int64_t)256) /* of the multiples that requirements ask for */

/* The extent up to `most` of dimension `dim` at which the condition holds; 0: none or several. */
static int64_t single_extent(const sct_spec *spec, sct_expr condition, int dim, int64_t most) {
  int64_t extent[SCT_MAX_EXTENTS] = {0}, single = 0;
  for (extent[dim] = 1; extent[dim] <= most; extent[dim]++) {
    if (holds_at(spec, condition, extent)) {
      if (single > 0) {
        return 0;
      }
      single = extent[dim];
    }
  }
  return single;
}

/* The only extent of dimension `dim` that a requirement like `n == 3` allows; 0: there is none. */
static int64_t only_extent(const sct_addressing *addressing, const sct_kernel_code *code, int dim) {
  const sct_spec *spec = addressing->spec;
  int64_t only = 0;
  for (int r = 0; r < code->n_require && only == 0; r++) {
    sct_expr var = SCT_EXPR_NONE;
    if (sct_expr_op_of(spec->pool, code->require[r]) == SCT_EXPR_EQ &&
        sct_expr_vars(spec->pool, code->require[r], &var, 1) == 1 && var == spec->extent_var[dim]) {
      only = single_extent(spec, code->require[r], dim, SCT_MAX_VIRTUAL_ELEMENTS);
    }
  }
  return only;
}

/* The least extents, powers of two, with which the candidate's requirements hold one by one: of a
 * kernel that moves 8 elements along one dimension as a vector, 8 there and 1 elsewhere.
 * Requirements of other kinds leave 1. */
static void least_extents(int64_t *unit, const sct_tuples *t, const sct_addressing *addressing,
                          const sct_kernel_code *code) {
  const sct_spec *spec = addressing->spec;
  for (int k = 0; k < spec->n_extents; k++) {
    unit[k] = k < t->n_dims && t->only[k] > 0 ? t->only[k] : 1;
  }
  for (int r = 0; r < code->n_require; r++) {
    bool holds = holds_at(spec, code->require[r], unit);
    for (int64_t n = 2; n <= MAX_UNIT && !holds; n *= 2) {
      for (int d = 0; d < spec->n_dims && !holds; d++) {
        const int64_t before = unit[d];
        unit[d] = n > before ? n : before;
        holds = holds_at(spec, code->require[r], unit);
        unit[d] = holds ? unit[d] : before;
      }
    }
  }
}

int64_t sct_next_edge(const sct_spec *spec, const sct_kernel_code *code, const int64_t *unit,
                      int dim, int64_t from) {
  int64_t extent[SCT_MAX_EXTENTS], low = from, high = SCT_MAX_VERIFY_ELEMENTS;
  memcpy(extent, unit, sizeof *extent * (size_t)spec->n_extents);
  extent[dim] = from;
  const int64_t blocks = sct_code_blocks_at(spec, code, extent);
  extent[dim] = high;
  if (sct_code_blocks_at(spec, code, extent) <= blocks) {
    return 0;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    extent[dim] = middle;
    if (sct_code_blocks_at(spec, code, extent) > blocks) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return high;
}

/* As many tiles for a block that stays as may be, and half a tile. */
static void add_rounds(sct_tuples *t, const sct_kernel_code *code) {
  const int64_t tile = t->tile[0];
  if (t->n_dims == 1 && code->rounds > 0 && tile > 0) {
    const int64_t most = (t->max_elements - tile / 2) / tile;
    const int64_t extent = (code->rounds < most ? code->rounds : most) * tile + tile / 2;
    add(t, &extent);
  }
}

#define MAX_AT_TILES ((int64_t)40000) /* elements with all dimensions at edges */

/* All dimensions just below, at or above their tile. Blocks that take elements of several
 * dimensions as one have a whole tile in each of them: there one after the other. */
static void add_at_tiles(sct_tuples *t, const int64_t *tile, const int64_t *unit, int64_t off) {
  int64_t tuple[SCT_MAX_DIMS];
  double elements = 1;
  for (int d = 0; d < t->n_dims; d++) {
    tuple[d] = tile[d] + off;
    elements *= (double)tuple[d];
  }
  if (elements <= (double)MAX_AT_TILES) {
    add(t, tuple);
    return;
  }
  for (int dim = 0; dim < t->n_dims; dim++) {
    for (int d = 0; d < t->n_dims; d++) {
      tuple[d] = d == dim ? tile[d] + off : unit[d];
    }
    add(t, tuple);
  }
}

static void add_edges(sct_tuples *t) {
  int64_t tile[SCT_MAX_DIMS], tuple[SCT_MAX_DIMS];
  for (int d = 0; d < t->n_dims; d++) {
    tile[d] = t->only[d] > 0 ? t->only[d] : t->tile[d] > 0 ? t->tile[d] : 3;
  }
  for (int64_t off = -1; off <= 1; off++) {
    add_at_tiles(t, tile, t->unit, off);
  }
  for (int dim = 0; dim < t->n_dims; dim++) { /* several tiles and a rest along one dimension */
    for (int d = 0; d < t->n_dims; d++) {
      tuple[d] = d == dim ? 2 * tile[d] + 3 : t->unit[d];
    }
    add(t, tuple);
    tuple[dim] = 3 * tile[dim] + 5;
    const int other = dim == 0 ? t->n_dims - 1 : 0;
    if (other != dim) {
      tuple[other] = t->unit[other] * (tuple[dim] * t->unit[other] > MAX_AT_TILES / 10 ? 2 : 5);
    }
    add(t, tuple);
  }
}

/* What is reduced or scanned is walked in long turns, of which grids show nothing: several of them
 * and a rest, in numbers that words of up to 16 elements divide and that they do not. Those beyond
 * what the interpreter takes are for a GPU. */
static const int64_t long_runs[] = {9001, 19984, 700000, 700001};

/* A longer run is for many threads, none of which waits for more elements than this. */
#define LONG_RUN   ((int64_t)20000)
#define LONG_ROWS  ((int64_t)186) /* of a long run that is ragged: all lengths are neighbours */
#define MOST_ALONE ((int64_t)1 << 16)

/* Threads that go through one run together: those of the grid of a single run, less what a block
 * has for other ones. */
static int64_t threads_of_run(const sct_addressing *addressing, const sct_kernel_code *code,
                              const int64_t *least, int dim, int64_t run) {
  const sct_spec *spec = addressing->spec;
  int64_t extent[SCT_MAX_EXTENTS], others = 1;
  memcpy(extent, least, sizeof *extent * (size_t)spec->n_extents);
  extent[dim] = run;
  for (int d = 0; d < spec->n_dims; d++) {
    const int64_t edge =
        sct_spec_combines_along(spec, d) ? 0 : sct_next_edge(addressing->spec, code, extent, d, 1);
    others *= edge > 0 ? edge - 1 : 1;
  }
  return sct_code_blocks_at(spec, code, extent) * code->threads / others;
}

static void add_long_runs(sct_tuples *t, const sct_addressing *addressing,
                          const sct_kernel_code *code) {
  const sct_spec *spec = addressing->spec;
  int64_t tuple[SCT_MAX_DIMS];
  for (int k = 0; k < SCT_COUNT(long_runs) * t->n_dims; k++) {
    const int dim = k % t->n_dims;
    const int64_t run = long_runs[k / t->n_dims];
    const bool of_rows = t->row >= 0 && dim == spec->ragged.dim && k / t->n_dims == 1;
    for (int d = 0; d < t->n_dims; d++) {
      tuple[d] = d == dim ? run : d == t->row && of_rows ? LONG_ROWS : 1;
    }
    if ((sct_spec_combines_along(spec, dim) || of_rows) && run <= t->max_elements &&
        (run <= LONG_RUN ||
         threads_of_run(addressing, code, t->unit, dim, run) > run / MOST_ALONE)) {
      add(t, tuple);
    }
  }
}

/* Where a scan has a block a tile, 32 tiles are a group of their own (scan.cuh): one of them, and a
 * rest that looks back at it. */
#define SCAN_GROUP 32

static void add_scan_group(sct_tuples *t, const sct_addressing *addressing,
                           const sct_kernel_code *code) {
  int64_t tuple[SCT_MAX_EXTENTS];
  const int dim = addressing->spec->scan_dim;
  memcpy(tuple, t->unit, sizeof tuple);
  const int64_t edge = sct_next_edge(addressing->spec, code, tuple, dim, tuple[dim]);
  tuple[dim] = (SCAN_GROUP + 1) * (edge - 1) + (edge - 1) / 2;
  if (edge > 0 && t->only[dim] == 0) {
    const int64_t most = t->max_elements;
    t->max_elements = most > SCT_MAX_VIRTUAL_SCAN ? most : SCT_MAX_VIRTUAL_SCAN;
    add(t, tuple);
    t->max_elements = most;
  }
}

/* The largest multiple of `unit` along dimension `dim` that the requirements allow, the other
 * extents being `unit`; 0 if they allow all in reach, or none. */
static int64_t limit_along(const sct_tuples *t, const sct_addressing *addressing,
                           const sct_kernel_code *code, const int64_t *unit, int dim) {
  int64_t extent[SCT_MAX_EXTENTS], low = 1, high = t->max_elements / unit[dim];
  memcpy(extent, unit, sizeof *extent * (size_t)addressing->spec->n_extents);
  extent[dim] = high * unit[dim];
  if (!sct_code_allows(addressing, code, unit) || sct_code_allows(addressing, code, extent)) {
    return 0;
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    extent[dim] = middle * unit[dim];
    if (sct_code_allows(addressing, code, extent)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low * unit[dim];
}

/* A kernel that holds what a requirement limits, a row in registers, touches the last of it only
 * where rows are as long as they may be. */
static void add_limits(sct_tuples *t, const sct_addressing *addressing,
                       const sct_kernel_code *code) {
  int64_t tuple[SCT_MAX_EXTENTS];
  for (int dim = 0; dim < t->n_dims; dim++) {
    const int64_t limit = t->only[dim] > 0 ? 0 : limit_along(t, addressing, code, t->unit, dim);
    memcpy(tuple, t->unit, sizeof *tuple * (size_t)t->n_dims);
    tuple[dim] = limit;
    if (limit > t->unit[dim]) {
      add(t, tuple);
    }
  }
}

#define LEAST_FREE ((int64_t)4) /* elements that are tried beside what requirements fix */

/* Where requirements fix extents, others need room beside them. */
static void make_room(sct_tuples *t) {
  int64_t fixed = 1;
  for (int d = 0; d < t->n_dims && fixed <= SCT_MAX_VERIFY_ELEMENTS; d++) {
    fixed *= t->only[d] > 0 ? t->only[d] : 1;
  }
  const bool fits = fixed <= SCT_MAX_VERIFY_ELEMENTS / LEAST_FREE;
  if (fits && fixed * LEAST_FREE > t->max_elements) {
    t->max_elements = fixed * LEAST_FREE;
  }
}

void sct_extents_list(sct_tuples *out, const sct_addressing *addressing,
                      const sct_kernel_code *code, int64_t max_elements) {
  const sct_spec *spec = addressing->spec;
  const bool is_ragged = sct_spec_is_ragged(spec);
  *out = (sct_tuples){.n_dims = spec->n_dims,
                      .max_elements = max_elements,
                      .row = is_ragged ? spec->ragged.row : -1};
  for (int d = 0; d < out->n_dims; d++) {
    out->only[d] = only_extent(addressing, code, d);
  }
  make_room(out);
  least_extents(out->unit, out, addressing, code);
  for (int d = 0; d < out->n_dims; d++) {
    const int64_t edge = sct_next_edge(addressing->spec, code, out->unit, d, 1);
    out->tile[d] = edge > 0 ? edge - 1 : 0;
  }
  add_least(out);
  add_edges(out);
  add_rounds(out, code);
  add_long_runs(out, addressing, code);
  add_limits(out, addressing, code);
  if (spec->scans) {
    add_scan_group(out, addressing, code);
  }
}

/* ---- cases ---- */

static void free_case(sct_case *c) {
  sct_case_free_images(c);
  sct_shape_free(&c->shape);
  sct_str_free(&c->where);
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    sct_free(c->placed[k]);
  }
  sct_free(c);
}

void sct_cases_drop(sct_measure *m) {
  sct_wire freed = {0};
  sct_situations_drop(&m->cases);
  for (size_t k = 0; k < m->cases.n; k++) {
    sct_case_release(m, m->cases.all[k], &freed);
    free_case(m->cases.all[k]);
  }
  sct_remote_free(m, &freed);
  sct_free(m->cases.all);
  m->cases.all = NULL;
  m->cases.n = m->cases.cap = 0;
}

static uint64_t tuple_hash(const int64_t *dims, int n) {
  uint64_t h = 0;
  for (int d = 0; d < n; d++) {
    h = sct_mix64(h, (uint64_t)dims[d]);
  }
  return h;
}

int sct_tuple_variant(const sct_spec *spec, const int64_t *dims) {
  return (int)(tuple_hash(dims, spec->n_dims) / 16 % SCT_N_VARIANTS);
}

/* Where points meet: mostly some on each place, at times all on one. */
static sct_fill collecting_fill(const sct_spec *spec, int k, uint64_t hash) {
  static const sct_fill fills[] = {SCT_FILL_RANDOM, SCT_FILL_CONSTANT, SCT_FILL_EDGES,
                                   SCT_FILL_IDENTITY};
  const uint64_t pick = sct_mix64(hash, (uint64_t)k) % SCT_COUNT(fills);
  return spec->operands[k].index_scatters ? SCT_FILL_PERMUTED : fills[pick];
}

static void choose_fills(const sct_spec *spec, uint64_t hash, sct_fill fill[SCT_MAX_OPERANDS]) {
  for (int k = 0; k < spec->n_operands; k++) {
    const uint64_t pick = sct_mix64(hash, (uint64_t)k) % 3;
    const bool is_prefix = pick == 0 && sct_operand_is_mask(&spec->operands[k]);
    fill[k] = !spec->operands[k].is_index ? is_prefix ? SCT_FILL_PREFIX : SCT_FILL_DEFAULT
              : sct_spec_is_ragged(spec) && k == spec->ragged.offsets
                  ? (sct_fill)(SCT_FILL_CONSTANT + pick)
              : spec->operands[k].index_collects              ? collecting_fill(spec, k, hash)
              : pick == 0                                     ? SCT_FILL_IDENTITY
              : pick == 1 || spec->operands[k].index_scatters ? SCT_FILL_PERMUTED
                                                              : SCT_FILL_RANDOM;
  }
}

#define N_SMALL_ATTEMPTS 4
#define N_LONG_ATTEMPTS  4
#define FEW_BESIDE       64
#define MOST_COLLECTED   ((int64_t)1 << 17)
#define N_OTHER_ATTEMPTS (11 + N_SMALL_ATTEMPTS + N_LONG_ATTEMPTS)
#define N_OWN_ATTEMPTS   (N_OTHER_ATTEMPTS + 2) /* those of one of the spec's sizes are the last */

/* Extent k beside the dimension of which it is most nearly a multiple in the spec's first size: the
 * rows of an image that has two for each of the index space, say. */
static int64_t multiple_extent(const sct_spec *spec, int k, const int64_t *dims) {
  const int64_t *const model = spec->sizes[0].extent;
  double best = 1;
  int64_t own = 1;
  for (int d = 0; d < spec->n_dims; d++) {
    const double ratio = model[d] > 0 ? (double)model[k] / (double)model[d] : 0;
    const double off = ratio >= 1 ? ratio / (double)(int64_t)(ratio + 0.5) - 1 : 1;
    if ((off < 0 ? -off : off) < best) {
      best = off < 0 ? -off : off;
      own = (int64_t)(ratio * (double)dims[d] + 0.999999);
    }
  }
  return own < 1 ? 1 : own;
}

#define MOST_INDEXES_BEFORE 4
#define OWN_MULTIPLE        16

/* How many index arrays are read, one after the other, before an array with extent k is; at least
 * 1. Where each holds distinct values, every array must have room for all those of the one before.
 */
static int indexes_before(const sct_spec *spec, int k) {
  int most = 1;
  for (int n = 0; n < spec->n_operands; n++) {
    const sct_operand *op = &spec->operands[n];
    for (int d = 0; d < op->n_dims; d++) {
      const bool has = sct_expr_mentions(spec->pool, op->extent[d], spec->extent_var[k]);
      most = has && op->index_depth > most ? op->index_depth : most;
    }
  }
  return most < MOST_INDEXES_BEFORE ? most : MOST_INDEXES_BEFORE;
}

/* Extents that no dimension of the index space has: in proportion to the elements of the spec's
 * first size (attempt 1) or to one of its dimensions (attempt 2), few (4, 16, 64, 256: several such
 * extents of one array make it large), as many as the longest dimension has, which an index array
 * along it needs (first one of them beside few others, then all), in round numbers of elements (the
 * later ones), or, for one tuple in three, an odd number of its own (attempt 0). The last ones are
 * those of one of the spec's sizes, which hold whatever else must hold between them, with numbers
 * (of a field, say) up to those there, then with these. */
static int64_t own_extent(const sct_spec *spec, int k, const int64_t *dims, int64_t elements,
                          int attempt) {
  if (attempt == 0) {
    return 37 + 2 * (int64_t)(tuple_hash(dims, spec->n_dims) % 50);
  }
  const uint64_t hash = tuple_hash(dims, spec->n_dims);
  const int64_t tuned = spec->sizes[hash / 3 % (uint64_t)spec->n_sizes].extent[k];
  /* a block may hold all that points fall on, to its last element; vectors may begin at multiples
   * of what an array's first element and its pitch are multiples of */
  const bool is_number = k < spec->n_dims + spec->n_numbers;
  if (attempt == 1 && hash % 3 == 1 && tuned <= MOST_COLLECTED &&
      (is_number || sct_spec_accumulates(spec))) {
    return tuned;
  }
  if (attempt == 1) {
    const sct_size *model = &spec->sizes[0];
    const double model_elements = (double)sct_spec_elements(spec, model);
    const double ratio = model_elements > 0 ? (double)model->extent[k] / model_elements : 1;
    const double own = ratio * (double)elements;
    const int64_t near = own < 1 ? 1 : own > 0x1p40 ? 1 : (int64_t)(own + 0.999999);
    /* vectors may need multiples of it, and of other tuples it is any number */
    const bool rounds = is_number || (near > OWN_MULTIPLE && hash / 3 % 2 == 0);
    return rounds ? (near + OWN_MULTIPLE - 1) / OWN_MULTIPLE * OWN_MULTIPLE : near;
  }
  if (attempt == 2) { /* of those that vectors divide, and of others */
    const int64_t unit = hash / 3 % 4 < 3 ? OWN_MULTIPLE : 1;
    return (multiple_extent(spec, k, dims) + unit - 1) / unit * unit;
  }
  if (attempt >= N_OTHER_ATTEMPTS) {
    const bool less = is_number && attempt == N_OTHER_ATTEMPTS;
    return less ? (int64_t)(sct_mix64(hash, (uint64_t)k) % (uint64_t)(tuned + 1)) : tuned;
  }
  const int depth = indexes_before(spec, k);
  if (attempt <= N_SMALL_ATTEMPTS + 2) {
    return (int64_t)4 << (2 * (attempt - 3) + 3 * (depth - 1));
  }
  const int after = attempt - N_SMALL_ATTEMPTS - 3;
  if (after < N_LONG_ATTEMPTS && (k - spec->n_dims) % N_LONG_ATTEMPTS != after) {
    return FEW_BESIDE;
  }
  if (after <= N_LONG_ATTEMPTS) {
    int64_t most = 1;
    for (int d = 0; d < spec->n_dims; d++) {
      most = dims[d] > most ? dims[d] : most;
    }
    return (most + OWN_MULTIPLE - 1) / OWN_MULTIPLE * OWN_MULTIPLE;
  }
  const int more = after - N_LONG_ATTEMPTS - 1;
  return ((elements > 0 ? elements : 1) << more * depth) + (more > 0 ? 64 * depth : 0);
}

#define MAX_CASE_BYTES   ((int64_t)1 << 28) /* of its images */
#define MAX_ARRAY_BYTES  ((int64_t)1 << 34) /* of a sparse one */
#define MEMORY_PARTS     16                 /* one array's of the device's memory */
#define LARGE_CASE_BYTES ((int64_t)1 << 20)
#define FEW_CASE_BYTES   ((int64_t)1 << 24) /* filled, compared and moved in milliseconds */

static int64_t bytes_of(const sct_shape *s) {
  int64_t bytes = 0;
  for (int k = 0; k < s->addressing->spec->n_operands; k++) {
    bytes += sct_shape_image_bytes(s, k);
  }
  return bytes;
}

/* The case's shape at these extents; false: the spec does not allow them, or its arrays have more
 * than `most` bytes. */
static bool try_shape(sct_case *c, const sct_addressing *addressing, const int64_t *extent,
                      const sct_fill *fill, int64_t most) {
  sct_shape_free(&c->shape);
  if (sct_shape_init(&c->shape, addressing, extent, fill, NULL) != SCT_OK) {
    return false; /* a negative or overflowing size */
  }
  c->shape.variant = c->variant;
  for (int k = 0; k < addressing->spec->n_operands; k++) {
    if (c->shape.op[k].bytes > c->most_array_bytes) {
      return false;
    }
  }
  if (bytes_of(&c->shape) > most || !sct_shape_indexes_fit(&c->shape)) {
    return false;
  }
  sct_shape_index(&c->shape);
  return sct_shape_is_legal(&c->shape);
}

/* Own extents are found together, though one of them may have been too small: of large arrays the
 * others are halved as long as the spec and the layouts allow. Points fall on what they fell on. */
static void shrink(sct_case *c, const sct_addressing *addressing, int64_t *extent,
                   const sct_fill *fill) {
  const sct_spec *spec = addressing->spec;
  for (int k = spec->n_dims; k < spec->n_extents && !sct_spec_accumulates(spec); k++) {
    bool fits = true;
    while (fits && extent[k] > OWN_MULTIPLE && bytes_of(&c->shape) > LARGE_CASE_BYTES) {
      const int64_t was = extent[k], unit = was % OWN_MULTIPLE == 0 ? OWN_MULTIPLE : 1;
      extent[k] = (was / 2 + unit - 1) / unit * unit;
      fits = try_shape(c, addressing, extent, fill, MAX_CASE_BYTES) &&
             sct_shape_layouts_hold(&c->shape, true);
      if (!fits) {
        extent[k] = was;
        (void)try_shape(c, addressing, extent, fill, MAX_CASE_BYTES);
      }
    }
  }
}

/* Tries own extents until the spec and the layouts allow them. Layouts of arrays that have none are
 * asked once: no own extents make room where these do not hold. */
static void find_shape_within(sct_case *c, const sct_addressing *addressing, int64_t most) {
  const sct_spec *spec = addressing->spec;
  const uint64_t hash = tuple_hash(c->dims, spec->n_dims);
  int64_t extent[SCT_MAX_EXTENTS] = {0}, elements = 1;
  sct_fill fill[SCT_MAX_OPERANDS];
  choose_fills(spec, hash, fill);
  for (int k = 0; k < spec->n_operands && c->own > 0; k++) { /* to find all parts of what is long */
    const sct_operand *op = &spec->operands[k];
    const bool any = op->is_index && !op->index_scatters;
    fill[k] =
        any && !(sct_spec_is_ragged(spec) && k == spec->ragged.offsets) ? SCT_FILL_RANDOM : fill[k];
  }
  for (int d = 0; d < spec->n_dims; d++) {
    extent[d] = c->dims[d];
    elements *= sct_spec_multiplies(spec, d) ? c->dims[d] : 1;
  }
  const bool has_own = spec->n_extents > spec->n_dims;
  const int first = hash % 3 == 0 && has_own ? 0 : 1;
  const int end = has_own && (c->own == 0 || spec->n_numbers > 0) ? N_OWN_ATTEMPTS : first + 1;
  bool others_hold = false;
  for (int attempt = first; attempt < end && !c->legal; attempt++) {
    for (int k = spec->n_dims; k < spec->n_extents; k++) {
      const bool is_number = k < spec->n_dims + spec->n_numbers;
      extent[k] =
          c->own > 0 && !is_number ? c->own : own_extent(spec, k, c->dims, elements, attempt);
    }
    if (!try_shape(c, addressing, extent, fill, most)) {
      continue;
    }
    others_hold = others_hold || sct_shape_layouts_hold(&c->shape, false);
    c->legal = others_hold && sct_shape_layouts_hold(&c->shape, true);
    c->too_long = !c->legal;
    if (!others_hold) {
      break;
    }
  }
  if (c->legal && c->own == 0) {
    shrink(c, addressing, extent, fill);
  }
  if (c->legal) {
    c->legal = sct_shape_find_spans(&c->shape, NULL) == SCT_OK;
  }
}

/* Arrays stay small where some extents allow it: a cache of 4096 entries for each of 256 sequences,
 * of which a kernel writes one, has extents of its own that make it large. Where no element finds
 * its place by a value, a longer own extent is only more that nobody touches: 5008 fields, of which
 * a kernel has three, took 246 MB and 3 s a candidate. */
static void find_shape(sct_case *c, const sct_addressing *addressing) {
  const sct_spec *spec = addressing->spec;
  const bool finds = spec->n_index > 0 || spec->n_values > 0 || sct_spec_accumulates(spec);
  const int64_t all = c->own > 0 && !finds ? FEW_CASE_BYTES : MAX_CASE_BYTES;
  for (int64_t most = FEW_CASE_BYTES; !c->legal && !c->too_long && most <= all; most *= 4) {
    find_shape_within(c, addressing, most);
  }
}

static int64_t most_array_bytes(const sct_measure *m) {
  const int64_t part = m->is_virtual ? MAX_ARRAY_BYTES : m->device.memory_bytes / MEMORY_PARTS;
  return part < MAX_CASE_BYTES ? MAX_CASE_BYTES : part > MAX_ARRAY_BYTES ? MAX_ARRAY_BYTES : part;
}

void sct_case_get_as(sct_measure *m, const sct_case_want *want, sct_case **out) {
  const int64_t *const dims = want->dims, own = want->own;
  const int n_dims = m->addressing.spec->n_dims;
  const size_t bytes = sizeof *dims * (size_t)n_dims;
  sct_case_table *t = &m->cases;
  for (size_t k = 0; k < t->n; k++) {
    const sct_case *c = t->all[k];
    if (memcmp(c->dims, dims, bytes) == 0 && c->own == own && c->variant == want->variant) {
      *out = t->all[k];
      return;
    }
  }
  SCT_GROW(t->all, t->n, t->cap);
  sct_case *c = sct_alloc(sizeof *c);
  memcpy(c->dims, dims, bytes);
  c->own = own;
  c->variant = want->variant;
  c->poison = tuple_hash(dims, n_dims) % 2 == 0 ? 0xa5 : 0x5a;
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    c->buffer[k] = c->unlike[k] = -1;
  }
  c->most_array_bytes = most_array_bytes(m);
  find_shape(c, &m->addressing);
  t->all[t->n++] = c;
  *out = c;
}

void sct_case_get(sct_measure *m, const int64_t *dims, sct_case **out) {
  const int variant = sct_tuple_variant(m->addressing.spec, dims);
  sct_case_get_as(m, &(sct_case_want){.dims = dims, .variant = variant}, out);
}
