/* Choosing among candidates of one size: the fastest coalesced one; ties broken by counts, so that
 * two runs agree. */
#include "tune/tune.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Bounds of what may count as noise. From session to session a candidate's median moves by 0.2 to
 * 0.3 % (standard deviation, on an H200), however narrow the interval within one. So two that are
 * less than the first apart are as good as each other, and the counts choose; two that are less
 * than the second apart may come out the other way round in another session, which is a tie.
 * Above the third, a reader would call one candidate faster, however wide its samples scatter. */
#define LEAST_NOISE SCT_LEAST_NOISE
#define TIE_NOISE   0.01
#define MOST_NOISE  SCT_MOST_NOISE

/* Above this an operand's sectors come from the way of access, not from where rows start. */
#define OPERAND_SLACK 1.5
/* An excess below this part of all sectors is hardly seen in the time: of a gather of rows of 100
 * bytes, whose index is asked for with every element, that came to 1/15, and on an H200 it was 7 %
 * faster than the kernel with the fewest sectors. */
#define NEGLIGIBLE (1.0 / 8.0)

/* The least sectors of an operand in any kernel that goes through its elements once, tried or not,
 * so that what is coalesced does not depend on how much of the space a session reached. */
static double least_sectors(const sct_rank_row *rows, int n, int op) {
  double least = INFINITY;
  for (int r = 0; r < n; r++) {
    if (rows[r].passes <= 1 && rows[r].operand_sectors) {
      least = fmin(least, (double)rows[r].operand_sectors[op]);
    }
  }
  return least;
}

/* A kernel that goes through its elements several times moves their sectors as often: it is held
 * against that many times what the others need, and is no measure for them. */
static void mark_coalesced(sct_rank_row *rows, int n, int n_operands) {
  double once[SCT_MAX_OPERANDS]; /* the least sectors of each operand */
  double all = 0.0;
  assert(n_operands <= SCT_MAX_OPERANDS);
  for (int op = 0; op < n_operands; op++) {
    once[op] = least_sectors(rows, n, op);
    all += once[op];
  }
  for (int r = 0; r < n; r++) {
    const double passes = rows[r].passes > 1 ? rows[r].passes : 1;
    double sum = 0.0;
    rows[r].coalesced = rows[r].eligible && rows[r].operand_sectors != NULL && !rows[r].uncoalesced;
    for (int op = 0; op < n_operands && rows[r].coalesced; op++) {
      const double least = passes * once[op];
      const double mine = (double)rows[r].operand_sectors[op];
      sum += mine;
      rows[r].coalesced =
          mine <= OPERAND_SLACK * least || mine - least <= NEGLIGIBLE * passes * all;
    }
    rows[r].coalesced = rows[r].coalesced && sum <= SCT_COALESCED_SLACK * passes * all;
  }
}

/* What breaks ties, in order: exact arithmetic, fewer sectors, shared wavefronts, requests,
 * registers. */
static double key_of(const sct_rank_row *row, int key) {
  const double keys[] = {row->fast ? 1.0 : 0.0, row->sectors, row->wavefronts, row->requests,
                         (double)row->registers};
  return keys[key];
}
#define N_KEYS 5

/* Counts of large problems are scaled from some blocks, so a key decides only beyond this much.
 */
#define COUNT_SLACK 1.02

static int n_marked(const bool *in, int n) {
  int marked = 0;
  for (int r = 0; r < n; r++) {
    marked += in[r];
  }
  return marked;
}

/* Among the rows marked in `in`, keeps those that are best in one key after the other; what is left
 * is decided by the label. Clears `in`. Returns the row, -1 if none was marked; the choice receives
 * how many were, and which key left one of them. */
static int first_by_counts(const sct_rank_row *rows, int n, bool *in, sct_choice *choice) {
  static const char *const rules[N_KEYS] = {"exact arithmetic", "fewer sectors",
                                            "fewer shared wavefronts", "fewer requests",
                                            "fewer registers"};
  choice->n_close = n_marked(in, n);
  choice->rule = NULL;
  for (int key = 0; key < N_KEYS; key++) {
    const int before = n_marked(in, n);
    double least = INFINITY;
    for (int r = 0; r < n; r++) {
      least = in[r] ? fmin(least, key_of(&rows[r], key)) : least;
    }
    for (int r = 0; r < n; r++) {
      in[r] = in[r] && key_of(&rows[r], key) <= fmax(least * COUNT_SLACK, least);
    }
    choice->rule = before > 1 && n_marked(in, n) == 1 ? rules[key] : choice->rule;
  }
  choice->rule = n_marked(in, n) > 1 ? "the label" : choice->rule;
  int best = -1;
  for (int r = 0; r < n; r++) {
    if (in[r] && (best < 0 || strcmp(rows[r].label, rows[best].label) < 0)) {
      best = r;
    }
    in[r] = false;
  }
  return best;
}

static bool competes(const sct_rank_row *row, bool any) {
  return row->eligible && (any || row->coalesced);
}

