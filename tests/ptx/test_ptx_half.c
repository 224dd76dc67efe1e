/* f16, bf16 and their pairs: every unary operation over all 65536 values, binary ones over all
 * pairs of special values and many random ones, fma where two roundings would show. Expectations
 * come from integers (ptx_half_exact.h). */
#include "ptx_eval.h"
#include "ptx_half_exact.h"

#define MAX_N 65536

enum { FTZ = 1, SAT = 2, RELU = 4, NAN_WINS = 8, XORSIGN = 16 };

typedef uint32_t (*half_fn)(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods);

typedef struct half_case {
  const char *op; /* with modifiers, without type */
  int n_in;
  half_fn want;
  int mods;
  int kinds; /* 1 f16, 2 bf16 */
} half_case;

static uint32_t flushed(const half_kind *k, uint32_t h) {
  return half_is_subnormal(k, h) ? h & 0x8000 : h;
}

/* ---- what each operation must give, modifiers of the operands aside */

static uint32_t one(const half_kind *k) {
  return (uint32_t)k->emax << k->mant;
}
static uint32_t want_mul(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)mods;
  c = (a ^ b) & 0x8000; /* a zero that changes no sign */
  return exact_fma(k, a, b, c);
}
static uint32_t want_add(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)c;
  (void)mods;
  return exact_fma(k, a, one(k), b);
}
static uint32_t want_sub(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  return want_add(k, a, b ^ 0x8000, c, mods);
}
static uint32_t want_fma(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)mods;
  return exact_fma(k, a, b, c);
}
static uint32_t want_neg(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)b;
  (void)c;
  (void)mods;
  return half_is_nan(k, a) ? 0x7fff : a ^ 0x8000;
}
static uint32_t want_abs(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)b;
  (void)c;
  (void)mods;
  return half_is_nan(k, a) ? 0x7fff : a & 0x7fff;
}

/* Position on the number line: integers in the order of the values, -0 below +0. */
static int32_t place(uint32_t h) {
  return h & 0x8000 ? -1 - (int32_t)(h & 0x7fff) : (int32_t)h;
}
static uint32_t extreme(const half_kind *k, uint32_t a, uint32_t b, int mods, bool greater) {
  const bool nan_a = half_is_nan(k, a), nan_b = half_is_nan(k, b);
  const uint32_t sign = (a ^ b) & 0x8000;
  if ((nan_a && nan_b) || ((nan_a || nan_b) && (mods & NAN_WINS) != 0)) {
    return 0x7fff;
  }
  if (mods & XORSIGN) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  const bool first = nan_b || (!nan_a && (place(a) > place(b)) == greater);
  const uint32_t out = first ? a : b;
  return mods & XORSIGN ? (out & 0x7fff) | sign : out;
}
static uint32_t want_min(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)c;
  return extreme(k, a, b, mods, false);
}
static uint32_t want_max(const half_kind *k, uint32_t a, uint32_t b, uint32_t c, int mods) {
  (void)c;
  return extreme(k, a, b, mods, true);
}

static double value_of(const half_kind *k, uint32_t h) {
  uint32_t m = 0;
  int e = 0;
  half_split(k, h, &m, &e);
  return ldexp(h & 0x8000 ? -(double)m : (double)m, e);
}

/* Did only the coarser rounding of subnormals make the least normal number of a b + c? Its exact
 * value fits a double: no bit of it is below 2^-48, and it is about 2^-14. */
static bool is_tiny(const half_case *t, const half_kind *k, uint32_t a, uint32_t b, uint32_t c,
                    uint32_t out) {
  const double value =
      fma(value_of(k, a), value_of(k, b), t->want == want_fma ? value_of(k, c) : 0);
  return (t->want == want_mul || t->want == want_fma) && (out & 0x7fff) == 1u << k->mant &&
         fabs(value) < ldexp(1, k->emin) - ldexp(1, k->emin - k->mant - 2);
}

static uint32_t want(const half_case *t, const half_kind *k, uint32_t a, uint32_t b, uint32_t c) {
  if (t->mods & FTZ) {
    a = flushed(k, a);
    b = flushed(k, b);
    c = flushed(k, c);
  }
  uint32_t out = t->want(k, a, b, c, t->mods);
  if (t->mods & FTZ) {
    out = is_tiny(t, k, a, b, c, out) ? out & 0x8000 : flushed(k, out);
  }
  const bool nan = half_is_nan(k, out), negative = (out & 0x8000) != 0;
  if (t->mods & SAT) {
    return nan || negative ? 0 : out > one(k) ? one(k) : out;
  }
  return (t->mods & RELU) && !nan && negative ? 0 : out;
}

