/* Two or four values side by side: comparisons of 16-bit pairs, f32x2, dot products, packed
 * integers; and what undefined halves do. Also lop3 with a predicate, isspacep, nanosleep. */
#include "ptx_eval.h"
#include "ptx_half_exact.h"
#include "ptx_kernel.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

static void mismatch(const char *text, const eval_data *d, int i, uint64_t got, uint64_t want) {
  fail_msg("%s: a %#llx b %#llx c %#llx gives %#llx, not %#llx", text,
           (unsigned long long)d->in[0][i], (unsigned long long)d->in[1][i],
           (unsigned long long)d->in[2][i], (unsigned long long)got, (unsigned long long)want);
}

/* Operands whose halves are close to each other, equal, special or anything. */
static eval_data pairs(uint64_t seed) {
  static const uint64_t corners[] = {0,          0x80000000, 0x80008000, 0x3c003f80, 0x3f803c00,
                                     0x7c007f80, 0xfc00ff80, 0x7f807c00, 0x7fff7fff, 0xffff0000,
                                     0x00017c01, 0x03ff8001, 0x007f807f, 0x3c013c00, 0xbc003c00,
                                     0x00800400, 0x7fff0000, 0x80007fff, 0x0001ffff, 0xffffffff};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), seed);
  for (int i = SCT_COUNT(corners) * SCT_COUNT(corners); i < d.n; i++) {
    d.in[1][i] = i % 3 == 0 ? d.in[0][i] : i % 3 == 1 ? d.in[0][i] ^ 0x10000 : d.in[1][i];
  }
  return d;
}

/* ---- set and setp: the relation of two 16-bit floats, as bits: 1 less, 2 equal, 4 greater, 8 none
 */

static const struct {
  const char *name;
  int holds;
} relations[] = {{"eq", 2},   {"ne", 5},   {"lt", 1},   {"le", 3},  {"gt", 4},
                 {"ge", 6},   {"equ", 10}, {"neu", 13}, {"ltu", 9}, {"leu", 11},
                 {"gtu", 12}, {"geu", 14}, {"num", 7},  {"nan", 8}};

/* Values as places on the number line, where both zeros are one place. */
static int relation(const half_kind *k, uint32_t a, uint32_t b, bool ftz) {
  if (half_is_nan(k, a) || half_is_nan(k, b)) {
    return 8;
  }
  const int32_t x = ftz && half_is_subnormal(k, a) ? 0 : (int32_t)(a & 0x7fff);
  const int32_t y = ftz && half_is_subnormal(k, b) ? 0 : (int32_t)(b & 0x7fff);
  const int32_t p = a & 0x8000 ? -x : x, q = b & 0x8000 ? -y : y;
  return p < q ? 1 : p == q ? 2 : 4;
}

static bool joined(int join, bool m, bool c) {
  return join == 1 ? m && c : join == 2 ? m || c : join == 3 ? m != c : m;
}

static bool holds(int r, int join, const half_kind *k, const eval_data *d, int i, int shift,
                  bool ftz) {
  const uint32_t a = (uint32_t)(d->in[0][i] >> shift) & 0xffff;
  const uint32_t b = (uint32_t)(d->in[1][i] >> shift) & 0xffff;
  return joined(join, (relations[r].holds & relation(k, a, b, ftz)) != 0, d->in[2][i] != 0);
}

static const char *const joins[] = {"", ".and", ".or", ".xor"};

typedef struct comparison { /* one instruction */
  int relation, join;
  const half_kind *kind;
  bool ftz;
} comparison;

static void check_setp(const comparison *t, const eval_data *d, uint64_t *out) {
  char text[160];
  const char *c = t->join == 0 ? "" : ", %c";
  /* both answers into one number: p is bit 0, q bit 1 */
  snprintf(text, sizeof text,
           "{ .reg .pred p, q; .reg .b32 x;\nsetp.%s%s%s.%sx2 p|q, %%a, %%b%s;\n"
           "selp.b32 %%d, 1, 0, p; selp.b32 x, 2, 0, q; or.b32 %%d, %%d, x; }",
           relations[t->relation].name, joins[t->join], t->ftz ? ".ftz" : "", t->kind->name, c);
  eval(text, "333p", (uint64_t *const *)d->in, d->n, out);
  for (int i = 0; i < d->n; i++) {
    const uint64_t want = (uint64_t)holds(t->relation, t->join, t->kind, d, i, 0, t->ftz) |
                          (uint64_t)holds(t->relation, t->join, t->kind, d, i, 16, t->ftz) << 1;
    if (out[i] != want) {
      mismatch(text, d, i, out[i], want);
    }
  }
}

