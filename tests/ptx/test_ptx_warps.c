/* What lanes, warps and copies do together: shuffles with any mask and clamp, warp and block
 * barriers with numbers and counts, votes of bar.red, groups of asynchronous copies. */
#include "ptx_kernel.h"

static sct_ptx_kind run_text(const char *ptx, int threads, const void *in, int64_t in_bytes,
                             void *out, int64_t out_bytes, char *diag, size_t diag_size) {
  sct_ptx_result result;
  const kernel_run r = {
      .blocks = 1, .threads = threads, .in = in, .in_bytes = in_bytes, .out_bytes = out_bytes};
  const sct_ptx_kind kind = run_kernel(ptx, &r, out, &result);
  snprintf(diag, diag_size, "%s", result.diag.text);
  sct_ptx_result_free(&result);
  return kind;
}

/* ---- shfl by the manual's pseudo code, in its own terms */

typedef struct source {
  int lane;
  bool inside;
} source;

static source shfl_source(int mode, int lane, uint32_t b, uint32_t c) {
  const int bval = (int)(b % 32), cval = (int)(c % 32), mask = (int)(c / 256 % 32);
  const int max_lane = (lane & mask) | (cval & ~mask & 31);
  const int min_lane = lane & mask;
  int j = 0;
  bool inside = false;
  if (mode == 0) {
    j = lane - bval;
    inside = j >= max_lane;
  } else if (mode == 1) {
    j = lane + bval;
    inside = j <= max_lane;
  } else if (mode == 2) {
    j = lane ^ bval;
    inside = j <= max_lane;
  } else {
    j = min_lane | (bval & ~mask & 31);
    inside = j <= max_lane;
  }
  return (source){inside ? j : lane, inside};
}

/* Every lane has its own b; c is any pattern of segment mask and clamp. */
static void shuffles_with_any_clamp(void **state) {
  (void)state;
  static const char *const modes[] = {"up", "down", "bfly", "idx"};
  const uint64_t seed = 91;
  sct_rng rng = sct_rng_new(seed);
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int round = 0; round < 160; round++) {
    const int mode = round % 4;
    const uint32_t c = (uint32_t)sct_rng_u64(&rng) & 0x1f1f;
    uint32_t in[64], out[64];
    char diag[512];
    sct_str text = {0};
    for (int i = 0; i < 32; i++) {
      in[i] = (uint32_t)sct_rng_u64(&rng);
      in[32 + i] = (uint32_t)sct_rng_below(&rng, 64); /* only five bits count */
    }
    sct_str_printf(&text,
                   "%sld.global.u32 %%r1, [%%pi]; ld.global.u32 %%r2, [%%pi+128];\n"
                   "shfl.sync.%s.b32 %%r3|%%p1, %%r1, %%r2, %u, 0xffffffff;\n"
                   "selp.u32 %%r4, 1, 0, %%p1; st.global.u32 [%%po], %%r3;\n"
                   "st.global.u32 [%%po+128], %%r4; ret;\n}\n",
                   PTX_KERNEL, modes[mode], c);
    assert_int_equal(
        run_text(sct_str_c(&text), 32, in, sizeof in, out, sizeof out, diag, sizeof diag),
        SCT_PTX_CLEAN);
    for (int i = 0; i < 32; i++) {
      const source s = shfl_source(mode, i, in[32 + i], c);
      if (out[i] != in[s.lane] || out[32 + i] != s.inside) {
        fail_msg("shfl.%s by %u, clamp %#x: lane %d does not get lane %d's", modes[mode],
                 in[32 + i], c, i, s.lane);
      }
    }
    sct_str_free(&text);
  }
}

