/* ptx - a virtual GPU: runs the PTX of a kernel on the CPU, warp by warp, checks every access and
 * counts it as an H200's profiler does.
 *
 *   sct_ptx_parse()         PTX text -> module (immutable; any number of threads may launch it)
 *   sct_ptx_memory_new()    a device memory: named buffers, each far from every other
 *   sct_ptx_memory_add()    one buffer, initialised or not, read-only or not -> its device address
 *   sct_ptx_launch()        runs one kernel -> result: a diagnosis (or none) and the counters
 *   sct_ptx_memory_data()   the bytes of a buffer, to compare with a reference
 *
 * A kernel that misbehaves is an outcome, not an error: the launch returns SCT_OK and the result
 * holds the diagnosis. Errors are for what the caller did (unknown kernel, wrong arguments) and for
 * PTX that this module does not know; those name kernel, line and text, nothing is ever skipped.
 *
 * Buffers live in windows of 64 GiB, so an index that runs out of one never lands in another.
 * Results are the same for every number of host threads. */
#ifndef SCT_PTX_H
#define SCT_PTX_H

#include "base/base.h"

/* ---- modules: what the text holds ---- */

typedef struct sct_ptx_module sct_ptx_module;

typedef struct sct_ptx_param {
  const char *name;
  int64_t offset, bytes, align; /* in the parameter block */
  char number;                  /* 'i': one integer, 'f': one f32 or f64; 0: bits or a struct */
} sct_ptx_param;

typedef struct sct_ptx_kernel {
  const char *name;
  int n_params;
  const sct_ptx_param *params;
  int64_t param_bytes;
  int64_t static_shared_bytes; /* as ptxas lays them out, without what the system reserves */
  int64_t max_threads;         /* of .maxntid, 0: not stated */
  int n_instructions;
  bool exact; /* no approximate operation (ex2.approx, ..., atomic additions of floats): results
                 can be compared bit for bit */
  const char *error; /* why it cannot be launched ("kernel k, line 12: ..."), else NULL */
} sct_ptx_kernel;

/* Reads a whole PTX text; `name` stands for it in messages. SCT_EDATA with name:line for text that
 * is no PTX. A kernel with an instruction this module does not know is no failure of the module:
 * its `error` says so and a launch of it fails. */
sct_status sct_ptx_parse(sct_ptx_module **out, const char *text, const char *name, sct_error *err);
void sct_ptx_module_free(sct_ptx_module *module);
SCT_OWNS(sct_ptx_module, sct_ptx_module_free)
int sct_ptx_n_kernels(const sct_ptx_module *module);
const sct_ptx_kernel *sct_ptx_kernel_at(const sct_ptx_module *module, int index);
/* NULL if there is none of that name. */
const sct_ptx_kernel *sct_ptx_kernel_find(const sct_ptx_module *module, const char *name);

/* ---- memory: the allocation registry ---- */

typedef struct sct_ptx_memory sct_ptx_memory;

typedef struct sct_ptx_buffer {
  const char *name; /* for messages; copied */
  int64_t bytes;
  const void *data; /* initial contents, copied; NULL: uninitialised (reads of it are tracked) */
  bool read_only;   /* a write is a diagnosis */
  bool output;      /* after a launch every required byte must have been written */
  int64_t misalign; /* bytes added to the 512-byte aligned address; 0 as a rule */
  const uint8_t
      *required; /* [bytes] non-zero where a byte belongs to a field (not padding), copied;
                    NULL: all. Padding may stay unwritten or get undefined values. With `fill`
                    it is borrowed, and only looked at where there are contents */
  /* Above 0, a power of two from 32 on: byte b of the buffer is byte b % fold of `data`, which has
   * so many (NULL: zeros), all of them defined, and each block finds it like that, whatever others
   * wrote; for launches on one host thread that are made to count accesses. */
  int64_t fold;
  /* Not NULL: contents on demand, all of them defined; `data` is not looked at. Called before the
   * first access to bytes [offset, offset + bytes) of the buffer, of which none was accessed
   * before: writes them to `out`, which is zeroed. For launches on one host thread. */
  void (*fill)(void *ctx, uint8_t *out, int64_t offset, int64_t bytes);
  void *fill_ctx;
  /* Not NULL: how many of bytes [offset, offset + bytes) a kernel has a use for; the others do not
   * count in sct_ptx_global.contiguous_bytes. For launches with per_buffer. */
  int64_t (*used)(const void *ctx, int64_t offset, int64_t bytes);
  const void *used_ctx;
} sct_ptx_buffer;

