/* worker_backend - what a worker drives: a GPU, the interpreter of PTX, or in test programs what
 * stands in for a GPU, through one table.
 *
 * Only the worker process sees these. Pointers are device pointers (host addresses where memory is
 * the host's). Every failing call leaves its CUresult in last(), or one of worker.h's
 * SCT_RESULT_... for what the interpreter found. */
#ifndef SCT_WORKER_BACKEND_H
#define SCT_WORKER_BACKEND_H

#include "worker/worker.h"

/* Bytes [lo, hi) counted from `base`, which is a multiple of 8. */
typedef struct sct_region {
  sct_cuda_ptr base;
  int64_t lo, hi;
} sct_region;

/* One argument of a kernel: `bytes` bytes at `value`. */
typedef struct sct_arg {
  uint64_t value[2]; /* 16 bytes: the widest scalar type */
  size_t bytes;
  bool is_buffer, read_only; /* the value points to an array; read_only: one that is sealed */
  int64_t buffer_bytes;      /* of that array, guard zones not among them */
  bool is_workspace;         /* as large as the largest size needs it */
  int64_t residue;           /* of the array's address, modulo SCT_PLACE_BYTES or more */
  uint64_t copies; /* of that array, `stride` bytes apart; the value points to the first */
  int64_t stride;
  const char *name; /* of that array, "" unknown; belongs to the worker */
} sct_arg;

typedef struct sct_launch {
  int kernel; /* index into the worker's list */
  int64_t blocks;
  int threads;
  int64_t grid[3], block[3]; /* blocks and threads by x, y and z */
  bool reversed;             /* the interpreter runs blocks and warps in the opposite order */
  int rounding;              /* as in sct_ptx_launch_opts; 0: to the nearest value */
  int passes;                /* as in sct_ptx_launch_opts; 0: one launch */
  int64_t shared_bytes;
  int n_args;
  sct_arg args[SCT_MAX_ARGS];
} sct_launch;

typedef struct sct_backend sct_backend;

/* A copy between a device and the host, or a second device: by way, 0 to the device. */
typedef struct sct_transfer {
  sct_backend *peer; /* whose memory the blocks are; NULL: the host's */
  sct_way way;
  int64_t bytes;
  sct_host_block block[2];
  sct_cuda_ptr device[2]; /* of managed memory its alias */
} sct_transfer;

