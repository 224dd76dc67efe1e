/* Conversions and comparisons between all types: against exact rational arithmetic where rounding
 * is involved (values as integers times powers of two), and against definitions elsewhere. */
#include "ptx_eval.h"

#include <math.h>

__extension__ typedef __int128 big;

static const uint64_t corners[] = {0,
                                   1,
                                   2,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x100,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   0x100000000,
                                   0x1000001,
                                   0x1000003,
                                   0x20000000000001,
                                   0x3f800000,
                                   0xbf800000,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0x7c00,
                                   0x3c01};

static big sx(uint64_t v, int bits) {
  const big full = (big)1 << bits, x = (big)v % full;
  return x >= full / 2 ? x - full : x;
}
#define WANT(name, expr)                                                                           \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t e) {                           \
    (void)a, (void)b, (void)c, (void)e;                                                            \
    return (uint64_t)(expr);                                                                       \
  }
WANT(w_same, a)
WANT(w_low8, a & 0xff)
WANT(w_low16, a & 0xffff)
WANT(w_low32, a & 0xffffffff)
WANT(w_s8, sx(a, 8))
WANT(w_s16, sx(a, 16))
WANT(w_s32, sx(a, 32))
static big clamp(big v, big lo, big hi) {
  return v < lo ? lo : v > hi ? hi : v;
}
WANT(w_sat_u8_s32, clamp(sx(a, 32), 0, 255))
WANT(w_sat_s8_s32, clamp(sx(a, 32), -128, 127))
WANT(w_sat_u16_s64, clamp(sx(a, 64), 0, 65535))
WANT(w_sat_s32_u64, clamp((big)a, 0, 2147483647))
WANT(w_sat_u32_s32, clamp(sx(a, 32), 0, 2147483647))

static void between_integers(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"cvt.u64.u32 %d, %a", "63", w_same},
      {"cvt.s64.s32 %d, %a", "63", w_s32},
      {"cvt.u32.u64 %d, %a", "36", w_low32},
      {"cvt.s32.s64 %d, %a", "36", w_low32},
      {"cvt.u32.u16 %d, %a", "31", w_same},
      {"cvt.s32.s16 %d, %a", "31", w_s16},
      {"cvt.u16.u32 %d, %a", "13", w_low16},
      {"cvt.u64.u16 %d, %a", "61", w_same},
      {"cvt.s64.s16 %d, %a", "61", w_s16},
      {"cvt.u16.u64 %d, %a", "16", w_low16},
      {"cvt.s32.s8 %d, %a", "33", w_s8},
      {"cvt.u32.u8 %d, %a", "33", w_low8},
      {"cvt.s16.s8 %d, %a", "11", w_s8},
      {"cvt.u16.u8 %d, %a", "11", w_low8},
      {"cvt.u32.u8 %d, %a", "31", w_low8},
      {"cvt.s64.s8 %d, %a", "63", w_s8},
      {"cvt.s64.s8 %d, %a", "66", w_s8},
      {"cvt.u64.u8 %d, %a", "61", w_low8},
      {"cvt.sat.u8.s32 %d, %a", "33", w_sat_u8_s32},
      {"cvt.sat.s8.s32 %d, %a", "33", w_sat_s8_s32},
      {"cvt.sat.u16.s64 %d, %a", "16", w_sat_u16_s64},
      {"cvt.sat.s32.u64 %d, %a", "36", w_sat_s32_u64},
      {"cvt.sat.u32.s32 %d, %a", "33", w_sat_u32_s32},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 31);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

/* ---- floats as exact values: sign, integer mantissa, binary exponent */

typedef struct exact {
  int kind; /* 0 finite, 1 infinite, 2 NaN */
  bool negative;
  uint64_t m;
  int e; /* value = m * 2^e */
} exact;

typedef struct format {
  int bits, mant, bias;
} format;
static const format F16 = {16, 10, 15}, BF16 = {16, 7, 127}, F32 = {32, 23, 127},
                    F64 = {64, 52, 1023};

