/* The names of requests, for messages. */
#include "measure_wire.h"

static const char *const op_names[] = {
#define SCT_OP(id, handler, doc) #id,
#include "measure_ops.def"
#undef SCT_OP
};

const char *sct_op_name(uint32_t op) {
  return op < SCT_N_OPS ? op_names[op] : "unknown";
}
