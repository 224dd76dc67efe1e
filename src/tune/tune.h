/* tune - one tuning session: spec to verified, timed (on a virtual device: counted) and stored
 * candidates, and the choice among them.
 *
 * The session asks script for the space, codegen for kernels, compile for machine code, model for
 * counts, measure for verdicts and times, and writes every outcome to the store as it comes. It
 * prints nothing: events go to a callback, the result is plain data. */
#ifndef SCT_TUNE_H
#define SCT_TUNE_H

#include "codegen/codegen.h"
#include "compile/compile.h"
#include "device/device.h"
#include "measure/measure.h"
#include "model/model.h"
#include "script/script.h"
#include "store/store.h"

/* What one card measured at one size, and how it compares with others of its kind. */
typedef struct sct_tune_sheet {
  sct_row_result *rows; /* [n]; sorted by source by sct_tune_scale() */
  int n;
  double scale; /* its times by the usual ones of the same candidates; 1: as usual, or unknown */
  int n_common; /* candidates that all sheets have; 0: there is nothing to compare */
} sct_tune_sheet;
/* Scales sheets by the candidates that all of them timed: the median of the ratios of their times
 * to their median over the sheets. A card is slow, or was throttled, where its scale is above
 * 1 + SCT_MOST_NOISE. */
void sct_tune_scale(sct_tune_sheet *sheets, int n);

/* ---- sessions ---- */

/* A prediction that moves useful bytes at more than this times what a copy reaches is a defect of
 * the model. */
#define SCT_CREDIBLE 1.05

/* Labels of candidates. */
typedef struct sct_tune_labels {
  int n;
  const char *const *label;
} sct_tune_labels;

/* The k-th of n shares of the candidates, 1 to n; n = 0: all of them. */
typedef struct sct_tune_share {
  int k, n;
} sct_tune_share;
#define SCT_TUNE_MOST_SHARES 100000

/* The final heat: the n best candidates of each size in a store that was merged from shares. */
typedef struct sct_tune_heat {
  const char *store_path; /* NULL: none */
  int n;
} sct_tune_heat;

typedef struct sct_tune_opts {
  const char *device;       /* "cuda:0", "virtual:h200", "replay:FILE#DEVICE"; NULL: the first GPU,
                               else virtual:h200 */
  const char *peer;         /* of transfers: the second device; NULL: none */
  const char *store_path;   /* NULL: the default store; "" : keep nothing */
  const char *cache_dir;    /* NULL: the default; "": none */
  const char *strategy_dir; /* further strategies; NULL: none */
  sct_tune_labels only;     /* try these and the naive ones; n = 0: all */
  sct_tune_share share;     /* try these, the naive ones, and a few that are in every share */
  sct_tune_heat heat;       /* try these and the naive ones; neither with `only` nor `share` */
  int64_t budget_ns;        /* wall time for one spec, from generating on; 0: no limit */
  uint64_t seed;            /* of the data, and of the search */
  const char *search; /* a method of module search; NULL: exhaustive, or where not all may be tried
                         (budget_ns, max_candidates) model */
  bool around;        /* tune some sizes around listed ones, too (sct_size.around) */
  bool settle;        /* end by itself where more candidates are unlikely to be better
                         (sct_search_is_settled); without `search`, by method model */
  /* Candidates tried at each size, failing ones and those that the store has included; the naive
   * ones are tried in any case. 0: all. */
  int max_candidates;
  bool select_any;
  bool again;               /* measure what the store already has */
  bool no_check;            /* send candidates to a GPU that were not run on the CPU first */
  int compile_threads;      /* processes; 0: all cores */
  int64_t compile_limit_ns; /* of a batch; 0: 60 s */
  int place, n_places;      /* of sessions that tune the same at the same time: compile.h */
  sct_measure_opts measure; /* for tests: the worker's program, its script */
} sct_tune_opts;

typedef enum sct_tune_event_kind {
  SCT_TUNE_STARTED,   /* device and space are known: name, device, conditions, n_sources, n_sizes */
  SCT_TUNE_EVALUATED, /* a candidate failed, or was verified where nothing is timed: label, row with
                         outcome and detail */
  SCT_TUNE_TIMED,     /* a candidate at one size: label, size, row */
  SCT_TUNE_RACED,     /* a race is over: phase, size, n_racers, n_rounds, the leader's label and row
                         (NULL: none) */
  SCT_TUNE_SIZE_DONE  /* size, the winner's label and row (NULL: none), n_tied */
} sct_tune_event_kind;

