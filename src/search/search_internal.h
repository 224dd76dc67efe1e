/* search_internal - what methods share: the state of every candidate, and who is next to whom. */
#ifndef SCT_SEARCH_INTERNAL_H
#define SCT_SEARCH_INTERNAL_H

#include "search/search.h"

typedef enum search_state {
  SEARCH_UNTRIED,
  SEARCH_PROPOSED, /* asked for, nothing reported yet */
  SEARCH_REPORTED,
  SEARCH_FAILED
} search_state;

struct sct_search {
  const sct_search_method *method;
  const sct_search_problem *problem;
  sct_rng rng;
  uint64_t seed;
  int n, n_proposed, n_first;
  int *first; /* [n_first] candidates to propose first */
  search_state *state;
  double *cost; /* [n] if reported */
  int best;     /* -1: none */
  double mark;  /* the cost that a candidate has to be below, by more than SCT_SEARCH_GAIN */
  int n_since;  /* reported since one was */
  /* places on the axes, with values in order: [n * n_axes], -1 for an axis it does not have */
  int n_axes;
  int16_t *place;
  bool ordered[SCT_SEARCH_MAX_AXES]; /* whole numbers, so a step has a direction */
  int n_values[SCT_SEARCH_MAX_AXES];
  double *prior; /* [n] log of the cost to expect before anything is known; see search.c */
  int cursor;    /* of the methods that walk through a list */
  void *own;     /* of the method */
};

/* Candidates that differ from `point` in one axis by one step: the next value up and down that a
 * candidate has where values are numbers, any value where they are names. Returns how many went to
 * out[n]; in order of axis and value. */
int search_neighbours(const sct_search *s, int point, int *out);
/* The untried candidate with the least prior, by seed among equal ones; -1: none. */
int search_most_promising(const sct_search *s);

/* The functions of the methods; the table stands in search.c. */
int search_exhaustive_next(sct_search *s);
int search_random_next(sct_search *s);
void search_local_start(sct_search *s);
int search_local_next(sct_search *s);
void search_local_reported(sct_search *s, int point);
void search_local_end(sct_search *s);
void search_model_start(sct_search *s);
int search_model_next(sct_search *s);
void search_model_reported(sct_search *s, int point);
void search_model_end(sct_search *s);

#endif
