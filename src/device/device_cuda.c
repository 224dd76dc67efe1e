/* One GPU through the CUDA driver: its primary context, one stream, two events. */
#include "device_internal.h"

#include <string.h>

struct sct_cuda {
  sct_driver driver;
  sct_nvml nvml;
  int ordinal, device;
  void *context, *start, *stop;
  void *streams[2], *stream; /* the second comes when it is asked for; the current one */
  int last;                  /* CUresult of the last failing call */
  bool reaches;              /* peer access to the second device is on */
  int64_t ecc_before;        /* uncorrected errors when it was opened; -1 unknown */
  sct_nvml_known known;      /* processes that were there when newcomers were asked for first */
};

#define STREAM_NON_BLOCKING        1u
#define HOST_ALLOC_DEVICE_MAP      2u
#define HOST_ALLOC_WRITE_COMBINED  4u
#define ATTACH_GLOBAL              1u
#define DEVICE_CPU                 (-1) /* of a prefetch */
#define MAX_DYNAMIC_SHARED_BYTES   8    /* CUfunction_attribute */
#define ATTRIBUTE_MEMORY_CLOCK_KHZ 36
#define ATTRIBUTE_BUS_BITS         37
#define PEER_ACCESS_UNSUPPORTED    217
#define REGISTERS_PER_WARP_UNIT    256 /* CC 3.0 and later; registers a thread can have: 255 */
#define MAX_GRID_BLOCKS            INT32_MAX

static sct_status fail_result(const char *call, int result, sct_error *err) {
  const bool unhealthy = sct_cuda_is_lost(result) || sct_cuda_is_sticky(result);
  const sct_status status = result == 2                      ? SCT_ENOMEM
                            : result == 46                   ? SCT_EBUSY
                            : result == 100 || result == 101 ? SCT_ENODEVICE
                            : unhealthy                      ? SCT_EUNHEALTHY
                                                             : SCT_EINTERNAL;
  return sct_fail(err, status, "%s failed: %s (%d), %s", call, sct_cuda_result_name(result), result,
                  sct_cuda_result_text(result));
}

static sct_status check(sct_cuda *cuda, const char *call, int result, sct_error *err) {
  if (result == 0) {
    return SCT_OK;
  }
  cuda->last = result;
  return fail_result(call, result, err);
}

int sct_cuda_count(sct_error *err) {
  sct_driver driver;
  int result = 0, n = 0;
  if (sct_driver_load(&driver, &result, err) != SCT_OK) {
    return result == 100 ? 0 : -1; /* a driver without a GPU refuses to start */
  }
  result = driver.device_count(&n);
  if (result != 0) {
    (void)fail_result("cuDeviceGetCount", result, err);
    return -1;
  }
  return n;
}

sct_status sct_cuda_use_stream(sct_cuda *cuda, int k, sct_error *err) {
  if (!cuda->streams[k]) {
    SCT_TRY(check(cuda, "cuStreamCreate",
                  cuda->driver.stream_create(&cuda->streams[k], STREAM_NON_BLOCKING), err));
  }
  cuda->stream = cuda->streams[k];
  return SCT_OK;
}

sct_status sct_cuda_make_current(sct_cuda *cuda, sct_error *err) {
  return check(cuda, "cuCtxSetCurrent", cuda->driver.context_set(cuda->context), err);
}

static sct_status open_context(sct_cuda *cuda, sct_error *err) {
  const sct_driver *d = &cuda->driver;
  SCT_TRY(check(cuda, "cuDevicePrimaryCtxRetain", d->context_retain(&cuda->context, cuda->device),
                err));
  SCT_TRY(sct_cuda_make_current(cuda, err));
  SCT_TRY(sct_cuda_use_stream(cuda, 0, err));
  SCT_TRY(check(cuda, "cuEventCreate", d->event_create(&cuda->start, 0), err));
  return check(cuda, "cuEventCreate", d->event_create(&cuda->stop, 0), err);
}

static sct_status find_device(sct_cuda *cuda, int ordinal, sct_error *err) {
  int n = 0;
  cuda->ordinal = ordinal;
  SCT_TRY(sct_driver_load(&cuda->driver, &cuda->last, err));
  SCT_TRY(check(cuda, "cuDeviceGetCount", cuda->driver.device_count(&n), err));
  if (ordinal < 0 || ordinal >= n) {
    return sct_fail(err, SCT_ENODEVICE, "there is no device cuda:%d: %d GPU%s visible", ordinal, n,
                    n == 1 ? " is" : "s are");
  }
  return check(cuda, "cuDeviceGet", cuda->driver.device_get(&cuda->device, ordinal), err);
}

