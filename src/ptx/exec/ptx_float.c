/* f32 and f64 arithmetic, bit for bit as the hardware does it: IEEE operations in four rounding
 * modes, subnormals flushed on request, saturation, one NaN.
 *
 * Every operation is a loop over 32 lanes in a function of its own that is never inlined: the
 * rounding mode is set around the call, and no compiler may move arithmetic across it. Contraction
 * is off, so that a * b + c stays two roundings; fma is asked for by name, from the machine's own
 * instruction where it has one. */
#include "ptx/exec/ptx_lanes.h"
#include "ptx/exec/ptx_values.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define NOINLINE __attribute__((noinline))

#define NAN32 0x7fffffffu

typedef void (*loop32)(float *restrict t, const float *a, const float *b, const float *c,
                       unsigned flags);
typedef void (*loop64)(double *restrict t, const double *a, const double *b, const double *c,
                       unsigned flags);
typedef void (*loop80)(long double *restrict t, const long double *a, const long double *b,
                       const long double *c, unsigned flags);

#define LOOP(name, T, expr)                                                                        \
  static NOINLINE void loop_##name(T *restrict t, const T *a, const T *b, const T *c,              \
                                   unsigned flags) {                                               \
    (void)flags;                                                                                   \
    LANES(i) {                                                                                     \
      const T x = a[i], y = b[i], z = c[i];                                                        \
      (void)y;                                                                                     \
      (void)z;                                                                                     \
      t[i] = (T)(expr);                                                                            \
    }                                                                                              \
  }

static int host_rounding(unsigned flags) {
  static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  return modes[flags & PTX_F_RND_MASK];
}

void sct_ptx_flush32(float *t) {
  LANES(i) {
    const uint32_t b = ptx_bits32(t[i]);
    t[i] = ptx_float((b & 0x7f800000) == 0 ? b & 0x80000000 : b);
  }
}

static void saturate32(float *t) {
  LANES(i) {
    t[i] = t[i] > 0 ? (t[i] < 1 ? t[i] : 1.0f) : 0.0f; /* NaN and -0 become +0 */
  }
}

static void canonical32(float *t) {
  LANES(i) {
    const uint32_t b = ptx_bits32(t[i]);
    t[i] = ptx_float((b & 0x7fffffff) > 0x7f800000 ? NAN32 : b);
  }
}

static void put_f32(ptx_exec *x, const ptx_uop *u, const float *t) {
  uint32_t bits[PTX_LANES];
  memcpy(bits, t, sizeof bits);
  ptx_put32(x, u, bits);
}

static void put_f64(ptx_exec *x, const ptx_uop *u, const double *t) {
  uint64_t bits[PTX_LANES];
  memcpy(bits, t, sizeof bits);
  ptx_put64(x, u, bits);
}

/* .ftz flushes what is subnormal before it is rounded to where subnormals end (so an H200 does): a
 * product that becomes the least normal number only by the coarser rounding is 0. The operation is
 * done again with a and c scaled up, where nothing is subnormal. */
static void flush_products(float *t, const float *a, const float *b, const float *c, loop32 loop) {
  float big_a[PTX_LANES], big_c[PTX_LANES], big[PTX_LANES];
  bool any = false;
  LANES(i) {
    any |= fabsf(t[i]) == FLT_MIN;
    big_a[i] = a[i] * 0x1p64f;
    big_c[i] = c[i] * 0x1p64f;
  }
  if (!any) {
    return;
  }
  loop(big, big_a, b, big_c, 0);
  LANES(i) {
    t[i] = fabsf(t[i]) == FLT_MIN && fabsf(big[i]) < FLT_MIN * 0x1p64f ? copysignf(0, t[i]) : t[i];
  }
}

/* How the wider type rounds, which has not all digits either: 255 + 2^-100 is above 255 in it. */
static int wide_rounding(int rounding) {
  return rounding == SCT_PTX_UP ? FE_UPWARD : rounding == SCT_PTX_DOWN ? FE_DOWNWARD : FE_TONEAREST;
}

