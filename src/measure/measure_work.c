/* measure_work - what a launch on a described device did, added to the sums that say how many
 * machine instructions go with a block, a request and an element. */
#include "measure/measure_session.h"

#include <string.h>

static void add_work(sct_work_sums *sums, const sct_spec *spec, int64_t blocks,
                     const int64_t *extent, const sct_launch_counts *run) {
  const double issued = (double)run->machine.n[SCT_PIPE_ISSUE];
  double works[SCT_N_WORKS] = {[SCT_WORK_BLOCKS] = (double)blocks,
                               [SCT_WORK_REQUESTS] =
                                   (double)(run->counts.requests_ld + run->counts.requests_st),
                               [SCT_WORK_ELEMENTS] = 1.0};
  for (int d = 0; d < spec->n_dims; d++) {
    works[SCT_WORK_ELEMENTS] *= (double)extent[d];
  }
  sums->issued2 += issued * issued;
  for (int i = 0; i < SCT_N_WORKS; i++) {
    for (int k = 0; k < SCT_N_WORKS; k++) {
      sums->works[i][k] += works[i] * works[k];
    }
    for (int p = 0; p < SCT_N_PIPES; p++) {
      sums->machine[i][p] += works[i] * (double)run->machine.n[p];
    }
  }
}

/* Is `extent` better to count at than what `v` has? Whole warps first: there, what the compiler
 * made of loops does not change the number of requests. */
static bool counts_better(const sct_measure *m, const sct_verdict *v, const int64_t *extent) {
  const sct_spec *spec = m->addressing.spec;
  int64_t elements[2] = {1, 1};
  bool whole[2];
  const int64_t *const extents[2] = {v->extent, extent};
  for (int k = 0; k < 2; k++) {
    for (int d = 0; d < spec->n_dims; d++) {
      elements[k] *= extents[k][d];
    }
    whole[k] = extents[k][spec->n_dims - 1] % 32 == 0 && elements[k] > 0;
  }
  return !v->counted || (whole[0] != whole[1] ? whole[1] : elements[1] > elements[0]);
}

void sct_work_add(const sct_measure *m, sct_verdict *v, const sct_target *target,
                  const sct_launch_counts *run) {
  const sct_shape *shape = target->shape;
  add_work(&v->work, m->addressing.spec, target->blocks, shape->extent, run);
  if (counts_better(m, v, shape->extent)) {
    v->counts = run->counts;
    memcpy(v->extent, shape->extent, sizeof v->extent[0] * (size_t)m->addressing.spec->n_extents);
    memcpy(v->fill, shape->fill, sizeof v->fill[0] * (size_t)m->addressing.spec->n_operands);
    v->counted = true;
  }
}
