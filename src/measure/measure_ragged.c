/* measure_ragged - see measure_ragged.h. */
#include "measure_ragged.h"

#include <math.h>

#define LEAST_GROWTH 2.0 /* of the longest row, for a chain to be continued */

/* As many as the grid says, a power of two where it leaves a choice. */
static int64_t rows_of_block(int64_t rows, int64_t n_blocks) {
  const int64_t least = n_blocks > 0 ? (rows + n_blocks - 1) / n_blocks : 1;
  int64_t power = 1;
  while (power < least) {
    power *= 2;
  }
  return (rows + power - 1) / power == n_blocks ? power : least;
}

void sct_ragged_rows_init(sct_ragged_rows *r, const sct_index_fill *fill, int64_t rows,
                          int64_t elements, int64_t n_blocks) {
  *r = (sct_ragged_rows){.fill = fill,
                         .rows = rows,
                         .elements = elements,
                         .n_blocks = n_blocks,
                         .of_block = rows_of_block(rows, n_blocks)};
}

static int64_t offset_of(const sct_ragged_rows *r, int64_t row) {
  return sct_index_fill_value(r->fill, row);
}

double sct_ragged_before(const sct_ragged_rows *r, int64_t block) {
  const double rows = (double)r->rows, n_blocks = (double)r->n_blocks;
  if (block >= r->n_blocks) {
    return (double)block / n_blocks;
  }
  const double at =
      r->rows < r->n_blocks ? (double)block * rows / n_blocks : (double)(block * r->of_block);
  const int64_t row = at < rows ? (int64_t)at : r->rows;
  const double first = (double)offset_of(r, row);
  const double next = row < r->rows ? (double)offset_of(r, row + 1) : first;
  return (first + (at - (double)row) * (next - first)) / (double)r->elements;
}

static double longest_row(const sct_ragged_rows *r, int64_t block) {
  int64_t most = 0;
  for (int64_t row = block * r->of_block; row < r->rows && row < (block + 1) * r->of_block; row++) {
    const int64_t length = offset_of(r, row + 1) - offset_of(r, row);
    most = length > most ? length : most;
  }
  return (double)most;
}

/* The heavier half of the rows has the longest of all, and so on. */
static double longest_of_all(const sct_ragged_rows *r) {
  int64_t first = 0, end = r->rows;
  while (end - first > 1) {
    const int64_t middle = first + (end - first) / 2, at = offset_of(r, middle);
    const bool left = at - offset_of(r, first) > offset_of(r, end) - at;
    first = left ? first : middle;
    end = left ? middle : end;
  }
  return (double)(offset_of(r, end) - offset_of(r, first));
}

void sct_ragged_add(sct_ragged_rows *r, int64_t block, sct_chain chain) {
  if (r->rows < r->n_blocks) { /* which share rows, or have none */
    return;
  }
  const double length = longest_row(r, block);
  r->sum.n++;
  r->sum.length += length;
  r->sum.chain.cycles += chain.cycles;
  r->sum.chain.loads += chain.loads;
  r->sum.chain.near += chain.near;
  if (r->heaviest.n == 0 || length > r->heaviest.length) {
    r->heaviest.n = 1;
    r->heaviest.length = length;
    r->heaviest.chain = chain;
  }
}

/* It grows from usual blocks to that with the longest row of those that ran, and goes on so. A
 * kernel that shares rows out has none that grows. */
sct_chain sct_ragged_longest(const sct_ragged_rows *r, sct_chain ran) {
  const double n = fmax(r->sum.n, 1.0), length = r->sum.length / n;
  const double far = r->heaviest.length, most = longest_of_all(r);
  if (r->sum.n < 2 || far < LEAST_GROWTH * length || most <= far) {
    return ran;
  }
  const double more = (most - far) / (far - length);
  const sct_chain usual = r->sum.chain, heavy = r->heaviest.chain;
  return (sct_chain){fmax(ran.cycles, heavy.cycles + more * (heavy.cycles - usual.cycles / n)),
                     fmax(ran.loads, heavy.loads + more * (heavy.loads - usual.loads / n)),
                     fmax(ran.near, heavy.near + more * (heavy.near - usual.near / n))};
}
