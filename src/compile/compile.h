/* compile - CUDA text to PTX and cubin with NVRTC, in batches, in several worker processes, through
 * a cache on disk.
 *
 * NVRTC is loaded by the workers only, with dlopen (by soname; then where toolkits, conda and
 * Python packages put it: compile_places.c), so the program starts without it. It is a pure
 * compiler: no driver is touched. A worker is this same binary (module process) with limits on
 * memory and time. One that dies, hangs or runs out of memory takes nothing with it: the sources it
 * had are compiled again one by one, each in a fresh worker, and the guilty one's result says what
 * happened.
 *
 * Each source is wrapped in a namespace of its own, so a batch of candidates becomes one program
 * and one cubin. If a program fails, the members that its errors name are compiled alone and the
 * others together again: a failing candidate does not take its batch with it. */
#ifndef SCT_COMPILE_H
#define SCT_COMPILE_H

#include "base/base.h"

#define SCT_COMPILE_WORKER_ARG "--compile-worker"
/* main() of a worker: a program's main must hand over to it, before anything else, when argv[1] is
 * SCT_COMPILE_WORKER_ARG. Returns the exit status. */
int sct_compile_worker_main(int argc, char **argv);

typedef struct sct_compiler sct_compiler;

/* What compiles whole files. */
typedef enum sct_compile_with {
  SCT_COMPILE_NVRTC,     /* the file as it stands */
  SCT_COMPILE_STAND_INS, /* NVRTC without the host's functions, with empty headers of the host */
  SCT_COMPILE_NVCC,      /* of $CUDA_HOME, $CUDA_PATH, $PATH or /usr/local/cuda */
  SCT_COMPILE_ANY        /* NVRTC if it takes the file; else nvcc if there is one; else stand-ins */
} sct_compile_with;
/* "nvrtc", "stand-ins", "nvcc", "any". SCT_EUSAGE with the nearest. */
sct_status sct_compile_with_find(sct_compile_with *out, const char *name, sct_error *err);

typedef struct sct_compile_opts {
  const char *arch;      /* "sm_90" */
  int threads;           /* worker processes; 0: number of cores */
  int batch;             /* sources a program; 0: 16 */
  const char *cache_dir; /* NULL: no cache on disk */
  /* Several compilers with the same sources and cache at a time share the work: each begins with
   * other sources, and takes what another has put into the cache meanwhile. This is number `place`
   * of n_places; 0: it is alone. */
  int place, n_places;
  const char *const *extra; /* further NVRTC options, NULL-terminated; NULL: none */
  int64_t limit_ns;         /* for compiling one program; 0: 60 s */
  int64_t memory_bytes;     /* address space of a worker; 0: 4 GiB */
  const char *program;      /* path of the worker's binary; NULL: this one */
  sct_compile_with with;    /* for whole files */
} sct_compile_opts;

/* A source with preprocessor directives other than #pragma is compiled in a program of its own, as
 * macros know no namespaces. */
typedef struct sct_compile_unit {
  const char *source; /* header-free CUDA: types, helpers, one __global__ function */
  const char *kernel; /* the name of that function */
  /* The user's own source: compiled alone and as whole files are, with the toolkit's headers, and
   * functions without __device__ are the host's. The kernel's name may have template arguments. */
  bool foreign;
} sct_compile_unit;

/* Why there is no code. */
typedef enum sct_compile_failure {
  SCT_COMPILE_NONE,
  SCT_COMPILE_ERROR,   /* NVRTC says what is wrong */
  SCT_COMPILE_TIMEOUT, /* not done within the limit */
  SCT_COMPILE_CRASH,   /* the worker died of it */
  SCT_COMPILE_MEMORY   /* needs more than the worker may have */
} sct_compile_failure;

typedef struct sct_compiled {
  bool ok;
  sct_compile_failure failure; /* when !ok */
  bool from_cache;             /* tests look at it */
  char *log; /* when !ok: NVRTC's messages with line numbers of the unit's own source ("line 12:
                error: ...") */
  char *
      entry; /* lowered (mangled) name of the kernel in cubin and PTX; the same for equal sources */
  const void *cubin; /* shared by the members of a batch; valid as long as the compiler, and as long
                        as this result. Without sections for debuggers */
  size_t cubin_bytes;
  const char *ptx; /* the whole program's, NUL-terminated; shared and valid as cubin. Its .loc lines
                      count the unit's own source; .file names are "/u<hash>", part of `entry` */
  sct_hash cubin_hash, ptx_hash; /* of the bytes of both; equal: the same program */
  sct_hash code_hash; /* of this kernel's machine code and resources: equal code runs alike in equal
                         launches, so it is timed once. Block size, grid and dynamic shared memory
                         are not in it */
  int registers;
  int spill_load_bytes, spill_store_bytes, stack_bytes;
  int static_shared_bytes;
  struct sct_compile_object *object; /* private: what cubin and ptx belong to */
} sct_compiled;

