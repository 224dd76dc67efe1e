/* Whole kernels: published figures, samples of blocks and iterations, index operands, errors, and a
 * pool that is left as it was found. */
#include "model_fixture.h"

#include "spec_test.h"

static void test_double3(void **state) {
  (void)state;
  open_kernel(4096, 256); /* 2^20 records of three doubles, a thread each */
  for (int direction = LOAD; direction <= STORE; direction++) {
    sct_access *a = add_access(SCT_MEM_GLOBAL, direction, 8, "gid < 1048576", "gid * 24 + k * 8");
    add_loop(a, "k", "3");
  }
  sct_counters c = count_kernel(0); /* a sample: all blocks are alike */
  assert_int_equal(c.load.requests, 98304);
  assert_int_equal(c.load.sectors, 2359296);
  assert_int_equal(c.load.sectors_ideal, 786432);
  assert_int_equal(c.load.distinct_bytes, 25165824);
  assert_memory_equal(&c.load, &c.store, sizeof c.load);
  assert_memory_equal(&c.load, &c.operand[0], sizeof c.load);
  assert_memory_equal(&c.store, &c.operand[1], sizeof c.store);
  assert_int_equal(c.load.sectors_ideal + c.store.sectors_ideal, 1572864);
  assert_int_equal(c.blocks, 4096);
  assert_true(c.blocks_counted < 100);
  assert_true(sct_model_degree(&c.load) == 1.0 / 3);
  sct_counters_free(&c);
  close_kernel();
}

static void test_double3_flat(void **state) {
  (void)state;
  open_kernel(12288, 256);
  add_access(SCT_MEM_GLOBAL, LOAD, 8, "gid < 3145728", "gid * 8");
  add_access(SCT_MEM_GLOBAL, STORE, 8, "gid < 3145728", "gid * 8");
  sct_counters c = count_kernel(0);
  assert_int_equal(c.load.requests, 98304);
  assert_int_equal(c.load.sectors, 786432);
  assert_int_equal(c.load.sectors_ideal, 786432);
  sct_counters_free(&c);
  close_kernel();
}

/* The last block is a partial one: a sample takes it for itself. */
static void test_tail_block(void **state) {
  (void)state;
  open_kernel(1000, 256);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, "gid < 255745", "gid * 4"); /* one lane in the last block */
  sct_counters sampled = count_kernel(5);
  sct_counters whole = count_kernel(1000);
  assert_int_equal(sampled.blocks_counted, 5);
  assert_int_equal(whole.blocks_counted, 1000);
  assert_int_equal(whole.load.requests, 999 * 8 + 1);
  assert_int_equal(whole.load.sectors, 999 * 32 + 1);
  assert_memory_equal(&sampled.load, &whole.load, sizeof whole.load);
  sct_counters_free(&sampled);
  sct_counters_free(&whole);
  close_kernel();
}

/* Blocks differ: what a sample says is near the truth. */
static void test_sample_is_close(void **state) {
  (void)state;
  open_kernel(4000, 256);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, "gid % 7 < 1 + block // 1000", "(gid + block % 3) * 4");
  sct_counters sampled = count_kernel(200);
  sct_counters whole = count_kernel(4000);
  assert_int_equal(sampled.blocks_counted, 200);
  assert_true(llabs(sampled.load.sectors - whole.load.sectors) < whole.load.sectors / 50);
  assert_true(llabs(sampled.load.distinct_bytes - whole.load.distinct_bytes) <
              whole.load.distinct_bytes / 50);
  sct_counters_free(&sampled);
  sct_counters_free(&whole);
  close_kernel();
}

