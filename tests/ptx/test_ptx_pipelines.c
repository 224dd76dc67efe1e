/* Pipelines of mbarriers and bulk copies (pipelines.cu): the correct ones compute what they should
 * in every order of warps and raise no alarm, each mistake gets its diagnosis at its line. */
#include "ptx_lab.h"

#define TILE 256

typedef struct mutant {
  const char *kernel;
  sct_ptx_kind kind;
  const char *text; /* part of the diagnosis */
  int blocks, threads, tiles;
} mutant;

#define BAD(kernel, kind, text)                                                                    \
  { kernel, SCT_PTX_##kind, text, 2, TILE, 2 }

static const mutant mutants[] = {
    BAD("no_expect_tx", ASYNC_EARLY, "has not delivered"),
    BAD("expects_too_little", MBARRIER, "gets 16 bytes more than phase 0 expects"),
    BAD("expects_too_much", DEADLOCK, "4full' + 0"),
    BAD("expects_too_much", DEADLOCK, "16 bytes that it expects never come"),
    BAD("copies_too_little", UNDEFINED_STORE, "never set"),
    BAD("wrong_parity", ASYNC_EARLY, "has not delivered"),
    BAD("count_too_high", DEADLOCK, "1 of its 2 arrivals never come"),
    BAD("odd_size", BAD_OPERAND, "1000 bytes, which is no multiple of 16"),
    BAD("odd_source", MISALIGNED, "the global address of a bulk copy"),
    BAD("odd_destination", MISALIGNED, "the shared address of a bulk copy"),
    BAD("past_the_end", OUT_OF_BOUNDS, "reads 1024 bytes at offset 1040 of 'in'"),
    BAD("past_shared", OUT_OF_BOUNDS,
        "writes 1024 bytes at offset 16 of shared '_ZZ11past_sharedE1t'"),
    BAD("two_expect", MBARRIER, "gets 1 arrivals in phase 0, which waits for 0 more"),
    BAD("no_wait", ASYNC_EARLY, "reads 4 bytes"),
    BAD("one_warp_does_not_wait", SHARED_RACE, "an asynchronous copy wrote"),
    BAD("waits_for_the_other", ASYNC_EARLY, "reads 4 bytes"),
    {"refilled_early", SCT_PTX_WARP_RACE, "changes 1024 bytes", 1, TILE, 8},
    {"refilled_early_by_warps", SCT_PTX_DEADLOCK, "4full' + 0", 1, TILE, 8},
    BAD("overwrites_the_load", ASYNC_EARLY, "writes 4 bytes"),
    BAD("ends_before_the_load", ASYNC_EARLY, "the block ends while this copy may still write"),
    BAD("init_twice", MBARRIER, "is initialised again"),
    BAD("not_initialised", MBARRIER, "is used before mbarrier.init"),
    BAD("no_barrier_after_init", WARP_RACE, "lane 0"),
    BAD("no_barrier_after_init_by_warps", SHARED_RACE, "warp 0 of the same block wrote"),
    BAD("overwritten_barrier", MBARRIER, "overwritten by a plain store"),
    BAD("misaligned_barrier", MISALIGNED, "8 bytes"),
    BAD("too_many_arrivals", MBARRIER, "which waits for 0 more"),
    BAD("used_after_inval", MBARRIER, "is used after mbarrier.inval"),
    BAD("inval_while_others_wait", WARP_RACE, "changes 8 bytes"),
    BAD("inval_while_warps_wait", SHARED_RACE, ""),
    BAD("no_proxy_fence", PROXY_FENCE, "copies what warp 0 wrote"),
    BAD("fence_before_the_write", PROXY_FENCE, "copies what warp 0 wrote"),
    BAD("one_warp_fences", PROXY_FENCE, "copies what warp 1 wrote"),
    BAD("store_without_barrier", WARP_RACE, "reads 1024 bytes"),
    BAD("store_without_barrier_by_warps", SHARED_RACE, ""),
    BAD("source_overwritten", ASYNC_EARLY, "a bulk store may still read"),
    BAD("group_not_committed", ASYNC_EARLY, "a bulk store may still read"),
    BAD("wait_too_loose", ASYNC_EARLY, "a bulk store may still read"),
    BAD("another_thread_waits", ASYNC_EARLY, "the block ends while this copy may still read"),
    BAD("reads_the_stored_early", ASYNC_EARLY, "reads 4 bytes"),
    BAD("stores_to_input", READ_ONLY, "'in'"),
    BAD("stores_past_the_end", OUT_OF_BOUNDS, "writes 1024 bytes at offset 1536 of 'out'"),
    BAD("stores_unset_bytes", UNDEFINED_STORE, "to offset 308 of 'out'"),
    BAD("stores_what_is_not_loaded", ASYNC_EARLY, "has not delivered"),
    BAD("blocks_store_one_tile", GLOBAL_RACE, "'out'"),
    BAD("copies_arrive_no_wait", ASYNC_EARLY, "reads 4 bytes"),
    BAD("copies_arrive_before_they_start", ASYNC_EARLY, "reads 4 bytes"),
    BAD("lanes_wait_for_themselves", DEADLOCK, "256 of its 256 arrivals never come"),
    BAD("barrier_against_mbarrier", DEADLOCK, "1 of its 1 arrivals never come"),
    BAD("chain_broken", SHARED_RACE, ""),
    BAD("writes_after_its_arrival", SHARED_RACE, "warp 0 of the same block wrote"),
    {"stage_not_awaited", SCT_PTX_MBARRIER, "arrivals in phase 0, which waits for 0 more", 2,
     TILE + 32, 12},
    {"pipeline_no_fence", SCT_PTX_PROXY_FENCE, "", 2, TILE + 32, 12},
    {"pipeline_source_reused", SCT_PTX_ASYNC_EARLY, "may still read", 2, TILE + 32, 12},
    {"stage_never_empty", SCT_PTX_DEADLOCK, "'_ZZ11specialisedILi2EEvPKfPfiiE4full' + 0", 2,
     TILE + 32, 12},
    {"pipeline_no_barrier", SCT_PTX_WARP_RACE, "reads 1024 bytes", 2, TILE + 32, 12},
};

static const mutant correct[] = {
    BAD("ok_load", CLEAN, ""),
    BAD("ok_load_in_parts", CLEAN, ""),
    BAD("ok_store", CLEAN, ""),
    BAD("ok_store_fence_behind_barrier", CLEAN, ""),
    BAD("ok_reads_the_stored", CLEAN, ""),
    BAD("ok_load_then_store", CLEAN, ""),
    BAD("ok_copies_arrive", CLEAN, ""),
    BAD("ok_copies_arrive_inc", CLEAN, ""),
    BAD("ok_inval", CLEAN, ""),
    BAD("ok_chain", CLEAN, ""),
    {"ok_pipeline2", SCT_PTX_CLEAN, "", 3, TILE, 17},
    {"ok_pipeline3", SCT_PTX_CLEAN, "", 3, TILE, 17},
    {"ok_pipeline4", SCT_PTX_CLEAN, "", 3, TILE, 17},
    {"ok_pipeline4", SCT_PTX_CLEAN, "", 3, TILE, 4},
    {"ok_specialised2", SCT_PTX_CLEAN, "", 3, TILE + 32, 17},
    {"ok_specialised4", SCT_PTX_CLEAN, "", 2, TILE + 32, 23},
    {"ok_lane_produces", SCT_PTX_CLEAN, "", 2, TILE, 11},
};

static int setup(void **state) {
  return lab_setup(state, "pipelines.cu", "sm_90");
}

typedef struct world {
  sct_ptx_memory *memory;
  uint64_t address[3];
  int n;
} world;

static void open_world(world *w, int tiles, bool output) {
  sct_error err = {0};
  float data[64 * TILE];
  w->n = tiles * TILE;
  assert_true(w->n <= SCT_COUNT(data));
  for (int i = 0; i < w->n; i++) {
    data[i] = (float)i;
  }
  const sct_ptx_buffer buffers[3] = {
      {.name = "in", .bytes = 4LL * w->n, .data = data, .read_only = true},
      {.name = "out", .bytes = 4LL * w->n, .output = output},
      {.name = "scratch", .bytes = 4LL * w->n}};
  sct_ptx_memory_new(&w->memory);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(sct_ptx_memory_add(w->memory, &w->address[k], &buffers[k], &err), SCT_OK);
  }
}

