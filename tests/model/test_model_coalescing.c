/* The verdict from counts that are given: where its limits are, and what errors do to it. */
#include "model/model.h"
#include "spec_test.h"

#include <math.h>

#define N       8192
#define SECTORS 1024 /* that N floats fill */

static sct_count operand[2], stored[2];
static sct_counters counters;
static sct_kernel_code code;
static int layout[2];

/* b = a, each moved once. */
static void open_copy(void) {
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=8192");
  finish("b = a;");
  for (int k = 0; k < 2; k++) {
    operand[k] = (sct_count){.requests = 256, .sectors = SECTORS, .contiguous_bytes = 32 * SECTORS};
  }
  stored[0] = (sct_count){0};
  stored[1] = operand[1];
  counters = (sct_counters){.load = operand[0],
                            .store = operand[1],
                            .operand = operand,
                            .stored = stored,
                            .n_operands = 2};
  code = (sct_kernel_code){.layout = layout};
}

/* Of loads of a: sectors in place of SECTORS. */
static sct_coalescing with_loads(int64_t sectors, int64_t contiguous) {
  sct_coalescing out;
  operand[0].sectors = counters.load.sectors = sectors;
  operand[0].contiguous_bytes = counters.load.contiguous_bytes = 32 * contiguous;
  assert_int_equal(sct_model_coalescing(&out, &counters, &spec, &code, &spec.sizes[0], &err),
                   SCT_OK);
  return out;
}

static void test_limits(void **state) {
  (void)state;
  open_copy();
  sct_coalescing c = with_loads(SECTORS, SECTORS);
  assert_true(c.coalesced && !c.unknown && c.share == 1.0 && c.utilisation == 1.0 &&
              c.passes == 1.0);
  assert_true(c.load[0].footprint == SECTORS && c.store[1].footprint == SECTORS);
  assert_true(c.load[1].sectors == 0 && c.load[1].footprint == 0 && c.store[0].sectors == 0);
  assert_true(with_loads(SECTORS * 5 / 4, SECTORS).coalesced);
  assert_true(with_loads(SECTORS * 5 / 4 + 32, SECTORS).coalesced); /* 1/8 of 2.28 is more */
  c = with_loads(SECTORS * 4 / 3, SECTORS);
  assert_true(!c.coalesced && !c.unknown && fabs(c.share - 6.0 / 7.0) < 1e-3);
  assert_true(with_loads(SECTORS * 4 / 3, SECTORS * 4 / 3).coalesced); /* rows start anywhere */
  assert_true(!with_loads(8 * SECTORS, 0).coalesced);                  /* one lane a request */
  close_spec();
}

/* More sectors never make a kernel coalesced. */
static void test_monotone(void **state) {
  (void)state;
  open_copy();
  for (int64_t ideal = 0; ideal < 4 * SECTORS; ideal += 100) {
    bool was = true;
    for (int64_t sectors = SECTORS / 2; sectors < 20 * SECTORS; sectors += 37) {
      const bool is = with_loads(sectors, ideal).coalesced;
      assert_true(was || !is);
      was = is;
    }
    assert_false(was);
  }
  close_spec();
}

/* What the error may turn is unknown, on either side of the limit. */
static void test_errors(void **state) {
  (void)state;
  open_copy();
  counters.error = counters.excess_error = 0.1;
  sct_coalescing c = with_loads(SECTORS * 4 / 3, SECTORS);
  assert_true(!c.coalesced && c.unknown);
  c = with_loads(SECTORS * 6 / 5, SECTORS);
  assert_true(!c.coalesced && c.unknown);
  c = with_loads(SECTORS * 17 / 16, SECTORS);
  assert_true(c.coalesced && !c.unknown);
  c = with_loads(2 * SECTORS, SECTORS);
  assert_true(!c.coalesced && !c.unknown);
  counters.error = counters.excess_error = 0.9;
  c = with_loads(SECTORS, SECTORS);
  assert_true(!c.coalesced && c.unknown);
  counters.excess_error = 0.01; /* rows of any length, each of which is contiguous */
  c = with_loads(2 * SECTORS, 2 * SECTORS);
  assert_true(c.coalesced && !c.unknown);
  c = with_loads(4 * SECTORS, 2 * SECTORS); /* half of all are too many */
  assert_true(!c.coalesced && !c.unknown);
  counters.excess_error = 0.9;
  c = with_loads(2 * SECTORS, 0); /* held to the footprint */
  assert_true(!c.coalesced && c.unknown);
  close_spec();
}

/* Arrays that are read more than once; but a search of all of them for every element is no need. */
static void test_passes(void **state) {
  (void)state;
  open_copy();
  sct_coalescing c = with_loads(3 * SECTORS, 3 * SECTORS);
  assert_true(c.coalesced && c.passes == 3.0 && c.share == 1.0 && c.utilisation == 1.0);
  c = with_loads(1000 * SECTORS, 1000 * SECTORS);
  assert_true(!c.coalesced && c.share < 0.02);
  close_spec();
}

/* What is of no operand is of the workspace. */
static void test_workspace(void **state) {
  (void)state;
  open_copy();
  code.workspace_bytes = 32 * SECTORS;
  counters.store.sectors += 4 * SECTORS;
  sct_coalescing c = with_loads(SECTORS, SECTORS);
  assert_true(!c.coalesced && c.store[SCT_MAX_OPERANDS].sectors == 4 * SECTORS);
  assert_true(c.store[SCT_MAX_OPERANDS].footprint == SECTORS);
  counters.store.contiguous_bytes += 4 * 32 * SECTORS;
  assert_true(with_loads(SECTORS, SECTORS).coalesced);
  close_spec();
}

/* Of a sector that eight elements share every part of what an index points to has some. */
static void test_windows(void **state) {
  (void)state;
  open_copy();
  assert_false(with_loads(4 * SECTORS, 0).coalesced);
  code.windows = 8;
  assert_true(with_loads(5 * SECTORS, 0).coalesced); /* 8 (1 - (7/8)^8) = 5.25 */
  assert_false(with_loads(8 * SECTORS, 0).coalesced);
  close_spec();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_limits),    cmocka_unit_test(test_monotone),
      cmocka_unit_test(test_errors),    cmocka_unit_test(test_passes),
      cmocka_unit_test(test_workspace), cmocka_unit_test(test_windows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
