/* What a prediction leaves out, against sums done by hand on a device of round figures. */
#include "model_fixture.h"

#include <math.h>

/* 100 SMs at 1 GHz; 8 blocks of 256 threads fill one. */
static const sct_device_desc device = {.cc_major = 9,
                                       .n_sms = 100,
                                       .smem_sm_bytes = 200 << 10,
                                       .smem_block_optin_bytes = 199 << 10,
                                       .regs_sm = 65536,
                                       .regs_thread = 255,
                                       .regs_unit = 256,
                                       .threads_sm = 2048,
                                       .threads_block = 1024,
                                       .blocks_sm = 32,
                                       .inflight_bytes = 65536,
                                       .clock_khz = 1000000};

/* 1,600 blocks of 8 warps, each with 2 loads of 4 sectors and 1 store: two waves. */
typedef struct kernel {
  sct_kernel_code code;
  sct_counters counters;
  sct_prediction predicted;
  int64_t shared_bytes;
  double penalty[SCT_N_PENALTIES];
} kernel;

static kernel two_waves(void) {
  kernel k = {.code = {.threads = 256}, .counters = {.blocks = 1600}};
  const int64_t warps = 8 * k.counters.blocks;
  k.counters.load = (sct_count){.requests = 2 * warps, .sectors = 8 * warps};
  k.counters.store = (sct_count){.requests = warps, .sectors = 4 * warps};
  k.predicted = (sct_prediction){.ns = 2536.0};
  k.predicted.part_ns[SCT_LIMIT_LAUNCH] = 1000.0;
  return k;
}

static void reckon(kernel *k) {
  const sct_workload work = {
      .code = &k->code, .counters = &k->counters, .shared_bytes = k->shared_bytes};
  sct_model_penalty(k->penalty, &device, &work, &k->predicted);
}

static bool is(double value, double expected) {
  return fabs(value - expected) < 1e-12;
}

static void test_each(void **state) {
  (void)state;
  kernel k = two_waves();
  reckon(&k);
  /* 384 requests an SM at one a ns, of 1,536 ns */
  assert_true(is(k.penalty[SCT_PENALTY_REQUESTS], 0.25));
  /* 64 warps x 2 loads x 128 bytes are a fourth of what is needed */
  assert_true(is(k.penalty[SCT_PENALTY_FLIGHT], log(4.0)));
  assert_true(is(k.penalty[SCT_PENALTY_BLOCKS], log(1.5)));
  assert_true(is(k.penalty[SCT_PENALTY_IDLE], 0.0));
  assert_true(is(k.penalty[SCT_PENALTY_CHAIN], log(4.0))); /* 3 requests */
}

/* Half a warp makes as many requests as a whole one. */
static void test_requests_in_turn(void **state) {
  (void)state;
  kernel k = two_waves();
  k.code.threads = 240;
  reckon(&k);
  assert_true(is(k.penalty[SCT_PENALTY_CHAIN], log(4.0)));
  k.counters.blocks /= 2; /* with as many requests */
  reckon(&k);
  assert_true(is(k.penalty[SCT_PENALTY_CHAIN], log(7.0)));
}

static void test_shared_memory_leaves_warps_out(void **state) {
  (void)state;
  kernel k = two_waves();
  k.shared_bytes = 50 << 10; /* 4 blocks an SM, or fewer with what the system keeps */
  reckon(&k);
  const sct_occupancy fit = sct_model_occupancy(&device, 256, 0, k.shared_bytes);
  assert_in_range(fit.blocks_sm, 3, 4);
  assert_true(is(k.penalty[SCT_PENALTY_IDLE], 1.0 - fit.blocks_sm / 8.0));
  assert_true(is(k.penalty[SCT_PENALTY_FLIGHT], log(4.0 * 8.0 / fit.blocks_sm)));
  assert_true(is(k.penalty[SCT_PENALTY_BLOCKS], log1p(fit.blocks_sm / 16.0)));
}

/* Bulk copies are no requests of warps; a block has as much of them under way as it has room for.
 */
static void test_bulk_copies(void **state) {
  (void)state;
  kernel k = two_waves();
  k.counters.bulk_load = k.counters.load;
  k.counters.bulk_load.distinct_bytes = k.counters.blocks * (int64_t)40960;
  k.shared_bytes = 20480;
  reckon(&k);
  const sct_occupancy fit = sct_model_occupancy(&device, 256, 0, k.shared_bytes);
  assert_true(is(k.penalty[SCT_PENALTY_REQUESTS], 0.25 / 3.0));
  assert_true(is(k.penalty[SCT_PENALTY_CHAIN], log(2.0)));
  assert_true(is(k.penalty[SCT_PENALTY_FLIGHT], 0.0)); /* more than is needed */
  k.counters.bulk_load.distinct_bytes = k.counters.blocks * (int64_t)1024;
  reckon(&k);
  assert_true(is(k.penalty[SCT_PENALTY_FLIGHT], log(65536.0 / (1024.0 * fit.blocks_sm))));
}

static void test_few_blocks(void **state) {
  (void)state;
  kernel k = two_waves();
  k.counters.blocks = 1; /* of 800 that fit: below a twentieth nothing changes */
  reckon(&k);
  assert_true(is(k.penalty[SCT_PENALTY_BLOCKS], log1p(20.0)));
}

/* A thread has 16 loads under way at most. */
static void test_many_loads(void **state) {
  (void)state;
  kernel k = two_waves();
  k.counters.load.requests *= 50;
  reckon(&k); /* 100 requests of 8 sectors a warp in all: 16 of 0.08 x 32 bytes */
  assert_true(is(k.penalty[SCT_PENALTY_FLIGHT], log(65536.0 / (64 * 16 * 0.08 * 32))));
}

static void test_what_is_not_known_is_none(void **state) {
  (void)state;
  for (int without = 0; without < 3; without++) {
    kernel k = two_waves();
    if (without == 0) {
      k.predicted = (sct_prediction){0};
    } else if (without == 1) {
      k.counters.blocks = 0;
    } else {
      k.shared_bytes = 1 << 20; /* does not fit */
    }
    memset(k.penalty, 1, sizeof k.penalty);
    reckon(&k);
    for (int i = 0; i < SCT_N_PENALTIES; i++) {
      assert_true(is(k.penalty[i], 0.0));
    }
  }
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(sct_penalty_name(SCT_PENALTY_REQUESTS), "requests");
  assert_string_equal(sct_penalty_name(SCT_PENALTY_IDLE), "idle warps");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each),
      cmocka_unit_test(test_requests_in_turn),
      cmocka_unit_test(test_shared_memory_leaves_warps_out),
      cmocka_unit_test(test_bulk_copies),
      cmocka_unit_test(test_few_blocks),
      cmocka_unit_test(test_many_loads),
      cmocka_unit_test(test_what_is_not_known_is_none),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