void sct_ptx_memory_new(sct_ptx_memory **out);
void sct_ptx_memory_free(sct_ptx_memory *memory);
/* Adds a buffer; `address` receives its device address. At most 1,900 buffers. */
sct_status sct_ptx_memory_add(sct_ptx_memory *memory, uint64_t *address,
                              const sct_ptx_buffer *buffer, sct_error *err);
/* Fills the buffer at `address` again and forgets what was written: `data` as in sct_ptx_buffer;
 * one with `fill` is asked for its contents again, and gives its memory back until then. For the
 * next run of the same problem. Unknown address: does nothing. */
void sct_ptx_memory_reset(sct_ptx_memory *memory, uint64_t address, const void *data);
/* The bytes of the buffer at `address` (as sct_ptx_memory_add gave it); NULL: unknown. Belongs to
 * the memory. */
const uint8_t *sct_ptx_memory_data(const sct_ptx_memory *memory, uint64_t address);
/* Bytes of the buffer that its `fill` was asked for. */
int64_t sct_ptx_memory_filled(const sct_ptx_memory *memory, uint64_t address);
/* The next bytes [*from, *to), from the old *to on, that it was asked for; false: there are none.
 */
bool sct_ptx_memory_next_filled(const sct_ptx_memory *memory, uint64_t address, int64_t *from,
                                int64_t *to);
/* First byte offset >= `from` that is required and was never written (or holds an undefined value);
 * -1: none. */
int64_t sct_ptx_memory_undefined(const sct_ptx_memory *memory, uint64_t address, int64_t from);

/* ---- diagnosis ---- */

typedef enum sct_ptx_kind {
#define SCT_PTX_KIND(id, name, text) SCT_PTX_##id,
#include "ptx/check/ptx_kinds.def"
#undef SCT_PTX_KIND
  SCT_PTX_N_KINDS
} sct_ptx_kind;
const char *sct_ptx_kind_name(sct_ptx_kind kind); /* "out_of_bounds" */
const char *sct_ptx_kind_text(sct_ptx_kind kind); /* "access outside of every buffer" */

/* What came before: of a race the other access, of an undefined value the load that brought it. */
typedef struct sct_ptx_place {
  int ptx_line;   /* 0: not known, or the value was in no memory */
  char file[256]; /* of .loc, "" if the PTX has none */
  int line;
  int warp, lane; /* -1: not known */
} sct_ptx_place;

typedef struct sct_ptx_diag {
  sct_ptx_kind kind; /* SCT_PTX_CLEAN: nothing to report */
  char kernel[128];
  char instruction[128]; /* "st.global.f32 [%rd4], %f1" */
  int ptx_line;          /* 0: no instruction (an element never written) */
  char file[256];        /* of .loc, "" if the PTX has none */
  int line; /* of .loc, 0 if the PTX has none; of what the toolkit's and the system's headers have
               inlined: where the user's code calls it */
  char callee_file[256]; /* of such a header: the place in it; "": none */
  int callee_line;
  char callee[64]; /* the function's name; "" unknown */
  int called[4];   /* [n_called] lines where the function of `line`, and the ones around it, were
                      called, if the compiler inlined them */
  char called_file[4][128]; /* "": in `file` */
  int n_called;
  int64_t block[3];
  int warp, lane; /* -1: does not apply */
  uint64_t address;
  char text[512];       /* what happened, for a person, without the place */
  sct_ptx_place before; /* with most_findings */
} sct_ptx_diag;

/* "out_of_bounds: reads 4 bytes ... (kernel k, line 20 of k.cu, PTX line 35: ld.global.f32 ...,
 * block (0,0,0), warp 3, lane 5)" appended to `out`. */
void sct_ptx_diag_print(sct_str *out, const sct_ptx_diag *diag);

/* ---- counters: rules checked against an H200, and models of older devices ---- */

