/* The worker's buffers: each lies between two guard zones with a known pattern, so that AUDIT can
 * tell whether a kernel wrote outside, or into a buffer that was sealed. */
#include "worker_state.h"

#include <string.h>

#define COPY_ALIGN 512 /* what the driver gives a buffer of its own */

sct_status sct_worker_malformed(sct_error *err) {
  return sct_fail(err, SCT_EINTERNAL, "malformed request to the worker");
}

sct_worker_buffer *sct_worker_any_buffer_at(sct_worker_state *w, int64_t id, sct_error *err) {
  if (!w->backend || id < 0 || (size_t)id >= w->n_buffers || w->buffers[id].raw == 0) {
    (void)sct_fail(err, SCT_EINTERNAL, "the worker has no buffer %lld", (long long)id);
    return NULL;
  }
  return &w->buffers[id];
}

sct_worker_buffer *sct_worker_buffer_at(sct_worker_state *w, int64_t id, sct_error *err) {
  sct_worker_buffer *b = sct_worker_any_buffer_at(w, id, err);
  if (b && b->device > 0) {
    (void)sct_fail(err, SCT_EINTERNAL, "buffer %lld is the second device's", (long long)id);
    return NULL;
  }
  return b;
}

static sct_backend *device_of(const sct_worker_state *w, const sct_worker_buffer *b) {
  return sct_worker_device(w, b->device);
}

/* Byte k of a guard zone. */
static uint8_t guard_byte(int64_t k) {
  return (uint8_t)(0xb1 + 37 * k);
}

/* The zone before (side 0) or after (side 1) the data. The one after starts at the very next byte.
 */
static sct_region guard_region(const sct_worker_buffer *b, int side) {
  const int64_t lo = side == 0 ? b->offset - SCT_GUARD_BYTES : b->offset + b->bytes;
  return (sct_region){b->raw, lo, lo + SCT_GUARD_BYTES};
}

static sct_region data_region(const sct_worker_buffer *b) {
  return (sct_region){b->raw, b->offset, b->offset + b->bytes};
}

static sct_status write_guard(sct_worker_state *w, sct_worker_buffer *b, int side, sct_error *err) {
  uint8_t zone[SCT_GUARD_BYTES];
  const sct_region r = guard_region(b, side);
  for (int64_t k = 0; k < SCT_GUARD_BYTES; k++) {
    zone[k] = guard_byte(k);
  }
  b->guard_sum[side] = sct_region_sum(zone, r.lo, r.hi);
  sct_backend *on = device_of(w, b);
  return on->ops->upload(on, r.base + (uint64_t)r.lo, zone, SCT_GUARD_BYTES, err);
}

/* What an address has the residue of: of alignments beyond SCT_PLACE_BYTES no more than that. */
static int64_t modulus_of(int64_t residue) {
  int64_t modulus = SCT_PLACE_BYTES;
  while (modulus <= residue) {
    modulus *= 2;
  }
  return modulus;
}

/* Memory of b->device, to which calls go, between guard zones. */
static sct_status open_buffer(sct_worker_state *w, sct_worker_buffer *b, int64_t bytes, bool sparse,
                              sct_error *err) {
  sct_backend *on = device_of(w, b);
  SCT_TRY(sparse && on->ops->alloc_sparse ? on->ops->alloc_sparse(on, &b->raw, bytes, err)
                                          : on->ops->alloc(on, &b->raw, bytes, err));
  if (b->residue > 0) {
    const uint64_t at = b->raw + (uint64_t)b->offset;
    b->offset += (int64_t)(((uint64_t)b->residue - at) % (uint64_t)modulus_of(b->residue));
  }
  sct_status status = SCT_OK;
  for (int side = 0; side < 2; side++) {
    SCT_THEN(write_guard(w, b, side, err));
  }
  if (status != SCT_OK) {
    on->ops->release(on, b->raw);
  }
  return status;
}

