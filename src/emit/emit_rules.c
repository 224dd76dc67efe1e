/* The rules of a header: of each device a matrix of what was tried at its sizes, and the kernels
 * and the tree that are made of it. */
#include "emit/emit_internal.h"

#include <math.h>
#include <string.h>

/* What a matrix's kernels are in the store. */
typedef struct tried_kernel {
  const sct_row_result *row; /* at one of the sizes */
  json_t *launch;
  int kept;    /* number in the header; -1: it is not there */
  bool failed; /* at one of the sizes */
} tried_kernel;

typedef struct rule_work {
  emit_header *header;
  emit_device *device;
  sct_arena arena;
  tried_kernel *kernels;
  int n_kernels;
  sct_rule_matrix matrix;
} rule_work;

static int find_kernel(const rule_work *r, sct_id candidate) {
  int k = 0;
  while (k < r->n_kernels && r->kernels[k].row->candidate.id != candidate) {
    k++;
  }
  return k;
}

/* All kernels with the header's layouts. */
static void list_kernels(rule_work *r) {
  int room = 1;
  for (int s = 0; s < r->device->n_sizes; s++) {
    room += r->device->sizes[s].n_rows;
  }
  r->kernels = SCT_ARENA_NEW(&r->arena, tried_kernel, room);
  for (int s = 0; s < r->device->n_sizes; s++) {
    const emit_size *size = &r->device->sizes[s];
    for (int k = 0; k < size->n_rows; k++) {
      const int at = find_kernel(r, size->rows[k].candidate.id);
      tried_kernel *kernel = &r->kernels[at];
      if (at == r->n_kernels) {
        *kernel = (tried_kernel){.row = &size->rows[k],
                                 .launch = sct_json_load(size->rows[k].candidate.launch),
                                 .kept = -1};
        r->n_kernels++;
      }
      kernel->failed |= !sct_row_is_ok(&size->rows[k].outcome);
    }
  }
  for (int k = 0; k < r->n_kernels; k++) {
    for (int n = 0; n < r->header->n_kernels; n++) {
      if (r->header->kernels[n].source->id == r->kernels[k].row->candidate.id) {
        r->kernels[k].kept = n;
      }
    }
  }
}

/* Where it may begin: multiples of no more than what the types need. */
static bool is_plain(const emit_header *h, const json_t *launch, const json_t *naive) {
  const json_t *align = json_object_get(launch, "align"), *least = json_object_get(naive, "align");
  for (int k = 0; k < h->sig.n_operands; k++) {
    const char *operand = h->sig.operands[k];
    if (json_integer_value(json_object_get(align, operand)) >
        json_integer_value(json_object_get(least, operand))) {
      return false;
    }
  }
  return true;
}

static bool may_run(const emit_header *h, const json_t *launch, const int64_t *extents) {
  const json_t *condition = NULL;
  size_t k = 0;
  json_array_foreach(json_object_get(launch, "requires"), k, condition) {
    if (!emit_holds(json_string_value(condition), h->sig.extents, extents, h->sig.n_extents)) {
      return false;
    }
  }
  return true;
}

static bool was_timed(const emit_size *size) {
  bool timed = false;
  for (int k = 0; k < size->n_rows; k++) {
    timed = timed || (size->legal[k] && size->rows[k].outcome.times.median_ns > 0);
  }
  return timed;
}

static void take_times(rule_work *r, int sample) {
  const emit_size *const size = &r->device->sizes[sample];
  sct_rule_matrix *const m = &r->matrix;
  const bool timed = was_timed(size);
  SCT_OWNED_PTR(json_t) conditions = sct_json_load(size->run->conditions);
  SCT_OWNED_PTR(json_t) estimates = sct_json_load(size->run->estimates);
  m->calls[sample] = json_number_value(json_object_get(conditions, "calls"));
  for (int k = 0; k < m->n_kernels; k++) {
    const int at = k * m->n_samples + sample;
    const char *const hash = r->kernels[k].row->candidate.source_hash;
    m->predicted[at] = json_number_value(json_object_get(estimates, hash));
    m->may[at] = may_run(r->header, r->kernels[k].launch, size->extents);
  }
  for (int k = 0; k < size->n_rows; k++) {
    const sct_row_outcome *const o = &size->rows[k].outcome;
    const double ns = timed ? o->times.median_ns : sct_row_ns(o);
    const int at = find_kernel(r, size->rows[k].candidate.id) * m->n_samples + sample;
    m->may[at] = size->legal[k];
    m->predicted[at] = o->predicted_ns > 0 ? o->predicted_ns : 0;
    m->tried[at] = size->legal[k] && ns > 0;
    m->ns[at] = m->tried[at] ? ns : INFINITY;
  }
}

