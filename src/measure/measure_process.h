/* measure_process - one worker process: asked with a deadline. Parent's side. */
#ifndef SCT_MEASURE_PROCESS_H
#define SCT_MEASURE_PROCESS_H

#include "worker/worker.h"

/* How a request ended. After anything but REPLY_OK and REPLY_FAILED the worker is gone. */
typedef enum sct_reply_kind {
  SCT_REPLY_OK,
  SCT_REPLY_FAILED,  /* the worker reports a failure: status, result, text */
  SCT_REPLY_DIED,    /* it ended; how is in text */
  SCT_REPLY_TIMEOUT, /* it was killed */
  SCT_REPLY_NOMEM    /* it was refused memory */
} sct_reply_kind;

typedef struct sct_reply {
  sct_reply_kind kind;
  sct_status status; /* SCT_EUNHEALTHY for one that died or was killed, SCT_ENOMEM */
  int result;        /* CUresult, 0: none */
  char text[1024];
  sct_wire body; /* of REPLY_OK, read position at the start */
} sct_reply;
void sct_reply_free(sct_reply *reply); /* leaves an empty reply */

/* Starts `program` (NULL: this one) as a worker (module process). SCT_EIO. */
sct_status sct_worker_start(sct_child *w, const char *program, sct_error *err);
/* One request and its reply within limit_ns. A worker that misses it is killed with its group. One
 * that reports a sticky CUDA result is ended too (reply->kind stays REPLY_FAILED). */
void sct_worker_call(sct_child *w, sct_op op, const sct_wire *request, int64_t limit_ns,
                     sct_reply *reply);
/* sct_worker_call() with the structs of worker_ops.def. Where reply->kind is REPLY_OK, `answer` is
 * filled (NULL: it is not read); what it points to is part of the reply. */
void sct_worker_ask(sct_child *w, sct_op op, const void *request, int64_t limit_ns,
                    sct_reply *reply, void *answer);
/* Reads the answer of a reply; one that is malformed becomes REPLY_FAILED. */
void sct_reply_read(sct_reply *reply, sct_op op, void *answer);
/* Asks it to end and waits, at most grace_ns; then kills. Accepts one that is gone. Returns its
 * exit status, -1 if a signal ended it. */
int sct_worker_stop(sct_child *w, int64_t grace_ns);
/* Sends a request to end and does not wait for it. false: it cannot be sent. */
bool sct_worker_end_later(sct_child *w);

#endif