static exact decode(uint64_t v, format f) {
  exact x = {.negative = v >> (f.bits - 1) & 1};
  const int e = (int)(v >> f.mant & (((uint64_t)1 << (f.bits - 1 - f.mant)) - 1));
  const uint64_t m = v & (((uint64_t)1 << f.mant) - 1);
  if (e == 2 * f.bias + 1) {
    x.kind = m != 0 ? 2 : 1;
    return x;
  }
  x.m = e != 0 ? m | (uint64_t)1 << f.mant : m;
  x.e = (e != 0 ? e : 1) - f.bias - f.mant;
  return x;
}

/* How the dropped part decides: mode 'n' nearest even, 'z', 'm', 'p'. */
static bool up(char mode, bool negative, bool odd, int half, bool inexact) {
  return mode == 'n'   ? half > 0 || (half == 0 && odd)
         : mode == 'm' ? negative && inexact
         : mode == 'p' ? !negative && inexact
                       : false;
}

/* m * 2^e with all bits below 2^to dropped, rounded: the quotient by 2^(to - e). */
static uint64_t dropped(exact x, int to, char mode, bool *inexact) {
  const int n = to - x.e;
  *inexact = false;
  if (n <= 0) {
    return x.m << (-n > 63 ? 63 : -n);
  }
  const uint64_t q = n > 63 ? 0 : x.m >> n;
  const uint64_t rest = n > 63 ? x.m : x.m & (((uint64_t)1 << n) - 1);
  const uint64_t middle = n > 63 ? 0 : (uint64_t)1 << (n - 1);
  const int half = n > 63 ? -1 : rest > middle ? 1 : rest == middle ? 0 : -1;
  *inexact = rest != 0;
  return q + up(mode, x.negative, q & 1, half, rest != 0);
}

static uint64_t encode(exact x, format f, char mode) {
  const uint64_t sign = (uint64_t)x.negative << (f.bits - 1);
  const uint64_t inf = (uint64_t)(2 * f.bias + 1) << f.mant;
  bool inexact = false;
  if (x.kind == 2) {
    return f.bits == 64 ? UINT64_MAX >> 1 : ((uint64_t)1 << (f.bits - 1)) - 1;
  }
  if (x.kind == 1 || x.m == 0) {
    return sign | (x.kind == 1 ? inf : 0);
  }
  int top = x.e + 63 - __builtin_clzll(x.m); /* exponent of the leading bit */
  top = top < 1 - f.bias ? 1 - f.bias : top;
  const uint64_t m = dropped(x, top - f.mant, mode, &inexact);
  const uint64_t out = ((uint64_t)(top - 1 + f.bias) << f.mant) + m;
  if (out >= inf) {
    const bool inwards = mode == 'z' || (mode == 'm' && !x.negative) || (mode == 'p' && x.negative);
    return sign | (inwards ? inf - 1 : inf);
  }
  return sign | out;
}

static exact from_int(big v) {
  exact x = {.negative = v < 0};
  x.m = (uint64_t)(v < 0 ? -v : v);
  return x;
}

/* Rounded to an integer and clamped into [lo, hi]. */
static big to_int(exact x, char mode, big lo, big hi) {
  bool inexact = false;
  if (x.kind == 1 || (x.m != 0 && x.e + 63 - __builtin_clzll(x.m) > 70)) {
    return x.negative ? lo : hi;
  }
  const big m = x.e >= 0 ? (big)x.m << x.e : (big)dropped(x, 0, mode, &inexact);
  return clamp(x.negative ? -m : m, lo, hi);
}

static exact flush32(exact x) {
  if (x.kind == 0 && x.m < (1u << 23)) {
    x.m = 0;
  }
  return x;
}

/* ---- a conversion described by its types */

typedef struct conv {
  const char *instr, *sig;
  char from, to; /* 'h' f16, 'b' bf16, 'f' f32, 'd' f64; 's' 'u' integers of the width in bits */
  int from_bits, to_bits;
  char mode;
  bool ftz, sat, integral;
} conv;

static format format_of(char c) {
  return c == 'h' ? F16 : c == 'b' ? BF16 : c == 'f' ? F32 : F64;
}
static bool is_int(char c) {
  return c == 's' || c == 'u';
}

