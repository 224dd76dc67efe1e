// ---- Calls, counted by their extents while a program asks for it ($(name)_log).

#include <stdio.h>
#include <stdlib.h>

enum { $(detail)_log_room = 512 };  // a power of two
typedef struct $(detail)_calls {
  long long n[$(detail)_n_extents], count;
} $(detail)_calls;
typedef struct $(detail)_log {
  $(detail)_atomic state;  // 0: calls are not counted, 1: they are, 2: a thread has the rest of it
  bool ends_at_exit;
  FILE *file;
  int n_sizes;
  $(detail)_calls calls[$(detail)_log_room];  // by a hash of the extents; count 0: free
} $(detail)_log;

// One for all files of a program.
#ifdef __cplusplus
inline $(detail)_log *$(detail)_find_log(void) {
#else
static inline $(detail)_log *$(detail)_find_log(void) {
#endif
  static $(detail)_log log;
  return &log;
}

// Takes the log for this thread, which sets the state again. Gives what that was.
static inline int $(detail)_take_log($(detail)_log *log) {
  for (;;) {
    int state = log->state;
    if (state != 2 && atomic_compare_exchange_strong(&log->state, &state, 2)) return state;
  }
}

// A file has its names more than once, where it was added to.
static inline void $(detail)_write_log($(detail)_log *log) {
  if (log->n_sizes > 0) fprintf(log->file, "$(join(extents, "%s", ",")),count\n");
  for (int at = 0; at < $(detail)_log_room; at++) {
    const $(detail)_calls *const c = &log->calls[at];
    for (int k = 0; k < $(detail)_n_extents && c->count > 0; k++) {
      fprintf(log->file, "%lld,", c->n[k]);
    }
    if (c->count > 0) fprintf(log->file, "%lld\n", c->count);
  }
  memset(log->calls, 0, sizeof log->calls);
  log->n_sizes = 0;
}

static inline void $(detail)_count_call(const $(name)_args *c) {
  $(detail)_log *const log = $(detail)_find_log();
  const int state = $(detail)_take_log(log);
  long long n[$(detail)_n_extents];
  unsigned long long hash = 0;
  $(detail)_extents(n, c);
  for (int k = 0; k < $(detail)_n_extents; k++) {
    hash = (hash ^ (unsigned long long)n[k]) * 0x9e3779b97f4a7c15ULL;
  }
  if (state == 1 && log->n_sizes >= $(detail)_log_room / 2) $(detail)_write_log(log);
  int at = (int)(hash >> 32) & ($(detail)_log_room - 1);
  while (log->calls[at].count > 0 && memcmp(log->calls[at].n, n, sizeof n) != 0) {
    at = (at + 1) & ($(detail)_log_room - 1);
  }
  if (state == 1) {
    log->n_sizes += log->calls[at].count == 0;
    log->calls[at].count++;
    memcpy(log->calls[at].n, n, sizeof n);
  }
  log->state = state;
}

static inline cudaError_t $(detail)_set_log(const char *path);
static inline void $(detail)_end_log(void) {
  $(detail)_set_log(NULL);
}

static inline cudaError_t $(detail)_set_log(const char *path) {
  $(detail)_log *const log = $(detail)_find_log();
  FILE *const file = path != NULL ? fopen(path, "a") : NULL;
  if (path != NULL && file == NULL) return cudaErrorFileNotFound;
  if (file != NULL) setvbuf(file, NULL, _IOLBF, BUFSIZ);  // lines of several processes stay whole
  cudaError_t error = cudaSuccess;
  $(detail)_take_log(log);
  if (log->file != NULL) {
    $(detail)_write_log(log);
    const bool failed = ferror(log->file) != 0;
    if (fclose(log->file) != 0 || failed) error = cudaErrorOperatingSystem;
  }
  if (!log->ends_at_exit) log->ends_at_exit = file != NULL && atexit($(detail)_end_log) == 0;
  log->file = file;
  log->state = file != NULL;
  return error;
}

