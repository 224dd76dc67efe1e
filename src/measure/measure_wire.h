/* measure_wire - length-prefixed messages over one socket, with deadlines.
 *
 * Both ends are the same binary on the same machine, so numbers travel as they lie in memory. */
#ifndef SCT_MEASURE_WIRE_H
#define SCT_MEASURE_WIRE_H

#include "base/base.h"

typedef enum sct_op {
#define SCT_OP(id, handler, doc) SCT_OP_##id,
#include "measure_ops.def"
#undef SCT_OP
  SCT_N_OPS
} sct_op;
const char *sct_op_name(uint32_t op);

/* What both ends must know beside the messages. */
#define SCT_WORKER_FD   3    /* the worker's end of the socket */
#define SCT_GUARD_BYTES 4096 /* before and after every buffer */
#define SCT_MAX_ARGS    64   /* of a kernel */
#define SCT_MAX_COPIES  4096 /* of a buffer */
/* Results beside the CUresults (all below 1,000): what the interpreter of PTX found, the diagnosis
 * of kind k as SCT_RESULT_PTX + k; and PTX that it does not know. Neither ends the worker. */
#define SCT_RESULT_UNSUPPORTED 9999
#define SCT_RESULT_PTX         10000
typedef enum sct_damage {
  SCT_DAMAGE_NONE,
  SCT_DAMAGE_BEFORE, /* in the guard zone before the buffer; the offset is negative */
  SCT_DAMAGE_AFTER,  /* in the one after it; the offset counts from the buffer's start */
  SCT_DAMAGE_CONTENT /* a sealed buffer changed; offset 0 */
} sct_damage;

/* A message body: written at the end, read from `at`. A zeroed struct is an empty body. Reading
 * past the end and running out of memory set `failed` and give zeros. The bytes after `len` hold a
 * NUL (the driver wants PTX so). */
typedef struct sct_wire {
  uint8_t *data;
  size_t len, cap, at;
  bool failed;
} sct_wire;
void sct_wire_clear(sct_wire *w); /* keeps the memory */
void sct_wire_free(sct_wire *w);
void sct_wire_put_i64(sct_wire *w, int64_t value);
void sct_wire_put_u64(sct_wire *w, uint64_t value);
void sct_wire_put_f64(sct_wire *w, double value);
void sct_wire_put_bytes(sct_wire *w, const void *bytes, size_t n); /* n, then the bytes */
void sct_wire_put_text(sct_wire *w, const char *text);
int64_t sct_wire_get_i64(sct_wire *w);
uint64_t sct_wire_get_u64(sct_wire *w);
double sct_wire_get_f64(sct_wire *w);
const uint8_t *sct_wire_get_bytes(sct_wire *w, size_t *n); /* points into the body; never NULL */
const char *sct_wire_get_text(sct_wire *w);                /* "" on failure */

typedef enum sct_io { SCT_IO_OK, SCT_IO_CLOSED, SCT_IO_TIMEOUT, SCT_IO_NOMEM } sct_io;
#define SCT_NO_DEADLINE       INT64_MAX
#define SCT_WIRE_MAX_BYTES    ((uint64_t)1 << 28) /* of one message; longer data travel in pieces */
#define SCT_WIRE_PIECE_BYTES  ((int64_t)16 << 20)
#define SCT_WIRE_HEADER_BYTES 16

/* `code` is an sct_op on the way to the worker and an sct_status on the way back. Deadlines are in
 * sct_now_ns() time. Never raises SIGPIPE. */
sct_io sct_wire_send(int fd, uint32_t code, const sct_wire *body, int64_t deadline_ns);
sct_io sct_wire_recv(int fd, uint32_t *code, sct_wire *body, int64_t deadline_ns);

#endif