static sct_status new_buffer(sct_worker_state *w, const sct_ask_alloc *in, int64_t *made,
                             sct_error *err) {
  const int64_t bytes = in->bytes, copies = in->copies, residue = in->residue;
  if (!w->backend || (residue > 0 && copies > 1)) {
    return sct_worker_malformed(err);
  }
  size_t id = 0; /* the first that is free: ids must not grow with the candidates */
  while (id < w->n_buffers && w->buffers[id].raw != 0) {
    id++;
  }
  SCT_GROW(w->buffers, id, w->cap_buffers);
  sct_worker_buffer b = {.device = in->device,
                         .bytes = bytes,
                         .copies = copies,
                         .residue = residue,
                         .offset = SCT_GUARD_BYTES};
  /* whole 8-byte words, so that kernels may read the last one whole; copies are aligned alike */
  b.stride = (2 * SCT_GUARD_BYTES + bytes + 7 + COPY_ALIGN) / COPY_ALIGN * COPY_ALIGN;
  const int64_t room = residue > 0 ? modulus_of(residue) : 0;
  const int64_t raw_bytes =
      copies > 1 ? copies * b.stride : (2 * SCT_GUARD_BYTES + bytes + 15) / 8 * 8 + room;
  SCT_TRY(sct_worker_enter(w, b.device, err));
  SCT_TRY(open_buffer(w, &b, raw_bytes, in->sparse, err));
  w->buffers[id] = b;
  w->n_buffers += id == w->n_buffers;
  *made = (int64_t)id;
  return SCT_OK;
}

sct_status sct_worker_alloc(sct_worker_state *w, const sct_ask_alloc *in, sct_a_buffer *out,
                            sct_error *err) {
  return new_buffer(w, in, &out->buffer, err);
}

static sct_status release(sct_worker_state *w, sct_worker_buffer *b, sct_error *err) {
  sct_backend *on = device_of(w, b);
  SCT_TRY(sct_worker_enter(w, b->device, err));
  on->ops->release(on, b->raw);
  *b = (sct_worker_buffer){0};
  return SCT_OK;
}

sct_status sct_worker_free(sct_worker_state *w, const sct_ask_free *in, sct_error *err) {
  for (int64_t k = 0; k < in->n_buffers; k++) {
    sct_worker_buffer *b = sct_worker_any_buffer_at(w, in->buffers[k], err);
    if (!b) {
      return SCT_EINTERNAL;
    }
    SCT_TRY(release(w, b, err));
  }
  return SCT_OK;
}

sct_status sct_worker_get_workspace(sct_worker_state *w, int64_t kernel, int64_t bytes,
                                    sct_error *err) {
  sct_worker_workspace *s = &w->workspace;
  if (bytes > s->bytes) {
    const sct_cuda_ptr old = s->p;
    *s = (sct_worker_workspace){.kernel = -1};
    if (old != 0) {
      w->backend->ops->release(w->backend, old);
    }
    SCT_TRY(w->backend->ops->alloc(w->backend, &s->p, bytes, err));
    s->bytes = bytes;
  }
  if (s->kernel != kernel) {
    s->kernel = -1;
    SCT_TRY(w->backend->ops->set(w->backend, s->p, 0, s->bytes, err));
    s->kernel = kernel;
  }
  return SCT_OK;
}

void sct_worker_free_buffers(sct_worker_state *w) {
  if (w->workspace.p != 0) {
    w->backend->ops->release(w->backend, w->workspace.p);
  }
  w->workspace = (sct_worker_workspace){.kernel = -1};
  for (size_t k = 0; k < w->n_buffers; k++) {
    if (w->buffers[k].raw != 0) {
      (void)release(w, &w->buffers[k], NULL);
    }
  }
  if (w->scratch != 0) {
    w->backend->ops->release(w->backend, w->scratch);
  }
  sct_free(w->buffers);
  w->buffers = NULL;
  w->n_buffers = w->cap_buffers = 0;
}

