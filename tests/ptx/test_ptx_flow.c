/* Control flow: lanes that part and meet, loops, guards, tables, calls; shuffles and barriers. */
#include "ptx_kernel.h"

static void run_words(const char *body, int threads, uint32_t *out) {
  sct_str text = {0};
  uint32_t in[256];
  for (uint32_t i = 0; i < 256; i++) {
    in[i] = i * i + 1;
  }
  sct_str_printf(&text, "%s%s", PTX_KERNEL, body);
  const kernel_run r = {
      .blocks = 1, .threads = threads, .in = in, .in_bytes = sizeof in, .out_bytes = 4L * threads};
  assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
  sct_str_free(&text);
}

static void nested_branches(void **state) {
  (void)state;
  uint32_t out[64];
  run_words("mov.u32 %r1, 0; and.b32 %r2, %i, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra EVEN;\n"
            "and.b32 %r3, %i, 2; setp.ne.s32 %p2, %r3, 0; @%p2 bra ODD2;\n"
            "add.s32 %r1, %r1, 100; bra ODDEND;\n"
            "ODD2: add.s32 %r1, %r1, 200;\n"
            "ODDEND: add.s32 %r1, %r1, 1; bra END;\n"
            "EVEN: setp.gt.u32 %p3, %i, 40; @!%p3 bra END; add.s32 %r1, %r1, 7;\n"
            "END: activemask.b32 %r5; add.s32 %r1, %r1, %i; \n"
            "setp.ne.u32 %p4, %r5, -1; @%p4 add.s32 %r1, %r1, 10000;\n" /* all lanes are back */
            "st.global.u32 [%po], %r1; ret;\n}\n",
            64, out);
  for (uint32_t i = 0; i < 64; i++) {
    const uint32_t want = i + (i % 2 ? (i & 2 ? 201 : 101) : i > 40 ? 7 : 0);
    assert_int_equal(out[i], want);
  }
}

/* Collatz steps: every lane leaves the loop at its own time, the work after it is done together. */
static void loops_of_different_length(void **state) {
  (void)state;
  uint32_t out[64];
  run_words("add.s32 %r1, %i, 1; mov.u32 %r2, 0;\n"
            "LOOP: setp.eq.s32 %p1, %r1, 1; @%p1 bra DONE;\n"
            "add.s32 %r2, %r2, 1; and.b32 %r3, %r1, 1; setp.eq.s32 %p2, %r3, 0; @%p2 bra EVEN;\n"
            "mad.lo.s32 %r1, %r1, 3, 1; bra LOOP;\n"
            "EVEN: shr.u32 %r1, %r1, 1; bra LOOP;\n"
            "DONE: activemask.b32 %r5; popc.b32 %r6, %r5; mad.lo.s32 %r2, %r6, 1000, %r2;\n"
            "st.global.u32 [%po], %r2; ret;\n}\n",
            64, out);
  for (uint32_t i = 0; i < 64; i++) {
    uint32_t n = 0;
    for (uint64_t v = i + 1; v != 1; n++) {
      v = v % 2 ? 3 * v + 1 : v / 2;
    }
    assert_int_equal(out[i], 32000 + n);
  }
}

/* Returns in branches: the lanes that stay go on alone. */
static void early_returns(void **state) {
  (void)state;
  uint32_t out[64];
  run_words("st.global.u32 [%po], 1; and.b32 %r1, %i, 3; setp.eq.s32 %p1, %r1, 0; @%p1 ret;\n"
            "st.global.u32 [%po], 2; setp.eq.s32 %p2, %r1, 1; @%p2 exit;\n"
            "setp.eq.s32 %p3, %r1, 2; @%p3 bra OUT; activemask.b32 %r2; st.global.u32 [%po], %r2;\n"
            "OUT: ret;\n}\n",
            64, out);
  static const uint32_t want[4] = {1, 2, 2, 0x88888888};
  for (int i = 0; i < 64; i++) {
    assert_int_equal(out[i], want[i & 3]);
  }
}

