/* Outcomes: their names, and what a worker's answer means for the current candidate. */
#include "measure_session.h"
#include "ptx/ptx.h"

#include <stdarg.h>
#include <string.h>

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

sct_outcome_kind sct_outcome_named(const char *name) {
  int kind = 0;
  while (kind < SCT_N_OUTCOMES && strcmp(outcomes[kind].name, name) != 0) {
    kind++;
  }
  return (sct_outcome_kind)kind;
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

/* What the interpreter of PTX finds, as an outcome. */
static const sct_outcome_kind diagnoses[SCT_PTX_N_KINDS] = {
    [SCT_PTX_OUT_OF_BOUNDS] = SCT_OUT_OUT_OF_BOUNDS,
    [SCT_PTX_MISALIGNED] = SCT_OUT_MISALIGNED,
    [SCT_PTX_READ_ONLY] = SCT_OUT_INPUT_CHANGED,
    [SCT_PTX_UNDEFINED_ADDRESS] = SCT_OUT_UNINITIALISED,
    [SCT_PTX_UNDEFINED_BRANCH] = SCT_OUT_UNINITIALISED,
    [SCT_PTX_UNDEFINED_STORE] = SCT_OUT_UNINITIALISED,
    [SCT_PTX_NOT_WRITTEN] = SCT_OUT_NOT_WRITTEN,
    [SCT_PTX_SHARED_RACE] = SCT_OUT_RACE,
    [SCT_PTX_GLOBAL_RACE] = SCT_OUT_RACE,
    [SCT_PTX_WARP_RACE] = SCT_OUT_RACE,
    [SCT_PTX_NC_WRITTEN] = SCT_OUT_RACE,
    [SCT_PTX_BARRIER_DIVERGENCE] = SCT_OUT_BARRIER,
    [SCT_PTX_ABSENT_LANE] = SCT_OUT_BARRIER,
    [SCT_PTX_ASYNC_EARLY] = SCT_OUT_RACE,
    [SCT_PTX_MBARRIER] = SCT_OUT_BARRIER,
    [SCT_PTX_PROXY_FENCE] = SCT_OUT_RACE,
    [SCT_PTX_TRAP] = SCT_OUT_TRAP,
    [SCT_PTX_BAD_OPERAND] = SCT_OUT_TRAP,
    [SCT_PTX_CALL_DEPTH] = SCT_OUT_TRAP,
    [SCT_PTX_STEP_LIMIT] = SCT_OUT_HANG,
    [SCT_PTX_DEADLOCK] = SCT_OUT_HANG,
    [SCT_PTX_ASSERT] = SCT_OUT_TRAP,
    [SCT_PTX_USE_AFTER_FREE] = SCT_OUT_OUT_OF_BOUNDS,
    [SCT_PTX_BAD_FREE] = SCT_OUT_TRAP,
};

static sct_outcome_kind outcome_of(int result) {
  if (result == SCT_RESULT_UNSUPPORTED) {
    return SCT_OUT_UNSUPPORTED;
  }
  if (result > SCT_RESULT_PTX && result < SCT_RESULT_PTX + SCT_PTX_N_KINDS) {
    return diagnoses[result - SCT_RESULT_PTX];
  }
  for (int k = 0; k < SCT_COUNT(faults); k++) {
    if (faults[k].result == result) {
      return faults[k].outcome;
    }
  }
  return SCT_OUT_LAUNCH_ERROR;
}

sct_status sct_reply_evaluate(const sct_reply *reply, const char *where, sct_verdict *out,
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
    return sct_fail(err, SCT_ENOMEM, "%s%s", reply->text, where);
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
