/* In which situations a candidate is verified. Some it meets in any case (measure_extents.c); the
 * others are chosen from a pool, such that whatever may matter occurs in pairs: remainders of each
 * extent by what the kernel divides it by or compares it with, one, two and many tiles along each
 * dimension, values of the data (sct_shape.variant), addresses of arrays alike and unlike. */
#include "measure_cover.h"
#include "measure_session.h"
#include "ptx/ptx.h"

#include <string.h>

/* ---- what there is to cover ---- */

/* Sizes as such. */
static const int64_t least_size[] = {0, 1, 2, 32, 1024, 4097};

/* Of an extent by a modulus: how often it is in there, with each of the remainders that loops and
 * guards get wrong. */
enum { ONCE, SOME_TIMES, MANY_TIMES, N_COUNTS };
enum { BELOW = SCT_N_RESTS * N_COUNTS, JUST_BELOW, N_OF_MODULUS };

#define MAX_MODULI  16 /* of a dimension */
#define N_RELATIONS 3  /* of two extents: less, equal, greater */
#define RELATED     3  /* dimensions that are compared, the last ones */

typedef struct moduli {
  int n;
  int64_t all[MAX_MODULI];
} moduli;

#define MAX_POOL_ELEMENTS ((int64_t)1 << 16)

/* What the cases of a candidate may cost in all, those that it meets anyway too, one that is listed
 * for no edge of the candidate's, and how many they are. */
typedef struct budget {
  double all, one;
  int cases;
} budget;

/* How a list of situations is made. */
typedef struct builder {
  sct_measure *m;
  const sct_spec *spec;
  const sct_kernel_code *code;
  sct_tuples must;
  moduli of[SCT_MAX_DIMS];
  int n_traits;
  sct_cover cover;
  bool strange; /* the template of another, which has not been tested: much more is looked at */
  budget most;
  double reads; /* that an element has by taps and windows */
  double cost;  /* of what was added, see cost_of() */
  sct_situations *out;
} builder;

/* Elements, or threads that have none, that cost as much as a case by itself: a request, and arrays
 * that are placed and compared. */
#define CASE_ELEMENTS 1500
#define SHARED_BY     8 /* candidates of a template that meet a case, about */
#define READS         8 /* that taps and windows add, cost as much as an element */

static double launch_cost(const sct_spec *spec, const sct_kernel_code *code, const int64_t *extent,
                          double elements) {
  const int64_t blocks = sct_code_blocks_at(spec, code, extent);
  const double threads = (double)(sct_code_few_blocks(code, blocks) * code->threads);
  return (elements > threads ? elements : threads) / CASE_ELEMENTS;
}

/* The naive variant makes the reference of a case once. */
static double cost_of(const builder *b, const int64_t *dims) {
  const sct_kernel_code *naive = b->strange ? NULL : b->m->naive.code;
  const double work = 1 + b->reads / READS;
  int64_t extent[SCT_MAX_EXTENTS];
  for (int k = 0; k < b->spec->n_extents; k++) {
    extent[k] = k < b->spec->n_dims ? dims[k] : 1;
  }
  const double elements = (double)sct_tuple_elements(b->spec, dims);
  return 1 + work * launch_cost(b->spec, b->code, extent, elements) +
         (naive ? work * launch_cost(b->spec, naive, extent, elements) / SHARED_BY : 0);
}

static void add_modulus(moduli *to, int64_t modulus, int most) {
  bool known = modulus < 2 || to->n >= most;
  for (int k = 0; k < to->n; k++) {
    known = known || to->all[k] == modulus;
  }
  if (!known) {
    to->all[to->n++] = modulus;
  }
}

/* How much a constant of the kernel says: first what is no power of two, which little else has,
 * last what positions are only multiplied with. */
enum { RANK_RARE, RANK_POWER, RANK_MULTIPLIED };

static int rank_of(const sct_kernel_code *code, const sct_ptx_traits *traits, int k) {
  const int64_t c = traits->constant[k];
  const bool inside = traits->of_threads[k] && c <= code->threads; /* a block, not an extent */
  return traits->multiplied[k] || inside ? RANK_MULTIPLIED
         : (c & (c - 1)) == 0            ? RANK_POWER
                                         : RANK_RARE;
}