/* Rounds what was rounded to the nearest value at random, as sct_ptx_launch_opts.rounding says. */
#define AT_RANDOM(bits, T, W, next)                                                                \
  static T at_random_one##bits(T t, W exact, uint64_t random, int rounding) {                      \
    const W off = exact - t;                                                                       \
    const T other = next(t, off > 0 ? (T)INFINITY : -(T)INFINITY);                                 \
    const W share = off / ((W)other - (W)t); /* above 1/2 it was changed otherwise */              \
    const bool can = share > 0 && share <= (W)0.5 && isfinite(other);                              \
    const bool wanted = rounding > 0 ? (W)(random >> 40) < share * (W)0x1p24                       \
                                     : (off > 0) == (rounding == SCT_PTX_UP);                      \
    return can && wanted ? other : t;                                                              \
  }                                                                                                \
  static NOINLINE void at_random##bits(                                                            \
      T *restrict t, const T *const in[3],                                                         \
      void (*loop)(W *restrict, const W *, const W *, const W *, unsigned), int rounding) {        \
    W wide[3][PTX_LANES], exact[PTX_LANES];                                                        \
    LANES(i) {                                                                                     \
      wide[0][i] = in[0][i];                                                                       \
      wide[1][i] = in[1][i];                                                                       \
      wide[2][i] = in[2][i];                                                                       \
    }                                                                                              \
    fesetround(wide_rounding(rounding));                                                           \
    loop(exact, wide[0], wide[1], wide[2], 0);                                                     \
    fesetround(FE_TONEAREST);                                                                      \
    LANES(i) {                                                                                     \
      const uint64_t from = sct_mix64(ptx_bits##bits(in[0][i]), ptx_bits##bits(in[1][i]));         \
      const uint64_t seed = (uint64_t)(int64_t)rounding * PTX_LANES + (uint64_t)i;                 \
      const uint64_t random = sct_mix64(from ^ ptx_bits##bits(in[2][i]), seed);                    \
      t[i] = at_random_one##bits(t[i], exact[i], random, rounding);                                \
    }                                                                                              \
  }                                                                                                \
  static NOINLINE W wide_sum##bits(W a, W b) {                                                     \
    return a + b;                                                                                  \
  }                                                                                                \
  T sct_ptx_sum_at_random##bits(T sum, T a, T b, uint64_t random, int rounding) {                  \
    fesetround(wide_rounding(rounding));                                                           \
    const W exact = wide_sum##bits(a, b);                                                          \
    fesetround(FE_TONEAREST);                                                                      \
    return at_random_one##bits(sum, exact, random, rounding);                                      \
  }
AT_RANDOM(32, float, double, nextafterf)
AT_RANDOM(64, double, long double, nextafter)

/* 0: to the nearest value. */
static int random_of(const ptx_exec *x, const ptx_uop *u) {
  return u->flags & PTX_F_RND_MASK ? 0 : x->launch->opts->rounding;
}

/* One f32 operation with its modifiers on 32 lanes. is_product: loop(s a, b, s c) = s loop(a, b, c)
 * for powers of two. */
static void compute32(float *t, const float *a, const float *b, const float *c, const ptx_uop *u,
                      loop32 loop, bool is_product) {
  float in[3][PTX_LANES];
  if (u->flags & PTX_F_FTZ) {
    memcpy(in[0], a, sizeof in[0]);
    memcpy(in[1], b, sizeof in[1]);
    memcpy(in[2], c, sizeof in[2]);
    for (int k = 0; k < 3; k++) {
      sct_ptx_flush32(in[k]);
    }
    a = in[0];
    b = in[1];
    c = in[2];
  }
  if (u->flags & PTX_F_RND_MASK) {
    fesetround(host_rounding(u->flags));
  }
  loop(t, a, b, c, u->flags);
  if (is_product && (u->flags & PTX_F_FTZ)) {
    flush_products(t, a, b, c, loop);
  }
  if (u->flags & PTX_F_RND_MASK) {
    fesetround(FE_TONEAREST);
  }
  if (u->flags & PTX_F_FTZ) {
    sct_ptx_flush32(t);
  }
  if (u->flags & PTX_F_SAT) {
    saturate32(t);
  }
  canonical32(t);
}

