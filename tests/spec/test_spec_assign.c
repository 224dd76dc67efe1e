/* Definite assignment: which bodies assign every output on every path and read nothing undefined,
 * and what the others are told. */
#include "spec_test.h"

/* "o" alone, or "b" (x, y, z) and "w" (a float4), or "c" (an array of 4 and e), or "m", reduced. */
typedef enum kernel_kind { ONE, RECORDS, ARRAYS, SUM, MAX } kernel_kind;

static void open_kernel(kernel_kind kind) {
  open_spec("i j");
  add_scalar("k", "f32");
  add_scalar("n", "i32");
  add_array("a", "f32", INPUT);
  add_array("mask", "i32", INPUT);
  add_array("p", "x:f32 y:f32 z:f32", INPUT);
  add_array("v", "f32x4", INPUT);
  if (kind == ONE) {
    add_array("o", "f32", OUTPUT);
  } else if (kind == ARRAYS) {
    add_array("g", "e:f32 q[0]:f32 q[1]:f32 q[2]:f32 q[3]:f32", INPUT);
    add_array("c", "q[0]:f32 q[1]:f32 q[2]:f32 q[3]:f32 e:f32", OUTPUT);
  } else if (kind == RECORDS) {
    add_array("b", "x:f32 y:f32 z:f32", OUTPUT);
    add_array("w", "f32x4", OUTPUT);
  } else {
    add_array("m", "f32", OUTPUT)->reduce = kind == SUM ? SCT_REDUCE_SUM : SCT_REDUCE_MAX;
    set_dims("m", "i");
  }
  bind();
  lay_out_rest();
  set_sizes("i=4 j=5");
}

typedef struct body_case {
  const char *body;
  const char *says; /* part of the error; NULL: accepted */
} body_case;

static void check_cases(kernel_kind kind, const body_case *cases, int n) {
  for (int k = 0; k < n; k++) {
    open_kernel(kind);
    const sct_status status = try_finish(cases[k].body);
    if (cases[k].says == NULL && status != SCT_OK) {
      fail_msg("refused: %s\n%s", cases[k].body, err.text);
    } else if (cases[k].says != NULL && status == SCT_OK) {
      fail_msg("accepted: %s", cases[k].body);
    } else if (cases[k].says != NULL && !strstr(err.text, cases[k].says)) {
      fail_msg("%s\nexpected \"%s\" in: %s", cases[k].body, cases[k].says, err.text);
    }
    close_spec();
  }
}

#define CHECK(kind, cases) check_cases(kind, cases, SCT_COUNT(cases))

/* ---- branches ---- */

static void test_branches(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"if (a > 0.5f) o = a; else o = 1;", NULL},
      {"if (a > 0.5f) o = a; else if (a > 0.2f) o = 1; else o = 2;", NULL},
      {"if (a > 0.5f) { o = a; } else { if (n > 1) { o = 1; } else { o = 2; } }", NULL},
      {"o = 0; if (a > 0.5f) o = a;", NULL},
      {"if (true) o = a;", NULL},
      {"if (false) ; else o = a;", NULL},
      {"if (0 < 1) o = a;", NULL},
      {"if (a > 0.5f) o = a;",
       "output o is not assigned when `a > 0.5f` is false; add an `else` that assigns it"},
      {"if (a > 0.5f) o = a; else if (a < 0.25f) o = 3.0f * a;",
       "output o is not assigned when `a > 0.5f` and `a < 0.25f` are both false; add an `else`"},
      {"if (a > 3) o = 3; else if (a > 2) o = 2; else if (a>1) o = 1;",
       "when `a > 3`, `a > 2` and `a>1` are all false; add an `else`"},
      {"if (a > 3) o = 3; if (a < 1) o = 1;",
       "not assigned when `a > 3` and `a < 1` are both false"},
      {"if (a > 3) { if (n > 1) o = 1; } else o = 2;",
       "not assigned when `a > 3` is true and `n > 1` is false; add an `else`"},
      {"if (a > 3) { } else { o = 2; }",
       "not assigned when `a > 3` is true; assign it in that branch too"},
      {"if (a > 3) o = 1; else { float t = 0; t += a; }",
       "not assigned when `a > 3` is false; assign it in that branch too"},
      {"if (n > 1) { if (a > 1) o = 1; } else { if (a > 2) o = 2; }",
       "not assigned when `n > 1` and `a > 2` are both false"},
      {"if (false) o = a;", "output o is not assigned"},
      {"if (int q = n; q > 2) o = q; else o = -q;", NULL},
      {"if (int q = n) o = q; else o = 1;", NULL},
      {"if (int q = n; q > 2) o = q;", "when `q > 2` is false"},
      {"a > 0 ? (o = 1) : (o = 2);", NULL},
      {"a > 0 ? (o = 1) : 2;", "not assigned when `a > 0` is false"},
      {"o = a > 0 ? a : n > 1 ? k : 2;", NULL},
      {"float t = 1; t = a;", "output o is never assigned"},
      {"o = a; else o = 2;", "`else` is not expected here"},
  };
  CHECK(ONE, cases);
}

