/* tune_internal - the state of one session, shared by its phases. */
#ifndef SCT_TUNE_INTERNAL_H
#define SCT_TUNE_INTERNAL_H

#include "process/process.h"
#include "ptx/ptx.h"
#include "search/search.h"
#include "tune/tune.h"

/* What is known of one item at one size. */
typedef struct tune_cell {
  bool fits;      /* the kernel's requirements hold at this size */
  bool counted;   /* it has counters */
  bool estimated; /* they follow from what the plan says of its traffic: nothing was counted */
  sct_counters counters;
  sct_prediction predicted;     /* ns 0: unknown */
  double strain[SCT_N_STRAINS]; /* with it */
  sct_verdict verdict;          /* of this size; OUT_OK from the start */
  bool verified;                /* ran with right results, in this session or an earlier one */
  sct_timing timing;            /* n_samples 0: not timed */
  int race;        /* of the session, from 1, that the timing comes from; 0: the screen */
  bool from_store; /* as an earlier session stored it */
  bool stored;     /* by this session */
  char stored_as[SCT_HASH_HEX]; /* what was stored, but for `was_coalesced` */
  bool was_coalesced;           /* from_store or stored: as it is stored */
  bool passed_over;             /* a search has not asked for it, or it had its turn */
  bool coalesced, tied;         /* as sct_tune_decide saw it last */
  sct_id outcome_id;
} tune_cell;

/* How far an item is on its way to the device. */
typedef enum tune_stage { TUNE_WAITING, TUNE_COMPILING, TUNE_CHECKING, TUNE_READY } tune_stage;
typedef struct tune_pipeline tune_pipeline; /* tune_pipeline.c */
typedef struct tune_check tune_check;       /* tune_check.c */
typedef struct tune_codes tune_codes;       /* tune_twins.c */
typedef struct tune_replay tune_replay;     /* tune_replay.c */

/* The candidates of a batch share one text, and mostly stand one after the other. */
typedef struct tune_parsed {
  const char *text;
  sct_ptx_module *module; /* NULL: this text cannot be read */
} tune_parsed;

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
  const sct_tune_events *events;
  const sct_device_kind *kind;
  sct_device_desc device;
  sct_device_desc rated; /* the same, with the rates that a GPU does not tell (sct_tune_rates) */
  sct_measure *measure;
  sct_tune_plan plan;
  sct_compiler *compiler;
  sct_store *store;    /* NULL: keep nothing */
  tune_replay *replay; /* NULL, or the recording that stands in for the device: no compiler then */
  sct_row_problem problem;
  sct_row_device device_row;
  sct_row_run *runs; /* [n_sizes] */
  tune_cell *cells;  /* [n_items * n_sizes], item-major */
  int *group;        /* [n_items] the first item of the same layouts; -1: it has no kernel */
  int *twin;         /* [n_items] an earlier item that runs alike, measured for both; -1: none */
  tune_codes *codes; /* of the items that are compiled */
  tune_pipeline *pipeline;
  tune_parsed parsed;   /* of the item whose code was compared last */
  sct_sampler *sampler; /* of this process; NULL: nothing was counted from PTX */
  tune_check *check;    /* NULL: not begun */
  sct_choice *choices;  /* [n_sizes] */
  const char **kept;    /* [n_sizes]: a sentence on the winner in the store that stays; NULL */
  int64_t deadline_ns;  /* 0: none */
  const char **races;   /* [n_races]: names, unique across stores; a cell's race is an index + 1 */
  size_t n_races, cap_races;
  char *stale;        /* what the store has that is not used; NULL: nothing */
  bool nothing_known; /* the store had no outcome of this problem on this device at the start */
  bool stopped, out_of_time;
  bool searching;           /* candidates are compiled and tried as a search asks for them */
  int naive_set;            /* item whose layouts the worker has arrays for; -1: none */
  int64_t n_verify, n_time; /* steps of these phases so far */
  int n_checked, n_caught;  /* candidates judged on the virtual device first; those that failed */
  sct_str scratch;
} tune_session;

tune_cell *sct_tune_cell(tune_session *s, int item, int size);
bool sct_tune_stop(tune_session *s); /* the user or the budget says so */
/* Are there candidates that this session was not asked to try, or had no time to generate? */
bool sct_tune_is_part(const tune_session *s);
void sct_tune_progress(tune_session *s, const char *phase, int64_t done, int64_t total,
                       const char *item);

sct_status sct_tune_open(tune_session *s, sct_error *err) SCT_MUST_USE; /* device, worker, store */
/* Begins to compile all candidates, the naive ones first; in a search none (tune_pipeline.c). */
sct_status sct_tune_pipeline_begin(tune_session *s, sct_error *err) SCT_MUST_USE;
/* Has item compiled and checked, unless it is already. */
sct_status sct_tune_want(tune_session *s, int item, sct_error *err) SCT_MUST_USE;
bool sct_tune_is_wanted(const tune_session *s, int item);
/* Takes what other processes have finished and gives them more to do; waits for something, at most
 * wait_ns. To be called whenever the device has been busy. */
