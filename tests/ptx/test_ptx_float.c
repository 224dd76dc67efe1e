/* f32 and f64 arithmetic: results worked out by hand, extremes, signs and classes by bit patterns,
 * and approximations. test_ptx_rounding.c has every rounding mode. */
#include "ptx_eval.h"
#include "ptx_floats.h"

/* Worked out by hand: a rounding mode that is swapped or ignored shows. */
static void known_results(void **state) {
  (void)state;
  static const struct {
    const char *instr;
    uint64_t a, b, want;
  } known[] = {
      /* 1 + 2^-24 lies half way: to even is 1, upwards 1 + 2^-23 */
      {"add.rn.f32 %d, %a, %b", 0x3f800000, 0x33800000, 0x3f800000},
      {"add.rp.f32 %d, %a, %b", 0x3f800000, 0x33800000, 0x3f800001},
      {"add.rm.f32 %d, %a, %b", 0xbf800000, 0xb3800000, 0xbf800001},
      {"add.rz.f32 %d, %a, %b", 0xbf800000, 0xb3800000, 0xbf800000},
      /* overflow: away to infinity, inwards to the greatest number */
      {"mul.rn.f32 %d, %a, %b", 0x7f7fffff, 0x40000000, 0x7f800000},
      {"mul.rz.f32 %d, %a, %b", 0x7f7fffff, 0x40000000, 0x7f7fffff},
      /* 2^-126 / 2: subnormal, flushed with its sign */
      {"mul.f32 %d, %a, %b", 0x80800000, 0x3f000000, 0x80400000},
      {"mul.ftz.f32 %d, %a, %b", 0x80800000, 0x3f000000, 0x80000000},
      /* (1 - 2^-24) 2^-126: half way to the least normal number, which only subnormals' rounding
       * makes of it; .ftz gives 0 (an H200) */
      {"mul.f32 %d, %a, %b", 0x3f7fffff, 0x00800000, 0x00800000},
      {"mul.ftz.f32 %d, %a, %b", 0x3f7fffff, 0x80800000, 0x80000000},
      /* inf - inf, 0 * inf: the one NaN */
      {"sub.f32 %d, %a, %b", 0x7f800000, 0x7f800000, 0x7fffffff},
      {"mul.f32 %d, %a, %b", 0x00000000, 0xff800000, 0x7fffffff},
      {"add.sat.f32 %d, %a, %b", 0x7fc00000, 0x3f800000, 0x00000000},
      /* -0 is below +0 */
      {"min.f32 %d, %a, %b", 0x00000000, 0x80000000, 0x80000000},
      {"max.f32 %d, %a, %b", 0x80000000, 0x00000000, 0x00000000},
      {"min.f32 %d, %a, %b", 0x7fc00000, 0x3f800000, 0x3f800000},
      {"max.NaN.f32 %d, %a, %b", 0x7fc00000, 0x3f800000, 0x7fffffff},
      {"min.f32 %d, %a, %b", 0x7fc00000, 0xffc00001, 0x7fffffff},
      {"min.ftz.f32 %d, %a, %b", 0x80000001, 0x3f800000, 0x80000000},
      {"max.xorsign.abs.f32 %d, %a, %b", 0xc0000000, 0x3f800000, 0xc0000000},
      {"min.xorsign.abs.f32 %d, %a, %b", 0xc0000000, 0xbf800000, 0x3f800000},
      {"copysign.f32 %d, %a, %b", 0x80000000, 0x3f800000, 0xbf800000},
  };
  for (int k = 0; k < SCT_COUNT(known); k++) {
    uint64_t a[32], b[32], out[32];
    for (int i = 0; i < 32; i++) {
      a[i] = known[k].a;
      b[i] = known[k].b;
    }
    uint64_t *const in[4] = {a, b, NULL, NULL};
    eval(known[k].instr, "333", in, 32, out);
    if (out[7] != known[k].want) {
      fail_msg("%s gives %#llx, not %#llx", known[k].instr, (unsigned long long)out[7],
               (unsigned long long)known[k].want);
    }
  }
}

