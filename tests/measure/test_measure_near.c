/* The worker's kernels that sum, compare and spread bytes, put values into index arrays and compare
 * values, on the virtual GPU, against what the host does: bit for bit, over random layouts, types
 * and hostile values. */
#include "measure_fixture.h"

#include "measure/measure_data.h"
#include "ptx/ptx.h"
#include "worker/worker_backend.h"

#include <math.h>

enum { MOST = 700, THREADS = 64, BLOCKS = 3 };

static sct_ptx_module *module;

static void launch(sct_ptx_memory *memory, const char *kernel, const void **args, int n_args) {
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = kernel,
                                    .grid = {BLOCKS, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .args = args,
                                    .n_args = n_args};
  sct_ptx_result ran;
  assert_ok(sct_ptx_launch(&ran, memory, &opts, &fixture_err));
  assert_string_equal(ran.diag.text, "");
  sct_ptx_result_free(&ran);
}

/* Runs a kernel on buffers, which are its arguments that are NULL, and gives back the first, and
 * the last as the result. */
static void run(const char *kernel, uint8_t *first, const sct_ptx_buffer *buffers, int n_buffers,
                const void **args, int n_args, int64_t *result) {
  uint64_t at[4];
  int n = 0;
  sct_ptx_memory *memory = NULL;
  sct_ptx_memory_new(&memory);
  for (int k = 0; k < n_args; k++) {
    if (!args[k]) {
      assert_ok(sct_ptx_memory_add(memory, &at[n], &buffers[n], &fixture_err));
      args[k] = &at[n++];
    }
  }
  assert_int_equal(n, n_buffers);
  launch(memory, kernel, args, n_args);
  memcpy(first, sct_ptx_memory_data(memory, at[0]), (size_t)buffers[0].bytes);
  if (result) {
    memcpy(result, sct_ptx_memory_data(memory, at[n_buffers - 1]),
           (size_t)buffers[n_buffers - 1].bytes);
  }
  sct_ptx_memory_free(memory);
}

/* ---- bytes ---- */

enum { BYTES = 8 * 3000 }; /* several times four words a thread, and a rest */

static void draw_bytes(uint8_t *bytes, int64_t n, uint64_t seed) {
  for (int64_t k = 0; k < n; k++) {
    bytes[k] = (uint8_t)sct_mix64(seed, (uint64_t)k);
  }
}

static void test_sums_are_the_hosts(void **state) {
  (void)state;
  static const int64_t ends[][2] = {{0, BYTES}, {3, 7}, {8, 8}, {9, BYTES - 5}, {2048, 4096}};
  uint8_t bytes[BYTES];
  draw_bytes(bytes, BYTES, 1);
  for (int k = 0; k + BLOCKS <= SCT_COUNT(ends); k++) {
    struct {
      uint64_t base, lo, hi, sum;
    } pieces[BLOCKS];
    const uint64_t none[BLOCKS] = {0};
    const sct_ptx_buffer data = {.name = "p", .bytes = BYTES, .data = bytes, .read_only = true};
    const sct_ptx_buffer sums = {.name = "sums", .bytes = sizeof none, .data = none};
    const sct_ptx_buffer list = {.name = "pieces", .bytes = sizeof pieces, .data = pieces};
    uint64_t base = 0, sum = 0, at = 0;
    sct_ptx_memory *memory = NULL;
    sct_ptx_memory_new(&memory);
    assert_ok(sct_ptx_memory_add(memory, &base, &data, &fixture_err));
    assert_ok(sct_ptx_memory_add(memory, &sum, &sums, &fixture_err));
    for (int b = 0; b < BLOCKS; b++) {
      pieces[b].base = base;
      pieces[b].lo = (uint64_t)ends[k + b][0];
      pieces[b].hi = (uint64_t)ends[k + b][1];
      pieces[b].sum = sum + 8 * (uint64_t)b;
    }
    assert_ok(sct_ptx_memory_add(memory, &at, &list, &fixture_err));
    const void *args[] = {&at};
    launch(memory, "sct_checksum", args, 1);
    for (int b = 0; b < BLOCKS; b++) {
      uint64_t got = 0;
      const int64_t lo = ends[k + b][0], hi = ends[k + b][1];
      memcpy(&got, sct_ptx_memory_data(memory, sum) + 8 * b, sizeof got);
      assert_true(got == sct_region_sum(bytes + lo, lo, hi));
    }
    sct_ptx_memory_free(memory);
  }
}

