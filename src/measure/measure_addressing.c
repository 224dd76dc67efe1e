/* Addressing and shapes: a problem's expressions as programs, and what they give at one size. */
#include "measure_data.h"

#include <pthread.h>
#include <string.h>

/* ---- addressing ---- */

/* Programs of n expressions; every one of them is freed by free_programs even after a failure. */
static sct_status make_programs(sct_expr_program ***out, const sct_addressing *addressing,
                                const sct_expr *e, int n, const sct_expr *inputs, int n_inputs,
                                sct_error *err) {
  *out = sct_alloc(sizeof **out * (size_t)(n + 1));
  for (int k = 0; k < n; k++) {
    SCT_TRY(sct_expr_program_new(&(*out)[k], addressing->spec->pool, e[k], inputs, n_inputs, err));
  }
  return SCT_OK;
}

static void free_programs(sct_expr_program **programs) {
  for (int k = 0; programs && programs[k]; k++) { /* one more than n, and that one is NULL */
    sct_expr_program_free(programs[k]);
  }
  sct_free(programs);
}

static int list_inputs(const sct_addressing *addressing, sct_expr inputs[SCT_ADDRESSING_INPUTS]) {
  const sct_spec *spec = addressing->spec;
  int n = 0;
  for (int d = 0; d < spec->n_dims; d++) {
    inputs[n++] = spec->dim_var[d];
  }
  for (int k = 0; k < spec->n_extents; k++) {
    inputs[n++] = spec->extent_var[k];
  }
  for (int k = 0; k < spec->n_index; k++) {
    inputs[n++] = spec->operands[spec->index_order[k]].index_value;
  }
  for (int k = 0; k < spec->n_values && spec->n_steps == 0; k++) {
    inputs[n++] = spec->values[k].index; /* the body knows: 0 here */
  }
  return n;
}

/* Does where the operand's elements lie depend on extents that no dimension has? */
static bool has_own_extents(const sct_addressing_operand *p, const sct_spec *spec) {
  bool has = false;
  for (int k = spec->n_dims; k < spec->n_extents && !has; k++) {
    const sct_expr var = spec->extent_var[k];
    has = sct_expr_mentions(spec->pool, p->layout->bytes, var);
    for (int d = 0; d < p->op->n_dims && !has; d++) {
      has = sct_expr_mentions(spec->pool, p->op->extent[d], var);
    }
    for (int f = 0; f < p->op->record.n_fields && !has; f++) {
      has = sct_expr_mentions(spec->pool, p->layout->element[f], var);
    }
  }
  return has;
}

static sct_status compile_operand(sct_addressing *addressing, int number, const sct_expr *inputs,
                                  int n_inputs, sct_error *err) {
  sct_addressing_operand *p = &addressing->op[number];
  const sct_spec *spec = addressing->spec;
  sct_expr own[SCT_MAX_DIMS + SCT_MAX_EXTENTS];
  p->op = &spec->operands[number];
  p->layout = &p->op->layouts[addressing->layout[number]];
  for (int d = 0; d < p->op->n_dims; d++) {
    own[d] = p->op->index[d];
  }
  for (int k = 0; k < spec->n_extents; k++) {
    own[p->op->n_dims + k] = spec->extent_var[k];
  }
  p->has_own_extents = has_own_extents(p, spec);
  const int n_fields = p->op->record.n_fields, n_dims = p->op->n_dims;
  SCT_TRY(make_programs(&p->element, addressing, p->layout->element, n_fields, own,
                        n_dims + spec->n_extents, err));
  SCT_TRY(
      make_programs(&p->offset, addressing, p->layout->offset, n_fields, inputs, n_inputs, err));
  SCT_TRY(make_programs(&p->at, addressing, p->op->at, n_dims, inputs, n_inputs, err));
  SCT_TRY(make_programs(&p->extent, addressing, p->op->extent, n_dims, inputs, n_inputs, err));
  SCT_TRY(sct_expr_program_new(&p->bytes, spec->pool, p->layout->bytes, inputs, n_inputs, err));
  return p->op->is_index ? sct_expr_program_new(&p->limit, spec->pool, p->op->index_limit, inputs,
                                                n_inputs, err)
                         : SCT_OK;
}

