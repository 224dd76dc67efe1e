// ---- Arrays of the host: chunks of $(host.extent), each in a slot and on one of several streams.

#include <stdlib.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(__cplusplus) && defined(__cpp_exceptions)
#include <system_error>
#include <thread>
#endif

enum {
  $(detail)_n_arrays = $(#operands),
  $(detail)_before = $(host.before),  // elements that a chunk needs in addition to its own
  $(detail)_after = $(host.after),
  $(detail)_most_streams = 8,
  $(detail)_most_threads = 64,
  $(detail)_ring_slots = 2,    // of each thread of the host
  $(detail)_ring_align = 4096  // bytes
};
static const bool $(detail)_is_in[] = {$(join(host.is_in))};  // arrays that are copied to the device
static const bool $(detail)_is_out[] = {$(join(host.is_out))};  // and back
//% if host.shared then
// Outputs that chunks go onto, one after the other.
static const bool $(detail)_is_shared[] = {$(join(host.shared))};
//% end
//% if host.direct then
// Arrays of the device that kernels use where they are.
static const bool $(detail)_direct[] = {$(join(host.direct))};
//% end

// What a step along $(host.extent) is in each array, in bytes; 0: chunks need all of it.
static inline void $(detail)_steps(long long *out, const $(name)_args *c) {
//% if #host.steps_over > 0 then
  const long long $(join(host.steps_over, "n_%s = c->n_%s"));
//% else
  (void)c;
//% end
  const long long steps[] = {$(join(host.steps))};
  memcpy(out, steps, sizeof steps);
}

// The bytes of each array of a call with so many of $(host.extent).
static inline void $(detail)_sizes(long long *out, const $(name)_args *c, long long chunk) {
  $(name)_args of = *c;
  of.$(host.extent) = chunk;
  const long long $(join(host.bytes_over, "n_%s = of.n_%s"));
  const long long bytes[] = {$(join(host.bytes))};
  memcpy(out, bytes, sizeof bytes);
}

// One of the chunks that are on their way.
typedef struct $(detail)_slot {
  cudaStream_t stream;
  cudaEvent_t done;
  void *device[$(detail)_n_arrays];
  char *ring;  // page-locked, for what goes and then for what comes back; null: there is none
//% if workspace then
  void *workspace;
//% end
  long long left[$(detail)_n_arrays];  // bytes that wait in the ring for the host's array; 0: none
  void *to[$(detail)_n_arrays];
} $(detail)_slot;

struct $(name)_host_plan {
  int device, threads, n_slots, n_streams;
  $(detail)_slot *slots;
  cudaStream_t streams[$(detail)_most_streams];
  cudaEvent_t ends[$(detail)_most_streams];  // of the last call on each stream
  long long ring_in[$(detail)_n_arrays], ring_out[$(detail)_n_arrays], ring_bytes;  // of a slot
  long long room[$(detail)_n_arrays];  // bytes of each array on the device, of a slot or of all
  void *whole[$(detail)_n_arrays];     // arrays that all chunks need
  cudaEvent_t begun, whole_there;
//% if host.shared then
  cudaEvent_t combined;  // the last chunk's kernel
//% end
};

// From the ring to the host's array, past the caches, which the ring has for itself.
static inline void $(detail)_copy_out(void *to, const void *from, long long bytes) {
  size_t left = (size_t)bytes;
#if defined(__SSE2__)
  const size_t aligned = (size_t)(-(intptr_t)to & 15), head = aligned < left ? aligned : left;
  memcpy(to, from, head);
  __m128i *out = (__m128i *)((char *)to + head);
  const __m128i *in = (const __m128i *)((const char *)from + head);
  for (left -= head; left >= 64; left -= 64, in += 4, out += 4) {
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  _mm_sfence();
  to = out;
  from = in;
#endif
  memcpy(to, from, left);
}

// Where in the ring of a slot each array goes and comes.
static inline void $(detail)_divide_ring($(name)_host_plan *p) {
  long long in = 0, out = 0;
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    p->ring_in[k] = in;
    p->ring_out[k] = out;
    if (p->whole[k] != NULL$(host.or_direct)) continue;
    const long long blocks = (p->room[k] + $(detail)_ring_align - 1) / $(detail)_ring_align;
    in += $(detail)_is_in[k] ? blocks * $(detail)_ring_align : 0;
    out += $(detail)_is_out[k] ? blocks * $(detail)_ring_align : 0;
  }
  p->ring_bytes = in > out ? in : out;
}

static inline cudaError_t $(detail)_open_streams($(name)_host_plan *p) {
  cudaError_t error = cudaEventCreateWithFlags(&p->begun, cudaEventDisableTiming);
  if (error == cudaSuccess) {
    error = cudaEventCreateWithFlags(&p->whole_there, cudaEventDisableTiming);
  }
//% if host.shared then
  if (error == cudaSuccess) error = cudaEventCreateWithFlags(&p->combined, cudaEventDisableTiming);
//% end
  for (int k = 0; k < p->n_streams && error == cudaSuccess; k++) {
    error = cudaStreamCreateWithFlags(&p->streams[k], cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreateWithFlags(&p->ends[k], cudaEventDisableTiming);
  }
  return error;
}

static inline cudaError_t $(detail)_open_slot($(name)_host_plan *p, $(detail)_slot *slot,
                                              bool ring) {
  cudaError_t error = cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming);
  if (error == cudaSuccess && ring && p->ring_bytes > 0) {
    error = cudaMallocHost((void **)&slot->ring, (size_t)p->ring_bytes);
  }
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    if (p->whole[k] != NULL$(host.or_direct)) continue;
    error = cudaMalloc(&slot->device[k], (size_t)p->room[k]);
  }
//% if workspace then
  const size_t bytes = $(workspace_bytes);
  if (error == cudaSuccess && bytes > 0) error = cudaMalloc(&slot->workspace, bytes);
  if (error == cudaSuccess && bytes > 0) {
    error = cudaMemsetAsync(slot->workspace, 0, bytes, slot->stream);
  }
//% end
  return error;
}

