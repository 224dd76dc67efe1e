/* The host's code on devices: on a GPU its streams, events and threads are the driver's, else each
 * call is done before it returns, and one thread has the chunks of all. Of two GPUs each has
 * threads of its own, one of which starts the others, as if two called NAME_host. */
#include "worker_state.h"

#include <string.h>

static sct_job_side *of(sct_host_side *s) {
  return (sct_job_side *)(void *)s;
}

static sct_cuda_ptr address(const void *p) {
  return (sct_cuda_ptr)(uintptr_t)p;
}

/* The result of a call; what fails first is what the run reports. */
static int result(sct_job_side *s, sct_status status, const sct_error *err) {
  sct_host_job *job = s->part->job;
  if (status != SCT_OK) {
    pthread_mutex_lock(&job->lock);
    if (job->status == SCT_OK) {
      job->status = status;
      job->err = *err;
    }
    pthread_mutex_unlock(&job->lock);
  }
  return (int)status;
}

/* ---- traces ---- */

static int stream_number(const sct_host_part *p, const void *stream) {
  int k = 0;
  while (k < p->n_streams && p->streams[k] != stream) {
    k++;
  }
  return k < p->n_streams ? k : 0;
}

/* Else it is timed by the host's clock. */
static bool has_events(const sct_job_side *s, const sct_host_traced *t) {
  return s->cuda && t->step.engine != SCT_ENGINE_HOST;
}

/* Before an operation, whose stream is the current one; *out is NULL where nobody asks. */
static sct_status begin_step(sct_job_side *s, sct_host_traced **out, const sct_host_work *work,
                             sct_error *err) {
  sct_host_part *p = s->part;
  if (s->cuda) {
    sct_cuda_set_stream(s->cuda, work->stream);
  }
  if (!p->job->traces) {
    return SCT_OK;
  }
  const int64_t k = p->n_traced++;
  if (k >= p->job->in->most_steps[p->device]) {
    return sct_worker_malformed(err);
  }
  *out = &p->traced[k];
  (*out)->step = (sct_pipe_step){.engine = sct_host_engine(work->kind),
                                 .device = p->device,
                                 .thread = s->thread,
                                 .stream = stream_number(p, work->stream),
                                 .begin_ns = (double)(sct_now_ns() - p->job->start_ns)};
  return has_events(s, *out) ? sct_cuda_event_record(s->cuda, (*out)->begin, err) : SCT_OK;
}

static sct_status end_step(sct_job_side *s, sct_host_traced *t, sct_error *err) {
  if (!t) {
    return SCT_OK;
  }
  t->step.end_ns = (double)(sct_now_ns() - s->part->job->start_ns);
  return has_events(s, t) ? sct_cuda_event_record(s->cuda, t->end, err) : SCT_OK;
}

/* ---- memory, streams and events ---- */

/* What stands for streams and events where there are none is the part. */
static sct_status open_thing(sct_job_side *s, sct_host_thing thing, void **out, int64_t bytes,
                             sct_error *err) {
  sct_host_part *p = s->part;
  sct_worker_state *w = p->job->w;
  const sct_ask_alloc room = {.bytes = bytes, .copies = 1, .device = p->device};
  sct_a_buffer made = {0};
  void *opened = p;
  switch (thing) {
  case SCT_HOST_MEMORY:
    SCT_TRY(sct_worker_alloc(w, &room, &made, err));
    *out = sct_host(sct_worker_data(&w->buffers[made.buffer]));
    SCT_TRY(sct_worker_set(w, &(sct_ask_set){made.buffer, p->job->in->poison}, err));
    return p->backend->ops->sync(p->backend, err); /* what sets a workspace is on another stream */
  case SCT_HOST_RING:
    SCT_TRY(sct_worker_open_block(w, &p->rings[p->n_rings], SCT_HOST_LOCKED, bytes, err));
    *out = memset(p->rings[p->n_rings++].host, p->job->in->poison, (size_t)bytes);
    return SCT_OK;
  case SCT_HOST_STREAM:
    SCT_TRY(s->cuda ? sct_cuda_stream_open(s->cuda, &opened, err) : SCT_OK);
    *out = p->streams[p->n_streams++] = opened;
    return SCT_OK;
  default:
    SCT_TRY(s->cuda ? sct_cuda_event_open(s->cuda, &opened, false, err) : SCT_OK);
    *out = opened;
    return SCT_OK;
  }
}

