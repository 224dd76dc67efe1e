/* The worker's own kernels, as PTX that the driver compiles for whatever GPU is there: fill, check
 * sum, compare, copy. Written by hand because a worker must not need NVRTC.
 *
 * PTX ISA 7.0 and sm_70: understood by every driver since CUDA 11, compiled forward to newer GPUs.
 * All loops are grid-stride; all indexes are 64-bit. What several kernels share is a C macro, not a
 * PTX function: ptxas does not inline those. */
#include "worker_backend.h"

/* %i: this thread's number in the grid. */
#define THREAD_NUMBER                                                                              \
  "  mov.u32 %block, %ctaid.x;\n"                                                                  \
  "  mov.u32 %size, %ntid.x;\n"                                                                    \
  "  mov.u32 %lane, %tid.x;\n"                                                                     \
  "  mul.wide.u32 %i, %block, %size;\n"                                                            \
  "  cvt.u64.u32 %t, %lane;\n"                                                                     \
  "  add.u64 %i, %i, %t;\n"

/* %step: how many threads the grid has. */
#define THREAD_COUNT                                                                               \
  "  mov.u32 %block, %nctaid.x;\n"                                                                 \
  "  mov.u32 %size, %ntid.x;\n"                                                                    \
  "  mul.wide.u32 %step, %block, %size;\n"

#define SHARED_REGISTERS "  .reg .b32 %block, %size, %lane;\n  .reg .b64 %i, %step, %t, %z;\n"

/* splitmix64's finaliser on %z, as base_rng.c has it. */
#define FINALISE                                                                                   \
  "  shr.u64 %t, %z, 30;\n"                                                                        \
  "  xor.b64 %z, %z, %t;\n"                                                                        \
  "  mul.lo.u64 %z, %z, 0xbf58476d1ce4e5b9;\n"                                                     \
  "  shr.u64 %t, %z, 27;\n"                                                                        \
  "  xor.b64 %z, %z, %t;\n"                                                                        \
  "  mul.lo.u64 %z, %z, 0x94d049bb133111eb;\n"                                                     \
  "  shr.u64 %t, %z, 31;\n"                                                                        \
  "  xor.b64 %z, %z, %t;\n"

/* %z = sct_mix64(seed, %i) */
#define MIX64(seed)                                                                                \
  "  add.u64 %z, " seed ", 0x9e3779b97f4a7c15;\n" FINALISE "  add.u64 %t, %i, 1;\n"                \
  "  mul.lo.u64 %t, %t, 0x9e3779b97f4a7c15;\n"                                                     \
  "  add.u64 %z, %z, %t;\n" FINALISE

/* 0x01 in every byte of v that was not 0; the shifts carry only into bits that the mask drops. */
#define NONZERO_BYTES(v)                                                                           \
  "  shr.u64 %t, " v ", 4;\n"                                                                      \
  "  or.b64 " v ", " v ", %t;\n"                                                                   \
  "  shr.u64 %t, " v ", 2;\n"                                                                      \
  "  or.b64 " v ", " v ", %t;\n"                                                                   \
  "  shr.u64 %t, " v ", 1;\n"                                                                      \
  "  or.b64 " v ", " v ", %t;\n"                                                                   \
  "  and.b64 " v ", " v ", 0x0101010101010101;\n"

/* A copy of one 16-byte word a thread. */
#define COPY16(name, policy, load, load_policy, store, store_policy)                               \
  ".visible .entry " name "(.param .u64 in, .param .u64 out, .param .u64 words)\n"                 \
  "{\n"                                                                                            \
  "  .reg .pred %done;\n" SHARED_REGISTERS "  .reg .b32 %w<4>;\n"                                  \
  "  .reg .b64 %in, %out, %n, %policy;\n"                                                          \
  "  ld.param.u64 %in, [in];\n"                                                                    \
  "  ld.param.u64 %out, [out];\n"                                                                  \
  "  ld.param.u64 %n, [words];\n"                                                                  \
  "  cvta.to.global.u64 %in, %in;\n"                                                               \
  "  cvta.to.global.u64 %out, %out;\n" THREAD_NUMBER "  setp.ge.u64 %done, %i, %n;\n"              \
  "  @%done bra end;\n"                                                                            \
  "  shl.b64 %i, %i, 4;\n"                                                                         \
  "  add.u64 %in, %in, %i;\n"                                                                      \
  "  add.u64 %out, %out, %i;\n" policy "  ld.global" load                                          \
  ".v4.u32 {%w0, %w1, %w2, %w3}, [%in]" load_policy ";\n"                                          \
  "  st.global" store ".v4.u32 [%out], {%w0, %w1, %w2, %w3}" store_policy ";\n"                    \
  "end:\n"                                                                                         \
  "  ret;\n"                                                                                       \
  "}\n"                                                                                            \
  "\n"

