/* search_fixture - landscapes with a known least cost, and a search that is run to its end. */
#ifndef SEARCH_FIXTURE_H
#define SEARCH_FIXTURE_H

#include "search/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIDE   8
#define N_HILL (SIDE * SIDE * SIDE)

typedef struct landscape {
  sct_search_problem problem;
  double cost[N_HILL];
} landscape;

/* A valley over three axes of 8 values whose bottom the seed decides, roughened by 1 %; predicted
 * is a valley with its bottom elsewhere, two steps off on one axis. The first candidate is naive.
 */
static inline void landscape_make(landscape *l, uint64_t seed) {
  sct_error err;
  *l = (landscape){0};
  int low[3];
  for (int a = 0; a < 3; a++) {
    low[a] = (int)(sct_mix64(seed, (uint64_t)a) % (SIDE - 2));
  }
  for (int k = 0; k < N_HILL; k++) {
    const int x[3] = {k / (SIDE * SIDE), k / SIDE % SIDE, k % SIDE};
    double far = 0.0, guessed = 0.0;
    for (int a = 0; a < 3; a++) {
      const double d = x[a] - low[a], g = x[a] - low[a] - (a == 1 ? 2 : 0);
      far += 0.02 * d * d;
      guessed += 0.02 * g * g;
    }
    const double rough = 0.01 * (double)(sct_mix64(seed + 99, (uint64_t)k) % 1000) / 1000.0;
    const bool bottom = x[0] == low[0] && x[1] == low[1] && x[2] == low[2];
    l->cost[k] = 1000.0 * exp(far + (bottom ? 0.0 : rough));
    sct_search_add(&l->problem, 500.0 * exp(guessed), 0.0, k == 0);
    static const char *const names[] = {"threads", "rows", "pad"};
    for (int a = 0; a < 3; a++) {
      char text[8];
      snprintf(text, sizeof text, "%d", 1 << x[a]);
      assert_int_equal(sct_search_set(&l->problem, names[a], text, &err), SCT_OK);
    }
  }
}

static inline const sct_search_method *method_named(const char *name) {
  const sct_search_method *method = NULL;
  assert_int_equal(sct_search_find(&method, name, NULL), SCT_OK);
  return method;
}

#endif