/* What a kind does not name is 0 or NULL. Valid during the call only. */
typedef struct sct_tune_event {
  sct_tune_event_kind kind;
  const char *name, *label, *size, *phase;
  const sct_device_desc *device;
  const sct_conditions *conditions; /* NULL where nothing is measured */
  const sct_row_outcome *row;
  int n_sources, n_sizes, n_racers, n_rounds, n_tied;
} sct_tune_event;

typedef struct sct_tune_events {
  void *ctx;
  void (*happened)(void *ctx, const sct_tune_event *event); /* may be NULL */
  /* `phase`: "generate", "compile", "count", "check", "verify", "time", "final"; item: label at
   * hand or NULL. */
  void (*progress)(void *ctx, const char *phase, int64_t done, int64_t total, const char *item);
  bool (*stop)(void *ctx); /* true: end early, keep what is there */
} sct_tune_events;

/* What was counted when the PTX ran at small sizes. */
typedef struct sct_ptx_check {
  bool known;         /* the candidate was verified on a virtual device in this session */
  sct_run_counts ptx; /* of one of them */
  int64_t elements;   /* of the index space at that size */
  /* machine instructions of warps, estimated from the PTX and fitted to all sizes that ran */
  double per_block[SCT_N_PIPES], per_work[SCT_N_PIPES];
  bool by_elements; /* work is an element of the index space; else a request */
  int n_uncovered;  /* as in sct_verdict, at lines of templates where they are known */
  char uncovered[SCT_UNCOVERED_BYTES];
} sct_ptx_check;

/* A candidate at a size. Texts are in the size's arena. */
typedef struct sct_tune_row {
  const char *label;
  sct_row_outcome outcome;   /* as it is stored, but for ids and samples */
  const char *warning;       /* of a good one: what verification found doubtful; NULL: nothing */
  double bytes_per_s, share; /* useful bytes; share of the ceiling; 0: not timed */
  bool incredible; /* it moves more than SCT_CREDIBLE times what a copy reaches: ranked last */
  const char *predicted_limit; /* what the prediction waits for: "DRAM bytes"; NULL */
  double degree_ld, degree_st; /* of coalescing */
  int registers, spill_bytes, shared_bytes;
  double occupancy;
  bool tied, winner, naive;
  int own;                 /* number of the user's own kernel, from 1; 0: it is none */
  bool counted;            /* the outcome's counts are known */
  const char *approximate; /* why they may not be the machine's, one sentence; NULL: exact */
  sct_ptx_check ptx;
} sct_tune_row;

/* What became of each of the report's n_sources: n_verified + n_failed + n_unfit + n_untried. */
typedef struct sct_tune_size {
  const char *label;
  bool sampled; /* of a range, or around listed sizes */
  bool around;  /* the latter */
  int n_rows;
  sct_tune_row *rows; /* the winner first, then by time (or sectors); failures last */
  double ceiling_bytes_s;
  double read_bytes, write_bytes;
  int n_untried;                             /* left out by the search, or by an early end */
  int n_verified, n_failed, n_tied, n_unfit; /* unfit: requirements do not hold at this size */
  int n_stored;                              /* rows of earlier sessions, taken from the store */
  bool verified_only_counted;                /* verified, but the device gives no times */
  const char *recorded; /* of a replay, a sentence: the winner against the best recorded; NULL */
  const char *faster; /* a sentence if a candidate was passed over, as it is not coalesced; NULL */
  const char *passed_over; /* its label; NULL */
  double faster_ratio;     /* the winner's time over that one's; 1: none was passed over */
  const char *uncoalesced; /* lines: the winner is not coalesced, at which accesses; NULL: it is */
  const char *converted;   /* a sentence where times include conversions between layouts; NULL */
  const char *kept;        /* a sentence if the store's winner, which was not tried, stays; NULL */
  const char *why;     /* lines: how the winner works, its limit, what the naive one wastes; NULL */
  const char *best;    /* lines: the best of each strategy, of each layout of an array; NULL */
  const char *decided; /* a sentence: what decided among rows as good as the winner; NULL */
  sct_arena arena;     /* of all texts, rows' too, and of the next */
  sct_advice *issues;  /* [n_issues] of the winner's layouts: what no candidate mends */
  int n_issues;
} sct_tune_size;

