/* Kernels whose threads, warps and blocks meet in atomic operations (atomics.cu): the right ones
 * give the right results whatever runs first, the others their diagnosis at their line. */
#include "ptx_lab.h"
#include "ptx_orders.h"

#include <math.h>

#define N       1000
#define BLOCKS  4
#define THREADS 256
#define BINS    64

static uint32_t in[N]; /* what kernels read */

typedef struct run {
  sct_ptx_result result;
  uint32_t out[N];
} run;

static int setup(void **state, const char *arch) {
  sct_rng rng = sct_rng_new(17);
  for (int i = 0; i < N; i++) {
    in[i] = (uint32_t)sct_rng_below(&rng, 1000);
  }
  return lab_setup(state, "atomics.cu", arch);
}

static int setup_90(void **state) {
  return setup(state, "sm_90");
}

static int setup_100(void **state) {
  return setup(state, "sm_100");
}

/* Runs `kernel`, in three orders if asked. Free with sct_ptx_result_free. */
static void run_one(const lab *l, const char *kernel, int blocks, bool orders, run *r) {
  static const uint32_t zeros[N];
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  uint64_t address[4];
  const int n = N;
  const sct_ptx_buffer buffers[4] = {
      {.name = "in", .bytes = sizeof in, .data = in, .read_only = true},
      {.name = "out", .bytes = sizeof zeros, .data = zeros},
      {.name = "aux", .bytes = sizeof zeros, .data = zeros},
      {.name = "fresh", .bytes = sizeof zeros}};
  sct_ptx_memory_new(&memory);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(sct_ptx_memory_add(memory, &address[k], &buffers[k], &err), SCT_OK);
  }
  const void *args[] = {&address[0], &address[1], &address[2], &address[3], &n};
  const sct_ptx_launch_opts opts = {.module = l->module,
                                    .kernel = kernel,
                                    .grid = {blocks, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .args = args,
                                    .n_args = 5,
                                    .threads = 4,
                                    .seed = 5,
                                    .max_steps = 100000};
  const sct_status status = orders ? ptx_launch_orders(&r->result, memory, &opts, &err)
                                   : sct_ptx_launch(&r->result, memory, &opts, &err);
  if (status != SCT_OK) {
    fail_msg("%s: %s", kernel, err.text);
  }
  memcpy(r->out, sct_ptx_memory_data(memory, address[1]), sizeof r->out);
  sct_ptx_memory_free(memory);
}

/* Runs a kernel that must be clean in every order. */
static void run_clean(const lab *l, const char *kernel, run *r) {
  run_one(l, kernel, BLOCKS, true, r);
  if (r->result.diag.kind != SCT_PTX_CLEAN || r->result.diag.text[0] != '\0') {
    sct_str text = {0};
    sct_ptx_diag_print(&text, &r->result.diag);
    fail_msg("%s: %s", kernel, sct_str_c(&text));
  }
  sct_ptx_result_free(&r->result);
}

static void bins_of(uint32_t mod, uint32_t *bins) {
  memset(bins, 0, sizeof(*bins) * mod);
  for (int i = 0; i < N; i++) {
    bins[in[i] % mod]++;
  }
}

/* ---- right kernels */

static void histograms(void **state) {
  static const char *const kernels[] = {"ok_histogram", "ok_global_histogram",
                                        "ok_generic_histogram", "ok_warp_aggregated"};
  uint32_t want[BINS];
  run r;
  bins_of(BINS, want);
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    run_clean(*state, kernels[k], &r);
    assert_memory_equal(r.out, want, sizeof want);
  }
  run_clean(*state, "ok_warp_private", &r);
  bins_of(8, want);
  assert_memory_equal(r.out, want, 8 * sizeof *want);
}

static void blocks_talk_to_each_other(void **state) {
  const lab *l = *state;
  uint32_t sum = 0;
  run r;
  for (int i = 0; i < N; i++) {
    sum += in[i];
  }
  run_clean(l, "ok_last_block", &r);
  assert_int_equal(r.out[0], sum);
  assert_int_equal(r.out[1], 0); /* atomicInc went around */
  run_clean(l, "ok_lock", &r);
  assert_int_equal(r.out[0], 1 + 2 + 3 + 4);
  assert_int_equal(r.out[1], BLOCKS);
  run_clean(l, "ok_tickets", &r);
  assert_int_equal(r.out[0], 1 + 2 + 3 + 4);
  run_clean(l, "ok_tickets_by_acquire", &r);
  assert_int_equal(r.out[0], 1 + 2 + 3 + 4);
}

