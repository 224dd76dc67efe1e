/* Choosing among candidates of one size: the fastest coalesced one; ties broken by counts, so that
 * two runs agree. */
#include "measure/measure.h"

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

/* What breaks ties, in order. */
static const char *const keys[] = {"exact arithmetic", "fewer sectors", "fewer shared wavefronts",
                                   "fewer requests", "fewer registers"};
#define N_KEYS SCT_COUNT(keys)
_Static_assert(N_KEYS + 1 <= 8 * sizeof(unsigned), "the label's bit, too");

/* Negative: unknown. */
static double key_of(const sct_rank_row *row, int key) {
  const sct_row_outcome *o = &row->outcome;
  const double of[N_KEYS] = {row->fast ? 1.0 : 0.0, sct_row_sectors(o), o->wavefronts,
                             sct_row_requests(o), (double)row->registers};
  return of[key];
}

/* Counts are exact, or have an error; but two that are this close cost as much. */
#define COUNT_SLACK 0.02

static double error_of(const sct_rank_row *row) {
  return row->outcome.how.sectors_error > 0 ? row->outcome.how.sectors_error : 0; /* or NaN */
}

/* Is the count of `row` no more than that of `least`, as far as it is known? */
static bool is_least(const sct_rank_row *row, const sct_rank_row *least, int key) {
  const double more = key_of(row, key) - key_of(least, key);
  const double unsure = error_of(row) * key_of(row, key) + error_of(least) * key_of(least, key);
  return more <= fmax(COUNT_SLACK * key_of(least, key), unsure);
}

static int n_marked(const bool *in, int n) {
  int marked = 0;
  for (int r = 0; r < n; r++) {
    marked += in[r];
  }
  return marked;
}

/* The marked row with the least of a key; -1: it is unknown for one of them, so decides nothing. */
static int least_of(const sct_rank_row *rows, int n, const bool *in, int key) {
  int least = -1;
  for (int r = 0; r < n; r++) {
    if (in[r] && key_of(&rows[r], key) < 0.0) {
      return -1;
    }
    least = in[r] && (least < 0 || key_of(&rows[r], key) < key_of(&rows[least], key)) ? r : least;
  }
  return least;
}

/* Among the rows marked in `in`, keeps those that are best in one key after the other; what is left
 * is decided by the label. Clears `in`. Returns the row, -1 if none was marked; the choice receives
 * how many were, and which keys left some of them out. */
static int first_by_counts(const sct_rank_row *rows, int n, bool *in, sct_choice *choice) {
  choice->n_close = n_marked(in, n);
  choice->rules = 0;
  for (int key = 0; key < N_KEYS; key++) {
    const int before = n_marked(in, n), least = least_of(rows, n, in, key);
    for (int r = 0; r < n && least >= 0; r++) {
      in[r] = in[r] && is_least(&rows[r], &rows[least], key);
    }
    choice->rules |= n_marked(in, n) < before ? 1U << key : 0;
  }
  choice->rules |= n_marked(in, n) > 1 ? 1U << N_KEYS : 0;
  int best = -1;
  for (int r = 0; r < n; r++) {
    if (in[r] && (best < 0 || strcmp(rows[r].label, rows[best].label) < 0)) {
      best = r;
    }
    in[r] = false;
  }
  return best;
}

void sct_choice_rules(sct_str *out, const sct_choice *choice) {
  const char *between = "";
  for (int key = 0; key <= N_KEYS; key++) {
    if (choice->rules & 1U << key) {
      sct_str_printf(out, "%s%s", between, key < N_KEYS ? keys[key] : "the label");
      between = ", then ";
    }
  }
}

/* What rows are compared by: times, or predictions where nothing is timed. */
typedef struct contest {
  const sct_rank_row *rows;
  int n;
  bool timed, any;
  int least; /* what moves no more sectors than this row competes too; -1: nothing does */
} contest;

static bool competes(const contest *c, int r) {
  const sct_rank_row *row = &c->rows[r];
  const double sectors = sct_row_sectors(&row->outcome);
  return row->eligible && (c->any || row->outcome.how.coalesced ||
                           (c->least >= 0 && sectors >= 0.0 &&
                            sectors <= sct_row_sectors(&c->rows[c->least].outcome)));
}

/* 0: unknown. */
static double time_of(const contest *c, int r) {
  const sct_row_outcome *o = &c->rows[r].outcome;
  const double ns = c->timed ? o->times.median_ns : o->predicted_ns;
  return ns > 0.0 ? ns : 0.0;
}

/* The eligible row with the least time of those that `takes` (NULL: of all); -1: no time is known.
 */
static int fastest_row(const contest *c, bool (*takes)(const contest *c, int r)) {
  int best = -1;
  for (int r = 0; r < c->n; r++) {
    if (c->rows[r].eligible && time_of(c, r) > 0.0 && (!takes || takes(c, r)) &&
        (best < 0 || time_of(c, r) < time_of(c, best))) {
      best = r;
    }
  }
  return best;
}

/* No winner is slower than the fastest of these: a result never loses to not tuning. */
static bool is_naive(const contest *c, int r) {
  return c->rows[r].naive;
}