static uint64_t want_conv(const conv *c, uint64_t a) {
  const uint64_t cut = c->from_bits == 64 ? a : a & (((uint64_t)1 << c->from_bits) - 1);
  exact x = c->from == 's'   ? from_int(sx(cut, c->from_bits))
            : c->from == 'u' ? from_int((big)cut)
                             : decode(cut, format_of(c->from));
  if (c->ftz && c->from == 'f') {
    x = flush32(x);
  }
  if (is_int(c->to)) {
    const big hi = ((big)1 << (c->to == 's' ? c->to_bits - 1 : c->to_bits)) - 1;
    const big lo = c->to == 's' ? -hi - 1 : 0;
    if (x.kind == 2) {
      return c->to_bits == 64 || c->from == 'd' ? (uint64_t)1 << (c->to_bits - 1) : 0;
    }
    return (uint64_t)to_int(x, c->mode, lo, hi);
  }
  if (c->integral && x.kind == 0) {
    const bool negative = x.negative;
    if (x.e < 0) {
      bool inexact = false;
      x.m = dropped(x, 0, c->mode, &inexact);
      x.e = 0;
    }
    x.negative = negative;
  }
  if (c->sat) {
    const exact one = {.m = 1};
    const bool above = x.kind == 1 || (x.m != 0 && x.e + 63 - __builtin_clzll(x.m) >= 0);
    x = x.kind == 2 || (x.negative && x.kind < 2) ? (exact){0} : above ? one : x;
  }
  uint64_t out = encode(x, format_of(c->to), c->integral ? 'n' : c->mode);
  if (c->ftz && c->to == 'f' && (out & 0x7f800000) == 0) {
    out &= 0x80000000;
  }
  return out;
}

static void check_conv(const conv *c, const eval_data *d, uint64_t *out) {
  eval(c->instr, c->sig, (uint64_t *const *)d->in, d->n, out);
  for (int i = 0; i < d->n; i++) {
    const uint64_t a = d->in[0][i];
    const uint64_t want = want_conv(c, a) & eval_mask(c->sig[0]);
    const bool nan64 = c->to == 'd' && decode(out[i], F64).kind == 2 && decode(want, F64).kind == 2;
    if (out[i] != want && !nan64) {
      fail_msg("%s: %#llx gives %#llx, not %#llx", c->instr, (unsigned long long)a,
               (unsigned long long)out[i], (unsigned long long)want);
    }
  }
}

/* Values near the ends of integer ranges, halves, subnormals, in the format's own encoding. */
static eval_data float_data(format f, uint64_t seed) {
  static const double near[] = {0,
                                0.25,
                                0.5,
                                0.75,
                                1,
                                1.5,
                                2.5,
                                3.5,
                                126.5,
                                127.5,
                                128,
                                255,
                                255.5,
                                256,
                                32767,
                                32767.5,
                                32768,
                                65504,
                                65519.9,
                                65520,
                                65535.5,
                                65536,
                                2147483647,
                                2147483647.5,
                                2147483648.0,
                                4294967295.0,
                                4294967295.5,
                                4294967296.0,
                                9.2233720368547758e18,
                                1.8446744073709552e19,
                                1e30,
                                3.4e38,
                                1e-8,
                                6e-8,
                                5.9e-8,
                                1e-40,
                                1e-45,
                                1e-310};
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), seed);
  int at = 0;
  for (int k = 0; k < SCT_COUNT(near); k++) {
    for (int s = 0; s < 2; s++) {
      for (int step = -1; step <= 1; step++) {
        uint64_t bits = 0;
        const double v = s ? -near[k] : near[k];
        memcpy(&bits, &v, 8);
        d.in[0][at++] = encode(decode(bits, F64), f, 'n') + (uint64_t)step;
      }
    }
  }
  const uint64_t special[] = {(uint64_t)(2 * f.bias + 1) << f.mant,
                              ((uint64_t)(2 * f.bias + 1) << f.mant) + 1,
                              (uint64_t)1 << (f.bits - 1)};
  for (int k = 0; k < 3; k++) {
    d.in[0][at++] = special[k];
    d.in[0][at++] = special[k] | (uint64_t)1 << (f.bits - 1);
  }
  assert_true(at <= d.n);
  return d;
}

