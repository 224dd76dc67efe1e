/* Conversions between every pair of types, generated: integers by 128-bit arithmetic, floats by the
 * host's conversions in the mode asked for, 16-bit floats by a search among all their values. */
#include "fuzz/reference.h"
#include "ptx_eval.h"

#include <fenv.h>
#include <math.h>

__extension__ typedef __int128 big;

typedef struct type {
  const char *name;
  char kind; /* 'u' 's' 'f' */
  int bits;
} type;
static const type ints[] = {{"u8", 'u', 8},   {"s8", 's', 8},   {"u16", 'u', 16}, {"s16", 's', 16},
                            {"u32", 'u', 32}, {"s32", 's', 32}, {"u64", 'u', 64}, {"s64", 's', 64}};
static const char *const mode_names[] = {"rn", "rz", "rm", "rp"};
static const int mode_host[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};

static const uint64_t corners[] = {0,
                                   1,
                                   0x7f,
                                   0x80,
                                   0x81,
                                   0xff,
                                   0x100,
                                   0x17f,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x1ffff,
                                   0x1000001,
                                   0x7fffff80,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffff80,
                                   0xffffffff,
                                   0x20000000000001,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffff80,
                                   0xffffffffffffffff};

static big modulo(big v, int bits) {
  const big full = (big)1 << bits, m = v % full;
  return m < 0 ? m + full : m;
}
static big value_of(uint64_t raw, type t) {
  const big v = modulo((big)raw, t.bits);
  return t.kind == 's' && v >= (big)1 << (t.bits - 1) ? v - ((big)1 << t.bits) : v;
}
static big least(type t) {
  return t.kind == 's' ? -((big)1 << (t.bits - 1)) : 0;
}
static big greatest(type t) {
  return ((big)1 << (t.kind == 's' ? t.bits - 1 : t.bits)) - 1;
}
/* Smallest register class that holds the type. */
static char class_of(int bits) {
  return bits <= 16 ? '1' : bits == 32 ? '3' : '6';
}
static int width_of(char cls) {
  return cls == '1' ? 16 : cls == '3' ? 32 : 64;
}

static void mismatch(const char *instr, uint64_t in, uint64_t got, uint64_t want) {
  fail_msg("%s: %#llx gives %#llx, not %#llx", instr, (unsigned long long)in,
           (unsigned long long)got, (unsigned long long)want);
}

/* ---- integers: all 64 pairs, saturated or cut, with registers of every legal width */

static void check_ints(type from, type to, bool sat, char from_cls, char to_cls, const eval_data *d,
                       uint64_t *out) {
  char text[64];
  const char sig[3] = {to_cls, from_cls, '\0'};
  snprintf(text, sizeof text, "cvt%s.%s.%s %%d, %%a", sat ? ".sat" : "", to.name, from.name);
  eval(text, sig, (uint64_t *const *)d->in, d->n, out);
  for (int i = 0; i < d->n; i++) {
    big v = value_of(d->in[0][i], from);
    if (sat) {
      v = v < least(to) ? least(to) : v > greatest(to) ? greatest(to) : v;
    }
    /* cut to the type, then extended to the register by the type's signedness */
    v = value_of((uint64_t)modulo(v, 64), to);
    const uint64_t want = (uint64_t)modulo(v, width_of(to_cls));
    if (out[i] != want) {
      mismatch(text, d->in[0][i], out[i], want);
    }
  }
}

static void integer_pairs(void **state) {
  (void)state;
  static const char classes[] = "136";
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 71);
  uint64_t out[EVAL_MAX];
  d.n = 608;
  for (int f = 0; f < SCT_COUNT(ints); f++) {
    for (int t = 0; t < SCT_COUNT(ints); t++) {
      for (int wide = 0; wide < 3; wide++) { /* of source and destination in turn */
        char from = class_of(ints[f].bits), to = class_of(ints[t].bits);
        from = width_of(classes[wide]) > width_of(from) ? classes[wide] : from;
        to = width_of(classes[2 - wide]) > width_of(to) ? classes[2 - wide] : to;
        check_ints(ints[f], ints[t], false, from, to, &d, out);
        check_ints(ints[f], ints[t], true, from, to, &d, out);
      }
    }
  }
  eval_data_free(&d);
}

/* ---- integers to floats: the host rounds */

