/* Runs a kernel given as PTX or CUDA text on a few arrays of 32-bit words. */
#ifndef TESTS_PTX_KERNEL_H
#define TESTS_PTX_KERNEL_H

#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PTX_HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"
/* A kernel of `in` and `out` whose %i is the thread's number; %pi and %po point to its 32-bit
 * words. */
#define PTX_KERNEL                                                                                 \
  PTX_HEAD ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                               \
           ".reg .pred %p<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<32>;\n.reg .b64 %d<32>;\n"          \
           ".reg .b32 %i, %n;\n.reg .b64 %o, %pi, %po, %in, %out;\n"                               \
           "mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmul.lo.s32 %n, %n, %i;\n"                 \
           "mov.u32 %i, %tid.x;\nadd.s32 %i, %i, %n;\nmul.wide.u32 %o, %i, 4;\n"                   \
           "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\n"                                  \
           "add.s64 %pi, %in, %o;\nadd.s64 %po, %out, %o;\n"

typedef struct kernel_run {
  int blocks, threads;
  int64_t shared_bytes;
  const void *in;
  int64_t in_bytes, out_bytes;
  bool in_undefined, out_zero, lenient;
  const sct_ptx_cache_sizes *caches;
  int host_threads; /* 0: one, with all checks */
} kernel_run;

/* Runs kernel `k` of `ptx`. `out` (out_bytes) receives the output, `result` (may be NULL) the rest:
 * free it. Returns the diagnosis. */
static inline sct_ptx_kind run_kernel(const char *ptx, const kernel_run *r, void *out,
                                      sct_ptx_result *result) {
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result own;
  uint64_t address[2];
  uint8_t *zeros = calloc((size_t)r->out_bytes + 1, 1);
  if (sct_ptx_parse(&module, ptx, "kernel.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_ptx_memory_new(&memory);
  const sct_ptx_buffer buffers[2] = {
      {.name = "in",
       .bytes = r->in_bytes,
       .data = r->in_undefined ? NULL : r->in,
       .read_only = true},
      {.name = "out", .bytes = r->out_bytes, .data = r->out_zero ? zeros : NULL}};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(sct_ptx_memory_add(memory, &address[i], &buffers[i], &err), SCT_OK);
  }
  const void *args[] = {&address[0], &address[1]};
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = "k",
                                    .grid = {r->blocks, 1, 1},
                                    .block = {r->threads, 1, 1},
                                    .args = args,
                                    .n_args = 2,
                                    .shared_bytes = r->shared_bytes,
                                    .caches = r->caches,
                                    .threads = r->host_threads,
                                    .no_races = r->host_threads > 0,
                                    .no_definedness = r->host_threads > 0,
                                    .lenient_exits = r->lenient};
  if (sct_ptx_launch(&own, memory, &opts, &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  if (out != NULL) {
    memcpy(out, sct_ptx_memory_data(memory, address[1]), (size_t)r->out_bytes);
  }
  const sct_ptx_kind kind = own.diag.kind;
  if (result != NULL) {
    *result = own;
  } else {
    if (kind != SCT_PTX_CLEAN) {
      print_message("%s: %s\n", sct_ptx_kind_name(kind), own.diag.text);
    }
    sct_ptx_result_free(&own);
  }
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
  free(zeros);
  return kind;
}

#endif
