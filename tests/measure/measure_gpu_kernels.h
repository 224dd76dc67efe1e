/* measure_gpu_kernels.h - hand-written kernels for test_measure_gpu: right ones, and one for each
 * way to be wrong. Arguments of all: a (input), b (output), n (extent). */
#ifndef SCT_TESTS_MEASURE_GPU_KERNELS_H
#define SCT_TESTS_MEASURE_GPU_KERNELS_H

/* A kernel over f32 elements: one element i a thread; `body` runs where i < n, with the value in %v
 * and the addresses of element i in %a and %b. */
#define GPU_KERNEL(name, attributes, body)                                                         \
  ".visible .entry " name "(.param .u64 pa, .param .u64 pb, .param .u64 pn)" attributes "\n"       \
  "{\n"                                                                                            \
  "  .reg .pred %p;\n"                                                                             \
  "  .reg .b32 %block, %size, %lane, %v;\n"                                                        \
  "  .reg .b64 %a, %b, %n, %i, %t, %u;\n"                                                          \
  "  ld.param.u64 %a, [pa];\n"                                                                     \
  "  ld.param.u64 %b, [pb];\n"                                                                     \
  "  ld.param.u64 %n, [pn];\n"                                                                     \
  "  cvta.to.global.u64 %a, %a;\n"                                                                 \
  "  cvta.to.global.u64 %b, %b;\n"                                                                 \
  "  mov.u32 %block, %ctaid.x;\n"                                                                  \
  "  mov.u32 %size, %ntid.x;\n"                                                                    \
  "  mov.u32 %lane, %tid.x;\n"                                                                     \
  "  mul.wide.u32 %i, %block, %size;\n"                                                            \
  "  cvt.u64.u32 %t, %lane;\n"                                                                     \
  "  add.u64 %i, %i, %t;\n"                                                                        \
  "  setp.ge.u64 %p, %i, %n;\n"                                                                    \
  "  @%p bra end;\n"                                                                               \
  "  shl.b64 %t, %i, 2;\n"                                                                         \
  "  add.u64 %a, %a, %t;\n"                                                                        \
  "  add.u64 %b, %b, %t;\n"                                                                        \
  "  ld.global.u32 %v, [%a];\n" body "end:\n"                                                      \
  "  ret;\n"                                                                                       \
  "}\n"

/* The address of element i = 0 again, and a branch to `end` for all other threads. */
#define FIRST_THREAD_ONLY                                                                          \
  "  setp.ne.u64 %p, %i, 0;\n"                                                                     \
  "  @%p bra end;\n"

static const char *const gpu_kernels[] = {
    ".version 7.0\n.target sm_70\n.address_size 64\n",
    GPU_KERNEL("copy", "", "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("copy_again", "", "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("wrong_value", "",
               "  setp.eq.u64 %p, %i, 30;\n"
               "  @%p xor.b32 %v, %v, 0x00400000;\n"
               "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("skips_last", "",
               "  add.u64 %t, %i, 1;\n"
               "  setp.eq.u64 %p, %t, %n;\n"
               "  @%p bra end;\n"
               "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("writes_behind", "",
               "  st.global.u32 [%b], %v;\n"
               "  add.u64 %t, %i, 1;\n"
               "  setp.ne.u64 %p, %t, %n;\n"
               "  @%p bra end;\n"
               "  st.global.u8 [%b+4], %v;\n"),
    GPU_KERNEL("writes_before", "",
               "  st.global.u32 [%b], %v;\n" FIRST_THREAD_ONLY "  st.global.u8 [%b+-1], %v;\n"),
    GPU_KERNEL("changes_input", "",
               "  st.global.u32 [%b], %v;\n" FIRST_THREAD_ONLY "  st.global.u32 [%a], %i;\n"),
    GPU_KERNEL("illegal_address", "",
               "  st.global.u32 [%b], %v;\n"
               "  mov.u64 %t, 16;\n"
               "  st.global.u32 [%t], %v;\n"),
    GPU_KERNEL("misaligned", "",
               "  ld.global.u32 %v, [%a+1];\n"
               "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("traps", "", "  trap;\n"),
    /* ends by itself after 30 s, should nobody end it */
    GPU_KERNEL("hangs", "",
               "  mov.u64 %t, %globaltimer;\n"
               "spin:\n"
               "  mov.u64 %u, %globaltimer;\n"
               "  sub.u64 %u, %u, %t;\n"
               "  setp.lt.u64 %p, %u, 30000000000;\n"
               "  @%p bra spin;\n"
               "  st.global.u32 [%b], %v;\n"),
    GPU_KERNEL("few_threads", " .maxntid 32, 1, 1", "  st.global.u32 [%b], %v;\n"),
    /* records { f64 x0; f32 x1; } of 16 bytes: fields, and whole (the padding with them) */
    GPU_KERNEL("record_fields", "",
               "  .reg .b64 %w;\n"
               "  mul.lo.u64 %t, %i, 12;\n"
               "  add.u64 %a, %a, %t;\n"
               "  add.u64 %b, %b, %t;\n"
               "  ld.global.u64 %w, [%a];\n"
               "  ld.global.u32 %v, [%a+8];\n"
               "  st.global.u64 [%b], %w;\n"
               "  st.global.u32 [%b+8], %v;\n"),
    GPU_KERNEL("record_whole", "",
               "  .reg .b32 %w<4>;\n"
               "  mul.lo.u64 %t, %i, 12;\n"
               "  add.u64 %a, %a, %t;\n"
               "  add.u64 %b, %b, %t;\n"
               "  ld.global.v4.u32 {%w0, %w1, %w2, %w3}, [%a];\n"
               "  st.global.v4.u32 [%b], {%w0, %w1, %w2, %w3};\n"),
    GPU_KERNEL("record_short", "",
               "  .reg .b64 %w;\n"
               "  mul.lo.u64 %t, %i, 12;\n"
               "  add.u64 %a, %a, %t;\n"
               "  add.u64 %b, %b, %t;\n"
               "  ld.global.u64 %w, [%a];\n"
               "  st.global.u64 [%b], %w;\n"),
};

/* What becomes of the wrong ones; one may be found in two ways. */
static const struct {
  const char *entry;
  sct_outcome_kind outcome[2];
} gpu_bad[] = {
    {"wrong_value", {SCT_OUT_WRONG_RESULT, SCT_OUT_WRONG_RESULT}},
    {"skips_last", {SCT_OUT_NOT_WRITTEN, SCT_OUT_NOT_WRITTEN}},
    {"writes_behind", {SCT_OUT_OUT_OF_BOUNDS, SCT_OUT_OUT_OF_BOUNDS}},
    {"writes_before", {SCT_OUT_OUT_OF_BOUNDS, SCT_OUT_OUT_OF_BOUNDS}},
    {"changes_input", {SCT_OUT_INPUT_CHANGED, SCT_OUT_INPUT_CHANGED}},
    {"illegal_address", {SCT_OUT_ILLEGAL_ACCESS, SCT_OUT_ILLEGAL_ACCESS}},
    {"misaligned", {SCT_OUT_MISALIGNED, SCT_OUT_MISALIGNED}},
    {"traps", {SCT_OUT_TRAP, SCT_OUT_TRAP}},
    {"hangs", {SCT_OUT_HANG, SCT_OUT_HANG}},
    {"few_threads", {SCT_OUT_LAUNCH_ERROR, SCT_OUT_TOO_LARGE}},
    {"no_such_kernel", {SCT_OUT_LAUNCH_ERROR, SCT_OUT_LAUNCH_ERROR}},
};

#endif