/* The lanes of one side of a branch shuffle among themselves with their own mask. */
static void shuffles_on_one_side_of_a_branch(void **state) {
  (void)state;
  uint32_t in[32], out[32];
  char diag[512];
  for (uint32_t i = 0; i < 32; i++) {
    in[i] = 1000 + i;
  }
  assert_int_equal(run_text(PTX_KERNEL
                            "ld.global.u32 %r1, [%pi]; setp.lt.u32 %p1, %i, 16; @%p1 bra A;\n"
                            "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffff0000; bra B;\n"
                            "A: shfl.sync.bfly.b32 %r2, %r1, 3, 31, 0x0000ffff;\n"
                            "B: st.global.u32 [%po], %r2; ret;\n}\n",
                            32, in, sizeof in, out, sizeof out, diag, sizeof diag),
                   SCT_PTX_CLEAN);
  for (uint32_t i = 0; i < 32; i++) {
    assert_int_equal(out[i], 1000 + (i < 16 ? i ^ 3 : i ^ 1));
  }
}

/* A value of a lane that is not there is undefined; naming it is a diagnosis of its own. */
static void members_of_a_warp_operation(void **state) {
  (void)state;
  static const struct {
    const char *body;
    int threads;
    sct_ptx_kind kind;
    const char *text;
  } cases[] = {
      {"shfl.sync.down.b32 %r2, %i, 1, 31, 0xfffffffe;", 32, SCT_PTX_ABSENT_LANE,
       "leaves out the lane itself"},
      {"setp.eq.u32 %p1, %i, 3; @%p1 bra L; shfl.sync.down.b32 %r2, %i, 1, 31, -1; L: ", 32,
       SCT_PTX_ABSENT_LANE, "names lane 3"},
      {"setp.ge.u32 %p1, %i, 16; @%p1 bra L; shfl.sync.down.b32 %r2, %i, 1, 31, 0xffff;\n"
       "st.global.u32 [%po], %r2; L: ",
       32, SCT_PTX_UNDEFINED_STORE, ""},
      {"setp.ge.u32 %p1, %i, 16; @%p1 bra L; bar.warp.sync 0x1ffff; L: ", 32, SCT_PTX_ABSENT_LANE,
       "names lane 16"},
      {"setp.ge.u32 %p1, %i, 16; @%p1 bra L; bar.warp.sync 0xffff; L: ", 32, SCT_PTX_CLEAN, ""},
      {"bar.warp.sync -1;", 20, SCT_PTX_CLEAN, ""}, /* lanes that never were need not come */
      {"setp.eq.u32 %p1, %i, 3; @%p1 ret; bar.warp.sync -1;", 32, SCT_PTX_CLEAN, ""},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint32_t in[32] = {0}, out[32];
    char diag[512];
    sct_str text = {0};
    sct_str_printf(&text, "%s%s ret;\n}\n", PTX_KERNEL, cases[k].body);
    const sct_ptx_kind kind = run_text(sct_str_c(&text), cases[k].threads, in, sizeof in, out,
                                       sizeof out, diag, sizeof diag);
    if (kind != cases[k].kind || strstr(diag, cases[k].text) == NULL) {
      fail_msg("%s: %s '%s'", cases[k].body, sct_ptx_kind_name(kind), diag);
    }
    sct_str_free(&text);
  }
}

/* ---- block barriers */

