/* measure_session - the parent's state and the steps that verification and timing share. */
#ifndef SCT_MEASURE_SESSION_H
#define SCT_MEASURE_SESSION_H

#include "measure_data.h"
#include "measure_process.h"

#define SCT_MAX_VERIFY_ELEMENTS ((int64_t)1 << 20) /* of an extent tuple used for verification */
#define SCT_MAX_VIRTUAL_ELEMENTS                                                                   \
  ((int64_t)20000) /* of a tuple where PTX is interpreted: tens of milliseconds a candidate */
#define SCT_MAX_VIRTUAL_SCAN                                                                       \
  ((int64_t)600000) /* of scans: a group of tiles, of which blocks look back at more than one */

struct sct_ptx_traits;

/* ---- one verification size ---- */

/* An array of a case at an address of this residue (sct_remote_alloc_at). */
typedef struct sct_placed {
  int64_t residue, buffer;
} sct_placed;

typedef struct sct_case {
  int64_t dims[SCT_MAX_DIMS]; /* extents of the dimensions, by which it is found */
  int variant;                /* of its values, see sct_shape */
  int64_t own;                /* all extents that are no dimension's; 0: as is found */
  bool legal;                 /* the spec allows it, with own extents that were found for it */
  bool too_long;              /* the spec would allow it, but a layout does not hold there */
  int64_t most_array_bytes;   /* more no array of it may have */
  sct_shape shape;
  uint8_t poison;
  uint8_t *image[SCT_MAX_OPERANDS]; /* inputs: their content; outputs: what they must hold */
  uint8_t *flags[SCT_MAX_OPERANDS]; /* of outputs; both are NULL where nobody needs them */
  sct_str where;                    /* " (n_i=33)" */
  bool referenced;                  /* the naive variant has run and agreed */
  double naive_ns;
  int64_t generation; /* of the worker that holds the buffers; 0: none */
  int64_t last_used;
  int64_t buffer[SCT_MAX_OPERANDS];     /* of an output -1: not made yet */
  bool expected[SCT_MAX_OPERANDS];      /* the device knows what must be written to it */
  sct_placed *placed[SCT_MAX_OPERANDS]; /* [n_placed] like `buffer`, at other addresses */
  int n_placed[SCT_MAX_OPERANDS];
  size_t cap_placed[SCT_MAX_OPERANDS];
  int64_t placed_bytes;                   /* of all of those, and of outputs' `buffer` */
  int64_t used[SCT_MAX_OPERANDS];         /* which of them the last launch was given */
  bool compared;                          /* the references are there */
  int64_t reference[SCT_MAX_OPERANDS][2]; /* what outputs must hold; second: the same, but for bytes
                                             that may hold anything, -1 if there are none */
  int64_t unlike[SCT_MAX_OPERANDS]; /* the poison of outputs: no byte that is written is what it
                                       must become, so that none that is left alone passes; or what
                                       they hold before, where that matters */
  sct_draws draws; /* of the naive variant, as many as some candidate's values asked for */
} sct_case;

/* ---- the timing size ---- */

typedef struct sct_timed {
  sct_shape shape;
  int64_t generation; /* of the worker that holds the buffers; 0: none */
  int64_t buffer[SCT_MAX_OPERANDS];
  int64_t reference[SCT_MAX_OPERANDS][2]; /* the naive variant's output over two poisons; second -1
                                             where every byte counts */
  int64_t prefill[SCT_MAX_OPERANDS]; /* what outputs hold before; -1 where that does not matter */
  int64_t copies; /* of each buffer, so that launches do not find their data in the cache */
  double best_ns; /* the least median of a quick pass so far; 0: none */
  double naive_ns;
  sct_verdict naive_verdict; /* not OK: it fails at this size, and there are no buffers */
} sct_timed;
#define SCT_TIMED_BEFORE 7