static uint64_t host_from_int(uint64_t raw, type from, int bits, int mode) {
  const big v = value_of(raw, from);
  volatile uint64_t u = (uint64_t)v;
  volatile int64_t s = (int64_t)v;
  volatile float f = 0;
  volatile double g = 0;
  fesetround(mode);
  if (bits == 32) {
    f = from.kind == 's' ? (float)s : (float)u;
  } else {
    g = from.kind == 's' ? (double)s : (double)u;
  }
  fesetround(FE_TONEAREST);
  uint64_t out = 0;
  const float narrow = f;
  const double wide = g;
  memcpy(&out, bits == 32 ? (const void *)&narrow : (const void *)&wide, (size_t)bits / 8);
  return out;
}

static void integers_to_floats(void **state) {
  (void)state;
  eval_data d = eval_data_new(corners, SCT_COUNT(corners), 72);
  uint64_t out[EVAL_MAX];
  d.n = 800;
  for (int f = 0; f < SCT_COUNT(ints); f++) {
    for (int bits = 32; bits <= 64; bits += 32) {
      for (int m = 0; m < 4; m++) {
        char text[64];
        const char sig[3] = {bits == 32 ? '3' : '6', class_of(ints[f].bits), '\0'};
        snprintf(text, sizeof text, "cvt.%s.f%d.%s %%d, %%a", mode_names[m], bits, ints[f].name);
        eval(text, sig, (uint64_t *const *)d.in, d.n, out);
        for (int i = 0; i < d.n; i++) {
          const uint64_t want = host_from_int(d.in[0][i], ints[f], bits, mode_host[m]);
          if (out[i] != want) {
            mismatch(text, d.in[0][i], out[i], want);
          }
        }
      }
    }
  }
  eval_data_free(&d);
}

/* ---- floats to integers */

/* Values around every end of an integer range, halves, and others, as doubles. */
static int float_values(double *out) {
  static const double fixed[] = {0.0, 0.25, 0.5, 0.75, 1.5, 2.5, 3.5, 1e10, 1e19, 1e25, 1e-3};
  sct_rng rng = sct_rng_new(73);
  int n = 0;
  for (int k = 0; k < SCT_COUNT(fixed); k++) {
    out[n++] = fixed[k];
    out[n++] = -fixed[k];
  }
  for (int e = 6; e <= 65; e++) {
    for (int step = -2; step <= 2; step++) {
      const double v = ldexp(1, e) + 0.5 * step;
      out[n++] = v;
      out[n++] = -v;
    }
  }
  out[n++] = INFINITY;
  out[n++] = -INFINITY;
  out[n++] = (double)NAN;
  out[n++] = 0x1p-140;
  out[n++] = -0x1p-140;
  while (n % 32 != 0 || n < 800) {
    out[n++] = ldexp(sct_rng_unit(&rng) - 0.5, (int)sct_rng_below(&rng, 70));
  }
  return n;
}

static uint64_t host_to_int(double v, type to, int from_bits, int mode) {
  if (isnan(v)) {
    return to.bits == 64 || from_bits == 64
               ? (uint64_t)modulo(value_of((uint64_t)1 << (to.bits - 1), to), 64)
               : 0;
  }
  fesetround(mode);
  volatile double r = v;
  r = nearbyint(r); /* gcc's own rint() knows one mode only when it optimises */
  fesetround(FE_TONEAREST);
  const double whole = r;
  if (whole >= ldexp(1, to.kind == 's' ? to.bits - 1 : to.bits)) {
    return (uint64_t)greatest(to);
  }
  if (whole < (double)least(to)) {
    return (uint64_t)modulo(least(to), 64);
  }
  return (uint64_t)modulo((big)whole, 64);
}

