// Kernels that are compiled while the program runs, for the GPU that it runs on: the header, which is a file next to
// the program, is what NVRTC compiles. Choice, grid and checks stay the header's, as C.
#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <stdio.h>
#include <stdlib.h>

static char *read_text(const char *path) {
  FILE *const file = fopen(path, "rb");
  char *text = NULL;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
    const long n = ftell(file);
    text = calloc(1, (size_t)n + 1);
    rewind(file);
    if (text != NULL && fread(text, 1, (size_t)n, file) != (size_t)n) {
      free(text);
      text = NULL;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return text;
}

// Machine code for the current device, NULL if it does not compile.
static char *compile(const char *path) {
  char *const text = read_text(path);
  char arch[64], *code = NULL;
  int device = 0, major = 0, minor = 0;
  size_t n = 0;
  nvrtcProgram program = NULL;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d%d", major, minor);
  const char *const options[] = {arch, "-std=c++17", "-default-device"};
  if (text == NULL || nvrtcCreateProgram(&program, text, path, 0, NULL, NULL) != NVRTC_SUCCESS) {
    fprintf(stderr, "%s cannot be read\n", path);
    free(text);
    return NULL;
  }
  if (nvrtcCompileProgram(program, 3, options) == NVRTC_SUCCESS) {
    nvrtcGetCUBINSize(program, &n);
    code = malloc(n);
    nvrtcGetCUBIN(program, code);
  } else {
    nvrtcGetProgramLogSize(program, &n);
    char *const log = malloc(n);
    nvrtcGetProgramLog(program, log);
    fprintf(stderr, "%s\n", log);
    free(log);
  }
  nvrtcDestroyProgram(&program);
  free(text);
  return code;
}

// What the header asks for: the kernel of this name. One library for one device; a program with several has one each.
static cudaError_t find_kernel(const void **out, const char *name) {
  static cudaLibrary_t library;
  cudaKernel_t kernel = NULL;
  cudaError_t error = cudaSuccess;
  if (library == NULL) {
    char *const code = compile("transpose.h");
    error = code == NULL ? cudaErrorInvalidSource
                         : cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0);
    free(code);
  }
  if (error == cudaSuccess) {
    error = cudaLibraryGetKernel(&kernel, library, name);
  }
  *out = (const void *)kernel;
  return error;
}

#define transpose_IMPLEMENTATION
#define transpose_FIND_KERNEL find_kernel
#include "transpose.h"
