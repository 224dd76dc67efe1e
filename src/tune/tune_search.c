/* Trying some candidates before others: a search for each size chooses the next ones, some at a
 * time, and learns their results. What it asks for is compiled, checked and measured, each as soon
 * as it is ready; the others are passed over, so a session that ends early has tried what promised
 * most. */
#include "tune/tune_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Under way at a time, for each size: enough for the processes that compile and check. More would
 * be asked for with less known. */
#define LEAST     8
#define MOST      64
#define FEW_OWN   8  /* candidates of a kernel of the user's own that are tried in any case */
#define SAMPLED   12 /* candidates at a sample of a range: what is best nearby is among them */
#define PREDICTED 2  /* around listed sizes, where predicted times decide */
#define GENERAL   2  /* of them take any extents and pointers */
#define WAIT_NS   ((int64_t)20000000)

typedef struct pursuit {
  sct_search_problem problem;
  sct_search *search; /* borrows the problem */
  int *item;          /* [n_points] */
  int asked[MOST], n_asked;
  bool due[MOST];     /* ready when the last quick pass began */
  int n_tried, limit; /* candidates, the naive ones and those of the store included */
} pursuit;

/* ---- what is searched ---- */

typedef struct place {
  double key[3]; /* sectors, shared wavefronts, requests */
  int item;
} place;

static int by_counts(const void *pa, const void *pb) {
  const place *a = pa, *b = pb;
  for (int k = 0; k < SCT_COUNT(a->key); k++) {
    if (a->key[k] != b->key[k]) {
      return a->key[k] < b->key[k] ? -1 : 1;
    }
  }
  return a->item - b->item;
}

/* order[item]: how many distinct counts are less; those without counts come last. */
static void order_items(const tune_table *t, int size, place *places, int *order) {
  const int n = t->cands->n_items;
  for (int k = 0; k < n; k++) {
    const tune_cell *cell = sct_tune_cell(t, k, size);
    const sct_counters *c = &cell->counters;
    const double unknown = cell->counted ? 0.0 : 1e300;
    places[k] = (place){
        .item = k,
        .key = {unknown + sct_search_round_count((double)(c->load.sectors + c->store.sectors)),
                sct_model_exchange_wavefronts(c), (double)(c->load.requests + c->store.requests)}};
  }
  qsort(places, (size_t)n, sizeof *places, by_counts);
  int at = 0;
  for (int i = 0; i < n; i++) {
    at += i > 0 && memcmp(places[i].key, places[i - 1].key, sizeof places[i].key) != 0;
    order[places[i].item] = at;
  }
}

/* Naive variants are tried first, and a few of each kernel of the user's own, who wants to know. */
static bool comes_first(const sct_tune_candidates *cands, int item, int size, int *n_own) {
  const sct_own *own = sct_tune_own(cands, item);
  return sct_tune_is_naive_item(cands, item, size) ||
         (own && n_own[own - cands->spec.own]++ < FEW_OWN);
}

/* The item of those that is predicted to be best at the size, but for `other`; -1: none. */
static int best_general(const tune_table *t, int size, int other) {
  int best = -1;
  for (int k = 0; k < t->cands->n_items; k++) {
    const tune_cell *cell = sct_tune_cell(t, k, size);
    if (k != other && cell->fits && cell->predicted.ns > 0 &&
        t->cands->items[k].outcome == SCT_OUT_OK && !sct_tune_is_direct(t->cands, k) &&
        sct_tune_is_general(t->cands, k) &&
        (best < 0 || cell->predicted.ns < sct_tune_cell(t, best, size)->predicted.ns)) {
      best = k;
    }
  }
  return best;
}

