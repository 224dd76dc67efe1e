/* C text: what a person would write, and right. An evaluator of C expressions of the test's own
 * (C's precedences, truncating division, int and long long, overflow of int noticed) runs what is
 * printed for random expressions; the compiler, where there is one, reads a sample with all
 * warnings on. */
#include "expr_random.h"

#include <ctype.h>
#include <unistd.h>

/* ---- a C expression, evaluated */

typedef struct c_value {
  int64_t v;
  bool wide; /* long long, else int */
} c_value;

static const char *c_at;
static const char *c_problem; /* NULL: none */
static bool c_wide_names;
static const char overflow[] = "int overflow";

static c_value c_or(void);

static void c_space(void) {
  while (*c_at == ' ') {
    c_at++;
  }
}

static bool c_take(const char *text) {
  c_space();
  if (!sct_has_prefix(c_at, text)) {
    return false;
  }
  c_at += strlen(text);
  return true;
}

static c_value c_make(int64_t v, bool wide) {
  if (!wide && (v > INT32_MAX || v < INT32_MIN)) {
    c_problem = overflow;
  }
  return (c_value){v, wide};
}

static c_value c_literal(void) {
  char *end = NULL;
  c_value value = {strtoll(c_at, &end, 10), false};
  c_at = end;
  value.wide = c_take("LL");
  return c_make(value.v, value.wide);
}

static c_value c_call(const char *name) {
  const c_value a = c_or();
  if (!c_take(",")) {
    c_problem = "no comma";
  }
  const c_value b = c_or();
  if (!c_take(")")) {
    c_problem = "call not closed";
  }
  if (name[0] == 's') {
    int64_t value = 0;
    if (!direct_step(strcmp(name, "sct_floor_div") == 0 ? TREE_DIV : TREE_MOD, a.v, b.v, &value)) {
      c_problem = "floor division fails";
    }
    return c_make(value, c_wide_names);
  }
  if (a.wide != b.wide) {
    c_problem = "min or max of two types";
  }
  return c_make((strcmp(name, "min") == 0) == (a.v < b.v) ? a.v : b.v, a.wide);
}

static c_value c_name(void) {
  char name[32] = "";
  size_t n = 0;
  while ((isalnum((unsigned char)*c_at) || *c_at == '_') && n + 1 < sizeof name) {
    name[n++] = *c_at++;
  }
  if (c_take("(")) {
    return c_call(name);
  }
  for (int k = 0; k < N_DOMAINS; k++) {
    if (strcmp(name, domains[k].name) == 0) {
      return c_make(leaf_values[k], c_wide_names);
    }
  }
  c_problem = "unknown name";
  return c_make(0, c_wide_names);
}

static c_value c_unary(void) {
  c_space();
  if (c_take("(long long)")) {
    return c_make(c_unary().v, true);
  }
  if (c_take("(")) {
    const c_value inside = c_or();
    if (!c_take(")")) {
      c_problem = "bracket not closed";
    }
    return inside;
  }
  if (c_take("!")) {
    return c_make(c_unary().v == 0, false);
  }
  if (c_take("-")) {
    const c_value x = c_unary();
    return c_make(-x.v, x.wide);
  }
  return isdigit((unsigned char)*c_at) ? c_literal() : c_name();
}

static c_value c_product(void) {
  c_value x = c_unary();
  for (;;) {
    const bool times = c_take("*");
    const bool over = !times && c_take("/");
    if (!times && !over && !c_take("%")) {
      return x;
    }
    const c_value y = c_unary();
    const bool wide = x.wide || y.wide;
    if (times) {
      x = c_make(x.v * y.v, wide);
    } else if (y.v == 0) {
      c_problem = "division by zero";
    } else {
      x = c_make(over ? x.v / y.v : x.v % y.v, wide);
    }
  }
}

static c_value c_sum(void) {
  c_value x = c_product();
  for (;;) {
    const bool plus = c_take("+");
    if (!plus && !c_take("-")) {
      return x;
    }
    const c_value y = c_product();
    x = c_make(plus ? x.v + y.v : x.v - y.v, x.wide || y.wide);
  }
}

