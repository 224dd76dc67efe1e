struct vec3 {
  double x;
  double y;
  double z;
};

// One element a thread.
__global__ void __launch_bounds__(256) add3_kernel(const vec3 *__restrict__ a_in, vec3 *__restrict__ b_out, double k, long long n_i) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= n_i) return;
  const vec3 a = a_in[i];
  vec3 b;
  b.x = a.x + k; b.y = a.y + k; b.z = a.z + k;
  b_out[i] = b;
}