static void test_loops(void **state) {
  (void)state;
  open_kernel(3, 64);
  sct_access *a =
      add_access(SCT_MEM_GLOBAL, LOAD, 4, "k >= 3 * j", "thread * 4 + j * 4096 + k * 128");
  add_loop(a, "j", "block"); /* none in block 0, one in block 1, two in block 2 */
  add_loop(a, "k", "4");     /* four times for j = 0, once for j = 1 */
  a = add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "thread * 4");
  add_loop(a, "j", "0 - 1 - block"); /* never: less than nothing twice is nothing */
  add_loop(a, "k", "0 - 2");
  a = add_access(SCT_MEM_GLOBAL, STORE, 4, "k % 2 == 0", "thread * 4 + k * 2");
  add_loop(a, "k", "5 - 2 * block * 100"); /* five times in block 0, never after */
  sct_counters c = count_kernel(0);
  assert_int_equal(c.load.requests, (4 + 4 + 1) * 2);
  assert_int_equal(c.load.sectors, (4 + 4 + 1) * 2 * 4);
  assert_int_equal(c.store.requests, 3 * 2);
  assert_int_equal(c.store.sectors, (4 + 5 + 5) * 2);
  assert_int_equal(c.blocks_counted, c.blocks);
  sct_counters_free(&c);
  close_kernel();
}

/* A long loop is sampled like blocks are, and the figures are marked as such. */
static void test_long_loop(void **state) {
  (void)state;
  open_kernel(1, 32);
  add_loop(add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "thread * 4 + k * 128"), "k", "100000");
  sct_counters c = count_kernel(0);
  assert_int_equal(c.load.requests, 100000);
  assert_int_equal(c.load.sectors, 400000);
  assert_true(c.blocks_counted < c.blocks);
  sct_counters_free(&c);
  close_kernel();
}

/* Bulk copies of one thread: 96 and 48 bytes that start where they start, among the loads and
 * stores of their operands; shuffles of a warp, whatever its lanes. */
static void test_bulk_copies_and_shuffles(void **state) {
  (void)state;
  open_kernel(5, 64);
  sct_access *a = add_access(SCT_MEM_GLOBAL, LOAD, 96, "thread == 0", "block * 96 + k * 1024");
  a->is_bulk = true;
  add_loop(a, "k", "2");
  a = add_access(SCT_MEM_GLOBAL, STORE, 48, "thread == 32", "block * 48");
  a->is_bulk = true;
  add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "gid * 4");
  add_access(SCT_MEM_SHUFFLE, LOAD, 28, "thread < 5", "0");
  sct_counters c = count_kernel(0);
  assert_int_equal(c.bulk_load.requests, 10);
  assert_int_equal(c.bulk_load.sectors, 10 * 3);
  assert_int_equal(c.bulk_load.tags, 2 * (1 + 2 + 2 + 1 + 1)); /* bytes 0, 96, 192, 288, 384 */
  assert_int_equal(c.bulk_load.distinct_bytes, 960);
  assert_int_equal(c.load.requests, 10 + 10);
  assert_int_equal(c.load.sectors, 30 + 5 * 8);
  assert_int_equal(c.load.distinct_bytes, 960 + 5 * 256);
  assert_memory_equal(&c.load, &c.operand[0], sizeof c.load);
  assert_int_equal(c.store.requests, 5);
  assert_int_equal(c.store.sectors, 2 + 2 + 2 + 2 + 2); /* from 0, 48, 96, 144, 192 */
  assert_int_equal(c.store.sectors_ideal, 5 * 2);
  assert_memory_equal(&c.store, &c.operand[1], sizeof c.store);
  assert_int_equal(c.shuffles, 5 * 7); /* the first warp of each block */
  assert_int_equal(c.wavefronts_ld + c.wavefronts_st, 0);
  assert_true(sct_model_exchanged(&c) == 35.0);
  sct_counters_free(&c);
  close_kernel();
}

/* Threads that are no multiple of 32: the lanes beyond do not exist. */
static void test_partial_warp(void **state) {
  (void)state;
  open_kernel(2, 40);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "gid * 4");
  add_access(SCT_MEM_GLOBAL, STORE, 4, "thread % 2 == 0", "gid * 4");
  add_access(SCT_MEM_SHARED, STORE, 4, NULL, "thread * 4");
  sct_counters c = count_kernel(0);
  assert_int_equal(c.load.requests, 4);
  assert_int_equal(c.load.distinct_bytes, 320);
  assert_int_equal(c.store.distinct_bytes, 160);
  assert_int_equal(c.wavefronts_st, 4);
  assert_int_equal(c.wavefronts_ld, 0);
  sct_counters_free(&c);
  close_kernel();
}

/* Bases that differ modulo 128 are different patterns, ones that do not are the same; and the
 * lanes' own pattern may change from block to block. */
