/* Kernels of the strategy `accumulate` and of the naive variant: right as written, and no mistake
 * in their text passes the verification. */
#include "tune_verify.h"

#define KERNEL(outputs, body, sizes)                                                               \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'points', dims = { 'i' },\n"                                           \
  "  inputs = { s.array('key', 'i32'), s.array('x', 'i32') },\n"                                   \
  "  outputs = { " outputs " }, body = '" body "', sizes = { " sizes " } }\n"

#define COUNTS                                                                                     \
  KERNEL("s.array('n', 'u32', s.row_major, { dims = { 'm' }, at = 'key', accumulate = 'add' })",   \
         "n = 1;", "{ i = 100000, m = 256 }")
#define MOST                                                                                       \
  KERNEL("s.array('n', 'i32', s.row_major, { dims = { 'm' }, at = 'key', accumulate = 'max', "     \
         "inout = true })",                                                                        \
         "n = x;", "{ i = 100000, m = 100 }")
#define EXTREMES(how, less)                                                                        \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'most', dims = { 'i' },\n"                                             \
  "  inputs = { s.array('key', 'i32'), s.array('x', 'f32') },\n"                                   \
  "  outputs = { s.array('n', 'f32', s.row_major, { dims = { 'm' }, at = 'key', "                  \
  "accumulate = '" how "', inout = true }) }, body = 'n = x - " less "f;',\n"                      \
  "  sizes = { { i = 100000, m = 100 } } }\n"
#define PARTS                                                                                      \
  KERNEL("s.array('n', 'i32', s.row_major, { dims = { 'm' }, at = 'key', accumulate = 'add' })",   \
         "n = x;", "{ i = 100000, m = 70000 }")

#define ORDERED                                                                                    \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'sums', dims = { 'i' },\n"                                             \
  "  inputs = { s.array('key', 'u8'), s.array('x', 'f32') },\n"                                    \
  "  outputs = { s.array('y', 'f32', s.row_major, { dims = { 'm' }, at = 'key', "                  \
  "accumulate = 'add', deterministic = true, inout = true }) }, body = 'y = x;',\n"                \
  "  sizes = { { i = 100000, m = 90 } } }\n"

#define SHARED                                                                                     \
  "accumulate place=shared threads=256 vec=4 items=4 ahead=0 runs=0 replicas=8 blocks=4"
#define RUNS  "accumulate place=shared threads=256 vec=4 items=4 ahead=0 runs=1 replicas=8 blocks=4"
#define AHEAD "accumulate place=shared threads=256 vec=4 items=4 ahead=1 runs=0 replicas=8 blocks=4"
#define HALVES                                                                                     \
  "accumulate place=shared threads=1024 vec=4 items=4 ahead=0 runs=0 replicas=1 parts=2 blocks=1"

#define ROWS                                                                                       \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'rows', dims = { 'i', 'j' },\n"                                        \
  "  inputs = { s.array('key', 'u8', s.row_major, { dims = { 'i' } }), s.array('x', 'f32') },\n"   \
  "  outputs = { s.array('y', 'f32', s.row_major, { dims = { 'm', 'j' }, at = { 'key', 'j' }, "    \
  "accumulate = 'add', inout = true }) }, body = 'y = x;',\n"                                      \
  "  sizes = { { i = 1000, j = 24, m = 90 } } }\n"

#define WIDE                                                                                       \
  "accumulate place=global threads=256 vec=4 items=1 ahead=0 runs=0 wide=2 "                       \
  "replicas=1 blocks=1"

#define WARPS "accumulate place=shared threads=128 vec=1 items=4 ahead=0 blocks=2"