static void warps_talk_to_each_other(void **state) {
  const lab *l = *state;
  uint32_t sum = 0;
  run r;
  for (int i = 0; i < N; i++) {
    sum += in[i];
  }
  run_clean(l, "ok_last_warp", &r);
  assert_int_equal(r.out[0], sum);
  run_clean(l, "ok_lock_of_warps", &r);
  assert_int_equal(r.out[0], BLOCKS * 36);
  run_clean(l, "ok_flag_chain", &r);
  assert_int_equal(r.out[64], in[5]);
  run_clean(l, "ok_flag", &r);
  for (int i = 0; i < N; i++) {
    assert_int_equal(r.out[i], in[5]);
  }
}

static void compare_and_swap_loops(void **state) {
  const lab *l = *state;
  double sum = 0;
  uint32_t most = 0;
  uint64_t pair[2];
  run r;
  for (int i = 0; i < N; i++) {
    sum += in[i];
    most = in[i] > most ? in[i] : most;
  }
  run_clean(l, "ok_cas_sum", &r);
  assert_memory_equal(r.out, &sum, sizeof sum);
  const float half = (float)most * 0.5f;
  run_clean(l, "ok_cas_float_max", &r);
  assert_memory_equal(r.out, &half, sizeof half);
  run_clean(l, "ok_asks_first", &r);
  assert_int_equal(r.out[0], most);
  run_clean(l, "ok_wide_cas", &r);
  memcpy(pair, r.out, sizeof pair);
  assert_int_equal(pair[0], N);
  assert_int_equal(pair[1], N * N);
}

static void every_integer_operation(void **state) {
  const lab *l = *state;
  uint32_t or = 0, xor = 0, inc = 0, dec = 0;
  uint64_t most = 0, got = 0;
  int least = 0;
  run r;
  for (int i = 0; i < N; i++) {
    const int v = (int)in[i];
    or |= 1u << in[i] % 32;
    xor ^= in[i];
    least = -v < least ? -v : least;
    most = (uint64_t)v << 20 > most ? (uint64_t)v << 20 : most;
    inc = inc >= 10 ? 0 : inc + 1;
    dec = dec == 0 || dec > 10 ? 10 : dec - 1;
  }
  run_clean(l, "ok_bits", &r);
  memcpy(&got, r.out + 4, 8);
  assert_int_equal(r.out[0], or);
  assert_int_equal(r.out[1], xor);
  assert_int_equal(r.out[2], 0);
  assert_int_equal((int)r.out[3], least);
  assert_true(got == most);
  assert_int_equal(r.out[6], inc);
  assert_int_equal(r.out[7], dec);
}

static void builtin_functions(void **state) {
  static const uint32_t want[] = {4321, 55, 54, 0, 0xbeef, 0, 1, 5, 9, 0, 1112, (uint32_t)-3, 1, 1};
  run r;
  run_clean(*state, "ok_builtins", &r);
  for (int i = 0; i < SCT_COUNT(want); i++) {
    if (r.out[i] != want[i]) {
      fail_msg("result %d is %u, not %u", i, r.out[i], want[i]);
    }
  }
}

/* Their last digits are nobody's fault. */
static void sums_of_floats_are_near(void **state) {
  const lab *l = *state;
  double sum = 0, got = 0;
  float f = 0;
  uint16_t halves[2];
  run r;
  for (int i = 0; i < N; i++) {
    sum += 1.0 / (1 + in[i]);
  }
  run_clean(l, "ok_float_sum", &r);
  memcpy(&f, r.out, 4);
  assert_true(fabs(f - sum) < 1e-4 * sum);
  run_clean(l, "ok_float_sum_by_shared", &r);
  memcpy(&got, r.out, 8);
  assert_true(fabs(got - sum) < 1e-4 * sum);
  run_clean(l, "ok_float_sum_in_shared", &r);
  run_clean(l, "ok_float_sums_so_far", &r);
  run_clean(l, "ok_half_vectors", &r);
  memcpy(halves, r.out, 4);
  assert_int_equal(halves[0], 0x63d0); /* 1000 */
  assert_int_equal(halves[1], 0x63d0);
  memcpy(&f, r.out + 3, 4);
  assert_true(f == 0.25f * N);
  assert_false(sct_ptx_kernel_find(l->module, "ok_float_sum")->exact);
  assert_true(sct_ptx_kernel_find(l->module, "ok_histogram")->exact);
}

