/* worker - a disposable process that drives a device on request.
 *
 * It is this same binary, started anew (hidden argument SCT_WORKER_ARG) in its own process group
 * with a parent-death signal. It is a remote driver: it allocates, fills, launches, times and
 * answers, over the messages of module process, and evaluates nothing. Its device is a GPU or the
 * interpreter of PTX, through one table (worker_backend.h). This header is what both sides know:
 * the requests (worker_ops.def) and what they and their answers hold (worker_messages.def). Who
 * asks is module measure. */
#ifndef SCT_WORKER_H
#define SCT_WORKER_H

#include "device/device.h"
#include "host/host.h"
#include "process/process.h"

#define SCT_WORKER_ARG "--worker"
/* main() of the worker: a program's main must hand over to it, before anything else, when argv[1]
 * is SCT_WORKER_ARG. Returns the exit status. */
int sct_worker_main(int argc, char **argv);

/* The script for what stands in for GPUs, in programs of tests: `script`, or where that is NULL the
 * environment's. "": the driver answers. */
const char *sct_worker_script(const char *script);

/* ---- requests ---- */

typedef enum sct_op {
#define SCT_OP(id, handler, request, answer) SCT_OP_##id,
#include "worker/worker_ops.def"
  SCT_N_OPS
} sct_op;
const char *sct_op_name(uint32_t op);

/* What both ends must know in addition to the messages. */
#define SCT_WORKER_FD   SCT_CHILD_FD
#define SCT_GUARD_BYTES 4096               /* before and after every buffer */
#define SCT_MAX_COPIES  4096               /* of a buffer */
#define SCT_MAX_ALIGN   4096               /* that an array may be placed at */
#define SCT_PLACE_BYTES 512                /* what drivers align memory to */
#define SCT_MAX_KERNELS ((int64_t)1 << 24) /* that a worker loads in its life */
#define SCT_MAX_IMAGES  64 /* programs that a worker keeps for further kernels of theirs */
/* The driver's queue takes about a thousand launches before it makes the host wait; a host that
 * waits never lets the unit start. */
#define SCT_MAX_HELD     256
#define SCT_MAX_SAMPLES  10000
#define SCT_MAX_UNIT_NS  ((int64_t)1000000000)
#define SCT_MAX_TRANSFER ((int64_t)1 << 36) /* bytes, one way */
/* Where the elements of an array are: that of number i, in row-major order of the extents, at byte
 * origin + the sum of its indices times the strides. */
#define SCT_PLACE_DIMS 8
typedef struct sct_places {
  int64_t count, origin, extent[SCT_PLACE_DIMS], stride[SCT_PLACE_DIMS];
} sct_places;
/* Values that INDEX puts there: those of sct_index_fill_value(), which are no offsets. */
typedef struct sct_index_values {
  int64_t fill, bytes, limit, columns, has_none; /* sct_fill; of one value; as in sct_index_fill */
  uint64_t seed;
  int64_t half; /* bits of half a number below `limit` (sct_permute) */
} sct_index_values;
/* Floating-point values that SETTLE compares: those of a type, within a tolerance of the reference
 * or of what is usual, whichever is greater; computed: any NaN is right where one must be. */
enum {
  SCT_SETTLE_F16,
  SCT_SETTLE_BF16,
  SCT_SETTLE_F32,
  SCT_SETTLE_F64,
  SCT_SETTLE_E4M3,
  SCT_SETTLE_E5M2,
  SCT_N_SETTLE
};
typedef struct sct_nearness {
  int64_t type, bytes, computed;
  double tolerance, usual;
} sct_nearness;
/* What an argument of a launch is: bytes, a buffer by its number, a workspace by its size, what a
 * chunk has of an array by its number, and behind all arrays its workspace. */
typedef enum sct_arg_kind {
  SCT_ARG_VALUE,
  SCT_ARG_BUFFER,
  SCT_ARG_WORKSPACE,
  SCT_ARG_CHUNK
} sct_arg_kind;
#define SCT_MAX_DEVICES       2
#define SCT_MAX_HOST_LAUNCHES 32 /* of two devices, by two kernels, of 8 extents */
#define SCT_MAX_HOST_OPS      (1 << 16)
/* Results in addition to the CUresults (all below 1,000): what the interpreter of PTX found, the
 * diagnosis of kind k as SCT_RESULT_PTX + k; and PTX that it does not know. Neither ends the
 * worker. */
#define SCT_RESULT_UNSUPPORTED 9999
#define SCT_RESULT_PTX         10000
typedef enum sct_damage {
  SCT_DAMAGE_NONE,
  SCT_DAMAGE_BEFORE, /* in the guard zone before the buffer; the offset is negative */
  SCT_DAMAGE_AFTER,  /* in the one after it; the offset counts from the buffer's start */
  SCT_DAMAGE_CONTENT /* a sealed buffer changed; offset 0 */
} sct_damage;

#define SCT_WIRE_PIECE_BYTES ((int64_t)16 << 20) /* longer data travel in pieces */
#define SCT_MAX_SPANS        (1 << 16)           /* of a request; their bytes are a piece at most */

typedef struct sct_span { /* bytes [from, to) of an array */
  int64_t from, to;
} sct_span;

typedef struct sct_unit_time {
  double ns, mhz;
} sct_unit_time;

/* What one launch did, as the interpreter of PTX counted it: requests and 32-byte sectors of global
 * memory, of warps and of bulk copies; wavefronts of shared memory. */
typedef struct sct_run_counts {
#define SCT_RUN_COUNT(name) int64_t name;
#include "worker/worker_counts.def"
} sct_run_counts;

/* The counts of one launch, its machine instructions, estimated from the PTX, and what is doubtful
 * in it without being wrong, in the form of a diagnosis; "": nothing. */
typedef struct sct_launch_counts {
  sct_run_counts counts;
  sct_executed machine;
  char warning[384];
} sct_launch_counts;

#define SCT_MESSAGES "worker/worker_messages.def"
#include "process/process_declare.def"

const sct_message *sct_device_desc_table(void), *sct_gpu_process_table(void);
const sct_message *sct_gpu_state_table(void);

/* What a request and its answer look like. */
const sct_message *sct_op_request(sct_op op);
const sct_message *sct_op_answer(sct_op op);

#endif
