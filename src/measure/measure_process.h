/* measure_process - one worker process: start, ask with a deadline, replace. Parent's side. */
#ifndef SCT_MEASURE_PROCESS_H
#define SCT_MEASURE_PROCESS_H

#include "measure_wire.h"

#include <sys/types.h>

typedef struct sct_worker {
  pid_t pid; /* 0: none */
  int fd;    /* our end of the socket */
} sct_worker;

/* How a request ended. After anything but REPLY_OK and REPLY_FAILED the worker is gone. */
typedef enum sct_reply_kind {
  SCT_REPLY_OK,
  SCT_REPLY_FAILED,  /* the worker says no: status, result, text */
  SCT_REPLY_DIED,    /* it ended: text says how */
  SCT_REPLY_TIMEOUT, /* it was killed */
  SCT_REPLY_NOMEM    /* here, not there */
} sct_reply_kind;

typedef struct sct_reply {
  sct_reply_kind kind;
  sct_status status;
  int result; /* CUresult, 0: none */
  char text[1024];
  sct_wire body; /* of REPLY_OK, read position at the start */
} sct_reply;
void sct_reply_free(sct_reply *reply); /* leaves an empty reply */

/* Starts `program` (NULL: this one) as a worker: own process group, parent-death signal, stdin
 * empty, stdout joined to stderr, no other descriptor. The death signal follows the thread that
 * calls this: call it from one that lives as long as the session. SCT_EIO. */
sct_status sct_worker_start(sct_worker *w, const char *program, sct_error *err) SCT_MUST_USE;
bool sct_worker_alive(const sct_worker *w); /* as far as we were told */
/* Collects a worker that ended without being asked; false: there is none any more. */
bool sct_worker_check(sct_worker *w);
/* One request and its reply within limit_ns. A worker that misses it is killed with its group. One
 * that reports a sticky CUDA result is ended too (reply->kind stays REPLY_FAILED). */
void sct_worker_call(sct_worker *w, sct_op op, const sct_wire *request, int64_t limit_ns,
                     sct_reply *reply);
/* Asks it to end and waits, at most grace_ns; then kills. Accepts one that is gone. Returns its
 * exit status, -1 if a signal ended it. */
int sct_worker_stop(sct_worker *w, int64_t grace_ns);
void sct_worker_kill(sct_worker *w);

#endif
