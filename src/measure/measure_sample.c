/* Strata of a grid whose blocks are alike but for chance, the blocks of each that run, and the
 * weights by which they stand for all. */
#include "measure_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS        0 /* figures of a block */
#define DECIDING     1
#define EXCESS       2
#define MOST_STRATA  81 /* 3 for each of SCT_MAX_TILES modes */
#define MOST_RUN     256
#define FIRST_RUN    4 /* of the largest stratum, before it is known how much its blocks differ */
#define ENOUGH       0.005  /* a relative error that no more blocks are run for */
#define LEAST_ERROR  5e-4   /* of whatever is a sample */
#define LEAST_RANDOM 2.5e-3 /* the same where blocks have random work */
#define UNKNOWN      0.3    /* where one or two blocks of different work have to do */
#define CAUTION      1.25   /* few blocks seldom have what is rare */
#define UNSEEN       0.15   /* by the blocks that ran: of rows that end anywhere in a block */
#define FEW_CHANGES  2      /* of the steps, along a grid of which nothing is known */
#define UNIFORM_PART 0.5 /* of the chance to be chosen, where work decides about the other part */

/* A box of tiles, of which each step-th along the first mode belongs to it. Its size may be less
 * than the box, as blocks that hold the end of a row are in a stratum of their own. */
typedef struct stratum {
  int64_t first[SCT_MAX_TILES], n[SCT_MAX_TILES], size, step;
  bool row_ends; /* of all blocks those that hold the end of a row, which no other stratum has then
                  */
  int64_t n_run;
  double mean, variance; /* of the deciding figure */
} stratum;

typedef struct sample {
  int64_t block;
  int stratum;
  double work;   /* its share of all */
  double weight; /* blocks that it stands for */
} sample;

typedef struct sampler {
  const sct_grid *grid;
  int n_modes;
  stratum strata[MOST_STRATA];
  int n_strata, n_split;    /* the first n_split are one, but for their phases */
  sample samples[MOST_RUN]; /* with their figures, [n][n_figures] */
  int64_t n;
  double *figures;
  double steps;
  double spread, freedom;   /* of blocks of a stratum, the variance relative to the mean's square */
  int of;                   /* which figure strata are summarised by */
  double slack[EXCESS + 1]; /* of a figure: what might be off altogether, beyond chance */
} sampler;

static double figure(const sampler *s, int64_t at, int k) {
  return s->figures[at * s->grid->n_figures + k];
}

static int last_figure(const sampler *s) {
  return s->grid->n_figures > EXCESS ? EXCESS : DECIDING;
}

static bool is_sampled(const sampler *s, int64_t block, const sample *more, int64_t n_more) {
  for (int64_t k = 0; k < s->n + n_more; k++) {
    if ((k < s->n ? s->samples[k].block : more[k - s->n].block) == block) {
      return true;
    }
  }
  return false;
}

/* Those that no steps are left for are not added. */
static sct_status run(sampler *s, const sample *more, int64_t n, sct_error *err) {
  const int n_figures = s->grid->n_figures;
  int64_t blocks[MOST_RUN], n_run = 0;
  n = n < MOST_RUN - s->n ? n : MOST_RUN - s->n;
  for (int64_t k = 0; k < n; k++) {
    blocks[k] = more[k].block;
  }
  if (n == 0) {
    return SCT_OK;
  }
  s->figures = sct_realloc(s->figures, sizeof *s->figures * (size_t)n_figures * (size_t)(s->n + n));
  SCT_TRY(s->grid->run(s->grid->ctx, s->figures + s->n * n_figures, &n_run, blocks, n,
                       s->grid->most_steps - (int64_t)s->steps, err));
  for (int64_t k = 0; k < n_run; k++) {
    s->samples[s->n] = more[k];
    s->steps += figure(s, s->n++, STEPS);
  }
  return SCT_OK;
}

static bool may_run_more(const sampler *s) {
  return s->steps < (double)s->grid->most_steps && s->n < MOST_RUN;
}

/* ---- strata by tiles */

