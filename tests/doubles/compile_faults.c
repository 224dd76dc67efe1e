/* NVRTC's functions fail on command (base_sys.h): each stands in front of the library's. */
#include "compile/compile_internal.h"

#include <errno.h>

static sct_nvrtc real; /* one library for every compiler of the process */

/* Out of memory is nobody's fault; an internal error may be the candidate's. */
static int refused(void) {
  return errno == ENOMEM ? NVRTC_OUT_OF_MEMORY : NVRTC_INTERNAL;
}

/* FAILING(field, parameters, arguments) */
#define FAILING(field, params, args)                                                               \
  static int on_##field params {                                                                   \
    return sct_fault(SCT_FAULT_NVRTC) ? refused() : real.field args;                               \
  }

FAILING(version, (int *major, int *minor), (major, minor))
FAILING(n_archs, (int *n), (n))
FAILING(archs, (int *archs), (archs))
FAILING(create,
        (void **program, const char *source, const char *name, int n_headers,
         const char *const *headers, const char *const *names),
        (program, source, name, n_headers, headers, names))
FAILING(compile, (void *program, int n_options, const char *const *options),
        (program, n_options, options))
FAILING(log_size, (void *program, size_t *bytes), (program, bytes))
FAILING(log, (void *program, char *log), (program, log))
FAILING(ptx_size, (void *program, size_t *bytes), (program, bytes))
FAILING(ptx, (void *program, char *ptx), (program, ptx))
FAILING(cubin_size, (void *program, size_t *bytes), (program, bytes))
FAILING(cubin, (void *program, char *cubin), (program, cubin))
FAILING(add_name, (void *program, const char *name), (program, name))
FAILING(lowered_name, (void *program, const char *name, const char **lowered),
        (program, name, lowered))

void sct_compile_faults_wrap(sct_nvrtc *nvrtc) {
  real = *nvrtc;
  nvrtc->version = on_version;
  nvrtc->n_archs = on_n_archs;
  nvrtc->archs = on_archs;
  nvrtc->create = on_create;
  nvrtc->compile = on_compile;
  nvrtc->log_size = on_log_size;
  nvrtc->log = on_log;
  nvrtc->ptx_size = on_ptx_size;
  nvrtc->ptx = on_ptx;
  nvrtc->cubin_size = on_cubin_size;
  nvrtc->cubin = on_cubin;
  nvrtc->add_name = on_add_name;
  nvrtc->lowered_name = on_lowered_name;
}
