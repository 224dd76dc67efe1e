/* Bodies in fast arithmetic: what is replaced, what its types forbid, and when there is none. */
#include "spec_test.h"

typedef struct fast_case {
  const char *body, *fast; /* NULL: it stays as it is */
} fast_case;

/* a, b f32; d f64; h f16; n i32; v f32x4; r has x f32 and k i32; s is a scalar f32. */
static void check(const fast_case *c, double tolerance, bool given) {
  open_spec("i");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", INPUT);
  add_array("d", "f64", INPUT);
  add_array("h", "f16", INPUT);
  add_array("n", "i32", INPUT);
  add_array("v", "f32x4", INPUT);
  add_array("r", "x:f32 k:i32", INPUT);
  add_array("o", "f32", OUTPUT);
  spec.scalars[spec.n_scalars++] = (sct_scalar){.name = "s", .type = SCT_TYPE_F32};
  bind();
  for (int k = 0; k < spec.n_operands; k++) {
    lay_out(spec.operands[k].name, AOS, 0);
  }
  spec.tolerance = tolerance;
  spec.tolerance_given = given;
  set_sizes("i=64");
  finish(c->body);
  assert_string_equal(err.text, "");
  if (c->fast ? !spec.fast_body || strcmp(spec.fast_body, c->fast) != 0 : spec.fast_body != NULL) {
    fail_msg("'%s' becomes '%s', not '%s'", c->body, spec.fast_body ? spec.fast_body : "nothing",
             c->fast ? c->fast : "nothing");
  }
  assert_int_equal(sct_spec_has_fast(&spec), c->fast != NULL);
  close_spec();
}

static void check_all(const fast_case *cases, int n) {
  for (int k = 0; k < n; k++) {
    check(&cases[k], 1e-4, true);
  }
}

static void functions_of_floats(void **state) {
  (void)state;
  static const fast_case cases[] = {
      {"o = sinf(a);", "o = __sinf(a);"},
      {"o = cosf(a) + tanf( b );", "o = __cosf(a) + __tanf( b );"},
      {"o = expf(a) * exp10f(b);", "o = __expf(a) * __exp10f(b);"},
      {"o = logf(a) + log2f(a) + log10f(a);", "o = __logf(a) + __log2f(a) + __log10f(a);"},
      {"o = powf(a, sqrtf(b));", "o = __powf(a, sqrt_approx(b));"},
      {"o = sinf(d);", "o = __sinf(d);"}, /* it is a float's sine as it stands */
      {"o = exp(a);", "o = __expf(a);"},
      {"o = exp(s * a + 1.0f);", "o = __expf(s * a + 1.0f);"},
      {"o = exp(d);", NULL},
      {"o = exp(n);", NULL}, /* of a double */
      {"o = pow(a, 2);", NULL},
      {"o = pow(a, b);", "o = __powf(a, b);"},
      {"o = exp(v.x);", "o = __expf(v.x);"},
      {"o = exp(r.x);", "o = __expf(r.x);"},
      {"o = exp(r.k);", NULL},
      {"o = expm1f(a) + log1pf(a) + tanhf(a) + exp2f(a) + rsqrtf(a);", NULL},
      {"o = __expf(a);", NULL},
      {"o = a * b + fmaxf(a, s);", NULL}};
  check_all(cases, SCT_COUNT(cases));
}

