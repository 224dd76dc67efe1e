/* The worker's own kernels, as PTX that the driver compiles for whatever GPU is there: fill, check
 * sum, compare, spread, index, settle, copy. Written by hand because a worker must not need NVRTC.
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

/* The next word of a sum: %total += what worker_region.c makes of v, by its %key. */
#define MIX_HALVES(v) "  shr.u64 %t, " v ", 32;\n  xor.b64 " v ", " v ", %t;\n"
#define ADD_WORD(v)                                                                                \
  "  add.u64 " v ", " v ", %key;\n"                                                                \
  "  add.u64 %key, %key, %keys;\n"                                                                 \
  "  add.u64 %i, %i, %step;\n" MIX_HALVES(v) "  mul.lo.u64 " v ", " v                              \
                                             ", 0xd6e8feb86659fd93;\n" MIX_HALVES(                 \
                                                 v) "  mul.lo.u64 " v ", " v                       \
                                                    ", 0xd6e8feb86659fd93;\n" MIX_HALVES(          \
                                                        v) "  add.u64 %total, %total, " v ";\n"

/* %total becomes that of the warp. */
#define ADD_LANES(distance)                                                                        \
  "  mov.b64 {%low, %high}, %total;\n"                                                             \
  "  shfl.sync.bfly.b32 %low, %low, " distance ", 31, 0xffffffff;\n"                               \
  "  shfl.sync.bfly.b32 %high, %high, " distance ", 31, 0xffffffff;\n"                             \
  "  mov.b64 %t, {%low, %high};\n"                                                                 \
  "  add.u64 %total, %total, %t;\n"

/* The words of a, which may be at multiples of 4, and b at %at, which moves on by %k. */
#define LOAD_TWO(number)                                                                           \
  "  add.u64 %t, %at, %pa;\n"                                                                      \
  "  @%whole ld.global.u64 %va" number ", [%t];\n"                                                 \
  "  @!%whole ld.global.u32 %low, [%t];\n"                                                         \
  "  @!%whole ld.global.u32 %high, [%t+4];\n"                                                      \
  "  @!%whole mov.b64 %va" number ", {%low, %high};\n"                                             \
  "  add.u64 %t, %at, %pb;\n"                                                                      \
  "  ld.global.u64 %vb" number ", [%t];\n"                                                         \
  "  add.u64 %at, %at, %k;\n"

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

/* %at: where element %i is, of the sct_places in parameter `at`. An extent of 1 costs nothing. */
#define PLACE_ALONG(d, extent, stride)                                                             \
  "  ld.param.u64 %e, [at+" extent "];\n"                                                          \
  "  setp.eq.u64 %p, %e, 1;\n"                                                                     \
  "  @%p bra along_" d ";\n"                                                                       \
  "  rem.u64 %x, %rest, %e;\n"                                                                     \
  "  div.u64 %rest, %rest, %e;\n"                                                                  \
  "  ld.param.u64 %e, [at+" stride "];\n"                                                          \
  "  mad.lo.u64 %at, %x, %e, %at;\n"                                                               \
  "along_" d ":\n"
#define PLACE                                                                                      \
  "  mov.u64 %rest, %i;\n"                                                                         \
  "  ld.param.u64 %at, [at+8];\n" PLACE_ALONG("7", "72", "136") PLACE_ALONG("6", "64", "128")      \
      PLACE_ALONG("5", "56", "120") PLACE_ALONG("4", "48", "112") PLACE_ALONG("3", "40", "104")    \
          PLACE_ALONG("2", "32", "96") PLACE_ALONG("1", "24", "88") PLACE_ALONG("0", "16", "80")
#define PLACE_REGISTERS "  .reg .b64 %rest, %at, %e, %x;\n"
_Static_assert(sizeof(sct_places) == 144 && sizeof(sct_index_values) == 56 &&
                   sizeof(sct_nearness) == 40,
               "as the parameters of the kernels");
_Static_assert(SCT_FILL_IDENTITY == 1 && SCT_FILL_PERMUTED == 2 && SCT_FILL_CONSTANT == 4 &&
                   SCT_FILL_EDGES == 8 && SCT_FILL_PREFIX == 9,
               "as sct_index has them");
