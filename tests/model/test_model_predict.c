/* Predicted times against sums done by hand, on a device of round figures; each limit in turn. */
#include "model_fixture.h"

#include <math.h>

#define N       1000000.0 /* warps' worth of requests in most kernels */
#define THREADS 256

static sct_layout layouts[2];
static sct_record bare = {.bytes = 4};
static int layout_of[2];
static sct_fill fills[3];
static sct_count counts[3], stored[3];
static sct_counters counters;

/* 100 SMs at 1 GHz, 1 TB/s of DRAM, 3.2 TB/s of L2, a block a nanosecond. */
static sct_device_desc round_device(void) {
  return (sct_device_desc){.cc_major = 9,
                           .n_sms = 100,
                           .smem_sm_bytes = 228 << 10,
                           .smem_block_optin_bytes = 227 << 10,
                           .smem_reserved_bytes = 1 << 10,
                           .regs_sm = 65536,
                           .regs_thread = 255,
                           .regs_unit = 256,
                           .threads_sm = 2048,
                           .threads_block = 1024,
                           .blocks_sm = 32,
                           .l2_bytes = 2000000,
                           .peak_bytes_s = 2e12,
                           .copy_bytes_s = 1e12,
                           .clock_khz = 1000000,
                           .l2_bytes_clk = 3200,
                           .pipe_clk = {128, 64, 16, 32, 64, 128},
                           .latency_cycles = 500,
                           .atomic_sector_ns = 0.02,
                           .atomic_line_ns = 5,
                           .atomic_lane_ns = 0.5,
                           .block_ns = 1,
                           .launch_ns = 1000};
}

/* A copy of 32 N floats, both sides coalesced, with so few blocks that latency is no matter. */
static void open_copy(void) {
  open_kernel(1000, THREADS);
  for (int k = 0; k < 2; k++) {
    layouts[k] = (sct_layout){.bytes = sct_expr_const(fixture_pool, (int64_t)(128 * N))};
    fixture_operands[k].layouts = &layouts[k];
    fixture_operands[k].n_layouts = 1;
    fixture_operands[k].record = bare;
    counts[k] = (sct_count){.requests = (int64_t)N,
                            .sectors = (int64_t)(4 * N),
                            .sectors_ideal = (int64_t)(4 * N),
                            .tags = (int64_t)N,
                            .distinct_bytes = (int64_t)(128 * N)};
  }
  fixture_code.layout = layout_of;
  fixture_size.fill = fills;
  memset(fills, 0, sizeof fills);
  counters = (sct_counters){.load = counts[0],
                            .store = counts[1],
                            .operand = counts,
                            .stored = stored,
                            .n_operands = 2,
                            .blocks = 1000,
                            .blocks_counted = 1000};
  counters.load.requests = 8000; /* one a warp: the rest of the loads are not in rounds */
}

/* Outputs are stored only. */
static void set_stored(void) {
  for (int k = 0; k < fixture_spec.n_operands; k++) {
    stored[k] = fixture_spec.operands[k].is_output ? counts[k] : (sct_count){0};
  }
}

static sct_workload work_of(void) {
  set_stored();
  return (sct_workload){.spec = &fixture_spec,
                        .code = &fixture_code,
                        .size = &fixture_size,
                        .counters = &counters,
                        .registers = 32};
}