/* A guard on anything: only its lanes act. */
static void guards(void **state) {
  (void)state;
  uint32_t out[32];
  run_words(
      "setp.lt.u32 %p1, %i, 10; mov.u32 %r1, 5; @%p1 mov.u32 %r1, %i; @!%p1 add.s32 %r1, %r1, 1;\n"
      "@%p1 ld.global.u32 %r2, [%pi]; @!%p1 mov.u32 %r2, 3; mad.lo.s32 %r1, %r2, 100, %r1;\n"
      "setp.eq.u32 %p2, %i, 77; @%p2 trap;\n"
      "st.global.u32 [%po], %r1; ret;\n}\n",
      32, out);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(out[i], i < 10 ? (i * i + 1) * 100 + i : 306);
  }
}

static void branch_tables(void **state) {
  (void)state;
  uint32_t out[64];
  run_words("and.b32 %r1, %i, 3; mov.u32 %r2, 0;\n"
            "T: .branchtargets L0, L1, L2, L1;\nbrx.idx %r1, T;\n"
            "L0: mov.u32 %r2, 10; bra E;\nL1: mov.u32 %r2, 20; bra E;\nL2: mov.u32 %r2, 30;\n"
            "E: activemask.b32 %r3; popc.b32 %r3, %r3; add.s32 %r2, %r2, %r3;\n"
            "st.global.u32 [%po], %r2; ret;\n}\n",
            64, out);
  static const uint32_t want[4] = {42, 52, 62, 52};
  for (int i = 0; i < 64; i++) {
    assert_int_equal(out[i], want[i & 3]);
  }
}

/* Labels of inline assembly: the same name in two scopes. */
static void scoped_labels(void **state) {
  (void)state;
  uint32_t out[32];
  run_words("mov.u32 %r1, 0;\n"
            "{ .reg .pred p; L: add.s32 %r1, %r1, 1; setp.lt.s32 p, %r1, 3; @p bra L; }\n"
            "{ .reg .pred p; L: add.s32 %r1, %r1, 10; setp.lt.s32 p, %r1, 50; @p bra L; }\n"
            "st.global.u32 [%po], %r1; ret;\n}\n",
            32, out);
  assert_int_equal(out[9], 53);
}

#define FUNCS                                                                                      \
  PTX_HEAD                                                                                         \
  ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"                              \
  "ld.param.b32 %r1, [x]; add.s32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;\n}\n"                 \
  ".func (.param .b32 r) square(.param .b32 x)\n{\n.reg .b32 %r<3>; .reg .pred %p1;\n"             \
  "ld.param.b32 %r1, [x]; mul.lo.s32 %r2, %r1, %r1;\n"                                             \
  "setp.gt.s32 %p1, %r1, 20; @!%p1 bra S; mov.u32 %r2, 7; st.param.b32 [r], %r2; ret;\n"           \
  "S: st.param.b32 [r], %r2; ret;\n}\n"                                                            \
  ".func (.param .b32 r) fact(.param .b32 x)\n{\n.reg .b32 %r<6>; .reg .pred %p<3>;\n"             \
  ".local .align 4 .b8 keep[4]; .reg .b64 %d1; mov.u64 %d1, keep;\n"                               \
  "ld.param.b32 %r1, [x]; add.s32 %r5, %r1, 5; st.local.u32 [%d1], %r5;\n"                         \
  "setp.le.s32 %p1, %r1, 1; @%p1 bra B;\n"                                                         \
  "sub.s32 %r2, %r1, 1;\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;\n"                 \
  "call.uni (b), fact, (a); ld.param.b32 %r3, [b]; }\n"                                            \
  "ld.local.u32 %r4, [keep]; sub.s32 %r4, %r4, 5; ld.param.b32 %r5, [x];\n"                        \
  "setp.ne.s32 %p2, %r4, %r5; @%p2 trap;\n"                                                        \
  "mul.lo.s32 %r3, %r3, %r4; st.param.b32 [r], %r3; ret;\n"                                        \
  "B: mov.u32 %r3, 1; st.param.b32 [r], %r3; ret;\n}\n"                                            \
  ".global .align 8 .u64 table[2] = {twice, square};\n"                                            \
  ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"                                        \
  ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %d<32>;\n"                                      \
  "mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4; ld.param.u64 %d1, [out];\n"                      \
  "add.s64 %d1, %d1, %d0;\n"

