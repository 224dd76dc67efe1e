/* Grids of blocks that are figures alone: what some of them say of all, and how sure it is. */
#include "measure/measure_sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define MOST 16

typedef struct blocks {
  sct_grid grid;
  double (*sectors)(const struct blocks *b, int64_t block);
  double (*steps)(const struct blocks *b, int64_t block);
  uint64_t seed;
  int64_t period, changes_at;
  const double *offsets; /* [n_blocks + 1], ascending from 0 to 1 */
  int64_t n_run;
  bool excess_within; /* the part of the sectors that is the third figure was within its error */
} blocks;

static double random_of(const blocks *b, int64_t block) {
  return (double)(sct_mix64(b->seed, (uint64_t)block) >> 11) * 0x1p-53;
}

/* A tenth of its sectors, more or less. */
static double excess(const blocks *b, int64_t block) {
  return b->sectors(b, block) * (0.05 + 0.1 * random_of(b, ~block));
}

static sct_status run(void *ctx, double *out, int64_t *n_run, const int64_t *list, int64_t n,
                      int64_t most_steps, sct_error *err) {
  blocks *const b = ctx;
  double steps = 0;
  (void)err;
  for (*n_run = 0; *n_run < n && steps < (double)most_steps; ++*n_run) {
    const int64_t block = list[*n_run];
    assert_in_range(block, 0, b->grid.n_blocks - 1);
    double *const figures = out + 3 * *n_run;
    figures[0] = b->steps != NULL ? b->steps(b, block) : 1000;
    figures[1] = b->sectors(b, block);
    figures[2] = excess(b, block);
    steps += figures[0];
  }
  b->n_run += *n_run;
  return SCT_OK;
}

static double work_before(void *ctx, int64_t block) {
  return ((const blocks *)ctx)->offsets[block];
}

static double sum_of(const blocks *b, double (*figure)(const blocks *b, int64_t block)) {
  double sum = 0;
  for (int64_t k = 0; k < b->grid.n_blocks; k++) {
    sum += figure(b, k);
  }
  return sum;
}

/* The estimate by the whole, less 1; *error is what it says of itself. */
static double sampled(blocks *b, double *error) {
  sct_error err = {0};
  sct_grid_sums sums;
  b->grid.n_figures = 3;
  b->grid.n_phases = 8;
  b->grid.most_blocks = b->grid.most_blocks > 0 ? b->grid.most_blocks : MOST;
  b->grid.most_steps = b->grid.most_steps > 0 ? b->grid.most_steps : 1000000;
  b->grid.run = run;
  b->grid.ctx = b;
  b->n_run = 0;
  assert_int_equal(sct_grid_sample(&sums, &b->grid, &err), SCT_OK);
  const double all = sum_of(b, b->sectors), off = sums.figures[1] / all - 1.0;
  b->excess_within =
      fabs(sums.figures[2] - sum_of(b, excess)) <= sums.excess_error * sums.figures[1] + 1e-9 * all;
  *error = sums.error;
  sct_free(sums.figures);
  return off;
}

static double alike(const blocks *b, int64_t block) {
  return block + 1 < b->grid.n_blocks ? 512 : 77;
}

/* The last block has a rest, the others are alike: then a few say it, and say that they are sure.
 */
static void test_alike_blocks(void **state) {
  (void)state;
  for (int64_t n = 1; n < 3000000; n = n * 3 + 1) {
    double error;
    blocks b = {.grid = {.n_blocks = n}, .sectors = alike};
    assert_true(fabs(sampled(&b, &error)) < 1e-9);
    assert_true(n <= MOST ? error == 0 : error > 0 && error <= 0.001);
    assert_true(b.n_run <= MOST);
  }
}

static double round_steps(const blocks *b, int64_t block) {
  return 100.0 * (double)(5 + (block < b->changes_at));
}

