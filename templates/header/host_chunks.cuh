//% -- The chunks of NAME_host, and of `transfer`, for which this text is compiled as C (src/host).
//% -- There these lines are comments, so all branches are taken: no `else`, and flags say what a
//% -- kernel lacks. `tuner` is false in headers.
enum {
  $(detail)_most_streams = 8,
  $(detail)_most_threads = 64,
  $(detail)_ring_slots = 2,     // of each thread of the host
  $(detail)_ring_align = 4096,  // bytes
  $(detail)_aligned_chunk = 32  // elements: parts of the device's arrays begin aligned
};

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

// The elements of a chunk with so many bytes; few of them are a halo's.
static inline long long $(detail)_chunk_of(long long bytes, long long step, long long halo) {
  const long long chunk = bytes / step > 8 * halo ? bytes / step : 8 * halo;
  return chunk > 0 ? chunk : 1;
}

static inline cudaError_t $(detail)_open_plan($(name)_host_plan *p, const $(name)_args *c,
                                              const $(name)_host_options *o) {
  // bytes of the largest array's chunk
  const long long wanted = o->page_locked ? $(host.locked_mib) << 20 : $(host.ring_mib) << 20;
  const long long halo = $(detail)_before + $(detail)_after;
  long long n = c->$(host.extent), steps[$(detail)_n_arrays], most = 1;
  $(detail)_steps(steps, c);
  for (int k = 0; k < $(detail)_n_arrays; k++) most = steps[k] > most$(host.if_copied) ? steps[k] : most;
  long long chunk = o->chunk > 0 ? o->chunk : $(detail)_chunk_of(wanted, most, halo);
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
  $(detail)_counter next;  // the chunk that is taken next
//% if host.shared then
  $(detail)_counter turn;    // the chunk whose kernel is next
  $(detail)_counter failed;  // the error of a thread, for which the others do not wait
//% end
} $(detail)_host_call;

// The chunk that fits the plan, and which arrays go through the ring.
static inline cudaError_t $(detail)_prepare($(detail)_host_call *h) {
  const $(name)_args *const c = h->c;
  long long least[$(detail)_n_arrays];
  $(detail)_arrays(h->from, c);
  $(detail)_steps(h->steps, c);
  $(detail)_sizes(h->bytes, c, c->$(host.extent));
  $(detail)_sizes(least, c, 0);
  h->chunk = c->$(host.extent);
  bool ring = false;
//% if host.direct then
  bool parts = false;  // of arrays of the device
//% end
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    h->to[k] = $(detail)_is_out[k] ? (char *)h->from[k] : NULL;
//% if host.direct then
    h->pageable[k] = false;
    if ($(detail)_direct[k] && h->bytes[k] > 0 && $(detail)_is_pageable(h->from[k])) {
      return cudaErrorInvalidValue;
    }
    if ($(detail)_direct[k]) {
      parts = parts || h->steps[k] > 0;
      continue;
    }
//% end
    const long long room = h->plan->room[k] - least[k];
    const long long halo = $(detail)_before + $(detail)_after;
    const long long fits = h->steps[k] > 0 ? room / h->steps[k] - halo : h->chunk;
    if (room < 0 || (h->steps[k] == 0) != (h->plan->whole[k] != NULL)) return cudaErrorInvalidValue;
    h->chunk = fits < h->chunk ? fits : h->chunk;
    h->pageable[k] = h->bytes[k] > 0 && ($(detail)_is_pageable(h->from[k]) ||
                                         $(detail)_is_pageable(h->from[k] + h->bytes[k] - 1));
    if (!h->pageable[k] || h->steps[k] == 0) continue;
    if (h->plan->slots[0].ring == NULL) return cudaErrorInvalidValue;
    ring = true;
  }
  if (h->chunk <= 0 && c->$(host.extent) > 0) return cudaErrorInvalidValue;
//% if host.direct then
  if (parts && h->chunk > $(detail)_aligned_chunk && h->chunk < c->$(host.extent)) {
    h->chunk -= h->chunk % $(detail)_aligned_chunk;
  }