static void run32(ptx_exec *x, const ptx_uop *u, loop32 loop, bool is_product) {
  float t[PTX_LANES];
  compute32(t, ptx_rf32(x, u->a), ptx_rf32(x, u->b), ptx_rf32(x, u->c), u, loop, is_product);
  put_f32(x, u, t);
}

/* wide: the same of doubles. */
static void run_rounded32(ptx_exec *x, const ptx_uop *u, loop32 loop, loop64 wide,
                          bool is_product) {
  const int rounding = random_of(x, u);
  if (rounding == 0) {
    run32(x, u, loop, is_product);
    return;
  }
  float t[PTX_LANES];
  const float *const in[3] = {ptx_rf32(x, u->a), ptx_rf32(x, u->b), ptx_rf32(x, u->c)};
  compute32(t, in[0], in[1], in[2], u, loop, is_product);
  at_random32(t, in, wide, rounding);
  put_f32(x, u, t);
}

/* f32x2: the same on both halves of 64-bit lanes. */
static void run32x2(ptx_exec *x, const ptx_uop *u, loop32 loop, bool is_product) {
  const uint32_t slots[3] = {u->a, u->b, u->c};
  uint64_t out[PTX_LANES] = {0};
  for (int shift = 0; shift < 64; shift += 32) {
    float t[PTX_LANES], in[3][PTX_LANES];
    for (int k = 0; k < 3; k++) {
      const uint64_t *lanes = ptx_r64(x, slots[k]);
      LANES(i) {
        in[k][i] = ptx_float((uint32_t)(lanes[i] >> shift));
      }
    }
    compute32(t, in[0], in[1], in[2], u, loop, is_product);
    LANES(i) {
      out[i] |= (uint64_t)ptx_bits32(t[i]) << shift;
    }
  }
  ptx_put64(x, u, out);
}

static void run64(ptx_exec *x, const ptx_uop *u, loop64 loop) {
  double t[PTX_LANES];
  const double *a = ptx_rf64(x, u->a), *b = ptx_rf64(x, u->b), *c = ptx_rf64(x, u->c);
  if (u->flags & PTX_F_RND_MASK) {
    fesetround(host_rounding(u->flags));
    loop(t, a, b, c, u->flags);
    fesetround(FE_TONEAREST);
  } else {
    loop(t, a, b, c, u->flags);
  }
  put_f64(x, u, t);
}

static void run_rounded64(ptx_exec *x, const ptx_uop *u, loop64 loop, loop80 wide) {
  const int rounding = random_of(x, u);
  if (rounding == 0) {
    run64(x, u, loop);
    return;
  }
  double t[PTX_LANES];
  const double *const in[3] = {ptx_rf64(x, u->a), ptx_rf64(x, u->b), ptx_rf64(x, u->c)};
  loop(t, in[0], in[1], in[2], u->flags);
  at_random64(t, in, wide, rounding);
  put_f64(x, u, t);
}

#define OP32(name, is_product, expr)                                                               \
  LOOP(name, float, expr)                                                                          \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    run32(x, u, loop_##name, is_product);                                                          \
  }
#define OP32X2(name, is_product)                                                                   \
  void sct_ptx_op_##name##x2(ptx_exec *x, const ptx_uop *u) {                                      \
    run32x2(x, u, loop_##name, is_product);                                                        \
  }
#define OP64(name, expr)                                                                           \
  LOOP(name, double, expr)                                                                         \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    run64(x, u, loop_##name);                                                                      \
  }

/* ---- fma: libm's function is right everywhere; the machine's instruction is much faster */

LOOP(fma_any_f32, float, fmaf(x, y, z))
LOOP(fma_any_f64, double, fma(x, y, z))

