/* A decision tree over the extents of a call. A branch tries kernels in an order: the fastest, and
 * those that take what it does not; what none of them takes is the naive variant's.
 *
 * The tree grows as long as samples remain on both sides, with two kernels a branch, and is pruned
 * where a split brings little. A split costs what the samples of both sides lose, each with the
 * best pair there. */
#include "rule/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAIN       0.02  /* cost of a sample: what a split must bring to its smaller side, */
#define LEAST      0.004 /* and to all */
#define NEXT_GAIN  0.002 /* of a kernel more that a branch tries */
#define BESIDE     0.5   /* samples that the mean of a branch and the one beside it counts as */
#define LEAST_OUT  8     /* sizes to leave out; of fewer nothing is stated */
#define MOST_FOLDS 32
#define NO_TIMES   2.3 /* loss where no kernel was tried: ten times as slow */

typedef struct growth {
  const sct_rule_matrix *m;
  const bool *at;
  const sct_rule_feature *features;
  int n_features, n_at, least_samples;
  double all_weight; /* of the samples */
  int *use, n_use;   /* kernels */
  int n_pairs;       /* [n_use * n_use] */
  double *cost;      /* [sample * n_pairs + pair] */
  int64_t *value;    /* [feature * n_samples + sample] */
  int *sorted;       /* [feature * n_samples + place] samples by value */
  int *node_of;      /* [n_samples] -1: not one of those */
  double *low, *all; /* [n_pairs] */
  sct_rule_node nodes[SCT_RULE_MOST_NODES];
  int parent[SCT_RULE_MOST_NODES], n_nodes;
} growth;

/* ---- features ---- */

int64_t sct_rule_value(const sct_rule_feature *f, const int64_t *extents, int n) {
  double exact = 1;
  int64_t value = 1;
  for (int k = 0; k < n; k++) {
    if (f->of >> k & 1) {
      exact *= (double)extents[k];
      value = exact < 0x1p62 ? value * extents[k] : INT64_C(1) << 62;
    }
  }
  if (f->over < 0) {
    return value;
  }
  const int64_t by = extents[f->over] > 0 ? extents[f->over] : 1;
  return value / by + (value % by != 0); /* value <= t * by */
}

int64_t sct_rule_round(int64_t from, int64_t to) {
  int64_t best = from;
  double nearest = INFINITY;
  for (int bit = 0; bit < 62; bit++) { /* the power of two nearest to the middle */
    const int64_t power = INT64_C(1) << bit;
    const double far = fabs(2 * bit - log2((double)(from > 0 ? from : 1)) - log2((double)to));
    if (power >= from && power < to && far < nearest) {
      best = power;
      nearest = far;
    }
  }
  for (int bit = 61; bit >= 0 && isinf(nearest); bit--) {
    const int64_t unit = INT64_C(1) << bit, up = (from + unit - 1) / unit * unit;
    if (up < to) {
      return up;
    }
  }
  return best;
}

/* ---- what a branch loses ---- */

/* The first kernel that takes the call, and what it loses; the naive one takes all. */
static int find_first(const sct_rule_matrix *m, const int *order, int n, int cell, double *loss) {
  for (int k = 0; k < n; k++) {
    *loss = m->loss[order[k] * m->n_cells + cell];
    if (isfinite(*loss)) {
      return order[k];
    }
  }
  const double naive = m->naive < 0 ? INFINITY : m->loss[m->naive * m->n_cells + cell];
  *loss = isfinite(naive) ? naive : NO_TIMES;
  return m->naive;
}

static double loss_of(const sct_rule_matrix *m, const int *order, int n, int cell) {
  double loss;
  (void)find_first(m, order, n, cell, &loss);
  return loss;
}

/* In the situations from `first` on. */
static double cost_from(const sct_rule_matrix *m, const int *order, int n, int sample, int first) {
  double cost = 0;
  for (int s = first; s < SCT_RULE_SITUATIONS; s++) {
    const int cell = sample * SCT_RULE_SITUATIONS + s;
    cost += m->weight[cell] * sct_rule_cost(loss_of(m, order, n, cell));
  }
  return cost;
}

