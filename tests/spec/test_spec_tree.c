/* The tree of a body: how tightly operators bind, what is a cast and what brackets, scopes of
 * names, and bodies that try to break the parser. */
#include "spec_test.h"

#include "spec/spec_tree.h"

/* "(+ a (* b c))": each node's operator or keyword, then its parts. */
static void print(sct_str *out, const body_tree *tree, const node *n) {
  const token *t = &tree->t[n->at];
  if (n->kind == NODE_EMPTY) {
    sct_str_append(out, "-");
  } else if (n->kind == NODE_NUMBER || n->kind == NODE_NAME) {
    for (int k = n->first; k < n->end; k++) {
      sct_str_append_n(out, tree->t[k].text, tree->t[k].len);
    }
  } else {
    sct_str_append(out, n->kind == NODE_CAST ? "(as " : "(");
    sct_str_append_n(out, t->text, t->len);
    for (int k = 0; k < SCT_COUNT(n->kid); k++) {
      for (const node *part = n->kid[k]; part; part = part->next) {
        sct_str_append(out, " ");
        print(out, tree, part);
      }
    }
    sct_str_append(out, ")");
  }
}

/* Inputs a, b, p (x, y), g (e and an array q of 4), v (a float4); output o; scalars k and n. */
static sct_status parse(body_tree **tree, const char *body) {
  open_spec("i j");
  add_scalar("k", "f32");
  add_scalar("n", "i32");
  add_array("a", "f32", INPUT);
  add_array("b", "f32", INPUT);
  add_array("p", "x:f32 y:f32", INPUT);
  add_array("g", "e:f32 q[0]:f32 q[1]:f32 q[2]:f32 q[3]:f32", INPUT);
  add_array("v", "f32x4", INPUT);
  add_array("o", "f32", OUTPUT);
  bind();
  spec.body = body;
  spec.body_line = 10;
  return sct_spec_parse(tree, &spec, &err);
}

typedef struct tree_case {
  const char *body, *prints; /* the first statement without its own brackets */
} tree_case;

static void check(const tree_case *cases, int n) {
  for (int c = 0; c < n; c++) {
    body_tree *tree = NULL;
    if (parse(&tree, cases[c].body) != SCT_OK) {
      fail_msg("refused: %s\n%s", cases[c].body, err.text);
    }
    const node *first = tree->statements;
    SCT_SCOPED(sct_str) text = {0};
    print(&text, tree, first->kind == NODE_EXPRESSION ? first->kid[0] : first);
    if (strcmp(sct_str_c(&text), cases[c].prints) != 0) {
      fail_msg("%s\nis    %s\nnot %s", cases[c].body, sct_str_c(&text), cases[c].prints);
    }
    close_spec();
  }
}

static void test_operators(void **state) {
  (void)state;
  static const tree_case cases[] = {
      {"o = a + b * k;", "(= o (+ a (* b k)))"},
      {"o = a * b + k;", "(= o (+ (* a b) k))"},
      {"o = a - b + k - 1;", "(= o (- a b k 1))"}, /* one level, from the left */
      {"o = a / b * k;", "(= o (/ a b k))"},
      {"o = (a - (b));", "(= o (( (- a (( b))))"},
      {"o = n << 1 + 2 < n & 3 == n;", "(= o (& (< (<< n (+ 1 2)) n) (== 3 n)))"},
      {"o = n | n ^ n & n;", "(= o (| n (^ n (& n n))))"},
      {"o = n || n && !n;", "(= o (|| n (&& n (! n))))"},
      {"o = a > 1 ? b : k > 2 ? k : 3;", "(= o (? (> a 1) b (? (> k 2) k 3)))"},
      {"o = a ? b ? 1 : 2 : 3;", "(= o (? a (? b 1 2) 3))"},
      {"o = a ? b, 1 : o = 2;", "(= o (? a (, b 1) (= o 2)))"},
      {"o = a, o += b, o;", "(, (= o a) (+= o b) o)"},
      {"o = o = a;", "(= o (= o a))"},
      {"o = -a - - -b;", "(= o (- (- a) (- (- b))))"},
      {"o = n-- - --n;", "(= o (- (n n (--)) (-- n)))"},
      {"o = a*-b/+k%~n;", "(= o (* a (- b) (+ k) (~ n)))"},
      {"o = 1.e-3f+0x1p-2f-.5;", "(= o (+ 1.e-3f 0x1p-2f .5))"},
  };
  check(cases, SCT_COUNT(cases));
}

