/* Copies between a device and the host, or a second device: what the worker is asked, and what its
 * answer means. */
#include "measure_session.h"

#include <string.h>

static sct_status evaluate(const sct_measure *m, const sct_got_transfer *got, sct_timing *out,
                           sct_error *err) {
  if (m->reply.kind == SCT_REPLY_NOMEM) {
    sct_verdict_set(&out->verdict, SCT_OUT_TOO_LARGE, "%s", m->reply.text);
    return SCT_OK;
  }
  SCT_TRY(sct_reply_evaluate(&m->reply, "", &out->verdict, err));
  if (m->reply.kind == SCT_REPLY_OK && got->wrong >= 0) {
    sct_verdict_set(&out->verdict, SCT_OUT_WRONG_RESULT, "byte %lld is not what was copied",
                    (long long)got->wrong);
  }
  return SCT_OK;
}

sct_ask_open sct_remote_open_peer(const sct_measure *m, const sct_measure *peer) {
  return (sct_ask_open){.ordinal = peer->ordinal,
                        .generation = m->generation,
                        .script = peer->fake,
                        .described = &peer->device,
                        .n_described = peer->is_virtual,
                        .lock = ""}; /* the session that holds it has its lock */
}

sct_status sct_measure_transfer(sct_measure *m, const sct_measure *peer,
                                const sct_ask_transfer *what, sct_timing *out, double *made_ns,
                                sct_error *err) {
  *out = (sct_timing){.verdict = {.outcome = SCT_OUT_OK}};
  SCT_TRY(sct_remote_ensure(m, err));
  sct_ask_transfer request = *what;
  sct_ask_open second;
  if (peer) {
    second = sct_remote_open_peer(m, peer);
    request.peer = &second;
    request.n_peer = 1;
  }
  if (m->is_virtual) {
    request.least = request.most = 1; /* all would be the same */
  }
  sct_got_transfer got = {0};
  (void)sct_ask_TRANSFER(m, &request, &got, NULL); /* the reply has the failure */
  SCT_TRY(evaluate(m, &got, out, err));
  if (out->verdict.outcome == SCT_OUT_OK) {
    out->times.n_samples = (int)got.n_samples_ns;
    out->times.samples_ns = sct_alloc(sizeof(double) * (size_t)(got.n_samples_ns + 1));
    memcpy(out->times.samples_ns, got.samples_ns, sizeof(double) * (size_t)got.n_samples_ns);
    sct_times_summarise(&out->times);
    *made_ns = got.made_ns;
  }
  return SCT_OK;
}
