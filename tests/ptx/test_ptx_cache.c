/* What a launch's accesses find in caches of given sizes. A block has 32 threads, each with a word;
 * a warp's words are 4 sectors. */
#include "ptx_kernel.h"

#define WORDS   4096
#define SECTORS (WORDS / 8)

/* Volatile: not left out, though nothing needs them. */
#define LOAD         "ld.volatile.global.u32 %r1, [%pi];\n"
#define LOAD_AS_TEXT "ld.volatile.global.u32 %%r1, [%%pi];\n" /* for printf */
#define STORE        "st.global.u32 [%po], %r1;\n"
#define ENDED        "ret;\n}\n"

static const sct_ptx_cache_sizes large = {
    .n_sms = 1, .blocks_sm = 1, .l1_bytes = 1 << 20, .l2_bytes = 1 << 22};

static sct_ptx_traffic traffic_of(const char *text, const sct_ptx_cache_sizes *caches, int blocks,
                                  int host_threads) {
  static uint32_t in[WORDS];
  char ptx[4096];
  snprintf(ptx, sizeof ptx, "%s%s", PTX_KERNEL, text);
  for (uint32_t k = 0; k < WORDS; k++) {
    in[k] = k * 7919 % WORDS; /* a permutation */
  }
  const kernel_run run = {.blocks = blocks,
                          .threads = 32,
                          .in = in,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof in,
                          .out_zero = true,
                          .caches = caches,
                          .host_threads = host_threads};
  sct_ptx_result result;
  assert_int_equal(run_kernel(ptx, &run, NULL, &result), SCT_PTX_CLEAN);
  const sct_ptx_traffic t = result.traffic;
  sct_ptx_result_free(&result);
  return t;
}

static void assert_traffic(sct_ptx_traffic t, int64_t l1_sectors, int64_t l1_hits, int64_t l2_reads,
                           int64_t l2_writes, int64_t l2_hits, int64_t read, int64_t written) {
  const sct_ptx_traffic want = {true,      l1_sectors, l1_hits, l2_reads,
                                l2_writes, l2_hits,    read,    written};
  const int64_t *a = &t.l1_sectors, *b = &want.l1_sectors;
  assert_true(t.known);
  for (int k = 0; k < 7; k++) {
    if (a[k] != b[k]) {
      fail_msg("figure %d is %lld, not %lld", k, (long long)a[k], (long long)b[k]);
    }
  }
}

static void a_copy_reads_and_writes_all_once(void **state) {
  (void)state;
  assert_traffic(traffic_of(LOAD STORE ENDED, &large, WORDS / 32, 0), 2 * SECTORS, 0, SECTORS,
                 SECTORS, SECTORS, SECTORS, SECTORS);
  assert_false(traffic_of(LOAD STORE ENDED, NULL, WORDS / 32, 0).known);
}

static void what_is_used_again_is_found(void **state) {
  (void)state;
  assert_traffic(traffic_of(LOAD LOAD ENDED, &large, WORDS / 32, 0), 2 * SECTORS, SECTORS, SECTORS,
                 0, 0, SECTORS, 0);
  /* what was stored, too */
  assert_traffic(
      traffic_of(LOAD STORE "ld.volatile.global.u32 %r1, [%po];\n" ENDED, &large, WORDS / 32, 0),
      3 * SECTORS, SECTORS, SECTORS, SECTORS, SECTORS, SECTORS, SECTORS);
}

static void loads_that_pass_by_l1_are_found_in_l2(void **state) {
  (void)state;
  assert_traffic(traffic_of("ld.global.cg.u32 %r1, [%pi];\nld.global.cg.u32 %r2, [%pi];\n"
                            "add.s32 %r1, %r1, %r2;\n" STORE ENDED,
                            &large, WORDS / 32, 0),
                 SECTORS, 0, 2 * SECTORS, SECTORS, 2 * SECTORS, SECTORS, SECTORS);
}