/* Brackets with nothing but a type are a cast; "T(x)" is one, too, and no declaration. */
static void test_casts(void **state) {
  (void)state;
  static const tree_case cases[] = {
      {"o = (float)n / k;", "(= o (/ (as ( n) k))"},
      {"o = (n) / k;", "(= o (/ (( n) k))"},
      {"o = (float)(n) * -(int)k;", "(= o (* (as ( (( n)) (- (as ( k))))"},
      {"o = (const unsigned long)-n;", "(= o (as ( (- n)))"},
      {"o = (n) - k;", "(= o (- (( n) k))"}, /* a sum, as C++ has it, unless n is a type */
      {"o = (float(n) + 1) * 2;", "(= o (* (( (+ (as float n) 1)) 2))"},
      {"o = static_cast<const float>(n, k).x;", "(= o (static_cast (as static_cast n k) (.)))"},
      {"o = *(float *)&k;", "(= o (* (as ( (& k))))"},
      {"o = sizeof(float) * sizeof n + sizeof(a) + sizeof(float[4]);",
       "(= o (+ (* (sizeof) (sizeof n)) (sizeof (( a)) (sizeof)))"},
      {"float(n);", "(as float n)"},
      {"o = float4{a, b, {k}}.y;", "(= o (float4 (as float4 a b ({ k)) (.)))"},
  };
  check(cases, SCT_COUNT(cases));
}

static void test_names(void **state) {
  (void)state;
  static const tree_case cases[] = {
      {"o = p.x + g.q[n & 3] + g . q [ 1 ] + v.w;", "(= o (+ p.x g.q[n&3] g.q[1] v.w))"},
      {"float t[2] = {a, b}, u = t[0], *w = &u;",
       "(float (t 2 ({ a b)) (u (t t ([ 0))) (* (& u)))"},
      {"float t[][2] = {{a, b}};", "(float (t - 2 ({ ({ a b))))"},
      {"float4 t = v; t.x++, t.y = t.x;", "(float4 (t v))"},
      {"/* a */ o // b\n = /**/ a; // \"c\" ' #", "(= o a)"},
      {"float a_ = a, A = 1;", "(float (a_ a) (A 1))"},
  };
  check(cases, SCT_COUNT(cases));
}

static void test_statements(void **state) {
  (void)state;
  static const tree_case cases[] = {
      {"if (a > 0) if (b > 0) o = 1; else o = 2;",
       "(if (> a 0) (if (> b 0) (o (= o 1)) (o (= o 2))))"},
      {"if (float t = a; t > 0) o = t; else { ; }", "(if (float (t a)) (> t 0) (o (= o t)) ({ -))"},
      {"for (;;) { break; }", "(for - - - ({ (break)))"},
      {"for (int t = 0, u = 1; t < u; ++t, u--) continue;",
       "(for (int (t 0) (u 1)) (< t u) (, (++ t) (u u (--))) (continue))"},
      {"for (float t : {a, b}) o = t;", "(for (float (t)) ({ a b) (o (= o t)))"},
      {"do o = a; while (o < 1);", "(do (< o 1) (o (= o a)))"},
      {"while (int t = n) ;", "(while (int (t n)) -)"},
      {"switch (n) { case 1 ? 2 : 3: default: o = a; }",
       "(switch n ({ (case (? 1 2 3)) (default) (o (= o a))))"},
      {"{ keep(o); } {}", "({ (keep))"},
      {"{}", "({)"},
      {";", "-"},
  };
  check(cases, SCT_COUNT(cases));
}

typedef struct refused_case {
  const char *body, *says;
} refused_case;

