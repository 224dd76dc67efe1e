/* What is estimated of kernels at sizes where they were not tried, against times that tests know
 * and hide; and what calls that a program logged change. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "rule/rule.h"

enum { N_KERNELS = 24, N_SAMPLES = 40, N_EXTENTS = 2, SEED = 5 };

typedef struct world {
  sct_arena arena;
  sct_rule_matrix m;
  int64_t extents[N_SAMPLES][N_EXTENTS];
  const int64_t *list[N_SAMPLES];
  double truth[N_KERNELS][N_SAMPLES];
} world;

/* A model that errs: at each size by a factor for all kernels, for each kernel by one that changes
 * slowly with the extents, and in each cell by a few percent. */
static world *open_world(double size_error, double own_error, double noise) {
  world *w = sct_alloc(sizeof *w);
  *w = (world){.arena = {0}};
  sct_rng rng = sct_rng_new(SEED);
  sct_rule_new(&w->m, &w->arena, N_KERNELS, N_SAMPLES);
  w->m.extents = w->list;
  w->m.n_extents = N_EXTENTS;
  for (int s = 0; s < N_SAMPLES; s++) {
    w->list[s] = w->extents[s];
    for (int e = 0; e < N_EXTENTS; e++) {
      w->extents[s][e] = (int64_t)exp2(4 + 12 * sct_rng_unit(&rng));
    }
  }
  for (int s = 0; s < N_SAMPLES; s++) {
    const double shared = size_error * (2 * sct_rng_unit(&rng) - 1);
    for (int k = 0; k < N_KERNELS; k++) {
      const double row = log2((double)w->extents[s][0]), col = log2((double)w->extents[s][1]);
      const int at = k * N_SAMPLES + s;
      w->m.predicted[at] = 1000 * exp(0.05 * ((k % 5) - 2) * (row - col)) * (1 + 0.1 * (k % 3));
      w->truth[k][s] = w->m.predicted[at] * exp(shared + own_error * sin(k + row / 6 + col / 7) +
                                                noise * (2 * sct_rng_unit(&rng) - 1));
      w->m.tried[at] = sct_rng_unit(&rng) < 0.4;
      w->m.may[at] = true;
      w->m.ns[at] = w->m.tried[at] ? w->truth[k][s] : INFINITY;
    }
  }
  return w;
}

static void close_world(world *w) {
  sct_arena_free(&w->arena);
  sct_free(w);
}

/* The root mean square of the logarithm of estimate over truth. */
static double error_of(const world *w) {
  double sum = 0;
  int n = 0;
  for (int k = 0; k < N_KERNELS; k++) {
    for (int s = 0; s < N_SAMPLES; s++) {
      const int at = k * N_SAMPLES + s;
      if (!w->m.tried[at]) {
        sum += pow(log(w->m.ns[at] / w->truth[k][s]), 2);
        n++;
      }
    }
  }
  return sqrt(sum / n);
}

static void what_is_shared_by_a_size_is_known_from_others(void **state) {
  (void)state;
  world *w = open_world(0.7, 0, 0);
  sct_rule_estimate(&w->m, &w->arena);
  assert_true(error_of(w) < 1e-9);
  close_world(w);
}

static void what_a_kernel_has_of_its_own_is_known_from_sizes_alike(void **state) {
  (void)state;
  world *w = open_world(0.7, 0.3, 0.03);
  for (int k = 0; k < N_KERNELS * N_SAMPLES; k++) { /* the model alone */
    w->m.ns[k] = w->m.tried[k] ? w->m.ns[k] : w->m.predicted[k];
  }
  assert_true(error_of(w) > 0.3);
  sct_rule_estimate(&w->m, &w->arena);
  assert_true(error_of(w) < 0.12);
  close_world(w);
}

/* Without predictions a kernel that was twice the best at all sizes around is taken to be so. */
static void without_a_model_a_kernel_is_what_it_was_elsewhere(void **state) {
  (void)state;
  world *w = open_world(0, 0, 0);
  for (int k = 0; k < N_KERNELS; k++) {
    for (int s = 0; s < N_SAMPLES; s++) {
      const int at = k * N_SAMPLES + s;
      w->m.predicted[at] = 0;
      w->truth[k][s] = 1000 * (k == 0 ? 1 : k == 1 ? 2 : 1.5);
      w->m.tried[at] = k == 0 || (k == 1 && s != 7);
      w->m.ns[at] = w->m.tried[at] ? w->truth[k][s] : INFINITY;
    }
  }
  sct_rule_estimate(&w->m, &w->arena);
  assert_in_range(w->m.ns[N_SAMPLES + 7], 1800, 2050);
  assert_float_equal(w->m.ns[2 * N_SAMPLES + 7], 1500, 1e-6); /* nothing is known of it */
  close_world(w);
}

static void where_a_kernel_cannot_run_nothing_is_estimated(void **state) {
  (void)state;
  world *w = open_world(0.1, 0.1, 0);
  w->m.may[3] = w->m.tried[3] = false;
  w->m.ns[3] = INFINITY;
  sct_rule_estimate(&w->m, &w->arena);
  assert_true(isinf(w->m.ns[3]));
  close_world(w);
}

/* Of a sample's weight half is its part in the time of all calls. */
static void calls_weigh_by_the_time_they_take(void **state) {
  (void)state;
  world *w = open_world(0, 0, 0);
  sct_rule_estimate(&w->m, &w->arena);
  sct_rule_rate(&w->m, &w->arena);
  for (int cell = 0; cell < w->m.n_cells; cell += SCT_RULE_SITUATIONS) {
    assert_float_equal(w->m.weight[cell], 0.75, 1e-9); /* no calls are known */
  }
  w->m.calls[4] = 3000 / sct_rule_best(&w->m, 4, 0);
  w->m.calls[5] = 1000 / sct_rule_best(&w->m, 5, 0);
  sct_rule_rate(&w->m, &w->arena);
  assert_float_equal(w->m.weight[4 * SCT_RULE_SITUATIONS], 0.75 * (1 + 0.75 * N_SAMPLES) / 2, 1e-9);
  assert_float_equal(w->m.weight[5 * SCT_RULE_SITUATIONS], 0.75 * (1 + 0.25 * N_SAMPLES) / 2, 1e-9);
  assert_float_equal(w->m.weight[6 * SCT_RULE_SITUATIONS], 0.75 / 2, 1e-9);
  close_world(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_shared_by_a_size_is_known_from_others),
      cmocka_unit_test(what_a_kernel_has_of_its_own_is_known_from_sizes_alike),
      cmocka_unit_test(without_a_model_a_kernel_is_what_it_was_elsewhere),
      cmocka_unit_test(where_a_kernel_cannot_run_nothing_is_estimated),
      cmocka_unit_test(calls_weigh_by_the_time_they_take),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