/* A tile, the kernel's own constants, as they are and in tiles, and what vectors ask for. */
static void find_moduli(builder *b, const sct_ptx_traits *traits) {
  const int n_dims = b->spec->n_dims;
  const int room = SCT_MAX_TRAITS - SCT_N_VARIANTS - N_RELATIONS * RELATED;
  const int each = (room / n_dims - SCT_COUNT(least_size)) / N_OF_MODULUS;
  const int most = each < MAX_MODULI ? each : MAX_MODULI;
  const int n_constants = traits ? traits->n_constants : 0;
  for (int d = 0; d < n_dims; d++) {
    const int64_t tile = b->must.tile[d];
    add_modulus(&b->of[d], tile, most);
    for (int rank = 0; rank < RANK_MULTIPLIED; rank++) {
      for (int k = 0; k < n_constants; k++) {
        const int64_t c = traits->constant[k];
        if (c <= b->must.max_elements && rank_of(b->code, traits, k) == rank) {
          add_modulus(&b->of[d], c, most);
          add_modulus(&b->of[d], tile <= b->must.max_elements / c ? c * tile : 0, most);
          add_modulus(&b->of[d], c * (traits->of_threads[k] ? 4 : b->must.unit[d]), most);
        }
      }
    }
    add_modulus(&b->of[d], b->must.unit[d], most);
    add_modulus(&b->of[d], 4, most);
    add_modulus(&b->of[d], 32, most);
    b->n_traits += SCT_COUNT(least_size) + N_OF_MODULUS * b->of[d].n;
  }
  b->n_traits += SCT_N_VARIANTS + N_RELATIONS * RELATED;
  sct_cover_init(&b->cover, b->n_traits);
}

/* ---- the traits of a case ---- */

static int class_of(int64_t extent, int64_t modulus) {
  const int64_t count = extent / modulus;
  const int times = count == 1 ? ONCE : count < 4 ? SOME_TIMES : MANY_TIMES;
  return extent == modulus - 1 ? JUST_BELOW
         : count == 0          ? BELOW
                               : times * SCT_N_RESTS + sct_rest_of(extent, modulus);
}

static sct_traits traits_of(const builder *b, const int64_t *dims, int variant) {
  sct_traits t = {0};
  const int n_dims = b->spec->n_dims;
  int base = 0;
  for (int d = 0; d < n_dims; d++) {
    int size = 0;
    while (size + 1 < SCT_COUNT(least_size) && dims[d] >= least_size[size + 1]) {
      size++;
    }
    sct_traits_add(&t, base + size);
    base += SCT_COUNT(least_size);
    for (int k = 0; k < b->of[d].n; k++, base += N_OF_MODULUS) {
      sct_traits_add(&t, base + class_of(dims[d], b->of[d].all[k]));
    }
  }
  sct_traits_add(&t, base + variant);
  base += SCT_N_VARIANTS;
  for (int a = n_dims > RELATED ? n_dims - RELATED : 0; a < n_dims; a++) {
    for (int d = a + 1; d < n_dims; d++, base += N_RELATIONS) {
      sct_traits_add(&t, base + (dims[a] < dims[d] ? 0 : dims[a] == dims[d] ? 1 : 2));
    }
  }
  return t;
}

/* ---- the list ---- */

/* Candidates of templates share cases, so these have their values by their extents; strange ones
 * meet all values in turn. */
static int variant_of(const builder *b, const int64_t *tuple) {
  return b->strange ? b->out->n_full % SCT_N_VARIANTS : sct_tuple_variant(b->spec, tuple);
}

static bool has_case(const sct_situations *list, const sct_case *c) {
  bool has = false;
  for (int k = 0; k < list->n; k++) {
    has = has || list->all[k].c == c;
  }
  return has;
}

/* Unless it is there already, or takes long where there are so many others. */
static void add_beside(builder *b, sct_case *c, int n_others) {
  if (!sct_case_takes_long(b->m, b->code, c, n_others) && !has_case(b->out, c)) {
    const sct_traits t = traits_of(b, c->dims, c->variant);
    sct_cover_add(&b->cover, &t);
    b->cost += cost_of(b, c->dims);
    b->out->n_full += c->shape.n_elements > 0;
    sct_situations_add(b->out, c, NULL);
  }
}

static void add_new(builder *b, sct_case *c) {
  add_beside(b, c, b->out->n_full);
}

/* The case of the tuple or near it, unless it is there already or takes long. false: there is none
 * that spec and candidate allow. */
static bool add_case(builder *b, const int64_t *tuple) {
  sct_case *c = NULL;
  /* of scans a group of tiles is tried as it is, which others of its tuples are far below */
  const bool grouped = b->spec->scans && b->out->max_elements < SCT_MAX_VIRTUAL_SCAN;
  const sct_case_want want = {.dims = tuple, .variant = variant_of(b, tuple)};
  sct_case_allowed(b->m, b->code, &want, grouped ? SCT_MAX_VIRTUAL_SCAN : b->out->max_elements, &c);
  if (c) {
    add_new(b, c);
  }
  return c != NULL;
}

/* A tuple that is longer than a layout allows, with one extent after the other at its limit, and
 * just below. */
static void add_limits(builder *b, const int64_t *tuple) {
  sct_case *c = NULL;
  if (sct_tuple_elements(b->spec, tuple) > b->out->max_elements) {
    return;
  }
  sct_case_get(b->m, tuple, &c);
  for (int d = 0; d < b->spec->n_dims && c->too_long; d++) {
    int64_t dims[SCT_MAX_DIMS];
    memcpy(dims, tuple, sizeof *dims * (size_t)b->spec->n_dims);
    const int64_t most = sct_case_longest(b->m, tuple, d);
    for (dims[d] = most; dims[d] > 0 && dims[d] > most - 2; dims[d]--) {
      (void)add_case(b, dims);
    }
  }
}