//% end
  h->n_chunks = h->chunk > 0 ? (c->$(host.extent) + h->chunk - 1) / h->chunk : 0;
//% if tuner then
  h->n_chunks = (c->end - c->begin + h->chunk - 1) / h->chunk;  // of a device's part
//% end
//% if host.shared then
  h->turn = 0;
  h->failed = cudaSuccess;
//% end
  h->threads = !ring ? 1 : h->n_chunks < h->plan->threads ? (int)h->n_chunks : h->plan->threads;
  h->slots = ring ? $(detail)_ring_slots : h->plan->n_slots;
  h->next = 0;
  return cudaSuccess;
}

// Waits for the slot's last chunk, and brings what came back to where it belongs.
static inline cudaError_t $(detail)_finish(const $(detail)_host_call *h, $(detail)_slot *slot) {
  const cudaError_t error = cudaEventSynchronize(slot->done);
//% if tuner then
  host_works_for(slot->stream);
//% end
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
      char *const ring = slot->ring + h->plan->ring_in[k];
      $(detail)_copy_in(ring, from, bytes[k]);
      from = ring;
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
//%   if tuner then
  if (!host_combines) return $(host.launch_onto);
//%   end
  while (h->turn < which && h->failed == cudaSuccess) $(detail)_yield();
  cudaError_t error = (cudaError_t)(int)h->failed;
  if (error == cudaSuccess && which > 0) error = cudaStreamWaitEvent(stream, h->plan->combined, 0);
  if (error == cudaSuccess) error = $(host.launch_onto);
  if (error == cudaSuccess) error = cudaEventRecord(h->plan->combined, stream);
  if (error == cudaSuccess) h->turn = which + 1;
  return error;
}

//% end
static inline cudaError_t $(detail)_run_chunk($(detail)_host_call *h, $(detail)_slot *slot,
                                              long long which) {
  const long long n = h->c->$(host.extent);
  long long own = which * h->chunk, own_end = h->chunk < n - own ? own + h->chunk : n;
//% if tuner then
  own += h->c->begin;
  own_end = h->chunk < h->c->end - own ? own + h->chunk : h->c->end;
//% end
  const long long first = own > $(detail)_before ? own - $(detail)_before : 0;
  const long long end = n - own_end > $(detail)_after ? own_end + $(detail)_after : n;
  $(name)_args c = *h->c;
  void *at[$(detail)_n_arrays];
  bool waits = false;  // for the host's part of an earlier chunk
  for (int k = 0; k < $(detail)_n_arrays; k++) waits = waits || (h->pageable[k] && h->steps[k] > 0);
  cudaError_t error = waits ? $(detail)_finish(h, slot) : cudaSuccess;
  if (error == cudaSuccess) error = $(detail)_send(h, slot, first, end);
  for (int k = 0; k < $(detail)_n_arrays; k++) {
    at[k] = h->steps[k] == 0 ? h->plan->whole[k] : slot->device[k];
//% if host.direct then
    if ($(detail)_direct[k]) at[k] = (void *)(h->from[k] + first * h->steps[k]);
//% end
//% if host.start then
    const long long start = (end - first) * h->steps[k];  // of what the chunk has alone
    if (error == cudaSuccess && $(detail)_start_byte[k] >= 0 && start > 0) {
      error = cudaMemsetAsync(at[k], $(detail)_start_byte[k], (size_t)start, slot->stream);
    }
//% end
  }
  $(detail)_set_arrays(&c, at);
  c.$(host.extent) = end - first;
//% if workspace then
  c.$(workspace) = slot->workspace;
//% end
  if (error == cudaSuccess) error = $(host.launch_chunk);
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
    if (h->steps[k] == 0 && h->bytes[k] > 0 && $(detail)_is_in[k]) {
      error = cudaMemcpyAsync(p->whole[k], h->from[k], (size_t)h->bytes[k], cudaMemcpyHostToDevice,
                              first);
    }
  }
