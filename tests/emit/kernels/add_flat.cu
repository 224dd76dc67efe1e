// The array as 3 n doubles, two a thread as one 16-byte word.
__global__ void __launch_bounds__(256) add3_kernel(const double2 *__restrict__ a_in, double2 *__restrict__ b_out, double k, long long n_i) {
  const long long w = blockIdx.x * 256LL + threadIdx.x;
  if (2 * w >= 3 * n_i) return;
  double2 v = a_in[w];
  v.x += k;
  v.y += k;
  b_out[w] = v;
}