/* ---- sign, extremes and classes by bit patterns */

#define WANT(name, expr)                                                                           \
  static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t e) {                           \
    (void)a, (void)b, (void)c, (void)e;                                                            \
    return (uint64_t)(expr);                                                                       \
  }
/* Floats in the order of their values, as integers: NaN last. */
static int64_t order32(uint64_t a) {
  const int64_t m = (int64_t)(a & 0x7fffffff);
  return m > 0x7f800000 ? INT64_MAX : a >> 31 ? -m - 1 : m;
}
static uint64_t pick32(uint64_t a, uint64_t b, bool max) {
  const int64_t x = order32(a), y = order32(b);
  if (x == INT64_MAX || y == INT64_MAX) {
    return x == y ? 0x7fffffff : x == INT64_MAX ? b : a;
  }
  return (x < y) == max ? b : a;
}
__extension__ typedef __int128 big;
static big order64(uint64_t a) {
  const big m = (big)(a << 1 >> 1);
  return m > 0x7ff0000000000000 ? (big)1 << 100 : a >> 63 ? -m - 1 : m;
}
static uint64_t pick64(uint64_t a, uint64_t b, bool max) {
  const big nan = (big)1 << 100;
  if (order64(a) == nan || order64(b) == nan) {
    return order64(a) == nan ? b : a;
  }
  return (order64(a) < order64(b)) == max ? b : a;
}
static int class32(uint64_t a) { /* 0 zero, 1 subnormal, 2 normal, 3 infinite, 4 NaN */
  const uint64_t e = a >> 23 & 255, m = a & 0x7fffff;
  return e == 255 ? (m ? 4 : 3) : e ? 2 : m ? 1 : 0;
}
static int class64(uint64_t a) {
  const uint64_t e = a >> 52 & 2047, m = a << 12;
  return e == 2047 ? (m ? 4 : 3) : e ? 2 : m ? 1 : 0;
}
WANT(w_abs32, a & 0x7fffffff)
WANT(w_neg32, a ^ 0x80000000)
WANT(w_absftz, class32(a) == 1 ? 0 : a & 0x7fffffff)
WANT(w_negftz, (class32(a) == 1 ? a & 0x80000000 : a) ^ 0x80000000)
WANT(w_abs64, a << 1 >> 1)
WANT(w_neg64, a ^ 0x8000000000000000)
WANT(w_min32, pick32(a, b, false))
WANT(w_max32, pick32(a, b, true))
WANT(w_min64, pick64(a, b, false))
WANT(w_max64, pick64(a, b, true))
WANT(w_copysign32, (a & 0x80000000) | (b & 0x7fffffff))
WANT(w_copysign64, (a >> 63 << 63) | (b << 1 >> 1))
WANT(w_finite32, class32(a) <= 2)
WANT(w_infinite32, class32(a) == 3)
WANT(w_number32, class32(a) != 4)
WANT(w_nan32, class32(a) == 4)
WANT(w_normal32, class32(a) == 2 || class32(a) == 0)
WANT(w_subnormal32, class32(a) == 1)
WANT(w_finite64, class64(a) <= 2)
WANT(w_infinite64, class64(a) == 3)
WANT(w_number64, class64(a) != 4)
WANT(w_nan64, class64(a) == 4)
WANT(w_normal64, class64(a) == 2 || class64(a) == 0)
WANT(w_subnormal64, class64(a) == 1)