static int64_t tiles_of(const sampler *s, int d) {
  return s->grid->n_tiles > 0 ? s->grid->tiles[d] : s->grid->n_blocks;
}

static int by_size(const void *a, const void *b) {
  const int64_t x = ((const stratum *)a)->size, y = ((const stratum *)b)->size;
  return (x < y) - (x > y);
}

/* Blocks of rows: where a row begins in a sector repeats after so many blocks, and one of each
 * tells for all. */
static void split_by_phase(sampler *s) {
  const int phases = s->grid->n_phases;
  const stratum whole = s->strata[0];
  s->n_strata--;
  memmove(&s->strata[phases], &s->strata[1], sizeof whole * (size_t)s->n_strata);
  for (int k = 0; k < phases; k++) {
    stratum *const t = &s->strata[k];
    *t = whole;
    t->first[0] += k;
    t->step = phases;
    t->n[0] = (whole.n[0] - k + phases - 1) / phases;
    t->size = (t->n[0] * whole.size + whole.n[0] / 2) / whole.n[0];
  }
  s->n_strata += phases;
  s->n_split = phases;
}

/* Undoes it, where no steps were left for a block of each. */
static void join_phases(sampler *s) {
  stratum *const whole = &s->strata[0];
  for (int k = 1; k < s->n_split; k++) {
    whole->size += s->strata[k].size;
  }
  whole->n[0] = s->grid->n_blocks - 2;
  whole->step = 1;
  s->n_strata -= s->n_split - 1;
  memmove(&s->strata[1], &s->strata[s->n_split], sizeof *whole * (size_t)(s->n_strata - 1));
  for (int64_t k = 0; k < s->n; k++) {
    const int of = s->samples[k].stratum;
    s->samples[k].stratum = of < s->n_split ? 0 : of - s->n_split + 1;
  }
  s->n_split = 0;
}

static bool holds_row_end(const sct_grid *grid, int64_t block) {
  return grid->row > 0 &&
         block * grid->tile / grid->row != ((block + 1) * grid->tile - 1) / grid->row;
}

/* Makes a stratum of the blocks between the first and the last that hold the end of a row. */
static void split_row_ends(sampler *s) {
  const int64_t tile = s->grid->tile, row = s->grid->row;
  const int64_t ends = ((s->grid->n_blocks - 1) * tile - 1) / row;
  int64_t period = tile, rest = row % tile; /* rows after which one ends with a block */
  while (rest != 0) {
    const int64_t next = period % rest;
    period = rest;
    rest = next;
  }
  period = tile / period;
  const stratum t = {.n = {ends}, .size = ends - ends / period, .step = 1, .row_ends = true};
  if (t.size > 0 && t.size < s->strata[0].size) {
    s->strata[0].size -= t.size;
    s->strata[s->n_strata++] = t;
  }
}

/* The first tile of each mode, the last, and those between. */
static void make_strata(sampler *s) {
  s->strata[0] = (stratum){.size = 1, .step = 1};
  s->n_strata = 1;
  for (int d = 0; d < s->n_modes; d++) {
    const int64_t tiles = tiles_of(s, d), first[] = {0, tiles - 1, 1}, n[] = {1, 1, tiles - 2};
    const int before = s->n_strata, parts = tiles > 2 ? 3 : (int)tiles;
    for (int k = parts * before - 1; k >= 0; k--) {
      stratum *const t = &s->strata[k];
      *t = s->strata[k % before];
      t->first[d] = first[k / before];
      t->n[d] = n[k / before];
      t->size *= n[k / before];
    }
    s->n_strata = parts * before;
  }
  qsort(s->strata, (size_t)s->n_strata, sizeof *s->strata, by_size);
  if (s->n_modes == 1 && s->grid->row > s->grid->tile && s->grid->n_blocks > 2) {
    split_row_ends(s);
  }
  if (s->n_modes == 1 && s->strata[0].size >= 2 * s->grid->n_phases) {
    split_by_phase(s);
  }
}

