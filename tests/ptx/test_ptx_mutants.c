/* Kernels with one mistake each (mutants.cu): every one gets its diagnosis, at its line, and the
 * correct ones get none. */
#include "ptx_lab.h"
#include "ptx_orders.h"

typedef struct mutant {
  const char *kernel;
  sct_ptx_kind kind;
  int blocks, threads[2], n, d;
  int shared_bytes;
  bool orders;   /* clean, but in other orders of warps the results are others */
  bool in_place; /* in and out are one buffer */
} mutant;

#define ONE(kernel, kind)                                                                          \
  { kernel, SCT_PTX_##kind, 1, {256, 1}, 256, 0, 0, false, false }
#define MAP(kernel, kind)                                                                          \
  { kernel, SCT_PTX_##kind, 4, {256, 1}, 1000, 0, 0, false, false }

#define CLUSTERS(kernel, kind)                                                                     \
  { kernel, SCT_PTX_##kind, 8, {256, 1}, 2048, 0, 0, false, false }

static const mutant mutants[] = {
    MAP("ok_map", CLEAN),
    MAP("off_by_one_read", OUT_OF_BOUNDS),
    MAP("read_before_first", OUT_OF_BOUNDS),
    MAP("no_tail_guard", OUT_OF_BOUNDS),
    MAP("guard_less_or_equal", OUT_OF_BOUNDS),
    {"wrong_pitch", SCT_PTX_OUT_OF_BOUNDS, 4, {256, 1}, 1024, 0, 0, false, false},
    MAP("wide_read_past_end", OUT_OF_BOUNDS),
    ONE("shared_past_end", OUT_OF_BOUNDS),
    ONE("shared_before_first", OUT_OF_BOUNDS),
    {"shared_into_next_array", SCT_PTX_OUT_OF_BOUNDS, 1, {256, 1}, 256, 1, 0, false, false},
    {"dynamic_shared_too_small", SCT_PTX_OUT_OF_BOUNDS, 1, {256, 1}, 256, 0, 1020, false, false},
    MAP("wild_index", OUT_OF_BOUNDS),
    ONE("null_pointer", OUT_OF_BOUNDS),
    {"overflow_of_32_bits", SCT_PTX_OUT_OF_BOUNDS, 4, {256, 1}, 1000, 2147484, 0, false, false},
    {"ok_64_bits", SCT_PTX_CLEAN, 4, {256, 1}, 1000, 2147484, 0, false, false},
    {"overflow_of_unsigned", SCT_PTX_OUT_OF_BOUNDS, 4, {256, 1}, 1000, 1073741824, 0, false, false},
    MAP("reversed_off_by_one", OUT_OF_BOUNDS),
    MAP("unrolled_without_rest", OUT_OF_BOUNDS),
    {"halo_past_end", SCT_PTX_OUT_OF_BOUNDS, 4, {256, 1}, 1024, 0, 0, false, false},
    {"local_past_end", SCT_PTX_OUT_OF_BOUNDS, 1, {256, 1}, 256, 8, 0, false, false},
    MAP("misaligned_float4", MISALIGNED),
    MAP("misaligned_float2_store", MISALIGNED),
    MAP("misaligned_short", MISALIGNED),
    {"misaligned_shared", SCT_PTX_MISALIGNED, 1, {256, 1}, 1024, 0, 0, false, false},
    MAP("misaligned_by_pitch", MISALIGNED),
    MAP("misaligned_double", MISALIGNED),
    MAP("writes_its_input", READ_ONLY),
    MAP("writes_last_input", READ_ONLY),
    MAP("swapped_pointers", READ_ONLY),
    ONE("undefined_index", UNDEFINED_ADDRESS),
    ONE("undefined_condition", UNDEFINED_BRANCH),
    ONE("undefined_result", UNDEFINED_STORE),
    MAP("undefined_scratch", UNDEFINED_STORE),
    ONE("undefined_byte_of_a_word", UNDEFINED_STORE),
    {"wrong_pad", SCT_PTX_UNDEFINED_STORE, 1, {32, 8}, 1024, 0, 0, false, false},
    ONE("ok_undefined_unused", CLEAN),
    ONE("ok_undefined_permuted", CLEAN),
    ONE("register_to_address", UNDEFINED_ADDRESS),
    ONE("register_to_shared_address", UNDEFINED_ADDRESS),
    ONE("register_to_result", UNDEFINED_STORE),
    ONE("register_to_branch", UNDEFINED_BRANCH),
    ONE("halo_not_loaded", UNDEFINED_STORE),
    ONE("ok_register_unused", CLEAN),
    MAP("missed_tail", NOT_WRITTEN),
    {"missed_field", SCT_PTX_NOT_WRITTEN, 4, {256, 1}, 999, 0, 0, false, false},
    MAP("missed_blocks", NOT_WRITTEN),
    {"partial_vector", SCT_PTX_NOT_WRITTEN, 4, {256, 1}, 1001, 0, 0, false, false},
    MAP("stale_output", NOT_WRITTEN),
    {"missed_last", SCT_PTX_NOT_WRITTEN, 4, {256, 1}, 1002, 0, 0, false, false},
    MAP("missed_first", NOT_WRITTEN),
    MAP("last_block_gives_up", NOT_WRITTEN),
    MAP("half_of_each_element", NOT_WRITTEN),
    MAP("wrong_stride", NOT_WRITTEN),
    MAP("stale_second_half", NOT_WRITTEN),
    ONE("missing_barrier", SHARED_RACE),
    ONE("missing_barrier_in_loop", SHARED_RACE),
    ONE("all_to_one_word", SHARED_RACE),
    ONE("warps_overlap", SHARED_RACE),
    {"blocks_overlap", SCT_PTX_GLOBAL_RACE, 4, {250, 1}, 1000, 0, 0, false, false},
    MAP("reads_other_block", GLOBAL_RACE),
    ONE("in_place_shift", GLOBAL_RACE),
    {"restrict_lies", SCT_PTX_NC_WRITTEN, 4, {256, 1}, 1000, 0, 0, false, true},
    {"ok_tile", SCT_PTX_CLEAN, 1, {32, 8}, 1024, 0, 0, false, false},
    ONE("ok_same_value", CLEAN),
    ONE("ok_tree", CLEAN),
    ONE("tree_without_barrier", SHARED_RACE),
    ONE("barrier_of_a_half", SHARED_RACE),
    ONE("producer_does_not_wait", SHARED_RACE),
    ONE("ok_producer", CLEAN),
    ONE("one_buffer_for_two", SHARED_RACE),
    ONE("ok_two_buffers", CLEAN),
    ONE("in_place_reverse", GLOBAL_RACE),
    ONE("warp_no_sync", WARP_RACE),
    ONE("warp_no_sync_before_reuse", WARP_RACE),
    ONE("warp_tree_no_sync", WARP_RACE),
    ONE("warp_halves_exchange", WARP_RACE),
    ONE("warp_two_writers", WARP_RACE),
    ONE("warp_lost_update", WARP_RACE),
    ONE("warp_copy_no_sync", WARP_RACE),
    ONE("ok_warp_sync", CLEAN),
    ONE("ok_warp_tree", CLEAN),
    {"ok_own_words", SCT_PTX_CLEAN, 1, {256, 1}, 1024, 0, 0, false, false},
    ONE("ok_warp_same_value", CLEAN),
    ONE("barrier_in_half_warp", BARRIER_DIVERGENCE),
    ONE("barrier_skipped_by_warps", BARRIER_DIVERGENCE),
    ONE("barrier_after_return", BARRIER_DIVERGENCE),
    ONE("barrier_in_uneven_loop", BARRIER_DIVERGENCE),
    ONE("barriers_crossed", DEADLOCK),
    MAP("tail_returns_early", BARRIER_DIVERGENCE),
    ONE("barrier_by_data", BARRIER_DIVERGENCE),
    ONE("ok_named_barriers", CLEAN),
    ONE("shuffle_in_branch", ABSENT_LANE),
    ONE("shuffle_without_itself", ABSENT_LANE),
    ONE("syncwarp_in_branch", ABSENT_LANE),
    {"shuffle_from_outside", SCT_PTX_UNDEFINED_STORE, 1, {40, 1}, 40, 0, 0, false, false},
    ONE("ok_shuffle", CLEAN),
    ONE("shuffle_from_exited", ABSENT_LANE),
    ONE("shuffle_after_exit", UNDEFINED_STORE),
    MAP("shuffle_in_tail", ABSENT_LANE),
    ONE("vote_in_branch", ABSENT_LANE),
    ONE("lane_left_out", ABSENT_LANE),
    ONE("copy_without_wait", ASYNC_EARLY),
    ONE("copy_wait_too_loose", ASYNC_EARLY),
    ONE("copy_to_a_used_buffer", ASYNC_EARLY),
    ONE("copy_not_committed", ASYNC_EARLY),
    ONE("copy_without_barrier", SHARED_RACE),
    ONE("copy_overwritten", ASYNC_EARLY),
    ONE("copy_out_of_bounds", OUT_OF_BOUNDS),
    ONE("ok_copy", CLEAN),
    ONE("copy_pipeline_late", ASYNC_EARLY),
    {"copy_misaligned", SCT_PTX_MISALIGNED, 1, {256, 1}, 1032, 0, 0, false, false},
    ONE("gives_up", TRAP),
    ONE("endless", STEP_LIMIT),
    ONE("waits_for_nobody", STEP_LIMIT),
    ONE("ok_waits_for_a_warp", CLEAN),
    {"last_block_wins", SCT_PTX_CLEAN, 4, {256, 1}, 256, 0, 0, true, false},
    {"last_warp_wins", SCT_PTX_CLEAN, 1, {256, 1}, 256, 0, 0, true, false},
    {"first_come", SCT_PTX_CLEAN, 1, {256, 1}, 256, 0, 0, true, false},
    CLUSTERS("ok_cluster", CLEAN),
    CLUSTERS("ok_cluster_own", CLEAN),
    CLUSTERS("cluster_may_not_run", BAD_OPERAND),
    CLUSTERS("cluster_no_barrier", SHARED_RACE),
    CLUSTERS("cluster_block_barrier", SHARED_RACE),
    CLUSTERS("cluster_overwrites", SHARED_RACE),
    CLUSTERS("cluster_warp_missing", BARRIER_DIVERGENCE),
    CLUSTERS("cluster_arrives_twice", BARRIER_DIVERGENCE),
    CLUSTERS("cluster_never_arrives", BARRIER_DIVERGENCE),
    CLUSTERS("cluster_rank_too_high", BAD_OPERAND),
    CLUSTERS("cluster_past_end", OUT_OF_BOUNDS),
    CLUSTERS("ok_cluster_loads", CLEAN),
    CLUSTERS("ok_cluster_generic", CLEAN),
    CLUSTERS("cluster_reads_too_early", SHARED_RACE),
    CLUSTERS("cluster_overwrites_what_others_read", SHARED_RACE),
    CLUSTERS("cluster_reads_what_others_update", SHARED_RACE),
    CLUSTERS("cluster_reads_of_what_has_ended", BAD_OPERAND),
    CLUSTERS("cluster_maps_global", BAD_OPERAND),
    MAP("ok_grid", CLEAN),
    MAP("grid_no_barrier", GLOBAL_RACE),
    MAP("grid_block_leaves", BARRIER_DIVERGENCE),
    CLUSTERS("cluster_after_the_end", BAD_OPERAND),
    CLUSTERS("ok_cluster_global", CLEAN),
    CLUSTERS("cluster_changes_what_others_read", GLOBAL_RACE),
    CLUSTERS("cluster_reads_after_it_arrives", GLOBAL_RACE),
    CLUSTERS("cluster_changes_what_one_reads", GLOBAL_RACE),
    CLUSTERS("cluster_reads_what_one_writes", GLOBAL_RACE),
    CLUSTERS("cluster_reads_from_another_cluster", GLOBAL_RACE),
};

static int setup(void **state) {
  return lab_setup(state, "mutants.cu", "sm_90");
}

/* The values 0, 1, 2, ...: element 5 is 5. */
static sct_ptx_memory *make_memory(const mutant *m, uint64_t address[3]) {
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  float *data = sct_alloc(sizeof(*data) * (size_t)m->n);
  assert_non_null(data);
  for (int i = 0; i < m->n; i++) {
    data[i] = (float)i;
  }
  const sct_ptx_buffer buffers[3] = {
      {.name = "in", .bytes = 4LL * m->n, .data = data, .read_only = !m->in_place},
      {.name = "out", .bytes = 4LL * m->n, .output = true},
      {.name = "scratch", .bytes = 4LL * m->n}};
  sct_ptx_memory_new(&memory);
  for (int k = 0; k < 3; k++) {
    if (k == 1 && m->in_place) {
      address[1] = address[0];
      continue;
    }
    assert_int_equal(sct_ptx_memory_add(memory, &address[k], &buffers[k], &err), SCT_OK);
  }
  sct_free(data);
  return memory;
}

static void run_mutant(const lab *l, const mutant *m, int d, sct_ptx_diag *diag) {
  sct_error err = {0};
  uint64_t address[3];
  sct_ptx_result result;
  sct_ptx_memory *memory = make_memory(m, address);
  const void *args[] = {&address[0], &address[1], &address[2], &m->n, &d};
  const sct_ptx_launch_opts opts = {.module = l->module,
                                    .kernel = m->kernel,
                                    .grid = {m->blocks, 1, 1},
                                    .block = {m->threads[0], m->threads[1], 1},
                                    .args = args,
                                    .n_args = 5,
                                    .shared_bytes = m->shared_bytes,
                                    .max_steps = 300000};
  if (m->orders) { /* one order alone sees nothing */
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
    assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
    sct_ptx_result_free(&result);
  }
  const sct_status status = m->orders || m->kind == SCT_PTX_CLEAN
                                ? ptx_launch_orders(&result, memory, &opts, &err)
                                : sct_ptx_launch(&result, memory, &opts, &err);
  if (status != SCT_OK) {
    fail_msg("%s: %s", m->kernel, err.text);
  }
  *diag = result.diag;
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
}

/* false and a message: another diagnosis, or another line. */
static bool check_mutant(const lab *l, const mutant *m, int d) {
  sct_ptx_diag diag;
  sct_str text = {0};
  run_mutant(l, m, d, &diag);
  sct_ptx_diag_print(&text, &diag);
  bool ok = diag.kind == m->kind && lab_marks(l, m->kernel, diag.line);
  ok &= diag.kind == SCT_PTX_CLEAN || strcmp(diag.kernel, m->kernel) == 0;
  ok &= diag.kind != SCT_PTX_CLEAN || m->orders == (diag.text[0] != '\0');
  if (!ok) {
    print_message("%s (d = %d) should be %s: %s\n", m->kernel, d, sct_ptx_kind_name(m->kind),
                  sct_str_c(&text));
  }
  sct_str_free(&text);
  return ok;
}

static void every_mutant_gets_its_diagnosis(void **state) {
  int missed = 0;
  for (int k = 0; k < SCT_COUNT(mutants); k++) {
    missed += !check_mutant(*state, &mutants[k], mutants[k].d);
  }
  assert_int_equal(missed, 0);
}

/* One byte too far, up to 4,096 bytes, each way, reading and writing, global and shared. */
static void every_distance_is_out_of_bounds(void **state) {
  static const mutant global[] = {
      {"read_bytes_at", SCT_PTX_OUT_OF_BOUNDS, 1, {8, 1}, 8, 0, 0, false, false},
      {"write_bytes_at", SCT_PTX_OUT_OF_BOUNDS, 1, {8, 1}, 8, 0, 0, false, false}};
  static const mutant shared[] = {ONE("shared_read_bytes_at", OUT_OF_BOUNDS),
                                  ONE("shared_write_bytes_at", OUT_OF_BOUNDS)};
  int missed = 0, n = 0;
  for (int far = 1; far <= 4096 && missed == 0; far += far < 64 || far > 4090 ? 1 : 11) {
    for (int k = 0; k < 2; k++) {
      missed += !check_mutant(*state, &global[k], -far);
      missed += !check_mutant(*state, &global[k], 4 * 8 - 1 + far);
      n += 2;
    }
  }
  for (int far = 1; far <= 4096 && missed == 0; far *= 4) {
    for (int k = 0; k < 2; k++) {
      missed += !check_mutant(*state, &shared[k], -far);
      missed += !check_mutant(*state, &shared[k], 1024 - 1 + far);
      n += 2;
    }
  }
  assert_int_equal(missed, 0);
  assert_true(n > 1000);
}

/* The catalogue is as large as it says, and names each kernel once. */
static void the_catalogue_is_whole(void **state) {
  const lab *l = *state;
  int wrong = 0, right = 0, kinds[SCT_PTX_N_KINDS] = {0};
  for (int k = 0; k < SCT_COUNT(mutants); k++) {
    const bool ok = strncmp(mutants[k].kernel, "ok_", 3) == 0;
    assert_int_equal(ok, mutants[k].kind == SCT_PTX_CLEAN && !mutants[k].orders);
    wrong += !ok;
    right += ok;
    kinds[mutants[k].kind]++;
    for (int j = 0; j < k; j++) {
      assert_string_not_equal(mutants[j].kernel, mutants[k].kernel);
    }
  }
  print_message("%d mutants, %d correct kernels\n", wrong, right);
  assert_int_equal(wrong + right + 4, sct_ptx_n_kernels(l->module)); /* 4 take distances */
  assert_true(wrong >= 95 && right >= 15);
  assert_true(kinds[SCT_PTX_WARP_RACE] >= 5 && kinds[SCT_PTX_ASYNC_EARLY] >= 5);
}

/* A diagnosis names block, warp, lane and address. */
static void the_place_is_exact(void **state) {
  const mutant m = MAP("off_by_one_read", OUT_OF_BOUNDS);
  sct_ptx_diag diag;
  sct_str text = {0};
  run_mutant(*state, &m, 0, &diag);
  assert_int_equal(diag.block[0], 3); /* element 999 = 3 * 256 + 231 = ... + 7 * 32 + 7 */
  assert_int_equal(diag.warp, 7);
  assert_int_equal(diag.lane, 7);
  assert_int_equal(diag.address % 512, 4000 % 512);
  assert_true(sct_has_suffix(diag.file, "mutants.cu"));
  assert_non_null(strstr(diag.instruction, "ld.global"));
  assert_non_null(strstr(diag.text, "offset 4000 of 'in', which has 4000 bytes"));
  sct_ptx_diag_print(&text, &diag);
  assert_non_null(strstr(sct_str_c(&text), "block (3,0,0), warp 7, lane 7"));
  sct_str_free(&text);
}

/* A kernel that does not say how large its clusters are learns it from the launch. */
static void clusters_by_the_launch(void **state) {
  (void)state;
  static const char ptx[] =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<4>; .reg .b64 %d<4>;"
      "mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %ctaid.x;\n"
      "mul.wide.u32 %d1, %r2, 4; ld.param.u64 %d2, [out];\n"
      "add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r1; ret;\n}\n";
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_error err = {0};
  uint64_t address = 0;
  const sct_ptx_buffer out = {.name = "out", .bytes = 16};
  assert_int_equal(sct_ptx_parse(&module, ptx, "k.ptx", &err), SCT_OK);
  sct_ptx_memory_new(&memory);
  assert_int_equal(sct_ptx_memory_add(memory, &address, &out, &err), SCT_OK);
  const void *args[] = {&address};
  for (int n = 0; n <= 4; n += 2) {
    sct_ptx_result result;
    const sct_ptx_launch_opts opts = {.module = module,
                                      .kernel = "k",
                                      .grid = {4, 1, 1},
                                      .args = args,
                                      .n_args = 1,
                                      .cluster = n};
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
    assert_int_equal(sct_ptx_memory_data(memory, address)[12], n == 0 ? 1 : n);
    sct_ptx_result_free(&result);
  }
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
}

/* A cooperative grid runs whole or not at all. */
static void a_grid_may_be_too_large(void **state) {
  const lab *l = *state;
  const int zero = 0;
  const uint64_t none = 0;
  const void *args[] = {&none, &none, &none, &zero, &zero};
  const int64_t one = 0;
  sct_ptx_memory *memory = NULL;
  sct_ptx_launch_opts opts = {
      .module = l->module, .kernel = "ok_grid", .block = {1024, 1, 1}, .args = args, .n_args = 5};
  sct_ptx_memory_new(&memory);
  for (int k = 0; k < 4; k++) { /* two blocks fit a multiprocessor, with many registers one */
    sct_ptx_result result;
    sct_error err = {0};
    opts.grid[0] = k == 0 ? 264 : k == 1 ? 265 : k == 2 ? 133 : 2;
    opts.registers = k == 2 ? 64 : 0;
    opts.blocks = k == 3 ? &one : NULL;
    opts.n_blocks = 1;
    const sct_status status = sct_ptx_launch(&result, memory, &opts, &err);
    assert_int_equal(status, k == 0 ? SCT_OK : SCT_EUSAGE);
    assert_true(k == 0 || k == 3 ||
                strstr(err.text, k == 1 ? "264 are resident" : "132 are") != NULL);
    if (status == SCT_OK) {
      assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
      assert_true(result.counters.warp_instructions > 264 * 32 * 40);
      sct_ptx_result_free(&result);
    }
  }
  sct_ptx_memory_free(memory);
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_mutant_gets_its_diagnosis),
                                     cmocka_unit_test(every_distance_is_out_of_bounds),
                                     cmocka_unit_test(the_catalogue_is_whole),
                                     cmocka_unit_test(the_place_is_exact),
                                     cmocka_unit_test(clusters_by_the_launch),
                                     cmocka_unit_test(a_grid_may_be_too_large)};
  return cmocka_run_group_tests(tests, setup, lab_teardown);
}
