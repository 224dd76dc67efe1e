/* Requests about the worker's buffers, one function each: encode, ask, decode. */
#include "measure_session.h"

#include <string.h>

static sct_status alloc(sct_measure *m, const sct_ask_alloc *request, int64_t *buffer,
                        sct_error *err) {
  sct_a_buffer got;
  SCT_TRY(sct_ask_ALLOC(m, request, &got, err));
  *buffer = got.buffer;
  return SCT_OK;
}

sct_status sct_remote_alloc(sct_measure *m, int64_t bytes, int64_t copies, int64_t *buffer,
                            sct_error *err) {
  return alloc(m, &(sct_ask_alloc){bytes, copies, 0, 0}, buffer, err);
}

sct_status sct_remote_alloc_on(sct_measure *m, int64_t bytes, int device, int64_t *buffer,
                               sct_error *err) {
  return alloc(m, &(sct_ask_alloc){bytes, 1, 0, device}, buffer, err);
}

sct_status sct_remote_alloc_at(sct_measure *m, int64_t bytes, int64_t align, int64_t *buffer,
                               sct_error *err) {
  return alloc(m, &(sct_ask_alloc){bytes, 1, align, 0}, buffer, err);
}

void sct_remote_put_freed(sct_wire *freed, const int64_t *buffers, int n) {
  for (int k = 0; k < n; k++) {
    if (buffers[k] >= 0) {
      sct_wire_put_raw(freed, &buffers[k], sizeof buffers[k]);
    }
  }
}

void sct_remote_free(sct_measure *m, sct_wire *freed) {
  const sct_ask_free request = {(const int64_t *)(const void *)freed->data,
                                (int64_t)(freed->len / sizeof(int64_t))};
  if (request.n_buffers > 0 && sct_child_alive(&m->worker)) {
    (void)sct_ask_FREE(m, &request, NULL, NULL);
  }
  sct_wire_free(freed);
}

static int64_t piece_of(int64_t left) {
  return left < SCT_WIRE_PIECE_BYTES ? left : SCT_WIRE_PIECE_BYTES;
}

sct_status sct_remote_upload(sct_measure *m, int64_t buffer, const uint8_t *data, int64_t bytes,
                             sct_error *err) {
  for (int64_t at = 0; at < bytes; at += SCT_WIRE_PIECE_BYTES) {
    const sct_ask_upload request = {buffer, at, data + at, piece_of(bytes - at)};
    SCT_TRY(sct_ask_UPLOAD(m, &request, NULL, err));
  }
  return SCT_OK;
}

sct_status sct_remote_alloc_sealed(sct_measure *m, const uint8_t *data, int64_t bytes,
                                   int64_t *buffer, sct_error *err) {
  if (bytes > SCT_WIRE_PIECE_BYTES) {
    SCT_TRY(sct_remote_alloc(m, bytes, 1, buffer, err));
    SCT_TRY(sct_remote_upload(m, *buffer, data, bytes, err));
    return sct_ask_SEAL(m, &(sct_a_buffer){*buffer}, NULL, err);
  }
  sct_a_buffer got;
  SCT_TRY(sct_ask_PLACE(m, &(sct_ask_place){data, bytes}, &got, err));
  *buffer = got.buffer;
  return SCT_OK;
}

sct_status sct_remote_download(sct_measure *m, int64_t buffer, int64_t offset, uint8_t *data,
                               int64_t bytes, sct_error *err) {
  sct_status status = SCT_OK;
  for (int64_t at = 0; at < bytes && status == SCT_OK; at += SCT_WIRE_PIECE_BYTES) {
    const sct_ask_download request = {buffer, offset + at, piece_of(bytes - at)};
    sct_got_download got = {0};
    status = sct_ask_DOWNLOAD(m, &request, &got, err);
    if (status == SCT_OK && got.n_data != request.bytes) {
      status = sct_fail(err, SCT_EINTERNAL, "malformed answer to DOWNLOAD");
    } else if (status == SCT_OK) {
      memcpy(data + at, got.data, (size_t)got.n_data);
    }
  }
  sct_reply_free(&m->reply); /* it may be large */
  return status;
}

sct_status sct_remote_set_expected(sct_measure *m, int64_t buffer, const uint8_t *flags,
                                   const uint8_t *data, int64_t bytes, sct_error *err) {
  int64_t both[2] = {-1, -1}; /* they may be as large as arrays are, so they go as these do */
  sct_wire freed = {0};
  uint8_t *written = sct_alloc((size_t)bytes + 1);
  for (int64_t k = 0; k < bytes; k++) {
    written[k] = (flags[k] & SCT_BYTE_WRITTEN) != 0;
  }
  sct_status status = sct_remote_alloc_sealed(m, written, bytes, &both[0], err);
  if (status == SCT_OK && data) {
    status = sct_remote_alloc_sealed(m, data, bytes, &both[1], err);
  }
  if (status == SCT_OK) {
    const sct_ask_expect request = {buffer, both[0], both[1]};
    status = sct_ask_EXPECT(m, &request, NULL, err);
  }
  sct_free(written);
  sct_remote_put_freed(&freed, both, 2);
  sct_remote_free(m, &freed);
  return status;
}
