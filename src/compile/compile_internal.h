/* compile_internal - what the files of this module share: the loaded library, compiled objects, the
 * cache on disk, and one unit on its way through a program. */
#ifndef SCT_COMPILE_INTERNAL_H
#define SCT_COMPILE_INTERNAL_H

#include "compile/compile.h"
#include "process/process.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- the library (compile_nvrtc.c) */

/* nvrtcResult values that mean something to us; the others are reported by name. */
enum {
  NVRTC_SUCCESS = 0,
  NVRTC_OUT_OF_MEMORY = 1,
  NVRTC_INVALID_OPTION = 5,
  NVRTC_COMPILATION = 6,
  NVRTC_INTERNAL = 11,
  NVRTC_CANCELLED = 16
};

#define SCT_MAX_ARCHS 64

/* What a parent may know of the library that only its workers load. */
typedef struct sct_nvrtc_about {
  char version[24];   /* "13.0" */
  int64_t file_bytes; /* of the library's file: tells two builds of one version apart */
  int n_known;
  int known[SCT_MAX_ARCHS]; /* 75, 80, ... */
  char path[256];           /* of the library's file; "" unknown */
  char headers[256];        /* the toolkit's include directory; "" none was found */
} sct_nvrtc_about;

typedef struct sct_nvrtc {
#define SCT_NVRTC(field, symbol, type, params, required) type(*field) params;
#include "compile/compile_nvrtc.def"
#undef SCT_NVRTC
  void *handle;
  sct_nvrtc_about about;
} sct_nvrtc;

#ifdef SCT_FAULTS
/* Puts functions that fail on command before those of the library. */
void sct_compile_faults_wrap(sct_nvrtc *nvrtc);
#else
#define sct_compile_faults_wrap(nvrtc) ((void)(nvrtc))
#endif

sct_status sct_compile_nvrtc_load(sct_nvrtc *nvrtc, sct_error *err);
/* Calls `look` with each directory in which an NVRTC may lie, until it returns true, and returns
 * that; appends ", DIRECTORY" for each to `looked` (compile_places.c). */
typedef bool sct_nvrtc_visit(void *ctx, const char *directory);
bool sct_compile_nvrtc_places(sct_nvrtc_visit *look, void *ctx, sct_str *looked);
/* Path of the library's file, "" if it is not known; belongs to the loader. */
const char *sct_compile_nvrtc_path(const sct_nvrtc *nvrtc);
/* Writes the toolkit's include directory for this library; "" if there is none (compile_file.c). */
void sct_compile_find_headers(char *out, size_t bytes, const sct_nvrtc *nvrtc);
bool sct_compile_nvrtc_knows(const sct_nvrtc_about *about, long cc); /* 90: sm_90 */
sct_status sct_compile_nvrtc_check_arch(const sct_nvrtc_about *about, const char *arch,
                                        sct_error *err);

/* ---- objects: cubin and PTX of one program (compile_object.c) */

typedef struct sct_compile_object {
  int refs; /* one for the compiler's list, one for every result */
  struct sct_compile_object *next;
  char *cubin, *ptx; /* from sct_alloc; the second NUL-terminated */
  size_t cubin_bytes;
  sct_hash cubin_hash, ptx_hash;
} sct_compile_object;

/* Releases the list's references. */
void sct_compile_objects_free(sct_compile_object **list);
/* The object with one more reference, or NULL. */
sct_compile_object *sct_compile_objects_find(sct_compile_object *list, sct_hash cubin,
                                             sct_hash ptx);
/* Takes over both. Gives an object with a reference for the caller, an equal one of the list if it
 * has one. */
sct_compile_object *sct_compile_objects_add(sct_compile_object **list, char *cubin,
                                            size_t cubin_bytes, char *ptx);
/* Fills the result's pointers and hashes, with a reference of its own. */
void sct_compile_object_hold(sct_compiled *result, sct_compile_object *object);
void sct_compile_object_release(sct_compile_object *object); /* accepts NULL */

/* ---- one NVRTC program (compile_build.c) */

typedef struct sct_compile_input {
  const char *source;
  const char *name; /* of the file, in messages and in .file lines */
  const char *const *expressions;
  int n_expressions;
  const char *const *options;
  int n_options;
  const char *const *headers, *const *header_names; /* [n_headers] found before any directory */
  int n_headers;
  int64_t deadline_ns; /* looked at between compiler passes */
} sct_compile_input;

typedef struct sct_compile_build {
  void *handle;
  int result; /* of nvrtcCompileProgram */
  sct_str log;
} sct_compile_build;

/* Runs the compiler and reads its log; `result` says how it went. Free with sct_compile_build_free,
 * after an error too. */
sct_status sct_compile_build_run(const sct_nvrtc *nvrtc, sct_compile_build *b,
                                 const sct_compile_input *in, sct_error *err);
void sct_compile_build_free(const sct_nvrtc *nvrtc, sct_compile_build *b);
/* A result that is the fault of the source, as against one of the options or the machine. */
bool sct_compile_build_failed(const sct_compile_build *b);
/* The error of a result that is neither success nor the source's fault. */
sct_status sct_compile_build_refused(const sct_nvrtc *nvrtc, const sct_compile_build *b,
                                     sct_error *err);
