/* Kernels whose counts a few of their blocks mislead about: one block that does everything, loops
 * over gridDim, a few rows that have most elements. */
#include "measure/measure.h"
#include "model/model.h"
#include "tune_picked.h"

#include <math.h>

/* What a person could write for the hinge loss: one block, that reads both operands in each step.
 */
static const char *const hinge =
    "local s = require 'sectile'\n"
    "return s.kernel { name = 'hinge', dims = { 'row', 'col' }, scalars = { { 'inv', 'f32' } },\n"
    "  inputs = { s.array('p', 'f32'), s.array('t', 'f32', s.row_major, { dims = { 'col' } }) },\n"
    "  outputs = { s.array('loss', 'f32', s.row_major, { dims = {}, reduce = 'sum' }) },\n"
    "  body = 'loss = fmaxf(1.0f - p * t, 0.0f) * inv;',\n"
    "  sizes = { { row = 32768, col = 32768 }, { row = 40001, col = 20224 },\n"
    "            { row = 3, col = 70000128 } } }";
static const char *const one_block =
    "__global__ void counted(const float *p, const float *t, float *loss, float inv,\n"
    "                        long long row, long long col) {\n"
    "  __shared__ float part[256];\n"
    "  float sum = 0;\n"
    "  for (long long r = 0; r < row; r++)\n"
    "    for (long long c = threadIdx.x; c < col; c += 256)\n"
    "      sum += fmaxf(1.0f - p[r * col + c] * t[c], 0.0f) * inv;\n"
    "  part[threadIdx.x] = sum;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) {\n"
    "    for (int k = 1; k < 256; k++) sum += part[k];\n"
    "    *loss = sum;\n"
    "  }\n"
    "}\n";

static const char *const saxpy =
    "local s = require 'sectile'\n"
    "return s.kernel { name = 'saxpy', dims = { 'i' }, scalars = { { 'a', 'f32' } },\n"
    "  inputs = { s.array('x', 'f32'), s.array('y', 'f32') }, outputs = { s.array('z', 'f32') },\n"
    "  body = 'z = a * x + y;',\n"
    "  sizes = { { i = 606208 }, { i = 1000003 }, { i = 135169 }, { i = 1 << 28 } } }";
static const char *const resident =
    "__global__ void counted(const float *x, const float *y, float *z, float a, long long n) {\n"
    "  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)\n"
    "    z[i] = a * x[i] + y[i];\n"
    "}\n";

typedef struct own {
  fixture f;
  picked p;
  sct_ptx_module *module;
  sct_block_counter *counter;
} own;

/* The spec with this kernel, of so many blocks. */
static void own_open(own *o, const char *spec, const char *label, const char *source,
                     int64_t blocks) {
  *o = (own){0};
  fixture_open_text(&o->f, spec);
  o->p.label = "counted";
  o->p.code = fixture_make(&o->f, label);
  o->p.code.source = source;
  o->p.code.kernel = "counted";
  o->p.code.threads = 256;
  o->p.code.grid = sct_expr_const(o->f.spec.pool, blocks);
  o->p.code.workspace_bytes = 0;
  o->p.code.n_tiles = 0;
  picked_compile(&o->p, 1);
  MUST(sct_ptx_parse(&o->module, o->p.compiled.ptx, "PTX", err));
  sct_block_counter_new(&o->counter, &o->f.spec, &o->f.device, PICKED_SEED, 0);
}

static void own_close(own *o) {
  sct_block_counter_free(o->counter);
  sct_ptx_module_free(o->module);
  picked_free(&o->p, 1);
  fixture_close(&o->f);
}

static sct_counters own_count(const own *o, const sct_size *size, int64_t blocks) {
  sct_counters c;
  MUST(sct_block_counter_count(o->counter, &c, &o->p.code, o->module, o->p.compiled.entry, size,
                               blocks, err));
  return c;
}

/* The broadcast row is read as often as the matrix, whichever extent is shortened to count it. */
static void test_one_block_for_everything(void **state) {
  (void)state;
  own o;
  own_open(&o, hinge, "direct threads=256", one_block, 1);
  for (int z = 0; z < o.f.spec.n_sizes; z++) {
    const sct_size *const size = &o.f.spec.sizes[z];
    const int64_t elements = size->extent[0] * size->extent[1];
    sct_counters c = own_count(&o, size, 0);
    assert_int_equal(c.operand[0].sectors, elements / 8);
    assert_int_equal(c.operand[1].sectors, elements / 8);
    assert_int_equal(c.operand[0].requests, elements / 32);
    assert_int_equal(c.operand[1].distinct_bytes, 4 * elements);
    assert_int_equal(c.operand[2].sectors, 1);
    assert_true(c.error <= 0.05);
    sct_counters_free(&c);
  }
  own_close(&o);
}

