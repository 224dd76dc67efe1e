/* base - what every module stands on: status and error, memory, text, hashes, files, random
 * numbers, spelling, assets.
 *
 * Everything here is plain C11 and POSIX. Nothing here knows about kernels. */
#ifndef SCT_BASE_H
#define SCT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base_memops.h"
#include "base/base_pipes.h"
#include "base/base_sys.h"

#define SCT_VERSION "0.1.0"

/* Built with a sanitizer: memory cannot be limited then, as it reserves address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SCT_SANITIZED 1
#endif
#endif
#ifndef SCT_SANITIZED
#define SCT_SANITIZED 0
#endif

#define SCT_MUST_USE __attribute__((warn_unused_result))
#ifdef __clang__ /* has it for types in C11 under this name, GCC under the other */
#define SCT_NODISCARD SCT_MUST_USE
#elif __GNUC__ >= 10 /* before, calls that ignore a status are not found */
#define SCT_NODISCARD [[nodiscard]]
#else
#define SCT_NODISCARD
#endif
#define SCT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define SCT_COUNT(array)      ((int)(sizeof(array) / sizeof((array)[0])))
/* `SCT_SCOPED(sct_str) text = {0};`: a local that sct_str_free() frees at the end of its scope, by
 * whatever return. It stands before every `goto` of its function. */
#define SCT_SCOPED(type) __attribute__((cleanup(type##_free))) type

/* ---- status and error ---- */

/* Every fallible function returns one of these; a call that ignores it is a warning. The exit code
 * of the program follows from it (base_status.def). */
__extension__ typedef enum SCT_NODISCARD sct_status {
#define SCT_STATUS(name, exit_code, text) name,
#include "base_status.def"
#undef SCT_STATUS
  SCT_N_STATUS
} sct_status;

/* What went wrong, in words. The caller owns the struct and may pass NULL where it does not care.
 * The first failure writes it; text holds one or more lines, the first of the form "file:line:
 * error: ..." where a place is known. */
typedef struct sct_error {
  sct_status code;
  char text[3072];
} sct_error;

/* Writes `err` (if not NULL) and returns `code`, so that `return sct_fail(err, SCT_EIO, "...",
 * ...)` reads well. */
sct_status sct_fail(sct_error *err, sct_status code, const char *fmt, ...) SCT_PRINTF(3, 4);
/* Puts text in front of the message of an error that has already been written. Returns err's code
 * (or `code` if NULL). */
sct_status sct_fail_prefix(sct_error *err, sct_status code, const char *fmt, ...) SCT_PRINTF(3, 4);
int sct_exit_code(sct_status code);           /* 0 done, 1 internal, 2 usage, 3 spec error, ... */
const char *sct_status_text(sct_status code); /* one short phrase, for a person */

/* Return early with the status of a call that failed. */
#define SCT_TRY(call)                                                                              \
  do {                                                                                             \
    const sct_status sct_try_status_ = (call);                                                     \
    if (sct_try_status_ != SCT_OK) {                                                               \
      return sct_try_status_;                                                                      \
    }                                                                                              \
  } while (0)

