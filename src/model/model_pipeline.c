/* Copies beside kernels: the host's code over clocks, which say when its operations begin and end,
 * given what each takes. The same sums stand for timelines that were measured. */
#include "model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *sct_engine_name(sct_engine engine) {
  static const char *const names[SCT_N_ENGINES] = {"in", "kernel", "out", "host"};
  return names[engine];
}

static double later(double a, double b) {
  return a > b ? a : b;
}

/* ---- the host's code over clocks ---- */

#define MAX_DEVICES 2

/* A stream or an event: when what was queued, or recorded, has ended. */
typedef struct pipe_mark {
  double ns;
  int number; /* of a stream */
} pipe_mark;

/* One device, as the host's code goes on; addresses are only counted. */
typedef struct clocks {
  sct_host_side side;
  sct_timeline *out;
  const sct_pipe_costs *costs;
  int device, thread, first_thread, n_streams;
  double now_ns[SCT_MAX_HOST_THREADS]; /* when a thread gets to its next call */
  double free_ns[SCT_N_ENGINES];
  uintptr_t next_address;
  sct_status status;
  sct_error *err;
} clocks;

#define ARRAY_BYTES ((uintptr_t)1 << 48) /* from one array of the host to the next */
#define DEVICE_BASE ((uintptr_t)1 << 58)
#define RING_BASE   ((uintptr_t)1 << 60)

static clocks *of(sct_host_side *s) {
  return (clocks *)(void *)s;
}

static double *now(clocks *c) {
  return &c->now_ns[c->thread - c->first_thread];
}

static int pipe_open(sct_host_side *s, sct_host_thing thing, void **out, int64_t bytes) {
  clocks *c = of(s);
  if (thing == SCT_HOST_STREAM || thing == SCT_HOST_EVENT) {
    pipe_mark *mark = sct_alloc(sizeof *mark);
    mark->number = thing == SCT_HOST_STREAM ? c->n_streams++ : 0;
    *out = mark;
    return 0;
  }
  *out = (void *)((thing == SCT_HOST_RING ? RING_BASE : DEVICE_BASE) + c->next_address);
  c->next_address += (uintptr_t)bytes;
  return 0;
}

static void pipe_close(sct_host_side *s, sct_host_thing thing, void *p) {
  (void)s;
  if (thing == SCT_HOST_STREAM || thing == SCT_HOST_EVENT) {
    sct_free(p);
  }
}

static int pipe_order(sct_host_side *s, sct_host_order order, void *event, void *stream) {
  double *const host_ns = now(of(s));
  pipe_mark *e = event, *on = stream;
  if (order == SCT_HOST_SYNC) {
    *host_ns = later(*host_ns, e ? e->ns : on->ns);
  } else if (order == SCT_HOST_RECORD) {
    e->ns = later(*host_ns, on->ns);
  } else {
    on->ns = later(on->ns, e->ns);
  }
  return 0;
}

static void note_chunk(sct_timeline *t, int64_t extent) {
  int k = 0;
  while (k < t->n_extents && t->extent[k] != extent) {
    k++;
  }
  assert(k < SCT_MAX_CHUNKS);
  t->extent[k] = extent;
  t->n_extents += k == t->n_extents;
  t->n_chunks++;
}

static int pipe_work(sct_host_side *s, const sct_host_work *work) {
  clocks *c = of(s);
  sct_timeline *t = c->out;
  pipe_mark *on = work->stream;
  double ns = 0;
  const sct_engine engine = sct_host_engine(work->kind);
  if (work->kind == SCT_HOST_KERNEL) {
    note_chunk(t, work->amount);
  }
  if (c->costs && c->status == SCT_OK) {
    c->status = c->costs->ns(c->costs->ctx, &ns, work->kind, work->amount, c->err);
  }
  if (t->n_steps == t->cap_steps) {
    t->cap_steps = t->cap_steps > 0 ? 2 * t->cap_steps : 64;
    t->steps = sct_realloc(t->steps, sizeof *t->steps * (size_t)t->cap_steps);
  }
  const bool on_host = engine == SCT_ENGINE_HOST;
  const double free_ns = on_host ? 0 : later(on->ns, c->free_ns[engine]);
  const double begin_ns = later(*now(c), free_ns), end_ns = begin_ns + ns;
  t->steps[t->n_steps++] =
      (sct_pipe_step){engine, c->device, c->thread, on->number, begin_ns, end_ns};
  const void *host = work->kind == SCT_HOST_IN    ? work->from
                     : work->kind == SCT_HOST_OUT ? work->to
                                                  : NULL;
  const bool blocks = c->costs && c->costs->blocks && host && (uintptr_t)host < RING_BASE;
  if (!on_host) {
    on->ns = c->free_ns[engine] = end_ns;
  }
  *now(c) = on_host || blocks ? end_ns : *now(c);
  return (int)c->status;
}

/* The one that is done first. */
static int first_thread(sct_host_side *s, const bool *active, int n) {
  clocks *c = of(s);
  int first = -1;
  for (int t = 0; t < n; t++) {
    first = active[t] && (first < 0 || c->now_ns[t] < c->now_ns[first]) ? t : first;
  }
  c->thread = c->first_thread + first;
  return first;
}

static int pipe_run_threads(sct_host_side *s, sct_host_call *call, int n) {
  clocks *c = of(s);
  c->out->chunk = sct_host_chunk(call);
  c->out->n_threads += n;
  for (int t = 1; t < n; t++) {
    c->now_ns[t] = c->now_ns[0];
  }
  const int error = sct_host_run_in_turn(call, n, first_thread);
  for (int t = 1; t < n; t++) {
    c->now_ns[0] = later(c->now_ns[0], c->now_ns[t]);
  }
  c->thread = c->first_thread;
  return error;
}

