/* Loads and stores: every width, sign, vector length, space and hint; and what memory remembers of
 * definedness. */
#include "ptx_kernel.h"

/* Bytes 1, 2, 3, ... with the upper bit set in every third. */
static void fill(uint8_t *bytes, int n) {
  for (int i = 0; i < n; i++) {
    bytes[i] = (uint8_t)(i % 3 == 0 ? 0x80 + i : i);
  }
}

static uint64_t word_at(const uint8_t *bytes, int at, int width, bool sign) {
  uint64_t v = 0;
  for (int k = width - 1; k >= 0; k--) {
    v = v << 8 | bytes[at + k];
  }
  return sign && bytes[at + width - 1] & 0x80 && width < 8 ? v | ~(uint64_t)0 << 8 * width : v;
}

/* Each thread loads at 16 * i and stores the value extended to 64 bits. */
static void scalar_loads(void **state) {
  (void)state;
  static const struct {
    const char *load, *reg, *widen;
    int width;
    bool sign;
  } forms[] = {
      {"ld.global.u8", "%h0", "cvt.u64.u16 %d1, %h0", 1, false},
      {"ld.global.s8", "%h0", "cvt.s64.s16 %d1, %h0", 1, true},
      {"ld.global.u8", "%r0", "cvt.u64.u32 %d1, %r0", 1, false},
      {"ld.global.s8", "%r0", "cvt.s64.s32 %d1, %r0", 1, true},
      {"ld.global.s8", "%d0", "mov.b64 %d1, %d0", 1, true},
      {"ld.global.b8", "%h0", "cvt.u64.u16 %d1, %h0", 1, false},
      {"ld.global.u16", "%h0", "cvt.u64.u16 %d1, %h0", 2, false},
      {"ld.global.s16", "%r0", "cvt.s64.s32 %d1, %r0", 2, true},
      {"ld.global.s16", "%d0", "mov.b64 %d1, %d0", 2, true},
      {"ld.global.b16", "%h0", "cvt.u64.u16 %d1, %h0", 2, false},
      {"ld.global.u32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.s32", "%d0", "mov.b64 %d1, %d0", 4, true},
      {"ld.global.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.b64", "%d0", "mov.b64 %d1, %d0", 8, false},
      {"ld.global.nc.f64", "%d0", "mov.b64 %d1, %d0", 8, false},
      {"ld.global.nc.L1::no_allocate.L2::256B.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.L2::128B.b32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.L1::evict_last.b32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.ca.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.cg.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.cs.u16", "%h0", "cvt.u64.u16 %d1, %h0", 2, false},
      {"ld.global.lu.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.global.cv.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.volatile.global.f32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.relaxed.gpu.global.u32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.acquire.sys.global.u32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ld.u32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
      {"ldu.global.u32", "%r0", "cvt.u64.u32 %d1, %r0", 4, false},
  };
  uint8_t in[64 * 16];
  uint64_t out[64];
  fill(in, sizeof in);
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    sct_str text = {0};
    sct_str_printf(&text,
                   "%sshl.b64 %%d2, %%o, 2; add.s64 %%d3, %%in, %%d2;\n%s %s, [%%d3];\n%s;\n"
                   "shl.b64 %%d4, %%o, 1; add.s64 %%d5, %%out, %%d4; st.global.u64 [%%d5], %%d1;\n"
                   "ret;\n}\n",
                   PTX_KERNEL, forms[k].load, forms[k].reg, forms[k].widen);
    const kernel_run r = {
        .blocks = 2, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
    assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
    for (int i = 0; i < 64; i++) {
      const uint64_t want = word_at(in, 16 * i, forms[k].width, forms[k].sign);
      if (out[i] != want) {
        fail_msg("%s %s: thread %d %#llx, not %#llx", forms[k].load, forms[k].reg, i,
                 (unsigned long long)out[i], (unsigned long long)want);
      }
    }
    sct_str_free(&text);
  }
}

/* Copies `width` bytes a thread through registers and a space. */
static void vectors_through_every_space(void **state) {
  (void)state;
  static const struct {
    const char *type, *regs;
    int n, width;
  } forms[] = {{".u8", "%h0", 1, 1},
               {".u16", "%h0", 1, 2},
               {".f32", "%r0", 1, 4},
               {".u64", "%d10", 1, 8},
               {".v2.u8", "{%h0,%h1}", 2, 2},
               {".v4.u8", "{%h0,%h1,%h2,%h3}", 4, 4},
               {".v2.u16", "{%h0,%h1}", 2, 4},
               {".v4.u16", "{%h0,%h1,%h2,%h3}", 4, 8},
               {".v2.f32", "{%r0,%r1}", 2, 8},
               {".v4.b32", "{%r0,%r1,%r2,%r3}", 4, 16},
               {".v2.f64", "{%d10,%d11}", 2, 16},
               {".v4.f64", "{%d10,%d11,%d12,%d13}", 4, 32},
               {".v8.f32", "{%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}", 8, 32},
               {".v4.b64", "{%d10,%d11,%d12,%d13}", 4, 32}};
  uint8_t in[96 * 32], out[96 * 32];
  fill(in, sizeof in);
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    for (int space = 0; space < 4; space++) {
      const char *via = space == 1 ? "shared" : space == 2 ? "local" : "generic";
      const int width = forms[k].width;
      sct_str text = {0};
      sct_str_printf(&text,
                     "%s.shared .align 32 .b8 sh[3072];\n.local .align 32 .b8 loc[64];\n"
                     "mul.wide.u32 %%d1, %%i, %d;\nadd.s64 %%d2, %%in, %%d1;\n"
                     "add.s64 %%d3, %%out, %%d1;\nmov.u64 %%d4, %s;\n",
                     PTX_KERNEL, width, space == 2 ? "loc" : "sh");
      if (space == 1 || space == 3) {
        sct_str_append(
            &text, "rem.u32 %r20, %i, 32; mul.wide.u32 %d5, %r20, 32; add.s64 %d4, %d4, %d5;\n");
      }
      if (space == 3) {
        sct_str_append(&text, "cvta.shared.u64 %d4, %d4;\n");
      }
      sct_str_printf(&text, "ld.global%s %s, [%%d2];\n", forms[k].type, forms[k].regs);
      if (space > 0) {
        const char *dot = space == 3 ? "" : ".";
        const char *name = space == 3 ? "" : via;
        sct_str_printf(&text, "st%s%s%s [%%d4], %s;\nld%s%s%s %s, [%%d4];\n", dot, name,
                       forms[k].type, forms[k].regs, dot, name, forms[k].type, forms[k].regs);
      }
      sct_str_printf(&text, "st.global%s [%%d3], %s;\nret;\n}\n", forms[k].type, forms[k].regs);
      const kernel_run r = {
          .blocks = 3, .threads = 32, .in = in, .in_bytes = 96L * width, .out_bytes = 96L * width};
      memset(out, 0, sizeof out);
      assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
      if (memcmp(in, out, 96 * (size_t)width) != 0) {
        fail_msg("%s through %s changes bytes", forms[k].type, space > 0 ? via : "registers");
      }
      sct_str_free(&text);
    }
  }
}

