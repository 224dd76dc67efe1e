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
