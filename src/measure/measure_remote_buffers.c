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
  return alloc(m, &(sct_ask_alloc){.bytes = bytes, .copies = copies}, buffer, err);
}

sct_status sct_remote_alloc_at(sct_measure *m, const sct_shape *s, int op, int64_t residue,
                               int64_t *buffer, sct_error *err) {
  const sct_ask_alloc request = {.bytes = s->op[op].bytes,
                                 .copies = 1,
                                 .residue = residue,
                                 .sparse = sct_shape_is_sparse(s, op)};
  return alloc(m, &request, buffer, err);
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

/* The spans of a sparse array, of which a request takes some: p->spans[0..n). */
typedef struct pieces {
  const sct_shape *s;
  int op, span; /* the next one */
  int64_t at;   /* in it */
  sct_span *spans;
  int64_t n;
} pieces;

static bool next_piece(pieces *p) {
  int64_t room = SCT_WIRE_PIECE_BYTES;
  p->spans = p->spans ? p->spans : sct_alloc(sizeof *p->spans * SCT_MAX_SPANS);
  for (p->n = 0; p->span < p->s->op[p->op].n_spans && p->n < SCT_MAX_SPANS && room > 0; p->n++) {
    const sct_span whole = p->s->op[p->op].spans[p->span];
    const int64_t from = whole.from + p->at, left = whole.to - from;
    const int64_t bytes = left < room ? left : room;
    p->spans[p->n] = (sct_span){from, from + bytes};
    room -= bytes;
    p->at = bytes < left ? p->at + bytes : 0;
    p->span += bytes == left;
  }
  return p->n > 0;
}

/* The spans of an image to a buffer, and the background around them. */
static sct_status upload_spans(sct_measure *m, const sct_shape *s, int op, const uint8_t *image,
                               uint8_t background, int64_t buffer, sct_error *err) {
  if (!sct_shape_is_sparse(s, op)) {
    return sct_remote_upload(m, buffer, image, s->op[op].bytes, err);
  }
  pieces p = {.s = s, .op = op};
  SCT_OWNED uint8_t *data = sct_alloc((size_t)SCT_WIRE_PIECE_BYTES);
  sct_status status = sct_ask_SET(m, &(sct_ask_set){buffer, background}, NULL, err);
  while (status == SCT_OK && next_piece(&p)) {
    int64_t at = 0;
    for (int64_t k = 0; k < p.n; k++) {
      const int64_t bytes = p.spans[k].to - p.spans[k].from;
      memcpy(data + at, image + p.spans[k].from, (size_t)bytes);
      at += bytes;
    }
    status = sct_ask_SCATTER(m, &(sct_ask_scatter){buffer, p.spans, p.n, data, at}, NULL, err);
  }
  sct_free(p.spans);
  return status;
}

sct_status sct_remote_alloc_sealed(sct_measure *m, const sct_shape *s, int op, const uint8_t *image,
                                   uint8_t background, int64_t *buffer, sct_error *err) {
  const int64_t bytes = s->op[op].bytes;
  if (bytes > SCT_WIRE_PIECE_BYTES || sct_shape_is_sparse(s, op)) {
    SCT_TRY(sct_remote_alloc_at(m, s, op, 0, buffer, err));
    SCT_TRY(upload_spans(m, s, op, image, background, *buffer, err));
    return sct_ask_SEAL(m, &(sct_a_buffer){*buffer}, NULL, err);
  }
  sct_a_buffer got;
  SCT_TRY(sct_ask_PLACE(m, &(sct_ask_place){image, bytes}, &got, err));
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

sct_status sct_remote_download_spans(sct_measure *m, int64_t buffer, const sct_shape *s, int op,
                                     uint8_t *image, sct_error *err) {
  if (!sct_shape_is_sparse(s, op)) {
    return sct_remote_download(m, buffer, 0, image, s->op[op].bytes, err);
  }
  pieces p = {.s = s, .op = op};
  sct_status status = SCT_OK;
  while (status == SCT_OK && next_piece(&p)) {
    sct_got_download got = {0};
    const uint8_t *data = NULL;
    status = sct_ask_GATHER(m, &(sct_ask_gather){buffer, p.spans, p.n}, &got, err);
    data = got.data;
    for (int64_t k = 0; k < p.n && status == SCT_OK; k++) {
      const int64_t bytes = p.spans[k].to - p.spans[k].from;
      if (bytes > got.n_data - (data - got.data)) {
        status = sct_fail(err, SCT_EINTERNAL, "malformed answer to GATHER");
        break;
      }
      memcpy(image + p.spans[k].from, data, (size_t)bytes);
      data += bytes;
    }
  }
  sct_free(p.spans);
  sct_reply_free(&m->reply); /* it may be large */
  return status;
}

sct_status sct_remote_set_expected(sct_measure *m, int64_t buffer, const sct_shape *s, int op,
                                   const uint8_t *flags, const uint8_t *data, sct_error *err) {
  int64_t both[2] = {-1, -1}; /* they may be as large as arrays are, so they go as these do */
  sct_wire freed = {0};
  uint8_t *written = sct_image_new(s, op);
  for (int n = 0; n < sct_shape_n_spans(s, op); n++) {
    const sct_span span = sct_shape_span(s, op, n);
    for (int64_t k = span.from; k < span.to; k++) {
      written[k] = (flags[k] & SCT_BYTE_WRITTEN) != 0;
    }
  }
  sct_status status = sct_remote_alloc_sealed(m, s, op, written, 0, &both[0], err);
  if (status == SCT_OK && data) {
    status = sct_remote_alloc_sealed(m, s, op, data, 0, &both[1], err);
  }
  if (status == SCT_OK) {
    const sct_ask_expect request = {buffer, both[0], both[1]};
    status = sct_ask_EXPECT(m, &request, NULL, err);
  }
  sct_image_free(written, s, op);
  sct_remote_put_freed(&freed, both, 2);
  sct_remote_free(m, &freed);
  return status;
}
