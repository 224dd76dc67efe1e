// Atomic operations, one pattern a kernel, for a profiler to count and for `sectile count` to agree with.
// Launches: atomics.json. No headers.
typedef unsigned char u8;
typedef unsigned u32;
typedef unsigned long long u64;
#define K(name) extern "C" __global__ void name
#define I (blockIdx.x * blockDim.x + threadIdx.x)

// ---- histograms: bins of a block in shared memory, merged into global memory
K(histogram_u8)(const u8 *in, u32 *out, u32 n) {
  __shared__ u32 bins[256];
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (u32 i = I; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x)
    if (bins[k] != 0) atomicAdd(&out[k], bins[k]);
}
K(histogram_u8_weighted)(const u8 *in, u32 *out, u32 n) { // adds values, so that no population count will do
  __shared__ u32 bins[256];
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
  __syncthreads();
  for (u32 i = I; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], i);
  __syncthreads();
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&out[k], bins[k]);
}
K(histogram_warps)(const u8 *in, u32 *out, u32 n) { // bins of a warp: 8 copies, side by side
  __shared__ u32 bins[8][256];
  for (u32 k = threadIdx.x; k < 2048; k += blockDim.x) (&bins[0][0])[k] = 0;
  __syncthreads();
  for (u32 i = I; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[threadIdx.x / 32][in[i]], 1u);
  __syncthreads();
  for (u32 k = threadIdx.x; k < 256; k += blockDim.x) {
    u32 sum = 0;
    for (int w = 0; w < 8; w++) sum += bins[w][k];
    atomicAdd(&out[k], sum);
  }
}
K(histogram_global)(const u8 *in, u32 *out, u32 n) {
  for (u32 i = I; i < n; i += gridDim.x * blockDim.x) atomicAdd(&out[in[i]], 1u);
}

// ---- shared memory: lane l updates element l * stride / div of an array
#define SHARED(name, T, update)                                                                                        \
  K(name)(const u32 *in, T *out, u32 stride, u32 div) {                                                                \
    __shared__ T t[1024];                                                                                              \
    for (u32 k = threadIdx.x; k < 1024; k += blockDim.x) t[k] = 0;                                                     \
    __syncthreads();                                                                                                   \
    T *p = &t[threadIdx.x * stride / div % 1024];                                                                      \
    const u32 v = in[I];                                                                                               \
    update;                                                                                                            \
    __syncthreads();                                                                                                   \
    out[I] = t[threadIdx.x];                                                                                           \
  }
SHARED(shared_inc, u32, atomicAdd(p, 1u))
SHARED(shared_add, u32, atomicAdd(p, v))
SHARED(shared_max, u32, atomicMax(p, v))
SHARED(shared_or, u32, atomicOr(p, v))
SHARED(shared_exch, u32, atomicExch(p, v))
SHARED(shared_cas, u32, atomicCAS(p, 0u, v))
SHARED(shared_add_returns, u32, out[I + 65536] = atomicAdd(p, v))
SHARED(shared_add_u64, u64, atomicAdd(p, (u64)v))
SHARED(shared_max_u64, u64, atomicMax(p, (u64)v))
SHARED(shared_exch_u64, u64, atomicExch(p, (u64)v))
SHARED(shared_cas_u64, u64, atomicCAS(p, 0ull, (u64)v))
SHARED(shared_add_f32, float, atomicAdd(p, (float)v))
SHARED(shared_add_f64, double, atomicAdd(p, (double)v))
SHARED(shared_add_odd_lanes, u32, if (threadIdx.x & 1) atomicAdd(p, v))

// ---- global memory: thread i updates element i * stride / div
#define GLOBAL(name, T, update)                                                                                        \
  K(name)(const u32 *in, T *out, u32 stride, u32 div, u32 n) {                                                         \
    const u32 i = I;                                                                                                   \
    if (i >= n) return;                                                                                                \
    T *p = &out[i * stride / div];                                                                                     \
    const u32 v = in[i];                                                                                               \
    update;                                                                                                            \
  }
GLOBAL(red_inc, u32, atomicAdd(p, 1u))
GLOBAL(red_add, u32, atomicAdd(p, v))
GLOBAL(red_max, u32, atomicMax(p, v))
GLOBAL(red_add_u64, u64, atomicAdd(p, (u64)v))
GLOBAL(red_add_f32, float, atomicAdd(p, (float)v))
GLOBAL(red_add_f64, double, atomicAdd(p, (double)v))
GLOBAL(red_add_f32x4, float4, atomicAdd(p, make_float4(v, 1, 2, 3)))
GLOBAL(red_add_odd_lanes, u32, if (i & 1) atomicAdd(p, v))
GLOBAL(atom_add, u32, out[i + 8388608] = atomicAdd(p, v))
GLOBAL(atom_exch_u64, u64, out[i + 4194304] = atomicExch(p, (u64)v))
GLOBAL(atom_cas, u32, out[i + 8388608] = atomicCAS(p, v, 1u))
GLOBAL(red_one_address, u32, atomicAdd(out, v))
GLOBAL(red_one_address_inc, u32, atomicAdd(out, 1u))
GLOBAL(red_one_address_f32, float, atomicAdd(out, (float)v))
K(red_gather)(const u32 *in, u32 *out, const int *index, u32 n) {
  const u32 i = I;
  if (i < n) atomicAdd(&out[index[i]], in[i]);
}

// ---- reductions of a block
K(sum_by_shared)(const u32 *in, u32 *out, u32 n) {
  __shared__ u32 sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  u32 mine = 0;
  for (u32 i = I; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
K(sum_by_shuffles)(const float *in, float *out, u32 n) {
  float mine = 0;
  for (u32 i = I; i < n; i += gridDim.x * blockDim.x) mine += in[i];
  for (int d = 16; d > 0; d /= 2) mine += __shfl_down_sync(0xffffffffu, mine, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, mine);
}
