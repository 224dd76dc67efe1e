/* The templates as C, over the table of calls: names of the CUDA runtime, and what a header has of
 * its kernel, are macros and functions of a thread's side. */
#include "host/host.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local sct_host_side *host_side;

void sct_host_enter(sct_host_side *side) {
  host_side = side;
}

bool sct_host_combines(const sct_host_kernel *kernel) {
  bool any = false;
  for (int k = 0; k < kernel->n_arrays; k++) {
    any = any || kernel->is_shared[k] != 0;
  }
  return any;
}

sct_engine sct_host_engine(sct_host_work_kind kind) {
  return kind == SCT_HOST_IN        ? SCT_ENGINE_IN
         : kind == SCT_HOST_OUT     ? SCT_ENGINE_OUT
         : kind >= SCT_HOST_TO_RING ? SCT_ENGINE_HOST
                                    : SCT_ENGINE_KERNEL;
}

/* ---- the runtime ---- */

typedef int cudaError_t;
typedef void *cudaStream_t, *cudaEvent_t;
enum { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation };
enum {
  cudaMemcpyHostToDevice = SCT_HOST_IN,
  cudaMemcpyDeviceToHost = SCT_HOST_OUT,
  cudaMemcpyDeviceToDevice = SCT_HOST_STAGE
};

static int work_on(sct_host_work work) {
  return host_side->calls->work(host_side, &work);
}

#define OPEN(thing, out, bytes)           host_side->calls->open(host_side, thing, out, bytes)
#define CLOSE(thing, p)                   host_side->calls->close(host_side, thing, p)
#define ORDER(what, event, on)            host_side->calls->order(host_side, what, event, on)
#define cudaMalloc(out, bytes)            OPEN(SCT_HOST_MEMORY, out, bytes)
#define cudaMallocHost(out, bytes)        OPEN(SCT_HOST_RING, out, bytes)
#define cudaStreamCreateWithFlags(out, f) OPEN(SCT_HOST_STREAM, out, 0)
#define cudaEventCreateWithFlags(out, f)  OPEN(SCT_HOST_EVENT, out, 0)
#define cudaFree(p)                       CLOSE(SCT_HOST_MEMORY, p)
#define cudaFreeHost(p)                   CLOSE(SCT_HOST_RING, p)
#define cudaStreamDestroy(p)              CLOSE(SCT_HOST_STREAM, p)
#define cudaEventDestroy(p)               CLOSE(SCT_HOST_EVENT, p)
#define cudaEventRecord(event, on)        ORDER(SCT_HOST_RECORD, event, on)
#define cudaStreamWaitEvent(on, event, f) ORDER(SCT_HOST_WAIT, event, on)
#define cudaEventSynchronize(event)       ORDER(SCT_HOST_SYNC, event, NULL)
#define cudaStreamSynchronize(on)         (void)ORDER(SCT_HOST_SYNC, NULL, on)
#define cudaMemcpyAsync(out, in, n, how, on)                                                       \
  work_on((sct_host_work){(sct_host_work_kind)(how), out, in, (int64_t)(n), .stream = on})
#define cudaMemsetAsync(p, value, n, on)                                                           \
  work_on((sct_host_work){SCT_HOST_SET, p, .amount = (int64_t)(n), .byte = value, .stream = on})
#define cudaGetDevice(out)    (*(out) = 0, cudaSuccess)
#define cudaSetDevice(device) ((void)(device), cudaSuccess) /* by who entered */
#define cudaGetLastError()    ((void)0)

static void *zeroed(size_t n, size_t bytes) {
  return sct_alloc(n * bytes);
}
#define calloc zeroed
#define free   sct_free

/* ---- what a header has of its kernel ---- */

typedef struct sct_args {
  long long n, begin, end;
  void *const *arrays;
  void *workspace;
} sct_args;
typedef atomic_llong host_counter;

/* Arrays that a kernel lacks count as the device's, of no bytes. */
enum { host_n_arrays = SCT_MAX_OPERANDS };
#define host_before          (host_side->kernel->before)
#define host_after           (host_side->kernel->after)
#define host_workspace_bytes ((size_t)host_side->kernel->workspace_bytes)
#define host_is_in           (host_side->kernel->is_in)
#define host_is_out          (host_side->kernel->is_out)
#define host_is_shared       (host_side->kernel->is_shared)
#define host_direct          (host_side->kernel->is_direct)
#define host_staged          (host_side->kernel->is_staged)
#define host_start_byte      (host_side->kernel->start)
#define host_combines        sct_host_combines(host_side->kernel)

