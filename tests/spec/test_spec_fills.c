/* What index arrays and offsets of ragged rows hold in variants of verification. */
#include "spec_test.h"

enum { ROWS = 100, COUNT = 1000 };

/* Every value below 0 stands for none, and is one of several; the others are inside. */
static void test_none_is_any_negative_value(void **state) {
  (void)state;
  bool minus_one = false, minus_two = false, lowest = false, first = false, last = false;
  for (int variant = 1; variant <= 16; variant++) {
    const sct_index_fill fill = {.fill = SCT_FILL_RANDOM,
                                 .limit = 700,
                                 .has_none = true,
                                 .seed = 3,
                                 .variant = variant,
                                 .count = COUNT,
                                 .lowest = INT32_MIN};
    for (int64_t k = 0; k < COUNT; k++) {
      const int64_t value = sct_index_fill_value(&fill, k);
      assert_in_range(value + 1 - INT32_MIN, 1, 700 - (int64_t)INT32_MIN);
      minus_one = minus_one || value == -1;
      minus_two = minus_two || value == -2;
      lowest = lowest || value == INT32_MIN;
      first = first || (k == 0 && value < 0);
      last = last || (k == COUNT - 1 && value < 0);
    }
  }
  assert_true(minus_one && minus_two && lowest && first && last);
}

/* Both ends of the array, at both ends of the index array; runs; up and down. */
static void test_index_values_vary(void **state) {
  (void)state;
  bool runs = false, up = false, down = false, ends[2][2] = {{false}};
  for (int variant = 1; variant <= 16; variant++) {
    const sct_index_fill fill = {
        .fill = SCT_FILL_RANDOM, .limit = 700, .seed = 3, .variant = variant, .count = COUNT};
    int64_t before = sct_index_fill_value(&fill, 1), equal = 0, more = 0, less = 0;
    for (int64_t k = 2; k + 1 < COUNT; k++) {
      const int64_t value = sct_index_fill_value(&fill, k);
      assert_in_range(value, 0, 699);
      equal += value == before;
      more += value >= before;
      less += value <= before;
      before = value;
    }
    runs = runs || (equal > COUNT / 3 && more < COUNT - 3 && less < COUNT - 3);
    up = up || more == COUNT - 3;
    down = down || less == COUNT - 3;
    for (int end = 0; end < 2; end++) {
      const int64_t value = sct_index_fill_value(&fill, end == 0 ? 0 : COUNT - 1);
      ends[end][0] = ends[end][0] || value == 0;
      ends[end][1] = ends[end][1] || value == 699;
    }
  }
  assert_true(runs && up && down && ends[0][0] && ends[0][1] && ends[1][0] && ends[1][1]);
}

static void test_distinct_values_stay_distinct(void **state) {
  (void)state;
  static const sct_fill fills[] = {SCT_FILL_IDENTITY, SCT_FILL_PERMUTED};
  for (int k = 0; k < 2 * 17; k++) {
    const sct_index_fill fill = {
        .fill = fills[k % 2], .limit = COUNT, .seed = 3, .variant = k / 2, .count = COUNT};
    bool seen[COUNT] = {false};
    for (int64_t at = 0; at < COUNT; at++) {
      const int64_t value = sct_index_fill_value(&fill, at);
      assert_in_range(value, 0, COUNT - 1);
      assert_false(seen[value]);
      seen[value] = true;
    }
  }
}

/* An empty row before and after rows of more than 32, 64 and 1,000 elements, empty rows first, last
 * and in runs, one row that has most; as many elements as there are in any case. */
static void test_empty_rows_are_beside_long_ones(void **state) {
  (void)state;
  static const int64_t elements[] = {0, 1, 40, 700, 4097, 16001};
  int after[3] = {0}, before[3] = {0}, first = 0, last = 0, runs = 0, most = 0;
  for (int k = 0; k < 16 * SCT_COUNT(elements); k++) {
    const int64_t all = elements[k / 16];
    const sct_index_fill fill = {.fill = SCT_FILL_UNIFORM,
                                 .limit = all + 1,
                                 .are_offsets = true,
                                 .rows = ROWS,
                                 .seed = 3,
                                 .variant = k % 16 + 1};
    int64_t length[ROWS + 2] = {1}, at = 0;
    for (int64_t row = 0; row < ROWS; row++) {
      const int64_t next = sct_index_fill_value(&fill, row + 1);
      assert_true(next >= at && next <= all);
      length[row + 1] = next - at;
      at = next;
    }
    assert_int_equal(at, all);
    assert_int_equal(sct_index_fill_value(&fill, 0), 0);
    length[ROWS + 1] = 1;
    static const int64_t longs[] = {32, 64, 1000};
    for (int row = 1; row <= ROWS; row++) {
      for (int n = 0; n < 3 && length[row] == 0; n++) {
        after[n] += length[row - 1] > longs[n];
        before[n] += length[row + 1] > longs[n];
      }
      runs += length[row] == 0 && length[row - 1] == 0;
      most += all > 1 && length[row] > all / 2;
    }
    first += all > 1 && length[1] == 0;
    last += all > 1 && length[ROWS] == 0;
  }
  for (int n = 0; n < 3; n++) {
    assert_true(after[n] > 3 && before[n] > 3);
  }
  assert_true(first > 3 && last > 3 && runs > 50 && most > 3);
}

#define MANY_ROWS 186

/* Rows of each length where kernels change their way are after and before rows that are empty, of
 * one element, and longer than a block: in each variant, where there are elements for it. */
static void test_lengths_are_neighbours(void **state) {
  (void)state;
  static const int64_t classes[] = {0,  1,  2,  3,  4,  5,   7,   8,   9,   15,  16,  17, 31,
                                    32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300};
  for (int variant = 1; variant <= 16; variant++) {
    const sct_index_fill fill = {.fill = SCT_FILL_POWER,
                                 .limit = 19984 + 1,
                                 .are_offsets = true,
                                 .rows = MANY_ROWS,
                                 .seed = 3,
                                 .variant = variant};
    int64_t length[MANY_ROWS];
    for (int64_t row = 0; row < MANY_ROWS; row++) {
      length[row] = sct_index_fill_value(&fill, row + 1) - sct_index_fill_value(&fill, row);
    }
    for (int k = 0; k < SCT_COUNT(classes); k++) {
      bool met[2][3] = {{false}};
      for (int row = 1; row < MANY_ROWS; row++) {
        for (int after = 0; after < 2; after++) {
          const int64_t beside = length[after ? row - 1 : row];
          if (length[after ? row : row - 1] == classes[k]) {
            met[after][0] |= beside == 0;
            met[after][1] |= beside == 1;
            met[after][2] |= beside > 256;
          }
        }
      }
      for (int n = 0; n < 6; n++) {
        if (!met[n / 3][n % 3]) {
          fail_msg("variant %d: a row of %lld is never %s one %s", variant, (long long)classes[k],
                   n < 3 ? "before" : "after",
                   n % 3 == 0   ? "that is empty"
                   : n % 3 == 1 ? "of one element"
                                : "of 257 and more");
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_none_is_any_negative_value),
      cmocka_unit_test(test_index_values_vary),
      cmocka_unit_test(test_distinct_values_stay_distinct),
      cmocka_unit_test(test_empty_rows_are_beside_long_ones),
      cmocka_unit_test(test_lengths_are_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
