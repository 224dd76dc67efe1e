/* Launches whose blocks have too much to do, from shorter ones: along one extent, every figure of a
 * kernel is a straight line through extents that leave the same rest by a period of the kernel, and
 * so by any multiple of it. Two short launches give the line, a third one checks it. */
#include "measure_blocks.h"

#include <math.h>
#include <string.h>

#define LEAST_PERIOD  128 /* elements of a byte in a line of 128 bytes */
#define ODD_PERIOD    105 /* 3 * 5 * 7: for tiles of so many vectors */
#define POINTS        3
#define SHORT_STEPS   16000.0 /* of a block at the last point, where the period may be that short */
#define ROUNDING      1e-6    /* of figures that are weighted sums; others are whole numbers */
#define LEAST_ERROR   5e-4    /* three points on a line are no proof */
#define UNROLLED      4       /* elements of a thread in an iteration, as compilers unroll loops */
#define WITHIN_PERIOD 0.03    /* error where the period may be longer than the one that was taken */
#define BY_CONTENTS   0.01 /* error where what arrays hold decides: it is another at each extent */

static const int64_t at_periods[POINTS] = {1, 2, 4};

typedef struct fit {
  sct_block_counter *counter;
  const sct_spec *spec;
  const sct_counted_kernel *kernel;
  const sct_size *size;
  int64_t most_blocks, most_steps;
  bool nested; /* points may be fitted too */
} fit;

typedef sct_launch_sums launch_sums;

static void free_sums(launch_sums *sums) {
  sct_free(sums->all.figures);
  *sums = (launch_sums){0};
}

static int64_t blocks_at(const fit *f, const int64_t *extent, int d, int64_t n) {
  int64_t at[SCT_MAX_EXTENTS], blocks = 0;
  const sct_expr_env env = {f->spec->extent_var, at, f->spec->n_extents};
  memcpy(at, extent, sizeof *at * (size_t)f->spec->n_extents);
  at[d] = n;
  return sct_expr_eval(f->spec->pool, f->kernel->code->grid, &env, &blocks, NULL) == SCT_OK ? blocks
                                                                                            : -1;
}

/* So many elements along d make a grid larger by a tile in every block: a period must be a multiple
 * of it. 0: the grid does not depend on d. */
static int64_t elements_of_grid(const fit *f, const int64_t *extent, int d) {
  const int64_t one = blocks_at(f, extent, d, 1), all = blocks_at(f, extent, d, extent[d]);
  int64_t same = 1, more = extent[d];
  if (one <= 0 || all <= one) {
    return 0;
  }
  while (more - same > 1) {
    const int64_t middle = same + (more - same) / 2;
    if (blocks_at(f, extent, d, middle) == one) {
      same = middle;
    } else {
      more = middle;
    }
  }
  const bool grows = all >= one * (extent[d] / same);
  return grows ? same : same * ((all + one - 1) / one);
}

/* Whether the numbers of blocks at the points lead to that at the whole extent. */
static bool grid_follows(const fit *f, const int64_t *extent, int d, int64_t period) {
  const int64_t rest = extent[d] % period;
  int64_t blocks[POINTS];
  for (int k = 0; k < POINTS; k++) {
    blocks[k] = blocks_at(f, extent, d, rest + at_periods[k] * period);
  }
  const int64_t each = blocks[1] - blocks[0];
  return blocks[0] > 0 && blocks[2] - blocks[1] == 2 * each &&
         blocks_at(f, extent, d, extent[d]) ==
             blocks[0] + each * (extent[d] / period - at_periods[0]);
}

static bool requirements_hold(const fit *f, const int64_t *extent) {
  const sct_expr_env env = {f->spec->extent_var, extent, f->spec->n_extents};
  bool hold = true;
  for (int k = 0; k < f->kernel->code->n_require && hold; k++) {
    int64_t value = 0;
    hold =
        sct_expr_eval(f->spec->pool, f->kernel->code->require[k], &env, &value, NULL) == SCT_OK &&
        value != 0;
  }
  return hold;
}

static sct_status fit_dims(const fit *f, launch_sums *out, sct_error *err);

static sct_status count_at(const fit *f, launch_sums *out, const int64_t *extent, int d, int64_t n,
                           bool *too_long, sct_error *err) {
  int64_t at[SCT_MAX_EXTENTS];
  const sct_size size = {.label = f->size->label, .extent = at, .fill = f->size->fill};
  memcpy(at, extent, sizeof *at * (size_t)f->spec->n_extents);
  at[d] = n;
  if (!requirements_hold(f, at)) {
    return sct_fail(err, SCT_ESPEC, "its requirements do not hold at shorter extents");
  }
  sct_status status = sct_short_count(f->counter, out, f->spec, f->kernel, &size, f->most_blocks,
                                      f->most_steps, too_long, err);
  if (*too_long && f->nested) {
    fit inner = *f;
    inner.nested = false;
    inner.size = &size;
    status = fit_dims(&inner, out, err);
  }
  return status;
}