static void store_hints(void **state) {
  (void)state;
  static const char *const forms[] = {"st.global.wb.f32",
                                      "st.global.cg.f32",
                                      "st.global.cs.f32",
                                      "st.global.wt.f32",
                                      "st.global.L1::no_allocate.f32",
                                      "st.volatile.global.f32",
                                      "st.relaxed.gpu.global.b32",
                                      "st.release.gpu.global.b32",
                                      "st.weak.global.b32",
                                      "st.b32"};
  uint32_t in[32], out[32];
  fill((uint8_t *)in, sizeof in);
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    sct_str text = {0};
    sct_str_printf(&text, "%sld.global.u32 %%r0, [%%pi];\n%s [%%po], %%r0;\nret;\n}\n", PTX_KERNEL,
                   forms[k]);
    const kernel_run r = {
        .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
    assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
    assert_memory_equal(in, out, sizeof in);
    sct_str_free(&text);
  }
}

/* A cache policy is made, passed and has no effect on data. */
static void cache_policy_operand(void **state) {
  (void)state;
  uint32_t in[32], out[32];
  fill((uint8_t *)in, sizeof in);
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  assert_int_equal(run_kernel(PTX_KERNEL "createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;\n"
                                         "prefetch.global.L2 [%pi];\n"
                                         "ld.global.L2::cache_hint.f32 %r0, [%pi], %d1;\n"
                                         "st.global.L2::cache_hint.f32 [%po], %r0, %d1;\nret;\n}\n",
                              &r, out, NULL),
                   SCT_PTX_CLEAN);
  assert_memory_equal(in, out, sizeof in);
}