static inline cudaError_t $(detail)_open_plan($(name)_host_plan *p, const $(name)_args *c,
                                              const $(name)_host_options *o) {
  // bytes of the largest array's chunk
  const long long wanted = o->page_locked ? $(host.locked_mib) << 20 : $(host.ring_mib) << 20;
  const long long halo = $(detail)_before + $(detail)_after;
  long long n = c->$(host.extent), steps[$(detail)_n_arrays], most = 1;
  $(detail)_steps(steps, c);
  for (int k = 0; k < $(detail)_n_arrays; k++) most = steps[k] > most$(host.if_copied) ? steps[k] : most;
  long long chunk = wanted / most > 8 * halo ? wanted / most : 8 * halo;  // few of a halo only
  chunk = o->chunk > 0 ? o->chunk : chunk > 0 ? chunk : 1;
  chunk = chunk < n ? chunk : n > 0 ? n : 1;
  $(detail)_sizes(p->room, c, chunk + halo);
  cudaError_t error = cudaGetDevice(&p->device);
  if (error == cudaSuccess) error = $(detail)_open_streams(p);
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    p->room[k] = p->room[k] > 0 ? p->room[k] : 1;
    if (steps[k] == 0$(host.if_copied)) error = cudaMalloc(&p->whole[k], (size_t)p->room[k]);
  }
  $(detail)_divide_ring(p);
  for (int s = 0; s < p->n_slots && error == cudaSuccess; s++) {
    p->slots[s].stream = p->streams[s % p->n_streams];
    error = $(detail)_open_slot(p, &p->slots[s], !o->page_locked);
  }
  return error;
}

static inline void $(detail)_close_plan($(name)_host_plan *p) {
  for (int k = 0; k < p->n_streams; k++) {
    if (p->streams[k] != NULL) cudaStreamSynchronize(p->streams[k]);
  }
  for (int s = 0; s < p->n_slots; s++) {
    $(detail)_slot *const slot = &p->slots[s];
    for (int k = 0; k < $(detail)_n_arrays; k++) {
      if (slot->device[k] != NULL) cudaFree(slot->device[k]);
    }
    if (slot->ring != NULL) cudaFreeHost(slot->ring);
//% if workspace then
    if (slot->workspace != NULL) cudaFree(slot->workspace);
//% end
    if (slot->done != NULL) cudaEventDestroy(slot->done);
  }
  for (int k = 0; k < p->n_streams; k++) {
    if (p->ends[k] != NULL) cudaEventDestroy(p->ends[k]);
    if (p->streams[k] != NULL) cudaStreamDestroy(p->streams[k]);
  }
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    if (p->whole[k] != NULL) cudaFree(p->whole[k]);
  }
