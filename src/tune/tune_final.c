/* Racing: stages of fewer candidates and more rounds. In a round every live candidate is timed
 * once, so slow drifts of the machine meet all of them alike and pairs of samples can be compared.
 */
#include "tune/tune_internal.h"

#include <stdlib.h>
#include <string.h>

/* A stage races the best coalesced candidates within a margin of the best median so far. Rounds end
 * early when every racer differs from the leader, or be called the same. */
typedef struct stage {
  const char *phase; /* of the progress */
  int most;          /* racers, without the reference ones */
  double margin;
  int least_rounds, rounds;
} stage;
static const stage stages[] = {{"race", 128, 1.10, 7, 7}, {"final", 16, 1.03, 15, 61}};

#define MAX_RACERS 130 /* the most of a stage, and two references */
/* Times the leader's median: the ratio to a naive variant that takes so long is known. */
#define FAR 20.0

/* What a race is about, and how far it is. */
typedef struct contest {
  tune_session *s;
  const stage *stage;
  int size, n;
  int item[MAX_RACERS]; /* fastest before first */
  bool mine[MAX_RACERS];
  sct_timing timing[MAX_RACERS];
  int group[MAX_RACERS], n_group; /* of the current layouts: indexes into item */
  sct_binary binary[MAX_RACERS];
  sct_timing raced[MAX_RACERS];
} contest;

/* What is known from the store may not be compiled yet. */
static sct_status enter(contest *c, int item, sct_error *err) {
  tune_session *s = c->s;
  item = item >= 0 && s->table.duplicate[item] >= 0 ? s->table.duplicate[item]
                                                    : item; /* not twice the same */
  for (int k = 0; k < c->n; k++) {
    item = c->item[k] == item ? -1 : item;
  }
  if (item < 0 || c->n == MAX_RACERS) {
    return SCT_OK;
  }
  SCT_TRY(sct_tune_await(s, item, err));
  if (sct_tune_is_ready(s->queue, item) && s->cands.items[item].outcome == SCT_OUT_OK) {
    c->item[c->n++] = item;
  }
  return SCT_OK;
}

static int by_median(const void *a, const void *b, void *rows) {
  const sct_rank_row *row = rows;
  const double x = row[*(const int *)a].outcome.times.median_ns,
               y = row[*(const int *)b].outcome.times.median_ns;
  return x != y ? (x > y) - (x < y) : *(const int *)a - *(const int *)b;
}

/* The best coalesced candidates, the fastest of all, and the naive variant of the leader's layouts,
 * unless it is far from them. */
static sct_status pick(contest *c, sct_rank_row *rows, sct_error *err) {
  tune_session *s = c->s;
  const sct_choice choice = sct_tune_decide(&s->table, c->size, rows);
  c->n = 0;
  if (choice.winner < 0) {
    return SCT_OK;
  }
  SCT_OWNED int *order = sct_alloc(sizeof *order * (size_t)(s->cands.n_items + 1));
  int n = 0;
  for (int k = 0; k < s->cands.n_items; k++) {
    if (rows[k].eligible && (rows[k].outcome.how.coalesced || k == choice.winner)) {
      order[n++] = k;
    }
  }
  qsort_r(order, (size_t)n, sizeof *order, by_median, rows);
  const double least = n > 0 ? rows[order[0]].outcome.times.median_ns : 0;
  for (int k = 0; k < n && k < c->stage->most; k++) {
    if (rows[order[k]].outcome.times.median_ns <= c->stage->margin * least) {
      SCT_TRY(enter(c, order[k], err));
    }
  }
  SCT_TRY(enter(c, choice.fastest, err));
  const int naive = sct_tune_naive_at(&s->cands, choice.winner, c->size);
  const bool near =
      naive >= 0 && rows[naive].eligible && rows[naive].outcome.times.median_ns <= FAR * least;
  return near ? enter(c, naive, err) : SCT_OK;
}

/* Every racer is clearly apart from the one in front, or clearly the same. */
static bool is_decided(const contest *c) {
  double median[MAX_RACERS]; /* so far */
  int leader = 0;
  for (int k = 0; k < c->n_group; k++) {
    const sct_times *t = &c->raced[k].times;
    if (t->n_samples == 0) {
      return false;
    }
    median[k] = sct_quartiles_of(t->samples_ns, t->n_samples).median;
    leader = median[k] < median[leader] ? k : leader;
  }
  const sct_times *front = &c->raced[leader].times;
  for (int k = 0; k < c->n_group; k++) {
    const sct_times *t = &c->raced[k].times;
    if (k != leader &&
        sct_stats_compare(front->samples_ns, front->n_samples, t->samples_ns, t->n_samples, true)
                .kind == SCT_AMBIGUOUS) {
      return false;
    }
  }
  return true;
}