/* ---- running: as single values, then as pairs whose upper halves are another case's operands */

static void mismatch(const char *text, uint32_t a, uint32_t b, uint32_t c, uint32_t got,
                     uint32_t expected) {
  fail_msg("%s: a %#x b %#x c %#x gives %#x, not %#x", text, a, b, c, got, expected);
}

static uint32_t half_of(uint64_t v, int shift) {
  return (uint32_t)(v >> shift) & 0xffff;
}

static void check_case(const half_case *t, const half_kind *k, uint64_t *const in[4], int n) {
  static const char *const operands[4] = {"", "%d, %a", "%d, %a, %b", "%d, %a, %b, %c"};
  uint64_t *out = calloc((size_t)n, sizeof *out);
  assert_non_null(out);
  for (int pair = 0; pair < 2; pair++) {
    char text[96], sig[8] = {0};
    memset(sig, pair ? '3' : '1', (size_t)t->n_in + 1);
    snprintf(text, sizeof text, "%s.%s%s %s", t->op, k->name, pair ? "x2" : "", operands[t->n_in]);
    eval(text, sig, in, n, out);
    for (int i = 0; i < n; i++) {
      for (int shift = 0; shift < (pair ? 32 : 16); shift += 16) {
        const uint32_t a = half_of(in[0][i], shift), b = half_of(in[1][i], shift);
        const uint32_t c = half_of(in[2][i], shift), got = half_of(out[i], shift);
        const uint32_t expected = want(t, k, a, b, c);
        if (got != expected) {
          mismatch(text, a, b, c, got, expected);
        }
      }
      assert_true(out[i] >> (pair ? 32 : 16) == 0);
    }
  }
  free(out);
}

static void fill(uint64_t *in[4]) {
  for (int k = 0; k < 4; k++) {
    in[k] = calloc(MAX_N, sizeof(uint64_t));
    assert_non_null(in[k]);
  }
}
static void drop(uint64_t *in[4]) {
  for (int k = 0; k < 4; k++) {
    free(in[k]);
  }
}

static void check_cases(const half_case *cases, int n_cases, int kind, uint64_t *const in[4],
                        int n) {
  for (int i = 0; i < n_cases; i++) {
    if (cases[i].kinds >> kind & 1) {
      check_case(&cases[i], &half_kinds[kind], in, n);
    }
  }
}

/* Upper halves: the lower ones in another order. */
static void fill_upper(uint64_t *const in[4], int n) {
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++) {
      in[k][i] |= (in[k][(i * 5 + 77) % n] & 0xffff) << 16;
    }
  }
}

/* ---- unary: all values */

static void unary(void **state) {
  (void)state;
  static const half_case cases[] = {{"neg", 1, want_neg, 0, 3},
                                    {"abs", 1, want_abs, 0, 3},
                                    {"neg.ftz", 1, want_neg, FTZ, 1},
                                    {"abs.ftz", 1, want_abs, FTZ, 1}};
  uint64_t *in[4];
  fill(in);
  for (int i = 0; i < MAX_N; i++) {
    in[0][i] = (uint64_t)i;
  }
  fill_upper(in, MAX_N);
  check_cases(cases, SCT_COUNT(cases), 0, in, MAX_N);
  check_cases(cases, SCT_COUNT(cases), 1, in, MAX_N);
  drop(in);
}

/* ---- approximations: within the error the PTX ISA states, at the ends exactly */

typedef struct approx_case {
  const char *text;
  int kind;
  bool tanh, relative;
  double error;
} approx_case;

static void check_approx(const approx_case *t, uint64_t *const in[4], uint64_t *out) {
  const half_kind *k = &half_kinds[t->kind];
  const bool pair = strstr(t->text, "x2 ") != NULL;
  /* one subnormal step; with .ftz none of them is left */
  const bool ftz = strstr(t->text, ".ftz") != NULL;
  const double least = ldexp(1, ftz ? k->emin : k->emin - k->mant);
  eval(t->text, pair ? "33" : "11", in, MAX_N, out);
  for (int i = 0; i < MAX_N; i++) {
    for (int shift = 0; shift < (pair ? 32 : 16); shift += 16) {
      const uint32_t h = half_of(in[0][i], shift), got = half_of(out[i], shift);
      const double x = half_value(k, h), y = half_value(k, got);
      const double ideal = t->tanh ? tanh(x) : exp2(x);
      if (isnan(x)) {
        assert_int_equal(got, 0x7fff);
        continue;
      }
      const double allowed = t->relative ? t->error * ideal + least : t->error;
      const double greatest = (2 - ldexp(1, -k->mant)) * ldexp(1, k->emax);
      const bool overflow = ideal > greatest && (isinf(y) || y == greatest);
      if (!overflow && !(y == ideal || fabs(y - ideal) <= allowed)) {
        mismatch(t->text, h, 0, 0, got, 0);
      }
    }
  }
}