static void device_uuid(sct_cuda *cuda, char out[48]) {
  unsigned char u[16] = {0};
  out[0] = '\0';
  if (cuda->driver.device_uuid(u, cuda->device) == 0) {
    snprintf(out, 48, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13],
             u[14], u[15]);
  }
}

sct_status sct_cuda_open(sct_cuda **out, int ordinal, sct_error *err) {
  sct_cuda *cuda = sct_alloc(sizeof *cuda);
  sct_status status = SCT_OK;
  SCT_TRY_DONE(find_device(cuda, ordinal, err));
  SCT_TRY_DONE(open_context(cuda, err));
  char uuid[48];
  device_uuid(cuda, uuid);
  sct_nvml_open(&cuda->nvml, uuid);
  sct_gpu_state state;
  sct_nvml_state(&cuda->nvml, &state);
  cuda->ecc_before = state.ecc_errors;
  *out = cuda;
  return SCT_OK;
done:
  sct_cuda_close(cuda);
  return status;
}

void sct_cuda_close(sct_cuda *cuda) {
  if (!cuda) {
    return;
  }
  sct_nvml_close(&cuda->nvml);
  if (cuda->start) {
    cuda->driver.event_destroy(cuda->start);
  }
  if (cuda->stop) {
    cuda->driver.event_destroy(cuda->stop);
  }
  for (int k = 0; k < SCT_COUNT(cuda->streams); k++) {
    if (cuda->streams[k]) {
      cuda->driver.stream_destroy(cuda->streams[k]);
    }
  }
  if (cuda->context) {
    cuda->driver.context_release(cuda->device);
  }
  sct_free(cuda);
}

static int attribute(const sct_cuda *cuda, int number) {
  int value = 0;
  return cuda->driver.device_attribute(&value, number, cuda->device) == 0 ? value : 0;
}

void sct_cuda_describe(sct_cuda *cuda, sct_device_desc *out) {
  *out = (sct_device_desc){0};
  const sct_driver *d = &cuda->driver;
  if (d->device_name(out->name, (int)sizeof out->name, cuda->device) != 0) {
    snprintf(out->name, sizeof out->name, "unknown GPU");
  }
  snprintf(out->id, sizeof out->id, "cuda:%d", cuda->ordinal);
  device_uuid(cuda, out->uuid);
#define SCT_ATTRIBUTE(number, field, scale) out->field = attribute(cuda, number) * (scale);
#include "device_attributes.def"
#undef SCT_ATTRIBUTE
  out->regs_thread = REGISTERS_PER_WARP_UNIT - 1;
  out->regs_unit = REGISTERS_PER_WARP_UNIT;
  /* Double data rate: two words of the bus's width a clock. */
  out->peak_bytes_s = 2.0 * 1000.0 * attribute(cuda, ATTRIBUTE_MEMORY_CLOCK_KHZ) *
                      attribute(cuda, ATTRIBUTE_BUS_BITS) / 8.0;
  size_t memory = 0;
  if (d->device_memory(&memory, cuda->device) == 0) {
    out->memory_bytes = (int64_t)memory;
  }
  int version = 0;
  if (!sct_nvml_driver(&cuda->nvml, out->driver, sizeof out->driver) &&
      d->driver_version(&version) == 0) {
    snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
  }
}

sct_status sct_cuda_peek_state(sct_device_desc *out, sct_gpu_state *state, int ordinal,
                               sct_error *err) {
  sct_cuda cuda = {0};
  SCT_TRY(find_device(&cuda, ordinal, err));
  if (state) {
    char uuid[48];
    device_uuid(&cuda, uuid);
    sct_nvml_open(&cuda.nvml, uuid);
    sct_nvml_state(&cuda.nvml, state);
  }
  sct_cuda_describe(&cuda, out);
  sct_nvml_close(&cuda.nvml);
  return SCT_OK;
}

sct_status sct_cuda_peek(sct_device_desc *out, int ordinal, sct_error *err) {
  return sct_cuda_peek_state(out, NULL, ordinal, err);
}

sct_status sct_cuda_check_health(sct_cuda *cuda, uint64_t *throttle, sct_error *err) {
  return check(cuda, "watching the GPU",
               sct_nvml_check_health(&cuda->nvml, cuda->ecc_before, throttle), err);
}