static int side_open(sct_host_side *side, sct_host_thing thing, void **out, int64_t bytes) {
  sct_error err = {0};
  return result(of(side), open_thing(of(side), thing, out, bytes, &err), &err);
}

/* The buffer that an address lies in; NULL: none. */
static const sct_worker_buffer *find_buffer(const sct_host_part *p, const void *at) {
  const sct_worker_state *w = p->job->w;
  for (size_t k = 0; k < w->n_buffers; k++) {
    const sct_worker_buffer *b = &w->buffers[k];
    if (b->raw != 0 && b->device == p->device && address(at) >= sct_worker_data(b) &&
        address(at) <= sct_worker_data(b) + (uint64_t)b->bytes) {
      return b;
    }
  }
  return NULL;
}

static void side_close(sct_host_side *side, sct_host_thing thing, void *at) {
  sct_job_side *s = of(side);
  sct_host_part *p = s->part;
  sct_worker_state *w = p->job->w;
  if (thing == SCT_HOST_MEMORY) {
    const int64_t id = find_buffer(p, at) - w->buffers;
    (void)sct_worker_free(w, &(sct_ask_free){&id, 1}, NULL);
  } else if (thing == SCT_HOST_STREAM && s->cuda) {
    sct_cuda_set_stream(s->cuda, NULL); /* what comes next has one that is there */
    sct_cuda_stream_close(s->cuda, at);
  } else if (thing == SCT_HOST_EVENT && s->cuda) {
    sct_cuda_event_close(s->cuda, at);
  }
  for (int k = 0; k < p->n_rings && thing == SCT_HOST_RING; k++) {
    if (p->rings[k].host == at) {
      w->backend->ops->block_close(w->backend, NULL, &p->rings[k]);
    }
  }
}

static int side_order(sct_host_side *side, sct_host_order order, void *event, void *stream) {
  sct_job_side *s = of(side);
  sct_error err = {0};
  if (!s->cuda) {
    return 0;
  }
  sct_cuda_set_stream(s->cuda, stream);
  return result(s,
                order == SCT_HOST_RECORD ? sct_cuda_event_record(s->cuda, event, &err)
                : order == SCT_HOST_WAIT ? sct_cuda_event_wait(s->cuda, event, &err)
                : event                  ? sct_cuda_event_sync(s->cuda, event, &err)
                                         : sct_cuda_sync(s->cuda, &err),
                &err);
}

/* ---- operations ---- */

/* May the kernel have these parts of the device's arrays? */
static bool is_aligned(const sct_host_part *p, const sct_host_launch *l, void *const *arrays) {
  bool aligned = true;
  for (int k = 0; k < l->n_align; k++) {
    const uint64_t at = address(arrays[k]) - address(p->arrays[k]);
    aligned =
        aligned && (!p->kernel.is_direct[k] || l->align[k] <= 1 || at % (uint64_t)l->align[k] == 0);
  }
  return aligned;
}

/* What the interpreter must know of an array's part. */
static void set_arg(const sct_host_part *p, sct_arg *arg, int64_t array, const void *at) {
  const sct_worker_buffer *b = find_buffer(p, at);
  arg->value[0] = address(at);
  if (b) {
    const int64_t offset = (int64_t)(address(at) - sct_worker_data(b));
    arg->buffer_bytes = b->bytes - offset;
    arg->residue = b->residue + offset;
    arg->read_only = b->sealed;
    arg->name = b->name;
  } else { /* mapped */
    arg->buffer_bytes = p->job->in->arrays[array].bytes;
  }
}

