/* tune_internal - a session as a whole: its parts, and the phases that need several of them. A
 * function that needs one part takes that one; each has a header of its own. */
#ifndef SCT_TUNE_INTERNAL_H
#define SCT_TUNE_INTERNAL_H

#include "process/process.h"
#include "search/search.h"
#include "tune/tune_counting.h"
#include "tune/tune_device.h"
#include "tune/tune_flow.h"
#include "tune/tune_record.h"
#include "tune/tune_table.h"

/* How far an item is on its way to the device. */
typedef enum tune_stage { TUNE_WAITING, TUNE_COMPILING, TUNE_CHECKING, TUNE_READY } tune_stage;
typedef struct tune_pipeline tune_pipeline; /* tune_pipeline.c */
typedef struct tune_check tune_check;       /* tune_check.c */

/* What became of a candidate in a process that renders. HERE: it cannot be sent, but was tried.
 * OVER: the time is over, nothing follows. */
typedef enum tune_render {
  TUNE_MADE,
  TUNE_REJECTED,
  TUNE_FAILED,
  TUNE_HERE,
  TUNE_OVER
} tune_render;
#define TUNE_CHECK_TOGETHER 16 /* items of a program, which is sent and read once for them */
#define SCT_MESSAGES        "tune/tune_messages.def"
#include "process/process_declare.def"

struct pollfd;

typedef struct tune_session {
  const sct_tune_opts *opts;
  sct_tune_plan plan;     /* what may be tried */
  tune_device device;     /* on what */
  tune_table table;       /* what is known of it */
  tune_counting counting; /* how it is predicted */
  tune_record record;     /* what is kept of it */
  tune_flow flow;         /* how far it is */
  tune_pipeline *pipeline;
  tune_check *check; /* NULL: not begun */
  bool searching;    /* candidates are compiled and tried as a search asks for them */
} tune_session;

/* ---- from a plan to what may be measured (tune_pipeline.c) ---- */

/* Begins to compile all candidates, the naive ones first; in a search none. */
sct_status sct_tune_pipeline_begin(tune_session *s, sct_error *err) SCT_MUST_USE;
/* Has item compiled and checked, unless it is already. */
sct_status sct_tune_want(tune_session *s, int item, sct_error *err) SCT_MUST_USE;
/* Takes what other processes have finished and gives them more to do; waits for something, at most
 * wait_ns. To be called whenever the device has been busy. */
sct_status sct_tune_pump(tune_session *s, int64_t wait_ns, sct_error *err) SCT_MUST_USE;
void sct_tune_pipeline_end(tune_session *s);
bool sct_tune_is_wanted(const tune_pipeline *p, int item);
/* Compiled, counted and checked: may be measured, unless it has an outcome already. */
bool sct_tune_is_ready(const tune_pipeline *p, int item);
bool sct_tune_all_compiled(const tune_pipeline *p); /* that are wanted */
int sct_tune_n_units(const tune_pipeline *p);       /* different kernels, wanted or not */
void sct_tune_set_ready(tune_pipeline *p, int item);

/* ---- making candidates (tune_plan.c) ---- */

/* What became of a candidate: a kernel, or why its plan turned it down, or why it failed; or there
 * was no time to render it. The texts are the plan's. */
typedef struct tune_made {
  bool rendered;
  const char *failure;  /* NULL: none */
  const char *rejected; /* NULL: it was not */
  sct_kernel_code code;
} tune_made;

/* As sct_tune_plan_make(), but many candidates are made in several processes, and the kernels are
 * brief (sct_kernel_code): sct_tune_plan_complete() before lines are asked for.
 * until_ns: when that is to end, with a sample of many candidates (tune_sample); 0: with all. */
sct_status sct_tune_plan_spread(sct_tune_plan *out, const char *spec_path,
                                const sct_device_desc *device, const char *strategy_dir,
                                const sct_tune_labels *only, int64_t until_ns,
                                const sct_tune_events *events, sct_error *err) SCT_MUST_USE;
sct_status sct_tune_plan_complete(sct_tune_plan *plan, int item, sct_error *err) SCT_MUST_USE;
/* Candidate c; SCT_ENOMEM only, all else is in `out`. */
void sct_tune_generate(tune_made *out, sct_tune_plan *plan, size_t c);
sct_hash sct_tune_made_hash(const tune_made *made);
bool sct_tune_is_naive(const sct_tune_plan *plan,
                       size_t c); /* candidate c is that of its layouts */

