/* Choosing among candidates of one size: the fastest coalesced one; ties broken by counts, so that
 * two runs agree. */
#include "tune/tune.h"

#include <math.h>
#include <string.h>

/* Bounds of what may count as noise: below the first, differences are beyond any clock's trust;
 * above the second, a reader would call one candidate faster, however wide its samples scatter. */
#define LEAST_NOISE 0.002
#define MOST_NOISE  0.02

static void mark_coalesced(sct_rank_row *rows, int n, int n_operands) {
  for (int r = 0; r < n; r++) {
    rows[r].coalesced = rows[r].eligible && rows[r].operand_sectors != NULL;
  }
  for (int op = 0; op < n_operands; op++) {
    int64_t least = INT64_MAX;
    for (int r = 0; r < n; r++) {
      if (rows[r].eligible && rows[r].operand_sectors && rows[r].operand_sectors[op] < least) {
        least = rows[r].operand_sectors[op];
      }
    }
    for (int r = 0; r < n; r++) {
      if (rows[r].coalesced &&
          (double)rows[r].operand_sectors[op] > SCT_COALESCED_SLACK * (double)least) {
        rows[r].coalesced = false;
      }
    }
  }
}

static int compare_doubles(double a, double b) {
  return a < b ? -1 : a > b;
}

/* Fewer sectors, wavefronts, requests, registers, then the label. */
static int compare_counts(const sct_rank_row *a, const sct_rank_row *b) {
  const double pairs[][2] = {{a->sectors, b->sectors},
                             {a->wavefronts, b->wavefronts},
                             {a->requests, b->requests},
                             {a->registers, b->registers}};
  for (int k = 0; k < SCT_COUNT(pairs); k++) {
    const int c = compare_doubles(pairs[k][0], pairs[k][1]);
    if (c != 0) {
      return c;
    }
  }
  return strcmp(a->label, b->label);
}

static bool competes(const sct_rank_row *row, bool any) {
  return row->eligible && (any || row->coalesced);
}

/* The row with the least median, coalesced or not as asked; -1 if none is timed. */
static int fastest_row(const sct_rank_row *rows, int n, bool any) {
  int best = -1;
  for (int r = 0; r < n; r++) {
    if (competes(&rows[r], any) && rows[r].timed &&
        (best < 0 || rows[r].timing.median_ns < rows[best].timing.median_ns)) {
      best = r;
    }
  }
  return best;
}

/* Half of the 95 % confidence interval of the median, relative: from order statistics, without
 * assuming a distribution (ranks n/2 +- 0.98 sqrt(n); Conover, Practical Nonparametric
 * Statistics, 3.2). The samples are sorted. */
static double median_noise(const sct_timing *t) {
  const double half = 0.98 * sqrt((double)t->n_samples), middle = 0.5 * (t->n_samples - 1);
  int low = (int)floor(middle - half), high = (int)ceil(middle + half);
  low = low < 0 ? 0 : low;
  high = high > t->n_samples - 1 ? t->n_samples - 1 : high;
  return 0.5 * (t->samples_ns[high] - t->samples_ns[low]) / t->median_ns;
}

/* Is `row` too close to the fastest to tell apart? A row that was only screened cannot tie with one
 * that was measured at length: if it were that close it would have been a finalist. */
static bool is_tied(const sct_rank_row *fastest, const sct_rank_row *row) {
  if (2 * row->timing.n_samples < fastest->timing.n_samples) {
    return false;
  }
  const double noise = fmax(median_noise(&fastest->timing), median_noise(&row->timing));
  const double limit = fmin(fmax(noise, LEAST_NOISE), MOST_NOISE);
  return row->timing.median_ns <= fastest->timing.median_ns * (1.0 + limit);
}

/* Rows that cannot be told from `best` are tied; the winner is the first of them by counts. */
static int break_ties(sct_rank_row *rows, int n, int best, bool any, sct_choice *choice) {
  int winner = best;
  for (int r = 0; r < n; r++) {
    rows[r].tied =
        competes(&rows[r], any) && rows[r].timed && (r == best || is_tied(&rows[best], &rows[r]));
    if (rows[r].tied) {
      choice->n_tied++;
      const double apart = rows[r].timing.median_ns / rows[best].timing.median_ns - 1.0;
      choice->noise = apart > choice->noise ? apart : choice->noise;
      if (compare_counts(&rows[r], &rows[winner]) < 0) {
        winner = r;
      }
    }
  }
  return winner;
}

static int best_by_counts(sct_rank_row *rows, int n, bool any, sct_choice *choice) {
  int winner = -1;
  for (int r = 0; r < n; r++) {
    if (competes(&rows[r], any) && (winner < 0 || compare_counts(&rows[r], &rows[winner]) < 0)) {
      winner = r;
    }
  }
  for (int r = 0; winner >= 0 && r < n; r++) {
    rows[r].tied = r == winner;
  }
  choice->n_tied = winner >= 0;
  return winner;
}

sct_choice sct_tune_choose(sct_rank_row *rows, int n, int n_operands, bool any) {
  sct_choice choice = {.winner = -1, .fastest = -1, .faster_ratio = 1.0};
  mark_coalesced(rows, n, n_operands);
  for (int r = 0; r < n; r++) {
    rows[r].tied = false;
  }
  bool some = false; /* if nothing is coalesced (no counts, say), all compete */
  for (int r = 0; r < n; r++) {
    some |= competes(&rows[r], any);
  }
  any = any || !some;
  choice.fastest = fastest_row(rows, n, true);
  const int best = fastest_row(rows, n, any);
  if (best < 0) {
    choice.winner = best_by_counts(rows, n, any, &choice);
    return choice;
  }
  choice.winner = break_ties(rows, n, best, any, &choice);
  if (choice.fastest >= 0 && choice.fastest != best &&
      !is_tied(&rows[choice.fastest], &rows[best])) {
    choice.faster_ratio =
        rows[choice.winner].timing.median_ns / rows[choice.fastest].timing.median_ns;
  }
  return choice;
}
