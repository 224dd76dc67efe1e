#define _GNU_SOURCE // recursive locks
#include "runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { COPY, SET, LAUNCH, RECORD, WAIT } kind;
typedef struct op {
  kind kind;
  void *to, *from; // from: of pageable memory a copy of its own
  bool owned;
  size_t n;
  int value;
  const char *kernel;
  struct CUevent_st *event;
  long ticket;
  struct CUstream_st *stream; // of what is waited for
  struct op *next;
} op;
struct CUstream_st {
  op *first, **last;
};
struct CUevent_st {
  struct CUstream_st *stream; // that it was recorded on last
  long ticket, done;
};
static struct CUstream_st default_stream;
static long tickets;
int n_alive, n_pending, fail_at;
bool failed;
order run_order;
cudaStream_t late;
FILE *trace;
static struct CUstream_st *streams[256];
static int n_streams;

static void say(const char *what, size_t n, cudaStream_t stream) {
  int k = 0;
  while (k < n_streams && streams[k] != stream)
    k++;
  if (trace != NULL)
    fprintf(trace, "%s %zu, stream %d\n", what, n, k < n_streams ? k : -1);
}

// Threads of the host call at once; a call may make another.
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void unlock(const int *unused) {
  (void)unused;
  pthread_mutex_unlock(&lock);
}
#define LOCKED                                                                                     \
  __attribute__((cleanup(unlock))) const int locked_here = pthread_mutex_lock(&lock);              \
  (void)locked_here

// ---- memory ----

static struct block {
  char *p;
  size_t n;
  bool host;
} blocks[4096];
static int n_blocks;

static bool is_locked(const void *p) {
  for (int k = 0; k < n_blocks; k++) {
    if ((const char *)p >= blocks[k].p && (const char *)p < blocks[k].p + blocks[k].n)
      return true;
  }
  return false;
}

static bool is_device(const void *p) {
  for (int k = 0; k < n_blocks; k++) {
    if ((const char *)p >= blocks[k].p && (const char *)p < blocks[k].p + blocks[k].n)
      return !blocks[k].host;
  }
  return false;
}

static bool fails(void) {
  failed = failed || fail_at == 1;
  return fail_at > 0 && --fail_at == 0;
}

static cudaError_t take(void **out, size_t n, bool host) {
  if (fails() || n == 0)
    return cudaErrorMemoryAllocation;
  *out = malloc(n);
  memset(*out, 0xee, n);
  const struct block block = {*out, n, host};
  blocks[n_blocks++] = block;
  n_alive++;
  return cudaSuccess;
}

static cudaError_t give(void *p, bool host) {
  for (int k = 0; k < n_blocks; k++) {
    if (blocks[k].p == p && blocks[k].host == host) {
      blocks[k] = blocks[--n_blocks];
      free(p);
      n_alive--;
      return cudaSuccess;
    }
  }
  fprintf(stderr, "%p was not given out\n", p);
  exit(3);
}

cudaError_t cudaMalloc(void **out, size_t n) {
  LOCKED;
  return take(out, n, false);
}
cudaError_t cudaMallocHost(void **out, size_t n) {
  LOCKED;
  return take(out, n, true);
}
cudaError_t cudaFree(void *p) {
  LOCKED;
  return give(p, false);
}
cudaError_t cudaFreeHost(void *p) {
  LOCKED;
  return give(p, true);
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p) {
  LOCKED;
  memset(a, 0, sizeof *a);
  a->type = is_locked(p) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
  return cudaSuccess;
}

// ---- streams ----

static struct CUstream_st *of(cudaStream_t stream) {
  struct CUstream_st *const s = stream != NULL ? stream : &default_stream;
  if (s->last == NULL)
    s->last = &s->first;
  return s;
}

static void run_until(struct CUstream_st *s, const struct CUevent_st *event, long ticket);

static void run_one(struct CUstream_st *s) {
  op *const o = s->first;
  s->first = o->next;
  if (s->first == NULL)
    s->last = &s->first;
  if (o->kind == COPY)
    memmove(o->to, o->from, o->n);
  if (o->kind == SET)
    memset(o->to, o->value, o->n);
  if (o->kind == LAUNCH)
    run_kernel(o->kernel, o->from);
  if (o->kind == RECORD)
    o->event->done = o->ticket;
  if (o->kind == WAIT && o->stream != NULL && o->event->done < o->ticket) {
    run_until(o->stream, o->event, o->ticket);
  }
  if (o->owned)
    free(o->from);
  free(o);
  n_pending--;
}

