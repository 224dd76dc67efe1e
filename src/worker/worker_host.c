/* Entries of the worker's table for memory that is the host's own: the interpreter of PTX and what
 * stands in for a GPU share them. */
#include "worker_backend.h"

#include <string.h>

sct_status sct_host_upload(sct_backend *b, sct_cuda_ptr to, const void *from, int64_t bytes,
                           sct_error *err) {
  (void)b;
  (void)err;
  memcpy(sct_host(to), from, (size_t)bytes);
  return SCT_OK;
}

sct_status sct_host_download(sct_backend *b, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err) {
  (void)b;
  (void)err;
  memcpy(to, sct_host(from), (size_t)bytes);
  return SCT_OK;
}

sct_status sct_host_scatter(sct_backend *b, sct_cuda_ptr p, const sct_span *spans, int64_t n,
                            const uint8_t *data, sct_error *err) {
  sct_status status = SCT_OK;
  for (int64_t k = 0; k < n && status == SCT_OK; k++) {
    const int64_t bytes = spans[k].to - spans[k].from;
    status = b->ops->upload(b, p + (uint64_t)spans[k].from, data, bytes, err);
    data += bytes;
  }
  return status;
}

sct_status sct_host_gather(sct_backend *b, uint8_t *data, sct_cuda_ptr p, const sct_span *spans,
                           int64_t n, sct_error *err) {
  sct_status status = SCT_OK;
  for (int64_t k = 0; k < n && status == SCT_OK; k++) {
    const int64_t bytes = spans[k].to - spans[k].from;
    status = b->ops->download(b, data, p + (uint64_t)spans[k].from, bytes, err);
    data += bytes;
  }
  return status;
}

sct_status sct_host_set(sct_backend *b, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                        sct_error *err) {
  (void)b;
  (void)err;
  memset(sct_host(p), byte, (size_t)bytes);
  return SCT_OK;
}

sct_status sct_host_fill(sct_backend *b, sct_cuda_ptr p, int64_t words, uint64_t and_mask,
                         uint64_t or_mask, uint64_t seed, sct_error *err) {
  (void)b;
  (void)err;
  for (int64_t k = 0; k < words; k++) {
    const uint64_t word = (sct_mix64(seed, (uint64_t)k) & and_mask) | or_mask;
    memcpy(sct_host(p) + k * 8, &word, sizeof word);
  }
  return SCT_OK;
}

sct_status sct_host_compare(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref, sct_cuda_ptr ref2,
                            int64_t bytes, int64_t *n_differ, int64_t *first, sct_error *err) {
  (void)b;
  (void)err;
  *n_differ =
      sct_bytes_differ(sct_host(a), sct_host(ref), ref2 ? sct_host(ref2) : NULL, bytes, first);
  return SCT_OK;
}

/* ---- transfers ---- */

#define MOST_MOVED ((int64_t)1 << 20)

static int64_t moved(int64_t bytes) {
  return bytes < MOST_MOVED ? bytes : MOST_MOVED;
}

sct_status sct_host_block_open(sct_backend *b, sct_backend *peer, sct_host_block *out,
                               sct_host_kind kind, int64_t bytes, sct_error *err) {
  (void)b;
  *out = (sct_host_block){.kind = kind, .bytes = moved(bytes)};
  if (peer) {
    return peer->ops->alloc(peer, &out->alias, out->bytes, err);
  }
  out->host = sct_alloc((size_t)out->bytes);
  out->alias = kind == SCT_HOST_MANAGED || kind == SCT_HOST_MAPPED ? (uintptr_t)out->host : 0;
  return SCT_OK;
}

void sct_host_block_close(sct_backend *b, sct_backend *peer, sct_host_block *block) {
  (void)b;
  if (peer) {
    peer->ops->release(peer, block->alias);
  }
  sct_free(block->host);
  *block = (sct_host_block){0};
}

static uint8_t *bytes_of(const sct_host_block *block) {
  return block->host ? block->host : sct_host(block->alias);
}

sct_status sct_host_transfer(sct_backend *b, const sct_transfer *t, double *ns, sct_error *err) {
  (void)err;
  const size_t bytes = (size_t)moved(t->bytes);
  const int64_t start = sct_now_ns();
  if ((t->way & SCT_TO_DEVICE) != 0 && t->block[0].kind != SCT_HOST_MANAGED) {
    memcpy(sct_host(t->device[0]), bytes_of(&t->block[0]), bytes);
  }
  if ((t->way & SCT_TO_HOST) != 0 && t->block[1].kind != SCT_HOST_MANAGED) {
    memcpy(bytes_of(&t->block[1]), sct_host(t->device[1]), bytes);
  }
  *ns = b->desc.is_virtual ? sct_stated_transfer_ns(&b->desc, t->peer ? &t->peer->desc : NULL,
                                                    t->block[0].kind, t->way, t->bytes)
                           : (double)(sct_now_ns() - start);
  return SCT_OK;
}
