/* Few kernels for the samples of ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emit/emit_internal.h"

enum { MOST_KERNELS = 12, MOST_SAMPLES = 12 };

/* What kernel k takes at each sample; 0: it was not tried there. */
typedef struct table {
  int n_kernels, n_samples;
  double ns[MOST_KERNELS][MOST_SAMPLES];
} table;

typedef struct choice {
  int kernel[MOST_SAMPLES]; /* -1: none */
  emit_regret regret;
} choice;

static const char *const names[MOST_KERNELS] = {"k0", "k1", "k2", "k3", "k4",  "k5",
                                                "k6", "k7", "k8", "k9", "k10", "k11"};

static choice cover(const table *t, int n_known, bool wrong_layout) {
  static sct_row_result rows[MOST_SAMPLES][MOST_KERNELS];
  static bool legal[MOST_KERNELS];
  emit_size sizes[MOST_SAMPLES] = {{0}}, *samples[MOST_SAMPLES];
  int of[MOST_SAMPLES][MOST_KERNELS], got[MOST_SAMPLES];
  choice out;
  for (int k = 0; k < MOST_KERNELS; k++) {
    legal[k] = !wrong_layout || k > 0;
  }
  for (int s = 0; s < t->n_samples; s++) {
    samples[s] = &sizes[s];
    sizes[s] = (emit_size){.sampled = true, .rows = rows[s], .legal = legal};
    for (int k = 0; k < t->n_kernels; k++) {
      if (t->ns[k][s] > 0) {
        of[s][sizes[s].n_rows] = k;
        rows[s][sizes[s].n_rows++] =
            (sct_row_result){.candidate.source_hash = (char *)names[k],
                             .outcome = {.times.median_ns = s % 2 ? t->ns[k][s] : -1,
                                         .predicted_ns = s % 2 ? -1 : t->ns[k][s]}};
      }
    }
  }
  emit_cover_rows(got, &out.regret, samples, t->n_samples, names, n_known);
  for (int s = 0; s < t->n_samples; s++) {
    out.kernel[s] = got[s] < 0 ? -1 : of[s][got[s]];
  }
  return out;
}

static int count_kernels(const choice *c, int n_samples) {
  bool seen[MOST_KERNELS] = {false};
  int n = 0;
  for (int s = 0; s < n_samples; s++) {
    n += c->kernel[s] >= 0 && !seen[c->kernel[s]];
    seen[c->kernel[s] >= 0 ? c->kernel[s] : 0] |= c->kernel[s] >= 0;
  }
  return n;
}

/* Each sample has a best kernel, and the last kernel is nearly as good everywhere. */
static void one_that_does_everywhere_replaces_many(void **state) {
  (void)state;
  table t = {.n_kernels = 9, .n_samples = 8};
  for (int s = 0; s < 8; s++) {
    t.ns[s][s] = 1000;
    t.ns[8][s] = 1002;
  }
  choice c = cover(&t, 0, false);
  assert_int_equal(count_kernels(&c, 8), 1);
  assert_int_equal(c.kernel[3], 8);
  assert_int_equal(c.regret.n_samples, 8);
  assert_float_equal(c.regret.mean, 1.002, 1e-9);
  assert_float_equal(c.regret.worst, 1.002, 1e-9);
}

static void six_at_most_and_the_worst_sample_first(void **state) {
  (void)state;
  table t = {.n_kernels = 10, .n_samples = 9};
  for (int s = 0; s < 9; s++) {
    t.ns[s][s] = 1000;
    t.ns[9][s] = 1100 + 100 * s; /* known */
  }
  table turned = t; /* the known one comes first */
  for (int k = 0; k < 10; k++) {
    for (int s = 0; s < 9; s++) {
      turned.ns[k][s] = t.ns[(k + 9) % 10][s];
    }
  }
  choice c = cover(&turned, 1, false);
  assert_int_equal(count_kernels(&c, 9), 7);
  for (int s = 0; s < 9; s++) { /* those that lose least keep the known one */
    assert_int_equal(c.kernel[s], s < 3 ? 0 : s + 1);
  }
  assert_float_equal(c.regret.worst, 1.3, 1e-9);
}

static void what_is_known_comes_for_nothing(void **state) {
  (void)state;
  const table t = {2, 2, {{1000, 1003}, {1100, 1000}}};
  choice c = cover(&t, 1, false);
  assert_int_equal(c.kernel[0], 0);
  assert_int_equal(c.kernel[1], 0); /* 0.3 % is worth no kernel */
  c = cover(&t, 1, true);           /* not of the header's layouts */
  assert_int_equal(c.kernel[0], 1);
}

static void a_sample_that_none_was_tried_at_is_said(void **state) {
  (void)state;
  const table t = {1, 2, {{1000, 0}}};
  choice c = cover(&t, 1, false);
  assert_int_equal(c.kernel[0], 0);
  assert_int_equal(c.kernel[1], -1);
  assert_true(c.regret.worst > 9);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_that_does_everywhere_replaces_many),
      cmocka_unit_test(six_at_most_and_the_worst_sample_first),
      cmocka_unit_test(what_is_known_comes_for_nothing),
      cmocka_unit_test(a_sample_that_none_was_tried_at_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