static double cost_of(const sct_rule_matrix *m, const int *order, int n, int sample) {
  return cost_from(m, order, n, sample, 0);
}

/* The kernel that takes any call and costs least at all samples; -1: none. */
static int find_total(const growth *k) {
  int best = -1;
  double least = INFINITY;
  for (int u = 0; u < k->n_use; u++) {
    double cost = 0;
    for (int s = 0; s < k->m->n_samples; s++) {
      cost += k->at[s] ? cost_of(k->m, &k->use[u], 1, s) : 0;
    }
    if (k->m->total[k->use[u]] && cost < least) {
      best = k->use[u];
      least = cost;
    }
  }
  return best;
}

static void add_pairs(growth *k) {
  const int total = find_total(k);
  for (int s = 0; s < k->m->n_samples; s++) {
    for (int p = 0; p < k->n_pairs && k->at[s]; p++) {
      const int order[] = {k->use[p / k->n_use], k->use[p % k->n_use], total};
      k->cost[s * k->n_pairs + p] = cost_of(k->m, order, total < 0 ? 2 : 3, s);
    }
  }
}

/* Of a sample, in all situations. */
static double weight_of(const sct_rule_matrix *m, int sample) {
  double sum = 0;
  for (int s = 0; s < SCT_RULE_SITUATIONS; s++) {
    sum += m->weight[sample * SCT_RULE_SITUATIONS + s];
  }
  return sum;
}

/* ---- growing ---- */

static void sort_by(growth *k, int feature) {
  const int n = k->m->n_samples;
  const int64_t *value = &k->value[feature * n];
  int *sorted = &k->sorted[feature * n];
  for (int s = 0; s < n; s++) {
    int place = s;
    for (; place > 0 && value[sorted[place - 1]] > value[s]; place--) {
      sorted[place] = sorted[place - 1];
    }
    sorted[place] = s;
  }
}

static double least_of(const double *list, int n) {
  double least = INFINITY;
  for (int k = 0; k < n; k++) {
    least = list[k] < least ? list[k] : least;
  }
  return least;
}

static double least_rest(const double *all, const double *low, int n) {
  double least = INFINITY;
  for (int k = 0; k < n; k++) {
    least = all[k] - low[k] < least ? all[k] - low[k] : least;
  }
  return least;
}

/* The cost of a node as a leaf, and in all[] of each pair. */
static double leaf_cost(growth *k, int node) {
  memset(k->all, 0, sizeof *k->all * (size_t)k->n_pairs);
  k->nodes[node].n_samples = 0;
  for (int s = 0; s < k->m->n_samples; s++) {
    if (k->node_of[s] == node) {
      k->nodes[node].n_samples++;
      for (int p = 0; p < k->n_pairs; p++) {
        k->all[p] += k->cost[s * k->n_pairs + p];
      }
    }
  }
  return least_of(k->all, k->n_pairs);
}

/* The place of a node's samples, by a feature, at which both sides together cost least. */
static double best_place(growth *k, int node, int feature, double bound, int64_t *most) {
  const int n = k->m->n_samples;
  const int64_t *value = &k->value[feature * n];
  double least = bound;
  int n_low = 0, last = -1;
  memset(k->low, 0, sizeof *k->low * (size_t)k->n_pairs);
  for (int place = 0; place < n; place++) {
    const int s = k->sorted[feature * n + place];
    if (k->node_of[s] != node) {
      continue;
    }
    if (last >= 0 && value[last] < value[s] && n_low >= k->least_samples &&
        k->nodes[node].n_samples - n_low >= k->least_samples) {
      const double cost = least_of(k->low, k->n_pairs) + least_rest(k->all, k->low, k->n_pairs);
      if (cost < least - 1e-9) {
        least = cost;
        *most = sct_rule_round(value[last], value[s]);
      }
    }
    for (int p = 0; p < k->n_pairs; p++) {
      k->low[p] += k->cost[s * k->n_pairs + p];
    }
    n_low++;
    last = s;
  }
  return least;
}

