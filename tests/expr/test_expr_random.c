/* A few hundred thousand random expressions: whatever the pool folds must have the value that the
 * written expression has, for every assignment (all of them where there are few). Range, divisor,
 * programs, substitution, text and back are held to the same values. */
#include "expr_random.h"

#define N_CASES       120000
#define MAX_EXHAUSTED 160 /* assignments tried in order; more are sampled */
#define N_SAMPLES     40

/* Everything that is asked about one random expression. */
typedef struct subject {
  int tree;
  sct_expr e, substituted;
  sct_expr_program *program;
  bool used[N_DOMAINS];
  int64_t divisor_if;
} subject;

static const int64_t assumed_multiple = 3; /* of n */

static void complain(const subject *s, const char *what, int64_t have, int64_t want) {
  char text[2000];
  sct_str folded = {0};
  sct_expr_print(&folded, pool, s->e);
  snprintf(text, sizeof text, "%s: %" PRId64 " instead of %" PRId64 " for folded %s at", what, have,
           want, sct_str_c(&folded));
  sct_str_free(&folded);
  printf("%s\n", text);
  for (int k = 0; k < N_DOMAINS; k++) {
    printf("  %s = %" PRId64 "\n", domains[k].name, leaf_values[k]);
  }
  fail_msg("written %s", tree_text(s->tree, text, sizeof text));
}

static void check_equal(const subject *s, const char *what, int64_t have, int64_t want) {
  if (have != want) {
    complain(s, what, have, want);
  }
}

static int64_t value_of(const subject *s, sct_expr e, const char *what) {
  const sct_expr_env env = {leaves, leaf_values, N_DOMAINS};
  sct_error err = {SCT_OK, ""};
  int64_t value = 0;
  if (sct_expr_eval(pool, e, &env, &value, &err) != SCT_OK) {
    printf("%s\n", err.text);
    complain(s, what, 0, 0);
  }
  return value;
}

static void check_known(const subject *s, int64_t value) {
  int64_t lo = 0;
  int64_t hi = 0;
  sct_expr_range(pool, s->e, &lo, &hi);
  if ((lo > SCT_EXPR_MIN_VALUE && value < lo) || (hi < SCT_EXPR_MAX_VALUE && value > hi)) {
    complain(s, "range", lo, hi);
  }
  const int64_t d = sct_expr_divisor(pool, s->e);
  check_equal(s, "divisor", d == 0 ? value : value % d, 0);
}

/* One assignment: the folded expression in every form against the written one. */
static void check_assignment(const subject *s) {
  int64_t want = 0;
  if (!direct(s->tree, &want)) {
    return;
  }
  check_equal(s, "value", value_of(s, s->e, "evaluation"), want);
  check_known(s, want);
  check_equal(s, "program", sct_expr_program_run(s->program, leaf_values), want);
  if (leaf_values[5] % assumed_multiple == 0) {
    check_equal(s, "divisor_if", s->divisor_if == 0 ? want : want % s->divisor_if, 0);
  }
}

/* c := 8*a + b and n := 2*n + z in the written expression, too. */
static void check_substitution(const subject *s) {
  int64_t want = 0;
  leaf_values[2] = 8 * leaf_values[0] + leaf_values[1];
  leaf_values[5] = 2 * leaf_values[6] + leaf_values[4];
  const int64_t c = leaf_values[2];
  if (!direct(s->tree, &want)) {
    return;
  }
  leaf_values[2] = 1000; /* must not matter any more */
  leaf_values[5] = 1000;
  const int64_t have = value_of(s, s->substituted, "substituted");
  leaf_values[2] = c;
  check_equal(s, "substituted", have, want);
}

static int n_affine, n_other;