typedef struct sct_tune_report {
  char *name;
  sct_device_desc device;
  const char *says; /* the device kind's: "timed", "..., not timed" */
  bool replayed;    /* all times are drawn from a recording: none was measured */
  int64_t n_points, n_candidates, n_sources;
  sct_tune_share share;  /* these were tried; n = 0: all */
  sct_tune_heat heat;    /* these were; borrows the path */
  int64_t n_ungenerated; /* candidates that the budget left no time to generate */
  int n_sizes;
  sct_tune_size *sizes;
  sct_str conditions;  /* of the GPU while it timed, a JSON object (docs/store.md); empty where
                          nothing is timed */
  bool contended;      /* other processes computed on the GPU when the session began */
  int64_t n_contended; /* samples while a process computed that came later */
  int64_t n_slow, n_samples; /* samples at a low clock or under hardware slowdown; all */
  uint64_t throttle;         /* reasons seen with the samples */
  int n_checked;             /* before a GPU: evaluated by running their PTX on the CPU */
  int n_caught;              /* those of them that failed, and were not sent to the GPU */
  char *stale; /* a sentence: what the store has of this kernel under other conditions; NULL */
  bool stopped_early;
  const char *search; /* the method that chose the candidates */
  bool settled;       /* the search ended because more candidates are unlikely to be better */
} sct_tune_report;
void sct_tune_report_free(sct_tune_report *report);
/* Sectors a request; 0: none, or not counted. */
double sct_tune_row_loads(const sct_tune_row *row), sct_tune_row_stores(const sct_tune_row *row);
/* Appends the JSON object of the conditions under which a session timed (docs/store.md,
 * "conditions"). */
sct_status sct_tune_conditions(sct_str *out, const sct_conditions *c, sct_error *err);

/* Tunes the spec at `spec_path`. Statuses: those of loading (SCT_ESPEC), SCT_ENODEVICE, SCT_ENVRTC,
 * SCT_ENOTVERIFIED (no candidate of some size survived; the report says why), SCT_ESTOPPED
 * (budget), SCT_EINTERRUPTED (events.stop); in the last three the report is filled. */
sct_status sct_tune_run(sct_tune_report *out, const char *spec_path, const sct_tune_opts *opts,
                        const sct_tune_events *events, sct_error *err);

/* The device a session would use: fills desc, starts a worker for a GPU and ends it. */
sct_status sct_tune_device(sct_device_desc *out, const sct_tune_opts *opts, sct_error *err);
/* Sets counting_only of those that a session cannot tune for, as the toolkit here compiles nothing
 * for their compute capability; where there is none to ask, those that no toolkit compiles for. */
void sct_tune_mark_described(sct_device_desc *devices, int n);

/* Measures what the parts of opts->device, a GPU, do: `text` receives its description as a device
 * file, `path` the file where it is kept for predictions. SCT_EUSAGE for what is no GPU. */
sct_status sct_tune_calibrate_device(sct_str *text, sct_str *path, const sct_tune_opts *opts,
                                     sct_error *err);

/* ---- without a device: for `space` and `gen` ---- */

/* A candidate with the kernel generated from it. */
typedef struct sct_tune_item {
  int64_t candidate; /* index into space.candidates */
  const bool *sizes; /* [n_sizes] those it is a candidate for; NULL: all */
  const bool *naive; /* [n_sizes] those where it is the naive variant of its layouts; NULL: none */
  char *label;
  sct_kernel_code code;
  sct_compiled compiled;
  sct_outcome_kind outcome; /* SCT_OUT_OK until something fails */
  char *detail;
  char *warning;     /* what verification found doubtful and not wrong; NULL: nothing */
  char *approximate; /* how the counts of its machine code differ from its PTX's; NULL: they do not,
                        or were not compared */
  bool compared;     /* they were */
  bool checked;      /* before a GPU: its PTX was run on the CPU, or cannot be */
  sct_ptx_check ptx;
} sct_tune_item;