static void test_bytes_differ_as_on_the_host(void **state) {
  (void)state;
  static uint8_t a[BYTES], b[BYTES], c[BYTES], room[BYTES + 4];
  for (uint64_t k = 0; k < 24; k++) {
    const int64_t n = k % 3 == 0 ? 40 : BYTES - (int64_t)(k % 9);
    draw_bytes(a, BYTES, k);
    memcpy(b, a, BYTES);
    memcpy(c, a, BYTES);
    for (uint64_t flip = 0; flip < 2 * (k / 2); flip++) {
      const uint64_t random = sct_mix64(99 + k, flip);
      (flip % 2 == 0 ? a : c)[random % BYTES] ^= (uint8_t)(1 << random / BYTES % 8);
      c[sct_mix64(99 + k, flip & ~1u) % BYTES] ^= (uint8_t)(flip / 2 % 2);
    }
    int64_t first = 0, result[2] = {0};
    const int64_t want = sct_bytes_differ(a, b, k % 2 ? c : NULL, n, &first);
    const int64_t start[2] = {0, -1}, null = 0;
    const uint64_t off = k / 2 % 2 * 4; /* of a, which need not be at a multiple of 8 */
    memcpy(room + off, a, BYTES);
    const sct_ptx_buffer buffers[] = {{.name = "a", .bytes = BYTES + 4, .data = room},
                                      {.name = "b", .bytes = BYTES, .data = b},
                                      {.name = "c", .bytes = BYTES, .data = c},
                                      {.name = "result", .bytes = 16, .data = start}};
    uint64_t at[SCT_COUNT(buffers)];
    sct_ptx_memory *memory = NULL;
    sct_ptx_memory_new(&memory);
    for (int m = 0; m < SCT_COUNT(buffers); m++) {
      assert_ok(sct_ptx_memory_add(memory, &at[m], &buffers[m], &fixture_err));
    }
    const uint64_t shifted = at[0] + off;
    const void *args[] = {&shifted, &at[1], k % 2 ? (const void *)&at[2] : &null, &n, &at[3]};
    launch(memory, "sct_compare", args, 5);
    memcpy(result, sct_ptx_memory_data(memory, at[3]), sizeof result);
    sct_ptx_memory_free(memory);
    assert_int_equal(result[0], want);
    assert_int_equal(result[1], first);
    assert_true(k < 4 || want > 0 || n == 40);
  }
}

static void test_spans_are_spread(void **state) {
  (void)state;
  const int64_t rows[BLOCKS][3] = {{5, 0, 3}, {100, 3, 200}, {1000, 203, 0}};
  uint8_t from[203], to[1000], got[1000];
  draw_bytes(from, sizeof from, 3);
  draw_bytes(to, sizeof to, 4);
  const sct_ptx_buffer buffers[] = {{.name = "to", .bytes = sizeof to, .data = to},
                                    {.name = "from", .bytes = sizeof from, .data = from},
                                    {.name = "rows", .bytes = sizeof rows, .data = rows}};
  const void *args[] = {NULL, NULL, NULL};
  run("sct_spread", got, buffers, 3, args, 3, NULL);
  memcpy(to + 5, from, 3);
  memcpy(to + 100, from + 3, 200);
  assert_memory_equal(got, to, sizeof to);
}

/* ---- index values ---- */

static void test_index_values_are_the_hosts(void **state) {
  (void)state;
  static const sct_fill fills[] = {SCT_FILL_IDENTITY, SCT_FILL_PERMUTED, SCT_FILL_RANDOM,
                                   SCT_FILL_CONSTANT, SCT_FILL_EDGES,    SCT_FILL_PREFIX};
  static const int64_t limits[] = {1, 2, 3, 5, 16, 17, 255, 1000, 4097, ((int64_t)1 << 40) + 7};
  for (int k = 0; k < SCT_COUNT(fills) * SCT_COUNT(limits); k++) {
    const uint64_t random = sct_mix64(3, (uint64_t)k);
    const sct_index_fill fill = {.fill = fills[k % SCT_COUNT(fills)],
                                 .limit = limits[k / SCT_COUNT(fills)],
                                 .has_none = random % 3 == 0,
                                 .columns = (int64_t)(random % 37),
                                 .seed = random};
    sct_index_values values = sct_index_values_of(&fill);
    values.bytes = 1 << random / 64 % 4;
    /* rows of 7 x 5, the second index slowest, with a gap behind each value */
    const int64_t step = values.bytes * (1 + (int64_t)(random / 256 % 3));
    const sct_places places = {.count = 35 * 4,
                               .origin = 8,
                               .extent = {4, 7, 5, 1, 1, 1, 1, 1},
                               .stride = {step * 40, step, 7 * step}};
    const int64_t bytes = 8 + 160 * step;
    uint8_t *got = sct_alloc((size_t)bytes), *want = sct_alloc((size_t)bytes);
    memset(want, 0xd5, (size_t)bytes);
    const sct_ptx_buffer buffer = {.name = "p", .bytes = bytes, .data = want};
    const void *args[] = {NULL, &places, &values};
    run("sct_index", got, &buffer, 1, args, 3, NULL);
    for (int64_t i = 0; i < places.count; i++) {
      const int64_t value = sct_index_fill_value(&fill, i);
      const int64_t at = 8 + i / 35 * 40 * step + i / 5 % 7 * step + i % 5 * 7 * step;
      memcpy(want + at, &value, (size_t)values.bytes);
    }
    if (memcmp(got, want, (size_t)bytes) != 0) {
      fail_msg("fill %d limit %lld", (int)fill.fill, (long long)fill.limit);
    }
    sct_free(got);
    sct_free(want);
  }
}