int sct_cuda_newcomers(sct_cuda *cuda, sct_gpu_process *first) {
  return sct_nvml_newcomers(&cuda->nvml, &cuda->known, first);
}

int sct_cuda_last(sct_cuda *cuda) {
  const int last = cuda->last;
  cuda->last = 0;
  return last;
}

/* ---- memory ---- */

sct_status sct_cuda_alloc(sct_cuda *cuda, sct_cuda_ptr *out, int64_t bytes, sct_error *err) {
  return check(cuda, "cuMemAlloc", cuda->driver.mem_alloc(out, (size_t)(bytes < 1 ? 1 : bytes)),
               err);
}

void sct_cuda_release(sct_cuda *cuda, sct_cuda_ptr p) {
  if (p != 0) {
    cuda->driver.mem_free(p);
  }
}

sct_status sct_cuda_host_alloc(sct_cuda *cuda, void **host, sct_cuda_ptr *device, int64_t bytes,
                               sct_error *err) {
  void *p = NULL;
  SCT_TRY(check(cuda, "cuMemHostAlloc",
                cuda->driver.host_alloc(&p, (size_t)bytes, HOST_ALLOC_DEVICE_MAP), err));
  const sct_status status =
      check(cuda, "cuMemHostGetDevicePointer", cuda->driver.host_pointer(device, p, 0), err);
  if (status != SCT_OK) {
    sct_cuda_host_free(cuda, p);
    return status;
  }
  memset(p, 0, (size_t)bytes);
  *host = p;
  return SCT_OK;
}

void sct_cuda_host_free(sct_cuda *cuda, void *host) {
  if (host) {
    cuda->driver.host_free(host);
  }
}

sct_status sct_cuda_upload(sct_cuda *cuda, sct_cuda_ptr to, const void *from, int64_t bytes,
                           sct_error *err) {
  if (bytes == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_cuda_copy_in(cuda, to, from, bytes, err));
  return sct_cuda_sync(cuda, err);
}

sct_status sct_cuda_download(sct_cuda *cuda, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err) {
  if (bytes == 0) {
    return SCT_OK;
  }
  SCT_TRY(sct_cuda_copy_out(cuda, to, from, bytes, err));
  return sct_cuda_sync(cuda, err);
}

void sct_cuda_reset_persisting_l2(sct_cuda *cuda) {
  (void)
      cuda->driver.reset_persisting_l2(); /* older devices refuse it, and have nothing to forget */
}

sct_status sct_cuda_set(sct_cuda *cuda, sct_cuda_ptr p, uint8_t byte, int64_t bytes,
                        sct_error *err) {
  if (bytes == 0) {
    return SCT_OK;
  }
  return check(cuda, "cuMemsetD8Async",
               cuda->driver.set_bytes(p, byte, (size_t)bytes, cuda->stream), err);
}

sct_status sct_cuda_copy(sct_cuda *cuda, sct_cuda_ptr to, sct_cuda_ptr from, int64_t bytes,
                         sct_error *err) {
  if (bytes == 0) {
    return SCT_OK;
  }
  return check(cuda, "cuMemcpyDtoDAsync",
               cuda->driver.copy_on_device(to, from, (size_t)bytes, cuda->stream), err);
}

/* ---- host memory of a kind ---- */

#define TOUCH 0x5a /* a page is there when something was written to it */

static sct_status open_locked(sct_cuda *cuda, sct_host_block *block, sct_error *err) {
  const unsigned flags = block->kind == SCT_HOST_COMBINED ? HOST_ALLOC_WRITE_COMBINED
                         : block->kind == SCT_HOST_MAPPED ? HOST_ALLOC_DEVICE_MAP
                                                          : 0;
  SCT_TRY(check(cuda, "cuMemHostAlloc",
                cuda->driver.host_alloc(&block->host, (size_t)block->bytes, flags), err));
  return block->kind == SCT_HOST_MAPPED
             ? check(cuda, "cuMemHostGetDevicePointer",
                     cuda->driver.host_pointer(&block->alias, block->host, 0), err)
             : SCT_OK;
}

static sct_status open_plain(sct_cuda *cuda, sct_host_block *block, sct_error *err) {
  block->host = sct_alloc((size_t)block->bytes);
  memset(block->host, TOUCH, (size_t)block->bytes);
  if (block->kind == SCT_HOST_PAGEABLE) {
    return SCT_OK;
  }
  const sct_status status =
      check(cuda, "cuMemHostRegister",
            cuda->driver.host_register(block->host, (size_t)block->bytes, 0), err);
  if (status != SCT_OK) {
    block->kind = SCT_HOST_PAGEABLE; /* and closed as such */
  }
  return status;
}

