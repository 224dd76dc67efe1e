/* measure - verification and timing of candidates in a disposable worker process.
 *
 * This is the parent's side, which asks and evaluates and never loads CUDA; what a worker does is
 * module worker. Every request has a time limit; a worker that misses it is killed with its group,
 * and one that reports a sticky error is replaced. The current candidate gets the outcome; the next
 * one starts in a fresh worker.
 *
 * A kernel's arguments are: a pointer per operand, the scalars, the extents as long long, and a
 * workspace where it needs one. */
#ifndef SCT_MEASURE_H
#define SCT_MEASURE_H

#include "device/device.h"
#include "model/model.h"
#include "space/space.h"
#include "store/store.h"
#include "worker/worker.h"

/* The version of how candidates are verified and timed: raised when its figures cannot be compared
 * with earlier ones any more. Part of a device's key in the store. */
#define SCT_MEASUREMENT 2

/* ---- outcomes ---- */

/* What became of a candidate. Failure is data: it is stored and not tried again. */
typedef enum sct_outcome_kind {
#define SCT_OUTCOME(id, name, text) SCT_OUT_##id,
#include "measure_outcomes.def"
#undef SCT_OUTCOME
  SCT_N_OUTCOMES
} sct_outcome_kind;
const char *sct_outcome_name(sct_outcome_kind kind);  /* "wrong_result", as stored */
sct_outcome_kind sct_outcome_named(const char *name); /* SCT_N_OUTCOMES: there is none */
const char *sct_outcome_text(sct_outcome_kind kind);  /* "results differ from the reference" */

/* ---- a recording ---- */

/* Stands in for a device: verdicts and samples are drawn from it, and nothing runs. What comes of a
 * session with one is no measurement, and must never be stored or shown as one. */
typedef struct sct_recording {
  void *ctx;
  const sct_device_desc *device; /* that it was made on */
  /* What an earlier session found of a candidate, as long as the recording; NULL: it does not have
   * it. size NULL: what holds at all sizes, outcome and detail only. */
  const sct_row_outcome *(*find)(void *ctx, const sct_kernel_code *code, const sct_size *size);
  double (*ceiling)(void *ctx, int64_t bytes); /* bytes/s of a copy of `bytes`; 0: unknown */
} sct_recording;

/* ---- a session with one device ---- */

typedef struct sct_measure sct_measure;

typedef struct sct_measure_opts {
  const char *program; /* path of the worker's binary; NULL: /proc/self/exe */
  const char *fake;    /* a script for what stands in for GPUs, in programs that have such: those
                          of tests (tests/worker/fake_gpu.c); NULL: that of the environment */
  int64_t request_ns;  /* limit of one request; 0: 20 s */
  uint64_t seed;       /* of the data */
  int64_t wait_ns;     /* for a GPU that another session holds; 0: refuse at once */
  bool force;          /* time where the Multi-Process Service is in front of the GPU */
  bool look_only;      /* for a description of the GPU only: no lock, no refusal, no timing */
  bool hold_only;      /* holds the GPU for another session's worker, as its second device */
  bool (*stop)(void *ctx); /* asked while waiting; true: give up. May be NULL */
  void *stop_ctx;
  const sct_recording *recording;   /* NULL, or what stands in for the device */
  const sct_device_desc *described; /* NULL, or a virtual device: candidates run as PTX on the CPU,
                                       with every access checked, and cannot be timed */
} sct_measure_opts;

/* What was so while a session timed. */
typedef struct sct_conditions {
  sct_gpu_state start;                   /* of the GPU when the session began */
  bool mps;                              /* the Multi-Process Service was in front of it */
  int64_t waited_ns;                     /* for another session to end */
  int64_t n_samples, n_slow, n_repeated; /* so far; slow and repeated as in sct_timing */
  uint64_t throttle;                     /* reasons seen with them */
  int64_t n_contended;    /* of them, taken while a process computed that came during the session */
  sct_gpu_process joined; /* the last of these */
  double sm_min_mhz, sm_max_mhz; /* of the SM clock, 0 unknown */
} sct_conditions;

