/* measure_ragged - blocks that have ragged rows, one after the other: how much of the work is
 * whose, and what a block with the longest row would take. */
#ifndef SCT_MEASURE_RAGGED_H
#define SCT_MEASURE_RAGGED_H

#include "measure/measure.h"
#include "model/model.h"

typedef struct sct_ragged_rows {
  const sct_index_fill *fill; /* of the offsets */
  int64_t rows, elements, n_blocks;
  int64_t of_block; /* rows */
  struct {
    double n, length; /* blocks that ran; of the longest row of each */
    sct_chain chain;
  } sum, heaviest; /* of all of them; of that with the longest row */
} sct_ragged_rows;

void sct_ragged_rows_init(sct_ragged_rows *r, const sct_index_fill *fill, int64_t rows,
                          int64_t elements, int64_t n_blocks);
/* The share of all elements that the rows of the blocks before this one have. */
double sct_ragged_before(const sct_ragged_rows *r, int64_t block);
/* A block that ran, and its chain. */
void sct_ragged_add(sct_ragged_rows *r, int64_t block, sct_chain chain);
/* The chain of the block with the longest row of all: `ran`, the longest of those that ran, or
 * longer. */
sct_chain sct_ragged_longest(const sct_ragged_rows *r, sct_chain ran);

#endif
