/* model_advice - the rules of model_rules.def, held to what is known of an access, a layout or a
 * launch. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No advice below these: a share of what is counted, and excess a request. */
#define LEAST_GAIN   0.01
#define LEAST_FACTOR 1.1
#define LANES        32
#define SECTOR_BYTES 32.0
#define LINE_BYTES   128.0
#define MOST_INPUTS  (SCT_MAX_DIMS + SCT_MAX_EXTENTS + SCT_MAX_OPERANDS + SCT_MAX_VALUES)
/* Elements that a thread takes in place of one, at most; what a slower variant must save. */
#define MOST_WIDER  8.0
#define LEAST_SAVED 0.03
#define COPY_BYTES  (8.0 * 227.0 * 1024.0) /* of an output that blocks have in parts, at most */
#define FEW_WARPS   (f->fit.fraction > 0.0 && f->fit.fraction < 0.5 && f->waves >= 1.0)

static double larger(double a, double b) {
  return a > b ? a : b;
}

/* ---- launches that are mended ---- */

static void without_excess(sct_demand *d, const sct_facts *f) {
  *d = f->mended ? *f->mended : *d;
}

/* A thread does what `k` do. */
static void widen(sct_demand *d, double k) {
  const double fewer = larger(1.0, d->blocks / k);
  d->blocks = k > 1.0 ? fewer : d->blocks;
}

/* Warps take as many fewer instructions. */
static void fewer_instructions(sct_demand *d, double n, sct_pipe pipe) {
  d->machine[SCT_PIPE_ISSUE] = larger(0.0, d->machine[SCT_PIPE_ISSUE] - n);
  if (pipe != SCT_PIPE_ISSUE) {
    d->machine[pipe] = larger(0.0, d->machine[pipe] - n);
  }
}

static void scale_instructions(sct_demand *d, double by) {
  for (int p = 0; p < SCT_N_PIPES; p++) {
    d->machine[p] *= by;
  }
}

/* Divisions by variables, by what ptxas makes of one (ptx_costs.def); where there are none, all
 * integer arithmetic. */
static void without_integers(sct_demand *d, const sct_facts *f) {
  if (f->divisions > 0.0) {
    fewer_instructions(d, 10.0 * f->divisions, SCT_PIPE_INT);
    fewer_instructions(d, 7.0 * f->divisions, SCT_PIPE_IMUL);
    fewer_instructions(d, 3.0 * f->divisions, SCT_PIPE_SFU);
  } else {
    fewer_instructions(d, d->machine[SCT_PIPE_INT], SCT_PIPE_INT);
    fewer_instructions(d, d->machine[SCT_PIPE_IMUL], SCT_PIPE_IMUL);
  }
}

static void in_floats(sct_demand *d, const sct_facts *f) {
  fewer_instructions(d, f->converted, SCT_PIPE_SFU);
  d->machine[SCT_PIPE_FP32] += d->machine[SCT_PIPE_FP64];
  d->machine[SCT_PIPE_FP64] = 0.0;
}

static void unswapped(sct_demand *d, const sct_facts *f) {
  const double turns = 1.0 + f->swapped * (SCT_MODEL_SWAP - 1.0);
  d->line_lanes /= turns;
  d->line_requests /= turns;
}

/* Read once, not by each warp each time. */
static void without_requests(sct_demand *d, const sct_facts *f) {
  fewer_instructions(d, f->requests, SCT_PIPE_ISSUE);
  d->sm_lines = larger(0.0, d->sm_lines - f->lines * f->requests);
}

/* A vector of 4 bytes or more in the place of narrow ones. */
static void vectors(sct_demand *d, const sct_facts *f, double times) {
  const double saved = f->requests * (1.0 - 1.0 / times);
  fewer_instructions(d, saved, SCT_PIPE_ISSUE);
  d->sm_lines = larger(0.0, d->sm_lines - saved);
  widen(d, times);
}