static void test_short_circuits(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"float t; if (n > 0 && (t = a) > 1) o = t; else o = 0;", NULL},
      {"float t; if (n > 0 || (t = a) > 1) o = 0; else o = t;", NULL},
      {"float t; if (!(n > 0 && (t = a) > 1)) o = 0; else o = t;", NULL},
      {"float t; if (n > 0 && (t = a) > 1) o = 0; else o = t;",
       "'t' is read before it is assigned"},
      {"float t; if (n > 0 || (t = a) > 1) o = t; else o = 0;", "'t' is read before"},
      {"n > 0 && (o = a);", "output o is not assigned; assign it on every path"},
      {"true && (o = a);", NULL},
      {"float t; o = n > 0 ? (t = a) : 1; o += t;",
       "'t' is read here but not assigned when `n > 0` is false"},
  };
  CHECK(ONE, cases);
}

static void test_switches(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"switch (mask) { case 0: o = 1; break; default: o = 2; }", NULL},
      {"switch (mask) { case 0: case 1: o = 1; break; case 2: o = 3; default: o = 2; }", NULL},
      {"switch (mask) { default: o = 2; break; case 1: o = 1; }", NULL},
      {"switch (mask) { case 0: { float t = a; o = t; break; } default: o = 2; }", NULL},
      {"switch (mask) { case 0: o = 1; break; case 1: o = 2; }",
       "output o is not assigned when no `case` of `switch (mask)` fits; add a `default`"},
      {"switch (mask & 3) { case 0: break; default: o = 2; }",
       "not assigned when the `break` on line 1 is taken; assign it before the `break`"},
      {"switch (mask) { case 0: o = 1; break; default: ; }",
       "not assigned when the last `case` of `switch (mask)` is taken"},
      {"switch (mask) { case 0: if (a > 1) o = 1; break; default: o = 2; }",
       "when `a > 1` is false and the `break` on line 1 is taken"},
      {"switch (mask) { case 0: float t; t = 1; o = t; break; default: o = 2; }", NULL},
      {"switch (mask) { case 0: float t; t = 1; default: o = t; }", "'t' is read before"},
      {"for (int q = 0; q < 3; q++) { switch (q) { case 1: continue; default: ; } } o = 1;", NULL},
      {"case 1: o = a;", "`case` is not expected here"},
      {"o = a; switch (n) { case 0: for (;;) { case 1: break; } }", "`case` is not expected"},
  };
  CHECK(ONE, cases);
}

