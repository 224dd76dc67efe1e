/* device - where candidates run: the table of device kinds, and the CUDA driver, loaded by dlopen.
 *
 * Only the worker process (module measure), and the one that a profiler runs, call the sct_cuda_*
 * functions: the parent never loads the driver. */
#ifndef SCT_DEVICE_H
#define SCT_DEVICE_H

#include "process/process.h"
#include "spec/spec.h"

/* ---- the table of kinds ---- */

typedef struct sct_device_kind {
  const char *prefix; /* "cuda", "virtual" */
  const char *doc;    /* one line for `sectile devices` */
  const char *says;   /* how its figures come about: "timed", "..., not timed" */
  bool runs;          /* executes candidates, so results can be verified */
  bool times;         /* gives times */
  bool replays;       /* they are those of a recording: nothing is measured, checked or stored */
} sct_device_kind;
const sct_device_kind *sct_device_kinds(int *n);
/* Splits "virtual:h200" into its kind and the part after the colon (points into `id`). SCT_EUSAGE
 * names the kinds. */
sct_status sct_device_parse(const sct_device_kind **kind, const char **name, const char *id,
                            sct_error *err);

/* ---- who else uses a GPU ---- */

/* Where the locks lie: "$XDG_RUNTIME_DIR/sectile", or "/tmp/sectile-UID" where that is not set.
 * Appends to `out`. */
void sct_lock_directory(sct_str *out);
/* Takes the lock NAME.lock of that directory, which is made with mode 0700 and must belong to the
 * user alone; symbolic links are not followed. Does not wait. It is given back when the process
 * ends, whatever ends it. SCT_EBUSY: err says who holds it, and nothing else ("process 12 (sectile
 * tune
 * ...) since ..."); SCT_EIO. */
sct_status sct_lock_take(int *fd, const char *name, sct_error *err);
void sct_lock_release(int *fd); /* accepts -1, leaves -1 */

/* NVIDIA's Multi-Process Service: its clients share a GPU, and a fault of one ends them all. */
typedef struct sct_mps {
  char directory[256]; /* of its pipe */
  bool chosen;         /* by CUDA_MPS_PIPE_DIRECTORY */
  char program[64];
  long pid; /* 0: unknown */
} sct_mps;
bool sct_mps_find(sct_mps *out); /* true: its control daemon runs */

typedef struct sct_gpu_process {
  int64_t pid;   /* as the machine numbers it: in a container it may be another process here */
  int64_t bytes; /* of GPU memory; -1 unknown */
  char name[48]; /* "" unknown */
} sct_gpu_process;

/* The state of a GPU as NVML reports it. Plain data, to be sent. */
typedef struct sct_gpu_state {
  bool known; /* NVML answers for this GPU; else only mig_slice is filled */
  bool mig;   /* cut into slices */
  bool mig_slice;
  int compute_mode; /* of NVML: 0 default, 2 prohibited, 3 exclusive process; -1 unknown */
  int n_others;     /* processes that compute on it, this one not among them */
  int n_processes;  /* of them, those listed */
  sct_gpu_process processes[8];
  int mps_clients;                                       /* of n_others */
  double sm_mhz, sm_max_mhz, memory_mhz, memory_max_mhz; /* 0 unknown */
  uint64_t throttle;                                     /* bits of device_throttle.def */
  int64_t ecc_errors;                                    /* uncorrected; -1 unknown */
  int celsius;                                           /* -1 unknown */
} sct_gpu_state;
const char *sct_compute_mode_name(int mode); /* "exclusive_process" */

/* Why clocks are not at their maximum: bits of device_throttle.def. */
uint64_t sct_throttle_hardware(uint64_t bits); /* those that make times worthless */
void sct_throttle_names(sct_str *out, uint64_t bits, const char *between); /* appends */
const char *sct_throttle_meaning(uint64_t bits); /* of the first; "" for none */

/* ---- copies between a device and the host, or a second device ---- */

/* Kinds of memory on the other side. */
typedef enum sct_host_kind {
#define SCT_HOST(id, name, doc) SCT_HOST_##id,
#include "device_host.def"
#undef SCT_HOST
  SCT_N_HOSTS
} sct_host_kind;
const char *sct_host_name(sct_host_kind kind); /* "page-locked" */
bool sct_host_is_peer(sct_host_kind kind);     /* a second device's, not the host's */

typedef enum sct_way { SCT_TO_DEVICE = 1, SCT_TO_HOST = 2, SCT_BOTH_WAYS = 3 } sct_way;
const char *sct_way_name(sct_host_kind kind, sct_way way); /* "to device"; TO_HOST: "to peer" */

/* The time of a copy of `bytes` bytes (each way) on a device whose description states the rates of
 * its link; 0: it does not. peer: of a second device's memory this one, else NULL. */