static sct_prediction predict_with(const sct_workload *work) {
  set_stored();
  const sct_device_desc dev = round_device();
  sct_prediction p;
  sct_error err = {0};
  if (sct_model_predict(&p, &dev, work, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  return p;
}

/* The part that takes longest takes `ns`, and all together take longer than that alone. */
static void expect(const sct_prediction *p, sct_limit limit, double ns) {
  const double part_ns = p->part_ns[limit];
  if (p->limit != limit || fabs(part_ns / ns - 1) > 1e-4 || p->ns < ns || p->ns > 1.4 * ns + 2000) {
    fail_msg("%.1f ns, %.1f by %s; expected %.1f by %s", p->ns, p->part_ns[p->limit],
             sct_limit_name(p->limit), ns, sct_limit_name(limit));
  }
}

static void test_a_copy_waits_for_dram(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_prediction p = predict_with(&work);
  expect(&p, SCT_LIMIT_DRAM, 256 * N / 1e12 * 1e9); /* 128 N bytes each way */
  assert_string_equal(sct_limit_name(p.limit), "DRAM bytes");
  /* sectors that are touched again are found in L2: the array moves once */
  counts[1].sectors *= 8;
  p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == 256 * N / 1e12 * 1e9);
  /* half of an array's sectors, half the bytes */
  counts[0].sectors /= 2;
  counts[1].sectors /= 16;
  p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == 128 * N / 1e12 * 1e9);
  close_kernel();
}

static void test_without_a_measured_copy_the_peak_counts(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_device_desc dev = round_device();
  sct_prediction p;
  dev.copy_bytes_s = 0;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  const double least = 256 * N / 2e12 * 1e9;
  assert_true(p.part_ns[SCT_LIMIT_DRAM] > least && p.part_ns[SCT_LIMIT_DRAM] < 1.25 * least);
  close_kernel();
}

/* What L2 takes for so many sectors, and DRAM for so many bytes. */
static double l2_ns(double sectors) {
  return sectors * 32 / 3.2e12 * 1e9;
}
static double dram_ns(double bytes) {
  return bytes / 1e12 * 1e9;
}

/* 32 lines a request, one sector of each: a naive transpose. Its stores wait for L2 and for DRAM,
 * which writes lines that are far apart at a quarter of its rate. */
static void test_lone_stores_wait_for_l2_and_dram(void **state) {
  (void)state;
  open_copy();
  fixture_operands[1].is_output = true;
  counts[1].sectors = counts[1].tags = (int64_t)(32 * N);
  const sct_workload work = work_of();
  const sct_prediction p = predict_with(&work);
  const double moved = 128 * N + 4 * 128 * N; /* reads, and writes */
  expect(&p, SCT_LIMIT_L2, l2_ns(4 * N + 3.2 * 32 * N) + dram_ns(moved));
  /* a few of them keep nobody waiting */
  counts[1] = (sct_count){10, 320, 320, 320, 1280, 40, 0, 0};
  const sct_prediction few = predict_with(&work);
  assert_true(few.part_ns[SCT_LIMIT_L2] < l2_ns(4 * N + 5 * 3.2 * 320 + 1));
  close_kernel();
}

/* Fields of records: several sectors of a line, and where records have 32 bytes a lone element in
 * each, which is read before it is written. */
static void test_partly_written_sectors_are_read(void **state) {
  (void)state;
  open_copy();
  fixture_operands[1].is_output = true;
  const sct_workload work = work_of();
  counts[1].sectors = (int64_t)(32 * N);
  counts[1].tags = (int64_t)(8 * N);
  assert_true(fabs(predict_with(&work).part_ns[SCT_LIMIT_L2] / l2_ns(4 * N + 8 * N * 7) - 1) <
              1e-9);
  /* records of 16 bytes: two elements a sector */
  counts[1].sectors = (int64_t)(16 * N);
  counts[1].tags = (int64_t)(4 * N);
  assert_true(fabs(predict_with(&work).part_ns[SCT_LIMIT_L2] / l2_ns(4 * N + 4 * N * 4) - 1) <
              1e-9);
  close_kernel();
}

/* Columns: a load's sector that is alone in its line costs L2 as much as two. */
static void test_lone_loads_wait_for_dram_too(void **state) {
  (void)state;
  open_copy();
  fixture_operands[1].is_output = true;
  counts[0].sectors = counts[0].tags = (int64_t)(32 * N);
  const sct_workload work = work_of();
  const sct_prediction p = predict_with(&work);
  expect(&p, SCT_LIMIT_L2, l2_ns(1.3 * 32 * N + 4 * N) + 256 * N / 1e12 * 1e9);
  close_kernel();
}

