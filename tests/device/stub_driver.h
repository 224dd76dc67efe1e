/* stub_driver - a driver and NVML behind the device's door: objects that are alive, the last
 * launch, and any call made to fail. */
#ifndef STUB_DRIVER_H
#define STUB_DRIVER_H

#include "device/device_internal.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the above first */
#include <cmocka.h>

static struct stub {
  bool missing;               /* no library */
  const char *missing_symbol; /* of the driver */
  bool nvml;
  int n_devices;
  int fail_at, fail_with; /* the fail_at-th call (from 1) returns fail_with; 0: none */
  int calls;
  int contexts, streams, events, modules, allocations, pinned, registered, managed,
      nvml_inits;      /* alive */
  unsigned host_flags; /* of the last host memory */
  int prefetched_to;   /* device of the last prefetch */
  int freed_in;
  int current, allocated_in; /* ordinals of the current context's device and of the last memory's */
  bool cannot_reach[2];      /* the device of this ordinal cannot access the other's memory */
  bool reaches[2];           /* peer access is on */
  int copied_from, copied_to;   /* ordinals of the last copy between devices */
  int shared_bytes;             /* asked for by attribute */
  unsigned grid, block, shared; /* of the last launch */
  long long arg;                /* its first argument */
  uint8_t set_byte;
  int forgets;
  int64_t uploaded;
  char upload_end[4]; /* the last bytes that were sent */
} stub;

static int result(void) {
  stub.calls++;
  return stub.calls == stub.fail_at ? stub.fail_with : 0;
}

/* Counts an object made or given back when the call succeeds. */
static int counted(int *alive, int by) {
  const int r = result();
  *alive += r == 0 ? by : 0;
  return r;
}