static bool computes_with_reals(const sct_spec *spec) {
  bool is_real = true;
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_operand *op = &spec->operands[k];
    const bool is_read = k < spec->n_inputs ? !op->is_index : sct_operand_is_prefilled(op);
    for (int f = 0; f < op->record.n_fields && is_read; f++) {
      const sct_type_kind kind = sct_type_get(op->record.fields[f].type)->kind;
      is_real = is_real && (kind == SCT_KIND_FLOAT || kind == SCT_KIND_BOOL);
    }
  }
  return is_real;
}

sct_status sct_addressing_init(sct_addressing *out, const sct_spec *spec, const int *layout,
                               uint64_t seed, sct_error *err) {
  sct_addressing addressing = {.spec = spec, .seed = seed};
  sct_literals_find(&addressing.literals, spec);
  addressing.alike = sct_spec_has_fast(spec) || !computes_with_reals(spec);
  sct_expr inputs[SCT_ADDRESSING_INPUTS];
  sct_status status = SCT_OK;
  for (int k = 0; k < spec->n_operands; k++) {
    addressing.layout[k] = layout[k];
    if (layout[k] < 0 || layout[k] >= spec->operands[k].n_layouts) {
      return sct_fail(err, SCT_EUSAGE, "operand '%s' has no layout number %d",
                      spec->operands[k].name, layout[k]);
    }
  }
  addressing.op = sct_alloc(sizeof *addressing.op * (size_t)spec->n_operands);
  const int n_inputs = list_inputs(&addressing, inputs);
  for (int k = 0; k < spec->n_operands; k++) {
    SCT_TRY_DONE(compile_operand(&addressing, k, inputs, n_inputs, err));
  }
  *out = addressing;
  return SCT_OK;
done:
  sct_addressing_free(&addressing);
  return status;
}

void sct_addressing_free(sct_addressing *addressing) {
  for (int k = 0; addressing->op && k < addressing->spec->n_operands; k++) {
    sct_addressing_operand *p = &addressing->op[k];
    free_programs(p->element);
    free_programs(p->offset);
    free_programs(p->at);
    free_programs(p->extent);
    sct_expr_program_free(p->bytes);
    sct_expr_program_free(p->limit);
  }
  sct_free(addressing->op);
  *addressing = (sct_addressing){0};
}

/* ---- shapes ---- */

bool sct_next_index(int64_t *idx, const int64_t *extent, int n) {
  for (int d = n - 1; d >= 0; d--) {
    if (++idx[d] < extent[d]) {
      return true;
    }
    idx[d] = 0;
  }
  return false;
}

static void set_sizes(const sct_shape *s, const int64_t *idx,
                      int64_t inputs[SCT_ADDRESSING_INPUTS]) {
  const sct_spec *spec = s->addressing->spec;
  for (int d = 0; d < spec->n_dims; d++) {
    inputs[d] = idx ? idx[d] : 0;
  }
  memcpy(inputs + spec->n_dims, s->extent, sizeof s->extent[0] * (size_t)spec->n_extents);
}

double sct_shape_tolerance(const sct_shape *s, int op) {
  const sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
  return sct_spec_tolerance(s->addressing->spec, op, &size);
}