/* Fields of records of 24 bytes: all but the first one ask for sectors that the block has loaded,
 * and L1 keeps as many of them as it has room for. */
static void test_l1_keeps_what_a_block_loads_again(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_device_desc dev = round_device();
  sct_prediction p;
  counts[0].sectors = (int64_t)(24 * N);
  counts[0].again = (int64_t)(20 * N);
  p = predict_with(&work); /* without an L1 */
  expect(&p, SCT_LIMIT_L2, l2_ns(24 * N + 4 * N));
  dev.l1_bytes = 10000000;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  expect(&p, SCT_LIMIT_DRAM, 256 * N / 1e12 * 1e9);
  assert_true(fabs(p.part_ns[SCT_LIMIT_L2] / l2_ns(4 * N + 4 * N) - 1) < 1e-9);
  close_kernel();
}

/* A table that L1 holds comes to each multiprocessor once, however often it is looked up. */
static void test_l1_keeps_tables(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_device_desc dev = round_device();
  sct_prediction p;
  layouts[0].bytes = sct_expr_const(fixture_pool, 1024);
  counts[0].sectors = (int64_t)(24 * N);
  dev.l1_bytes = 262144;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  assert_true(fabs(p.part_ns[SCT_LIMIT_L2] / l2_ns(100 * 33 + 4 * N) - 1) < 1e-9);
  close_kernel();
}

/* An output that is accumulated alone in its sectors: L2 takes its time for each, whatever DRAM has
 * to do, and a line for those that fall on it. */
static void test_atomics_wait_for_l2_and_for_a_line(void **state) {
  (void)state;
  open_copy();
  fixture_operands[1].is_output = true;
  fixture_operands[1].accumulate = SCT_REDUCE_SUM;
  counts[1].sectors = counts[1].tags = (int64_t)(32 * N);
  const sct_workload work = work_of();
  sct_prediction p = predict_with(&work);
  expect(&p, SCT_LIMIT_L2, l2_ns(4 * N) + 32 * N * 0.02);
  counters.line_requests = (int64_t)N;
  counters.line_lanes = (int64_t)(32 * N);
  p = predict_with(&work);
  expect(&p, SCT_LIMIT_ATOMICS, N * 5 + 32 * N * 0.5);
  /* of a device of which this is not known, stores are */
  sct_device_desc dev = round_device();
  dev.atomic_sector_ns = dev.atomic_line_ns = dev.atomic_lane_ns = 0;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  assert_true(p.part_ns[SCT_LIMIT_ATOMICS] == 0 && p.part_ns[SCT_LIMIT_L2] > l2_ns(4 * N + 32 * N));
  fixture_operands[1].accumulate = SCT_REDUCE_NONE;
  close_kernel();
}

static void test_conflicts_and_instructions(void **state) {
  (void)state;
  open_copy();
  sct_workload work = work_of();
  counters.wavefronts_ld = (int64_t)(20 * N);
  counters.wavefronts_st = (int64_t)(20 * N);
  sct_prediction p = predict_with(&work);
  expect(&p, SCT_LIMIT_SHARED, 40 * N / 100 / 1e9 * 1e9);
  assert_true(p.part_ns[SCT_LIMIT_ISSUE] == 0); /* unknown */
  work.machine[SCT_PIPE_ISSUE] = 400 * N;
  p = predict_with(&work);
  expect(&p, SCT_LIMIT_ISSUE, 0.92 * 400 * N / 4 / 100 / 1e9 * 1e9);
  /* a pipe of 16 lanes takes two cycles for a warp's instruction, whatever else is issued */
  work.machine[SCT_PIPE_SFU] = 100 * N;
  p = predict_with(&work);
  expect(&p, SCT_LIMIT_SFU, 100 * N * 2 / 100 / 1e9 * 1e9);
  work.machine[SCT_PIPE_FP64] = 450 * N;
  p = predict_with(&work);
  expect(&p, SCT_LIMIT_FP64, 450 * N / 2 / 100 / 1e9 * 1e9);
  work.machine[SCT_PIPE_INT] = 300 * N;
  p = predict_with(&work);
  expect(&p, SCT_LIMIT_INT, 300 * N / 100 / 1e9 * 1e9);
  work.machine[SCT_PIPE_FP32] = 1300 * N;
  p = predict_with(&work);
  expect(&p, SCT_LIMIT_FP32, 1300 * N / 4 / 100 / 1e9 * 1e9);
  close_kernel();
}