/* Module variables: initialised constants, a global table, addresses in a table. */
static void module_variables(void **state) {
  (void)state;
  static const char text[] = PTX_HEAD
      ".const .align 4 .f32 coef[4] = {0f3F800000, 2.0, 0f40400000, 4.0};\n"
      ".global .align 4 .u32 table[4] = {10, 0x14, 30, 40};\n"
      ".global .align 1 .b8 bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
      ".global .align 8 .u64 where[2] = {table, generic(bytes)+4};\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n"
      "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 3; mul.wide.u32 %d0, %r1, 4;\n"
      "mov.u64 %d1, coef; add.s64 %d1, %d1, %d0; ld.const.f32 %r2, [%d1];\n"
      "mov.u64 %d2, table; add.s64 %d2, %d2, %d0; ld.global.u32 %r3, [%d2];\n"
      "ld.global.u64 %d3, [where+8]; ld.global.u32 %r4, [%d3];\n"
      "ld.global.u64 %d4, [where]; ld.global.u32 %r5, [%d4+4];\n"
      "ld.param.u64 %d5, [out]; mul.wide.u32 %d6, %r0, 16; add.s64 %d5, %d5, %d6;\n"
      "st.global.v4.u32 [%d5], {%r2, %r3, %r4, %r5};\nret;\n}\n";
  uint32_t out[32][4];
  const kernel_run r = {
      .blocks = 1, .threads = 32, .out_bytes = sizeof out, .in = out, .in_bytes = 4};
  assert_int_equal(run_kernel(text, &r, out, NULL), SCT_PTX_CLEAN);
  static const uint32_t coef[4] = {0x3f800000, 0x40000000, 0x40400000, 0x40800000};
  for (int i = 0; i < 32; i++) {
    assert_int_equal(out[i][0], coef[i & 3]);
    assert_int_equal(out[i][1], 10 * (i & 3) + 10);
    assert_int_equal(out[i][2], 0x08070605);
    assert_int_equal(out[i][3], 20);
  }
}

/* Overruns of variables and of local arrays are seen too. */
static void small_overruns(void **state) {
  (void)state;
  static const struct {
    const char *body;
    sct_ptx_kind kind;
  } cases[] = {
      {".local .align 4 .b8 l[16];\nmov.u64 %d1, l; st.local.u32 [%d1+12], %i; ret;\n}\n",
       SCT_PTX_CLEAN},
      {".local .align 4 .b8 l[16];\nmov.u64 %d1, l; st.local.u32 [%d1+16], %i; ret;\n}\n",
       SCT_PTX_OUT_OF_BOUNDS},
      {".local .align 4 .b8 l[16];\nmov.u64 %d1, l; ld.local.u32 %r1, [%d1+2]; ret;\n}\n",
       SCT_PTX_MISALIGNED},
      {".shared .align 4 .b8 s[16];\nmov.u32 %r1, s; st.shared.u32 [%r1+16], %i; ret;\n}\n",
       SCT_PTX_OUT_OF_BOUNDS},
      {".shared .align 4 .b8 s[16];\nst.shared.u32 [s-4], %i; ret;\n}\n", SCT_PTX_OUT_OF_BOUNDS},
      /* a load of a whole word reaches beyond an array that is aligned so, and nothing else does */
      {".shared .align 16 .b8 s[12];\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s]; ret;\n}\n",
       SCT_PTX_CLEAN},
      {".shared .align 16 .b8 s[12];\nld.shared.u32 %r1, [s+12]; ret;\n}\n", SCT_PTX_OUT_OF_BOUNDS},
      {".shared .align 4 .b8 s[12];\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s]; ret;\n}\n",
       SCT_PTX_OUT_OF_BOUNDS},
      {".shared .align 16 .b8 s[12];\nst.shared.v4.u32 [s], {%i, %i, %i, %i}; ret;\n}\n",
       SCT_PTX_OUT_OF_BOUNDS},
      {"ld.param.u64 %d1, [out+8]; ret;\n}\n", SCT_PTX_OUT_OF_BOUNDS},
      {"ld.shared.u32 %r1, [64]; ret;\n}\n", SCT_PTX_OUT_OF_BOUNDS},
      {"st.global.u32 [%po+128], %i; ret;\n}\n", SCT_PTX_OUT_OF_BOUNDS},
      {"ld.global.u32 %r1, [%pi+-4]; ret;\n}\n", SCT_PTX_OUT_OF_BOUNDS},
  };
  uint32_t in[32] = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str text = {0};
    sct_ptx_result result;
    sct_str_printf(&text, "%s%s", PTX_KERNEL, cases[k].body);
    const kernel_run r = {
        .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = 128};
    if (run_kernel(sct_str_c(&text), &r, NULL, &result) != cases[k].kind) {
      fail_msg("%s: %s", cases[k].body, sct_ptx_kind_name(result.diag.kind));
    }
    sct_ptx_result_free(&result);
    sct_str_free(&text);
  }
}