/* Starts a worker for device ordinal `ordinal` (any, for a described one). A GPU is held by a lock
 * until the session is closed: SCT_EBUSY says who holds it, or that the Multi-Process Service is in
 * front of it; SCT_EINTERRUPTED when opts.stop ended the waiting. Other processes on it are a
 * warning, and stand in the conditions. SCT_ENODEVICE with the driver's words. Workers die with the
 * thread that calls this and the functions below: use one that lives as long as the session.
 * Everything below may return SCT_EUNHEALTHY when the device, not a candidate, fails. */
sct_status sct_measure_open(sct_measure **out, int ordinal, const sct_measure_opts *opts,
                            sct_error *err);
/* Has the worker end while the caller does other things: nothing is measured any more. What was
 * learnt (device, conditions) stays until the end. */
void sct_measure_end_worker(sct_measure *m);
void sct_measure_close(sct_measure *m); /* asks, waits briefly, kills */
SCT_OWNS(sct_measure, sct_measure_close)
const sct_device_desc *sct_measure_device(const sct_measure *m);
bool sct_measure_stands_in(const sct_measure *m); /* it is no GPU (sct_measure_opts.fake) */
const sct_conditions *sct_measure_conditions(const sct_measure *m);
/* One GPU's description, its state and the name of its lock ("": none), without touching it. */
sct_status sct_measure_look(sct_device_desc *desc, sct_gpu_state *state, char lock[64], int ordinal,
                            const sct_measure_opts *opts, sct_error *err);
/* Descriptions of all visible GPUs, from a short-lived worker. *n = 0 without driver or GPU (err
 * then says why). */
sct_status sct_measure_list(sct_device_desc **out, int *n, const sct_measure_opts *opts,
                            sct_error *err);

/* A kernel ready to load: codegen's description and what compile made of it. A GPU loads the cubin,
 * a described device the PTX; the other may be NULL. The struct borrows all pointers. */
typedef struct sct_binary {
  const sct_kernel_code *code;
  const void *cubin;
  size_t cubin_bytes;
  const char *entry;
  const char *ptx;               /* the whole program's, NUL-terminated */
  sct_hash cubin_hash, ptx_hash; /* of their bytes, where they are known: equal for equal ones, and
                                    different for others; zero: worked out each time */
} sct_binary;

/* Sets the current problem: one spec, one choice of layouts (layout[n_operands]), the naive variant
 * for these layouts. Verification data are made per extent on demand. Drops the previous problem.
 * Borrows spec and naive (and what they point to, the pool's expressions too) until the next
 * problem or the end. The naive variant must write the fields of elements and nothing else. */
sct_status sct_measure_problem(sct_measure *m, const sct_spec *spec, const int *layout,
                               const sct_binary *naive, sct_error *err);

/* Sums over launches of products of what they had: blocks, requests of warps to global memory,
 * elements of the index space, and machine instructions by pipe. */
enum { SCT_WORK_BLOCKS, SCT_WORK_REQUESTS, SCT_WORK_ELEMENTS, SCT_N_WORKS };
typedef struct sct_work_sums {
  double works[SCT_N_WORKS][SCT_N_WORKS], machine[SCT_N_WORKS][SCT_N_PIPES];
  double issued2; /* of all instructions with themselves */
} sct_work_sums;

#define SCT_UNCOVERED_BYTES 768

typedef struct sct_verdict {
  sct_outcome_kind outcome; /* SCT_OUT_OK or the failure */
  char detail[512];         /* "b.y of element i=31 (n_i=1000): 0x1p+3 instead of 0x1p+2" */
  char warning[384];        /* what is doubtful and not wrong; "": nothing, or not looked for */
  /* On a described device: the counts of one of the sizes that ran, the largest whose last
   * dimension is in whole warps, if there is one. */
  bool counted;
  int64_t extent[SCT_MAX_EXTENTS];
  sct_fill fill[SCT_MAX_OPERANDS]; /* of index operands at that size */
  sct_run_counts counts;
  sct_work_sums work; /* of all sizes that ran */
  /* On a described device, of a kernel that is right: branches, predicated instructions,
   * comparisons and selects that no case took both ways; -1: not known. The first of them, a line
   * each: "line 12: never true: @%p1 bra $L__BB0_2". */
  int n_uncovered;
  char uncovered[SCT_UNCOVERED_BYTES];
} sct_verdict;