/* x = value %i of the array, of type %kind. */
#define LOAD_VALUE(x, array, name)                                                                 \
  "  setp.eq.u32 %p, %kind, 3;\n"                                                                  \
  "  @%p bra double_" name ";\n"                                                                   \
  "  setp.eq.u32 %p, %kind, 2;\n"                                                                  \
  "  @%p bra single_" name ";\n"                                                                   \
  "  shl.b64 %at, %i, 1;\n"                                                                        \
  "  add.u64 %at, %at, " array ";\n"                                                               \
  "  ld.global.u16 %half, [%at];\n"                                                                \
  "  setp.eq.u32 %p, %kind, 1;\n"                                                                  \
  "  @%p bra brain_" name ";\n"                                                                    \
  "  cvt.f32.f16 %f, %half;\n"                                                                     \
  "  bra widen_" name ";\n"                                                                        \
  "brain_" name ":\n"                                                                              \
  "  cvt.u32.u16 %w, %half;\n"                                                                     \
  "  shl.b32 %w, %w, 16;\n"                                                                        \
  "  mov.b32 %f, %w;\n"                                                                            \
  "  bra widen_" name ";\n"                                                                        \
  "single_" name ":\n"                                                                             \
  "  shl.b64 %at, %i, 2;\n"                                                                        \
  "  add.u64 %at, %at, " array ";\n"                                                               \
  "  ld.global.f32 %f, [%at];\n"                                                                   \
  "widen_" name ":\n"                                                                              \
  "  cvt.f64.f32 " x ", %f;\n"                                                                     \
  "  bra loaded_" name ";\n"                                                                       \
  "double_" name ":\n"                                                                             \
  "  shl.b64 %at, %i, 3;\n"                                                                        \
  "  add.u64 %at, %at, " array ";\n"                                                               \
  "  ld.global.f64 " x ", [%at];\n"                                                                \
  "loaded_" name ":\n"

#define POLICY "  createpolicy.fractional.L2::evict_last.b64 %policy, 0f3F800000;\n"