sct_status sct_worker_set(sct_worker_state *w, const sct_ask_set *in, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_any_buffer_at(w, in->buffer, err);
  if (!b) {
    return SCT_EINTERNAL;
  }
  sct_backend *on = device_of(w, b);
  SCT_TRY(sct_worker_enter(w, b->device, err));
  return on->ops->set(on, sct_worker_data(b), in->byte, b->bytes, err);
}

sct_status sct_worker_poison(sct_worker_state *w, const sct_ask_output *in, uint8_t byte,
                             sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  const sct_worker_buffer *unlike =
      b && in->unlike >= 0 ? sct_worker_buffer_at(w, in->unlike, err) : b;
  if (!unlike || unlike->bytes != b->bytes) {
    return sct_worker_malformed(err);
  }
  return in->unlike < 0 ? w->backend->ops->set(w->backend, sct_worker_data(b), byte, b->bytes, err)
                        : w->backend->ops->copy(w->backend, 0, sct_worker_data(b),
                                                sct_worker_data(unlike), b->bytes, err);
}

/* Does a part of a buffer lie inside? */
static bool is_inside(const sct_worker_buffer *b, int64_t offset, int64_t bytes) {
  return b && offset <= b->bytes && bytes <= b->bytes - offset;
}

sct_status sct_worker_upload(sct_worker_state *w, const sct_ask_upload *in, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  if (!is_inside(b, in->offset, in->n_data)) {
    return sct_worker_malformed(err);
  }
  return w->backend->ops->upload(w->backend, sct_worker_data(b) + (uint64_t)in->offset, in->data,
                                 in->n_data, err);
}

sct_status sct_worker_download(sct_worker_state *w, const sct_ask_download *in,
                               sct_got_download *out, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  if (!is_inside(b, in->offset, in->bytes)) {
    return sct_worker_malformed(err);
  }
  uint8_t *data = SCT_ARENA_NEW(&w->memory, uint8_t, in->bytes + 1);
  *out = (sct_got_download){data, in->bytes};
  return w->backend->ops->download(w->backend, data, sct_worker_data(b) + (uint64_t)in->offset,
                                   in->bytes, err);
}

/* The bytes of spans that lie in the buffer, together a piece at most; -1: one does not. */
static int64_t bytes_of_spans(const sct_worker_buffer *b, const sct_span *spans, int64_t n) {
  int64_t sum = 0;
  for (int64_t k = 0; k < n && sum >= 0; k++) {
    const int64_t bytes = spans[k].to - spans[k].from;
    const bool good = spans[k].from >= 0 && bytes >= 0 && bytes <= SCT_WIRE_PIECE_BYTES &&
                      is_inside(b, spans[k].from, bytes);
    sum = good && sum + bytes <= SCT_WIRE_PIECE_BYTES ? sum + bytes : -1;
  }
  return sum;
}

sct_status sct_worker_scatter(sct_worker_state *w, const sct_ask_scatter *in, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  return b && bytes_of_spans(b, in->spans, in->n_spans) == in->n_data
             ? w->backend->ops->scatter(w->backend, sct_worker_data(b), in->spans, in->n_spans,
                                        in->data, err)
             : sct_worker_malformed(err);
}

sct_status sct_worker_gather(sct_worker_state *w, const sct_ask_gather *in, sct_got_download *out,
                             sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  const int64_t bytes = b ? bytes_of_spans(b, in->spans, in->n_spans) : -1;
  if (bytes < 0) {
    return sct_worker_malformed(err);
  }
  uint8_t *data = SCT_ARENA_NEW(&w->memory, uint8_t, bytes + 1);
  *out = (sct_got_download){data, bytes};
  return w->backend->ops->gather(w->backend, data, sct_worker_data(b), in->spans, in->n_spans, err);
}

/* Whole words on the device; the last few bytes, the same function, from here. */
sct_status sct_worker_fill(sct_worker_state *w, const sct_ask_fill *in, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  if (!b) {
    return SCT_EINTERNAL;
  }
  const int64_t words = b->bytes / 8;
  const uint64_t last = (sct_mix64(in->seed, (uint64_t)words) & in->and_mask) | in->or_mask;
  SCT_TRY(w->backend->ops->fill(w->backend, sct_worker_data(b), words, in->and_mask, in->or_mask,
                                in->seed, err));
  return w->backend->ops->upload(w->backend, sct_worker_data(b) + (uint64_t)words * 8, &last,
                                 b->bytes - words * 8, err);
}