static void test_loops(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"float s = 0; for (int q = 0; q < 4; q++) s += a; o = s;", NULL},
      {"for (int q = 0; q < 4; q++) o = a;", NULL},
      {"for (int q = 3; q >= 0; --q) { o = a; }", NULL},
      {"for (int q = -2; q <= 2; ++q) o = q;", NULL},
      {"const int r = 2; for (int q = -r; q <= r; ++q) o = q;", NULL},
      {"int q; for (q = 0; q < 4; q += 2) o = q; o += q;", NULL},
      {"for (unsigned q = 0; q < 4u; q++) o = a;", NULL},
      {"for (long long q = 0, r = 1; q < 4; q++, r *= 2) o = r;", NULL},
      {"for (int q = 0; q < n; q++) o = a;",
       "not assigned when the loop `for (q < n)` has no iteration; assign it before the loop"},
      {"for (int q = 0; q < 0; q++) o = a;", "output o is not assigned"},
      {"for (unsigned q = 0; q > -1; q++) o = a;", "output o is not assigned"},
      {"for (int q = 0; q < 4; q++) { if (a > q) continue; o = a; }",
       "not assigned when the `continue` on line 1 is taken; assign it before the `continue`"},
      {"for (int q = 0; q < 4; q++) { if (a > q) break; o = a; }",
       "when the `break` on line 1 is taken; assign it before the `break`"},
      {"for (int q = 0; q < 4; q++) if (a > q) o = a;", "not assigned when `a > q` is false"},
      {"for (int q = 0; q < 4; q++) { o = a; if (a > q) break; }", NULL},
      {"int q = 0; while (q < n) { o = q; q++; }", "the loop `while (q < n)` has no iteration"},
      {"while (true) { o = a; break; }", NULL},
      {"for (;;) { if (a > 1) { o = 1; break; } else { o = 2; break; } }", NULL},
      {"for (;;) { if (a > 1) { o = 1; break; } if (n > 1) break; }",
       "the `break` on line 1 is taken"},
      {"while (1) { if (a > 1) break; o = a; break; }", "the `break` on line 1 is taken"},
      {"int q = 0; do { o = q; q++; } while (q < n);", NULL},
      {"int q = 0; do { if (q > 2) continue; o = q; } while (q++ < n);",
       "the `continue` on line 1 is taken"},
      {"float t; do t = a; while (t > 1); o = t;", NULL},
      {"float x; while ((x = a) > 2) { break; } o = x;", NULL},
      {"float t[3] = {1, 2, 3}; for (float x : t) o = x;", NULL},
      {"o = a; break;", "`break` outside of a loop or switch"},
      {"o = a; if (a > 1) continue;", "`continue` outside of a loop"},
      {"o = a; switch (n) { default: continue; }", "`continue` outside of a loop"},
  };
  CHECK(ONE, cases);
}

/* ---- locals ---- */

static void test_locals(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"float t; o = t + a;",
       "'t' is read before it is assigned; declare it with a value, as in `t = 0`"},
      {"float t; t += a; o = t;", "'t' is read before it is assigned"},
      {"int q; q++; o = q;", "'q' is read before it is assigned"},
      {"float t; if (a > 1) t = 1; o = t;",
       "'t' is read here but not assigned when `a > 1` is false; add an `else`"},
      {"float t = t; o = t;", "'t' is read before it is assigned"},
      {"float t, u = t; o = u;", "'t' is read before it is assigned"},
      {"float t = 1; { float t; o = t; }", "'t' is read before it is assigned"},
      {"{ float t = 1; } o = a; o += t;", "'t' is not declared here"},
      {"o = t; float t = 1;", "'t' is not declared here"},
      {"float t; { t = a; } o = t;", NULL},
      {"float t; { float t = 2; o = t; } t = 1; o = t;", NULL},
      {"float t(a), u{a}; const float c = t + u; o = c;", NULL},
      {"float t; if (a > 1) t = 1; else t = 2; o = t;", NULL},
      {"float t, u; t = u = a; o = t + u;", NULL},
      {"float4 q; q.x = a; q.y = a; q.z = 1; q.w = 2; o = q.x + q.w; q = v;", NULL},
      {"float4 q; q.x = a; o = q.x + q.y;", "'q.y' is read before it is assigned"},
      {"float4 q; q.x = a; float4 r = q; o = r.x;", "'q.y' is read before it is assigned"},
      {"float4 q = make_float4(1, 2, 3, 4); o = q.w;", NULL},
      {"float2 q = float2{1, 2}; auto r = q; o = r.y + (float)q.x;", NULL},
      {"unsigned long long h = 7; h ^= h << 3; o = static_cast<float>(h) + float(n);", NULL},
      {"float t = 1; o = sizeof(t) + sizeof t;", NULL},
      {"float t; o = sizeof(t);", NULL},
      {"float t = 1; float *q = &t; *q = a; q[0] = k; o = t;", NULL},
      {"float t = 1; float &r = t; r = a; o = t;", NULL},
      {"float &r = o; r = a;", "output 'o' is read before it is assigned"},
      {"float *q = &o; *q = a;", "output 'o' is read before it is assigned"},
      {"o = 0; float &r = o; r = a;", NULL},
      {"(o) = a;", "output 'o' is read before it is assigned"},
      {"auto f = [&](float x) { o = x; }; f(a);", "a body may not contain lambdas"},
      {"o = a; o + ;", "`;` is not expected here"},
      {"o = a a;", "`;` expected before `a`"},
      {"if (a > 1 { o = 1; }", "never closed"},
  };
  CHECK(ONE, cases);
}

