/* model - what follows from a kernel's counters: coalescing, occupancy, and a predicted time.
 *
 * The counters, as src/ptx counts them for CC 7.0 and later:
 *   global  a warp instruction with an active lane is one request; sectors = distinct address / 32
 *           over active lanes; tags = distinct address / 128; ideal = min(sectors, ceil(active
 *           lanes x width / 32)).
 *   bulk    a copy is one request; sectors, tags and ideal as of its bytes in one piece. They are
 *           among the loads and stores here, as L2 and DRAM see them; a profiler's requests of
 *           warps have none of them. Its side in shared memory is not counted.
 *   shared  32 banks of 4 bytes; lanes are served in groups of 32 (width <= 4), 16 (8 bytes) or 8
 *           (16 bytes), half as many groups if lanes n, n^1 (or n, n^2) agree on their addresses
 *           throughout; wavefronts of a group = most distinct words in one bank; ideal = groups of
 *           the width with an active lane, or the wavefronts if they are fewer. */
#ifndef SCT_MODEL_H
#define SCT_MODEL_H

#include "host/host.h"
#include "space/space.h"

typedef struct sct_count {
  int64_t requests, sectors, sectors_ideal, tags;
  int64_t distinct_bytes;   /* asked for: each byte once a request, summed */
  int64_t contiguous_bytes; /* of sectors, if each request's used bytes were contiguous:
                               sct_ptx_global has it exactly */
  int64_t near, again;      /* sectors of loads that the same warp had shortly before; the block */
} sct_count;

/* The longest chain of dependent instructions of a block: cycles, and loads that wait for each
 * other; `near`: loads of a line that the same instruction loaded the time before. */
typedef struct sct_chain {
  double cycles, loads, near;
} sct_chain;

typedef struct sct_counters {
  sct_count load, store; /* global memory */
  sct_count bulk_load;   /* of `load`, what bulk copies bring */
  sct_count *operand;    /* [n_operands] loads and stores of each operand; malloc'ed */
  sct_count *stored;     /* [n_operands] of `operand`, what stores and atomics move; malloc'ed */
  int n_operands;
  int64_t wavefronts_ld, wavefronts_ld_ideal, wavefronts_st,
      wavefronts_st_ideal; /* shared memory */
  int64_t shuffles;        /* of 4 bytes by a warp, each like a wavefront of shared memory */
  int64_t constant_words;  /* of constant memory, each once a request; they take turns */
  int64_t line_requests, line_lanes; /* of atomics, lines that requests come to on the slice of L2
                                        of a usual one, and turns of its sectors; of the array where
                                        these are most */
  sct_chain chain, longest;       /* of a usual block; of the one where it is longest. 0: unknown */
  double machine[SCT_N_PIPES];    /* instructions of warps, of the whole kernel; 0: unknown */
  int64_t blocks_counted, blocks; /* that ran; 0: of shorter launches, or none */
  double error;                   /* of the sectors, relative; 0: exact, or not known */
  double excess_error; /* of those beyond what contiguous requests would take, by all sectors */
} sct_counters;

/* An estimate of what a kernel that is not compiled moves, from code->traffic; blocks_counted is 0.
 */
sct_status sct_model_estimate(sct_counters *out, const sct_spec *spec, const sct_kernel_code *code,
                              const sct_size *size, sct_error *err);
void sct_counters_free(sct_counters *c);
/* Wavefronts by which lanes exchange bytes: those of shared memory, and shuffles. */
double sct_model_exchange_wavefronts(const sct_counters *c);

typedef struct sct_occupancy {
  int blocks_sm, warps_sm; /* resident at once */
  double fraction;         /* of the device's warps */
  const char *limit;       /* "registers", "shared memory", "threads", "blocks" or "does not fit" */
} sct_occupancy;
/* Resident blocks by the occupancy arithmetic of the CUDA programming guide (register allocation
 * per warp in units of regs_unit, shared memory with the reserved bytes). shared_bytes: static +
 * dynamic. */
sct_occupancy sct_model_occupancy(const sct_device_desc *dev, int threads, int registers,
                                  int64_t shared_bytes);

/* ---- predicted time ---- */

