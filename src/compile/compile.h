/* compile - CUDA text to PTX and cubin with NVRTC, in batches, on several threads, through a cache
 * on disk.
 *
 * NVRTC is loaded with dlopen (by soname; then $CUDA_HOME, $CUDA_PATH and the usual toolkit
 * folders), so the program starts without it. It is a pure compiler: no driver is touched.
 *
 * Each source is wrapped in a namespace of its own, so a batch of candidates becomes one program
 * and one cubin. If a program fails, the members that its errors name are compiled alone and the
 * others together again: a failing candidate does not take its batch with it. */
#ifndef SCT_COMPILE_H
#define SCT_COMPILE_H

#include "base/base.h"

typedef struct sct_compiler sct_compiler;

typedef struct sct_compile_opts {
  const char *arch;         /* "sm_90" */
  int threads;              /* worker threads; 0: number of cores, at most 8 */
  int batch;                /* sources a program; 0: 16 */
  const char *cache_dir;    /* NULL: no cache on disk */
  const char *const *extra; /* further NVRTC options, NULL-terminated; NULL: none */
  int64_t limit_ns; /* for compiling one source; 0: 60 s. Looked at between compiler passes only */
} sct_compile_opts;

/* A source with preprocessor directives other than #pragma is compiled in a program of its own, as
 * macros know no namespaces. */
typedef struct sct_compile_unit {
  const char *source; /* header-free CUDA: types, helpers, one __global__ function */
  const char *kernel; /* the name of that function */
} sct_compile_unit;

typedef struct sct_compiled {
  bool ok;
  bool from_cache;
  char *log; /* when !ok: NVRTC's messages with line numbers of the unit's own source ("line 12:
                error: ...") */
  int error_line; /* first line of the unit's source an error names; 0 unknown */
  char *
      entry; /* lowered (mangled) name of the kernel in cubin and PTX; the same for equal sources */
  const void *cubin; /* shared by the members of a batch; valid as long as the compiler, and as long
                        as this result */
  size_t cubin_bytes;
  const char *ptx;    /* likewise; the whole program's PTX, NUL-terminated. Its .loc lines count the
                         unit's own source; .file names are "/u<hash>", part of `entry` */
  sct_hash code_hash; /* of this kernel's machine code and resources: equal code runs alike in equal
                         launches, so it is timed once. Block size, grid and dynamic shared memory
                         are not in it */
  int registers;
  int spill_load_bytes, spill_store_bytes, stack_bytes;
  int static_shared_bytes;
  int const_bytes; /* constant bank 0: parameters and what the hardware keeps before them */
  struct sct_compile_object *object; /* private: what cubin and ptx belong to */
} sct_compiled;

/* SCT_ENVRTC with a sentence that says what was looked for and where; SCT_EUSAGE for an
 * architecture NVRTC does not know (with the nearest). A cache folder that cannot be made or
 * written is no error: one warning, then no cache. */
sct_status sct_compiler_new(sct_compiler **out, const sct_compile_opts *opts,
                            sct_error *err) SCT_MUST_USE;
void sct_compiler_free(sct_compiler *compiler);
/* Frees the cubins and PTX that belong to no result any more, so that a long session does not grow:
 * from here on what a freed result pointed to is gone. */
void sct_compiler_trim(sct_compiler *compiler);
/* "13.0". */
const char *sct_compiler_version(const sct_compiler *compiler);
/* The NVRTC options as one line, for provenance. */
const char *sct_compiler_options(const sct_compiler *compiler);

/* Compiles units[0..n) into results[0..n) (caller's array, need not be initialised; free each with
 * sct_compiled_free, after an error too). A unit that fails has ok == false and is no error.
 * `progress` (may be NULL) is called from the calling thread with the number done, several times a
 * second; returning false stops early with SCT_EINTERRUPTED. SCT_EUSAGE: NVRTC refuses an option of
 * `extra`. One run at a time. */
sct_status sct_compiler_run(sct_compiler *compiler, const sct_compile_unit *units, int n,
                            sct_compiled *results, bool (*progress)(void *ctx, int done, int total),
                            void *ctx, sct_error *err) SCT_MUST_USE;
void sct_compiled_free(sct_compiled *result);

/* Counts the memory instructions in the machine code of kernel `entry` of a cubin, the functions it
 * calls included (they stand behind it in its section). Instructions that never run (guard "not
 * true", which ptxas puts around asynchronous copies) and loads of parameters and constants are
 * left out; spills are counted as local. Encodings: compile_sass.def, found by experiment for sm_75
 * to sm_121. `out` is set on success only.
 *
 * SCT_EDATA: no cubin, damaged, another architecture, or a form of an instruction that the table
 * does not have; SCT_EUSAGE: no such kernel in it. */
sct_status sct_sass_memops(sct_memops *out, const void *cubin, size_t bytes, const char *entry,
                           sct_error *err) SCT_MUST_USE;

/* ---- whole files ---- */

/* A CUDA file as it stands, with its own includes, macros and templates and any number of kernels.
 * Include folders, in this order: the file's own, those of sct_compile_opts.extra, the toolkit's
 * (`include` and `include/cccl`, beside the library of NVRTC or in $CUDA_HOME, $CUDA_PATH,
 * /usr/local/cuda). Headers of the standard library that libcu++ has (<cstdint>, <limits>, ...; see
 * compile_headers.def) stand for those, with namespace std. */
typedef struct sct_compile_file {
  const char *path;           /* stands in messages and line information as given */
  const char *const *kernels; /* [n_kernels] as a C++ expression names them: "axpy",
                                 "ns::copy<float, 4>"; templates are instantiated by being named.
                                 None: every kernel that is no template, and no names */
  int n_kernels;
} sct_compile_file;

typedef struct sct_compiled_file {
  bool ok;
  char *log;      /* when !ok: NVRTC's messages, "FILE:12: error: ..." */
  int unknown;    /* when !ok: index of a name that means nothing in the file; -1: something else */
  char **entries; /* [n_entries] lowered names of the kernels in PTX and cubin */
  int n_entries;
  const char *ptx; /* NUL-terminated; like cubin valid as long as this result */
  const void *cubin;
  size_t cubin_bytes;
  struct sct_compile_object *object; /* private */
} sct_compiled_file;

/* Compiles one file in a thread of its own; nothing goes through the cache. `out` need not be
 * initialised; free it with sct_compiled_file_free, after an error too. Source that does not
 * compile has ok == false and is no error. SCT_EIO: the file cannot be read; SCT_EUSAGE: NVRTC
 * refuses an option of `extra`. */
sct_status sct_compiler_file(sct_compiler *compiler, sct_compiled_file *out,
                             const sct_compile_file *file, sct_error *err) SCT_MUST_USE;
void sct_compiled_file_free(sct_compiled_file *result);

#endif
