/* atom and red: every form of every space against a loop over the lanes with arithmetic of its own;
 * forms that PTX has not. */
#include "ptx_kernel.h"

#include <float.h>
#include <math.h>

#define CELL 32 /* bytes between cells, enough for the widest form */

typedef struct form {
  const char *op, *type;
  int n; /* elements */
} form;

static const form forms[] = {
    {"add", "u32", 1},    {"add", "s32", 1},   {"add", "u64", 1},    {"add", "f32", 1},
    {"add", "f64", 1},    {"add", "f16", 1},   {"add", "bf16", 1},   {"add", "f16x2", 1},
    {"add", "f32", 2},    {"add", "f32", 4},   {"add", "f16", 2},    {"add", "f16", 4},
    {"add", "f16", 8},    {"add", "bf16", 2},  {"add", "bf16", 4},   {"add", "bf16", 8},
    {"add", "f16x2", 2},  {"add", "f16x2", 4}, {"add", "bf16x2", 1}, {"add", "bf16x2", 2},
    {"add", "bf16x2", 4}, {"min", "u32", 1},   {"min", "s32", 1},    {"min", "u64", 1},
    {"min", "s64", 1},    {"max", "u32", 1},   {"max", "s32", 1},    {"max", "u64", 1},
    {"max", "s64", 1},    {"min", "f16", 2},   {"min", "f16", 4},    {"min", "f16", 8},
    {"max", "f16", 2},    {"max", "f16", 8},   {"min", "bf16", 2},   {"min", "bf16", 4},
    {"max", "bf16", 8},   {"min", "f16x2", 2}, {"max", "f16x2", 4},  {"min", "bf16x2", 4},
    {"max", "bf16x2", 2}, {"max", "f16", 4},   {"and", "b32", 1},    {"and", "b64", 1},
    {"or", "b32", 1},     {"or", "b64", 1},    {"xor", "b32", 1},    {"xor", "b64", 1},
    {"inc", "u32", 1},    {"dec", "u32", 1},   {"exch", "b32", 1},   {"exch", "b64", 1},
    {"exch", "b128", 1},  {"cas", "b16", 1},   {"cas", "b32", 1},    {"cas", "b64", 1},
    {"cas", "b128", 1}};