//% if host.shared then
  if (p->combined != NULL) cudaEventDestroy(p->combined);
//% end
  if (p->whole_there != NULL) cudaEventDestroy(p->whole_there);
  if (p->begun != NULL) cudaEventDestroy(p->begun);
  free(p->slots);
  free(p);
}

// One call on its way through a plan.
typedef struct $(detail)_host_call {
  const $(name)_args *c;
  $(name)_host_plan *plan;
  const char *from[$(detail)_n_arrays];
  char *to[$(detail)_n_arrays];  // null: an input
  long long steps[$(detail)_n_arrays], bytes[$(detail)_n_arrays];  // of the whole call
  long long chunk, n_chunks;  // of $(host.extent)
  bool pageable[$(detail)_n_arrays];  // copied through the ring
  int threads, slots;  // threads that take one chunk after the other, and the slots of each
#if defined(__cplusplus)
  std::atomic<long long> next;  // the chunk that is taken next
#else
  long long next;
#endif
//% if host.shared then
#if defined(__cplusplus)
  std::atomic<long long> turn;  // the chunk whose kernel is next
  std::atomic<int> failed;      // the error of a thread, for which the others do not wait
#else
  long long turn;
  int failed;
#endif
//% end
} $(detail)_host_call;

static inline bool $(detail)_is_pageable(const void *p) {
  struct cudaPointerAttributes a;
  const cudaError_t error = cudaPointerGetAttributes(&a, p);
  if (error != cudaSuccess) cudaGetLastError();  // of older runtimes: memory that it does not know
  return error != cudaSuccess || a.type == cudaMemoryTypeUnregistered;
}

// The chunk that fits the plan, and which arrays go through the ring.
static inline cudaError_t $(detail)_prepare($(detail)_host_call *h) {
  const $(name)_args *const c = h->c;
  const char *const from[] = {$(join(host.arrays, "(const char *)c->%s"))};
  long long least[$(detail)_n_arrays];
  memcpy(h->from, from, sizeof from);
  $(detail)_steps(h->steps, c);
  $(detail)_sizes(h->bytes, c, c->$(host.extent));
  $(detail)_sizes(least, c, 0);
  h->chunk = c->$(host.extent);
  bool ring = false;
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    h->to[k] = $(detail)_is_out[k] ? (char *)from[k] : NULL;
//% if host.direct then
    h->pageable[k] = false;
    if ($(detail)_direct[k] && h->bytes[k] > 0 && $(detail)_is_pageable(from[k])) {
      return cudaErrorInvalidValue;
    }
    if ($(detail)_direct[k]) continue;
//% end
    const long long room = h->plan->room[k] - least[k];
    const long long halo = $(detail)_before + $(detail)_after;
    const long long fits = h->steps[k] > 0 ? room / h->steps[k] - halo : h->chunk;
    if (room < 0 || (h->steps[k] == 0) != (h->plan->whole[k] != NULL)) return cudaErrorInvalidValue;
    h->chunk = fits < h->chunk ? fits : h->chunk;
    h->pageable[k] = h->bytes[k] > 0 && ($(detail)_is_pageable(from[k]) ||
                                         $(detail)_is_pageable(from[k] + h->bytes[k] - 1));
    if (!h->pageable[k] || h->steps[k] == 0) continue;
    if (h->plan->slots[0].ring == NULL) return cudaErrorInvalidValue;
    ring = true;
  }
  if (h->chunk <= 0$(host.and_some)) return cudaErrorInvalidValue;
//% if host.direct then
  if (h->chunk > 32 && h->chunk < c->$(host.extent)) h->chunk -= h->chunk % 32;  // parts begin aligned
//% end
//% if host.shared then
  h->n_chunks = h->chunk > 0 ? (c->$(host.extent) + h->chunk - 1) / h->chunk : 0;
  h->turn = 0;
  h->failed = cudaSuccess;
//% else
  h->n_chunks = (c->$(host.extent) + h->chunk - 1) / h->chunk;
//% end
  h->threads = !ring ? 1 : h->n_chunks < h->plan->threads ? (int)h->n_chunks : h->plan->threads;
  h->slots = ring ? $(detail)_ring_slots : h->plan->n_slots;
  h->next = 0;
  return cudaSuccess;
}

