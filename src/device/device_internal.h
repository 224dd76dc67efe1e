/* device_internal - the loaded driver and NVML, and the door through which both are loaded. */
#ifndef SCT_DEVICE_INTERNAL_H
#define SCT_DEVICE_INTERNAL_H

#include "device/device.h"

/* How shared libraries are found; tests replace it. There is no `close`: the driver starts threads
 * and exit handlers, unloading it is not safe. */
typedef struct sct_library_door {
  void *(*open)(const char *soname); /* NULL: not there */
  void *(*symbol)(void *library, const char *name);
} sct_library_door;
void sct_device_set_door(const sct_library_door *door); /* NULL: dlopen and dlsym */
void *sct_device_library(const char *soname);

#define SCT_DRIVER_SONAME "libcuda.so.1"
#define SCT_NVML_SONAME   "libnvidia-ml.so.1"

typedef struct sct_driver {
#define SCT_DRIVER(member, symbol, params) int(*member) params;
#include "device_driver.def"
#undef SCT_DRIVER
} sct_driver;
/* Loads the driver and calls cuInit. *result: the CUresult of cuInit, or 0. SCT_ENODEVICE. */
sct_status sct_driver_load(sct_driver *out, int *result, sct_error *err);

/* nvmlProcessInfo_t */
typedef struct sct_nvml_process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
} sct_nvml_process;

/* NVML is optional: a zeroed struct answers nothing. */
typedef struct sct_nvml {
  int (*shutdown)(void);
  int (*driver_version)(char *text, unsigned bytes);
  int (*by_uuid)(const char *uuid, void **device);
  int (*clock)(void *device, int type, unsigned *mhz);
#define SCT_NVML(member, symbol, params) int(*member) params;
#include "device_nvml.def"
#undef SCT_NVML
  void *device;
  bool mig_slice;
} sct_nvml;
void sct_nvml_open(sct_nvml *out, const char *uuid);
void sct_nvml_close(sct_nvml *nvml);
bool sct_nvml_driver(const sct_nvml *nvml, char *text, unsigned bytes);
void sct_nvml_state(const sct_nvml *nvml, sct_gpu_state *out);
/* Process numbers on a GPU when it was asked first. */
typedef struct sct_nvml_known {
  bool asked;
  int n;
  unsigned pid[128];
} sct_nvml_known;
/* Processes that are not among `known`, which the first answer fills; 0 where it is not known. */
int sct_nvml_newcomers(const sct_nvml *nvml, sct_nvml_known *known, sct_gpu_process *first);
/* 0, or the CUresult that stands for what NVML found: the GPU is lost, or has more uncorrected
 * errors than `ecc_before` (negative: not asked). */
int sct_nvml_check_health(const sct_nvml *nvml, int64_t ecc_before, uint64_t *throttle);

/* The first line of a file, without its end; false: there is none. */
bool sct_read_line(const char *path, char *out, size_t size);

#endif
