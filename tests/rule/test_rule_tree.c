/* Few kernels for many sizes, and the tree that says which of them a call takes, on matrices of
 * times that tests make up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rule/rule.h"

enum { MOST_KERNELS = 41, MOST_SAMPLES = 64, N_EXTENTS = 2, N_FEATURES = 3 };

static const sct_rule_feature features[N_FEATURES] = {
    {1, -1}, {2, -1}, {3, -1}}; /* row, col, both */

typedef struct table {
  sct_arena arena;
  sct_rule_matrix m;
  int64_t extents[MOST_SAMPLES][N_EXTENTS];
  const int64_t *list[MOST_SAMPLES];
  bool chosen[MOST_KERNELS], kept[MOST_KERNELS], all[MOST_SAMPLES];
} table;

/* Kernel 0 is the naive variant; all take any call. */
static table *open_table(int n_kernels, int n_samples) {
  table *t = sct_alloc(sizeof *t);
  *t = (table){.all = {false}};
  sct_rule_new(&t->m, &t->arena, n_kernels, n_samples);
  t->m.n_extents = N_EXTENTS;
  t->m.extents = t->list;
  t->m.naive = 0;
  for (int s = 0; s < n_samples; s++) {
    t->extents[s][0] = t->extents[s][1] = 1;
    t->list[s] = t->extents[s];
    t->all[s] = true;
  }
  for (int k = 0; k < n_kernels; k++) {
    t->m.plain[k] = t->m.total[k] = true;
  }
  return t;
}

static void close_table(table *t) {
  sct_arena_free(&t->arena);
  sct_free(t);
}

static void put(table *t, int kernel, int sample, double ns) {
  t->m.ns[kernel * t->m.n_samples + sample] = ns;
  t->m.tried[kernel * t->m.n_samples + sample] = true;
}

static void cover(table *t) {
  sct_rule_rate(&t->m, &t->arena);
  sct_rule_cover(t->chosen, t->kept, &t->m, t->all, SCT_RULE_MOST_ADDED);
}

static sct_rule find(table *t) {
  sct_rule rule;
  sct_rule_rate(&t->m, &t->arena);
  sct_rule_find(&rule, &t->m, t->kept, t->all, features, N_FEATURES, SCT_RULE_MOST_ADDED);
  return rule;
}

static const sct_rule_node *leaf_at(const sct_rule *r, int64_t row, int64_t col) {
  return sct_rule_leaf(r, features, (const int64_t[]){row, col}, N_EXTENTS);
}

static int count(const bool *chosen, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) {
    sum += chosen[k];
  }
  return sum;
}

/* ---- kernels ---- */

/* Each sample has a best kernel, and the last kernel is nearly as good everywhere. */
static void one_that_does_everywhere_replaces_many(void **state) {
  (void)state;
  table *t = open_table(10, 8);
  for (int s = 0; s < 8; s++) {
    put(t, 0, s, 5000);
    put(t, s + 1, s, 1000);
    put(t, 9, s, 1002);
  }
  cover(t);
  assert_int_equal(count(t->chosen, 10), 1);
  assert_true(t->chosen[9]);
  close_table(t);
}

static void six_at_most_and_the_worst_sample_first(void **state) {
  (void)state;
  table *t = open_table(10, 9);
  t->kept[0] = true;
  for (int s = 0; s < 9; s++) {
    put(t, s + 1, s, 1000);
    put(t, 0, s, 1100 + 100 * s);
  }
  cover(t);
  for (int s = 0; s < 9; s++) { /* those that lose least keep the known one */
    assert_int_equal(t->chosen[s + 1], s >= 3);
  }
  close_table(t);
}

static void what_is_known_comes_for_nothing(void **state) {
  (void)state;
  table *t = open_table(2, 2);
  put(t, 0, 0, 1000);
  put(t, 0, 1, 1003);
  put(t, 1, 0, 1100);
  put(t, 1, 1, 1000);
  t->kept[0] = true;
  cover(t);
  assert_false(t->chosen[1]); /* 0.3 % is worth no kernel */
  close_table(t);
}

/* Greedy takes the kernel between two first, which these two make useless. */
static void what_later_ones_do_better_goes(void **state) {
  (void)state;
  table *t = open_table(4, 8);
  t->kept[0] = true;
  for (int s = 0; s < 8; s++) {
    put(t, 0, s, 10000);
    put(t, 1, s, 1100);
    put(t, s < 4 ? 2 : 3, s, 1000);
    put(t, s < 4 ? 3 : 2, s, 3000);
  }
  cover(t);
  assert_false(t->chosen[1]);
  assert_true(t->chosen[2] && t->chosen[3]);
  close_table(t);
}

