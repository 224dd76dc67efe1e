/* count - what the launches of a manifest do to memory, counted by running a CUDA file's PTX.
 *
 *   sct_count_read()   manifest text -> cases and buffers, checked as far as a manifest alone goes
 *   sct_count_direct() one launch that is given in parts -> a manifest of one case
 *   sct_count_run()    compiles the CUDA file, runs every case on the virtual GPU -> a report
 *   sct_count_lines()  the instructions of a case summed by source line
 *
 * A manifest is JSON: a list of cases, or {"buffers": {...}, "cases": [...]}. A case:
 *
 *   {"case": "name", "kernel": "copy<float>", "grid": [64,1,1], "block": [256,1,1],
 *    "args": ["in", "out+16", 3, 1.5, {"f64": 1.5}, [{"f32": 1}, "in"], null], "shared": 1024,
 *    "cluster": 2, "cooperative": true, "heap": 1048576}
 *
 * Arguments are a list, or an object by the parameters' names. Text is a buffer, with a byte
 * offset, or a new buffer by its type and length ("f32[1000]", "i32[1000]:perm"); a whole number
 * goes to the parameter as an integer of its size, a number with a point as f16, f32 or f64 of its
 * size, {"TYPE": x} says the type (count_types.def), a list is a struct by value with members at
 * their natural alignment, null a null pointer. `shared` is dynamic shared memory in bytes. Further
 * keys are ignored with a warning unless they look like a misspelling.
 *
 * Launches run in the order of the manifest on one memory, as on a GPU: buffers are not cleared in
 * between. A case that misbehaves (ptx.h, diagnosis) or cannot be launched is an outcome of its
 * row, and the cases after it run. Undefined values and races are looked for where the options say
 * so: kernels that are written to be counted have both. */
#ifndef SCT_COUNT_H
#define SCT_COUNT_H

#include "base/base.h"
#include "compile/compile.h"
#include "model/model.h"
#include "ptx/ptx.h"

/* ---- manifests ---- */

typedef struct sct_count_arg {
  const char *name; /* of the parameter; NULL: arguments are in the order of parameters */
  enum {
    SCT_COUNT_NULL,
    SCT_COUNT_BUFFER,
    SCT_COUNT_INTEGER,
    SCT_COUNT_REAL,
    SCT_COUNT_STRUCT
  } kind;
  int buffer;     /* index in the manifest's buffers; of a list: of one that holds it, for a
                     parameter that is a pointer, -1: none */
  int64_t offset; /* bytes */
  int64_t integer;
  double real;
  int type; /* row of count_types.def; -1: as the parameter has it */
  struct sct_count_arg *members;
  int n_members;
} sct_count_arg;

/* What a variable of the file holds from a launch on, as cudaMemcpyToSymbol() has it. */
typedef struct sct_count_setting {
  const char *name;                  /* of the variable, as the source has it */
  sct_count_arg value;               /* of the whole variable, if contents is NULL */
  struct sct_count_buffer *contents; /* from its first byte on; bytes 0: as many as it has */
} sct_count_setting;

typedef struct sct_count_case {
  const char *name, *kernel;
  int64_t grid[3], block[3], shared_bytes;
  int64_t cluster;    /* blocks of a cluster, along x; 0: as the kernel says */
  int64_t heap_bytes; /* that malloc() may give together; 0: 8 MiB */
  bool cooperative;   /* all blocks run at once */
  sct_count_arg *args;
  int n_args;
  sct_count_setting *settings; /* before this launch */
  int n_settings;
  int line; /* of the manifest, where the case begins */
} sct_count_case;

typedef struct sct_count_buffer {
  const char *name;
  int64_t bytes;
  int fill;            /* row of count_fills.def */
  int type;            /* of elements, a row of count_types.def; -1: 32-bit words */
  int64_t below;       /* of random ones; 0: all there are */
  const uint8_t *held; /* of values and files: the first held_bytes bytes, which repeat */
  int64_t held_bytes;
  const sct_count_arg *list; /* not NULL: these members, addresses among them */
  bool used;                 /* by a case: others are not made */
} sct_count_buffer;

typedef struct sct_count_manifest {
  const char *path; /* for messages; NULL: given in parts */
  sct_count_case *cases;
  int n_cases;
  sct_count_setting *settings; /* before the first launch */
  int n_settings;
  const char *const *options; /* [n_options] of the compiler */
  int n_options;
  sct_count_buffer
      *buffers; /* the manifest's and those that every manifest has (count_buffers.c) */
  int n_buffers;
  sct_arena arena; /* private: all of the above */
} sct_count_manifest;

/* Reads a manifest. SCT_EIO: no such file; SCT_ESPEC: "FILE:line: error: ..." with the case, the
 * key, what was expected and the nearest legal word. Free with sct_count_manifest_free, on success
 * only. */
sct_status sct_count_read(sct_count_manifest *out, const char *path, sct_error *err);
void sct_count_manifest_free(sct_count_manifest *manifest);