static int stub_init(unsigned flags) {
  (void)flags;
  return result();
}
static int stub_driver_version(int *version) {
  *version = 13000;
  return result();
}
static int stub_device_count(int *count) {
  *count = stub.n_devices;
  return result();
}
static int stub_device_get(int *device, int ordinal) {
  *device = 40 + ordinal;
  return result();
}
static int stub_device_name(char *name, int bytes, int device) {
  snprintf(name, (size_t)bytes, "Stub %d", device);
  return result();
}
static int stub_device_uuid(unsigned char uuid[16], int device) {
  (void)device;
  for (int k = 0; k < 16; k++) {
    uuid[k] = (unsigned char)(0xa0 + k);
  }
  return result();
}
static int stub_device_attribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 36 ? 3201000 : attribute == 37 ? 6144 : 1000 + attribute;
  return result();
}
static int stub_device_memory(size_t *bytes, int device) {
  (void)device;
  *bytes = (size_t)141 << 30;
  return result();
}
static int handle, contexts[2];
static int ordinal_of(const void *context) {
  assert_true(context == &contexts[0] || context == &contexts[1]);
  return context == &contexts[1];
}
static int stub_context_retain(void **context, int device) {
  const int r = counted(&stub.contexts, 1);
  *context = r == 0 ? &contexts[device - 40] : NULL;
  return r;
}
static int stub_context_release(int device) {
  (void)device;
  return counted(&stub.contexts, -1);
}
static int stub_context_set(void *context) {
  const int r = result();
  stub.current = r == 0 ? ordinal_of(context) : stub.current;
  return r;
}
static int stub_can_reach(int *can, int device, int peer) {
  assert_int_equal(device + peer, 40 + 41);
  *can = !stub.cannot_reach[device - 40];
  return result();
}
static int switch_reach(bool on, const void *peer) {
  assert_int_equal(ordinal_of(peer), 1 - stub.current);
  assert_true(stub.reaches[stub.current] != on); /* else 704, 705 */
  const int r = result();
  stub.reaches[stub.current] = r == 0 ? on : !on;
  return r;
}
static int stub_reach(void *peer, unsigned flags) {
  assert_int_equal(flags, 0);
  return switch_reach(true, peer);
}
static int stub_reach_no_more(void *peer) {
  return switch_reach(false, peer);
}
static int stub_stream_create(void **stream, unsigned flags) {
  assert_int_equal(flags, 1);
  const int r = counted(&stub.streams, 1);
  *stream = r == 0 ? &handle : NULL;
  return r;
}
static int stub_stream_destroy(void *stream) {
  assert_non_null(stream);
  return counted(&stub.streams, -1);
}
static int stub_stream_sync(void *stream) {
  assert_non_null(stream);
  return result();
}
static int stub_stream_wait(void *stream, void *event, unsigned flags) {
  assert_non_null(stream);
  assert_non_null(event);
  assert_int_equal(flags, 0);
  return result();
}
static int stub_event_create(void **event, unsigned flags) {
  (void)flags;
  const int r = counted(&stub.events, 1);
  *event = r == 0 ? &handle : NULL;
  return r;
}
static int stub_event_destroy(void *event) {
  assert_non_null(event);
  return counted(&stub.events, -1);
}
static int stub_event_record(void *event, void *stream) {
  assert_non_null(event);
  assert_non_null(stream);
  return result();
}
static int stub_event_sync(void *event) {
  assert_non_null(event);
  return result();
}
static int stub_event_elapsed(float *ms, void *start, void *stop) {
  (void)start;
  (void)stop;
  *ms = 0.25F;
  return result();
}
static int stub_mem_alloc(uint64_t *p, size_t bytes) {
  assert_true(bytes > 0); /* the driver refuses 0 */
  const int r = counted(&stub.allocations, 1);
  if (r == 0) {
    *p = 0x1000;
    stub.allocated_in = stub.current;
  }
  return r;
}
static int stub_mem_free(uint64_t p) {
  if (p != 0x1000) {
    return counted(&stub.managed, -1);
  }
  stub.freed_in = stub.current;
  return counted(&stub.allocations, -1);
}
static uint64_t pinned[8];
static int stub_host_alloc(void **host, size_t bytes, unsigned flags) {
  assert_true(bytes > 0 && bytes <= sizeof pinned);
  stub.host_flags = flags;
  memset(pinned, 0xff, sizeof pinned);
  const int r = counted(&stub.pinned, 1);
  *host = r == 0 ? pinned : NULL;
  return r;
}
static int stub_host_pointer(uint64_t *p, void *host, unsigned flags) {
  assert_ptr_equal(host, pinned);
  assert_int_equal(flags, 0);
  *p = 0x2000;
  return result();
}
static int stub_host_free(void *host) {
  assert_ptr_equal(host, pinned);
  return counted(&stub.pinned, -1);
}
static int stub_host_register(void *host, size_t bytes, unsigned flags) {
  assert_non_null(host);
  assert_true(bytes > 0 && flags == 0);
  return counted(&stub.registered, 1);
}
static int stub_host_unregister(void *host) {
  assert_non_null(host);
  return counted(&stub.registered, -1);
}
static int stub_managed_alloc(uint64_t *p, size_t bytes, unsigned flags) {
  assert_true(bytes > 0 && bytes <= sizeof pinned && flags == 1); /* global */
  const int r = counted(&stub.managed, 1);
  *p = r == 0 ? (uintptr_t)pinned : 0;
  return r;
}
static int stub_prefetch(uint64_t p, size_t bytes, int device, void *stream) {
  assert_int_equal(p, (uintptr_t)pinned);
  assert_true(bytes > 0 && stream != NULL);
  stub.prefetched_to = device;
  return result();
}
static int stub_copy_to_device(uint64_t to, const void *from, size_t bytes, void *stream) {
  (void)to;
  (void)stream;
  assert_true(bytes > 0);
  stub.uploaded += (int64_t)bytes;
  memcpy(stub.upload_end, (const char *)from + bytes - sizeof stub.upload_end,
         sizeof stub.upload_end);
  return result();
}
static int stub_copy_to_host(void *to, uint64_t from, size_t bytes, void *stream) {
  (void)from, (void)stream;
  memset(to, 7, bytes);
  return result();
}
static int stub_copy_on_device(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  (void)to, (void)from, (void)stream, (void)bytes;
  return result();
}
static int stub_copy_to_peer(uint64_t to, void *to_context, uint64_t from, void *from_context,
                             size_t bytes, void *stream) {
  assert_true(to != 0 && from != 0 && bytes > 0 && stream != NULL);
  stub.copied_to = ordinal_of(to_context);
  stub.copied_from = ordinal_of(from_context);
  return result();
}
static int stub_set_bytes(uint64_t to, unsigned char byte, size_t bytes, void *stream) {
  (void)to, (void)stream, (void)bytes;
  stub.set_byte = byte;
  return result();
}
static int stub_reset_persisting_l2(void) {
  return stub.forgets++, 801; /* CUDA_ERROR_NOT_SUPPORTED: no failure */
}
static int stub_module_load(void **module, const void *image) {
  assert_string_equal(image, "image");
  const int r = counted(&stub.modules, 1);
  *module = r == 0 ? &handle : NULL;
  return r;
}
static int stub_module_unload(void *module) {
  assert_non_null(module);
  return counted(&stub.modules, -1);
}
static int stub_module_function(void **function, void *module, const char *name) {
  (void)module;
  *function = &handle;
  return strcmp(name, "kernel") == 0 ? result() : 500;
}
static int stub_function_set(void *function, int attribute, int value) {
  (void)function;
  assert_int_equal(attribute, 8);
  stub.shared_bytes = value;
  return result();
}
static int stub_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, void *stream, void **args,
                       void **extra) {
  assert_non_null(function);
  assert_non_null(stream);
  assert_null(extra);
  assert_true(gy == 1 && gz == 1 && by == 1 && bz == 1);
  stub.grid = gx;
  stub.block = bx;
  stub.shared = shared;
  memcpy(&stub.arg, args[0], sizeof stub.arg);
  return result();
}

