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

typedef void (*loop32)(float *restrict t, const float *a, const float *b, const float *c);
typedef void (*loop64)(double *restrict t, const double *a, const double *b, const double *c);

#define LOOP(name, T, expr)                                                                        \
  static NOINLINE void loop_##name(T *restrict t, const T *a, const T *b, const T *c) {            \
    LANES(i) {                                                                                     \
      const T x = a[i], y = b[i], z = c[i];                                                        \
      (void)y;                                                                                     \
      (void)z;                                                                                     \
      t[i] = (T)(expr);                                                                            \
    }                                                                                              \
  }
#define LOOP32(name, expr) LOOP(name, float, expr)
#define LOOP64(name, expr) LOOP(name, double, expr)

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
  loop(big, big_a, b, big_c);
  LANES(i) {
    t[i] = fabsf(t[i]) == FLT_MIN && fabsf(big[i]) < FLT_MIN * 0x1p64f ? copysignf(0, t[i]) : t[i];
  }
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
  loop(t, a, b, c);
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
    loop(t, a, b, c);
    fesetround(FE_TONEAREST);
  } else {
    loop(t, a, b, c);
  }
  put_f64(x, u, t);
}

#define OP32_AS(name, is_product, expr)                                                            \
  LOOP32(name, expr)                                                                               \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    run32(x, u, loop_##name, is_product);                                                          \
  }
#define OP32(name, expr)         OP32_AS(name, false, expr)
#define OP32_PRODUCT(name, expr) OP32_AS(name, true, expr)
#define OP32X2(name, is_product)                                                                   \
  void sct_ptx_op_##name##x2(ptx_exec *x, const ptx_uop *u) {                                      \
    run32x2(x, u, loop_##name, is_product);                                                        \
  }
#define OP64(name, expr)                                                                           \
  LOOP64(name, expr)                                                                               \
  void sct_ptx_op_##name(ptx_exec *x, const ptx_uop *u) {                                          \
    run64(x, u, loop_##name);                                                                      \
  }

OP32(add_f32, x + y)
OP32(sub_f32, x - y)
OP32_PRODUCT(mul_f32, x *y)
OP32X2(add_f32, false)
OP32X2(sub_f32, false)
OP32X2(mul_f32, true)
OP32_PRODUCT(div_f32, x / y)
OP32(rcp_f32, 1.0f / x)
OP32(sqrt_f32, sqrtf(x))
OP64(add_f64, x + y)
OP64(sub_f64, x - y)
OP64(mul_f64, x *y)
OP64(div_f64, x / y)
OP64(rcp_f64, 1.0 / x)
OP64(sqrt_f64, sqrt(x))

/* ---- fma: libm's function is right everywhere; the machine's instruction is much faster */

LOOP32(fma_any_f32, fmaf(x, y, z))
LOOP64(fma_any_f64, fma(x, y, z))

#if defined(__x86_64__)
#define LOOP_FMA(name, T, fma)                                                                     \
  __attribute__((target("fma")))                                                                   \
  NOINLINE static void loop_##name(T *restrict t, const T *a, const T *b, const T *c) {            \
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

void sct_ptx_op_fma_f32(ptx_exec *x, const ptx_uop *u) {
  run32(x, u, has_fma() ? loop_fma_x86_f32 : loop_fma_any_f32, true);
}
void sct_ptx_op_fma_f32x2(ptx_exec *x, const ptx_uop *u) {
  run32x2(x, u, has_fma() ? loop_fma_x86_f32 : loop_fma_any_f32, true);
}
void sct_ptx_op_fma_f64(ptx_exec *x, const ptx_uop *u) {
  run64(x, u, has_fma() ? loop_fma_x86_f64 : loop_fma_any_f64);
}

/* ---- approximations: the correctly rounded value stands for what the hardware gives within its
 * stated error (PTX ISA: ex2 2 ulp, rcp and sqrt 1 ulp, rsqrt 2^-22.9, lg2 2^-22, sin and cos
 * 2^-20.5 absolute within +-2 pi, tanh 2^-11) */

OP32(rsqrt_f32, 1.0 / sqrt((double)x))
OP32(sin_f32, sin((double)x))
OP32(cos_f32, cos((double)x))
OP32(lg2_f32, log2((double)x))
OP32(ex2_f32, exp2((double)x))
OP32(tanh_f32, tanh((double)x))

/* Seeds for Newton steps: the upper 32 bits of the result, the lower ones zero. */
static double seed(double exact) {
  return exact != exact ? ptx_double(0x7fffffff00000000u)
                        : ptx_double(ptx_bits64(exact) & ~(uint64_t)PTX_ALL);
}
static double flush64(double x) {
  return fabs(x) < 0x1p-1022 ? copysign(0.0, x) : x;
}
OP64(rcp_approx_f64, flush64(seed(1.0 / flush64(x))))
OP64(rsqrt_approx_f64, seed(1.0 / sqrt(flush64(x))))

/* ---- sign, minimum, classes */

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

/* A number wins over a NaN; -0 is below +0. */
static float min32(float x, float y) {
  return x != x ? y : y != y ? x : x < y || (x == y && (ptx_bits32(x) >> 31) != 0) ? x : y;
}
static float max32(float x, float y) {
  return x != x ? y : y != y ? x : x > y || (x == y && (ptx_bits32(x) >> 31) == 0) ? x : y;
}
static double min64(double x, double y) {
  return x != x ? y : y != y ? x : x < y || (x == y && (ptx_bits64(x) >> 63) != 0) ? x : y;
}
static double max64(double x, double y) {
  return x != x ? y : y != y ? x : x > y || (x == y && (ptx_bits64(x) >> 63) == 0) ? x : y;
}
static float signed_like(float value, float x, float y) {
  return ptx_float((ptx_bits32(value) & 0x7fffffff) |
                   ((ptx_bits32(x) ^ ptx_bits32(y)) & 0x80000000));
}
LOOP32(min_plain, min32(x, y))
LOOP32(max_plain, max32(x, y))
LOOP32(min_nan, x != x || y != y ? NAN : min32(x, y))
LOOP32(max_nan, x != x || y != y ? NAN : max32(x, y))
LOOP32(min_xor, signed_like(min32(fabsf(x), fabsf(y)), x, y))
LOOP32(max_xor, signed_like(max32(fabsf(x), fabsf(y)), x, y))
LOOP32(min_nan_xor, x != x || y != y ? NAN : signed_like(min32(fabsf(x), fabsf(y)), x, y))
LOOP32(max_nan_xor, x != x || y != y ? NAN : signed_like(max32(fabsf(x), fabsf(y)), x, y))

static int min_max_form(const ptx_uop *u) {
  return ((u->flags & PTX_F_NAN) ? 1 : 0) + ((u->flags & PTX_F_XORSIGN) ? 2 : 0);
}
void sct_ptx_op_min_f32(ptx_exec *x, const ptx_uop *u) {
  static const loop32 forms[4] = {loop_min_plain, loop_min_nan, loop_min_xor, loop_min_nan_xor};
  run32(x, u, forms[min_max_form(u)], false);
}
void sct_ptx_op_max_f32(ptx_exec *x, const ptx_uop *u) {
  static const loop32 forms[4] = {loop_max_plain, loop_max_nan, loop_max_xor, loop_max_nan_xor};
  run32(x, u, forms[min_max_form(u)], false);
}
OP64(min_f64, min64(x, y))
OP64(max_f64, max64(x, y))

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
#define PTX_ALU(op, sub, types, fn, sig, attrs, undef)
#include "ptx/decode/ptx_alu.def"
#undef PTX_ALU