/* What a kernel may wait for most. SCT_LIMIT(id, name, phrase, kind) */
typedef enum sct_limit {
#define SCT_LIMIT(id, name, phrase, kind) SCT_LIMIT_##id,
#include "model_limits.def"
#undef SCT_LIMIT
  SCT_N_LIMITS
} sct_limit;
const char *sct_limit_name(sct_limit limit); /* "DRAM bytes" */
/* In a sentence: "the INT pipe". */
const char *sct_limit_phrase(sct_limit limit);
/* "memory", "compute", "issue" or "latency"; NULL: the launch itself. */
const char *sct_limit_kind(sct_limit limit);

/* A candidate at one size, as far as it is known. */
typedef struct sct_workload {
  const sct_spec *spec;
  const sct_kernel_code *code;
  const sct_size *size;
  const sct_counters *counters; /* of the whole kernel at this size */
  int registers;                /* a thread */
  int64_t shared_bytes;         /* a block, static + dynamic */
  double machine[SCT_N_PIPES];  /* instructions of warps, of the whole kernel; 0: unknown */
} sct_workload;

/* From an empty kernel to one with a little to do: its code and its arguments are fetched. */
#define SCT_MODEL_START_NS 510.0

typedef struct sct_prediction {
  double ns; /* beyond an empty kernel's; 0: the device's description says too little */
  sct_limit limit;
  double part_ns[SCT_N_LIMITS]; /* each part by itself */
} sct_prediction;
/* Predicted time of one launch with a cold L2: the launch itself plus the longest of these, each as
 * if the others took no time. docs/figures/suite.md holds it against measured times.
 *   DRAM bytes         each operand's sectors once, as L2 keeps what is used again; lines read or
 *                      written through an index array in no order cost 128 bytes each, unless they
 *                      are in the half of L2 that one SM sees
 *   L2 sectors         loads by sectors, but those once that a block loads again and L1 holds, and
 *                      tables that it holds once for each SM; stores by lines of 4 sectors
 *   shared wavefronts  one a cycle and SM
 *   constant words     lanes of a warp that ask for several take turns
 *   atomics on a line  those on one slice of L2 wait for each other, by lines and turns
 *   FP32, ..., issue   machine instructions of each pipe, pipe_clk lanes a cycle and SM
 *   bytes in flight    Little's law: resident warps live for a latency, so the grid takes its waves
 *                      times that
 * SCT_ESPEC if an extent or the size of an array has no value. */
sct_status sct_model_predict(sct_prediction *out, const sct_device_desc *dev,
                             const sct_workload *work, sct_error *err);

/* What a launch asks of a device, from which the parts follow. */
typedef struct sct_demand {
  double dram_bytes;
  double l2_sectors;                /* in sectors' time of L2 */
  double sm_sectors, sm_lines;      /* between SMs and L2; that warps ask L1 for */
  double wavefronts;                /* of shared memory, and shuffles */
  double constant_words;            /* of 4 bytes, each once a request of constant memory */
  double line_requests, line_lanes; /* of atomics, on a line of L2 */
  double machine[SCT_N_PIPES];
  double blocks;
  int threads, registers;   /* of a block; of a thread */
  int64_t shared_bytes;     /* of a block */
  int passes;               /* launches of a sequence; 0: one */
  sct_chain chain, longest; /* of a usual block; of the one where it is longest */
  bool even;                /* SMs share the work evenly, and without a last wave, as if it did not
                               come in blocks */
  double load_cycles;       /* of a load in a chain; 0: as of one that DRAM answers */
  double near_cycles;       /* of one from a line that the warp had shortly before */
} sct_demand;
/* The demand of a candidate; SCT_ESPEC as sct_model_predict(). */
sct_status sct_model_workload(sct_demand *out, const sct_device_desc *dev, const sct_workload *work,
                              sct_error *err);
void sct_model_demand(sct_prediction *out, const sct_device_desc *dev, const sct_demand *demand);

/* Share of L2 that accesses in no order can use: both partitions of an A100 or H100 hold their own
 * copy. */
#define SCT_MODEL_L2_SHARE 0.5
/* Lines that L2 holds for all SMs: half of it with two partitions, as GA100, GH100 and GB100 have.
 */
double sct_model_l2_held(const sct_device_desc *dev);
/* Loads a thread has under way at a time, at most. */
#define SCT_MODEL_LOADS_AT_ONCE 16.0