/* What can be tried for one spec on one device: the space's candidates that are left after pruning,
 * with their kernels. */
typedef struct sct_tune_candidates {
  sct_spec spec;
  sct_device_desc device;
  sct_space space;
  int n_items;
  size_t cap_items;
  sct_tune_item *items;  /* those with a source of their own, in order; the naive variants first of
                            each layout choice */
  int64_t n_ungenerated; /* candidates for which there was no time: nothing is known of them */
  sct_arena arena;
  sct_wire *sent; /* [n_sent] what was rendered: texts of items are there */
  size_t n_sent, cap_sent;
} sct_tune_candidates;
typedef struct sct_tune_candidates_opts {
  const char *strategy_dir;    /* NULL: none but ours */
  const sct_tune_labels *only; /* NULL: all are wanted */
  bool only_naive;             /* none but the naive ones, and those in `only` */
  sct_tune_share share;
  sct_tune_heat heat;
  bool around;                   /* as of sct_tune_opts */
  bool select_any;               /* of the heat: those that are not coalesced compete */
  int64_t until_ns;              /* of many candidates some are rendered, till then; 0: all are */
  const sct_tune_events *events; /* NULL: nobody watches */
  const char *nvrtc;             /* its version: what it cannot compile is pruned; NULL: nothing */
} sct_tune_candidates_opts;
/* Loads the spec, enumerates the space for the device and generates every kernel; candidates
 * rejected by their plan, equal to another's source, not for this NVRTC, in another share, or
 * neither naive nor in `only` or `heat` are counted in space.prunes. SCT_EUSAGE for a label in
 * `only` that no candidate has, SCT_EDATA where the heat's store has nothing of this spec and kind
 * of device.
 */
sct_status sct_tune_candidates_make(sct_tune_candidates *out, const char *spec_path,
                                    const sct_device_desc *device,
                                    const sct_tune_candidates_opts *opts, sct_error *err);
void sct_tune_candidates_free(sct_tune_candidates *cands);

/* ---- copies between a device and the host, or a second device (tune_transfer.c) ---- */

#define SCT_TRANSFER_MOST_SIZES 24
#define SCT_TRANSFER_SETUP      0 /* in place of a way: making the host's memory */
#define SCT_TRANSFER_N_WAYS     4
#define SCT_TRANSFER_BUDGET_NS  ((int64_t)40000000000)

typedef struct sct_transfer_cell {
  bool known; /* it has a time or a failure, which the store keeps */
  const char *failure;
  sct_times times; /* without samples; where they are not timed, as the device states them */
} sct_transfer_cell;

/* A kind of memory, one way. */
typedef struct sct_transfer_row {
  sct_transfer_cell cells[SCT_TRANSFER_MOST_SIZES];
  double latency_ns;   /* of the smallest size; 0: none was timed */
  double best_bytes_s; /* of all sizes; both ways: the sum */
  double half_bytes;   /* where half of that is reached, between two sizes by interpolation */
} sct_transfer_row;

typedef struct sct_transfer_report {
  sct_device_desc device, peer; /* peer: the second device, if n_kinds is SCT_N_HOSTS */
  bool timed;                   /* else stated */
  int n_kinds;                  /* of rows: SCT_N_HOSTS with a second device, else SCT_HOST_PEER */
  int n_sizes;
  int64_t bytes[SCT_TRANSFER_MOST_SIZES];                  /* one way, ascending */
  sct_transfer_row rows[SCT_N_HOSTS][SCT_TRANSFER_N_WAYS]; /* [kind][way] */
  sct_arena arena;
} sct_transfer_report;

/* Times copies between a device and the host and, where there is opts->peer, that second device, by
 * kind of memory, way and size: out->bytes, of which the caller fills n_sizes, multiples of 16,
 * ascending. What the store has under these conditions is not timed again, unless opts->again. What
 * a device refuses is a failure of its cells, and the others go on; so is what opts->budget_ns (0:
 * forty seconds) leaves no time for. SCT_EUSAGE for a peer that is the same GPU, or of another
 * sort.
 */
