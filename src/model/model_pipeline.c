/* Copies beside kernels: when the operations of a list begin and end, given what each takes. The
 * same sums stand for timelines that were measured. */
#include "model/model.h"

#include <assert.h>
#include <stdlib.h>

const char *sct_engine_name(sct_engine engine) {
  static const char *const names[SCT_N_ENGINES] = {"in", "kernel", "out", "host"};
  return names[engine];
}

static double later(double a, double b) {
  return a > b ? a : b;
}

/* The last operation before number k that is of the same stream, or of the same engine; of its
 * device. */
static double end_before(const sct_pipe_step *steps, int k, bool same_stream) {
  for (int other = k - 1; other >= 0; other--) {
    const sct_pipe_step *s = &steps[other];
    if (s->device == steps[k].device &&
        (same_stream ? s->stream == steps[k].stream && s->engine != SCT_ENGINE_HOST
                     : s->engine == steps[k].engine)) {
      return s->end_ns;
    }
  }
  return 0;
}

void sct_model_pipeline(sct_pipe_step *steps, int n) {
  double free_ns[SCT_MAX_PIPE_THREADS] = {0}; /* when a thread gets to its next one */
  double begun_ns[SCT_MAX_PIPE_DEVICES] = {0};
  for (int k = 0; k < n; k++) {
    sct_pipe_step *s = &steps[k];
    assert(s->after < k && s->thread < SCT_MAX_PIPE_THREADS);
    assert(s->device >= 0 && s->device < SCT_MAX_PIPE_DEVICES);
    double *const begun = &begun_ns[s->device];
    double *const host_ns = s->thread < 0 ? begun : &free_ns[s->thread];
    s->begin_ns = later(*host_ns, *begun);
    s->begin_ns = s->after >= 0 ? later(s->begin_ns, steps[s->after].end_ns) : s->begin_ns;
    if (s->engine != SCT_ENGINE_HOST) {
      s->begin_ns = later(s->begin_ns, end_before(steps, k, true));
      s->begin_ns = later(s->begin_ns, end_before(steps, k, false));
    }
    s->end_ns = s->begin_ns + s->ns;
    *host_ns = s->blocks || s->engine == SCT_ENGINE_HOST ? s->end_ns : *host_ns;
  }
}

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
  double free_ns[SCT_MAX_PIPE_DEVICES][SCT_N_ENGINES] = {{0}};
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
    s->ns = s->end_ns - s->begin_ns;
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
