/* Histograms whose counters have 16 bits: a block counts more points than they hold, on one
 * element, on its neighbour in the same word, and on both in turn. */
#include "tune_picked.h"

enum { N_POINTS = 200001, N_BINS = 65537 };

static const char text[] =
    "local s = require 'sectile'\n"
    "return s.kernel { name = 'counts', dims = { 'i' }, inputs = { s.array('key', 'i32') },\n"
    "  outputs = { s.array('n', 'u64', s.row_major, { dims = 'm', at = 'key', accumulate = 'add' })"
    " },\n"
    "  body = 'n = 3;', sizes = { { i = 200001, m = 65537 } } }\n";

static int32_t key_of(int pattern, int i) {
  switch (pattern) {
  case 0:
    return 10;
  case 1:
    return 11;
  case 2:
    return 10 + i % 2;
  case 3:
    return 10 + i / 1000 % 2;
  case 4:
    return N_BINS - 1; /* has no neighbour */
  case 5:              /* a full counter through which the other one carries */
    return i < 65535 ? 11 : i < 65535 + 65536 ? 10 : 20;
  default:
    return i * 7919 % 4;
  }
}

static void check(const picked *p, const sct_spec *spec, int pattern) {
  static int32_t keys[N_POINTS];
  static uint64_t zeros[N_BINS], expected[N_BINS];
  const int64_t extent[] = {N_POINTS, N_BINS};
  picked_run r;
  memset(expected, 0, sizeof expected);
  for (int i = 0; i < N_POINTS; i++) {
    keys[i] = key_of(pattern, i);
    expected[keys[i]] += 3;
  }
  picked_run_open(&r, p, spec, extent);
  r.blocks = strstr(p->label, "parts=2") ? 2 : 1;
  (void)picked_run_add_array(&r, "key", keys, sizeof keys);
  const uint64_t bins = picked_run_add_buffer(
      &r, &(sct_ptx_buffer){.name = "n", .bytes = sizeof zeros, .data = zeros});
  picked_run_add_extents(&r);
  (void)picked_run_launch(&r, "counts");
  const uint64_t *found = (const uint64_t *)sct_ptx_memory_data(r.memory, bins);
  for (int bin = 0; bin < N_BINS; bin++) {
    if (found[bin] != expected[bin]) {
      fail_msg("'%s', pattern %d: bin %d has %llu instead of %llu", p->label, pattern, bin,
               (unsigned long long)found[bin], (unsigned long long)expected[bin]);
    }
  }
  picked_run_close(&r);
}

static void test_counters_that_carry(void **state) {
  (void)state;
  fixture f;
  picked list[4] = {{0}};
  int n = 0;
  fixture_open_text(&f, text);
  static const char *const wanted[] = {
      "runs=0 replicas=1 packed=1 parts=1", "runs=1 replicas=1 packed=1 parts=1",
      "runs=0 replicas=1 packed=1 parts=", "runs=1 replicas=1 packed=1 parts="};
  for (size_t c = 0; c < f.space.n_candidates && n < SCT_COUNT(wanted); c++) {
    sct_str label = {0};
    sct_space_label(&label, &f.space, &f.space.candidates[c]);
    if (strstr(sct_str_c(&label), wanted[n]) && picked_make(&list[n], &f, c)) {
      n++;
      c = 0;
    }
    sct_str_free(&label);
  }
  assert_int_equal(n, SCT_COUNT(wanted));
  picked_compile(list, n);
  for (int k = 0; k < n; k++) {
    for (int pattern = 0; pattern < 7; pattern++) {
      check(&list[k], &f.spec, pattern);
    }
  }
  picked_free(list, n);
  fixture_close(&f);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], SCT_COMPILE_WORKER_ARG) == 0) {
    return sct_compile_worker_main(argc, argv);
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counters_that_carry)};
  return cmocka_run_group_tests(tests, picked_setup, picked_teardown);
}
