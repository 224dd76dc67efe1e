// A CUDA runtime whose device memory is the host's. It runs the kernel in the file KERNEL, of
// tests/mutants/tile, with MUT; a loop stands for the naive variant.
#include <cuda_runtime_api.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>

static dim3 gridDim;
static uint3 blockIdx, threadIdx;

// Each thread runs up to the barrier, then each from its start to its end: once more the part that
// fills shared memory.
static jmp_buf at_barrier;
static bool stops;
static void __syncthreads() {
  if (stops)
    longjmp(at_barrier, 1);
}

#undef __global__
#undef __shared__
#define __global__ static
#define __shared__ static
#include KERNEL

struct arrays {
  const int *a, *x, *y;
  int *b;
};

static void run_block(dim3 block, long long rows, long long columns, const arrays &of) {
  for (int pass = 0; pass < 2; pass++) {
    stops = pass == 0;
    for (threadIdx.y = 0; threadIdx.y < block.y; threadIdx.y++) {
      for (threadIdx.x = 0; threadIdx.x < block.x; threadIdx.x++) {
        if (setjmp(at_barrier) == 0)
          k(rows, columns, of.a, of.x, of.y, of.b);
      }
    }
  }
}

static void run_naive(unsigned rows, unsigned columns, const arrays &of) {
  for (unsigned i = 0; i < rows * columns; i++) {
    of.b[i] = (int)((unsigned)of.a[i] + 3u * (unsigned)of.x[i / columns] +
                    5u * (unsigned)of.y[i % columns]);
  }
}

extern "C" {
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t,
                             cudaStream_t) {
  const bool own = strstr(static_cast<const char *>(f), "own_k") != nullptr;
  void **const extents = own ? args : args + 4, **const pointers = own ? args + 2 : args;
  const long long rows = *(long long *)extents[0], columns = *(long long *)extents[1];
  const arrays of = {*(int **)pointers[0], *(int **)pointers[1], *(int **)pointers[2],
                     *(int **)pointers[3]};
  if (!own) {
    run_naive((unsigned)rows, (unsigned)columns, of);
    return cudaSuccess;
  }
  gridDim = grid;
  for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++) {
    for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
      run_block(block, rows, columns, of);
    }
  }
  return cudaSuccess;
}
cudaError_t cudaMalloc(void **out, size_t bytes) {
  *out = malloc(bytes);
  return *out != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) {
  free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind, cudaStream_t) {
  memcpy(to, from, n);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t n, cudaStream_t) {
  memset(to, value, n);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
#include "../runtime_device.h"
}
