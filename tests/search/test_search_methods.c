/* What every method promises, and that those that learn find the best sooner than chance does. */
#include "search_fixture.h"

#include "search/search_internal.h"

static landscape hill;

static int setup(void **state) {
  (void)state;
  landscape_make(&hill, 5);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  sct_search_problem_free(&hill.problem);
  return 0;
}

/* Runs a search for about `most` candidates; order[] is what was proposed. Every `fail_every`-th
 * candidate fails (0: none). Returns how many were proposed. */
static int run_some(int *order, const char *method, uint64_t seed, int batch, int fail_every,
                    int most) {
  sct_search *s = NULL;
  sct_error err = {0};
  int n = 0;
  sct_search_new(&s, method_named(method), &hill.problem, seed);
  for (int from = 0; n < most; from = n) {
    while (n - from < batch && n < N_HILL) {
      const int k = sct_search_next(s);
      if (k < 0) {
        break;
      }
      order[n++] = k;
    }
    for (int i = from; i < n; i++) {
      const int k = order[i];
      const bool fails = fail_every && sct_mix64(3, (uint64_t)k) % (uint64_t)fail_every == 0;
      assert_int_equal(fails ? sct_search_fail(s, k, &err)
                             : sct_search_report(s, k, hill.cost[k], &err),
                       SCT_OK);
    }
    if (n == from) {
      break;
    }
  }
  assert_int_equal(sct_search_next(s) < 0, n == N_HILL);
  sct_search_free(s);
  return n;
}

static int run(int *order, const char *method, uint64_t seed, int batch, int fail_every) {
  return run_some(order, method, seed, batch, fail_every, N_HILL);
}

static void check_each_once(const int *order, int n) {
  bool seen[N_HILL] = {0};
  assert_int_equal(n, N_HILL);
  for (int i = 0; i < n; i++) {
    assert_in_range(order[i], 0, N_HILL - 1);
    assert_false(seen[order[i]]);
    seen[order[i]] = true;
  }
}

static void every_method_proposes_each_once_naive_first(void **state) {
  (void)state;
  static const struct {
    int batch, fail_every;
  } ways[] = {{1, 0}, {7, 0}, {1, 3}, {16, 2}, {600, 0}, {4, 1}};
  int n_methods, order[N_HILL + 1];
  const sct_search_method *methods = sct_search_methods(&n_methods);
  assert_int_equal(n_methods, 4);
  for (int m = 0; m < n_methods; m++) {
    for (int w = 0; w < SCT_COUNT(ways); w++) {
      const int n = run(order, methods[m].name, 11, ways[w].batch, ways[w].fail_every);
      check_each_once(order, n);
      assert_int_equal(order[0], 0);
    }
  }
}

static void several_naive_ones_come_first(void **state) {
  (void)state;
  int n_methods;
  const sct_search_method *methods = sct_search_methods(&n_methods);
  hill.problem.points[300].first = hill.problem.points[17].first = true;
  for (int m = 0; m < n_methods; m++) {
    sct_search *s = NULL;
    sct_search_new(&s, &methods[m], &hill.problem, 1);
    assert_int_equal(sct_search_next(s), 0);
    assert_int_equal(sct_search_next(s), 17);
    assert_int_equal(sct_search_next(s), 300);
    sct_search_free(s);
  }
}

/* The first of equal candidates is as good as any; a better one starts the count anew, and one that
 * failed counts. */
static void it_is_settled_after_so_many_without_a_gain(void **state) {
  (void)state;
  sct_search *s = NULL;
  sct_search_new(&s, method_named("exhaustive"), &hill.problem, 1);
  for (int k = 0; k < 10 + SCT_SEARCH_PATIENCE; k++) {
    assert_false(sct_search_is_settled(s));
    assert_int_equal(sct_search_next(s), k);
    const double cost = k < 9 ? 100.0 - SCT_SEARCH_GAIN * k : k == 9 ? 99.0 : 98.9;
    assert_int_equal(k % 7 == 6 ? sct_search_fail(s, k, NULL) : sct_search_report(s, k, cost, NULL),
                     SCT_OK);
  }
  assert_true(sct_search_is_settled(s));
  sct_search_free(s);
}