static bool is(const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

static bool is_half(const char *type) {
  return strstr(type, "f16") != NULL;
}

/* Bytes of one element, halves of a packed one on their own. */
static int scalar_bytes(const char *type) {
  return is_half(type) || is(type, "b16") ? 2
         : is(type, "b128")               ? 16
         : strstr(type, "64") != NULL     ? 8
                                          : 4;
}

static int n_scalars(const form *f) {
  return f->n * (strstr(f->type, "x2") != NULL ? 2 : 1);
}

/* ---- arithmetic of the test's own */

static double half_value(uint16_t h, int mant) { /* mant 10: f16, 7: bf16 */
  const int e = (h & 0x7fff) >> mant, m = h & ((1 << mant) - 1);
  const int bias = mant == 10 ? 15 : 127, top = mant == 10 ? 31 : 255;
  double v = e == top ? (m != 0 ? NAN : INFINITY)
             : e == 0 ? ldexp(m, 1 - bias - mant)
                      : ldexp(m + (1 << mant), e - bias - mant);
  return h & 0x8000 ? -v : v;
}

/* The nearest half by bisection over all of them; infinity stands where the next one would. */
static uint16_t nearest_half(double v, int mant) {
  const uint16_t inf = mant == 10 ? 0x7c00 : 0x7f80;
  const uint16_t sign = signbit(v) ? 0x8000 : 0;
  const double a = fabs(v), past = mant == 10 ? 0x1p16 : 0x1p128;
  uint16_t lo = 0, hi = inf;
  if (isnan(v)) {
    return 0x7fff;
  }
  if (a >= past) {
    return sign | inf;
  }
  while (hi - lo > 1) {
    const uint16_t mid = (uint16_t)((lo + hi) / 2);
    *(half_value(mid, mant) <= a ? &lo : &hi) = mid;
  }
  const double down = a - half_value(lo, mant);
  const double up = (hi == inf ? past : half_value(hi, mant)) - a;
  return sign | (down < up || (down == up && (lo & 1) == 0) ? lo : hi);
}

static uint16_t half_result(const char *op, uint16_t a, uint16_t b, int mant) {
  const double x = half_value(a, mant), y = half_value(b, mant);
  if (is(op, "add")) {
    return nearest_half(x + y, mant);
  }
  if (isnan(x)) {
    return isnan(y) ? 0x7fff : b;
  }
  if (isnan(y)) {
    return a;
  }
  const bool low = is(op, "min");
  if (x == y) {
    return (a & 0x8000) != 0 && low ? a : (b & 0x8000) != 0 && low ? b : (a & 0x8000) ? b : a;
  }
  return (x < y) == low ? a : b;
}

static float flushed(float v, bool flush) {
  return flush && fabsf(v) < FLT_MIN ? copysignf(0.0f, v) : v;
}

static uint32_t f32_sum(uint32_t a, uint32_t b, bool flush) {
  float x = 0, y = 0;
  uint32_t out = 0;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  const float sum = flushed(flushed(x, flush) + flushed(y, flush), flush);
  memcpy(&out, &sum, 4);
  return isnan(sum) ? 0x7fffffff : out;
}

static uint64_t f64_sum(uint64_t a, uint64_t b) {
  double x = 0, y = 0;
  memcpy(&x, &a, 8);
  memcpy(&y, &b, 8);
  const double sum = x + y;
  memcpy(&a, &sum, 8);
  return a;
}

static uint64_t int_result(const form *f, uint64_t a, uint64_t b) {
  const bool is_signed = f->type[0] == 's', narrow = scalar_bytes(f->type) == 4;
  const int64_t sa = narrow ? (int32_t)(uint32_t)a : (int64_t)a;
  const int64_t sb = narrow ? (int32_t)(uint32_t)b : (int64_t)b;
  const bool less = is_signed ? sa < sb : a < b;
  return is(f->op, "add")   ? a + b
         : is(f->op, "min") ? (less ? a : b)
         : is(f->op, "max") ? (less ? b : a)
         : is(f->op, "and") ? (a & b)
         : is(f->op, "or")  ? (a | b)
         : is(f->op, "xor") ? (a ^ b)
         : is(f->op, "inc") ? (a >= b ? 0 : a + 1)
         : is(f->op, "dec") ? (a == 0 || a > b ? b : a - 1)
                            : b;
}

/* One lane's update of a cell. */
static void apply(const form *f, uint8_t *cell, const uint8_t *b, const uint8_t *c, bool global) {
  const int size = scalar_bytes(f->type);
  if (is(f->op, "cas") || is(f->op, "exch")) {
    const bool swap = is(f->op, "exch") || memcmp(cell, b, (size_t)size) == 0;
    memcpy(cell, swap ? (is(f->op, "cas") ? c : b) : cell, swap ? (size_t)size : 0);
    return;
  }
  for (int k = 0; k < n_scalars(f); k++) {
    uint64_t x = 0, y = 0, r = 0;
    memcpy(&x, cell + k * size, (size_t)size);
    memcpy(&y, b + k * size, (size_t)size);
    r = is_half(f->type) ? half_result(f->op, (uint16_t)x, (uint16_t)y, f->type[0] == 'b' ? 7 : 10)
        : is(f->type, "f32") ? f32_sum((uint32_t)x, (uint32_t)y, global)
        : is(f->type, "f64") ? f64_sum(x, y)
                             : int_result(f, x, y);
    memcpy(cell + k * size, &r, (size_t)size);
  }
}

/* ---- the kernel */

static char reg_letter(const form *f) {
  const int bytes = is(f->type, "b128") ? 8 : scalar_bytes(f->type) * n_scalars(f) / f->n;
  return bytes == 2 ? 'h' : bytes == 4 ? 'r' : 'd';
}

/* "%r8" or "{%r8, %r9}" */
static const char *regs(const form *f, int first, char text[128]) {
  const int n = is(f->type, "b128") ? 2 : f->n;
  int len = snprintf(text, 128, "%s", n > 1 ? "{" : "");
  for (int i = 0; i < n; i++) {
    len += snprintf(text + len, (size_t)(128 - len), "%s%%%c%d", i > 0 ? ", " : "", reg_letter(f),
                    first + i);
  }
  snprintf(text + len, (size_t)(128 - len), "%s", n > 1 ? "}" : "");
  return text;
}

typedef enum where { GLOBAL, SHARED, GENERIC_GLOBAL, GENERIC_SHARED, N_WHERE } where;

static void write_atomic(sct_str *out, const form *f, where w, bool red, int salt) {
  static const char *const sems[] = {"", ".relaxed", ".release", ".acquire", ".acq_rel"};
  static const char *const scopes[] = {"", ".cta", ".cluster", ".gpu", ".sys"};
  static const char *const near[] = {".shared", ".shared::cta", ".shared::cluster"};
  char text[3][128], vec[16] = "";
  const int first = reg_letter(f) == 'h' ? 0 : 8;
  const bool wide = is(f->type, "b128"), cas = is(f->op, "cas");
  const bool hint = !cas && w != SHARED && salt % 3 == 0;
  snprintf(vec, sizeof vec, f->n > 1 ? ".v%d" : "%.0d", f->n > 1 ? f->n : 0);
  sct_str_printf(out, "@%%p1 %s%s%s%s.%s%s%s%s.%s ", red ? "red" : "atom",
                 sems[salt % (red ? 3 : 5)], scopes[salt / 5 % 5],
                 w == GLOBAL   ? ".global"
                 : w == SHARED ? near[salt % 3]
                               : "",
                 f->op, is_half(f->type) ? ".noftz" : "", hint ? ".L2::cache_hint" : "", vec,
                 f->type);
  if (!red) {
    sct_str_printf(out, "%s, ", wide ? "%q0" : regs(f, first, text[0]));
  }
  sct_str_printf(out, "[%%d1+%d], %s", CELL, wide ? "%q1" : regs(f, first + 8, text[1]));
  if (cas) {
    sct_str_printf(out, ", %s", wide ? "%q2" : regs(f, first == 0 ? 9 : 24, text[2]));
  }
  sct_str_append(out, hint ? ", %d2;\n" : ";\n");
}

/* in: cells, b, c of 32 lanes, then cell number and activity; out: cells, what came back. */
static void write_kernel(sct_str *out, const form *f, where w, bool red, int salt) {
  const bool shared = w == SHARED || w == GENERIC_SHARED;
  const int first = reg_letter(f) == 'h' ? 0 : 8, c = first == 0 ? 9 : 24;
  const int n = is(f->type, "b128") ? 2 : f->n;
  const int bits = reg_letter(f) == 'h' ? 16 : reg_letter(f) == 'r' ? 32 : 64;
  char text[128], v[8] = "";
  snprintf(v, sizeof v, n > 1 ? ".v%d" : "%.0d", n > 1 ? n : 0);
  sct_str_printf(
      out,
      "%s.reg .b128 %%q<3>;\n.shared .align 32 .b8 s[1056];\n"
      "ld.global.u32 %%r1, [%%pi+3072]; ld.global.u32 %%r2, [%%pi+3200];\n"
      "setp.ne.u32 %%p1, %%r2, 0; mul.wide.u32 %%d0, %%r1, 32; mov.u32 %%r3, s;\n"
      "mul.wide.u32 %%d3, %%i, 32; add.s64 %%d4, %%in, %%d3; add.s64 %%d5, %%out, %%d3;\n"
      "cvt.u64.u32 %%d6, %%r3; %s%s mov.b64 %%d2, 0;\n"
      "add.s64 %%d1, %%d6, %%d0; add.s64 %%d1, %%d1, -32; add.s64 %%d6, %%d6, %%d3;\n",
      PTX_KERNEL, w == GENERIC_SHARED ? "cvta.shared.u64 %d6, %d6;" : "",
      shared ? "" : "mov.b64 %d6, %out;");
  const char *st = w == SHARED ? ".shared" : "";
  for (int k = 0; k < 4; k++) {
    sct_str_printf(out, "ld.global.u64 %%d7, [%%d4+%d]; st%s.u64 [%%d6+%d], %%d7;\n", 8 * k, st,
                   8 * k);
  }
  sct_str_printf(out, "ld.global%s.b%d %s, [%%d4+1024];\n", v, bits, regs(f, first + 8, text));
  sct_str_printf(out, "ld.global%s.b%d %s, [%%d4+1024];\n", v, bits, regs(f, first, text));
  if (is(f->op, "cas")) {
    sct_str_printf(out, "ld.global%s.b%d %s, [%%d4+2048];\n", v, bits, regs(f, c, text));
  }
  if (is(f->type, "b128")) {
    sct_str_append(out, "mov.b128 %q0, {%d8, %d9}; mov.b128 %q1, {%d16, %d17};\n");
    sct_str_append(out, is(f->op, "cas") ? "mov.b128 %q2, {%d24, %d25};\n" : "");
  }
  sct_str_append(out, "bar.warp.sync -1;\n");
  write_atomic(out, f, w, red, salt);
  if (is(f->type, "b128")) {
    sct_str_append(out, "mov.b128 %q1, %q0; mov.b128 {%d8, %d9}, %q1;\n");
  }
  sct_str_printf(out, "st.global%s.b%d [%%d5+1024], %s;\nbar.warp.sync -1;\n", v, bits,
                 regs(f, first, text));
  for (int k = 0; shared && k < 4; k++) {
    sct_str_printf(out, "ld%s.u64 %%d7, [%%d6+%d]; st.global.u64 [%%d5+%d], %%d7;\n", st, 8 * k,
                   8 * k);
  }
  sct_str_append(out, "ret;\n}\n");
}

/* ---- operands */

static uint64_t corner(const form *f, uint64_t r) {
  static const uint64_t f16s[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x3c00, 0xbc00,
                                  0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0x1400, 0x6800};
  static const uint64_t bf16s[] = {0,      0x8000, 1,      0x807f, 0x3f80, 0xbf80, 0x7f7f,
                                   0xff7f, 0x7f80, 0xff80, 0x7fc1, 0x3b80, 0x4380, 0x80};
  static const uint64_t f32s[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,
                                  0x800000,   0x80800001, 0x3f800000, 0xbf800000, 0x7f7fffff,
                                  0xff7fffff, 0x7f800000, 0xff800000, 0x7fc12345};
  static const uint64_t f64s[] = {0,
                                  UINT64_C(1) << 63,
                                  1,
                                  UINT64_C(0x3ff0000000000000),
                                  UINT64_C(0xbca0000000000000),
                                  UINT64_C(0x7fefffffffffffff),
                                  UINT64_C(0xc340000000000001),
                                  UINT64_C(0x000fffffffffffff)};
  static const uint64_t ints[] = {0, 1, 2, 3, 0x7fffffff, 0x80000000, UINT64_MAX, INT64_MAX};
  const uint64_t *v = ints;
  size_t n = SCT_COUNT(ints);
  if (is_half(f->type)) {
    v = f->type[0] == 'b' ? bf16s : f16s;
    n = 14;
  } else if (f->type[0] == 'f') {
    v = is(f->type, "f32") ? f32s : f64s;
    n = is(f->type, "f32") ? 14 : 8;
  }
  return r & 1 ? v[(r >> 8) % n] : (r >> 16) >> (f->type[0] == 'f' ? 0 : r >> 1 & 47);
}

static void fill(const form *f, uint8_t in[3328], uint64_t seed) {
  sct_rng rng = sct_rng_new(seed);
  const int size = scalar_bytes(f->type);
  memset(in, 0, 3328);
  for (int at = 0; at < 3072; at += size) {
    const uint64_t v = corner(f, sct_rng_u64(&rng));
    memcpy(in + at, &v, size < 8 ? (size_t)size : 8);
  }
  for (uint32_t i = 0; i < 32; i++) {
    const uint32_t many[] = {i, 0, (uint32_t)sct_rng_below(&rng, 4), 31 - i};
    const uint32_t active = seed % 2 == 0 || sct_rng_below(&rng, 3) != 0;
    memcpy(in + 3072 + 4 * i, &many[seed % 4], 4);
    memcpy(in + 3200 + 4 * i, &active, 4);
    if (sct_rng_below(&rng, 2) == 0) { /* cas finds what it looks for */
      memcpy(in + 1024 + CELL * i, in + CELL * many[seed % 4], CELL);
      in[1024 + CELL * i + size - 1] ^= (uint8_t)(sct_rng_below(&rng, 4) == 0); /* but for a bit */
    }
  }
}

static bool same(const form *f, const uint8_t *a, const uint8_t *b) {
  double x = 0, y = 0;
  if (is(f->type, "f64")) {
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return (isnan(x) && isnan(y)) || memcmp(a, b, 8) == 0;
  }
  return memcmp(a, b, (size_t)(scalar_bytes(f->type) * n_scalars(f))) == 0;
}

static void check_form(const form *f, where w, bool red, int salt) {
  uint8_t in[3328], out[2048], want[2048];
  sct_str text = {0};
  fill(f, in, (uint64_t)salt);
  write_kernel(&text, f, w, red, salt);
  memcpy(want, in, 2048); /* cells, and b in the lanes that do nothing */
  for (int i = 0; i < 32; i++) {
    uint32_t cell = 0, active = 0;
    memcpy(&cell, in + 3072 + 4 * i, 4);
    memcpy(&active, in + 3200 + 4 * i, 4);
    if (active != 0) {
      memcpy(want + 1024 + CELL * i, red ? in + 1024 + CELL * i : want + CELL * cell, CELL);
      apply(f, want + CELL * cell, in + 1024 + CELL * i, in + 2048 + CELL * i,
            w == GLOBAL || w == GENERIC_GLOBAL);
    }
  }
  const kernel_run r = {
      .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
  if (run_kernel(sct_str_c(&text), &r, out, NULL) != SCT_PTX_CLEAN) {
    fail_msg("%s", sct_str_c(&text));
  }
  for (int i = 0; i < 64; i++) {
    if (!same(f, out + CELL * i, want + CELL * i)) {
      fail_msg("%s %d of %s.%s.v%d, space %d, round %d", i < 32 ? "cell" : "old value of lane",
               i % 32, f->op, f->type, f->n, w, salt);
    }
  }
  sct_str_free(&text);
}

static void every_form_in_every_space(void **state) {
  (void)state;
  int salt = 0;
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    const form *f = &forms[k];
    const bool swaps = is(f->op, "cas") || is(f->op, "exch");
    for (int w = 0; w < N_WHERE; w++) {
      for (int round = 0; round < 5 && !(w == SHARED && f->n > 1); round++) {
        check_form(f, (where)w, false, salt++);
        if (!swaps) {
          check_form(f, (where)w, true, salt++);
        }
      }
    }
  }
}

/* Subnormals vanish in global memory, whether they go in or come out; shared memory keeps them. */
static void subnormal_sums(void **state) {
  (void)state;
  static const struct {
    uint32_t a, b, global, shared;
  } cases[] = {{0x00800001, 0x80800000, 0x00000000, 0x00000001},
               {0x80800001, 0x00800000, 0x80000000, 0x80000001},
               {0x00000001, 0x00000001, 0x00000000, 0x00000002},
               {0x80000001, 0x80000001, 0x80000000, 0x80000002},
               {0x00ffffff, 0x007fffff, 0x00ffffff, 0x013fffff},
               {0x3f800000, 0x007fffff, 0x3f800000, 0x3f800000},
               {0x00400000, 0x00400000, 0x00000000, 0x00800000}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint32_t in[64] = {0}, out[96];
    for (int i = 0; i < 32; i++) {
      in[i] = cases[k].a;
      in[32 + i] = cases[k].b;
    }
    const kernel_run r = {
        .blocks = 1, .threads = 32, .in = in, .in_bytes = sizeof in, .out_bytes = sizeof out};
    assert_int_equal(run_kernel(PTX_KERNEL
                                ".shared .align 4 .b8 s[128]; mov.u32 %r5, s; shl.b32 %r6, %i, 2;\n"
                                "add.u32 %r5, %r5, %r6; ld.global.u32 %r1, [%pi];\n"
                                "ld.global.u32 %r2, [%pi+128]; st.shared.u32 [%r5], %r1;\n"
                                "st.global.u32 [%po], %r1; st.global.u32 [%po+256], %r1;\n"
                                "red.global.add.f32 [%po], %r2; red.shared.add.f32 [%r5], %r2;\n"
                                "ld.shared.u32 %r3, [%r5]; st.global.u32 [%po+128], %r3;\n"
                                "and.b32 %r4, %i, 1; setp.eq.u32 %p2, %r4, 0; mov.u32 %r7, 0;\n"
                                "@%p2 red.global.add.v2.f32 [%po+256], {%r2, %r7};\n"
                                "ret;\n}\n",
                                &r, out, NULL),
                     SCT_PTX_CLEAN);
    assert_int_equal(out[0], cases[k].global);
    assert_int_equal(out[32], cases[k].shared);
    assert_int_equal(out[64], cases[k].global);
  }
}

/* ---- forms that there are not, and other orders of the modifiers */

static const char *kernel_error(sct_ptx_module **module, const char *body) {
  sct_error err = {0};
  sct_str text = {0};
  sct_str_printf(&text, "%s.reg .b128 %%q<4>; .shared .align 16 .b8 s[64];\n%s ret;\n}\n",
                 PTX_KERNEL, body);
  if (sct_ptx_parse(module, sct_str_c(&text), "kernel.ptx", &err) != SCT_OK) {
    fail_msg("%s", err.text);
  }
  sct_str_free(&text);
  return sct_ptx_kernel_at(*module, 0)->error;
}

static void forms_as_ptxas_takes_them(void **state) {
  (void)state;
  static const struct {
    const char *body;
    bool legal;
  } cases[] = {
      {"atom.global.u32.add %r1, [%po], %r2;", true},
      {"atom.add.gpu.u32 %r1, [%po], %r2;", true},
      {"atom.cta.relaxed.global.add.u32 %r1, [%po], %r2;", true},
      {"atom.global.gpu.acq_rel.add.u32 _, [%po], 5;", true},
      {"atom.global.v2.f32.add {%r1, _}, [%po], {%r2, 0f3f800000};", true},
      {"red.global.L2::cache_hint.v2.f32.add [%po], {%r1, %r2}, %d3;", true},
      {"red.add.noftz.v8.f16 [%po], {%h0,%h1,%h2,%h3,%h4,%h5,%h6,%h7};", true},
      {"atom.shared.add.u32 %r1, [s+4], %r2;", true},
      {"atom.global.add.s64 %d1, [%po], %d2;", false},
      {"atom.global.add.b32 %r1, [%po], %r2;", false},
      {"atom.global.add.f16 %h1, [%po], %h2;", false},
      {"atom.global.min.f32 %r1, [%po], %r2;", false},
      {"atom.global.min.noftz.f16 %h1, [%po], %h2;", false},
      {"atom.global.exch.b16 %h1, [%po], %h2;", false},
      {"atom.global.add.noftz.f32 %r1, [%po], %r2;", false},
      {"atom.shared.add.v2.f32 {%r1, %r2}, [s], {%r1, %r2};", false},
      {"atom.global.add.v8.f32 {%r1,%r2,%r3,%r4,%r1,%r2,%r3,%r4}, [%po],"
       "{%r1,%r2,%r3,%r4,%r1,%r2,%r3,%r4};",
       false},
      {"atom.global.add.v2.f32 {%r1, %r2}, [%po], %r3;", false},
      {"atom.global.v2.u32.add {%r1, %r2}, [%po], {%r3, %r4};", false},
      {"atom.weak.global.add.u32 %r1, [%po], %r2;", false},
      {"atom.volatile.global.add.u32 %r1, [%po], %r2;", false},
      {"atom.const.add.u32 %r1, [%po], %r2;", false},
      {"atom.local.add.u32 %r1, [%po], %r2;", false},
      {"atom.global.cas.L2::cache_hint.b32 %r1, [%po], %r2, %r3, %d3;", false},
      {"atom.shared.add.L2::cache_hint.u32 %r1, [s], %r2, %d3;", false},
      {"atom.global.add.L2::cache_hint.u32 %r1, [%po], %r2;", false},
      {"atom.global.global.add.u32 %r1, [%po], %r2;", false},
      {"atom.global.add.u32.u32 %r1, [%po], %r2;", false},
      {"atom.global.add.u32 [%po], %r2;", false},
      {"atom.global.cas.b32 %r1, [%po], %r2;", false},
      {"red.acquire.gpu.global.add.u32 [%po], %r2;", false},
      {"red.acq_rel.gpu.global.add.u32 [%po], %r2;", false},
      {"red.global.exch.b32 [%po], %r2;", false},
      {"red.global.cas.b32 [%po], %r2, %r3;", false},
      {"red.global.add.u32 %r1, [%po], %r2;", false},
      {"atom.global.cas.b128 %d1, [%po], %q1, %q2;", false},
      {"atom.global.exch.b128 %q1, [%po], 5;", false},
      {"atom.global.add.u32 %d1, [%po], %r2;", false},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_ptx_module *module = NULL;
    const char *error = kernel_error(&module, cases[k].body);
    if ((error == NULL) != cases[k].legal) {
      fail_msg("%s: %s", cases[k].body, error != NULL ? error : "was taken");
    }
    sct_ptx_module_free(module);
  }
}

/* Which of them machine code makes of compare-and-swaps: by ptxas 13.0 for sm_90; and the kernel's
 * own loops. Eight warps. */
static void loops_of_swaps_are_counted(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t loops;
  } cases[] = {
      {"atom.global.add.noftz.f16 %h1, [%out], %h2;", 8},
      {"red.global.add.noftz.f16x2 [%out], %r2;", 0},
      {"red.global.add.noftz.v2.f16 [%out], {%h2, %h2};", 0},
      {"red.global.add.f32 [%out], 0f3F800000;", 0},
      {"red.global.add.f64 [%out], 0d3FF0000000000000;", 0},
      {"red.shared.add.f32 [t], 0f3F800000;", 8},
      {"red.shared.add.f64 [t], 0d3FF0000000000000;", 8},
      {"red.shared.add.noftz.f16x2 [t], %r2;", 8},
      {"red.shared.add.u64 [t], 1;", 8},
      {"red.shared.max.s64 [t], 1;", 8},
      {"atom.shared.exch.b64 %d1, [t], 1;", 0},
      {"red.shared.add.u32 [t], 1;", 0},
      {"cvta.shared.u64 %d3, %d2; red.add.f32 [%d3], 0f3F800000; red.add.f32 [%out], 0f3F800000;",
       8},
      {"atom.global.cas.b16 %h1, [%out], %h2, %h2;", 8},
      {"atom.global.cas.b32 %r1, [%out], 0, 0;", 0},
      {"L: atom.global.cas.b32 %r1, [%out], 0, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;", 8}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    SCT_SCOPED(sct_str) text = {0};
    sct_ptx_result result;
    const uint32_t in[2] = {0};
    const kernel_run run = {.blocks = 2,
                            .threads = 128,
                            .in = in,
                            .in_bytes = 8,
                            .out_bytes = 8,
                            .out_zero = true,
                            .host_threads = 1};
    sct_str_append(&text, PTX_KERNEL);
    sct_str_printf(&text,
                   ".shared .align 8 .b8 t[8]; mov.b32 %%r2, 0; mov.b16 %%h2, 0; mov.u64 %%d2, t;\n"
                   "%s\nret;\n}\n",
                   cases[k].text);
    assert_int_equal(run_kernel(sct_str_c(&text), &run, NULL, &result), SCT_PTX_CLEAN);
    if (result.counters.swap_loops != cases[k].loops) {
      fail_msg("%s: %lld", cases[k].text, (long long)result.counters.swap_loops);
    }
    sct_ptx_result_free(&result);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loops_of_swaps_are_counted), cmocka_unit_test(every_form_in_every_space),
      cmocka_unit_test(subnormal_sums), cmocka_unit_test(forms_as_ptxas_takes_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