/* set.eq.f16x2.f16x2 and set.eq.u32.f16x2; then the scalars set.eq.f16.f16 and set.eq.u32.f16. */
static void check_set(const comparison *t, const eval_data *d, uint64_t *out) {
  const bool bf16 = t->kind == &half_kinds[1];
  for (int form = 0; form < 4; form++) {
    char text[120];
    const bool pair = form < 2, number = form % 2 == 0;
    const char *x2 = pair ? "x2" : "";
    char to[16];
    snprintf(to, sizeof to, "%s%s", number ? t->kind->name : "u32", number ? x2 : "");
    snprintf(text, sizeof text, "set.%s%s%s.%s.%s%s %%d, %%a, %%b%s", relations[t->relation].name,
             joins[t->join], t->ftz ? ".ftz" : "", to, t->kind->name, x2,
             t->join == 0 ? "" : ", %c");
    eval(text, pair ? "333p" : number ? "111p" : "311p", (uint64_t *const *)d->in, d->n, out);
    const uint64_t yes = number ? (bf16 ? 0x3f80 : 0x3c00) : pair ? 0xffff : 0xffffffff;
    for (int i = 0; i < d->n; i++) {
      uint64_t want = holds(t->relation, t->join, t->kind, d, i, 0, t->ftz) ? yes : 0;
      want |= pair && holds(t->relation, t->join, t->kind, d, i, 16, t->ftz) ? yes << 16 : 0;
      if (out[i] != want) {
        mismatch(text, d, i, out[i], want);
      }
    }
  }
}

static void comparisons(void **state) {
  (void)state;
  eval_data d = pairs(61);
  uint64_t out[EVAL_MAX];
  for (int r = 0; r < SCT_COUNT(relations); r++) {
    for (int kind = 0; kind < 2; kind++) {
      comparison t = {r, (r + kind) % 4, &half_kinds[kind], false};
      check_setp(&t, &d, out);
      check_set(&t, &d, out);
      t.ftz = kind == 0; /* bf16 has no .ftz */
      t.join = (r + 2) % 4;
      check_setp(&t, &d, out);
      check_set(&t, &d, out);
    }
  }
  eval_data_free(&d);
}

/* ---- f32x2: each half as the host computes it in the mode asked for */

static const char *const mode_names[] = {".rn", ".rz", ".rm", ".rp"};
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static float as_float(uint32_t b) {
  float f = 0;
  memcpy(&f, &b, 4);
  return f;
}
static uint32_t flush32(uint32_t b) {
  return (b & 0x7f800000) == 0 ? b & 0x80000000 : b;
}

static uint32_t host(char op, int mode, bool ftz, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t in[3] = {ftz ? flush32(a) : a, ftz ? flush32(b) : b, ftz ? flush32(c) : c};
  volatile float x = as_float(in[0]), y = as_float(in[1]), z = as_float(in[2]), f = 0;
  fesetround(modes[mode]);
  f = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : fmaf(x, y, z);
  if (ftz && fabsf(f) == FLT_MIN && (op == '*' || op == 'f')) { /* see test_ptx_rounding.c */
    const volatile float big_x = x * 0x1p40f, big_z = z * 0x1p40f;
    const volatile float big = op == '*' ? big_x * y : fmaf(big_x, y, big_z);
    f = fabsf(big) < FLT_MIN * 0x1p40f ? copysignf(0, f) : f;
  }
  fesetround(FE_TONEAREST);
  const float result = f;
  uint32_t bits = 0;
  memcpy(&bits, &result, 4);
  bits = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
  return ftz ? flush32(bits) : bits;
}