/* Kernel 2 was tried at a sample that is left out; what it might take elsewhere is a guess. */
static void what_was_not_tried_is_no_choice(void **state) {
  (void)state;
  table *t = open_table(3, 9);
  t->kept[0] = true;
  t->all[8] = false;
  for (int s = 0; s < 9; s++) {
    put(t, 0, s, 9000);
    t->m.ns[2 * t->m.n_samples + s] = 1500;
  }
  put(t, 1, 0, 1000);
  put(t, 2, 8, 1000);
  cover(t);
  assert_true(t->chosen[1]);
  assert_false(t->chosen[2]);
  close_table(t);
}

/* The fastest takes aligned arrays only, and a quarter of the calls have others. */
static void a_sibling_for_arrays_that_begin_anywhere(void **state) {
  (void)state;
  table *t = open_table(4, 8);
  t->kept[0] = true;
  t->m.plain[1] = t->m.total[1] = false;
  for (int s = 0; s < 8; s++) {
    put(t, 0, s, 4000);
    put(t, 1, s, 1000);
    put(t, 2, s, 1300);
    put(t, 3, s, 1200);
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.n_nodes, 1);
  assert_int_equal(rule.nodes[0].n_order, 2);
  assert_int_equal(rule.nodes[0].order[0], 1);
  assert_int_equal(rule.nodes[0].order[1], 3);
  assert_float_equal(rule.nodes[0].regret.mean, 1, 1e-9); /* 3 is the best for such arrays */
  close_table(t);
}

/* No kernel but the naive one takes any call. */
static void what_nothing_else_takes_is_left_to_naive(void **state) {
  (void)state;
  table *t = open_table(2, 8);
  t->kept[0] = true;
  t->m.plain[1] = t->m.total[1] = false;
  for (int s = 0; s < 8; s++) {
    put(t, 0, s, 4000);
    put(t, 1, s, 1000);
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.nodes[0].n_order, 2);
  assert_int_equal(rule.nodes[0].order[0], 1);
  assert_int_equal(rule.nodes[0].order[1], 0);
  assert_float_equal(rule.nodes[0].regret.worst, 1, 1e-9);
  close_table(t);
}

/* Of more winners than a rule uses it takes those that count. */
static void a_rule_has_twelve_kernels_at_most(void **state) {
  (void)state;
  table *t = open_table(41, 40);
  for (int s = 0; s < 40; s++) {
    t->extents[s][1] = 10 + s;
    put(t, 0, s, 1500);
    put(t, s + 1, s, 1000);
    t->kept[s + 1] = true;
  }
  t->kept[0] = true;
  cover(t);
  assert_int_equal(count(t->chosen, 41), SCT_RULE_MOST_USED);
  close_table(t);
}

/* ---- the tree ---- */

/* Rows of 1 to 2^15 elements at two numbers of them; kernel 1 is right for short ones, 2 for long
 * ones, and it is equal at 2^crossover. */
static table *crossing(int crossover, double more_a_step) {
  table *t = open_table(3, 32);
  t->kept[0] = true;
  for (int s = 0; s < 32; s++) {
    const int bit = s / 2;
    t->extents[s][0] = s % 2 ? 1 << 20 : 1 << 10;
    t->extents[s][1] = INT64_C(1) << bit;
    put(t, 0, s, 9000);
    put(t, 1, s, 1000 * pow(more_a_step, bit > crossover ? bit - crossover : 0));
    put(t, 2, s, 1000 * pow(more_a_step, bit < crossover ? crossover - bit : 0));
  }
  return t;
}

static void a_crossover_is_found_at_a_round_number(void **state) {
  (void)state;
  table *t = crossing(7, 1.5);
  const sct_rule rule = find(t);
  assert_int_equal(rule.n_nodes, 3);
  assert_int_equal(rule.nodes[0].feature, 1);
  assert_in_range(rule.nodes[0].most, 64, 128);
  assert_int_equal(leaf_at(&rule, 5, 64)->order[0], 1);
  assert_int_equal(leaf_at(&rule, 5, 129)->order[0], 2);
  assert_int_equal(leaf_at(&rule, 1 << 30, 1 << 20)->order[0], 2);
  assert_true(rule.regret.n_samples == 32 && rule.regret.mean < 1.05);
  close_table(t);
}

