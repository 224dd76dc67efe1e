/* Kernels whose blocks talk to each other (scopes.cu): right ones are clean in every order of
 * blocks, others get a race at their line, those that only store one value twice a warning. */
#include "ptx_lab.h"
#include "ptx_orders.h"

#define N       1000
#define BLOCKS  6
#define THREADS 64

static int setup(void **state) {
  return lab_setup(state, "scopes.cu", "sm_90");
}

static void run_one(const lab *l, const char *kernel, sct_ptx_order order, sct_ptx_result *out) {
  static const uint32_t zeros[N];
  uint32_t in[N];
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  uint64_t address[4];
  const int n = N;
  for (uint32_t i = 0; i < N; i++) {
    in[i] = 1 + i * 7 % 50;
  }
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
                                    .grid = {BLOCKS, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .args = args,
                                    .n_args = 5,
                                    .order = order,
                                    .seed = 3,
                                    .max_steps = 100000};
  if (sct_ptx_launch(out, memory, &opts, &err) != SCT_OK) {
    fail_msg("%s: %s", kernel, err.text);
  }
  sct_ptx_memory_free(memory);
}

static const char *said(const sct_ptx_diag *d) {
  static sct_str text;
  sct_str_clear(&text);
  sct_ptx_diag_print(&text, d);
  return sct_str_c(&text);
}

static bool is_right(const char *kernel) {
  return sct_has_prefix(kernel, "ok_");
}

static bool is_same(const char *kernel) {
  return sct_has_prefix(kernel, "same_");
}

/* Every kernel of the file, so that one that is added is looked at. */
static void kernels_are_found_right_or_wrong(void **state) {
  const lab *l = *state;
  int missed = 0;
  for (int k = 0; k < sct_ptx_n_kernels(l->module); k++) {
    const char *kernel = sct_ptx_kernel_at(l->module, k)->name;
    const bool race = !is_right(kernel) && !is_same(kernel);
    for (int order = 0; order < (race ? 1 : 3); order++) {
      sct_ptx_result r;
      run_one(l, kernel, (sct_ptx_order)order, &r);
      const sct_ptx_kind want = race ? SCT_PTX_GLOBAL_RACE : SCT_PTX_CLEAN;
      const bool ok = r.diag.kind == want && (!race || lab_marks(l, kernel, r.diag.line));
      if (!ok) {
        print_message("%s, order %d: %s\n", kernel, order, said(&r.diag));
      }
      missed += !ok;
      sct_ptx_result_free(&r);
    }
  }
  assert_int_equal(missed, 0);
}

static void one_value_stored_twice_is_a_warning(void **state) {
  const lab *l = *state;
  int missed = 0;
  for (int k = 0; k < sct_ptx_n_kernels(l->module); k++) {
    const char *kernel = sct_ptx_kernel_at(l->module, k)->name;
    sct_ptx_result r;
    if (!is_right(kernel) && !is_same(kernel)) {
      continue;
    }
    run_one(l, kernel, SCT_PTX_FORWARD, &r);
    const bool warned = r.warning.kind != SCT_PTX_CLEAN && lab_marks(l, kernel, r.warning.line);
    if (warned != is_same(kernel)) {
      print_message("%s: %s\n", kernel, said(&r.warning));
      missed++;
    }
    sct_ptx_result_free(&r);
  }
  assert_int_equal(missed, 0);
}

/* What is said of operations that are atomic, but for too few. */
static void the_scope_is_named(void **state) {
  static const struct {
    const char *kernel, *text;
  } cases[] = {{"block_scope_histogram", "atomic only for its own block"},
               {"block_scope_without_result", "atomic only for its own block"},
               {"block_scope_beside_device", "atomic only for its own block"},
               {"cluster_scope_across_clusters", "atomic only for its own cluster"}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_ptx_result r;
    run_one(*state, cases[k].kernel, SCT_PTX_FORWARD, &r);
    if (strstr(r.diag.text, cases[k].text) == NULL) {
      fail_msg("%s: %s", cases[k].kernel, said(&r.diag));
    }
    sct_ptx_result_free(&r);
  }
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_are_found_right_or_wrong),
                                     cmocka_unit_test(one_value_stored_twice_is_a_warning),
                                     cmocka_unit_test(the_scope_is_named)};
  return cmocka_run_group_tests_name("sm_90", tests, setup, lab_teardown);
}