static void two_floats(void **state) {
  (void)state;
  static const uint64_t corners[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000,
                                     0x3f800000, 0x3f800001, 0xbf7fffff, 0x7f7fffff, 0x7f800000,
                                     0xff800000, 0x7fc00001, 0x34000000, 0xff7fffff};
  static const struct {
    const char *name;
    char op;
  } ops[] = {{"add", '+'}, {"sub", '-'}, {"mul", '*'}, {"fma", 'f'}};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 62);
  uint64_t out[EVAL_MAX];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < d.n; i++) {
      d.in[k][i] = (d.in[k][i] & 0xffffffff) | d.in[k][(i * 11 + 5) % d.n] << 32;
    }
  }
  for (int op = 0; op < SCT_COUNT(ops); op++) {
    for (int m = 0; m < 8; m++) {
      char text[80];
      const bool ftz = m >= 4;
      snprintf(text, sizeof text, "%s%s%s.f32x2 %%d, %%a, %%b%s", ops[op].name, mode_names[m % 4],
               ftz ? ".ftz" : "", ops[op].op == 'f' ? ", %c" : "");
      eval(text, ops[op].op == 'f' ? "6666" : "666", (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        uint64_t want = 0;
        for (int shift = 0; shift < 64; shift += 32) {
          want |= (uint64_t)host(ops[op].op, m % 4, ftz, (uint32_t)(d.in[0][i] >> shift),
                                 (uint32_t)(d.in[1][i] >> shift), (uint32_t)(d.in[2][i] >> shift))
                  << shift;
        }
        if (out[i] != want) {
          mismatch(text, &d, i, out[i], want);
        }
      }
    }
  }
  eval_data_free(&d);
}

/* ---- integers: pieces by memcpy, sums in 64 bits */

static int64_t byte_at(uint64_t v, int k, bool is_signed) {
  uint8_t b[4];
  memcpy(b, &v, 4);
  return is_signed ? (int8_t)b[k] : b[k];
}
static int64_t word_at(uint64_t v, int k, bool is_signed) {
  uint16_t w[2];
  memcpy(w, &v, 4);
  return is_signed ? (int16_t)w[k] : w[k];
}

static void dot_products(void **state) {
  (void)state;
  static const char *const forms[] = {"dp4a", "dp2a.lo", "dp2a.hi"};
  eval_data d = pairs(63);
  uint64_t out[EVAL_MAX];
  for (int form = 0; form < 3; form++) {
    for (int t = 0; t < 4; t++) {
      char text[64];
      const bool sa = t & 1, sb = t & 2;
      snprintf(text, sizeof text, "%s.%s.%s %%d, %%a, %%b, %%c", forms[form], sa ? "s32" : "u32",
               sb ? "s32" : "u32");
      eval(text, "3333", (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        int64_t sum = (int64_t)(uint32_t)d.in[2][i];
        for (int k = 0; k < (form == 0 ? 4 : 2); k++) {
          sum += form == 0 ? byte_at(d.in[0][i], k, sa) * byte_at(d.in[1][i], k, sb)
                           : word_at(d.in[0][i], k, sa) *
                                 byte_at(d.in[1][i], k + (form == 2 ? 2 : 0), sb);
        }
        if (out[i] != (uint32_t)sum) {
          mismatch(text, &d, i, out[i], (uint32_t)sum);
        }
      }
    }
  }
  eval_data_free(&d);
}

typedef int64_t (*word_fn)(int64_t x, int64_t y);
static int64_t sum_of(int64_t x, int64_t y) {
  return x + y;
}
static int64_t less_of(int64_t x, int64_t y) {
  return x < y ? x : y;
}
static int64_t more_of(int64_t x, int64_t y) {
  return x > y ? x : y;
}
static int64_t less_or_0(int64_t x, int64_t y) {
  return more_of(less_of(x, y), 0);
}
static int64_t more_or_0(int64_t x, int64_t y) {
  return more_of(more_of(x, y), 0);
}

static void pairs_of_integers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool is_signed;
    word_fn want;
  } cases[] = {{"add.u16x2 %d, %a, %b", false, sum_of},
               {"add.s16x2 %d, %a, %b", true, sum_of},
               {"min.u16x2 %d, %a, %b", false, less_of},
               {"max.u16x2 %d, %a, %b", false, more_of},
               {"min.s16x2 %d, %a, %b", true, less_of},
               {"max.s16x2 %d, %a, %b", true, more_of},
               {"min.s16x2.relu %d, %a, %b", true, less_or_0},
               {"max.relu.s16x2 %d, %a, %b", true, more_or_0}};
  eval_data d = pairs(64);
  uint64_t out[EVAL_MAX];
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    eval(cases[k].text, "333", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      uint64_t want = 0;
      for (int h = 0; h < 2; h++) {
        const int64_t v = cases[k].want(word_at(d.in[0][i], h, cases[k].is_signed),
                                        word_at(d.in[1][i], h, cases[k].is_signed));
        want |= ((uint64_t)v & 0xffff) << 16 * h;
      }
      if (out[i] != want) {
        mismatch(cases[k].text, &d, i, out[i], want);
      }
    }
  }
  eval_data_free(&d);
}

