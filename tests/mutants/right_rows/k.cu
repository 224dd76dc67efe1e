#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/limits>

__global__ void by_thread(int nr, int nc, const int *a, int *t, int *m) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= nr) return;
  int sum = 0, at = -1;
  for (int c = 0; c < nc; c++) {
    sum += a[r * nc + c];
    if (at < 0 || a[r * nc + c] > a[r * nc + at]) at = c;
  }
  t[r] = sum;
  m[r] = at;
}

// Of equals the first; at -1: there is none.
__device__ void take(int &v, int &at, int w, int other) {
  if (other >= 0 && (at < 0 || w > v || (w == v && other < at))) v = w, at = other;
}

__global__ void by_warp(int nr, int nc, const int *a, int *t, int *m) {
  const int r = blockIdx.x * blockDim.y + threadIdx.y;
  int sum = 0, v = 0, at = -1;
  for (int c = threadIdx.x; r < nr && c < nc; c += 32) {
    sum += a[r * nc + c];
    take(v, at, a[r * nc + c], c);
  }
  for (int o = 16; o; o >>= 1) {
    sum += __shfl_down_sync(0xffffffff, sum, o);
    const int w = __shfl_down_sync(0xffffffff, v, o), other = __shfl_down_sync(0xffffffff, at, o);
    take(v, at, w, other);
  }
  if (threadIdx.x == 0 && r < nr) t[r] = sum, m[r] = at;
}

__global__ void by_tree(int nr, int nc, const int *a, int *t, int *m) {
  __shared__ int sums[128], values[128], places[128];
  const int r = blockIdx.x, i = threadIdx.x;
  int sum = 0, v = 0, at = -1;
  for (int c = i; c < nc; c += 128) {
    sum += a[r * nc + c];
    take(v, at, a[r * nc + c], c);
  }
  sums[i] = sum, values[i] = v, places[i] = at;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) {
      sums[i] += sums[i + half];
      take(values[i], places[i], values[i + half], places[i + half]);
    }
  }
  if (i == 0) t[r] = sums[0], m[r] = places[0];
}

__global__ void by_groups(int nr, int nc, const int *a, int *t, int *m) {
  namespace cg = cooperative_groups;
  __shared__ int parts[2][4];
  __shared__ long long keys[4];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  int sum = 0;
  long long key = -1; // the value above the distance to the end
  const int r = blockIdx.x;
  for (int c = block.thread_rank(); c < nc; c += block.size()) {
    const int v = a[r * nc + c];
    sum += v;
    const unsigned order = (unsigned)v ^ 0x80000000;
    const long long mine = (long long)(order >> 1) << 32 | (order & 1u) << 31 | (0x7fffffff - c);
    key = max(key, mine);
  }
  sum = cg::reduce(warp, sum, cg::plus<int>());
  key = cg::reduce(warp, key, cg::greater<long long>());
  if (warp.thread_rank() == 0) {
    parts[0][warp.meta_group_rank()] = sum, keys[warp.meta_group_rank()] = key;
  }
  block.sync();
  if (block.thread_rank() == 0) {
    for (int w = 1; w < 4; w++) sum += parts[0][w], key = max(key, keys[w]);
    t[r] = sum;
    m[r] = key < 0 ? -1 : 0x7fffffff - (int)(key & 0x7fffffff);
  }
}

// The value and the place in one word, whose largest is found by a loop of compare-and-swap.
__global__ void packed(int nr, int nc, const int *a, int *t, int *m) {
  __shared__ unsigned long long best;
  __shared__ int sum;
  if (threadIdx.x == 0) best = 0, sum = 0;
  __syncthreads();
  for (int c = threadIdx.x; c < nc; c += blockDim.x) {
    const int v = a[blockIdx.x * nc + c];
    atomicAdd(&sum, v);
    const unsigned long long key =
        (unsigned long long)((unsigned)v ^ 0x80000000u) << 32 | (unsigned)~c;
    unsigned long long seen = atomicAdd(&best, 0ull);
    while (key > seen) {
      const unsigned long long old = atomicCAS(&best, seen, key);
      if (old == seen) break;
      seen = old;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) t[blockIdx.x] = sum, m[blockIdx.x] = nc == 0 ? -1 : (int)~(unsigned)best;
}

__global__ void by_atomics(int nr, int nc, const int *a, int *t, int *m) {
  __shared__ int sum, most, at;
  if (threadIdx.x == 0) sum = 0, most = cuda::std::numeric_limits<int>::min(), at = 0x7fffffff;
  __syncthreads();
  for (int c = threadIdx.x; c < nc; c += 128) {
    atomicAdd_block(&sum, a[blockIdx.x * nc + c]);
    atomicMax_block(&most, a[blockIdx.x * nc + c]);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < nc; c += 128) {
    if (a[blockIdx.x * nc + c] == most) atomicMin_block(&at, c);
  }
  __syncthreads();
  if (threadIdx.x == 0) t[blockIdx.x] = sum, m[blockIdx.x] = at == 0x7fffffff ? -1 : at;
}

// By vectors where the row is aligned, with its head and its tail by the first lanes.
__global__ void vectors(int nr, int nc, const int *a, int *t, int *m) {
  __shared__ int sums[4], values[4], places[4];
  const int *row = a + (long long)blockIdx.x * nc;
  const int head = min(nc, (int)(((16 - ((unsigned long long)row & 15)) & 15) / 4));
  const int n4 = (nc - head) / 4;
  int sum = 0, v = 0, at = -1;
  auto one = [&](int c, int w) { sum += w; take(v, at, w, c); };
  if (threadIdx.x < head) one(threadIdx.x, row[threadIdx.x]);
  for (int i = threadIdx.x; i < n4; i += 128) {
    const int4 w = reinterpret_cast<const int4 *>(row + head)[i];
    const int c = head + 4 * i;
    one(c, w.x), one(c + 1, w.y), one(c + 2, w.z), one(c + 3, w.w);
  }
  const int rest = head + 4 * n4 + threadIdx.x;
  if (rest < nc) one(rest, row[rest]);
  sum = __reduce_add_sync(~0u, sum);
  for (int o = 1; o < 32; o <<= 1) {
    take(v, at, __shfl_xor_sync(~0u, v, o), __shfl_xor_sync(~0u, at, o));
  }
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum, values[threadIdx.x / 32] = v, places[threadIdx.x / 32] = at;
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 4; w++) sum += sums[w], take(v, at, values[w], places[w]);
  t[blockIdx.x] = sum, m[blockIdx.x] = at;
}
