/* The longest chain of dependent instructions of a block, in kernels whose chains differ by what is
 * known; and blocks that report one by one. */
#include "ptx_kernel.h"

#define THREADS 256

/* Of `body`, run by a block of so many threads on 4 KB. */
static sct_ptx_chain chain_of(const char *body, int threads) {
  sct_error err = {0};
  sct_str text = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result r;
  uint64_t address[2];
  uint8_t zeros[4096] = {0};
  const void *args[] = {&address[0], &address[1]};
  sct_str_printf(&text,
                 "%s.reg .f32 %%f;\nmov.b32 %%f, %%i;\n%sst.global.f32 [%%po + 2048], %%f;\n"
                 "st.global.u32 [%%po], %%r1;\nret;\n}\n",
                 PTX_KERNEL, body);
  assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "chain.ptx", &err), SCT_OK);
  sct_ptx_memory_new(&memory);
  const sct_ptx_buffer buffers[] = {
      {.name = "in", .bytes = sizeof zeros, .data = zeros, .read_only = true},
      {.name = "out", .bytes = sizeof zeros}};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(sct_ptx_memory_add(memory, &address[i], &buffers[i], &err), SCT_OK);
  }
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = "k",
                                    .block = {threads, 1, 1},
                                    .args = args,
                                    .n_args = 2,
                                    .chains = true};
  assert_int_equal(sct_ptx_launch(&r, memory, &opts, &err), SCT_OK);
  assert_int_equal(r.diag.kind, SCT_PTX_CLEAN);
  const sct_ptx_chain longest = r.counters.chain;
  sct_ptx_result_free(&r);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
  sct_str_free(&text);
  return longest;
}

/* Cycles that `more` adds to a warp's chain. */
static int64_t added(const char *before, const char *more) {
  char both[2048];
  snprintf(both, sizeof both, "%s%s", before, more);
  return chain_of(both, 32).cycles - chain_of(before, 32).cycles;
}

#define BEGIN   "mov.u32 %r1, %i;\nmov.u32 %r2, %i;\nmov.u32 %r3, %i;\nmov.u32 %r4, %i;\n"
#define ADD(r)  "add.u32 " r ", " r ", 3;\n"
#define POWER   "ex2.approx.ftz.f32 %f, %f;\n"
#define FOUR(x) x x x x

static void results_wait_for_operands(void **state) {
  (void)state;
  assert_int_equal(added(BEGIN FOUR(FOUR(ADD("%r1"))), FOUR(FOUR(ADD("%r1")))), 72); /* 16 x 4.5 */
  assert_int_equal(added(BEGIN FOUR(FOUR(ADD("%r1"))), FOUR(ADD("%r2"))), 0);
  const char *const powers = BEGIN FOUR(POWER);
  assert_int_equal(added(powers, FOUR(POWER)), 72); /* 4 x 18 */
}

static void loads_wait_for_addresses(void **state) {
  (void)state;
  const char *const apart = BEGIN "ld.global.u32 %r2, [%pi];\nld.global.u32 %r3, [%pi + 512];\n"
                                  "add.u32 %r1, %r2, %r3;\n";
  const char *const in_turn =
      BEGIN "ld.global.u32 %r2, [%pi];\nmul.wide.u32 %d1, %r2, 4;\nadd.s64 %d1, %d1, %in;\n"
            "ld.global.u32 %r1, [%d1 + 512];\n";
  const char *const again = BEGIN "ld.global.u32 %r2, [%pi];\nmul.wide.u32 %d1, %r2, 4;\n"
                                  "add.s64 %d1, %d1, %pi;\nld.global.u32 %r1, [%d1];\n";
  assert_int_equal(chain_of(apart, 32).loads, 1);
  assert_int_equal(chain_of(in_turn, 32).loads, 2);
  assert_int_equal(chain_of(again, 32).loads, 1);
  assert_int_equal(chain_of(again, 32).near, 1);
}

/* Of a line L1 has the sectors that were loaded, and no others. */
static void near_loads_are_of_a_sector(void **state) {
  (void)state;
  const char *const first = BEGIN "ld.global.u32 %r2, [%in];\nmul.wide.u32 %d1, %r2, 4;\n"
                                  "add.s64 %d1, %d1, %in;\n";
  const int apart[] = {28, 32, 96, 128};
  for (int k = 0; k < SCT_COUNT(apart); k++) {
    char body[1024];
    snprintf(body, sizeof body, "%sld.global.u32 %%r1, [%%d1 + %d];\n", first, apart[k]);
    assert_int_equal(chain_of(body, 1).near, apart[k] < 32);
    assert_int_equal(chain_of(body, 1).loads, apart[k] < 32 ? 1 : 2);
  }
}

/* A load beyond a branch that skips little is brought forward; beyond one that leaves a loop, among
 * others that do, it waits for what comes before the branch. */
static void exits_of_loops_stay_branches(void **state) {
  (void)state;
  const char *const use = "add.u32 %r1, %r1, %r2;\n";
  char exits[1024], skips[1024];
  snprintf(exits, sizeof exits,
           "%ssetp.gt.u32 %%p1, %%i, 64;\nld.global.u32 %%r2, [%%in];\n%s@%%p1 bra END;\n"
           "ld.global.u32 %%r2, [%%in + 512];\n%s@%%p1 bra END;\n"
           "ld.global.u32 %%r2, [%%in + 1024];\n%sEND: ",
           BEGIN, use, use, use);
  snprintf(skips, sizeof skips,
           "%ssetp.gt.u32 %%p1, %%i, 64;\nld.global.u32 %%r2, [%%in];\n%s@%%p1 bra A;\n"
           "ld.global.u32 %%r2, [%%in + 512];\n%sA: @%%p1 bra B;\n"
           "ld.global.u32 %%r2, [%%in + 1024];\n%sB: ",
           BEGIN, use, use, use);
  assert_int_equal(chain_of(skips, 1).loads, 1);
  assert_int_equal(chain_of(exits, 1).loads, 2); /* the last branch skips others no more */
}

