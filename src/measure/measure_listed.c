/* Tuples of extents that every candidate of three or more dimensions, or of ragged rows, meets:
 * some of each dimension, as what flattens several of them wraps. */
#include "measure_session.h"

/* Rows and elements of them: one, few, more and fewer than elements, long ones. */
static int list_ragged(int64_t (*out)[SCT_MAX_DIMS], const sct_spec *spec) {
  static const int64_t sides[][2] = {{1, 4097},   {2, 9001},    {7, 4097},   {33, 1000},
                                     {100, 3000}, {257, 700},   {300, 9000}, {2000, 4097},
                                     {700, 1},    {1025, 16001}};
  for (int k = 0; k < SCT_COUNT(sides); k++) {
    for (int d = 0; d < spec->n_dims; d++) {
      out[k][d] = d == spec->ragged.row   ? sides[k][0]
                  : d == spec->ragged.dim ? sides[k][1]
                                          : 1 + (k + d) % 3;
    }
  }
  return SCT_COUNT(sides);
}

/* Kernels of words want multiples along two dimensions, and which these are differs. */
static int list_multiples(int64_t (*out)[SCT_MAX_DIMS], const sct_spec *spec) {
  static const int64_t units[] = {16, 8, 4};
  const int n = 3 * SCT_COUNT(units);
  for (int k = 0; k < n; k++) {
    const int more = k % 3; /* the first, the last, or none is longer */
    for (int d = 0; d < spec->n_dims; d++) {
      const bool longer = (more == 1 && d == 0) || (more == 2 && d == spec->n_dims - 1);
      out[k][d] = units[k / 3] * (longer ? 3 : 1);
    }
  }
  return n;
}

static int list_solids(int64_t (*out)[SCT_MAX_DIMS], const sct_spec *spec, const int64_t *unit) {
  static const int64_t sides[][3] = {{2, 3, 31}, {5, 7, 11},   {17, 31, 3}, {3, 65, 33},
                                     {8, 8, 8},  {4, 33, 129}, {24, 20, 28}};
  const int last = spec->n_dims - 1;
  for (int k = 0; k < SCT_COUNT(sides); k++) {
    for (int d = 0; d <= last; d++) {
      const int64_t side = last - d < 3 ? sides[k][2 - (last - d)] : 1 + (k + d) % 3;
      out[k][d] = sct_round_up(side, unit[d]);
    }
  }
  return SCT_COUNT(sides);
}

int sct_tuples_listed(int64_t (*out)[SCT_MAX_DIMS], const sct_spec *spec, const int64_t *unit) {
  int n = sct_spec_is_ragged(spec) ? list_ragged(out, spec) : 0;
  if (spec->n_dims > 2) {
    n += list_multiples(out + n, spec);
    n += list_solids(out + n, spec, unit);
  }
  return n;
}
