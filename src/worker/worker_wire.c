/* The tables of requests and answers. */
#include "worker/worker.h"

#define SCT_MESSAGES "worker/worker_messages.def"
#include "process/process_describe.def"

static const struct {
  const char *name;
  const sct_message *(*request)(void), *(*answer)(void);
} ops[] = {
#define SCT_OP(id, handler, request, answer) {#id, request##_table, answer##_table},
#include "worker/worker_ops.def"
};

const char *sct_op_name(uint32_t op) {
  return op < SCT_N_OPS ? ops[op].name : "unknown";
}

const sct_message *sct_op_request(sct_op op) {
  return ops[op].request();
}

const sct_message *sct_op_answer(sct_op op) {
  return ops[op].answer();
}