/* One that is wrong somewhere is no choice, unless it is the header's anyway. */
static void drop_kernel(sct_rule_matrix *m, int kernel) {
  for (int s = 0; s < m->n_samples; s++) {
    const int at = kernel * m->n_samples + s;
    m->tried[at] = m->may[at] = false;
    m->ns[at] = INFINITY;
  }
}

static void fill_matrix(rule_work *r) {
  const emit_header *const h = r->header;
  sct_rule_matrix *const m = &r->matrix;
  const int64_t **extents = SCT_ARENA_NEW(&r->arena, const int64_t *, r->device->n_sizes + 1);
  SCT_OWNED_PTR(json_t) naive = sct_json_load(h->kernels[0].source->launch);
  sct_rule_new(m, &r->arena, r->n_kernels, r->device->n_sizes);
  m->n_extents = h->sig.n_extents;
  m->extents = extents;
  for (int s = 0; s < m->n_samples; s++) {
    extents[s] = r->device->sizes[s].extents;
    take_times(r, s);
  }
  for (int k = 0; k < m->n_kernels; k++) {
    const tried_kernel *const kernel = &r->kernels[k];
    m->naive = kernel->kept == 0 ? k : m->naive;
    m->plain[k] = is_plain(h, kernel->launch, naive);
    m->total[k] = m->plain[k] && json_array_size(json_object_get(kernel->launch, "requires")) == 0;
    if (kernel->kept < 0 && (kernel->failed || !emit_has_layouts(h, kernel->launch))) {
      drop_kernel(m, k);
    }
  }
  sct_rule_estimate(m, &r->arena);
  sct_rule_rate(m, &r->arena);
}

/* ---- features ---- */

static void add_feature(emit_device *d, uint64_t of, int over) {
  d->features[d->n_features++] = (sct_rule_feature){of, over};
}

/* Extents; products of two dimensions and of all; how long rows of different lengths are. */
static void list_features(emit_header *h, emit_device *d) {
  const emit_signature *const sig = &h->sig;
  uint64_t all = 0;
  int n = 0;
  d->features =
      SCT_ARENA_NEW(&h->arena, sct_rule_feature, (sig->n_extents + 2) * (sig->n_extents + 2));
  for (int k = 0; k < sig->n_extents && k < 64; k++) {
    add_feature(d, UINT64_C(1) << k, -1);
    all |= sig->counts[k] ? UINT64_C(1) << k : 0;
    n += sig->counts[k];
  }
  if (sig->rows >= 0 && sig->ragged >= 0) {
    add_feature(d, UINT64_C(1) << sig->ragged, sig->rows);
  }
  for (int a = 0; a < sig->n_extents && a < 64; a++) {
    for (int b = a + 1; b < sig->n_extents && b < 64; b++) {
      if (sig->counts[a] && sig->counts[b]) {
        add_feature(d, UINT64_C(1) << a | UINT64_C(1) << b, -1);
      }
    }
  }
  if (n > 2) {
    add_feature(d, all, -1);
  }
}

/* ---- the whole ---- */

/* What the rule takes at each size, once its kernels are in the header; leaves of `of_matrix`
 * name those of the matrix. */
static void rate_sizes(rule_work *r, const sct_rule *of_matrix) {
  const emit_device *const device = r->device;
  const sct_rule_matrix *const m = &r->matrix;
  for (int s = 0; s < device->n_sizes; s++) {
    emit_size *const size = &device->sizes[s];
    double loss = 0;
    const sct_rule_node *const leaf =
        sct_rule_leaf(of_matrix, device->features, size->extents, m->n_extents);
    const int kernel = sct_rule_takes(m, leaf, s, &loss);
    size->regret = isfinite(sct_rule_best(m, s, 0)) ? exp(loss) : 0;
    size->taken = kernel >= 0 ? r->kernels[kernel].kept : 0;
    size->estimated = kernel < 0 || !m->tried[kernel * m->n_samples + s];
  }
}