/* Rows that begin anywhere, and end within a warp: what shorter launches say is what the launch
 * does, operand by operand. */
static void test_shorter_launches(void **state) {
  (void)state;
  own o;
  sct_rng rng = sct_rng_new(PICKED_SEED);
  own_open(&o, hinge, "direct threads=256", one_block, 1);
  sct_block_counter *const whole = o.counter;
  sct_block_counter_new(&o.counter, &o.f.spec, &o.f.device, PICKED_SEED, 12000);
  int n_equal = 0;
  for (int k = 0; k < 12; k++) {
    int64_t extent[] = {3 + sct_rng_below(&rng, 9), 40000 + sct_rng_below(&rng, 30000)};
    const sct_size size = {.label = "any", .extent = extent, .fill = o.f.spec.sizes[0].fill};
    sct_counters fitted = own_count(&o, &size, 0), all;
    assert_int_equal(fitted.blocks_counted, 0);
    MUST(sct_block_counter_count(whole, &all, &o.p.code, o.module, o.p.compiled.entry, &size,
                                 SCT_ALL_BLOCKS, err));
    bool equal = true;
    assert_true(fitted.error > 0); /* it did not run */
    for (int op = 0; op < 3; op++) {
      const double off = fabs((double)(fitted.operand[op].sectors - all.operand[op].sectors));
      assert_true(off <= fitted.error * (double)all.load.sectors);
      equal = equal && off == 0 && fitted.operand[op].requests == all.operand[op].requests;
    }
    n_equal += equal;
    sct_counters_free(&fitted);
    sct_counters_free(&all);
  }
  print_message("%d of 12 equal\n", n_equal);
  assert_true(n_equal >= 4);
  sct_block_counter_free(whole);
  own_close(&o);
}

/* Where a grid loops over the array, its first blocks may have one round more than the last. */
static void test_loop_over_the_grid(void **state) {
  (void)state;
  own o;
  own_open(&o, saxpy, "direct threads=256", resident, 528);
  for (int z = 0; z < o.f.spec.n_sizes; z++) {
    const sct_size *const size = &o.f.spec.sizes[z];
    const double sectors = 3.0 * (double)((size->extent[0] + 7) / 8);
    sct_counters c = own_count(&o, size, 0);
    const double off = fabs((double)(c.load.sectors + c.store.sectors) - sectors);
    assert_true(off <= c.error * sectors);
    assert_true(c.error < 0.005);
    sct_counters_free(&c);
  }
  own_close(&o);
}

static const char *const segments =
    "local s = require 'sectile'\n"
    "return s.kernel { name = 'segments', dims = { 'i', 'k' }, ragged = { k = 'offsets' },\n"
    "  inputs = { s.array('offsets', 'i32', s.row_major, { dims = { 'i' } }),\n"
    "             s.array('a', 'f32', s.row_major, { dims = { 'k' } }) },\n"
    "  outputs = { s.array('total', 'f32', s.row_major, { dims = { 'i' }, reduce = 'sum' }) },\n"
    "  body = 'total = a;',\n"
    "  sizes = { { i = 4096, k = 1 << 18, offsets = 'power' },\n"
    "            { i = 9001, k = 200000, offsets = 'power' },\n"
    "            { i = 8192, k = 1 << 17, offsets = 'uniform' } } }";

/* A few rows have most elements, and the blocks that have those rows are among those counted. */
static void test_rows_of_power_law_lengths(void **state) {
  (void)state;
  fixture f;
  fixture_open_text(&f, segments);
  picked *list = sct_alloc(sizeof *list * (f.space.n_candidates + 1));
  sct_block_counter *counter = NULL;
  int n = 0, n_cases = 0, n_within = 0;
  for (int strategy = 0; strategy < f.space.n_strategies; strategy++) {
    n = picked_draw(list, n, &f, strategy, 3, PICKED_SEED);
  }
  picked_compile(list, n);
  sct_block_counter_new(&counter, &f.spec, &f.device, PICKED_SEED, 0);
  for (int k = 0; k < n; k++) {
    sct_ptx_module *module = NULL;
    MUST(sct_ptx_parse(&module, list[k].compiled.ptx, "PTX", err));
    const own o = {.p = list[k], .module = module, .counter = counter};
    for (int z = 0; z < f.spec.n_sizes; z++) {
      sct_counters few = own_count(&o, &f.spec.sizes[z], 0);
      sct_counters all = own_count(&o, &f.spec.sizes[z], SCT_ALL_BLOCKS);
      const double sectors = (double)(all.load.sectors + all.store.sectors);
      const double off = fabs((double)(few.load.sectors + few.store.sectors) - sectors);
      n_cases++;
      n_within += off <= few.error * sectors + 0.5;
      if (off > 0.2 * sectors) {
        fail_msg("'%s' at size %d: %.1f %% off", list[k].label, z, 100.0 * off / sectors);
      }
      sct_counters_free(&few);
      sct_counters_free(&all);
    }
    sct_ptx_module_free(module);
  }
  print_message("%d of %d within their error\n", n_within, n_cases);
  assert_true(n_within >= n_cases * 95 / 100);
  sct_block_counter_free(counter);
  picked_free(list, n);
  sct_free(list);
  fixture_close(&f);
}