static void run_funcs(const char *body, uint32_t *out) {
  sct_str text = {0};
  sct_str_printf(&text, "%s%s", FUNCS, body);
  const kernel_run r = {.blocks = 1, .threads = 32, .in = out, .in_bytes = 4, .out_bytes = 128};
  assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
  sct_str_free(&text);
}

static void calls(void **state) {
  (void)state;
  uint32_t out[32];
  run_funcs("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call.uni (b), square, (a);\n"
            "ld.param.b32 %r1, [b]; }\nst.global.u32 [%d1], %r1; ret;\n}\n",
            out);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(out[i], i > 20 ? 7 : i * i);
  }
  /* in a branch, and recursive with a different depth in every lane */
  run_funcs("and.b32 %r2, %r0, 7; mov.u32 %r1, 0; setp.eq.s32 %p1, %r2, 3; @%p1 bra SKIP;\n"
            "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), fact, (a);\n"
            "ld.param.b32 %r1, [b]; }\nSKIP: st.global.u32 [%d1], %r1; ret;\n}\n",
            out);
  static const uint32_t fact[8] = {1, 1, 2, 0, 24, 120, 720, 5040};
  for (int i = 0; i < 32; i++) {
    assert_int_equal(out[i], fact[i & 7]);
  }
}

static void calls_through_pointers(void **state) {
  (void)state;
  uint32_t out[32];
  run_funcs(
      "and.b32 %r2, %r0, 1; mul.wide.u32 %d2, %r2, 8; mov.u64 %d3, table; add.s64 %d3, %d3, %d2;\n"
      "ld.global.u64 %d4, [%d3];\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call (b), %d4, (a), proto;\nld.param.b32 %r1, [b]; }\n"
      "activemask.b32 %r3; popc.b32 %r3, %r3; mad.lo.s32 %r1, %r3, 1000, %r1;\n"
      "st.global.u32 [%d1], %r1; ret;\n}\n",
      out);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(out[i], 32000 + (i % 2 ? (i > 20 ? 7 : i * i) : 2 * i));
  }
}

/* ---- shuffles by their definition: source lane and segment */

static void shuffles(void **state) {
  (void)state;
  static const char *const modes[] = {"up", "down", "bfly", "idx"};
  for (int mode = 0; mode < 4; mode++) {
    for (int width = 4; width <= 32; width *= 2) {
      for (int by = 0; by < 32; by += by < 5 ? 1 : 9) {
        char body[400];
        uint32_t out[32];
        const int clamp = mode == 0 ? 0 : width - 1;
        snprintf(body, sizeof body,
                 "ld.global.u32 %%r1, [%%pi]; shfl.sync.%s.b32 %%r2|%%p1, %%r1, %d, %d, -1;\n"
                 "selp.u32 %%r3, 1000000, 0, %%p1; add.s32 %%r2, %%r2, %%r3;\n"
                 "st.global.u32 [%%po], %%r2; ret;\n}\n",
                 modes[mode], by, (32 - width) << 8 | clamp);
        run_words(body, 32, out);
        for (int i = 0; i < 32; i++) {
          const int base = i / width * width, in_segment = i % width;
          int from = mode == 0   ? in_segment - by
                     : mode == 1 ? in_segment + by
                     : mode == 2 ? (i ^ by) - base
                                 : by % width;
          bool inside = mode == 2 ? from < width : from >= 0 && from < width;
          if (mode == 2 && from < 0) { /* a lower segment is in range: not above the last lane */
            inside = true;
          }
          from = inside ? base + from : i;
          const uint32_t want = (uint32_t)(from * from + 1) + (inside ? 1000000 : 0);
          if (out[i] != want) {
            fail_msg("shfl.%s by %d of %d: lane %d gets %u, not %u", modes[mode], by, width, i,
                     out[i], want);
          }
        }
      }
    }
  }
}