static sct_status add_points(tune_table *t, pursuit *p, int size, const int *order, int most,
                             sct_error *err) {
  int n_own[SCT_MAX_OWN] = {0}, general[GENERAL] = {-1, -1};
  const sct_size *of = &t->cands->spec.sizes[size];
  for (int k = 0; of->sampled && (t->times || !of->around) && k < GENERAL; k++) {
    general[k] = best_general(t, size, general[0]);
  }
  for (int k = 0; k < t->cands->n_items; k++) {
    const sct_tune_item *item = &t->cands->items[k];
    tune_cell *cell = sct_tune_cell(t, k, size);
    cell->passed_over = true;
    if (!cell->fits) {
      continue;
    }
    if (item->outcome != SCT_OUT_OK) { /* known before the search began */
      p->n_tried += sct_tune_has_outcome(t, k, size);
      continue;
    }
    const bool first = comes_first(t->cands, k, size, n_own) || k == general[0] || k == general[1];
    sct_search_add(&p->problem, sct_tune_credible_ns(t, k, size), order[k], first);
    SCT_TRY(sct_search_set_all(&p->problem, &t->cands->space,
                               &t->cands->space.candidates[item->candidate], err));
    if (cell->counted) {
      sct_search_penalty(&p->problem, cell->penalty);
    }
    p->item[p->problem.n_points - 1] = k;
    p->limit += first;
  }
  const int wanted = most > 0 ? most : p->problem.n_points;
  p->limit = p->limit > wanted ? p->limit : wanted;
  return SCT_OK;
}

/* What became of a candidate; false: it was not tried. */
static bool report(const tune_table *t, pursuit *p, int size, int point, sct_status *status,
                   sct_error *err) {
  const tune_cell *cell = sct_tune_cell(t, p->item[point], size);
  const bool failed =
      t->cands->items[p->item[point]].outcome != SCT_OUT_OK || !sct_row_is_ok(&cell->row);
  double cost = 0.0;
  if (t->times) {
    cost = cell->row.times.n_samples > 0 ? cell->row.times.median_ns : 0.0;
  } else if (cell->verified) {
    cost = cell->predicted.ns > 0.0 ? cell->predicted.ns : 1.0;
  }
  cost += cost > 0.0 ? sct_tune_conversion_ns(t, p->item[point], size) : 0.0;
  if (failed) {
    *status = sct_search_fail(p->search, point, err);
  } else if (cost > 0.0) {
    *status = sct_search_report(p->search, point, cost, err);
  }
  return failed || cost > 0.0;
}

static sct_status open_pursuit(tune_table *t, const sct_tune_opts *opts, pursuit *p, int size,
                               sct_error *err) {
  const size_t n = (size_t)t->cands->n_items + 1;
  SCT_OWNED place *places = sct_alloc(n * sizeof *places);
  SCT_OWNED int *order = sct_alloc(n * sizeof *order);
  const sct_search_method *method = NULL;
  p->item = sct_alloc(n * sizeof *p->item);
  sct_status status = SCT_OK;
  order_items(t, size, places, order);
  const sct_size *of = &t->cands->spec.sizes[size];
  const int sampled = of->around && !t->times ? PREDICTED : SAMPLED;
  const int most = of->sampled && (opts->max_candidates == 0 || opts->max_candidates > sampled)
                       ? sampled
                       : opts->max_candidates;
  status = add_points(t, p, size, order, most, err);
  const char *name = sct_tune_search_name(opts);
  name = of->around && strcmp(name, "exhaustive") == 0 ? "model" : name;
  SCT_THEN(sct_search_find(&method, name, err));
  if (status == SCT_OK) {
    sct_search_new(&p->search, method, &p->problem, opts->seed);
  }
  for (int k = 0; status == SCT_OK && k < p->problem.n_points; k++) {
    p->n_tried +=
        sct_tune_cell(t, p->item[k], size)->from_store && report(t, p, size, k, &status, err);
  }
  return status;
}

static void close_pursuits(pursuit *p, int n_sizes) {
  for (int z = 0; p && z < n_sizes; z++) {
    sct_search_free(p[z].search);
    sct_search_problem_free(&p[z].problem);
    sct_free(p[z].item);
  }
  sct_free(p);
}

/* ---- the rounds ---- */

/* Where nothing is timed, a session that is repeated finds the same, whatever is compiled already,
 * however many processes there are, and whichever is quicker: answers are reported one at a time,
 * in the order of the questions, and the next questions come when half of those under way are
 * answered. */