static void what_brings_little_is_pruned(void **state) {
  (void)state;
  table *t = crossing(7, 1.002);
  t->kept[1] = t->kept[2] = true;
  const sct_rule rule = find(t);
  assert_int_equal(rule.n_nodes, 1);
  close_table(t);
}

/* Two samples that noise has turned make no branch of their own, at neither end. */
static void a_branch_has_three_samples(void **state) {
  (void)state;
  table *t = crossing(20, 1.5);
  t->kept[1] = t->kept[2] = true;
  static const int turned[] = {0, 1, 30, 31};
  for (int k = 0; k < SCT_COUNT(turned); k++) {
    put(t, 1, turned[k], 1600);
    put(t, 2, turned[k], 1000);
  }
  const sct_rule rule = find(t);
  for (int n = 0; n < rule.n_nodes; n++) {
    assert_true(rule.nodes[n].feature >= 0 || rule.nodes[n].n_samples >= 3);
  }
  close_table(t);
}

/* Neither extent alone says it. */
static void a_product_decides(void **state) {
  (void)state;
  table *t = open_table(3, 64);
  t->kept[0] = true;
  for (int s = 0; s < 64; s++) {
    t->extents[s][0] = INT64_C(1) << (s / 8 * 2);
    t->extents[s][1] = INT64_C(1) << (s % 8 * 2);
    const bool small = t->extents[s][0] * t->extents[s][1] <= 1 << 14;
    put(t, 0, s, 9000);
    put(t, 1, s, small ? 1000 : 3000);
    put(t, 2, s, small ? 3000 : 1000);
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.n_nodes, 3);
  assert_int_equal(rule.nodes[0].feature, 2);
  assert_int_equal(leaf_at(&rule, 1, 1 << 14)->order[0], 1);
  assert_int_equal(leaf_at(&rule, 1 << 16, 1)->order[0], 2);
  assert_true(rule.regret.n_samples == 64 && rule.regret.worst < 1.01);
  close_table(t);
}

/* At long rows, which are all even here, kernel 1 is followed by the naive one, which is as good
 * there as kernel 3; at the short ones beside them it is not. */
static void who_follows_is_asked_beside_a_branch_too(void **state) {
  (void)state;
  table *t = open_table(4, 32);
  t->m.total[1] = false;
  for (int k = 0; k < 4; k++) {
    t->kept[k] = true;
  }
  for (int s = 0; s < 32; s++) {
    const bool is_long = s >= 26;
    t->extents[s][1] = INT64_C(1) << s;
    put(t, 0, s, is_long ? 1050 : 9000);
    put(t, 1, s, is_long ? 500 : 3000);
    put(t, 2, s, is_long ? 3000 : 1000);
    put(t, 3, s, is_long ? 1060 : 1500);
  }
  const sct_rule rule = find(t);
  const sct_rule_node *leaf = leaf_at(&rule, 1, INT64_C(1) << 31);
  assert_int_equal(leaf->order[0], 1);
  assert_int_equal(leaf->n_order, 2);
  assert_int_equal(leaf->order[1], 3);
  close_table(t);
}

/* Odd extents have no sample, and kernel 1 does not take them: kernel 2 does, not the naive one. */
static void extents_without_a_sample_have_a_kernel(void **state) {
  (void)state;
  table *t = open_table(3, 8);
  t->m.total[1] = false;
  t->kept[0] = t->kept[1] = true;
  for (int s = 0; s < 8; s++) {
    put(t, 0, s, 9000);
    put(t, 1, s, 1000);
    put(t, 2, s, 1500);
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.nodes[0].n_order, 2);
  assert_int_equal(rule.nodes[0].order[0], 1);
  assert_int_equal(rule.nodes[0].order[1], 2);
  close_table(t);
}

/* One that fails a condition there is not taken there: the naive one then counts. */
static void where_a_kernel_cannot_run_the_next_one_does(void **state) {
  (void)state;
  table *t = open_table(3, 32);
  t->kept[0] = true;
  t->m.total[1] = false;
  for (int s = 0; s < 32; s++) {
    t->extents[s][1] = 100 + s;
    put(t, 0, s, 9000);
    put(t, 2, s, 1500);
    if (s % 2 == 0) {
      put(t, 1, s, 1000);
    }
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.n_nodes, 1);
  assert_int_equal(rule.nodes[0].order[0], 1);
  assert_int_equal(rule.nodes[0].order[1], 2);
  assert_float_equal(rule.nodes[0].regret.worst, 1, 1e-9);
  close_table(t);
}