// All of the stream, or until the event has come.
static void run_until(struct CUstream_st *s, const struct CUevent_st *event, long ticket) {
  while (s->first != NULL && (event == NULL || event->done < ticket))
    run_one(s);
}

static cudaError_t queue(cudaStream_t stream, op o) {
  static const char *const names[] = {"copy", "set", "launch", "record", "wait"};
  say(names[o.kind], o.n, stream);
  if (fails()) {
    if (o.owned)
      free(o.from);
    return cudaErrorUnknown;
  }
  struct CUstream_st *const s = of(stream);
  *s->last = (op *)malloc(sizeof o);
  **s->last = o;
  s->last = &(*s->last)->next;
  n_pending++;
  if (run_order == EARLY && s != of(late))
    run_until(s, NULL, 0);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
  LOCKED;
  if (fails() || flags != cudaStreamNonBlocking)
    return cudaErrorUnknown;
  *out = streams[n_streams++] = (cudaStream_t)calloc(1, sizeof **out);
  n_alive++;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  LOCKED;
  if (s->first != NULL)
    exit(4);
  for (int k = 0; k < n_streams; k++) {
    if (streams[k] == s)
      streams[k] = streams[--n_streams];
  }
  free(s);
  n_alive--;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  LOCKED;
  for (int k = n_streams - 1; k >= 0 && run_order == BACKWARDS; k--)
    run_until(of(streams[k]), NULL, 0);
  run_until(of(s), NULL, 0);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) {
  LOCKED;
  const op o = {.kind = WAIT, .event = e, .ticket = e->ticket, .stream = e->stream};
  (void)flags;
  return queue(s, o);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
  LOCKED;
  if (fails() || flags != cudaEventDisableTiming)
    return cudaErrorUnknown;
  *out = (cudaEvent_t)calloc(1, sizeof **out);
  n_alive++;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  LOCKED;
  if (e->done < e->ticket)
    run_until(e->stream, e, e->ticket);
  for (int k = -1; k < n_streams; k++) { // who waits for it need not any more
    for (op *o = (k < 0 ? &default_stream : streams[k])->first; o != NULL; o = o->next) {
      if (o->kind == WAIT && o->event == e)
        o->stream = NULL;
    }
  }
  free(e);
  n_alive--;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  LOCKED;
  const op o = {.kind = RECORD, .event = e, .ticket = tickets + 1};
  const cudaError_t error = queue(s, o);
  if (error == cudaSuccess) {
    e->ticket = ++tickets;
    e->stream = of(s);
  }
  return error;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  LOCKED;
  say("synchronize", 0, e->stream);
  if (e->done < e->ticket)
    run_until(e->stream, e, e->ticket);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  LOCKED;
  op o = {.kind = COPY, .to = to, .from = (void *)(uintptr_t)from, .n = n};
  const bool from_device = is_device(from), to_device = is_device(to);
  if ((kind == cudaMemcpyHostToDevice && (from_device || !to_device)) ||
      (kind == cudaMemcpyDeviceToHost && (!from_device || to_device)))
    return cudaErrorInvalidValue;
  if (from_device && !is_locked(to)) { // waits
    run_until(of(stream), NULL, 0);
    memcpy(to, from, n);
    return fails() ? cudaErrorUnknown : cudaSuccess;
  }
  if (!is_locked(from)) { // through a buffer of the driver
    o.from = memcpy(malloc(n), from, n);
    o.owned = true;
  }
  return queue(stream, o);
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream) {
  LOCKED;
  const op o = {.kind = SET, .to = to, .value = value, .n = n};
  return queue(stream, o);
}
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
  LOCKED;
  const op o = {
      .kind = LAUNCH, .kernel = (const char *)f, .from = keep_arguments((const char *)f, args)};
  (void)grid, (void)block, (void)shared;
  const cudaError_t error = queue(stream, o);
  if (error != cudaSuccess)
    free(o.from);
  return error;
}

// ---- the rest ----

cudaError_t cudaSetDevice(int device) {
  LOCKED;
  return fails() || device != 0 ? cudaErrorUnknown : cudaSuccess;
}
#include "../runtime_device.h"