#define I(instr, sig, from, fb, to, tb, mode)                                                      \
  { instr, sig, from, to, fb, tb, mode, false, false, false }
#define FTZ(instr, sig, from, fb, to, tb, mode)                                                    \
  { instr, sig, from, to, fb, tb, mode, true, false, false }
#define SAT(instr, sig, from, fb, to, tb, mode, ftz)                                               \
  { instr, sig, from, to, fb, tb, mode, ftz, true, false }
#define RND(instr, sig, from, fb, to, tb, mode, ftz)                                               \
  { instr, sig, from, to, fb, tb, mode, ftz, false, true }

static const conv convs[] = {
    I("cvt.rn.f32.s32 %d, %a", "33", 's', 32, 'f', 32, 'n'),
    I("cvt.rz.f32.s32 %d, %a", "33", 's', 32, 'f', 32, 'z'),
    I("cvt.rm.f32.s32 %d, %a", "33", 's', 32, 'f', 32, 'm'),
    I("cvt.rp.f32.u32 %d, %a", "33", 'u', 32, 'f', 32, 'p'),
    I("cvt.rn.f32.u32 %d, %a", "33", 'u', 32, 'f', 32, 'n'),
    I("cvt.rn.f32.s64 %d, %a", "36", 's', 64, 'f', 32, 'n'),
    I("cvt.rz.f32.u64 %d, %a", "36", 'u', 64, 'f', 32, 'z'),
    I("cvt.rn.f32.u64 %d, %a", "36", 'u', 64, 'f', 32, 'n'),
    I("cvt.rp.f32.u64 %d, %a", "36", 'u', 64, 'f', 32, 'p'),
    I("cvt.rn.f32.s16 %d, %a", "31", 's', 16, 'f', 32, 'n'),
    I("cvt.rn.f32.u8 %d, %a", "31", 'u', 8, 'f', 32, 'n'),
    I("cvt.rn.f64.s32 %d, %a", "63", 's', 32, 'd', 64, 'n'),
    I("cvt.rn.f64.u32 %d, %a", "63", 'u', 32, 'd', 64, 'n'),
    I("cvt.rn.f64.s64 %d, %a", "66", 's', 64, 'd', 64, 'n'),
    I("cvt.rm.f64.s64 %d, %a", "66", 's', 64, 'd', 64, 'm'),
    I("cvt.rn.f64.u64 %d, %a", "66", 'u', 64, 'd', 64, 'n'),
    I("cvt.rp.f64.u64 %d, %a", "66", 'u', 64, 'd', 64, 'p'),
    I("cvt.rn.f16.s32 %d, %a", "13", 's', 32, 'h', 16, 'n'),
    I("cvt.rz.f16.u16 %d, %a", "11", 'u', 16, 'h', 16, 'z'),
    I("cvt.rn.bf16.s64 %d, %a", "16", 's', 64, 'b', 16, 'n'),
    I("cvt.rn.bf16.u64 %d, %a", "16", 'u', 64, 'b', 16, 'n'),
    I("cvt.rn.f16.f32 %d, %a", "13", 'f', 32, 'h', 16, 'n'),
    I("cvt.rz.f16.f32 %d, %a", "13", 'f', 32, 'h', 16, 'z'),
    I("cvt.rm.f16.f32 %d, %a", "13", 'f', 32, 'h', 16, 'm'),
    I("cvt.rp.f16.f32 %d, %a", "13", 'f', 32, 'h', 16, 'p'),
    FTZ("cvt.rn.ftz.f16.f32 %d, %a", "13", 'f', 32, 'h', 16, 'n'),
    I("cvt.rn.bf16.f32 %d, %a", "13", 'f', 32, 'b', 16, 'n'),
    I("cvt.rz.bf16.f32 %d, %a", "13", 'f', 32, 'b', 16, 'z'),
    I("cvt.rn.f16.f64 %d, %a", "16", 'd', 64, 'h', 16, 'n'),
    I("cvt.rn.f32.f64 %d, %a", "36", 'd', 64, 'f', 32, 'n'),
    I("cvt.rz.f32.f64 %d, %a", "36", 'd', 64, 'f', 32, 'z'),
    I("cvt.rm.f32.f64 %d, %a", "36", 'd', 64, 'f', 32, 'm'),
    I("cvt.rp.f32.f64 %d, %a", "36", 'd', 64, 'f', 32, 'p'),
    FTZ("cvt.rn.ftz.f32.f64 %d, %a", "36", 'd', 64, 'f', 32, 'n'),
    I("cvt.f32.f16 %d, %a", "31", 'h', 16, 'f', 32, 'n'),
    I("cvt.f32.bf16 %d, %a", "31", 'b', 16, 'f', 32, 'n'),
    I("cvt.f64.f16 %d, %a", "61", 'h', 16, 'd', 64, 'n'),
    I("cvt.f64.f32 %d, %a", "63", 'f', 32, 'd', 64, 'n'),
    FTZ("cvt.ftz.f64.f32 %d, %a", "63", 'f', 32, 'd', 64, 'n'),
    I("cvt.rni.s32.f32 %d, %a", "33", 'f', 32, 's', 32, 'n'),
    I("cvt.rzi.s32.f32 %d, %a", "33", 'f', 32, 's', 32, 'z'),
    I("cvt.rmi.s32.f32 %d, %a", "33", 'f', 32, 's', 32, 'm'),
    I("cvt.rpi.s32.f32 %d, %a", "33", 'f', 32, 's', 32, 'p'),
    FTZ("cvt.rpi.ftz.s32.f32 %d, %a", "33", 'f', 32, 's', 32, 'p'),
    FTZ("cvt.rzi.ftz.u32.f32 %d, %a", "33", 'f', 32, 'u', 32, 'z'),
    I("cvt.rzi.u32.f32 %d, %a", "33", 'f', 32, 'u', 32, 'z'),
    I("cvt.rni.u32.f32 %d, %a", "33", 'f', 32, 'u', 32, 'n'),
    I("cvt.rzi.s64.f32 %d, %a", "63", 'f', 32, 's', 64, 'z'),
    I("cvt.rzi.u64.f32 %d, %a", "63", 'f', 32, 'u', 64, 'z'),
    I("cvt.rni.s32.f64 %d, %a", "36", 'd', 64, 's', 32, 'n'),
    I("cvt.rzi.s32.f64 %d, %a", "36", 'd', 64, 's', 32, 'z'),
    I("cvt.rzi.u32.f64 %d, %a", "36", 'd', 64, 'u', 32, 'z'),
    I("cvt.rzi.s64.f64 %d, %a", "66", 'd', 64, 's', 64, 'z'),
    I("cvt.rmi.u64.f64 %d, %a", "66", 'd', 64, 'u', 64, 'm'),
    I("cvt.rzi.s32.f16 %d, %a", "31", 'h', 16, 's', 32, 'z'),
    I("cvt.rni.s16.f16 %d, %a", "11", 'h', 16, 's', 16, 'n'),
    I("cvt.rzi.u8.f32 %d, %a", "33", 'f', 32, 'u', 8, 'z'),
    I("cvt.rzi.s16.f64 %d, %a", "16", 'd', 64, 's', 16, 'z'),
    RND("cvt.rni.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'n', false),
    RND("cvt.rzi.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'z', false),
    RND("cvt.rmi.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'm', false),
    RND("cvt.rpi.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'p', false),
    RND("cvt.rmi.ftz.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'm', true),
    RND("cvt.rni.f64.f64 %d, %a", "66", 'd', 64, 'd', 64, 'n', false),
    RND("cvt.rpi.f64.f64 %d, %a", "66", 'd', 64, 'd', 64, 'p', false),
    RND("cvt.rmi.f16.f16 %d, %a", "11", 'h', 16, 'h', 16, 'm', false),
    SAT("cvt.sat.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'n', false),
    SAT("cvt.ftz.sat.f32.f32 %d, %a", "33", 'f', 32, 'f', 32, 'n', true),
    SAT("cvt.rn.sat.f16.f32 %d, %a", "13", 'f', 32, 'h', 16, 'n', false),
};

static void with_floats(void **state) {
  (void)state;
  uint64_t *out = calloc(EVAL_MAX, sizeof *out);
  assert_non_null(out);
  for (int k = 0; k < SCT_COUNT(convs); k++) {
    eval_data d = is_int(convs[k].from) ? eval_data_new(corners, SCT_COUNT(corners), 32)
                                        : float_data(format_of(convs[k].from), 33 + (uint64_t)k);
    check_conv(&convs[k], &d, out);
    eval_data_free(&d);
  }
  free(out);
}

/* Two floats to one register: the first goes up. */
static void packed(void **state) {
  (void)state;
  static const struct {
    const char *instr;
    format f;
    char mode;
  } forms[] = {{"cvt.rn.f16x2.f32 %d, %a, %b", {16, 10, 15}, 'n'},
               {"cvt.rz.f16x2.f32 %d, %a, %b", {16, 10, 15}, 'z'},
               {"cvt.rn.bf16x2.f32 %d, %a, %b", {16, 7, 127}, 'n'}};
  eval_data d = float_data(F32, 40);
  uint64_t *out = calloc(EVAL_MAX, sizeof *out);
  assert_non_null(out);
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    eval(forms[k].instr, "333", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      const uint64_t hi = encode(decode(d.in[0][i] & 0xffffffff, F32), forms[k].f, forms[k].mode);
      const uint64_t lo = encode(decode(d.in[1][i] & 0xffffffff, F32), forms[k].f, forms[k].mode);
      assert_int_equal((int64_t)out[i], (int64_t)(hi << 16 | lo));
    }
  }
  free(out);
  eval_data_free(&d);
}

/* ---- comparisons: by the sign of a difference in a common order */

/* -1, 0, 1, or 2 for unordered */
static int compare(uint64_t a, uint64_t b, char type, int bits) {
  if (type == 's' || type == 'u') {
    const big x = type == 's' ? sx(a, bits) : (big)a, y = type == 's' ? sx(b, bits) : (big)b;
    return x < y ? -1 : x > y;
  }
  const exact x = decode(a, format_of(type)), y = decode(b, format_of(type));
  if (x.kind == 2 || y.kind == 2) {
    return 2;
  }
  /* equal encodings but for the sign of zero compare like sign and magnitude */
  const uint64_t top = (uint64_t)1 << (bits - 1);
  const big u = (big)(a & (top - 1)), v = (big)(b & (top - 1));
  const big p = x.negative ? -u : u, q = y.negative ? -v : v;
  return p < q ? -1 : p > q;
}

static bool holds(const char *op, int order) {
  if (order == 2) {
    return strcmp(op, "nan") == 0 || (strlen(op) == 3 && op[2] == 'u');
  }
  if (strcmp(op, "num") == 0 || strcmp(op, "nan") == 0) {
    return op[1] == 'u';
  }
  const bool eq = strncmp(op, "eq", 2) == 0, ne = strncmp(op, "ne", 2) == 0;
  const bool lt = strncmp(op, "lt", 2) == 0 || strcmp(op, "lo") == 0;
  const bool le = strncmp(op, "le", 2) == 0 || strcmp(op, "ls") == 0;
  const bool gt = strncmp(op, "gt", 2) == 0 || strcmp(op, "hi") == 0;
  return eq   ? order == 0
         : ne ? order != 0
         : lt ? order < 0
         : le ? order <= 0
         : gt ? order > 0
              : order >= 0;
}

static void check_compare(const char *op, const char *type, char t, int bits, const eval_data *d,
                          uint64_t *out) {
  char instr[96], sig[4] = {'p', 0, 0, 0};
  sig[1] = sig[2] = bits == 16 ? '1' : bits == 32 ? '3' : '6';
  snprintf(instr, sizeof instr, "setp.%s.%s %%d, %%a, %%b", op, type);
  eval(instr, sig, (uint64_t *const *)d->in, d->n, out);
  for (int i = 0; i < d->n; i++) {
    const uint64_t mask = eval_mask(sig[1]), a = d->in[0][i] & mask, b = d->in[1][i] & mask;
    if (out[i] != holds(op, compare(a, b, t, bits))) {
      fail_msg("%s: %#llx, %#llx gives %d", instr, (unsigned long long)a, (unsigned long long)b,
               (int)out[i]);
    }
  }
}

static void comparisons(void **state) {
  (void)state;
  static const char *const ints[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  static const char *const unsigned_only[] = {"lo", "ls", "hi", "hs"};
  static const char *const floats[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                       "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  static const struct {
    const char *name;
    char t;
    int bits;
  } types[] = {{"u16", 'u', 16}, {"s16", 's', 16}, {"u32", 'u', 32}, {"s32", 's', 32},
               {"u64", 'u', 64}, {"s64", 's', 64}, {"f16", 'h', 16}, {"bf16", 'b', 16},
               {"f32", 'f', 32}, {"f64", 'd', 64}};
  uint64_t *out = calloc(EVAL_MAX, sizeof *out);
  assert_non_null(out);
  for (int k = 0; k < SCT_COUNT(types); k++) {
    const bool is_float = !is_int(types[k].t);
    eval_data d = is_float ? float_data(format_of(types[k].t), 50 + (uint64_t)k)
                           : eval_data_new(corners, SCT_COUNT(corners), 51);
    for (int i = 0; is_float && i < d.n; i += 3) { /* some equal pairs, some with NaN second */
      d.in[1][i] = i % 2 ? d.in[0][i] : d.in[0][(i * 7) % 200];
    }
    for (int o = 0; o < (is_float ? SCT_COUNT(floats) : SCT_COUNT(ints)); o++) {
      check_compare(is_float ? floats[o] : ints[o], types[k].name, types[k].t, types[k].bits, &d,
                    out);
    }
    for (int o = 0; types[k].t == 'u' && o < SCT_COUNT(unsigned_only); o++) {
      check_compare(unsigned_only[o], types[k].name, types[k].t, types[k].bits, &d, out);
    }
    eval_data_free(&d);
  }
  free(out);
}

/* Boolean combination, second destination, set, flushed comparison. */
WANT(w_lt_and, ((int32_t)a < (int32_t)b) && c)
WANT(w_lt_or_not, ((int32_t)a < (int32_t)b) || !c)
WANT(w_lt_xor, ((int32_t)a < (int32_t)b) ^ (c != 0))
WANT(w_second, ((int32_t)a >= (int32_t)b) && c)
WANT(w_ge, (int32_t)a >= (int32_t)b)
WANT(w_set_u32, (int32_t)a < (int32_t)b ? 0xffffffff : 0)
WANT(w_set_f32, (int32_t)a < (int32_t)b ? 0x3f800000 : 0)
WANT(w_eqftz, 1)
static void combined(void **state) {
  (void)state;
  static const eval_case cases[] = {
      {"setp.lt.and.s32 %d, %a, %b, %c", "p33p", w_lt_and},
      {"setp.lt.or.s32 %d, %a, %b, !%c", "p33p", w_lt_or_not},
      {"setp.lt.xor.s32 %d, %a, %b, %c", "p33p", w_lt_xor},
      {"{ .reg .pred q; setp.lt.and.s32 q|%d, %a, %b, %c; }", "p33p", w_second},
      {"{ .reg .pred q; setp.lt.s32 q|%d, %a, %b; }", "p33", w_ge},
      {"set.lt.u32.s32 %d, %a, %b", "333", w_set_u32},
      {"set.lt.f32.s32 %d, %a, %b", "333", w_set_f32},
      {"{ .reg .f32 x, y; mov.f32 x, 0f00000001; mov.f32 y, 0f80000002; setp.eq.ftz.f32 %d, x, y; "
       "}",
       "p3", w_eqftz},
  };
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 60);
  eval_check(cases, SCT_COUNT(cases), &d);
  eval_data_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(between_integers),
                                     cmocka_unit_test(with_floats), cmocka_unit_test(packed),
                                     cmocka_unit_test(comparisons), cmocka_unit_test(combined)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
