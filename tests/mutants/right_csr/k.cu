struct matrix { const int *p, *col; const float *v; };
__device__ float element(const matrix &m, const float *x, int i) {
  const int c = m.col[i];
  return c < 0 ? 0.0f : m.v[i] * x[c];
}

__global__ void scalar(int nr, const int *p, const int *col, const float *v, const float *x,
                       float *y) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= nr) return;
  float sum = 0;
  for (int i = p[r]; i != p[r + 1]; ++i) sum += element({p, col, v}, x, i);
  y[r] = sum;
}

__global__ void vector(int nr, const int *p, const int *col, const float *v, const float *x,
                       float *y) {
  const int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
  if (r >= nr) return; // whole warps
  float sum = 0;
  for (int i = p[r] + lane; i < p[r + 1]; i += 32) sum += element({p, col, v}, x, i);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) y[r] = sum;
}

template <int N>
__global__ void subwarps(int nr, const int *p, const int *col, const float *v, const float *x,
                         float *y) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / N, lane = threadIdx.x % N;
  float sum = 0;
  if (r < nr) {
    for (int i = __ldg(p + r) + lane, end = __ldg(p + r + 1); i < end; i += N) {
      sum = fmaf(col[i] < 0 ? 0.0f : v[i], col[i] < 0 ? 0.0f : x[col[i]], sum);
    }
  }
  for (int o = N / 2; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o, N);
  if (r < nr && lane == 0) y[r] = sum;
}

// Short rows by one thread, others by the block.
__global__ void adaptive(int nr, const int *p, const int *col, const float *v, const float *x,
                         float *y) {
  __shared__ float s[128];
  const int r = blockIdx.x, begin = p[r], end = p[r + 1];
  if (end - begin <= 4) {
    if (threadIdx.x == 0) {
      float sum = 0;
      switch (end - begin) {
      case 4: sum += element({p, col, v}, x, begin + 3); // falls through
      case 3: sum += element({p, col, v}, x, begin + 2); // falls through
      case 2: sum += element({p, col, v}, x, begin + 1); // falls through
      case 1: sum += element({p, col, v}, x, begin);
      }
      y[r] = sum;
    }
    return;
  }
  float sum = 0;
  for (int i = begin + threadIdx.x; i < end; i += 128) sum += element({p, col, v}, x, i);
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int o = 64; o; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[r] = s[0];
}