/* ---- definedness: which bits of an undefined word survive which operation */

/* %r0 holds a word whose upper half is undefined, %h1 an undefined half, %d0 a 64-bit word whose
 * upper word is undefined. */
#define HALF                                                                                       \
  PTX_KERNEL ".shared .align 8 .b8 s[1024];\nmul.wide.u32 %d20, %i, 8; mov.u64 %d21, s;\n"         \
             "add.s64 %d21, %d21, %d20; cvt.u16.u32 %h0, %i; st.shared.u16 [%d21], %h0;\n"         \
             "ld.shared.u32 %r0, [%d21]; ld.shared.u16 %h1, [%d21+2];\n"                           \
             "cvt.u64.u32 %d9, %i; mov.b64 {%r8, _}, %d9; mov.b64 %d0, {%r8, %r9};\n"

static void undefined_bits_travel(void **state) {
  (void)state;
  static const struct {
    const char *body;
    bool clean;
  } cases[] = {
      {"mov.u32 %r1, %r0;", false},
      {"and.b32 %r1, %r0, 0xffff;", true},
      {"and.b32 %r1, %r0, 0x1ffff;", false},
      {"or.b32 %r1, %r0, 0xffff0000;", true},
      {"or.b32 %r1, %r0, 0xfffe0000;", false},
      {"xor.b32 %r1, %r0, %r0;", false}, /* known to be 0, but nobody writes this */
      {"shl.b32 %r1, %r0, 16;", true},
      {"shl.b32 %r1, %r0, 15;", false},
      {"shr.u32 %r1, %r0, 16;", false},
      {"shl.b32 %r1, %r0, 16; shr.u32 %r1, %r1, 16;", true},
      {"shl.b32 %r1, %r0, 16; shr.s32 %r1, %r1, 16;", true},
      {"prmt.b32 %r1, %r0, 0, 0x1010;", true},
      {"prmt.b32 %r1, %r0, 0, 0x1210;", false},
      {"prmt.b32 %r1, %r0, 0x77, 0x4110;", true},
      {"cvt.u16.u32 %h2, %r0; cvt.u32.u16 %r1, %h2;", true},
      {"cvt.u32.u16 %r1, %h1;", false},
      {"cvt.s32.s8 %r1, %r0;", true}, /* only the type's own bits are read */
      {"cvt.s32.s16 %r1, %r0;", true},
      {"shr.u32 %r1, %r0, 1; cvt.s32.s16 %r1, %r1;", false},
      {"shr.u32 %r1, %r0, 1; cvt.s32.s16 %r1, %r1; and.b32 %r1, %r1, 0x7fff;", true},
      {"shr.u32 %r1, %r0, 1; cvt.u32.u16 %r1, %r1; shr.u32 %r1, %r1, 16;", true},
      {"cvt.s16.s8 %h2, %r0; cvt.s32.s16 %r1, %h2;", true},
      {"cvt.s64.s32 %d1, %r0; cvt.u32.u64 %r1, %d1; and.b32 %r1, %r1, 0xffff;", true},
      {"cvt.s64.s32 %d1, %r0; shr.u64 %d1, %d1, 40; cvt.u32.u64 %r1, %d1;", false},
      {"cvt.rn.f32.s16 %r1, %r0;", true},
      {"cvt.rn.f32.s32 %r1, %r0; and.b32 %r1, %r1, 1;", false},
      {"cvt.sat.u8.s16 %r1, %r0;", true},
      {"cvt.sat.u8.s32 %r1, %r0;", false},
      {"add.s32 %r1, %r0, 1; and.b32 %r1, %r1, 0xffff;", true}, /* carries run upwards only */
      {"mul.lo.s32 %r1, %r0, 3; and.b32 %r1, %r1, 0xffff;", true},
      {"sub.s32 %r1, 5, %r0; and.b32 %r1, %r1, 0x10000;", false},
      {"mul.hi.u32 %r1, %r0, 3; and.b32 %r1, %r1, 1;", false},
      {"mov.b32 {%h2, %h3}, %r0; cvt.u32.u16 %r1, %h2;", true},
      {"mov.b32 {%h2, %h3}, %r0; cvt.u32.u16 %r1, %h3;", false},
      {"mov.b32 %r1, {%h0, %h0};", true},
      {"mov.b32 %r1, {%h0, %h1};", false},
      {"cvt.u32.u64 %r1, %d0;", true},
      {"mov.b64 {%r1, %r2}, %d0;", true},
      {"mov.b64 {%r2, %r1}, %d0;", false},
      {"shr.u64 %d1, %d0, 1; cvt.u32.u64 %r1, %d1;", false},
      {"shl.b64 %d1, %d0, 32; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1;", true},
      {"setp.lt.u32 %p1, %i, 99; selp.b32 %r1, %i, %r0, %p1;", true},
      {"setp.lt.u32 %p1, %i, 20; selp.b32 %r1, %i, %r0, %p1;", false},
      {"setp.lt.u32 %p1, %r0, 20; selp.b32 %r1, %i, %n, %p1;", false},
      {"not.b32 %r1, %r0; and.b32 %r1, %r1, 0xff;", true},
      {"st.shared.u32 [%d21+4], %r0; ld.shared.u16 %h2, [%d21+4]; cvt.u32.u16 %r1, %h2;", true},
      {"st.shared.u32 [%d21+4], %r0; ld.shared.u16 %h2, [%d21+6]; cvt.u32.u16 %r1, %h2;", false},
      {"shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; and.b32 %r1, %r1, 0xffff;", true},
      {"shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; shr.u32 %r1, %r1, 8;", false},
  };
  uint32_t in[64] = {0};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_str text = {0};
    sct_ptx_result result;
    sct_str_printf(&text, "%s%s\nst.global.u32 [%%po], %%r1;\nret;\n}\n", HALF, cases[k].body);
    const kernel_run r = {
        .blocks = 1, .threads = 64, .in = in, .in_bytes = sizeof in, .out_bytes = 256};
    const sct_ptx_kind want = cases[k].clean ? SCT_PTX_CLEAN : SCT_PTX_UNDEFINED_STORE;
    if (run_kernel(sct_str_c(&text), &r, NULL, &result) != want) {
      fail_msg("%s: %s %s", cases[k].body, sct_ptx_kind_name(result.diag.kind), result.diag.text);
    }
    sct_ptx_result_free(&result);
    sct_str_free(&text);
  }
}

