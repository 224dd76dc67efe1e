/* Requests about the worker's buffers, one function each: encode, ask, decode. */
#include "measure_session.h"

#include <string.h>

/* A request whose failure is nobody's fault but the device's, the worker's or ours. */
static sct_status ask(sct_measure *m, sct_op op, const sct_wire *request, sct_reply *reply,
                      sct_error *err) {
  sct_worker_call(&m->worker, op, request, m->request_ns, reply);
  return sct_remote_settle(m, op, reply, err);
}

/* The same where the reply is n numbers, or is not read. Frees the request. */
static sct_status ask_once(sct_measure *m, sct_op op, sct_wire *request, int64_t *out, int n,
                           sct_error *err) {
  sct_reply reply = {0};
  sct_worker_call(&m->worker, op, request, m->request_ns, &reply);
  const sct_status status = sct_remote_numbers(m, op, &reply, out, n, err);
  sct_wire_free(request);
  sct_reply_free(&reply);
  return status;
}

sct_status sct_remote_ask(sct_measure *m, sct_op op, const int64_t *in, int n_in, int64_t *out,
                          int n_out, sct_error *err) {
  sct_wire request = {0};
  for (int k = 0; k < n_in; k++) {
    sct_wire_put_i64(&request, in[k]);
  }
  return ask_once(m, op, &request, out, n_out, err);
}

/* ---- buffers ---- */

sct_status sct_remote_alloc(sct_measure *m, int64_t bytes, int64_t copies, int64_t *buffer,
                            sct_error *err) {
  return sct_remote_ask(m, SCT_OP_ALLOC, (const int64_t[]){bytes, copies, 0}, 3, buffer, 1, err);
}

sct_status sct_remote_alloc_at(sct_measure *m, int64_t bytes, int64_t align, int64_t *buffer,
                               sct_error *err) {
  return sct_remote_ask(m, SCT_OP_ALLOC, (const int64_t[]){bytes, 1, align}, 3, buffer, 1, err);
}

sct_status sct_remote_repeat(sct_measure *m, int64_t buffer, sct_error *err) {
  return sct_remote_ask(m, SCT_OP_REPEAT, &buffer, 1, NULL, 0, err);
}

void sct_remote_put_freed(sct_wire *request, const int64_t *buffers, int n) {
  for (int k = 0; k < n; k++) {
    if (buffers[k] >= 0) {
      sct_wire_put_i64(request, buffers[k]);
    }
  }
}

void sct_remote_free(sct_measure *m, sct_wire *request) {
  if (request->len > 0 && sct_child_alive(&m->worker)) {
    (void)ask_once(m, SCT_OP_FREE, request, NULL, 0, NULL);
  }
  sct_wire_free(request);
}

sct_status sct_remote_set(sct_measure *m, int64_t buffer, uint8_t byte, sct_error *err) {
  return sct_remote_ask(m, SCT_OP_SET, (const int64_t[]){buffer, byte}, 2, NULL, 0, err);
}

sct_status sct_remote_copy(sct_measure *m, int64_t to, int64_t from, sct_error *err) {
  return sct_remote_ask(m, SCT_OP_COPY, (const int64_t[]){to, from}, 2, NULL, 0, err);
}

sct_status sct_remote_seal(sct_measure *m, int64_t buffer, sct_error *err) {
  return sct_remote_ask(m, SCT_OP_SEAL, &buffer, 1, NULL, 0, err);
}

sct_status sct_remote_name(sct_measure *m, int64_t buffer, const char *name, sct_error *err) {
  sct_wire request = {0};
  sct_wire_put_i64(&request, buffer);
  sct_wire_put_text(&request, name);
  return ask_once(m, SCT_OP_NAME, &request, NULL, 0, err);
}

sct_status sct_remote_fill(sct_measure *m, int64_t buffer, sct_masks masks, uint64_t seed,
                           sct_error *err) {
  const int64_t in[] = {buffer, (int64_t)masks.and_mask, (int64_t)masks.or_mask, (int64_t)seed};
  return sct_remote_ask(m, SCT_OP_FILL, in, SCT_COUNT(in), NULL, 0, err);
}

sct_status sct_remote_compare(sct_measure *m, int64_t a, int64_t ref, int64_t ref2,
                              int64_t *n_differ, int64_t *first, sct_error *err) {
  int64_t out[2] = {0, -1};
  SCT_TRY(sct_remote_ask(m, SCT_OP_COMPARE, (const int64_t[]){a, ref, ref2}, 3, out, 2, err));
  *n_differ = out[0];
  *first = out[1];
  return SCT_OK;
}

