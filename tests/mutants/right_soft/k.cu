#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#define NEGATIVE_INFINITY __int_as_float(0xff800000)

template <typename F> __device__ float all(float v, F combine) {
  __shared__ float s[4];
  for (int o = 16; o > 0; o >>= 1) v = combine(v, __shfl_xor_sync(~0u, v, o));
  __syncthreads();
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  return combine(combine(s[0], s[1]), combine(s[2], s[3]));
}
struct maximum { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct plus { __device__ float operator()(float a, float b) const { return a + b; } };

__global__ void three_passes(int nr, int nc, const float *x, float *y) {
  x += blockIdx.x * nc, y += blockIdx.x * nc;
  float m = NEGATIVE_INFINITY, t = 0;
  for (int c = threadIdx.x; c < nc; c += 128) m = fmaxf(m, x[c]);
  m = all(m, maximum());
  for (int c = threadIdx.x; c < nc; c += 128) t += y[c] = expf(x[c] - m);
  t = all(t, plus());
  for (int c = threadIdx.x; c < nc; c += 128) y[c] /= t;
}

__global__ void by_warp(int nr, int nc, const float *x, float *y) {
  namespace cg = cooperative_groups;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int r = blockIdx.x * 2 + threadIdx.y;
  if (r >= nr) return;
  float m = NEGATIVE_INFINITY, t = 0;
  for (int c = warp.thread_rank(); c < nc; c += 32) m = fmaxf(m, x[r * nc + c]);
  for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, warp.shfl_xor(m, o));
  for (int c = warp.thread_rank(); c < nc; c += 32) t += expf(x[r * nc + c] - m);
  t = cg::reduce(warp, t, cg::plus<float>());
  for (int c = warp.thread_rank(); c < nc; c += 32) y[r * nc + c] = expf(x[r * nc + c] - m) / t;
}

__global__ void base_two(int nr, int nc, const float *x, float *y) {
  x += blockIdx.x * nc, y += blockIdx.x * nc;
  float m = NEGATIVE_INFINITY, t = 0;
  for (int c = threadIdx.x; c < nc; c += 128) m = fmaxf(m, x[c]);
  m = all(m, maximum());
  for (int c = threadIdx.x; c < nc; c += 128) t += exp2f((x[c] - m) * 1.44269504f);
  t = all(t, plus());
  for (int c = threadIdx.x; c < nc; c += 128) y[c] = exp2f((x[c] - m) * 1.44269504f) / t;
}

// A reciprocal a row; sums of four elements at once.
__global__ void reciprocal(int nr, int nc, const float *x, float *y) {
  x += blockIdx.x * nc, y += blockIdx.x * nc;
  float m = NEGATIVE_INFINITY, t = 0, u = 0;
  for (int c = threadIdx.x; c < nc; c += 128) m = fmaxf(m, x[c]);
  m = all(m, maximum());
  int c = threadIdx.x;
  for (; c + 128 < nc; c += 256) t += expf(x[c] - m), u += expf(x[c + 128] - m);
  if (c < nc) t += expf(x[c] - m);
  const float f = __frcp_rn(all(t + u, plus()));
  for (c = threadIdx.x; c < nc; c += 128) y[c] = expf(x[c] - m) * f;
}