/* Cubin and PTX of a program that compiled, with a reference for the caller. */
sct_status sct_compile_build_object(const sct_nvrtc *nvrtc, const sct_compile_build *b,
                                    sct_compile_object **objects, sct_compile_object **out,
                                    sct_error *err);
/* The lowered name of one of its expressions; the caller frees it. */
sct_status sct_compile_build_entry(const sct_nvrtc *nvrtc, const sct_compile_build *b,
                                   const char *expression, char **out, sct_error *err);
/* Puts source lines in place of PTX lines in the log; NVRTC keeps the PTX that ptxas refused. */
void sct_compile_build_resolve(const sct_nvrtc *nvrtc, sct_compile_build *b);

/* ---- the cache on disk (compile_cache.c) */

typedef struct sct_compile_cache {
  int objects_fd, entries_fd, new_fd; /* directories; -1: no cache */
  bool writable; /* turns false with the first write that fails, after one warning */
  unsigned n_temporary;
} sct_compile_cache;

void sct_compile_cache_open(sct_compile_cache *cache, const char *dir); /* dir NULL: no cache */
void sct_compile_cache_close(sct_compile_cache *cache);
/* Fills `out` (references an object) if the cache holds a sound entry for `key`. */
bool sct_compile_cache_get(sct_compile_cache *cache, sct_compile_object **objects, sct_hash key,
                           sct_compiled *out);
void sct_compile_cache_put_object(sct_compile_cache *cache, const sct_compile_object *object);
void sct_compile_cache_put_entry(sct_compile_cache *cache, sct_hash key,
                                 const sct_compiled *compiled);

/* ---- units and programs */

#define SCT_NAMESPACE_BYTES     24
#define SCT_COMPILE_STACK_BYTES ((size_t)64 << 20) /* of the thread that compiles */

/* One distinct source of a request. */
typedef struct sct_compile_item {
  const sct_compile_unit *in;
  sct_compiled *out;
  sct_hash key;
  char space[SCT_NAMESPACE_BYTES]; /* its namespace, a function of source and kernel name */
  bool alone; /* has preprocessor directives: a program of its own, without namespace */
  int first;  /* index of the first equal unit of the request, which is compiled for all */
  const char *expression; /* as nvrtcAddNameExpression has it, while its program lives */
} sct_compile_item;

/* What a worker compiles with. */
typedef struct sct_compile_engine {
  sct_nvrtc nvrtc;
  const char *const *options; /* of the current job; the first is ptxas -v */
  int n_options;
  int64_t limit_ns, deadline_ns; /* of the job */
  sct_compile_object *objects;
} sct_compile_engine;

/* Compiles units as one program; if that fails, in smaller ones (compile_program.c). Fills every
 * unit's result. SCT_ESTOPPED: several units missed the deadline together; any other error is no
 * unit's fault either. */
sct_status sct_compile_group(sct_compile_engine *engine, sct_compile_item **units, int n,
                             sct_error *err);
/* Runs the compiler on a unit that is foreign, whose options are some of the engine's
 * (compile_file.c). */
sct_status sct_compile_foreign(const sct_compile_engine *engine, sct_compile_build *b,
                               const sct_compile_input *unit, sct_error *err);
/* Compiles a file (compile_file.c); `stand_ins`: without the host's functions, and with empty
 * headers for those that are not found. */
sct_status sct_compile_whole(sct_compile_engine *engine, sct_compiled_file *out,
                             const sct_compile_file *file, bool stand_ins, sct_error *err);
/* Appends the source with blanks in place of the host's functions (compile_host.c). */
void sct_compile_without_host(sct_str *out, const char *source);
/* Compiles a file with nvcc, in this process' children (compile_nvcc.c). SCT_ENVRTC: there is none.
 */
/* A directory for what another program leaves, and its removal with all files in it. */
sct_status sct_compile_scratch_new(sct_str *out, sct_error *err);
void sct_compile_scratch_free(const char *path);
bool sct_compile_find_tool(sct_str *out, const char *name); /* of the toolkit, by its path */
sct_status sct_compile_nvcc(sct_compiler *compiler, sct_compiled_file *out,
                            const sct_compile_file *file, sct_error *err);

/* ---- messages between parent and worker (compile_wire.c); both write and read them */

typedef enum sct_compile_op {
  SCT_COMPILE_OP_ABOUT, /* sct_nothing -> sct_got_about */
  SCT_COMPILE_OP_GROUP, /* sct_ask_group -> sct_got_group */
  SCT_COMPILE_OP_FILE   /* sct_ask_file -> sct_got_file */
} sct_compile_op;

const sct_message *sct_compiled_table(void), *sct_nvrtc_about_table(void);
#define SCT_MESSAGES "compile/compile_messages.def"
#include "process/process_declare.def"

void sct_compile_put_group(sct_wire *w, const sct_compile_job *job, sct_compile_item *const *units,
                           int n);
