// A CUDA runtime of a dozen functions, so that the host side of an emitted header runs without a
// GPU: it answers what the tests set, and keeps the last launch.
#include "fake_cudart.cuh"

FakeDevice fake_device = {9, 0, 132, 232448};
FakeLaunch fake_launch = {};
int fake_launches = 0;

static cudaError_t last_error = cudaSuccess;
static FakeLaunch pushed;

static cudaError_t keep_launch(dim3 grid, dim3 block, void **args, size_t shared_bytes,
                               cudaStream_t stream) {
  fake_launches++;
  fake_launch.blocks = grid.x;
  fake_launch.threads = block.x;
  fake_launch.shared_bytes = shared_bytes;
  fake_launch.stream = stream;
  fake_launch.first = *static_cast<const void **>(args[0]);
  fake_launch.second = *static_cast<const void **>(args[1]);
  return cudaSuccess;
}

extern "C" {

cudaError_t CUDARTAPI cudaGetDevice(int *device) {
  *device = 3;
  return fake_device.major < 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  if (device != 3) return cudaErrorInvalidDevice;
  switch (attribute) {
  case cudaDevAttrComputeCapabilityMajor: *value = fake_device.major; return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor: *value = fake_device.minor; return cudaSuccess;
  case cudaDevAttrMultiProcessorCount: *value = fake_device.sms; return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = fake_device.shared_bytes;
    return cudaSuccess;
  default: return cudaErrorInvalidValue;
  }
}

cudaError_t CUDARTAPI cudaGetLastError() {
  const cudaError_t e = last_error;
  last_error = cudaSuccess;
  return e;
}

cudaError_t CUDARTAPI cudaFuncSetAttribute(const void *, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaErrorInvalidValue;
  fake_launch.grown_to = value;
  return cudaSuccess;
}

cudaError_t CUDARTAPI cudaLaunchKernel(const void *, dim3 grid, dim3 block, void **args,
                                       size_t shared_bytes, cudaStream_t stream) {
  return keep_launch(grid, block, args, shared_bytes, stream);
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
char CUDARTAPI __cudaInitModule(void **) { return 0; }

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