static void host_steps(long long *out, const sct_args *c) {
  (void)c;
  memcpy(out, host_side->kernel->step, sizeof host_side->kernel->step);
}

static void host_sizes(long long *out, const sct_args *c, long long chunk) {
  (void)c;
  for (int k = 0; k < host_n_arrays; k++) {
    out[k] = host_side->kernel->base[k] + chunk * host_side->kernel->step[k];
  }
}

static void host_arrays(const char **out, const sct_args *c) {
  for (int k = 0; k < host_n_arrays; k++) {
    out[k] = c->arrays[k < host_side->kernel->n_arrays ? k : 0];
  }
}

#define host_set_arrays(c, at) ((c)->arrays = (at))

static bool host_is_pageable(const void *p) {
  const sct_host_kernel *kernel = host_side->kernel;
  bool stays = false;
  for (int k = 0; k < kernel->n_arrays; k++) {
    stays = stays || (host_side->arrays[k] == p && (kernel->is_direct[k] || kernel->is_staged[k]));
  }
  return kernel->pageable && !stays;
}

static void host_works_for(cudaStream_t stream) {
  host_side->stream = stream;
}

static void host_copy_in(void *ring, const void *from, long long bytes) {
  (void)work_on((sct_host_work){SCT_HOST_TO_RING, ring, from, bytes, .stream = host_side->stream});
}

static void host_copy_out(void *to, const void *ring, long long bytes) {
  (void)work_on((sct_host_work){SCT_HOST_FROM_RING, to, ring, bytes, .stream = host_side->stream});
}

static cudaError_t host_launch(const sct_args *c, cudaStream_t stream) {
  return work_on((sct_host_work){SCT_HOST_KERNEL, .amount = c->n, .arrays = c->arrays,
                                 .workspace = c->workspace, .stream = stream});
}

#define host_yield()   sched_yield()
#define host_host_call sct_host_call

#include "host_chunks.h"

_Static_assert((int)host_most_streams == SCT_MAX_STREAMS, "as in headers");
_Static_assert((int)host_most_threads == SCT_MAX_HOST_THREADS, "as in headers");

/* ---- for callers ---- */

static sct_args args_of(const sct_host_side *side) {
  const sct_host_kernel *k = side->kernel;
  return (sct_args){.n = k->n, .begin = k->begin, .end = k->end, .arrays = side->arrays};
}

int sct_host_plan_new(sct_host_plan **out, const sct_host_options *options) {
  const sct_args c = args_of(host_side);
  *out = NULL;
  return host_make_plan(out, &c, options);
}

void sct_host_plan_free(sct_host_plan *plan) {
  if (plan) {
    host_close_plan(plan);
  }
}

int sct_host_run(sct_host_plan *plan, void *stream) {
  const sct_args c = args_of(host_side);
  sct_host_call call = {.c = &c, .plan = plan};
  return host_run_call(&call, stream);
}

static cudaError_t host_run_threads(sct_host_call *call) {
  return host_side->calls->run_threads(host_side, call, call->threads);
}

int sct_host_run_thread(sct_host_call *call, int thread) {
  return host_run_thread(call, thread);
}

int sct_host_run_in_turn(sct_host_call *call, int n,
                         int (*next)(sct_host_side *s, const bool *active, int n)) {
  host_thread threads[SCT_MAX_HOST_THREADS];
  bool active[SCT_MAX_HOST_THREADS];
  int error = cudaSuccess;
  for (int t = 0; t < n; t++) {
    threads[t] = host_begin_thread(call, t);
    active[t] = true;
  }
  for (int left = n; left > 0;) {
    const int t = next(host_side, active, n);
    if (!host_take_chunk(call, &threads[t])) {
      const int ended = host_end_thread(call, &threads[t]);
      error = error == cudaSuccess ? ended : error;
      active[t] = false;
      left--;
    }
  }
  return error;
}

long long sct_host_chunk_of(long long bytes, long long step, long long halo) {
  return host_chunk_of(bytes, step, halo);
}

long long sct_host_chunk(const sct_host_call *call) {
  return call->chunk;
}

#undef free
#undef calloc