/* Every block reads the same 128 bytes. */
static void blocks_share_the_l1_of_their_sm(void **state) {
  (void)state;
  static const char same[] =
      "mov.u32 %i, %tid.x;\nmul.wide.u32 %o, %i, 4;\nadd.s64 %pi, %in, %o;\n" LOAD ENDED;
  sct_ptx_cache_sizes sizes = large;
  assert_traffic(traffic_of(same, &sizes, 12, 0), 48, 44, 4, 0, 0, 4, 0);
  sizes.n_sms = 3; /* the first block is a wave of its own, on the first SM */
  assert_traffic(traffic_of(same, &sizes, 12, 0), 48, 36, 12, 0, 8, 4, 0);
}

/* A block goes through all words twice, 16 KiB. */
static void small_caches_lose_what_is_used_again(void **state) {
  (void)state;
  static const char twice[] =
      "mov.u32 %r2, 0;\nAGAIN:\nmov.u64 %pi, %in;\nmov.u32 %i, %tid.x;\n"
      "mul.wide.u32 %o, %i, 4;\nadd.s64 %pi, %pi, %o;\nmov.u32 %r3, 0;\n"
      "ON:\n" LOAD "add.s64 %pi, %pi, 128;\n"
      "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 128;\n@%p1 bra ON;\n"
      "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 2;\n@%p1 bra AGAIN;\n" ENDED;
  sct_ptx_cache_sizes sizes = large;
  assert_traffic(traffic_of(twice, &sizes, 1, 0), 2 * SECTORS, SECTORS, SECTORS, 0, 0, SECTORS, 0);
  sizes.l1_bytes = 2048; /* one set */
  assert_traffic(traffic_of(twice, &sizes, 1, 0), 2 * SECTORS, 0, 2 * SECTORS, 0, SECTORS, SECTORS,
                 0);
  sizes.l2_bytes = 2048;
  assert_traffic(traffic_of(twice, &sizes, 1, 0), 2 * SECTORS, 0, 2 * SECTORS, 0, 0, 2 * SECTORS,
                 0);
}

/* Stored again after they have left: written twice. */
static void what_leaves_l2_is_written(void **state) {
  (void)state;
  static const char twice[] = "xor.b32 %r2, %i, 2048;\nmul.wide.u32 %o, %r2, 4;\n"
                              "add.s64 %d1, %out, %o;\nst.global.u32 [%po], %i;\n"
                              "st.global.u32 [%d1], %i;\n" ENDED;
  sct_ptx_cache_sizes sizes = large;
  assert_int_equal(traffic_of(twice, &sizes, WORDS / 32, 1).dram_written, SECTORS);
  sizes.l2_bytes = 2048;
  assert_int_equal(traffic_of(twice, &sizes, WORDS / 32, 1).dram_written, 2 * SECTORS);
}

static void atomics_are_done_in_l2(void **state) {
  (void)state;
  assert_traffic(traffic_of("red.global.add.u32 [%po], 1;\nred.global.add.u32 [%po], 1;\n" ENDED,
                            &large, 4, 0),
                 0, 0, 2 * 16, 0, 16, 16, 16);
}

/* Gathers: with few ways for so many lines the order decides. */
static void host_threads_change_nothing(void **state) {
  (void)state;
  static const char gather[] = "ld.global.u32 %r1, [%pi];\nmul.wide.u32 %o, %r1, 4;\n"
                               "add.s64 %d1, %in, %o;\nld.global.u32 %r2, [%d1];\n"
                               "st.global.u32 [%po], %r2;\n" ENDED;
  const sct_ptx_cache_sizes sizes = {
      .n_sms = 3, .blocks_sm = 2, .l1_bytes = 4096, .l2_bytes = 8192};
  const sct_ptx_traffic one = traffic_of(gather, &sizes, WORDS / 32, 1);
  assert_true(one.l1_hits > 0 && one.dram_read > SECTORS);
  for (int n = 2; n < 9; n += 3) {
    const sct_ptx_traffic many = traffic_of(gather, &sizes, WORDS / 32, n);
    assert_memory_equal(&one, &many, sizeof one);
  }
}