/* Cost of the node's subtree with what its splits must bring. */
static double grow(growth *k, int node, int depth) {
  sct_rule_node *const here = &k->nodes[node];
  const double whole = leaf_cost(k, node);
  double least = whole;
  here->feature = -1;
  for (int f = 0; f < k->n_features && depth < SCT_RULE_MOST_DEPTH; f++) {
    int64_t most = 0;
    const double cost = best_place(k, node, f, least, &most);
    if (cost < least) {
      least = cost;
      here->feature = f;
      here->most = most;
    }
  }
  if (here->feature < 0) {
    return whole;
  }
  const int mark = k->n_nodes;
  here->low = k->n_nodes++;
  here->high = k->n_nodes++;
  k->parent[here->low] = k->parent[here->high] = node;
  double low_weight = 0, high_weight = 0;
  for (int s = 0; s < k->m->n_samples; s++) {
    if (k->node_of[s] == node) {
      const bool low = k->value[here->feature * k->m->n_samples + s] <= here->most;
      k->node_of[s] = low ? here->low : here->high;
      *(low ? &low_weight : &high_weight) += weight_of(k->m, s);
    }
  }
  const double must = fmax(GAIN * fmin(low_weight, high_weight), LEAST * k->all_weight);
  const double parts = grow(k, here->low, depth + 1) + grow(k, here->high, depth + 1) + must;
  if (parts < whole) {
    return parts;
  }
  here->feature = -1;
  k->n_nodes = mark;
  for (int s = 0; s < k->m->n_samples; s++) {
    k->node_of[s] = k->node_of[s] >= mark ? node : k->node_of[s];
  }
  return whole;
}

/* ---- leaves ---- */

static bool is_below(const growth *k, int node, int above) {
  while (node > 0 && node != above) {
    node = k->parent[node];
  }
  return node == above;
}

/* The cost of a leaf's samples with kernels tried in an order. Who takes the calls that the first
 * kernel does not, few samples do not tell: there those beside them count, too. */
static double order_cost(const growth *k, int node, const int *order, int n) {
  double cost = 0, beside = 0, weight = 0;
  for (int s = 0; s < k->m->n_samples; s++) {
    if (k->node_of[s] >= 0 && is_below(k, k->node_of[s], k->parent[node])) {
      cost += k->node_of[s] == node ? cost_of(k->m, order, n, s) : 0;
      beside += cost_from(k->m, order, n, s, 1);
      weight += weight_of(k->m, s);
    }
  }
  return cost + (weight > 0 ? BESIDE * beside / weight : 0);
}

/* The best order of up to three kernels, of which the last takes any call; more of them only where
 * they bring something. Returns the cost. */
static double order_leaf(growth *k, int node) {
  sct_rule_node *const leaf = &k->nodes[node];
  double least = INFINITY;
  double must = 0;
  for (int s = 0; s < k->m->n_samples; s++) {
    must += k->node_of[s] == node ? NEXT_GAIN * weight_of(k->m, s) : 0;
  }
  for (int n = 1; n <= SCT_RULE_MOST_ORDER; n++) {
    int combinations = 1, best[SCT_RULE_MOST_ORDER];
    double cost = INFINITY;
    for (int d = 0; d < n; d++) {
      combinations *= k->n_use;
    }
    for (int c = 0; c < combinations; c++) {
      int order[SCT_RULE_MOST_ORDER], rest = c;
      for (int d = 0; d < n; d++, rest /= k->n_use) {
        order[d] = k->use[rest % k->n_use];
      }
      bool right = k->m->total[order[n - 1]] || k->m->naive < 0;
      for (int d = 0; d < n - 1; d++) { /* what follows such a one is never tried */
        right = right && !k->m->total[order[d]];
      }
      const double with = right ? order_cost(k, node, order, n) : INFINITY;
      if (with < cost) {
        cost = with;
        memcpy(best, order, sizeof best);
      }
    }
    if (isfinite(cost) && (isinf(least) || cost < least - must)) {
      memcpy(leaf->order, best, sizeof best);
      leaf->n_order = n;
      least = cost;
    }
  }
  return isfinite(least) ? least : order_cost(k, node, NULL, 0);
}