static double along(double first, double last, double by) {
  return fmax(last + (last - first) * by, 0);
}

/* How far figure k of the point between is from the line through the others, thrice; 0 where that
 * is but rounding. */
static double off_line(const launch_sums *points, int k) {
  const double a = points[0].all.figures[k], b = points[1].all.figures[k],
               c = points[2].all.figures[k];
  const double off = fabs(3.0 * (b - a) - (c - a)); /* at 1, 2 and 4 periods */
  const bool sums = points[0].all.error + points[1].all.error + points[2].all.error > 0;
  return off > (sums ? ROUNDING * c : 0) ? off : 0;
}

static bool is_straight(const launch_sums *points) {
  bool straight = true;
  for (int k = SCT_FIGURE_SECTORS; k < points->end_counts; k++) {
    const double slack = points[1].all.error * points[1].all.figures[k] +
                         points[2].all.error * points[2].all.figures[k];
    const bool counts = k == SCT_FIGURE_SECTORS || k >= SCT_FIGURE_COUNTS;
    straight = straight && (!counts || off_line(points, k) <= 3.0 * slack);
  }
  return straight;
}

/* The line through the first and the last point, at the whole extent; how far the one between is
 * off counts as an error of all that the line adds. */
static void extrapolate(launch_sums *out, const launch_sums *points, int64_t periods) {
  const double step = (double)(at_periods[POINTS - 1] - at_periods[0]);
  const double by = (double)(periods - at_periods[POINTS - 1]) / step;
  const launch_sums *const last = &points[POINTS - 1];
  *out = *last;
  out->all.figures = sct_alloc(sizeof *out->all.figures * (size_t)last->n_figures);
  out->all.blocks_run = 0;
  for (int k = 0; k < last->n_figures; k++) {
    out->all.figures[k] = along(points[0].all.figures[k], last->all.figures[k], by);
  }
  const double far = (1.0 + by) * (1.0 + by) / 3.0; /* if it is a parabola */
  const double all = fmax(out->all.figures[SCT_FIGURE_SECTORS], 1.0);
  const double error = fmin(off_line(points, SCT_FIGURE_SECTORS) * far / all, 1.0);
  const double excess_error = fmin(off_line(points, SCT_FIGURE_EXCESS) * far / all, 1.0);
  const sct_chain *const a = &points[0].longest, *const b = &last->longest;
  out->longest = (sct_chain){along(a->cycles, b->cycles, by), along(a->loads, b->loads, by),
                             along(a->near, b->near, by)};
  for (int k = 0; k < POINTS; k++) { /* what the ends are off counts in the rise too */
    out->all.error = fmax(out->all.error, points[k].all.error * 5.0 / 3.0);
    out->all.excess_error = fmax(out->all.excess_error, points[k].all.excess_error * 5.0 / 3.0);
  }
  out->all.error = fmax(out->all.error + error, LEAST_ERROR);
  out->all.excess_error += excess_error;
}

/* Counts at the points of a period. */
static sct_status count_points(const fit *f, launch_sums points[POINTS], const int64_t *extent,
                               int d, int64_t period, sct_error *err) {
  bool too_long = false;
  sct_status status = SCT_OK;
  for (int k = POINTS - 1; k >= 0 && status == SCT_OK; k--) { /* the longest first */
    status = count_at(f, &points[k], extent, d, extent[d] % period + at_periods[k] * period,
                      &too_long, err);
  }
  for (int k = 0; k < POINTS && status != SCT_OK; k++) {
    free_sums(&points[k]);
  }
  return status;
}

/* The longest period, of `base` elements times a power of four, whose points are short enough; 0:
 * none. */
static int64_t longest_period(const fit *f, const int64_t *extent, int d, int64_t base) {
  int64_t found = 0;
  for (int64_t p = base; extent[d] / p > at_periods[POINTS - 1];) {
    launch_sums sums = {0};
    bool too_long = false;
    if (!grid_follows(f, extent, d, p)) {
      p *= 4;
      continue;
    }
    if (count_at(f, &sums, extent, d, extent[d] % p + at_periods[POINTS - 1] * p, &too_long,
                 NULL) != SCT_OK) {
      break;
    }
    found = p;
    double steps = sums.all.figures[SCT_FIGURE_STEPS] / (double)sums.n_blocks; /* of a block */
    free_sums(&sums);
    for (; 4.0 * steps <= SHORT_STEPS && extent[d] / (4 * p) > at_periods[POINTS - 1];
         steps *= 4.0) {
      p *= 4;
    }
    if (p == found) {
      break;
    }
  }
  return found;
}

