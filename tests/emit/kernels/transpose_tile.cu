// A tile of 32 x 32 through shared memory, rows one word apart.
__global__ void __launch_bounds__(256) transpose_kernel(const float *__restrict__ a_in, float *__restrict__ b_out, long long n_row, long long n_col) {
  __shared__ float tile[32][33];
  const long long across = (n_col + 31) / 32;
  const long long row0 = blockIdx.x / across * 32, col0 = blockIdx.x % across * 32;
  const int lane = threadIdx.x % 32, line = threadIdx.x / 32;
  for (int r = line; r < 32; r += 8) {
    if (row0 + r < n_row && col0 + lane < n_col) tile[r][lane] = a_in[(row0 + r) * n_col + col0 + lane];
  }
  __syncthreads();
  for (int c = line; c < 32; c += 8) {
    if (col0 + c < n_col && row0 + lane < n_row) b_out[(col0 + c) * n_row + row0 + lane] = tile[lane][c];
  }
}