void sct_compile_put_results(sct_wire *w, sct_compile_item *const *units, int n);
/* Fills the results of these units; objects go to the list. SCT_EDATA: the worker speaks another
 * protocol. Results that were filled are freed again. */
sct_status sct_compile_get_results(sct_wire *w, sct_compile_object **objects,
                                   sct_compile_item *const *units, int n, sct_error *err);
void sct_compile_put_file(sct_wire *w, const sct_compiled_file *file);
sct_status sct_compile_get_file(sct_wire *w, sct_compile_object **objects, sct_compiled_file *file,
                                sct_error *err);

/* Called with each source before it is compiled; NULL but in programs of tests that link a worker
 * which misbehaves as its sources command (tests/compile/misbehave.c). */
extern void (*sct_compile_misbehave)(const char *source);

/* ---- workers, seen from their parent (compile_pool.c) */

/* A stretch of sct_compile_run.todo for one worker. */
typedef struct sct_compile_span {
  int first, n;
  bool fresh; /* for a worker that has compiled nothing yet, so that its end has one cause */
} sct_compile_span;

typedef struct sct_compile_worker {
  sct_child child;
  int n_jobs; /* since it was started */
  bool busy;
  int64_t deadline_ns; /* of what it is busy with */
  sct_compile_span span;
} sct_compile_worker;

/* How a job ended. */
typedef struct sct_compile_end {
  sct_compile_failure failure; /* SCT_COMPILE_NONE: there is a reply */
  char text[160];
} sct_compile_end;

struct sct_compiler {
  sct_nvrtc_about about;
  sct_str option_line;
  char **options;
  int n_options;
  int n_workers, batch;
  int place, n_places;
  sct_compile_with with; /* for files; what has taken one is asked first for the next */
  int n_extra;           /* of the options, the last ones: the caller's */
  char arch[24];
  int64_t limit_ns, memory_bytes;
  char *program; /* NULL: this one */
  sct_compile_cache cache;
  sct_compile_object *objects;
  sct_compile_worker workers[SCT_COMPILE_MAX_WORKERS];
  struct sct_compile_run *run; /* the current request; NULL: none */
  sct_wire wire, reply;        /* to the workers and from them */
};

/* Starts the worker if it is not running; with `fresh`, one that has compiled nothing. */
sct_status sct_compile_worker_ready(sct_compiler *compiler, sct_compile_worker *w, bool fresh,
                                    sct_error *err);
/* Sends compiler->wire as a job. false: it takes no message; sct_compile_worker_receive() finds out
 * why. */
bool sct_compile_worker_send(sct_compiler *compiler, sct_compile_worker *w, sct_compile_op op);
/* Receives the reply into compiler->reply, to be called when there is one or the deadline is over.
 * After a failure the worker is gone. An error that the worker itself gives is returned. */
sct_status sct_compile_worker_receive(sct_compiler *compiler, sct_compile_worker *w,
                                      sct_compile_end *end, sct_error *err);
void sct_compile_workers_kill(sct_compiler *compiler, int keep); /* all but the first `keep` */
sct_compile_job sct_compile_job_of(const sct_compiler *compiler);

/* ---- NVRTC's log (compile_log.c) */

/* Reads ptxas' figures (--ptxas-options=-v) into the results of `units` by entry name. Figures that
 * the log lacks stay 0; registers are never 0 for a kernel that is there. */
void sct_compile_log_resources(const char *log, sct_compile_item **units, int n);
/* "ptxas application ptx input, line 30; error : text" becomes "/u<hash>(2): error: text" by the
 * .loc and .file lines of `ptx`; everything else is copied. */
void sct_compile_log_resolve(sct_str *out, const char *log, const char *ptx);
/* Does an error of the log name this unit? */
bool sct_compile_log_blames(const char *log, const sct_compile_item *unit);
/* The log of a program of one unit as its user should read it. Never empty. */
void sct_compile_log_rewrite(sct_str *out, const char *log, const sct_compile_item *unit);

/* The log of a whole file: "FILE(12): error: x" as "FILE:12: error: x", without figures and totals.
 * Never empty. */
void sct_compile_log_places(sct_str *out, const char *log);

/* ---- the cubin (compile_elf.c) */

typedef struct sct_compile_bits {
  sct_hash text;      /* machine code */
  sct_hash constants; /* constant banks of this kernel */
  sct_hash info;      /* attributes that change how it runs (cluster shape, barriers, ...) */
} sct_compile_bits;
/* false: no ELF file, damaged, or no such kernel. */
bool sct_compile_elf_kernel(sct_compile_bits *out, const void *cubin, size_t bytes,
                            const char *entry);

/* The machine code of one kernel. */
typedef struct sct_compile_text {
  const unsigned char *data; /* inside the cubin; NULL: it has no such kernel */
  size_t bytes;
  int sm; /* 90 of sm_90 */
} sct_compile_text;

/* A section of a cubin by its name; false: there is none. */
bool sct_compile_elf_section(const void *cubin, size_t bytes, const char *name,
                             const unsigned char **data, size_t *n);
/* false: no sound cubin. */
bool sct_compile_elf_text(sct_compile_text *out, const void *cubin, size_t bytes,
                          const char *entry);

#endif