static const tv_mistake mistakes[] = {
    /* floats in one order: a point, an element or a copy that is lost, or taken twice */
    {ORDERED, "direct threads=256", "if (key_v == output)", "if (key_v == output && i != 7)"},
    {ORDERED, "direct threads=256", "y[output] = y[output] + mine.y;", "y[output] = mine.y;"},
    {ORDERED, WARPS, "(1u << threadIdx.x % 32) - 1", "(1u << threadIdx.x % 32) / 2"},
    {ORDERED, WARPS, "? n_i - i : 0;", "? n_i - 1 - i : 0;"},
    {ORDERED, WARPS, "r < kReplicas;", "r < kReplicas - 1;"},
    {ORDERED, WARPS, "at < kSpan_y * kReplicas;", "at < kSpan_y;"},
    {ORDERED, WARPS, "other = 0;", "other = 1;"},
    {ORDERED, WARPS, "y[at] = y[at] + run_y;", "y[at] = run_y;"},
    {ORDERED, WARPS, "const int replica = threadIdx.x / 32;", "const int replica = 0;"},
    {ORDERED, WARPS, "    if (now == turn)\n      take();", "    take();"},
    {ORDERED, WARPS, "&workspace[0], shares", "&workspace[0], shares > 1 ? shares - 1 : 1"},
    /* ... and what comes out right, but in another order each time */
    {ORDERED, WARPS, "left_y[share * kSpan_y + held_at] = sum;",
     "left_y[share * kSpan_y + held_at] = 0; atomicAdd(&y[at], sum);"},
    {ORDERED, WARPS,
     "      in_order(at_y, kNone, [&] {\n        held_y[replica * kSpan_y + at_y] = "
     "held_y[replica * kSpan_y + at_y] + y_v;\n      });",
     "      if (at_y != kNone) atomicAdd(&held_y[replica * kSpan_y + at_y], y_v);"},
    /* neighbours of a row that are added at once */
    {ROWS, WIDE, "\"f\"(v[1])", "\"f\"(v[0])"},
    {ROWS, WIDE, "y_row[e % kWide] = y_v;", "if (e != 1)\n  y_row[e % kWide] = y_v;"},
    {ROWS, WIDE, "e % kWide == kWide - 1", "e == kVec - 1"},
    {ROWS, WIDE, "e + j - 1", "j"},
    {ROWS, WIDE, "red.global.add.v2", "st.global.v2"},
    /* one atomic operation a point */
    {COUNTS, "direct threads=256", "atomicAdd(&n[key_v], n_v);", "n[key_v] += n_v;"},
    {COUNTS, "direct threads=256", "thread >= n_i", "thread >= n_i - 1"},
    {MOST, "direct threads=256", "atomicMax(&", "atomicMin(&"},
    /* floats above and below 0, in the order of their bits */
    {EXTREMES("max", "0.5"), SHARED, "atomicMax(reinterpret_cast<int *>(to), bits);", "*to = v;"},
    {EXTREMES("max", "0.5"), SHARED, "bits >= 0", "bits < 0"},
    {EXTREMES("min", "3.5"), SHARED, "bits >= 0 && v == v", "v == v"},
    /* what a block holds */
    {COUNTS, SHARED, "atomicAdd(&held_n", "(void)atomicExch(&held_n"},
    {COUNTS, SHARED, "held_n[at] = 0;", "held_n[at] = 1;"},
    {MOST, SHARED, "held_n[at] = -2147483647 - 1;", "held_n[at] = 0;"},
    {COUNTS, SHARED, "at < kSpan_n * kReplicas;", "at < kSpan_n;"},
    {COUNTS, SHARED, "__syncthreads();", ""},
    {COUNTS, SHARED, "    __syncthreads();\n    for (unsigned", "    for (unsigned"},
    /* points that are lost, or taken twice */
    {COUNTS, SHARED, "tile += shares", "tile += shares + 1"},
    {COUNTS, SHARED, "e < left", "e + 1 < left"},
    {COUNTS, SHARED, "take_points<true>(",
     "take_points<false>(key, x, n, n_i, n_m, first, got, held_n, replica);\n"
     "        take_points<true>("},
    {COUNTS, AHEAD, "got = next;", ""},
    {COUNTS, AHEAD, "long long tile = share - shares", "long long tile = share"},
    {COUNTS, AHEAD, "tile + shares < tiles", "tile + 2 * shares < tiles"},
    {COUNTS, SHARED, "const long long left = n_i - i;\n#pragma",
     "const long long left = kVec;\n#pragma"},
    /* the merge */
    {COUNTS, SHARED, "r < kReplicas;", "r < kReplicas - 1;"},
    {COUNTS, SHARED, "atomicAdd(&n[at], sum);", "n[at] = sum;"},
    {COUNTS, SHARED, "held_at < kSpan_n;", "held_at < kSpan_n - 1;"},
    {MOST, SHARED, "atomicMax(&n[at], sum);", "atomicMin(&n[at], sum);"},
    /* runs */
    {COUNTS, RUNS, "run_n = run_n + ", "run_n = "},
    {COUNTS, RUNS,
     "    if (run_at != kNone) {\n      atomicAdd(&held_n[run_at * kReplicas + replica], "
     "run_n);\n    }\n    run_at = kNone;",
     "    run_at = kNone;"},
    /* parts of the output */
    {PARTS, HALVES, "at_n < kSpan_n", "at_n <= kSpan_n"},
    {PARTS, HALVES, "part * kSpan_n", "part * (kSpan_n - 1)"},
    {PARTS, HALVES, "work < shares * kParts", "work < shares"},
};

static void test_no_mistake_passes(void **state) {
  (void)state;
  tv_assert_found(mistakes, SCT_COUNT(mistakes));
}

/* A copy of one warp is more than a block has. */
static void test_parts_of_a_copy(void **state) {
  (void)state;
  static const char *const spec =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'sums', dims = { 'i' },\n"
      "  inputs = { s.array('key', 'i32'), s.array('x', 'f64') },\n"
      "  outputs = { s.array('y', 'f64', s.row_major, { dims = { 'm' }, at = 'key', "
      "accumulate = 'add', deterministic = true }) }, body = 'y = x;',\n"
      "  sizes = { { i = 100000, m = 40000 } } }\n";
  tv_world w;
  tv_open_text(&w, spec,
               "accumulate place=shared threads=32 vec=1 items=4 ahead=0 parts=2 blocks=1");
  assert_non_null(strstr(w.code.source, "kSpan_y = 20000;"));
  tv_close(&w);
}

int main(int argc, char **argv) {
  TV_WORKER(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_mistake_passes),
                                     cmocka_unit_test(test_parts_of_a_copy)};
  return cmocka_run_group_tests(tests, tv_setup, tv_teardown);
}