sct_status sct_shape_init(sct_shape *out, const sct_addressing *addressing, const int64_t *extent,
                          const sct_fill *fill, sct_error *err) {
  const sct_spec *spec = addressing->spec;
  sct_shape s = {.addressing = addressing, .n_elements = 1};
  int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
  memcpy(s.extent, extent, sizeof s.extent[0] * (size_t)spec->n_extents);
  for (int d = 0; d < spec->n_dims; d++) {
    const int64_t times = sct_spec_multiplies(spec, d) ? extent[d] : 1;
    if (extent[d] < 0 || __builtin_mul_overflow(s.n_elements, times, &s.n_elements)) {
      return sct_fail(err, SCT_ESPEC, "the extents are negative or too large");
    }
  }
  set_sizes(&s, NULL, inputs);
  for (int k = 0; k < spec->n_operands; k++) {
    const sct_addressing_operand *p = &addressing->op[k];
    s.fill[k] = fill ? fill[k] : SCT_FILL_DEFAULT;
    s.op[k].bytes = sct_expr_program_run(p->bytes, inputs);
    s.op[k].count = s.op[k].n_written = 1;
    s.op[k].write_dims = spec->n_dims;
    for (int d = 0; d < spec->n_dims; d++) {
      const bool once = sct_spec_writes_once(spec, p->op, d) ||
                        (!p->op->per_row && !sct_spec_multiplies(spec, d));
      s.op[k].write_extent[d] = once ? 1 : extent[d];
      s.op[k].n_written *= s.op[k].write_extent[d]; /* a product of all extents, or of fewer */
    }
    for (int d = 0; d < p->op->n_dims; d++) {
      s.op[k].extent[d] = sct_expr_program_run(p->extent[d], inputs);
      if (s.op[k].extent[d] < 0 ||
          __builtin_mul_overflow(s.op[k].count, s.op[k].extent[d], &s.op[k].count)) {
        s.op[k].bytes = -1;
        break;
      }
    }
    if (s.op[k].bytes < 0) {
      return sct_fail(err, SCT_ESPEC, "array '%s' has a negative size here", p->op->name);
    }
    if (p->op->accumulate != SCT_REDUCE_NONE) {
      s.op[k].write_dims = p->op->n_dims;
      s.op[k].n_written = s.op[k].count;
      memcpy(s.op[k].write_extent, s.op[k].extent, sizeof s.op[k].extent);
    }
  }
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    s.near = s.near || sct_shape_tolerance(&s, k) > 0;
  }
  *out = s;
  return SCT_OK;
}

void sct_shape_unindex(sct_shape *s) {
  for (int k = 0; s->addressing && k < s->addressing->spec->n_operands; k++) {
    sct_free(s->op[k].values);
    s->op[k].values = NULL;
  }
}

void sct_shape_free(sct_shape *s) {
  sct_shape_unindex(s);
  for (int k = 0; s->addressing && k < s->addressing->spec->n_operands; k++) {
    sct_free(s->op[k].spans);
  }
  *s = (sct_shape){0};
}

sct_index_fill sct_shape_index_fill(const sct_shape *s, int op) {
  const sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
  sct_index_fill fill = sct_spec_index_fill(s->addressing->spec, op, &size);
  fill.variant = s->variant;
  return fill;
}

/* One thread's share of an index operand's values. */
typedef struct index_job {
  const sct_shape *shape;
  int op;
  int64_t from, to;
} index_job;

static void *fill_values(void *arg) {
  const index_job *job = arg;
  const sct_index_fill fill = sct_shape_index_fill(job->shape, job->op);
  for (int64_t k = job->from; k < job->to; k++) {
    job->shape->op[job->op].values[k] = sct_index_fill_value(&fill, k);
  }
  return NULL;
}

#define MAX_THREADS      16
#define VALUES_PER_START 50000 /* fewer are not worth a thread */

static void fill_in_parallel(const sct_shape *s, int op) {
  pthread_t threads[MAX_THREADS];
  index_job jobs[MAX_THREADS];
  const int64_t count = s->op[op].count;
  const int cores = sct_cores();
  int64_t n = count / VALUES_PER_START + 1;
  n = n > cores ? cores : n;
  n = n > MAX_THREADS ? MAX_THREADS : n;
  bool started[MAX_THREADS] = {false};
  for (int64_t k = 0; k < n; k++) {
    jobs[k] = (index_job){s, op, count * k / n, count * (k + 1) / n};
    started[k] = k > 0 && sct_thread_create(&threads[k], NULL, fill_values, &jobs[k]) == 0;
  }
  for (int64_t k = 0; k < n; k++) {
    if (started[k]) {
      pthread_join(threads[k], NULL);
    } else {
      fill_values(&jobs[k]); /* the first share, and those no thread could be had for */
    }
  }
}

void sct_shape_index_one(sct_shape *s, int op) {
  if (!s->op[op].values) {
    s->op[op].values = sct_alloc(sizeof(int64_t) * (size_t)(s->op[op].count + 1));
    fill_in_parallel(s, op);
  }
}

void sct_shape_index(sct_shape *s) {
  for (int k = 0; k < s->addressing->spec->n_index; k++) {
    sct_shape_index_one(s, s->addressing->spec->index_order[k]);
  }
}

int64_t sct_shape_place(const sct_shape *s, int op, const int64_t *inputs) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  int64_t linear = 0;
  for (int d = 0; d < p->op->n_dims; d++) {
    const int64_t at = sct_expr_program_run(p->at[d], inputs);
    if (at < 0 || at >= s->op[op].extent[d]) {
      return -1;
    }
    linear = linear * s->op[op].extent[d] + at;
  }
  return linear;
}