/* What is stated is found at sizes that the rule does not know: there kernel 1 was never tried, as
 * it is none of these sizes' best. */
static void stated_is_what_samples_lose_that_are_left_out(void **state) {
  (void)state;
  table *t = open_table(17, 16);
  t->kept[0] = true;
  for (int s = 0; s < 16; s++) {
    t->extents[s][1] = 10 + s;
    put(t, 0, s, 1200);
    put(t, s + 1, s, 1000); /* a kernel that no other size has */
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.regret.n_samples, 16);
  assert_float_equal(rule.regret.mean, 1.2, 1e-9);
  assert_float_equal(rule.regret.p95, 1.2, 1e-9);
  close_table(t);
}

static void few_sizes_state_nothing(void **state) {
  (void)state;
  table *t = open_table(3, 2);
  t->kept[0] = t->kept[1] = t->kept[2] = true;
  for (int s = 0; s < 2; s++) {
    t->extents[s][1] = s == 0 ? 100 : 10000;
    put(t, 0, s, 9000);
    put(t, 1 + s, s, 1000);
    put(t, 2 - s, s, 1500);
  }
  const sct_rule rule = find(t);
  assert_int_equal(rule.regret.n_samples, 0);
  assert_int_equal(rule.nodes[0].most, 1024);
  assert_int_equal(leaf_at(&rule, 1, 100)->order[0], 1);
  assert_int_equal(leaf_at(&rule, 1, 10000)->order[0], 2);
  close_table(t);
}

/* ---- numbers ---- */

static void thresholds_are_round(void **state) {
  (void)state;
  static const struct {
    int64_t from, to, round;
  } cases[] = {{100, 200, 128},
               {1000, 5000, 2048},
               {80, 120, 96},
               {64, 65, 64},
               {65, 66, 65},
               {1100, 1500, 1280},
               {0, 3, 2},
               {3, 4, 3},
               {700, 1000, 768},
               {1, 2, 1},
               {1 << 20, 1 << 22, 1 << 21},
               {5000, 5100, 5056}};
  for (int k = 0; k < SCT_COUNT(cases); k++) {
    assert_int_equal(sct_rule_round(cases[k].from, cases[k].to), cases[k].round);
  }
}

static void products_stay_below_two_to_the_62(void **state) {
  (void)state;
  const int64_t large[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  assert_int_equal(sct_rule_value(&features[2], large, 2), INT64_C(1) << 62);
  assert_int_equal(sct_rule_value(&features[2], (const int64_t[]){3, 5}, 2), 15);
  const sct_rule_feature length = {.of = 2,
                                   .over = 0}; /* of rows: at most t means n_col <= t * n_row */
  assert_int_equal(sct_rule_value(&length, (const int64_t[]){3, 9}, 2), 3);
  assert_int_equal(sct_rule_value(&length, (const int64_t[]){3, 10}, 2), 4);
  assert_int_equal(sct_rule_value(&length, (const int64_t[]){0, 10}, 2), 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_that_does_everywhere_replaces_many),
      cmocka_unit_test(six_at_most_and_the_worst_sample_first),
      cmocka_unit_test(what_is_known_comes_for_nothing),
      cmocka_unit_test(what_later_ones_do_better_goes),
      cmocka_unit_test(what_was_not_tried_is_no_choice),
      cmocka_unit_test(a_sibling_for_arrays_that_begin_anywhere),
      cmocka_unit_test(what_nothing_else_takes_is_left_to_naive),
      cmocka_unit_test(a_rule_has_twelve_kernels_at_most),
      cmocka_unit_test(a_crossover_is_found_at_a_round_number),
      cmocka_unit_test(what_brings_little_is_pruned),
      cmocka_unit_test(a_branch_has_three_samples),
      cmocka_unit_test(a_product_decides),
      cmocka_unit_test(where_a_kernel_cannot_run_the_next_one_does),
      cmocka_unit_test(who_follows_is_asked_beside_a_branch_too),
      cmocka_unit_test(extents_without_a_sample_have_a_kernel),
      cmocka_unit_test(stated_is_what_samples_lose_that_are_left_out),
      cmocka_unit_test(few_sizes_state_nothing),
      cmocka_unit_test(thresholds_are_round),
      cmocka_unit_test(products_stay_below_two_to_the_62),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