/* An undefined value in global memory is wrong if it stays there, or decides something. */
static void undefined_values_may_be_overwritten(void **state) {
  (void)state;
  static const struct {
    const char *body;
    sct_ptx_kind kind;
    const char *says;
    bool given; /* only what was given contents shows it */
  } cases[] = {
      {"st.global.u32 [%po], %r0; st.global.u16 [%po+2], %h0;", SCT_PTX_CLEAN, "", false},
      {"st.global.u32 [%po], %r0; st.global.u8 [%po+2], %h0;", SCT_PTX_UNDEFINED_STORE,
       "at offset 2 of 'out'", false},
      {"st.global.v2.u32 [%po8], {%r0, %r0}; st.global.u16 [%po8+2], %h0;"
       "st.global.u16 [%po8+6], %h0;",
       SCT_PTX_CLEAN, "", false},
      {"st.global.u32 [%po], %r0; st.global.u16 [%po+2], %h0; st.global.u32 [%po+512], %r0;",
       SCT_PTX_UNDEFINED_STORE, "at offset 514 of 'out'", false},
      {"st.global.u32 [%po], %r0; st.global.u32 [%po+512], %r0; st.global.u16 [%po+2], %h0;",
       SCT_PTX_UNDEFINED_STORE, "byte 514 of output 'out'", true},
      {"st.global.u32 [%po], %r0; ld.global.u32 %r1, [%po]; setp.eq.u32 %p1, %r1, 0; @%p1 ret;"
       "st.global.u16 [%po+2], %h0;",
       SCT_PTX_UNDEFINED_BRANCH, "", false},
  };
  uint32_t in[64] = {0};
  for (int k = 0; k < 2 * SCT_COUNT(cases); k++) {
    const int c = k / 2;
    const bool given = k % 2 == 1;
    sct_str text = {0};
    sct_ptx_result result;
    if (cases[c].given && !given) {
      continue;
    }
    sct_str_printf(&text, "%s.reg .b64 %%po8; add.s64 %%po8, %%out, %%d20;\n%s\nret;\n}\n", HALF,
                   cases[c].body);
    const kernel_run r = {.blocks = 1,
                          .threads = 64,
                          .in = in,
                          .in_bytes = sizeof in,
                          .out_bytes = 1024,
                          .out_zero = given};
    if (run_kernel(sct_str_c(&text), &r, NULL, &result) != cases[c].kind ||
        strstr(result.diag.text, cases[c].says) == NULL) {
      fail_msg("%s: %s %s", cases[c].body, sct_ptx_kind_name(result.diag.kind), result.diag.text);
    }
    sct_ptx_result_free(&result);
    sct_str_free(&text);
  }
}