// Waits for the slot's last chunk, and brings what came back to where it belongs.
static inline cudaError_t $(detail)_finish(const $(detail)_host_call *h, $(detail)_slot *slot) {
  const cudaError_t error = cudaEventSynchronize(slot->done);
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    if (slot->left[k] > 0 && error == cudaSuccess) {
      $(detail)_copy_out(slot->to[k], slot->ring + h->plan->ring_out[k], slot->left[k]);
    }
    slot->left[k] = 0;
  }
  return error;
}

static inline cudaError_t $(detail)_send(const $(detail)_host_call *h, $(detail)_slot *slot,
                                         long long first, long long end) {
  long long bytes[$(detail)_n_arrays];
  cudaError_t error = cudaSuccess;
  $(detail)_sizes(bytes, h->c, end - first);
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    const char *from = h->from[k] + first * h->steps[k];
    if (!$(detail)_is_in[k] || h->steps[k] == 0 || bytes[k] <= 0) continue;
    if (h->pageable[k]) {
      from = (const char *)memcpy(slot->ring + h->plan->ring_in[k], from, (size_t)bytes[k]);
    }
    error = cudaMemcpyAsync(slot->device[k], from, (size_t)bytes[k], $(host.to_device),
                            slot->stream);
  }
  return error;
}

// What elements [own, own_end) of a chunk that begins at `first` came to.
static inline cudaError_t $(detail)_fetch(const $(detail)_host_call *h, $(detail)_slot *slot,
                                          long long first, long long own, long long own_end) {
  cudaError_t error = cudaSuccess;
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    const long long bytes = (own_end - own) * h->steps[k];
    if (h->to[k] == NULL || bytes == 0) continue;
    char *const to = h->to[k] + own * h->steps[k];
    const char *const from = (const char *)slot->device[k] + (own - first) * h->steps[k];
    error = cudaMemcpyAsync(h->pageable[k] ? slot->ring + h->plan->ring_out[k] : to, from,
                            (size_t)bytes, $(host.to_host), slot->stream);
    slot->to[k] = to;
    slot->left[k] = h->pageable[k] ? bytes : 0;
  }
  return error;
}

//% if host.shared then
// The kernel of chunk `which`, after that of the one before, which another thread may queue.
static inline cudaError_t $(detail)_launch_in_turn($(detail)_host_call *h, const $(name)_args *c,
                                                   cudaStream_t stream, long long which) {
#if defined(__cplusplus) && defined(__cpp_exceptions)
  while (h->turn < which && h->failed == cudaSuccess) std::this_thread::yield();
#endif
  cudaError_t error = (cudaError_t)(int)h->failed;
  if (error == cudaSuccess && which > 0) error = cudaStreamWaitEvent(stream, h->plan->combined, 0);
//%   if onto then
  if (error == cudaSuccess) error = $(detail)_launch_onto(c, stream, false);
//%   else
  if (error == cudaSuccess) error = $(detail)_launch(c, stream);
//%   end
  if (error == cudaSuccess) error = cudaEventRecord(h->plan->combined, stream);
  if (error == cudaSuccess) h->turn = which + 1;
  return error;
}

//% end
static inline cudaError_t $(detail)_run_chunk($(detail)_host_call *h, $(detail)_slot *slot,
                                              long long own) {
  const long long n = h->c->$(host.extent);
  const long long own_end = h->chunk < n - own ? own + h->chunk : n;
  const long long first = own > $(detail)_before ? own - $(detail)_before : 0;
  const long long end = n - own_end > $(detail)_after ? own_end + $(detail)_after : n;
  $(name)_args c = *h->c;
  bool waits = false;  // for the host's part of an earlier chunk
  for (int k = 0; k < $(detail)_n_arrays; k++) waits = waits || (h->pageable[k] && h->steps[k] > 0);
  cudaError_t error = waits ? $(detail)_finish(h, slot) : cudaSuccess;
  if (error == cudaSuccess) error = $(detail)_send(h, slot, first, end);
  int k = 0;
//% for _, o in ipairs(operands) do
//%   if o.is_direct then
  c.$(o.name) = ($(o.pointer))(h->from[k] + first * h->steps[k]), k++;
//%   else
  c.$(o.name) = ($(o.pointer))(h->steps[k] == 0 ? h->plan->whole[k] : slot->device[k]), k++;
//%   end
//% end
  c.$(host.extent) = end - first;
//% if workspace then
  c.$(workspace) = slot->workspace;
//% end
//% for _, s in ipairs(host.starts) do
//%   if not s.shared then
  if (error == cudaSuccess) {
    error = cudaMemsetAsync(c.$(s.name), $(s.byte), (size_t)((end - first) * h->steps[$(s.index)]), slot->stream);
  }
//%   end
//% end
//% if host.shared then
  if (error == cudaSuccess) error = $(detail)_launch_in_turn(h, &c, slot->stream, own / h->chunk);
//% else
  if (error == cudaSuccess) error = $(detail)_launch(&c, slot->stream);
//% end
  if (error == cudaSuccess) error = $(detail)_fetch(h, slot, first, own, own_end);
  if (error == cudaSuccess && waits) error = cudaEventRecord(slot->done, slot->stream);
  return error;
}