/* Tuples as long in each dimension as there is room for, the others being 3: they find the limits
 * of layouts that none of the others exceeds. */
static void add_far_limits(builder *b) {
  const int n_dims = b->spec->n_dims;
  for (int far = 0; far < n_dims; far++) {
    int64_t tuple[SCT_MAX_DIMS], most = b->out->max_elements;
    for (int d = 0; d < n_dims; d++) {
      tuple[d] = 3;
      most /= d == far ? 1 : 3;
    }
    tuple[far] = most;
    add_limits(b, tuple);
  }
}

#define MOST_ABOVE     ((int64_t)1 << 17) /* elements of a tuple for constants: this, */
#define BEYOND_16_BITS ((int64_t)1 << 16)
#define FAR_ABOVE      ((int64_t)300000) /* and of users' kernels, along one dimension */

static void add_within(builder *b, const int64_t *tuple, int64_t most) {
  const int64_t usual = b->out->max_elements;
  if (sct_tuple_elements(b->spec, tuple) <= most && b->cost < b->most.all &&
      cost_of(b, tuple) <= b->most.one) {
    b->out->max_elements = usual > most ? usual : most;
    (void)add_case(b, tuple);
    b->out->max_elements = usual;
  }
}

/* A long extent, the others being 1; its neighbour's is 2. */
static void add_along(builder *b, int dim, int64_t extent) {
  int64_t tuple[SCT_MAX_DIMS];
  for (int d = 0; d < b->spec->n_dims; d++) {
    tuple[d] = d == dim ? extent : d == (dim > 0 ? dim - 1 : 1) ? 2 : 1;
  }
  add_within(b, tuple, FAR_ABOVE);
}

/* Each extent just above the number, where that is beyond what the pool has. */
static void add_far(builder *b, int64_t number) {
  for (int d = 0; d < b->spec->n_dims && number > MAX_POOL_ELEMENTS / 4; d++) {
    add_along(b, d, number + 1 + number / 16);
  }
}

/* The least extent of a dimension at which the expression is above the number; 0: none in reach. */
static int64_t least_above(const builder *b, sct_expr of, int dim, int64_t number) {
  const sct_spec *spec = b->spec;
  int64_t extent[SCT_MAX_EXTENTS], low = 0, high = FAR_ABOVE;
  const sct_expr_env env = {spec->extent_var, extent, spec->n_extents};
  for (int k = 0; k < spec->n_extents; k++) {
    extent[k] = 1;
  }
  while (high - low > 1) {
    int64_t value = 0;
    extent[dim] = low + (high - low) / 2;
    const bool is_above =
        sct_expr_eval(spec->pool, of, &env, &value, NULL) == SCT_OK && value > number;
    *(is_above ? &high : &low) = extent[dim];
  }
  return high < FAR_ABOVE ? high : 0;
}

/* Arrays that are longer or shorter along a dimension than the index space, by a factor, just
 * beyond what an index of 8, 15 or 16 bits can be. */
static void add_narrow(builder *b) {
  static const int64_t most[] = {1 << 8, 1 << 15, 1 << 16};
  const sct_spec *spec = b->spec;
  for (int k = 0; k < spec->n_operands * SCT_MAX_DIMS * spec->n_dims; k++) {
    const int d = k % spec->n_dims, at = k / spec->n_dims % SCT_MAX_DIMS;
    const sct_operand *op = &spec->operands[k / spec->n_dims / SCT_MAX_DIMS];
    const bool is_other = at < op->n_dims && op->extent[at] != spec->extent_var[d] &&
                          sct_expr_mentions(spec->pool, op->extent[at], spec->extent_var[d]);
    for (int width = 0; width < SCT_COUNT(most) && is_other; width++) {
      const int64_t least = least_above(b, op->extent[at], d, most[width]);
      if (least > 0) {
        add_along(b, d, least);
      }
    }
  }
}

/* The extent along a dimension up to which the grid grows, and its blocks there; 0: it goes on. */
static int64_t grid_end(const builder *b, int dim, int64_t *blocks) {
  int64_t extent[SCT_MAX_EXTENTS], low = 1, high = FAR_ABOVE;
  memcpy(extent, b->must.unit, sizeof extent);
  extent[dim] = high * 64;
  *blocks = sct_code_blocks_at(b->spec, b->code, extent);
  extent[dim] = high;
  if (sct_code_blocks_at(b->spec, b->code, extent) < *blocks) {
    return 0;
  }
  while (high - low > 1) {
    extent[dim] = low + (high - low) / 2;
    *(sct_code_blocks_at(b->spec, b->code, extent) < *blocks ? &low : &high) = extent[dim];
  }
  return high;
}