static double order_leaves(growth *k) {
  double cost = 0;
  for (int node = 0; node < k->n_nodes; node++) {
    if (k->nodes[node].feature < 0) {
      k->nodes[node].n_order = 0;
      cost += order_leaf(k, node);
    }
  }
  return cost;
}

static bool is_used(const growth *k, int kernel) {
  for (int node = 0; node < k->n_nodes; node++) {
    for (int d = 0; d < k->nodes[node].n_order && k->nodes[node].feature < 0; d++) {
      if (k->nodes[node].order[d] == kernel) {
        return true;
      }
    }
  }
  return false;
}

/* Leaves out kernels that bring little now that there is a tree. */
static void drop_kernels(growth *k, const bool *kept) {
  double cost = order_leaves(k);
  for (int u = 0; u < k->n_use; u++) {
    const int kernel = k->use[u];
    if (kept[kernel]) {
      continue;
    }
    k->use[u] = k->use[--k->n_use];
    const double without = is_used(k, kernel) ? order_leaves(k) : cost;
    if (without < cost + LEAST * k->all_weight) {
      cost = without;
      u = -1;
    } else {
      k->use[k->n_use++] = k->use[u];
      k->use[u] = kernel;
    }
  }
  (void)order_leaves(k);
}

typedef struct seen {
  double loss, weight;
} seen;

static int by_loss(const void *a, const void *b) {
  const double x = ((const seen *)a)->loss, y = ((const seen *)b)->loss;
  return (x > y) - (x < y);
}

static void summarise(sct_rule_regret *out, seen *list, int n, int n_samples) {
  double sum = 0, all = 0, part = 0;
  qsort(list, (size_t)n, sizeof *list, by_loss);
  for (int k = 0; k < n; k++) {
    sum += list[k].weight * list[k].loss;
    all += list[k].weight;
  }
  *out = (sct_rule_regret){.n_samples = all > 0 ? n_samples : 0, .mean = 1, .p95 = 1, .worst = 1};
  for (int k = 0; k < n && all > 0; k++) {
    part += list[k].weight;
    out->p95 = part <= 0.95 * all || k == 0 ? exp(list[k].loss) : out->p95;
    out->worst = list[k].weight > 0 ? exp(list[k].loss) : out->worst;
  }
  out->mean = all > 0 ? exp(sum / all) : 1;
}

static void add_seen(seen *list, int *n, const sct_rule_matrix *m, const sct_rule_node *leaf,
                     int sample) {
  for (int s = 0; s < SCT_RULE_SITUATIONS; s++) {
    const int cell = sample * SCT_RULE_SITUATIONS + s;
    list[(*n)++] = (seen){loss_of(m, leaf->order, leaf->n_order, cell), m->weight[cell]};
  }
}

static void rate_leaves(growth *k, seen *list) {
  for (int node = 0; node < k->n_nodes; node++) {
    sct_rule_node *const leaf = &k->nodes[node];
    int n = 0;
    for (int s = 0; s < k->m->n_samples && leaf->feature < 0; s++) {
      if (k->node_of[s] == node) {
        add_seen(list, &n, k->m, leaf, s);
      }
    }
    summarise(&leaf->regret, list, n, leaf->n_samples);
  }
}

/* ---- the whole ---- */

