/* PTX on a real GPU for tests that have no module `device` below them: the driver by dlopen,
 * nothing else. Not for processes that fork. */
#ifndef TESTS_CUDA_DOOR_H
#define TESTS_CUDA_DOOR_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cuda_door {
  void *lib;
  int device, major, minor;
  char name[128];
  int (*init)(unsigned);
  int (*device_get)(int *, int);
  int (*device_name)(char *, int, int);
  int (*attribute)(int *, int, int);
  int (*retain)(void **, int);
  int (*set_current)(void *);
  int (*load)(void **, const void *, unsigned, int *, void **);
  int (*unload)(void *);
  int (*function)(void **, void *, const char *);
  int (*alloc)(uint64_t *, size_t);
  int (*release)(uint64_t);
  int (*upload)(uint64_t, const void *, size_t);
  int (*download)(void *, uint64_t, size_t);
  int (*set)(uint64_t, unsigned char, size_t);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                void *, void **, void **);
  int (*synchronize)(void);
} cuda_door;

/* false: no driver or no GPU. The primary context of GPU 0 becomes the thread's. */
static inline bool cuda_open(cuda_door *d) {
  const struct {
    void **field;
    const char *name;
  } symbols[] = {
      {(void **)(void *)&d->init, "cuInit"},
      {(void **)(void *)&d->device_get, "cuDeviceGet"},
      {(void **)(void *)&d->device_name, "cuDeviceGetName"},
      {(void **)(void *)&d->attribute, "cuDeviceGetAttribute"},
      {(void **)(void *)&d->retain, "cuDevicePrimaryCtxRetain"},
      {(void **)(void *)&d->set_current, "cuCtxSetCurrent"},
      {(void **)(void *)&d->load, "cuModuleLoadDataEx"},
      {(void **)(void *)&d->unload, "cuModuleUnload"},
      {(void **)(void *)&d->function, "cuModuleGetFunction"},
      {(void **)(void *)&d->alloc, "cuMemAlloc_v2"},
      {(void **)(void *)&d->release, "cuMemFree_v2"},
      {(void **)(void *)&d->upload, "cuMemcpyHtoD_v2"},
      {(void **)(void *)&d->download, "cuMemcpyDtoH_v2"},
      {(void **)(void *)&d->set, "cuMemsetD8_v2"},
      {(void **)(void *)&d->launch, "cuLaunchKernel"},
      {(void **)(void *)&d->synchronize, "cuCtxSynchronize"},
  };
  void *context = NULL;
  d->lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (d->lib == NULL) {
    return false;
  }
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    *symbols[i].field = dlsym(d->lib, symbols[i].name);
    if (*symbols[i].field == NULL) {
      return false;
    }
  }
  return d->init(0) == 0 && d->device_get(&d->device, 0) == 0 &&
         d->device_name(d->name, sizeof d->name, d->device) == 0 &&
         d->attribute(&d->major, 75, d->device) == 0 && /* compute capability */
         d->attribute(&d->minor, 76, d->device) == 0 && d->retain(&context, d->device) == 0 &&
         d->set_current(context) == 0;
}

/* Compiles `ptx`; 0, or the driver's error and what its assembler says in `log`. */
static inline int cuda_load(const cuda_door *d, void **module, const char *ptx, char *log,
                            size_t log_size) {
  int options[2] = {5, 6}; /* error log and its size */
  void *values[2] = {log, (void *)(uintptr_t)log_size};
  log[0] = '\0';
  return d->load(module, ptx, 2, options, values);
}

#endif
