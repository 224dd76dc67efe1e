/* rule - which kernels calls of any extents take on a device, from times of kernels at some sizes.
 *
 *   rule_estimate.c  what a kernel takes at sizes where it was not tried
 *   rule_matrix.c    what each kernel loses against the best at each size
 *   rule_cover.c     few of these kernels for all sizes
 *   rule_tree.c      a decision tree over extents with these kernels */
#ifndef SCT_RULE_RULE_H
#define SCT_RULE_RULE_H

#include "base/base.h"

enum {
  SCT_RULE_MOST_ADDED = 6,  /* kernels of a device beside the naive variant and listed winners, */
  SCT_RULE_MOST_EXTRA = 12, /* and of a header */
  SCT_RULE_MOST_USED = 12,  /* by the rule of a device */
  SCT_RULE_MOST_DEPTH = 5,  /* of a tree */
  SCT_RULE_MOST_NODES = 63, /* that has this depth */
  SCT_RULE_MOST_ORDER = 3,  /* kernels of a branch, after which comes the naive variant */
  SCT_RULE_SITUATIONS = 3   /* of a size: where cudaMalloc puts arrays; an element further; there
                               and with extents that only kernels without conditions take */
};

/* How far kernels are from the best that was found, by factors: 1.02, 2 % more time. */
typedef struct sct_rule_regret {
  int n_samples; /* 0: not known */
  double mean, p95, worst;
} sct_rule_regret;

/* An extent, a product of some, or how many of `of` one of `over` has. */
typedef struct sct_rule_feature {
  uint64_t of; /* bits of extents */
  int over;    /* -1: none */
} sct_rule_feature;

typedef struct sct_rule_matrix {
  int n_kernels, n_samples, n_extents;
  double *ns;                    /* [kernel * n_samples + sample] INFINITY: it cannot run there */
  bool *tried;                   /* [the same] else `ns` is estimated, */
  bool *may;                     /* where it runs; */
  double *predicted;             /* by the model; 0: unknown */
  double *calls;                 /* [n_samples] that a program made; 0: unknown */
  bool *plain;                   /* [n_kernels] takes arrays at any address that the types allow, */
  bool *total;                   /* and any extents */
  int naive;                     /* this kernel; -1: not tried */
  const int64_t *const *extents; /* [n_samples] */
  /* by sct_rule_rate(); a cell is a sample in a situation, sample * SCT_RULE_SITUATIONS + it */
  double *loss; /* [kernel * n_cells + cell] log of the time over the best; INFINITY: cannot run */
  double *weight; /* [n_cells] of a sample 1 in the mean */
  int n_cells;
} sct_rule_matrix;

/* A matrix without times. */
void sct_rule_new(sct_rule_matrix *out, sct_arena *arena, int n_kernels, int n_samples);
/* Estimates `ns` where a kernel may run and was not tried. */
void sct_rule_estimate(sct_rule_matrix *m, sct_arena *arena);
void sct_rule_rate(sct_rule_matrix *m, sct_arena *arena);

/* The least time that was found at a sample, by kernels that take the situation; INFINITY: none.
 */
double sct_rule_best(const sct_rule_matrix *m, int sample, int situation);
/* What a loss costs: twice as much at 28 % more time. */
double sct_rule_cost(double loss);

/* Sets chosen[n_kernels] for few kernels that do well at the samples marked in at[n_samples]: some
 * of those that are kept[n_kernels], and `most` others. */
void sct_rule_cover(bool *chosen, const bool *kept, const sct_rule_matrix *m, const bool *at,
                    int most);

/* A node of a tree: those samples at which its feature is at most `most` go to `low`. */
typedef struct sct_rule_node {
  int feature, low, high; /* feature -1: a leaf, that tries kernels order[n_order] */
  int64_t most;
  int order[SCT_RULE_MOST_ORDER], n_order;
  int n_samples;
  sct_rule_regret regret; /* of a leaf, at its samples */
} sct_rule_node;

typedef struct sct_rule {
  int n_nodes; /* node 0 is the root */
  sct_rule_node nodes[SCT_RULE_MOST_NODES];
  sct_rule_regret regret; /* at samples that it was not made from */
} sct_rule;

/* Makes a rule with chosen[n_kernels] from the samples marked in at[n_samples]; kernels that bring
 * little are left out, unless they are kept[n_kernels]. */
void sct_rule_make(sct_rule *out, const sct_rule_matrix *m, const bool *at, const bool *chosen,
                   const bool *kept, const sct_rule_feature *features, int n_features);
/* The rule with kernels kept[n_kernels] and `most` others, and its regret at samples that are left
 * out in turn, those of left_out[n_samples]. */
void sct_rule_find(sct_rule *out, const sct_rule_matrix *m, const bool *kept, const bool *left_out,
                   const sct_rule_feature *features, int n_features, int most);
int64_t sct_rule_value(const sct_rule_feature *f, const int64_t *extents, int n);
/* The leaf of some extents. */
const sct_rule_node *sct_rule_leaf(const sct_rule *r, const sct_rule_feature *features,
                                   const int64_t *extents, int n);
/* The kernel of a leaf that a sample's call takes, as far as the matrix knows, with its loss; the
 * naive one, -1, where no other does. */
int sct_rule_takes(const sct_rule_matrix *m, const sct_rule_node *leaf, int sample, double *loss);
/* The roundest number of [from, to): a power of two, else the one with the most zeros at the end.
 */
int64_t sct_rule_round(int64_t from, int64_t to);

#endif