/* What a store knew counts as tried after the best of it. */
static void known_candidates_settle_a_search(void **state) {
  (void)state;
  sct_search *s = NULL;
  sct_search_new(&s, method_named("model"), &hill.problem, 1);
  for (int k = 0; k < SCT_SEARCH_PATIENCE; k++) {
    assert_false(sct_search_is_settled(s));
    assert_int_equal(sct_search_report(s, k, 1000.0 - k, NULL), SCT_OK);
  }
  assert_true(sct_search_is_settled(s));
  sct_search_free(s);
}

static void seeds_decide(void **state) {
  (void)state;
  int n_methods, a[N_HILL + 1], b[N_HILL + 1];
  const sct_search_method *methods = sct_search_methods(&n_methods);
  for (int m = 0; m < n_methods; m++) {
    run(a, methods[m].name, 4, 3, 5);
    run(b, methods[m].name, 4, 3, 5);
    assert_memory_equal(a, b, sizeof(int) * N_HILL);
  }
  run(a, "random", 4, 1, 0);
  run(b, "random", 5, 1, 0);
  assert_memory_not_equal(a, b, sizeof(int) * N_HILL);
}

static void exhaustive_keeps_the_order(void **state) {
  (void)state;
  int order[N_HILL + 1];
  run(order, "exhaustive", 9, 5, 0);
  for (int k = 0; k < N_HILL; k++) {
    assert_int_equal(order[k], k);
  }
}

/* How many of 20 searches on landscapes of their own try the best one within the budget. */
static int n_found(const char *method, int budget, int batch, bool predict) {
  int found = 0, order[N_HILL + 1];
  for (uint64_t seed = 0; seed < 20; seed++) {
    sct_search_problem_free(&hill.problem);
    landscape_make(&hill, 100 + seed);
    int best = 0;
    for (int k = 0; k < N_HILL; k++) {
      best = hill.cost[k] < hill.cost[best] ? k : best;
      hill.problem.points[k].predicted = predict ? hill.problem.points[k].predicted : 0.0;
    }
    run_some(order, method, seed, batch, 0, budget);
    for (int i = 0; i < budget; i++) {
      found += order[i] == best;
    }
  }
  return found;
}

/* Chance finds the best of 512 within 40 in 1.6 of 20 searches. */
static void learning_beats_chance(void **state) {
  (void)state;
  const int chance = n_found("random", 40, 1, true);
  assert_in_range(chance, 0, 6);
  assert_in_range(n_found("model", 40, 1, true), 18, 20);
  assert_in_range(n_found("model", 64, 8, true), 18, 20);
  assert_in_range(n_found("model", 64, 1, false), 14, 20);
  assert_in_range(n_found("local", 40, 1, true), 12, 20);
  assert_in_range(n_found("local", 120, 1, false), 12, 20);
}

static void the_first_guess_is_the_prediction(void **state) {
  (void)state;
  static const char *const guided[] = {"model", "local"};
  for (int m = 0; m < SCT_COUNT(guided); m++) {
    int order[N_HILL + 1], best = 1;
    run_some(order, guided[m], 1, 1, 0, 2);
    for (int k = 1; k < N_HILL; k++) {
      best = hill.problem.points[k].predicted < hill.problem.points[best].predicted ? k : best;
    }
    assert_int_equal(order[1], best);
  }
}

/* What the method tries after the naive one, of eight candidates with equal predictions but for
 * that of `better`, which is `share` of the others, and a penalty of `penalty` in the sixth. */
static int second_of_eight(const char *method, int better, double share, double penalty) {
  sct_search_problem p = {0};
  sct_search *s = NULL;
  for (int k = 0; k < 8; k++) {
    const double none[SCT_N_PENALTIES] = {0};
    const double some[SCT_N_PENALTIES] = {[SCT_PENALTY_REQUESTS] = penalty};
    sct_search_add(&p, k == better ? 100.0 * share : 100.0, 0.0, k == 0);
    sct_search_penalty(&p, k == 5 ? some : none);
    assert_int_equal(sct_search_set(&p, "any", "x", NULL), SCT_OK);
  }
  sct_search_new(&s, method_named(method), &p, 3);
  assert_int_equal(sct_search_next(s), 0);
  assert_int_equal(sct_search_report(s, 0, 120.0, NULL), SCT_OK);
  const int second = sct_search_next(s);
  sct_search_free(s);
  sct_search_problem_free(&p);
  return second;
}