static void test_bases(void **state) {
  (void)state;
  open_kernel(64, 32);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "thread * 4 + block * 36");
  add_access(SCT_MEM_SHARED, LOAD, 1, NULL, "thread * 33 + block");
  add_access(SCT_MEM_GLOBAL, STORE, 4, NULL, "gid % 48 * 100");
  int64_t sectors = 0;
  sct_count store = {0};
  int64_t wavefronts = 0;
  int64_t ideal = 0;
  for (int block = 0; block < 64; block++) {
    int64_t address[32];
    sct_count one = {0};
    for (int lane = 0; lane < 32; lane++) {
      address[lane] = lane * 4 + block * 36;
    }
    sct_model_count_global(&one, address, UINT32_MAX, 4);
    sectors += one.sectors;
    for (int lane = 0; lane < 32; lane++) {
      address[lane] = lane * 33 + block;
    }
    int64_t place[32];
    for (int lane = 0; lane < 32; lane++) {
      place[lane] = (block * 32 + lane) % 48 * 100;
    }
    sct_model_count_global(&store, place, UINT32_MAX, 4);
    sct_model_count_shared(&wavefronts, &ideal, address, UINT32_MAX, 1);
  }
  sct_counters c = count_kernel(64);
  assert_int_equal(c.load.sectors, sectors);
  assert_memory_equal(&c.store, &store, sizeof store);
  assert_int_equal(c.wavefronts_ld, wavefronts);
  assert_int_equal(c.wavefronts_ld_ideal, ideal);
  sct_counters_free(&c);
  close_kernel();
}

/* A condition for whole warps: full tiles in one path, the rest in another. */
static void test_whole_warps(void **state) {
  (void)state;
  open_kernel(100, 128);
  sct_access *a = add_access(SCT_MEM_GLOBAL, LOAD, 4, "lane < 16", "gid * 4");
  a->warps = parse("block * 4 + thread // 32 < 350"); /* ends inside block 87 */
  a = add_access(SCT_MEM_GLOBAL, STORE, 4, NULL, "gid * 4 + k * 65536");
  add_loop(a, "k", "3");
  a->warps = parse("block >= 98");
  sct_counters c = count_kernel(100);
  assert_int_equal(c.load.requests, 350);
  assert_int_equal(c.load.sectors, 700);
  assert_int_equal(c.store.requests, 2 * 4 * 3);
  assert_int_equal(c.store.sectors, 2 * 4 * 3 * 4);
  sct_counters_free(&c);
  close_kernel();
}

static void test_no_blocks(void **state) {
  (void)state;
  open_kernel(0, 256);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "gid * 4");
  sct_counters c = count_kernel(0);
  assert_int_equal(c.load.requests, 0);
  assert_int_equal(c.blocks, 0);
  sct_counters_free(&c);
  sct_counters_free(&c); /* twice is fine */
  close_kernel();
}

static void fails(const char *message) {
  sct_counters c = {.n_operands = 77};
  sct_error error = {SCT_OK, ""};
  const int32_t mark = sct_expr_mark(fixture_pool);
  assert_int_equal(sct_model_count(&c, &fixture_spec, &fixture_code, &fixture_size, 0, &error),
                   SCT_ESPEC);
  assert_string_equal(error.text, message);
  assert_int_equal(c.n_operands, 77);
  assert_int_equal(sct_expr_mark(fixture_pool), mark);
}

static void test_errors(void **state) {
  (void)state;
  open_kernel(4, 256);
  sct_expr_var(fixture_pool, "stray", 0, 9, 1);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "gid * 4");
  add_access(SCT_MEM_GLOBAL, STORE, 4, NULL, "gid * 4 + stray");
  fails("fixture, access 1 (store to out): 'stray' has no value here");
  fixture_code.n_accesses = 1;
  add_access(SCT_MEM_SHARED, LOAD, 4, "thread < stray", "thread * 4");
  fails("fixture, access 1 (load from shared memory): 'stray' has no value here");
  fixture_code.n_accesses = 1;
  add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "gid // (thread - thread % 256)");
  fails("fixture, access 1 (load from in): division by zero");
  fixture_code.n_accesses = 1;
  sct_access *a = add_access(SCT_MEM_GLOBAL, LOAD, 4, NULL, "stray * 4");
  a->n_index = 1;
  a->index_var[0] = parse("stray");
  a->index_linear[0] = parse("gid");
  fails("fixture, access 1 (load from in): 'stray' is no index operand's value");
  fixture_code.n_accesses = 1;
  fixture_accesses[0].warps = parse("stray");
  fails("fixture, access 0 (load from in): 'stray' has no value here");
  close_kernel();
}