static bool in_order(const tune_table *t) {
  return !t->times;
}

static int most_asked(const tune_table *t, int size) {
  if (t->times && t->cands->spec.sizes[size].sampled) {
    return MOST;
  }
  const int each = in_order(t) ? 2 * LEAST : 2 * sct_cores() / t->cands->spec.n_sizes;
  return each < LEAST ? LEAST : each > MOST ? MOST : each;
}

static sct_status ask(tune_session *s, pursuit *p, int size, sct_error *err) {
  const int most = most_asked(&s->table, size);
  const bool later = in_order(&s->table) && p->n_asked > most / 2;
  const bool done = !p->search || (s->opts->settle && sct_search_is_settled(p->search));
  while (!done && !later && p->n_asked < most && p->n_tried + p->n_asked < p->limit) {
    const int point = sct_search_next(p->search);
    if (point < 0) {
      return SCT_OK;
    }
    p->asked[p->n_asked++] = point;
    sct_tune_cell(&s->table, p->item[point], size)->passed_over = false;
    SCT_TRY(sct_tune_want(s, p->item[point], err));
  }
  return SCT_OK;
}

/* How many of those that are asked for can be measured and reported. Those of a sample are timed
 * together: its arrays are made for them, and there are more samples than have room. */
static int find_due(const tune_session *s, pursuit *p) {
  int n = 0;
  for (int z = 0; z < s->cands.spec.n_sizes; z++) {
    bool all = true;
    for (int k = 0; k < p[z].n_asked && s->table.times && s->cands.spec.sizes[z].sampled; k++) {
      all = all && sct_tune_can_measure(s, p[z].item[p[z].asked[k]]);
    }
    for (int k = 0; k < p[z].n_asked; k++) {
      p[z].due[k] = all && (k == 0 || !in_order(&s->table)) &&
                    sct_tune_can_measure(s, p[z].item[p[z].asked[k]]);
      n += p[z].due[k];
    }
  }
  return n;
}

static sct_status hear(tune_table *t, pursuit *p, int size, sct_error *err) {
  sct_status status = SCT_OK;
  int n = 0;
  for (int k = 0; status == SCT_OK && k < p->n_asked; k++) {
    const bool heard = p->due[k] || !in_order(t);
    const bool tried = heard && report(t, p, size, p->asked[k], &status, err);
    p->n_tried += tried;
    if (tried || p->due[k]) {
      sct_tune_cell(t, p->item[p->asked[k]], size)->passed_over = true;
    } else {
      p->asked[n++] = p->asked[k];
    }
  }
  p->n_asked = n;
  return status;
}

static sct_status run_rounds(tune_session *s, pursuit *p, sct_error *err) {
  while (!sct_tune_stop(&s->flow)) {
    int n_asked = 0;
    for (int z = 0; z < s->cands.spec.n_sizes; z++) {
      SCT_TRY(ask(s, &p[z], z, err));
      n_asked += p[z].n_asked;
    }
    if (n_asked == 0) {
      break;
    }
    SCT_TRY(sct_tune_pump(s, 0, err));
    while (find_due(s, p) == 0 && !sct_tune_stop(&s->flow)) {
      SCT_TRY(sct_tune_pump(s, WAIT_NS, err));
    }
    SCT_TRY(sct_tune_quick_pass(s, err));
    for (int z = 0; z < s->cands.spec.n_sizes; z++) {
      SCT_TRY(hear(&s->table, &p[z], z, err));
    }
  }
  return SCT_OK;
}

/* ---- the search of a session ---- */

const char *sct_tune_search_name(const sct_tune_opts *opts) {
  const bool some = opts->budget_ns > 0 || opts->max_candidates > 0 || opts->settle;
  return opts->search ? opts->search : some ? "model" : "exhaustive";
}

bool sct_tune_searches(const sct_tune_opts *opts) {
  return strcmp(sct_tune_search_name(opts), "exhaustive") != 0 || opts->max_candidates > 0;
}

/* What the store knows is reported before anything is asked; the code of what is right is compiled,
 * as it may be raced. */