static void launch(const lab *l, const mutant *m, world *w, sct_ptx_order order,
                   sct_ptx_result *result) {
  sct_error err = {0};
  const int d = 0;
  const void *args[] = {&w->address[0], &w->address[1], &w->address[2], &w->n, &d};
  const sct_ptx_launch_opts opts = {.module = l->module,
                                    .kernel = m->kernel,
                                    .grid = {m->blocks, 1, 1},
                                    .block = {m->threads, 1, 1},
                                    .args = args,
                                    .n_args = 5,
                                    .order = order,
                                    .seed = 7,
                                    .per_buffer = true,
                                    .lenient_exits = true,
                                    .max_steps = 300000};
  if (sct_ptx_launch(result, w->memory, &opts, &err) != SCT_OK) {
    fail_msg("%s: %s", m->kernel, err.text);
  }
}

static void each_mistake_is_found(void **state) {
  const lab *l = *state;
  int missed = 0;
  for (int k = 0; k < SCT_COUNT(mutants); k++) {
    const mutant *m = &mutants[k];
    sct_ptx_result result;
    sct_str text = {0};
    world w;
    open_world(&w, m->tiles, false);
    launch(l, m, &w, SCT_PTX_FORWARD, &result);
    sct_ptx_diag_print(&text, &result.diag);
    if (result.diag.kind != m->kind || strstr(result.diag.text, m->text) == NULL ||
        !lab_marks(l, m->kernel, result.diag.line)) {
      print_message("%s should be %s \"%s\": %s\n", m->kernel, sct_ptx_kind_name(m->kind), m->text,
                    sct_str_c(&text));
      missed++;
    }
    sct_str_free(&text);
    sct_ptx_result_free(&result);
    sct_ptx_memory_free(w.memory);
  }
  assert_int_equal(missed, 0);
}

