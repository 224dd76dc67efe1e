/* A random kernel on the virtual device. */
#ifndef TESTS_RANDOM_RUN_H
#define TESTS_RANDOM_RUN_H

#include "ptx/ptx.h"

#include "random_eval.h"

/* out[RANDOM_OUT_BYTES] of the kernel in `text`; false and a message on anything but a clean run.
 */
static inline bool random_run_virtual(const char *text, const uint8_t *in, uint8_t *out,
                                      sct_str *message) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result result = {0};
  uint64_t address[2] = {0};
  uint8_t *zeros = calloc(RANDOM_OUT_BYTES, 1);
  const sct_ptx_buffer buffers[2] = {
      {.name = "in", .bytes = RANDOM_IN_BYTES, .data = in, .read_only = true},
      {.name = "out", .bytes = RANDOM_OUT_BYTES, .data = zeros}};
  const void *args[2] = {&address[0], &address[1]};
  bool ok = false;
  sct_ptx_memory_new(&memory);
  if (zeros == NULL || sct_ptx_parse(&module, text, "random.ptx", &err) != SCT_OK ||
      sct_ptx_memory_add(memory, &address[0], &buffers[0], &err) != SCT_OK ||
      sct_ptx_memory_add(memory, &address[1], &buffers[1], &err) != SCT_OK) {
    sct_str_append(message, err.text);
    goto done;
  }
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = "k",
                                    .grid = {RANDOM_BLOCKS, 1, 1},
                                    .block = {RANDOM_BLOCK, 1, 1},
                                    .args = args,
                                    .n_args = 2};
  if (sct_ptx_launch(&result, memory, &opts, &err) != SCT_OK) {
    sct_str_append(message, err.text);
    goto done;
  }
  ok = result.diag.kind == SCT_PTX_CLEAN && sct_ptx_kernel_at(module, 0)->exact;
  if (!ok) {
    sct_ptx_diag_print(message, &result.diag);
  }
  memcpy(out, sct_ptx_memory_data(memory, address[1]), RANDOM_OUT_BYTES);
done:
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
  free(zeros);
  return ok;
}

/* First byte that differs, -1: none. */
static inline int random_differs(const uint8_t *a, const uint8_t *b) {
  for (int k = 0; k < RANDOM_OUT_BYTES; k++) {
    if (a[k] != b[k]) {
      return k;
    }
  }
  return -1;
}

/* "thread 5, %r3: 0x1 instead of 0x2" */
static inline void random_describe(sct_str *out, const uint8_t *got, const uint8_t *want, int at) {
  const int thread = at / RANDOM_THREAD_BYTES, in_thread = at % RANDOM_THREAD_BYTES;
  const int reg = (in_thread - RANDOM_OWN_BYTES) / 8, word = at / 8 * 8;
  uint64_t a = 0, b = 0;
  memcpy(&a, got + word, 8);
  memcpy(&b, want + word, 8);
  sct_str_printf(out, "thread %d, ", thread);
  if (in_thread < RANDOM_OWN_BYTES) {
    sct_str_printf(out, "stored byte %d", in_thread);
  } else {
    random_emit_reg(out, reg);
  }
  sct_str_printf(out, ": 0x%llx instead of 0x%llx", (unsigned long long)a, (unsigned long long)b);
}

#endif