static void absolute_differences(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool words, is_signed, adds;
  } cases[] = {{"vabsdiff4.u32.u32.u32 %d, %a, %b, %c", false, false, false},
               {"vabsdiff4.u32.s32.s32 %d, %a, %b, %c", false, true, false},
               {"vabsdiff4.s32.s32.s32 %d, %a, %b, %c", false, true, false},
               {"vabsdiff4.u32.u32.u32.add %d, %a, %b, %c", false, false, true},
               {"vabsdiff4.u32.s32.s32.add %d, %a, %b, %c", false, true, true},
               {"vabsdiff4.s32.s32.s32.add %d, %a, %b, %c", false, true, true},
               {"vabsdiff2.u32.u32.u32 %d, %a, %b, %c", true, false, false},
               {"vabsdiff2.u32.s32.s32 %d, %a, %b, %c", true, true, false},
               {"vabsdiff2.s32.s32.s32 %d, %a, %b, %c", true, true, false},
               {"vabsdiff2.u32.u32.u32.add %d, %a, %b, %c", true, false, true},
               {"vabsdiff2.u32.s32.s32.add %d, %a, %b, %c", true, true, true},
               {"vabsdiff2.s32.s32.s32.add %d, %a, %b, %c", true, true, true}};
  eval_data d = pairs(65);
  uint64_t out[EVAL_MAX];
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    const bool words = cases[k].words, is_signed = cases[k].is_signed;
    eval(cases[k].text, "3333", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      uint64_t side = 0, sum = d.in[2][i];
      for (int h = 0; h < (words ? 2 : 4); h++) {
        const int64_t diff =
            words ? word_at(d.in[0][i], h, is_signed) - word_at(d.in[1][i], h, is_signed)
                  : byte_at(d.in[0][i], h, is_signed) - byte_at(d.in[1][i], h, is_signed);
        const uint64_t v = (uint64_t)(diff < 0 ? -diff : diff);
        side |= v << (words ? 16 : 8) * h;
        sum += v;
      }
      const uint64_t want = (uint32_t)(cases[k].adds ? sum : side);
      if (out[i] != want) {
        mismatch(cases[k].text, &d, i, out[i], want);
      }
    }
  }
  eval_data_free(&d);
}

/* ---- lop3 with a predicate */

static uint32_t lut(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t out = 0;
  for (int i = 0; i < 32; i++) {
    const uint32_t row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
    out |= (table >> row & 1) << i;
  }
  return out;
}

static void lop3_answers(void **state) {
  (void)state;
  static const uint64_t corners[] = {0, 1, 0x80000000, 0xffffffff, 0x5555aaaa};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 66);
  uint64_t out[EVAL_MAX];
  for (int form = 0; form < 4; form++) {
    const bool sink = form & 1, any = form & 2;
    char text[200];
    snprintf(text, sizeof text,
             "{ .reg .pred p; .reg .b32 x;\nlop3.%s.b32 %s|p, %%a, %%b, %%c, 0x80, %%e;\n"
             "selp.b32 x, 7, 0, p; %s }",
             any ? "or" : "and", sink ? "_" : "%d", sink ? "mov.b32 %d, x;" : "xor.b32 %d, %d, x;");
    eval(text, "3333p", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      const uint32_t v =
          lut((uint32_t)d.in[0][i], (uint32_t)d.in[1][i], (uint32_t)d.in[2][i], 0x80);
      const bool q = d.in[3][i] != 0, p = any ? v != 0 || q : v != 0 && q;
      const uint32_t want = (sink ? 0 : v) ^ (p ? 7 : 0);
      if (out[i] != want) {
        mismatch(text, &d, i, out[i], want);
      }
    }
  }
  eval_data_free(&d);
}

/* ---- undefined halves */

/* The lower half of h2 (r, in f32x2 the lower word) is defined, the upper one is not. */
#define HALF_HEAD                                                                                  \
  PTX_KERNEL ".reg .b16 %u, %lo, %hi;\n.reg .b32 %un, %wlo, %whi;\n"                               \
             "ld.global.u16 %h0, [%pi];\nmov.b32 %r0, {%h0, %u};\n"                                \
             "ld.global.u32 %r1, [%pi];\nmov.b64 %d0, {%r1, %un};\n"