/* ---- comparisons ---- */

static const struct {
  sct_type type;
  int settle, bytes;
} kinds[] = {{SCT_TYPE_F16, SCT_SETTLE_F16, 2},   {SCT_TYPE_BF16, SCT_SETTLE_BF16, 2},
             {SCT_TYPE_F32, SCT_SETTLE_F32, 4},   {SCT_TYPE_F64, SCT_SETTLE_F64, 8},
             {SCT_TYPE_E4M3, SCT_SETTLE_E4M3, 1}, {SCT_TYPE_E5M2, SCT_SETTLE_E5M2, 1}};

/* As measure_compare.c has it. */
static bool is_right(const sct_nearness *how, double got, double want) {
  if (!(how->tolerance > 0) && !isnan(want)) {
    return false;
  }
  if (how->tolerance > 1) {
    return true;
  }
  if (isnan(got) || isnan(want)) {
    return how->computed && isnan(got) && isnan(want);
  }
  return got == want || (isfinite(got) && isfinite(want) &&
                         fabs(got - want) <= how->tolerance * fmax(fabs(want), how->usual));
}

/* Values of any bits, and pairs that are a few units in the last place apart. */
static void draw(int bytes, uint8_t *a, uint8_t *b, int64_t n, uint64_t seed) {
  for (int64_t k = 0; k < n; k++) {
    const uint64_t bits = sct_mix64(seed, (uint64_t)k);
    const uint64_t low = bytes == 1 ? 1 + bits % 3 : bits >> (k % 40 + 20);
    const uint64_t apart = k % 3 == 0 ? bits >> 7 : bits % 8 == 0 ? 0 : low;
    const uint64_t other = bits ^ apart;
    memcpy(a + k * bytes, &bits, (size_t)bytes);
    memcpy(b + k * bytes, &other, (size_t)bytes);
  }
}

static void test_values_settle_as_on_the_host(void **state) {
  (void)state;
  static const double tolerances[] = {0, 1e-6, 1e-3, 0.5, 2}, usuals[] = {0, 1e-30, 3.0, 1e30};
  static const int64_t lengths[] = {1, 63, 64, 193, MOST};
  uint8_t a[8 * MOST], b[8 * MOST], got[8 * MOST], want[8 * MOST];
  int64_t some = 0, settled = 0;
  for (int kind = 0; kind < SCT_COUNT(kinds); kind++) {
    for (int k = 0; k < 40; k++) {
      const int64_t n = lengths[k % SCT_COUNT(lengths)], bytes = kinds[kind].bytes;
      const sct_nearness how = {.type = kinds[kind].settle,
                                .bytes = bytes,
                                .computed = k % 3 != 0,
                                .tolerance = tolerances[k / 2 % SCT_COUNT(tolerances)],
                                .usual = usuals[k / 10]};
      /* every value, or each second one: what lies between is nobody's */
      const int64_t every = 1 + k % 2, none = 0;
      const sct_places places = {.count = n / every,
                                 .extent = {n / every > 0 ? n / every : 1, 1, 1, 1, 1, 1, 1, 1},
                                 .stride = {every * bytes}};
      int64_t wrong = 0, n_wrong = 0;
      draw((int)bytes, a, b, n, (uint64_t)(k + 100 * kind));
      memcpy(want, a, sizeof want);
      for (int64_t i = 0; i < places.count; i++) {
        const int64_t at = i * every * bytes;
        const bool same = memcmp(a + at, b + at, (size_t)bytes) == 0;
        const bool right = same || is_right(&how, sct_data_float(kinds[kind].type, a + at),
                                            sct_data_float(kinds[kind].type, b + at));
        memcpy(want + at, right ? b + at : a + at, (size_t)bytes);
        wrong += !right;
        settled += right && !same;
      }
      const sct_ptx_buffer buffers[] = {
          {.name = "a", .bytes = n * bytes, .data = a},
          {.name = "b", .bytes = n * bytes, .data = b, .read_only = true},
          {.name = "result", .bytes = 8, .data = &none},
      };
      const void *args[] = {NULL, NULL, &places, &how, NULL};
      run("sct_settle", got, buffers, 3, args, 5, &n_wrong);
      assert_int_equal(n_wrong, wrong);
      assert_memory_equal(got, want, (size_t)(n * bytes));
      some += wrong;
    }
  }
  assert_true(some > 5000 && settled > 5000); /* both are common */
}

int main(void) {
  sct_str text = {0};
  sct_worker_ptx(&text);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums_are_the_hosts),
      cmocka_unit_test(test_bytes_differ_as_on_the_host),
      cmocka_unit_test(test_spans_are_spread),
      cmocka_unit_test(test_index_values_are_the_hosts),
      cmocka_unit_test(test_values_settle_as_on_the_host),
  };
  if (sct_ptx_parse(&module, sct_str_c(&text), "worker.ptx", &fixture_err) != SCT_OK) {
    print_error("%s\n", fixture_err.text);
    return 1;
  }
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  sct_ptx_module_free(module);
  sct_str_free(&text);
  return failed;
}