#if defined(__x86_64__)
#define LOOP_FMA(name, T, fma)                                                                     \
  __attribute__((target("fma"))) NOINLINE static void loop_##name(                                 \
      T *restrict t, const T *a, const T *b, const T *c, unsigned flags) {                         \
    (void)flags;                                                                                   \
    LANES(i) {                                                                                     \
      t[i] = fma(a[i], b[i], c[i]);                                                                \
    }                                                                                              \
  }
LOOP_FMA(fma_x86_f32, float, __builtin_fmaf)
LOOP_FMA(fma_x86_f64, double, __builtin_fma)
static bool has_fma(void) {
  return __builtin_cpu_supports("fma") != 0;
}
#else
#define loop_fma_x86_f32 loop_fma_any_f32
#define loop_fma_x86_f64 loop_fma_any_f64
static bool has_fma(void) {
  return false;
}
#endif

LOOP(fma_any_f80, long double, fmal(x, y, z))

void sct_ptx_op_fma_f32(ptx_exec *x, const ptx_uop *u) {
  run_rounded32(x, u, has_fma() ? loop_fma_x86_f32 : loop_fma_any_f32, loop_fma_any_f64, true);
}
void sct_ptx_op_fma_f32x2(ptx_exec *x, const ptx_uop *u) {
  run32x2(x, u, has_fma() ? loop_fma_x86_f32 : loop_fma_any_f32, true);
}
void sct_ptx_op_fma_f64(ptx_exec *x, const ptx_uop *u) {
  run_rounded64(x, u, has_fma() ? loop_fma_x86_f64 : loop_fma_any_f64, loop_fma_any_f80);
}

/* ---- sums and products */