/* The second of 60 blocks and all after it touch `requests` times 32 sectors; the first, by which a
 * wave's length is chosen, none. */
static sct_ptx_traffic touch_much(int requests, int host_threads) {
  char text[1024];
  sct_ptx_cache_sizes sizes = large;
  sizes.blocks_sm = 100;
  snprintf(text, sizeof text,
           "mov.u32 %%r1, %%ctaid.x;\nsetp.eq.u32 %%p1, %%r1, 0;\n@%%p1 bra DONE;\n"
           "mov.u32 %%i, %%tid.x;\nmul.wide.u32 %%o, %%i, 32;\nadd.s64 %%pi, %%in, %%o;\n"
           "mov.u32 %%r3, 0;\nON:\n" LOAD_AS_TEXT "add.u32 %%r3, %%r3, 1;\n"
           "setp.lt.u32 %%p1, %%r3, %d;\n@%%p1 bra ON;\nDONE:\n" ENDED,
           requests);
  return traffic_of(text, &sizes, 60, host_threads);
}

static void what_touches_too_much_is_not_estimated(void **state) {
  (void)state;
  assert_false(touch_much(60000, 3).known); /* 59 traces of 15 MB at once */
  assert_true(touch_much(1000, 3).known);
  assert_int_equal(touch_much(1000, 1).l1_sectors, 59 * 1000 * 32);
}

static void one_block_may_touch_too_much(void **state) {
  (void)state;
  static const char text[] = "mul.wide.u32 %o, %i, 32;\nadd.s64 %pi, %in, %o;\nmov.u32 %r3, 0;\n"
                             "ON:\n" LOAD "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 270000;\n"
                             "@%p1 bra ON;\n" ENDED;
  assert_false(traffic_of(text, &large, 1, 1).known); /* 69 MB */
}

/* A block that fails leaves none waiting for its wave. */
static void a_failure_ends_the_launch(void **state) {
  (void)state;
  static const char fails[] =
      "setp.gt.u32 %p1, %i, 2000;\n@%p1 mov.u64 %pi, 64;\n" LOAD STORE ENDED;
  const sct_ptx_cache_sizes sizes = {
      .n_sms = 3, .blocks_sm = 2, .l1_bytes = 4096, .l2_bytes = 8192};
  char ptx[4096];
  snprintf(ptx, sizeof ptx, "%s%s", PTX_KERNEL, fails);
  static uint32_t in[WORDS];
  for (int n = 0; n < 5; n += 2) {
    const kernel_run run = {.blocks = WORDS / 32,
                            .threads = 32,
                            .in = in,
                            .in_bytes = sizeof in,
                            .out_bytes = sizeof in,
                            .caches = &sizes,
                            .host_threads = n};
    sct_ptx_result result;
    assert_int_equal(run_kernel(ptx, &run, NULL, &result), SCT_PTX_OUT_OF_BOUNDS);
    sct_ptx_result_free(&result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_reads_and_writes_all_once),
      cmocka_unit_test(what_is_used_again_is_found),
      cmocka_unit_test(loads_that_pass_by_l1_are_found_in_l2),
      cmocka_unit_test(blocks_share_the_l1_of_their_sm),
      cmocka_unit_test(small_caches_lose_what_is_used_again),
      cmocka_unit_test(what_leaves_l2_is_written),
      cmocka_unit_test(atomics_are_done_in_l2),
      cmocka_unit_test(host_threads_change_nothing),
      cmocka_unit_test(what_touches_too_much_is_not_estimated),
      cmocka_unit_test(one_block_may_touch_too_much),
      cmocka_unit_test(a_failure_ends_the_launch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
