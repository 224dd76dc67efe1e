/* Occupancy against the toolkit's own calculator (tests/oracle/occupancy.csv) and against cases
 * worked out by hand from the compute capability table. */
#include "model/model.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Limits by compute capability: the CUDA programming guide's table. */
static sct_device_desc device(int cc) {
  static const struct {
    int cc, threads_sm, blocks_sm;
    int64_t smem_sm_kib, smem_optin_kib;
  } table[] = {{70, 2048, 32, 96, 96},   {75, 1024, 16, 64, 64},  {80, 2048, 32, 164, 163},
               {86, 1536, 16, 100, 99},  {89, 1536, 24, 100, 99}, {90, 2048, 32, 228, 227},
               {100, 2048, 32, 228, 227}};
  int k = 0;
  while (table[k].cc != cc) {
    k++;
    assert_true(k < SCT_COUNT(table));
  }
  return (sct_device_desc){.cc_major = cc / 10,
                           .cc_minor = cc % 10,
                           .smem_sm_bytes = table[k].smem_sm_kib * 1024,
                           .smem_block_bytes = 48 * 1024,
                           .smem_block_optin_bytes = table[k].smem_optin_kib * 1024,
                           .smem_reserved_bytes = cc >= 80 ? 1024 : 0,
                           .regs_sm = 65536,
                           .regs_thread = 255,
                           .regs_unit = 256,
                           .threads_sm = table[k].threads_sm,
                           .threads_block = 1024,
                           .blocks_sm = table[k].blocks_sm};
}

static void test_against_the_toolkit(void **state) {
  (void)state;
  FILE *file = fopen(SCT_TESTS_DIR "/oracle/occupancy.csv", "r");
  char line[256];
  int rows = 0;
  assert_non_null(file);
  while (fgets(line, sizeof line, file) != NULL) {
    int cc = 0;
    int threads = 0;
    int registers = 0;
    int blocks = 0;
    int64_t shared = 0;
    if (sscanf(line, "%d,%d,%d,%" SCNd64 ",%d", &cc, &threads, &registers, &shared, &blocks) != 5) {
      continue;
    }
    const sct_device_desc dev = device(cc);
    const sct_occupancy o = sct_model_occupancy(&dev, threads, registers, shared);
    if (o.blocks_sm != blocks) {
      fail_msg("sm_%d, %d threads, %d registers, %" PRId64 " bytes: %d blocks (%s), not %d", cc,
               threads, registers, shared, o.blocks_sm, o.limit, blocks);
    }
    rows++;
  }
  fclose(file);
  assert_int_equal(rows, 288);
}

static void limited(int cc, int threads, int registers, int64_t shared, int blocks, int warps,
                    const char *limit) {
  const sct_device_desc dev = device(cc);
  const sct_occupancy o = sct_model_occupancy(&dev, threads, registers, shared);
  assert_int_equal(o.blocks_sm, blocks);
  assert_int_equal(o.warps_sm, warps);
  assert_string_equal(o.limit, limit);
  assert_true(o.fraction * dev.threads_sm == 32.0 * warps);
}

static void test_limits(void **state) {
  (void)state;
  limited(90, 256, 32, 0, 8, 64, "threads");
  limited(90, 256, 64, 0, 4, 32, "registers");
  limited(90, 256, 40, 0, 6, 48, "registers");  /* 12 warps a sub-partition */
  limited(90, 96, 64, 0, 10, 30, "registers");  /* 32 warps hold 10 blocks of 3 */
  limited(90, 192, 168, 0, 2, 12, "registers"); /* 3 warps a sub-partition, not 12.19 an SM */
  limited(90, 32, 16, 0, 32, 32, "blocks");
  limited(90, 128, 16, 16384, 13, 52, "shared memory");
  limited(90, 128, 16, 232448, 1, 4, "shared memory"); /* all that one block may have */
  limited(75, 256, 64, 0, 4, 32, "threads");
  limited(75, 256, 128, 0, 2, 16, "registers");
  limited(75, 128, 32, 32768, 2, 8, "shared memory"); /* nothing is kept back before 8.0 */
  limited(86, 256, 32, 0, 6, 48, "threads");
  limited(86, 256, 48, 0, 5, 40, "registers");
  limited(86, 1024, 32, 0, 1, 32, "threads");
  limited(86, 128, 32, 32768, 3, 12, "shared memory");
  limited(90, 100, 0, 0, 16, 64, "threads"); /* unknown registers; a partial warp counts whole */
}

/* Devices of old: limits of the programming guide 4.2, table F-2, and units of the CUDA Occupancy
 * Calculator. */