static c_value c_shift(void) {
  c_value x = c_sum();
  while (c_take(">>")) {
    x = c_make(x.v >> c_sum().v, x.wide);
  }
  return x;
}

static c_value c_order(void) {
  c_value x = c_shift();
  for (;;) {
    const bool le = c_take("<=");
    const bool ge = !le && c_take(">=");
    const bool lt = !le && !ge && c_take("<");
    if (!le && !ge && !lt && !c_take(">")) {
      return x;
    }
    const int64_t y = c_shift().v;
    x = c_make(le ? x.v <= y : ge ? x.v >= y : lt ? x.v < y : x.v > y, false);
  }
}

static c_value c_equality(void) {
  c_value x = c_order();
  for (;;) {
    const bool eq = c_take("==");
    if (!eq && !c_take("!=")) {
      return x;
    }
    x = c_make((x.v == c_order().v) == eq, false);
  }
}

/* A single & (not &&) and then ^: the order of C. */
static c_value c_mask(void) {
  c_value x = c_equality();
  for (;;) {
    c_space();
    if (c_at[0] != '&' || c_at[1] == '&') {
      return x;
    }
    c_at++;
    const c_value y = c_equality();
    x = c_make(x.v & y.v, x.wide || y.wide);
  }
}

static c_value c_xor(void) {
  c_value x = c_mask();
  while (c_take("^")) {
    const c_value y = c_mask();
    x = c_make(x.v ^ y.v, x.wide || y.wide);
  }
  return x;
}

static c_value c_and(void) {
  c_value x = c_xor();
  while (c_take("&&")) {
    const char *before = c_problem;
    const c_value y = c_xor();
    c_problem = x.v != 0 ? c_problem : before; /* C stops at a false operand */
    x = c_make(x.v != 0 && y.v != 0, false);
  }
  return x;
}

static c_value c_or(void) {
  c_value x = c_and();
  while (c_take("||")) {
    const char *before = c_problem;
    const c_value y = c_and();
    c_problem = x.v == 0 ? c_problem : before;
    x = c_make(x.v != 0 || y.v != 0, false);
  }
  return x;
}

static bool c_eval(const char *text, bool wide, int64_t *value) {
  c_at = text;
  c_problem = NULL;
  c_wide_names = wide;
  *value = c_or().v;
  c_space();
  if (c_problem == NULL && *c_at != '\0') {
    c_problem = "more text";
  }
  return c_problem == NULL;
}

/* ---- by name */

static void prints(const char *text, bool wide, const char *expected) {
  char result[256] = "";
  sct_str printed = {0};
  sct_expr_print_c(&printed, pool, parse(text), wide);
  snprintf(result, sizeof result, "%s", sct_str_c(&printed));
  sct_str_free(&printed);
  if (strcmp(result, expected) != 0) {
    fail_msg("%s prints as %s, not as %s", text, result, expected);
  }
}

static void test_text(void **state) {
  (void)state;
  prints("8 + n * 24", false, "24 * n + 8");
  prints("c + a * n", false, "a * n + c");
  prints("n // 32 * 896", false, "(n >> 5) * 896");
  prints("n // 32 * 896 + n % 32 * 4", false, "(n >> 5) * 896 + (n & 31) * 4");
  prints("n // 48 * 1344 + n % 48 * 4", false, "n / 48 * 1344 + n % 48 * 4");
  prints("(n + 3) // 4", false, "(n + 3) >> 2");
  prints("n - c - 1", false, "n - c - 1");
  prints("31 - c", false, "31 - c");
  prints("n - 24 * c", false, "n - 24 * c");
  prints("c * (n // 48)", false, "c * (n / 48)");
  prints("a * n % c", false, "a * n % c");
  prints("a * (n % c)", false, "a * (n % c)");
  prints("n // (a * c)", false, "n / (a * c)");
  prints("n // c // a", false, "n / (a * c)");
  prints("-n", false, "-n");
  prints("-(n // 8)", false, "-(n >> 3)");
  prints("n < c and (e or n ~= 4)", false, "n < c && (e || n != 4)");
  prints("e or n >= 1 and c == 2", false, "e || (n >= 1 && c == 2)");
  prints("not e", false, "!e");
  prints("e * (a < 2) and c < n", false, "e * (a < 2) != 0 && c < n");
  prints("not (e * (a < 2))", false, "e * (a < 2) == 0");
  prints("(n ^ c) < 5", false, "(c ^ n) < 5");
  prints("(n ^ (c + z)) * 4", false, "(n ^ (c + z)) * 4");
  prints("min(n, 512)", false, "min(n, 512)");
  prints("min(n, min(c, 20))", false, "min(min(c, n), 20)");
}

