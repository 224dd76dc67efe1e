/* Blocks of ragged rows: the chain of one with the longest row, if none that ran has it. */
#include "measure/measure_ragged.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
/* cmocka wants the above first */
#include <cmocka.h>

enum { ROWS = 4096, OF_BLOCK = 64, ELEMENTS = 1000000 };

static int64_t offset_of(const sct_index_fill *fill, int64_t row) {
  return sct_index_fill_value(fill, row);
}

static int64_t longest_of(const sct_index_fill *fill, int64_t first, int64_t n) {
  int64_t most = 0;
  for (int64_t row = first; row < first + n; row++) {
    const int64_t length = offset_of(fill, row + 1) - offset_of(fill, row);
    most = length > most ? length : most;
  }
  return most;
}

/* All blocks run whose longest row is shorter than `most`; a chain is `each` cycles an element of
 * that row, and 100. */
static sct_chain longest_when(const sct_index_fill *fill, int64_t most, double each) {
  sct_ragged_rows r;
  sct_chain ran = {0};
  sct_ragged_rows_init(&r, fill, ROWS, ELEMENTS, ROWS / OF_BLOCK);
  for (int64_t block = 0; block < ROWS / OF_BLOCK; block++) {
    const int64_t length = longest_of(fill, block * OF_BLOCK, OF_BLOCK);
    const sct_chain chain = {100 + each * (double)length, 1, 0};
    if (length < most) {
      sct_ragged_add(&r, block, chain);
      ran = chain.cycles > ran.cycles ? chain : ran;
    }
  }
  assert_true(sct_ragged_before(&r, 0) == 0 && sct_ragged_before(&r, ROWS / OF_BLOCK) == 1);
  return sct_ragged_longest(&r, ran);
}

static void test_chains_go_on_to_the_longest_row(void **state) {
  (void)state;
  const sct_index_fill fill = {
      .fill = SCT_FILL_POWER, .are_offsets = true, .seed = 7, .rows = ROWS, .limit = ELEMENTS + 1};
  const int64_t most = longest_of(&fill, 0, ROWS);
  const double expected = 100 + 2.0 * (double)most;
  assert_in_range(most, ELEMENTS / 32, ELEMENTS / 16); /* 0.76 ^ 12 of them */
  assert_true(fabs(longest_when(&fill, most / 3, 2).cycles / expected - 1) < 1e-9);
  assert_true(fabs(longest_when(&fill, most + 1, 2).cycles / expected - 1) < 1e-9); /* it ran */
  /* blocks that take equally long, whatever their rows */
  assert_true(longest_when(&fill, most / 3, 0).cycles == 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains_go_on_to_the_longest_row)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