static sct_status open_managed(sct_cuda *cuda, sct_host_block *block, sct_error *err) {
  SCT_TRY(check(cuda, "cuMemAllocManaged",
                cuda->driver.managed_alloc(&block->alias, (size_t)block->bytes, ATTACH_GLOBAL),
                err));
  block->host = (void *)(uintptr_t)block->alias;
  memset(block->host, TOUCH, (size_t)block->bytes);
  return SCT_OK;
}

sct_status sct_cuda_block_open(sct_cuda *cuda, sct_host_block *out, sct_host_kind kind,
                               int64_t bytes, sct_error *err) {
  sct_host_block block = {.kind = kind, .bytes = bytes};
  const bool plain = kind == SCT_HOST_PAGEABLE || kind == SCT_HOST_REGISTERED;
  const sct_status status = plain                      ? open_plain(cuda, &block, err)
                            : kind == SCT_HOST_MANAGED ? open_managed(cuda, &block, err)
                                                       : open_locked(cuda, &block, err);
  if (status != SCT_OK) {
    sct_cuda_block_close(cuda, &block);
    return status;
  }
  *out = block;
  return SCT_OK;
}

void sct_cuda_block_close(sct_cuda *cuda, sct_host_block *block) {
  if (block->host && block->kind == SCT_HOST_REGISTERED) {
    cuda->driver.host_unregister(block->host);
  }
  if (block->host && block->kind == SCT_HOST_MANAGED) {
    cuda->driver.mem_free(block->alias);
  } else if (block->kind == SCT_HOST_PAGEABLE || block->kind == SCT_HOST_REGISTERED) {
    sct_free(block->host);
  } else {
    sct_cuda_host_free(cuda, block->host);
  }
  *block = (sct_host_block){0};
}

sct_status sct_cuda_block_copy(sct_cuda *cuda, const sct_host_block *block, bool to_device,
                               sct_cuda_ptr p, int64_t bytes, sct_error *err) {
  const sct_driver *d = &cuda->driver;
  if (block->kind == SCT_HOST_MANAGED) {
    return check(cuda, "cuMemPrefetchAsync",
                 d->prefetch(p, (size_t)bytes, to_device ? cuda->device : DEVICE_CPU, cuda->stream),
                 err);
  }
  return to_device ? sct_cuda_copy_in(cuda, p, block->host, bytes, err)
                   : sct_cuda_copy_out(cuda, block->host, p, bytes, err);
}

/* ---- memory of a second device ---- */

static sct_status check_can_reach(sct_cuda *cuda, const sct_cuda *peer, sct_error *err) {
  int can = 0;
  SCT_TRY(check(cuda, "cuDeviceCanAccessPeer",
                cuda->driver.can_reach(&can, cuda->device, peer->device), err));
  if (can == 0) {
    cuda->last = PEER_ACCESS_UNSUPPORTED;
    return sct_fail(err, SCT_EUSAGE, "cuda:%d cannot access the memory of cuda:%d", cuda->ordinal,
                    peer->ordinal);
  }
  return SCT_OK;
}

/* Switches access from one to the other on or off. */
static sct_status set_reach(sct_cuda *cuda, const sct_cuda *peer, bool on, sct_error *err) {
  const sct_driver *d = &cuda->driver;
  if (cuda->reaches == on) {
    return SCT_OK;
  }
  SCT_TRY(sct_cuda_make_current(cuda, err));
  SCT_TRY(on ? check(cuda, "cuCtxEnablePeerAccess", d->reach(peer->context, 0), err)
             : check(cuda, "cuCtxDisablePeerAccess", d->reach_no_more(peer->context), err));
  cuda->reaches = on;
  return SCT_OK;
}

static sct_status set_both(sct_cuda *cuda, sct_cuda *peer, bool on, sct_error *err) {
  if (on) {
    SCT_TRY(check_can_reach(cuda, peer, err));
    SCT_TRY(check_can_reach(peer, cuda, err));
  }
  SCT_TRY(set_reach(cuda, peer, on, err));
  return set_reach(peer, cuda, on, err);
}