/* The row with the least median, coalesced or not as asked; -1 if none is timed. */
static int fastest_row(const sct_rank_row *rows, int n, bool any) {
  int best = -1;
  for (int r = 0; r < n; r++) {
    if (competes(&rows[r], any) && rows[r].timed &&
        (best < 0 || rows[r].median_ns < rows[best].median_ns)) {
      best = r;
    }
  }
  return best;
}

/* Is `row` at most `noise` slower than the fastest, or may it, by the 95 % interval of their ratio,
 * be as fast? A row that only had the quick pass is not: if it were that close it would have raced.
 * Of samples that are too few for an interval, as of a hopeless kernel's, the medians decide. */
static bool is_within(double noise, const sct_rank_row *fastest, const sct_rank_row *row) {
  if ((fastest->race != 0) != (row->race != 0)) {
    return false;
  }
  const bool paired = fastest->race != 0 && fastest->race == row->race;
  const sct_comparison c = sct_stats_compare(fastest->samples_ns, fastest->n_samples,
                                             row->samples_ns, row->n_samples, paired);
  if (isinf(c.high)) {
    return row->median_ns <= (1.0 + noise) * fastest->median_ns;
  }
  return c.ratio <= 1.0 + noise || (c.ratio <= 1.0 + MOST_NOISE && c.low <= 1.0);
}

/* The fastest of the naive variants that were timed, -1 if none was; no winner is slower: a result
 * never loses to not tuning. */
static int naive_row(const sct_rank_row *rows, int n) {
  int best = -1;
  for (int r = 0; r < n; r++) {
    if (rows[r].naive && rows[r].eligible && rows[r].timed &&
        (best < 0 || rows[r].median_ns < rows[best].median_ns)) {
      best = r;
    }
  }
  return best;
}

/* Small arrays lie in the cache, where sectors cost little: is the naive variant, coalesced or not,
 * faster than `best` beyond noise? */
static bool naive_wins(const sct_rank_row *rows, int naive, int best) {
  return naive >= 0 && naive != best && !rows[naive].coalesced &&
         rows[naive].median_ns < rows[best].median_ns &&
         !is_within(LEAST_NOISE, &rows[naive], &rows[best]);
}

/* Rows that another session may find ahead of `best` are tied; the winner is the first by counts of
 * those that are as good as it. */
static int break_ties(sct_rank_row *rows, int n, int best, bool any, bool *in, sct_choice *choice) {
  const int naive = naive_row(rows, n);
  const double of_best = rows[best].median_ns;
  const double most = naive < 0 ? INFINITY : fmax(rows[naive].median_ns, of_best);
  for (int r = 0; r < n; r++) {
    rows[r].tied = competes(&rows[r], any) && rows[r].timed &&
                   (r == best || is_within(TIE_NOISE, &rows[best], &rows[r]));
    in[r] = rows[r].tied && rows[r].median_ns <= most &&
            (r == best || is_within(LEAST_NOISE, &rows[best], &rows[r]));
    if (rows[r].tied) {
      choice->n_tied++;
      const double apart = rows[r].median_ns / rows[best].median_ns - 1.0;
      choice->noise = apart > choice->noise ? apart : choice->noise;
    }
  }
  return first_by_counts(rows, n, in, choice);
}

/* Without times: the least predicted, what is as good as that by counts. A row without a prediction
 * (no counts) stands after those that have one. */
static int best_untimed(sct_rank_row *rows, int n, bool any, bool *in, sct_choice *choice) {
  double least = INFINITY;
  for (int r = 0; r < n; r++) {
    const bool predicted = competes(&rows[r], any) && rows[r].predicted_ns > 0;
    least = predicted ? fmin(least, rows[r].predicted_ns) : least;
  }
  for (int r = 0; r < n; r++) {
    in[r] = competes(&rows[r], any) &&
            (isinf(least) ||
             (rows[r].predicted_ns > 0 && rows[r].predicted_ns <= least * SCT_PREDICTED_SLACK));
  }
  const int winner = first_by_counts(rows, n, in, choice);
  for (int r = 0; r < n; r++) {
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
  bool *in = sct_alloc(sizeof *in * (size_t)(n + 1));
  choice.fastest = fastest_row(rows, n, true);
  int best = fastest_row(rows, n, any);
  choice.winner = best < 0 ? best_untimed(rows, n, any, in, &choice)
                           : break_ties(rows, n, best, any, in, &choice);
  sct_free(in);
  const int naive = naive_row(rows, n);
  if (best >= 0 && naive_wins(rows, naive, best)) {
    for (int r = 0; r < n; r++) {
      rows[r].tied = r == naive;
    }
    choice.winner = best = naive;
    choice.n_tied = choice.n_close = 1;
    choice.rule = NULL;
    choice.noise = 0.0;
  }
  if (best < 0) {
    return choice;
  }
  if (choice.fastest >= 0 && choice.fastest != best &&
      !is_within(LEAST_NOISE, &rows[choice.fastest], &rows[best])) {
    const double ratio = rows[choice.winner].median_ns / rows[choice.fastest].median_ns;
    choice.faster_ratio = ratio > 1.0 + LEAST_NOISE ? ratio : 1.0; /* one may not have raced */
  }
  return choice;
}