static double rounds(const blocks *b, int64_t block) {
  return 48.0 * (double)(5 + (block < b->changes_at)) - (block + 1 == b->changes_at ? 13 : 0);
}

/* The first blocks of a loop over gridDim have one more round, the last of them a part of it. */
static void test_rounds_of_a_loop(void **state) {
  (void)state;
  for (int64_t at = 1; at < 528; at += 1 + at / 7) {
    double error;
    blocks b = {
        .grid = {.n_blocks = 528}, .sectors = rounds, .steps = round_steps, .changes_at = at};
    const double off = sampled(&b, &error);
    assert_true(fabs(off) <= error);
    assert_true(error < 0.01);
    assert_true(b.n_run < 4 * MOST);
  }
}

static double edges(const blocks *b, int64_t block) {
  const int64_t *const t = b->grid.tiles, x = block % t[0], y = block / t[0];
  return (x + 1 < t[0] ? 64.0 : 9.0) * (y + 1 < t[1] ? 32.0 : 5.0) + (x == 0) + 3.0 * (y == 0);
}

/* Tiles at the borders are other tiles, however few the sample would find of them. */
static void test_borders_of_tiles(void **state) {
  (void)state;
  for (int64_t x = 3; x < 300; x += x / 2) {
    for (int64_t y = 3; y < 300; y += y / 2) {
      double error;
      blocks b = {.grid = {.n_blocks = x * y, .n_tiles = 2, .tiles = {x, y}}, .sectors = edges};
      assert_true(fabs(sampled(&b, &error)) <= error);
      assert_true(error <= 0.01);
    }
  }
}

static double phased(const blocks *b, int64_t block) {
  return 1000.0 + 250.0 * (double)(block % b->period > 0);
}

/* Rows that begin off a sector but for each eighth. */
static void test_rows_off_a_sector(void **state) {
  (void)state;
  for (int64_t period = 2; period <= 8; period *= 2) {
    for (int64_t n = 100; n < 1000000; n *= 9) {
      double error;
      blocks b = {.grid = {.n_blocks = n}, .sectors = phased, .period = period};
      assert_true(fabs(sampled(&b, &error)) <= error);
      assert_true(error <= 0.01);
    }
  }
}

static double with_row_ends(const blocks *b, int64_t block) {
  const int64_t tile = b->grid.tile, row = b->grid.row;
  return 512.0 + 80.0 * (double)(((block + 1) * tile - 1) / row - block * tile / row);
}

/* Rows of a length that blocks do not divide: some blocks hold the end of one, or one more. */
static void test_rows_that_blocks_do_not_divide(void **state) {
  (void)state;
  int n = 0, within = 0;
  for (int64_t row = 33; row < 4000; row += 1 + row / 8) {
    for (int64_t rows = 5; rows < 3000; rows *= 3) {
      double error;
      blocks b = {.grid = {.n_blocks = (row * rows + 511) / 512, .tile = 512, .row = row},
                  .sectors = with_row_ends};
      const double off = fabs(sampled(&b, &error));
      within += off <= error;
      n++;
      assert_true(off < 0.05 && error < 0.25);
    }
  }
  print_message("%d of %d within their error\n", within, n);
  assert_true(within >= n * 95 / 100);
}

static double noisy(const blocks *b, int64_t block) {
  const double u = random_of(b, block);
  return b->period == 0 ? 100 + 50 * u : b->period == 1 ? (u < 0.5 ? 50 : 100) : 20 - 40 * log(u);
}

/* At least 19 of 20 are within their error, whatever the blocks' figures are spread like. */
static void test_random_blocks(void **state) {
  (void)state;
  enum { CASES = 300 };
  for (int64_t kind = 0; kind < 3; kind++) {
    int within = 0, excess_within = 0;
    for (int k = 0; k < CASES; k++) {
      double error;
      blocks b = {.grid = {.n_blocks = 2000}, .sectors = noisy, .period = kind, .seed = 1 + k};
      within += fabs(sampled(&b, &error)) <= error;
      excess_within += b.excess_within;
      assert_true(error > 0 && error < 1.5);
    }
    assert_true(excess_within >= CASES * 19 / 20);
    if (within < CASES * 19 / 20) {
      fail_msg("%d of %d within their error, kind %d", within, CASES, (int)kind);
    }
  }
}

