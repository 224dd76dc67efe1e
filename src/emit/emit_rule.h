/* The rule of a device: which kernels calls of any extents take.
 *
 *   emit_matrix.c  what each kernel takes at each size that was tuned
 *   emit_cover.c   few of these kernels for all sizes
 *   emit_rule.c    a decision tree over extents with these kernels */
#ifndef SCT_EMIT_RULE_H
#define SCT_EMIT_RULE_H

#include "base/base.h"

enum {
  EMIT_MOST_ADDED = 6,  /* kernels of a device beside the naive variant and listed winners, */
  EMIT_MOST_EXTRA = 12, /* and of a header */
  EMIT_MOST_USED = 12,  /* by the rule of a device */
  EMIT_MOST_DEPTH = 5,  /* of a tree */
  EMIT_MOST_NODES = 63, /* that has this depth */
  EMIT_MOST_ORDER = 3,  /* kernels of a branch, after which comes the naive variant */
  EMIT_SITUATIONS = 2   /* of a size: where cudaMalloc puts arrays, and an element further */
};

/* How far kernels are from the best that was found, by factors: 1.02, 2 % more time. */
typedef struct emit_regret {
  int n_samples; /* 0: not known */
  double mean, p95, worst;
} emit_regret;

/* An extent, a product of some, or how many of `of` one of `over` has. */
typedef struct emit_feature {
  uint64_t of; /* bits of extents */
  int over;    /* -1: none */
} emit_feature;

typedef struct emit_matrix {
  int n_kernels, n_samples, n_extents;
  double *ns;                    /* [kernel * n_samples + sample] INFINITY: it cannot run there */
  bool *tried;                   /* [the same] else `ns` is a guess */
  bool *plain;                   /* [n_kernels] takes arrays at any address that the types allow, */
  bool *total;                   /* and, if it is plain, any extents */
  int naive;                     /* this kernel; -1: not tried */
  const int64_t *const *extents; /* [n_samples] */
  /* by emit_matrix_rate(); a cell is a sample in a situation, sample * EMIT_SITUATIONS + it */
  double *loss; /* [kernel * n_cells + cell] log of the time over the best; INFINITY: cannot run */
  double *weight; /* [n_cells] */
  int n_cells;
} emit_matrix;

/* A matrix without times. */
void emit_matrix_new(emit_matrix *out, sct_arena *arena, int n_kernels, int n_samples);
void emit_matrix_rate(emit_matrix *m, sct_arena *arena);

/* What a loss costs: twice as much at 28 % more time. */
double emit_cost(double loss);

/* Sets chosen[n_kernels] for few kernels that do well at the samples marked in at[n_samples]: some
 * of those that are kept[n_kernels], and `most` others. */
void emit_cover(bool *chosen, const bool *kept, const emit_matrix *m, const bool *at, int most);

/* A node of a tree: those samples at which its feature is at most `most` go to `low`. */
typedef struct emit_node {
  int feature, low, high; /* feature -1: a leaf, that tries kernels order[n_order] */
  int64_t most;
  int order[EMIT_MOST_ORDER], n_order;
  int n_samples;
  emit_regret regret; /* of a leaf, at its samples */
} emit_node;

typedef struct emit_rule {
  int n_nodes; /* node 0 is the root */
  emit_node nodes[EMIT_MOST_NODES];
  emit_regret regret; /* at samples that it was not made from */
} emit_rule;

/* Makes a rule with chosen[n_kernels] from the samples marked in at[n_samples]; kernels that bring
 * little are left out, unless they are kept[n_kernels]. */
void emit_rule_make(emit_rule *out, const emit_matrix *m, const bool *at, const bool *chosen,
                    const bool *kept, const emit_feature *features, int n_features);
/* The rule with kernels kept[n_kernels] and `most` others, and its regret at samples that are left
 * out in turn, those of left_out[n_samples]. */
void emit_rule_find(emit_rule *out, const emit_matrix *m, const bool *kept, const bool *left_out,
                    const emit_feature *features, int n_features, int most);
int64_t emit_feature_value(const emit_feature *f, const int64_t *extents, int n);
/* The leaf of some extents. */
const emit_node *emit_rule_leaf(const emit_rule *r, const emit_feature *features,
                                const int64_t *extents, int n);
/* The roundest number of [from, to): a power of two, else the one with the most zeros at the end.
 */
int64_t emit_round_between(int64_t from, int64_t to);

#endif