static void floats_to_integers(void **state) {
  (void)state;
  double v[1024];
  uint64_t in0[1024], out[1024];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  const int n = float_values(v);
  for (int t = 0; t < SCT_COUNT(ints); t++) {
    for (int bits = 32; bits <= 64; bits += 32) {
      for (int m = 0; m < 8; m++) {
        const bool ftz = m >= 4;
        char text[64];
        const char cls = class_of(ints[t].bits);
        const char sig[3] = {cls, bits == 32 ? '3' : '6', '\0'};
        if (ftz && bits == 64) {
          continue;
        }
        for (int i = 0; i < n; i++) {
          const float f = (float)v[i];
          in0[i] = 0;
          memcpy(&in0[i], bits == 32 ? (const void *)&f : (const void *)&v[i], (size_t)bits / 8);
        }
        snprintf(text, sizeof text, "cvt.%si%s.%s.f%d %%d, %%a", mode_names[m & 3],
                 ftz ? ".ftz" : "", ints[t].name, bits);
        eval(text, sig, in, n, out);
        for (int i = 0; i < n; i++) {
          double x = bits == 32 ? (double)(float)v[i] : v[i];
          x = ftz && fabs(x) < 0x1p-126 ? copysign(0, x) : x;
          const uint64_t want =
              (uint64_t)modulo((big)host_to_int(x, ints[t], bits, mode_host[m & 3]), width_of(cls));
          if (out[i] != want) {
            mismatch(text, in0[i], out[i], want);
          }
        }
      }
    }
  }
}

/* ---- 16-bit floats: all 65,536 patterns, and the nearest among them */

/* bits -> value by the definition of the format */
static double half_value(uint32_t bits, int mant, int bias) {
  const int e = (int)(bits >> mant & ((1u << (15 - mant)) - 1)), top = (1 << (15 - mant)) - 1;
  const uint32_t m = bits & ((1u << mant) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (e == top) {
    return m != 0 ? (double)NAN : sign * (double)INFINITY;
  }
  return sign * (e == 0 ? ldexp(m, 1 - bias - mant) : ldexp(m + (1u << mant), e - bias - mant));
}

static void every_half_to_wider_types(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int mant, bias;
  } formats[] = {{"f16", 10, 15}, {"bf16", 7, 127}};
  uint64_t in0[EVAL_MAX], out[EVAL_MAX];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int k = 0; k < 4; k++) {
    const int f = k & 1;
    const bool wide = k >= 2;
    char text[64];
    snprintf(text, sizeof text, "cvt.f%d.%s %%d, %%a", wide ? 64 : 32, formats[f].name);
    for (uint32_t base = 0; base < 65536; base += EVAL_MAX) {
      for (uint32_t i = 0; i < EVAL_MAX; i++) {
        in0[i] = base + i;
      }
      eval(text, wide ? "61" : "31", in, EVAL_MAX, out);
      for (uint32_t i = 0; i < EVAL_MAX; i++) {
        const double want = half_value(base + i, formats[f].mant, formats[f].bias);
        double got = 0;
        float narrow = 0;
        memcpy(&narrow, &out[i], 4);
        memcpy(&got, &out[i], 8);
        got = wide ? got : (double)narrow;
        if (isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want)) {
          fail_msg("%s of %#x is %a, not %a", text, base + i, got, want);
        }
      }
    }
  }
}

/* The candidate in the direction of the mode, found by bisection over the positive patterns. */
static uint32_t search_half(double v, int mant, int bias, int m) {
  const uint32_t sign = signbit(v) ? 0x8000 : 0;
  const uint32_t inf = (uint32_t)((1 << (15 - mant)) - 1) << mant;
  const double x = fabs(v);
  if (isnan(v)) {
    return 0x7fff;
  }
  uint32_t lo = 0, hi = inf; /* value(lo) <= x < value(hi), or x infinite */
  if (isinf(v)) {
    return sign | inf;
  }
  while (hi - lo > 1) {
    const uint32_t mid = (lo + hi) / 2;
    if (half_value(mid, mant, bias) <= x) {
      lo = mid;
    } else {
      hi = mid;
    }
  }
  const double below = half_value(lo, mant, bias);
  if (below == x) {
    return sign | lo;
  }
  /* what follows the greatest number, were there no end, decides where infinity begins */
  const double above = hi == inf ? ldexp(1, bias + 1) : half_value(hi, mant, bias);
  const double middle = below + (above - below) / 2;
  const bool up = m == 0   ? x > middle || (x == middle && (lo & 1))
                  : m == 2 ? sign != 0
                  : m == 3 ? sign == 0
                           : false;
  return sign | (up ? hi : lo);
}

/* satfinite: infinity, given or rounded to, becomes the largest number; NaN stays what it is. */
static uint32_t finite_half(uint32_t half, int mant) {
  const uint32_t inf = mant == 10 ? 0x7c00 : 0x7f80;
  return (half & 0x7fff) == inf ? half - 1 : half;
}