sct_status sct_tune_transfer(sct_transfer_report *out, const sct_tune_opts *opts, sct_error *err);
/* A copy that the store has a time of. */
typedef struct sct_transfer_known {
  sct_host_kind kind;
  const char *way;  /* sct_way_name() */
  const char *peer; /* uuid or id of the second device; "": the host */
  int64_t bytes;    /* each way */
  double bytes_s;   /* both ways: the sum */
} sct_transfer_known;
typedef struct sct_transfer_list {
  sct_arena arena; /* owns all of it */
  sct_transfer_known *copies;
  int n;
} sct_transfer_list;
/* What the store has of this device under its conditions, of any sizes, in no order; nothing is
 * timed. store_path as in sct_tune_opts; SCT_EIO where it is not there. `out` is zero before. */
sct_status sct_tune_transfers_known(sct_transfer_list *out, const sct_device_desc *device,
                                    const char *store_path, sct_error *err);
/* Bytes a second of a cell; 0: it has no time. */
double sct_transfer_rate(const sct_transfer_report *report, sct_host_kind kind, int way, int size);

/* ---- arrays of the host: the whole way of a spec (tune_host.c) ---- */

/* A way that was tried. */
typedef struct sct_host_row {
  sct_host_way way;
  int chunk_mib;       /* of the largest array; 0: not cut */
  const char *kernel;  /* label of the candidate that computes chunks */
  const char *rule_of; /* the device whose rule in a header takes it; NULL: the store has none */
  const char *tuned;   /* the tuned size that it won, and the chunk has; NULL: by a branch */
  bool is_exact;       /* there is one */
  sct_outcome_kind outcome;
  const char *failure; /* NULL: none */
  double modelled_ns;
  sct_times times;
  sct_pipe_step *steps; /* [n_steps] the timeline: measured where it was timed, else modelled */
  int n_steps;
  sct_overlap overlap; /* of it */
} sct_host_row;
/* Its median; where it was not timed, the modelled time. */
double sct_host_row_ns(const sct_host_row *row);

typedef struct sct_host_size {
  const char *label;
  int64_t n; /* elements of the dimension that is cut */
  double bytes_in, bytes_out;
  double engine_ns[SCT_N_ENGINES]; /* all copies of page-locked memory each way; the kernel */
  double bound_ns;                 /* the longest of them */
  double two_bound_ns;             /* the longest of them for the larger half; 0: no way has two
                                      devices */
  double lock_ns;                  /* to page-lock all arrays; 0: not known */
  int n_rows;
  sct_host_row *rows;
  int locked, pageable; /* the fastest of page-locked arrays, and of pageable ones; -1: none */
} sct_host_size;

typedef struct sct_host_report {
  const char *name, *dim;       /* of the kernel; which dimension is cut */
  sct_device_desc device, peer; /* peer: where the options name a second device */
  const char *one_device;       /* why there are none of both then; NULL: there are */
  bool has_halo;                /* a half computes some of the other one's elements, too */
  bool timed;                   /* else modelled */
  int n_sizes;
  sct_host_size *sizes;
  sct_arena arena;
} sct_host_report;

/* Tries ways from the host and back for a spec with `host = true`, at a size of it (NULL: at each),
 * by the model and, where the device gives times, the best of them timed; all that run are
 * verified. Chunks are computed by what a header from the store takes for them. Keeps what it
 * finds. With opts->peer, of the same model, the best ways are also tried with a half of the arrays
 * on each device. opts->budget_ns: of all samples; 0: 1.5 s a way. SCT_EUSAGE: the spec does not
 * say `host`, or has no such size; a peer of another model. */
sct_status sct_tune_host(sct_host_report *out, const char *spec_path, const char *size,
                         const sct_tune_opts *opts, const sct_tune_events *events, sct_error *err);
/* Appends what the store of the options has of a spec's ways on a device, an object a size: `size`,
 * `bytes` of both ways, `ways` (way, axes, ns, timed), `found` (docs/store.md). Nothing is timed.
 */
sct_status sct_tune_host_known(json_t *out, const sct_spec *spec, const sct_device_desc *device,
                               const sct_tune_opts *opts, sct_error *err);

#endif
