/* From the host and back: a list of copies and kernels, which threads of the host queue. One sample
 * is a run of the list, from the first call until the host knows that all is done; a further run
 * reports when each operation began and ended, and its results are compared. */
#include "worker_state.h"

#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LEAST_BLOCK_BYTES 16

/* ---- copies on the host ---- */

/* From a ring to an array past the caches, as headers do it: the ring has these for itself. */
static void copy_out(uint8_t *to, const uint8_t *from, int64_t bytes) {
#if defined(__SSE2__)
  const int64_t aligned = -(intptr_t)to & 15, head = aligned < bytes ? aligned : bytes;
  memcpy(to, from, (size_t)head);
  to += head;
  from += head;
  for (bytes -= head; bytes >= 16; bytes -= 16, to += 16, from += 16) {
    _mm_stream_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
  }
  _mm_sfence();
#endif
  memcpy(to, from, (size_t)bytes);
}

void sct_host_step_copy(const sct_host_step *step) {
  if (step->kind == SCT_HOST_OP_FROM_RING) {
    copy_out(step->array, step->ring, step->bytes);
  } else {
    memcpy(step->ring, step->array, (size_t)step->bytes);
  }
}

/* ---- memory that is the host's own ---- */

static sct_status run_step(sct_backend *b, const sct_host_step *s, sct_error *err) {
  uint8_t *const host = s->ring ? s->ring : s->array;
  switch (s->kind) {
  case SCT_HOST_OP_IN:
    return b->ops->upload(b, s->device, host, s->bytes, err);
  case SCT_HOST_OP_OUT:
    return b->ops->download(b, host, s->device, s->bytes, err);
  case SCT_HOST_OP_STAGE_IN:
  case SCT_HOST_OP_STAGE_OUT:
    SCT_TRY(b->ops->copy(b, 0, s->kind == SCT_HOST_OP_STAGE_IN ? s->device : s->other,
                         s->kind == SCT_HOST_OP_STAGE_IN ? s->other : s->device, s->bytes, err));
    return b->ops->sync(b, err);
  case SCT_HOST_OP_SET:
    SCT_TRY(b->ops->set(b, s->device, s->value, s->bytes, err));
    return b->ops->sync(b, err);
  case SCT_HOST_OP_KERNEL:
    SCT_TRY(b->ops->launch(b, s->kernel, s->launch, err));
    return b->ops->sync(b, err);
  default:
    sct_host_step_copy(s);
    return SCT_OK;
  }
}

sct_status sct_host_run_steps(sct_backend *b, sct_backend *peer, const sct_host_step *steps, int n,
                              sct_host_time *times, double *ns, sct_error *err) {
  const int64_t start = sct_now_ns();
  for (int k = 0; k < n; k++) {
    const int64_t begin = sct_now_ns();
    SCT_TRY(run_step(steps[k].on > 0 ? peer : b, &steps[k], err));
    if (times) {
      times[k] = (sct_host_time){(double)(begin - start), (double)(sct_now_ns() - start)};
    }
  }
  *ns = (double)(sct_now_ns() - start);
  return SCT_OK;
}

/* ---- arrays and the ring ---- */

static void close_ring(sct_worker_state *w) {
  if (w->host.ring_bytes > 0) {
    w->backend->ops->block_close(w->backend, NULL, &w->host.ring);
  }
  w->host.ring_bytes = 0;
}

void sct_worker_close_host(sct_worker_state *w) {
  close_ring(w);
  for (int k = 0; k < w->host.n_arrays; k++) {
    w->backend->ops->block_close(w->backend, NULL, &w->host.arrays[k]);
  }
  w->host = (sct_worker_arrays){0};
}

/* A backend whose memory is the host's keeps no more than a MiB of what it only pretends to copy:
 * here all of it is needed. */
