/* Trials: launches over poisoned outputs, audited and compared by the worker. */
#include "measure_session.h"

/* What a request points to. */
typedef struct room {
  sct_launch_room launch;
  sct_ask_output outputs[SCT_MAX_OPERANDS];
  sct_ask_compare compare[SCT_MAX_OPERANDS];
} room;

static sct_ask_trial request_of(const sct_measure *m, const sct_job *job, const sct_target *target,
                                const sct_trial *trial, room *r) {
  const sct_spec *spec = m->addressing.spec;
  const int64_t *buffer = target->buffer;
  const int n_outputs = spec->n_operands - spec->n_inputs;
  for (int k = 0; k < n_outputs; k++) {
    const int op = spec->n_inputs + k;
    r->outputs[k] = (sct_ask_output){buffer[op], trial->unlike ? trial->unlike[op] : -1};
    if (trial->reference) {
      r->compare[k] =
          (sct_ask_compare){buffer[op], trial->reference[op][0], trial->reference[op][1]};
    }
  }
  sct_ask_launch launch = sct_remote_launch(m, job, target, &r->launch);
  launch.reversed = trial->reversed;
  launch.rounding = trial->rounding;
  return (sct_ask_trial){.launch = launch,
                         .poison = trial->poison,
                         .outputs = r->outputs,
                         .n_outputs = n_outputs,
                         .audit = {buffer, trial->audit_all ? 0 : spec->n_operands},
                         .compare = r->compare,
                         .n_compare = trial->reference ? n_outputs : 0};
}

sct_status sct_remote_trial(sct_measure *m, const sct_job *job, const sct_target *target,
                            sct_trial *trial, sct_verdict *verdict, sct_error *err) {
  const int n_inputs = m->addressing.spec->n_inputs,
            n_outputs = m->addressing.spec->n_operands - n_inputs;
  room r;
  sct_got_trial got = {0};
  const sct_ask_trial request = request_of(m, job, target, trial, &r);
  sct_worker_ask(&m->worker, SCT_OP_TRIAL, &request, target->limit_ns, &m->reply, &got);
  SCT_TRY(sct_remote_read_launch(m, target, &got.launch, verdict, err));
  trial->ns = got.launch.ns;
  trial->audit = got.audit;
  for (int k = 0; k < got.n_differences && k < n_outputs; k++) {
    trial->n_differ[n_inputs + k] = got.differences[k].n;
    trial->first[n_inputs + k] = got.differences[k].first;
  }
  return m->reply.kind != SCT_REPLY_OK || !trial->reference || got.n_differences == n_outputs
             ? SCT_OK
             : sct_fail(err, SCT_EINTERNAL, "malformed answer to TRIAL");
}