/* A tile's elements fall into one window of the output: of its blocks, one a window, only one has
 * work. */
static void test_windows(void **state) {
  (void)state;
  fixture f;
  picked list[2];
  fixture_open_text(&f,
                    "local s = require 'sectile'\n"
                    "return s.kernel { name = 'spread', dims = { 'i' },\n"
                    "  inputs = { s.array('pick', 'i64', s.row_major, { fill = 'identity' }),\n"
                    "             s.array('a', 'f32x4') },\n"
                    "  outputs = { s.array('o', 'f32', s.row_major, { dims = { 'm' },\n"
                    "                                                 at = { '2 * pick' } }) },\n"
                    "  body = 'o = a.x;', sizes = { { i = 196608, m = 393249 } } }");
  int windows = 0;
  while (strcmp(f.space.strategies[windows].name, "windows") != 0) {
    windows++;
  }
  const int n = picked_draw(list, 0, &f, windows, SCT_COUNT(list), PICKED_SEED);
  picked_compile(list, n);
  sct_block_counter *counter = NULL;
  sct_block_counter_new(&counter, &f.spec, &f.device, PICKED_SEED, 0);
  for (int k = 0; k < n; k++) {
    sct_ptx_module *module = NULL;
    MUST(sct_ptx_parse(&module, list[k].compiled.ptx, "PTX", err));
    const own o = {.p = list[k], .module = module, .counter = counter};
    sct_counters few = own_count(&o, &f.spec.sizes[0], 0);
    sct_counters all = own_count(&o, &f.spec.sizes[0], SCT_ALL_BLOCKS);
    const double sectors = (double)(all.load.sectors + all.store.sectors);
    assert_true(few.blocks_counted < few.blocks);
    assert_true(few.error < 0.02);
    assert_true(fabs((double)(few.load.sectors + few.store.sectors) - sectors) <=
                few.error * sectors);
    sct_counters_free(&few);
    sct_counters_free(&all);
    sct_ptx_module_free(module);
  }
  sct_block_counter_free(counter);
  picked_free(list, n);
  fixture_close(&f);
}

/* An index array of columns that are further apart than they are long: what lanes find in it is
 * what its own elements hold, in no array of the host. */
static void test_strided_indices(void **state) {
  (void)state;
  static const char spec[] =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'columns', dims = { 'row', 'k' },\n"
      "  inputs = { s.array('pick', 'i32', s.strided { 1, 1 << 24 }, { fill = 'identity' }),\n"
      "             s.array('x', 'f32', s.row_major, { dims = { 'n' }, at = { 'pick' } }) },\n"
      "  outputs = { s.array('y', 'f32', s.row_major) }, body = 'y = x;',\n"
      "  sizes = { { row = 1 << 23, k = 8, n = 1 << 26 } } }";
  static const char columns[] =
      "__global__ void counted(const int *pick, const float *x, float *y, long long row,\n"
      "                        long long n_k, long long n) {\n"
      "  const long long r = blockIdx.x * 256ll + threadIdx.x;\n"
      "  for (int k = 0; k < 8; k++) y[r * 8 + k] = x[pick[r + k * (1ll << 24)]];\n"
      "}\n";
  own o;
  own_open(&o, spec, "direct threads=256", columns, 1 << 15);
  const int64_t requests = o.f.spec.sizes[0].extent[0] / 32 * 8;
  sct_counters c = own_count(&o, &o.f.spec.sizes[0], 0);
  assert_int_equal(c.operand[0].sectors, 4 * requests);
  assert_int_equal(c.operand[1].requests, requests);
  assert_int_equal(c.operand[1].sectors, 32 * requests); /* a row's eight are one sector */
  sct_counters_free(&c);
  own_close(&o);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strided_indices),
      cmocka_unit_test(test_one_block_for_everything),
      cmocka_unit_test(test_shorter_launches),
      cmocka_unit_test(test_loop_over_the_grid),
      cmocka_unit_test(test_rows_of_power_law_lengths),
      cmocka_unit_test(test_windows),
  };
  return cmocka_run_group_tests(tests, picked_setup, picked_teardown);
}
