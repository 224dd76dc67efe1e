/* Trials: launches over poisoned outputs, audited and compared by the worker. */
#include "measure_session.h"

/* What a request points to. */
typedef struct room {
  sct_launch_room launch;
  sct_ask_output outputs[SCT_MAX_OPERANDS];
  sct_ask_compare compare[SCT_MAX_OPERANDS];
} room;

static sct_ask_trial request_of(const sct_measure *m, const sct_job *job, const sct_attempt *a,
                                room *r) {
  const sct_spec *spec = m->plan.spec;
  const sct_trial *trial = &a->trial;
  const int64_t *buffer = a->target.buffer;
  const int n_outputs = spec->n_operands - spec->n_inputs;
  for (int k = 0; k < n_outputs; k++) {
    const int op = spec->n_inputs + k;
    r->outputs[k] = (sct_ask_output){buffer[op], trial->unlike ? trial->unlike[op] : -1};
    if (trial->reference) {
      r->compare[k] =
          (sct_ask_compare){buffer[op], trial->reference[op][0], trial->reference[op][1]};
    }
  }
  return (sct_ask_trial){.launch = sct_remote_launch(m, job, &a->target, &r->launch),
                         .poison = trial->poison,
                         .outputs = r->outputs,
                         .n_outputs = n_outputs,
                         .audit = {buffer, trial->audit_all ? 0 : spec->n_operands},
                         .compare = r->compare,
                         .n_compare = trial->reference ? n_outputs : 0};
}

/* What came of one. */
static sct_status take_answer(sct_measure *m, sct_attempt *a, sct_reply *reply,
                              sct_verdict *verdict, sct_error *err) {
  const int n_inputs = m->plan.spec->n_inputs;
  sct_got_trial got = {0};
  sct_trial *trial = &a->trial;
  sct_reply_read(reply, SCT_OP_TRIAL, &got);
  SCT_TRY(sct_remote_take_launch(m, &a->target, &got.launch, reply, verdict, err));
  trial->ns = got.launch.ns;
  trial->audit = got.audit;
  for (int k = 0; k < got.n_differences && n_inputs + k < m->plan.spec->n_operands; k++) {
    trial->n_differ[n_inputs + k] = got.differences[k].n;
    trial->first[n_inputs + k] = got.differences[k].first;
  }
  const bool all = !trial->reference || got.n_differences == m->plan.spec->n_operands - n_inputs;
  return reply->kind != SCT_REPLY_OK || all
             ? SCT_OK
             : sct_fail(err, SCT_EINTERNAL, "malformed answer to TRIAL");
}

sct_status sct_remote_trial(sct_measure *m, const sct_job *job, const sct_target *target,
                            sct_trial *trial, sct_verdict *verdict, sct_error *err) {
  sct_series s = sct_series_begin(m);
  sct_attempt a = {*target, *trial};
  sct_remote_put_trial(m, &s, job, &a);
  sct_series_post(&s, m, SCT_OP_TRIAL);
  const sct_status status = sct_remote_take_trial(m, &s, &a, verdict, err);
  *trial = a.trial;
  sct_series_end(&s, m, SCT_OP_TRIAL);
  return status;
}

/* ---- among others ---- */

void sct_remote_put_trial(const sct_measure *m, sct_series *s, const sct_job *job,
                          const sct_attempt *a) {
  room r;
  const sct_ask_trial request = request_of(m, job, a, &r);
  sct_add_TRIAL(s, &request);
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
    sct_add_AUDIT(&series, &(sct_ask_audit){.n_buffers = 0});
    sct_quick_put(m, &series, job);
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
    sct_reply *reply = sct_series_take(&series, m, SCT_OP_AUDIT, m->request_ns);
    status = sct_remote_settle(m, SCT_OP_AUDIT, reply, audit, err);
    if (status == SCT_OK && audit->damage == SCT_DAMAGE_NONE) {
      sct_quick_take(m, &series);
    }
  }
  sct_series_end(&series, m, SCT_OP_TRIAL);
  sct_quick_evaluate(m);
  return status;
}
