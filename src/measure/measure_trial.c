/* Trials: launches over poisoned outputs, audited and compared by the worker. */
#include "measure_session.h"

#include <time.h>

#define MOST_NAP_NS ((int64_t)5000000)
enum { FEW = 4 }; /* trials that are not worth a nap: the system's clock is coarse */

/* All that comes behind the launch. */
static void put_outputs(const sct_measure *m, sct_wire *w, const sct_target *target,
                        const sct_trial *trial) {
  const sct_spec *spec = m->plan.spec;
  sct_wire_put_i64(w, trial->poison);
  sct_wire_put_i64(w, spec->n_operands - spec->n_inputs);
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    sct_wire_put_i64(w, target->buffer[k]);
  }
  sct_wire_put_i64(w, trial->audit_all ? 0 : spec->n_operands);
  for (int k = 0; k < spec->n_operands && !trial->audit_all; k++) {
    sct_wire_put_i64(w, target->buffer[k]);
  }
  sct_wire_put_i64(w, trial->reference ? spec->n_operands - spec->n_inputs : 0);
  for (int k = spec->n_inputs; k < spec->n_operands && trial->reference; k++) {
    sct_wire_put_i64(w, target->buffer[k]);
    sct_wire_put_i64(w, trial->reference[k][0]);
    sct_wire_put_i64(w, trial->reference[k][1]);
  }
}

static sct_status take_trial(const sct_measure *m, sct_wire *body, sct_trial *trial,
                             sct_error *err) {
  const int64_t damage = sct_wire_get_i64(body);
  trial->audit.damage = (sct_damage)damage;
  trial->audit.buffer = sct_wire_get_i64(body);
  trial->audit.offset = sct_wire_get_i64(body);
  for (int k = m->plan.spec->n_inputs; k < m->plan.spec->n_operands && trial->reference; k++) {
    trial->n_differ[k] = sct_wire_get_i64(body);
    trial->first[k] = sct_wire_get_i64(body);
  }
  return body->failed ? sct_fail(err, SCT_EINTERNAL, "malformed answer to TRIAL") : SCT_OK;
}

static void put_trial(const sct_measure *m, sct_wire *w, bool follows, const sct_job *job,
                      const sct_attempt *a) {
  sct_wire_put_i64(w, follows);
  sct_remote_put_launch(m, w, job, &a->target);
  put_outputs(m, w, &a->target, &a->trial);
}

/* What came of one. */
static sct_status take_answer(sct_measure *m, sct_attempt *a, sct_reply *reply,
                              sct_verdict *verdict, sct_error *err) {
  SCT_TRY(sct_remote_take_launch(m, &a->target, &a->trial.ns, reply, verdict, err));
  return reply->kind == SCT_REPLY_OK ? take_trial(m, &reply->body, &a->trial, err) : SCT_OK;
}

sct_status sct_remote_trial(sct_measure *m, const sct_job *job, const sct_target *target,
                            sct_trial *trial, sct_verdict *verdict, sct_error *err) {
  sct_attempt a = {*target, *trial};
  sct_wire request = {0};
  sct_reply reply = {0};
  put_trial(m, &request, false, job, &a);
  sct_worker_call(&m->worker, SCT_OP_TRIAL, &request, target->limit_ns, &reply);
  const sct_status status = take_answer(m, &a, &reply, verdict, err);
  *trial = a.trial;
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return status;
}

/* ---- many at once ---- */

static bool went_well(const sct_measure *m, const sct_attempt *a, const sct_verdict *verdict) {
  bool well = verdict->outcome == SCT_OUT_OK && a->trial.audit.damage == SCT_DAMAGE_NONE;
  for (int k = m->plan.spec->n_inputs; k < m->plan.spec->n_operands; k++) {
    well = well && a->trial.n_differ[k] == 0;
  }
  return well;
}

/* Each answer would wake this process up. Most of the time that n trials take at least, it need not
 * look. */
static void nap(const sct_measure *m, int n) {
  const int64_t least_ns = n < FEW ? 0 : m->least_trial_ns * n * 3 / 4;
  const int64_t ns = least_ns < MOST_NAP_NS ? least_ns : MOST_NAP_NS;
  if (ns > 0) {
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
  }
}

static void post(sct_measure *m, const sct_job *job, const sct_attempt *attempts, int n,
                 sct_reply *reply) {
  sct_wire batch = {0}, request = {0};
  for (int k = 0; k < n; k++) {
    sct_wire_clear(&request);
    put_trial(m, &request, k > 0, job, &attempts[k]);
    sct_wire_put_message(&batch, SCT_OP_TRIAL, &request);
  }
  sct_worker_post(&m->worker, SCT_OP_TRIAL, &batch, m->request_ns, reply);
  sct_wire_free(&batch);
  sct_wire_free(&request);
}

sct_status sct_remote_trials(sct_measure *m, const sct_job *job, sct_attempt *attempts, int n,
                             int *n_done, sct_verdict *verdict, sct_error *err) {
  const int64_t start_ns = sct_now_ns();
  sct_reply reply = {0};
  sct_wire inbox = {0};
  sct_status status = SCT_OK;
  bool well = true;
  *n_done = 0;
  post(m, job, attempts, n, &reply);
  const bool posted = reply.kind == SCT_REPLY_OK;
  while (*n_done < n && well && status == SCT_OK) {
    if (posted && inbox.at == inbox.len) {
      nap(m, n - *n_done);
    }
    sct_attempt *a = &attempts[(*n_done)++];
    if (posted) {
      sct_worker_answer(&m->worker, SCT_OP_TRIAL, &inbox, a->target.limit_ns, &reply);
    }
    status = take_answer(m, a, &reply, verdict, err);
    well = status == SCT_OK && went_well(m, a, verdict);
  }
  for (int k = *n_done; k < n && sct_child_alive(&m->worker); k++) { /* those that were not done */
    sct_worker_answer(&m->worker, SCT_OP_TRIAL, &inbox, m->request_ns, &reply);
  }
  const int64_t each_ns = (sct_now_ns() - start_ns) / n;
  if (well && (m->least_trial_ns == 0 || each_ns < m->least_trial_ns)) {
    m->least_trial_ns = each_ns;
  }
  sct_wire_free(&inbox);
  sct_reply_free(&reply);
  return status;
}
