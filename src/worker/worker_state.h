/* worker_state - the worker's state and the handlers of its requests (worker_ops.def). */
#ifndef SCT_WORKER_STATE_H
#define SCT_WORKER_STATE_H

#include "worker_backend.h"

#include <stdatomic.h>

typedef struct sct_worker_buffer {
  sct_cuda_ptr raw; /* guard, data, guard; 0: freed */
  int device;       /* whose memory it is */
  int64_t bytes;
  int64_t offset;         /* of the data, after the first guard */
  int64_t residue;        /* of the data's address; 0: as the driver has it */
  int64_t copies, stride; /* of the data, for timing; only the first lies between guards */
  uint64_t guard_sum[2], sum;
  bool sealed;
  char name[32]; /* of the array, "" unknown */
} sct_worker_buffer;

/* What kernels leave for each other's blocks. */
typedef struct sct_worker_workspace {
  sct_cuda_ptr p; /* 0: none yet */
  int64_t bytes;
  int64_t kernel; /* the last that had it; for another one it is made 0. -1: none */
} sct_worker_workspace;

typedef struct sct_worker_kernel {
  sct_cuda_kernel loaded; /* without a module: none */
  int device;
} sct_worker_kernel;

/* Both sides of a transfer, which stay from one request to the next. */
typedef struct sct_worker_ends {
  bool open;
  sct_host_kind kind;
  int64_t room;
  double made_ns;
  sct_transfer at;
} sct_worker_ends;

/* Arrays of the host, which stay from one HOST to the next. */
typedef struct sct_worker_arrays {
  sct_host_kind memory;
  int n_arrays;
  int64_t bytes[SCT_MAX_OPERANDS];
  sct_host_block arrays[SCT_MAX_OPERANDS];
} sct_worker_arrays;

typedef struct sct_worker_state {
  sct_backend *backend;
  sct_backend *peer; /* device 1, where `backend` is 0; NULL: none yet */
  sct_worker_buffer *buffers;
  size_t n_buffers, cap_buffers;
  sct_worker_workspace workspace;
  char *images[SCT_MAX_IMAGES]; /* cubins or PTX, at the places that the parent gave them; NULL:
                                   none */
  sct_worker_kernel *kernels;
  size_t n_kernels, cap_kernels;
  uint64_t turn; /* launches timed: which copies of its buffers the next one gets */
  bool knows_cost;
  double first_launch_ns, next_launch_ns; /* of a unit of empty launches */
  sct_cuda_ptr scratch;                   /* for comparisons; 0: none */
  int64_t scratch_bytes;
  sct_worker_ends ends;
  sct_worker_arrays host;
  int lock; /* descriptor of the GPU's lock; -1: none */
  bool quit;
  sct_arena memory; /* of the request that is done */
} sct_worker_state;

/* A handler does what `in` asks for and fills `out`, which was all 0 and may point to w->memory. A
 * failure's CUresult is the backend's last(). */
#define SCT_OP(id, handler, request, answer)                                                       \
  sct_status handler(sct_worker_state *w, const request *in, answer *out, sct_error *err);
#define SCT_OP_DO(id, handler, request)                                                            \
  sct_status handler(sct_worker_state *w, const request *in, sct_error *err);
#include "worker/worker_ops.def"

sct_status sct_worker_malformed(sct_error *err);
/* One of the worker's own device; the second: of either. NULL with err written if there is none. */
sct_worker_buffer *sct_worker_buffer_at(sct_worker_state *w, int64_t id, sct_error *err);
sct_worker_buffer *sct_worker_any_buffer_at(sct_worker_state *w, int64_t id, sct_error *err);
static inline sct_cuda_ptr sct_worker_data(const sct_worker_buffer *b) {
  return b->raw + (uint64_t)b->offset;
}

static inline sct_cuda_ptr sct_worker_copy_at(const sct_worker_buffer *b, uint64_t turn) {
  return sct_worker_data(b) + turn % (uint64_t)b->copies * (uint64_t)b->stride;
}