/* Padding may stay undefined, fields may not. */
static void padding_is_free(void **state) {
  (void)state;
  sct_error err = {0};
  sct_ptx_module *module = NULL;
  static const char text[] = HALF "st.global.u32 [%po], %r0;\nret;\n}\n";
  assert_int_equal(sct_ptx_parse(&module, text, "pad", &err), SCT_OK);
  for (int pad = 2; pad >= 1; pad--) { /* two bytes of padding cover the hole, one does not */
    sct_ptx_memory *memory = NULL;
    sct_ptx_result result;
    uint64_t address[2];
    uint8_t required[256], in[256] = {0};
    for (int i = 0; i < 256; i++) {
      required[i] = i % 4 < 4 - pad;
    }
    const sct_ptx_buffer b[2] = {
        {.name = "in", .bytes = 256, .data = in},
        {.name = "out", .bytes = 256, .output = true, .required = required}};
    sct_ptx_memory_new(&memory);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(sct_ptx_memory_add(memory, &address[k], &b[k], &err), SCT_OK);
    }
    const void *args[] = {&address[0], &address[1]};
    const sct_ptx_launch_opts opts = {
        .module = module, .kernel = "k", .block = {64, 1, 1}, .args = args, .n_args = 2};
    assert_int_equal(sct_ptx_launch(&result, memory, &opts, &err), SCT_OK);
    assert_int_equal(result.diag.kind, pad == 2 ? SCT_PTX_CLEAN : SCT_PTX_UNDEFINED_STORE);
    sct_ptx_result_free(&result);
    sct_ptx_memory_free(memory);
  }
  sct_ptx_module_free(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scalar_loads),
                                     cmocka_unit_test(vectors_through_every_space),
                                     cmocka_unit_test(store_hints),
                                     cmocka_unit_test(cache_policy_operand),
                                     cmocka_unit_test(module_variables),
                                     cmocka_unit_test(small_overruns),
                                     cmocka_unit_test(undefined_bits_travel),
                                     cmocka_unit_test(padding_is_free),
                                     cmocka_unit_test(undefined_values_may_be_overwritten)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