sct_status sct_tune_pump(tune_session *s, int64_t wait_ns, sct_error *err) SCT_MUST_USE;
/* Are candidates checked on the CPU before the device runs them? */
bool sct_tune_is_checked(const tune_session *s);
/* Compiled, counted and checked: may be measured, unless it has an outcome already. */
bool sct_tune_is_ready(const tune_session *s, int item);
bool sct_tune_all_compiled(const tune_session *s); /* that are wanted */
int sct_tune_n_units(const tune_session *s);       /* different kernels, wanted or not */
void sct_tune_set_ready(tune_session *s, int item);
void sct_tune_pipeline_end(tune_session *s);
/* Which sizes item k fits, with an estimate; then its counts and predicted times, where it has
 * none yet (tune_count.c). */
void sct_tune_fit(tune_session *s, int item);
bool sct_tune_is_counted(tune_session *s, int item); /* from its code, at every size */
sct_status sct_tune_count(tune_session *s, int item, sct_error *err) SCT_MUST_USE;
/* Predicts again where item is counted, when more is known of its code. */
sct_status sct_tune_predict(tune_session *s, int item, sct_error *err) SCT_MUST_USE;
/* The counts from one process to another, from compiled code. What could not be counted there is
 * not counted here either, before sct_tune_count(). */
const tune_size_counts *sct_tune_counts_of(tune_session *s, int item, tune_parsed *parsed,
                                           const sct_compiled *compiled, sct_arena *arena);
sct_status sct_tune_take_counts(tune_session *s, int item, const tune_size_counts *list, int64_t n,
                                sct_error *err) SCT_MUST_USE;
/* What running the PTX at a small size says (tune_run.c); !known where it was not counted. */
sct_ptx_check sct_tune_run_of(const tune_session *s, const sct_verdict *verdict);
/* Takes that over: item k is predicted anew, and with a naive variant those that did not run. */
sct_status sct_tune_take_run(tune_session *s, int k, const sct_ptx_check *check,
                             sct_error *err) SCT_MUST_USE;
/* Machine instructions of the whole kernel at a size, by pipe; of one that did not run what the
 * body comes to in the naive variant, and 0 where that did not run either. */
void sct_tune_executed(tune_session *s, int k, int size, double out[SCT_N_PIPES]);
/* Says in item->approximate why its counts are not those of its machine code, unless it was asked
 * before (tune_exact.c). */
void sct_tune_compare_code(tune_session *s, int item);
/* The same in another process, for compiled code that it was sent, and its answer here. */
const char *sct_tune_comparison_of(tune_parsed *p, const sct_compiled *compiled, sct_arena *arena);
void sct_tune_take_comparison(tune_session *s, int item, const char *cause);
sct_status sct_tune_parse(tune_parsed *p, const char *text, sct_error *err) SCT_MUST_USE;
void sct_tune_parsed_free(tune_parsed *p);

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
/* out[n_operands]: which of its layouts each operand has in candidate c. */
void sct_tune_layouts(int *out, const sct_tune_plan *plan, int64_t c);
bool sct_tune_is_naive(const sct_tune_plan *plan, size_t c); /* of its layouts */

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
void sct_tune_check_rest(tune_session *s); /* nothing more will be added: its processes may end */
void sct_tune_check_end(tune_session *s);

/* The recording "FILE" or "FILE#DEVICE" of a device `replay:...` (tune_replay.c). SCT_EDATA for
 * what is no store; SCT_EUSAGE where it has several devices; SCT_ENODEVICE. */
sct_status sct_tune_replay_open(tune_replay **out, const char *name, sct_error *err) SCT_MUST_USE;
void sct_tune_replay_free(tune_replay *r); /* accepts NULL */
const sct_recording *sct_tune_replay_recording(const tune_replay *r);
/* Reads the results of the plan's spec. SCT_EDATA if there are none. */
sct_status sct_tune_replay_load(tune_session *s, sct_error *err) SCT_MUST_USE;
void sct_tune_replay_compiled(tune_session *s, int item); /* in place of compiling it */
/* A sentence: the winner of a size against the best that was recorded; NULL: nothing to say.
 * sct_free(). */
char *sct_tune_replay_best(tune_session *s, int size);

/* Items that run alike (tune_twins.c). */
bool sct_tune_codes_new(tune_codes **out, int n_items); /* false: out of memory */
void sct_tune_codes_free(tune_codes *c);                /* accepts NULL */
void sct_tune_note_code(tune_session *s, int item);     /* once, when it is compiled */
void sct_tune_find_twin(tune_session *s, int item);     /* among those that were judged before it */
static inline bool sct_tune_is_timed(const tune_cell *cell) { /* or failed while it was */
  return cell->timing.n_samples > 0 || cell->verdict.outcome != SCT_OUT_OK;
}
void sct_tune_take_twin(tune_session *s, int item, int size);

