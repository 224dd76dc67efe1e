/* A spec, a kernel and a session without a worker: what there is to verify at, and nothing runs. */
#ifndef SCT_TESTS_MEASURE_WORLD_H
#define SCT_TESTS_MEASURE_WORLD_H

#include "measure/measure_session.h"
#include "measure_fixture.h"

static const int first_layout[SCT_MAX_OPERANDS];

typedef struct world {
  sct_spec spec;
  sct_measure m; /* without a worker: cases only */
  fixture_kernel kernel;
  sct_tuples tuples;
} world;

static inline void world_open(world *w, const char *dims, const fixture_array *arrays, int n_inputs,
                              int n, const char *body, const int64_t *extents, int64_t tile) {
  memset(w, 0, sizeof *w);
  fixture_spec(&w->spec, dims, arrays, n_inputs, n, NULL, body, extents);
  assert_ok(sct_addressing_init(&w->m.addressing, &w->spec, first_layout, 5, &fixture_err));
  fixture_kernel_init(&w->kernel, &w->spec, 1, tile);
}

static inline void world_close(world *w) {
  sct_tuples_free(&w->tuples);
  sct_cases_drop(&w->m);
  sct_addressing_free(&w->m.addressing);
  sct_spec_free(&w->spec);
}

static const fixture_array copy_1d[] = {{.name = "a", .types = "f32", .layout = FIXTURE_AOS},
                                        {.name = "b", .types = "f32", .layout = FIXTURE_AOS}};

#endif