#define TILES_BESIDE 3

/* Beyond what a grid that does not grow covers at once: a loop that should go on shows there; and
 * once more with several tiles along the other dimensions, to which its blocks come in turn. */
static void add_beyond_grid(builder *b, const sct_ptx_traits *traits) {
  for (int d = 0; d < b->spec->n_dims; d++) {
    int64_t blocks = 0, tuple[SCT_MAX_DIMS];
    const int64_t end = grid_end(b, d, &blocks);
    if (end <= 1 || blocks <= 1) {
      continue;
    }
    for (int beside = 1; beside <= TILES_BESIDE; beside += TILES_BESIDE - 1) {
      for (int other = 0; other < b->spec->n_dims; other++) {
        const int64_t tiles = (beside - 1) * b->must.tile[other] + 1;
        tuple[other] = other == d ? end + end / 2 + 3 : sct_round_up(tiles, b->must.unit[other]);
      }
      add_within(b, tuple, beside > 1 ? MOST_ABOVE : FAR_ABOVE);
    }
    for (int k = 0; traits && k < traits->n_constants; k++) { /* of each block's share */
      if (traits->constant[k] <= FAR_ABOVE / blocks) {
        add_far(b, traits->constant[k] * blocks);
      }
    }
  }
}

#define MOST_STEPS 12
#define BESIDE     1024 /* the other extents, where blocks are counted; */
#define FEW_BESIDE 5    /* and where the kernel runs */

/* A grid that grows along a dimension by few steps says that a kernel shares its threads out anew
 * at each: there once, with blocks that are full and one that is not. */
static void add_steps_of_grid(builder *b) {
  for (int d = 0; d < b->spec->n_dims && b->spec->n_dims > 1; d++) {
    int64_t extent[SCT_MAX_EXTENTS], tuple[SCT_MAX_DIMS], step[MOST_STEPS + 1];
    int n = 0;
    memcpy(extent, b->must.unit, sizeof extent);
    for (int other = 0; other < b->spec->n_dims; other++) {
      extent[other] = sct_round_up(BESIDE, b->must.unit[other]);
      tuple[other] = sct_round_up(FEW_BESIDE, b->must.unit[other]);
    }
    for (int64_t from = b->must.unit[d]; n <= MOST_STEPS && from > 0; n += from > 0) {
      from = sct_next_edge(b->spec, b->code, extent, d, from);
      step[n] = from;
    }
    for (int k = 0; k < n && n <= MOST_STEPS; k++) {
      tuple[d] = sct_round_up(step[k], b->must.unit[d]);
      (void)add_case(b, tuple);
    }
  }
}

/* All extents above what the kernel compares something with, where that is no common number: a
 * mistake may want it of several of them. */
static void add_above_constants(builder *b, const sct_ptx_traits *traits) {
  const int n_dims = b->spec->n_dims;
  for (int k = 0; traits && k < traits->n_constants; k++) {
    int64_t tuple[SCT_MAX_DIMS];
    for (int d = 0; d < n_dims; d++) {
      tuple[d] = d + RELATED >= n_dims ? traits->constant[k] : 1;
    }
    if (rank_of(b->code, traits, k) == RANK_RARE && n_dims > 1) {
      add_within(b, tuple, MOST_ABOVE);
    }
    if (b->strange) {
      add_far(b, traits->constant[k]);
    }
  }
}

/* Several tiles along two dimensions at once, with and without rests, tall and wide. */
static void add_several_tiles(builder *b) {
  static const int64_t times[][2][2] = {{{2, 0}, {2, 0}}, {{4, 1}, {4, -1}}, {{4, -1}, {4, 1}},
                                        {{5, 0}, {4, 0}}, {{1, 1}, {17, 2}}, {{17, 2}, {1, 1}},
                                        {{2, 1}, {3, 0}}, {{3, 0}, {2, 1}}};
  const int last = b->spec->n_dims - 1;
  for (int k = 0; k < SCT_COUNT(times) && last > 0; k++) {
    int64_t tuple[SCT_MAX_DIMS];
    for (int d = 0; d <= last; d++) {
      tuple[d] = sct_round_up(1 + 2 * (k % 2 == 0), b->must.unit[d]);
    }
    for (int n = 0; n < 2; n++) {
      const int d = last - 1 + n;
      const int64_t other = b->must.tile[last - n], own = b->must.tile[d] > 1 ? b->must.tile[d] : 8;
      const int64_t tile = times[k][n][0] == 17 && other > own ? other : own;
      tuple[d] = sct_round_up(times[k][n][0] * tile + times[k][n][1], b->must.unit[d]);
    }
    add_within(b, tuple, b->strange ? MOST_ABOVE : b->out->max_elements);
  }
}