static int64_t block_in(const sampler *s, const stratum *t, int64_t at) {
  int64_t block = t->row_ends ? (at + 1) * s->grid->row / s->grid->tile : 0, step = 1;
  for (int d = 0; d < s->n_modes && !t->row_ends; d++) {
    block += (t->first[d] + at % t->n[d] * (d == 0 ? t->step : 1)) * step;
    at /= t->n[d];
    step *= tiles_of(s, d);
  }
  return block;
}

static int64_t box_of(const sampler *s, const stratum *t) {
  int64_t box = 1;
  for (int d = 0; d < s->n_modes; d++) {
    box *= t->n[d];
  }
  return box;
}

/* Adds a block of a stratum, the one at this place or the next, to a list, unless it is there. */
static int64_t choose_at(const sampler *s, sample *list, int64_t n_list, int of, int64_t at) {
  const stratum *const t = &s->strata[of];
  const int64_t box = box_of(s, t);
  const bool ends = s->n_modes == 1 && t->size < box;
  int64_t block = block_in(s, t, at);
  while (ends && holds_row_end(s->grid, block) != t->row_ends && ++at < box) {
    block = block_in(s, t, at);
  }
  if (s->n + n_list < MOST_RUN && !is_sampled(s, block, list, n_list)) {
    list[n_list++] = (sample){.block = block, .stratum = of};
  }
  return n_list;
}

/* Adds n of a stratum, at random places of equal parts of it. */
static int64_t choose(const sampler *s, sample *list, int64_t n_list, int of, int64_t n) {
  const int64_t size = box_of(s, &s->strata[of]), parts = n < size ? n : size;
  for (int64_t k = 0; k < parts; k++) {
    const uint64_t any = sct_mix64((uint64_t)(s->n + of), (uint64_t)k);
    n_list = choose_at(s, list, n_list, of,
                       k * (size / parts) + (int64_t)(any % (uint64_t)(size / parts)));
  }
  return n_list;
}

/* A block of each stratum, the largest first, and some more of the largest. Of those that are one
 * but for their phases the first and the last block are among them. */
static int64_t choose_first(const sampler *s, sample *list) {
  const int last = s->n_split > 0 ? s->n_split - 1 : 0;
  int64_t n = choose_at(s, list, 0, 0, 0);
  n = choose_at(s, list, n, last, box_of(s, &s->strata[last]) - 1);
  for (int h = 0; h < s->n_strata && n < s->grid->most_blocks; h++) {
    if (s->n_split == 0 || (h != 0 && h != last)) {
      n = choose(s, list, n, h, h == 0 ? FIRST_RUN - 2 : s->strata[h].row_ends ? 2 : 1);
    }
  }
  return n;
}

/* How much blocks differ from others of their stratum; if one of each ran, from others of strata
 * that are as large. */
static void set_spread(sampler *s) {
  double within = 0, freedom = 0, mean = 0, between = 0, n = 0;
  for (int h = 0; h < s->n_strata; h++) {
    const stratum *const t = &s->strata[h];
    if (t->n_run > 1 && t->mean > 0) {
      within += (double)(t->n_run - 1) * t->variance / (t->mean * t->mean);
      freedom += (double)(t->n_run - 1);
    }
    if (t->n_run > 0 && 2 * t->size >= s->strata[0].size) {
      const double off = t->mean - mean;
      mean += off / ++n;
      between += off * (t->mean - mean);
    }
  }
  /* phases explain all or, as far as one can tell, nothing */
  const double any = n > 1 && mean > 0 ? between / (n - 1) / (mean * mean) : 0;
  const double own = freedom > 0 ? within / freedom : any;
  s->spread = s->n_split > 0 && own > 0 ? fmax(own, any) : own;
  s->freedom = freedom > 0 ? freedom : n - 1;
}

/* What blocks of each stratum have in common of a figure, and by how much they differ. */
static void summarise(sampler *s, int of) {
  s->of = of;
  for (int h = 0; h < s->n_strata; h++) {
    stratum *const t = &s->strata[h];
    t->n_run = 0;
    t->mean = t->variance = 0;
    for (int64_t k = 0; k < s->n; k++) {
      if (s->samples[k].stratum == h) {
        const double c = figure(s, k, of), off = c - t->mean;
        t->n_run++;
        t->mean += off / (double)t->n_run;
        t->variance += off * (c - t->mean);
      }
    }
    t->variance /= t->n_run > 1 ? (double)(t->n_run - 1) : 1.0;
  }
  set_spread(s);
}