static sct_status open_block(sct_worker_state *w, sct_host_block *out, sct_host_kind kind,
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
  if (!has_arrays(h, in)) {
    sct_worker_close_host(w);
    h->memory = in->memory;
    for (int64_t k = 0; k < in->n_arrays; k++) {
      SCT_TRY(open_block(w, &h->arrays[k], in->memory, in->arrays[k].bytes, err));
      h->bytes[h->n_arrays++] = in->arrays[k].bytes;
    }
  }
  if (in->ring_bytes != h->ring_bytes) {
    close_ring(w);
    if (in->ring_bytes > 0) {
      SCT_TRY(open_block(w, &h->ring, SCT_HOST_LOCKED, in->ring_bytes, err));
      h->ring_bytes = in->ring_bytes;
    }
  }
  if (h->ring_bytes > 0) { /* what a run before has left there must not pass for this one's */
    memset(h->ring.host, in->poison, (size_t)h->ring_bytes);
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

/* ---- the list ---- */

static bool is_part(int64_t at, int64_t bytes, int64_t all) {
  return at <= all && bytes <= all - at;
}

static bool set_stage(sct_worker_state *w, const sct_host_op *op, sct_host_step *s) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, op->buffer, NULL);
  const sct_worker_buffer *other = sct_worker_buffer_at(w, op->other, NULL);
  const bool good = b && other && op->device == 0 && is_part(op->device_at, op->bytes, b->bytes) &&
                    is_part(op->host_at, op->bytes, other->bytes);
  s->device = good ? sct_worker_data(b) + (uint64_t)op->device_at : 0;
  s->other = good ? sct_worker_data(other) + (uint64_t)op->host_at : 0;
  return good;
}

static bool set_bytes(sct_worker_state *w, const sct_host_op *op, sct_host_step *s) {
  const sct_worker_buffer *b = sct_worker_any_buffer_at(w, op->buffer, NULL);
  const bool good = b && b->device == op->device && is_part(op->device_at, op->bytes, b->bytes);
  s->device = good ? sct_worker_data(b) + (uint64_t)op->device_at : 0;
  s->value = op->value;
  return good;
}

/* A copy with its addresses; false: it lies outside of what it names. */
static bool set_copy(sct_worker_state *w, const sct_ask_host *in, const sct_host_op *op,
                     sct_host_step *s) {
  if (op->kind == SCT_HOST_OP_STAGE_IN || op->kind == SCT_HOST_OP_STAGE_OUT) {
    return set_stage(w, op, s);
  }
  if (op->kind == SCT_HOST_OP_SET) {
    return set_bytes(w, op, s);
  }
  const bool device =
      op->kind == SCT_HOST_OP_IN || op->kind == SCT_HOST_OP_OUT || op->kind == SCT_HOST_OP_SET;
  const sct_worker_buffer *b = device ? sct_worker_any_buffer_at(w, op->buffer, NULL) : NULL;
  const bool good = op->array < in->n_arrays && (!device || (b && b->device == op->device)) &&
                    (device || op->ring >= 0) &&
                    is_part(op->host_at, op->bytes, in->arrays[op->array].bytes) &&
                    (op->ring < 0 || is_part(op->ring, op->bytes, in->ring_bytes)) &&
                    (!b || is_part(op->device_at, op->bytes, b->bytes));
  if (good) {
    s->array = (uint8_t *)w->host.arrays[op->array].host + op->host_at;
    s->ring = op->ring >= 0 ? (uint8_t *)w->host.ring.host + op->ring : NULL;
    s->device = b ? sct_worker_data(b) + (uint64_t)op->device_at : 0;
  }
  return good;
}

static bool is_queued(sct_host_op_kind kind) {
  return kind != SCT_HOST_OP_TO_RING && kind != SCT_HOST_OP_FROM_RING;
}

/* May operation k stand there? Those of a device stand together, in front what comes before its
 * threads; a slot belongs to one thread, without which it has no order, and what is queued on a
 * stream may wait for another thread's. */