void sct_worker_close_ends(sct_worker_state *w); /* worker_transfer.c */
/* worker_devices.c: the device of a number, NULL if it is not open. Calls are for it from now on,
 * until the request ends. */
static inline sct_backend *sct_worker_device(const sct_worker_state *w, int device) {
  return device == 0 ? w->backend : w->peer;
}
sct_status sct_worker_enter(sct_worker_state *w, int device, sct_error *err);
void sct_worker_close_peer(sct_worker_state *w);
/* The device that a request names, locked, if it shall be (worker_main.c). */
sct_status sct_worker_open_backend(sct_worker_state *w, sct_backend **out, const sct_ask_open *in,
                                   sct_error *err);
void sct_worker_close_host(sct_worker_state *w); /* worker_pipeline.c */
/* Memory of the host, as much as is wanted where nothing is timed, too. */
sct_status sct_worker_open_block(sct_worker_state *w, sct_host_block *out, sct_host_kind kind,
                                 int64_t bytes, sct_error *err);

/* ---- runs from the host and back (worker_streams.c) ---- */

typedef struct sct_host_job sct_host_job;
typedef struct sct_host_part sct_host_part;

/* What a thread of the host has for the calls of host code on one device. */
typedef struct sct_job_side {
  sct_host_side side;
  sct_host_part *part;
  sct_cuda *cuda; /* NULL: everything is done at once */
  int thread;
} sct_job_side;

typedef struct sct_host_traced {
  sct_pipe_step step;
  void *begin, *end; /* events; NULL: by the host's clock */
} sct_host_traced;

/* One device: a plan of the host's code, and what it has opened. */
struct sct_host_part {
  sct_host_job *job;
  sct_job_side main;
  sct_backend *backend;
  sct_host_kernel kernel;
  void *arrays[SCT_MAX_OPERANDS];
  sct_host_plan *plan;   /* NULL: nothing is to be done there */
  int device, n_threads; /* threads of the host that take its chunks */
  void *streams[SCT_MAX_STREAMS];
  int n_streams;
  sct_host_block rings[2 * SCT_MAX_HOST_THREADS];
  int n_rings;
  sct_host_traced *traced; /* [in->most_steps[device]], with events */
  atomic_llong n_traced;
  void *base;      /* an event of a traced run, and ... */
  int64_t base_ns; /* ... when it was, by the host's clock */
};

struct sct_host_job {
  sct_worker_state *w;
  const sct_ask_host *in;
  const sct_launch *launches; /* [in->n_launches] but for what chunks have */
  sct_host_part parts[SCT_MAX_DEVICES];
  bool traces;
  int64_t start_ns;
  pthread_mutex_t lock; /* of what follows */
  sct_status status;    /* what failed first */
  sct_error err;
};

/* A plan for each device that has chunks; kernel and arrays of the parts are set. */
sct_status sct_host_job_open(sct_host_job *job, sct_error *err);
void sct_host_job_close(sct_host_job *job);
/* One run on all devices, from the first call until the host knows that all is done. */
sct_status sct_host_job_run(sct_host_job *job, double *ns, sct_error *err);
/* A further one, and what it queued: out->steps is in w->memory. */
sct_status sct_host_job_trace(sct_host_job *job, sct_got_host *out, sct_error *err);
/* worker_buffers.c */
void sct_worker_free_buffers(sct_worker_state *w);
sct_status sct_worker_poison(sct_worker_state *w, const sct_ask_output *in, uint8_t byte,
                             sct_error *err);
/* worker_main.c: a launch on the worker's own device; the second: on that of its kernel. */
sct_status sct_worker_set_launch(sct_worker_state *w, const sct_ask_launch *in, sct_launch *launch,
                                 sct_error *err);
sct_status sct_worker_set_any_launch(sct_worker_state *w, const sct_ask_launch *in,
                                     sct_launch *launch, sct_error *err);
sct_status sct_worker_get_workspace(sct_worker_state *w, int64_t kernel, int64_t bytes,
                                    sct_error *err);

#endif
