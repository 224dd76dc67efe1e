/* Conditions of stored kernels, worked out for some extents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emit/emit_internal.h"

static void conditions_hold_as_in_c(void **state) {
  (void)state;
  static const char *const names[] = {"row", "col"};
  const int64_t values[] = {12, 1000};
  static const struct {
    const char *text;
    bool holds;
  } cases[] = {
      {"(n_col & 3) == 0", true},
      {"n_row & 1", false},
      {"!(n_row & 1)", true},
      {"n_col < 4097", true},
      {"n_row < 2147483648LL && n_col % 512 == 0", false},
      {"8 * n_row <= 4096 || n_col == 7", true},
      {"n_col - n_row * 83 == 4", true},
      {"n_col / 7 * 7 + n_col % 7 == n_col", true},
      {"1 + 2 * 3 == 7 && 20 - 8 - 4 == 8", true},
      {"min(n_row, n_col) == 12 && max(n_row, 13) == 13", true},
      {"sct_floor_div(n_row - 13, 4) == -1 && sct_floor_mod(n_row - 13, 4) == 3", true},
      {"(n_row > 12 ? 1 : 2) == 2", true},
      {"(1 << 4 | 1) == 17 && (n_row ^ 4) == 8", true},
      {"(long long)n_row * n_col == 12000", true},
      {"n_row % 0 == 0", false}, /* what is not known does not hold */
      {"n_other == 0", false},
      {"n_row == 12 n_col", false},
      {"(n_row == 12", false},
      {"", false},
      {"9223372036854775807 * n_row != 0", false},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    if (emit_holds(cases[k].text, names, values, 2) != cases[k].holds) {
      fail_msg("%s", cases[k].text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conditions_hold_as_in_c),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
