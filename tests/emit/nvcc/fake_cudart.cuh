// What the fake CUDA runtime is told and what it remembers.
#pragma once
#include <cuda_runtime.h>

// The current device: another one each time it differs. major -1: there is none.
struct FakeDevice {
  int major, minor, sms, shared_bytes;
  const char *name;
};
struct FakeLaunch {
  dim3 grid, block;
  unsigned blocks, threads;
  size_t shared_bytes;
  int grown_to; // bytes of the last opt-in to more dynamic shared memory
  cudaStream_t stream;
  const void *first, *second; // the first two arguments, pointers
  const void *last;           // the fifth, if it was to be read: `fake_reads_last`
};
extern FakeDevice fake_device;
extern FakeLaunch fake_launch;
extern bool fake_reads_last; // kernels have a fifth argument, a pointer
extern int fake_launches;
extern int fake_loads, fake_unloads; // of libraries
extern cudaError_t fake_load_error;  // what loading one gives
extern const char *fake_loaded;      // the last one's text
extern const char *fake_kernel;      // the last kernel that was asked for by name
extern int fake_names_read; // calls of cudaGetDeviceProperties