/* 8 warps a block, 8 blocks an SM: 800 at once. */
static void test_bytes_in_flight_by_occupancy(void **state) {
  (void)state;
  open_copy();
  sct_workload work = work_of();
  counters.blocks = 800000;
  counters.load.requests = 8 * 800000;
  sct_prediction p = predict_with(&work);
  const double in_flight = p.part_ns[SCT_LIMIT_INFLIGHT], life = in_flight / 1000; /* a wave's */
  assert_int_equal(p.limit, SCT_LIMIT_INFLIGHT);
  assert_true(life > 500 && life < 2500); /* more than a latency, less than five */
  work.shared_bytes = 56 << 10; /* 4 blocks an SM: half as much in flight, twice the time */
  const sct_prediction half = predict_with(&work);
  assert_true(fabs(half.part_ns[SCT_LIMIT_INFLIGHT] / in_flight - 2) < 1e-3);
  /* an index array's value is waited for before the load */
  work.shared_bytes = 0;
  fixture_code.indexed = true;
  const sct_prediction chained = predict_with(&work);
  assert_true(chained.ns > p.ns + 500 * 1000 && chained.ns < 2 * p.ns);
  /* more loads a thread than can be under way come in rounds */
  fixture_code.indexed = false;
  counters.load.requests *= 64;
  const sct_prediction rounds = predict_with(&work);
  assert_true(rounds.ns > p.ns + 3 * 500 * 1000);
  close_kernel();
}

/* What bulk copies bring comes in rounds of what shared memory holds, not of loads. */
static void test_bulk_copies_come_by_shared_memory(void **state) {
  (void)state;
  open_copy();
  const int64_t per_block = 64 << 20;
  counters.load.requests = 1000 * 64;
  counters.load.distinct_bytes = 1000 * per_block;
  counters.bulk_load = counters.load;
  sct_workload work = work_of();
  double in_flight[2];
  for (int k = 0; k < 2; k++) {
    work.shared_bytes = (int64_t)32768 << k; /* 2,048 rounds, 1,024 */
    const sct_prediction p = predict_with(&work);
    assert_int_equal(p.limit, SCT_LIMIT_INFLIGHT);
    in_flight[k] = p.part_ns[SCT_LIMIT_INFLIGHT];
  }
  /* 6 and 3 blocks of 32 and 64 KiB an SM: 2 waves and 4 */
  const double cycles[] = {51 + 2048 * 1.7 * 500, 51 + 1024 * 1.7 * 500};
  assert_true(fabs(in_flight[0] / (2 * cycles[0] + 760) - 1) < 1e-9);
  assert_true(fabs(in_flight[1] / (4 * cycles[1] + 3 * 760) - 1) < 1e-9);
  counters.bulk_load = (sct_count){0}; /* as loads of 64 requests a block they are soon done */
  assert_true(predict_with(&work).part_ns[SCT_LIMIT_INFLIGHT] < in_flight[1] / 100);
  close_kernel();
}