/* How a device splits the accesses of a warp into requests and transactions. The first, the
 * default, is what an H200's profiler counts; the others are models from the programming guides of
 * their time, applied to the same addresses:
 *
 *         a request is              sectors are transactions of      tags
 *   cc70  a warp instruction        32 bytes                         lines a request
 *   cc10  a half warp               64 or 128 bytes in order and     lines a half warp
 *                                   aligned, else 32 bytes a lane
 *   cc12  a half warp               128, 64 or 32 bytes, as few as   lines a half warp
 *                                   hold the lanes of a segment
 *   cc20  a warp; lanes of 8 bytes  128 bytes for loads; 32 bytes    lines a request
 *         a half, of 16 a quarter   for stores, atomics, ld.cg, .cv
 *   cc60  a warp instruction        32 bytes                         lines of 8 lanes; of 4 with 8
 *                                                                    bytes, of 2 with 16 bytes
 *
 * A line is 128 bytes. Only requests with an active lane count. sectors_ideal of a request is the
 * smaller of its transactions and its bytes over the largest transaction for its width, rounded up.
 * Shared memory: cc60 as cc70; cc20 the same 32 banks, but no sharing between the groups of wide
 * lanes; cc10 and cc12 half warps on 16 banks with one broadcast word a step, wider lanes taken
 * apart into 4-byte requests. Asynchronous copies, unknown to the older devices, count as loads. */
typedef enum sct_ptx_coalescing {
#define SCT_PTX_COALESCING(id, name, cc, text) SCT_PTX_##id,
#include "ptx/count/ptx_coalescing.def"
#undef SCT_PTX_COALESCING
  SCT_PTX_N_COALESCING
} sct_ptx_coalescing;
const char *sct_ptx_coalescing_name(sct_ptx_coalescing model); /* "cc12" */
/* SCT_EUSAGE for an unknown name, with the nearest: for "cc13" the model that covers CC 1.3. */
sct_status sct_ptx_coalescing_find(sct_ptx_coalescing *out, const char *name, sct_error *err);

/* One direction of global memory, or one instruction. By the default rule: */
typedef struct sct_ptx_global {
  int64_t requests;         /* warp instructions with an active lane */
  int64_t sectors;          /* distinct 32-byte sectors a request, summed */
  int64_t sectors_ideal;    /* min(sectors, ceil(active lanes x width / 32)) a request, summed */
  int64_t tags;             /* distinct 128-byte lines a request, summed */
  int64_t moved;            /* bytes of these sectors (older devices: of the transactions) */
  int64_t bytes;            /* active lanes x width, summed */
  int64_t distinct_bytes;   /* bytes that active lanes access, each byte once a request, summed */
  int64_t contiguous_bytes; /* of 32-byte sectors, by any rule, if the distinct bytes of a request
                               that are used were contiguous: those of each run of at least
                               SCT_PTX_LONG_RUN of them from where it begins, all others together
                               from the lowest. Of a request of fewer than SCT_PTX_FEW_LANES active
                               lanes the used bytes themselves. For launches with per_buffer */
} sct_ptx_global;
#define SCT_PTX_FEW_LANES 8
/* Where such a run begins costs it at most one sector more than the two or more that it fills. */
#define SCT_PTX_LONG_RUN 64

typedef struct sct_ptx_shared {
  int64_t requests, wavefronts, wavefronts_ideal, bytes;
} sct_ptx_shared;

/* Additions, multiplications and fused ones (two each) of lanes, by the type of their operands. */
typedef enum sct_ptx_flop {
  SCT_PTX_FLOP_F16, /* bf16 too */
  SCT_PTX_FLOP_F32,
  SCT_PTX_FLOP_F64,
  SCT_PTX_N_FLOPS
} sct_ptx_flop;

/* Dependent instructions, the longest chain of a block (ptx_chain.c): cycles, and loads that wait
 * for each other; `near`: of them those of a line that was loaded the time before. */
typedef struct sct_ptx_chain {
  int64_t cycles, loads, near;
} sct_ptx_chain;

#define SCT_PTX_N_WIDTHS 6 /* bytes a lane: 1, 2, 4, 8, 16, 32 */