/* What people write, and nothing is wrong with. */
static void test_usual_bodies(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"do { o = a; } while (0);", NULL},
      {"o = 0; for (auto q : {1, 2, 3}) o += q;", NULL},
      {"int q = n; o = 0; while (q --> 0) o += 1.f + .5f;", NULL},
      {"o = a, o += 1;", NULL},
      {"float t[4] = {0}; t[n & 3] += a; --t[0]; t[1]++; o = t[n & 3];", NULL},
      {"o = (unsigned char)(a) + (long long)i * n + sizeof(float) + unsigned(a);", NULL},
      {"o = n > 2 ? a : n > 1 ? k : (float)0x1p-3f;", NULL},
      {"const auto &r = a; o = -r * +k + !n + ~mask;", NULL},
      {"float x = a, *q = &x; *q *= 2; o = *q;", NULL},
      {"o = float2{a, k}.y + make_float2(a, k).x;", NULL},
      {"float2 q[2] = {{a, k}, {k, a}}; q[1].x = q[0].y; o = q[1].x;", NULL},
      {"if (a > 0) ; else { } ; ; o = fmaxf(fminf(a, k), fmaf(a, k, v.x));", NULL},
      {"bool neg = a < 0; if (neg) { o = -a; } else { o = a; }", NULL},
      {"int lo = 0, hi = 8; while (lo < hi) { int mid = (lo + hi) / 2; if (mid * k < a) lo = mid + "
       "1; else hi = mid; } o = lo;",
       NULL},
      {"unsigned h = i; h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; o = (h & 0xffffff) * 1e-7f;",
       NULL},
      {"int c = 0; float z = 0; for (; c < 50 && z < 4; c++) z = z * z + a; o = c;", NULL},
      {"float best = a; if (p.x > best) best = p.x; if (p.y > best) best = p.y; o = best;", NULL},
      {"float s[3] = {p.x, p.y, p.z}; for (int q = 0; q < 2; ++q) for (int r = 0; r < 2; ++r) if "
       "(s[r] > s[r + 1]) { float t = s[r]; s[r] = s[r + 1]; s[r + 1] = t; } o = s[1];",
       NULL},
  };
  CHECK(ONE, cases);
}

static void test_arrays(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"float t[4]; for (int q = 0; q < 4; q++) t[q] = a; o = t[2];", NULL},
      {"float t[3]; t[0] = a; t[1] = k; t[2] = 1; for (int q = 0; q < 3; q++) o = t[q];", NULL},
      {"float t[2] = {a, k}; o = t[n & 1];", NULL},
      {"float t[4] = {}; if (a > 1) t[0] = a; o = t[0];", NULL},
      {"float t[2][2]; t[0][0] = a; o = t[0][0];", NULL},
      {"float2 q[2]; q[1].x = a; q[1].y = k; o = q[1].y;", NULL},
      {"float2 q[2]; q[1].x = a; o = q[1].y;", "'q[1].y' is read before it is assigned"},
      {"float2 q[2]; q[1].x = a; o = q[0].x;", "'q[0].x' is read before it is assigned"},
      {"float2 q[2]; for (int t = 0; t < 2; t++) q[t].x = a; o = q[1].x;", NULL},
      {"float2 q[2]; for (int t = 0; t < 2; t++) q[t].x = a; o = q[1].y;", "'q[1].y' is read"},
      {"int t[t]; o = a;", "'t' is read before it is assigned"},
      {"int *t; *t = 1; o = a;", "'t' is read before it is assigned"},
      {"float t[4]; o = t[0];", "'t[0]' is read before it is assigned"},
      {"float t[4]; t[0] = a; o = t[1];", "'t[1]' is read before it is assigned"},
      {"float t[4]; if (a > 1) t[0] = a; o = t[0];",
       "'t[0]' is read here but not assigned when `a > 1` is false"},
      {"float t[4]; for (int q = 0; q < n; q++) t[q] = a; o = t[0];",
       "when the loop `for (q < n)` has no iteration"},
      {"const int c = 2; float t[c]; t[0] = 1; t[c - 1] = 2; o = t[0] + t[n];", NULL},
      {"float t[100]; t[n] = 1; o = t[7];", NULL},
      {"int q; float t[2] = {1, 2}; o = t[q];", "'q' is read before it is assigned"},
      {"int q; float t[2]; t[q] = 1; o = 1;", "'q' is read before it is assigned"},
  };
  CHECK(ONE, cases);
}

/* ---- outputs ---- */

