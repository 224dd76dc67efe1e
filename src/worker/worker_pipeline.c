/* From the host and back: arrays of the host, and runs of the host's code on them. One sample is a
 * run, from the first call until the host knows that all is done; a further one reports when each
 * operation began and ended, and its results are compared. */
#include "worker_state.h"

#include <string.h>

#define LEAST_BLOCK_BYTES 16

/* ---- arrays ---- */

void sct_worker_close_host(sct_worker_state *w) {
  for (int k = 0; k < w->host.n_arrays; k++) {
    w->backend->ops->block_close(w->backend, NULL, &w->host.arrays[k]);
  }
  w->host = (sct_worker_arrays){0};
}

/* A backend whose memory is the host's keeps no more than a MiB of what it only pretends to copy:
 * here all of it is needed. */
sct_status sct_worker_open_block(sct_worker_state *w, sct_host_block *out, sct_host_kind kind,
                                 int64_t wanted, sct_error *err) {
  const int64_t bytes = wanted < LEAST_BLOCK_BYTES ? LEAST_BLOCK_BYTES : wanted;
  SCT_TRY(w->backend->ops->block_open(w->backend, NULL, out, kind, bytes, err));
  if (out->bytes < bytes) {
    out->host = sct_realloc(out->host, (size_t)bytes);
    out->bytes = bytes;
    out->alias = out->alias != 0 ? (uintptr_t)out->host : 0;
  }
  return SCT_OK;
}

static bool has_arrays(const sct_worker_arrays *h, const sct_ask_host *in) {
  bool same = h->n_arrays == in->n_arrays && h->memory == in->memory;
  for (int k = 0; k < h->n_arrays && same; k++) {
    same = h->bytes[k] == in->arrays[k].bytes;
  }
  return same;
}

/* Opens the arrays of the host, and keeps those that fit: page-locking takes longer than what is
 * timed. */
static sct_status open_arrays(sct_worker_state *w, const sct_ask_host *in, sct_error *err) {
  sct_worker_arrays *h = &w->host;
  if (has_arrays(h, in)) {
    return SCT_OK;
  }
  sct_worker_close_host(w);
  h->memory = in->memory;
  for (int64_t k = 0; k < in->n_arrays; k++) {
    SCT_TRY(sct_worker_open_block(w, &h->arrays[k], in->memory, in->arrays[k].bytes, err));
    h->bytes[h->n_arrays++] = in->arrays[k].bytes;
  }
  return SCT_OK;
}

/* What an array holds before a run: where it is updated in place, before each run. */
static sct_status fill_array(sct_worker_state *w, const sct_ask_host *in, int k, sct_error *err) {
  const sct_host_array *a = &in->arrays[k];
  void *const host = w->host.arrays[k].host;
  if (a->from < 0) {
    memset(host, in->poison, (size_t)a->bytes);
    return SCT_OK;
  }
  const sct_worker_buffer *b = sct_worker_buffer_at(w, a->from, err);
  if (!b || b->bytes != a->bytes) {
    return sct_worker_malformed(err);
  }
  return w->backend->ops->download(w->backend, host, sct_worker_data(b), a->bytes, err);
}

/* Outputs only, all of them or those that do not hold poison. */
static sct_status fill_outputs(sct_worker_state *w, const sct_ask_host *in, bool all,
                               sct_error *err) {
  for (int k = 0; k < in->n_arrays; k++) {
    if (in->arrays[k].to >= 0 && (all || in->arrays[k].from >= 0)) {
      SCT_TRY(fill_array(w, in, k, err));
    }
  }
  return SCT_OK;
}

static sct_status give_outputs(sct_worker_state *w, const sct_ask_host *in, sct_error *err) {
  for (int k = 0; k < in->n_arrays; k++) {
    const sct_host_array *a = &in->arrays[k];
    if (a->to < 0) {
      continue;
    }
    const sct_worker_buffer *b = sct_worker_buffer_at(w, a->to, err);
    if (!b || b->bytes != a->bytes) {
      return sct_worker_malformed(err);
    }
    SCT_TRY(w->backend->ops->upload(w->backend, sct_worker_data(b), w->host.arrays[k].host,
                                    a->bytes, err));
  }
  return SCT_OK;
}

/* ---- what host code is given ---- */

static bool is_from(long long value, long long least, long long most) {
  return value >= least && value <= most;
}

/* Where array k begins; false: a call would leave it. */
static bool set_array(sct_host_part *p, const sct_ask_host *in, int k) {
  sct_worker_state *w = p->job->w;
  const sct_host_kernel *kernel = &p->kernel;
  const sct_worker_buffer *b =
      in->arrays[k].buffer >= 0 ? sct_worker_buffer_at(w, in->arrays[k].buffer, NULL) : NULL;
  const int64_t bytes = b ? b->bytes : in->arrays[k].bytes;
  long long all = 0;
  if (in->arrays[k].buffer >= 0 && (!b || p->device > 0)) {
    return false;
  }
  const sct_host_block *block = &w->host.arrays[k];
  p->arrays[k] = b                               ? sct_host(sct_worker_data(b))
                 : in->memory == SCT_HOST_MAPPED ? sct_host(block->alias)
                                                 : block->host;
  return (b || in->memory != SCT_HOST_MAPPED || block->alias != 0) && kernel->base[k] >= 0 &&
         kernel->step[k] >= 0 && is_from(kernel->start[k], -1, UINT8_MAX) &&
         !__builtin_mul_overflow(kernel->n, kernel->step[k], &all) &&
         !__builtin_add_overflow(all, kernel->base[k], &all) && all <= bytes;
}