typedef struct sct_ptx_counters {
  sct_ptx_global load, store; /* asynchronous copies count as loads */
  int64_t load_width[SCT_PTX_N_WIDTHS], store_width[SCT_PTX_N_WIDTHS]; /* requests by width */
  sct_ptx_shared shared_load, shared_store;
  sct_ptx_shared
      shared_async; /* writes of cp.async: part of all wavefronts, of neither direction */
  /* atom and red, as a profiler counts them: global ones by the rules of loads and stores; in
   * shared memory each lane takes its bank for a wavefront, twice that for a compare-and-swap.
   * Only where a word counts its lanes (+1) or they reduce first (a constant address, 32 bits) do
   * lanes of one word share a wavefront. */
  sct_ptx_global atomics;
  sct_ptx_shared shared_atomics;
  /* of their requests those that a loop of compare-and-swaps makes: of halves, of floats and of 8
   * bytes in shared memory by machine code, or the kernel's own */
  int64_t swap_loops;
  /* cp.async.bulk: a copy is a request of its bytes, whatever the model; a profiler's requests and
   * tags have none of them, its sectors of L2 have all */
  sct_ptx_global bulk_load, bulk_store;
  int64_t local_requests;
  int64_t shuffles; /* shfl.sync, executed by a warp */
  /* loads of constant memory by warps, and the words of 4 bytes that they ask for, each once a
   * request: such a load takes a turn for each */
  int64_t constant_requests, constant_words;
  int64_t warp_instructions, lane_instructions; /* PTX, not SASS */
  sct_executed machine;         /* what these come to in machine code, about (ptx_costs.def) */
  int64_t memory_instructions;  /* of them: loads, stores, atomics and shuffles of warps */
  int64_t control_instructions; /* branches, barriers and ends */
  int64_t flops[SCT_PTX_N_FLOPS];
  /* products of matrices (mma, wmma) by warps, and their floating-point or integer operations */
  int64_t matrix_products, matrix_flops;
  int64_t branches,
      divergent_branches; /* guarded or by table, executed by a warp; lanes went both ways */
  int64_t barriers;       /* executed by a warp */
  sct_ptx_chain chain;    /* summed over blocks, if chains are followed */
} sct_ptx_counters;

void sct_ptx_global_add(sct_ptx_global *to, const sct_ptx_global *from);
void sct_ptx_shared_add(sct_ptx_shared *to, const sct_ptx_shared *from);
/* Loads, stores and atomics of warps together: a profiler's sums over global memory
 * (memory_l2_theoretical_sectors_global), and over shared memory (memory_l1_wavefronts_shared),
 * which has the writes of cp.async too. */
sct_ptx_global sct_ptx_global_sum(const sct_ptx_counters *counters);
sct_ptx_shared sct_ptx_shared_sum(const sct_ptx_counters *counters);

/* Degree of coalescing: the distinct bytes that requests ask for / the bytes of the sectors that
 * they touch. Bulk copies are among the loads and stores, atomics are not. Never above 1; 1 where
 * nothing is moved. */
typedef struct sct_ptx_degree {
  double load, store, both;
} sct_ptx_degree;
sct_ptx_degree sct_ptx_degree_of(const sct_ptx_counters *counters);

/* Caches for a launch's accesses to run through, cold at its start. Blocks are resident in the
 * order of the launch; the requests of a wave are interleaved. */
typedef struct sct_ptx_cache_sizes {
  int n_sms, blocks_sm;       /* resident blocks of an SM */
  int64_t l1_bytes, l2_bytes; /* of an SM; of the device, as one SM sees it */
} sct_ptx_cache_sizes;

/* What they found, in sectors of 32 bytes: an estimate. */
typedef struct sct_ptx_traffic {
  bool known;                           /* false: not asked for, or a block touches too much */
  int64_t l1_sectors, l1_hits;          /* loads and stores */
  int64_t l2_reads, l2_writes, l2_hits; /* writes are hits */
  int64_t dram_read, dram_written;
} sct_ptx_traffic;
/* The share of its sectors that L2 has, as a profiler counts it: with what a launch reads for
 * itself. 0 to 1. */
double sct_ptx_l2_hit_rate(const sct_ptx_traffic *t);

/* What one PTX instruction did. Instructions of one CUDA line carry the same file and line: sum
 * them for a report by source line. */
typedef struct sct_ptx_inst_counters {
  int ptx_line;
  const char *file; /* of the user's code; "" if unknown; belongs to the module */
  int line;
  /* in a function of the toolkit's or the system's headers that was called there and inlined: its
   * file, line and name; else "", 0, "". Belong to the module */
  const char *callee_file;
  int callee_line;
  const char *callee;
  const char *text; /* as written; belongs to the module, `text_len` bytes */
  int text_len;
  int64_t executed, lanes; /* warps, and their active lanes */
  int64_t divergent;       /* for a branch */
  int64_t swap_loops;      /* of an atomic operation: as in sct_ptx_counters */
  sct_ptx_global global;
  sct_ptx_shared shared;
} sct_ptx_inst_counters;