/* A tree sum in shared memory is right only if each of its barriers holds all warps. */
static void barriers_order_a_tree_sum(void **state) {
  (void)state;
  static const char *const syncs[] = {"bar.sync 0",
                                      "barrier.sync 0",
                                      "bar.cta.sync 7",
                                      "barrier.cta.sync.aligned 15",
                                      "bar.sync 3, 256",
                                      "barrier.sync.aligned 2, 256",
                                      "mov.u32 %r9, 6; bar.sync %r9",
                                      "mov.u32 %r8, 256; bar.sync 1, %r8"};
  uint32_t in[256], out[256], sum = 0;
  for (uint32_t i = 0; i < 256; i++) {
    in[i] = i * 2654435761u;
    sum += in[i];
  }
  for (int k = 0; k < SCT_COUNT(syncs); k++) {
    char diag[512];
    sct_str text = {0};
    sct_str_printf(&text,
                   "%s.shared .align 4 .b8 s[1024];\nmov.u32 %%r1, s; shl.b32 %%r2, %%i, 2;\n"
                   "add.u32 %%r1, %%r1, %%r2; ld.global.u32 %%r3, [%%pi];\n"
                   "st.shared.u32 [%%r1], %%r3; mov.u32 %%r4, 128;\n"
                   "L: %s; setp.ge.u32 %%p1, %%i, %%r4; @%%p1 bra N; shl.b32 %%r5, %%r4, 2;\n"
                   "add.u32 %%r5, %%r1, %%r5; ld.shared.u32 %%r6, [%%r5];\n"
                   "ld.shared.u32 %%r7, [%%r1]; add.u32 %%r7, %%r7, %%r6;\n"
                   "st.shared.u32 [%%r1], %%r7;\n"
                   "N: shr.u32 %%r4, %%r4, 1; setp.ne.u32 %%p2, %%r4, 0; @%%p2 bra L;\n"
                   "%s; ld.shared.u32 %%r10, [s]; st.global.u32 [%%po], %%r10; ret;\n}\n",
                   PTX_KERNEL, syncs[k], syncs[k]);
    const sct_ptx_kind kind =
        run_text(sct_str_c(&text), 256, in, sizeof in, out, sizeof out, diag, sizeof diag);
    if (kind != SCT_PTX_CLEAN) {
      fail_msg("%s: %s", syncs[k], diag);
    }
    for (int i = 0; i < 256; i++) {
      assert_int_equal(out[i], sum);
    }
    sct_str_free(&text);
  }
}

/* Two halves of a block at barriers of their own numbers do not disturb each other. */
static void named_barriers_are_independent(void **state) {
  (void)state;
  uint32_t in[128] = {0}, out[128];
  char diag[512];
  assert_int_equal(
      run_text(PTX_KERNEL
               ".shared .align 4 .b8 s[512];\nmov.u32 %r1, s; shl.b32 %r2, %i, 2;\n"
               "add.u32 %r1, %r1, %r2; shr.u32 %r3, %i, 6; add.u32 %r3, %r3, 4;\n"
               "mov.u32 %r8, 0;\n"
               "L: add.u32 %r4, %i, %r8; st.shared.u32 [%r1], %r4; bar.sync %r3, 64;\n"
               "xor.b32 %r5, %i, 32; shl.b32 %r5, %r5, 2; mov.u32 %r6, s; add.u32 %r5, %r5, %r6;\n"
               "ld.shared.u32 %r7, [%r5]; bar.sync %r3, 64;\n"
               "add.u32 %r8, %r8, 1; and.b32 %r9, %i, 64; setp.eq.u32 %p1, %r9, 0;\n"
               "selp.u32 %r10, 2, 5, %p1; setp.lt.u32 %p2, %r8, %r10; @%p2 bra L;\n"
               "st.global.u32 [%po], %r7; ret;\n}\n",
               128, in, sizeof in, out, sizeof out, diag, sizeof diag),
      SCT_PTX_CLEAN);
  for (uint32_t i = 0; i < 128; i++) { /* the first half takes two rounds, the second five */
    assert_int_equal(out[i], (i ^ 32) + (i < 64 ? 1 : 4));
  }
}