/* Is `row` at most `noise` slower than the fastest, or may it, by the 95 % interval of their ratio,
 * be as fast? A row that only had the quick pass is not: if it were that close it would have raced.
 * Of samples that are too few for an interval, as of a hopeless kernel's, the medians decide. A
 * prediction has an error that is larger than any noise. */
static bool is_within(const contest *c, double noise, int fast, int other) {
  const sct_row_outcome *fastest = &c->rows[fast].outcome, *row = &c->rows[other].outcome;
  if (!c->timed) {
    const double least = time_of(c, fast);
    return time_of(c, other) <= fmax(SCT_PREDICTED_SLACK * least, least + SCT_PREDICTED_NS);
  }
  if ((fastest->race[0] != '\0') != (row->race[0] != '\0')) {
    return false;
  }
  const sct_times *a = &fastest->times, *b = &row->times;
  const sct_comparison compared = sct_stats_compare(a->samples_ns, a->n_samples, b->samples_ns,
                                                    b->n_samples, sct_row_same_race(fastest, row));
  if (isinf(compared.high)) {
    return b->median_ns <= (1.0 + noise) * a->median_ns;
  }
  return compared.ratio <= 1.0 + noise ||
         (compared.ratio <= 1.0 + MOST_NOISE && compared.low <= 1.0);
}

/* Rows that another session may find ahead of `best` are tied; the winner is the first by counts of
 * those that are as good as it. */
static int break_ties(const contest *c, sct_rank_row *rows, int best, int naive, bool *in,
                      sct_choice *choice) {
  const double of_best = time_of(c, best);
  const double most = naive < 0 ? INFINITY : fmax(time_of(c, naive), of_best);
  for (int r = 0; r < c->n; r++) {
    const bool timed = competes(c, r) && time_of(c, r) > 0.0;
    rows[r].tied = timed && (r == best || is_within(c, TIE_NOISE, best, r));
    in[r] =
        rows[r].tied && time_of(c, r) <= most && (r == best || is_within(c, LEAST_NOISE, best, r));
    if (rows[r].tied) {
      const double apart = time_of(c, r) / of_best - 1.0;
      choice->n_tied++;
      choice->noise = c->timed && apart > choice->noise ? apart : choice->noise;
    }
  }
  return first_by_counts(rows, c->n, in, choice);
}

/* Of those that compete, where no time is known. */
static int best_by_counts(const contest *c, sct_rank_row *rows, bool *in, sct_choice *choice) {
  for (int r = 0; r < c->n; r++) {
    in[r] = competes(c, r);
  }
  const int winner = first_by_counts(rows, c->n, in, choice);
  for (int r = 0; r < c->n; r++) {
    rows[r].tied = r == winner;
  }
  choice->n_tied = winner >= 0;
  return winner;
}

/* Arrays that a cache holds cost few of their sectors, so the naive variant may be faster than
 * `best` beyond noise although it is not coalesced. */
static bool naive_wins(const contest *c, int naive, int best) {
  return naive >= 0 && best >= 0 && naive != best && !competes(c, naive) &&
         time_of(c, naive) < time_of(c, best) && !is_within(c, LEAST_NOISE, naive, best);
}

/* What is faster than the winner and not taken, since it is not coalesced. */
static void name_passed_over(const contest *c, sct_choice *choice) {
  const int fastest = choice->fastest, winner = choice->winner;
  if (fastest < 0 || winner < 0 || fastest == winner || competes(c, fastest) ||
      time_of(c, winner) <= 0.0 || is_within(c, LEAST_NOISE, fastest, winner)) {
    return;
  }
  const double ratio = time_of(c, winner) / time_of(c, fastest); /* one may not have raced */
  if (ratio > 1.0 + SCT_PASSED_OVER) {
    choice->passed_over = fastest;
    choice->faster_ratio = ratio;
  }
}

sct_choice sct_choose(sct_rank_row *rows, int n, bool any) {
  sct_choice choice = {.winner = -1, .passed_over = -1, .faster_ratio = 1.0};
  contest c = {.rows = rows, .n = n, .any = any, .least = -1};
  bool some = false; /* if nothing is coalesced all compete */
  for (int r = 0; r < n; r++) {
    some = some || competes(&c, r);
    c.timed = c.timed || (rows[r].eligible && rows[r].outcome.times.median_ns > 0);
  }
  c.any = any || !some;
  bool *in = sct_alloc(sizeof *in * (size_t)(n + 1));
  const int naive = fastest_row(&c, is_naive);
  c.least = fastest_row(&c, competes);
  const int best = fastest_row(&c, competes);
  choice.fastest = fastest_row(&c, NULL);
  choice.winner = best < 0 ? best_by_counts(&c, rows, in, &choice)
                           : break_ties(&c, rows, best, naive, in, &choice);
  sct_free(in);
  if (naive_wins(&c, naive, best)) {
    for (int r = 0; r < n; r++) {
      rows[r].tied = r == naive;
    }
    choice.winner = naive;
    choice.n_tied = choice.n_close = 1;
    choice.rules = 0;
    choice.noise = 0.0;
  }
  name_passed_over(&c, &choice);
  return choice;
}
