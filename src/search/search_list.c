/* Methods that learn nothing: a fixed order. */
#include "search/search_internal.h"

int search_exhaustive_next(sct_search *s) {
  while (s->state[s->cursor] != SEARCH_UNTRIED) {
    s->cursor++;
  }
  return s->cursor;
}

int search_random_next(sct_search *s) {
  int64_t k;
  do {
    k = sct_permute(s->cursor++, s->n, s->seed);
  } while (s->state[k] != SEARCH_UNTRIED);
  return (int)k;
}