/* Counting builds expressions; a session counts a hundred thousand times. */
static void test_pool_is_left_alone(void **state) {
  (void)state;
  open_kernel(64, 256);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, "gid < 10000", "gid // 48 * 1344 + gid % 48 * 4");
  const int32_t mark = sct_expr_mark(fixture_pool);
  for (int k = 0; k < 3; k++) {
    sct_counters c = count_kernel(0);
    sct_counters_free(&c);
    assert_int_equal(sct_expr_mark(fixture_pool), mark);
  }
  close_kernel();
}

/* ---- index operands: a[pick[i]] += 1 over 10,000 elements, a thread each */

static void open_indirect(const char *type, const char *fill) {
  char sizes[64];
  open_spec("i");
  add_array("pick", "i32", INPUT);
  add_array("a", type, INPUT);
  add_array("b", type, OUTPUT);
  set_dims("a", "m");
  set_dims("b", "m");
  set_at("a", "pick");
  set_at("b", "pick");
  bind();
  lay_out("pick", AOS, 0);
  lay_out("a", AOS, 0);
  lay_out("b", AOS, 0);
  snprintf(sizes, sizeof sizes, "i=10000 m=10000 pick=%s", fill);
  set_sizes(sizes);
  finish("b = a;");
  fixture_pool = spec.pool;
  sct_expr_var(fixture_pool, "thread", 0, 1023, 1);
  sct_expr_var(fixture_pool, "block", 0, INT32_MAX, 1);
  memset(fixture_accesses, 0, sizeof fixture_accesses);
  fixture_code = (sct_kernel_code){
      .kernel = "indirect", .threads = 256, .accesses = fixture_accesses, .counted = true};
  fixture_code.grid = parse("(n_i + 255) // 256");
  sct_expr_let(fixture_pool, "gid", parse("block * 256 + thread"));
}

static void add_indirect(int direction, int operand, int width) {
  char text[32];
  snprintf(text, sizeof text, "pick * %d", width);
  sct_access *a = add_access(SCT_MEM_GLOBAL, direction, width, "gid < n_i", text);
  a->operand = operand;
  a->n_index = 1;
  a->index_var[0] = spec.operands[0].index_value;
  a->index_linear[0] = parse("gid");
}