sct_status sct_remote_take_audit(sct_measure *m, sct_reply *reply, sct_audit *out, sct_error *err) {
  int64_t answer[3];
  SCT_TRY(sct_remote_numbers(m, SCT_OP_AUDIT, reply, answer, 3, err));
  *out = (sct_audit){(sct_damage)answer[0], answer[1], answer[2]};
  return SCT_OK;
}

sct_status sct_remote_audit(sct_measure *m, sct_audit *out, sct_error *err) {
  sct_wire request = {0};
  sct_reply reply = {0};
  sct_wire_put_i64(&request, 0); /* none listed */
  sct_worker_call(&m->worker, SCT_OP_AUDIT, &request, m->request_ns, &reply);
  const sct_status status = sct_remote_take_audit(m, &reply, out, err);
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return status;
}

sct_status sct_remote_upload(sct_measure *m, int64_t buffer, const uint8_t *data, int64_t bytes,
                             sct_error *err) {
  sct_wire request = {0};
  sct_reply reply = {0};
  sct_status status = SCT_OK;
  for (int64_t at = 0; at < bytes && status == SCT_OK; at += SCT_WIRE_PIECE_BYTES) {
    const int64_t piece = bytes - at < SCT_WIRE_PIECE_BYTES ? bytes - at : SCT_WIRE_PIECE_BYTES;
    sct_wire_clear(&request);
    sct_wire_put_i64(&request, buffer);
    sct_wire_put_i64(&request, at);
    sct_wire_put_bytes(&request, data + at, (size_t)piece);
    status = ask(m, SCT_OP_UPLOAD, &request, &reply, err);
  }
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return status;
}

sct_status sct_remote_place(sct_measure *m, const uint8_t *data, int64_t bytes, int64_t *buffer,
                            sct_error *err) {
  if (bytes > SCT_WIRE_PIECE_BYTES) {
    SCT_TRY(sct_remote_alloc(m, bytes, 1, buffer, err));
    SCT_TRY(sct_remote_upload(m, *buffer, data, bytes, err));
    return sct_remote_seal(m, *buffer, err);
  }
  sct_wire request = {0};
  sct_wire_put_tail(&request, data, (size_t)bytes);
  return ask_once(m, SCT_OP_PLACE, &request, buffer, 1, err);
}

sct_status sct_remote_download(sct_measure *m, int64_t buffer, int64_t offset, uint8_t *data,
                               int64_t bytes, sct_error *err) {
  sct_wire request = {0};
  sct_reply reply = {0};
  sct_status status = SCT_OK;
  for (int64_t at = 0; at < bytes && status == SCT_OK; at += SCT_WIRE_PIECE_BYTES) {
    const int64_t piece = bytes - at < SCT_WIRE_PIECE_BYTES ? bytes - at : SCT_WIRE_PIECE_BYTES;
    size_t n = 0;
    sct_wire_clear(&request);
    sct_wire_put_i64(&request, buffer);
    sct_wire_put_i64(&request, offset + at);
    sct_wire_put_i64(&request, piece);
    SCT_TRY_DONE(ask(m, SCT_OP_DOWNLOAD, &request, &reply, err));
    const uint8_t *got = sct_wire_get_bytes(&reply.body, &n);
    if (n != (size_t)piece) {
      status = sct_fail(err, SCT_EINTERNAL, "malformed answer to DOWNLOAD");
      goto done;
    }
    memcpy(data + at, got, n);
  }
done:
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return status;
}

sct_status sct_remote_expect(sct_measure *m, int64_t buffer, const uint8_t *flags,
                             const uint8_t *data, int64_t bytes, sct_error *err) {
  int64_t both[2] = {-1, -1}; /* they may be as large as arrays are, so they go as these do */
  sct_wire freed = {0};
  uint8_t *written = sct_alloc((size_t)bytes + 1);
  for (int64_t k = 0; k < bytes; k++) {
    written[k] = (flags[k] & SCT_BYTE_WRITTEN) != 0;
  }
  sct_status status = sct_remote_place(m, written, bytes, &both[0], err);
  status = status == SCT_OK ? sct_remote_place(m, data, bytes, &both[1], err) : status;
  if (status == SCT_OK) {
    status = sct_remote_ask(m, SCT_OP_EXPECT, (const int64_t[]){buffer, both[0], both[1]}, 3, NULL,
                            0, err);
  }
  sct_free(written);
  sct_remote_put_freed(&freed, both, 2);
  sct_remote_free(m, &freed);
  return status;
}