double sct_stated_transfer_ns(const sct_device_desc *device, const sct_device_desc *peer,
                              sct_host_kind kind, sct_way way, int64_t bytes);

/* ---- the CUDA driver (worker process only) ---- */

typedef struct sct_cuda sct_cuda;
typedef uint64_t sct_cuda_ptr; /* CUdeviceptr */
typedef struct sct_cuda_kernel {
  void *module, *function;
} sct_cuda_kernel;

/* Result of a driver call: 0 or the CUresult, by name and meaning in the error's text. Sticky
 * errors (illegal address, misaligned, trap, ...: reliability.md lists them) leave the process
 * useless: sct_cuda_is_sticky tells. */
int sct_cuda_count(
    sct_error *err); /* GPUs visible; -1: no driver (err says which file was looked for) */
sct_status sct_cuda_open(sct_cuda **out, int ordinal, sct_error *err); /* SCT_ENODEVICE */
void sct_cuda_close(sct_cuda *cuda);
void sct_cuda_describe(sct_cuda *cuda,
                       sct_device_desc *out); /* every field but copy_bytes_s and inflight_bytes */
/* The description of a GPU without making a context on it (the driver string then is "CUDA 13.0").
 */
sct_status sct_cuda_peek(sct_device_desc *out, int ordinal, sct_error *err);
/* Describes a GPU without a context, and fills its state as NVML reports it (may be NULL). */
sct_status sct_cuda_peek_state(sct_device_desc *out, sct_gpu_state *state, int ordinal,
                               sct_error *err);
/* Throttle reasons now, 0 where they are unknown. SCT_EUNHEALTHY when the GPU has fallen off the
 * bus, or had an uncorrectable memory error since it was opened: its results do not count. */
sct_status sct_cuda_check_health(sct_cuda *cuda, uint64_t *throttle, sct_error *err);
/* How many processes compute on the GPU that did not when this was asked first: 0 then, and where
 * it is not known. `first` receives one of them. To be asked once kernels have run, so that the
 * first answer knows this process under whatever number the machine has for it. */
int sct_cuda_newcomers(sct_cuda *cuda, sct_gpu_process *first);
int sct_cuda_last(sct_cuda *cuda); /* CUresult of the last failing call; asking clears it */
bool sct_cuda_is_sticky(int result);
bool sct_cuda_is_lost(int result); /* the device is at fault, not the candidate: stop using it */
const char *sct_cuda_result_name(int result); /* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *sct_cuda_result_text(int result); /* "a load or store to an illegal address" */

sct_status sct_cuda_alloc(sct_cuda *cuda, sct_cuda_ptr *out, int64_t bytes, sct_error *err);
void sct_cuda_release(sct_cuda *cuda, sct_cuda_ptr p);
sct_status sct_cuda_upload(sct_cuda *cuda, sct_cuda_ptr to, const void *from, int64_t bytes,
                           sct_error *err);
sct_status sct_cuda_download(sct_cuda *cuda, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err);
/* Ends the persistence of L2 lines that kernels marked evict-last; no effect where the device has
 * no such policy. */
void sct_cuda_reset_persisting_l2(sct_cuda *cuda);
/* Sets `bytes` bytes to the repeated byte; asynchronous. */
sct_status sct_cuda_set(sct_cuda *cuda, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                        sct_error *err);
sct_status sct_cuda_copy(sct_cuda *cuda, sct_cuda_ptr to, sct_cuda_ptr from, int64_t bytes,
                         sct_error *err);
sct_status sct_cuda_load(sct_cuda *cuda, sct_cuda_kernel *out, const void *cubin, const char *entry,
                         int64_t dynamic_shared_bytes, sct_error *err);
/* Another kernel of the module that is loaded. */
sct_status sct_cuda_function(sct_cuda *cuda, sct_cuda_kernel *kernel, const char *entry,
                             int64_t dynamic_shared_bytes, sct_error *err);
void sct_cuda_unload(sct_cuda *cuda, sct_cuda_kernel *kernel);
/* Asynchronous. args: pointers to the argument values, as cuLaunchKernel wants them. */
sct_status sct_cuda_launch(sct_cuda *cuda, const sct_cuda_kernel *kernel, int64_t blocks,
                           int threads, int64_t dynamic_shared_bytes, void **args, sct_error *err);
sct_status sct_cuda_launch_3d(sct_cuda *cuda, const sct_cuda_kernel *kernel, const int64_t grid[3],
                              const int64_t block[3], int64_t dynamic_shared_bytes, void **args,
                              sct_error *err);
sct_status sct_cuda_sync(sct_cuda *cuda, sct_error *err);
/* Zeroed host memory that the device sees too, at address *device. */
sct_status sct_cuda_host_alloc(sct_cuda *cuda, void **host, sct_cuda_ptr *device, int64_t bytes,
                               sct_error *err);
