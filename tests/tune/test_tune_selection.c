/* Sessions that once chose what is absurd, on a virtual device: what wins, what is marked and what
 * is said. Each is of a few candidates by name, as they are the same whatever else is tried. */
#include "scratch.h"
#include "shared_cache.h"
#include "tune/tune_internal.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

static sct_error err;
static char folder[64];

static int setup(void **state) {
  (void)state;
  return scratch_make(folder, sizeof folder, "chosen");
}

static int teardown(void **state) {
  (void)state;
  return scratch_remove(folder);
}

/* Tunes the spec of this text; `labels` [n] and the naive variants are tried. */
static void tune(sct_tune_report *out, const char *text, const char *const *labels, int n,
                 bool any) {
  char path[128], cache[128];
  snprintf(path, sizeof path, "%s/k.lua", folder);
  snprintf(cache, sizeof cache, "%s/cache", folder);
  const sct_tune_opts opts = {.device = "virtual:h200",
                              .store_path = "",
                              .cache_dir = shared_cache(cache),
                              .only = {n, labels},
                              .select_any = any};
  if (sct_file_write(path, text, strlen(text), &err) != SCT_OK ||
      sct_tune_run(out, path, &opts, &(sct_tune_events){0}, &err) != SCT_OK) {
    fail_msg("%s\n%s", err.text, text);
  }
}

static const sct_tune_row *row_of(const sct_tune_size *size, const char *label) {
  for (int k = 0; k < size->n_rows; k++) {
    if (strcmp(size->rows[k].label, label) == 0) {
      return &size->rows[k];
    }
  }
  fail_msg("no row '%s'", label);
  return NULL;
}

/* A row that is broadcast does not grow with the other dimension: the naive variant once had too
 * few sectors by that, all others too many, and 1,788 ms won over 1.0. */
static void a_broadcast_row_hides_no_candidate(void **state) {
  (void)state;
  static const char text[] =
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'hinge', dims = { 'row', 'col' }, scalars = { { 'inv', 'f32' } },\n"
      "  inputs = { s.array('p', 'f32'),\n"
      "    s.array('target', 'f32', s.row_major, { dims = { 'col' } }) },\n"
      "  outputs = { s.array('loss', 'f32', s.row_major, { dims = {}, reduce = 'sum' }) },\n"
      "  body = 'loss = fmaxf(1.0f - p * target, 0.0f) * inv;',\n"
      "  sizes = { { row = 32768, col = 32768 } } }\n";
  static const char *const labels[] = {
      "reduce threads=512 lanes=512 vec=4 start=vector items=2 outputs=1 blocks=528 evict=none"};
  for (int any = 0; any < 2; any++) {
    sct_tune_report r;
    tune(&r, text, labels, SCT_COUNT(labels), any);
    const sct_tune_row *winner = &r.sizes[0].rows[0];
    assert_string_equal(winner->label, labels[0]);
    assert_true(winner->outcome.how.coalesced);
    assert_true(winner->outcome.predicted_ns < 1.3e6); /* 4 GiB, 0.95 ms on an H200 */
    assert_null(r.sizes[0].faster);
    sct_tune_report_free(&r);
  }
}

#define BOTH(own)                                                                                  \
  "local s = require 'sectile'\n"                                                                  \
  "return s.kernel { name = 'both', dims = { 'row', 'col' },\n"                                    \
  "  inputs = { s.array('x', 'f32') },\n"                                                          \
  "  outputs = { s.array('q', 'f32'), s.array('qt', 'f32', s.col_major) },\n"                      \
  "  body = 'q = x; qt = x;', " own "\n"                                                           \
  "  sizes = { { row = 512, col = 256 } } }\n"

#define OWN                                                                                        \
  "also = { cuda = 'both.cu', kernel = 'both', args = { 'x', 'q', 'qt', 'n_row', 'n_col' },\n"     \
  "  block = { 32, 8 }, grid = { 'n_col // 32', 'n_row // 32' },\n"                                \
  "  where = { 'n_col % 32 == 0', 'n_row % 32 == 0' } },"

/* By a tile in shared memory. */
static const char own[] =
    "extern \"C\" __global__ void both(const float *x, float *q, float *qt, int n_row, int n_col) "
    "{\n"
    "  __shared__ float tile[32][33];\n"
    "  const int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32;\n"
    "  for (int k = threadIdx.y; k < 32; k += 8)\n"
    "    q[(r + k) * n_col + c] = tile[k][threadIdx.x] = x[(r + k) * n_col + c];\n"
    "  __syncthreads();\n"
    "  for (int k = threadIdx.y; k < 32; k += 8)\n"
    "    qt[(blockIdx.x * 32 + k) * n_row + r + threadIdx.x] = tile[threadIdx.x][k];\n"
    "}\n";

/* Stores of the transposed output are strided in all of them: marked, and said where. */
static void the_best_of_the_bad_is_marked(void **state) {
  (void)state;
  static const char *const labels[] = {"map threads=256 items=1 vec=4 evict=none"};
  sct_tune_report r;
  tune(&r, BOTH(""), labels, SCT_COUNT(labels), false);
  const sct_tune_size *size = &r.sizes[0];
  for (int k = 0; k < size->n_rows; k++) {
    assert_false(size->rows[k].outcome.how.coalesced);
  }
  assert_non_null(size->uncoalesced);
  assert_non_null(strstr(size->uncoalesced, "no candidate is coalesced"));
  assert_non_null(strstr(size->uncoalesced, "stores of qt take "));
  assert_non_null(strstr(size->uncoalesced, "transpose a tile in shared memory"));
  assert_null(strstr(size->uncoalesced, "of q take"));
  assert_null(size->faster);
  sct_tune_report_free(&r);
}