static void approximations(void **state) {
  (void)state;
  static const approx_case cases[] = {{"ex2.approx.f16 %d, %a", 0, false, true, 0x1p-9},
                                      {"ex2.approx.f16x2 %d, %a", 0, false, true, 0x1p-9},
                                      {"ex2.approx.ftz.bf16 %d, %a", 1, false, true, 0x1p-7},
                                      {"ex2.approx.ftz.bf16x2 %d, %a", 1, false, true, 0x1p-7},
                                      {"tanh.approx.f16 %d, %a", 0, true, false, 0x1p-10},
                                      {"tanh.approx.f16x2 %d, %a", 0, true, false, 0x1p-10},
                                      {"tanh.approx.bf16 %d, %a", 1, true, false, 0x1p-8},
                                      {"tanh.approx.bf16x2 %d, %a", 1, true, false, 0x1p-8}};
  uint64_t *in[4], *out = calloc(MAX_N, sizeof *out);
  fill(in);
  assert_non_null(out);
  for (int i = 0; i < MAX_N; i++) {
    in[0][i] = (uint64_t)i;
  }
  fill_upper(in, MAX_N);
  for (int i = 0; i < SCT_COUNT(cases); i++) {
    check_approx(&cases[i], in, out);
  }
  free(out);
  drop(in);
}

/* ---- binary: all pairs of special values, and random pairs of which half lie close together */

/* Zeros, subnormals, powers of two and their neighbours, ends, infinities, NaNs; both signs. */
static int specials(const half_kind *k, uint32_t out[64]) {
  const uint32_t hidden = 1u << k->mant, inf = half_inf(k);
  const uint32_t positive[] = {0,
                               1,
                               2,
                               3,
                               hidden - 1,
                               hidden,
                               hidden + 1,
                               2 * hidden - 1,
                               2 * hidden,
                               one(k) - 1,
                               one(k),
                               one(k) + 1,
                               one(k) + hidden / 2,
                               one(k) + hidden,
                               one(k) + (uint32_t)(k->mant + 1) * hidden,
                               one(k) - (uint32_t)(k->mant + 1) * hidden,
                               one(k) - (uint32_t)(k->mant + 1) * hidden + 1,
                               inf - hidden,
                               inf - 1,
                               inf,
                               inf + 1,
                               0x7fff};
  int n = 0;
  for (int i = 0; i < SCT_COUNT(positive); i++) {
    out[n++] = positive[i];
    out[n++] = positive[i] | 0x8000;
  }
  return n;
}

static uint32_t near(const half_kind *k, uint32_t h, uint64_t r) {
  const int by = (int)(r % 9) - 4;
  const uint32_t moved = h + (uint32_t)by * (1u << k->mant) + (uint32_t)(r >> 8 & 3);
  return (moved & 0x7fff) | (uint32_t)(r >> 16 & 0x8000);
}

static int binary_operands(const half_kind *k, uint64_t *const in[4], uint64_t seed) {
  uint32_t s[64] = {0};
  const int n_special = specials(k, s);
  sct_rng rng = sct_rng_new(seed);
  int n = 0;
  for (int i = 0; i < n_special; i++) {
    for (int j = 0; j < n_special; j++) {
      in[0][n] = s[i];
      in[1][n++] = s[j];
    }
  }
  while (n % 32 != 0 || n < 8192) {
    const uint64_t r = sct_rng_u64(&rng);
    in[0][n] = r & 0xffff;
    in[1][n] = n & 1 ? r >> 48 : near(k, (uint32_t)in[0][n], r >> 20);
    n++;
  }
  fill_upper(in, n);
  return n;
}