typedef struct sct_backend_ops {
  void (*close)(sct_backend *b);
  int (*last)(sct_backend *b); /* asking clears it */
  sct_status (*alloc)(sct_backend *b, sct_cuda_ptr *out, int64_t bytes, sct_error *err);
  /* For what is asked for as sparse; NULL: as any other. */
  sct_status (*alloc_sparse)(sct_backend *b, sct_cuda_ptr *out, int64_t bytes, sct_error *err);
  void (*release)(sct_backend *b, sct_cuda_ptr p);
  sct_status (*upload)(sct_backend *b, sct_cuda_ptr to, const void *from, int64_t bytes,
                       sct_error *err);
  sct_status (*download)(sct_backend *b, void *to, sct_cuda_ptr from, int64_t bytes,
                         sct_error *err);
  /* Spans of what lies at p, whose bytes are contiguous on the host's side. */
  sct_status (*scatter)(sct_backend *b, sct_cuda_ptr p, const sct_span *spans, int64_t n,
                        const uint8_t *data, sct_error *err);
  sct_status (*gather)(sct_backend *b, uint8_t *data, sct_cuda_ptr p, const sct_span *spans,
                       int64_t n, sct_error *err);
  sct_status (*set)(sct_backend *b, sct_cuda_ptr p, uint8_t byte, int64_t bytes, sct_error *err);
  /* Copy number `variant` of n_copies: 0 is the driver's. Asynchronous. */
  sct_status (*copy)(sct_backend *b, int variant, sct_cuda_ptr to, sct_cuda_ptr from, int64_t bytes,
                     sct_error *err);
  sct_status (*load)(sct_backend *b, sct_cuda_kernel *out, const void *image, const char *entry,
                     int64_t shared_bytes, int64_t serial, sct_error *err);
  void (*unload)(sct_backend *b, sct_cuda_kernel *kernel);
  sct_status (*launch)(sct_backend *b, const sct_cuda_kernel *kernel, const sct_launch *launch,
                       sct_error *err);
  sct_status (*sync)(sct_backend *b, sct_error *err);
  sct_status (*timer_start)(sct_backend *b, sct_error *err);
  sct_status (*timer_stop)(sct_backend *b, double *ns, sct_error *err);
  /* A unit: what is queued between begin and end (at most SCT_MAX_HELD launches) starts when end
   * lets it, so that the host's part is not in its time. `mhz`: the SM clock meanwhile, 0 unknown.
   * end must follow begin, after a failing launch too. NULL where nothing is timed. */
  sct_status (*unit_begin)(sct_backend *b, sct_error *err);
  sct_status (*unit_end)(sct_backend *b, double *ns, double *mhz, sct_error *err);
  sct_status (*launch_empty)(sct_backend *b, sct_error *err); /* one block that does nothing */
  /* Ends the persistence of L2 lines that other kernels marked evict-last: called before a
   * candidate is timed. NULL where there is no L2. */
  void (*reset_persisting_l2)(sct_backend *b);
  /* Throttle reasons (device_throttle.def), and whether the device itself is well: asked after each
   * unit. NULL where nothing is known. */
  sct_status (*check_health)(sct_backend *b, uint64_t *reasons, sct_error *err);
  /* Processes that began to compute on the device since this was asked first: asked after each
   * unit. `first` receives one of them. NULL where nothing is known. */
  int (*newcomers)(sct_backend *b, sct_gpu_process *first);
  /* 8-byte word i of the buffer becomes (sct_mix64(seed, i) & and_mask) | or_mask. */
  sct_status (*fill)(sct_backend *b, sct_cuda_ptr p, int64_t words, uint64_t and_mask,
                     uint64_t or_mask, uint64_t seed, sct_error *err);
  /* sums[k] = sct_region_sum() of region k. NULL where kernels run on copies of their arrays: then
   * nothing that lies here can change. */
  sct_status (*checksum)(sct_backend *b, const sct_region *regions, int n, uint64_t *sums,
                         sct_error *err);
  /* Bytes where a and b differ, and the first of them (-1: none). Where c != 0, bytes where b and c
   * differ do not count. */
  bool compares_anywhere; /* at any address; else a is at a multiple of 4, others of 8 */
  sct_status (*compare)(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref, sct_cuda_ptr ref2,
                        int64_t bytes, int64_t *n_differ, int64_t *first, sct_error *err);
  /* INDEX and SETTLE; NULL where nothing is timed. */
  sct_status (*index)(sct_backend *b, sct_cuda_ptr p, const sct_places *at,
                      const sct_index_values *values, sct_error *err);
  sct_status (*settle)(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref, const sct_places *at,
                       const sct_nearness *how, int64_t *n_wrong, sct_error *err);
  /* Sets what a launch whose arguments hold the pointer p must write: the bytes whose flag is set.
   * A stand-in that runs no code takes them from data (else NULL). Both are copied. NULL on a GPU.
   */
  sct_status (*expect)(sct_backend *b, sct_cuda_ptr p, const uint8_t *flags, const uint8_t *data,
                       int64_t bytes, sct_error *err);
  /* The counts of the last launch. NULL where nothing counts. */
  void (*counts)(sct_backend *b, sct_launch_counts *out);
  /* How many guards of a kernel all its launches took one way; a line for each of the first ones
   * is appended: "line 12: never true: @%p1 bra $L__BB0_2". NULL where nothing is known. */
  int (*uncovered)(sct_backend *b, const sct_cuda_kernel *kernel, sct_str *places);
  /* Memory of a kind, of which `bytes` may be fewer where nothing is timed. peer: a device of the
   * same sort, of whose memory it shall be; NULL: the host's. */
  sct_status (*block_open)(sct_backend *b, sct_backend *peer, sct_host_block *out,
                           sct_host_kind kind, int64_t bytes, sct_error *err);
  void (*block_close)(sct_backend *b, sct_backend *peer, sct_host_block *block);
  /* Makes this device current, of two that are open. NULL where nothing is to be done. */
  sct_status (*make_current)(sct_backend *b, sct_error *err);
  /* One transfer: *ns from the call until the host knows that it is done. */
  sct_status (*transfer)(sct_backend *b, const sct_transfer *t, double *ns, sct_error *err);
  /* The session whose streams HOST uses. NULL: everything is done at once. */
  sct_cuda *(*cuda)(sct_backend *b);
  int n_copies;
} sct_backend_ops;
struct sct_backend {
  const sct_backend_ops *ops;
  sct_device_desc desc;
};