/* Turns of an atomic operation of 16 bits, which is a loop of compare and swap, to those of one of
 * 32: a sum of halves took an H200 7.9 us, of floats 4.6. */
#define SCT_MODEL_SWAP 1.7

/* What stores cost L2, in sectors' time, and how many of `loads` loads of a warp wait for each
 * other, in a kernel of which only counts are known. */
double sct_model_stored_sectors(const sct_count *stores);
double sct_model_rounds(double loads);

/* ---- copies that overlap with kernels (model_pipeline.c) ---- */

const char *sct_engine_name(sct_engine engine); /* "in", "kernel", "out", "host" */

/* What an operation takes: of bytes; a kernel of elements in the dimension that is cut. */
typedef struct sct_pipe_costs {
  sct_status (*ns)(void *ctx, double *ns, sct_host_work_kind work, int64_t amount, sct_error *err);
  void *ctx;
  bool blocks; /* copies of the host's arrays end before the thread goes on: these are pageable */
} sct_pipe_costs;

/* Chunks differ in their halos at either end, and in the length of the last one. */
#define SCT_MAX_CHUNKS 8

/* What the host's code did: of each device what it queued, and which threads of the host took part,
 * those of a device after those of the one before. */
typedef struct sct_timeline {
  sct_pipe_step *steps;
  int n_steps, cap_steps, n_threads;
  int64_t n_chunks, chunk;        /* elements of a chunk, as it was cut */
  int64_t extent[SCT_MAX_CHUNKS]; /* of the chunks that differ, halos included */
  int n_extents;
} sct_timeline;
void sct_timeline_free(sct_timeline *timeline); /* leaves a zeroed struct */

/* Runs the host's code over clocks: an engine of a device does one operation at a time, in the
 * order in which they were queued, when its stream has come to it; of copies on the host each
 * thread does one, and who is done first has the next chunk. costs NULL: nothing takes time.
 * [n_devices] */
sct_status sct_model_pipeline(sct_timeline *out, const sct_host_kernel *kernels,
                              const sct_host_options *options, int n_devices,
                              const sct_pipe_costs *costs, sct_error *err);

/* Corrects when measured operations began: measured is when their stream was free for them, and an
 * engine that was busy with others began them later. */
void sct_model_measured_begins(sct_pipe_step *steps, int n);

/* What a timeline comes to, whether it was modelled or measured. */
typedef struct sct_overlap {
  double total_ns; /* till the last one ended */
  int n_threads, n_devices;
  double busy_ns[SCT_N_ENGINES]; /* what an engine did; devices' and the host's threads' average */
  sct_engine limit;              /* the busiest one */
  double hidden; /* of the time of all others, the share that passed while it, or each other,
                    worked: 0 where one followed the other, 1 where the busiest one never waited */
} sct_overlap;
sct_overlap sct_model_overlap(const sct_pipe_step *steps, int n);
/* out[k]: the share of the k-th of n_columns equal parts of the total time that an engine is busy:
 * an engine of `device`, or all of the host. */
void sct_model_engine_columns(double *out, int n_columns, const sct_pipe_step *steps, int n,
                              sct_engine engine, int device);

/* ---- what there is to mend ---- */

/* What a rule of model_rules.def looks at. */
typedef enum sct_scope {
  SCT_SCOPE_GLOBAL, /* an access to global memory */
  SCT_SCOPE_SHARED, /* to shared memory: wavefronts in place of sectors */
  SCT_SCOPE_LAYOUT, /* neighbours of an array in one of its layouts */
  SCT_SCOPE_SPEC,   /* what the spec asks for */
  SCT_SCOPE_LAUNCH
} sct_scope;

