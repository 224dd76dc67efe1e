/* Lists of copies and kernels on streams of one or two devices, with a driver that does nothing
 * before someone waits for it: what is not waited for has not happened, or happens too late. Calls
 * that name a stream or an event of another device than the thread's are refused. */
#include "device/device_internal.h"
#include "worker/worker_backend.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

/* ---- a lazy driver ---- */

enum { MOST_STREAMS = 64, MOST_ITEMS = 512, MOST_EVENTS = 1024 };
typedef enum item_kind { COPY, KERNEL, RECORD, WAIT } item_kind;
typedef struct item {
  item_kind kind;
  uint8_t *to;
  const uint8_t *from, *table;
  size_t bytes;
  int event, stream, until; /* RECORD; of WAIT: items of a stream that must be done */
} item;
static struct lazy_stream {
  item items[MOST_ITEMS];
  int n, done;
  intptr_t context;
} streams[MOST_STREAMS];
static struct lazy_event {
  int stream, until; /* of the last record; -1: none */
  bool alive, timed;
  intptr_t context;
  float at_ms;
} events[MOST_EVENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n_streams, n_events, n_kept, n_alive, ticks, calls, fail_at;

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
  n_strangers += s->context != context;
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
  n_alive++;
  return 0;
}
static int lazy_stream_destroy(void *stream) {
  (void)stream;
  n_alive--;
  return 0;
}
static int lazy_stream_sync(void *stream) {
  pthread_mutex_lock(&lock);
  n_strangers += streams[(intptr_t)stream - 1].context != context;
  run_until((int)(intptr_t)stream - 1, streams[(intptr_t)stream - 1].n);
  const int failed = result();
  pthread_mutex_unlock(&lock);
  return failed;
}
static int lazy_event_create(void **event, unsigned flags) {
  const int failed = result();
  if (failed == 0) {
    assert_true(n_events < MOST_EVENTS);
    events[n_events] =
        (struct lazy_event){.until = -1, .alive = true, .timed = flags == 0, .context = context};
    *event = (void *)(intptr_t)++n_events;
    n_alive++;
  }
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
  assert_true(e->until >= 0); /* a driver would not wait for what was not recorded */
  return add(stream, (item){.kind = WAIT, .stream = e->stream, .until = e->until});
}
static int lazy_event_sync(void *event) {
  pthread_mutex_lock(&lock);
  const struct lazy_event *e = &events[(intptr_t)event - 1];
  assert_true(e->until >= 0);
  run_until(e->stream, e->until);
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

/* ---- a list ---- */

enum {
  DEVICES = 2,
  N = 1000,
  CHUNK = 64,
  THREADS = 3,
  EACH = 2,
  SLOTS = THREADS * EACH,
  SHARED = 4,
  MOST = 256
};

static struct work {
  uint8_t in[N], out[N], table[4];
  uint8_t device_in[DEVICES * SLOTS][CHUNK], device_out[DEVICES * SLOTS][CHUNK];
  uint8_t device_table[DEVICES][4];
  uint8_t ring_in[DEVICES * SLOTS][CHUNK], ring_out[DEVICES * SLOTS][CHUNK];
  sct_host_step steps[MOST];
  sct_launch launches[DEVICES * SLOTS + N / CHUNK + 1];
  sct_cuda_kernel kernel;
  int n, n_launches;
} work;

static int put(sct_host_step step) {
  assert_true(work.n < MOST);
  work.steps[work.n] = step;
  return work.n++;
}

/* A device's half, of which the second begins where no chunk of the first would. */
typedef struct half {
  int on, begin, end, threads, table; /* table: the step that brings it */
  bool ring;
  int last[DEVICES * SLOTS], out_at[DEVICES * SLOTS];
} half;

static int bytes_at(const half *h, int at) {
  return at + CHUNK < h->end ? CHUNK : h->end - at;
}

static void put_chunk(half *h, int at, int slot, int thread) {
  struct work *w = &work;
  int *const last = h->last, *const out_at = h->out_at;
  const bool ring = h->ring;
  const int bytes = bytes_at(h, at);
  sct_host_step s = {
      .on = h->on, .thread = thread, .stream = slot % SHARED, .after = last[slot], .bytes = bytes};
  if (ring && last[slot] >= 0) {
    s.kind = SCT_HOST_OP_FROM_RING;
    s.array = w->out + out_at[slot];
    s.ring = w->ring_out[slot];
    s.bytes = bytes_at(h, out_at[slot]);
    (void)put(s);
  }
  s.bytes = bytes;
  s.array = w->in + at;
  s.ring = ring ? w->ring_in[slot] : NULL;
  s.kind = SCT_HOST_OP_TO_RING;
  if (ring) {
    (void)put(s);
  }
  s.kind = SCT_HOST_OP_IN;
  s.device = (uintptr_t)w->device_in[slot];
  s.after = last[slot] < 0 ? h->table : -1;
  (void)put(s);
  sct_launch *l = &w->launches[w->n_launches++];
  *l = (sct_launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .n_args = 4};
  const uint64_t args[] = {(uintptr_t)w->device_in[slot], (uintptr_t)w->device_out[slot],
                           (uint64_t)bytes, (uintptr_t)w->device_table[h->on]};
  for (int k = 0; k < 4; k++) {
    l->args[k].value[0] = args[k];
  }
  s.kind = SCT_HOST_OP_KERNEL;
  s.launch = l;
  s.kernel = &w->kernel;
  s.after = -1;
  (void)put(s);
  s.kind = SCT_HOST_OP_OUT;
  s.array = w->out + at;
  s.ring = ring ? w->ring_out[slot] : NULL;
  s.device = (uintptr_t)w->device_out[slot];
  last[slot] = put(s);
  out_at[slot] = at;
}

static void put_half(half *h) {
  memset(h->last, 0xff, sizeof h->last);
  h->table = put((sct_host_step){.kind = SCT_HOST_OP_IN,
                                 .on = h->on,
                                 .thread = -1,
                                 .after = -1,
                                 .array = work.table,
                                 .device = (uintptr_t)work.device_table[h->on],
                                 .bytes = sizeof work.table});
  for (int c = 0; h->begin + c * CHUNK < h->end; c++) {
    const int thread = c % h->threads, slot = thread * EACH + c / h->threads % EACH;
    put_chunk(h, h->begin + c * CHUNK, h->on * SLOTS + slot, h->on * THREADS + thread);
  }
  for (int s = 0; s < DEVICES * SLOTS && h->ring; s++) {
    if (h->last[s] >= 0) {
      (void)put((sct_host_step){.kind = SCT_HOST_OP_FROM_RING,
                                .on = h->on,
                                .thread = s / EACH,
                                .stream = s % SHARED,
                                .after = h->last[s],
                                .array = work.out + h->out_at[s],
                                .ring = work.ring_out[s],
                                .bytes = bytes_at(h, h->out_at[s])});
    }
  }
}

/* In chunks, by `threads` threads a device, which share streams, through rings or not. */
static void make_on(int devices, bool ring, int threads) {
  memset(&work, 0, sizeof work);
  work.table[0] = 7;
  work.kernel = (sct_cuda_kernel){&work, &work};
  for (int k = 0; k < N; k++) {
    work.in[k] = (uint8_t)(k * 37 + k / 256);
  }
  for (int d = 0; d < devices; d++) {
    half h = {.on = d,
              .begin = d * N / devices,
              .end = (d + 1) * N / devices,
              .threads = threads,
              .ring = ring};
    put_half(&h);
  }
}

static void make(bool ring, int threads) {
  make_on(1, ring, threads);
}

static bool is_right(void) {
  for (int k = 0; k < N; k++) {
    if (work.out[k] != (uint8_t)(work.in[k] + 7)) {
      return false;
    }
  }
  return true;
}

/* Kernels of which each goes on from what the one before has left, queued by several threads. */
enum { LINKS = 20 };
static void make_chain(bool waits) {
  memset(&work, 0, sizeof work);
  work.table[0] = work.device_table[0][0] = 7;
  work.kernel = (sct_cuda_kernel){&work, &work};
  for (int k = 0; k < LINKS; k++) {
    const uint64_t args[] = {(uintptr_t)(work.out + k), (uintptr_t)(work.out + k + 1), 1,
                             (uintptr_t)work.device_table[0]};
    sct_launch *l = &work.launches[k];
    *l = (sct_launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .n_args = 4};
    for (int a = 0; a < 4; a++) {
      l->args[a].value[0] = args[a];
    }
    (void)put((sct_host_step){.kind = SCT_HOST_OP_KERNEL,
                              .thread = k * 3 % THREADS,
                              .stream = (LINKS - k) % SHARED,
                              .after = waits ? k - 1 : -1,
                              .kernel = &work.kernel,
                              .launch = l});
  }
}

static sct_gpu_device devices[DEVICES];
static void *made[DEVICES][SCT_MAX_STREAMS];

static sct_status run(sct_host_time *times, sct_error *err) {
  double ns = 0;
  for (int s = 0; s < MOST_STREAMS; s++) {
    streams[s].n = streams[s].done = 0;
  }
  n_events = n_kept;
  const sct_status status = sct_gpu_run_steps(devices, work.steps, work.n, times, &ns, err);
  assert_true(ns >= 0 && context == 1 && n_strangers == 0);
  for (int s = 0; s < n_streams && status == SCT_OK; s++) {
    assert_int_equal(streams[s].done, streams[s].n); /* nothing is on its way any more */
  }
  return status;
}

static int set_up(void **state) {
  (void)state;
  sct_device_set_door(&door);
  n_streams = n_events = n_alive = calls = fail_at = 0;
  n_strangers = 0;
  memset(made, 0, sizeof made);
  for (int d = DEVICES - 1; d >= 0; d--) { /* calls are for the one that was opened last */
    devices[d].streams = made[d];
    assert_int_equal(sct_cuda_open(&devices[d].cuda, d, NULL), SCT_OK);
  }
  n_kept = n_events;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  fail_at = 0;
  for (int d = 0; d < DEVICES; d++) {
    for (int s = 0; s < SCT_MAX_STREAMS; s++) {
      sct_cuda_stream_close(devices[d].cuda, made[d][s]);
    }
    sct_cuda_close(devices[d].cuda);
  }
  assert_int_equal(n_alive, 0);
  return 0;
}

static void check_all(int n_devices) {
  for (int threads = 1; threads <= THREADS; threads += 2) {
    for (int ring = 0; ring < 2; ring++) {
      sct_error err = {0};
      make_on(n_devices, ring != 0, threads);
      assert_int_equal(run(NULL, &err), SCT_OK);
      assert_true(is_right());
    }
  }
}

static void chunks_come_back_as_they_must(void **state) {
  (void)state;
  check_all(1);
}

/* Each by its own threads and streams; the second has none where nothing is its. */
static void two_devices_bring_their_halves(void **state) {
  (void)state;
  check_all(2);
  for (int s = 0; s < SHARED; s++) {
    assert_non_null(made[1][s]);
    assert_int_equal(streams[(intptr_t)made[1][s] - 1].context, 2);
  }
  const int alive = n_alive;
  check_all(1);
  assert_int_equal(n_alive, alive);
}

static void a_traced_run_says_when(void **state) {
  (void)state;
  for (int n_devices = 1; n_devices <= DEVICES; n_devices++) {
    sct_host_time times[MOST];
    sct_error err = {0};
    make_on(n_devices, true, THREADS);
    assert_int_equal(run(times, &err), SCT_OK);
    assert_true(is_right());
    for (int k = 0; k < work.n; k++) {
      assert_true(times[k].end_ns >= times[k].begin_ns && times[k].begin_ns >= 0);
      /* by the driver's ticks; both clocks are the host's, less than a second apart */
      assert_true(work.steps[k].thread >= 0 || times[k].end_ns > times[k].begin_ns);
    }
  }
}

/* One wait after the other is forgotten: each of them is needed. */
static void no_wait_is_idle(void **state) {
  (void)state;
  sct_error err = {0};
  int n_waits = 0;
  make(true, 1);
  for (int k = 0; k < work.n; k++) {
    const sct_host_op_kind kind = work.steps[k].kind;
    const bool waits = work.steps[k].after >= 0 && kind == SCT_HOST_OP_FROM_RING;
    make(true, 1);
    work.steps[k].after = waits ? -1 : work.steps[k].after;
    assert_int_equal(run(NULL, &err), SCT_OK);
    assert_int_equal(is_right(), !waits);
    n_waits += waits;
  }
  assert_int_equal(n_waits, (N + CHUNK - 1) / CHUNK);
}

/* Each slot's first kernel waits for the table. */
static void all_wait_for_what_all_need(void **state) {
  (void)state;
  sct_error err = {0};
  int n_tables = 0;
  make(false, THREADS);
  for (int k = 1; k < work.n; k++) {
    n_tables += work.steps[k].after == 0;
    work.steps[k].after = -1;
  }
  assert_int_equal(n_tables, SLOTS);
  work.steps[0].stream = SLOTS; /* waited for last */
  assert_int_equal(run(NULL, &err), SCT_OK);
  assert_false(is_right());
}

static void threads_wait_for_one_another(void **state) {
  (void)state;
  for (int waits = 0; waits < 2; waits++) {
    sct_error err = {0};
    make_chain(waits != 0);
    assert_int_equal(run(NULL, &err), SCT_OK);
    assert_int_equal(work.out[LINKS] == 7 * LINKS, waits);
  }
}

static void what_fails_is_reported_and_leaves_nothing(void **state) {
  (void)state;
  int n_failures = 0;
  sct_host_time times[MOST];
  const int alive = n_alive;
  for (int at = 1; at < 2000; at += 7) {
    sct_error err = {0};
    if (at % 3 > 0) {
      make_on(1 + at % DEVICES, true, THREADS);
    } else {
      make_chain(true);
    }
    calls = 0;
    fail_at = at;
    const sct_status status = run(times, &err);
    n_failures += status != SCT_OK;
    assert_true(status == SCT_OK || strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_true(status == SCT_OK || sct_cuda_last(devices[0].cuda) == 700 ||
                sct_cuda_last(devices[1].cuda) == 700);
    fail_at = 0;
    assert_true(n_alive <= alive + DEVICES * SLOTS + 1); /* streams stay, events do not */
  }
  assert_true(n_failures > 20);
}

#define ONCE "--once" /* this program, in a process of its own */

static int run_once(void) {
  sct_error err = {0};
  (void)set_up(NULL);
  for (int n_devices = 1; n_devices <= DEVICES; n_devices++) {
    make_on(n_devices, true, THREADS);
    if (run(NULL, &err) != SCT_OK || !is_right()) {
      return 1;
    }
  }
  make_chain(true);
  return run(NULL, &err) != SCT_OK || work.out[LINKS] != 7 * LINKS;
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
      cmocka_unit_test_setup_teardown(no_wait_is_idle, set_up, tear_down),
      cmocka_unit_test_setup_teardown(all_wait_for_what_all_need, set_up, tear_down),
      cmocka_unit_test_setup_teardown(threads_wait_for_one_another, set_up, tear_down),
      cmocka_unit_test(without_threads_it_comes_back_too),
      cmocka_unit_test_setup_teardown(what_fails_is_reported_and_leaves_nothing, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
