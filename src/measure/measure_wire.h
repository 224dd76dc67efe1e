/* measure_wire - what the parent and its worker say to each other: requests over the messages of
 * module process. */
#ifndef SCT_MEASURE_WIRE_H
#define SCT_MEASURE_WIRE_H

#include "device/device.h"
#include "measure/measure.h"
#include "process/process.h"

typedef enum sct_op {
#define SCT_OP(id, handler, request, answer) SCT_OP_##id,
#include "measure_ops.def"
#undef SCT_OP
  SCT_N_OPS
} sct_op;
const char *sct_op_name(uint32_t op);
/* Added to a request: it is not done (its answer is empty) unless the one before it was done and
 * went well: it succeeded, and found neither damage nor difference. */
#define SCT_OP_FOLLOWS 0x100u

/* What both ends must know beside the messages. */
#define SCT_WORKER_FD   SCT_CHILD_FD
#define SCT_GUARD_BYTES 4096               /* before and after every buffer */
#define SCT_MAX_COPIES  4096               /* of a buffer */
#define SCT_MAX_ALIGN   4096               /* that an array may be placed at */
#define SCT_MAX_KERNELS ((int64_t)1 << 24) /* that a worker loads in its life */
#define SCT_MAX_IMAGES  64 /* programs that a worker keeps for further kernels of theirs */
/* The driver's queue takes about a thousand launches before it makes the host wait; a host that
 * waits never lets the unit start. */
#define SCT_MAX_HELD    256
#define SCT_MAX_SAMPLES 10000
#define SCT_MAX_UNIT_NS ((int64_t)1000000000)
/* What an argument of a launch is: bytes, a buffer by its number, a workspace of so many bytes. */
typedef enum sct_arg_kind { SCT_ARG_VALUE, SCT_ARG_BUFFER, SCT_ARG_WORKSPACE } sct_arg_kind;
/* Results beside the CUresults (all below 1,000): what the interpreter of PTX found, the diagnosis
 * of kind k as SCT_RESULT_PTX + k; and PTX that it does not know. Neither ends the worker. */
#define SCT_RESULT_UNSUPPORTED 9999
#define SCT_RESULT_PTX         10000
typedef enum sct_damage {
  SCT_DAMAGE_NONE,
  SCT_DAMAGE_BEFORE, /* in the guard zone before the buffer; the offset is negative */
  SCT_DAMAGE_AFTER,  /* in the one after it; the offset counts from the buffer's start */
  SCT_DAMAGE_CONTENT /* a sealed buffer changed; offset 0 */
} sct_damage;

#define SCT_WIRE_PIECE_BYTES ((int64_t)16 << 20) /* longer data travel in pieces */

typedef struct sct_unit_time {
  double ns, mhz;
} sct_unit_time;

#define SCT_MESSAGES "measure/measure_messages.def"
#include "process/process_declare.def"

const sct_message *sct_device_desc_table(void), *sct_gpu_process_table(void);
const sct_message *sct_gpu_state_table(void);

/* What a request and its answer look like. */
const sct_message *sct_op_request(sct_op op);
const sct_message *sct_op_answer(sct_op op);

#endif