// What all chunks read; it may still be in use by an earlier call.
static inline cudaError_t $(detail)_begin(const $(detail)_host_call *h, cudaStream_t stream) {
  $(name)_host_plan *const p = h->plan;
  const cudaStream_t first = p->streams[0];
  bool pageable = false, whole = false;
  cudaError_t error = cudaEventRecord(p->begun, stream);
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    pageable = pageable || h->pageable[k];
    whole = whole || (h->steps[k] == 0$(host.if_copied));
  }
  if (error == cudaSuccess && pageable) error = cudaEventSynchronize(p->begun);
  if (error == cudaSuccess) error = cudaStreamWaitEvent(first, p->begun, 0);
  for (int s = 1; s < p->n_streams && whole && error == cudaSuccess; s++) {
    error = cudaStreamWaitEvent(first, p->ends[s], 0);
  }
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    if (h->steps[k] == 0 && h->bytes[k] > 0$(host.if_in)) {
      error = cudaMemcpyAsync(p->whole[k], h->from[k], (size_t)h->bytes[k], cudaMemcpyHostToDevice,
                              first);
    }
  }
//% for _, s in ipairs(host.starts) do
//%   if s.shared then
  if (error == cudaSuccess && h->bytes[$(s.index)] > 0) {
    error = cudaMemsetAsync($(s.place), $(s.byte), (size_t)h->bytes[$(s.index)], first);
  }
//%   end
//% end
  if (error == cudaSuccess) error = cudaEventRecord(p->whole_there, first);
  for (int s = 1; s < p->n_streams && error == cudaSuccess; s++) {
    error = cudaStreamWaitEvent(p->streams[s], p->whole_there, 0);
  }
  return error;
}

// One chunk after the other, in the slots of one thread of the host.
static inline cudaError_t $(detail)_run_thread($(detail)_host_call *h, int thread) {
  $(detail)_slot *const slots = h->plan->slots + thread * h->slots;
  cudaError_t error = thread > 0 ? cudaSetDevice(h->plan->device) : cudaSuccess;
  int s = 0;
  for (long long k = h->next++; k < h->n_chunks && error == cudaSuccess; k = h->next++) {
    error = $(detail)_run_chunk(h, &slots[s], k * h->chunk);
    s = s + 1 < h->slots ? s + 1 : 0;
  }
//% if host.shared then
  if (error != cudaSuccess) h->failed = (int)error;
//% end
  for (int k = 0; k < h->slots && error == cudaSuccess; k++) {
    bool left = false;
    for (int a = 0; a < $(detail)_n_arrays; a++) left = left || slots[k].left[a] > 0;
    if (left) error = $(detail)_finish(h, &slots[k]);
  }
  return error;
}

static inline cudaError_t $(detail)_run_threads($(detail)_host_call *h) {
  cudaError_t errors[$(detail)_most_threads], error = cudaSuccess;
  int n = 1;  // those that have begun, with this one
#if defined(__cplusplus) && defined(__cpp_exceptions)
  std::thread others[$(detail)_most_threads];
  try {
    for (; n < h->threads; n++) {
      others[n] = std::thread([=, &errors] { errors[n] = $(detail)_run_thread(h, n); });
    }
  } catch (const std::system_error &) {
  }  // no further thread: those that have begun take all chunks
#endif
  errors[0] = $(detail)_run_thread(h, 0);
#if defined(__cplusplus) && defined(__cpp_exceptions)
  for (int k = 1; k < n; k++) others[k].join();
#endif
  for (int k = 0; k < n; k++) error = error == cudaSuccess ? errors[k] : error;
  return error;
}

