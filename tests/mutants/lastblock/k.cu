// scopes: the block that ends last adds up what the others left
__device__ unsigned arrived;
__device__ int parts[64];
__global__ void k(long long n, const int *a, int *t) {
  __shared__ int warps[4];
  __shared__ bool last;
  int sum = 0;
  for (long long i = blockIdx.x * 128LL + threadIdx.x; i < n; i += gridDim.x * 128LL) sum += a[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
#if MUT == 1 // a plain store, and no fence
    parts[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
#else
    *(volatile int *)&parts[blockIdx.x] = warps[0] + warps[1] + warps[2] + warps[3];
#endif
#if MUT == 2 // no fence
#elif MUT == 1
#elif MUT == 3 // a fence among the block's threads
    __threadfence_block();
#else
    __threadfence();
#endif
#if MUT == 4 // counts within the block
    last = atomicAdd_block(&arrived, 1u) == gridDim.x - 1;
#elif MUT == 5 // counts without an atomic
    last = ++arrived == gridDim.x;
#elif MUT == 6 // the last block but one
    last = atomicAdd(&arrived, 1u) + 1 >= gridDim.x - (gridDim.x > 8);
#else
    last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
#endif
  }
  __syncthreads();
  if (!last) return;
#if MUT == 7 // right: volatile loads after the barrier, as in NVIDIA's sample
#else
  __threadfence();
#endif
#if MUT == 8 // the parts of 32 blocks
  sum = threadIdx.x < gridDim.x && threadIdx.x < 32 ? *(volatile int *)&parts[threadIdx.x] : 0;
#else
  sum = threadIdx.x < gridDim.x ? *(volatile int *)&parts[threadIdx.x] : 0;
#endif
  for (int o = 16; o > 0; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    *t = warps[0] + warps[1];
#if MUT == 9 // the next launch goes on counting
#else
    arrived = 0;
#endif
  }
}
