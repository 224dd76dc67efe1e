/* A list of copies and kernels on a GPU: threads of the host queue their operations on streams, as
 * NAME_host does, and events say what waits for what and, in a traced run, when each began and
 * ended. Streams stay; events are made before the clock starts. */
#include "worker_backend.h"

typedef struct gpu_run {
  sct_cuda *cuda;
  const sct_host_step *steps;
  int n, n_streams, n_threads;
  sct_host_time *times; /* NULL: not traced */
  void **streams;
  void **begin, **end; /* [n] events; NULL where nobody asks */
  void *base;          /* an event at the time 0 of a traced run */
  int64_t start_ns;
} gpu_run;

typedef struct gpu_thread {
  gpu_run *run;
  sct_cuda *view;
  int which;
  pthread_t thread;
  bool started;
  sct_status status;
  sct_error err;
} gpu_thread;

static bool is_on_host(const sct_host_step *s) {
  return s->kind == SCT_HOST_OP_TO_RING || s->kind == SCT_HOST_OP_FROM_RING;
}

/* ---- one operation ---- */

static sct_status queue_step(sct_cuda *cuda, const sct_host_step *s, sct_error *err) {
  uint8_t *const host = s->ring ? s->ring : s->array;
  if (s->kind == SCT_HOST_OP_KERNEL) {
    return sct_gpu_launch(cuda, s->kernel, s->launch, err);
  }
  if (s->kind == SCT_HOST_OP_STAGE_IN || s->kind == SCT_HOST_OP_STAGE_OUT) {
    const bool in = s->kind == SCT_HOST_OP_STAGE_IN;
    return sct_cuda_copy(cuda, in ? s->device : s->other, in ? s->other : s->device, s->bytes, err);
  }
  return s->bytes == 0               ? SCT_OK
         : s->kind == SCT_HOST_OP_IN ? sct_cuda_copy_in(cuda, s->device, host, s->bytes, err)
                                     : sct_cuda_copy_out(cuda, host, s->device, s->bytes, err);
}

static sct_status copy_on_host(gpu_run *r, sct_cuda *cuda, int k, sct_error *err) {
  const sct_host_step *s = &r->steps[k];
  if (s->after >= 0 && r->end[s->after]) {
    SCT_TRY(sct_cuda_event_sync(cuda, r->end[s->after], err));
  }
  const int64_t begin = sct_now_ns();
  sct_host_step_copy(s);
  if (r->times) {
    r->times[k] =
        (sct_host_time){(double)(begin - r->start_ns), (double)(sct_now_ns() - r->start_ns)};
  }
  return SCT_OK;
}

static sct_status do_step(gpu_run *r, sct_cuda *cuda, int k, sct_error *err) {
  const sct_host_step *s = &r->steps[k];
  if (is_on_host(s)) {
    return copy_on_host(r, cuda, k, err);
  }
  sct_cuda_set_stream(cuda, r->streams[s->stream]);
  if (s->after >= 0 && r->end[s->after]) {
    SCT_TRY(sct_cuda_event_wait(cuda, r->end[s->after], err));
  }
  if (r->begin[k]) {
    SCT_TRY(sct_cuda_event_record(cuda, r->begin[k], err));
  }
  SCT_TRY(queue_step(cuda, s, err));
  return r->end[k] ? sct_cuda_event_record(cuda, r->end[k], err) : SCT_OK;
}

/* Those of one thread; -1: before the threads. */
static sct_status do_steps(gpu_run *r, sct_cuda *cuda, int thread, sct_error *err) {
  sct_status status = SCT_OK;
  for (int k = 0; k < r->n && status == SCT_OK; k++) {
    status = r->steps[k].thread == thread ? do_step(r, cuda, k, err) : SCT_OK;
  }
  return status;
}

/* ---- threads ---- */

static void *run_thread(void *of) {
  gpu_thread *t = of;
  t->status = sct_cuda_enter(t->view, &t->err);
  if (t->status == SCT_OK) {
    t->status = do_steps(t->run, t->view, t->which, &t->err);
  }
  return NULL;
}