/* One request: where its lanes went. */
typedef struct sct_ptx_request {
  uint64_t address[32]; /* of the lanes in `mask`: device addresses, or bytes of shared memory */
  uint32_t mask;        /* 0: there was no request */
  int width;            /* bytes a lane */
  int64_t block;        /* the block's number */
  int warp;             /* of the block */
  int line;             /* of .loc, 0 if the PTX has none */
  const char *access;   /* "load", "store", "atomic", "bulk load" or "bulk store" */
  const char *buffer;   /* of global memory, by its name there; belongs to the memory. NULL: none */
  uint64_t base;        /* address of that buffer */
} sct_ptx_request;

/* Hears of each request to global memory as it is counted: parts that machine code makes of it one
 * by one, a bulk copy as one lane. Launches with it run on one host thread. */
typedef struct sct_ptx_watch {
  void (*request)(void *ctx, const sct_ptx_request *request);
  void *ctx;
} sct_ptx_watch;

typedef struct sct_ptx_requests {
  sct_ptx_request global, shared;
} sct_ptx_requests;

/* ---- launch ---- */

typedef enum sct_ptx_order { SCT_PTX_FORWARD, SCT_PTX_REVERSE, SCT_PTX_SHUFFLED } sct_ptx_order;

enum { SCT_PTX_UP = -1, SCT_PTX_DOWN = -2 };
enum { SCT_PTX_WAS_TRUE = 1, SCT_PTX_WAS_FALSE = 2 };

/* A zeroed struct with kernel, grid, block and arguments filled in runs on one host thread with all
 * checks and counters. */
typedef struct sct_ptx_launch_opts {
  const sct_ptx_module *module;
  const char *kernel;
  int64_t grid[3], block[3]; /* 0 counts as 1 */
  int64_t shared_bytes;      /* dynamic */
  const void *const *args;   /* [n_args] pointers to the values, as cuLaunchKernel wants them */
  int n_args;                /* must equal the kernel's n_params */
  int passes;  /* above 0: a sequence of so many launches, each after the one before, whose last
                  argument is an int with its number; `blocks` are numbered through all of them */
  int threads; /* host threads; 0: 1. Kernels with global atomics use 1 */
  int64_t max_steps;   /* warp instructions of one block; 0: 50 million. Beyond: diagnosis */
  sct_ptx_order order; /* of blocks and of the warps of a block */
  uint64_t seed;       /* of SCT_PTX_SHUFFLED */
  /* Not 0: sums and products of floats and doubles that are rounded to the nearest value are
   * rounded up or down, all of them (SCT_PTX_UP, SCT_PTX_DOWN), or, above 0, at random by this
   * seed: each way is the more often, the nearer it is, so that the errors of many sums have a mean
   * of 0. */
  int rounding;
  int max_shared_bytes; /* limit of a block; 0: 232,448 (an H200's) */
  int64_t heap_bytes;   /* that malloc may give together; 0: 8 MiB, as cudaLimitMallocHeapSize */
  bool no_definedness;  /* do not track uninitialised values, nor bytes that copies still use */
  bool no_races;        /* do not look for races */
  bool no_counters;
  /* Above 0: a race or an undefined value does not end the launch. So many of them are kept in
   * sct_ptx_result.findings, the first of each kind and line, with what came before. Such launches
   * run on one host thread. */
  int most_findings;
  sct_ptx_coalescing coalescing; /* rules of the counters */
  int cluster;          /* blocks of one, along x, of a kernel that does not say itself; 0: 1 */
  bool cooperative;     /* all blocks run at once, as cudaLaunchCooperativeKernel does; kernels with
                           a barrier of the grid always do */
  int registers;        /* a thread, which bounds how many those may be; 0: unknown */
  bool lenient_exits;   /* threads that have ended count as arrived at barriers, as on a GPU; else
                           a barrier that not all threads of the block reach is a diagnosis */
  bool per_instruction; /* fill sct_ptx_result.insts and .requests */
  bool per_buffer;      /* for sct_ptx_memory_counts() and contiguous_bytes */
  bool chains;          /* fill sct_ptx_counters.chain */
  /* Not NULL: [n_instructions] of the kernel; what guards, comparisons and selects were for an
   * active lane is added, SCT_PTX_WAS_TRUE and _FALSE. Such launches run on one host thread. For
   * sct_ptx_uncovered(). */
  uint8_t *seen;
  /* Not NULL: variables of the module, which its launches leave to each other as on a GPU: the
   * first one, *variables being NULL, makes them; free with sct_ptx_variables_free(). */
  struct ptx_buf **variables;
  const sct_ptx_cache_sizes *caches; /* fill sct_ptx_result.traffic; NULL: none */
  const sct_ptx_watch *watch;        /* NULL: none */
  const int64_t *blocks;             /* [n_blocks] the only ones to run, in this order; NULL: all */
  int64_t n_blocks;
  /* Not NULL: called on one host thread after block number i of `blocks` with what it did alone, by
   * buffer as sct_ptx_memory_counts() has it then; false: no more blocks. The result's counters are
   * those of no block. Flops are left out, and which machine instructions go to memory or steer. */
  bool (*block_done)(void *ctx, int64_t i, const sct_ptx_counters *counters);
  void *block_ctx;
} sct_ptx_launch_opts;

