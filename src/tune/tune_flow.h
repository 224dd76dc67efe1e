/* tune_flow - how far a session is, when it is to end, and who is notified. */
#ifndef SCT_TUNE_FLOW_H
#define SCT_TUNE_FLOW_H

#include "tune/tune_table.h"

typedef struct tune_flow {
  const sct_tune_events *events; /* NULL: nobody watches */
  int64_t deadline_ns;           /* 0: none */
  bool stopped, out_of_time;
  int64_t n_verify, n_time; /* steps of these phases so far */
  int n_checked, n_caught; /* candidates evaluated on the virtual device first; those that failed */
} tune_flow;

bool sct_tune_stop(tune_flow *f); /* the user stops it, or the budget is spent */
void sct_tune_progress(const tune_flow *f, const char *phase, int64_t done, int64_t total,
                       const char *item);

/* ---- events (tune_events.c) ---- */

/* conditions NULL: nothing is measured. */
void sct_tune_notify_start(const tune_flow *f, const sct_tune_candidates *cands,
                           const sct_conditions *conditions);
void sct_tune_notify_item(const tune_flow *f, const sct_tune_item *item);
void sct_tune_notify_cell(const tune_flow *f, const tune_table *t, int item, int size);
void sct_tune_notify_race(const tune_flow *f, const tune_table *t, const char *phase, int size,
                          int n, const int *items);
void sct_tune_notify_size(const tune_flow *f, const tune_table *t, int size);

#endif