/* What is rendered while there is time (tune_sample.c). */
typedef struct tune_sample {
  int64_t until_ns;
  size_t n_least; /* the first so many are rendered in any case */
  size_t *order;  /* [n_candidates]; NULL: all are rendered, in their order */
} tune_sample;
void sct_tune_sample_init(tune_sample *out, const sct_tune_plan *plan, int64_t until_ns);
void sct_tune_sample_free(tune_sample *sample);
static inline size_t sct_tune_sampled(const tune_sample *sample, size_t k) {
  return sample->order ? sample->order[k] : k;
}

/* The processes that make a plan's candidates (tune_makers.c): each has its share tried in a
 * limited child of its own, and sends what it made. */
typedef struct tune_makers tune_makers;
/* false: none could be started. Borrows the sample. */
bool sct_tune_makers_start(tune_makers **out, sct_tune_plan *plan, const tune_sample *sample,
                           const char *spec_path);
/* Waits for the candidate that is `next` in the sample, from 0 on. An error of the scripts is that
 * of the process; where that was lost, SCT_EINTERNAL. */
sct_status sct_tune_makers_next(tune_makers *m, tune_made *out, size_t next,
                                sct_error *err) SCT_MUST_USE;
sct_status sct_tune_makers_finish(tune_makers *m, sct_error *err) SCT_MUST_USE;
bool sct_tune_makers_lost(const tune_makers *m); /* one ended that should not have */
void sct_tune_makers_free(tune_makers *m);       /* kills those that are left; accepts NULL */

/* Forks a process that knows all that the session knows: it runs `run` with s, its end of a socket
 * and ctx, and ends. false: there is none (tune_fork.c). */
bool sct_tune_fork(sct_child *out, tune_session *s,
                   void (*run)(tune_session *s, int fd, const void *ctx), const void *ctx);

/* Runs what the GPU has not run yet on the CPU; a failure becomes the outcome, and every item that
 * was added becomes ready sooner or later (tune_check.c). */
void sct_tune_check_add(tune_session *s, int item);
#define TUNE_CHECK_PROCESSES 64 /* at most */
/* A step: gives its processes something to do and writes what to poll for them into ready; returns
 * of how many. Then takes what has come by ready[0..n).revents. */
int sct_tune_check_begin(tune_session *s, struct pollfd *ready);
sct_status sct_tune_check_take(tune_session *s, const struct pollfd *ready, int n,
                               sct_error *err) SCT_MUST_USE;
void sct_tune_check_rest(tune_check *c); /* nothing more will be added: its processes may end */
void sct_tune_check_end(tune_check *c);  /* this and that accept NULL */

sct_status sct_tune_measure(tune_session *s, sct_error *err) SCT_MUST_USE; /* verify and time */
/* Verifies and times what is not passed over and not known; in a search, of that what is ready. */
sct_status sct_tune_screen(tune_session *s, sct_error *err) SCT_MUST_USE;
const char *sct_tune_search_name(const sct_tune_opts *opts);
bool sct_tune_searches(const sct_tune_opts *opts); /* in place of trying all at once */
/* Screens candidates in the order of a search, a few at a time, until there are enough. */
sct_status sct_tune_search(tune_session *s, sct_error *err) SCT_MUST_USE;
/* Races the best candidates of one size; rows[n_items] is scratch. */
sct_status sct_tune_final(tune_session *s, int size, sct_rank_row *rows,
                          sct_error *err) SCT_MUST_USE;

/* Which of n things is next: the first that is not taken, if it is ready; else the first that is
 * ready, if at least so many are; -1: none. */
int sct_tune_pick(const bool *taken, int n, int least, bool (*is_ready)(const void *ctx, int k),
                  const void *ctx);

/* What checking, measuring and racing share (tune_measure.c). */
/* Until item may be measured, or the session is to stop. */
sct_status sct_tune_await(tune_session *s, int item, sct_error *err) SCT_MUST_USE;
/* It is ready, and what it is compared with is or failed. */
bool sct_tune_can_measure(const tune_session *s, int item);
/* The verdict on an item is known: it is stored for every size that it concerns, then told, so that
 * what was told survives whatever happens next. */
sct_status sct_tune_settle(tune_session *s, int item, sct_error *err) SCT_MUST_USE;

sct_status sct_tune_report_fill(tune_session *s, sct_tune_report *out, sct_error *err) SCT_MUST_USE;

#endif
