// One element of the index space, every access where its layout puts it.
__device__ __forceinline__ void element(const float *__restrict__ a_in, float *__restrict__ b_out,
    float k, long long n_z, long long n_y, long long n_x, long long z, long long y, long long x) {
  const float a = a_in[n_x * n_y * z + n_x * y + x];
  const float above = z >= 1 ? a_in[n_x * n_y * z + n_x * y + x - n_x * n_y] : float();
  const float below = z + 1 < n_z ? a_in[n_x * n_y * z + n_x * n_y + n_x * y + x] : float();
  const float east = x + 1 < n_x ? a_in[n_x * n_y * z + n_x * y + x + 1] : float();
  const float north = y >= 1 ? a_in[n_x * n_y * z + n_x * y + x - n_x] : float();
  const float south = y + 1 < n_y ? a_in[n_x * n_y * z + n_x * y + n_x + x] : float();
  const float west = x >= 1 ? a_in[n_x * n_y * z + n_x * y + x - 1] : float();
  float b;
  { b = fmaf(k, fmaf(-6.0f, a, above + below + north + south + west + east), a); }
  b_out[n_x * n_y * z + n_x * y + x] = b;
}

// One thread an element of z, y, x; every access where its layout puts it.
__global__ void __launch_bounds__(256)
direct(const float *__restrict__ a_in, float *__restrict__ b_out, float k, long long n_z,
       long long n_y, long long n_x) {
  constexpr int kTile = 256; // one element a thread
  const long long block = blockIdx.x;
  const int thread = threadIdx.x;
  const long long tiles = (n_x + kTile - 1) / kTile; // along x
  const long long first = block % tiles * kTile;
  const long long y = block / tiles % n_y;
  const long long z = block / tiles / n_y;
  const long long x = first + thread;
  if (x < n_x) element(a_in, b_out, k, n_z, n_y, n_x, z, y, x);
}