sct_status sct_worker_copy(sct_worker_state *w, const sct_ask_copy *in, sct_error *err) {
  const sct_worker_buffer *to = sct_worker_buffer_at(w, in->to, err);
  const sct_worker_buffer *from = to ? sct_worker_buffer_at(w, in->from, err) : NULL;
  if (!from || to->bytes != from->bytes) {
    return sct_worker_malformed(err);
  }
  SCT_TRY(w->backend->ops->copy(w->backend, 0, sct_worker_data(to), sct_worker_data(from),
                                to->bytes, err));
  return w->backend->ops->sync(w->backend, err);
}

sct_status sct_worker_repeat(sct_worker_state *w, const sct_a_buffer *in, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  if (!b) {
    return SCT_EINTERNAL;
  }
  for (int64_t k = 1; k < b->copies; k++) {
    SCT_TRY(w->backend->ops->copy(w->backend, 0, sct_worker_copy_at(b, (uint64_t)k),
                                  sct_worker_data(b), b->bytes, err));
  }
  return w->backend->ops->sync(w->backend, err);
}

sct_status sct_worker_name(sct_worker_state *w, const sct_ask_name *in, sct_error *err) {
  sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  if (b) {
    snprintf(b->name, sizeof b->name, "%s", in->name);
  }
  return b ? SCT_OK : SCT_EINTERNAL;
}

static sct_status seal(sct_worker_state *w, sct_worker_buffer *b, sct_error *err) {
  const sct_region r = data_region(b);
  if (w->backend->ops->checksum) {
    SCT_TRY(w->backend->ops->checksum(w->backend, &r, 1, &b->sum, err));
  }
  b->sealed = true;
  return SCT_OK;
}

sct_status sct_worker_seal(sct_worker_state *w, const sct_a_buffer *in, sct_error *err) {
  sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  return b ? seal(w, b, err) : SCT_EINTERNAL;
}

sct_status sct_worker_place(sct_worker_state *w, const sct_ask_place *in, sct_a_buffer *out,
                            sct_error *err) {
  const sct_ask_alloc room = {.bytes = in->n_data, .copies = 1};
  SCT_TRY(new_buffer(w, &room, &out->buffer, err));
  sct_worker_buffer *b = &w->buffers[out->buffer];
  sct_status status =
      w->backend->ops->upload(w->backend, sct_worker_data(b), in->data, b->bytes, err);
  status = status == SCT_OK ? seal(w, b, err) : status;
  if (status != SCT_OK) {
    w->backend->ops->release(w->backend, b->raw);
    *b = (sct_worker_buffer){0};
  }
  return status;
}

/* Where in a guard zone the first wrong byte is, counted from the data's start; repairs the zone.
 */
static sct_status find_guard_byte(sct_worker_state *w, sct_worker_buffer *b, int side,
                                  int64_t *offset, sct_error *err) {
  uint8_t zone[SCT_GUARD_BYTES];
  const sct_region r = guard_region(b, side);
  sct_backend *on = device_of(w, b);
  SCT_TRY(on->ops->download(on, zone, r.base + (uint64_t)r.lo, SCT_GUARD_BYTES, err));
  int64_t k = 0;
  while (k < SCT_GUARD_BYTES - 1 && zone[k] == guard_byte(k)) {
    k++;
  }
  *offset = side == 0 ? k - SCT_GUARD_BYTES : b->bytes + k;
  return write_guard(w, b, side, err);
}