/* Halos are bounded as specs bound them. */
static bool set_part(sct_host_part *p, const sct_ask_host *in) {
  const sct_host_options *o = &in->options[p->device];
  p->kernel = in->kernels[p->device];
  sct_host_kernel *k = &p->kernel;
  bool good =
      sct_worker_device(p->job->w, p->device) && k->n_arrays == in->n_arrays &&
      is_from(k->n, 0, INT64_C(1) << 48) && is_from(k->begin, 0, k->end) && k->end <= k->n &&
      is_from(k->before, 0, UINT16_MAX + 1) && is_from(k->after, 0, UINT16_MAX + 1) &&
      is_from(k->workspace_bytes, 0, SCT_MAX_TRANSFER) && is_from(o->streams, 1, SCT_MAX_STREAMS) &&
      is_from(o->threads, 1, SCT_MAX_HOST_THREADS) && o->chunk > 0 &&
      is_from(in->most_steps[p->device], 0, SCT_MAX_HOST_OPS);
  for (int a = 0; a < SCT_MAX_OPERANDS && good; a++) {
    if (a < k->n_arrays) {
      good = set_array(p, in, a);
    } else { /* those that there are not are the device's, of no bytes */
      k->base[a] = k->step[a] = k->is_in[a] = k->is_out[a] = k->is_shared[a] = k->is_staged[a] = 0;
      k->is_direct[a] = 1;
      k->start[a] = -1;
    }
  }
  return good;
}

static sct_status set_launches(sct_worker_state *w, const sct_ask_host *in, sct_launch *launches,
                               sct_error *err) {
  for (int64_t k = 0; k < in->n_launches; k++) {
    const sct_ask_launch *asked = &in->launches[k].launch;
    bool good = in->launches[k].n_align <= in->n_arrays;
    SCT_TRY(sct_worker_set_any_launch(w, asked, &launches[k], err));
    good = good && w->kernels[launches[k].kernel].device == in->launches[k].device;
    for (int64_t a = 0; a < asked->n_args; a++) {
      good =
          good && (asked->args[a].kind != SCT_ARG_CHUNK || asked->args[a].number <= in->n_arrays);
    }
    if (!good) {
      return sct_worker_malformed(err);
    }
  }
  return SCT_OK;
}

/* ---- runs ---- */

static sct_status take_samples(sct_host_job *job, sct_got_host *out, sct_error *err) {
  const sct_ask_host *in = job->in;
  double *samples = SCT_ARENA_NEW(&job->w->memory, double, in->most + 1);
  if (in->most > 0) { /* one that does not count: it loads code and brings pages */
    SCT_TRY(sct_host_job_run(job, &samples[0], err));
  }
  const int64_t start = sct_now_ns();
  int64_t n = 0;
  while (n < in->least || (n < in->most && sct_now_ns() - start < in->limit_ns)) {
    SCT_TRY(fill_outputs(job->w, in, false, err));
    SCT_TRY(sct_host_job_run(job, &samples[n++], err));
  }
  out->samples_ns = samples;
  out->n_samples_ns = n;
  return SCT_OK;
}

static sct_status sync_devices(sct_worker_state *w, sct_error *err) {
  for (int d = SCT_MAX_DEVICES - 1; d >= 0; d--) {
    sct_backend *b = sct_worker_device(w, d);
    if (b) {
      SCT_TRY(sct_worker_enter(w, d, err));
      SCT_TRY(b->ops->sync(b, err));
    }
  }
  return SCT_OK;
}

static sct_status run_job(sct_host_job *job, sct_got_host *out, sct_error *err) {
  SCT_TRY(sct_host_job_open(job, err));
  SCT_TRY(sync_devices(job->w, err)); /* what sets buffers is on another stream */
  SCT_TRY(take_samples(job, out, err));
  SCT_TRY(fill_outputs(job->w, job->in, true, err));
  SCT_TRY(sct_host_job_trace(job, out, err));
  SCT_TRY(sct_worker_audit(job->w, &(sct_ask_audit){0}, &out->audit, err));
  SCT_TRY(sct_worker_enter(job->w, 0, err));
  return give_outputs(job->w, job->in, err);
}

sct_status sct_worker_host(sct_worker_state *w, const sct_ask_host *in, sct_got_host *out,
                           sct_error *err) {
  if (!w->backend || in->least > in->most || in->n_kernels != in->n_options ||
      in->n_kernels != in->n_most_steps) {
    return sct_worker_malformed(err);
  }
  sct_launch *launches = SCT_ARENA_NEW(&w->memory, sct_launch, in->n_launches);
  sct_host_job *job = SCT_ARENA_NEW(&w->memory, sct_host_job, 1);
  *job = (sct_host_job){.w = w, .in = in, .launches = launches};
  SCT_TRY(open_arrays(w, in, err));
  for (int k = 0; k < in->n_arrays; k++) {
    SCT_TRY(fill_array(w, in, k, err));
  }
  SCT_TRY(set_launches(w, in, launches, err));
  for (int d = 0; d < in->n_kernels; d++) {
    job->parts[d].job = job;
    job->parts[d].device = d;
    if (!set_part(&job->parts[d], in)) {
      return sct_worker_malformed(err);
    }
  }
  const sct_status status = run_job(job, out, err);
  sct_host_job_close(job);
  return status;
}
