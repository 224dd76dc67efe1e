/* The strategy `accumulate` where a copy of the output does not fit into shared memory. */
#include "tune_verify.h"

/* A copy of one warp is more than a block has. */
static void test_parts_of_a_copy(void **state) {
  (void)state;
  static const char *const spec =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'sums', dims = { 'i' },\n"
      "  inputs = { s.array('key', 'i32'), s.array('x', 'f64') },\n"
      "  outputs = { s.array('y', 'f64', s.row_major, { dims = { 'm' }, at = 'key', "
      "accumulate = 'add', deterministic = true }) }, body = 'y = x;',\n"
      "  sizes = { { i = 100000, m = 40000 } } }\n";
  tv_world w;
  tv_open_text(&w, spec,
               "accumulate place=shared threads=32 vec=1 items=4 ahead=0 parts=2 blocks=1");
  assert_non_null(strstr(w.code.source, "kSpan_y = 20000;"));
  tv_close(&w);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_of_a_copy)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
