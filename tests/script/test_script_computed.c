/* Places that the body computes: what a spec becomes, and its mistakes. */
#include "script_test.h"

/* A histogram with this line (3), places and way of its output (4), and body (5). */
static const char *kernel(const char *index, const char *output, const char *body) {
  static char text[1024];
  snprintf(text, sizeof text,
           "local s = require 'sectile'\n"
           "return s.kernel { name = 'q', dims = { 'i' },\n"
           "  %s\n"
           "  inputs = { s.array('x', 'f32') }, outputs = { s.array('h', 'u32', nil, { %s }) },\n"
           "  body = '%s',\n"
           "  sizes = { { i = 9000, bin = 40 } } }\n",
           index, output, body);
  return text;
}

#define INDEX "index = 'b',"
#define PLACE "dims = 'bin', at = 'b', "
#define ADD   PLACE "accumulate = 'add'"
#define BODY  "b = (int)x; h = 1;"

static void test_what_it_becomes(void **state) {
  (void)state;
  load_ok(kernel(INDEX, ADD, BODY));
  assert_int_equal(spec.n_values, 1);
  assert_true(sct_spec_is_computed(&spec, spec.operands[1].at[0]));
  assert_false(sct_spec_is_computed(&spec, spec.operands[0].at[0]));
  assert_true(spec.operands[1].through_index);
  assert_int_equal(spec.n_moves, 0); /* the host does not know where points fall */
  assert_int_equal(sct_spec_touched_bytes(&spec, 1, &spec.sizes[0]), 40 * 4);
  const sct_hash hash = spec.hash;
  sct_spec_free(&spec);
  load_ok(
      kernel("index = 'c',", "dims = 'bin', at = 'c', accumulate = 'add'", "c = (int)x; h = 1;"));
  assert_memory_not_equal(&hash, &spec.hash, sizeof hash);
  sct_spec_free(&spec);
}

#define FAILS(line, index, output, body, says)                                                     \
  assert_fails(kernel(index, output, body), "spec.lua", line, says)

static void test_mistakes(void **state) {
  (void)state;
  FAILS(4, "", ADD, BODY, "at of 'h', \"b\": column 1: unknown name 'b'");
  FAILS(4, INDEX, PLACE, BODY, "at of 'h' names 'b', which the body computes, so points may meet");
  FAILS(3, INDEX, "dims = 'i', accumulate = 'add'", BODY, "index: no `at` names 'b'");
  FAILS(3, "index = 'x',", ADD, BODY, "index 'x': the name is already an array");
  FAILS(3, "index = 'n_i',", ADD, BODY, "index 'n_i': the name is already the extent");
  FAILS(3, "index = { 'b', 'b' },", ADD, BODY, "index 'b': the name is taken; choose another one");
  FAILS(3, "index = {},", ADD, BODY, "index has 1 to 32 names, not 0");
  FAILS(3, "index = { 3 },", ADD, BODY, "index");
  FAILS(5, INDEX, ADD, "h = 1;", "value b is never assigned");
  FAILS(5, INDEX, ADD, "if (x > 0) b = 1; h = 1;", "value b is not assigned when `x > 0` is false");
  FAILS(5, INDEX, ADD, "if (x > 0) { b = 1; h = 1; } else keep(h);",
        "value b is not assigned when `x > 0` is false");
  FAILS(5, INDEX, ADD, "h = b; b = 1;", "b");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_it_becomes),
      cmocka_unit_test(test_mistakes),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