/* SCT_ENVRTC with a sentence that says what was looked for and where; SCT_EUSAGE for an
 * architecture NVRTC does not know (with the nearest). A cache directory that cannot be made or
 * written is no error: one warning, then no cache. */
sct_status sct_compiler_new(sct_compiler **out, const sct_compile_opts *opts, sct_error *err);
void sct_compiler_free(sct_compiler *compiler);
SCT_OWNS(sct_compiler, sct_compiler_free)
/* Why an NVRTC of this version ("12.0"; NULL: any) cannot compile the source for sm_<arch>; NULL:
 * it can, as far as compile_needs.def, the list of such features, tells. */
const char *sct_compile_unsupported(const char *version, int arch, const char *source);
/* "13.0". */
const char *sct_compiler_version(const sct_compiler *compiler);
const char *sct_compiler_path(const sct_compiler *compiler);    /* of NVRTC's file; "" unknown */
const char *sct_compiler_headers(const sct_compiler *compiler); /* the toolkit's include directory;
                                                                   "" none was found */
bool sct_compiler_knows(const sct_compiler *compiler, int cc);  /* 90: sm_90 */
void sct_compiler_archs(const sct_compiler *compiler, sct_str *out); /* appends "sm_75 sm_80 ..." */
/* The NVRTC options as one line, for provenance. */
const char *sct_compiler_options(const sct_compiler *compiler);

/* Compiles units[0..n) into results[0..n) (caller's array, need not be initialised; free each with
 * sct_compiled_free, after an error too). A unit that fails has ok == false and is no error.
 * `progress` (may be NULL) is called from the calling thread with the number done, several times a
 * second; returning false kills the workers and ends with SCT_EINTERRUPTED. SCT_EUSAGE: NVRTC
 * refuses an option of `extra`. One run at a time. */
sct_status sct_compiler_run(sct_compiler *compiler, const sct_compile_unit *units, int n,
                            sct_compiled *results, bool (*progress)(void *ctx, int done, int total),
                            void *ctx, sct_error *err);
void sct_compiled_free(sct_compiled *result);

/* Compiling in steps, for a caller that has other work meanwhile: begin; then step and next until
 * next gives -1 and none is left; end. Units are compiled in their order, and finish in any.
 * `units`, what they point to, and `results` live until the end. */
sct_status sct_compiler_begin(sct_compiler *compiler, const sct_compile_unit *units, int n,
                              sct_compiled *results, sct_error *err);
/* Compiling on demand: open instead of begin; a unit is compiled once it is wanted, in the order of
 * wanting. Equal units are wanted together. Asking twice does nothing; SCT_EUSAGE: there is no such
 * unit, or no request. */
sct_status sct_compiler_open(sct_compiler *compiler, const sct_compile_unit *units, int n,
                             sct_compiled *results, sct_error *err);
sct_status sct_compiler_want(sct_compiler *compiler, int unit, sct_error *err);
/* Gives idle workers something to do and takes what they have finished, waiting at most wait_ns for
 * it. Workers wait while nobody calls this. */
sct_status sct_compiler_step(sct_compiler *compiler, int64_t wait_ns, sct_error *err);
/* Such a step in two, for a caller that waits for other things too: first idle workers are given
 * something to do, and ready[0..*n) gets what to poll for those that are busy; then what has come,
 * by ready[].revents, is taken. */
#define SCT_COMPILE_MAX_WORKERS 64 /* most of them in a compiler, so in `ready` */
struct pollfd;
sct_status sct_compiler_step_begin(sct_compiler *compiler, struct pollfd *ready, int *n,
                                   sct_error *err);
sct_status sct_compiler_step_end(sct_compiler *compiler, const struct pollfd *ready,
                                 sct_error *err);
/* A unit whose result is there, each once, in the order of completion; -1: none so far. */
int sct_compiler_next(sct_compiler *compiler);
/* Units that are wanted and without a result; 0 after the end. */
int sct_compiler_left(const sct_compiler *compiler);
/* Kills workers that are still busy; results of units that did not finish are left empty. */
void sct_compiler_end(sct_compiler *compiler);