/* ---- wrong kernels */

static const struct wrong {
  const char *kernel;
  sct_ptx_kind kind;
  const char *text; /* part of what is said */
  int blocks;
  bool orders; /* one order alone sees nothing */
} wrongs[] = {
    {"bins_not_zeroed", SCT_PTX_UNDEFINED_STORE, "with a value that was never set", 1, false},
    {"no_barrier_behind_zeroing", SCT_PTX_SHARED_RACE, "no barrier between", 1, false},
    {"no_barrier_behind_counting", SCT_PTX_SHARED_RACE, "of the same block read", 1, false},
    {"reads_its_own_count", SCT_PTX_GLOBAL_RACE, "of the same block read", 1, false},
    {"cleared_by_one_block", SCT_PTX_GLOBAL_RACE, "block number 0 wrote", 3, false},
    {"last_block_without_fence", SCT_PTX_GLOBAL_RACE, "wrote", BLOCKS, false},
    {"last_warp_without_fence", SCT_PTX_SHARED_RACE, "wrote", 1, false},
    {"last_warp_asks_another_flag", SCT_PTX_SHARED_RACE, "warp 3 of the same block wrote", 1,
     false},
    {"flag_is_plain", SCT_PTX_SHARED_RACE, "warp 0 of the same block wrote", 1, false},
    {"fence_only_acquires", SCT_PTX_SHARED_RACE, "warp 0 of the same block wrote", 1, false},
    {"last_warp_reads_the_count", SCT_PTX_SHARED_RACE, "other warps of the same block updated", 1,
     false},
    {"last_block_reads_the_count", SCT_PTX_GLOBAL_RACE, "several blocks updated", 2, false},
    {"counts_in_fresh_memory", SCT_PTX_UNDEFINED_STORE, "of 'fresh', which was never set", 1,
     false},
    {"compares_with_fresh_memory", SCT_PTX_UNDEFINED_STORE, "which was never set", 1, false},
    {"adds_what_nobody_set", SCT_PTX_UNDEFINED_STORE, "with a value that was never set", 1, false},
    {"past_the_end", SCT_PTX_OUT_OF_BOUNDS, "updates 4 bytes at offset 4000 of 'out'", BLOCKS,
     false},
    {"shared_past_the_end", SCT_PTX_OUT_OF_BOUNDS, "updates 4 bytes at offset 256 of shared", 1,
     false},
    {"misaligned_64", SCT_PTX_MISALIGNED, "4 bytes past a multiple of 8", 1, false},
    {"misaligned_vector", SCT_PTX_MISALIGNED, "8 bytes past a multiple of 16", 1, false},
    {"updates_its_input", SCT_PTX_READ_ONLY, "read-only 'in'", 1, false},
    {"updates_a_local", SCT_PTX_BAD_OPERAND, "neither global nor shared", 1, false},
    {"index_nobody_set", SCT_PTX_UNDEFINED_ADDRESS, "never set", 1, false},
    {"updates_an_early_copy", SCT_PTX_ASYNC_EARLY, "has not delivered", 1, false},
    {"waits_for_the_next_block", SCT_PTX_STEP_LIMIT, "must not wait for one that comes later",
     BLOCKS, false},
    {"lock_in_a_warp", SCT_PTX_STEP_LIMIT, "another lane of its warp", 1, false},
    {"last_one_wins", SCT_PTX_CLEAN, "of 'out'", BLOCKS, true},
    {"last_lane_wins", SCT_PTX_CLEAN, "of 'out'", 1, true},
    {"places_by_ticket", SCT_PTX_CLEAN, "of 'out'", BLOCKS - 1, true},
};