/* Variance of what a stratum comes to. Where one block ran, or of each phase a few, how much those
 * of all strata differ, each relative to its own mean, stands for how much others of it do. */
static double variance_of(const sampler *s, const stratum *t) {
  const double n = (double)t->n_run, size = (double)t->size;
  const bool own = t->n_run > 1 && t - s->strata >= s->n_split;
  const double each = own ? t->variance : s->spread * t->mean * t->mean;
  return t->n_run > 0 ? size * size * (1.0 - n / size) * each / n : 0;
}

/* 95 % of Student's t, about. */
static double quantile(double freedom) {
  return freedom < 1 ? 12.7 : 1.96 + 2.7 / freedom + (freedom < 2 ? 8.0 : freedom < 3 ? 1.0 : 0.2);
}

static double strata_total(const sampler *s) {
  double total = 0;
  for (int h = 0; h < s->n_strata; h++) {
    total += s->strata[h].mean * (double)s->strata[h].size;
  }
  return total;
}

/* How far off what the strata come to may be. */
static double strata_off(const sampler *s) {
  double variance = 0;
  for (int h = 0; h < s->n_strata; h++) {
    variance += variance_of(s, &s->strata[h]);
  }
  return quantile(s->freedom) * sqrt(variance) + s->slack[s->of];
}

/* The part of the launch of which no block that ran tells. */
static double unseen_part(const sampler *s) {
  double known = 0;
  for (int h = 0; h < s->n_strata; h++) {
    known += s->strata[h].n_run > 0 ? (double)s->strata[h].size : 0;
  }
  const double unknown = ((double)s->grid->n_blocks - known) / (double)s->grid->n_blocks;
  return unknown + (s->grid->row > 0 ? UNSEEN / fmax((double)s->n, 1.0) : 0);
}

static double strata_error(const sampler *s) {
  const double total = strata_total(s);
  return (total > 0 ? strata_off(s) / total : 0) + unseen_part(s);
}

/* As many again of the strata that the error comes from. */
static int64_t choose_more(const sampler *s, sample list[MOST_RUN]) {
  double most = 0;
  int64_t n = 0;
  for (int h = 0; h < s->n_strata; h++) {
    most = fmax(most, variance_of(s, &s->strata[h]));
  }
  for (int h = 0; h < s->n_strata; h++) {
    const stratum *const t = &s->strata[h];
    if (t->n_run < t->size && (h < s->n_split || 2 * variance_of(s, t) >= most)) {
      n = choose(s, list, n, h, t->n_run > 0 ? t->n_run : 1);
    }
  }
  return n;
}

/* ---- a grid's first blocks do more than the others */

static int by_block(const void *a, const void *b) {
  const sample *const x = *(const sample *const *)a, *const y = *(const sample *const *)b;
  return (x->block > y->block) - (x->block < y->block);
}

/* The samples in the order of their blocks. */
static void in_order(const sampler *s, const sample *out[MOST_RUN]) {
  for (int64_t k = 0; k < s->n; k++) {
    out[k] = &s->samples[k];
  }
  qsort(out, (size_t)s->n, sizeof *out, by_block);
}

static double steps_of(const sampler *s, const sample *of) {
  return figure(s, of - s->samples, STEPS);
}

/* Neighbours among the samples that do different work with others between them; *at is the pair
 * that is furthest apart. */
static int open_changes(const sampler *s, const sample *const *order, int64_t *at) {
  int n = 0;
  for (int64_t k = 1; k < s->n; k++) {
    const int64_t gap = order[k]->block - order[k - 1]->block;
    if (gap > 1 && steps_of(s, order[k]) != steps_of(s, order[k - 1])) {
      *at = n == 0 || gap > order[*at]->block - order[*at - 1]->block ? k : *at;
      n++;
    }
  }
  return n;
}