/* Counts the memory instructions in the machine code of kernel `entry` of a cubin, the functions it
 * calls included (they follow it in its section). Instructions that never run (guard "not
 * true", which ptxas puts around asynchronous copies) and loads of parameters and constants are
 * left out; spills are counted as local. Encodings: compile_sass.def, found by experiment for sm_75
 * to sm_121. `out` is set on success only.
 *
 * SCT_EDATA: no cubin, damaged, another architecture, or a form of an instruction that the table
 * does not have; SCT_EUSAGE: no such kernel in it. */
sct_status sct_sass_memops(sct_memops *out, const void *cubin, size_t bytes, const char *entry,
                           sct_error *err);

/* Registers a thread of kernel `entry` of a cubin; 0: not known. */
int sct_cubin_registers(const void *cubin, size_t bytes, const char *entry);

/* ---- whole files ---- */

/* A CUDA file as it stands, with its own includes, macros and templates and any number of kernels.
 * Include directories, in this order: the file's own, those of sct_compile_opts.extra, the
 * toolkit's
 * (`include` and `include/cccl`, next to the library of NVRTC or in $CUDA_HOME, $CUDA_PATH,
 * /usr/local/cuda). Headers of the standard library that libcu++ has (<cstdint>, <limits>, ...; see
 * compile_headers.def) stand for those, with namespace std; others of the host are empty. Of
 * <cub/cub.cuh> NVRTC gets the parts for blocks and warps.
 *
 * NVRTC takes device code alone. A file that it refuses because of its host code goes to nvcc, or,
 * where there is none, to NVRTC again without the functions of the host. */
typedef struct sct_compile_file {
  const char *path;           /* stands in messages and line information as given */
  const char *const *kernels; /* [n_kernels] as a C++ expression names them: "axpy",
                                 "ns::copy<float, 4>"; templates are instantiated by being named.
                                 None: every kernel that is no template, and no names */
  int n_kernels;
  const char *text; /* compiled in the place of what the file holds, without line information; NULL:
                       the file is read */
} sct_compile_file;

typedef struct sct_compiled_file {
  bool ok;
  char *by;       /* "nvcc 13.0"; NULL: NVRTC has taken the file as it stands */
  char *why;      /* with `by`: what NVRTC says of the file; NULL: it was not asked */
  char *log;      /* when !ok: the compiler's messages, "FILE:12: error: ..." */
  int unknown;    /* when !ok: index of a name that means nothing in the file; -1: something else */
  char **entries; /* [n_entries] lowered names of the kernels in PTX and cubin */
  int n_entries;
  const char *ptx; /* NUL-terminated; like cubin valid as long as this result */
  const void *cubin;
  size_t cubin_bytes;
  struct sct_compile_object *object; /* private */
} sct_compiled_file;

/* Compiles one file, with NVRTC in a worker; nothing goes through the cache. `out` need not be
 * initialised; free it with sct_compiled_file_free, after an error too. Source that does not
 * compile has ok == false and is no error. SCT_EIO: the file cannot be read; SCT_EUSAGE: NVRTC
 * refuses an option of `extra`. */
sct_status sct_compiler_file(sct_compiler *compiler, sct_compiled_file *out,
                             const sct_compile_file *file, sct_error *err);

/* ---- files that hold PTX ---- */

/* Is the file PTX, or may have it in it: a cubin with line information, a fatbin, an object or a
 * program? By its contents. */
bool sct_compile_holds_ptx(const char *path);
/* "ns::copy<float,4>" of a mangled name, without blanks; false: it is none, or the C++ library is
 * not there that knows. */
bool sct_compile_demangle(sct_str *out, const char *entry);
/* Takes its PTX as the result of compiling the file: that with one of file->kernels in it, else
 * that of the newest architecture. Machine code is that of the file, else what ptxas makes of the
 * PTX for its own target or the newer `arch`; cubin_bytes 0: there is none, and `why` says why.
 * Entries are not looked up. Free with sct_compiled_file_free, after an error too. SCT_ESPEC: there
 * is no PTX in it; SCT_EIO. */
sct_status sct_compile_ptx(sct_compiled_file *out, const sct_compile_file *file, const char *arch,
                           sct_error *err);
void sct_compiled_file_free(sct_compiled_file *result);

#endif