static void barrier_reductions(void **state) {
  (void)state;
  uint32_t out[100];
  run_words("setp.gt.u32 %p1, %i, 41; bar.red.popc.u32 %r1, 0, %p1; bar.red.and.pred %p2, 0, %p1;\n"
            "bar.red.or.pred %p3, 1, !%p1; barrier.sync 3; selp.u32 %r2, 1000, 0, %p2;\n"
            "selp.u32 %r3, 10000, 0, %p3; add.s32 %r1, %r1, %r2; add.s32 %r1, %r1, %r3;\n"
            "st.global.u32 [%po], %r1; ret;\n}\n",
            100, out);
  for (int i = 0; i < 100; i++) {
    assert_int_equal(out[i], 58 + 10000);
  }
}

/* Threads that have ended: a diagnosis, or arrived, as the caller wants it. However the branch to
 * the end is written: lanes do not wait there for those that go to the barrier. */
static void exits_before_a_barrier(void **state) {
  (void)state;
  static const char *const texts[] = {
      PTX_KERNEL "setp.gt.u32 %p1, %i, 40; @%p1 ret; bar.sync 0;\n"
                 "st.global.u32 [%po], %i; ret;\n}\n",
      PTX_KERNEL "setp.gt.u32 %p1, %i, 40; @%p1 bra DONE; bar.sync 0;\n"
                 "st.global.u32 [%po], %i; DONE: ret;\n}\n",
      PTX_KERNEL "setp.gt.u32 %p1, %i, 40; @!%p1 bra GO; ret; GO: bar.sync 0;\n"
                 "st.global.u32 [%po], %i; ret;\n}\n",
      PTX_KERNEL "setp.gt.u32 %p1, %i, 40; setp.lt.u32 %p2, %i, 60; @%p1 bra A; bar.sync 0;\n"
                 "st.global.u32 [%po], %i; bra DONE; A: @%p2 bra DONE; exit; DONE: exit;\n}\n",
  };
  uint32_t in[96] = {0};
  for (int k = 0; k < 2 * SCT_COUNT(texts); k++) {
    const bool lenient = k % 2 == 1;
    sct_ptx_result result;
    const kernel_run r = {.blocks = 1,
                          .threads = 96,
                          .in = in,
                          .in_bytes = sizeof in,
                          .out_bytes = 4 * 96,
                          .lenient = lenient};
    assert_int_equal(run_kernel(texts[k / 2], &r, NULL, &result),
                     lenient ? SCT_PTX_CLEAN : SCT_PTX_BARRIER_DIVERGENCE);
    assert_int_equal(lenient ? result.counters.store.requests : 2, 2); /* lanes 0 to 40 */
    sct_ptx_result_free(&result);
  }
}

/* Producers arrive, consumers wait: named barriers with counts. */
static void arrive_and_wait(void **state) {
  (void)state;
  uint32_t out[64];
  run_words(
      ".shared .align 4 .b8 s[128];\nmov.u32 %r9, s; and.b32 %r1, %i, 31; shl.b32 %r2, %r1, 2;\n"
      "add.s32 %r2, %r9, %r2; setp.ge.u32 %p1, %i, 32; @%p1 bra MAKE;\n"
      "bar.sync 5, 64; xor.b32 %r4, %r1, 31; shl.b32 %r4, %r4, 2; add.s32 %r4, %r9, %r4;\n"
      "ld.shared.u32 %r3, [%r4]; st.global.u32 [%po], %r3; ret;\n"
      "MAKE: mul.lo.s32 %r3, %r1, 3; st.shared.u32 [%r2], %r3; bar.arrive 5, 64;\n"
      "st.global.u32 [%po], 9; ret;\n}\n",
      64, out);
  for (uint32_t i = 0; i < 64; i++) {
    assert_int_equal(out[i], i < 32 ? 3 * (31 - i) : 9);
  }
}