static void test_records(void **state) {
  (void)state;
  static const body_case cases[] = {
      {"b = p; w = v;", NULL},
      {"b.x = 1; b.y = 2; b.z = 3; w.x = w.y = w.z = w.w = a;", NULL},
      {"b = p; b.x += a; w = v; w.z = b.x;", NULL},
      {"if (a > 1) b = p; else { b.x = 1; b.y = 2; b.z = 3; } w = v;", NULL},
      {"b.x = 1; b.z = 3; w = v;",
       "output b.y is never assigned; what stays as it was belongs to an output with inout = true"},
      {"b = p; w.x = 1; w.y = 2; w.z = 3;", "output w.w is never assigned"},
      {"b.x = 1; if (a > 1) b.y = 2; b.z = 3; w = v;",
       "output b.y is not assigned when `a > 1` is false"},
      {"if (a > 1) b = p; w = v;", "output b.x is not assigned when `a > 1` is false"},
      {"w = v; b.x = b.y; b = p;", "output 'b.y' is read before it is assigned"},
      {"b = p; w.x += 1; w = v;", "output 'w.x' is read before it is assigned"},
  };
  CHECK(RECORDS, cases);
}

static void test_reduced(void **state) {
  (void)state;
  static const body_case sums[] = {
      {"m = a;", NULL},
      {"if (mask % 2 == 0) m = a; else m = 0;", NULL},
      {"if (mask % 2 == 0) m = a;",
       "output m is not assigned when `mask % 2 == 0` is false; add an `else` that assigns it (0 "
       "adds nothing to a sum)"},
      {"m += a;", "'m' is reduced (sum), so the body only assigns it what one element contributes"},
      {"m = 0; m++;", "write `=`, as in `m = ...;`"},
      {"m = m + a;", "'m' is reduced (sum), so the body cannot read it"},
  };
  static const body_case maxima[] = {
      {"m = fmaxf(a, k);", NULL},
      {"m = a; float t = a - m;", "or a second kernel takes the result as an input"},
      {"m = a; if (m > 3) m = 3;", "'m' is reduced (max), so the body cannot read it"},
  };
  CHECK(SUM, sums);
  CHECK(MAX, maxima);
}

/* ---- where, and how much ---- */

static void test_lines(void **state) {
  (void)state;
  open_kernel(ONE);
  assert_int_equal(try_finish("float t = a;\nif (t > 1)\n  o = 1;\nelse if (t > 0)\n  o = 2;"),
                   SCT_ESPEC);
  assert_says(
      "spec.lua:10: error: body, line 2: output o is not assigned when `t > 1` and `t > 0`");
  close_spec();
  open_kernel(ONE);
  assert_int_equal(try_finish("float t;\no = a;\no = o + t;"), SCT_ESPEC);
  assert_says("body, line 3: 't' is read before it is assigned");
  close_spec();
}

/* More units than one pass holds: 60 locals of four components each, the last one half assigned. */
static void test_many_units(void **state) {
  (void)state;
  sct_str body = {0};
  for (int k = 0; k < 60; k++) {
    sct_str_printf(&body, "float4 q%d%s; ", k, k < 59 ? " = v" : "");
  }
  sct_str_append(&body, "o = q0.x + q58.w; q59.x = 1;");
  open_kernel(ONE);
  finish(sct_str_c(&body));
  close_spec();
  sct_str_append(&body, " o = q59.x + q59.w;");
  open_kernel(ONE);
  assert_int_equal(try_finish(sct_str_c(&body)), SCT_ESPEC);
  assert_says("'q59.w' is read before it is assigned");
  close_spec();
  sct_str_free(&body);
}

static void assert_too_deep(const char *before, const char *each, int n, const char *after) {
  sct_str body = {0};
  sct_str_append(&body, before);
  for (int k = 0; k < n; k++) {
    sct_str_append(&body, each);
  }
  sct_str_append(&body, after);
  open_kernel(ONE);
  assert_int_equal(try_finish(sct_str_c(&body)), SCT_ESPEC);
  assert_says("nest too deep");
  close_spec();
  sct_str_free(&body);
}

static void test_deep(void **state) {
  (void)state;
  assert_too_deep("o = ", "!", 100000, "a;");
  assert_too_deep("o = ", "a ? 1 : ", 100000, "2;");
  assert_too_deep("o = ", "o = ", 100000, "2;");
  assert_too_deep("", "if (n) ", 100000, "o = 1;");
  sct_str body = {0};
  for (int k = 0; k < 100; k++) {
    sct_str_printf(&body, "if (n == %d) o = %d; else ", k, k);
  }
  sct_str_append(&body, "o = 0;");
  open_kernel(ONE);
  finish(sct_str_c(&body));
  close_spec();
  sct_str_free(&body);
}