static void test_refused(void **state) {
  (void)state;
  static const refused_case cases[] = {
      {"o = a +;", "`;` is not expected here"},
      {"o = a b;", "`;` expected before `b`"},
      {"o = (a;);", "`)` expected before `;`"},
      {"o = a ? b;", "`:` expected before `;`"},
      {"o = a : b;", "`;` expected before `:`"},
      {"o = a,;", "`;` is not expected here"},
      {"o = 1 = a;", "`=` is not expected here"},
      {"a + o = 1;", "`=` is not expected here"},
      {"o++ = a;", "`=` is not expected here"},
      {"-o = a;", "`=` is not expected here"},
      {"o = (float a);", "`(` expected before `a`"},
      {"o = float;", "`(` expected before `;`"},
      {"o = static_cast<float>a;", "`(` expected before `a`"},
      {"o = static_cast<half>(a);", "unknown name 'half'; write `f16`"},
      {"o = sizeof(;", "`(` is never closed"},
      {"else o = a;", "`else` is not expected here"},
      {"if a > 0 o = a;", "`(` expected before `a`"},
      {"do o = a;", "`while` expected before the end"},
      {"while (true)", "`;` expected at the end"},
      {"for (;) o = a;", "`)` is not expected here"},
      {"for (o = 1; int t = 1; ) ;", "`(` expected before `t`"},
      {"const t = 1; o = t;", "`const` needs a type, as in `const float t = ...`"},
      {"float = 1;", "`=` is not expected here"},
      {"float if = 1;", "`if` cannot be declared: it is taken"},
      {"o = [](float t) { return; }(a);", "may not contain `return`"},
      {"o = [](float t) { t; }(a);", "a body may not contain lambdas"},
      {"o = a.x;", "a value of type f32 has no '.x'"},
      {"o = (a).z1;", "unknown name 'z1'"},
      {"o = fabsf(a).o;", "'o' is not expected here"},
      {"o = i.x;", "unknown name 'x'"},
      {"{ float t = 1; } o = t;",
       "'t' is not declared here: its declaration follows, or its block"},
      {"o = t; float t = 1;", "'t' is not declared here: its declaration follows, or its block"},
      {"for (int t = 0; t < 1; t++) ; o = t;", "'t' is not declared here"},
      {"if (float t = a) o = t; else o = t + u;", "unknown name 'u'"},
      {"o = g.q;", "'g.q' is an array of 4 elements; name one, as in g.q[0]"},
      {"o = g.q[1, 2];", "so it has one index"},
      {"o = g.q[(1, 2)] + g.q[4];", "'g.q' has 4 elements; the last one is g.q[3]"},
      {"o = a[0];", "'a' stands for one element"},
      {"# define o", "may not contain `#`"},
      {"o = a; \\\n#pragma unroll\n", "may not contain a backslash"},
      {"o = \"a;", "strings or character literals"},
      {"o = a; /* b /* c */ */;", "`/` is not expected here"},
      {"o = a; // b ?\?/\n", "may not contain `?\?`"},
      {"asm(o);", "may not contain `asm`"},
      {"goto o; o = a;", "may not contain `goto`"},
      {"template <int q> struct s; o = a;", "may not contain `template`"},
  };
  for (int c = 0; c < SCT_COUNT(cases); c++) {
    body_tree *tree = NULL;
    if (parse(&tree, cases[c].body) == SCT_OK) {
      fail_msg("accepted: %s", cases[c].body);
    }
    if (!strstr(err.text, cases[c].says)) {
      fail_msg("%s\nexpected \"%s\" in: %s", cases[c].body, cases[c].says, err.text);
    }
    close_spec();
  }
}

/* Deep and long bodies: refused or parsed, but never a stack that runs out. */
static void test_hostile(void **state) {
  (void)state;
  static const struct {
    const char *before, *again, *after;
    int n;
    const char *says; /* NULL: parsed */
  } cases[] = {
      {"o = a", " + b", ";", 20000, NULL},
      {"o = a", ", b", ";", 20000, NULL},
      {"float4 t = v; o = t", ".x", ";", 20000, NULL},
      {"float t = a; t", "[0]", " = 1;", 20000, NULL},
      {"", "o = a;", "", 20000, NULL},
      {"", "if (a > 0) ; else ", "o = a;", 20000, "nest too deep"},
      {"o = ", "-", "a;", 20000, "nest too deep"},
      {"o = ", "- ", "a;", 20000, "nest too deep"},
      {"o = ", "(", "a;", 20000, "brackets nest too deep"},
      {"", "{", "o = a;", 20000, "brackets nest too deep"},
      {"o = ", "a ? b : ", "k;", 20000, "nest too deep"},
      {"", "o = ", "a;", 20000, "nest too deep"},
      {"o = a", ")", ";", 1, "`)` closes nothing"},
      {"float t0 = a", ", u = b", ";", 20000, "a body declares at most 64 names"},
  };
  for (int c = 0; c < SCT_COUNT(cases); c++) {
    SCT_SCOPED(sct_str) body = {0};
    sct_str_append(&body, cases[c].before);
    for (int k = 0; k < cases[c].n; k++) {
      sct_str_append(&body, cases[c].again);
    }
    sct_str_append(&body, cases[c].after);
    body_tree *tree = NULL;
    const sct_status status = parse(&tree, sct_str_c(&body));
    const char *says = status == SCT_OK ? NULL : cases[c].says;
    if ((status == SCT_OK) != (cases[c].says == NULL) || (says && !strstr(err.text, says))) {
      fail_msg("%s%s...: %.400s", cases[c].before, cases[c].again, err.text);
    }
    close_spec();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operators), cmocka_unit_test(test_casts),
      cmocka_unit_test(test_names),     cmocka_unit_test(test_statements),
      cmocka_unit_test(test_refused),   cmocka_unit_test(test_hostile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