_Static_assert(SCT_SETTLE_BF16 == 1 && SCT_SETTLE_F32 == 2 && SCT_SETTLE_F64 == 3 &&
                   SCT_SETTLE_E4M3 == 4 && SCT_SETTLE_E5M2 == 5,
               "as sct_settle has them");

/* A round of sct_permute(): of (%left, %right), by %mask. */
#define PERMUTE_ROUND(number)                                                                      \
  "  add.u64 %s, %seed, " number ";\n"                                                             \
  "  mov.u64 %i, %right;\n" MIX64("%s") "  and.b64 %z, %z, %mask;\n"                               \
                                        "  xor.b64 %z, %left, %z;\n"                               \
                                        "  mov.u64 %left, %right;\n"                               \
                                        "  mov.u64 %right, %z;\n"

/* x = the value of type %type whose bits are u. */
#define TO_DOUBLE(x, u, name)                                                                      \
  "  setp.eq.u64 %p, %type, 3;\n"                                                                  \
  "  @%p bra double_" name ";\n"                                                                   \
  "  cvt.u32.u64 %w, " u ";\n"                                                                     \
  "  setp.eq.u64 %p, %type, 2;\n"                                                                  \
  "  @%p bra single_" name ";\n"                                                                   \
  "  setp.eq.u64 %p, %type, 1;\n"                                                                  \
  "  @%p bra brain_" name ";\n"                                                                    \
  "  setp.eq.u64 %p, %type, 4;\n"                                                                  \
  "  @%p bra e4m3_" name ";\n"                                                                     \
  "  setp.eq.u64 %p, %type, 5;\n"                                                                  \
  "  @!%p bra half_" name ";\n"                                                                    \
  "  shl.b32 %w, %w, 8;\n"                                                                         \
  "half_" name ":\n"                                                                               \
  "  cvt.u16.u32 %half, %w;\n"                                                                     \
  "  cvt.f32.f16 %f, %half;\n"                                                                     \
  "  bra widen_" name ";\n"                                                                        \
  "e4m3_" name ":\n" /* the bits of a half that is 256 times smaller; 0x7f is no number */         \
  "  and.b32 %y32, %w, 0x7f;\n"                                                                    \
  "  and.b32 %w, %w, 0x80;\n"                                                                      \
  "  shl.b32 %w, %w, 8;\n"                                                                         \
  "  shl.b32 %x32, %y32, 7;\n"                                                                     \
  "  or.b32 %w, %w, %x32;\n"                                                                       \
  "  cvt.u16.u32 %half, %w;\n"                                                                     \
  "  cvt.f32.f16 %f, %half;\n"                                                                     \
  "  mul.rn.f32 %f, %f, 0f43800000;\n"                                                             \
  "  setp.ne.u32 %p, %y32, 0x7f;\n"                                                                \
  "  @%p bra widen_" name ";\n"                                                                    \
  "  mov.f32 %f, 0f7FC00000;\n"                                                                    \
  "  bra widen_" name ";\n"                                                                        \
  "brain_" name ":\n"                                                                              \
  "  shl.b32 %w, %w, 16;\n"                                                                        \
  "single_" name ":\n"                                                                             \
  "  mov.b32 %f, %w;\n"                                                                            \
  "widen_" name ":\n"                                                                              \
  "  cvt.f64.f32 " x ", %f;\n"                                                                     \
  "  bra known_" name ";\n"                                                                        \
  "double_" name ":\n"                                                                             \
  "  mov.b64 " x ", " u ";\n"                                                                      \
  "known_" name ":\n"

