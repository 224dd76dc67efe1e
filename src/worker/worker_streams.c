/* A list of copies and kernels on one or two GPUs: threads of the host queue their operations on
 * streams, as NAME_host does, and events say what waits for what and, in a traced run, when each
 * began and ended. Streams stay; events are made before the clock starts. Of two GPUs each has
 * threads of its own, one of which starts the others, as if two called NAME_host. */
#include "worker_backend.h"

#include <sched.h>
#include <stdatomic.h>

typedef struct gpu_run gpu_run;
typedef struct gpu_part gpu_part;

typedef struct gpu_thread {
  gpu_part *part;
  sct_cuda *view;
  int which; /* of the steps' threads; of those that begin a part it is not asked */
  pthread_t thread;
  bool started;
  sct_status status;
  sct_error err;
} gpu_thread;

/* What is one device's: its steps, streams, and threads [first, end). */
struct gpu_part {
  gpu_run *run;
  sct_cuda *cuda;
  void **streams;
  int device, n_steps, n_streams, first, end;
  gpu_thread threads[SCT_MAX_HOST_THREADS], lead;
  atomic_bool failed; /* in one of its threads */
  void *base;         /* an event of a traced run, and ... */
  int64_t base_ns;    /* ... when it was, by the host's clock */
};

struct gpu_run {
  const sct_host_step *steps;
  int n;
  sct_host_time *times; /* NULL: not traced */
  void **begin, **end;  /* [n] events; NULL where times are not wanted */
  atomic_bool *queued;  /* [n] */
  int64_t start_ns;
  gpu_part *parts; /* [SCT_MAX_DEVICES] */
};

static bool is_on_host(const sct_host_step *s) {
  return s->kind == SCT_HOST_OP_TO_RING || s->kind == SCT_HOST_OP_FROM_RING;
}

/* ---- one operation ---- */