#define ROUNDED(name, is_product, expr)                                                            \
  LOOP(name##_f32, float, expr)                                                                    \
  LOOP(name##_f64, double, expr)                                                                   \
  LOOP(name##_f80, long double, expr)                                                              \
  void sct_ptx_op_##name##_f32(ptx_exec *x, const ptx_uop *u) {                                    \
    run_rounded32(x, u, loop_##name##_f32, loop_##name##_f64, is_product);                         \
  }                                                                                                \
  void sct_ptx_op_##name##_f64(ptx_exec *x, const ptx_uop *u) {                                    \
    run_rounded64(x, u, loop_##name##_f64, loop_##name##_f80);                                     \
  }
ROUNDED(add, false, x + y)
ROUNDED(sub, false, x - y)
ROUNDED(mul, true, x *y)

/* ---- approximations: what the hardware gives is not known bit for bit, but how far off it may be
 * is (PTX ISA: ex2 2 ulp, rcp and sqrt 1 ulp, rsqrt 2^-22.9, lg2 2^-22, sin and cos 2^-20.5
 * absolute within +-2 pi, div 2 ulp, tanh 2^-11). The exact value is moved by up to that, as the
 * argument's bits say, so that a tolerance which passes here passes there. What a float holds
 * exactly (powers of two, 0) stays, as on the hardware. */

static double moved(double exact, double most, uint32_t bits) {
  uint32_t h = bits * 0x9e3779b1u;
  h = (h ^ h >> 15) * 0x85ebca77u;
  const double by = (double)((h ^ h >> 13) & 0xffff) / 32768.0 - 1.0; /* -1 to 1 */
  return !isfinite(exact) || exact == (double)(float)exact ? exact : exact + by * most;
}

static double moved_by(double exact, double relative, float x) {
  return moved(exact, relative * fabs(exact), ptx_bits32(x));
}

/* Sines are those of turns, to which the angle is converted by one product of floats that is
 * rounded to zero (2^-20.6 within +-2 pi, more farther out); a table adds 2^-24. */
static double angle(float x) {
  const double exact = (double)x * (double)0x1.45f306p-3f;
  const float near = (float)exact;
  const double turns = (double)(fabs((double)near) > fabs(exact) ? nextafterf(near, 0.0f) : near);
  return 6.283185307179586 * fmod(turns, 1.0);
}
static double sine(float x) {
  return moved(sin(angle(x)), 0x1p-24, ptx_bits32(x));
}
static double cosine(float x) {
  return moved(cos(angle(x)), 0x1p-24, ptx_bits32(x));
}

static double logarithm(float x) {
  const double exact = log2((double)x);
  return moved(exact, fmax(0x1p-23, 0x1p-23 * fabs(exact)), ptx_bits32(x));
}

/* By the reciprocal, which is 0 where it would be subnormal. */
static double quotient(float x, float y) {
  const double size = fabs((double)y);
  if (size > 0x1p126 && size < INFINITY) {
    return (double)x * copysign(0.0, (double)y);
  }
  return moved_by((double)x / (double)y, 0x1p-23, y);
}

/* ---- the rows of ptx_alu.def */

/* Seeds for Newton steps: the upper 32 bits of the result, the lower ones zero. */
static double seed(double exact) {
  return exact != exact ? ptx_double(0x7fffffff00000000u)
                        : ptx_double(ptx_bits64(exact) & ~(uint64_t)PTX_ALL);
}
static double flush64(double x) {
  return fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x;
}

/* Sign changes are bit operations: a NaN keeps its payload. */
#define SIGN32(name, expr)                                                                         \
  void sct_ptx_op_##name(ptx_exec *e, const ptx_uop *u) {                                          \
    float in[PTX_LANES];                                                                           \
    uint32_t t[PTX_LANES];                                                                         \
    memcpy(in, ptx_rf32(e, u->a), sizeof in);                                                      \
    if (u->flags & PTX_F_FTZ) {                                                                    \
      sct_ptx_flush32(in);                                                                         \
    }                                                                                              \
    LANES(i) {                                                                                     \
      const uint32_t x = ptx_bits32(in[i]);                                                        \
      t[i] = (expr);                                                                               \
    }                                                                                              \
    ptx_put32(e, u, t);                                                                            \
  }
SIGN32(abs_f32, x & 0x7fffffff)
SIGN32(neg_f32, x ^ 0x80000000)

static double extreme(double x, double y, unsigned flags, bool greatest) {
  const bool by_size = (flags & PTX_F_XORSIGN) != 0;
  const double a = by_size ? fabs(x) : x, b = by_size ? fabs(y) : y;
  const bool is_first = a == b ? (signbit(a) != 0) != greatest : (a < b) != greatest;
  const double v = isnan(a) ? b : isnan(b) || is_first ? a : b;
  return (flags & PTX_F_NAN) != 0 && (isnan(a) || isnan(b)) ? (double)NAN
         : by_size ? copysign(v, signbit(x) != signbit(y) ? -1.0 : 1.0)
                   : v;
}
double sct_ptx_min(double x, double y, unsigned flags) {
  return extreme(x, y, flags, false);
}
double sct_ptx_max(double x, double y, unsigned flags) {
  return extreme(x, y, flags, true);
}

#define TESTP(name, type, lane, expr)                                                              \
  void sct_ptx_op_testp_##name##_##type(ptx_exec *e, const ptx_uop *u) {                           \
    uint32_t m = 0;                                                                                \
    LANES(i) {                                                                                     \
      const lane x = ptx_r##type(e, u->a)[i];                                                      \
      m |= (uint32_t)((expr) != 0) << i;                                                           \
    }                                                                                              \
    ptx_put_pred(e, u, m);                                                                         \
  }
#define PTX_TESTP(name, expr) TESTP(name, f32, float, expr) TESTP(name, f64, double, expr)

#define PTX_F32(op, sub, name, sig, attrs, expr) OP32(name##_f32, false, expr)
#define PTX_F64(op, sub, name, sig, attrs, expr) OP64(name##_f64, expr)
#define PTX_ALU(op, sub, types, fn, sig, attrs, undef)
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU

/* what several rows share, or scales with an operand */
OP32(div_f32, true, x / y)
OP32X2(add_f32, false)
OP32X2(sub_f32, false)
OP32X2(mul_f32, true)