/* Neighbours in the grid must agree in all that decides. */
static bool are_alike(const sampler *s, const sample *a, const sample *b) {
  return steps_of(s, a) == steps_of(s, b) &&
         (a->block + 1 < b->block ||
          figure(s, a - s->samples, DECIDING) == figure(s, b - s->samples, DECIDING));
}

static bool is_monotone(const sampler *s, const sample *const *order) {
  bool up = true, down = true;
  for (int64_t k = 2; k + 1 < s->n; k++) { /* the ends may be unlike all others */
    const double rise = steps_of(s, order[k]) - steps_of(s, order[k - 1]);
    up = up && rise >= 0;
    down = down && rise <= 0;
  }
  return up || down;
}

/* Strata between the places where steps change. */
static void cut_at_changes(sampler *s, const sample *const *order) {
  s->n_strata = 0;
  for (int64_t k = 0; k < s->n && s->n_strata < MOST_STRATA; k++) {
    const bool same = k > 0 && are_alike(s, order[k - 1], order[k]);
    const int64_t end = k + 1 < s->n ? order[k + 1]->block : s->grid->n_blocks;
    for (int f = DECIDING; f <= last_figure(s) && !same && k > 0; f++) {
      s->slack[f] +=
          (double)(order[k]->block - order[k - 1]->block - 1) *
          fabs(figure(s, order[k] - s->samples, f) - figure(s, order[k - 1] - s->samples, f));
    }
    if (!same) {
      s->strata[s->n_strata++] = (stratum){.first = {order[k]->block}, .step = 1};
    }
    stratum *const t = &s->strata[s->n_strata - 1];
    t->n[0] = t->size = end - t->first[0];
    s->samples[order[k] - s->samples].stratum = s->n_strata - 1;
  }
}

/* Looks for the blocks at which the steps of a grid change, as in loops over gridDim. */
static sct_status find_changes(sampler *s, sct_error *err) {
  const sample *order[MOST_RUN];
  int64_t at = 0;
  in_order(s, order);
  int n = open_changes(s, order, &at);
  const bool few = n > 0 && n <= FEW_CHANGES && is_monotone(s, order);
  while (few && n > 0 && n <= 2 * FEW_CHANGES && may_run_more(s)) {
    const sample middle = {.block = order[at - 1]->block +
                                    (order[at]->block - order[at - 1]->block) / 2};
    SCT_TRY(run(s, &middle, 1, err));
    in_order(s, order);
    n = open_changes(s, order, &at);
  }
  if (few && n <= FEW_CHANGES) {
    cut_at_changes(s, order);
    s->n_split = 0;
  }
  return SCT_OK;
}

/* ---- by tiles */

static void set_weights(sampler *s) {
  double known = 0;
  for (int h = 0; h < s->n_strata; h++) {
    known += s->strata[h].n_run > 0 ? (double)s->strata[h].size : 0;
  }
  for (int64_t k = 0; k < s->n; k++) {
    const stratum *const t = &s->strata[s->samples[k].stratum];
    s->samples[k].weight =
        (double)t->size / (double)t->n_run * (double)s->grid->n_blocks / fmax(known, 1.0);
  }
}

static bool lacks_a_phase(const sampler *s) {
  bool lacks = false;
  for (int h = 0; h < s->n_split; h++) {
    lacks = lacks || s->strata[h].n_run == 0;
  }
  return lacks;
}

static sct_status sample_tiles(sampler *s, sct_error *err) {
  sample list[MOST_RUN];
  make_strata(s);
  int64_t n = choose_first(s, list), before = 0;
  SCT_TRY(run(s, list, n, err));
  summarise(s, DECIDING);
  if (lacks_a_phase(s)) {
    join_phases(s);
    summarise(s, DECIDING);
  }
  const int64_t most = s->n_split > 0 ? 2 * s->n_split + 2 : s->grid->most_blocks;
  while (s->n > before && s->n < most && may_run_more(s) && strata_error(s) > ENOUGH) {
    before = s->n;
    n = choose_more(s, list);
    SCT_TRY(run(s, list, n, err));
    summarise(s, DECIDING);
  }
  if (s->n_modes == 1) {
    SCT_TRY(find_changes(s, err));
    summarise(s, DECIDING);
  }
  set_weights(s);
  return SCT_OK;
}