#define LONG_ROW ((int64_t)9232)
#define FEW_ROWS ((int64_t)2)
#define SOME_FEW ((int64_t)5)

static void add_listed(builder *b) {
  int64_t all[SCT_MAX_LISTED][SCT_MAX_DIMS] = {{0}};
  const int n = sct_tuples_listed(all, b->spec, b->must.unit);
  for (int k = 0; k < n; k++) {
    if (sct_tuple_elements(b->spec, all[k]) <= b->out->max_elements) {
      (void)add_case(b, all[k]);
    }
  }
}

#define SOME_ROWS ((int64_t)1000)

/* Long rows, several of them; of strange kernels long columns, too; and some of either. */
static void add_long_rows(builder *b) {
  const int64_t rows = b->strange ? SOME_FEW : FEW_ROWS;
  const int last = b->spec->n_dims - 1;
  for (int k = 0; k < 2 && last > 0; k++) {
    int64_t tuple[SCT_MAX_DIMS];
    for (int d = 0; d <= last; d++) {
      const int64_t side = d == last - k ? SOME_ROWS : d == last - (k ^ 1) ? 3 : 1;
      tuple[d] = sct_round_up(side, b->must.unit[d]);
    }
    add_within(b, tuple, b->out->max_elements);
  }
  for (int k = 0; k < (b->strange ? 2 : 1) && last > 0; k++) {
    int64_t tuple[SCT_MAX_DIMS];
    for (int d = 0; d <= last; d++) {
      tuple[d] = d == last - k ? LONG_ROW - k : d == last - (k ^ 1) ? rows : b->must.unit[d];
      tuple[d] = sct_round_up(tuple[d], b->must.unit[d]);
    }
    add_within(b, tuple, MOST_ABOVE);
  }
}

/* false: spec and candidate do not allow it. */
static bool add_with_own(builder *b, const int64_t *tuple, int64_t own) {
  sct_case *c = NULL;
  sct_case_get_as(b->m, &(sct_case_want){tuple, variant_of(b, tuple), own}, &c);
  const bool ok = c->legal && sct_code_allows(&b->m->addressing, b->code, c->shape.extent);
  if (ok) {
    add_new(b, c);
  }
  return ok;
}

/* Tables and bins that are long, of which each element finds another part; and those around what
 * the kernel compares something with. */
static void add_own(builder *b, const sct_ptx_traits *traits) {
  static const int64_t sides[] = {3008, 48, 16, 8};
  static const int64_t lengths[] = {132112, 20016, 5008, 1104, 304};
  const int n_dims = b->spec->n_dims;
  int64_t tuple[SCT_MAX_DIMS];
  bool found = b->spec->n_extents == n_dims;
  for (int d = 0; d < n_dims; d++) {
    const int64_t side = n_dims <= SCT_COUNT(sides) ? sides[n_dims - 1] : 4;
    tuple[d] = b->must.only[d] > 0 ? b->must.only[d] : sct_round_up(side, b->must.unit[d]);
  }
  for (int k = 0; k < SCT_COUNT(lengths) && !found; k++) {
    found = add_with_own(b, tuple, lengths[k]);
  }
  for (int k = 0; traits && k < traits->n_constants && b->spec->n_extents > n_dims; k++) {
    for (int off = -1; off <= 1 && b->strange; off++) {
      (void)add_with_own(b, tuple, traits->constant[k] + off);
    }
  }
}

static void add_must(builder *b) {
  for (int k = 0; k < b->must.n; k++) {
    const int64_t *tuple = b->must.values + k * b->must.n_dims;
    if (!add_case(b, tuple)) {
      add_limits(b, tuple);
    }
  }
  add_far_limits(b);
}

/* ---- the pool ---- */

#define MAX_POOL 4000

typedef struct pool {
  int n;
  int64_t tuple[MAX_POOL][SCT_MAX_DIMS];
  double cost[MAX_POOL];
  int gain[MAX_POOL]; /* at most */
} pool;

/* An extent with this remainder (REST_...), so many times the modulus. */
static int64_t times_modulus(int64_t count, int64_t modulus, int rest, uint64_t *rng) {
  const int64_t any = 2 + (int64_t)(sct_take(rng) % (uint64_t)modulus);
  const int64_t rests[SCT_N_RESTS] = {0, 1, -1, any};
  return count * modulus + rests[rest];
}

/* The same, often few times, at times many. */
static int64_t near_modulus(int64_t modulus, int rest, uint64_t *rng) {
  static const int64_t counts[] = {1, 1, 1, 2, 2, 3, 4, 5};
  return times_modulus(counts[sct_take(rng) % SCT_COUNT(counts)], modulus, rest, rng);
}