/* The same work in so many times the blocks: of less work a thread, then of fewer threads. */
static void spread(sct_demand *d, double times) {
  const double work = fmin(times, larger(1.0, d->chain.loads));
  const double most = larger(1.0, d->threads / LANES), threads = fmin(times / work, most);
  d->blocks *= times;
  d->threads = (int)(d->threads / threads);
  d->shared_bytes = (int64_t)((double)d->shared_bytes / times);
  d->chain.loads = larger(1.0, d->chain.loads / work);
  d->chain.cycles /= work;
  d->even = true;
}

/* As many warps as the device holds. */
static void fill_warps(sct_demand *d) {
  d->registers = 0;
  d->shared_bytes = 0;
  for (; d->threads > 0 && d->threads < 256; d->threads *= 2, d->blocks /= 2.0) {
  }
}

/* Predicted time that `mended` saves. */
static double saved_ns(const sct_facts *f, const sct_demand *mended) {
  sct_prediction after;
  sct_model_demand(&after, f->device, mended);
  return larger(0.0, f->launch_ns - after.ns);
}

int sct_model_advise(sct_advice out[SCT_N_RULES], sct_scope scope, const sct_facts *f,
                     sct_arena *arena) {
  const bool one =
      scope == SCT_SCOPE_GLOBAL || scope == SCT_SCOPE_SHARED; /* an access is one issue */
  int n = 0;
#define SAY(...) sct_str_printf(&text, __VA_ARGS__)
#define SCT_RULE(name, where, what, holds, share, mend, sentence, hint)                            \
  if (scope == SCT_SCOPE_##where && !(one && n > 0) && (holds) && (share) >= LEAST_GAIN) {         \
    sct_str text = {0};                                                                            \
    double gain_ns = -1.0;                                                                         \
    SAY sentence;                                                                                  \
    if (f->demand && f->launch_ns > 0.0) {                                                         \
      sct_demand mended = *f->demand, *const d = &mended;                                          \
      mend;                                                                                        \
      gain_ns = saved_ns(f, d);                                                                    \
    }                                                                                              \
    out[n++] = (sct_advice){.id = (name),                                                          \
                            .of = (what),                                                          \
                            .gain = (share),                                                       \
                            .gain_ns = gain_ns,                                                    \
                            .evidence = sct_arena_strdup(arena, sct_str_c(&text)),                 \
                            .advice = (hint)};                                                     \
    sct_str_free(&text);                                                                           \
  }
#include "model_rules.def"
#undef SCT_RULE
#undef SAY
  return n;
}

/* ---- facts of a layout ---- */

static int by_value(const void *pa, const void *pb) {
  const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  return (a > b) - (a < b);
}

/* A point of the index space, as expressions see it. */
typedef struct point {
  const sct_spec *spec;
  int n;
  sct_expr var[MOST_INPUTS];
  int64_t value[MOST_INPUTS]; /* dims first */
} point;

static bool offset_at(const point *p, sct_expr offset, int64_t *out) {
  const sct_expr_env env = {p->var, p->value, p->n};
  sct_error ignored;
  return sct_expr_eval(p->spec->pool, offset, &env, out, &ignored) == SCT_OK;
}

static void add_input(point *p, sct_expr var, int64_t value) {
  p->var[p->n] = var;
  p->value[p->n++] = value;
}

static void go_to_the_middle(point *p, const sct_spec *spec, const sct_size *size) {
  *p = (point){.spec = spec};
  for (int d = 0; d < spec->n_dims; d++) {
    add_input(p, spec->dim_var[d],
              size->extent[d] > 2 * LANES ? size->extent[d] / 2 / LANES * LANES : 0);
  }
  for (int k = 0; k < spec->n_extents; k++) {
    add_input(p, spec->extent_var[k], size->extent[k]);
  }
  for (int k = 0; k < spec->n_operands; k++) { /* whatever its result */
    if (spec->operands[k].is_index) {
      add_input(p, spec->operands[k].index_value, 0);
    }
  }
}

/* Bytes that a step along dimension d goes, on average over `steps` of them. */
static double mean_step(point *p, sct_expr offset, int d, int64_t steps) {
  int64_t from = 0, to = 0;
  bool known = steps > 0 && offset_at(p, offset, &from);
  p->value[d] += steps;
  known = known && offset_at(p, offset, &to);
  p->value[d] -= steps;
  return known ? fabs((double)(to - from)) / (double)steps : 0.0;
}

