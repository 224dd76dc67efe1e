/* Extents at both sides of each split of the rules of a header, for its self-test: near sizes that
 * were tuned, and small. */
#include "emit/emit_internal.h"

#include <string.h>

enum { MOST_EDGES = 96, ON_AN_EDGE = 3 };

typedef struct edges {
  const emit_header *header;
  const emit_device *device;
  int64_t (*all)[EMIT_MOST_EDGE_EXTENTS];
  int n;
} edges;

static double elements_of(const emit_header *h, const int64_t *extents) {
  double elements = 1;
  for (int k = 0; k < h->sig.n_extents; k++) {
    elements *= (double)extents[k];
  }
  return elements;
}

static bool reaches(const edges *e, int node, const int64_t *extents) {
  const sct_rule *const rule = &e->device->rule;
  int at = 0;
  while (at != node && rule->nodes[at].feature >= 0) {
    const sct_rule_node *const it = &rule->nodes[at];
    const sct_rule_feature *const f = &e->device->features[it->feature];
    const bool low = sct_rule_value(f, extents, e->header->sig.n_extents) <= it->most;
    at = low ? it->low : it->high;
  }
  return at == node;
}

/* The largest value of extent k that goes to the lower side, the others as they are. */
static int64_t last_low(const edges *e, const sct_rule_node *node, const int64_t *extents, int k) {
  const uint64_t of = e->device->features[node->feature].of;
  int64_t others = 1;
  for (int x = 0; x < e->header->sig.n_extents; x++) {
    if (x != k && (of >> x & 1) && __builtin_mul_overflow(others, extents[x], &others)) {
      return 0;
    }
  }
  return others > 0 ? node->most / others : 0;
}

/* Extent k stays between the least and the largest that were tuned. */
static bool is_tuned(const edges *e, int k, int64_t least, int64_t most) {
  int64_t from = INT64_MAX, to = 0;
  for (int s = 0; s < e->device->n_sizes; s++) {
    const int64_t x = e->device->sizes[s].extents[k];
    from = x < from ? x : from;
    to = x > to ? x : to;
  }
  return from <= least && most <= to;
}

/* What meets the threshold itself, then what is smaller. */
static bool is_better(const edges *e, const sct_rule_node *node, const int64_t *a,
                      const int64_t *b) {
  const sct_rule_feature *const f = &e->device->features[node->feature];
  const int n = e->header->sig.n_extents;
  const bool a_meets = sct_rule_value(f, a, n) == node->most;
  const bool b_meets = sct_rule_value(f, b, n) == node->most;
  return a_meets != b_meets ? a_meets : elements_of(e->header, a) < elements_of(e->header, b);
}

/* The best tuned size with one extent moved to the split `number`, in `out`, and which it is;
 * -1: none reaches it. */
static int find_edge(const edges *e, int number, int64_t *out) {
  const sct_rule_node *const node = &e->device->rule.nodes[number];
  const sct_rule_feature *const f = &e->device->features[node->feature];
  const int n = e->header->sig.n_extents;
  int64_t x[EMIT_MOST_EDGE_EXTENTS];
  int found = -1;
  for (int s = 0; s < e->device->n_sizes; s++) {
    for (int k = 0; k < n; k++) {
      memcpy(x, e->device->sizes[s].extents, sizeof *x * (size_t)n);
      x[k] = f->of >> k & 1 ? last_low(e, node, x, k) : 0;
      bool fits = x[k] > 0 && is_tuned(e, k, x[k], x[k] + 1) && reaches(e, number, x);
      x[k]++;
      fits = fits && reaches(e, number, x);
      x[k]--;
      if (fits && (found < 0 || is_better(e, node, x, out))) {
        memcpy(out, x, sizeof *x * (size_t)n);
        found = k;
      }
    }
  }
  return found;
}

static void add_edge(edges *e, const int64_t *extents) {
  const size_t bytes = sizeof *extents * (size_t)e->header->sig.n_extents;
  bool known = e->n == MOST_EDGES;
  for (int k = 0; k < e->n; k++) {
    known = known || memcmp(e->all[k], extents, bytes) == 0;
  }
  if (!known) {
    memcpy(e->all[e->n++], extents, bytes);
  }
}

static void add_device(edges *e) {
  for (int number = 0; number < e->device->rule.n_nodes; number++) {
    const sct_rule_node *const node = &e->device->rule.nodes[number];
    int64_t at[EMIT_MOST_EDGE_EXTENTS];
    const bool is_split = node->feature >= 0 && e->device->features[node->feature].over < 0;
    const int k = is_split ? find_edge(e, number, at) : -1;
    for (int step = 0; step < ON_AN_EDGE && k >= 0; step++) {
      at[k] += step == 0 ? -1 : 1;
      if (is_tuned(e, k, at[k], at[k])) {
        add_edge(e, at);
      }
    }
  }
}

int emit_edges(emit_header *h, int64_t (**out)[EMIT_MOST_EDGE_EXTENTS]) {
  const json_t *extent = NULL;
  edges e = {.header = h};
  size_t x = 0;
  bool all_dims = h->sig.n_extents <= EMIT_MOST_EDGE_EXTENTS;
  json_array_foreach(json_object_get(h->sig.doc, "extents"), x, extent) {
    all_dims = all_dims && json_is_true(json_object_get(extent, "dim"));
  }
  *out = e.all = (int64_t(*)[EMIT_MOST_EDGE_EXTENTS])sct_arena_alloc(
      &h->arena, sizeof *e.all * (MOST_EDGES + 1));
  for (int d = 0; d < h->n_devices && all_dims; d++) {
    e.device = &h->devices[d];
    add_device(&e);
  }
  return e.n;
}