/* What kernels have allocated by malloc and not freed: it stays until the memory goes. */
typedef struct sct_ptx_heap {
  int64_t n, bytes;
  int64_t refused; /* calls that got NULL */
} sct_ptx_heap;

typedef struct sct_ptx_result {
  sct_ptx_diag diag; /* kind SCT_PTX_CLEAN: the kernel ran to its end and no check had anything */
  sct_ptx_diag *findings; /* [n_findings] with most_findings; the last one is `diag`, if there is
                             one: what ended the launch */
  int n_findings;
  sct_ptx_diag warning; /* the first race of which all writers store the same value; or CLEAN */
  sct_ptx_counters counters;
  sct_ptx_inst_counters *insts; /* [n_insts] in PTX order, with per_instruction */
  sct_ptx_requests *requests;   /* [n_insts] one of each (ptx_request.c), without bulk copies */
  int n_insts;
  sct_ptx_traffic traffic;
  sct_ptx_heap heap;      /* after the launch */
  char *printed;          /* by printf, in the order in which blocks ran, at most 1 MiB; or NULL */
  int64_t prints_dropped; /* calls of printf that are not in it */
} sct_ptx_result;

/* Runs one kernel on `memory`. On SCT_OK `out` is filled (free with sct_ptx_result_free), also when
 * the kernel misbehaved; of several failing blocks the one with the lowest number is reported.
 * SCT_EUSAGE: unknown kernel (with the nearest name), wrong arguments, block or shared memory too
 * large. SCT_EDATA: the kernel has PTX that this module does not know. */
sct_status sct_ptx_launch(sct_ptx_result *out, sct_ptx_memory *memory,
                          const sct_ptx_launch_opts *opts, sct_error *err);
void sct_ptx_result_free(sct_ptx_result *result);
void sct_ptx_variables_free(struct ptx_buf *variables);

/* A __device__ or __constant__ variable of a module. */
typedef struct sct_ptx_variable {
  const char *name; /* in the PTX */
  int64_t bytes;
  char number; /* as of a parameter */
} sct_ptx_variable;
int sct_ptx_n_variables(const sct_ptx_module *module);
const sct_ptx_variable *sct_ptx_variable_at(const sct_ptx_module *module, int index);
/* The bytes of variable `index` in *variables, which are made as a launch of `kernel` makes them if
 * there are none (NULL: without addresses of functions). To be written to between launches. */
uint8_t *sct_ptx_variable_data(struct ptx_buf **variables, const sct_ptx_module *module,
                               const char *kernel, int index);
/* What the last launch with per_buffer did to the buffer at `address`, bulk copies as loads and
 * stores. An access counts for the buffer of its first active lane. Zeroed:
 * unknown. */
#define SCT_PTX_SLICE_BYTES 512 /* neighbouring bytes that one slice of L2 updates */
typedef struct sct_ptx_buffer_counters {
  sct_ptx_global load, store, atomics;
  /* of loads whose first lane's sector the warp loaded shortly before, or the block */
  int64_t near_sectors, again_sectors;
  /* of atomics: turns of sectors, lanes of one word one each and other words of the sector beside
   * them; slices of L2 that requests come to; and pairs of requests by two blocks on one slice;
   * slices may share a count, which adds 1 / 8,192 of all pairs */
  int64_t atomic_turns, atomic_slices, meetings;
} sct_ptx_buffer_counters;
sct_ptx_buffer_counters sct_ptx_memory_counts(const sct_ptx_memory *memory, uint64_t address);