/* The launch of a chunk, with its arrays. */
static sct_status set_launch(const sct_host_part *p, const sct_host_work *work, sct_launch *launch,
                             sct_error *err) {
  const sct_ask_host *in = p->job->in;
  int k = 0;
  while (k < in->n_launches &&
         (in->launches[k].device != p->device || in->launches[k].extent != work->amount ||
          !is_aligned(p, &in->launches[k], work->arrays))) {
    k++;
  }
  if (k == in->n_launches) {
    return sct_worker_malformed(err);
  }
  *launch = p->job->launches[k];
  for (int a = 0; a < launch->n_args; a++) {
    const sct_ask_arg *asked = &in->launches[k].launch.args[a];
    if (asked->kind == SCT_ARG_CHUNK) {
      const bool is_array = asked->number < p->kernel.n_arrays;
      set_arg(p, &launch->args[a], asked->number,
              is_array ? work->arrays[asked->number] : work->workspace);
    }
  }
  return SCT_OK;
}

/* Queued on the current stream, or done. */
static sct_status do_work(const sct_job_side *s, const sct_host_work *work, sct_error *err) {
  sct_cuda *const gpu = s->cuda;
  sct_backend *const b = s->part->backend;
  const sct_cuda_ptr to = address(work->to), from = address(work->from);
  const int64_t n = work->amount;
  const uint8_t byte = (uint8_t)work->byte;
  sct_launch launch;
  switch (work->kind) {
  case SCT_HOST_IN:
    return gpu ? sct_cuda_copy_in(gpu, to, work->from, n, err)
               : b->ops->upload(b, to, work->from, n, err);
  case SCT_HOST_OUT:
    return gpu ? sct_cuda_copy_out(gpu, work->to, from, n, err)
               : b->ops->download(b, work->to, from, n, err);
  case SCT_HOST_STAGE:
    SCT_TRY(gpu ? sct_cuda_copy(gpu, to, from, n, err) : b->ops->copy(b, 0, to, from, n, err));
    break;
  case SCT_HOST_SET:
    SCT_TRY(gpu ? sct_cuda_set(gpu, to, byte, n, err) : b->ops->set(b, to, byte, n, err));
    break;
  case SCT_HOST_KERNEL:
    SCT_TRY(set_launch(s->part, work, &launch, err));
    const sct_cuda_kernel *kernel = &s->part->job->w->kernels[launch.kernel].loaded;
    SCT_TRY(gpu ? sct_gpu_launch(gpu, kernel, &launch, err)
                : b->ops->launch(b, kernel, &launch, err));
    break;
  default:
    sct_host_copy(work->to, work->from, n, work->kind == SCT_HOST_FROM_RING);
    return SCT_OK;
  }
  return gpu ? SCT_OK : b->ops->sync(b, err);
}

static int side_work(sct_host_side *side, const sct_host_work *work) {
  sct_job_side *s = of(side);
  sct_host_traced *t = NULL;
  sct_error err = {0};
  sct_status status = begin_step(s, &t, work, &err);
  SCT_THEN(do_work(s, work, &err));
  SCT_THEN(end_step(s, t, &err));
  return result(s, status, &err);
}

/* ---- threads ---- */

typedef struct gpu_thread {
  sct_job_side own;
  sct_host_call *call; /* NULL: all of its device */
  pthread_t thread;
  bool started;
  int error;
} gpu_thread;

static int run_plan(sct_job_side *s) {
  sct_host_enter(&s->side);
  const int error = sct_host_run(s->part->plan, NULL);
  const int synced = side_order(&s->side, SCT_HOST_SYNC, NULL, NULL);
  return error != 0 ? error : synced;
}

static void *run_thread(void *arg) {
  gpu_thread *t = arg;
  sct_error err = {0};
  t->error = result(&t->own, sct_cuda_make_current(t->own.cuda, &err), &err);
  sct_host_enter(&t->own.side);
  if (t->error == 0) {
    t->error = t->call ? sct_host_run_thread(t->call, t->own.thread) : run_plan(&t->own);
  }
  sct_host_enter(NULL);
  return NULL;
}

static bool start(gpu_thread *t, const sct_job_side *s, sct_host_call *call, int thread) {
  *t = (gpu_thread){.own = *s, .call = call};
  t->own.thread = thread;
  t->own.cuda = sct_cuda_share(s->cuda);
  t->started = sct_thread_create(&t->thread, NULL, run_thread, t) == 0;
  return t->started;
}