static sct_counters count_indirect(const char *type, int width, const char *fill) {
  sct_counters c = {0};
  open_indirect(type, fill);
  add_access(SCT_MEM_GLOBAL, LOAD, 4, "gid < n_i", "gid * 4");
  add_indirect(LOAD, 1, width);
  add_indirect(STORE, 2, width);
  if (sct_model_count(&c, &spec, &fixture_code, &spec.sizes[0], 1000, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  close_spec();
  fixture_pool = NULL;
  return c;
}

static void test_indirect_identity(void **state) {
  (void)state;
  sct_counters c = count_indirect("f32", 4, "identity");
  assert_int_equal(c.load.requests, 626); /* the index and the element */
  assert_int_equal(c.load.sectors, 2500);
  assert_int_equal(c.operand[0].sectors, 1250);
  assert_int_equal(c.operand[2].sectors, 1250);
  sct_counters_free(&c);
  c = count_indirect("f64", 8, "identity");
  assert_int_equal(c.load.requests, 626);
  assert_int_equal(c.load.sectors, 3750);
  sct_counters_free(&c);
}

/* A permutation: against the values that the tuner itself puts there. */
static void test_indirect_permuted(void **state) {
  (void)state;
  sct_counters c = count_indirect("f32", 4, "permuted");
  sct_count want = {0};
  open_indirect("f32", "permuted");
  for (int64_t first = 0; first < 10000; first += 32) {
    int64_t address[32] = {0};
    const int lanes = first + 32 <= 10000 ? 32 : (int)(10000 - first);
    for (int lane = 0; lane < lanes; lane++) {
      address[lane] = 4 * sct_spec_index_value(&spec, 0, first + lane, &spec.sizes[0]);
    }
    sct_model_count_global(&want, address, lanes == 32 ? UINT32_MAX : (1u << lanes) - 1, 4);
  }
  close_spec();
  fixture_pool = NULL;
  assert_memory_equal(&c.operand[1], &want, sizeof want);
  assert_memory_equal(&c.operand[2], &want, sizeof want);
  assert_true(want.sectors > 9000 && want.sectors <= 10000);
  sct_counters_free(&c);
}

/* A part of the array at a time, for each of three elements a thread: what is read from the index
 * array is the same for every part unless it depends on it. */
static void check_windows(bool by_window) {
  enum { WINDOWS = 5, SPAN = 2000, ITEMS = 3 };
  sct_counters c = {0};
  sct_count want = {0};
  open_indirect("f32", "permuted");
  sct_expr_var(fixture_pool, "j", 0, INT32_MAX, 1);
  sct_expr_var(fixture_pool, "k", 0, INT32_MAX, 1);
  fixture_code.grid = parse("(n_i + 767) // 768");
  add_indirect(LOAD, 1, 4);
  fixture_accesses[0].active = parse("pick // 2000 == j");
  fixture_accesses[0].index_linear[0] =
      parse(by_window ? "(block * 768 + k * 256 + thread + j) % 10000"
                      : "block * 768 + k * 256 + thread");
  add_loop(&fixture_accesses[0], "j", "5");
  add_loop(&fixture_accesses[0], "k", "3");
  for (int64_t first = 0; first < 14 * 768; first += 32) {
    for (int window = 0; window < WINDOWS; window++) {
      int64_t address[32] = {0};
      uint32_t active = 0;
      for (int lane = 0; lane < 32; lane++) {
        const int64_t at = by_window ? (first + lane + window) % 10000 : first + lane;
        const int64_t pick =
            at < 10000 ? sct_spec_index_value(&spec, 0, at, &spec.sizes[0]) : WINDOWS * SPAN;
        active |= (uint32_t)(pick / SPAN == window) << lane;
        address[lane] = 4 * pick;
      }
      sct_model_count_global(&want, address, active, 4);
    }
  }
  assert_int_equal(sct_model_count(&c, &spec, &fixture_code, &spec.sizes[0], 1000, &err), SCT_OK);
  assert_memory_equal(&c.operand[1], &want, sizeof want);
  assert_true(by_window || want.distinct_bytes == 40000);
  sct_counters_free(&c);
  close_spec();
  fixture_pool = NULL;
}

static void test_indirect_windows(void **state) {
  (void)state;
  check_windows(false);
  check_windows(true);
}

/* Lanes whose element of the index array does not exist read nothing. */
static void test_indirect_outside(void **state) {
  (void)state;
  sct_counters c = {0};
  open_indirect("f32", "identity");
  add_indirect(LOAD, 1, 4);
  fixture_accesses[0].active = SCT_EXPR_NONE; /* 10,240 threads, 10,000 elements */
  assert_int_equal(sct_model_count(&c, &spec, &fixture_code, &spec.sizes[0], 1000, &err), SCT_OK);
  assert_int_equal(c.load.distinct_bytes, 40000);
  assert_int_equal(c.load.requests, 313);
  sct_counters_free(&c);
  close_spec();
  fixture_pool = NULL;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_double3),
      cmocka_unit_test(test_double3_flat),
      cmocka_unit_test(test_tail_block),
      cmocka_unit_test(test_sample_is_close),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_long_loop),
      cmocka_unit_test(test_bulk_copies_and_shuffles),
      cmocka_unit_test(test_partial_warp),
      cmocka_unit_test(test_bases),
      cmocka_unit_test(test_whole_warps),
      cmocka_unit_test(test_no_blocks),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_pool_is_left_alone),
      cmocka_unit_test(test_indirect_identity),
      cmocka_unit_test(test_indirect_permuted),
      cmocka_unit_test(test_indirect_windows),
      cmocka_unit_test(test_indirect_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
