#include <cooperative_groups.h>

__global__ void plain(int n, int m, const int *key, unsigned *h) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd(&h[key[i]], 1);
}

__global__ void swaps(int n, int m, const int *key, unsigned *h) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  unsigned *at = &h[key[i]], seen = *(volatile unsigned *)at, old;
  do {
    old = seen;
    seen = atomicCAS(at, old, old + 1);
  } while (seen != old);
}

// A lock a block, for its bins in shared memory, which threads of a warp take one after the other.
__global__ void swaps_by_turns(int n, int m, const int *key, unsigned *h) {
  __shared__ int lock;
  __shared__ unsigned count;
  if (threadIdx.x == 0) lock = 0, count = 0;
  __syncthreads();
  const int i = blockIdx.x * 128 + threadIdx.x;
  for (int lane = 0; lane < 32; lane++) {
    if (threadIdx.x % 32 == lane) {
      while (atomicCAS(&lock, 0, 1) != 0) { }
      __threadfence_block();
      *(volatile unsigned *)&count = *(volatile unsigned *)&count + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
    }
    __syncwarp();
  }
  __syncthreads();
  if (i < n) atomicAdd(&h[key[i]], count / 128);
}

__global__ void matched(int n, int m, const int *key, unsigned *h) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned active = __ballot_sync(~0u, i < n);
  if (i < n) {
    const int q = key[i];
    const unsigned same = __match_any_sync(active, q);
    if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&h[q], __popc(same));
  }
}

__global__ void coalesced(int n, int m, const int *key, unsigned *h) {
  namespace cg = cooperative_groups;
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const int q = key[i];
  cg::coalesced_group active = cg::coalesced_threads();
  cg::coalesced_group same = cg::labeled_partition(active, q);
  if (same.thread_rank() == 0) atomicAdd(&h[q], same.size());
}

__global__ void in_ptx(int n, int m, const int *key, unsigned *h) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(h + key[i]) : "memory");
}

// Bins in shared memory, a copy for each warp, where they fit.
__global__ void private_bins(int n, int m, const int *key, unsigned *h) {
  __shared__ unsigned s[4][512];
  const int warp = threadIdx.x / 32, begin = blockIdx.x * 1024, end = min(n, begin + 1024);
  if (m > 512) {
    for (int i = begin + threadIdx.x; i < end; i += 128) atomicAdd(h + key[i], 1u);
    return;
  }
  for (int b = threadIdx.x; b < 4 * 512; b += 128) s[0][b] = 0;
  __syncthreads();
  for (int i = begin + threadIdx.x; i < end; i += 128) atomicAdd(&s[warp][key[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < m; b += 128) {
    const unsigned all = s[0][b] + s[1][b] + s[2][b] + s[3][b];
    if (all) atomicAdd(h + b, all);
  }
}

// Eight keys a thread, of which neighbours that are equal are added at once.
__global__ void runs(int n, int m, const int *key, unsigned *h) {
  const int begin = (blockIdx.x * 128 + threadIdx.x) * 8, end = min(n, begin + 8);
  unsigned run = 0;
  for (int i = begin; i < end; i++) {
    run++;
    if (i + 1 == end || key[i + 1] != key[i]) {
      atomicAdd(h + key[i], run);
      run = 0;
    }
  }
}