static void penalties_tell_equal_predictions_apart(void **state) {
  (void)state;
  assert_int_equal(second_of_eight("local", -1, 1.0, -0.1), 5);
  assert_int_equal(second_of_eight("model", -1, 1.0, -0.1), 5);
  assert_int_not_equal(second_of_eight("local", -1, 1.0, 0.1), 5);
  const int as_without = second_of_eight("local", -1, 1.0, 0.0);
  assert_int_equal(second_of_eight("local", -1, 1.0, -(double)INFINITY), as_without);
}

/* A prediction that says more goes before a penalty, one within 2 % says nothing; between them,
 * measured times differ less than predictions do. */
static void predictions_are_believed_in_part(void **state) {
  (void)state;
  assert_int_equal(second_of_eight("local", 4, 0.9, -0.08), 4);
  assert_int_equal(second_of_eight("local", 4, 0.9, -0.12), 5);
  assert_int_equal(second_of_eight("local", 4, 0.985, -0.01), 5);
}

/* A value that was slow in one strategy may not be in another: two candidates that differ from the
 * slow one by one axis, of which the one of the other strategy, which was tried too, is next. */
static void another_strategy_is_evaluated_for_itself(void **state) {
  (void)state;
  static const char *const axes[3] = {"strategy", "vec", "hint"};
  static const char *const points[5][3] = {{"map", "a", "x"},
                                           {"map", "b", "x"},
                                           {"map", "b", "y"},
                                           {"tile", "b", "x"},
                                           {"tile", "a", "y"}};
  for (uint64_t seed = 1; seed <= 8; seed++) {
    sct_search_problem p = {0};
    sct_search *s = NULL;
    for (int k = 0; k < 5; k++) {
      sct_search_add(&p, 100.0, 0.0, k == 0);
      for (int a = 0; a < 3; a++) {
        assert_int_equal(sct_search_set(&p, axes[a], points[k][a], NULL), SCT_OK);
      }
    }
    sct_search_new(&s, method_named("model"), &p, seed);
    assert_int_equal(sct_search_report(s, 0, 100.0, NULL), SCT_OK);
    assert_int_equal(sct_search_report(s, 1, 130.0, NULL), SCT_OK);
    assert_int_equal(sct_search_report(s, 4, 100.0, NULL), SCT_OK);
    assert_int_equal(sct_search_next(s), 3);
    sct_search_free(s);
    sct_search_problem_free(&p);
  }
}

/* However many candidates of one strategy are predicted to be faster, the most promising one of
 * each other strategy is among the first twenty. */
static void each_strategy_has_its_turn(void **state) {
  (void)state;
  static const char *const strategies[4] = {"direct", "map", "windows", "tile"};
  sct_search_problem p = {0};
  sct_search *s = NULL;
  bool proposed[120] = {false};
  for (int k = 0; k < 120; k++) {
    const int strategy = k / 30;
    sct_search_add(&p, 100.0 * (1 + strategy) - (k % 30 == 7 ? 9.0 : 0.0), 0.0, k == 0);
    char items[8];
    snprintf(items, sizeof items, "%d", k % 30);
    assert_int_equal(sct_search_set(&p, "strategy", strategies[strategy], NULL), SCT_OK);
    assert_int_equal(sct_search_set(&p, "items", items, NULL), SCT_OK);
  }
  sct_search_new(&s, method_named("model"), &p, 5);
  for (int i = 0; i < 20; i++) {
    const int k = sct_search_next(s);
    proposed[k] = true;
    assert_int_equal(sct_search_report(s, k, p.points[k].predicted, NULL), SCT_OK);
  }
  assert_true(proposed[67] && proposed[97]);
  sct_search_free(s);
  sct_search_problem_free(&p);
}

static void counts_of_some_blocks_are_coarse(void **state) {
  (void)state;
  assert_true(sct_search_round_count(0.0) == 0.0);
  assert_true(sct_search_round_count(1566162.0) ==
              sct_search_round_count(1572864.0)); /* of one kernel */
  for (double n = 1.0; n < 1e12; n *= 1.7) {
    assert_true(sct_search_round_count(1.06 * n) > sct_search_round_count(n));
    assert_true(fabs(sct_search_round_count(1.03 * n) - sct_search_round_count(n)) <= 1.0);
  }
}