/* ---- by work */

/* The share of the chances to be chosen that the blocks before this one have. */
static double chances_before(const sampler *s, int64_t block) {
  const double place = (double)block / (double)s->grid->n_blocks;
  return UNIFORM_PART * place + (1.0 - UNIFORM_PART) * s->grid->work_before(s->grid->ctx, block);
}

static int by_work(const void *a, const void *b) {
  const double x = ((const sample *)a)->work, y = ((const sample *)b)->work;
  return (x > y) - (x < y);
}

/* A block at random in each of equal parts of the chances, those with the least work first. At even
 * distances blocks of rows of one length would always or never have the only work of their part. */
static int64_t choose_by_work(const sampler *s, sample list[MOST_RUN]) {
  const int64_t n = s->grid->most_blocks < MOST_RUN ? s->grid->most_blocks : MOST_RUN;
  int64_t found = 0, first = 0;
  for (int64_t k = 0; k < n; k++) {
    const double any = (double)(sct_mix64(0, (uint64_t)k) >> 11) * 0x1p-53;
    const double wanted = ((double)k + any) / (double)n;
    int64_t end = s->grid->n_blocks;
    while (end - first > 1) { /* chances_before(first) <= wanted < chances_before(end) */
      const int64_t middle = first + (end - first) / 2;
      if (chances_before(s, middle) <= wanted) {
        first = middle;
      } else {
        end = middle;
      }
    }
    if (found == 0 || list[found - 1].block != first) {
      const double chance = (double)n * (chances_before(s, first + 1) - chances_before(s, first));
      list[found++] = (sample){.block = first,
                               .work = s->grid->work_before(s->grid->ctx, first + 1) -
                                       s->grid->work_before(s->grid->ctx, first),
                               .weight = chance < 1.0 ? 1.0 / chance : 1.0};
    }
  }
  qsort(list, (size_t)found, sizeof *list, by_work);
  return found;
}

/* Sums of weights times powers of the work: of 1, of it, and of its square. */
static void moments(const sampler *s, double out[3]) {
  out[0] = out[1] = out[2] = 0;
  for (int64_t k = 0; k < s->n; k++) {
    const sample *const of = &s->samples[k];
    out[0] += of->weight;
    out[1] += of->weight * of->work;
    out[2] += of->weight * of->work * of->work;
  }
}

/* Do blocks have different work? */
static bool differ(const double m[3]) {
  return m[0] * m[2] - m[1] * m[1] > 1e-9 * m[0] * m[2];
}

/* How far off the sum of a figure may be by chance: how far blocks are from a constant and a
 * multiple of their work, the best one. */
static double work_off(const sampler *s, const double m[3], int of) {
  const double det = m[0] * m[2] - m[1] * m[1], freedom = (double)s->n - 2.0;
  double sums[2] = {0, 0}, variance = 0;
  for (int64_t k = 0; k < s->n; k++) {
    const double c = s->samples[k].weight * figure(s, k, of);
    sums[0] += c;
    sums[1] += c * s->samples[k].work;
  }
  const double slope = differ(m) ? (m[0] * sums[1] - m[1] * sums[0]) / det : 0;
  const double constant = (sums[0] - slope * m[1]) / m[0];
  for (int64_t k = 0; k < s->n; k++) {
    const sample *const at = &s->samples[k];
    const double off = figure(s, k, of) - (constant + slope * at->work);
    variance += at->weight * (at->weight - 1.0) * off * off;
  }
  return quantile(freedom) * sqrt(variance * (double)s->n / fmax(freedom, 1.0));
}

/* Weights that give the number of all blocks and all of the work. A figure that is a constant and a
 * multiple of the work is then exact. Returns the sum of the deciding figure. */
