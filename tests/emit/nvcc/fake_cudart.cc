// A CUDA runtime of a dozen functions, so that the host side of an emitted header runs without a
// GPU: it answers what the tests set, and keeps the last launch.
#include "fake_cudart.cuh"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

FakeDevice fake_device = {9, 0, 132, 232448, "NVIDIA H200"};
FakeLaunch fake_launch = {};
bool fake_reads_last = false;
int fake_launches = 0;
int fake_names_read = 0;
int fake_loads = 0, fake_unloads = 0;
cudaError_t fake_load_error = cudaSuccess;
const char *fake_loaded = "";
const char *fake_kernel = "";
static std::mutex loading;

// Every device that was ever the current one; its ordinal is its place here.
static FakeDevice seen[256];
static int n_seen = 0;

static bool same_device(const FakeDevice &a, const FakeDevice &b) {
  return a.major == b.major && a.minor == b.minor && a.sms == b.sms &&
         a.shared_bytes == b.shared_bytes && std::strcmp(a.name, b.name) == 0;
}

static cudaError_t last_error = cudaSuccess;
static FakeLaunch pushed;

static cudaError_t keep_launch(dim3 grid, dim3 block, void **args, size_t shared_bytes,
                               cudaStream_t stream) {
  fake_launches++;
  fake_launch.grid = grid;
  fake_launch.block = block;
  fake_launch.blocks = grid.x;
  fake_launch.threads = block.x;
  fake_launch.shared_bytes = shared_bytes;
  fake_launch.stream = stream;
  fake_launch.first = *static_cast<const void **>(args[0]);
  fake_launch.second = *static_cast<const void **>(args[1]);
  if (fake_reads_last)
    fake_launch.last = *static_cast<const void **>(args[4]);
  return cudaSuccess;
}

extern "C" {

cudaError_t CUDARTAPI cudaGetDevice(int *device) {
  if (fake_device.major < 0)
    return cudaErrorNoDevice;
  for (*device = 0; *device < n_seen; ++*device) {
    if (same_device(seen[*device], fake_device))
      return cudaSuccess;
  }
  if (n_seen == 256)
    return cudaErrorMemoryAllocation;
  seen[n_seen++] = fake_device;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaSetDevice(int device) {
  if (device < 0 || device >= n_seen)
    return cudaErrorInvalidDevice;
  fake_device = seen[device];
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemsetAsync(void *, int, size_t, cudaStream_t) {
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  if (device < 0 || device >= n_seen)
    return cudaErrorInvalidDevice;
  fake_names_read++;
  std::memset(properties, 0xff, sizeof(*properties));
  std::snprintf(properties->name, sizeof(properties->name), "%s", seen[device].name);
  properties->major = seen[device].major;
  properties->minor = seen[device].minor;
  properties->multiProcessorCount = seen[device].sms;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (device < 0 || device >= n_seen)
    return cudaErrorInvalidDevice;
  if (attribute == cudaDevAttrComputeCapabilityMajor) {
    *value = seen[device].major;
  } else if (attribute == cudaDevAttrComputeCapabilityMinor) {
    *value = seen[device].minor;
  } else if (attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
    *value = seen[device].shared_bytes;
  } else {
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorNoDevice ? "no device" : "another error";
}

cudaError_t CUDARTAPI cudaGetLastError() {
  const cudaError_t e = last_error;
  last_error = cudaSuccess;
  return e;
}

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
    return cudaErrorInvalidValue;
  fake_launch.grown_to = value;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *) {
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->ptxVersion = 10 * fake_device.major + fake_device.minor;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaLaunchKernel(const void *, dim3 grid, dim3 block, void **args,
                                       size_t shared_bytes, cudaStream_t stream) {
  return keep_launch(grid, block, args, shared_bytes, stream);
}

cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t *library, const void *code, cudaJitOption *,
                                          void **, unsigned, cudaLibraryOption *, void **,
                                          unsigned) {
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // so that threads meet here
  const std::lock_guard<std::mutex> lock(loading);
  if (fake_load_error != cudaSuccess)
    return fake_load_error;
  fake_loads++;
  fake_loaded = static_cast<const char *>(code);
  *library = reinterpret_cast<cudaLibrary_t>(static_cast<intptr_t>(fake_loads));
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t) {
  const std::lock_guard<std::mutex> lock(loading);
  fake_unloads++;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                           const char *name) {
  const std::lock_guard<std::mutex> lock(loading);
  if (library == nullptr)
    return cudaErrorInvalidResourceHandle;
  fake_kernel = name;
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<char *>(name));
  return cudaSuccess;
}

// What nvcc's host code calls around a launch and at start.
unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                               cudaStream_t stream) {
  pushed.grid = grid;
  pushed.block = block;
  pushed.shared_bytes = shared_bytes;
  pushed.stream = stream;
  return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                                 void *stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared_bytes = pushed.shared_bytes;
  *static_cast<cudaStream_t *>(stream) = pushed.stream;
  return cudaSuccess;
}

// CUDA 13 launches through a handle.
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function));
  return cudaSuccess;
}
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3 block, void **args,
                                         size_t shared_bytes, cudaStream_t stream) {
  return keep_launch(grid, block, args, shared_bytes, stream);
}
char CUDARTAPI __cudaInitModule(void **) {
  return 0;
}

void **CUDARTAPI __cudaRegisterFatBinary(void *) {
  static void *handle;
  return &handle;
}
void CUDARTAPI __cudaRegisterFatBinaryEnd(void **) {}
void CUDARTAPI __cudaUnregisterFatBinary(void **) {}
void CUDARTAPI __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}
void CUDARTAPI __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *,
                                      uint3 *, dim3 *, dim3 *, int *) {}
}
