/* The GPU worker seen from its parent: nothing it does, or fails to do, may block us. */
#include "measure_process.h"

#include "measure/measure.h"

#include <string.h>

#define DYING_NS ((int64_t)2000000000) /* for a worker that is ending */
#define LEAVE_NS ((int64_t)1000000000) /* to take the word that it may */

void sct_reply_free(sct_reply *reply) {
  sct_wire_free(&reply->body);
  *reply = (sct_reply){0};
}

sct_status sct_worker_start(sct_child *w, const char *program, sct_error *err) {
  const sct_child_opts opts = {.program = program, .role = SCT_WORKER_ARG};
  return sct_child_start(w, &opts, err);
}

int sct_worker_stop(sct_child *w, int64_t grace_ns) {
  return sct_child_stop(w, SCT_OP_QUIT, grace_ns);
}

bool sct_worker_end_later(sct_child *w) {
  return sct_wire_send(w->fd, SCT_OP_QUIT, NULL, sct_now_ns() + LEAVE_NS) == SCT_IO_OK;
}

/* ---- asking ---- */

static void fail_reply(sct_child *w, sct_op op, sct_io io, int64_t limit_ns, sct_reply *reply) {
  if (io == SCT_IO_TOO_LARGE || io == SCT_IO_REFUSED) {
    reply->kind = SCT_REPLY_FAILED; /* ours: the worker was asked nothing */
    reply->status = SCT_EINTERNAL;
    if (io == SCT_IO_REFUSED) {
      snprintf(reply->text, sizeof reply->text, "malformed request %s", sct_op_name(op));
    } else {
      snprintf(reply->text, sizeof reply->text, "the request %s is larger than %lld bytes",
               sct_op_name(op), (long long)SCT_WIRE_MAX_BYTES);
    }
  } else if (io == SCT_IO_TIMEOUT) {
    char limit[32];
    reply->kind = SCT_REPLY_TIMEOUT;
    reply->status = SCT_EUNHEALTHY;
    snprintf(reply->text, sizeof reply->text, "no answer to %s within %s", sct_op_name(op),
             sct_format_ns(limit, (double)limit_ns));
    sct_child_kill(w);
  } else {
    char how[128];
    const int wait_status = sct_child_wait(w, DYING_NS);
    const bool no_memory = sct_child_out_of_memory(wait_status);
    reply->kind = no_memory ? SCT_REPLY_NOMEM : SCT_REPLY_DIED;
    reply->status = no_memory ? SCT_ENOMEM : SCT_EUNHEALTHY;
    sct_child_describe_end(how, sizeof how, wait_status);
    snprintf(reply->text, sizeof reply->text, "the worker process %s%s",
             strstr(how, "signal") != NULL ? "was " : "", how);
  }
}

/* Empties the reply; false: there is no worker. */
static bool begin(const sct_child *w, sct_reply *reply) {
  reply->kind = SCT_REPLY_OK;
  reply->status = SCT_OK;
  reply->result = 0;
  reply->text[0] = '\0';
  sct_wire_clear(&reply->body);
  if (!sct_child_alive(w)) {
    reply->kind = SCT_REPLY_DIED;
    reply->status = SCT_EUNHEALTHY;
    snprintf(reply->text, sizeof reply->text, "there is no worker process");
  }
  return reply->kind == SCT_REPLY_OK;
}

static void take_answer(sct_child *w, sct_op op, int64_t limit_ns, int64_t deadline,
                        sct_reply *reply) {
  uint32_t code = 0;
  const sct_io io = sct_wire_recv(w->fd, &code, &reply->body, deadline);
  if (io != SCT_IO_OK) {
    fail_reply(w, op, io, limit_ns, reply);
    return;
  }
  reply->kind = code == SCT_OK ? SCT_REPLY_OK : SCT_REPLY_FAILED;
  if (code != SCT_OK) {
    reply->status = code < SCT_N_STATUS ? (sct_status)code : SCT_EINTERNAL;
    sct_got_failure why;
    const bool known = sct_wire_get_whole(&reply->body, sct_got_failure_table(), &why);
    reply->result = why.result;
    snprintf(reply->text, sizeof reply->text, "%s", known ? why.text : "it does not say why");
    if (sct_cuda_is_sticky(reply->result)) {
      (void)sct_child_wait(w, DYING_NS);
    }
  }
}

void sct_worker_call(sct_child *w, sct_op op, const sct_wire *request, int64_t limit_ns,
                     sct_reply *reply) {
  const int64_t deadline = sct_now_ns() + limit_ns;
  if (!begin(w, reply)) {
    return;
  }
  const sct_io io = sct_wire_send(w->fd, op, request, deadline);
  if (io != SCT_IO_OK) {
    fail_reply(w, op, io, limit_ns, reply);
  } else {
    take_answer(w, op, limit_ns, deadline, reply);
  }
}

void sct_reply_read(sct_reply *reply, sct_op op, void *answer) {
  if (reply->kind == SCT_REPLY_OK && !sct_wire_get_whole(&reply->body, sct_op_answer(op), answer)) {
    reply->kind = SCT_REPLY_FAILED;
    reply->status = SCT_EINTERNAL;
    snprintf(reply->text, sizeof reply->text, "malformed answer to %s", sct_op_name(op));
  }
}

void sct_worker_ask(sct_child *w, sct_op op, const void *request, int64_t limit_ns,
                    sct_reply *reply, void *answer) {
  SCT_SCOPED(sct_wire) body = {0};
  sct_wire_put(&body, sct_op_request(op), request);
  sct_worker_call(w, op, &body, limit_ns, reply);
  if (answer) {
    sct_reply_read(reply, op, answer);
  }
}