/* What requirements ask for, and no more elements than may be: else false. */
static bool fit(const builder *b, int64_t *tuple) {
  const sct_spec *spec = b->spec;
  for (int d = 0; d < spec->n_dims; d++) {
    const int64_t unit = b->must.unit[d];
    tuple[d] = b->must.only[d] > 0 ? b->must.only[d]
               : unit > 1          ? sct_round_up(tuple[d], unit)
                                   : tuple[d];
  }
  const bool far = b->strange && b->out->max_elements < MAX_POOL_ELEMENTS;
  const int64_t most = far ? MAX_POOL_ELEMENTS : b->out->max_elements;
  return sct_tuple_elements(spec, tuple) <= most &&
         (spec->n_extents > spec->n_dims || sct_code_allows(&b->m->addressing, b->code, tuple));
}

static void add_to_pool(const builder *b, pool *p, const int64_t *tuple) {
  if (p->n < MAX_POOL) {
    const sct_traits t = traits_of(b, tuple, variant_of(b, tuple));
    memcpy(p->tuple[p->n], tuple, sizeof p->tuple[0]);
    p->cost[p->n] = cost_of(b, tuple);
    p->gain[p->n++] = sct_cover_gain(&b->cover, &t);
  }
}

/* A tuple with dimension d near a multiple of the modulus and, with its own, another one (-1:
 * none); `which`: 0 to N_NEAR - 1, of the ways. The same for all candidates that have these moduli,
 * so that they share their cases. */
#define N_NEAR (SCT_N_RESTS * SCT_N_RESTS + 1)

static void add_near(const builder *b, pool *p, int which, int d, int64_t modulus, int other,
                     int64_t its) {
  static const int64_t counts[SCT_N_RESTS] = {1, 2, 3, 5}; /* 2 * m - 1 has m once */
  uint64_t rng = sct_mix64(sct_mix64((uint64_t)(d * N_NEAR + which), (uint64_t)modulus),
                           sct_mix64((uint64_t)other, (uint64_t)its));
  for (int attempt = 0; attempt < 4; attempt++) {
    int64_t tuple[SCT_MAX_DIMS] = {0};
    for (int any = 0; any < b->spec->n_dims; any++) {
      tuple[any] = 1 + (int64_t)(sct_take(&rng) % (attempt > 1 ? 3 : 40));
    }
    if (other < 0) { /* all classes of this one */
      tuple[d] = times_modulus(counts[which / SCT_N_RESTS % SCT_N_RESTS], modulus,
                               which % SCT_N_RESTS, &rng);
    } else {
      tuple[d] = near_modulus(modulus, which % SCT_N_RESTS, &rng);
      tuple[other] = which == N_NEAR - 1 ? tuple[d] : near_modulus(its, which / SCT_N_RESTS, &rng);
    }
    if (fit(b, tuple)) {
      add_to_pool(b, p, tuple);
      return;
    }
  }
}

/* One extent near multiples of two moduli at once. */
static void add_both(const builder *b, pool *p, int which, int d, int64_t modulus, int64_t other) {
  const int64_t more = modulus > other ? modulus : other, less = modulus > other ? other : modulus;
  uint64_t rng =
      sct_mix64(sct_mix64((uint64_t)(d * N_NEAR + which), (uint64_t)more), (uint64_t)~less);
  int64_t tuple[SCT_MAX_DIMS] = {0};
  for (int any = 0; any < b->spec->n_dims; any++) {
    tuple[any] = 1 + (int64_t)(sct_take(&rng) % 3);
  }
  tuple[d] = near_modulus(more, which % SCT_N_RESTS, &rng);
  for (int steps = 0; steps < 64 && sct_rest_of(tuple[d], less) != which / SCT_N_RESTS; steps++) {
    tuple[d] += more;
  }
  if (fit(b, tuple)) {
    add_to_pool(b, p, tuple);
  }
}

/* All moduli in one way, then in the next, so that each has some where there is no room for all. */
static void fill_pool(const builder *b, pool *p) {
  for (int which = 0; which < N_NEAR; which++) {
    for (int d = 0; d < b->spec->n_dims; d++) {
      for (int k = 0; k < b->of[d].n; k++) {
        const int64_t modulus = b->of[d].all[k];
        add_near(b, p, which, d, modulus, -1, 0);
        for (int more = k + 1; more < b->of[d].n && which < N_NEAR - 1; more++) {
          add_both(b, p, which, d, modulus, b->of[d].all[more]);
        }
        for (int other = d + 1; other < b->spec->n_dims; other++) {
          for (int its = 0; its < b->of[other].n; its++) {
            add_near(b, p, which, d, modulus, other, b->of[other].all[its]);
          }
        }
      }
    }
  }
}

/* The one that covers most new pairs for what it costs; -1: none covers enough. Gains only fall, so
 * one that stays the best after it was looked at again is it. */
static int best_of(const builder *b, pool *p, int least) {
  int seen = -1;
  for (;;) {
    int best = -1;
    for (int k = 0; k < p->n; k++) {
      const bool better = best < 0 || p->gain[k] / p->cost[k] > p->gain[best] / p->cost[best];
      best = p->gain[k] >= least && better ? k : best;
    }
    if (best < 0 || best == seen) {
      return best;
    }
    const sct_traits t = traits_of(b, p->tuple[best], variant_of(b, p->tuple[best]));
    p->gain[best] = sct_cover_gain(&b->cover, &t);
    seen = best;
  }
}