static void narrowing_to_halves(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int mant, bias;
  } formats[] = {{"f16", 10, 15}, {"bf16", 7, 127}};
  sct_rng rng = sct_rng_new(74);
  uint64_t in0[2048], out[2048];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int f = 0; f < 2; f++) {
    for (int i = 0; i < 2048; i++) { /* a pattern, half way to the next, or a bit beside that */
      const uint32_t bits = (uint32_t)sct_rng_below(&rng, 0x7fff);
      const double a = half_value(bits, formats[f].mant, formats[f].bias);
      const double b = half_value(bits + 1, formats[f].mant, formats[f].bias);
      const float mid = (float)(i % 3 == 0 ? a : a + (b - a) / 2);
      const float x = i % 3 == 2 ? nextafterf(mid, i & 1 ? INFINITY : 0) : mid;
      const float v = i & 4 ? -x : x;
      in0[i] = 0;
      memcpy(&in0[i], &v, 4);
    }
    for (int form = 0; form < 6; form++) {
      const bool finite = form >= 4;
      const int m = form % 4;
      char text[64];
      snprintf(text, sizeof text, "cvt.%s%s.%s.f32 %%d, %%a", mode_names[m],
               finite ? ".satfinite" : "", formats[f].name);
      eval(text, "13", in, 2048, out);
      for (int i = 0; i < 2048; i++) {
        float v = 0;
        memcpy(&v, &in0[i], 4);
        const uint32_t half = search_half((double)v, formats[f].mant, formats[f].bias, m);
        const uint32_t want = finite ? finite_half(half, formats[f].mant) : half;
        if (out[i] != want) {
          mismatch(text, in0[i], out[i], want);
        }
      }
    }
  }
}

/* Two at once: the first operand is the upper half; relu and the saturation of the manual. */
static void packed_halves(void **state) {
  (void)state;
  static const struct {
    const char *instr;
    int mant, bias, mode;
    bool relu, finite;
  } forms[] = {{"cvt.rn.f16x2.f32 %d, %a, %b", 10, 15, 0, false, false},
               {"cvt.rz.f16x2.f32 %d, %a, %b", 10, 15, 1, false, false},
               {"cvt.rn.relu.f16x2.f32 %d, %a, %b", 10, 15, 0, true, false},
               {"cvt.rn.satfinite.f16x2.f32 %d, %a, %b", 10, 15, 0, false, true},
               {"cvt.rn.satfinite.relu.f16x2.f32 %d, %a, %b", 10, 15, 0, true, true},
               {"cvt.rn.bf16x2.f32 %d, %a, %b", 7, 127, 0, false, false},
               {"cvt.rz.bf16x2.f32 %d, %a, %b", 7, 127, 1, false, false},
               {"cvt.rz.relu.satfinite.bf16x2.f32 %d, %a, %b", 7, 127, 1, true, true},
               {"cvt.rz.relu.bf16x2.f32 %d, %a, %b", 7, 127, 1, true, false}};
  sct_rng rng = sct_rng_new(75);
  uint64_t a[512], b[512], out[512];
  uint64_t *const in[4] = {a, b, NULL, NULL};
  for (int i = 0; i < 512; i++) {
    for (int k = 0; k < 2; k++) {
      const float v = (float)ldexp(sct_rng_unit(&rng) - 0.5, (int)sct_rng_below(&rng, 40) - 22);
      uint32_t bits = 0;
      memcpy(&bits, &v, 4);
      (k == 0 ? a : b)[i] = i == 3 ? 0x7fc00000 : i == 5 ? 0xff800000 : i == 7 ? 0x80000000 : bits;
    }
  }
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    eval(forms[k].instr, "333", in, 512, out);
    for (int i = 0; i < 512; i++) {
      uint32_t half[2];
      for (int h = 0; h < 2; h++) {
        float v = 0;
        memcpy(&v, h == 0 ? &a[i] : &b[i], 4);
        v = forms[k].relu && v <= 0 ? 0 : v;
        half[h] = search_half((double)v, forms[k].mant, forms[k].bias, forms[k].mode);
        half[h] = forms[k].finite ? finite_half(half[h], forms[k].mant) : half[h];
      }
      const uint64_t want = half[0] << 16 | half[1];
      if (out[i] != want) {
        mismatch(forms[k].instr, a[i], out[i], want);
      }
    }
  }
}

/* ---- floats of a byte, two at once: saturated, nearest */