/* Runs `candidate` on small, odd and tile-edge extents (0, 1, 31, 32, 33, 1000, where another block
 * starts, several tiles and a rest; blocks that loop over tiles also with so few blocks that each
 * has several; mixed tuples for n-d) that satisfy its requirements, or
 * multiples of them that do, with random and special data from the session's seed, outputs
 * poisoned, guard zones around every buffer, inputs checked unchanged, memory of other sizes
 * checked at the end. Outputs must equal, bit for bit (or within spec.tolerance; a NaN for a NaN),
 * what the naive variant gives, which for a body that only moves data must itself equal the host
 * evaluation of the layouts. A described device takes the smaller of these sizes, and finds races,
 * uninitialised values and reads outside of arrays too; its detail then starts with "line N: " of
 * the CUDA source; a naive variant that it does not know is no failure where the body only moves
 * data: then the host's evaluation counts alone. SCT_ENOTVERIFIED if the naive variant fails
 * (asked for as a candidate, it gets its outcome); SCT_ENOMEM. */
sct_status sct_measure_verify(sct_measure *m, const sct_binary *candidate, sct_verdict *out,
                              sct_error *err);

#define SCT_DIGEST_BYTES 1024
/* A case for a self-test: what arrays hold before a launch of the naive variant and after it. */
typedef struct sct_example {
  int64_t extent[SCT_MAX_EXTENTS], n_elements;
  uint8_t poison, scalar[SCT_MAX_ARGS][16];
  struct {
    int64_t bytes;
    uint8_t *before; /* NULL: an input's words of a generator, an output's poison; malloc'ed */
    uint64_t key, and_mask, or_mask; /* word k: (sct_mix64(key, k) & and_mask) | or_mask */
    uint8_t *after;                  /* NULL: of an input, or where there are ...; malloc'ed */
    /* ... digests of the fields whose first byte is in a part of SCT_DIGEST_BYTES, [bytes / them +
     * 1]: a sum of hashes of what must be met bit for bit, and of other values their sum, each
     * times 1 to 2 by its place; malloc'ed */
    uint64_t *bits;
    double *sums;
    double tolerance; /* -1: bit for bit; 0: the same but for what a NaN and a 0 are */
    double *usual;    /* [n_fields] the median magnitude of what is written; malloc'ed */
  } op[SCT_MAX_OPERANDS];
  int n_places;
  size_t cap_places;
  int64_t (*places)[SCT_MAX_OPERANDS]; /* residues of addresses modulo the least power of two that
                                          is more, 512 or above; malloc'ed */
} sct_example;
/* Chooses among the situations in which these kernels of the problem, the naive variant first, are
 * verified: examples with few bytes that cover most pairs, the least first. SCT_ENOTVERIFIED if the
 * naive variant fails. *n = 0: all arrays are too large. Free each and the array. */
sct_status sct_measure_examples(sct_measure *m, const sct_binary *kernels, int n_kernels,
                                sct_example **out, int *n, sct_error *err);
void sct_example_free(sct_example *example);

/* Times of one launch, streaming: launches go round `copies` copies of the arrays, together at
 * least three times the L2, so that none finds its data there. */
typedef struct sct_timing {
  sct_verdict verdict;
  sct_times times; /* free with sct_times_free() */
} sct_timing;

#define SCT_LEAST_BUDGET_NS ((int64_t)1) /* the fewest samples that give a median and quartiles */
/* Times `candidate` at `size`: warm-up, then samples (units of at least 200 us behind a kernel that
 * holds them back until all is queued) until the median's 95 % interval is within 0.5 % or limits
 * are met: at least 7 samples, at most 101, `budget_ns` of wall time (0: 2 s). At this size too the
 * outputs are compared with the naive variant's: before timing, as the timed launches left them,
 * and once more over fresh poison. Buffers live as long as the size stays the same.
 * SCT_ENOTVERIFIED as above; SCT_ENOMEM if the device is too small; SCT_EUSAGE on a described
 * device. */
sct_status sct_measure_time(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                            int64_t budget_ns, sct_timing *out, sct_error *err);

/* Times copies between a device and the host: a verdict, and if it is OK the samples (caller frees)
 * with their median and quartiles. On a described device one sample, of the time that it states, 0
 * where it states none. *made_ns: what the other side's memory took to make. peer: of kinds of a
 * second device's memory this one, of the same kind (hold_only is enough); else NULL. Not for a
 * recording. */