#define LEAST_GAIN 2

static void add_from_pool(builder *b) {
  const double all = b->most.all;
  const double most = b->cost < all / 2 ? all : b->cost + all / 2; /* whatever constants took */
  SCT_OWNED pool *p = sct_alloc(sizeof *p);
  fill_pool(b, p);
  for (int tries = 0; tries < 2 * b->most.cases && b->out->n < b->most.cases; tries++) {
    const int best = best_of(b, p, LEAST_GAIN);
    if (best < 0 || b->cost + p->cost[best] > most) {
      break;
    }
    (void)add_case(b, p->tuple[best]);
    p->gain[best] = 0;
  }
}

#define LEAST_TIMES 3 /* an extent of the least cases, at most */
#define MOST_TIMES  4 /* all of them */

/* The case with extents so many times the least, one dimension after the other in the digits of
 * `times`, if that is `all` times as many elements. */
static void add_times(builder *b, int times, int all) {
  int64_t tuple[SCT_MAX_DIMS];
  int product = 1;
  sct_case *c = NULL;
  for (int d = 0; d < b->spec->n_dims; d++, times /= LEAST_TIMES) {
    const int mine = 1 + times % LEAST_TIMES;
    tuple[d] = b->must.unit[d] * (b->must.only[d] > 0 ? 1 : mine);
    product *= mine;
  }
  if (product == all) {
    const sct_case_want want = {.dims = tuple, .variant = variant_of(b, tuple)};
    sct_case_allowed(b->m, b->code, &want, b->out->max_elements, &c);
  }
  if (c) {
    add_beside(b, c, SCT_LEAST_CASES);
  }
}

/* The least cases, the smallest first, where others take too long. */
static void add_enough(builder *b) {
  int n = 1;
  for (int d = 0; d < b->spec->n_dims; d++) {
    n *= LEAST_TIMES;
  }
  for (int all = 1; all <= MOST_TIMES; all++) {
    for (int times = 0; times < n && b->out->n_full < SCT_MIN_CASES; times++) {
      add_times(b, times, all);
    }
  }
}

/* ---- all of it ---- */

/* All that decides about a list. Equal expressions of a pool have equal handles. */
static sct_hash key_of(const sct_spec *spec, const sct_kernel_code *code,
                       const sct_ptx_traits *traits) {
  sct_hash key = {
      sct_mix64((uint64_t)code->grid, (uint64_t)code->threads),
      sct_mix64((uint64_t)(code->rounds + code->n_params), sct_code_inspects(spec, code, traits))};
  for (int k = 0; k < code->n_require; k++) {
    key.hi = sct_mix64(key.hi, (uint64_t)code->require[k]);
    key.lo = sct_mix64(key.lo, key.hi);
  }
  for (int k = 0; k < spec->n_operands; k++) {
    key.lo = sct_mix64(key.lo, (uint64_t)sct_code_residue(code, k));
  }
  for (int k = 0; traits && k < traits->n_constants; k++) {
    const uint64_t how = 2 * traits->multiplied[k] + traits->of_threads[k];
    key.hi = sct_mix64(key.hi, (uint64_t)traits->constant[k] * 4 + how);
  }
  return key;
}

static void begin(builder *b, sct_measure *m, const sct_kernel_code *code,
                  const sct_ptx_traits *traits, sct_situations *out) {
  static const budget of_tested = {.all = 90, .one = 15, .cases = 44};
  static const budget of_strange = {.all = 540, .one = 540, .cases = 264};
  const bool strange = code->n_params > 0;
  *b = (builder){.m = m,
                 .spec = m->addressing.spec,
                 .code = code,
                 .strange = strange,
                 .most = strange ? of_strange : of_tested,
                 .out = out};
  for (int k = 0; k < b->spec->n_inputs; k++) {
    b->reads += (double)(sct_operand_reads(&b->spec->operands[k]) - 1);
  }
  const int64_t most = m->is_virtual ? SCT_MAX_VIRTUAL_ELEMENTS : SCT_MAX_VERIFY_ELEMENTS;
  sct_extents_list(&b->must, &m->addressing, code,
                   (int64_t)((double)most / (1 + b->reads / READS)));
  out->max_elements = b->must.max_elements;
  find_moduli(b, traits);
}

/* Says where arrays lie in all situations. */
static void end(builder *b, const sct_ptx_traits *traits) {
  sct_situations_place(b->out, b->spec, b->code, sct_code_inspects(b->spec, b->code, traits));
  sct_cover_free(&b->cover);
  sct_tuples_free(&b->must);
}