//% if host.shared then
// What chunks went onto comes back, and the caller's stream waits for all; after an error nothing
// is on its way any more.
//% else
// The caller's stream waits for all chunks; after an error nothing is on its way any more.
//% end
static inline cudaError_t $(detail)_end(const $(detail)_host_call *h, cudaStream_t stream,
                                        cudaError_t error) {
  $(name)_host_plan *const p = h->plan;
//% if host.shared then
  if (error == cudaSuccess) error = cudaStreamWaitEvent(p->streams[0], p->combined, 0);
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    if (!$(detail)_is_shared[k] || h->to[k] == NULL || h->bytes[k] == 0) continue;
    error = cudaMemcpyAsync(h->to[k], p->whole[k], (size_t)h->bytes[k], cudaMemcpyDeviceToHost,
                            p->streams[0]);
  }
//% end
  for (int s = 0; s < p->n_streams && error == cudaSuccess; s++) {
    error = cudaEventRecord(p->ends[s], p->streams[s]);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(stream, p->ends[s], 0);
  }
  for (int s = 0; s < p->n_streams && error != cudaSuccess; s++) {
    cudaStreamSynchronize(p->streams[s]);
  }
  for (int s = 0; s < p->n_slots && error != cudaSuccess; s++) {
    memset(p->slots[s].left, 0, sizeof p->slots[s].left);
  }
  return error;
}

static inline cudaError_t $(detail)_host($(name)_args *c, const $(name)_host_plan *plan,
                                         cudaStream_t stream) {
  $(detail)_host_call h;
  cudaError_t error = cudaErrorInvalidValue;
  if (plan == NULL) return error;
//% if workspace then
  c->$(workspace) = plan->slots[0].workspace;
//% end
//% if onto then
  if ($(detail)_no_work(c, &error) != NULL && error != cudaSuccess) return error;
//% else
  if ($(detail)_no_work(c, &error) != NULL) return error;
//% end
  h.c = c;
  h.plan = ($(name)_host_plan *)plan;
  error = $(detail)_prepare(&h);
  if (error == cudaSuccess) {
    error = $(detail)_begin(&h, stream);
    if (error == cudaSuccess) error = $(detail)_run_threads(&h);
    error = $(detail)_end(&h, stream, error);
  }
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and need not be asked for
  return error;
}

static inline cudaError_t $(detail)_create($(name)_host_plan **out, const $(name)_args *c,
                                           const $(name)_host_options *options) {
  const $(name)_host_options none = {0, 0, 0, false};
  const $(name)_host_options *const o = options != NULL ? options : &none;
  long long n[$(detail)_n_extents];
  $(detail)_extents(n, c);
  if (out == NULL || o->chunk < 0 || o->threads < 0 || o->streams < 0 ||
      o->streams > $(detail)_most_streams || o->threads > $(detail)_most_threads) {
    return cudaErrorInvalidValue;
  }
  *out = NULL;
  for (int k = 0; k < $(detail)_n_extents; k++) {
    if (n[k] < 0 || n[k] > 1LL << 48) return cudaErrorInvalidValue;
  }
//% if checks_extents then
  if ($(detail)_bad_extents(c) != NULL) return cudaErrorInvalidValue;
//% end
  $(name)_host_plan *const p = ($(name)_host_plan *)calloc(1, sizeof *p);
  if (p == NULL) return cudaErrorMemoryAllocation;
  p->threads = 1;
#if defined(__cplusplus) && defined(__cpp_exceptions)
  if (!o->page_locked) {
    const int cores = (int)std::thread::hardware_concurrency();  // 0: unknown
    p->threads = o->threads > 0 ? o->threads : cores == 0 ? 8 : cores < $(host.ring_threads) ? cores : $(host.ring_threads);
  }
#endif
  p->n_streams = o->streams > 0 ? o->streams : o->page_locked ? $(host.locked_streams) : $(host.ring_streams);
  p->n_slots = o->page_locked ? p->n_streams : p->threads * $(detail)_ring_slots;
  p->slots = ($(detail)_slot *)calloc((size_t)p->n_slots, sizeof *p->slots);
  cudaError_t error = cudaErrorMemoryAllocation;
  if (p->slots == NULL) p->n_slots = 0;
  else error = $(detail)_open_plan(p, c, o);
  if (error == cudaSuccess) {
    *out = p;
    return error;
  }
  cudaGetLastError();  // it is returned, and need not be asked for
  $(detail)_close_plan(p);
  return error;
}