/* One launch, as a command line has it. */
typedef struct sct_count_launch {
  const char *kernel, *grid, *block; /* "copy<float>", "64,64", "256" */
  const char *shared;                /* bytes; NULL: none */
  const char *const *args;           /* [n_args] "name=value", or values in order */
  int n_args;
} sct_count_launch;

/* A manifest of this case alone. SCT_EUSAGE names the option. Free with sct_count_manifest_free, on
 * success only. */
sct_status sct_count_direct(sct_count_manifest *out, const sct_count_launch *launch,
                            sct_error *err);

/* ---- runs ---- */

typedef struct sct_count_opts {
  const char *file;              /* CUDA source */
  const char *arch;              /* "sm_90" */
  const char *const *extra;      /* further NVRTC options, NULL-terminated; NULL: none */
  sct_compile_with with;         /* what compiles the file */
  const sct_device_desc *device; /* whose caches accesses run through; NULL: none */
  int threads;          /* host threads over which the blocks of a launch are spread; 0: one a
                           core, at most 16. Counts are the same for every number */
  bool per_instruction; /* fill sct_count_row.insts */
  int most_findings;    /* above 0: look for races and undefined values, too; so many are kept of
                           a case */
  sct_ptx_coalescing coalescing; /* rules of the counters; of an older device never exact */
} sct_count_opts;

typedef struct sct_count_row {
  const char *name, *kernel; /* of the manifest */
  const char *entry;         /* the kernel's name in the PTX */
  const char *problem;       /* why the case has no counts: a diagnosis with its place, or what the
                                launch asks too much of; NULL: counted */
  bool exact;                /* the machine code has the memory instructions that were counted */
  const char *cause;         /* why not; NULL: exact */
  sct_ptx_diag diag;         /* kind SCT_PTX_CLEAN: none */
  sct_ptx_diag *findings;    /* [n_findings] with most_findings; `diag` is among them */
  int n_findings;
  sct_ptx_heap heap;    /* what kernels have allocated and not freed, after the launch */
  sct_ptx_diag warning; /* a race in which all write the same value; or SCT_PTX_CLEAN */
  sct_ptx_counters counters;
  sct_ptx_inst_counters *insts; /* [n_insts] in PTX order */
  sct_ptx_requests *requests;   /* [n_insts] */
  int n_insts;
  int64_t grid[3], block[3]; /* at least 1 each */
  int passes;                /* launches of a sequence, of this grid each; 0: one launch */
  int64_t blocks_run;        /* blocks that were counted, of all launches; 0: all */
  double sectors_error;      /* of the demand and of the coalescing, relative; 0: of all blocks */
  const char *source; /* text that stands for the file "source" of lines; NULL: they are of files */
  int registers;      /* a thread; 0: not known */
  int64_t static_shared_bytes;   /* a block */
  int64_t shared_bytes;          /* dynamic, a block */
  sct_ptx_traffic traffic;       /* of the caches of sct_count_opts.device */
  int spill_loads, spill_stores; /* instructions that machine code has for registers that do not
                                    fit: of each, bytes a thread */
  int64_t local_bytes;           /* arrays of a thread in local memory */
  bool has_demand;               /* false: the next is not known */
  sct_demand demand;             /* of the whole grid */
  sct_demand local;              /* of it, what local memory asks for */
  bool has_fast;                 /* false: the next is not known */
  sct_demand fast;               /* as compiled with --use_fast_math */
  const sct_spec *spec;          /* whose candidate it is; NULL: a launch of a file */
  sct_coalescing coalescing;     /* with has_demand, of a spec's candidate */
} sct_count_row;

typedef struct sct_count_report {
  sct_count_row *rows; /* [n_rows] as in the manifest, which must outlive the report */
  int n_rows;
  int n_failed;    /* rows with a problem */
  const char *by;  /* what compiled the file; NULL: NVRTC, the file as it stands, or it is PTX */
  const char *why; /* what NVRTC says of the file; NULL: it was not asked */
  struct sct_count_session *session; /* private */
} sct_count_report;

/* Compiles and runs. SCT_ESPEC: the file does not compile ("FILE:12: error: ..."), or a case names
 * a kernel that it does not have, or gives arguments that do not fit (nothing is run then).
 * SCT_ENVRTC, SCT_EIO, SCT_EUSAGE (architecture, option of `extra`), SCT_ENOMEM. Free with
 * sct_count_report_free, on success only. */
sct_status sct_count_run(sct_count_report *out, const sct_count_manifest *manifest,
                         const sct_count_opts *opts, sct_error *err);
void sct_count_report_free(sct_count_report *report);

/* Writes the launches of a report that have counts, for a process to run on GPU `ordinal`
 * (sct_launches_run()): the same kernels with the same arguments, on the same memory. SCT_EIO. */
sct_status sct_count_launches(const sct_count_report *report, const sct_count_manifest *manifest,
                              int ordinal, const char *path, sct_error *err);

