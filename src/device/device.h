/* device - where candidates run: the table of device kinds, and the CUDA driver behind dlopen.
 *
 * Only the worker process (module measure) calls the sct_cuda_* functions: the parent never loads
 * the driver. */
#ifndef SCT_DEVICE_H
#define SCT_DEVICE_H

#include "spec/spec.h"

/* ---- the table of kinds ---- */

typedef struct sct_device_kind {
  const char *prefix; /* "cuda", "virtual" */
  const char *doc;    /* one line for `sectile devices` */
  const char *says;   /* how its figures come about: "timed", "..., not timed" */
  bool runs;          /* executes candidates, so results can be verified */
  bool times;         /* gives times */
} sct_device_kind;
const sct_device_kind *sct_device_kinds(int *n);
/* Splits "virtual:h200" into its kind and the part after the colon (points into `id`). SCT_EUSAGE
 * names the kinds. */
sct_status sct_device_parse(const sct_device_kind **kind, const char **name, const char *id,
                            sct_error *err) SCT_MUST_USE;

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
sct_status sct_cuda_open(sct_cuda **out, int ordinal,
                         sct_error *err) SCT_MUST_USE; /* SCT_ENODEVICE */
void sct_cuda_close(sct_cuda *cuda);
void sct_cuda_describe(sct_cuda *cuda,
                       sct_device_desc *out); /* every field but copy_bytes_s and inflight_bytes */
/* The description of a GPU without making a context on it (the driver string then is "CUDA 13.0").
 */
sct_status sct_cuda_peek(sct_device_desc *out, int ordinal, sct_error *err) SCT_MUST_USE;
int sct_cuda_last(sct_cuda *cuda); /* CUresult of the last failing call; asking clears it */
bool sct_cuda_is_sticky(int result);
bool sct_cuda_is_lost(int result); /* the device is at fault, not the candidate: stop using it */
const char *sct_cuda_result_name(int result);       /* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char *sct_cuda_result_text(int result);       /* "a load or store to an illegal address" */
double sct_cuda_sm_clock_mhz(const sct_cuda *cuda); /* now, through NVML; 0: unknown */

sct_status sct_cuda_alloc(sct_cuda *cuda, sct_cuda_ptr *out, int64_t bytes,
                          sct_error *err) SCT_MUST_USE;
void sct_cuda_release(sct_cuda *cuda, sct_cuda_ptr p);
sct_status sct_cuda_upload(sct_cuda *cuda, sct_cuda_ptr to, const void *from, int64_t bytes,
                           sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_download(sct_cuda *cuda, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err) SCT_MUST_USE;
/* Sets `bytes` bytes to the repeated byte; asynchronous. */
sct_status sct_cuda_set(sct_cuda *cuda, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                        sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_copy(sct_cuda *cuda, sct_cuda_ptr to, sct_cuda_ptr from, int64_t bytes,
                         sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_load(sct_cuda *cuda, sct_cuda_kernel *out, const void *cubin, const char *entry,
                         int64_t dynamic_shared_bytes, sct_error *err) SCT_MUST_USE;
void sct_cuda_unload(sct_cuda *cuda, sct_cuda_kernel *kernel);
/* Asynchronous. args: pointers to the argument values, as cuLaunchKernel wants them. */
sct_status sct_cuda_launch(sct_cuda *cuda, const sct_cuda_kernel *kernel, int64_t blocks,
                           int threads, int64_t dynamic_shared_bytes, void **args,
                           sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_sync(sct_cuda *cuda, sct_error *err) SCT_MUST_USE;
/* Zeroed host memory that the device sees too, at address *device. */
sct_status sct_cuda_host_alloc(sct_cuda *cuda, void **host, sct_cuda_ptr *device, int64_t bytes,
                               sct_error *err) SCT_MUST_USE;
void sct_cuda_host_free(sct_cuda *cuda, void *host);
/* Events around what is queued between start and stop; stop synchronises. It is mark, which only
 * queues the second event, and read, which waits for it. */
sct_status sct_cuda_timer_start(sct_cuda *cuda, sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_timer_stop(sct_cuda *cuda, double *ns, sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_timer_mark(sct_cuda *cuda, sct_error *err) SCT_MUST_USE;
sct_status sct_cuda_timer_read(sct_cuda *cuda, double *ns, sct_error *err) SCT_MUST_USE;

#endif