/* What is known; 0 where it is not. */
typedef struct sct_facts {
  const char *access; /* "loads"; of a layout, the array's name */
  bool is_load, is_atomic;
  double width, lanes;        /* bytes of a lane; active lanes */
  double each, ideal;         /* sectors a request, and how many would do */
  double lines;               /* of 128 bytes, a request */
  double same;                /* lanes by distinct addresses of a request */
  double excess, of_requests; /* shares of the kernel: sectors above the ideal; requests */
  double stride;              /* bytes between neighbours */
  bool vector;                /* a thread takes all of the stride, which one vector has */
  bool loaded;                /* where it goes depends on a value that was loaded */
  bool library;               /* it is a table of the device library */
  double bytes;               /* of the array */
  bool indexed;               /* an index array says where */
  const char *less;           /* of steps: a value that a sum of a later pass subtracts */
  bool shifts;                /* it is a maximum, under an exponential; else a mean */
  double passes;              /* over rows that no cluster of blocks holds, writing them included */
  double tests;               /* sums in one order: points that elements look at, all together */
  const sct_device_desc *device;
  int64_t threads, blocks; /* of a block; of the grid */
  double waves;
  sct_occupancy fit;
  double active_lanes;
  int64_t branches, divergent, barriers;
  int64_t local_requests;
  bool local_loaded;                    /* most loads of local memory: a loaded value says where */
  double local_share;                   /* of all requests */
  double spilled_bytes;                 /* a thread, stores and loads in machine code */
  double constant_words, constant_time; /* a load of constant memory; share of the time */
  double flight_bytes;                  /* of loads, that an SM can have on their way */
  double waiting;                       /* share of the time that waiting for loads adds */
  double starting;                      /* and that starting blocks adds */
  sct_limit limit;      /* the longest part of the prediction; SCT_LIMIT_LAUNCH: not known */
  double integers;      /* where issue or a pipe is the limit: the share of integer instructions */
  double divisions;     /* divisions and remainders of integers, by warps */
  double converted;     /* conversions between f32 and f64, by warps */
  double swapped;       /* share of the atomics that the machine does by compare and swap */
  double fp64, unfused; /* shares of the instructions: those of f64; those that would be saved if
                           products and sums of f32 were fused */
  const sct_demand *demand;    /* of the launch; NULL: not known, and no gain in time is */
  const sct_demand *mended;    /* of the launch without this access's excess; NULL: not known */
  const sct_demand *fast;      /* of the launch as compiled with fast arithmetic; NULL: not known */
  const sct_demand *unspilled; /* of the launch without local memory; NULL: not known */
  double requests;             /* of this access, in the whole launch */
  double launch_ns;            /* predicted of the launch */
} sct_facts;

typedef struct sct_advice {
  const char *id;                /* "strided" */
  double gain;                   /* most that mending it may save: a share of `of` */
  const char *of;                /* "sectors" */
  double gain_ns;                /* predicted time that it saves; -1: not known */
  const char *evidence, *advice; /* sentences without their points */
} sct_advice;

enum {
  SCT_N_RULES = 0
#define SCT_RULE(name, scope, of, holds, gain, mend, sentence, advice) +1
#include "model_rules.def"
#undef SCT_RULE
};

/* The rules of `scope` that hold, as the table has them; how many. Texts are the arena's. */
int sct_model_advise(sct_advice out[SCT_N_RULES], sct_scope scope, const sct_facts *facts,
                     sct_arena *arena);
/* Facts of an array in one of its layouts: 32 neighbours along its nearest dimension. false:
 * nothing is known of it. */
bool sct_model_layout_facts(sct_facts *out, const sct_spec *spec, int operand, int layout,
                            const sct_size *size);
/* Bytes that a step along each dimension goes in an array, near the middle; 0: none, or not known.
 */
void sct_model_steps(double out[SCT_MAX_DIMS], const sct_spec *spec, int operand, int layout,
                     const sct_size *size);
/* What no candidate can mend: issues of the spec and of all arrays at a size, by gain, each array
 * in the layout that is chosen for it; layouts NULL: in the best of its layouts. `*out` is the
 * arena's. */
int sct_model_layout_issues(sct_advice **out, const sct_spec *spec, const int *layouts,
                            const sct_size *size, sct_arena *arena);

/* ---- what a prediction leaves out ---- */

/* SCT_PENALTY(id, name) */
typedef enum sct_penalty {
#define SCT_PENALTY(id, name) SCT_PENALTY_##id,
#include "model_penalties.def"
#undef SCT_PENALTY
  SCT_N_PENALTIES
} sct_penalty;
const char *sct_penalty_name(sct_penalty penalty); /* "requests" */