/* One string per kernel: C99 promises no more than 4095 bytes in a literal. */
/* clang-format off */
static const char *const parts[] = {
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    "\n",
    "// word i of p becomes (mix64(seed, i) & and_mask) | or_mask\n"
    ".visible .entry sct_fill(.param .u64 p, .param .u64 words, .param .u64 and_mask,\n"
    "                         .param .u64 or_mask, .param .u64 seed)\n"
    "{\n"
    "  .reg .pred %done;\n"
    SHARED_REGISTERS
    "  .reg .b64 %p, %n, %and, %or, %seed, %at;\n"
    "  ld.param.u64 %p, [p];\n"
    "  ld.param.u64 %n, [words];\n"
    "  ld.param.u64 %and, [and_mask];\n"
    "  ld.param.u64 %or, [or_mask];\n"
    "  ld.param.u64 %seed, [seed];\n"
    "  cvta.to.global.u64 %p, %p;\n"
    THREAD_NUMBER
    THREAD_COUNT
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    MIX64("%seed")
    "  and.b64 %z, %z, %and;\n"
    "  or.b64 %z, %z, %or;\n"
    "  shl.b64 %at, %i, 3;\n"
    "  add.u64 %at, %at, %p;\n"
    "  st.global.u64 [%at], %z;\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra loop;\n"
    "end:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// block k: *sum += sct_region_sum(base, lo, hi), the four numbers of piece k\n"
    ".visible .entry sct_checksum(.param .u64 pieces)\n"
    "{\n"
    "  .reg .pred %done, %cut;\n"
    SHARED_REGISTERS
    "  .reg .b32 %bits;\n"
    "  .reg .b64 %p, %lo, %hi, %sum, %n, %v, %at, %start, %k, %total;\n"
    "  mov.u32 %lane, %tid.x;\n"
    "  cvt.u64.u32 %i, %lane;\n"
    "  mov.u32 %size, %ntid.x;\n"
    "  cvt.u64.u32 %step, %size;\n"
    "  ld.param.u64 %at, [pieces];\n"
    "  cvta.to.global.u64 %at, %at;\n"
    "  mov.u32 %block, %ctaid.x;\n"
    "  mul.wide.u32 %t, %block, 32;\n"
    "  add.u64 %at, %at, %t;\n"
    "  ld.global.u64 %p, [%at];\n"
    "  ld.global.u64 %lo, [%at+8];\n"
    "  ld.global.u64 %hi, [%at+16];\n"
    "  ld.global.u64 %sum, [%at+24];\n"
    "  cvta.to.global.u64 %p, %p;\n"
    "  cvta.to.global.u64 %sum, %sum;\n"
    "  shr.u64 %n, %lo, 3;\n"
    "  add.u64 %i, %i, %n;\n"
    "  add.u64 %n, %hi, 7;\n"
    "  shr.u64 %n, %n, 3;\n"
    "  mov.u64 %total, 0;\n"
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    "  shl.b64 %start, %i, 3;\n"
    "  add.u64 %at, %start, %p;\n"
    "  ld.global.u64 %v, [%at];\n"
    "  setp.ge.u64 %cut, %start, %lo;\n"
    "  @%cut bra low_kept;\n"
    "  sub.u64 %k, %lo, %start;\n"
    "  shl.b64 %k, %k, 3;\n"
    "  cvt.u32.u64 %bits, %k;\n"
    "  shr.u64 %v, %v, %bits;\n"
    "  shl.b64 %v, %v, %bits;\n"
    "low_kept:\n"
    "  add.u64 %k, %start, 8;\n"
    "  setp.le.u64 %cut, %k, %hi;\n"
    "  @%cut bra high_kept;\n"
    "  sub.u64 %k, %k, %hi;\n"
    "  shl.b64 %k, %k, 3;\n"
    "  cvt.u32.u64 %bits, %k;\n"
    "  shl.b64 %v, %v, %bits;\n"
    "  shr.u64 %v, %v, %bits;\n"
    "high_kept:\n"
    MIX64("%v")
    "  add.u64 %total, %total, %z;\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra loop;\n"
    "end:\n"
    "  red.global.add.u64 [%sum], %total;\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// result[0] += bytes where a and b differ and (c == 0 or b and c agree);\n"
    "// result[1] = offset of the first of them, if below what it holds\n"
    ".visible .entry sct_compare(.param .u64 a, .param .u64 b, .param .u64 c,\n"
    "                            .param .u64 bytes, .param .u64 result)\n"
    "{\n"
    "  .reg .pred %done, %skip, %masked;\n"
    SHARED_REGISTERS
    "  .reg .b32 %bits, %few;\n"
    "  .reg .b64 %pa, %pb, %pc, %n, %result, %va, %vb, %vc, %at, %m, %k;\n"
    "  .reg .b64 %count, %first, %words;\n"
    "  ld.param.u64 %pa, [a];\n"
    "  ld.param.u64 %pb, [b];\n"
    "  ld.param.u64 %pc, [c];\n"
    "  ld.param.u64 %n, [bytes];\n"
    "  ld.param.u64 %result, [result];\n"
    "  setp.ne.u64 %masked, %pc, 0;\n"
    "  cvta.to.global.u64 %pa, %pa;\n"
    "  cvta.to.global.u64 %pb, %pb;\n"
    "  cvta.to.global.u64 %pc, %pc;\n"
    "  cvta.to.global.u64 %result, %result;\n"
    THREAD_NUMBER
    THREAD_COUNT
    "  add.u64 %words, %n, 7;\n"
    "  shr.u64 %words, %words, 3;\n"
    "  mov.u64 %count, 0;\n"
    "  mov.u64 %first, 0xffffffffffffffff;\n"
    "loop:\n"
    "  setp.ge.u64 %done, %i, %words;\n"
    "  @%done bra end;\n"
    "  shl.b64 %at, %i, 3;\n"
    "  add.u64 %k, %at, %pa;\n"
    "  ld.global.u64 %va, [%k];\n"
    "  add.u64 %k, %at, %pb;\n"
    "  ld.global.u64 %vb, [%k];\n"
    "  xor.b64 %m, %va, %vb;\n"
    NONZERO_BYTES("%m")
    "  @!%masked bra unmasked;\n"
    "  add.u64 %k, %at, %pc;\n"
    "  ld.global.u64 %vc, [%k];\n"
    "  xor.b64 %vc, %vc, %vb;\n"
    NONZERO_BYTES("%vc")
    "  not.b64 %vc, %vc;\n"
    "  and.b64 %m, %m, %vc;\n"
    "unmasked:\n"
    "  add.u64 %k, %at, 8;\n"
    "  setp.le.u64 %skip, %k, %n;\n"
    "  @%skip bra whole;\n"
    "  sub.u64 %k, %k, %n;\n"
    "  shl.b64 %k, %k, 3;\n"
    "  cvt.u32.u64 %bits, %k;\n"
    "  shl.b64 %m, %m, %bits;\n"
    "  shr.u64 %m, %m, %bits;\n"
    "whole:\n"
    "  setp.eq.u64 %skip, %m, 0;\n"
    "  @%skip bra next;\n"
    "  popc.b64 %few, %m;\n"
    "  cvt.u64.u32 %k, %few;\n"
    "  add.u64 %count, %count, %k;\n"
    "  brev.b64 %m, %m;\n"
    "  clz.b64 %few, %m;\n"
    "  shr.u32 %few, %few, 3;\n"
    "  cvt.u64.u32 %k, %few;\n"
    "  add.u64 %k, %k, %at;\n"
    "  min.u64 %first, %first, %k;\n"
    "next:\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra loop;\n"
    "end:\n"
    "  setp.eq.u64 %skip, %count, 0;\n"
    "  @%skip bra quiet;\n"
    "  red.global.add.u64 [%result], %count;\n"
    "  red.global.min.u64 [%result+8], %first;\n"
    "quiet:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// *result += values of a that are not within tolerance * max(|b|, usual) of b's\n"
    "// kind: 0 f16, 1 bf16, 2 f32, 3 f64\n"
    ".visible .entry sct_near(.param .u64 a, .param .u64 b, .param .u64 values,\n"
    "                         .param .u32 kind, .param .f64 tolerance, .param .f64 usual,\n"
    "                         .param .u64 result)\n"
    "{\n"
    "  .reg .pred %done, %p;\n"
    SHARED_REGISTERS
    "  .reg .b16 %half;\n"
    "  .reg .b32 %kind, %w;\n"
    "  .reg .f32 %f;\n"
    "  .reg .f64 %x, %y, %d, %limit, %tolerance, %usual;\n"
    "  .reg .b64 %pa, %pb, %n, %result, %at, %count;\n"
    "  ld.param.u64 %pa, [a];\n"
    "  ld.param.u64 %pb, [b];\n"
    "  ld.param.u64 %n, [values];\n"
    "  ld.param.u32 %kind, [kind];\n"
    "  ld.param.f64 %tolerance, [tolerance];\n"
    "  ld.param.f64 %usual, [usual];\n"
    "  ld.param.u64 %result, [result];\n"
    "  cvta.to.global.u64 %pa, %pa;\n"
    "  cvta.to.global.u64 %pb, %pb;\n"
    "  cvta.to.global.u64 %result, %result;\n"
    THREAD_NUMBER
    THREAD_COUNT
    "  mov.u64 %count, 0;\n"
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    LOAD_VALUE("%x", "%pa", "a")
    LOAD_VALUE("%y", "%pb", "b")
    "  setp.eq.f64 %p, %x, %y;\n"
    "  @%p bra next;\n"
    "  sub.f64 %d, %x, %y;\n"
    "  abs.f64 %d, %d;\n"
    "  setp.lt.f64 %p, %d, 0d7FF0000000000000;\n"
    "  @!%p bra far;\n" // infinite, or NaN
    "  abs.f64 %limit, %y;\n"
    "  max.f64 %limit, %limit, %usual;\n"
    "  mul.f64 %limit, %limit, %tolerance;\n"
    "  setp.le.f64 %p, %d, %limit;\n"
    "  @%p bra next;\n"
    "far:\n"
    "  add.u64 %count, %count, 1;\n"
    "next:\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra loop;\n"
    "end:\n"
    "  setp.eq.u64 %p, %count, 0;\n"
    "  @%p bra quiet;\n"
    "  red.global.add.u64 [%result], %count;\n"
    "quiet:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// waits until *flag reaches the ticket, 2 s at most: holds back what is queued after\n"
    ".visible .entry sct_hold(.param .u64 flag, .param .u64 ticket)\n"
    "{\n"
    "  .reg .pred %go;\n"
    "  .reg .b64 %flag, %ticket, %v, %start, %t;\n"
    "  ld.param.u64 %flag, [flag];\n"
    "  ld.param.u64 %ticket, [ticket];\n"
    "  cvta.to.global.u64 %flag, %flag;\n"
    "  mov.u64 %start, %globaltimer;\n"
    "loop:\n"
    "  ld.volatile.global.u64 %v, [%flag];\n"
    "  setp.ge.u64 %go, %v, %ticket;\n"
    "  @%go bra end;\n"
    "  mov.u64 %t, %globaltimer;\n"
    "  sub.u64 %t, %t, %start;\n"
    "  setp.lt.u64 %go, %t, 2000000000;\n"
    "  @%go bra loop;\n"
    "end:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// the block on SM 0 writes its clock and the time: two of them give the SM's frequency\n"
    ".visible .entry sct_stamp(.param .u64 out)\n"
    "{\n"
    "  .reg .pred %other;\n"
    "  .reg .b32 %sm;\n"
    "  .reg .b64 %out, %v;\n"
    "  ld.param.u64 %out, [out];\n"
    "  cvta.to.global.u64 %out, %out;\n"
    "  mov.u32 %sm, %smid;\n"
    "  setp.ne.u32 %other, %sm, 0;\n"
    "  @%other bra end;\n"
    "  mov.u64 %v, %globaltimer;\n"
    "  st.volatile.global.u64 [%out], %v;\n"
    "  mov.u64 %v, %clock64;\n"
    "  st.volatile.global.u64 [%out+8], %v;\n"
    "end:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// nothing: what a launch costs\n"
    ".visible .entry sct_empty()\n"
    "{\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// one 16-byte word a thread: the copy that came nearest to the driver's on an H200\n"
    COPY16("sct_copy16", "", "", "", "", "")
};

/* What is loaded or what is stored is the last that L2 gives up. On an H200 the first copies 1.2 to
 * 1.4 % more a second beyond L2 (dirty lines leave sooner), the second 8 % more of arrays of 40 MB.
 * createpolicy came with sm_80. */
static const char *const kept[] = {
    ".version 7.4\n"
    ".target sm_80\n"
    ".address_size 64\n"
    "\n",
    COPY16("sct_copy16_evict_loads", POLICY, ".L2::cache_hint", ", %policy", "", ""),
    COPY16("sct_copy16_evict_stores", POLICY, "", "", ".L2::cache_hint", ", %policy")
};
/* clang-format on */

static void append(sct_str *out, const char *const *text, int n) {
  for (int k = 0; k < n; k++) {
    sct_str_append(out, text[k]);
  }
}

void sct_worker_ptx(sct_str *out) {
  append(out, parts, SCT_COUNT(parts));
}

void sct_worker_ptx_kept(sct_str *out) {
  append(out, kept, SCT_COUNT(kept));
}