/* Few blocks: what an SM does it does alone, and it does one thing after the other. */
static void test_few_blocks_have_few_multiprocessors(void **state) {
  (void)state;
  open_copy();
  sct_workload work = work_of();
  counters.blocks = 2;
  work.machine[SCT_PIPE_ISSUE] = 400 * N;
  const sct_prediction two = predict_with(&work);
  expect(&two, SCT_LIMIT_ISSUE, 0.92 * 400 * N / 4 / 2);
  counters.blocks = 150; /* some SMs have two blocks, and all wait for those */
  const sct_prediction uneven = predict_with(&work);
  expect(&uneven, SCT_LIMIT_ISSUE, 0.92 * 400 * N / 4 / 75);
  /* one of 2,000 loads in turn, 850 cycles each, and 100,000 cycles of dependent instructions */
  counters.blocks = 1;
  work.machine[SCT_PIPE_ISSUE] = 0;
  counters.load = counters.operand[0] =
      (sct_count){.requests = 2000, .sectors = 8000, .tags = 2000};
  counters.operand[1] = counters.operand[0];
  counters.chain = counters.longest = (sct_chain){100000, 2000, 0};
  const sct_prediction chain = predict_with(&work);
  expect(&chain, SCT_LIMIT_INFLIGHT, 0.85 * 100000 + 2000 * 1.7 * 500);
  counters.longest.loads = 8000; /* one row of a few is long */
  const sct_prediction ragged = predict_with(&work);
  expect(&ragged, SCT_LIMIT_INFLIGHT, 0.85 * 100000 + 8000 * 1.7 * 500);
  close_kernel();
}

static void test_many_blocks_wait_for_their_starts(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  for (int k = 0; k < 2; k++) {
    counts[k] = (sct_count){.requests = 8};
  }
  counters.load.requests = 0;
  counters.blocks = 10000000;
  fixture_code.threads = 32;
  counters.chain = (sct_chain){1, 0, 0};
  const sct_prediction p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_LAUNCH] == 1e7);
  counters.blocks = 1;
  const sct_prediction one = predict_with(&work);
  assert_int_equal(one.limit, SCT_LIMIT_LAUNCH);
  assert_true(one.ns > 100 && one.ns < 1000);
  close_kernel();
}

/* Rows that blocks read three times: what resident blocks have does not fit L2. */
static void test_rows_that_are_read_again(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  fixture_operands[1].is_output = true;
  counts[0].sectors = (int64_t)(12 * N);
  sct_prediction p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == dram_ns(256 * N)); /* all blocks read it together */
  fixture_spec.n_steps = 3;
  p = predict_with(&work); /* 800 of 1000 blocks' rows, half of L2 is 1 MB of them */
  const double lost = 1 - 1e6 / (0.8 * 128 * N);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / dram_ns(256 * N + lost * 256 * N) - 1) < 1e-9);
  counters.blocks = 1000000; /* 102 kB in all */
  p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == dram_ns(256 * N));
  fixture_spec.n_steps = 0;
  close_kernel();
}

/* Launches of a sequence go through all rows one after the other, and have their parts of the time
 * each. */
static void test_launches_follow_each_other(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  const sct_device_desc dev = round_device();
  fixture_operands[1].is_output = true;
  fixture_spec.n_steps = 2;
  fixture_code.passes = 2;
  counts[0].sectors = (int64_t)(8 * N);
  counters.blocks = 2000;
  const sct_prediction all = predict_with(&work);
  const double lost = 1 - 1e6 / (128 * N);
  assert_true(fabs(all.part_ns[SCT_LIMIT_DRAM] / dram_ns(256 * N + lost * 128 * N) - 1) < 1e-9);
  sct_demand half;
  sct_prediction one;
  assert_int_equal(sct_model_workload(&half, &dev, &work, NULL), SCT_OK);
  half.passes = 0;
  half.dram_bytes /= 2;
  half.l2_sectors /= 2;
  half.sm_sectors /= 2;
  half.sm_lines /= 2;
  half.blocks /= 2;
  sct_model_demand(&one, &dev, &half);
  const double each = one.ns - SCT_MODEL_START_NS;
  assert_true(fabs(all.ns / (SCT_MODEL_START_NS + 2 * each + 1000) - 1) < 1e-9);
  assert_true(fabs(all.part_ns[SCT_LIMIT_DRAM] / one.part_ns[SCT_LIMIT_DRAM] - 2) < 1e-9);
  fixture_spec.n_steps = 0;
  fixture_code.passes = 0;
  close_kernel();
}