/* Whatever order warps run in, a mistake stays one (its diagnosis may be another). */
static void no_order_hides_a_mistake(void **state) {
  const lab *l = *state;
  int missed = 0;
  for (int k = 0; k < SCT_COUNT(mutants); k++) {
    for (sct_ptx_order order = SCT_PTX_REVERSE; order <= SCT_PTX_SHUFFLED; order++) {
      sct_ptx_result result;
      world w;
      open_world(&w, mutants[k].tiles, false);
      launch(l, &mutants[k], &w, order, &result);
      if (result.diag.kind == SCT_PTX_CLEAN || result.diag.kind == SCT_PTX_STEP_LIMIT) {
        print_message("%s in order %d: %s\n", mutants[k].kernel, (int)order,
                      sct_ptx_kind_name(result.diag.kind));
        missed++;
      }
      sct_ptx_result_free(&result);
      sct_ptx_memory_free(w.memory);
    }
  }
  assert_int_equal(missed, 0);
}

/* Every tile comes out turned round, with one added. */
static bool check_result(const mutant *m, const world *w, const sct_ptx_result *result) {
  const float *out = (const float *)(const void *)sct_ptx_memory_data(w->memory, w->address[1]);
  sct_str text = {0};
  bool ok = result->diag.kind == SCT_PTX_CLEAN;
  sct_ptx_diag_print(&text, &result->diag);
  for (int i = 0; i < w->n && ok; i++) {
    ok = out[i] == (float)(i / TILE * TILE + TILE - 1 - i % TILE) + 1.f;
    if (!ok) {
      sct_str_printf(&text, ", out[%d] = %g", i, (double)out[i]);
    }
  }
  if (!ok) {
    print_message("%s: %s\n", m->kernel, sct_str_c(&text));
  }
  sct_str_free(&text);
  return ok;
}

static void correct_pipelines_raise_no_alarm(void **state) {
  const lab *l = *state;
  int missed = 0;
  for (int k = 0; k < SCT_COUNT(correct); k++) {
    for (sct_ptx_order order = SCT_PTX_FORWARD; order <= SCT_PTX_SHUFFLED; order++) {
      sct_ptx_result result;
      world w;
      open_world(&w, correct[k].tiles, true);
      launch(l, &correct[k], &w, order, &result);
      missed += !check_result(&correct[k], &w, &result);
      sct_ptx_result_free(&result);
      sct_ptx_memory_free(w.memory);
    }
  }
  assert_int_equal(missed, 0);
}

static const mutant *find_correct(const char *kernel) {
  for (int k = 0; k < SCT_COUNT(correct); k++) {
    if (strcmp(correct[k].kernel, kernel) == 0) {
      return &correct[k];
    }
  }
  fail_msg("no kernel %s", kernel);
  return NULL;
}

/* Bulk copies, both ways: a tile of 1,024 bytes is one of 32 sectors in 8 lines; they are no
 * requests of lanes. */
static void bytes_are_counted(void **state) {
  const mutant *m = find_correct("ok_specialised2");
  sct_ptx_result result;
  world w;
  open_world(&w, m->tiles, true);
  launch(*state, m, &w, SCT_PTX_FORWARD, &result);
  const sct_ptx_global *both[] = {&result.counters.bulk_load, &result.counters.bulk_store};
  for (int k = 0; k < SCT_COUNT(both); k++) {
    assert_int_equal(both[k]->bytes, 4LL * w.n);
    assert_int_equal(both[k]->requests, m->tiles);
    assert_int_equal(both[k]->sectors, 32 * m->tiles);
    assert_int_equal(both[k]->sectors_ideal, 32 * m->tiles);
    assert_int_equal(both[k]->contiguous_bytes, 1024 * m->tiles);
    assert_int_equal(both[k]->tags, 8 * m->tiles);
    assert_int_equal(both[k]->moved, 1024 * m->tiles);
  }
  assert_int_equal(result.counters.load.requests, 0);
  assert_int_equal(result.counters.store.requests, 0);
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(w.memory);
}

/* Waiting is cheap: as many instructions as the work needs, not as the step budget allows. */
static void waits_do_not_burn_the_budget(void **state) {
  const mutant *m = find_correct("ok_specialised4");
  sct_ptx_result result;
  world w;
  open_world(&w, m->tiles, true);
  launch(*state, m, &w, SCT_PTX_REVERSE, &result);
  assert_int_equal(result.diag.kind, SCT_PTX_CLEAN);
  assert_true(result.counters.warp_instructions < 60LL * 9 * m->tiles + 10000);
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(w.memory);
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_mistake_is_found), cmocka_unit_test(no_order_hides_a_mistake),
      cmocka_unit_test(correct_pipelines_raise_no_alarm), cmocka_unit_test(bytes_are_counted),
      cmocka_unit_test(waits_do_not_burn_the_budget)};
  return cmocka_run_group_tests(tests, setup, lab_teardown);
}