/* What a candidate pays in addition to what it is predicted to wait for most; all 0 where the
 * prediction or the device's description lacks what they need.
 *   requests         those of warps, at one a cycle and SM, by the longest part of the prediction
 *   bytes in flight  ln(what an SM needs on their way / what its resident warps' loads and bulk
 *                    copies can have), if positive
 *   long blocks      ln(1 + 1 / waves of blocks): the fewer, the longer some SMs wait for the last
 *   idle warps       share of the SM's warps that threads and shared memory leave no room for
 *   requests in turn ln(1 + requests of a warp): the more, the later its last one starts
 * Without registers (work->registers 0) they do not limit what is resident. */
void sct_model_penalty(double out[SCT_N_PENALTIES], const sct_device_desc *dev,
                       const sct_workload *work, const sct_prediction *predicted);

/* Degree of coalescing: distinct bytes asked for / bytes moved in sectors; 1 where nothing is. */
double sct_model_degree(const sct_count *c);

/* Degree of coalescing of a kernel, loads and stores apart and together. Of an operand at most the
 * bytes count that the elements of the index space ask for at `size`: a tile that loads what it
 * discards has moved it for nothing. */
typedef struct sct_degrees {
  double load, store, both;
} sct_degrees;
sct_degrees sct_model_degrees(const sct_counters *c, const sct_spec *spec, const sct_size *size);

/* ---- coalescing, without another candidate to compare with (model_coalescing.c) ---- */

/* What a kernel moves of one operand in one direction, in sectors of 32 bytes, and what it cannot
 * do without:
 *
 *   sectors     of all its requests, as counted (a profiler's L2 theoretical sectors)
 *   ideal       sum over requests of ceil((start mod 32 + distinct bytes that are used) / 32): of
 *               each run of at least 64 bytes from where it begins, and of all other bytes together
 *               from their lowest address. Of requests of fewer than 8 active lanes, of their bytes
 *               / 32. Bytes that the index space has no use for do not count, nor what is asked for
 *               much more often than the elements of the index space do, each for itself.
 *   footprint   distinct sectors that the index space touches (sct_spec_footprint()); of a
 *               workspace, its bytes
 *   used_bytes  distinct bytes there
 *
 * minimum = max(ideal, footprint). */
typedef struct sct_access {
  double sectors, ideal, footprint, used_bytes;
} sct_access;
double sct_access_minimum(const sct_access *access);
/* An excess below this part of the kernel's sectors is hardly seen in the time: of a gather of rows
 * of 100 bytes, whose index is asked for with every element, that came to 1/15, and on an H200 it
 * was 7 % faster than the kernel with the fewest sectors. */
#define SCT_LEAST_EXCESS (1.0 / 8.0)

/* All accesses of a kernel; none is compared with another kernel's.
 *
 * An access is coalesced where sectors <= 1.25 x minimum, or where the sectors above its minimum
 * are less than 1/8 of the kernel's; a kernel is, where all are. Of sampled counts it is unknown
 * where their errors allow both: that of the sectors, and that of the excess over contiguous
 * requests, which may be well known of blocks whose work is not. */
typedef struct sct_coalescing {
  sct_access load[SCT_MAX_OPERANDS + 1], store[SCT_MAX_OPERANDS + 1]; /* the last: a workspace */
  bool coalesced;     /* wherever within their error the counts are */
  bool unknown;       /* only where in their error they are decides; then it is not coalesced */
  double share;       /* minimum / sectors of the kernel, at most 1: what it could do better */
  double utilisation; /* used bytes / (32 x footprint) of the kernel: what its layouts cost */
  double passes;      /* ideal / footprint: how often the array is read or written that this costs
                         most sectors; 1 where that is less than 1/8 of the kernel's */
} sct_coalescing;
/* SCT_ESPEC where the size of an array has no value. */
sct_status sct_model_coalescing(sct_coalescing *out, const sct_counters *c, const sct_spec *spec,
                                const sct_kernel_code *code, const sct_size *size, sct_error *err);

/* Whether counts taken from the PTX are what the machine executes, from the memory instructions of
 * both (sct_ptx_memops(), sct_sass_memops()). True: equal kind by kind, but for whole copies of
 * loop bodies that lanes leave together. Otherwise one sentence is appended to `cause`: what the
 * machine code has where the PTX has something else, and what that looks like, or that a loop waits
 * for other blocks. Local memory is not compared. Nothing is promised of instruction counts. */
bool sct_model_counts_exact(const sct_memops *ptx, const sct_memops *sass, sct_str *cause);

#endif