static sct_device_desc old_device(int cc) {
  sct_device_desc d = {.cc_major = cc / 10, .cc_minor = cc % 10, .warp_unit = 2, .blocks_sm = 8};
  const bool first = cc < 20, small = cc < 12;
  d.threads_sm = small ? 768 : first ? 1024 : 1536;
  d.threads_block = first ? 512 : 1024;
  d.regs_sm = small ? 8192 : first ? 16384 : 32768;
  d.regs_thread = first ? 124 : 63;
  d.regs_unit = small ? 256 : first ? 512 : 64;
  d.regs_by_block = first;
  d.smem_unit = first ? 512 : 128;
  d.smem_sm_bytes = d.smem_block_bytes = d.smem_block_optin_bytes = (first ? 16 : 48) * 1024;
  if (cc == 61) {
    d = device(70);
    d.cc_major = 6;
  }
  return d;
}

static void test_old_devices(void **state) {
  (void)state;
  static const struct {
    int cc, threads, registers;
    int64_t shared;
    int blocks, percent;
    const char *limit;
  } known[] = {
      /* ten registers fill an SM of CC 1.0 with blocks of 256; one more costs a block */
      {10, 256, 10, 0, 3, 100, "threads"},
      {10, 256, 11, 0, 2, 67, "registers"},
      {10, 256, 16, 0, 2, 67, "registers"},
      {10, 256, 17, 0, 1, 33, "registers"},
      /* CUDA C Best Practices Guide 3.2, 4.2: 12 registers, blocks of 128 and of 256 */
      {10, 128, 12, 0, 5, 83, "registers"},
      {10, 256, 12, 0, 2, 67, "registers"},
      {10, 64, 8, 0, 8, 67, "blocks"},
      {10, 128, 8, 4096, 4, 67, "shared memory"},
      {10, 128, 8, 3000, 5, 83, "shared memory"}, /* 3,072 bytes each */
      {10, 96, 20, 0, 3, 38, "registers"},        /* four warps' worth for three: 2,560 */
      {10, 512, 16, 0, 1, 67, "threads"},
      /* CC 1.3: twice the registers, units of 512 */
      {13, 256, 16, 0, 4, 100, "threads"},
      {13, 256, 17, 0, 3, 75, "registers"},
      {13, 128, 16, 0, 8, 100, "threads"},
      {13, 128, 20, 0, 6, 75, "registers"},
      {13, 64, 10, 0, 8, 50, "blocks"},
      {13, 32, 9, 0, 8, 25, "blocks"},
      {13, 32, 100, 0, 2, 6, "registers"}, /* two warps' worth for one: 6,656 */
      /* CC 2.0: a warp at a time in units of 64, an even number of warps */
      {20, 256, 20, 0, 6, 100, "threads"},
      {20, 256, 21, 0, 5, 83, "registers"},
      {20, 192, 20, 0, 8, 100, "threads"},
      {20, 128, 20, 0, 8, 67, "blocks"},
      {20, 256, 32, 0, 4, 67, "registers"},
      {20, 512, 63, 0, 1, 33, "registers"},
      {20, 256, 20, 16384, 3, 50, "shared memory"},
      {20, 96, 62, 0, 5, 31, "registers"}, /* 16 warps hold five blocks of three */
      /* CC 6.1; CUDA C Best Practices Guide, 10.1: 37 registers, blocks of 128 and of 320 */
      {61, 128, 37, 0, 12, 75, "registers"},
      {61, 320, 37, 0, 4, 63, "registers"},
      {61, 256, 32, 0, 8, 100, "threads"},
  };
  for (int k = 0; k < SCT_COUNT(known); k++) {
    const sct_device_desc d = old_device(known[k].cc);
    const sct_occupancy o =
        sct_model_occupancy(&d, known[k].threads, known[k].registers, known[k].shared);
    const int percent = (int)(100.0 * o.fraction + 0.5);
    if (o.blocks_sm != known[k].blocks || percent != known[k].percent ||
        strcmp(o.limit, known[k].limit) != 0) {
      fail_msg("CC %d, %d threads, %d registers, %" PRId64 " bytes: %d blocks, %d %% (%s)",
               known[k].cc, known[k].threads, known[k].registers, known[k].shared, o.blocks_sm,
               percent, o.limit);
    }
  }
  const sct_device_desc d = old_device(10);
  assert_int_equal(sct_model_occupancy(&d, 513, 8, 0).blocks_sm, 0);
  assert_int_equal(sct_model_occupancy(&d, 256, 125, 0).blocks_sm, 0);
  assert_int_equal(sct_model_occupancy(&d, 256, 8, 16385).blocks_sm, 0);
}

static void test_does_not_fit(void **state) {
  (void)state;
  const char *const no = "does not fit";
  limited(90, 1025, 32, 0, 0, 0, no);
  limited(90, 0, 32, 0, 0, 0, no);
  limited(90, 256, 256, 0, 0, 0, no);
  limited(90, 256, 32, 232449, 0, 0, no);
  limited(90, 1024, 72, 0, 0, 0, no); /* 2,304 registers a warp: 7 warps a sub-partition */
  limited(75, 256, 32, 65537, 0, 0, no);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_the_toolkit),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_old_devices),
      cmocka_unit_test(test_does_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