/* Thread and block numbers in three dimensions. */
static void special_registers(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  sct_ptx_memory *memory = NULL;
  sct_ptx_result result;
  uint64_t address[2];
  static const char text[] = PTX_HEAD
      ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<20>;\n.reg .b64 %d<4>;\n"
      "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %ntid.x;\n"
      "mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y;\n"
      "mov.u32 %r8, %nctaid.x; mov.u32 %r9, %ctaid.z; mov.u32 %r10, %nctaid.y;\n"
      "mad.lo.s32 %r11, %r2, %r4, %r1; mad.lo.s32 %r11, %r11, %r3, %r0;\n"  /* thread */
      "mad.lo.s32 %r12, %r9, %r10, %r7; mad.lo.s32 %r12, %r12, %r8, %r6;\n" /* block */
      "mul.lo.s32 %r13, %r3, %r4; mul.lo.s32 %r13, %r13, %r5; mad.lo.s32 %r14, %r12, %r13, %r11;\n"
      "mov.u32 %r15, %laneid; mov.u32 %r16, %warpid; shl.b32 %r17, %r16, 5; add.s32 %r17, %r17, "
      "%r15;\n"
      "mov.u32 %r18, %lanemask_lt; popc.b32 %r18, %r18; mul.wide.u32 %d1, %r14, 8;\n"
      "ld.param.u64 %d0, [out]; add.s64 %d0, %d0, %d1; st.global.v2.u32 [%d0], {%r17, "
      "%r18};\nret;\n}\n";
  assert_int_equal(sct_ptx_parse(&module, text, "sregs", &err), SCT_OK);
  sct_ptx_memory_new(&memory);
  const int threads = 5 * 4 * 3, blocks = 2 * 3 * 4;
  const sct_ptx_buffer b = {.name = "out", .bytes = 8L * threads * blocks, .output = true};
  assert_int_equal(sct_ptx_memory_add(memory, &address[0], &b, &err), SCT_OK);
  const void *args[] = {&address[0]};
  const sct_ptx_launch_opts opts = {.module = module,
                                    .kernel = "k",
                                    .grid = {2, 3, 4},
                                    .block = {5, 4, 3},
                                    .args = args,
                                    .n_args = 1};
  assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
  assert_int_equal(result.diag.kind,
                   SCT_PTX_CLEAN); /* every element was written: numbers are right */
  const uint32_t *out = (const uint32_t *)(const void *)sct_ptx_memory_data(memory, address[0]);
  for (int i = 0; i < threads * blocks; i++) {
    assert_int_equal(out[2 * i], i % threads);
    assert_int_equal(out[2 * i + 1], i % threads % 32);
  }
  sct_ptx_result_free(&result);
  sct_ptx_memory_free(memory);
  sct_ptx_module_free(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nested_branches),
                                     cmocka_unit_test(loops_of_different_length),
                                     cmocka_unit_test(early_returns),
                                     cmocka_unit_test(guards),
                                     cmocka_unit_test(branch_tables),
                                     cmocka_unit_test(scoped_labels),
                                     cmocka_unit_test(calls),
                                     cmocka_unit_test(calls_through_pointers),
                                     cmocka_unit_test(shuffles),
                                     cmocka_unit_test(barrier_reductions),
                                     cmocka_unit_test(exits_before_a_barrier),
                                     cmocka_unit_test(arrive_and_wait),
                                     cmocka_unit_test(special_registers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
