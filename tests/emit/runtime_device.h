// What the CUDA runtimes of tests share: one H200 that takes every kernel.
#include <cuda_runtime_api.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

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