/* The caches of a device as blocks of this shape see them. */
sct_ptx_cache_sizes sct_count_caches(const sct_device_desc *device, int threads, int registers,
                                     int64_t shared_bytes);

/* ---- by source line ---- */

typedef struct sct_count_line {
  const char *file; /* "" if unknown */
  int line;
  int instructions;                   /* of PTX */
  int64_t executed, lanes, divergent; /* warps, their active lanes, branches that diverged */
  sct_ptx_global global;              /* loads, stores and atomics together */
  sct_ptx_shared shared;
} sct_count_line;

/* Sums a row's instructions, in the order of file and line. `*lines` is from sct_alloc and the
 * caller's. */
void sct_count_lines(sct_count_line **lines, int *n_lines, const sct_count_row *row);

/* ---- limits ---- */

/* A figure (count_limits.def) that is above its limit. */
typedef struct sct_overrun {
  int row; /* of the report */
  const char *figure;
  int64_t value, limit;
  const char *file; /* of a line; "": of the launch. Belongs to the report */
  int line;
} sct_overrun;

/* Holds a report, counted per instruction, to the limits in a file: {"compiler": "nvrtc 13.0",
 * "arch": "sm_90", "limits": [{"case": "rows", "sectors": 4096, ...}]}, a limit with "line" (and
 * "file") for that line. `*out` is from sct_alloc and the caller's. SCT_EIO; SCT_ESPEC: the file
 * says something else, names no case of the report, or is for another compiler. */
sct_status sct_limits_check(sct_overrun **out, int *n, const char *path, const char *arch,
                            const sct_count_report *report, sct_error *err);
/* Writes what a report has as limits. SCT_EIO. */
sct_status sct_limits_write(const char *path, const char *arch, const sct_count_report *report,
                            sct_error *err);
/* What compiled it, "nvrtc 13.0"; as long as the report. */
const char *sct_count_compiler(const sct_count_report *report);

/* ---- a profile ---- */

typedef enum sct_access_kind {
  SCT_ACCESS_LOAD,
  SCT_ACCESS_STORE,
  SCT_ACCESS_ATOMIC
} sct_access_kind;
const char *sct_access_name(sct_access_kind kind); /* "loads" */

/* What one source line does to global or shared memory by one kind of access. */
typedef struct sct_profile_access {
  const char *file; /* "" if unknown */
  int line;
  sct_access_kind kind;
  bool is_shared;
  int64_t executed, lanes; /* warps, their active lanes */
  sct_ptx_global global;
  sct_ptx_shared shared;
  const sct_ptx_request *request; /* one of them, of the row; NULL: not known */
  double stride;                  /* bytes between neighbours, where it is one; else 0 */
  uint64_t lowest;                /* address of a first lane */
  uint64_t covered;               /* bits: bytes of a stride of up to 64 that a thread takes */
  bool loaded, library;           /* its address is of a loaded value; of the device library */
} sct_profile_access;

/* Something to mend, and where. */
typedef struct sct_issue {
  sct_advice advice;
  const char *file; /* "": the whole kernel */
  int line;
} sct_issue;

/* What a launch does of what the device can, predicted as for candidates (sct_model_demand()). */
typedef struct sct_speed {
  bool known;
  sct_prediction predicted;
  sct_limit limit;                     /* the longest part but the launch */
  const char *limiter;                 /* "memory", "compute", "issue", "latency" */
  double ns;                           /* its time */
  bool balanced;                       /* memory and compute take nearly as long */
  double memory, compute, issue, dram; /* shares of what the device can do in that time */
  double dram_bytes;
  double flight_bytes; /* of loads, that an SM can have on their way at once */
  double flops[SCT_PTX_N_FLOPS], peak_flops[SCT_PTX_N_FLOPS]; /* of the launch; a second */
  sct_ptx_flop main_type;                                     /* the one that takes longest */
  double intensity, ridge; /* operations a byte of DRAM; from which on that type is the limit */
} sct_speed;

typedef struct sct_profile {
  int64_t blocks, threads;           /* of the grid; of a block */
  sct_occupancy occupancy;           /* of the device; fraction 0: not known */
  double waves;                      /* blocks by those that are resident at once; 0: not known */
  int64_t local_loads, local_loaded; /* from local memory; where a loaded value says */
  sct_speed speed;
  sct_profile_access *accesses; /* [n_accesses] what is excessive first */
  int n_accesses;
  sct_issue *issues; /* [n_issues] by gain in time, then by share */
  int n_issues;
  sct_arena arena; /* private */
} sct_profile;

/* Whether instructions limit a row, among them accurate ones for which --use_fast_math has others.
 */
bool sct_count_is_slow(const sct_count_row *row, const sct_device_desc *device);

/* Fills the profile of a row that was counted per instruction, on a device. */
void sct_count_profile(sct_profile *out, const sct_count_row *row, const sct_device_desc *device);
void sct_profile_free(sct_profile *profile);

#endif
