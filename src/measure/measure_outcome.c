/* Outcomes: their names, and what a worker's answer means for the candidate at hand. */
#include "measure_session.h"

#include <stdarg.h>

static const struct {
  const char *name, *text;
} outcomes[] = {
#define SCT_OUTCOME(id, name, text) {name, text},
#include "measure_outcomes.def"
#undef SCT_OUTCOME
};

const char *sct_outcome_name(sct_outcome_kind kind) {
  return kind < SCT_N_OUTCOMES ? outcomes[kind].name : "unknown";
}

const char *sct_outcome_text(sct_outcome_kind kind) {
  return kind < SCT_N_OUTCOMES ? outcomes[kind].text : "unknown outcome";
}

void sct_verdict_set(sct_verdict *v, sct_outcome_kind outcome, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  v->outcome = outcome;
  vsnprintf(v->detail, sizeof v->detail, fmt, args);
  va_end(args);
}

/* CUresult to outcome. What is not listed is a launch error. */
static const struct {
  int result;
  sct_outcome_kind outcome;
} faults[] = {
    {2, SCT_OUT_TOO_LARGE}, {700, SCT_OUT_ILLEGAL_ACCESS}, {701, SCT_OUT_TOO_LARGE},
    {702, SCT_OUT_HANG},    {710, SCT_OUT_TRAP},           {714, SCT_OUT_TRAP},
    {715, SCT_OUT_TRAP},    {716, SCT_OUT_MISALIGNED},     {717, SCT_OUT_TRAP},
    {718, SCT_OUT_TRAP},    {719, SCT_OUT_TRAP},           {720, SCT_OUT_TOO_LARGE},
    {721, SCT_OUT_TRAP},
};

static sct_outcome_kind outcome_of(int result) {
  for (int k = 0; k < SCT_COUNT(faults); k++) {
    if (faults[k].result == result) {
      return faults[k].outcome;
    }
  }
  return SCT_OUT_LAUNCH_ERROR;
}

sct_status sct_reply_judge(const sct_reply *reply, const char *where, sct_verdict *out,
                           sct_error *err) {
  switch (reply->kind) {
  case SCT_REPLY_OK:
    return SCT_OK;
  case SCT_REPLY_TIMEOUT:
    sct_verdict_set(out, SCT_OUT_HANG, "%s%s", reply->text, where);
    return SCT_OK;
  case SCT_REPLY_DIED:
    sct_verdict_set(out, SCT_OUT_CRASH, "%s%s", reply->text, where);
    return SCT_OK;
  case SCT_REPLY_NOMEM:
    return sct_fail(err, SCT_ENOMEM, "out of memory");
  case SCT_REPLY_FAILED:
    break;
  }
  if (reply->result == 0) { /* not a CUDA result: the request itself was at fault */
    return sct_fail(err, reply->status, "%s%s", reply->text, where);
  }
  if (sct_cuda_is_lost(reply->result)) {
    return sct_fail(err, SCT_EUNHEALTHY, "the device failed: %s%s", reply->text, where);
  }
  sct_verdict_set(out, outcome_of(reply->result), "%s%s", reply->text, where);
  return SCT_OK;
}