sct_status sct_cuda_peer_open(sct_cuda *cuda, sct_cuda *peer, sct_host_block *out,
                              sct_host_kind kind, int64_t bytes, sct_error *err) {
  sct_host_block block = {.kind = kind, .bytes = bytes};
  sct_status status = set_both(cuda, peer, kind == SCT_HOST_PEER, err);
  SCT_THEN(sct_cuda_make_current(peer, err));
  SCT_THEN(sct_cuda_alloc(peer, &block.alias, bytes, err));
  const sct_status back = sct_cuda_make_current(cuda, status == SCT_OK ? err : NULL);
  SCT_THEN(back);
  if (status != SCT_OK) {
    sct_cuda_peer_close(cuda, peer, &block);
    return status;
  }
  *out = block;
  return SCT_OK;
}

void sct_cuda_peer_close(sct_cuda *cuda, sct_cuda *peer, sct_host_block *block) {
  if (block->alias != 0) {
    (void)sct_cuda_make_current(peer, NULL);
    sct_cuda_release(peer, block->alias);
    (void)sct_cuda_make_current(cuda, NULL);
  }
  *block = (sct_host_block){0};
}

sct_status sct_cuda_peer_copy(sct_cuda *from, sct_cuda_ptr from_p, sct_cuda *to, sct_cuda_ptr to_p,
                              int64_t bytes, sct_error *err) {
  return check(from, "cuMemcpyPeerAsync",
               from->driver.copy_to_peer(to_p, to->context, from_p, from->context, (size_t)bytes,
                                         from->stream),
               err);
}

/* ---- kernels ---- */

sct_status sct_cuda_function(sct_cuda *cuda, sct_cuda_kernel *kernel, const char *entry,
                             int64_t dynamic_shared_bytes, sct_error *err) {
  const sct_driver *d = &cuda->driver;
  SCT_TRY(check(cuda, "cuModuleGetFunction",
                d->module_function(&kernel->function, kernel->module, entry), err));
  if (dynamic_shared_bytes ==
      0) { /* above 48 KiB (static memory counted in) it must be asked for */
    return SCT_OK;
  }
  return check(
      cuda, "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)",
      d->function_set(kernel->function, MAX_DYNAMIC_SHARED_BYTES, (int)dynamic_shared_bytes), err);
}

sct_status sct_cuda_load(sct_cuda *cuda, sct_cuda_kernel *out, const void *cubin, const char *entry,
                         int64_t dynamic_shared_bytes, sct_error *err) {
  const sct_driver *d = &cuda->driver;
  sct_cuda_kernel kernel = {0};
  sct_status status = SCT_OK;
  SCT_TRY_DONE(check(cuda, "cuModuleLoadData", d->module_load(&kernel.module, cubin), err));
  SCT_TRY_DONE(sct_cuda_function(cuda, &kernel, entry, dynamic_shared_bytes, err));
  *out = kernel;
  return SCT_OK;
done:
  sct_cuda_unload(cuda, &kernel);
  return status;
}

void sct_cuda_unload(sct_cuda *cuda, sct_cuda_kernel *kernel) {
  if (kernel->module) {
    cuda->driver.module_unload(kernel->module);
  }
  *kernel = (sct_cuda_kernel){0};
}

sct_status sct_cuda_launch_3d(sct_cuda *cuda, const sct_cuda_kernel *kernel, const int64_t grid[3],
                              const int64_t block[3], int64_t dynamic_shared_bytes, void **args,
                              sct_error *err) {
  bool fits = dynamic_shared_bytes >= 0 && dynamic_shared_bytes <= INT32_MAX;
  for (int d = 0; d < 3; d++) {
    fits = fits && grid[d] >= 1 && grid[d] <= MAX_GRID_BLOCKS && block[d] >= 1 &&
           block[d] <= INT32_MAX;
  }
  if (!fits) {
    cuda->last = 1;
    return sct_fail(err, SCT_EINTERNAL,
                    "a launch of %lld blocks of %lld threads with %lld bytes of shared memory is "
                    "not possible (at most 2147483647 blocks)",
                    (long long)grid[0], (long long)block[0], (long long)dynamic_shared_bytes);
  }
  return check(cuda, "cuLaunchKernel",
               cuda->driver.launch(kernel->function, (unsigned)grid[0], (unsigned)grid[1],
                                   (unsigned)grid[2], (unsigned)block[0], (unsigned)block[1],
                                   (unsigned)block[2], (unsigned)dynamic_shared_bytes, cuda->stream,
                                   args, NULL),
               err);
}