void sct_situations_for(sct_measure *m, const sct_kernel_code *code, const sct_ptx_traits *traits,
                        const sct_situations **out) {
  const sct_spec *spec = m->addressing.spec;
  const sct_hash key = key_of(spec, code, traits);
  for (size_t k = 0; k < m->cases.n_lists; k++) {
    if (sct_hash_equal(m->cases.lists[k].key, key)) {
      *out = &m->cases.lists[k];
      return;
    }
  }
  sct_situations list = {.key = key, .inspects = sct_code_inspects(spec, code, traits)};
  builder b;
  begin(&b, m, code, traits, &list);
  add_must(&b);
  add_steps_of_grid(&b);
  add_above_constants(&b, traits);
  add_listed(&b);
  add_long_rows(&b);
  add_own(&b, traits);
  if (b.strange) {
    add_narrow(&b);
    add_far(&b, BEYOND_16_BITS);
    add_beyond_grid(&b, traits);
  }
  add_several_tiles(&b);
  add_from_pool(&b);
  add_enough(&b);
  end(&b, traits);
  SCT_GROW(m->cases.lists, m->cases.n_lists, m->cases.cap_lists);
  m->cases.lists[m->cases.n_lists] = list;
  *out = &m->cases.lists[m->cases.n_lists++];
}

/* ---- few of them ---- */

/* What may be chosen, and what it costs. */
typedef struct choice {
  int n;
  size_t cap, cap_cost;
  sct_case **all;
  double *cost;
} choice;

/* The cases of a list as self-tests have them, each once. */
static void consider(choice *from, const builder *b, const sct_situations *list) {
  for (int k = 0; k < list->n; k++) {
    sct_case *c = sct_example_case(b->m, list->all[k].c);
    bool known = c == NULL;
    for (int before = 0; before < from->n; before++) {
      known = known || from->all[before] == c;
    }
    if (!known) {
      SCT_GROW(from->all, (size_t)from->n, from->cap);
      SCT_GROW(from->cost, (size_t)from->n, from->cap_cost);
      from->cost[from->n] = sct_example_cost(b->m, c);
      from->all[from->n++] = c;
    }
  }
}

#define FEW_PLACES 2 /* of the arrays of each case */

/* The one of at least so many elements that covers most new pairs for what it costs; false: none,
 * or there is no room. */
static bool add_best(builder *b, const choice *from, int64_t least, double *room) {
  sct_traits its = {0};
  double most = 0;
  int best = -1;
  for (int k = 0; k < from->n; k++) {
    const sct_traits t = traits_of(b, from->all[k]->dims, from->all[k]->variant);
    const double gain = sct_cover_gain(&b->cover, &t) / from->cost[k];
    if (gain > most && from->cost[k] <= *room && from->all[k]->shape.n_elements >= least) {
      most = gain;
      best = k;
      its = t;
    }
  }
  if (best >= 0) {
    sct_cover_add(&b->cover, &its);
    *room -= from->cost[best];
    for (int place = 0; place < FEW_PLACES; place++) {
      sct_situations_add(b->out, from->all[best], NULL);
    }
  }
  return best >= 0;
}

void sct_situations_choose(sct_measure *m, const sct_kernel_code *code,
                           const sct_ptx_traits *traits, double room, sct_situations *out) {
  const sct_situations *list = NULL;
  sct_situations mine = {0}, tiles = {0};
  choice from = {0};
  builder b;
  sct_situations_for(m, code, traits, &list);
  begin(&b, m, code, traits, &tiles);
  consider(&from, &b, list);
  add_several_tiles(&b);
  consider(&from, &b, &tiles);
  sct_cover_free(&b.cover);
  sct_tuples_free(&b.must);
  begin(&b, m, code, traits, &mine);
  for (int k = 0; k < out->n; k++) { /* other kernels' */
    const sct_traits t = traits_of(&b, out->all[k].c->dims, out->all[k].c->variant);
    sct_cover_add(&b.cover, &t);
  }
  /* by their price alone all would be small */
  static const struct {
    int64_t elements;
    double share;
  } least[] = {{8192, 0.5}, {1024, 0.25}, {0, 0.25}};
  double left = 0;
  for (int k = 0; k < SCT_COUNT(least); k++) {
    left += room * least[k].share;
    while (add_best(&b, &from, least[k].elements, &left)) {
    }
  }
  end(&b, traits);
  for (int k = 0; k < mine.n; k++) {
    SCT_GROW(out->all, (size_t)out->n, out->cap);
    out->all[out->n++] = mine.all[k];
  }
  sct_free(mine.all);
  sct_free(tiles.all);
  sct_free(from.all);
  sct_free(from.cost);
}

void sct_situations_drop(sct_case_table *t) {
  for (size_t k = 0; k < t->n_lists; k++) {
    sct_free(t->lists[k].all);
  }
  sct_free(t->lists);
  t->lists = NULL;
  t->n_lists = t->cap_lists = 0;
}