static void barriers_gone_wrong(void **state) {
  (void)state;
  static const struct {
    const char *body;
    sct_ptx_kind kind;
  } cases[] = {
      {"bar.sync 16;", SCT_PTX_BAD_OPERAND},
      {"bar.sync 0, 33;", SCT_PTX_BAD_OPERAND},
      {"bar.sync %i;", SCT_PTX_BARRIER_DIVERGENCE},
      {"and.b32 %r1, %i, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0;", SCT_PTX_BARRIER_DIVERGENCE},
      {"setp.lt.u32 %p1, %i, 32; @%p1 bar.sync 1; @!%p1 bar.sync 2;", SCT_PTX_DEADLOCK},
      {"setp.lt.u32 %p1, %i, 32; @%p1 bra L; bar.sync 1; L: ", SCT_PTX_BARRIER_DIVERGENCE},
      {"bar.sync 0, 96;", SCT_PTX_DEADLOCK},
      {".reg .b32 %q; bar.sync %q;", SCT_PTX_UNDEFINED_BRANCH},
      {"setp.lt.u32 %p1, %i, 32; @%p1 bar.sync 1; @!%p1 bar.sync 1;", SCT_PTX_CLEAN},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint32_t in[64] = {0}, out[64];
    char diag[512];
    sct_str text = {0};
    sct_str_printf(&text, "%s%s ret;\n}\n", PTX_KERNEL, cases[k].body);
    const sct_ptx_kind kind =
        run_text(sct_str_c(&text), 64, in, sizeof in, out, sizeof out, diag, sizeof diag);
    if (kind != cases[k].kind) {
      fail_msg("%s: %s '%s'", cases[k].body, sct_ptx_kind_name(kind), diag);
    }
    sct_str_free(&text);
  }
}

/* bar.red of random predicates: count, all, any; over the block, and over part of it. */
static void votes_of_barriers(void **state) {
  (void)state;
  const uint64_t seed = 92;
  sct_rng rng = sct_rng_new(seed);
  print_message("seed %llu\n", (unsigned long long)seed);
  for (int round = 0; round < 30; round++) {
    uint32_t in[96], out[96];
    char diag[512];
    const bool two = round & 1; /* warp 2 votes at a barrier of its own */
    for (int i = 0; i < 96; i++) {
      in[i] = round < 3 ? 1 : round < 6 ? 0 : sct_rng_below(&rng, round) == 0;
    }
    assert_int_equal(
        run_text(two ? PTX_KERNEL
                     "ld.global.u32 %r1, [%pi]; setp.ne.u32 %p1, %r1, 0; setp.ge.u32 %p2, %i, 64;\n"
                     "selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 32, 64, %p2;\n"
                     "bar.red.popc.u32 %r4, %r2, %r3, %p1; bar.red.and.pred %p3, %r2, %r3, %p1;\n"
                     "barrier.red.or.pred %p4, %r2, %r3, !%p1;\n"
                     "selp.u32 %r5, 1000, 0, %p3; selp.u32 %r6, 2000, 0, %p4;\n"
                     "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6;\n"
                     "st.global.u32 [%po], %r4; ret;\n}\n"
                     : PTX_KERNEL "ld.global.u32 %r1, [%pi]; setp.ne.u32 %p1, %r1, 0;\n"
                                  "bar.red.popc.u32 %r4, 0, %p1; bar.red.and.pred %p3, 0, %p1;\n"
                                  "bar.cta.red.or.pred %p4, 0, !%p1;\n"
                                  "selp.u32 %r5, 1000, 0, %p3; selp.u32 %r6, 2000, 0, %p4;\n"
                                  "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6;\n"
                                  "st.global.u32 [%po], %r4; ret;\n}\n",
                 96, in, sizeof in, out, sizeof out, diag, sizeof diag),
        SCT_PTX_CLEAN);
    for (int i = 0; i < 96; i++) {
      uint32_t yes = 0, all = 0;
      for (int j = 0; j < 96; j++) {
        if (!two || (j >= 64) == (i >= 64)) {
          yes += in[j];
          all++;
        }
      }
      assert_int_equal(out[i], yes + (yes == all ? 1000 : 0) + (yes != all ? 2000 : 0));
    }
  }
}

/* ---- asynchronous copies */

#define ASYNC                                                                                      \
  PTX_KERNEL ".shared .align 16 .b8 s[4096];\nmov.u32 %r1, s; shl.b32 %r2, %i, 5;\n"               \
             "add.u32 %r1, %r1, %r2; mul.wide.u32 %d1, %i, 16; add.s64 %d1, %in, %d1;\n"

