/* tune_internal - a session as a whole: its parts, and the phases that need several of them. A
 * function that needs one part takes that one; each has a header of its own. */
#ifndef SCT_TUNE_INTERNAL_H
#define SCT_TUNE_INTERNAL_H

#include "process/process.h"
#include "rule/rule.h"
#include "search/search.h"
#include "tune/tune_counting.h"
#include "tune/tune_device.h"
#include "tune/tune_flow.h"
#include "tune/tune_record.h"
#include "tune/tune_table.h"

/* How far an item is on its way to the device. */
typedef enum tune_stage { TUNE_WAITING, TUNE_COMPILING, TUNE_CHECKING, TUNE_READY } tune_stage;
typedef struct tune_queue tune_queue; /* tune_queue.c */
typedef struct tune_check tune_check; /* tune_check.c */

#define TUNE_CHECK_TOGETHER 16 /* items of a program, which is sent and read once for them */
#define SCT_MESSAGES        "tune/tune_messages.def"
#include "process/process_declare.def"
const sct_message *sct_ptx_check_table(void), *sct_counters_table(void);

struct pollfd;

typedef struct tune_session {
  const sct_tune_opts *opts;
  sct_tune_candidates cands; /* what may be tried */
  tune_device device;        /* on what */
  tune_table table;          /* what is known of it */
  tune_counting counting;    /* how it is predicted */
  tune_record record;        /* what is kept of it */
  tune_flow flow;            /* how far it is */
  tune_queue *queue;
  tune_check *check; /* NULL: not begun */
  int64_t begun_ns;  /* when candidates were there */
  bool around;       /* sizes around listed ones have their turn, and only they */
  bool searching;    /* candidates are compiled and tried as a search asks for them */
} tune_session;

/* ---- from candidates to what may be measured (tune_queue.c) ---- */

/* Begins to compile all candidates, the naive ones first; in a search none. */
sct_status sct_tune_queue_begin(tune_session *s, sct_error *err);
/* Has item compiled and checked, unless it is already. */
sct_status sct_tune_want(tune_session *s, int item, sct_error *err);
/* Takes what other processes have finished and gives them more to do; waits for something, at most
 * wait_ns. To be called whenever the device has been busy. */
sct_status sct_tune_pump(tune_session *s, int64_t wait_ns, sct_error *err);
void sct_tune_queue_end(tune_session *s);
bool sct_tune_is_wanted(const tune_queue *q, int item);
/* Compiled, counted and checked: may be measured, unless it has an outcome already. */
bool sct_tune_is_ready(const tune_queue *q, int item);
bool sct_tune_all_compiled(const tune_queue *q); /* that are wanted */
int sct_tune_n_units(const tune_queue *q);       /* different kernels, wanted or not */
void sct_tune_set_ready(tune_queue *q, int item);

/* The kernel of the user's own that an item is of, or NULL. */
const sct_own *sct_tune_own(const sct_tune_candidates *cands, int item);
/* Does a kernel that is compiled take what its candidate gives it? If not, the item gets its
 * outcome (tune_params.c). */
bool sct_tune_params_fit(sct_tune_candidates *cands, int item);

/* ---- rendering candidates ---- */

bool sct_tune_is_naive(const sct_tune_candidates *cands,
                       size_t c); /* candidate c is that of its layouts */

/* What is rendered, in which order. */
typedef struct tune_order {
  size_t *candidate; /* [n] */
  size_t n;
  int64_t until_ns; /* when that is to end; 0: with all */
  size_t n_least;   /* the first n_least are rendered in any case */
} tune_order;
/* Where there may be no time for all candidates (tune_order.c). */
void sct_tune_order_init(tune_order *out, const sct_tune_candidates *cands, int64_t until_ns);
void sct_tune_order_free(tune_order *order);
/* out[n_candidates], zeroed at first: what becomes of those in `order`, in the memory of `cands`
 * (tune_render.c). SCT_ESPEC for scripts that a limited child did not survive. */
sct_status sct_tune_render(sct_generated *out, sct_tune_candidates *cands, sct_script *script,
                           const tune_order *order, const sct_tune_events *events, sct_error *err);

/* The candidates of the final heat, in the memory of `cands` (tune_heat.c). */
sct_status sct_tune_heat_labels(sct_tune_labels *out, sct_tune_candidates *cands,
                                const sct_tune_candidates_opts *opts, sct_error *err);

/* Runs what the GPU has not run yet on the CPU; a failure becomes the outcome, and every item that
 * was added becomes ready sooner or later (tune_check.c). */
void sct_tune_check_add(tune_session *s, int item);
#define TUNE_CHECK_PROCESSES 64 /* at most */
/* A step: gives its processes something to do and writes what to poll for them into ready; returns
 * of how many. Then takes what has come by ready[0..n).revents. */
int sct_tune_check_begin(tune_session *s, struct pollfd *ready);
sct_status sct_tune_check_take(tune_session *s, const struct pollfd *ready, int n, sct_error *err);
void sct_tune_check_end(tune_check *c); /* accepts NULL */

sct_status sct_tune_measure(tune_session *s, sct_error *err); /* verify and time */
/* Verifies and times what is not passed over and not known; in a search, of that what is ready. */
sct_status sct_tune_quick_pass(tune_session *s, sct_error *err);
const char *sct_tune_search_name(const sct_tune_opts *opts);
bool sct_tune_searches(const sct_tune_opts *opts); /* in place of trying all at once */
/* Quick passes over candidates in the order of a search, a few at a time, until there are enough.
 */
sct_status sct_tune_search(tune_session *s, sct_error *err);
/* Tries at samples what was tried elsewhere, where that can change which kernels a header has for
 * all of them; all that was tried anywhere is estimated everywhere (tune_elsewhere.c). */
sct_status sct_tune_elsewhere(tune_session *s, sct_error *err);
/* The same for the sizes around listed ones, whatever was done at those. */
sct_status sct_tune_search_around(tune_session *s, sct_error *err);
/* Races the best candidates of one size; rows[n_items] is scratch. */
sct_status sct_tune_final(tune_session *s, int size, sct_rank_row *rows, sct_error *err);

/* What checking, measuring and racing share (tune_measure.c). */
/* Until item may be measured, or the session is to stop. */
sct_status sct_tune_await(tune_session *s, int item, sct_error *err);
/* It is ready, and what it is compared with is or failed. */
bool sct_tune_can_measure(const tune_session *s, int item);
/* The verdict on an item is known: it is stored for every size that it concerns, then reported, so
 * that what was reported survives whatever happens next. */
sct_status sct_tune_record_verdict(tune_session *s, int item, sct_error *err);

/* Fills why, decided and issues of a size whose rows are in their order (tune_why.c). */
void sct_tune_why(const tune_table *t, int size, sct_tune_size *report);
sct_status sct_tune_report_fill(tune_session *s, sct_tune_report *out, sct_error *err);

#endif