/* Arrays of an output: elements by number, or all that a loop counts through. */
static void test_array_fields(void **state) {
  (void)state;
#define LOOP(to, body) "c.e = g.e; for (int t = 0; t < " to "; t++) " body
  static const body_case cases[] = {
      {"c.e = 0; c.q[0] = g.q[3]; c.q[1] = g.q[1]; c.q[2] = 1; c.q[3] = c.q[0];", NULL},
      {"c.e = 0; c.q[0] = g.q[3]; c.q[1] = g.q[1]; c.q[3] = c.q[0];",
       "output c.q[2] is never assigned"},
      {LOOP("4", "c.q[t] = g.q[t];"), NULL},
      {LOOP("4", "{ c.q[t] = g.q[t]; if (a > 0) c.q[t] += c.q[0]; }"), NULL},
      {"const int m = 4; c.e = 0; for (int t = 0; t < m; ++t) c.q[t] = k;", NULL},
      {"c.e = 0; for (int t = 0; t <= 3; t++) c.q[t] = k;", NULL},
      {"c.e = 0; for (int t = 0; t < 4; t++) c.q[t] = k; for (int t = 1; t < 4; t++) c.q[t] *= "
       "c.q[t - 1];",
       NULL},
      {LOOP("4", "{ c.q[t] = 0; for (int u = 0; u < n; u++) { c.q[t] += k; if (a > u) break; } }"),
       NULL},
      {"int t; c.e = 0; for (t = 0; t < 4; t++) c.q[t] = k;", NULL},
      {LOOP("4", "c.q[3 - t] = g.q[t];"), NULL}, /* all, by the rule of local arrays */
      {LOOP("3", "c.q[t] = g.q[t];"), "output c.q[3] is never assigned"},
      {"c.e = 0; for (int t = 1; t < 4; t++) c.q[t] = k;", "output c.q[0] is never assigned"},
      {LOOP("5", "c.q[t] = g.q[t];"), "`t` runs from 0 to 4, but the array has 4 elements"},
      {LOOP("4", "c.q[t] = 0; for (int u = 0; u < 6; u++) c.e += g.q[u];"),
       "`u` runs from 0 to 5, but the array has 4 elements"},
      {LOOP("4", "if (a > 0) c.q[t] = g.q[t];"), "output c.q[0] is not assigned when `a > 0` is"},
      {LOOP("4", "{ c.q[t] = g.q[t]; if (a > 0) break; }"), "the `break` on line 1 is taken"},
      {LOOP("4", "{ if (a > 0) continue; c.q[t] = k; }"), "the `continue` on line 1 is taken"},
      {LOOP("4", "{ c.q[t] = k; t++; }"), "output c.q[0]"},
      {LOOP("4", "{ c.e += c.q[t]; c.q[t] = k; }"), "output 'c.q[0]' is read before"},
      {LOOP("n", "c.q[t] = k;"), "the loop `for (t < n)` has no iteration"},
      {"const int m = -1; " LOOP("4", "c.q[t] = g.q[m];"), "no element -1: the array has 4"},
      {"const int m = 6; " LOOP("4", "{ c.q[t] = 0; if (m < 4) c.q[t] = g.q[m]; }"), NULL},
      {"c.e = 0; c.q[4] = 1;", "'c.q' has 4 elements; the last one is c.q[3]"},
      {"c.e = 0; c.q = g.q;", "'c.q' is an array of 4 elements; name one, as in c.q[0]"},
      {"c.e = g.q; c.q[0] = 1;", "'g.q' is an array of 4 elements; name one, as in g.q[0]"},
      {"c.r[0] = 1;", "'c' has no field 'r'; did you mean 'q'?"},
      {"c.e[0] = 1;", "'c' stands for one element"},
      {"c.e = 0; g.q[n] = 1;", "'g' is an input and cannot be assigned"},
  };
#undef LOOP
  CHECK(ARRAYS, cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_array_fields),   cmocka_unit_test(test_branches),
      cmocka_unit_test(test_short_circuits), cmocka_unit_test(test_switches),
      cmocka_unit_test(test_loops),          cmocka_unit_test(test_locals),
      cmocka_unit_test(test_usual_bodies),   cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_records),        cmocka_unit_test(test_reduced),
      cmocka_unit_test(test_lines),          cmocka_unit_test(test_many_units),
      cmocka_unit_test(test_deep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
