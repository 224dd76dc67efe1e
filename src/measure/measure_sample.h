/* measure_sample - what a whole launch does, from some of its blocks, and how far that may be off.
 *
 * A block is a row of figures, as many as the caller likes; the launch has their sums. Which blocks
 * run follows from what is known of a grid before: the numbers of tiles along each mode (its first
 * and last tiles are unlike those between), or how much work each block has. What is not known
 * shows in the blocks that run: where a grid's first blocks do more than its last ones (loops over
 * gridDim), the place where that changes is searched; where blocks differ in no order, more of them
 * run, and how much they differ gives the error. */
#ifndef SCT_MEASURE_SAMPLE_H
#define SCT_MEASURE_SAMPLE_H

#include "measure/measure.h"

typedef struct sct_grid {
  int64_t n_blocks;
  int n_tiles;                  /* 0: nothing is known */
  int64_t tiles[SCT_MAX_TILES]; /* the block's number is t0 + tiles[0] * (t1 + tiles[1] * ...) */
  int n_phases;      /* blocks of rows after which where a row begins in a sector repeats */
  int64_t tile, row; /* elements of a block and of a row, where blocks follow each other along rows
                        and neither is a multiple of the other: some hold more row ends; else 0 */
  /* Not NULL: the share of all work that the blocks before `block` have; n_blocks: 1. */
  double (*work_before)(void *ctx, int64_t block);
  int64_t most_blocks; /* that run where they differ, about */
  int64_t most_steps;  /* of all of them, about */
  int n_figures; /* of a block; the first is its steps, the second decides about the error, a third
                    may be a part of the second */
  /* Runs the blocks, in this order, until they have done about most_steps, and writes the figures
   * of each one that ran to `out`, one after the other: *n_run of them. */
  sct_status (*run)(void *ctx, double *out, int64_t *n_run, const int64_t *blocks, int64_t n,
                    int64_t most_steps, sct_error *err);
  void *ctx;
} sct_grid;

typedef struct sct_grid_sums {
  double *figures; /* [n_figures], malloc'ed */
  double error;    /* of the second figure, relative: a bound that holds 19 times of 20; 0: exact */
  double excess_error; /* the same of the third, by the second */
  int64_t blocks_run;
} sct_grid_sums;

/* `out` is set on success only. */
sct_status sct_grid_sample(sct_grid_sums *out, const sct_grid *grid, sct_error *err);

#endif
