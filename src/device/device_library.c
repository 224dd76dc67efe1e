/* The door to shared libraries: by soname only, never by a path, and only these functions. */
#include "device_internal.h"

#include <dlfcn.h>
#include <string.h>

static void *open_library(const char *soname) {
  return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

static const sct_library_door system_door = {open_library, dlsym};
static const sct_library_door *door = &system_door;

void sct_device_set_door(const sct_library_door *replacement) {
  door = replacement ? replacement : &system_door;
}

void *sct_device_library(const char *soname) {
  return door->open(soname);
}

/* ISO C has no conversion from an object pointer to a function pointer; POSIX promises equal bits.
 */
static bool load_symbol(void *slot, void *library, const char *name) {
  void *const p = door->symbol(library, name);
  memcpy(slot, &p, sizeof p);
  return p != NULL;
}

static const char *const driver_symbols[] = {
#define SCT_DRIVER(member, symbol, params) symbol,
#include "device_driver.def"
#undef SCT_DRIVER
};

static const size_t driver_slots[] = {
#define SCT_DRIVER(member, symbol, params) offsetof(sct_driver, member),
#include "device_driver.def"
#undef SCT_DRIVER
};

sct_status sct_driver_load(sct_driver *out, int *result, sct_error *err) {
  *result = 0;
  void *const library = sct_device_library(SCT_DRIVER_SONAME);
  if (!library) {
    return sct_fail(err, SCT_ENODEVICE,
                    "no CUDA driver: %s was not found (it comes with the NVIDIA driver)",
                    SCT_DRIVER_SONAME);
  }
  sct_driver driver;
  for (int k = 0; k < SCT_COUNT(driver_symbols); k++) {
    if (!load_symbol((char *)&driver + driver_slots[k], library, driver_symbols[k])) {
      return sct_fail(err, SCT_ENODEVICE,
                      "the CUDA driver is too old: %s has no %s (CUDA 11.4 or newer is needed)",
                      SCT_DRIVER_SONAME, driver_symbols[k]);
    }
  }
  *result = driver.init(0);
  if (*result != 0) {
    return sct_fail(err, SCT_ENODEVICE, "cuInit failed: %s (%d), %s", sct_cuda_result_name(*result),
                    *result, sct_cuda_result_text(*result));
  }
  *out = driver;
  return SCT_OK;
}

/* ---- NVML ---- */

#define NVML_CLOCK_SM 1

static const struct {
  const char *symbol;
  size_t slot;
} nvml_optional[] = {
#define SCT_NVML(member, symbol, params) {symbol, offsetof(sct_nvml, member)},
#include "device_nvml.def"
#undef SCT_NVML
};

/* The GPU of this UUID, or the slice of one, which NVML knows as MIG-... */
static void find_nvml_device(sct_nvml *nvml, const char *uuid) {
  char slice[64];
  if (nvml->by_uuid(uuid, &nvml->device) == 0) {
    return;
  }
  nvml->device = NULL; /* clocks and processes are the whole GPU's: a slice has none */
  void *found = NULL;
  snprintf(slice, sizeof slice, "MIG-%s", sct_has_prefix(uuid, "GPU-") ? uuid + 4 : uuid);
  nvml->mig_slice = nvml->by_uuid(slice, &found) == 0;
}

void sct_nvml_open(sct_nvml *out, const char *uuid) {
  *out = (sct_nvml){0};
  void *const library = sct_device_library(SCT_NVML_SONAME);
  int (*init)(void) = NULL;
  sct_nvml nvml = {0};
  if (!library || !load_symbol(&init, library, "nvmlInit_v2") ||
      !load_symbol(&nvml.shutdown, library, "nvmlShutdown") ||
      !load_symbol(&nvml.driver_version, library, "nvmlSystemGetDriverVersion") ||
      !load_symbol(&nvml.by_uuid, library, "nvmlDeviceGetHandleByUUID") ||
      !load_symbol(&nvml.clock, library, "nvmlDeviceGetClockInfo") || init() != 0) {
    return;
  }
  for (int k = 0; k < SCT_COUNT(nvml_optional); k++) {
    (void)load_symbol((char *)&nvml + nvml_optional[k].slot, library, nvml_optional[k].symbol);
  }
  find_nvml_device(&nvml, uuid);
  *out = nvml;
}

void sct_nvml_close(sct_nvml *nvml) {
  if (nvml->shutdown) {
    nvml->shutdown();
  }
  *nvml = (sct_nvml){0};
}

bool sct_nvml_driver(const sct_nvml *nvml, char *text, unsigned bytes) {
  return nvml->driver_version && nvml->driver_version(text, bytes) == 0;
}
