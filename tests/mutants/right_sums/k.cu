// Each summand has a number that no float is, and a scalar: equal ones are rounded alike.
#define F (g * x[r * nc + c] + b * 0.3f)
__global__ void serial(int nr, int nc, float g, float b, const float *x, float *y) {
  const int r = blockIdx.x * 128 + threadIdx.x;
  if (r >= nr) return;
  float t = 0;
  for (int c = 0; c < nc; c++) t += F;
  y[r] = t;
}
__device__ float block_sum(float t) {
  __shared__ float s[4];
  for (int o = 16; o; o /= 2) t += __shfl_down_sync(~0u, t, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = t;
  __syncthreads();
  return s[0] + s[1] + s[2] + s[3];
}
__global__ void tree(int nr, int nc, float g, float b, const float *x, float *y) {
  const int r = blockIdx.x;
  float t = 0;
  for (int c = threadIdx.x; c < nc; c += 128) t += F;
  t = block_sum(t);
  if (threadIdx.x == 0) y[r] = t;
}
__global__ void kahan(int nr, int nc, float g, float b, const float *x, float *y) {
  const int r = blockIdx.x * 128 + threadIdx.x;
  if (r >= nr) return;
  float t = 0, low = 0;
  for (int c = 0; c < nc; c++) {
    const float vv = F, z = __fadd_rn(vv, -low), n = __fadd_rn(t, z);
    low = __fadd_rn(__fadd_rn(n, -t), -z);
    low = isfinite(low) ? low : 0;
    t = n;
  }
  y[r] = t;
}
__global__ void twice(int nr, int nc, float g, float b, const float *x, float *y) { // doubles
  const int r = blockIdx.x;
  __shared__ double s[128];
  double t = 0;
  for (int c = threadIdx.x; c < nc; c += 128) t += (double)(F);
  s[threadIdx.x] = t;
  for (int o = 64; o; o /= 2) {
    __syncthreads();
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
  }
  if (threadIdx.x == 0) y[r] = (float)s[0];
}
__global__ void pairs(int nr, int nc, float g, float b, const float *x, float *y) { // blocked, each thread a part
  const int r = blockIdx.x, n = (nc + 127) / 128, from = threadIdx.x * n;
  float t = 0, u = 0;
  for (int c = from; c < from + n && c < nc; c += 2) {
    t += F;
    if (c + 1 < from + n && c + 1 < nc) { const int d = c; { const int c = d + 1; u += F; } }
  }
  t = block_sum(t + u);
  if (threadIdx.x == 0) y[r] = t;
}
