/* host - the chunks of NAME_host, as headers have them, for callers that have no header.
 *
 * The code is the templates host_copy.cuh and host_chunks.cuh, compiled as C: which chunk goes
 * when, on which stream, in whose slot, and what waits for what is said there alone. What it calls
 * is a table: a GPU's streams and events (src/worker), or a clock that only counts (src/model). */
#ifndef SCT_HOST_H
#define SCT_HOST_H

#include "base/base.h"
#include "spec/spec.h"

#define SCT_MAX_STREAMS      8  /* of a plan, as in headers */
#define SCT_MAX_HOST_THREADS 64 /* of a call */

/* What a header knows of its kernel, and the call of one device: elements [begin, end) of the n in
 * the dimension that is cut. Flags are 0 or 1. */
typedef struct sct_host_kernel {
  long long n, begin, end;
  long long before, after; /* elements that a chunk needs in addition to its own */
  long long workspace_bytes;
  int n_arrays, pageable; /* pageable: arrays of the host go through a ring */
  /* of each array; its bytes are base + step * n, so with step 0 chunks need all of it */
  long long base[SCT_MAX_OPERANDS], step[SCT_MAX_OPERANDS];
  int is_in[SCT_MAX_OPERANDS];     /* it is copied to the device */
  int is_out[SCT_MAX_OPERANDS];    /* and back */
  int is_shared[SCT_MAX_OPERANDS]; /* chunks go onto it, one after the other */
  int is_direct[SCT_MAX_OPERANDS]; /* kernels use it where it is */
  int is_staged[SCT_MAX_OPERANDS]; /* it is the device's, and copied there */
  int start[SCT_MAX_OPERANDS];     /* of each byte, before points fall on it; -1: nothing is set */
} sct_host_kernel;
/* Whether kernels run in the order of their chunks. */
bool sct_host_combines(const sct_host_kernel *kernel);

/* A plan's, none of which has a default. */
typedef struct sct_host_options {
  long long chunk;
  int streams, threads;
  bool page_locked; /* no ring, and a slot for each stream */
} sct_host_options;

/* What works in parallel with the others: copies each way, kernels, copies on the host. */
typedef enum sct_engine {
  SCT_ENGINE_IN,
  SCT_ENGINE_KERNEL,
  SCT_ENGINE_OUT,
  SCT_ENGINE_HOST,
  SCT_N_ENGINES
} sct_engine;

/* One operation that was queued or, of the host's, done. */
typedef struct sct_pipe_step {
  sct_engine engine;
  int device; /* that has engines of its own */
  int thread, stream;
  double begin_ns, end_ns;
} sct_pipe_step;

typedef struct sct_host_call sct_host_call;
typedef struct sct_host_plan sct_host_plan;
typedef struct sct_host_side sct_host_side;

typedef enum sct_host_thing {
  SCT_HOST_MEMORY, /* of the device */
  SCT_HOST_RING,   /* memory of the host, page-locked */
  SCT_HOST_STREAM,
  SCT_HOST_EVENT
} sct_host_thing;

typedef enum sct_host_order {
  SCT_HOST_RECORD, /* the event, on the stream */
  SCT_HOST_WAIT,   /* the stream for the event */
  SCT_HOST_SYNC,   /* the host for the event, or where that is NULL for the stream */
} sct_host_order;

typedef enum sct_host_work_kind {
  SCT_HOST_IN,        /* a copy to the device */
  SCT_HOST_OUT,       /* and back */
  SCT_HOST_STAGE,     /* from one array of the device to another */
  SCT_HOST_SET,       /* each byte of the device's memory */
  SCT_HOST_KERNEL,    /* of a chunk */
  SCT_HOST_TO_RING,   /* copies on the host, for a chunk of the stream */
  SCT_HOST_FROM_RING, /* which are done when the call returns: sct_host_copy() */
} sct_host_work_kind;
sct_engine sct_host_engine(sct_host_work_kind kind);

typedef struct sct_host_work {
  sct_host_work_kind kind;
  void *to;
  const void *from;
  int64_t amount;      /* bytes; of a kernel elements in the dimension that is cut */
  int byte;            /* of SET */
  void *const *arrays; /* of a kernel */
  void *workspace;
  void *stream;
} sct_host_work;

/* What is called. 0: done; any other result ends the call, which has it. Things are not NULL, but
 * for the stream that a call is given. */
typedef struct sct_host_calls {
  int (*open)(sct_host_side *s, sct_host_thing thing, void **out, int64_t bytes);
  void (*close)(sct_host_side *s, sct_host_thing thing, void *p);
  int (*order)(sct_host_side *s, sct_host_order order, void *event, void *stream);
  int (*work)(sct_host_side *s, const sct_host_work *work);
  /* All chunks, by n threads or fewer: sct_host_run_thread() in each, or in one for all. */
  int (*run_threads)(sct_host_side *s, sct_host_call *call, int n);
} sct_host_calls;

/* What calls of a thread are made with; the first member of a struct that the table knows. */
struct sct_host_side {
  const sct_host_calls *calls;
  const sct_host_kernel *kernel;
  void *const *arrays; /* [n_arrays] of the host, or of the device where they stay */
  void *stream;        /* of the chunk that the thread works for */
};
/* Calls of this thread are made with `side` from now on. */
void sct_host_enter(sct_host_side *side);

/* After sct_host_enter(). A plan is freed with the side that it was made with. */
int sct_host_plan_new(sct_host_plan **out, const sct_host_options *options);
void sct_host_plan_free(sct_host_plan *plan); /* accepts NULL */
/* What NAME_host does, on `stream`, whose end means that all is done. */
int sct_host_run(sct_host_plan *plan, void *stream);

/* ---- for run_threads ---- */

int sct_host_run_thread(sct_host_call *call, int thread); /* in that thread, which has entered */
/* What n threads would do, a chunk at a time, in this one. `next` says whose turn it is, one that
 * is active, and that what follows is its work. */
int sct_host_run_in_turn(sct_host_call *call, int n,
                         int (*next)(sct_host_side *s, const bool *active, int n));
long long sct_host_chunk(const sct_host_call *call); /* elements of a chunk, as it was cut */

/* The elements of a chunk with so many bytes of an array with that step, as plans have them. */
long long sct_host_chunk_of(long long bytes, long long step, long long halo);
/* What headers do there: to the ring as memcpy, back past the caches. */
void sct_host_copy(void *to, const void *from, int64_t bytes, bool back);

#endif