sct_status sct_tune_measure(tune_session *s, sct_error *err) SCT_MUST_USE; /* verify and time */
/* Verifies and times what is not passed over and not known; in a search, of that what is ready. */
sct_status sct_tune_screen(tune_session *s, sct_error *err) SCT_MUST_USE;
/* Fills `rated`: a driver tells limits and clocks, not what L2 or an SM does a cycle. Those come
 * from the described device of the same compute capability that is nearest in multiprocessors;
 * where there is none, nothing is predicted and a search begins in the order of counts. */
sct_status sct_tune_rates(tune_session *s, sct_error *err) SCT_MUST_USE;
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
sct_binary sct_tune_binary(const sct_tune_item *item);
bool sct_tune_same_layouts(const tune_session *s, int a,
                           int b);                     /* false for one without a kernel */
int sct_tune_naive_item(const tune_session *s, int k); /* of item k's layouts; -1 if it failed */
sct_status sct_tune_set_problem(tune_session *s, int naive, sct_error *err) SCT_MUST_USE;
/* Appends a log to s->scratch, with the template's lines for those of the item's source. */
void sct_tune_map_log(tune_session *s, int item, const char *log);
void sct_tune_fail_item(tune_session *s, int item, const sct_verdict *verdict);
/* The verdict on an item is known: it is stored for every size that it concerns, then told, so that
 * what was told survives whatever happens next. */
sct_status sct_tune_settle(tune_session *s, int item, sct_error *err) SCT_MUST_USE;
/* The store has it at every size that is not passed over. */
bool sct_tune_known_already(tune_session *s, int item);
bool sct_tune_judged_already(tune_session *s, int item); /* that, or an earlier round verified it */

/* out[n_operands]: the sectors by which a candidate's accesses to an operand are called coalesced,
 * from counted[n_operands]. */
void sct_tune_judged_sectors(int64_t *out, const sct_spec *spec, const sct_size *size,
                             const int *layout, const sct_count *counted);
sct_choice sct_tune_decide(tune_session *s, int size, sct_rank_row *rows);

sct_status sct_tune_store_begin(tune_session *s, sct_error *err) SCT_MUST_USE;
sct_status sct_tune_store_cell(tune_session *s, int item, int size, bool replace,
                               sct_error *err) SCT_MUST_USE;
/* Stores what is not stored of a size, and which of all candidates are coalesced. */
sct_status sct_tune_store_size(tune_session *s, int size, sct_error *err) SCT_MUST_USE;
sct_status sct_tune_store_end(tune_session *s, int size, sct_error *err) SCT_MUST_USE;
/* Adds to a run's conditions in what shapes its winner is predicted to be slower than naive. */
void sct_tune_add_shapes(tune_session *s, int size, sct_str *conditions);
/* Nothing is stored of a kernel whose requirements do not hold at this size, of one without text,
 * or of one that was not reached. */
bool sct_tune_has_outcome(const tune_session *s, const sct_tune_item *item, const tune_cell *cell);
/* The outcome of the naive variant with these layouts; 0: none. */
sct_id sct_tune_naive_outcome(tune_session *s, int size, const int *layout);
/* After a session of a part of the candidates: where one that it left out stays or becomes the
 * winner of the size, fills s->kept and the winner of the run (tune_kept.c). */
sct_status sct_tune_find_kept(tune_session *s, int size, sct_error *err) SCT_MUST_USE;
/* Takes over what an earlier session measured under the same conditions. */
sct_status sct_tune_store_resume(tune_session *s, int item, int size, sct_error *err) SCT_MUST_USE;
/* That at every size, unless all is to be measured again, or nothing can be there: nothing was when
 * the session began, and nobody else has written since. */
sct_status sct_tune_resume_item(tune_session *s, int item, sct_error *err) SCT_MUST_USE;

/* For a session that ends before it measures: takes over what an earlier one stored, winners too,
 * for the report. Writes nothing of candidates. */
sct_status sct_tune_store_known(tune_session *s, sct_error *err) SCT_MUST_USE;
/* A new race: its number in the session; 0: out of memory. */
int sct_tune_race_new(tune_session *s);
/* Notes durably that so many stages of the race at a size are complete. */
sct_status sct_tune_store_raced(tune_session *s, int size, int n_stages,
                                sct_error *err) SCT_MUST_USE;
/* Says in s->stale what the store has of this kernel that was measured under other conditions, or
 * of another version of the spec (tune_stale.c). */
sct_status sct_tune_find_stale(tune_session *s, sct_error *err) SCT_MUST_USE;
/* Events (tune_events.c). */
void sct_tune_tell_start(tune_session *s);
void sct_tune_tell_item(tune_session *s, int item);
void sct_tune_tell_cell(tune_session *s, int item, int size);
void sct_tune_tell_race(tune_session *s, const char *phase, int size, int n, const int *items);
void sct_tune_tell_size(tune_session *s, int size);

sct_status sct_tune_report_fill(tune_session *s, sct_tune_report *out, sct_error *err) SCT_MUST_USE;

#endif