/* Without an L2 every transaction goes to DRAM. */
static void test_without_l2_nothing_is_found(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_device_desc dev = round_device();
  sct_prediction p;
  dev.l2_bytes = 0;
  counts[1].sectors *= 8;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / dram_ns(9 * 128 * N) - 1) < 1e-9);
  close_kernel();
}

/* A warp that comes back to its lines finds them in L1, as long as those of all warps fit. */
static void test_l1_keeps_what_is_near(void **state) {
  (void)state;
  open_copy();
  sct_workload work = work_of();
  fixture_operands[1].is_output = true;
  sct_device_desc dev = round_device();
  dev.l1_bytes = 256 << 10;
  counts[0] = (sct_count){.requests = (int64_t)N,
                          .sectors = (int64_t)(32 * N),
                          .tags = (int64_t)(16 * N),
                          .near = (int64_t)(28 * N)};
  sct_prediction p;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  assert_true(fabs(p.part_ns[SCT_LIMIT_L2] / l2_ns(8 * N) - 1) < 1e-9); /* 64 x 2 KiB fit */
  dev.l1_bytes = 64 << 10; /* half of them, less what the system keeps of 8 blocks */
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  assert_true(p.part_ns[SCT_LIMIT_L2] > l2_ns(22 * N));
  close_kernel();
}

/* Input read through an index array, a line of its own for each lane. */
static void test_gathers(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_operand with_index[3] = {fixture_operands[0], fixture_operands[1], fixture_operands[0]};
  sct_layout small = {.bytes = sct_expr_const(fixture_pool, 1000000)};
  with_index[0].through_index = true;
  with_index[2].is_index = true;
  with_index[1].is_output = true;
  counts[0].sectors = counts[0].tags = (int64_t)(32 * N);
  counts[1] = counts[2] = (sct_count){0};
  fixture_spec.operands = with_index;
  counters.n_operands = 3;
  fixture_spec.n_operands = 3;
  int three[3] = {0};
  fixture_code.layout = three;
  fills[2] = SCT_FILL_PERMUTED;
  sct_prediction p = predict_with(&work);
  const double missing = 1.0 - 1e6 / (128 * N);               /* half of L2 is 1 MB */
  const double expected = missing * 96 * 32 * N / 1e12 * 1e9; /* 64 bytes, at two thirds */
  assert_true(p.part_ns[SCT_LIMIT_DRAM] > 0.999 * expected);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] < 1.001 * expected);
  fixture_code.windows = 1000; /* of 128 kB each: every wave of 100 x 8 blocks goes through them */
  p = predict_with(&work);
  const double waves = 1000.0 / 800; /* all but the first find 1 MB of the array in L2 */
  const double read = 128 * N + (waves - 1) * (128 * N - 1e6);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / (read / 1e12 * 1e9) - 1) < 1e-9);
  counters.blocks = 100000; /* 125 waves, in which few lines are asked for twice */
  p = predict_with(&work);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / (128 * 32 * N / 1e12 * 1e9) - 1) < 1e-9);
  counters.blocks = 1000;
  fixture_code.windows = 64; /* of 2 MB: half of one is missing */
  p = predict_with(&work);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / (0.5 * 96 * 32 * N / 1e12 * 1e9) - 1) < 1e-9);
  fixture_code.windows = 0;
  fills[2] = SCT_FILL_IDENTITY; /* in order: the array once */
  p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == 128 * N / 1e12 * 1e9);
  fills[2] = SCT_FILL_RANDOM; /* an array that stays in L2: once, too */
  with_index[0].layouts = &small;
  p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == 1e6 / 1e12 * 1e9);
  fixture_code.windows = 2; /* whatever the waves */
  p = predict_with(&work);
  assert_true(p.part_ns[SCT_LIMIT_DRAM] == 1e6 / 1e12 * 1e9);
  fixture_code.windows = 0;
  close_kernel();
}

