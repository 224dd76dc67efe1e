// Running sums in several orders, of summands with a scalar.
__global__ void serial(int nr, int nc, float g, const float *x, float *y) {
  const int r = blockIdx.x * 128 + threadIdx.x;
  if (r >= nr) return;
  float t = 0;
  for (int c = 0; c < nc; c++) y[r * nc + c] = t += x[r * nc + c] + g;
}
__global__ void steele(int nr, int nc, float g, const float *x, float *y) {
  __shared__ float s[2][128];
  float before = 0;
  const int t = threadIdx.x;
  for (int first = 0; first < nc; first += 128) {
    const int c = first + t;
    s[0][t] = c < nc ? x[blockIdx.x * nc + c] + g : 0.0f;
    int at = 0;
    for (int o = 1; o < 128; o *= 2) {
      __syncthreads();
      s[at ^ 1][t] = t >= o ? s[at][t] + s[at][t - o] : s[at][t];
      at ^= 1;
    }
    __syncthreads();
    if (c < nc) y[blockIdx.x * nc + c] = before + s[at][t];
    before += s[at][127];
    __syncthreads();
  }
}
__global__ void warps(int nr, int nc, float g, const float *x, float *y) {
  __shared__ float s[4];
  float before = 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int first = 0; first < nc; first += 128) {
    const int c = first + threadIdx.x;
    float v = c < nc ? x[blockIdx.x * nc + c] + g : 0.0f;
    for (int o = 1; o < 32; o *= 2) {
      const float u = __shfl_up_sync(~0u, v, o);
      if (lane >= o) v += u;
    }
    if (lane == 31) s[warp] = v;
    __syncthreads();
    float of = before;
    for (int k = 0; k < warp; k++) of += s[k];
    if (c < nc) y[blockIdx.x * nc + c] = of + v;
    before += s[0] + s[1] + s[2] + s[3];
    __syncthreads();
  }
}