static const sct_host_calls pipe_calls = {pipe_open, pipe_close, pipe_order, pipe_work,
                                          pipe_run_threads};

static sct_status run_device(sct_timeline *out, int device, const sct_host_kernel *kernel,
                             const sct_host_options *options, const sct_pipe_costs *costs,
                             sct_error *err) {
  const int n_before = out->n_steps;
  void *arrays[SCT_MAX_OPERANDS];
  pipe_mark stream = {0};
  sct_host_plan *plan = NULL;
  clocks c = {.side = {&pipe_calls, kernel, arrays, NULL},
              .out = out,
              .device = device,
              .thread = out->n_threads,
              .first_thread = out->n_threads,
              .err = err};
  for (int k = 0; k < SCT_MAX_OPERANDS; k++) {
    arrays[k] = (void *)((uintptr_t)(k + 1) * ARRAY_BYTES);
  }
  sct_host_enter(&c.side);
  int error = sct_host_plan_new(&plan, options);
  out->n_steps = n_before; /* a plan is made once for many calls */
  c.costs = costs;
  error = error == 0 ? sct_host_run(plan, &stream) : error;
  sct_host_plan_free(plan);
  sct_host_enter(NULL);
  return c.status != SCT_OK || error == 0
             ? c.status
             : sct_fail(err, SCT_EINTERNAL, "the host's code ends with %d", error);
}

sct_status sct_model_pipeline(sct_timeline *out, const sct_host_kernel *kernels,
                              const sct_host_options *options, int n_devices,
                              const sct_pipe_costs *costs, sct_error *err) {
  *out = (sct_timeline){0};
  for (int d = 0; d < n_devices; d++) {
    if (kernels[d].begin < kernels[d].end) {
      SCT_TRY(run_device(out, d, &kernels[d], &options[d], costs, err));
    }
  }
  return SCT_OK;
}

void sct_timeline_free(sct_timeline *timeline) {
  sct_free(timeline->steps);
  *timeline = (sct_timeline){0};
}

/* ---- timelines ---- */

typedef struct ended {
  double ns;
  int step;
} ended;

static int by_end(const void *a, const void *b) {
  const ended *x = a, *y = b;
  return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : x->step - y->step;
}

void sct_model_measured_begins(sct_pipe_step *steps, int n) {
  SCT_OWNED ended *order = sct_alloc(sizeof *order * (size_t)(n + 1));
  double free_ns[MAX_DEVICES][SCT_N_ENGINES] = {{0}};
  for (int k = 0; k < n; k++) {
    order[k] = (ended){steps[k].end_ns, k};
  }
  qsort(order, (size_t)n, sizeof *order, by_end);
  for (int k = 0; k < n; k++) {
    sct_pipe_step *s = &steps[order[k].step];
    if (s->engine != SCT_ENGINE_HOST) {
      double *const engine_ns = &free_ns[s->device][s->engine];
      s->begin_ns = later(s->begin_ns, *engine_ns);
      *engine_ns = s->end_ns;
    }
    s->begin_ns = s->begin_ns < s->end_ns ? s->begin_ns : s->end_ns;
  }
}

sct_overlap sct_model_overlap(const sct_pipe_step *steps, int n) {
  sct_overlap o = {.n_threads = 1, .n_devices = 1};
  double sum = 0;
  for (int k = 0; k < n; k++) {
    const sct_pipe_step *s = &steps[k];
    o.busy_ns[s->engine] += s->end_ns - s->begin_ns;
    o.total_ns = later(o.total_ns, s->end_ns);
    o.n_threads = s->thread >= o.n_threads ? s->thread + 1 : o.n_threads;
    o.n_devices = s->device >= o.n_devices ? s->device + 1 : o.n_devices;
  }
  for (int e = 0; e < SCT_N_ENGINES; e++) {
    o.busy_ns[e] /= e == SCT_ENGINE_HOST ? o.n_threads : o.n_devices;
    sum += o.busy_ns[e];
    o.limit = o.busy_ns[e] > o.busy_ns[o.limit] ? (sct_engine)e : o.limit;
  }
  const double others = sum - o.busy_ns[o.limit];
  const double hidden = others > 0 ? (sum - o.total_ns) / others : 0;
  o.hidden = hidden < 0 ? 0 : hidden > 1 ? 1 : hidden;
  return o;
}

void sct_model_engine_columns(double *out, int n_columns, const sct_pipe_step *steps, int n,
                              sct_engine engine, int device) {
  const sct_overlap o = sct_model_overlap(steps, n);
  const double column_ns = o.total_ns / n_columns;
  const double all_ns = column_ns * (engine == SCT_ENGINE_HOST ? o.n_threads : 1);
  for (int c = 0; c < n_columns; c++) {
    double busy_ns = 0;
    for (int k = 0; k < n; k++) {
      const double from = later(steps[k].begin_ns, c * column_ns);
      const double to =
          steps[k].end_ns < (c + 1) * column_ns ? steps[k].end_ns : (c + 1) * column_ns;
      const bool counts =
          steps[k].engine == engine && (engine == SCT_ENGINE_HOST || steps[k].device == device);
      busy_ns += counts && to > from ? to - from : 0;
    }
    out[c] = all_ns > 0 ? busy_ns / all_ns : 0;
  }
}