static sct_status queue_step(sct_cuda *cuda, const sct_host_step *s, sct_error *err) {
  uint8_t *const host = s->ring ? s->ring : s->array;
  if (s->kind == SCT_HOST_OP_KERNEL) {
    return sct_gpu_launch(cuda, s->kernel, s->launch, err);
  }
  if (s->kind == SCT_HOST_OP_SET) {
    return sct_cuda_set(cuda, s->device, s->value, s->bytes, err);
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

static sct_status do_step(gpu_part *p, sct_cuda *cuda, int k, sct_error *err) {
  gpu_run *r = p->run;
  const sct_host_step *s = &r->steps[k];
  if (is_on_host(s)) {
    return copy_on_host(r, cuda, k, err);
  }
  sct_cuda_set_stream(cuda, p->streams[s->stream]);
  if (s->after >= 0 && r->end[s->after]) {
    SCT_TRY(sct_cuda_event_wait(cuda, r->end[s->after], err));
  }
  if (r->begin[k]) {
    SCT_TRY(sct_cuda_event_record(cuda, r->begin[k], err));
  }
  SCT_TRY(queue_step(cuda, s, err));
  return r->end[k] ? sct_cuda_event_record(cuda, r->end[k], err) : SCT_OK;
}

static bool is_of(const gpu_part *p, int k) {
  return p->run->steps[k].on == p->device;
}

/* Whether step k is done by `thread`: its own, and in the first thread also those of threads that
 * could not be started; -1: before the device's threads begin. */
static bool takes(const gpu_part *p, int thread, int k) {
  const int of = p->run->steps[k].thread;
  return is_of(p, k) && (of == thread || (thread >= 0 && thread == p->first && of > thread &&
                                          !p->threads[of].started));
}

/* Until another thread has queued what step k waits for. False: a thread has failed. */
static bool wait_for_other(gpu_part *p, int k) {
  const int after = p->run->steps[k].after;
  while (after >= 0 && p->run->end[after] && !atomic_load(&p->run->queued[after])) {
    if (atomic_load(&p->failed)) {
      return false;
    }
    sched_yield();
  }
  return true;
}

/* What fails is reported by the thread that it happens to; the others of the device stop. */
static sct_status do_steps(gpu_part *p, sct_cuda *cuda, int thread, sct_error *err) {
  for (int k = 0; k < p->run->n; k++) {
    if (!takes(p, thread, k)) {
      continue;
    }
    if (!wait_for_other(p, k)) {
      return SCT_OK;
    }
    const sct_status status = do_step(p, cuda, k, err);
    if (status != SCT_OK) {
      atomic_store(&p->failed, true);
      return status;
    }
    atomic_store(&p->run->queued[k], true);
  }
  return SCT_OK;
}

/* ---- threads ---- */

static void start(gpu_thread *t, gpu_part *p, int which, void *(*run)(void *)) {
  *t = (gpu_thread){.part = p, .which = which, .view = sct_cuda_share(p->cuda)};
  t->started = sct_thread_create(&t->thread, NULL, run, t) == 0;
}

/* Waits for one that was started; what fails first is reported. */
static sct_status join(gpu_thread *t, sct_status status, sct_error *err) {
  pthread_join(t->thread, NULL);
  return status == SCT_OK && t->status != SCT_OK ? sct_fail(err, t->status, "%s", t->err.text)
                                                 : status;
}

static void *run_thread(void *of) {
  gpu_thread *t = of;
  t->status = sct_cuda_make_current(t->view, &t->err);
  if (t->status == SCT_OK) {
    t->status = do_steps(t->part, t->view, t->which, &t->err);
  }
  if (t->status != SCT_OK) {
    atomic_store(&t->part->failed, true);
  }
  return NULL;
}

/* All operations of a device, and all its streams at their ends. */
static sct_status run_part(gpu_part *p, sct_cuda *cuda, sct_error *err) {
  sct_status status = do_steps(p, cuda, -1, err);
  for (int t = p->first + 1; t < p->end && status == SCT_OK; t++) {
    start(&p->threads[t], p, t, run_thread);
  }
  SCT_THEN(do_steps(p, cuda, p->first, err));
  for (int t = p->first + 1; t < p->end; t++) {
    status = p->threads[t].started ? join(&p->threads[t], status, err) : status;
    sct_cuda_unshare(p->threads[t].view, cuda);
  }
  for (int s = 0; s < p->n_streams; s++) {
    if (p->streams[s]) {
      sct_cuda_set_stream(cuda, p->streams[s]);
      const sct_status synced = sct_cuda_sync(cuda, status == SCT_OK ? err : NULL);
      status = status == SCT_OK ? synced : status;
    }
  }
  sct_cuda_set_stream(cuda, NULL);
  return status;
}

static void *run_lead(void *of) {
  gpu_thread *t = of;
  t->status = sct_cuda_make_current(t->view, &t->err);
  if (t->status == SCT_OK) {
    t->status = run_part(t->part, t->view, &t->err);
  }
  return NULL;
}

static sct_status run_all(gpu_run *r, sct_error *err) {
  gpu_part *first = &r->parts[0], *second = &r->parts[1];
  if (second->n_steps > 0) {
    start(&second->lead, second, -1, run_lead);
  }
  sct_status status = run_part(first, first->cuda, err);
  if (second->lead.started) {
    status = join(&second->lead, status, err);
  } else if (second->n_steps > 0) { /* no further thread: one device after the other */
    SCT_THEN(sct_cuda_make_current(second->cuda, err));
    SCT_THEN(run_part(second, second->cuda, err));
    const sct_status back = sct_cuda_make_current(first->cuda, status == SCT_OK ? err : NULL);
    status = status == SCT_OK ? back : status;
  }
  sct_cuda_unshare(second->lead.view, first->cuda);
  return status;
}

/* ---- streams and events ---- */

static sct_status open_events(gpu_part *p, sct_error *err) {
  gpu_run *r = p->run;
  const bool timed = r->times != NULL;
  for (int k = 0; k < r->n; k++) {
    const int after = r->steps[k].after;
    if (is_of(p, k) && after >= 0 && !is_on_host(&r->steps[after]) && !r->end[after]) {
      SCT_TRY(sct_cuda_event_open(p->cuda, &r->end[after], timed, err));
    }
  }
  for (int k = 0; k < r->n && timed; k++) {
    if (is_of(p, k) && !is_on_host(&r->steps[k])) {
      SCT_TRY(sct_cuda_event_open(p->cuda, &r->begin[k], true, err));
      SCT_TRY(r->end[k] ? SCT_OK : sct_cuda_event_open(p->cuda, &r->end[k], true, err));
    }
  }
  return timed ? sct_cuda_event_open(p->cuda, &p->base, true, err) : SCT_OK;
}

/* Which threads and streams a device has; the streams are made that are not there. */
static sct_status open_part(gpu_part *p, sct_error *err) {
  const gpu_run *r = p->run;
  p->first = SCT_MAX_HOST_THREADS;
  for (int k = 0; k < r->n; k++) {
    const int stream = r->steps[k].stream, thread = r->steps[k].thread;
    if (is_of(p, k)) {
      p->n_steps++;
      p->n_streams = stream >= p->n_streams ? stream + 1 : p->n_streams;
      p->first = thread >= 0 && thread < p->first ? thread : p->first;
      p->end = thread >= p->end ? thread + 1 : p->end;
    }
  }
  if (p->n_steps == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_cuda_make_current(p->cuda, err));
  for (int k = 0; k < r->n; k++) {
    void **const stream = &p->streams[r->steps[k].stream];
    if (is_of(p, k) && !*stream) {
      SCT_TRY(sct_cuda_stream_open(p->cuda, stream, err));
    }
  }
  return open_events(p, err);
}

static void close_part(gpu_part *p) {
  if (p->n_steps == 0) {
    return;
  }
  (void)sct_cuda_make_current(p->cuda, NULL);
  for (int k = 0; k < p->run->n; k++) {
    if (is_of(p, k)) {
      sct_cuda_event_close(p->cuda, p->run->begin[k]);
      sct_cuda_event_close(p->cuda, p->run->end[k]);
    }
  }
  sct_cuda_event_close(p->cuda, p->base);
}

/* Host and devices have one time 0: base events say how far their clocks are apart. */
static sct_status start_clock(gpu_run *r, sct_error *err) {
  for (int d = SCT_MAX_DEVICES - 1; d >= 0; d--) {
    gpu_part *p = &r->parts[d];
    if (p->n_steps > 0) {
      SCT_TRY(sct_cuda_make_current(p->cuda, err));
    }
    if (p->base) {
      SCT_TRY(sct_cuda_event_record(p->cuda, p->base, err));
      SCT_TRY(sct_cuda_sync(p->cuda, err));
      p->base_ns = sct_now_ns();
    }
  }
  r->start_ns = sct_now_ns();
  return SCT_OK;
}

static sct_status read_event(const gpu_part *p, void *event, double *ns, sct_error *err) {
  SCT_TRY(sct_cuda_event_elapsed(p->cuda, ns, p->base, event, err));
  *ns += (double)(p->base_ns - p->run->start_ns);
  *ns = *ns > 0 ? *ns : 0;
  return SCT_OK;
}

static sct_status read_events(gpu_run *r, sct_error *err) {
  for (int k = 0; k < r->n && r->times; k++) {
    if (!is_on_host(&r->steps[k])) {
      const gpu_part *p = &r->parts[r->steps[k].on];
      SCT_TRY(read_event(p, r->begin[k], &r->times[k].begin_ns, err));
      SCT_TRY(read_event(p, r->end[k], &r->times[k].end_ns, err));
    }
  }
  return SCT_OK;
}

sct_status sct_gpu_run_steps(const sct_gpu_device devices[SCT_MAX_DEVICES],
                             const sct_host_step *steps, int n, sct_host_time *times, double *ns,
                             sct_error *err) {
  SCT_OWNED gpu_part *parts = sct_alloc(sizeof *parts * SCT_MAX_DEVICES);
  SCT_OWNED void **begin = sct_alloc(sizeof *begin * (size_t)(n + 1));
  SCT_OWNED void **end = sct_alloc(sizeof *end * (size_t)(n + 1));
  SCT_OWNED atomic_bool *queued = sct_alloc(sizeof *queued * (size_t)(n + 1));
  gpu_run r = {.steps = steps,
               .n = n,
               .times = times,
               .begin = begin,
               .end = end,
               .queued = queued,
               .parts = parts};
  sct_status status = SCT_OK;
  for (int d = 0; d < SCT_MAX_DEVICES; d++) {
    parts[d].run = &r;
    parts[d].cuda = devices[d].cuda;
    parts[d].streams = devices[d].streams;
    parts[d].device = d;
    SCT_THEN(open_part(&parts[d], err));
  }
  SCT_THEN(start_clock(&r, err));
  SCT_THEN(run_all(&r, err));
  *ns = (double)(sct_now_ns() - r.start_ns);
  SCT_THEN(read_events(&r, err));
  for (int d = 0; d < SCT_MAX_DEVICES; d++) {
    close_part(&parts[d]);
  }
  (void)sct_cuda_make_current(devices[0].cuda, NULL);
  return status;
}
