/* Choosing among candidates of one size: the fastest coalesced one; ties broken by counts, so that
 * two runs agree. */
#include "tune/tune.h"

#include <string.h>

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

/* Rows that cannot be told from `best` are tied; the winner is the first of them by counts. */
static int break_ties(sct_rank_row *rows, int n, int best, bool any, sct_choice *choice) {
  int winner = best;
  for (int r = 0; r < n; r++) {
    rows[r].tied = competes(&rows[r], any) && rows[r].timed &&
                   (r == best || sct_stats_compare(&rows[best].timing, &rows[r].timing) == 0);
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
  if (choice.fastest >= 0 && !rows[choice.fastest].tied && choice.fastest != best &&
      sct_stats_compare(&rows[choice.fastest].timing, &rows[best].timing) < 0) {
    choice.faster_ratio =
        rows[choice.winner].timing.median_ns / rows[choice.fastest].timing.median_ns;
  }
  return choice;
}