void sct_model_steps(double out[SCT_MAX_DIMS], const sct_spec *spec, int operand, int layout,
                     const sct_size *size) {
  const sct_operand *op = &spec->operands[operand];
  point p;
  int first = 0;
  while (first < op->record.n_fields - 1 && !op->used[first]) {
    first++;
  }
  go_to_the_middle(&p, spec, size);
  for (int d = 0; d < spec->n_dims; d++) {
    const int64_t steps = size->extent[d] > LANES ? LANES : size->extent[d] - 1;
    out[d] = mean_step(&p, op->layouts[layout].offset[first], d, steps);
  }
}

/* The dimension along which a warp's neighbours lie nearest, and how far apart; -1: none. Several
 * neighbours may have one element, as a scale of a group; then the whole dimension tells. */
static int nearest(point *p, const sct_operand *op, sct_expr offset, const sct_size *size,
                   double *stride) {
  int found = -1;
  for (int d = 0; d < p->spec->n_dims; d++) {
    const int64_t steps = size->extent[d] > LANES ? LANES : size->extent[d] - 1;
    double mean = mean_step(p, offset, d, steps);
    if (mean == 0.0 && !op->through_index) {
      const int64_t middle = p->value[d];
      p->value[d] = 0;
      mean = mean_step(p, offset, d, size->extent[d] - 1);
      p->value[d] = middle;
    }
    if (mean > 0.0 && (found < 0 || mean < *stride)) {
      found = d;
      *stride = mean;
    }
  }
  return found;
}

/* Distinct sectors that `lanes` neighbours touch with the fields that are used; 0: not known. */
static int sectors_of(point *p, const sct_operand *op, const sct_layout *layout, int dim,
                      int lanes) {
  int64_t sectors[1024];
  int n = 0, distinct = 0;
  for (int k = 0; k < lanes; k++, p->value[dim]++) {
    for (int f = 0; f < op->record.n_fields; f++) {
      const int64_t bytes = sct_type_get(op->record.fields[f].type)->bytes;
      int64_t at = 0;
      if (!op->used[f]) {
        continue;
      }
      if (!offset_at(p, layout->offset[f], &at) || n + 2 > SCT_COUNT(sectors)) {
        return 0;
      }
      sectors[n++] = at / 32;
      sectors[n++] = (at + bytes - 1) / 32;
    }
  }
  p->value[dim] -= lanes;
  qsort(sectors, (size_t)n, sizeof *sectors, by_value);
  for (int k = 0; k < n; k++) {
    distinct += k == 0 || sectors[k] != sectors[k - 1];
  }
  return distinct;
}

bool sct_model_layout_facts(sct_facts *out, const sct_spec *spec, int operand, int layout,
                            const sct_size *size) {
  const sct_operand *op = &spec->operands[operand];
  point p;
  int first = 0;
  *out = (sct_facts){.access = op->name};
  for (int f = op->record.n_fields - 1; f >= 0; f--) {
    out->width += op->used[f] ? (double)sct_type_get(op->record.fields[f].type)->bytes : 0.0;
    first = op->used[f] ? f : first;
  }
  go_to_the_middle(&p, spec, size);
  int dim = nearest(&p, op, op->layouts[layout].offset[first], size, &out->stride);
  if (op->through_index && dim >= 0 && dim < spec->n_dims - 1 && out->stride > SECTOR_BYTES &&
      sct_spec_moves_with(spec, op, spec->n_dims - 1)) {
    dim = -1; /* an index says where the neighbours of a warp read */
  }
  out->indexed = dim < 0 && op->through_index && op->accumulate == SCT_REDUCE_NONE;
  /* where taps read what lies between, the array itself tells nothing */
  if (dim < 0 || sct_operand_shared(op) > 1 || out->width <= 0.0 ||
      sct_spec_tap_sets(spec, op) > 1) {
    return out->indexed && out->width > 0.0;
  }
  const int lanes = size->extent[dim] < LANES ? (int)size->extent[dim] : LANES;
  p.value[dim] = size->extent[dim] > 2 * LANES ? p.value[dim] : 0;
  out->lanes = lanes;
  out->each = sectors_of(&p, op, &op->layouts[layout], dim, lanes);
  out->ideal = ceil(lanes * out->width / SECTOR_BYTES);
  out->bytes = (double)sct_spec_bytes(spec, operand, layout, size);
  return out->each > 0.0;
}