sct_status sct_measure_transfer(sct_measure *m, const sct_measure *peer,
                                const sct_ask_transfer *what, sct_timing *out, double *made_ns,
                                sct_error *err);

/* ---- from the host and back ---- */

/* How arrays of the host go to the device, through kernels and back. */
typedef struct sct_host_way {
  sct_host_kind memory; /* of the arrays: pageable, page-locked; mapped: kernels work on them */
  int64_t chunk;        /* elements of spec->chunk_dim; 0: all of them, on one stream */
  /* threads: of the host, which copy through a ring, each with two chunks on their way; 0: there is
   * no ring, one thread queues all, and each stream has a chunk on its way. */
  int streams, threads;
  int devices; /* each has half of the dimension, as many streams, and half of the threads, or one
                  of its own; 0 counts as 1, which is all there is of mapped arrays */
} sct_host_way;

/* A way for a size, as the host's code knows it, and what its chunks come to. */
typedef struct sct_pipeline {
  const sct_spec *spec;
  sct_host_way way;
  int layout[SCT_MAX_OPERANDS];
  const sct_size *size;
  sct_host_kernel kernels[SCT_MAX_DEVICES]; /* [way.devices], each with its part */
  sct_host_options options[SCT_MAX_DEVICES];
  sct_timeline dry; /* where nothing takes time */
} sct_pipeline;

/* Without elements it has no operations. Borrows spec and size. SCT_EUSAGE: too many operations;
 * several devices where arrays are shared. */
sct_status sct_pipeline_make(sct_pipeline *out, const sct_spec *spec, const int *layout,
                             const sct_size *size, const sct_host_way *way, sct_error *err);
void sct_pipeline_free(sct_pipeline *p); /* leaves a zeroed struct */
/* An operand that is one for all chunks, so that no two devices can have parts of it: it stays on
 * the device, or each chunk adds to it. -1: there is none. */
int sct_pipeline_shared(const sct_pipeline *p);
/* Bytes of an operand, and how many of them the host's arrays send to the device, or get back. */
int64_t sct_pipeline_bytes(const sct_pipeline *p, int op);
int64_t sct_pipeline_copied(const sct_pipeline *p, int op, bool back);
/* The extents of chunk number k of those that differ. */
void sct_pipeline_extents(const sct_pipeline *p, int k, int64_t out[SCT_MAX_EXTENTS]);
/* Makes `way` fit a size so small that kernels can be interpreted; dims[n_dims] receives it. */
void sct_pipeline_small(const sct_spec *spec, const sct_size *size, sct_host_way *way,
                        int64_t *dims);

/* Pipelines for two devices have this one as the second (hold_only is enough), of the same model as
 * the session's; NULL: there is none. It must outlive them. */
void sct_measure_set_peer(sct_measure *m, const sct_measure *peer);
/* Runs a pipeline of the current problem, `candidate` where its requirements hold at a chunk's
 * extents, else the naive variant. The arrays hold seeded data, outputs poison; they must become
 * what the naive variant makes of all at once. Samples are end to end, from the first call until
 * the host knows that all is done: at least `least`, at most `most` for limit_ns; none where most
 * is 0. *timeline receives what a further run queued, and when each began and ended; it is zero
 * before. SCT_ENOTVERIFIED if the naive variant fails. Free the samples and the timeline. */
typedef struct sct_sample_limits {
  int least, most;
  int64_t limit_ns;
} sct_sample_limits;
sct_status sct_measure_pipeline(sct_measure *m, const sct_binary *candidate, const sct_pipeline *p,
                                const sct_sample_limits *limits, sct_timing *out,
                                sct_timeline *timeline, sct_error *err);
/* The extents of the legal size whose dimensions are dims. false: there is none. */
bool sct_measure_small_size(sct_measure *m, const int64_t *dims, int64_t extent[SCT_MAX_EXTENTS]);

/* Times n candidates against each other: `rounds` rounds, in each one sample of every candidate in
 * an order of its own, so that sample r of all of them was taken in the same conditions. Then the
 * median of a single copy of the arrays. Checked like sct_measure_time. out[n]: samples in the
 * order of the rounds, median and quartiles filled; a candidate that fails has its verdict and no
 * samples, and the others are raced again without it. `stop` (may be NULL) is asked between rounds;
 * true ends the race with the rounds done so far. Free the samples. */