static double by_rows(const blocks *b, int64_t block) {
  const double work = b->offsets[block + 1] - b->offsets[block];
  return 40.0 + 1e6 * work * (1.0 + 0.2 * random_of(b, block));
}

/* Halves of halves, of which one has most. */
static void fill_power(double *offsets, int64_t first, int64_t end, uint64_t seed) {
  if (end - first > 1) {
    const int64_t middle = first + (end - first) / 2;
    const double share = sct_mix64(seed, (uint64_t)(first + end)) % 2 == 0 ? 0.76 : 0.24;
    offsets[middle] = offsets[first] + share * (offsets[end] - offsets[first]);
    fill_power(offsets, first, middle, seed);
    fill_power(offsets, middle, end, seed);
  }
}

static double one_length(const blocks *b, int64_t block) {
  return b->offsets[block + 1] > b->offsets[block] ? 14.0 : 8.0;
}

/* Rows of one length, of which each block has a part of one or none. */
static void test_work_at_even_distances(void **state) {
  (void)state;
  enum { BLOCKS = 8000 };
  static double offsets[BLOCKS + 1];
  for (int64_t rows = 10; rows <= 160; rows *= 2) {
    double error;
    for (int64_t k = 0; k <= BLOCKS; k++) {
      offsets[k] = (double)(k * rows / BLOCKS) / (double)rows;
    }
    blocks b = {.grid = {.n_blocks = BLOCKS, .work_before = work_before, .most_blocks = 40},
                .sectors = one_length,
                .offsets = offsets};
    assert_true(fabs(sampled(&b, &error)) <= error);
  }
}

/* A few blocks have most of the work: they are among those that run. */
static void test_blocks_by_work(void **state) {
  (void)state;
  enum { BLOCKS = 4096, CASES = 100 };
  static double offsets[BLOCKS + 1];
  int within = 0, excess_within = 0;
  for (int k = 0; k < CASES; k++) {
    double error;
    blocks b = {.grid = {.n_blocks = BLOCKS, .work_before = work_before, .most_blocks = 40},
                .sectors = by_rows,
                .seed = (uint64_t)k,
                .offsets = offsets};
    offsets[BLOCKS] = 1.0;
    fill_power(offsets, 0, BLOCKS, (uint64_t)k);
    const double off = sampled(&b, &error);
    within += fabs(off) <= error;
    excess_within += b.excess_within;
    assert_true(fabs(off) < 0.1 && error < 0.2);
    assert_true(b.n_run <= 40);
  }
  assert_true(within >= CASES * 19 / 20 && excess_within >= CASES * 19 / 20);
}

static double any_steps(const blocks *b, int64_t block) {
  (void)b;
  return 1000.0 + (double)(block % 7);
}

/* Long blocks are few that run. */
static void test_steps_are_limited(void **state) {
  (void)state;
  double error;
  blocks b = {.grid = {.n_blocks = 5000, .most_steps = 3500}, .sectors = noisy, .steps = any_steps};
  assert_true(fabs(sampled(&b, &error)) <= error);
  assert_int_equal(b.n_run, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alike_blocks),
      cmocka_unit_test(test_rounds_of_a_loop),
      cmocka_unit_test(test_borders_of_tiles),
      cmocka_unit_test(test_rows_off_a_sector),
      cmocka_unit_test(test_rows_that_blocks_do_not_divide),
      cmocka_unit_test(test_work_at_even_distances),
      cmocka_unit_test(test_random_blocks),
      cmocka_unit_test(test_blocks_by_work),
      cmocka_unit_test(test_steps_are_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