/* Of one that was started; what failed there is reported. */
static int join(gpu_thread *t, sct_cuda *cuda) {
  if (t->started) {
    pthread_join(t->thread, NULL);
  }
  sct_cuda_unshare(t->own.cuda, cuda);
  return t->error;
}

/* As many as begin; they take all chunks. */
static int run_on_gpu(sct_job_side *s, sct_host_call *call, int n) {
  gpu_thread others[SCT_MAX_HOST_THREADS];
  int begun = 1;
  while (begun < n && start(&others[begun], s, call, begun)) {
    begun++;
  }
  if (begun < n) {
    sct_cuda_unshare(others[begun].own.cuda, s->cuda);
  }
  int error = sct_host_run_thread(call, 0);
  for (int k = 1; k < begun; k++) {
    const int other = join(&others[k], s->cuda);
    error = error != 0 ? error : other;
  }
  return error;
}

static int next_in_turn(sct_host_side *side, const bool *active, int n) {
  sct_job_side *s = of(side);
  do {
    s->thread = (s->thread + 1) % n;
  } while (!active[s->thread]);
  return s->thread;
}

static int side_run_threads(sct_host_side *side, sct_host_call *call, int n) {
  sct_job_side *s = of(side);
  s->part->n_threads = n;
  if (s->cuda) {
    return run_on_gpu(s, call, n);
  }
  s->thread = n - 1;
  const int error = sct_host_run_in_turn(call, n, next_in_turn);
  s->thread = 0;
  return error;
}

static const sct_host_calls calls = {side_open, side_close, side_order, side_work,
                                     side_run_threads};

/* ---- runs ---- */

static sct_status report(sct_host_job *job, int error, sct_error *err) {
  return error == 0 ? SCT_OK
         : job->status != SCT_OK
             ? sct_fail(err, job->status, "%s", job->err.text)
             : sct_fail(err, SCT_EINTERNAL, "the host's code ends with %d", error);
}

static sct_status open_part(sct_host_job *job, int d, sct_error *err) {
  sct_host_part *p = &job->parts[d];
  if (p->kernel.begin == p->kernel.end) {
    return SCT_OK;
  }
  p->backend = sct_worker_device(job->w, d);
  p->main =
      (sct_job_side){.side = {&calls, &p->kernel, p->arrays, NULL},
                     .part = p,
                     .cuda = p->backend->ops->cuda ? p->backend->ops->cuda(p->backend) : NULL};
  SCT_TRY(sct_worker_enter(job->w, d, err));
  sct_host_enter(&p->main.side);
  return report(job, sct_host_plan_new(&p->plan, &job->in->options[d]), err);
}

sct_status sct_host_job_open(sct_host_job *job, sct_error *err) {
  sct_status status = SCT_OK;
  pthread_mutex_init(&job->lock, NULL);
  for (int d = 0; d < job->in->n_kernels; d++) {
    SCT_THEN(open_part(job, d, err));
  }
  const sct_status back = sct_worker_enter(job->w, 0, status == SCT_OK ? err : NULL);
  return status == SCT_OK ? back : status;
}

void sct_host_job_close(sct_host_job *job) {
  for (int d = SCT_MAX_DEVICES - 1; d >= 0; d--) {
    sct_host_part *p = &job->parts[d];
    if (p->plan) {
      (void)sct_worker_enter(job->w, d, NULL);
      sct_host_enter(&p->main.side);
      sct_host_plan_free(p->plan);
    }
  }
  sct_host_enter(NULL);
  (void)sct_worker_enter(job->w, 0, NULL);
  pthread_mutex_destroy(&job->lock);
}

/* The second device's part has a thread of its own, or goes after the first one's. */
static int run_parts(sct_host_job *job) {
  sct_host_part *first = &job->parts[0], *second = &job->parts[1];
  gpu_thread lead = {0};
  int error = 0, other = 0;
  const bool started = second->plan && second->main.cuda && start(&lead, &second->main, NULL, 0);
  error = first->plan ? run_plan(&first->main) : 0;
  if (second->plan && !started) {
    sct_error err = {0};
    other = result(&second->main, sct_worker_enter(job->w, 1, &err), &err);
    other = other == 0 ? run_plan(&second->main) : other;
    (void)sct_worker_enter(job->w, 0, NULL);
  }
  if (lead.own.cuda) {
    other = other + join(&lead, second->main.cuda);
  }
  sct_host_enter(NULL);
  return error != 0 ? error : other;
}