static sct_status find_damage(sct_worker_state *w, const int64_t *ids, size_t n,
                              const uint64_t *sums, sct_audit *out, sct_error *err) {
  *out = (sct_audit){.damage = SCT_DAMAGE_NONE, .buffer = -1};
  for (size_t k = 0; k < n && out->damage == SCT_DAMAGE_NONE; k++) {
    sct_worker_buffer *b = &w->buffers[ids[k]];
    out->buffer = ids[k];
    for (int side = 0; side < 2 && out->damage == SCT_DAMAGE_NONE; side++) {
      if (sums[3 * k + (size_t)side] != b->guard_sum[side]) {
        out->damage = side == 0 ? SCT_DAMAGE_BEFORE : SCT_DAMAGE_AFTER;
        SCT_TRY(find_guard_byte(w, b, side, &out->offset, err));
      }
    }
    if (out->damage == SCT_DAMAGE_NONE && b->sealed && sums[3 * k + 2] != b->sum) {
      out->damage = SCT_DAMAGE_CONTENT;
    }
  }
  return SCT_OK;
}

/* Audits the listed buffers that are on a device, which is current. */
static sct_status audit_device(sct_worker_state *w, const int64_t *ids, size_t n, int device,
                               sct_audit *out, sct_error *err) {
  sct_backend *on = sct_worker_device(w, device);
  int64_t *own = SCT_ARENA_NEW(&w->memory, int64_t, n + 1);
  sct_region *regions = SCT_ARENA_NEW(&w->memory, sct_region, 3 * n + 1);
  uint64_t *sums = SCT_ARENA_NEW(&w->memory, uint64_t, 3 * n + 1);
  size_t n_own = 0;
  for (size_t k = 0; k < n; k++) {
    const sct_worker_buffer *b = &w->buffers[ids[k]];
    if (b->raw != 0 && b->device == device && on->ops->checksum) {
      regions[3 * n_own] = guard_region(b, 0);
      regions[3 * n_own + 1] = guard_region(b, 1);
      regions[3 * n_own + 2] = b->sealed ? data_region(b) : (sct_region){b->raw, 0, 0};
      own[n_own++] = ids[k];
    }
  }
  if (n_own > 0) {
    SCT_TRY(on->ops->checksum(on, regions, (int)(3 * n_own), sums, err));
  }
  return find_damage(w, own, n_own, sums, out, err);
}

sct_status sct_worker_audit(sct_worker_state *w, const sct_ask_audit *in, sct_audit *out,
                            sct_error *err) {
  const size_t n = in->n_buffers > 0 ? (size_t)in->n_buffers : w->n_buffers;
  if (!w->backend || n > w->n_buffers) {
    return sct_worker_malformed(err);
  }
  int64_t *ids = SCT_ARENA_NEW(&w->memory, int64_t, n + 1);
  for (size_t k = 0; k < n; k++) {
    ids[k] = in->n_buffers > 0 ? in->buffers[k] : (int64_t)k;
    if (ids[k] < 0 || (size_t)ids[k] >= w->n_buffers) {
      return sct_worker_malformed(err);
    }
  }
  SCT_TRY(audit_device(w, ids, n, 0, out, err));
  if (!w->peer || out->damage != SCT_DAMAGE_NONE) {
    return SCT_OK;
  }
  SCT_TRY(sct_worker_enter(w, 1, err));
  return audit_device(w, ids, n, 1, out, err);
}

/* The data where they can be compared by words, or a copy of them. */
static sct_status by_words(sct_worker_state *w, const sct_worker_buffer *b, sct_cuda_ptr *out,
                           sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  *out = sct_worker_data(b);
  if (*out % 4 == 0 || ops->compares_anywhere) {
    return SCT_OK;
  }
  if (w->scratch_bytes < b->bytes) {
    if (w->scratch != 0) {
      ops->release(w->backend, w->scratch);
      w->scratch = 0;
      w->scratch_bytes = 0;
    }
    SCT_TRY(ops->alloc(w->backend, &w->scratch, b->bytes + 8, err));
    w->scratch_bytes = b->bytes;
  }
  *out = w->scratch;
  return ops->copy(w->backend, 0, w->scratch, sct_worker_data(b), b->bytes, err);
}