static bool after_round(void *ctx, int round) {
  contest *c = ctx;
  sct_tune_progress(&c->s->flow, c->stage->phase, round, c->stage->rounds,
                    c->s->cands.items[c->item[c->group[0]]].label);
  return sct_tune_stop(&c->s->flow) || (round >= c->stage->least_rounds && is_decided(c));
}

/* What was found of a racer holds for those that run alike. */
static sct_status share(contest *c, int item, sct_error *err) {
  SCT_TRY(sct_tune_store_cell(&c->s->record, item, c->size, err));
  for (int k = item + 1; k < c->s->cands.n_items; k++) {
    if (c->s->table.duplicate[k] == item) {
      sct_tune_copy_from_duplicate(&c->s->table, k, c->size);
      SCT_TRY(sct_tune_store_cell(&c->s->record, k, c->size, err));
    }
  }
  return SCT_OK;
}

/* The racers with the layouts of racer `first` race each other. */
static sct_status race_group(contest *c, int first, sct_error *err) {
  tune_session *s = c->s;
  c->n_group = 0;
  for (int k = first; k < c->n; k++) {
    if (sct_tune_same_layouts(&s->cands, c->item[first], c->item[k])) {
      c->mine[k] = true;
      c->binary[c->n_group] = sct_tune_binary(&s->cands.items[c->item[k]]);
      c->group[c->n_group++] = k;
    }
  }
  const int naive = sct_tune_naive_item(&s->cands, c->item[first]);
  if (naive < 0) {
    return SCT_OK; /* it failed since the quick pass: there is nothing to verify against any more */
  }
  SCT_TRY(sct_tune_set_problem(&s->device, &s->cands, naive, err));
  SCT_TRY(sct_measure_race(s->device.measure, c->binary, c->n_group, &s->cands.spec.sizes[c->size],
                           c->stage->rounds, c->raced, after_round, c, err));
  const char *race = sct_tune_race_new(&s->table);
  bool taken[MAX_RACERS] = {false};
  int items[MAX_RACERS];
  for (int k = 0; k < c->n_group; k++) { /* all of them first: storing one may fail */
    items[k] = c->item[c->group[k]];
    const sct_timing *t = &c->raced[k];
    taken[k] = t->times.n_samples > 0 || t->verdict.outcome != SCT_OUT_OK;
    if (taken[k]) { /* else it was stopped before its first round */
      sct_tune_take_timing(&s->table, items[k], c->size, t, race);
    } else {
      sct_times_free(&c->raced[k].times);
    }
  }
  for (int k = 0; k < c->n_group; k++) {
    if (taken[k]) {
      SCT_TRY(share(c, items[k], err));
    }
  }
  sct_tune_notify_race(&s->flow, &s->table, c->stage->phase, c->size, c->n_group, items);
  return SCT_OK;
}

static sct_status run_stage(contest *c, sct_rank_row *rows, sct_error *err) {
  SCT_TRY(pick(c, rows, err));
  memset(c->mine, 0, sizeof c->mine);
  for (int k = 0; k < c->n && !sct_tune_stop(&c->s->flow); k++) {
    if (!c->mine[k]) {
      SCT_TRY(race_group(c, k, err));
    }
  }
  return SCT_OK;
}

/* Stages that an earlier session completed, if all that it raced or rejected is still all there
 * is. */
static int stages_done(tune_session *s, int size) {
  for (int k = 0; k < s->cands.n_items; k++) {
    const tune_cell *cell = sct_tune_cell(&s->table, k, size);
    if (cell->row.times.n_samples > 0 && !cell->from_store) {
      return 0;
    }
  }
  return s->opts->again ? 0 : s->record.runs[size].raced;
}

sct_status sct_tune_final(tune_session *s, int size, sct_rank_row *rows, sct_error *err) {
  contest *c = sct_alloc(sizeof *c);
  sct_status status = SCT_OK;
  /* the best of a share race those of the others, by whoever joins their stores; at samples a few
   * percent decide nothing */
  const bool once = s->opts->share.n > 0 || s->cands.spec.sizes[size].sampled;
  const int n_stages = once ? 1 : SCT_COUNT(stages);
  for (int k = stages_done(s, size); status == SCT_OK && k < n_stages && !sct_tune_stop(&s->flow);
       k++) {
    *c = (contest){.s = s, .stage = &stages[k], .size = size};
    status = run_stage(c, rows, err);
    if (status == SCT_OK && !sct_tune_stop(&s->flow)) {
      status = sct_tune_store_raced(&s->record, size, k + 1, err);
    }
  }
  sct_free(c);
  return status;
}