sct_status sct_measure_race(sct_measure *m, const sct_binary *candidates, int n,
                            const sct_size *size, int rounds, sct_timing *out,
                            bool (*stop)(void *ctx, int round), void *ctx, sct_error *err);

/* The copy ceiling in bytes/s (read + written) of a copy that moves `bytes` in all, half of them
 * each way, on this device now: best of the driver's memcpy and our own flat copy, timed like a
 * candidate. `copy` binaries are extra copy kernels to try (arguments: const void *in, void *out,
 * long long n16; launched with a thread per 16-byte word, code->threads a block); may be NULL, 0.
 * One that fails or copies wrongly is left out, with a warning. */
sct_status sct_measure_ceiling(sct_measure *m, int64_t bytes, const sct_binary *copy, int n_copy,
                               double *bytes_per_s, sct_error *err);

/* ---- what the parts of a device do (measure_calibrate.c) ---- */

/* Micro-kernels; SCT_MICRO(id, ...) */
typedef enum sct_micro {
#define SCT_MICRO(id, ...) SCT_MICRO_##id,
#include "measure_micro.def"
#undef SCT_MICRO
  SCT_N_MICROS
} sct_micro;
#define SCT_MICRO_ROUNDS 16 /* kRounds of templates/calibrate.cu */
const char *sct_micro_kernel(sct_micro micro);
int sct_micro_threads(sct_micro micro);

typedef struct sct_calibration {
  double ns[SCT_N_MICROS];  /* for each unit of a micro-kernel's work */
  double mhz[SCT_N_MICROS]; /* of the SMs meanwhile */
  double copy_bytes_s, launch_ns;
} sct_calibration;
/* Times all micro-kernels, about 0.5 s. SCT_EUNHEALTHY if one does not run; SCT_EUSAGE on a
 * described device. */
sct_status sct_measure_calibrate(sct_measure *m, const sct_binary kernels[SCT_N_MICROS],
                                 sct_calibration *out, sct_error *err);

/* ---- counts by running some blocks (measure_blocks.c) ---- */

/* Counts candidates of one spec, which it borrows, by running blocks of their PTX on the CPU, at
 * real extents. */
typedef struct sct_block_counter sct_block_counter;
struct sct_ptx_module;
void sct_block_counter_new(sct_block_counter **out, const sct_spec *spec,
                           const sct_device_desc *device, uint64_t seed, int64_t most_steps);
void sct_block_counter_free(sct_block_counter *s); /* accepts NULL */
/* What kernel `entry` of the module touches at `size`: of all blocks where there are max_blocks or
 * fewer (0: 16, and 40 of ragged rows; SCT_ALL_BLOCKS: however many), else of about so many, which
 * stand for all (measure_sample.h); out->error says how far the sectors may be off. Blocks that
 * share an output through a workspace are few of many here, so what the last of them does is part
 * of the error. Values are those of timing, not of verification, where a body's branches depend on
 * them. Where a block runs long (a share of most_steps instructions; 0: of 2 million), shorter
 * launches give each figure as a straight line of an extent (measure_fit.c). SCT_ESPEC with the
 * interpreter's words if a block fails; SCT_EDATA if it does not know the PTX. `out` is set on
 * success only. */
#define SCT_ALL_BLOCKS INT64_MAX
sct_status sct_block_counter_count(sct_block_counter *s, sct_counters *out,
                                   const sct_kernel_code *code, const struct sct_ptx_module *module,
                                   const char *entry, const sct_size *size, int64_t max_blocks,
                                   sct_error *err);

/* What each instruction did in these blocks, unscaled, and what the caches of all blocks found
 * (NULL: not asked). `watch` (NULL: none) hears of each request. `out`: free with
 * sct_ptx_result_free(). */
typedef struct sct_partial_launch {
  int64_t grid[3], block[3];
  int64_t blocks, blocks_run; /* of all passes */
  int passes;                 /* launches of a sequence */
} sct_partial_launch;
struct sct_ptx_result;
struct sct_ptx_cache_sizes;
struct sct_ptx_watch;
sct_status sct_block_counter_profile(sct_block_counter *s, struct sct_ptx_result *out,
                                     sct_partial_launch *launch, const sct_kernel_code *code,
                                     const struct sct_ptx_module *module, const char *entry,
                                     const sct_size *size, int64_t max_blocks,
                                     const struct sct_ptx_cache_sizes *caches,
                                     const struct sct_ptx_watch *watch, sct_error *err);