sct_status sct_worker_compare(sct_worker_state *w, const sct_ask_compare *in, sct_difference *out,
                              sct_error *err) {
  const sct_worker_buffer *a = sct_worker_buffer_at(w, in->a, err);
  const sct_worker_buffer *ref = a ? sct_worker_buffer_at(w, in->ref, err) : NULL;
  const sct_worker_buffer *ref2 =
      ref && in->ref2 >= 0 ? sct_worker_buffer_at(w, in->ref2, err) : ref;
  if (!ref2 || ref->bytes != a->bytes || ref2->bytes != a->bytes) {
    return sct_worker_malformed(err);
  }
  sct_cuda_ptr data = 0;
  SCT_TRY(by_words(w, a, &data, err));
  return w->backend->ops->compare(w->backend, data, sct_worker_data(ref),
                                  in->ref2 >= 0 ? sct_worker_data(ref2) : 0, a->bytes, &out->n,
                                  &out->first, err);
}

/* Do all `bytes` bytes at these places lie in the buffer? */
static bool places_inside(const sct_worker_buffer *b, const sct_places *at, int64_t bytes) {
  int64_t low = at->origin, high = at->origin, count = 1;
  bool inside = bytes > 0 && at->count >= 0;
  for (int d = 0; d < SCT_PLACE_DIMS && inside; d++) {
    int64_t span = 0;
    inside = at->extent[d] > 0 && !__builtin_mul_overflow(count, at->extent[d], &count) &&
             !__builtin_mul_overflow(at->stride[d], at->extent[d] - 1, &span) &&
             !__builtin_add_overflow(span < 0 ? low : high, span, span < 0 ? &low : &high);
  }
  return inside && at->count <= count && low >= 0 && high <= b->bytes - bytes;
}

sct_status sct_worker_index(sct_worker_state *w, const sct_ask_index *in, sct_a_count *out,
                            sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  const int64_t bytes = in->values.bytes;
  if (!b || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) || in->values.limit < 1 ||
      !places_inside(b, &in->at, bytes)) {
    return sct_worker_malformed(err);
  }
  out->n = -1;
  if (!w->backend->ops->index) {
    return SCT_OK;
  }
  out->n = in->at.count;
  return w->backend->ops->index(w->backend, sct_worker_data(b), &in->at, &in->values, err);
}

sct_status sct_worker_settle(sct_worker_state *w, const sct_ask_settle *in, sct_a_count *out,
                             sct_error *err) {
  static const int64_t bytes[SCT_N_SETTLE] = {2, 2, 4, 8, 1, 1};
  const sct_worker_buffer *a = sct_worker_buffer_at(w, in->a, err);
  const sct_worker_buffer *ref = a ? sct_worker_buffer_at(w, in->ref, err) : NULL;
  const int64_t type = in->how.type;
  if (!ref || ref->bytes != a->bytes || type < 0 || type >= SCT_N_SETTLE ||
      in->how.bytes != bytes[type] || !places_inside(a, &in->at, bytes[type])) {
    return sct_worker_malformed(err);
  }
  out->n = -1;
  return w->backend->ops->settle
             ? w->backend->ops->settle(w->backend, sct_worker_data(a), sct_worker_data(ref),
                                       &in->at, &in->how, &out->n, err)
             : SCT_OK;
}

sct_status sct_worker_expect(sct_worker_state *w, const sct_ask_expect *in, sct_error *err) {
  const sct_worker_buffer *b = sct_worker_buffer_at(w, in->buffer, err);
  const sct_worker_buffer *flags = b ? sct_worker_buffer_at(w, in->flags, err) : NULL;
  const sct_worker_buffer *data =
      flags && in->data >= 0 ? sct_worker_buffer_at(w, in->data, err) : flags;
  if (!data || !w->backend->ops->expect || flags->bytes != b->bytes || data->bytes != b->bytes) {
    return sct_worker_malformed(err);
  }
  return w->backend->ops->expect(w->backend, sct_worker_data(b), sct_host(sct_worker_data(flags)),
                                 in->data >= 0 ? sct_host(sct_worker_data(data)) : NULL, b->bytes,
                                 err);
}
