#include <cassert>
#include <cooperative_groups.h>

__global__ void grid_stride(int n, float g, const float *x, float *y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = g * x[i];
  }
}

// Elements up to y's first 16-byte boundary, vectors, and what is left.
__global__ void peeled(int n, float g, const float *__restrict__ x, float *__restrict__ y) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = min(n, (int)((16 - ((size_t)y & 15)) & 15) / 4);
  const int vectors = (n - head) / 4, tail = head + 4 * vectors;
  if (t < head) y[t] = g * x[t];
  if (t < vectors) {
    const float *p = x + head + 4 * t;
    const float4 v = ((size_t)p & 15) == 0 ? *reinterpret_cast<const float4 *>(p)
                                           : make_float4(p[0], p[1], p[2], p[3]);
    reinterpret_cast<float4 *>(y + head)[t] = make_float4(g * v.x, g * v.y, g * v.z, g * v.w);
  }
  if (tail + t < n) y[tail + t] = g * x[tail + t];
}

// Vectors where both arrays are aligned, except for the last ones.
__global__ void fast_path(int n, float g, const float *x, float *y) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n && (((size_t)x | (size_t)y) & 15) == 0) {
    float4 v = *(const float4 *)&x[i];
    v.x *= g, v.y *= g, v.z *= g, v.w *= g;
    *(float4 *)&y[i] = v;
  } else {
    for (int j = i; j < min(i + 4, n); j++) y[j] = g * x[j];
  }
}

// The whole launch by 16, 8 or 4 bytes.
template <typename V> __device__ void by(int n, float g, const float *x, float *y) {
  constexpr int width = sizeof(V) / 4;
  const int t = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  for (int i = t; i < n / width; i += stride) {
    union { V v; float f[width]; } u;
    u.v = ((const V *)x)[i];
    for (int e = 0; e < width; e++) u.f[e] *= g;
    ((V *)y)[i] = u.v;
  }
  for (int i = n / width * width + t; i < n; i += stride) y[i] = g * x[i];
}
__global__ void either_path(int n, float g, const float *x, float *y) {
  const size_t bits = (size_t)x | (size_t)y;
  if (bits % 16 == 0) by<float4>(n, g, x, y);
  else if (bits % 8 == 0) by<float2>(n, g, x, y);
  else by<float>(n, g, x, y);
}

__global__ void of_unsigned(unsigned n, float g, const float *x, float *y) {
  const unsigned i = blockIdx.x * 128u + threadIdx.x;
  if (i >= n) return;
  y[i] = g * x[i];
}

template <typename T, int N> __global__ void of_type(int n, T g, const T *x, T *y) {
  T v[N];
#pragma unroll
  for (int e = 0; e < N; e++) {
    const int i = (blockIdx.x * N + e) * blockDim.x + threadIdx.x;
    v[e] = i < n ? x[i] : T(0);
  }
#pragma unroll
  for (int e = 0; e < N; e++) {
    const int i = (blockIdx.x * N + e) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = g * v[e];
  }
}

struct extent { long long n; };
struct view {
  const float *p;
  long long n;
  __device__ float at(long long i) const { return p[i]; }
};
__device__ float scaled(view v, float g, long long i) { return i < v.n ? g * v.at(i) : 0; }
__global__ void of_struct(extent e, float g, const float *x, float *y) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const float v = scaled(view{x, e.n}, g, i);
  if (i < e.n) y[i] = v;
}

__global__ void __launch_bounds__(128, 8) bounded(int n, float g, const float *x, float *y) {
  const int i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
  if (i < n) y[i] = __fmul_rn(g, __ldg(x + i));
}

__global__ void grouped(int n, float g, const float *x, float *y) {
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  __shared__ float s[128];
  const int i = blockIdx.x * block.size() + block.thread_rank();
  s[block.thread_rank()] = i < n ? x[i] : 0;
  block.sync();
  const float v = tile.shfl(s[tile.meta_group_rank() * 16 + 15 - tile.thread_rank()],
                            15 - tile.thread_rank());
  tile.sync();
  if (i < n) y[i] = g * v;
}

__global__ void in_ptx(int n, float g, const float *x, float *y) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  asm volatile("{\n"
               ".reg .pred p;\n"
               ".reg .f32 f;\n"
               "setp.lt.s32 p, %2, %3;\n"
               "mov.f32 f, 0f00000000;\n"
               "@p ld.global.nc.f32 f, [%1];\n"
               "mul.rn.f32 %0, f, %4;\n"
               "}" : "=f"(v) : "l"(x + i), "r"(i), "r"(n), "f"(g));
  if (i < n) asm volatile("st.global.f32 [%0], %1;" ::"l"(y + i), "f"(v) : "memory");
}

__global__ void staged(int n, float g, const float *x, float *y) {
  extern __shared__ float buffer[];
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) buffer[threadIdx.x] = x[i];
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int j = threadIdx.x; j < 128 && blockIdx.x * 128 + j < n; j += 32) buffer[j] *= g;
  }
  __syncthreads();
  if (i < n) y[i] = buffer[threadIdx.x];
}

__global__ void copied(int n, float g, const float *x, float *y) {
  __shared__ float s[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
  const int bytes = i < n ? 4 : 0; // what is left of 4 is set to 0
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(x + min(i, n - 1)),
               "r"(bytes) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  if (i < n) y[i] = g * s[threadIdx.x];
}

template <typename F> __device__ void for_each(int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
__global__ void by_lambda(int n, float g, const float *x, float *y) {
  for_each(n, [=](int i) { y[i] = g * x[i]; });
}

__global__ void asserted(int n, float g, const float *x, float *y) {
  assert(blockDim.x == 128);
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < 0) __trap();
  if (i < n) y[i] = g * x[i];
}

// A warp has 32 elements of each of four lines; lanes hand them to their neighbours and back.
__global__ void by_warps(int n, float g, const float *x, float *y) {
  const int i = blockIdx.x * 128 + threadIdx.y * 32 + threadIdx.x;
  float v = i < n ? x[i] : 0;
  v = __shfl_sync(~0u, v, threadIdx.x + 1);
  v = __shfl_sync(~0u, v, threadIdx.x + 31);
  if (i < n) y[i] = g * v;
}

__global__ void from_the_end(int n, float g, const float *x, float *y) {
  const int i = n - 1 - (int)(blockIdx.x * 128 + threadIdx.x);
  if (i >= 0) y[i] = g * x[i];
}
