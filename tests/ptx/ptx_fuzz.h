/* What the fuzzer does with one input, and what the test of its corpus does again: any text is
 * either refused with a message, or each of its kernels runs to a result.
 *
 * Every launch gets the same small buffers: pointers among the parameters go to them in turn, other
 * parameters are small numbers. */
#ifndef TESTS_PTX_FUZZ_H
#define TESTS_PTX_FUZZ_H

#include "ptx_orders.h"

#include <stdlib.h>
#include <string.h>

enum {
  FUZZ_BUFFERS = 3,
  FUZZ_BUFFER_BYTES = 4096,
  FUZZ_MAX_PARAM_BYTES = 4096,
  FUZZ_MAX_PARAMS = 64,
  FUZZ_MAX_TEXT = 1 << 16,
  FUZZ_STEPS = 3000,
};

typedef struct fuzz_outcome {
  bool parsed;
  int kernels, refused, launched; /* launched: to a result, of which `clean` have no diagnosis */
  int clean;
} fuzz_outcome;

static inline void fuzz_die(const char *what) {
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

static inline sct_ptx_memory *fuzz_memory(uint64_t address[FUZZ_BUFFERS]) {
  static const char *const names[FUZZ_BUFFERS] = {"in", "out", "inout"};
  uint32_t data[FUZZ_BUFFER_BYTES / 4];
  sct_ptx_memory *memory = NULL;
  for (int i = 0; i < SCT_COUNT(data); i++) {
    data[i] = (uint32_t)i * (i & 1 ? 1u : 0x9e3779b1u);
  }
  sct_ptx_memory_new(&memory);
  for (int i = 0; i < FUZZ_BUFFERS; i++) {
    const sct_ptx_buffer b = {.name = names[i],
                              .bytes = FUZZ_BUFFER_BYTES,
                              .data = i == 1 ? NULL : data,
                              .read_only = i == 0};
    if (sct_ptx_memory_add(memory, &address[i], &b, NULL) != SCT_OK) {
      sct_ptx_memory_free(memory);
      return NULL;
    }
  }
  return memory;
}

static inline void fuzz_launch(const sct_ptx_module *module, const sct_ptx_kernel *k,
                               fuzz_outcome *out) {
  static uint8_t values[FUZZ_MAX_PARAMS][FUZZ_MAX_PARAM_BYTES];
  const void *args[FUZZ_MAX_PARAMS];
  uint64_t address[FUZZ_BUFFERS];
  sct_error err = {0};
  sct_ptx_result result;
  sct_ptx_memory *memory = fuzz_memory(address);
  int n_pointers = 0;
  if (memory == NULL || k->n_params > FUZZ_MAX_PARAMS) {
    sct_ptx_memory_free(memory);
    return;
  }
  for (int i = 0; i < k->n_params; i++) {
    const int32_t small = 17 + i;
    memset(values[i], 0, FUZZ_MAX_PARAM_BYTES);
    if (k->params[i].bytes > FUZZ_MAX_PARAM_BYTES) {
      sct_ptx_memory_free(memory);
      return;
    }
    if (k->params[i].bytes == 8) {
      memcpy(values[i], &address[n_pointers++ % FUZZ_BUFFERS], 8);
    } else {
      memcpy(values[i], &small, 4);
    }
    args[i] = values[i];
  }
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = k->name,
                                    .grid = {2, 1, 1},
                                    .block = {20, 2, 1}, /* the second warp is not whole */
                                    .args = args,
                                    .n_args = k->n_params,
                                    .shared_bytes = 2048,
                                    .per_instruction = true,
                                    .max_steps = FUZZ_STEPS};
  const sct_status status = ptx_launch_orders(&result, memory, &opts, &err);
  if (status != SCT_OK && err.text[0] == '\0') {
    fuzz_die("a launch was refused without a message");
  }
  if (status == SCT_OK) {
    sct_str text = {0};
    sct_ptx_diag_print(&text, &result.diag);
    out->clean += result.diag.kind == SCT_PTX_CLEAN;
    out->launched++;
    sct_str_free(&text);
    sct_ptx_result_free(&result);
  }
  sct_ptx_memory_free(memory);
}

static inline fuzz_outcome fuzz_input(const uint8_t *data, size_t size) {
  fuzz_outcome out = {0};
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  char *text = malloc(size + 1); /* its own piece, so that reading on is seen */
  if (text == NULL) {
    return out;
  }
  if (size > 0) {
    memcpy(text, data, size);
  }
  text[size] = '\0';
  if (sct_ptx_parse(&module, text, "fuzz.ptx", &err) != SCT_OK) {
    if (err.text[0] == '\0') {
      fuzz_die("a text was refused without a message");
    }
    free(text);
    return out;
  }
  out.parsed = true;
  out.kernels = sct_ptx_n_kernels(module);
  for (int i = 0; i < out.kernels && i < 4; i++) {
    const sct_ptx_kernel *k = sct_ptx_kernel_at(module, i);
    if (k->error != NULL) {
      out.refused++;
    } else {
      fuzz_launch(module, k, &out);
    }
  }
  sct_ptx_module_free(module);
  free(text);
  return out;
}

#endif
