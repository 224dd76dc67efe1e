/* Trials: launches over poisoned outputs, audited and compared by the worker. */
#include "measure_session.h"

/* All that comes behind the launch. */
static void put_outputs(const sct_measure *m, sct_wire *w, const sct_target *target,
                        const sct_trial *trial) {
  const sct_spec *spec = m->plan.spec;
  sct_wire_put_i64(w, trial->poison);
  sct_wire_put_i64(w, spec->n_operands - spec->n_inputs);
  for (int k = spec->n_inputs; k < spec->n_operands; k++) {
    sct_wire_put_i64(w, target->buffer[k]);
    sct_wire_put_i64(w, trial->unlike ? trial->unlike[k] : -1);
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

static void put_trial(const sct_measure *m, sct_wire *w, const sct_job *job, const sct_attempt *a) {
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
  put_trial(m, &request, job, &a);
  sct_worker_call(&m->worker, SCT_OP_TRIAL, &request, target->limit_ns, &reply);
  const sct_status status = take_answer(m, &a, &reply, verdict, err);
  *trial = a.trial;
  sct_wire_free(&request);
  sct_reply_free(&reply);
  return status;
}

/* ---- among others ---- */

void sct_remote_put_trial(const sct_measure *m, sct_series *s, const sct_job *job,
                          const sct_attempt *a) {
  put_trial(m, &s->request, job, a);
  sct_series_add(s, SCT_OP_TRIAL, &s->request);
}

sct_status sct_remote_take_trial(sct_measure *m, sct_series *s, sct_attempt *a,
                                 sct_verdict *verdict, sct_error *err) {
  sct_reply *reply = sct_series_take(s, m, SCT_OP_TRIAL, a->target.limit_ns);
  return take_answer(m, a, reply, verdict, err);
}

bool sct_trial_went_well(const sct_measure *m, const sct_trial *trial) {
  bool well = trial->audit.damage == SCT_DAMAGE_NONE;
  for (int k = m->plan.spec->n_inputs; k < m->plan.spec->n_operands; k++) {
    well = well && trial->n_differ[k] == 0;
  }
  return well;
}

sct_status sct_remote_trials(sct_measure *m, sct_job *job, sct_attempt *attempts, int n,
                             int *n_done, sct_audit *audit, sct_verdict *verdict, sct_error *err) {
  sct_series series = sct_series_begin(m);
  m->most_together = n > m->most_together ? n : m->most_together;
  *n_done = 0;
  sct_remote_put_load(m, &series, job);
  for (int k = 0; k < n; k++) {
    sct_remote_put_trial(m, &series, job, &attempts[k]);
  }
  if (audit) {
    sct_series_add_numbers(&series, SCT_OP_AUDIT, (const int64_t[]){0}, 1);
    sct_screen_put(m, &series, job);
  }
  sct_series_post(&series, m, SCT_OP_TRIAL);
  sct_status status = sct_remote_take_load(m, &series, job, verdict, err);
  bool well = status == SCT_OK && verdict->outcome == SCT_OUT_OK;
  while (*n_done < n && well && status == SCT_OK) {
    sct_attempt *a = &attempts[(*n_done)++];
    status = sct_remote_take_trial(m, &series, a, verdict, err);
    well = status == SCT_OK && verdict->outcome == SCT_OUT_OK && sct_trial_went_well(m, &a->trial);
  }
  if (audit && well) {
    status = sct_remote_take_audit(m, sct_series_take(&series, m, SCT_OP_AUDIT, m->request_ns),
                                   audit, err);
    if (status == SCT_OK && audit->damage == SCT_DAMAGE_NONE) {
      sct_screen_take(m, &series);
    }
  }
  sct_series_end(&series, m, SCT_OP_TRIAL);
  sct_screen_judge(m);
  return status;
}