sct_status sct_host_job_run(sct_host_job *job, double *ns, sct_error *err) {
  job->start_ns = sct_now_ns();
  const int error = run_parts(job);
  *ns = (double)(sct_now_ns() - job->start_ns);
  return report(job, error, err);
}

/* Events, before the clock starts. Host and devices have one time 0: base events say how far their
 * clocks are apart. */
static sct_status open_events(sct_host_part *p, sct_error *err) {
  const int64_t n = p->job->in->most_steps[p->device];
  sct_cuda *cuda = p->main.cuda;
  p->traced = SCT_ARENA_NEW(&p->job->w->memory, sct_host_traced, n + 1);
  if (!p->plan || !cuda) {
    return SCT_OK;
  }
  SCT_TRY(sct_worker_enter(p->job->w, p->device, err));
  for (int64_t k = 0; k < n; k++) {
    SCT_TRY(sct_cuda_event_open(cuda, &p->traced[k].begin, true, err));
    SCT_TRY(sct_cuda_event_open(cuda, &p->traced[k].end, true, err));
  }
  sct_cuda_set_stream(cuda, NULL);
  SCT_TRY(sct_cuda_event_open(cuda, &p->base, true, err));
  SCT_TRY(sct_cuda_event_record(cuda, p->base, err));
  SCT_TRY(sct_cuda_sync(cuda, err));
  p->base_ns = sct_now_ns();
  return SCT_OK;
}

static void close_events(sct_host_part *p) {
  for (int64_t k = 0; p->traced && k < p->job->in->most_steps[p->device]; k++) {
    sct_cuda_event_close(p->main.cuda, p->traced[k].begin);
    sct_cuda_event_close(p->main.cuda, p->traced[k].end);
  }
  sct_cuda_event_close(p->main.cuda, p->base);
}

static sct_status read_event(const sct_host_part *p, void *event, double *ns, sct_error *err) {
  SCT_TRY(sct_cuda_event_elapsed(p->main.cuda, ns, p->base, event, err));
  *ns += (double)(p->base_ns - p->job->start_ns);
  *ns = *ns > 0 ? *ns : 0;
  return SCT_OK;
}

static sct_status read_steps(const sct_host_part *p, sct_pipe_step *out, sct_error *err) {
  for (int64_t k = 0; k < p->n_traced; k++) {
    const sct_host_traced *t = &p->traced[k];
    out[k] = t->step;
    out[k].thread += p->device > 0 ? p->job->parts[0].n_threads : 0;
    if (has_events(&p->main, t)) {
      SCT_TRY(read_event(p, t->begin, &out[k].begin_ns, err));
      SCT_TRY(read_event(p, t->end, &out[k].end_ns, err));
    }
  }
  return SCT_OK;
}

static sct_status trace(sct_host_job *job, sct_got_host *out, sct_error *err) {
  double ns = 0;
  int64_t n = 0;
  for (int d = (int)job->in->n_kernels - 1; d >= 0; d--) {
    SCT_TRY(open_events(&job->parts[d], err));
  }
  job->traces = true;
  SCT_TRY(sct_host_job_run(job, &ns, err));
  for (int d = 0; d < job->in->n_kernels; d++) {
    n += job->parts[d].n_traced;
  }
  sct_pipe_step *steps = SCT_ARENA_NEW(&job->w->memory, sct_pipe_step, n + 1);
  out->steps = steps;
  for (int d = 0; d < job->in->n_kernels; d++) {
    SCT_TRY(read_steps(&job->parts[d], steps + out->n_steps, err));
    out->n_steps += job->parts[d].n_traced;
  }
  return SCT_OK;
}

sct_status sct_host_job_trace(sct_host_job *job, sct_got_host *out, sct_error *err) {
  const sct_status status = trace(job, out, err);
  for (int d = 0; d < job->in->n_kernels; d++) {
    close_events(&job->parts[d]);
  }
  return status;
}
