// Kernels as people write them with the toolkit's headers: templates, namespaces, cooperative groups,
// structs by value, half precision, atomics, dynamic shared memory. test_count_kernels.c derives their counts.
#include "kernels.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <limits>

namespace cg = cooperative_groups;

template <typename T> __global__ void copy(const T *in, T *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i];
  }
}

namespace demo {

template <class T, int N> __global__ void __launch_bounds__(128) scale(Vec<T, N> k, Vec<T, N> *x) {
  Vec<T, N> &r = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int c = 0; c < N; ++c) {
    r.v[c] *= k.v[c];
  }
}

// One 32 x 32 tile through shared memory with the pitch of the view.
__global__ void transpose(View from, float *to) {
  extern __shared__ float tile[];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y * from.pitch + x] = from.data[y * 32 + x] * from.scale;
  __syncthreads();
  to[y * 32 + x] = tile[x * from.pitch + y];
}

} // namespace demo

// A sum of every 8 neighbours, by its first thread.
__global__ void tile_sums(const float *in, float *out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = cg::reduce(tile, in[i], cg::plus<float>());
  if (tile.thread_rank() == 0) {
    out[i / 8] = sum;
  }
}

// A maximum by shuffles of a whole warp: one store a warp.
static __global__ void warp_max(const float *in, float *out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float most = -std::numeric_limits<float>::infinity();
  most = fmaxf(most, in[2 * i]);
  for (int d = warp.size() / 2; d > 0; d /= 2) {
    most = fmaxf(most, warp.shfl_down(most, d));
  }
  if (warp.thread_rank() == 0) {
    out[i / 32 * 8] = most;
  }
}

__global__ void axpy_half(__half a, const __half2 *x, __half2 *y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

__global__ void histogram(const unsigned *in, unsigned *bins) {
  atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 8], 1u);
}

#ifndef STRIDE
#define STRIDE 1
#endif
extern "C" __global__ void strided(const float *in, float *out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * STRIDE];
}
