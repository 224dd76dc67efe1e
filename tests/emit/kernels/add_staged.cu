struct vec3 {
  double x;
  double y;
  double z;
};

// Records through shared memory, 512 a block.
__global__ void __launch_bounds__(512) add3_kernel(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  extern __shared__ __align__(16) unsigned char raw[];
  const int unused = 512;
  double *const tile = reinterpret_cast<double *>(raw);
  const long long first = blockIdx.x * 512LL;
  const long long left = n_i - first;
  const int n = 3 * static_cast<int>(left < 512 ? left : 512);
  const double *const in = &a_in[first].x;
  double *const out = &b_out[first].x;
  for (int j = threadIdx.x; j < n; j += 512) tile[j] = in[j];
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += 512) out[j] = tile[j] + k;
}