static void signs_and_classes(void **state) {
  (void)state;
  static const eval_case narrow[] = {
      {"abs.f32 %d, %a", "33", w_abs32},
      {"abs.ftz.f32 %d, %a", "33", w_absftz},
      {"neg.f32 %d, %a", "33", w_neg32},
      {"neg.ftz.f32 %d, %a", "33", w_negftz},
      {"min.f32 %d, %a, %b", "333", w_min32},
      {"max.f32 %d, %a, %b", "333", w_max32},
      {"copysign.f32 %d, %a, %b", "333", w_copysign32},
      {"testp.finite.f32 %d, %a", "p3", w_finite32},
      {"testp.infinite.f32 %d, %a", "p3", w_infinite32},
      {"testp.number.f32 %d, %a", "p3", w_number32},
      {"testp.notanumber.f32 %d, %a", "p3", w_nan32},
      {"testp.normal.f32 %d, %a", "p3", w_normal32},
      {"testp.subnormal.f32 %d, %a", "p3", w_subnormal32},
  };
  static const eval_case wide[] = {
      {"abs.f64 %d, %a", "66", w_abs64},
      {"neg.f64 %d, %a", "66", w_neg64},
      {"min.f64 %d, %a, %b", "666", w_min64},
      {"max.f64 %d, %a, %b", "666", w_max64},
      {"copysign.f64 %d, %a, %b", "666", w_copysign64},
      {"testp.finite.f64 %d, %a", "p6", w_finite64},
      {"testp.infinite.f64 %d, %a", "p6", w_infinite64},
      {"testp.number.f64 %d, %a", "p6", w_number64},
      {"testp.notanumber.f64 %d, %a", "p6", w_nan64},
      {"testp.normal.f64 %d, %a", "p6", w_normal64},
      {"testp.subnormal.f64 %d, %a", "p6", w_subnormal64},
  };
  eval_data d = eval_data_new(corners32, SCT_COUNT(corners32), 23);
  eval_check(narrow, SCT_COUNT(narrow), &d);
  eval_data_free(&d);
  d = eval_data_new(corners64, SCT_COUNT(corners64), 24);
  eval_check(wide, SCT_COUNT(wide), &d);
  eval_data_free(&d);
}

/* ---- approximations stay within what the manual promises, and never claim to be exact */

static double reciprocal(double x) {
  return 1.0 / x;
}
static double reciprocal_root(double x) {
  return 1.0 / sqrt(x);
}

/* They are as far off as the hardware may be, not exact: that is what a tolerance is for. Angles
 * far from 0 lose what the conversion to turns loses; a quotient by more than 2^126 is 0. */
static void approximations_err(void **state) {
  (void)state;
  static const struct {
    const char *instr;
    float x, y, want, most, least; /* the error */
  } cases[] = {{"sin.approx.f32 %d, %a", 1e4f, 0, -0.30561439f, 2e-3f, 1e-5f},
               {"cos.approx.f32 %d, %a", 1e6f, 0, 0.93675213f, 0.3f, 1e-3f},
               {"sin.approx.f32 %d, %a", 0.0f, 0, 0.0f, 0, 0},
               {"cos.approx.f32 %d, %a", 0.0f, 0, 1.0f, 0, 0},
               {"ex2.approx.f32 %d, %a", -3.0f, 0, 0.125f, 0, 0},
               {"lg2.approx.f32 %d, %a", 1024.0f, 0, 10.0f, 0, 0},
               {"rsqrt.approx.f32 %d, %a", 16.0f, 0, 0.25f, 0, 0},
               {"sqrt.approx.f32 %d, %a", 9.0f, 0, 3.0f, 0, 0},
               {"div.approx.f32 %d, %a, %b", 6.0f, 3.0f, 2.0f, 0, 0},
               {"div.approx.f32 %d, %a, %b", 0x1p126f, 0x1.8p126f, 0.0f, 0, 0},
               {"div.full.f32 %d, %a, %b", 0x1p126f, 0x1.8p126f, 0.6666667f, 3e-7f, 0}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint64_t in0[32], in1[32], out[32];
    uint64_t *const in[4] = {in0, in1, NULL, NULL};
    for (int i = 0; i < 32; i++) {
      in0[i] = b32(cases[k].x);
      in1[i] = b32(cases[k].y);
    }
    eval(cases[k].instr, strstr(cases[k].instr, "%b") ? "333" : "33", in, 32, out);
    const float off = fabsf(f32(out[0]) - cases[k].want);
    if (!(off <= cases[k].most && off >= cases[k].least)) {
      fail_msg("%s is %a, off by %g", cases[k].instr, (double)f32(out[0]), (double)off);
    }
  }
  int moved = 0;
  uint64_t in0[1024], out[1024];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int i = 0; i < 1024; i++) {
    in0[i] = b32(0.5f + (float)i / 1024.0f);
  }
  eval("ex2.approx.f32 %d, %a", "33", in, 1024, out);
  for (int i = 0; i < 1024; i++) {
    moved += f32(out[i]) != (float)exp2((double)f32(in0[i]));
  }
  assert_in_range(moved, 200, 1000);
}