/* Every width and form, a shortened source: what lies behind it is zero. */
static void copies_of_every_width(void **state) {
  (void)state;
  static const struct {
    const char *instr;
    int bytes, from; /* copied; taken from the source */
  } forms[] = {
      {"cp.async.ca.shared.global [%r1], [%d1], 4", 4, 4},
      {"cp.async.ca.shared.global [%r1], [%d1], 8", 8, 8},
      {"cp.async.ca.shared.global [%r1], [%d1], 16", 16, 16},
      {"cp.async.cg.shared.global [%r1], [%d1], 16", 16, 16},
      {"cp.async.ca.shared.global [%r1], [%d1], 8, 4", 8, 4},
      {"cp.async.cg.shared.global [%r1], [%d1], 16, 0", 16, 0},
      {"mov.u32 %r9, 12; cp.async.cg.shared.global [%r1], [%d1], 16, %r9", 16, 12},
      {"cp.async.cg.shared.global.L2::128B [%r1], [%d1], 16", 16, 16},
  };
  uint8_t in[64 * 16], out[64 * 16];
  for (int i = 0; i < (int)sizeof in; i++) {
    in[i] = (uint8_t)(i * 7 + 1);
  }
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    for (int all = 0; all < 2; all++) {
      char diag[512];
      sct_str text = {0};
      sct_str_printf(&text,
                     "%smov.u32 %%r5, 9; st.shared.v4.u32 [%%r1], {%%r5, %%r5, %%r5, %%r5};\n%s;\n"
                     "%s;\nld.shared.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%r1];\n"
                     "mul.wide.u32 %%d2, %%i, 16; add.s64 %%d2, %%out, %%d2;\n"
                     "st.global.v4.u32 [%%d2], {%%r10, %%r11, %%r12, %%r13}; ret;\n}\n",
                     ASYNC, forms[k].instr,
                     all ? "cp.async.wait_all" : "cp.async.commit_group; cp.async.wait_group 0");
      const sct_ptx_kind kind =
          run_text(sct_str_c(&text), 64, in, sizeof in, out, sizeof out, diag, sizeof diag);
      if (kind != SCT_PTX_CLEAN) {
        fail_msg("%s: %s", forms[k].instr, diag);
      }
      for (int i = 0; i < 64 * 16; i++) {
        const int at = i % 16;
        const int want = at < forms[k].from ? in[i] : at < forms[k].bytes ? 0 : at % 4 ? 0 : 9;
        if (out[i] != want) {
          fail_msg("%s: byte %d is %d, not %d", forms[k].instr, i, out[i], want);
        }
      }
      sct_str_free(&text);
    }
  }
}

/* Four groups; after wait_group n all but the n youngest may be read, no other. */
static void groups_arrive_in_order(void **state) {
  (void)state;
  uint8_t in[1024] = {1};
  uint32_t out[64];
  for (int wait = 0; wait <= 4; wait++) {
    for (int group = 0; group < 4; group++) {
      char diag[512];
      sct_str text = {0};
      sct_str_append(&text, ASYNC);
      for (int g = 0; g < 4; g++) {
        sct_str_printf(&text,
                       "cp.async.ca.shared.global [%%r1+%d], [%%d1], 4;\n"
                       "cp.async.commit_group;\n",
                       4 * g);
      }
      sct_str_printf(&text,
                     "cp.async.wait_group %d;\nld.shared.u32 %%r3, [%%r1+%d];\n"
                     "st.global.u32 [%%po], %%r3; ret;\n}\n",
                     wait, 4 * group);
      const sct_ptx_kind kind =
          run_text(sct_str_c(&text), 64, in, sizeof in, out, sizeof out, diag, sizeof diag);
      const bool there = group < 4 - wait;
      if (there != (kind == SCT_PTX_CLEAN) || (!there && kind != SCT_PTX_ASYNC_EARLY)) {
        fail_msg("wait_group %d, group %d: %s %s", wait, group, sct_ptx_kind_name(kind), diag);
      }
      if (there) {
        assert_int_equal(out[0], 1);
      }
      sct_str_free(&text);
    }
  }
}