static bool is_in_order(const sct_ask_host *in, int k, int *owner) {
  const sct_host_op *op = &in->ops[k];
  const sct_host_op *after = op->after >= 0 && op->after < k ? &in->ops[op->after] : NULL;
  const sct_host_op *before = k > 0 && in->ops[k - 1].device == op->device ? op - 1 : NULL;
  *owner = *owner < 0 ? op->thread : *owner;
  return op->after < k && (!after || after->device == op->device) &&
         (!after || after->thread < 0 || after->thread == op->thread ||
          (is_queued(op->kind) && is_queued(after->kind))) &&
         (before || k == 0 || in->ops[k - 1].device < op->device) &&
         (op->thread >= 0 ? *owner == op->thread : !before || before->thread < 0);
}

static sct_status set_steps(sct_worker_state *w, const sct_ask_host *in, sct_host_step *steps,
                            sct_error *err) {
  sct_launch *launches = SCT_ARENA_NEW(&w->memory, sct_launch, in->n_launches);
  for (int64_t k = 0; k < in->n_launches; k++) {
    SCT_TRY(sct_worker_set_any_launch(w, &in->launches[k], &launches[k], err));
  }
  int owners[SCT_MAX_SLOTS];
  memset(owners, 0xff, sizeof owners);
  for (int k = 0; k < in->n_ops; k++) {
    const sct_host_op *op = &in->ops[k];
    sct_host_step *s = &steps[k];
    *s = (sct_host_step){.kind = op->kind,
                         .on = op->device,
                         .thread = op->thread,
                         .stream = op->slot % in->n_streams,
                         .after = op->after,
                         .bytes = op->bytes};
    bool good = is_in_order(in, k, &owners[op->slot]) && sct_worker_device(w, op->device);
    if (op->kind == SCT_HOST_OP_KERNEL) {
      good = good && op->launch < in->n_launches;
      s->launch = good ? &launches[op->launch] : NULL;
      good = good && w->kernels[s->launch->kernel].device == op->device;
      s->kernel = good ? &w->kernels[s->launch->kernel].loaded : NULL;
    } else {
      good = good && set_copy(w, in, op, s);
    }
    if (!good) {
      return sct_worker_malformed(err);
    }
  }
  return SCT_OK;
}

static sct_status take_samples(sct_worker_state *w, const sct_ask_host *in,
                               const sct_host_step *steps, sct_got_host *out, sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  const int n_steps = (int)in->n_ops;
  double *samples = SCT_ARENA_NEW(&w->memory, double, in->most + 1);
  if (in->most > 0) { /* one that does not count: it loads code and brings pages */
    SCT_TRY(ops->run_steps(w->backend, w->peer, steps, n_steps, NULL, &samples[0], err));
  }
  const int64_t start = sct_now_ns();
  int64_t n = 0;
  while (n < in->least || (n < in->most && sct_now_ns() - start < in->limit_ns)) {
    SCT_TRY(fill_outputs(w, in, false, err));
    SCT_TRY(ops->run_steps(w->backend, w->peer, steps, n_steps, NULL, &samples[n++], err));
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

sct_status sct_worker_host(sct_worker_state *w, const sct_ask_host *in, sct_got_host *out,
                           sct_error *err) {
  if (!w->backend || !w->backend->ops->run_steps || in->least > in->most) {
    return sct_worker_malformed(err);
  }
  sct_host_step *steps = SCT_ARENA_NEW(&w->memory, sct_host_step, in->n_ops);
  sct_host_time *times = SCT_ARENA_NEW(&w->memory, sct_host_time, in->n_ops);
  SCT_TRY(open_arrays(w, in, err));
  for (int k = 0; k < in->n_arrays; k++) {
    SCT_TRY(fill_array(w, in, k, err));
  }
  SCT_TRY(set_steps(w, in, steps, err));
  SCT_TRY(sync_devices(w, err)); /* what sets buffers is on another stream */
  SCT_TRY(take_samples(w, in, steps, out, err));
  SCT_TRY(fill_outputs(w, in, true, err));
  double traced_ns = 0;
  SCT_TRY(w->backend->ops->run_steps(w->backend, w->peer, steps, (int)in->n_ops, times, &traced_ns,
                                     err));
  out->times = times;
  out->n_times = in->n_ops;
  return give_outputs(w, in, err);
}