static double calibrate(sampler *s, const double m[3]) {
  const double blocks = (double)s->grid->n_blocks, det = m[0] * m[2] - m[1] * m[1];
  const double more = blocks - m[0], more_work = 1.0 - m[1];
  const double a = differ(m) ? (m[2] * more - m[1] * more_work) / det : more / m[0];
  const double b = differ(m) ? (m[0] * more_work - m[1] * more) / det : 0;
  double total = 0;
  for (int64_t k = 0; k < s->n; k++) {
    sample *const of = &s->samples[k];
    of->weight *= 1.0 + a + b * of->work;
    total += of->weight * figure(s, k, DECIDING);
  }
  return total;
}

/* The largest part of a block's sectors that is excess, of the blocks with most work. */
static double most_excess(const sampler *s) {
  double most = 0;
  for (int64_t k = s->n * 3 / 4; k < s->n && last_figure(s) == EXCESS; k++) {
    most = fmax(most, figure(s, k, EXCESS) / fmax(figure(s, k, DECIDING), 1.0));
  }
  return fmin(most, 1.0);
}

/* errors[2]: of the deciding figure and of the excess. Blocks for which no steps were left are
 * those with most work, and may have any number of sectors; a part of these is excess as in the
 * blocks with most work that ran. */
static sct_status sample_work(sampler *s, double *errors, sct_error *err) {
  sample list[MOST_RUN];
  double left = 0, m[3];
  const int64_t n = choose_by_work(s, list);
  SCT_TRY(run(s, list, n, err));
  for (int64_t k = s->n; k < n; k++) {
    left += list[k].weight * list[k].work;
  }
  moments(s, m);
  for (int f = DECIDING; f <= last_figure(s); f++) {
    errors[f - DECIDING] = work_off(s, m, f);
  }
  const double total = calibrate(s, m);
  for (int k = 0; k < 2; k++) {
    errors[k] = (s->n > 2 ? errors[k] / fmax(total, 1.0) : UNKNOWN) +
                left * (k == 0 ? 1.0 : most_excess(s));
  }
  return SCT_OK;
}

/* ---- the whole */

static sct_status run_all(sampler *s, sct_error *err) {
  sample list[MOST_RUN];
  for (int64_t k = 0; k < s->grid->n_blocks; k++) {
    list[k] = (sample){.block = k, .weight = 1.0};
  }
  return run(s, list, s->grid->n_blocks, err);
}

static sct_status run_some(sampler *s, double *errors, sct_error *err) {
  if (s->grid->work_before != NULL) {
    return sample_work(s, errors, err);
  }
  SCT_TRY(sample_tiles(s, err));
  const double total = strata_total(s);
  errors[0] = strata_error(s);
  summarise(s, last_figure(s));
  errors[1] = (total > 0 ? strata_off(s) / total : 0) + unseen_part(s);
  return SCT_OK;
}

sct_status sct_grid_sample(sct_grid_sums *out, const sct_grid *grid, sct_error *err) {
  SCT_OWNED sampler *s = sct_alloc(sizeof *s);
  double errors[2] = {0, 0};
  s->grid = grid;
  s->n_modes = grid->n_tiles > 1 ? grid->n_tiles : 1;
  sct_status status = SCT_OK;
  if (grid->n_blocks <= grid->most_blocks && grid->n_blocks <= MOST_RUN) {
    SCT_TRY_DONE(run_all(s, err));
  }
  if (s->n < grid->n_blocks) {
    s->n = 0;
    SCT_TRY_DONE(run_some(s, errors, err));
  }
  const bool some = s->n < grid->n_blocks;
  const double least = grid->work_before != NULL ? LEAST_RANDOM : LEAST_ERROR;
  *out = (sct_grid_sums){.figures = sct_alloc(sizeof *out->figures * (size_t)grid->n_figures + 1),
                         .error = some ? fmax(CAUTION * errors[0], least) : 0,
                         .excess_error = some ? CAUTION * errors[1] : 0,
                         .blocks_run = s->n};
  for (int64_t k = 0; k < s->n; k++) {
    for (int f = 0; f < grid->n_figures; f++) {
      out->figures[f] += s->samples[k].weight * figure(s, k, f);
    }
  }
done:
  sct_free(s->figures);
  return status;
}
