/* Downhill: from the best candidate of a walk to its neighbours, the most promising first; where
 * none of them is better the walk is over, and the next one starts at the most promising candidate
 * that was not tried. Every third walk starts anywhere, in case predictions mislead. */
#include "search/search_internal.h"

#define RANDOM_EVERY 3

typedef struct local {
  int *neighbours; /* [n] scratch */
  int here;        /* the walk's best; -1: nothing of it is reported yet, or it failed */
  int n_walks;
  bool *on_walk; /* [n] proposed by this walk, or by several where nothing was reported between them
                  */
} local;

void search_local_start(sct_search *s) {
  local *l = sct_alloc(sizeof *l);
  s->own = l;
  *l = (local){.here = -1};
  l->neighbours = sct_alloc((size_t)(s->n + 1) * sizeof *l->neighbours);
  l->on_walk = sct_alloc((size_t)(s->n + 1) * sizeof *l->on_walk);
}

static int anywhere(sct_search *s) {
  int64_t left = sct_rng_below(&s->rng, s->n - s->n_proposed);
  int k = -1;
  do {
    k++;
    left -= s->state[k] == SEARCH_UNTRIED;
  } while (left >= 0);
  return k;
}

static int new_walk(sct_search *s, local *l) {
  for (int k = 0; l->here >= 0 && k < s->n; k++) {
    l->on_walk[k] = false;
  }
  l->here = -1;
  l->n_walks++;
  return l->n_walks % RANDOM_EVERY == 0 ? anywhere(s) : search_most_promising(s);
}

int search_local_next(sct_search *s) {
  local *l = s->own;
  int best = -1;
  const int n = l->here < 0 ? 0 : search_neighbours(s, l->here, l->neighbours);
  for (int i = 0; i < n; i++) {
    const int k = l->neighbours[i];
    if (s->state[k] == SEARCH_UNTRIED && (best < 0 || s->prior[k] < s->prior[best])) {
      best = k;
    }
  }
  best = best < 0 ? new_walk(s, l) : best;
  l->on_walk[best] = true;
  return best;
}

void search_local_reported(sct_search *s, int point) {
  local *l = s->own;
  if (!l->on_walk[point] || s->state[point] == SEARCH_FAILED) {
    return;
  }
  if (l->here < 0 || s->cost[point] < s->cost[l->here]) {
    l->here = point;
  }
}

void search_local_end(sct_search *s) {
  local *l = s->own;
  if (l) {
    sct_free(l->neighbours);
    sct_free(l->on_walk);
    sct_free(l);
  }
}
