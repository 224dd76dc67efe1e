/* Copies between a device and the host, or a second device. One sample is one transfer, from the
 * call until the host knows that it is done, so that latency is what a program sees. Marks at both
 * ends of an array show that its bytes have arrived. */
#include "worker_state.h"

#include <string.h>

#define MARK_BYTES 512
#define MARK_SEED  UINT64_C(0x7472616e73666572)

void sct_worker_close_ends(sct_worker_state *w) {
  sct_transfer *t = &w->ends.at;
  for (int k = 0; k < 2 && w->backend; k++) {
    if (t->device[k] != 0 && w->ends.kind != SCT_HOST_MANAGED) {
      w->backend->ops->release(w->backend, t->device[k]);
    }
    if (t->block[k].host || t->peer) {
      w->backend->ops->block_close(w->backend, t->peer, &t->block[k]);
    }
  }
  w->ends = (sct_worker_ends){0};
}

/* Bytes of a block come from `put` (else NULL), or go to `get`. */
static sct_status move(sct_worker_state *w, const sct_host_block *block, int64_t at,
                       const void *put, void *get, int64_t bytes, sct_error *err) {
  sct_backend *peer = w->ends.at.peer;
  if (!peer) {
    uint8_t *host = (uint8_t *)block->host + at;
    memcpy(put ? host : get, put ? put : host, (size_t)bytes);
    return SCT_OK;
  }
  const sct_cuda_ptr p = block->alias + (uint64_t)at;
  sct_status status = sct_worker_enter(w, 1, err);
  SCT_THEN(put ? peer->ops->upload(peer, p, put, bytes, err)
               : peer->ops->download(peer, get, p, bytes, err));
  const sct_status back = sct_worker_enter(w, 0, status == SCT_OK ? err : NULL);
  return status == SCT_OK ? back : status;
}

/* ---- both sides ---- */

static sct_status open_ends(sct_worker_state *w, const sct_ask_transfer *in, sct_error *err) {
  const sct_backend_ops *ops = w->backend->ops;
  sct_worker_ends *e = &w->ends;
  if (in->n_peer > 0) {
    SCT_TRY(sct_worker_peer(w, in->peer, err));
    e->at.peer = w->peer;
  }
  e->kind = in->kind;
  e->room = in->room;
  for (int k = 0; k < 2; k++) {
    sct_host_block *block = &e->at.block[k];
    const int64_t start = sct_now_ns();
    SCT_TRY(ops->block_open(w->backend, e->at.peer, block, in->kind, in->room, err));
    e->made_ns = (double)(sct_now_ns() - start);
    if (in->kind == SCT_HOST_MANAGED) {
      e->at.device[k] = block->alias;
    } else {
      SCT_TRY(ops->alloc(w->backend, &e->at.device[k], block->bytes, err));
    }
  }
  e->open = true;
  return SCT_OK;
}

/* Where the two marks begin in arrays of which t->bytes bytes are transferred. */
static int64_t mark_bytes(const sct_transfer *t) {
  return t->bytes < MARK_BYTES ? t->bytes : MARK_BYTES;
}

static int64_t mark_at(const sct_transfer *t, int mark) {
  const int64_t there = t->bytes < t->block[0].bytes ? t->bytes : t->block[0].bytes;
  return mark == 0 ? 0 : there - mark_bytes(t);
}

static void make_mark(uint8_t out[MARK_BYTES], int k, int mark, bool inverted) {
  for (int i = 0; i < MARK_BYTES / 8; i++) {
    const uint64_t word = sct_mix64(MARK_SEED + (uint64_t)(2 * k + mark), (uint64_t)i);
    const uint64_t value = inverted ? ~word : word;
    memcpy(out + 8 * i, &value, sizeof value);
  }
}

/* Marks where the bytes come from, their opposite where they go to. */
static sct_status put_marks(sct_worker_state *w, const sct_transfer *t, int k, sct_error *err) {
  for (int mark = 1; mark >= 0;
       mark--) { /* of short arrays they are one place, and the first stays */
    uint8_t source[MARK_BYTES], other[MARK_BYTES];
    make_mark(source, k, mark, false);
    make_mark(other, k, mark, true);
    const int64_t at = mark_at(t, mark);
    if (w->ends.kind != SCT_HOST_MANAGED) { /* which is one place */
      SCT_TRY(w->backend->ops->upload(w->backend, t->device[k] + (uint64_t)at,
                                      k == 0 ? other : source, mark_bytes(t), err));
    }
    SCT_TRY(move(w, &t->block[k], at, k == 0 || w->ends.kind == SCT_HOST_MANAGED ? source : other,
                 NULL, mark_bytes(t), err));
  }
  return SCT_OK;
}

static sct_status find_wrong(sct_worker_state *w, const sct_transfer *t, int k, int64_t *wrong,
                             sct_error *err) {
  for (int mark = mark_at(t, 1) < mark_bytes(t) ? 0 : 1; mark >= 0; mark--) {
    uint8_t expected[MARK_BYTES], found[MARK_BYTES];
    make_mark(expected, k, mark, false);
    const int64_t at = mark_at(t, mark);
    if (k == 0) {
      SCT_TRY(w->backend->ops->download(w->backend, found, t->device[k] + (uint64_t)at,
                                        mark_bytes(t), err));
    } else {
      SCT_TRY(move(w, &t->block[k], at, NULL, found, mark_bytes(t), err));
    }
    int64_t first = -1;
    if (sct_bytes_differ(found, expected, NULL, mark_bytes(t), &first) > 0) {
      *wrong = at + first;
    }
  }
  return SCT_OK;
}

static sct_status take_samples(sct_worker_state *w, const sct_ask_transfer *in,
                               sct_got_transfer *out, sct_error *err) {
  double *samples = SCT_ARENA_NEW(&w->memory, double, in->most + 1);
  double first_ns = 0; /* loads code, brings pages */
  SCT_TRY(w->backend->ops->transfer(w->backend, &w->ends.at, &first_ns, err));
  const int64_t start = sct_now_ns();
  int64_t n = 0;
  while (n < in->least || (n < in->most && sct_now_ns() - start < in->limit_ns)) {
    SCT_TRY(w->backend->ops->transfer(w->backend, &w->ends.at, &samples[n++], err));
  }
  out->samples_ns = samples;
  out->n_samples_ns = n;
  return SCT_OK;
}

sct_status sct_worker_transfer(sct_worker_state *w, const sct_ask_transfer *in,
                               sct_got_transfer *out, sct_error *err) {
  if (!w->backend || !w->backend->ops->transfer || in->bytes > in->room || in->least > in->most ||
      in->bytes % 16 != 0 || sct_host_is_peer(in->kind) != (in->n_peer > 0)) {
    return sct_worker_malformed(err);
  }
  if (!w->ends.open || w->ends.kind != in->kind || w->ends.room != in->room) {
    sct_worker_close_ends(w);
    SCT_TRY(open_ends(w, in, err));
  }
  w->ends.at.way = in->way;
  w->ends.at.bytes = in->bytes;
  out->wrong = -1;
  out->made_ns = w->ends.made_ns;
  for (int k = 0; k < 2; k++) {
    if (((int)in->way & 1 << k) != 0) {
      SCT_TRY(put_marks(w, &w->ends.at, k, err));
    }
  }
  SCT_TRY(take_samples(w, in, out, err));
  for (int k = 0; k < 2; k++) {
    if (((int)in->way & 1 << k) != 0) {
      SCT_TRY(find_wrong(w, &w->ends.at, k, &out->wrong, err));
    }
  }
  return SCT_OK;
}