/* A launch on a GPU, on the session's current stream (worker_backend_cuda.c). */
sct_status sct_gpu_launch(sct_cuda *cuda, const sct_cuda_kernel *kernel, const sct_launch *launch,
                          sct_error *err);
sct_status sct_backend_cuda_open(sct_backend **out, int ordinal, sct_error *err);
/* The interpreter of PTX, as the device `desc` describes. */
void sct_backend_ptx_open(sct_backend **out, const sct_device_desc *desc);

/* What answers for the GPUs of this machine in place of the driver, as a script tells it to. */
typedef struct sct_gpu_stand_in {
  const char *(*script)(void); /* where the caller has none of its own; NULL: the driver answers */
  /* Devices there are, or -1 with a reason; and the description of one without a context on it. */
  int (*count)(const char *script, sct_error *err);
  sct_status (*peek)(sct_device_desc *out, int ordinal, const char *script, sct_error *err);
  /* The description and the state of one, and the name of its lock in lock[64] ("": none). */
  sct_status (*look)(sct_device_desc *out, sct_gpu_state *state, char lock[64], int ordinal,
                     const char *script, sct_error *err);
  /* generation: how many workers of this session came before. */
  sct_status (*open)(sct_backend **out, int ordinal, const char *script, int64_t generation,
                     sct_error *err);
} sct_gpu_stand_in;
/* NULL but in programs that link one, which are those of the tests (tests/worker/fake_gpu.c). */
extern const sct_gpu_stand_in *sct_worker_stand_in;

/* Table entries for backends whose pointers are host addresses (worker_host.c). */
static inline uint8_t *sct_host(sct_cuda_ptr p) {
  return (uint8_t *)(uintptr_t)p;
}
sct_status sct_host_upload(sct_backend *b, sct_cuda_ptr to, const void *from, int64_t bytes,
                           sct_error *err);
sct_status sct_host_download(sct_backend *b, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err);
sct_status sct_host_scatter(sct_backend *b, sct_cuda_ptr p, const sct_span *spans, int64_t n,
                            const uint8_t *data, sct_error *err);
sct_status sct_host_gather(sct_backend *b, uint8_t *data, sct_cuda_ptr p, const sct_span *spans,
                           int64_t n, sct_error *err);
sct_status sct_host_set(sct_backend *b, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                        sct_error *err);
sct_status sct_host_fill(sct_backend *b, sct_cuda_ptr p, int64_t words, uint64_t and_mask,
                         uint64_t or_mask, uint64_t seed, sct_error *err);
/* A transfer moves no more than a MiB, and takes the time that the description states. */
sct_status sct_host_block_open(sct_backend *b, sct_backend *peer, sct_host_block *out,
                               sct_host_kind kind, int64_t bytes, sct_error *err);
void sct_host_block_close(sct_backend *b, sct_backend *peer, sct_host_block *block);
sct_status sct_host_transfer(sct_backend *b, const sct_transfer *t, double *ns, sct_error *err);
sct_status sct_host_compare(sct_backend *b, sct_cuda_ptr a, sct_cuda_ptr ref, sct_cuda_ptr ref2,
                            int64_t bytes, int64_t *n_differ, int64_t *first, sct_error *err);

/* The host's version of the device's checksum and comparison. Sum over the 8-byte words that a
 * region touches, numbered from its base, of sct_mix64(word, number); bytes of a word outside [lo,
 * hi) count as 0. `bytes` points at byte lo. */
uint64_t sct_region_sum(const uint8_t *bytes, int64_t lo, int64_t hi);
int64_t sct_bytes_differ(const uint8_t *a, const uint8_t *b, const uint8_t *c, int64_t n,
                         int64_t *first);

/* The device's kernels as PTX text; those that need compute capability 8.0. */
void sct_worker_ptx(sct_str *out);
void sct_worker_ptx_kept(sct_str *out);

#endif
