// A CUDA runtime whose device memory is the host's, and whose launches compute what
// selftest/turned.lua says, with the mistake that $FAULT names.
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
  float x;
  unsigned short n;
} pair;

static int fault(const char *name) {
  const char *const wanted = getenv("FAULT");
  return wanted != NULL && strcmp(wanted, name) == 0;
}

__extension__ typedef _Float16 half;
static unsigned short half_of(float x) {
  const half h = (half)x;
  unsigned short bits;
  memcpy(&bits, &h, sizeof bits);
  return bits;
}

// Kernels take arrays, scalars, extents, in this order.
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream) {
  pair *const a = *(pair **)args[0], *const b = *(pair **)args[1];
  unsigned short *const c = *(unsigned short **)args[2];
  const float k = *(float *)args[3];
  const long long rows = *(long long *)args[4], cols = *(long long *)args[5];
  (void)f, (void)grid, (void)block, (void)shared, (void)stream;
  if (fault("launch")) {
    return cudaErrorLaunchFailure;
  }
  for (long long row = 0; row < rows; row++) {
    for (long long col = 0; col < cols; col++) {
      const pair *const from = &a[row * cols + col];
      pair *const to = &b[col * rows + row];
      to->x = from->x * k;
      to->n = from->n;
      c[row * cols + col] = half_of(from->x);
    }
  }
  uint32_t bits;
  memcpy(&bits, &b[rows * cols - 1].x, sizeof bits);
  bits += fault("rounding") ? 2 : fault("value") ? 2000 : 0;
  memcpy(&b[rows * cols - 1].x, &bits, sizeof bits);
  b[rows * cols - 1].n += fault("integer");
  c[0] += fault("half") ? 40 : fault("half rounding");
  b[rows * cols].n = fault("outside") ? 1 : b[rows * cols].n;
  a[rows * cols - 1].n += fault("input");
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes) {
  *out = fault("memory") ? NULL : malloc(bytes + 64);
  return *out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) {
  free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
  (void)kind, (void)stream;
  memcpy(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t stream) {
  (void)stream;
  memset(to, value, n);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  (void)stream;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
  (void)device;
  memset(p, 0, sizeof *p);
  p->major = 9;
  p->multiProcessorCount = 132;
  snprintf(p->name, sizeof p->name, "NVIDIA H200");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  (void)device;
  *value = attribute == cudaDevAttrComputeCapabilityMajor         ? 9
           : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 232448
                                                                  : 0;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute attribute, int value) {
  (void)f, (void)attribute, (void)value;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *f) {
  (void)f;
  memset(attributes, 0, sizeof *attributes);
  attributes->ptxVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *a,
                                void **b, unsigned c, enum cudaLibraryOption *d, void **e,
                                unsigned f) {
  (void)code, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  *library = (cudaLibrary_t)1;
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  (void)library;
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  (void)library;
  *kernel = (cudaKernel_t)(uintptr_t)name;
  return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorLaunchFailure      ? "launch failure"
         : error == cudaErrorMemoryAllocation ? "out of memory"
                                              : "another error";
}
cudaError_t cudaGetLastError(void) {
  return cudaSuccess;
}