/* Whether a loop of the kernel advances by the number of blocks of its grid. */
bool sct_ptx_steps_by_grid(const sct_ptx_module *module, const char *kernel);

/* ---- coverage ---- */

/* A branch, a predicated instruction, a comparison or a select whose condition was only ever one of
 * true and false. */
typedef struct sct_ptx_guard {
  int ptx_line;
  const char *file; /* of .loc, "" unknown; belongs to the module */
  int line;
  const char *text; /* "@%p1 bra $L__BB0_2"; belongs to the module, `text_len` bytes */
  int text_len;
  bool own;      /* in the file where the kernel begins */
  bool was_true; /* else it was false */
  bool opposite; /* it is a comparison by ne, ge, gt, hs or hi */
} sct_ptx_guard;

/* The guards of a kernel that launches took one way only, by what they left in `seen`; returns how
 * many there are, and the first `most` of them. Left out: those that were never reached, as the
 * guard that led past them is listed; what follows from a comparison that is listed; and code of
 * the system's and the toolkit's headers. One of a line and a way stands for all. -1: there is no
 * such kernel. */
int sct_ptx_uncovered(sct_ptx_guard *out, int most, const sct_ptx_module *module,
                      const char *kernel, const uint8_t *seen);

/* ---- census ---- */

/* Counts the memory instructions of a kernel and of the functions it can call, each once, as the
 * machine would execute them: elements of a load that nothing reads are left out as ptxas leaves
 * them out. Parameters and constants are no memory here. To be held against the census of its
 * machine code. SCT_EUSAGE: unknown kernel; SCT_EDATA: a kernel this module cannot decode. */
sct_status sct_ptx_memops(sct_memops *out, const sct_ptx_module *module, const char *kernel,
                          sct_error *err);
/* Counts as sct_ptx_memops() does, and marks loops `uniform` in which no warp was split at an exit
 * in a launch of this kernel that ran with per_instruction (else none is). Holds for that launch
 * only.
 */
sct_status sct_ptx_memops_run(sct_memops *out, const sct_ptx_module *module, const char *kernel,
                              const sct_ptx_result *run, sct_error *err);

/* ---- traits */

#define SCT_PTX_MAX_CONSTANTS 64

/* A literal that loaded values, or floats, are compared with. */
typedef struct sct_ptx_literal {
  uint64_t bits;
  const char *type; /* "f32", "s32": as the comparison has it; lives for ever */
} sct_ptx_literal;

typedef struct sct_ptx_traits {
  /* Ascending, distinct, from 2 on: what integers are compared with, divided by, masked to or
   * multiplied with where positions are computed: from parameters and the indices of blocks and
   * threads, not from memory. Of x > 31 it is 32, where the answer changes. */
  int64_t constant[SCT_PTX_MAX_CONSTANTS];
  bool multiplied[SCT_PTX_MAX_CONSTANTS]; /* that only: neither compared with nor divided by */
  bool of_threads[SCT_PTX_MAX_CONSTANTS]; /* only numbers of threads, and what loops make of them,
                                             are compared with it */
  int n_constants;
  sct_ptx_literal literal[SCT_PTX_MAX_CONSTANTS];
  int n_literals;
  /* Bit k: the pointer in parameter k (below 64) is looked at as a number: compared, masked or
   * divided, not only added to. Integers of 64 bits may have theirs as well. */
  uint64_t inspected;
  /* Lines of the source, 0: none, where an index that goes to an address of global memory is made
   * of indices of blocks and of parameters in a type that ends before 64 bits do: as a product of
   * two of them of 32 bits, or one of them times a constant; and where one passes through a float,
   * to an address or not. */
  int product_line, scaled_line, float_line;
} sct_ptx_traits;

/* A static look at a kernel and the functions it can call; code of the system's and the toolkit's
 * headers is left out. SCT_EUSAGE: unknown kernel; SCT_EDATA: one this module cannot decode. */
sct_status sct_ptx_traits_of(sct_ptx_traits *out, const sct_ptx_module *module, const char *kernel,
                             sct_error *err);

#endif