static uint32_t byte_of(uint64_t bits, bool e4m3) {
  const float v = fz_bits_float((uint32_t)bits);
  return e4m3 ? fz_to_e4m3(v).bits : fz_to_e5m2(v).bits;
}

static void floats_to_bytes(void **state) {
  (void)state;
  sct_rng rng = sct_rng_new(76);
  uint64_t a[1024], b[1024], out[1024];
  uint64_t *const in[4] = {a, b, NULL, NULL};
  for (int i = 0; i < 1024; i++) { /* around halfway between neighbours, and anything */
    const fz_e4m3 low = {(uint8_t)(i % 126)}, high = {(uint8_t)(i % 126 + 1)};
    const fz_e5m2 low5 = {(uint8_t)(i % 123)}, high5 = {(uint8_t)(i % 123 + 1)};
    const float half = (fz_from_e4m3(low) + fz_from_e4m3(high)) / 2;
    const float half5 = (fz_from_e5m2(low5) + fz_from_e5m2(high5)) / 2;
    a[i] = fz_float_bits(half) + (uint64_t)(i / 126 % 3) - 1;
    b[i] = i % 5 == 0 ? (uint64_t)sct_rng_below(&rng, (int64_t)1 << 32)
                      : (fz_float_bits(half5) + (uint64_t)(i / 123 % 3) - 1) ^ (uint64_t)1 << 31;
    a[i] &= 0xffffffff;
    b[i] &= 0xffffffff;
  }
  for (int form = 0; form < 4; form++) {
    const bool e4m3 = form % 2 == 0, relu = form >= 2;
    char text[64];
    snprintf(text, sizeof text, "cvt.rn.satfinite%s.%s.f32 %%d, %%a, %%b", relu ? ".relu" : "",
             e4m3 ? "e4m3x2" : "e5m2x2");
    eval(text, "133", in, 1024, out);
    for (int i = 0; i < 1024; i++) {
      uint32_t want = 0;
      for (int k = 0; k < 2; k++) {
        const uint64_t bits = k == 0 ? a[i] : b[i];
        const bool below = bits >> 31 && (bits & 0x7fffffff) <= 0x7f800000;
        want = want << 8 | (relu && below ? 0 : byte_of(bits, e4m3));
      }
      if (out[i] != want) {
        mismatch(text, b[i], out[i], want);
      }
    }
  }
}

/* From every f16: as from the same number as an f32. */
static void halves_to_bytes(void **state) {
  (void)state;
  static uint64_t pairs[65536], high[65536], low[65536], out[65536], want[65536];
  uint64_t *const in[4] = {pairs, NULL, NULL, NULL}, *const wide[4] = {high, low, NULL, NULL};
  for (uint32_t i = 0; i < 65536; i++) {
    const fz_f16 a = {(uint16_t)i}, b = {(uint16_t)(i * 40503)};
    pairs[i] = i << 16 | b.bits;
    high[i] = fz_float_bits(fz_from_f16(a));
    low[i] = fz_float_bits(fz_from_f16(b));
  }
  for (int form = 0; form < 4; form++) {
    char text[2][64];
    for (int k = 0; k < 2; k++) {
      snprintf(text[k], sizeof text[k], "cvt.rn.satfinite%s.%s.%s", form >= 2 ? ".relu" : "",
               form % 2 == 0 ? "e4m3x2" : "e5m2x2", k == 0 ? "f16x2 %d, %a" : "f32 %d, %a, %b");
    }
    eval(text[0], "13", in, 65536, out);
    eval(text[1], "133", wide, 65536, want);
    for (int i = 0; i < 65536; i++) {
      if (out[i] != want[i]) {
        mismatch(text[0], pairs[i], out[i], want[i]);
      }
    }
  }
}

static void bytes_to_halves(void **state) {
  (void)state;
  uint64_t a[256], out[256];
  uint64_t *const in[4] = {a, NULL, NULL, NULL};
  for (int i = 0; i < 256; i++) {
    a[i] = (uint64_t)i | (uint64_t)(255 - i) << 8;
  }
  for (int e4m3 = 0; e4m3 < 2; e4m3++) {
    const char *text = e4m3 ? "cvt.rn.f16x2.e4m3x2 %d, %a" : "cvt.rn.f16x2.e5m2x2 %d, %a";
    eval(text, "31", in, 256, out);
    for (int i = 0; i < 512; i++) {
      const uint8_t bits = (uint8_t)(i < 256 ? i : 511 - i);
      const float v = e4m3 ? fz_from_e4m3((fz_e4m3){bits}) : fz_from_e5m2((fz_e5m2){bits});
      const uint32_t want = fz_to_f16(v).bits,
                     got = (uint32_t)(out[i % 256] >> i / 256 * 16) & 0xffff;
      if (got != want) {
        mismatch(text, bits, got, want);
      }
    }
  }
}