static int nvml_init(void) {
  stub.nvml_inits++;
  return 0;
}
static int nvml_shutdown(void) {
  stub.nvml_inits--;
  return 0;
}
static int nvml_driver_version(char *text, unsigned bytes) {
  snprintf(text, bytes, "580.159.04");
  return 0;
}
static int nvml_by_uuid(const char *uuid, void **device) {
  assert_string_equal(uuid, "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");
  *device = &handle;
  return 0;
}
static int nvml_clock(void *device, int type, unsigned *mhz) {
  (void)device;
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}

/* What NVML answers of the GPU's state. */
static struct {
  int result; /* of every question */
  unsigned n_processes, mps_clients;
  unsigned long long ecc_errors, reasons;
} nvml;

static int fill_processes(unsigned found, unsigned *n, sct_nvml_process *processes) {
  for (unsigned k = 0; k < found && k < *n; k++) {
    processes[k] = (sct_nvml_process){.pid = k == 0 ? (unsigned)getpid() : 900000000 + k,
                                      .bytes = k == 1 ? ~0ULL : 1000 * k};
  }
  const bool fits = found <= *n;
  *n = found;
  return !fits ? 7 : nvml.result;
}
static int nvml_compute_processes(void *device, unsigned *n, sct_nvml_process *processes) {
  assert_ptr_equal(device, &handle);
  return fill_processes(nvml.n_processes, n, processes);
}
static int nvml_mps_processes(void *device, unsigned *n, sct_nvml_process *processes) {
  assert_ptr_equal(device, &handle);
  return fill_processes(nvml.mps_clients, n, processes);
}
static int nvml_compute_mode(void *device, int *mode) {
  (void)device;
  *mode = 3;
  return nvml.result;
}
static int nvml_mig_mode(void *device, unsigned *current, unsigned *pending) {
  (void)device;
  *current = 1;
  *pending = 0;
  return nvml.result;
}
static int nvml_max_clock(void *device, int type, unsigned *mhz) {
  (void)device;
  *mhz = type == 1 ? 1990 : 3202;
  return nvml.result;
}
static int nvml_reasons(void *device, unsigned long long *reasons) {
  (void)device;
  *reasons = nvml.reasons;
  return nvml.result;
}
static int nvml_ecc_errors(void *device, int kind, int counter, unsigned long long *n) {
  (void)device;
  assert_int_equal(kind, 1);
  assert_int_equal(counter, 0);
  *n = nvml.ecc_errors;
  return nvml.result;
}
static int nvml_temperature(void *device, int sensor, unsigned *celsius) {
  (void)device;
  assert_int_equal(sensor, 0);
  *celsius = 41;
  return nvml.result;
}

typedef void function(void);
static const struct {
  const char *name;
  function *f;
} symbols[] = {
#define SCT_DRIVER(member, symbol, params) {symbol, (function *)stub_##member},
#include "device/device_driver.def"
#undef SCT_DRIVER
    {"nvmlInit_v2", (function *)nvml_init},
    {"nvmlShutdown", (function *)nvml_shutdown},
    {"nvmlSystemGetDriverVersion", (function *)nvml_driver_version},
    {"nvmlDeviceGetHandleByUUID", (function *)nvml_by_uuid},
    {"nvmlDeviceGetClockInfo", (function *)nvml_clock},
#define SCT_NVML(member, symbol, params) {symbol, (function *)nvml_##member},
#include "device/device_nvml.def"
#undef SCT_NVML
};

static void *open_stub(const char *soname) {
  if (strcmp(soname, SCT_DRIVER_SONAME) == 0) {
    return stub.missing ? NULL : &handle;
  }
  assert_string_equal(soname, SCT_NVML_SONAME);
  return stub.nvml ? &handle : NULL;
}

static void *find_symbol(void *library, const char *name) {
  assert_ptr_equal(library, &handle);
  void *p = NULL;
  for (int k = 0; k < SCT_COUNT(symbols); k++) {
    if (strcmp(symbols[k].name, name) == 0) {
      memcpy(&p, &symbols[k].f, sizeof p);
    }
  }
  return stub.missing_symbol && strcmp(name, stub.missing_symbol) == 0 ? NULL : p;
}

static const sct_library_door door = {open_stub, find_symbol};

static int set_up(void **state) {
  (void)state;
  stub = (struct stub){.n_devices = 2};
  sct_device_set_door(&door);
  return 0;
}

static void assert_nothing_alive(void) {
  assert_int_equal(stub.contexts, 0);
  assert_int_equal(stub.streams, 0);
  assert_int_equal(stub.events, 0);
  assert_int_equal(stub.modules, 0);
  assert_int_equal(stub.allocations, 0);
  assert_int_equal(stub.registered, 0);
  assert_int_equal(stub.managed, 0);
  assert_int_equal(stub.nvml_inits, 0);
}

#endif
