/* CUDA text to PTX for tests that have no module `compile` below them: NVRTC by dlopen, nothing
 * else. */
#ifndef TESTS_NVRTC_TEXT_H
#define TESTS_NVRTC_TEXT_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct nvrtc_door {
  void *lib;
  int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
  int (*compile)(void *, int, const char *const *);
  int (*ptx_size)(void *, size_t *);
  int (*ptx)(void *, char *);
  int (*log_size)(void *, size_t *);
  int (*log)(void *, char *);
  int (*destroy)(void **);
} nvrtc_door;

/* dlsym gives an object pointer; POSIX makes the way through memory legal. */
#define NVRTC_SYMBOL(door, field, name)                                                            \
  (*(void **)(void *)&(door)->field = dlsym((door)->lib, name))

static inline bool nvrtc_open(nvrtc_door *d) {
  static const char *const places[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                       "/usr/local/cuda/lib64/libnvrtc.so",
                                       "/opt/cuda/lib64/libnvrtc.so"};
  *d = (nvrtc_door){0};
  for (size_t i = 0; i < sizeof places / sizeof places[0] && d->lib == NULL; i++) {
    d->lib = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
  }
  if (d->lib == NULL) {
    return false;
  }
  NVRTC_SYMBOL(d, create, "nvrtcCreateProgram");
  NVRTC_SYMBOL(d, compile, "nvrtcCompileProgram");
  NVRTC_SYMBOL(d, ptx_size, "nvrtcGetPTXSize");
  NVRTC_SYMBOL(d, ptx, "nvrtcGetPTX");
  NVRTC_SYMBOL(d, log_size, "nvrtcGetProgramLogSize");
  NVRTC_SYMBOL(d, log, "nvrtcGetProgramLog");
  NVRTC_SYMBOL(d, destroy, "nvrtcDestroyProgram");
  return d->create && d->compile && d->ptx_size && d->ptx && d->log_size && d->log && d->destroy;
}

static inline void nvrtc_print_log(const nvrtc_door *d, void *program) {
  size_t n = 0;
  if (d->log_size(program, &n) == 0 && n > 1) {
    char *log = calloc(n + 1, 1);
    if (log != NULL && d->log(program, log) == 0) {
      fprintf(stderr, "%s\n", log);
    }
    free(log);
  }
}

/* PTX of `cuda` for "compute_90" or the like, malloc'ed; NULL: no NVRTC, or it does not compile
 * (the log goes to stderr). `extra` (may be NULL) is one more option. */
static inline char *nvrtc_ptx(const char *cuda, const char *name, const char *arch,
                              const char *extra) {
  nvrtc_door d;
  void *program = NULL;
  char option[64], *text = NULL;
  size_t n = 0;
  if (!nvrtc_open(&d) || d.create(&program, cuda, name, 0, NULL, NULL) != 0) {
    return NULL;
  }
  snprintf(option, sizeof option, "--gpu-architecture=%s", arch);
  const char *options[] = {option, "-std=c++17", "-lineinfo", extra};
  if (d.compile(program, extra != NULL ? 4 : 3, options) != 0) {
    nvrtc_print_log(&d, program);
  } else if (d.ptx_size(program, &n) == 0) {
    text = calloc(n + 1, 1);
    if (text != NULL && d.ptx(program, text) != 0) {
      free(text);
      text = NULL;
    }
  }
  (void)d.destroy(&program);
  return text; /* the library stays loaded: it holds threads of its own */
}

#endif