/* u = the %bytes bytes at p. */
#define LOAD_BITS(u, p, name)                                                                      \
  "  setp.eq.u64 %p, %bytes, 8;\n"                                                                 \
  "  @%p bra load8_" name ";\n"                                                                    \
  "  setp.eq.u64 %p, %bytes, 4;\n"                                                                 \
  "  @%p bra load4_" name ";\n"                                                                    \
  "  setp.eq.u64 %p, %bytes, 2;\n"                                                                 \
  "  @%p bra load2_" name ";\n"                                                                    \
  "  ld.global.u8 %w, [" p "];\n"                                                                  \
  "  bra loaded_" name ";\n"                                                                       \
  "load2_" name ":\n"                                                                              \
  "  ld.global.u16 %w, [" p "];\n"                                                                 \
  "  bra loaded_" name ";\n"                                                                       \
  "load4_" name ":\n"                                                                              \
  "  ld.global.u32 %w, [" p "];\n"                                                                 \
  "loaded_" name ":\n"                                                                             \
  "  cvt.u64.u32 " u ", %w;\n"                                                                     \
  "  bra all_" name ";\n"                                                                          \
  "load8_" name ":\n"                                                                              \
  "  ld.global.u64 " u ", [" p "];\n"                                                              \
  "all_" name ":\n"