static void undefined_halves(void **state) {
  (void)state;
  static const struct {
    const char *instr, *use;
    sct_ptx_kind want;
  } rows[] = {
      {"add.f16x2 %r2, %r0, %r0", "mov.b32 {%lo, %hi}, %r2; cvt.u32.u16 %r3, %lo", SCT_PTX_CLEAN},
      {"add.f16x2 %r2, %r0, %r0", "mov.b32 {%lo, %hi}, %r2; cvt.u32.u16 %r3, %hi",
       SCT_PTX_UNDEFINED_STORE},
      {"fma.rn.bf16x2 %r2, %r0, %r0, %r0", "and.b32 %r3, %r2, 0xffff", SCT_PTX_CLEAN},
      {"fma.rn.bf16x2 %r2, %r1, %r1, %r0", "and.b32 %r3, %r2, 0x10000", SCT_PTX_UNDEFINED_STORE},
      {"max.s16x2 %r2, %r1, %r0", "and.b32 %r3, %r2, 0xffff", SCT_PTX_CLEAN},
      {"max.s16x2 %r2, %r1, %r0", "shr.u32 %r3, %r2, 16", SCT_PTX_UNDEFINED_STORE},
      {"set.lt.f16x2.f16x2 %r2, %r0, %r1", "and.b32 %r3, %r2, 0xffff", SCT_PTX_CLEAN},
      {"set.lt.u32.bf16x2 %r2, %r0, %r1", "mov.b32 %r3, %r2", SCT_PTX_UNDEFINED_STORE},
      {"mul.rn.f32x2 %d1, %d0, %d0", "mov.b64 {%r3, %whi}, %d1", SCT_PTX_CLEAN},
      {"mul.rn.f32x2 %d1, %d0, %d0", "mov.b64 {%wlo, %r3}, %d1", SCT_PTX_UNDEFINED_STORE},
      {"setp.lt.f16x2 %p0|%p1, %r0, %r1", "mov.u32 %r3, 1; @%p0 bra END", SCT_PTX_CLEAN},
      {"setp.lt.f16x2 %p0|%p1, %r0, %r1", "mov.u32 %r3, 1; @%p1 bra END", SCT_PTX_UNDEFINED_BRANCH},
      {"setp.lt.f16x2 %p1|%p0, %r1, %r0", "mov.u32 %r3, 1; @%p0 bra END", SCT_PTX_UNDEFINED_BRANCH},
      {"dp2a.lo.u32.u32 %r2, %r1, %r0, %r1", "mov.b32 %r3, %r2", SCT_PTX_CLEAN},
      {"dp2a.hi.u32.u32 %r2, %r1, %r0, %r1", "mov.b32 %r3, %r2", SCT_PTX_UNDEFINED_STORE},
      {"dp2a.lo.u32.u32 %r2, %r0, %r1, %r1", "mov.b32 %r3, %r2", SCT_PTX_UNDEFINED_STORE},
      {"dp2a.lo.u32.u32 %r2, %r1, %r1, %r0", "mov.b32 %r3, %r2", SCT_PTX_UNDEFINED_STORE},
      {"dp4a.u32.u32 %r2, %r0, %r1, %r1", "and.b32 %r3, %r2, 1", SCT_PTX_UNDEFINED_STORE}};
  uint32_t in[32], out[32];
  for (int i = 0; i < 32; i++) {
    in[i] = 0x3c003c00u + (uint32_t)i;
  }
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  for (int i = 0; i < SCT_COUNT(rows); i++) {
    sct_str text = {0};
    sct_str_printf(&text, "%s%s;\n%s;\nEND: st.global.u32 [%%po], %%r3;\nret;\n}\n", HALF_HEAD,
                   rows[i].instr, rows[i].use);
    const sct_ptx_kind got = run_kernel(sct_str_c(&text), &r, out, NULL);
    if (got != rows[i].want) {
      fail_msg("%s; %s: %s, not %s", rows[i].instr, rows[i].use, sct_ptx_kind_name(got),
               sct_ptx_kind_name(rows[i].want));
    }
    sct_str_free(&text);
  }
}