void sct_cuda_host_free(sct_cuda *cuda, void *host);
/* Memory of a kind, each page of the host's touched. */
typedef struct sct_host_block {
  sct_host_kind kind;
  void *host; /* NULL: a second device's */
  int64_t bytes;
  uint64_t alias; /* how a device addresses it (mapped, managed, a peer's); 0: not at all */
} sct_host_block;
/* What was opened is closed by the second; it accepts a zeroed block. */
sct_status sct_cuda_block_open(sct_cuda *cuda, sct_host_block *out, sct_host_kind kind,
                               int64_t bytes, sct_error *err);
void sct_cuda_block_close(sct_cuda *cuda, sct_host_block *block);
/* Queues the copy of the block's first bytes to device memory at p, or back; for managed memory,
 * which is at p, a prefetch. Mapped memory is not copied: kernels use its alias. */
sct_status sct_cuda_block_copy(sct_cuda *cuda, const sct_host_block *block, bool to_device,
                               sct_cuda_ptr p, int64_t bytes, sct_error *err);
/* Makes the device current, as opening it does. Calls that name a stream or an address of a second
 * device need that one current. */
sct_status sct_cuda_make_current(sct_cuda *cuda, sct_error *err);
/* Memory of `peer`, another device, for copies between both: kind PEER with peer access both ways,
 * where they have it, STAGED without. Afterwards, failed or not, calls are for `cuda`. */
sct_status sct_cuda_peer_open(sct_cuda *cuda, sct_cuda *peer, sct_host_block *out,
                              sct_host_kind kind, int64_t bytes, sct_error *err);
void sct_cuda_peer_close(sct_cuda *cuda, sct_cuda *peer, sct_host_block *block);
/* Queues a copy from one device to another, on the current stream of the first. */
sct_status sct_cuda_peer_copy(sct_cuda *from, sct_cuda_ptr from_p, sct_cuda *to, sct_cuda_ptr to_p,
                              int64_t bytes, sct_error *err);
/* Makes stream k, 0 or 1, current: later calls queue on it and wait for it. At first 0 is. */
sct_status sct_cuda_use_stream(sct_cuda *cuda, int k, sct_error *err);
/* A view of the session for another thread, which enters it: with a current stream and a last
 * result of its own. Ended before the session, which then has the result. Accepts NULL. */
sct_cuda *sct_cuda_share(const sct_cuda *cuda);
void sct_cuda_unshare(sct_cuda *view, sct_cuda *cuda);
/* Further streams; the current one; 0 is stream 0. */
sct_status sct_cuda_stream_open(sct_cuda *cuda, void **stream, sct_error *err);
void sct_cuda_stream_close(sct_cuda *cuda, void *stream);
void sct_cuda_set_stream(sct_cuda *cuda, void *stream);
/* Asynchronous where the host's memory is page-locked. */
sct_status sct_cuda_copy_in(sct_cuda *cuda, sct_cuda_ptr to, const void *from, int64_t bytes,
                            sct_error *err);
sct_status sct_cuda_copy_out(sct_cuda *cuda, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err);
/* Events are recorded on the current stream, which can wait for those of other streams. */
sct_status sct_cuda_event_open(sct_cuda *cuda, void **event, bool timed, sct_error *err);
void sct_cuda_event_close(sct_cuda *cuda, void *event);
sct_status sct_cuda_event_record(sct_cuda *cuda, void *event, sct_error *err);
sct_status sct_cuda_event_wait(sct_cuda *cuda, void *event, sct_error *err);
sct_status sct_cuda_event_sync(sct_cuda *cuda, void *event, sct_error *err); /* the host does */
sct_status sct_cuda_event_elapsed(sct_cuda *cuda, double *ns, void *from, void *to, sct_error *err);
/* Events around what is queued between start and stop; stop synchronises. stop is mark, which
 * queues the second event, followed by read, which waits for it. */
sct_status sct_cuda_timer_start(sct_cuda *cuda, sct_error *err);
sct_status sct_cuda_timer_stop(sct_cuda *cuda, double *ns, sct_error *err);
sct_status sct_cuda_timer_mark(sct_cuda *cuda, sct_error *err);
sct_status sct_cuda_timer_read(sct_cuda *cuda, double *ns, sct_error *err);

/* ---- launches in a file: what a profiler runs (device_launches.c) ---- */

#define SCT_LAUNCHES_ARG "--launches" /* role of the process; its other argument is the file */
#define SCT_MESSAGES     "device/device_launches.def"
#include "process/process_declare.def"

/* Writes launches, and of each array the bytes that it holds. SCT_EIO; SCT_EUSAGE: too many. */
sct_status sct_launches_write(const char *path, const sct_launches *launches,
                              const void *const *contents, sct_error *err);
/* Runs them once, in their order. SCT_EDATA: a file that holds none. */
sct_status sct_launches_run(const char *path, sct_error *err);
int sct_launches_main(int argc, char **argv);

#endif
