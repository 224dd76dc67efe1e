/* Constants of a GPU from its micro-kernels: an H200's are the model's own, and each follows from
 * the micro-kernel that asks for it. */
#include "script/script.h"
#include "tune/tune_device.h"

#include <math.h>
#include <setjmp.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static const double reference_ns[SCT_N_MICROS] = {
#define SCT_MICRO(id, kernel, threads, blocks, an_sm, array, n, work, reference) reference,
#include "measure/measure_micro.def"
#undef SCT_MICRO
};

static sct_device_desc h200;

static sct_device_desc constants_of(const sct_calibration *c) {
  sct_device_desc d = h200;
  sct_tune_apply_calibration(&d, &h200, c);
  return d;
}

static sct_calibration like_an_h200(void) {
  sct_calibration c = {.copy_bytes_s = 4e12, .launch_ns = 3000};
  memcpy(c.ns, reference_ns, sizeof c.ns);
  for (int k = 0; k < SCT_N_MICROS; k++) {
    c.mhz[k] = 1980;
  }
  return c;
}

static void assert_near(double a, double b) {
  if (!(fabs(a - b) <= 1e-9 * fabs(b))) {
    fail_msg("%g instead of %g", a, b);
  }
}

static void an_h200_has_its_own_constants(void **state) {
  (void)state;
  const sct_calibration c = like_an_h200();
  const sct_device_desc d = constants_of(&c);
  assert_near(d.copy_bytes_s, 4e12);
  assert_near(d.launch_ns, 3000);
  assert_int_equal(d.latency_cycles, h200.latency_cycles);
  assert_int_equal(d.l2_latency_cycles, h200.l2_latency_cycles);
  assert_int_equal(d.shared_latency_cycles, h200.shared_latency_cycles);
  assert_near(d.alu_cycles, h200.alu_cycles);
  assert_near(d.sfu_cycles, h200.sfu_cycles);
  assert_int_equal(d.l1_bytes_clk, h200.l1_bytes_clk);
  assert_int_equal(d.sm_bytes_clk, h200.sm_bytes_clk);
  assert_int_equal(d.l2_bytes_clk, h200.l2_bytes_clk);
  assert_near(d.part_store_sectors, h200.part_store_sectors);
  assert_near(d.block_ns, h200.block_ns);
  assert_near(d.atomic_sector_ns, h200.atomic_sector_ns);
  assert_near(d.atomic_line_ns, h200.atomic_line_ns);
  assert_near(d.atomic_lane_ns, h200.atomic_lane_ns);
}

/* Half the clock and twice the time: as many cycles. What the device does as a whole is in ns. */
static void cycles_do_not_depend_on_the_clock(void **state) {
  (void)state;
  sct_calibration c = like_an_h200();
  for (int k = 0; k < SCT_N_MICROS; k++) {
    c.ns[k] *= 2;
    c.mhz[k] /= 2;
  }
  const sct_device_desc d = constants_of(&c);
  assert_int_equal(d.latency_cycles, h200.latency_cycles);
  assert_int_equal(d.l2_bytes_clk, h200.l2_bytes_clk);
  assert_near(d.alu_cycles, h200.alu_cycles);
  assert_near(d.part_store_sectors, h200.part_store_sectors);
  assert_near(d.block_ns, 2 * h200.block_ns);
  assert_near(d.atomic_lane_ns, 2 * h200.atomic_lane_ns);
}

static void each_constant_has_its_kernel(void **state) {
  (void)state;
  sct_calibration c = like_an_h200();
  c.ns[SCT_MICRO_L2_READ] *= 4; /* a slow L2 takes as long for a store as before */
  sct_device_desc d = constants_of(&c);
  assert_int_equal(d.l2_bytes_clk, h200.l2_bytes_clk / 4);
  assert_near(d.part_store_sectors, h200.part_store_sectors / 4);
  assert_int_equal(d.sm_bytes_clk, h200.sm_bytes_clk);
  c = like_an_h200();
  c.ns[SCT_MICRO_STORE] *= 3;
  c.ns[SCT_MICRO_DRAM_LATENCY] *= 2;
  d = constants_of(&c);
  assert_near(d.part_store_sectors, 3 * h200.part_store_sectors);
  assert_int_equal(d.latency_cycles, 2 * h200.latency_cycles);
  assert_int_equal(d.l2_latency_cycles, h200.l2_latency_cycles);
  c = like_an_h200();
  c.ns[SCT_MICRO_ADD_LANES] *= 2;
  d = constants_of(&c);
  assert_near(d.atomic_lane_ns, 2 * h200.atomic_lane_ns);
}

static int load_h200(void **state) {
  (void)state;
  return sct_script_load_device(&h200, "h200", NULL) == SCT_OK ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_h200_has_its_own_constants),
      cmocka_unit_test(cycles_do_not_depend_on_the_clock),
      cmocka_unit_test(each_constant_has_its_kernel),
  };
  return cmocka_run_group_tests(tests, load_h200, NULL);
}
