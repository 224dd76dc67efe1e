// One element a thread.
__global__ void __launch_bounds__(256) transpose_kernel(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  const long long e = blockIdx.x * 256LL + threadIdx.x;
  if (e >= n_row * n_col) return;
  const long long row = e / n_col, col = e % n_col;
  b_out[col * n_row + row] = a_in[row * n_col + col];
}