/* The kernels of the tree as numbers in the header, which gets those it lacks. */
static sct_status take_kernels(rule_work *r, sct_store *store, sct_error *err) {
  emit_header *const h = r->header;
  sct_rule *const rule = &r->device->rule;
  for (int n = 0; n < rule->n_nodes; n++) {
    sct_rule_node *const node = &rule->nodes[n];
    for (int k = 0; k < node->n_order && node->feature < 0; k++) {
      tried_kernel *const kernel = &r->kernels[node->order[k]];
      const sct_row_result *row = NULL;
      if (kernel->kept < 0) {
        SCT_TRY(emit_load_result(&row, h, store, kernel->row->outcome.id, err));
        SCT_TRY(emit_add_kernel(&kernel->kept, h, &row->candidate, err));
        h->n_extra++;
      }
      node->order[k] = kernel->kept;
    }
  }
  return SCT_OK;
}

/* A device whose sizes are all samples: the last one of each branch that its kernel was tried at
 * stands in the header's tables. */
static sct_status show_samples(rule_work *r, sct_store *store, sct_error *err) {
  emit_header *const h = r->header;
  const sct_rule *const rule = &r->device->rule;
  bool seen[SCT_RULE_MOST_NODES] = {false}, any = false;
  for (int s = r->device->n_sizes - 1; s >= 0; s--) {
    emit_size *const size = &r->device->sizes[s];
    const sct_rule_node *const leaf =
        sct_rule_leaf(rule, r->device->features, size->extents, h->sig.n_extents);
    for (int k = 0; k < size->n_rows && leaf->n_order > 0 && !seen[leaf - rule->nodes]; k++) {
      if (size->legal[k] && size->rows[k].candidate.id == h->kernels[leaf->order[0]].source->id) {
        SCT_TRY(emit_load_result(&size->winner, h, store, size->rows[k].outcome.id, err));
        size->kernel = leaf->order[0];
        size->shown = seen[leaf - rule->nodes] = any = true;
      }
    }
  }
  emit_size *const last = &r->device->sizes[r->device->n_sizes - 1];
  if (!any) {
    SCT_TRY(emit_add_kernel(&last->kernel, h, &last->winner->candidate, err));
    last->shown = true;
  }
  return SCT_OK;
}

sct_status emit_make_rule(emit_header *h, emit_device *device, sct_store *store, sct_error *err) {
  rule_work r = {.header = h, .device = device};
  const int room = SCT_RULE_MOST_EXTRA - h->n_extra;
  int n_sampled = 0;
  list_kernels(&r);
  fill_matrix(&r);
  list_features(h, device);
  bool *kept = SCT_ARENA_NEW(&r.arena, bool, r.n_kernels + 1);
  bool *left_out = SCT_ARENA_NEW(&r.arena, bool, device->n_sizes + 1);
  for (int k = 0; k < r.n_kernels; k++) {
    kept[k] = r.kernels[k].kept >= 0;
  }
  for (int s = 0; s < device->n_sizes; s++) {
    n_sampled += device->sizes[s].sampled;
  }
  for (int s = 0; s < device->n_sizes; s++) {
    left_out[s] = device->sizes[s].sampled || n_sampled == 0;
  }
  sct_rule_find(&device->rule, &r.matrix, kept, left_out, device->features, device->n_features,
                room < SCT_RULE_MOST_ADDED ? room : SCT_RULE_MOST_ADDED);
  const sct_rule of_matrix = device->rule;
  sct_status status = take_kernels(&r, store, err);
  if (status == SCT_OK) {
    rate_sizes(&r, &of_matrix);
  }
  if (status == SCT_OK && n_sampled > 0 && n_sampled == device->n_sizes) {
    status = show_samples(&r, store, err);
  }
  for (int k = 0; k < r.n_kernels; k++) {
    json_decref(r.kernels[k].launch);
  }
  sct_arena_free(&r.arena);
  return status;
}
