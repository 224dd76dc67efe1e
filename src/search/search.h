/* search - which candidate is tried next.
 *
 * A search sees an abstract problem: candidates as points on named axes, and where known what each
 * may cost. The caller asks for the next candidate, tries it, and reports what it cost; several may
 * be under way at a time. Every method proposes each candidate once, naive variants and others
 * that are to come first before the rest, and ends when all were proposed: methods differ in the
 * order only, so one that guesses badly is late, never wrong. Equal problem, seed, and order of
 * calls give equal proposals. */
#ifndef SCT_SEARCH_H
#define SCT_SEARCH_H

#include "model/model.h"
#include "space/space.h"

/* ---- the problem ---- */

#define SCT_SEARCH_MAX_AXES   64
#define SCT_SEARCH_MAX_VALUES 1024 /* of one axis */

typedef struct sct_search_axis {
  const char *name;
  int n_values;
  size_t cap_values;
  const char **values; /* as first met */
} sct_search_axis;

typedef struct sct_search_point {
  int16_t value[SCT_SEARCH_MAX_AXES]; /* index into the axis' values; -1: it has no such axis */
  double predicted;                   /* cost it may have, in any unit; 0: unknown */
  double order;                       /* orders candidates of equal prediction: the lesser first */
  double penalty[SCT_N_PENALTIES];    /* what the prediction leaves out (sct_model_penalty()) */
  bool first;                         /* proposed before all others */
} sct_search_point;

/* A zeroed struct is a valid problem without candidates. */
typedef struct sct_search_problem {
  sct_arena arena; /* owns names and values */
  int n_axes;
  sct_search_axis axes[SCT_SEARCH_MAX_AXES];
  int n_points;
  size_t cap_points;
  sct_search_point *points;
} sct_search_problem;

/* Adds a candidate without axes; it gets index n_points - 1. A prediction that is not positive and
 * finite counts as unknown. */
void sct_search_add(sct_search_problem *problem, double predicted, double order, bool first);
/* Sets what the prediction of the last candidate leaves out, 0 unless set. There is a candidate. A
 * value that is not finite counts as 0. */
void sct_search_penalty(sct_search_problem *problem, const double penalty[SCT_N_PENALTIES]);
/* Gives the last candidate a value on an axis; both are copied. SCT_EINTERNAL beyond 64 axes or
 * 1,024 values of one, or without a candidate. */
sct_status sct_search_set(sct_search_problem *problem, const char *axis, const char *value,
                          sct_error *err);
/* Gives the last candidate the values of a candidate of a space on all axes; its strategy is the
 * axis "strategy". */
sct_status sct_search_set_all(sct_search_problem *problem, const sct_space *space,
                              const sct_candidate *cand, sct_error *err);
/* Rounds a count that was scaled from some blocks, for putting candidates in order: counts that
 * differ by less than its error, some 3 %, mostly become equal. */
double sct_search_round_count(double count);
void sct_search_problem_free(sct_search_problem *problem);

/* ---- methods ---- */

typedef struct sct_search sct_search;

typedef struct sct_search_method {
  const char *name; /* "model" */
  const char *doc;  /* one line */
  /* For the method itself: `start` and `reported` may be NULL; `next` gives an untried candidate,
   * and is not asked where there is none. `reported` is called for failures too
   * (sct_search_fail()). */
  void (*start)(sct_search *s);
  int (*next)(sct_search *s);
  void (*reported)(sct_search *s, int point);
  void (*end)(sct_search *s);
} sct_search_method;
const sct_search_method *sct_search_methods(int *n);
/* SCT_EUSAGE names the nearest method. */
sct_status sct_search_find(const sct_search_method **out, const char *name, sct_error *err);

/* ---- a search ---- */

/* On 116 sweeps recorded on an H200 (2026-11-22 and 23) method `model`, 16 or 32 candidates under
 * way, 5 seeds, tried 87 candidates on average until it was settled; what it found was within 1 %
 * of the sweep's best in 96 % of the searches, within 5 % in 99 % (docs/figures/search.md). After
 * 32 candidates it was so in 65 to 85 %, after 64 in 85 to 95 %. */
#define SCT_SEARCH_PATIENCE 64
#define SCT_SEARCH_GAIN     0.005

/* The problem is borrowed and may not change; values that are all whole numbers are put in order.
 */
void sct_search_new(sct_search **out, const sct_search_method *method,
                    const sct_search_problem *problem, uint64_t seed);
void sct_search_free(sct_search *s); /* accepts NULL */
/* The next candidate to try, or -1: all were proposed. */
int sct_search_next(sct_search *s);
/* What trying a candidate came to: its cost, above 0. One that was not proposed may be reported too
 * (a store knew it) and is then never proposed. SCT_EINTERNAL for an index out of range, a cost
 * that is not positive and finite, or a second report of the same candidate: nothing is changed. */
sct_status sct_search_report(sct_search *s, int point, double cost, sct_error *err);
/* Reports that a candidate failed. */
sct_status sct_search_fail(sct_search *s, int point, sct_error *err);
/* Whether the last SCT_SEARCH_PATIENCE candidates that were reported improved the best by no more
 * than SCT_SEARCH_GAIN, so that more of them are unlikely to. Those that were not proposed count as
 * tried after the best. */
bool sct_search_is_settled(const sct_search *s);

#endif