static sct_status take_known(tune_session *s, sct_error *err) {
  for (int k = 0; k < s->cands.n_items; k++) {
    sct_tune_find_sizes(&s->counting, k);
    SCT_TRY(sct_tune_resume_item(&s->record, k, err));
    for (int z = 0; z < s->cands.spec.n_sizes && s->cands.items[k].outcome == SCT_OUT_OK; z++) {
      const tune_cell *cell = sct_tune_cell(&s->table, k, z);
      if (cell->from_store && sct_row_is_ok(&cell->row)) {
        SCT_TRY(sct_tune_want(s, k, err));
        break;
      }
    }
  }
  return SCT_OK;
}

/* What is known takes part in the choice, whatever time there is, so it needs its counts: those of
 * its compiled code. */
static sct_status count_known(tune_session *s, sct_error *err) {
  for (int k = 0; k < s->cands.n_items * s->cands.spec.n_sizes && !sct_tune_stop(&s->flow); k++) {
    const int item = k / s->cands.spec.n_sizes;
    if (s->table.cells[k].from_store && sct_row_is_ok(&s->table.cells[k].row)) {
      SCT_TRY(sct_tune_await(s, item, err));
      SCT_TRY(sct_tune_count(&s->counting, item, err));
    }
  }
  return SCT_OK;
}

/* Naive variants, one or several of each choice of layouts. */
static bool comes_before(const tune_session *s, int k) {
  return s->table.group[k] == k || s->cands.items[k].naive;
}

/* All others are compared with these. */
static sct_status want_naive(tune_session *s, sct_error *err) {
  for (int k = 0; k < s->cands.n_items; k++) {
    if (comes_before(s, k) && s->cands.items[k].outcome == SCT_OUT_OK) {
      SCT_TRY(sct_tune_want(s, k, err));
    }
  }
  return SCT_OK;
}

/* Where candidates run on the CPU, what the body costs is known from the naive variants, and is
 * part of every prediction. */
static sct_status run_naive(tune_session *s, sct_error *err) {
  bool open = false;
  for (int k = 0; k < s->cands.n_items; k++) {
    open =
        open || (s->cands.items[k].outcome == SCT_OUT_OK && !sct_tune_known_already(&s->table, k));
  }
  for (int k = 0; k < s->cands.n_items && open && s->device.checked; k++) {
    if (comes_before(s, k)) {
      SCT_TRY(sct_tune_await(s, k, err));
    }
  }
  return s->device.kind->times || !open ? SCT_OK : sct_tune_quick_pass(s, err);
}

static sct_status run_pursuits(tune_session *s, sct_error *err) {
  const int n_sizes = s->cands.spec.n_sizes;
  pursuit *p = sct_alloc(sizeof *p * (size_t)(n_sizes + 1));
  sct_status status = SCT_OK;
  for (int z = 0; status == SCT_OK && z < n_sizes; z++) {
    if (s->cands.spec.sizes[z].around == s->around) {
      status = open_pursuit(&s->table, s->opts, &p[z], z, err);
    }
  }
  SCT_THEN(run_rounds(s, p, err));
  SCT_THEN(sct_tune_elsewhere(s, err));
  close_pursuits(p, n_sizes);
  return status;
}

sct_status sct_tune_search(tune_session *s, sct_error *err) {
  SCT_TRY(want_naive(s, err));
  SCT_TRY(take_known(s, err));
  SCT_TRY(count_known(s, err));
  SCT_TRY(run_naive(s, err));
  SCT_TRY(run_pursuits(s, err));
  /* What the store knows, for the report's sake: not worth a budget. */
  while (s->opts->budget_ns == 0 && !sct_tune_all_compiled(s->queue) && !sct_tune_stop(&s->flow)) {
    SCT_TRY(sct_tune_pump(s, WAIT_NS, err));
  }
  return SCT_OK;
}

sct_status sct_tune_search_around(tune_session *s, sct_error *err) {
  s->searching = true; /* of what was compiled without one, too */
  return run_pursuits(s, err);
}
