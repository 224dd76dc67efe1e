/* Runs from the host and back on streams of one or two devices, with a driver that does nothing
 * before someone waits for it: what is not waited for has not happened, or happens too late. Calls
 * that name a stream or an event of another device than the thread's are refused. */
#include "device/device_internal.h"
#include "worker/worker_state.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

/* ---- a lazy driver ---- */

enum { MOST_STREAMS = 64, MOST_ITEMS = 1024, MOST_EVENTS = 4096 };
typedef enum item_kind { COPY, SET, KERNEL, RECORD, WAIT } item_kind;
typedef struct item {
  item_kind kind;
  uint8_t *to;
  const uint8_t *from, *table;
  size_t bytes;
  int event, stream, until; /* RECORD; of WAIT: items of a stream that must be done */
  int value;                /* of SET */
} item;
static struct lazy_stream {
  item items[MOST_ITEMS];
  int n, done;
  bool alive;
  intptr_t context;
} streams[MOST_STREAMS];
static struct lazy_event {
  int stream, until; /* of the last record; -1: none */
  bool alive, timed;
  intptr_t context;
  float at_ms;
} events[MOST_EVENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_streams, n_events, n_kept_streams, n_kept, n_alive, ticks, calls, fail_at;

static _Thread_local intptr_t context; /* that the calls of a thread are for */
static int n_strangers;

static int result(void) {
  return ++calls == fail_at ? 700 : 0;
}

static void run_until(int stream, int until) {
  struct lazy_stream *s = &streams[stream];
  while (s->done < until) {
    const item *i = &s->items[s->done++];
    if (i->kind == COPY) {
      memcpy(i->to, i->from, i->bytes);
    } else if (i->kind == SET) {
      memset(i->to, i->value, i->bytes);
    } else if (i->kind == WAIT) {
      run_until(i->stream, i->until);
    } else if (i->kind == RECORD) {
      events[i->event].at_ms = (float)++ticks;
    }
    for (size_t k = 0; i->kind == KERNEL && k < i->bytes; k++) {
      i->to[k] = (uint8_t)(i->from[k] + i->table[0]);
    }
  }
}

static int add(void *stream, item i) {
  pthread_mutex_lock(&lock);
  struct lazy_stream *s = &streams[(intptr_t)stream - 1];
  n_strangers += s->context != context || !s->alive;
  const int failed = result();
  assert_true(s->n < MOST_ITEMS);
  if (failed == 0) {
    s->items[s->n++] = i;
  }
  pthread_mutex_unlock(&lock);
  return failed;
}

static int lazy_stream_create(void **stream, unsigned flags) {
  (void)flags;
  *stream = (void *)(intptr_t)++n_streams;
  assert_true(n_streams <= MOST_STREAMS);
  streams[n_streams - 1].context = context;
  streams[n_streams - 1].alive = true;
  n_alive++;
  return 0;
}
static int lazy_stream_destroy(void *stream) {
  streams[(intptr_t)stream - 1].alive = false;
  n_alive--;
  return 0;
}
static int lazy_stream_sync(void *stream) {
  pthread_mutex_lock(&lock);
  n_strangers += streams[(intptr_t)stream - 1].context != context;
  n_strangers += !streams[(intptr_t)stream - 1].alive;
  run_until((int)(intptr_t)stream - 1, streams[(intptr_t)stream - 1].n);
  const int failed = result();
  pthread_mutex_unlock(&lock);
  return failed;
}
static int lazy_event_create(void **event, unsigned flags) {
  pthread_mutex_lock(&lock);
  const int failed = result();
  if (failed == 0) {
    assert_true(n_events < MOST_EVENTS);
    events[n_events] =
        (struct lazy_event){.until = -1, .alive = true, .timed = flags == 0, .context = context};
    *event = (void *)(intptr_t)++n_events;
    n_alive++;
  }
  pthread_mutex_unlock(&lock);
  return failed;
}
static int lazy_event_destroy(void *event) {
  struct lazy_event *e = &events[(intptr_t)event - 1];
  assert_true(e->alive);
  e->alive = false;
  n_alive--;
  return 0;
}
static int lazy_event_record(void *event, void *stream) {
  const int which = (int)(intptr_t)event - 1, of = (int)(intptr_t)stream - 1;
  const int failed = add(stream, (item){.kind = RECORD, .event = which});
  pthread_mutex_lock(&lock);
  n_strangers += events[which].context != streams[of].context;
  events[which].stream = of;
  events[which].until = streams[of].n;
  pthread_mutex_unlock(&lock);
  return failed;
}
static int lazy_stream_wait(void *stream, void *event, unsigned flags) {
  const struct lazy_event *e = &events[(intptr_t)event - 1];
  assert_int_equal(flags, 0);
  if (e->until < 0) {
    return 0; /* a driver does not wait for what was not recorded */
  }
  return add(stream, (item){.kind = WAIT, .stream = e->stream, .until = e->until});
}
static int lazy_event_sync(void *event) {
  pthread_mutex_lock(&lock);
  const struct lazy_event *e = &events[(intptr_t)event - 1];
  if (e->until >= 0) {
    run_until(e->stream, e->until);
  }
  const int failed = result();
  pthread_mutex_unlock(&lock);
  return failed;
}
static int lazy_event_elapsed(float *ms, void *start, void *stop) {
  const struct lazy_event *from = &events[(intptr_t)start - 1], *to = &events[(intptr_t)stop - 1];
  assert_true(from->timed && to->timed && from->context == to->context);
  *ms = to->at_ms - from->at_ms;
  return result();
}
static int lazy_copy_to_device(uint64_t to, const void *from, size_t bytes, void *stream) {
  assert_true(bytes > 0);
  return add(stream, (item){.kind = COPY, .to = sct_host(to), .from = from, .bytes = bytes});
}
static int lazy_copy_to_host(void *to, uint64_t from, size_t bytes, void *stream) {
  assert_true(bytes > 0);
  return add(stream, (item){.kind = COPY, .to = to, .from = sct_host(from), .bytes = bytes});
}
static int lazy_set(uint64_t to, unsigned char value, size_t bytes, void *stream) {
  return add(stream, (item){.kind = SET, .to = sct_host(to), .value = value, .bytes = bytes});
}
static int lazy_launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, void *stream, void **args, void **extra) {
  uint64_t values[4];
  (void)f, (void)extra, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared;
  for (int k = 0; k < 4; k++) {
    memcpy(&values[k], args[k], sizeof values[k]);
  }
  return add(stream, (item){.kind = KERNEL,
                            .from = sct_host(values[0]),
                            .to = sct_host(values[1]),
                            .bytes = values[2],
                            .table = sct_host(values[3])});
}
static int lazy_count(int *count) {
  *count = 2;
  return 0;
}
static int lazy_device(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
static int lazy_context(void **out, int device) {
  *out = (void *)(intptr_t)(device + 1);
  return 0;
}
static int lazy_enter(void *entered) {
  context = (intptr_t)entered;
  return 0;
}
static int fine(void) {
  return 0;
}

typedef void function(void);
static void *find_symbol(void *library, const char *name) {
  static const struct {
    const char *name;
    function *f;
  } own[] = {{"cuStreamCreate", (function *)lazy_stream_create},
             {"cuStreamDestroy_v2", (function *)lazy_stream_destroy},
             {"cuStreamSynchronize", (function *)lazy_stream_sync},
             {"cuStreamWaitEvent", (function *)lazy_stream_wait},
             {"cuEventCreate", (function *)lazy_event_create},
             {"cuEventDestroy_v2", (function *)lazy_event_destroy},
             {"cuEventRecord", (function *)lazy_event_record},
             {"cuEventSynchronize", (function *)lazy_event_sync},
             {"cuEventElapsedTime", (function *)lazy_event_elapsed},
             {"cuMemcpyHtoDAsync_v2", (function *)lazy_copy_to_device},
             {"cuMemcpyDtoHAsync_v2", (function *)lazy_copy_to_host},
             {"cuMemsetD8Async", (function *)lazy_set},
             {"cuLaunchKernel", (function *)lazy_launch},
             {"cuDeviceGetCount", (function *)lazy_count},
             {"cuDeviceGet", (function *)lazy_device},
             {"cuDevicePrimaryCtxRetain", (function *)lazy_context},
             {"cuCtxSetCurrent", (function *)lazy_enter}};
  function *found = (function *)fine;
  void *p = NULL;
  (void)library;
  for (int k = 0; k < SCT_COUNT(own); k++) {
    found = strcmp(own[k].name, name) == 0 ? own[k].f : found;
  }
  memcpy(&p, &found, sizeof p);
  return p;
}

static void *open_library(const char *soname) {
  return strcmp(soname, SCT_DRIVER_SONAME) == 0 ? &lock : NULL;
}

static const sct_library_door door = {open_library, find_symbol};

/* ---- a backend of that driver ---- */

typedef struct lazy_backend {
  sct_backend base;
  sct_cuda *cuda;
} lazy_backend;

static sct_status lazy_alloc(sct_backend *b, sct_cuda_ptr *out, int64_t bytes, sct_error *err) {
  (void)b, (void)err;
  n_alive++;
  *out = (uintptr_t)sct_alloc((size_t)bytes);
  return SCT_OK;
}
static void lazy_release(sct_backend *b, sct_cuda_ptr p) {
  (void)b;
  n_alive--;
  sct_free(sct_host(p));
}
static sct_status lazy_poison(sct_backend *b, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                              sct_error *err) {
  return sct_cuda_set(((lazy_backend *)b)->cuda, p, byte, bytes, err);
}
static sct_status lazy_sync(sct_backend *b, sct_error *err) {
  return sct_cuda_sync(((lazy_backend *)b)->cuda, err);
}
static int lazy_last(sct_backend *b) {
  return sct_cuda_last(((lazy_backend *)b)->cuda);
}
static sct_status lazy_current(sct_backend *b, sct_error *err) {
  return sct_cuda_make_current(((lazy_backend *)b)->cuda, err);
}
static sct_cuda *lazy_session(sct_backend *b) {
  return ((lazy_backend *)b)->cuda;
}
static const sct_backend_ops ops = {
    .alloc = lazy_alloc,
    .release = lazy_release,
    .upload = sct_host_upload,
    .download = sct_host_download,
    .set = lazy_poison,
    .sync = lazy_sync,
    .last = lazy_last,
    .make_current = lazy_current,
    .block_open = sct_host_block_open,
    .block_close = sct_host_block_close,
    .cuda = lazy_session,
};

/* ---- a request ---- */

enum { MOST_STEPS = 100, DEVICES = 2, N = 1000, CHUNK = 64, THREADS = 3, SHARED = 4, ARRAYS = 3 };
typedef enum array { IN, OUT, TABLE } array;

static struct work {
  sct_worker_state w;
  lazy_backend backends[DEVICES];
  sct_worker_kernel kernels[DEVICES];
  uint8_t *bytes[ARRAYS]; /* as buffers have them */
  bool chain;             /* each chunk's kernel replaces what the one before has left */
  bool workspace;         /* kernels have a workspace in place of the table */
  sct_got_host got;
} work;

/* An element is a byte; of a chain the output is one for all. */
static sct_host_kernel kernel_of(int device, int devices, bool ring) {
  sct_host_kernel k = {.n = N,
                       .begin = device * N / devices,
                       .end = (device + 1) * N / devices,
                       .n_arrays = ARRAYS,
                       .pageable = ring,
                       .workspace_bytes = work.workspace ? 4 : 0,
                       .base = {[OUT] = work.chain ? CHUNK : 0, [TABLE] = 4},
                       .step = {[IN] = 1, [OUT] = !work.chain},
                       .is_in = {[IN] = 1, [TABLE] = 1},
                       .is_out = {[OUT] = 1},
                       .is_shared = {[OUT] = work.chain}};
  for (int a = 0; a < SCT_MAX_OPERANDS; a++) {
    k.start[a] = -1;
  }
  return k;
}

/* The kernel writes `extent` bytes, which lazy_launch() computes from the first four arguments. */
static sct_host_launch launch_of(int device, int64_t extent, sct_ask_arg args[4], int64_t *bytes) {
  *bytes = extent;
  args[0] = (sct_ask_arg){.kind = SCT_ARG_CHUNK, .number = IN};
  args[1] = (sct_ask_arg){.kind = SCT_ARG_CHUNK, .number = OUT};
  args[2] = (sct_ask_arg){.value = (const uint8_t *)bytes, .n_value = sizeof *bytes};
  args[3] = (sct_ask_arg){.kind = SCT_ARG_CHUNK, .number = work.workspace ? ARRAYS : TABLE};
  return (sct_host_launch){
      .device = device,
      .extent = extent,
      .launch = {.kernel = device, .blocks = 1, .threads = 32, .args = args, .n_args = 4}};
}

static sct_status run(int devices, bool ring, int threads, int samples, sct_error *err) {
  const int64_t extents[] = {CHUNK, N % CHUNK, N / DEVICES % CHUNK};
  const int64_t sizes[] = {N, work.chain ? CHUNK : N, 4};
  sct_host_kernel kernels[DEVICES];
  sct_host_options options[DEVICES];
  sct_host_launch launches[DEVICES * SCT_COUNT(extents)];
  sct_ask_arg args[DEVICES * SCT_COUNT(extents)][4];
  int64_t bytes[DEVICES * SCT_COUNT(extents)];
  sct_host_array arrays[ARRAYS];
  const int64_t n_steps[] = {MOST_STEPS, MOST_STEPS};
  int n = 0;
  for (int d = 0; d < devices; d++) {
    kernels[d] = kernel_of(d, devices, ring);
    options[d] = (sct_host_options){CHUNK, SHARED, threads, !ring};
    for (int e = 0; e < SCT_COUNT(extents); e++, n++) {
      launches[n] = launch_of(d, extents[e], args[n], &bytes[n]);
    }
  }
  for (int a = 0; a < ARRAYS; a++) {
    arrays[a] = (sct_host_array){
        .bytes = sizes[a], .from = a == OUT ? -1 : a, .to = a == OUT ? a : -1, .buffer = -1};
  }
  const sct_ask_host ask = {.memory = ring ? SCT_HOST_PAGEABLE : SCT_HOST_LOCKED,
                            .arrays = arrays,
                            .n_arrays = ARRAYS,
                            .kernels = kernels,
                            .n_kernels = devices,
                            .options = options,
                            .n_options = devices,
                            .most_steps = n_steps,
                            .n_most_steps = devices,
                            .launches = launches,
                            .n_launches = n,
                            .poison = 0xa5,
                            .least = samples,
                            .most = samples};
  for (int s = 0; s < MOST_STREAMS; s++) {
    streams[s].n = streams[s].done = 0;
  }
  n_events = n_kept; /* those of the sessions */
  n_streams = n_kept_streams;
  memset(work.bytes[OUT], 0, (size_t)sizes[OUT]);
  work.got = (sct_got_host){0};
  const sct_status status = sct_worker_host(&work.w, &ask, &work.got, err);
  (void)sct_cuda_sync(work.backends[0].cuda, NULL); /* what comes next has a stream */
  assert_true(context == 1 && n_strangers == 0);
  for (int s = 0; s < n_streams && status == SCT_OK; s++) {
    assert_int_equal(streams[s].done, streams[s].n); /* nothing is on its way any more */
  }
  return status;
}

static bool is_right(void) {
  bool right = true;
  const int last = N - N % CHUNK; /* the last chunk is what is left of a chain */
  for (int k = 0; k < (work.chain ? N % CHUNK : N); k++) {
    const uint8_t in = work.bytes[IN][work.chain ? last + k : k];
    right = right && work.bytes[OUT][k] == (uint8_t)(in + (work.workspace ? 0 : 7));
  }
  return right;
}

static int set_up(void **state) {
  (void)state;
  static const int64_t sizes[] = {N, N, 4};
  sct_device_set_door(&door);
  n_streams = n_events = n_alive = calls = fail_at = n_strangers = 0;
  memset(&work, 0, sizeof work);
  for (int d = DEVICES - 1; d >= 0; d--) { /* calls are for the one that was opened last */
    work.backends[d].base.ops = &ops;
    work.kernels[d] = (sct_worker_kernel){{&work, &work}, d};
    assert_int_equal(sct_cuda_open(&work.backends[d].cuda, d, NULL), SCT_OK);
  }
  n_kept = n_events;
  n_kept_streams = n_streams;
  work.w.backend = &work.backends[0].base;
  work.w.peer = &work.backends[1].base;
  work.w.kernels = work.kernels;
  work.w.n_kernels = DEVICES;
  for (int a = 0; a < ARRAYS; a++) {
    sct_a_buffer made = {0};
    const sct_ask_alloc room = {.bytes = sizes[a], .copies = 1};
    assert_int_equal(sct_worker_alloc(&work.w, &room, &made, NULL), SCT_OK);
    assert_int_equal(made.buffer, a);
    work.bytes[a] = sct_host(sct_worker_data(&work.w.buffers[a]));
  }
  memset(work.bytes[TABLE], 0, 4);
  work.bytes[TABLE][0] = 7;
  for (int k = 0; k < N; k++) {
    work.bytes[IN][k] = (uint8_t)(k * 37 + k / 256);
  }
  return 0;
}

static void set_chain(bool chain) {
  work.chain = chain;
  work.w.buffers[OUT].bytes = chain ? CHUNK : N;
}

static int tear_down(void **state) {
  (void)state;
  fail_at = 0;
  set_chain(false);
  sct_worker_close_host(&work.w);
  sct_worker_free_buffers(&work.w);
  sct_arena_free(&work.w.memory);
  sct_free(work.w.buffers);
  for (int d = 0; d < DEVICES; d++) {
    sct_cuda_close(work.backends[d].cuda);
  }
  assert_int_equal(n_alive, 0);
  return 0;
}

static void check_all(int n_devices) {
  for (int threads = 1; threads <= THREADS; threads += 2) {
    for (int ring = 0; ring < 2; ring++) {
      sct_error err = {0};
      assert_int_equal(run(n_devices, ring != 0, threads, 2, &err), SCT_OK);
      assert_true(is_right());
      assert_int_equal(work.got.n_samples_ns, 2);
    }
  }
}

static void chunks_come_back_as_they_must(void **state) {
  (void)state;
  check_all(1);
}

/* Each by its own threads and streams. */
static void two_devices_bring_their_halves(void **state) {
  (void)state;
  check_all(2);
  int n_of_second = 0;
  for (int s = 0; s < n_streams; s++) {
    n_of_second += streams[s].context == 2 && streams[s].n > 0;
  }
  assert_true(n_of_second >= SHARED);
  check_all(1);
}

static void a_traced_run_says_when(void **state) {
  (void)state;
  for (int n_devices = 1; n_devices <= DEVICES; n_devices++) {
    sct_error err = {0};
    int n[DEVICES][SCT_N_ENGINES] = {{0}};
    assert_int_equal(run(n_devices, true, THREADS, 0, &err), SCT_OK);
    assert_true(is_right());
    for (int k = 0; k < work.got.n_steps; k++) {
      const sct_pipe_step *s = &work.got.steps[k];
      assert_true(s->end_ns >= s->begin_ns && s->begin_ns >= 0);
      /* by the driver's ticks; both clocks are the host's, less than a second apart */
      assert_true(s->engine == SCT_ENGINE_HOST || s->end_ns > s->begin_ns);
      assert_true(s->thread >= s->device * THREADS && s->thread < (s->device + 1) * THREADS);
      assert_true(s->stream >= 0 && s->stream < SHARED);
      n[s->device][s->engine]++;
    }
    const int chunks = (N / n_devices + CHUNK - 1) / CHUNK;
    for (int d = 0; d < n_devices; d++) {
      assert_int_equal(n[d][SCT_ENGINE_IN], chunks + 1); /* with the table */
      assert_int_equal(n[d][SCT_ENGINE_KERNEL], chunks);
      assert_int_equal(n[d][SCT_ENGINE_OUT], chunks);
      assert_int_equal(n[d][SCT_ENGINE_HOST], 2 * chunks);
    }
  }
}

/* Kernels of which each replaces what the one before has left, queued by several threads. */
static void threads_wait_for_one_another(void **state) {
  (void)state;
  set_chain(true);
  for (int ring = 0; ring < 2; ring++) {
    sct_error err = {0};
    assert_int_equal(run(1, ring != 0, THREADS, 1, &err), SCT_OK);
    assert_true(is_right());
  }
}

/* What they are set to first must not come after that. */
static void workspaces_are_cleared(void **state) {
  (void)state;
  sct_error err = {0};
  work.workspace = true;
  assert_int_equal(run(1, true, THREADS, 2, &err), SCT_OK);
  assert_true(is_right());
}

static void what_fails_is_reported_and_leaves_nothing(void **state) {
  (void)state;
  int n_failures = 0;
  sct_error err = {0};
  assert_int_equal(run(2, true, THREADS, 1, &err), SCT_OK); /* arrays stay */
  const int alive = n_alive;
  for (int at = 1; at < 2000; at += 7) {
    const bool chain = at % 3 == 0;
    set_chain(chain);
    calls = 0;
    fail_at = at;
    err = (sct_error){0};
    const sct_status status = run(chain ? 1 : 1 + at % DEVICES, true, THREADS, 1, &err);
    n_failures += status != SCT_OK;
    assert_true(status == SCT_OK || strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_true(status == SCT_OK || sct_cuda_last(work.backends[0].cuda) == 700 ||
                sct_cuda_last(work.backends[1].cuda) == 700);
    fail_at = 0;
    assert_int_equal(n_alive, alive);
  }
  assert_true(n_failures > 20);
}

#define ONCE "--once" /* this program, in a process of its own */

static int run_once(void) {
  sct_error err = {0};
  (void)set_up(NULL);
  for (int n_devices = 1; n_devices <= DEVICES; n_devices++) {
    if (run(n_devices, true, THREADS, 1, &err) != SCT_OK || !is_right()) {
      return 1;
    }
  }
  set_chain(true);
  return run(1, true, THREADS, 1, &err) != SCT_OK || !is_right();
}

/* Where the system gives no further thread, one does it all. */
static void without_threads_it_comes_back_too(void **state) {
  (void)state;
  char path[256], command[320];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  assert_true(n > 0);
  path[n] = '\0';
  snprintf(command, sizeof command, "SCT_FAULTS=thread:1+ '%s' " ONCE " 2>&1 | grep -c 'fault: '",
           path);
  FILE *said = popen(command, "r");
  int n_faults = 0;
  assert_int_equal(fscanf(said, "%d", &n_faults), 1);
  pclose(said);
#ifdef SCT_FAULTS
  assert_true(n_faults >= THREADS - 1);
#endif
  snprintf(command, sizeof command, "SCT_FAULTS=thread:1+ '%s' " ONCE " 2>/dev/null", path);
  assert_int_equal(system(command), 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], ONCE) == 0) {
    return run_once();
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(chunks_come_back_as_they_must, set_up, tear_down),
      cmocka_unit_test_setup_teardown(two_devices_bring_their_halves, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_traced_run_says_when, set_up, tear_down),
      cmocka_unit_test_setup_teardown(threads_wait_for_one_another, set_up, tear_down),
      cmocka_unit_test_setup_teardown(workspaces_are_cleared, set_up, tear_down),
      cmocka_unit_test(without_threads_it_comes_back_too),
      cmocka_unit_test_setup_teardown(what_fails_is_reported_and_leaves_nothing, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
