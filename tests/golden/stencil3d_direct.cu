// Computes one element.
__device__ __forceinline__ void compute(float a, float above, float below, float east, float north,
                                        float south, float west, float k, float &b) {
  b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a);
}

// One thread an element of z, y, x.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a, float *__restrict__ b, float k, long long n_z, long long n_y,
       long long n_x) {
  constexpr int kThreads = 256;
  const long long thread = blockIdx.x * (long long)kThreads + threadIdx.x;
  if (thread >= n_x * n_y * n_z) return;
  const long long z = thread / (n_x * n_y);
  const long long y = thread / n_x % n_y;
  const long long x = thread % n_x;
  const float a_v = a[n_x * n_y * z + n_x * y + x];
  const float above_v = z >= 1 ? a[n_x * n_y * z + n_x * y + x - n_x * n_y] : float();
  const float below_v = z + 1 < n_z ? a[n_x * n_y * z + n_x * n_y + n_x * y + x] : float();
  const float east_v = x + 1 < n_x ? a[n_x * n_y * z + n_x * y + x + 1] : float();
  const float north_v = y >= 1 ? a[n_x * n_y * z + n_x * y + x - n_x] : float();
  const float south_v = y + 1 < n_y ? a[n_x * n_y * z + n_x * y + n_x + x] : float();
  const float west_v = x >= 1 ? a[n_x * n_y * z + n_x * y + x - 1] : float();
  float b_v;
  compute(a_v, above_v, below_v, east_v, north_v, south_v, west_v, k, b_v);
  b[n_x * n_y * z + n_x * y + x] = b_v;
}