/* Copies not committed belong to no group: wait_group 0 does not wait for them, wait_all does. */
static void uncommitted_copies(void **state) {
  (void)state;
  uint8_t in[1024] = {1};
  for (int all = 0; all < 2; all++) {
    uint32_t out[64];
    char diag[512];
    sct_str text = {0};
    sct_str_printf(&text,
                   "%scp.async.ca.shared.global [%%r1], [%%d1], 4;\n%s;\n"
                   "ld.shared.u32 %%r3, [%%r1]; st.global.u32 [%%po], %%r3; ret;\n}\n",
                   ASYNC, all ? "cp.async.wait_all" : "cp.async.wait_group 0");
    assert_int_equal(
        run_text(sct_str_c(&text), 64, in, sizeof in, out, sizeof out, diag, sizeof diag),
        all ? SCT_PTX_CLEAN : SCT_PTX_ASYNC_EARLY);
    sct_str_free(&text);
  }
}

static void copies_gone_wrong(void **state) {
  (void)state;
  static const struct {
    const char *body;
    sct_ptx_kind kind;
  } cases[] = {
      {"cp.async.ca.shared.global [%r1+2], [%d1], 4; cp.async.wait_all;", SCT_PTX_MISALIGNED},
      {"cp.async.ca.shared.global [%r1], [%d1+4], 8; cp.async.wait_all;", SCT_PTX_MISALIGNED},
      {"cp.async.ca.shared.global [%r1+8192], [%d1], 4; cp.async.wait_all;", SCT_PTX_OUT_OF_BOUNDS},
      {"cp.async.ca.shared.global [%r1], [%d1+1024], 4; cp.async.wait_all;", SCT_PTX_OUT_OF_BOUNDS},
      {"cp.async.ca.shared.global [%r1], [%d1+1024], 4, 0; cp.async.wait_all;", SCT_PTX_CLEAN},
      /* another warp reads what this one waited for, without a barrier */
      {"cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.wait_all; xor.b32 %r3, %i, 32;\n"
       "shl.b32 %r3, %r3, 5; mov.u32 %r4, s; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3];",
       SCT_PTX_SHARED_RACE},
      {"cp.async.ca.shared.global [%r1], [%d1], 4; cp.async.wait_all; xor.b32 %r3, %i, 32;\n"
       "shl.b32 %r3, %r3, 5; mov.u32 %r4, s; add.u32 %r3, %r3, %r4; bar.sync 0;\n"
       "ld.shared.u32 %r5, [%r3];",
       SCT_PTX_CLEAN},
  };
  uint8_t in[1024] = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint32_t out[64];
    char diag[512];
    sct_str text = {0};
    sct_str_printf(&text, "%s%s ret;\n}\n", ASYNC, cases[k].body);
    const sct_ptx_kind kind =
        run_text(sct_str_c(&text), 64, in, sizeof in, out, sizeof out, diag, sizeof diag);
    if (kind != cases[k].kind) {
      fail_msg("%s: %s '%s'", cases[k].body, sct_ptx_kind_name(kind), diag);
    }
    sct_str_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shuffles_with_any_clamp),
                                     cmocka_unit_test(shuffles_on_one_side_of_a_branch),
                                     cmocka_unit_test(members_of_a_warp_operation),
                                     cmocka_unit_test(barriers_order_a_tree_sum),
                                     cmocka_unit_test(named_barriers_are_independent),
                                     cmocka_unit_test(barriers_gone_wrong),
                                     cmocka_unit_test(votes_of_barriers),
                                     cmocka_unit_test(copies_of_every_width),
                                     cmocka_unit_test(groups_arrive_in_order),
                                     cmocka_unit_test(uncommitted_copies),
                                     cmocka_unit_test(copies_gone_wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
