/* Requests that go to the worker together, as each answer by itself would wake this process up. */
#include "measure_session.h"

sct_series sct_series_begin(sct_measure *m) {
  const sct_series s = m->spare;
  m->spare = (sct_series){0};
  return s;
}

void sct_series_add(sct_series *s, sct_op op, const void *request) {
  const uint32_t follows = s->n_left > 0 ? SCT_OP_FOLLOWS : 0;
  sct_wire_put(&s->request, sct_op_request(op), request);
  sct_wire_put_message(&s->batch, op | follows, &s->request);
  sct_wire_clear(&s->request);
  s->n_left++;
}

void sct_series_post(sct_series *s, sct_measure *m, sct_op op) {
  sct_worker_post(&m->worker, op, &s->batch, m->request_ns, &s->reply);
  s->posted = s->reply.kind == SCT_REPLY_OK;
}

sct_reply *sct_series_take(sct_series *s, sct_measure *m, sct_op op, int64_t limit_ns) {
  s->n_left--;
  if (s->posted) { /* else the reply says why not */
    sct_worker_answer(&m->worker, op, &s->inbox, limit_ns, &s->reply);
  }
  return &s->reply;
}

void sct_series_end(sct_series *s, sct_measure *m, sct_op op) {
  while (s->posted && s->n_left > 0 && sct_child_alive(&m->worker)) {
    (void)sct_series_take(s, m, op, m->request_ns);
  }
  sct_series_free(&m->spare);
  m->spare = *s;
  *s = (sct_series){0};
  sct_wire_clear(&m->spare.batch);
  sct_wire_clear(&m->spare.request);
  sct_wire_clear(&m->spare.inbox);
  m->spare.n_left = 0;
  m->spare.posted = false;
}

void sct_series_free(sct_series *s) {
  sct_wire_free(&s->batch);
  sct_wire_free(&s->request);
  sct_wire_free(&s->inbox);
  sct_reply_free(&s->reply);
  *s = (sct_series){0};
}