/* ---- float to float with integral rounding and saturation */

static void integral_floats(void **state) {
  (void)state;
  double v[1024];
  uint64_t in0[1024], out[1024];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  const int n = float_values(v);
  for (int m = 0; m < 4; m++) {
    for (int form = 0; form < 3; form++) { /* f32, f32 saturated, f64 */
      char text[64];
      const bool sat = form == 1, wide = form == 2;
      snprintf(text, sizeof text, "cvt.%si%s.f%d.f%d %%d, %%a", mode_names[m], sat ? ".sat" : "",
               wide ? 64 : 32, wide ? 64 : 32);
      for (int i = 0; i < n; i++) {
        const float f = (float)v[i];
        in0[i] = 0;
        memcpy(&in0[i], wide ? (const void *)&v[i] : (const void *)&f, wide ? 8 : 4);
      }
      eval(text, wide ? "66" : "33", in, n, out);
      for (int i = 0; i < n; i++) {
        volatile double r = wide ? v[i] : (double)(float)v[i];
        fesetround(mode_host[m]);
        r = nearbyint(r); /* gcc's own rint() knows one mode only when it optimises */
        fesetround(FE_TONEAREST);
        double want = r;
        want = !sat ? want : isnan(want) || want <= 0 ? 0 : want > 1 ? 1 : want;
        double got = 0;
        float narrow = 0;
        memcpy(&got, &out[i], 8);
        memcpy(&narrow, &out[i], 4);
        got = wide ? got : (double)narrow;
        if (isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want)) {
          fail_msg("%s of %a is %a, not %a", text, v[i], got, want);
        }
      }
    }
  }
}

/* ---- which modifiers a pair wants: PTX has no conversion without its rounding, nor with one too
 * many */

static void rounding_is_asked_for_where_needed(void **state) {
  (void)state;
  static const struct {
    const char *form;
    bool legal;
  } forms[] = {{"cvt.f32.s32", false},     {"cvt.rn.f32.s32", true},    {"cvt.rni.f32.s32", false},
               {"cvt.s32.f32", false},     {"cvt.rzi.s32.f32", true},   {"cvt.rz.s32.f32", false},
               {"cvt.rn.s32.u32", false},  {"cvt.sat.s32.u32", true},   {"cvt.rni.s32.s32", false},
               {"cvt.ftz.s32.u32", false}, {"cvt.f32.f32", true},       {"cvt.rn.f32.f32", false},
               {"cvt.rni.f32.f32", true},  {"cvt.sat.f32.f32", true},   {"cvt.ftz.f32.f32", true},
               {"cvt.s32.pred", false},    {"cvt.rn.rn.f32.s32", false}};
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    sct_error err = {0};
    sct_str text = {0};
    sct_ptx_module *module = NULL;
    sct_str_printf(&text,
                   ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                   ".reg .b32 %%r<3>;\n%s %%r1, %%r2;\nret;\n}\n",
                   forms[k].form);
    assert_int_equal(sct_ptx_parse(&module, sct_str_c(&text), "cvt.ptx", &err), SCT_OK);
    const char *why = sct_ptx_kernel_find(module, "k")->error;
    if ((why == NULL) != forms[k].legal) {
      fail_msg("%s: %s", forms[k].form, why != NULL ? why : "taken");
    }
    sct_ptx_module_free(module);
    sct_str_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(integer_pairs),
                                     cmocka_unit_test(integers_to_floats),
                                     cmocka_unit_test(floats_to_integers),
                                     cmocka_unit_test(every_half_to_wider_types),
                                     cmocka_unit_test(narrowing_to_halves),
                                     cmocka_unit_test(packed_halves),
                                     cmocka_unit_test(floats_to_bytes),
                                     cmocka_unit_test(halves_to_bytes),
                                     cmocka_unit_test(bytes_to_halves),
                                     cmocka_unit_test(integral_floats),
                                     cmocka_unit_test(rounding_is_asked_for_where_needed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