static void approximations(void **state) {
  (void)state;
  static const struct {
    const char *instr;
    double (*exact)(double);
    double lo, hi, relative, absolute;
  } ops[] = {
      {"ex2.approx.f32 %d, %a", exp2, -30, 30, 0x1p-22, 0},
      {"ex2.approx.ftz.f32 %d, %a", exp2, -30, 30, 0x1p-22, 0},
      {"lg2.approx.f32 %d, %a", log2, 1e-30, 1e30, 0x1p-21, 0x1p-22},
      {"sin.approx.f32 %d, %a", sin, -6.2, 6.2, 0, 0x1p-20},
      {"cos.approx.ftz.f32 %d, %a", cos, -6.2, 6.2, 0, 0x1p-20},
      {"rcp.approx.f32 %d, %a", reciprocal, 1e-30, 1e30, 0x1p-23, 0},
      {"rsqrt.approx.f32 %d, %a", reciprocal_root, 1e-30, 1e30, 0x1.12p-23, 0},
      {"sqrt.approx.f32 %d, %a", sqrt, 1e-30, 1e30, 0x1p-22, 0},
      {"tanh.approx.f32 %d, %a", tanh, -5, 5, 0x1p-10, 0},
  };
  sct_rng rng = sct_rng_new(25);
  uint64_t in0[1024], out[1024];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int k = 0; k < SCT_COUNT(ops); k++) {
    for (int i = 0; i < 1024; i++) {
      in0[i] = b32((float)(ops[k].lo + (ops[k].hi - ops[k].lo) * sct_rng_unit(&rng)));
    }
    eval(ops[k].instr, "33", in, 1024, out);
    for (int i = 0; i < 1024; i++) {
      const double want = ops[k].exact((double)f32(in0[i]));
      const double off = fabs((double)f32(out[i]) - want);
      if (!(off <= ops[k].relative * fabs(want) + ops[k].absolute)) {
        fail_msg("%s of %a is %a, not %a", ops[k].instr, (double)f32(in0[i]), (double)f32(out[i]),
                 want);
      }
    }
  }
}

/* Seeds of Newton steps: right to 2^-20, lower 32 bits zero. */
static void seeds(void **state) {
  (void)state;
  static const char *const instr[] = {"rcp.approx.ftz.f64 %d, %a", "rsqrt.approx.ftz.f64 %d, %a",
                                      "rsqrt.approx.f64 %d, %a"};
  uint64_t in0[64], out[64];
  uint64_t *const in[4] = {in0, NULL, NULL, NULL};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 64; i++) {
      in0[i] = b64(0.37 * (i + 1) * (i + 1));
    }
    eval(instr[k], "66", in, 64, out);
    for (int i = 0; i < 64; i++) {
      const double x = f64(in0[i]), want = k == 0 ? 1 / x : 1 / sqrt(x);
      assert_true(fabs(f64(out[i]) / want - 1) < 0x1p-19);
      assert_int_equal((int64_t)(out[i] & 0xffffffff), 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_results),
                                     cmocka_unit_test(signs_and_classes),
                                     cmocka_unit_test(approximations),
                                     cmocka_unit_test(approximations_err), cmocka_unit_test(seeds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