/* ---- isspacep: a generic address of each space, asked for each */

static void spaces(void **state) {
  (void)state;
  static const char *const names[] = {"global", "shared", "local", "const", "param", "shared::cta"};
  static const struct {
    const char *address;
    uint32_t want; /* bit k: names[k] */
  } rows[] = {{"mov.u64 %d0, %pi", 1},
              {"mov.u64 %d0, 0", 1},
              {"mov.u64 %d1, gv; cvta.global.u64 %d0, %d1", 1},
              {"mov.u64 %d1, sh; cvta.shared.u64 %d0, %d1", 2 | 32},
              {"mov.u64 %d1, lo; cvta.local.u64 %d0, %d1", 4},
              {"mov.u64 %d1, cv; cvta.const.u64 %d0, %d1", 8},
              {"mov.u64 %d1, cv; cvta.const.u64 %d0, %d1; add.s64 %d0, %d0, 15", 8},
              {"mov.u64 %d1, cv; cvta.const.u64 %d0, %d1; add.s64 %d0, %d0, 16", 1},
              {"mov.u64 %d1, in; cvta.param.u64 %d0, %d1", 16}};
  uint32_t in[32] = {0}, out[32];
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  for (int i = 0; i < SCT_COUNT(rows); i++) {
    sct_str text = {0};
    const char *kernel = PTX_KERNEL;
    const size_t head = strlen(PTX_HEAD);
    sct_str_printf(&text, "%s.const .align 16 .b8 cv[16];\n.global .b32 gv;\n%s", PTX_HEAD,
                   kernel + head);
    sct_str_printf(&text, ".shared .b32 sh[4];\n.local .b32 lo[4];\nmov.u32 %%r0, 0;\n%s;\n",
                   rows[i].address);
    for (int k = 0; k < SCT_COUNT(names); k++) {
      sct_str_printf(&text,
                     "isspacep.%s %%p0, %%d0;\nselp.b32 %%r1, %d, 0, %%p0;\n"
                     "or.b32 %%r0, %%r0, %%r1;\n",
                     names[k], 1 << k);
    }
    sct_str_append(&text, "st.global.u32 [%po], %r0;\nret;\n}\n");
    assert_int_equal(run_kernel(sct_str_c(&text), &r, out, NULL), SCT_PTX_CLEAN);
    if (out[0] != rows[i].want || out[31] != rows[i].want) {
      fail_msg("%s: %#x, not %#x", rows[i].address, out[0], rows[i].want);
    }
    sct_str_free(&text);
  }
}

/* Warp 0 sleeps until warp 1 has written: it hands over at once, so it looks a few times, not for
 * all of its time slice. */
static void sleepers_hand_over(void **state) {
  (void)state;
  static const char text[] = PTX_KERNEL
      ".shared .b32 flag;\nsetp.ne.u32 %p0, %i, 0;\n@%p0 bra A;\nst.volatile.shared.u32 [flag], "
      "0;\n"
      "A: bar.sync 0;\nmov.u32 %r2, 0;\nsetp.ge.u32 %p1, %i, 32;\n@%p1 bra WRITER;\n"
      "SPIN: nanosleep.u32 20;\nadd.u32 %r2, %r2, 1;\nld.volatile.shared.u32 %r1, [flag];\n"
      "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra SPIN;\nbra DONE;\n"
      "WRITER: mov.u32 %r1, 9;\nnanosleep.u32 %r1;\nsetp.ne.u32 %p3, %i, 32;\n@%p3 bra DONE;\n"
      "st.volatile.shared.u32 [flag], 9;\nDONE: st.global.u32 [%po], %r2;\nret;\n}\n";
  uint32_t in[64] = {0}, out[64];
  const kernel_run r = {
      .blocks = 1, .threads = 64, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  const sct_ptx_kind kind = run_kernel(text, &r, out, NULL);
  assert_int_equal(kind, SCT_PTX_CLEAN);
  assert_in_range(out[0], 1, 4);
  assert_int_equal(out[63], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(comparisons),          cmocka_unit_test(two_floats),
      cmocka_unit_test(dot_products),         cmocka_unit_test(pairs_of_integers),
      cmocka_unit_test(absolute_differences), cmocka_unit_test(lop3_answers),
      cmocka_unit_test(undefined_halves),     cmocka_unit_test(spaces),
      cmocka_unit_test(sleepers_hand_over)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