/* Output written through an index array: window by window, sectors are written once, but the input
 * is read each time. */
static void test_scatters_by_window(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_operand with_index[3] = {fixture_operands[0], fixture_operands[1], fixture_operands[0]};
  with_index[1].through_index = with_index[1].is_output = true;
  with_index[2].is_index = true;
  counts[0].sectors = (int64_t)(4 * 400 * N);
  counts[1].sectors = counts[1].tags = (int64_t)(32 * N);
  counts[2] = (sct_count){0};
  fixture_spec.operands = with_index;
  counters.n_operands = fixture_spec.n_operands = 3;
  int three[3] = {0};
  fixture_code.layout = three;
  fills[2] = SCT_FILL_PERMUTED;
  fixture_code.windows = 400; /* of 320 kB */
  const double array = 128 * N / 1e12 * 1e9;
  sct_prediction p = predict_with(&work);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / (401 * array) - 1) < 1e-9);
  fixture_code.windows = 0;
  p = predict_with(&work);
  const double missing = 1.0 - 1e6 / (128 * N);
  assert_true(fabs(p.part_ns[SCT_LIMIT_DRAM] / ((1 + missing * 64) * array) - 1) < 1e-9);
  close_kernel();
}

static void test_without_rates_nothing_is_predicted(void **state) {
  (void)state;
  open_copy();
  const sct_workload work = work_of();
  sct_device_desc dev = round_device();
  sct_prediction p = {.ns = 7};
  dev.l2_bytes_clk = 0;
  assert_int_equal(sct_model_predict(&p, &dev, &work, NULL), SCT_OK);
  assert_true(p.ns == 0);
  dev = round_device();
  sct_error err = {0};
  layouts[0].bytes = sct_expr_var(fixture_pool, "thread", 0, 1023, 1);
  assert_int_equal(sct_model_predict(&p, &dev, &work, &err), SCT_ESPEC);
  close_kernel();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_copy_waits_for_dram),
      cmocka_unit_test(test_without_a_measured_copy_the_peak_counts),
      cmocka_unit_test(test_lone_stores_wait_for_l2_and_dram),
      cmocka_unit_test(test_partly_written_sectors_are_read),
      cmocka_unit_test(test_lone_loads_wait_for_dram_too),
      cmocka_unit_test(test_l1_keeps_what_a_block_loads_again),
      cmocka_unit_test(test_l1_keeps_tables),
      cmocka_unit_test(test_atomics_wait_for_l2_and_for_a_line),
      cmocka_unit_test(test_conflicts_and_instructions),
      cmocka_unit_test(test_bytes_in_flight_by_occupancy),
      cmocka_unit_test(test_bulk_copies_come_by_shared_memory),
      cmocka_unit_test(test_few_blocks_have_few_multiprocessors),
      cmocka_unit_test(test_many_blocks_wait_for_their_starts),
      cmocka_unit_test(test_rows_that_are_read_again),
      cmocka_unit_test(test_launches_follow_each_other),
      cmocka_unit_test(test_without_l2_nothing_is_found),
      cmocka_unit_test(test_l1_keeps_what_is_near),
      cmocka_unit_test(test_gathers),
      cmocka_unit_test(test_scatters_by_window),
      cmocka_unit_test(test_without_rates_nothing_is_predicted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