/* What is called affine in an input is a straight line along it. */
static void check_affine(const subject *s) {
  for (int k = 0; k < N_DOMAINS; k++) {
    const int64_t at = leaf_values[k];
    uint64_t value[5];
    for (int step = 0; step < 5; step++) {
      leaf_values[k] = at + step;
      value[step] = (uint64_t)sct_expr_program_run(s->program, leaf_values);
    }
    leaf_values[k] = at;
    bool straight = true;
    for (int step = 2; step < 5; step++) {
      straight = straight && value[step] - value[step - 1] == value[1] - value[0];
    }
    const bool affine = sct_expr_program_is_affine(s->program, k);
    if (affine && !straight) {
      check_equal(s, "affine", (int64_t)value[2], (int64_t)(2 * value[1] - value[0]));
    }
    n_affine += affine && value[1] != value[0];
    n_other += !affine && !straight;
  }
}

static void check_text(const subject *s) {
  sct_str text = {0};
  sct_error err = {SCT_OK, ""};
  sct_expr again = SCT_EXPR_NONE;
  sct_expr_print(&text, pool, s->e);
  const sct_status status = sct_expr_parse(&again, pool, sct_str_c(&text), NULL, &err);
  sct_str_free(&text);
  if (status != SCT_OK) {
    printf("%s\n", err.text);
  }
  check_equal(s, "parse(print(e))", again, s->e);
}

static void check_subject(subject *s, sct_rng *rng) {
  sct_error err = {SCT_OK, ""};
  const sct_expr vars[2] = {leaves[2], leaves[5]};
  const sct_expr with[2] = {parse("8 * a + b"), parse("2 * m + e")};
  s->substituted = sct_expr_subst(pool, s->e, vars, with, 2);
  s->divisor_if = sct_expr_divisor_if(pool, s->e, &leaves[5], &assumed_multiple, 1);
  if (s->substituted == SCT_EXPR_NONE) {
    return; /* a constant overflowed */
  }
  assert_int_equal(sct_expr_program_new(&s->program, pool, s->e, leaves, N_DOMAINS, &err), SCT_OK);
  memset(s->used, 0, sizeof s->used);
  mark_used(s->tree, s->used);
  const int64_t n = count_assignments(s->used);
  for (int64_t k = 0; k < (n <= MAX_EXHAUSTED ? n : N_SAMPLES); k++) {
    assign(s->used, n <= MAX_EXHAUSTED ? k : sct_rng_below(rng, n));
    check_assignment(s);
  }
  for (int k = 0; k < 4; k++) {
    assign(s->used, sct_rng_below(rng, n));
    check_substitution(s);
  }
  check_affine(s);
  check_text(s);
  sct_expr_program_free(s->program);
}

static void test_values(void **state) {
  (void)state;
  sct_rng rng = open_rng(20240917);
  const int32_t mark = sct_expr_mark(pool);
  int built = 0;
  for (int k = 0; k < N_CASES; k++) {
    n_trees = 0;
    subject s = {.tree = random_tree(&rng, 1 + k % 4)};
    s.e = build(s.tree, false);
    if (s.e != SCT_EXPR_NONE) {
      built++;
      check_subject(&s, &rng);
    }
    sct_expr_reset(pool, mark);
  }
  assert_true(built > N_CASES * 9 / 10); /* the others divide by zero */
  assert_true(n_affine > N_CASES / 10 && n_other > N_CASES / 10);
}

/* The normal form does not depend on the order in which things were added, multiplied, ... */
static void test_order(void **state) {
  (void)state;
  sct_rng rng = open_rng(20240918);
  const int32_t mark = sct_expr_mark(pool);
  for (int k = 0; k < N_CASES; k++) {
    n_trees = 0;
    subject s = {.tree = random_tree(&rng, 1 + k % 4)};
    s.e = build(s.tree, false);
    const sct_expr other = build(s.tree, true);
    if (other != s.e) {
      sct_str text = {0};
      sct_expr_print(&text, pool, other);
      printf("built in another order: %s\n", sct_str_c(&text));
      sct_str_free(&text);
    }
    check_equal(&s, "other order of building", other, s.e);
    sct_expr_reset(pool, mark);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_values, open_leaves, close_pool),
      cmocka_unit_test_setup_teardown(test_order, open_leaves, close_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