static void order_tells_equal_predictions_apart(void **state) {
  (void)state;
  int order[N_HILL + 1];
  for (int k = 0; k < N_HILL; k++) {
    hill.problem.points[k].predicted = 100.0;
    hill.problem.points[k].order = abs(k - 321);
  }
  run_some(order, "local", 1, 1, 0, 2);
  assert_int_equal(order[1], 321);
  run_some(order, "model", 1, 1, 0, 2);
  assert_int_equal(order[1], 321);
}

/* Predictions lead into a region in which everything fails: others are tried in between. */
static void failures_do_not_hold_the_model(void **state) {
  (void)state;
  sct_search *s = NULL;
  int n_failed = 0;
  sct_search_new(&s, method_named("model"), &hill.problem, 1);
  for (int i = 0; i < 60; i++) {
    const int k = sct_search_next(s);
    const bool fails = k % SIDE < 4 && k > 0; /* half of the space */
    n_failed += fails;
    assert_int_equal(
        fails ? sct_search_fail(s, k, NULL) : sct_search_report(s, k, hill.cost[k], NULL), SCT_OK);
  }
  assert_in_range(n_failed, 1, 50);
  sct_search_free(s);
}

/* ---- neighbours ---- */

static bool is_among(const int *list, int n, int k) {
  bool found = false;
  for (int i = 0; i < n; i++) {
    found = found || list[i] == k;
  }
  return found;
}

static void neighbours_are_one_step_away(void **state) {
  (void)state;
  int list[N_HILL];
  sct_search *s = NULL;
  sct_search_new(&s, method_named("local"), &hill.problem, 1);
  assert_int_equal(search_neighbours(s, 0, list), 3);
  assert_true(is_among(list, 3, 1) && is_among(list, 3, SIDE) && is_among(list, 3, SIDE * SIDE));
  const int inner = 3 * SIDE * SIDE + 3 * SIDE + 3;
  assert_int_equal(search_neighbours(s, inner, list), 6);
  assert_true(is_among(list, 6, inner - 1) && is_among(list, 6, inner + SIDE * SIDE));
  sct_search_free(s);
}

/* Numbers in any order of appearance, a gap where a constraint took one away, names, and axes that
 * only some have. */
static void neighbours_step_over_gaps_and_to_every_name(void **state) {
  (void)state;
  static const char *const rows[][3] = {
      {"tile", "256", "pad"}, {"tile", "64", "pad"},  {"tile", "1024", "pad"},
      {"tile", "64", "xor"},  {"tile", "64", "none"}, {"flat", "64", NULL},
  };
  sct_search_problem p = {0};
  for (int k = 0; k < SCT_COUNT(rows); k++) {
    sct_search_add(&p, 0.0, 0.0, false);
    assert_int_equal(sct_search_set(&p, "strategy", rows[k][0], NULL), SCT_OK);
    assert_int_equal(sct_search_set(&p, "threads", rows[k][1], NULL), SCT_OK);
    if (rows[k][2]) {
      assert_int_equal(sct_search_set(&p, "fix", rows[k][2], NULL), SCT_OK);
    }
  }
  int list[SCT_COUNT(rows)];
  sct_search *s = NULL;
  sct_search_new(&s, method_named("local"), &p, 1);
  assert_int_equal(search_neighbours(s, 1, list), 3); /* 256, xor, none; not 1024, not flat */
  assert_true(is_among(list, 3, 0) && is_among(list, 3, 3) && is_among(list, 3, 4));
  assert_int_equal(search_neighbours(s, 0, list), 2); /* 64 below, 1024 above */
  assert_int_equal(search_neighbours(s, 5, list), 0);
  sct_search_free(s);
  sct_search_problem_free(&p);
}

/* ---- misuse and edges ---- */

static void what_is_told_is_checked(void **state) {
  (void)state;
  sct_search *s = NULL;
  sct_error err = {0};
  sct_search_new(&s, method_named("model"), &hill.problem, 1);
  assert_int_equal(sct_search_report(s, N_HILL, 1.0, &err), SCT_EINTERNAL);
  assert_int_equal(sct_search_fail(s, -1, &err), SCT_EINTERNAL);
  static const double bad[] = {0.0, -1.0, NAN, INFINITY};
  for (int k = 0; k < SCT_COUNT(bad); k++) {
    assert_int_equal(sct_search_report(s, 3, bad[k], &err), SCT_EINTERNAL);
  }
  assert_int_equal(s->best, -1);
  assert_int_equal(sct_search_report(s, 3, 5.0, &err), SCT_OK);
  assert_int_equal(sct_search_report(s, 3, 4.0, &err), SCT_EINTERNAL);
  assert_non_null(strstr(err.text, "twice"));
  assert_int_equal(sct_search_fail(s, 3, &err), SCT_EINTERNAL);
  assert_int_equal(s->best, 3);
  sct_search_free(s);
}