/* A kernel that the worker still holds. */
typedef struct sct_kept {
  bool held;
  sct_hash loaded;
  int64_t kernel, generation;
} sct_kept;

/* A program that the worker was sent: candidates come as they are ready, not program by program. */
typedef struct sct_sent {
  sct_hash image;
  int64_t generation; /* of that worker; 0: none */
} sct_sent;

/* A case as a candidate meets it. */
typedef struct sct_situation {
  sct_case *c;
  int64_t residue[SCT_MAX_OPERANDS]; /* of the arrays' addresses */
  bool few;                          /* blocks that loop over tiles get many of them */
} sct_situation;

/* The situations of all candidates of one grid, number of threads, requirements, alignments and
 * constants. */
typedef struct sct_situations {
  sct_hash key;
  sct_situation *all;
  int n, n_full; /* n_full: cases with elements in them */
  size_t cap;
  int64_t max_elements; /* of a tuple */
  bool inspects;        /* the kernel looks at addresses as numbers */
} sct_situations;

/* All cases of a problem. */
typedef struct sct_case_table {
  sct_case **all;
  size_t n, cap;
  int64_t bytes;      /* of arrays and references of all cases that have buffers */
  int64_t most_bytes; /* above this, sct_cases_make_room() frees some */
  int64_t clock;      /* counts uses, for last_used */
  sct_situations *lists;
  size_t n_lists, cap_lists;
} sct_case_table;

/* Which kernels and programs the worker holds. */
typedef struct sct_held {
  sct_hash *seen; /* binaries in order of first loading: a stand-in's faults go by their number */
  size_t n_seen, cap_seen;
  sct_kept kept;       /* of the candidate that was unloaded last */
  sct_kept kept_naive; /* the naive variant as long as it is that: new sizes ask for it */
  sct_sent sent[SCT_MAX_IMAGES];
  int n_sent;         /* in all, to this worker and those before */
  int64_t n_numbered; /* kernels that were given a number in this worker */
  int64_t numbers_of; /* its generation */
} sct_held;

/* The PTX of the program that was looked at last. */
typedef struct sct_read_program {
  sct_hash hash;
  struct sct_ptx_module *module; /* NULL: none, or it cannot be read */
} sct_read_program;

struct sct_measure {
  char *program, *fake;
  int ordinal;
  int64_t request_ns;
  uint64_t seed;
  sct_child worker;
  int64_t generation; /* of the worker, from 1 */
  sct_device_desc device;
  bool is_virtual;                /* `device` was given, and PTX runs */
  const sct_recording *recording; /* NULL, or where verdicts and times come from */
  sct_rng replay_rng;
  int n_copies;
  int lock; /* descriptor of the session's lock on the GPU; -1: none */
  char lock_name[64];
  const sct_measure *peer; /* holds the second device of pipelines; NULL: there is none */
  bool leaving;            /* the worker was asked to end */
  bool lost;               /* the device failed: it is not used any more */
  sct_conditions conditions;
  bool contended_now;    /* by a process that came since; it was reported */
  int64_t contended_by;  /* generation of the worker that saw it: the next one knows no other */
  int64_t last_timed_ns; /* when timing last ended: clocks fall while nothing runs */

  /* the current problem */
  bool has_problem;
  sct_addressing addressing;
  sct_binary naive;
  sct_verdict naive_verdict; /* of the first failure as reference; OK: none so far */
  sct_case_table cases;
  sct_timed timed, before[SCT_TIMED_BEFORE]; /* the sizes before it, the last one last */
  int n_before;
  sct_held held;
  sct_read_program read;
  sct_reply reply; /* of the last request */
};

/* ---- verdicts (measure_outcome.c) ---- */

void sct_verdict_set(sct_verdict *v, sct_outcome_kind outcome, const char *fmt, ...)
    SCT_PRINTF(3, 4);
/* What the answer to a candidate's request means: fills `out` unless it was answered. `where` is
 * appended to the text (" (n_i=33)"). An error only where the candidate is not to blame. */