static int by_gain(const void *pa, const void *pb) {
  const sct_advice *a = pa, *b = pb;
  return (a->gain < b->gain) - (a->gain > b->gain);
}

/* The facts of the layout in which neighbours touch the fewest sectors. */
static bool best_facts(sct_facts *out, const sct_spec *spec, int operand, const int *layouts,
                       const sct_size *size) {
  const int n = layouts ? 1 : spec->operands[operand].n_layouts;
  bool known = false;
  for (int l = 0; l < n; l++) {
    sct_facts facts;
    if (sct_model_layout_facts(&facts, spec, operand, layouts ? layouts[operand] : l, size)) {
      *out = !known || facts.each < out->each ? facts : *out;
      known = true;
    }
  }
  return known;
}

#define HELD_BYTES 0x1p19 /* of a row, by the registers of a cluster of eight blocks */

/* Passes over the elements of rows that are too long to be held. */
static void count_passes(sct_facts *f, const sct_spec *spec, const sct_size *size) {
  double row = 1.0, bytes = 0.0, written = 0.0;
  for (int s = 0; s < spec->n_steps; s++) {
    f->less = f->less ? f->less : spec->steps[s].less ? spec->steps[s].less->name : NULL;
    f->shifts = f->shifts || (spec->steps[s].less && spec->steps[s].less->reduce == SCT_REDUCE_MAX);
    f->passes += !spec->steps[s].per_row;
  }
  for (int d = 0; d < spec->n_dims; d++) {
    row *= spec->reduced[d] ? (double)size->extent[d] : 1.0;
  }
  if (sct_spec_is_ragged(spec)) { /* of the mean length */
    row /= larger(1.0, (double)size->extent[spec->ragged.row]);
  }
  for (int op = 0; op < spec->n_operands; op++) {
    const sct_operand *operand = &spec->operands[op];
    bool along = false;
    for (int d = 0; d < spec->n_dims; d++) {
      along = along || (spec->reduced[d] && sct_spec_moves_with(spec, operand, d));
    }
    bytes += along && !operand->is_output ? (double)operand->record.bytes : 0.0;
    written = operand->is_output && along ? 1.0 : written;
  }
  f->passes = row * bytes > HELD_BYTES ? f->passes + written : 0.0;
}

static void spec_facts(sct_facts *f, const sct_spec *spec, const sct_size *size) {
  *f = (sct_facts){.access = spec->operands[spec->n_inputs].name};
  if (spec->n_steps > 0) {
    count_passes(f, spec, size);
  }
  f->tests = (double)sct_spec_ordered_tests(spec, size);
  f->bytes = (double)sct_spec_bytes(spec, spec->n_inputs, 0, size);
}

int sct_model_layout_issues(sct_advice **out, const sct_spec *spec, const int *layouts,
                            const sct_size *size, sct_arena *arena) {
  sct_advice found[SCT_N_RULES];
  int n = 0;
  *out = SCT_ARENA_NEW(arena, sct_advice, (spec->n_operands + 1) * SCT_N_RULES);
  sct_facts of_spec;
  spec_facts(&of_spec, spec, size);
  n = sct_model_advise(*out, SCT_SCOPE_SPEC, &of_spec, arena);
  for (int op = 0; op < spec->n_operands; op++) {
    sct_facts facts;
    const int more = best_facts(&facts, spec, op, layouts, size)
                         ? sct_model_advise(found, SCT_SCOPE_LAYOUT, &facts, arena)
                         : 0;
    memcpy(*out + n, found, sizeof *found * (size_t)more);
    n += more;
  }
  qsort(*out, (size_t)n, sizeof **out, by_gain);
  return n;
}