/* The %bytes lowest bytes of u go to p. */
#define STORE_BITS(u, p)                                                                           \
  "  setp.eq.u64 %p, %bytes, 8;\n"                                                                 \
  "  @%p bra store8;\n"                                                                            \
  "  cvt.u32.u64 %w, " u ";\n"                                                                     \
  "  setp.eq.u64 %p, %bytes, 4;\n"                                                                 \
  "  @%p bra store4;\n"                                                                            \
  "  setp.eq.u64 %p, %bytes, 2;\n"                                                                 \
  "  @%p bra store2;\n"                                                                            \
  "  st.global.u8 [" p "], %w;\n"                                                                  \
  "  bra stored;\n"                                                                                \
  "store2:\n"                                                                                      \
  "  st.global.u16 [" p "], %w;\n"                                                                 \
  "  bra stored;\n"                                                                                \
  "store4:\n"                                                                                      \
  "  st.global.u32 [" p "], %w;\n"                                                                 \
  "  bra stored;\n"                                                                                \
  "store8:\n"                                                                                      \
  "  st.global.u64 [" p "], " u ";\n"                                                              \
  "stored:\n"

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
    "  .reg .b32 %bits, %low, %high;\n"
    "  .reg .b64 %p, %lo, %hi, %sum, %n, %v<4>, %at, %start, %k, %total, %key, %keys, %bytes;\n"
    "  mov.u32 %lane, %tid.x;\n"
    "  cvt.u64.u32 %i, %lane;\n"
    "  mov.u32 %size, %ntid.x;\n"
    "  cvt.u64.u32 %step, %size;\n"
    "  shl.b64 %bytes, %step, 3;\n"
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
    "  add.u64 %key, %i, 1;\n"
    "  mul.lo.u64 %key, %key, 0x9e3779b97f4a7c15;\n"
    "  mul.lo.u64 %keys, %step, 0x9e3779b97f4a7c15;\n"
    "  mov.u64 %total, 0;\n",
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    "  shl.b64 %start, %i, 3;\n"
    "  add.u64 %at, %start, %p;\n"
    "  setp.lt.u64 %cut, %start, %lo;\n"
    "  @%cut bra alone;\n"
    "  mad.lo.u64 %k, %bytes, 3, %start;\n"
    "  add.u64 %k, %k, 8;\n"
    "  setp.gt.u64 %cut, %k, %hi;\n"
    "  @%cut bra alone;\n"
    "  ld.global.u64 %v0, [%at];\n"
    "  add.u64 %at, %at, %bytes;\n"
    "  ld.global.u64 %v1, [%at];\n"
    "  add.u64 %at, %at, %bytes;\n"
    "  ld.global.u64 %v2, [%at];\n"
    "  add.u64 %at, %at, %bytes;\n"
    "  ld.global.u64 %v3, [%at];\n"
    ADD_WORD("%v0")
    ADD_WORD("%v1")
    ADD_WORD("%v2")
    ADD_WORD("%v3")
    "  bra loop;\n"
    "alone:\n"
    "  ld.global.u64 %v0, [%at];\n"
    "  setp.ge.u64 %cut, %start, %lo;\n"
    "  @%cut bra low_kept;\n"
    "  sub.u64 %k, %lo, %start;\n"
    "  shl.b64 %k, %k, 3;\n"
    "  cvt.u32.u64 %bits, %k;\n"
    "  shr.u64 %v0, %v0, %bits;\n"
    "  shl.b64 %v0, %v0, %bits;\n"
    "low_kept:\n"
    "  add.u64 %k, %start, 8;\n"
    "  setp.le.u64 %cut, %k, %hi;\n"
    "  @%cut bra high_kept;\n"
    "  sub.u64 %k, %k, %hi;\n"
    "  shl.b64 %k, %k, 3;\n"
    "  cvt.u32.u64 %bits, %k;\n"
    "  shl.b64 %v0, %v0, %bits;\n"
    "  shr.u64 %v0, %v0, %bits;\n"
    "high_kept:\n"
    ADD_WORD("%v0")
    "  bra loop;\n"
    "end:\n"
    ADD_LANES("16")
    ADD_LANES("8")
    ADD_LANES("4")
    ADD_LANES("2")
    ADD_LANES("1")
    "  and.b32 %low, %lane, 31;\n"
    "  setp.eq.u32 %cut, %low, 0;\n"
    "  @%cut red.global.add.u64 [%sum], %total;\n" /* a thread each, they would wait */
    "  ret;\n"
    "}\n"
    "\n",
    "// result[0] += bytes where a and b differ and (c == 0 or b and c agree);\n"
    "// result[1] = offset of the first of them, if below what it holds\n"
    ".visible .entry sct_compare(.param .u64 a, .param .u64 b, .param .u64 c,\n"
    "                            .param .u64 bytes, .param .u64 result)\n"
    "{\n"
    "  .reg .pred %done, %skip, %masked, %whole;\n"
    SHARED_REGISTERS
    "  .reg .b32 %bits, %few, %low, %high;\n"
    "  .reg .b64 %pa, %pb, %pc, %n, %result, %vc, %at, %m, %k, %va<4>, %vb<4>;\n"
    "  .reg .b64 %count, %first, %words, %four, %stop;\n"
    "  ld.param.u64 %pa, [a];\n"
    "  ld.param.u64 %pb, [b];\n"
    "  ld.param.u64 %pc, [c];\n"
    "  ld.param.u64 %n, [bytes];\n"
    "  ld.param.u64 %result, [result];\n"
    "  setp.ne.u64 %masked, %pc, 0;\n"
    "  and.b64 %k, %pa, 4;\n"
    "  setp.eq.u64 %whole, %k, 0;\n"
    "  cvta.to.global.u64 %pa, %pa;\n"
    "  cvta.to.global.u64 %pb, %pb;\n"
    "  cvta.to.global.u64 %pc, %pc;\n"
    "  cvta.to.global.u64 %result, %result;\n"
    THREAD_NUMBER
    THREAD_COUNT
    "  add.u64 %words, %n, 7;\n"
    "  shr.u64 %words, %words, 3;\n"
    "  shl.b64 %four, %step, 2;\n"
    "  mov.u64 %count, 0;\n"
    "  mov.u64 %first, 0xffffffffffffffff;\n",
    "four:\n" /* words together; one by one where they differ */
    "  setp.ge.u64 %done, %i, %words;\n"
    "  @%done bra end;\n"
    "  add.u64 %stop, %i, %four;\n"
    "  sub.u64 %k, %stop, %step;\n"
    "  setp.ge.u64 %skip, %k, %words;\n"
    "  @%skip bra loop;\n"
    "  shl.b64 %k, %step, 3;\n"
    "  shl.b64 %at, %i, 3;\n"
    LOAD_TWO("0")
    LOAD_TWO("1")
    LOAD_TWO("2")
    LOAD_TWO("3")
    "  xor.b64 %m, %va0, %vb0;\n"
    "  xor.b64 %t, %va1, %vb1;\n"
    "  or.b64 %m, %m, %t;\n"
    "  xor.b64 %t, %va2, %vb2;\n"
    "  or.b64 %m, %m, %t;\n"
    "  xor.b64 %t, %va3, %vb3;\n"
    "  or.b64 %m, %m, %t;\n"
    "  setp.ne.u64 %skip, %m, 0;\n"
    "  @%skip bra loop;\n"
    "  mov.u64 %i, %stop;\n"
    "  bra four;\n"
    "loop:\n"
    "  mov.u64 %k, 0;\n"
    "  shl.b64 %at, %i, 3;\n"
    LOAD_TWO("0")
    "  xor.b64 %m, %va0, %vb0;\n"
    "  setp.eq.u64 %skip, %m, 0;\n"
    "  @%skip bra next;\n"
    NONZERO_BYTES("%m")
    "  @!%masked bra unmasked;\n"
    "  add.u64 %k, %at, %pc;\n"
    "  ld.global.u64 %vc, [%k];\n"
    "  xor.b64 %vc, %vc, %vb0;\n"
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
    "  setp.ge.u64 %done, %i, %stop;\n"
    "  @%done bra four;\n"
    "  setp.lt.u64 %skip, %i, %words;\n"
    "  @%skip bra loop;\n"
    "end:\n"
    "  setp.eq.u64 %skip, %count, 0;\n"
    "  @%skip bra quiet;\n"
    "  red.global.add.u64 [%result], %count;\n"
    "  red.global.min.u64 [%result+8], %first;\n"
    "quiet:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// block k copies bytes: row k has the offsets in `to` and in `from`, and how many\n"
    ".visible .entry sct_spread(.param .u64 to, .param .u64 from, .param .u64 rows)\n"
    "{\n"
    "  .reg .pred %done;\n"
    "  .reg .b16 %v;\n"
    SHARED_REGISTERS
    "  .reg .b64 %to, %from, %n, %at, %k;\n"
    "  ld.param.u64 %to, [to];\n"
    "  ld.param.u64 %from, [from];\n"
    "  ld.param.u64 %at, [rows];\n"
    "  cvta.to.global.u64 %to, %to;\n"
    "  cvta.to.global.u64 %from, %from;\n"
    "  cvta.to.global.u64 %at, %at;\n"
    "  mov.u32 %block, %ctaid.x;\n"
    "  mul.wide.u32 %t, %block, 24;\n"
    "  add.u64 %at, %at, %t;\n"
    "  ld.global.u64 %k, [%at];\n"
    "  add.u64 %to, %to, %k;\n"
    "  ld.global.u64 %k, [%at+8];\n"
    "  add.u64 %from, %from, %k;\n"
    "  ld.global.u64 %n, [%at+16];\n"
    "  mov.u32 %lane, %tid.x;\n"
    "  cvt.u64.u32 %i, %lane;\n"
    "  mov.u32 %size, %ntid.x;\n"
    "  cvt.u64.u32 %step, %size;\n"
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    "  add.u64 %k, %from, %i;\n"
    "  ld.global.u8 %v, [%k];\n"
    "  add.u64 %k, %to, %i;\n"
    "  st.global.u8 [%k], %v;\n"
    "  add.u64 %i, %i, %step;\n"
    "  bra loop;\n"
    "end:\n"
    "  ret;\n"
    "}\n"
    "\n",
    "// element i of an index array gets its value: identity 1, permuted 2, constant 4, edges 8,\n"
    "// prefix 9, else random\n"
    ".visible .entry sct_index(.param .u64 p, .param .align 8 .b8 at[144],\n"
    "                          .param .align 8 .b8 how[56])\n"
    "{\n"
    "  .reg .pred %done, %p;\n"
    SHARED_REGISTERS
    PLACE_REGISTERS
    "  .reg .b32 %w, %half;\n"
    "  .reg .f64 %d, %g;\n"
    "  .reg .b64 %p0, %n, %fill, %bytes, %limit, %columns, %none, %seed, %v, %s, %k;\n"
    "  .reg .b64 %left, %right, %mask;\n"
    "  ld.param.u64 %p0, [p];\n"
    "  ld.param.u64 %n, [at];\n"
    "  ld.param.u64 %fill, [how];\n"
    "  ld.param.u64 %bytes, [how+8];\n"
    "  ld.param.u64 %limit, [how+16];\n"
    "  ld.param.u64 %columns, [how+24];\n"
    "  ld.param.u64 %none, [how+32];\n"
    "  ld.param.u64 %seed, [how+40];\n"
    "  ld.param.u64 %mask, [how+48];\n"
    "  cvt.u32.u64 %half, %mask;\n"
    "  mov.u64 %mask, 1;\n"
    "  shl.b64 %mask, %mask, %half;\n"
    "  sub.u64 %mask, %mask, 1;\n"
    "  cvta.to.global.u64 %p0, %p0;\n"
    THREAD_NUMBER
    THREAD_COUNT,
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    "  setp.eq.u64 %p, %none, 0;\n"
    "  @%p bra some;\n"
    "  not.b64 %s, %seed;\n"
    MIX64("%s"),
    "  and.b64 %t, %z, 7;\n"
    "  mov.u64 %v, 0xffffffffffffffff;\n"
    "  setp.eq.u64 %p, %t, 0;\n"
    "  @%p bra store;\n"
    "some:\n"
    "  setp.eq.u64 %p, %fill, 1;\n"
    "  @%p bra identity;\n"
    "  setp.eq.u64 %p, %fill, 2;\n"
    "  @%p bra permuted;\n"
    "  setp.eq.u64 %p, %fill, 4;\n"
    "  @%p bra constant;\n"
    "  setp.eq.u64 %p, %fill, 8;\n"
    "  @%p bra edges;\n"
    "  setp.eq.u64 %p, %fill, 9;\n"
    "  @%p bra prefix;\n"
    MIX64("%seed"),
    "  rem.u64 %v, %z, %limit;\n"
    "  bra store;\n"
    "identity:\n"
    "  rem.u64 %v, %i, %limit;\n"
    "  bra store;\n"
    "constant:\n"
    "  shr.u64 %v, %limit, 1;\n"
    "  bra store;\n"
    "permuted:\n"
    "  mov.u64 %v, 0;\n"
    "  setp.eq.u64 %p, %limit, 1;\n"
    "  @%p bra store;\n"
    "  mov.u64 %k, %i;\n"
    "  rem.u64 %v, %i, %limit;\n"
    "again:\n"
    "  shr.u64 %left, %v, %half;\n"
    "  and.b64 %right, %v, %mask;\n"
    PERMUTE_ROUND("0")
    PERMUTE_ROUND("1"),
    PERMUTE_ROUND("2")
    PERMUTE_ROUND("3"),
    "  shl.b64 %v, %left, %half;\n"
    "  or.b64 %v, %v, %right;\n"
    "  setp.ge.u64 %p, %v, %limit;\n"
    "  @%p bra again;\n"
    "  mov.u64 %i, %k;\n"
    "  bra store;\n"
    "edges:\n"
    MIX64("%seed"),
    "  rem.u64 %x, %z, 9;\n"
    "  cvt.rn.f64.u64 %d, %limit;\n"
    "  cvt.rn.f64.u64 %g, %x;\n"
    "  mul.rn.f64 %d, %d, %g;\n"
    "  mul.rn.f64 %d, %d, 0d3FC0000000000000;\n"
    "  cvt.rzi.s64.f64 %v, %d;\n"
    "  div.u64 %x, %z, 9;\n"
    "  rem.u64 %x, %x, 3;\n"
    "  add.s64 %v, %v, %x;\n"
    "  sub.s64 %v, %v, 1;\n"
    "  max.s64 %v, %v, 0;\n"
    "  sub.s64 %x, %limit, 1;\n"
    "  min.s64 %v, %v, %x;\n"
    "  bra store;\n"
    "prefix:\n"
    "  mov.u64 %k, %i;\n"
    "  div.u64 %i, %i, %columns;\n"
    MIX64("%seed"),
    "  mov.u64 %i, %k;\n"
    "  shr.u64 %s, %columns, 1;\n"
    "  sub.u64 %x, %columns, %s;\n"
    "  add.u64 %x, %x, 1;\n"
    "  rem.u64 %x, %z, %x;\n"
    "  add.u64 %s, %s, %x;\n"
    "  rem.u64 %x, %i, %columns;\n"
    "  setp.lt.u64 %p, %x, %s;\n"
    "  selp.u64 %v, 1, 0, %p;\n"
    "store:\n"
    PLACE,
    "  add.u64 %at, %at, %p0;\n"
    STORE_BITS("%v", "%at")
    "  add.u64 %i, %i, %step;\n"
    "  bra loop;\n"
    "end:\n"
    "  ret;\n"
    "}\n",
    "// values of a that are right get the bits of b's; *result += those that are wrong\n"
    "// type: 0 f16, 1 bf16, 2 f32, 3 f64, 4 e4m3, 5 e5m2\n"
    ".visible .entry sct_settle(.param .u64 a, .param .u64 b, .param .align 8 .b8 at[144],\n"
    "                           .param .align 8 .b8 how[40], .param .u64 result)\n"
    "{\n"
    "  .reg .pred %done, %p, %q, %nan, %values;\n"
    SHARED_REGISTERS
    PLACE_REGISTERS
    "  .reg .b16 %half;\n"
    "  .reg .b32 %w, %x32, %y32;\n"
    "  .reg .f32 %f;\n"
    "  .reg .f64 %got, %want, %d, %bound, %tolerance, %usual;\n"
    "  .reg .b64 %pa, %pb, %n, %type, %bytes, %computed, %ua, %ub, %result, %count;\n"
    "  ld.param.u64 %pa, [a];\n"
    "  ld.param.u64 %pb, [b];\n"
    "  ld.param.u64 %n, [at];\n"
    "  ld.param.u64 %type, [how];\n"
    "  ld.param.u64 %bytes, [how+8];\n"
    "  ld.param.u64 %computed, [how+16];\n"
    "  ld.param.f64 %tolerance, [how+24];\n"
    "  ld.param.f64 %usual, [how+32];\n"
    "  ld.param.u64 %result, [result];\n"
    "  cvta.to.global.u64 %pa, %pa;\n"
    "  cvta.to.global.u64 %pb, %pb;\n"
    "  cvta.to.global.u64 %result, %result;\n"
    THREAD_NUMBER
    THREAD_COUNT,
    "  mov.u64 %count, 0;\n"
    "loop:\n"
    "  setp.ge.u64 %done, %i, %n;\n"
    "  @%done bra end;\n"
    PLACE,
    "  add.u64 %x, %at, %pb;\n"
    "  add.u64 %at, %at, %pa;\n"
    LOAD_BITS("%ua", "%at", "a"),
    LOAD_BITS("%ub", "%x", "b"),
    "  setp.eq.u64 %p, %ua, %ub;\n"
    "  @%p bra next;\n"
    TO_DOUBLE("%got", "%ua", "a"),
    TO_DOUBLE("%want", "%ub", "b"),
    "  testp.notanumber.f64 %nan, %want;\n"
    "  setp.gt.f64 %values, %tolerance, 0d0000000000000000;\n"
    "  or.pred %q, %values, %nan;\n"
    "  @!%q bra wrong;\n"
    "  setp.gt.f64 %p, %tolerance, 0d3FF0000000000000;\n"
    "  @%p bra right;\n"
    "  testp.notanumber.f64 %p, %got;\n"
    "  or.pred %q, %p, %nan;\n"
    "  @!%q bra numbers;\n"
    "  and.pred %q, %p, %nan;\n"
    "  setp.ne.u64 %p, %computed, 0;\n"
    "  and.pred %q, %p, %q;\n"
    "  @%q bra right;\n"
    "  bra wrong;\n"
    "numbers:\n"
    "  setp.eq.f64 %p, %got, %want;\n"
    "  @%p bra right;\n"
    "  sub.rn.f64 %d, %got, %want;\n"
    "  abs.f64 %d, %d;\n"
    "  setp.lt.f64 %p, %d, 0d7FF0000000000000;\n"
    "  @!%p bra wrong;\n"
    "  abs.f64 %bound, %want;\n"
    "  max.f64 %bound, %bound, %usual;\n"
    "  mul.rn.f64 %bound, %bound, %tolerance;\n"
    "  setp.le.f64 %p, %d, %bound;\n"
    "  @!%p bra wrong;\n"
    "right:\n"
    STORE_BITS("%ub", "%at")
    "  bra next;\n"
    "wrong:\n"
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
    "}\n",
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
