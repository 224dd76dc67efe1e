/* f32 and f64 arithmetic in every rounding mode with every modifier, against the host's own
 * operations in that mode; fused operations against exact sums of two doubles; approximations
 * against what the manual promises. */
#include "ptx_eval.h"
#include "ptx_floats.h"

#include <fenv.h>

enum { ADD, SUB, MUL, DIV, FMA, MAD, RCP, SQRT, N_OPS };
static const struct {
  const char *name;
  int n;
  bool must_round, sat; /* PTX wants a rounding mode; .sat is allowed */
} ops[N_OPS] = {{"add", 2, false, true}, {"sub", 2, false, true}, {"mul", 2, false, true},
                {"div", 2, true, false}, {"fma", 3, true, true},  {"mad", 3, true, true},
                {"rcp", 1, true, false}, {"sqrt", 1, true, false}};
static const struct {
  const char *name;
  int host;
} modes[] = {{"", FE_TONEAREST},
             {".rn", FE_TONEAREST},
             {".rz", FE_TOWARDZERO},
             {".rm", FE_DOWNWARD},
             {".rp", FE_UPWARD}};

/* volatile keeps the operation between the two calls */
#define HOST(name, real, fused, root)                                                              \
  static real name(int op, real x, real y, real z, int mode) {                                     \
    volatile real a = x, b = y, c = z, r = 0;                                                      \
    fesetround(mode);                                                                              \
    r = op == ADD    ? a + b                                                                       \
        : op == SUB  ? a - b                                                                       \
        : op == MUL  ? a * b                                                                       \
        : op == DIV  ? a / b                                                                       \
        : op == RCP  ? 1 / a                                                                       \
        : op == SQRT ? root(a)                                                                     \
                     : fused(a, b, c);                                                             \
    fesetround(FE_TONEAREST);                                                                      \
    return r;                                                                                      \
  }
HOST(host32, float, fmaf, sqrtf)
HOST(host64, double, fma, sqrt)