//% if host.start then
  for (int k = 0; k < $(detail)_n_arrays && error == cudaSuccess; k++) {
    if ($(detail)_start_byte[k] < 0 || h->steps[k] > 0 || h->bytes[k] == 0) continue;
    error = cudaMemsetAsync($(host.whole_at), $(detail)_start_byte[k], (size_t)h->bytes[k], first);
  }
//% end
  if (error == cudaSuccess) error = cudaEventRecord(p->whole_there, first);
  for (int s = 1; s < p->n_streams && error == cudaSuccess; s++) {
    error = cudaStreamWaitEvent(p->streams[s], p->whole_there, 0);
  }
  return error;
}

// A thread of the host in a call.
typedef struct $(detail)_thread {
  $(detail)_slot *slots;
  int next_slot;
  cudaError_t error;
} $(detail)_thread;

static inline $(detail)_thread $(detail)_begin_thread($(detail)_host_call *h, int thread) {
  $(detail)_thread t;
  t.slots = h->plan->slots + thread * h->slots;
  t.next_slot = 0;
  t.error = thread > 0 ? cudaSetDevice(h->plan->device) : cudaSuccess;
  return t;
}

// Takes the next chunk, in the thread's next slot. false: there is none, or it failed.
static inline bool $(detail)_take_chunk($(detail)_host_call *h, $(detail)_thread *t) {
  const long long which = t->error == cudaSuccess ? h->next++ : h->n_chunks;
  if (which >= h->n_chunks) return false;
  t->error = $(detail)_run_chunk(h, &t->slots[t->next_slot], which);
  t->next_slot = t->next_slot + 1 < h->slots ? t->next_slot + 1 : 0;
  return t->error == cudaSuccess;
}

static inline cudaError_t $(detail)_end_thread($(detail)_host_call *h, $(detail)_thread *t) {
//% if host.shared then
  if (t->error != cudaSuccess) h->failed = (int)t->error;
//% end
  for (int k = 0; k < h->slots && t->error == cudaSuccess; k++) {
    bool left = false;
    for (int a = 0; a < $(detail)_n_arrays; a++) left = left || t->slots[k].left[a] > 0;
    if (left) t->error = $(detail)_finish(h, &t->slots[k]);
  }
  return t->error;
}

static inline cudaError_t $(detail)_run_thread($(detail)_host_call *h, int thread) {
  $(detail)_thread t = $(detail)_begin_thread(h, thread);
  while ($(detail)_take_chunk(h, &t)) {
  }
  return $(detail)_end_thread(h, &t);
}

static inline cudaError_t $(detail)_run_threads($(detail)_host_call *h);

//% if host.shared then
// What chunks went onto comes back.
//% end
// The caller's stream waits for all chunks; after an error nothing is on its way any more.
static inline cudaError_t $(detail)_end(const $(detail)_host_call *h, cudaStream_t stream,
                                        cudaError_t error) {
  $(name)_host_plan *const p = h->plan;
//% if host.shared then
  if (error == cudaSuccess$(host.if_combined)) error = cudaStreamWaitEvent(p->streams[0], p->combined, 0);
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

static inline cudaError_t $(detail)_run_call($(detail)_host_call *h, cudaStream_t stream) {
  cudaError_t error = $(detail)_prepare(h);
  if (error != cudaSuccess) return error;
  error = $(detail)_begin(h, stream);
  if (error == cudaSuccess) error = $(detail)_run_threads(h);
  return $(detail)_end(h, stream, error);
}

// `threads`, `streams` and `page_locked` of the options have values.
static inline cudaError_t $(detail)_make_plan($(name)_host_plan **out, const $(name)_args *c,
                                              const $(name)_host_options *o) {
  $(name)_host_plan *const p = ($(name)_host_plan *)calloc(1, sizeof *p);
  if (p == NULL) return cudaErrorMemoryAllocation;
  p->threads = o->threads;
  p->n_streams = o->streams;
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