static void divisions(void **state) {
  (void)state;
  static const fast_case cases[] = {
      {"o = a / b;", "o = __fdividef(a, b);"},
      {"o = a/b;", "o = __fdividef(a, b);"},
      {"o = a / b / s;", "o = __fdividef(__fdividef(a, b), s);"},
      {"o = a * (b) / s;", "o = __fdividef(a * (b), s);"},
      {"o = a / (b / s);", "o = __fdividef(a, __fdividef(b, s));"},
      {"o = (a + b) / (a - b);", "o = __fdividef(a + b, a - b);"},
      {"o = 2.0f * a / b + 1.0f;", "o = __fdividef(2.0f * a, b) + 1.0f;"},
      {"o = -a / -b;", "o = __fdividef(-a, -b);"},
      {"o = 1.0f / a;", "o = __fdividef(1.0f, a);"},
      {"o = 1 / a;", "o = __fdividef(1, a);"},
      {"o = a / n;", "o = __fdividef(a, n);"},
      {"o = (float)n / r.k;", "o = __fdividef((float)n, r.k);"},
      {"o = static_cast<float>(n) / a;", "o = __fdividef(static_cast<float>(n), a);"},
      {"o = a / n_i;", "o = __fdividef(a, n_i);"},
      {"o = (const float)n / a;", "o = __fdividef((const float)n, a);"},
      {"o = uint8_t(n) / a;", "o = __fdividef(static_cast<unsigned char>(n), a);"},
      {"o = *&a / b;", NULL}, /* of what type is not followed */
      {"{ int t = n; o = t / n; } { float t = a; o = t / b; }",
       "{ int t = n; o = t / n; } { float t = a; o = __fdividef(t, b); }"},
      {"o = a / 3.0f;", "o = __fdividef(a, 3.0f);"},
      {"o = a / 4.0f + b / 0.5f + s / 2;", NULL}, /* products already */
      {"o = sinf(a) / cosf(b);", "o = __fdividef(__sinf(a), __cosf(b));"},
      {"o = fmaxf(a / b, 1.0f);", "o = fmaxf(__fdividef(a, b), 1.0f);"},
      {"o = a < b ? a / b : b / a;", "o = a < b ? __fdividef(a, b) : __fdividef(b, a);"},
      {"o = a / (a < b ? a : b);", "o = __fdividef(a, a < b ? a : b);"},
      {"o = n / r.k;", NULL},
      {"o = d / a;", NULL},
      {"o = a / 3.0;", NULL},
      {"o = h / a;", NULL}, /* how a half divides is its own type's */
      {"o = 1.0f / sqrtf(a);", "o = rsqrtf(a);"},
      {"o = b * (1.0f / sqrtf(a * a));", "o = b * (rsqrtf(a * a));"},
      {"o = 2.0f / sqrtf(a);", "o = __fdividef(2.0f, sqrt_approx(a));"},
      {"o = 1.0f / sqrtf(a) / b;", "o = __fdividef(rsqrtf(a), b);"}};
  check_all(cases, SCT_COUNT(cases));
}

static void statements(void **state) {
  (void)state;
  static const fast_case cases[] = {
      {"const float x = a / b, y = x * s; o = y / x;",
       "const float x = __fdividef(a, b), y = x * s; o = __fdividef(y, x);"},
      {"auto x = a * b; o = x / a;", "auto x = a * b; o = __fdividef(x, a);"},
      {"auto x = d * b; o = x / a;", NULL},
      {"int x = n; o = x / n;", NULL},
      {"unsigned int x = n; o = a / x;", "unsigned int x = n; o = __fdividef(a, x);"},
      {"float x = a; x /= b; o = x;", "float x = a; x = __fdividef(x, b); o = x;"},
      {"float x = a; x /= b + s; o = x;", "float x = a; x = __fdividef(x, b + s); o = x;"},
      {"float x = a; x /= 2.0f; o = x;", NULL},
      {"if (a > 0.0f) o = a / b; else o = 0.0f;",
       "if (a > 0.0f) o = __fdividef(a, b); else o = 0.0f;"},
      {"float t = 0.0f; for (int k = 0; k < 4; k++) { t += a / (k + 1); } o = t;",
       "float t = 0.0f; for (int k = 0; k < 4; k++) { t += __fdividef(a, k + 1); } o = t;"},
      {"float x[2] = {a, b}; o = x[0] / x[1];", NULL}, /* elements of locals are not followed */
      {"o = a / b; // a / b\n", "o = __fdividef(a, b); // a / b\n"},
      {"float2 p = make_float2(a, b); o = p.x / p.y;",
       "float2 p = make_float2(a, b); o = __fdividef(p.x, p.y);"}};
  check_all(cases, SCT_COUNT(cases));
}

static void only_within_a_tolerance(void **state) {
  (void)state;
  const fast_case none = {"o = expf(a) / b;", NULL};
  check(&none, 0.0, false);
  check(&none, 0.0, true);
  check(&none, 1e-4, false); /* of a sum, not the user's */
  check(&(fast_case){none.body, "o = __fdividef(__expf(a), b);"}, 1e-9, true);
}

/* What is too much to follow stays exact. */
static void too_much_stays(void **state) {
  (void)state;
  sct_str body = {0};
  sct_str_append(&body, "o = a");
  for (int k = 0; k < 300; k++) {
    sct_str_append(&body, " / b");
  }
  sct_str_append(&body, ";");
  check(&(fast_case){sct_str_c(&body), NULL}, 1e-4, true);
  sct_str_free(&body);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_floats),
                                     cmocka_unit_test(divisions), cmocka_unit_test(statements),
                                     cmocka_unit_test(only_within_a_tolerance),
                                     cmocka_unit_test(too_much_stays)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