void sct_shape_inputs(const sct_shape *s, const int64_t *idx,
                      int64_t inputs[SCT_ADDRESSING_INPUTS]) {
  const sct_spec *spec = s->addressing->spec;
  int64_t *values = inputs + spec->n_dims + spec->n_extents;
  set_sizes(s, idx, inputs);
  for (int k = 0; k < s->addressing->spec->n_index; k++) {
    const int op = s->addressing->spec->index_order[k];
    const int64_t at = sct_shape_place(s, op, inputs);
    values[k] = at >= 0 && s->op[op].values ? s->op[op].values[at] : 0;
  }
  memset(values + spec->n_index, 0, sizeof *values * (size_t)spec->n_values);
}

const sct_expr_program *sct_shape_written(const sct_shape *s, int op, int field) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  return p->op->accumulate != SCT_REDUCE_NONE ? p->element[field] : p->offset[field];
}

void sct_shape_written_inputs(const sct_shape *s, int op, const int64_t *idx,
                              int64_t inputs[SCT_ADDRESSING_INPUTS]) {
  const sct_operand *operand = s->addressing->op[op].op;
  if (operand->accumulate == SCT_REDUCE_NONE) {
    sct_shape_inputs(s, idx, inputs);
    return;
  }
  memcpy(inputs, idx, sizeof *idx * (size_t)operand->n_dims);
  memcpy(inputs + operand->n_dims, s->extent, sizeof *idx * (size_t)s->addressing->spec->n_extents);
}

void sct_shape_put_row(const sct_shape *s, int64_t *idx) {
  const sct_ragged *r = &s->addressing->spec->ragged;
  const int64_t *offsets = s->op[r->offsets].values;
  int64_t row = 0;
  for (int64_t end = s->extent[r->row]; end - row > 1;) {
    const int64_t middle = row + (end - row) / 2;
    const bool is_after = offsets[middle] > idx[r->dim];
    row = is_after ? row : middle;
    end = is_after ? middle : end;
  }
  idx[r->row] = row;
}

/* Where there is no border the place and its taps stay inside the array. */
static bool is_place_inside(const sct_shape *s, int op, const int64_t *inputs) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  for (int d = 0; d < p->op->n_dims; d++) {
    if (sct_operand_leaves(p->op, d)) {
      continue;
    }
    int64_t lo = 0, hi = 0;
    sct_operand_reach(p->op, d, &lo, &hi);
    const int64_t at = sct_expr_program_run(p->at[d], inputs);
    if (at + lo < 0 || at + hi >= s->op[op].extent[d]) {
      return false;
    }
  }
  return true;
}

typedef enum whereabouts { INSIDE, OUTSIDE, EACH_APART } whereabouts;

/* Is a place along dimension d what an index array holds, and so inside whichever value that is? */
static bool is_value_inside(const sct_shape *s, int op, int d) {
  const sct_spec *spec = s->addressing->spec;
  const sct_operand *operand = s->addressing->op[op].op;
  const sct_size size = {.extent = (int64_t *)s->extent, .fill = (sct_fill *)s->fill};
  int64_t lo = 0, hi = 0;
  sct_operand_reach(operand, d, &lo, &hi);
  for (int k = 0; k < spec->n_index; k++) {
    const sct_operand *index = &spec->operands[spec->index_order[k]];
    if (operand->at[d] == index->index_value) {
      const sct_index_fill fill = sct_spec_index_fill(spec, spec->index_order[k], &size);
      return lo == 0 && hi == 0 && !fill.has_none && fill.limit <= s->op[op].extent[d];
    }
  }
  return false;
}

static bool mentions_values(const sct_spec *spec, sct_expr e) {
  bool any = false;
  for (int k = 0; k < spec->n_index && !any; k++) {
    any = sct_expr_mentions(spec->pool, e, spec->operands[spec->index_order[k]].index_value);
  }
  return any;
}

/* Where places go up and down evenly along each dimension, those of the index space's corners say
 * of all elements whether they and their taps are inside. There are elements. */