sct_status sct_cuda_launch(sct_cuda *cuda, const sct_cuda_kernel *kernel, int64_t blocks,
                           int threads, int64_t dynamic_shared_bytes, void **args, sct_error *err) {
  const int64_t grid[] = {blocks, 1, 1}, block[] = {threads, 1, 1};
  return sct_cuda_launch_3d(cuda, kernel, grid, block, dynamic_shared_bytes, args, err);
}

sct_status sct_cuda_sync(sct_cuda *cuda, sct_error *err) {
  return check(cuda, "cuStreamSynchronize", cuda->driver.stream_sync(cuda->stream), err);
}

sct_status sct_cuda_timer_start(sct_cuda *cuda, sct_error *err) {
  return check(cuda, "cuEventRecord", cuda->driver.event_record(cuda->start, cuda->stream), err);
}

sct_status sct_cuda_timer_mark(sct_cuda *cuda, sct_error *err) {
  return check(cuda, "cuEventRecord", cuda->driver.event_record(cuda->stop, cuda->stream), err);
}

sct_status sct_cuda_timer_read(sct_cuda *cuda, double *ns, sct_error *err) {
  SCT_TRY(sct_cuda_event_sync(cuda, cuda->stop, err));
  return sct_cuda_event_elapsed(cuda, ns, cuda->start, cuda->stop, err);
}

sct_status sct_cuda_timer_stop(sct_cuda *cuda, double *ns, sct_error *err) {
  SCT_TRY(sct_cuda_timer_mark(cuda, err));
  return sct_cuda_timer_read(cuda, ns, err);
}

/* ---- several threads and streams ---- */

#define EVENT_DISABLE_TIMING 2u

sct_cuda *sct_cuda_share(const sct_cuda *cuda) {
  sct_cuda *view = sct_alloc(sizeof *view);
  *view = *cuda;
  view->last = 0;
  return view;
}

void sct_cuda_unshare(sct_cuda *view, sct_cuda *cuda) {
  if (view) {
    cuda->last = view->last != 0 ? view->last : cuda->last;
    sct_free(view);
  }
}

sct_status sct_cuda_stream_open(sct_cuda *cuda, void **stream, sct_error *err) {
  return check(cuda, "cuStreamCreate", cuda->driver.stream_create(stream, STREAM_NON_BLOCKING),
               err);
}

void sct_cuda_stream_close(sct_cuda *cuda, void *stream) {
  if (stream) {
    cuda->driver.stream_destroy(stream);
  }
}

void sct_cuda_set_stream(sct_cuda *cuda, void *stream) {
  cuda->stream = stream ? stream : cuda->streams[0];
}

sct_status sct_cuda_copy_in(sct_cuda *cuda, sct_cuda_ptr to, const void *from, int64_t bytes,
                            sct_error *err) {
  return check(cuda, "cuMemcpyHtoDAsync",
               cuda->driver.copy_to_device(to, from, (size_t)bytes, cuda->stream), err);
}

sct_status sct_cuda_copy_out(sct_cuda *cuda, void *to, sct_cuda_ptr from, int64_t bytes,
                             sct_error *err) {
  return check(cuda, "cuMemcpyDtoHAsync",
               cuda->driver.copy_to_host(to, from, (size_t)bytes, cuda->stream), err);
}

sct_status sct_cuda_event_open(sct_cuda *cuda, void **event, bool timed, sct_error *err) {
  return check(cuda, "cuEventCreate",
               cuda->driver.event_create(event, timed ? 0 : EVENT_DISABLE_TIMING), err);
}

void sct_cuda_event_close(sct_cuda *cuda, void *event) {
  if (event) {
    cuda->driver.event_destroy(event);
  }
}

sct_status sct_cuda_event_record(sct_cuda *cuda, void *event, sct_error *err) {
  return check(cuda, "cuEventRecord", cuda->driver.event_record(event, cuda->stream), err);
}

sct_status sct_cuda_event_wait(sct_cuda *cuda, void *event, sct_error *err) {
  return check(cuda, "cuStreamWaitEvent", cuda->driver.stream_wait(cuda->stream, event, 0), err);
}

sct_status sct_cuda_event_sync(sct_cuda *cuda, void *event, sct_error *err) {
  return check(cuda, "cuEventSynchronize", cuda->driver.event_sync(event), err);
}

sct_status sct_cuda_event_elapsed(sct_cuda *cuda, double *ns, void *from, void *to,
                                  sct_error *err) {
  float ms = 0;
  SCT_TRY(check(cuda, "cuEventElapsedTime", cuda->driver.event_elapsed(&ms, from, to), err));
  *ns = (double)ms * 1e6;
  return SCT_OK;
}