static void open_growth(growth *k, sct_arena *arena, const bool *chosen) {
  const sct_rule_matrix *const m = k->m;
  k->use = SCT_ARENA_NEW(arena, int, m->n_kernels + 1);
  for (int kernel = 0; kernel < m->n_kernels; kernel++) {
    if (chosen[kernel] || kernel == m->naive) {
      k->use[k->n_use++] = kernel;
    }
  }
  k->n_pairs = k->n_use * k->n_use;
  k->cost = SCT_ARENA_NEW(arena, double, m->n_samples * k->n_pairs + 1);
  k->low = SCT_ARENA_NEW(arena, double, k->n_pairs + 1);
  k->all = SCT_ARENA_NEW(arena, double, k->n_pairs + 1);
  k->value = SCT_ARENA_NEW(arena, int64_t, k->n_features * m->n_samples + 1);
  k->sorted = SCT_ARENA_NEW(arena, int, k->n_features * m->n_samples + 1);
  k->node_of = SCT_ARENA_NEW(arena, int, m->n_samples + 1);
  for (int s = 0; s < m->n_samples; s++) {
    k->node_of[s] = k->at[s] ? 0 : -1;
    k->n_at += k->at[s];
    k->all_weight += k->at[s] ? weight_of(m, s) : 0;
  }
  k->least_samples = k->n_at < 8 ? 1 : k->n_at < 24 ? 2 : 3;
  for (int f = 0; f < k->n_features; f++) {
    for (int s = 0; s < m->n_samples; s++) {
      k->value[f * m->n_samples + s] = sct_rule_value(&k->features[f], m->extents[s], m->n_extents);
    }
    sort_by(k, f);
  }
  add_pairs(k);
}

void sct_rule_make(sct_rule *out, const sct_rule_matrix *m, const bool *at, const bool *chosen,
                   const bool *kept, const sct_rule_feature *features, int n_features) {
  SCT_SCOPED(sct_arena) arena = {0};
  growth k = {.m = m, .at = at, .features = features, .n_features = n_features, .n_nodes = 1};
  seen *list = SCT_ARENA_NEW(&arena, seen, m->n_cells + 1);
  open_growth(&k, &arena, chosen);
  *out = (sct_rule){.n_nodes = 1, .nodes[0].feature = -1};
  if (k.n_at == 0 || k.n_use == 0) {
    return;
  }
  (void)grow(&k, 0, 0);
  drop_kernels(&k, kept);
  rate_leaves(&k, list);
  out->n_nodes = k.n_nodes;
  memcpy(out->nodes, k.nodes, sizeof k.nodes);
}

const sct_rule_node *sct_rule_leaf(const sct_rule *r, const sct_rule_feature *features,
                                   const int64_t *extents, int n) {
  int at = 0;
  while (r->nodes[at].feature >= 0) {
    const sct_rule_node *const node = &r->nodes[at];
    at =
        sct_rule_value(&features[node->feature], extents, n) <= node->most ? node->low : node->high;
  }
  return &r->nodes[at];
}

int sct_rule_takes(const sct_rule_matrix *m, const sct_rule_node *leaf, int sample, double *loss) {
  return find_first(m, leaf->order, leaf->n_order, sample * SCT_RULE_SITUATIONS, loss);
}

void sct_rule_find(sct_rule *out, const sct_rule_matrix *m, const bool *kept, const bool *left_out,
                   const sct_rule_feature *features, int n_features, int most) {
  SCT_SCOPED(sct_arena) arena = {0};
  seen *list = SCT_ARENA_NEW(&arena, seen, m->n_cells + 1);
  bool *at = SCT_ARENA_NEW(&arena, bool, m->n_samples + 1);
  bool *chosen = SCT_ARENA_NEW(&arena, bool, m->n_kernels + 1);
  sct_rule_regret regret = {0};
  int n_out = 0, n = 0;
  for (int s = 0; s < m->n_samples; s++) {
    n_out += left_out[s];
  }
  const int n_folds = n_out < LEAST_OUT ? 0 : n_out < MOST_FOLDS ? n_out : MOST_FOLDS;
  for (int fold = 0; fold < n_folds; fold++) {
    int number = 0;
    for (int s = 0; s < m->n_samples; s++) {
      at[s] = !left_out[s] || number++ % n_folds != fold;
    }
    sct_rule_cover(chosen, kept, m, at, most);
    sct_rule_make(out, m, at, chosen, kept, features, n_features);
    for (int s = 0; s < m->n_samples; s++) {
      if (!at[s]) {
        add_seen(list, &n, m, sct_rule_leaf(out, features, m->extents[s], m->n_extents), s);
      }
    }
  }
  summarise(&regret, list, n, n_out);
  memset(at, true, sizeof *at * (size_t)m->n_samples);
  sct_rule_cover(chosen, kept, m, at, most);
  sct_rule_make(out, m, at, chosen, kept, features, n_features);
  out->regret = regret;
}