/* Writes the launch of all blocks for a process to run on a GPU (sct_launches_run()); `on` has the
 * GPU and the machine code. SCT_EIO. */
sct_status sct_block_counter_launches(sct_block_counter *s, const sct_kernel_code *code,
                                      const struct sct_ptx_module *module, const char *entry,
                                      const sct_size *size, const sct_launches *on,
                                      const char *path, sct_error *err);

/* ---- statistics (measure_stats.c) ---- */

/* The answer to "how does b compare with a": FAST b is faster, SLOW it is slower. */
typedef enum sct_verdict_kind { SCT_FAST, SCT_SLOW, SCT_SAME, SCT_AMBIGUOUS } sct_verdict_kind;
const char *sct_verdict_name(sct_verdict_kind kind); /* "FAST" */

typedef struct sct_comparison {
  sct_verdict_kind kind;
  double ratio;     /* median of b / a */
  double low, high; /* its 95 % interval */
} sct_comparison;
/* Compares samples of b with samples of a: in pairs if they are of one race (`paired`, n each),
 * else by the intervals of their medians. SAME: the interval of the ratio lies within 1 % of 1.
 * FAST and SLOW: it does not hold 1, and the ratio is more than 0.5 % away. Else AMBIGUOUS. The
 * arrays are left as they are. Identical samples are the SAME, with an interval of 1 to 1; else
 * fewer than 5 samples are AMBIGUOUS, with an infinite one. */
sct_comparison sct_stats_compare(const double *a, int n_a, const double *b, int n_b, bool paired);

/* ---- choosing (measure_choose.c) ---- */

/* What selection looks at, one candidate at one size. Of the outcome it takes samples and median,
 * counts, their errors, whether it is coalesced, and where nothing is timed the predicted time. */
typedef struct sct_rank_row {
  sct_row_outcome outcome;
  bool eligible; /* verified, and timed where the device gives times */
  bool naive;    /* the naive variant of its layouts */
  bool fast;     /* its arithmetic is not exact (sct_space_is_fast) */
  int registers;
  const char *label;
  bool tied; /* result: too close to the winner to tell apart */
} sct_rank_row;

#define SCT_LEAST_NOISE 0.005 /* times that are no further apart may be the same */
#define SCT_MOST_NOISE  0.02  /* times further apart differ, however wide samples scatter */
/* Predicted times this close are the same: the model knows no better, of the shortest launches to
 * some 2 % of what an empty kernel takes. */
#define SCT_PREDICTED_SLACK 1.02
#define SCT_PREDICTED_NS    50.0
/* What is faster than the winner by more than this, and the noise, is named. */
#define SCT_PASSED_OVER 0.05

typedef struct sct_choice {
  int winner;          /* row index, or -1: nothing eligible */
  int fastest;         /* fastest eligible row, coalesced or not; -1 if no time is known */
  int passed_over;     /* that one, where it is not coalesced and beats the winner by more than
                          noise and SCT_PASSED_OVER; else -1 */
  double faster_ratio; /* the winner's time over that one's; 1: none was passed over */
  int n_tied;          /* rows tied with the winner, itself included */
  double noise;        /* relative half width of the tie of measured times */
  int n_close;         /* rows that were as good as the winner, itself included */
  unsigned rules;      /* which tie-breaks left some of them out (sct_choice_rules) */
} sct_choice;

/* Marks tied rows and chooses: the fastest eligible coalesced row, by time or, where nothing is
 * timed, by predicted time; ties go to exact arithmetic, fewer sectors, fewer shared wavefronts,
 * fewer requests (each beyond the counts' errors), fewer registers, then the label. Rows without a
 * time stand after those that have one. With `any`, and where none is coalesced, rows that are not
 * coalesced compete too; so do, always, those that move no more sectors than the fastest coalesced
 * row: one that reads an array again, whole sectors at a time, is coalesced, and may move more than
 * one that reads it once. A naive row that is faster beyond noise wins anyway. */
sct_choice sct_choose(sct_rank_row *rows, int n, bool any);
/* "fewer sectors, then fewer registers"; nothing where the winner was alone. */
void sct_choice_rules(sct_str *out, const sct_choice *choice);

#endif