static int64_t greatest_divisor(int64_t a, int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

/* SCT_ESPEC: not along d. */
static sct_status fit_along(const fit *f, launch_sums *out, const int64_t *extent, int d,
                            sct_error *err) {
  const int64_t tile = elements_of_grid(f, extent, d);
  const int64_t twos = tile & -tile; /* a power of two, as LEAST_PERIOD is */
  const int64_t base = tile == 0              ? LEAST_PERIOD
                       : twos >= LEAST_PERIOD ? tile
                                              : tile * (LEAST_PERIOD / twos);
  /* along what the grid does not cover a block's threads may go side by side */
  const int64_t threads = f->kernel->code->threads;
  const int64_t wide = tile == 0 ? base * (threads / greatest_divisor(base, threads)) : base;
  const int64_t in_turns = longest_period(f, extent, d, wide);
  const int64_t first = in_turns > 0 ? in_turns : longest_period(f, extent, d, base);
  const int64_t periods[] = {first, 4 * first,
                             first > 0 ? longest_period(f, extent, d, base * ODD_PERIOD) : 0};
  sct_status status = sct_fail(err, SCT_ESPEC, "a block has too much to do");
  bool straight = false;
  for (int k = 0; k < SCT_COUNT(periods) && !straight; k++) {
    launch_sums points[POINTS] = {0}, fitted;
    const int64_t p = periods[k];
    if (p == 0 || extent[d] / p <= at_periods[POINTS - 1] || !grid_follows(f, extent, d, p) ||
        count_points(f, points, extent, d, p, NULL) != SCT_OK) {
      continue;
    }
    straight = is_straight(points);
    extrapolate(&fitted, points, extent[d] / p);
    if (d + 1 == f->spec->n_dims && p < UNROLLED * f->kernel->code->threads) {
      /* threads run along the last dimension as a rule: all points may lie within one period */
      fitted.all.error = fmax(fitted.all.error, WITHIN_PERIOD);
      fitted.all.excess_error = fmax(fitted.all.excess_error, WITHIN_PERIOD);
    }
    for (int at = 0; at < POINTS; at++) {
      free_sums(&points[at]);
    }
    const bool better = status != SCT_OK || fitted.all.error < out->all.error;
    if (status == SCT_OK) {
      free_sums(better ? out : &fitted);
    }
    *out = better ? fitted : *out;
    status = SCT_OK;
  }
  return status;
}

static sct_status fit_dims(const fit *f, launch_sums *out, sct_error *err) {
  int order[SCT_MAX_EXTENTS];
  const int n = f->spec->n_dims;
  for (int d = 0; d < n; d++) { /* the longest first */
    int k = d;
    for (; k > 0 && f->size->extent[order[k - 1]] < f->size->extent[d]; k--) {
      order[k] = order[k - 1];
    }
    order[k] = d;
  }
  sct_status status = sct_fail(err, SCT_ESPEC, "a block has too much to do");
  for (int k = 0; k < n && status != SCT_OK; k++) {
    status = fit_along(f, out, f->size->extent, order[k], err);
  }
  return status;
}

sct_status sct_fit_count(sct_block_counter *s, sct_launch_sums *out, const sct_spec *spec,
                         const sct_counted_kernel *kernel, const sct_size *size,
                         int64_t most_blocks, int64_t most_steps, sct_error *err) {
  fit f = {s, spec, kernel, size, most_blocks, most_steps, false};
  sct_status status = fit_dims(&f, out, err);
  if (status != SCT_OK) { /* along one and, in each of its points, along another */
    f.nested = true;
    status = fit_dims(&f, out, err);
  }
  if (status == SCT_OK && (kernel->code->indexed || sct_spec_is_ragged(spec))) {
    out->all.error = fmax(out->all.error, BY_CONTENTS);
  }
  SCT_THEN(sct_expr_eval(spec->pool, kernel->code->grid,
                         &(sct_expr_env){spec->extent_var, size->extent, spec->n_extents},
                         &out->n_blocks, err));
  out->n_blocks *= kernel->code->passes > 0 ? kernel->code->passes : 1;
  return status;
}