static float flushed(float x) {
  return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static void write_op(char *text, size_t size, int op, int mode, const char *mods,
                     const char *type) {
  snprintf(text, size, "%s%s%s.%s %%d, %%a%s%s", ops[op].name, modes[mode].name, mods, type,
           ops[op].n > 1 ? ", %b" : "", ops[op].n > 2 ? ", %c" : "");
}

/* .ftz: a product that only the coarser rounding of subnormals made the least normal number is 0;
 * 2^40 times as much has no subnormals. */
static float flushed_product(int op, const float v[3], int mode, float r) {
  if (fabsf(r) != FLT_MIN || (op != MUL && op != DIV && op != FMA && op != MAD)) {
    return flushed(r);
  }
  const float big = host32(op, v[0] * 0x1p40f, v[1], v[2] * 0x1p40f, mode);
  return fabsf(big) < FLT_MIN * 0x1p40f ? copysignf(0, r) : r;
}

static void all_single(void **state) {
  (void)state;
  static const char *const sigs[] = {"", "33", "333", "3333"};
  eval_data d = eval_data_new(corners32, SCT_COUNT(corners32), 61);
  uint64_t out[EVAL_MAX];
  for (int op = 0; op < N_OPS; op++) {
    for (int mode = ops[op].must_round; mode < SCT_COUNT(modes); mode++) {
      for (int mods = 0; mods < (ops[op].sat ? 4 : 2); mods++) {
        const bool ftz = mods & 1, sat = mods & 2;
        char text[80], names[16];
        snprintf(names, sizeof names, "%s%s", ftz ? ".ftz" : "", sat ? ".sat" : "");
        write_op(text, sizeof text, op, mode, names, "f32");
        eval(text, sigs[ops[op].n], (uint64_t *const *)d.in, d.n, out);
        for (int i = 0; i < d.n; i++) {
          float v[3];
          for (int k = 0; k < 3; k++) {
            v[k] = ftz ? flushed(f32(d.in[k][i])) : f32(d.in[k][i]);
          }
          float r = host32(op, v[0], v[1], v[2], modes[mode].host);
          r = ftz ? flushed_product(op, v, modes[mode].host, r) : r;
          r = !sat ? r : isnan(r) || r <= 0 ? 0.0f : r > 1 ? 1.0f : r;
          if (out[i] != b32(r)) {
            fail_msg("%s of %a %a %a is %a, not %a", text, (double)v[0], (double)v[1], (double)v[2],
                     (double)f32(out[i]), (double)r);
          }
        }
      }
    }
  }
  eval_data_free(&d);
}

static void all_double(void **state) {
  (void)state;
  static const char *const sigs[] = {"", "66", "666", "6666"};
  eval_data d = eval_data_new(corners64, SCT_COUNT(corners64), 62);
  uint64_t out[EVAL_MAX];
  for (int op = 0; op < N_OPS; op++) {
    for (int mode = ops[op].must_round; mode < SCT_COUNT(modes); mode++) {
      char text[80];
      write_op(text, sizeof text, op, mode, "", "f64");
      eval(text, sigs[ops[op].n], (uint64_t *const *)d.in, d.n, out);
      for (int i = 0; i < d.n; i++) {
        const double r =
            host64(op, f64(d.in[0][i]), f64(d.in[1][i]), f64(d.in[2][i]), modes[mode].host);
        if (out[i] != b64(r) && !(isnan(r) && isnan(f64(out[i])))) {
          fail_msg("%s of %a %a %a is %a, not %a", text, f64(d.in[0][i]), f64(d.in[1][i]),
                   f64(d.in[2][i]), f64(out[i]), r);
        }
      }
    }
  }
  eval_data_free(&d);
}

/* ---- the host's rounding mode is what it was, whatever the kernel used */

static void host_mode_stays(void **state) {
  (void)state;
  uint64_t a[32], b[32], out[32];
  uint64_t *const in[4] = {a, b, NULL, NULL};
  for (int i = 0; i < 32; i++) {
    a[i] = b32(1.0f);
    b[i] = b32(3.0f);
  }
  static const char *const instr[] = {"div.rp.f32 %d, %a, %b", "div.rm.f32 %d, %a, %b",
                                      "add.rz.f32 %d, %a, %b", "sub.rp.f32 %d, %a, %b"};
  for (int k = 0; k < SCT_COUNT(instr); k++) {
    eval(instr[k], "333", in, 32, out);
    assert_int_equal(fegetround(), FE_TONEAREST);
  }
}

/* ---- one rounding, not two: products whose low bits decide */

/* (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24 exactly; a rounded product gives 0. */
static void fused_keeps_the_product(void **state) {
  (void)state;
  uint64_t a[32], b[32], c[32], out[32];
  uint64_t *const in[4] = {a, b, c, NULL};
  for (int i = 0; i < 32; i++) { /* smaller and smaller pieces in every lane */
    a[i] = b[i] = b32(1 + ldexpf(1, -12 - i % 10));
    c[i] = b32(-(1 + ldexpf(1, -11 - i % 10)));
  }
  eval("fma.rn.f32 %d, %a, %b, %c", "3333", in, 32, out);
  for (int i = 0; i < 32; i++) {
    assert_true(f32(out[i]) == ldexpf(1, -24 - 2 * (i % 10)));
  }
  eval("mul.f32 %d, %a, %b;\nadd.f32 %d, %d, %c", "3333", in, 32, out);
  assert_int_equal(out[0], 0); /* apart they round twice */
  for (int i = 0; i < 32; i++) {
    a[i] = b[i] = b64(1 + ldexp(1, -27 - i % 20));
    c[i] = b64(-(1 + ldexp(1, -26 - i % 20)));
  }
  eval("fma.rz.f64 %d, %a, %b, %c", "6666", in, 32, out);
  for (int i = 0; i < 32; i++) {
    assert_true(f64(out[i]) == ldexp(1, -54 - 2 * (i % 20)));
  }
}

/* Directed modes enclose the exact value and are neighbours; nearest is one of them. */
static void directed_modes_enclose(void **state) {
  (void)state;
  sct_rng rng = sct_rng_new(63);
  uint64_t a[512], b[512], down[512], upward[512], nearest[512], zero[512];
  uint64_t *const in[4] = {a, b, NULL, NULL};
  for (int i = 0; i < 512; i++) {
    a[i] = b32((float)ldexp(sct_rng_unit(&rng) - 0.5, (int)sct_rng_below(&rng, 60) - 30));
    b[i] = b32((float)ldexp(sct_rng_unit(&rng) + 0.5, (int)sct_rng_below(&rng, 60) - 30));
  }
  static const char *const names[] = {"add", "sub", "mul", "div"};
  for (int k = 0; k < 4; k++) {
    char text[64];
    uint64_t *const outs[4] = {down, upward, nearest, zero};
    static const char *const rnd[] = {"rm", "rp", "rn", "rz"};
    for (int m = 0; m < 4; m++) {
      snprintf(text, sizeof text, "%s.%s.f32 %%d, %%a, %%b", names[k], rnd[m]);
      eval(text, "333", in, 512, outs[m]);
    }
    for (int i = 0; i < 512; i++) {
      const float lo = f32(down[i]), hi = f32(upward[i]), mid = f32(nearest[i]);
      assert_true(lo == hi || nextafterf(lo, INFINITY) == hi);
      assert_true(mid == lo || mid == hi);
      assert_true(f32(zero[i]) == (lo >= 0 ? lo : hi));
      if (k == 2) { /* a product of two floats is exact in a double */
        const double exact = (double)f32(a[i]) * (double)f32(b[i]);
        assert_true((double)lo <= exact && exact <= (double)hi);
        assert_true(fabs((double)mid - exact) <= fabs((double)lo - exact) &&
                    fabs((double)mid - exact) <= fabs((double)hi - exact));
      }
    }
  }
}

/* ---- approximations of f32: relative error in units of 2^-23 */

static double quotient_of(double x, double y) {
  return x / y;
}
static double inverse_of(double x, double y) {
  (void)y;
  return 1 / x;
}
static double root_of(double x, double y) {
  (void)y;
  return sqrt(x);
}
static double inverse_root_of(double x, double y) {
  (void)y;
  return 1 / sqrt(x);
}

static void approximate_division_and_roots(void **state) {
  (void)state;
  static const struct {
    const char *instr, *sig;
    double (*exact)(double, double);
    double units;
  } forms[] = {{"div.approx.f32 %d, %a, %b", "333", quotient_of, 2},
               {"div.approx.ftz.f32 %d, %a, %b", "333", quotient_of, 2},
               {"div.full.f32 %d, %a, %b", "333", quotient_of, 2},
               {"div.full.ftz.f32 %d, %a, %b", "333", quotient_of, 2},
               {"rcp.approx.f32 %d, %a", "33", inverse_of, 1},
               {"rcp.approx.ftz.f32 %d, %a", "33", inverse_of, 1},
               {"sqrt.approx.f32 %d, %a", "33", root_of, 1},
               {"sqrt.approx.ftz.f32 %d, %a", "33", root_of, 1},
               {"rsqrt.approx.f32 %d, %a", "33", inverse_root_of, 1.5},
               {"rsqrt.approx.ftz.f32 %d, %a", "33", inverse_root_of, 1.5}};
  sct_rng rng = sct_rng_new(64);
  uint64_t a[1024], b[1024], out[1024];
  uint64_t *const in[4] = {a, b, NULL, NULL};
  for (int i = 0; i < 1024; i++) {
    a[i] = b32((float)ldexp(0.5 + sct_rng_unit(&rng), (int)sct_rng_below(&rng, 80) - 40));
    b[i] = b32((float)ldexp(0.5 + sct_rng_unit(&rng), (int)sct_rng_below(&rng, 80) - 40));
  }
  for (int k = 0; k < SCT_COUNT(forms); k++) {
    eval(forms[k].instr, forms[k].sig, in, 1024, out);
    for (int i = 0; i < 1024; i++) {
      const double want = forms[k].exact((double)f32(a[i]), (double)f32(b[i]));
      const double off = fabs((double)f32(out[i]) / want - 1);
      if (!(off <= ldexp(forms[k].units, -23))) {
        fail_msg("%s of %a, %a is %a: off by %a", forms[k].instr, (double)f32(a[i]),
                 (double)f32(b[i]), (double)f32(out[i]), off);
      }
    }
  }
}

/* The special operands of the manual's tables. */
static void approximations_of_special_operands(void **state) {
  (void)state;
  enum { NAN32 = 0x7fffffff, INF = 0x7f800000 };
  static const struct {
    const char *instr;
    uint32_t a, want;
  } cases[] = {
      {"rcp.approx.f32 %d, %a", 0x80000000, 0xff800000},
      {"rcp.approx.f32 %d, %a", 0x00000000, INF},
      {"rcp.approx.f32 %d, %a", 0xff800000, 0x80000000},
      {"rcp.approx.f32 %d, %a", 0x7fc00000, NAN32},
      {"rcp.approx.ftz.f32 %d, %a", 0x80000001, 0xff800000},
      {"sqrt.approx.f32 %d, %a", 0x80000000, 0x80000000},
      {"sqrt.approx.f32 %d, %a", 0xbf800000, NAN32},
      {"sqrt.approx.f32 %d, %a", INF, INF},
      {"sqrt.approx.ftz.f32 %d, %a", 0x00000001, 0},
      {"rsqrt.approx.f32 %d, %a", 0x00000000, INF},
      {"rsqrt.approx.f32 %d, %a", 0x80000000, 0xff800000},
      {"rsqrt.approx.f32 %d, %a", INF, 0},
      {"rsqrt.approx.f32 %d, %a", 0xff800000, NAN32},
      {"rsqrt.approx.ftz.f32 %d, %a", 0x80000001, 0xff800000},
      {"lg2.approx.f32 %d, %a", 0x00000000, 0xff800000},
      {"lg2.approx.f32 %d, %a", 0xbf800000, NAN32},
      {"lg2.approx.f32 %d, %a", INF, INF},
      {"lg2.approx.ftz.f32 %d, %a", 0x00000001, 0xff800000},
      {"ex2.approx.f32 %d, %a", 0xff800000, 0},
      {"ex2.approx.f32 %d, %a", INF, INF},
      {"ex2.approx.f32 %d, %a", 0x80000000, 0x3f800000},
      {"ex2.approx.ftz.f32 %d, %a", 0x80000001, 0x3f800000},
      {"ex2.approx.f32 %d, %a", 0x7fc00000, NAN32},
      {"ex2.approx.ftz.f32 %d, %a", 0xc3000000, 0}, /* 2^-128 */
      {"sin.approx.f32 %d, %a", 0x80000000, 0x80000000},
      {"sin.approx.f32 %d, %a", INF, NAN32},
      {"cos.approx.f32 %d, %a", 0x00000000, 0x3f800000},
      {"cos.approx.f32 %d, %a", 0xff800000, NAN32},
      {"sin.approx.ftz.f32 %d, %a", 0x80000001, 0x80000000},
      {"tanh.approx.f32 %d, %a", INF, 0x3f800000},
      {"tanh.approx.f32 %d, %a", 0xff800000, 0xbf800000},
      {"tanh.approx.f32 %d, %a", 0x7fc00000, NAN32},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    uint64_t a[32], out[32];
    uint64_t *const in[4] = {a, NULL, NULL, NULL};
    for (int i = 0; i < 32; i++) {
      a[i] = cases[k].a;
    }
    eval(cases[k].instr, "33", in, 32, out);
    if (out[31] != cases[k].want) {
      fail_msg("%s of %#x gives %#llx, not %#x", cases[k].instr, cases[k].a,
               (unsigned long long)out[31], cases[k].want);
    }
  }
}

/* ---- min and max: NaN, signed zeros, and their modifiers, by the order of values */

/* NaN: INT64_MAX */
static int64_t rank_of(uint64_t a) {
  const int64_t m = (int64_t)(a & 0x7fffffff);
  return m > 0x7f800000 ? INT64_MAX : a >> 31 ? -m - 1 : m;
}
static uint64_t pick(uint64_t a, uint64_t b, bool max, bool nan, bool ftz, bool xorsign) {
  const uint64_t sign = (a ^ b) & 0x80000000;
  if (ftz) {
    a = (a & 0x7f800000) == 0 ? a & 0x80000000 : a;
    b = (b & 0x7f800000) == 0 ? b & 0x80000000 : b;
  }
  if (xorsign) {
    a &= 0x7fffffff;
    b &= 0x7fffffff;
  }
  const bool na = rank_of(a) == INT64_MAX, nb = rank_of(b) == INT64_MAX;
  if ((na && nb) || (nan && (na || nb))) {
    return 0x7fffffff;
  }
  const uint64_t r = na ? b : nb ? a : (rank_of(a) < rank_of(b)) == max ? b : a;
  return xorsign ? r | sign : r;
}

static void extremes_with_every_modifier(void **state) {
  (void)state;
  eval_data d = eval_data_new(corners32, SCT_COUNT(corners32), 65);
  uint64_t out[EVAL_MAX];
  for (int form = 0; form < 16; form++) {
    const bool max = form & 1, ftz = form & 2, nan = form & 4, xorsign = form & 8;
    char text[80];
    snprintf(text, sizeof text, "%s%s%s%s.f32 %%d, %%a, %%b", max ? "max" : "min",
             ftz ? ".ftz" : "", nan ? ".NaN" : "", xorsign ? ".xorsign.abs" : "");
    eval(text, "333", (uint64_t *const *)d.in, d.n, out);
    for (int i = 0; i < d.n; i++) {
      const uint64_t a = d.in[0][i] & 0xffffffff, b = d.in[1][i] & 0xffffffff;
      const uint64_t want = pick(a, b, max, nan, ftz, xorsign);
      if (out[i] != want) {
        fail_msg("%s of %#llx, %#llx gives %#llx, not %#llx", text, (unsigned long long)a,
                 (unsigned long long)b, (unsigned long long)out[i], (unsigned long long)want);
      }
    }
  }
  eval_data_free(&d);
}

/* A launch rounds up, down or at random what is to be rounded to the nearest value. */
static void launches_round_otherwise(void **state) {
  static const char *const names[] = {"add", "sub", "mul", "fma", "add"}; /* the last one atomic */
  enum { N = 256, SEEDS = 32 };
  (void)state;
  sct_rng rng = sct_rng_new(64);
  uint64_t a[N], b[N], c[N], want[2][N], got[N];
  uint64_t *const in[4] = {a, b, c, NULL};
  double off = 0; /* from what is exact, in units */
  int n = 0;
  for (int k = 0; k < 10; k++) {
    const bool wide = k >= 5, fused = k % 5 == 3, atomic = k % 5 == 4;
    const char *const name = names[k % 5];
    const char *const type = wide ? "f64" : "f32", *const more = fused ? ", %c" : "";
    const char *const sig = wide ? (fused ? "6666" : "666") : (fused ? "3333" : "333");
    char text[200];
    for (int i = 0; i < N; i++) {
      for (int op = 0; op < 3; op++) {
        const double x = ldexp(sct_rng_unit(&rng) + 0.5, (int)sct_rng_below(&rng, 64) - 58);
        in[op][i] = wide ? b64(x) : b32((float)x);
      }
    }
    for (int up = 0; up < 2; up++) {
      eval_rounding = 0;
      snprintf(text, sizeof text, "%s.%s.%s %%d, %%a, %%b%s", name, up ? "rp" : "rm", type, more);
      eval(text, sig, in, N, want[up]);
      eval_rounding = up ? SCT_PTX_UP : SCT_PTX_DOWN;
      if (atomic) {
        snprintf(text, sizeof text,
                 "ld.param.u64 %%w9, [po]; add.s64 %%w9, %%w9, %%w0; st.global.%s [%%w9], %%a; "
                 "atom.global.add.%s %%d, [%%w9], %%b; ld.global.%s %%d, [%%w9]",
                 type, type, type);
      } else {
        snprintf(text, sizeof text, "%s.rn.%s %%d, %%a, %%b%s", name, type, more);
      }
      eval(text, sig, in, N, got);
      for (int i = 0; i < N; i++) { /* be one summand below the last digit of the next type */
        assert_int_equal(got[i], want[up][i]);
      }
    }
    for (eval_rounding = 1; eval_rounding <= SEEDS; eval_rounding++) {
      eval(text, sig, in, N, got);
      for (int i = 0; i < N; i++) {
        assert_true(got[i] == want[0][i] || got[i] == want[1][i]);
        if (k == 2 && want[0][i] != want[1][i]) {
          const double low = f32(want[0][i]), high = f32(want[1][i]);
          off += ((double)f32(got[i]) - (double)f32(a[i]) * (double)f32(b[i])) / (high - low);
          n++;
        }
      }
    }
  }
  eval_rounding = 0;
  assert_true(n > 0 && fabs(off / n) < 0.02); /* 1 / sqrt(12 n), and four times that */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_single),
                                     cmocka_unit_test(all_double),
                                     cmocka_unit_test(host_mode_stays),
                                     cmocka_unit_test(fused_keeps_the_product),
                                     cmocka_unit_test(directed_modes_enclose),
                                     cmocka_unit_test(launches_round_otherwise),
                                     cmocka_unit_test(approximate_division_and_roots),
                                     cmocka_unit_test(approximations_of_special_operands),
                                     cmocka_unit_test(extremes_with_every_modifier)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