static void what_a_store_knew_is_not_proposed(void **state) {
  (void)state;
  int n_methods;
  const sct_search_method *methods = sct_search_methods(&n_methods);
  for (int m = 0; m < n_methods; m++) {
    sct_search *s = NULL;
    bool seen[N_HILL] = {0};
    sct_search_new(&s, &methods[m], &hill.problem, 1);
    for (int k = 0; k < 100; k++) {
      assert_int_equal(sct_search_report(s, k, hill.cost[k], NULL), SCT_OK);
    }
    int n = 0;
    for (int k; (k = sct_search_next(s)) >= 0; n++) {
      assert_true(k >= 100 && !seen[k]);
      seen[k] = true;
    }
    assert_int_equal(n, N_HILL - 100);
    sct_search_free(s);
  }
}

static void an_empty_problem_ends_at_once(void **state) {
  (void)state;
  const sct_search_problem none = {0};
  int n_methods;
  const sct_search_method *methods = sct_search_methods(&n_methods);
  for (int m = 0; m < n_methods; m++) {
    sct_search *s = NULL;
    sct_search_new(&s, &methods[m], &none, 1);
    assert_int_equal(sct_search_next(s), -1);
    assert_int_equal(s->best, -1);
    sct_search_free(s);
  }
  sct_search_free(NULL);
}

static void a_wrong_name_gets_the_nearest(void **state) {
  (void)state;
  const sct_search_method *method = NULL;
  sct_error err = {0};
  assert_int_equal(sct_search_find(&method, "modell", &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "did you mean 'model'"));
  assert_int_equal(sct_search_find(&method, "x", &err), SCT_EUSAGE);
  assert_non_null(strstr(err.text, "exhaustive, model, local, random"));
}

static void problems_have_bounds(void **state) {
  (void)state;
  sct_search_problem p = {0};
  sct_error err = {0};
  char text[16];
  assert_int_equal(sct_search_set(&p, "a", "1", &err), SCT_EINTERNAL);
  sct_search_add(&p, NAN, 0.0, false);
  assert_true(p.points[0].predicted == 0.0);
  for (int a = 0; a <= SCT_SEARCH_MAX_AXES; a++) {
    snprintf(text, sizeof text, "a%d", a);
    assert_int_equal(sct_search_set(&p, text, "1", &err),
                     a < SCT_SEARCH_MAX_AXES ? SCT_OK : SCT_EINTERNAL);
  }
  for (int v = 2; v <= SCT_SEARCH_MAX_VALUES + 1; v++) {
    snprintf(text, sizeof text, "%d", v);
    assert_int_equal(sct_search_set(&p, "a0", text, &err),
                     v <= SCT_SEARCH_MAX_VALUES ? SCT_OK : SCT_EINTERNAL);
  }
  sct_search_problem_free(&p);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(every_method_proposes_each_once_naive_first),
      TEST(several_naive_ones_come_first),
      TEST(it_is_settled_after_so_many_without_a_gain),
      TEST(known_candidates_settle_a_search),
      TEST(seeds_decide),
      TEST(exhaustive_keeps_the_order),
      TEST(learning_beats_chance),
      TEST(the_first_guess_is_the_prediction),
      TEST(penalties_tell_equal_predictions_apart),
      TEST(predictions_are_believed_in_part),
      TEST(another_strategy_is_evaluated_for_itself),
      TEST(each_strategy_has_its_turn),
      TEST(counts_of_some_blocks_are_coarse),
      TEST(order_tells_equal_predictions_apart),
      TEST(failures_do_not_hold_the_model),
      TEST(neighbours_are_one_step_away),
      TEST(neighbours_step_over_gaps_and_to_every_name),
      TEST(what_is_told_is_checked),
      TEST(what_a_store_knew_is_not_proposed),
      TEST(an_empty_problem_ends_at_once),
      TEST(a_wrong_name_gets_the_nearest),
      TEST(problems_have_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