static void wrong_kernels_get_their_diagnosis(void **state) {
  const lab *l = *state;
  int missed = 0;
  for (int k = 0; k < SCT_COUNT(wrongs); k++) {
    const struct wrong *w = &wrongs[k];
    sct_str text = {0};
    run r;
    if (w->orders) {
      run_one(l, w->kernel, w->blocks, false, &r);
      assert_int_equal(r.result.diag.kind, SCT_PTX_CLEAN);
      sct_ptx_result_free(&r.result);
    }
    run_one(l, w->kernel, w->blocks, w->orders, &r);
    const sct_ptx_diag *d = &r.result.diag;
    sct_ptx_diag_print(&text, d);
    if (d->kind != w->kind || strstr(d->text, w->text) == NULL ||
        !lab_marks(l, w->kernel, d->line)) {
      print_message("%s should be %s (%s): %s\n", w->kernel, sct_ptx_kind_name(w->kind), w->text,
                    sct_str_c(&text));
      missed++;
    }
    sct_str_free(&text);
    sct_ptx_result_free(&r.result);
  }
  assert_int_equal(missed, 0);
}

/* ---- counters */

static void updates_are_counted(void **state) {
  const lab *l = *state;
  run r;
  run_one(l, "ok_global_histogram", BLOCKS, false, &r);
  const sct_ptx_counters *c = &r.result.counters;
  int64_t sectors = 0, tags = 0;
  for (int w = 0; w < N; w += 32) { /* of the addresses 4 x bin: 8 bins a sector, 32 a line */
    uint32_t sector = 0, line = 0;
    for (int i = w; i < w + 32 && i < N; i++) {
      sector |= 1u << in[i] % BINS / 8;
      line |= 1u << in[i] % BINS / 32;
    }
    sectors += __builtin_popcount(sector);
    tags += __builtin_popcount(line);
  }
  assert_int_equal(c->atomics.requests, (N + 31) / 32);
  assert_int_equal(c->atomics.bytes, 4 * N);
  assert_int_equal(c->atomics.sectors, sectors);
  assert_int_equal(c->atomics.tags, tags);
  assert_int_equal(c->store.requests, 0);
  assert_int_equal(c->load.requests, (N + 31) / 32);
  assert_int_equal(c->shared_atomics.requests, 0);
  sct_ptx_result_free(&r.result);
  run_one(l, "ok_histogram", BLOCKS, false, &r);
  assert_int_equal(c->shared_atomics.requests, (N + 31) / 32);
  assert_int_equal(c->shared_atomics.bytes, 4 * N);
  assert_int_equal(c->atomics.requests, 2 * BLOCKS);
  assert_int_equal(c->atomics.bytes, 4 * BINS * BLOCKS);
  assert_int_equal(c->shared_store.requests, 2 * BLOCKS); /* zeroing; the updates are no stores */
  sct_ptx_result_free(&r.result);
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(histograms),
                                     cmocka_unit_test(blocks_talk_to_each_other),
                                     cmocka_unit_test(warps_talk_to_each_other),
                                     cmocka_unit_test(compare_and_swap_loops),
                                     cmocka_unit_test(every_integer_operation),
                                     cmocka_unit_test(builtin_functions),
                                     cmocka_unit_test(sums_of_floats_are_near),
                                     cmocka_unit_test(wrong_kernels_get_their_diagnosis),
                                     cmocka_unit_test(updates_are_counted)};
  const struct CMUnitTest others[] = {cmocka_unit_test(histograms),
                                      cmocka_unit_test(blocks_talk_to_each_other),
                                      cmocka_unit_test(warps_talk_to_each_other),
                                      cmocka_unit_test(compare_and_swap_loops),
                                      cmocka_unit_test(every_integer_operation),
                                      cmocka_unit_test(builtin_functions),
                                      cmocka_unit_test(sums_of_floats_are_near)};
  return cmocka_run_group_tests_name("sm_90", tests, setup_90, lab_teardown) +
         cmocka_run_group_tests_name("sm_100", others, setup_100, lab_teardown);
}