static whereabouts find_places(const sct_shape *s, int op) {
  const sct_spec *spec = s->addressing->spec;
  const sct_addressing_operand *p = &s->addressing->op[op];
  int64_t idx[SCT_MAX_DIMS], inputs[SCT_ADDRESSING_INPUTS] = {0};
  for (int d = 0; d < p->op->n_dims; d++) {
    const bool by_value = mentions_values(spec, p->op->at[d]);
    if (by_value && !is_value_inside(s, op, d)) {
      return EACH_APART;
    }
    for (int dim = 0; dim < spec->n_dims; dim++) {
      if (!sct_expr_program_is_affine(p->at[d], dim)) {
        return EACH_APART;
      }
    }
  }
  for (unsigned corner = 0; corner < 1u << spec->n_dims; corner++) {
    for (int dim = 0; dim < spec->n_dims; dim++) {
      idx[dim] = corner & 1u << dim ? s->extent[dim] - 1 : 0;
    }
    set_sizes(s, idx, inputs);
    if (!is_place_inside(s, op, inputs)) {
      return OUTSIDE;
    }
  }
  return INSIDE;
}

/* Index arrays point to elements that exist; through one that scatters, to a different one each. */
static bool index_is_legal(const sct_shape *s, int op) {
  const sct_addressing_operand *p = &s->addressing->op[op];
  int64_t inputs[SCT_ADDRESSING_INPUTS] = {0};
  set_sizes(s, NULL, inputs);
  const int64_t wanted = sct_expr_program_run(p->limit, inputs);
  const int64_t limit = sct_type_index_limit(p->op->record.fields[0].type, wanted);
  const sct_spec *spec = s->addressing->spec;
  const bool are_offsets = sct_spec_is_ragged(spec) && op == spec->ragged.offsets;
  const bool is_idle = s->n_elements == 0 && spec->n_steps == 0; /* empty rows have results, too */
  return is_idle || (limit >= 1 && (!are_offsets || limit == wanted) &&
                     (!p->op->index_scatters || s->op[op].count <= limit));
}

bool sct_shape_indexes_fit(const sct_shape *s) {
  bool fit = true;
  for (int k = 0; k < s->addressing->spec->n_index; k++) {
    fit = fit && index_is_legal(s, s->addressing->spec->index_order[k]);
  }
  return fit;
}

bool sct_shape_is_legal(const sct_shape *s) {
  const sct_spec *spec = s->addressing->spec;
  if (!sct_shape_indexes_fit(s)) {
    return false;
  }
  for (int k = 0; k < spec->n_limits && s->n_elements > 0; k++) {
    if (!sct_spec_limit_holds(spec, &spec->limits[k], s->extent)) {
      return false;
    }
  }
  const bool is_ragged = sct_spec_is_ragged(spec);
  if (is_ragged && s->n_elements > 0 && s->extent[spec->ragged.row] == 0) {
    return false; /* elements of no row */
  }
  int apart[SCT_MAX_OPERANDS], n_apart = 0;
  for (int k = 0; k < spec->n_operands && s->n_elements > 0; k++) {
    const whereabouts found = is_ragged ? EACH_APART : find_places(s, k);
    if (found == OUTSIDE) {
      return false;
    }
    apart[n_apart] = k;
    n_apart += found == EACH_APART;
  }
  if (n_apart == 0) {
    return true;
  }
  int64_t idx[SCT_MAX_DIMS] = {0}, at[SCT_MAX_DIMS], inputs[SCT_ADDRESSING_INPUTS] = {0};
  int64_t extent[SCT_MAX_DIMS];
  for (int d = 0; d < spec->n_dims; d++) {
    extent[d] = sct_spec_multiplies(spec, d) ? s->extent[d] : 1;
  }
  do {
    memcpy(at, idx, sizeof at);
    if (is_ragged) {
      sct_shape_put_row(s, at);
    }
    sct_shape_inputs(s, at, inputs);
    for (int k = 0; k < n_apart; k++) {
      if (!is_place_inside(s, apart[k], inputs)) {
        return false;
      }
    }
  } while (sct_next_index(idx, extent, spec->n_dims));
  return true;
}

void sct_shape_label(sct_str *out, const sct_shape *s) {
  const sct_spec *spec = s->addressing->spec;
  for (int k = 0; k < spec->n_extents; k++) {
    sct_str_printf(out, "%sn_%s=%lld", k > 0 ? " " : "", spec->extent_names[k],
                   (long long)s->extent[k]);
  }
}
