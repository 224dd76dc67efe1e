/* assert, printf, malloc and free of a kernel (system.cu). */
#include "ptx_lab.h"

#define THREADS 64

typedef struct kernel {
  const char *name;
  sct_ptx_kind kind;
  const char *text;    /* a piece of the diagnosis; NULL: none */
  const char *printed; /* NULL: nothing */
  int64_t leaks, refused;
} kernel;

static const char two_threads[] =
    "0|7   | +4|-1|-1|ffffffffffffffff|-1099511627776| 2.50|1.000000e+30|text|te|c|0x10|%|   9|010|"
    "%q\n"
    "1|7   | +4|-1|-1|ffffffffffffffff|-1099511627776| 2.50|1.000000e+30|text|te|c|0x10|%|   9|010|"
    "%q\n";

static const kernel kernels[] = {
    {"ok_assert", SCT_PTX_CLEAN, NULL, NULL, 0, 0},
    {"fails", SCT_PTX_ASSERT,
     "system.cu:12: void fails(const int *, int *, int): block: [0,0,0], thread: [5,0,0] Assertion "
     "`in[threadIdx.x] "
     "!= 37 || threadIdx.x == 0` failed.",
     NULL, 0, 0},
    {"ok_printf", SCT_PTX_CLEAN, NULL, two_threads, 0, 0},
    {"ok_heap", SCT_PTX_CLEAN, NULL, NULL, 0, 0},
    {"ok_exhausted", SCT_PTX_CLEAN, NULL, NULL, 0, 2 * (THREADS - 2)},
    {"ok_many", SCT_PTX_CLEAN, NULL, NULL, 0, 0},
    {"ok_leaks", SCT_PTX_CLEAN, NULL, NULL, 2 * THREADS, 0},
    {"past_end", SCT_PTX_OUT_OF_BOUNDS, "offset 16 of an allocation of 16 bytes", NULL, 0, 0},
    {"before_start", SCT_PTX_OUT_OF_BOUNDS, "offset -4 of an allocation of 16 bytes", NULL, 0, 0},
    {"reads_unset", SCT_PTX_UNDEFINED_STORE, NULL, NULL, 0, 0},
    {"after_free", SCT_PTX_USE_AFTER_FREE, "16 bytes that was freed before", NULL, 0, 0},
    {"frees_twice", SCT_PTX_BAD_FREE, "a second time", NULL, 0, 0},
    {"frees_inside", SCT_PTX_BAD_FREE, "which malloc did not give", NULL, 0, 0},
    {"frees_argument", SCT_PTX_BAD_FREE, "which malloc did not give", NULL, 0, 0},
};

static int setup(void **state) {
  return lab_setup(state, "system.cu", "sm_90");
}

static void launch(const lab *l, const char *name, sct_ptx_result *out) {
  sct_error err = {0};
  sct_ptx_memory *memory = NULL;
  int in[THREADS], zeros[2 * THREADS] = {0};
  const int n = 4;
  uint64_t address[2];
  for (int i = 0; i < THREADS; i++) {
    in[i] = i;
  }
  in[5] = 37;
  const sct_ptx_buffer buffers[2] = {{.name = "in", .bytes = sizeof in, .data = in},
                                     {.name = "out", .bytes = sizeof zeros, .data = zeros}};
  sct_ptx_memory_new(&memory);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(sct_ptx_memory_add(memory, &address[i], &buffers[i], &err), SCT_OK);
  }
  const void *args[] = {&address[0], &address[1], &n};
  const sct_ptx_launch_opts opts = {.module = l->module,
                                    .kernel = name,
                                    .grid = {2, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .args = args,
                                    .n_args = 3};
  if (sct_ptx_launch(out, memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_ptx_memory_free(memory);
}

static bool check(const lab *l, const kernel *k) {
  sct_ptx_result result;
  SCT_SCOPED(sct_str) text = {0};
  launch(l, k->name, &result);
  sct_ptx_diag_print(&text, &result.diag);
  bool ok = result.diag.kind == k->kind && lab_marks(l, k->name, result.diag.line);
  ok &= k->text == NULL || strstr(result.diag.text, k->text) != NULL;
  ok &= (k->printed == NULL) == (result.printed == NULL || result.printed[0] == '\0');
  ok &= k->printed == NULL || strcmp(result.printed, k->printed) == 0;
  ok &= k->kind != SCT_PTX_CLEAN ||
        (result.heap.n == k->leaks && result.heap.bytes == 16 * k->leaks &&
         result.heap.refused == k->refused);
  if (!ok) {
    print_message("%s: %s; printed '%s'; %lld allocations, %lld refused\n", k->name,
                  sct_str_c(&text), result.printed ? result.printed : "", (long long)result.heap.n,
                  (long long)result.heap.refused);
  }
  sct_ptx_result_free(&result);
  return ok;
}

static void every_kernel_gets_what_it_asks_for(void **state) {
  int missed = 0;
  for (int k = 0; k < SCT_COUNT(kernels); k++) {
    missed += !check(*state, &kernels[k]);
  }
  assert_int_equal(missed, 0);
}

/* What printf and malloc do themselves is in no count. */
static void counts_are_not_exact(void **state) {
  const lab *l = *state;
  sct_memops ops;
  sct_error err;
  assert_int_equal(sct_ptx_memops(&ops, l->module, "ok_assert", &err), SCT_OK);
  assert_int_equal(sct_ptx_memops(&ops, l->module, "ok_heap", &err), SCT_EDATA);
  assert_int_equal(sct_ptx_memops(&ops, l->module, "ok_printf", &err), SCT_EDATA);
}

int main(void) {
  nvrtc_door door;
  if (!nvrtc_open(&door)) {
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_gets_what_it_asks_for),
                                     cmocka_unit_test(counts_are_not_exact)};
  return cmocka_run_group_tests(tests, setup, lab_teardown);
}
