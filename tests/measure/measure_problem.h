/* A problem of one size with its arrays on the host, where the output is worked out. */
#ifndef SCT_TESTS_MEASURE_PROBLEM_H
#define SCT_TESTS_MEASURE_PROBLEM_H

#include "measure/measure_data.h"
#include "measure/measure_session.h"
#include "measure_fixture.h"

typedef struct problem {
  sct_spec spec;
  sct_addressing addressing;
  sct_shape shape;
  uint8_t *image[2], *flags;
} problem;

/* One input and one output over (row, col); the input holds random numbers. */
static inline void problem_open(problem *p, const fixture_array arrays[2], const char *body,
                                int64_t rows, int64_t cols) {
  static const int layout[SCT_MAX_OPERANDS];
  const int64_t extents[] = {rows, cols};
  memset(p, 0, sizeof *p);
  fixture_spec(&p->spec, "row col", arrays, 1, 2, NULL, body, extents);
  assert_ok(sct_addressing_init(&p->addressing, &p->spec, layout, 5, &fixture_err));
  assert_ok(sct_shape_init(&p->shape, &p->addressing, extents, NULL, &fixture_err));
  assert_ok(sct_image_input(&p->image[0], &p->shape, 0, &fixture_err));
}

/* What the output must hold, all of it. */
static inline void problem_solve(problem *p) {
  assert_ok(sct_image_output(&p->image[1], &p->shape, 1, p->image, 0xa5, &fixture_err));
  assert_ok(sct_image_flags(&p->flags, &p->shape, 1, &fixture_err));
  for (int64_t k = 0; k < p->shape.op[1].bytes; k++) {
    assert_int_equal(p->flags[k], SCT_BYTE_OWNED | SCT_BYTE_WRITTEN);
  }
}

static inline void problem_close(problem *p) {
  sct_free(p->image[0]);
  sct_free(p->image[1]);
  sct_free(p->flags);
  sct_shape_free(&p->shape);
  sct_addressing_free(&p->addressing);
  sct_spec_free(&p->spec);
}

#endif