/* Jumps to the cleanup label `done:` if a call failed; sets the local variable `status`. */
#define SCT_TRY_DONE(call)                                                                         \
  do {                                                                                             \
    status = (call);                                                                               \
    if (status != SCT_OK) {                                                                        \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

/* Makes the call only if `status` is still SCT_OK; what follows runs in any case. */
#define SCT_THEN(call)                                                                             \
  do {                                                                                             \
    if (status == SCT_OK) {                                                                        \
      status = (call);                                                                             \
    }                                                                                              \
  } while (0)

/* ---- memory ---- */

/* malloc family behind one door. No function here gives NULL for want of memory: refused memory
 * ends the process with the exit code of SCT_ENOMEM, after one line on stderr that says how much
 * was asked for and which limit stands in the way. The store is then as after a kill: whole. Who
 * runs a child process learns it from the exit code. Sizes of 0 give NULL. */
void *sct_alloc(size_t bytes); /* zero-initialised */
/* Zeroed memory of which only what is touched is taken; sct_unmap(p, bytes) frees it. */
void *sct_alloc_sparse(size_t bytes);
void *sct_realloc(void *old, size_t bytes); /* new bytes are not initialised */
/* For a child whose parent reports how it ended: no line on stderr. */
void sct_memory_end_silently(void);
/* For a process that interprets kernels: arrays come and go with every launch, and pages that the
 * system gets back and gives again, zeroed, cost more than what a kernel does with them. */
void sct_memory_keep_pages(void);
void sct_free(void *p); /* accepts NULL */
/* `SCT_OWNED int *order = sct_alloc(...)`: freed at the end of its scope, as SCT_SCOPED; the only
 * variable of its declaration. */
#define SCT_OWNED __attribute__((cleanup(sct_free_at_)))
static inline void sct_free_at_(const void *pointer) {
  void *p;
  memcpy(&p, pointer, sizeof p);
  sct_free(p);
}
/* `SCT_OWNED_PTR(sct_store) store = NULL;`: ended at the end of its scope, by the function that
 * SCT_OWNS names for the type. */
#define SCT_OWNED_PTR(type) __attribute__((cleanup(type##_end_at_))) type *
#define SCT_OWNS(type, end)                                                                        \
  static inline void type##_end_at_(type *const *p) {                                              \
    end(*p);                                                                                       \
  }
char *sct_strdup(const char *text);

/* Makes room for one more element in a growing array: `ptr` of `cap` elements, `len` in use. */
#define SCT_GROW(ptr, len, cap) sct_grow_((void **)&(ptr), (size_t)(len), &(cap), sizeof(*(ptr)))
void sct_grow_(void **ptr, size_t len, size_t *cap, size_t elem_bytes);

/* Arena: many small pieces, freed together. A zeroed struct is a valid empty arena.
 * With SCT_ARENA_MALLOC defined (debug and sanitizer builds) every piece is its own malloc. */
typedef struct sct_arena {
  struct sct_arena_block *head;
  size_t total_bytes;
} sct_arena;
void *sct_arena_alloc(sct_arena *arena, size_t bytes); /* zeroed, 16-byte aligned */
char *sct_arena_strdup(sct_arena *arena, const char *text);
char *sct_arena_strndup(sct_arena *arena, const char *text, size_t len);
char *sct_arena_printf(sct_arena *arena, const char *fmt, ...) SCT_PRINTF(2, 3);
void sct_arena_free(sct_arena *arena); /* leaves an empty arena */
#define SCT_ARENA_NEW(arena, type, n) ((type *)sct_arena_alloc((arena), sizeof(type) * (size_t)(n)))

/* ---- text ---- */

/* Growing text, always NUL-terminated (data may be NULL while empty: use sct_str_c). A zeroed
 * struct is a valid empty string. */
typedef struct sct_str {
  char *data;
  size_t len, cap;
} sct_str;
void sct_str_append(sct_str *s, const char *text);
void sct_str_append_n(sct_str *s, const char *bytes, size_t n);
void sct_str_append_int(sct_str *s, int64_t value); /* as "%lld" does, and faster */
void sct_str_printf(sct_str *s, const char *fmt, ...) SCT_PRINTF(2, 3);
/* Appends the text of `fmt` with the arguments of the calling function. */
#define SCT_STR_FORMAT(s, fmt)                                                                     \
  do {                                                                                             \
    va_list args_;                                                                                 \
    va_start(args_, fmt);                                                                          \
    sct_str_vprintf(s, fmt, args_);                                                                \
    va_end(args_);                                                                                 \
  } while (0)
void sct_str_vprintf(sct_str *s, const char *fmt, va_list args);
/* Appends text of others for a terminal, which must not obey it: control characters but tab and new
 * line, in UTF-8 those of two bytes too, what ends lines and what turns the direction of text,
 * become \xNN for each byte. */
void sct_str_append_printable(sct_str *s, const char *text);
/* sct_str_append_printable() would change nothing. */
bool sct_is_printable(const char *text);
void sct_str_clear(sct_str *s); /* keeps the memory */
void sct_str_free(sct_str *s);  /* leaves an empty string */
const char *sct_str_c(const sct_str *s);

bool sct_has_prefix(const char *text, const char *prefix);
bool sct_has_suffix(const char *text, const char *suffix);
bool sct_is_word(char c);                 /* a letter, a digit or _ */
bool sct_is_identifier(const char *text); /* [A-Za-z_][A-Za-z0-9_]* */
/* The length of the hole of a template whose `$(` ends before text[0]: the place of the parenthesis
 * that closes it. Parentheses in Lua's strings do not count. n: nothing closes it. */
size_t sct_hole_length(const char *text, size_t n);
/* Appends CUDA text with comments and what stands in quotes blanked, every other character at its
 * place. Returns what keeps it from being read so ("a raw string"), or NULL. */
const char *sct_cuda_blank(sct_str *out, const char *source);
/* What keeps such a text from standing inside a namespace ("a bracket that is never closed"), and
 * in which line (may be NULL); NULL: nothing. `macros`: directives may stand in it, and whole
 * conditions, and #include <header>; else none but #pragma. */
const char *sct_cuda_structure(const char *blanked, bool macros, int *line);
bool sct_is_kernel_name(const char *text); /* "axpy", "ns::copy<float, 4>" */
/* Which line of which file line `line` (from 1) of a text was, where `runs` has "N FIRST FILE\n"
 * for N lines that follow each other in a file. `file` is a part of `runs`, n_file characters.
 * false: it is not known. */
bool sct_lines_find(const char *runs, int line, const char **file, int *n_file, int *file_line);
/* "1.23 GB", "4.2 s", "12 ms": short forms for a person. `out` holds at least 32 bytes; returns
 * out. */
char *sct_format_bytes(char *out, double bytes);
char *sct_format_ns(char *out, double ns);

/* a / b; 0 where b is not positive. */
static inline double sct_ratio(int64_t a, int64_t b) {
  return b > 0 ? (double)a / (double)b : 0.0;
}

/* ---- names ---- */

/* Names that stand in the elements of any array. */
typedef struct sct_names {
  const void *array;
  size_t stride, at;
  int n;
} sct_names;
/* The names in an array of texts, and in a member of an array of structs. */
#define SCT_NAMES(texts, n) ((sct_names){texts, sizeof((texts)[0]), 0, n})
#define SCT_NAMES_IN(array, n, member)                                                             \
  ((sct_names){array, sizeof((array)[0]), offsetof(__typeof__(*(array)), member), n})
/* The index of the first element with this name; -1: none. _n: the name has `len` characters. */
int sct_names_find(sct_names names, const char *word);
int sct_names_find_n(sct_names names, const char *word, size_t len);
/* Finds the index of a name. SCT_EUSAGE where there is none: this text, then what sct_str_suggest()
 * suggests for the word. */
sct_status sct_names_choose(int *out, sct_names names, const char *word, sct_error *err,
                            const char *fmt, ...) SCT_PRINTF(5, 6);

/* The legal name nearest to `word` by edit distance (transpositions count one), or NULL if none is
 * near (distance more than a third of the length, at least 1, ignoring case). Ties: the first in
 * the list. */
const char *sct_nearest(const char *word, sct_names names);
/* Appends `; did you mean 'x'?` or, when none is near, `; expected one of a, b, c` (at most 12
 * names). */
void sct_str_suggest(sct_str *s, const char *word, sct_names names);

/* ---- hashes ---- */

typedef struct sct_hash {
  uint64_t hi, lo;
} sct_hash; /* XXH3, 128 bits */
sct_hash sct_hash_bytes(const void *data, size_t n);
sct_hash sct_hash_text(const char *text);
#define SCT_HASH_HEX 33 /* bytes of the text form with its NUL */
char *sct_hash_hex(char out[SCT_HASH_HEX], sct_hash h);
bool sct_hash_equal(sct_hash a, sct_hash b);

/* ---- files ---- */

/* Reads a whole file of at most 64 MiB, or of at most `most_bytes`. `out` is cleared first. SCT_EIO
 * with path and reason. */
sct_status sct_file_read(sct_str *out, const char *path, sct_error *err);
sct_status sct_file_read_most(sct_str *out, const char *path, int64_t most_bytes, sct_error *err);
/* Writes a temporary file in the same directory, fsyncs, renames over `path`: the old file stays
 * whole on any failure. Leaves an existing file with equal bytes untouched (its timestamp too).
 * What is no regular file (a pipe, a device) is written to as it is. */
sct_status sct_file_write(const char *path, const void *data, size_t n, sct_error *err);
/* Makes a directory and its parents; what it makes has mode 0700. An existing directory is fine. */
sct_status sct_dir_make(const char *path, sct_error *err);
bool sct_file_exists(const char *path);
/* Are both names of one regular file, whatever links lead there? */
bool sct_file_same(const char *a, const char *b);
/* "$XDG_DATA_HOME/sectile/store.db" (default ~/.local/share/sectile/...) and
 * "$XDG_CACHE_HOME/sectile" (default ~/.cache/sectile). Append to `out`; a relative XDG value is
 * ignored, as the XDG specification says, and so is a HOME that is relative or not set: then there
 * is no store (SCT_EUSAGE), and no cache (nothing is appended). Nothing is created. */
sct_status sct_path_store(sct_str *out, sct_error *err);
void sct_path_cache(sct_str *out);
/* Directory part of a path without the final slash ("." if none). Appends to out. */
void sct_path_dirname(sct_str *out, const char *path);
const char *sct_path_basename(const char *path);

/* ---- assets: the Lua files and templates that travel inside the binary ---- */

/* Reads "templates/direct.cu", "tuning/layouts/aos.lua", ... : from the directory set by
 * sct_assets_override() if the file is there, else from the copy embedded at build time. SCT_EIO
 * names the asset. */
sct_status sct_asset_read(sct_str *out, const char *name, sct_error *err);
/* A directory that mirrors the top level of the repository; NULL: embedded only. The string is
 * copied.
 */
void sct_assets_override(const char *directory);
/* The names of all assets that start with `prefix` and end with `suffix`, in order, overrides
 * included once. */
const char **sct_asset_names(int *n, sct_arena *arena, const char *prefix, const char *suffix);

/* ---- random numbers and permutations ---- */

/* xoshiro256**; the same seed gives the same stream on every machine. */
typedef struct sct_rng {
  uint64_t s[4];
} sct_rng;
sct_rng sct_rng_new(uint64_t seed);
uint64_t sct_rng_u64(sct_rng *rng);
int64_t sct_rng_below(sct_rng *rng, int64_t n); /* uniform in [0, n), n >= 1 */
double sct_rng_unit(sct_rng *rng);              /* uniform in [0, 1) */
/* A value of a stateless hash: element `index` of the random stream `seed`, equal on host and
 * device. */
uint64_t sct_mix64(uint64_t seed, uint64_t index);
/* out[k] = sct_mix64(seed, first + k). */
void sct_mix64_row(uint64_t *out, int n, uint64_t seed, uint64_t first);
/* Element i of a pseudo-random permutation of [0, n): a 4-round Feistel network over the next even
 * power of two, walked until the value falls below n (cycle walking keeps it a bijection).
 * Stateless, so every process agrees. */
int64_t sct_permute(int64_t i, int64_t n, uint64_t seed);

/* ---- sorting, order statistics ---- */

void sct_sort_texts(const char **texts, size_t n);          /* by their bytes */
void sct_sort_doubles(double *values, size_t n);            /* ascending, in place */
double sct_quantile(const double *sorted, int n, double q); /* linear interpolation; 0 of none */
typedef struct sct_quartiles {
  double min, q1, median, q3;
} sct_quartiles;
sct_quartiles sct_quartiles_of(const double *values, int n); /* left as they are; 0 of none */

/* ---- the machine ---- */

/* Processor cores that this process and its children may keep busy: those it may run on, or, where
 * that is fewer, as many as the environment variable SECTILE_CORES says. At least 1. */
int sct_cores(void);
/* Limits that whoever started this process has set (base_ulimits.def). */
typedef enum sct_ulimit {
#define SCT_ULIMIT(id, resource, name, hint, enough) SCT_ULIMIT_##id,
#include "base/base_ulimits.def"
#undef SCT_ULIMIT
  SCT_N_ULIMITS
} sct_ulimit;
/* Where limit k is less than `needed` (0: than what every session can do with), appends "the limit
 * on address space is 1 GiB (`ulimit -v unlimited` lifts it)". _text: writes it to `out` of `bytes`
 * bytes, without asking for memory. false: the limit is high enough. */
bool sct_ulimit_low(sct_str *out, sct_ulimit k, int64_t needed);
bool sct_ulimit_text(char *out, size_t bytes, sct_ulimit k, int64_t needed);
/* Appends sct_ulimit_low() of each limit, with commas between; false: all are high enough. */
bool sct_ulimits_low(sct_str *out);

/* ---- time, log ---- */

int64_t sct_now_ns(void); /* monotonic */
typedef enum sct_log_level {
  SCT_LOG_ERROR,
  SCT_LOG_WARN,
  SCT_LOG_INFO,
  SCT_LOG_DEBUG
} sct_log_level;
void sct_log_set_level(sct_log_level level); /* default SCT_LOG_WARN */
/* What every line is about, "cuda:1", where several processes write to one stream; copied, at most
 * 63 bytes. */
void sct_log_set_subject(const char *subject);
void sct_log(sct_log_level level, const char *fmt, ...) SCT_PRINTF(2, 3); /* to stderr, one line */

#endif