sct_status sct_reply_evaluate(const sct_reply *reply, const char *where, sct_verdict *out,
                              sct_error *err);

/* ---- remote calls (measure_remote.c, measure_remote_buffers.c) ---- */

/* Sends a request that no candidate can make fail, and reads its answer; what that points to stays
 * until the next request. */
sct_status sct_remote_ask(sct_measure *m, sct_op op, const void *request, void *answer,
                          sct_error *err);
/* A function for each request, with its own structs: sct_ask_SET(). */
#define SCT_OP(id, handler, request, answer)                                                       \
  static inline sct_status sct_ask_##id(sct_measure *m, const request *in, answer *out,            \
                                        sct_error *err) {                                          \
    return sct_remote_ask(m, SCT_OP_##id, in, out, err);                                           \
  }
#include "worker/worker_ops.def"

/* The script for what stands in for the session's GPU; "": the driver answers. */
const char *sct_measure_script(const sct_measure_opts *opts);
/* Before the first worker opens the GPU (measure_open.c): looks who else uses it, takes its lock,
 * refuses or warns. SCT_EBUSY, SCT_ENODEVICE. */
sct_status sct_remote_lock_gpu(sct_measure *m, const sct_measure_opts *opts, sct_error *err);
void sct_gpu_process_text(sct_str *out, const sct_gpu_process *p); /* "12 (python) with 1 GiB" */
/* The request by which a worker opens the device that `peer` holds, in addition to its own
 * (measure_transfer.c). */
sct_ask_open sct_remote_open_peer(const sct_measure *m, const sct_measure *peer);
/* A worker that has opened the device, started now if there is none. */
sct_status sct_remote_ensure(sct_measure *m, sct_error *err);
/* The requests that set things up: their failure is never the candidate's. After a failure the
 * worker may be gone (sct_child_alive). */
/* `copies` of the array; every other request means the first of them. */
sct_status sct_remote_alloc(sct_measure *m, int64_t bytes, int64_t copies, int64_t *buffer,
                            sct_error *err);
/* One copy of an array at an address that is `residue` modulo the least power of two that is more,
 * SCT_PLACE_BYTES or above; 0: as the driver has it. */
sct_status sct_remote_alloc_at(sct_measure *m, const sct_shape *s, int op, int64_t residue,
                               int64_t *buffer, sct_error *err);
/* Frees the buffers that were listed in `freed`, all at once, and that list. Accepts -1 and a
 * worker that is gone. */
void sct_remote_put_freed(sct_wire *freed, const int64_t *buffers, int n);
void sct_remote_free(sct_measure *m, sct_wire *freed);
sct_status sct_remote_upload(sct_measure *m, int64_t buffer, const uint8_t *data, int64_t bytes,
                             sct_error *err);
/* A new buffer with an image of the array, sealed; `background` lies around its spans. */
sct_status sct_remote_alloc_sealed(sct_measure *m, const sct_shape *s, int op, const uint8_t *image,
                                   uint8_t background, int64_t *buffer, sct_error *err);
sct_status sct_remote_download(sct_measure *m, int64_t buffer, int64_t offset, uint8_t *data,
                               int64_t bytes, sct_error *err);
/* The spans of the array to an image of it. */
sct_status sct_remote_download_spans(sct_measure *m, int64_t buffer, const sct_shape *s, int op,
                                     uint8_t *image, sct_error *err);
sct_status sct_remote_set_expected(sct_measure *m, int64_t buffer, const sct_shape *s, int op,
                                   const uint8_t *flags, const uint8_t *data, sct_error *err);

/* A candidate loaded into the worker, and how to launch it on one set of buffers. */
typedef struct sct_job {
  const sct_binary *binary;
  int64_t kernel; /* its number in the worker; -1: not loaded */
  int device;     /* of the worker's */
  int64_t generation;
  sct_hash loaded; /* of image, entry and dynamic shared memory */
  int more_blocks; /* than its grid has */
} sct_job;
typedef struct sct_target {
  const sct_shape *shape;
  const int64_t *buffer; /* [n_operands] */
  int64_t blocks;        /* 0: nothing to launch */
  int64_t limit_ns;      /* of one launch */
  double run_ns;         /* what one launch was seen to take, for the limit of many */
  const char *where;     /* for messages: " (n_i=33)" */
} sct_target;
/* These fill `verdict` when the candidate fails; SCT_OK then too. The kernel that was unloaded last
 * stays in the worker until another one is loaded or unloaded, and is not loaded again: a candidate
 * is verified, then timed. The naive variant stays until another one is. */
sct_status sct_remote_load(sct_measure *m, const sct_binary *binary, sct_job *job,
                           sct_verdict *verdict, sct_error *err);
/* Loads it on the second device, where no kernel is kept. */
sct_status sct_remote_load_peer(sct_measure *m, const sct_binary *binary, sct_job *job,
                                sct_verdict *verdict, sct_error *err);
void sct_remote_unload(sct_measure *m, sct_job *job); /* accepts a worker that is gone */
sct_status sct_remote_run(sct_measure *m, const sct_job *job, const sct_target *target, double *ns,
                          sct_verdict *verdict, sct_error *err);
/* A launch as part of a request, and room for what it points to; and what its reply means. */
typedef struct sct_launch_room {
  sct_ask_arg args[SCT_MAX_ARGS];
  uint8_t values[SCT_MAX_ARGS][16];
} sct_launch_room;
sct_ask_launch sct_remote_launch(const sct_measure *m, const sct_job *job, const sct_target *target,
                                 sct_launch_room *room);
sct_status sct_remote_read_launch(sct_measure *m, const sct_target *target,
                                  const sct_got_launch *got, sct_verdict *verdict, sct_error *err);
/* (measure_trial.c) One launch over poisoned outputs, audited and compared, in one request. Without
 * blocks nothing is launched, the rest is done all the same. */
typedef struct sct_trial {
  uint8_t poison;
  const int64_t *unlike; /* [n_operands] buffers with other poison, -1 where there is none; NULL */
  bool audit_all;        /* every buffer there is, not the target's alone */
  bool reversed;         /* the interpreter runs blocks and warps in the opposite order */
  int rounding;          /* as in sct_ptx_launch_opts; 0: to the nearest value */
  const int64_t (*reference)[2]; /* [n_operands], as in sct_timed; NULL: not compared */
  double ns;                     /* from here on: what came of it */
  sct_audit audit;
  int64_t n_differ[SCT_MAX_OPERANDS], first[SCT_MAX_OPERANDS]; /* bytes, of outputs */
} sct_trial;
sct_status sct_remote_trial(sct_measure *m, const sct_job *job, const sct_target *target,
                            sct_trial *trial, sct_verdict *verdict, sct_error *err);
#define SCT_UNIT_NS ((int64_t)200000) /* of one sample: events resolve 0.3 % of it */
/* sct_remote_time...() append n samples to t, or `few`. */
sct_status sct_remote_time(sct_measure *m, const sct_job *job, const sct_target *target,
                           const sct_sampling *how, sct_timing *t, sct_error *err);
sct_status sct_remote_time_copy(sct_measure *m, int64_t to, int64_t from, int variant,
                                const sct_sampling *how, sct_timing *t, sct_error *err);
/* Times a kernel whose arguments are in, out and a number of words. */
sct_status sct_remote_time_words(sct_measure *m, const sct_job *job, int64_t to, int64_t from,
                                 int64_t words, int64_t blocks, const sct_sampling *how,
                                 sct_timing *t, sct_error *err);
/* Limit of one launch of a candidate where the naive variant took naive_ns. */
int64_t sct_launch_limit_ns(double naive_ns);

/* ---- candidates ---- */

/* Number of blocks at a shape; fills `verdict` if a grid cannot have that many. */
sct_status sct_code_blocks(const sct_shape *s, const sct_kernel_code *code, int64_t *blocks,
                           sct_verdict *verdict, sct_error *err);
/* At extents ([n_extents]); -1 if its grid has no value there. */
int64_t sct_code_blocks_at(const sct_spec *spec, const sct_kernel_code *code,
                           const int64_t *extent);
/* Least extent of dimension `dim` above `from` at which there are more blocks than at `from`, the
 * other extents being `unit`; 0 if there is none in reach. Grids do not shrink as extents grow. */
int64_t sct_next_edge(const sct_spec *spec, const sct_kernel_code *code, const int64_t *unit,
                      int dim, int64_t from);
/* With how few blocks a kernel is verified whose grid has `blocks`, so that blocks that loop over
 * tiles get many tiles each. */
int64_t sct_code_few_blocks(const sct_kernel_code *code, int64_t blocks);
/* The plan's `rounds`, or more if loops of the PTX advance by the number of blocks. */
int sct_code_rounds(sct_measure *m, const sct_binary *b);
/* The PTX of its program, which is kept until another one is asked for; NULL: there is none, or it
 * cannot be read. */
const struct sct_ptx_module *sct_read_ptx(sct_measure *m, const sct_binary *b);
/* Do its requirements hold at these extents? */
bool sct_code_allows(const sct_addressing *addressing, const sct_kernel_code *code,
                     const int64_t *extent);
/* Fills `verdict` if the device cannot hold a block of the kernel. */
void sct_code_fits(const sct_device_desc *device, const sct_kernel_code *code,
                   sct_verdict *verdict);
bool sct_is_naive(const sct_measure *m, const sct_binary *binary);
/* Fills `out` if an input or a guard zone of one of these buffers has changed. */
void sct_evaluate_audit(sct_verdict *out, const sct_shape *s, const int64_t *buffer,
                        const sct_audit *audit);

/* ---- recordings (measure_replay.c): as the functions of measure.h without `replay` ---- */

void sct_replay_verify(sct_measure *m, const sct_binary *candidate, sct_verdict *out);
void sct_replay_time(sct_measure *m, const sct_binary *candidate, const sct_size *size,
                     sct_timing *out);
void sct_replay_race(sct_measure *m, const sct_binary *candidates, int n, const sct_size *size,
                     int rounds, sct_timing *out, bool (*stop)(void *ctx, int round), void *ctx);

/* ---- extents (measure_extents.c) ---- */

/* Extents of the dimensions (n_dims values each) at which `code` is verified in any case: the
 * least, those around the extents where it starts another block, the longest that its requirements
 * allow, and long runs of what is combined; none of more than max_elements. */
typedef struct sct_tuples {
  int64_t *values;
  int64_t only[SCT_MAX_DIMS];    /* the one extent that a requirement allows; else 0 */
  int64_t unit[SCT_MAX_EXTENTS]; /* the least extents with which requirements hold */
  int64_t tile[SCT_MAX_DIMS];    /* what one block does along a dimension; 0: all there is */
  int row;                       /* the dimension of ragged rows, which share elements; -1: none */
  int n_dims, n;
  size_t cap;
  int64_t max_elements;
} sct_tuples;
void sct_extents_list(sct_tuples *out, const sct_addressing *addressing,
                      const sct_kernel_code *code, int64_t max_elements);
void sct_tuples_free(sct_tuples *t);
static inline int64_t sct_round_up(int64_t n, int64_t unit) {
  return (n + unit - 1) / unit * unit;
}
/* (measure_listed.c) Tuples that all candidates of many dimensions or ragged rows meet; returns how
 * many. unit: as in sct_tuples. */
#define SCT_MAX_LISTED 32
int sct_tuples_listed(int64_t (*out)[SCT_MAX_DIMS], const sct_spec *spec, const int64_t *unit);
/* The case for a tuple: own extents chosen so that the spec allows it, and a variant of values by
 * the tuple. Kept by the session. */
void sct_case_get(sct_measure *m, const int64_t *dims, sct_case **out);
typedef struct sct_case_want {
  const int64_t *dims;
  int variant;
  int64_t own; /* all extents that are no dimension's; 0: what spec and layouts allow */
} sct_case_want;
void sct_case_get_as(sct_measure *m, const sct_case_want *want, sct_case **out);
/* (measure_cases.c) The case of the tuple, or of multiples of some of its extents where the spec or
 * the candidate asks for such; NULL: none of at most `most` elements. */
void sct_case_allowed(sct_measure *m, const sct_kernel_code *code, const sct_case_want *want,
                      int64_t most, sct_case **out);
#define SCT_N_VARIANTS 17
/* Which values the case of a tuple has. */
int sct_tuple_variant(const sct_spec *spec, const int64_t *dims);
/* Elements of a tuple; of one with more than SCT_MAX_VERIFY_ELEMENTS, one more than that. */
int64_t sct_tuple_elements(const sct_spec *spec, const int64_t *dims);
#define SCT_MIN_CASES   3 /* with elements in them; fewer prove nothing */
#define SCT_LEAST_CASES (-1)
/* Would the case take very long, on this device or where there are `n_others` smaller ones
 * (SCT_LEAST_CASES: there are too few)? */
bool sct_case_takes_long(const sct_measure *m, const sct_kernel_code *code, const sct_case *c,
                         int n_others);
/* The largest extent of a dimension, below the tuple's, with which all layouts hold; 0: none. */
int64_t sct_case_longest(sct_measure *m, const int64_t *tuple, int dim);
/* (measure_situations.c) In which situations a candidate is verified: chosen such that pairs of
 * what can matter to it occur together. `traits` (NULL: unknown) are its PTX's. Valid until the
 * next call. */
void sct_situations_for(sct_measure *m, const sct_kernel_code *code,
                        const struct sct_ptx_traits *traits, const sct_situations **out);
void sct_situations_drop(sct_case_table *t);
/* (measure_addresses.c) Appends one, of arrays that lie so (NULL: not said yet). */
void sct_situations_add(sct_situations *list, sct_case *c, const int64_t *residue);
/* Says where arrays lie in all of them. To a kernel that looks at addresses as numbers it gives
 * more situations. */
void sct_situations_place(sct_situations *list, const sct_spec *spec, const sct_kernel_code *code,
                          bool inspects);
/* Appends some of its situations, which together cost up to `room`: those that have most of what
 * pairs are made of and no other has, for what they cost. */
void sct_situations_choose(sct_measure *m, const sct_kernel_code *code,
                           const struct sct_ptx_traits *traits, double room, sct_situations *out);
/* (measure_example.c) The case as a self-test has it, maybe with other values; NULL: it cannot. And
 * its share of what one may cost. */
sct_case *sct_example_case(sct_measure *m, sct_case *c);
double sct_example_cost(const sct_measure *m, const sct_case *c);
/* (measure_verify.c) What the candidate's PTX compares and divides with; false: it has none, or it
 * cannot be read. */
bool sct_find_traits(sct_measure *m, const sct_binary *candidate, struct sct_ptx_traits *out);
/* Makes what outputs of the case must hold, its images. */
sct_status sct_case_reference(sct_measure *m, sct_case *c, sct_error *err);
/* What outputs become of other images of inputs, and of outputs before: by the host's evaluation of
 * a body that only moves data, else by the naive variant. out[]: new images. */
sct_status sct_case_outputs(sct_measure *m, const sct_case *c, uint8_t *const *images,
                            uint8_t **out, sct_verdict *verdict, sct_error *err);
/* Where a candidate's arrays lie if nothing else is asked for: at addresses of exactly the
 * alignments that the code needs, so that one that needs more is found out. */
int64_t sct_code_residue(const sct_kernel_code *code, int op);
/* Does it look at an address of some operand as a number? Then those of all matter, as it may have
 * forgotten one. */
bool sct_code_inspects(const sct_spec *spec, const sct_kernel_code *code,
                       const struct sct_ptx_traits *traits);
void sct_cases_drop(sct_measure *m); /* and the lists */
/* (measure_arrays.c) Makes the images of a case's arrays that are missing; the flags of an output.
 */
sct_status sct_case_images(const sct_measure *m, sct_case *c, sct_error *err);
sct_status sct_case_flags(sct_case *c, int op, const uint8_t **flags, sct_error *err);
void sct_case_free_images(sct_case *c);
/* Sets c->used: arrays at addresses of these residues, [n_operands]. */
sct_status sct_case_place(sct_measure *m, sct_case *c, const int64_t *residue, sct_error *err);
/* Bytes that an array of a case takes on the device. */
int64_t sct_case_array_bytes(const sct_measure *m, const sct_case *c, int op);
/* Between candidates: where there are too many bytes of cases, those used longest ago give back
 * what is on the device and their images, until half as many are left; the second: `most`. */
void sct_cases_make_room(sct_measure *m);
void sct_cases_empty(sct_measure *m, int64_t most);
/* Sets how many bytes of cases may stay, beside the sizes that are timed. */
void sct_cases_limit(sct_measure *m);
/* Whether what outputs must hold is known before anything runs, bit for bit. */
bool sct_outputs_known(const sct_measure *m);
/* Appends its device buffers to `freed` (measure_verify.c). */
void sct_case_release(sct_measure *m, sct_case *c, sct_wire *freed);

/* ---- the timing size (measure_size.c) ---- */

void sct_timed_drop(sct_measure *m); /* all sizes */
/* Buffers, data and references for the size, unless they are there: sessions go round their sizes,
 * so those before stay where there is room. Afterwards, if the naive variant fails here,
 * timed.naive_verdict says so. `where` as in sct_target. */
sct_status sct_timed_prepare(sct_measure *m, const sct_size *size, const char *where,
                             sct_error *err);
/* Poisons the first copy of the outputs. */
sct_status sct_timed_poison(sct_measure *m, sct_error *err);
/* One launch over poisoned outputs, compared, and its buffers audited; `all`: every one there is.
 */
sct_status sct_timed_check_run(sct_measure *m, const sct_job *job, const sct_target *target,
                               bool all, double *ns, sct_verdict *out, sct_error *err);
/* Compares what timed launches left with the naive variant's. */
sct_status sct_timed_compare(sct_measure *m, sct_verdict *out, sct_error *err);
/* Compares what one launch left, outputs that are updated in place too. */
sct_status sct_timed_compare_all(sct_measure *m, sct_verdict *out, sct_error *err);
/* How many copies of buffers of `bytes` bytes in all exceed the cache; 1 if one does. */
int64_t sct_copies_for(const sct_device_desc *device, int64_t bytes);

/* ---- timing ---- */

/* SCT_EUSAGE on a described device. */
sct_status sct_check_can_time(const sct_measure *m, sct_error *err);
/* How long to warm up before the next samples. */
int64_t sct_warm_up_ns(const sct_measure *m);
/* Half the 95 % interval of the median, relative to it. */
double sct_stats_median_error(const double *sorted, int n);

/* Adds what a launch counted to the verdict's sums (measure_work.c). */
void sct_work_add(const sct_measure *m, sct_verdict *v, const sct_target *target,
                  const sct_launch_counts *run);

/* ---- measure_narrow.c ---- */

/* Warns where an index is too narrow for extents that the candidate's requirements allow. */
void sct_warn_narrow(const sct_measure *m, const sct_kernel_code *code,
                     const struct sct_ptx_traits *traits, sct_verdict *out);

#endif