/* A kernel that does better changes no mark of the others. */
static void what_else_there_is_changes_no_mark(void **state) {
  (void)state;
  static const char *const labels[] = {"map threads=256 items=1 vec=4 evict=none", "own_both"};
  char path[128];
  snprintf(path, sizeof path, "%s/both.cu", folder);
  assert_int_equal(sct_file_write(path, own, strlen(own), &err), SCT_OK);
  sct_tune_report without, with;
  tune(&without, BOTH(""), labels, 1, false);
  tune(&with, BOTH(OWN), labels, 2, false);
  for (int k = 0; k < without.sizes[0].n_rows; k++) {
    const sct_tune_row *before = &without.sizes[0].rows[k];
    const sct_tune_row *after = row_of(&with.sizes[0], before->label);
    assert_true(sct_row_coalesced_same(&before->outcome.how, &after->outcome.how));
  }
  const sct_tune_row *winner = &with.sizes[0].rows[0];
  assert_string_equal(winner->label, "own_both");
  assert_true(winner->outcome.how.coalesced);
  assert_null(with.sizes[0].uncoalesced);
  sct_tune_report_free(&without);
  sct_tune_report_free(&with);
}

/* Records of 12 bytes at 16: what is coalesced is predicted to take 10.92 us, the naive variant of
 * other layouts 9.945. */
static void no_predicted_winner_loses_to_naive(void **state) {
  (void)state;
  static const char text[] =
      "local s = require 'sectile'\n"
      "local r = s.record { { 'x', 'f32' }, { 'y', 'f32' }, { 'z', 'f32' }, align = 16 }\n"
      "return s.kernel { name = 'rec', dims = { 'i' },\n"
      "  inputs = { s.array('a', r, s.choose { s.aos, s.soa }) },\n"
      "  outputs = { s.array('b', r, s.aos) }, body = 'b = a;', sizes = { { i = 1 << 20 } } }\n";
  static const char *const labels[] = {
      "map a=aos threads=512 items=2 vec=1 load=staged store=staged team=block evict=none"};
  sct_tune_report r;
  tune(&r, text, labels, SCT_COUNT(labels), false);
  const sct_tune_size *size = &r.sizes[0];
  assert_true(row_of(size, labels[0])->outcome.how.coalesced);
  for (int k = 0; k < size->n_rows; k++) {
    assert_true(!size->rows[k].naive ||
                size->rows[0].outcome.predicted_ns <=
                    SCT_PREDICTED_SLACK * size->rows[k].outcome.predicted_ns);
  }
  sct_tune_report_free(&r);
}

/* Nothing moves faster than a copy; but what an index finds again need not move. */
static void a_prediction_is_held_to_what_memory_can_do(void **state) {
  (void)state;
  static const char *const texts[] = {
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'k', dims = { 'i' }, inputs = { s.array('a', 'f32') },\n"
      "  outputs = { s.array('b', 'f32') }, body = 'b = a;', sizes = { { i = 1000000 } } }\n",
      "local s = require 'sectile'\n"
      "return s.kernel { name = 'k', dims = { 'i' }, inputs = {\n"
      "    s.array('p', 'u8', nil, { fill = 'random' }),\n"
      "    s.array('a', 'f32', nil, { dims = { 'm' }, at = { 'p' } }) },\n"
      "  outputs = { s.array('b', 'u8') }, body = 'b = a;',\n"
      "  sizes = { { i = 4000000, m = 100 } } }\n"};
  for (int k = 0; k < SCT_COUNT(texts); k++) { /* both move 8 MB, at 1 TB/s */
    int layout[3] = {0};
    sct_tune_item item = {.code.layout = layout};
    sct_tune_candidates cands = {.device.copy_bytes_s = 1e12, .n_items = 1, .items = &item};
    tune_cell cell = {.counted = true};
    tune_table t = {.cands = &cands, .cells = &cell};
    if (sct_script_load_spec_text(&cands.spec, "k.lua", texts[k], &err) != SCT_OK) {
      fail_msg("%s", err.text);
    }
    static const double us[] = {8.0, 7.7, 7.5, 4.0};
    for (int n = 0; n < SCT_COUNT(us); n++) {
      cell.predicted.ns = 1e3 * us[n];
      const bool credible = us[n] * 1.05 >= 8.0;
      assert_true(sct_tune_credible_ns(&t, 0, 0) == (credible ? cell.predicted.ns : 0.0));
    }
    cell.estimated = true; /* by a plan, before anything is compiled */
    assert_true(sct_tune_credible_ns(&t, 0, 0) == cell.predicted.ns);
    sct_spec_free(&cands.spec);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_WORKER_ARG) == 0) {
    return sct_worker_main(argc, argv);
  }
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_broadcast_row_hides_no_candidate),
      cmocka_unit_test(the_best_of_the_bad_is_marked),
      cmocka_unit_test(what_else_there_is_changes_no_mark),
      cmocka_unit_test(no_predicted_winner_loses_to_naive),
      cmocka_unit_test(a_prediction_is_held_to_what_memory_can_do),
  };
  return cmocka_run_group_tests_name("selection", tests, setup, teardown);
}