/* All operations, and all streams at their ends; what fails first is reported. */
static sct_status run_all(gpu_run *r, gpu_thread *threads, sct_error *err) {
  sct_status status = do_steps(r, r->cuda, -1, err);
  for (int t = 1; t < r->n_threads && status == SCT_OK; t++) {
    threads[t] = (gpu_thread){.run = r, .which = t, .view = sct_cuda_share(r->cuda)};
    threads[t].started = sct_thread_create(&threads[t].thread, NULL, run_thread, &threads[t]) == 0;
  }
  SCT_THEN(do_steps(r, r->cuda, 0, err));
  for (int t = 1; t < r->n_threads; t++) {
    if (threads[t].started) {
      pthread_join(threads[t].thread, NULL);
      if (threads[t].status != SCT_OK && status == SCT_OK) {
        status = sct_fail(err, threads[t].status, "%s", threads[t].err.text);
      }
    } else { /* no further thread: this one does what is left */
      SCT_THEN(do_steps(r, r->cuda, t, err));
    }
    sct_cuda_unshare(threads[t].view, r->cuda);
  }
  for (int s = 0; s < r->n_streams; s++) {
    if (r->streams[s]) {
      sct_cuda_set_stream(r->cuda, r->streams[s]);
      const sct_status synced = sct_cuda_sync(r->cuda, status == SCT_OK ? err : NULL);
      status = status == SCT_OK ? synced : status;
    }
  }
  sct_cuda_set_stream(r->cuda, NULL);
  return status;
}

/* ---- streams and events ---- */

static sct_status open_events(gpu_run *r, sct_error *err) {
  const bool timed = r->times != NULL;
  for (int k = 0; k < r->n; k++) {
    const int after = r->steps[k].after;
    if (after >= 0 && !is_on_host(&r->steps[after]) && !r->end[after]) {
      SCT_TRY(sct_cuda_event_open(r->cuda, &r->end[after], timed, err));
    }
  }
  for (int k = 0; k < r->n && timed; k++) {
    if (!is_on_host(&r->steps[k])) {
      SCT_TRY(sct_cuda_event_open(r->cuda, &r->begin[k], true, err));
      SCT_TRY(r->end[k] ? SCT_OK : sct_cuda_event_open(r->cuda, &r->end[k], true, err));
    }
  }
  return timed ? sct_cuda_event_open(r->cuda, &r->base, true, err) : SCT_OK;
}

static sct_status open_run(gpu_run *r, sct_error *err) {
  for (int k = 0; k < r->n; k++) {
    const int stream = r->steps[k].stream, thread = r->steps[k].thread;
    r->n_streams = stream >= r->n_streams ? stream + 1 : r->n_streams;
    r->n_threads = thread >= r->n_threads ? thread + 1 : r->n_threads;
  }
  r->begin = sct_alloc(sizeof *r->begin * (size_t)(r->n + 1));
  r->end = sct_alloc(sizeof *r->end * (size_t)(r->n + 1));
  for (int k = 0; k < r->n; k++) {
    void **const stream = &r->streams[r->steps[k].stream];
    if (!*stream) {
      SCT_TRY(sct_cuda_stream_open(r->cuda, stream, err));
    }
  }
  return open_events(r, err);
}

static void close_run(gpu_run *r) {
  for (int k = 0; k < r->n && r->begin && r->end; k++) {
    sct_cuda_event_close(r->cuda, r->begin[k]);
    sct_cuda_event_close(r->cuda, r->end[k]);
  }
  sct_cuda_event_close(r->cuda, r->base);
  sct_free(r->begin);
  sct_free(r->end);
}

/* Host and device have one time 0: the base event's. */
static sct_status start_clock(gpu_run *r, sct_error *err) {
  if (r->times) {
    SCT_TRY(sct_cuda_event_record(r->cuda, r->base, err));
    SCT_TRY(sct_cuda_sync(r->cuda, err));
  }
  r->start_ns = sct_now_ns();
  return SCT_OK;
}

static sct_status read_events(gpu_run *r, sct_error *err) {
  for (int k = 0; k < r->n && r->times; k++) {
    if (!is_on_host(&r->steps[k])) {
      SCT_TRY(sct_cuda_event_elapsed(r->cuda, &r->times[k].begin_ns, r->base, r->begin[k], err));
      SCT_TRY(sct_cuda_event_elapsed(r->cuda, &r->times[k].end_ns, r->base, r->end[k], err));
    }
  }
  return SCT_OK;
}

sct_status sct_gpu_run_steps(sct_cuda *cuda, void **streams, const sct_host_step *steps, int n,
                             sct_host_time *times, double *ns, sct_error *err) {
  gpu_run r = {
      .cuda = cuda, .steps = steps, .n = n, .n_threads = 1, .times = times, .streams = streams};
  gpu_thread threads[SCT_MAX_HOST_THREADS] = {{0}};
  sct_status status = open_run(&r, err);
  SCT_THEN(start_clock(&r, err));
  SCT_THEN(run_all(&r, threads, err));
  *ns = (double)(sct_now_ns() - r.start_ns);
  SCT_THEN(read_events(&r, err));
  close_run(&r);
  return status;
}
