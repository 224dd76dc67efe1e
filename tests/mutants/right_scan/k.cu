__global__ void hillis_steele(int nr, int nc, const int *a, int *b) {
  __shared__ int s[2][128];
  int carry = 0;
  for (int c0 = 0; c0 < nc; c0 += 128) {
    const int c = c0 + threadIdx.x, t = threadIdx.x;
    int from = 0;
    s[0][t] = c < nc ? a[blockIdx.x * nc + c] : 0;
    __syncthreads();
    for (int o = 1; o < 128; o *= 2, from ^= 1) {
      s[from ^ 1][t] = t >= o ? s[from][t] + s[from][t - o] : s[from][t];
      __syncthreads();
    }
    if (c < nc) b[blockIdx.x * nc + c] = carry + s[from][t];
    carry += s[from][127];
    __syncthreads();
  }
}

// Up and down a tree, each thread with two elements.
__global__ void blelloch(int nr, int nc, const int *a, int *b) {
  __shared__ int s[256];
  __shared__ int carry;
  const int t = threadIdx.x;
  if (t == 0) carry = 0;
  for (int c0 = 0; c0 < nc; c0 += 256) {
    const int c = c0 + 2 * t, at = blockIdx.x * nc + c;
    const int x = c < nc ? a[at] : 0, y = c + 1 < nc ? a[at + 1] : 0;
    s[2 * t] = x, s[2 * t + 1] = y;
    int o = 1;
    for (int d = 128; d > 0; d >>= 1, o *= 2) {
      __syncthreads();
      if (t < d) s[o * (2 * t + 2) - 1] += s[o * (2 * t + 1) - 1];
    }
    __syncthreads();
    const int base = carry, all = s[255];
    __syncthreads();
    if (t == 0) s[255] = 0, carry = base + all;
    for (int d = 1; d < 256; d *= 2) {
      o >>= 1;
      __syncthreads();
      if (t < d) {
        const int left = s[o * (2 * t + 1) - 1];
        s[o * (2 * t + 1) - 1] = s[o * (2 * t + 2) - 1];
        s[o * (2 * t + 2) - 1] += left;
      }
    }
    __syncthreads();
    if (c < nc) b[at] = base + s[2 * t] + x;
    if (c + 1 < nc) b[at + 1] = base + s[2 * t + 1] + y;
    __syncthreads();
  }
}

__global__ void warps(int nr, int nc, const int *a, int *b) {
  __shared__ int sums[32];
  int carry = 0;
  for (int c = threadIdx.x; c - (int)threadIdx.x < nc; c += 128) {
    int v = c < nc ? a[blockIdx.x * nc + c] : 0;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
      int left;
      asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, %2, 0, -1; @p add.s32 %0, %0, %1;"
                   " @!p mov.u32 %0, %1; }" : "=&r"(left) : "r"(v), "r"(o));
      v = left;
    }
    if ((threadIdx.x & 31) == 31) sums[threadIdx.x >> 5] = v;
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 4; w++) before += w < threadIdx.x / 32 ? sums[w] : 0, all += sums[w];
    if (c < nc) b[blockIdx.x * nc + c] = carry + before + v;
    carry += all;
    __syncthreads();
  }
}

// Each thread has a share of the row, which it goes through twice.
__global__ void threads(int nr, int nc, const int *a, int *b) {
  __shared__ int s[129];
  const int share = (nc + 127) / 128, begin = min(nc, (int)threadIdx.x * share);
  const int end = min(nc, begin + share);
  const int *row = a + blockIdx.x * nc;
  int sum = 0;
  for (int c = begin; c < end; c++) sum += row[c];
  s[threadIdx.x + 1] = sum;
  if (threadIdx.x == 0) s[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int t = 1; t <= 128; t++) s[t] += s[t - 1];
  }
  __syncthreads();
  int running = s[threadIdx.x];
  for (int c = begin; c < end; c++) b[blockIdx.x * nc + c] = running += row[c];
}