static void test_wide(void **state) {
  (void)state;
  prints("n * 3000000000", false, "3000000000LL * n");
  prints("n + 2147483647", false, "n + 2147483647");
  prints("n - 2147483648", false, "n - 2147483648LL");
  prints("min(n, 512)", true, "min(n, 512LL)");
  prints("min(n, (c < 3) * 5)", true, "min(n, (long long)((c < 3) * 5LL))");
  prints("(c < n) * 2147483647 + 2147483647", true, "(c < n) * 2147483647LL + 2147483647LL");
  prints("n * 24 + 8", true, "24 * n + 8");
  sct_str text = {0};
  sct_expr_print_c(&text, pool, sct_expr_const(pool, INT64_MIN), true);
  assert_string_equal(sct_str_c(&text), "(-9223372036854775807LL - 1)");
  sct_str_free(&text);
}

static void test_floor(void **state) {
  (void)state;
  prints("z // 8", false, "sct_floor_div(z, 8)");
  prints("z % 8 + 1", false, "sct_floor_mod(z, 8) + 1");
  prints("n // z", false, "sct_floor_div(n, z)");
  prints("m * z // 12", false, "sct_floor_div(m * z, 12)");
  prints("m * z // 4", false, "(m * z) >> 2"); /* no remainder: right whatever the sign */
}

static void is_tree(const char *text, const char *expected) {
  sct_str printed = {0};
  sct_expr_print_tree(&printed, pool, parse(text));
  assert_string_equal(sct_str_c(&printed), expected);
  sct_str_free(&printed);
}

static void test_tree(void **state) {
  (void)state;
  is_tree("7 - 9", "-2");
  is_tree("n", "\"n\"");
  is_tree("24 * n", "[\"*\", 24, \"n\"]");
  is_tree("-n", "[\"*\", -1, \"n\"]");
  is_tree("24 * n + 8 - c", "[\"+\", [\"*\", -1, \"c\"], [\"*\", 24, \"n\"], 8]");
  is_tree("a * n * c + 1", "[\"+\", [\"*\", \"a\", \"c\", \"n\"], 1]");
  is_tree("(n + 3) // 4", "[\"//\", [\"+\", \"n\", 3], 4]");
  is_tree("z % 8 * 2", "[\"*\", 2, [\"%\", \"z\", 8]]");
  is_tree("min(n, max(c, 20))", "[\"min\", \"n\", [\"max\", \"c\", 20]]");
  is_tree("(n ^ c) <= 5", "[\"<\", [\"^\", \"c\", \"n\"], 6]");
  is_tree("n <= c", "[\"<=\", \"n\", \"c\"]");
  is_tree("n < c and (e or n ~= 4)",
          "[\"and\", [\"<\", \"n\", \"c\"], [\"or\", \"e\", [\"!=\", \"n\", 4]]]");
  is_tree("not e", "[\"not\", \"e\"]");
  is_tree("n == 2 * c", "[\"==\", [\"*\", 2, \"c\"], \"n\"]");
}

/* ---- random expressions */

/* Returns how many values fit the text's type on the way: all of them if it is `wide`. */
static int check_printed(int at, sct_expr e, bool wide, const bool used[N_DOMAINS], sct_rng *rng) {
  int n_fit = 0;
  sct_str text = {0};
  sct_expr_print_c(&text, pool, e, wide);
  const int64_t n = count_assignments(used);
  for (int k = 0; k < 12; k++) {
    int64_t want = 0;
    int64_t have = 0;
    assign(used, sct_rng_below(rng, n));
    if (!direct(at, &want)) {
      continue;
    }
    const bool good = c_eval(sct_str_c(&text), wide, &have) && have == want;
    n_fit += good;
    if (!good && (wide || c_problem != overflow)) {
      char written[1000];
      fail_msg("%s: %s is %" PRId64 ", not %" PRId64 " (%s)", tree_text(at, written, 1000),
               sct_str_c(&text), have, want, c_problem != NULL ? c_problem : "value");
    }
  }
  sct_str_free(&text);
  return n_fit;
}

