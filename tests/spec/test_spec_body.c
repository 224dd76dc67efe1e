/* Bodies: what is refused and with which words, what is recognised as a move or component-wise. */
#include "spec_test.h"

/* Arrays of a kernel with three-field records, a mixed one, a vector and an index. */
static void open_kernel(void) {
  open_spec("i j");
  add_scalar("k", "f32");
  add_array("a", "x:f32 y:f32 z:f32", INPUT);
  add_array("m", "u:f64 v:f32", INPUT);
  add_array("v", "f32x4", INPUT);
  add_array("s", "f32", INPUT);
  add_array("b", "x:f32 y:f32 z:f32", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=4 j=5");
}

static void assert_refused(const char *body, const char *says) {
  open_kernel();
  if (try_finish(body) == SCT_OK) {
    fail_msg("accepted: %s", body);
  }
  assert_int_equal(err.code, SCT_ESPEC);
  assert_says("spec.lua:1");
  assert_says(says);
  close_spec();
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *body, *says;
  } cases[] = {
      {"", "the body is empty"},
      {"b.x = a.x", "`;` expected at the end"},
      {"b = a;\n#include <stdio.h>\n", "may not contain `#`"},
      {"b = a; asm(\"trap;\");", "strings or character literals"},
      {"b = a; asm volatile(x);", "may not contain `asm`"},
      {"b = a; __asm(x);", "may not contain `__asm`"},
      {"b = a; goto out;", "may not contain `goto`"},
      {"b = a; return;", "may not contain `return`"},
      {"b = a; // x \\\n y;", "may not contain a backslash"},
      {"b = a; // trigraph ?\?/\n", "may not contain `?\?`"},
      {"b = a; %:include", "may not contain `%:`"},
      {"b = a; <% %>", "may not contain `<%`"},
      {"b = a; } int f; {", "`}` closes nothing"},
      {"b = a; (a.x];", "`]` closes nothing"},
      {"if (k > 0) { b = a;", "`{` is never closed"},
      {"b = a; /* open", "this comment has no end"},
      {"b = a; 'x';", "strings or character literals"},
      {"b = a; ::exit;", "may not contain `::`"},
      {"b = a; @;", "may not contain `@`"},
      {"b = a; \x80;", "printable ASCII only, not byte 0x80"},
      {"b = a; \x01;", "not byte 0x01"},
      {"b = a; threadIdx;", "may not contain `threadIdx`"},
      {"b = a; struct q;", "may not contain `struct`"},
      {"b = a; b.x = a.x + kk;", "unknown name 'kk'"},
      {"b = a; b.x = fabff(a.x);", "unknown name 'fabff'; did you mean 'fabsf'?"},
      {"b = a; b.x = sqrtf;", "'sqrtf' is a function; call it"},
      {"b.x = a.xx; b.y = a.y; b.z = a.z;", "'a' has no field 'xx'; did you mean 'x'?"},
      {"b.x = a.qqq; b.y = a.y; b.z = a.z;", "'a' has no field 'qqq'; expected one of x, y, z"},
      {"b.w = a.x;", "'b' has no field 'w'"},
      {"b = m;", "'b' and 'm' have different fields"},
      {"b = s;", "'b' and 's' have different fields"},
      {"b.x = a; b.y = a.y; b.z = a.z;", "'a' is a record; name one of its fields, as in a.x"},
      {"b = a; fabsf(a);", "'a' is a record"},
      {"b.keep();", "write `keep(b);`"},
      {"b.x = v.q; b.y = 0; b.z = 0;", "a value of type f32x4 has no '.q'; expected x, y, z or w"},
      {"b.x = s.x; b.y = 0; b.z = 0;", "a value of type f32 has no '.x'"},
      {"b.x = a.x; b.y = a.y;", "output b.z is never assigned"},
      {"b.x = a.x; b.y = a.y; b.z += a.z;", "output 'b.z' is read before it is assigned"},
      {"b.x = b.x; b.y = 0; b.z = 0;", "output 'b.x' is read before it is assigned"},
      {"b = a; ++a.x;", "'a' is an input and cannot be assigned; did you mean 'b'?"},
      {"b = a; a.x = 1;", "'a' is an input and cannot be assigned"},
      {"b = a; k = 1;", "'k' is a scalar and cannot be assigned"},
      {"b = a; i = 1;", "'i' is an index and cannot be assigned"},
      {"b = a; ++i;", "'i' is an index and cannot be assigned"},
      {"b = a; --k;", "'k' is a scalar and cannot be assigned"},
      {"b = a; b.x = s[3];", "'s' stands for one element"},
      {"b = a; float a;", "`a` cannot be declared: it is taken"},
      {"b = a; float _t;", "`_t` is reserved"},
      {"b = a; float sct_t;", "`sct_t` is reserved"},
      {"b = a; int EOF = 1;", "`EOF` is a macro of C or CUDA headers; choose another name"},
      {"b = a; float x = 1, linux = 2;", "`linux` is a macro of C or CUDA headers"},
      {"b = a; int cudaSuccess = 0;", "`cudaSuccess` is reserved: names with cuda in front"},
      {"b = a; here: b.x = 1;", "unknown name 'here'"},
      {"b = a; u8 t = 1;", "unknown name 'u8'; write `unsigned char`"},
      {"b = a; b.x = (f32)1;", "unknown name 'f32'; write `float`"},
      {"b = a; f32x4 t = v;", "unknown name 'f32x4'; write `float4`"},
      {"b = a; uint t = 1;", "unknown name 'uint'; write `unsigned int`"},
      {"b = a; cuComplex t = v;", "unknown name 'cuComplex'; write `float2`"},
      {"b = a; int t = (int)uint8_t{1};", "write `uint8_t(...)`, with round brackets"},
      {"b = a; b.x = (int)a.x << 40;", "`<< 40` shifts by as many bits as an int has, or more"},
      {"b = a; int t = 3; b.x = (t + 1) >> 32;", "convert the left side to `long long` first"},
      {"b = a; int t = 3; b.x = t * 2 + 1 << 33;", "`<< 33` shifts by as many bits as an int has"},
      {"b = a; unsigned t = 3; t <<= 32; b.x = t;", "`<<= 32` shifts by as many bits"},
      {"b = a; b.x = 1 << 35;", "`<< 35` shifts by as many bits as an int has"},
      {"b = a; b.x = (a.x > 1) << 33;", "`<< 33` shifts by as many bits as an int has"},
      {"b = a; int q, t = 3; b.x = (k > 1 ? t : 2) << 33;", "`<< 33` shifts by as many bits"},
      {"b = a; b.x = i << 64;", "as many bits as the widest integer has"},
      {"b = a; b.x = 1 << -1;", "shifts by a negative number"},
      {"b = a; b.x = -INFINITY;", "unknown name 'INFINITY'; write `__int_as_float(0x7f800000)`"},
      {"b = a; b.x = __rsqrt_rn(k);", "unknown name '__rsqrt_rn'; did you mean '__frsqrt_rn'?"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_refused(cases[k].body, cases[k].says);
  }
}

/* What a compiler would refuse later. */
static void test_refused_types(void **state) {
  (void)state;
  static const struct {
    const char *body, *says;
  } cases[] = {
      {"b = a; b.x = v * 2.0f;", "`*` is not defined for vector types"},
      {"b = a; float4 t = v; t += v;", "`+=` is not defined for vector types"},
      {"b = a; b.x = (v == v);", "`==` is not defined for vector types"},
      {"b = a; float4 t = -v;", "`-` is not defined for vector types"},
      {"b = a; b.x = sqrtf(v);", "`sqrtf` is not defined for vector types"},
      {"b = a; b.x = v;", "a vector is assigned to a number; name a component, as in a.x"},
      {"b = a; float t = v;", "a vector is assigned to a number"},
      {"b = a; float4 t = 1.0f;", "a number is assigned to a vector; assign its components"},
      {"b = a; float4 t = k > 0 ? v : 0.0f;", "a number is assigned to a vector"},
      {"b = a; b.x = k % 3;", "`%` takes integers, and this is a float; write fmodf(x, y)"},
      {"b = a; b.x = a.x & 1;", "`&` takes integers, and this is a float; convert it"},
      {"b = a; b.x = 1 << k;", "`<<` takes integers"},
      {"b = a; int t = 1; t |= a.y;", "`|=` takes integers"},
      {"b = a; b.x = ~k;", "`~` takes integers"},
      {"b = a; const int t = 1; t = 2;", "'t' is const and cannot be assigned"},
      {"b = a; b.x = relu(a.x);", "unknown name 'relu'; write `fmaxf(x, 0.0f)`"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_refused(cases[k].body, cases[k].says);
  }
}

static void test_accepted(void **state) {
  (void)state;
  static const char *const bodies[] = {
      "b.x = a.x; b.y = a.y; b.z = a.z;",
      "b = a; // a comment with ( and [ in it\n",
      "b = a; /* and ] here */",
      "float t = a.x * k, u = 2; b.x = t; b.y = t + u; b.z = -t;",
      "const float t = a.x; b.x = t; b.y = t; b.z = t;",
      "float4 q = v; b.x = q.x; b.y = q.y; b.z = v.w;",
      "float4 q = k > 0 ? v : v; q = v; b.x = q.x; b.y = q.y; b.z = 2 * q.z;",
      "float4 q[2] = {v, v}; b.x = q[0].x * q[1].x; b.y = 0; b.z = 0;",
      "b = a; b.x = (int)k % 3 & 1 | __float_as_int(k) >> 2; b.y = __float2int_rn(k) % 8;",
      "if (a.x > 0.5e-3f) { b = a; } else b = a;",
      "b = a; for (int n = 0; n < 3; n++) b.x += 1.0f;",
      "b = a; b.x = static_cast<float>(i) + (float)j;",
      "b = a; float t[3] = { a.x, a.y, a.z }; b.x = t[2];",
      "b.x = b.y = b.z = 0x1p-3f;",
      "b = a; unsigned long long h = 7ull; h ^= h << 3; b.x = h;",
      "b = a; float *p = &b.x; *p = k;",
      "b = a; int t = 3; b.x = static_cast<long long>(t) << 40 | (long)t << 33;",
      "b = a; long int t = 3; b.x = t << 40 | (i << 2) << 40;",
      "float s_t; s_t = 1; b = a; b.x = s_t;",
      "b = a; for (uint32_t n = 0; n < 3; n++) b.x += float(int64_t(n));",
  };
  for (int k = 0; k < SCT_COUNT(bodies); k++) {
    open_kernel();
    finish(bodies[k]);
    close_spec();
  }
}

/* The line and the column inside a body of several lines, from the file where it stands there. */
static void test_error_points_at_the_line(void **state) {
  (void)state;
  static const char text[] = "-- nine lines\n\n\n\n\n\n\n\n\n  b = a;\n    b.x = oops;\n";
  sct_source source = {"spec.lua", text};
  open_kernel();
  spec.sources = &source;
  spec.n_sources = 1;
  spec.body_in_file = true;
  assert_int_equal(try_finish("b = a;\n    b.x = oops;"), SCT_ESPEC);
  assert_string_equal(err.text,
                      "spec.lua:11:11: error: unknown name 'oops'; expected one of a, m, v, s, b, "
                      "k, i, j\n    b.x = oops;\n          ^");
  close_spec();
  open_kernel();
  assert_int_equal(try_finish("b = a;\n    b.x = oops;"), SCT_ESPEC);
  assert_says("spec.lua:10: error: body, line 2: unknown name 'oops'");
  close_spec();
}

/* A column that is not certain is not said: a line that stands twice in one of the file, a line
 * that a file has otherwise; nor a caret where the line is cut. */
static void test_columns(void **state) {
  (void)state;
  static const struct {
    const char *line, *body, *says;
  } cases[] = {
      {"  body = \"b = a; oops;\",", "b = a; oops;", "spec.lua:1:18: error: "},
      {"\tbody = [[\tb = a; oops;", "b = a; oops;",
       "\n    body = [[\tb = a; oops;\n             \t       ^"},
      {"f([[b = oops;]], [[b = oops;]])", "b = oops;", "spec.lua:1: error: "},
      {"f('b = ' .. 'oops;')", "b = oops;", "spec.lua:1: error: "},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    sct_source source = {"spec.lua", cases[k].line};
    open_kernel();
    spec.sources = &source;
    spec.n_sources = 1;
    spec.body_in_file = true;
    spec.body = cases[k].body;
    spec.body_line = 1;
    assert_int_equal(sct_spec_finish(&spec, &err), SCT_ESPEC);
    assert_says(cases[k].says);
    close_spec();
  }
}

static void test_used_fields(void **state) {
  (void)state;
  open_kernel();
  finish("b.x = a.y; b.y = v.z + j; b.z = 0;");
  assert_false(find("a")->used[0]);
  assert_true(find("a")->used[1]);
  assert_false(find("m")->used[0]);
  assert_true(find("v")->used[0]);
  assert_true(find("b")->used[2]);
  assert_false(spec.body_uses_dim[0]);
  assert_true(spec.body_uses_dim[1]);
  close_spec();
}

static void test_moves(void **state) {
  (void)state;
  open_kernel();
  finish("b = a;");
  assert_int_equal(spec.n_moves, 3);
  assert_int_equal(spec.moves[2].in, 0);
  assert_int_equal(spec.moves[2].in_field, 2);
  assert_int_equal(spec.moves[2].out_field, 2);
  close_spec();
  open_kernel();
  finish("b.x = a.z; b.y = s; b.z = m.v;");
  assert_int_equal(spec.n_moves, 3);
  assert_int_equal(spec.moves[0].in_field, 2);
  assert_string_equal(spec.operands[spec.moves[1].in].name, "s");
  assert_int_equal(spec.moves[2].in_field, 1);
  close_spec();
  open_kernel();
  finish("{ b.x = a.x; } { b.y = a.y; b.z = a.z; }"); /* as steps are that follow each other */
  assert_int_equal(spec.n_moves, 3);
  close_spec();
  static const char *const computes[] = {
      "b.x = a.x; b.y = a.y; b.z = m.u;",          /* f64 to f32 rounds */
      "b.x = a.x; b.y = a.y; b.z = a.z; b.x = s;", /* assigned twice */
      "b.x = a.x; b.y = a.y; b.z = 1;",
      "b.x = v.x; b.y = a.y; b.z = a.z;", /* part of a word */
      "b.x = a.x; b.y = a.y; b.z = -a.z;",
      "if (s > 0.0f) { b = a; } else { b = a; }",
  };
  for (int k = 0; k < SCT_COUNT(computes); k++) {
    open_kernel();
    finish(computes[k]);
    assert_int_equal(spec.n_moves, 0);
    close_spec();
  }
}

static void test_component_wise(void **state) {
  (void)state;
  static const struct {
    const char *body, *component;
  } cases[] = {
      {"b = a;", "b = a;"},
      {"b.x = a.x + k; b.y = a.y + k; b.z = a.z + k;", "b = a + k;"},
      {"b.z = fmaxf(a.z, k);  b.x=fmaxf( a.x ,k); b.y = fmaxf(a.y, k);", "b = fmaxf( a ,k);"},
      {"b.x = a.x + k; b.y = a.y + k; b.z = a.z - k;", NULL},
      {"b.x = a.y; b.y = a.x; b.z = a.z;", NULL},
      {"b.x = a.x * s; b.y = a.y * s; b.z = a.z * s;", NULL}, /* s is one for all three */
      {"b.x = a.x * i; b.y = a.y * i; b.z = a.z * i;", NULL}, /* the index of a record */
      {"b.x = a.x; b.x = a.x; b.y = a.y; b.z = a.z;", NULL},
      {"float t = k; b.x = a.x + t; b.y = a.y + t; b.z = a.z + t;", NULL},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_kernel();
    finish(cases[k].body);
    assert_int_equal(spec.component_wise, cases[k].component != NULL);
    if (cases[k].component) {
      assert_string_equal(spec.component_body, cases[k].component);
    }
    close_spec();
  }
}

static void test_component_wise_of_two_outputs(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "x:f64 y:f64", INPUT);
  add_array("b", "p:f64 q:f64", OUTPUT);
  add_array("c", "x:f64 y:f64", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=4");
  finish("b.p = a.x; c.x = b.p * 2; b.q = a.y; c.y = b.q * 2;");
  assert_true(spec.component_wise);
  assert_string_equal(spec.component_body, "b = a; c = b * 2;");
  close_spec();
}

/* The components of a field are not the field. */
static void test_components_of_fields(void **state) {
  (void)state;
  open_spec("i");
  add_array("a", "p:f32x2 q:f32x2", INPUT);
  add_array("b", "p:f32x2 q:f32x2", OUTPUT);
  bind();
  lay_out_rest();
  set_sizes("i=4");
  finish("b.p = make_float2(a.p.y, a.p.x); b.q = make_float2(a.q.y, a.q.x);");
  assert_false(spec.component_wise);
  close_spec();
}

/* Records of equal fields and different types are copied by field, those of one type as they are.
 */
static void test_copies_between_types(void **state) {
  (void)state;
  static const struct {
    const char *body, *kernel;
  } cases[] = {
      {"b = a; c = a;", "b.x = a.x; b.y = a.y; c = a;"},
      {"/* b = a; */ c = a; // all\nb = c;", "/* b = a; */ c = a; // all\nb.x = c.x; b.y = c.y;"},
      {"c = a; if (c.x > 0) b = a; else b = c;",
       "c = a; if (c.x > 0) { b.x = a.x; b.y = a.y; } else { b.x = c.x; b.y = c.y; }"},
      {"{ c = a; } b=a;", "{ c = a; } b.x = a.x; b.y = a.y;"},
      {"b.x = a.x; b.y = a.y; c = a;", "b.x = a.x; b.y = a.y; c = a;"},
      /* types are spelled without headers; for a call of one, which two words are not, a cast is */
      {"const uint8_t t = (int32_t)a.x; c.x = uint64_t(t) + size_t (3); b = a; c.y = 0;",
       "const unsigned char t = (int)a.x; c.x = static_cast<unsigned long long>(t) + "
       "static_cast<unsigned long long> (3); b.x = a.x; b.y = a.y; c.y = 0;"},
      /* variables may be called as a dimension is */
      {"{ float i = a.x; c.x = i * i; } c.y = i; b = c;",
       "{ float i_here = a.x; c.x = i_here * i_here; } c.y = i; b.x = c.x; b.y = c.y;"},
      {"float i_here = i; for (int i = 0; i < 3; i++) i_here += i; c.x = c.y = i_here; b = a;",
       "float i_here = i; for (int i_here_ = 0; i_here_ < 3; i_here_++) i_here += i_here_; "
       "c.x = c.y = i_here; b.x = a.x; b.y = a.y;"},
  };
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    open_spec("i");
    add_array("a", "x:f32 y:f32", INPUT);
    add_array("b", "x:f32 y:f32", OUTPUT)->record.name = "other";
    add_array("c", "x:f32 y:f32", OUTPUT);
    bind();
    lay_out_rest();
    set_sizes("i=4");
    finish(cases[k].body);
    assert_string_equal(spec.kernel_body, cases[k].kernel);
    close_spec();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_refused_types),
      cmocka_unit_test(test_accepted),
      cmocka_unit_test(test_error_points_at_the_line),
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_used_fields),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_component_wise),
      cmocka_unit_test(test_copies_between_types),
      cmocka_unit_test(test_component_wise_of_two_outputs),
      cmocka_unit_test(test_components_of_fields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