static void binary(void **state) {
  (void)state;
  static const half_case cases[] = {
      {"add", 2, want_add, 0, 3},
      {"add.rn", 2, want_add, 0, 3},
      {"add.ftz", 2, want_add, FTZ, 1},
      {"add.sat", 2, want_add, SAT, 1},
      {"add.rn.ftz.sat", 2, want_add, FTZ | SAT, 1},
      {"sub", 2, want_sub, 0, 3},
      {"sub.rn", 2, want_sub, 0, 3},
      {"sub.ftz.sat", 2, want_sub, FTZ | SAT, 1},
      {"mul", 2, want_mul, 0, 3},
      {"mul.rn", 2, want_mul, 0, 3},
      {"mul.ftz", 2, want_mul, FTZ, 1},
      {"mul.sat", 2, want_mul, SAT, 1},
      {"min", 2, want_min, 0, 3},
      {"max", 2, want_max, 0, 3},
      {"min.ftz", 2, want_min, FTZ, 1},
      {"max.ftz", 2, want_max, FTZ, 1},
      {"min.NaN", 2, want_min, NAN_WINS, 3},
      {"max.NaN", 2, want_max, NAN_WINS, 3},
      {"min.xorsign.abs", 2, want_min, XORSIGN, 3},
      {"max.xorsign.abs", 2, want_max, XORSIGN, 3},
      {"min.NaN.xorsign.abs", 2, want_min, NAN_WINS | XORSIGN, 3},
      {"max.ftz.NaN.xorsign.abs", 2, want_max, FTZ | NAN_WINS | XORSIGN, 1}};
  for (int kind = 0; kind < 2; kind++) {
    uint64_t *in[4];
    fill(in);
    const int n = binary_operands(&half_kinds[kind], in, 91 + (uint64_t)kind);
    check_cases(cases, SCT_COUNT(cases), kind, in, n);
    drop(in);
  }
}

/* ---- fma: products that end halfway between two values, with addends far below them */

static int fma_operands(const half_kind *k, uint64_t *const in[4], uint64_t seed) {
  uint32_t s[64];
  const int n_special = specials(k, s);
  sct_rng rng = sct_rng_new(seed);
  int n = 0;
  for (int i = 0; i < n_special; i += 1 + i % 2) {
    for (int j = 0; j < n_special; j += 3) {
      for (int l = 0; l < n_special; l += 2) {
        in[0][n] = s[i];
        in[1][n] = s[j];
        in[2][n++] = s[(l + i + j) % n_special];
      }
    }
  }
  const int n_random = n + 8192;
  while (n % 32 != 0 || n < n_random) {
    const uint64_t r = sct_rng_u64(&rng);
    const uint32_t fraction = 1u << k->mant;
    in[0][n] = r & 0xffff;
    in[1][n] = r >> 16 & 0xffff;
    in[2][n] = r >> 32 & 0xffff;
    if (n & 1) { /* (odd / 2^mant) * 1.5 needs one bit more than there is: often a tie */
      in[1][n] = (in[1][n] & ~(uint64_t)(fraction - 1)) | fraction / 2;
      in[2][n] = n & 2 ? in[2][n] & ~(uint64_t)(0xf << k->mant & 0x7fff) : in[2][n];
    }
    n++;
  }
  assert_true(n <= MAX_N);
  fill_upper(in, n);
  return n;
}

static void fused(void **state) {
  (void)state;
  static const half_case cases[] = {{"fma.rn", 3, want_fma, 0, 3},
                                    {"fma.rn.ftz", 3, want_fma, FTZ, 1},
                                    {"fma.rn.sat", 3, want_fma, SAT, 1},
                                    {"fma.rn.relu", 3, want_fma, RELU, 3},
                                    {"fma.rn.ftz.relu", 3, want_fma, FTZ | RELU, 1}};
  for (int kind = 0; kind < 2; kind++) {
    uint64_t *in[4];
    fill(in);
    const int n = fma_operands(&half_kinds[kind], in, 93 + (uint64_t)kind);
    check_cases(cases, SCT_COUNT(cases), kind, in, n);
    drop(in);
  }
}

/* Worked by hand: 1.5 * (1 + 2^-7) = 1.51171875 lies between two bf16 values, exactly halfway; what
 * decides is an addend 2^-100 that no double next to it can hold. */
static void ties_are_broken_by_tiny_addends(void **state) {
  (void)state;
  static const struct {
    uint16_t c, want;
  } rows[] = {
      {0x0000, 0x3fc2}, {0x0d80, 0x3fc2}, {0x8d80, 0x3fc1}, {0x0001, 0x3fc2}, {0x8001, 0x3fc1}};
  uint64_t *in[4], out[32];
  fill(in);
  for (int i = 0; i < 32; i++) {
    in[0][i] = 0x3fc0;
    in[1][i] = 0x3f81;
    in[2][i] = rows[i % SCT_COUNT(rows)].c;
  }
  eval("fma.rn.bf16 %d, %a, %b, %c", "1111", in, 32, out);
  for (int i = 0; i < 32; i++) {
    assert_int_equal(out[i], rows[i % SCT_COUNT(rows)].want);
  }
  drop(in);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(unary), cmocka_unit_test(approximations),
                                     cmocka_unit_test(binary), cmocka_unit_test(fused),
                                     cmocka_unit_test(ties_are_broken_by_tiny_addends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