static void test_random(void **state) {
  (void)state;
  sct_rng rng = open_rng(77);
  const int32_t mark = sct_expr_mark(pool);
  int ints = 0;
  for (int k = 0; k < 60000; k++) {
    n_trees = 0;
    bool used[N_DOMAINS] = {false};
    const int at = random_tree(&rng, 1 + k % 4);
    const sct_expr e = build(at, false);
    mark_used(at, used);
    if (e != SCT_EXPR_NONE) {
      (void)check_printed(at, e, true, used, &rng);
      ints += check_printed(at, e, false, used, &rng);
    }
    sct_expr_reset(pool, mark);
  }
  assert_true(ints > 6000);
}

/* ---- the compiler's opinion */

static void append_check(sct_str *source, int at, sct_expr e, const bool used[N_DOMAINS],
                         sct_rng *rng) {
  int64_t want = 0;
  assign(used, sct_rng_below(rng, count_assignments(used)));
  if (!direct(at, &want)) {
    return;
  }
  sct_str_append(source, "  {\n");
  for (int k = 0; k < N_DOMAINS; k++) {
    sct_str_printf(source, "    const long long %s = %" PRId64 "LL; (void)%s;\n", domains[k].name,
                   leaf_values[k], domains[k].name);
  }
  sct_str_append(source, "    const long long have = ");
  sct_expr_print_c(source, pool, e, true);
  sct_str_printf(source, ";\n    if (have != %" PRId64 "LL) return 1;\n  }\n", want);
}

static const char prelude[] =
    "static long long sct_floor_div(long long a, long long b) {\n"
    "  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n}\n"
    "static long long sct_floor_mod(long long a, long long b) {\n"
    "  return a - sct_floor_div(a, b) * b;\n}\n"
    "static long long min(long long a, long long b) { return a < b ? a : b; }\n"
    "static long long max(long long a, long long b) { return a < b ? b : a; }\n"
    "int main(void) {\n  (void)sct_floor_mod; (void)min; (void)max;\n";

static void test_compiler(void **state) {
  (void)state;
  sct_rng rng = open_rng(78);
  sct_str source = {0};
  char folder[] = "/tmp/sct_expr_XXXXXX";
  char command[512];
  if (system("command -v cc >/dev/null 2>&1") != 0) {
    print_message("no C compiler here\n");
    skip();
  }
  assert_non_null(mkdtemp(folder));
  sct_str_append(&source, prelude);
  for (int k = 0; k < 400; k++) {
    n_trees = 0;
    bool used[N_DOMAINS] = {false};
    const int at = random_tree(&rng, 2 + k % 3);
    const sct_expr e = build(at, false);
    mark_used(at, used);
    if (e != SCT_EXPR_NONE) {
      append_check(&source, at, e, used, &rng);
    }
  }
  sct_str_append(&source, "  return 0;\n}\n");
  snprintf(command, sizeof command, "%s/e.c", folder);
  sct_error err = {SCT_OK, ""};
  assert_int_equal(sct_file_write(command, source.data, source.len, &err), SCT_OK);
  sct_str_free(&source);
  snprintf(command, sizeof command,
           "cc -std=c11 -Wall -Wextra -Werror -Wno-tautological-compare -o %s/e %s/e.c && %s/e",
           folder, folder, folder);
  const int result = system(command);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
  assert_int_equal(result, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_text, open_leaves, close_pool),
      cmocka_unit_test_setup_teardown(test_wide, open_leaves, close_pool),
      cmocka_unit_test_setup_teardown(test_floor, open_leaves, close_pool),
      cmocka_unit_test_setup_teardown(test_tree, open_leaves, close_pool),
      cmocka_unit_test_setup_teardown(test_random, open_leaves, close_pool),
      cmocka_unit_test_setup_teardown(test_compiler, open_leaves, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