/* All wait for the warp that comes last, and then for the barrier: 13 + 2 n cycles. */
static void barriers_wait_for_the_last_warp(void **state) {
  (void)state;
  const char *const one = BEGIN "bar.sync 0;\n", *const two = BEGIN "bar.sync 0;\nbar.sync 0;\n";
  for (int warps = 1; warps <= 8; warps *= 2) {
    const int64_t more = chain_of(two, 32 * warps).cycles - chain_of(one, 32 * warps).cycles;
    assert_in_range(more, 13 + 2 * warps, 13 + 2 * warps + 2);
  }
  const char *const late =
      BEGIN "setp.lt.u32 %p1, %i, 224;\n@%p1 bra MEET;\n" FOUR(FOUR(ADD("%r1")))
          FOUR(ADD("%r1")) "MEET: bar.sync 0;\n" FOUR(FOUR(ADD("%r1")));
  const char *const early = BEGIN "setp.lt.u32 %p1, %i, 224;\n@%p1 bra MEET;\n"
                                  "MEET: bar.sync 0;\n" FOUR(FOUR(ADD("%r1")));
  assert_in_range(chain_of(late, 256).cycles - chain_of(early, 256).cycles, 80, 95);
}

/* A small loop is unrolled: of four iterations one waits for its counter, and all for what they
 * add up. */
static void small_loops_are_unrolled(void **state) {
  (void)state;
  const char *const loop = BEGIN "LOOP: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 400;\n"
                                 "@%p1 bra LOOP;\n";
  const char *const sums =
      BEGIN "LOOP: " FOUR(ADD("%r1")) "add.u32 %r2, %r2, 1;\n"
                                      "setp.lt.u32 %p1, %r2, 400;\n@%p1 bra LOOP;\n";
  assert_in_range(chain_of(loop, 1).cycles, 1600, 2400); /* 400 times an addition */
  assert_in_range(chain_of(sums, 1).cycles, 400 * 18, 400 * 21);
}

typedef struct sums {
  int64_t machine[SCT_N_PIPES], blocks;
} sums;

static bool add_block(void *ctx, int64_t i, const sct_ptx_counters *c) {
  sums *const all = ctx;
  assert_int_equal(i, all->blocks++);
  for (int p = 0; p < SCT_N_PIPES; p++) {
    all->machine[p] += c->machine.n[p];
  }
  return true;
}

/* What blocks report one by one adds up to what the launch reports. */
static void blocks_report_all_that_they_execute(void **state) {
  (void)state;
  const char *const text =
      PTX_KERNEL "ld.global.u32 %r1, [%pi];\nmul.lo.u32 %r1, %r1, 3;\nadd.u32 %r1, %r1, 1;\n"
                 "st.global.u32 [%po], %r1;\nret;\n}\n";
  enum { BLOCKS = 3 };
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  uint64_t address[2];
  uint8_t zeros[4 * THREADS * BLOCKS] = {0};
  const int64_t blocks[BLOCKS] = {0, 1, 2};
  const void *args[] = {&address[0], &address[1]};
  sums all = {0};
  assert_int_equal(sct_ptx_parse(&module, text, "blocks.ptx", &err), SCT_OK);
  sct_ptx_memory_new(&memory);
  const sct_ptx_buffer buffers[] = {
      {.name = "in", .bytes = sizeof zeros, .data = zeros, .read_only = true},
      {.name = "out", .bytes = sizeof zeros}};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(sct_ptx_memory_add(memory, &address[i], &buffers[i], &err), SCT_OK);
  }
  sct_ptx_launch_opts opts = {.module = module,
                              .kernel = "k",
                              .grid = {BLOCKS, 1, 1},
                              .block = {THREADS, 1, 1},
                              .args = args,
                              .n_args = 2};
  sct_ptx_result whole, none;
  assert_int_equal(sct_ptx_launch(&whole, memory, &opts, &err), SCT_OK);
  opts.blocks = blocks;
  opts.n_blocks = BLOCKS;
  opts.block_done = add_block;
  opts.block_ctx = &all;
  assert_int_equal(sct_ptx_launch(&none, memory, &opts, &err), SCT_OK);
  assert_int_equal(all.blocks, BLOCKS);
  assert_true(all.machine[SCT_PIPE_IMUL] >= BLOCKS * THREADS / 32);
  assert_memory_equal(all.machine, whole.counters.machine.n, sizeof all.machine);
  sct_ptx_result_free(&whole);
  sct_ptx_result_free(&none);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_wait_for_operands),
      cmocka_unit_test(loads_wait_for_addresses),
      cmocka_unit_test(near_loads_are_of_a_sector),
      cmocka_unit_test(exits_of_loops_stay_branches),
      cmocka_unit_test(barriers_wait_for_the_last_warp),
      cmocka_unit_test(small_loops_are_unrolled),
      cmocka_unit_test(blocks_report_all_that_they_execute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
